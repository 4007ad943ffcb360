"""What the bundled model is shown: a question and a table as arrays of numbers.

Three things reach the network. The word pieces of question and header, one sequence for the encoder; for each of them
what it has to do with the table (`TOKEN_FEATURES`); and for each cell its word pieces, its place in the question if it
is named there, and what is known of it (`CELL_FEATURES`): its rank in its column, whether the question names it, how
its number compares with one in the question, whether it is the largest of the rows that the question speaks of.
The features are written out because so small a network cannot learn arithmetic; the choice among them is learnt.

A table is read once (`read_table`), a cell's text once for all tables; asking a question (`encode_question`) is numpy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tableqa.cells import dates_of, fold, number_of, time_of, without_notes
from tableqa.data.tables import Table

if TYPE_CHECKING:
    from tokenizers import Tokenizer

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

TEXT = 120
"""Characters of a cell or header that are cut into word pieces."""

NOTHING = frozenset(
    ("", "-", "--", "n/a", "na", "none", "?", "tba", "tbd", "unknown", "nil", "...", "—", "null")
)
TOTALS = frozenset(("total", "totals", "sum", "average", "overall", "grand total", "career total", "career"))

_STOPS = """
a an the of in on at to for from by with and or is are was were be been being did do does has have had how many much
what which who whom whose when where that this these those it its as than there their they he she his her not no if
into out up only same also each any all s t name list listed table chart total number
"""
STOP_WORDS = frozenset(_STOPS.split())
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_NUMBER_WORDS = {word: float(value) for value, word in enumerate(_NUMBERS.split())} | {
    "once": 1.0,
    "twice": 2.0,
    "dozen": 12.0,
    "twenty": 20.0,
}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDINAL_WORDS = {word: value for value, word in enumerate(_ORDINALS.split(), start=1)}

_WORD = re.compile(r"[^\W\d_]+|\d+(?:,\d{3})*(?:\.\d+)?")
_LEADING = re.compile(r"[^\d]{0,12}?(-?\d+(?:,\d{3})*(?:\.\d+)?)")
_SUFFIXES = ("ies", "ing", "ed", "es", "s")


# One text ----------------------------------------------------------------------------------------------------


NUMBER, DATE = 1, 2
"""Kinds of a reading."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is seen in the text of one cell, whatever table it stands in.

    normal    in lower case and one typography, without notes: two cells with one normal form say the same
    phrase    its words with single blanks between; "" where they are all stop words
    words     the stems of its content words, each once
    number    what it is worth on a line of numbers: a number, a date in years, a time; the first number in it; or nan
    kind      0 no number, 1 a number, 2 a date, 3 a time, 4 a number somewhere in a text
    """

    normal: str
    phrase: str
    words: tuple[str, ...]
    number: float
    kind: int
    length: int


def stem(word: str) -> str:
    """A word without the commonest English endings, so that "wins" meets "win"."""
    if word[0].isdecimal():
        return word.replace(",", "")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)] + ("y" if suffix == "ies" else "")
    return word


@lru_cache(maxsize=65_536)
def read(text: str) -> Reading:
    """The reading of a cell's text."""
    normal = without_notes(fold(text[:2_000])).lower()
    words = _WORD.findall(normal)
    content = tuple(dict.fromkeys(stem(word) for word in words if word not in STOP_WORDS))
    nothing = normal in NOTHING
    value, kind = (float("nan"), 0) if nothing else _value(text, normal)
    short = not content or nothing or len(words) > 12 or (len(normal) < 2 and not normal.isdigit())
    return Reading(
        normal=normal,
        phrase="" if short else " ".join(word.replace(",", "") for word in words),
        words=() if nothing else content[:24],
        number=value,
        kind=kind,
        length=len(normal),
    )


def _value(text: str, normal: str) -> tuple[float, int]:
    if (number := number_of(text)) is not None and abs(number.value) < 10**15:
        return float(number.value), 1
    if dates := dates_of(text):
        date = dates[0]
        return (date.year or 0) + ((date.month or 1) - 1) / 12 + ((date.day or 1) - 1) / 372, 2
    if (time := time_of(text)) is not None:
        value = 0
        for part in time.parts:
            value = value * 60 + part
        return float(value) + float(time.fraction), 3
    if match := _LEADING.match(normal):
        return float(match[1].replace(",", "")), 4
    return float("nan"), 0


