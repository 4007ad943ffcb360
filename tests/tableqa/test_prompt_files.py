"""Files of prompts: every configuration and design is there, the right answers are accepted, the tables add up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tableqa import Context, Example, Span, Table
from tableqa.readers import READERS
from tableqa.scoring.prompt_files import (
    PromptError,
    read_predictions,
    read_prompts,
    sap_first,
    sap_second,
    score_suc,
    score_torr,
    suc_prompts,
    suc_sheets,
    torr_prompts,
    unitxt_record,
    variants,
)
from tableqa.scoring.structural_tasks import BASELINE, STRUCTURAL_TASKS
from tableqa.scoring.torr_scores import torr_report
from tableqa.serialisations import TORR, torr
from tableqa.writers.report_tables import Cell

FILMS = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]])
CITIES = Table(["City", "State"], [["Bonn", "NRW"], ["Ulm", "BW"], ["Kiel", "SH"]])
ONE_ROW = Table(["Film"], [["Heat"]])
EXAMPLES = [
    Example("1", "which film is longer?", FILMS, ["Heat"]),
    Example("2", "where is ulm?", CITIES, ["BW"]),
    Example("3", "which film?", ONE_ROW, ["Heat"]),
]


def right(prompts: list[dict[str, Any]]) -> dict[str, str]:
    return {prompt["id"]: ", ".join(prompt["answers"]) for prompt in prompts}


# -- ToRR -------------------------------------------------------------------------------------------


def test_every_example_comes_in_35_configurations_with_the_same_demonstrations() -> None:
    prompts = list(torr_prompts("films", EXAMPLES, EXAMPLES, k=1))
    assert len(prompts) == 3 * 35
    assert len({prompt["id"] for prompt in prompts}) == len(prompts)
    for example in EXAMPLES:
        of_example = [prompt for prompt in prompts if prompt["example"] == example.id]
        assert len({tuple(prompt["demonstrations"]) for prompt in of_example}) == 1
        assert {prompt["configuration"] for prompt in of_example} == {one.name for one in torr.CONFIGURATIONS}
    assert Counter(name.partition("/")[0] for name in {one["configuration"] for one in prompts}) == Counter(
        dict.fromkeys(TORR, 5)
    )
    assert {one["configuration"].partition("/")[2] for one in prompts if one["is_noop"]} == {
        "torr_row_swap",
        "torr_column_swap",
        "torr_empty_rows",
    }, "one row or column cannot be swapped, and a concatenation does not show blank rows at its end"


def test_the_released_recipes_shuffle_where_the_paper_swaps() -> None:
    made = torr.configurations(["csv"], torr.STRUCTURAL_RELEASED)
    assert [one.perturbation for one in made] == [
        None,
        "row_shuffle",
        "col_shuffle",
        "torr_transpose",
        "torr_empty_rows",
    ]
    assert len(list(torr_prompts("d", EXAMPLES, EXAMPLES, k=1, configurations=made))) == 15


def test_a_model_that_is_always_right_has_p_and_r_of_one() -> None:
    prompts = list(torr_prompts("films", EXAMPLES, EXAMPLES, k=1))
    scores, noops = score_torr(prompts, {"m": right(prompts)}, lambda dataset: "exact")
    (model,) = torr_report(scores, noops, replicates=50).models
    assert (model.p.value, model.r.value) == (1, 1)
    assert model.impacts["torr_row_swap"].n == 2
    assert model.impacts["torr_row_swap"].undefined == 1
    with pytest.raises(PromptError, match="m has no prediction for films/1/html_torr/none"):
        score_torr(prompts, {"m": {}}, lambda dataset: "f1")


def test_a_model_that_reads_one_form_only_is_found_out() -> None:
    prompts = list(torr_prompts("films", EXAMPLES, EXAMPLES, k=1))
    said = {id: text if "/csv/" in id else "" for id, text in right(prompts).items()}
    scores, noops = score_torr(prompts, {"m": said}, lambda dataset: "exact")
    (model,) = torr_report(scores, noops, replicates=50).models
    assert model.p.value == pytest.approx(1 / 7)
    assert model.r.value == 0
    assert model.wins["csv"].value == 1
    assert model.curve == pytest.approx([1] * 5 + [0] * 30)


def test_unitxt_gets_prompt_references_and_groups() -> None:
    record = unitxt_record(next(torr_prompts("films", EXAMPLES, EXAMPLES, k=1)), "metrics.accuracy")
    assert record["source"].endswith("Answer:")
    assert (record["target"], record["references"]) == ("Heat", ["Heat"])
    assert record["metrics"] == ["metrics.accuracy"]
    assert [json.loads(group) for group in record["groups"]] == [
        {"serialisation": "html_torr"},
        {"perturbation": "none"},
    ]
    assert json.loads(record["task_data"])["id"] == "films/1/html_torr/none"


def test_published_questions_make_35_prompts_each(test_data: Path) -> None:
    examples = list(READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv", limit=12))
    prompts = list(torr_prompts("wtq", examples, examples, k=1))
    assert len(prompts) == 12 * 35
    assert prompts == list(torr_prompts("wtq", examples, examples, k=1)), "equal seeds, equal prompts"


# -- SUC --------------------------------------------------------------------------------------------

TABLES = [("films", FILMS), ("cities", CITIES)]


def test_each_design_turns_one_thing_of_the_baseline() -> None:
    made = variants()
    assert list(made) == [
        *("baseline", "nl_sep", "markdown", "json", "xml"),
        *("partition_marks", "format_explanation", "role_prompt", "question_first", "one_shot", "table_size"),
    ]
    for name, design in made.items():
        turned = [part for part in vars(design) if getattr(design, part) != getattr(BASELINE, part)]
        assert len(turned) == (name != "baseline")


def test_seven_tasks_in_eleven_designs_and_the_right_answer_is_right() -> None:
    prompts = list(suc_prompts("demo", TABLES))
    assert len(prompts) == 2 * (7 * 11 - 1), "the size is not asked for where the prompt says it"
    assert len({prompt["id"] for prompt in prompts}) == len(prompts)
    said = {prompt["id"]: prompt["answers"][0] for prompt in prompts}
    scores = score_suc(prompts, {"m": said})
    assert {one.task for one in scores} == set(STRUCTURAL_TASKS)
    assert {one.accuracy.value for one in scores} == {1.0}
    assert {one.change for one in scores if one.variant != "baseline"} == {0.0}
    assert {one.change for one in scores if one.variant == "baseline"} == {None}


def test_the_solved_item_is_about_another_table() -> None:
    prompts = [one for one in suc_prompts("demo", TABLES) if one["variant"] == "one_shot"]
    assert len(prompts) == 14
    for prompt in prompts:
        assert "Heat" in prompt["prompt"]
        assert "Bonn" in prompt["prompt"]
    alone = list(suc_prompts("demo", TABLES[:1]))
    assert not [one for one in alone if one["variant"] == "one_shot"]


def test_every_place_of_a_repeated_value_is_right() -> None:
    table = Table(["A", "B"], [["x", "x"], ["x", "x"]])
    prompts = [one for one in suc_prompts("d", [("t", table)]) if one["task"] == "cell_lookup"]
    assert prompts[0]["answers"] == ["0|0", "0|1", "1|0", "1|1"]
    for place in prompts[0]["answers"]:
        (score,) = score_suc(prompts[:1], {"m": {prompts[0]["id"]: place.replace("|", " | ")}})
        assert score.accuracy.value == 1


def test_merged_cells_that_a_form_cannot_show_are_not_held_against_a_model() -> None:
    merged = Table(["A", "B"], [["x", ""], ["y", "z"]], spans=[Span("r0", "c0", 1, 2)])
    prompts = [one for one in suc_prompts("d", [("t", merged)]) if one["task"] == "merged_cell_detection"]
    scores = {one.variant: one for one in score_suc(prompts, {"m": {one["id"]: "None" for one in prompts}})}
    assert (scores["baseline"].accuracy.n, scores["baseline"].accuracy.hits) == (1, 0)
    for form in ("nl_sep", "markdown"):
        assert (scores[form].accuracy.n, scores[form].hidden) == (0, 1)
        assert scores[form].accuracy.value is None
        assert scores[form].change is None


def test_what_a_table_has_nothing_for_is_told() -> None:
    told = []
    empty = Table(["", ""], [["", ""]])
    list(suc_prompts("d", [("t", empty)], left_out=lambda table, task, why: told.append((table, task, why))))
    assert ("t", "column_retrieval", "No column of the table has a name.") in told


def test_the_tables_have_tasks_down_and_designs_across() -> None:
    prompts = list(suc_prompts("demo", TABLES))
    said = {one["id"]: one["answers"][0] if one["variant"] == "baseline" else "no idea" for one in prompts}
    first, second = suc_sheets(score_suc(prompts, {"m": said}))
    assert [column.title for column in first.columns[:3]] == ["task", "baseline", "nl_sep"]

    def words(row: Sequence[Cell], most: int) -> list[str]:
        return [cell.text for cell in row[:most]]

    assert words(first.rows[0], 3) == ["table_partition", "100.0 %", "0.0 %"]
    assert words(first.rows[-1], 3) == ["mean of the tasks", "100.0 %", "0.0 %"]
    of_second = ["table_partition", "nl_sep", "0.0 %", "0.0 to 65.8 %", "0 of 2", "-100.0"]
    assert words(second.rows[1], 6) == of_second


def test_the_published_tables_of_suc_make_items_of_every_task(test_data: Path) -> None:
    examples = READERS["suc"](test_data / "suc" / "tabfact.first200.jsonl", limit=20)
    tables = {example.table.digest(): (example.id, example.table) for example in examples}
    prompts = list(suc_prompts("tabfact", list(tables.values())))
    assert {one["task"] for one in prompts} == set(STRUCTURAL_TASKS)
    said = {one["id"]: one["answers"][0] for one in prompts}
    assert {one.accuracy.value for one in score_suc(prompts, {"m": said})} == {1.0}


# -- self-augmented prompting -----------------------------------------------------------------------


def test_a_table_is_asked_about_once_and_its_reply_stands_before_every_question() -> None:
    twice = [*EXAMPLES, Example("4", "which is shorter?", FILMS, ["Alien"])]
    requests = list(sap_first("d", twice))
    assert len(requests) == 3 * 3, "three tables, three kinds"
    assert not any("which" in one["prompt"] for one in requests)
    replies = {one["id"]: f"said of {one['id']}" for one in requests}
    prompts = list(sap_second("d", twice, replies))
    assert len(prompts) == 4 * 4, "plain, and three kinds"
    for prompt in prompts:
        assert ("said of" in prompt["prompt"]) == (prompt["variant"] != "plain")
    scores = {one.variant: one for one in score_suc(prompts, {"m": right(prompts)})}
    assert {name: one.accuracy.hits for name, one in scores.items()} == dict.fromkeys(scores, 4)
    assert scores["plain"].change is None
    assert scores["critical_values"].change == 0


def test_the_same_table_with_another_text_beside_it_is_asked_about_anew() -> None:
    told = Example("5", "?", FILMS, [], context=Context(text="Both won."))
    assert len(list(sap_first("d", [EXAMPLES[0], told]))) == 6


def test_a_reply_that_is_missing_is_named() -> None:
    requests = list(sap_first("d", EXAMPLES[:1]))
    with pytest.raises(PromptError, match=f"no reply to {requests[0]['id']}"):
        list(sap_second("d", EXAMPLES[:1], {requests[0]["id"]: "  "}))


# -- reading ----------------------------------------------------------------------------------------


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    prompts = list(torr_prompts("films", EXAMPLES, EXAMPLES, k=1))
    path = tmp_path / "prompts.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in prompts), encoding="utf-8")
    assert list(read_prompts(path)) == prompts


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "an object"),
        ('{"id": "1"}', "are expected"),
        ('{"id": 1, "prediction": ""}', "are"),
    ],
)
def test_a_line_that_is_no_prediction_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "said.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(PromptError, match=said):
        read_predictions(path)
    with pytest.raises(PromptError, match=r"line 1"):
        list(read_prompts(path))
    with pytest.raises(PromptError, match="cannot be read"):
        read_predictions(tmp_path / "nothing.jsonl")
