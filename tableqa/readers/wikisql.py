"""WikiSQL (Zhong, Xiong and Socher, 2017): questions with a logical form, and their tables in a second file.

Beside dev.jsonl is dev.tables.jsonl, one table a line, as the release packs them. The files hold no answers: the
gold is the denotation of the logical form, which the paper's execution accuracy goes by (section 3.2), so the form is
run here.
"""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tableqa.core.disk_collections import Shelf
from tableqa.core.translation import gettext_noop, joined, phrase
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.archive import is_archive, unpacked, with_archive_name
from tableqa.readers.example_parts import example, table_of
from tableqa.readers.interface import (
    FileReader,
    Ids,
    ReaderError,
    Rejection,
    any_case,
    only_file,
    ways_to_tables,
)
from tableqa.readers.json_values import text_of
from tableqa.readers.record_fields import Fields
from tableqa.readers.records import Record, has_fields, outcomes_of
from tableqa.readers.split_names import SPLITS, check_split, is_same_split, split_of
from tableqa.readers.table_encodings import PAGES
from tableqa.readers.table_files import TableLines, lines_with_places
from tableqa.readers.table_kinds import SEPARATED

AGGREGATIONS = ("", "MAX", "MIN", "COUNT", "SUM", "AVG")
"""What `agg` counts; "" is no aggregation."""
OPERATORS = ("=", ">", "<", "OP")
"""What the second number of a condition counts; the release never uses the last."""

_PLACES = ("*.jsonl", "*/*.jsonl")
_MOST_COMPARED = 100
"""Files by which a release is known."""
_TABLE_FILES = (*SEPARATED, *PAGES, ".xlsx")
"""Suffixes of files that hold a table each: questions beside these are no release."""
_TABLES_META = ("types", "page_title", "section_title", "caption", "name", "page_id")


class WikiSql(FileReader):
    """The reader "wikisql"; see `tableqa.readers.interface.Reader`.

    The id of an example is `table_id-n`, n counting the table's questions in the file from 1: the source has none.
    answers is what the logical form gives on the table (`tableqa.programs`), and program that form as a program. Where
    it gives nothing, because no row meets its conditions or a text is where it takes a sum, answers is empty and
    there is no program. meta holds "sql" as {"sel", "agg", "conds": [[column, operator, value], ...]}, "phase",
    "table_id", and what the source says of the table, "types" among it. A cell that is a number stays as it is
    written.

    A folder or zip archive may hold several splits with their tables, as the release does. All are read, with the name of
    its file as `split` in the meta of each example, or one alone (`with_split`).
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

    def __init__(self) -> None:
        self._only_split = ""

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The questions and the tables of each split that is read; those of an archive while it is unpacked."""
        with _open_files(Path(path), tables) as (folder, beside):
            for questions in self._questions(folder):
                yield from self.located(questions, beside)

    def with_split(self, split: str, path: Path, tables: str | Path | None = None) -> "WikiSql":
        """The same reader for one split of a folder or archive, or itself where that has one alone; ReaderError."""
        with _open_files(path, tables) as (folder, _):
            names = [file.stem for file in self._questions(folder)]
        if len(names) < 2:
            return self
        check_split(path, split, names)
        reader = copy.copy(self)
        reader._only_split = split
        return reader

    def read_as(self, path: str | Path, tables: str | Path | None = None) -> str:
        """Which splits a folder or archive has; "" for one alone. ReaderError."""
        with _open_files(Path(path), tables) as (folder, _):
            names = [file.stem for file in self._questions(folder)]
        if len(names) < 2:
            return ""
        read_as = phrase("{file} was read as WikiSQL.", file=Path(path).name)
        return joined([read_as, phrase("Its splits are {names}.", names=", ".join(names))])

    def _questions(self, path: Path) -> list[Path]:
        """The file itself, or those of a folder: one, or one for each split. ReaderError."""
        if not path.is_dir():
            return [path]
        files = list(filter(_has_questions, _json_lines(path)))
        if len({split_of(Path(file.name)) for file in files} - {""}) < len(files) or len(files) < 2:
            mend = phrase("Name one file of questions, for example dev.jsonl")
            return [only_file(path, _PLACES, _has_questions, mend)]
        order = list(SPLITS.values())
        files.sort(key=lambda file: order.index(split_of(Path(file.name))))
        return [file for file in files if not self._only_split or is_same_split(file.stem, self._only_split)]

    def _every_outcome(self, path: Path, tables: str | Path | None) -> Iterator[Example | Rejection]:
        with _open_files(path, tables) as (folder, beside):
            files = self._questions(folder)
            located = [self.located(questions, beside) for questions in files]
            ids = Ids(files[0])
            for questions, tables_file in located:
                split = {"split": questions.stem} if len(located) > 1 else {}
                for outcome in self._outcomes(questions, tables_file, ids, split):
                    if isinstance(outcome, Rejection) and is_archive(path):
                        yield Rejection(
                            with_archive_name(outcome.error, str(folder), path.name), outcome.record
                        )
                    else:
                        yield outcome

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path, Path]:
        """A file of questions and that of its tables; ReaderError."""
        questions = Path(path)
        if tables is not None and Path(tables).is_file():
            return questions, Path(tables)
        folder = questions.absolute().parent if tables is None else Path(tables)
        name = f"{questions.stem}.tables.jsonl"
        within = [folder, *sorted(inner for inner in folder.glob("*") if inner.is_dir())]
        if named := [
            inner / name for inner in within[: 1 if tables is None else None] if (inner / name).is_file()
        ]:
            return questions, named[0]
        mend, command = ways_to_tables(name)
        if tables is None:
            what = phrase("there is no {name} beside it", name=name)
            raise ReaderError(questions, None, what, mend, command)
        # In an archive the one file of tables may have any name.
        return questions, only_file(folder, _PLACES, _has_tables, mend, command)

    def _outcomes(
        self, questions: Path, tables_file: Path, ids: Ids, split: Mapping[str, str]
    ) -> Iterator[Example | Rejection]:
        tables = _tables(tables_file)
        question_counts: Shelf[str, int] = Shelf()

        def make(record: Record) -> Example:
            fields = record.fields
            table_id = fields.name("table_id")
            question_counts[table_id] = question_counts.get(table_id, 0) + 1
            if table_id not in tables:
                mend = phrase("Give the file of tables that belongs to these questions")
                values = {"table_id": table_id, "tables_file": tables_file}
                raise fields.place.error(
                    phrase("the table {table_id} is not in {tables_file}", **values), mend
                )
            table, about = tables[table_id]
            meta = {
                "sql": _sql(fields.nested("sql"), table),
                **fields.rest("phase"),
                "table_id": table_id,
                **about,
                **split,
            }
            example_id = f"{table_id}-{question_counts[table_id]}"
            ids.add(example_id, fields.place.line, questions)
            answers, program = _denotation(meta["sql"], table)
            return example(
                fields.place, example_id, fields.text("question"), table, answers, meta, program=program
            )

        return outcomes_of(questions, make)


