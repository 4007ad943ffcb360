"""Former wordings of the messages in release files: releases keep their sentences, and verify after a rewording."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product

from tableqa.agreement import cell_sets, edits, measures, rankings
from tableqa.core.translation import JOINED, Message, joined, template_of

FORMER: Mapping[str, Sequence[str]] = {
    "agreement.generalised": (
        (
            "Units have unequal numbers of ratings: the generalised form of Fleiss' kappa (Gwet 2014), in "
            "which units with a single rating count in the expected agreement only."
        ),
    ),
    "agreement.one_category": ("Only one category was ever used, so agreement cannot be told from chance.",),
    "agreement.one_unit": ("One unit has no spread between units, so there is no interval.",),
    "agreement.unequal": (
        (
            "Units have unequal numbers of ratings; those with a single one count in the expected agreement "
            "only (Gwet 2014)."
        ),
    ),
    "cell_sets.no_choice": (
        (
            "No two raters could have differed: their sets are empty or cover the whole table, so agreement "
            "cannot be told from chance."
        ),
    ),
    "cell_sets.within_tables": (
        "Chance is taken within each table: sets of the observed sizes, drawn at random among its cells.",
    ),
    "edit_agreement.no_choice": (
        "No two raters could have differed: nobody edited anything, or there was only one way to do it.",
    ),
    "edit_agreement.within_tables": (
        (
            "Chance is taken within each table: edits at random places, values equal as often as in "
            "different items."
        ),
    ),
    "perturbations.as_it_was": ("The table comes out as it was.",),
    "perturbations.no_answer_column": ("No column of the table holds the answer.",),
    "perturbations.no_column": ("The table has no column.",),
    "perturbations.no_room": ("{number} of them do not fit into {places} places.",),
    "perturbations.no_row": ("No row of the table holds the answer.",),
    "perturbations.not_said": ("Nobody has said which cells are relevant.",),
    "perturbations.nothing_to_swap": ("There is one of them only, and nothing to swap it with.",),
    "perturbations.only_one": ("There is one of them only, and no other place.",),
    "perturbations.there_already": ("They stand there already.",),
    "resolving.all_different": ("{number} different responses from {people} people",),
    "resolving.apart": ("The scores for {names} are {gap} or more apart.",),
    "resolving.differ": ("{number} of {of} answers differ from the given one: {names}.",),
    "resolving.different": ("{number} different responses, from {first} and {last} of {people} people",),
    "resolving.nobody": ("Nobody gives the given answer: {names}.",),
    "resolving.not_all": ("Not everybody says the same ({tally}).",),
    "resolving.not_the_same": (
        "The responses differ ({tally}).",
        "People do not say the same ({tally}).",
    ),
    "resolving.nothing": ("Nothing was marked by more than half of the people.",),
    "resolving.nothing_told": ("Nothing was marked by more than half of the people: {tally}.",),
    "resolving.overlap": ("What people marked overlaps by {overlap} (mean Jaccard); {least} is asked for.",),
}
"""The templates that messages in release files had before, by code. Add a template here when you reword it."""


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
