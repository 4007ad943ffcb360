"""Answers as denotations: whether two lists of answers say the same, and if not, how they differ.

Every verdict of the platform, of a task, a contract, a metric or a fooling check, comes from `compare`. Published
matchers are too strict or too lax in ways that decide benchmarks: of the answers that WikiTableQuestions' own rule
accepts, plain string comparison rejects 2.7 % and TAPEX's rule 2.6 %, each a false "fooled"; and that rule takes
"C++" for "C" and an empty answer for "[1]". Here a difference has a name.
"""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import cached_property, lru_cache
from typing import Any, Literal

from ..cells import Date, Number, dates_of, fold, number_of, time_of, without_details, without_notes
from ..core.release_rules import version
from ..core.translation import gettext

Difference = Literal["form", "unit", "rounding", "order", "sign", "scale", "partial", "value"]

SCALES = (100, 10**3, 10**6, 10**9, 10**12)
"""Factors by which one number may be another in a different scale: percent, thousands, millions, ..."""

LONG_ANSWER = 8
"""Words from which on an answer is a sentence, which no exact match can judge."""

_RULES_OF_ALTERNATIVES = 10
_TOLERANCE = Decimal("1e-6")
"""Numbers nearer than this are equal, as in WikiTableQuestions' rule."""

_MOST_PAIRS = 2_500
"""Pairs of answers left over after the obvious ones that are all compared; of more, only those that may be equal."""
_MOST_LIKELY_PAIRS = 250_000
"""Of more pairs that may be equal, none is compared."""
_LONGEST_PATH = 200
"""Pairs that change at most for one more, which is a depth of recursion."""


def are_sentences(many: Iterable[Sequence[str]]) -> bool:
    """Whether most lists of answers are one answer of `LONG_ANSWER` words or more, as FeTaQA's."""
    lengths = [len(answers) == 1 and len(answers[0].split()) >= LONG_ANSWER for answers in many]
    return 2 * sum(lengths) > len(lengths)


class Answers(tuple[str, ...]):
    """Gold answers that may be said in other ways: each of the `alternatives` is a whole list that is right in their place.

    Half of a list is no alternative. Equal to other answers only where these have the same alternatives. Code that knows
    texts alone takes the first form. `is_month_first`: 5/12/2019 is 12 May, as in other dates of the table.
    """

    alternatives: tuple[tuple[str, ...], ...]
    is_month_first: bool

    def __new__(
        cls,
        answers: Iterable[str],
        alternatives: Iterable[Iterable[str]] = (),
        is_month_first: bool = False,
    ) -> "Answers":
        instance = super().__new__(cls, answers)
        instance.alternatives, instance.is_month_first = tuple(map(tuple, alternatives)), is_month_first
        return instance

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) is True and self.alternatives == alternatives_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def with_alternatives(
    answers: Iterable[str], alternatives: Iterable[Iterable[str]], is_month_first: bool = False
) -> tuple[str, ...]:
    """Answers with their other forms, each form once: `Answers` where there is more to say, else a plain tuple."""
    first, *others = dict.fromkeys([tuple(answers), *map(tuple, alternatives)])
    return Answers(first, others, is_month_first) if others or is_month_first else first


def alternatives_of(answers: object) -> tuple[tuple[str, ...], ...]:
    """The other forms of gold answers; () of a list that has none."""
    return getattr(answers, "alternatives", ())


def is_month_first(answers: object) -> bool:
    """Whether gold answers say that 5/12/2019 is 12 May; else it is 5 December."""
    return getattr(answers, "is_month_first", False)


def accepted(answers: Sequence[str]) -> tuple[Sequence[str], ...]:
    """Every list of answers that is right: the answers themselves, then their alternatives. Rules before 10 know none."""
    alternatives = alternatives_of(answers) if version() >= _RULES_OF_ALTERNATIVES else ()
    if not alternatives:
        return (answers,)
    forms = tuple(answers), *alternatives
    return tuple(Answers(form, (), True) for form in forms) if is_month_first(answers) else forms


