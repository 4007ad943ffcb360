"""The web tier stores the files that people send, and reads none of them: that is for jobs, in processes of their own."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet
import pytest
import python_calamine
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import InMemoryUploadedFile, SimpleUploadedFile, UploadedFile
from django.test import Client
from django.urls import reverse

from annotation.background import jobs, sandbox, uploads
from annotation.models import Job
from annotation.web.forms.study_file import StudyForm
from tableqa.readers import READERS, archive, format_detection
from tests.annotation.cast import NOON, World
from tests.annotation.role_table import Things, make_things

VIEWS = Path(uploads.__file__).parents[1] / "web" / "views"
_watched: list[str] = []
"""The folders whose files the web tier may not open for reading: none outside of a test."""


class FileRead(BaseException):
    """The web tier reads a file that somebody sent. No `except Exception` of the product takes it."""


def _no_reading(event: str, args: tuple[Any, ...]) -> None:
    if event != "open" or not _watched or not isinstance(args[0], str):
        return
    is_for_reading = args[2] & os.O_ACCMODE == os.O_RDONLY
    if is_for_reading and os.path.realpath(args[0]).startswith(tuple(_watched)):
        raise FileRead(args[0])


sys.addaudithook(_no_reading)


def refused(*args: Any, **more: Any) -> Any:
    raise FileRead(f"{args[:1]}")


def stored(file: UploadedFile, chunk_size: int | None = None) -> Iterator[bytes]:
    """What a storage writes to the disk: nobody looks into it."""
    raw = file.file
    assert raw is not None
    raw.seek(0)
    while part := raw.read(64 * 1024):
        yield part


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Begins the guard: from then on neither a reader nor a parser runs, and no worker."""

    def begin() -> None:
        for of in (UploadedFile, InMemoryUploadedFile):
            monkeypatch.setattr(of, "chunks", stored)
            for name in ("read", "readline", "readlines", "open", "__iter__"):
                monkeypatch.setattr(of, name, refused, raising=False)
        for module, name in (
            (csv, "reader"),
            (csv, "DictReader"),
            (zipfile, "ZipFile"),
            (zipfile, "is_zipfile"),
            (pyarrow.parquet, "ParquetFile"),
            (python_calamine, "load_workbook"),
            (archive, "unpack"),
            (format_detection, "detect_reader"),
            (sandbox, "call"),
            (subprocess, "Popen"),
        ):
            monkeypatch.setattr(module, name, refused)
        for reader in {type(reader) for reader in READERS.values()}:
            monkeypatch.setattr(reader, "__call__", refused)
        folders = [Path(settings.MEDIA_ROOT) / name for name in ("uploads", "unpacked", "reading")]
        _watched.extend(map(os.path.realpath, folders))

    yield begin
    _watched.clear()


@pytest.fixture
def things(world: World) -> Things:
    return make_things(world)


