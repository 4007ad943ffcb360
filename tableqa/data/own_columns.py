"""Own columns of an example: the further fields of its source (`Example.meta`) as named texts.

column_values({"domain": "films", "tags": ["a", "b"], "by": {"id": 7}})
meta.domain: films, meta.tags: a, meta.tags: b, meta.by.id: 7
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

PREFIX = "meta."


def column_values(meta: Any, name: str = PREFIX[:-1]) -> Iterator[tuple[str, str]]:
    """Name and text of each value, in the order of the source; several of a list. A colon in a name becomes a dot."""
    if isinstance(meta, Mapping):
        for key, value in meta.items():
            yield from column_values(value, f"{name}.{key}".replace(":", "."))
    elif isinstance(meta, list | tuple):
        for value in meta:
            yield from column_values(value, name)
    elif meta is not None and meta != "":
        yield name, meta if isinstance(meta, str) else json.dumps(meta)


def column_text(meta: Any, name: str) -> str:
    """The text of a column; "" where the example has none, values of a list with semicolons."""
    return "; ".join(value for column, value in column_values(meta) if column == name)