def gold_record(answers: Sequence[str]) -> dict[str, list[Any]]:
    """{"answers"} for a record, and "alternatives" where there are any."""
    alternatives = list(map(list, alternatives_of(answers)))
    return {"answers": list(answers)} | ({"alternatives": alternatives} if alternatives else {})


def in_words(answers: Sequence[str]) -> str:
    """Answers after each other, then their other forms: "Broncos or Denver Broncos"; "" for none."""
    return f" {gettext('or')} ".join(" | ".join(form) for form in accepted(answers))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether two lists of answers say the same, and how they differ.

    equal, difference None       equal by the published rule of WikiTableQuestions, notes at the end of a text aside
    equal, with a note           "form" (the same thing written differently: three / 3, 7 April 1991 / 1991-04-07),
                                 "unit" (one side leaves the unit out), "rounding" (one is the other rounded),
                                 "order" (the same answers in another order)
    not equal, with a name       "sign" (only the sign differs), "scale" (one is the other times `factor`), "partial" (some
                                 answers are common; or, where order counts, all but elsewhere), "value" (anything else)
    """

    equal: bool
    difference: Difference | None = None
    factor: int | None = None


def compare(predicted: Sequence[str], gold: Sequence[str], ordered: bool = False) -> Comparison:
    """Compare two lists of answers: as sets, unless `ordered`; neither side is privileged.

    An answer given twice counts once. Texts are compared without accents, case, outer quotes, notes and, where only one
    side has them, details in brackets at the end ("Ann (USA)"); numbers by value, unit and precision; dates part by part,
    so that a year never equals a full date. Where several answers differ, the gravest note is given. A plain string is
    taken as a list of one. Any strings can be compared; TypeError if something is no string. Of answers with alternatives
    (`Answers`) the form counts that is nearest. In a date that can be read in two ways the day is first, unless `Answers`
    say otherwise.
    """
    first = is_month_first(predicted) or is_month_first(gold)
    pairs = (
        (_readings(candidate, first), _readings(other, first))
        for candidate in accepted(predicted)
        for other in accepted(gold)
    )
    comparisons = (
        _compare_in_order(predicted_readings, gold_readings)
        if ordered
        else _compare_sets(_without_repeats(predicted_readings), _without_repeats(gold_readings))
        for predicted_readings, gold_readings in pairs
    )
    return min(comparisons, key=lambda candidate: (not candidate.equal, _GRAVITY.index(candidate.difference)))


def texts_that_say(texts: Collection[str], answers: Sequence[str]) -> set[str]:
    """The texts that say one of the answers (`compare([text], [answer]).equal`); each is read once."""
    answer_readings = _readings(answers)
    return {
        text
        for text, reading in zip(texts, _readings(texts), strict=True)
        if any(_compare_answers(reading, answer_reading).equal for answer_reading in answer_readings)
    }


def normal_forms(text: str) -> tuple[str, ...]:
    """The forms by which an answer is recognised, the plainest first, each once.

    The folded text in lower case; the same without details in brackets; the number that it is, in decimal notation with
    its unit; the dates that it can be, in ISO 8601; its loose spelling, or the one name of something with several.
    """
    reading = _read(text, version())
    forms = [reading.full, reading.bare]
    if number := reading.number:
        value = f"{number.value.normalize():f}" if abs(number.value.adjusted()) < 40 else str(number.value)
        forms.append(f"{'0' if not number.value else value} {number.unit}".strip())
    forms += [str(date) for date in reading.dates]
    forms.append(reading.loose)
    return tuple(dict.fromkeys(forms))


# One answer -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ParsedAnswer:
    """What is seen in one answer, each part when it is first compared: most differ in `full` from one that is a text.

    `full` keeps details in brackets at the end, `bare` does not, `loose` is `full` freed of full stops and the like and
    replaced by the one name of something that has several. Readings are kept by rules, which count for all parts.
    """

    answer: str
    text: str
    full: str
    month_first: bool | None

    @cached_property
    def bare(self) -> str:
        return _normal(without_details(without_notes(fold(self.answer)))) if ")" in self.full else self.full

    @cached_property
    def loose(self) -> str:
        return _loose(self.full)

    @cached_property
    def number(self) -> Number | None:
        return number_of(self.answer)

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        dates = dates_of(self.answer)
        if len(dates) == 2 and self.month_first is not None:
            return dates[1:] if self.month_first else dates[:1]
        return dates

    @cached_property
    def time(self) -> tuple[object, ...] | None:
        time = time_of(self.answer)
        return (time.parts, time.fraction) if time else None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal keys are answers given twice."""
        if self.number and not self.number.fraction:
            return self.number.value, self.number.unit
        return (self.full,)


