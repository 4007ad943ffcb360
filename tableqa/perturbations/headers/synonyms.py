"""Other names for a column (RobuT 3.1, header synonyms): from a thesaurus, and from how other columns are called.

RobuT's annotators renamed columns with a thesaurus at hand, and the new name had to belong to the same domain. A
suggestion is therefore weighed by three things: how common the sense is in which the two words mean the same, how well
what they mean fits what the column holds (a "date" is a day, not an escort, where the cells are dates), and
how well known the new word is. `Suggestion.why` names what it is weighed by. Where the whole header is in the list of
usual names, the thesaurus is not asked: it would add other senses ("Musician" for "Player").
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tableqa.core.translation import joined, message
from tableqa.data.tables import Table
from tableqa.perturbations.headers.abbreviations import is_short_form, long_forms
from tableqa.perturbations.headers.alternatives import Suggestion, SuggestionList, Unavailable
from tableqa.perturbations.headers.thesaurus import Sense, Thesaurus, WordSense
from tableqa.perturbations.headers.usual_names import is_usual, is_whole, usual_names
from tableqa.perturbations.headers.word_forms import (
    Word,
    in_case_of,
    kinds_of,
    names_in_use,
    replace_words,
    same_name,
    words_of,
)

if TYPE_CHECKING:
    from tableqa.perturbations.headers.names import HeaderNames

NEAR = 0.4
"""What a word of the next broader sense, or of a sense alike, counts against one of the same sense."""

_LEAST_SCORE = 0.2
_LEAST_OF_BEST = 0.5
"""A suggestion so much worse than the best is left out."""

_MOST_SENSES = 4
_NEAR_SENSES = 1
"""Senses whose broader words are looked at: what is broader than a rare meaning is far from a column's."""

_LONGEST_SENSE = 70
_MOST_WORDS = 3
_LONGEST_COLLOCATION = 4
_MOST_LONG_FORMS = 3
# Why a suggestion is made; kept with a proposal, in English. Pages say it in the reader's language.
SHORT_FOR = message("synonyms.short_for", "“{word}” is short for “{long}”")
SO_CALLED = {
    True: message("synonyms.so_called.one", "used for {columns} column of this project"),
    False: message("synonyms.so_called.several", "used for {columns} columns of this project"),
}
"""By whether it is one."""
BROADER = message("synonyms.broader", "more general meaning")
ALIKE = message("synonyms.alike", "similar meaning")

_SHORT = "no nos pos pts pld rd rnd avg pop yr yrs qty wt ht pct approx"
"""Short forms that are taken as such without a full stop; others may be words ("comp", "ad", "per")."""

_LEAST_FREQUENCY = 1
"""How often WordNet's sense-tagged texts have a word at least: a "twelvemonth" is no name for a column."""


def synonyms(
    table: Table,
    column: str,
    thesaurus: Thesaurus | Unavailable,
    names: "HeaderNames | Unavailable | None" = None,
    limit: int = 8,
) -> SuggestionList:
    """Suggestions for the header of `column` (an id), best first, at most `limit`.

    None of them is a header of the table, the old one included, in any case. What the thesaurus or the project's
    column names cannot give is named in `missing`. A name that both give counts for more.
    """
    header = table.header[table.column_index(column)]
    cells = table.column(column)
    missing = tuple(source for source in (thesaurus, names) if isinstance(source, Unavailable))
    usual = list(usual_names(header, cells))
    candidates = [*_expanded_short_forms(header), *usual]
    if isinstance(thesaurus, Thesaurus) and not is_whole(usual):
        candidates += from_thesaurus(header, cells, thesaurus)
    if names is not None and not isinstance(names, Unavailable):
        by_columns = names.suggest(table, column)
        project_names = {same_name(suggestion.text) for suggestion in by_columns}
        candidates = [
            candidate if same_name(candidate.text) in project_names else _boost_if_used(candidate, names)
            for candidate in candidates
        ] + by_columns
    candidates = [suggestion for suggestion in candidates if not _repeats_a_word(suggestion.text, header)]
    return SuggestionList(tuple(_best(candidates, names_in_use(table), limit)), missing)


def _repeats_a_word(name: str, header: str) -> bool:
    """Whether a name has a word twice that the header does not: "Geographic geographic position"."""
    counts = Counter(word.text.lower() for word in words_of(name))
    before = Counter(word.text.lower() for word in words_of(header))
    return any(count > max(1, before[word]) for word, count in counts.items())


