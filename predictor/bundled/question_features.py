"""A question about a table as the bundled model reads it: how words and numbers match the cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from predictor.bundled.cell_text import STOP_WORDS, WORD, stem
from predictor.bundled.features import (
    CELL_FEATURES,
    COLUMN_FEATURES,
    INDEX,
    MOST_CELLS,
    MOST_ROWS,
    QUESTION_PIECES,
    SEQUENCE,
    STATIC,
    TOKEN_FEATURES,
    Bools,
    Floats,
    Input,
    Whole,
)
from predictor.bundled.table_features import TableReading, count_texts
from tableqa.cells import fold

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_NUMBER_WORDS = {word: float(value) for value, word in enumerate(_NUMBERS.split())} | {
    "once": 1.0,
    "twice": 2.0,
    "dozen": 12.0,
    "twenty": 20.0,
}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDINAL_WORDS = {word: value for value, word in enumerate(_ORDINALS.split(), start=1)}


@dataclass(frozen=True, slots=True)
class _ParsedQuestion:
    """The words of a question and which of its word pieces each begins with.

    content      stem of each word that is no stop word -> its first position among the words
    beginnings   the first letters of long words in `content`
    """

    pieces: list[int]
    words: list[str]
    stems: list[str]
    content: dict[str, int]
    beginnings: set[str]
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
    for match in WORD.finditer(text):
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
    stems = [stem(word) for word in words]
    content: dict[str, int] = {}
    for index, word in enumerate(words):
        if word not in STOP_WORDS:
            content.setdefault(stems[index], index)
    return _ParsedQuestion(
        pieces=encoded.ids[:QUESTION_PIECES],
        words=words,
        stems=stems,
        content=content,
        beginnings={word[:4] for word in content if len(word) >= 4 and not word[0].isdecimal()},
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
    words_hit, cells_hit = np.zeros(len(parsed.words), bool), np.zeros(len(parsed.words), bool)
    piece_of_id = np.zeros(len(table.vocabulary), np.int64)
    for word, index in parsed.content.items():
        if (word_id := table.vocabulary.get(word)) is not None:
            piece_of_id[word_id] = parsed.piece_of_word[index]
            words_hit[index] = True
    hit = piece_of_id[table.word_ids] > 0
    cells, ids = table.word_cells[hit], table.word_ids[hit]
    word_counts = np.bincount(table.word_cells, minlength=len(flat))
    matched = np.bincount(cells, minlength=len(flat))
    flat[:, INDEX["words_of_cell"]] = matched / np.maximum(word_counts, 1)
    flat[:, INDEX["words_of_question"]] = matched / max(len(parsed.content), 1)
    rarity = table.rarity[ids]
    order = np.argsort(rarity, kind="stable")  # the rarest word is written last and stays
    flat[cells[order], INDEX["rare_word"]] = rarity[order]
    flat_links[cells[order]] = piece_of_id[ids[order]]
    if parsed.beginnings:
        begins = np.array([word[:4] in parsed.beginnings for word in table.vocabulary], bool)[table.word_ids]
        begun = np.bincount(table.word_cells[begins], minlength=len(flat))
        flat[:, INDEX["beginnings"]] = begun / np.maximum(word_counts, 1)
    years = {word for word in parsed.words if len(word) == 4 and word.isdigit() and "1000" <= word <= "2100"}
    for year in years:
        if (word_id := table.vocabulary.get(year)) is not None:
            flat[table.word_cells[table.word_ids == word_id], INDEX["year_in_cell"]] = 1
    for phrase, (start, length) in parsed.phrases.items():
        if (named := table.phrases.get(phrase)) is not None:
            flat[named, INDEX["named"]] = 1
            flat[named, INDEX["named_words"]] = min(length, 5) / 5
            flat_links[named] = parsed.piece_of_word[start]
            cells_hit[start : start + length] = True
    return words_hit, cells_hit


def _compare_numbers(parsed: _ParsedQuestion, table: TableReading, out: Floats, links: Whole) -> None:
    numbers = table.numbers
    for value, piece in parsed.numbers:
        same = numbers == value
        out[..., INDEX["number_asked"]] = np.maximum(out[..., INDEX["number_asked"]], same)
        links[same & (links == 0)] = piece
    with np.errstate(invalid="ignore"):
        for (value, _), name in zip(parsed.numbers, ("first", "second"), strict=False):
            out[..., INDEX[f"above_{name}"]] = numbers > value
            out[..., INDEX[f"below_{name}"]] = numbers < value
            out[..., INDEX[f"at_{name}"]] = numbers == value
        if len(parsed.numbers) > 1:
            low, high = sorted(value for value, _ in parsed.numbers[:2])
            out[..., INDEX["in_both"]] = (numbers >= low) & (numbers <= high)
    for ordinal, _ in parsed.ordinals:
        if 1 <= ordinal <= len(numbers):
            out[ordinal - 1, :, INDEX["ordinal_row"]] = 1
    for value in [value for value, _ in parsed.numbers] + [ordinal for ordinal, _ in parsed.ordinals]:
        if 1 <= value <= len(numbers) and value == int(value) and value < 30:
            out[: int(value), :, INDEX["first_rows"]] = 1
            break


def _set_row_features(table: TableReading, out: Floats) -> None:
    """What the rows have to do with the question: the named ones, their neighbours, and the ones it picks out."""
    height = len(table.numbers)
    named, cell_words = out[..., INDEX["named"]].max(1), out[..., INDEX["words_of_cell"]].max(1)
    for of_rows, name in ((named, "named"), (cell_words, "words")):
        out[..., INDEX[f"row_{name}"]] = of_rows[:, None]
        out[1:, :, INDEX[f"row_above_{name}"]] = of_rows[:-1, None]
        out[:-1, :, INDEX[f"row_below_{name}"]] = of_rows[1:, None]
    out[..., INDEX["column_named"]] = out[..., INDEX["named"]].max(0)
    out[..., INDEX["column_words"]] = out[..., INDEX["words_of_cell"]].max(0)
    out[..., INDEX["column_number"]] = out[..., INDEX["number_asked"]].max(0)
    # The subset: the rows that hold the most of what the question names, a word counted once for each row.
    share = out[..., INDEX["words_of_question"]].max(1)
    cover = share + named
    out[..., INDEX["row_covers"]] = cover[:, None]
    live = ~table.totals
    best = cover[live].max() if live.any() else 0.0
    subset = live & (cover >= best - 1e-6) if best > 0 else live
    if subset.any():
        _set_subset_features(table, out, subset)
    if best > 0 and subset.any():
        anchor = int(np.flatnonzero(subset)[0])
        row_indices = np.arange(height)
        out[..., INDEX["after_anchor"]] = (row_indices > anchor)[:, None]
        out[..., INDEX["before_anchor"]] = (row_indices < anchor)[:, None]
        out[..., INDEX["just_after_anchor"]] = (row_indices == anchor + 1)[:, None]
        out[..., INDEX["just_before_anchor"]] = (row_indices == anchor - 1)[:, None]
        with np.errstate(invalid="ignore"):
            out[..., INDEX["above_anchor_value"]] = table.numbers > table.numbers[anchor]
            out[..., INDEX["below_anchor_value"]] = table.numbers < table.numbers[anchor]
        out[..., INDEX["as_anchor_value"]] = table.codes == table.codes[anchor]
    rows = np.flatnonzero(named > 0)
    if len(rows):
        out[rows[0], :, INDEX["first_named_row"]] = 1
        out[rows[-1], :, INDEX["last_named_row"]] = 1
        out[rows[0] + 1 : rows[-1], :, INDEX["between_named_rows"]] = 1


def _set_subset_features(table: TableReading, out: Floats, subset: Bools) -> None:
    out[..., INDEX["in_subset"]] = subset[:, None]
    out[..., INDEX["subset_share"]] = subset.mean()
    out[..., INDEX["subset_one"]] = subset.sum() == 1
    rows = np.flatnonzero(subset)
    out[rows[0], :, INDEX["first_in_subset"]] = 1
    out[rows[-1], :, INDEX["last_in_subset"]] = 1
    numbers = table.numbers[subset]
    is_number = ~np.isnan(numbers)
    low = np.where(is_number, numbers, np.inf).min(0)
    high = np.where(is_number, numbers, -np.inf).max(0)
    out[rows, :, INDEX["largest_in_subset"]] = numbers == high
    out[rows, :, INDEX["smallest_in_subset"]] = numbers == low
    with np.errstate(invalid="ignore", divide="ignore"):
        span = np.where(high > low, high - low, 1.0)
        out[rows, :, INDEX["rank_in_subset"]] = np.nan_to_num((numbers - low) / span, posinf=0, neginf=0)
    counts, _ = count_texts(table.codes, subset)
    often = np.where(table.static[..., INDEX["nothing"]] > 0, 0, counts)
    out[..., INDEX["commonest_in_subset"]] = (often == often.max(0)) & (often > 1)


def _match_headers(parsed: _ParsedQuestion, table: TableReading, out: Floats) -> Bools:
    stems = set(parsed.stems)
    named_stems: set[str] = set()
    for column, words in enumerate(table.header_words):
        if not words:
            continue
        named_stems |= words & stems
        out[:, column, INDEX["header_words"]] = len(words & parsed.content.keys()) / len(words)
        begun = sum(1 for word in words if len(word) >= 4 and word[:4] in parsed.beginnings)
        out[:, column, INDEX["header_beginnings"]] = begun / len(words)
        out[:, column, INDEX["header_named"]] = table.header_phrases[column] in parsed.phrases
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
        features[named, 6:] = out[0][column_numbers[named] - 1][:, COLUMN_FEATURES]
    return np.array(tokens, np.int64), column_numbers, features


def special_tokens(tokenizer: Tokenizer) -> tuple[int, int, int]:
    """The numbers of [CLS], [SEP] and [UNK]. Raises ValueError for a tokenizer without them."""
    start, end, unknown = (tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[UNK]"))
    if start is None or end is None or unknown is None:
        raise ValueError("the tokenizer has no [CLS], [SEP] and [UNK]: it is not the bundled model's")
    return start, end, unknown


def _visible_rows(out: Floats, table: TableReading) -> Whole:
    """The rows that the network is shown: all, or of a larger table those nearest to the question and the ends."""
    height, width = table.numbers.shape
    most = max(min(MOST_ROWS, MOST_CELLS // max(width, 1)), 1)
    if height <= most:
        return np.arange(height)
    score = 2 * out[:, 0, INDEX["row_covers"]] + out[:, 0, INDEX["row_named"]] + out[:, 0, INDEX["row_words"]]
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
        score = score + weight * out[..., INDEX[name]].max(1)
    score[:6] += 1.5
    score[-4:] += 1.5
    score -= np.arange(height) * 1e-4
    return np.sort(np.argsort(-score, kind="stable")[:most])
