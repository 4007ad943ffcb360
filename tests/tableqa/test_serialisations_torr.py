"""ToRR's configurations: 35 of them, with the same demonstrations in each."""

from __future__ import annotations

import pytest

from tableqa import Context, Example, Table, Turn
from tableqa.serialisations import SERIALISATIONS
from tableqa.serialisations.torr import (
    CONFIGURATIONS,
    SAME_TEXT,
    Configuration,
    configurations,
    demonstrations,
    prompts,
)


def example(number: int, rows: int = 3) -> Example:
    table = Table(["Name", "Age"], [[f"Person {number}.{row}", str(20 + row)] for row in range(rows)])
    return Example(f"q{number}", f"who is 2{number % 3}?", table, [f"Person {number}.{number % 3}"])


POOL = [example(number) for number in range(12)]


def test_there_are_seven_serialisations_with_five_forms_of_the_table_each() -> None:
    assert len(CONFIGURATIONS) == len(set(CONFIGURATIONS)) == 35
    assert len({one.serialisation for one in CONFIGURATIONS}) == 7
    assert CONFIGURATIONS[0].name == "html_torr/none"
    assert [one.name for one in configurations(["json"])] == [
        "json/none",
        "json/torr_row_swap",
        "json/torr_column_swap",
        "json/torr_transpose",
        "json/torr_empty_rows",
    ]


def test_the_demonstrations_are_the_same_in_every_configuration_and_others_for_another_example() -> None:
    made = list(prompts(POOL[0], POOL))

    assert len(made) == 35
    assert len({one.demonstrations for one in made}) == 1
    assert len(made[0].demonstrations) == 5
    assert "q0" not in made[0].demonstrations
    assert made[0].demonstrations != next(prompts(POOL[1], POOL)).demonstrations
    assert made == list(prompts(POOL[0], POOL))
    assert made[0].demonstrations != next(prompts(POOL[0], POOL, seed=16)).demonstrations


def test_a_prompt_is_the_instruction_the_demonstrations_and_the_example_without_its_answer() -> None:
    (one,) = prompts(
        POOL[0], POOL[1:2], k=1, instruction="Read it.", configurations=[Configuration("csv", None)]
    )

    assert one.text == (
        "Read it.\n\n"
        "Table:\nName,Age\nPerson 1.0,20\nPerson 1.1,21\nPerson 1.2,22\nQuestion: who is 21?\nAnswer: Person 1.1\n\n"
        "Table:\nName,Age\nPerson 0.0,20\nPerson 0.1,21\nPerson 0.2,22\nQuestion: who is 20?\nAnswer:"
    )
    assert one.answers == ("Person 0.0",)


def test_only_the_table_of_the_example_is_perturbed() -> None:
    made = {one.configuration.name: one for one in prompts(POOL[0], POOL)}

    plain, transposed = made["csv/none"].text, made["csv/torr_transpose"].text

    assert plain.rsplit("Table:", 1)[0] == transposed.rsplit("Table:", 1)[0]
    assert "Table:\n,0,1,2\nName,Person 0.0,Person 0.1,Person 0.2\nAge,20,21,22\n" in transposed
    for serialisation in {one.serialisation for one in CONFIGURATIONS}:
        texts = {
            made[f"{serialisation}/{name}"].text for name in ("none", "torr_row_swap", "torr_empty_rows")
        }
        assert len(texts) == 3


def test_a_perturbation_that_does_nothing_is_told() -> None:
    one_row = example(0, rows=1)
    made = {one.configuration.name: one for one in prompts(one_row, POOL)}

    assert len(made) == 35
    assert made["csv/torr_row_swap"].is_noop
    assert made["csv/torr_row_swap"].reason
    assert made["csv/torr_row_swap"].text == made["csv/none"].text
    assert not made["csv/torr_transpose"].is_noop
    assert not made["csv/none"].is_noop


def test_a_perturbation_that_the_text_does_not_show_is_no_perturbation() -> None:
    """Blank rows at the end of a concatenation, for instance."""
    equal_columns = Table(["Year", "Year"], [["1998", "1998"], ["1999", "1999"]])
    asked = [POOL[0], Example("twice", "which year is last?", equal_columns, ["1999"])]
    reasons = set()
    for one in asked:
        for seed in range(30):
            made = {each.configuration.name: each for each in prompts(one, POOL, k=0, seed=seed)}
            for name, each in made.items():
                serialisation, _, perturbation = name.partition("/")
                same = each.text == made[f"{serialisation}/none"].text
                assert each.is_noop == (same and perturbation != "none"), (seed, name)
                if each.is_noop:
                    reasons.add((name, each.reason))
    assert ("concatenation_torr/torr_empty_rows", SAME_TEXT) in reasons


def test_what_stands_beside_the_table_is_asked_along() -> None:
    table = Table(["a"], [["1"]], title="Results", caption="in millions")
    one = Example(
        "x", "and then?", table, ["1"], context=Context(text="Some words."), history=[Turn("first?", ["2"])]
    )

    (plain, html) = prompts(one, [], k=0, configurations=[Configuration(n, None) for n in ("csv", "html")])

    assert "Title: Results\nCaption: in millions\nTable:\na\n1\nText: Some words.\n" in plain.text
    assert "Earlier question: first?\nAnswer: 2\nQuestion: and then?\nAnswer:" in plain.text
    assert "Title:" not in html.text
    assert SERIALISATIONS["html"].dumps(table) in html.text
    assert plain.left_out == ()


def test_an_example_is_no_demonstration_of_itself_under_another_id() -> None:
    twin = Example("other", POOL[0].question, POOL[0].table, POOL[0].answers)

    assert demonstrations(POOL[0], [POOL[0], twin, POOL[1]], k=1) == (POOL[1],)
    with pytest.raises(ValueError, match="there are 1 other examples to draw 2"):
        demonstrations(POOL[0], [POOL[0], twin, POOL[1]], k=2)