def _expanded_short_forms(header: str) -> Iterator[Suggestion]:
    """The header with a short form written out: "Pos." is "Position", "No." "Number"."""
    for word in words_of(header):
        stopped = header[word.end : word.end + 1] == "."
        is_abbreviated = (
            stopped and len(word.text) > 1
        ) or word.text.lower() in _SHORT.split()  # not the S of "S.No."
        long = long_forms(word.text) if is_abbreviated else ()
        # "Pos." may be short for "positive" in a text; over a column it is what columns are called.
        long = tuple(text for text in long if is_usual(text)) or long
        for rank, text in enumerate(long[:_MOST_LONG_FORMS]):
            written = in_case_of(header, [word], text)
            yield Suggestion(
                text=header[: word.start] + written + header[word.end + stopped :],
                source="dictionary",
                why=SHORT_FOR.format(word=f"{word.text}{'.' * stopped}", long=text),
                score=0.7 / (rank + 1 if len(long) > 1 else 1),
            )


def _boost_if_used(suggestion: Suggestion, names: "HeaderNames") -> Suggestion:
    """The suggestion, weighed up where columns of the project are called so."""
    columns = names.columns(suggestion.text)
    if not columns:
        return suggestion
    score = min(0.99, suggestion.score * (1 + min(0.4, 0.05 * columns)))  # a rare meaning stays rare
    called = SO_CALLED[columns == 1].format(columns=columns)
    return replace(suggestion, why=_join_reasons(suggestion.why, called), score=score)


def _join_reasons(reason: str, other_reason: str) -> str:
    return joined([reason, other_reason], "; ")


def _best(suggestions: Sequence[Suggestion], used: frozenset[str], limit: int) -> list[Suggestion]:
    merged: dict[str, Suggestion] = {}
    for suggestion in suggestions:
        key = same_name(suggestion.text)
        if not key or key in used or suggestion.score < _LEAST_SCORE:
            continue
        other = merged.get(key)
        if other is None:
            merged[key] = suggestion
        elif other.source == suggestion.source:
            merged[key] = max(other, suggestion, key=lambda candidate: candidate.score)
        else:
            score = 1 - (1 - other.score) * (1 - suggestion.score)
            merged[key] = replace(
                other,
                why=_join_reasons(other.why, suggestion.why),
                score=score,
                sense=other.sense or suggestion.sense,
            )
    ranked = sorted(merged.values(), key=lambda candidate: (-candidate.score, candidate.text))
    least = _LEAST_OF_BEST * ranked[0].score if ranked else 0
    return [candidate for candidate in ranked if candidate.score >= least][:limit]


def from_thesaurus(header: str, cells: Sequence[str], thesaurus: Thesaurus) -> list[Suggestion]:
    """Every header that one word or collocation of `header` makes when another takes its place."""
    kinds = kinds_of(cells)
    words = words_of(header)
    best_by_text: dict[str, Suggestion] = {}
    for phrase, weight in _replaceable_phrases(header, words, thesaurus):
        for suggestion in _replacements(header, phrase, weight, kinds, thesaurus):
            previous = best_by_text.get(suggestion.text)
            if previous is None or previous.score < suggestion.score:
                best_by_text[suggestion.text] = suggestion
    return list(best_by_text.values())


def _replaceable_phrases(
    header: str, words: Sequence[Word], thesaurus: Thesaurus
) -> Iterator[tuple[Sequence[Word], float]]:
    """What can be replaced, and how well: listed collocations, and words that are not small or short forms.

    A word within a collocation ("pole" in "pole position") has another meaning there than elsewhere.
    """
    within: set[int] = set()
    for length in range(_LONGEST_COLLOCATION, 1, -1):
        for start in range(len(words) - length + 1):
            phrase = words[start : start + length]
            if _are_adjacent(header, phrase) and thesaurus.readings(_text(header, phrase)):
                within.update(word.start for word in phrase)
                yield phrase, 1.0
    for word in words:
        short = header[word.end : word.end + 1] == "." or word.text.lower() in _SHORT.split()
        short = short or (word.text.isupper() and len(word.text) <= 4)  # US, GDP, AUS
        short = short or header[word.end : word.end + 1] == "("  # Runner(s)
        hyphened = "-" in (header[word.end : word.end + 1], header[: word.start][-1:])
        if not word.small and not short and not hyphened and len(word.text) > 1:
            yield [word], 0.3 if word.start in within else 1.0


def _text(header: str, phrase: Sequence[Word]) -> str:
    return " ".join(header[phrase[0].start : phrase[-1].end].split())


def _are_adjacent(header: str, words: Sequence[Word]) -> bool:
    gaps = (header[a.end : b.start] for a, b in itertools.pairwise(words))
    return all(gap in (" ", "-", "\n") for gap in gaps)


