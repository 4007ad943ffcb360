"""The encoding and the separator of a text file that a person wrote, detected from its bytes and never guessed silently."""

import codecs
import csv
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice, takewhile, tee
from pathlib import Path
from typing import Any

from tableqa.core.translation import gettext_noop, grouped, joined, phrase, word
from tableqa.readers.encoding_detection import SEVERAL_BYTES, SINGLE_BYTE, Guess, encoding_by_letters
from tableqa.readers.interface import MAX_TABLE_BYTES, START, ReaderError, cannot_open, check_is_text, opened
from tableqa.readers.reading_options import offering, option

SEPARATORS = {
    ",": gettext_noop("comma"),
    ";": gettext_noop("semicolon"),
    "\t": gettext_noop("tab"),
    "|": gettext_noop("pipe"),
}
"""Separators that are detected in every file, with their names."""
SPACES = "  "
"""The separator of columns that are aligned with two or more spaces."""
SPACE = " "
"""The separator of R's write.table."""
RARE = {
    "^": gettext_noop("caret"),
    "~": gettext_noop("tilde"),
    "#": gettext_noop("number sign"),
    ":": gettext_noop("colon"),
    SPACES: gettext_noop("spaces"),
    SPACE: gettext_noop("space"),
}
"""Separators that are detected only where nothing else fits."""
ENCODING_NAMES = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "mac-roman": "Mac Roman",
    "koi8-r": "KOI8-R",
    "cp850": "CP850",
    "iso8859-15": "ISO-8859-15",
    "cp932": "Shift JIS",
    "gb18030": "GB 18030",
    "euc_kr": "EUC-KR",
    "big5": "Big5",
}
MOST_COMMENTS = 50
"""Lines above the header that may be comments."""
MOST_TITLES = 3
"""Lines above the header that may be titles, or empty."""
ROWS_COMPARED = 200
"""Rows by which the separator is known."""
SAMPLE = 64 * 1024
"""Bytes around the first one that is not ASCII, by which an encoding other than Unicode is known."""

_BLOCK = 1024 * 1024
_NAME_ENCODING = (
    phrase("Save the file as UTF-8, or choose its encoding"),
    phrase("Save the file as UTF-8, or name its encoding: --field encoding=NAME"),
)
"""What to do on a page and on the command line."""
_LEGACY = (*SINGLE_BYTE, *SEVERAL_BYTES)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_IN_UTF8 = re.compile(
    rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|\xc2[\x80-\xbf]"
)
_CHARSET = re.compile(rb"<meta\s[^<>]*charset\s*=\s*(?:[\"']\s*)?([a-z0-9_:.-]{1,40})", re.IGNORECASE)
_AS_IN_BROWSERS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip
"""Encodings that browsers take for others, which have more letters."""
_SEPARATOR_LINE = re.compile(r"\"?sep=(.)\"?[\r\n]*", re.IGNORECASE)
_SEVERAL_SPACES = re.compile(" {2,}")
_OF_LETTERS = re.compile(r"\\[tnrN\\]")
_WORD = re.compile(r"[\w\u0080-\U0010ffff]+")


@dataclass(frozen=True, slots=True)
class TextForm:
    """How a text file is to be read: Python's name of its encoding, and the separator of its fields.

    is_certain  False where the encoding is a guess and another one is nearly as likely
    comments    lines above the header: comments or titles
    """

    encoding: str
    separator: str
    is_certain: bool = True
    comments: int = 0

    def sentence(self, path: Path) -> str:
        """For the person who imports: "people.csv was read as semicolon-separated, Windows-1252 (Müller, Köln)."."""
        lines = islice(text_lines(path, self.encoding), 10 * ROWS_COMPARED)
        samples = ", ".join(words_beyond_ascii(lines)) if self.encoding in _LEGACY else ""
        encoding = f"{encoding_name(self.encoding)}{f' ({samples})' if samples else ''}"
        read_as = phrase(
            "{file} was read as {separator}-separated, {encoding}.",
            file=path.name,
            separator=separator_name(self.separator),
            encoding=encoding,
        )
        doubt = "" if self.is_certain else phrase("The encoding is a guess: check these letters.")
        left_out = phrase("Lines above the header, left out: {number}.", number=self.comments)
        return joined([read_as, doubt, left_out if self.comments else ""])


