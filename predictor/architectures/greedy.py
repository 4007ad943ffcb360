"""Greedy decoding of a BART without Python between the kernels of a step.

`generate` of transformers starts some three hundred kernels for each token, one by one from Python. A GPU computes them
faster than Python starts them. Here every tensor of a step has a fixed place, so a GPU records a step once as a CUDA
graph for each batch size. On a CPU the same step runs as it is written, without recording. The tokens are those of
`generate`, which a test compares.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

log = logging.getLogger("askew.predictor")

PAD, EOS = 1, 2
ROWS = (1, 2, 4, 8, 16, 32, 64)
LENGTHS = (128, 256, 512, 768, 1_024)
"""Sizes of recorded steps: a batch takes the next larger ones."""
MOST_TOKENS = 32_768
"""Of the input, padding counted, in a batch on a GPU: 2 GB of keys and values for a large BART with 16 bits."""
EVERY = 4
"""Steps between two looks at what a GPU has written: each look waits for it."""
CHECKED = 4
"""Steps in which a recording must write what the step itself writes."""


class Step:
    """The tensors of a batch, and the step that writes one token in each row.

    rows    batch size; rows without a request are done from the start
    length  tokens of the input, padding counted
    steps   most tokens of an answer
    room    numbers for keys and values (`needs`), shared by steps of which one is used at a time
    """

    def __init__(self, network: Any, rows: int, length: int, steps: int, room: Tensor | None = None) -> None:
        self.network, self.rows, self.length, self.steps = network, rows, length, steps
        self.heads = network.config.decoder_attention_heads
        like = {"device": network.device, "dtype": network.dtype}
        if room is None:
            room = torch.empty(self.needs(network, rows, length, steps), **like)
        layers, each = len(network.model.decoder.layers), network.config.d_model // self.heads
        input_size = self.needs(network, rows, length, 0)
        within_size = self.needs(network, rows, 0, steps)
        self.across = room[:input_size].view(layers, 2, rows, self.heads, length, each)
        self.within = room[input_size : input_size + within_size].view(
            layers, 2, rows, self.heads, steps, each
        )
        self.padding = torch.zeros(rows, 1, 1, length, **like)
        self.places = torch.arange(steps, device=network.device)
        self.place = torch.zeros(1, dtype=torch.long, device=network.device)
        self.token = torch.full((rows,), EOS, device=network.device)
        self.done = torch.zeros(rows, dtype=torch.bool, device=network.device)
        self.written = torch.full((rows, steps), PAD, device=network.device)
        self.log_probability = torch.zeros(rows, device=network.device)
        self.graph: Any = None

    @staticmethod
    def needs(network: Any, rows: int, length: int, steps: int) -> int:
        """Numbers in the keys and values of inputs and answers."""
        layers = len(network.model.decoder.layers)
        return int(layers * 2 * rows * (length + steps) * network.config.d_model)

    def begin(self, ids: Tensor, count: int) -> None:
        """Read the input, `ids` (rows, length); the first `count` rows are requests."""
        mask = (ids != PAD).long()
        mask[:, 0] = 1  # a row without a request looks at one place, or it would look at none
        encoded = self.network.model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        for layer_index, layer in enumerate(self.network.model.decoder.layers):
            attention = layer.encoder_attn
            for index, projection in enumerate((attention.k_proj, attention.v_proj)):
                parted = projection(encoded).view(self.rows, self.length, self.heads, -1)
                self.across[layer_index, index].copy_(parted.transpose(1, 2))
        self.padding.zero_().masked_fill_(mask[:, None, None, :] == 0, float("-inf"))
        self.within.zero_()  # what an earlier batch left may be no number, and no mask hides that
        self.place.zero_()
        self.token.fill_(EOS)  # what the decoder starts from
        self.done.fill_(False)
        self.done[count:] = True
        self.written.fill_(PAD)
        self.log_probability.zero_()

    def take(self) -> None:
        """Write the next token of each row that is not done."""
        if self.graph is None:
            self._compute()
        else:
            self.graph.replay()

    def record(self, pool: Any) -> None:
        """Make a CUDA graph of the step, in the memory of `pool`."""
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(2):  # libraries allocate at first use, which a recording does not allow
                self.place.zero_()
                self._compute()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        self.place.zero_()
        with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
            self._compute()
        self.graph = graph

    def is_faithful(self) -> bool:
        """Whether the recording writes the same tokens as the step that was recorded."""
        length, vocabulary = self.length, self.network.config.vocab_size
        ids = (torch.arange(length, device=self.place.device) % vocabulary).expand(self.rows, -1)
        graph, results = self.graph, []
        for self.graph in (graph, None):
            self.begin(ids, self.rows)
            for _ in range(min(CHECKED, self.steps)):
                self.take()
            results.append((self.written.clone(), self.log_probability.clone()))
        self.graph = graph
        (tokens, scores), (expected, expected_scores) = results
        return torch.equal(tokens, expected) and torch.allclose(scores, expected_scores, atol=0.05)

    def _compute(self) -> None:
        decoder = self.network.model.decoder
        seen = torch.zeros(1, 1, 1, self.steps, dtype=self.padding.dtype, device=self.padding.device)
        seen = seen.masked_fill(self.places > self.place, float("-inf"))
        x = decoder.layernorm_embedding(
            decoder.embed_tokens(self.token)
            + decoder.embed_positions(self.token[:, None], position_ids=self.place)[0]
        )
        for layer, (keys, values), across in zip(decoder.layers, self.within, self.across, strict=True):
            attention = layer.self_attn
            for cache, projection in ((keys, attention.k_proj), (values, attention.v_proj)):
                cache.index_copy_(2, self.place, self._split_heads(projection(x)).to(cache.dtype))
            x = layer.self_attn_layer_norm(x + self._attend(attention, x, keys, values, seen))
            x = layer.encoder_attn_layer_norm(
                x + self._attend(layer.encoder_attn, x, across[0], across[1], self.padding)
            )
            x = layer.final_layer_norm(x + layer.fc2(layer.activation_fn(layer.fc1(x))))
        scores = (self.network.lm_head(x) + self.network.final_logits_bias).float()
        best, token = scores.max(-1)
        token = torch.where(self.done, PAD, token)
        self.log_probability += torch.where(token == PAD, 0.0, best - scores.logsumexp(-1))
        self.written.index_copy_(1, self.place, token[:, None])
        self.done |= token == EOS
        self.token.copy_(token)
        self.place += 1

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.view(self.rows, self.heads, 1, -1)

    def _attend(self, attention: Any, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        mask = mask.expand(self.rows, self.heads, 1, -1)
        mixed = scaled_dot_product_attention(
            self._split_heads(attention.q_proj(x)), keys, values, attn_mask=mask
        )
        answer: Tensor = attention.out_proj(mixed.reshape(self.rows, -1))
        return answer


class Greedy:
    """Greedy answers of one network. On a GPU, `record` makes them fast."""

    def __init__(self, network: Any, steps: int, budget: int) -> None:
        self.network = network
        self.steps = min(steps, network.config.max_position_embeddings)
        self.on_gpu = network.device.type == "cuda"
        self.most = min(MOST_TOKENS, budget)
        self.recorded: dict[tuple[int, int], Step] = {}

    def record(self) -> None:
        """Record the steps on a GPU, which takes seconds and memory; nothing on a CPU. For weights that stay as they are."""
        if not self.on_gpu:
            return
        try:
            with torch.inference_mode(), torch.cuda.device(self.network.device):
                self._record()
        except torch.OutOfMemoryError:
            self.recorded.clear()
            log.warning("The GPU has too little memory to record the steps of the model; it answers without.")

    def _record(self) -> None:
        sizes = [(rows, length) for rows in ROWS for length in LENGTHS if rows * length <= self.most]
        most = max((Step.needs(self.network, *size, self.steps) for size in sizes), default=0)
        # One after the other uses the same memory: the batches of a model are computed one after the other.
        room = torch.zeros(most, device=self.network.device, dtype=self.network.dtype)
        pool = torch.cuda.graph_pool_handle()
        for size in sizes:
            self.recorded[size] = Step(self.network, *size, self.steps, room)
            self.recorded[size].record(pool)
        if self.recorded and not self.recorded[sizes[0]].is_faithful():
            log.warning("The recorded steps of the model differ from its own; it answers without them.")
            self.recorded.clear()

    def _step(self, rows: int, length: int, steps: int) -> Step | None:
        if not self.recorded:
            return Step(self.network, rows, length, steps)
        wider = (size for size in self.recorded if size[0] >= rows and size[1] >= length)
        size = min(wider, key=lambda size: size[0] * size[1], default=None)
        return self.recorded[size] if size and steps <= self.steps else None

    @torch.inference_mode()
    def __call__(
        self, inputs: Sequence[Sequence[int]], steps: int, is_gone: Callable[[int], bool]
    ) -> tuple[list[list[int]], list[float]] | None:
        """(tokens of each answer, without padding; exp of their mean log-probability); None if no recorded step fits.

        inputs   token ids of each request
        steps    most tokens of an answer
        is_gone  whether no client waits for the request at a place any more: its row ends
        """
        rows, longest = len(inputs), max(map(len, inputs))
        step = self._step(rows, longest, steps)
        if step is None:
            return None
        ids = torch.full((step.rows, step.length), PAD)
        for row, token_ids in enumerate(inputs):
            ids[row, : len(token_ids)] = torch.tensor(token_ids)
        step.begin(ids.to(self.network.device), rows)
        for count in range(1, steps + 1):
            step.take()
            if count % EVERY and self.on_gpu:
                continue
            gone = [is_gone(row) for row in range(rows)]
            if any(gone):
                step.done[:rows] |= torch.tensor(gone, device=step.done.device)
            if bool(step.done.all()):
                break
        written = step.written[:rows, :steps]
        scores = torch.exp(step.log_probability[:rows] / (written != PAD).sum(1).clamp(min=1))
        tokens = [[token for token in row if token != PAD] for row in written.tolist()]
        return tokens, [min(1.0, score) for score in scores.tolist()]
