"""Mixes: accepted perturbations of different levels composed in a release, and made again when it is verified."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, mixes, verification
from annotation.workflow import automatic_decisions
from tableqa import Example, Table
from tableqa.operations import RenameHeader
from tableqa.perturbations.mixes import MixedExample, Part
from tableqa.releases.record_files import Difference
from tests.annotation.cast import FILMS, NOON, World, make_world

LATER = NOON + timedelta(days=1)


def accepted(world: World, kind: str, variant: str, data: dict[str, Any]) -> None:
    """Ada's response to the first question, accepted."""
    batch = world.batch(kind, variant=variant, only=["nu-0"])
    assignment = world.take(batch, "ada")
    assert assignment is not None
    world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)


def perturbed_thrice(world: World) -> None:
    film = FILMS[0][0]
    rename = {"op": "rename_header", "column": "c1", "at": 1, "old": "Year", "new": "Released"}
    edit = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
    accepted(world, "header_synonym", "", {"operations": [rename], "rejected": []})
    accepted(
        world,
        "value_change",
        "answer_changes",
        {"unanswerable": False, "operations": [edit], "answers": ["1996"], "reason": ""},
    )
    question = f"in which year was {film} released (0)?"
    accepted(world, "question_paraphrase", "sentence", {"question": question, "category": "general"})


def release(world: World, out: Path, format: str, mix: int | None) -> dict[str, Any]:
    made = creation.make_release(
        project=world.project, name=out.name, format=format, by=None, now=LATER, out=out, mix=mix
    )
    verification.verify(out)
    return dict(made.manifest)


@pytest.mark.django_db(transaction=True)
def test_three_levels_give_three_pairs_and_one_triple(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    assert release(world, tmp_path / "plain", "askew", None)["mix"] is None
    assert not (tmp_path / "plain" / "mix.jsonl").exists()
    manifest = release(world, tmp_path / "mixed", "askew", 7)
    assert manifest["mix"] == {"seed": 7, "made": 4, "refused": {}}
    lines = (tmp_path / "mixed" / "mix.jsonl").read_text(encoding="utf-8").splitlines()
    mixes = [json.loads(line) for line in lines]
    assert sorted(len(mix["parts"]) for mix in mixes) == [2, 2, 2, 3]
    whole = next(mix for mix in mixes if len(mix["parts"]) == 3)
    assert whole["table"]["header"][1] == "Released"
    assert whole["table"]["rows"][0][1] == "1996"
    assert whole["answers"] == ["1996"]
    assert whole["question"].startswith("in which year")
    assert len({mix["id"] for mix in mixes}) == 4


@pytest.mark.django_db(transaction=True)
def test_robut_calls_them_combined(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    release(world, tmp_path / "robut", "robut", 7)
    mixes = json.loads((tmp_path / "robut" / "wtq_dev_combined.json").read_text(encoding="utf-8"))
    assert {mix["perturbation_type"] for mix in mixes} == {"combined"}
    assert {mix["original_id"] for mix in mixes} == {"nu-0"}


@pytest.mark.django_db(transaction=True)
def test_a_mix_that_the_decisions_do_not_give_is_found(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    release(world, tmp_path / "mixed", "askew", 7)
    path = tmp_path / "mixed" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["mix"]["made"] = 5
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(Difference, match="mix"):
        verification.verify(tmp_path / "mixed")


def test_questions_of_two_sources_that_share_an_id_are_not_mixed() -> None:
    table = Table(["Season", "Votes"], [["2018", "10"], ["2019", "12"]])
    asked = Example("q1", "how many votes in 2018?", table, ["10"])
    original = Example("q1", "how many votes in all?", table, ["22"])
    header = Part("headers", "header_synonym", (RenameHeader(column="c0", old="Season", new="Year"),))
    words = Part("question", "question_paraphrase", (), "what is the sum of the votes?")
    apart = list(mixes.compose([("a", asked, [header]), ("b", original, [words])], seed=7))
    assert apart == []
    together = mixes.compose([("b", original, [header, words]), ("a", asked, [header])], seed=7)
    assert [mixed.example.answers for _, _, mixed in together if isinstance(mixed, MixedExample)] == [("22",)]


@pytest.mark.django_db
def test_a_format_without_a_place_for_mixes_says_so(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.batch()
    with pytest.raises(ActionRefused, match="does not support mixes"):
        creation.make_release(project=world.project, name="v1", format="freb_tqa", by=None, now=LATER, mix=7)
