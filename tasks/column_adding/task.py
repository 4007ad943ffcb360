"""Add columns of related tables."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tableqa import Example, Table
from tableqa.core import translation
from tableqa.core.json_text import read_json
from tableqa.core.translation import gettext, gettext_noop, joined, message
from tableqa.operations import InsertColumn, Operation, OperationError, from_dict, replay
from tableqa.perturbations.related_tables import Candidate, Index, align, candidates
from tableqa.programs.evidence import CellRef
from tasks.contract import (
    Context,
    Field,
    FormEdit,
    GenerationRequest,
    InvalidResponse,
    Item,
    PreparedInputs,
    PreparingTask,
    Problem,
    ProposedResponse,
    ProposingTask,
    Surroundings,
)
from tasks.shared.column_edits import ColumnTask, plain, read_entries, rows_in_words
from tasks.shared.column_prompts import (
    invalid_reply,
    read_text,
    relevant_rows,
    relevant_table,
    require_fields,
)

FROM = message("column_adding.from", "From {title}")
FILLED = message("column_adding.filled", "{filled} of {rows} rows have a value")
"""Why a column of another table is proposed."""

ROW_TOKENS = 300
"""Estimated tokens of the rows of the item's table in one request. Each column on offer is shown for the same rows."""
TABLES = 3
"""Related tables whose columns are shown; RobuT retrieved as many."""

LOOKED_AT = 12
"""Related tables that are looked at until this number has a row and a column to give."""

COLUMNS = 6
"""Columns that one related table offers."""

ALIGNED = 6
"""Pairs of rows that are shown for each related table."""

LEAST_ALIGNED = 0.5
"""The share of a table's rows that must have a counterpart in a related one (`Alignment.weight`): rows that agree in a
year alone are about nothing in common, and a column that is empty in most rows belongs into no table."""

LEAST_ROWS = 3
"""Rows that must have a counterpart."""

NAMED_ROWS = 3
"""Rows that name a related table without a title."""

LONGEST_TITLE = 70
"""Characters of what a related table is called."""

DIGEST = re.compile(r"[0-9a-f]{64}")

Origin = tuple[str, str, str, str]
"""Where a new column comes from: its id, the digest of the other table, the column's id and the table's title there."""


@dataclass(frozen=True)
class Response:
    """New columns, and for each where it comes from.

    `own` are the (row, column) of their cells that are not what the other table has there, and so a person's own text.
    It is worked out from what the item offered, for any request.
    """

    does_not_apply: bool
    operations: tuple[Operation, ...] = ()
    provenance: tuple[Origin, ...] = ()
    own: tuple[CellRef, ...] = ()