@contextmanager
def _open_files(path: Path, tables: str | Path | None) -> Iterator[tuple[Path, str | Path | None]]:
    """The file or folder itself and where its tables are; an archive is unpacked and holds both."""
    if is_archive(path):
        with unpacked(path) as folder:
            yield folder, None
    else:
        yield path, tables


def is_release(path: Path) -> bool:
    """Whether a folder or zip archive holds questions of WikiSQL, with their tables or without any."""
    with suppress(ReaderError, OSError), _open_files(path, None) as (folder, _):
        return folder.is_dir() and holds_release(folder)
    return False


def holds_release(folder: Path) -> bool:
    """The same for a folder, or an archive that is unpacked."""
    files = _json_lines(folder)[:_MOST_COMPARED]
    if not any(_has_questions(file) and not has_fields(file, "table") for file in files):
        return False
    return any(map(_has_tables, files)) or not any(
        file.suffix.lower() in _TABLE_FILES for file in folder.rglob("*")
    )


def _json_lines(folder: Path) -> list[Path]:
    """The files of JSON Lines in a folder, then those in its folders."""
    return [file for pattern in _PLACES for file in sorted(folder.glob(any_case(pattern))) if file.is_file()]


def _has_questions(file: Path) -> bool:
    return has_fields(file, "table_id", "sql")


def _has_tables(file: Path) -> bool:
    return has_fields(file, "id", "header", "rows")


def _sql(sql: Fields, table: Table) -> dict[str, Any]:
    """The logical form, its columns, aggregation and operators checked; ReaderError."""
    columns = table.shape[1]
    selected, aggregation = sql.integer("sel"), sql.integer("agg")
    if not 0 <= selected < columns:
        mend = phrase("The table has {columns} columns, counted from 0", columns=columns)
        raise sql.error("sel", phrase("{field} is {selected}", field="sel", selected=selected), mend)
    if not 0 <= aggregation < len(AGGREGATIONS):
        mend = phrase("It is a number from 0 to {number}", number=len(AGGREGATIONS) - 1)
        raise sql.error("agg", phrase("{field} is {aggregation}", field="agg", aggregation=aggregation), mend)
    conditions = sql.listed("conds")
    for i, condition in enumerate(conditions):
        if not _is_condition(condition, columns):
            mend = phrase(
                "It is [column, operator, value]: a column of {columns}, an operator from 0 to 3, a text or number",
                columns=columns,
            )
            what = phrase("{field} is not a condition on this table", field=f"conds[{i}]")
            raise sql.error(f"conds[{i}]", what, mend)
    return {**sql.rest("conds"), "sel": selected, "agg": aggregation}


def _denotation(sql: Mapping[str, Any], table: Table) -> tuple[list[str], dict[str, Any] | None]:
    """What the logical form gives on the table, and its program; nothing of both where it gives nothing."""
    from tableqa.programs import ProgramError, program_of, run

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
            values = {"field": "id", "table_id": table_id, "line": places[table_id][0]}
            raise fields.error("id", phrase("{field} is {table_id}, as in line {line}", **values), mend)
        places[table_id] = line, offset
    return TableLines(path, places, _table)


def _table(fields: Fields) -> tuple[Table, dict[str, Any]]:
    title = fields.text("page_title", default="")
    caption = fields.text("caption", default="") or fields.text("section_title", default="")
    header, rows = fields.required("header"), fields.required("rows")
    return table_of(fields.place, header, rows, title, caption), fields.rest(*_TABLES_META)


READER = WikiSql()
