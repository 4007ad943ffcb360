"""What happened: the whole story of one item, and the log of a project. Both read what the writers left behind.

Names are for people who invite; others read pseudonyms. A present or possible annotator of an open batch reads nothing
of its items. Undecided items are hidden from people who may decide them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Model, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.access import visibility
from annotation.access.authorization import Actor, permissions_in
from annotation.access.roles import Permission
from annotation.access.visibility import Fact, Visibility
from annotation.models import (
    Annotation,
    ApiToken,
    Assignment,
    Batch,
    CrowdEntry,
    CrowdLink,
    Decision,
    Draft,
    Event,
    Flag,
    Gold,
    Guidelines,
    Inquiry,
    Invitation,
    Item,
    ItemAction,
    ItemChange,
    Membership,
    Person,
    PracticeResult,
    Project,
    Qualification,
    Reading,
    Release,
    RevisionRequest,
    Slot,
    Source,
)
from annotation.models.batch_options import TERMS, work_limits
from annotation.platform.display_text import grouped
from annotation.platform.refusals import refuse
from annotation.quality import compared_responses
from annotation.queue import candidates
from tableqa.core.canonical_json import canonical

SHORT: Final = 80
"""Characters of a question in the log."""
PAGE: Final = 100
"""Entries of the log on one page."""
NOBODY = "Askew"
"""Who does what no person does: leases that run out, decisions by the task type's own rule."""


@dataclass(frozen=True)
class HistoryEntry:
    """One thing that happened to an item: when, who, what in words, and the text."""

    at: datetime
    who: str
    what: str
    words: tuple[str, ...] = ()
    address: str = ""


@dataclass(frozen=True)
class ItemHistory:
    """An item's moments in order, and what it is in: the items made from it, the releases that hold it."""

    moments: list[HistoryEntry]
    follow_ups: list[Item]
    releases: list[Release]
    made_from: Item | None


class Names:
    """What to call people of a project: by name for people who may see names, else by pseudonym.

    in_file     by pseudonym for all, because a file may go into a paper
    searched    the names that the reader sees on the page, by the key of the person
    """

    def __init__(self, actor: Actor, project: Project, *, in_file: bool = False) -> None:
        sees_names = Permission.INVITE in permissions_in(actor, project)
        self.by_name = sees_names and not in_file
        rows = Membership.objects.filter(project=project)
        names = rows.values_list("person_id", "person__name", "pseudonym")
        names_by_person = {key: (name, pseudonym) for key, name, pseudonym in names}
        self.known: Mapping[int, str] = {
            key: name if self.by_name else pseudonym for key, (name, pseudonym) in names_by_person.items()
        }
        self.searched: Mapping[int, str] = {
            key: name if sees_names else pseudonym for key, (name, pseudonym) in names_by_person.items()
        }

    def of_responses(self, sight: Visibility, item: Item) -> Names:
        """Those for an item's history: letters for people who had the item, where readers may not see authors."""
        if sight.shows(Fact.NAMES, item):
            return self
        rows = Assignment.objects.filter(item=item).order_by("slot__number", "pk")
        states = dict(rows.values_list("person_id", "state"))
        submitted = [person for person, state in states.items() if state == Assignment.State.SUBMITTED]
        ordered = candidates.by_letter(item, submitted)
        ordered += [person for person in states if person not in submitted]
        lettered_names = copy(self)
        lettered_names.known = {
            **self.known,
            **dict(zip(ordered, candidates.letters(len(ordered)), strict=True)),
        }
        return lettered_names

    def __call__(self, person: int | None) -> str:
        """The name of a person (by id); the platform's own where it was no person."""
        return NOBODY if person is None else self.known.get(person) or self._administrator(person)

    def _administrator(self, person: int) -> str:
        administrator = Person.objects.filter(pk=person).first() if self.by_name else None
        return administrator.name if administrator else gettext("an administrator")


# -- an item ----------------------------------------------------------------------------------------


