"""TAPEX and OmniTab: BART over a table written out as text. (Liu et al., ICLR 2022; Jiang et al., NAACL 2022)

The table is written out as the models were trained on it (`flatten`): the question, the header, then the rows, each
with its number, all in small letters. What does not fit is cut off at the end, so that the same request always shows
the model the same rows, and the answer says which. The tokenizer that did this for transformers 4 is gone from
transformers 5; this module gives the same ids, which a test compares with recorded ones.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from predictor.checkpoints import Checkpoint, ModelError, Stop, weights_sha
from predictor.protocol import Alternative, Options, Prediction, PredictRequest, ProtocolError
from tableqa import Table

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_TOKENS = 1_024
"""Of the input, <s> and </s> counted: the positions that BART has."""
MOST_TOKENS_PER_CELL = 15
MOST_ANSWER_TOKENS = 128
BOS, PAD, EOS = 0, 1, 2
_BLANKS = re.compile(r"\s+")
BUDGETS = {"cpu": 8_192, "cuda": 131_072}
"""Tokens in a batch, padding counted, where `askew.json` does not say."""


def tokenizer_of(folder: Path) -> Tokenizer:
    """BART's byte-level tokenizer of a folder, from vocab.json and merges.txt or tokenizer.json.

    It knows no special tokens: a cell that reads "</s>" is five characters of text. Raises ModelError.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    try:
        if (folder / "vocab.json").exists():
            model = models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
        else:
            model = Tokenizer.from_file(str(folder / "tokenizer.json")).model
    except Exception as error:  # the library raises nothing narrower
        raise ModelError(f"{folder} has no tokenizer that can be read: {error}") from None
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


@dataclass(frozen=True)
class FlatInput:
    """A request as the model reads it: token ids, rows that are in them whole, and whether anything was cut."""

    ids: tuple[int, ...]
    rows_seen: int
    truncated: bool


def flatten(tokenizer: Tokenizer, question: str, table: Table, most: int = MOST_TOKENS) -> FlatInput:
    """The ids of a question and a table, as the original tokenizer gives them.

    `question col : a | b row 1 : 1 | 2 row 2 : ...`, all in lower case. Runs of blanks stay; a line break
    and the blanks around it become one blank. A cell of 15 tokens or more is cut to its first 15; headers
    are not. Without rows the table is left out. A row is seen when its end is.
    """
    clipped = False

    def clip(cell: str) -> str:
        nonlocal clipped
        cell = _in_one_line(cell)
        if not cell.strip():
            return cell
        # The original lowers letter by letter here, so a sigma at the end of a word stays as it is.
        ids = tokenizer.encode(_prefixed("".join(letter.lower() for letter in cell))).ids
        if len(ids) < MOST_TOKENS_PER_CELL:
            return cell.lower()
        clipped = clipped or len(ids) > MOST_TOKENS_PER_CELL
        # The prefix stays, so two blanks are before a cell that was cut.
        return str(tokenizer.decode(ids[:MOST_TOKENS_PER_CELL]))

    question_text = _prefixed(_in_one_line(question).lower())
    parts = [question_text + (" " if question_text else "")]
    if table.rows:
        parts[0] += f"col : {' | '.join(_in_one_line(name).lower() for name in table.header)}"
    length, ends = len(parts[0]), []
    for row_number, row in enumerate(table.rows, 1):
        parts.append(f" row {row_number} : {' | '.join(map(clip, row))}")
        ends.append(length + len(parts[-1].rstrip()))
        length += len(parts[-1])
    text = _prefixed("".join(parts).rstrip() if table.rows else question_text)
    encoded = tokenizer.encode(text)
    room = most - 2
    seen_to = encoded.offsets[room - 1][1] if len(encoded.ids) > room else len(text)
    return FlatInput(
        ids=(BOS, *encoded.ids[:room], EOS),
        rows_seen=sum(end <= seen_to for end in ends),
        truncated=clipped or len(encoded.ids) > room,
    )


def _in_one_line(text: str) -> str:
    """The text with one blank for each run of blanks that has a line break; other runs stay."""
    return _BLANKS.sub(lambda run: " " if "\n" in run[0] or "\r" in run[0] else run[0], text)


def _prefixed(text: str) -> str:
    """With the blank that byte-level BPE wants before the first word."""
    return f" {text}" if text and not text[0].isspace() else text


def target_ids(tokenizer: Tokenizer, answers: Sequence[str]) -> list[int]:
    """The ids that answers are trained to be: joined by ", " in lower case, between <s> and </s>, at most 128."""
    ids = tokenizer.encode(_prefixed(", ".join(answers).lower())).ids
    return [BOS, *ids[: MOST_ANSWER_TOKENS - 2], EOS]


