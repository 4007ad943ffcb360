"""How a cell is written, so that an edit can be held against its column.

Released human edits are full of "13.50" that became "13.5" and "October 31" that became "31-Oct". The check points such
things out; it never rewrites. The browser has the same rules, tested on the same vectors, so they are kept to what
regular expressions say in both languages.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_LONGEST = 60
"""Characters up to which a text is looked at; anything longer is text."""

_CURRENCY = (
    r"(?:[A-Z]{0,3}[$€£¥₹₩₽₺₴₪฿₫₦₱]|(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY|SEK|NOK|DKK|Rs\.?)(?= ?[0-9(+-]))"
)
_NUMBER = re.compile(
    r"(?P<open>\()?(?P<sign>[-+−–])?"
    rf"(?P<prefix>(?:{_CURRENCY}|[#~<>≤≥]) ?)?(?P<open_inside>\()?(?P<sign_inside>[-+−–])?"
    r"(?P<whole>[0-9]{1,3}(?:(?P<mark>[, '’\u00a0\u202f\u2009])[0-9]{3})(?:(?P=mark)[0-9]{3})*|[0-9]+)"
    r"(?:\.(?P<decimals>[0-9]+))?"
    r"(?P<suffix>[ \u00a0\u202f]?(?:[%‰$€£¥₹₩₽₺₴₪฿₫₦₱]|st|nd|rd|th|[a-zµ°²³]{1,12}(?:/[a-z]{1,5})?))?"
    r"(?P<close>\))?(?P<percent>%)?"
)
_MONTHS = "January|February|March|April|June|July|August|September|October|November|December"
_SHORT_MONTHS = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
_DATE_WORDS = re.compile(
    rf"(?=.*[0-9])(?:(?:{_MONTHS}|May|{_SHORT_MONTHS})\b\.?|[0-9]{{1,4}}(?:st|nd|rd|th)?\b|[ ,./-])+(?:\([A-Za-z]+\))?"
)
_DATE_NUMBERS = re.compile(
    r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{2}(?:[0-9]{2})?"
)
_TIME = re.compile(r"[0-9]{1,3}(?::[0-9]{2}){1,2}(?:\.[0-9]+)?(?: ?[AaPp]\.?[Mm]\.?)?")
_NONE = re.compile(r"[\s\u200b\ufeff]*|[-–—−?.…]+|n/?a|N/?A|none|None|nan|NaN|tbd|TBD|TBA")


@dataclass(frozen=True, slots=True)
class Format:
    """How a text is written.

    kind      "none" (empty, or a sign for nothing: "-", "n/a"), "number", "date", "time" or "text"
    mask      a date or time with its numbers as 0, years as Year, months as Month, Mon or May: "Month 0, Year", "0:00"
    prefix, suffix   what is before and after the digits of a number: "$", " %", " km"
    mark      what parts the thousands: ",", " ", "'", or "" where there are none
    decimals  digits after the point
    size      digits before the point
    minus     how a negative number says so: "(", "-", or "" for a number that is not negative
    """

    kind: Literal["none", "number", "date", "time", "text"]
    mask: str = ""
    prefix: str = ""
    suffix: str = ""
    mark: str = ""
    decimals: int = 0
    size: int = 0
    minus: str = ""


def format_of(text: str) -> Format:
    """How `text` is written; "text" for what is neither number nor date nor time nor a sign for nothing."""
    if _NONE.fullmatch(text[: _LONGEST + 1]) and len(text) <= _LONGEST:
        return Format("none")
    if len(text) > _LONGEST:
        return Format("text")
    text = text.strip()
    if _TIME.fullmatch(text):
        return Format("time", mask=re.sub(r"^0+", "0", re.sub(r"[0-9]", "0", text)))
    if (_DATE_WORDS.fullmatch(text) and re.search(_SHORT_MONTHS + "|May", text)) or _DATE_NUMBERS.fullmatch(
        text
    ):
        return Format("date", mask=_date_mask(text))
    match = _NUMBER.fullmatch(text)
    if not match or (match["percent"] and not match["close"]) or not _brackets_match(match):
        return Format("text")
    sign = match["sign"] or match["sign_inside"] or ""
    bracket = match["open"] or match["open_inside"]
    return Format(
        kind="number",
        prefix=match["prefix"] or "",
        suffix=_suffix(match["suffix"] or match["percent"] or ""),
        mark=match["mark"] or "",
        decimals=len(match["decimals"] or ""),
        size=len(re.sub(r"[^0-9]", "", match["whole"])),
        minus="(" if bracket else ("-" if sign and sign != "+" else ""),
    )


def _brackets_match(match: re.Match[str]) -> bool:
    opened = bool(match["open"]) + bool(match["open_inside"])
    signs = bool(match["sign"]) + bool(match["sign_inside"])
    return opened == bool(match["close"]) and opened + signs <= 1


def _suffix(text: str) -> str:
    # One year, two years; 1st, 2nd, 3rd: the same way of writing.
    if text.strip() in ("st", "nd", "rd", "th"):
        return "th"
    return text.removesuffix("s") if len(text.strip()) > 3 else text


def _date_mask(text: str) -> str:
    mask = re.sub(rf"\b(?:{_MONTHS})\b", "Month", text)
    mask = re.sub(rf"\b(?:{_SHORT_MONTHS})\b", "Mon", mask)
    mask = re.sub(r"([0-9])(?:st|nd|rd|th)\b", r"\1th", mask)
    # Days and months have one or two digits without being written differently.
    mask = re.sub(r"[0-9]{4}", "Year", mask)
    return re.sub(r"[0-9]{1,3}", "0", mask)


class ColumnFormats:
    """What a column tells of how its cells are written: its texts, its forms, each once, and cells that show one."""

    def __init__(self, column: Sequence[str]) -> None:
        self.texts = frozenset(column)
        forms = frozenset(map(format_of, self.texts))
        self.forms = frozenset(form for form in forms if form.kind != "none")
        self.has_none = len(self.forms) < len(forms)
        self.first = next((text for text in column if format_of(text).kind != "none"), None)
        self.large = next((text for text in column if format_of(text).size > 3), None)


def same_format(old: str | None, new: str, column: ColumnFormats) -> bool:
    """Whether `new` is written as its column is.

    `old` is the text replaced (None for a cell of a new row), `column` the cells of the column before the edit. A text
    that the column has already is always fine. Otherwise `new` must be what the column holds: a number where it has
    numbers, with a prefix, suffix, decimals, thousands mark and minus that are in use there, anywhere in the column; a
    date as one of its dates is written ("Month 0, Year" must not become "0-Mon"); words where there were words. A column
    that mixes numbers and words says nothing about how a number among the words is written. An empty text, or a sign
    for nothing, is fine in a new row, and where the column has one.
    """
    if new == old or new in column.texts:
        return True
    fresh, forms = format_of(new), column.forms
    before = format_of(old) if old is not None else Format("none")
    if before.kind != "none":
        forms = forms | {before}
    if fresh.kind == "none":
        return column.has_none or before.kind == "none"
    if not forms:
        return True
    like = [form for form in forms if form.kind == fresh.kind]
    if fresh.kind == "text":
        return before.kind == "text" or (before.kind == "none" and bool(like))
    if not like:
        return False
    mixed = len({form.kind for form in forms}) > 1
    return (mixed and before.kind != fresh.kind) or _alike(fresh, before, like)


def _alike(fresh: Format, before: Format, forms: Sequence[Format]) -> bool:
    """Whether a number, date or time is written as others of its kind are.

    A number may have as many decimals as the one that it replaces, or as one of its unit has. A year above a column of
    amounts ("2019", "$41.0") does not show how an amount is written.
    """
    if fresh.kind != "number":
        return any(_masks(fresh) & _masks(form) for form in forms)
    comparable_forms = [
        form for form in forms if _like_a_year(fresh) or not _like_a_year(form) or form == before
    ] or forms
    unit = [form for form in comparable_forms if (form.prefix, form.suffix) == (fresh.prefix, fresh.suffix)]
    if before.kind == "number" and unit:
        unit.append(before)
    return (
        any(form.decimals == fresh.decimals for form in unit)
        and _thousands_alike(fresh, forms)
        and _minus_alike(fresh, forms)
    )


def _like_a_year(form: Format) -> bool:
    return form == Format("number", size=4)


def _masks(form: Format) -> set[str]:
    # May is the long and the short name of its month.
    return {form.mask.replace("May", "Month"), form.mask.replace("May", "Mon")}


def _thousands_alike(fresh: Format, numbers: Sequence[Format]) -> bool:
    """Numbers of four digits and more show whether a column parts thousands; without one, both ways are fine."""
    marks = {form.mark for form in numbers if form.size > 3}
    if fresh.size <= 3 or not marks:
        return True
    return fresh.mark in marks


def _minus_alike(fresh: Format, numbers: Sequence[Format]) -> bool:
    signs = {form.minus for form in numbers if form.minus}
    return not fresh.minus or not signs or fresh.minus in signs


def model_for(old: str | None, new: str, column: ColumnFormats) -> str | None:
    """The text to name when `new` is not written as it should be: "361" does not show how 1,204 is written.

    It is `old`, or the first cell of the column that says anything; for a number of four digits and more the first cell
    that has as many. None if there is nothing to name.
    """
    before = format_of(old or "")
    if format_of(new).size > 3 and (before.size > 3 or column.large is not None):
        return old if before.size > 3 else column.large
    return column.first if before.kind == "none" else old
