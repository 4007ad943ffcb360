"""SQA (Iyyer, Yih and Chang, ACL 2017): dialogues about tables of WikiTableQuestions, whose answers are cells.

The questions are tab-separated; the coordinates and texts of the answers are lists written as Python writes them.
Coordinates count rows from 0 below the header. A line is known by (id, annotator, position): the id alone repeats.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from tableqa.core.translation import gettext_noop, phrase
from tableqa.data.examples import Example, Turn
from tableqa.data.tables import Table
from tableqa.readers.delimited import names_columns, read_questions
from tableqa.readers.example_parts import cell_at, example
from tableqa.readers.interface import FileReader, Ids, ReaderError, Rejection, file_at
from tableqa.readers.json_values import list_in
from tableqa.readers.record_fields import Location
from tableqa.readers.table_files import TableFiles, folders_around
from tableqa.readers.wtq import read_table

_COLUMNS = ("id", "annotator", "position", "question", "table_file", "answer_coordinates", "answer_text")
_PLACES = ("*.tsv", "*/*.tsv")
_COORDINATES = re.compile(r"\((\d{1,7}), *(\d{1,7})\)")
_NUMBER = re.compile(r"[0-9]{1,9}")


class Sqa(FileReader):
    """The reader "sqa"; see `tableqa.readers.interface.Reader`.

    The id of an example is `id-annotator-position`. history holds the earlier questions of its sequence. meta holds
    "id", "annotator", "position" and "table_file" of the source, and "answer_cells", the cells of the answers in their
    order as [row id, column id].
    """

    name = "sqa"
    title = "SQA (Sequential Question Answering)"
    licence = "CC-BY-SA-4.0"
    citation = (
        "Mohit Iyyer, Wen-tau Yih and Ming-Wei Chang. 2017. Search-based Neural Structured Learning for Sequential "
        "Question Answering. In Proceedings of ACL 2017, pages 1821-1831."
    )
    url = "https://www.microsoft.com/en-us/download/details.aspx?id=54253"
    rest_form = "tsv"
    beside = gettext_noop("the folder table_csv/ of the release")

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path, TableFiles]:
        """The file of questions, and the files of its tables (quoted as those of WikiTableQuestions)."""
        path = Path(path)
        mend = phrase("Name one .tsv file whose first line is {names}", names=" <tab> ".join(_COLUMNS))
        questions = file_at(path, _PLACES, lambda file: names_columns(file, "\t", _COLUMNS), mend)
        folders = folders_around(path, questions, tables, levels_up=1)
        return questions, TableFiles(questions, folders, read_table, field="table_file", prefix="table_csv/")

    def _outcomes(self, path: Path, tables: TableFiles) -> Iterator[Example | Rejection]:
        """A sequence with a fault is rejected whole: the questions after it need those before it."""
        ids = Ids(path)
        for sequence in _sequences(path):
            examples: list[Example] = []
            fault: ReaderError | None = None
            last, history = -1, list[Turn]()
            for line, row in sequence:
                if isinstance(row, Rejection):
                    fault = row.error
                    break
                try:
                    location = Location(path, line)
                    new_example, position = _example(location, row, tables, history, last)
                    ids.add(new_example.id, line)
                except ReaderError as error:
                    fault = error
                    break
                examples.append(new_example)
                last, history = position, [*history, Turn(new_example.question, new_example.answers)]
            yield from examples if fault is None else _reject_sequence(path, sequence, fault)

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The .tsv, then each table once, in the order in which the questions name them; ReaderError as for reading."""
        questions, library = self.located(path, tables)
        rows = read_questions(questions, "\t", _COLUMNS)
        yield from library.files(
            (row["table_file"], line) for line, row in rows if not isinstance(row, Rejection)
        )


_Rows = list[tuple[int, dict[str, str] | Rejection]]


