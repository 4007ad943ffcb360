"""Records of any tool or dataset as examples: which field is the question, the table, the answers, and what they hold."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from tableqa.core.foreign_values import in_column
from tableqa.core.translation import phrase, word
from tableqa.data.answers import with_alternatives
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.column_names import USUAL
from tableqa.readers.example_parts import context_of, example, passage_of
from tableqa.readers.interface import Names, ReaderError
from tableqa.readers.json_values import plain, text_of, value_in
from tableqa.readers.reading_options import READING, check_options
from tableqa.readers.record_fields import Fields
from tableqa.readers.record_tables import beside_the_cells, is_list_of_objects, table_from


def check_fields(fields: Mapping[str, str], parts: Sequence[str] = (*USUAL, *READING)) -> dict[str, str]:
    """A person's own names of fields, {part: field}, and options; ValueError for a part or value that there is not."""
    if unknown := [part for part in fields if part not in parts]:
        values = {"part": unknown[0], "known": ", ".join(parts)}
        why = phrase("there is no part {part!r} of an example; the parts and options are {known}", **values)
        raise ValueError(why)
    check_options(fields)
    return dict(fields)


def mapped_example(
    fields: Fields,
    own: Mapping[str, str],
    names: Names,
    record_number: int,
    further: Mapping[str, Any],
    gold_in: Callable[[Fields, Mapping[str, str]], tuple[str, ...]] | None = None,
) -> Example:
    """The example that a record holds; ReaderError.

    `own` are the fields that a person named. Without an id it is the record's number. What no part is made of goes into
    meta under its own name; `further` with it. `gold_in` reads the answers, where their texts may hold several.
    """
    try:
        return _mapped_example(fields, own, names, record_number, further, gold_in or _gold_in)
    except ReaderError as error:
        error.record = text_of(in_column(fields.value, own.get("id") or field_of(fields, "id", {}))) or ""
        raise


def _mapped_example(
    fields: Fields,
    own: Mapping[str, str],
    names: Names,
    record_number: int,
    further: Mapping[str, Any],
    gold_in: Callable[[Fields, Mapping[str, str]], tuple[str, ...]],
) -> Example:
    columns = {part: column for part in USUAL if (column := field_of(fields, part, own)) is not None}
    for part in ("question", "table"):
        if part not in columns:
            looked = ", ".join(USUAL[part])
            field_names = ", ".join(list(fields.value)[:12]) or "none"
            raise fields.place.error(
                phrase("there is no {part}: none of {looked}", part=word(part), looked=looked),
                phrase(
                    "Enter it under Field names: {part} = FIELD. The fields are: {there}",
                    part=part,
                    there=field_names,
                ),
                phrase(
                    "Name it: --field {part}=FIELD. The fields are: {there}", part=part, there=field_names
                ),
            )
    published = fields.name(columns["id"]) if "id" in columns else str(record_number)
    title = text_in(fields, columns.get("title"))
    caption = text_in(fields, columns.get("caption"))
    location = fields.place.inside(columns["table"])
    table = table_from(location, fields.value[columns["table"]], title, caption)
    answers = gold_in(fields, columns)
    unique = names.unique(published)
    beside = {"table": plain(about)} if (about := beside_the_cells(fields.value[columns["table"]])) else {}
    own_id = {"id": published} if unique != published else {}
    question = fields.text(columns["question"])
    return example_of_columns(
        fields, columns, unique, question, table, answers, {**beside, **own_id, **further}
    )


def example_of_columns(
    record: Fields,
    columns: Mapping[str, str],
    example_id: str,
    question: str,
    table: Table,
    answers: Sequence[str],
    further: Mapping[str, Any],
) -> Example:
    """The example of a record whose columns are known; what no part is made of goes into meta, and `further`."""
    passage = passage_of(in_column(record.value, columns.get("context")))
    used = {name for part, name in columns.items() if part != "context" or passage is not None}
    answers_value = in_column(record.value, columns.get("answers"))
    if texts_of_answers(answers_value) is not answers_value:
        used.discard(columns["answers"])  # it says more than the texts
    return example(
        record.place,
        example_id,
        question,
        table,
        answers,
        {**{name: plain(value) for name, value in record.value.items() if name not in used}, **further},
        context=context_of(record.place, text=passage or ""),
        columns=columns,
    )


def field_of(fields: Fields, part: str, own: Mapping[str, str]) -> str | None:
    """The field of a part, as a person named it, else by its usual names; None where there is none. ReaderError."""
    if part in own:
        fields.required(own[part])
        return own[part]
    return next((name for name in USUAL[part] if name in fields), None)


def text_in(fields: Fields, name: str | None) -> str:
    """The text of a field; "" where there is none."""
    return "" if name is None else fields.text(name, default="")


def _texts(fields: Fields, name: str | None, value: object) -> list[str]:
    """The texts in a value of this column: a list, or one text."""
    if name is None or value is None:
        return []
    return Fields(fields.place, {name: value if isinstance(value, list) else [value]}).texts(name)


def _gold_in(fields: Fields, columns: Mapping[str, str]) -> tuple[str, ...]:
    name = columns.get("answers")
    return gold(fields, columns, _texts(fields, name, texts_of_answers(in_column(fields.value, name))))


def gold(
    fields: Fields,
    columns: Mapping[str, str],
    answers: list[str],
    texts: Callable[[str, Any], list[str]] | None = None,
) -> tuple[str, ...]:
    """The answers of a record with their other accepted forms; ReaderError.

    The texts of SQuAD's object are the forms of one answer. A column of alternatives holds texts, each of them a form, or
    lists, each of them a form of all answers. Without answers, the first form is the answer. `texts` reads a column, where
    its texts may hold several.
    """
    texts = texts or partial(_texts, fields)
    value = in_column(fields.value, columns.get("answers"))
    forms = (
        [[text] for text in answers] if texts_of_answers(value) is not value else [answers] if answers else []
    )
    if column := columns.get("alternatives"):
        others = fields.value.get(column)
        if isinstance(others, list) and any(isinstance(alternative, list) for alternative in others):
            forms += [texts(column, alternative) for alternative in others]
        else:
            forms += [[text] for text in texts(column, others) if text.strip()]
    return with_alternatives(forms[0], filter(None, forms[1:])) if forms else ()


def texts_of_answers(value: Any) -> Any:
    """The texts of answers as SQuAD has them, {"text": [...]} or [{"text": ...}], or a text of it; others as they are."""
    content = value
    if isinstance(value, str) and value.lstrip().startswith(("{", "[{")):
        with suppress(ValueError):
            content = value_in(value)
    if isinstance(content, dict) and isinstance(content.get("text"), list | str):
        return content["text"]
    if is_list_of_objects(content) and all(text_of(inner.get("text")) is not None for inner in content):
        return [inner["text"] for inner in content]
    return value
