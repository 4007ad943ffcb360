"""Contracts: what must hold of a perturbation. The half that the browser shares is a file of vectors."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.cells import ColumnFormats, format_of, same_format
from tableqa.operations import Operation, OperationError, RemoveRow, SetCell, from_list, normalise, replay
from tableqa.perturbations.contracts import Contract, ContractError, check, structure
from tableqa.programs import attempt
from tableqa.programs.syntax import Cell
from tests.tableqa.strategies import edits, texts

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "contracts.json").read_text("utf-8"))
VOTES = Table(["Name", "Votes"], [["Ann", "1,204"], ["Bob", "361"]])
BASE = Example("nt-1", "how many votes did bob get?", VOTES, ["361"])
FEWER = SetCell(row="r1", column="c1", old="361", new="12")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_the_shared_vectors(case: dict[str, Any]) -> None:
    table, operations = Table.from_dict(case["table"]), from_list(case["operations"])
    violations = structure(Contract.from_dict(case["contract"]), table, operations, case.get("reason", ""))
    if "index" in case:
        with pytest.raises(OperationError) as error:
            replay(table, operations)
        assert [violation.code for violation in violations] == [error.value.code]
        assert [violation["code"] for violation in case["violations"]] == [error.value.code]
        assert error.value.index == case["index"]
    else:
        assert [violation.to_dict() for violation in violations] == case["violations"]
        assert [operation.to_dict() for operation in normalise(operations, table)] == case["net"]
        assert replay(table, operations).to_wire() == case["edited"]


@pytest.mark.parametrize("case", VECTORS["formats"], ids=lambda case: case["text"])
def test_the_shared_formats(case: dict[str, Any]) -> None:
    found = dataclasses.asdict(format_of(case["text"]))
    assert {name: value for name, value in found.items() if value} == case["format"]


@pytest.mark.parametrize("case", VECTORS["same_format"], ids=lambda case: f"{case['old']} {case['new']}")
def test_the_shared_judgements_of_formats(case: dict[str, Any]) -> None:
    assert same_format(case["old"], case["new"], ColumnFormats(case["column"])) is case["same"]


@given(st.lists(texts, min_size=1), texts)
def test_what_a_column_says_already_is_never_pointed_out(column: list[str], old: str) -> None:
    """Nor is a row that is not filled in yet, nor a text that stayed."""
    formats = ColumnFormats(column)
    for text in column:
        assert same_format(old, text, formats)
        assert same_format(None, text, formats)
    assert same_format(old, old, formats)
    assert same_format(None, "", formats)


@given(st.lists(texts), texts, texts)
def test_the_order_of_the_rows_says_nothing_about_how_a_column_is_written(
    column: list[str], old: str, new: str
) -> None:
    backwards = ColumnFormats(column[::-1])
    assert same_format(old, new, ColumnFormats(column)) is same_format(old, new, backwards)


def edited(operations: list[Operation], answers: list[str], base: Example = BASE) -> Example:
    return dataclasses.replace(base, table=replay(base.table, operations), answers=tuple(answers))


@pytest.mark.parametrize(
    ("answer", "answers", "codes"),
    [
        ("changes", ["12"], []),
        ("changes", ["361"], ["answer_unchanged"]),
        ("changes", ["361.0"], ["answer_unchanged"]),
        ("changes", ["361 votes"], ["answer_unchanged"]),
        ("changes", ["-361"], []),
        ("changes", ["361", "12"], []),
        ("changes", [], ["answer_missing"]),
        ("changes", ["", " "], ["answer_missing"]),
        ("stays", ["361"], []),
        ("stays", ["three hundred sixty-one"], []),
        ("stays", ["12"], ["answer_changed"]),
        ("stays", ["-361"], ["answer_changed"]),
        ("stays", ["361,000"], ["answer_changed"]),
        ("any", ["12"], []),
        ("any", [], []),
    ],
)
def test_what_an_answer_must_do(answer: Any, answers: list[str], codes: list[str]) -> None:
    violations = check(Contract(answer=answer), BASE, edited([FEWER], answers), [FEWER])
    assert [violation.code for violation in violations] == codes


@pytest.mark.parametrize(
    ("contract", "answers", "message"),
    [
        (Contract(answer="changes"), ["361"], "The answer is still “361”. It must change."),
        (
            Contract(answer="changes"),
            ["361 votes"],
            "The answer “361 votes” is only “361” with or without its unit. It must change.",
        ),
        (
            Contract(answer="stays"),
            ["-361"],
            "The answer was “361” and is now “-361” (only the sign differs). It must not change.",
        ),
        (
            Contract(answer="stays"),
            ["361,000"],
            "The answer was “361” and is now “361,000” (by the factor 1,000). It must not change.",
        ),
        (
            Contract(answer="stays"),
            ["361", "12"],
            "The answer was “361” and is now “361”, “12” (some answers are the same). It must not change.",
        ),
    ],
)
def test_a_violation_says_what_is_the_matter(contract: Contract, answers: list[str], message: str) -> None:
    (violation,) = check(contract, BASE, edited([FEWER], answers), [FEWER])
    assert violation.message == message
    assert violation.to_dict() == {"code": violation.code, "message": message, "level": "error"}


VOTES_OF_BOB = Cell("r1", "c1")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["12"], None),
        (["12 votes"], None),
        (["twelve"], None),
        (
            ["-12"],
            "Your answer is “-12”, but the program gives “12” (only the sign differs).",
        ),
        (
            ["12000"],
            "Your answer is “12000”, but the program gives “12” (by the factor 1,000).",
        ),
        (
            ["21"],
            "Your answer is “21”, but the program gives “12”.",
        ),
    ],
)
def test_a_typed_answer_is_held_against_the_computed_one(answers: list[str], message: str | None) -> None:
    example = edited([FEWER], answers)
    computed = attempt(VOTES_OF_BOB, example.table)
    violations = check(Contract(answer="changes"), BASE, example, [FEWER], computed=computed)
    mend = "Fix the answer or the table, or say why they differ."
    expected = [] if message is None else [("computed_answer_differs", f"{message} {mend}", "error")]
    assert [(v.code, v.message, v.level) for v in violations] == expected


def test_a_stated_reason_lifts_the_difference_from_the_computed_answer() -> None:
    example = edited([FEWER], ["21"])
    computed = attempt(VOTES_OF_BOB, example.table)
    assert check(Contract(), BASE, example, [FEWER], "the caption says so", computed=computed) == []
    blank = check(Contract(), BASE, example, [FEWER], " ", computed=computed)
    assert [v.code for v in blank] == ["computed_answer_differs"]


def test_without_a_program_or_an_answer_nothing_is_compared() -> None:
    assert check(Contract(), BASE, edited([FEWER], ["21"]), [FEWER]) == []
    codes = [
        v.code for v in check(Contract(answer="changes"), BASE, edited([FEWER], []), [FEWER], computed=["12"])
    ]
    assert codes == ["answer_missing"]


def test_a_program_that_does_not_run_is_told_and_stops_nobody() -> None:
    gone = RemoveRow(row="r1", old=("Bob", "361"))
    example = edited([gone], ["21"])
    computed = attempt(VOTES_OF_BOB, example.table)
    (violation,) = check(Contract(answer="changes"), BASE, example, [gone], computed=computed)
    assert violation.to_dict() == {
        "code": "program_fails",
        "message": "The program cannot run on this table: The program needs row 2 of the source, "
        "which is removed. Check the answer yourself.",
        "level": "warning",
    }


def test_another_answer_to_the_same_table_is_pointed_out() -> None:
    codes = [v.code for v in check(Contract(answer="changes"), BASE, edited([], ["12"]), [])]
    assert codes == ["same_table_other_answer"]
    codes = [v.code for v in check(Contract(table="differs", answer="stays"), BASE, edited([], ["12"]), [])]
    assert codes == ["table_unchanged", "same_table_other_answer", "answer_changed"]


def test_the_edited_table_must_be_what_the_operations_make() -> None:
    other = dataclasses.replace(
        BASE, table=Table(["Name", "Votes"], [["Ann", "1,204"], ["Bob", "13"]]), answers=("13",)
    )
    assert [v.code for v in check(Contract(), BASE, other, [FEWER])] == ["table_differs_from_operations"]


@pytest.mark.parametrize("gold", [(), ("", " ")])
def test_without_a_gold_answer_nothing_says_what_should_stay(gold: tuple[str, ...]) -> None:
    base = dataclasses.replace(BASE, answers=gold)
    for answers in ([], ["12"]):
        assert check(Contract(answer="stays"), base, edited([FEWER], answers, base), [FEWER]) == []
    assert check(Contract(answer="changes"), base, edited([FEWER], ["12"], base), [FEWER]) == []
    (missing,) = check(Contract(answer="changes"), base, edited([FEWER], [], base), [FEWER])
    assert missing.code == "answer_missing"
    (gone,) = check(Contract(answer="stays"), BASE, edited([FEWER], []), [FEWER])
    assert gone.code == "answer_missing", "an answer that was there does not just go"


def test_operations_that_do_not_replay_are_a_violation() -> None:
    stale = [FEWER, FEWER]
    violations = check(Contract(answer="changes"), BASE, edited([FEWER], ["12"]), stale)
    assert [v.code for v in violations] == ["stale_base"]
    assert "operation 2" in violations[0].message


def test_warnings_are_told_from_errors() -> None:
    operation = SetCell(row="r1", column="c1", old="361", new="some")
    (violation,) = structure(Contract(), VOTES, [operation])
    assert (violation.code, violation.level) == ("cell_format", "warning")
    (violation,) = structure(Contract(cell_format="require"), VOTES, [operation])
    assert violation.level == "error"
    assert structure(Contract(cell_format="ignore"), VOTES, [operation]) == []


def test_a_removed_row_is_one_operation_however_many_edits_it_had() -> None:
    operations: list[Operation] = [
        SetCell(row="r1", column="c0", old="Bob", new="Bo"),
        SetCell(row="r1", column="c1", old="361", new="362"),
        RemoveRow(row="r1", old=("Bo", "362")),
    ]
    assert structure(Contract(at_most=1), VOTES, operations) == []


contracts = st.builds(
    Contract,
    table=st.sampled_from(["differs", "any"]),
    answer=st.sampled_from(["changes", "stays", "any"]),
    at_most=st.none() | st.integers(0, 5),
    more_with_reason=st.booleans(),
    allowed=st.none() | st.lists(st.sampled_from(["set_cell", "insert_row", "transpose"])).map(tuple),
    protected=st.lists(
        st.tuples(st.sampled_from(["r0", "r1", "h", "n1"]), st.sampled_from(["c0", "c1"]))
    ).map(tuple),
    cell_format=st.sampled_from(["warn", "require", "ignore"]),
)


@given(contracts)
def test_a_contract_survives_json(contract: Contract) -> None:
    assert Contract.from_dict(json.loads(json.dumps(contract.to_dict()))) == contract


@given(edits(), contracts)
def test_any_edit_can_be_checked_and_its_net_list_is_judged_alike(
    edit: tuple[Table, list[Operation]], contract: Contract
) -> None:
    base, operations = edit
    violations = structure(contract, base, operations)
    assert structure(contract, base, operations) == violations
    assert structure(contract, base, normalise(operations, base)) == violations


def test_fields_left_out_have_their_defaults() -> None:
    assert Contract.from_dict({}) == Contract()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "a contract is an object"),
        ([], "a contract is an object"),
        ({"tables": "differs"}, "a contract has no field tables"),
        ({"table": "equal"}, "table must be one of differs, gone, any"),
        ({"table": ["differs"]}, "table must be one of"),
        ({"answer": None}, "answer must be one of"),
        ({"cell_format": True}, "cell_format must be one of"),
        ({"at_most": -1}, "at_most must be 0 or more"),
        ({"at_most": True}, "at_most must be 0 or more"),
        ({"at_most": 2.0}, "at_most must be 0 or more"),
        ({"more_with_reason": 1}, "more_with_reason must be true or false"),
        ({"allowed": "set_cell"}, "allowed must be a list"),
        ({"allowed": ["explode"]}, "allowed must be one of"),
        ({"allowed": [[]]}, "allowed must be one of"),
        ({"protected": {}}, "protected must be a list"),
        ({"protected": [["r0"]]}, "not a \\[row id, column id\\] pair"),
        ({"protected": ["r0"]}, "not a \\[row id, column id\\] pair"),
        ({"protected": [["r0", 1]]}, "not a \\[row id, column id\\] pair"),
    ],
)
def test_what_is_no_contract_is_refused(data: object, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        Contract.from_dict(data)


def test_a_batch_may_ask_for_other_terms_but_allows_no_more_and_unprotects_nothing() -> None:
    own = Contract(at_most=2, allowed=("set_cell", "remove_row"), protected=(("r0", "c0"),))
    asked = own.overridden(
        {
            "at_most": 1,
            "allowed": ["set_cell", "transpose"],
            "protected": [["r1", "c1"]],
            "cell_format": "require",
        }
    )
    assert (asked.at_most, asked.allowed, asked.cell_format) == (1, ("set_cell",), "require")
    assert asked.protected == (("r0", "c0"), ("r1", "c1"))
    assert own.overridden(None) == own.overridden({}) == own
    with pytest.raises(ContractError, match="no field answer_is"):
        own.overridden({"answer_is": "42"})
