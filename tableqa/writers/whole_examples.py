"""Benchmarks of whole examples, of any origin: for ToRR, for SUC, and as a dataset that Hugging Face's tools load."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tableqa.core.canonical_json import canonical, thaw
from tableqa.data.examples import Example
from tableqa.writers import suc

FORMATS = ("torr", "suc", "hf")
CONFIG_FILES = "data/*/*.jsonl"
"""The records of the format hf by configuration and split: `data/{config}/{split}.jsonl`."""
RESPONSES, DECISIONS = "responses", "decisions"
"""The configurations of the format hf that have no examples."""

ORIGINAL = "original"


@dataclass(frozen=True)
class Line:
    """An example of a release with where it comes from.

    original, perturbation   of a perturbed example the id of its original and what was done, "" for an original
    seed                     of an automatic perturbation
    task_type                whose response made a perturbed example, "" for one by a program
    decided                  what people decided of it: {"type", "variant", "data"}
    """

    source: Mapping[str, Any]
    example: Example
    original: str = ""
    perturbation: str = ""
    seed: int | None = None
    task_type: str = ""
    operations: Sequence[Mapping[str, Any]] = ()
    decided: Sequence[Mapping[str, Any]] = ()


def records(format: str, line: Line) -> Iterator[tuple[str, dict[str, Any]]]:
    """(part of the release, record) of an example in one of these formats; nothing in any other.

    A record of the format hf is in the file of each of its configurations (`configs_of`).
    """
    if format == "hf":
        record = hub_record(line)
        yield from ((config_file(config, line.source["split"]), record) for config in configs_of(line))
    elif format == "torr":
        yield f"torr/{{reader}}_{{split}}_{line.perturbation or ORIGINAL}", torr_record(line)
    elif format == "suc":
        yield "tables/{reader}_{split}", {**suc.published_record(line.example), **_from(line)}
        yield "prompts/{reader}_{split}", suc.prompt_record(line.example)


def config_file(config: str, split: str) -> str:
    """The file of a configuration for a split of a source; `test` for a source without splits."""
    return f"data/{config}/{_as_name(split) or 'test'}.jsonl"


def configs_of(line: Line) -> list[str]:
    """The configurations of the format hf that have an example.

    An original is in `original`, a perturbed example in those of its task type and of its perturbation. An example that
    people decided something about is in those of these task types.
    """
    made_by = [line.task_type, line.perturbation] if line.perturbation else [ORIGINAL]
    decided = [str(decision["type"]) for decision in line.decided]
    return sorted({_config(name) for name in (*made_by, *decided) if name})


def own_config(record: Mapping[str, Any]) -> str:
    """The one configuration that says how the example of a record of the format hf came about."""
    return _config(record["perturbation"] or ORIGINAL)


def _config(text: str) -> str:
    return f"{name}_" if (name := _as_name(text)) in ("default", RESPONSES, DECISIONS) else name


def _as_name(text: str) -> str:
    """A name of a configuration or split that `datasets` accepts: letters of ASCII, digits, underscores."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)


def torr_record(line: Line) -> dict[str, Any]:
    """What unitxt's tables in a question-answering task are: {"context", "context_type", "question", "answers"}.

    `context` is the table that ToRR's serialisers and perturbations take, {"header", "rows"}; a record of ours has "id",
    too, and the names of what was done. (ToRR: Ashury-Tahan et al., 2025)
    """
    example = line.example
    return {
        "id": example.id,
        "context": {"header": list(example.table.header), "rows": [list(row) for row in example.table.rows]},
        "context_type": "table",
        "question": example.question,
        "answers": list(example.answers),
        **_from(line),
    }


