"""A response that leaves a soft condition unmet needs a reason or a confirmation, and carries a flag from then on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.models import Annotation, Assignment, Batch
from annotation.platform.refusals import ActionRefused
from annotation.queue import candidates
from annotation.releases import creation
from annotation.releases.verification import verify
from annotation.workflow import assignments, automatic_decisions
from tableqa import Example, Table
from tableqa.releases.record_files import Difference, records
from tests.annotation.cast import NOON, World, envelope
from tests.annotation.test_releasing import LATER, rewrite

LEAGUE = Example(
    id="league",
    question="how many games did maynooth win?",
    table=Table(
        ["Team", "Won", "Lost", "Played"],
        [
            ["Greystones", "3", "1", "4"],
            ["Ballymore", "2", "2", "4"],
            ["Maynooth", "5", "1", "6"],
            ["Fingal", "1", "0", "1"],
        ],
    ),
    answers=["5"],
)


def without(*columns: str, reason: str = "") -> dict[str, Any]:
    """A response of column_masking that removes these columns."""
    table = LEAGUE.table
    operations = [
        {
            "op": "remove_column",
            "column": column,
            "at": table.column_index(column),
            "old": [table.header[table.column_index(column)], *table.column(column)],
        }
        for column in columns
    ]
    return {"does_not_apply": False, "operations": operations, "reason": reason}


SHORT = {
    "unanswerable": False,
    "whole": False,
    "operations": [{"op": "remove_row", "row": "r3", "at": 3, "old": list(LEAGUE.table.rows[3])}],
    "program": None,
    "worked_out": False,
}


def taken(world: World, kind: str, who: str = "ada", **more: Any) -> Assignment:
    """The assignment of a batch of this task type over one example."""
    batch = world.batch(kind, sources=[world.import_written(LEAGUE)], **more)
    held = world.take(batch, who)
    assert held is not None
    return held


@pytest.mark.parametrize(
    ("kind", "data", "code"),
    [
        ("column_masking", without("c0"), "not_derivable"),
        ("short_table", SHORT, "nothing_to_check_against"),
    ],
)
def test_an_unmet_condition_is_refused_until_it_is_confirmed(
    world: World, kind: str, data: dict[str, Any], code: str
) -> None:
    held = taken(world, kind)
    response = envelope(held, data)
    for confirmed in ([], ["another_code"]):
        with pytest.raises(ActionRefused) as refused:
            assignments.submit(assignment=held, response=response, now=NOON, confirmed=confirmed)
        assert refused.value.code == "unmet_conditions"
        assert [condition["code"] for condition in refused.value.more["unmet"]] == [code]
    assert not Annotation.objects.exists()
    stored = assignments.submit(assignment=held, response=response, now=NOON, confirmed=[code])
    assert stored.unmet == [code]
    assert Annotation.objects.get().unmet == [code]


def test_a_reason_needs_no_confirmation_and_the_flag_stays(world: World) -> None:
    held = taken(world, "column_masking")
    data = without("c0", reason="The club with the most games is listed first.")
    stored = assignments.submit(assignment=held, response=envelope(held, data), now=NOON)
    assert stored.unmet == ["not_derivable"]


def test_a_response_that_meets_every_condition_has_no_flag(world: World) -> None:
    held = taken(world, "column_masking")
    stored = assignments.submit(
        assignment=held, response=envelope(held, without("c3")), now=NOON, confirmed=["not_derivable"]
    )
    assert stored.unmet is None


def test_a_new_submission_after_undo_is_asked_about_again(world: World) -> None:
    held = taken(world, "column_masking")
    first = world.answer(held, without("c0"))
    again = world.reload(assignments.undo(annotation=first, now=NOON))
    with pytest.raises(ActionRefused, match="how to work out “Team”"):
        assignments.submit(assignment=again, response=envelope(again, without("c0")), now=NOON)


def test_the_api_names_what_is_unmet_and_takes_the_confirmation(world: World, client: Client) -> None:
    held = taken(world, "column_masking")
    client.force_login(world.ada)
    body: dict[str, Any] = {"response": envelope(held, without("c0"))}
    address = f"/api/assignments/{held.public_id}/submit/"
    refused = client.post(address, json.dumps(body), "application/json")
    assert refused.status_code == 422
    assert refused.json()["code"] == "unmet_conditions"
    [condition] = refused.json()["unmet"]
    assert (condition["code"], condition["level"]) == ("not_derivable", "warning")
    body["confirmed"] = [condition["code"]]
    accepted = client.post(address, json.dumps(body), "application/json")
    assert accepted.status_code == 200, accepted.content
    assert accepted.json()["annotation"]["unmet"] == ["not_derivable"]
    repeated = client.post(address, json.dumps({"response": body["response"]}), "application/json")
    assert repeated.status_code == 200, "a retry of a stored submission"


def test_the_page_without_scripts_asks_once(world: World, client: Client) -> None:
    held = taken(world, "column_masking")
    client.force_login(world.ada)
    assignments.save_draft(assignment=held, revision=0, response=envelope(held, without("c0")), now=NOON)
    address = f"/batches/{held.batch.public_id}/annotate/"
    post = {"assignment": held.public_id, "base": held.plain_item.base, "action": "submit", "reason": ""}
    asked = client.post(address, post)
    assert asked.status_code == 422
    assert "how to work out “Team”" in asked.content.decode()
    assert '<input type="hidden" name="confirmed" value="not_derivable">' in asked.content.decode()
    assert client.post(address, post | {"confirmed": "not_derivable"}).status_code == 302
    assert Annotation.objects.get().unmet == ["not_derivable"]


def adjudicated(world: World) -> Batch:
    """A batch in which two people answered differently, one of them with an unmet condition."""
    batch = world.batch(
        "column_masking", sources=[world.import_written(LEAGUE)], overlap=2, resolve={"rule": "unanimous"}
    )
    for who, data in (("ada", without("c0")), ("bo", without("c3"))):
        held = world.take(batch, who)
        assert held is not None
        world.answer(held, data)
    return batch


def test_adjudicators_see_which_response_leaves_a_condition_unmet(world: World, client: Client) -> None:
    batch = adjudicated(world)
    automatic_decisions.resolve_due(now=LATER)
    item = batch.items.get()
    assert {candidate.unmet for candidate in candidates.of_item(item)} == {
        (),
        ("The table does not show how to work out “Team” from the rest. Explain how, or restore it.",),
    }
    client.force_login(world.ivo)
    page = client.get(f"/items/{item.public_id}/adjudicate/").content.decode()
    assert page.count("Unmet condition: The table does not show how to work out “Team”") == 1


def test_a_release_contains_the_flag_and_verifies(world: World, tmp_path: Path) -> None:
    held = taken(world, "column_masking")
    world.answer(held, without("c0"))
    other = taken(world, "short_table", who="bo")
    world.answer(other, SHORT | {"whole": True, "operations": []})
    automatic_decisions.resolve_due(now=LATER)
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=out)
    verify(out)
    unmet = {record["response"]["type"]: record.get("unmet") for record in records(out / "annotations.jsonl")}
    assert unmet == {"column_masking": ["not_derivable"], "short_table": None}


@pytest.mark.parametrize("forged", ["not_derivable", [], [3], None])
def test_a_flag_that_is_no_list_of_codes_does_not_verify(world: World, tmp_path: Path, forged: Any) -> None:
    world.answer(taken(world, "column_masking"), without("c0"))
    automatic_decisions.resolve_due(now=LATER)
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=out)

    def forge(lines: list[dict[str, Any]]) -> None:
        lines[0]["unmet"] = forged

    rewrite(out, "annotations.jsonl", forge)
    with pytest.raises(Difference, match="'unmet' is not a list of codes"):
        verify(out)