class ColumnAdding(ColumnTask, PreparingTask, ProposingTask):
    """Columns of related tables of the project are added, row by row, at a place that is drawn.

    What is offered is frozen with the item: a response can be held against it wherever the item is, and examples to
    which no table of the project is related make no item.
    """

    key = "column_adding"
    version = 2
    title = gettext_noop("Column adding")
    step = "edit"
    paper = "RobuT (ACL 2023) § 3.1"
    prerequisite = gettext_noop("Needs related tables in the project.")
    instruction = gettext_noop("Add a column from a related table")
    response_type = Response
    perturbation = "add"
    nothing = gettext_noop("no column of a related table fits this table.")
    shows = ("question", "table", "titles", "answers", "context", "history", "suggestions")
    needs = ("corpus", "table")
    without = gettext_noop("the project has no related table with a column to add.")
    favourites = False
    fields = (
        Field("operations", "operations"),
        Field(
            "provenance",
            "json",
            shape="[part]",
            note="a part is `[new column id, digest of the table, column id there, title]`",
        ),
        Field("own", "json", shape="[cell]", note="`own`: cells that the annotator filled in"),
        Field("does_not_apply", "flag"),
    )
    allowed = ("insert_column",)

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs | None:
        """Freezes {"suggestions": {"tables": [{digest, title, score, why, rows, of, by, aligned, columns}]}}.

        `aligned` are the first pairs of cells by which rows were matched. A table's columns are [{column, header,
        after, filled, sent}]; `after` is the place that is drawn for it, `sent` what adding it takes, as JSON text.
        """
        tables = find_related_tables(example, around.lent)
        return PreparedInputs({"suggestions": {"tables": tables}}) if tables else None

    def payload(self, item: Item) -> dict[str, Any]:
        """The reason for a related table is in the reader's language."""
        payload = super().payload(item)
        if "suggestions" in payload:
            tables = [
                {**table, "why": translation.translate_stored(table["why"])}
                for table in payload["suggestions"]["tables"]
            ]
            payload["suggestions"] = {**payload["suggestions"], "tables": tables}
        return payload

    def propose(self, item: Item, context: Context) -> Iterator[ProposedResponse]:
        """Each column on offer, the fullest of the best related table first."""
        rows = max(1, len(item.example.table.rows))
        for index, ((digest, source), offer) in enumerate(offered_columns(item).items()):
            filled = sum(bool(cell.strip()) for cell in offer["cells"])
            why = joined([FROM.format(title=offer["title"]), FILLED.format(filled=filled, rows=rows)], "; ")
            yield ProposedResponse(
                _response_data(digest, source, offer),
                self.perturbation,
                "corpus",
                why,
                filled / rows - index / 100,
            )

    def generation_requests(self, item: Item) -> Sequence[GenerationRequest]:
        what = (
            "Choose one column of the other tables that belongs into this table: about the same things, in the same "
            "subject, and without changing the answer to the question."
        )
        form = '{"table": 1, "column": "its name"}'
        return [GenerationRequest(self.perturbation, what, form)] if offered_columns(item) else []

    def render(self, item: Item) -> str:
        table, question, offers = item.example.table, item.example.question, offered_columns(item)
        rows = relevant_rows(table, question, ROW_TOKENS)
        lines = [relevant_table(table, question, ROW_TOKENS), f"Question: {question}"]
        for number, (digest, title) in enumerate(_titles(item).items(), start=1):
            lines.append(f"Table {number}: {title}")
            lines += [
                f"  {offer['header']}: {' | '.join(' '.join(offer['cells'][row].split())[:60] for row in rows)}"
                for (of, _), offer in offers.items()
                if of == digest
            ]
        return "\n".join(lines)

    def as_demonstration(
        self, response: Response, request: GenerationRequest, item: Item
    ) -> Mapping[str, Any] | None:
        if len(response.provenance) != 1 or response.own:
            return None
        ((_, digest, source, _),) = response.provenance
        offer, tables = offered_columns(item).get((digest, source)), list(_titles(item))
        if offer is None or digest not in tables:
            return None
        return {"table": tables.index(digest) + 1, "column": offer["header"]}

    def parse_reply(
        self, reply: Mapping[str, Any], request: GenerationRequest, item: Item
    ) -> Mapping[str, Any]:
        require_fields(reply, {"table", "column"})
        tables, number = list(_titles(item)), reply["table"]
        if type(number) is not int or not 1 <= number <= len(tables):
            raise invalid_reply("table", f"A table is a number from 1 to {len(tables)}.")
        name = plain(read_text(reply["column"], "column"))
        for (digest, source), offer in offered_columns(item).items():
            if digest == tables[number - 1] and plain(offer["header"]) == name:
                return _response_data(digest, source, offer)
        raise invalid_reply("column", f"Table {number} has no column of this name to give.")

    def judge(self, item: Item, operations: Sequence[Operation]) -> Iterable[Problem]:
        for operation in operations:
            if isinstance(operation, InsertColumn) and not any(cell.strip() for cell in operation.cells):
                message = gettext("The new column “{header}” is empty. Fill at least one cell.")
                yield Problem("operations", "column_empty", message.format(header=operation.header))

    def parse_extra_fields(self, sent: Mapping[str, Any], item: Item, edited: Table) -> dict[str, Any]:
        """Where each new column comes from, in the order of the operations, held against what the item offers.

        Entries of columns that went again go, too. An item of before version 2 offers nothing to hold a column against:
        every cell is a person's own text then.
        """
        source_entries = read_entries(
            sent["provenance"], "provenance", 4, {1: lambda sha: DIGEST.fullmatch(sha) is not None}
        )
        origins = {entry[0]: entry for entry in source_entries}
        new = [operation for operation in sent["operations"] if isinstance(operation, InsertColumn)]
        if missing := [operation.column for operation in new if operation.column not in origins]:
            names = ", ".join(f"“{edited.header[edited.column_index(column)]}”" for column in missing)
            message = gettext("The source of {names} is missing. Add columns from the offered tables only.")
            raise InvalidResponse.of("provenance", "no_provenance", message.format(names=names))
        offers = offered_columns(item)
        provenance: list[Origin] = []
        own: list[CellRef] = []
        for operation in new:
            _, digest, source, title = origins[operation.column]
            offer = offers.get((digest, source))
            if offer is None and offers:
                message = gettext(
                    "The source of “{header}” is not offered for this item. Add an offered column."
                ).format(header=operation.header)
                raise InvalidResponse.of("provenance", "not_offered", message)
            source_cells = offer["cells"] if offer else [""] * len(operation.cells)
            own += [
                (row, operation.column)
                for row, cell, other in zip(
                    item.example.table.row_ids, operation.cells, source_cells, strict=True
                )
                if cell != other
            ]
            if offer and not any(
                cell == other and cell.strip()
                for cell, other in zip(operation.cells, source_cells, strict=True)
            ):
                message = gettext(
                    "No cell of “{header}” matches its source column. Remove it and add an offered column."
                ).format(header=operation.header)
                raise InvalidResponse.of("provenance", "not_from_there", message)
            provenance.append((operation.column, digest, source, offer["title"] if offer else title))
        return {"provenance": tuple(provenance), "own": tuple(own)}

    def upgrade(self, data: Mapping[str, Any], from_version: int) -> Mapping[str, Any]:
        """Version 1 did not tell a person's own cells from those of the other table."""
        return {**data, "own": []}

    def warnings(self, response: Response, item: Item) -> Sequence[Problem]:
        """New columns with an answer: the question may have a second one now."""
        answers = {plain(answer) for answer in item.example.answers}
        headers = [
            f"“{operation.header}”"
            for operation in response.operations
            if isinstance(operation, InsertColumn) and answers.intersection(map(plain, operation.cells))
        ]
        if not headers:
            return ()
        message = gettext("An answer is also in {found}. Check that the question still has one answer only.")
        return (Problem("operations", "answer_again", message.format(found=", ".join(headers)), "warning"),)

    def form_data(self, post: Mapping[str, str], draft: Mapping[str, Any]) -> dict[str, Any]:
        data = super().form_data(post, draft)
        if post.get("action") == "add" and (candidate := _parse_candidate(post)) is not None:
            provenance = data["provenance"] if isinstance(data["provenance"], list) else []
            operations = data["operations"] if isinstance(data["operations"], list) else []
            origin = [
                _free_id(operations, candidate["first"]),
                *(str(candidate[key]) for key in ("digest", "column", "title")),
            ]
            data["provenance"] = [*provenance, origin]
        return data

    def form_edits(self) -> Mapping[str, FormEdit]:
        return {"add": _add_by_form}

    def describe(self, response: Response, item: Item) -> list[str]:
        lines = super().describe(response, item)
        row_index = item.example.table.row_index
        for index, (column, digest, _, title) in enumerate(response.provenance):
            table = gettext("From the table {value} ({digest})").format(
                value=title or gettext("without a title"), digest=digest[:12]
            )
            lines[index] += f". {table}"
            if rows := [row_index(row) + 1 for row, other in response.own if other == column]:
                own = gettext("The annotator's own text: {rows_named}").format(rows_named=rows_in_words(rows))
                lines[index] += f". {own}"
        return lines

    def concerned_columns(self, response: Response) -> frozenset[str]:
        return frozenset(f"{digest}/{column}" for _, digest, column, _ in response.provenance)

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool | None, list[str]]:
        """As good as expected: no column but those of the expected response. One of them is enough."""
        right, lines = super().feedback(item, response, expected)
        if response.does_not_apply or expected.does_not_apply:
            return right, lines
        return self.concerned_columns(response) <= self.concerned_columns(expected), lines

    def beside(self, item: Item, response: Response) -> dict[str, Any]:
        names = ("column", "table", "source_column", "title")
        return {
            "provenance": [dict(zip(names, origin, strict=True)) for origin in response.provenance],
            "own": [list(cell) for cell in response.own],
        }

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        """Adds the first column on offer that holds; a careless person says that nothing can be added."""
        nothing = {"does_not_apply": True, "operations": [], "provenance": [], "own": []}
        if rng.random() > accuracy:
            return nothing
        for (digest, source), offer in offered_columns(item).items():
            response = _response_data(digest, source, offer)
            try:
                self.parse(response, item)
            except InvalidResponse:
                continue
            return response
        return nothing


