"""What TaBERT reads: a question and rows of a table as word pieces, the content snapshot first. Without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predictor.checkpoints import ModelError
from predictor.protocol import PredictRequest, refused
from tableqa import Table
from tableqa.cells import number_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_TOKENS = 512
MOST_ROWS = 256
"""Rows that are encoded; later ones are not seen."""


@dataclass(frozen=True)
class Configuration:
    """What `tb_config.json` says, as far as it decides an encoding."""

    hidden: int = 768
    layers: int = 12
    heads: int = 12
    intermediate: int = 3_072
    vocabulary: int = 30_522
    positions: int = MOST_TOKENS
    vertical_layers: int = 0
    vertical_heads: int = 6
    rows: int = 1
    template: tuple[str, ...] = ("column", "|", "type", "|", "value")
    delimiter: str = "[SEP]"
    context_first: bool = True
    representation: str = "mean_pool"
    cell_tokens: int = 5
    context_tokens: int = 256
    lower_case: bool = True
    dropout: float = 0.1
    attention_dropout: float = 0.1
    published_mask: bool = False

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Configuration:
        """Of the file's contents; a size that it does not name is that of its `base_model_name`."""
        large = "large" in str(settings.get("base_model_name", ""))
        vertical = "num_vertical_layers" in settings or "num_vertical_attention_heads" in settings
        template = settings.get("cell_input_template", cls.template)
        return cls(
            hidden=settings.get("hidden_size", 1_024 if large else 768),
            layers=settings.get("num_hidden_layers", 24 if large else 12),
            heads=settings.get("num_attention_heads", 16 if large else 12),
            intermediate=settings.get("intermediate_size", 4_096 if large else 3_072),
            vocabulary=settings.get("vocab_size", 30_522),
            positions=min(MOST_TOKENS, settings.get("max_position_embeddings", MOST_TOKENS)),
            vertical_layers=settings.get("num_vertical_layers", 3) if vertical else 0,
            vertical_heads=settings.get("num_vertical_attention_heads", 6),
            rows=settings.get("sample_row_num", 3) if vertical else 1,
            template=tuple(template.split() if isinstance(template, str) else template),
            delimiter=settings.get("column_delimiter", "[SEP]"),
            context_first=settings.get("context_first", True),
            representation=settings.get("column_representation", "mean_pool"),
            cell_tokens=settings.get("max_cell_len", 5),
            context_tokens=settings.get("max_context_len", 256),
            lower_case=settings.get("do_lower_case", True),
            dropout=settings.get("hidden_dropout_prob", 0.1),
            attention_dropout=settings.get("attention_probs_dropout_prob", 0.1),
        )