# A table -----------------------------------------------------------------------------------------------------

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

_S = {name: place for place, name in enumerate(STATIC)}
_A = {name: len(STATIC) + place for place, name in enumerate(ASKED)}
_F = _S | _A
_OF_COLUMN = [_F[name] for name in _COLUMN_KEPT]


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
    readings: list[list[Reading]]
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
    numbers = np.array([[reading.number for reading in row] for row in rows], np.float64).reshape(
        height, width
    )
    kinds = np.array([[reading.kind for reading in row] for row in rows], np.int64).reshape(height, width)
    seen: dict[str, int] = {}
    codes = np.array(
        [[seen.setdefault(reading.normal, len(seen)) for reading in row] for row in rows], np.int64
    )
    codes = codes.reshape(height, width)
    vocabulary: dict[str, int] = {}
    word_cells: list[int] = []
    word_ids: list[int] = []
    phrases: dict[str, list[int]] = {}
    for index, reading in enumerate(reading for row in rows for reading in row):
        for word in reading.words:
            word_cells.append(index)
            word_ids.append(vocabulary.setdefault(word, len(vocabulary)))
        if reading.phrase:
            phrases.setdefault(reading.phrase, []).append(index)
    ids = np.array(word_ids, np.int64)
    totals = np.array([any(reading.normal in TOTALS for reading in row) for row in rows], bool).reshape(
        height
    )
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
    """The word pieces of each text; a text that stands in a table a hundred times is cut once."""
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
    rows: list[list[Reading]],
    numbers: NDArray[np.float64],
    kinds: Whole,
    codes: Whole,
    totals: Bools,
) -> Floats:
    height, width = numbers.shape
    out = np.zeros((height, width, len(STATIC)), np.float32)
    if not out.size:
        return out
    is_number = ~np.isnan(numbers)
    nothing = np.array([[reading.normal in NOTHING for reading in row] for row in rows], bool)
    out[..., _S["number"]] = is_number
    out[..., _S["exact_number"]] = kinds == 1
    out[..., _S["numbers_in_column"]] = is_number.mean(0)
    for name, kind in (("exact_numbers_in_column", 1), ("dates_in_column", 2), ("times_in_column", 3)):
        out[..., _S[name]] = (kinds == kind).mean(0)
    year = is_number & (numbers >= 1000) & (numbers <= 2100) & (numbers == np.floor(numbers))
    out[..., _S["years_in_column"]] = year.sum(0) / np.maximum(is_number.sum(0), 1)
    usable = is_number & ~totals[:, None]
    for column in range(width):
        use = usable[:, column]
        if use.sum() < 2:
            continue
        values = numbers[use, column]
        levels = np.unique(values)
        rank = np.searchsorted(levels, values) / max(len(levels) - 1, 1)
        out[use, column, _S["rank_up"]], out[use, column, _S["rank_down"]] = rank, 1 - rank
        out[use, column, _S["largest"]] = values == levels[-1]
        out[use, column, _S["smallest"]] = values == levels[0]
        if len(levels) > 2:
            out[use, column, _S["second_largest"]] = values == levels[-2]
            out[use, column, _S["second_smallest"]] = values == levels[1]
        steps = np.diff(values)
        out[:, column, _S["rising"]] = bool((steps >= 0).all())
        out[:, column, _S["falling"]] = bool((steps <= 0).all())
    counts, first = _counts(codes, np.ones(height, bool))
    out[..., _S["share_of_text"]] = counts / height
    often = np.where(nothing, 0, counts)
    out[..., _S["commonest"]] = (often == often.max(0)) & (often > 1)
    out[..., _S["unique"]] = counts == 1
    out[..., _S["nothing"]] = nothing
    out[..., _S["first_of_its_kind"]] = first
    out[..., _S["length"]] = np.minimum([[reading.length for reading in row] for row in rows], 40) / 40
    out[..., _S["column"]] = np.arange(width) / 10
    out[..., _S["first_column"]] = np.arange(width) == 0
    out[..., _S["total_row"]] = totals[:, None]
    out[1:, :, _S["as_above"]] = codes[1:] == codes[:-1]
    out[..., _S["different_in_column"]] = first.sum(0) / height
    out[..., _S["empty_in_column"]] = nothing.mean(0)
    row_indices = np.arange(height)
    out[..., _S["place"]] = (row_indices / max(height - 1, 1))[:, None]
    last = np.flatnonzero(~totals)[-1] if (~totals).any() else height - 1
    for name, row in (("first_row", 0), ("last_row", last), ("second_row", 1), ("second_last_row", last - 1)):
        if 0 <= row < height:
            out[row, :, _S[name]] = 1
    out[..., _S["rows"]] = min(height, 100) / 100
    with np.errstate(invalid="ignore"):
        out[..., _S["size"]] = np.nan_to_num(np.log1p(np.abs(numbers)) / 15)
        out[..., _S["negative"]] = numbers < 0
    return out


