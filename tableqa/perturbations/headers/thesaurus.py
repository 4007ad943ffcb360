"""The thesaurus: words, their senses in the order of how common they are, and the words that share a sense.

The one that is shipped (wordnet_data/) was read from WordNet 3.0 through nltk's own corpus reader by
`tableqa.perturbations.headers.wordnet`. It is stored ready-made: nltk and WordNet cost a web process seconds and some
300 MB, this a fraction of a second and some 40 MB, once, at the first use.
"""

import threading
import zipfile
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from tableqa.perturbations.headers.alternatives import Unavailable

SHIPPED = Path(__file__).with_name("wordnet_data") / "wordnet.zip"
"""The thesaurus that comes with the project."""

Class = Literal["n", "v", "a", "r"]
"""Noun, verb, adjective, adverb."""

Form = Literal["base", "plural", "past", "ing"]
"""How a word is to the one that the thesaurus lists: "Points" is the plural of "point"."""


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning.

    domain      WordNet's lexicographer file: "noun.time", "noun.person", ...
    words       the words that have this meaning, each with how often it has it in WordNet's sense-tagged texts
    near        numbers of the senses one step broader (of nouns and verbs) or alike (of adjectives)
    definition  a short one
    """

    number: int
    domain: str
    words: tuple[tuple[str, int], ...]
    near: tuple[int, ...]
    definition: str


@dataclass(frozen=True, slots=True)
class WordSense:
    """One way to take a word as written: the listed word, its class, and how the word as written stands to it."""

    word: str
    kind: Class
    form: Form


class Thesaurus:
    """Senses by word. Immutable; made by `thesaurus` from a file, or from lines in the form described in `wordnet`."""

    def __init__(
        self, source: str, senses: Sequence[str], words: Sequence[str], forms: Sequence[str]
    ) -> None:
        self.source = source
        self._senses = senses
        self._words = words
        self._bases: dict[tuple[str, str], tuple[str, ...]] = {}
        self._irregular: dict[tuple[str, str], list[str]] = {}
        for line in forms:
            form, kind, *bases = line.split("\t")
            self._bases[form, kind] = tuple(bases)
            for base in bases:
                self._irregular.setdefault((base, kind), []).append(form)
        self.sense = lru_cache(maxsize=4096)(self._sense)

    def senses(self, word: str, kind: Class) -> tuple[Sense, ...]:
        """The senses of a listed word (lower case, blanks between words) in this class, the most common first."""
        return tuple(self.sense(index) for index in self._numbers(word).get(kind, ()))

    def classes(self, word: str) -> tuple[Class, ...]:
        """The classes in which a word is listed."""
        numbers_by_class = self._numbers(word)
        return tuple(kind for kind in get_args(Class) if kind in numbers_by_class)

    def near(self, sense: Sense) -> tuple[Sense, ...]:
        """The senses that are one step broader, or alike."""
        return tuple(self.sense(index) for index in sense.near)

    def frequency(self, word: str) -> int:
        """How often a word occurs, in any sense, in WordNet's sense-tagged texts; 0 for many good words."""
        return sum(self._uses(word, kind) for kind in self.classes(word))

    def class_share(self, reading: WordSense) -> float:
        """How often the word is of this class: "game" is a noun nearly always, and an adjective hardly ever."""
        uses = {kind: self._uses(reading.word, kind) + 1 for kind in self.classes(reading.word)}
        return uses[reading.kind] / sum(uses.values())

    def _uses(self, word: str, kind: Class) -> int:
        return sum(
            n for sense in self.senses(word, kind) for other, n in sense.words if other.lower() == word
        )

    def readings(self, word: str) -> list[WordSense]:
        """Every listed word that `word` (any case) can be a form of: itself first, then by its ending."""
        word = word.lower()
        readings = [WordSense(word, kind, "base") for kind in self.classes(word)]
        for kind, form, base in self._inflected(word):
            reading = WordSense(base, kind, form)
            if base != word and reading not in readings and kind in self.classes(base):
                readings.append(reading)
        return readings

    def _inflected(self, word: str) -> Iterator[tuple[Class, Form, str]]:
        for base in self._bases.get((word, "n"), ()):
            yield "n", "plural", base
        for base in self._bases.get((word, "v"), ()):
            yield "v", "ing" if word.endswith("ing") else "past", base
        for kind, form, ending, replacement in _ENDINGS:
            if word.endswith(ending) and len(word) > len(ending) + 1:
                yield kind, form, word[: -len(ending)] + replacement

    def inflect(self, word: str, kind: Class, form: Form) -> str | None:
        """`word` in a form: ("point", "n", "plural") gives "points", ("set up", "v", "past") "set up".

        None where the form is not certain: irregular verbs with several past forms ("gave", "given").
        """
        if form == "base":
            return word
        head, blank, last, rest = _inflected_part(word, kind)
        if kind == "n" and (
            last.endswith("ings") or any(candidate.form == "plural" for candidate in self.readings(last))
        ):
            return word  # "earnings" and "profits" are plurals already
        irregular = [candidate for candidate in self._irregular.get((last, kind), ()) if " " not in candidate]
        if kind == "v":
            irregular = [candidate for candidate in irregular if candidate.endswith("ing") == (form == "ing")]
            if len(irregular) > 1:
                return None
        inflected = irregular[0] if irregular else regular(last, form)
        return None if inflected is None else head + blank + inflected + rest

    def _numbers(self, word: str) -> dict[str, tuple[int, ...]]:
        start = word + "\t"
        index = bisect_left(self._words, start)
        if index == len(self._words) or not self._words[index].startswith(start):
            return {}
        fields = self._words[index].split("\t")[1:]
        return {field[0]: tuple(map(int, field[1:].split())) for field in fields}

    def _sense(self, index: int) -> Sense:
        domain, words, near, definition = self._senses[index].split("\t")
        pairs = (word.partition(":") for word in words.split(","))
        return Sense(
            number=index,
            domain=domain,
            words=tuple((word, int(count or 0)) for word, _, count in pairs),
            near=tuple(map(int, near.split())),
            definition=definition,
        )


