"""The first examples of uploaded files as an import would read them: a job, for which a page or a program waits."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from annotation.background import jobs, sandbox, uploads
from annotation.imports import continued_sources
from annotation.models import Job, Person, Source, Upload
from annotation.platform.refusals import refuse, require_storable
from tableqa.core.translation import pack_all, unpack_object
from tableqa.data.typed_json import from_json, to_json
from tableqa.readers.format_detection import OWN
from tableqa.readers.ingestion import ReadRequest
from tableqa.readers.own_data import Layout
from tableqa.readers.preview import ChosenColumns, Preview

KIND: Final = "preview"
MOST_REMEMBERED = 20
"""Imports of the project whose columns are tried for a file."""
FORM: Final = "form"
"""Among the ids of a job: everything that its page was sent with. It does not tell one choice from another."""


def start(
    *,
    questions: Upload,
    tables: Upload | None,
    by: Person,
    now: datetime,
    choice: Mapping[str, Any] | None = None,
    form: Mapping[str, str] | None = None,
) -> Job:
    """Read the first examples in the background; the same choice is read once.

    A newer choice of a file takes the place of one that waits. choice: see `read`. form: what a page was sent with.

    Raises ActionRefused(import_failed) where bytes of the files are missing.
    """
    for upload in filter(None, (questions, tables)):
        uploads.require_whole(upload)
    project = questions.project
    imported = Source.objects.ready().filter(project=project).order_by("-pk").values_list("pk", flat=True)
    ids = {
        "questions": questions.pk,
        "tables": tables.pk if tables else None,
        "choice": dict(choice or {}),
        "imported": imported.first(),  # the columns of the last import are the first choice for the next one
        FORM: dict(form or {}),
    }
    require_storable(ids)
    with transaction.atomic():
        Upload.objects.select_for_update().filter(pk=questions.pk).values_list("pk").first()
        previews = of_file(questions, tables)
        others = list(previews.exclude(state=Job.State.FAILED).defer("result").order_by("-pk"))
        for job in others:
            if {**job.ids, FORM: ids[FORM]} == ids and previews.filter(pk=job.pk).update(ids=ids):
                return job
        for job in others:
            if previews.filter(pk=job.pk, state=Job.State.QUEUED).update(ids=ids, made_by=by):
                return job
        return jobs.enqueue(project=project, kind=KIND, ids=ids, by=by, now=now)


def of_file(questions: Upload, tables: Upload | None) -> QuerySet[Job]:
    """The previews of uploaded files."""
    ids = {"ids__questions": questions.pk, "ids__tables": tables.pk if tables else None}
    return Job.objects.select_related("project").filter(project=questions.project_id, kind=KIND, **ids)


def result(job: Job) -> Preview:
    """What a job has read; its choice, without examples, where it failed or the file is a release."""
    if job.state != Job.State.DONE or "preview" not in job.result:
        return choice_of(job.ids["choice"])
    return from_json(Preview, json.loads(job.result["preview"], object_hook=unpack_object))


def choice_of(choice: Mapping[str, Any]) -> Preview:
    """A preview without examples that has the columns and options of a choice."""
    chosen = ChosenColumns(**(choice.get("chosen") or {"parts": {}}))
    options = {name: text for name, text in chosen.options.items() if name in Layout.__dataclass_fields__}
    layout = Layout(columns=tuple(chosen.columns), parts=chosen.parts, **options)
    return Preview(choice.get("reader") or OWN, layout, dict(chosen.options))


def read(job: Job, beat: Callable[[int], None]) -> Preview:
    """`read_any` for files of examples. Raises ActionRefused(import_failed) also for a release."""
    preview = read_any(job, beat)
    if isinstance(preview, dict):
        refuse(
            "import_failed",
            "{name} is a release of Askew. Restore it with {path} instead.",
            name=uploads.of_job(job)["questions"].name,
            path=f"/api/projects/{job.project.slug}/restore/",
        )
    return preview


def read_any(job: Job, beat: Callable[[int], None]) -> Preview | dict[str, Any]:
    """Read the first examples of the files of a job, or what a release would restore
    (`annotation.releases.checked_release.ReleaseSummary` as JSON).

    Raises ActionRefused(import_failed) where a file is gone or no archive.

    The choice among its ids is {"reader", "chosen", "named"}, all optional. Without a reader it is detected. chosen: the
    columns for the reader own (`ChosenColumns`); without them those of the last import of a file with the same ones. named:
    names of fields for other readers with custom names.
    """
    sent, choice, project = uploads.of_job(job), job.ids["choice"], job.project
    own = Source.objects.ready().filter(project=project, reader=OWN).order_by("-pk")
    earlier = [how.get("fields", {}) for how in own.values_list("how", flat=True)[:MOST_REMEMBERED]]
    with uploads.for_sandbox(sent["questions"], sent.get("tables")) as files:
        request = ReadRequest(
            choice.get("reader", ""),
            str(files.questions),
            str(files.folder / "rows.jsonl"),
            tables=str(files.tables),
            fields=choice.get("named", {}),
            chosen=choice.get("chosen"),
            earlier=earlier,
            in_part=True,
            **files.for_request(),
        )
        name, seconds = sent["questions"].name, settings.PREVIEW_SECONDS
        task = "annotation.releases.reader_tasks:preview_upload"
        data = sandbox.call(task, request, beat, name=name, seconds=seconds)
        if "is_release" in data:
            return data
        preview = from_json(Preview, data)
        source = continued_sources.source_to_continue(
            project, Path(name).stem, preview.reader, files.questions
        )
    if source is None or not (preview.examples or preview.problems):
        return preview
    credit = continued_sources.inherited_credit(preview.credit, source)
    return replace(preview, credit=credit, continues=source.name if preview.has_ids else "")


@jobs.kind(KIND)
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    preview = read_any(job, lambda done: progress(done, 0))
    if isinstance(preview, dict):
        return {"release": preview}
    # As one text: a database keeps some characters in no other form.
    return {"preview": json.dumps(pack_all(to_json(preview)))}
