"""RobuT (Zhao et al., ACL 2023): questions about perturbed tables, and perturbed questions, with what they were before.

The release is an archive of two files for each dataset: robut_wtq_qa.json, an array of questions that name their tables,
and robut_wtq_table.json, one object {table id: {"header", "rows"}}. Its copy on Hugging Face, and what Askew writes, hold
the table in the question's own record, as FREB-TQA does. Both are read.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tableqa.core.disk_collections import Shelf
from tableqa.core.translation import gettext_noop, phrase
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.example_parts import example, named_table
from tableqa.readers.interface import Names, ReaderError, Rejection, TolerantReader, ways_to_tables
from tableqa.readers.json_stream import read_members
from tableqa.readers.json_values import list_in, plain
from tableqa.readers.record_fields import Fields, Location
from tableqa.readers.records import Record, has_fields, outcomes_of
from tableqa.readers.table_files import TableLines

_FIELDS = ("id", "question", "answers", "table")
_MADE = ("context", "answers_text", "table_about", "table_beside", "made_id")
"""What this reader puts into `meta`: a record that has such a field could not be written again as it was."""

_PLACES = ("*.json", "*.jsonl", "*/*.json", "*/*.jsonl")
_STEM = "_qa"
_TABLES = "_table"


class Robut(TolerantReader):
    """The reader "robut"; see `tableqa.readers.interface.Reader`.

    meta holds "perturbation_type", "original_id", "original_question" and every other field of the record under its own
    name, and besides: "context", the name of the table; "table_about", what else its object holds (WikiSQL's types);
    "answers_text", the answers as they are written where that is a text, which the part of SQA has: "['a', 'b']". Where
    the record has no id it is `original_id-perturbation_type`, and meta has "made_id"; one that repeats is numbered, and
    meta has the "id" as it was. "table_beside" says that the table is in the file of tables.

    A folder may hold several files, one for each dataset or perturbation: they are read in the order of their names.
    `tables` is the file of the tables or its folder; without it they are looked for beside the file.
    """

    name = "robut"
    title = "RobuT"
    licence = "CC-BY-SA-4.0"
    citation = (
        "Yilun Zhao, Chen Zhao, Linyong Nan, Zhenting Qi, Wenlin Zhang, Xiangru Tang, Boyu Mi and Dragomir Radev. 2023. "
        "RobuT: A Systematic Study of Table QA Robustness Against Human-Annotated Adversarial Perturbations. In "
        "Proceedings of ACL 2023 (Volume 1: Long Papers), pages 6064-6081."
    )
    url = "https://github.com/yilunzhao/RobuT"
    beside = gettext_noop(
        "the tables file, for example robut_wtq_table.json, unless the questions contain the tables"
    )

    def _every_outcome(self, path: Path, tables: str | Path | None) -> Iterator[Example | Rejection]:
        names = Names()
        for questions in _find_question_files(path):
            yield from self._outcomes(questions, _tables_file(questions, tables), names)

    def _outcomes(self, path: Path, tables_file: Path | None, names: Names) -> Iterator[Example | Rejection]:
        if tables_file is None:

            def make_whole(record: Record) -> Example:
                table = _table(record.fields.nested("table"))
                return _example(path, record.line, record.fields, table, names)

            yield from outcomes_of(path, make_whole)
            return
        with tempfile.NamedTemporaryFile(prefix="askew-tables-") as spool:
            tables, bad = _spool_tables(tables_file, Path(spool.name))

            def make(record: Record) -> Example:
                fields = record.fields
                table_id = fields.name("table_id")
                if table_id in bad:
                    raise bad[table_id]
                if table_id not in tables:
                    mend = phrase("Give the file of tables that belongs to these questions")
                    values = {"field": "table_id", "table_id": table_id, "tables_file": tables_file}
                    what = phrase("{field} is {table_id}, which {tables_file} does not have", **values)
                    raise fields.error("table_id", what, mend)
                return _example(path, record.line, fields, tables[table_id], names)

            yield from outcomes_of(path, make)

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """Each file of questions and, where there is one, that of its tables; ReaderError as for reading."""
        for questions in _find_question_files(path):
            yield questions
            if tables_file := _tables_file(questions, tables):
                yield tables_file


def _find_question_files(path: str | Path) -> list[Path]:
    path = Path(path)
    if not path.is_dir():
        return [path]
    data_files = sorted({file for pattern in _PLACES for file in path.glob(pattern) if file.is_file()})
    question_files = [
        file for file in data_files if has_fields(file, "question", "answers", "perturbation_type")
    ]
    if not question_files:
        mend = phrase("Name a file of questions, for example robut_wtq_qa.json, or a folder with some")
        raise ReaderError(path, None, phrase("the folder contains no such file"), mend)
    return question_files


def _tables_file(questions: Path, tables: str | Path | None) -> Path | None:
    """The file of the tables, None where the first record holds its table; ReaderError where it is not to be found."""
    if not has_fields(questions, "table_id") or has_fields(questions, "table"):
        return None
    if tables is not None and Path(tables).is_file():
        return Path(tables)
    folder = questions.absolute().parent if tables is None else Path(tables)
    name = f"{questions.stem.removesuffix(_STEM)}{_TABLES}.json"
    within = [folder, *sorted(inner for inner in folder.glob("*") if inner.is_dir())]
    for inner in within[: 1 if tables is None else None]:
        if (inner / name).is_file():
            return inner / name
    if tables is not None:  # in an archive the one file of tables may have any name
        others = [path for inner in within for path in inner.glob(f"*{_TABLES}.json")]
        if len(others) == 1:
            return others[0]
    mend, command = ways_to_tables(name)
    what = phrase("there is no {name} in {folder}", name=name, folder=folder)
    raise ReaderError(questions, None, what, mend, command)


def _spool_tables(path: Path, spool: Path) -> tuple[TableLines, Mapping[str, ReaderError]]:
    """The tables of one JSON object, laid down one a line in their own file, where they can be found again.

    And what is wrong with those that are none: a problem of the questions about them.
    """
    places: Shelf[str, tuple[int, int]] = Shelf()
    bad: dict[str, ReaderError] = {}
    offset = 0
    with spool.open("wb") as out:
        for name, location, value in read_members(path):
            try:
                table, about = _table(Fields(location, value))
            except ReaderError as error:
                bad[name] = error
                continue
            about["table_beside"] = True
            line = json.dumps({"table": table.to_dict(), "about": about}).encode() + b"\n"
            places[name] = len(places) + 1, offset
            offset += out.write(line)
    return TableLines(spool, places, _spooled_table), bad


def _spooled_table(fields: Fields) -> tuple[Table, dict[str, Any]]:
    return Table.from_dict(fields.required("table")), dict(plain(fields.nested("about").value))


def _table(fields: Fields) -> tuple[Table, dict[str, Any]]:
    """The table, and its description: its name, and whatever else its object holds."""
    table, about, others = named_table(fields.place, fields)
    return table, {**about, "table_about": others} if others else about


def _example(
    path: Path, line: int, fields: Fields, table_entry: tuple[Table, Mapping[str, Any]], names: Names
) -> Example:
    made_id = None if "id" in fields else f"{fields.name('original_id')}-{fields.text('perturbation_type')}"
    published = made_id or fields.name("id")
    location = Location(path, line, f"id {published}")
    if reserved_name := next((name for name in _MADE if name in fields.value), None):
        mend = phrase("Rename the field: the reader uses this name")
        raise location.error(phrase("there is a field {taken}", taken=reserved_name), mend)
    table, about = table_entry
    meta = {name: plain(value) for name, value in fields.value.items() if name not in _FIELDS}
    for name in ("original_id", "original_question", "perturbation_type"):
        if name in meta:
            fields.text(name)
    answers, written = _answers(fields)
    meta |= about
    if "id" not in fields:
        meta["made_id"] = True
    if written is not None:
        meta["answers_text"] = written
    unique = names.unique(published)
    if unique != published:
        meta["id"] = published
    return example(location, unique, fields.text("question"), table, answers, meta)


def _answers(fields: Fields) -> tuple[list[str], str | list[str] | None]:
    """The answers, and how they are written where that is not a list of them.

    The part that comes from SQA has its lists as Python prints them, as a text or as the one text of a list.
    """
    value = fields.required("answers")
    if isinstance(value, str):
        answer_list = list_in(value, str)
        if answer_list is None:
            excerpt = value if len(value) <= 60 else value[:59] + "…"
            mend = phrase("Write a list of texts; a text is taken where it is a list as Python prints it")
            what = phrase("{field} is the text {shown!r}", field="answers", shown=excerpt)
            raise fields.error("answers", what, mend)
        return answer_list, value
    answers = fields.texts("answers")
    if len(answers) == 1 and (answer_list := list_in(answers[0], str)) is not None:
        return answer_list, answers
    return answers, None


READER = Robut()
