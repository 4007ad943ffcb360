"""RobuT (Zhao et al., ACL 2023): the questions it starts from, and its automatic kinds on those that are public."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.reproducing import Figure, number
from benchmarks.reproducing.freb_tqa import lines
from tableqa import Example
from tableqa.perturbations import PERTURBATIONS
from tableqa.readers import READERS
from tableqa.writers.robut import PERTURBATIONS as PUBLISHED

SIZE = "Section 3: size of the benchmark"
SHUFFLED = "Section 3.1: row and column shuffles of the public dev splits, one seed"


def figures(data: Path) -> Iterator[Figure]:
    """Every figure of the page."""
    wtq = list(READERS["wtq"](data / "wtq" / "random-split-1-dev.tsv"))
    sqa = list(READERS["sqa"](data / "sqa" / "random-split-1-dev.tsv"))
    wikisql = len(lines(data / "wikisql" / "dev.jsonl"))
    sequences = len({(one.meta["id"], one.meta["annotator"]) for one in sqa})
    yield Figure(SIZE, "WikiTableQuestions dev", number(len(wtq)))
    yield Figure(SIZE, "WikiSQL dev", number(wikisql))
    yield Figure(SIZE, "SQA dev, sequences", number(sequences), "", f"of {len(sqa):,} questions")
    yield Figure(
        SIZE,
        "unperturbed pairs",
        number(len(wtq) + wikisql + sequences),
        "12,036",
        "the sum of the three; SQA is counted by sequence",
    )
    yield Figure(
        SIZE,
        "pairs in total",
        "not built",
        "138,149",
        "52,601 of them are automatic shuffles, all others human work, whose files are not available here",
    )
    sets = 3 * (len(PUBLISHED) - 1) - 1
    yield Figure(
        SIZE, "test sets", number(sets), "29", "ten kinds for each of three datasets; SQA has no mix"
    )
    wikisql_tables = READERS["freb_tqa"](data / "freb_tqa" / "01_str" / "wikisql_factoid_dev.partial.json")
    for title, examples in (
        ("WikiTableQuestions dev", wtq),
        ("SQA dev", sqa),
        ("WikiSQL, questions whose tables FREB-TQA publishes", wikisql_tables),
    ):
        yield from _shuffled(title, examples)


def _shuffled(title: str, examples: Iterable[Example]) -> Iterator[Figure]:
    made: Counter[str] = Counter()
    idle: dict[str, Counter[str]] = {"row": Counter(), "column": Counter()}
    total = 0
    for example in examples:
        total += 1
        for kind, reasons in idle.items():
            one = PERTURBATIONS[kind](example)
            if one.is_noop:
                reasons[one.reason.partition(" (")[0].rstrip(".")] += 1
            else:
                made[kind] += 1
    for kind, reasons in idle.items():
        said = "; ".join(f"{times:,}: {reason}" for reason, times in sorted(reasons.items()))
        yield Figure(
            SHUFFLED,
            f"{title}, `{kind}`",
            number(made[kind]),
            "",
            f"of {total:,}" + (f"; excluded: {said}" if said else ""),
        )
