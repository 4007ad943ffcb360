"""Which column is which part of an example: as a person says, else by the names that datasets and tools use."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

USUAL: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "example_id", "question_id", "uid", "_id"),
    "question": ("question", "query", "utterance", "statement", "text"),
    "table": ("table", "table_array", "table_text"),
    "answers": ("answers", "answer", "label", "answer_text", "target"),
    "alternatives": ("answer_alternatives", "answer_aliases"),
    "title": ("title", "table_page_title", "page_title"),
    "caption": ("caption", "table_section_title", "table_caption"),
    "context": ("context", "passage", "paragraph"),
}
"""For each part of an example the names of fields that it is looked for under, without a choice."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "id": (*USUAL["id"], "qid", "idx", "index", "nr", "feta_id"),
    "question": ("question", "query", "utterance", "statement", "q", "frage", "prompt", "text"),
    "answers": (*USUAL["answers"], "gold", "gold_answer", "gold_answers", "targetvalue", "antwort", "antworten"),
    "table": (
        *USUAL["table"], "table_file", "table_path", "table_csv", "table_name", "table_id", "sheet", "file", "path",
        "tabelle",
    ),
    "alternatives": USUAL["alternatives"],
    "title": (*USUAL["title"], "titel"),
    "caption": USUAL["caption"],
    "context": USUAL["context"],
    "split": ("split", "subset", "partition", "fold"),
}  # fmt: skip
"""For each part of an example the names of columns that are taken for it; capitals, spaces and signs do not count."""

_SIGNS = re.compile(r"[\W_]+")


def parts_of(columns: Collection[str], fields: Mapping[str, str]) -> dict[str, str]:
    """Which column is which part of an example: as `fields` say, "" for none, else by its name."""
    chosen_parts = {part: name for part, name in fields.items() if part in PARTS}
    return {
        **guess_columns(columns, chosen_parts),
        **{part: name for part, name in chosen_parts.items() if name and name in columns},
    }


def is_header(row: Sequence[Any], fields: Mapping[str, str]) -> bool:
    """Whether a row names the columns of the question and the table."""
    are_texts = all(isinstance(name, str) for name in row)
    return are_texts and {"question", "table"} <= parts_of(row, fields).keys()


def guess_columns(columns: Iterable[str], chosen_parts: Mapping[str, str] | None = None) -> dict[str, str]:
    """Which column is probably which part of an example, {part: column}, without the columns of `chosen_parts`."""
    return dict(_guess(tuple(columns), tuple((chosen_parts or {}).items())))


@lru_cache(maxsize=4)  # nearly every record has the columns of the one before
def _guess(columns: tuple[str, ...], chosen: tuple[tuple[str, str], ...]) -> dict[str, str]:
    chosen_parts = dict(chosen)
    free = {_plain_name(name): name for name in columns if name not in chosen_parts.values()}
    guess: dict[str, str] = {}
    if "task_hash" in free:
        free.pop("answer", None)  # accept or reject, of Prodigy
    for part, names in PARTS.items():
        if part not in chosen_parts and (name := next((free[name] for name in names if name in free), None)):
            guess[part] = name
            del free[_plain_name(name)]
    return guess


def _plain_name(name: str) -> str:
    return name if name == "_id" else _SIGNS.sub("_", name.strip().casefold()).strip("_")
