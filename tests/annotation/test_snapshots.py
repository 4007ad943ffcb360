"""Figures of large batches: worked out once, kept, shown with their age, and brought up to date in the background."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.background import jobs
from annotation.models import Batch, Event, Job, Person, Snapshot
from annotation.quality import snapshots
from annotation.workflow import batches, projects
from tests.annotation.cast import World
from tests.annotation.test_live_agreement import labelled, text

pytestmark = pytest.mark.both

LATER = timedelta(minutes=5)


@pytest.fixture
def nothing_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a project with more responses than a page waits for."""
    monkeypatch.setattr(snapshots, "AT_ONCE", -1)
    monkeypatch.setattr(snapshots, "LEAST_PAUSE", timedelta(minutes=1))


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def shown(batch: Batch, now: datetime, part: str = "agreement") -> snapshots.SnapshotView:
    return snapshots.snapshot_view(Batch.objects.select_related("project").get(pk=batch.pk), part, now=now)


def do_jobs() -> list[str]:
    return [
        jobs.run(pk)
        for pk in Job.objects.filter(kind="snapshot", state="queued").values_list("pk", flat=True)
    ]


def test_a_small_batch_is_worked_out_while_the_page_waits_and_then_kept(world: World) -> None:
    batch = labelled(world)
    now = timezone.now() + LATER
    first = shown(batch, now)
    assert first.data is not None
    assert (first.behind, first.as_of) == (False, now)
    assert not Job.objects.filter(kind="snapshot").exists()

    again = shown(batch, now + LATER)
    assert again.as_of == now, "nothing has happened since"
    Event.objects.create(project=world.project, thing="assignment", thing_id=1, after="x", at=now + LATER)
    assert shown(batch, now + 2 * LATER).as_of == now + 2 * LATER


@pytest.mark.usefixtures("nothing_at_once")
def test_a_large_batch_is_worked_out_by_a_job_and_the_page_says_so(world: World) -> None:
    batch = labelled(world)
    mara = browser(world.mara)
    page = text(mara.get(f"/projects/films/agreement/?batch={batch.public_id}"))
    assert "being computed in the background" in page
    assert "being computed" in text(mara.get(f"/batches/{batch.public_id}/quality/"))
    assert "being computed" in text(mara.get("/projects/films/dashboard/"))
    assert "being computed" in text(mara.get(f"/batches/{batch.public_id}/"))
    assert Job.objects.filter(kind="snapshot").count() == 1, "one at a time"

    assert do_jobs() == ["done"]
    assert "Fleiss" in text(mara.get(f"/projects/films/agreement/?batch={batch.public_id}"))


@pytest.mark.usefixtures("nothing_at_once")
def test_what_is_behind_is_shown_with_its_age_and_refreshed_not_too_often(world: World) -> None:
    batch = labelled(world)
    now = timezone.now()
    shown(batch, now)
    assert do_jobs() == ["done"]
    kept = Snapshot.objects.get()
    Event.objects.create(project=world.project, thing="assignment", thing_id=1, after="x", at=now)

    soon = shown(batch, kept.made_at + timedelta(seconds=30))
    assert (soon.as_of, soon.behind, soon.job) == (kept.made_at, True, None), "it rests for a minute"
    later = shown(batch, kept.made_at + timedelta(seconds=61))
    assert later.data == kept.data["figures"]
    assert later.job is not None
    page = text(browser(world.mara).get(f"/projects/films/agreement/?batch={batch.public_id}"))
    assert "As of" in page

    kept.data["seconds"] = 60.0
    kept.save()
    Job.objects.all().delete()
    resting = kept.made_at + timedelta(seconds=60 * snapshots.SHARE - 1)
    assert shown(batch, resting).job is None, "what took a minute rests for twenty"
    assert shown(batch, resting + timedelta(seconds=2)).job is not None


