"""What was made from something that never changes, kept in the process for a while."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """The things asked for last, up to a total size; what alone is larger than an eighth of it is not kept.

    Keys must name one content for ever, such as a digest: nothing here is ever made anew.
    """

    def __init__(self, most: int, size: Callable[[T], int]) -> None:
        self.most = most
        self.size = size
        self._found: OrderedDict[str, T] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = make()
        size = self.size(made)
        if size <= self.most // 8:
            with self._lock:
                if key not in self._found:
                    self._found[key] = made
                    self._total += size
                    while self._total > self.most:
                        self._total -= self.size(self._found.popitem(last=False)[1])
        return made
