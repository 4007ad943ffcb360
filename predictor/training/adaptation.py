"""Training the bundled model from weights that it already has, once for each column of a table of perturbed releases.

./run train --data DIR --from bundled --out OUT [--augment NAME=RELEASE ... --test RELEASE]
"""

from __future__ import annotations

import random
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from predictor.training import TrainingError
from predictor.training.augment import (
    AugmentationRequest,
    Column,
    columns_of,
    compare_columns,
    read_augmentation_request,
    seed_folder,
)
from predictor.training.bundled import TINY, data, plan_of, split, tiny_plan
from predictor.training.corpus import Corpus, build_corpora
from predictor.training.export import export
from predictor.training.loop import Plan, TrainingRun
from predictor.training.recipes import bundled_forecast
from predictor.training.start import SHIPPED, Start, start_of
from tableqa.data.examples import Example


def augment(options: Namespace, say: Any = print) -> dict[str, Any]:
    """`--augment`: train from the start with a short plan, for each column of the table and each seed.

    Every run sees as many questions; with a release half of them are the release's. Raises TrainingError, ModelError.
    """
    if options.trained is None:
        raise TrainingError(
            f"--augment continues from weights: give --from {SHIPPED}, or the --out of a finished training"
        )
    if options.threads:
        torch.set_num_threads(options.threads)
    adaptation = _Adaptation(options, start_of(options.trained), read_augmentation_request(options), say)
    for line in bundled_forecast(
        adaptation.start.network(), adaptation.plan, adaptation.device, is_tiny=options.tiny
    ):
        say(f"{line}, for each column and seed", flush=True)
    return compare_columns(
        adaptation.columns(),
        adaptation.asked.test,
        adaptation.out,
        adaptation.about(),
        "cpu",
        partial(say, flush=True),
        adaptation.seeds,
    )


class _Adaptation:
    """One plan for all columns, their questions, and the start that they share."""

    def __init__(self, options: Namespace, start: Start, request: AugmentationRequest, say: Any) -> None:
        self.options, self.start, self.asked, self.say = options, start, request, say
        self.out = Path(options.out)
        self.device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.plan: Plan = replace(
            tiny_plan(options.seed) if options.tiny else plan_of(options, self.device),
            made_first=0.0,
            made_start=0.5,  # of a release, which takes the place of the questions that are made
            made_end=0.5,
            average=0.0,
        )
        self.seeds = range(self.plan.seed, self.plan.seed + options.seeds)
        unseen = request.unseen(split(data(options.data, TINY if options.tiny else None)[0])[0])
        rng = random.Random(f"augment:{self.plan.seed}")
        self.questions = rng.sample(unseen, min(self.plan.questions, len(unseen)))
        say(f"{len(self.questions):,} questions share no table and no question with the test", flush=True)

    def columns(self) -> list[Column]:
        """`start`, `before`, and one for each release."""
        size = len(self.questions)
        return columns_of(self.asked.releases, size, lambda seed: self.start.folder, self._train)

    def about(self) -> dict[str, Any]:
        """What the results say of the run."""
        return self.asked.about(
            architecture="bundled", plan=self.plan.to_dict(), start=f"the model in {self.start.folder}"
        )

    def _train(self, name: str, more: Sequence[Example], seed: int) -> Path:
        self.say(f"--- {name}, seed {seed}", flush=True)
        folder = seed_folder(self.out / name, seed, self.seeds)
        plan = replace(self.plan, seed=seed)
        corpora = {"data": self.questions, name: more}
        for of, examples in corpora.items():
            build_corpora(
                self.out / "corpus" / of,
                self.start.folder,
                examples,
                (),
                synthetic_count=0,
                seed=0,
                workers=1,
            )
        data_corpus, added = (Corpus(self.out / "corpus" / of / "answered") for of in corpora)
        torch.manual_seed(seed)
        training = TrainingRun(self.start.network(), plan, folder, self.device)
        training.resume()
        if training.state.seen < plan.questions or not (folder / "model" / "bundled.json").exists():
            training.run(data_corpus, added, (), every=60, say=self.say)
            export(
                training.result(),
                self.start.folder,
                self.start.balance(),
                folder / "model",
                {"plan": plan.to_dict(), "seen": training.state.seen, "column": name},
                self.options.storage,
            )
        return folder / "model"
