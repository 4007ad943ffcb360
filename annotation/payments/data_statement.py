"""The data statement: what a release says of the people who made it, and under what conditions.

What people must say themselves is asked for by name (`ASKED`); the rest is counted (`count_statement`). Together they answer
section D of the responsible NLP checklist of the ACL (instructions, recruitment and pay, consent, ethics review,
characteristics of annotators), and questions of its sections A and B about the dataset. Missing statements are listed as
missing.
"""

import math
import zoneinfo
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any, Final

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext_noop

from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Consent,
    ConsentText,
    Decision,
    Membership,
    PersonBatchCounts,
    PracticeResult,
    Project,
    Qualification,
)
from annotation.payments import earnings, ledger, rates
from annotation.platform.refusals import refuse
from tableqa.writers import hub

LONGEST: Final = 4_000
DIGITS: Final = 4
"""Decimals of hours: a pilot may take seconds."""
RESTORED: Final = "pay"
"""Beside what people say: the pay of the release that a project was restored from, whose batches have no rates here."""
FEWEST: Final = 3
"""A characteristic that fewer people share is not told: it might tell who they are."""


@dataclass(frozen=True)
class Question:
    """A fact that only people can state: its name in the manifest, what is asked, and the checklist's question."""

    name: str
    title: str
    help: str
    item: str


ASKED: Final = (
    Question(
        "recruitment",
        gettext_noop("Recruitment"),
        gettext_noop("Recruitment: channel, place, method and requirements."),
        "D2",
    ),
    Question(
        "payment",
        gettext_noop("Pay"),
        gettext_noop("Why the pay is fair where annotators live, or why the work is unpaid."),
        "D2",
    ),
    Question(
        "training",
        gettext_noop("Training"),
        gettext_noop("How annotators were trained before they started, and for how long."),
        "D1",
    ),
    Question(
        "risks",
        gettext_noop("Risks and disclaimers"),
        gettext_noop("Warnings to annotators about offensive, tiring or harmful content."),
        "D1",
    ),
    Question(
        "consent",
        gettext_noop("Consent"),
        gettext_noop("How annotators learned about the use of their data and agreed to it."),
        "D3",
    ),
    Question(
        "ethics",
        gettext_noop("Ethics review"),
        gettext_noop(
            "The ethics board that approved the study and the approval number, or why there was no review."
        ),
        "D4",
    ),
    Question(
        "population",
        gettext_noop("Annotators"),
        gettext_noop("The annotators as a group: languages, places, background."),
        "D5",
    ),
    Question(
        "creators",
        gettext_noop("Creators"),
        gettext_noop(
            "People or organisations that made the dataset, one per line. Releases publish these names."
        ),
        "B1",
    ),
    Question(
        "language",
        gettext_noop("Languages of the data"),
        gettext_noop("Languages of questions and tables as codes, separated by commas: en, de."),
        "B5",
    ),
    Question(
        "use_cases",
        gettext_noop("Use cases"),
        gettext_noop("What the dataset is meant for, and what it must not be used for."),
        "B3",
    ),
    Question(
        "personal",
        gettext_noop("Personal and sensitive data"),
        gettext_noop("Personal or sensitive data in questions and tables, and how you handled it."),
        "B4",
    ),
    Question(
        "biases",
        gettext_noop("Biases"),
        gettext_noop("Known biases of sources, items and annotators."),
        "A2",
    ),
    Question(
        "limitations",
        gettext_noop("Limitations"),
        gettext_noop("What the data do not show, and for what they are too few."),
        "A1",
    ),
    Question(
        "maintenance",
        gettext_noop("Maintenance"),
        gettext_noop("Who maintains the dataset, for how long, and how to report errors."),
        "B5",
    ),
)

OF_ONESELF: Final = {
    "languages": gettext_noop("Native languages"),
    "country": gettext_noop("Country of residence"),
    "education": gettext_noop("Highest degree or field of study"),
    "experience": gettext_noop("Experience with tables or annotation"),
    "age": gettext_noop("Age group"),
    "gender": gettext_noop("Gender"),
}
"""Voluntary statements of annotators about themselves."""