class WordPieces:
    """BERT's word pieces of a vocabulary file. It knows no special tokens in texts: "[SEP]" in a cell is text."""

    def __init__(self, file: Path, lower_case: bool) -> None:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

        vocabulary = {word: index for index, word in enumerate(file.read_text(encoding="utf-8").splitlines())}
        if missing := [word for word in ("[CLS]", "[SEP]", "[PAD]", "[UNK]") if word not in vocabulary]:
            raise ModelError(f"{file} is no vocabulary of BERT: it lacks {', '.join(missing)}")
        self.vocabulary = vocabulary
        self._tokenizer: Tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # nosec B106
        self._tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower_case)
        self._tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        self._ids = lru_cache(maxsize=20_000)(self._read)

    def ids(self, text: str) -> tuple[int, ...]:
        """The pieces of a text."""
        return self._ids(text)

    def _read(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def id(self, word: str) -> int:
        """The number of one word of the vocabulary, that of [UNK] where it is none."""
        return self.vocabulary.get(word, self.vocabulary["[UNK]"])


@dataclass(frozen=True)
class Line:
    """One row as BERT reads it: ids, where the first segment ends, where the question is, where each column is."""

    ids: tuple[int, ...]
    first_segment: int
    question: tuple[int, int]
    columns: tuple[tuple[int, int], ...]


def write_line(
    word_pieces: WordPieces,
    configuration: Configuration,
    question: tuple[int, ...],
    names: Sequence[tuple[int, ...]],
    types: Sequence[str],
    cells: Sequence[str],
) -> Line:
    """A row: `[CLS] question [SEP] column | type | value [SEP] column | type | value [SEP]`, or the question last.

    Columns that no longer fit are left out. Raises ProtocolError(too_large) where not even the first one fits.
    """
    room = configuration.positions - len(question) - 3
    start = len(question) + 2 if configuration.context_first else 1
    body: list[int] = []
    spans: list[tuple[int, int]] = []
    for name, kind, cell in zip(names, types, cells, strict=True):
        value = word_pieces.ids(cell)[: configuration.cell_tokens]
        piece: list[int] = []
        name_at = (0, 0)
        for part in configuration.template:
            if part == "column":
                name_at = (len(piece), len(piece) + len(name))
                piece += name
            elif part == "value":
                piece += value
            else:
                piece.append(word_pieces.id(kind if part == "type" else part))
        if len(body) + len(piece) + 1 > room:
            break
        first = start + len(body)
        if "column_name" in configuration.representation:
            spans.append((first + name_at[0], first + name_at[1]))
        elif "first_token" in configuration.representation:
            spans.append((first, first + 1))
        else:
            spans.append((first, first + len(piece)))
        body += [*piece, word_pieces.id(configuration.delimiter)]
    if not spans:
        raise refused(
            "too_large", f"Question and first column alone are longer than {configuration.positions} tokens."
        )
    if body[-1] == word_pieces.id(configuration.delimiter):
        del body[-1]
    begin, between = word_pieces.id("[CLS]"), word_pieces.id("[SEP]")
    first_part, second_part = (question, body) if configuration.context_first else (body, question)
    end = len(first_part) + 2
    return Line(
        (begin, *first_part, between, *second_part, between),
        end,
        (0, end - 1) if configuration.context_first else (end, end + len(question) + 1),
        tuple(spans),
    )


def column_types(table: Table) -> list[str]:
    """`real` for a column whose cells are numbers, most of them, else `text`."""
    types = []
    for column in range(len(table.header)):
        filled_cells = [row[column] for row in table.rows if row[column].strip()]
        numeric = sum(number_of(cell) is not None for cell in filled_cells)
        types.append("real" if filled_cells and 2 * numeric > len(filled_cells) else "text")
    return types


def snapshot(question: str, table: Table, rows: int) -> list[tuple[str, ...]]:
    """The paper's content snapshot: the rows that have most in common with the question, in the table's order.

    A row counts by its longest cell that is in the question as a whole, then by its n-grams of 3, 2 and 1
    words in the question; what is missing is filled with the first rows. With `rows` 1 it is a row that the table
    need not have: of each column the cell that has most in common with the question.
    """
    spoken = _words(question)
    grams = {n: {tuple(spoken[i : i + n]) for i in range(len(spoken) - n + 1)} for n in (1, 2, 3)}

    def shared(cell: str) -> tuple[int, int]:
        words = _words(cell)
        whole = f" {' '.join(words)} " in f" {' '.join(spoken)} " if words else False
        starts = range(len(words))
        longest = max((n for n in grams for i in starts if tuple(words[i : i + n]) in grams[n]), default=0)
        return (len(words) if whole else 0, longest)

    if not table.rows:
        return [("",) * len(table.header)]
    if rows == 1:
        # `max` gives the first of equals.
        return [tuple(max(cells, key=shared) for cells in zip(*table.rows, strict=True))]
    scored = sorted(range(len(table.rows)), key=lambda row: max(map(shared, table.rows[row])), reverse=True)
    return [table.rows[index] for index in sorted(scored[:rows])]


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()


@dataclass(frozen=True)
class TabertInput:
    """A request as the model reads it: groups of at most K lines, the snapshot's first, and what was left out."""

    groups: tuple[tuple[Line, ...], ...]
    rows_seen: int
    truncated: bool

    @property
    def tokens(self) -> int:
        return sum(len(group) * max(len(line.ids) for line in group) for group in self.groups)


def read(word_pieces: WordPieces, configuration: Configuration, request: PredictRequest) -> TabertInput:
    """Question and table as lines. Titles, earlier turns and context stand before the question.

    Raises ProtocolError(too_large).
    """
    table = request.table
    context = [turn.question for turn in request.history] + [request.question]
    beside = [table.title, table.caption, request.context.text if request.context else ""]
    question_ids = word_pieces.ids(" ".join(context))
    # The question counts most, so it is what stays where everything together is too long.
    before = word_pieces.ids(" ".join(filter(None, beside)))[
        : max(0, configuration.context_tokens - len(question_ids))
    ]
    question = (*before, *question_ids)[-configuration.context_tokens :]
    names = [word_pieces.ids(name) for name in table.header]
    types = column_types(table)
    seen = table.rows[:MOST_ROWS]

    def lines(rows: Sequence[Sequence[str]]) -> tuple[Line, ...]:
        return tuple(write_line(word_pieces, configuration, question, names, types, row) for row in rows)

    step = configuration.rows
    groups = [lines(snapshot(request.question, table, step))]
    groups += [lines(seen[first : first + step]) for first in range(0, len(seen), step)]
    cut = (
        len(table.rows) > len(seen)
        or any(len(line.columns) < len(table.header) for group in groups for line in group)
        or any(len(word_pieces.ids(cell)) > configuration.cell_tokens for row in seen for cell in row)
        or len(question_ids) > configuration.context_tokens
    )
    return TabertInput(tuple(groups), len(seen), cut)
