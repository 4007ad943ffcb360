"""Replies in the logs of evaluation harnesses, as predictions: read from them, and written for others to read.

    as_prediction(record, sources)       a line of lm-evaluation-harness (`samples_*.jsonl`) or Every Eval Ever
    inspect_samples(Path("log.eval"))    the samples of a log of inspect-ai, which `as_prediction` takes, too
    instance_record(...)                 an instance record of Every Eval Ever 0.3.0

The answers are read from a reply as the prompt design asks for them. A log that names no design has JSON with a list of
answers, or else one text that may stand for several answers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tableqa.scoring.benchmark_folder import ANSWERS, TARGETS
from tableqa.scoring.matching import GeneratedText, Instance, ScaledAnswers
from tableqa.scoring.replies import final_reply, read_answers

SCHEMA = "0.3.0"
"""The version of Every Eval Ever's schema of instance records."""
_ATTACHMENT = "attachment://"


def as_prediction(record: Any, sources: Iterable[str] = ()) -> Any:
    """{"source", "id", "answers"} of a record of a log; any other value as it is. ValueError for a log without a reply."""
    if not isinstance(record, dict):
        return record
    if isinstance(doc := record.get("doc"), dict) and ("resps" in record or "filtered_resps" in record):
        return _prediction(doc, _first_text(record.get("filtered_resps") or record["resps"]), doc, sources)
    metadata = record.get("metadata")
    details: dict[str, Any] = metadata if isinstance(metadata, dict) else {}
    if "interaction_type" in record and "sample_id" in record:
        if "lm_eval_metrics" in details:
            raise ValueError(
                "a record converted from lm_eval has the number of a sample in place of its id. "
                "Give the samples_*.jsonl of the run"
            )
        replies = (record.get("output") or {}).get("raw")
        if replies is None:  # several turns: the last reply of the model
            turns = [turn for turn in record.get("messages") or () if turn["role"] == "assistant"]
            replies = [turn["content"] for turn in turns[-1:]]
        return _prediction({"id": record["sample_id"], **details}, _first_text(replies), details, sources)
    if "epoch" in record and isinstance(record.get("output"), dict):
        return _prediction({"id": record["id"], **details}, _completion(record), details, sources)
    return record


def _prediction(
    identity: Mapping[str, Any], reply: str, details: Mapping[str, Any], sources: Iterable[str]
) -> dict[str, Any]:
    id, source = str(identity.get("id", "")), identity.get("source")
    if source is None and (named := [name for name in sources if id.startswith(f"{name}/")]):
        source = max(named, key=len)
        id = id.removeprefix(f"{source}/")
    answers = _answers(reply, details.get("design"))
    value = answers[0] if isinstance(answers, GeneratedText) else list(answers)
    return {"id": id, "answers": value} | ({} if source is None else {"source": source})


def _answers(reply: str, design: object) -> tuple[str, ...]:
    if isinstance(design, str) and design in ANSWERS:
        return ANSWERS[design](reply)
    answers = read_answers(reply)
    return GeneratedText([(final_reply(reply) or "").strip()]) if answers is None else tuple(answers)


def _first_text(value: Any) -> str:
    while isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, str):
        raise ValueError("the log has no reply")
    return value


def _completion(sample: Mapping[str, Any]) -> str:
    """The reply of a sample of inspect-ai; a long text is among its attachments."""
    choices = sample["output"].get("choices") or [{}]
    content = choices[0].get("message", {}).get("content", "")
    parts = content if isinstance(content, list) else [{"text": content}]
    text = "".join(part.get("text", "") for part in parts if part.get("type", "text") == "text")
    if text.startswith(_ATTACHMENT):
        return str(sample.get("attachments", {}).get(text.removeprefix(_ATTACHMENT), ""))
    return text


def inspect_samples(path: Path) -> list[dict[str, Any]] | None:
    """The samples of a log of inspect-ai; None for a file that is none. ValueError for a log that needs the package."""
    if path.suffix == ".eval":
        try:
            from inspect_ai.log import read_eval_log
        except ImportError:
            raise ValueError(
                f"{path.name} needs the package inspect-ai. Install it, or convert the log with "
                "`inspect log dump FILE > log.json`"
            ) from None
        samples = read_eval_log(str(path), resolve_attachments=True).samples or []
        return [sample.model_dump(mode="json") for sample in samples]
    if path.suffix != ".json":
        return None
    try:
        log = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    return log["samples"] if isinstance(log, dict) and "eval" in log and "samples" in log else None


def instance_record(
    instance: Instance,
    question: str,
    predicted: Sequence[str],
    is_right: bool,
    *,
    release: str,
    model: str,
    match: str,
) -> dict[str, Any]:
    """What a model answered to an instance, for Every Eval Ever. `as_prediction` reads the same answers from it."""
    answers = predicted.said if isinstance(predicted, ScaledAnswers) else predicted
    is_text = isinstance(predicted, GeneratedText)
    names = ("source", "id", "kind", "seed", "baseline")
    content = {"raw": question, "reference": list(instance.answers)}
    # Canonical JSON, as the adapters of the schema's repository hash a sample.
    sample = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{release}/{model}",
        "model_id": model,
        "evaluation_name": f"{release}/{instance.kind}",
        "sample_id": f"{instance.source}/{instance.id}",
        "sample_hash": hashlib.sha256(sample.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": content,
        "output": {"raw": [answers[0] if is_text else TARGETS["json"](list(answers))]},
        "messages": None,
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": " | ".join(answers),
                "extraction_method": "askew",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": float(is_right), "is_correct": is_right},
        "metadata": {name: str(getattr(instance, name)) for name in names}
        | ({} if is_text else {"design": "json"})
        | {"match": match},
    }