def _counts(codes: Whole, rows: Bools) -> tuple[Whole, Bools]:
    """How often each cell's text stands in its column within `rows`, and whether it is the first with that text."""
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


# A question --------------------------------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class _ParsedQuestion:
    """The words of a question and where its word pieces stand."""

    pieces: list[int]
    starts: list[int]
    words: list[str]
    stems: list[str]
    piece_of_word: list[int]
    phrases: dict[str, tuple[int, int]]
    numbers: list[tuple[float, int]]
    ordinals: list[tuple[int, int]]


_LONGEST_PHRASE = 12


def _parse_question(question: str, tokenizer: Tokenizer) -> _ParsedQuestion:
    text = fold(question[:2_000]).lower()
    encoded = tokenizer.encode(text, add_special_tokens=False)
    starts = [start for start, _ in encoded.offsets][:QUESTION_PIECES]
    words: list[str] = []
    places: list[int] = []
    numbers: list[tuple[float, int]] = []
    in_words: list[tuple[float, int]] = []
    ordinals: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        piece = int(np.searchsorted(starts, match.start(), side="right"))  # one more, for [CLS]
        word, after = match[0], text[match.end() : match.end() + 2]
        if word[0].isdecimal():
            value = float(word.replace(",", ""))
            if after in ("st", "nd", "rd", "th") and value < 200:
                ordinals.append((int(value), piece))
            else:
                numbers.append((value, piece))
        elif word in _NUMBER_WORDS:
            in_words.append((_NUMBER_WORDS[word], piece))
        elif word in _ORDINAL_WORDS:
            ordinals.append((_ORDINAL_WORDS[word], piece))
        words.append(word.replace(",", "") if word[0].isdecimal() else word)
        places.append(piece)
    phrases: dict[str, tuple[int, int]] = {}
    for start in range(len(words)):
        for length in range(1, min(_LONGEST_PHRASE, len(words) - start) + 1):
            phrases.setdefault(" ".join(words[start : start + length]), (start, length))
    return _ParsedQuestion(
        pieces=encoded.ids[:QUESTION_PIECES],
        starts=starts,
        words=words,
        stems=[stem(word) for word in words],
        piece_of_word=places,
        phrases=phrases,
        numbers=numbers + in_words,  # in digits first: "one" and "two" are often no numbers at all
        ordinals=ordinals,
    )


def encode_question(question: str, table: TableReading, tokenizer: Tokenizer) -> Input:
    """The arrays for a question about a table that has been read."""
    parsed = _parse_question(question, tokenizer)
    height, width = table.numbers.shape
    out = np.zeros((height, width, len(CELL_FEATURES)), np.float32)
    out[..., : len(STATIC)] = table.static
    links = np.zeros((height, width), np.int64)
    words_hit, cells_hit = np.zeros(len(parsed.words), bool), np.zeros(len(parsed.words), bool)
    if out.size:
        words_hit, cells_hit = _match(parsed, table, out, links)
        _compare_numbers(parsed, table, out, links)
        _set_row_features(table, out)
    header_hit = _match_headers(parsed, table, out)
    tokens, columns, features = _sequence(parsed, table, out, words_hit, cells_hit, header_hit, tokenizer)
    rows = _visible_rows(out, table)
    question_length = len(parsed.pieces) + 2
    return Input(
        tokens=tokens,
        token_columns=columns,
        token_features=features,
        question=question_length,
        cell_features=out[rows],
        cell_pieces=table.pieces[rows],
        links=np.where(links[rows] < question_length - 1, links[rows], 0),
        rows=rows,
    )


