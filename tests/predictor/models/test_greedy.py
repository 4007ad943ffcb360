"""Greedy decoding of our own writes what `generate` of transformers writes, alone and in batches, and ends when told."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.predictor.models import small

pytestmark = pytest.mark.usefixtures("deep_learning")

EOS = 2
ENDS = {"decoder_start_token_id": EOS, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": EOS}
LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=7)


@pytest.fixture(scope="module")
def network(deep_learning: None, tmp_path_factory: pytest.TempPathFactory, test_data: Path) -> Any:
    """A BART whose answers differ in their words and in their length."""
    from transformers import BartForConditionalGeneration, GenerationConfig

    folder = tmp_path_factory.mktemp("bart")
    small.bart(folder, test_data / "golden" / "tapex")
    bart: Any = BartForConditionalGeneration.from_pretrained(folder).eval()
    bart.final_logits_bias[0, EOS] = 11.0
    bart.final_logits_bias[0, 1] = -1e4  # no padding, except where a test wants it
    bart.generation_config = GenerationConfig(**ENDS)  # without the settings of a summariser
    return bart


def inputs_of(lengths: list[int], seed: int = 0) -> list[list[int]]:
    import torch

    torch.manual_seed(seed)
    return [[0, *torch.randint(4, 8_000, (length,)).tolist(), EOS] for length in lengths]


def generated(network: Any, ids: list[int], steps: int) -> tuple[list[int], float]:
    """Tokens and score of one input by transformers."""
    import torch
    from transformers import GenerationConfig

    out = network.generate(
        torch.tensor([ids]),
        generation_config=GenerationConfig(
            **ENDS, max_new_tokens=steps, do_sample=False, return_dict_in_generate=True, output_scores=True
        ),
    )
    scores = network.compute_transition_scores(out.sequences, out.scores, normalize_logits=True)
    return out.sequences[0, 1:].tolist(), math.exp(scores.mean().item())


def test_the_answers_of_these_weights_differ_in_length(network: Any) -> None:
    lengths = {len(generated(network, ids, 24)[0]) for ids in inputs_of(list(range(1, 25)))}
    assert len(lengths) > 3


@settings(max_examples=25, deadline=None)
@given(LENGTHS, st.integers(1, 24), st.integers(0, 3))
def test_a_batch_is_written_as_transformers_writes_each_alone(
    network: Any, lengths: list[int], steps: int, seed: int
) -> None:
    from predictor.architectures.greedy import Greedy

    inputs = inputs_of(lengths, seed)
    written = Greedy(network, 128, 8_192)(inputs, steps, lambda place: False)
    assert written is not None
    tokens, scores = written
    for row, score, ids in zip(tokens, scores, inputs, strict=True):
        expected, sure = generated(network, ids, steps)
        assert row == expected
        assert score == pytest.approx(sure, rel=5e-3)


def test_a_row_that_nobody_waits_for_ends_and_the_others_go_on(network: Any) -> None:
    from predictor.architectures.greedy import Greedy

    inputs = inputs_of([9, 30, 17])
    longest = max(range(3), key=lambda place: len(generated(network, inputs[place], 24)[0]))
    asked: list[int] = []

    def is_gone(place: int) -> bool:
        asked.append(place)
        return place == longest

    written = Greedy(network, 128, 8_192)(inputs, 24, is_gone)
    assert written is not None
    for place, row in enumerate(written[0]):
        if place == longest:
            assert len(row) < len(generated(network, inputs[place], 24)[0])
        else:
            assert row == generated(network, inputs[place], 24)[0]


def test_it_stops_when_nobody_waits_any_more(network: Any) -> None:
    from predictor.architectures.greedy import Greedy

    looks = 0

    def is_gone(place: int) -> bool:
        nonlocal looks
        looks += 1
        return True

    Greedy(network, 128, 8_192)(inputs_of([12]), 24, is_gone)
    assert looks == 1


class RecordedGraph:
    """A CUDA graph for a machine without a GPU: it computes, as a good one does, or leaves everything as it is."""

    def __init__(self, step: Any, *, computes: bool) -> None:
        self.step, self.computes = step, computes

    def replay(self) -> None:
        if self.computes:
            self.step._compute()


@pytest.mark.parametrize("computes", [True, False])
def test_a_recording_is_trusted_only_if_it_writes_the_same(network: Any, computes: bool) -> None:
    import torch

    from predictor.architectures.greedy import Step

    with torch.inference_mode():
        step = Step(network, rows=2, length=16, steps=8)
        step.graph = RecordedGraph(step, computes=computes)
        assert step.is_faithful() is computes
        assert step.graph is not None


def test_steps_of_several_sizes_share_their_room_one_after_the_other(network: Any) -> None:
    import torch

    from predictor.architectures.greedy import Step

    inputs = inputs_of([5, 9, 14])
    with torch.inference_mode():
        room = torch.full((Step.needs(network, 4, 32, 24),), float("nan"))
        for rows, length in ((4, 32), (3, 16), (4, 32)):
            step = Step(network, rows, length, 24, room)
            ids = torch.ones(rows, length, dtype=torch.long)
            for row, one in enumerate(inputs):
                ids[row, : len(one)] = torch.tensor(one)
            step.begin(ids, len(inputs))
            for _ in range(24):
                step.take()
            for row, one in enumerate(inputs):
                expected = generated(network, one, 24)[0]
                assert step.written[row, : len(expected)].tolist() == expected


def test_a_model_that_is_served_is_prepared_and_one_that_is_trained_is_not(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from predictor.architectures import load_to_serve
    from predictor.architectures.tapex import Tapex
    from predictor.training.learners import learner_of

    prepared: list[str] = []
    monkeypatch.setattr(Tapex, "prepare", lambda model: prepared.append(model.name))
    learner_of(folders["tapex"], "cpu")
    assert prepared == []

    load_to_serve(folders["tapex"])
    load_to_serve(folders["tapas"])
    assert prepared == [folders["tapex"].name]


def test_padding_that_a_model_writes_is_no_part_of_the_answer_nor_of_its_score(network: Any) -> None:
    from predictor.architectures.greedy import Greedy

    bias = network.final_logits_bias.clone()
    network.final_logits_bias[0, 1] = 11.0
    try:
        inputs = inputs_of([4, 8, 15, 23])
        written = Greedy(network, 128, 8_192)(inputs, 16, lambda place: False)
        assert written is not None
        whole = [generated(network, ids, 16)[0] for ids in inputs]
    finally:
        network.final_logits_bias.copy_(bias)
    assert any(1 in row[:-1] for row in whole), "the bias makes the model write padding"
    assert written[0] == [[token for token in row if token != 1] for row in whole]
