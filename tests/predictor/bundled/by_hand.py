"""What the tests of the bundled model share: a tokenizer made on the spot, a table, scores by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from predictor.bundled.decode import OP, OPERATIONS
from predictor.bundled.features import Input
from tableqa.data.tables import Table

WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] who won most medals how many gold nation year spain france japan chile which has the "
    "is more or less than in city 1 2 3 4 5 7 9 2004 2008 ? , . date total"
)

MEDALS = Table(
    ["Nation", "Year", "Gold", "Date"],
    [
        ["Spain", "2004", "3", "7 May 2004"],
        ["France", "2008", "9", "1 June 2008"],
        ["Japan", "2004", "5", "9 May 2004"],
        ["Chile", "2008", "3", "-"],
        ["Total", "", "20", ""],
    ],
)


def tokenizer() -> Tokenizer:
    """Words of a list, and letters for all others."""
    words = WORDS.split()
    letters = [letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789" if letter not in words]
    vocabulary = words + letters + [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"]
    made = Tokenizer(
        models.WordPiece({word: place for place, word in enumerate(vocabulary)}, unk_token="[UNK]")
    )
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def scores(
    given: Input,
    operation: str,
    cells: tuple[tuple[int, int], ...] = (),
    rows: tuple[int, ...] = (),
    column: int = 0,
) -> dict[str, Any]:
    """Outputs of a network that is sure: of an operation, of cells (of a pair: first and second), of rows, of a column."""
    height, width = given.links.shape
    out = {
        "operations": np.full(len(OPERATIONS), -30.0, np.float32),
        "cells": np.full((height, width, 3), -30.0, np.float32),
        "rows": np.full(height, -30.0, np.float32),
        "columns": np.full((width, 4), -30.0, np.float32),
    }
    out["operations"][OP[operation]] = 0
    for row, where in cells:
        out["cells"][row, where, 0] = 0
    if operation == "difference":
        out["cells"][(*cells[0], 1)] = 0
        out["cells"][(*cells[1], 2)] = 0
    out["rows"][list(rows)] = 30
    out["columns"][column] = 0
    return out
