"""Every draw of the product with a seed that somebody can know is listed here, with why they may know it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.test_house import ROOT

FOLDERS = ("annotation", "tableqa", "tasks", "predictor")
MODULES = {"random", "np.random", "numpy.random"}
CONSTRUCTORS = {"Random", "SystemRandom", "default_rng", "RandomState"}
FIGURE = "an interval or estimate in a report: anybody may compute it again"
RELEASED = "a release repeats it"
TRAINING = "training of the bundled model repeats it"
SIMULATED = "simulated people"
REVIEWED = "a reviewer chooses the seed, and draws the same sample again"
NO_SEED = "has no seed, and nothing depends on the order"

PUBLIC = {
    "annotation/platform/database/sqlite3/base.py:Cursor.execute": NO_SEED,
    "annotation/assistance/prediction_jobs.py:fill_all": NO_SEED,
    "annotation/assistance/effect_report.py:variety": FIGURE,
    "annotation/quality/dashboards.py:forecast": FIGURE,
    "predictor/training/comparison.py:ratio": FIGURE,
    "tableqa/agreement/coefficients.py:_influence": FIGURE,
    "tableqa/agreement/coefficients.py:_multinomial_counts": FIGURE,
    "tableqa/agreement/coefficients.py:_resamples": FIGURE,
    "tableqa/agreement/pseudo_units.py:posterior_counts": FIGURE,
    "tableqa/agreement/pseudo_units.py:pseudo_units": FIGURE,
    "tableqa/agreement/cell_sets.py:DistanceSums._interval": FIGURE,
    "tableqa/statistics/clustered_intervals.py:median_over": FIGURE,
    "tableqa/statistics/clustered_intervals.py:proportion_over": FIGURE,
    "tableqa/statistics/medians.py:difference": FIGURE,
    "tableqa/statistics/medians.py:estimate_median": FIGURE,
    "tableqa/statistics/robustness.py:_drawn": FIGURE,
    "tableqa/quality_control/annotation_artifacts.py:_entropy_interval": FIGURE,
    "tableqa/quality_control/annotation_artifacts.py:_entropy_interval_over": FIGURE,
    "tableqa/quality_control/annotation_artifacts.py:edit_sizes": FIGURE,
    "tableqa/agreement/sample_size.py:_upper_spread": FIGURE,
    "tableqa/agreement/pairs.py:_kappa": FIGURE,
    "tableqa/scoring/pairs.py:_figure": FIGURE,
    "tableqa/scoring/torr_scores.py:concordance": FIGURE,
    "tableqa/scoring/torr_scores.py:dataset_tau": FIGURE,
    "annotation/queue/sampling.py:sample": RELEASED,
    "annotation/queue/strategies.py:stratified": RELEASED,
    "annotation/assistance/demonstrations.py:load_demonstrations": RELEASED,
    "annotation/assistance/demonstrations.py:sample": RELEASED,
    "annotation/assistance/proposal_requests.py:derive_seed": RELEASED,
    "annotation/assistance/proposal_sources.py:create_source": RELEASED,
    "tableqa/perturbations/mixes.py:combinations": RELEASED,
    "tableqa/perturbations/catalogue.py:Perturbation.__call__": RELEASED,
    "tableqa/scoring/benchmark_folder.py:BenchmarkFolder.shots": RELEASED,
    "tableqa/serialisations/torr.py:demonstrations": RELEASED,
    "tableqa/scoring/structural_tasks/questions.py:StructuralTask.__call__": RELEASED,
    "annotation/explorer/review.py:draw": REVIEWED,
    "annotation/management/simulation.py:_work_on_one_item": SIMULATED,
    "predictor/training/adaptation.py:_Adaptation.__init__": TRAINING,
    "predictor/training/export.py:_sample": TRAINING,
    "predictor/training/finetune.py:batches_of_pass": TRAINING,
    "predictor/training/loop.py:QuestionSampler._next": TRAINING,
    "predictor/training/loop.py:QuestionSampler.chunk": TRAINING,
    "annotation/queue/strategies.py:split": "the seed of a split is part of the study file; people see their share anyway",
    "predictor/training/synthetic.py:generate_questions": TRAINING,
    "tasks/column_adding/task.py:draw_position": "where a proposed column stands: the page shows it",
}
SECRET = {
    "annotation/queue/draws.py:generator",
    "annotation/queue/draws.py:letters",
    "tasks/perturbation_rating/task.py:PerturbationRating.prepare",
}
"""Drawn from the key of a batch, or of the installation."""


def draws_in(code: str) -> Iterator[str]:
    """The functions (`Class.name`) that make a generator of random numbers or draw from one that all share."""

    def walk(node: ast.AST, names: tuple[str, ...]) -> Iterator[str]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (*names, node.name)
        if isinstance(node, ast.Call):
            module, _, name = ast.unparse(node.func).rpartition(".")
            if module in MODULES or (not module and name in CONSTRUCTORS):
                yield ".".join(names)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, names)

    yield from walk(ast.parse(code), ())


def found() -> set[str]:
    paths = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    return {
        f"{path.relative_to(ROOT)}:{name}"
        for path in paths
        if path.name != "tests.py" and "migrations" not in path.parts
        for name in draws_in(path.read_text(encoding="utf-8"))
    }


def test_each_draw_is_secret_or_listed_with_why_it_may_be_public() -> None:
    assert found() - SECRET == set(PUBLIC)
    assert found() >= SECRET


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("rng = random.Random(f'gold:{seed}')", ["f"]),
        ("order = random.sample(items, 3)", ["f"]),
        ("rng = np.random.default_rng(0)", ["f"]),
        ("rng = Random(7)", ["f"]),
        ("rng = numpy.random.RandomState(0)", ["f"]),
        ("rng.shuffle(items)", []),
        ("key = secrets.token_hex(16)", []),
    ],
)
def test_a_draw_is_found(line: str, names: list[str]) -> None:
    assert list(draws_in(f"def f():\n    {line}")) == names
