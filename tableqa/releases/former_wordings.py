"""Former wordings of the messages in release files: releases keep their sentences, and verify after a rewording."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path

from tableqa.agreement import cell_sets, edits, measures, rankings
from tableqa.core.translation import JOINED, Message, joined, template_of

FORMER: Mapping[str, Sequence[str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)
"""The templates that messages in release files had before, by code. Add a template there when you reword it."""


def is_wording(text: object, expected: object) -> bool:
    """Whether a text of a release is as expected: an equal value, or a message in a former wording."""
    return text == expected or (isinstance(expected, Message) and text in list(wordings(expected)))


def wordings(message: Message) -> Iterator[str]:
    """The message in today's and in every former wording."""
    if message.code == JOINED:
        parts = (wordings(part) if isinstance(part, Message) else [part] for part in message.values["parts"])
        yield from map(message.values["by"].join, product(*parts))
        return
    for template in {template_of(message.code), *FORMER.get(message.code, ())}:
        yield template.format(**message.values)


def note_of(text: str) -> str:
    """The message of a note or reason in a manifest's agreement figure; the text itself if it is none of ours."""
    return _notes().get(text, text)


@cache
def _notes() -> dict[str, str]:
    reasons = (
        measures.NO_PAIR,
        measures.ONE_CATEGORY,
        measures.ONE_UNIT,
        cell_sets.NO_CHOICE,
        edits.NO_CHOICE,
        rankings.ONE_OPTION,
    )
    notes = (
        measures.GENERALISED,
        measures.UNEQUAL,
        cell_sets.WITHIN_TABLES,
        edits.WITHIN_TABLES,
        rankings.WITHIN_ITEMS,
    )
    with_one_unit = (joined([note, measures.ONE_UNIT]) for note in notes)
    messages = [
        candidate for candidate in (*reasons, *notes, *with_one_unit) if isinstance(candidate, Message)
    ]
    return {wording: message for message in messages for wording in wordings(message)}
