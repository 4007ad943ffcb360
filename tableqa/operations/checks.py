"""The error of this package, and the checks that operations make of themselves: a browser's word is never taken."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from tableqa.core.foreign_values import unstorable
from tableqa.core.translation import gettext
from tableqa.data.tables import MAX_TEXT, is_id

Code = Literal["stale_base", "unknown_row", "unknown_column", "duplicate_id", "bad_operation"]


class OperationError(ValueError):
    """An operation that cannot be read or replayed.

    code     stale_base (the table holds another text than `old` says), unknown_row, unknown_column, duplicate_id,
             bad_operation (the operation itself is not well formed)
    message  what is wrong, for people
    index    the operation's place in its list, counted from 0, where it came in one
    """

    def __init__(self, code: Code, message: str, index: int | None = None) -> None:
        super().__init__(message if index is None else f"operation {index + 1}: {message}")
        self.code: Code = code
        self.message = message
        self.index = index

    def at(self, index: int) -> "OperationError":
        """The same error, said of the operation at `index`."""
        return OperationError(self.code, self.message, index)


def bad_operation_error(message: str) -> OperationError:
    """An operation that is not well formed."""
    return OperationError("bad_operation", message)


def stale_base_error(what: str, actual: object, expected: object) -> OperationError:
    """An operation that was made for another table."""
    return OperationError(
        "stale_base",
        gettext(
            "{what} contains {short}, but the operation expects {short_2}; start again from this table"
        ).format(what=what, short=short(actual), short_2=short(expected)),
    )


def short(value: object) -> str:
    """A value as it is shown in a message."""
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 80 else text[:79] + "…"


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {
        dict: "an object",
        list: "a list",
        str: "a string",
        int: "a number",
        float: "a number",
        bool: "true or false",
    }
    return "null" if value is None else names.get(type(value), type(value).__name__)


def fields_of(
    data: object, op: str, required: Collection[str], optional: Collection[str] = ()
) -> dict[str, Any]:
    """The fields of an operation without its name; both too few and too many are refused."""
    what = op or "a column of into"
    if not isinstance(data, Mapping):
        raise bad_operation_error(f"{what} is an object, not {kind_of(data)}")
    fields = dict(data)
    if op and fields.pop("op", None) != op:
        raise bad_operation_error(f"this is not a {op}")
    if missing := [name for name in required if name not in fields]:
        raise bad_operation_error(f"{what} lacks {', '.join(missing)}")
    if unknown := [name for name in fields if name not in required and name not in optional]:
        raise bad_operation_error(
            f"{what} has no field {short(unknown[0])}; it has {', '.join([*required, *optional]) or 'none'}"
        )
    return fields


def set_frozen_field(operation: object, name: str, value: object) -> None:
    """Give a field of a frozen dataclass its final form while it is being made."""
    object.__setattr__(operation, name, value)


def check_id(value: object, name: str, optional: bool = False) -> None:
    """Refuse what cannot be an id; None too, unless it is `optional`."""
    if not is_id(value) and not (optional and value is None):
        raise bad_operation_error(
            f"{name} is the id of a row or column, such as r3, c2 or n1, not {short(value)}"
        )


def check_text(value: object, name: str) -> None:
    """Refuse what cannot be the text of a cell: other types, too many characters, characters that no database holds."""
    if not isinstance(value, str):
        raise bad_operation_error(f"{name} is a string, not {kind_of(value)}")
    if len(value) > MAX_TEXT:
        raise bad_operation_error(f"{name} has {len(value):,} characters; a cell takes {MAX_TEXT:,}")
    if ("\0" in value or not value.isascii()) and (reason := unstorable(value)):
        raise bad_operation_error(f"{name} contains {reason}")


def check_texts(values: object, name: str, at_most: int) -> tuple[str, ...]:
    """The texts as a tuple; anything but a list of at most `at_most` texts of cells is refused."""
    if not isinstance(values, list | tuple):
        raise bad_operation_error(f"{name} is a list of strings, not {kind_of(values)}")
    if len(values) > at_most:
        raise bad_operation_error(f"{name} has {len(values):,} cells; at most {at_most:,} are taken")
    for value in values:
        check_text(value, f"a cell of {name}")
    return tuple(values)


def check_place(value: object) -> None:
    """Refuse what is not a place counted from 0; None is allowed."""
    if value is not None and (type(value) is not int or value < 0):
        raise bad_operation_error(f"at is a place counted from 0, not {short(value)}")


def check_cell_place(value: object) -> tuple[int, int] | None:
    """The [row, column] place as a tuple; None is allowed."""
    if value is None:
        return None
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise bad_operation_error(f"at is a place [row, column] counted from 0, not {short(value)}")
    check_place(value[0] if value[0] is not None else "null")
    check_place(value[1] if value[1] is not None else "null")
    return value[0], value[1]


def check_number(values: Sequence[str], expected: int, what: str, of: str) -> None:
    """Refuse too few or too many texts for a table."""
    if len(values) != expected:
        raise bad_operation_error(f"there are {len(values)} {what} for {expected} {of}")


def check_not_itself(name: str, after: str | None, kind: str) -> None:
    """Refuse to put something after itself."""
    if name == after:
        raise bad_operation_error(f"the {kind} {name} cannot be put after itself")
