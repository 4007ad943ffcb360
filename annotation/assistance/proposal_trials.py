"""Trials of proposals on the model in the loop, and its answers to originals for prompts."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import Exists, OuterRef

from annotation.assistance import judgements, model_answers, model_checks
from annotation.models import Batch, Item, Proposal, Trial, Try
from annotation.platform import keyset
from annotation.platform.refusals import refuse
from annotation.queue.conversations import UnusableReplies
from annotation.queue.parallel_requests import Crew
from predictor.configuration import STOP_AFTER

AT_ONCE = 50
"""Items whose originals are asked about before any of their proposals is."""


class LoopReplies(UnusableReplies):
    """What one job got from the model in the loop: unusable replies in a row, and its answers to originals (by item)."""

    def __init__(self, predictor: str) -> None:
        super().__init__(predictor, settings.PREDICTORS.get(predictor, {}).get("stop_after", STOP_AFTER))
        self.originals: dict[int, model_answers.Answer] = {}


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

    The model is asked about the original once an item, and about no proposal where it is wrong on the original. Ends where
    the model does not answer, or is another one than the batch has frozen: nothing is kept then. Raises
    ActionRefused(predictor_failed) where no request can succeed, and after `stop_after` unusable replies in a row.
    """
    if not batch.loop_model:
        return 0
    crew, tried = model_answers.create_crew(batch.loop_model), 0
    for some in keyset.chunks(keys, AT_ONCE):
        untried = list(_untried_proposals(batch, some))
        first_pairs = {row.item_id: (row.item, pair) for row, pair in untried}
        if any(answer is None for answer in _ask_originals(batch, first_pairs.values(), loop, crew)):
            return tried
        require_usable(loop)

        def ask(
            trial: tuple[Proposal, judgements.ExamplePair],
        ) -> tuple[Proposal, judgements.ExamplePair, model_answers.Answer]:
            row, pair = trial
            original = loop.originals[row.item_id]
            if not judgements.is_right_on_original(pair, original):
                return row, pair, original
            return row, pair, _ask_loop_model(batch, pair, crew, original)

        for row, pair, answer in crew.map(ask, itertools.takewhile(lambda _: not loop.is_stopped, untried)):
            if not _is_from_loop_model(batch, answer):
                return tried
            if answer is not loop.originals[row.item_id]:
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
        for _ in some:
            tell()
    return tried


def _untried_proposals(
    batch: Batch, keys: Sequence[int]
) -> Iterator[tuple[Proposal, judgements.ExamplePair]]:
    """The proposals of items that were not tried on the batch's model."""
    task = batch.task()
    tried = Trial.objects.filter(proposal=OuterRef("pk"), predictor=batch.loop_model)
    rows = Proposal.objects.filter(~Exists(tried), item__in=keys).order_by("item__position", "pk")
    for row in rows.select_related("item__batch__project", "item__example__stored_table"):
        pair = judgements.example_pair(task, row.item.plain(), row.data)
        if pair.perturbed is not None:  # else the task type has become stricter: there is nothing to try
            yield row, pair


def _ask_originals(
    batch: Batch,
    items: Iterable[tuple[Item, judgements.ExamplePair]],
    loop: LoopReplies,
    crew: Crew,
) -> Iterator[model_answers.Answer | None]:
    """What the model answers to each item before any change, also in `loop.originals`; None where it gives no answer now.

    Taken from an earlier check or trial of the item, else the model is asked. Ends with `loop`.
    """
    missing = (each for each in items if _find_original(each[0], loop) is None and not loop.is_stopped)
    for item, answer in crew.map(
        lambda each: (each[0], _ask_loop_model(batch, dataclasses.replace(each[1], perturbed=None), crew)),
        missing,
    ):
        if not _is_from_loop_model(batch, answer):
            yield None
            return
        loop.count(answer.unusable)
        loop.originals[item.pk] = answer
        yield answer


def _find_original(item: Item, loop: LoopReplies) -> model_answers.Answer | None:
    """What the model has answered to an item before any change, as far as it was asked; also in `loop.originals`."""
    if item.pk not in loop.originals:
        batch = item.batch
        answered: dict[str, object] = {"predictor": batch.loop_model, "original__isnull": False}
        tries = Try.objects.filter(assignment__item=item, error="", **answered).exclude(kind=Try.Kind.PANEL)
        trials = Trial.objects.filter(proposal__item=item, **answered)
        raw = (
            tries.values_list("original", flat=True).first()
            or trials.values_list("original", flat=True).first()
        )
        if raw is not None:
            loop.originals[item.pk] = model_answers.Answer(
                "answered", model=batch.loop_revision, original=raw
            )
    return loop.originals.get(item.pk)


def _ask_loop_model(
    batch: Batch,
    pair: judgements.ExamplePair,
    crew: Crew,
    original: model_answers.Answer | None = None,
) -> model_answers.Answer:
    """What the batch's model answers with all the time it needs. May run in a thread of the crew."""
    if batch.loop_model not in settings.PREDICTORS:
        return model_answers.Answer("unavailable")
    meter = model_answers.create_meter(batch, batch.loop_model, "search", crew)
    return model_answers.ask_patiently(batch.loop_model, pair, meter, original)


def _is_from_loop_model(batch: Batch, answer: model_answers.Answer) -> bool:
    """Whether it is an answer, and of the model that the batch has frozen; the first answer freezes it.

    Raises ActionRefused(predictor_failed) where no request can succeed.
    """
    if answer.is_final:
        refuse("predictor_failed", "{error} Proposals received so far are saved.", error=answer.reason)
    return answer.state == "answered" and (not answer.model or model_checks.freeze_model(batch, answer.model))


def describe_loop_answer(item: Item, loop: LoopReplies) -> str | None:
    """What the model in the loop answers to an item before any change, as a line of a prompt.

    "" where its reply is unusable, or is not asked for; None where it gives none now.
    """
    batch = item.batch
    if not batch.loop_model or not batch.task().predicts:
        return ""
    pair = judgements.example_pair(batch.task(), item.plain(), None)
    if None in _ask_originals(batch, [(item, pair)], loop, Crew()):
        return None
    original = loop.originals.get(item.pk)
    if original is None or original.error or original.original is None:
        return ""
    answers = " | ".join(original.original["answers"]) or "nothing"
    return f"A model answers the question “{item.example.question}” with: {answers}"
