"""What work costs, from a rate and what was done. Pure functions: payment sheets and dashboards say the same.

    rate = {"currency": "EUR", "per_hour": 14.5}   # or per_item; `annotation.payments.rates` says which held when
    round_amount(exact_amount(rate, items=120, seconds=Fraction(9_000)))    # Decimal("36.25")
    per_hundred(Decimal("36.25"), examples=80)                  # Decimal("45.31")

Amounts are decimal and rounded to the cent, half up. What a part of a person's work in a batch comes to is the difference
between two rounded running totals (`annotation.payments.ledger`), so that parts add up.
"""

import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext

CENT = Decimal("0.01")
HOUR = 3600


def exact_amount(rate: Mapping[str, Any], *, items: int, seconds: Fraction) -> Fraction:
    """The amount for this work before rounding; negative for what is subtracted.

    Raises ValueError for a rate that is by neither hour nor item.
    """
    if "per_item" in rate:
        return Fraction(str(rate["per_item"])) * items
    if "per_hour" in rate:
        return Fraction(str(rate["per_hour"])) * seconds / HOUR
    raise ValueError(gettext("The rate {dict!r} is neither per hour nor per item.").format(dict=dict(rate)))


def round_amount(amount: Fraction) -> Decimal:
    """To the cent, half up."""
    return Decimal(math.floor(amount * 100 + Fraction(1, 2))).scaleb(-2)


def per_hundred(amount: Decimal | None, *, examples: int) -> Decimal | None:
    """What a hundred examples cost, at this amount for `examples`; None where there is no amount or no example."""
    if amount is None or not examples:
        return None
    return (amount * 100 / examples).quantize(CENT, ROUND_HALF_UP)


def all_per_hundred(amounts: Mapping[str, Decimal], *, examples: int) -> dict[str, Decimal]:
    """`per_hundred` by currency, without amounts that have none."""
    each = {currency: per_hundred(amount, examples=examples) for currency, amount in amounts.items()}
    return {currency: amount for currency, amount in each.items() if amount is not None}


def in_words(amount: Decimal | None, rate: Mapping[str, Any]) -> str:
    """An amount with its currency, or a dash."""
    return "–" if amount is None else f"{_number(amount)} {rate['currency']}"


def _number(amount: Decimal) -> str:
    """An amount with two decimals, as the reader's language writes it."""
    return number_format(amount, 2, use_l10n=True, force_grouping=True)


def all_in_words(amounts: Mapping[str, Decimal | None]) -> str:
    """Amounts by currency, or a dash."""
    return " + ".join(in_words(amounts[name], {"currency": name}) for name in sorted(amounts)) or "–"


def rate_in_words(rate: Mapping[str, Any]) -> str:
    """A rate in the reader's language; "" without pay."""
    if not rate:
        return ""
    by_item = "per_item" in rate
    text = gettext("{amount} {currency} an item") if by_item else gettext("{amount} {currency} an hour")
    amount = Decimal(str(rate["per_item" if by_item else "per_hour"]))
    return text.format(amount=_number(amount), currency=rate["currency"])
