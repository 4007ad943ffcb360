"""Corrections of items that releases contain: the releases stay, the next one names item, fault, releases and reason."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from annotation.access.authorization import Actor
from annotation.explorer import item_access, querysets
from annotation.explorer.selection import Selection
from annotation.management import doctor
from annotation.models import Annotation, Batch, Correction, Decision, Item, Outcome, Release
from annotation.platform.refusals import ActionRefused
from annotation.quality import calibration
from annotation.releases import creation, verification
from annotation.workflow import adjudication, automatic_decisions, batches
from tableqa.releases import record_files, release_records
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_item_actions import PEOPLE, SOON, act, browser, reasons, state, undo
from tests.annotation.test_mixing import accepted

pytestmark = pytest.mark.django_db(transaction=True)
LATER = NOON + timedelta(minutes=10)
ERRATA = "errata.jsonl"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def batch(world: World) -> Batch:
    """An open batch with two accepted items and two items without responses."""
    batch = world.batch(name="Labels", overlap=3)
    for who in PEOPLE * 2:
        world.label(batch, who, "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch


def release(world: World, folder: Path) -> Path:
    creation.make_release(
        project=world.project, name=folder.name, format="hf", by=world.rea, now=NOON, out=folder
    )
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def decision_of(folder: Path, item: Item) -> dict[str, Any]:
    (record,) = [
        record
        for record in record_files.records(folder / "decisions.jsonl")
        if record["item"] == item.public_id
    ]
    return record


def test_an_item_is_excluded_after_a_release_and_the_next_release_names_it(
    world: World, batch: Batch, tmp_path: Path
) -> None:
    first, second, *_ = batch.items.order_by("position")
    before = release(world, tmp_path / "v1")
    bytes_before = contents(before)

    done = act(world, "exclude", first)

    assert (done.number, state(first), state(second)) == (1, "excluded", "accepted")
    assert doctor.findings() == []
    stored = Release.objects.get(name="v1")
    assert contents(creation.folder(stored)) == bytes_before
    assert verification.verify(creation.folder(stored))
    after = release(world, tmp_path / "v2")
    assert decision_of(before, first)["kind"] == "accepted"
    assert decision_of(after, first)["kind"] == "excluded"
    assert list(record_files.records(after / ERRATA)) == [
        {
            "releases": [{"number": 1, "name": "v1", "digest": stored.digest}],
            "source": first.example.source.name,
            "id": first.example.external_id,
            "item": first.public_id,
            "fault": "excluded",
            "reason": "A torn table",
            "examples": [],
        }
    ]
    manifest = release_records.read_manifest(after)
    assert manifest["changes"][ERRATA] == {"added": 1, "removed": 0, "changed": 0}
    assert "`errata.jsonl`: 1 records added" in (after / "README.md").read_text("utf-8")
    assert verification.verify(after)
    third = release(world, tmp_path / "v3")
    assert (third / ERRATA).read_bytes() == (after / ERRATA).read_bytes()
    assert ERRATA not in release_records.read_manifest(third).get("changes", {})
    with pytest.raises(ActionRefused, match="different contents"):
        release(world, tmp_path / "again" / "v1")


def test_an_item_that_a_person_decided_is_decided_anew(world: World, batch: Batch, tmp_path: Path) -> None:
    first = batch.items.order_by("position")[0]
    act(world, "adjudicate", first)
    adjudication.decide(item=first, by=world.ivo, now=SOON, choose=["A"], note="Right")
    assert reasons(act(world, "adjudicate", first)) == ["by_person"]
    before = release(world, tmp_path / "v1")

    done = act(world, "adjudicate", first, now=LATER)

    assert (done.number, state(first)) == (1, "adjudication")
    response = {
        **(Annotation.objects.filter(assignment__item=first)[0].response or {}),
        "data": {"label": "reasoning"},
    }
    adjudication.decide(item=first, by=world.ivo, now=LATER, response=response, note="The year is a sum")
    after = release(world, tmp_path / "v2")
    assert decision_of(before, first)["outcomes"][0]["response"]["data"] == {"label": "extraction"}
    assert decision_of(after, first)["outcomes"][0]["response"]["data"] == {"label": "reasoning"}
    (erratum,) = record_files.records(after / ERRATA)
    assert (erratum["item"], erratum["fault"]) == (first.public_id, "decided again")
    assert verification.verify(after)
    assert doctor.findings() == []


def test_responses_of_a_released_item_go_back_to_their_authors(
    world: World, batch: Batch, tmp_path: Path
) -> None:
    first = batch.items.order_by("position")[0]
    before = release(world, tmp_path / "v1")

    done = act(world, "send_back", first)

    assert (done.number, state(first)) == (1, "open")
    for who in PEOPLE:
        assignment = world.take(batch, who)
        assert assignment is not None
        assert assignment.item_id == first.pk
        world.answer(assignment, {"label": "reasoning"}, now=LATER)
    automatic_decisions.resolve_batch(batch=batch, now=LATER + timedelta(minutes=5))
    after = release(world, tmp_path / "v2")
    assert decision_of(before, first)["outcomes"][0]["response"]["data"] == {"label": "extraction"}
    assert decision_of(after, first)["outcomes"][0]["response"]["data"] == {"label": "reasoning"}
    (erratum,) = record_files.records(after / ERRATA)
    assert (erratum["item"], erratum["fault"]) == (first.public_id, "sent back")
    assert verification.verify(after)
    assert doctor.findings() == []


@pytest.mark.parametrize("action", ["exclude", "adjudicate", "send_back"])
def test_a_correction_is_undone_until_a_release_names_it(
    world: World, batch: Batch, tmp_path: Path, action: str
) -> None:
    first, second, *_ = batch.items.order_by("position")
    before = release(world, tmp_path / "v1")
    done = act(world, action, first)

    assert undo(world, done).number == 1

    assert (state(first), Correction.objects.count()) == ("accepted", 0)
    assert Outcome.objects.get(decision__item=first).annotations.count() == 3
    assert doctor.findings() == []
    after = release(world, tmp_path / "v2")
    assert not (after / ERRATA).exists()
    same = ("kind", "reason", "made_at", "note", "by")
    assert [decision_of(after, first)[name] for name in same] == [
        decision_of(before, first)[name] for name in same
    ]
    done = act(world, action, second)
    release(world, tmp_path / "v3")
    assert reasons(undo(world, done)) == ["changed"]


def test_a_decision_stays_while_a_release_is_written(world: World, batch: Batch) -> None:
    first = batch.items.order_by("position")[0]
    creation.plan_release(project=world.project, name="v1", format="hf", by=world.rea, now=NOON)

    done = act(world, "exclude", first)

    assert (done.number, reasons(done), state(first)) == (0, ["being_released"], "accepted")
    with pytest.raises(ActionRefused, match="being written"):
        adjudication.take_back(
            decision=first.decision, by=world.mara, reason="x", after="reopened", now=SOON, corrects=True
        )


def test_an_adjudicator_who_undoes_a_released_decision_is_sent_to_the_explorer(
    world: World, batch: Batch, tmp_path: Path
) -> None:
    first = batch.items.order_by("position")[0]
    act(world, "adjudicate", first)
    adjudication.decide(item=first, by=world.ivo, now=SOON, choose=["A"], note="Right")
    release(world, tmp_path / "v1")
    with pytest.raises(ActionRefused, match="move the item to adjudication in the explorer"):
        adjudication.undo(item=first, by=world.ivo, now=SOON)


def test_a_correction_names_the_examples_that_are_wrong(world: World, tmp_path: Path) -> None:
    rename = {"op": "rename_header", "column": "c0", "at": 0, "old": "Film", "new": "Movie"}
    accepted(world, "header_synonym", "", {"operations": [rename], "rejected": []})
    outcome = Outcome.objects.get(example__isnull=False)
    example = outcome.example
    assert example is not None
    item = outcome.decision.item
    release(world, tmp_path / "v1")

    assert act(world, "exclude", item).number == 1

    after = release(world, tmp_path / "v2")
    (erratum,) = record_files.records(after / ERRATA)
    assert erratum["examples"] == [example.external_id]
    assert verification.verify(after)


def test_a_release_without_the_batch_needs_no_correction(world: World, batch: Batch, tmp_path: Path) -> None:
    first = batch.items.order_by("position")[0]
    world.label(world.batch(name="Others", overlap=1), "ada", "extraction")
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    calibration.set_aside(batch=batch, because="late", by=world.mara, now=NOON)
    release(world, tmp_path / "v1")
    calibration.count_again(batch=batch, by=world.mara, now=NOON)

    assert act(world, "exclude", first).number == 1

    assert not Correction.objects.exists()


def test_pages_say_what_a_correction_does_and_did(world: World, batch: Batch, tmp_path: Path) -> None:
    first, second, *_ = batch.items.order_by("position")
    release(world, tmp_path / "v1")
    mara = browser(world.mara)
    address = reverse("explorer_act", args=[world.project.slug])
    form = {"action": "exclude", "item": [first.public_id], "query": ""}

    page = mara.post(address, form).content.decode()

    assert "1 item is in release v1, which stays as it is. The next release publishes the correction" in page
    mara.post(address, {**form, "items": first.public_id, "confirmed": "yes", "note": "A torn table"})
    assert Decision.objects.get(item=first).kind == "excluded"
    release(world, tmp_path / "v2")
    for name, heading in (("v1", "Corrected after this release"), ("v2", "Corrections of earlier releases")):
        of_release = Release.objects.get(name=name)
        page = mara.get(reverse("release", args=[of_release.public_id])).content.decode()
        assert heading in page
        assert "A torn table" in page
        assert f"?item={first.public_id}" in page
        reader = item_access.reader(Actor(world.mara), world.project)
        listed = querysets.matching(reader, Selection(releases=(of_release.public_id,)))
        assert set(listed) == {first, second}
