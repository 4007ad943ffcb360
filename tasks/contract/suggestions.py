"""Task types that suggest something to the annotator."""

from abc import abstractmethod
from typing import Any, Literal

from tasks.contract.items import Context, Item
from tasks.contract.task_type import TaskType


class SuggestingTask(TaskType):
    """Suggestions for the annotator, requested after the item is on screen.

    Use it to show candidates, hints or the verdict of a rule beside the form. `needs` lists the resources of the platform
    that `suggest` receives. Override `suggests` if a batch can switch them off.
    """

    @abstractmethod
    def suggest(self, item: Item, context: Context) -> dict[str, Any] | None:
        """Suggestions for the page (JSON), or None if there are none."""

    def suggests(self, item: Item) -> Literal["before", ""]:
        return "before"
