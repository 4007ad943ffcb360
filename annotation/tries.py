"""What a model is asked about a response, what is kept of its answers, and what they come to. Lies beneath the journeys:
a submission rests on the last try of the same content, and calls no model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.conf import settings

import tableqa
import tasks.contract
from annotation.models import Annotation, Assignment, Batch, Try, Verdict
from predictor.protocol import Prediction, PredictRequest
from tableqa import programs, verdicts
from tableqa.canonical import digest
from tasks.contract import TaskType

Raw = Mapping[str, Any]
"""A prediction as it is stored: without timings, and without whether somebody had asked the same before."""

KEPT = ("answers", "text", "op", "cells", "score", "topk", "rows_seen", "rows_total", "truncated")


@dataclass(frozen=True)
class Asked:
    """The two examples that a model is asked about; `perturbed` is None while there is nothing to try.

    What of them goes to the model is question, table with titles, earlier questions, and context where the kind shows
    it. Their answers stay here: they are the gold answers. `computed` is what a confirmed program says of the perturbed.
    """

    original: tableqa.Example
    perturbed: tableqa.Example | None
    computed: tuple[str, ...] | None = None

    @cached_property
    def keys(self) -> dict[str, dict[str, str]]:
        """Digests of question and table of both, for the record."""
        found = {}
        for name, example in (("original", self.original), ("perturbed", self.perturbed)):
            if example is not None:
                request = PredictRequest.about(example)
                found[name] = {
                    "question": digest(example.question),
                    "table": request.table_sha,
                    "key": request.key,
                }
        return found

    @cached_property
    def digest(self) -> str:
        """Equal for two tries at which a model sees the same."""
        return digest({name: key["key"] for name, key in self.keys.items()})


def asked(task: TaskType, item: tasks.contract.Item, data: object) -> Asked:
    """What a model is asked about a draft of a response."""
    shows = task.showing(item)

    def visible(example: tableqa.Example) -> tableqa.Example:
        return example if "context" in shows else dataclasses.replace(example, context=None)

    perturbed = task.tried(data, item)
    preview = task.preview(data, item) if perturbed is not None else None
    computed = (preview or {}).get("computed")
    return Asked(
        visible(item.example),
        visible(perturbed) if perturbed is not None else None,
        tuple(computed) if computed else None,
    )


def raw(prediction: Prediction) -> dict[str, Any]:
    """A prediction as it is stored."""
    said = prediction.to_dict()
    return {name: said[name] for name in KEPT}


def loop(batch: Batch) -> dict[str, Any] | None:
    """What a page says about the model that looks along: its name and licence, and when it does.

    None where the kind knows no model; the name is "" where the batch has none.
    """
    when = batch.task().predicts
    if not when:
        return None
    licence = settings.PREDICTORS.get(batch.loop_model, {}).get("licence", "")
    return {"model": batch.loop_model, "licence": licence, "when": when}


# -- what it comes to -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """A verdict with what it rests on: gold answers and judgements under "original" and "perturbed"."""

    verdict: verdicts.Verdict
    gold: Mapping[str, list[str]]
    judgements: Mapping[str, verdicts.Judgement | None]

    @property
    def words(self) -> str:
        """A sentence for the page."""
        if self.verdict == "pending" and not self.gold["perturbed"]:
            return "Say what the right answer is now to get a verdict."
        return verdicts.WORDS[self.verdict]


def hold(
    asked: Asked,
    original: Raw | None,
    perturbed: Raw | None,
    *,
    gold: Sequence[str] | None = None,
    failed: bool = False,
) -> Held:
    """The verdict on raw answers. `gold` is the perturbed example's answer where somebody else has given it since."""
    right = {
        "original": list(asked.original.answers),
        "perturbed": list(
            gold if gold is not None else asked.perturbed.answers if asked.perturbed is not None else ()
        ),
    }
    said = {"original": original, "perturbed": perturbed}
    found = {name: _judged(said[name], right[name]) for name in right}
    verdict = verdicts.verdict(
        found["original"],
        found["perturbed"],
        original_computed=_judged(original, _computed(asked.original)),
        perturbed_computed=_judged(perturbed, asked.computed),
        failed=failed,
    )
    return Held(verdict, right, found)


def _judged(said: Raw | None, gold: Sequence[str] | None) -> verdicts.Judgement | None:
    return verdicts.judge(said["answers"], gold, said["text"]) if said is not None and gold else None


def _computed(example: tableqa.Example) -> list[str] | None:
    """What the example's own program gives, where it has one that runs."""
    if example.program is None:
        return None
    try:
        return programs.run(example.program, example.table)
    except programs.ProgramError:
        return None


