"""Kinds that work on what other kinds decided: what goes on, who is kept out, and what a release says of it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.test import Client

from annotation.management import doctor
from annotation.models import Assignment, Batch, Example, Exclusion, Item
from annotation.queue import lineage
from annotation.releases import creation, verification
from annotation.workflow import automatic_decisions, batches
from tableqa import Example as Plain
from tableqa import Table
from tableqa.operations import RemoveColumn, RemoveRow, SetCell, normalise
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both

LATER = NOON + timedelta(hours=1)
TABLE = Table(
    ["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"], ["Ran", "1985", "162"]]
)
LONGER = {
    "op": "subtract",
    "left": {"op": "cell", "row": "r0", "column": "c2"},
    "right": {"op": "cell", "row": "r1", "column": "c2"},
}
QUESTION = Plain("nu-1", "how much longer is Heat than Alien?", TABLE, ["53"])
SHORT = [
    operation.to_dict()
    for operation in normalise(
        [
            RemoveRow(row="r2", old=TABLE.rows[2]),
            RemoveColumn(column="c1", old=("Year", "1995", "1979")),
        ],
        TABLE,
    )
]


def answer(world: World, batch: Batch, who: str, data: dict[str, Any]) -> Assignment:
    assignment = world.take(batch, who)
    assert assignment is not None, f"nothing for {who} in {batch}"
    world.answer(assignment, data)
    return assignment


def resolve(batch: Batch) -> None:
    automatic_decisions.resolve_batch(batch=batch, now=LATER)


def marked(*cells: str) -> dict[str, Any]:
    return {"cells": [[cell[:2], cell[2:]] for cell in cells], "unanswerable": False}


def shortened(**more: Any) -> dict[str, Any]:
    return {"unanswerable": False, "whole": False, "operations": SHORT, "program": LONGER, **more}


def changed(old: str, new: str, row: str, answers: list[str], **more: Any) -> dict[str, Any]:
    cell = SetCell(row=row, column="c2", old=old, new=new).to_dict()
    return {"unanswerable": False, "operations": [cell], "answers": answers, "reason": "", **more}


def only(batch: Batch) -> Item:
    return Item.objects.select_related("example", "batch").get(batch=batch)


def test_marked_cells_go_on_to_those_who_judge_shorten_and_change(world: World) -> None:
    source = world.import_written(QUESTION)
    cells = world.batch("relevant_cells", sources=[source])
    for who, said in (("ada", "r0c2 r1c2"), ("bo", "r0c2 r1c2 r1c0"), ("cy", "r0c2 r1c2")):
        answer(world, cells, who, marked(*said.split()))
    judged = world.batch("cell_relevance", feeds_from=cells, sources=[])
    resolve(cells)
    expected = {"cells": [["r0", "c2"], ["r1", "c2"]], "from": "cells marked by people in this project"}
    assert only(judged).inputs["evidence"] == expected
    barred = Exclusion.objects.filter(item__batch=judged).values_list("person__name", flat=True)
    assert sorted(barred) == ["Ada", "Bo", "Cy"], "nobody judges the cells that they marked"
    for kind, variant in (("short_table", ""), ("value_change", "answer_changes")):
        batch = world.batch(kind, variant=variant, sources=[source])
        assert only(batch).inputs["evidence"] == expected
        assert only(batch).plain().example.id == "nu-1"


def test_an_adjudicator_sees_which_cells_each_person_marked(world: World) -> None:
    source = world.import_written(QUESTION)
    cells = world.batch("relevant_cells", sources=[source])
    for who, said in (("ada", "r0c2"), ("bo", "r1c2"), ("cy", "r2c2")):
        answer(world, cells, who, marked(said))
    resolve(cells)
    client = Client()
    client.force_login(world.ivo)
    page = client.get(f"/items/{only(cells).public_id}/adjudicate/").content.decode()
    assert page.count('<span class="sr">marked by </span>') == 3
    assert "Row 3: Minutes (162)." in page


def test_shorten_change_and_answer_blind_and_nobody_meets_their_own_work(
    world: World, tmp_path: Path
) -> None:
    source = world.import_written(QUESTION)
    short = world.batch("short_table", sources=[source])
    change = world.batch("value_change", variant="answer_changes", feeds_from=short, sources=[])
    check = world.batch("answer_check", feeds_from=change, sources=[], overlap=1)

    answer(world, short, "ada", shortened())
    resolve(short)
    item = only(change)
    assert item.example.perturbation == "short_table"
    assert item.example.table().header == ("Film", "Minutes")
    assert item.inputs["program"]["program"] == LONGER
    assert item.inputs["original"] == {"id": "nu-1", "perturbation": "short_table"}
    assert world.take(change, "ada") is None, "Ada shortened this table"

    answer(world, change, "bo", changed("170", "180", "r0", ["63"], program=LONGER))
    resolve(change)
    item = only(check)
    assert item.example.answers == ["63"]
    assert item.example.example().program == LONGER
    assert [table.row_ids for table in [item.example.table()]] == [("r0", "r1")]
    for maker in ("ada", "bo"):
        assert world.take(check, maker) is None, f"{maker} helped to make this example"
    answer(world, check, "cy", {"answers": ["63"], "unanswerable": False})
    resolve(check)
    assert list(doctor.findings()) == []

    for batch in (short, change, check):
        batches.close_batch(batch=batch, by=world.mara, now=LATER)
    for format in ("freb_tqa", "askew"):
        out = tmp_path / format
        creation.make_release(
            project=world.project, name=format, format=format, by=world.rea, now=LATER, out=out
        )
        verification.verify(out)
    files = {
        path.stem.rpartition("no_shuffle_")[2]: path for path in (tmp_path / "freb_tqa").rglob("*nonfactoid*")
    }
    assert set(files) == {"ori_table", "short_table", "ans_change"}
    records = {name: [json.loads(line) for line in path.open()] for name, path in files.items()}
    assert {record["id"] for lines in records.values() for record in lines} == {"nu-1"}
    assert [record["answers"] for record in records["ans_change"]] == [["63"]]
    assert records["short_table"][0]["table"]["rows"] == [["Heat", "170"], ["Alien", "117"]]
    assert records["ans_change"][0]["table"]["rows"] == [["Heat", "180"], ["Alien", "117"]]
    own = json.loads((tmp_path / "askew" / "value_change_answer_changes.jsonl").read_text())
    assert own["program"] == LONGER


def test_a_value_change_starts_from_the_shortened_table_where_there_is_one(world: World) -> None:
    other = Plain("nu-2", "how long is Ran?", TABLE, ["162"])
    source = world.import_written(QUESTION, other)
    short = world.batch("short_table", sources=[source], only=["nu-1"])
    answer(world, short, "ada", shortened())
    resolve(short)
    change = world.batch("value_change", variant="answer_stays", sources=[source])
    started = {item.plain().example.id: item for item in Item.objects.filter(batch=change)}
    assert set(started) == {"nu-1~short_table-1", "nu-2"}
    parent = started["nu-1~short_table-1"].example.parent
    assert parent == Example.objects.get(source=source, external_id="nu-1")
    excluded = Exclusion.objects.filter(item__batch=change).values_list(
        "item__example__external_id", "person"
    )
    assert list(excluded) == [("nu-1~short_table-1", world.ada.pk)]
    short.set_aside_at = NOON
    short.save()
    anew = world.batch("value_change", variant="answer_stays", sources=[source])
    assert {item.plain().example.id for item in Item.objects.filter(batch=anew)} == {"nu-1", "nu-2"}
    short.set_aside_at = None
    short.save()
    # Planning again over the same examples makes nothing twice.
    again = list(
        Example.objects.filter(source=source, external_id__in=["nu-1", "nu-2"]).values_list("pk", flat=True)
    )
    assert lineage.make_items(batch=change, examples=again) == 0


def test_a_table_that_is_needed_whole_goes_on_as_it_is(world: World) -> None:
    source = world.import_written(QUESTION)
    short = world.batch("short_table", sources=[source])
    change = world.batch("value_change", variant="answer_changes", feeds_from=short, sources=[])
    answer(world, short, "ada", shortened(operations=[], whole=True))
    resolve(short)
    assert only(change).example.external_id == "nu-1"
    assert not Example.objects.perturbed().exists()


def test_what_nobody_can_answer_goes_nowhere(world: World) -> None:
    source = world.import_written(QUESTION)
    short = world.batch("short_table", sources=[source])
    change = world.batch("value_change", variant="answer_changes", feeds_from=short, sources=[])
    answer(world, short, "ada", shortened(operations=[], program=None, unanswerable=True))
    resolve(short)
    assert not Item.objects.filter(batch=change).exists()


@pytest.mark.parametrize("format", ["askew", "freb_tqa"])
def test_a_release_of_responses_of_an_older_version_verifies(
    world: World, tmp_path: Path, format: str
) -> None:
    """Value changes of version 1, which knew no programs, as they lie in databases and releases."""
    source = world.import_written(QUESTION)
    change = world.batch("value_change", variant="answer_changes", sources=[source], overlap=2)
    kind = type(change.task())
    envelope = kind.envelope

    def of_version_1(self: Any, response: Any, item: Any) -> dict[str, Any]:
        stored = envelope(self, response, item)
        older = {
            name: value for name, value in stored["data"].items() if name not in ("program", "difference")
        }
        return {**stored, "version": 1, "data": older}

    with patch.object(kind, "envelope", of_version_1):
        answer(world, change, "ada", changed("170", "180", "r0", ["63"]))
        answer(world, change, "bo", changed("117", "118", "r1", ["52"]))
        resolve(change)
    batches.close_batch(batch=change, by=world.mara, now=LATER)
    out = tmp_path / "out"
    creation.make_release(project=world.project, name="old", format=format, by=world.rea, now=LATER, out=out)
    found = verification.verify(out)
    assert (found["annotations"], found["replayed"]) == (2, 2)
