"""What language models would use for what is still to be asked in a batch: before its jobs start."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Exists, OuterRef

from annotation.assistance import demonstrations, impressions, proposal_prompts, proposal_requests
from annotation.models import Assignment, Batch, Item, Proposal, Reply, Trial, Try
from annotation.models.batch_options.assistance import REPETITIONS
from annotation.platform.refusals import ActionRefused
from annotation.queue import metered_models, metering
from annotation.queue.metering import Estimate
from predictor import prompts

REQUESTS_PER_CHECK = 2
"""The original and the changed example."""
USUAL_PROPOSALS = 5
"""Proposals of the rules for one item, where none are made yet."""


@dataclass(frozen=True)
class Line:
    """One estimate. `purpose`: proposals, search, loop or panel."""

    purpose: str
    predictor: str
    estimate: Estimate


def of_batch(batch: Batch) -> list[Line]:
    """Estimates for all language models of a batch that have something left to do, and for those of a panel."""
    return [line for line in _lines(batch) if line.estimate.requests]


def _lines(batch: Batch) -> Iterator[Line]:
    models = set(metered_models.language_models())
    if not models:
        return
    replies = 0
    for name in batch.help_from.get("models", ()):
        if name in models:
            line = Line("proposals", name, _of_proposals(batch, name))
            replies += line.estimate.requests
            yield line
    if batch.loop_model in models:
        yield Line("search", batch.loop_model, _of_search(batch, replies))
    if batch.task().predicts != "live":
        return
    submitted = Assignment.objects.filter(batch=batch).submitted()
    if batch.loop_model in models and batch.closed_at is None:
        loop_tries = Try.objects.filter(assignment__batch=batch, predictor=batch.loop_model)
        answered = loop_tries.filter(kind=Try.Kind.SUBMISSION, answered_at__isnull=False).count()
        slots = batch.items_count * max(batch.overlap, 1)
        yield Line("loop", batch.loop_model, _of_checks(batch, batch.loop_model, "loop", slots - answered))
    for name in sorted(models - {batch.loop_model}):
        checked = Try.objects.filter(
            annotation=OuterRef("annotation"), predictor=name, answered_at__isnull=False
        )
        unanswered_count = submitted.exclude(Exists(checked)).count()
        yield Line("panel", name, _of_checks(batch, name, "panel", unanswered_count))


def _sample(batch: Batch) -> Iterator[Item]:
    keys = list(batch.items.order_by("position").values_list("pk", flat=True))
    yield from map(proposal_requests.load_item, metering.sample(keys))


def _of_proposals(batch: Batch, name: str) -> Estimate:
    try:
        generator = proposal_requests.ProposalGenerator(batch, name)
    except ActionRefused:
        return Estimate(0, 0, 0, None)
    items = list(_sample(batch))
    plain = [(item, item.plain()) for item in items]
    categories = sum(len(generator.task.generation_requests(item)) for _, item in plain) / max(1, len(items))
    repetitions = batch.help_from.get("repetitions", REPETITIONS)
    done = Reply.objects.filter(item__batch=batch, maker=generator.maker).aggregate(n=Count("pk"))["n"]
    remaining_count = max(0, round(batch.items_count * categories * repetitions) - done)
    accepted = demonstrations.query_accepted_outcomes(batch).count() if remaining_count else 0
    samples = [
        proposal_prompts.create_conversation(
            generation_request,
            # Demonstrations as long as the item itself: accepted responses are not read for an estimate.
            [demonstrations.Demonstration(0, "", rendered, "", {})]
            * min(generation_request.demonstrations, accepted, demonstrations.POOL_SIZE),
            rendered,
        )
        for _, item in plain
        for rendered in [generator.task.render(item)]
        for generation_request in generator.task.generation_requests(item)
    ]
    return metering.estimate(name, samples, remaining_count, project=batch.project_id, purpose="proposals")


def _of_search(batch: Batch, replies: int) -> Estimate:
    """Tests of proposals by the model in the loop, and its answers to originals for the prompts of `replies` requests."""
    wants, requests = batch.help_from, 0
    if wants.get("search"):
        proposals = Proposal.objects.filter(item__batch=batch)
        tested = Trial.objects.filter(proposal=OuterRef("pk"), predictor=batch.loop_model)
        checks = proposals.exclude(Exists(tested)).count() + replies
        if wants.get("rules"):
            without = batch.items.exclude(
                Exists(proposals.filter(item=OuterRef("pk"), maker=impressions.RULES))
            )
            checks += USUAL_PROPOSALS * without.count()
        requests += REQUESTS_PER_CHECK * checks
    if replies and batch.task().predicts:
        requests += min(batch.items_count, replies)
    return _of_questions(batch, batch.loop_model, "search", requests)


def _of_checks(batch: Batch, name: str, purpose: str, checks: int) -> Estimate:
    return _of_questions(batch, name, purpose, REQUESTS_PER_CHECK * max(0, checks))


def _of_questions(batch: Batch, name: str, purpose: str, requests: int) -> Estimate:
    form = settings.PREDICTORS[name].get("serialisation", "")
    samples = [prompts.asking_for_answers(item.plain().example, form)[0] for item in _sample(batch)]
    return metering.estimate(name, samples, requests, project=batch.project_id, purpose=purpose)
