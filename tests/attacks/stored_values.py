"""What imports stored, to compare it with files and between databases.

The runs of a test on PostgreSQL and on SQLite leave digests of all that each import stored in a folder of the environment;
the second run finds those of the first. They are compared where both ran the same code.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from django.apps import apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
FIELDS: Mapping[str, tuple[str, ...]] = {
    "Source": ("name", "reader", "split", "licence", "citation", "url", "examples_count", "tables_count"),
    "StoredTable": ("digest", "content"),
    "Example": (
        "external_id",
        "position",
        "question",
        "answers",
        "operations",
        "table_digest",
        "more",
        "seed",
    ),
    "Person": ("name",),
    "Annotation": ("revision", "response", "unmet", "active_seconds", "made_at"),
    "Decision": ("kind", "note", "listed_reason", "rule", "made_at"),
    "Outcome": ("number", "response"),
    "Gold": ("expected", "why"),
    "Guidelines": ("task_type", "text", "translations"),
    "Batch": ("name", "task_type", "settings", "caps", "pay", "purpose"),
    "Project": ("slug", "name", "caps", "pay", "model_budget", "release", "statement"),
    "TaskTypeDefinition": ("name", "data"),
}
"""Texts, keys, numbers and times that imports write, without what is drawn at random or the time of the run."""


def digest() -> str:
    """A digest of all rows as they are read back."""
    whole = hashlib.sha256()
    for row in sorted(_rows()):
        whole.update(row.encode() + b"\n")
    return whole.hexdigest()[:16]


def _rows() -> Iterator[str]:
    for model, fields in FIELDS.items():
        for row in apps.get_model("annotation", model).objects.values_list(*fields):
            yield json.dumps([model, *row], cls=DjangoJSONEncoder, sort_keys=True)


def differences(name: str, stored: Sequence[str]) -> list[str]:
    """The imports of a run of which another database stored other values; [] where no other one ran yet."""
    folder = Path(sys.prefix) / "test-databases" / "written"
    folder.mkdir(parents=True, exist_ok=True)
    begins = f"{name}-{_code()}-"
    (folder / f"{begins}{connection.vendor}.json").write_text(json.dumps(stored))
    for old in folder.glob(f"{name}-*.json"):
        if not old.name.startswith(begins):
            old.unlink(missing_ok=True)
    return [
        f"{number}: {here} here, {there} in {path.stem}"
        for path in folder.glob(f"{begins}*.json")
        for number, (here, there) in enumerate(zip_longest(stored, json.loads(path.read_text())))
        if here != there
    ]


def _code() -> str:
    """A digest of the code that decides what is imported and stored."""
    whole = hashlib.sha256()
    for folder in ("annotation", "tableqa", "tasks", "tests/attacks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            whole.update(path.read_bytes())
    return whole.hexdigest()[:12]
