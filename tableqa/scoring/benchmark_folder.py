"""The runnable benchmark in the folder of a release: its items and prompts, what is right, and the figures of a run.

    benchmark = BenchmarkFolder(Path("harness"))
    items = benchmark.select(kind="transpose")              with the items that they are compared with, each once
    benchmark.is_right(item, reply)                         by the rule of `facts.json`, or another rule of `MATCHES`
    benchmark.values({key_of(item): True, ...}, "transpose")   {"accuracy": 0.71, "accuracy_low": 0.6, "emd": -0.1, ...}

Releases contain a copy of this module and of all that it imports; it needs the standard library alone.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..data.answers import alternatives_of, is_month_first, with_alternatives
from .matching import MATCHES, ORIGINAL, GeneratedText, Instance, Match
from .pairs import Pair, figures_of
from .replies import final_reply, read_answers

FACTS = "facts.json"
ONE_ANSWER, SEVERAL_ANSWERS, DEMONSTRATIONS = (
    "items/one_answer.jsonl",
    "items/several_answers.jsonl",
    "items/demonstrations.jsonl",
)
SEPARATOR = "|"
"""Between the answers of a plain reply."""

Item = Mapping[str, Any]
"""A line of `ONE_ANSWER` or `SEVERAL_ANSWERS`: the fields of `Instance` that are set, and `prompt`."""
Key = tuple[str, str]
"""(source, id) of an item."""


def key_of(item: Item) -> Key:
    """What identifies an item in its release."""
    return item["source"], item["id"]


_IDENTITY = ("source", "id", "question", "kind", "seed", "baseline")
_OPTIONAL = ("scale", "answer_type")


def instance_of(item: Item) -> Instance:
    """An item as `MATCHES` takes it."""
    answers = with_alternatives(item["answers"], item.get("alternatives", ()), item.get("month_first", False))
    fields = {name: item[name] for name in (*_IDENTITY, *_OPTIONAL) if name in item}
    return Instance(**fields, answers=answers)


def item_of(instance: Instance) -> dict[str, Any]:
    """The inverse of `instance_of`, without a prompt."""
    answers = instance.answers
    optional = {name: getattr(instance, name) for name in _OPTIONAL}
    optional |= {
        "alternatives": list(map(list, alternatives_of(answers))),
        "month_first": is_month_first(answers),
    }
    return {
        **{name: getattr(instance, name) for name in _IDENTITY},
        "answers": list(answers),
        **{name: value for name, value in optional.items() if value},
    }


def _separated(reply: str) -> tuple[str, ...]:
    """The answers in a reply of plain text; one without separator may stand for several with ", " between them."""
    final = (final_reply(reply) or "").strip()
    parts = [part.strip() for part in final.split(SEPARATOR)]
    return GeneratedText(parts) if len(parts) == 1 and final else tuple(filter(None, parts))


ANSWERS: Mapping[str, Callable[[str], tuple[str, ...]]] = {
    "json": lambda reply: tuple(read_answers(reply) or ()),
    "plain": _separated,
}
"""How the answers are read from a reply, for each prompt design. A reply without answers gives ()."""
TARGETS: Mapping[str, Callable[[list[str]], str]] = {
    "json": lambda answers: json.dumps({"answers": answers}, ensure_ascii=False),
    "plain": SEPARATOR.join,
}
"""The reply that a prompt design asks for, with these answers."""


class BenchmarkFolder:
    """Facts, items and demonstrations of a release.

    facts           {"name", "rules", "match", "design", "instructions": {design: text}, "kinds", "sources"}
    items           by key; what others are compared with comes before them
    demonstrations  solved items of a named split, none of which is in `items`
    """

    def __init__(self, folder: Path) -> None:
        self.facts: dict[str, Any] = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        lines = [*_lines(folder / ONE_ANSWER), *_lines(folder / SEVERAL_ANSWERS)]
        order = {kind: position for position, kind in enumerate(self.facts["kinds"])}
        ordered = sorted(lines, key=lambda item: (item["source"], item["question"], order[item["kind"]]))
        self.items: dict[Key, Item] = {key_of(item): item for item in ordered}
        self.demonstrations = _lines(folder / DEMONSTRATIONS)

    def select(self, kind: str = "", source: str = "") -> list[Item]:
        """The items of a kind and a source, each after the item that it is compared with. ValueError if there is none."""
        for name, value, allowed in (("kind", kind, "kinds"), ("source", source, "sources")):
            if value and value not in self.facts[allowed]:
                raise ValueError(
                    f"There is no {name} {value!r}. Available: {', '.join(self.facts[allowed])}."
                )
        selected: dict[Key, Item] = {}
        for item in self.items.values():
            if kind in ("", item["kind"]) and source in ("", item["source"]):
                baseline = self.items[item["source"], item["baseline"]]
                selected.setdefault(key_of(baseline), baseline)
                selected.setdefault(key_of(item), item)
        return list(selected.values())

    def shots(self, count: int, seed: int = 0) -> list[Item]:
        """As many demonstrations, drawn with a seed. ValueError if the release has fewer: test items are never used."""
        if count > len(self.demonstrations):
            raise ValueError(
                f"{count} demonstrations were requested, but this release has {len(self.demonstrations)}."
            )
        return random.Random(seed).sample(self.demonstrations, count)

    def instruction(self, design: str = "") -> str:
        """What precedes the prompt of every item."""
        return str(self.facts["instructions"][design or self.facts["design"]])

    def target(self, item: Item, design: str = "") -> str:
        """The gold answers as a reply."""
        return TARGETS[design or self.facts["design"]](item["answers"])

    def is_right(self, item: Item, reply: str, design: str = "", match: Match | str = "") -> bool:
        """Whether a reply is right."""
        answers = ANSWERS[design or self.facts["design"]](reply)
        score = MATCHES[match or self.facts["match"]](answers, instance_of(item))  # type: ignore[index]
        return score if isinstance(score, bool) else score.em

    def values(self, right: Mapping[Key, bool], kind: str, source: str = "") -> dict[str, float]:
        """The metrics of a kind that are defined, over all sources or in one.

        Items without a result, or compared with one that has none, are left out.
        """
        pairs: dict[str, dict[str, list[Pair]]] = {}
        for key, is_right in right.items():
            item = self.items[key]
            before = right.get((item["source"], item["baseline"]))
            if item["kind"] == kind and source in ("", item["source"]) and before is not None:
                pairs.setdefault(item["source"], {}).setdefault(item["question"], []).append(
                    (before, is_right)
                )
        figures = figures_of(pairs)
        values = {
            f"{name}{end}": getattr(figures[figure], field)
            for name, figure in ABOVE_OF.items()
            for end, field in ENDS.items()
        }
        return {name: value for name in metrics_of(kind) if (value := values[name]) is not None}


ENDS: Mapping[str, str] = {"": "value", "_low": "low", "_high": "high"}
"""The ends of names of metrics, and the field of `PairedFigure` that they are."""
ABOVE_OF: Mapping[str, str] = {
    "accuracy": "after",
    "accuracy_before": "before",
    "emd": "emd",
    "vp": "vp",
    "r_acc": "r_acc",
}
"""The names of metrics, and the figures of `pairs.ABOVE` that they are."""


def metrics_of(kind: str) -> list[str]:
    """The names of the metrics of a kind: originals have an accuracy, others the figures of pairs, too."""
    return [f"{name}{end}" for name in (list(ABOVE_OF)[:1] if kind == ORIGINAL else ABOVE_OF) for end in ENDS]


def _lines(path: Path) -> list[Item]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
