"""A release in: its project again, with batches, responses, decisions, sources, lineage and pseudonyms.

A release that is made from the restored project has the same data files, byte for byte, and the same agreement figures.
Ids of batches, items, responses and outcomes are those of the release. Where one of them exists on this server already
(the original project is still here), all of them are new: the project is then a copy, equal but for its ids.

Uploads are unpacked and verified in their own process (`annotation.releases.checked_release`). Its checked records are
written in pages that are hidden until the last one (`annotation.background.staged_pages`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotation.access import audit_log
from annotation.background import jobs, sandbox, uploads
from annotation.background.staged_pages import HiddenPages, Progress, require_empty
from annotation.models import Batch, Example, Job, Person, Project, Source, Upload
from annotation.payments import data_statement
from annotation.platform import bulk_rows
from annotation.platform.refusals import ActionRefused, refuse
from annotation.releases import checked_release
from annotation.releases.checked_release import CheckedRelease
from annotation.releases.manifest import Manifest
from annotation.releases.restoration.restored_responses import Decisions
from annotation.releases.study_history import RESTORED
from tableqa.core.canonical_json import digest
from tableqa.core.translation import TranslatedText, translate_stored
from tableqa.readers.ingestion import ReadRequest
from tableqa.releases import release_records
from tableqa.releases.record_files import Difference
from tableqa.releases.verification import MALFORMED
from tableqa.writers import harness

__all__ = ["LOSSES", "RestoreResult", "restore", "start_restore", "summary_of"]

LOSSES: Final = (
    gettext_noop(
        "Names and e-mail addresses of people. Annotators keep their pseudonyms and cannot sign in."
    ),
    gettext_noop("Drafts, skipped items, flags, questions, gold items and practice."),
    gettext_noop(
        "Settings of batches that are not in the manifest, such as limits, pay and entry requirements."
    ),
    gettext_noop("The audit log before the release, except submissions and decisions."),
)
"""What no release contains, and a restored project therefore lacks."""


@dataclass(frozen=True)
class RestoreResult:
    """The restored project. `has_new_ids`: the original project is on this server, so the copy has ids of its own.

    `without_batch` is the number of examples that the release does not assign to a batch (releases of older versions).
    """

    project: Project
    batches: int
    items: int
    annotations: int
    decisions: int
    people: int
    has_new_ids: bool
    without_batch: int

    def counts(self) -> dict[str, Any]:
        """The result as JSON."""
        return {name: value for name, value in vars(self).items() if name != "project"}


Reading = Callable[[ReadRequest, Callable[[int], None]], CheckedRelease]
"""How a release is checked: in this process where it is on this machine, in one of its own where it was uploaded."""


@bulk_rows.rare_garbage_collection()
def restore(
    *,
    project: Project,
    folder: Path,
    by: Person | None,
    now: datetime,
    progress: Progress = lambda done, total: None,
    job: Job | None = None,
    files: uploads.UploadedFiles | None = None,
    reading: Reading = checked_release.check,
) -> RestoreResult:
    """Fill an empty project with the contents of a release (a folder or a zip file): everything or nothing.

    job: gets its result with it. files: uploaded ones.
    The release is verified first. Raises ActionRefused(import_failed): not a release, a release that does not verify, an
    unknown task type, or a project that already has contents.
    """
    with uploads.room(files) as room:
        checked = Path(room, "checked")
        request = ReadRequest(
            "", str(folder), str(checked), hidden=files.for_request()["hidden"] if files else ()
        )
        release = sandbox.refusing_faults(reading, request, lambda count: progress(count, 0))
        require_restorable(release.unknown_type, release.difference)
        pages = HiddenPages(project, progress, release.records)
        pages.claim(job)
        try:
            return _write(pages, checked, by, now, job)
        # What verifies can still have values that no column takes, such as a number of 20 digits.
        except (Difference, *MALFORMED, DataError, IntegrityError, ValidationError) as error:
            pages.abandon()
            require_restorable("", f"{error}")
            raise
        except BaseException:
            pages.abandon()
            raise


def require_restorable(unknown_type: str, difference: str) -> None:
    """Refuse a release with a task type that this server does not have, or one that does not verify."""
    if unknown_type:
        refuse(
            "import_failed",
            "This server has no task type {task_type!r}. Install or define it, then restore the release.",
            task_type=unknown_type,
        )
    if difference:
        refuse(
            "import_failed",
            "The release cannot be restored because it does not verify: {error}. Use an unchanged copy.",
            error=difference,
        )


def summary_of(job: Job) -> dict[str, Any]:
    """What a release would restore, by the job that read its preview; `problem` is why it cannot, "" if it can."""
    summary, problem = dict(job.result["release"]), ""
    try:
        require_restorable(summary.pop("unknown_type"), summary.pop("difference"))
        require_empty(job.project)
    except ActionRefused as refused:
        problem = refused.detail
    batches = [{**batch, "task_type": _task_type_title(batch["task_type"])} for batch in summary["batches"]]
    return {**summary, "batches": batches, "problem": problem}


def _task_type_title(title: str | Mapping[str, str]) -> str:
    """The title of a task type in the reader's language."""
    return translate_stored(title if isinstance(title, str) else TranslatedText(title[""], title))


