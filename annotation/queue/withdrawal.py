"""Until when a submission may be taken back. Gold answers as if it were an ordinary item, so that undo reveals nothing.

An ordinary item is decided once it is complete and the minute for undo has passed; from then on its responses stay. Gold
is never decided: it counts as decided when as many submissions as the batch asks of an item, the person's own among
them, are older than that minute. Many gold items are served to fewer people. They count as decided, too, as soon as the
ordinary item is decided that the person submitted before it (after it, where it was their first): at the end of a batch
all stay.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Batch, Decision, Qualification

State = Assignment.State

UNDO_WINDOW = timedelta(seconds=60)
"""How long after its last submission an item may be resolved: the time in which U still works."""


def decided_assignments(assignments: Iterable[int], *, now: datetime) -> set[int]:
    """Those of the assignments (ids) whose item is decided, or, where it is gold, counts as decided. One statement.

    Where a batch decides when it closes (`Batch.decide_at_close`), gold, too, stays open until then. The items of a
    qualification are decided for each person with their result.
    """
    before = now - UNDO_WINDOW
    settled = Count(
        "item__assignments",
        filter=Q(item__assignments__state=State.SUBMITTED, item__assignments__ended_at__lte=before),
    )
    beside = Assignment.objects.filter(
        batch=OuterRef("batch"), person=OuterRef("person"), state=State.SUBMITTED, item__is_gold=False
    )
    neighbour = Coalesce(
        Subquery(beside.filter(pk__lt=OuterRef("pk")).order_by("-pk").values("item")[:1]),
        Subquery(beside.filter(pk__gt=OuterRef("pk")).order_by("pk").values("item")[:1]),
    )
    mixed_in = Q(
        item__is_gold=True,
        batch__decide_at_close=False,
        batch__purpose=Batch.Purpose.WORK,
        ended_at__lte=before,
    )
    gold = mixed_in & (
        Q(settled__gte=F("batch__overlap")) | Exists(Decision.objects.filter(item_id=OuterRef("neighbour")))
    )
    matches = Assignment.objects.filter(pk__in=list(assignments), state=State.SUBMITTED).annotate(
        settled=settled, neighbour=neighbour
    )
    result = Qualification.objects.filter(batch=OuterRef("batch"), person=OuterRef("person"))
    matches = matches.filter(
        gold | Exists(Decision.objects.filter(item_id=OuterRef("item_id"))) | Exists(result)
    )
    return set(matches.values_list("pk", flat=True))


def withdrawable(assignments: Iterable[Assignment], *, now: datetime) -> set[int]:
    """Those of the assignments (ids) whose submission their person may still take back; at most one statement.

    Wants `batch`. What a release took in meanwhile (`ReleaseQuerySet.holding`) is refused by the undo itself.
    """
    open_ones = {
        assignment.pk
        for assignment in assignments
        if assignment.state == State.SUBMITTED and assignment.batch.closed_at is None
    }
    return open_ones - decided_assignments(open_ones, now=now) if open_ones else set()
