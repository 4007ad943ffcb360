"""Exports of annotation tools: Argilla by its SDK, the others in their documented form (README.md names the pages)."""

from __future__ import annotations

import csv
import json
import uuid
from pathlib import Path
from typing import Any

from tests.exports.content import Grid
from tests.exports.drawing import Plan
from tests.exports.programs import python_files

ADA = str(uuid.UUID(int=1))


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    records = python_files.records_of(next(iter(sheets.values())))
    if plan.writer == "argilla":
        _argilla(records, path)
    elif plan.format == "csv potato":
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = [_potato(record, at) for at, record in enumerate(records)]
            flat = [row | {"label_annotations": json.dumps(row["label_annotations"])} for row in rows]
            writer = csv.DictWriter(file, list(flat[0]))
            writer.writeheader()
            writer.writerows(flat)
    elif plan.writer == "label studio":
        tasks = [_task(record, at) for at, record in enumerate(records, start=1)]
        path.write_text(json.dumps(tasks, ensure_ascii=False, indent=2), encoding="utf-8")
    else:
        form = {"doccano": _doccano, "prodigy": _prodigy, "potato": _potato}[plan.writer]
        lines = [
            json.dumps(form(record, at), ensure_ascii=False) for at, record in enumerate(records, start=1)
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _task(record: dict[str, Any], number: int) -> dict[str, Any]:
    choice = {"value": {"choices": ["read"]}, "id": f"r{number}", "from_name": "kind", "to_name": "question",
              "type": "choices", "origin": "manual"}  # fmt: skip
    annotation = {"id": number, "completed_by": 1, "result": [choice], "was_cancelled": False, "ground_truth": False,
                  "created_at": "2026-05-04T09:00:00.000000Z", "lead_time": 12.5}  # fmt: skip
    return {"id": number, "annotations": [annotation], "predictions": [], "data": record, "meta": {}, "project": 1,
            "inner_id": number, "total_annotations": 1, "updated_by": 1}  # fmt: skip


def _doccano(record: dict[str, Any], number: int) -> dict[str, Any]:
    return {"id": number, "text": record["question"], "label": ["read"], "Comments": []} | {
        name: value for name, value in record.items() if name not in ("id", "question")
    }


def _prodigy(record: dict[str, Any], number: int) -> dict[str, Any]:
    rest = {name: value for name, value in record.items() if name != "question"}
    return {"text": record["question"], **rest, "_input_hash": -70000000 + number, "_task_hash": 90000000 + number,
            "options": [{"id": "read", "text": "read"}, {"id": "computed", "text": "computed"}], "accept": ["read"],
            "answer": "accept", "_view_id": "choice", "_timestamp": 1777888800 + number,
            "_annotator_id": "ada", "_session_id": "films-ada"}  # fmt: skip


def _potato(record: dict[str, Any], number: int) -> dict[str, Any]:
    return {"user_id": "ada", "instance_id": record.get("id") or str(number),
            "displayed_text": record["question"], **record,
            "label_annotations": {"kind": {"read": "true"}}}  # fmt: skip


def _argilla(records: list[dict[str, Any]], path: Path) -> None:
    """What `records.to_json` of the SDK writes: it needs a server only to read them."""
    from unittest.mock import MagicMock

    import argilla as rg
    from argilla.records._io import JsonIO

    rg.Argilla._get_default = classmethod(lambda cls: MagicMock())
    own = [
        rg.Record(
            id=record.get("id") and str(record["id"]),
            fields={"question": record["question"], "table": record["table"]},
            metadata={"answers": record["answers"]},
            responses=[
                rg.Response(question_name="kind", value="read", user_id=uuid.UUID(ADA), status="submitted")
            ],
        )
        for record in records
    ]
    JsonIO.to_json(own, path)
