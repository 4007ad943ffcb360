"""Figures that need every response of a batch: worked out at once where there are few, else in the background and kept.

    shown = views_of_batches([batch], ("agreement", "quality"), now=now)
    shown[batch.pk, "agreement"].data, .as_of, .behind

A snapshot says up to which event of the project it was computed. When the project has moved on, a page still shows
what there is, says as of when, and has a job bring it up to date; not sooner than its own cost allows, so that working
out figures never takes more than a twentieth of a processor. Nothing is ever read from a snapshot but for showing it: a
release computes its figures again, with the same function.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from annotation.access import audit_log
from annotation.background import jobs
from annotation.models import Batch, Event, Job, Membership, PersonBatchCounts, Project, Snapshot
from annotation.platform.database import failures
from annotation.quality import (
    agreement_report,
    annotator_quality,
    dashboards,
    label_texts,
    learning_curves,
    task_report,
)
from tableqa.core.translation import message

log = logging.getLogger(__name__)

KIND = "snapshot"
PARTS: Mapping[str, Callable[[Batch], dict[str, Any]]] = {
    "agreement": agreement_report.report,
    "quality": annotator_quality.report,
    "work": dashboards.work_summary,
    "learning": learning_curves.report,
    "monitors": dashboards.artifact_figures,
    "report": task_report.reports_as_json,
}
OF_RESPONSES = ("agreement", "quality")
"""Parts that nothing changes any more once a batch is closed."""
FORM = 15
"""Raised where what a part returns changes: older snapshots then count as missing."""
AT_ONCE = 1_500
"""The most responses, of all batches of a page together, that are processed while the page waits,"""
MOST_AT_ONCE = 8
"""and the most parts: the cost of a page is bounded for any number of small batches."""
LEAST_PAUSE = timedelta(minutes=1)
SHARE = 20
"""A snapshot is kept this many times as long as it took to compute."""
AFTER_FAILURE = timedelta(minutes=15)
WENT_WRONG = message("snapshots.went_wrong", "internal error ({name}).")


@dataclass(frozen=True)
class SnapshotView:
    """What a page shows of one part of one batch.

    data    the figures, None where there are none yet
    as_of   when they were worked out
    behind  whether the project has moved on since
    job     the job that is at it, if one is
    failed  why the last attempt failed, "" where it did not
    """

    data: dict[str, Any] | None
    as_of: datetime | None = None
    behind: bool = False
    job: Job | None = None
    failed: str = ""


def views_of_batches(
    batches: Sequence[Batch], parts: Sequence[str], *, now: datetime
) -> dict[tuple[int, str], SnapshotView]:
    """These parts of all of these batches of one project, by (batch, part); see `snapshot_views`."""
    return snapshot_views([(batch, part) for batch in batches for part in parts], now=now)


def snapshot_views(
    pairs: Sequence[tuple[Batch, str]], *, now: datetime
) -> dict[tuple[int, str], SnapshotView]:
    """Parts of batches of one project, by (batch, part); as many queries for a hundred batches as for one.

    What is missing or behind and small is worked out now and kept; for the rest a job is queued, unless one is under way
    or the pause is not over. A page asks for everything that it shows at once, so that one job does it all.
    """
    if not pairs:
        return {}
    project = pairs[0][0].project
    batches = list({batch.pk: batch for batch, _ in pairs}.values())
    parts_of: dict[int, list[str]] = {}
    for batch, part in pairs:
        parts_of.setdefault(batch.pk, []).append(part)
    keys = [key_of(batch, part) for batch, part in pairs]
    snapshots = {
        row.key: row
        for row in Snapshot.objects.filter(project=project, key__in=keys)
        if row.data.get("form") == FORM
    }
    mark = _current_watermark(project.pk)
    sizes = dict(
        PersonBatchCounts.objects.filter(batch__in=batches)
        .values_list("batch_id")
        .annotate(number=Sum("submitted"))
    )
    behind: list[tuple[Batch, str]] = []
    responses, part_count = 0, 0
    for batch in sorted(batches, key=lambda row: (sizes.get(row.pk, 0), row.pk)):
        missing = [
            part
            for part in parts_of[batch.pk]
            if not _is_fresh(snapshots.get(key_of(batch, part)), batch, part, mark)
        ]
        responses += sizes.get(batch.pk, 0) if missing else 0
        part_count += len(missing)
        if responses <= AT_ONCE and part_count <= MOST_AT_ONCE:
            for part in missing:
                snapshots[key_of(batch, part)] = _compute_snapshot(batch, part, mark, now)
        else:
            behind += [(batch, part) for part in missing]
    job, failed = _queue_job(project, behind, snapshots, now) if behind else (None, {})
    late = {key_of(batch, part) for batch, part in behind}
    return {
        (batch.pk, part): _view_of(batch, part, snapshots.get(key), key in late, job, failed.get(key, ""))
        for batch, part in pairs
        for key in (key_of(batch, part),)
    }


def snapshot_view(batch: Batch, part: str, *, now: datetime) -> SnapshotView:
    """One part of one batch."""
    return views_of_batches([batch], (part,), now=now)[batch.pk, part]


def key_of(batch: Batch, part: str) -> str:
    """The key of a snapshot."""
    return f"{part}:{batch.public_id}"


def _view_of(
    batch: Batch, part: str, snapshot: Snapshot | None, behind: bool, job: Job | None, failed: str
) -> SnapshotView:
    at_it = job if behind and not failed else None
    if snapshot is None:
        return SnapshotView(None, None, behind, at_it, failed)
    task, figures = batch.installed_task(), snapshot.data["figures"]
    if task is not None:
        figures = label_texts.localize_part(task, part, figures)
    return SnapshotView(figures, snapshot.made_at, behind, at_it, failed)


def _current_watermark(project: int) -> tuple[int, list[str]]:
    """The last event of a project, and then the transactions that could still commit an earlier one."""
    last = Event.objects.filter(project=project).order_by("-pk").values_list("pk", flat=True).first()
    return last or 0, audit_log.current_writers()


def _is_fresh(snapshot: Snapshot | None, batch: Batch, part: str, mark: tuple[int, list[str]]) -> bool:
    """Whether nothing can have changed since. Responses of a closed batch stay; what is decided of them may come later."""
    if snapshot is None:
        return False
    if (
        batch.closed_at is not None
        and part in OF_RESPONSES
        and snapshot.data.get("closed") == _closed_state(batch)
    ):
        return True
    return snapshot.watermark >= mark[0] and set(snapshot.data.get("writers", ())) <= set(mark[1])


def _closed_state(batch: Batch) -> str:
    """What figures of a closed batch still depend on: weeks are those of the project's time zone."""
    return "" if batch.closed_at is None else f"{batch.closed_at.isoformat()} {batch.project.time_zone}"