def _readings(answers: Iterable[str], month_first: bool | None = None) -> list[_ParsedAnswer]:
    """The readings of answers. `month_first` parts the two readings of a date; None leaves both, as rules before 10 did."""
    if isinstance(answers, str):
        answers = [answers]
    for answer in answers:
        if not isinstance(answer, str):
            raise TypeError(f"an answer is a string, not {answer!r}")
    rules = version()
    order = month_first if rules >= _RULES_OF_ALTERNATIVES else None
    return [
        _read(answer, rules, order) if len(answer) < 1_000 else _read_anew(answer, rules, order)
        for answer in answers
    ]


def _read_anew(text: str, rules: int, month_first: bool | None = None) -> _ParsedAnswer:
    """The reading of a text; `rules` are those that count here (`version`), by which readings are kept."""
    return _ParsedAnswer(text, text.strip(), _normal(text), month_first)


_read = lru_cache(maxsize=16_384)(_read_anew)


def _normal(text: str) -> str:
    """The text without what WikiTableQuestions' rule leaves out; what would leave nothing stays as it is."""
    current = fold(text).lower()
    for _ in range(20):
        bare = without_notes(current)
        if len(bare) > 2 and bare[0] == bare[-1] == '"' and '"' not in bare[1:-1]:
            bare = bare[1:-1].strip()
        if len(bare) > 1 and bare.endswith(".") and not bare.endswith(".."):
            bare = bare[:-1].rstrip()
        if not bare or bare == current:
            break
        current = bare
    return current


_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"}
)
_STOPS = re.compile(r"(?<!\d)\.|\.(?!\d)")
_AROUND_SIGNS = re.compile(r" ?([-,:;/⁄]) ?")
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")

_ONE_NAME = {
    "united states": ("usa", "us", "united states of america", "us of a"),
    "united kingdom": ("uk", "united kingdom of great britain and northern ireland"),
    "united arab emirates": ("uae",),
    "soviet union": ("ussr", "union of soviet socialist republics"),
    "european union": ("eu",),
    "south korea": ("republic of korea", "korea republic", "korea,south"),
    "north korea": ("dpr korea", "korea dpr", "democratic people's republic of korea", "korea,north"),
    "china": ("pr china", "people's republic of china", "china pr", "prc"),
    "taiwan": ("chinese taipei",),
    "russia": ("russian federation",),
    "iran": ("islamic republic of iran", "ir iran"),
    "czech republic": ("czechia",),
    "ivory coast": ("cote d'ivoire",),
    "east germany": ("german democratic republic", "gdr"),
    "west germany": ("federal republic of germany", "frg"),
    "myanmar": ("burma",),
    "eswatini": ("swaziland",),
    "north macedonia": ("fyr macedonia", "former yugoslav republic of macedonia"),
    "cape verde": ("cabo verde",),
    "east timor": ("timor leste",),
    "democratic republic of congo": ("dr congo", "democratic republic of the congo", "congo dr"),
    "republic of ireland": ("ireland",),
    "new york city": ("nyc",),
    "washington,dc": ("washington dc",),
}
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_NAMES = {other: name for name, others in _ONE_NAME.items() for other in others}
_NAMES |= {word: f"{i}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(i, 'th') }" for i, word in enumerate(_ORDINALS, 1)}


