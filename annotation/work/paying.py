"""Questions to a model behind an Askew predictor, metered where it is a language model (`architecture: chat`).

    payment = begin(meter, entry, requests, within=30)      # ChatError of kind "budget", Unanswered
    try:
        connect(entry).predict(request, bills=payment.bills)
    finally:
        payment.settle()

The predictor states each request that it made, retries included. The most that a question may use is reserved before;
a question whose answer never came is counted by estimate, because the predictor may have gone on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.work.metering import USUAL_COMPLETION, ProjectMeter
from predictor import prompts
from predictor.client import Bill, connect
from predictor.protocol import PredictRequest
from predictor.usage import Call, estimate_messages


@dataclass
class Payment:
    """What some questions use. `bills` is filled by the client; without a meter nothing is counted."""

    meter: ProjectMeter | None = None
    reservation: int | None = None
    bills: list[Bill] = field(default_factory=list)

    def settle(self) -> None:
        """Replace the reservation by what was used."""
        if self.meter is None:
            return
        calls = [call for bill in self.bills for call in self._calls(bill)]
        if calls or self.reservation is not None:
            self.meter.settle_all(self.reservation, calls)

    def _calls(self, bill: Bill) -> Sequence[Call]:
        if bill.usage is not None:
            return bill.usage
        if self.reservation is None:  # nobody knows that it is a language model
            return ()
        return [Call("away", _prompt_tokens(bill.request), USUAL_COMPLETION, is_counted=False)]


def begin(
    meter: ProjectMeter | None,
    entry: Mapping[str, Any],
    requests: Sequence[PredictRequest | None],
    *,
    within: float,
    has_budget: bool | None = None,
) -> Payment:
    """Reserve what the questions may use at most, where the model is a language model.

    The server is asked whether it is one where its entry has a price, or there is a budget (`has_budget`, None: look).
    Raises ChatError("budget"), Unanswered.
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
    asked = [request for request in requests if request is not None]
    prompt = sum(_prompt_tokens(request) for request in asked)
    return Payment(meter, meter.reserve(prompt, most * len(asked)))


def _prompt_tokens(request: PredictRequest) -> int:
    messages, _ = prompts.asking(request.question, request.table, request.history, request.context, "")
    return estimate_messages(messages)
