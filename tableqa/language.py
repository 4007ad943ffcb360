"""Sentences for people, in their language where somebody lends a translation.

tableqa knows no catalogue and no request. What it says it says through `_` and `ngettext`, which give the English text
back until a platform lends its own functions with `use`. A sentence with values is written with named places and filled
in afterwards, so that a translation may put them in another order:

    _("Row {row} is not there.").format(row=row)

Some sentences are kept as they are made: with a figure, a decision, a proposal, in a release. They are kept in English,
whoever was looking when they were made, and are marked with `sentence`:

    TOO_FEW = sentence("Not enough data yet: {items} items, {needed} are needed.")
    TOO_FEW.format(items=3, needed=10)

`kept` says such a text in the reader's language: it finds the message and its values in it again. A message that is
reworded names its former wordings, so that texts stored before are found, too, and read in today's wording:

    TOO_FEW = sentence("{items} items are too few, {needed} are needed.", "Not enough data yet: {items} items, ...")
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

_one: Callable[[str], str] | None = None
_number: Callable[[str], str] | None = None
_counted: Callable[[str, str, int], str] | None = None


def use(
    one: Callable[[str], str] | None,
    counted: Callable[[str, str, int], str] | None,
    number: Callable[[str], str] | None = None,
) -> None:
    """Have sentences translated by these functions from now on, in the whole process; None: English again.

    number: writes a number in a sentence that is kept, such as "1,204" or "93.3 %", in the reader's form.
    """
    global _one, _counted, _number
    _one, _counted, _number = one, counted, number


def gettext(message: str) -> str:
    """The sentence in the reader's language."""
    return message if _one is None else _one(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """The sentence for this number of things, in the reader's language."""
    if _counted is None:
        return singular if number == 1 else plural
    return _counted(singular, plural, number)


def gettext_noop(message: str) -> str:
    """The sentence as it is: marked for translators where it is data, and translated where it is shown."""
    return message


# -- sentences that are kept ------------------------------------------------------------------------

Said = tuple[str, Mapping[str, str]]
"""A message and its values, by the names of its places."""

_PLACE = re.compile(r"\{(\w+)\}")
OURS = {"tally", "names", "why", "label", "run", "standing", "each"}
"""Places whose values are words of ours, or lists of such; in all others stands what somebody or a table says."""
_BETWEEN = (", ", gettext_noop(" and "))
_COUNTED = re.compile(r"^((?:\d+ x )?)(.+?)((?: \(?\d+\)?)?)$")
_NUMBER = re.compile(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?: %)?")
LONGEST, MOST_CUTS = 5_000, 40
"""Characters of a text that is taken apart, and ends of sentences at which it is cut: beyond, it is somebody else's text."""
_sentences: dict[str, str] = {}
"""Every wording, today's and former ones, with today's message."""


def sentence(message: str, *former: str) -> str:
    """The message as it is, known from now on to `taken_apart`. Call it where modules are imported, not later.

    former: earlier wordings, which stored texts may still have. Raises ValueError where one of them has other places than
    the message, or is a wording of another message.
    """
    for wording in (message, *former):
        if set(_PLACE.findall(wording)) != set(_PLACE.findall(message)):
            raise ValueError(f"{wording!r} does not have the same places as {message!r}.")
        if _sentences.setdefault(wording, message) != message:
            raise ValueError(f"{wording!r} is a wording of {_sentences[wording]!r} already.")
    return message


def kept(text: str) -> str:
    """A text that was kept in English, in the reader's language and today's wording; what is not ours stays as it is."""
    if not text.strip():
        return text
    if (said := gettext(text)) != text:
        return said
    parts = (
        gettext(message).format(**{name: _value(name, value) for name, value in values.items()})
        for message, values in taken_apart(text)
    )
    return " ".join(parts) or text


def kept_list(text: str, sign: str = "; ") -> str:
    """The same of several such texts with a sign between them."""
    return sign.join(map(kept, text.split(sign)))


def _value(name: str, text: str) -> str:
    """A value of a sentence: a number, words of ours, or a list of such, with how often each was said."""
    if _NUMBER.fullmatch(text):
        return text if _number is None else _number(text)
    if name not in OURS:
        return text
    if (said := kept(text)) != text:
        return said
    return "".join(
        kept(piece)
        if piece in _BETWEEN
        else _COUNTED.sub(lambda found: found[1] + kept(found[2]) + found[3], piece)
        for piece in re.split(f"({'|'.join(_BETWEEN)})", text)
    )


def sentences() -> list[str]:
    """The messages of all sentences that are kept, of the modules that are imported; no former wordings."""
    return list(dict.fromkeys(_sentences.values()))


@lru_cache(maxsize=4096)
def taken_apart(text: str) -> tuple[Said, ...]:
    """The sentences that a kept text is made of, one behind the other, each with its values as they are written in it.

    A former wording gives today's message. () where not all of it is known. Where several messages fit, the one with the
    most words of its own counts; where a text is one sentence or several, the shortest first sentence does.
    """
    if len(text) > LONGEST:
        return ()
    for cut in itertools.islice(re.finditer(r"(?<=[.?!]) ", text), MOST_CUTS):
        first = _one_sentence(text[: cut.start()])
        if first is not None and (others := taken_apart(text[cut.end() :])):
            return (first, *others)
    return () if (found := _one_sentence(text)) is None else (found,)


def _one_sentence(text: str) -> Said | None:
    for wording, pieces in _pieces(len(_sentences)):
        if (values := _values(pieces, text)) is not None:
            return _sentences[wording], values
    return None


@cache
def _pieces(number: int) -> list[tuple[str, list[str]]]:
    """All wordings with their texts and names in turn (text, name, text, name, ..., text), those with the most words of
    their own first; made anew as their number grows."""
    ordered = sorted(_sentences, key=lambda wording: (-len(_PLACE.sub("", wording)), wording))
    return [(wording, _PLACE.split(wording)) for wording in ordered]


def _values(pieces: Sequence[str], text: str) -> dict[str, str] | None:
    """The values with which a message gives this text, each as short as it can be; None where none do.

    A place holds one character or more, and the same text wherever its name is repeated.
    """
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
