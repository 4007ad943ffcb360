"""Logs of harnesses are read as predictions, and instance records are written that give the same answers."""

from __future__ import annotations

import hashlib
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


def test_of_several_runs_in_a_folder_the_newest_reply_counts(tmp_path: Path) -> None:
    """A run can ask an item for another task than the run before did."""
    read(tmp_path / "samples_b_2026-01-01T03-04-05.000001.jsonl", of_lm_eval('["old"]'))
    read(tmp_path / "samples_a_b_2026-01-02T03-04-05.000001.jsonl", of_lm_eval('["new"]'))
    assert read_predictions(tmp_path, SOURCES) == {("films", "q1"): ("new",)}


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


ATTRIBUTION = {
    "turn_idx": int,
    "source": str,
    "extracted_value": str,
    "extraction_method": str,
    "is_terminal": bool,
}
FIELDS: dict[str, Any] = {
    "schema_version": str,
    "evaluation_id": str,
    "model_id": str,
    "evaluation_name": str,
    "sample_id": str,
    "interaction_type": str,
    "input": {"raw": str, "reference": [str]},
    "answer_attribution": [ATTRIBUTION],
    "evaluation": {"score": float, "is_correct": bool},
}
"""The required fields of an instance record and their types by the schema of Every Eval Ever 0.3.0."""
OPTIONAL: dict[str, Any] = {
    "sample_hash": str,
    "output": {"raw": [str]},  # required with one turn
    "messages": type(None),  # with one turn it may only be null
}
"""Those of the optional fields that are written. Others are refused by the schema, except texts in `metadata`."""


def types_of(value: Any) -> Any:
    """The shape of a record: the type of each field, of a list that of its members."""
    if isinstance(value, dict):
        return {name: types_of(member) for name, member in value.items()}
    if isinstance(value, list):
        shapes = [types_of(member) for member in value]
        assert all(shape == shapes[0] for shape in shapes)
        return shapes[:1]
    return type(value)


@pytest.mark.parametrize("answers", [("1995", "1996"), (), GeneratedText(["1995, 1996"])])
def test_an_instance_record_has_the_fields_and_types_of_the_schema(answers: tuple[str, ...]) -> None:
    instance = Instance("films", "q1~transpose-0", "q1", "transpose", 0, "q1", ("1995",))
    record = instance_record(instance, "when?", answers, False, release="films", model="m", match="askew")
    metadata = record.pop("metadata")

    assert types_of(record) == {**FIELDS, **OPTIONAL}
    assert {type(value) for value in metadata.values()} == {str}
    assert record["schema_version"] == "0.3.0"
    assert record["interaction_type"] == "single_turn"


def test_the_hash_of_a_sample_is_that_of_its_canonical_input() -> None:
    instance = Instance("films", "q1", "q1", "original", 0, "q1", ("Z\u00fcrich", "b"))
    record = instance_record(instance, "where?", ("b",), False, release="films", model="m", match="askew")
    text = '{"raw":"where?","reference":["Z\\u00fcrich","b"]}'
    assert record["sample_hash"] == hashlib.sha256(text.encode()).hexdigest()


def test_the_last_reply_of_several_turns_is_read(tmp_path: Path) -> None:
    turns = [("user", "q"), ("assistant", '["no"]'), ("user", "sure?"), ("assistant", JSON), ("tool", "x")]
    record = {
        "interaction_type": "multi_turn",
        "sample_id": "films/q1",
        "output": None,
        "messages": [{"turn_idx": n, "role": role, "content": text} for n, (role, text) in enumerate(turns)],
    }
    assert read(tmp_path / "records.jsonl", record) == {("films", "q1"): ("1995", "1996")}


def test_records_converted_from_lm_eval_are_refused_because_they_number_the_samples(tmp_path: Path) -> None:
    record = {
        "interaction_type": "single_turn",
        "sample_id": "0",
        "output": {"raw": [JSON]},
        "metadata": {"doc_hash": "5e1f", "filter": "none", "lm_eval_metrics": "{}"},
    }
    with pytest.raises(EvaluationError, match=r"line 1: .* samples_\*\.jsonl"):
        read(tmp_path / "records.jsonl", record)


def test_a_log_without_a_reply_is_refused_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"line 1: the log has no reply"):
        read(tmp_path / "samples_a.jsonl", {**of_lm_eval(JSON), "resps": [[]], "filtered_resps": [[]]})


@pytest.mark.parametrize(
    "more", [{"output": "1995"}, {"output": None, "messages": ["1995"]}, {"output": [1]}]
)
def test_an_instance_record_of_another_form_is_refused_by_its_line(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    with pytest.raises(EvaluationError, match=r"line 1: the record does not have the form of a log"):
        read(tmp_path / "records.jsonl", {"interaction_type": "single_turn", "sample_id": "films/q1", **more})


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
