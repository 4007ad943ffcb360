"""Task types that look at an example before it becomes an item."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tableqa import Example
from tasks.contract.items import PreparedInputs, Surroundings
from tasks.contract.task_type import TaskType


@dataclass(frozen=True)
class ModelQuery:
    """What a kind has a model asked about an example in the background, under a name (`ask_model --purpose NAME`).

    request  the text to send, with how many rows of the table it shows; None: the example's own question
    read     what is kept of a reply, and comes back as `Surroundings.model_answers[purpose]`; None keeps its answers
    holds    the part of what is kept that is empty where a reply holds nothing of what was asked for
    several  several answers at a temperature above 0 are wanted: `samples`, a list of answers for each
    points   a model that answers questions by pointing at cells will do as well: `cells`, [[row id, column id], ...]
    """

    purpose: str
    request: Callable[[Example], tuple[str, int]] | None = None
    read: Callable[[str, Example], Mapping[str, Any]] | None = None
    several: bool = False
    points: bool = False
    holds: str = "answers"


class PreparingTask(TaskType):
    """Looks at each example before it becomes an item, and freezes what the item needs.

    Use it to leave examples out, to rank them, or to show something beside the example.

    asks        what models are asked about examples in the background
    favourites  False if `prepare` has no preferences: then only the required number of examples is examined
    """

    asks: ClassVar[tuple[ModelQuery, ...]] = ()
    favourites: ClassVar[bool] = True

    @abstractmethod
    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs | None:
        """What a new item freezes beside this example, or None if the example makes no item."""

    def together(
        self, prepared: Sequence[PreparedInputs], settings: Mapping[str, Any]
    ) -> Sequence[PreparedInputs | None]:
        """One for each of these, with all that are prepared with it in view (ranks, say); None leaves one out."""
        return prepared
