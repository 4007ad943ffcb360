"""How fast models of TAPEX's size answer: one by one and in batches, and to people who type.

    ./run bench predictor [--size small|base|large] [--device cpu|cuda] [--requests N] [--typists N] [--seconds S]

Weights are random (speed does not depend on them) and as many tokens are written as real answers have (STEPS); lengths
are those of real tables where the datasets are at hand (ASKEW_TEST_DATA, else ../shared/data), else drawn. On a GPU:

    ./run bench predictor --size large --device cuda --requests 512 --typists 64 --seconds 60

Needs torch and transformers (requirements/models.txt); where they are missing it says so and measures nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figures import keep
from predictor.architectures import Checkpoint, never_stop
from predictor.batcher import Batcher, Settings, plan, predict_all
from predictor.protocol import Options, PredictRequest, ProtocolError
from tableqa import Table

if TYPE_CHECKING:
    from predictor.architectures.tapex import Tapex

ROOT = Path(__file__).resolve().parent.parent
SIZES = {"tiny": (1, 32, 2), "small": (2, 128, 2), "base": (6, 768, 12), "large": (12, 1024, 16)}
"""Layers of encoder and of decoder, width, heads."""
STEPS = 8
"""Tokens of an answer: the mean of WTQ's is about six, with <s> and </s>."""


