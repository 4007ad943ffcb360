"""Items of the explorer as the examples of a new batch."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import ngettext

from annotation.access.visibility import Fact
from annotation.explorer.item_access import Reader
from annotation.models import Decision, Example, Item, Outcome, Source
from annotation.platform.display_text import grouped
from annotation.queue import sampling
from tasks.contract import TaskType


@dataclass(frozen=True)
class ChosenExamples:
    """The examples of some items, as the form of a new batch names them.

    only      ids in their sources, in the order of the items
    of        their kind, of `sampling.example_kinds`
    decided   how many of them a decision about the item made; the others are what the item itself showed
    left_out  how many items have no example that the task type takes, or one with the id of another
    """

    sources: tuple[Source, ...]
    only: tuple[str, ...]
    of: str
    decided: int
    left_out: int

    def in_words(self) -> str:
        """What the form begins with, as sentences."""
        count = len(self.only)
        selected = ngettext(
            "{number} example is selected. See Sampling.",
            "{number} examples are selected. See Sampling.",
            count,
        )
        decided = ngettext(
            "{number} of them is the result of a decision.",
            "{number} of them are results of decisions.",
            self.decided,
        )
        left_out = ngettext(
            "{number} item is left out: this task type does not take its example.",
            "{number} items are left out: this task type does not take their examples.",
            self.left_out,
        )
        further = [(words, n) for words, n in ((decided, self.decided), (left_out, self.left_out)) if n]
        return " ".join(words.format(number=grouped(n)) for words, n in ((selected, count), *further))


def examples_of(who: Reader, keys: Sequence[int], task: TaskType) -> ChosenExamples:
    """The examples of these items that a batch of the task type can be about.

    Of an accepted item, the example that its decision made comes first where the task type takes perturbed ones; else the
    example that the item showed. All are of one kind: the first of `sampling.example_kinds` that any of them is of.
    """
    options = _options(who, keys)
    kinds = _kinds({key for several in options.values() for key, _ in several}, task)
    of = next((name for name in sampling.example_kinds(task) if name in set(kinds.values())), task.of[0])
    picked: dict[int, bool] = {}
    for several in options.values():
        fitting = [(key, is_made) for key, is_made in several if kinds.get(key) == of]
        if fitting:
            key, is_made = fitting[0]
            picked.setdefault(key, is_made)
    rows = Example.objects.in_bulk(picked)
    named = {rows[key].external_id: key for key in reversed(picked)}
    chosen = [key for key in picked if named[rows[key].external_id] == key]
    sources = Source.objects.filter(pk__in={rows[key].source_id for key in chosen}).order_by("name", "pk")
    return ChosenExamples(
        sources=tuple(sources),
        only=tuple(rows[key].external_id for key in chosen),
        of=of,
        decided=sum(picked[key] for key in chosen),
        left_out=len(keys) - len(chosen),
    )


def _options(who: Reader, keys: Sequence[int]) -> dict[int, list[tuple[int, bool]]]:
    """By item (key), the examples (keys) that it can represent, and whether its decision made them."""
    options: dict[int, list[tuple[int, bool]]] = {key: [] for key in keys}
    accepted = Outcome.objects.filter(
        who.sight.condition(Fact.RESPONSES, "decision__item__"),
        decision__item__in=keys,
        decision__kind=Decision.Kind.ACCEPTED,
        example__isnull=False,
    )
    for item, example in accepted.order_by("decision_id", "number").values_list(
        "decision__item_id", "example_id"
    ):
        options[item].append((example, True))
    own_examples = dict(Item.objects.filter(pk__in=keys).values_list("pk", "example_id"))
    for key in keys:
        options[key].append((own_examples[key], False))
    return options


def _kinds(examples: set[int], task: TaskType) -> dict[int, str]:
    """The kind of each example (key) that the task type takes."""
    usable = Example.objects.usable().filter(pk__in=examples)
    return {
        key: name
        for name in sampling.example_kinds(task)
        for key in sampling.OF[name](usable).values_list("pk", flat=True)
    }
