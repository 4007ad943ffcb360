"""The meter of language models: every request of a project with its tokens and price, and its budgets.

    meter = ProjectMeter.of_batch(batch, "loop", "gpt", chat.model, crew)
    dataclasses.replace(chat, meter=meter).ask(...)     # ChatError of kind "budget" before a request that could exceed it

A request is reserved with its largest possible number of tokens and settled with what it used. A worker that dies leaves
its reservation: the endpoint may have charged for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Avg, Count, DecimalField, ExpressionWrapper, Q, QuerySet, Sum
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from annotation.models import Batch, ModelRequest, ModelTotal, Project
from annotation.models.spending import COST
from annotation.queue import reply_states
from annotation.queue.parallel_requests import Crew
from predictor.chat import ChatError
from predictor.usage import PER_PRICE, USUAL_COMPLETION, Call, cost, estimate_messages

T = TypeVar("T")
PURPOSES: Final[Mapping[str, str]] = {
    "loop": gettext_noop("model in the loop"),
    "panel": gettext_noop("other models"),
    "search": gettext_noop("test of proposals"),
    "proposals": gettext_noop("proposals"),
    "questions": gettext_noop("questions before annotation"),
    "accuracy": gettext_noop("originals answered correctly"),
    "evaluation": gettext_noop("evaluation"),
    "practice": gettext_noop("practice"),
}
_MICRO_USD = ExpressionWrapper(COST, output_field=DecimalField(max_digits=30, decimal_places=6))


@dataclass(frozen=True)
class ProjectMeter:
    """Counts the requests of one purpose. Threads of the crew may use it: the database is used in the crew's own thread."""

    project: int
    batch: int | None
    purpose: str
    predictor: str
    model: str
    price: Sequence[float] | None = (0, 0)
    """None where the entry has none: a budget in USD cannot limit it."""
    crew: Crew = field(default_factory=Crew)

    @property
    def _rates(self) -> Sequence[float]:
        return self.price or (0, 0)

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> int:
        """The key of a reserved request. Raises ChatError("budget") where it could exceed a budget."""
        return self.crew.here(self._reserve, prompt_tokens, completion_tokens)

    def settle(self, reservation: int, call: Call) -> None:
        """Write what the request used."""
        self.crew.here(self._settle, reservation, call)

    def settle_all(self, reservation: int | None, calls: Sequence[Call]) -> None:
        """Write what the requests of one reservation used, None for requests that nothing was reserved for."""
        self.crew.here(self._settle_all, reservation, calls)

    def has_budget(self) -> bool:
        """Whether the project or the batch limits what language models may use."""
        return self.crew.here(self._has_budget)

    def _has_budget(self) -> bool:
        of_project = Project.objects.filter(pk=self.project).exclude(model_budget={})
        if of_project.exists():
            return True
        of_batch = Batch.objects.exclude(model_budget={})
        return self.batch is not None and of_batch.filter(pk=self.batch).exists()

    def _settle_all(self, reservation: int | None, calls: Sequence[Call]) -> None:
        others = list(calls)
        with transaction.atomic():
            if reservation is not None and others:
                self._settle(reservation, others.pop(0))
            elif reservation is not None:
                ModelRequest.objects.filter(pk=reservation).release()
            for call in others:
                self._settle(self._create(call.prompt_tokens, call.completion_tokens), call)

    def _reserve(self, prompt_tokens: int, completion_tokens: int) -> int:
        with transaction.atomic():
            # One at a time in a project: two jobs cannot both use what is left.
            project = (
                Project.objects.select_for_update(no_key=True).values("model_budget").get(pk=self.project)
            )
            budgets = {"project": project["model_budget"], "batch": {}}
            if self.batch is not None:
                budgets["batch"] = Batch.objects.values_list("model_budget", flat=True).get(pk=self.batch)
            if any(budgets.values()):
                self._require(budgets, prompt_tokens, completion_tokens)
            return self._create(prompt_tokens, completion_tokens)

    def _create(self, prompt_tokens: int, completion_tokens: int) -> int:
        request = ModelRequest.objects.create(
            project_id=self.project,
            batch_id=self.batch,
            purpose=self.purpose,
            predictor=self.predictor,
            model=self.model[:200],
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            prompt_price=Decimal(str(self._rates[0])),
            completion_price=Decimal(str(self._rates[1])),
        )
        return int(request.pk)

    def _require(
        self, budgets: Mapping[str, Mapping[str, Any]], prompt_tokens: int, completion_tokens: int
    ) -> None:
        usd, tokens = cost(prompt_tokens, completion_tokens, self._rates), prompt_tokens + completion_tokens
        totals = ModelTotal.objects.filter(project=self.project)
        rows = list(totals.values_list("batch_id", "micro_usd", "tokens"))
        for where, budget in budgets.items():
            of_what = gettext("this batch") if where == "batch" else gettext("the project")
            if self.price is None and budget.get("usd") is not None:
                raise ChatError(
                    gettext(
                        "The language model budget of {of_what} is in USD. It cannot limit {name}, because its entry in "
                        "PREDICTORS has no price. Ask an administrator to set its price, or set a budget of tokens only."
                    ).format(of_what=of_what, name=self.predictor),
                    "budget",
                )
            counted = [row for row in rows if where == "project" or row[0] == self.batch]
            for name, before, more in (
                ("usd", sum((row[1] for row in counted), Decimal(0)) / PER_PRICE, usd),
                ("tokens", sum(row[2] for row in counted), tokens),
            ):
                limit = budget.get(name)
                if limit is not None and before + more > Decimal(str(limit)):
                    amounts = [_amount(name, value) for value in (limit, before, more)]
                    raise ChatError(
                        gettext(
                            "The language model budget of {of_what} ({limit}) is used up. {used} are spent, and the "
                            "next request could use {more}. Raise the budget to continue."
                        ).format(of_what=of_what, limit=amounts[0], used=amounts[1], more=amounts[2]),
                        "budget",
                    )

    def _settle(self, reservation: int, call: Call) -> None:
        state = call.state if call.state in ModelRequest.State.values else ModelRequest.State.AWAY
        ModelRequest.objects.filter(pk=reservation).settle(
            state=state,
            prompt_tokens=call.prompt_tokens,
            completion_tokens=call.completion_tokens,
            is_counted=call.is_counted,
        )