def question_of(request: PredictRequest, with_context: bool) -> str:
    """The text before the table: earlier questions of the dialogue, then this one.

    Titles, caption and context are before them only where the folder's settings say so (`"context": true`):
    the published weights have never seen any.
    """
    before: list[str] = []
    if with_context:
        before += [request.table.title, request.table.caption]
        before += [request.context.text] if request.context else []
    before += [turn.question for turn in request.history]
    return " ".join(filter(None, (*before, request.question)))


def answers_in(text: str, table: Table) -> tuple[str, ...]:
    """The answers in what the model wrote: parted by ", " unless that comma belongs to a cell.

    TAPEX joins answers with ", " and marks none that holds one itself, so "salt lake city, utah" may be one or
    two. The longest run that is a cell of the table is one answer, and is given as the table writes it.
    """
    cells: dict[str, str] = {}
    for row in (*table.rows, table.header):
        for cell in row:
            cells.setdefault(" ".join(cell.lower().split()), cell)
    pieces = [piece for piece in (piece_text.strip() for piece_text in text.split(", ")) if piece]
    answers: list[str] = []
    while pieces:
        longest = next(
            (many for many in range(len(pieces), 0, -1) if ", ".join(pieces[:many]).lower() in cells), 1
        )
        answer = ", ".join(pieces[:longest])
        answers.append(cells.get(answer.lower(), answer))
        pieces = pieces[longest:]
    return tuple(answers)


class RequestCache:
    """The last few requests as a model reads them: measured in one thread, computed in another, read once."""

    def __init__(self, read: Callable[[PredictRequest], Any], most: int = 512) -> None:
        self._read = read
        self._cache: LRUCache[str, Any] = LRUCache(most)
        self._lock = threading.Lock()

    def __call__(self, request: PredictRequest) -> Any:
        with self._lock:  # a tokenizer is not to be used by two threads at once, either
            if request.key not in self._cache:
                self._cache[request.key] = self._read(request)
            return self._cache[request.key]


def pretrained(kind: Any, checkpoint: Checkpoint, **options: Any) -> Any:
    """A part of a model (`transformers`' class of it) from the folder of the checkpoint. Raises ModelError."""
    try:
        return kind.from_pretrained(checkpoint.folder, local_files_only=True, **options)  # nosec B615
    except (
        Exception
    ) as error:  # a file that is missing, damaged, or holds more than weights: each its own class
        raise ModelError(f"{checkpoint.folder} cannot be loaded: {str(error)[:300]}") from None


def network_of(kind: Any, checkpoint: Checkpoint, device: str) -> Any:
    """The network of a checkpoint, ready to answer on a device. Raises ModelError."""
    return pretrained(kind, checkpoint, dtype=checkpoint.dtype).eval().to(device)


