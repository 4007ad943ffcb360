"""Proposals made in the background: by rules, by language models (LETA, RobuT 5), and tried on the model in the loop.

A language model is asked for each category of a kind, several times, with accepted responses of people as demonstrations.
Every request and what came of it is kept, so a job that runs again asks nothing twice. A reply that is not of the form, or
whose response does not meet the kind's contract, is refused as a whole.
"""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NoReturn

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

import tableqa
import tasks.contract
from annotation.access import audit_log
from annotation.assistance import impressions, judgements, model_answers
from annotation.background import jobs
from annotation.models import (
    Batch,
    Decision,
    Example,
    Item,
    Job,
    Outcome,
    Person,
    Proposal,
    Provenance,
    Reply,
    Source,
    StoredTable,
    Trial,
    Try,
)
from annotation.models.batch_options.assistance import REPETITIONS
from annotation.models.proposals import UNUSABLE
from annotation.platform.refusals import Refused, refuse
from annotation.queue import metering, resources
from annotation.queue.parallel_requests import Crew
from predictor.chat import ChatError, ChatModel, chat_model
from predictor.configuration import STOP_AFTER
from predictor.usage import Call, Meter
from tableqa.core.canonical_json import canonical, digest, thaw
from tableqa.data.positional_ids import with_positional_ids
from tasks.contract import GenerationRequest, InvalidResponse, Proposed, Proposing

TEMPERATURE = 0.7
MOST_TOKENS = 2_048
MOST_POOL = 200
"""Accepted responses that demonstrations are drawn from."""
LONGEST_REPLY = 20_000

SYSTEM = (
    "You help people who make test questions for models that answer questions about tables. {what}\n"
    "Reply with one JSON object and nothing else: {form}\n"
    '"why" is one sentence that explains the change. Where nothing of the sort can be done well, reply with '
    '{{"why": "the reason", "applies": false}}.'
)

Tell = Callable[[int, int], None]


@jobs.kind("proposals")
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    """Make what is missing of a batch's proposals. Safe to run twice."""
    batch = Batch.objects.select_related("project").get(pk=job.ids["batch"])
    return make_proposals(batch=batch, progress=progress)


def make_proposals(
    *,
    batch: Batch,
    now: Callable[[], datetime] = timezone.now,
    progress: Tell = lambda done, total: None,
) -> dict[str, int]:
    """What is missing: rules for every item first, then trials, then language models with trials of theirs.

    Returns how many of each were made. One refused, empty or over-long reply is a reply like any other. Raises
    Refused(predictor_failed) where the endpoint of a language model is away, and after `stop_after` unusable replies in a
    row, of the model in the loop as well; what is there is kept.
    """
    task, wants = batch.task(), batch.help_from
    keys = list(batch.items.order_by("position").values_list("pk", flat=True))
    counts, loop = {"rules": 0, "replies": 0, "trials": 0}, LoopReplies(batch.loop_model)
    names = wants.get("models") or ()
    steps = JobProgress(
        progress, len(keys) * (bool(wants.get("rules")) + bool(wants.get("search")) + len(names))
    )
    context = resources.context_without_waiting(batch.project, task.needs)
    for key in keys if wants.get("rules") else ():
        item = _loaded(key)
        if not item.proposals.filter(maker=impressions.RULES).exists():
            counts["rules"] += len(impressions.propose_by_rules(item, context, now=now()))
        steps.take()
    refused: Refused | None = None
    if wants.get("search"):
        counts["trials"] += search(batch, keys, loop, now=now, tell=steps.take)
    for name in names:
        try:
            counts["replies"] += ProposalGenerator(batch, name, loop).ask(keys, now=now, tell=steps.take)
        except Refused as error:  # the other models are asked all the same
            refused = refused or error
    if wants.get("search") and names:
        counts["trials"] += search(batch, keys, loop, now=now)
    if refused is not None:
        raise refused
    return counts


@dataclass
class JobProgress:
    """How far a job is: an item is one step of each phase."""

    tell: Tell
    total: int
    done: int = 0

    def take(self) -> None:
        """Tell that one more is done."""
        self.done += 1
        self.tell(self.done, self.total)


def _loaded(key: int) -> Item:
    return Item.objects.select_related("batch__project", "example__stored_table").get(pk=key)