def meter_of(
    name: str, *, project: int, batch: int | None, purpose: str, crew: Crew | None = None
) -> ProjectMeter:
    """The meter of a predictor of either protocol. Raises KeyError for a name that PREDICTORS does not have."""
    entry = settings.PREDICTORS[name]
    return ProjectMeter(project, batch, purpose, name, entry["model"], entry.get("price"), crew or Crew())


def _amount(name: str, value: Any) -> str:
    if name == "usd":
        return f"{number_format(round(Decimal(str(value)), 4), force_grouping=True)} USD"
    return gettext("{number} tokens").format(number=number_format(int(value), force_grouping=True))


# -- results --------------------------------------------------------------------------------------


class _Tokens:
    prompt_tokens: int
    completion_tokens: int

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Usage(_Tokens):
    """Sums of requests. `counted` of `requests` have tokens that the endpoint stated; the others are estimated."""

    requests: int = 0
    counted: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: Decimal = Decimal(0)
    is_priced: bool = False

    def in_words(self) -> str:
        """Tokens, and the price where there is one, in the reader's language."""
        tokens = _amount("tokens", self.tokens)
        return f"{tokens}, {_amount('usd', self.usd)}" if self.is_priced else tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.counted + other.counted,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.usd + other.usd,
            self.is_priced or other.is_priced,
        )


_SUMS: Final[dict[str, Any]] = {
    "requests": Count("pk"),
    "counted": Count("pk", filter=Q(is_counted=True)),
    "sum_prompt": Sum("prompt_tokens", default=0),
    "sum_completion": Sum("completion_tokens", default=0),
    "micro_usd": Sum(_MICRO_USD, default=Decimal(0)),
    "priced": Count("pk", filter=Q(prompt_price__gt=0) | Q(completion_price__gt=0)),
}


