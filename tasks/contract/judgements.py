"""Task types whose responses are compared: labels, scores, sets and answers of several people."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from tasks.contract.items import Item
from tasks.contract.task_type import TaskType


class JudgingTask(TaskType):
    """Responses are compared, and an item gets one decision.

    Use it for labels, ratings, marked cells and answers. Three people annotate each item by default.
    """

    making: ClassVar[bool] = False


class AnsweringTask(JudgingTask):
    """People give the answer to the example without seeing the given one.

    Use it to check examples: an accepted response that gives another answer, or excludes the example, keeps the example out
    of benchmark files.
    """

    says_gold: ClassVar[bool] = True

    @abstractmethod
    def gold(self, response: Any, item: Item) -> Sequence[str] | None:
        """The right answer to the example, as an accepted response gives it; None if it gives none."""