def test_weeks_of_a_closed_batch_are_those_of_the_time_zone_of_now(world: World) -> None:
    """Responses at 23:30 UTC on a Sunday are of Monday in Auckland."""
    batch = world.batch(overlap=2, size=1)
    sunday = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    for who in ("ada", "bo"):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, {"label": "extraction"}, now=sunday)
    batches.close_batch(batch=batch, by=world.mara, now=sunday)

    def weeks() -> list[str]:
        figures = shown(Batch.objects.select_related("project").get(pk=batch.pk), timezone.now() + LATER).data
        assert figures is not None
        return [week["name"] for measure in figures["measures"] for week in measure["weeks"]]

    assert set(weeks()) == {"2026-W09"}
    projects.rename_project(
        project=world.project, name="Films", time_zone="Pacific/Auckland", by=world.mara, now=sunday
    )
    assert set(weeks()) == {"2026-W10"}


@pytest.mark.usefixtures("nothing_at_once")
def test_a_closed_batch_is_worked_out_once_more_and_never_again(world: World) -> None:
    batch = labelled(world)
    closed = timezone.now()
    shown(batch, closed)
    assert do_jobs() == ["done"]
    batches.close_batch(batch=batch, by=world.mara, now=closed)
    Snapshot.objects.update(made_at=closed + timedelta(seconds=3))
    assert shown(batch, closed + LATER).behind, "it was made before the last response could come"

    assert do_jobs() == ["done"]
    Snapshot.objects.update(watermark=0)
    assert not shown(batch, closed + LATER).behind


@pytest.mark.usefixtures("nothing_at_once")
def test_a_part_that_fails_is_named_and_holds_no_other_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = labelled(world)

    def broken(batch: Batch) -> dict[str, Any]:
        raise ArithmeticError("no")

    monkeypatch.setattr(snapshots, "PARTS", {**snapshots.PARTS, "agreement": broken})
    of = [Batch.objects.select_related("project").get(pk=batch.pk)]
    snapshots.views_of_batches(of, ("agreement", "work"), now=timezone.now())
    assert do_jobs() == ["done"]

    told = snapshots.views_of_batches(of, ("agreement", "work"), now=timezone.now())
    assert told[batch.pk, "work"].data is not None
    assert "ArithmeticError" in told[batch.pk, "agreement"].failed
    assert "could not be computed" in text(
        browser(world.mara).get(f"/projects/films/agreement/?batch={batch.public_id}")
    )
    assert not Job.objects.filter(state="queued").exists(), "it is not tried again at once"
    later = timezone.now() + snapshots.AFTER_FAILURE + LATER
    assert snapshots.views_of_batches(of, ("agreement",), now=later)[batch.pk, "agreement"].job is not None


def test_a_snapshot_of_an_older_form_is_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = labelled(world)
    now = timezone.now() + LATER
    shown(batch, now)
    monkeypatch.setattr(snapshots, "FORM", snapshots.FORM + 1)
    assert shown(batch, now + LATER).as_of == now + LATER


@pytest.mark.parametrize("address", ["/projects/films/agreement/", "/projects/films/dashboard/"])
@pytest.mark.usefixtures("nothing_at_once")
def test_a_page_asks_as_much_for_a_dozen_batches_as_for_two(world: World, address: str) -> None:
    mara = browser(world.mara)

    def cost() -> int:
        Snapshot.objects.all().delete()
        mara.get(address)
        do_jobs()
        Snapshot.objects.update(made_at=timezone.now() + LATER)
        with CaptureQueriesContext(connection) as queries:
            assert mara.get(address).status_code == 200
        return len(queries)

    for number in range(2):
        world.label(world.batch(name=f"few {number}"), "ada", "extraction")
    few = cost()
    for number in range(10):
        world.label(world.batch(name=f"many {number}"), "ada", "extraction")
    assert cost() == few
    assert few < 30


def test_many_small_batches_are_not_all_worked_out_while_a_page_waits(world: World) -> None:
    for number in range(snapshots.MOST_AT_ONCE + 3):
        world.label(world.batch(name=f"batch {number}"), "ada", "extraction")
    page = browser(world.mara).get("/projects/films/agreement/")

    assert text(page).count("being computed") == 3 + 1, "three lines, and the batch that is taken apart below"
    assert Snapshot.objects.count() == snapshots.MOST_AT_ONCE
    job = Job.objects.get(kind="snapshot")
    assert len(job.ids["parts"]) == 3
    assert do_jobs() == ["done"]
    assert Snapshot.objects.count() == snapshots.MOST_AT_ONCE + 3