def find_related_tables(example: Example, context: Context) -> list[dict[str, Any]]:
    """The related tables of the corpus that have a column to give, as they are frozen with an item, best first."""
    table = example.table
    if not isinstance(context.corpus, Index) or context.table is None:
        return []
    related_tables: list[dict[str, Any]] = []
    for hit in context.corpus.related(table, k=LOOKED_AT):
        other = context.table(hit.digest)
        alignment = align(table, other) if other is not None else None
        if other is None or alignment is None:
            continue
        if alignment.weight < LEAST_ALIGNED or len(alignment.pairs) < LEAST_ROWS:
            continue
        columns = candidates(table, other, alignment)[:COLUMNS]
        if not columns:
            continue
        aligned = [
            [table.cell(row, alignment.column), other.cell(other_row, alignment.other_column)]
            for row, other_row in alignment.pairs[:ALIGNED]
        ]
        related_tables.append(
            {
                "digest": hit.digest,
                "title": title_of(other, alignment.other_column),
                "score": round(hit.score, 4),
                "why": hit.why,
                "rows": len(alignment.pairs),
                "of": len(table.rows),
                "by": [column_name(table, alignment.column), column_name(other, alignment.other_column)],
                "aligned": aligned,
                "columns": [
                    _candidate_data(example, hit.digest, title_of(other, alignment.other_column), column)
                    for column in columns
                ],
            }
        )
        if len(related_tables) == TABLES:
            break
    return related_tables


