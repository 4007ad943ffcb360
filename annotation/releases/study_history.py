"""What happened to the study of a release: the frozen study file, what was changed after the first response, its origin.

Everything is read from the log up to the watermark of the release, so that the same release has the same records.
`annotation.study_file.preregistration` freezes a study; the effect of a decision rule follows from raw records.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_noop

from annotation.access import audit_log
from annotation.models import Annotation, Batch, Event, Membership, Project, Release, Source
from annotation.quality import compared_responses
from annotation.releases.raw_records import Raw
from tasks.contract import decision_rules

Record = dict[str, Any]
PREREGISTERED = "preregistered"
COPIED, RESTORED = "copied", "restored"
"""The states of a project that the log names where its study was frozen, and where it came from another project."""
ADDED = gettext_noop("batch added")
REMOVED_BY = "annotator"
"""The role of a person who left by themselves."""


def _responses(**within: Any) -> QuerySet[Annotation]:
    """Submitted responses to items that are not gold, in the order of the log."""
    rows = Annotation.objects.filter(assignment__item__is_gold=False, response__isnull=False, **within)
    return rows.order_by("event_id")


def _count_responses(**within: Any) -> int:
    return _responses(**within).order_by().values("assignment").distinct().count()


def first_response(project: Project | int) -> Annotation | None:
    """The first response of a project in any batch; imported ones count.

    Those to gold items, too: else the page of a study would tell annotators which items are gold.
    """
    rows = Annotation.objects.filter(assignment__batch__project=project, response__isnull=False)
    return rows.order_by("event_id").first()


def records(release: Release, raw: Raw) -> Record:
    """All of it by the fields of a manifest."""
    return {
        "preregistration": preregistration(release),
        "origin": origin(release),
        "same_study": same_study(release),
        "deviations": deviations(release, raw),
        "removed_people": removed_people(release),
    }


def preregistration(release: Release) -> Record | None:
    """The study file as it was frozen before the first response, else the first one that was frozen."""
    if (event := _frozen(release)) is None:
        return None
    first = first_response(release.project_id)
    return {
        "digest": (event.detail or {})["to"],
        "at": event.at.isoformat(),
        "before_first_response": first is None or event.pk < first.event_id,
    }


def _frozen(release: Release) -> Event | None:
    events = Event.objects.filter(thing="project", thing_id=release.project_id, after=PREREGISTERED)
    events = events.filter(pk__lte=release.watermark)
    first = first_response(release.project_id)
    before = events.filter(pk__lt=first.event_id) if first is not None else events
    return before.order_by("-pk").first() or events.order_by("pk").first()


def deviations(release: Release, raw: Raw) -> list[Record]:
    """Options and rules changed after the study was frozen, at the latest from the first response on.

    Batches that were added are named where the study was frozen before the first response.
    """
    frozen, first = _frozen(release), first_response(release.project_id)
    starts = [*([frozen.pk] if frozen else []), *([first.event_id] if first else [])]
    if not starts:
        return []
    of_batch = Q(thing="batch", detail__has_key="what")
    if frozen is not None and (first is None or frozen.pk < first.event_id):
        of_batch |= Q(thing="batch", before="", after="planned")
    of_project = Q(thing="project", after__in=["changed", "must read", "need not read"])
    events = Event.objects.filter(
        of_batch | of_project, project=release.project_id, pk__gt=min(starts), pk__lte=release.watermark
    ).exclude(after="rate corrected")
    batches = Batch.objects.in_bulk({event.thing_id for event in events if event.thing == "batch"})
    return [
        _deviation(event, batches.get(event.thing_id), raw)
        for event in events.order_by("pk")
        if event.thing == "project" or event.thing_id in batches
    ]


def _deviation(event: Event, batch: Batch | None, raw: Raw) -> Record:
    detail: Mapping[str, Any] = event.detail or {}
    what = detail.get("what") or (ADDED if event.thing == "batch" else event.after)
    record: Record = {"at": event.at.isoformat(), "what": what}
    record |= {name: detail[name] for name in ("from", "to") if name in detail}
    record["role"] = (
        audit_log.acting_role(event.actor_id, event.project_id) if event.actor_id else "the command line"
    )
    if event.thing != "batch" or batch is None:
        return record
    record |= {"batch": batch.public_id, "name": batch.name}
    record["responses"] = _count_responses(assignment__batch=batch, event_id__lt=event.pk)
    if what == "resolve" and batch.public_id in raw.batches:
        record["differ"] = count_differing(raw, record)
    return record


def count_differing(raw: Raw, deviation: Mapping[str, Any]) -> int:
    """How many decided items of a batch come to something else by the earlier rule than by the one after the change."""

    def decided() -> Iterator[tuple[Any, list[Any]]]:
        for decision in raw.decisions:
            if decision["batch"] == deviation["batch"]:
                task, item = raw.item(decision)
                records = raw.annotations_of(decision["item"])
                current = [of for of in records if of["newest"] and of["response"] is not None]
                current.sort(key=lambda record: record["place"]["number"])
                yield item, [compared_responses.restore_response(task, of["response"]) for of in current]

    task = raw.task_of(deviation["batch"])
    return decision_rules.count_differing(task, deviation["from"], deviation["to"], decided())


def exclusions(raw: Raw) -> list[Record]:
    """The numbers of excluded items by batch, reason, and by whom: the decision rule or an adjudicator."""
    counts = Counter(
        (
            decision["batch"],
            _reason(decision),
            "rule" if decision["by"] == "resolve" else "adjudicator",
        )
        for decision in raw.decisions
        if decision["kind"] == "excluded"
    )
    return [
        {"batch": batch, "reason": reason, "by": by, "items": items}
        for (batch, reason, by), items in sorted(counts.items())
    ]


def _reason(decision: Mapping[str, Any]) -> str:
    """Why an item was excluded: a listed reason replaces the note of an adjudicator."""
    is_note = decision["reason"] == decision.get("note", "")
    return str((is_note and decision.get("listed_reason")) or decision["reason"])


def removed_people(release: Release) -> list[Record]:
    """People with responses who are no longer in the project: pseudonym, responses, when, and who removed them.

    Without those who had their data erased.
    """
    people = []
    members = Membership.objects.filter(project=release.project_id, removed_at__isnull=False)
    members = members.filter(person__erased_at__isnull=True)
    removals = Event.objects.filter(thing="membership", after="removed", pk__lte=release.watermark)
    for member in members.order_by("removed_at", "pk"):
        event = removals.filter(thing_id=member.pk).order_by("-pk").first()
        count = _count_responses(
            assignment__batch__project=release.project_id,
            assignment__person=member.person_id,
            event_id__lte=release.watermark,
        )
        if event is not None and count:
            is_own = event.actor_id == member.person_id
            role = REMOVED_BY if is_own else audit_log.acting_role(event.actor_id or 0, event.project_id)
            date = event.at.date().isoformat()
            people.append({"annotator": member.pseudonym, "responses": count, "date": date, "role": role})
    return people


def origin(release: Release) -> Record | None:
    """The project that this one was copied from, or the release that it was restored from."""
    events = Event.objects.filter(
        thing="project", thing_id=release.project_id, after__in=[COPIED, RESTORED], detail__isnull=False
    )
    event = events.filter(pk__lte=release.watermark).order_by("pk").first()
    return None if event is None else {"kind": event.after, **(event.detail or {})}


def same_study(release: Release) -> list[Record]:
    """Other projects of this site with the same frozen study and one of the same sources, by number of responses."""
    frozen = _frozen(release)
    if frozen is None:
        return []
    digest = (frozen.detail or {})["to"]
    checksums = Source.objects.ready().filter(project=release.project_id).values("checksum")
    same_source = Source.objects.filter(project=OuterRef("pk"), checksum__in=checksums)
    events = Event.objects.filter(
        thing="project", after=PREREGISTERED, detail__to=digest, pk__lte=release.watermark
    )
    others = Project.everything.filter(Exists(same_source), pk__in=events.values("thing_id"))
    counts = [
        _count_responses(assignment__batch__project=other, event_id__lte=release.watermark)
        for other in others.exclude(pk=release.project_id)
    ]
    return [{"responses": count} for count in sorted(counts, reverse=True)]
