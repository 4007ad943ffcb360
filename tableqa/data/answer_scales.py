"""Answers whose numbers are in a scale that is beside them: TAT-QA's thousand, million, billion and percent.

    scale_of(example)                                 the scale of an example's answers, "" where there is none
    compare_scaled(["1,305 thousand"], ["1,305"], "thousand").equal

A gold answer of "1,305" in thousands is said as "1,305", as "1,305 thousand" and as "1305000".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from ..cells import number_of
from .answers import Comparison, accepted, compare

if TYPE_CHECKING:
    from .examples import Context, Example

FACTORS = {
    "hundred": Decimal(100),
    "thousand": Decimal(10**3),
    "million": Decimal(10**6),
    "billion": Decimal(10**9),
    "percent": Decimal("0.01"),
}
_WORDS = {name: name + "s?" for name in FACTORS} | {"percent": "%|percent|per cent"}
_ENDS = {name: re.compile(rf"(?<=\S) ?(?:{words})$", re.IGNORECASE) for name, words in _WORDS.items()}


def scale_of(example: Example) -> str:
    """The scale of an example's answers, from its context or its meta; "" where it has none."""
    if example.context is not None and example.context.scale:
        return example.context.scale
    scale = example.meta.get("scale")
    return scale if isinstance(scale, str) else ""


def with_scale(context: Context | None, scale: str) -> Context | None:
    """The context of an example with its scale, as a model reads it; None where there is neither."""
    if not scale:
        return context
    from .examples import Context

    return replace(context or Context(), scale=scale)


def compare_scaled(predicted: Sequence[str], gold: Sequence[str], scale: str = "") -> Comparison:
    """`data.answers.compare`, by which an answer may also say the scale of the gold answers, or be multiplied out."""
    plain = compare(predicted, gold)
    name = scale.strip().lower()
    if plain.equal or name not in FACTORS:
        return plain
    without = [_ENDS[name].sub("", text.strip()) for text in predicted]
    multiplied = ([_times(text, FACTORS[name]) for text in form] for form in accepted(gold))
    if compare(without, gold).equal or any(compare(predicted, form).equal for form in multiplied):
        return Comparison(True, "form")
    return plain


def _times(text: str, factor: Decimal) -> str:
    number = number_of(text)
    return text if number is None else f"{number.value * factor:f}"
