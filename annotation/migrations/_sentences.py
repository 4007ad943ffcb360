"""The sentences that were stored as text before 0019, with all their wordings, and how to find one in a text.

Frozen with that migration: later changes of a wording have no place here.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

SENTENCES: tuple[tuple[str, ...], ...] = (
    ("abbreviations.initials", "The initials of {number} words."),
    ("abbreviations.shortened", "“{word}” is usually shortened to “{short}”."),
    ("abbreviations.truncated", "Long words are cut after a consonant."),
    ("abbreviations.without_vowels", "Long words lose their vowels after the first letter."),
    ("adjudicating.nobody_answered", "0 of {of} annotators have responded, but {why}.", "No people have answered of {of}, and {why}."),
    ("adjudicating.nobody_came", "the batch was closed before more responses arrived", "nobody else came before the batch was closed"),
    ("adjudicating.nobody_left", "No further annotator is available.", "Nobody is left who could be asked."),
    ("adjudicating.nobody_may", "no further annotator is available", "nobody is left who may be asked"),
    ("adjudicating.one_answered", "1 of {of} annotators has responded, but {why}.", "1 person has answered of {of}, and {why}."),
    ("adjudicating.one_more_lacks", "One more annotator is required, but {why}.", "One more person was asked for, and {why}."),
    ("adjudicating.some_answered", "{number} of {of} annotators have responded, but {why}.", "{number} people have answered of {of}, and {why}."),
    ("agreement.generalised", "Units have unequal numbers of ratings, so this is the generalised Fleiss' kappa (Gwet 2014). Units with a single rating count in the expected agreement only.", "Units have unequal numbers of ratings: the generalised form of Fleiss' kappa (Gwet 2014), in which units with a single rating count in the expected agreement only."),
    ("agreement.no_pair", "No unit has two ratings, so there is nothing to compare."),
    ("agreement.one_category", "Only one category was used, so agreement cannot be distinguished from chance.", "Only one category was ever used, so agreement cannot be told from chance."),
    ("agreement.one_unit", "There is only one unit, so there is no confidence interval.", "One unit has no spread between units, so there is no interval."),
    ("agreement.unequal", "Units have unequal numbers of ratings. Units with a single rating count in the expected agreement only (Gwet 2014).", "Units have unequal numbers of ratings; those with a single one count in the expected agreement only (Gwet 2014)."),
    ("cell_sets.no_choice", "Disagreement was impossible: all sets are empty or cover the whole table.", "No two raters could have differed: their sets are empty or cover the whole table, so agreement cannot be told from chance."),
    ("cell_sets.within_tables", "Chance agreement is computed per table, from random sets of cells of the observed sizes.", "Chance is taken within each table: sets of the observed sizes, drawn at random among its cells."),
    ("column_adding.filled", "{filled} of {rows} rows have a value", "{filled} of {rows} rows have a cell there"),
    ("column_adding.from", "From {title}"),
    ("corpus.keys", "{number} of {of} values of the key columns match ({some}).", "{number} of {of} values of the key columns in common ({some})."),
    ("corpus.lacks.one", "{number} additional column ({some}).", "{number} column that this table lacks ({some})."),
    ("corpus.lacks.several", "{number} additional columns ({some}).", "{number} columns that this table lacks ({some})."),
    ("corpus.names", "Shared column names ({some}).", "Column names in common ({some})."),
    ("corpus.title", "Shared title words ({some}).", "Words of the title in common ({some})."),
    ("edit_agreement.no_choice", "Disagreement was impossible: there were no edits, or only one edit was possible.", "No two raters could have differed: nobody edited anything, or there was only one way to do it."),
    ("edit_agreement.within_tables", "Chance agreement is computed per table: edits at random positions, values equal as often as across items.", "Chance is taken within each table: edits at random places, values equal as often as in different items."),
    ("evidence.answer_cells", "the answer's coordinates in the source (as in SQA)"),
    ("evidence.by_derivation", "numbers of the source's derivation (as in TAT-QA)"),
    ("evidence.by_logical_form", "cells that the source's logical form reads (as in WikiSQL)"),
    ("evidence.by_model", "cells that a model used ({model})", "cells that a model pointed at ({model})"),
    ("evidence.by_people", "cells marked by people in this project"),
    ("evidence.by_program", "cells that the program of the answer reads"),
    ("evidence.by_some_model", "cells that a model used", "cells that a model pointed at"),
    ("evidence.highlighted_cells", "cells highlighted in the source (as in FeTaQA)"),
    ("evidence.relevant_cells", "relevant cells named in the source (as FREB-TQA does)"),
    ("habits.alone", "{fast} of {items} items took less than {bound} s ({share}). The annotator's median is {median} s. Other annotators did {others} items, too few for a comparison.", "{fast} of {items} items took less than {bound} s ({share}). The person's median is {median} s. Others did {others} items, too few to compare with."),
    ("habits.fast", "{fast} of {items} items took less than {bound} s ({share}); for other annotators it is {of_others}. The annotator's median is {median} s, that of other annotators {median_of_others} s.", "{fast} of {items} items took less than {bound} s ({share}); of the others' items it is {of_others}. The person's median is {median} s, the others' {median_of_others} s."),
    ("habits.not_repeated", "No text is repeated in the {items} items with text.", "No text is repeated on the {items} items with one."),
    ("habits.not_sped_up", "No item took less than a third of the annotator's median of {median} s.", "No item took less than a third of the person's own median of {median} s."),
    ("habits.repeated", "The same text is in {times} of {items} items: “{text}”", "One text stands on {times} of {items} items: “{text}”"),
    ("habits.sped_up", "At most {longest} items in a row took less than a third of the annotator's median of {median} s.", "At most {longest} items in a row took less than a third of the person's own median of {median} s."),
    ("habits.the_same.one", "{label} was chosen for {times} of {items} items ({share}); other annotators chose it for {of_others} of theirs. The least likely run is {run}, {length} time in a row.", "{label} was given to {times} of {items} items ({share}); others give it to {of_others} of theirs. The most unlikely run is {run}, {length} time in a row."),
    ("habits.the_same.several", "{label} was chosen for {times} of {items} items ({share}); other annotators chose it for {of_others} of theirs. The least likely run is {run}, {length} times in a row.", "{label} was given to {times} of {items} items ({share}); others give it to {of_others} of theirs. The most unlikely run is {run}, {length} times in a row."),
    ("habits.too_few", "Not enough data yet: {items} items, {needed} are needed.", "Too early to say: {items} items, {needed} are needed."),
    ("habits.too_few_of_others", "Not enough data yet: other annotators did {items} items, {needed} are needed.", "Too early to say: others did {items} items, {needed} are needed."),
    ("header_names.beside.one", "It has the same neighbouring columns.", "It stands beside the same columns."),
    ("header_names.beside.several", "They have the same neighbouring columns.", "They stand beside the same columns."),
    ("header_names.called_so.one", "{columns} column of this project has this name.", "{columns} column of this project is called so."),
    ("header_names.called_so.several", "{columns} columns of this project have this name.", "{columns} columns of this project are called so."),
    ("header_names.holds.one", "It contains {number} of the {of} values of this column ({values}).", "It holds {number} of the {of} values here ({values})."),
    ("header_names.holds.several", "They contain {number} of the {of} values of this column ({values}).", "They hold {number} of the {of} values here ({values})."),
    ("header_names.shares.one", "It shares a word with this one."),
    ("header_names.shares.several", "They share a word with this one."),
    ("headers.stands_for", "often stands for “{word}”"),
    ("jobs.disk_full", "The disk of the data folder is full. Free some space, then start this job again."),
    ("jobs.internal", "Internal error ({name}). Details are in the server log. Ask the site administrator.", "Internal error ({name}). Details are in the log."),
    ("jobs.lost", "The worker of this job was lost {attempts} times."),
    ("jobs.no_database", "The database did not respond in {attempts} attempts. Start this job again once it does."),
    ("metric_failure.all_lower", "all {others} others score lower"),
    ("metric_failure.for_both", "{score} for faithfulness and {score_2} for comprehensiveness"),
    ("metric_failure.for_comprehensiveness", "{score} for comprehensiveness"),
    ("metric_failure.for_faithfulness", "{score} for faithfulness"),
    ("metric_failure.metric_gives", "{name} gives it {short}: {standing}."),
    ("metric_failure.no_other", "no other answer was scored"),
    ("metric_failure.none_lower", "no other answer scores lower"),
    ("metric_failure.other_lower", "the other answer scores lower"),
    ("metric_failure.other_no_lower", "the other answer scores no lower"),
    ("metric_failure.other_same", "the other answer scores the same"),
    ("metric_failure.people_give", "People give it {each} out of {highest_score}: {standing}.", "People give it {each}, of {highest_score}: {standing}."),
    ("metric_failure.some_lower", "{below} of the {others} others score lower"),
    ("metric_failure.some_lower_half", "{below} of the {others} others score lower (ties count half)", "{below} of the {others} others score lower, equal ones counted half"),
    ("metrics.no_example", "There are no examples.", "There is no example."),
    ("metrics.nothing_before", "No original was answered correctly.", "Nothing was right before, so nothing could stay right."),
    ("needed.about.one", "About {likely} more labelled item would bring the confidence interval within ± {wanted}.", "About {likely} more labelled item would bring the interval within ± {wanted}."),
    ("needed.about.several", "About {likely} more labelled items would bring the confidence interval within ± {wanted}.", "About {likely} more labelled items would bring the interval within ± {wanted}."),
    ("needed.about_and_safe.one", "About {likely} more labelled item would bring the confidence interval within ± {wanted}. Plan {safe} to be safe, assuming similar items.", "About {likely} more labelled item would bring the interval within ± {wanted}; with {safe} it is safe to expect, if they are like the items so far."),
    ("needed.about_and_safe.several", "About {likely} more labelled items would bring the confidence interval within ± {wanted}. Plan {safe} to be safe, assuming similar items.", "About {likely} more labelled items would bring the interval within ± {wanted}; with {safe} it is safe to expect, if they are like the items so far."),
    ("needed.alike", "All items have the same result, so their spread is unknown.", "All items came out alike, so nothing is known of their spread."),
    ("needed.few_places", "Too few items vary: the confidence interval depends on {telling} of {units} items.", "The items differ in too few places: the interval rests on {telling} of {units} items."),
    ("needed.nearly_reached", "The confidence interval is just within ± {wanted} and may widen again.", "The interval is within ± {wanted}, by so little that it may widen again."),
    ("needed.no_interval", "The measure has no confidence interval yet.", "There is no interval to start from."),
    ("needed.not_yet", "Not enough data yet.", "Cannot be said yet."),
    ("needed.often_undefined", "Too many bootstrap resamples leave the measure undefined: nearly all ratings are in one category.", "Too many bootstrap samples leave the measure undefined: nearly all ratings are in one category.", "Too many draws of the items leave the measure undefined: nearly all ratings are of one category."),
    ("needed.reached", "The confidence interval is already within ± {wanted}.", "The interval is within ± {wanted} already."),
    ("needed.too_few.one", "Only {units} item has two ratings so far. At least {fewest} are needed.", "Only {units} item so far has two ratings; from {fewest} on their spread says something."),
    ("needed.too_few.several", "Only {units} items have two ratings so far. At least {fewest} are needed.", "Only {units} items so far have two ratings; from {fewest} on their spread says something."),
    ("perturbations.as_it_was", "The table is unchanged.", "The table comes out as it was."),
    ("perturbations.asks_for_a_position", "The question asks for a position ({word})."),
    ("perturbations.no_answer_column", "No column contains the answer.", "No column of the table holds the answer."),
    ("perturbations.no_column", "The table has no columns.", "The table has no column."),
    ("perturbations.no_room", "{number} rows or columns do not fit into {places} positions.", "{number} of them do not fit into {places} places."),
    ("perturbations.no_row", "No row contains the answer.", "No row of the table holds the answer."),
    ("perturbations.not_said", "The relevant cells are unknown.", "Nobody has said which cells are relevant."),
    ("perturbations.nothing_to_swap", "There is only one row or column, so a swap is impossible.", "There is one of them only, and nothing to swap it with."),
    ("perturbations.only_one", "There is only one row or column.", "There is one of them only, and no other place."),
    ("perturbations.there_already", "The rows or columns are already in the target region.", "They stand there already."),
    ("question_screening.all_right", "{number} of {number} samples right"),
    ("question_screening.all_right_by", "{number} of {number} samples right ({by})"),
    ("resolving.all_different", "{number} different responses from {people} annotators", "{number} different responses from {people} people"),
    ("resolving.apart", "The scores for {names} differ by {gap} or more.", "The scores for {names} are {gap} or more apart."),
    ("resolving.differ", "{number} of {of} answers differ from the given answer: {names}.", "{number} of {of} answers differ from the given one: {names}."),
    ("resolving.different", "{number} different responses, from {first} and {last} of {people} annotators", "{number} different responses, from {first} and {last} of {people} people"),
    ("resolving.no_edit", "No edit has a majority ({tally})."),
    ("resolving.no_label", "No label has a majority ({tally})."),
    ("resolving.nobody", "No response matches the given answer: {names}.", "Nobody gives the given answer: {names}."),
    ("resolving.not_all", "The responses are not unanimous ({tally}).", "Not everybody says the same ({tally})."),
    ("resolving.not_the_same", "The responses differ ({tally}).", "People do not say the same ({tally})."),
    ("resolving.nothing", "No element was marked by a majority of annotators.", "Nothing was marked by more than half of the people."),
    ("resolving.nothing_told", "No element was marked by a majority of annotators ({tally}).", "Nothing was marked by more than half of the people: {tally}."),
    ("resolving.overlap", "The overlap of the responses is {overlap} (mean Jaccard index); the minimum is {least}.", "What people marked overlaps by {overlap} (mean Jaccard); {least} is asked for."),
    ("snapshots.went_wrong", "internal error ({name}).", "something went wrong inside ({name})."),
    ("synonyms.alike", "similar meaning", "alike"),
    ("synonyms.broader", "more general meaning", "broader"),
    ("synonyms.short_for", "“{word}” is short for “{long}”"),
    ("synonyms.so_called.one", "used for {columns} column of this project", "{columns} column of this project is called so"),
    ("synonyms.so_called.several", "used for {columns} columns of this project", "{columns} columns of this project are called so"),
    ("torr.same_text", "The table changed, but the text of the prompt is the same."),
)
"""(code, wording, former wordings)."""

CODES = {wording: code for code, *wordings in SENTENCES for wording in wordings}
TEMPLATES = {code: wording for code, wording, *_ in SENTENCES} | {
    "resolving.counted": "{label} {number}",
    "resolving.marked": "{label} ({number})",
    "resolving.times": "{number} x {label}",
}
OWN = ("text", "number", "word", "joined")
"""Codes without a template: a text, a number, a word of the catalogue, parts with a separator."""
MARK = '{"code": "'
OURS = {"tally", "names", "why", "label", "run", "standing", "each"}
"""Placeholders whose values are words of ours, lists of such, or sentences."""
FOREIGN = {"some", "values", "word", "long", "short", "title", "model", "sources", "text", "name"}
"""Placeholders whose values are texts of tables, models and people, also where they look like numbers."""
LONGEST, MOST_CUTS = 5_000, 40

_PLACE = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?: %)?")
_TIMES = re.compile(r"(\d+) x (.+)")
_MARKED = re.compile(r"(.+) \((\d+)\)")
_COUNTED = re.compile(r"(.+) (\d+)")


def message_of(text: str) -> dict[str, Any] | None:
    """The message, as JSON, that a stored text is in any wording; None for other texts."""
    found = _taken_apart(text)
    return _joined([_message(*one) for one in found], " ") if found else None


def message_of_list(text: str) -> dict[str, Any] | None:
    """The same of a list with semicolons, of which some parts may be other texts."""
    parts = [message_of(part) or part for part in text.split("; ")]
    return _joined(parts, "; ") if any(isinstance(part, dict) for part in parts) else None


def is_message(data: object) -> bool:
    """Whether JSON is a message of this list."""
    return (
        isinstance(data, dict)
        and data.keys() == {"code", "values"}
        and isinstance(data["values"], dict)
        and (data["code"] in TEMPLATES or data["code"] in OWN)
    )


def text_of(message: Any) -> str:
    """The English sentence of a message, as it was stored before."""
    if not isinstance(message, dict):
        return str(message)
    code, values = message["code"], message["values"]
    if code == "joined":
        return str(values["by"]).join(map(text_of, values["parts"]))
    if code in OWN:
        return str(values["text"])
    return TEMPLATES[code].format(**{name: text_of(value) for name, value in values.items()})


def packed(message: Any) -> str:
    """A message as a column of text stores it."""
    return json.dumps(message, ensure_ascii=False)


def unpacked(text: str) -> Any:
    """The message in a column of text; None for a plain text."""
    if not text.startswith(MARK):
        return None
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if is_message(data) else None


def _message(code: str, values: dict[str, str]) -> dict[str, Any]:
    return {"code": code, "values": {name: _value(code, name, value) for name, value in values.items()}}


def _value(code: str, name: str, text: str) -> Any:
    if name in FOREIGN:
        return text
    if _NUMBER.fullmatch(text):
        return int(text) if text == str(_whole(text)) else {"code": "number", "values": {"text": text}}
    if name not in OURS:
        return text
    if (message := message_of(text)) is not None:
        return message
    by = " and " if code == "resolving.apart" else ", "
    return _joined([_word(piece) for piece in text.split(by)], by)


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else None


def _word(text: str) -> dict[str, Any]:
    """A word, or one with how often it was said."""
    for code, pattern, label, number in (
        ("resolving.times", _TIMES, 2, 1),
        ("resolving.marked", _MARKED, 1, 2),
        ("resolving.counted", _COUNTED, 1, 2),
    ):
        if (found := pattern.fullmatch(text)) and found[number] == str(_whole(found[number])):
            word = {"code": "word", "values": {"text": found[label]}}
            return {"code": code, "values": {"label": word, "number": int(found[number])}}
    return {"code": "word", "values": {"text": text}}


def _joined(parts: list[Any], by: str) -> dict[str, Any]:
    if len(parts) == 1:
        return dict(parts[0])
    return {"code": "joined", "values": {"parts": parts, "by": by}}


# -- how a sentence was found in a text -------------------------------------------------------------


@lru_cache(maxsize=65_536)
def _taken_apart(text: str) -> tuple[tuple[str, dict[str, str]], ...]:
    """The sentences that a text is made of, one behind the other, with their values; () where not all of it is known."""
    if len(text) > LONGEST:
        return ()
    for cut in itertools.islice(re.finditer(r"(?<=[.?!]) ", text), MOST_CUTS):
        first = _one_sentence(text[: cut.start()])
        if first is not None and (others := _taken_apart(text[cut.end() :])):
            return (first, *others)
    return () if (found := _one_sentence(text)) is None else (found,)


def _one_sentence(text: str) -> tuple[str, dict[str, str]] | None:
    for wording, pieces in _pieces():
        if (values := _values(pieces, text)) is not None:
            return CODES[wording], values
    return None


@cache
def _pieces() -> list[tuple[str, list[str]]]:
    ordered = sorted(CODES, key=lambda wording: (-len(_PLACE.sub("", wording)), wording))
    return [(wording, _PLACE.split(wording)) for wording in ordered]


def _values(pieces: Sequence[str], text: str) -> dict[str, str] | None:
    if not text.startswith(pieces[0]):
        return None
    at, last, values = len(pieces[0]), len(pieces) - 1, dict[str, str]()
    for place in range(1, last, 2):
        name, after = pieces[place], pieces[place + 1]
        if name in values:
            end = at + len(values[name])
        elif place + 1 == last:
            end = len(text) - len(after)
        else:
            end = text.find(after, at + 1)
        if end <= at or not text.startswith(after, end):
            return None
        if values.setdefault(name, text[at:end]) != text[at:end]:
            return None
        at = end + len(after)
    return values if at == len(text) else None
