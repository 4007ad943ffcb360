"""An item that the rule cannot decide goes to an adjudicator with the reason, and stops no other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.management import doctor
from annotation.models import Adjudication, Batch, Item
from annotation.platform.refusals import ActionRefused
from annotation.queue import orphaned_slots
from annotation.workflow import adjudication, automatic_decisions
from tasks.contract import decision_rules
from tests.annotation.cast import NOON, World, make_world

LATER = NOON + timedelta(hours=1)


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def complete(world: World, *labels: str, **more: Any) -> Batch:
    """A batch with one complete item for each label."""
    batch = world.batch(size=len(labels), overlap=1, **more)
    for label in labels:
        world.label(batch, "ada", label)
    return batch


@pytest.fixture
def broken() -> Iterator[None]:
    """A rule that fails on every response with the label "neither"."""
    resolve = decision_rules.resolve

    def fail(task: Any, rule: Any, responses: Any, item: Any) -> Any:
        if any(response.label == "neither" for response in responses):
            raise ArithmeticError("a table of secrets")
        return resolve(task, rule, responses, item)

    with patch.object(decision_rules, "resolve", fail):
        yield


def resolutions(batch: Batch) -> list[str]:
    return list(batch.items.order_by("position").values_list("resolution", flat=True))


@pytest.mark.usefixtures("broken")
def test_items_that_fail_do_not_keep_the_automatic_decisions_of_others_waiting(world: World) -> None:
    failing, healthy = complete(world, *["neither"] * 3), complete(world, "extraction")

    for minutes in range(2):
        automatic_decisions.resolve_due(now=LATER + timedelta(minutes=minutes), limit=3)

    assert resolutions(failing) == ["adjudication"] * 3
    assert resolutions(healthy) == ["accepted"]
    assert list(doctor.findings()) == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite ends no statement that takes long")
def test_an_item_that_takes_longer_than_a_statement_may_stops_no_other(world: World) -> None:
    failing, healthy = complete(world, "neither"), complete(world, "extraction")
    resolve = decision_rules.resolve

    def wait(task: Any, rule: Any, responses: Any, item: Any) -> Any:
        if any(response.label == "neither" for response in responses):
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL statement_timeout = 1")
                cursor.execute("SELECT pg_sleep(10)")
        return resolve(task, rule, responses, item)

    with patch.object(decision_rules, "resolve", wait):
        automatic_decisions.resolve_due(now=LATER)

    assert (resolutions(failing), resolutions(healthy)) == (["adjudication"], ["accepted"])


@pytest.mark.usefixtures("broken")
def test_a_job_decides_the_items_behind_one_that_fails(world: World) -> None:
    batch = complete(world, "extraction", "neither", "reasoning")

    assert automatic_decisions.resolve_batch(batch=batch, now=LATER) == 2
    assert automatic_decisions.resolve_batch(batch=batch, now=LATER) == 0

    assert resolutions(batch) == ["accepted", "adjudication", "accepted"]


@pytest.mark.usefixtures("broken")
def test_the_page_of_the_item_says_what_is_wrong_and_a_person_can_exclude_it(
    world: World, client: Client
) -> None:
    batch = complete(world, "neither")
    automatic_decisions.resolve_due(now=LATER)
    client.force_login(world.ivo)

    page = client.get(reverse("adjudicate", args=[batch.items.get().public_id])).content.decode()

    assert "The decision rule failed on this item (ArithmeticError)" in page
    assert "secrets" not in page
    adjudication.decide(item=batch.items.get(), by=world.ivo, exclude="A torn table", now=LATER)
    assert resolutions(batch) == ["excluded"]


@pytest.mark.parametrize("method", ["resolve_adjudicated", "perturb"])
def test_a_decision_on_which_the_task_type_fails_is_refused_and_another_is_possible(
    world: World, method: str
) -> None:
    batch = complete(world, "neither")
    adjudication.ask_adjudicator(
        item=batch.items.get(), by=world.mara, reason="Odd", before="complete", now=NOON
    )
    failing = patch.object(type(batch.task()), method, side_effect=ArithmeticError("a table of secrets"))

    with failing, pytest.raises(ActionRefused, match=r"failed on this decision \(ArithmeticError\)"):
        adjudication.decide(item=batch.items.get(), by=world.ivo, choose=["A"], now=LATER)

    assert resolutions(batch) == ["adjudication"]
    adjudication.decide(item=batch.items.get(), by=world.ivo, choose=["A"], now=LATER)
    assert resolutions(batch) == ["accepted"]


@pytest.mark.usefixtures("broken")
def test_an_item_that_waits_for_somebody_already_keeps_its_request(world: World) -> None:
    batch = complete(world, "neither")
    item = batch.items.get()
    adjudication.ask_adjudicator(item=item, by=world.mara, reason="A trap", before="complete", now=NOON)

    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    assert Adjudication.objects.get(item=item).reason == "A trap"


def test_items_of_a_task_type_that_is_not_installed_wait_for_it(world: World) -> None:
    gone, healthy = complete(world, "extraction"), complete(world, "extraction")
    Batch.objects.filter(pk=gone.pk).update(task_type="gone")

    automatic_decisions.resolve_due(now=LATER, limit=1)
    automatic_decisions.resolve_orphaned(now=LATER)
    assert (resolutions(gone), resolutions(healthy)) == ([""], ["accepted"])
    Batch.objects.filter(pk=gone.pk).update(task_type="question_type")

    automatic_decisions.resolve_due(now=LATER)
    assert resolutions(gone) == ["accepted"]


@pytest.mark.usefixtures("broken")
def test_an_item_that_lacks_answers_and_fails_stops_neither_the_others_nor_the_worker(world: World) -> None:
    batch = world.batch(size=2, overlap=1)
    for label in ("neither", "extraction"):
        world.label(batch, "ada", label)
    batch.items.update(submitted_count=0, due_at=None)
    keys = list(batch.items.order_by("position").values_list("pk", flat=True))

    with patch.object(orphaned_slots, "orphaned_items", lambda of: keys if of.pk == batch.pk else []):
        assert automatic_decisions.resolve_orphaned(now=LATER) == 1

    assert "ArithmeticError" in Adjudication.objects.get(item=keys[0]).reason
    assert Item.objects.get(pk=keys[1]).due_at is not None
