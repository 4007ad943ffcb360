"""Trials of proposals on the model in the loop, and its answers to originals for prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from django.conf import settings
from django.db.models import Exists, OuterRef

from annotation.assistance import judgements, model_answers
from annotation.models import Batch, Item, Proposal, Trial, Try
from annotation.platform.refusals import refuse
from annotation.queue.parallel_requests import Crew
from predictor.configuration import STOP_AFTER


@dataclass
class LoopReplies:
    """What one job got from the model in the loop: unusable replies in a row, and its answers to originals (by item)."""

    predictor: str
    unusable: int = 0
    reason: str = ""
    originals: dict[int, str] = field(default_factory=dict)

    @property
    def stop_after(self) -> int:
        """Unusable replies in a row after which the job stops."""
        return int(settings.PREDICTORS.get(self.predictor, {}).get("stop_after", STOP_AFTER))

    @property
    def is_stopped(self) -> bool:
        """Whether the model is not asked any more."""
        return self.unusable >= self.stop_after

    def count(self, answer: model_answers.Answer) -> None:
        """Count a reply of a language model; a usable one ends the row."""
        self.unusable = self.unusable + 1 if answer.reply_state else 0
        self.reason = answer.error or self.reason

    def require_usable(self) -> None:
        """Raise Refused(predictor_failed) after `stop_after` unusable replies in a row."""
        if self.is_stopped:
            refuse_unusable(self.predictor, self.unusable, self.reason)


def refuse_unusable(maker: str, number: int, reason: str) -> NoReturn:
    """Raise Refused(predictor_failed) for a model with too many unusable replies in a row."""
    refuse(
        "predictor_failed",
        "{maker} gave {number} unusable replies in a row, so the job stopped. The last one: {reason} "
        "Check the model, then start the job again.",
        maker=maker,
        number=number,
        reason=reason,
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
    Refused(predictor_failed) where no request can succeed, and after `stop_after` unusable replies in a row.
    """
    if not batch.loop_model:
        return 0
    crew, tried = model_answers.create_crew(batch.loop_model), 0
    asked_of = _untried_proposals(batch, keys, loop, tell)
    for row, pair, answer in crew.map(
        lambda each: (*each, model_answers.ask_loop_model(batch, each[1], crew)), asked_of
    ):
        if answer.is_final:
            refuse("predictor_failed", "{error} Proposals received so far are saved.", error=answer.reason)
        if not model_answers.is_from_loop_model(batch, answer):
            return tried
        loop.count(answer)
        judged_pair = judgements.judge_pair(
            pair, answer.original, answer.perturbed, failed=bool(answer.error)
        )
        Trial.objects.get_or_create(
            proposal=row,
            model=answer.model or batch.loop_revision,
            defaults={
                "predictor": batch.loop_model,
                "verdict": judged_pair.verdict,
                "original": answer.original,
                "perturbed": answer.perturbed,
                "made_at": now(),
            },
        )
        tried += 1
    loop.require_usable()
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


def describe_loop_answer(item: Item, loop: LoopReplies, crew: Crew) -> str | None:
    """What the model in the loop answers to an item before any change, as a line of a prompt.

    "" where its reply is unusable, or is not asked for; None where it gives none now. Taken from an earlier look at the
    same item, else the model is asked, once in a job.
    """
    batch = item.batch
    if not batch.loop_model or not batch.task().predicts:
        return ""
    if item.pk not in loop.originals:
        line = _loop_answer(item, loop, crew)
        if line is None:
            return None
        loop.originals[item.pk] = line
    return loop.originals[item.pk]


def _loop_answer(item: Item, loop: LoopReplies, crew: Crew) -> str | None:
    batch = item.batch
    pair = judgements.example_pair(batch.task(), item.plain(), None)
    raw = (
        Try.objects.filter(
            assignment__item=item, predictor=batch.loop_model, original__isnull=False, error=""
        )
        .values_list("original", flat=True)
        .first()
    )
    if raw is None and not loop.is_stopped:
        answer = model_answers.ask_about_original(batch, pair, crew)
        if answer is None:
            return None
        loop.count(answer)
        raw = None if answer.error else answer.original
    if raw is None:
        return ""
    answers = " | ".join(raw["answers"]) or "nothing"
    return f"A model answers the question “{item.example.question}” with: {answers}"
