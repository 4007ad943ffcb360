"""TAPAS: the answers that transformers' own reading of its logits gives, and rows that are left out."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.architectures import load, never_stop
from predictor.architectures.tapas import Tapas, rows_that_fit
from predictor.protocol import Prediction, PredictRequest
from tableqa.readers import READERS

pytestmark = pytest.mark.usefixtures("deep_learning")


def test_cells_and_operation_are_those_that_transformers_reads(
    folders: dict[str, Path], test_data: Path
) -> None:
    import pandas as pd
    import torch

    model = load(folders["tapas"])
    assert isinstance(model, Tapas)
    chosen = 0
    examples = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    for example in islice((one for one in examples if len(one.table.rows) <= 5), 8):
        request = PredictRequest.about(example)
        (answer,) = model.predict_batch([request], never_stop)
        assert isinstance(answer, Prediction)
        if len(example.table.rows) > answer.rows_seen:
            continue  # transformers would rank numbers among rows that are not there
        frame = pd.DataFrame(
            list(map(list, example.table.rows)), columns=list(example.table.header), dtype=str
        )
        inputs = model.tokenizer(
            table=frame, queries=example.question, truncation="drop_rows_to_fit", return_tensors="pt"
        )
        with torch.inference_mode():
            out = model.network(**inputs)
        cells, operations = model.tokenizer.convert_logits_to_predictions(
            inputs, out.logits, out.logits_aggregation
        )
        assert list(answer.cells) == [tuple(cell) for cell in cells[0]]
        assert answer.op == ("select", "sum", "average", "count")[operations[0]]
        chosen += len(answer.cells)
    assert chosen > 0


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=1, max_size=12), st.integers(0, 60)
)
def test_as_many_rows_are_kept_as_have_room(sizes: list[list[int]], room: int) -> None:
    pieces = [[["w", *["##x"] * (size - 1)] if size else [] for size in row] for row in sizes]
    kept = rows_that_fit(pieces, room)
    costs = [sum(max(1, size) for size in row) for row in sizes]
    if kept is None:
        assert costs[0] > room
    else:
        assert sum(costs[: kept + 1]) <= room
        assert kept + 1 == len(costs) or sum(costs[: kept + 2]) > room