def separator_name(separator: str) -> str:
    """The name of a separator, or the sign itself in quotes."""
    name = {**SEPARATORS, **RARE}.get(separator)
    return word(name) if name else repr(separator)


def check_separator(separator: str) -> None:
    """ValueError for what cannot part fields: it is one character, or two spaces."""
    if separator != SPACES and (len(separator) != 1 or separator in '"\r\n\0'):
        raise ValueError(
            phrase(
                "the separator {separator!r} is not one character, \\t (a tab) or two spaces",
                separator=separator,
            )
        )


def fields_of_lines(lines: Iterable[str], separator: str) -> Any:
    """The rows of lines with their ends as `csv.reader` reads them; two or more spaces are one separator SPACES."""
    if separator == SPACES:
        texts = (line.strip(" ").rstrip(" \r\n") for line in lines)
        lines, separator = (_SEVERAL_SPACES.sub("\x1f", text) + "\n" for text in texts), "\x1f"
    if (quotes := option("quotes")) in ("text", "escapes"):
        escape = "\\" if quotes == "escapes" else None
        if escape:  # those of letters are read in the fields
            lines = (_OF_LETTERS.sub(lambda match: match[0].replace("\\", "\\\\"), line) for line in lines)
        return csv.reader(
            lines, delimiter=separator, quoting=csv.QUOTE_NONE, quotechar=None, escapechar=escape, strict=True
        )
    if quotes == "backslash":
        lines = (line.replace('\\"', '""') for line in lines)
    return csv.reader(lines, delimiter=separator, strict=True)


def may_have_row_names(path: Path, form: TextForm) -> bool:
    """Whether a file may be one of R: separated by tabs, or with texts in quotes at the start of its first lines."""
    lines = islice(text_lines(path, form.encoding), form.comments, form.comments + 2)
    return form.separator == "\t" or all(line.startswith('"') for line in lines)


def encoding_name(encoding: str) -> str:
    """The name by which people know an encoding."""
    return ENCODING_NAMES.get(encoding, encoding)


def text_form(path: Path, encoding: str = "", separator: str = "", columns: Sequence[str] = ()) -> TextForm:
    """How a file is to be read. What is given is not detected; `columns` are names that its first row has.

    Raises ReaderError for a file that is no text, one whose encoding or separator cannot be known, and an encoding that
    Python does not know.
    """
    guess = Guess(checked_encoding(path, encoding), True) if encoding else detected_encoding(path)
    stated = _stated_separator(path, guess.encoding)
    comments = 1 if stated else _comments(path, guess.encoding, columns)
    separator = separator or stated or detected_separator(path, guess.encoding, columns, comments)
    return TextForm(guess.encoding, separator, guess.is_certain, comments)


def _stated_separator(path: Path, encoding: str) -> str:
    """The separator that a first line of Excel states, such as sep=;, or ""."""
    with (
        suppress(OSError, UnicodeError),
        path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding) as file,
    ):
        match = _SEPARATOR_LINE.fullmatch(file.readline(10))
        return match[1] if match else ""
    return ""


def checked_encoding(path: Path, encoding: str) -> str:
    """Python's name of an encoding that a person names; ReaderError where it is unknown or no encoding of texts."""
    try:
        codec = codecs.lookup(encoding)
        "a".encode(codec.name)
    except (LookupError, ValueError, TypeError) as error:
        mend = phrase("Name one such as UTF-8, UTF-16 or cp1252")
        what = phrase("there is no encoding {encoding!r}", encoding=encoding[:40])
        raise ReaderError(path, None, what, mend) from error
    return codec.name