def clean_answers(texts: Mapping[str, object]) -> dict[str, str]:
    """What was said, by the names of `ASKED`, without what is empty. Raises ActionRefused(invalid_request)."""
    return _clean(texts, [question.name for question in ASKED], LONGEST)


def answers(project: Project) -> dict[str, str]:
    """What people said, by the names of `ASKED`."""
    return {name: text for name, text in project.statement.items() if name != RESTORED}


def clean_characteristics(texts: Mapping[str, object]) -> dict[str, str]:
    """The answers of a member, by the names of `OF_ONESELF`. Raises ActionRefused(invalid_request)."""
    return _clean(texts, list(OF_ONESELF), 100)


def _clean(texts: Mapping[str, object], allowed_names: Sequence[str], longest: int) -> dict[str, str]:
    if unknown := sorted(set(texts) - set(allowed_names)):
        refuse(
            "invalid_request",
            "There is no field {unknown!r}. Available: {known}.",
            unknown=unknown[0],
            known=", ".join(allowed_names),
        )
    cleaned = {}
    for name in allowed_names:
        text = texts.get(name) or ""
        if not isinstance(text, str) or len(text) > longest:
            refuse(
                "invalid_request",
                "{name} must be text of at most {longest} characters.",
                name=name,
                longest=number_format(longest, force_grouping=True),
            )
        if text.strip():
            cleaned[name] = text.strip()
    return cleaned


def count_statement(
    project: Project, batches: Sequence[Batch], *, watermark: int, until: datetime
) -> dict[str, Any]:
    """Everything of the statement that can be counted, up to an event: JSON for a manifest. Simulated people are left out.

    Instructions in full, agreement and the number of people are elsewhere in the manifest.
    """
    ids = [batch.pk for batch in batches]
    imported = _responses(watermark).filter(
        assignment__batch__in=ids, assignment__person__is_external=True, event__detail__has_key="tool"
    )
    return {
        **uncounted_statement(project, batches, until=until),
        "tools": sorted(set(imported.values_list("event__detail__tool", flat=True))),
        "hours": _hours(project, ids, watermark, until),
        "rejected": _rejected(ids, watermark),
    }


def uncounted_statement(project: Project, batches: Sequence[Batch], *, until: datetime) -> dict[str, Any]:
    """`count_statement` but for what takes every response: as quick for a large project as for a small one."""
    return {
        "form": hub.FORM,
        "said": {question.name: project.statement.get(question.name, "") for question in ASKED},
        "elsewhere": PersonBatchCounts.objects.filter(
            batch__in=batches, submitted__gt=0, person__is_external=True
        )
        .values("person_id")
        .distinct()
        .count(),
        "pay": _pay(project, batches, until),
        "practised": PracticeResult.objects.filter(
            project=project, done_at__lte=until, person__is_simulated=False
        ).count(),
        "qualification": _qualification(project, until),
        "consent": _consent(project, batches, until),
        "characteristics": _characteristics(project, batches),
    }


def _contributors(batches: Sequence[Batch]) -> QuerySet[PersonBatchCounts, Any]:
    """Who has submitted something in these batches: words and consent of others are left out."""
    return PersonBatchCounts.objects.filter(
        batch__in=batches, submitted__gt=0, person__is_simulated=False
    ).values("person_id")


