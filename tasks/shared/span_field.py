"""A declared field of spans: passages of a text of the item, each with a label."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from tableqa.core.translation import gettext
from tableqa.data.own_columns import PREFIX, column_text
from tasks.contract import Item, Measure, Problem
from tasks.shared.form_fields import Question, Read

Span = tuple[int, int, str]
"""(start, end, label): the characters from start up to end, as Unicode code points; the label is one of the options."""
MOST_SPANS = 500


@dataclass(frozen=True, kw_only=True)
class Spans(Question):
    """Labelled passages of the text that `source` names: "question", "context" or an own column (meta.NAME).

    Passages with the same label do not overlap; those with different labels may.
    """

    kind: Literal["json"] = "json"
    source: str = "question"
    template = "fields/_spans.html"
    empty = ()

    @property
    def part(self) -> str:
        """The part of the item that has the text, as the page names it."""
        return "meta" if self.source.startswith(PREFIX) else self.source

    def text_of(self, item: Item) -> str:
        """The text in which passages are marked."""
        if self.source.startswith(PREFIX):
            return column_text(item.example.meta, self.source)
        if self.source == "context":
            return item.example.context.text if item.example.context else ""
        return item.example.question

    def read(self, value: object, item: Item) -> Read:
        if value is None:
            return (), []
        length = len(self.text_of(item))
        if not isinstance(value, list | tuple) or len(value) > MOST_SPANS:
            return (), [self._wrong(gettext("Passages must be a list of [start, end, label]."))]
        spans: set[Span] = set()
        for part in value:
            if not (isinstance(part, list | tuple) and len(part) == 3):
                return (), [self._wrong(gettext("Passages must be a list of [start, end, label]."))]
            start, end, label = part
            is_inside = type(start) is int and type(end) is int and 0 <= start < end <= length
            if not is_inside or label not in self.values:
                message = gettext("The text of {length} characters has no such passage: {passage}.")
                return (), [self._wrong(message.format(length=length, passage=str(list(part))[:80]))]
            spans.add((start, end, label))
        ordered = tuple(sorted(spans))
        if any(overlap(first, second) for first in ordered for second in ordered if first < second):
            return (), [self._wrong(gettext("Passages with the same label overlap. Remove one."))]
        return ordered, []

    def _wrong(self, message: str) -> Problem:
        return Problem(self.name, "wrong_passage", message)

    def words_of(self, value: Sequence[Span], item: Item) -> list[str]:
        """Each passage in words: "Ada Lovelace (Person)"."""
        text = self.text_of(item)
        return [f"{text[start:end]} ({gettext(self.option(label).title)})" for start, end, label in value]

    def label_of(self, value: Sequence[Span]) -> str:
        return ", ".join(gettext(self.option(label).title) for _, _, label in value)

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]) -> Any:
        text = self.text_of(item)
        tokens = [token for token in text.split() if text.count(token) == 1]
        if not tokens:
            return []
        right, other = (
            (generator.choice(tokens), generator.choice(self.values)) for generator in (truth, rng)
        )
        word, label = right if rng.random() < accuracy else other
        return [[text.index(word), text.index(word) + len(word), label]]

    def schema(self) -> dict[str, Any]:
        span = [{"type": "integer"}, {"type": "integer"}, {"enum": list(self.values)}]
        return {
            "type": "array",
            "items": {"type": "array", "prefixItems": span, "minItems": 3, "maxItems": 3},
        }

    def measure(self) -> Measure:
        """Agreement on the labelled characters: two people who mark the same passage but for a word agree in part."""
        statistics = ("krippendorff_alpha_jaccard", "krippendorff_alpha_masi")
        return Measure(self.name, "sets", self.characters_in, statistics=statistics)

    def characters_in(self, response: Any) -> frozenset[Any] | None:
        """The characters with their labels, (position, label), of all passages; None where the field is not asked."""
        spans = getattr(response, self.name)
        characters = ((position, label) for start, end, label in spans for position in range(start, end))
        return None if self.when is not None and not spans else frozenset(characters)


def overlap(first: Span, second: Span) -> bool:
    """Whether two passages have the same label and a character in common."""
    return first[2] == second[2] and first[0] < second[1] and second[0] < first[1]


def spans_of(characters: Any) -> tuple[Span, ...]:
    """The passages that labelled characters make: neighbours with one label are one passage."""
    spans: list[Span] = []
    for position, label in sorted(characters, key=lambda character: (character[1], character[0])):
        if spans and spans[-1][2] == label and spans[-1][1] == position:
            spans[-1] = (spans[-1][0], position + 1, label)
        else:
            spans.append((position, position + 1, label))
    return tuple(sorted(spans))