def _queue_job(
    project: Project, behind: Iterable[tuple[Batch, str]], snapshots: Mapping[str, Snapshot], now: datetime
) -> tuple[Job | None, Mapping[str, str]]:
    """The job that is at what is behind, queued now where something is due, and why parts have failed, by their keys.

    A project has one such job at a time; it does everything that was due when it was queued.
    """
    newest = Job.objects.filter(project=project, kind=KIND).order_by("-pk").first()
    if newest is not None and not newest.finished:
        return newest, {}
    failed: Mapping[str, str] = {}
    if newest is not None and now < newest.heartbeat + AFTER_FAILURE:
        failed = newest.result.get("failed", {})
        if newest.state == Job.State.FAILED:
            return None, {key_of(batch, part): newest.error for batch, part in behind}
    due = [
        [batch.pk, part]
        for batch, part in behind
        if key_of(batch, part) not in failed and _is_due(snapshots.get(key_of(batch, part)), now)
    ]
    if not due:
        return None, failed
    return jobs.enqueue(project=project, kind=KIND, ids={"parts": due}, by=None, now=now), failed


def _is_due(snapshot: Snapshot | None, now: datetime) -> bool:
    if snapshot is None:
        return True
    pause = max(LEAST_PAUSE, timedelta(seconds=SHARE * float(snapshot.data["seconds"])))
    return now >= snapshot.made_at + pause


@jobs.kind(KIND)
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    """Work out what was due, the one after the other; one that fails holds none of the others up."""
    failed, parts = {}, job.ids["parts"]
    batches = Batch.objects.select_related("project").in_bulk([batch for batch, _ in parts])
    for index, (pk, part) in enumerate(parts):
        try:
            _compute_snapshot(batches[pk], part, _current_watermark(job.project_id), timezone.now())
        except Exception as error:
            if failures.stops_others(error):
                raise  # the whole job is tried again
            log.exception("the %s of batch %s could not be worked out", part, batches[pk].public_id)
            failed[key_of(batches[pk], part)] = WENT_WRONG.format(name=type(error).__name__)
        progress(index + 1, len(parts))
    others = Job.objects.filter(project=job.project_id, kind=KIND).exclude(pk=job.pk)
    others.filter(state__in=[Job.State.DONE, Job.State.FAILED]).delete()
    return {"failed": failed}


def _compute_snapshot(batch: Batch, part: str, mark: tuple[int, list[str]], now: datetime) -> Snapshot:
    watermark, writers = mark
    of_batch = {"writers": writers, "closed": _closed_state(batch)}
    started, erased = time.perf_counter(), _count_erased(batch)
    figures = PARTS[part](batch)
    took = round(time.perf_counter() - started, 3)
    snapshot = Snapshot(
        project=batch.project,
        key=key_of(batch, part),
        data={"form": FORM, "seconds": took, "figures": figures, **of_batch},
        watermark=watermark,
        made_at=now,
    )
    with transaction.atomic():
        # Erasing a person locks the project, too. What was read before it may quote the name.
        Project.objects.select_for_update(no_key=True).get(pk=batch.project_id)
        is_outdated = _count_erased(batch) != erased
        if not is_outdated:
            Snapshot.objects.bulk_create(
                [snapshot],
                update_conflicts=True,
                unique_fields=["project", "key"],
                update_fields=["data", "watermark", "made_at"],
            )
    return (
        _compute_snapshot(batch, part, _current_watermark(batch.project_id), now) if is_outdated else snapshot
    )


def _count_erased(batch: Batch) -> int:
    return Membership.objects.filter(project=batch.project_id, person__erased_at__isnull=False).count()
