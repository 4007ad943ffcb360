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
HUB = "data/test.jsonl"
"""The records of the format hf."""
CONFIG_FILES = "data/*/*.jsonl"
"""The same records by configuration and split: `data/{config}/{split}.jsonl`."""

FIELDS = frozenset(
    (
        *("id", "question", "answers", "table", "context", "history", "source", "split", "original"),
        *("perturbation", "seed", "operations", "program", "meta", "decided"),
    )
)
"""The fields of a record of the format hf."""

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


def records(format: str, line: Line, *, configs: bool = True) -> Iterator[tuple[str, dict[str, Any]]]:
    """(part of the release, record) of an example in one of these formats; nothing in any other.

    With `configs`, a record of the format hf is in the file of each of its configurations (`configs_of`), too.
    """
    if format == "hf":
        record = hub_record(line)
        yield HUB, record
        if configs:
            split = _as_name(line.source["split"]) or "test"
            yield from ((f"data/{config}/{split}.jsonl", record) for config in configs_of(line))
    elif format == "torr":
        yield f"torr/{{reader}}_{{split}}_{line.perturbation or ORIGINAL}", torr_record(line)
    elif format == "suc":
        yield "tables/{reader}_{split}", {**suc.published_record(line.example), **_from(line)}
        yield "prompts/{reader}_{split}", suc.prompt_record(line.example)


def configs_of(line: Line) -> list[str]:
    """The configurations of the format hf that have an example, apart from `default`, which has all.

    An original is in `original`, a perturbed example in those of its task type and of its perturbation. An example that
    people decided something about is in those of these task types.
    """
    made_by = [line.task_type, line.perturbation] if line.perturbation else [ORIGINAL]
    decided = [str(decision["type"]) for decision in line.decided]
    names = {_as_name(name) for name in (*made_by, *decided) if name}
    return sorted(f"{name}_" if name == "default" else name for name in names)


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
            "spans": table.get("spans", []),
        },
        "context": {name: context.get(name, "") for name in ("text", "unit", "scale")},
        "history": [turn.to_dict() for turn in example.history],
        "source": line.source["name"],
        "split": line.source["split"],
        "original": line.original,
        "perturbation": line.perturbation,
        "seed": line.seed,
        "operations": canonical(list(line.operations)),
        "program": "" if example.program is None else canonical(thaw(example.program)),
        "meta": canonical(thaw(example.meta)),
        "decided": canonical(list(line.decided)),
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
        for name, field_value in record["table"].items()
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
