"""What spreadsheets and scripts do to tables, as opposed to people: a date turned round, a decimal point lost.

Editing a table in a spreadsheet or a data frame makes more changes than intended. Each kind of them has a
code here, and most need the text that was there before: "13.5" is no fault, "13.50" that became "13.5" is one. So
`damage(old, new)` compares two texts and names what happened to the first without any person's judgement, if anything did;
`cell_damage(text)` and `header_damage` say what can be seen on a text alone.

The kinds are those found in the released human edits of FREB-TQA (Zhou et al., NAACL 2024), part 3.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache

from tableqa.cells import Date, Number, dates_of, fold, number_of, time_of, visible

DAMAGE: Mapping[str, str] = {
    "blanks_changed": "Whitespace or invisible characters were added or lost.",
    "case_changed": "Capital letters were lost or added.",
    "date_rewritten": "A date or time has another format, or a text was read as one.",
    "number_reformatted": "A number has another format but the same value.",
    "sign_changed": "A number lost or gained its minus sign; its digits are the same.",
    "decimal_point_lost": "A decimal point was lost, so the number is about ten or a hundred times larger.",
    "number_malformed": "A number has invalid digit groups, such as 1,6630.",
    "encoding_lost": "Characters were lost or turned into others by a wrong encoding.",
    "line_break_escaped": "A line break became the two characters \\n, or the other way round.",
    "nan_cell": "A cell contains the text nan.",
    "unnamed_header": "A header is the pandas name for an unnamed column.",
    "numbered_header": "A repeated header has the number that pandas appends to it.",
}
"""Every code of this module with what it says."""


def damage(old: str, new: str, column: Sequence[str] = ()) -> str | None:
    """The code of what happened to `old` on its way to `new`; None where they are equal or a person may have meant it.

    `column` holds the texts around `old`: where all its numbers have decimals, one without them has lost its point. That
    judgement alone is not certain (0.4 may have been changed to 4 on purpose); everything else here is.
    """
    if old == new:
        return None
    if _breaks(old) == _breaks(new):
        return "line_break_escaped"
    if visible(old) == visible(new):
        return "blanks_changed"
    if cell_damage(new) == "nan_cell":
        return "nan_cell"
    has_letters = any(map(str.isalpha, old))
    if has_letters and "".join(old.split()).casefold() == "".join(new.split()).casefold():
        return "case_changed"
    if _without_signs(old) == _without_signs(new) and _minuses(old) != _minuses(new):
        return "sign_changed"
    if _lost_characters(old, new):
        return "encoding_lost"
    if _same_date(old, new):
        return "date_rewritten"
    return _number_damage(old, new, column)


def cell_damage(text: str) -> str | None:
    """The code of the damage that can be seen on a cell alone: nan_cell, number_malformed or encoding_lost."""
    if text.strip() in ("nan", "NaN"):
        return "nan_cell"
    if _MALFORMED.fullmatch(text.strip()):
        return "number_malformed"
    return "encoding_lost" if not text.isascii() and repair_encoding(text) != text else None


def header_damage(header: Sequence[str], index: int) -> str | None:
    """The code of the damage that can be seen on a header: unnamed_header, numbered_header, or as for a cell."""
    name = header[index]
    if _UNNAMED.fullmatch(name):
        return "unnamed_header"
    match = _NUMBERED.fullmatch(name)
    if match and match["name"] in header[:index]:
        return "numbered_header"
    return cell_damage(name)


_UNNAMED = re.compile(r"Unnamed: ?\d+(?:_level_\d+)?")
_NUMBERED = re.compile(r"(?P<name>.+)\.[1-9]\d?", re.DOTALL)
_MALFORMED = re.compile(r"(?:[-+−–(]*[A-Z]{0,3}[$€£¥])?[-+−–( ]*\d{1,3}(?:,\d{3})*,\d{4,}(?:\.\d+)?[) %]*")


# Line breaks, case --------------------------------------------------------------------------------------------


def _breaks(text: str) -> str:
    return text.replace("\\n", "\n")


# Encoding -------------------------------------------------------------------------------------------------------------

_BROKEN = re.compile("[\ufffd\x80-\x9f]")
_UTF8_READ_AS_LATIN = re.compile("[\u00c2-\u00f4][\u0080-\u00bf]{1,3}")
_UTF8_READ_AS_WINDOWS = re.compile("[ÂÃâ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œžŸ]{1,2}")
_GBK_READ_AS_LATIN = re.compile("[\u00a1-\u00a9][\u0040-\u007e\u00a1-\u00fe]")


@lru_cache(maxsize=65_536)
def repair_encoding(text: str) -> str:
    """The text with what a wrong encoding made of single characters turned back, as far as possible.

    UTF-8 that was read as Latin-1 or Windows-1252 (Ã© for é), and GBK read as Latin-1 (¡ª for a dash, ¨® for ó), where
    the result is a letter with an accent or a mark of punctuation. Characters in place of lost ones become U+FFFD.
    """
    if text.isascii():
        return text
    mended = _UTF8_READ_AS_WINDOWS.sub(lambda match: _decoded(match[0], "cp1252", "utf-8"), text)
    mended = _UTF8_READ_AS_LATIN.sub(lambda match: _decoded(match[0], "latin-1", "utf-8"), mended)
    mended = _GBK_READ_AS_LATIN.sub(lambda match: _decoded(match[0], "latin-1", "gbk"), mended)
    return _BROKEN.sub("\ufffd", mended)


def _decoded(text: str, wrong: str, right: str) -> str:
    try:
        mended = text.encode(wrong).decode(right)
    except UnicodeError:
        return text
    plausible = all(
        "\u2010" <= character <= "\u2044"
        or (character.isalpha() and character < "\u0250")
        or character in "€™°±£×"
        for character in mended
    )
    return mended if plausible and len(mended) == 1 and mended not in "¡¨" else text


def _lost_characters(old: str, new: str) -> bool:
    """Whether `new` is `old` in which characters beyond ASCII, and nothing else, have been replaced or dropped."""
    if (
        repair_encoding(new) != new
        and fold(repair_encoding(new)).casefold() == fold(repair_encoding(old)).casefold()
    ):
        return True
    before = repair_encoding(old)
    if before.isascii():
        return False
    if fold(before) == new and fold(old) != old:
        return True  # accents taken off
    if not _follow(re.split(r"[^\x00-\x7f]+", "".join(before.split()).lower()), "".join(new.split()).lower()):
        return _shares_question_marks(old, new)
    # A letter for a letter (Müller, Möller) is another name, and a dash for a dash is typography.
    return _beyond_ascii(new) != _beyond_ascii(before) and not _letters_for_letters(before, new)


_MOST_WRONG = 4
"""Characters that may be where one or several characters beyond ASCII were."""


def _follow(parts: Sequence[str], text: str) -> bool:
    """Whether the parts follow one another in the text, each as early as it can, with wrong characters alone between."""
    if not text.startswith(parts[0]):
        return False
    at = len(parts[0])
    for part in parts[1:-1]:
        start = text.find(part, at, at + _MOST_WRONG + len(part))
        if start < 0 or not all(map(_is_wrong, text[at:start])):
            return False
        at = start + len(part)
    end = len(text) - len(parts[-1])
    between = text[at:end]
    return at <= end <= at + _MOST_WRONG and text.endswith(parts[-1]) and all(map(_is_wrong, between))


def _is_wrong(character: str) -> bool:
    return not character.isascii() or not (character.isalnum() or character in "_$")


def _shares_question_marks(old: str, new: str) -> bool:
    """£m that became ?û: a question mark for what could not be written, beside other wrong characters."""
    return "?" in new and "?" not in old and not new.isascii() and _ascii_letters(new) <= _ascii_letters(old)


def _ascii_letters(text: str) -> set[str]:
    return {character for character in text.casefold() if character.isascii() and character.isalnum()}


def _beyond_ascii(text: str) -> str:
    return "".join(character for character in text if not character.isascii())


def _letters_for_letters(old: str, new: str) -> bool:
    old_letters, new_letters = _beyond_ascii(old), _beyond_ascii(new)
    return len(old_letters) == len(new_letters) and all(
        a.isalpha() == b.isalpha() and unicodedata.category(a) == unicodedata.category(b)
        for a, b in zip(old_letters, new_letters, strict=True)
    )


# Dates ----------------------------------------------------------------------------------------------------------------

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SHEET_DATE = re.compile(r"(\d{1,2})[- ]([A-Za-z]{3})(?:[- ](\d{2}))?")
_SHEET_MONTH = re.compile(r"([A-Za-z]{3})[- ](\d{2})")
_SCORE = re.compile(r"(\d{1,2})\s?[-–/]\s?(\d{1,2})")
_SERIAL = re.compile(r"[1-9]\d{4}")
_EPOCH = date(1899, 12, 30)
"""Day 0 of a spreadsheet."""


def _same_date(old: str, new: str) -> bool:
    """Whether both are one date or time, or `new` is what a spreadsheet makes of `old`, a date or a score as 2-5."""
    before = dates_of(old)
    if before and set(before) & set(dates_of(new)):
        return True
    old_time, new_time = time_of(old), time_of(new)
    if old_time is not None and old_time == new_time:
        return True
    short = _sheet_date(new)
    if short is not None:
        score = _SCORE.fullmatch(old.strip())
        if score and short.year is None and {int(score[1]), int(score[2])} == {short.day, short.month}:
            return True
        return any(_shortened(day, short) for day in before)
    if _SERIAL.fullmatch(new.strip()):
        day = _EPOCH + timedelta(days=int(new))
        return Date(day.year, day.month, day.day) in before
    return False


def short_date(text: str) -> Date | None:
    """The date that a text is, its year with the last two digits only, as far as a spreadsheet leaves it; else None."""
    if sheet_date := _sheet_date(text):
        return sheet_date
    return next((Date(day.year and day.year % 100, day.month, day.day) for day in dates_of(text)), None)


def _sheet_date(text: str) -> Date | None:
    """28-Dec-18, 31-Oct and Dec-18, as a spreadsheet writes them; the year with its last two digits."""
    if match := _SHEET_DATE.fullmatch(text.strip()):
        day, month, year = match.groups()
    elif match := _SHEET_MONTH.fullmatch(text.strip()):
        day, (month, year) = None, match.groups()
    else:
        return None
    if month.lower() not in _MONTHS:
        return None
    return Date(int(year) if year else None, _MONTHS.index(month.lower()) + 1, int(day) if day else None)


def _shortened(full: Date, short: Date) -> bool:
    year = None if full.year is None or short.year is None else full.year % 100
    return (year, full.month, full.day) == (short.year, short.month, short.day)


# Numbers --------------------------------------------------------------------------------------------------------------

_SIGN = re.compile(r"(?<![^\s(\[$€£¥])(?<!\d\s)[-+−–—‐‑﹣－](?=\s?[$€£¥]?\.?\d)")
"""A sign before a number, also before its currency; not the dash of a range or of a word."""


def _without_signs(text: str) -> str:
    return "".join(_SIGN.sub("", text).split())


def _minuses(text: str) -> int:
    return sum(sign != "+" for sign in _SIGN.findall(text))


_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")


def _number_damage(old: str, new: str, column: Sequence[str]) -> str | None:
    before, after = number_of(old), number_of(new)
    if before is not None and after is not None:
        if before.unit == after.unit or not before.unit or not after.unit:
            if before.value == after.value:
                return "number_reformatted"
            if before.value == -after.value:
                return "sign_changed"
            if before.value and _point_lost(before, after, column):
                return "decimal_point_lost"
        return None
    if _MALFORMED.fullmatch(new.strip()) and not _MALFORMED.fullmatch(old.strip()):
        return "decimal_point_lost" if before is not None and before.decimals else "number_malformed"
    rests = [_DIGITS.sub("#", "".join(text.split())) for text in (old, new)]
    if "#" in rests[0] and rests[0] == rests[1]:
        pairs = zip(_DIGITS.findall(old), _DIGITS.findall(new), strict=True)
        if all(_decimal(old_digits) == _decimal(new_digits) for old_digits, new_digits in pairs):
            return "number_reformatted"
    return None


def _decimal(digits: str) -> Decimal:
    return Decimal(digits.replace(",", ""))


def _point_lost(before: Number, after: Number, column: Sequence[str]) -> bool:
    """Whether `after`, a whole number, is too large by a factor that a lost point explains.

    With certainty where it has the digits of `before`; else where the number, or every number of its column, has decimals
    and the new one is about ten or a hundred times as large.
    """
    if after.decimals or before.fraction or after.fraction:
        return False
    factor = abs(after.value / before.value)
    if before.decimals and factor in (10, 100, 1000):
        return True
    others = [number for text in column if (number := number_of(text)) is not None]
    decimal = before.decimals or (others and all(number.decimals for number in others))
    return bool(decimal) and 5 <= factor <= 20
