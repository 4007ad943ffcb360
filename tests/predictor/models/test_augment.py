"""Training on releases in miniature: what is learnt, what is left out, the table, and that nothing is done twice."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from predictor.architectures import ModelError, Stop
from predictor.protocol import Prediction, PredictRequest, ProtocolError
from tableqa import Example
from tableqa.readers import READERS
from tests.predictor.models.releases import release

pytestmark = pytest.mark.usefixtures("deep_learning")


@pytest.fixture(scope="module")
def examples(test_data: Path) -> list[Example]:
    """Thirty questions of the training split on thirty small tables."""
    found: dict[str, Example] = {}
    for one in READERS["wtq"](test_data / "wtq" / "random-split-1-train.tsv"):
        if len(one.table.rows) <= 8:
            found.setdefault(one.table.digest(), one)
        if len(found) == 30:
            break
    return list(found.values())


class FirstCell:
    """A model that answers with a table's first cell, and cannot read a question of more than 200 characters."""

    name, sha, architecture, licence, budget = "first", "0" * 12, "tapex", "none", 100

    def __init__(self) -> None:
        self.batches: list[int] = []

    def tokens(self, request: PredictRequest) -> int:
        if len(request.question) > 200:
            raise ProtocolError(413, "too_large", "too long")
        return len(request.question)

    def predict_batch(self, requests: Sequence[PredictRequest], stop: Stop) -> list[Prediction]:
        assert sum(map(self.tokens, requests)) <= self.budget or len(requests) == 1
        self.batches.append(len(requests))
        return [Prediction((one.table.rows[0][0],), "", 1, len(one.table.rows)) for one in requests]


def options(**given: Any) -> Namespace:
    return Namespace(**{"test_format": "askew", "augment": [], **given})


def test_every_kind_is_counted_with_its_originals(examples: list[Example], tmp_path: Path) -> None:
    from predictor.training.augment import ask, read_release, results

    right = [
        Example(id=f"q{place}", question=f"first {place}?", table=one.table, answers=[one.table.rows[0][0]])
        for place, one in enumerate(examples[:6])
    ]
    wrong = Example(id="no", question="first?", table=examples[6].table, answers=["nothing says this"])
    unread = Example(id="far", question="f" * 300, table=examples[7].table, answers=["x"])
    made = release(tmp_path / "test", [*right, wrong, unread], shuffled=["row_shuffle"], asked_otherwise=True)
    test = read_release(made)
    model = FirstCell()
    found = results(test, {"first": [ask(model, [one.example for one in test])]})["first"]
    assert list(found) == ["original", "row_shuffle", "word", "all perturbed"]
    assert (found["original"]["right"], found["original"]["examples"]) == ([6], 8)
    assert found["original"]["unread"] == found["word"]["unread"] == 1
    assert found["original"]["r_acc"] is None
    assert (found["word"]["right"], found["word"]["r_acc"], found["word"]["right_before"]) == ([6], 1.0, 6)
    shuffled = [one for one in test if one.kind == "row_shuffle" and one.parent.startswith("q")]
    stays = sum(one.example.table.rows[0][0] == one.example.answers[0] for one in shuffled)
    assert shuffled
    assert found["row_shuffle"]["r_acc"] == pytest.approx(stays / len(shuffled), abs=1e-4)
    assert found["all perturbed"]["examples"] == len(test) - 8
    assert found["word"]["accuracy_low"] < found["word"]["accuracy"] < found["word"]["accuracy_high"]
    assert max(model.batches) > 1


def test_nothing_is_learnt_that_the_test_asks_about_or_that_people_contradicted(
    examples: list[Example], tmp_path: Path
) -> None:
    from predictor.training.augment import read_augmentation_request

    test = release(tmp_path / "test", examples[:3], shuffled=["row_shuffle"])
    train = release(
        tmp_path / "train",
        examples[2:8],
        shuffled=["col_shuffle"],
        asked_otherwise=True,
        contradicted=[f"{examples[5].id}~word-1"],
    )
    asked = read_augmentation_request(options(test=test, augment=[f"RTA={train}"]))
    (found,) = asked.releases
    assert found.name == "+RTA"
    assert found.kinds["word"] == 4  # six, one of a table of the test, one contradicted
    assert found.left_out == 2
    assert found.makers == {"people": 4, "a seeded program": found.kinds["col_shuffle"]}
    assert asked.unseen(examples[:5]) == examples[3:5]
    same_question = Example(
        id="x", question=f"  {examples[0].question.upper()} ", table=examples[9].table, answers=[]
    )
    assert asked.unseen([same_question]) == []


def test_an_older_release_for_evaluation_says_that_it_holds_what_nobody_verified(
    examples: list[Example], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from predictor.training.augment import read_augmentation_request

    test = release(tmp_path / "test", examples[:2], shuffled=["row_shuffle"])
    manifest = test / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"purpose": "evaluation"}))

    read_augmentation_request(options(test=test, augment=[]))

    assert "does not list its unverified machine proposals" in capsys.readouterr().err


