"""Answer check: blind, differences have names, only real ones are for an adjudicator, accuracy has an interval."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.statistics.proportions import proportion
from tasks.answer_check.task import Response, difference_name, task
from tasks.contract import Acceptance, Item, NeedsAdjudication, ReportedResponse, Surroundings

TABLE = Table(["Year", "Sales", "Cost"], [["2019", "1,204.5", "902.2"], ["2018", "1,310.0", "951.4"]])


def item(*gold: str, contract: str = "answer_changes") -> Item:
    return Item(Example("tat-1", "by how much did sales change?", TABLE, gold), inputs={"contract": contract})


def said(*answers: str) -> Response:
    return Response(answers, unanswerable=not answers)


def resolve(gold: list[str], *answers: list[str]) -> Any:
    return task.resolve([said(*one) for one in answers], item(*gold))


def test_the_given_answer_is_accepted_however_it_is_written() -> None:
    found = resolve(["-105.5"], ["-105.5"], ["(105.5)"])
    assert isinstance(found, Acceptance)
    assert found.reason == ""
    assert [(o.response, o.by) for o in found.outcomes] == [(said("-105.5"), (0, 1))]


@pytest.mark.parametrize(
    ("gold", "answer", "note"),
    [
        (["3"], ["three"], "form"),
        (["12 %"], ["12"], "unit"),
        (["8.05"], ["8.0542"], "rounding"),
        (["a", "b"], ["b", "a"], "order"),
        (["Cuba"], ["cuba (won)"], ""),
    ],
)
def test_a_note_is_no_difference(gold: list[str], answer: list[str], note: str) -> None:
    assert difference_name(said(*answer), item(*gold)) == note
    found = resolve(gold, answer, gold)
    assert isinstance(found, Acceptance)
    assert found.reason == ""
    assert found.outcomes[0].by == (0, 1)
    assert found.outcomes[0].response == said(*gold), "the one nearest to the given answer as it is written"


@pytest.mark.parametrize(("answer", "name"), [("105.5", "sign"), ("-0.1055", "scale x1000")])
def test_a_lost_sign_or_another_scale_is_decided_under_its_name(answer: str, name: str) -> None:
    found = resolve(["-105.5"], ["-105.5"], [answer])
    assert isinstance(found, Acceptance)
    assert found.reason == name
    assert [(o.response, o.by) for o in found.outcomes] == [(said("-105.5"), (0,))]


@pytest.mark.parametrize(
    ("gold", "answer", "name"),
    [("2", "-2", "2 x sign"), ("-105.5", "105.5", "2 x sign"), ("5", "5000", "2 x scale x1000")],
)
def test_where_nobody_gives_it_somebody_looks_even_if_all_say_the_same(
    gold: str, answer: str, name: str
) -> None:
    """Two people who lose the same sign without seeing each other may have read the table better than its maker."""
    found = resolve([gold], [answer], [answer])
    assert isinstance(found, NeedsAdjudication)
    assert found.reason == f"No response matches the given answer: {name}."
    upheld = task.resolve_adjudicated([said(answer)] * 2, item(gold))
    assert isinstance(upheld, Acceptance)
    assert upheld.reason == name.removeprefix("2 x ")


@given(st.lists(st.sampled_from(["2", "-2", "2000", "two", "7", "2 km"]), min_size=1, max_size=4))
def test_nothing_is_decided_that_nobody_read_as_given(answers: list[str]) -> None:
    found = resolve(["2"], *([answer] for answer in answers))
    if isinstance(found, Acceptance):
        assert all(
            not difference_name(o.response, item("2")).startswith(("sign", "scale")) for o in found.outcomes
        )


@pytest.mark.parametrize(
    ("answers", "name"),
    [
        ([["a", "b"], ["a"]], "partial"),
        ([["a", "b"], ["c"]], "value"),
        ([["a", "b"], []], "unanswerable"),
        ([["c"], ["c"]], "2 x value"),
    ],
)
def test_a_real_difference_is_for_an_adjudicator_by_name(answers: list[list[str]], name: str) -> None:
    found = resolve(["a", "b"], *answers)
    assert isinstance(found, NeedsAdjudication)
    assert name in found.reason


def test_where_nobody_has_it_and_they_differ_somebody_looks() -> None:
    assert isinstance(resolve(["-105.5"], ["105.5"], ["-105500"]), NeedsAdjudication)


def test_an_adjudicator_may_find_that_the_given_answer_is_wrong() -> None:
    found = task.resolve_adjudicated([said("7"), said("7.0")], item("5"))
    assert isinstance(found, Acceptance)
    assert found.reason == "value"
    assert found.outcomes[0].by == (0, 1)
    assert isinstance(task.resolve_adjudicated([said("7"), said("5")], item("5")), NeedsAdjudication)
    assert task.resolve_adjudicated([said()], item("5")) == Acceptance((), "unanswerable")


def test_whoever_says_unanswerable_says_nothing_else() -> None:
    assert task.parse({"answers": ["5"], "unanswerable": True}, item("5")) == Response((), True)


def test_the_page_knows_neither_the_answer_nor_who_changed_the_table() -> None:
    text = json.dumps(task.payload(item("a gold answer")))
    assert "gold" not in text
    assert "answer_changes" not in text


def test_the_contract_that_made_the_example_is_kept_for_the_figures() -> None:
    example = item("5").example
    changed = task.prepare(example, Surroundings(original=example, perturbation="answer_stays"))
    original = task.prepare(example, Surroundings())
    assert changed is not None
    assert original is not None
    assert (changed.inputs["contract"], original.inputs["contract"]) == ("answer_stays", "original")


def test_an_adjudicator_reads_how_an_answer_differs() -> None:
    assert task.describe(said("105.5"), item("-105.5")) == [
        "Answer: 105.5",
        "Compared with the given answer, -105.5: the same except for the sign (sign).",
    ]


def answered(
    person: str, answer: list[str], source: str = "tat", contract: str = "answer_changes"
) -> ReportedResponse:
    return ReportedResponse(item("-105.5", contract=contract), source, person, said(*answer), None)


def test_each_persons_accuracy_is_given_for_each_source_and_contract() -> None:
    rows = [answered("p1", ["-105.5"]) for _ in range(185)] + [answered("p1", ["105.5"]) for _ in range(15)]
    rows += [answered("p2", ["-105.5"], contract="original"), answered("p2", [], source="wtq")]
    people, _ = task.report(rows)
    assert people.rows == (
        ("p1", "tat", "answer_changes", 200, 185, proportion(185, 200)),
        ("p2", "tat", "original", 1, 1, proportion(1, 1)),
        ("p2", "wtq", "answer_changes", 1, 0, proportion(0, 1)),
    )


def test_differences_are_counted_by_name() -> None:
    rows = [
        answered("p1", ["105.5"]),
        answered("p2", ["-105.5 kg"]),
        answered("p2", ["7"]),
        answered("p3", ["-105.5"]),
    ]
    _, found = task.report(rows)
    assert [(row[0], row[2], row[4]) for row in found.rows] == [
        ("sign", 1, "decided if a response gives it"),
        ("unit", 1, "equal"),
        ("value", 1, "adjudication"),
    ]


def test_two_agree_where_the_numbers_do() -> None:
    (measure,) = task.measures
    assert measure.value(said("1,204.5")) == measure.value(said("1204.50"))
    assert measure.value(said("b", "A ")) == measure.value(said("a", "b"))
    assert measure.value(said("a")) != measure.value(said())


def test_practice_names_the_difference() -> None:
    right, words = task.feedback(item("-5"), said("5"), said("-5"))
    assert not right
    assert words == ["Expected: -5", "Your answer is the same except for the sign."]
    assert task.feedback(item("-5"), said("-5"), said("-5")) == (True, [])


def test_what_was_checked_comes_out_beside_the_given_answer() -> None:
    (one,) = task.export("askew", item("-105.5"), said("105.5"), None)
    record = one.record
    assert (record["answers"], record["checked"], record["equal"], record["difference"]) == (
        ["-105.5"],
        ["105.5"],
        False,
        "sign",
    )
