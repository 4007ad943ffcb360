"""Gold answers with several accepted forms, from an import to a release that is restored."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

import tableqa
from annotation.assistance import judgements as assistance_judgements
from annotation.assistance import verdict_line
from annotation.imports import example_import
from annotation.models import Batch, Decision, Example, Project
from annotation.platform.refusals import ActionRefused
from annotation.queue import resolutions
from annotation.releases import (
    creation,
    record_checks,
    tool_exports,
    verification,
)
from annotation.workflow import automatic_decisions
from tableqa.core.release_rules import RULES, under
from tableqa.data.answers import Answers, accepted
from tableqa.readers import READERS
from tableqa.releases import record_files, release_records
from tableqa.releases.record_files import Difference
from tableqa.releases.verification import describe
from tableqa.scoring import verdicts
from tableqa.scoring.verdicts import gold_of
from tasks.contract import InvalidResponse
from tests.annotation.cast import NOON, World
from tests.annotation.older_rules import made_by_rules
from tests.annotation.test_restoring import LATER, elsewhere, require_the_same, restore

ALT = {
    "id": "1",
    "question": "who won?",
    "answers": {"text": ["Broncos", "Denver Broncos"], "answer_start": [4, 0]},
    "table": [["Team", "Wins"], ["Denver Broncos", "3"], ["Panthers", "1"]],
}
LIST = {
    "id": "2",
    "question": "who played?",
    "answers": ["Ann", "Bob"],
    "table": [["Name"], ["Ann"], ["Bob"]],
}
BRONCOS = Answers(["Broncos"], [["Denver Broncos"]])
EDIT = {"op": "set_cell", "row": "r0", "column": "c0", "at": [0, 0], "old": "Denver Broncos", "new": "Jets"}


@pytest.fixture
def squad(world: World, tmp_path: Path) -> World:
    """The world with a source of its own, whose first answer has two forms and whose second is a list."""
    path = tmp_path / "squad.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (ALT, LIST)), "utf-8")
    done = example_import.import_examples(
        project=world.project, reader="own", path=path, name="squad", now=NOON
    )
    world.source = done.source
    return world


def page(world: World, who: str, batch: Batch) -> str:
    client = Client()
    client.force_login(world.people[who])
    return client.get(f"/batches/{batch.public_id}/annotate/").content.decode()


def submit(world: World, batch: Batch, who: str, data: dict[str, Any]) -> Any:
    assignment = world.take(batch, who)
    assert assignment is not None
    return world.answer(assignment, data)


def released(world: World, out: Path, format: Any = "askew") -> dict[str, Any]:
    creation.make_release(project=world.project, name=out.name, format=format, by=None, now=LATER, out=out)
    verification.verify(out)
    return release_records.read_manifest(out)


def lines(path: Path) -> list[dict[str, Any]]:
    return list(record_files.records(path))


def blind(world: World, example: str, *said: list[str]) -> Batch:
    """Two people answer an example without its gold answer."""
    batch = world.batch("answer_check", overlap=2, only=[example])
    for who, answers in zip(("bo", "cy"), said, strict=True):
        submit(world, batch, who, {"answers": answers, "unanswerable": False})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def changed(world: World, answers: list[str], variant: str = "answer_changes") -> Batch:
    batch = world.batch("value_change", variant=variant, only=["1"])
    edit = EDIT if variant == "answer_changes" else {**EDIT, "row": "r1", "at": [1, 0], "old": "Panthers"}
    data = {"unanswerable": False, "operations": [edit], "answers": answers, "reason": ""}
    submit(world, batch, "ada", data)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


@pytest.mark.django_db
def test_pages_show_every_form_with_or_between(squad: World) -> None:
    shown = page(squad, "ada", squad.batch("relevant_cells", only=["1"]))
    mara = Client()
    mara.force_login(squad.mara)
    stored = Example.objects.get(source=squad.source, external_id="1")

    assert (
        '<li dir="auto">Broncos</li><li dir="auto"><span class="soft">or</span> Denver Broncos</li>' in shown
    )
    for address in (f"/examples/{stored.public_id}/", f"/sources/{squad.source.public_id}/"):
        assert "Broncos or Denver Broncos" in mara.get(address).content.decode()
    assert "Ann | Bob" in mara.get(f"/sources/{squad.source.public_id}/").content.decode()


@pytest.mark.django_db
def test_an_example_with_other_forms_is_another_one_to_a_later_import(squad: World, tmp_path: Path) -> None:
    path, more = (
        tmp_path / "squad.jsonl",
        {"id": "3", "question": "and?", "answer": "Ann", "table": [["a"], ["x"]]},
    )
    for forms in (["Broncos"], ["Broncos", "The Broncos"]):
        path.write_text(json.dumps({**ALT, "answers": {"text": forms}}) + "\n" + json.dumps(more), "utf-8")
        with pytest.raises(ActionRefused, match="different answers"):
            example_import.import_examples(
                project=squad.project, reader="own", path=path, name="squad", now=NOON
            )


@pytest.mark.django_db
def test_a_blind_answer_in_another_accepted_form_is_equal_and_half_a_list_is_not(squad: World) -> None:
    blind(squad, "1", ["Denver Broncos"], ["broncos"])
    half = blind(squad, "2", ["Ann"], ["Ann"])

    decided = Decision.objects.values_list("item__example__external_id", "kind")
    assert list(decided) == [("1", "accepted")]
    assert [item.example.external_id for item in resolutions.waiting(half)] == ["2"]


@pytest.mark.django_db
def test_who_answers_blind_sees_no_form(squad: World) -> None:
    batch = squad.batch("answer_check", only=["1"])
    assignment = squad.take(batch, "ada")
    assert assignment is not None

    shown = assignment.batch.task().payload(assignment.plain_item)

    assert not {"answers", "alternatives"} & shown.keys()


@pytest.mark.django_db(transaction=True)
def test_a_release_keeps_verifies_evaluates_and_restores_alternatives(squad: World, tmp_path: Path) -> None:
    with elsewhere():
        blind(squad, "1", ["Denver Broncos"], ["broncos"])
        manifest = released(squad, tmp_path / "before")
        check_exports(tmp_path / "before", tmp_path)
        check_evaluation(tmp_path / "before", tmp_path)
    assert manifest["rules"] == RULES
    (source,) = [one for one in lines(tmp_path / "before" / "sources.jsonl") if one.get("id") == "1"]
    assert source["more"]["alternatives"] == [["Denver Broncos"]]
    (checked,) = lines(tmp_path / "before" / "answer_check.jsonl")
    assert (checked["alternatives"], checked["equal"]) == ([["Denver Broncos"]], True)
    assert [one.answers for one in READERS["askew"](tmp_path / "before" / "manifest.json")] == [BRONCOS]

    restore(tmp_path / "before")

    again = Project.objects.get(slug="restored")
    assert Example.objects.get(source__project=again, external_id="1").example().answers == BRONCOS
    creation.make_release(
        project=again, name="before", format="askew", by=None, now=LATER, out=tmp_path / "after"
    )
    verification.verify(tmp_path / "after")
    require_the_same(tmp_path / "before", tmp_path / "after")


def check_exports(release: Path, folder: Path) -> None:
    """Label Studio's tasks hold the forms; what cannot hold them says so."""
    call_command("export_release", release, folder / "ls", "--to", "label_studio")
    (file,) = (folder / "ls").glob("*.json")
    assert [one.answers for one in READERS["label_studio"](file)] == [BRONCOS]
    for form in ("csv", "argilla"):
        out = io.StringIO()
        call_command("export_release", release, folder / f"to_{form}", "--to", form, stdout=out)
        assert "alternative answers" in out.getvalue()
    assert "alternative" not in tool_exports.LOSES["label_studio"]