def counts(batch: Batch) -> list[dict[str, Any]]:
    """How many proposals each maker has made for how many items of a batch, and what came of its requests."""
    line_by_maker: dict[str, dict[str, Any]] = {}
    proposal_rows = Proposal.objects.filter(item__batch=batch).order_by().values_list("maker")
    for maker, proposals, items in proposal_rows.annotate(n=Count("pk"), of=Count("item", distinct=True)):
        line_by_maker[maker] = _line(maker) | {"proposals": proposals, "items": items}
    replies = Reply.objects.filter(item__batch=batch).order_by()
    for maker, outcome, number in replies.values_list("maker", "outcome").annotate(n=Count("pk")):
        line = line_by_maker.setdefault(maker, _line(maker))
        for name in COUNTED:
            line[name] = line[name] or 0
        line["requests"] += number
        if outcome != Reply.Outcome.PROPOSED:
            line[outcome] += number
    for line in line_by_maker.values():
        line["unusable"] = {name: line[name] for name in UNUSABLE if line[name]}
    return [line_by_maker[maker] for maker in sorted(line_by_maker)]


COUNTED = ("requests", "does_not_apply", "again", *UNUSABLE)
"""What is counted of each maker."""


def _line(maker: str) -> dict[str, Any]:
    return {"maker": maker, "items": 0, "proposals": 0} | dict.fromkeys(COUNTED)


# -- proposals to be rated --------------------------------------------------------------------------


def to_source(*, batch: Batch, size: int, seed: int, by: Person | None, now: datetime) -> Source:
    """Proposals of a batch as examples of a source of their own, whether or not anybody verified them.

    They say in their meta who made them, of what, and by which perturbation: beside people's examples of the same
    originals, `perturbation_rating` compares the two as they came out of the machine (RobuT, table 5: 100 of a kind). A
    seeded sample, each outcome once. Raises Refused: name_taken, nothing_to_release.
    """
    rows = list(
        Proposal.objects.filter(item__batch=batch).order_by("pk").values_list("pk", "item_id", "digest")
    )
    once = {(item, outcome_digest): key for key, item, outcome_digest in reversed(rows)}
    chosen = random.Random(f"rated:{seed}").sample(sorted(once.values()), min(size, len(once)))
    if not chosen:
        refuse("nothing_to_release", "{name} has no proposals yet.", name=batch.name)
    name = f"Proposals of {batch.name}"[:120]
    if Source.objects.filter(project=batch.project_id, name=name).exists():
        refuse("name_taken", "A source {name!r} already exists.", name=name)
    examples = [_as_imported_example(key) for key in sorted(chosen)]
    beneath = Source.objects.filter(examples__items__batch=batch).distinct().order_by("name")
    with transaction.atomic():
        source = Source.objects.create(
            project_id=batch.project_id,
            name=name,
            reader="askew",
            checksum=digest([entry.id for entry in examples]),
            licence=" AND ".join(dict.fromkeys(entry.licence for entry in beneath))[:80],
            citation="\n".join(dict.fromkeys(entry.citation for entry in beneath if entry.citation)),
            examples_count=len(examples),
            tables_count=len({entry.table.digest() for entry in examples}),
            made_by=by,
            started_at=now,
            ready_at=now,
        )
        for position, entry in enumerate(examples):
            stored, _ = StoredTable.objects.get_or_create(
                digest=entry.table.digest(), defaults={"content": entry.table.to_dict()}
            )
            more = {
                k: v for k, v in entry.to_dict().items() if k not in ("id", "question", "answers", "table")
            }
            Example.objects.create(
                source=source,
                external_id=entry.id,
                position=position,
                question=entry.question,
                answers=list(entry.answers),
                stored_table=stored,
                table_digest=stored.digest,
                more=more,
            )
        audit_log.record(
            project_id=batch.project_id, actor=by, thing="source", thing_id=source.pk, after="ready", now=now
        )
    return source


def _as_imported_example(key: int) -> tableqa.Example:
    """The example that a proposal makes, as an import has it."""
    row = Proposal.objects.select_related("item__batch", "item__example__stored_table").get(pk=key)
    task, item = row.item.batch.task(), row.item.plain()
    example = impressions.outcome(task, item, row.data)
    meta = {
        "maker": row.maker,
        "original": item.example.id,
        "perturbation": row.item.batch.variant or row.item.batch.task_type,
        "proposal": row.public_id,
    }
    named = f"{item.example.id}~{row.public_id}"
    return with_positional_ids(
        dataclasses.replace(example, id=named, meta={**thaw(item.example.meta), **meta})
    )


# -- search against the model in the loop -----------------------------------------------------------


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
            _refuse_unusable(self.predictor, self.unusable, self.reason)


def _refuse_unusable(maker: str, number: int, reason: str) -> NoReturn:
    refuse(
        "predictor_failed",
        "{maker} gave {number} unusable replies in a row, so the job stopped. The last one: {reason} "
        "Check the model, then start the job again.",
        maker=maker,
        number=number,
        reason=reason,
    )


