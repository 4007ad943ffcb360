"""Former wordings of the messages in release files: releases keep their sentences, and verify after a rewording.

Whoever rewords a message of a decision, an agreement figure or an automatic perturbation adds the old template here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

from tableqa import agreement, cell_sets, edit_agreement
from tableqa.language import JOINED, Message, joined, template_of

FORMER: Mapping[str, tuple[str, ...]] = {
    "agreement.one_category": ("Only one category was ever used, so agreement cannot be told from chance.",),
    "agreement.one_unit": ("One unit has no spread between units, so there is no interval.",),
    "agreement.generalised": (
        (
            "Units have unequal numbers of ratings: the generalised form of Fleiss' kappa (Gwet 2014), in "
            "which units with a single rating count in the expected agreement only."
        ),
    ),
    "agreement.unequal": (
        (
            "Units have unequal numbers of ratings; those with a single one count in the expected agreement "
            "only (Gwet 2014)."
        ),
    ),
    "perturbations.no_row": ("No row of the table holds the answer.",),
    "perturbations.no_answer_column": ("No column of the table holds the answer.",),
    "perturbations.only_one": ("There is one of them only, and no other place.",),
    "perturbations.there_already": ("They stand there already.",),
    "perturbations.no_column": ("The table has no column.",),
    "perturbations.nothing_to_swap": ("There is one of them only, and nothing to swap it with.",),
    "perturbations.as_it_was": ("The table comes out as it was.",),
    "perturbations.not_said": ("Nobody has said which cells are relevant.",),
    "perturbations.no_room": ("{number} of them do not fit into {places} places.",),
    "cell_sets.within_tables": (
        "Chance is taken within each table: sets of the observed sizes, drawn at random among its cells.",
    ),
    "cell_sets.no_choice": (
        (
            "No two raters could have differed: their sets are empty or cover the whole table, so agreement "
            "cannot be told from chance."
        ),
    ),
    "edit_agreement.within_tables": (
        (
            "Chance is taken within each table: edits at random places, values equal as often as in "
            "different items."
        ),
    ),
    "edit_agreement.no_choice": (
        "No two raters could have differed: nobody edited anything, or there was only one way to do it.",
    ),
    "resolving.not_all": ("Not everybody says the same ({tally}).",),
    "resolving.apart": ("The scores for {names} are {gap} or more apart.",),
    "resolving.not_the_same": ("People do not say the same ({tally}).",),
    "resolving.overlap": ("What people marked overlaps by {overlap} (mean Jaccard); {least} is asked for.",),
    "resolving.nothing": ("Nothing was marked by more than half of the people.",),
    "resolving.nothing_told": ("Nothing was marked by more than half of the people: {tally}.",),
    "resolving.differ": ("{number} of {of} answers differ from the given one: {names}.",),
    "resolving.nobody": ("Nobody gives the given answer: {names}.",),
    "resolving.all_different": ("{number} different responses from {people} people",),
    "resolving.different": ("{number} different responses, from {first} and {last} of {people} people",),
}
"""The former templates of a message, by its code."""


def is_wording(text: object, expected: object) -> bool:
    """Whether a text of a release is what is expected: an equal value, or a message in a former wording."""
    return text == expected or (isinstance(expected, Message) and text in set(wordings(expected)))


def wordings(message: Message) -> Iterator[str]:
    """The message in today's and in every former wording, and so are the messages among its values."""
    if message.code == JOINED:
        parts = product(*map(_wordings, message.values["parts"]))
        yield from (message.values["by"].join(chosen) for chosen in parts)
        return
    values = product(*map(_wordings, message.values.values()))
    templates = [template_of(message.code), *FORMER.get(message.code, ())]
    for chosen in values:
        named = dict(zip(message.values, chosen, strict=True))
        yield from (template.format(**named) for template in templates)


def _wordings(value: Any) -> list[Any]:
    return list(wordings(value)) if isinstance(value, Message) else [value]


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
    )
    notes = (agreement.GENERALISED, agreement.UNEQUAL, cell_sets.WITHIN_TABLES, edit_agreement.WITHIN_TABLES)
    with_one_unit = (joined([note, agreement.ONE_UNIT]) for note in notes)
    messages = [one for one in (*reasons, *notes, *with_one_unit) if isinstance(one, Message)]
    return {wording: message for message in messages for wording in wordings(message)}
