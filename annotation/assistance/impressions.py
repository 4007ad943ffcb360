"""Help in crafting: who is shown proposals, what they did with them, and where a response comes from.

Lies beneath the journeys. Whether a place shows proposals is drawn from the key of the batch, so no request can
change it; where a response comes from is decided by comparing what was submitted with what was shown. How proposals are
made in the background is in `annotation.assistance.proposals`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import gcd
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch, Q
from django.utils.translation import gettext

import tasks.contract
from annotation.assistance.origins import HUMAN, Origin, ShownProposal, digest_of, origin
from annotation.background import jobs
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Item,
    Job,
    Person,
    Proposal,
    ProposalImpression,
    ProposalReaction,
    Provenance,
    Slot,
    Trial,
)
from annotation.platform import keyset
from annotation.platform.refusals import ActionRefused, refuse
from annotation.queue import draws, resources
from tableqa.core.foreign_values import unstorable
from tableqa.core.translation import translate_stored
from tableqa.perturbations import similarity
from tasks.contract import InvalidResponse, ProposedResponse, ProposingTask, TaskType
from tasks.shared.error_classes import ERRORS

RULES = "rules"
MAX_SHOWN = 4
"""Proposals that one person is shown on one item."""
MOST_BY_RULES = 24
"""Proposals of the rules that are kept for one item; those beyond the first are for the search."""
BEST = {"fooled": 0, "not_fooled": 2}
"""Verdicts of trials in the order of proposals; what is not said here is between."""


# -- what is drawn ----------------------------------------------------------------------------------


def shows_proposals(batch: Batch, slot: Slot) -> bool:
    """Whether a place shows proposals: `unhelped` percent of the places do not, evenly spread.

    Places in the order of items and numbers are cut into blocks (of 4 for 25 %, of 100 at most), and in each the same
    number is drawn. Added places are drawn one by one. The same places give the same draw everywhere.
    """
    unhelped, overlap = batch.unhelped, batch.overlap
    if not unhelped:
        return True
    if slot.number > overlap:
        drawn = draws.generator(batch, "help", batch.seed, slot.position, slot.number).random()
        return drawn * 100 >= unhelped
    size = 100 // gcd(unhelped, 100)
    block, within = divmod((slot.position - 1) * overlap + slot.number - 1, size)
    return within not in draws.generator(batch, "help", batch.seed, block).sample(
        range(size), size * unhelped // 100
    )


def mode(assignment: Assignment) -> str:
    """How proposals are shown on this assignment: "offered", "filled", or "" for not at all. No query."""
    batch = assignment.batch
    return batch.help if batch.help and shows_proposals(batch, assignment.slot) else ""


# -- where a response comes from --------------------------------------------------------------------


def attribute(annotation: Annotation, *, assignment: Assignment) -> Provenance:
    """Keep where an annotation of a batch with help comes from. Called with the submission, in its transaction."""
    # People who saw proposals had help, also where another place was taken after the lease ran out.
    impressions = list(
        ProposalImpression.objects.filter(assignment=assignment).select_related("proposal").order_by("number")
    )
    attribution = Origin(HUMAN)
    if impressions and annotation.response is not None:
        task, item = assignment.batch.task(), assignment.plain_item
        perturbed = task.perturb(item, task.restore(annotation.response["data"]))
        if perturbed is not None:
            attribution = origin(
                similarity.perturbation_digest(perturbed.example),
                similarity.added_content(item.example, perturbed.example),
                list(_shown_proposals(task, item, impressions)),
            )
    return Provenance.objects.create(
        annotation=annotation,
        helped=bool(impressions) or bool(mode(assignment)),
        origin=attribution.origin,
        impression_id=attribution.key,
        shared=attribution.shared,
    )


def _shown_proposals(
    task: TaskType, item: tasks.contract.Item, impressions: Sequence[ProposalImpression]
) -> Iterable[ShownProposal]:
    last = last_reactions(impressions)
    newest = max(
        (reaction.pk for reaction in last.values() if reaction.act == ProposalReaction.Act.TOOK), default=None
    )
    for impression in impressions:
        example = outcome(task, item, impression.proposal.data)
        reaction = last.get(impression.pk)
        if example is not None:
            yield ShownProposal(
                impression.pk,
                impression.proposal.digest,
                similarity.added_content(item.example, example),
                reaction is not None and reaction.pk == newest,
            )


def last_reactions(impressions: Iterable[ProposalImpression]) -> dict[int, ProposalReaction]:
    """What was done last with each of these, by the key of its impression; in one query."""
    rows = ProposalReaction.objects.filter(
        impression__in=[impression.pk for impression in impressions]
    ).order_by("pk")
    return {row.impression_id: row for row in rows}


def outcome(task: TaskType, item: tasks.contract.Item, data: Mapping[str, Any]) -> Any:
    """The example that proposed data makes; None where it does not parse (any more), or makes none."""
    try:
        perturbed = task.perturb(item, task.parse(data, item))
    except InvalidResponse:
        return None
    return perturbed.example if perturbed is not None else None


# -- proposals by rules -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ValidProposal:
    """A proposal that holds: what was proposed with the data as the kind reads it, and the digest of what it makes.

    Of a task type that makes no example, it is the digest of the data.
    """

    proposed: ProposedResponse
    data: Mapping[str, Any]
    digest: str


def validate_proposals(
    task: TaskType, item: tasks.contract.Item, proposed: Iterable[ProposedResponse], most: int = MOST_BY_RULES
) -> list[ValidProposal]:
    """The proposals that meet the kind's contract and change something, each outcome once, best first."""
    valid_by_digest: dict[str, ValidProposal] = {}
    for proposal in sorted(proposed, key=lambda each: -each.score):
        valid_proposal = validate_proposal(task, item, proposal)
        if valid_proposal is not None:
            valid_by_digest.setdefault(valid_proposal.digest, valid_proposal)
        if len(valid_by_digest) == most:
            break
    return list(valid_by_digest.values())


