"""What should be true of the database and cannot all be said as a constraint: counted anew, and told."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.utils import timezone

from annotation.journeys.importing import LOST
from annotation.journeys.releasing import folder
from annotation.models import (
    Assignment,
    Batch,
    Decision,
    Event,
    Item,
    Place,
    Release,
    Source,
    Tally,
)
from annotation.work import accounting, queue


def findings() -> Iterator[str]:
    """One sentence for each inconsistency; none on a healthy database."""
    yield from _places()
    yield from _items()
    yield from _decisions()
    yield from _batches()
    yield from _tallies()
    yield from _accounts()
    yield from _said()
    yield from _log()
    yield from _sources()
    yield from _files()


def _places() -> Iterator[str]:
    live = Exists(Assignment.objects.filter(place_id=OuterRef("pk"), state__in=["leased", "submitted"]))
    for place in Place.objects.annotate(live=live).exclude(taken=F("live")).select_related("item")[:100]:
        said, found = ("taken", "nobody sits on it") if place.taken else ("free", "somebody sits on it")
        yield f"place {place.number} of item {place.item.public_id} is marked {said}, but {found}"


def _items() -> Iterator[str]:
    counted = Item.objects.annotate(
        places_found=Count("places", distinct=True),
        submitted_found=Count("assignments", filter=Q(assignments__state="submitted"), distinct=True),
    )
    wrong = counted.exclude(places_count=F("places_found"), submitted_count=F("submitted_found"))
    for item in wrong[:100]:
        yield (
            f"item {item.public_id} counts {item.submitted_count} of {item.places_count} places submitted; "
            f"there are {item.submitted_found} of {item.places_found}"
        )


def _decisions() -> Iterator[str]:
    """A decided item waits for nothing, and a complete one for its decision or for somebody who makes it."""
    decided = Item.objects.filter(decision__isnull=False)
    for item in decided.filter(Q(adjudication__isnull=False) | Q(due_at__isnull=False))[:100]:
        yield f"item {item.public_id} is decided and still waits; it is in somebody's queue for nothing"
    for item in decided.filter(Q(is_gold=True) | ~Q(batch__purpose=Batch.Purpose.WORK))[:100]:
        yield f"item {item.public_id} is gold, or of a batch that decides nothing, and was decided"
    hanging = Item.objects.filter(
        submitted_count__gt=0,
        submitted_count__gte=F("places_count"),
        due_at__isnull=True,
        decision__isnull=True,
        adjudication__isnull=True,
        is_gold=False,
        batch__purpose=Batch.Purpose.WORK,
    ).exclude(batch__decide_at_close=True, batch__closed_at__isnull=True)
    for item in hanging[:100]:
        yield f"item {item.public_id} has every response it was to get, and nobody and nothing will decide it"


def _batches() -> Iterator[str]:
    for batch in Batch.objects.all():
        items, places = batch.items.count(), batch.places.count()
        if (batch.items_count, batch.places_count) != (items, places):
            yield (
                f"batch {batch.name} counts {batch.items_count} items and {batch.places_count} places; "
                f"there are {items} and {places}"
            )
        decisions = Decision.objects.filter(item__batch=batch)
        accepted = decisions.filter(kind=Decision.Kind.ACCEPTED).count()
        excluded = decisions.count() - accepted
        if (batch.accepted_count, batch.excluded_count) != (accepted, excluded):
            yield (
                f"batch {batch.name} counts {batch.accepted_count} accepted and {batch.excluded_count} excluded items; "
                f"there are {accepted} and {excluded}"
            )


def _tallies() -> Iterator[str]:
    states = [state.value for state in Assignment.State]
    counted = Assignment.objects.values_list("batch_id", "person_id", "state").annotate(n=Count("pk"))
    found = {(batch, person, state): n for batch, person, state, n in counted}
    seen = set()
    for tally in Tally.objects.select_related("batch"):
        for state in states:
            key = (tally.batch_id, tally.person_id, state)
            seen.add(key)
            said, there = getattr(tally, state), found.get(key, 0)
            if said != there:
                yield f"person {tally.person_id} in batch {tally.batch.name}: {state} is {said}, not {there}"
    for batch_id, person_id, state in found.keys() - seen:
        yield f"person {person_id} in batch {batch_id} has {state} assignments and no tally"


def _accounts() -> Iterator[str]:
    """assigned = submitted + skipped + open + returned, of each person in each batch."""
    for batch in Batch.objects.all():
        for (_, person), account in accounting.accounts([batch]).items():
            if not account.balances:
                yield (
                    f"person {person} in batch {batch.name} was assigned {account.assigned}; submitted, skipped, open "
                    f"and returned are {account.submitted}, {account.skipped}, {account.open} and {account.returned}"
                )


def _said() -> Iterator[str]:
    """Agreement goes by the fingerprints of what was submitted. Null is one of a version that knew none of them."""
    rows = Assignment.objects.filter(said__isnull=False).order_by("pk")
    for key, state, said, response in rows.values_list(
        "public_id", "state", "said", "annotation__response"
    ).iterator(chunk_size=2000):
        if response is None or said != queue.fingerprint(response):
            yield f"assignment {key} is {state}, and the fingerprint of what was said is another"


def _log() -> Iterator[str]:
    """What the log says last of an assignment is what it is."""
    said = Event.objects.filter(thing="assignment", thing_id=OuterRef("pk")).order_by("-pk").values("after")
    told = Assignment.objects.annotate(told=Subquery(said[:1]))
    for assignment in told.filter(~Q(told=F("state")) | Q(told__isnull=True))[:100]:
        last = f"says {assignment.told}" if assignment.told else "says nothing"
        yield f"assignment {assignment.public_id} is {assignment.state}, and the log {last}"


def _sources() -> Iterator[str]:
    for source in Source.objects.filter(ready_at__isnull=True, started_at__lt=timezone.now() - LOST):
        yield f"an import of {source.name} begun at {source.started_at:%Y-%m-%d %H:%M} never ended; import it again"


def _files() -> Iterator[str]:
    """What the database names lies where it should. That a release is what it was, `verify_release` says."""
    for release in Release.objects.filter(ready_at__isnull=False).select_related("project"):
        if not (folder(release) / "manifest.json").is_file():
            yield (
                f"release {release.name} of {release.project.slug} has no files in {folder(release)}; "
                "restore the folder from a backup, or make the release again under another name"
            )
