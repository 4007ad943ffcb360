"""The bundled model as it is served: a folder of weights, ONNX Runtime, one thread, no torch.

Each question is answered by itself, also where they come in batches: an answer then never depends on what else was asked,
not even in the last digit of a score, and one answer takes some hundredths of a second.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from predictor.bundled.decode import (
    OPERATIONS,
    OUTPUTS,
    Answer,
    Balance,
    Candidate,
    candidates,
    combine_candidates,
)
from predictor.bundled.features import (
    CELL_FEATURES,
    MOST_CELLS,
    MOST_COLUMNS,
    QUESTION_PIECES,
    TOKEN_FEATURES,
    Input,
    collate,
)
from predictor.bundled.question_features import encode_question, special_tokens
from predictor.bundled.score_calibration import Calibration
from predictor.bundled.table_features import TableReading, read_table
from predictor.checkpoints import ModelError, Stop, never_stop, weights_sha
from predictor.protocol import Alternative, Prediction, PredictRequest, ProtocolError
from tableqa.data.tables import Table

if TYPE_CHECKING:
    import onnxruntime

FORMAT = 1
FILES = ("model.onnx", "tokenizer.json", "bundled.json")
LICENCE = "CC BY-SA 4.0 (trained on WikiTableQuestions; encoder: MiniLM-L6, Apache-2.0)"
TABLES_KEPT = 256
"""Tables whose reading is kept: more than one server has people at work, so that no key reads a table again."""


def session(folder: Path, threads: int = 1) -> onnxruntime.InferenceSession:
    """ONNX Runtime's session for the graph of a folder: this number of threads, and the same result every time."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.enable_cpu_mem_arena = (
        False  # tables differ in size, and an arena keeps what the largest one took
    )
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )


class BundledModel:
    """The model of one folder; what a predictor process serves (`architectures.Model`), and a `predict` for programs."""

    architecture = "bundled"
    budget = 4 * MOST_CELLS

    def __init__(self, folder: Path, name: str = "bundled", licence: str = LICENCE, threads: int = 1) -> None:
        """Load the folder. Raises ModelError naming what is missing or does not fit this version."""
        from tokenizers import Tokenizer

        if missing := [file for file in FILES if not (folder / file).is_file()]:
            raise ModelError(
                f"{folder} holds no bundled model ({', '.join(missing)} missing). Train one in a clone of Askew: "
                "./run train --data DIR, DIR being the folder of WikiTableQuestions, and copy its model/ there"
            )
        self.name, self.licence = name, licence
        self.sha = weights_sha(folder)
        self.settings = _settings(folder)
        balance = self.settings["balance"]
        self.balance = Balance(balance["weights"], balance["biases"])
        self.calibration = Calibration.from_dict(self.settings["calibration"])
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        special_tokens(self.tokenizer)
        self._session = session(folder, threads)
        self._reading = lru_cache(maxsize=TABLES_KEPT)(self._read)

    def _read(self, table: Table) -> TableReading:
        return read_table(table, self.tokenizer)

    def forget(self) -> None:
        """Forget the tables that were asked about, as a measurement of the first answer needs."""
        self._reading.cache_clear()

    # What a process serves -----------------------------------------------------------------------------------

    def tokens(self, request: PredictRequest) -> int:
        """Cells that are looked at and words of the question, roughly; no request is too long."""
        rows, columns = request.table.shape
        return min(rows * columns, MOST_CELLS) + min(len(request.question.split()), QUESTION_PIECES) + 1

    def predict_batch(
        self, requests: Sequence[PredictRequest], stop: Stop = never_stop
    ) -> Sequence[Prediction | ProtocolError]:
        """One answer for each request, in their order; those of one batch on as many threads as there are processors."""
        if len(requests) == 1:
            return [self._predict_request(requests[0], 0, stop)]
        return list(
            self._threads.map(
                lambda index: self._predict_request(requests[index], index, stop), range(len(requests))
            )
        )

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(os.cpu_count(), "bundled")

    def _predict_request(self, request: PredictRequest, index: int, stop: Stop) -> Prediction:
        if stop(index):
            return Prediction((), "", 0, len(request.table.rows), model=self._id)
        prediction = self._answer(request.question, request.table, request.options.topk)
        # This model reads neither earlier turns nor paragraphs.
        is_cut = bool(request.history) or request.context is not None
        return replace(prediction, truncated=True) if is_cut else prediction

    @property
    def _id(self) -> str:
        return f"{self.name}@{self.sha}"

    # What a program calls ------------------------------------------------------------------------------------

    def predict(self, question: str, table: Table, topk: int = 1) -> Prediction:
        """The answer to a question about a table; `topk` - 1 further ones in `.topk`. The same every time."""
        return self._answer(question, table, topk)

    def answers(self, question: str, table: Table) -> tuple[list[Answer], Input]:
        """Every answer that was considered, the likeliest first, and what the network was shown.

        Their scores are as the network gives them; `calibration` says what they mean.
        """
        reading = self._reading(table)
        inputs = encode_question(question, reading, self.tokenizer)
        return combine_candidates(self.candidates(inputs, reading, question), self.balance), inputs

    def candidates(self, inputs: Input, reading: TableReading, question: str) -> list[Candidate]:
        """The ways to answer that the network finds for what it is shown."""
        outputs = self._session.run([f"{name}_scores" for name in OUTPUTS], collate([inputs]))
        scores: Mapping[str, Any] = {
            name: np.asarray(output)[0] for name, output in zip(OUTPUTS, outputs, strict=True)
        }
        return candidates(scores, inputs, reading, question)

    def _answer(self, question: str, table: Table, topk: int) -> Prediction:
        started = time.perf_counter()
        answers, inputs = self.answers(question, table)
        best, shares = answers[0], self.calibration.spread([answer.score for answer in answers[:topk]])
        rows, columns = table.shape
        cells = [list(cell) for cell in best.cells]
        return Prediction(
            answers=best.answers,
            text=json.dumps(
                {"op": best.operation, "answers": list(best.answers), "cells": cells}, ensure_ascii=False
            ),
            rows_seen=len(inputs.rows),
            rows_total=rows,
            op=best.operation,
            cells=best.cells,
            score=shares[0],
            topk=tuple(
                Alternative(answer.answers, share)
                for answer, share in zip(answers[1:topk], shares[1:], strict=False)
            ),
            truncated=len(inputs.rows) < rows
            or columns > MOST_COLUMNS
            or inputs.question >= QUESTION_PIECES + 2,
            model=self._id,
            ms={"queue": 0.0, "compute": 1000 * (time.perf_counter() - started)},
        )


def _settings(folder: Path) -> dict[str, Any]:
    """The settings of a folder. Raises ModelError where they are of another version."""
    try:
        content = json.loads((folder / "bundled.json").read_text())
        content.setdefault("calibration", Calibration().to_dict())
        Calibration.from_dict(content["calibration"])
        same = content["format"] == FORMAT and (
            content["operations"] == list(OPERATIONS)
            and content["cell_features"] == list(CELL_FEATURES)
            and content["token_features"] == list(TOKEN_FEATURES)
            and {"weights", "biases"} <= content["balance"].keys()
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ModelError(f"{folder / 'bundled.json'} cannot be read: {error}") from None
    if not same:
        raise ModelError(
            f"{folder} was trained by another version of Askew. Train it again in a clone of Askew: ./run train"
        )
    settings: dict[str, Any] = content
    return settings
