"""Requests to models in parallel, with everything that touches the database in the thread of the job.

    crew = Crew(at_once=4)
    for answer in crew.map(ask, items):      # ask runs in threads; items and answers belong to this thread
        ...
    crew.here(function, *args)               # called within ask: runs the function in the thread of the job

One connection to the database is enough, and a test or a transaction sees what it has written itself.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_Call = tuple[Callable[..., Any], tuple[Any, ...], Future[Any]]


@dataclass
class Crew:
    """At most `at_once` requests at a time; with 1 they run in the calling thread."""

    at_once: int = 1
    _owner: int = field(default_factory=threading.get_ident)
    _calls: queue.SimpleQueue[_Call | None] = field(default_factory=queue.SimpleQueue)

    def here(self, function: Callable[..., Result], *args: Any) -> Result:
        """Run a function in the thread that made this crew. Raises what it raises.

        A crew of one has no threads to serve: the gateway prepares a question in one thread and concludes it in another.
        """
        if self.at_once == 1 or threading.get_ident() == self._owner:
            return function(*args)
        future: Future[Result] = Future()
        self._calls.put((function, args, future))
        return future.result()

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """The results in the order of the items. An item is taken when a thread is free, and not before.

        After an exception no further item begins. It is raised after the results of those under way: they are paid for.
        """
        if self.at_once == 1:
            yield from map(work, items)
            return
        remaining, pending = iter(items), deque[Future[Result]]()
        problem: BaseException | None = None
        with ThreadPoolExecutor(self.at_once) as threads:
            try:
                while True:
                    try:
                        if problem is None:
                            self._begin(work, remaining, pending, threads)
                        if not pending:
                            break
                        self._serve_until(pending[0])
                    except (Exception, KeyboardInterrupt) as error:
                        if problem is not None:
                            raise
                        problem = error
                        continue
                    future = pending.popleft()
                    if (failure := future.exception()) is None:
                        yield future.result()
                    problem = problem or failure
                if problem is not None:
                    raise problem
            finally:
                for future in pending:
                    if not future.cancel():
                        self._serve_until(future)

    def _begin(
        self,
        work: Callable[[Item], Result],
        remaining: Iterator[Item],
        pending: deque[Future[Result]],
        threads: ThreadPoolExecutor,
    ) -> None:
        while sum(not future.done() for future in pending) < self.at_once and len(pending) < 4 * self.at_once:
            try:
                item = next(remaining)
            except StopIteration:
                return
            future = threads.submit(work, item)
            pending.append(future)
            future.add_done_callback(lambda _: self._calls.put(None))

    def _serve_until(self, future: Future[Result]) -> None:
        """Run what the threads ask for until one of them is done."""
        while not future.done():
            call = self._calls.get()
            if call is None:
                continue
            function, args, answer = call
            try:
                answer.set_result(function(*args))
            except BaseException as error:
                answer.set_exception(error)
                if not isinstance(error, Exception):
                    raise