def offered_columns(item: Item) -> dict[tuple[str, str], dict[str, Any]]:
    """What an item offers: by (digest, column) what adding that column takes."""
    tables = item.inputs.get("suggestions", {}).get("tables", ())
    return {
        (table["digest"], column["column"]): json.loads(column["sent"])
        for table in tables
        for column in table["columns"]
    }


def _response_data(digest: str, source: str, offer: Mapping[str, Any]) -> dict[str, Any]:
    """The response that adds a column on offer at the place that was drawn for it."""
    values = {name: offer[name] for name in ("after", "header", "cells")}
    column = f"n{offer['first']}"
    return {
        "does_not_apply": False,
        "operations": [{"op": "insert_column", "column": column, **values}],
        "provenance": [[column, digest, source, offer["title"]]],
        "own": [],
    }


def _titles(item: Item) -> dict[str, str]:
    """The related tables that an item offers columns of, by digest."""
    return {digest: offer["title"] for (digest, _), offer in offered_columns(item).items()}


def _candidate_data(example: Example, digest: str, title: str, candidate: Candidate) -> dict[str, Any]:
    """A candidate as the page shows it. A form without scripts sends `sent` back, which therefore is a text."""
    after = draw_position(example, digest, candidate.column)
    insertion = {"column": candidate.column, "header": candidate.header, "after": after}
    more = {
        "cells": candidate.cells,
        "digest": digest,
        "title": title,
        "first": first_free(example.table),
    }
    return {
        **insertion,
        "filled": candidate.filled,
        "sent": json.dumps({**insertion, **more}, ensure_ascii=False),
    }


def draw_position(example: Example, digest: str, column: str) -> str | None:
    """The column after which a new one is proposed to stand, None for the first place: random, and always the same one."""
    rng = Random(f"column_adding:{example.id}:{digest}:{column}")
    return rng.choice([None, *example.table.column_ids])


def first_free(table: Table) -> int:
    """The number of the first id n1, n2, ... that no row and no column of the table has, nor a later one."""
    suffixes = [int(id[1:]) for id in (*table.row_ids, *table.column_ids) if re.fullmatch(r"n[0-9]{1,9}", id)]
    return max(suffixes, default=0) + 1


def title_of(table: Table, key: str) -> str:
    """What a related table is called: its title and caption, or else what its rows are, by the column that names them:
    "Nation: Kenya, Qatar, Spain, …".
    """
    named = ": ".join(text for text in (table.title, table.caption) if text.strip())
    if not named:
        texts = list(dict.fromkeys(" ".join(cell.split()) for cell in table.column(key) if cell.strip()))
        rows = ", ".join([*texts[:NAMED_ROWS], *(["…"] if len(texts) > NAMED_ROWS else [])])
        named = f"{column_name(table, key)}: {rows}"
    line = " ".join(named.split())
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip(" |") + "…"


def column_name(table: Table, column: str) -> str:
    """What a column is called: its header, or its place."""
    index = table.column_index(column)
    return table.header[index].strip() or gettext("column {value}").format(value=index + 1)


# -- the form without scripts -----------------------------------------------------------------------


def _add_by_form(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    """Add the chosen candidate at the place that was drawn for it."""
    candidate = _parse_candidate(post)
    if candidate is None:
        raise OperationError("bad_operation", gettext("Choose a column to add."))
    column = _free_id([operation.to_dict() for operation in operations], candidate["first"])
    after = candidate["after"]
    if after not in (None, *replay(item.example.table, operations).column_ids):
        after = None
    values = {"op": "insert_column", "column": column, "after": after}
    return [*operations, from_dict({**values, "header": candidate["header"], "cells": candidate["cells"]})]


def _parse_candidate(post: Mapping[str, str]) -> dict[str, Any] | None:
    """The value of a radio button of the form, trusting nothing."""
    try:
        candidate = read_json(post.get("candidate", ""))
    except ValueError:
        return None
    expected_keys = {"digest", "column", "title", "after", "header", "cells", "first"}
    if (
        not isinstance(candidate, dict)
        or set(candidate) != expected_keys
        or type(candidate["first"]) is not int
    ):
        return None
    return candidate


def _free_id(operations: Sequence[Any], first: int) -> str:
    """The next id for a new column, from n`first` on; the draft's operations may be anything."""
    used_ids = {operation.get("column") for operation in operations if isinstance(operation, dict)}
    return next(id for id in (f"n{suffix}" for suffix in range(first, first + 100_000)) if id not in used_ids)


task = ColumnAdding()
