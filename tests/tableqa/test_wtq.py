"""The reader of WikiTableQuestions: exact on the real data, and plain about files that are not it."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.data.tables import MAX_COLUMNS, MAX_ROWS, MAX_TEXT
from tableqa.readers import READERS, ReaderError
from tableqa.readers.interface import MAX_LINE_BYTES
from tableqa.readers.wtq import read_table
from tests.tableqa.strategies import texts

HEADER = "id\tutterance\tcontext\ttargetValue\n"
wtq = READERS["wtq"]


def csv_line(*cells: str) -> str:
    escaped = (cell.replace("\\", "\\\\").replace('"', '\\"') for cell in cells)
    return ",".join(f'"{cell}"' for cell in escaped) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release in small: two questions about one table."""
    tables = tmp_path / "csv" / "200-csv"
    tables.mkdir(parents=True)
    (tables / "1.csv").write_text(
        csv_line("Name", "Wins") + csv_line("Ann", "3") + csv_line("Bob", "4"), "utf-8"
    )
    questions = "nt-1\twho won 3?\tcsv/200-csv/1.csv\tAnn\nnt-2\twho won?\tcsv/200-csv/1.csv\tAnn|Bob\n"
    (tmp_path / "dev.tsv").write_text(HEADER + questions, "utf-8")
    return tmp_path


def read(path: Path, **options: object) -> list[Example]:
    return list(wtq(path, **options))  # type: ignore[arg-type]


# On the real data -----------------------------------------------------------------------------------------------------


def fields_of(text: str) -> Iterator[list[str]]:
    """WTQ's csv read character by character, sharing nothing with the reader: the oracle."""
    row: list[str] = []
    cell: list[str] = []
    quoted = False
    characters = iter(text)
    for character in characters:
        if quoted and character == "\\":
            cell.append(next(characters))
        elif character == '"':
            quoted = not quoted
        elif quoted or character not in ",\n":
            assert quoted, f"{character!r} stands outside quotes"
            cell.append(character)
        else:
            row.append("".join(cell))
            cell = []
            if character == "\n":
                yield row
                row = []
    assert not quoted
    assert not row
    assert not cell


@pytest.mark.parametrize(("split", "questions", "tables"), [("dev", 2_831, 346), ("train", 11_321, 1_333)])
def test_every_question_and_every_cell_of_the_release(
    test_data: Path, split: str, questions: int, tables: int
) -> None:
    path = test_data / "wtq" / f"random-split-1-{split}.tsv"
    lines = path.read_bytes().decode("utf-8").split("\n")[1:-1]
    seen: dict[str, Table] = {}
    for line, example in zip(lines, wtq(path), strict=True):
        question_id, utterance, context, target = line.split("\t")
        assert "\\" not in line  # else the comparison below would have to unescape
        assert (example.id, example.question, example.meta) == (question_id, utterance, {"context": context})
        assert list(example.answers) == target.split("|")
        if context in seen:
            assert example.table == seen[context]
            continue
        seen[context] = example.table
        header, *rows = fields_of((test_data / "wtq" / context).read_bytes().decode("utf-8"))
        assert (list(example.table.header), [list(row) for row in example.table.rows]) == (header, rows)
    assert (len(lines), len(seen)) == (questions, tables)


def test_the_files_of_the_dev_split(test_data: Path) -> None:
    path = test_data / "wtq" / "random-split-1-dev.tsv"
    files = list(wtq.files(path))
    assert files[0] == path
    assert len(files) == len(set(files)) == 347
    assert all(file.suffix == ".csv" for file in files[1:])


def test_a_limit_stops_early(test_data: Path) -> None:
    path = test_data / "wtq" / "random-split-1-dev.tsv"
    assert [example.id for example in wtq(path, limit=3)] == ["nt-2", "nt-3", "nt-8"]
    assert list(wtq(path, limit=0)) == []
    with pytest.raises(ValueError, match="limit is -1"):
        wtq(path, limit=-1)


def test_every_example_survives_json(test_data: Path) -> None:
    for example in wtq(test_data / "wtq" / "random-split-1-dev.tsv", limit=300):
        assert Example.from_dict(json.loads(json.dumps(example.to_dict()))) == example


# In small -------------------------------------------------------------------------------------------------------------


