"""Former wordings of the messages in release files: releases keep their sentences, and verify after a rewording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product

from annotation.migrations._sentences import SENTENCES
from tableqa import agreement, cell_sets, edit_agreement, rank_agreement
from tableqa.language import JOINED, Message, joined, template_of

FORMER: Mapping[str, Sequence[str]] = {code: templates for code, *templates in SENTENCES}
"""The templates that messages had when codes came (migration 0019) and before, by code. Add later ones here."""


def is_wording(text: object, expected: object) -> bool:
    """Whether a text of a release is what is expected: an equal value, or a message in a former wording."""
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
        agreement.NO_PAIR,
        agreement.ONE_CATEGORY,
        agreement.ONE_UNIT,
        cell_sets.NO_CHOICE,
        edit_agreement.NO_CHOICE,
        rank_agreement.ONE_OPTION,
    )
    notes = (
        agreement.GENERALISED,
        agreement.UNEQUAL,
        cell_sets.WITHIN_TABLES,
        edit_agreement.WITHIN_TABLES,
        rank_agreement.WITHIN_ITEMS,
    )
    with_one_unit = (joined([note, agreement.ONE_UNIT]) for note in notes)
    messages = [one for one in (*reasons, *notes, *with_one_unit) if isinstance(one, Message)]
    return {wording: message for message in messages for wording in wordings(message)}
