"""Logs of harnesses are read as predictions, and instance records are written that give the same answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tableqa.scoring.evaluation import joined_answers
from tableqa.scoring.harness_logs import as_prediction, instance_record
from tableqa.scoring.matching import GeneratedText, Instance
from tableqa.scoring.predictions import EvaluationError, read_predictions

SOURCES = {"films": "wtq", "films/dev": "wtq"}
JSON = '<think>["no"]</think> {"answers": ["1995", "1996"]}'


def of_lm_eval(reply: str, **doc: str) -> dict[str, Any]:
    return {
        "doc_id": 0,
        "doc": {"source": "films", "id": "q1", **doc},
        "resps": [[reply]],
        "filtered_resps": [reply],
    }


def of_inspect(content: Any, metadata: dict[str, str], **more: Any) -> dict[str, Any]:
    choices = [{"message": {"role": "assistant", "content": content}}]
    return {"id": "films/dev/q1", "epoch": 1, "output": {"choices": choices}, "metadata": metadata, **more}


def read(path: Path, *records: Any) -> dict[Any, Any]:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return dict(read_predictions(path, SOURCES))


@pytest.mark.parametrize(
    ("record", "answers"),
    [
        (of_lm_eval(JSON, design="json"), ("1995", "1996")),
        (of_lm_eval("no list", design="json"), ()),
        (of_lm_eval("1995 | 1996", design="plain"), ("1995", "1996")),
        (of_lm_eval(JSON), ("1995", "1996")),
        (of_lm_eval(" 1995, 1996\n"), ("1995, 1996",)),
    ],
)
def test_answers_of_lm_eval_are_read_as_its_prompt_asks_for_them(
    tmp_path: Path, record: dict[str, Any], answers: tuple[str, ...]
) -> None:
    assert read(tmp_path / "samples_a.jsonl", record) == {("films", "q1"): answers}


def test_a_text_without_design_may_stand_for_several_answers(tmp_path: Path) -> None:
    (answers,) = read(tmp_path / "samples_a.jsonl", of_lm_eval("1995, 1996")).values()
    assert isinstance(answers, GeneratedText)


def test_the_tasks_of_a_run_of_lm_eval_are_read_together(tmp_path: Path) -> None:
    read(tmp_path / "samples_a.jsonl", of_lm_eval(JSON))
    read(tmp_path / "samples_b.jsonl", of_lm_eval(JSON, id="q2"))
    assert set(read_predictions(tmp_path, SOURCES)) == {("films", "q1"), ("films", "q2")}


def test_a_folder_without_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"samples_\*\.jsonl"):
        read_predictions(tmp_path, SOURCES)


@pytest.mark.parametrize(
    ("sample", "key"),
    [
        (of_inspect(JSON, {"source": "films", "id": "q1", "design": "json"}), ("films", "q1")),
        (of_inspect(JSON, {}), ("films/dev", "q1")),
        (
            of_inspect([{"type": "reasoning", "text": "x"}, {"type": "text", "text": JSON}], {}),
            ("films/dev", "q1"),
        ),
        (of_inspect("attachment://a1", {}, attachments={"a1": JSON}), ("films/dev", "q1")),
    ],
)
def test_a_log_of_inspect_is_read(tmp_path: Path, sample: dict[str, Any], key: tuple[str, str]) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"eval": {}, "samples": [sample]}, indent=2), "utf-8")
    assert read_predictions(path, SOURCES) == {key: ("1995", "1996")}


def test_a_packed_log_of_inspect_without_the_package_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "log.eval").write_bytes(b"PK")
    with pytest.raises(EvaluationError, match="inspect log dump"):
        read_predictions(tmp_path / "log.eval", SOURCES)


@pytest.mark.parametrize(
    "answers", [("1995", "1996"), (), ("1995, 1996",), GeneratedText(["1995, 1996"]), ('a "b" | c',)]
)
def test_an_instance_record_gives_the_same_answers(tmp_path: Path, answers: tuple[str, ...]) -> None:
    instance = Instance("films", "q1~transpose-0", "q1", "transpose", 0, "q1", ("1995",))
    record = instance_record(instance, "when?", answers, True, release="films", model="m", match="askew")
    ((key, again),) = read(tmp_path / "records.jsonl", record).items()
    assert key == ("films", "q1~transpose-0")
    assert (tuple(again), type(again)) == (tuple(answers), type(answers))
    assert record["evaluation"] == {"score": 1.0, "is_correct": True}


def test_a_log_without_a_reply_is_refused_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"line 1: the log has no reply"):
        read(tmp_path / "samples_a.jsonl", {**of_lm_eval(JSON), "resps": [[]], "filtered_resps": [[]]})


def test_other_records_stay_as_they_are() -> None:
    record = {"source": "films", "id": "q1", "answers": ["1995"]}
    assert as_prediction(record) is record


@pytest.mark.parametrize(
    ("gold", "predicted", "is_named"),
    [
        (("a", "b"), ("a, b",), True),
        (("a", "b"), GeneratedText(["a, b"]), False),
        (("a", "b"), ("a", "b"), False),
        (("a, b",), ("a, b",), False),
    ],
)
def test_one_text_in_place_of_several_answers_is_named(
    gold: tuple[str, ...], predicted: tuple[str, ...], is_named: bool
) -> None:
    instance = Instance("films", "q1", "q1", "original", 0, "q1", gold)
    assert joined_answers([instance], {("films", "q1"): predicted}) == [instance] * is_named