def validate_proposal(
    task: TaskType, item: tasks.contract.Item, proposed: ProposedResponse
) -> ValidProposal | None:
    """The proposal as the kind reads it; None where it breaks the contract, changes nothing, or cannot be stored."""
    if unstorable(proposed.data):
        return None
    try:
        response = task.parse(proposed.data, item)
    except InvalidResponse:
        return None
    content = digest_of(task, response, task.perturb(item, response))
    return ValidProposal(proposed, tasks.contract.response_data(response), content) if content else None


def propose_by_rules(item: Item, context: tasks.contract.Context, *, now: datetime) -> list[Proposal]:
    """Make and keep what the rules propose for an item; safe to run again. Wants batch, example and table loaded."""
    task, plain = item.batch.task(), item.plain()
    return store_proposals(
        item,
        validate_proposals(
            task, plain, task.propose(plain, context) if isinstance(task, ProposingTask) else ()
        ),
        source=Proposal.Source.RULES,
        maker=RULES,
        now=now,
    )


def store_proposals(
    item: Item, valid_proposals: Iterable[ValidProposal], *, source: str, maker: str, now: datetime
) -> list[Proposal]:
    """Rows of these proposals; what this maker has proposed before is not proposed twice."""
    rows = [
        Proposal(
            item=item,
            source=source,
            maker=maker,
            category=proposal.proposed.category[:60],
            by=proposal.proposed.by[:200],
            data=dict(proposal.data),
            digest=proposal.digest,
            why=proposal.proposed.why,
            score=proposal.proposed.score,
            made_at=now,
        )
        for proposal in valid_proposals
    ]
    Proposal.objects.bulk_create(rows, ignore_conflicts=True)
    return rows


# -- what a person is shown -------------------------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """A stored proposal as it is ranked: its maker, what it makes, how sure it is, and what the loop model made of it."""

    key: int
    maker: str
    digest: str
    score: float
    verdict: str | None = None


def rank(candidates: Sequence[Candidate]) -> list[Candidate]:
    """What fools the model in the loop first, then unknown outcomes, then what does not fool it; makers take turns.

    What two makers propose is listed once. The order depends on the candidates alone.
    """
    by_maker: dict[str, list[Candidate]] = {}
    for candidate in sorted(
        candidates, key=lambda each: (BEST.get(each.verdict or "", 1), -each.score, each.key)
    ):
        by_maker.setdefault(candidate.maker, []).append(candidate)
    turns = [(position, candidate) for queue in by_maker.values() for position, candidate in enumerate(queue)]
    seen: set[str] = set()
    ranking = []
    for _, candidate in sorted(
        turns,
        key=lambda turn: (BEST.get(turn[1].verdict or "", 1), turn[0], turn[1].maker == RULES, turn[1].key),
    ):
        if candidate.digest not in seen:
            seen.add(candidate.digest)
            ranking.append(candidate)
    return ranking


