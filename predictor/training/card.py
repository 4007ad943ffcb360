"""The bundled model's card, written from what was measured: no figure is typed by hand.

`finish` writes it at the end of training; `./run train ... --card` with the arguments of a finished run writes it again,
with the recorded answers, and trains nothing.
"""

from __future__ import annotations

import platform
import resource
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from predictor.bundled import load_bundled
from predictor.bundled.features import MOST_CELLS, MOST_COLUMNS, MOST_ROWS
from predictor.training.evaluation import LEAST_HELD_OUT
from tableqa.data.examples import Example

CARD = "MODEL_CARD.md"
LONGER = {
    "cell": "a cell",
    "list": "a list",
    "number not in the table": "a number that is not in the table",
    "other": "something that none of its operations gives",
}
"""Kinds of answers (`evaluation.answer_kind`) by what a reader of the card calls them."""

TIMED = 300
"""Questions that the time of an answer is measured on."""

LANGUAGE = """\
# The bundled model

Answers a question about a table with a cell, a list, a count, a sum, an average, a difference, a year, the name of a
column, or a word. {parameters:.1f} million parameters; ONNX Runtime, one thread, no torch. Weights and this card: CC BY-SA 4.0,
see LICENSE beside the weights. This card was written by `./run train` from what it measured.

| | |
|---|---|
| made for | a model in the loop of an annotator, at once and without a GPU; examples of what a small model gets wrong |
| not made for | answering questions that somebody relies on |
| trained on | {trained_on} |
| not trained on | the development and test splits of the same data |
| licence of the data | WikiTableQuestions 1.0.2 by Panupong Pasupat and Percy Liang (ACL 2015), <https://github.com/ppasupat/WikiTableQuestions>, CC BY-SA 4.0; its tables come from the English Wikipedia |
| started from | {started_from} |
| training | `{command}` |
| on disk | {megabytes:.1f} MB |

## How good it is

{quality}

## How fast it is

{speed}

## Where it fails

{failures}
* A part of a cell: "Switzerland" in "Gstaad, Switzerland", the winner in a score. It can only give whole cells, or a year.
* Anything that takes two steps: "how many more wins than losses in home games".
* Of a large table it sees the {rows} rows (or {cells} cells) nearest to the question, and the first {columns} columns.
* English only. Earlier turns of a dialogue, titles and paragraphs are not read.
* Wikipedia's tables of sports, elections and discographies are what it knows; tables of finance are not.
"""  # noqa: E501 - rows of a table cannot be broken


def write_card(
    folder: Path,
    measured: Mapping[str, Any],
    command: str,
    *,
    questions: int,
    tables: int,
    synthetic_count: int,
    parameters: float,
    seen: int,
    origin: Mapping[str, Any] | None = None,
    tiny: bool = False,
) -> Path:
    """Write MODEL_CARD.md into the folder of an exported model.

    measured       as measured.json holds it: reports on "held out" and "development", "answering", and "calibration":
                   fitted, from the start, or none
    command        the training command, as a person would type it
    questions, tables, synthetic_count   what was learnt from; parameters in millions
    seen           questions that the training saw, repetitions included
    origin         what is recorded of the weights that it continued from (`adaptation.Start.origin`), None for a new model
    """
    report = measured.get("development") or measured.get("held out")
    on = "development" if measured.get("development") else "held out"
    card = LANGUAGE.format(
        parameters=parameters,
        trained_on=_trained_on(questions, tables, synthetic_count, seen, origin),
        started_from=_started_from(origin, tiny),
        command=command,
        megabytes=sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6,
        quality=_quality(report, on, measured.get("calibration", "fitted"))
        if report
        else "Nothing was measured.",
        speed=_speed(measured.get("answering")),
        failures=_failures(report) if report else "* Nothing was measured.",
        rows=MOST_ROWS,
        cells=MOST_CELLS,
        columns=MOST_COLUMNS,
    )
    (folder / CARD).write_text(card)
    return folder / CARD


def _trained_on(
    questions: int, tables: int, synthetic_count: int, seen: int, origin: Mapping[str, Any] | None
) -> str:
    data = (
        f"WikiTableQuestions 1.0.2, random-split-1-train ({questions:,} questions on {tables:,} tables; "
        f"one table in sixteen was held out), and {synthetic_count:,} questions made from the same tables"
    )
    if origin is None:
        return data
    return f"the data of `{origin['model']}`, and then {seen:,} questions drawn from: {data}"


def _started_from(origin: Mapping[str, Any] | None, tiny: bool) -> str:
    if origin is not None:
        seen = "" if origin["seen"] is None else f", which had seen {origin['seen']:,} questions"
        return f"the weights of `{origin['model']}`{seen}; their licence: {origin['licence']}"
    if tiny:
        return "random weights (a trial of the way, of no use)"
    return (
        "all-MiniLM-L6-v2 of the Sentence Transformers team, from nreimers/MiniLM-L6-H384-uncased (Apache-2.0); "
        "the rest from nothing"
    )


CALIBRATION = {
    "fitted": "is calibrated: one monotone map (isotonic regression), fitted on the held-out sixteenth of the training "
    "tables.",
    "start": f"keeps the calibration of the start: fewer than {LEAST_HELD_OUT} questions are held out.",
    "none": f"is not calibrated: fewer than {LEAST_HELD_OUT} questions are held out.",
}
"""What the card says of the confidence, by where its map comes from."""