def test_what_cannot_be_compared_is_refused_with_the_reason(examples: list[Example], tmp_path: Path) -> None:
    from predictor.training.augment import read_augmentation_request

    test = release(tmp_path / "test", examples[:2], shuffled=["row_shuffle"])
    plain = release(tmp_path / "plain", examples[:2])
    with pytest.raises(ModelError, match="--augment needs --test"):
        read_augmentation_request(options(test=None, augment=[f"RTA={test}"]))
    with pytest.raises(ModelError, match="no perturbed examples to ask about"):
        read_augmentation_request(options(test=plain, augment=[f"RTA={test}"]))
    with pytest.raises(ModelError, match="are on tables or questions of --test"):
        read_augmentation_request(options(test=test, augment=[f"RTA={test}"]))
    with pytest.raises(ModelError, match="a unique name of letters"):
        read_augmentation_request(options(test=test, augment=[f"A={test}", f"A={test}"]))


def test_the_bundled_model_goes_on_and_the_table_is_one_command(
    test_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from predictor.training.__main__ import main
    from predictor.training.bundled import TINY_CELLS

    every = READERS["wtq"](test_data / "wtq" / "random-split-1-train.tsv")
    small = list(islice((one for one in every if one.table.shape[0] * one.table.shape[1] <= TINY_CELLS), 160))
    test = release(tmp_path / "test", small[:8], shuffled=["row_shuffle"], asked_otherwise=True)
    rules = release(tmp_path / "rules", small[20:32], shuffled=["row_shuffle"])
    people = release(tmp_path / "people", small[20:32], asked_otherwise=True)
    tiny = ["--data", str(test_data / "wtq"), "--tiny", "--threads", "1"]
    assert main([*tiny, "--out", str(tmp_path / "trained")]) == 0
    arguments = [
        *tiny,
        "--from",
        str(tmp_path / "trained"),
        "--out",
        str(tmp_path / "more"),
        "--test",
        str(test),
    ]
    arguments += ["--augment", f"RTA={rules}", "--augment", f"LETA={people}"]
    assert main(arguments) == 0
    first = (tmp_path / "more" / "augmented.json").read_text()
    found = json.loads(first)
    assert list(found["columns"]) == ["start", "before", "+RTA", "+LETA"]
    assert len({one["models"][0] for one in found["columns"].values()}) == 4
    assert found["columns"]["start"]["kinds"]["word"]["examples"] == 8
    table = (tmp_path / "more" / "augmented.md").read_text()
    assert "| perturbation | examples | start | before | +RTA | +LETA |" in table
    assert "* +RTA: " in table
    kept = {
        file: file.stat().st_mtime_ns
        for file in (tmp_path / "more").rglob("*")
        if file.suffix in (".onnx", ".npy", ".pt")
    }
    capsys.readouterr()
    assert main(arguments) == 0  # nothing is trained, made or asked again
    assert (tmp_path / "more" / "augmented.json").read_text() == first
    assert all(file.stat().st_mtime_ns == time for file, time in kept.items())
    assert main([*tiny, "--out", str(tmp_path / "more"), "--test", str(test), "--augment", str(rules)]) == 1
    assert "--from" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["tapex", "tapas", "tabert"])
def test_other_models_are_trained_and_compared_as_well(
    folders: dict[str, Path], examples: list[Example], tmp_path: Path, name: str
) -> None:
    from predictor.training.finetune import main

    test = release(tmp_path / "test", examples[:3], shuffled=["row_shuffle"])
    people = release(tmp_path / "people", examples[4:12], asked_otherwise=True)
    arguments = ["--architecture", name, "--init", str(folders[name]), "--out", str(tmp_path / "out")]
    data = release(tmp_path / "data", examples[3:15])
    arguments += ["--data", str(data), "--format", "askew", "--epochs", "1", "--batch", "4", "--rate", "1e-3"]
    arguments += ["--accumulation", "1", "--beams", "1", "--seeds", "2"]
    arguments += ["--test", str(test), "--augment", f"LETA={people}"]
    assert main(arguments) == 0
    curves = [
        json.loads(file.read_text().splitlines()[-1])["step"]
        for file in sorted((tmp_path / "out").rglob("curve.jsonl"))
    ]
    assert len(curves) == 4  # two columns, two seeds
    assert len(set(curves)) == 1  # equal numbers of steps, though one column has more examples
    found = json.loads((tmp_path / "out" / "augmented.json").read_text())
    assert list(found["columns"])[-2:] == ["before", "+LETA"]
    assert found["columns"]["+LETA"]["given"] == found["columns"]["before"]["given"] + 8
    models = [*found["columns"]["+LETA"]["models"], *found["columns"]["before"]["models"]]
    assert len(set(models)) == 4
    assert found["seeds"] == [0, 1]
    table = (tmp_path / "out" / "augmented.md").read_text()
    assert "mean of 2 seeds" in table
    assert "Difference from `before`" in table
    assert found["plan"]["seed"] == 0


def test_what_was_made_of_a_table_that_validates_is_not_learnt_from(
    folders: dict[str, Path], examples: list[Example], tmp_path: Path
) -> None:
    from predictor.training.augment import read_release
    from predictor.training.finetune import finetune, split
    from predictor.training.recipes import Recipe

    _, validation = split(examples, 0)
    made = release(tmp_path / "made", examples, shuffled=["row_shuffle"])
    more = [one.example for one in read_release(made) if one.kind]
    own = {one.id for one in validation}
    lines: list[str] = []
    finetune(
        folders["tapex"],
        tmp_path / "out",
        examples,
        Recipe(epochs=1, batch=8),
        say=lines.append,
        more=more,
    )
    learnt = sum(one.meta["lineage"]["parent"] not in own for one in more)
    assert 0 < learnt < len(more)
    assert f"training also uses {learnt} of {len(more)} perturbed examples" in lines