def test_the_reader_says_what_it_reads() -> None:
    assert (wtq.name, wtq.title, wtq.licence) == ("wtq", "WikiTableQuestions", "CC-BY-SA-4.0")
    assert "Pasupat" in wtq.citation
    assert wtq.url.startswith("https://")


def test_a_file_is_read_as_it_stands(folder: Path) -> None:
    first, second = read(folder / "dev.tsv")
    assert first.to_dict() == {
        "id": "nt-1",
        "question": "who won 3?",
        "table": {"header": ["Name", "Wins"], "rows": [["Ann", "3"], ["Bob", "4"]]},
        "answers": ["Ann"],
        "meta": {"context": "csv/200-csv/1.csv"},
    }
    assert second.answers == ("Ann", "Bob")
    assert second.table is first.table


@pytest.mark.parametrize("given_as", ["beside", "above", "tables", "csv folder", "folder", "unpacked"])
def test_the_tables_are_found(folder: Path, tmp_path_factory: pytest.TempPathFactory, given_as: str) -> None:
    questions, tables = folder / "dev.tsv", None
    if given_as == "above":
        (folder / "data").mkdir()
        questions = questions.rename(folder / "data" / "dev.tsv")
    elif given_as in ("tables", "csv folder"):
        questions = questions.rename(tmp_path_factory.mktemp("elsewhere") / "dev.tsv")
        tables = folder / "csv" if given_as == "csv folder" else folder
    elif given_as == "folder":
        questions = folder
    elif given_as == "unpacked":
        top = tmp_path_factory.mktemp("unpacked")
        folder.rename(top / "WikiTableQuestions")
        (top / "WikiTableQuestions" / "data").mkdir()
        (top / "WikiTableQuestions" / "dev.tsv").rename(top / "WikiTableQuestions" / "data" / "dev.tsv")
        questions = top
    assert [example.id for example in read(questions, tables=tables)] == ["nt-1", "nt-2"]
    assert len(list(wtq.files(questions, tables))) == 2


def test_a_folder_does_not_look_above_itself(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "dev.tsv").rename(folder / "data" / "dev.tsv")
    with pytest.raises(ReaderError, match=r"the file of the table csv/200-csv/1\.csv is missing"):
        read(folder / "data")


def test_a_folder_must_hold_one_file_of_questions(folder: Path) -> None:
    (folder / "test.tsv").write_text(HEADER, "utf-8")
    with pytest.raises(ReaderError, match=r"several such files: dev\.tsv, test\.tsv"):
        read(folder)
    with pytest.raises(ReaderError, match="contains no such file"):
        read(folder / "csv")


@given(st.lists(texts.map(lambda text: text.replace("\r", "")), min_size=3, max_size=3))
def test_what_the_tsv_escapes_comes_back(tmp_path_factory: pytest.TempPathFactory, cells: list[str]) -> None:
    folder = tmp_path_factory.getbasetemp() / "escapes"
    folder.mkdir(exist_ok=True)
    (folder / "1.csv").write_bytes(csv_line("a").encode())

    def escape(text: str) -> str:
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("|", "\\p").replace("\t", " ")

    line = f"x\t{escape(cells[0])}\t1.csv\t{'|'.join(escape(cell) for cell in cells[1:])}\n"
    (folder / "dev.tsv").write_bytes((HEADER + line).encode())
    (example,) = read(folder / "dev.tsv")
    assert [example.question, *example.answers] == [cell.replace("\t", " ") for cell in cells]


@given(st.lists(st.lists(texts, min_size=2, max_size=2), min_size=1, max_size=4))
def test_what_the_csv_escapes_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    path.write_bytes("".join(csv_line(*row) for row in rows).encode())
    table = read_table(path)
    assert [list(table.header), *map(list, table.rows)] == rows


def test_fields_without_quotes_are_read_where_nothing_is_in_doubt(folder: Path) -> None:
    (folder / "csv" / "200-csv" / "1.csv").write_bytes(b'Name,Wins\r\nAnn,\r\n"Bob, Jr.",4')
    assert read(folder / "dev.tsv")[0].table == Table(["Name", "Wins"], [["Ann", ""], ["Bob, Jr.", "4"]])


