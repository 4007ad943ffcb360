"""Records that lie inside others: objects by their ids, columns of objects, and questions in the record of their table."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tableqa.readers.mapped import USUAL
from tableqa.readers.records import Fields, text_of

Guess = Callable[[Iterable[str]], Mapping[str, str]]
"""Gives which of some columns is which part of an example."""

_QUESTIONS = frozenset(("question", "query", "utterance", "frage"))
"""Columns by which an object inside a record is known as a question; "text" may be anything there."""
_TABLES = frozenset(USUAL["table"])
_HEADERS = ("table_header", "table_headers", "header", "headers", "column_headers", "column_names", "columns")
_ROWS = ("table_data", "table_rows", "rows", "data", "cells")


def records_of_object(members: Mapping[str, Any], guess: Guess) -> list[dict[str, Any]] | None:
    """The records in a file that is one JSON object; None where it holds none.

    They are its only list of objects, its members by their ids, or its columns as pandas writes them. An object with a
    table is a record itself.
    """
    if "question" in guess(members):
        return _from_columns(members, guess)
    lists = [value for value in members.values() if _is_list_of_objects(value)]
    if len(lists) == 1 and _TABLES.isdisjoint(members):
        return list(lists[0])
    values = list(members.values())
    if values and all(isinstance(value, dict) and "question" in guess(value) for value in values):
        return [_with_id(name, value, guess) for name, value in members.items()]
    return None


def _from_columns(members: Mapping[str, Any], guess: Guess) -> list[dict[str, Any]] | None:
    columns = list(members.values())
    if not all(isinstance(column, dict) and list(column) == list(columns[0]) for column in columns):
        return None
    return [
        _with_id(key, {name: column[key] for name, column in members.items()}, guess) for key in columns[0]
    ]


def _with_id(name: str, record: dict[str, Any], guess: Guess) -> dict[str, Any]:
    return record if "id" in guess(record) else {"id": name, **record}


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(inner, dict) for inner in value)


def questions_in(record: Fields, chosen: str, guess: Guess) -> Iterator[Fields]:
    """The record itself, or each question that it holds in a member of its own, with all other columns beside it.

    A column of both is called "record.NAME" for the outer one. Questions without ids have that of the record and a number.
    `chosen` is the column that a person named for the question.
    """
    holders = [
        name
        for name, value in record.value.items()
        if isinstance(value, dict | list) and _holds_questions(value)
    ]
    if len(holders) != 1 or chosen in record.value or "question" in guess(record.value):
        yield record
        return
    value = record.value[holders[0]]
    outer = {name: column for name, column in record.value.items() if name != holders[0]}
    id_column = guess(outer).get("id", "")
    for at, question in enumerate(value if isinstance(value, list) else [value]):
        merged = {f"record.{name}" if name in question else name: column for name, column in outer.items()}
        if isinstance(value, list) and id_column and "id" not in guess(question):
            merged[id_column] = f"{text_of(outer[id_column])}-{at + 1}"
        within = f"{holders[0]}[{at}]" if isinstance(value, list) else holders[0]
        yield Fields(record.place.inside(within), {**merged, **question})


def _holds_questions(value: dict[str, Any] | list[Any]) -> bool:
    objects = value if isinstance(value, list) else [value]
    return bool(objects) and all(
        isinstance(inner, dict) and any(name.casefold() in _QUESTIONS for name in inner) for inner in objects
    )


def with_table(record: Fields, chosen: str) -> Fields:
    """The record with its header and rows as one table, where they lie in separate columns.

    `chosen` is the column that a person named for the table.
    """
    value = record.value
    if chosen in value or not _TABLES.isdisjoint(value):
        return record
    header = next((name for name in _HEADERS if isinstance(value.get(name), list)), None)
    rows = next((name for name in _ROWS if isinstance(value.get(name), list)), None)
    if header is None or rows is None:
        return record
    others = {name: column for name, column in value.items() if name not in (header, rows)}
    return Fields(record.place, {**others, "table": {"header": value[header], "rows": value[rows]}})


def texts_of_answers(value: Any) -> Any:
    """The texts of answers as SQuAD has them, {"text": [...]} or [{"text": ...}]; any other value as it is."""
    if isinstance(value, dict) and isinstance(value.get("text"), list | str):
        return value["text"]
    if _is_list_of_objects(value) and all(text_of(inner.get("text")) is not None for inner in value):
        return [inner["text"] for inner in value]
    return value
