"""Where the records of a person's own data lie: lines or members of a file, objects by their ids, columns, or inside others.

A record may be several questions about its table.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from tableqa.core.foreign_values import in_column
from tableqa.core.translation import gettext_noop, joined, phrase
from tableqa.data.answers import alternatives_of, in_words
from tableqa.readers.column_names import guess_columns
from tableqa.readers.interface import ReaderError, start_of
from tableqa.readers.json_stream import array_members, read_members, starts_array, whole_object
from tableqa.readers.json_values import list_in, text_of
from tableqa.readers.mapped_records import gold, texts_of_answers
from tableqa.readers.reading_options import option
from tableqa.readers.record_fields import Fields
from tableqa.readers.record_tables import TABLE_COLUMNS, is_list_of_objects, is_numbered, with_joined_table
from tableqa.readers.report import note

Item = TypeVar("Item")
OF_GOLD = ("answers", "alternatives")
"""Parts whose columns may hold lists as texts."""
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")

MOST_NESTED = 50
"""Names inside objects that a person can choose from."""

_JSON = re.compile(rb"\{|\[\s*[{\[]")
_OPENS_LINES = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\s*\n")
_QUESTIONS = frozenset(("question", "query", "utterance", "frage"))
"""Columns by which an object inside a record is known as a question; "text" may be anything there."""
_ARRAY = re.compile(r"(?:np\.|numpy\.)?array\(")
_QUOTED = re.compile(r"\s*\[\s*['\"]")
_OF_PANDAS = {"columns", "index", "data", "index_names", "column_names"}


def is_json(path: Path) -> bool:
    """Whether a file holds JSON: by its suffix, else by its first characters. A first line of CSV may begin with "["."""
    suffix = path.suffix.lower()
    if suffix in JSON_SUFFIXES:
        return True
    start = start_of(path, 64).removeprefix(b"\xef\xbb\xbf").lstrip()
    return bool(_JSON.match(start)) if suffix in TEXT_SUFFIXES else start[:1] in (b"{", b"[")


def records_inside(path: Path, question: str) -> list[dict[str, Any]] | None:
    """The records of a file that is one JSON object, or an array of one; None for JSON Lines and records. ReaderError.

    `question` is the column that a person named for it.
    """
    if starts_array(path):
        return _inside_only_member(path)
    has_lines = not _OPENS_LINES.match(start_of(path, 64))
    members = whole_object(path)
    if members is None:
        if not has_lines:
            deque(read_members(path), maxlen=0)  # raises the fault of an object of several lines
        return None
    records = _of_object(members, question)
    return [members] if records is None and not has_lines else records


def _inside_only_member(path: Path) -> list[dict[str, Any]] | None:
    """The records in the only list below an array of one object, as DuckDB writes it; None where there are none."""
    with suppress(ReaderError, ValueError):
        ((_, value),) = islice(array_members(path), 2)
        while isinstance(value, dict) and TABLE_COLUMNS.isdisjoint(value):
            (value,) = (member for member in value.values() if isinstance(member, dict | list))
        if is_list_of_objects(value) and all(
            {"question", "table"} <= guess_columns(each).keys() for each in value
        ):
            return list(value)
    return None


def _of_object(members: Mapping[str, Any], question: str) -> list[dict[str, Any]] | None:
    """The records in a file that is one JSON object; None where it holds none.

    They are its only list of objects, lists by their splits, its members by their ids, or its columns as pandas writes
    them. An object with a table is a record itself. Without known names, numbered members or cells are those of pandas.
    """

    def asks(names: Collection[str]) -> bool:
        return bool(question and question in names) or "question" in guess_columns(names)

    values = list(members.values())
    are_objects = bool(values) and all(isinstance(value, dict) for value in values)
    if asks(members) or (are_objects and is_numbered(values[0]) and not is_numbered(members)):
        return _from_columns(members)
    columns, rows = members.get("columns"), members.get("data")
    has_names = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    if columns and has_names and (asks(columns) or members.keys() <= _OF_PANDAS):
        is_even = isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == len(columns) for row in rows
        )
        records = [dict(zip(columns, row, strict=True)) for row in rows or ()] if is_even else []
        labels = members.get("index") or ()
        return (records if is_numbered(labels) else list(map(_with_id, map(str, labels), records))) or None
    lists = [value for value in values if is_list_of_objects(value)]
    if len(lists) == 1 and TABLE_COLUMNS.isdisjoint(members):
        context = guess_columns(members).get("context")
        outer = {context: members[context]} if context else {}
        return [record if "context" in guess_columns(record) else {**outer, **record} for record in lists[0]]
    if lists and len(lists) == len(values) and all(map(asks, chain.from_iterable(lists))):
        return [{"split": name, **record} for name in members for record in members[name]]
    if are_objects and (is_numbered(members) or all(map(asks, values))):
        return [_with_id(name, value) for name, value in members.items()]
    return None


def _from_columns(members: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    columns = list(members.values())
    if all(isinstance(column, list) and len(column) == len(columns[0]) > 0 for column in columns):
        return [dict(zip(members, row, strict=True)) for row in zip(*columns, strict=True)]
    if not all(isinstance(column, dict) and list(column) == list(columns[0]) for column in columns):
        return None
    return [_with_id(key, {name: column[key] for name, column in members.items()}) for key in columns[0]]


def _with_id(name: str, record: dict[str, Any]) -> dict[str, Any]:
    return record if "id" in guess_columns(record) else {"id": name, **record}


def questions_in(record: Fields, question: str, table: str) -> Iterator[Fields]:
    """The record itself, or each question that it holds in its own member, with all other columns beside it.

    A column of both is called "record.NAME" for the outer one. Questions without ids have that of the record and a number.
    `question` and `table` are the columns that a person named for them.
    """
    holders = [
        name
        for name, value in record.value.items()
        if isinstance(value, dict | list) and _holds_questions(value)
    ]
    if len(holders) != 1 or question in record.value or "question" in guess_columns(record.value):
        yield with_joined_table(record, table)
        return
    value = record.value[holders[0]]
    outer = _with_answers(
        {name: column for name, column in record.value.items() if name != holders[0]}, value
    )
    id_column = guess_columns(outer).get("id", "")
    for at, inner in enumerate(value if isinstance(value, list) else [value]):
        merged = {f"record.{name}" if name in inner else name: column for name, column in outer.items()}
        if isinstance(value, list) and id_column and "id" not in guess_columns(inner):
            merged[id_column] = f"{text_of(outer[id_column])}-{at + 1}"
        within = f"{holders[0]}[{at}]" if isinstance(value, list) else holders[0]
        yield with_joined_table(Fields(record.place.inside(within), {**merged, **inner}), table)


def _with_answers(outer: dict[str, Any], inner: object) -> dict[str, Any]:
    """The columns beside the questions, with those of the only object that has their answers: Argilla's metadata."""
    if any("answers" in guess_columns(columns) for columns in (outer, inner) if isinstance(columns, dict)):
        return outer
    objects = {
        name: value
        for name, value in outer.items()
        if isinstance(value, dict)
        and (answers := guess_columns(value).get("answers"))
        and not isinstance(value[answers], dict)
        and not is_list_of_objects(value[answers])
    }
    if len(objects) != 1:
        return outer
    ((name, members),) = objects.items()
    return {**members, **{column: value for column, value in outer.items() if column != name}}