def _loose(full: str) -> str:
    loose = full
    if not (full.isascii() and full.replace(" ", "").isalnum()):  # most are plain letters and digits
        loose = full.translate(_LETTERS).replace("&", " and ")
        loose = _BETWEEN_LETTERS.sub(" ", _AROUND_SIGNS.sub(r"\1", _STOPS.sub("", loose)))
        loose = " ".join(loose.replace("⁄", "/").split())
    loose = loose.removeprefix("the ")
    return _NAMES.get(loose, loose) or full


_DIFFERENT = Comparison(equal=False, difference="value")


def _compare_answers(first: _ParsedAnswer, second: _ParsedAnswer) -> Comparison:
    if (
        first.text == second.text
        or first.full == second.full
        or first.bare == second.full
        or first.full == second.bare
    ):
        return Comparison(equal=True)
    if second.number and first.number:
        return _compare_numbers(first.number, second.number)
    if second.dates and first.dates and _same_date(first.dates, second.dates):
        return Comparison(equal=True, difference="form")
    if second.time and first.time == second.time:
        return Comparison(equal=True, difference="form")
    if first.loose == second.loose:
        return Comparison(equal=True, difference="form")
    return _DIFFERENT


def _same_date(some: tuple[Date, ...], others: tuple[Date, ...]) -> bool:
    # Two dates of two readings each are written in one way: 07/04/1991 is 7/4/1991, and not 04/07/1991.
    if len(some) == len(others):
        return some == others
    return bool(set(some) & set(others))


def _compare_numbers(first: Number, second: Number) -> Comparison:
    if first.unit and second.unit and first.unit != second.unit:
        return _DIFFERENT
    if first.fraction and second.fraction:
        same = first.fraction == second.fraction and first.value == second.value
        return Comparison(equal=True, difference="form") if same else _DIFFERENT
    if _near(first.value, second.value):
        if first.unit != second.unit:
            return Comparison(equal=True, difference="unit")
        return Comparison(equal=True, difference=None if first.plain and second.plain else "form")
    if first.fraction or second.fraction:
        return _DIFFERENT
    if _rounded(first, second):
        return Comparison(equal=True, difference="rounding")
    if _near(-first.value, second.value) or _rounded(first, second, times=-1):
        return Comparison(equal=False, difference="sign")
    small, large = sorted((first, second), key=lambda number: abs(number.value))
    for factor in SCALES:
        if _near(small.value * factor, large.value) or _rounded(small, large, times=factor):
            return Comparison(equal=False, difference="scale", factor=factor)
    return _DIFFERENT


def _near(first: Decimal, second: Decimal) -> bool:
    size = max(abs(first), abs(second))
    # Below a thousandth the published tolerance would make different numbers equal.
    return abs(first - second) <= (_TOLERANCE if size >= Decimal("0.001") else size * _TOLERANCE)


def _rounded(first: Number, second: Number, times: int = 1) -> bool:
    """Whether of `times` x `first` and `second` the one with fewer decimals is the other rounded, or cut off after three.

    Only where enough is left to tell: two decimals, or one decimal and three significant digits. 12 is not 12.4.
    """
    shift = max(len(str(abs(times))) - 1, 0)
    scaled = (first.value * times, max(first.decimals - shift, 0), first.digits)
    (fine, _, _), (coarse, decimals, digits) = sorted(
        (scaled, (second.value, second.decimals, second.digits)), key=lambda number: -number[1]
    )
    if scaled[1] == second.decimals or decimals < 1 or (decimals == 1 and digits < 3):
        return False
    last = Decimal(1).scaleb(-decimals)
    cut_off = decimals >= 3 and coarse * fine > 0 and 0 <= abs(fine) - abs(coarse) < last
    return abs(fine - coarse) <= last / 2 or cut_off


