"""How the responses to an item become a decision: what the decision rules ask of a task type."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from tableqa.core import translation
from tasks.contract.figures import Measure
from tasks.contract.items import Item
from tasks.contract.resolutions import Nature, Resolution
from tasks.contract.responses import PerturbedExample


class DecisionMethods(ABC):
    """What `tasks.contract.decision_rules` and agreement ask of a task type. Every task type has this part.

    A task type names the form of its responses (`compares`) and its default rule (`rule`); a batch may choose another
    rule that fits. `rule_settings` maps options of the rule to settings of a batch. `excludes` maps words (`word`) that
    exclude an item from releases to the reason. Which methods a rule needs: `mean` and `gap` need `scores` and `merged`;
    `set_overlap` needs `members` and `merged`; `given` needs `compare_to_gold` and `merged`. A task type without a rule
    overrides `resolve`. Agreement is computed on `measures`.
    """

    key: ClassVar[str]
    measures: ClassVar[tuple[Measure, ...]] = ()
    compares: ClassVar[Nature | Literal[""]] = ""
    rule: ClassVar[Mapping[str, Any]] = {}
    rule_settings: ClassVar[Mapping[str, str]] = {}
    excludes: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def resolve(self, responses: Sequence[Any], item: Item) -> Resolution:
        """Decide from the responses of one item, or say who should look next. Order must not matter."""

    def word(self, response: Any) -> str:
        """A label; or, of a response that does not do what is asked, what it says instead ("unanswerable"), else ""."""
        return ""

    def measure_text(self, name: str) -> str:
        """The name of a measure as pages show it: by default a word of the catalogue."""
        return name

    def label_text(self, measure: str, label: str) -> str:
        """A label of a measure, likewise."""
        return label

    def reason_text(self, word: str) -> str:
        """A label, or the name of a dimension, in the reason of a decision, likewise."""
        return translation.word(word)

    def alike(self, response: Any, item: Item) -> Hashable:
        """Beyond their word, what two responses have in common that come to the same.

        By default what they do to the example: its table and its answers afterwards; for scores and sets, these.
        """
        if self.compares == "scales":
            return tuple(sorted(self.scores(response).items()))
        if self.compares == "sets":
            return self.members(response)
        perturbed = self.perturb(item, response)
        return None if perturbed is None else (perturbed.example.table.digest(), perturbed.example.answers)

    def scores(self, response: Any) -> Mapping[str, int | float | None]:
        """What a response of scores says on each dimension; None where it says nothing."""
        raise NotImplementedError(f"{self.key} has no scores")

    def members(self, response: Any) -> frozenset[Hashable]:
        """What a response of a set names."""
        raise NotImplementedError(f"{self.key} names no set")

    def member_title(self, member: Any) -> str:
        """A member in words, for the reason why nothing is decided; "" where there are none for it."""
        return ""

    def compare_to_gold(self, response: Any, item: Item) -> tuple[Literal["equal", "slip", "other"], str]:
        """How an answer is to the given one, and the difference by its name; "" where there is none."""
        raise NotImplementedError(f"{self.key} gives no answer")

    def merged(self, responses: Sequence[Any], item: Item, consensus: Any) -> Any:
        """The one response in place of several: `consensus` are the means by dimension, the members, or nothing."""
        raise NotImplementedError(f"{self.key} merges no responses")

    def merge_equal(self, responses: Sequence[Any], first: Any, item: Item) -> Any:
        """The accepted response of people with the same label or edit: by default the first of them, word for word."""
        return first

    def perturb(self, item: Item, response: Any) -> PerturbedExample | None:
        """The perturbed example that an accepted response makes; None for a task type that only judges."""
        return None
