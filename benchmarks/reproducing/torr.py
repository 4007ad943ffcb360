"""ToRR (Ashury-Tahan et al., 2025): its 35 configurations over the public dev splits, and its worked win rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from benchmarks.reproducing import Figure, number
from tableqa import Example
from tableqa.perturbations import PERTURBATIONS
from tableqa.readers import READERS
from tableqa.scoring.prompt_files import torr_prompts
from tableqa.serialisations import SERIALISATIONS, TORR, torr
from tableqa.statistics.robustness import win_rates

GRID, PROMPTS = "Section 3: configurations", "Section 3: prompts of 100 questions"
STEPS = "Section 3: structural perturbations of the public tables, one seed"
MEASURES = "Section 4: metrics on the example of the paper"
EXAMPLES = 100
MOST_CELLS = 200
"""ToRR's released recipe takes tables of WikiTableQuestions up to this size."""


def figures(data: Path) -> Iterator[Figure]:
    """Every figure of the page."""
    wtq = list(READERS["wtq"](data / "wtq" / "random-split-1-dev.tsv"))
    tat = list(READERS["tat_qa"](data / "tatqa"))
    feta = list(READERS["fetaqa"](data / "fetaqa"))
    yield Figure(GRID, "serialisations", number(len(TORR)), "7")
    yield Figure(GRID, "structural perturbations, including none", number(len(torr.STRUCTURAL) + 1), "5")
    yield Figure(GRID, "configurations", number(len(torr.CONFIGURATIONS)), "35")
    sets = (("WikiTableQuestions", wtq), ("TAT-QA", tat), ("FeTaQA", feta))
    for title, examples in sets:
        held = tables(examples)
        written = sum(bool(SERIALISATIONS[name].dumps(example.table)) for example in held for name in TORR)
        yield Figure(
            GRID, f"{title} dev: tables serialised in all seven", number(written), number(7 * len(held))
        )
    for title, examples in sets:
        yield from _steps(title, tables(examples))
    for title, examples, k in (("WikiTableQuestions", wtq, 1), ("TAT-QA", tat, 5), ("FeTaQA", feta, 5)):
        small = [one for one in examples if one.table.shape[0] * one.table.shape[1] <= MOST_CELLS]
        chosen = list(islice(small, EXAMPLES))
        made = list(torr_prompts(title, chosen, examples, k=k))
        shared = len({(record["example"], tuple(record["demonstrations"])) for record in made})
        shots = "1 demonstration" if k == 1 else f"{k} demonstrations"
        yield Figure(
            PROMPTS,
            f"{title} dev, {shots}: prompts",
            number(len(made)),
            number(35 * EXAMPLES),
        )
        yield Figure(
            PROMPTS,
            f"{title} dev: distinct sets of demonstrations",
            number(shared),
            number(EXAMPLES),
            "each question has the same set in all its 35 prompts",
        )
    rates = win_rates([1, 1, 1, 0, 0, 0, 0]) or []
    yield Figure(
        MEASURES,
        "win rates of seven serialisations, three of them correct",
        " ".join(number(rate) for rate in rates),
        "0.33 0.33 0.33 0.00 0.00 0.00 0.00",
    )


def tables(examples: Iterable[Example]) -> list[Example]:
    """An example for every table, the first about it."""
    return list({one.table.digest(): one for one in reversed(list(examples))}.values())[::-1]


def _steps(title: str, examples: list[Example]) -> Iterator[Figure]:
    for kind in torr.STRUCTURAL:
        reasons: Counter[str] = Counter()
        for example in examples:
            one = PERTURBATIONS[kind](example)
            if one.is_noop:
                reasons[one.reason.rstrip(".")] += 1
        said = "; ".join(f"{times:,}: {reason}" for reason, times in sorted(reasons.items()))
        yield Figure(
            STEPS,
            f"{title} dev, `{kind}`",
            number(len(examples) - reasons.total()),
            "",
            f"of {len(examples):,} tables" + (f"; no-ops: {said}" if said else ""),
        )
