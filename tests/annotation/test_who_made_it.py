"""Whose perturbed examples are better, people's or a program's: rated, and told by who made which."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from annotation.models import Batch
from annotation.quality import task_report
from annotation.releases import creation
from annotation.releases.verification import verify
from annotation.workflow import automatic_decisions, perturbation_runs
from tableqa.operations import RenameHeader, replay
from tableqa.statistics.proportions import proportion
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_mixing import LATER, accepted


def a_persons(world: World, new: str = "Released") -> None:
    rename = {"op": "rename_header", "column": "c1", "at": 1, "old": "Year", "new": new}
    accepted(world, "header_synonym", "", {"operations": [rename], "rejected": []})


def a_machines(world: World, perturbation: str = "header_synonym") -> None:
    """An example that a program made elsewhere of the first question, imported."""
    original = world.source.examples.get(external_id="nu-0").example()
    rename = RenameHeader(column="c1", at=1, old="Year", new="Vintage")
    meta = {"maker": "leta", "original": "nu-0", "perturbation": perturbation}
    world.import_written(
        dataclasses.replace(original, id="leta-1", table=replay(original.table, [rename]), meta=meta)
    )


def rated(world: World, better: dict[str, str]) -> Batch:
    """Bo and Cy score the person's example 5 and the other one 2, and say which is better: "person", "leta" or "tie"."""
    batch = world.batch("perturbation_rating", overlap=2)
    for who, said in better.items():
        assignment = world.take(batch, who)
        assert assignment is not None
        sides = {side: one["maker"] for side, one in assignment.item.inputs["sides"].items()}
        data = {
            "better": next((side for side, maker in sides.items() if maker == said), "tie"),
            **{side: 5 if maker == "person" else 2 for side, maker in sides.items()},
            **{f"{side}_errors": [] if maker == "person" else ["invented"] for side, maker in sides.items()},
        }
        world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


@pytest.mark.django_db(transaction=True)
def test_a_persons_and_a_machines_example_are_rated_and_a_tie_counts_for_both(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    a_persons(world)
    a_machines(world)
    batch = rated(world, {"bo": "person", "cy": "tie"})
    quality, preference, _ = task_report.reports(batch)
    assert [line[:4] for line in quality.rows] == [
        ("header_synonym", "leta", 1, 2.0),
        ("header_synonym", "person", 1, 5.0),
    ]
    assert [line[:6] for line in preference.rows] == [
        ("header_synonym", "leta", "person", 2, 1, proportion(1, 2)),
        ("header_synonym", "person", "leta", 2, 2, proportion(2, 2)),
    ]
    out = tmp_path / "out"
    creation.make_release(project=world.project, name="v", format="askew", by=None, now=LATER, out=out)
    verify(out)


@pytest.mark.django_db(transaction=True)
def test_an_imported_example_of_another_perturbation_stands_beside_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    a_persons(world)
    a_machines(world, "header_abbreviation")
    item = world.batch("perturbation_rating").items.get()
    assert [one["maker"] for one in item.inputs["sides"].values()] == ["person"]


@pytest.mark.django_db(transaction=True)
def test_what_a_program_of_the_platform_made_is_never_called_a_persons(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    perturbation_runs.perform(
        perturbation_runs.plan_run(project=world.project, kinds=["row_shuffle"], seeds=[33, 16], now=NOON)
    )
    batch = world.batch("perturbation_rating", of="automatic")
    for item in batch.items.all():
        assert {one["maker"] for one in item.inputs["sides"].values()} == {"automatic"}


@pytest.mark.django_db(transaction=True)
def test_a_person_who_edits_what_a_program_made_is_its_maker(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    a_machines(world)
    batch = world.batch("header_abbreviation", sources=list(world.project.sources.filter(name="written")))
    assignment = world.take(batch, "ada")
    assert assignment is not None
    rename = {"op": "rename_header", "column": "c1", "at": 1, "old": "Vintage", "new": "Vint."}
    world.answer(assignment, {"operations": [rename], "rejected": []})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    item = world.batch(
        "perturbation_rating", sources=list(world.project.sources.filter(name="written"))
    ).items.get()
    assert [one["maker"] for one in item.inputs["sides"].values()] == ["person"]
