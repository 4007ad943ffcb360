"""What is between a person and the next item of a batch: consent, guidelines, practice, qualification, limits.

`first_unmet_of` is the rule, over plain facts. `first_unmet` loads the facts, and only those that the batch or
its project asks for: where nothing is asked there is no statement, where something is, there are two at most.
"""

import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Consent,
    Guidelines,
    Person,
    PracticeResult,
    Project,
    Qualification,
    Reading,
)
from annotation.platform.prepared_statements import Select, param_int, param_text, param_time
from annotation.queue import practice
from tasks.contract import TaskType

State = Assignment.State


@dataclass(frozen=True)
class UnmetRequirement:
    """Why a person gets no item now: a code, a sentence, and the page where it can be met.

    `page` names the page's address and `args` what is in it; "" where only waiting or the manager helps. The page leads
    back to the batch.
    """

    code: str
    message: str
    page: str = ""
    args: tuple[str, ...] = ()
    query: tuple[tuple[str, str], ...] = ()

    @property
    def address(self) -> str:
        """Where the page is, "" where there is none."""
        if not self.page:
            return ""
        return reverse(self.page, args=self.args) + (f"?{urlencode(self.query)}" if self.query else "")


@dataclass(frozen=True)
class QualificationResult:
    """A person's result in a qualification batch."""

    right: int
    judged: int
    passed: bool


@dataclass(frozen=True)
class AnnotatorState:
    """Where a person is with everything that a batch and its project ask. The defaults let all in.

    `reached` is None for a person who has not finished the qualification batch yet. Items and hours are those submitted
    and worked today in the batch and in the whole project; `items` all that were submitted in the batch. `held` is what is
    in progress in the batch, `project_held` in all batches of the project: it will be submitted.
    """

    consented: bool = True
    read: bool = True
    practised: bool = True
    reached: QualificationResult | None = QualificationResult(0, 0, passed=True)
    items: int = 0
    items_today: int = 0
    hours_today: float = 0.0
    project_items_today: int = 0
    project_hours_today: float = 0.0
    held: int = 0
    project_held: int = 0


def first_unmet(
    *, batch: Batch, person: Person, now: datetime, holding: int | None = 0, begun: bool = False
) -> UnmetRequirement | None:
    """The first requirement of the batch that the person does not meet; None where they may have the next item.

    `holding` is how many items of the batch the page has before the one that it requests: people with more in progress get
    one of these, and no limit of items applies. None is a request for an item that is not in progress. `begun` is for an
    item in progress: no limit applies. No submission of begun work is refused for a requirement. Wants `batch.project`.
    """
    if batch.paused_at is None and not has_requirements(batch):
        return None
    return first_unmet_of(batch, facts(batch=batch, person=person, now=now), holding=holding, begun=begun)


def first_unmet_of(
    batch: Batch, facts: AnnotatorState, *, holding: int | None = 0, begun: bool = False
) -> UnmetRequirement | None:
    """The rule of `first_unmet`: in order of importance."""
    return next(all_unmet(batch, facts, holding=holding, begun=begun), None)


def all_unmet(
    batch: Batch, facts: AnnotatorState, *, holding: int | None = 0, begun: bool = False
) -> Iterator[UnmetRequirement]:
    """All requirements that are not met, in the order in which they apply."""
    project = batch.project
    back = (("batch", batch.public_id),)
    if batch.paused_at is not None and batch.closed_at is None and not begun:
        yield UnmetRequirement(
            "batch_paused",
            gettext("{name} is paused. Your drafts are kept. Come back later.").format(name=batch.name),
        )
    if not facts.consented:
        yield missing_consent(batch)
    if not facts.read:
        yield UnmetRequirement(
            "guidelines_unread",
            gettext("The guidelines are new or have changed. Read them to continue."),
            "guidelines",
            (project.slug, batch.task_type),
            back,
        )
    if not facts.practised:
        variant = (("variant", batch.variant),) if batch.variant else ()
        yield UnmetRequirement(
            "practice_needed",
            gettext("Complete the practice set first. Each answer is explained at once."),
            "practice",
            (project.slug, batch.task_type),
            (*variant, *back),
        )
    if requirement := _missing_qualification(batch, facts.reached):
        yield requirement
    if not begun and (requirement := _reached_limit(batch, facts, holding)):
        yield requirement


def missing_consent(batch: Batch) -> UnmetRequirement:
    """The requirement of a person without consent to the current version. Wants `batch.project`."""
    project = batch.project
    return UnmetRequirement(
        "consent_needed",
        gettext("Before your next item, read and accept the consent text of {name}.").format(
            name=project.name
        ),
        "consent",
        (project.slug,),
        (("batch", batch.public_id),),
    )


