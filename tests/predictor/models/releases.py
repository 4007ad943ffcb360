"""Releases in miniature, as the reader `askew` reads them: originals, paraphrases that were decided, and shuffled tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tableqa import Example
from tableqa.perturbations import instances


def release(
    folder: Path,
    examples: Sequence[Example],
    *,
    shuffled: Sequence[str] = (),
    asked_otherwise: bool = False,
    contradicted: Sequence[str] = (),
) -> Path:
    """Write a release of these examples, and of what is made of each."""
    folder.mkdir(parents=True)
    sources: list[dict[str, Any]] = []
    for digest, table in {one.table.digest(): one.table for one in examples}.items():
        sources.append({"kind": "table", "digest": digest, "content": table.to_dict()})
    sources += [
        {
            "kind": "example",
            "source": "wtq",
            "id": one.id,
            "question": one.question,
            "answers": list(one.answers),
            "table": one.table.digest(),
        }
        for one in examples
    ]
    decisions = [{"source": "wtq", "outcomes": [{"example": _paraphrased(one)}]} for one in examples]
    lines = [
        {"source": "wtq", "original": one.id, "kind": made.kind, "seed": made.seed, **made.outcome()}
        for one in examples
        for made in instances(one, shuffled, [8])
    ]
    files = {
        "sources.jsonl": _written(folder / "sources.jsonl", sources),
        "decisions.jsonl": _written(folder / "decisions.jsonl", decisions if asked_otherwise else ()),
        "perturbations.jsonl": _written(folder / "perturbations.jsonl", lines),
    }
    refuted = [{"source": "wtq", "id": id, "reason": "excluded", "left_out": True} for id in contradicted]
    manifest = {"layout": 1, "sources": [], "files": files, "contradicted": refuted}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def _paraphrased(one: Example) -> dict[str, Any]:
    return {
        "id": f"{one.id}~word-1",
        "parent": one.id,
        "perturbation": "word",
        "question": f"tell me: {one.question}",
        "answers": list(one.answers),
        "table": one.table.digest(),
        "operations": [],
        "digest": one.table.digest(),
    }


def _written(file: Path, records: Iterable[dict[str, Any]]) -> dict[str, str]:
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
