"""The bundled model's training: derivations, the likelihood against brute force, resuming, export, a tiny run."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from predictor.bundled.decode import (
    COLUMN_OF,
    OP,
    OPERATIONS,
    OUTPUTS,
    Balance,
    candidates,
    combine_candidates,
    row_weight,
)
from predictor.bundled.features import collate
from predictor.bundled.question_features import encode_question
from predictor.bundled.table_features import read_table
from tableqa import Example
from tableqa.data.answers import compare
from tableqa.readers import READERS
from tests.predictor.bundled.by_hand import MEDALS, scores, tokenizer

pytestmark = pytest.mark.usefixtures("deep_learning")

TOKENIZER = tokenizer()


@pytest.fixture(scope="module")
def examples(test_data: Path) -> list[Example]:
    """Every tenth training question on a small table, two hundred of them."""
    every = READERS["wtq"](test_data / "wtq" / "random-split-1-train.tsv")
    small = (example for example in every if len(example.table.rows) * len(example.table.header) <= 120)
    return list(islice(small, 0, 2_000, 10))


# --- derivations -------------------------------------------------------------------------------------------


def answers_of(example: Example, goal: Any) -> list[tuple[str, list[str]]]:
    """What each derivation gives when the network is sure of it: (operation, answers)."""
    table = read_table(example.table, TOKENIZER)
    given = encode_question(example.question, table, TOKENIZER)
    width = table.columns
    ways: list[dict[str, Any]] = []
    ways += [{"operation": name, "cells": (divmod(place, width),)} for name, place in goal.cells]
    ways += [{"operation": name, "rows": rows, "column": max(column, 0)} for name, column, rows in goal.masks]
    ways += [
        {"operation": "difference", "cells": tuple(divmod(one, width) for one in pair)} for pair in goal.pairs
    ]
    ways += [{"operation": name} for name in goal.flags]
    ways += [{"operation": "header", "column": column} for column in goal.headers]
    out = []
    for way in ways:
        found = candidates(scores(given, **way), given, table, example.question)
        best = combine_candidates(found, Balance())[0]
        assert best.operation == way["operation"]
        out.append((best.operation, list(best.answers)))
    return out


def test_every_derivation_leads_back_to_the_gold_answer(examples: list[Example]) -> None:
    from predictor.training.supervision import supervise

    found = 0
    used: set[str] = set()
    for example in examples:
        table = read_table(example.table, TOKENIZER)
        goal = supervise(example, table, encode_question(example.question, table, TOKENIZER).rows)
        found += not goal.empty
        used |= {operation for operation, _ in goal.cells} | {name for name, _, _ in goal.masks}
        used |= {"count"} if goal.count >= 0 else set()
        used |= {"difference"} if goal.pairs else set()
        for operation, answers in answers_of(example, goal):
            assert compare(answers, example.answers).equal, (example.id, operation, answers)
    assert found > 0.88 * len(examples)
    assert {"select", "list", "count", "difference"} <= used


def test_the_words_of_the_question_decide_between_derivations() -> None:
    from predictor.training.supervision import supervise

    example = Example("one", "how many nations had more than 4 gold?", MEDALS, ["2"])
    table = read_table(MEDALS, TOKENIZER)
    goal = supervise(example, table, np.arange(5))
    counted = goal.masks.get(("count", -1, (1, 2)), 0) + goal.masks.get(("count", -1, (1, 2, 4)), 0)
    assert goal.count == 2
    assert counted + goal.count_weight > 0


def test_a_made_question_is_answered_by_its_derivation(examples: list[Example]) -> None:
    from predictor.training.synthetic import generate_questions

    tables = [example.table for example in examples]
    made = list(generate_questions(tables, lambda table: read_table(table, TOKENIZER), 300, seed=5))
    assert len(made) == 300
    for table, one in made:
        goal = one.supervision(np.arange(len(table.numbers)), table.columns)
        assert goal is not None
        assert not goal.empty
        for _, _, rows in goal.masks:
            assert rows
            assert not table.totals[list(rows)].any()
    kinds = {one.operation for _, one in made}
    assert {"select", "list", "count", "sum", "average", "difference", "yes", "no", "different"} <= kinds


def test_made_questions_follow_from_the_seed(examples: list[Example]) -> None:
    from predictor.training.synthetic import generate_questions

    tables = [example.table for example in examples[:20]]
    runs = [
        [
            one.question
            for _, one in generate_questions(tables, lambda table: read_table(table, TOKENIZER), 30, seed)
        ]
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


# --- the likelihood ----------------------------------------------------------------------------------------


def log_sum(terms: list[float]) -> float:
    return float(np.logaddexp.reduce(terms)) if terms else 0.0


def by_brute_force(outputs: list[np.ndarray], goal: Any, height: int, width: int) -> float:
    """The log-likelihood of one question, derivation by derivation; a count over every choice of rows there is."""

    def log_softmax(values: np.ndarray) -> np.ndarray:
        return values - np.logaddexp.reduce(values.reshape(-1))

    operations, cells, rows, columns = [array.astype(np.float64) for array in outputs]
    chosen = log_softmax(operations)
    heads = [log_softmax(cells[..., head]) for head in range(3)]
    names = [log_softmax(columns[:, head]) for head in range(4)]

    def choice(picked: tuple[int, ...]) -> float:
        return sum(-np.logaddexp(0, -rows[row] if row in picked else rows[row]) for row in range(height))

    terms = []
    for (name, place), weight in goal.cells.items():
        terms.append(np.log(weight) + chosen[OP[name]] + heads[0][divmod(place, width)])
    for (name, column, picked), weight in goal.masks.items():
        term = np.log(weight) + chosen[OP[name]] + choice(picked) * row_weight(height)
        terms.append(term + (names[COLUMN_OF[name]][column] if name in COLUMN_OF else 0.0))
    if goal.count >= 0:
        every = [
            choice(tuple(row for row in range(height) if picked[row]))
            for picked in product([False, True], repeat=height)
            if sum(picked) == goal.count
        ]
        terms.append(np.log(goal.count_weight) + chosen[OP["count"]] + log_sum(every))
    for (one, other), weight in goal.pairs.items():
        for first, second in ((one, other), (other, one)):
            pair = heads[1][divmod(first, width)] + heads[2][divmod(second, width)]
            terms.append(np.log(weight) + chosen[OP["difference"]] + pair)
    terms += [np.log(weight) + chosen[OP[name]] for name, weight in goal.flags.items()]
    for column, weight in goal.headers.items():
        terms.append(np.log(weight) + chosen[OP["header"]] + names[3][column])
    return log_sum(terms)


@st.composite
def questions(draw: st.DrawFn) -> tuple[int, int, Any]:
    from predictor.training.supervision import Supervision

    height, width = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    place = st.integers(0, height * width - 1)
    weight = st.floats(0.01, 1)
    rows = st.sets(st.integers(0, height - 1), min_size=1).map(lambda chosen: tuple(sorted(chosen)))
    over_rows = st.sampled_from(["list", "count", "different", "sum", "average"])
    return height, width, Supervision(
        cells=draw(st.dictionaries(st.tuples(st.sampled_from(["select", "year"]), place), weight, max_size=3)),
        masks=draw(st.dictionaries(st.tuples(over_rows, st.integers(0, width - 1), rows), weight, max_size=3)),
        count=draw(st.integers(-1, height)),
        count_weight=draw(weight),
        pairs=draw(
            st.dictionaries(st.tuples(place, place).filter(lambda pair: pair[0] < pair[1]), weight, max_size=2)
            if height * width > 1
            else st.just({})
        ),
        flags=draw(st.dictionaries(st.sampled_from(["yes", "no", "first_option"]), weight, max_size=2)),
        headers=draw(st.dictionaries(st.integers(0, width - 1), weight, max_size=2)),
    )  # fmt: skip


@drawn(st.lists(questions(), min_size=1, max_size=3), st.integers(0, 1_000))
def test_the_loss_of_a_batch_is_the_likelihood_by_brute_force(
    batch: list[tuple[int, int, Any]], seed: int
) -> None:
    import torch

    from predictor.training.loss import loss, targets
    from predictor.training.network import FAR

    rng = np.random.default_rng(seed)
    height, width = max(one[0] for one in batch), max(one[1] for one in batch)
    cells = np.zeros((len(batch), height, width), np.float32)
    outputs = [rng.normal(size=(len(batch), *shape)).astype(np.float32) for shape in
               ((len(OPERATIONS),), (height, width, 3), (height,), (width, 4))]  # fmt: skip
    for place, (rows, columns, _) in enumerate(batch):
        cells[place, :rows, :columns] = 1
        outputs[1][place][cells[place] == 0] = FAR
        outputs[2][place, rows:] = FAR
        outputs[3][place, columns:] = FAR
    goal = targets([one[2] for one in batch], [one[1] for one in batch], height, width)
    found = loss([torch.from_numpy(array) for array in outputs], goal, torch.from_numpy(cells)).numpy()
    for place, (rows, columns, one) in enumerate(batch):
        own = [outputs[0][place], outputs[1][place, :rows, :columns], outputs[2][place, :rows],
               outputs[3][place, :columns]]  # fmt: skip
        assert -found[place] == pytest.approx(by_brute_force(own, one, rows, columns), abs=2e-3)


# --- the network -------------------------------------------------------------------------------------------


def small_network(seed: int = 0) -> Any:
    import torch

    from predictor.training.network import Network, Shape

    torch.manual_seed(seed)
    shape = Shape(vocabulary=TOKENIZER.get_vocab_size(), hidden=32, heads=2, layers=2, inner=64, width=32,
                  table_heads=2, table_layers=2)  # fmt: skip
    return Network(shape).eval()


def inputs(count: int, examples: list[Example]) -> list[Any]:
    return [
        encode_question(one.question, read_table(one.table, TOKENIZER), TOKENIZER) for one in examples[:count]
    ]


def test_what_a_question_is_batched_with_changes_nothing(examples: list[Example]) -> None:
    import torch

    from predictor.training.network import INPUTS

    network, given = small_network(), inputs(6, examples)

    def run(batch: list[Any]) -> list[np.ndarray]:
        arrays = collate(batch)
        with torch.no_grad():
            return [
                output.numpy() for output in network(*[torch.from_numpy(arrays[name]) for name in INPUTS])
            ]

    together = run(given)
    for place, one in enumerate(given):
        rows, columns = one.links.shape
        alone = run([one])
        assert together[0][place] == pytest.approx(alone[0][0], abs=1e-4)
        assert together[1][place, :rows, :columns] == pytest.approx(alone[1][0], abs=1e-4)
        assert together[2][place, :rows] == pytest.approx(alone[2][0], abs=1e-4)
        assert together[3][place, :columns] == pytest.approx(alone[3][0], abs=1e-4)


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    folder = tmp_path / "encoder"
    folder.mkdir()
    TOKENIZER.save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.parametrize(
    ("storage", "off", "size"), [("float32", 1e-4, 1.0), ("float16", 0.05, 0.62), ("int8", 0.3, 0.45)]
)
def test_the_exported_graph_says_what_torch_says(
    storage: Any, off: float, size: float, encoder: Path, tmp_path: Path, examples: list[Example]
) -> None:
    import torch

    from predictor.training.export import export, runner_of
    from predictor.training.network import INPUTS

    network = small_network()
    folder = export(network, encoder, Balance(), tmp_path / "model", {}, storage)
    run = runner_of(folder)
    for batch in (inputs(1, examples), inputs(5, examples), inputs(40, examples)[30:]):
        arrays = collate(batch)
        found = run(arrays)
        with torch.no_grad():
            expected = network(*[torch.from_numpy(arrays[name]) for name in INPUTS])
        for name, output in zip(OUTPUTS, expected, strict=True):
            assert np.abs(found[name] - output.numpy()).max() < off
    parameters = 4 * sum(one.numel() for one in network.parameters())
    assert (folder / "model.onnx").stat().st_size < size * parameters + 200_000


# --- the loop ----------------------------------------------------------------------------------------------


@pytest.fixture
def corpora(tmp_path: Path, examples: list[Example]) -> tuple[Any, Any]:
    from predictor.training.corpus import Corpus, answered_items, synthetic_items, write_part

    write_part(tmp_path / "a" / "part-0", answered_items(examples[:30], TOKENIZER))
    write_part(tmp_path / "a" / "part-1", answered_items(examples[30:50], TOKENIZER))
    tables = [example.table for example in examples[:50]]
    write_part(tmp_path / "m" / "part-0", synthetic_items(tables, 20, 1, TOKENIZER))
    return Corpus(tmp_path / "a"), Corpus(tmp_path / "m")


def test_a_corpus_gives_back_what_was_written(corpora: tuple[Any, Any], examples: list[Example]) -> None:
    from predictor.training.supervision import supervise

    answered, _ = corpora
    assert len(answered) == 50
    for place in (0, 17, 29, 30, 49):
        item = answered[place]
        (given,) = inputs(1, examples[place:])
        assert item.id == examples[place].id
        assert item.goal == supervise(
            examples[place], read_table(examples[place].table, TOKENIZER), given.rows
        )
        assert (item.given.tokens == given.tokens).all()
        assert (item.given.links == given.links).all()
        assert np.abs(item.given.cell_features - given.cell_features).max(initial=0) < 1e-2
        assert item.given.question == given.question


def test_every_question_comes_once_in_an_epoch(corpora: tuple[Any, Any]) -> None:
    from predictor.training.loop import Plan, QuestionSampler, State

    plan = Plan(questions=1_000, batch=4, made_first=0, made_start=0.2, made_end=0.2)
    drawing, state = QuestionSampler(*corpora, plan), State()
    usable = len(drawing.usable["answered"])
    seen: list[int] = []
    while len(seen) < 2 * usable:
        batches, answered, made = drawing.chunk(state)
        seen += [place for batch in batches for kind, place in batch if kind == "answered"]
        state.answered, state.made, state.chunks = (
            state.answered + answered,
            state.made + made,
            state.chunks + 1,
        )
        state.seen += answered + made
    first = drawing._next("answered", 0, usable)
    assert sorted(first) == drawing.usable["answered"].tolist()
    assert {seen.count(place) for place in set(seen[: 2 * usable])} <= {1, 2, 3}


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_a_run_that_was_interrupted_ends_like_one_that_was_not(
    average: float, corpora: tuple[Any, Any], tmp_path: Path
) -> None:
    import torch

    from predictor.training.loop import Plan, TrainingRun

    plan = Plan(questions=64, batch=2, rate=1e-3, average=average)

    def run(folder: str, until: float | None = None) -> Any:
        training = TrainingRun(small_network(), plan, tmp_path / folder)
        training.resume()
        training.run(*corpora, say=lambda *_, **__: None, until=until)
        return training

    whole = run("whole")
    first = run("parts", until=0.0)
    assert 0 < first.state.seen < 64
    second = run("parts")
    assert second.state.seen == whole.state.seen == 64
    for name, parameter in whole.network.state_dict().items():
        assert torch.allclose(parameter, second.network.state_dict()[name], atol=1e-5), name
    moved = [
        float((one - other).detach().abs().max())
        for one, other in zip(whole.result().parameters(), whole.network.parameters(), strict=True)
    ]
    assert (max(moved) > 0) == bool(average)
    for one, other in zip(whole.result().parameters(), second.result().parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_another_plan_does_not_take_over_a_checkpoint(corpora: tuple[Any, Any], tmp_path: Path) -> None:
    from predictor.training.loop import Plan, TrainingRun

    TrainingRun(small_network(), Plan(questions=8), tmp_path / "run").save()
    with pytest.raises(ValueError, match="other settings"):
        TrainingRun(small_network(), Plan(questions=9), tmp_path / "run").resume()


def test_eight_questions_are_learned_by_heart(tmp_path: Path) -> None:
    from predictor.training.corpus import Corpus, Tables, answered_items, write_part
    from predictor.training.evaluation import all_candidates, read_all, verdicts
    from predictor.training.loop import Plan, TrainingRun, runner
    from tests.predictor.models.eight import eight

    write_part(tmp_path / "eight" / "part-0", answered_items(eight(), TOKENIZER))
    plan = Plan(
        questions=8 * 200, batch=8, rate=3e-3, encoder_rate=1e-3, made_first=0.0, made_start=0.0, made_end=0.0
    )
    training = TrainingRun(small_network(), plan, tmp_path / "run")
    training.run(Corpus(tmp_path / "eight"), Corpus(tmp_path / "none"), say=lambda *_, **__: None)
    questions = read_all(eight(), Tables(TOKENIZER))
    judged = verdicts(questions, all_candidates(questions, runner(training.result(), "cpu")), Balance())
    wrong = [
        one.example.question for one, verdict in zip(questions, judged, strict=True) if not verdict.published
    ]
    assert wrong == []


def test_the_balance_finds_what_answers_most() -> None:
    from predictor.bundled.decode import Candidate
    from predictor.training.evaluation import PreparedQuestion, accuracy, fit_balance, verdicts

    table = read_table(MEDALS, TOKENIZER)
    asked = [
        PreparedQuestion(
            Example(f"{place}", "how many?", MEDALS, ["12"]),
            table,
            encode_question("how many?", table, TOKENIZER),
        )
        for place in range(8)
    ]
    found = [
        [Candidate("select", ("3",), (), -1.0, -1.0), Candidate("sum", ("12",), (), -0.5, -9.0)]
        for _ in asked
    ]
    assert accuracy(verdicts(asked, found, Balance())) == 0
    assert accuracy(verdicts(asked, found, fit_balance(asked, found))) == 1


# --- all of it ---------------------------------------------------------------------------------------------


def test_the_forecast_of_the_shipped_plan_is_printed_before_it_starts() -> None:
    from predictor.training.loop import Plan
    from predictor.training.recipes import bundled_forecast

    recipe, accuracy, memory, seconds = bundled_forecast(small_network(), Plan(), "cpu", is_tiny=False)
    assert "60,000 questions in batches of 32" in recipe
    assert "58.2 %" in accuracy
    assert 0.05 < float(memory.split(": ")[1].split(" GiB")[0]) < 2
    assert "expected time: " in seconds


def test_a_tiny_run_makes_a_model_that_can_be_served(test_data: Path, tmp_path: Path) -> None:
    from predictor import load_bundled
    from predictor.architectures import info, load, never_stop
    from predictor.protocol import Options, Prediction, PredictRequest
    from predictor.training.__main__ import main
    from tests.predictor.recorded_answers import recorded

    started = time.process_time()
    arguments = ["--data", str(test_data / "wtq"), "--tiny", "--out", str(tmp_path / "run")]
    assert main(arguments) == 0
    assert time.process_time() - started < 60
    folder = tmp_path / "run" / "model"
    measured = json.loads((tmp_path / "run" / "measured.json").read_text())
    assert 0 <= measured["development"]["published_rule"] <= 1
    card = (folder / "MODEL_CARD.md").read_text()
    assert f"**{measured['development']['published_rule']:.1%}**" in card
    assert "`./run train --data DIR --tiny`" in card
    assert f"{measured['answering']['memory_mb']} MB of memory" in card
    sha, answers = recorded(folder)
    model = load_bundled(folder)
    assert sha == model.sha
    for one in answers:
        said = model.predict(one.example.question, one.example.table)
        assert (said.answers, said.op, said.cells) == (one.answers, one.op, one.cells)
    found = model.predict("who won most gold?", MEDALS, topk=3)
    again = model.predict("who won most gold?", MEDALS, topk=3)
    assert (again.answers, again.score, again.cells, again.text) == (
        found.answers,
        found.score,
        found.cells,
        found.text,
    )
    sent = Prediction.from_dict(found.to_dict(), MEDALS.shape)
    assert replace(sent, ms=found.ms) == found
    requests = [
        PredictRequest(question, MEDALS, options=Options(topk=3))
        for question in ("who won most gold?", "how many?")
    ]
    batch = model.predict_batch(requests)
    assert isinstance(batch[0], Prediction)
    assert batch[0].text == found.text
    assert all(model.tokens(request) <= model.budget for request in requests)
    served = load(folder)
    assert info(served).architecture == "bundled"
    assert info(served).licence.startswith("CC BY-SA 4.0")
    assert served.predict_batch(requests, never_stop)[0].text == found.text  # type: ignore[union-attr]


def test_a_card_is_written_anew_only_with_the_arguments_of_the_training(
    test_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from predictor.training.__main__ import main

    arguments = ["--data", str(test_data / "wtq"), "--tiny", "--out", str(tmp_path / "run")]
    assert main([*arguments, "--card"]) == 1
    assert "no finished run" in capsys.readouterr().err
    assert main(arguments) == 0
    card = tmp_path / "run" / "model" / "MODEL_CARD.md"
    kept, weights = card.read_text(), (tmp_path / "run" / "model" / "model.onnx").read_bytes()
    card.unlink()
    assert main([*arguments, "--card"]) == 0
    assert card.read_text().partition("## How fast")[0] == kept.partition("## How fast")[0]
    assert (tmp_path / "run" / "model" / "model.onnx").read_bytes() == weights
    assert main([*arguments, "--card", "--seed", "1"]) == 1
    assert "other settings" in capsys.readouterr().err


def test_where_there_is_no_data_the_command_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from predictor.training.__main__ import main

    assert main(["--data", str(tmp_path), "--out", str(tmp_path / "run")]) == 1
    assert "random-split-1-train.tsv" in capsys.readouterr().err
