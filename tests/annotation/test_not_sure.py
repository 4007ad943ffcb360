"""Not sure: a mark beside a response. It is kept, shown and released, and decides nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.models import Annotation, Assignment, Batch
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report
from annotation.queue import candidates, resolutions
from annotation.releases import creation
from annotation.releases.verification import verify
from annotation.workflow import assignments, automatic_decisions
from tableqa.releases.record_files import Difference, records
from tests.annotation.cast import NOON, World, envelope
from tests.annotation.test_releasing import LATER, rewrite

LABELS = (("ada", "extraction"), ("bo", "extraction"), ("cy", "reasoning"))


def submit(assignment: Assignment, label: str, *, unsure: bool) -> Annotation:
    response = envelope(assignment, {"label": label})
    return assignments.submit(
        assignment=assignment, response={**response, "unsure": True} if unsure else response, now=NOON
    )


def label_all(world: World, batch: Batch, *, unsure: set[str]) -> None:
    for who, label in LABELS:
        while (assignment := world.take(batch, who)) is not None:
            submit(assignment, label, unsure=who in unsure)


def took(world: World, **more: Any) -> Assignment:
    assignment = world.take(world.batch(**{"size": 1, **more}), "ada")
    assert assignment is not None
    return assignment


def test_the_mark_is_stored_beside_the_response_and_is_no_part_of_it(world: World) -> None:
    assignment = took(world)
    plain = envelope(assignment, {"label": "extraction"})

    stored = submit(assignment, "extraction", unsure=True)

    assert Annotation.objects.get().unsure is True
    assert stored.response == plain


def test_a_response_without_the_mark_has_none(world: World) -> None:
    assert submit(took(world), "extraction", unsure=False).unsure is None


@pytest.mark.parametrize("value", ["yes", 1, None, False])
def test_only_true_marks(world: World, value: object) -> None:
    assignment = took(world)
    response = {**envelope(assignment, {"label": "extraction"}), "unsure": value}
    assert assignments.submit(assignment=assignment, response=response, now=NOON).unsure is None


def test_undo_brings_the_mark_back_with_the_draft(world: World) -> None:
    assignment = took(world)
    stored = submit(assignment, "extraction", unsure=True)

    assignments.undo(annotation=stored, now=NOON)

    again = world.reload(assignment)
    assert again.draft.response["unsure"] is True
    submit(again, "extraction", unsure=False)
    assert [one.unsure for one in Annotation.objects.order_by("revision")] == [True, None, None]


def test_a_draft_keeps_the_mark(world: World) -> None:
    assignment = took(world)
    response = {**envelope(assignment, {"label": ""}), "unsure": True}
    assignments.save_draft(assignment=assignment, revision=0, response=response, now=NOON)
    assert assignments.payload(world.reload(assignment))["draft"]["response"]["unsure"] is True


def test_the_same_submission_again_is_one_and_another_mark_is_another_answer(world: World) -> None:
    assignment = took(world)
    stored = submit(assignment, "extraction", unsure=True)
    assert submit(world.reload(assignment), "extraction", unsure=True) == stored
    with pytest.raises(ActionRefused):
        submit(world.reload(assignment), "extraction", unsure=False)


def test_labels_and_agreement_are_those_without_the_mark(world: World) -> None:
    outcomes = []
    for unsure in (set(), {"ada", "cy"}, {"ada", "bo", "cy"}):
        batch = world.batch(size=3, overlap=3)
        label_all(world, batch, unsure=unsure)
        automatic_decisions.resolve_batch(batch=batch, now=LATER)
        figures = [figure.to_dict() for figure in agreement_report.batch_figures(batch)]
        decided = batch.items.order_by("position").values_list("decision__kind", "adjudication__reason")
        outcomes.append((figures, list(decided)))
    assert outcomes[1:] == outcomes[:1] * 2
    assert outcomes[0][0]


def test_adjudicators_see_who_was_not_sure_under_the_letter(world: World, client: Client) -> None:
    batch = world.batch(size=1, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        assignment = world.take(batch, who)
        assert assignment is not None
        submit(assignment, label, unsure=who == "bo")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    item = resolutions.waiting(batch).get()

    marked = {one.response.label: one.unsure for one in candidates.of_item(item)}
    client.force_login(world.ivo)
    page = client.get(f"/items/{item.public_id}/adjudicate/").content.decode()
    told = client.get(f"/api/batches/{batch.public_id}/adjudication/").json()[0]["candidates"]

    assert marked == {"extraction": False, "reasoning": True}
    assert page.count("not sure") == 1
    assert sorted(one["unsure"] for one in told) == [False, True]


def test_the_interface_takes_the_mark_and_returns_it(world: World, client: Client) -> None:
    assignment = took(world)
    client.force_login(world.ada)
    body = {"response": {**envelope(assignment, {"label": "extraction"}), "unsure": True}}
    answer = client.post(
        f"/api/assignments/{assignment.public_id}/submit/", body, content_type="application/json"
    )
    assert answer.json()["annotation"]["unsure"] is True


def test_without_scripts_a_box_is_ticked(world: World, client: Client) -> None:
    assignment = took(world)
    client.force_login(world.ada)
    address = f"/batches/{assignment.batch.public_id}/annotate/"
    form = {"assignment": assignment.public_id, "base": assignment.plain_item.base, "label": "extraction"}

    client.post(address, {**form, "unsure": "1", "action": "save"})
    page = client.get(f"{address}?assignment={assignment.public_id}").content.decode()
    assert 'name="unsure" value="1" checked' in page
    client.post(address, {**form, "unsure": "1", "action": "submit"})

    assert Annotation.objects.get().unsure is True


def released(world: World, tmp_path: Path) -> Path:
    batch = world.batch(size=2, overlap=3)
    label_all(world, batch, unsure={"bo"})
    automatic_decisions.resolve_due(now=LATER)
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=out)
    return out


def test_a_release_names_the_mark_and_verifies(world: World, tmp_path: Path) -> None:
    out = released(world, tmp_path)
    marks = [record.get("unsure") for record in records(out / "annotations.jsonl")]
    assert sorted(marks, key=str) == [None, None, None, None, True, True]
    verify(out)


@pytest.mark.parametrize("forged", [False, "yes", 1, None])
def test_a_mark_that_is_not_true_does_not_verify(world: World, tmp_path: Path, forged: object) -> None:
    out = released(world, tmp_path)
    rewrite(out, "annotations.jsonl", lambda lines: lines[0].update(unsure=forged))
    with pytest.raises(Difference, match="'unsure' is not true"):
        verify(out)


@pytest.mark.parametrize("name", ["simulated", "external", "sent_back", "way_back"])
def test_a_mark_that_is_neither_true_nor_false_does_not_verify(
    world: World, tmp_path: Path, name: str
) -> None:
    out = released(world, tmp_path)
    rewrite(out, "annotations.jsonl", lambda lines: lines[0].update({name: "%s%n"}))
    with pytest.raises(Difference, match=f"{name!r} is neither true nor false"):
        verify(out)


def test_an_added_slot_that_is_neither_true_nor_false_does_not_verify(world: World, tmp_path: Path) -> None:
    out = released(world, tmp_path)
    rewrite(out, "annotations.jsonl", lambda lines: lines[0]["place"].update(added="no"))
    with pytest.raises(Difference, match="'added' is neither true nor false"):
        verify(out)
