"""Questions to a model behind an Askew predictor, metered where it is a language model (`architecture: chat`).

    payment = begin(meter, entry, requests, within=30)      # ChatError of kind "budget", PredictionError
    try:
        connect(entry).predict(request, bills=payment.bills)
    finally:
        payment.settle()

The predictor states each request that it made, retries included. The most that a question may use is reserved before,
with the prompts of all retries. A question whose answer never came is counted by estimate: the predictor may have gone on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from predictor import prompts
from predictor.chat import TRIES
from predictor.client import Bill, PredictionError, connect
from predictor.protocol import PredictRequest
from predictor.usage import USUAL_COMPLETION, Call, QuestionMeter, largest_messages


@dataclass
class Payment:
    """What some questions use. `bills` is filled by the client; without a meter nothing is counted."""

    meter: QuestionMeter | None = None
    reservation: Any = None
    bills: list[Bill] = field(default_factory=list)

    def settle(self) -> None:
        """Replace the reservation by what was used."""
        if self.meter is None:
            return
        calls = [call for bill in self.bills for call in self._calls(bill)]
        if calls or self.reservation is not None:
            self.meter.settle_all(self.reservation, calls)

    def _calls(self, bill: Bill) -> Sequence[Call]:
        if self.reservation is None and not bill.usage and not bill.is_metered:
            return ()
        lost = bill.lost + (bill.usage is None)
        estimated = Call("away", _prompt_tokens(bill.request), USUAL_COMPLETION, is_counted=False)
        return [*(bill.usage or ()), *[estimated] * lost]


def begin(
    meter: QuestionMeter | None,
    entry: Mapping[str, Any],
    requests: Sequence[PredictRequest | None],
    *,
    within: float,
    has_budget: bool | None = None,
) -> Payment:
    """Reserve what the questions may use at most, where the model is a language model.

    The server is asked whether it is one where its entry has a price or there is a budget (`has_budget`, None: read it).
    Without either nothing is reserved, and the client finds out with the first question.
    Raises ChatError("budget"), PredictionError.
    """
    if meter is None:
        return Payment()
    model = connect(entry)
    if model.max_tokens is None:
        has_budget = meter.has_budget() if has_budget is None else has_budget
        if not has_budget and "price" not in entry:
            return Payment(meter)
    most = model.reply_tokens(within=within)
    if not most:
        return Payment(meter)
    questions = [request for request in requests if request is not None]
    # All tries but one may be lost, and so may the answer to a repeated request.
    prompt = (TRIES + 1) * sum(_prompt_tokens(request) for request in questions)
    return Payment(meter, meter.reserve(prompt, (most + USUAL_COMPLETION) * len(questions)))


def is_language_model(name: str) -> bool:
    """Whether a predictor of the settings is a language model. The server of one describes it, once per process; a
    server that does not answer counts as none.
    """
    if name not in settings.PREDICTORS:
        return False
    entry = settings.PREDICTORS[name]
    if entry["protocol"] == "chat":
        return True
    try:
        return connect(entry).reply_tokens() > 0
    except PredictionError:
        return False


def language_models() -> list[str]:
    """The language models of the settings, by name."""
    return sorted(filter(is_language_model, settings.PREDICTORS))


def _prompt_tokens(request: PredictRequest) -> int:
    messages, _ = prompts.prompt_for_question(
        request.question, request.table, request.history, request.context, ""
    )
    return largest_messages(messages)
