"""Trials of proposals on the model in the loop, and its answers to originals for prompts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import Exists, OuterRef

from annotation.assistance import judgements, model_answers, model_checks
from annotation.models import Batch, Item, Proposal, Trial, Try
from annotation.platform.refusals import refuse
from annotation.queue.conversations import UnusableReplies
from annotation.queue.parallel_requests import Crew
from predictor.configuration import STOP_AFTER


class LoopReplies(UnusableReplies):
    """What one job got from the model in the loop: unusable replies in a row, and its answers to originals (by item)."""

    def __init__(self, predictor: str) -> None:
        super().__init__(predictor, settings.PREDICTORS.get(predictor, {}).get("stop_after", STOP_AFTER))
        self.originals: dict[int, str] = {}


def require_usable(replies: UnusableReplies) -> None:
    """Raise ActionRefused(predictor_failed) for a model with too many unusable replies in a row."""
    if replies.is_stopped:
        refuse(
            "predictor_failed",
            "{maker} gave {number} unusable replies in a row, so the job stopped. The last one: {reason} "
            "Check the model, then start the job again.",
            maker=replies.model,
            number=replies.stop_after,
            reason=replies.reason,
        )


def try_proposals(
    batch: Batch,
    keys: Sequence[int],
    loop: LoopReplies,
    *,
    now: Callable[[], datetime],
    tell: Callable[[], None] = lambda: None,
) -> int:
    """Try every proposal of these items that was not tried yet on the batch's model. Returns how many were.

    Ends where the model does not answer, or is another one than the batch has frozen: nothing is kept then. Raises
    ActionRefused(predictor_failed) where no request can succeed, and after `stop_after` unusable replies in a row.
    """
    if not batch.loop_model:
        return 0
    crew, tried = model_answers.create_crew(batch.loop_model), 0
    asked_of = _untried_proposals(batch, keys, loop, tell)
    for row, pair, answer in crew.map(lambda each: (*each, _ask_loop_model(batch, each[1], crew)), asked_of):
        if answer.is_final:
            refuse("predictor_failed", "{error} Proposals received so far are saved.", error=answer.reason)
        if not _is_from_loop_model(batch, answer):
            return tried
        loop.count(answer.unusable)
        Trial.objects.get_or_create(
            proposal=row,
            model=answer.model or batch.loop_revision,
            defaults={
                "predictor": batch.loop_model,
                "verdict": judgements.judge_answers(pair, answer).verdict,
                "original": answer.original,
                "perturbed": answer.perturbed,
                "made_at": now(),
            },
        )
        tried += 1
    require_usable(loop)
    return tried


def _untried_proposals(
    batch: Batch, keys: Sequence[int], loop: LoopReplies, tell: Callable[[], None]
) -> Iterator[tuple[Proposal, judgements.ExamplePair]]:
    """The proposals of items that were not tried on the batch's model, until `loop` is stopped."""
    task = batch.task()
    tried = Trial.objects.filter(proposal=OuterRef("pk"), predictor=batch.loop_model)
    for key in keys:
        rows = Proposal.objects.filter(~Exists(tried), item=key).order_by("pk")
        for row in rows.select_related("item__batch__project", "item__example__stored_table"):
            if loop.is_stopped:
                return
            query = judgements.example_pair(task, row.item.plain(), row.data)
            if query.perturbed is not None:  # else the task type has become stricter: there is nothing to try
                yield row, query
        tell()


def _ask_loop_model(batch: Batch, pair: judgements.ExamplePair, crew: Crew) -> model_answers.Answer:
    """What the batch's model answers with all the time it needs. May run in a thread of the crew."""
    if batch.loop_model not in settings.PREDICTORS:
        return model_answers.Answer("unavailable")
    meter = model_answers.create_meter(batch, batch.loop_model, "search", crew)
    return model_answers.ask_patiently(batch.loop_model, pair, meter)


def _is_from_loop_model(batch: Batch, answer: model_answers.Answer) -> bool:
    """Whether it is an answer, and of the model that the batch has frozen; the first answer freezes it."""
    return answer.state == "answered" and (not answer.model or model_checks.freeze_model(batch, answer.model))


def describe_loop_answer(item: Item, loop: LoopReplies, crew: Crew) -> str | None:
    """What the model in the loop answers to an item before any change, as a line of a prompt.

    "" where its reply is unusable, or is not asked for; None where it gives none now. Taken from an earlier check of the
    same item, else the model is asked, once in a job.
    """
    batch = item.batch
    if not batch.loop_model or not batch.task().predicts:
        return ""
    if item.pk in loop.originals:
        return loop.originals[item.pk]
    earlier = Try.objects.filter(
        assignment__item=item, predictor=batch.loop_model, original__isnull=False, error=""
    )
    raw = earlier.values_list("original", flat=True).first()
    if raw is None and not loop.is_stopped:
        pair = judgements.example_pair(batch.task(), item.plain(), None)
        answer = _ask_loop_model(batch, dataclasses.replace(pair, perturbed=None), crew)
        if not _is_from_loop_model(batch, answer):
            return None
        loop.count(answer.unusable)
        raw = None if answer.error else answer.original
    answers = " | ".join(raw["answers"]) or "nothing" if raw else ""
    line = f"A model answers the question “{item.example.question}” with: {answers}" if answers else ""
    loop.originals[item.pk] = line
    return line