def _holds_questions(value: dict[str, Any] | list[Any]) -> bool:
    objects = value if isinstance(value, list) else [value]
    return bool(objects) and all(
        isinstance(inner, dict) and any(name.casefold() in _QUESTIONS for name in inner) for inner in objects
    )


def nested_names(value: Mapping[str, Any]) -> list[str]:
    """The names of columns, and behind them those inside their objects: payload.grid."""
    inside = [
        f"{name}.{inner}"
        for name, member in value.items()
        if isinstance(member, dict)
        for inner in nested_names(member)
    ]
    return [*value, *inside[:MOST_NESTED]]


def with_nested(record: Fields, chosen: Iterable[str]) -> Fields:
    """The record with a column for each of the `chosen` names that leads into an object, and that it has."""
    value = record.value
    for name in chosen:
        if "." in name and name not in value:
            with suppress(KeyError, TypeError, IndexError, ValueError):
                value = _with_member_as_column(value, name)
    return record if value is record.value else Fields(record.place, value)


def with_unboxed_texts(record: Fields, columns: Mapping[str, str]) -> Fields:
    """The record with a text in place of a list of one text, as R writes it, where no part holds lists."""
    names = [name for part, name in columns.items() if part not in (*OF_GOLD, "context")]
    list_values = {name: record.value[name] for name in names if isinstance(record.value.get(name), list)}
    texts = {name: value[0] for name, value in list_values.items() if len(value) == 1 and text_of(value[0])}
    return Fields(record.place, {**record.value, **texts}) if texts else record