def test_line_ends_of_windows_and_a_byte_order_mark_are_read(folder: Path) -> None:
    text = (folder / "dev.tsv").read_text("utf-8").replace("\n", "\r\n")
    (folder / "dev.tsv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert [example.answers for example in read(folder / "dev.tsv")] == [("Ann",), ("Ann", "Bob")]


def test_an_unusual_line_separator_within_a_text_ends_no_line(folder: Path) -> None:
    path = folder / "dev.tsv"
    path.write_text(path.read_text("utf-8").replace("who won?", "who\u2028\u0085\x0c won?"), "utf-8")
    assert read(path)[1].question == "who\u2028\u0085\x0c won?"


# Refused --------------------------------------------------------------------------------------------------------------


def line(number: int, text: str) -> Callable[[Path], None]:
    """Replace a line of the questions, counted from 1."""

    def damage(folder: Path) -> None:
        lines = (folder / "dev.tsv").read_text("utf-8").split("\n")
        lines[number - 1] = text
        (folder / "dev.tsv").write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))

    return damage


def table(content: bytes) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / "csv" / "200-csv" / "1.csv").write_bytes(content)

    return damage


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def link_out(folder: Path) -> None:
    secret = folder.parent / f"{folder.name}-secret.csv"
    secret.write_text(csv_line("password"), "utf-8")
    (folder / "csv" / "out.csv").symlink_to(secret)
    line(2, "nt-1\tq\tcsv/out.csv\ta")(folder)


GOOD = csv_line("Name", "Wins").encode()


@pytest.mark.parametrize(
    ("damage", "file", "number", "what", "mend"),
    [
        (
            line(1, "question\tanswer"),
            "dev.tsv",
            1,
            "the first line is 'question\\tanswer'",
            "The first line of a WTQ file",
        ),
        (line(1, ""), "dev.tsv", 1, "the first line is ''", "The first line"),
        (line(2, "nt-1\tq\tcsv/200-csv/1.csv"), "dev.tsv", 2, "has 3 of 4 columns", "fetch it again"),
        (line(3, "nt-2\tq"), "dev.tsv", 3, "has 2 of 4 columns", "fetch it again"),
        (line(3, "nt-2\tq\tcsv/200-csv/1.csv\ta\tb"), "dev.tsv", 3, "has 5 of 4 columns", "one tab"),
        (line(2, ""), "dev.tsv", 2, "the line is empty", "one tab"),
        (
            line(3, "nt-1\tq\tcsv/200-csv/1.csv\ta"),
            "dev.tsv",
            3,
            "the id nt-1 is already in line 2",
            "its own id",
        ),
        (line(3, "\tq\tcsv/200-csv/1.csv\ta"), "dev.tsv", 3, "the id is empty", "its own id"),
        (
            line(3, "nt-2\tcaf\udce9\tcsv/200-csv/1.csv\ta"),
            "dev.tsv",
            3,
            "byte 9 of the line, 0xe9, is not UTF-8",
            "as UTF-8",
        ),
        (line(3, "nt-2\tq\0\tcsv/200-csv/1.csv\ta"), "dev.tsv", 3, "a NUL character", "damaged or binary"),
        (line(3, "x" * (MAX_LINE_BYTES + 1)), "dev.tsv", 3, "longer than 1,048,576 bytes", "the right file"),
        (
            line(3, "nt-2\tq\tcsv/200-csv/9.csv\ta"),
            "dev.tsv",
            3,
            "the table csv/200-csv/9.csv is not in",
            "--tables DIR",
        ),
        (
            line(3, "nt-2\tq\t../../etc/passwd\ta"),
            "dev.tsv",
            3,
            "'../../etc/passwd' is refused",
            "Correct the context",
        ),
        (line(3, "nt-2\tq\tcsv/../dev.tsv\ta"), "dev.tsv", 3, "is refused", "Correct the context"),
        (line(3, "nt-2\tq\t/etc/passwd\ta"), "dev.tsv", 3, "'/etc/passwd' is refused", "Correct the context"),
        (line(3, "nt-2\tq\tC:\\\\x.csv\ta"), "dev.tsv", 3, "is refused", "Correct the context"),
        (line(3, "nt-2\tq\tcsv\\\\x.csv\ta"), "dev.tsv", 3, "is refused", "Correct the context"),
        (line(3, "nt-2\tq\t\ta"), "dev.tsv", 3, "is refused", "Correct the context"),
        (line(3, f"nt-2\tq\t{'x' * 5_000}\ta"), "dev.tsv", 3, "is not in", "--tables DIR"),
        (link_out, "dev.tsv", 2, "a link leads out of the folder", "Correct the context"),
        (remove("dev.tsv"), "dev.tsv", None, "cannot be opened (No such file", "Check the path"),
        (table(b""), "1.csv", 1, "there is no header line", "column names"),
        (table(b"\n"), "1.csv", 1, "the line is empty", "Remove the line"),
        (table(GOOD + b'"Ann"\n'), "1.csv", 2, "the row has 1 cells, the header has 2", "as many fields"),
        (table(GOOD + b'"a","b"\n"c","d","e"\n'), "1.csv", 3, "the row has 3 cells", "as many fields"),
        (table(GOOD + b'"a","b"\n\n"c","d"\n'), "1.csv", 3, "the line is empty", "Remove the line"),
        (
            table(GOOD + b'"Ann","3'),
            "1.csv",
            2,
            "the file ends within a quoted field",
            "Check that the file is complete",
        ),
        (
            table(GOOD + b'"a""b","3"\n'),
            "1.csv",
            2,
            'not WTQ\'s form of csv: \'"a""b","3"\'',
            "write a quote in one as",
        ),
        (
            table(GOOD + b'"a\nb","3"\n"a" ,"3"\n'),
            "1.csv",
            4,
            "not WTQ's form of csv",
            "write a quote in one as",
        ),
        (table(GOOD + b'"a\\n","3"\n'), "1.csv", 2, "not WTQ's form of csv", "a backslash as"),
        (table(GOOD + b'a"b,"3"\n'), "1.csv", 2, "not WTQ's form of csv", "Quote every field"),
        (table(GOOD + b'"a","\xe9"\n'), "1.csv", 2, "byte 6 of the line, 0xe9, is not UTF-8", "as UTF-8"),
        (table(GOOD + b'"a","\0"\n'), "1.csv", 2, "a NUL character", "damaged or binary"),
        (
            table(GOOD + b'"a","' + b"x" * (MAX_TEXT + 1) + b'"\n'),
            "1.csv",
            2,
            "column 2 has 100,001 characters",
            "Shorten",
        ),
        (
            table(b'"a"\n' + b'"b"\n' * (MAX_ROWS + 1)),
            "1.csv",
            MAX_ROWS + 2,
            "more than 20,000 rows",
            "Split or remove the table",
        ),
        (
            table(b",".join([b'"a"'] * (MAX_COLUMNS + 1))),
            "1.csv",
            1,
            "more than 500 columns",
            "Split or remove the table",
        ),
        (
            table((b",".join([b'"a"'] * 200) + b"\n") * 5_002),
            "1.csv",
            5_002,
            "more than 1,000,000 cells",
            "Split",
        ),
    ],
)
def test_a_fault_is_named_with_file_line_and_mend(
    folder: Path, damage: Callable[[Path], None], file: str, number: int | None, what: str, mend: str
) -> None:
    damage(folder)
    with pytest.raises(ReaderError) as error:
        read(folder / "dev.tsv")
    assert Path(error.value.file).name == file
    assert error.value.line == number
    assert what in error.value.what
    assert mend in error.value.mend or mend in error.value.command
    assert str(error.value).startswith(error.value.file + (f", line {number}: " if number else ": "))


