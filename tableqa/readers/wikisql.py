"""WikiSQL (Zhong, Xiong and Socher, 2017): questions with a logical form, and their tables in a second file.

Beside dev.jsonl lies dev.tables.jsonl, one table a line, as the release packs them. The files hold no answers: the
gold is the denotation of the logical form, which the paper's execution accuracy goes by (section 3.2), so the form is
run here.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tableqa.examples import Example
from tableqa.language import gettext_noop, phrase
from tableqa.on_disk import Shelf
from tableqa.programs import ProgramError, program_of, run
from tableqa.readers.reader import (
    FileReader,
    ReaderError,
    Rejected,
    only_file,
)
from tableqa.readers.records import (
    Fields,
    Record,
    example,
    has_fields,
    outcomes_of,
    table_of,
    text_of,
)
from tableqa.readers.table_files import TableLines, lines_with_places
from tableqa.tables import Table

AGGREGATIONS = ("", "MAX", "MIN", "COUNT", "SUM", "AVG")
"""What `agg` counts; "" is no aggregation."""
OPERATORS = ("=", ">", "<", "OP")
"""What the second number of a condition counts; the release never uses the last."""

_PLACES = ("*.jsonl", "*/*.jsonl")
_TABLES_META = ("types", "page_title", "section_title", "caption", "name", "page_id")


class WikiSql(FileReader):
    """The reader "wikisql"; see `tableqa.readers.reader.Reader`.

    The id of an example is `table_id-n`, n counting the table's questions in the file from 1: the source has none.
    answers is what the logical form gives on the table (`tableqa.programs`), and program that form as a program. Where
    it gives nothing, because no row meets its conditions or a text stands where it takes a sum, answers is empty and
    there is no program. meta holds "sql" as {"sel", "agg", "conds": [[column, operator, value], ...]}, "phase",
    "table_id", and what the source says of the table, "types" among it. A cell that is a number stays as it is
    written.
    """

    name = "wikisql"
    title = "WikiSQL"
    licence = "BSD-3-Clause"
    citation = (
        "Victor Zhong, Caiming Xiong and Richard Socher. 2017. Seq2SQL: Generating Structured Queries from Natural "
        "Language using Reinforcement Learning. arXiv:1709.00103."
    )
    url = "https://github.com/salesforce/WikiSQL"
    beside = gettext_noop("the tables file, for example dev.tables.jsonl")

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path, Path]:
        path = Path(path)
        mend = phrase("Name one file of questions, for example dev.jsonl")
        questions = (
            only_file(path, _PLACES, lambda file: has_fields(file, "table_id", "sql"), mend)
            if path.is_dir()
            else path
        )
        if tables is not None and Path(tables).is_file():
            return questions, Path(tables)
        folder = questions.absolute().parent if tables is None else Path(tables)
        name = f"{questions.stem}.tables.jsonl"
        within = [folder, *sorted(inner for inner in folder.glob("*") if inner.is_dir())]
        if named := [
            inner / name for inner in within[: 1 if tables is None else None] if (inner / name).is_file()
        ]:
            return questions, named[0]
        mend = phrase(
            "Upload the file of the tables, {name}, too: in a zip archive",
            name=name,
        )
        command = phrase("Give the folder of the file of the tables, {name}: --tables DIR", name=name)
        if tables is None:
            raise ReaderError(
                questions, None, phrase("there is no {name} beside it", name=name), mend, command
            )
        # In an archive the one file of tables may have any name.
        return questions, only_file(
            folder, _PLACES, lambda file: has_fields(file, "id", "header", "rows"), mend, command
        )

    def _outcomes(self, questions: Path, tables_file: Path) -> Iterator[Example | Rejected]:
        tables = _tables(tables_file)
        asked: Shelf[str, int] = Shelf()

        def make(record: Record) -> Example:
            fields = record.fields
            table_id = fields.name("table_id")
            asked[table_id] = asked.get(table_id, 0) + 1
            if table_id not in tables:
                mend = phrase("Give the file of tables that belongs to these questions")
                raise fields.place.error(
                    phrase(
                        "the table {table_id} is not in {tables_file}",
                        table_id=table_id,
                        tables_file=tables_file,
                    ),
                    mend,
                )
            table, about = tables[table_id]
            meta = {
                "sql": _sql(fields.nested("sql"), table),
                **fields.rest("phase"),
                "table_id": table_id,
                **about,
            }
            example_id = f"{table_id}-{asked[table_id]}"
            answers, program = _denotation(meta["sql"], table)
            return example(
                fields.place, example_id, fields.text("question"), table, answers, meta, program=program
            )

        return outcomes_of(questions, make)


def _sql(sql: Fields, table: Table) -> dict[str, Any]:
    """The logical form, its columns, aggregation and operators checked; ReaderError."""
    columns = table.shape[1]
    selected, aggregation = sql.integer("sel"), sql.integer("agg")
    if not 0 <= selected < columns:
        raise sql.error(
            "sel",
            phrase("{field} is {selected}", field="sel", selected=selected),
            phrase("The table has {columns} columns, counted from 0", columns=columns),
        )
    if not 0 <= aggregation < len(AGGREGATIONS):
        raise sql.error(
            "agg",
            phrase("{field} is {aggregation}", field="agg", aggregation=aggregation),
            phrase("It is a number from 0 to {number}", number=len(AGGREGATIONS) - 1),
        )
    conditions = sql.listed("conds")
    for i, condition in enumerate(conditions):
        if not _is_condition(condition, columns):
            mend = phrase(
                "It is [column, operator, value]: a column of {columns}, an operator from 0 to 3, a text or number",
                columns=columns,
            )
            raise sql.error(
                f"conds[{i}]", phrase("{field} is not a condition on this table", field=f"conds[{i}]"), mend
            )
    return {**sql.rest("conds"), "sel": selected, "agg": aggregation}


def _denotation(sql: Mapping[str, Any], table: Table) -> tuple[list[str], dict[str, Any] | None]:
    """What the logical form gives on the table, and its program; nothing of both where it gives nothing."""
    try:
        program = program_of(sql, table)
        return run(program, table), program.to_dict()
    except ProgramError:
        return [], None


def _is_condition(condition: object, columns: int) -> bool:
    if not isinstance(condition, list) or len(condition) != 3:
        return False
    column, operator, value = condition
    return (
        type(column) is int
        and 0 <= column < columns
        and type(operator) is int
        and 0 <= operator < len(OPERATORS)
        and text_of(value) is not None
    )


def _tables(path: Path) -> TableLines:
    """The tables of a file, one a line, by their ids; ReaderError."""
    places: Shelf[str, tuple[int, int]] = Shelf()
    for line, offset, fields in lines_with_places(path):
        table_id = fields.name("id")
        if table_id in places:
            mend = phrase("Remove one of the two tables")
            raise fields.error(
                "id",
                phrase(
                    "{field} is {table_id}, as in line {line}",
                    field="id",
                    table_id=table_id,
                    line=places[table_id][0],
                ),
                mend,
            )
        places[table_id] = line, offset
    return TableLines(path, places, _table)


def _table(fields: Fields) -> tuple[Table, dict[str, Any]]:
    title = fields.text("page_title", default="")
    caption = fields.text("caption", default="") or fields.text("section_title", default="")
    header, rows = fields.required("header"), fields.required("rows")
    return table_of(fields.place, header, rows, title, caption), fields.rest(*_TABLES_META)


READER = WikiSql()