def _match(parsed: _ParsedQuestion, table: TableReading, out: Floats, links: Whole) -> tuple[Bools, Bools]:
    """Which cells the question names, in whole or by a word. Gives the question's words that cells hold, and those
    that name a whole cell."""
    height, width = table.numbers.shape
    flat = out.reshape(height * width, -1)
    flat_links = links.reshape(-1)
    content = {
        word_stem: index
        for index, (word, word_stem) in reversed(
            list(enumerate(zip(parsed.words, parsed.stems, strict=True)))
        )
        if word not in STOP_WORDS
    }
    words_hit, cells_hit = np.zeros(len(parsed.words), bool), np.zeros(len(parsed.words), bool)
    piece_of_id = np.zeros(len(table.vocabulary), np.int64)
    for word, index in content.items():
        if (number := table.vocabulary.get(word)) is not None:
            piece_of_id[number] = parsed.piece_of_word[index]
            words_hit[index] = True
    hit = piece_of_id[table.word_ids] > 0
    cells, ids = table.word_cells[hit], table.word_ids[hit]
    word_counts = np.bincount(table.word_cells, minlength=len(flat))
    matched = np.bincount(cells, minlength=len(flat))
    flat[:, _A["words_of_cell"]] = matched / np.maximum(word_counts, 1)
    flat[:, _A["words_of_question"]] = matched / max(len(content), 1)
    rarity = table.rarity[ids]
    order = np.argsort(rarity, kind="stable")  # the rarest word is written last and stays
    flat[cells[order], _A["rare_word"]] = rarity[order]
    flat_links[cells[order]] = piece_of_id[ids[order]]
    beginnings = {word[:4] for word in content if len(word) >= 4 and not word[0].isdecimal()}
    if beginnings:
        begins = np.array([word[:4] in beginnings for word in table.vocabulary], bool)[table.word_ids]
        flat[:, _A["beginnings"]] = np.bincount(table.word_cells[begins], minlength=len(flat)) / np.maximum(
            word_counts, 1
        )
    years = {word for word in parsed.words if len(word) == 4 and word.isdigit() and "1000" <= word <= "2100"}
    for year in years:
        if (number := table.vocabulary.get(year)) is not None:
            flat[table.word_cells[table.word_ids == number], _A["year_in_cell"]] = 1
    for phrase, (start, length) in parsed.phrases.items():
        if (named := table.phrases.get(phrase)) is not None:
            flat[named, _A["named"]] = 1
            flat[named, _A["named_words"]] = min(length, 5) / 5
            flat_links[named] = parsed.piece_of_word[start]
            cells_hit[start : start + length] = True
    return words_hit, cells_hit


def _compare_numbers(parsed: _ParsedQuestion, table: TableReading, out: Floats, links: Whole) -> None:
    numbers = table.numbers
    for value, piece in parsed.numbers:
        same = numbers == value
        out[..., _A["number_asked"]] = np.maximum(out[..., _A["number_asked"]], same)
        links[same & (links == 0)] = piece
    with np.errstate(invalid="ignore"):
        for (value, _), name in zip(parsed.numbers, ("first", "second"), strict=False):
            out[..., _A[f"above_{name}"]] = numbers > value
            out[..., _A[f"below_{name}"]] = numbers < value
            out[..., _A[f"at_{name}"]] = numbers == value
        if len(parsed.numbers) > 1:
            low, high = sorted(value for value, _ in parsed.numbers[:2])
            out[..., _A["in_both"]] = (numbers >= low) & (numbers <= high)
    for ordinal, _ in parsed.ordinals:
        if 1 <= ordinal <= len(numbers):
            out[ordinal - 1, :, _A["ordinal_row"]] = 1
    for value in [value for value, _ in parsed.numbers] + [ordinal for ordinal, _ in parsed.ordinals]:
        if 1 <= value <= len(numbers) and value == int(value) and value < 30:
            out[: int(value), :, _A["first_rows"]] = 1
            break


