"""Declared fields that are typed: numbers, dates, and points divided among options."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Literal

from tableqa.core.translation import gettext
from tasks.contract import Item, Measure, Problem
from tasks.contract.scores import number_of
from tasks.shared.form_fields import Question, Read


@dataclass(frozen=True, kw_only=True)
class Number(Question):
    """A whole or decimal number from `lowest` to `highest`, in steps of `step` where it is not 0.

    A slider beside the input has the names of its `ends`.
    """

    kind: Literal["text"] = "text"
    lowest: float = -math.inf
    highest: float = math.inf
    step: float = 0
    slider: bool = False
    ends: tuple[str, str] = ("", "")
    template = "fields/_number.html"
    empty = None

    def read(self, value: object, item: Item) -> Read:
        if value is None or value == "":
            return None, []
        amount = number_of(value)
        is_inside = amount is not None and self.lowest <= amount <= self.highest
        return (amount, []) if is_inside and self._is_step(amount) else (None, [self.missing()])

    def _is_step(self, amount: float | None) -> bool:
        start = self.lowest if math.isfinite(self.lowest) else 0
        distance = Decimal(str(amount)) - Decimal(str(start))
        return not self.step or distance % Decimal(str(self.step)) == 0

    def missing(self) -> Problem:
        sentences = [gettext("Enter a number, for example {number}.").format(number=self.example)]
        if math.isfinite(self.lowest):
            sentences.append(gettext("The lowest is {limit}.").format(limit=self.lowest))
        if math.isfinite(self.highest):
            sentences.append(gettext("The highest is {limit}.").format(limit=self.highest))
        if self.step:
            sentences.append(gettext("Use steps of {step}.").format(step=self.step))
        return Problem(self.name, self.code, " ".join(sentences))

    @property
    def example(self) -> float:
        """A number that a problem names."""
        if not self.step:
            return 1.5
        return float(self.lowest + self.step) if math.isfinite(self.lowest) else self.step

    def label_of(self, value: float) -> str:
        return str(value)

    def simulate(
        self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]
    ) -> float:
        low = Decimal(str(self.lowest if math.isfinite(self.lowest) else min(0, self.highest)))
        step = Decimal(str(self.step))
        if step and not math.isfinite(self.lowest):
            low = (low // step - (low < 0)) * step
        high = Decimal(str(self.highest)) if math.isfinite(self.highest) else low + 10 * (step or 1)
        width, steps = (step, int((high - low) // step)) if step else ((high - low) / 10, 10)
        right, other = (low + width * generator.randint(0, steps) for generator in (truth, rng))
        amount = right if rng.random() < accuracy else other
        return int(amount) if amount == int(amount) else float(amount)

    def schema(self) -> dict[str, Any]:
        limits = {"minimum": self.lowest, "maximum": self.highest}
        return {"type": ["number", "null"]} | {
            key: limit for key, limit in limits.items() if math.isfinite(limit)
        }

    def measure(self) -> Measure:
        statistics = ("krippendorff_alpha_interval", "percent_agreement")
        return Measure(self.name, "interval", self.value_in, statistics=statistics)


@dataclass(frozen=True, kw_only=True)
class Date(Question):
    """A day from `earliest` to `latest`, as ISO 8601 has it: 2024-05-01. "" is no limit."""

    kind: Literal["text"] = "text"
    earliest: str = ""
    latest: str = ""
    template = "fields/_date.html"

    def read(self, value: object, item: Item) -> Read:
        if value == "":
            return "", []
        day = day_of(value)
        is_inside = day is not None and self.earliest <= day <= (self.latest or day)
        return (day, []) if is_inside else ("", [self.missing()])

    def missing(self) -> Problem:
        sentences = [gettext("Enter a date, for example 2024-05-01.")]
        if self.earliest:
            sentences.append(gettext("The earliest is {limit}.").format(limit=self.earliest))
        if self.latest:
            sentences.append(gettext("The latest is {limit}.").format(limit=self.latest))
        return Problem(self.name, self.code, " ".join(sentences))

    def label_of(self, value: str) -> str:
        return value

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]) -> str:
        last = date.fromisoformat(self.latest) if self.latest else date(2024, 12, 31)
        first = date.fromisoformat(self.earliest) if self.earliest else last - timedelta(days=30)
        days = max(0, (last - first).days)
        right, other = (first + timedelta(generator.randint(0, days)) for generator in (truth, rng))
        return (right if rng.random() < accuracy else other).isoformat()

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "string", "format": "date"}, {"const": ""}]}

    def measure(self) -> Measure:
        return Measure(self.name, "nominal", self.value_in)


def day_of(value: object) -> str | None:
    """A day in its usual form, 2024-05-01; None for anything else."""
    try:
        day = date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 else None
    except ValueError:
        return None
    return None if day is None or day.isoformat() != value else value


@dataclass(frozen=True, kw_only=True)
class Shares(Question):
    """`total` points divided among the options: a whole number for each, in the order of the options."""

    kind: Literal["numbers"] = "numbers"
    total: int = 100
    template = "fields/_shares.html"
    empty = ()

    def read(self, value: object, item: Item) -> Read:
        if not isinstance(value, list | tuple) or len(value) not in (0, len(self.options)):
            message = gettext("This must be a list of {number} numbers, one for each option.")
            return (), [Problem(self.name, "wrong_type", message.format(number=len(self.options)))]
        if all(part in ("", None) for part in value):
            return (), []
        points = [0 if part in ("", None) else number_of(part) for part in value]
        is_whole = all(isinstance(part, int) and part >= 0 for part in points)
        if not is_whole or sum(part or 0 for part in points) != self.total:
            return (), [Problem(self.name, "wrong_sum", self.number_rule)]
        return tuple(points), []

    @property
    def number_rule(self) -> str:
        """What the points must come to."""
        message = gettext("“{name}”: divide {total} points, in whole numbers.")
        return message.format(name=gettext(self.label), total=self.total)

    def label_of(self, value: Sequence[float]) -> str:
        pairs = zip(self.options, value, strict=True)
        return ", ".join(f"{gettext(option.title)} {points:g}" for option, points in pairs if points)

    def describe(self, value: Sequence[float]) -> list[str]:
        return [f"{gettext(self.label)}: {self.label_of(value)}"]

    def simulate(
        self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]
    ) -> list[int]:
        count = len(self.options)
        right, other = (generator.randrange(count) for generator in (truth, rng))
        most = right if rng.random() < accuracy else other
        rest = rng.randint(0, self.total // 3)
        points = [0] * count
        points[(most + 1) % count] = rest
        points[most] += self.total - rest
        return points

    def schema(self) -> dict[str, Any]:
        points = {"type": "number", "minimum": 0, "maximum": self.total}
        return {"type": "array", "items": points, "maxItems": len(self.options)}

    def measures(self) -> tuple[Measure, ...]:
        """Agreement on the points of each option, on the interval scale."""
        statistics = ("krippendorff_alpha_interval", "percent_agreement")
        return tuple(
            Measure(name, "interval", self._points_at(index), statistics=statistics)
            for index, name in enumerate(self.measure_names)
        )

    @property
    def measure_names(self) -> tuple[str, ...]:
        """A name for each option: that of the field and the number of the option."""
        return tuple(f"{self.name}_{position}" for position in range(1, len(self.options) + 1))

    def _points_at(self, index: int) -> Any:
        def points(response: Any) -> Any:
            value = getattr(response, self.name)
            return value[index] if value else None

        return points

    def scaled(self, points: Mapping[str, float]) -> tuple[float, ...]:
        """Mean points by option, which come to `total` again where outliers were left out."""
        values = [points.get(option.value, 0) for option in self.options]
        together = sum(values)
        if not together or round(together, 4) == self.total:
            return tuple(values)
        return tuple(round(value * self.total / together, 6) for value in values)
