"""Value change: edits stand on their own, the answer is judged by what it means, the release form is FREB-TQA's."""

from __future__ import annotations

from typing import Any

import pytest

from tableqa import Example, Table
from tasks.contract import Accepted, Adjudicate, Invalid, Item
from tasks.value_change.task import Response, task

EXAMPLE = Example(
    id="nu-1",
    question="how many minutes is heat?",
    table=Table(header=["Film", "Minutes"], rows=[["Heat", "1,170"], ["Alien", "117"]]),
    answers=["1,170"],
    meta={"context": "csv/1-csv/1.csv"},
)


def item(variant: str = "answer_changes", **settings: Any) -> Item:
    return Item(EXAMPLE, variant, settings)


def cell(new: str, old: str = "1,170", row: str = "r0") -> dict[str, Any]:
    return {"op": "set_cell", "row": row, "column": "c1", "at": [int(row[1:]), 1], "old": old, "new": new}


def data(*operations: dict[str, Any], answers: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "unanswerable": False,
        "operations": list(operations),
        "answers": list(answers),
        "reason": "",
        **more,
    }


def codes(raw: dict[str, Any], where: Item) -> list[str]:
    with pytest.raises(Invalid) as invalid:
        task.parse(raw, where)
    return [problem.code for problem in invalid.value.problems]


def test_another_spelling_of_the_answer_is_no_other_answer() -> None:
    assert "answer_unchanged" in codes(data(cell("1,171"), answers=("1170",)), item())


def test_an_edit_that_restores_the_old_value_is_no_edit() -> None:
    assert "table_unchanged" in codes(data(cell("5"), cell("1,170", old="5"), answers=("5",)), item())


def test_edits_of_one_cell_count_once() -> None:
    response = task.parse(data(cell("5"), cell("6", old="5"), cell("7", old="6"), answers=("7",)), item())
    assert [operation.to_dict()["new"] for operation in response.operations] == ["7"]


def test_a_batch_may_ask_that_the_form_of_a_column_is_kept() -> None:
    broken = data(cell("very long"), answers=("very long",))
    assert task.parse(broken, item()).answers == ("very long",), "a warning by default"
    assert "cell_format" in codes(broken, item(cell_format="require"))


def test_a_change_that_keeps_the_answer_has_no_new_answer() -> None:
    response = task.parse(data(cell("118", old="117", row="r1"), answers=("ignored",)), item("answer_stays"))
    assert response.answers == ()
    perturbed = task.perturb(item("answer_stays"), response)
    assert perturbed is not None
    assert perturbed.example.answers == EXAMPLE.answers


def test_whoever_says_unanswerable_says_nothing_else() -> None:
    assert task.parse(data(cell("5"), unanswerable=True), item()) == Response(unanswerable=True)


def test_every_valid_edit_stands_on_its_own() -> None:
    edits = [Response(False, (), ("1",)), Response(False, (), ("2",))]
    resolution = task.resolve(edits, item())
    assert isinstance(resolution, Accepted)
    assert [outcome.by for outcome in resolution.outcomes] == [(0,), (1,)]
    assert task.resolve([Response(True)], item()) == Accepted((), "unanswerable")
    assert isinstance(task.resolve([*edits, Response(True)], item()), Adjudicate)


def test_the_original_and_the_changed_table_come_out_under_one_id() -> None:
    response = task.parse(data(cell("1,175"), answers=("1,175",)), item())
    records = list(task.export("freb_tqa", item(), response, task.perturb(item(), response)))
    assert [exported.part.rpartition("no_shuffle_")[2] for exported in records] == ["ori_table", "ans_change"]
    original, changed = (exported.record for exported in records)
    assert original["id"] == changed["id"] == "nu-1"
    assert changed["table"] == {
        "header": ["Film", "Minutes"],
        "rows": [["Heat", "1,175"], ["Alien", "117"]],
        "name": "csv/1-csv/1.csv",
    }
    assert original["table"]["rows"][0] == ["Heat", "1,170"]