def _set_row_features(table: TableReading, out: Floats) -> None:
    """What the rows have to do with the question: the named ones, their neighbours, and the ones it picks out."""
    height = len(table.numbers)
    named, words = out[..., _A["named"]].max(1), out[..., _A["words_of_cell"]].max(1)
    out[..., _A["row_named"]], out[..., _A["row_words"]] = named[:, None], words[:, None]
    out[1:, :, _A["row_above_named"]], out[:-1, :, _A["row_below_named"]] = named[:-1, None], named[1:, None]
    out[1:, :, _A["row_above_words"]], out[:-1, :, _A["row_below_words"]] = words[:-1, None], words[1:, None]
    out[..., _A["column_named"]] = out[..., _A["named"]].max(0)
    out[..., _A["column_words"]] = out[..., _A["words_of_cell"]].max(0)
    out[..., _A["column_number"]] = out[..., _A["number_asked"]].max(0)
    # The subset: the rows that hold the most of what the question names, a word counted once for each row.
    share = out[..., _A["words_of_question"]].max(1)
    cover = share + named
    out[..., _A["row_covers"]] = cover[:, None]
    live = ~table.totals
    best = cover[live].max() if live.any() else 0.0
    subset = live & (cover >= best - 1e-6) if best > 0 else live
    if subset.any():
        _set_subset_features(table, out, subset)
    if best > 0 and subset.any():
        anchor = int(np.flatnonzero(subset)[0])
        row_indices = np.arange(height)
        out[..., _A["after_anchor"]] = (row_indices > anchor)[:, None]
        out[..., _A["before_anchor"]] = (row_indices < anchor)[:, None]
        out[..., _A["just_after_anchor"]] = (row_indices == anchor + 1)[:, None]
        out[..., _A["just_before_anchor"]] = (row_indices == anchor - 1)[:, None]
        with np.errstate(invalid="ignore"):
            out[..., _A["above_anchor_value"]] = table.numbers > table.numbers[anchor]
            out[..., _A["below_anchor_value"]] = table.numbers < table.numbers[anchor]
        out[..., _A["as_anchor_value"]] = table.codes == table.codes[anchor]
    rows = np.flatnonzero(named > 0)
    if len(rows):
        out[rows[0], :, _A["first_named_row"]] = 1
        out[rows[-1], :, _A["last_named_row"]] = 1
        out[rows[0] + 1 : rows[-1], :, _A["between_named_rows"]] = 1


def _set_subset_features(table: TableReading, out: Floats, subset: Bools) -> None:
    out[..., _A["in_subset"]] = subset[:, None]
    out[..., _A["subset_share"]] = subset.mean()
    out[..., _A["subset_one"]] = subset.sum() == 1
    rows = np.flatnonzero(subset)
    out[rows[0], :, _A["first_in_subset"]] = 1
    out[rows[-1], :, _A["last_in_subset"]] = 1
    numbers = table.numbers[subset]
    is_number = ~np.isnan(numbers)
    low = np.where(is_number, numbers, np.inf).min(0)
    high = np.where(is_number, numbers, -np.inf).max(0)
    out[rows, :, _A["largest_in_subset"]] = numbers == high
    out[rows, :, _A["smallest_in_subset"]] = numbers == low
    with np.errstate(invalid="ignore", divide="ignore"):
        span = np.where(high > low, high - low, 1.0)
        out[rows, :, _A["rank_in_subset"]] = np.nan_to_num((numbers - low) / span, posinf=0, neginf=0)
    counts, _ = _counts(table.codes, subset)
    often = np.where(table.static[..., _S["nothing"]] > 0, 0, counts)
    out[..., _A["commonest_in_subset"]] = (often == often.max(0)) & (often > 1)


def _match_headers(parsed: _ParsedQuestion, table: TableReading, out: Floats) -> Bools:
    stems = set(parsed.stems)
    content = {
        word_stem
        for word, word_stem in zip(parsed.words, parsed.stems, strict=True)
        if word not in STOP_WORDS
    }
    beginnings = {word[:4] for word in content if len(word) >= 4 and not word[0].isdecimal()}
    named_stems: set[str] = set()
    for column, words in enumerate(table.header_words):
        if not words:
            continue
        named_stems |= words & stems
        out[:, column, _A["header_words"]] = len(words & content) / len(words)
        begun = sum(1 for word in words if len(word) >= 4 and word[:4] in beginnings)
        out[:, column, _A["header_beginnings"]] = begun / len(words)
        out[:, column, _A["header_named"]] = table.header_phrases[column] in parsed.phrases
    return np.array([word in named_stems for word in parsed.stems], bool)