def show_proposals(*, assignment: Assignment, now: datetime) -> list[dict[str, Any]]:
    """The proposals for the item a person has in progress, as its page shows them; what was shown is kept.

    What was shown once stays in its place; what came since is put behind it, up to `MAX_SHOWN`. Nothing for a place that
    was drawn to have no help, or a batch without.
    """
    if not mode(assignment):
        return []
    impressions = _impressions(assignment)
    if len(impressions) < MAX_SHOWN and assignment.state == Assignment.State.LEASED:
        _show_more(assignment, impressions, now)
        impressions = _impressions(assignment)
    task, item = assignment.batch.task(), assignment.plain_item
    last = last_reactions(impressions)
    verdicts = verdicts_of(assignment.batch, [impression.proposal_id for impression in impressions])
    return [
        {
            "id": impression.proposal.public_id,
            "data": impression.proposal.data,
            "words": _in_words(task, item, impression.proposal.data),
            "why": translate_stored(impression.proposal.why),
            "verdict": verdicts.get(impression.proposal_id),
            "state": last[impression.pk].act if impression.pk in last else "",
        }
        for impression in impressions
    ]


def _in_words(task: TaskType, item: tasks.contract.Item, data: Mapping[str, Any]) -> list[str]:
    """In a line where the kind has one for it, else the sentences that describe the response."""
    response = task.restore(data)
    if type(task).in_short is not TaskType.in_short:
        return [task.in_short(response, item)]
    return task.describe(response, item)


def _impressions(assignment: Assignment) -> list[ProposalImpression]:
    return list(assignment.impressions.select_related("proposal").order_by("number"))


def _show_more(assignment: Assignment, impressions: Sequence[ProposalImpression], now: datetime) -> None:
    """Choose among the item's proposals. Two requests at once agree, or the later one gets the choice of the first."""
    batch, item = assignment.batch, assignment.item
    item.batch = batch
    task = batch.task()
    stored = list(Proposal.objects.filter(item=item).order_by("pk"))
    if batch.help_from.get("rules") and not any(entry.maker == RULES for entry in stored):
        propose_by_rules(item, resources.context(batch.project, task.needs), now=now)
        stored = list(Proposal.objects.filter(item=item).order_by("pk"))
    shown_digests = {entry.proposal.digest for entry in impressions}
    verdicts = verdicts_of(batch, [entry.pk for entry in stored])
    candidates = rank(
        [
            Candidate(entry.pk, entry.maker, entry.digest, entry.score, verdicts.get(entry.pk))
            for entry in stored
            if entry.digest not in shown_digests
        ]
    )
    rows = [
        ProposalImpression(assignment=assignment, proposal_id=entry.key, number=index, shown_at=now)
        for index, entry in enumerate(candidates[: MAX_SHOWN - len(impressions)], start=len(impressions) + 1)
    ]
    ProposalImpression.objects.bulk_create(rows, ignore_conflicts=True)


def verdicts_of(batch: Batch, proposals: Sequence[int]) -> dict[int, str]:
    """What the model in the loop of a batch made of these proposals (keys); nothing where it has none."""
    if not batch.loop_model or not proposals:
        return {}
    rows = Trial.objects.filter(proposal__in=list(proposals), predictor=batch.loop_model).order_by("pk")
    return dict(rows.values_list("proposal_id", "verdict"))


