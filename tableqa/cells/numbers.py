"""The number that a text is, with its sign, its precision and its unit."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from ..core.release_rules import version
from .folding import fold, without_notes

_LONGEST = 80
"""Characters up to which a text is tried as a number."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written in a text.

    value      its value, exactly, with sign and scale word ("3 million" is 3000000); a percentage is not divided by 100
    unit       its unit in one spelling: "%", "$", "EUR", "km", "year", ...; "" if there is none
    decimals   digits after the point, as written
    digits     significant digits, as written
    plain      whether the text is a bare literal: sign, digits, point and exponent, nothing else
    fraction   (whole, numerator, denominator) where it is written as a fraction: "2 1/2" is (2, 1, 2)
    """

    value: Decimal
    unit: str = ""
    decimals: int = 0
    digits: int = 0
    plain: bool = False
    fraction: tuple[int, int, int] | None = None


_CURRENCIES = {
    "$": ("$", "us$", "usd", "dollar", "dollars", "us dollar", "us dollars"),
    "EUR": ("€", "eur", "euro", "euros"),
    "GBP": ("£", "gbp"),
    "JPY": ("¥", "jpy", "yen"),
    "INR": ("₹", "rs", "rs.", "inr", "rupee", "rupees"),
    "CNY": ("cny", "rmb", "yuan"),
    "KRW": ("₩", "krw", "won"),
    "RUB": ("₽", "rub", "ruble", "rubles", "rouble", "roubles"),
    "TRY": ("₺",),
    "UAH": ("₴",),
    "ILS": ("₪", "nis", "ils"),
    "THB": ("฿", "thb", "baht"),
    "VND": ("₫", "vnd"),
    "NGN": ("₦", "ngn", "naira"),
    "PHP": ("₱", "php"),
    "CHF": ("chf",),
    "SEK": ("sek",),
    "NOK": ("nok",),
    "DKK": ("dkk",),
    "kr": ("kr", "kr."),
    "CAD": ("c$", "ca$", "cad"),
    "AUD": ("a$", "au$", "aud"),
    "NZD": ("nz$", "nzd"),
    "HKD": ("hk$", "hkd"),
    "SGD": ("s$", "sgd"),
    "TWD": ("nt$", "twd"),
    "BRL": ("r$", "brl"),
    "cent": ("¢", "cent", "cents"),
}

_MEASURES = {
    "%": ("%", "percent", "per cent", "pct"),
    "‰": ("‰", "per mille"),
    "pp": ("pp", "percentage point", "percentage points"),
    "bp": ("bp", "bps", "basis point", "basis points"),
    "year": ("year", "years", "yr", "yrs", "years old", "year old"),
    "month": ("month", "months"),
    "week": ("week", "weeks", "wk", "wks"),
    "day": ("day", "days"),
    "hour": ("hour", "hours", "hr", "hrs", "h"),
    "minute": ("minute", "minutes", "min", "mins"),
    "second": ("second", "seconds", "sec", "secs", "s"),
    "km": ("km", "kms", "kilometre", "kilometres", "kilometer", "kilometers"),
    "m": ("m", "metre", "metres", "meter", "meters"),
    "cm": ("cm", "centimetre", "centimetres", "centimeter", "centimeters"),
    "mm": ("mm", "millimetre", "millimetres", "millimeter", "millimeters"),
    "mile": ("mi", "mile", "miles"),
    "foot": ("ft", "foot", "feet"),
    "inch": ("inch", "inches"),
    "yard": ("yd", "yds", "yard", "yards"),
    "km2": ("km2", "sq km", "square kilometre", "square kilometres", "square kilometer", "square kilometers"),
    "m2": ("m2", "sq m", "square metre", "square metres", "square meter", "square meters"),
    "mile2": ("mi2", "sq mi", "square mile", "square miles"),
    "hectare": ("ha", "hectare", "hectares"),
    "acre": ("acre", "acres"),
    "kg": ("kg", "kgs", "kilogram", "kilograms"),
    "g": ("g", "gram", "grams"),
    "pound": ("lb", "lbs", "pound", "pounds"),
    "tonne": ("t", "tonne", "tonnes", "ton", "tons"),
    "litre": ("litre", "litres", "liter", "liters"),
    "km/h": ("km/h", "kph", "kmh"),
    "mph": ("mph",),
    "°C": ("°c",),
    "°F": ("°f",),
    "°": ("°", "degree", "degrees"),
    "W": ("watt", "watts"),
    "kW": ("kw",),
    "MW": ("mw",),
    "GW": ("gw",),
    "kWh": ("kwh",),
    "MB": ("mb",),
    "GB": ("gb",),
    "Hz": ("hz",),
    "kHz": ("khz",),
    "MHz": ("mhz",),
    "person": ("person", "persons", "people", "inhabitants"),
    "man": ("man", "men"),
    "woman": ("woman", "women"),
    "child": ("child", "children"),
    "country": ("country", "countries"),
    "party": ("party", "parties"),
    "city": ("city", "cities"),
    "match": ("match", "matches"),
    "loss": ("loss", "losses"),
    "point": ("point", "points", "pt", "pts"),
    "times": ("time", "times", "x"),
}

_NUMBERED = "no."
"""The unit of "#5" and "No. 5"."""

_CURRENCY_UNITS = {spelling: unit for unit, spellings in _CURRENCIES.items() for spelling in spellings}
_UNITS = _CURRENCY_UNITS | {spelling: unit for unit, spellings in _MEASURES.items() for spelling in spellings}

_SCALES = {
    "hundred": 2,
    "thousand": 3,
    "million": 6,
    "millions": 6,
    "mn": 6,
    "mln": 6,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "trillion": 12,
    "trillions": 12,
    "tn": 12,
}
_MONEY_SCALES = {"k": 3, "m": 6, "b": 9, "t": 12}
"""Scales that are letters: only after a currency sign, elsewhere "5 m" is metres."""

_SIGNS_IN_FRONT = [
    spelling
    for spelling in _CURRENCY_UNITS
    if not spelling.isalpha() or spelling == "rs" or (len(spelling) == 3 and spelling not in ("yen", "won"))
]
_PREFIX = f"(?:{'|'.join(map(re.escape, sorted(_SIGNS_IN_FRONT, key=len, reverse=True)))})"
_DIGITS = (
    r"(?P<whole>\d{1,3}(?:,\d{3})+"  # 1,234,567
    r"|\d{1,3}(?: \d{3})+|\d{1,3}(?:'\d{3})+"  # 1 234 567, 1'234'567
    r"|\d{1,3}(?:\.\d{3}){2,}"  # 1.234.567: two points cannot be decimal
    r"|\d{1,2}(?:,\d{2})+,\d{3}"  # 12,34,567 (Indian)
    r"|\d+)?"
    r"(?:\.(?P<decimals>\d*))?(?:[eE](?P<exponent>[+-]?\d{1,3}))?"
)
_WRITTEN = re.compile(
    rf"(?P<sign>[+-])? ?(?:(?P<prefix>{_PREFIX}|#|(?:no|nr)\.(?= ?\d)) ?(?P<inner_sign>[+-])?)? ?"
    rf"{_DIGITS}(?P<rest>(?![\d.,]).*)",
    re.IGNORECASE,
)
_IN_BRACKETS = rf"(?P<prefix>{_PREFIX})? ?\((?P<inner>[^()]*)\)"
_BEFORE_RULES_10 = re.compile(rf"{_IN_BRACKETS} ?(?P<rest>%?)", re.IGNORECASE)
_BEHIND = [*(spelling for unit in ("%", "‰", "pp", "bp") for spelling in _MEASURES[unit]), *_CURRENCY_UNITS]
_BRACKETED = re.compile(
    rf"{_IN_BRACKETS}(?P<rest>(?: ?(?:{'|'.join(_SCALES)})\b)?(?: ?(?:{'|'.join(map(re.escape, _BEHIND))})\.?)?)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_FRACTION = re.compile(
    r"(?P<sign>-)?(?:(?P<whole>\d{1,6})[ -])?(?P<numerator>[1-9])[/⁄](?P<denominator>[2-9]|10)"
)
_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_PLURAL = re.compile(r"[a-z]{2,20}[a-rt-z]s")


def number_of(text: str) -> Number | None:
    """The number that `text` is, None if it is none: "1,234", "(9.9)", "-$5.20", "50 %", "3 million", "12 years", "three".

    Brackets around a number mean minus (accounting), also before a scale, a currency or a share: "(190) bps". Only "(1991)"
    may as well be a year, and has no reading. A unit is one of a list, or a plural in lower case. "12 Angry Men" is no
    number, nor are ordinals ("10th"), ranges ("1996-97"), "1_000", "inf" and "nan". Years are numbers like others.
    """
    return _number_of(text, _BRACKETED if version() >= 10 else _BEFORE_RULES_10)


@lru_cache(maxsize=16_384)
def _number_of(text: str, bracketed: re.Pattern[str]) -> Number | None:
    if not text or len(text) > _LONGEST:
        return None
    folded = without_notes(fold(text))
    if match := bracketed.fullmatch(folded):
        inner = _number_in_digits(f"{match['prefix'] or ''}{match['inner'].strip()}{match['rest']}")
        if inner is None or inner.value.is_signed() or "+" in folded or _YEAR.fullmatch(match["inner"]):
            return None
        return Number(-inner.value, inner.unit, inner.decimals, inner.digits)
    return _number_in_digits(folded) or _fraction(folded) or _in_words(folded.lower())


def _number_in_digits(text: str) -> Number | None:
    match = _WRITTEN.fullmatch(text)
    if not match or not (match["whole"] or match["decimals"]):
        return None
    if match["sign"] and match["inner_sign"]:
        return None
    prefix = (match["prefix"] or "").lower()
    unit = "" if not prefix else _CURRENCY_UNITS.get(prefix, _NUMBERED)
    rest = _scale_and_unit(match["rest"], unit)
    if rest is None:
        return None
    power, unit = rest
    whole = re.sub(r"\D", "", match["whole"] or "")
    decimals = match["decimals"] or ""
    sign = "-" if "-" in (match["sign"], match["inner_sign"]) else ""
    value = Decimal(f"{sign}{whole}.{decimals}E{int(match['exponent'] or 0) + power}")
    return Number(
        value=value,
        unit=unit,
        decimals=len(decimals) if not power and not match["exponent"] else 0,
        digits=len((whole + decimals).lstrip("0")),
        plain=_PLAIN.fullmatch(text) is not None,
    )


def _scale_and_unit(rest: str, unit: str) -> tuple[int, str] | None:
    """The power of ten and the unit that are after the digits; None if it is something else."""
    if not rest:
        return 0, unit
    spaced, rest = rest.startswith(" "), rest.strip()
    first, _, others = rest.partition(" ")
    power = _SCALES.get(first.lower(), 0)
    if not power and unit and not spaced:
        power = _MONEY_SCALES.get(first.lower(), 0)
    if power:
        rest = others.strip()
    if not rest:
        return power, unit
    if rest == "s" and not spaced:
        return None  # the 1990s, not 1,990 seconds
    parsed_unit = _unit(rest)
    if parsed_unit is None or (unit and unit != parsed_unit):
        return None
    return power, parsed_unit


def _unit(text: str) -> str | None:
    # One letter is a unit in lower case only: "5 s", but not "5 S".
    spelled = text if len(text) == 1 else text.lower()
    spelled = spelled.replace("^", "").removesuffix("." if len(spelled) > 1 else "")
    if spelled in _UNITS:
        return _UNITS[spelled]
    return text[:-1] if _PLURAL.fullmatch(text) else None


def _fraction(text: str) -> Number | None:
    match = _FRACTION.fullmatch(text)
    if not match:
        return None
    whole, numerator, denominator = (
        int(match["whole"] or 0),
        int(match["numerator"]),
        int(match["denominator"]),
    )
    if numerator >= denominator:
        return None
    value = whole + Decimal(numerator) / denominator
    return Number(-value if match["sign"] else value, fraction=(whole, numerator, denominator))


_BELOW_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ONES = {word: value for value, word in enumerate(_BELOW_TWENTY.split())}
_FROM_TWENTY = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * value for value, word in enumerate(_FROM_TWENTY.split(), 2)}
_FIRST_WORDS = frozenset((*_ONES, *_TENS, "a", "an", "minus"))
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


def _in_words(text: str) -> Number | None:
    words = text.replace("-", " ").split()
    if not words or words[0] not in _FIRST_WORDS:
        return None
    negative = words[0] == "minus"
    words = words[negative:]
    if words[:1] in (["a"], ["an"]) and words[1:2] and words[1] in ("hundred", *_LARGE):
        words[0] = "one"
    total, used, last = 0, 0, 10**15
    while used < len(words):
        group, length = _below_thousand(words[used:])
        if not length:
            break
        large = words[used + length] if used + length < len(words) else ""
        size = _LARGE.get(large, 1)
        if size >= last:
            return None
        total, used, last = total + group * size, used + length + (size > 1), size
        if words[used : used + 1] == ["and"] and size > 1:
            used += 1
        if size == 1:
            break
    if not used:
        return None
    unit = _unit(" ".join(words[used:])) if used < len(words) else ""
    return None if unit is None else Number(Decimal(-total if negative else total), unit)


def _below_thousand(words: list[str]) -> tuple[int, int]:
    """(value, words used) of the number below 1,000 at the start of `words`; (0, 0) if there is none."""
    value, used = _below_hundred(words)
    if used and value and words[used : used + 1] == ["hundred"]:
        value, used = value * 100, used + 1
        step = int(words[used : used + 1] == ["and"])
        rest, length = _below_hundred(words[used + step :])
        if length and rest:
            value, used = value + rest, used + step + length
    return value, used


def _below_hundred(words: list[str]) -> tuple[int, int]:
    if words and words[0] in _TENS:
        ones = _ONES.get(words[1], 0) if len(words) > 1 else 0
        return (_TENS[words[0]] + ones, 2) if 0 < ones < 10 else (_TENS[words[0]], 1)
    if words and words[0] in _ONES:
        return _ONES[words[0]], 1
    return 0, 0
