"""The data statement: what a release says of the people who made it, and under what conditions.

What people must say themselves is asked for by name (`ASKED`); the rest is counted (`counted`). Together they answer
section D of the responsible NLP checklist of the ACL (instructions, recruitment and pay, consent, ethics review,
characteristics of annotators). What nobody said stands there as not said.
"""

from __future__ import annotations

import zoneinfo
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any, Final

from django.db.models import Count, Exists, OuterRef, Q
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from annotation.models import (
    Annotation,
    Batch,
    Consent,
    ConsentText,
    Decision,
    Membership,
    PracticeDone,
    Project,
    Qualification,
)
from annotation.money import costs, paying
from annotation.refusals import Refused

LONGEST: Final = 4_000
FEWEST: Final = 3
"""A characteristic that fewer people share is not told: it might tell who they are."""


@dataclass(frozen=True)
class Question:
    """Something that only people can say: its name in the manifest, what is asked, and the checklist's question."""

    name: str
    title: str
    help: str
    item: str


ASKED: Final = (
    Question(
        "recruitment",
        "Recruitment",
        gettext_noop("Who was asked, where and how, and what was required of them."),
        "D2",
    ),
    Question(
        "payment",
        "Pay",
        gettext_noop("Why the pay is fair where these people live, or why nobody is paid."),
        "D2",
    ),
    Question(
        "training",
        "Training",
        gettext_noop("How people were trained before they began, and for how long."),
        "D1",
    ),
    Question(
        "risks",
        gettext_noop("Risks and disclaimers"),
        gettext_noop("What people were told might be offensive, tiring or harmful."),
        "D1",
    ),
    Question(
        "consent",
        "Consent",
        gettext_noop("How people learned what their data is used for, and agreed."),
        "D3",
    ),
    Question(
        "ethics",
        gettext_noop("Ethics review"),
        gettext_noop("The board that approved the study and its number, or why none was asked."),
        "D4",
    ),
    Question(
        "population",
        "Annotators",
        gettext_noop("What is known of the people as a group: languages, places, background."),
        "D5",
    ),
)

OF_ONESELF: Final = {
    "languages": gettext_noop("Native languages"),
    "country": gettext_noop("Country you live in"),
    "education": gettext_noop("Highest degree, or what you study"),
    "experience": gettext_noop("Experience with tables or annotation"),
    "age": gettext_noop("Age group"),
    "gender": "Gender",
}
"""What annotators may say of themselves; nobody has to."""


def clean(said: Mapping[str, object]) -> dict[str, str]:
    """What was said, by the names of `ASKED`, without what is empty. Raises Refused(invalid_request)."""
    return _clean(said, [question.name for question in ASKED], LONGEST)


def clean_characteristics(said: Mapping[str, object]) -> dict[str, str]:
    """What somebody said of themselves, by the names of `OF_ONESELF`. Raises Refused(invalid_request)."""
    return _clean(said, list(OF_ONESELF), 100)


def _clean(said: Mapping[str, object], known: Sequence[str], longest: int) -> dict[str, str]:
    if unknown := sorted(set(said) - set(known)):
        raise Refused(
            "invalid_request",
            gettext("There is no {unknown!r} here; there are: {known}.").format(
                unknown=unknown[0], known=", ".join(known)
            ),
        )
    found = {}
    for name in known:
        text = said.get(name) or ""
        if not isinstance(text, str) or len(text) > longest:
            raise Refused(
                "invalid_request",
                gettext("{name} is a text of at most {longest} characters.").format(
                    name=name, longest=number_format(longest, force_grouping=True)
                ),
            )
        if text.strip():
            found[name] = text.strip()
    return found


def counted(project: Project, batches: Sequence[Batch], *, watermark: int, until: datetime) -> dict[str, Any]:
    """Everything of the statement that can be counted, up to an event: JSON for a manifest. Simulated people are left out.

    Instructions in full, agreement and the number of people stand elsewhere in the manifest.
    """
    ids = [batch.pk for batch in batches]
    return {
        **without_counting(project, batches, until=until),
        "hours": _hours(project, ids, watermark),
        "rejected": _rejected(ids, watermark),
    }


