"""What people said against an example since it was made: it is in no benchmark file, and the manifest says why."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Batch
from annotation.queue import candidates, resolutions
from annotation.releases import creation, verification
from annotation.releases.benchmark_files import FORMATS
from annotation.releases.model_evaluation import queries
from annotation.workflow import adjudication, automatic_decisions, perturbation_runs
from tableqa.releases import record_files, release_records
from tableqa.releases.record_files import Difference
from tests.annotation.cast import FILMS, NOON, World, make_world
from tests.annotation.test_mixing import LATER, perturbed_thrice

EDITED, CHECKED = "value_change_answer_changes.jsonl", "answer_check.jsonl"
DIGEST = re.compile(r"[0-9a-f]{64}")
CY_READS = {"upheld": "1996", "other": "1967"}


def edited(world: World, who: str = "ada") -> Batch:
    """Somebody changes the year that the answer to the first question is."""
    batch = world.batch("value_change", variant="answer_changes", only=["nu-0"])
    edit = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
    assignment = world.take(batch, who)
    assert assignment is not None
    world.answer(assignment, {"unanswerable": False, "operations": [edit], "answers": ["1996"], "reason": ""})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def checked(world: World, how: str, **more: Any) -> str:
    """Bo reads something else than was given; Ivo upholds Cy's answer, or excludes the item. Gives the example's id."""
    if "feeds_from" in more:
        more["sources"] = []
    batch = world.batch("answer_check", overlap=2, **more)
    for who, said in (("bo", "1979"), ("cy", CY_READS.get(how, "1967"))):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, {"answers": [said], "unanswerable": False})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    (item,) = resolutions.waiting(batch)
    of_cy = [
        one.letter for one in candidates.of_item(item) if one.annotation.assignment.person_id == world.cy.pk
    ]
    adjudication.decide(
        item=item,
        by=world.ivo,
        note="Read again.",
        choose=[] if how == "excluded" else of_cy,
        exclude="The question has two answers." if how == "excluded" else "",
        now=LATER,
    )
    return str(item.example.external_id)


def released(world: World, out: Path, format: str = "askew", mix: int | None = None) -> dict[str, Any]:
    made = creation.make_release(
        project=world.project, name=out.name, format=format, by=None, now=LATER, out=out, mix=mix
    )
    verification.verify(out)
    return dict(made.manifest)


def ids(path: Path) -> list[str]:
    return [record["id"] for record in record_files.records(path)] if path.exists() else []


@pytest.mark.django_db(transaction=True)
def test_an_edit_on_which_people_differ_waits_outside_the_benchmark_until_somebody_decides(
    tmp_path: Path,
) -> None:
    world = make_world(tmp_path)
    batch = world.batch("answer_check", overlap=2, sources=[], feeds_from=edited(world))
    for who, said in (("bo", "1979"), ("cy", "1996")):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, {"answers": [said], "unanswerable": False})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    (item,) = resolutions.waiting(batch)
    manifest = released(world, tmp_path / "waiting")
    (against,) = manifest["contradicted"]
    assert (against["id"], against["reason"], against["left_out"]) == (
        item.example.external_id,
        "undecided",
        True,
    )
    assert not ids(tmp_path / "waiting" / EDITED)
    of_cy = [
        one.letter for one in candidates.of_item(item) if one.annotation.assignment.person_id == world.cy.pk
    ]
    adjudication.decide(item=item, by=world.ivo, note="Read again.", choose=of_cy, exclude="", now=LATER)
    assert released(world, tmp_path / "decided")["contradicted"] == []
    assert ids(tmp_path / "decided" / EDITED)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("how", "reason"), [("excluded", "excluded"), ("other", "other_answer")])
def test_an_edit_that_people_contradict_is_in_no_benchmark_file(
    how: str, reason: str, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    id = checked(world, how, feeds_from=edited(world))
    for format in FORMATS:
        out = tmp_path / format
        manifest = released(world, out, format)
        (said,) = manifest["contradicted"]
        assert (said["id"], said["reason"], said["left_out"]) == (id, reason, True)
        assert manifest["counts"]["contradicted"] == 1
        for path in out.rglob("*"):
            is_raw = {"responses", "decisions"} & {path.parent.name, path.stem}  # as the format hf has them
            names = (*release_records.RAW, release_records.MANIFEST, CHECKED)
            is_code = path.suffix == ".py"  # the scoring that a release contains has years as examples
            if path.is_file() and not is_raw and not is_code and path.name not in names:
                text = DIGEST.sub("", path.read_text(encoding="utf-8", errors="replace"))
                assert "1996" not in text, path.name
        assert any(outcome["example"] for one in decisions(out) for outcome in one["outcomes"]), (
            "raw is whole"
        )
    assert not ids(tmp_path / "askew" / EDITED)
    assert id not in {one.id for one, _ in queries.instances(queries.load(tmp_path / "askew"))}


def decisions(out: Path) -> list[dict[str, Any]]:
    return list(record_files.records(out / "decisions.jsonl"))


@pytest.mark.django_db(transaction=True)
def test_an_edit_whose_answer_is_upheld_stays(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    id = checked(world, "upheld", feeds_from=edited(world))
    manifest = released(world, tmp_path / "out")
    assert (manifest["contradicted"], manifest["counts"]["contradicted"]) == ([], 0)
    assert len(ids(tmp_path / "out" / EDITED)) == 1
    assert id in {one.id for one, _ in queries.instances(queries.load(tmp_path / "out"))}


@pytest.mark.django_db(transaction=True)
def test_the_newest_word_on_an_example_counts(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    edits = edited(world)
    checked(world, "other", feeds_from=edits)
    checked(world, "upheld", feeds_from=edits)
    assert released(world, tmp_path / "out")["contradicted"] == []


@pytest.mark.django_db(transaction=True)
def test_a_contradicted_edit_is_no_part_of_a_mix(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    before = released(world, tmp_path / "before", mix=7)["mix"]["made"]
    checked(world, "other", feeds_from=Batch.objects.get(task_type="value_change"))
    after = released(world, tmp_path / "after", mix=7)
    assert (before, after["mix"]["made"]) == (4, 1)
    mixes = list(record_files.records(tmp_path / "after" / "mix.jsonl"))
    assert [record["parts"] for record in mixes] == [["header_synonym", "question_paraphrase"]]


@pytest.mark.django_db(transaction=True)
def test_what_was_made_of_a_contradicted_example_is_left_out_with_it(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    short = world.batch("short_table", only=["nu-0"])
    assignment = world.take(short, "ada")
    assert assignment is not None
    cut = {"op": "remove_row", "row": "r3", "at": 3, "old": FILMS[3]}
    data = {"unanswerable": False, "whole": False, "operations": [cut], "program": None}
    world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=short, now=LATER)
    edited(world, "bo")
    id = checked(world, "other", feeds_from=short)
    manifest = released(world, tmp_path / "out", "freb_tqa")
    said = {one["id"]: one["reason"] for one in manifest["contradicted"]}
    assert said == {id: "other_answer", f"{id}~answer_changes-1": "parent"}
    assert not (tmp_path / "out" / "03_agg_com").exists()
    instances = [one for one, _ in queries.instances(queries.load(tmp_path / "out"))]
    assert {one.baseline for one in instances} <= {one.id for one in instances}


@pytest.mark.django_db(transaction=True)
def test_an_original_that_people_contradict_is_listed_and_stays(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    edited(world)
    checked(world, "other", of="originals", only=["nu-0"])
    manifest = released(world, tmp_path / "out")
    (said,) = manifest["contradicted"]
    assert (said["id"], said["reason"], said["left_out"]) == ("nu-0", "other_answer", False)
    assert len(ids(tmp_path / "out" / EDITED)) == 1


@pytest.mark.django_db(transaction=True)
def test_an_automatic_perturbation_that_people_judged_is_released_and_left_out_if_they_contradict_it(
    tmp_path: Path,
) -> None:
    world = make_world(tmp_path)
    perturbation_runs.perform(
        perturbation_runs.plan_run(project=world.project, kinds=["row_shuffle"], seeds=[33], now=NOON)
    )
    id = checked(world, "excluded", of="automatic", size=1)
    for format in FORMATS:
        manifest = released(world, tmp_path / format, format)
        assert [(one["id"], one["left_out"]) for one in manifest["contradicted"]] == [(id, True)]
    kept = ids(tmp_path / "askew" / "perturbed.jsonl")
    assert len(kept) == 3
    assert id not in kept
    assert id not in {one.id for one, _ in queries.instances(queries.load(tmp_path / "askew"))}


@pytest.mark.django_db(transaction=True)
def test_a_contradiction_that_the_manifest_hides_is_found(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    checked(world, "other", feeds_from=edited(world))
    manifest = released(world, tmp_path / "out")
    manifest["contradicted"] = []
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Difference, match="contradicted is"):
        verification.verify(tmp_path / "out")
