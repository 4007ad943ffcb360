"""Short forms of a header (RobuT 3.1, header abbreviations) by four rules, each suggestion naming its rule.

RobuT's abbreviations had to stay recognisable to readers who know the table. So a short form keeps the first letter and the
order of the letters (or is in common use), words that hold a name together stay, and what is in
brackets (units, notes) is left alone.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from tableqa.core.translation import joined, message
from tableqa.data.tables import Table
from tableqa.perturbations.headers.alternatives import Suggestion
from tableqa.perturbations.headers.word_forms import Word, in_case_of, names_in_use, same_name, words_of

DICTIONARY = Path(__file__).with_name("abbreviations.txt")

_SCORES = {"dictionary": 0.9, "truncation": 0.6, "initials": 0.5, "vowels": 0.4}
_LONGEST_PHRASE = 4
# Why a suggestion is made; kept with a proposal, in English. Pages say it in the reader's language.
TRUNCATED = message("abbreviations.truncated", "Long words are cut after a consonant.")
INITIALS = message("abbreviations.initials", "The initials of {number} words.")
WITHOUT_VOWELS = message(
    "abbreviations.without_vowels", "Long words lose their vowels after the first letter."
)
SHORTENED = message("abbreviations.shortened", "“{word}” is usually shortened to “{short}”.")


def abbreviations(table: Table, column: str, limit: int = 8) -> list[Suggestion]:
    """Short forms for the header of `column` (an id), best first, at most `limit`; none is a header of the table.

    dictionary   the usual short form: "Population" to "Pop.", "Number of votes" to "No. of vts."
    truncation   the beginning of long words, up to a consonant: "Competition" to "Comp."
    initials     of a name of several words: "Home team" to "HT", "Date of birth" to "DOB"
    vowels       long words without the vowels after the first letter: "Country" to "Cntry"

    A header without a word of three letters has none.
    """
    header = table.header[table.column_index(column)]
    used = names_in_use(table)
    suggestions: dict[str, Suggestion] = {}
    for rule, text, why in _all_short_forms(header):
        key = same_name(text)
        if (
            len(text) < len(header)
            and key not in used
            and key not in suggestions
            and any(map(str.isalpha, text))
        ):
            suggestions[key] = Suggestion(text, rule, why, _SCORES[rule] - 0.01 * len(suggestions))
    return sorted(suggestions.values(), key=lambda suggestion: -suggestion.score)[:limit]


def _all_short_forms(header: str) -> Iterator[tuple[str, str, str]]:
    words = words_of(header)
    if not any(len(word.text) >= 3 for word in words):
        return
    yield from _from_dictionary(header, words)
    if text := _shorten_each_word(header, words, truncated):
        yield "truncation", text, TRUNCATED
    if initials := _initials(header, words):
        yield "initials", _with_rest(header, words, initials), INITIALS.format(number=len(initials))
    if text := _shorten_each_word(header, words, without_vowels):
        yield "vowels", text, WITHOUT_VOWELS


def _from_dictionary(header: str, words: Sequence[Word]) -> Iterator[tuple[str, str, str]]:
    phrases = list(_dictionary_phrases(header, words))
    for choice in range(max((len(short) for _, short in phrases), default=0)):
        parts, end, reasons = [], 0, []
        for phrase, short in phrases:
            chosen = short[min(choice, len(short) - 1)]
            written = chosen if chosen != chosen.lower() else in_case_of(header, phrase, chosen)
            parts += [header[end : phrase[0].start], written]
            end = phrase[-1].end
            if header[end : end + 1] == "." and written.endswith("."):
                end += 1
            reasons.append(SHORTENED.format(word=header[phrase[0].start : phrase[-1].end], short=written))
        yield "dictionary", "".join([*parts, header[end:]]), joined(reasons)


def _dictionary_phrases(
    header: str, words: Sequence[Word]
) -> Iterator[tuple[Sequence[Word], tuple[str, ...]]]:
    """From the left, the longest phrases that the dictionary has, with their short forms."""
    start = 0
    while start < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - start), 0, -1):
            phrase = words[start : start + length]
            text = re.sub(r"\s+", " ", header[phrase[0].start : phrase[-1].end]).lower()
            if short := short_forms(text):
                yield phrase, short
                start += length
                break
        else:
            start += 1


def short_forms(text: str) -> tuple[str, ...]:
    """The usual short forms of a word or phrase in lower case, best first; of a plural, the plural ones."""
    listed = _dictionary()
    if text in listed:
        return tuple(singular for singular, _ in listed[text])
    for ending, replacement in (("ies", "y"), ("es", ""), ("s", "")):
        base = text.removesuffix(ending) + replacement
        if text.endswith(ending) and base in listed:
            return tuple(plural for _, plural in listed[base])
    return ()


def long_forms(text: str) -> tuple[str, ...]:
    """The words that are usually shortened to `text` (with or without its full stop, in any case)."""
    return _words_by_short_form().get(text.lower().removesuffix("."), ())


@cache
def _dictionary() -> dict[str, tuple[tuple[str, str], ...]]:
    """Word -> its short forms, each in the singular and in the plural."""
    listed = {}
    for line in DICTIONARY.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            word, _, forms = line.partition(": ")
            singular, _, plural = forms.partition("|")
            singular_forms = singular.split(", ")
            plural_forms = plural.split(", ") if plural else []
            listed[word] = tuple(
                (singular_form, plural_forms[i] if i < len(plural_forms) else singular_form)
                for i, singular_form in enumerate(singular_forms)
            )
    return listed


@cache
def _words_by_short_form() -> dict[str, tuple[str, ...]]:
    words_by_form: dict[str, list[str]] = {}
    for word, forms in _dictionary().items():
        for singular_form, plural_form in forms:
            words_by_form.setdefault(singular_form.lower().removesuffix("."), []).append(word)
            if plural_form != singular_form:
                plural = word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"
                words_by_form.setdefault(plural_form.lower().removesuffix("."), []).append(plural)
    return {short: tuple(words) for short, words in words_by_form.items()}


def is_short_form(short: str, word: str) -> bool:
    """Whether `short` is a way to write `word` shorter: a usual one ("yr"), or a sign ("Ag"), a few of its letters ("n")."""
    short, word = short.lower().removesuffix("."), word.lower()
    if short in {form.lower().removesuffix(".") for form in short_forms(word)}:
        return True
    if len(short) <= 2 < len(word):
        return True  # "Ag" for silver: a sign, not a word
    letters = iter(word)
    few = len(short) <= max(2, len(word) // 3) < len(word)
    return few and short[:1] == word[:1] and all(letter in letters for letter in short)


def _shorten_each_word(
    header: str, words: Sequence[Word], shorten: Callable[[str], str | None]
) -> str | None:
    """The header with every word shortened that can be; None where none can."""
    parts, end, changed = [], 0, False
    for word in words:
        short = None if word.small else shorten(word.text)
        parts += [header[end : word.start], short or word.text]
        end = word.end
        if short:
            changed = True
            if short.endswith(".") and header[end : end + 1] == ".":
                end += 1
    return "".join([*parts, header[end:]]) if changed else None


def truncated(word: str) -> str | None:
    """The first three to five letters of a word of six and more, up to a consonant before a vowel, and a full stop."""
    if len(word) < 6 or not word.isalpha():
        return None
    for length in range(3, 6):
        if not _vowel(word[length - 1]) and _vowel(word[length]):
            return word[:length] + "."
    return word[:4] + "."


def without_vowels(word: str) -> str | None:
    """A word of five and more letters without the vowels after its first letter, doubled consonants once.

    None where fewer than three letters, or nearly all of them, are left.
    """
    if len(word) < 5 or not word.isalpha():
        return None
    pairs = itertools.pairwise(word)
    letters = word[0] + "".join(b for a, b in pairs if not _vowel(b) and a.lower() != b.lower())
    return letters if 3 <= len(letters) <= len(word) - 2 else None


def _vowel(letter: str) -> bool:
    return letter.lower() in "aeiouàáâãäåèéêëìíîïòóôõöùúûü"


def _initials(header: str, words: Sequence[Word]) -> str | None:
    """ "Home team" gives HT, "Date of birth" DOB: of two to six words, of which at least two are not small.

    None where a number is among them ("Race 1 time" and "Race 2 time" would be one), or a unit ("Height ft").
    """
    among = header[words[0].start : words[-1].end]
    if any(map(str.isdigit, among)):
        return None
    if any(len(word.text) <= 2 and word.text.islower() and not word.small for word in words):
        return None
    if not 2 <= len(words) <= 6 or sum(not word.small for word in words) < 2 or words[0].small:
        return None
    if any(word.text.isupper() for word in words) or not all(word.text.isalpha() for word in words):
        return None
    return "".join(word.text[0] for word in words).upper()


def _with_rest(header: str, words: Sequence[Word], text: str) -> str:
    return header[: words[0].start] + text + header[words[-1].end :].lstrip(".")
