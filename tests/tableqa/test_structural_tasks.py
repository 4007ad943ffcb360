"""SUC's tasks: every right answer is accepted, the switches change one thing each, nothing says the answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Span, Table
from tableqa.readers import READERS
from tableqa.scoring.structural_tasks import (
    BASELINE,
    STRUCTURAL_TASKS,
    SWITCHES,
    Design,
    NotApplicable,
    SolvedExample,
    build,
    designs,
)
from tableqa.scoring.structural_tasks.prompt_designs import FORMATS, MARKS, ROLE
from tableqa.scoring.structural_tasks.self_augmentation import (
    INTRODUCTION,
    MOST_KNOWLEDGE,
    REQUESTS,
    Augmentation,
    first,
    second,
)
from tableqa.serialisations import SERIALISATIONS, SUC
from tests.tableqa.strategies import tables

PEOPLE = Table(["Name", "Age", "Sex"], [["Sophia", "26", "F"], ["Raj", "34", "M"], ["Ann", "26", "F"]])
MERGED = Table(
    ["", "Q1", "Q2"],
    [["Sales", "1", "2"], ["Costs", "3", ""]],
    header_rows=[["Item", "2019", ""]],
    spans=[Span("h0", "c1", 1, 2), Span("h0", "c0", 2, 1), Span("r1", "c1", 1, 2)],
)
every_task = pytest.mark.parametrize("name", STRUCTURAL_TASKS)


def test_there_are_seven() -> None:
    assert list(STRUCTURAL_TASKS) == [
        "table_partition",
        "cell_lookup",
        "reverse_lookup",
        "column_retrieval",
        "row_retrieval",
        "size_detection",
        "merged_cell_detection",
    ]


def test_rows_are_counted_without_the_header() -> None:
    assert STRUCTURAL_TASKS["size_detection"](PEOPLE, seed=3).accepted == ("3|3",)
    assert STRUCTURAL_TASKS["size_detection"](Table(["a", "b"], []), seed=3).accepted == ("0|2",)


def test_a_table_begins_at_its_header_or_below_it() -> None:
    assert STRUCTURAL_TASKS["table_partition"](PEOPLE).accepted == ("Name|F", "Sophia|F")
    assert STRUCTURAL_TASKS["table_partition"](MERGED).accepted == ("Item|", "Sales|")
    assert STRUCTURAL_TASKS["table_partition"](Table(["x"], [["x"]])).accepted == ("x|x",)


def test_every_position_of_a_repeated_value_is_right() -> None:
    items = [STRUCTURAL_TASKS["cell_lookup"](PEOPLE, seed=seed) for seed in range(40)]

    twice = next(item for item in items if "“26”" in item.request)
    assert twice.accepted == ("0|1", "2|1")
    assert all(twice.is_right(answer) for answer in ("0|1", " 2 | 1 ", "2|1."))
    assert not twice.is_right("1|1")
    assert "any one of them" in twice.request
    once = next(item for item in items if "“Raj”" in item.request)
    assert once.accepted == ("1|0",)
    assert "any one of them" not in once.request


@given(table=tables, seed=st.integers(0, 99))
def test_a_lookup_and_its_reverse_agree_with_the_table(table: Table, seed: int) -> None:
    try:
        lookup = STRUCTURAL_TASKS["cell_lookup"](table, seed=seed)
        reverse = STRUCTURAL_TASKS["reverse_lookup"](table, seed=seed)
    except NotApplicable:
        assert not any(cell.strip() for row in table.rows for cell in row)
        return
    texts = set()
    for place in lookup.accepted:
        i, j = map(int, place.split("|"))
        texts.add(" ".join(table.rows[i][j].split()))
    (text,) = texts
    assert f"“{text}”" in lookup.request
    everywhere = sum(" ".join(cell.split()) == text for row in table.rows for cell in row)
    assert len(lookup.accepted) == everywhere
    (value,) = reverse.accepted
    assert any(value in row for row in table.rows)
    assert lookup.is_right(lookup.accepted[-1])


def test_a_column_is_its_name_and_a_row_its_cells() -> None:
    names = {STRUCTURAL_TASKS["column_retrieval"](PEOPLE, seed=seed).accepted for seed in range(40)}
    rows = {STRUCTURAL_TASKS["row_retrieval"](PEOPLE, seed=seed).accepted for seed in range(40)}

    assert names == {("Name",), ("Age",), ("Sex",)}
    assert rows == {("Sophia|26|F",), ("Raj|34|M",), ("Ann|26|F",)}
    for seed in range(10):
        item = STRUCTURAL_TASKS["column_retrieval"](PEOPLE, seed=seed)
        number = PEOPLE.header.index(item.accepted[0])
        assert f"name of column {number}?" in item.request
        assert STRUCTURAL_TASKS["row_retrieval"](PEOPLE, seed=seed).is_right(
            STRUCTURAL_TASKS["row_retrieval"](PEOPLE, seed=seed).accepted[0].replace("|", " | ")
        )


def test_merged_cells_come_from_the_spans() -> None:
    assert STRUCTURAL_TASKS["merged_cell_detection"](MERGED).accepted == ("0|1",)
    assert STRUCTURAL_TASKS["merged_cell_detection"](PEOPLE).accepted == ("None",)


def test_an_item_says_what_its_serialisation_does_not_show() -> None:
    task = STRUCTURAL_TASKS["merged_cell_detection"]

    assert task(MERGED, design=Design("markdown")).not_shown == ("1 further header row", "3 merged cells")
    assert task(MERGED, design=Design("html")).not_shown == ()


@every_task
def test_what_is_asked_depends_on_table_and_seed_and_not_on_the_design(name: str) -> None:
    task = STRUCTURAL_TASKS[name]
    shot = task(Table(["x", "y"], [["1", "2"]]))

    for seed in range(5):
        plain = task(PEOPLE, seed=seed)
        assert plain == task(PEOPLE, seed=seed)
        for form in SUC:
            for design in designs(Design(form)).values():
                if design.table_size and name == "size_detection":
                    continue
                item = task(PEOPLE, seed=seed, design=design, solved=shot)
                assert (item.request, item.accepted) == (plain.request, plain.accepted)
                assert SERIALISATIONS[form].dumps(PEOPLE) in item.text


@every_task
def test_a_table_without_anything_to_ask_about_is_told(name: str) -> None:
    task = STRUCTURAL_TASKS[name]
    if name in ("size_detection", "merged_cell_detection"):
        assert task(Table([], [])).accepted == (("0|0",) if name == "size_detection" else ("None",))
    else:
        with pytest.raises(NotApplicable):
            task(Table([], []))


def test_the_size_is_not_said_where_it_is_asked() -> None:
    with pytest.raises(ValueError, match="the switch table_size says what size_detection asks for"):
        STRUCTURAL_TASKS["size_detection"](PEOPLE, design=Design(table_size=True))


# -- designs ----------------------------------------------------------------------------------------------

TABLE = Table(["a"], [["1"]], title="Letters")
SOLVED = SolvedExample(Table(["x"], [["9"]]), "what is x?", "9")


def names_of(design: Design) -> list[str]:
    return [part.name for part in build(TABLE, "what is a?", design, SOLVED).parts]


def test_the_baseline_is_the_table_and_the_request() -> None:
    prompt = build(TABLE, "what is a?")

    assert [part.name for part in prompt.parts] == ["table", "request", "answer"]
    assert prompt.text == f"{SERIALISATIONS['html'].dumps(TABLE)}\nwhat is a?\nAnswer:"
    assert Design(serialisation="html") == BASELINE


def test_each_design_turns_one_switch() -> None:
    made = designs()

    assert list(made) == ["baseline", *SWITCHES]
    for name in SWITCHES:
        assert made[name] != BASELINE
        assert replace(made[name], **{name: getattr(BASELINE, name)}) == BASELINE
        assert build(TABLE, "what is a?", made[name], SOLVED) != build(TABLE, "what is a?")


@pytest.mark.parametrize(
    ("switch", "names"),
    [
        ("format_explanation", ["format", "table", "request", "answer"]),
        ("role_prompt", ["role", "table", "request", "answer"]),
        ("question_first", ["request", "table", "answer"]),
        ("one_shot", ["example", "table", "request", "answer"]),
        ("table_size", ["size", "table", "request", "answer"]),
        ("partition_marks", ["table", "request", "answer"]),
    ],
)
def test_a_switch_adds_or_moves_its_own_part(switch: str, names: list[str]) -> None:
    assert names_of(designs()[switch]) == names


def test_partition_marks_stand_before_the_parts() -> None:
    text = build(TABLE, "what is a?", Design("csv", partition_marks=True), text="Some words.").text

    assert text == ("[TITLE]\nLetters\n[TABLE]\na\n1\n[TEXT]\nSome words.\n[REQUEST]\nwhat is a?\n[ANSWER]")
    assert set(MARKS.values()) & set(text.split("\n")) == {
        "[TITLE]",
        "[TABLE]",
        "[TEXT]",
        "[REQUEST]",
        "[ANSWER]",
    }


def test_a_solved_item_is_shown_in_the_design_of_the_item() -> None:
    shown = (
        build(TABLE, "what is a?", Design("csv", one_shot=True, question_first=True), SOLVED).parts[0].text
    )

    assert shown == "what is x?\nx\n9\nAnswer: 9"
    with pytest.raises(ValueError, match="there is no solved item to show"):
        build(TABLE, "what is a?", Design(one_shot=True))


def test_the_role_is_the_systems_message() -> None:
    prompt = build(TABLE, "what is a?", Design(role_prompt=True))

    assert prompt.messages()[0] == {"role": "system", "content": ROLE}
    assert prompt.messages()[1]["content"] == build(TABLE, "what is a?").text


def test_every_serialisation_can_be_explained() -> None:
    assert set(FORMATS) == set(SERIALISATIONS)


# -- self-augmented prompting -----------------------------------------------------------------------------

every_kind = pytest.mark.parametrize("kind", get_args(Augmentation))


@every_kind
def test_the_first_request_asks_about_the_table_and_not_the_question(kind: Augmentation) -> None:
    prompt = first(TABLE, kind, Design(one_shot=True))

    assert REQUESTS[kind] in prompt.text
    assert [part.name for part in prompt.parts] == ["table", "request", "answer"]


@every_kind
def test_the_second_request_holds_what_the_model_said_first(kind: Augmentation) -> None:
    prompt = second(TABLE, "what is a?", kind, "  a runs from 1 to 1. ")

    assert [part.name for part in prompt.parts] == ["table", "knowledge", "request", "answer"]
    assert prompt.parts[1].text == f"{INTRODUCTION[kind]}\na runs from 1 to 1."
    plain = [part for part in prompt.parts if part.name != "knowledge"]
    assert tuple(plain) == build(TABLE, "what is a?").parts


def test_an_empty_reply_adds_nothing_and_is_refused_and_a_long_one_is_cut() -> None:
    with pytest.raises(ValueError, match="the reply to the first request is empty"):
        second(TABLE, "what is a?", "critical_values", " \n")
    long = second(TABLE, "what is a?", "critical_values", "x" * 10_000).parts[1].text
    assert len(long.split("\n", 1)[1]) == MOST_KNOWLEDGE


def test_every_task_can_be_asked_of_real_tables(test_data: Path) -> None:
    examples = READERS["tat_qa"](test_data / "tatqa", limit=300)
    some = list({example.table.digest(): example.table for example in examples}.values())

    for name, task in STRUCTURAL_TASKS.items():
        named = [
            table
            for table in some
            if name != "column_retrieval" or any(text.strip() for text in table.header)
        ]
        items = [task(table, seed=3) for table in named]
        assert len(items) > 40
        assert all(item.is_right(answer) for item in items for answer in item.accepted)
