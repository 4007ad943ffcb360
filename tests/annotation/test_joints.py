"""What later work rests on: everything an example may carry is stored, shown, exported and verified."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from annotation.models import Annotation, Example
from annotation.quality import guidelines
from annotation.releases import creation, verification
from annotation.workflow import assignments, automatic_decisions
from tableqa import Example as PlainExample
from tableqa import Table
from tableqa.data.examples import Context, Turn
from tableqa.data.tables import Span
from tasks.contract import task_type
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both

RICH = PlainExample(
    id="rich-1",
    question="and in 2018?",
    table=Table(
        header=["", "2019", "2018"],
        rows=[["Revenue", "1,234", "(9.9)"], ["=SUM(A1)", "<b>bold</b>", "שלום"], ["a\nb", "", " x "]],
        title="Net revenue",
        caption="in thousands",
        header_rows=[["", "Fiscal year", "Fiscal year"]],
        spans=[Span("h0", "c1", 1, 2)],
    ),
    answers=["(9.9)", "in thousands"],
    meta={"answer_type": "span", "rel": [[0, 1]]},
    context=Context(text="See note 7.", unit="USD", scale="thousand"),
    history=[Turn("what was the revenue in 2019?", ["1,234"])],
)


@pytest.fixture
def rich(world: World) -> Example:
    """An example with everything an example may carry, as it lies in the database."""
    return Example.objects.get(source=world.import_written(RICH))


def test_an_example_is_stored_whole(rich: Example) -> None:
    assert Example.objects.select_related("stored_table").get(pk=rich.pk).example() == RICH


def test_an_example_is_shown_whole(world: World, rich: Example) -> None:
    batch = world.batch("value_change", variant="answer_stays", sources=[rich.source])
    assignment = world.take(batch, "ada")
    assert assignment is not None
    shows = assignments.payload(assignment)["shows"]
    assert shows["table"]["title"] == "Net revenue"
    assert shows["table"]["header_rows"] == [["", "Fiscal year", "Fiscal year"]]
    assert shows["table"]["spans"]
    assert shows["context"] == {"text": "See note 7.", "unit": "USD", "scale": "thousand"}
    assert shows["history"] == [{"question": "what was the revenue in 2019?", "answers": ["1,234"]}]
    assert shows["answers"] == ["(9.9)", "in thousands"]
    assert "answer_type" not in json.dumps(shows)


def test_an_edit_of_it_is_exported_whole_and_verifies(world: World, rich: Example, tmp_path: Path) -> None:
    batch = world.batch("value_change", variant="answer_stays", sources=[rich.source])
    assignment = world.take(batch, "ada")
    assert assignment is not None
    cell = {"op": "set_cell", "row": "r2", "column": "c0", "at": [2, 0], "old": "a\nb", "new": "a\nc"}
    world.answer(assignment, {"unanswerable": False, "operations": [cell], "answers": [], "reason": ""})
    automatic_decisions.resolve_due(now=NOON + timedelta(seconds=61))
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="freb_tqa", by=None, now=NOON, out=out)
    assert verification.verify(out)["replayed"] == 1
    sources = [json.loads(line) for line in (out / "sources.jsonl").read_text().splitlines()]
    table = next(line for line in sources if line["kind"] == "table")
    assert Table.from_dict(table["content"]) == RICH.table
    example = next(line for line in sources if line["kind"] == "example")
    assert example["more"]["context"]["unit"] == "USD"
    changed = json.loads(next((out / "03_agg_com").glob("*ans_no_change.json")).read_text())
    assert changed["table"]["rows"] == [
        ["Revenue", "1,234", "(9.9)"],
        ["=SUM(A1)", "<b>bold</b>", "שלום"],
        ["a\nc", "", " x "],
    ]


def test_a_chain_of_edits_keeps_the_ids_of_the_source(world: World) -> None:
    first = world.batch("value_change", variant="answer_stays", size=1)
    second = world.batch("value_change", variant="answer_stays", sources=(), feeds_from=first)
    third = world.batch("question_type", sources=(), feeds_from=second, overlap=1)

    def edit(batch: Any, who: str, *operations: dict[str, Any]) -> None:
        assignment = world.take(batch, who)
        assert assignment is not None
        data = {"unanswerable": False, "operations": list(operations), "answers": [], "reason": ""}
        world.answer(assignment, data)
        automatic_decisions.resolve_batch(batch=batch, now=NOON)

    row = {"op": "remove_row", "row": "r1", "at": 1, "old": ["Alien", "1979", "117"]}
    edit(first, "ada", row)
    cell = {"op": "set_cell", "row": "r3", "column": "c2", "at": [3, 2], "old": "124", "new": "125"}
    edit(second, "bo", cell)
    checked = world.take(third, "cy")
    assert checked is not None
    table = checked.item.example.example().table
    assert table.row_ids == ("r0", "r2", "r3")
    assert table.cell("r3", "c2") == "125"
    assert [operation["op"] for operation in checked.item.example.operations] == ["remove_row", "set_cell"]
    assert world.take(third, "ada") is None, "who made an earlier step is a maker, too"
    assert world.take(third, "bo") is None


def test_annotations_keep_the_guidelines_they_were_made_under(world: World) -> None:
    batch = world.batch(size=2)
    world.label(batch, "ada", "extraction")
    guidelines.revise(
        project=world.project,
        task=task_type("question_type"),
        text="# Clearer\n",
        person=world.mara,
        now=NOON,
    )
    world.label(batch, "ada", "extraction")
    numbers = Annotation.objects.order_by("pk").values_list("guidelines__number", flat=True)
    assert list(numbers) == [1, 2]


def test_a_batch_planned_late_catches_up_with_what_was_decided(world: World) -> None:
    first = world.batch("question_type", size=2, overlap=1)
    for _ in range(2):
        world.label(first, "ada", "reasoning")
    automatic_decisions.resolve_batch(batch=first, now=NOON)
    second = world.batch("value_change", variant="answer_changes", sources=(), feeds_from=first)
    assert second.items_count == 2
    assert world.take(second, "ada") is not None, "a label makes nothing: whoever gave it may edit"


@pytest.mark.django_db(transaction=True)
def test_decisions_at_the_same_time_feed_one_batch_without_losing_any(world: World) -> None:
    first = world.batch("question_type", size=4, overlap=1)
    second = world.batch("value_change", variant="answer_changes", sources=(), feeds_from=first)
    for _ in range(4):
        world.label(first, "ada", "reasoning")
    errors: list[BaseException] = []

    def resolve(item_id: int) -> None:
        try:
            automatic_decisions.resolve_item(item_id=item_id, now=NOON)
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=resolve, args=(item.pk,)) for item in first.items.all()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert sorted(second.items.values_list("position", flat=True)) == [1, 2, 3, 4]
