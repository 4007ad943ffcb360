"""The audit of another person's edits: what was done to each table, what a contract says to it, what is damage.

    audit(base_examples, edited_examples, "answer_changes")      # -> Audit(items, totals)

Released perturbations come as two files of whole tables, without recorded edits. So the edits are found by comparing
(`operations.diff`), checked against the paper's contract (`contracts.check`), and searched for damage by spreadsheets
and scripts (`spreadsheet_damage`). Where an item says how its answer is computed (the derivations of TAT-QA), the
answer is computed again on the edited table. An audit judges nothing: each finding is a code with a sentence that says
where to look.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.operations import Operation, RenameHeader, SetCell, describe, diff
from tableqa.perturbations.contracts import Contract, check
from tableqa.quality_control.audit_findings import (
    Finding,
    computed_answer_finding,
    damage_findings,
    pairing_finding,
)
from tableqa.quality_control.edit_alignment import match_ids, permitted_alignment
from tableqa.quality_control.recomputed_answers import recompute
from tableqa.quality_control.spreadsheet_damage import DAMAGE, damage

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

_UNPAIRED = ("only_in_base", "only_in_edited")


@dataclass(frozen=True, slots=True)
class AuditedItem:
    """One item of both files, or of one of them.

    operations         what makes the edited table of the base's; none where the item is in one file only
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
        """Whether the item is in both files."""
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
        findings.append(pairing_finding("repeated_id"))
    if base.question != edited.question:
        findings.append(pairing_finding("question_differs"))
    violations = check(contract, base, edited.over(table), operations)
    findings += [
        Finding(violation.code, violation.message, violation.level)
        for violation in violations
        if violation.code not in DAMAGE  # that is reported once, with all its places
    ]
    recomputed = recompute(base, edited, table)
    if recomputed.answers is not None and not recomputed.agrees:
        findings.append(computed_answer_finding(base, edited, recomputed.answers))
    findings += damage_findings(base.table, table, changes, recomputed)
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


def _unpaired_item(example: Example, code: str) -> AuditedItem:
    return AuditedItem(id=example.id, violations=(pairing_finding(code),))


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
