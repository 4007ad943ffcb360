"""Gold answers with several accepted forms: each is right on its own, half of a list is not, and none gets lost."""

from __future__ import annotations

import csv
import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tableqa.core.release_rules import under
from tableqa.data.answer_scales import compare_scaled
from tableqa.data.answers import (
    Answers,
    Comparison,
    accepted,
    alternatives_of,
    compare,
    in_words,
    with_alternatives,
)
from tableqa.data.examples import Example, ExampleError
from tableqa.data.tables import Table
from tableqa.readers import READERS
from tableqa.scoring import tat_metric
from tableqa.scoring.evaluation import judge as judged_by
from tableqa.scoring.matchers import tapex, wtq_official
from tableqa.scoring.matching import MATCHES, ORIGINAL, GeneratedText, Instance
from tableqa.scoring.verdicts import gold_of, judge, verdict
from tableqa.writers.askew import askew_record
from tests.tableqa.reports import report_of

SQUAD = {"text": ["Broncos", "Denver Broncos"], "answer_start": [4, 0]}
BRONCOS = Answers(["Broncos"], [["Denver Broncos"]])
LISTED = Answers(["Ann", "Bob"], [["Ann Lee", "Bob Ray"], ["both"]])
TABLE = Table(["a"], [["x"]])


def read(folder: Path, *records: dict[str, Any], name: str = "q.jsonl", **fields: str) -> list[Example]:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    reader: Any = READERS["own"]
    return list((reader.with_fields(fields) if fields else reader)(path))


def record(**more: Any) -> dict[str, Any]:
    return {"question": "who?", "table": [["a"], ["x"]], **more}


# -- import -----------------------------------------------------------------------------------------


def test_each_text_of_squads_record_is_right_and_both_together_are_not(tmp_path: Path) -> None:
    (example,) = read(tmp_path, record(answers=SQUAD))

    assert accepted(example.answers) == (("Broncos",), ("Denver Broncos",))
    for said in ("Broncos", "denver broncos"):
        assert compare([said], example.answers).equal
    for wrong in (["Denver"], ["Broncos", "Denver Broncos"], [], ["Panthers"]):
        assert not compare(wrong, example.answers).equal
    assert example.meta["answers"]["answer_start"] == (4, 0)


def test_half_of_a_real_list_is_wrong(tmp_path: Path) -> None:
    (example,) = read(tmp_path, record(answers=["Ann", "Bob"]))

    assert not alternatives_of(example.answers)
    assert compare(["Ann"], example.answers) == Comparison(equal=False, difference="partial")


@pytest.mark.parametrize(
    ("answers", "forms"),
    [
        ([{"text": "Ann", "answer_start": 0}, {"text": "Ann Lee"}, {"text": "Ann"}], ["Ann", "Ann Lee"]),
        ({"text": "Ann"}, ["Ann"]),
        ({"text": ["Ann", "Ann"]}, ["Ann"]),
        ({"text": []}, []),
    ],
)
def test_other_objects_of_squad_are_read_likewise(tmp_path: Path, answers: Any, forms: list[str]) -> None:
    (example,) = read(tmp_path, record(answers=answers))

    assert accepted(example.answers) == (tuple((form,) for form in forms) or ((),))


@pytest.mark.parametrize(
    ("more", "fields", "forms"),
    [
        ({"answer": "A", "refs": ["B", "C"]}, {"alternatives": "refs"}, (["A"], ["B"], ["C"])),
        ({"refs": ["B", "C"]}, {"alternatives": "refs"}, (["B"], ["C"])),
        ({"answer": ["A", "B"], "refs": [["C", "D"]]}, {"alternatives": "refs"}, (["A", "B"], ["C", "D"])),
        ({"answer": "A", "refs": "B|C"}, {"alternatives": "refs"}, (["A"], ["B"], ["C"])),
        ({"answer": "A", "refs": "['B', 'C']"}, {"alternatives": "refs"}, (["A"], ["B"], ["C"])),
        ({"answer": "A", "answer_aliases": ["B"]}, {}, (["A"], ["B"])),
        ({"answer": "A", "answer_aliases": ["A", ""]}, {}, (["A"],)),
        ({"answer": "A", "answer_aliases": None}, {}, (["A"],)),
        ({"answer": "A", "alternatives": ["B"]}, {}, (["A"],)),
    ],
)
def test_a_column_may_be_chosen_as_alternatives(
    tmp_path: Path, more: dict[str, Any], fields: dict[str, str], forms: Any
) -> None:
    (example,) = read(tmp_path, record(**more), **fields)

    assert accepted(example.answers) == tuple(map(tuple, forms))
    assert "refs" not in example.meta


def test_a_report_counts_answers_with_several_forms(tmp_path: Path) -> None:
    read(tmp_path, record(answers=SQUAD), record(answers=["Ann", "Bob"]))

    found = report_of(tmp_path / "q.jsonl").findings

    assert {(finding.kind, finding.number, finding.text) for finding in found} == {
        ("alternatives", 1, "Broncos or Denver Broncos"),
        ("several", 1, "Ann | Bob"),
    }


