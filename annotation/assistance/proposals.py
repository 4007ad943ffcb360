"""Proposals made in the background: by rules, by language models (LETA, RobuT 5), and tried on the model in the loop.

Every request and its result is stored, so a job that runs again repeats no request.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.utils import timezone

from annotation.assistance import impressions, proposal_requests, proposal_trials
from annotation.background import jobs
from annotation.models import Batch, Job, Proposal, Reply
from annotation.models.proposals import UNUSABLE
from annotation.platform.refusals import ActionRefused
from annotation.queue import resources

COUNTED = ("requests", "does_not_apply", "again", *UNUSABLE)
"""What is counted of each maker."""


@jobs.kind("proposals")
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    """Make what is missing of a batch's proposals. Safe to run twice."""
    batch = Batch.objects.select_related("project").get(pk=job.ids["batch"])
    return make_proposals(batch=batch, progress=progress)


def make_proposals(
    *,
    batch: Batch,
    now: Callable[[], datetime] = timezone.now,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, int]:
    """What is missing: rules for every item first, then trials, then language models with trials of theirs.

    Returns how many of each were made. One refused, empty or over-long reply is a reply like any other. Raises
    ActionRefused(predictor_failed) where the endpoint of a language model is away, and after `stop_after` unusable replies
    in a row, of the model in the loop as well; what is there is kept.
    """
    task, wants = batch.task(), batch.help_from
    keys = list(batch.items.order_by("position").values_list("pk", flat=True))
    counts, loop = {"rules": 0, "replies": 0, "trials": 0}, proposal_trials.LoopReplies(batch.loop_model)
    names = wants.get("models") or ()
    total = len(keys) * (bool(wants.get("rules")) + bool(wants.get("search")) + len(names))
    steps = itertools.count(1)

    def tell() -> None:
        """Tell that one more item is done in one of the phases."""
        progress(next(steps), total)

    context = resources.context_without_waiting(batch.project, task.needs)
    for key in keys if wants.get("rules") else ():
        item = proposal_requests.load_item(key)
        if not item.proposals.filter(maker=impressions.RULES).exists():
            counts["rules"] += len(impressions.propose_by_rules(item, context, now=now()))
        tell()
    refused: ActionRefused | None = None
    if wants.get("search"):
        counts["trials"] += proposal_trials.try_proposals(batch, keys, loop, now=now, tell=tell)
    for name in names:
        try:
            counts["replies"] += proposal_requests.ProposalGenerator(batch, name, loop).ask(
                keys, now=now, tell=tell
            )
        except ActionRefused as error:  # the other models are asked all the same
            refused = refused or error
    if wants.get("search") and names:
        counts["trials"] += proposal_trials.try_proposals(batch, keys, loop, now=now)
    if refused is not None:
        raise refused
    return counts


def count_by_maker(batch: Batch) -> list[dict[str, Any]]:
    """How many proposals each maker has made for how many items of a batch, and the outcomes of its requests."""
    line_by_maker: dict[str, dict[str, Any]] = {}
    proposal_rows = Proposal.objects.filter(item__batch=batch).order_by().values_list("maker")
    for maker, proposals, items in proposal_rows.annotate(n=Count("pk"), of=Count("item", distinct=True)):
        line_by_maker[maker] = _new_line(maker) | {"proposals": proposals, "items": items}
    replies = Reply.objects.filter(item__batch=batch).order_by()
    for maker, outcome, count in replies.values_list("maker", "outcome").annotate(n=Count("pk")):
        line = line_by_maker.setdefault(maker, _new_line(maker))
        for name in COUNTED:
            line[name] = line[name] or 0
        line["requests"] += count
        if outcome != Reply.Outcome.PROPOSED:
            line[outcome] += count
    for line in line_by_maker.values():
        line["unusable"] = {name: line[name] for name in UNUSABLE if line[name]}
    return [line_by_maker[maker] for maker in sorted(line_by_maker)]


def _new_line(maker: str) -> dict[str, Any]:
    return {"maker": maker, "items": 0, "proposals": 0} | dict.fromkeys(COUNTED)