def test_the_examples_before_a_fault_are_read(folder: Path) -> None:
    line(3, "nt-2\tq")(folder)
    examples = wtq(folder / "dev.tsv")
    assert next(iter(examples)).id == "nt-1"
    with pytest.raises(ReaderError):
        next(iter(examples))


def test_a_file_that_is_too_large_for_one_table_is_not_opened(folder: Path) -> None:
    path = folder / "csv" / "200-csv" / "1.csv"
    with path.open("r+b") as file:
        file.truncate(65 * 1024 * 1024)
    with pytest.raises(ReaderError, match="bytes; a table may have"):
        read(folder / "dev.tsv")


def test_memory_stays_flat_however_many_questions_there_are(folder: Path) -> None:
    def peak(number: int) -> int:
        with (folder / "many.tsv").open("w", encoding="utf-8") as file:
            file.write(HEADER)
            file.writelines(f"nt-{i}\twho won 3?\tcsv/200-csv/1.csv\tAnn\n" for i in range(number))
        tracemalloc.start()
        last = next(itertools.islice(wtq(folder / "many.tsv"), number - 1, None))
        assert last.id == f"nt-{number - 1}"
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # The ids are kept, so that one given twice is found: about 100 bytes each.
    assert peak(8_000) - peak(2_000) < 6_000 * 200