def _missing_qualification(batch: Batch, reached: QualificationResult | None) -> UnmetRequirement | None:
    if reached is not None and reached.passed:
        return None
    qualification = batch.requires
    assert qualification is not None, "only a batch that requires another one asks for a qualification"  # nosec
    values: dict[str, Any] = {"name": batch.name, "pass_percent": qualification.pass_percent}
    page: tuple[Any, ...] = ()
    if reached is not None:
        message = gettext(
            "{name} requires {pass_percent} % in “{name_2}”. Your result is {percent} % ({right} "
            "of {judged}). A manager can still admit you."
        )
        values |= {"right": reached.right, "judged": reached.judged}
        values["percent"] = percent(reached.right, reached.judged)
    elif qualification.closed_at is not None:
        message = gettext(
            "{name} requires the qualification “{name_2}”, which closed before you finished. A "
            "manager can still admit you."
        )
    elif qualification.opened_at is None:
        message = gettext("{name} requires the qualification {qualification}, which is not open yet.")
        values |= {"qualification": qualification.name}
    else:
        message = gettext(
            "{name} requires the qualification “{name_2}” first. {pass_percent} % of its items "
            "must be correct."
        )
        page = "annotate", (qualification.public_id,)
    return UnmetRequirement("not_qualified", message.format(name_2=qualification.name, **values), *page)


def _reached_limit(batch: Batch, facts: AnnotatorState, holding: int | None) -> UnmetRequirement | None:
    """The first limit that is reached. Items in progress count: they will be submitted."""
    caps, everywhere = batch.caps, batch.project.caps
    tomorrow = gettext("Come back tomorrow.")
    new = holding is None or facts.held <= holding
    here = max(holding or 0, facts.held)
    for limit, had, in_progress, sentence in (
        (
            caps.get("items"),
            facts.items,
            here,
            gettext("You have reached the limit of {} items per person in {}."),
        ),
        (
            caps.get("items_per_day"),
            facts.items_today,
            here,
            gettext("You have reached the limit of {{}} items per day in {{}}. {tomorrow}").format(
                tomorrow=tomorrow
            ),
        ),
        (
            everywhere.get("items_per_day"),
            facts.project_items_today,
            max(here, facts.project_held),
            gettext("You have reached the limit of {{}} items per day in {name}. {tomorrow}").format(
                name=_escape_braces(batch.project.name), tomorrow=tomorrow
            ),
        ),
    ):
        if limit is None or not new or had + in_progress < limit:
            continue
        if had >= limit:
            return UnmetRequirement("cap_reached", sentence.format(limit, batch.name))
        return UnmetRequirement(
            "cap_reached",
            ngettext(
                "The limit is {limit} item, including items in progress. Finish the open items under "
                "My work.",
                "The limit is {limit} items, including items in progress. Finish the open items under "
                "My work.",
                limit,
            ).format(limit=limit),
        )
    for limit, worked, where in (
        (caps.get("hours_per_day"), facts.hours_today, batch.name),
        (everywhere.get("hours_per_day"), facts.project_hours_today, batch.project.name),
    ):
        if limit is not None and worked >= limit:
            return UnmetRequirement(
                "cap_reached",
                gettext(
                    "You have reached the limit of {limit:g} hours per day in {where}. {tomorrow}"
                ).format(limit=limit, where=where, tomorrow=tomorrow),
            )
    return None


def _escape_braces(name: str) -> str:
    """A name as part of a sentence that is formatted again."""
    return name.replace("{", "{{").replace("}", "}}")


def percent(right: int, judged: int) -> int:
    """The share that was right, rounded down: 79.9 % is not 80 %."""
    return 100 * right // judged if judged else 0


# -- the facts --------------------------------------------------------------------------------------


def facts(*, batch: Batch, person: Person, now: datetime) -> AnnotatorState:
    """Where the person is with what the batch and its project ask; the rest is as if it asked for nothing."""
    project = batch.project
    values: dict[str, Any] = {}
    if project.consent_number or project.must_read or batch.must_practise or batch.requires_id:
        consented, read, practised, passed, right, judged = _standing.first(
            person=person.pk,
            project=project.pk,
            consent=project.consent_number,
            type=batch.task_type,
            variant=batch.variant,
            requires=batch.requires_id or 0,
        )
        if project.consent_number:
            values["consented"] = consented
        if project.must_read:
            values["read"] = read
        if batch.must_practise:
            # A practice set that the task type lacks cannot be required.
            values["practised"] = practised or not practice.exercises(batch.task(), batch.variant)
        if batch.requires_id:
            values["reached"] = None if passed is None else QualificationResult(right, judged, passed)
    if batch.caps or project.caps:
        day = day_begun(project, now)
        row = _worked.first(person=person.pk, project=project.pk, batch=batch.pk, day=day)
        for name, value in zip(_WORKED, row or (0,) * len(_WORKED), strict=True):
            values[name] = value / 3600 if "hours" in name else value
    return AnnotatorState(**values)