def search(
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


# -- language models --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Demonstration:
    """An accepted response of a person as a language model is shown it. `of` is the original that it was made of."""

    of: int
    id: str
    put: str
    why: str
    reply: Mapping[str, Any]


def proposing_task(batch: Batch) -> Proposing:
    """The task type of a batch with proposals. Raises TypeError for a task type that has none."""
    task = batch.task()
    if not isinstance(task, Proposing):
        raise TypeError(f"{task.key} proposes nothing")
    return task


class ProposalGenerator:
    """One language model of a batch, asked item by item. Raises Refused(predictor_failed) where it is not set up."""

    def __init__(self, batch: Batch, name: str, loop: LoopReplies | None = None) -> None:
        self.batch, self.task = batch, proposing_task(batch)
        self.loop = loop or LoopReplies(batch.loop_model)
        try:
            model = chat_model(settings.PREDICTORS, name)
        except LookupError as error:
            refuse("predictor_failed", str(error))
        self.crew = Crew(model.at_once)
        self.model = model
        self.name = name
        self.maker = f"{name}:{model.model}"[:200]
        self.unusable, self.reason = 0, ""
        self.problem: ChatError | None = None
        self.is_loop_away = False

    def ask(
        self, keys: Sequence[int], *, now: Callable[[], datetime], tell: Callable[[], None] = lambda: None
    ) -> int:
        """Ask everything about these items that was not asked yet. Returns how many requests were answered.

        Raises Refused(predictor_failed) where the endpoint gives no answer, and after `stop_after` unusable replies in a
        row, of the model in the loop as well; what came before is kept.
        """
        answered, self.problem, self.is_loop_away = 0, None, False
        for request, reply in self.crew.map(self._send, self._requests(keys, tell)):
            if isinstance(reply, ChatError) and not reply.is_about_example:
                self.problem = self.problem or reply
                continue
            self._keep(request, reply, now)
            answered += 1
        if self.problem is not None:
            refuse("predictor_failed", "{error} Proposals received so far are saved.", error=self.problem)
        if self._is_unusable:
            _refuse_unusable(self.maker, self.unusable, self.reason)
        self.loop.require_usable()
        if self.is_loop_away:
            refuse(
                "predictor_failed",
                "{name} does not answer now. Prompts for proposals state its answers. Proposals received so far are saved.",
                name=self.batch.loop_model,
            )
        return answered

    @property
    def _is_unusable(self) -> bool:
        return self.unusable >= self.model.stop_after

    def _requests(self, keys: Sequence[int], tell: Callable[[], None]) -> Iterator[PreparedRequest]:
        for key in keys:
            item = _loaded(key)
            for request in self._requests_about(item, item.plain()):
                if self.problem is not None or self._is_unusable or self.loop.is_stopped:
                    return
                yield request
            if self.is_loop_away:
                return
            tell()

    def _requests_about(self, item: Item, plain: tasks.contract.Item) -> Iterator[PreparedRequest]:
        existing = set(
            Reply.objects.filter(item=item, maker=self.maker).values_list("category", "repetition")
        )
        put = ""
        for generation_request in self.task.wanted(plain):
            for repetition in range(1, self.batch.help_from.get("repetitions", REPETITIONS) + 1):
                if (generation_request.key, repetition) in existing:
                    continue
                seed = seed_of(self.batch, item, generation_request.key, repetition)
                # Only now: the model in the loop is not asked about an item with nothing left to request.
                line = loop_answer(item, self.loop, self.crew)
                if line is None:
                    self.is_loop_away = True
                    return
                put = put or "\n".join(filter(None, [self.task.put(plain), line]))
                pool = self.pool.get(generation_request.key, ())
                shown_demonstrations = tuple(
                    sample_demonstrations(pool, original_of(item), generation_request.demonstrations, seed)
                )
                messages = conversation(generation_request, shown_demonstrations, put)
                yield PreparedRequest(
                    item,
                    plain,
                    generation_request,
                    repetition,
                    seed,
                    shown_demonstrations,
                    messages,
                    self._metered(),
                )

    def _metered(self) -> ChatModel:
        meter = metering.meter_of(
            self.name, project=self.batch.project_id, batch=self.batch.pk, purpose="proposals", crew=self.crew
        )
        return dataclasses.replace(self.model, meter=LastRequest(meter))

    @staticmethod
    def _send(request: PreparedRequest) -> tuple[PreparedRequest, str | ChatError]:
        """Runs in a thread, without the database."""
        try:
            (text,) = request.model.ask(
                request.messages,
                temperature=TEMPERATURE,
                seed=request.seed,
                schema=schema_of(request.wanted.form),
                most_tokens=MOST_TOKENS,
            )
        except ChatError as error:
            return request, error
        return request, text

    def _keep(self, request: PreparedRequest, reply: str | ChatError, now: Callable[[], datetime]) -> None:
        item, plain = request.item, request.plain
        text = reply.text if isinstance(reply, ChatError) else reply
        if isinstance(reply, ChatError):
            read = ParsedReply(Reply.Outcome(reply.kind), str(reply))
        else:
            read = read_reply(reply, self.task, request.wanted, plain)
        proposal, outcome = None, read.outcome
        if read.held is not None:
            proposal = Proposal.objects.filter(item=item, maker=self.maker, digest=read.held.made).first()
            outcome = Reply.Outcome.AGAIN if proposal else Reply.Outcome.PROPOSED
            if proposal is None:
                impressions.store_proposals(
                    item, [read.held], source=Proposal.Source.MODEL, maker=self.maker, now=now()
                )
                proposal = Proposal.objects.get(item=item, maker=self.maker, digest=read.held.made)
        self.unusable = self.unusable + 1 if outcome in UNUSABLE else 0
        self.reason = read.reason
        key, call = request.model.meter.last if isinstance(request.model.meter, LastRequest) else (None, None)
        Reply.objects.create(
            item=item,
            maker=self.maker,
            category=request.wanted.key,
            repetition=request.repetition,
            seed=request.seed,
            demonstrations=[demonstration.id for demonstration in request.demonstrations],
            outcome=outcome,
            reason=read.reason[:400],
            text=text[:LONGEST_REPLY],
            proposal=proposal,
            prompt_tokens=call.prompt_tokens if call and call.is_counted else None,
            completion_tokens=call.completion_tokens if call and call.is_counted else None,
            request_id=key,
            made_at=now(),
        )

    @cached_property
    def pool(self) -> dict[str, list[Demonstration]]:
        """What people made in this project, by category."""
        return demonstrations(self.batch)


@dataclass(frozen=True)
class PreparedRequest:
    """One request for a proposal, ready to be sent."""

    item: Item
    plain: tasks.contract.Item
    wanted: GenerationRequest
    repetition: int
    seed: int
    demonstrations: tuple[Demonstration, ...]
    messages: Sequence[Mapping[str, str]]
    model: ChatModel


@dataclass
class LastRequest:
    """A meter that remembers the last request, which gave the reply."""

    meter: Meter
    last: tuple[Any, Call | None] = (None, None)

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> Any:
        """As the meter beneath."""
        return self.meter.reserve(prompt_tokens, completion_tokens)

    def settle(self, reservation: Any, call: Call) -> None:
        """As the meter beneath."""
        self.meter.settle(reservation, call)
        self.last = reservation, call


def schema_of(form: str) -> dict[str, Any] | None:
    """The JSON Schema of replies of a form; None for a form that is no JSON."""
    try:
        example = json.loads(canonical_form(form))
    except ValueError:
        return None
    return _shape(example)


def _shape(example: object) -> dict[str, Any]:
    if isinstance(example, dict):
        return {
            "type": "object",
            "properties": {name: _shape(value) for name, value in example.items()},
            "required": list(example),
            "additionalProperties": False,
        }
    if isinstance(example, list):
        return {"type": "array", "items": _shape(example[0])} if example else {"type": "array"}
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return {"type": kinds[type(example)]}


def loop_answer(item: Item, loop: LoopReplies, crew: Crew) -> str | None:
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


def seed_of(batch: Batch, item: Item, category: str, repetition: int) -> int:
    """The seed of one request: another one for each, and the same whenever it is made."""
    return random.Random(f"propose:{batch.seed}:{item.example_id}:{category}:{repetition}").randrange(2**31)


def original_of(item: Item) -> int:
    """The key of what an item's example was made of first; its own, where it is an original."""
    example = item.example
    while example.parent is not None:
        example = example.parent
    return example.pk


def accepted_outcomes(batch: Batch) -> QuerySet[Outcome]:
    """Outcomes of people that may be demonstrations for a batch, without those of batches that were set aside."""
    accepted = Outcome.objects.filter(
        decision__kind=Decision.Kind.ACCEPTED,
        decision__item__batch__project=batch.project_id,
        decision__item__batch__task_type=batch.task_type,
        decision__item__batch__variant=batch.variant,
        decision__item__batch__set_aside_at__isnull=True,
    )
    machines = Provenance.objects.exclude(origin=Provenance.Origin.HUMAN).values("annotation")
    return accepted.exclude(annotations__in=machines).exclude(
        annotations__assignment__person__is_simulated=True
    )


def demonstrations(batch: Batch) -> dict[str, list[Demonstration]]:
    """Accepted responses of people to this kind and variant anywhere in the project, by category; a seeded sample of them.

    Left out is what came from a machine, edited or not, and what simulated people made.
    """
    task, accepted = proposing_task(batch), accepted_outcomes(batch)
    keys = list(accepted.order_by("pk").values_list("pk", flat=True).distinct())
    chosen = random.Random(f"pool:{batch.seed}").sample(keys, min(len(keys), MOST_POOL))
    by_category: dict[str, list[Demonstration]] = {}
    for key in sorted(chosen):
        row = Outcome.objects.select_related(
            "decision__item__batch", "decision__item__example__stored_table"
        ).get(pk=key)
        item = row.decision.item
        for category, demonstration in _demonstrations_of(task, row, item):
            by_category.setdefault(category, []).append(demonstration)
    return by_category


def _demonstrations_of(task: Proposing, row: Outcome, item: Item) -> Sequence[tuple[str, Demonstration]]:
    plain = item.plain()
    response = task.restore(row.response["data"])
    demonstrated = []
    for generation_request in task.wanted(plain):
        reply = task.as_demonstration(response, generation_request, plain)
        if reply is not None:
            why = " ".join(task.describe(response, plain))[:600]
            demonstrated.append(
                (
                    generation_request.key,
                    Demonstration(original_of(item), row.public_id, task.put(plain), why, reply),
                )
            )
    return demonstrated


def sample_demonstrations(
    pool: Sequence[Demonstration], of: int, most: int, seed: int
) -> list[Demonstration]:
    """Demonstrations for one request: at most so many, never one that was made of the same original."""
    others = [demonstration for demonstration in pool if demonstration.of != of]
    return random.Random(f"demonstrations:{seed}").sample(others, min(most, len(others)))


def conversation(
    generation_request: GenerationRequest, shown_demonstrations: Sequence[Demonstration], put: str
) -> list[dict[str, str]]:
    """What a language model is sent: the request, each demonstration with its explanation, and the item."""
    form = canonical_form(generation_request.form)
    messages = [{"role": "system", "content": SYSTEM.format(what=generation_request.what, form=form)}]
    for demonstration in shown_demonstrations:
        reply = {"why": demonstration.why, "applies": True, **demonstration.reply}
        messages.append({"role": "user", "content": demonstration.put})
        messages.append({"role": "assistant", "content": json.dumps(reply, ensure_ascii=False)})
    return [*messages, {"role": "user", "content": put}]


def canonical_form(form: str) -> str:
    """The form of a reply with what every reply has."""
    return '{"why": "one sentence", "applies": true, ' + form.strip()[1:]


@dataclass(frozen=True)
class ParsedReply:
    """What a reply comes to: a proposal that holds, that nothing applies, or why it is refused."""

    outcome: str
    reason: str = ""
    held: impressions.ValidProposal | None = None


def read_reply(
    text: str, task: Proposing, generation_request: GenerationRequest, item: tasks.contract.Item
) -> ParsedReply:
    """Take a reply as a whole or not at all. A fence around the JSON object is forgiven, anything else beside it is not."""
    payload = _object(text)
    if payload is None:
        return ParsedReply(Reply.Outcome.INVALID, "The reply is not a single JSON object.")
    why, applies = payload.pop("why", ""), payload.pop("applies", None)
    if type(applies) is not bool or not isinstance(why, str):
        return ParsedReply(Reply.Outcome.INVALID, "The reply does not contain `applies` and `why`.")
    if not applies:
        return ParsedReply(Reply.Outcome.DOES_NOT_APPLY, why)
    try:
        data = task.taken(payload, generation_request, item)
        task.parse(data, item)
    except InvalidResponse as invalid:
        return ParsedReply(Reply.Outcome.INVALID, str(invalid))
    valid_proposal = impressions.validate_proposal(
        task, item, Proposed(data, generation_request.key, "model", why[:600])
    )
    if valid_proposal is None:
        return ParsedReply(Reply.Outcome.INVALID, "The reply changes nothing.")
    return ParsedReply(Reply.Outcome.PROPOSED, held=valid_proposal)


def _object(text: str) -> dict[str, Any] | None:
    if len(text) > LONGEST_REPLY:
        return None
    fenced = re.fullmatch(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", text, re.DOTALL)
    try:
        payload = json.loads(fenced.group(1) if fenced else text)
        canonical(payload)  # what no canonical form exists for (NaN, say) is no JSON
    except (ValueError, RecursionError, TypeError):
        return None
    return payload if isinstance(payload, dict) else None
