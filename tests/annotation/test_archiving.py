"""Archiving takes things out of lists; deleting removes rows, files and search entries, and keeps what pay rests on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from django.apps import apps
from django.db import models
from django.urls import reverse

from annotation.background import jobs
from annotation.explorer import index
from annotation.management import doctor
from annotation.models import (
    Batch,
    Event,
    Example,
    IndexedItem,
    IndexedValue,
    Item,
    Job,
    LedgerEntry,
    Project,
    Release,
    Source,
    StoredTable,
)
from annotation.payments import earnings
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, verification
from annotation.workflow import archiving, automatic_decisions, batches, deletion, projects
from tableqa.readers import READERS
from tableqa.releases import release_records
from tests.annotation.cast import NOON, World, make_world, set_work
from tests.annotation.plain_page import PlainPage
from tests.annotation.test_item_actions import PEOPLE, SOON, browser
from tests.annotation.test_mixing import accepted

pytestmark = pytest.mark.django_db(transaction=True)
LATER = NOON + timedelta(days=1)


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = make_world(tmp_path)
    pay = {"currency": "EUR", "per_hour": 15.0}
    projects.change_terms(
        project=world.project, pay=pay, caps={}, by=world.mara, now=NOON - timedelta(days=9)
    )
    return world


@pytest.fixture
def batch(world: World) -> Batch:
    """A closed batch with responses of three people, one of which was withdrawn and given again after a skip."""
    batch = world.batch(name="Labels", overlap=3)
    for who in PEOPLE * 2:
        world.label(batch, who, "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=SOON)
    world.label(batch, "ada", "extraction")
    for row in batch.assignments.order_by("pk"):
        set_work(batch.assignments.filter(pk=row.pk), seconds=7.0 + row.pk % 5, at=SOON)
    close(world, batch)
    return batch


def close(world: World, batch: Batch) -> None:
    batches.close_batch(batch=batch, by=world.mara, now=SOON)
    automatic_decisions.resolve_batch(batch=batch, now=SOON)


def archived(world: World, thing: Any) -> Any:
    archiving.archive(thing=thing, by=world.mara, now=SOON)
    return thing


def run_jobs() -> None:
    for job in Job.objects.filter(kind=deletion.KIND, state=Job.State.QUEUED):
        jobs.run(job.pk)


def paid(world: World) -> list[tuple[Any, ...]]:
    rows = earnings.shares(world.project)
    return sorted((row.batch.pk, row.person_id, row.seconds, row.items, row.amount) for row in rows)


def rows_of(project: Project) -> dict[str, int]:
    """The number of rows of every table that leads to the project, by model."""
    counts = {}
    for model in apps.get_app_config("annotation").get_models():
        for field in model._meta.get_fields():
            if isinstance(field, models.ForeignKey) and field.related_model in (Project, Batch, Item):
                way = {Project: "", Batch: "__project", Item: "__batch__project"}[field.related_model]
                counts[model.__name__] = model._base_manager.filter(**{f"{field.name}{way}": project}).count()
    return {name: count for name, count in counts.items() if count}


# -- archiving --------------------------------------------------------------------------------------


def test_what_is_archived_is_out_of_lists_and_choices_until_it_is_restored(
    world: World, batch: Batch
) -> None:
    mara = browser(world.mara)
    film_lists = {
        "batch": reverse("project", args=["films"]),
        "source": reverse("sources", args=["films"]),
        "project": reverse("home"),
    }
    things: dict[str, Any] = {"batch": batch, "source": world.source, "project": world.project}
    for kind, thing in things.items():
        key = thing.slug if kind == "project" else thing.public_id
        page = PlainPage(mara, reverse(f"archive_{kind}", args=[key]))
        assert "Only what is archived can be deleted." in page.text()
        page.press("Archive")
        page.go(film_lists[kind])
        assert thing.name not in page.text("//main//table | //main//h2")
        page.follow(thing.name)
        assert page.status == 200
        page.go(reverse(f"archive_{kind}", args=[key]))
        page.press("Restore")
        page.go(film_lists[kind])
        assert thing.name in page.text("//main//table | //main//h2")
        log = Event.objects.filter(thing=kind, after__in=["archived", "restored"])
        assert list(log.order_by("pk").values_list("after", flat=True)) == ["archived", "restored"]


def test_nothing_of_an_open_batch_is_archived_and_nothing_archived_is_opened(world: World) -> None:
    opened, planned = world.batch(name="Open"), world.batch(name="Planned", open=False)
    for thing in (opened, world.source, world.project):
        with pytest.raises(ActionRefused, match="The batch Open is open"):
            archiving.archive(thing=thing, by=world.mara, now=SOON)
    close(world, opened)
    archived(world, planned)
    with pytest.raises(ActionRefused, match="Planned is archived"):
        batches.open_batch(batch=planned, by=world.mara, now=SOON)
    archived(world, opened)
    with pytest.raises(ActionRefused, match="Open is archived"):
        batches.reopen_batch(batch=opened, by=world.mara, now=SOON)
    archiving.restore(thing=planned, by=world.mara, now=SOON)
    archived(world, world.project)
    planned.refresh_from_db()
    with pytest.raises(ActionRefused, match="Films is archived"):
        batches.open_batch(batch=planned, by=world.mara, now=SOON)


def test_an_archived_source_is_not_offered_for_new_batches(world: World) -> None:
    archived(world, world.source)
    page = browser(world.mara).get(reverse("batch_new", args=["films"]), {"kind": "question_type"})
    assert list(page.context["form"].fields["sources"].queryset) == []


# -- deleting a batch -------------------------------------------------------------------------------


def test_a_deleted_batch_leaves_its_record_what_people_earned_and_events_without_details(
    world: World, batch: Batch, tmp_path: Path
) -> None:
    other = world.batch(name="Others", overlap=1)
    world.label(other, "ada", "neither")
    release = creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=SOON, out=tmp_path / "v1"
    )
    index.refresh(world.project, now=SOON)
    before, events = paid(world), Event.objects.filter(thing__in=["item", "assignment"]).count()
    assert any(seconds for _, _, seconds, *_ in before)
    archived(world, batch)

    page = PlainPage(browser(world.mara), reverse("archive_batch", args=[batch.public_id]))
    assert "These releases keep what they contain: v1" in page.text()
    page.named("reason").value = "A wrong source"
    page.press("Delete")
    run_jobs()

    assert not Batch.objects.filter(pk=batch.pk).exists()
    row = Batch.everything.get(pk=batch.pk)
    assert {name: row.deletion[name] for name in ("type", "responses", "people", "reason", "role")} == {
        "type": "question_type",
        "responses": 7,
        "people": 3,
        "reason": "A wrong source",
        "role": "manager",
    }
    assert not Item.objects.filter(batch=batch).exists()
    assert not IndexedItem.objects.filter(item__batch=batch).exists()
    assert Item.objects.filter(batch=other).exists()
    assert paid(world) == before
    of_batch = Event.objects.filter(thing__in=["item", "assignment"])
    assert of_batch.count() == events
    assert doctor.findings() == []
    assert verification.verify(release.folder)
    for name in (
        "project",
        "explorer",
        "people",
        "agreement",
        "dashboard",
        "project_log",
        "payments",
        "releases",
    ):
        assert browser(world.mara).get(reverse(name, args=["films"])).status_code in (200, 302), name
    assert browser(world.mara).get(reverse("batch", args=[batch.public_id])).status_code == 404
    creation.make_release(
        project=world.project, name="v2", format="askew", by=world.rea, now=SOON, out=tmp_path / "v2"
    )
    [named] = release_records.read_manifest(tmp_path / "v2")["deleted"]
    assert (named["reason"], named["responses"], set(named)) == (
        "A wrong source",
        7,
        {"type", "responses", "people", "reason", "role", "date"},
    )
    assert "deleted" not in release_records.read_manifest(tmp_path / "v1")
    assert verification.verify(tmp_path / "v2")


def test_details_of_events_of_deleted_responses_are_gone(world: World, batch: Batch) -> None:
    Event.objects.create(
        project=world.project,
        thing="item",
        thing_id=batch.items.latest("pk").pk,
        after="adjudication",
        detail={"reason": "what Ada wrote"},
        at=NOON,
    )
    archived(world, batch)
    deletion.delete_batch(batch=batch, reason="x", by=world.mara, now=SOON)
    run_jobs()
    assert not Event.objects.filter(thing__in=["item", "assignment"]).exclude(detail=None).exists()


def test_a_batch_that_others_rest_on_is_not_deleted(world: World, batch: Batch) -> None:
    archived(world, batch)
    following = world.batch(name="After", feeds_from=batch, sources=[], open=False)
    with pytest.raises(ActionRefused, match="The batch After uses it"):
        deletion.delete_batch(batch=batch, reason="x", by=world.mara, now=SOON)
    page = browser(world.mara).get(reverse("archive_batch", args=[batch.public_id])).content.decode()
    assert "The batch After uses it." in page
    archived(world, following)
    deletion.delete_batch(batch=following, reason="x", by=world.mara, now=SOON)
    run_jobs()
    deletion.delete_batch(batch=batch, reason="x", by=world.mara, now=SOON)
    run_jobs()
    assert list(Batch.objects.all()) == []


def test_examples_that_a_deleted_batch_made_are_deleted_with_it(world: World) -> None:
    rename = {"op": "rename_header", "column": "c0", "at": 0, "old": "Film", "new": "Movie"}
    accepted(world, "header_synonym", "", {"operations": [rename], "rejected": []})
    batch = Batch.objects.get()
    if batch.closed_at is None:
        close(world, batch)
    assert Example.objects.perturbed().exists()
    archived(world, batch)
    deletion.delete_batch(batch=batch, reason="x", by=world.mara, now=SOON)
    run_jobs()
    assert not Example.objects.perturbed().exists()
    assert Example.objects.originals().count() == 4
    assert doctor.findings() == []


@pytest.mark.parametrize(("reason", "message"), [("  ", "Enter a reason"), ("r" * 501, "Enter a reason")])
def test_a_deletion_needs_a_reason_and_an_archived_thing(
    world: World, batch: Batch, reason: str, message: str
) -> None:
    with pytest.raises(ActionRefused, match="Archive Labels before"):
        deletion.delete_batch(batch=batch, reason="x", by=world.mara, now=SOON)
    archived(world, batch)
    with pytest.raises(ActionRefused, match=message):
        deletion.delete_batch(batch=batch, reason=reason, by=world.mara, now=SOON)
    jobs.enqueue(project=world.project, kind="resolve", ids={"batch": batch.pk}, by=None, now=NOON)
    Job.objects.update(state=Job.State.RUNNING)
    with pytest.raises(ActionRefused, match="A job of this project is running"):
        deletion.delete_batch(batch=batch, reason="x", by=world.mara, now=SOON)


# -- deleting a source, a project -------------------------------------------------------------------


def test_a_source_is_deleted_with_its_examples_and_tables_once_no_batch_uses_it(
    world: World, batch: Batch
) -> None:
    index.refresh(world.project, now=SOON)
    assert IndexedValue.objects.exists()
    archived(world, world.source)
    with pytest.raises(ActionRefused, match="The batch Labels uses it"):
        deletion.delete_source(source=world.source, reason="x", by=world.mara, now=SOON)
    archived(world, batch)
    deletion.delete_batch(batch=batch, reason="x", by=world.mara, now=SOON)
    run_jobs()
    deletion.delete_source(source=world.source, reason="No licence", by=world.mara, now=SOON)
    run_jobs()
    assert [model.objects.count() for model in (Source, Example, StoredTable, IndexedValue)] == [0] * 4
    assert Event.objects.filter(thing="source", after="deleted").get().detail == {"reason": "No licence"}
    assert doctor.findings() == []


def test_a_deleted_project_leaves_pay_log_and_records_of_batches(
    world: World, batch: Batch, tmp_path: Path
) -> None:
    rename = {"op": "rename_header", "column": "c0", "at": 0, "old": "Film", "new": "Movie"}
    accepted(world, "header_synonym", "", {"operations": [rename], "rejected": []})
    for each in Batch.objects.filter(closed_at__isnull=True):
        close(world, each)
    following = world.batch(name="After", feeds_from=batch, sources=[], open=False)
    release = creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=SOON, out=tmp_path / "v1"
    )
    assert release.folder.is_dir()
    index.refresh(world.project, now=SOON)
    project, before, numbers = world.project, paid(world), Batch.objects.count()
    archived(world, project)

    page = PlainPage(browser(world.mara), reverse("archive_project", args=["films"]))
    page.named("reason").value = "The study has ended"
    page.press("Delete")
    run_jobs()

    assert page.address == reverse("home")
    assert not Project.objects.exists()
    assert (Source.objects.count(), Example.objects.count(), Release.objects.count()) == (0, 0, 0)
    assert not release.folder.exists()
    assert Batch.everything.filter(project=project).exclude(deletion={}).count() == numbers
    assert following.name not in Batch.everything.values_list("name", flat=True)
    assert paid(world) == before
    left = rows_of(project)
    assert set(left) <= {"Batch", "Event", "Job", "LedgerEntry", "Membership", "ConsentText"}, left
    assert LedgerEntry.objects.exists()
    assert browser(world.mara).get(reverse("project", args=["films"])).status_code == 404
    again = projects.create_project(slug="films", name="Films", manager=world.mara, now=LATER)
    assert browser(world.mara).get(reverse("project", args=[again.slug])).status_code == 200
    assert browser(world.ada).get(reverse("my_work")).status_code == 200
    assert verification.verify(tmp_path / "v1")
    assert doctor.findings() == []


# -- retention --------------------------------------------------------------------------------------


def test_what_was_archived_is_deleted_after_the_retention_period(world: World, batch: Batch) -> None:
    for thing in (batch, world.source):
        archived(world, thing)
    assert deletion.delete_expired(now=SOON + timedelta(days=9999)) == 0
    form = {"section": "retention", "days": "30"}
    saved = browser(world.mara).post(reverse("project_rename", args=["films"]), form, follow=True)
    assert "Retention period saved." in saved.content.decode()

    assert deletion.delete_expired(now=SOON + timedelta(days=29)) == 0
    while deletion.delete_expired(now=SOON + timedelta(days=30)):
        run_jobs()

    record = Batch.everything.get(pk=batch.pk).deletion
    assert (record["reason"], record["role"]) == ("Retention period: 30 days", "retention period")
    assert not Batch.objects.filter(pk=batch.pk).exists()
    assert not Source.objects.filter(pk=world.source.pk).exists()
    assert doctor.findings() == []


def test_a_source_can_be_exported_before_it_is_deleted_and_read_again(world: World, tmp_path: Path) -> None:
    page = PlainPage(browser(world.mara), reverse("archive_source", args=[world.source.public_id]))
    page.press("Archive")
    assert "Export first" in page.text()

    reply = browser(world.mara).get(
        reverse("archive_source", args=[world.source.public_id]), {"download": ""}
    )

    path = tmp_path / "source.jsonl"
    path.write_bytes(b"".join(cast(Any, reply).streaming_content))
    before = [row.example() for row in Example.objects.filter(source=world.source).order_by("pk")]
    after = list(READERS["own"](path))
    assert len(before) > 1
    assert [(each.id, each.question, each.answers, each.table) for each in after] == [
        (each.id, each.question, each.answers, each.table) for each in before
    ]
