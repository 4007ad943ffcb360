"""LFTQA-Eval (Wang et al., EMNLP 2024): the size of its data, and its correlation on answers rated for the demo."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.reproducing import Figure, number
from tableqa.readers import READERS
from tableqa.scoring.answer_ratings import columns_of, correlations, rated_answer

DEMO = Path(__file__).resolve().parent.parent.parent / "fixtures" / "demo" / "rated-answers.jsonl"
SIZE, MEASURED = (
    "Section 2: the size of the data",
    "Section 2.5: the correlation, on answers rated for the demo",
)
TABLE_2 = "Table 2: instance-level Pearson correlation, QTSumm and FeTaQA, faithfulness and comprehensiveness"
PUBLISHED = {
    "BLEU": ".425 .415 .341 .293",
    "ROUGE-L": ".186 .206 .124 .104",
    "METEOR": ".204 .216 .187 .191",
    "BERTScore": ".085 .041 .072 .052",
    "TAPAS-Acc": ".022 .008 .076 .064",
    "AutoACU": ".268 .262 .188 .143",
    "G-Eval, Llama 3.1 70B, prompt for faithfulness": ".545 .534 .433 .435",
    "G-Eval, GPT-4o, prompt for faithfulness": ".633 .628 .470 .470",
}
"""From the release's own correlation_results.csv, rounded to three digits: the paper's table has its columns exchanged."""

NOT_RUN = "–"
WITHOUT_SCORES = "not run here: the scores are not included. The command below computes it from them"


def figures(data: Path) -> Iterator[Figure]:
    """Every figure of the page."""
    pool = sum(1 for _ in READERS["fetaqa"](data / "fetaqa"))
    yield Figure(SIZE, "questions of FeTaQA's dev split, from which 150 were sampled", number(pool))
    answers = 150 * 10 * 2 - 12
    yield Figure(
        SIZE,
        "150 questions x 10 systems x 2 datasets, less 12 empty answers",
        number(answers),
        number(2_988),
        "the reader `lftqa` also skips empty answers: there is nothing to rate",
    )
    yield Figure(SIZE, "FeTaQA and QTSumm together", number(1_495 + 1_493), number(2_988))
    for metric, published in PUBLISHED.items():
        yield Figure(TABLE_2, metric, NOT_RUN, published, WITHOUT_SCORES)
    rated = [one for example in READERS["jsonl"](DEMO) if (one := rated_answer("demo", example)) is not None]
    found = correlations(rated, columns_of(rated, "demo"), replicates=0)
    for row in found.rows:
        for method, said in row.by_method.items():
            value = "undefined" if said.value is None else number(float(said.value))
            yield Figure(
                MEASURED,
                f"`{row.metric}` with {row.dimension}, {method}",
                value,
                "",
                f"{said.n} questions; {said.undefined} excluded with constant scores or ratings",
            )