def _replacements(
    header: str, phrase: Sequence[Word], weight: float, kinds: dict[str, float], thesaurus: Thesaurus
) -> Iterator[Suggestion]:
    text = _text(header, phrase)
    last = phrase[-1].end == max(word.end for word in words_of(header))
    readings = thesaurus.readings(text)
    if any(reading.kind == "n" for reading in readings):
        # "Win" and "Name" name a thing; "Assumed" and "Left", which are no nouns, what was done.
        readings = [reading for reading in readings if reading.kind != "v"]
    for reading in readings:
        senses = thesaurus.senses(reading.word, reading.kind)[: _MOST_SENSES if last else 1]
        for rank, (sense, share) in enumerate(zip(senses, _shares(senses, reading), strict=True)):
            # What a column holds says something about the word that names it, which is the last one.
            fitting = (
                share
                * (fit(sense.domain, kinds) if last else 0.5)
                * _class_weight(reading, thesaurus)
                * weight
            )
            words = {word: fitting for word, _ in sense.words}
            for near in thesaurus.near(sense) if rank < _NEAR_SENSES else ():
                if near.domain != "noun.Tops":  # "entity", "object", "group": of nothing in particular
                    words |= {
                        word: fitting * NEAR
                        for word, _ in near.words[:_MOST_WORDS]
                        if word not in words and " " not in word
                    }
            for word, score in words.items():
                inflected = thesaurus.inflect(word, reading.kind, reading.form)
                if (
                    inflected is not None
                    and (" " in word or thesaurus.frequency(word.lower()) >= _LEAST_FREQUENCY)
                    and word.lower() != reading.word
                    and inflected.lower() != text.lower()
                    and not is_short_form(inflected, text)
                ):
                    yield Suggestion(
                        text=replace_words(header, phrase, inflected),
                        source="thesaurus",
                        why="" if score == fitting else BROADER if reading.kind in "nv" else ALIKE,
                        score=min(0.99, score * _familiarity(word, thesaurus)),
                        sense=_shorten(sense.definition),
                    )


def _shorten(definition: str) -> str:
    if len(definition) <= _LONGEST_SENSE:
        return definition
    return definition[:_LONGEST_SENSE].rsplit(" ", 1)[0].rstrip(" ,;(") + " …"


def _familiarity(word: str, thesaurus: Thesaurus) -> float:
    """0.2 for a word that WordNet's texts do not have, 1 for one that they have 200 times; less for phrases."""
    log_frequency = math.log1p(thesaurus.frequency(word.lower())) / math.log1p(200)
    return (0.2 + 0.8 * min(1.0, log_frequency)) * (1.0, 0.7, 0.4)[min(2, word.count(" "))]


def _shares(senses: Sequence[Sense], reading: WordSense) -> list[float]:
    """How likely each sense is: its count in the sense-tagged texts, and its place in WordNet's order."""
    counts = [
        sum(count for word, count in sense.words if word.lower() == reading.word) + 1 / (rank + 1)
        for rank, sense in enumerate(senses)
    ]
    # The square root, because the texts are newspapers and novels of the 1960s and tables are neither.
    roots = [math.sqrt(count) for count in counts]
    return [root / max(roots) for root in roots]


def _class_weight(reading: WordSense, thesaurus: Thesaurus) -> float:
    """Headers are nouns, or participles ("Won", "Directed by"); a bare verb or an adverb is the rarer reading."""
    usual = {"n": 1.0, "v": 1.0 if reading.form == "past" else 0.25, "a": 0.7, "r": 0.4}[reading.kind]
    return usual if reading.kind == "n" else usual * math.sqrt(thesaurus.class_share(reading))


_MEASURED = ("noun.quantity", "noun.attribute", "noun.possession", "noun.time")
_THINGS = (
    "noun.person",
    "noun.location",
    "noun.animal",
    "noun.plant",
    "noun.artifact",
    "noun.food",
    "noun.body",
)
_RARE = ("noun.plant", "noun.animal", "noun.food", "noun.body", "noun.shape", "noun.feeling", "noun.motive")


def fit(domain: str, kinds: dict[str, float]) -> float:
    """How well a meaning of this domain (`Sense.domain`) goes with the kinds of a column's cells: 0.15 to 1.

    Times go with dates, years and times; quantities, attributes and possessions with numbers; persons, places and
    things with texts. Any other pair is neither here nor there (0.7). Without cells everything fits.
    """
    if not kinds:
        return 1.0
    return sum(share * _fit(domain, kind) for kind, share in kinds.items())


def _fit(domain: str, kind: str) -> float:
    if kind in ("date", "time", "year"):
        return 1.0 if domain == "noun.time" else 0.15 if domain in (*_THINGS, "noun.group") else 0.5
    if kind == "number":
        return 1.0 if domain in _MEASURED else 0.3 if domain in _THINGS else 0.7
    if kind == "mixed":
        return 0.7
    if domain in _RARE:
        return 0.5
    return 1.0 if domain in _THINGS else 0.5 if domain in ("noun.quantity", "noun.time") else 0.7
