"""Files of JSON records: streamed, exact, and plain about what is wrong and where."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.core.foreign_values import decimal
from tableqa.readers import READERS, ReaderError, json_stream
from tableqa.readers.example_parts import cell_at, table_of
from tableqa.readers.json_values import Number, plain, source_json, text_of
from tableqa.readers.record_fields import Fields, Location
from tableqa.readers.records import read_records


def stored(objects: list[dict[str, Any]]) -> Any:
    """What a database gives back of them: numbers from 1e16 on are whole there."""
    return json.loads(json.dumps(objects), parse_float=decimal)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc\n ", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
objects = st.lists(st.dictionaries(st.text("abc", max_size=2), values, max_size=3), max_size=6)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def written(folder: Path, text: str | bytes, name: str = "records.json") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return path


@given(objects, st.sampled_from([None, 1, 4]), st.booleans(), st.booleans())
def test_the_same_objects_are_read_from_lines_and_from_an_array(
    tmp_path_factory: pytest.TempPathFactory,
    given_objects: list[dict[str, Any]],
    indent: int | None,
    mark: bool,
    plain_ascii: bool,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    start = "\ufeff" if mark else ""
    lines = "".join(json.dumps(item, ensure_ascii=plain_ascii) + "\n" for item in given_objects)
    array = json.dumps(given_objects, indent=indent, ensure_ascii=plain_ascii)
    for text in (start + lines, start + array):
        found = list(read_records(written(folder, text)))
        assert [plain(record.fields.value) for record in found] == stored(given_objects)
        assert [record.number for record in found] == list(range(1, len(given_objects) + 1))


@given(objects, st.integers(1, 9))
def test_it_does_not_matter_where_a_block_of_the_file_ends(
    tmp_path_factory: pytest.TempPathFactory, given_objects: list[dict[str, Any]], block: int
) -> None:
    path = written(tmp_path_factory.getbasetemp(), json.dumps(given_objects, indent=1, ensure_ascii=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_BLOCK", block)
        found = list(read_records(path))
    assert [plain(record.fields.value) for record in found] == stored(given_objects)
    lines = path.read_text("utf-8").split("\n")
    assert all(lines[record.line - 1].lstrip().startswith("{") for record in found)


@pytest.mark.parametrize("text", ["1.50", "-0", "0.10", "1e3", "1E-7", "12345678901234567890.10", "7", "-3"])
def test_a_number_keeps_the_text_it_has_in_the_file(tmp_path: Path, text: str) -> None:
    (record,) = read_records(written(tmp_path, f'[{{"n": {text}}}]'))
    assert text_of(record.fields.value["n"]) == text
    value = plain(record.fields.value["n"])
    assert (
        Decimal(value) == Decimal(text) if isinstance(value, str) else Decimal(repr(value)) == Decimal(text)
    )
    assert type(value) in ((str,) if len(text) > 17 else (int, float))


def test_empty_lines_between_records_are_passed_over(tmp_path: Path) -> None:
    found = list(read_records(written(tmp_path, '\n{"a": 1}\r\n\n  \n{"a": 2}\n\n')))
    assert [(record.line, record.number) for record in found] == [(2, 1), (5, 2)]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('{"a": 1}\n{"a": }\n', 2, "this is not JSON: Expecting value at character 7"),
        ('{"a": 1}\n{"a": 1', 2, "this is not JSON"),
        ('{"a": 1} {"a": 2}\n', 1, "this is not JSON: Extra data"),
        ('{"a": 1, "a": 2}', 1, "an object has the name 'a' twice"),
        ('{"a": NaN}', 1, "NaN is not a JSON number"),
        ('{"a": ' + "9" * 5_000 + "}", 1, "a number of 5,000 digits"),
        ('{"a": ' + "[" * 100_000 + "}", 1, "it is nested too deeply"),
        (f'{{"a": {nested(100)}}}', 1, "it is nested too deeply"),
        (f'[{{"a": 1}},\n{{"a": {nested(100)}}}]', 2, "it is nested too deeply"),
        ("[]\n[]", 2, "unexpected content after the end of the array"),
        ('[\n{"a": 1}\n{"a": 2}]', 3, "there is '{', not ','"),
        ('[{"a": 1},\n]', 2, "this is not JSON: Expecting value"),
        ('[\n{"a": 1},\n\n{"a": "b}]', 4, "this is not JSON: Unterminated string"),
        ('[{"a": 1}, {"a": NaN}]', 1, "record 2: this is not JSON: NaN is not a JSON number"),
        ('[\n{"a": 1}\n', 3, "there is the end of the file, not ','"),
        ("[\n[1]]", 2, "record 1: there is a list, not an object"),
        ('"a text"', 1, "there is a text, not an object"),
        (b'{"a": 1}\n{"a": "\xe9"}', 2, "0xe9, is not UTF-8"),
        (b'[\n{"a": 1},\n{"a": "\xe9"}]', 3, "the byte 0xe9 there is not UTF-8"),
        ('{"a": "\0"}', 1, "NUL character"),
    ],
)
def test_what_is_no_record_is_named_with_its_line(
    tmp_path: Path, text: str | bytes, line: int, what: str
) -> None:
    with pytest.raises(ReaderError) as error:
        list(read_records(written(tmp_path, text)))
    assert error.value.line == line
    assert what in error.value.what
    assert error.value.mend


def test_a_record_of_a_hundred_levels_is_read_and_written(tmp_path: Path) -> None:
    text = f'{{"a": {nested(99)}}}'
    (record,) = read_records(written(tmp_path, text))
    assert source_json(record.fields.value) == text


def test_a_record_that_is_never_closed_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "MAX_RECORD_BYTES", 10_000)
    monkeypatch.setattr(json_stream, "_BLOCK", 1_000)
    path = written(tmp_path, '[{"a": "' + "x" * 100_000)
    with pytest.raises(ReaderError, match="longer than 10,000 bytes, or is never closed"):
        list(read_records(path))


def test_memory_stays_flat_however_many_records_an_array_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "_BLOCK", 10_000)

    def peak(number: int) -> int:
        path = written(tmp_path, "[" + ",".join('{"a": "' + "x" * 500 + '"}' for _ in range(number)) + "]")
        tracemalloc.start()
        last = next(itertools.islice(read_records(path), number - 1, None))
        assert last.number == number
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(8_000) < peak(1_000) + 50_000


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match=r"none\.json: the file cannot be opened"):
        list(read_records(tmp_path / "none.json"))


# Fields ---------------------------------------------------------------------------------------------------------------


def fields(**values: Any) -> Fields:
    return Fields(Location(Path("f.json"), 3, "record 2"), values)


@pytest.mark.parametrize(
    ("take", "what"),
    [
        (lambda f: f.text("q"), "the field q is missing"),
        (lambda f: f.text("n"), "n is a number, not a text"),
        (lambda f: f.text("t"), "t is true or false, not a text"),
        (lambda f: f.name("empty"), "empty is empty"),
        (lambda f: f.name("x"), "x is a number"),
        (lambda f: f.name("t"), "t is true or false"),
        (lambda f: f.texts("n"), "n is a number, not a list"),
        (lambda f: f.texts("l"), "l[1] is null, not a text"),
        (lambda f: f.integer("x"), "x is a number, not a whole number"),
        (lambda f: f.integer("t"), "t is true or false, not a whole number"),
        (lambda f: f.number("t"), "t is true or false, not a number"),
        (lambda f: f.number("inf"), "inf is too large to be stored"),
        (lambda f: f.listed("o"), "o is an object, not a list"),
        (lambda f: f.nested("l"), "l: there is a list, not an object"),
        (lambda f: list(f.nested_each("l")), "l[0]: there is a text, not an object"),
        (lambda f: f.only("n", "l"), "there is no field x"),
    ],
)
def test_a_field_of_another_kind_is_named(take: Callable[[Fields], object], what: str) -> None:
    given_fields = fields(n=1, l=["a", None], x=Number("1.5"), t=True, o={}, empty="", inf=Number("1e999"))
    with pytest.raises(ReaderError) as error:
        take(given_fields)
    assert error.value.line == 3
    assert error.value.what.startswith("record 2")
    assert what in error.value.what


def test_fields_are_taken_as_they_are_written() -> None:
    given_fields = fields(n=7, l=["a", Number("1.50"), 2], x=Number("1.50"), none=None)
    assert given_fields.texts("l") == ["a", "1.50", "2"]
    assert given_fields.name("n") == "7"
    assert given_fields.number("x") == 1.5
    assert type(given_fields.number("x")) is float
    assert given_fields.text("none", default="") == ""
    assert given_fields.rest("x", "none", "absent") == {"x": 1.5, "none": None}
    assert "none" not in given_fields


@pytest.mark.parametrize(
    ("header", "rows", "what"),
    [
        ("a", [], "the header is a text, not a list"),
        (["a"], {}, "the rows are an object, not a list"),
        (["a"], ["b"], "row 1 is a text, not a list"),
        (["a"], [["b"], [None]], "row 2, column 1 is null, not a text"),
        (["a"], [[["b"]]], "row 1, column 1 is a list, not a text"),
        (["a"], [["b", "c"]], "row 1 has 2 cells, the header has 1"),
        (["a"], [["\0"]], "a NUL character"),
        (["a"], [["x" * 100_001]], "row 1, column 1 has 100,001 characters"),
        (["a"] * 501, [], "the table has more than 500 columns"),
        (["a"], [["b"]] * 20_001, "the table has more than 20,000 rows"),
    ],
)
def test_what_is_no_table_is_named_with_its_row_and_column(header: object, rows: object, what: str) -> None:
    with pytest.raises(ReaderError) as error:
        table_of(Location(Path("f"), 3, "record 2"), header, rows)
    assert error.value.what.startswith("record 2: ")
    assert what in error.value.what


@pytest.mark.parametrize(("row", "column"), [(-2, 0), (1, 0), (0, 2), (0, -1)])
def test_a_marked_cell_outside_the_table_is_refused(row: int, column: int) -> None:
    table, place = Table(["a", "b"], [["1", "2"]]), Location(Path("f"), 1)
    assert cell_at(place, table, 0, 1) == ["r0", "c1"]
    assert cell_at(place, table, -1, 0) == ["h", "c0"]
    with pytest.raises(ReaderError, match="lies outside the table"):
        cell_at(place, table, row, column)


# Every reader ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_reader_says_what_it_reads_and_what_it_needs(name: str) -> None:
    reader = READERS[name]
    assert reader.name == name
    assert reader.title
    assert reader.licence
    assert isinstance(reader.beside, str)
    if reader.licence != "NOASSERTION":
        assert reader.citation
        assert reader.url.startswith("https://")


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_reader_names_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReaderError):
        list(READERS[name](tmp_path / "nothing.here"))
    with pytest.raises(ReaderError):
        list(READERS[name](tmp_path))


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_reader_refuses_a_negative_limit(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, "{}", "some.json")
    with pytest.raises((ValueError, ReaderError), match=r"limit is -1|some\."):
        READERS[name](path, limit=-1)


@pytest.mark.parametrize("size", [2_000_000, 10])
def test_the_place_of_a_fault_in_an_array_counts_from_the_start_of_its_line(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "a.json"
    whole = f'[{{"a": "{"x" * size}"}}, {{"b": 1}}, {{"c": '
    path.write_text(whole)

    with pytest.raises(ReaderError) as error:
        list(read_records(path))

    assert error.value.line == 1
    assert error.value.what.endswith(f"at character {len(whole) + 1:,}")
