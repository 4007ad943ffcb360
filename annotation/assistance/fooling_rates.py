"""How often people fool the models in the loop: per person, kind, model and week, of a batch or of a project.

Fooled is what `tableqa.scoring.verdicts` says by the newest gold answer: right on the original, wrong on what was
submitted. Rates are of the submissions whose original the model gets right: the others cannot fool it, whose
share is beside. Verified is a fooled example that another person has answered blind with the answer that its maker
gave. What simulated people did is not counted. In batches with help in crafting the origin of the words is stated: a
person's own, a machine's that a person submitted unchanged, or a machine's that a person edited.
"""

import zoneinfo
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import F, Prefetch, QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop

from annotation.access import visibility
from annotation.access.authorization import Actor
from annotation.access.visibility import Fact
from annotation.assistance import verdict_rechecks
from annotation.assistance.origins import HUMAN
from annotation.charts.fields import Field, integers, integers_of, number_field, table, texts_of
from annotation.charts.figure import Figure
from annotation.charts.series import Bars, Series, axis_over
from annotation.charts.study_figures import share, share_point
from annotation.models import Batch, Membership, Person, Project, Try, Verdict
from annotation.platform import display_text
from annotation.platform.keyset import chunks
from annotation.queue import reply_states
from predictor.listing import STATES as STATES_OF_REPLIES
from tableqa.data.answers import compare
from tableqa.scoring.verdicts import gold_of
from tableqa.statistics.proportions import Proportion, proportion
from tableqa.writers.report_tables import Cell, guarded

AT_ONCE = 500
"""Rows that are read at once."""

OPEN = ("pending", "model_error")
"""Verdicts that are none yet, or none about the person's work: they are not counted."""


@dataclass(frozen=True)
class FoolingCheck:
    """One submission that a model has answered. `panel`: another model than the one in the loop, asked afterwards.

    `origin` says whose the submission is, as `Provenance.origin` does: without help in crafting it is a person's own.
    `state` says why the model gave no answer that can be judged (`annotation.queue.reply_states`), "" where it gave one.
    """

    annotator: str
    kind: str
    model: str
    panel: bool
    week: str
    origin: str
    judged: bool
    right_before: bool
    fooled: bool
    checked: bool
    verified: bool
    state: str = ""


@dataclass(frozen=True)
class Line:
    """The figures of one group.

    wrong_before      of the submissions with a verdict, those whose original the model already gets wrong
    fooled, verified  of the submissions whose original the model gets right
    states            submissions without a verdict, by why the model gave no answer
    """

    names: tuple[str, ...]
    submitted: int
    judged: int
    wrong_before: Proportion
    fooled: Proportion
    checked: int
    verified: Proportion
    states: Mapping[str, int] = field(default_factory=dict)


def of_batch(batch: Batch) -> list[FoolingCheck]:
    """Every submission of a batch that a model has answered."""
    return list(_fooling_checks(Try.objects.filter(assignment__batch=batch), batch.project))


def of_project(project: Project, person: Person) -> tuple[list[FoolingCheck], list[str]]:
    """Every submission of a project that a model has answered, and the names of the batches that are left out.

    A batch in which the person annotates is left out until it is closed, as its agreement is.
    """
    sight = visibility.visibility_of(Actor(person), project)
    hidden = sight.hides(Fact.STATE)
    rows = Try.objects.filter(assignment__batch__project=project).exclude(assignment__batch__in=hidden)
    return list(_fooling_checks(rows, project, sight.without_people)), [
        sight.batches[key].name for key in sorted(hidden) if sight.batches[key].opened_at is not None
    ]


