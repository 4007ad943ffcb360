"""Labels that people gave somewhere else, read from CSV into a batch: checked first, then written whole or not at all.

A process of its own reads the file (`tableqa.readers.labels`); `checks` compares its rows with the batch, and `pages`
commits the new ones page by page to tables that only the import reads (`LabelImport`), until one transaction turns all of
them into assignments and annotations. An import that is killed goes on behind the last page.

Whoever gave a response becomes a person who cannot sign in (`is_external`), with a pseudonym like everybody else. The
responses take planned places, so agreement counts them; exports mark them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.utils import timezone, translation

from annotation import bulk, jobs, sandbox, uploads
from annotation.journeys.labelled_elsewhere import checks, pages
from annotation.journeys.labelled_elsewhere.checks import Checked, require_takes_labels
from annotation.models import Batch, Job, Person, Upload
from annotation.refusals import Refused, refuse_as
from annotation.written_pages import Progress
from tableqa.language import phrase
from tableqa.readers.ingestion import ReadRequest, Rows
from tableqa.readers.labels import Columns, Label, read_labels
from tableqa.readers.rejections import MOST_DESCRIBED, one_sentence

__all__ = ["Columns", "look", "require_takes_labels", "start", "write", "write_checked"]

KIND: Final = "import_labels"
PREVIEW: Final = "preview_labels"
MOST_IN_PREVIEW: Final = 20_000
"""Labels that a preview checks: some seconds of work. The import checks all."""


@bulk.seldom_collected()
def look(
    *,
    batch: Batch,
    path: Path,
    columns: Columns | None = None,
    limit: int | None = None,
    files: uploads.UploadedFiles | None = None,
    reading: sandbox.Reading = read_labels,
    progress: Progress = lambda done, total: None,
    then: Callable[[Checked], None] = lambda checked: None,
) -> Checked:
    """Say what a file of labels would do to the batch; nothing is written. Raises Refused where it cannot be read.

    then: told while the checked labels are on disk.
    """
    with uploads.room(files) as folder:
        checked = _checked(batch, path, columns or Columns(), folder, files, reading, progress, limit)
        then(checked)
    return checked


def write(*, batch: Batch, path: Path, by: Person | None, now: datetime, **more: Any) -> Checked:
    """Read the file and write every label of it, or raise Refused and write none. The same file again adds nothing."""
    progress = more.get("progress", lambda done, total: None)
    writing = partial(write_checked, batch=batch, by=by, now=now, progress=progress)
    return look(batch=batch, path=path, then=lambda checked: writing(checked=checked), **more)


def write_checked(
    *, batch: Batch, checked: Checked, by: Person | None, now: datetime, progress: Progress
) -> None:
    """Write every new label, or raise Refused with the problems and write none."""
    if checked.problems:
        detail, more = one_sentence(checked.problems[0]), checked.rejected - 1
        reason = phrase("{detail} No labels were imported.", detail=detail)
        if more:
            reason = phrase(
                "{detail} No labels were imported. More lines with errors: {more}.", detail=detail, more=more
            )
        refuse_as("import_failed", reason, more=checked.as_data())
    if checked.new:

        def second_half(done: int, total: int) -> None:
            progress((total + done) // 2, total)

        pages.write(batch=batch, checked=checked, by=by, now=now, progress=second_half)


def _checked(
    batch: Batch,
    path: Path,
    columns: Columns,
    folder: Path,
    files: uploads.UploadedFiles | None,
    reading: sandbox.Reading,
    progress: Progress,
    limit: int | None,
) -> Checked:
    require_takes_labels(batch)
    if columns.simulated in {*columns.fields, *(field.name for field in batch.task().fields)}:
        columns = replace(columns, simulated=None)
    more = files.for_request() if files is not None else {}
    rows, chosen = str(folder / "rows.jsonl"), asdict(columns)
    request = ReadRequest("labels", str(path), rows, chosen=chosen, limit=limit, **more)
    read = sandbox.refusing_faults(reading, request, lambda number: progress(number, 0))
    labels = (Label(*row) for page in Rows.read(Path(rows)) for row in page)
    checked = checks.check(
        batch=batch,
        labels=labels,
        name=request.shown(str(path)),
        rows=folder / "checked.jsonl",
        progress=lambda number: progress(number // 2, read.number),
    )
    checked.left_out, checked.read_as, checked.whole = read.left_out, read.read_as, read.whole
    checked.rejected += read.rejected
    checked.problems = sorted([*read.problems, *checked.problems], key=lambda problem: problem.line or 0)
    del checked.problems[MOST_DESCRIBED:]
    return checked


# -- in the background ------------------------------------------------------------------------------


def start(*, batch: Batch, upload: Upload, by: Person, now: datetime, only_look: bool = False) -> Job:
    """Import the labels of an uploaded file in the background, or preview them. Raises Refused."""
    uploads.require_whole(upload)
    require_takes_labels(batch)
    # What a task type says of a response is stored as it reads.
    ids = {"batch": batch.pk, "upload": upload.pk, "language": translation.get_language()}
    return jobs.enqueue(project=batch.project, kind=PREVIEW if only_look else KIND, ids=ids, by=by, now=now)


@jobs.kind(PREVIEW)
def _run_preview(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    look_at = partial(look, limit=MOST_IN_PREVIEW)
    return {"preview": _run(job, progress, look_at, settings.PREVIEW_SECONDS).as_data()}


@jobs.kind(KIND)
def _run_import(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    action = partial(write, by=job.made_by, now=timezone.now())
    try:
        done = _run(job, progress, action, settings.IMPORT_SECONDS)
    except Refused as refused:
        if "problems" in refused.more:
            Job.objects.filter(pk=job.pk).update(result=refused.more)
        raise
    batch = Batch.objects.get(pk=job.ids["batch"])
    people = len(done.annotators)
    return {"responses_in": batch.public_id, "responses": done.new, "items": done.items, "people": people}


jobs.afterwards(KIND)(uploads.forget_if_done)


def _run(job: Job, progress: jobs.Progress, action: Callable[..., Checked], seconds: int) -> Checked:
    upload = Upload.objects.get(pk=job.ids["upload"])
    with translation.override(job.ids["language"]), uploads.for_sandbox(upload, None) as files:
        return action(
            batch=Batch.objects.select_related("project").get(pk=job.ids["batch"]),
            path=files.questions,
            files=files,
            reading=partial(sandbox.read, name=upload.name, task="read_labels", seconds=seconds),
            progress=progress,
        )
