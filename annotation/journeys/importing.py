"""Examples in: from a reader's files to a Source that is invisible until it is whole.

Two passes. The first reads everything and writes nothing to the database: it finds the bad line, the repeated id and
the difference to what was imported before, and lays what is new on disk as rows. The second writes these rows, 1,000
examples a transaction.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import lzma
import re
import shutil
import struct
import tempfile
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext

import tableqa
from annotation import bulk, events, immutable, jobs
from annotation.models import Example, Job, Person, Project, Source, StoredTable, Upload
from annotation.refusals import Refused, refuse
from tableqa.readers import READERS, Describing, Mapped, Reader, ReaderError, Sifting, published_id
from tableqa.readers import credit as credit_of
from tableqa.readers.archive import MOST_MEMBERS, MOST_UNPACKED
from tableqa.readers.reader import START, check_is_text, is_excel

ROWS = 1_000
"""Examples written in one transaction."""
LONGEST_ID = 200
LONGEST_NAME = 120
SPLIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
MOST_UPLOAD = 200 * 1024 * 1024
MOST_SHOWN = 100
"""Numbered ids that the record of a job keeps."""
LOST = timedelta(hours=1)
"""An import that has not finished after this long was killed; the next one clears it away."""

_Stored = tuple[str, list[str], str]
"""Question, answers and table digest of an example."""
_Lookup = Callable[[Sequence[tableqa.Example]], dict[str, _Stored]]


@dataclass(frozen=True)
class Imported:
    """What an import did: the source, how many examples and tables it has, and whether anything was new.

    `numbered` are the ids that got a number because the source gives them more than once. `left_out` says what of the files
    was not taken, and why; "" where all was. `read_as` says in which form they were read, where that was detected.
    """

    source: Source
    examples: int
    tables: int
    new: bool
    numbered: tuple[str, ...] = ()
    left_out: str = ""
    read_as: str = ""


@bulk.seldom_collected()
def import_examples(
    *,
    project: Project,
    reader: str,
    path: Path,
    now: datetime,
    tables: Path | None = None,
    name: str = "",
    split: str = "",
    limit: int | None = None,
    fields: Mapping[str, str] | None = None,
    said: Mapping[str, str] | None = None,
    by: Person | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Imported:
    """Read `path` with the named reader into a new source. The same files again change nothing.

    `fields` says under which names the records hold the parts of an example, for readers that can be told. `said` is
    what a study file calls the path and the tables; it is kept for its export.

    Raises Refused(import_failed) naming file, line, what is wrong and how to mend it; nothing is
    left behind then.
    """
    read = _reader(reader, fields or {})
    name = name.strip() or path.stem
    _check_names(name, split)
    how = {
        **(said or {}),
        **({"limit": limit} if limit else {}),
        **({"fields": dict(fields)} if fields else {}),
    }
    rows = _Rows()
    try:
        _discard_abandoned(project, name, now)
        _refuse_another_format(project, name, reader)
        checksum = checksum_of(read.files(path, tables), limit, fields or {})
        earlier = Source.objects.ready().filter(project=project, name=name)
        same = earlier.filter(checksum=checksum).first()
        if same is not None:
            return Imported(same, same.examples_count, same.tables_count, new=False)
        known: _Lookup = partial(_known, project, name) if earlier.exists() else lambda chunk: {}
        numbered = _read_new(rows, read(path, tables=tables, limit=limit), known, path, progress)
        if not rows.number:
            newest = earlier.latest("ready_at")
            return Imported(newest, newest.examples_count, newest.tables_count, new=False)
        credit = credit_of(read, path, tables)
        source = Source.objects.create(
            project=project,
            name=name,
            reader=reader,
            split=split or _split(path),
            how=how,
            checksum=checksum,
            licence=credit.licence,
            citation=credit.citation,
            url=credit.url,
            made_by=by,
            started_at=now,
        )
        try:
            left_out = read.left_out(path, tables, limit) if isinstance(read, Sifting) else ""
            read_as = read.read_as(path, tables) if isinstance(read, Describing) else ""
            done = _write(source, rows, progress, by)
            return replace(done, numbered=tuple(numbered), left_out=left_out, read_as=read_as)
        except BaseException:
            discard(source)
            raise
    except ReaderError as error:
        refuse("import_failed", str(error))
    finally:
        rows.close()


def _reader(name: str, fields: Mapping[str, str]) -> Reader:
    """The reader of that name, told a person's own names of fields. Raises Refused(import_failed)."""
    if name not in READERS:
        refuse(
            "import_failed",
            "There is no reader {reader!r}. Available: {value}.",
            reader=name,
            value=", ".join(sorted(READERS)),
        )
    return _told(READERS[name], fields) if fields else READERS[name]