def hub_record(line: Line) -> dict[str, Any]:
    """A record with the same fields and types for every example; what has none of its own is JSON in a text."""
    example, table = line.example, line.example.table.to_dict()
    context = example.context.to_dict() if example.context is not None else {}
    return {
        "id": example.id,
        "question": example.question,
        "answers": list(example.answers),
        "table": {
            "header": table["header"],
            "rows": table["rows"],
            "title": table.get("title", ""),
            "caption": table.get("caption", ""),
            "header_rows": table.get("header_rows", []),
        },
        "context": {name: context.get(name, "") for name in ("text", "unit", "scale")},
        "history": [turn.to_dict() for turn in example.history],
        "source": line.source["name"],
        "split": line.source["split"],
        "original": line.original,
        "perturbation": line.perturbation,
        "seed": line.seed,
        "operations": list(map(_operation_record, line.operations)),
        "program": "" if example.program is None else canonical(thaw(example.program)),
        "meta": canonical(thaw(example.meta)),
        "decided": list(map(response_record, line.decided)),
        # mlcroissant reads no list of structures within a structure, such as the table.
        "spans": table.get("spans", []),
    }


def _operation_record(operation: Mapping[str, Any]) -> dict[str, str]:
    """An operation as a structure: its arguments have other types in each kind of operation, so they are JSON."""
    arguments = {name: value for name, value in operation.items() if name != "op"}
    return {"op": operation["op"], "arguments": canonical(arguments)}


def response_record(response: Mapping[str, Any]) -> dict[str, str]:
    """A response as a structure: its data have other fields in each task type, so they are JSON."""
    return {"type": response["type"], "variant": response["variant"], "data": canonical(response["data"])}


def annotation_record(annotation: Mapping[str, Any], task_type: str) -> dict[str, Any]:
    """A line of annotations.jsonl as a record of the configuration `responses`; `data` is empty if it was withdrawn."""
    response = annotation["response"] or {"type": task_type, "variant": "", "data": None}
    names = ("id", "batch", "item", "source", "example", "annotator", "simulated", "revision", "newest")
    return {
        **{name: annotation[name] for name in names},
        "external": annotation.get("external", False),
        "withdrawn": annotation["response"] is None,
        "slot": annotation["place"]["number"],
        "added": annotation["place"]["added"],
        "sent_back": annotation.get("sent_back", False),
        **response_record(response),
        "unmet": annotation.get("unmet", []),
        "unsure": annotation.get("unsure", False),
        "guidelines": annotation["guidelines"]["number"],
        "active_seconds": float(annotation["active_seconds"]),
        "made_at": annotation["made_at"],
    }


def decision_record(decision: Mapping[str, Any]) -> dict[str, Any]:
    """A line of decisions.jsonl as a record of the configuration `decisions`."""
    names = ("batch", "item", "source", "example", "kind", "reason", "note", "by", "made_at")
    return {
        **{name: decision[name] for name in names},
        "listed_reason": decision.get("listed_reason", ""),
        "rule": canonical(decision["rule"]) if "rule" in decision else "",
        "outcomes": [
            {
                "id": outcome["id"],
                **response_record(outcome["response"]),
                "annotations": outcome["annotations"],
                "example": outcome["example"]["id"] if outcome["example"] else "",
            }
            for outcome in decision["outcomes"]
        ],
    }


def _from(line: Line) -> dict[str, Any]:
    """What says how a perturbed record came about; nothing for an original."""
    if not line.perturbation:
        return {}
    seed = {} if line.seed is None else {"seed": line.seed}
    return {"original": line.original, "perturbation": line.perturbation, **seed}


def example_of(record: Mapping[str, Any]) -> Example:
    """The example of a record of `hub_record`, whole."""
    core_fields: dict[str, Any] = {name: record[name] for name in ("id", "question", "answers")}
    table = {
        name: field_value
        for name, field_value in {"spans": record.get("spans"), **record["table"]}.items()
        if field_value or name in ("header", "rows")
    }
    context = {name: text for name, text in record["context"].items() if text}
    more = {
        "context": context or None,
        "history": record["history"],
        "program": json.loads(record["program"]) if record["program"] else None,
        "meta": json.loads(record["meta"]),
    }
    return Example.from_dict({**core_fields, "table": table, **more})
