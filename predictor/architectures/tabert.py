"""TaBERT: BERT over rows of a table, and attention down its columns. (Yin et al., ACL 2020)

The paper's: the encoder with the names and shapes of its published weights (`model.bin`, `tb_config.json`), K=1 and
K=3, how a row is written, and the content snapshot, the K rows (K=1: a row of the best cells) that have most in
common with the question. Ours: the encoder goes over all rows as well, K at a time, and a head of our own (`Head`)
chooses cells and one of four operations. RobuT's "TaBERT-small" has another head, which was not published.

One fault of the original is corrected: its mask for missing rows is added where it has no effect, so that a table of
fewer than K rows is encoded differently with every other table of its batch. Here missing rows are no keys.
`"vertical_mask": "published"` in askew.json restores the original's encodings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from predictor.architectures.operations import answers_of
from predictor.architectures.tapex import RequestCache
from predictor.checkpoints import Checkpoint, ModelError, Stop, read_json, weights_sha
from predictor.protocol import Prediction, PredictRequest, ProtocolError, refused
from tableqa import Table
from tableqa.cells import number_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_TOKENS = 512
MOST_ROWS = 256
"""Rows that are encoded; later ones are not seen."""
OPERATIONS = ("select", "count", "sum", "average")
THRESHOLD = 0.5
BUDGETS = {"cpu": 16_384, "cuda": 262_144}


# --- configuration -----------------------------------------------------------------------------------------


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


# --- what the encoder reads --------------------------------------------------------------------------------


class WordPieces:
    """BERT's word pieces of a vocabulary file. It knows no special tokens in texts: "[SEP]" in a cell is text."""

    def __init__(self, file: Path, lower_case: bool) -> None:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

        vocabulary = {
            word: number for number, word in enumerate(file.read_text(encoding="utf-8").splitlines())
        }
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
    words: WordPieces,
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
        value = words.ids(cell)[: configuration.cell_tokens]
        piece: list[int] = []
        name_at = (0, 0)
        for part in configuration.template:
            if part == "column":
                name_at = (len(piece), len(piece) + len(name))
                piece += name
            elif part == "value":
                piece += value
            else:
                piece.append(words.id(kind if part == "type" else part))
        if len(body) + len(piece) + 1 > room:
            break
        first = start + len(body)
        if "column_name" in configuration.representation:
            spans.append((first + name_at[0], first + name_at[1]))
        elif "first_token" in configuration.representation:
            spans.append((first, first + 1))
        else:
            spans.append((first, first + len(piece)))
        body += [*piece, words.id(configuration.delimiter)]
    if not spans:
        raise refused(
            "too_large", f"Question and first column alone are longer than {configuration.positions} tokens."
        )
    if body[-1] == words.id(configuration.delimiter):
        del body[-1]
    begin, between = words.id("[CLS]"), words.id("[SEP]")
    if configuration.context_first:
        return Line(
            (begin, *question, between, *body, between),
            len(question) + 2,
            (0, len(question) + 1),
            tuple(spans),
        )
    return Line(
        (begin, *body, between, *question, between),
        len(body) + 2,
        (len(body) + 2, len(body) + 3 + len(question)),
        tuple(spans),
    )


def column_types(table: Table) -> list[str]:
    """`real` for a column whose cells are numbers, most of them, else `text`."""
    types = []
    for column in range(len(table.header)):
        filled_cells = [row[column] for row in table.rows if row[column].strip()]
        numbers = sum(number_of(cell) is not None for cell in filled_cells)
        types.append("real" if filled_cells and 2 * numbers > len(filled_cells) else "text")
    return types


