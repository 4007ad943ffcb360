"""A table as the bundled model reads it, before any question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from predictor.bundled.cell_text import DATE, NOTHING, NUMBER, TIME, CellFeatures, read
from predictor.bundled.features import (
    CELL_PIECES,
    HEADER_PIECES,
    INDEX,
    MOST_COLUMNS,
    STATIC,
    Bools,
    Floats,
    Whole,
)
from tableqa.data.tables import Table

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOTALS = frozenset(("total", "totals", "sum", "average", "overall", "grand total", "career total", "career"))

TEXT = 120
"""Characters of a cell or header that are cut into word pieces."""


@dataclass(frozen=True, slots=True, eq=False)
class TableReading:
    """A table before any question: R rows, C columns (at most `MOST_COLUMNS`), W different words.

    readings      of each cell, row by row                        numbers, kinds  (R, C)
    static        (R, C, len(STATIC))                             codes           (R, C), equal where the texts say the same
    pieces        (R, C, CELL_PIECES) word pieces, 0 where none   header_pieces   of each column
    vocabulary    word -> its number; word_cells, word_ids: which cells (flat) hold which words
    rarity        (W,) 1 / the number of cells that hold the word
    totals        (R,) rows that sum up others
    """

    table: Table
    columns: int
    readings: list[list[CellFeatures]]
    numbers: NDArray[np.float64]
    kinds: Whole
    static: Floats
    codes: Whole
    pieces: Whole
    header_pieces: list[list[int]]
    header_words: list[frozenset[str]]
    header_phrases: list[str]
    vocabulary: dict[str, int]
    word_cells: Whole
    word_ids: Whole
    rarity: Floats
    phrases: dict[str, list[int]]
    totals: Bools


def read_table(table: Table, tokenizer: Tokenizer) -> TableReading:
    """Read a table once for all questions about it."""
    width = min(len(table.header), MOST_COLUMNS)
    rows = [[read(cell) for cell in row[:width]] for row in table.rows]
    height = len(rows)
    shape, cells = (height, width), [reading for row in rows for reading in row]
    numbers = np.array([reading.number for reading in cells], np.float64).reshape(shape)
    kinds = np.array([reading.kind for reading in cells], np.int64).reshape(shape)
    seen: dict[str, int] = {}
    codes = np.array([seen.setdefault(cell.normal, len(seen)) for cell in cells], np.int64).reshape(shape)
    vocabulary: dict[str, int] = {}
    word_cells: list[int] = []
    word_ids: list[int] = []
    phrases: dict[str, list[int]] = {}
    for index, reading in enumerate(cells):
        for word in reading.words:
            word_cells.append(index)
            word_ids.append(vocabulary.setdefault(word, len(vocabulary)))
        if reading.phrase:
            phrases.setdefault(reading.phrase, []).append(index)
    ids = np.array(word_ids, np.int64)
    totals = np.array([any(reading.normal in TOTALS for reading in row) for row in rows], bool)
    headers = [read(name) for name in table.header[:width]]
    pieces = np.zeros((height, width, CELL_PIECES), np.int64)
    texts = [cell.lower()[:TEXT] for row in table.rows for cell in row[:width]]
    for index, piece_ids in enumerate(_pieces(texts, tokenizer)):
        first_pieces = piece_ids[:CELL_PIECES]
        pieces[index // width, index % width, : len(first_pieces)] = first_pieces
    names = [" ".join(name.lower().split())[:TEXT] for name in table.header[:width]]
    return TableReading(
        table=table,
        columns=width,
        readings=rows,
        numbers=numbers,
        kinds=kinds,
        static=_static(rows, numbers, kinds, codes, totals),
        codes=codes,
        pieces=pieces,
        header_pieces=[piece_ids[:HEADER_PIECES] for piece_ids in _pieces(names, tokenizer)],
        header_words=[frozenset(reading.words) for reading in headers],
        header_phrases=[reading.phrase for reading in headers],
        vocabulary=vocabulary,
        word_cells=np.array(word_cells, np.int64),
        word_ids=ids,
        rarity=(1.0 / np.maximum(np.bincount(ids, minlength=len(vocabulary)), 1)).astype(np.float32),
        phrases=phrases,
        totals=totals,
    )


def _pieces(texts: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
    """The word pieces of each text; a text that is in a table a hundred times is cut once."""
    different = list(dict.fromkeys(texts))
    cut = dict(
        zip(
            different,
            (encoding.ids for encoding in tokenizer.encode_batch(different, add_special_tokens=False)),
            strict=True,
        )
    )
    return [cut[text] for text in texts]


def _static(
    rows: list[list[CellFeatures]], numbers: NDArray[np.float64], kinds: Whole, codes: Whole, totals: Bools
) -> Floats:
    height, width = numbers.shape
    out = np.zeros((height, width, len(STATIC)), np.float32)
    if not out.size:
        return out
    is_number = ~np.isnan(numbers)
    nothing = np.array([[reading.normal in NOTHING for reading in row] for row in rows], bool)
    out[..., INDEX["number"]] = is_number
    out[..., INDEX["exact_number"]] = kinds == NUMBER
    out[..., INDEX["numbers_in_column"]] = is_number.mean(0)
    for name, kind in (
        ("exact_numbers_in_column", NUMBER),
        ("dates_in_column", DATE),
        ("times_in_column", TIME),
    ):
        out[..., INDEX[name]] = (kinds == kind).mean(0)
    year = is_number & (numbers >= 1000) & (numbers <= 2100) & (numbers == np.floor(numbers))
    out[..., INDEX["years_in_column"]] = year.sum(0) / np.maximum(is_number.sum(0), 1)
    usable = is_number & ~totals[:, None]
    for column in range(width):
        use = usable[:, column]
        if use.sum() < 2:
            continue
        values = numbers[use, column]
        levels = np.unique(values)
        rank = np.searchsorted(levels, values) / max(len(levels) - 1, 1)
        out[use, column, INDEX["rank_up"]], out[use, column, INDEX["rank_down"]] = (rank, 1 - rank)
        out[use, column, INDEX["largest"]] = values == levels[-1]
        out[use, column, INDEX["smallest"]] = values == levels[0]
        if len(levels) > 2:
            out[use, column, INDEX["second_largest"]] = values == levels[-2]
            out[use, column, INDEX["second_smallest"]] = values == levels[1]
        steps = np.diff(values)
        out[:, column, INDEX["rising"]] = bool((steps >= 0).all())
        out[:, column, INDEX["falling"]] = bool((steps <= 0).all())
    counts, first = count_texts(codes, np.ones(height, bool))
    out[..., INDEX["share_of_text"]] = counts / height
    often = np.where(nothing, 0, counts)
    out[..., INDEX["commonest"]] = (often == often.max(0)) & (often > 1)
    out[..., INDEX["unique"]] = counts == 1
    out[..., INDEX["nothing"]] = nothing
    out[..., INDEX["first_of_its_kind"]] = first
    out[..., INDEX["length"]] = np.minimum([[reading.length for reading in row] for row in rows], 40) / 40
    out[..., INDEX["column"]] = np.arange(width) / 10
    out[..., INDEX["first_column"]] = np.arange(width) == 0
    out[..., INDEX["total_row"]] = totals[:, None]
    out[1:, :, INDEX["as_above"]] = codes[1:] == codes[:-1]
    out[..., INDEX["different_in_column"]] = first.sum(0) / height
    out[..., INDEX["empty_in_column"]] = nothing.mean(0)
    row_indices = np.arange(height)
    out[..., INDEX["place"]] = (row_indices / max(height - 1, 1))[:, None]
    last = np.flatnonzero(~totals)[-1] if (~totals).any() else height - 1
    for name, row in (("first_row", 0), ("last_row", last), ("second_row", 1), ("second_last_row", last - 1)):
        if 0 <= row < height:
            out[row, :, INDEX[name]] = 1
    out[..., INDEX["rows"]] = min(height, 100) / 100
    with np.errstate(invalid="ignore"):
        out[..., INDEX["size"]] = np.nan_to_num(np.log1p(np.abs(numbers)) / 15)
        out[..., INDEX["negative"]] = numbers < 0
    return out


def count_texts(codes: Whole, rows: Bools) -> tuple[Whole, Bools]:
    """How often each cell's text is in its column within `rows`, and whether it is the first with that text."""
    height, width = codes.shape
    keys = codes * width + np.arange(width)
    used = keys[rows]
    _, where, back, count = np.unique(used, return_index=True, return_inverse=True, return_counts=True)
    counts, first = np.zeros((height, width), np.int64), np.zeros(used.size, bool)
    counts[rows] = count[back].reshape(used.shape)
    first[where] = True
    firsts = np.zeros((height, width), bool)
    firsts[rows] = first.reshape(used.shape)
    return counts, firsts