def _pay(project: Project, batches: Sequence[Batch], until: datetime) -> list[str]:
    """The rates that held while the batches were open, in words; where they were not the same for all, with their names.

    What the release of a restored project says comes first; its batches have no rates of their own.
    """
    restored: list[str] = project.statement.get(RESTORED, [])
    zone = zoneinfo.ZoneInfo(project.time_zone)
    in_force = rates.terms_of_batches(batches)
    paid: defaultdict[str, list[str]] = defaultdict(list)
    for batch in batches:
        if restored and batch.paused_at == batch.opened_at:
            continue  # it has not been open since it was restored
        end = min(batch.closed_at or until, until)
        rates_text = _rates(in_force[batch.pk].periods(corrected=True), batch.opened_at or until, end, zone)
        if rates_text or not restored:
            paid[rates_text].append(batch.name)
    if len(paid) == 1 and not restored:
        return [rates_text for rates_text in paid if rates_text]
    return [
        *restored,
        *sorted(f"{rates_text or 'nothing'} ({', '.join(names)})" for rates_text, names in paid.items()),
    ]


def _rates(
    periods: Sequence[rates.RatePeriod], begin: datetime, end: datetime, zone: zoneinfo.ZoneInfo
) -> str:
    """The rates between two moments, one after the other: "15.00 EUR an hour until 2026-03-02, then 30.00 EUR an hour"."""
    parts: list[str] = []
    for period in periods:
        if period.until is not None and period.until <= begin:
            continue
        rate = earnings.rate(period.pay) or "nothing"
        if period.until is None or period.until > end:
            if not parts:
                return earnings.rate(period.pay)
            return ", then ".join([*parts, rate])
        parts.append(f"{rate} until {period.until.astimezone(zone).date().isoformat()}")
    return ", then ".join(parts)


def _hours(project: Project, batches: Sequence[int], watermark: int, until: datetime) -> dict[str, Any]:
    """Hours at work: what is in the release, and all that is paid.

    `all` is the time of the current responses on the items of the release, as its records have it: gold items are in none;
    `median_day` and `longest_day` are of a person and day of it. `beside` is what else was paid until then: gold items,
    responses that were taken back, skips, returns, and other batches by their purpose. `paid` is both, as on a payment
    sheet. `exact` has the same in full precision.
    """
    responses = _responses(watermark).filter(
        assignment__batch__in=batches, assignment__person__is_external=False, assignment__item__is_gold=False
    )
    rows = responses.values_list("assignment__person_id", "made_at", "active_seconds")
    zone = zoneinfo.ZoneInfo(project.time_zone)
    days = _sum_hours(
        ((person, made_at.astimezone(zone).date()), seconds)
        for person, made_at, seconds in rows.iterator(chunk_size=2_000)
    )
    in_it = math.fsum(days.values())
    beside = _other_paid_hours(project, batches, until, in_it)
    exact = {
        "all": in_it,
        "median_day": median(days.values()) if days else 0.0,
        "longest_day": max(days.values(), default=0.0),
        "paid": math.fsum([in_it, *beside.values()]),
    }
    rounded = {name: round(hours, DIGITS) for name, hours in exact.items()}
    rounded_beside = {name: round(hours, DIGITS) for name, hours in beside.items()}
    return {**rounded, "beside": rounded_beside, "exact": {**exact, "beside": beside}}


def _other_paid_hours(
    project: Project, batches: Sequence[int], until: datetime, in_it: float
) -> dict[str, float]:
    """Hours that are paid and not those of the release's responses, by what they went into; what is none is left out."""
    of_project = dict(Batch.objects.filter(project=project).values_list("pk", "purpose"))
    rows = ledger.sum_work(
        ledger.PAID & Q(of_batch__in=list(of_project), booked_at__lte=until),
        gold=F("assignment__item__is_gold"),
        state=F("assignment__state"),
    )
    micros: Counter[str] = Counter()
    for (batch, _, kind, is_gold, state), (spent, *_) in rows.items():
        # Who resumes what they returned has its time with the response.
        name = "" if Assignment.State.SUBMITTED in (kind, state) else kind
        micros[of_project[batch] if batch not in batches else "gold" if is_gold else name] += spent
    hours = {name: spent / ledger.SECOND / 3600 for name, spent in micros.items()}
    hours["withdrawn"] = max(0.0, hours.pop("", 0.0) - in_it)
    order = ("gold", "withdrawn", "skipped", "returned", *Batch.Purpose.values)
    return {name: hours[name] for name in order if round(hours.get(name, 0.0), DIGITS)}


