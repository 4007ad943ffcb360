"""A restored copy says what its original said of pay, and compares with it record by record."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.management import demo_world
from annotation.models import Project
from annotation.payments import earnings
from annotation.releases import release_comparison, release_diff
from annotation.releases.manifest import Manifest
from annotation.study_file import current_state
from annotation.workflow import automatic_decisions, projects
from tableqa.releases.release_records import read_manifest
from tests.annotation.cast import NOON, World
from tests.annotation.test_restoring import released, restore

PAY = {"currency": "EUR", "per_hour": 14.5}


def labelled(world: World) -> None:
    batch = world.batch("question_type", overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        while (assignment := world.take(batch, who)) is not None:
            world.answer(assignment, {"label": label})
    automatic_decisions.resolve_batch(batch=batch, now=NOON)


def pay(folder: Path) -> list[str]:
    said: list[str] = json.loads((folder / "manifest.json").read_text("utf-8"))["statement"]["pay"]
    return said


def test_the_statement_of_a_restored_project_has_the_pay_of_the_release(world: World, tmp_path: Path) -> None:
    projects.change_terms(project=world.project, pay=PAY, caps={}, by=world.mara, now=NOON)
    world.project.refresh_from_db()
    labelled(world)
    before = released(world.project, tmp_path / "before")
    assert pay(before) == ["14.50 EUR an hour"]

    project = restore(before).project
    projects.change_statement(project=project, statement={"recruitment": "By mail."}, by=world.mara, now=NOON)
    after = released(Project.objects.get(pk=project.pk), tmp_path / "after")
    again = Project.objects.get(pk=restore(after, "again").project.pk)

    assert pay(after) == pay(released(again, tmp_path / "again")) == pay(before)
    text = (after / "DATA_STATEMENT.md").read_text("utf-8")
    assert "Paid: 14.50 EUR an hour." in text
    assert current_state.of_project(again, now=NOON).study.statement == {"recruitment": "By mail."}


def test_a_rate_of_a_restored_project_is_not_for_the_work_that_was_restored(
    world: World, tmp_path: Path
) -> None:
    projects.change_terms(
        project=world.project, pay={"currency": "EUR", "per_item": 0.25}, caps={}, by=world.mara, now=NOON
    )
    world.project.refresh_from_db()
    labelled(world)
    before = released(world.project, tmp_path / "before")
    copy = restore(before).project
    later = timezone.now() + timedelta(days=1)

    projects.change_terms(
        project=copy, pay={"currency": "EUR", "per_item": 1}, caps={}, by=world.mara, now=later
    )

    copy = Project.objects.get(pk=copy.pk)
    assert pay(released(copy, tmp_path / "after")) == pay(before)
    shares = earnings.shares(copy)
    assert [share.items for share in shares] == [4, 4]
    assert [share.amount for share in shares] == [None, None]
    assert [share.amount for share in earnings.shares(world.project)] == [Decimal("1.00")] * 2


def test_a_copy_beside_its_original_matches_it_by_names_and_content(world: World, tmp_path: Path) -> None:
    labelled(world)
    before = released(world.project, tmp_path / "before", format=["askew", "freb_tqa"])

    after = released(restore(before).project, tmp_path / "after", format=["askew", "freb_tqa"])

    found = release_diff.diff_releases(before, after)
    assert found.manifest == ("project: films -> restored",)
    assert [file.name for file in found.files] == ["DATA_STATEMENT.md"]  # which names the project
    manifests = [Manifest.of(read_manifest(folder)) for folder in (before, after)]
    pairs = release_comparison.agreement(*manifests)
    assert pairs
    assert all(pair.before and pair.is_equal for pair in pairs)


def test_what_differs_in_a_copy_is_named_by_the_ids_of_the_original(world: World, tmp_path: Path) -> None:
    labelled(world)
    before = released(world.project, tmp_path / "before")
    after = released(restore(before).project, tmp_path / "after")
    path = after / "annotations.jsonl"
    path.write_text(path.read_text("utf-8").replace('"extraction"', '"neither"', 1), "utf-8")
    manifest = json.loads((after / "manifest.json").read_text("utf-8"))
    manifest["files"]["annotations.jsonl"]["sha256"] = "0" * 64
    (after / "manifest.json").write_text(json.dumps(manifest), "utf-8")

    file, _ = sorted(
        release_diff.diff_releases(before, after).files, key=lambda file: file.name, reverse=True
    )

    ids = [json.loads(line)["id"] for line in (before / "annotations.jsonl").read_text("utf-8").splitlines()]
    assert (file.added, file.removed) == ((), ())
    assert [key for key in file.changed if any(id in key for id in ids)] == list(file.changed)
    assert len(file.changed) == 1


@pytest.mark.django_db
def test_a_copy_of_the_demo_with_edits_proposals_and_lineage_matches_it(tmp_path: Path) -> None:
    demo_world.load(now=NOON)
    before = released(Project.objects.get(), tmp_path / "before")

    after = released(restore(before).project, tmp_path / "after")

    found = release_diff.diff_releases(before, after)
    assert not [line for line in found.manifest if "None" in line]
    assert [file.name for file in found.files] == ["DATA_STATEMENT.md"]  # which names the project
