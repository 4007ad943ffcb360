"""Requests to a language model for proposals: each category of a task type, several times, with demonstrations."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.conf import settings

import tasks.contract
from annotation.assistance import demonstrations, impressions, proposal_prompts, proposal_trials
from annotation.assistance.model_answers import create_meter
from annotation.models import Batch, Item, Proposal, Reply
from annotation.models.batch_options.assistance import REPETITIONS
from annotation.models.proposals import UNUSABLE
from annotation.platform.refusals import refuse
from annotation.queue.conversations import UnusableReplies
from annotation.queue.parallel_requests import Crew
from predictor.chat import ChatError, chat_model
from predictor.usage import Call, Meter
from tasks.contract import GenerationRequest

TEMPERATURE = 0.7
MAX_TOKENS = 2_048


class ProposalGenerator:
    """One language model of a batch, asked item by item. Raises ActionRefused(predictor_failed) where it is not set up."""

    def __init__(self, batch: Batch, name: str, loop: proposal_trials.LoopReplies | None = None) -> None:
        self.batch, self.task = batch, demonstrations.require_proposing(batch)
        self.loop = loop or proposal_trials.LoopReplies(batch.loop_model)
        try:
            model = chat_model(settings.PREDICTORS, name)
        except LookupError as error:
            refuse("predictor_failed", str(error))
        self.crew = Crew(model.at_once)
        self.model = model
        self.name = name
        self.maker = f"{name}:{model.model}"[:200]
        self.unusable = UnusableReplies(self.maker, model.stop_after)
        self.problem: ChatError | None = None
        self.is_loop_away = False

    def ask(
        self, keys: Sequence[int], *, now: Callable[[], datetime], tell: Callable[[], None] = lambda: None
    ) -> int:
        """Ask everything about these items that was not asked yet. Returns how many requests were answered.

        Raises ActionRefused(predictor_failed) where the endpoint gives no answer, and after `stop_after` unusable replies
        in a row, of the model in the loop as well; what came before is kept.
        """
        answered, self.problem, self.is_loop_away = 0, None, False
        for request, reply in self.crew.map(self._send, self._requests(keys, tell)):
            if isinstance(reply, ChatError) and not reply.is_about_example:
                self.problem = self.problem or reply
                continue
            self._store(request, reply, now)
            answered += 1
        if self.problem is not None:
            refuse("predictor_failed", "{error} Proposals received so far are saved.", error=self.problem)
        proposal_trials.require_usable(self.unusable)
        proposal_trials.require_usable(self.loop)
        if self.is_loop_away:
            refuse(
                "predictor_failed",
                "{name} does not answer now. Prompts for proposals state its answers. Proposals received so far are saved.",
                name=self.batch.loop_model,
            )
        return answered

    def _requests(self, keys: Sequence[int], tell: Callable[[], None]) -> Iterator[PreparedRequest]:
        for key in keys:
            item = load_item(key)
            for request in self._requests_about(item, item.plain()):
                if self.problem is not None or self.unusable.is_stopped or self.loop.is_stopped:
                    return
                yield request
            if self.is_loop_away:
                return
            tell()

    def _requests_about(self, item: Item, plain: tasks.contract.Item) -> Iterator[PreparedRequest]:
        existing = set(
            Reply.objects.filter(item=item, maker=self.maker).values_list("category", "repetition")
        )
        rendered = ""
        for generation_request in self.task.generation_requests(plain):
            for repetition in range(1, self.batch.help_from.get("repetitions", REPETITIONS) + 1):
                if (generation_request.key, repetition) in existing:
                    continue
                seed = derive_seed(self.batch, item, generation_request.key, repetition)
                # Only now: the model in the loop is not asked about an item with nothing left to request.
                line = proposal_trials.describe_loop_answer(item, self.loop)
                if line is None:
                    self.is_loop_away = True
                    return
                rendered = rendered or "\n".join(filter(None, [self.task.render(plain), line]))
                pool = self.pool.get(generation_request.key, ())
                shown_demonstrations = demonstrations.sample(
                    pool, demonstrations.find_original(item), generation_request.demonstrations, seed
                )
                messages = proposal_prompts.create_conversation(
                    generation_request, shown_demonstrations, rendered
                )
                yield PreparedRequest(
                    item,
                    plain,
                    generation_request,
                    repetition,
                    seed,
                    [demonstration.id for demonstration in shown_demonstrations],
                    messages,
                    LastRequest(create_meter(self.batch, self.name, "proposals", self.crew)),
                )

    def _send(self, request: PreparedRequest) -> tuple[PreparedRequest, str | ChatError]:
        """Runs in a thread, without the database."""
        try:
            (text,) = dataclasses.replace(self.model, meter=request.meter).ask(
                request.messages,
                temperature=TEMPERATURE,
                seed=request.seed,
                schema=proposal_prompts.create_schema(request.generation_request.form),
                most_tokens=MAX_TOKENS,
            )
        except ChatError as error:
            return request, error
        return request, text

    def _store(self, request: PreparedRequest, reply: str | ChatError, now: Callable[[], datetime]) -> None:
        item = request.item
        text = reply.text if isinstance(reply, ChatError) else reply
        if isinstance(reply, ChatError):
            parsed = proposal_prompts.ParsedReply(Reply.Outcome(reply.kind), str(reply))
        else:
            parsed = proposal_prompts.read_reply(reply, self.task, request.generation_request, request.plain)
        proposal, outcome = None, parsed.outcome
        if valid := parsed.valid_proposal:
            same = Proposal.objects.filter(item=item, maker=self.maker, digest=valid.digest)
            if same.exists():
                outcome = Reply.Outcome.AGAIN
            else:
                impressions.store_proposals(
                    item, [valid], source=Proposal.Source.MODEL, maker=self.maker, now=now()
                )
            proposal = same.get()
        self.unusable.count(parsed.reason if outcome in UNUSABLE else "")
        key, call = request.meter.last
        Reply.objects.create(
            item=item,
            maker=self.maker,
            category=request.generation_request.key,
            repetition=request.repetition,
            seed=request.seed,
            demonstrations=request.demonstration_ids,
            outcome=outcome,
            reason=parsed.reason[:400],
            text=text[: proposal_prompts.MAX_REPLY],
            proposal=proposal,
            prompt_tokens=call.prompt_tokens if call and call.is_counted else None,
            completion_tokens=call.completion_tokens if call and call.is_counted else None,
            request_id=key,
            made_at=now(),
        )

    @cached_property
    def pool(self) -> dict[str, list[demonstrations.Demonstration]]:
        """What people made in this project, by category."""
        return demonstrations.load_demonstrations(self.batch)


@dataclass(frozen=True)
class PreparedRequest:
    """One request for a proposal, ready to be sent."""

    item: Item
    plain: tasks.contract.Item
    generation_request: GenerationRequest
    repetition: int
    seed: int
    demonstration_ids: list[str]
    messages: Sequence[Mapping[str, str]]
    meter: LastRequest


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


def derive_seed(batch: Batch, item: Item, category: str, repetition: int) -> int:
    """The seed of one request: another one for each, and the same whenever it is made."""
    return random.Random(f"propose:{batch.seed}:{item.example_id}:{category}:{repetition}").randrange(2**31)


def load_item(key: int) -> Item:
    """An item with what a proposal for it needs."""
    return Item.objects.select_related("batch__project", "example__stored_table").get(pk=key)
