"""The readers of QTSumm and LFTQA-Eval, on small files in the published forms: the data are not at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example
from tableqa.readers import READERS, ReaderError

qtsumm, lftqa = READERS["qtsumm"], READERS["lftqa"]

SUMMED: dict[str, Any] = {
    "table": {
        "title": "Cup - Results",
        "table_id": "84c7c960",
        "header": ["Name", "Wins"],
        "rows": [["Ann", "3"], ["Bob", 4]],
    },
    "summary": "Bob won four times.",
    "row_ids": [1],
    "query": "Who won most?",
    "example_id": "9484b82a",
}
ASKED: dict[str, Any] = {
    "feta_id": 7,
    "table_page_title": "Heat",
    "table_section_title": "Awards",
    "table_array": [["Year"], ["1995"]],
    "question": "When did it win?",
    "answer": "It won in 1995.",
}
OUTPUTS: list[dict[str, Any]] = [
    {
        "example_id": "qtsumm_0",
        "model": "Yi-1.5-34B",
        "model_output": "Bob, four times.",
        "question": "Who won most?",
        "answer": "Bob won four times.",
        "metadata": SUMMED,
    },
    {"example_id": "qtsumm_0", "model": "GPT/4", "model_output": " \n", "metadata": SUMMED},
    {"example_id": "fetaqa_3", "model": "Yi-1.5-34B", "prediction": "In 1996.", "metadata": ASKED},
]


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=4), "utf-8")
    return path


def scores(*rows: tuple[str, str, float]) -> list[dict[str, Any]]:
    return [{"example_id": id, "model": model, "score": score} for id, model, score in rows]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """LFTQA-Eval in small: outputs, two dimensions, two metrics."""
    write(tmp_path / "model_outputs.json", OUTPUTS)
    qt, feta = tmp_path / "scores" / "qtsumm", tmp_path / "scores" / "fetaqa"
    rated = scores(("qtsumm_0", "Yi-1.5-34B", 4.5), ("qtsumm_9", "Yi-1.5-34B", 1))
    write(qt / "human_scores" / "human_faithfulness_scores.json", rated)
    write(qt / "human_scores" / "human_comprehensiveness_scores.json", scores(("qtsumm_0", "Yi-1.5-34B", 2)))
    write(qt / "metric_scores" / "rouge.json", scores(("qtsumm_0", "Yi-1.5-34B", 0.25)))
    judged = [{**scores(("fetaqa_3", "Yi-1.5-34B", 4.721747105644604))[0], "reason": "It says 1996."}]
    write(feta / "metric_scores" / "geval_gpt-4o_faithfulness.json", judged)
    write(tmp_path / "correlation.json", {"qtsumm-faithfulness": {"rouge": 0.1}})
    return tmp_path


def read(path: Path, **more: Any) -> list[Example]:
    return list(lftqa(path, **more))


# QTSumm ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["qtsumm_dev.json", "qtsumm_dev.jsonl"])
def test_a_summary_is_read_with_the_rows_it_rests_on(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(SUMMED) + "\n" if name.endswith("l") else json.dumps([SUMMED], indent=2))
    for place in (path, tmp_path):
        (example,) = qtsumm(place)
        assert example.to_dict() == {
            "id": "9484b82a",
            "question": "Who won most?",
            "table": {
                "header": ["Name", "Wins"],
                "rows": [["Ann", "3"], ["Bob", "4"]],
                "title": "Cup - Results",
            },
            "answers": ["Bob won four times."],
            "meta": {"table_id": "84c7c960", "row_ids": ["r1"]},
        }
    assert list(qtsumm.files(tmp_path)) == [path]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"row_ids": [2]}, "record 2: row_ids[0] names no row of the table"),
        ({"row_ids": ["1"]}, "record 2: row_ids[0] names no row of the table"),
        ({"row_ids": {}}, "row_ids is an object"),
        ({"table": {"header": ["a"]}}, "record 2, table: the field rows is missing"),
        ({"summary": 3}, "summary is a number"),
        ({"example_id": "9484b82a"}, "the id 9484b82a is already in line"),
    ],
)
def test_a_fault_of_a_summary_is_named(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    path = write(tmp_path / "dev.json", [SUMMED, {**SUMMED, "example_id": "2", **change}])
    with pytest.raises(ReaderError) as error:
        list(qtsumm(path))
    assert what in error.value.what


# LFTQA-Eval -----------------------------------------------------------------------------------------------------------


def test_an_answer_is_read_with_its_ratings_and_metrics(release: Path) -> None:
    rated, other = read(release)
    assert rated.to_dict() == {
        "id": "qtsumm_0~Yi-1.5-34B",
        "question": "Who won most?",
        "table": {
            "header": ["Name", "Wins"],
            "rows": [["Ann", "3"], ["Bob", "4"]],
            "title": "Cup - Results",
        },
        "answers": ["Bob won four times."],
        "meta": {
            "rated_answer": {"text": "Bob, four times.", "system": "Yi-1.5-34B"},
            "example_id": "qtsumm_0",
            "reference": "Bob won four times.",
            "human": {"faithfulness": 4.5, "comprehensiveness": 2},
            "metrics": {"rouge": 0.25},
        },
    }
    assert other.id == "fetaqa_3~Yi-1.5-34B"
    assert (other.question, other.answers) == ("When did it win?", ("It won in 1995.",))
    assert (other.table.title, other.table.caption, other.table.header) == ("Heat", "Awards", ("Year",))
    assert other.meta["rated_answer"] == {"text": "In 1996.", "system": "Yi-1.5-34B"}
    assert other.meta["metrics"] == {"geval_gpt-4o_faithfulness": 4.721747105644604}
    assert "human" not in other.meta


def test_an_empty_answer_is_no_example(release: Path) -> None:
    assert "qtsumm_0~GPT/4" not in {example.id for example in read(release)}


def test_every_file_of_the_release_counts_for_its_checksum(release: Path) -> None:
    found = [path.relative_to(release).as_posix() for path in lftqa.files(release)]
    assert found == [
        "model_outputs.json",
        "scores/qtsumm/human_scores/human_comprehensiveness_scores.json",
        "scores/qtsumm/human_scores/human_faithfulness_scores.json",
        "scores/fetaqa/metric_scores/geval_gpt-4o_faithfulness.json",
        "scores/qtsumm/metric_scores/rouge.json",
    ]


def test_the_scores_may_lie_elsewhere_or_nowhere(
    release: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    away = tmp_path_factory.mktemp("away")
    expected = read(release)
    outputs = (release / "model_outputs.json").rename(away / "model_outputs.json")
    assert read(outputs, tables=release) == expected
    assert read(outputs, tables=release / "scores") == expected
    assert all("human" not in example.meta for example in read(outputs))


def test_a_record_may_hold_its_table_itself(tmp_path: Path) -> None:
    record = {"example_id": "1", "model": "A", "model_output": "x", **ASKED}
    (example,) = read(write(tmp_path / "outputs.json", [record]))
    assert (example.table.header, example.answers) == (("Year",), ("It won in 1995.",))
    del record["answer"]
    (example,) = read(write(tmp_path / "outputs.json", [record]))
    assert example.answers == ()
    assert "reference" not in example.meta


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"model": []}, "model is a list"),
        ({"model_output": None}, "model_output is null"),
        ({"metadata": {}}, "record 1: there is no table"),
        ({"metadata": None}, "record 1: there is no table"),
        ({"metadata": {"table": "Name | Wins"}}, "metadata, table: there is a text, not an object"),
        ({"question": None, "metadata": {**SUMMED, "query": None}}, "question is missing"),
    ],
)
def test_a_fault_of_an_answer_is_named(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    path = write(tmp_path / "outputs.json", [{**OUTPUTS[0], **change}])
    with pytest.raises(ReaderError) as error:
        read(path)
    assert what in error.value.what
    assert error.value.mend


@pytest.mark.parametrize(
    ("name", "rows", "what"),
    [
        ("human_scores/faithfulness.json", scores(("a", "b", 6)), "score is 6"),
        ("human_scores/faithfulness.json", scores(("a", "b", 1), ("a", "b", 2)), "a of b has a score of"),
        ("human_scores/fluency.json", scores(("a", "b", 1)), "says none of faithfulness"),
        ("metric_scores/bleu.json", [{"example_id": "a", "model": "b", "score": "1"}], "score is a text"),
        ("metric_scores/bleu.json", [{"example_id": "a", "score": 1}], "the field model is missing"),
    ],
)
def test_a_fault_of_a_score_is_named_with_its_file(
    tmp_path: Path, name: str, rows: list[dict[str, Any]], what: str
) -> None:
    write(tmp_path / name, rows)
    path = write(tmp_path / "model_outputs.json", OUTPUTS)
    with pytest.raises(ReaderError) as error:
        read(path)
    assert Path(error.value.file).name == Path(name).name
    assert what in error.value.what


def test_one_answer_of_a_system_to_a_question_is_enough(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match=r"the id qtsumm_0~Yi-1\.5-34B is already in line"):
        read(write(tmp_path / "outputs.json", [OUTPUTS[0], OUTPUTS[0]]))