def part_of_object(error: ReaderError, columns: Mapping[str, str], record: Mapping[str, Any]) -> ReaderError:
    """The same error, where a column has an object in place of a text or a table: with the paths of what is in it."""
    column = error.column.removesuffix("[0]")
    part = next((part for part in columns if columns[part] == column), "table")
    members = record.get(column)
    texts: list[str] = []
    if not isinstance(members, dict):  # a text has no paths
        error.ways = {name: values for name, values in error.ways.items() if name != "table"}
    if part != "table" and isinstance(members, dict):
        texts = [name for name, value in members.items() if value]
    if names := error.ways.get("table", texts):
        paths = [f"{column}.{name}" for name in names]
        error.ways = {part: paths}
        paths_text = joined(paths, by=gettext_noop(" or "))
        error.command = phrase(
            "{mend}, or add --field {name}={value}", mend=error.mend, name=part, value=paths_text
        )
        error.mend = phrase("{mend}, or choose the column {name}", mend=error.mend, name=paths_text)
    return error


def _with_member_as_column(value: dict[str, Any], name: str) -> dict[str, Any]:
    """A copy of an object in which a member of an inner object is its own column."""
    *path, last = name.split(".")
    inner = copy = dict(value)
    for part in path:
        inner[part] = dict(inner[part])
        inner = inner[part]
    copy[name] = inner.pop(last)
    return copy


@dataclass(frozen=True)
class AnswerLists:
    """Whether a column of answers holds lists, decided by the `texts` of all records: [1] may be a cell."""

    texts: Callable[[], Iterable[str]]

    @cached_property
    def are_read(self) -> bool:
        """Whether a list has texts in quotes, or every answer is a list, all of them valid or one with several members."""
        has_texts = has_faults = False
        longest = -1
        for text in filter(str.strip, self.texts()):
            if not looks_like_list(text):
                has_texts = True
                continue
            members = list_in(text)
            if _QUOTED.match(text) or any(isinstance(member, str) for member in members or ()):
                return True
            has_faults |= members is None
            longest = max(longest, -1 if members is None else len(members))
        return not has_texts and longest >= (2 if has_faults else 0)

    def of(self, record: Fields, column: str, text: str) -> list[Any] | None:
        """The list that a text of the column holds; None where it is a text; ReaderError where it is a list with a fault."""
        if not looks_like_list(text) or not self.are_read:
            return None
        value = list_in(text)
        note("lists" if value is not None else "no_lists", text)
        if value is None:
            what = phrase(
                "{field} begins and ends like a list, and is none: {text!r}", field=column, text=text[:60]
            )
            mend = phrase("Write the list as JSON does. Other answers of this column are lists")
            raise record.error(column, what, mend)
        return value


def lists_of_gold(
    records: Callable[[], Iterable[Item]], value_in: Callable[[Item, str], Any]
) -> dict[str, AnswerLists]:
    """Whether the texts of answers and of alternatives are lists. value_in: what a record has for one of both."""

    def texts(part: str) -> Iterator[str]:
        with suppress(ReaderError):  # reading tells the problems, and those of all records
            for record in records():
                with suppress(ReaderError):
                    if isinstance(value := texts_of_answers(value_in(record, part)), str) and value:
                        yield value

    return {part: AnswerLists(partial(texts, part)) for part in OF_GOLD}


def gold_in(
    record: Fields, columns: Mapping[str, str], separator: str, lists: Mapping[str, AnswerLists]
) -> tuple[str, ...]:
    """The answers of a record with their other forms, where texts are parted by the separator or a list of `lists`."""

    def texts(column: str, value: Any) -> list[str]:
        return _texts_in(record, column, value, separator, lists["alternatives"])

    column = columns.get("answers")
    value = texts_of_answers(in_column(record.value, column))
    answers = [] if column is None else _texts_in(record, column, value, separator, lists["answers"])
    accepted = gold(record, columns, answers, texts)
    if isinstance(value, list) and len(accepted) > 1 and not alternatives_of(accepted):
        note("several", in_words(accepted))
    return accepted


def _texts_in(record: Fields, column: str, value: Any, separator: str, lists: AnswerLists) -> list[str]:
    if value is None or (isinstance(value, str) and not value.strip()):
        if value:
            note("blank", value)
        return []
    if isinstance(value, str):
        members = lists.of(record, column, value)
        separator = separator or ("" if option("rows") else "|")  # a row has one answer
        if members is None and separator and separator in value:
            note("split", value)
            members = [text.strip() for text in value.split(separator)]
        value = [value.strip()] if members is None else members
    members = value if isinstance(value, list) else [value]
    filled = [member for member in members if not (isinstance(member, str) and not member.strip())]
    if len(filled) < len(members):
        note("missing")
    return Fields(record.place, {column: filled}).texts(column)


def looks_like_list(text: str) -> bool:
    """Whether a text begins and ends like a list of JSON, Python or NumPy. (1,204) is a number."""
    text = text.strip()
    if text.startswith("("):
        return text.endswith(")") and (text[1] in "'\"" or ", " in text)
    return (text.startswith("[") and text.endswith("]")) or bool(_ARRAY.match(text) and text.endswith(")"))
