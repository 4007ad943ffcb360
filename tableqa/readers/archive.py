"""Zip archives of questions and tables, unpacked for as long as they are read: plain files, bounded in number and size."""

import lzma
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from tableqa.language import grouped, phrase, reason_of, with_texts
from tableqa.readers.reader import START, ReaderError, check_is_text, is_excel
from tableqa.readers.workbook import is_workbook

MOST_UNPACKED = 1024 * 1024 * 1024
MOST_MEMBERS = 200_000
_LINK = 0xA
_UNREADABLE = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, struct.error, zlib.error, lzma.LZMAError
)  # fmt: skip

_FOLDER_OF: ContextVar[Callable[[Path], Path | None]] = ContextVar("folder_of", default=lambda _: None)


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive, and not a workbook, which is one, too."""
    return path.is_file() and path.suffix.lower() == ".zip" and not is_workbook(path)


@contextmanager
def unpacked_by(folder_of: Callable[[Path], Path | None]) -> Iterator[None]:
    """Within it `unpacked` asks `folder_of` for the folder of an archive first; None unpacks it for a while as usual."""
    token = _FOLDER_OF.set(folder_of)
    try:
        yield
    finally:
        _FOLDER_OF.reset(token)


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The folder that an archive unpacks to, for as long as it is read; the one folder in it, where it has only that.

    ReaderError as for `unpack`.
    """
    with tempfile.TemporaryDirectory(prefix="askew-archive-") as name:
        folder = _FOLDER_OF.get()(path)
        if folder is None:
            folder = Path(name)
            unpack(path, folder)
        name = str(folder)
        inner = list(folder.iterdir())
        try:
            yield inner[0] if len(inner) == 1 and inner[0].is_dir() else folder
        except ReaderError as error:
            raise named(error, name, path.name) from error


def named(error: ReaderError, folder: str, archive: str) -> ReaderError:
    """The same fault with the archive, which people know, in place of the folder that it was unpacked to for a while."""

    def shown(text: str) -> str:
        return text.replace(folder, archive)

    same = ReaderError(
        shown(error.file), error.line, with_texts(error.what, shown), error.mend, error.command
    )
    same.column = error.column
    return same


def unpack(path: Path, folder: Path) -> None:
    """Unpack a zip archive below a folder: plain files only, bounded in number and size, without what macOS puts beside.

    ReaderError for a file that is no archive (a workbook is none), a damaged or locked one, too many or too large files, a
    link, a name that is there twice or missing, and a path that leads out.
    """
    try:
        if is_workbook(path):
            raise is_excel(path)
        if not zipfile.is_zipfile(path):
            with path.open("rb") as file:
                start = file.read(START)
            if not start.startswith(b"PK"):
                check_is_text(path, start)
        with zipfile.ZipFile(path) as archive:
            _extract(path, archive, folder)
    except OSError as error:
        what = phrase("the zip archive cannot be unpacked: {reason}", reason=error.strerror or error)
        raise ReaderError(path, None, what, phrase("Create it again")) from error
    except _UNREADABLE as error:
        if isinstance(error, ReaderError):
            raise
        what = phrase("the zip archive cannot be read: {error}", error=reason_of(error))
        raise ReaderError(path, None, what, phrase("Create it again, without a password")) from error


def _extract(path: Path, archive: zipfile.ZipFile, folder: Path) -> None:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise ReaderError(
            path,
            None,
            phrase("it contains more than {most} files", most=grouped(MOST_MEMBERS)),
            phrase("Split it"),
        )
    left = MOST_UNPACKED
    seen = set()
    for member in members:
        if not member.filename:
            raise zipfile.BadZipFile(phrase("a file in it has no name"))
        target = folder / member.filename
        if not target.resolve().is_relative_to(folder.resolve()) or "\\" in member.filename:
            what = phrase("the path {filename!r} leads out of the archive", filename=member.filename)
            raise ReaderError(path, None, what, phrase("Create the archive again"))
        if member.external_attr >> 28 == _LINK:
            mend = phrase("Put the file itself into the archive")
            raise ReaderError(path, None, phrase("{filename!r} is a link", filename=member.filename), mend)
        if member.is_dir() or member.filename.startswith("__MACOSX/"):
            continue
        if target in seen:
            mend = phrase("Give every file its own name")
            raise ReaderError(
                path, None, phrase("two files have the name {filename!r}", filename=member.filename), mend
            )
        seen.add(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Sizes are counted while unpacking, not believed from the archive's own list.
        with archive.open(member) as inside, target.open("wb") as out:
            while block := inside.read(1 << 20):
                left -= len(block)
                if left < 0:
                    what = phrase(
                        "it unpacks to more than {most} bytes",
                        most=grouped(MOST_UNPACKED),
                    )
                    raise ReaderError(
                        path, None, what, phrase("Split it"), phrase("Split it, or give the unpacked folder")
                    )
                out.write(block)