def _sequence(
    parsed: _ParsedQuestion,
    table: TableReading,
    out: Floats,
    words_hit: Bools,
    cells_hit: Bools,
    header_hit: Bools,
    tokenizer: Tokenizer,
) -> tuple[Whole, Whole, Floats]:
    start, end, unknown = special_tokens(tokenizer)
    tokens, columns = [start, *parsed.pieces, end], [0] * (len(parsed.pieces) + 2)
    for column, pieces in enumerate(table.header_pieces):
        remaining_columns = table.columns - column - 1
        room = SEQUENCE - len(tokens) - 2 * remaining_columns - 1  # every column keeps one piece and its mark
        visible_pieces = (pieces or [unknown])[: max(room, 1)]
        tokens += [*visible_pieces, end]
        columns += [column + 1] * len(visible_pieces) + [0]
    features = np.zeros((len(tokens), len(TOKEN_FEATURES)), np.float32)
    number_pieces = {piece for _, piece in parsed.numbers}
    ordinal_pieces = {piece for _, piece in parsed.ordinals}
    bounds = [*parsed.piece_of_word, len(parsed.pieces) + 1][1 : len(parsed.words) + 1]
    for word, (first, last) in enumerate(zip(parsed.piece_of_word, bounds, strict=True)):
        rest = slice(first, min(max(last, first + 1), len(parsed.pieces) + 1))
        is_matched = words_hit[word] or cells_hit[word] or header_hit[word]
        features[rest, :6] = (
            cells_hit[word],
            words_hit[word],
            header_hit[word],
            first in number_pieces,
            first in ordinal_pieces,
            not is_matched and parsed.words[word] not in STOP_WORDS,
        )
    column_numbers = np.array(columns, np.int64)
    named = column_numbers > 0
    if len(out) and named.any():
        features[named, 6:] = out[0][column_numbers[named] - 1][:, _OF_COLUMN]
    return np.array(tokens, np.int64), column_numbers, features


@lru_cache(maxsize=8)
def _special(
    tokenizer_id: int, start: int | None, end: int | None, unknown: int | None
) -> tuple[int, int, int]:
    if start is None or end is None or unknown is None:
        raise ValueError("the tokenizer has no [CLS], [SEP] and [UNK]: it is not the bundled model's")
    return start, end, unknown


def special_tokens(tokenizer: Tokenizer) -> tuple[int, int, int]:
    """The numbers of [CLS], [SEP] and [UNK]. Raises ValueError for a tokenizer without them."""
    token_ids = [tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[UNK]")]
    return _special(id(tokenizer), *token_ids)


def _visible_rows(out: Floats, table: TableReading) -> Whole:
    """The rows that the network is shown: all, or of a larger table those nearest to the question and the ends."""
    height, width = table.numbers.shape
    most = max(min(MOST_ROWS, MOST_CELLS // max(width, 1)), 1)
    if height <= most:
        return np.arange(height)
    score = 2 * out[:, 0, _A["row_covers"]] + out[:, 0, _A["row_named"]] + out[:, 0, _A["row_words"]]
    for name, weight in (
        ("row_above_named", 0.9),
        ("row_below_named", 0.9),
        ("between_named_rows", 0.5),
        ("ordinal_row", 1.5),
        ("number_asked", 1.0),
        ("largest", 0.5),
        ("smallest", 0.5),
        ("largest_in_subset", 0.6),
        ("smallest_in_subset", 0.6),
        ("year_in_cell", 0.5),
    ):
        score = score + weight * out[..., _F[name]].max(1)
    score[:6] += 1.5
    score[-4:] += 1.5
    score -= np.arange(height) * 1e-4
    return np.sort(np.argsort(-score, kind="stable")[:most])


# Batches -----------------------------------------------------------------------------------------------------


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
