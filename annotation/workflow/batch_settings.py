"""Changing a batch that is open: what can be changed, what that does to items that people have worked on, and doing it.

    wanted = {"overlap": 3, "caps": {"items_per_day": 60}}
    effects(batch, wanted)                # sentences with counts, before anything is done
    change(batch=batch, changes=changes, by=manager, now=now)

What is decided stays decided, after any change. Settings of the
kind, sample and seed are frozen: other ones mean another batch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.access import audit_log, visibility
from annotation.models import Adjudication, Assignment, Batch, Decision, Item, Person, PersonBatchCounts
from annotation.models.batch_options import ANY_TIME, TERMS, UNTIL_DECIDED, changeable, check_change
from annotation.platform.display_text import grouped
from annotation.platform.refusals import refuse
from annotation.queue import allocation, lineage
from annotation.queue.slots import due_at, lock_items, set_overlap, undecided, waiting_below
from annotation.queue.withdrawal import UNDO_WINDOW
from annotation.workflow import automatic_decisions
from tableqa.core.canonical_json import digest


def differences(batch: Batch, changes: Mapping[str, Any], *, counted: bool = True) -> dict[str, Any]:
    """What `changes` would change, checked. Raises ActionRefused: invalid_request; still_involved for what reveals whether
    anything is decided to a person who may not see the counts of the batch (not `counted`).
    """
    if unknown := sorted(changes.keys() - changeable().keys()):
        refuse(
            "invalid_request",
            "{unknown} cannot be changed after a batch is opened. Create another batch.",
            unknown=unknown[0],
        )
    checked = check_change(batch, changes)
    changed_values = {name: value for name, value in checked.items() if getattr(batch, name) != value}
    fixed = [name for name in changed_values if TERMS[name].changeable == UNTIL_DECIDED]
    if fixed and not counted:
        refuse("still_involved", visibility.why_no_counts())
    if fixed and _is_being_decided(batch):
        refuse(
            "invalid_request",
            "Items of this batch are already being decided, so this cannot be changed: {label}. "
            "Create another batch.",
            label=gettext(TERMS[fixed[0]].label),
        )
    return changed_values


def effects(batch: Batch, changes: Mapping[str, Any], *, counted: bool = True) -> list[str]:
    """What the change does to items and people, in sentences with counts. Raises what `differences` raises.

    Without `counted` there is no number in it: for a person from whom the counts of the batch are kept.
    """
    changed_values = differences(batch, changes, counted=counted)
    if not changed_values:
        return []
    if not counted:
        unchanged = gettext("Decided items and submitted responses stay unchanged.")
        general = [TERMS[name].effect_in_words() for name in changed_values]
        return list(dict.fromkeys([unchanged, *general, visibility.why_no_counts()]))
    sentences = _effects_on_decided(batch, changed_values)
    people = {"people": PersonBatchCounts.objects.filter(batch=batch).count()}
    for name, value in changed_values.items():
        sentences.append(TERMS[name].effect_in_words(people))
        sentences += EFFECTS.get(name, Effect()).count(batch, value)
    return list(dict.fromkeys(sentences))


def change(*, batch: Batch, changes: Mapping[str, Any], by: Person, now: datetime) -> dict[str, Any]:
    """Change the batch. Returns what was changed. Raises ActionRefused: batch_closed, invalid_request."""
    with transaction.atomic():
        if any(EFFECTS[name].locks_items for name in changes.keys() & EFFECTS):
            lock_items([batch.pk])
        batch.refresh_from_db()
        changed_values = differences(batch, changes, counted=visibility.sees_counts(by, batch))
        before = {name: getattr(batch, name) for name in changed_values}
        effects = {name: EFFECTS.get(name, Effect()) for name in changed_values}
        for name, effect in effects.items():
            effect.apply(batch, changed_values[name], by, now)
        plain = {name: value for name, value in changed_values.items() if not effects[name].writes_column}
        rows = Batch.objects.filter(pk=batch.pk)
        if not changed_values or any(TERMS[name].changeable != ANY_TIME for name in changed_values):
            rows = rows.filter(closed_at__isnull=True)
        if not rows.update(**plain or {"overlap": F("overlap")}):
            refuse("batch_closed", "The batch {name} is closed and cannot be changed.", name=batch.name)
        batch.refresh_from_db()
        for name, effect in effects.items():
            effect.follow_up(batch, now)
            if not effect.logs:
                was, becomes = before[name], changed_values[name]
                detail = audit_log.changed(name, was, becomes)
                short = [_in_short(name, value) for value in (was, becomes)]
                audit_log.log(batch, *short, by=by, now=now, detail=detail)
    return changed_values


# -- underneath -------------------------------------------------------------------------------------


def _is_being_decided(batch: Batch) -> bool:
    decided = Decision.objects.filter(item__batch=batch).exists()
    return decided or Adjudication.objects.filter(item__batch=batch).exists()


def _effects_on_decided(batch: Batch, changed_values: Mapping[str, Any]) -> list[str]:
    """What happens to items that are decided or wait for an adjudicator."""
    decided = Decision.objects.filter(item__batch=batch).count()
    sentences = [gettext("{items} decided: no change.").format(items=items_phrase(decided))]
    waiting = Adjudication.objects.filter(item__batch=batch).count()
    if changed_values.get("overlap", 0) > batch.overlap and (
        reopened := waiting_below(batch, changed_values["overlap"]).count()
    ):
        waiting -= reopened
        sentences.append(
            gettext("{items} in adjudication: reopened for more people.").format(items=items_phrase(reopened))
        )
    if waiting and "resolve" not in changed_values:
        sentences.append(gettext("{items} in adjudication: no change.").format(items=items_phrase(waiting)))
    return sentences


def _count_slots(batch: Batch, overlap: int) -> list[str]:
    items = undecided(batch)
    if overlap > batch.overlap:
        complete = _complete_items(batch).count()
        sentences = [
            ngettext(
                "{items} undecided: {value} more slot for each.",
                "{items} undecided: {value} more slots for each.",
                overlap - batch.overlap,
            ).format(items=items_phrase(items.count()), value=overlap - batch.overlap)
        ]
        if complete:
            sentences.append(
                gettext("Complete items now: {complete}. They need more responses again.").format(
                    complete=grouped(complete)
                )
            )
        return sentences
    leases = Assignment.objects.filter(item_id=OuterRef("pk"), state=Assignment.State.LEASED)
    done = items.filter(~Exists(leases), submitted_count__gte=overlap, slots_count__gt=F("submitted_count"))
    beyond = items.filter(submitted_count__gt=overlap).count()
    sentences = [
        gettext("{items} undecided: free slots beyond {overlap} are removed.").format(
            items=items_phrase(items.count()), overlap=overlap
        )
    ]
    if count := done.count():
        sentences.append(
            gettext("Complete items after this change: {number}. They will be resolved.").format(
                number=grouped(count)
            )
        )
    if beyond:
        sentences.append(
            gettext("Items with more responses: {beyond}. All responses are kept and count.").format(
                beyond=grouped(beyond)
            )
        )
    return sentences


def _count_resolved(batch: Batch, rule: Mapping[str, Any]) -> list[str]:
    sentences = []
    if complete := _complete_items(batch).count():
        sentences.append(
            gettext("{items} complete and undecided: the new rule applies.").format(
                items=items_phrase(complete)
            )
        )
    foreseen = {name: count for name, count in automatic_decisions.preview_rule(batch, rule).items() if count}
    if foreseen:
        what = ", ".join(f"{count} {gettext(FORESEEN[name])}" for name, count in foreseen.items())
        sentences.append(
            gettext("Items in adjudication are resolved again. Of the first {number}: {what}.").format(
                number=sum(foreseen.values()), what=what
            )
        )
    return sentences


FORESEEN = {
    "accepted": gettext_noop("accepted"),
    "one_more": gettext_noop("need one more person"),
    "adjudication": gettext_noop("stay in adjudication"),
}


def _count_limited(batch: Batch, caps: Mapping[str, Any]) -> list[str]:
    sentences = []
    if (most := caps.get("items")) is not None:
        people_count = PersonBatchCounts.objects.filter(batch=batch, submitted__gte=most).count()
        who = (
            gettext("1 person has")
            if people_count == 1
            else gettext("{there} people have").format(there=people_count)
        )
        sentences.append(
            ngettext(
                "{who} already submitted {most} item or more and will get no more.",
                "{who} already submitted {most} items or more and will get no more.",
                most,
            ).format(who=who, most=most)
        )
    if not caps:
        sentences.append(gettext("This batch no longer limits work per person. Project limits still apply."))
    return sentences


def _count_paid(batch: Batch, pay: Mapping[str, Any]) -> list[str]:
    if not (batch.pay or batch.project.pay):
        return []
    done = Assignment.objects.filter(batch=batch).submitted().count()
    return [
        ngettext(
            "{done} response keeps its earlier rate.", "{done} responses keep their earlier rate.", done
        ).format(done=grouped(done))
    ]


def _count_left_out(batch: Batch, required: Batch | None) -> list[str]:
    return [] if required is None else [gettext("Items of the qualification are left out of this batch.")]


def _count_final(batch: Batch, at_close: bool) -> list[str]:
    if at_close:
        return [gettext("People can change their responses until the batch closes.")]
    complete = grouped(_complete_items(batch).count())
    return [gettext("Complete now: {complete}. Their responses become final.").format(complete=complete)]


def _change_overlap(batch: Batch, overlap: int, by: Person, now: datetime) -> None:
    more = overlap > batch.overlap
    if more:
        automatic_decisions.reopen_waiting(batch=batch, overlap=overlap, by=by, now=now)
    set_overlap(batch=batch, overlap=overlap, now=now)
    if more and batch.strategy == "split" and batch.opened_at is not None:
        allocation.hand_out(batch=batch, by=by, now=now)


def _change_rule(batch: Batch, rule: Mapping[str, Any], by: Person, now: datetime) -> None:
    automatic_decisions.change_rule(batch=batch, rule=rule, by=by, now=now)


def _leave_out(batch: Batch, required: Batch | None, by: Person, now: datetime) -> None:
    if required is not None:
        lineage.leave_out(batch=batch, required=required)


def _renew_due(batch: Batch, now: datetime) -> None:
    _complete_items(batch).update(due_at=due_at(batch, now + UNDO_WINDOW))


@dataclass(frozen=True)
class Effect:
    """What a change of one term does to this batch, beside the general effect of the term.

    count          sentences with counts, before anything is done
    apply          changes of other tables, before the column is written
    follow_up      changes of other tables, afterwards
    writes_column  `apply` writes the column itself; `logs`: and the log
    locks_items    `apply` or `follow_up` changes items
    """

    count: Callable[[Batch, Any], list[str]] = lambda batch, value: []
    apply: Callable[[Batch, Any, Person, datetime], None] = lambda batch, value, by, now: None
    follow_up: Callable[[Batch, datetime], None] = lambda batch, now: None
    writes_column: bool = False
    logs: bool = False
    locks_items: bool = False


EFFECTS: Final[dict[str, Effect]] = {
    "overlap": Effect(_count_slots, _change_overlap, writes_column=True, locks_items=True),
    "caps": Effect(_count_limited),
    "decide_at_close": Effect(_count_final, follow_up=_renew_due, locks_items=True),
    "resolve": Effect(_count_resolved, _change_rule, writes_column=True, logs=True),
    "requires": Effect(_count_left_out, _leave_out, locks_items=True),
    "pay": Effect(_count_paid),
}


def _in_short(name: str, value: Any) -> str:
    """A value as the log has room for it: what is longer than its 20 characters by the beginning of its digest."""
    plain = f"{name} {getattr(value, 'pk', value)}"
    return plain if len(plain) <= 20 else f"{name[:11]} {digest(value)[:8]}"


def _complete_items(batch: Batch) -> QuerySet[Item]:
    """Undecided items with all their responses, outside adjudication."""
    return undecided(batch).filter(slots_count__gt=0, submitted_count__gte=F("slots_count"))


def items_phrase(count: int) -> str:
    """How many items, and the verb of a sentence about them."""
    sentence = ngettext("{number} item is", "{number} items are", count)
    return sentence.format(number=grouped(count))
