"""What an audit finds in an item: codes with a sentence each, for files, contracts, computed answers and damage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.operations import Operation, RenameHeader, SetCell, describe
from tableqa.quality_control.recomputed_answers import Recomputation, derivation_of
from tableqa.quality_control.spreadsheet_damage import DAMAGE, cell_damage, damage, header_damage

PAIRING: Mapping[str, str] = {
    "only_in_base": "The edited file has no item of this id.",
    "only_in_edited": "The base file has no item of this id.",
    "repeated_id": "The id occurs more than once in the file; items are paired in order.",
    "question_differs": "The question differs.",
}
"""Findings about two files as a whole, with what they say."""

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


def pairing_finding(code: str) -> Finding:
    """The finding of a code of `PAIRING`."""
    return Finding(code, PAIRING[code])


def computed_answer_finding(base: Example, edited: Example, computed: Sequence[str]) -> Finding:
    """The finding of an answer that the derivation of the base does not give."""
    comparison = compare(edited.answers, computed)
    name = {
        "sign": " Only the sign differs.",
        "scale": f" They differ by the factor {comparison.factor or 0:,}.",
        "partial": " Some of the answers are the same.",
    }.get(comparison.difference or "", "")
    message = (
        f"The derivation {_quoted(derivation_of(base))} gives {_list(computed)} on the edited table; the answer "
        f"given is {_list(edited.answers)}.{name}"
    )
    return Finding("computed_answer_differs", message)


_WARNINGS = ("blanks_changed", "case_changed", "date_rewritten", "number_reformatted", "line_break_escaped")
"""Damage that leaves the meaning."""


@dataclass(frozen=True, slots=True)
class _DamageOccurrence:
    code: str
    words: str
    sure: bool = True
    inherited: bool = False


def damage_findings(
    base: Table, table: Table, operations: Sequence[Operation], recomputed: Recomputation
) -> list[Finding]:
    """What spreadsheets and scripts did to the table: a finding for each code, with its first places."""
    occurrences = [*_changed_occurrences(base, operations, recomputed), *_worn_occurrences(base, table)]
    by_code = {code: [occurrence for occurrence in occurrences if occurrence.code == code] for code in DAMAGE}
    return [_finding(code, matches) for code, matches in by_code.items() if matches]


def _changed_occurrences(
    base: Table, operations: Sequence[Operation], recomputed: Recomputation
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
            text = f"{describe(operation, base)}; {mended} would give the answer"
            yield _DamageOccurrence("decimal_point_lost", text)
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
    places = f"{len(occurrences)} {'place' if len(occurrences) == 1 else 'places'}"
    inherited = sum(occurrence.inherited for occurrence in occurrences)
    if inherited:
        part = "" if inherited == len(occurrences) else f" {inherited} of them"
        places += f",{part} as in the base"
    details = [occurrence.words for occurrence in occurrences[:_SHOWN]]
    summary = "; ".join([*details, "…"] if len(occurrences) > _SHOWN else details)
    sure = any(occurrence.sure for occurrence in occurrences)
    level = "warning" if code in _WARNINGS or not sure or inherited == len(occurrences) else "error"
    doubt = "" if sure else " It may be intended."
    return Finding(code, f"{DAMAGE[code]}{doubt} {places}: {summary}.", level, len(occurrences))


def _quoted(text: str) -> str:
    printable = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    return f"“{printable if len(printable) <= 60 else printable[:59] + '…'}”"


def _list(answers: Sequence[str]) -> str:
    return ", ".join(_quoted(answer) for answer in answers[:5]) + (", …" if len(answers) > 5 else "")
