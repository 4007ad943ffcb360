"""No page and no action asks more often because there are more items: as many statements for a hundred as for ten."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.access.authorization import Actor
from annotation.access.roles import Role
from annotation.background import jobs
from annotation.explorer import item_access, item_actions
from annotation.explorer.action_rules import ACTIONS
from annotation.models import Batch, Item, Membership
from annotation.workflow import automatic_decisions
from tests.annotation.cast import NOON, World, make_world

NUMBERS = (1, 10, 100)
MOST_MORE = 6
"""What a page asks for ten items beyond what it asks for one: a page of a list, figures of two."""
OF_PROJECT = (
    *("project", "people", "sources", "project_log", "explorer", "explorer_facets", "dashboard", "agreement"),
    *("releases", "methods", "batch_new", "study", "fooling", "accounting", "payments", "perturbations"),
    *("inquiries", "statement", "api_items"),
)
OF_BATCH = (
    *("batch", "batch_items", "batch_people", "batch_settings", "batch_report", "batch_quality", "gold"),
    *("adjudication", "api_adjudication"),
)


def accept_edits(world: World, batch: Batch, number: int) -> None:
    """Accept edits of the next items: each makes an example. One more item waits for an adjudicator."""
    for _ in range(number):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        table = assignment.plain_item.example.table
        operation = {"op": "set_cell", "row": "r0", "column": "c1", "old": table.rows[0][1], "new": "2001"}
        data = {"unanswerable": False, "operations": [operation], "answers": ["2001"]}
        world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)


def statements(measure: Any) -> int:
    measure()  # what is stored by a first look
    with CaptureQueriesContext(connection) as queries:
        measure()
    return len(queries)


def test_pages_and_previews_ask_as_often_for_a_hundred_items_as_for_ten(
    tmp_path: Path, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, questions=102)
    batch = world.batch("value_change", variant="answer_changes", overlap=1, name="Edits")
    labels = world.batch("question_type", overlap=2)
    world.batch("answer_check", of="perturbed", sources=[], feeds_from=batch, name="Checks")
    Membership.objects.filter(person=world.mara).update(roles=[Role.MANAGER, Role.ADJUDICATOR])
    mara = Client()
    mara.force_login(world.mara)
    reader = item_access.reader(Actor(world.mara), world.project)
    counts: dict[str, list[int]] = {}
    made = 0
    for number in NUMBERS:
        accept_edits(world, batch, number - made)
        for _ in range(number - made):
            world.label(labels, "ada", "extraction")
            world.label(labels, "bo", "reasoning")
        automatic_decisions.resolve_batch(batch=labels, now=NOON)
        made = number
        keys = list(Item.objects.filter(batch=batch, decision__isnull=False).values_list("pk", flat=True))
        assert len(keys) == number
        for address in addresses(world, batch, labels):
            counts.setdefault(address, []).append(statements(partial(read, mara, address)))
        for action in ACTIONS:
            preview = partial(item_actions.preview, reader, action, keys)
            counts.setdefault(f"preview of {action}", []).append(statements(preview))
    assert {name: few for name, few in counts.items() if few[2] > few[1]} == {}
    assert {name: few for name, few in counts.items() if few[1] > few[0] + MOST_MORE} == {}
    assert max(few[2] for name, few in counts.items() if name.startswith("preview")) <= 50

    locked: list[int] = []
    lock = item_actions._lock

    def record(keys: Sequence[int]) -> None:
        locked.append(len(keys))
        lock(keys)

    monkeypatch.setattr(item_actions, "_lock", record)
    job = item_actions.start(reader, "flag", keys, note="A torn table", now=NOON)
    assert jobs.run(job.pk) == "done"
    assert locked == [20] * 5, "whoever answered more cannot submit meanwhile"


def addresses(world: World, *batches: Batch) -> list[str]:
    pages = [reverse(name, args=[world.project.slug]) for name in OF_PROJECT]
    return pages + [reverse(name, args=[batch.public_id]) for name in OF_BATCH for batch in batches]


def read(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 200, address
