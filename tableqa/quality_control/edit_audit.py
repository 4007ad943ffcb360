"""The audit of somebody else's edits: what was done to each table, what a contract says to it, what is damage.

    audit(base_examples, edited_examples, "answer_changes")      # -> Audit(items, totals)

Released perturbations come as two files of whole tables, and nobody recorded what was done. So the edits are found by
comparing (`operations.diff`), held against the contract that the paper set for its annotators (`contracts.check`), and
searched for what spreadsheets and scripts do to tables (`spreadsheet_damage`). Where an item says how its answer is
computed (the derivations of TAT-QA), the answer is computed again on the edited table. An audit judges nothing: each
finding is a code with a sentence that says where to look.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import count, islice, pairwise
from typing import Any, TypeAlias

from tableqa.cells import fold, number_of
from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.operations import OPERATIONS, Operation, RenameHeader, SetCell, describe, diff
from tableqa.operations.alignment import align
from tableqa.perturbations.contracts import Contract, check, structure
from tableqa.quality_control.spreadsheet_damage import (
    DAMAGE,
    cell_damage,
    damage,
    header_damage,
    repair_encoding,
    short_date,
)

CONTRACTS: Mapping[str, Contract] = {
    "answer_changes": Contract(
        table="differs", answer="changes", at_most=2, allowed=("set_cell", "remove_row", "insert_row")
    ),
    "answer_stays": Contract(
        table="differs", answer="stays", at_most=2, allowed=("set_cell", "remove_row", "insert_row")
    ),
    "shortened": Contract(table="any", answer="stays", allowed=("remove_row", "remove_column")),
    "unchanged": Contract(table="any", answer="stays", allowed=()),
}
"""What FREB-TQA's annotators were asked for (Zhou et al. 2024, section 3.5): one or two changed cells, or rows, so that the
answer changes or stays; before that a table from which rows and columns were removed and nothing else was done. And what a
file of other people's tables should be: a copy."""

PAIRING: Mapping[str, str] = {
    "only_in_base": "The edited file has no item of this id.",
    "only_in_edited": "The base file has no item of this id.",
    "repeated_id": "The id occurs more than once in the file; items are paired in order.",
    "question_differs": "The question differs.",
}
"""Findings about two files as a whole, with what they say."""

_UNPAIRED = ("only_in_base", "only_in_edited")

_BREACHES: Mapping[str, str] = {
    "table_unchanged": "The table is unchanged.",
    "operation_not_allowed": "An operation is not allowed by the contract.",
    "shape_changed": "The number of rows or columns differs.",
    "too_many_operations": "There are more changes than the contract allows.",
    "protected_cell": "A protected cell was changed or removed.",
    "cell_format": "A new text has a different format from its column.",
    "answer_missing": "The answer is missing.",
    "answer_unchanged": "The answer did not change, but had to.",
    "answer_changed": "The answer changed, but had to stay the same.",
    "same_table_other_answer": "The table is unchanged, but the answer differs.",
    "computed_answer_differs": "The item's own derivation gives another answer on the edited table.",
}


def meaning_of(code: str) -> str:
    """What a code says, in one sentence: of damage, of the pairing of two files, or of a contract."""
    return {**DAMAGE, **PAIRING, **_BREACHES}.get(code, "")


_SHOWN = 3
"""How many places a finding names; it counts them all."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that an audit found in an item: a contract's violation, or damage; `cells` counts the places of damage."""

    code: str
    message: str
    level: str = "error"
    cells: int = 0

    def to_dict(self) -> dict[str, Any]:
        """{"code", "message", "level"} and, for damage, "cells"."""
        data = {"code": self.code, "message": self.message, "level": self.level}
        return data | {"cells": self.cells} if self.cells else data


