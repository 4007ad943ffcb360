"""Releases of one project in their order: the predecessor of a release, what changed since, and errata.

An erratum is an example of an earlier release whose answer people contradicted later, or an item whose decision was
corrected. Releases carry the errata of those before them in `errata.jsonl`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext_noop

from annotation.access import audit_log
from annotation.models import Assignment, Batch, Correction, Event, PerturbationRun, Project, Release
from annotation.quality import agreement_report
from annotation.releases import raw_records, release_diff
from annotation.releases.benchmark_files import ERRATA, RECORDS
from annotation.releases.manifest import Manifest
from annotation.releases.raw_records import Raw
from tableqa.core.canonical_json import digest
from tableqa.releases import perturbation_records
from tableqa.releases.record_files import Difference, records
from tableqa.releases.release_records import MANIFEST, read_manifest

Record = dict[str, Any]
ERRATUM = {"release", "source", "id", "reason"}
CORRECTION = {"releases", "source", "id", "item", "fault", "reason", "examples"}
"""The fields of an erratum by contradiction, and by correction."""
REDACTED = "redacted"
"""The state of an item that the log names where a text was redacted."""
FAULTS = {
    "reopened": gettext_noop("excluded"),
    "adjudication": gettext_noop("decided again"),
    "sent back": gettext_noop("sent back"),
}
"""The state to which a correction brought its item -> the fault that its erratum names."""


def next_number(project: Project, name: str) -> int:
    """The number of a release that is planned: that of the release with this name, else one more than the highest."""
    releases = Release.objects.filter(project=project)
    if same := releases.filter(name=name, ready_at__isnull=False).first():
        return same.number
    return int(releases.aggregate(highest=Max("number"))["highest"] or 0) + 1


def predecessor(release: Release) -> Release | None:
    """The finished release with the next lower number."""
    earlier = Release.objects.filter(
        project=release.project_id, number__lt=release.number, ready_at__isnull=False
    )
    return earlier.order_by("-number").first()


def describe(release: Release) -> Record:
    """A release as manifests and errata name it: number, name, digest."""
    return {"number": release.number, "name": release.name, "digest": release.digest}


def dates(release: Release, raw: Raw) -> Record:
    """The times of the first and the last record; without annotations and decisions, of the last import or run."""
    if raw.last_made_at:
        return {"first": raw.first_made_at, "last": raw.last_made_at}
    runs = PerturbationRun.objects.filter(project=release.project_id).values("event_id")
    ready = Q(thing="source", after="ready") | Q(pk__in=runs)
    events = Event.objects.filter(ready, project=release.project_id, pk__lte=release.watermark)
    times = [at.isoformat() for at in events.order_by("at").values_list("at", flat=True)]
    times = times or [release.project.created_at.isoformat()]
    return {"first": times[0], "last": times[-1]}


def changes(before: Path, after: Path) -> Record:
    """The number of records added, removed and changed, by file of raw records; files without a change are left out.

    before, after   release folders; the manifest of the second is not needed
    """
    counts = {}
    for name in sorted(RECORDS - {ERRATA}):
        diff = release_diff.diff_file(name, before / name, after / name)
        if not diff.empty:
            counts[name] = {kind: len(getattr(diff, kind)) for kind in ("added", "removed", "changed")}
    return counts


def errata(before: Path, described: Mapping[str, Any], raw: Raw) -> Iterator[Record]:
    """The errata of the predecessor's folder, then its examples whose answer was contradicted since.

    described   the predecessor, as errata name it
    """
    path = before / ERRATA
    yield from records(path) if path.is_file() else ()
    old = raw_records.load(before)
    listed = {(entry["source"], entry["id"]) for entry in old.contradicted}
    new = [entry for entry in raw.contradicted if (entry["source"], entry["id"]) not in listed]
    automatic_path = before / perturbation_records.LINES
    automatic = (
        {
            (line["source"], perturbation_records.id_of(line))
            for line in records(automatic_path)
            if "digest" in line
        }
        if new and automatic_path.is_file()
        else set()
    )
    for entry in new:
        key = (entry["source"], entry["id"])
        if key in old.originals or key in old.derived or key in automatic:
            yield {"release": dict(described), **{name: entry[name] for name in ("source", "id", "reason")}}


def new_corrections(release: Release, after: int) -> QuerySet[Correction]:
    """The corrections that were made up to the release and after an event: those that it names first."""
    return Correction.objects.filter(
        item__batch__project=release.project_id, event__gt=after, event__lte=release.watermark
    )


def corrections(rows: QuerySet[Correction]) -> list[Record]:
    """Corrections as errata, in their order."""
    return [
        {
            "releases": [describe(release) for release in row.releases.order_by("number")],
            "source": row.item.example.source.name,
            "id": row.item.example.external_id,
            "item": row.item.public_id,
            "fault": FAULTS[row.event.after],
            "reason": str((row.event.detail or {})["reason"]),
            "examples": row.examples,
        }
        for row in rows.select_related("event", "item__example__source").order_by("event")
    ]


def opened_batches(release: Release) -> QuerySet[Batch]:
    """Every batch that was opened up to the release, for any purpose."""
    events = Event.objects.filter(
        project=release.project_id, pk__lte=release.watermark, thing="batch", after="open"
    )
    return Batch.objects.filter(pk__in=events.values("thing_id"))


def other_batches(release: Release) -> list[Record]:
    """The opened batches that are not part of the release: set aside, or of another purpose than work.

    With their agreement, so that a reader sees what was left out. Calibration rounds can go on while a release is made.
    """
    rows = opened_batches(release).exclude(purpose=Batch.Purpose.WORK, set_aside_at=None)
    return [_other_batch(batch) for batch in rows.select_related("definition").order_by("pk")]


def _other_batch(batch: Batch) -> Record:
    responses = Assignment.objects.filter(batch=batch, item__is_gold=False).submitted()
    figures = [figure for figure in agreement_report.batch_figures(batch) if figure.value is not None]
    record = {
        "id": batch.public_id,
        "name": batch.name,
        "type": batch.task_type,
        "purpose": batch.purpose,
        "responses": responses.count(),
        "people": responses.order_by().values("person").distinct().count(),
        "agreement": [
            {
                name: getattr(figure, name)
                for name in ("measure", "statistic", "value", "low", "high", "units")
            }
            for figure in figures
        ],
    }
    if batch.set_aside_at is None:
        return record
    event = Event.objects.filter(thing="batch", thing_id=batch.pk, after="set aside").order_by("-pk")[0]
    role = audit_log.acting_role(event.actor_id or 0, batch.project_id)
    return {
        **record,
        "set_aside": {"reason": batch.set_aside_because, "role": role, "date": event.at.date().isoformat()},
    }


def deleted_batches(release: Release) -> list[Record]:
    """The records of the batches that were deleted up to the release."""
    rows = Batch.everything.filter(project=release.project_id, deletion__event__lte=release.watermark)
    records = rows.order_by("deleted_at", "pk").values_list("deletion", flat=True)
    return [{name: value for name, value in record.items() if name != "event"} for record in records]


def count_redactions(release: Release) -> int:
    """How often a text was redacted in the project up to the release."""
    events = Event.objects.filter(project=release.project_id, thing="item", after=REDACTED)
    return events.filter(pk__lte=release.watermark).count()


def check_predecessor(folder: Path, before: Path) -> None:
    """A release names another one as its predecessor, has what changed since, and repeats its errata.

    Raises Difference.
    """
    manifest, earlier = Manifest.of(read_manifest(folder)), read_manifest(before)
    names = {**{name: earlier.get(name) for name in ("number", "name")}, "digest": digest(earlier)}
    stated = {name: value for name, value in (manifest.predecessor or {}).items() if name != "files"}
    if stated != names:
        raise Difference(f"{MANIFEST}: the predecessor is {stated or None}, the folder {before} has {names}")
    if not earlier["number"] < manifest.number or earlier["project"] != manifest.project:
        raise Difference(
            f"{MANIFEST}: {before} is not an earlier release of the project {manifest.project!r}"
        )
    if "files" in (manifest.predecessor or {}):
        return  # nothing was known of it when the release was made
    listed = {name: counts for name, counts in manifest.changes.items() if name != ERRATA}
    if listed != (computed := changes(before, folder)):
        raise Difference(f"{MANIFEST}: changes are {listed}, the two releases give {computed}")
    errata, repeated = (
        list(records(path / ERRATA)) if (path / ERRATA).is_file() else [] for path in (before, folder)
    )
    if repeated[: len(errata)] != errata:
        raise Difference(f"{ERRATA}: the errata of the predecessor are not at its beginning")


def faults(folder: Path, manifest: Manifest) -> Iterator[str]:
    """What is wrong with the errata of a release: a form that is not theirs, or a release that is not an earlier one."""
    path = folder / ERRATA
    for index, erratum in enumerate(records(path) if path.is_file() else (), start=1):
        if set(erratum) not in (ERRATUM, CORRECTION):
            fields = " or ".join(", ".join(sorted(names)) for names in (ERRATUM, CORRECTION))
            yield f"{ERRATA}, line {index}: an erratum has the fields {fields}"
            continue
        for release in erratum.get("releases") or [erratum["release"]]:
            if not release["number"] < manifest.number:
                yield f"{ERRATA}, line {index}: release {release['name']!r} is not an earlier one"
