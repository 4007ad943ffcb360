"""Remove columns that can be worked out from others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from tableqa import Table
from tableqa.core.translation import gettext, gettext_noop, ngettext
from tableqa.operations import RemoveColumn
from tableqa.perturbations.relations import Relation, Relations, relations
from tableqa.programs.evidence import CellRef
from tasks.contract import Context, GenerationRequest, Item, Problem, ProposedResponse
from tasks.shared.column_edits import (
    ColumnRemovalTask,
    RemovalResponse,
    answer_cells,
    columns_in_words,
    rows_in_words,
)
from tasks.shared.column_prompts import (
    column_of,
    column_reference,
    invalid_reply,
    read_text,
    relevant_table,
    require_fields,
)

MOST_EVIDENCE = 4
"""Relations that are shown for one column."""
WHOLE_COLUMN = ("rank", "running_total", "share_of_total")
"""Kinds of relation in which a cell follows from all rows of its source."""


class ColumnMasking(ColumnRemovalTask):
    """Columns that the others imply go; what the table itself tells of that is shown beside it."""

    key = "column_masking"
    title = gettext_noop("Column masking")
    step = "edit"
    paper = "RobuT (ACL 2023) § 3.1"
    instruction = gettext_noop("Remove a column that can be worked out from the others")
    perturbation = "masked"
    nothing = gettext_noop("no column of this table can be worked out from the others.")
    grid = "structure"
    allowed = ("remove_column",)
    doubts_to_confirm = ("answer_gone", "not_derivable")

    def suggest(self, item: Item, context: Context) -> dict[str, Any]:
        """{"columns": {column id: {"evidence": [{kind, words, sources, holds, tells, short}], "answer", "read": bool}},
        "missing"}.

        `holds` says that no row contradicts it; `tells`, that what the column held can be worked out from the others
        once it is gone. A dependency is not enough: it says that values go together, not which ones they are; nor does
        a step from row to row, whose beginning goes with the column. `short` says that it leaves open a cell of this
        column that the answer comes from. `answer` marks the only column with an answer, `read` one that the
        program of the answer reads.
        """
        table = item.example.table
        table_relations = known_relations(table)
        read = {column for _, column in self.read_by_program(item)}
        columns = {}
        for column in table.column_ids:
            column_implications = [
                implication
                for implication in implications(table_relations.found)
                if implication.column == column
            ]
            columns[column] = {
                "evidence": [
                    {
                        **_implication_data(finding, table),
                        "short": finding.tells
                        and bool(self._underivable_rows(item, column, frozenset(finding.relation.told))),
                    }
                    for finding in column_implications[:MOST_EVIDENCE]
                ],
                "answer": bool(_removed_answers(item, frozenset({column}))),
                "read": column in read,
            }
        return {"columns": columns, "missing": list(table_relations.notes)}

    def propose(self, item: Item, context: Context) -> Iterator[ProposedResponse]:
        """Columns that can be worked out from the others: each alone, and as many together as go together."""
        table = item.example.table
        reasons = self._removable_columns(item)
        together: frozenset[str] = frozenset()
        for index, (column, why) in enumerate(reasons.items()):
            yield ProposedResponse(
                self._removal_data(table, {column}),
                self.perturbation,
                "relations",
                f"{why}.",
                0.9 - index / 100,
            )
            more = together | {column}
            if derivable(table, more) == more and not self._lost_answer(item, more):
                together = more
        if len(together) > 1:
            why = "; ".join(reasons[column] for column in table.column_ids if column in together)
            yield ProposedResponse(
                self._removal_data(table, together), self.perturbation, "relations", f"{why}.", 0.95
            )

    def _removable_columns(self, item: Item) -> dict[str, str]:
        """The columns any one of which can go without the answer, each with the first relation that shows it."""
        reasons: dict[str, str] = {}
        for implication in implications(known_relations(item.example.table).found):
            if (
                implication.tells
                and implication.holds
                and not self._lost_answer(item, frozenset({implication.column}))
            ):
                reasons.setdefault(implication.column, implication.relation.words)
        return reasons

    def _underivable_rows(self, item: Item, column: str, derivable_rows: frozenset[str]) -> list[int]:
        """The rows (from 1) of this column's cells that the answer comes from and that are not among the derivable ones.

        Where an answer is elsewhere as well, its cells here are none of them. An empty cell holds nothing that would
        have to be worked out.
        """
        table = item.example.table
        here = {row for row, read in self.read_by_program(item) if read == column}
        for cells in answer_cells(table, tuple(item.example.answers)).values():
            if {holding for _, holding in cells} == {column}:
                here |= {row for row, _ in cells}
        column_index = table.column_index(column)
        return [
            row_number
            for row_number, (row, texts) in enumerate(zip(table.row_ids, table.rows, strict=True), start=1)
            if row in here and row not in derivable_rows and texts[column_index].strip()
        ]

    def _lost_answer(self, item: Item, gone: frozenset[str]) -> LostAnswer | None:
        """What of the answer cannot be worked out once these columns are gone; None where all of it can."""
        table = item.example.table
        available_rows = derivable_rows_by_column(table, gone)
        cells = {
            (row, column)
            for row, column in self.read_by_program(item)
            if column in gone and not _is_available(table, available_rows, row, column)
        }
        missing = ""
        for answer, holding_cells in answer_cells(table, tuple(item.example.answers)).items():
            columns = {column for _, column in holding_cells}
            open_cells = {
                (row, column) for row, column in holding_cells if row not in available_rows.get(column, ())
            }
            if columns <= gone and {column for _, column in open_cells} == columns:
                missing = missing or answer
                cells |= open_cells
        return LostAnswer(frozenset(cells), missing, derivable(table, gone)) if cells else None

    def _removal_data(self, table: Table, columns: Iterable[str], reason: str = "") -> dict[str, Any]:
        operations = []
        for at in sorted(map(table.column_index, columns)):
            old = (table.header[at], *(row[at] for row in table.rows))
            operations.append(RemoveColumn(column=table.column_ids[at], at=at, old=old))
        return self.response_data(operations, reason)

    def generation_requests(self, item: Item) -> Sequence[GenerationRequest]:
        what = (
            "Remove columns of this table whose contents somebody could still work out from the columns that are left. "
            "The question must stay answerable. Say how they follow."
        )
        form = '{"columns": [{"number": 1, "name": "its name"}], "reason": "how it follows from the others"}'
        return [GenerationRequest(self.perturbation, what, form)]

    def render(self, item: Item) -> str:
        example = item.example
        return f"{relevant_table(example.table, example.question)}\nQuestion: {example.question}"

    def as_demonstration(
        self, response: RemovalResponse, request: GenerationRequest, item: Item
    ) -> Mapping[str, Any] | None:
        if response.does_not_apply:
            return None
        table, gone = (
            item.example.table,
            sorted(self.concerned_columns(response), key=item.example.table.column_index),
        )
        reasons = [
            implication.relation.words
            for implication in implications(known_relations(table).found)
            if implication.column in gone
        ]
        reason = response.reason or "; ".join(dict.fromkeys(reasons)) or "It follows from the others."
        return {"columns": [column_reference(table, column) for column in gone], "reason": reason[:400]}

    def parse_reply(
        self, reply: Mapping[str, Any], request: GenerationRequest, item: Item
    ) -> Mapping[str, Any]:
        require_fields(reply, {"columns", "reason"})
        table, columns = item.example.table, reply["columns"]
        if not isinstance(columns, list) or not columns:
            raise invalid_reply("columns", "Columns are a list with at least one column.")
        gone = {column_of(column, table, f"columns.{index}") for index, column in enumerate(columns)}
        return self._removal_data(table, gone, read_text(reply["reason"], "reason"))

    def doubts(self, response: RemovalResponse, item: Item) -> Iterator[Problem]:
        """Columns of which nothing shows that they follow from what is left, where nobody says how they do.

        That is an error where the answer comes from them (`answer_gone`), and pointed out otherwise. It is one as well
        where the answer comes from a row in which the relation could not be tested, or that is tied with another.
        """
        table = item.example.table
        gone = self.concerned_columns(response)
        if response.reason:
            return
        doubtful = gone - derivable(table, gone)
        rule = self.answer_rule(item)
        if rule != "ignore" and (lost := self._lost_answer(item, gone)):
            message = lost.words(table)
            yield Problem("operations", "answer_gone", message, "error" if rule == "require" else "warning")
        if not doubtful:
            return
        message = gettext(
            "The table does not show how to work out {named} from the rest. Explain how, or restore it."
        ).format(named=columns_in_words(table, doubtful))
        yield Problem("reason", "not_derivable", message, "warning")

    def feedback(
        self, item: Item, response: RemovalResponse, expected: RemovalResponse
    ) -> tuple[bool | None, list[str]]:
        """As good as expected: the same columns, or others that can be worked out from what is left as well."""
        right, lines = super().feedback(item, response, expected)
        if right or response.does_not_apply != expected.does_not_apply:
            return right, lines
        gone = self.concerned_columns(response)
        if gone <= derivable(item.example.table, gone) and not self._lost_answer(item, gone):
            return True, [gettext("Another way to do it:"), *self.describe(expected, item)]
        return False, lines

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        """Removes the last column that can be worked out; a careless person one at random."""
        table = item.example.table
        positions = list(range(len(table.header)))
        if rng.random() < accuracy:
            positions = [table.column_index(column) for column in self._removable_columns(item)]
        if not positions or len(table.header) < 2:
            return self.response_data([])
        index = max(positions) if len(positions) < len(table.header) else rng.choice(positions)
        return self._removal_data(table, {table.column_ids[index]})


@dataclass(frozen=True, slots=True)
class LostAnswer:
    """What of an answer goes with columns that are removed.

    cells    the cells that it comes from and that cannot be worked out
    answer   the first answer that was in removed columns only, "" where it is worked out from their cells
    follows  those of the removed columns that can be worked out, though not in these rows
    """

    cells: frozenset[CellRef]
    answer: str
    follows: frozenset[str]

    def words(self, table: Table) -> str:
        columns = {column for _, column in self.cells}
        why = gettext("“{answer}” is in no other column").format(answer=self.answer)
        if not self.answer:
            why = ngettext(
                "the answer is worked out from it", "the answer is worked out from them", len(columns)
            )
        short = gettext("the table does not show how to work it out from the rest")
        if columns <= self.follows:
            row_numbers = [table.row_index(row) + 1 for row, _ in self.cells if row != table.header_id]
            short = gettext("the rest does not give it in {rows_named}").format(
                rows_named=rows_in_words(row_numbers)
            )
        return gettext(
            "Without {named} the answer cannot be found: {why}, and {short}. Restore it, or explain "
            "how to work it out."
        ).format(named=columns_in_words(table, columns), why=why, short=short)


@dataclass(frozen=True, slots=True)
class Implication:
    """What a relation says of one of its columns: that it follows from `sources`.

    tells  whether its cells can be worked out once it is gone, at least in some rows (`Relation.told`)
    """

    column: str
    sources: tuple[str, ...]
    relation: Relation

    @property
    def holds(self) -> bool:
        return self.relation.holds == self.relation.of

    @property
    def tells(self) -> bool:
        return not self.relation.trivial and bool(self.relation.told)


def implications(table_relations: Iterable[Relation]) -> Iterator[Implication]:
    """What relations imply, in their order; of a sum and a difference each column follows from the others."""
    for relation in table_relations:
        if not relation.trivial or relation.kind == "constant":
            yield Implication(relation.target, relation.sources, relation)
        if relation.kind in ("sum", "difference") and not relation.trivial:
            whole = (relation.target, *relation.sources)
            for column in relation.sources:
                yield Implication(column, tuple(source for source in whole if source != column), relation)


@lru_cache(maxsize=32)
def known_relations(table: Table) -> Relations:
    """The relations of a table, kept for the drafts that follow."""
    return relations(table)


def derivable(table: Table, gone: frozenset[str]) -> frozenset[str]:
    """Which of these columns can be worked out from the columns that are left, by a relation of the table that no row
    contradicts. Rows that it could not be tested in may stay open: see `derivable_rows_by_column`."""
    return gone & frozenset(derivable_rows_by_column(table, gone))


def derivable_rows_by_column(table: Table, gone: frozenset[str]) -> dict[str, frozenset[str]]:
    """The rows in which a column can be worked out once `gone` is gone: all of them of what is left, none of a column
    that is not named.

    What is worked out from a column that is itself worked out is known in the rows in which both are; where it rests on
    a whole column (a rank, a total), in none unless that is known in all of its rows.
    """
    available_rows = {column: frozenset(table.row_ids) for column in table.column_ids if column not in gone}
    if not gone:
        return available_rows
    steps = [
        step
        for step in implications(known_relations(table).found)
        if step.column in gone and step.tells and step.holds
    ]
    grew = True
    while grew:
        grew = False
        for step in steps:
            if not all(source in available_rows for source in step.sources):
                continue
            rows = frozenset(step.relation.told)
            if step.relation.kind in WHOLE_COLUMN and any(
                rows - available_rows[source] for source in step.sources
            ):
                continue
            more = available_rows.get(step.column, frozenset()).union(
                rows.intersection(*(available_rows[s] for s in step.sources))
            )
            if len(more) > len(available_rows.get(step.column, ())):
                available_rows[step.column] = more
                grew = True
    return available_rows


def _is_available(table: Table, available_rows: Mapping[str, frozenset[str]], row: str, column: str) -> bool:
    """Whether what a cell holds can still be found; of a column that is worked out, headers and empty cells always can."""
    if column not in available_rows:
        return False
    return row == table.header_id or row in available_rows[column] or not table.cell(row, column).strip()


def _implication_data(implication: Implication, table: Table) -> dict[str, Any]:
    """A relation for the page. `of` counts the rows that could be tested: if not all, the text says so."""
    relation = implication.relation
    rows = f"in all {relation.of} rows" if implication.holds else f"in {relation.holds} of {relation.of} rows"
    if relation.of < len(table.rows):
        rows += " that can be tested"
    odd = "".join(f" {example.words}." for example in relation.counterexamples)
    if relation.tied:
        tied = [table.row_index(row) + 1 for row in relation.tied]
        odd += f" Ties are undecided in {rows_in_words(tied)}."
    text = f"{relation.words}." if relation.trivial else f"{relation.words}, {rows}.{odd}"
    return {
        "kind": relation.kind,
        "words": text,
        "sources": list(implication.sources),
        "holds": implication.holds,
        "tells": implication.tells,
    }


def _removed_answers(item: Item, gone: frozenset[str]) -> dict[str, set[str]]:
    """The answers that are in the table and in none of the columns left, each with the columns that had it."""
    columns_by_answer = {
        answer: {column for _, column in cells}
        for answer, cells in answer_cells(item.example.table, tuple(item.example.answers)).items()
    }
    return {answer: columns for answer, columns in columns_by_answer.items() if columns <= gone}


task = ColumnMasking()
