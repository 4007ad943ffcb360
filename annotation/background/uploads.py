"""Files that people send for an import: kept under a name of ours until they are read, at most for a week."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone, translation
from django.utils.translation import gettext

from annotation.background import jobs, sandbox
from annotation.background.staged_pages import Progress, clear_abandoned
from annotation.models import Job, Person, Project, Upload
from annotation.platform.refusals import ActionRefused, refuse
from tableqa.readers.ingestion import ReadRequest, ReadResult

KEPT = timedelta(days=7)
"""How long the files of an import that was not finished are kept, and previews, which hold the first records of files."""
SLICE = 4 * 1024 * 1024
"""The most bytes of a slice; less than a request may have."""


def require_size(file: UploadedFile, most: int, *, code: str, fix: str) -> str:
    """Refuse an uploaded file that is empty or larger than `most` bytes. Returns its name. Raises ActionRefused(code)."""
    name, size = str(file.name or "file"), file.size or 0
    if not size:
        refuse(code, "{name} is empty.", name=name)
    if size > most:
        refuse(code, "{name} is larger than {value} MB. {fix}", name=name, value=most // 2**20, fix=fix)
    return name


def keep(*, project: Project, file: UploadedFile, by: Person, now: datetime) -> Upload:
    """Store an uploaded file under a name of ours. Raises ActionRefused when it is too large or empty."""
    fix = gettext("Split it, or ask the site administrator to import it.")
    name = require_size(file, settings.MAX_IMPORT_BYTES, code="import_failed", fix=fix)
    _delete_old(now)
    return store(project=project, file=file, name=name, by=by, now=now)


def store(
    *, project: Project, file: File[bytes], name: str, by: Person, now: datetime, size: int | None = None
) -> Upload:
    """Store a file under a name of ours; `size` bytes, if the rest comes in slices. Raises ActionRefused if the disk is
    full."""
    size = file.size if size is None else size
    upload = Upload(project=project, name=name[:255], size=size, made_by=by, made_at=now)
    try:
        upload.file.save(upload.public_id, file, save=False)
    except OSError as error:
        upload.file.storage.delete(f"uploads/{upload.public_id}")  # as much of it as found room
        _refuse_full_disk(error, name)
    upload.save()
    return upload


def begin(*, project: Project, name: str, size: int, by: Person, now: datetime) -> Upload:
    """A file of `size` bytes that comes in slices. Raises ActionRefused when it is too large."""
    if size > settings.MAX_IMPORT_BYTES:
        refuse(
            "import_failed",
            "{name} is larger than {value} MB. Split it, or ask the site administrator to import it.",
            name=name,
            value=settings.MAX_IMPORT_BYTES // 2**20,
        )
    _delete_old(now)
    return store(project=project, file=ContentFile(b""), name=name, by=by, now=now, size=size)


def received(upload: Upload) -> int:
    """Bytes of an upload that are here. Raises ActionRefused(import_failed) where its file is gone."""
    if not upload.file or not Path(upload.file.path).is_file():
        refuse("import_failed", "An uploaded file of this import is missing. Upload the files again.")
    return int(upload.file.size)


def append(*, upload: Upload, offset: int, data: bytes) -> None:
    """Write a slice at its offset; the same slice again changes nothing.

    Raises ActionRefused if bytes before it are missing, or it is longer than the rest of the file.
    """
    here = received(upload)
    if offset > here:
        refuse("upload_gap", "The server has {here} bytes of this file. Continue there.", here=here)
    if upload.size is None or offset + len(data) > upload.size:
        refuse(
            "import_failed",
            "The slice ends after the end of {name}. Send the file again as a new upload.",
            name=upload.name,
        )
    try:
        with Path(upload.file.path).open("r+b") as file:
            file.seek(offset)
            file.write(data)
    except OSError as error:
        _refuse_full_disk(error, upload.name)


def require_whole(upload: Upload) -> None:
    """Refuse an upload of which not all bytes are here."""
    here = received(upload)
    if upload.size is not None and here != upload.size:
        refuse(
            "import_failed",
            "{name} was not sent completely ({here} of {size} bytes). Choose it again: it continues there.",
            name=upload.name,
            here=here,
            size=upload.size,
        )


def _refuse_full_disk(error: OSError, name: str) -> None:
    if error.errno not in jobs.NO_ROOM:
        raise error
    refuse(
        "import_failed",
        "The disk of this site has no space for {name}. Notify the site administrator and try again later.",
        name=name,
    )


def forget(uploads: Iterable[Upload]) -> None:
    """Delete the files of uploads that were imported, or refused for good."""
    for upload in uploads:
        upload.file.delete(save=False)
        shutil.rmtree(unpacked_folder() / upload.public_id, ignore_errors=True)


def of_job(job: Job) -> dict[str, Upload]:
    """The questions of a job that reads examples, and its tables where it has some."""
    return {key: Upload.objects.get(pk=job.ids[key]) for key in ("questions", "tables") if job.ids.get(key)}


def forget_of(job: Job) -> None:
    """Delete the upload of a job that is done or refused, where it has one."""
    forget(Upload.objects.filter(pk=job.ids.get("upload")))


def tidy_up(job: Job) -> None:
    """Delete the upload of a job that is done, and pages of one that ended otherwise. Then the upload stays for another."""
    clear_abandoned(job)
    if Job.objects.filter(pk=job.pk, state=Job.State.DONE).exists():
        forget_of(job)


def _delete_old(now: datetime) -> None:
    """Delete files of imports that were not finished."""
    old = Upload.objects.filter(made_at__lt=now - KEPT).exclude(file="")
    for upload in old[:100]:
        upload.file.delete(save=True)
    Job.objects.filter(kind__in=jobs.OF_PREVIEWS, made_at__lt=now - KEPT).delete()
    # By its age: what a killed process began to unpack belongs to no upload.
    for folder in unpacked_folder().glob("*"):
        if datetime.fromtimestamp(folder.stat().st_mtime, UTC) < now - KEPT:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class UploadedFiles:
    """Uploaded files where readers find them: below `folder`, under the names that they were sent with.

    `tables` is their own folder, empty if need be: a reader without one looks around on this machine. For a process
    of its own, `archives` are not unpacked yet, each with its folder; `tables_in` is that of the tables.
    """

    folder: Path
    questions: Path
    tables: Path
    archives: Mapping[str, str]
    tables_in: str

    def for_request(self) -> dict[str, Any]:
        """Their description for its own process (`tableqa.readers.ingestion.ReadRequest`)."""
        hidden = [str(folder) for folder in (self.questions.parent, self.tables.parent, self.folder)]
        return {"archives": self.archives, "tables_in": self.tables_in, "hidden": hidden}


@contextmanager
def for_sandbox(questions: Upload, tables: Upload | None) -> Iterator[UploadedFiles]:
    """The files of an import for its own process (`annotation.background.sandbox`), which unpacks archives itself."""
    with sandbox.folder() as folder:
        path, archives, tables_in = _linked(questions, folder / "questions"), {}, ""
        archives[str(path)] = str(unpacked_folder() / questions.public_id)
        (folder / "beside").mkdir()
        if tables is None:
            (folder / "beside" / "tables").mkdir()
        else:
            tables_in = str(_linked(tables, folder / "archive"))
            archives[tables_in] = str(unpacked_folder() / tables.public_id)
        yield UploadedFiles(folder, path, folder / "beside" / "tables", archives, tables_in)


@contextmanager
def room(files: UploadedFiles | None) -> Iterator[Path]:
    """A folder for what is read: that of uploaded files, or one for a while."""
    if files is not None:
        yield files.folder
        return
    with tempfile.TemporaryDirectory(prefix="askew-import-") as name:
        yield Path(name)


@dataclass(frozen=True)
class InputFile:
    """A file of labels or responses, and how it is read.

    folder    for what is read
    about     the description of an uploaded file for `reading`
    progress  of the import
    """

    path: Path
    folder: Path
    reading: sandbox.Reading
    about: Mapping[str, Any]
    progress: Progress

    def read(self, reader: str, **options: Any) -> ReadResult:
        """Read and check all records into `rows`. Raises ActionRefused(import_failed)."""
        request = ReadRequest(reader, str(self.path), str(self.rows), **options, **self.about)
        return sandbox.refusing_faults(self.reading, request, lambda done: self.progress(done, 0))

    @property
    def name(self) -> str:
        """What messages call it: its path, without the folders of uploads."""
        return self.path.name if self.about else str(self.path)

    @property
    def rows(self) -> Path:
        """The file of the records, after `read`."""
        return self.folder / "rows.jsonl"


@contextmanager
def local_input(
    path: Path, reading: sandbox.Reading, progress: Progress = lambda done, total: None
) -> Iterator[InputFile]:
    """A file that this process reads, as commands do."""
    with room(None) as folder:
        yield InputFile(path, folder, reading, {}, progress)


@contextmanager
def input_of_job(job: Job, task: str, seconds: int, progress: Progress) -> Iterator[InputFile]:
    """The upload of a job, for its own process. Meanwhile messages have the language of the person: they are stored."""
    upload = Upload.objects.get(pk=job.ids["upload"])
    reading = partial(sandbox.read, name=upload.name, task=task, seconds=seconds)
    with translation.override(job.ids.get("language")), for_sandbox(upload, None) as files:
        yield InputFile(files.questions, files.folder, reading, files.for_request(), progress)


@contextmanager
def rest_of_job(job: Job, name: str) -> Iterator[Path]:
    """Where a job writes its rejected records. With a refusal because of them, the file is kept."""
    with tempfile.TemporaryDirectory(prefix="askew-rest-") as folder:
        rest = Path(folder) / name
        try:
            yield rest
        except ActionRefused as refused:
            if "problems" in refused.more:
                refused.more |= kept_rest(job, rest)
            raise


def kept_rest(job: Job, rest: Path) -> dict[str, str]:
    """The file of rejected records, kept for its download."""
    if not rest.is_file() or job.made_by is None:
        return {}
    with rest.open("rb") as file:
        upload = store(
            project=job.project, file=File(file), name=rest.name, by=job.made_by, now=timezone.now()
        )
    return {"rest": upload.public_id}


def unpacked_folder() -> Path:
    """Where archives stay unpacked, each under the name of its upload."""
    folder = Path(settings.MEDIA_ROOT) / "unpacked"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _linked(upload: Upload, folder: Path) -> Path:
    """An uploaded file under the name that it was sent with. Raises ActionRefused(import_failed) where bytes of it are
    missing."""
    require_whole(upload)
    path = folder / file_name(upload.name)
    folder.mkdir(parents=True)
    path.symlink_to(upload.file.path)
    return path


def file_name(sent_as: str) -> str:
    """The last part of the name that a file was sent under, short enough for any file system."""
    name = PurePosixPath(sent_as.replace("\\", "/")).name
    return name[-60:] if name.strip(".") else "questions"
