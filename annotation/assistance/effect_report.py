"""What help does: time, quality and variety of responses from places with and without proposals, and what they cost.

The places were drawn, so the two groups differ by nothing else. Generative assistants gave annotators over 30 % more speed
and five times the fooling rate in Bartolo et al. (2022); here the study's own figures are beside each other.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django.conf import settings
from django.db.models import Count, Sum
from django.utils.translation import gettext, gettext_noop

from annotation.assistance import impressions
from annotation.assistance.fooling_rates import OPEN, is_right_before
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Proposal,
    ProposalImpression,
    ProposalReaction,
    Provenance,
    Reply,
    Try,
    Verdict,
)
from tableqa.perturbations import similarity
from tableqa.statistics import medians
from tableqa.statistics.proportions import Proportion, proportion
from tasks.contract import Report
from tasks.shared.error_classes import ERRORS

DRAWS = 50
"""Draws of equally many responses from both groups, by which their variety is compared."""
MOST_COMPARED = 400
"""Responses of a group whose pairs are compared."""
Row = tuple[str | int | float | Proportion | medians.Estimate | None, ...]


@dataclass(frozen=True)
class ResponseRow:
    """One submitted response: its group and origin, its seconds, what it changed, how the question begins, the verdict."""

    helped: bool
    origin: str
    seconds: float
    edits: frozenset[str]
    opening: str
    verdict: str | None
    accepted: bool | None
    right_before: bool = False
    """Whether the model gets the original right."""


def reports(batch: Batch) -> list[Report]:
    """The reports on help of a batch; none for a batch without."""
    if not batch.help:
        return []
    rows = response_rows(batch)
    group_reports = [
        of_groups(rows, bool(batch.loop_model), skips(batch)),
        of_origins(rows, bool(batch.loop_model)),
    ]
    return [*group_reports, _of_proposals(batch), _of_errors(batch), _of_cost(batch, rows)]


def response_rows(batch: Batch) -> list[ResponseRow]:
    """The newest responses on planned places, as far as it is known where they come from."""
    task = batch.task()
    assignments = Assignment.objects.filter(
        batch=batch, slot__added=False, person__is_simulated=False
    ).submitted()
    assignments = assignments.select_related(
        "annotation__provenance", "item__batch", "item__example__stored_table"
    ).order_by("pk")
    verdicts = _verdicts(batch)
    # A decision of the rule rests on the response itself.
    adjudicated = set(batch.items.filter(decision__made_by__isnull=False).values_list("pk", flat=True))
    supported = set(
        Annotation.objects.filter(outcomes__decision__item__batch=batch).values_list("pk", flat=True)
    )
    rows = []
    for assignment in assignments:
        annotation = assignment.annotation
        if annotation is None or annotation.response is None or not hasattr(annotation, "provenance"):
            continue
        item = assignment.item.plain()
        perturbed = task.perturb(item, task.restore(annotation.response["data"]))
        newest = verdicts.get(annotation.pk)
        rows.append(
            ResponseRow(
                helped=annotation.provenance.helped,
                origin=annotation.provenance.origin,
                seconds=annotation.active_seconds,
                edits=similarity.edits(item.example, perturbed.example) if perturbed else frozenset(),
                opening=similarity.opening(perturbed.example.question) if perturbed else "",
                verdict=newest.verdict if newest else None,
                accepted=annotation.pk in supported if assignment.item_id in adjudicated else None,
                right_before=newest is not None and is_right_before(newest),
            )
        )
    return rows


def _verdicts(batch: Batch) -> dict[int, Verdict]:
    """The newest verdict on what was submitted, by annotation; of the model in the loop."""
    checks = Try.objects.filter(
        assignment__batch=batch, annotation__isnull=False, predictor=batch.loop_model
    ).prefetch_related("verdicts")
    newest_by_annotation = {}
    for row in checks:
        row_verdicts = sorted(row.verdicts.all(), key=lambda verdict: verdict.pk)
        if row_verdicts and row_verdicts[-1].verdict not in OPEN and row.annotation_id is not None:
            newest_by_annotation[row.annotation_id] = row_verdicts[-1]
    return newest_by_annotation


def skips(batch: Batch) -> dict[bool, int]:
    """How many items people skipped with and without help: what is skipped is in no other figure."""
    rows = Assignment.objects.filter(batch=batch, state=Assignment.State.SKIPPED, person__is_simulated=False)
    return dict(Counter(impressions.shows_proposals(batch, row.slot) for row in rows.select_related("slot")))


# -- with and without -------------------------------------------------------------------------------

GROUPS = (
    "Group",
    "Responses",
    "Skipped",
    gettext_noop("Median seconds"),
    "Accepted",
)
VARIETY = (
    gettext_noop("Distinct edits"),
    gettext_noop("Distinct beginnings"),
    gettext_noop("Mean distance"),
)
FOOLED = (
    "Fooled",
    gettext_noop("Model already wrong on the original"),
)


def of_groups(rows: Sequence[ResponseRow], loop: bool, skipped: Mapping[bool, int]) -> Report:
    """With help, without, and the difference of the medians."""
    groups = {helped: [row for row in rows if row.helped == helped] for helped in (True, False)}
    least = min(map(len, groups.values()))
    lines: list[Row] = []
    for helped, title in ((True, gettext("with proposals")), (False, gettext("control (no proposals)"))):
        group = groups[helped]
        middle = medians.estimate_median([row.seconds for row in group])
        decided = [row for row in group if row.accepted is not None]
        accepted_share = proportion(sum(bool(row.accepted) for row in decided), len(decided))
        line: Row = (title, len(group), skipped.get(helped, 0), middle, accepted_share)
        line += variety(group, least or len(group))
        lines.append(line + (_fooled(group) if loop else ()))
    apart = medians.difference([row.seconds for row in groups[True]], [row.seconds for row in groups[False]])
    empty = len(GROUPS) - 4 + len(VARIETY) + (len(FOOLED) if loop else 0)
    lines.append(("difference", None, None, apart, *([None] * empty)))
    columns = GROUPS + VARIETY + (FOOLED if loop else ())
    note = gettext(
        "The server assigned the control group at random. Seconds: active time; medians with "
        "bootstrap intervals (1,000 resamples), rates with Wilson intervals. Accepted: share of "
        "responses to adjudicated items ({undecided} to others are left out). Variety: equal numbers of "
        "responses per group ({value}), mean of {draws} samples. Distinct edits and beginnings are shares of all. "
        "Distance is the mean Jaccard distance between edits."
    ).format(value=least or "all", draws=DRAWS, undecided=sum(row.accepted is None for row in rows))
    return Report(gettext("With proposals and control group"), columns, tuple(lines), note)


def variety(group: Sequence[ResponseRow], size: int) -> tuple[float | None, float | None, float | None]:
    """How varied `size` responses are: a larger group repeats itself more often for its size alone."""
    if not group or not size:
        return None, None, None
    rng = random.Random("variety")
    size = min(size, len(group), MOST_COMPARED)
    draws = [rng.sample(list(group), size) for _ in range(DRAWS if size < len(group) else 1)]

    def mean(measure: Callable[[Sequence[ResponseRow]], float | None]) -> float | None:
        values = [value for draw in draws if (value := measure(draw)) is not None]
        return round(fmean(values), 3) if values else None

    return (
        mean(lambda draw: similarity.distinct(edit for row in draw for edit in sorted(row.edits))),
        mean(lambda draw: similarity.distinct(row.opening for row in draw)),
        mean(lambda draw: similarity.mean_distance([row.edits for row in draw])),
    )


def _fooled(group: Sequence[ResponseRow]) -> Row:
    """Of the responses whose original the model gets right, the share that fools it; beside it the share it gets wrong."""
    judged = [row for row in group if row.verdict is not None]
    right = [row for row in judged if row.right_before]
    share = proportion(sum(row.verdict == "fooled" for row in right), len(right))
    return share, proportion(len(judged) - len(right), len(judged))


ORIGINS = {"human": "human", "machine": "machine", "machine_edited": gettext_noop("machine, edited")}


def of_origins(rows: Sequence[ResponseRow], loop: bool) -> Report:
    """Whose the responses are, among those with help and those without."""
    lines: list[Row] = []
    for helped, where in ((True, gettext("with proposals")), (False, gettext("control (no proposals)"))):
        group = [row for row in rows if row.helped == helped]
        for origin, title in ORIGINS.items():
            own = [row for row in group if row.origin == origin]
            if not own and not helped:
                continue
            share = proportion(len(own), len(group))
            middle = medians.estimate_median([row.seconds for row in own])
            line: Row = (title, where, len(own), share, middle)
            lines.append(line + (_fooled(own) if loop else ()))
    columns = (
        "From",
        "Place",
        "Responses",
        "Share",
        gettext("Median seconds"),
    )
    note = gettext("The server compares the submission with the proposals shown.")
    return Report(gettext("Origin of responses"), columns + (FOOLED if loop else ()), tuple(lines), note)


# -- proposals --------------------------------------------------------------------------------------


def _of_proposals(batch: Batch) -> Report:
    """What became of proposals that a person was shown, by maker; the last thing done with each counts."""
    batch_impressions = list(
        ProposalImpression.objects.filter(proposal__item__batch=batch, assignment__person__is_simulated=False)
        .filter(assignment__state=Assignment.State.SUBMITTED)
        .select_related("proposal", "assignment")
    )
    last = {
        row.impression_id: row
        for row in ProposalReaction.objects.filter(impression__proposal__item__batch=batch).order_by("pk")
    }
    became = dict(
        Provenance.objects.filter(impression__proposal__item__batch=batch, annotation__in=[
            impression.assignment.annotation_id for impression in batch_impressions
        ]).values_list("impression_id", "origin")
    )  # fmt: skip
    counts: dict[str, Counter[str]] = {}
    for impression in batch_impressions:
        handled = last.get(impression.pk)
        rejected = handled is not None and handled.act == ProposalReaction.Act.REJECTED
        what = became.get(impression.pk) or ("rejected" if rejected else "passed")
        counts.setdefault(impression.proposal.maker, Counter())[what] += 1
    lines: list[Row] = []
    for maker, count in sorted(counts.items()):
        judged = count["machine"] + count["machine_edited"] + count["rejected"]
        share = proportion(count["machine"] + count["machine_edited"], judged)
        numbers = [count[what] for what in ("machine", "machine_edited", "rejected", "passed")]
        lines.append((maker, sum(numbers), *numbers, share))
    columns = (
        gettext("Made by"),
        "Shown",
        "Used",
        gettext("Used after an edit"),
        "Rejected",
        gettext("Not judged"),
        "Accepted",
    )
    note = gettext("Accepted: used directly or after an edit, as a share of judged proposals.")
    return Report("Proposals", columns, tuple(lines), note)


def _of_errors(batch: Batch) -> Report:
    """What was wrong with rejected proposals. (RobuT, table 6)"""
    rejected = ProposalReaction.objects.filter(
        impression__proposal__item__batch=batch,
        act=ProposalReaction.Act.REJECTED,
        impression__assignment__person__is_simulated=False,
    )
    last_rejections = {
        row.impression_id: row for row in rejected.select_related("impression__proposal").order_by("pk")
    }
    counts: dict[str, Counter[str]] = {}
    for row in last_rejections.values():
        counts.setdefault(row.impression.proposal.maker, Counter()).update(row.errors)
    lines: list[Row] = [
        (maker, *(count[error] for error in ERRORS)) for maker, count in sorted(counts.items())
    ]
    return Report(
        gettext("Errors in rejected proposals"),
        (gettext("Made by"), *ERRORS.values()),
        tuple(lines),
    )


def _of_cost(batch: Batch, rows: Sequence[ResponseRow]) -> Report:
    """What 100 responses cost: hours of people, and tokens of language models (with money, where prices are set)."""
    lines: list[Row] = []
    for helped, title in (
        (True, gettext("people, with proposals")),
        (False, gettext("people, control group")),
    ):
        seconds = [row.seconds for row in rows if row.helped == helped]
        if seconds:
            lines.append((title, len(seconds), round(100 * fmean(seconds) / 3600, 2), None, None, None))
    replies = Reply.objects.filter(item__batch=batch).order_by().values("maker")
    proposed = dict(
        Proposal.objects.filter(item__batch=batch).order_by().values_list("maker").annotate(n=Count("pk"))
    )
    for reply_row in replies.annotate(
        n=Count("pk"), asked=Sum("prompt_tokens"), said=Sum("completion_tokens")
    ):
        count = proposed.get(reply_row["maker"], 0)
        tokens = [
            round(100 * reply_row[name] / count) if count and reply_row[name] is not None else None
            for name in ("asked", "said")
        ]
        lines.append((reply_row["maker"], count, None, *tokens, _money(reply_row["maker"], tokens)))
    columns = (
        gettext("Made by"),
        "Responses",
        "Hours",
        gettext("Input tokens"),
        gettext("Output tokens"),
        "USD",
    )
    note = gettext(
        "Per 100 responses, including rejected and repeated replies. People: mean active time "
        "without breaks over one minute. USD if PREDICTORS contains a price for the model."
    )
    return Report(gettext("Cost per 100 examples"), columns, tuple(lines), note)


def _money(maker: str, tokens: Sequence[Any]) -> float | None:
    price = settings.PREDICTORS.get(maker.partition(":")[0], {}).get("price")
    if not price or None in tokens:
        return None
    return round(
        sum(unit_price * count for unit_price, count in zip(price, tokens, strict=True)) / 1_000_000, 2
    )
