"""The encoding of table files from before Unicode: one for all of them, by their letters together."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path

from tableqa.core.translation import joined, phrase
from tableqa.readers.encoding_detection import Guess, encoding_by_letters
from tableqa.readers.interface import ReaderError
from tableqa.readers.text_form import (
    checked_encoding,
    encoding_name,
    encoding_or_sample,
    is_unicode,
    words_beyond_ascii,
)

MOST_FILES = 100
"""Files whose letters are compared; a preview unpacks no more of them."""
_LINES = 40
"""Lines with letters beyond ASCII that are taken of each file."""
PAGES = (".html", ".htm", ".xhtml")
"""Suffixes of web pages."""


class TableEncoding:
    """The encoding of each of the table files that questions name.

    chosen  the encoding of files that are not Unicode, by any of its names; "" to detect it
    files   the table files, each once
    """

    def __init__(self, chosen: str, files: Callable[[], Iterator[Path]]) -> None:
        self.chosen = chosen
        self._files = files

    def of(self, path: Path) -> str:
        """Python's name of the encoding of a file; ReaderError."""
        if self.chosen and not is_unicode(path):
            return checked_encoding(path, self.chosen)
        detected = encoding_or_sample(path, is_page(path))
        if isinstance(detected, Guess):
            return detected.encoding
        return (self.shared or encoding_by_letters(detected)).encoding

    @cached_property
    def shared(self) -> Guess | None:
        """The encoding in which the letters of all files together are most likely; None where all tell theirs.

        It is not certain where the letters of one file alone are certainly in another one.
        """
        if not self._samples:
            return None
        guess = encoding_by_letters(b"".join(self._samples))
        alone = [encoding_by_letters(sample) for sample in self._samples]
        agree = all(other.encoding == guess.encoding for other in alone if other.is_certain)
        return Guess(guess.encoding, guess.is_certain and agree)

    @cached_property
    def _samples(self) -> list[bytes]:
        samples = []
        for file in islice(self._files(), MOST_FILES):
            with suppress(ReaderError):  # reading the table tells it
                detected = encoding_or_sample(file, is_page(file))
                if isinstance(detected, bytes):
                    lines = (line for line in detected.splitlines(keepends=True) if not line.isascii())
                    samples.append(b"".join(islice(lines, _LINES)))
        return samples

    def sentence(self) -> str:
        """For the person who imports, how tables were read that do not tell their encoding; "" where all do."""
        if self.chosen or self.shared is None:
            return ""
        text = b"".join(self._samples).decode(self.shared.encoding, errors="replace")
        samples = ", ".join(words_beyond_ascii(text.splitlines()))
        name = encoding_name(self.shared.encoding)
        read_as = phrase(
            "Tables that are not Unicode were read as {encoding}.",
            encoding=f"{name} ({samples})" if samples else name,
        )
        doubt = "" if self.shared.is_certain else phrase("The encoding is a guess: check these letters.")
        return joined([read_as, doubt])


def is_page(path: Path) -> bool:
    """Whether a file is a web page, by its suffix."""
    return path.suffix.lower() in PAGES
