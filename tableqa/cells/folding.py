"""The text under the typography: one spelling for blanks, dashes, quotes, digits and accents.

WikiTableQuestions' evaluation (Pasupat and Liang 2015) folds in the same spirit; this departs from it where folding
loses meaning: 10² is not 102, the vowel signs of Indic scripts are not accents, "C++" is not "C", and a text that is
nothing but a note is left alone.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

LONGEST = 10_000
"""Characters up to which a text is folded; a longer one is prose, and only its blanks and case are made alike."""

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u2043"), "-")
_QUOTES = dict.fromkeys(map(ord, "\u2018\u2019\u201b\u00b4\u0060\u02bc\u2032"), "'")
_DOUBLE_QUOTES = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"), '"')
_ONE_SPELLING = _DASHES | _QUOTES | _DOUBLE_QUOTES

_ACCENTS = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"  # marks of no script of their own
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u064b-\u065f\u0670]"  # Arabic vowel marks
)
_BLANKS = re.compile(r"\s+")
_MARKERS = "*†‡•♦"
"""Signs that refer to a note when they are at the end. "#" and "+" are not among them: F#, C++, A+."""


def fold(text: str) -> str:
    """`text` in one spelling: accents off, dashes and quotes as in ASCII, any script's digits as 0-9, single blanks.

    Invisible characters vanish, compatibility characters (full width, ligatures, Roman numerals) become plain ones,
    a raised digit after a digit becomes "^" and the digit, ½ becomes "1⁄2" (with the fraction slash). Case stays.
    """
    if text.isascii():
        return _BLANKS.sub(" ", text.replace("`", "'")).strip()
    if len(text) > LONGEST:
        return _BLANKS.sub(" ", text).strip()
    spelled = "".join(_plain(character, before) for before, character in zip(" " + text, text, strict=False))
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", spelled))
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", bare)).strip()


def fold_all(texts: Sequence[str]) -> list[str]:
    """Each of the texts folded; those of a table in ASCII, which most are, all at once."""
    together = "\0".join(texts)
    if together.isascii() and together.count("\0") == len(texts) - 1:
        return [text.strip() for text in _BLANKS.sub(" ", together.replace("`", "'")).split("\0")]
    return [fold(text) for text in texts]


def _plain(character: str, before: str) -> str:
    if character.isascii():
        return "'" if character == "`" else character
    plain_character = _plain_alone(character)
    if character in "⁰¹²³⁴⁵⁶⁷⁸⁹" and before.isdigit():
        return "^" + plain_character
    if "⁄" in plain_character and before.isdigit():
        return " " + plain_character
    return plain_character


@lru_cache(maxsize=4096)
def _plain_alone(character: str) -> str:
    if ord(character) in _ONE_SPELLING:
        return _ONE_SPELLING[ord(character)]
    if unicodedata.category(character) == "Cf":
        return ""
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    return unicodedata.normalize("NFKC", character).translate(_ONE_SPELLING)


def without_notes(text: str) -> str:
    """`text` without what refers to a note at its end: "[3]", "[note 1]", "*", "†"; a text that is only that stays."""
    current = text
    while True:
        bare = current.rstrip()
        if bare.endswith("]") and (start := bare.rfind("[")) > 0:
            bare = bare[:start].rstrip()
        else:
            bare = bare.rstrip(_MARKERS).rstrip()
        if not bare:
            return text.strip()
        if bare == current:
            return bare
        current = bare


def without_details(text: str) -> str:
    """`text` without details in round brackets at its end: "Ann (USA)" is "Ann"; "(9.9)" stays."""
    current = text.rstrip()
    while current.endswith(")") and (start := current.rfind(" (")) > 0 and ")" not in current[start:-1]:
        current = current[:start].rstrip()
    return current or text


def visible(text: str) -> str:
    """The text without anything invisible, and with blanks only where they part words or digits.

    Two texts for which this is equal look the same on a page, or differ in a blank beside a sign ("$ 3" and "$3").
    """
    if text.isascii() and text.isalnum():
        return text
    visible_text = "".join(
        " " if character.isspace() else character
        for character in text
        if character.isspace() or unicodedata.category(character) not in ("Cf", "Cc")
    )
    return _BESIDE_A_SIGN.sub("", " ".join(visible_text.split()))


_BESIDE_A_SIGN = re.compile(r"(?<!\w) +| +(?!\w)")