def record_reaction(
    *, assignment: Assignment, proposal: str, act: str, errors: Sequence[str] = (), now: datetime
) -> ProposalReaction:
    """Keep that a person took or rejected a proposal they were shown. The same again is kept once.

    Raises ActionRefused: invalid_request, already_submitted.
    """
    if assignment.state == Assignment.State.SUBMITTED:
        raise _submitted()
    if act not in ProposalReaction.Act.values:
        refuse(
            "invalid_request",
            "The action must be one of {values}.",
            values=", ".join(ProposalReaction.Act.values),
        )
    wrong = [name for name in ERRORS if name in errors]
    if len(wrong) != len(set(errors)):
        refuse("invalid_request", "Errors must be any of {errors}.", errors=", ".join(ERRORS))
    if (act == ProposalReaction.Act.REJECTED) != bool(wrong):
        refuse(
            "invalid_request", "Name the errors of a rejected proposal. Leave them empty for other proposals."
        )
    impression = ProposalImpression.objects.filter(
        assignment=assignment, proposal__public_id=proposal
    ).first()
    if impression is None:
        refuse("invalid_request", "You were not shown this proposal.")
    with transaction.atomic():
        # In turn with a submission: what was taken before it counts for it, and nothing comes after.
        now_state = Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk).state
        if now_state == Assignment.State.SUBMITTED:
            raise _submitted()
        last = ProposalReaction.objects.filter(impression__assignment=assignment).order_by("-pk").first()
        if last is not None and (last.impression_id, last.act, last.errors) == (impression.pk, act, wrong):
            return last
        return ProposalReaction.objects.create(impression=impression, act=act, errors=wrong, made_at=now)


def _submitted() -> ActionRefused:
    return ActionRefused(
        "already_submitted",
        gettext("This item is submitted. Undo the submission to review its proposals."),
    )


# -- in a release -----------------------------------------------------------------------------------

BESIDE = ("assignment__impressions__proposal", "assignment__impressions__reactions")
"""What `record` reads beside an annotation and its provenance."""


def record(annotation: Annotation, *, until: datetime) -> dict[str, Any]:
    """What a release says of an annotation's help up to a moment: {"help": {...}}; {} in a batch without."""
    provenance = getattr(annotation, "provenance", None)
    if provenance is None:
        return {}
    impressions = [
        impression for impression in annotation.assignment.impressions.all() if impression.shown_at <= until
    ]
    impressions.sort(key=lambda impression: impression.number)
    last = [
        max(
            (act for act in impression.reactions.all() if act.made_at <= until),
            key=lambda act: act.pk,
            default=None,
        )
        for impression in impressions
    ]
    took = [
        (act.pk, impression.proposal.public_id)
        for impression, act in zip(impressions, last, strict=True)
        if act is not None and act.act == ProposalReaction.Act.TOOK
    ]
    return {
        "help": {
            "helped": provenance.helped,
            "origin": provenance.origin,
            "proposal": provenance.impression.proposal.public_id if provenance.impression else None,
            "shared": provenance.shared,
            "shown": [impression.proposal.public_id for impression in impressions],
            "took": max(took)[1] if took else None,
            "rejected": [
                {"proposal": impression.proposal.public_id, "errors": act.errors}
                for impression, act in zip(impressions, last, strict=True)
                if act is not None and act.act == ProposalReaction.Act.REJECTED
            ],
        }
    }


def records(batches: Sequence[Batch], *, watermark: int, until: datetime) -> Iterator[dict[str, Any]]:
    """The proposals of these batches that were there at a moment, or were shown for an annotation up to an event."""
    shown_annotations = Annotation.objects.filter(
        event_id__lte=watermark, assignment__impressions__proposal=OuterRef("pk")
    )
    rows = (
        Proposal.objects.filter(
            Q(made_at__lte=until) | Exists(shown_annotations), item__batch__in=batches, item__is_gold=False
        )
        .select_related("item__batch", "item__example__source")
        .prefetch_related(Prefetch("trials", Trial.objects.filter(made_at__lte=until).order_by("pk")))
    )
    for page in keyset.sorted_chunks(rows, "item__public_id"):
        for row in page:
            yield {
                "id": row.public_id,
                "batch": row.item.batch.public_id,
                "item": row.item.public_id,
                "source": row.item.example.source.name,
                "example": row.item.example.external_id,
                **{name: getattr(row, name) for name in ("maker", "category", "by", "why", "data", "digest")},
                "score": round(row.score, 6),
                "trials": [
                    {name: getattr(trial, name) for name in ("model", "verdict", "original", "perturbed")}
                    for trial in row.trials.all()
                ],
                "made_at": row.made_at.isoformat(),
            }


# -- setting up -------------------------------------------------------------------------------------


def start_proposing(batch: Batch, *, by: Person | None, now: datetime) -> Job | None:
    """Have the proposals of a batch made in the background; None where a job is on it already, or it has no help."""
    if not batch.help:
        return None
    return jobs.enqueue_once(batch=batch, kind="proposals", by=by, now=now)
