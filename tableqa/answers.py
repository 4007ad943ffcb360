from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Difference = Literal["form", "unit", "rounding", "order", "sign", "scale", "partial", "value"]


@dataclass(frozen=True)
class Comparison:
    equal: bool
    difference: Difference | None = None
    factor: int | None = None


def compare(predicted: Sequence[str], gold: Sequence[str], ordered: bool = False) -> Comparison:
    return Comparison(set(predicted) == set(gold), None if set(predicted) == set(gold) else "value")