class SentFile(io.BytesIO):
    """A file as a browser sends it."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(content)
        self.name = name


def zipped() -> SentFile:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        made.writestr("own/manifest.json", "{}")
    return SentFile("all.zip", content.getvalue())


def lines() -> SentFile:
    return SentFile("own.csv", b'question,table\nwho?,"Name\nAnn"\n')


def kept(things: Things, sent: SentFile) -> str:
    file = SimpleUploadedFile(sent.name, sent.getvalue())
    return uploads.keep(project=things.world.project, file=file, by=things.world.mara, now=NOON).public_id


Files = dict[str, Any]
Requests = Callable[[Client, Things, Files], None]


def examples(client: Client, things: Things, files: Files) -> None:
    address = client.post(reverse("import_new", args=["films"]), {"questions": files["lines"]})["Location"]
    seen(client, address)


def examples_and_tables(client: Client, things: Things, files: Files) -> None:
    sent = {"questions": files["lines"], "tables": files["zip"]}
    seen(client, client.post(reverse("import_new", args=["films"]), sent)["Location"])


def seen(client: Client, address: str) -> None:
    """Go to the preview, choose something else, and import without having seen it."""
    waiting = client.get(client.get(address)["Location"])
    assert "Reading the file" in waiting.content.decode()
    other = {"reader": "own", "column_question": "question", "column_answers": "", "column_table": "table"}
    assert "preview=" in client.post(address, other)["Location"]
    for act in ("check", "import"):
        started = client.post(address, {**other, "act": act})
        assert started["Location"].startswith("/jobs/"), started.content.decode()
        client.get(started["Location"])


def examples_with_a_reader(client: Client, things: Things, files: Files) -> None:
    client.post(reverse("import_new", args=["films"]), {"questions": files["lines"], "reader": "own"})


def examples_by_api(client: Client, things: Things, files: Files) -> None:
    for more in ({"preview": True}, {"look": True}, {}):
        by_api(client, "/api/projects/films/imports/", {"questions": files["kept"], "reader": "own", **more})


def examples_by_api_without_a_reader(client: Client, things: Things, files: Files) -> None:
    for more in ({"preview": True}, {"look": True}, {}):
        by_api(client, "/api/projects/films/imports/", {"questions": files["kept"], **more})


def predictions(client: Client, things: Things, files: Files) -> None:
    address = reverse("evaluations", args=[things.release.public_id])
    started = client.post(address, {"name": "Tapex", "file": files["json"]})
    assert started["Location"].startswith("/jobs/")


def labels(client: Client, things: Things, files: Files) -> None:
    address = reverse("labels_elsewhere", args=[things.batch.public_id])
    client.post(address, {"file": files["lines"], "action": "look"}, follow=True)


def responses(client: Client, things: Things, files: Files) -> None:
    address = reverse("import_responses", args=["films"])
    client.post(address, {"tool": "label_studio", "file": files["json"]}, follow=True)


def responses_by_api(client: Client, things: Things, files: Files) -> None:
    for look in (False, True):
        body = {"upload": files["kept"], "tool": "label_studio", "look": look}
        by_api(client, "/api/projects/films/responses/", body)


def release(client: Client, things: Things, files: Files) -> None:
    sent = {"questions": files["zip"]}
    client.get(client.post(reverse("import_new", args=["films"]), sent)["Location"])


def release_by_api(client: Client, things: Things, files: Files) -> None:
    for look in (True, False):
        by_api(client, "/api/projects/films/restore/", {"release": files["kept zip"], "look": look})


def release_in_a_new_project(client: Client, things: Things, files: Files) -> None:
    body = {"name": "Again", "slug": "again", "time_zone": "UTC", "release": files["zip"]}
    assert client.post(reverse("project_new"), body)["Location"].startswith("/jobs/")


def gold(client: Client, things: Things, files: Files) -> None:
    """The preview, and the import that follows before it was read."""
    sent = {"action": "file", "file": files["lines"]}
    address = client.post(reverse("gold", args=[things.batch.public_id]), sent)["Location"]
    assert "Reading the file" in client.get(address).content.decode()
    started = client.post(address)
    assert started["Location"].startswith("/jobs/")
    client.get(started["Location"])


def study(client: Client, things: Things, files: Files) -> None:
    """YAML alone is read at once, through the guarded loader: its form may read the file."""
    with patch.object(StudyForm, "clean_file", lambda form: "project: {}"):
        client.post(reverse("study", args=["films"]), {"file": files["lines"]})


def by_api(client: Client, address: str, body: Any) -> None:
    answer = client.post(address, body, content_type="application/json")
    assert answer.status_code in (202, 422), answer.content


PAGES: dict[str, list[Requests]] = {
    "example_import": [examples, examples_and_tables, examples_with_a_reader, release],
    "model_evaluation": [predictions],
    "label_import": [labels],
    "response_import": [responses],
    "projects": [release_in_a_new_project],
    "gold": [gold],
    "study_file": [study],
}
"""The modules of pages that take a file, and what a person does there."""
API: list[Requests] = [
    examples_by_api,
    examples_by_api_without_a_reader,
    responses_by_api,
    release_by_api,
]


def test_every_page_that_takes_a_file_is_here() -> None:
    taking = {path.stem for path in VIEWS.glob("*.py") if "request.FILES" in path.read_text("utf-8")}

    assert taking == set(PAGES)


@pytest.mark.parametrize(
    "requests", [*(one for of_page in PAGES.values() for one in of_page), *API], ids=lambda one: one.__name__
)
def test_the_web_tier_reads_no_file(
    things: Things, guarded: Callable[[], None], client: Client, requests: Requests
) -> None:
    client.force_login(things.world.people["root"])
    files: Files = {
        "lines": lines(),
        "json": SentFile("said.jsonl", b'{"id": "nu-0", "answers": ["1995"]}\n'),
        "zip": zipped(),
        "kept": kept(things, lines()),
        "kept zip": kept(things, zipped()),
    }
    guarded()

    requests(client, things, files)

    assert (
        not Job.objects.exclude(pk=things.job.pk)
        .exclude(state=Job.State.QUEUED)
        .filter(kind__in=(*jobs.OF_FILES, "evaluate"))
    )


@pytest.mark.usefixtures("db")
def test_the_guard_sees_a_file_that_is_read(things: Things, guarded: Callable[[], None]) -> None:
    upload = things.world.project.uploads.create(name="x", made_by=things.world.mara, made_at=NOON)
    upload.file.save(upload.public_id, ContentFile(lines().getvalue()))
    sent = SimpleUploadedFile("own.csv", b"id\n")
    guarded()

    for read in (
        lambda: upload.file.open("rb").read(),
        lambda: Path(upload.file.path).read_text(),
        sent.read,
        lambda: list(sent),
        lambda: READERS["own"](Path(upload.file.path)),
        lambda: csv.reader([]),
    ):
        with pytest.raises(FileRead):
            read()