def _write(
    pages: HiddenPages, folder: Path, by: Person | None, now: datetime, job: Job | None
) -> RestoreResult:
    manifest = Manifest.of(release_records.read_manifest(folder))
    contents = Decisions(pages, folder, manifest, by, now)
    for write in (
        contents.write_people,
        contents.write_sources,
        contents.write_automatic,
        contents.write_derived,
        contents.write_batches,
        contents.write_items,
        contents.write_annotations,
        contents.write_decisions,
        contents.write_assistance,
        contents.write_tries,
    ):
        write()
    decided = manifest.counts
    unused = Example.objects.filter(source__project=pages.project, parent=None, items=None, derived=None)
    restored = RestoreResult(
        project=pages.project,
        batches=len(contents.batches),
        items=len(contents.items),
        annotations=len(contents.annotation_keys),
        decisions=decided["accepted"] + decided["excluded"],
        people=len(contents.people),
        has_new_ids=contents.has_new_ids,
        without_batch=unused.count() if contents.batches else 0,
    )
    origin = {"project": manifest.project, "release": manifest.name, "number": manifest.number}
    origin["digest"] = digest(release_records.read_manifest(folder))
    _publish(pages, manifest, by, now, job, restored, origin)
    return restored


def _publish(
    pages: HiddenPages,
    manifest: Manifest,
    by: Person | None,
    now: datetime,
    job: Job | None,
    restored: RestoreResult,
    origin: Mapping[str, Any],
) -> None:
    """Make all pages visible, with what the next release of the project starts with, and its data statement."""
    project, stated = pages.project, manifest.statement
    options: dict[str, Any] = {"formats": manifest.every_format}
    options |= {"mix": manifest.mix["seed"]} if manifest.mix else {}
    options |= {"purpose": manifest.purpose} if manifest.purpose else {}
    options |= {"prompts": manifest.prompts} if manifest.prompts not in ({}, harness.DEFAULT_PROMPTS) else {}
    statement = {**stated.get("said", {}), data_statement.RESTORED: stated.get("pay")}
    with pages.page():
        Source.objects.filter(project=project).update(ready_at=now)
        Batch.objects.filter(project=project).update(opened_at=F("made_at"), paused_at=F("made_at"))
        Project.objects.filter(pk=project.pk).update(
            release=options,
            statement={name: text for name, text in statement.items() if text},
            restoring_at=None,
        )
        audit_log.log(project, "", RESTORED, by=by, now=now, detail=origin)
        pages.progress(pages.total, pages.total)
        if job is not None:
            jobs.store_result(job, restored.counts())


def start_restore(*, project: Project, upload: Upload, by: Person, now: datetime) -> Job:
    """Restore an uploaded release in the background.

    Raises ActionRefused(import_failed) where bytes of it are missing, or the project is not empty.
    """
    uploads.require_whole(upload)
    require_empty(project)
    return jobs.enqueue(project=project, kind="restore", ids={"upload": upload.pk}, by=by, now=now)


@jobs.kind("restore")
def _run_restore(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    upload = Upload.objects.get(pk=job.ids["upload"])
    with uploads.for_sandbox(upload, None) as files:
        restored = restore(
            project=job.project,
            folder=files.questions,
            by=job.made_by,
            now=timezone.now(),
            progress=progress,
            job=job,
            files=files,
            reading=partial(_read_in_process, upload.name),
        )
    return restored.counts()


def _read_in_process(name: str, request: ReadRequest, beat: Callable[[int], None]) -> CheckedRelease:
    """Check an uploaded release in its own process."""
    task, seconds = "annotation.releases.reader_tasks:check_release", settings.IMPORT_SECONDS
    return CheckedRelease(**sandbox.call(task, request, beat, name=name, seconds=seconds))


jobs.afterwards("restore")(uploads.tidy_up)
