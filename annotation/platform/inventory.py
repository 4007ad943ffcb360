"""Where data lies: tables, columns, caches and folders, with how each is backed up, erased, exported and checked.

The entries are in `inventory.toml`. `backup`, `accounts` and `doctor` go by them. A test fails for a table, a column of
text or JSON, a cache or a folder that is in no entry.
"""

import tomllib
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.db.models import Model

_CONTENT: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ENTRIES: Final[dict[str, dict[str, Any]]] = _CONTENT["entries"]
EXPORTED: Final[dict[str, str]] = _CONTENT["exported"]
"""Parts of what people get of their data -> table, way to the person, columns."""
REPLACED: Final[dict[str, str]] = {
    column: path for entry in ENTRIES.values() for column, path in entry.get("replaced", {}).items()
}
"""Columns in which the name of an erased person is replaced -> the way to the project, "" for all rows."""


def names(kind: str) -> list[str]:
    """What the entries name of one kind: tables, folders, rebuilt, caches, checks or file_checks."""
    return [name for entry in ENTRIES.values() for name in entry.get(kind, "").split()]


def model_of(table: str) -> type[Model]:
    """The model with this table."""
    models = apps.get_models(include_auto_created=True)
    return next(model for model in models if model._meta.db_table in (table, f"annotation_{table}"))