def snapshot(question: str, table: Table, rows: int) -> list[tuple[str, ...]]:
    """The paper's content snapshot: the rows that have most in common with the question, in the table's order.

    A row counts by its longest cell that stands in the question as a whole, then by its n-grams of 3, 2 and 1
    words in the question; what is missing is filled with the first rows. With `rows` 1 it is a row that the table
    need not have: of each column the cell that has most in common with the question.
    """
    spoken = _words(question)
    grams = {n: {tuple(spoken[i : i + n]) for i in range(len(spoken) - n + 1)} for n in (1, 2, 3)}

    def shared(cell: str) -> tuple[int, int]:
        words = _words(cell)
        whole = f" {' '.join(words)} " in f" {' '.join(spoken)} " if words else False
        longest = next(
            (
                n
                for n in (3, 2, 1)
                if any(tuple(words[i : i + n]) in grams[n] for i in range(len(words) - n + 1))
            ),
            0,
        )
        return (len(words) if whole else 0, longest)

    if rows == 1:
        if not table.rows:
            return [tuple("" for _ in table.header)]
        return [
            tuple(
                max((row[column] for row in table.rows), key=shared)  # the first of equals
                for column in range(len(table.header))
            )
        ]
    scored = sorted(
        range(len(table.rows)),
        key=lambda index: (*_descending_key(max(map(shared, table.rows[index]))), index),
    )
    return [table.rows[index] for index in sorted(scored[:rows])] or [tuple("" for _ in table.header)]


def _descending_key(pair: tuple[int, int]) -> tuple[int, int]:
    return -pair[0], -pair[1]


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()


@dataclass(frozen=True)
class Reading:
    """A request as the model reads it: groups of at most K lines, the snapshot's first, and what was left out."""

    groups: tuple[tuple[Line, ...], ...]
    rows_seen: int
    truncated: bool

    @property
    def tokens(self) -> int:
        return sum(len(group) * max(len(line.ids) for line in group) for group in self.groups)


def read(words: WordPieces, configuration: Configuration, request: PredictRequest) -> Reading:
    """Question and table as lines. Titles, earlier turns and context stand before the question.

    Raises ProtocolError(too_large).
    """
    table = request.table
    context = [turn.question for turn in request.history] + [request.question]
    beside = [table.title, table.caption, request.context.text if request.context else ""]
    question_ids = words.ids(" ".join(context))
    # The question counts most, so it is what stays where everything together is too long.
    before = words.ids(" ".join(filter(None, beside)))[
        : max(0, configuration.context_tokens - len(question_ids))
    ]
    question = (*before, *question_ids)[-configuration.context_tokens :]
    names = [words.ids(name) for name in table.header]
    types = column_types(table)
    seen = table.rows[:MOST_ROWS]

    def lines(rows: Sequence[Sequence[str]]) -> tuple[Line, ...]:
        return tuple(write_line(words, configuration, question, names, types, row) for row in rows)

    step = configuration.rows
    groups = [lines(snapshot(request.question, table, step))]
    groups += [lines(seen[first : first + step]) for first in range(0, len(seen), step)]
    cut = (
        len(table.rows) > len(seen)
        or any(len(line.columns) < len(table.header) for group in groups for line in group)
        or any(len(words.ids(cell)) > configuration.cell_tokens for row in seen for cell in row)
        or len(question_ids) > configuration.context_tokens
    )
    return Reading(tuple(groups), len(seen), cut)


# --- the network -------------------------------------------------------------------------------------------