def _fooling_checks(
    rows: QuerySet[Try], project: Project, nameless: Container[int] = frozenset()
) -> Iterator[FoolingCheck]:
    """`nameless`: keys of the batches whose annotators are not named."""
    names = dict(Membership.objects.filter(project=project).values_list("person_id", "pseudonym"))
    zone = zoneinfo.ZoneInfo(project.time_zone)
    titles: dict[tuple[str, str], str] = {}
    ordered_tries = (
        # The newest revision, where there are several; simulated people do not count.
        rows.filter(annotation=F("assignment__annotation"), assignment__person__is_simulated=False)
        .select_related("assignment__batch__definition", "annotation__provenance")
        .only(
            *("annotation_id", "kind", "predictor", "model", "made_at", "assignment__person_id", "error"),
            "annotation__provenance__origin",
            *("assignment__batch__task_type", "assignment__batch__variant", "assignment__batch__definition"),
        )
        .annotate(
            state_before=F("original__state"), state_after=F("perturbed__state"), unread=F("original__unread")
        )
        .prefetch_related(
            Prefetch(
                "verdicts", Verdict.objects.only("of_id", "verdict", "gold", "judgements").order_by("pk")
            )
        )
        .order_by("pk")
    )
    for some in chunks(ordered_tries.iterator(chunk_size=AT_ONCE), AT_ONCE):
        fooled = {
            row.pk
            for row in some
            if (row_verdicts := list(row.verdicts.all())) and row_verdicts[-1].verdict == "fooled"
        }
        answers_by_annotation = verdict_rechecks.find_later_gold_answers(
            [row.annotation_id for row in some if row.pk in fooled and row.annotation_id is not None]
        )
        for row in some:
            row_verdicts = list(row.verdicts.all())
            batch = row.assignment.batch
            year, week, _ = row.made_at.astimezone(zone).isocalendar()
            answers = answers_by_annotation.get(row.annotation_id or 0)
            yield FoolingCheck(
                annotator=names.get(row.assignment.person_id, "?") if batch.pk not in nameless else "?",
                kind=titles.setdefault((batch.task_type, batch.variant), _title(batch)),
                model=row.model or row.predictor,
                panel=row.kind == Try.Kind.PANEL,
                week=f"{year}-W{week:02}",
                origin=_origin(row),
                judged=bool(row_verdicts) and row_verdicts[-1].verdict not in OPEN,
                right_before=bool(row_verdicts) and is_right_before(row_verdicts[-1]),
                fooled=row.pk in fooled,
                checked=answers is not None,
                verified=answers is not None
                and compare(answers, gold_of(row_verdicts[0].gold, "perturbed")).equal,
                state=_state(row),
            )


def is_right_before(verdict: Verdict) -> bool:
    """Whether there is a verdict, and the model gets the original right: only then can it be fooled."""
    original = verdict.judgements.get("original")
    return verdict.verdict not in OPEN and original is not None and bool(original["right"])


def _origin(row: Try) -> str:
    provenance = getattr(row.annotation, "provenance", None)
    return provenance.origin if provenance is not None else HUMAN


def _state(row: Any) -> str:
    """Why the model gave no answer that can be judged; tries restored from older releases name no state."""
    if not row.error:
        return ""
    if state := row.state_after or row.state_before:
        return str(state)
    if row.unread:
        return "no_list"
    return "refused" if ":" in row.model else "too_large"  # only language models have a name with a colon


def _title(batch: Batch) -> str:
    """A kind in words, with its variant: "Question paraphrase, word"."""
    task = batch.installed_task()
    title = task.title if task else batch.task_type
    return f"{title}, {batch.variant.replace('_', ' ')}" if batch.variant else title


def lines(checks: Iterable[FoolingCheck], by: Sequence[str]) -> list[Line]:
    """The submissions grouped by these fields of `FoolingCheck`, in the order of the groups' names."""
    tallies: dict[tuple[str, ...], Counter[str]] = {}
    for submission in checks:
        counts = tallies.setdefault(tuple(_field_title(submission, name) for name in by), Counter())
        counts["submitted"] += 1
        for name in ("judged", "right_before", "fooled", "checked", "verified"):
            counts[name] += getattr(submission, name)
        if submission.state:
            counts[f"state {submission.state}"] += 1
    return [
        Line(
            names,
            counts["submitted"],
            counts["judged"],
            proportion(counts["judged"] - counts["right_before"], counts["judged"]),
            proportion(counts["fooled"], counts["right_before"]),
            counts["checked"],
            proportion(counts["verified"], counts["right_before"]),
            {state: count for state in reply_states.WORDS if (count := counts[f"state {state}"])},
        )
        for names, counts in sorted(tallies.items())
    ]


WHOSE = {
    "human": gettext_noop("written by a person"),
    "machine": gettext_noop("machine proposal, unedited"),
    "machine_edited": gettext_noop("machine proposal, edited"),
}
"""`FoolingCheck.origin` in words."""


def _field_title(submission: FoolingCheck, field: str) -> str:
    if field == "origin":
        return gettext(WHOSE[submission.origin])
    if field == "model" and submission.panel:
        return gettext("{model}, asked later").format(model=submission.model)
    return str(getattr(submission, field))


# -- the page and its CSV ---------------------------------------------------------------------------

TABLES: tuple[tuple[str, str], ...] = (
    (gettext_noop("Per model"), ""),
    (gettext_noop("Per task type"), "kind"),
    (gettext_noop("Per person"), "annotator"),
    (gettext_noop("Per week"), "week"),
)
"""Title and field of each table of the page; each is by model besides, because two models may answer one submission, and
by whose the submissions are."""

