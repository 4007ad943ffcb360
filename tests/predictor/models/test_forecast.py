"""What a run is expected to need, printed before its first step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tableqa import Example, Table
from tests.predictor.models.eight import eight, spare

pytestmark = pytest.mark.usefixtures("deep_learning")


def long_examples(number: int) -> list[Example]:
    """Examples of one length, with forty rows."""
    header = ["City", "People", "Year"]
    rows = [[f"City {place}", str(place), str(1900 + place)] for place in range(40)]
    return [
        Example(
            id=str(n),
            question="which city has the most people?",
            table=Table(header, rows),
            answers=["City 3"],
        )
        for n in range(number)
    ]


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("name", ["tapex", "tapas", "tabert", "tabert3"])
def test_the_expected_memory_of_activations_is_what_a_batch_keeps(
    folders: dict[str, Path], name: str, checkpointing: bool
) -> None:
    from predictor.training.learners import learner_of
    from predictor.training.memory import activation_bytes, stored_bytes
    from predictor.training.recipes import Recipe

    learner, batch = learner_of(folders[name], "cpu"), long_examples(6)
    if checkpointing:
        learner.checkpoint_activations()
    expected = activation_bytes(learner, batch[0], Recipe(batch=6), "cpu")
    assert expected == pytest.approx(stored_bytes(learner, batch, Recipe(), "cpu"), rel=0.1)


def test_checkpointing_is_expected_to_need_less_memory(folders: dict[str, Path], tmp_path: Path) -> None:
    from predictor.training.finetune import finetune
    from predictor.training.recipes import Recipe

    def gib(checkpointing: bool) -> float:
        lines: list[str] = []
        recipe = Recipe(steps=1, batch=4_000, checkpointing=checkpointing)
        out = tmp_path / str(checkpointing)
        finetune(folders["tapas"], out, eight(), recipe, say=lines.append, validation=[spare()])
        (line,) = (line for line in lines if line.startswith("expected memory"))
        return float(line.split(": ")[1].split(" GiB")[0])

    assert 0 < gib(True) < 0.85 * gib(False)


def test_a_gpu_without_enough_memory_is_named_with_what_to_change(
    folders: dict[str, Path], tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, test_data: Path
) -> None:
    import torch

    from predictor.training import finetune

    def too_large(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 4.00 GiB.")

    monkeypatch.setattr(finetune.FineTuningRun, "run", too_large)
    data = str(test_data / "wtq" / "random-split-1-train.tsv")
    arguments = ["--architecture", "tapas", "--init", str(folders["tapas"]), "--data", data, "--limit", "30"]
    assert finetune.main([*arguments, "--steps", "1", "--out", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "not enough memory" in error
    assert "--accumulation" in error


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.3, "estimate at 0.02 Tflop/s; unreliable: the machine is busy, the measurement got 30 % of a CPU"),
        (0.95, "estimate at 0.02 Tflop/s"),
        (None, "estimate at 0.02 Tflop/s"),
    ],
)
def test_a_speed_that_was_measured_on_a_busy_machine_is_called_unreliable(
    share: float | None, expected: str
) -> None:
    from predictor.training.recipes import Speed

    assert str(Speed(2e10, share)) == expected


def test_the_measured_speed_knows_its_share_of_a_cpu() -> None:
    from predictor.training.recipes import Size, measured_speed

    speed = measured_speed(Size(1_000, 64, 1, 2, 100), "cpu", "float32")
    assert speed.operations > 0
    assert speed.share is not None
    assert 0 < speed.share <= 1
