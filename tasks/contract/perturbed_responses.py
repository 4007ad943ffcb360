"""Task types whose responses are results of their own: edited tables and rewritten questions."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tableqa.operations import OPERATIONS, Operation
from tasks.contract.items import Item
from tasks.contract.responses import PerturbedExample
from tasks.contract.task_type import Step, TaskType

CONTRACT_SETTING: Mapping[str, Any] = {
    "type": "object",
    "title": "Contract",
    "description": "Changes to the default contract, as JSON: at_most (a number or null), more_with_reason, "
    'cell_format ("warn", "require", "ignore"), table ("differs", "any"), allowed (a list of operations, only fewer, '
    'at least one), protected (a list of [row, column]). Such as {"at_most": 1}.',
    "properties": {
        "table": {"enum": ["differs", "any"]},
        "at_most": {"type": ["integer", "null"], "minimum": 0},
        "more_with_reason": {"type": "boolean"},
        "allowed": {"type": "array", "items": {"enum": list(OPERATIONS)}},
        "protected": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
        },
        "cell_format": {"enum": ["warn", "require", "ignore"]},
    },
    "additionalProperties": False,
    "examples": [{"at_most": 1}],
}
"""The setting `contract` of a task type that edits: what a batch may ask for instead of its own terms."""


FormEdit = Callable[[Mapping[str, str], Item, list[Operation]], list[Operation]]
"""From a form post and the operations of a draft to the operations after it. Raises OperationError."""


class MakingTask(TaskType):
    """Each response that meets its contract is accepted and makes a perturbed example (`perturb`).

    Use it for edits of the table or the question. One person annotates each item by default. `contract` states what must
    hold for an edit, and `CONTRACT_SETTING` is the setting with which a batch changes its terms.
    """

    making: ClassVar[bool] = True
    step: ClassVar[Step] = "edit"

    @abstractmethod
    def perturb(self, item: Item, response: Any) -> PerturbedExample | None:
        """The perturbed example that an accepted response makes; None if it makes none ("unanswerable")."""

    def preview(self, data: object, item: Item) -> dict[str, Any] | None:
        """Old and new answer for the page while a draft is written; None if the task type has no answer."""
        return None

    def form_edits(self) -> Mapping[str, FormEdit]:
        """What buttons of its own do to the operations of a draft in a form without scripts, by their action."""
        return {}