def _check_names(name: str, split: str) -> None:
    """Raises Refused(import_failed) for a source name or a split that cannot be stored."""
    if len(name) > LONGEST_NAME or (split and SPLIT.fullmatch(split) is None):
        refuse(
            "import_failed",
            "A source name has at most {longest_name} characters. A split may contain letters, "
            "digits, '.', '_' and '-'.",
            longest_name=LONGEST_NAME,
        )


def _discard_abandoned(project: Project, name: str, now: datetime) -> None:
    """Delete sources of this name whose import was killed."""
    abandoned = Source.objects.filter(
        project=project, name=name, ready_at__isnull=True, started_at__lt=now - LOST
    )
    for source in abandoned:
        discard(source)


def _read_new(
    rows: _Rows,
    examples: Iterable[tableqa.Example],
    known: _Lookup,
    path: Path,
    progress: Callable[[int, int], None],
) -> list[str]:
    """Read all examples and add the new ones to `rows`. Returns the ids that the reader numbered.

    known: maps some examples to what earlier sources of this name hold under their ids.
    Raises Refused(import_failed) for an id that is too long, a difference from an earlier import, and no examples.
    """
    total = 0
    numbered: list[str] = []
    for chunk in _chunks(examples):
        stored = known(chunk)
        for example in chunk:
            if len(example.id) > LONGEST_ID:
                refuse(
                    "import_failed",
                    "{name}: the id {id!r}… is longer than {longest_id} characters. Shorten it.",
                    name=path.name,
                    id=example.id[:40],
                    longest_id=LONGEST_ID,
                )
            _compare(example, stored, path)
            if published_id(example) is not None:
                numbered.append(example.id)
            if example.id not in stored:
                rows.add(example)
        total += len(chunk)
        progress(0, 0)  # a sign of life: the total is not known yet
    if not total:
        refuse("import_failed", "{name}: the file contains no examples.", name=path.name)
    return numbered


def _told(read: Reader, fields: Mapping[str, str]) -> Reader:
    """The reader with a person's own names of fields. Raises Refused where it knows its fields, or not these parts."""
    if not isinstance(read, Mapped):
        able = ", ".join(name for name, one in sorted(READERS.items()) if isinstance(one, Mapped))
        refuse(
            "import_failed",
            "The reader {name!r} has fixed field names. Readers with custom fields: {able}.",
            name=read.name,
            able=able,
        )
    try:
        return read.with_fields(fields)
    except ValueError as error:
        refuse("import_failed", f"{error}.")


def check_fields(reader: str, fields: Mapping[str, str]) -> None:
    """Raises Refused(import_failed) where the reader cannot be told these names of fields."""
    if fields and reader in READERS:
        _told(READERS[reader], fields)


def discard(source: Source) -> None:
    """Remove what an import that did not finish left behind. Tables are shared by digest and stay."""
    if Source.objects.filter(pk=source.pk, ready_at__isnull=True).exists():
        with immutable.writable():
            Example.objects.filter(source=source).delete()
        Source.objects.filter(pk=source.pk, ready_at__isnull=True).delete()


