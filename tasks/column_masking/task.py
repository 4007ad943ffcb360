"""Remove columns that others imply. (RobuT 3.1, column masking)"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tableqa import Table
from tableqa.operations import Operation, RemoveColumn
from tableqa.relations import Relation, Relations, relations
from tasks.common.columns import Taking, answer_cells, named, short_text
from tasks.contract import Context, Field, Item, Problem

MOST_EVIDENCE = 4
"""Relations that are shown for one column."""


@dataclass(frozen=True)
class Response:
    """Removed columns; `reason` says how the others imply them, where somebody wrote that down."""

    does_not_apply: bool
    operations: tuple[Operation, ...] = ()
    reason: str = ""


class ColumnMasking(Taking):
    """Columns that the others imply go; what the table itself tells of that is shown beside it."""

    key = "column_masking"
    title = "Column masking"
    response_type = Response
    perturbation = "masked"
    nothing = "no column of this table follows from the others."
    shows = ("question", "table", "titles", "answers", "context", "history", "suggestions")
    fields = (Field("operations", "operations"), Field("reason", "text"), Field("does_not_apply", "flag"))
    grid = "structure"
    allowed = ("remove_column",)

    def suggest(self, item: Item, context: Context) -> dict[str, Any]:
        """{"columns": {column id: {"evidence": [{words, sources, holds, tells}], "answer", "read": bool}}, "missing"}.

        `holds` says that no row contradicts it; `tells`, that what the column held can be worked out from the others
        once it is gone. A dependency does not tell: it says that values go together, not which ones they are. `answer`
        marks the only column in which an answer stands, `read` one that the program of the answer reads.
        """
        table = item.example.table
        found = known_relations(table)
        read = {column for _, column in self.read_by_program(item)}
        columns = {}
        for column in table.column_ids:
            told = [implication for implication in implications(found.found) if implication.column == column]
            columns[column] = {
                "evidence": [_told(implication) for implication in told[:MOST_EVIDENCE]],
                "answer": bool(_answers_gone(item, frozenset({column}))),
                "read": column in read,
            }
        return {"columns": columns, "missing": list(found.notes)}

    def further(self, sent: Mapping[str, Any], item: Item, edited: Table) -> dict[str, Any]:
        return {"reason": "" if sent["does_not_apply"] else short_text(sent["reason"], "reason")}

    def doubts(self, response: Response, item: Item) -> Iterator[Problem]:
        """Columns of which nothing shows that they follow from what is left, where nobody says how they do.

        That is an error where the answer comes from them (`answer_gone`), and pointed out otherwise.
        """
        table = item.example.table
        gone = self.concerned(response)
        doubtful = gone - derivable(table, gone)
        if response.reason or not doubtful:
            return
        rule = self.answer_rule(item)
        needed = {column for _, column in self.read_by_program(item)} & doubtful
        answers = _answers_gone(item, doubtful)
        if rule != "ignore" and (needed or answers):
            held = set().union(*answers.values()) if answers else set()
            stood = f"“{next(iter(answers))}” stands in no other column" if answers else ""
            read = (
                "the answer is worked out from it"
                if len(needed | held) == 1
                else "the answer is worked out from them"
            )
            why = stood or read
            message = (
                f"Without {named(table, needed | held)} the answer cannot be found: {why}, and nothing in the table "
                "shows that it follows from what is left. Put it back, or say how it follows."
            )
            yield Problem("operations", "answer_gone", message, "error" if rule == "require" else "warning")
        message = (
            f"Nothing in the table shows that {named(table, doubtful)} can be worked out from what is left. "
            "If so, say how."
        )
        yield Problem("reason", "not_derivable", message, "warning")

    def describe(self, response: Response, item: Item) -> list[str]:
        return super().describe(response, item) + ([f"Reason: {response.reason}"] if response.reason else [])

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool | None, list[str]]:
        """As good as expected: the same columns, or others that can be worked out from what is left as well."""
        right, words = super().feedback(item, response, expected)
        if right or response.does_not_apply != expected.does_not_apply:
            return right, words
        gone = self.concerned(response)
        if gone <= derivable(item.example.table, gone):
            return True, ["Another way to do it:", *self.describe(expected, item)]
        return False, words

    def beside(self, item: Item, response: Response) -> dict[str, Any]:
        return {"reason": response.reason}

    def simulate(
        self, item: Item, rng: random.Random, accuracy: float, truth: random.Random
    ) -> dict[str, Any]:
        """Removes the last column that can be worked out; a careless person one at random."""
        table = item.example.table
        places = list(range(len(table.header)))
        if rng.random() < accuracy:
            good = [one for one in implications(known_relations(table).found) if one.tells and one.holds]
            places = [table.column_index(one.column) for one in good]
        if not places or len(table.header) < 2:
            return {"does_not_apply": True, "operations": [], "reason": ""}
        j = max(places) if len(places) < len(table.header) else rng.choice(places)
        old = (table.header[j], *(row[j] for row in table.rows))
        gone = RemoveColumn(column=table.column_ids[j], at=j, old=old)
        return {"does_not_apply": False, "operations": [gone.to_dict()], "reason": ""}


@dataclass(frozen=True, slots=True)
class Implication:
    """What a relation says of one of its columns: that it follows from `sources`.

    tells  whether its cells can be worked out once it is gone; a dependency says only that values go together
    """

    column: str
    sources: tuple[str, ...]
    relation: Relation

    @property
    def holds(self) -> bool:
        return self.relation.holds == self.relation.of

    @property
    def tells(self) -> bool:
        return not self.relation.trivial and self.relation.kind != "dependency"


def implications(found: Iterable[Relation]) -> Iterator[Implication]:
    """What relations imply, in their order; of a sum and a difference each column follows from the others."""
    for relation in found:
        if not relation.trivial or relation.kind == "constant":
            yield Implication(relation.target, relation.sources, relation)
        if relation.kind in ("sum", "difference") and not relation.trivial:
            whole = (relation.target, *relation.sources)
            for column in relation.sources:
                yield Implication(column, tuple(one for one in whole if one != column), relation)


@lru_cache(maxsize=32)
def known_relations(table: Table) -> Relations:
    """The relations of a table, kept for the drafts that follow."""
    return relations(table)


def derivable(table: Table, gone: frozenset[str]) -> frozenset[str]:
    """Which of these columns can be worked out in every row, by a relation of the table, from the columns that are left."""
    left = set(table.column_ids) - gone
    known = [one for one in implications(known_relations(table).found) if one.tells and one.holds]
    while more := {one.column for one in known if left.issuperset(one.sources)} - left:
        left |= more
    return gone & left


def _told(implication: Implication) -> dict[str, Any]:
    relation = implication.relation
    rows = f"in all {relation.of} rows" if implication.holds else f"in {relation.holds} of {relation.of} rows"
    odd = " ".join(f"{example.words}." for example in relation.counterexamples)
    words = f"{relation.words}." if relation.trivial else f"{relation.words}, {rows}. {odd}".strip()
    return {
        "words": words,
        "sources": list(implication.sources),
        "holds": implication.holds,
        "tells": implication.tells,
    }


def _answers_gone(item: Item, gone: frozenset[str]) -> dict[str, set[str]]:
    """The answers that stand in the table and in none of the columns left, each with the columns in which it stood."""
    held = {
        answer: {column for _, column in cells}
        for answer, cells in answer_cells(item.example.table, tuple(item.example.answers)).items()
    }
    return {answer: columns for answer, columns in held.items() if columns <= gone}


task = ColumnMasking()