def usage(requests: QuerySet[ModelRequest]) -> Usage:
    """The sums of some requests."""
    return _usage(requests.aggregate(**_SUMS))


def _usage(row: Mapping[str, Any]) -> Usage:
    return Usage(
        row["requests"],
        row["counted"],
        row["sum_prompt"],
        row["sum_completion"],
        Decimal(row["micro_usd"]) / PER_PRICE,
        bool(row["priced"]),
    )


@dataclass(frozen=True)
class CostTable:
    """`rows` have purpose, predictor, spent and states (one number for each of `columns`); `total` is the sum of all.

    `columns` are the states that occur, in words; `total_states` their sums.
    """

    rows: list[dict[str, Any]]
    total: Usage
    columns: list[str]
    total_states: list[int]


def table(requests: QuerySet[ModelRequest]) -> CostTable:
    """One row for each purpose and model: sums, and how many requests ended in which state."""
    keys = ("purpose", "predictor")
    sums: dict[tuple[str, str], Usage] = {}
    states: dict[tuple[str, str], Counter[str]] = {}
    for row in requests.order_by(*keys, "state").values(*keys, "state").annotate(**_SUMS):
        key = row["purpose"], row["predictor"]
        sums[key] = sums.get(key, Usage()) + _usage(row)
        states.setdefault(key, Counter())[row["state"]] += row["requests"]
    columns = reply_states.columns([{"answered": 1}, *states.values()])
    rows = [
        {
            "purpose": gettext(PURPOSES[purpose]),
            "predictor": predictor,
            "spent": spent_here,
            "states": [states[purpose, predictor][state] for state in columns],
        }
        for (purpose, predictor), spent_here in sums.items()
    ]
    return CostTable(
        rows,
        sum(sums.values(), Usage()),
        [gettext(reply_states.WORDS[state]) for state in columns],
        [sum(counts[state] for counts in states.values()) for state in columns],
    )


# -- what it would cost -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate(_Tokens):
    """What a job would use. `usd` is None for a model without a price."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    usd: Decimal | None

    def __add__(self, other: Estimate) -> Estimate:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Estimate(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            usd,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON of the API; `usd` is null without a price."""
        return {**asdict(self), "usd": None if self.usd is None else float(self.usd)}

    def in_words(self) -> str:
        """One line in the reader's language."""
        text = gettext("about {requests} requests, {tokens} tokens").format(
            requests=number_format(self.requests, force_grouping=True),
            tokens=number_format(self.tokens, force_grouping=True),
        )
        return text if self.usd is None else f"{text}, {_amount('usd', self.usd)}"


def sample(keys: Sequence[T], size: int = 3) -> Sequence[T]:
    """Some of the keys, spread over all: their conversations are measured for an estimate."""
    return keys[:: max(1, len(keys) // size)][:size]


def estimate(
    name: str,
    samples: Iterable[Sequence[Mapping[str, str]]],
    requests: int,
    *,
    project: int | None,
    purpose: str,
    replies: int = 1,
) -> Estimate:
    """What `requests` conversations like the samples would use: their length, and replies as long as earlier ones.

    `replies` is the number of samples of one request; an endpoint without the parameter `n` gets a request for each.
    Without a project the database is not used.
    """
    entry = settings.PREDICTORS.get(name, {})
    if entry.get("extra", {}).get("n", 1) is None:
        requests, replies = requests * replies, 1
    lengths = [estimate_messages(messages) for messages in samples]
    prompt = round(requests * sum(lengths) / len(lengths)) if lengths else 0
    usual = None
    if project is not None:
        earlier = ModelRequest.objects.filter(
            project=project, predictor=name, purpose=purpose, state="answered"
        )
        usual = earlier.aggregate(mean=Avg("completion_tokens"))["mean"]
    completion = round(requests * (USUAL_COMPLETION * replies if usual is None else usual))
    price = entry.get("price")
    return Estimate(requests, prompt, completion, cost(prompt, completion, price) if price else None)