def _sequences(path: Path) -> Iterator[_Rows]:
    """The rows of each sequence, which follow one another."""
    rows = read_questions(path, "\t", _COLUMNS)
    for _, sequence in itertools.groupby(rows, lambda row: _sequence_of(row[1])):
        yield list(sequence)


def _sequence_of(row: dict[str, str] | Rejection) -> tuple[str, str]:
    record = (row.record or {}) if isinstance(row, Rejection) else row
    return record.get("id", ""), record.get("annotator", "")


def _reject_sequence(path: Path, sequence: _Rows, fault: ReaderError) -> Iterator[Rejection]:
    """The rows of a sequence, of which one has a fault."""
    for line, row in sequence:
        record = row.record if isinstance(row, Rejection) else row
        if line == fault.line:
            yield Rejection(fault, record)
            continue
        what = phrase("line {line} of the same sequence has a problem", line=fault.line)
        mend = phrase("Correct that line; a sequence is imported as a whole")
        yield Rejection(ReaderError(path, line, what, mend), record, because=fault)


def _example(
    location: Location, row: dict[str, str], tables: TableFiles, history: list[Turn], last: int
) -> tuple[Example, int]:
    """The example of a row, after the questions of `history`, and its position; `last` is that of the one before."""
    position = _whole_number(location, row, "position")
    annotator = _whole_number(location, row, "annotator")
    if not row["id"]:
        raise location.error(phrase("the id is empty"), phrase("Give the sequence the id of its question"))
    if position <= last:
        what = phrase(
            "position {position} follows position {last} of the same sequence", position=position, last=last
        )
        raise location.error(what, phrase("Put the questions of a sequence in their order"))
    table = tables.table(row["table_file"], location.line)
    answers = _texts(location, row, "answer_text")
    meta = {
        "id": row["id"],
        "annotator": annotator,
        "position": position,
        "table_file": row["table_file"],
        "answer_cells": _answer_cells(location, row, table, answers),
    }
    id = f"{row['id']}-{annotator}-{position}"
    return example(location, id, row["question"], table, answers, meta, history=history), position


def _whole_number(location: Location, row: dict[str, str], name: str) -> int:
    if _NUMBER.fullmatch(row[name]) is None:
        mend = phrase("It is a whole number from 0 on")
        raise location.error(phrase("the {name} is {text!r}", name=name, text=row[name][:40]), mend)
    return int(row[name])


def _texts(location: Location, row: dict[str, str], name: str) -> list[str]:
    """A list of strings as Python writes it, read without running it."""
    value = list_in(row[name], str)
    if value is None:
        excerpt = row[name] if len(row[name]) <= 60 else row[name][:59] + "…"
        mend = phrase("It is a list of texts as Python writes it: ['a', 'b']")
        raise location.error(phrase("{name} is {shown!r}", name=name, shown=excerpt), mend)
    return value


def _answer_cells(
    location: Location, row: dict[str, str], table: Table, answers: list[str]
) -> list[list[str]]:
    """The cells that the coordinates name; ReaderError unless each holds its answer, character by character."""
    coordinates = _texts(location, row, "answer_coordinates")
    mend = phrase("Correct or remove the line; coordinates count from 0 below the header")
    if (number := len(coordinates)) != (expected := len(answers)):
        what = phrase(
            "there are {number} coordinates for {expected} answers", number=number, expected=expected
        )
        raise location.error(what, mend)
    cells = []
    for text, answer in zip(coordinates, answers, strict=True):
        match = _COORDINATES.fullmatch(text)
        if match is None:
            what = phrase("the coordinates {text!r} are not a pair of numbers", text=text[:40])
            raise location.error(what, mend)
        cell = cell_at(location, table, int(match[1]), int(match[2]))
        cell_text = table.cell(*cell)
        if cell_text != answer:
            values = {"text": text, "found": cell_text[:60], "answer": answer[:60]}
            what = phrase("the cell {text} holds {found!r}, the answer is {answer!r}", **values)
            raise location.error(what, mend)
        cells.append(cell)
    return cells


READER = Sqa()
