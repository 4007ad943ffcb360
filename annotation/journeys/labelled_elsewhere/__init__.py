"""Labels that people gave somewhere else, read from CSV into a batch: checked first, then written whole or not at all.

A process of its own reads the file (`tableqa.readers.labels`); `checks` compares its rows with the batch, and `pages`
commits the new ones page by page to tables that only the import reads (`LabelImport`), until one transaction turns all of
them into assignments and annotations. An import that is killed goes on behind the last page.

Whoever gave a response becomes a person who cannot sign in (`is_external`), with a pseudonym like everybody else. The
responses take planned places, so agreement counts them; exports mark them.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.utils import timezone, translation

from annotation import bulk, jobs, uploads
from annotation.journeys.labelled_elsewhere import checks, pages
from annotation.journeys.labelled_elsewhere.checks import Checked, require_takes_labels
from annotation.models import Batch, Job, Person, Upload
from annotation.refusals import refuse_as
from annotation.written_pages import Progress
from tableqa.language import phrase
from tableqa.readers.ingestion import Rows
from tableqa.readers.labels import Columns, Label, read_labels
from tableqa.readers.rejections import MOST_DESCRIBED, one_sentence

__all__ = ["Columns", "look", "require_takes_labels", "start", "write"]

KIND: Final = "import_labels"
PREVIEW: Final = "preview_labels"
MOST_IN_PREVIEW: Final = 20_000
"""Labels that a preview checks: some seconds of work. The import checks all."""


def look(*, batch: Batch, path: Path, columns: Columns | None = None) -> Checked:
    """Say what a file of labels would do to the batch; nothing is written. Raises Refused where it cannot be read."""
    with uploads.local_input(path, read_labels) as file:
        return _check(batch, file, columns or Columns())


def write(
    *,
    batch: Batch,
    path: Path,
    by: Person | None,
    now: datetime,
    columns: Columns | None = None,
    progress: Progress = lambda done, total: None,
) -> Checked:
    """Read the file and write every label of it, or raise Refused and write none. The same file again adds nothing."""
    with uploads.local_input(path, read_labels, progress) as file:
        return _write(batch, file, columns or Columns(), by, now)


@bulk.seldom_collected()
def _write(
    batch: Batch, file: uploads.InputFile, columns: Columns, by: Person | None, now: datetime
) -> Checked:
    checked = _check(batch, file, columns)
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
            file.progress((total + done) // 2, total)

        pages.write(batch=batch, checked=checked, by=by, now=now, progress=second_half)
    return checked


@bulk.seldom_collected()
def _check(batch: Batch, file: uploads.InputFile, columns: Columns, limit: int | None = None) -> Checked:
    require_takes_labels(batch)
    if columns.simulated in {*columns.fields, *(field.name for field in batch.task().fields)}:
        columns = replace(columns, simulated=None)
    read = file.read("labels", chosen=asdict(columns), limit=limit)
    checked = checks.check(
        batch=batch,
        labels=(Label(*row) for page in Rows.read(file.rows) for row in page),
        name=file.name,
        rows=file.rows.with_suffix(".checked"),
        progress=lambda number: file.progress(number // 2, read.number),
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
    with uploads.input_of_job(job, "read_labels", settings.PREVIEW_SECONDS, progress) as file:
        return {"preview": _check(_batch(job), file, Columns(), MOST_IN_PREVIEW).as_data()}


@jobs.kind(KIND)
def _run_import(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    batch = _batch(job)
    with uploads.input_of_job(job, "read_labels", settings.IMPORT_SECONDS, progress) as file:
        done = _write(batch, file, Columns(), job.made_by, timezone.now())
    people = len(done.annotators)
    return {"responses_in": batch.public_id, "responses": done.new, "items": done.items, "people": people}


def _batch(job: Job) -> Batch:
    return Batch.objects.select_related("project").get(pk=job.ids["batch"])


jobs.afterwards(KIND)(uploads.tidy_up)