class _VerticalSelfAttention(nn.Module):
    """Attention of each position to the same position in the other rows of its group.

    Missing rows are masked as keys. The published code adds the mask along the rows of the scores instead, where it
    has no effect: a softmax does not change by a constant. `published_mask` does the same, so that encodings equal
    those of the original; they then depend on the other tables of the batch.
    """

    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        hidden = configuration.hidden
        self.heads = configuration.vertical_heads
        self.published_mask = configuration.published_mask
        self.query_linear = nn.Linear(hidden, hidden)
        self.key_linear = nn.Linear(hidden, hidden)
        self.value_linear = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(configuration.attention_dropout)

    def forward(self, states: Tensor, present: Tensor) -> Tensor:
        """states (groups, rows, positions, hidden), present (groups, rows, positions): 1.0 where there is a token."""
        groups, rows, positions, hidden = states.shape

        def by_position(linear: nn.Linear) -> Tensor:
            split = linear(states).view(groups, rows, positions, self.heads, hidden // self.heads)
            return split.permute(0, 2, 3, 1, 4)  # groups, positions, heads, rows, width

        queries, keys, values = map(by_position, (self.query_linear, self.key_linear, self.value_linear))
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(hidden // self.heads)
        missing = (1.0 - present).permute(0, 2, 1) * -10_000.0
        along = missing[:, :, None, :, None] if self.published_mask else missing[:, :, None, None, :]
        mixed = self.dropout((scores + along).softmax(dim=-1)) @ values
        return mixed.permute(0, 3, 1, 2, 4).reshape(groups, rows, positions, hidden)


class _Residual(nn.Module):
    """What BERT calls self_output and output: back to the width, added to its input, normalised."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.dense = nn.Linear(width, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, before: Tensor) -> Tensor:
        normalised: Tensor = self.LayerNorm(self.dropout(self.dense(states)) + before)
        return normalised


class _VerticalLayer(nn.Module):
    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        hidden, intermediate = configuration.hidden, configuration.intermediate
        self.attention = nn.ModuleDict(
            {
                "self_attention": _VerticalSelfAttention(configuration),
                "self_output": _Residual(hidden, hidden, configuration.dropout),
            }
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(hidden, intermediate)})
        self.output = _Residual(intermediate, hidden, configuration.dropout)

    def forward(self, states: Tensor, present: Tensor) -> Tensor:
        attended = self.attention["self_output"](self.attention["self_attention"](states, present), states)
        widened = nn.functional.gelu(self.intermediate["dense"](attended))
        out: Tensor = self.output(widened, attended)
        return out


@dataclass(frozen=True)
class Encoding:
    """What the encoder makes of groups of lines.

    question   (groups, tokens, hidden), averaged over the lines of the group, and which tokens there are
    columns    (groups, columns, hidden), averaged likewise: the paper's column representations
    cells      (groups, lines, columns, hidden), and which of them there are
    """

    question: Tensor
    question_mask: Tensor
    columns: Tensor
    cells: Tensor
    cell_mask: Tensor


class TabertEncoder(nn.Module):
    """The paper's encoder. Its parameters have the names of the published weights."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        from transformers import BertConfig, BertModel

        self.configuration = configuration
        bert = BertModel(
            BertConfig(
                vocab_size=configuration.vocabulary,
                hidden_size=configuration.hidden,
                num_hidden_layers=configuration.layers,
                num_attention_heads=configuration.heads,
                intermediate_size=configuration.intermediate,
                max_position_embeddings=configuration.positions,
                hidden_dropout_prob=configuration.dropout,
                attention_probs_dropout_prob=configuration.attention_dropout,
            ),
            add_pooling_layer=False,
        )
        self._bert_model = nn.ModuleDict({"bert": bert})
        self.vertical_transformer_layers = nn.ModuleList(
            _VerticalLayer(configuration) for _ in range(configuration.vertical_layers)
        )

    def load_published(self, state: Mapping[str, Tensor]) -> None:
        """Take the weights of a `model.bin`; what belongs to its pre-training is left. Raises ModelError."""
        weights = {
            name: weight
            for name, weight in state.items()
            if not name.startswith(("_bert_model.cls.", "_bert_model.bert.pooler.", "span_based_prediction."))
            and not name.endswith(".position_ids")
        }
        # The oldest checkpoints call the two parameters of a layer norm as TensorFlow did.
        renamed = {
            name.replace("LayerNorm.gamma", "LayerNorm.weight").replace(
                "LayerNorm.beta", "LayerNorm.bias"
            ): weight
            for name, weight in weights.items()
        }
        try:
            self.load_state_dict(renamed)
        except RuntimeError as error:
            raise ModelError(f"these are not the weights of this TaBERT: {error}") from None

    def forward(self, groups: Sequence[Sequence[Line]]) -> Encoding:
        """Encode groups of lines; those of a group see one another (K=3) or are one (K=1)."""
        device = self._bert_model["bert"].embeddings.word_embeddings.weight.device
        deep, long = max(map(len, groups)), max(len(line.ids) for group in groups for line in group)
        question_length = max(line.question[1] - line.question[0] for group in groups for line in group)
        wide = max(len(line.columns) for group in groups for line in group)
        ids = torch.zeros((len(groups), deep, long), dtype=torch.long)
        segments, mask = torch.zeros_like(ids), torch.zeros_like(ids)
        questions = torch.zeros((len(groups), deep, question_length), dtype=torch.long)
        question_mask = torch.zeros((len(groups), deep, question_length))
        pooling = torch.zeros((len(groups), deep, wide, long))
        for g, group in enumerate(groups):
            for r, line in enumerate(group):
                ids[g, r, : len(line.ids)] = torch.tensor(line.ids)
                segments[g, r, line.first_segment : len(line.ids)] = 1
                mask[g, r, : len(line.ids)] = 1
                first, last = line.question
                questions[g, r, : last - first] = torch.arange(first, last)
                question_mask[g, r, : last - first] = 1
                for c, (start, end) in enumerate(line.columns):
                    pooling[g, r, c, start:end] = 1 / max(1, end - start)
        if "max_pool" in self.configuration.representation:
            raise ModelError(
                "column_representation max_pool is not supported; the published weights use mean_pool"
            )
        # A line that is not there has no tokens; BERT wants at least one to look at, and its result is masked below.
        mask[:, :, 0] = 1
        ids, segments, mask = ids.to(device), segments.to(device), mask.to(device)
        questions, question_mask, pooling = questions.to(device), question_mask.to(device), pooling.to(device)
        states = self._bert_model["bert"](
            input_ids=ids.flatten(0, 1),
            token_type_ids=segments.flatten(0, 1),
            attention_mask=mask.flatten(0, 1),
        ).last_hidden_state.view(len(groups), deep, long, -1)
        hidden = states.shape[-1]
        cell_mask = (pooling.sum(-1) > 0).to(states.dtype)
        cells = pooling.to(states.dtype) @ states
        context = states.gather(2, questions[..., None].expand(-1, -1, -1, hidden)) * question_mask[..., None]
        present = torch.cat([question_mask.to(states.dtype), cell_mask], dim=-1)
        everything = torch.cat([context, cells], dim=2)
        for layer in self.vertical_transformer_layers:
            everything = layer(everything, present)
        everything = everything * present[..., None]
        lines = cell_mask[:, :, 0].sum(1).clamp(min=1)[:, None, None]
        pooled = everything.sum(1) / lines
        return Encoding(
            question=pooled[:, :question_length],
            question_mask=question_mask.amax(1),
            columns=pooled[:, question_length:],
            cells=everything[:, :, question_length:],
            cell_mask=cell_mask,
        )


class Head(nn.Module):
    """Ours: which cells, and which operation, from the snapshot's question and columns and the encoded cells."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.cell = nn.Sequential(nn.Linear(3 * hidden, hidden), nn.GELU(), nn.Linear(hidden, 1))
        self.operation = nn.Sequential(
            nn.Linear(2 * hidden, hidden), nn.GELU(), nn.Linear(hidden, len(OPERATIONS))
        )

    def forward(self, question: Tensor, columns: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
        """question (hidden), columns (columns, hidden), cells (rows, columns, hidden) of one table.

        The logits of its cells (rows, columns) and of the operations.
        """
        rows, wide, hidden = cells.shape
        beside = torch.cat(
            [cells, columns.expand(rows, wide, hidden), question.expand(rows, wide, hidden)], dim=-1
        )
        logits = self.cell(beside).squeeze(-1)
        if rows:
            looked_at = (logits.flatten().softmax(0)[:, None] * cells.flatten(0, 1)).sum(0)
        else:
            looked_at = torch.zeros_like(question)
        return logits, self.operation(torch.cat([question, looked_at]))


class TabertNetwork(nn.Module):
    """Encoder and head."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        self.configuration = configuration
        self.encoder = TabertEncoder(configuration)
        self.head = Head(configuration.hidden)

    def forward(
        self, readings: Sequence[Reading], width: Sequence[int], budget: int, stop: Stop
    ) -> list[Any]:
        """(cell logits, operation logits) of each reading; None where `stop` came true before it was done."""
        encodings: dict[tuple[int, int], tuple[Tensor, Tensor, Tensor]] = {}
        groups = [
            (index, n, group) for index, entry in enumerate(readings) for n, group in enumerate(entry.groups)
        ]
        for chunk in _chunks(groups, budget):
            alive = [entry for entry in chunk if not stop(entry[0])]
            if not alive:
                continue
            out = self.encoder([group for _, _, group in alive])
            for k, (index, n, group) in enumerate(alive):
                encodings[index, n] = (out.question[k, 0], out.columns[k], out.cells[k, : len(group)])
        answers: list[Any] = []
        for index, entry in enumerate(readings):
            if any((index, n) not in encodings for n in range(len(entry.groups))):
                answers.append(None)
                continue
            question, columns, _ = encodings[index, 0]
            cells = [_fit_columns(encodings[index, n][2], width[index]) for n in range(1, len(entry.groups))]
            hidden = self.configuration.hidden
            body = torch.cat(cells) if cells else question.new_zeros((0, width[index], hidden))
            answers.append(self.head(question, _fit_columns(columns, width[index]), body))
        return answers


def _fit_columns(states: Tensor, width: int) -> Tensor:
    """The same columns, as many as the table has: padding of the batch off, unseen columns as zeros."""
    states = states[..., :width, :]
    return nn.functional.pad(states, (0, 0, 0, width - states.shape[-2]))


def _chunks(
    groups: Sequence[tuple[int, int, tuple[Line, ...]]], budget: int
) -> Iterator[list[tuple[int, int, tuple[Line, ...]]]]:
    """Groups of similar length together, within a budget of tokens, padding counted."""
    chunk: list[tuple[int, int, tuple[Line, ...]]] = []
    size = 0
    for entry in sorted(groups, key=lambda entry: max(len(line.ids) for line in entry[2])):
        longest = max(len(line.ids) for line in entry[2])
        size += len(entry[2])
        if chunk and longest * size > budget:
            yield chunk
            chunk, size = [], len(entry[2])
        chunk.append(entry)
    if chunk:
        yield chunk


# --- the model ---------------------------------------------------------------------------------------------


class Tabert:
    """A TaBERT-style model: `network` in evaluation mode, and the words of its vocabulary."""

    architecture = "tabert"

    def __init__(
        self,
        network: TabertNetwork,
        words: WordPieces,
        *,
        name: str,
        sha: str,
        licence: str,
        budget: int | None = None,
    ) -> None:
        self.name, self.sha, self.licence = name, sha, licence
        self.network = network
        self.words = words
        self.budget = budget or BUDGETS[next(network.parameters()).device.type]
        self._reading = RequestCache(lambda request: read(words, network.configuration, request))

    @classmethod
    def load(cls, checkpoint: Checkpoint, device: str) -> Tabert:
        """The model of a folder, its head included. Raises ModelError."""
        network, words = load_encoder(checkpoint.folder, checkpoint.settings)
        head = checkpoint.folder / "head.safetensors"
        if not head.exists():
            raise ModelError(
                f"{checkpoint.folder} has no head.safetensors: TaBERT is an encoder, and its head has to be "
                f"trained first (./run train --architecture tabert --init {checkpoint.folder})"
            )
        from safetensors.torch import load_file

        try:
            network.head.load_state_dict(load_file(head))
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelError(f"{head} cannot be loaded: {error}") from None
        dtype = getattr(torch, str(checkpoint.settings.get("dtype", "float32")))
        return cls(
            network.eval().to(device=device, dtype=dtype),
            words,
            name=checkpoint.name,
            sha=weights_sha(checkpoint.folder),
            licence=checkpoint.licence,
            budget=checkpoint.settings.get("budget"),
        )

    def tokens(self, request: PredictRequest) -> int:
        """The length of all its lines together."""
        reading: Reading = self._reading(request)
        return reading.tokens

    def predict_batch(
        self, requests: Sequence[PredictRequest], stop: Stop
    ) -> Sequence[Prediction | ProtocolError]:
        """The lines of all requests together; `stop` is asked between the parts of the budget."""
        readings: list[Reading] = [self._reading(request) for request in requests]
        width = [len(request.table.header) for request in requests]
        with torch.inference_mode():
            outputs = self.network(readings, width, self.budget, stop)
        return [
            refused("superseded", "Nobody waits for this any more.")
            if output is None
            else _prediction(request, reading, output[0].float().sigmoid(), output[1].float().softmax(0))
            for request, reading, output in zip(requests, readings, outputs, strict=True)
        ]


def load_encoder(folder: Path, settings: Mapping[str, Any]) -> tuple[TabertNetwork, WordPieces]:
    """The network of a folder, its head untrained, and the words of its vocabulary. Raises ModelError.

    The published folders have no vocabulary: BERT's `vocab.txt` is put beside them, or its folder named in
    `askew.json` as `vocabulary`.
    """
    configuration = replace(
        Configuration.from_dict(read_json(folder / "tb_config.json")),
        published_mask=settings.get("vertical_mask", "corrected") == "published",
    )
    vocabulary = Path(settings.get("vocabulary", folder)) / "vocab.txt"
    if not vocabulary.exists():
        raise ModelError(
            f"{vocabulary} is missing: put the vocab.txt of TaBERT's base model (bert-...-uncased) there"
        )
    try:
        if (folder / "model.safetensors").exists():
            from safetensors.torch import load_file

            state = load_file(folder / "model.safetensors")
        else:
            state = torch.load(folder / "model.bin", map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError) as error:
        raise ModelError(f"the weights in {folder} cannot be loaded: {error}") from None
    except Exception as error:  # a pickle that holds more than weights: torch raises an error of its own
        raise ModelError(f"{folder / 'model.bin'} holds more than weights: {type(error).__name__}") from None
    network = TabertNetwork(configuration)
    network.encoder.load_published(state)
    return network, WordPieces(vocabulary, configuration.lower_case)


def _prediction(request: PredictRequest, reading: Reading, shares: Tensor, operations: Tensor) -> Prediction:
    table = request.table
    likely = shares.tolist()
    columns = min(len(line.columns) for group in reading.groups for line in group)
    positions = [(row, column) for row in range(reading.rows_seen) for column in range(columns)]
    cells = [position for position in positions if likely[position[0]][position[1]] > THRESHOLD]
    label = int(operations.argmax())
    operation = OPERATIONS[label]
    if not cells and operation != "count" and positions:
        cells = [max(positions, key=lambda position: likely[position[0]][position[1]])]
    answers = answers_of(operation, [table.rows[row][column] for row, column in cells])
    certainty = float(operations[label])
    if cells:
        certainty *= sum(likely[row][column] for row, column in cells) / len(cells)
    return Prediction(
        answers=answers,
        text=f"{operation} > {', '.join(answers)}",
        op=operation,
        cells=tuple(cells),
        score=min(1.0, certainty),
        rows_seen=reading.rows_seen,
        rows_total=len(table.rows),
        truncated=reading.truncated,
    )
