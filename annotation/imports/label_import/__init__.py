"""Labels that people gave somewhere else, read from CSV into a batch: checked first, then written whole or not at all.

A process of its own reads the file (`tableqa.readers.labels`); `checks` compares its rows with the batch. `pages`
commits new ones page by page to tables of the import (`LabelImport`). One transaction turns all of them into
assignments and annotations. An import that is killed continues behind the last page.

The author of a response becomes a person who cannot sign in (`is_external`), with a pseudonym. The
responses take planned places, so agreement counts them; exports mark them.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.utils import timezone, translation

from annotation.background import jobs, uploads
from annotation.background.staged_pages import Progress
from annotation.imports.label_import import checks, staging
from annotation.imports.label_import.checks import CheckResult, require_takes_labels
from annotation.models import Batch, Job, Person, Upload
from annotation.platform import bulk_rows
from annotation.platform.refusals import refuse_as
from tableqa.core.disk_collections import Shelf
from tableqa.core.translation import phrase
from tableqa.readers.ingestion import Rows
from tableqa.readers.interface import ReaderError, Rejection
from tableqa.readers.labels import DUPLICATES, Columns, Label, read_labels
from tableqa.readers.rejections import Rejections, one_sentence

__all__ = ["Choices", "Columns", "preview_import", "require_takes_labels", "start", "write"]

KIND: Final = "import_labels"
PREVIEW: Final = "preview_labels"
MOST_IN_PREVIEW: Final = 20_000
"""Labels that a preview checks: some seconds of work. The import checks all."""


@dataclass(frozen=True)
class Choices:
    """What a person chose for an import.

    duplicates  of several responses of a person to one example, the one that is imported (`DUPLICATES`)
    good_only   leave out labels with a problem; otherwise one problem stops the import
    """

    columns: Columns = field(default_factory=Columns)
    duplicates: str = DUPLICATES[0]
    good_only: bool = False


def preview_import(*, batch: Batch, path: Path, choices: Choices = Choices()) -> CheckResult:
    """Say what a file of labels would do to the batch; nothing is written. Raises ActionRefused where it cannot be read."""
    with uploads.local_input(path, read_labels) as file:
        return _check(batch, file, choices)


def write(
    *,
    batch: Batch,
    path: Path,
    by: Person | None,
    now: datetime,
    choices: Choices = Choices(),
    progress: Progress = lambda done, total: None,
    rest: Path | None = None,
) -> CheckResult:
    """Read the file and write every label of it, or raise ActionRefused and write none. The same file again adds nothing.

    rest: a file for the labels with a problem (`Rejections.write`).
    """
    with uploads.local_input(path, read_labels, progress) as file:
        return _write(batch, file, choices, by, now, rest)


@bulk_rows.rare_garbage_collection()
def _write(
    batch: Batch,
    file: uploads.InputFile,
    choices: Choices,
    by: Person | None,
    now: datetime,
    rest: Path | None,
) -> CheckResult:
    checked = _check(batch, file, choices, rest=rest)
    if checked.problems and not (choices.good_only and checked.new):
        detail, more = one_sentence(checked.problems[0]), checked.rejected - 1
        reason = phrase("{detail} No labels were imported.", detail=detail)
        if more:
            reason = phrase(
                "{detail} No labels were imported. More lines with errors: {more}.", detail=detail, more=more
            )
        refuse_as("import_failed", reason, more={**checked.as_data(), "good": checked.new})
    if checked.new:

        def second_half(done: int, total: int) -> None:
            file.progress((total + done) // 2, total)

        staging.write(batch=batch, checked=checked, by=by, now=now, progress=second_half)
    return checked


@bulk_rows.rare_garbage_collection()
def _check(
    batch: Batch,
    file: uploads.InputFile,
    choices: Choices,
    limit: int | None = None,
    rest: Path | None = None,
) -> CheckResult:
    require_takes_labels(batch)
    columns, unread = choices.columns, file.rows.with_suffix(".rest")
    if columns.simulated in {*columns.fields, *(field.name for field in batch.task().fields)}:
        columns = replace(columns, simulated=None)
    read = file.read("labels", chosen=asdict(columns), limit=limit, rest=str(unread))
    labels, repeated = _labels(file.rows, read.number, choices.duplicates)
    with Rejections() as rejections:
        rejections.include(unread, read.rejected, read.problems)
        checked = checks.check(
            batch=batch,
            labels=labels,
            rows=file.rows.with_suffix(".checked"),
            progress=lambda done: file.progress(done // 2, read.number),
            rejections=rejections,
            rejected=lambda label, what: Rejection(
                ReaderError(file.name, label.line, what, ""), columns.record(label)
            ),
            keeps_first=choices.duplicates == "first",
        )
        if rest is not None and rejections.number:
            rejections.write(rest)
    checked.repeated, checked.whole = repeated, read.whole
    checked.left_out, checked.read_as = read.left_out, read.read_as
    checked.problems = sorted(checked.problems, key=lambda problem: problem.line or 0)
    return checked


def _labels(rows: Path, count: int, duplicates: str) -> tuple[Iterator[Label], int]:
    """The labels that were read, and how many are left out.

    Of several labels of a person for one example the first or the latest is there, where that is chosen.
    """

    def read() -> Iterator[Label]:
        return (Label(*row) for page in Rows.read(rows) for row in page)

    def about(label: Label) -> tuple[str, str, str]:
        return label.example, label.source, label.annotator

    if duplicates == DUPLICATES[0]:
        return read(), 0
    lines: Shelf[tuple[str, str, str], int] = Shelf()
    for label in read():
        is_new = lines.add(about(label), label.line)
        if not is_new and duplicates == "latest":
            lines[about(label)] = label.line
    return (label for label in read() if lines[about(label)] == label.line), count - len(lines)


# -- in the background ------------------------------------------------------------------------------


def start(
    *,
    batch: Batch,
    upload: Upload,
    by: Person,
    now: datetime,
    only_look: bool = False,
    duplicates: str = DUPLICATES[0],
    good_only: bool = False,
) -> Job:
    """Import the labels of an uploaded file in the background, or preview them. Raises ActionRefused."""
    uploads.require_whole(upload)
    require_takes_labels(batch)
    # What a task type says of a response is stored as it reads.
    ids = {"batch": batch.pk, "upload": upload.pk, "language": translation.get_language()}
    ids |= {"duplicates": duplicates, "good_only": good_only}
    return jobs.enqueue(project=batch.project, kind=PREVIEW if only_look else KIND, ids=ids, by=by, now=now)


@jobs.kind(PREVIEW)
def _run_preview(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    with uploads.input_of_job(job, "read_labels", settings.PREVIEW_SECONDS, progress) as file:
        return {"preview": _check(_batch(job), file, _choices(job), MOST_IN_PREVIEW).as_data()}


@jobs.kind(KIND)
def _run_import(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    batch = _batch(job)
    with (
        uploads.input_of_job(job, "read_labels", settings.IMPORT_SECONDS, progress) as file,
        uploads.rest_of_job(job, f"{file.path.stem}-rejected.csv") as rest,
    ):
        done = _write(batch, file, _choices(job), job.made_by, timezone.now(), rest)
        rejected = {"rejected": done.rejected, **uploads.kept_rest(job, rest)} if done.rejected else {}
    counts = {"items": done.items, "known": done.known, "repeated": done.repeated}
    counts |= {"responses": done.new, "people": len(done.annotators)}
    return {"responses_in": batch.public_id, **counts, **rejected}


def _choices(job: Job) -> Choices:
    chosen = {name: job.ids[name] for name in ("duplicates", "good_only") if name in job.ids}
    return Choices(**chosen)


def _batch(job: Job) -> Batch:
    return Batch.objects.select_related("project").get(pk=job.ids["batch"])


jobs.afterwards(KIND)(uploads.tidy_up)
