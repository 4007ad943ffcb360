"""Zip archives of questions and tables, unpacked for as long as they are read: plain files, bounded in number and size."""

import gzip
import lzma
import posixpath
import re
import struct
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from copy import copy
from pathlib import Path
from typing import IO

from tableqa.core.translation import grouped, phrase, reason_of, with_texts
from tableqa.readers.interface import FETCH, START, ReaderError, check_is_text, is_excel
from tableqa.readers.table_kinds import SUFFIXES
from tableqa.readers.workbook import is_workbook, names_in_archive

MOST_UNPACKED = 1024 * 1024 * 1024
MOST_MEMBERS = 200_000
MANY_FILES = 500
"""Files of an archive from which a preview unpacks only what it shows."""
MANY_IN_FOLDER = 100
_TABLES = frozenset(SUFFIXES) - {""}
_LINK = 0xA
_DRIVE = re.compile("[A-Za-z]:")
UNREADABLE = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, struct.error, zlib.error, lzma.LZMAError
)  # fmt: skip

_FOLDER_OF: ContextVar[Callable[[Path], Path | None]] = ContextVar("folder_of", default=lambda _: None)


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive, and not a workbook, which is one, too."""
    return path.is_file() and path.suffix.lower() == ".zip" and not is_workbook(path)


@contextmanager
def use_unpacked_folders(folder_of: Callable[[Path], Path | None]) -> Iterator[None]:
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
            raise with_archive_name(error, name, path.name) from error


def with_archive_name(error: ReaderError, folder: str, archive: str) -> ReaderError:
    """The same fault with the archive, which people know, in place of the folder that it was unpacked to for a while."""

    def shown(text: str) -> str:
        return text.replace(folder, archive)

    same = copy(error)
    same.file, same.what = shown(error.file), with_texts(error.what, shown)
    return same


def unpack(path: Path, folder: Path) -> None:
    """Unpack a zip archive below a folder: plain files only, bounded in number and size, without what macOS puts beside.

    ReaderError for a file that is no archive (a workbook is none), a damaged or locked one, too many or too large files, a
    link, a name that is there twice or missing, and a path that leads out.
    """
    with _zip_errors_translated(path), _open_zip(path) as archive:
        remaining_bytes = MOST_UNPACKED
        for name, member in _members(path, archive).items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            remaining_bytes = unpack_file(path, archive.open(member), target, remaining_bytes)


def _open_zip(path: Path) -> zipfile.ZipFile:
    if is_workbook(path):
        raise is_excel(path)
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            start = file.read(START)
        if not start.startswith(b"PK"):
            check_is_text(path, start)
    return zipfile.ZipFile(path)


@contextmanager
def _zip_errors_translated(path: Path) -> Iterator[None]:
    """What Python's zipfile raises, as ReaderError."""
    try:
        yield
    except OSError as error:
        what = phrase("the zip archive cannot be unpacked: {reason}", reason=error.strerror or error)
        raise ReaderError(path, None, what, phrase("Create it again")) from error
    except UNREADABLE as error:
        if isinstance(error, ReaderError):
            raise
        what = phrase("the zip archive cannot be read: {error}", error=reason_of(error))
        if isinstance(error, RuntimeError):  # Python's word for a password that is missing
            what = phrase("the zip archive has a password")
        raise ReaderError(path, None, what, phrase("Create it again, without a password")) from error


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The plain files of an archive by their names; ReaderError for what is not unpacked."""
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        what = phrase("it contains more than {most} files", most=grouped(MOST_MEMBERS))
        raise ReaderError(path, None, what, phrase("Split it"))
    files: dict[str, zipfile.ZipInfo] = {}
    for member in members:
        if not member.filename:
            raise zipfile.BadZipFile(phrase("a file in it has no name"))
        written = member.filename.replace("\\", "/")  # some programs on Windows write \\ for /
        name = posixpath.normpath(written)
        if name.startswith(("/", "../")) or name == ".." or _DRIVE.match(name):
            what = phrase("the path {filename!r} leads out of the archive", filename=member.filename)
            raise ReaderError(path, None, what, phrase("Create the archive again"))
        if member.external_attr >> 28 == _LINK:
            mend = phrase("Put the file itself into the archive")
            raise ReaderError(path, None, phrase("{filename!r} is a link", filename=member.filename), mend)
        if written.endswith("/") or written.startswith("__MACOSX/"):
            continue
        if name in files:
            mend = phrase("Give every file its own name")
            what = phrase("two files have the name {filename!r}", filename=member.filename)
            raise ReaderError(path, None, what, mend)
        files[name] = member
    if sum(member.file_size for member in files.values()) > MOST_UNPACKED:
        raise _too_large(path)
    return files


def _too_large(path: Path) -> ReaderError:
    what = phrase("it unpacks to more than {most} bytes", most=grouped(MOST_UNPACKED))
    return ReaderError(path, None, what, phrase("Split it"), phrase("Split it, or unpack it first"))


def unpack_file(path: Path, packed: IO[bytes] | gzip.GzipFile, target: Path, remaining_bytes: int) -> int:
    """Unpack a file of at most `remaining_bytes` bytes from the archive at `path`. Returns how many are left after it;
    ReaderError.

    Sizes are counted while unpacking: the archive's own list may say less than there is.
    """
    with packed, target.open("wb") as out:
        while block := packed.read(1 << 20):
            remaining_bytes -= len(block)
            if remaining_bytes < 0:
                raise _too_large(path)
            out.write(block)
    return remaining_bytes


def has_many_tables(path: Path) -> bool:
    """Whether an archive has enough tables that `partly_unpacked` is worth it; False for what is no archive."""
    try:
        return len(names_in_archive(path)) > MANY_FILES
    except (OSError, *UNREADABLE):
        return False


@contextmanager
def partly_unpacked(path: Path, folder: Path) -> Iterator[None]:
    """Unpack an archive below a folder; files of folders that hold many tables only when a reader asks for one.

    ReaderError as for `unpack`, as far as it was read.
    """
    later: dict[str, zipfile.ZipInfo] = {}
    with ExitStack() as stack:
        with _zip_errors_translated(path):
            archive = stack.enter_context(_open_zip(path))
            members = _members(path, archive)
            crowded = _crowded_folders(members)
            for inner in {posixpath.dirname(name) for name in members}:
                (folder / inner).mkdir(parents=True, exist_ok=True)
            remaining_bytes = MOST_UNPACKED
            for name, member in members.items():
                if posixpath.dirname(name) in crowded and posixpath.splitext(name)[1].lower() in _TABLES:
                    later[f"{folder}/{name}"] = member
                else:
                    remaining_bytes = unpack_file(path, archive.open(member), folder / name, remaining_bytes)
        before = FETCH.get()

        def fetch(target: Path) -> None:
            before(target)
            if str(target) in later:
                with _zip_errors_translated(path):
                    unpack_file(path, archive.open(later[str(target)]), target, MOST_UNPACKED)
                del later[str(target)]

        token = FETCH.set(fetch)
        try:
            yield
        finally:
            FETCH.reset(token)


def _crowded_folders(names: Iterable[str]) -> set[str]:
    """The folders below the one of the questions that hold many files."""
    files = Counter(posixpath.dirname(name) for name in names)
    tops = {name.split("/")[0] if "/" in name else "" for name in names}
    questions_in = {"", *tops} if len(tops) == 1 else {""}
    return {
        folder for folder, count in files.items() if count > MANY_IN_FOLDER and folder not in questions_in
    }
