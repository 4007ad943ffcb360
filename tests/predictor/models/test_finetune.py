"""Fine-tuning in miniature: losses fall, an interrupted run goes on as if it had not been, the result is served."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from predictor.architectures import ModelError, load, never
from predictor.protocol import Prediction, PredictRequest
from tableqa import Example, Table
from tableqa.readers import READERS


@pytest.fixture(scope="module")
def examples(test_data: Path) -> list[Example]:
    read = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    return list(islice((one for one in read if len(one.table.rows) <= 8), 14))


@pytest.mark.parametrize("name", ["tapex", "tapas", "tabert", "tabert3"])
def test_the_loss_falls_and_the_result_is_served(
    folders: dict[str, Path], examples: list[Example], tmp_path: Path, name: str
) -> None:
    from predictor.training.finetune import Recipe, finetune

    lines: list[str] = []
    curve = finetune(
        folders[name], tmp_path / "out", examples, Recipe(epochs=4, batch=4, rate=3e-3), say=lines.append
    )
    assert curve[-1].train_loss < curve[0].train_loss
    assert len((tmp_path / "out" / "curve.jsonl").read_text().splitlines()) == 4
    trained = load(tmp_path / "out")
    assert trained.sha != load(folders[name]).sha
    (answer,) = trained.predict_batch([PredictRequest.about(examples[0])], never)
    assert isinstance(answer, Prediction)


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(
    folders: dict[str, Path], examples: list[Example], tmp_path: Path
) -> None:
    from predictor.training.finetune import Recipe, finetune

    def losses(out: str, epochs: int) -> list[tuple[float, float]]:
        recipe = Recipe(epochs=epochs, batch=4, rate=1e-3)
        curve = finetune(folders["tabert"], tmp_path / out, examples, recipe, say=lambda line: None)
        return [(one.train_loss, one.validation_loss) for one in curve]

    whole = losses("whole", 3)
    losses("parts", 1)
    assert losses("parts", 3) == pytest.approx(whole, abs=1e-5)
    with pytest.raises(ModelError, match="contains another run"):
        finetune(
            folders["tabert"], tmp_path / "parts", examples, Recipe(epochs=3, seed=1), say=lambda line: None
        )


def test_no_table_is_in_both_parts_and_the_order_does_not_matter(examples: list[Example]) -> None:
    from predictor.training.finetune import split

    train, validation = split(examples, 0)
    assert {one.table.digest() for one in train}.isdisjoint(one.table.digest() for one in validation)
    again = split(reversed(examples), 0)
    assert {one.id for one in again[0]} == {one.id for one in train}
    assert len(train) + len(validation) == len(examples)


def test_what_is_to_be_learnt_are_cells_or_a_number() -> None:
    from predictor.training.finetune import target_of

    table = Table(header=["City", "People"], rows=[["Oslo", "7"], ["Rome", "2"], ["oslo ", "9"]])

    def target(*answers: str) -> object:
        return target_of(Example(id="x", question="q", table=table, answers=answers))

    assert target("Oslo") == (frozenset({(0, 0), (2, 0)}), None)
    assert target("Oslo", "Rome") == (frozenset({(0, 0), (1, 0), (2, 0)}), None)
    assert target("18") == (frozenset(), 18.0)
    assert target("Paris") is None
    assert target("Oslo", "7") is None  # of two columns


def test_a_number_that_is_in_no_cell_teaches_the_operation_that_reaches_it() -> None:
    import torch

    from predictor.training.finetune import weak_loss

    table = Table(header=["n"], rows=[["1"], ["2"], ["4"]])
    example = Example(id="x", question="q", table=table, answers=["7"])
    everything = torch.full((3, 1), 6.0)
    by_operation = [
        float(weak_loss(example, everything, torch.eye(4)[place] * 8)) for place in range(4)
    ]  # select, sum, average, count
    assert min(by_operation) == by_operation[1]
    assert by_operation[0] > by_operation[1] + 1