@pytest.mark.parametrize(
    ("reader", "name", "content"),
    [
        (
            "jsonl",
            "q.jsonl",
            {"id": "1", "question": "who?", "answers": ["Broncos"], "alternatives": ["Denver Broncos"],
             "table": {"header": ["a"], "rows": [["x"]]}},
        ),
        (
            "label_studio",
            "q.json",
            [{"id": 1, "data": {"question": "who?", "answers": ["Broncos"], "table": [["a"], ["x"]],
                                "answer_alternatives": [["Denver Broncos"]]}}],
        ),
        (
            "label_studio",
            "q.json",
            [{"id": 1, "data": {"question": "who?", "answers": SQUAD, "table": [["a"], ["x"]]}}],
        ),
    ],
)  # fmt: skip
def test_other_readers_keep_alternatives(tmp_path: Path, reader: str, name: str, content: Any) -> None:
    (tmp_path / name).write_text(json.dumps(content), "utf-8")

    (example,) = READERS[reader](tmp_path / name)

    assert example.answers == BRONCOS


# -- the example ------------------------------------------------------------------------------------


def test_an_example_keeps_its_alternatives_until_it_has_other_answers() -> None:
    example = Example("1", "who?", TABLE, BRONCOS)

    for again in (
        Example.from_dict(json.loads(json.dumps(example.to_dict()))),
        Example.stored("1", "who?", TABLE, ["Broncos"], example.beside()),
        pickle.loads(pickle.dumps(example)),
        dataclasses.replace(example),
        example.over(TABLE),
    ):
        assert again == example
        assert again.answers == BRONCOS
    assert dataclasses.replace(example, question="why?").answers == BRONCOS
    assert not alternatives_of(dataclasses.replace(example, answers=("Panthers",)).answers)
    assert example != Example("1", "who?", TABLE, ["Broncos"])


def test_records_without_alternatives_are_what_they_were() -> None:
    example = Example("1", "who?", TABLE, with_alternatives(["Ann"], [["Ann"]]))

    assert type(example.answers) is tuple
    assert example.beside() == {}
    assert askew_record(example).keys() == {"id", "question", "answers", "table"}
    assert askew_record(Example("1", "who?", TABLE, BRONCOS))["alternatives"] == [["Denver Broncos"]]


@pytest.mark.parametrize("alternatives", ["Ann", ["Ann"], [[]], [[1]], 5])
def test_alternatives_are_lists_of_answers(alternatives: Any) -> None:
    data = Example("1", "who?", TABLE, ["Ann"]).to_dict()

    with pytest.raises(ExampleError):
        Example.from_dict({**data, "alternatives": alternatives})


def test_alternatives_are_called_or() -> None:
    assert in_words(LISTED) == "Ann | Bob or Ann Lee | Bob Ray or both"
    assert in_words(["Ann", "Bob"]) == "Ann | Bob"
    assert in_words([]) == ""


# -- matching ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", [["Ann", "Bob"], ["Bob Ray", "Ann Lee"], ["both"]])
def test_every_rule_accepts_each_form_of_a_list(said: list[str]) -> None:
    assert compare(said, LISTED).equal
    assert compare(LISTED, said).equal
    assert compare(said, LISTED, ordered=True).equal == (said != ["Bob Ray", "Ann Lee"])
    assert wtq_official(said, LISTED)
    assert tapex(said, LISTED)
    assert tat_metric.score(said, LISTED).em
    assert judge(said, LISTED).right


@pytest.mark.parametrize("said", [["Ann"], ["Ann", "Bob Ray"], ["Ann Lee"], ["Ann", "Bob", "both"]])
def test_no_rule_accepts_half_of_a_form_or_a_mixture(said: list[str]) -> None:
    assert not compare(said, LISTED).equal
    assert not wtq_official(said, LISTED)
    assert not tapex(said, LISTED)
    assert not tat_metric.score(said, LISTED).em
    assert not judge(said, LISTED).right


def test_the_nearest_form_names_the_difference() -> None:
    gold = Answers(["ten"], [["1,305"], ["-7"]])

    assert compare(["1305"], gold) == Comparison(equal=True, difference="form")
    assert compare(["7"], gold) == Comparison(equal=False, difference="sign")
    assert compare(["13.05"], gold).difference == "scale"
    assert compare_scaled(["1305000"], gold, "thousand").equal


def test_a_verdict_counts_the_form_by_which_the_model_is_right() -> None:
    gold = {"original": ["Broncos"], "perturbed": ["5 km"], "alternatives": {"perturbed": [["5,000 m"]]}}

    original, perturbed = (
        judge(["Broncos"], gold_of(gold, "original")),
        judge(["5000 m"], gold_of(gold, "perturbed")),
    )

    assert verdict(original, perturbed) == "not_fooled"
    assert verdict(original, judge(["six"], gold_of(gold, "perturbed"))) == "fooled"
    assert verdict(judge(["Denver Broncos"], BRONCOS), None) == "pending"
    assert judge([], BRONCOS, "Denver Broncos").wtq