_ENDINGS: tuple[tuple[Class, Form, str, str], ...] = (
    ("n", "plural", "s", ""),
    ("n", "plural", "ses", "s"),
    ("n", "plural", "xes", "x"),
    ("n", "plural", "zes", "z"),
    ("n", "plural", "ches", "ch"),
    ("n", "plural", "shes", "sh"),
    ("n", "plural", "ies", "y"),
    ("n", "plural", "men", "man"),
    ("v", "past", "ed", ""),
    ("v", "past", "ed", "e"),
    ("v", "past", "ied", "y"),
    ("v", "ing", "ing", ""),
    ("v", "ing", "ing", "e"),
)


def _inflected_part(word: str, kind: Class) -> tuple[str, str, str, str]:
    """What is before, the blank, the word that is inflected, and the rest: "rights of way", "set up"."""
    if kind == "v":
        last, blank, rest = word.partition(" ")
        return "", "", last, blank + rest
    phrase, of, rest = word.partition(" of ")
    head, blank, last = phrase.rpartition(" ")
    return head, blank, last, of + rest


def regular(word: str, form: Form) -> str | None:
    """The regular plural, past or -ing form of a word; None where it does not follow from its letters."""
    if not word.isalpha() or len(word) < 2:
        return None
    after_consonant = word[-2] not in "aeiou"
    if form == "plural":
        if word.endswith("man"):
            return word[:-3] + "men"
        if word.endswith("y") and after_consonant:
            return word[:-1] + "ies"
        return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")
    if (
        len(word) < 5
        and after_consonant is False
        and word[-1] not in "aeiouwy"
        and word[-3:-2] not in "aeiou"
    ):
        return None  # "set", "put", "hop": whether the past has a doubled letter, or any, is not to be seen
    if form == "past":
        if word.endswith("y") and after_consonant:
            return word[:-1] + "ied"
        return word + ("d" if word.endswith("e") else "ed")
    return (word[:-1] if word.endswith("e") and not word.endswith("ee") else word) + "ing"


_lock = threading.Lock()
_loaded: dict[Path, Thesaurus | Unavailable] = {}


def thesaurus(path: Path = SHIPPED) -> Thesaurus | Unavailable:
    """The thesaurus in a file, read when it is first asked for and then cached in the process.

    `Unavailable`, with the reason, where the file is absent or is not one that `tableqa.perturbations.headers.wordnet`
    wrote.
    """
    with _lock:  # two requests at once do not read it twice
        if path not in _loaded:
            _loaded[path] = read_thesaurus(path)
        return _loaded[path]


def read_thesaurus(path: Path) -> Thesaurus | Unavailable:
    """Read the file now; what `thesaurus` does once."""
    mend = "Make it with fixtures/wordnet/make.py, or restore it from the project's repository."
    try:
        with zipfile.ZipFile(path) as file:
            parts = {name: file.read(f"{name}.tsv").decode("utf-8").splitlines() for name in PARTS}
            source = file.read("SOURCE").decode("utf-8").strip()
    except FileNotFoundError:
        return Unavailable(f"There are no synonyms from WordNet, because {path} does not exist. {mend}")
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        return Unavailable(
            f"There are no synonyms from WordNet, because {path} cannot be read ({error}). {mend}"
        )
    return Thesaurus(source, **parts)


PARTS = ("senses", "words", "forms")
"""The parts of a thesaurus in its file, each as NAME.tsv."""