def require_readable(sight: Visibility, item: Item) -> None:
    """Raises ActionRefused (still_involved) for those who must not see the item's responses yet."""
    if not sight.shows(Fact.STATE, item):
        refuse(
            "still_involved",
            "You annotate in this batch, or may. You can see the history of its items once it is closed.",
        )
    if not sight.shows(Fact.RESPONSES, item):
        refuse(
            "still_involved",
            "You may be asked to decide this item. You can see its history once it is decided.",
        )


def of_item(item: Item, names: Names) -> ItemHistory:
    """Everything that is kept about what happened to the item, oldest first. Wants batch, example, table loaded."""
    assignments = {
        row.pk: row for row in Assignment.objects.filter(item=item).select_related("slot").order_by("pk")
    }
    moments = [
        *_batch_entries(item, names),
        *_assignment_entries(item, assignments, names),
        *_remark_entries(item, names),
        *_decision_entries(item, names),
    ]
    outcomes = Item.objects.filter(
        Q(example__outcome__decision__item=item) | Q(batch__feeds_from=item.batch_id, example=item.example_id)
    )
    origin = getattr(item.example, "outcome", None)
    return ItemHistory(
        sorted(moments, key=lambda moment: moment.at),
        list(outcomes.select_related("batch").order_by("pk")[:PAGE]),
        releases_with(item),
        origin.decision.item if origin is not None else None,
    )


def releases_with(item: Item) -> list[Release]:
    """The first finished releases that contain responses to the item."""
    first = Annotation.objects.filter(assignment__item=item).order_by("event_id").first()
    if first is None or item.is_gold or item.batch.purpose != Batch.Purpose.WORK:
        return []
    rows = Release.objects.filter(project=item.batch.project_id, ready_at__isnull=False)
    return list(rows.filter(watermark__gte=first.event_id).order_by("ready_at", "pk")[:PAGE])


VERBS: Final = {
    ("", "redacted"): gettext_noop("redacted a text"),
    ("", "leased"): gettext_noop("was assigned the item"),
    ("", "submitted"): gettext_noop("has an imported response"),
    ("returned", "leased"): gettext_noop("reopened the item"),
    ("leased", "submitted"): gettext_noop("submitted"),
    ("submitted", "leased"): gettext_noop("withdrew the submission to change it"),
    ("leased", "skipped"): gettext_noop("skipped the item"),
    ("returned", "skipped"): gettext_noop("skipped the item"),
    ("leased", "returned"): gettext_noop("returned the item"),
    ("complete", "adjudication"): gettext_noop("asked for adjudication"),
    ("complete", gettext_noop("one more")): gettext_noop("asked for one more annotator"),
    ("complete", "accepted"): gettext_noop("accepted the agreed response"),
    ("complete", "excluded"): gettext_noop("excluded the item by the rule of the task type"),
    ("open", "adjudication"): gettext_noop("asked for adjudication"),
    ("adjudication", "adjudication"): gettext_noop("kept the item in adjudication"),
    ("adjudication", "one more"): gettext_noop("asked for one more annotator"),
    ("adjudication", "open"): gettext_noop("reopened for more people"),
    ("adjudication", "accepted"): gettext_noop("decided: accepted"),
    ("adjudication", "excluded"): gettext_noop("decided: excluded"),
    ("accepted", "adjudication"): gettext_noop("undid the decision"),
    ("excluded", "adjudication"): gettext_noop("undid the decision"),
    ("open", "excluded"): gettext_noop("decided: excluded"),
    ("reopened", "excluded"): gettext_noop("decided: excluded"),
    ("reopened", "accepted"): gettext_noop("decided: accepted"),
    ("accepted", gettext_noop("reopened")): gettext_noop("took the decision back"),
    ("accepted", "sent back"): gettext_noop("took the decision and sent the responses back"),
    ("excluded", "sent back"): gettext_noop("took the decision and sent the responses back"),
    ("sent back", "accepted"): gettext_noop("took the decision back"),
    ("sent back", "excluded"): gettext_noop("took the decision back"),
    ("excluded", "accepted"): gettext_noop("took the decision back"),
    ("excluded", "complete"): gettext_noop("took the decision back"),
    ("excluded", "open"): gettext_noop("took the decision back"),
    ("", "example"): gettext_noop("added the item to the guideline examples"),
    ("example", gettext_noop("no example")): gettext_noop("removed the item from the guideline examples"),
    ("flagged", "flag removed"): gettext_noop("removed the flag"),
    ("sent back", "adjudication"): gettext_noop("undid sending the response back"),
    ("adjudication", "complete"): gettext_noop("withdrew the item from adjudication"),
}
"""Changes of state in words. Others are listed unchanged, from and to."""