# -- what is kept -----------------------------------------------------------------------------------


def of_person(assignment: Assignment) -> int:
    """How many things the person has tried on this item."""
    return Try.objects.filter(assignment=assignment, kind=Try.Kind.PERSON).count()


def keep_verdict(row: Try, held: Held, *, now: datetime) -> Verdict | None:
    """Add a verdict to a try that has its answers, unless it says what the newest one says by the same gold answers."""
    if row.answered_at is None:
        return None
    last = row.verdicts.order_by("-pk").first()
    if last is not None and last.verdict == held.verdict and last.gold == held.gold:
        return last
    return Verdict.objects.create(
        of=row,
        verdict=held.verdict,
        gold=dict(held.gold),
        judgements={name: one.to_dict() if one else None for name, one in held.judgements.items()},
        made_at=now,
    )


def rest(annotation: Annotation, *, assignment: Assignment, now: datetime) -> Try | None:
    """Keep what a submission rests on: the answers of the person's last try of the same, else a row that waits for them.

    None where no model looks along, or where the response makes nothing that could be tried.
    """
    batch, task = assignment.batch, assignment.batch.task()
    if not batch.loop_model or task.predicts != "live" or annotation.response is None:
        return None
    item = plain(assignment)
    found = asked(task, item, annotation.response.get("data"))
    if found.perturbed is None:
        return None
    row = Try(
        assignment=assignment,
        annotation=annotation,
        kind=Try.Kind.SUBMISSION,
        predictor=batch.loop_model,
        digest=found.digest,
        asked=found.keys,
        response=annotation.response,
        made_at=now,
    )
    last = last_try(batch, assignment, found.digest)
    if last is not None:
        row.model, row.original, row.perturbed = last.model, last.original, last.perturbed
        row.error, row.answered_at = last.error, last.answered_at
    row.save(force_insert=True)
    keep_verdict(row, hold(found, row.original, row.perturbed, failed=bool(row.error)), now=now)
    return row


def last_try(batch: Batch, assignment: Assignment, digest: str) -> Try | None:
    """The person's try of exactly this, answered by the model that the batch has frozen."""
    rows = Try.objects.filter(
        assignment=assignment,
        kind=Try.Kind.PERSON,
        predictor=batch.loop_model,
        model=batch.loop_revision,
        digest=digest,
        answered_at__isnull=False,
    )
    return rows.order_by("-pk").first()


def plain(assignment: Assignment) -> tasks.contract.Item:
    """The item of an assignment as its kind sees it."""
    item = assignment.item
    item.batch = assignment.batch
    return item.plain()


# -- in a release -----------------------------------------------------------------------------------


def records(
    batches: Sequence[Batch], *, watermark: int, names: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    """The tries that belong to annotations up to an event, with every verdict they were given; people by pseudonym.

    What somebody tried before a submission below the watermark is in; what was tried since, or never submitted, is not.
    """
    rows = Try.objects.filter(assignment__batch__in=batches).select_related(
        "assignment__batch", "assignment__item__example__source", "annotation"
    )
    keys = list(rows.order_by("assignment__item__public_id", "pk").values_list("pk", "assignment_id"))
    until = dict(
        Annotation.objects.filter(
            assignment__in={assignment for _, assignment in keys}, event_id__lte=watermark
        )
        .order_by("revision")
        .values_list("assignment_id", "made_at")
    )
    for key, assignment in keys:
        if assignment not in until:
            continue
        row = rows.get(pk=key)
        late = (
            row.annotation.event_id > watermark
            if row.annotation is not None
            else row.made_at > until[assignment]
        )
        if late:
            continue
        yield {
            "id": row.public_id,
            "batch": row.assignment.batch.public_id,
            "item": row.assignment.item.public_id,
            "source": row.assignment.item.example.source.name,
            "example": row.assignment.item.example.external_id,
            "annotator": names[row.assignment.person_id],
            "annotation": row.annotation.public_id if row.annotation else None,
            "kind": row.kind,
            "predictor": row.predictor,
            "model": row.model,
            "asked": row.asked,
            "response": row.response,
            "original": row.original,
            "perturbed": row.perturbed,
            "error": row.error,
            "verdicts": [
                {
                    "verdict": one.verdict,
                    "gold": one.gold,
                    "judgements": one.judgements,
                    "made_at": one.made_at.isoformat(),
                }
                for one in row.verdicts.order_by("pk")
            ],
            "made_at": row.made_at.isoformat(),
        }