def _quality(report: Mapping[str, Any], on: str, calibration: str = "fitted") -> str:
    data = (
        "WikiTableQuestions, random-split-1-dev"
        if on == "development"
        else "The held-out sixteenth of the training tables, which the operations were balanced on"
    )
    fifths = report["by_fifth_of_score"]
    summary = (
        f"{data}: of {report['questions']:,} questions **{report['published_rule']:.1%}** are right by the published "
        f"rule on the answers' texts, {report['equal']:.1%} by `tableqa.data.answers.compare`, which knows that 12,467 and "
        "12467, or 4 and 4 years, say the same."
    )
    parts = [
        summary,
        _table("operation that answered", report["by_operation"]),
        _table("what the gold answer is", _in_words(report["by_answer"])),
    ]
    if "calibration_error" in report:
        parts.append(
            f"Its confidence {CALIBRATION[calibration]} Its expected calibration error, over ten parts of equal width, is "
            f"**{report['calibration_error']:.3f}**; without the map it is {report['calibration_error_before']:.3f}. "
            "`./run bench bundled` measures it anew."
        )
    if len(fifths) == 5:
        parts.append(
            f"How sure it says it is means something: of the fifth of the questions with the lowest score "
            f"{fifths[0]:.0%} are right, of the fifth with the highest {fifths[-1]:.0%}."
        )
    return "\n\n".join(parts)


def rewrite_quality(folder: Path, report: Mapping[str, Any]) -> Path:
    """Write what was measured on the development split into a card that is there, and leave the rest of it as it is."""
    card = (folder / CARD).read_text()
    good, fast, fails = "## How good it is\n\n", "\n\n## How fast it is", "## Where it fails\n\n"
    head, rest = card.split(good)
    speed, failing = rest.partition(fast)[2].split(fails)
    other_lines = [line for line in failing.splitlines() if not line.startswith("* Where the answer is ")]
    failures = "\n".join([_failures(report), *other_lines])
    text = f"{head}{good}{_quality(report, 'development')}{fast}{speed}{fails}{failures}\n"
    (folder / CARD).write_text(text)
    return folder / CARD


def _in_words(kinds: Mapping[str, Any]) -> dict[str, Any]:
    return {LONGER.get(name, name): row for name, row in kinds.items()}


def _table(what: str, shares: Mapping[str, Mapping[str, float]]) -> str:
    lines = [f"| {what} | questions | right |", "|---|--:|--:|"]
    lines += [f"| {name} | {row['questions']:,} | {row['right']:.0%} |" for name, row in shares.items()]
    return "\n".join(lines)


def _failures(report: Mapping[str, Any]) -> str:
    """The kinds of answer that it gets less often right than it does overall, the worst first."""
    weak = [
        (
            row["right"],
            f"* Where the answer is {name}: {row['right']:.0%} of {row['questions']:,} are right.",
        )
        for name, row in _in_words(report["by_answer"]).items()
        if row["right"] < report["published_rule"]
    ]
    return "\n".join(line for _, line in sorted(weak)) or "* No kind of answer is worse than the others."


def _speed(answering: Mapping[str, Any] | None) -> str:
    if not answering:
        return "Not measured."
    return (
        f"{answering['questions']} questions, each on a table that is new to it, one thread of {answering['processor']}: "
        f"median {answering['median_ms']:.0f} ms, 95 of 100 within {answering['p95_ms']:.0f} ms "
        f"(of processor time {answering['median_cpu_ms']:.0f} and {answering['p95_cpu_ms']:.0f} ms); "
        f"{answering['memory_mb']:.0f} MB of memory. `./run bench bundled` measures it anew."
    )


def answering(folder: Path, examples: Sequence[Example]) -> dict[str, Any]:
    """How long the model of a folder needs, in its own process, as it is served: at most `TIMED` questions."""
    chosen = examples[:: max(1, len(examples) // TIMED)][:TIMED]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_timed, folder, chosen).result()


def _timed(folder: Path, examples: Sequence[Example]) -> dict[str, Any]:
    model = load_bundled(folder)
    waits, worked = [], []
    for example in examples:
        model.forget()
        began, used = time.perf_counter(), time.process_time()
        model.predict(example.question, example.table)
        waits.append(1000 * (time.perf_counter() - began))
        worked.append(1000 * (time.process_time() - used))
    return {
        "questions": len(examples),
        "median_ms": round(float(np.percentile(waits, 50)), 1),
        "p95_ms": round(float(np.percentile(waits, 95)), 1),
        "median_cpu_ms": round(float(np.percentile(worked, 50)), 1),
        "p95_cpu_ms": round(float(np.percentile(worked, 95)), 1),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
        "processor": _processor(),
    }


def _processor() -> str:
    """What this machine's processor calls itself, where it says so."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def parameters_of(folder: Path) -> float:
    """Millions of parameters of the exported graph: numbers of more than one value, scales left out."""
    import onnx

    graph = onnx.load(str(folder / "model.onnx"), load_external_data=False).graph
    tensors = [tensor for tensor in graph.initializer if not tensor.name.endswith(".scale")]
    return float(sum(int(np.prod(tensor.dims)) for tensor in tensors if tensor.dims) / 1e6)
