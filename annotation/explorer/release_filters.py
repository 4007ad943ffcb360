"""Filters by releases: the items whose decisions, responses or outcomes are in one."""

from collections import Counter
from itertools import chain
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext

from annotation.explorer.item_access import Reader
from annotation.explorer.selection import Selection, refuse_missing
from annotation.models import Annotation, Decision, Item, Outcome, Release
from annotation.platform.bulk_rows import among
from annotation.platform.keyset import chunks

MOST_NAMED: Final = 1_000
"""Ids that one query names: a database has a limit."""


def in_releases(who: Reader, chosen: Selection) -> Q:
    """Items whose decisions are in one of the releases, or that belong to this part of one."""
    released = Q(pk__in=())
    for release in chosen_releases(who, chosen):
        released |= _of_release(who, release, chosen.part)
    return released


def chosen_releases(who: Reader, chosen: Selection) -> list[Release]:
    """The releases of a selection; all that are ready where it names none."""
    ready = Release.objects.filter(project=who.project, ready_at__isnull=False)
    if not chosen.releases:
        return list(ready)
    releases = ready.in_bulk(chosen.releases, field_name="public_id")
    refuse_missing(gettext("There is no release {name} in this project."), chosen.releases, releases)
    return list(releases.values())


def _of_release(who: Reader, release: Release, part: str) -> Q:
    if part == "contradicted":
        if release.pk not in who.contradicted:
            lists = chunks(contradicted_counts(release), MOST_NAMED)
            keys = (Item.objects.filter(public_id__in=ids).values_list("pk", flat=True) for ids in lists)
            who.contradicted[release.pk] = list(chain.from_iterable(keys))
        return Q(among("pk", who.contradicted[release.pk]))
    batches = Q(batch__public_id__in=[batch["id"] for batch in release.manifest["batches"]])
    decided = Q(Exists(Decision.objects.filter(item=OuterRef("pk"), event_id__lte=release.watermark)))
    decided |= Q(Exists(release.corrections.filter(item=OuterRef("pk"))))
    if not part:
        return batches & decided
    if part == "outcomes":
        return batches & Q(Exists(outcomes(release.watermark).filter(decision__item=OuterRef("pk"))))
    responses = annotations(release.watermark).filter(assignment__item=OuterRef("pk"))
    answered = batches & Q(Exists(responses), is_gold=False)
    return answered & ~decided if part == "undecided" else answered


def annotations(watermark: int) -> QuerySet[Annotation]:
    """The current responses of a release with this watermark: the newest revision until then, unless it withdraws."""
    later = Annotation.objects.filter(
        assignment=OuterRef("assignment"), event_id__lte=watermark, revision__gt=OuterRef("revision")
    )
    return Annotation.objects.filter(~Exists(later), event_id__lte=watermark, response__isnull=False)


def outcomes(watermark: int) -> QuerySet[Outcome]:
    """The outcomes that a release with this watermark can have."""
    return Outcome.objects.filter(decision__event_id__lte=watermark)


def contradicted_counts(release: Release) -> Counter[str]:
    """How many examples people contradicted, by the item (public id) in which they did."""
    return Counter(entry["item"] for entry in release.manifest.get("contradicted", ()))