# Several answers ------------------------------------------------------------------------------------------------------


_GRAVITY = (None, "order", "form", "unit", "rounding", "sign", "scale", "partial", "value")


def _gravest(notes: Iterable[Difference | None]) -> Difference | None:
    return max(notes, key=_GRAVITY.index, default=None)


def _without_repeats(readings: Iterable[_ParsedAnswer]) -> list[_ParsedAnswer]:
    first: dict[tuple[object, ...], _ParsedAnswer] = {}
    for reading in readings:
        first.setdefault(reading.key, reading)
    return list(first.values())


def _compare_in_order(predicted: Sequence[_ParsedAnswer], gold: Sequence[_ParsedAnswer]) -> Comparison:
    if len(predicted) == len(gold):
        singles = [_compare_answers(first, second) for first, second in zip(predicted, gold, strict=True)]
        if all(single.equal for single in singles):
            return Comparison(equal=True, difference=_gravest(single.difference for single in singles))
        names = {(single.difference, single.factor) for single in singles if not single.equal}
        if len(names) == 1 and (name := names.pop())[0] != "value":
            return Comparison(equal=False, difference=name[0], factor=name[1])
        if any(single.equal for single in singles):
            return Comparison(equal=False, difference="partial")
    common = _pair(predicted, gold, lambda first, second: _compare_answers(first, second).equal)
    return Comparison(equal=False, difference="partial") if common else _DIFFERENT


def _compare_sets(predicted: Sequence[_ParsedAnswer], gold: Sequence[_ParsedAnswer]) -> Comparison:
    pairs = _pair(predicted, gold, lambda first, second: _compare_answers(first, second).equal)
    if len(predicted) == len(gold) == len(pairs):
        notes = [_compare_answers(predicted[i], gold[j]).difference for i, j in pairs.items()]
        notes.append("order" if any(i != j for i, j in pairs.items()) else None)
        return Comparison(equal=True, difference=_gravest(notes))
    if len(predicted) == len(gold):
        paired = set(pairs.values())
        rest_predicted = [reading for i, reading in enumerate(predicted) if i not in pairs]
        rest_gold = [reading for j, reading in enumerate(gold) if j not in paired]
        if (name := _shared_difference(rest_predicted, rest_gold)) is not None:
            return name
    return Comparison(equal=False, difference="partial") if pairs else _DIFFERENT


def _shared_difference(
    predicted: Sequence[_ParsedAnswer], gold: Sequence[_ParsedAnswer]
) -> Comparison | None:
    """The one difference, sign or scale, that explains all the answers that have no equal; None if there is none."""
    if len(predicted) * len(gold) > _MOST_PAIRS:
        return _shared_difference_of_numbers(predicted, gold) if version() >= 8 else None
    names = [_compare_answers(predicted[0], other) for other in gold]
    for name in dict.fromkeys(name for name in names if name.difference in ("sign", "scale")):

        def has_that_difference(first: _ParsedAnswer, second: _ParsedAnswer, name: Comparison = name) -> bool:
            return _compare_answers(first, second) == name

        if len(_pair(predicted, gold, has_that_difference)) == len(predicted):
            return name
    return None


def _shared_difference_of_numbers(
    predicted: Sequence[_ParsedAnswer], gold: Sequence[_ParsedAnswer]
) -> Comparison | None:
    """The same for many numbers. Signs and scales keep the order of sizes, so each number has only one counterpart."""
    numbers = [[each.number for each in side if each.number] for side in (predicted, gold)]
    sides = [sorted(side, key=lambda number: abs(number.value)) for side in numbers]
    if any(len(side) != len(predicted) for side in sides):
        return None
    names = {_compare_numbers(first, second) for first, second in zip(*sides, strict=True)}
    name = names.pop()
    return name if not names and name.difference in ("sign", "scale") else None


