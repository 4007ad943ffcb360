"""What commands without a project spend on language models: options, estimate before, budget during, sum after."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from annotation.management.commands._escaping import UsageError
from annotation.queue import metered_models, metering, reply_states
from predictor.budget import Tally
from predictor.chat import ChatModel, chat_model


def add_spending_options(parser: ArgumentParser) -> None:
    """The options for an estimate and for budgets."""
    parser.add_argument(
        "--estimate",
        action="store_true",
        help="print what language models would use (requests, tokens, price), and ask nothing",
    )
    parser.add_argument(
        "--budget-usd", type=float, metavar="USD", help="most that each language model may cost"
    )
    parser.add_argument(
        "--budget-tokens", type=int, metavar="N", help="most tokens that each language model may use"
    )


def tally_of(name: str, options: Mapping[str, Any]) -> Tally:
    """The meter of a predictor with the price of its entry. Raises CommandError for a budget that cannot limit it."""
    entry = settings.PREDICTORS.get(name, {})
    price, limit = entry.get("price"), options["budget_usd"]
    if limit is not None and price is None and metered_models.is_language_model(name):
        raise UsageError(
            f"--budget-usd cannot limit {name}, because its entry in PREDICTORS has no price. "
            "Set the price, or use --budget-tokens."
        )
    budget = {unit: options[f"budget_{unit}"] for unit in ("usd", "tokens")}
    return Tally(price or (0, 0), {unit: limit for unit, limit in budget.items() if limit is not None})


def metered(name: str, tally: Tally) -> ChatModel:
    """The chat model of that name with its meter. Raises LookupError naming the ones there are."""
    return replace(chat_model(settings.PREDICTORS, name), meter=tally)


def announce(command: BaseCommand, name: str, estimate: metering.Estimate) -> None:
    """Print what a language model would use, before it is asked."""
    command.stderr.write(f"{name}: {estimate.in_words()} (estimate)")


def tell_use(command: BaseCommand, name: str, tally: Tally) -> None:
    """Print what a language model used and how its requests ended; nothing if it was not asked."""
    if not tally.calls:
        return
    command.stderr.write(f"{name}: {tally.in_words()}")
    if set(states := Counter(call.state for call in tally.calls)) != {"answered"}:
        command.stderr.write(f"{name}: {reply_states.in_words(states)}")