def detected_encoding(path: Path) -> Guess:
    """A file's encoding, by its byte order mark, by being valid UTF-8, or by its letters; ReaderError."""
    detected = encoding_or_sample(path)
    return detected if isinstance(detected, Guess) else encoding_by_letters(detected)


def is_unicode(path: Path) -> bool:
    """Whether a file has a byte order mark, or is valid UTF-8 with letters beyond ASCII; ReaderError."""
    with opened(path) as file:
        if _encoding_of_mark(file.read(START)):
            return True
        if _first_fault(path, os.fstat(file.fileno())) is not None:
            return False
        file.seek(0)
        return any(not block.isascii() for block in iter(partial(file.read, _BLOCK), b""))


def encoding_or_sample(path: Path, is_page: bool = False) -> Guess | bytes:
    """The encoding that a file tells, else lines of it by whose letters it is guessed.

    It tells by its byte order mark, by being valid UTF-8, or by <meta> of a page.

    ReaderError for a file that cannot be opened, a workbook or an archive, and UTF-8 that is damaged: read as another
    encoding, its letters would be wrong without a word.
    """
    with opened(path) as file:
        start = file.read(START)
        if not is_page:
            check_is_text(path, start)
        if marked := _encoding_of_mark(start):
            return Guess(marked, True)
        fault = _first_fault(path, os.fstat(file.fileno()))
        if fault is None:
            return Guess("utf-8", True)
        line, at = fault
        file.seek(max(0, at - SAMPLE // 2))
        sample = file.read(SAMPLE)
        # Whole lines, so that no character is cut in two.
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    if _CONTROL.search(sample):
        raise ReaderError(path, line, phrase("this is not a text file"), phrase("Name a file of text"))
    in_utf8 = len(_IN_UTF8.findall(sample))
    if in_utf8 and in_utf8 >= len(_NOT_ASCII.findall(_IN_UTF8.sub(b"", sample))):
        what = phrase("the file is UTF-8 but for some bytes, the first of them in this line")
        if option("characters"):
            return Guess("utf-8", True)
        damaged = ReaderError(path, line, what, *_NAME_ENCODING)
        damaged.ways = {"encoding": [encoding_by_letters(sample).encoding]}
        raise offering(damaged, "characters", "replaced")
    stated = _stated_encoding(start) if is_page else ""
    return Guess(stated, True) if stated else sample


def _stated_encoding(start: bytes) -> str:
    """The encoding that <meta> of a page states, as browsers read it; "" for UTF-8, which it is not, and an unknown one."""
    match = _CHARSET.search(start)
    try:
        encoding = codecs.lookup(match[1].decode()).name if match else ""
    except LookupError:
        return ""
    return "" if encoding.startswith("utf") else _AS_IN_BROWSERS.get(encoding, encoding)


def _encoding_of_mark(start: bytes) -> str:
    """The encoding that a byte order mark names, or the zero bytes of UTF-16 without one; "" where neither is there."""
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    zeros_first, zeros_second = start[::2].count(0), start[1::2].count(0)
    if max(zeros_first, zeros_second) * 4 > len(start) and not min(zeros_first, zeros_second):
        return "utf-16-be" if zeros_first else "utf-16-le"
    return ""


def _first_fault(path: Path, state: os.stat_result) -> tuple[int, int] | None:
    """Line and byte offset of the first byte that is not UTF-8; None where all are. A large file is read once."""
    if state.st_size > _BLOCK:
        return _fault_of_file(path, state.st_size, state.st_mtime_ns)
    return _fault_of_file.__wrapped__(path, 0, 0)


@lru_cache(maxsize=64)
def _fault_of_file(path: Path, size: int, changed: int) -> tuple[int, int] | None:
    decode = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    with path.open("rb") as file:
        while True:
            block = file.read(_BLOCK)
            pending = len(decode.getstate()[0])
            try:
                if pending or not block or not block.isascii():
                    decode.decode(block, final=not block)
            except UnicodeDecodeError as error:
                at = offset + error.start - pending
                file.seek(0)
                blocks = (file.read(min(_BLOCK, at - begin)) for begin in range(0, at, _BLOCK))
                return 1 + sum(block.count(b"\n") for block in blocks), at
            if not block:
                return None
            offset += len(block)


def words_beyond_ascii(lines: Iterable[str], most: int = 3) -> list[str]:
    """The first words with letters beyond ASCII, by which a person sees that the encoding is right."""
    words: dict[str, None] = {}
    for line in lines:
        for candidate in _WORD.findall(line):
            if not candidate.isascii():
                words.setdefault(candidate[:30], None)
            if len(words) == most:
                return list(words)
    return list(words)


def _comments(path: Path, encoding: str, columns: Sequence[str]) -> int:
    """The number of lines above the header, where only the lines below them are rows of equal length.

    They begin with #, or they are titles: above a header that has two of the `columns`, or above an empty line.
    """
    column_names = {name.casefold() for name in columns}
    for line_count in range(MOST_TITLES + 1 if column_names else 0):
        for separator in SEPARATORS:
            header, is_even = _first_row(path, encoding, separator, line_count)
            if is_even and len(column_names & {name.strip().casefold() for name in header}) > 1:
                return line_count
    lines = list(islice(text_lines(path, encoding), MOST_COMMENTS + 1))
    marked = next((at for at, line in enumerate(lines) if not line.startswith("#")), 0)
    titles = list(takewhile(str.strip, lines))
    if not marked and (len(titles) < 2 or not any(sign in "".join(titles) for sign in SEPARATORS)):
        marked = len(titles) + 1 if len(titles) <= MOST_TITLES else 0
    fits = (at for at in (0, marked) if any(_is_even(path, encoding, sign, at) for sign in SEPARATORS))
    return next(fits, 0)


def _is_even(path: Path, encoding: str, separator: str, comments: int) -> bool:
    header, is_even = _first_row(path, encoding, separator, comments)
    return is_even and len(header) > 1


def text_lines(path: Path, encoding: str, comments: int = 0) -> Iterator[str]:
    """The lines of a file with their ends (LF, CRLF or CR); memory stays flat. The first `comments` are empty.

    ReaderError with the line for bytes that are not of this encoding, NUL characters and a line over MAX_TABLE_BYTES.
    """
    line_number = 1
    try:
        # The ends stay as they are: a field in quotes may hold them.
        codec = "utf-8-sig" if encoding == "utf-8" else encoding
        errors = "replace" if option("characters") else None
        with path.open(encoding=codec, errors=errors, newline="") as file:
            while line := file.readline(MAX_TABLE_BYTES + 1):
                if len(line) > MAX_TABLE_BYTES:
                    what = phrase("the line is longer than {most} characters", most=grouped(MAX_TABLE_BYTES))
                    raise ReaderError(path, line_number, what, phrase("Check that this is the right file"))
                if line_number == 1 and _SEPARATOR_LINE.fullmatch(line):
                    line = "\n"  # of Excel; the numbers of the lines stay
                elif line_number <= comments:
                    line = "\n"
                elif line_number > 1:
                    line = line.removeprefix("\ufeff")  # of a file that was put behind another one
                if option("characters"):
                    line = line.replace("\0", "\ufffd")
                if "\0" in line:
                    mend = phrase("Fetch the file again: it is damaged or binary")
                    error = ReaderError(path, line_number, phrase("the line contains a NUL character"), mend)
                    raise offering(error, "characters", "replaced")
                yield line
                line_number += 1
    except UnicodeError as error:
        what = phrase(
            "near this line there are bytes that are not {encoding}",
            encoding=encoding_name(encoding),
        )
        raise ReaderError(path, line_number, what, *_NAME_ENCODING) from error
    except OSError as error:
        raise cannot_open(path, error) from error


def detected_separator(path: Path, encoding: str, columns: Sequence[str] = (), comments: int = 0) -> str:
    """The one of SEPARATORS, else of RARE, that parts all rows into equally many fields; a comma where there is none.

    Of several, a tab, then the one that gives one of `columns` in the first row, is taken; otherwise ReaderError. Where
    none does, the one that the first row has most of: reading then says which row differs.
    """
    lines: Iterable[Iterator[str]]
    if path.stat().st_size <= SAMPLE:  # as of most tables
        lines = tee(text_lines(path, encoding, comments), len(SEPARATORS))
    else:
        lines = (text_lines(path, encoding, comments) for _ in SEPARATORS)
    shapes = {sign: _shape(each, sign) for sign, each in zip(SEPARATORS, lines, strict=True)}
    fitting = [separator for separator, (header, even) in shapes.items() if even and len(header) > 1]
    if "\t" in fitting or len(fitting) == 1:
        return "\t" if "\t" in fitting else fitting[0]
    among = fitting or list(SEPARATORS)
    column_names = {name.casefold() for name in columns}
    naming = {s: len(column_names & {name.strip().casefold() for name in shapes[s][0]}) for s in among}
    most = max(naming.values())
    if most and list(naming.values()).count(most) == 1:
        return max(naming, key=naming.__getitem__)
    if fitting:
        names = joined((word(SEPARATORS[separator]) for separator in fitting), by=gettext_noop(" or "))
        error = ReaderError(
            path,
            1,
            phrase("the separator may be {names}: each gives rows of equal length", names=names),
            phrase("Choose the separator, or put fields that hold the other sign in quotes"),
            phrase("Name it: --field separator=';'. Or put fields that hold the other sign in quotes"),
        )
        error.ways = {"separator": fitting}
        raise error
    if rare := _rare_separator(path, encoding, column_names):
        return rare
    return max(SEPARATORS, key=lambda separator: len(shapes[separator][0]))


def _rare_separator(path: Path, encoding: str, column_names: set[str]) -> str:
    """The one of RARE that parts at least two rows into equally many fields; "" where none or several do.

    The first row has to name one of `column_names`. Without any, a colon is none: cells often hold one.
    """
    fitting = []
    for separator in RARE:
        rows: list[list[str]] = []
        with suppress(csv.Error):
            lines = (
                line.replace('\\"', '""') for line in text_lines(path, encoding)
            )  # of R: an option reads them
            rows = list(filter(None, islice(fields_of_lines(lines, separator), ROWS_COMPARED)))
        header = rows[0] if rows else []
        further = {len(row) - len(header) for row in rows[1:]}
        has_names = bool(column_names & {name.strip().casefold() for name in header})
        is_even = further == {0}
        if separator == SPACE:  # of R, or of pandas
            is_quoted = next(text_lines(path, encoding), "").startswith('"')
            has_texts = any(SPACE in cell for row in rows for cell in row)  # in quotes
            is_even = (
                further in ({0}, {1}) if is_quoted else is_even and (has_names or has_texts or not header[0])
            )
        if len(header) > 1 and is_even and (has_names or not (column_names or separator == ":")):
            fitting.append(separator)
    return fitting[0] if len(fitting) == 1 else ""


def has_columns(path: Path, form: TextForm) -> bool:
    """Whether the first rows of a file have equally many fields, at least two; below the header of R one more."""
    return form.separator == SPACE or _is_even(path, form.encoding, form.separator, form.comments)


def _first_row(path: Path, encoding: str, separator: str, comments: int = 0) -> tuple[list[str], bool]:
    """The first row that a separator gives, and whether the rows after it are as long."""
    return _shape(text_lines(path, encoding, comments), separator)


def _shape(lines: Iterable[str], separator: str) -> tuple[list[str], bool]:
    header: list[str] = []
    try:
        for row in islice(fields_of_lines(lines, separator), ROWS_COMPARED):
            if not header:
                header = row
            elif row and len(row) != len(header):
                return header, False
    except csv.Error:
        return header, False
    return header, True
