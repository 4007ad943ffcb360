"""Fine-tuning in miniature: every architecture learns eight questions by heart, and an interrupted run is the same run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from predictor.architectures import ModelError, load
from predictor.training.augment import ask
from tableqa import Example, Table
from tableqa.readers import READERS
from tests.predictor.models import small
from tests.predictor.models.eight import eight, spare

pytestmark = pytest.mark.usefixtures("deep_learning")

NO_DROPOUT: dict[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def bart(folder: Path, data: Path) -> None:
    small.bart(folder, data / "golden" / "tapex", dropout=0.0, attention_dropout=0.0, init_std=0.05)


INITIAL: dict[str, tuple[Callable[[Path, Path], Any], dict[str, Any]]] = {
    "tapex": (bart, {"steps": 150}),
    "omnitab": (bart, {"steps": 150, "weight_decay": 0.0}),
    "tapas": (lambda folder, _: small.tapas(folder, initializer_range=0.1, **NO_DROPOUT), {"rate": 2e-3}),
    "tapas of any cells": (
        lambda folder, _: small.tapas(folder, initializer_range=0.1, select_one_column=False, **NO_DROPOUT),
        {"steps": 300},
    ),
    "tabert": (
        lambda folder, _: small.tabert(folder, rows=1, initializer_range=0.2, **NO_DROPOUT),
        {"steps": 150},
    ),
    "tabert3": (
        lambda folder, _: small.tabert(folder, rows=3, initializer_range=0.2, **NO_DROPOUT),
        {"steps": 150},
    ),
}
"""A small folder of each architecture, and what differs in its recipe."""


@pytest.mark.parametrize("name", INITIAL)
def test_eight_questions_are_learned_by_heart_and_served(name: str, tmp_path: Path, test_data: Path) -> None:
    from predictor.training.finetune import finetune
    from predictor.training.recipes import Recipe

    make, changes = INITIAL[name]
    architecture = name.split()[0].rstrip("3")
    init, out = tmp_path / f"small-{architecture}", tmp_path / "out"
    init.mkdir()
    make(init, test_data)
    recipe = Recipe(**{"steps": 200, "rate": 3e-3, "warmup": 0.1, "every": 1_000, **changes})
    curve = finetune(init, out, eight(), recipe, say=lambda line: None, validation=[spare()])
    assert curve[-1].step == recipe.steps
    answers = ask(load(out), eight())
    assert [one.answers for one in answers if not one.right] == []
    assert load(out).sha != ("" if name.startswith("tabert") else load(init).sha)
    assert load(out).architecture == architecture


@pytest.fixture(scope="module")
def examples(test_data: Path) -> list[Example]:
    read = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    return list(islice((one for one in read if len(one.table.rows) <= 8), 14))


@pytest.mark.parametrize("name", ["tapex", "tapas", "tabert3"])
def test_an_interrupted_run_resumes_as_if_it_had_not_been(
    folders: dict[str, Path], examples: list[Example], tmp_path: Path, name: str
) -> None:
    from predictor.training.finetune import finetune
    from predictor.training.recipes import Recipe

    recipe = Recipe(epochs=3, batch=3, accumulation=2, rate=1e-3, warmup=0.2, smoothing=0.1)

    class Interruption(Exception):
        pass

    def interrupted(line: str) -> None:
        if line.startswith("step "):
            raise Interruption

    whole = finetune(folders[name], tmp_path / "whole", examples, recipe, say=lambda line: None)
    with pytest.raises(Interruption):
        finetune(folders[name], tmp_path / "parts", examples, recipe, say=interrupted)
    lines: list[str] = []
    parts = finetune(folders[name], tmp_path / "parts", examples, recipe, say=lines.append)
    assert any(line.startswith("continuing after step ") for line in lines)
    assert [(one.step, one.right) for one in parts] == [(one.step, one.right) for one in whole]
    assert [one.train_loss for one in parts] == pytest.approx([one.train_loss for one in whole], abs=1e-5)
    assert load(tmp_path / "parts").sha == load(tmp_path / "whole").sha
    other = Recipe(epochs=3, batch=3, rate=1e-3)
    with pytest.raises(ModelError, match="contains another run"):
        finetune(folders[name], tmp_path / "parts", examples, other, say=lambda line: None)


def test_the_step_is_the_same_with_accumulated_batches(
    folders: dict[str, Path], examples: list[Example], tmp_path: Path, test_data: Path
) -> None:
    from predictor.training.finetune import finetune
    from predictor.training.recipes import Recipe

    bart(tmp_path, test_data)
    taught = [one for one in eight() if len(one.answers) == 1]  # equally many tokens in every target

    def loss(**changes: Any) -> float:
        recipe = Recipe(steps=3, rate=1e-3, clip=1e9, bucketing=False, **changes)
        out = tmp_path / f"out-{changes['batch']}"
        return finetune(tmp_path, out, taught, recipe, say=lambda line: None, validation=[spare()])[
            -1
        ].validation_loss

    assert loss(batch=6, accumulation=1) == pytest.approx(loss(batch=3, accumulation=2), rel=0.05)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
@pytest.mark.parametrize(("name", "beams"), [("tapex", 1), ("tapex", 2), ("tapas", 1), ("tabert3", 1)])
def test_16_bit_floats_and_checkpointing_train_the_same_parameters(
    folders: dict[str, Path], tmp_path: Path, name: str, beams: int, precision: Any
) -> None:
    import torch

    from predictor.training.finetune import finetune
    from predictor.training.recipes import Recipe

    recipe = Recipe(steps=2, rate=1e-3, precision=precision, checkpointing=True, beams=beams)
    lines: list[str] = []
    curve = finetune(folders[name], tmp_path, eight(), recipe, say=lines.append, validation=[spare()])
    assert precision in lines[1]
    state = torch.load(tmp_path / "run.state", weights_only=True)
    assert all(torch.isfinite(one).all() for one in state["network"].values() if one.is_floating_point())
    assert {one.dtype for one in state["network"].values() if one.is_floating_point()} == {torch.float32}
    assert curve[-1].asked == 1
    load(tmp_path)


@pytest.mark.parametrize("name", ["tapex", "tapas", "tabert3"])
def test_weights_that_learn_have_32_bits_whatever_the_folder_is_served_with(
    folders: dict[str, Path], tmp_path: Path, name: str
) -> None:
    import torch

    from predictor.training.learners import learner_of

    shutil.copytree(folders[name], tmp_path / name)
    settings = tmp_path / name / "askew.json"
    stored = json.loads(settings.read_text()) if settings.exists() else {}
    settings.write_text(json.dumps({**stored, "dtype": "bfloat16"}))
    learner = learner_of(tmp_path / name, "cpu")
    assert {one.dtype for one in learner.network.parameters()} == {torch.float32}


def test_the_rate_rises_and_falls() -> None:
    from predictor.training.recipes import Recipe

    recipe = Recipe(rate=1.0, warmup=0.25)
    rates = [recipe.rate_at(step, 20) for step in range(20)]
    assert rates[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert rates[5] == pytest.approx(1.0)
    assert rates[6:] == pytest.approx([(20 - step) / 15 for step in range(6, 20)])
    assert {Recipe(rate=1.0, decay=False).rate_at(step, 20) for step in range(20)} == {1.0}


def test_the_published_recipes_have_the_published_numbers() -> None:
    from predictor.training.recipes import recipe_of

    tapex = recipe_of("tapex", "cuda")
    assert (tapex.steps, tapex.batch * tapex.accumulation, tapex.rate) == (20_000, 128, 3e-5)
    assert (tapex.warmup * tapex.steps, tapex.smoothing, tapex.clip, tapex.beams) == (5_000, 0.1, 0.1, 5)
    omnitab = recipe_of("omnitab", "cuda")
    assert (omnitab.epochs, omnitab.batch * omnitab.accumulation, omnitab.rate) == (50, 96, 2e-5)
    tapas = recipe_of("tapas", "cuda")
    assert (tapas.steps, tapas.batch * tapas.accumulation, tapas.rate) == (50_000, 512, 1.93581e-5)
    assert recipe_of("tapex", "cpu").precision == "float32"
    assert recipe_of("tapex", "cuda", epochs=2).total_steps(1_280) == 20


def test_batches_of_similar_length_contain_every_example_once() -> None:
    from predictor.training.finetune import batches_of_pass
    from predictor.training.recipes import Recipe

    lengths = [(7 * place) % 97 for place in range(100)]
    batches = batches_of_pass(lengths, Recipe(batch=8), 0)
    assert sorted(place for batch in batches for place in batch) == list(range(100))
    assert (
        max(max(lengths[one] for one in batch) - min(lengths[one] for one in batch) for batch in batches) < 15
    )
    assert batches != batches_of_pass(lengths, Recipe(batch=8), 1)
    assert batches == batches_of_pass(lengths, Recipe(batch=8), 0)


def test_the_weights_with_the_highest_accuracy_stay(tmp_path: Path, test_data: Path) -> None:
    """The learner answers rightly at the second of three evaluations only."""
    import torch

    from predictor.training import finetune as module
    from predictor.training.augment import ModelAnswer as Answer
    from predictor.training.learners import learner_of
    from predictor.training.recipes import Recipe

    bart(tmp_path, test_data)
    learner = learner_of(tmp_path, "cpu")
    recipe = Recipe(steps=3, every=1)
    data = module.Data((spare(),), tuple(eight()), 3, 1)
    training = module.FineTuningRun(
        learner, recipe, data, [9], tmp_path / "out", "run", "cpu", lambda line: None
    )
    (tmp_path / "out").mkdir()
    saved: list[int] = []
    learner.save = lambda folder: saved.append(training.step)  # type: ignore[method-assign]
    rights = iter([1, 5, 5, 2])
    losses = iter([0.5, 0.9, 0.7, 0.1])
    training._validation_loss = lambda: next(losses)  # type: ignore[method-assign]
    for step in range(1, 5):
        training.step = step
        answers = [Answer((), True)] * (count := next(rights)) + [Answer((), False)] * (8 - count)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "ask", lambda *arguments, answers=answers: answers)
            training._evaluate(1.0, 0.0)
    assert saved == [1, 2, 3]  # the third has the lower loss at the same accuracy
    assert torch.load(tmp_path / "out" / "run.state", weights_only=True)["step"] == 4
    assert not training._is_stale()


def test_examples_without_a_visible_answer_are_left_out_and_counted(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    from predictor.training.finetune import finetune
    from predictor.training.recipes import Recipe

    rows = [[f"city {number}", f"{number}"] for number in range(400)]
    long = Table(header=["City", "Number"], rows=rows)
    cut = Example(id="cut", question="which is last?", table=long, answers=["city 399"])
    seen = Example(id="seen", question="which is first?", table=long, answers=["city 0"])
    for name in ("tapex", "tapas", "tabert"):
        lines: list[str] = []
        finetune(
            folders[name],
            tmp_path / name,
            [cut, seen, *eight()],
            Recipe(steps=1, batch=2),
            say=lines.append,
            validation=[spare()],
        )
        assert "1 of 10 training examples left out: answer in a row that was cut away" in lines, name
        assert "9 training examples, 1 validation examples" in lines


def test_a_validation_file_and_the_forecast_are_on_the_command_line(
    folders: dict[str, Path], test_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from predictor.training.__main__ import main

    data = str(test_data / "wtq" / "random-split-1-dev.tsv")
    arguments = ["--architecture", "tapas", "--init", str(folders["tapas"]), "--out", str(tmp_path)]
    arguments += ["--data", data, "--limit", "6", "--validation", data, "--validation-limit", "2"]
    assert main([*arguments, "--steps", "1", "--batch", "2", "--accumulation", "1"]) == 0
    printed = capsys.readouterr().out
    assert "their tables are in the validation" in printed
    assert "2 validation examples" in printed
    for line in ("expected accuracy", "expected memory", "expected time", "step 1 of 1"):
        assert line in printed
    curve = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert curve[-1]["asked"] == 2


def test_no_table_is_in_both_parts_and_the_order_does_not_matter(examples: list[Example]) -> None:
    from predictor.training.finetune import split

    train, validation = split(examples, 0)
    assert {one.table.digest() for one in train}.isdisjoint(one.table.digest() for one in validation)
    again = split(reversed(examples), 0)
    assert {one.id for one in again[0]} == {one.id for one in train}
    assert len(train) + len(validation) == len(examples)


def test_what_is_to_be_learned_are_cells_or_a_number() -> None:
    from predictor.training.learners import target_of

    table = Table(header=["City", "People"], rows=[["Oslo", "7"], ["Rome", "2"], ["oslo ", "9"]])

    def target(*answers: str) -> object:
        return target_of(Example(id="x", question="q", table=table, answers=answers))

    assert target("Oslo") == (frozenset({(0, 0), (2, 0)}), None)
    assert target("Oslo", "Rome") == (frozenset({(0, 0), (1, 0), (2, 0)}), None)
    assert target("18") == (frozenset(), 18.0)
    assert target("Paris") is None
    assert target("Oslo", "7") is None  # of two columns


def test_a_number_that_is_in_no_cell_teaches_the_operation_and_certain_choices() -> None:
    import torch

    from predictor.training.learners import weak_loss

    table = Table(header=["n"], rows=[["1"], ["2"], ["4"]])
    example = Example(id="x", question="q", table=table, answers=["7"])

    def loss(operation: int, *cells: float) -> float:
        return float(weak_loss(example, torch.tensor([cells]).T, torch.eye(4)[operation] * 8))

    everything = [loss(operation, 6.0, 6.0, 6.0) for operation in range(4)]  # select, sum, average, count
    assert min(everything) == everything[1]
    assert everything[0] > everything[1] + 1
    assert loss(1, 6.0, 6.0, -6.0) > everything[1] + 1
    assert loss(1, 1.0, 1.0, 1.0) > everything[1] + 1
