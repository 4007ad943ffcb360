"""Which encoding before Unicode a text is in, by its letters: those of one language, in places where they occur."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

SINGLE_BYTE = (
    "cp1252", "cp1250", "mac-roman", "cp850", "iso8859-15", "cp1251", "koi8-r", "cp1253",
)  # fmt: skip
"""Encodings with a byte per letter, the most usual first: of equal ones the first is taken."""
SEVERAL_BYTES = ("cp932", "gb18030", "euc_kr", "big5")

_LATIN = {
    "German": "äöüß", "French": "éèêëàâçùûîïôœ", "Spanish": "áíóúñü", "Portuguese": "áâãàçéêíóôõú", "Italian": "àèéìòù",
    "Nordic": "åäöøæ", "Dutch": "ëïéöü", "Polish": "ąćęłńóśźż", "Czech": "áčďéěíňóřšťúůýžľĺŕôä",
    "Hungarian": "áéíóöőúüű", "Croatian": "čćđšž", "Romanian": "ăâîşţ",
}  # fmt: skip
_LANGUAGES = {
    "cp1252": ("German", "French", "Spanish", "Portuguese", "Italian", "Nordic", "Dutch"),
    "cp1250": ("German", "Polish", "Czech", "Hungarian", "Croatian", "Romanian"),
}
_OF_ALPHABET = {
    "CYRILLIC": ("абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ", "оеаинтсрвл"),
    "GREEK": ("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ", "αοιετσνρηπκ"),
}
_ALONE = "àèéóíÀÈÉ"
_VOWELS = "aeiouyæøœ"
_OPENING, _CLOSING = "“„«¿¡‘‚", "”»’"
_SIGNS = "€£§°²³½¼¾±×©®™·•…–—µ†‰´−\xa0"
_JOINING = "’·‘–—"
_MOST = 4_000
"""Characters beyond ASCII that are compared."""
_LEAST = 0.4
"""Points of a character on average, from which a text is one of single bytes."""
USUAL = "cp1252"
"""The encoding of a text whose few letters do not tell."""
_ENOUGH = 10
"""Characters beyond ASCII from which their places tell another encoding for certain."""
_MARGIN = 3
"""Points that the best reading has more than another one, so that it is certain."""


@dataclass(frozen=True, slots=True)
class Guess:
    """An encoding by Python's name, and whether no other reading of the text is nearly as likely."""

    encoding: str
    is_certain: bool


def encoding_by_letters(sample: bytes) -> Guess:
    """The encoding before Unicode in which the letters of a sample are most likely."""
    readings: list[tuple[float, str, str]] = []
    count = 1
    for encoding in SINGLE_BYTE:
        try:
            text = sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        points, count = _points(text, encoding)
        readings.append((points, encoding, text))
    best = max(readings, key=lambda reading: reading[0], default=(-1.0, "cp1252", ""))
    if best[0] < _LEAST * count and count >= _ENOUGH and (encoding := _of_several_bytes(sample)):
        return Guess(encoding, 4 * count >= len(sample))  # not a table in English with a few signs
    second = max((points for points, _, text in readings if text != best[2]), default=best[0] - _MARGIN)
    is_clear = best[0] - second >= max(_MARGIN, count / 4)
    usual = next((points for points, encoding, _ in readings if encoding == USUAL), None)
    if usual is not None and best[0] - usual < max(_MARGIN, count / 4):
        return Guess(USUAL, is_clear and best[1] == USUAL)
    return Guess(best[1], is_clear and count >= _ENOUGH)


def _of_several_bytes(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    match = from_bytes(sample, cp_isolation=list(SEVERAL_BYTES)).best()
    return match.encoding if match is not None else ""


def _points(text: str, encoding: str) -> tuple[float, int]:
    """How likely the letters beyond ASCII are, and how many characters beyond ASCII were compared."""
    letters: dict[str, int] = {}
    points, count = 0.0, 0
    for before, character, after in islice(_not_ascii(text), _MOST):
        count += 1
        if character.isalpha() and character not in "ªºµ":
            letters[character.lower()] = letters.get(character.lower(), 0) + 1
            points += _of_letter(before, character, after)
        else:
            points += _of_sign(before, character, after)
    names = _LANGUAGES.get(encoding, _LANGUAGES["cp1252"])
    alphabets = [_LATIN[name] + "é" for name in names]
    if encoding in ("cp1251", "koi8-r", "cp1253"):
        alphabets = [_OF_ALPHABET["GREEK" if encoding == "cp1253" else "CYRILLIC"][0]]
    usual = max(sum(letters.get(letter, 0) for letter in set(alphabet)) for alphabet in alphabets)
    return points + usual - (sum(letters.values()) - usual), count


def _not_ascii(text: str) -> Iterator[tuple[str, str, str]]:
    """Each character beyond ASCII with the two before and the two after it."""
    for at, character in enumerate(text):
        if not character.isascii():
            yield text[max(0, at - 2) : at], character, text[at + 1 : at + 3]


def _of_letter(before: str, letter: str, after: str) -> float:
    """Points for the place of a letter: its case, and the letters around it."""
    last, following = before[-1:], after[:1]
    if last.islower() and (letter.isupper() or following.isupper()):
        return -3  # a dash, as in May–October
    if letter.isupper() and last.isupper() and following.islower():
        return -1.5
    if not last.isalpha() and not following.isalpha():
        return 0 if letter in _ALONE else -1.5 if letter.isupper() else -0.5
    name = unicodedata.name(letter, "")
    for alphabet, (_, frequent) in _OF_ALPHABET.items():
        if name.startswith(alphabet):
            mixed = any(near.isascii() and near.isalpha() for near in (last, following))
            if mixed or (letter == "ς" and following.isalpha()):
                return -4
            return (0.5 if letter.lower() in frequent else 0) - (
                0.7 if letter.isupper() and last.isupper() else 0
            )
    if not name.startswith("LATIN"):
        return -2
    if len(before) == 2 and all(near.isalpha() and not near.isascii() for near in before):
        return -2
    return _between(last, letter, following)


def _between(last: str, letter: str, following: str) -> float:
    """Points for a vowel between consonants, and less for a third consonant."""
    if not (last.isalpha() and following.isalpha()) or _is_vowel(last) or _is_vowel(following):
        return 0
    return 0.5 if _is_vowel(letter) else -0.5


def _is_vowel(letter: str) -> bool:
    return unicodedata.normalize("NFD", letter.lower())[:1] in _VOWELS


def _of_sign(before: str, sign: str, after: str) -> float:
    """Points for a sign by what surrounds it."""
    last, following = before[-1:], after[:1]
    if last.isalpha() and following.isalpha():
        return 1.5 if sign == "’" else 0 if sign in _JOINING else -3
    if sign in _OPENING:
        return 1.5 if following.isalnum() and not last.isalnum() else -1
    if sign in _CLOSING:
        return 1.5 if last and not last.isspace() else -1
    if sign in "€£":
        return 1.5 if any(near.isdigit() for near in before + after) else 0.5
    if sign in "ªº":
        return 1 if last.isdigit() or last == "." else -1
    if sign in "§‰":
        return 1.5 if any(near.isdigit() for near in (after if sign == "§" else before)) else -0.5
    if sign in "²³½¼¾" and following.isalpha():
        return -2
    return 1 if sign in _SIGNS else -2