class Tapex:
    """A BART that writes answers. `network` is a BartForConditionalGeneration in evaluation mode."""

    def __init__(self, network: Any, tokenizer: Tokenizer, checkpoint: Checkpoint, sha: str) -> None:
        from transformers import GenerationConfig

        from predictor.architectures.greedy import Greedy

        self.name, self.sha, self.licence = checkpoint.name, sha, checkpoint.licence
        self.architecture, with_context = checkpoint.architecture, checkpoint.with_context
        self.network = network
        self.tokenizer = tokenizer
        self.device = network.device
        self.budget = checkpoint.budget or BUDGETS[self.device.type]
        self.most = min(MOST_TOKENS, network.config.max_position_embeddings)
        # Old folders bring settings of a summariser (no repeated trigrams, four beams), which generate() would mix in.
        network.generation_config = GenerationConfig(
            decoder_start_token_id=EOS, bos_token_id=BOS, pad_token_id=PAD, eos_token_id=EOS
        )
        self._greedy = Greedy(network, MOST_ANSWER_TOKENS, self.budget)
        self._flat = RequestCache(
            lambda request: flatten(tokenizer, question_of(request, with_context), request.table, self.most)
        )

    @classmethod
    def load(cls, checkpoint: Checkpoint, device: str) -> Tapex:
        """The model of a folder. Raises ModelError."""
        from transformers import BartForConditionalGeneration

        network = network_of(BartForConditionalGeneration, checkpoint, device)
        return cls(network, tokenizer_of(checkpoint.folder), checkpoint, weights_sha(checkpoint.folder))

    def prepare(self) -> None:
        """Get ready to answer many requests fast: for a model that is served, not for one that is trained."""
        self._greedy.record()

    def tokens(self, request: PredictRequest) -> int:
        """The length of the input, times the beams that are kept over it."""
        flat: FlatInput = self._flat(request)
        return len(flat.ids) * request.options.beams

    def predict_batch(
        self, requests: Sequence[PredictRequest], stop: Stop
    ) -> Sequence[Prediction | ProtocolError]:
        """Requests with equal options are generated together."""
        groups: dict[Options, list[int]] = {}
        for index, request in enumerate(requests):
            groups.setdefault(request.options, []).append(index)
        answers: dict[int, Prediction] = {}
        for options, indices in groups.items():
            chosen = [requests[index] for index in indices]
            predictions = self._generate(chosen, options, lambda row, indices=indices: stop(indices[row]))  # type: ignore[misc]
            answers |= dict(zip(indices, predictions, strict=True))
        return [answers[index] for index in range(len(requests))]

    def _generate(self, requests: Sequence[PredictRequest], options: Options, stop: Stop) -> list[Prediction]:
        flats: list[FlatInput] = [self._flat(request) for request in requests]
        inputs = [flat.ids for flat in flats]
        several = min(options.topk, options.beams)
        greedy = self._greedy(inputs, options.max_new_tokens, stop) if options.beams == 1 else None
        tokens, scores = greedy or self._search(inputs, options, several, stop)
        texts = [self._text(token_ids) for token_ids in tokens]
        return [
            _prediction(
                request,
                flat,
                texts[index * several : (index + 1) * several],
                scores[index * several : (index + 1) * several],
            )
            for index, (request, flat) in enumerate(zip(requests, flats, strict=True))
        ]

    def _search(
        self, inputs: Sequence[Sequence[int]], options: Options, several: int, stop: Stop
    ) -> tuple[list[list[int]], list[float]]:
        """Tokens and scores of the `several` best answers to each input, by transformers."""
        import torch
        from transformers import GenerationConfig, StoppingCriteriaList

        longest = max(map(len, inputs))
        ids = torch.tensor([[*token_ids, *[PAD] * (longest - len(token_ids))] for token_ids in inputs])
        beams = options.beams
        with torch.inference_mode():
            out = self.network.generate(
                input_ids=ids.to(self.device),
                attention_mask=(ids != PAD).long().to(self.device),
                generation_config=GenerationConfig(
                    decoder_start_token_id=EOS,
                    bos_token_id=BOS,
                    pad_token_id=PAD,
                    eos_token_id=EOS,
                    max_new_tokens=options.max_new_tokens,
                    num_beams=beams,
                    num_return_sequences=several,
                    do_sample=False,
                    early_stopping=beams > 1,
                    return_dict_in_generate=True,
                    output_scores=True,
                ),
                stopping_criteria=StoppingCriteriaList([_CancellationCriterion(stop, len(inputs), beams)]),
            )
        written = out.sequences[:, 1:].tolist()  # the first is what the decoder starts from, which is </s>
        return written, _scores(self.network, out, beams)

    def _text(self, ids: Sequence[int]) -> str:
        answer_ids = []
        for token_id in ids:
            if token_id == EOS:
                break
            if token_id not in (BOS, PAD):
                answer_ids.append(token_id)
        return str(self.tokenizer.decode(answer_ids)).strip()


class _CancellationCriterion:
    """What `generate` asks after each step: which of its rows are finished because no client waits for them."""

    def __init__(self, stop: Stop, many: int, beams: int) -> None:
        self.stop = stop
        self.many = many
        self.beams = beams

    def __call__(self, input_ids: Any, scores: Any, **others: Any) -> Any:
        import torch

        gone = [self.stop(index) for index in range(self.many)]
        if self.beams > 1:  # the beams of a batch end together
            gone = [all(gone)] * len(input_ids)
        return torch.tensor(gone, dtype=torch.bool, device=input_ids.device)


def _scores(network: Any, out: Any, beams: int) -> list[float]:
    """exp of the mean log-probability of the tokens that were written, for each sequence."""
    import torch

    if beams > 1:
        return [min(1.0, value) for value in torch.exp(out.sequences_scores).tolist()]
    steps = network.compute_transition_scores(out.sequences, out.scores, normalize_logits=True)
    written = out.sequences[:, -steps.shape[1] :] != PAD
    steps = torch.where(written, steps, torch.zeros_like(steps))
    mean = steps.sum(dim=1) / written.sum(dim=1).clamp(min=1)
    return [min(1.0, value) for value in torch.exp(mean).tolist()]


def _prediction(
    request: PredictRequest, flat: FlatInput, texts: Sequence[str], scores: Sequence[float]
) -> Prediction:
    return Prediction(
        answers=answers_in(texts[0], request.table),
        text=texts[0],
        op="generate",
        score=scores[0],
        topk=tuple(
            Alternative(answers_in(text, request.table), score)
            for text, score in zip(texts[1:], scores[1:], strict=True)
        ),
        rows_seen=flat.rows_seen,
        rows_total=len(request.table.rows),
        truncated=flat.truncated,
    )