def without_counting(project: Project, batches: Sequence[Batch], *, until: datetime) -> dict[str, Any]:
    """`counted` but for what takes every response: as quick for a large project as for a small one."""
    return {
        "said": {question.name: project.statement.get(question.name, "") for question in ASKED},
        "pay": sorted(
            {words for batch in batches if (words := paying.rate(costs.rate_of(batch.pay, project.pay)))}
        ),
        "practised": PracticeDone.objects.filter(
            project=project, done_at__lte=until, person__is_simulated=False
        ).count(),
        "qualification": _qualification(project, until),
        "consent": _consent(project, until),
        "characteristics": _characteristics(project),
    }


def _hours(project: Project, batches: Sequence[int], watermark: int) -> dict[str, float]:
    """Hours at work in all, and those of a person and day: the median and the most."""
    newer = Annotation.objects.filter(
        assignment_id=OuterRef("assignment_id"), revision__gt=OuterRef("revision"), event_id__lte=watermark
    )
    rows = (
        Annotation.objects.filter(~Exists(newer), assignment__batch__in=batches, event_id__lte=watermark)
        .filter(assignment__person__is_simulated=False, assignment__person__is_external=False)
        .values_list("assignment__person_id", "made_at", "active_seconds")
    )
    zone = zoneinfo.ZoneInfo(project.time_zone)
    days: dict[tuple[int, Any], float] = defaultdict(float)
    for person, made_at, seconds in rows.iterator(chunk_size=2_000):
        days[person, made_at.astimezone(zone).date()] += seconds / 3600
    if not days:
        return {"all": 0.0, "median_day": 0.0, "longest_day": 0.0}
    return {
        "all": round(sum(days.values()), 2),
        "median_day": round(median(days.values()), 2),
        "longest_day": round(max(days.values()), 2),
    }


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
    found = []
    for batch in batches:
        everybody, passed = counts.get(batch.pk, (0, 0))
        found.append(
            {"name": batch.name, "asked_percent": batch.pass_percent, "tried": everybody, "passed": passed}
        )
    return found


def _consent(project: Project, until: datetime) -> list[dict[str, Any]]:
    """Every version of the consent text in full, with how many people agreed to it and did not take it back."""
    texts = ConsentText.objects.filter(project=project, made_at__lte=until).order_by("number")
    stands = Q(withdrawn_at__isnull=True) | Q(withdrawn_at__gt=until)
    given = Consent.objects.filter(stands, text__project=project, given_at__lte=until)
    counts = dict(given.order_by().values_list("text_id").annotate(n=Count("pk")))
    return [{"number": one.number, "text": one.text, "agreed": counts.get(one.pk, 0)} for one in texts]


def _characteristics(project: Project) -> dict[str, dict[str, int]]:
    """What annotators said of themselves, counted; values that fewer than `FEWEST` share are put together under ""."""
    said = Membership.objects.filter(project=project, person__is_simulated=False).values_list(
        "characteristics", flat=True
    )
    return {name: shared for name in OF_ONESELF if (shared := _shared(one.get(name) for one in said))}


def _shared(values: Iterable[str | None]) -> dict[str, int]:
    counts = Counter(value for value in values if value)
    found = {value: n for value, n in sorted(counts.items()) if n >= FEWEST}
    if rest := sum(counts.values()) - sum(found.values()):
        found[""] = rest
    return found


def _rejected(batches: Sequence[int], watermark: int) -> dict[str, int]:
    """Of the responses on decided items, how many no accepted outcome rests on; and how many items were excluded."""
    decided = Decision.objects.filter(item__batch__in=batches, event_id__lte=watermark)
    newer = Annotation.objects.filter(
        assignment_id=OuterRef("assignment_id"), revision__gt=OuterRef("revision"), event_id__lte=watermark
    )
    responses = Annotation.objects.filter(
        ~Exists(newer),
        assignment__item__decision__in=decided,
        response__isnull=False,
        event_id__lte=watermark,
    )
    return {
        "responses": responses.count(),
        "rejected_responses": responses.filter(
            ~Exists(Decision.objects.filter(outcomes__annotations=OuterRef("pk")))
        ).count(),
        "items": decided.count(),
        "excluded_items": decided.filter(kind=Decision.Kind.EXCLUDED).count(),
    }