CSV = (
    *("annotator", "kind", "model", "panel", "week", "origin", "submitted", "judged", "fooled"),
    *("fooling_rate", "fooling_low", "fooling_high", "checked", "verified"),
    *("verified_rate", "verified_low", "verified_high"),
    *("right_before", "wrong_before", "wrong_before_rate", "wrong_before_low", "wrong_before_high"),
)


HEADS = {
    "kind": gettext_noop("Task type"),
    "annotator": "Person",
    "week": "Week",
    "model": "Model",
    "origin": gettext_noop("Origin"),
}
"""Heads of the columns by the fields of `FoolingCheck` that lines are grouped by."""

STATES = (*STATES_OF_REPLIES, "too_large")
"""Why a model gives no answer that can be judged, in the order of their columns."""


def columns(checks: Sequence[FoolingCheck]) -> list[tuple[str, str]]:
    """The states that occur, each with its words: a column of the page for each."""
    states = reply_states.columns([{submission.state: 1} for submission in checks])
    return [(state, gettext(reply_states.WORDS[state])) for state in states]


NOTE = gettext_noop(
    "Fooled: the model is right on the original and wrong on the submission, by the current gold answer. Checked: a "
    "fooled example that another annotator answered blind. Verified: with the author's answer. Both rates are shares of "
    "the submissions whose original the model answers correctly. The other submissions are counted separately. Open "
    "verdicts and examples without a readable model answer are not counted. With proposals, each line names the origin: "
    "written by a person, accepted from a proposal, or edited from a proposal. Intervals: Wilson, 95 %."
)


def figures(checks: Sequence[FoolingCheck]) -> list[Figure]:
    """The charts and tables of the page: both rates per model, task type, person and week."""
    states = columns(checks)
    figures = (_figure(checks, title, field, states) for title, field in TABLES) if checks else ()
    return [figure for figure in figures if figure is not None]


def _figure(
    checks: Sequence[FoolingCheck], title: str, field: str, states: Sequence[tuple[str, str]]
) -> Figure | None:
    by = (field, "model", "origin") if field else ("model", "origin")
    group_lines = lines(checks, by)
    series = [
        Series(gettext("Fooling rate"), [share_point(line.fooled) for line in group_lines]),
        Series(gettext("Verified rate"), [share_point(line.verified) for line in group_lines]),
    ]
    fields = (
        *texts_of("names", [gettext(HEADS[name]) for name in by]),
        *integers(submitted=gettext("Submitted"), judged=gettext("Evaluated")),
        *integers_of("states", [capfirst(state_label) for _, state_label in states]),
        _rate_field("wrong_before", gettext("Wrong on the original")),
        _rate_field("fooled", gettext("Fooling rate")),
        *integers(checked=gettext("Checked")),
        _rate_field("verified", gettext("Verified rate")),
    )
    records = [
        {**vars(line), "states": [line.states.get(state, 0) for state, _ in states]} for line in group_lines
    ]
    called = gettext("Fooling the model: {by}").format(by=gettext(title))
    chart = Bars([" · ".join(line.names) for line in group_lines], series, axis_over([], most=100, unit="%"))
    return table(field or "model", called, fields, records, gettext(NOTE), chart=chart)


def _rate_field(key: str, title: str) -> Field:
    return number_field(title, lambda line: _rate(line[key]), unit="%")


def _rate(rate: Proportion) -> Cell:
    """A share with its count and interval beside it."""
    cell = share(rate)
    counted = gettext("{hits} of {n}").format(
        hits=display_text.number(f"{rate.hits:,}"), n=display_text.number(f"{rate.n:,}")
    )
    return replace(cell, detail=f"{counted}; {cell.detail}" if rate.n else counted)


def csv_rows(checks: Sequence[FoolingCheck]) -> Iterator[tuple[str | int | float | None, ...]]:
    """The head and every group of person, kind, model and week; shares have six decimals, none where nothing counts."""
    yield (*CSV, *STATES)
    models = {(_field_title(submission, "model")): submission for submission in checks}
    origins = {title: name for name, title in WHOSE.items()}
    for line in lines(checks, ("annotator", "kind", "model", "week", "origin")):
        who, kind, model, week, whose = line.names
        yield (
            *(guarded(who), guarded(kind), guarded(models[model].model), int(models[model].panel), week),
            *(origins[whose], line.submitted, line.judged, line.fooled.hits, *_rounded_interval(line.fooled)),
            *(line.checked, line.verified.hits, *_rounded_interval(line.verified)),
            *(line.fooled.n, line.wrong_before.hits, *_rounded_interval(line.wrong_before)),
            *(line.states.get(state, 0) for state in STATES),
        )


def _rounded_interval(share: Proportion) -> tuple[float | None, ...]:
    return tuple(None if value is None else round(value, 6) for value in (share.value, share.low, share.high))
