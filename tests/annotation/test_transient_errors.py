"""A database that does not answer for a moment: a job begins again, and its uploaded file is still there."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.utils import timezone

from annotation.background import jobs, uploads
from annotation.imports import example_import, label_import, response_import
from annotation.imports.field_mapping import ImportMapping
from annotation.management import doctor
from annotation.models import Job, Upload
from annotation.releases import creation, restoration
from annotation.releases.model_evaluation import queries, runs
from annotation.study_file import apply, yaml_file
from tests.annotation.cast import NOON, World
from tests.annotation.test_restoring import OLD, empty_project
from tests.annotation.test_transfer import annotation, choice, task


def study(world: World) -> Job:
    text = yaml_file.write(
        {
            "study": 1,
            "project": {"slug": "films", "name": "Films"},
            "batches": [{"name": "Types", "type": "question_type", "sample": {"sources": ["films-dev"]}}],
        }
    )
    upload = uploads.keep(project=world.project, file=sent(text), by=world.mara, now=NOON)
    return apply.start(upload=upload, by=world.mara, now=timezone.now())


def import_responses(world: World) -> Job:
    text = json.dumps([task(1, annotation("a@b.org", choice("label", "extraction")))])
    upload = uploads.keep(project=world.project, file=sent(text), by=world.mara, now=NOON)
    return response_import.start(
        project=world.project,
        upload=upload,
        tool="label_studio",
        mapping=ImportMapping(),
        by=world.mara,
        now=timezone.now(),
    )


def evaluate(world: World) -> Job:
    release = creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)
    raw = queries.load(creation.folder(release))
    lines = [
        {"source": one.source, "id": one.id, "answers": list(one.answers)}
        for one, _ in queries.instances(raw)
    ]
    file = sent("\n".join(map(json.dumps, lines)))
    return runs.start(release=release, name="TAPEX", by=world.rea, now=timezone.now(), file=file)


def sent(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("sent", text.encode())


def restore(world: World) -> Job:
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(shutil.make_archive(f"{folder}/v1", "zip", OLD)).read_bytes()
    project = empty_project()
    file = SimpleUploadedFile("v1.zip", archive)
    upload = uploads.keep(project=project, file=file, by=world.mara, now=timezone.now())
    return restoration.start_restore(project=project, upload=upload, by=world.mara, now=timezone.now())


def import_examples(world: World) -> Job:
    text = '{"id": "1", "question": "when?", "answers": ["1995"], "table": [["Year"], ["1995"]]}\n'
    questions = SimpleUploadedFile("more.jsonl", text.encode())
    upload = uploads.keep(project=world.project, file=questions, by=world.mara, now=NOON)
    return example_import.start_import(
        project=world.project,
        reader="own",
        questions=upload,
        tables=None,
        by=world.mara,
        now=timezone.now(),
        choice={},
    )


def import_labels(world: World) -> Job:
    batch = world.batch("question_type")
    text = "example,annotator,label\nnu-0,Kim,extraction\n"
    file = SimpleUploadedFile("labels.csv", text.encode())
    upload = uploads.keep(project=world.project, file=file, by=world.mara, now=NOON)
    return label_import.start(batch=batch, upload=upload, by=world.mara, now=timezone.now())


STARTS: dict[str, Callable[[World], Job]] = {
    "study": study,
    "import_responses": import_responses,
    "evaluate": evaluate,
    "restore": restore,
    "import": import_examples,
    "import_labels": import_labels,
}


@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("when", ["in its course", "at its end"])
def test_a_job_that_meets_a_transient_error_keeps_its_upload(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str, when: str
) -> None:
    monkeypatch.setattr(jobs, "_queue", lambda job: None)
    job, real = STARTS[kind](world), jobs.KINDS[kind]
    upload = Upload.objects.get(pk=job.ids.get("upload", job.ids.get("questions")))
    path = str(upload.file.name)

    def locked(*arguments: Any, **more: Any) -> None:
        raise OperationalError("database is locked")

    def breaks(job: Job, progress: jobs.Progress) -> Any:
        if when == "in its course":
            monkeypatch.setattr(jobs.Progress, "__call__", locked)
        real(job, progress)
        locked()

    monkeypatch.setitem(jobs.KINDS, kind, breaks)
    assert jobs.run(job.pk) == "queued", Job.objects.get(pk=job.pk).error
    assert upload.file.storage.exists(path)
    assert not [str(finding) for finding in doctor.findings() if job.public_id in str(finding)]

    monkeypatch.undo()
    monkeypatch.setattr(jobs, "_queue", lambda job: None)
    assert jobs.run(job.pk) == "done", Job.objects.get(pk=job.pk).error
    assert not upload.file.storage.exists(path)
