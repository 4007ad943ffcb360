"""Replay: the one way from a base table to an edited one."""

from collections.abc import Iterable
from functools import lru_cache

from tableqa.operations.checks import OperationError
from tableqa.operations.kinds import Operation
from tableqa.operations.sheet import Sheet
from tableqa.tables import Table


def replay(table: Table, operations: Iterable[Operation]) -> Table:
    """The table that `operations`, done in order, make of `table`; the same input gives the same output.

    Title, caption and ids stay. A merged cell stays merged as long as what is left of it hangs together; one that a new
    or moved row or column parts is taken apart (its text stays where it was). Raises OperationError with the index of
    the first operation that cannot be done.
    """
    return _replay(table, tuple(operations))


@lru_cache(maxsize=2)  # a response and its net list are replayed for the page, warnings and preview
def _replay(table: Table, operations: tuple[Operation, ...]) -> Table:
    sheet = Sheet(table)
    changed = False
    for index, operation in enumerate(operations):
        changed = True
        try:
            operation.apply(sheet)
        except OperationError as error:
            raise error.at(index) from None
    return sheet.table() if changed else table
