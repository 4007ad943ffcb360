"""The recorded answers of a model, read from its folder with their gold answers."""

from __future__ import annotations

import json
from pathlib import Path

from predictor.bundled.recorded import FIXTURES, SOURCES, RecordedAnswer
from predictor.checkpoints import RECORDED
from tableqa.readers import READERS

SAME_SCORE = 1e-3
"""How far a score may lie from the recorded one: processors round differently."""


def recorded(folder: Path, fixtures: Path = FIXTURES) -> tuple[str, list[RecordedAnswer]]:
    """(hash of the weights, what they answered) of a folder; gold answers come from the fixtures.

    Raises OSError where there is no such file, ValueError where it does not fit the fixtures.
    """
    kept = json.loads((folder / RECORDED).read_text())
    examples = {
        (source, one.id): one
        for source, (form, _) in SOURCES.items()
        for one in READERS[form](fixtures / source)
    }
    out = []
    for one in kept["recorded"]:
        example = examples.get((one["source"], one["id"]))
        if example is None or (example.question, example.table.digest()) != (one["question"], one["table"]):
            raise ValueError(
                f"{one['source']} has no question {one['id']} as it was recorded. Record it again"
            )
        cells = tuple((row, column) for row, column in one["cells"])
        out.append(
            RecordedAnswer(one["source"], example, tuple(one["answers"]), one["op"], cells, one["score"])
        )
    return kept["sha"], out
