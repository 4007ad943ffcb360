"""The bundled model: how large it is, how long an answer takes, how much memory it needs, how often it is right.

    ./run bench bundled [--model DIR] [--data DIR] [--limit N]

On the development questions of WikiTableQuestions, one thread of one processor, each table new to the model. Right is
counted by the published rule on the texts ("12,467" is not "12467" there) and by the platform's own comparison. The expected
calibration error is over ten parts of equal width. The status is 1 where a promise is broken: 40 MB, 40 ms in the middle,
100 ms for 95 of 100, 400 MB of memory, 43 % right, a calibration error of 0.05. With --limit, the last two are shown and not
held against the promise.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.figures import keep  # noqa: E402
from predictor import load_bundled  # noqa: E402
from predictor.architectures import ModelError  # noqa: E402
from predictor.bundled import WEIGHTS  # noqa: E402
from predictor.bundled.score_calibration import expected_error  # noqa: E402
from tableqa.data.answers import compare  # noqa: E402
from tableqa.readers import READERS  # noqa: E402

MEGABYTES, MEDIAN, LATE, MEMORY, RIGHT, CALIBRATION = 40, 40, 100, 400, 0.43, 0.05
QUESTIONS = "wtq/random-split-1-dev.tsv"


def main() -> int:
    """Print the figures; 0 if they are as promised, or if there are no weights to measure."""
    parser = argparse.ArgumentParser(prog="./run bench bundled", description=(__doc__ or "").splitlines()[0])
    given = os.environ.get("ASKEW_TEST_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--model", type=Path, default=WEIGHTS, help="the model's folder")
    parser.add_argument("--data", type=Path, default=Path(given), help="the folder of the published datasets")
    parser.add_argument("--limit", type=int, help="questions; all unless given")
    options = parser.parse_args()
    if not (options.data / QUESTIONS).is_file():
        print(f"no datasets in {options.data}: name their folder with --data", file=sys.stderr)
        return 1
    started = time.perf_counter()
    try:
        model = load_bundled(options.model)
    except ModelError as error:
        print(error, file=sys.stderr)
        return 0 if options.model == WEIGHTS else 1
    loading = time.perf_counter() - started
    size = sum(file.stat().st_size for file in options.model.iterdir() if file.is_file()) / 1e6
    waits, published, equal = [], 0, 0
    sure: list[float] = []
    hits: list[bool] = []
    used: Counter[str] = Counter()
    right: Counter[str] = Counter()
    examples = list(READERS["wtq"](options.data / QUESTIONS, limit=options.limit))
    for example in examples:
        model.forget()
        began = time.perf_counter()
        found = model.predict(example.question, example.table)
        waits.append(1000 * (time.perf_counter() - began))
        result = compare(list(found.answers), list(example.answers))
        by_rule = result.equal and result.difference in (None, "order")
        published, equal = published + by_rule, equal + result.equal
        sure.append(found.score or 0.0)
        hits.append(by_rule)
        used[found.op] += 1
        right[found.op] += by_rule
    median, late = np.percentile(waits, [50, 95])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    count = len(examples)
    print(
        f"{model.name}@{model.sha}: {size:.1f} MB on disk, loaded in {1000 * loading:.0f} ms, {memory:.0f} MB of memory"
    )
    print(
        f"{count:,} questions: median {median:.1f} ms, 95 of 100 within {late:.1f} ms, longest {max(waits):.0f} ms"
    )
    print(f"right by the published rule {published / count:.1%}, equal {equal / count:.1%}")
    calibration = expected_error(sure, hits)
    print(f"expected calibration error {calibration:.4f}")
    for name, times in used.most_common():
        print(f"  {name:14} {times:5,} times, right {right[name] / times:.0%}")
    figures = [
        keep("size", size, "MB", at_most=MEGABYTES),
        keep("an answer, median", float(median), "ms", at_most=MEDIAN),
        keep("an answer at p95", float(late), "ms", at_most=LATE),
        keep("memory", memory, "MB", at_most=MEMORY),
        keep("right by the published rule", published / count, at_least=None if options.limit else RIGHT),
        keep("expected calibration error", calibration, at_most=None if options.limit else CALIBRATION),
    ]
    return 1 if any(one.met is False for one in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