def in_words(before: str, after: str) -> str:
    """A change of state as part of a sentence."""
    verb = VERBS.get((before, after))
    return gettext(verb) if verb else (f"{before} → {after}" if before else after)


BATCH_VERBS: Final = {
    ("", "planned"): gettext_noop("planned the batch"),
    ("planned", "open"): gettext_noop("opened the batch"),
    ("open", "paused"): gettext_noop("paused the batch"),
    ("paused", "open"): gettext_noop("resumed the batch"),
    ("open", "closed"): gettext_noop("closed the batch"),
    ("paused", "closed"): gettext_noop("closed the batch"),
    ("closed", "open"): gettext_noop("reopened the batch"),
    ("closed", "paused"): gettext_noop("reopened the batch"),
}
WORDS: Final = {
    "caps": gettext_noop("limits per person"),
    "pay": gettext_noop("pay"),
    "name": gettext_noop("name"),
    "time_zone": gettext_noop("time zone"),
    "statement": gettext_noop("data statement"),
    "answer": gettext_noop("answer"),
}
"""What can change of projects and questions, and of both projects and batches. Terms of batches have labels."""


def detail_in_words(detail: Mapping[str, Any] | None, *, named: bool = False) -> list[str]:
    """The details of an event beyond its two states: the reason, or the old and new value of a term.

    named: the term is named already, so that it is not said again.
    """
    if not detail:
        return []
    parts = [detail["reason"]] if detail.get("reason") else []
    if count := detail.get("items"):
        parts.insert(0, ngettext("{number} item", "{number} items", count).format(number=grouped(count)))
    if detail.get("way_back"):
        parts.append(gettext("in a session opened by a manager's link, after using a return link"))
    if "to" in detail:
        what = "" if named else _term(str(detail.get("what", "")))
        parts += _differences(what, detail.get("from"), detail["to"])
    return parts


def _batch_in_words(event: Event) -> str:
    """What happened to an item's batch, as part of a sentence."""
    if verb := BATCH_VERBS.get((event.before, event.after)):
        return gettext(verb)
    if event.after == "set aside":
        return gettext("set the batch aside")
    if event.before == "set aside":
        return gettext("included the batch again")
    what = (event.detail or {}).get("what")
    return gettext("changed the batch: {what}").format(what=_term(what) if what else event.after)


def _term(name: str) -> str:
    label = WORDS.get(name) or (TERMS[name].label if name in TERMS else "")
    return gettext(label) if label else name