def main() -> int:
    """Print one line for each figure."""
    parser = argparse.ArgumentParser(prog="./run bench predictor")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--requests", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=3, help="turns that the ways of asking take")
    parser.add_argument("--typists", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("transformers") is None:
        print(
            "torch and transformers are not installed: .venv needs requirements/models.txt (docs/predictor.md)"
        )
        return 0
    model = _model(options.size, options.device, options.dtype)
    requests = _requests(options.requests)
    lengths = [model.tokens(one) for one in requests]
    print(f"{options.size} ({model.licence}), {options.device}, {options.dtype}; {len(requests)} requests,")
    print(
        f"tokens: {min(lengths)} to {max(lengths)}, median {statistics.median(lengths):.0f}; {STEPS} steps each"
    )
    predict_all(model, requests[:4])  # warm
    compare(model, requests, options.rounds)
    asyncio.run(typing(model, requests, options.typists, options.seconds))
    return 0


def compare(model: Tapex, requests: Sequence[PredictRequest], rounds: int) -> None:
    """The same requests one by one, in batches of similar length, and eight as they come: in turns, so that what else the
    machine does falls on all of them. On a CPU the processor's own time is compared, which does not know of others."""
    ways: dict[str, Callable[[Sequence[PredictRequest]], None]] = {
        "one by one": lambda some: _one_by_one(model, some, times),
        "batches by length": lambda some: _by_length(model, some),
        "8 as they come": lambda some: _as_they_come(model, some),
    }
    times: list[float] = []
    wall, worked = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
    for turn in range(rounds):
        order = list(ways)[turn % len(ways) :] + list(ways)[: turn % len(ways)]
        for name in order:
            began, used = time.perf_counter(), time.process_time()
            ways[name](requests[turn::rounds])
            wall[name] += time.perf_counter() - began
            worked[name] += time.process_time() - used
    lengths = [model.tokens(one) for one in requests]
    batches = [
        [lengths[turn::rounds][place] for place in batch]
        for turn in range(rounds)
        for batch in plan(lengths[turn::rounds], model.budget, Settings())
    ]
    padded = sum(max(batch) * len(batch) for batch in batches)
    for name in ways:
        each = f", {1000 * worked[name] / len(requests):.0f} ms of processor time each"
        told = f"{name:17} {len(requests) / wall[name]:8.1f} answers/s{each if model.device.type == 'cpu' else ''}"
        if name == "one by one":
            told += f"; median {_percentile(times, 0.5):.1f} ms, p95 {_percentile(times, 0.95):.1f} ms"
        if name == "batches by length":
            told += f"; {len(batches)} batches, {padded / sum(lengths):.2f} tokens computed for each real one"
        print(told)
    keep(
        f"batches by length, {model.device.type}",
        len(requests) / wall["batches by length"],
        "answers/s",
        floor=len(requests) / wall["one by one"],
    )


def _one_by_one(model: Tapex, requests: Sequence[PredictRequest], times: list[float]) -> None:
    for request in requests:
        started = time.perf_counter()
        model.predict_batch([request], never_stop)
        times.append(1000 * (time.perf_counter() - started))


def _by_length(model: Tapex, requests: Sequence[PredictRequest]) -> None:
    predict_all(model, requests)


def _as_they_come(model: Tapex, requests: Sequence[PredictRequest]) -> None:
    for first in range(0, len(requests), 8):
        model.predict_batch(requests[first : first + 8], never_stop)


async def typing(model: Tapex, requests: Sequence[PredictRequest], typists: int, seconds: float) -> None:
    """People who change a question every 1.5 s: how long each of their last words waits, and what is computed."""
    batcher = Batcher(model)
    rng = random.Random(0)
    times: list[float] = []
    outcomes: dict[str, int] = {}

    async def ask(slot: str, seq: int) -> None:
        base = rng.choice(requests)
        request = PredictRequest(
            question=f"{base.question} {slot} {seq}",
            table=base.table,
            options=base.options,
            slot=slot,
            seq=seq,
            deadline_ms=10_000,
        )
        started = time.perf_counter()
        try:
            await batcher.submit(request)
            times.append(time.perf_counter() - started)
            outcomes["answered"] = outcomes.get("answered", 0) + 1
        except ProtocolError as error:
            outcomes[error.code] = outcomes.get(error.code, 0) + 1

    async def typist(number: int) -> None:
        await asyncio.sleep(rng.uniform(0, 1.5))
        until = time.perf_counter() + seconds
        waiting = []
        seq = 0
        while time.perf_counter() < until:
            seq += 1
            waiting.append(asyncio.create_task(ask(f"{number}", seq)))
            await asyncio.sleep(rng.uniform(0.5, 2.5))
        await asyncio.gather(*waiting)

    await asyncio.gather(*(typist(number) for number in range(typists)))
    counts = batcher.counts
    await batcher.close()
    if times:
        keep(
            f"answers to {typists} typists at p95, {model.device.type}", 1000 * _percentile(times, 0.95), "ms"
        )
        print(f"{f'{typists} typists':17} {len(times) / seconds:8.1f} answers/s; median "
              f"{1000 * _percentile(times, 0.5):6.1f} ms, p95 {1000 * _percentile(times, 0.95):6.1f} ms")  # fmt: skip
    print(f"{'':17} {outcomes}; {counts['computed']} computed in {counts['batches']} batches, "
          f"{counts['dropped']} never begun, {counts['stopped']} stopped")  # fmt: skip


def _model(size: str, device: str, dtype: str) -> Tapex:
    """A BART of that size with random weights, which writes exactly STEPS tokens."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    from predictor.architectures.tapex import Tapex

    torch.manual_seed(0)
    layers, width, heads = SIZES[size]
    configuration = BartConfig(
        vocab_size=50_265,
        d_model=width,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
    )
    network = (
        BartForConditionalGeneration(configuration).eval().to(device=device, dtype=getattr(torch, dtype))
    )
    network.final_logits_bias[0, 2] = -1e4  # never </s>: every answer has as many tokens
    millions = sum(one.numel() for one in network.parameters()) / 1e6
    licence = f"random weights, {millions:.0f} M parameters"
    return Tapex(network, _tokenizer(), Checkpoint(Path(), "tapex", "random", licence, {}), "0" * 12)


def _tokenizer() -> Any:
    """The toy tokenizer of the golden vectors where it is at hand, else one of single bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    from predictor.architectures.tapex import tokenizer_of

    golden = _data() / "golden" / "tapex"
    if golden.is_dir():
        return tokenizer_of(golden)
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    found = Tokenizer(models.BPE({sign: n + 3 for n, sign in enumerate(signs)}, merges=[]))
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    found.decoder = decoders.ByteLevel()
    return found


def _requests(many: int) -> list[PredictRequest]:
    options = Options(max_new_tokens=STEPS)
    file = _data() / "wtq" / "random-split-1-dev.tsv"
    if file.exists():
        from tableqa.readers import READERS

        examples = list(islice(READERS["wtq"](file), 4 * many))
        random.Random(0).shuffle(examples)
        return [PredictRequest.about(one, options=options) for one in examples[:many]]
    rng = random.Random(0)
    return [
        PredictRequest(
            question=f"which city is number {n}?",
            table=Table(
                header=["n", "city", "people", "note"],
                rows=[
                    [str(row), f"city {row}", str(row * 317), "a few words"]
                    for row in range(rng.randint(3, 40))
                ],
            ),
            options=options,
        )
        for n in range(many)
    ]


def _data() -> Path:
    return Path(os.environ.get("ASKEW_TEST_DATA") or ROOT.parent / "shared" / "data")


def _percentile(times: Sequence[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


if __name__ == "__main__":
    raise SystemExit(main())
