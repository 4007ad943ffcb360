"""The whole road without a browser: import, three people, a decision, agreement, a release that verifies."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from annotation.access.roles import Role
from annotation.models import Decision, Person
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report
from annotation.queue import candidates as queue_candidates
from annotation.queue import resolutions
from annotation.releases import creation, verification
from annotation.workflow import adjudication, automatic_decisions, batches, projects
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both


def agree_on(world: World, batch, labels: dict[str, list[str]]) -> None:
    for who, said in labels.items():
        for label in said:
            world.label(batch, who, label)


def released(world: World, out: Path, name: str = "v1") -> dict:
    creation.make_release(
        project=world.project, name=name, format="freb_tqa", by=world.rea, now=NOON, out=out
    )
    verification.verify(out)
    return json.loads((out / "manifest.json").read_text())


def test_three_people_label_four_questions_and_a_release_comes_out(world: World, tmp_path: Path) -> None:
    batch = world.batch("question_type")
    agree_on(
        world,
        batch,
        {
            "ada": ["extraction", "extraction", "reasoning", "unanswerable"],
            "bo": ["extraction", "extraction", "reasoning", "unanswerable"],
            "cy": ["extraction", "reasoning", "neither", "extraction"],
        },
    )
    assert world.take(batch, "ada") is None
    assert automatic_decisions.resolve_due(now=NOON) == 0, "there is a minute for undo"
    assert automatic_decisions.resolve_due(now=NOON + timedelta(seconds=61)) == 4
    assert Decision.objects.filter(kind="accepted").count() == 3
    assert Decision.objects.get(kind="excluded").reason == "unanswerable"

    manifest = released(world, tmp_path / "out")

    kappa = next(figure for figure in manifest["agreement"] if figure["statistic"] == "fleiss_kappa")
    assert (kappa["units"], kappa["raters"]) == (4, 3)
    assert kappa["value"] == agreement_report.batch_figures(batch)[0].value
    labels = [json.loads(line) for line in (tmp_path / "out" / "question_type.json").open()]
    assert sorted(record["label"] for record in labels) == [0, 1, 1]
    assert (tmp_path / "out" / "01_str" / "wtq_factoid_dev.json").exists()


def test_two_releases_of_the_same_data_differ_only_in_what_names_them(world: World, tmp_path: Path) -> None:
    batch = world.batch("question_type", size=1)
    agree_on(world, batch, {who: ["extraction"] for who in ("ada", "bo", "cy")})
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    released(world, tmp_path / "a", "one")
    released(world, tmp_path / "b", "another")
    first, second = (
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "a", tmp_path / "b")
    )
    assert first.keys() == second.keys()
    assert {name for name in first if first[name] != second[name]} == {"CITATION.cff", "manifest.json"}


def test_an_edit_that_changes_the_answer_becomes_an_example_of_its_own(world: World, tmp_path: Path) -> None:
    batch = world.batch("value_change", variant="answer_changes", size=1)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    cell = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
    number = int(assignment.item.example.external_id.removeprefix("nu-"))
    cell |= {"row": f"r{number}", "at": [number, 1], "old": assignment.item.example.answers[0], "new": "2001"}
    world.answer(assignment, {"unanswerable": False, "operations": [cell], "answers": ["2001"], "reason": ""})
    automatic_decisions.resolve_due(now=NOON + timedelta(seconds=61))
    outcome = Decision.objects.get().outcomes.get()
    assert outcome.example is not None
    assert outcome.example.answers == ["2001"]
    assert outcome.example.parent == assignment.item.example
    manifest = released(world, tmp_path / "out")
    assert manifest["agreement"] == []
    changed = json.loads(
        (tmp_path / "out/03_agg_com/wtq_nonfactoid_dev_no_shuffle_ans_change.json").read_text()
    )
    assert changed["answers"] == ["2001"]
    assert changed["table"]["rows"][number][1] == "2001"


def test_a_split_vote_waits_for_an_adjudicator(world: World) -> None:
    batch = world.batch("question_type", size=1)
    agree_on(world, batch, {"ada": ["extraction"], "bo": ["reasoning"], "cy": ["neither"]})
    automatic_decisions.resolve_due(now=NOON + timedelta(seconds=61))
    item = resolutions.waiting(batch).get()
    candidates = queue_candidates.of_item(item)
    assert [candidate.letter for candidate in candidates] == ["A", "B", "C"]
    chosen = next(c for c in candidates if c.response.label == "reasoning")
    decision = adjudication.decide(
        item=item, by=world.ivo, note="Years are compared.", choose=[chosen.letter], now=NOON
    )
    assert decision.outcomes.get().response["data"] == {"label": "reasoning"}
    with pytest.raises(ActionRefused, match="decided"):
        adjudication.decide(item=item, by=world.ivo, note="Again.", choose=["A"], now=NOON)


def test_every_response_has_a_letter_of_its_own_however_many_there_are() -> None:
    names = queue_candidates.letters(703)
    assert names[:3] == ["A", "B", "C"]
    assert names[25:28] == ["Z", "AA", "AB"]
    assert names[51:53] == ["AZ", "BA"]
    assert names[701:] == ["ZZ", "AAA"]
    assert len(set(names)) == 703


def test_an_adjudicator_sees_more_responses_than_the_alphabet_has_letters(world: World) -> None:
    batch = world.batch("question_type", size=1, overlap=28)
    for number in range(28):
        person = Person.objects.create_person(f"P{number}", f"p{number}@example.org", "tilted tables")
        projects.add_member(
            project=world.project, person=person, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
        )
        world.people[f"p{number}"] = person
        world.label(batch, f"p{number}", ("extraction", "reasoning")[number % 2])
    automatic_decisions.resolve_due(now=NOON + timedelta(seconds=61))
    item = resolutions.waiting(batch).get()
    candidates = queue_candidates.of_item(item)
    assert [candidate.letter for candidate in candidates] == queue_candidates.letters(28)
    (last,) = [candidate for candidate in candidates if candidate.letter == "AB"]
    decision = adjudication.decide(item=item, by=world.ivo, note="So it is.", choose=["AB"], now=NOON)
    assert list(decision.outcomes.get().annotations.all()) == [last.annotation]