def _pair(
    predicted: Sequence[_ParsedAnswer],
    gold: Sequence[_ParsedAnswer],
    fits: Callable[[_ParsedAnswer, _ParsedAnswer], bool],
) -> dict[int, int]:
    """A largest pairing of places in `predicted` with places in `gold` whose answers fit, each used once.

    Answers with one key are paired first; for the others paths are augmented (Kuhn). `fits` is not asked about pairs of
    many answers that cannot be equal.
    """
    places = {reading.key: j for j, reading in enumerate(gold)}
    pairs = {}
    for i, reading in enumerate(predicted):
        j = places.pop(reading.key, None)
        if j is not None and fits(reading, gold[j]):
            pairs[i] = j
    partners = {j: i for i, j in pairs.items()}
    open_predicted = [i for i in range(len(predicted)) if i not in pairs]
    open_gold = [j for j in range(len(gold)) if j not in partners]
    likely: Mapping[int, Sequence[int]] = dict.fromkeys(open_predicted, open_gold)
    if len(open_predicted) * len(open_gold) > _MOST_PAIRS:
        likely = _likely(predicted, gold, open_predicted, open_gold) if version() >= 8 else {}
        if not likely or sum(map(len, likely.values())) > _MOST_LIKELY_PAIRS:
            return pairs
    fitting = {i: [j for j in likely[i] if fits(predicted[i], gold[j])] for i in open_predicted}

    def find_partner(i: int, tried: set[int], depth: int = 0) -> bool:
        for j in fitting[i]:
            if j not in tried:
                tried.add(j)
                if j not in partners or (
                    depth < _LONGEST_PATH and find_partner(partners[j], tried, depth + 1)
                ):
                    partners[j] = i
                    return True
        return False

    for i in open_predicted:
        find_partner(i, set())
    return {i: j for j, i in partners.items()}


def _likely(
    predicted: Sequence[_ParsedAnswer],
    gold: Sequence[_ParsedAnswer],
    open_predicted: Sequence[int],
    open_gold: Sequence[int],
) -> dict[int, list[int]]:
    """The places in `gold` whose answer may equal the one at a place in `predicted`: both have a form in common."""
    levels = {_level(each.number) for each in (*predicted, *gold) if each.number}
    places: dict[Hashable, list[int]] = {}
    for j in open_gold:
        for form in _forms(gold[j], levels):
            places.setdefault(form, []).append(j)
    likely = {i: _forms(predicted[i], levels, asks=True) for i in open_predicted}
    return {i: sorted({j for form in forms for j in places.get(form, ())}) for i, forms in likely.items()}


def _forms(reading: _ParsedAnswer, levels: Iterable[int], *, asks: bool = False) -> set[Hashable]:
    """What an answer has in common with every equal one: a text, a date, a time, or a number in units of the last decimal
    of the coarser one. The side that asks gives or takes one unit."""
    forms: set[Hashable] = {("text", reading.text), ("text", reading.full), ("text", reading.bare)}
    forms |= {("loose", reading.loose), *reading.dates}
    if reading.time:
        forms.add(("time", reading.time))
    if number := reading.number:
        own = _level(number)
        for level in (each for each in levels if each <= own):
            is_long = number.value.adjusted() >= 20
            units = number.value if is_long else number.value.scaleb(level).to_integral_value(ROUND_FLOOR)
            if asks:  # a coarser number at its own level, or any at this one's
                name = "any" if level == own else "own"
                forms |= {(name, level, units + step) for step in (-1, 0, 1)}
            else:
                forms |= {("any", level, units), *([("own", level, units)] if level == own else [])}
    return forms


def _level(number: Number) -> int:
    """The decimals that tell numbers apart: beyond five, different ones are equal (`_TOLERANCE`)."""
    return min(number.decimals, 5)
