"""Everything that is stored about a person, as JSON for that person (Art. 15 and 20 GDPR). Nothing of any other person.

`annotation/platform/inventory.toml` names the parts of the file.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet

from annotation.models import Person
from annotation.platform import inventory

FORMAT: Final = "askew-person-1"
ACCOUNT: Final = (
    "name email time_zone personal_settings created_at last_login is_active is_administrator erased_at"
)
WHERE: Final = {"batch__project__slug": "project", "batch__name": "batch", "item__public_id": "item"}
"""Columns that say where an assignment is from, under their names in the file."""


def export(person: Person, *, now: datetime) -> dict[str, Any]:
    """The person's data by what they are about, times in UTC. Which items were gold, and what is right, is not theirs."""
    account = {name: getattr(person, name) for name in [*ACCOUNT.split(), "former_names", "let_back_in_at"]}
    return {
        "format": FORMAT,
        "made_at": now.isoformat(),
        "account": _plain(account),
        **{part: list(_rows(person, part)) for part in inventory.EXPORTED},
    }


def rows_of(person: Person, part: str) -> QuerySet[Any]:
    """The rows of a part of the file, oldest first."""
    table, path = inventory.EXPORTED[part].partition(":")[0].split()
    rows = inventory.model_of(table)._default_manager.filter(**{path: person}).order_by("pk")
    # What an adjudicator wrote in place of all people's responses rests on none of them.
    return rows.filter(annotations=None) if part == "own_responses" else rows


def _rows(person: Person, part: str) -> Iterator[dict[str, Any]]:
    named: dict[str, str] = {}
    for spec in inventory.EXPORTED[part].partition(":")[2].split():
        if spec.startswith("@"):
            named |= {f"{spec[1:]}{path}": name for path, name in WHERE.items()}
        else:
            name, _, path = spec.partition("=")
            named[path or name] = name
    for row in rows_of(person, part).values(*named):
        yield _plain({named[path]: value for path, value in row.items()})


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
