"""Reviews: a random sample of accepted items that a person looks at again, and the error rate that follows.

sample = draw(who, size=50, seed=1, now=now)
record(who, next_entry(who, sample), "confirmed", note="", now=now)
error_rate(sample)         # sent back, of those that were reviewed
"""

import random
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from annotation.access import visibility
from annotation.access.visibility import Fact
from annotation.explorer import item_actions
from annotation.explorer.action_rules import refused_in_words
from annotation.explorer.item_access import Reader
from annotation.models import Item, ReviewEntry, ReviewSample
from annotation.platform.refusals import refuse
from annotation.queue import decisions
from tableqa.statistics.proportions import Proportion, proportion

MOST: Final = 1_000
"""Items of a sample."""


def reviewable(who: Reader) -> QuerySet[Item]:
    """The accepted items whose responses the person may see, and on which they did not work."""
    accepted = who.items(Fact.RESPONSES).filter(decisions.DECIDABLE, decision__kind="accepted")
    return visibility.adjudicable(who.actor.person, accepted)


def draw(who: Reader, *, size: int, seed: int, now: datetime) -> ReviewSample:
    """Draw a sample of accepted items. The same seed gives the same sample of the same items. Raises ActionRefused."""
    keys = list(reviewable(who).order_by("pk").values_list("pk", flat=True))
    if not keys or not 1 <= size <= MOST:
        refuse(
            "invalid_request",
            "Choose 1 to {most} items. {number} can be reviewed.",
            most=MOST,
            number=len(keys),
        )
    chosen = random.Random(seed).sample(keys, min(size, len(keys)))  # nosec B311: a sample, no secret
    with transaction.atomic():
        sample = ReviewSample.objects.create(
            project=who.project, seed=seed, made_by=who.actor.person, made_at=now, of=len(keys)
        )
        ReviewEntry.objects.bulk_create(
            ReviewEntry(sample=sample, item_id=key, position=at) for at, key in enumerate(chosen, start=1)
        )
    return sample


def next_entry(who: Reader, sample: ReviewSample) -> ReviewEntry | None:
    """The first entry without an outcome that the person can review. An item that was decided again is one, too."""
    waiting = sample.entries.filter(outcome="", item__in=reviewable(who))
    return waiting.select_related("item__batch", "item__example__stored_table").order_by("position").first()


def record(who: Reader, entry: ReviewEntry, outcome: str, *, note: str, now: datetime) -> None:
    """Store what the person found. "sent_back" moves the item to adjudication, with the note as the reason.

    Raises ActionRefused: invalid_request; decided where the entry has an outcome or the item cannot be moved.
    """
    if outcome not in ReviewEntry.Outcome.values:
        refuse("invalid_request", "Confirm the item, or send it back.")
    with transaction.atomic():
        open_entries = ReviewEntry.objects.select_for_update(no_key=True).filter(pk=entry.pk, outcome="")
        if not open_entries.exists() or not reviewable(who).filter(pk=entry.item_id).exists():
            refuse("decided", "This item was reviewed or changed in the meantime.")
        if outcome == ReviewEntry.Outcome.SENT_BACK:
            done = item_actions.apply_action(who, "adjudicate", [entry.item_id], note=note, now=now)
            if not done.number:
                why = "; ".join(refused_in_words(refusal, 1) for refusal in done.refused)
                refuse("decided", "This item cannot be sent back. {why}.", why=why)
        ReviewEntry.objects.filter(pk=entry.pk).update(
            outcome=outcome, note=note.strip(), reviewed_by=who.actor.person, reviewed_at=now
        )


def error_rate(sample: ReviewSample) -> Proportion:
    """The share of the reviewed items that were sent back, with Wilson's interval of 95 %."""
    outcomes = list(sample.entries.exclude(outcome="").values_list("outcome", flat=True))
    return proportion(outcomes.count(ReviewEntry.Outcome.SENT_BACK), len(outcomes))
