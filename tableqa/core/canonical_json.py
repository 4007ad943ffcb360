"""JSON values as this project stores, compares and signs them: one spelling for one value, and no hidden changes.

Two things live here because they must agree. `canonical` gives the one text of a JSON value, so that equal values
have equal digests on every platform and Python; `freeze` gives the one immutable form of a JSON value, so that
the value whose digest was taken cannot change afterwards.
"""

import hashlib
import json
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn


def canonical(value: object) -> str:
    """The canonical JSON text of `value`: keys sorted by code point, no blanks, characters written as themselves.

    Floats are written as Python's shortest repr, which is the same on every platform. Raises ValueError for NaN and
    the infinities (JSON has no word for them) and TypeError for what JSON cannot hold, keys other than strings
    included: json.dumps would write the key 1 as "1" and two different values would share a digest.
    """
    if type(value) is SharedObject:
        return value.text
    if type(value) is dict and any(type(inner) is SharedObject for inner in value.values()):
        _refuse_other_keys(dict.fromkeys(value))
        return "{" + ",".join(f"{_ENCODE(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    _refuse_other_keys(value)
    return _ENCODE(value)


_ENCODE = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,  # what holds itself has failed before: `_refuse_other_keys` goes all the way down
).encode


def _refuse_other_keys(value: object) -> None:
    # Most values are texts and plain dicts and lists, by the million: these are recognised without abc.
    if isinstance(value, dict) or (type(value) not in _SIMPLE and isinstance(value, Mapping)):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} of a JSON object is not a string")
            if type(inner) not in _SCALARS:
                _refuse_other_keys(inner)
    elif isinstance(value, list | tuple) and not (types := set(map(type, value))) <= _SCALARS:
        # The rows of a table are looked at together.
        for inner in [list(chain.from_iterable(value))] if types <= _LISTS else value:
            if type(inner) not in _SCALARS:
                _refuse_other_keys(inner)


_SCALARS = frozenset((str, int, float, bool, type(None)))
_LISTS = frozenset((list, tuple))
_SIMPLE = _SCALARS | _LISTS


def digest(value: object) -> str:
    """The sha256 of `canonical(value)` in UTF-8, as 64 lower-case hexadecimal digits.

    Raises what `canonical` raises, and UnicodeEncodeError (a ValueError) for half a surrogate pair.
    """
    return digest_of_text(canonical(value))


def digest_of_text(text: str) -> str:
    """The digest of a value whose canonical text is there already."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed: it reads, compares and serialises as a dict, and refuses every writer."""

    __slots__ = ()

    def _refuse(self, *arguments: object, **keywords: object) -> NoReturn:
        raise TypeError("this mapping is immutable: make a new one, e.g. {**old, key: value}")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type["FrozenDict"], tuple[dict[str, Any]]]:
        # The default way to unpickle a dict writes item by item, which this class refuses.
        return FrozenDict, (dict(self),)

    def __copy__(self) -> "FrozenDict":
        return self

    def __deepcopy__(self, memo: object) -> "FrozenDict":
        return self


class SharedObject(FrozenDict):
    """A JSON object that stands in many others, or is written more than once: its canonical text is made once.

    `canonical` takes the text as it is where the object is the whole or a field of it. What its values hold must not be
    changed either; nothing prevents that.
    """

    __slots__ = ("_text",)

    @property
    def text(self) -> str:
        """Its canonical text."""
        try:
            return self._text
        except AttributeError:
            self._text: str = canonical(dict(self))
            return self._text


def file_digest(path: Path) -> str:
    """The SHA-256 of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def freeze(value: object) -> Any:
    """`value` with every dict as a FrozenDict and every list as a tuple, all the way down."""
    if isinstance(value, Mapping):
        return FrozenDict({key: freeze(inner) for key, inner in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(inner) for inner in value)
    return value


def thaw(value: object) -> Any:
    """The opposite of `freeze`: plain dicts and lists, which belong to the caller and may be changed."""
    if isinstance(value, Mapping):
        return {key: thaw(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(inner) for inner in value]
    return value
