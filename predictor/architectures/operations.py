"""From chosen cells and the name of an operation to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from tableqa.cells import number_of


def answers_of(operation: str, cells: Sequence[str]) -> tuple[str, ...]:
    """What the operation makes of these cells: select gives them as they are written, the others a number.

    count    how many they are, "0" for none
    sum, average   of the numbers that they say; () where none of them says one, for there is nothing to add up

    Raises ValueError for an operation that there is not.
    """
    if operation == "select":
        return tuple(dict.fromkeys(cells))
    if operation == "count":
        return (str(len(cells)),)
    if operation not in ("sum", "average"):
        raise ValueError(f"there is no operation {operation!r}")
    numbers = [number.value for number in map(number_of, cells) if number is not None]
    if not numbers:
        return ()
    total = sum(numbers, Decimal(0))
    return (plain(total if operation == "sum" else total / len(numbers)),)


def plain(value: Decimal) -> str:
    """A number without exponent and without zeros at its end: "4", "0.3333333333"."""
    rounded = round(value, 10)
    text = f"{rounded:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