def day_begun(project: Project, now: datetime) -> datetime:
    """When today began where the project is at home (`Project.time_zone`)."""
    here = now.astimezone(zoneinfo.ZoneInfo(project.time_zone))
    return here.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)


def entry_requirements(batch: Batch, task: TaskType) -> Mapping[str, bool]:
    """What a batch requires before its first item, by name, for pages. Wants `batch.project`."""
    return {
        "consent": bool(batch.project.consent_number),
        "guidelines": batch.project.must_read,
        "practice": batch.must_practise and bool(practice.exercises(task, batch.variant)),
        "qualification": batch.requires_id is not None,
    }


def qualifications_ahead(person: Person, batches: Sequence[Batch]) -> dict[int, str]:
    """By batch (id), the name of the qualification that comes first for the person: no statement where none is asked."""
    asking = [batch.pk for batch in batches if batch.requires_id is not None]
    if not asking:
        return {}
    results = Qualification.objects.filter(batch=OuterRef("requires"), person=person)
    ahead = Batch.objects.filter(~Exists(results), pk__in=asking, requires__closed_at__isnull=True)
    return dict(ahead.values_list("pk", "requires__name"))


def has_requirements(batch: Batch) -> bool:
    """Whether batch or project ask for anything at all, so that facts must be loaded. Wants `batch.project`."""
    project = batch.project
    return bool(
        project.consent_number
        or project.must_read
        or project.caps
        or batch.must_practise
        or batch.requires_id
        or batch.caps
    )


def _qualification(field: str) -> Subquery:
    return Subquery(
        Qualification.objects.filter(batch_id=param_int("requires"), person_id=param_int("person")).values(
            field
        )[:1]
    )


def _newest() -> QuerySet[Guidelines]:
    return Guidelines.objects.filter(project_id=param_int("project"), task_type=param_text("type")).order_by(
        "-number"
    )


_standing = Select(
    lambda: (
        Person.objects.filter(pk=param_int("person"))
        .annotate(
            consented=Exists(
                Consent.objects.filter(
                    person_id=OuterRef("pk"),
                    text__project_id=param_int("project"),
                    text__number=param_int("consent"),
                    withdrawn_at__isnull=True,
                )
            ),
            read=Exists(
                Reading.objects.filter(
                    person_id=OuterRef("pk"), guidelines_id=Subquery(_newest().values("pk")[:1])
                )
            ),
            practised=Exists(
                PracticeResult.objects.filter(
                    person_id=OuterRef("pk"),
                    project_id=param_int("project"),
                    task_type=param_text("type"),
                    variant=param_text("variant"),
                )
            ),
            passed=_qualification("passed"),
            right=_qualification("right"),
            judged=_qualification("judged"),
        )
        .values_list("consented", "read", "practised", "passed", "right", "judged")
    )
)


def _ended_today() -> Q:
    return Q(ended_at__gte=param_time("day")) | Q(ended_at__isnull=True, seen_at__gte=param_time("day"))


def _earlier_responses() -> QuerySet[Annotation]:
    """The person's responses to the item from before today, newest first."""
    responses = Annotation.objects.filter(assignment=OuterRef("pk"), response__isnull=False)
    return responses.filter(made_at__lt=param_time("day")).order_by("-revision")


def _seconds(when: Q) -> Coalesce:
    """Time at work, today, on items that were ended, or last worked on, today."""
    earlier = Coalesce(Subquery(_earlier_responses().values("active_seconds")[:1]), 0.0)
    return Coalesce(Sum(F("active_seconds") - earlier, filter=when), 0.0)


def _submitted(when: Q) -> Count:
    return Count("pk", filter=Q(state=State.SUBMITTED) & when)


def _is_new_today() -> Q:
    """Ended today, and not an item of an earlier day that was changed."""
    return _ended_today() & ~Q(Exists(_earlier_responses()))


_WORKED = (
    *("items", "items_today", "hours_today", "project_items_today", "project_hours_today"),
    *("held", "project_held"),
)
"""Fields of `AnnotatorState`; the statement has its hours in seconds."""
_worked = Select(
    lambda: (
        Assignment.objects.filter(person_id=param_int("person"), batch__project_id=param_int("project"))
        .order_by()
        .values("person_id")
        .annotate(
            items=_submitted(Q(batch_id=param_int("batch"))),
            items_today=_submitted(Q(batch_id=param_int("batch")) & _is_new_today()),
            hours_today=_seconds(Q(batch_id=param_int("batch")) & _ended_today()),
            project_items_today=_submitted(_is_new_today()),
            project_hours_today=_seconds(_ended_today()),
            held=Count("pk", filter=Q(state=State.LEASED, batch_id=param_int("batch"))),
            project_held=Count("pk", filter=Q(state=State.LEASED)),
        )
        .values_list(*_WORKED)
    )
)