def check_evaluation(release: Path, folder: Path) -> None:
    """A model that gives another form is right; one that gives a part of it is wrong."""
    for said, accuracy in (("Denver Broncos", 1.0), ("Denver", 0.0)):
        file, out = folder / "predictions.jsonl", io.StringIO()
        file.write_text(json.dumps({"source": "squad", "id": "1", "answers": [said]}) + "\n", "utf-8")
        call_command("evaluate", str(release), "--predictions", str(file), "--json", stdout=out)
        (model,) = json.loads(out.getvalue())["models"]
        assert [row["after"]["value"] for row in model["rows"]] == [accuracy]


@pytest.mark.django_db(transaction=True)
def test_an_edit_that_keeps_the_answer_keeps_its_forms_and_another_answer_drops_them(
    squad: World, tmp_path: Path
) -> None:
    changed(squad, ["Jets"])
    changed(squad, [], variant="answer_stays")

    released(squad, tmp_path / "release")

    made = Example.objects.filter(parent__isnull=False).order_by("pk")
    assert [accepted(one.example().answers) for one in made] == [
        (("Jets",),),
        (("Broncos",), ("Denver Broncos",)),
    ]
    decisions = tmp_path / "release" / "decisions.jsonl"
    text = decisions.read_text("utf-8")
    assert text.count('"alternatives":[["Denver Broncos"]]') == 1
    decisions.write_text(text.replace('[["Denver Broncos"]]', '[["Panthers"]]'), "utf-8")
    manifest = release_records.read_manifest(tmp_path / "release")
    manifest["files"] = describe(tmp_path / "release")
    (tmp_path / "release" / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(Difference, match="alternatives"):
        verification.verify(tmp_path / "release")


@pytest.mark.django_db
def test_another_form_is_no_changed_answer(squad: World) -> None:
    batch = squad.batch("value_change", variant="answer_changes", only=["1"])
    assignment = squad.take(batch, "ada")
    assert assignment is not None
    data = {"unanswerable": False, "operations": [EDIT], "answers": ["Denver Broncos"], "reason": ""}

    with pytest.raises(InvalidResponse) as invalid:
        assignment.batch.task().parse(data, assignment.plain_item)

    assert [problem.code for problem in invalid.value.problems] == ["answer_unchanged"]


def test_a_verdict_is_stored_with_every_form_of_the_gold_answer() -> None:
    original = tableqa.Example("1", "who won?", tableqa.Table(["Team"], [["Broncos"]]), BRONCOS)
    asked = assistance_judgements.ExamplePair(original, dataclasses.replace(original, question="who lost?"))

    held = assistance_judgements.judge_pair(asked, said("Denver Broncos"), said("Denver"))

    assert held.verdict == "fooled"
    forms = {"original": [["Denver Broncos"]], "perturbed": [["Denver Broncos"]]}
    assert held.gold == {"original": ["Broncos"], "perturbed": ["Broncos"], "alternatives": forms}
    record: dict[str, Any] = {
        "id": "t",
        "original": said("Denver Broncos"),
        "perturbed": said("Denver"),
        "error": "",
    }
    judgements = {name: one.to_dict() if one else None for name, one in held.judgements.items()}
    stored: dict[str, Any] = {"gold": dict(held.gold), "judgements": judgements, "verdict": "fooled"}
    record_checks._check_verdict(record, stored)
    with pytest.raises(Difference, match="on the original answer differs"), under(9):
        record_checks._check_verdict(record, stored)
    line = verdict_line.parts(
        held, original=["Denver Broncos"], perturbed=["Denver"], score=None, of_meaning="", own={}
    )
    assert ("expected", "expected: Broncos or Denver Broncos") in line


def test_a_verdict_is_stored_with_what_is_first_in_dates() -> None:
    table = tableqa.Table(["Day"], [["5/12/2019"], ["12/25/2019"]])
    original = tableqa.Example("1", "when?", table, ["5/12/2019"])

    held = assistance_judgements.judge_pair(
        assistance_judgements.ExamplePair(original, None), said("May 12, 2019"), None
    )

    assert held.gold == {"original": ["5/12/2019"], "perturbed": [], "month_first": True}
    assert held.judgements["original"] == verdicts.judge(["2019-05-12"], gold_of(held.gold, "original"))
    assert not verdicts.judge(["2019-12-05"], gold_of(held.gold, "original")).right


@pytest.mark.django_db(transaction=True)
def test_a_release_by_rules_9_verifies_under_them(world: World, tmp_path: Path) -> None:
    table = tableqa.Table(["Day"], [["5/12/2019"]])
    world.source = world.import_written(tableqa.Example("1", "when?", table, ["5/12/2019"]))
    out = tmp_path / "release"
    with under(9):
        blind(world, "1", ["May 12, 2019"], ["2019-05-12"])
        creation.make_release(project=world.project, name="v", format="askew", by=None, now=LATER, out=out)

    manifest = made_by_rules(out, 9)

    verification.verify(out)
    assert [one["equal"] for one in lines(out / "answer_check.jsonl")] == [True]
    (out / "manifest.json").write_text(json.dumps({**manifest, "rules": 10}), "utf-8")
    with pytest.raises(Difference):
        verification.verify(out)


def said(answer: str) -> dict[str, Any]:
    return {"answers": [answer], "text": answer}