def _sum_hours(pairs: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    """Hours per key, from pairs of key and seconds. Sums are exact: the order of database rows changes no digit."""
    seconds: defaultdict[Any, list[float]] = defaultdict(list)
    for key, value in pairs:
        seconds[key].append(value)
    return {key: math.fsum(values) / 3600 for key, values in seconds.items()}


def _qualification(project: Project, until: datetime) -> list[dict[str, Any]]:
    """For each qualification batch: what was asked, how many tried and how many passed."""
    batches = Batch.objects.filter(project=project, purpose=Batch.Purpose.QUALIFICATION).order_by("pk")
    tried = Qualification.objects.filter(batch__in=batches, at__lte=until, person__is_simulated=False)
    counts = {
        batch: (everybody, passed)
        for batch, everybody, passed in tried.order_by()
        .values_list("batch_id")
        .annotate(everybody=Count("pk"), passed=Count("pk", filter=Q(passed=True)))
    }
    summaries = []
    for batch in batches:
        everybody, passed = counts.get(batch.pk, (0, 0))
        summaries.append(
            {"name": batch.name, "asked_percent": batch.pass_percent, "tried": everybody, "passed": passed}
        )
    return summaries


def _consent(project: Project, batches: Sequence[Batch], until: datetime) -> list[dict[str, Any]]:
    """Every version of the consent text in full, with how many of those at work agreed to it and did not take it back."""
    texts = ConsentText.objects.filter(project=project, made_at__lte=until).order_by("number")
    stands = Q(withdrawn_at__isnull=True) | Q(withdrawn_at__gt=until)
    consents = Consent.objects.filter(
        stands, text__project=project, given_at__lte=until, person__in=_contributors(batches)
    )
    counts = dict(consents.order_by().values_list("text_id").annotate(n=Count("pk")))
    return [
        {"number": version.number, "text": version.text, "agreed": counts.get(version.pk, 0)}
        for version in texts
    ]


def _characteristics(project: Project, batches: Sequence[Batch]) -> dict[str, dict[str, int]]:
    """What those at work said of themselves, counted; values that fewer than `FEWEST` share are put together under ""."""
    rows = Membership.objects.filter(project=project, person__in=_contributors(batches)).values_list(
        "characteristics", flat=True
    )
    return {name: shared for name in OF_ONESELF if (shared := _large_groups(row.get(name) for row in rows))}


def _large_groups(values: Iterable[str | None]) -> dict[str, int]:
    counts = Counter(value for value in values if value)
    shared = {value: n for value, n in sorted(counts.items()) if n >= FEWEST}
    if rest := sum(counts.values()) - sum(shared.values()):
        shared[""] = rest
    return shared


def _responses(watermark: int) -> QuerySet[Annotation]:
    """The responses that stand at an event, without those of simulated people."""
    newer = Annotation.objects.filter(
        assignment_id=OuterRef("assignment_id"), revision__gt=OuterRef("revision"), event_id__lte=watermark
    )
    until = Annotation.objects.filter(~Exists(newer), event_id__lte=watermark)
    return until.filter(response__isnull=False, assignment__person__is_simulated=False)


def _rejected(batches: Sequence[int], watermark: int) -> dict[str, int]:
    """Of people's responses on decided items, how many no accepted outcome rests on; and how many items were excluded."""
    decided = Decision.objects.filter(item__batch__in=batches, event_id__lte=watermark)
    responses = _responses(watermark).filter(assignment__item__decision__in=decided)
    return {
        "responses": responses.count(),
        "rejected_responses": responses.filter(
            ~Exists(Decision.objects.filter(outcomes__annotations=OuterRef("pk")))
        ).count(),
        "items": decided.count(),
        "excluded_items": decided.filter(kind=Decision.Kind.EXCLUDED).count(),
    }
