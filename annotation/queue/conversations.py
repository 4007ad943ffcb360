"""Many conversations with one language model: in parallel up to its cap, and no longer than its replies are usable.

    for record in results_per_item(model, ask, items):  # ask(item) gives ConversationResult, or raises ChatError
        ...

Needs no database; `ask` runs in threads. Answers that are under way when a job stops are paid for, so they are still given.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.utils.translation import gettext

from annotation.queue.parallel_requests import Crew
from predictor.chat import ChatModel

Item = TypeVar("Item")
Record = TypeVar("Record")


class TooManyUnusable(Exception):
    """A language model gave too many unusable replies in a row that no more are requested."""


class UnusableReplies:
    """The unusable replies of a language model in a row. May be used by several threads.

    After `stop_after` of them the model is not asked any more. Replies that were under way do not change that.
    """

    def __init__(self, model: str, stop_after: int) -> None:
        self.model, self.stop_after = model, stop_after
        self._reasons: deque[str] = deque(maxlen=stop_after)

    def count(self, reason: str) -> None:
        """Count a reply: why it is unusable, or "" for a usable one, which ends the row."""
        if self.is_stopped:
            return
        if reason:
            self._reasons.append(reason)
        else:
            self._reasons.clear()

    @property
    def is_stopped(self) -> bool:
        """Whether the model is not asked any more."""
        return len(self._reasons) == self.stop_after

    @property
    def reason(self) -> str:
        """Why the last reply is unusable; "" for a usable one."""
        return self._reasons[-1] if self._reasons else ""

    def require_few(self) -> None:
        """Raise TooManyUnusable after `stop_after` of them."""
        if self.is_stopped:
            message = gettext("{model} gave {number} unusable replies in a row. The last one: {error}")
            raise TooManyUnusable(message.format(model=self.model, number=self.stop_after, error=self.reason))


@dataclass(frozen=True)
class ConversationResult(Generic[Record]):
    """What a conversation gave. `unusable` is the reason, "" for a usable reply."""

    record: Record
    unusable: str = ""


def results_per_item(
    model: ChatModel, ask: Callable[[Item], ConversationResult[Record]], items: Iterable[Item]
) -> Iterator[Record]:
    """What `ask` gives for each item, in order, with at most `model.at_once` requests at a time.

    Raises ChatError where the endpoint gives nothing or a budget is used up, and TooManyUnusable: both after every
    answer that was under way.
    """
    unusable = UnusableReplies(model.model, model.stop_after)

    def open_items() -> Iterator[Item]:
        for item in items:
            if unusable.is_stopped:
                return
            yield item

    for answer in Crew(model.at_once).map(ask, open_items()):
        unusable.count(answer.unusable)
        yield answer.record
    unusable.require_few()