def test_an_evaluation_accepts_each_form_by_every_rule() -> None:
    instances = [
        Instance("s", "1", "1", ORIGINAL, 0, "1", BRONCOS),
        Instance("s", "2", "2", ORIGINAL, 0, "2", LISTED),
    ]
    for match in MATCHES:
        for said, right in ((["Denver Broncos"], True), (["Denver"], False)):
            predictions: Any = {("s", "1"): said, ("s", "2"): GeneratedText(["Ann Lee, Bob Ray"])}
            judgement = judged_by(instances, predictions, match=match)
            assert [one.after for one in judgement.judged] == [right, match != "wtq"], match


def test_rules_before_10_knew_one_form() -> None:
    with under(9):
        assert not compare(["Denver Broncos"], BRONCOS).equal
        assert not wtq_official(["Denver Broncos"], BRONCOS)
        assert compare(["Broncos"], BRONCOS).equal
    assert compare(["Denver Broncos"], BRONCOS).equal


# -- dates that can be read in two ways ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("dates", "right", "wrong"),
    [
        (["25/12/2019"], "2019-12-05", "2019-05-12"),
        (["12/25/2019"], "2019-05-12", "2019-12-05"),
        (["12/25/2019", "25/12/2019"], "2019-12-05", "2019-05-12"),
        (["5/12/2019"], "5 December 2019", "May 12, 2019"),
        (["12.13.2019", "12/25/2019"], "May 12, 2019", "5 December 2019"),
    ],
)
def test_a_date_in_two_readings_equals_one_of_them_as_its_table_has_dates(
    dates: list[str], right: str, wrong: str
) -> None:
    table = Table(["day"], [[date] for date in dates])
    for gold, said in (("5/12/2019", right), (right, "5/12/2019"), ("5/12/2019", "05/12/2019")):
        answers = Example("1", "when?", table, [gold]).answers
        assert compare([said], answers).equal
        assert compare_scaled([said], answers).equal
        assert judge([said], answers).right
        assert (
            judged_by(
                [Instance("s", "1", "1", ORIGINAL, 0, "1", answers)],
                {("s", "1"): [said]},
            )
            .judged[0]
            .after
        )
    for gold, said in (("5/12/2019", wrong), (wrong, "5/12/2019"), ("5/12/2019", "12/5/2019")):
        answers = Example("1", "when?", table, [gold]).answers
        assert not compare([said], answers).equal
        assert not judge([said], answers).right
    with under(9):
        assert compare(["5/12/2019"], [right]).equal
        assert compare(["5/12/2019"], [wrong]).equal


def test_what_is_stored_of_an_edit_keeps_the_reading_that_its_table_says_no_more() -> None:
    original = Example("1", "when?", Table(["day"], [["5/12/2019"], ["3/25/2018"]]), ["5/12/2019"])
    short = dataclasses.replace(original, table=Table(["day"], [["5/12/2019"]]))

    for example in (Example.from_dict(short.to_dict()), Example.from_dict(original.to_dict())):
        assert compare(["12 May 2019"], example.answers).equal
        assert not compare(["5 December 2019"], example.answers).equal
    assert "month_first" not in original.to_dict()
    with pytest.raises(ExampleError, match="month_first"):
        Example.from_dict({**short.to_dict(), "month_first": "yes"})


def test_alternatives_and_edits_keep_the_order_of_dates() -> None:
    table = Table(["day"], [["12/25/2019"], ["5/12/2019"]])
    example = Example("1", "when?", table, Answers(["5/12/2019"], [["that day"]]))

    shorter = dataclasses.replace(example, table=Table(["day"], [["5/12/2019"]]))

    assert shorter.answers == example.answers
    for said in ("May 12, 2019", "that day"):
        assert judge([said], shorter.answers).right
    assert not judge(["2019-12-05"], shorter.answers).right
    assert judge(["2019-12-05"], shorter.answers).near


@pytest.mark.parametrize(
    "text",
    [
        "{'text': array(['Broncos', 'Denver Broncos'], dtype=object), 'answer_start': array([4, 0])}",
        '{"text": ["Broncos", "Denver Broncos"], "answer_start": [4, 0]}',
        "[{'text': 'Broncos', 'answer_start': 4}, {'text': 'Denver Broncos', 'answer_start': 0}]",
    ],
)
def test_squads_answers_are_alternatives_in_a_text_of_pandas_or_json_too(tmp_path: Path, text: str) -> None:
    with (tmp_path / "squad.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["question", "answers", "table"], ["who won?", text, "Team,Wins\nBroncos,3"]]
        )
    (example,) = READERS["own"](tmp_path / "squad.csv")
    assert example.answers == BRONCOS
    assert example.meta == {"answers": text}