def _differences(what: str, before: Any, after: Any) -> list[str]:
    """A line for what changed: of terms that hold several values, one for each of these."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return [
            line
            for name in dict.fromkeys([*before, *after])
            if before.get(name) != after.get(name)
            for line in _differences(
                f"{what}, {_part(name)}" if what else _part(name), before.get(name), after.get(name)
            )
        ]
    return [f"{f'{what}: ' if what else ''}{_value(before)} → {_value(after)}"]


def _part(name: str) -> str:
    """A key of a term that holds several values, in words."""
    return gettext(work_limits.WORDS[name]) if name in work_limits.WORDS else name


def _value(value: Any) -> str:
    if value is None or value == "" or value == {}:
        return "–"
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return value if isinstance(value, str) else canonical(value)


def _batch_entries(item: Item, names: Names) -> Iterable[HistoryEntry]:
    """What happened to the batch that the item is in: planned, opened, paused, changed, closed, set aside."""
    for event in Event.objects.filter(thing="batch", thing_id=item.batch_id).order_by("pk"):
        yield HistoryEntry(
            event.at,
            names(event.actor_id),
            _batch_in_words(event),
            tuple(detail_in_words(event.detail, named=True)),
        )


def _assignment_entries(
    item: Item, assignments: Mapping[int, Assignment], names: Names
) -> Iterable[HistoryEntry]:
    """Assignments with their states, every revision with its words, drafts that were never submitted."""
    task, plain = item.batch.task(), item.plain()
    written = {
        annotation.event_id: annotation
        for annotation in Annotation.objects.filter(assignment__in=assignments)
        .select_related("guidelines")
        .order_by("pk")
    }
    for event in Event.objects.filter(thing="assignment", thing_id__in=assignments).order_by("pk"):
        assignment = assignments[event.thing_id]
        notes: list[str] = []
        annotation = written.get(event.pk)
        if annotation is not None and annotation.response is not None:
            notes = [
                gettext("Revision {revision}, under version {number} of the guidelines").format(
                    revision=annotation.revision, number=annotation.guidelines.number
                ),
                *task.describe(task.read(annotation.response, plain), plain),
                *detail_in_words(event.detail),
            ]
        elif event.after in ("skipped", "returned") and assignment.state == event.after and assignment.reason:
            notes = [assignment.reason]
        else:
            notes = detail_in_words(event.detail)
        what = in_words(event.before, event.after)
        if event.before == "" and assignment.slot.added:
            what += gettext(" (added slot)")
        who = names(assignment.person_id)
        if event.actor_id != assignment.person_id:
            what = gettext("{what}, by {names}").format(what=what, names=names(event.actor_id))
        yield HistoryEntry(event.at, who, what, tuple(notes))
    for draft in Draft.objects.filter(assignment__in=assignments, revision__gt=0):
        assignment = assignments[draft.assignment_id]
        if assignment.state != Assignment.State.SUBMITTED:
            yield HistoryEntry(
                draft.saved_at,
                names(assignment.person_id),
                gettext("saved a draft, revision {revision}").format(revision=draft.revision),
            )


def _remark_entries(item: Item, names: Names) -> Iterable[HistoryEntry]:
    """Remarks about the item without changing it: flags, questions, responses that were sent back."""
    for flag in Flag.objects.filter(item=item).select_related("assignment__person", "made_by"):
        yield HistoryEntry(flag.made_at, names(flag.person.pk), gettext("flagged the item"), (flag.note,))
    for inquiry in Inquiry.objects.filter(assignment__item=item):
        yield HistoryEntry(
            inquiry.asked_at,
            names(inquiry.asked_by_id),
            gettext("asked the managers a question"),
            (inquiry.text,),
        )
        if inquiry.answered_at is not None:
            yield HistoryEntry(
                inquiry.answered_at, names(inquiry.answered_by_id), "answered", (inquiry.answer,)
            )
    for back in RevisionRequest.objects.filter(assignment__item=item).select_related("assignment"):
        whose = names(back.assignment.person_id)
        yield HistoryEntry(
            back.made_at,
            names(back.made_by_id),
            gettext("sent the response of {whose} back").format(whose=whose),
            (back.note,),
        )


def _decision_entries(item: Item, names: Names) -> Iterable[HistoryEntry]:
    """What became of the item: waiting, one more, the decision with its outcomes."""
    task, plain = item.batch.task(), item.plain()
    decision = (
        Decision.objects.filter(item=item).prefetch_related("outcomes__annotations__assignment").first()
    )
    adjudication = getattr(item, "adjudication", None)
    for event in Event.objects.filter(thing="item", thing_id=item.pk).order_by("pk"):
        notes: list[str] = []
        if event.after in ("sent back", "flagged"):
            continue  # listed with its note
        if decision is not None and decision.event_id == event.pk:
            reasons = (decision.reason, gettext(decision.listed_reason or " ").strip(), decision.note)
            notes = list(filter(None, dict.fromkeys(reasons)))
            for outcome in sorted(decision.outcomes.all(), key=lambda outcome: outcome.number):
                rests = sorted({names(a.assignment.person_id) for a in outcome.annotations.all()})
                response_in_words = task.describe(
                    compared_responses.restore_response(task, outcome.response), plain
                )
                on = gettext(" (based on {rests})").format(rests=", ".join(rests)) if rests else ""
                notes.append(
                    gettext("Outcome {number}: {said}{on}").format(
                        number=outcome.number, said="; ".join(response_in_words), on=on
                    )
                )
            if rests_on := (event.detail or {}).get("based_on"):
                basis = Annotation.objects.filter(public_id__in=rests_on)
                authors = {
                    names(person_id) for person_id in basis.values_list("assignment__person_id", flat=True)
                }
                notes.append(
                    gettext("Based on the responses of {whose}").format(whose=", ".join(sorted(authors)))
                )
        elif event.detail:
            notes = detail_in_words(event.detail)
        elif event.after == "adjudication" and adjudication is not None:
            notes = [adjudication.reason]
        yield HistoryEntry(event.at, names(event.actor_id), in_words(event.before, event.after), tuple(notes))


# -- the log of a project ---------------------------------------------------------------------------


@dataclass(frozen=True)
class EventSubject:
    """What an event is about: its name, the address of its page, and what tells it from others of that name.

    The name of an item is its question. `action` is the id of an action on several items.
    """

    name: str
    address: str = ""
    beside: str = ""
    action: str = ""


@dataclass(frozen=True)
class Entry:
    """One event for the log: its number, when, who, what it is about in words and as a code, from and to."""

    number: int
    at: datetime
    who: str
    thing: str
    about: EventSubject
    before: str
    after: str
    words: tuple[str, ...] = ()
    code: str = ""


OF_ITEM: Final = ("item__public_id", "item__batch__name", "item__example__question")
"""What names the item of an assignment or gold response."""


THINGS: Final = {
    "annotation": gettext_noop("response"),
    "apitoken": gettext_noop("API token"),
    "assignment": gettext_noop("assignment"),
    "batch": gettext_noop("batch"),
    "consent": gettext_noop("consent"),
    "consenttext": gettext_noop("consent text"),
    "crowdentry": gettext_noop("crowd entry"),
    "crowdlink": gettext_noop("crowd link"),
    "gold": gettext_noop("gold item"),
    "guidelines": gettext_noop("guidelines"),
    "inquiry": gettext_noop("question to the manager"),
    "invitation": gettext_noop("invitation"),
    "item": gettext_noop("item"),
    "itemaction": gettext_noop("action on several items"),
    "membership": gettext_noop("member"),
    "person": gettext_noop("account"),
    "perturbation_run": gettext_noop("automatic perturbation"),
    "place": gettext_noop("slot"),
    "practicedone": gettext_noop("practice"),
    "project": gettext_noop("project"),
    "qualification": gettext_noop("qualification"),
    "reading": gettext_noop("guidelines confirmation"),
    "release": gettext_noop("release"),
    "source": gettext_noop("source"),
}
"""What events are about (`Event.thing`), in words."""


def log(
    actor: Actor,
    project: Project,
    names: Names,
    *,
    thing: str = "",
    who: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    before: int | None = None,
    after: int | None = None,
) -> list[Entry]:
    """At most PAGE + 1 events of the project, the newest first; `before` is the number that a page ends at.

    With `after`, a number, the first ones that follow it, the oldest first.

    `who` is a name or pseudonym as the reader sees it. There is no count and no offset: the log of a large study has
    millions of entries, and every page costs the same.
    """
    sight = visibility.visibility_of(actor, project)
    matching_events = Event.objects.filter(_visible_events(sight), project=project)
    nameless = Assignment.objects.filter(~sight.condition(Fact.NAMES, "item__"), batch__project=project)
    if sight.judges and who:  # whose name is asked for is not found at what is to be judged without names
        matching_events = matching_events.exclude(thing="assignment", thing_id__in=nameless.values("pk"))
    if thing:
        matching_events = matching_events.filter(thing=thing)
    if who:
        people = [pk for pk, name in names.searched.items() if who.lower() in name.lower()]
        matching_events = matching_events.filter(actor__in=people)
    if since is not None:
        matching_events = matching_events.filter(at__gte=since)
    if until is not None:
        matching_events = matching_events.filter(at__lt=until)
    if before is not None:
        matching_events = matching_events.filter(pk__lt=before)
    if after is not None:
        events = list(matching_events.filter(pk__gt=after).order_by("pk")[: PAGE + 1])
    else:
        events = list(matching_events.order_by("-pk")[: PAGE + 1])
        # The page that follows begins at the number of the last; earlier ones are known by their time.
        events[:PAGE] = sorted(events[:PAGE], key=lambda event: (event.at, event.pk), reverse=True)
    about = _event_subjects(events, names)
    blind: set[int] = set()
    if sight.judges:
        assignment_ids = [event.thing_id for event in events if event.thing == "assignment"]
        rows = nameless.filter(pk__in=assignment_ids).values_list("pk", "item__resolution", *OF_ITEM)
        for pk, resolution, item, batch, question in rows:
            blind.add(pk)
            about["assignment", pk] = (
                _item_subject(item, batch, question)
                if resolution in visibility.DECIDED
                else EventSubject(gettext("an undecided item of {batch}").format(batch=batch))
            )
    return [
        Entry(
            event.pk,
            event.at,
            gettext("an annotator")
            if event.thing == "assignment" and event.thing_id in blind
            else names(event.actor_id),
            gettext(THINGS.get(event.thing, event.thing)),
            about.get(
                (event.thing, event.thing_id),
                EventSubject(gettext("number {thing_id}").format(thing_id=event.thing_id)),
            ),
            event.before,
            event.after,
            tuple(detail_in_words(event.detail)),
            event.thing,
        )
        for event in events
    ]


ITEMS_OF: Final[Mapping[str, tuple[type[Model], Fact, str]]] = {
    "annotation": (Annotation, Fact.STATE, "assignment__item__"),
    "assignment": (Assignment, Fact.STATE, "item__"),
    "gold": (Gold, Fact.GOLD, "item__"),
    "inquiry": (Inquiry, Fact.STATE, "assignment__item__"),
    "item": (Item, Fact.STATE, ""),
    "itemaction": (ItemChange, Fact.STATE, "item__"),
    "place": (Slot, Fact.STATE, "item__"),
    "qualification": (Qualification, Fact.STATE, ""),
}
"""For what tells something of items: the rows that lead from it to these, and what it tells."""


def _visible_events(sight: Visibility) -> Q:
    """The events that the reader may see: what tells nothing of items, and of others what their rows allow.

    A question may be about no item. An action is listed where all of its items may be.
    """
    whole = set(THINGS) - ITEMS_OF.keys()
    visible = Q(pk__in=())
    for thing, (model, fact, path) in ITEMS_OF.items():
        condition, hidden = sight.condition(fact, path), sight.hides(fact)
        if not hidden:
            whole.add(thing)
        elif thing in ("inquiry", "itemaction"):
            key = "action" if thing == "itemaction" else "pk"
            visible |= Q(thing=thing) & ~Q(thing_id__in=model._default_manager.filter(~condition).values(key))
        elif hidden < sight.batches.keys():
            visible |= Q(thing=thing, thing_id__in=model._default_manager.filter(condition).values("pk"))
    return visible | Q(thing__in=whole)


def _event_subjects(events: Sequence[Event], names: Names) -> dict[tuple[str, int], EventSubject]:
    """What the events are about, by thing and id. One query per kind of thing."""
    ids: dict[str, set[int]] = {}
    for event in events:
        ids.setdefault(event.thing, set()).add(event.thing_id)
    subjects: dict[tuple[str, int], EventSubject] = {}

    def rows(thing: str, query: QuerySet[Any, Any], *fields: str) -> Iterable[tuple[Any, ...]]:
        return query.filter(pk__in=ids[thing]).values_list("pk", *fields) if thing in ids else ()

    for pk, item, batch, question, person in rows("assignment", Assignment.objects.all(), *OF_ITEM, "person"):
        subjects["assignment", pk] = _item_subject(item, batch, question, names(person))
    in_itself = (name.removeprefix("item__") for name in OF_ITEM)
    for pk, item, batch, question in rows("item", Item.objects.all(), *in_itself):
        subjects["item", pk] = _item_subject(item, batch, question)
    of_action = ("kind", "public_id", "project__slug")
    for pk, kind, public_id, slug in rows("itemaction", ItemAction.objects.all(), *of_action):
        address = f"{reverse('explorer', args=[slug])}?action={public_id}"
        subjects["itemaction", pk] = EventSubject(
            gettext(ItemAction.Kind(kind).label), address, action=public_id
        )
    for pk, public_id, name in rows("batch", Batch.objects.all(), "public_id", "name"):
        subjects["batch", pk] = EventSubject(name, reverse("batch", args=[public_id]))
    for pk, person in rows("membership", Membership.objects.all(), "person"):
        subjects["membership", pk] = EventSubject(names(person))
    for pk in ids.get("person", ()):
        subjects["person", pk] = EventSubject(names(pk))
    for pk, public_id, name in rows("release", Release.objects.all(), "public_id", "name"):
        subjects["release", pk] = EventSubject(name, reverse("release", args=[public_id]))
    for pk, public_id, name, slug in rows(
        "crowdlink", CrowdLink.objects.all(), "public_id", "name", "project__slug"
    ):
        subjects["crowdlink", pk] = EventSubject(
            name, reverse("crowd_link", args=[slug, public_id]) if names.by_name else ""
        )
    for pk, name, person in rows("crowdentry", CrowdEntry.objects.all(), "link__name", "person"):
        subjects["crowdentry", pk] = EventSubject(
            gettext("{names}, by {name}").format(names=names(person), name=name)
        )
    for pk, public_id, name in rows("source", Source.objects.all(), "public_id", "name"):
        subjects["source", pk] = EventSubject(name, reverse("source", args=[public_id]))
    for pk, kind, version in rows("guidelines", Guidelines.objects.all(), "task_type", "number"):
        subjects["guidelines", pk] = EventSubject(
            gettext("{kind}, version {number}").format(kind=kind, number=version)
        )
    for pk, item, batch, question in rows("gold", Gold.objects.all(), *OF_ITEM):
        subjects["gold", pk] = _item_subject(item, batch, question)
    for pk, kind, version in rows(
        "reading", Reading.objects.all(), "guidelines__task_type", "guidelines__number"
    ):
        subjects["reading", pk] = EventSubject(
            gettext("{kind}, version {number}").format(kind=kind, number=version)
        )
    for pk, kind in rows("practicedone", PracticeResult.objects.all(), "task_type"):
        subjects["practicedone", pk] = EventSubject(kind)
    if names.by_name:  # for people who invite and answer their questions
        for pk, text, slug in rows("inquiry", Inquiry.objects.all(), "text", "project__slug"):
            subjects["inquiry", pk] = EventSubject(_shorten(text), reverse("inquiries", args=[slug]))
        for pk, name in rows("invitation", Invitation.objects.all(), "name"):
            if name:
                subjects["invitation", pk] = EventSubject(name)
        for pk, name, prefix in rows("apitoken", ApiToken.objects.all(), "name", "prefix"):
            subjects["apitoken", pk] = EventSubject(f"{name} ({prefix}…)")
    for pk in ids.get("project", ()):
        subjects["project", pk] = EventSubject(gettext("this project"))
    return subjects


def _item_subject(item: str, batch: str, question: str, annotator: str = "") -> EventSubject:
    parts = (batch, annotator, item)
    return EventSubject(
        _shorten(question), reverse("item_story", args=[item]), " · ".join(filter(None, parts))
    )


def _shorten(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[:SHORT]}…"