@dataclass(frozen=True, slots=True)
class AuditedItem:
    """One item of both files, or of one of them.

    operations         what makes the edited table of the base's; none where the item stands in one file only
    changes            the same in words
    violations         what was found, in the order: pairing, contract, computed answer, damage
    answer_difference  the name of the difference between the answers (`answers.compare`), None where there is none
    computed           the answer computed on the edited table, None where it could not be
    """

    id: str
    operations: tuple[Operation, ...] = ()
    changes: tuple[str, ...] = ()
    violations: tuple[Finding, ...] = ()
    answer_difference: str | None = None
    computed: tuple[str, ...] | None = None

    @property
    def paired(self) -> bool:
        """Whether the item stands in both files."""
        return not any(finding.code in _UNPAIRED for finding in self.violations)

    def to_dict(self) -> dict[str, Any]:
        """{"id", "operations", "changes", "violations", "answer_difference", "computed"} for JSON."""
        return {
            "id": self.id,
            "operations": [operation.to_dict() for operation in self.operations],
            "changes": list(self.changes),
            "violations": [finding.to_dict() for finding in self.violations],
            "answer_difference": self.answer_difference,
            "computed": None if self.computed is None else list(self.computed),
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found in two files.

    items   every item of the base in its order, then those that only the edited file has
    totals  how many `items` there are, how many are `paired`, `with_findings`, with `one_or_two_changes` in a table of the
            base's shape (`one_or_two_besides_damage`: changes that are damage not counted), and with an answer that could
            be `computed`; `codes`: of each, the items that have it and, for damage, the cells; `operations` by kind;
            `answer_differences` by name
    """

    items: tuple[AuditedItem, ...]
    totals: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """{"items", "totals"} for JSON."""
        return {"items": [item.to_dict() for item in self.items], "totals": dict(self.totals)}


def audit(
    base: Iterable[Example],
    edited: Iterable[Example],
    contract: Contract | str = "answer_changes",
    subset: bool = False,
) -> Audit:
    """Pair the examples of two files by id, and say for each what was done and what is wrong with it.

    `contract` is a Contract or the name of one of CONTRACTS; KeyError if there is none of that name. With `subset` the
    edited file may lack items of the base, which are then left out. Examples of one id follow one another as their
    readers number them. Computing answers again needs `meta["derivation"]` of the base.
    """
    contract = CONTRACTS[contract] if isinstance(contract, str) else contract
    others = {example.id: example for example in edited}
    items = []
    small, meant = 0, 0
    for example in base:
        other = others.pop(example.id, None)
        if other is None:
            if not subset:
                items.append(_unpaired_item(example, "only_in_base"))
            continue
        item = audit_item(example, other, contract)
        items.append(item)
        if example.table.shape == other.table.shape:
            small += len(item.operations) in (1, 2)
            meant += sum(not _is_damage(each) for each in item.operations) in (1, 2)
    items += [_unpaired_item(example, "only_in_edited") for example in others.values()]
    return Audit(tuple(items), _totals(items, small, meant))


def audit_item(base: Example, edited: Example, contract: Contract) -> AuditedItem:
    """One edit: its operations, what the contract says to them, the answer computed again, and the damage.

    The contract is held against the edit that it permits, if one leads to the table; answer and damage go by the cells.
    """
    table = match_ids(base.table, edited.table)
    changes = diff(base.table, table, match="ids")
    operations = diff(base.table, permitted_alignment(base.table, edited.table, contract, table), match="ids")
    findings: list[Finding] = []
    if "id" in base.meta or "id" in edited.meta:
        findings.append(_finding_for_item("repeated_id"))
    if base.question != edited.question:
        findings.append(_finding_for_item("question_differs"))
    violations = check(contract, base, _with_table(table, edited), operations)
    findings += [
        Finding(violation.code, violation.message, violation.level)
        for violation in violations
        if violation.code not in DAMAGE  # that is told once, with all its places
    ]
    recomputed = _recompute(base, edited, table)
    if recomputed.answers is not None and not recomputed.agrees:
        findings.append(_computed_differs(base, edited, recomputed.answers))
    findings += _damage(base.table, table, changes, recomputed)
    return AuditedItem(
        id=base.id,
        operations=tuple(operations),
        changes=tuple(describe(operation, base.table) for operation in operations),
        violations=tuple(findings),
        answer_difference=compare(edited.answers, base.answers).difference,
        computed=recomputed.answers,
    )


def _is_damage(operation: Operation) -> bool:
    return isinstance(operation, SetCell | RenameHeader) and damage(operation.old, operation.new) is not None


def _with_table(table: Table, example: Example) -> Example:
    return example.over(table)


def _unpaired_item(example: Example, code: str) -> AuditedItem:
    return AuditedItem(id=example.id, violations=(_finding_for_item(code),))


def _finding_for_item(code: str) -> Finding:
    return Finding(code, PAIRING[code])


def _totals(items: Sequence[AuditedItem], small: int, meant: int) -> dict[str, Any]:
    codes: dict[str, dict[str, int]] = {}
    for item in items:
        for code in dict.fromkeys(finding.code for finding in item.violations):
            entry = codes.setdefault(code, {"items": 0, "cells": 0})
            entry["items"] += 1
            entry["cells"] += sum(finding.cells for finding in item.violations if finding.code == code)
    paired = [item for item in items if item.paired]
    return {
        "items": len(items),
        "paired": len(paired),
        "with_findings": sum(bool(item.violations) for item in items),
        "one_or_two_changes": small,
        "one_or_two_besides_damage": meant,
        "computed": sum(item.computed is not None for item in items),
        "codes": dict(sorted(codes.items(), key=lambda entry: (-entry[1]["items"], entry[0]))),
        "operations": dict(
            Counter(operation.op for item in items for operation in item.operations).most_common()
        ),
        "answer_differences": dict(
            Counter(item.answer_difference for item in paired if item.answer_difference).most_common()
        ),
    }


# The edited table with the ids of the base ----------------------------------------------------------------------------


def match_ids(base: Table, edited: Table) -> Table:
    """`edited` with the ids of the rows and columns of `base` that its own come from, and n1, n2, ... for the new ones.

    Two texts that differ in a table of equal shape are two changed cells. Otherwise exact texts are compared first, as
    `diff` does. Where rows or columns came or went, as in a shortened table whose numbers a spreadsheet has written
    anew, texts are also compared by what they say, rows and columns in order; the pairing that leaves fewer changes
    holds. A row that is missing in one position and stands unchanged in another has moved.
    """
    plain = _rows_moved(base, align(base, edited))
    if base.shape == edited.shape:
        return _in_place(base, edited) if _texts_differing(base, edited) <= 2 else plain
    candidates = (plain, _rows_moved(base, _matched_by_meaning(base, edited)))
    return min(candidates, key=lambda table: sum(map(_weight, diff(base, table, match="ids"))))


def permitted_alignment(base: Table, edited: Table, contract: Contract, table: Table) -> Table:
    """`edited` with the ids that `contract` permits, where several edits lead to it; `table` if none of them is permitted.

    `table` is what `match_ids` gives. A row with several changed cells, for instance, may have been replaced by a new
    one: a removal and an insertion.
    """
    candidates = (table, *_permitted_candidates(base, edited, contract))
    return next((each for each in candidates if not _breaches(contract, base, each)), table)


_EDIT_BREACHES = ("operation_not_allowed", "shape_changed", "too_many_operations")
"""Violations that depend on which of several edits is taken to have been made."""


def _breaches(contract: Contract, base: Table, table: Table) -> bool:
    violations = structure(contract, base, diff(base, table, match="ids"))
    return any(violation.code in _EDIT_BREACHES for violation in violations)


def _permitted_candidates(base: Table, edited: Table, contract: Contract) -> Iterator[Table]:
    """Pairings made of the contract's operations alone; each is still to be checked."""
    allowed = set(OPERATIONS) if contract.allowed is None else set(contract.allowed)
    if base.shape == edited.shape:
        yield _in_place(base, edited)
    if base.header == edited.header:
        rows = _fewest_edits(base.rows, edited.rows, allowed, contract.at_most)
        if rows is not None:
            in_order = {k: k for k in range(edited.shape[1])}
            yield _rows_moved(base, _with_ids_of(base, edited, in_order, rows))
    if "remove_column" in allowed and (parts := _part_of(base, edited)) is not None:
        yield _with_ids_of(base, edited, *parts)


def _texts_differing(base: Table, edited: Table) -> int:
    lines = zip((base.header, *base.rows), (edited.header, *edited.rows), strict=True)
    return sum(old != new for before, after in lines for old, new in zip(before, after, strict=True))


def _in_place(base: Table, edited: Table) -> Table:
    rows, columns = base.shape
    return _with_ids_of(base, edited, {k: k for k in range(columns)}, {k: k for k in range(rows)})


def _with_ids_of(base: Table, edited: Table, columns: Mapping[int, int], rows: Mapping[int, int]) -> Table:
    """`edited` with the ids of `base`; `columns` and `rows` map positions in `edited` to positions in `base`."""
    fresh = (f"n{number}" for number in count(1) if f"n{number}" not in {*base.row_ids, *base.column_ids})
    return Table(
        edited.header,
        edited.rows,
        column_ids=[
            base.column_ids[columns[k]] if k in columns else next(fresh) for k in range(edited.shape[1])
        ],
        row_ids=[base.row_ids[rows[k]] if k in rows else next(fresh) for k in range(edited.shape[0])],
        header_id=base.header_id,
    )


def _rows_moved(base: Table, table: Table) -> Table:
    """`table` in which a new row that equals a removed one has its id: it is that row, in another position."""
    columns = [
        (k, base.column_index(name)) for k, name in enumerate(table.column_ids) if name in base.column_ids
    ]
    current_row_ids = set(table.row_ids)
    removed: dict[tuple[str, ...], list[str]] = {}
    for row, cells in zip(base.row_ids, base.rows, strict=True):
        if row not in current_row_ids:
            removed.setdefault(tuple(cells[j] for _, j in columns), []).append(row)
    if not removed or not columns:
        return table
    row_ids, base_row_ids = [], set(base.row_ids)
    for row, cells in zip(table.row_ids, table.rows, strict=True):
        same = [] if row in base_row_ids else removed.get(tuple(cells[k] for k, _ in columns), [])
        row_ids.append(same.pop(0) if same else row)
    return Table(
        table.header, table.rows, column_ids=table.column_ids, row_ids=row_ids, header_id=table.header_id
    )


_Lines: TypeAlias = Sequence[tuple[str, ...]]


def _fewest_edits(
    before: _Lines, after: _Lines, allowed: set[str], at_most: int | None
) -> dict[int, int] | None:
    """Positions in `after` -> in `before`, for the fewest changed cells and removed and inserted rows, in order.

    Only operations in `allowed` count; of equally many, fewest rows come and go. None where more than `at_most` of them
    are needed, or where the tables are too large to say.
    """
    width = max(len(before), len(after)) if at_most is None else at_most
    if (
        abs(len(before) - len(after)) > width
        or len(before) * min(2 * width + 1, len(after) + 1) > _MOST_PAIRS
    ):
        return None
    never = (len(before) + len(after) + 1) * (1 + max((len(row) for row in before), default=0))
    removal, insertion = ((1, 1) if name in allowed else (never, 0) for name in ("remove_row", "insert_row"))

    def changed(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[int, int]:
        cells = sum(a != b for a, b in zip(old, new, strict=True))
        return (cells, 0) if not cells or "set_cell" in allowed else (never, 0)

    costs: dict[tuple[int, int], tuple[int, int]] = {}
    steps: dict[tuple[int, int], tuple[int, int]] = {}
    for i in range(len(before) + 1):
        for k in range(max(0, i - width), min(len(after), i + width) + 1):
            ways = [((0, 0), (0, 0))] if i == k == 0 else []
            if i and k:
                ways.append((_sum(costs[i - 1, k - 1], changed(before[i - 1], after[k - 1])), (1, 1)))
            if (i - 1, k) in costs:
                ways.append((_sum(costs[i - 1, k], removal), (1, 0)))
            if (i, k - 1) in costs:
                ways.append((_sum(costs[i, k - 1], insertion), (0, 1)))
            costs[i, k], steps[i, k] = min(ways)
    i, k = len(before), len(after)
    if costs[i, k][0] >= (never if at_most is None else at_most + 1):
        return None
    pairs = {}
    while i or k:
        down, across = steps[i, k]
        i, k = i - down, k - across
        if down and across:
            pairs[k] = i
    return pairs


def _sum(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] + second[0], first[1] + second[1]


_MOST_WAYS = 1_000
"""Ways to choose columns of equal headers that are tried."""


def _part_of(base: Table, edited: Table) -> tuple[dict[int, int], dict[int, int]] | None:
    """Columns and rows of `edited` in `base`, where `edited` is what is left when some are removed; else None."""
    for columns in islice(_in_sequence(base.header, edited.header), _MOST_WAYS):
        rows: dict[int, int] = {}
        j = 0
        for k, cells in enumerate(edited.rows):
            while j < len(base.rows) and tuple(base.rows[j][column] for column in columns) != cells:
                j += 1
            if j == len(base.rows):
                break
            rows[k] = j
            j += 1
        else:
            return dict(enumerate(columns)), rows
    return None


def _in_sequence(names: Sequence[str], sequence: Sequence[str]) -> Iterator[list[int]]:
    """Rising positions in `names` that hold the texts of `sequence`, in every way."""
    latest = [len(names)] * (
        len(sequence) + 1
    )  # where each text can stand at most, so that the next ones fit
    for index in reversed(range(len(sequence))):
        latest[index] = max((j for j in range(latest[index + 1]) if names[j] == sequence[index]), default=-1)
    chosen: list[int] = []
    start = 0
    while True:
        index = len(chosen)
        if index < len(sequence):
            later = (j for j in range(start, latest[index] + 1) if names[j] == sequence[index])
            if (j := next(later, None)) is not None:
                chosen.append(j)
                start = j + 1
                continue
        else:
            yield [*chosen]
        if not chosen:
            return
        start = chosen.pop() + 1


def _weight(operation: Operation) -> float:
    """What a change counts when two pairings are weighed: least where a text says what it said, much where rows are new."""
    if isinstance(operation, SetCell | RenameHeader):
        if _meaning(operation.old) == _meaning(operation.new):
            return 0.2
        return 1.0 if operation.new.strip() else 0.5
    if operation.op in ("remove_row", "remove_column"):
        return 0.5
    return 1 + 0.2 * len(getattr(operation, "cells", ()))


_MOST_PAIRS = 1_000_000
"""Pairs of rows up to which tables are compared by what they say."""


def _matched_by_meaning(base: Table, edited: Table) -> Table:
    if base.shape[0] * edited.shape[0] > _MOST_PAIRS:
        return align(base, edited)
    before = [[_meaning(cell) for cell in row] for row in (base.header, *base.rows)]
    after = [[_meaning(cell) for cell in row] for row in (edited.header, *edited.rows)]
    olds, news = ([*zip(*rows, strict=True)] for rows in (before, after))
    columns = _in_order([[_columns_alike(old, new) for new in news] for old in olds])
    shared = sorted(columns.items())
    rows = _in_order([[_rows_alike(old, new, shared) for new in after[1:]] for old in before[1:]])
    table = _rows_moved(base, _with_ids_of(base, edited, columns, rows))
    base_row_ids = set(base.row_ids)
    rows = {k: base.row_index(row) for k, row in enumerate(table.row_ids) if row in base_row_ids}
    rows = _gaps_filled(rows, len(base.rows), len(edited.rows))
    return _with_ids_of(base, edited, columns, rows)


def _columns_alike(old: Sequence[str], new: Sequence[str]) -> float:
    """How many texts both columns hold, empty ones hardly counting, and their headers twice."""
    common = Counter(old[1:]) & Counter(new[1:])
    empty = common.pop("", 0)
    return common.total() + 0.01 * empty + (2.0 if old[0] == new[0] != "" else 0.0)


def _rows_alike(old: Sequence[str], new: Sequence[str], columns: Sequence[tuple[int, int]]) -> float:
    """How many texts stand in the same columns of both rows; the first, which is often their name, counts twice."""
    alike = 0.0
    for k, j in columns:
        if new[k] == old[j]:
            alike += 0.01 if not new[k] else 2.0 if k == 0 else 1.0
    return alike


def _in_order(scores: Sequence[Sequence[float]]) -> dict[int, int]:
    """Places in the edited table -> in the base: lines in order, so that the sum of `scores` is largest."""
    width = len(scores[0]) if scores else 0
    best = [[0.0] * (width + 1) for _ in range(len(scores) + 1)]
    for j, row in enumerate(scores):
        for k, score in enumerate(row):
            best[j + 1][k + 1] = max(best[j][k + 1], best[j + 1][k], best[j][k] + score)
    pairs: dict[int, int] = {}
    j, k = len(scores), width
    while j and k:
        if best[j][k] == best[j - 1][k]:
            j -= 1
        elif best[j][k] == best[j][k - 1]:
            k -= 1
        else:
            j, k = j - 1, k - 1
            pairs[k] = j
    return pairs


def _gaps_filled(pairs: dict[int, int], olds: int, news: int) -> dict[int, int]:
    """Lines between two pairs in order that have nothing in common any more are paired from the top."""
    filled, used = dict(pairs), set(pairs.values())
    anchors = [(-1, -1)]
    for k, j in sorted(pairs.items()):
        if j > anchors[-1][1]:
            anchors.append((k, j))
    for (k, j), (next_k, next_j) in pairwise([*anchors, (news, olds)]):
        new = [position for position in range(k + 1, next_k) if position not in pairs]
        old = [position for position in range(j + 1, next_j) if position not in used]
        filled.update(zip(new, old, strict=False))
    return filled


@lru_cache(maxsize=65_536)
def _meaning(text: str) -> str:
    """A text without what a spreadsheet changes: blanks, case, encoding, of a number the sign, of a date the century."""
    number = number_of(text)
    if number is not None:
        size = abs(number.value)
        return f"{size.normalize():f}" if abs(size.adjusted()) < 40 else str(size)
    if day := short_date(text):
        return f"{day.day or ''}.{day.month}.{'' if day.year is None else day.year}"
    return "".join(fold(repair_encoding(text)).casefold().split())


# The answer, computed again -------------------------------------------------------------------------------------------


_Cell: TypeAlias = tuple[str, str]
"""(row id, column id)."""
_Texts: TypeAlias = Mapping[_Cell, str]
_Program: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Recomputation:
    """What the base's derivation gives on the edited table.

    answers   None where there is no derivation that gives the base's answer, or it cannot be followed any more
    agrees    whether the given answer is confirmed
    read      (row id, column id) of the cells that it reads
    restored  of these, the ones in which a decimal point is missing: with it the given answer would be right
    """

    answers: tuple[str, ...] | None = None
    agrees: bool = False
    read: frozenset[_Cell] = frozenset()
    restored: _Texts = field(default_factory=dict)


def _recompute(base: Example, edited: Example, table: Table) -> _Recomputation:
    if not _derivation(base):
        return _Recomputation()
    # Programs are half of this library, and most audits have no use for them.
    from tableqa.programs import ProgramError, reads, run

    source = _with_table(_with_cells(base.table, _missing_points(base)), base)
    refuted: _Recomputation | None = None
    for program in _readings(source, table):
        read = reads(program, source.table)

        def answers(changed: _Texts, program: _Program = program) -> tuple[str, ...] | None:
            try:
                return tuple(run(program, _with_cells(table, changed)))
            except ProgramError:
                return None

        answers_as_is = answers({})
        ways = (
            [answers_as_is, answers(signs)]
            if (signs := _restored_signs(base.table, table, read))
            else [answers_as_is]
        )
        for way in ways:
            if way is not None and compare(way, edited.answers).equal:
                return _Recomputation(way, read=read, agrees=True)
        points = [
            restored
            for restored in _restored_points(base.table, table, read)
            if (mended := answers(restored)) is not None and compare(mended, edited.answers).equal
        ]
        computed = next((way for way in reversed(ways) if way is not None), None)
        if points or (refuted is None and computed is not None):
            refuted = _Recomputation(computed, read=read, restored=points[0] if points else {})
        if points:
            break
    return refuted or _Recomputation()


def _readings(base: Example, table: Table) -> Iterator[_Program]:
    """The programs that the derivation can mean, as JSON; after each, the one in which no constant stands for a cell.

    In (4-5)/5 the last 5 may be the number of terms of an average. Where it is also what a cell said that was changed, it
    may be that cell.
    """
    from tableqa.programs import from_derivation, reads

    for program in from_derivation(base):
        data = program.to_dict()
        yield data
        changed = _changed_texts(base.table, table, reads(program, base.table))
        cells = {number.value: cell for cell, old, _ in changed if (number := number_of(old)) is not None}
        bound = _bound(data, cells)
        if bound != data:
            yield bound


def _bound(data: Any, cells: Mapping[Decimal, _Cell]) -> Any:
    if isinstance(data, list):
        return [_bound(each, cells) for each in data]
    if not isinstance(data, dict):
        return data
    if data["op"] == "number" and (cell := cells.get(Decimal(data["value"]))):
        return {"op": "cell", "row": cell[0], "column": cell[1]}
    return {name: _bound(each, cells) for name, each in data.items()}


def _computed_differs(base: Example, edited: Example, computed: Sequence[str]) -> Finding:
    comparison = compare(edited.answers, computed)
    name = {
        "sign": " Only the sign differs.",
        "scale": f" They differ by the factor {comparison.factor or 0:,}.",
        "partial": " Some of the answers are the same.",
    }.get(comparison.difference or "", "")
    message = (
        f"The derivation {_quoted(_derivation(base))} gives {_list(computed)} on the edited table; the answer "
        f"given is {_list(edited.answers)}.{name}"
    )
    return Finding("computed_answer_differs", message)


def _with_cells(table: Table, changed: _Texts) -> Table:
    if not changed:
        return table
    rows = [
        [changed.get((row, column), cell) for column, cell in zip(table.column_ids, cells, strict=True)]
        for row, cells in zip(table.row_ids, table.rows, strict=True)
    ]
    return Table(
        table.header, rows, row_ids=table.row_ids, column_ids=table.column_ids, header_id=table.header_id
    )


def _changed_texts(base: Table, table: Table, cells: Iterable[_Cell]) -> Iterator[tuple[_Cell, str, str]]:
    for row, column in sorted(cells):
        if table.has_row(row) and column in table.column_ids and base.has_row(row):
            old, new = base.cell(row, column), table.cell(row, column)
            if old != new:
                yield (row, column), old, new


def _restored_signs(base: Table, table: Table, cells: Iterable[_Cell]) -> dict[_Cell, str]:
    """Cells with a minus that the base does not have, without it: a base that lost it has it in the derivation alone."""
    restored = {}
    for cell, old, new in _changed_texts(base, table, cells):
        before, after = number_of(old), number_of(new)
        if before is not None and after is not None and before.value > 0 > after.value:
            restored[cell] = f"{-after.value:f}"
    return restored


_WHOLE = re.compile(r"(?P<front>[^.]*\d)(?P<last>\d)(?P<after>[^\d.]*)")


def _with_point(text: str) -> str | None:
    """A whole number with the point that a script may have taken out of it; None for anything else.

    What happened in the release was that ".0" was removed wherever it stood: 40.00 became 400, and 70.07 became 707.
    """
    match = _WHOLE.fullmatch(text)
    return f"{match['front']}.0{match['last']}{match['after']}" if match else None


def _restored_points(base: Table, table: Table, cells: Iterable[_Cell]) -> Iterator[dict[_Cell, str]]:
    """Changed whole numbers with the point that they may have lost: all of them, then each alone."""
    changed = _changed_texts(base, table, cells)
    restored = {cell: mended for cell, _, new in changed if (mended := _with_point(new)) is not None}
    if restored:
        yield restored
    if len(restored) > 1:
        yield from ({cell: text} for cell, text in restored.items())


def _missing_points(base: Example) -> dict[_Cell, str]:
    """Cells of the base whose number stands in the derivation with a point that they have lost."""
    derivation_values = {
        number.value for digits in _NUMBER.findall(_derivation(base)) if (number := number_of(digits))
    }
    restored = {}
    for row, cells in zip(base.table.row_ids, base.table.rows, strict=True):
        for column, cell in zip(base.table.column_ids, cells, strict=True):
            mended = _with_point(cell)
            before, after = number_of(cell), number_of(mended or "")
            if mended is None or after is None or abs(after.value) not in derivation_values:
                continue
            if before is None or abs(before.value) not in derivation_values:
                restored[row, column] = mended
    return restored


_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def _derivation(example: Example) -> str:
    text = example.meta.get("derivation", "")
    return text.strip() if isinstance(text, str) else ""


# Damage ---------------------------------------------------------------------------------------------------------------

_WARNINGS = ("blanks_changed", "case_changed", "date_rewritten", "number_reformatted", "line_break_escaped")
"""Damage that leaves what was said."""


@dataclass(frozen=True, slots=True)
class _DamageOccurrence:
    code: str
    words: str
    sure: bool = True
    inherited: bool = False


def _damage(
    base: Table, table: Table, operations: Sequence[Operation], recomputed: _Recomputation
) -> list[Finding]:
    occurrences = [*_changed_occurrences(base, operations, recomputed), *_worn_occurrences(base, table)]
    by_code = {code: [occurrence for occurrence in occurrences if occurrence.code == code] for code in DAMAGE}
    return [_finding(code, matches) for code, matches in by_code.items() if matches]


def _changed_occurrences(
    base: Table, operations: Sequence[Operation], recomputed: _Recomputation
) -> Iterator[_DamageOccurrence]:
    for operation in operations:
        if isinstance(operation, RenameHeader):
            code = damage(operation.old, operation.new)
            cell = (base.header_id, operation.column)
        elif isinstance(operation, SetCell):
            code = damage(operation.old, operation.new, base.column(operation.column))
            cell = (operation.row, operation.column)
        else:
            continue
        if cell in recomputed.restored:
            mended = recomputed.restored[cell]
            words = f"{describe(operation, base)}; {mended} would give the answer"
            yield _DamageOccurrence("decimal_point_lost", words)
        elif code == "decimal_point_lost":
            # A number that the derivation reads was meant as it is where the answer comes out right with it.
            if not (cell in recomputed.read and (recomputed.agrees or recomputed.restored)):
                yield _DamageOccurrence(
                    code, describe(operation, base), sure=cell_damage(operation.new) is not None
                )
        elif code is not None and cell_damage(operation.new) is None:
            yield _DamageOccurrence(code, describe(operation, base))


def _worn_occurrences(base: Table, table: Table) -> Iterator[_DamageOccurrence]:
    """What can be seen on the edited table alone, and whether the base has the same text."""
    names, texts = set(base.header), {cell for row in base.rows for cell in row}
    for k, name in enumerate(table.header):
        if code := header_damage(table.header, k):
            yield _DamageOccurrence(
                code, f"header of column {k + 1}: {_quoted(name)}", inherited=name in names
            )
    for i, row in enumerate(table.rows):
        for k, cell in enumerate(row):
            if code := cell_damage(cell):
                yield _DamageOccurrence(
                    code, f"row {i + 1}, column {k + 1}: {_quoted(cell)}", inherited=cell in texts
                )


def _finding(code: str, occurrences: Sequence[_DamageOccurrence]) -> Finding:
    number = f"{len(occurrences)} {'place' if len(occurrences) == 1 else 'places'}"
    inherited = sum(occurrence.inherited for occurrence in occurrences)
    if inherited:
        number += (
            ", as in the base" if inherited == len(occurrences) else f", {inherited} of them as in the base"
        )
    summary = "; ".join(occurrence.words for occurrence in occurrences[:_SHOWN]) + (
        "; …" if len(occurrences) > _SHOWN else ""
    )
    sure = any(occurrence.sure for occurrence in occurrences)
    level = "warning" if code in _WARNINGS or not sure or inherited == len(occurrences) else "error"
    doubt = "" if sure else " It may be intended."
    return Finding(code, f"{DAMAGE[code]}{doubt} {number}: {summary}.", level, len(occurrences))


def _quoted(text: str) -> str:
    printable = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    return f"“{printable if len(printable) <= 60 else printable[:59] + '…'}”"


def _list(answers: Sequence[str]) -> str:
    return ", ".join(_quoted(answer) for answer in answers[:5]) + (", …" if len(answers) > 5 else "")