def require_size(file: UploadedFile, most: int, *, code: str, fix: str) -> str:
    """Refuse an uploaded file that is empty or larger than `most` bytes. Returns its name. Raises Refused(code)."""
    name, size = str(file.name or "file"), file.size or 0
    if not size:
        refuse(code, "{name} is empty.", name=name)
    if size > most:
        refuse(code, "{name} is larger than {value} MB. {fix}", name=name, value=most // 2**20, fix=fix)
    return name


def keep_upload(*, project: Project, file: UploadedFile, by: Person, now: datetime) -> Upload:
    """Store an uploaded file under a name of ours. Raises Refused when it is too large or empty."""
    fix = gettext("Import it from the command line: ./run manage import_examples")
    name = require_size(file, MOST_UPLOAD, code="import_failed", fix=fix)
    upload = Upload(project=project, name=name[:255], made_by=by, made_at=now)
    try:
        upload.file.save(upload.public_id, file, save=False)
    except OSError as error:
        upload.file.storage.delete(f"uploads/{upload.public_id}")  # as much of it as found room
        if error.errno not in jobs.NO_ROOM:
            raise
        refuse(
            "import_failed",
            "The disk of this site has no space for {name}. Notify the site administrator and try "
            "again later.",
            name=name,
        )
    upload.save()
    return upload


def start_import(
    *,
    project: Project,
    reader: str,
    questions: Upload,
    tables: Upload | None,
    by: Person,
    now: datetime,
    name: str = "",
    split: str = "",
    limit: int | None = None,
    fields: Mapping[str, str] | None = None,
) -> Job:
    """Import uploaded files in the background; `name` and the rest as `import_examples` takes them."""
    ids: dict[str, Any] = {
        "name": name,
        "split": split,
        "limit": limit,
        "fields": dict(fields or {}),
        "reader": reader,
        "questions": questions.pk,
        "tables": tables.pk if tables else None,
    }
    return jobs.enqueue(project=project, kind="import", ids=ids, by=by, now=now)


@jobs.kind("import")
def _run_import(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    uploads = {
        key: Upload.objects.get(pk=job.ids[key]) for key in ("questions", "tables") if job.ids.get(key)
    }
    try:
        done = _import_uploads(job, uploads, progress)
    finally:
        # Imported, or refused for good. A worker that is killed leaves the files for the next attempt.
        _forget(uploads.values())
    return {
        "source": done.source.public_id,
        "examples": done.examples,
        "tables": done.tables,
        "new": done.new,
        "numbered": list(done.numbered[:MOST_SHOWN]),
        **({"left_out": done.left_out} if done.left_out else {}),
        **({"read_as": done.read_as} if done.read_as else {}),
    }


def _import_uploads(job: Job, uploads: dict[str, Upload], progress: jobs.Progress) -> Imported:
    name = job.ids.get("name") or Path(uploads["questions"].name).stem[:LONGEST_NAME]
    if job.attempts > 1:
        # What an earlier attempt wrote, whose worker was lost, is in nobody's sight and in nobody's use.
        for left in Source.objects.filter(
            project=job.project,
            name=name.strip(),
            ready_at__isnull=True,
            made_by=job.made_by,
            started_at__gte=job.made_at,
        ):
            discard(left)
    with tempfile.TemporaryDirectory(prefix="askew-import-") as folder:
        # Always a folder of the upload's own, empty if need be: a reader without one looks around on this machine.
        tables, questions = Path(folder) / "tables", Path(folder) / "questions"
        tables.mkdir()
        questions.mkdir()
        path = questions / _file_name(uploads["questions"].name)
        try:
            with uploads["questions"].file.open("rb") as sent, path.open("wb") as copy:
                shutil.copyfileobj(sent, copy)
            if "tables" in uploads:
                with uploads["tables"].file.open("rb") as sent:
                    unpack(sent, tables, uploads["tables"].name)
            return import_examples(
                project=job.project,
                reader=job.ids["reader"],
                path=path,
                tables=tables,
                name=name,
                split=job.ids.get("split", ""),
                limit=job.ids.get("limit"),
                fields=job.ids.get("fields"),
                by=job.made_by,
                now=timezone.now(),
                progress=progress,
            )
        except FileNotFoundError:
            if all(one.file.storage.exists(one.file.name or "") for one in uploads.values()):
                raise
            refuse("import_failed", "An uploaded file of this import is missing. Upload the files again.")
        except Refused as refused:
            said = refused.detail.replace(f"{questions}/", "").replace(f"{folder}/", "")
            refuse(refused.code, said)


def _file_name(sent_as: str) -> str:
    """The last part of the name that a file was sent under, short enough for any file system."""
    name = PurePosixPath(sent_as.replace("\\", "/")).name
    return name[-60:] if name.strip(".") else "questions"


def _forget(uploads: Iterable[Upload]) -> None:
    """What was imported, or refused for good, need not lie about; a crash leaves it for the next attempt."""
    for upload in uploads:
        upload.file.delete(save=False)


UNREADABLE = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, struct.error, zlib.error, lzma.LZMAError
)  # fmt: skip
"""What reading an archive fails with where it is none, or damaged, in any of the ways that members are compressed."""


def unpack(archive: Any, folder: Path, name: str) -> None:
    """Unpack an uploaded zip: plain files below `folder` only, bounded in number and size.

    Sizes are counted while unpacking, not believed from the archive's own list.
    """
    left = MOST_UNPACKED
    try:
        if not zipfile.is_zipfile(archive):
            archive.seek(0)
            check_is_text(Path(name), archive.read(START))
        with zipfile.ZipFile(archive) as packed:
            members = packed.infolist()
            if "[Content_Types].xml" in packed.namelist():
                raise is_excel(Path(name))
            if len(members) > MOST_MEMBERS:
                refuse(
                    "import_failed",
                    "{name} contains more than {most_members} files.",
                    name=name,
                    most_members=MOST_MEMBERS,
                )
            for member in members:
                if not member.filename:
                    raise zipfile.BadZipFile(gettext("a file in it has no name"))
                target = folder / member.filename
                if (
                    not target.resolve().is_relative_to(folder.resolve())
                    or (member.external_attr >> 28) == 0xA
                ):
                    refuse(
                        "import_failed",
                        "{name}: the path {filename!r} is outside the archive.",
                        name=name,
                        filename=member.filename,
                    )
                if member.is_dir():
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(member) as inside, target.open("wb") as out:
                    while block := inside.read(1 << 20):
                        left -= len(block)
                        if left < 0:
                            size = f"{MOST_UNPACKED // 2**20} MB"
                            refuse(
                                "import_failed",
                                "{name} is larger than {size} when unpacked.",
                                name=name,
                                size=size,
                            )
                        out.write(block)
    except ReaderError as error:
        refuse("import_failed", str(error))
    except OSError as error:
        refuse("import_failed", "{name} cannot be unpacked: {strerror}.", name=name, strerror=error.strerror)
    except UNREADABLE as error:
        refuse("import_failed", "{name} is not a readable zip archive: {error}", name=name, error=error)


# -- underneath -------------------------------------------------------------------------------------


class _Rows:
    """New examples on disk, as they will be written: each table once, at least until a thousand others came.

    The files are read once, and the memory does not grow with them.
    """

    def __init__(self) -> None:
        self.number = 0
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 (see close)
        self._written: OrderedDict[str, None] = OrderedDict()

    def close(self) -> None:
        self._file.close()

    def add(self, example: tableqa.Example) -> None:
        digest = example.table.digest()
        row = [example.id, example.question, list(example.answers), example.beside(), digest]
        if digest not in self._written:
            row.append(json.dumps(example.table.to_dict()))
            self._written[digest] = None
            if len(self._written) > ROWS:
                self._written.popitem(last=False)
        self._file.write(json.dumps(row) + "\n")
        self.number += 1

    def chunks(self) -> Iterator[list[list[Any]]]:
        """All of them, `ROWS` at a time: [id, question, answers, what lies beside, digest, the table as JSON if new]."""
        self._file.seek(0)
        while lines := list(itertools.islice(self._file, ROWS)):
            yield [json.loads(line) for line in lines]


def _write(source: Source, rows: _Rows, progress: Callable[[int, int], None], by: Person | None) -> Imported:
    written, total = 0, rows.number
    progress(0, total)
    for chunk in rows.chunks():
        with transaction.atomic():
            tables = {row[4]: bulk.Json(row[5]) for row in chunk if len(row) > 5}
            bulk.add_missing(StoredTable, ["digest", "content"], sorted(tables.items()))
            digests = {row[4] for row in chunk}
            stored = dict(StoredTable.objects.filter(digest__in=digests).values_list("digest", "pk"))
            bulk.insert(
                Example,
                _FIELDS,
                (
                    (source.pk, id, written + at, question, answers, stored[digest], digest, more)
                    for at, (id, question, answers, more, digest, *_) in enumerate(chunk)
                ),
            )
        written += len(chunk)
        progress(written, total)
    with transaction.atomic():
        # One import of a project at a time becomes visible: an id stands once under a name.
        Project.objects.select_for_update().filter(pk=source.project_id).values_list("pk").first()
        others = Source.objects.ready().filter(project_id=source.project_id, name=source.name)
        ids = Example.objects.filter(source=source).values("external_id")
        if written != total or Example.objects.filter(source__in=others, external_id__in=ids).exists():
            refuse("import_failed", "Another import has just added some of these examples. Try again.")
        now = timezone.now()
        tables_count = Example.objects.filter(source=source).values("stored_table").distinct().count()
        try:
            Source.objects.filter(pk=source.pk).update(
                ready_at=now, examples_count=written, tables_count=tables_count
            )
        except IntegrityError:
            refuse("import_failed", "Another import has just added the same files.")
        events.log(source, "", "ready", by=by, now=now)
    source.refresh_from_db()
    return Imported(source, written, source.tables_count, new=True)


_FIELDS = (
    "source_id", "external_id", "position", "question", "answers", "stored_table_id", "table_digest", "more",
)  # fmt: skip


def _chunks(examples: Iterable[tableqa.Example]) -> Iterator[list[tableqa.Example]]:
    stream = iter(examples)
    while chunk := list(itertools.islice(stream, ROWS)):
        yield chunk


def checksum_of(files: Iterable[Path], limit: int | None, fields: Mapping[str, str]) -> str:
    """SHA-256 over the names and bytes of everything the reader reads, the limit, and the fields it was told."""
    whole = hashlib.sha256(f"limit {limit}\n".encode())
    for part, name in sorted(fields.items()):
        whole.update(f"{part}={name}\n".encode())
    for file in files:
        try:
            with file.open("rb") as stream:
                whole.update(f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
        except OSError as error:
            why = error.strerror or str(error)
            refuse(
                "import_failed",
                "{file} cannot be opened ({why}). Check the path and its permissions.",
                file=file,
                why=why,
            )
    return whole.hexdigest()


def _known(project: Project, name: str, chunk: Sequence[tableqa.Example]) -> dict[str, _Stored]:
    """What sources of this name already hold of these examples, by id."""
    rows = Example.objects.originals().filter(
        source__project=project,
        source__name=name,
        source__ready_at__isnull=False,
        external_id__in=[example.id for example in chunk],
    )
    return {
        external_id: (question, answers, table)
        for external_id, question, answers, table in rows.values_list(
            "external_id", "question", "answers", "table_digest"
        )
    }


def _refuse_another_format(project: Project, name: str, reader: str) -> None:
    """One name is one collection: a release gives its licence and credit once."""
    other = Source.objects.ready().filter(project=project, name=name).exclude(reader=reader).first()
    if other is not None:
        title = READERS[other.reader].title if other.reader in READERS else other.reader
        refuse(
            "import_failed",
            "A source {name!r} already exists, from {title}. Import this one under another name "
            "(--name, or rename the file).",
            name=name,
            title=title,
        )


def _compare(example: tableqa.Example, known: dict[str, _Stored], path: Path) -> None:
    if example.id not in known:
        return
    before = known[example.id]
    now = (example.question, list(example.answers), example.table.digest())
    for what, old, new in zip(("question", "answers", "table"), before, now, strict=True):
        if old != new:
            seen = "" if what == "table" else f": {old!r} before, {new!r} now"
            refuse(
                "import_failed",
                "{name}: example {id!r} was imported before with a different {what}{seen}. Import the "
                "changed file under another name (--name).",
                name=path.name,
                id=example.id,
                what=what,
                seen=seen,
            )


def _split(path: Path) -> str:
    """train, dev or test, where the file's name says so."""
    words = path.stem.lower().replace("_", "-").split("-")
    return next((word for word in reversed(words) if word in ("train", "dev", "test", "validation")), "")
