"""What the bundled model is shown: the arrays of a question about a table, and the names of their features.

Three things reach the network. The word pieces of question and header, one sequence for the encoder; for each of them
what it has to do with the table (`TOKEN_FEATURES`); and for each cell its word pieces, its position in the question if
it is named there, and what is known of it (`CELL_FEATURES`): its rank in its column, whether the question names it, how
its number compares with one in the question, whether it is the largest of the rows named there. The features are
written out because so small a network cannot learn arithmetic; the choice among them is learnt.

A table is read once (`table_features`), a cell's text once for all tables (`cell_text`); asking a question
(`question_features`) is numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_ROWS = 96
MOST_COLUMNS = 24
MOST_CELLS = 640
"""Rows, columns and cells that the network is shown; of a larger table the rows nearest to the question."""

CELL_PIECES = 8
HEADER_PIECES = 8
QUESTION_PIECES = 64
SEQUENCE = 160
"""Word pieces kept of a cell, a header, a question, and of question and headers together."""

STATIC = (
    "number", "exact_number", "numbers_in_column", "exact_numbers_in_column", "dates_in_column", "times_in_column",
    "rank_up", "rank_down", "largest", "smallest", "second_largest", "second_smallest", "rising", "falling",
    "share_of_text", "commonest", "unique", "nothing", "first_of_its_kind", "length", "column", "total_row",
    "as_above", "different_in_column", "years_in_column", "empty_in_column", "place", "first_row", "last_row",
    "second_row", "second_last_row", "rows", "size", "negative", "first_column",
)  # fmt: skip
ASKED = (
    "named", "named_words", "words_of_cell", "words_of_question", "rare_word", "beginnings", "year_in_cell",
    "number_asked", "above_first", "below_first", "at_first", "above_second", "below_second", "at_second",
    "ordinal_row", "first_rows", "row_named", "row_words", "row_above_named", "row_below_named", "row_above_words",
    "row_below_words", "header_words", "header_beginnings", "header_named", "row_covers", "in_subset",
    "subset_share", "subset_one", "largest_in_subset", "smallest_in_subset", "first_in_subset", "last_in_subset",
    "rank_in_subset", "commonest_in_subset", "after_anchor", "before_anchor", "just_after_anchor",
    "just_before_anchor", "above_anchor_value", "below_anchor_value", "as_anchor_value", "column_named",
    "column_words", "column_number", "in_both", "first_named_row", "last_named_row", "between_named_rows",
)  # fmt: skip
CELL_FEATURES = (*STATIC, *ASKED)
_COLUMN_KEPT = (
    "numbers_in_column", "exact_numbers_in_column", "dates_in_column", "times_in_column", "rising", "falling",
    "different_in_column", "years_in_column", "empty_in_column", "column", "header_words", "header_named",
    "column_named", "column_words", "column_number",
)  # fmt: skip
TOKEN_FEATURES = (
    "cell_named", "word_of_cell", "word_of_header", "number", "ordinal", "unknown_word",
    *_COLUMN_KEPT,
)  # fmt: skip

INDEX = {name: index for index, name in enumerate(CELL_FEATURES)}
COLUMN_FEATURES = [INDEX[name] for name in _COLUMN_KEPT]
"""Indices of the features that are the same in all cells of a column."""


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """A question about a table, as the network takes it: L word pieces, R rows that were kept, C columns.

    tokens          (L,) [CLS] question [SEP] header [SEP] header [SEP] ...
    token_columns   (L,) the column that a piece names, from 1; 0 for the question
    token_features  (L, len(TOKEN_FEATURES))
    question        how many of the tokens are the question's, [CLS] and [SEP] included
    cell_features   (R, C, len(CELL_FEATURES))
    cell_pieces     (R, C, CELL_PIECES)
    links           (R, C) where in `tokens` the cell is named, 0 where it is not
    rows            (R,) the rows of the table that were kept, in their order
    """

    tokens: Whole
    token_columns: Whole
    token_features: Floats
    question: int
    cell_features: Floats
    cell_pieces: Whole
    links: Whole
    rows: Whole


def collate(inputs: Sequence[Input]) -> dict[str, NDArray[Any]]:
    """Inputs side by side, padded to the largest; `cells` (B, R, C) says which cells there are.

    tokens, token_columns (B, L); token_features (B, L, .); token_mask, question_mask (B, L); segments (B, L), 1 for the
    headers; cell_features (B, R, C, .); cell_pieces (B, R, C, .); links (B, R, C); cells (B, R, C). Shapes are at
    least 1 everywhere, so that a table without rows is a table of one row that is not there.
    """
    count = len(inputs)
    height = max(1, *(len(entry.rows) for entry in inputs))
    width = max(1, *(entry.cell_features.shape[1] for entry in inputs))
    length = max(len(entry.tokens) for entry in inputs)
    batch: dict[str, NDArray[Any]] = {
        "tokens": np.zeros((count, length), np.int64),
        "token_columns": np.zeros((count, length), np.int64),
        "token_features": np.zeros((count, length, len(TOKEN_FEATURES)), np.float32),
        "token_mask": np.zeros((count, length), np.float32),
        "question_mask": np.zeros((count, length), np.float32),
        "segments": np.zeros((count, length), np.int64),
        "cell_features": np.zeros((count, height, width, len(CELL_FEATURES)), np.float32),
        "cell_pieces": np.zeros((count, height, width, CELL_PIECES), np.int64),
        "links": np.zeros((count, height, width), np.int64),
        "cells": np.zeros((count, height, width), np.float32),
    }
    for index, entry in enumerate(inputs):
        tokens, (rows, columns) = len(entry.tokens), entry.links.shape
        batch["tokens"][index, :tokens] = entry.tokens
        batch["token_columns"][index, :tokens] = entry.token_columns
        batch["token_features"][index, :tokens] = entry.token_features
        batch["token_mask"][index, :tokens] = 1
        batch["question_mask"][index, : entry.question] = 1
        batch["segments"][index, entry.question : tokens] = 1
        batch["cell_features"][index, :rows, :columns] = entry.cell_features
        batch["cell_pieces"][index, :rows, :columns] = entry.cell_pieces
        batch["links"][index, :rows, :columns] = entry.links
        batch["cells"][index, :rows, :columns] = 1
    return batch
