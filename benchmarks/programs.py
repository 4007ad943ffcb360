"""Executable answers on published data: how many questions get a program, how often it is the right one, how long it takes.

    ./run bench programs [--data DIR] [--limit N] [--brief]

Four parts. The TAT files of FREB-TQA (03_agg_com): the share of arithmetic questions whose derivation becomes a program
that yields the gold answer on the original table, and every released answer that the program contradicts on the table
that people edited, with the difference by name. WikiSQL: the share of logical forms that yield the published answer.
WikiTableQuestions dev: for how many questions the search finds any program, and how long it takes. And two samples of
50 of these questions, judged by hand (data/programs-wtq-dev.json): for what share the first, and any, of the programs
found means what the question asks. The status is 1 if the promised share of arithmetic questions is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.figures import keep  # noqa: E402
from tableqa import Example, Table  # noqa: E402
from tableqa.answers import compare  # noqa: E402
from tableqa.cells import number_of  # noqa: E402
from tableqa.operations import diff, replay  # noqa: E402
from tableqa.programs import (  # noqa: E402
    Program,
    ProgramError,
    attempt,
    describe,
    find_programs,
    from_derivation,
    from_dict,
    program_of,
    run,
)
from tableqa.proportions import proportion  # noqa: E402
from tableqa.readers import READERS  # noqa: E402

PROMISED = 0.95
"""The share of arithmetic questions that get a program."""

JUDGED = ROOT / "benchmarks" / "data" / "programs-wtq-dev.json"
SAMPLE = 50

TAT = "freb_tqa/03_agg_com/tat_nonfactoid_dev_no_shuffle_{}.json"
FORMS = "freb_tqa/01_str/wikisql_factoid_dev.partial.json"
WTQ = "wtq/random-split-1-dev.tsv"


def main() -> int:
    """Print the four parts; 0 if the promised share is reached and the sample is the one that was judged."""
    parser = argparse.ArgumentParser(prog="./run bench programs", description=(__doc__ or "").splitlines()[0])
    given = os.environ.get("ASKEW_TEST_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(given), help="the folder of the published datasets")
    parser.add_argument(
        "--limit", type=int, help="questions of WikiTableQuestions, from the start; all unless given"
    )
    parser.add_argument(
        "--brief", action="store_true", help="count the contradicted answers, do not list them"
    )
    options = parser.parse_args()
    if not (options.data / WTQ).is_file():
        print(f"no datasets in {options.data}: name their folder with --data", file=sys.stderr)
        return 1
    reached = derivations(options.data, options.brief)
    logical_forms(options.data)
    examples = {example.id: example for example in READERS["wtq"](options.data / WTQ)}
    search(list(examples.values())[: options.limit])
    return 0 if sample(examples) and reached else 1


# FREB-TQA's edits of TAT-QA -------------------------------------------------------------------------------------------


def derivations(data: Path, brief: bool) -> bool:
    """Print what becomes of the derivations; whether the promised share is reached."""
    originals, shortened = _records(data, "ori_table"), _records(data, "short_table")
    started = time.perf_counter()
    derived = [next(iter(from_derivation(_example(record))), None) for record in originals]
    took = time.perf_counter() - started
    print(
        "TAT-QA's derivations (FREB-TQA, 03_agg_com), programs that yield the gold answer on the original table:"
    )
    programs = [program or _searched(record) for program, record in zip(derived, originals, strict=True)]
    shares = {}
    for kind in sorted({record["answer_type"] for record in originals}):
        found = [
            program is not None
            for program, record in zip(programs, originals, strict=True)
            if record["answer_type"] == kind
        ]
        shares[kind] = proportion(sum(found), len(found))
        print(
            f"  {kind:12} {sum(found):4} of {len(found):4}  {shares[kind].percent:>8} ({shares[kind].interval})"
        )
    print(f"  {1000 * took / len(originals):.1f} ms a question\n")
    for name, words in (("ans_change", "the answer changes"), ("ans_no_change", "the answer stays")):
        _contradictions(name, words, originals, shortened, _records(data, name), derived, brief)
    share = shares["arithmetic"].value or 0.0
    print(f"arithmetic questions with a program: {100 * share:.1f} % (promised: {100 * PROMISED:.0f} %)\n")
    return keep("arithmetic questions with a program", share, at_least=PROMISED).met is True


def _records(data: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (data / TAT.format(name)).read_text("utf-8").splitlines()]


def _searched(record: dict[str, Any]) -> Program | None:
    """What the search finds first for a question without arithmetic, whose derivation may be words.

    It is counted, and no released answer is held against it: it is a guess until a person confirms it.
    """
    if record["answer_type"] == "arithmetic":
        return None
    return next(iter(find_programs(_example(record))), None)


def _example(record: dict[str, Any]) -> Example:
    meta = {name: record[name] for name in ("derivation", "scale", "answer_type", "answer_from")}
    return Example(record["id"], record["question"], _table(record), record["answers"], meta=meta)


def _table(record: dict[str, Any]) -> Table:
    return Table(record["table"]["header"], record["table"]["rows"])


@dataclass(frozen=True)
class Verdict:
    """What a program says of a released answer: agrees, contradicts (with the difference by name) or cannot be run."""

    outcome: str
    computed: str = ""
    difference: str = ""


def _contradictions(
    name: str,
    words: str,
    originals: list[dict[str, Any]],
    shortened: list[dict[str, Any]],
    edited: list[dict[str, Any]],
    programs: list[Program | None],
    brief: bool,
) -> None:
    counts: Counter[str] = Counter()
    lines = []
    for original, short, record, program in zip(originals, shortened, edited, programs, strict=True):
        if program is None:
            counts["without a derivation that can be run"] += 1
            continue
        verdict = _verdict(program, original, short, record)
        counts[verdict.outcome] += 1
        if verdict.outcome != "agrees":
            answers = " | ".join(record["answers"])
            line = f"    {record['id']}  released {answers}  {verdict.computed}  {verdict.difference}"
            lines.append(
                (verdict.outcome, verdict.difference, f"{line.rstrip()}  [{record['derivation'].strip()}]")
            )
    told = ", ".join(f"{outcome} {number}" for outcome, number in sorted(counts.items()))
    print(f"released edits after which {words} ({name}): {told}")
    for outcome in ("contradicts", "cannot be run"):
        rows = sorted(line for line in lines if line[0] == outcome)
        kinds = Counter(difference for _, difference, _ in rows)
        print(f"  {outcome}: {', '.join(f'{kind} {number}' for kind, number in kinds.most_common())}")
        if not brief:
            print(*(line for _, _, line in rows), sep="\n")
    print()


def _verdict(
    program: Program, original: dict[str, Any], short: dict[str, Any], edited: dict[str, Any]
) -> Verdict:
    """Hold the released answer against every way in which the program can be carried to the edited table.

    Nobody recorded the edits, so that rows and columns are aligned by what they hold. The short tables write signs
    otherwise than the originals (9.9 for (9.9)): the derivation is bound once more to the short table, and the released
    answer is contradicted only if no way agrees with it.
    """
    first: Verdict | None = None
    failure = ""
    for way, table in _ways(program, original, short, edited):
        computed = attempt(way, table)
        if isinstance(computed, ProgramError):
            failure = failure or str(computed)
            continue
        comparison = compare(edited["answers"], computed)
        if comparison.equal:
            return Verdict("agrees")
        difference = f"{comparison.difference} {comparison.factor or ''}".strip()
        if difference == "value" and _is_last_decimal(edited["answers"], computed):
            difference = "value, in the last decimal"
        first = first or Verdict("contradicts", f"program {' | '.join(computed)}", difference)
    reason = "a row or column is gone" if "removed" in failure else "a cell is no number"
    return first or Verdict("cannot be run", failure, reason)


def _ways(
    program: Program, original: dict[str, Any], short: dict[str, Any], edited: dict[str, Any]
) -> Iterator[tuple[Program, Table]]:
    first, second, third = _table(original), _table(short), _table(edited)
    yield program, _carried(_carried(first, second), third)
    for rebound in from_derivation(_example(short)):
        yield rebound, _carried(second, third)
        if second.shape == third.shape:
            yield rebound, third  # by place


def _carried(base: Table, other: Table) -> Table:
    """`other` with the ids of the rows and columns of `base`."""
    return replay(base, diff(base, other, match="content"))


def _is_last_decimal(released: Sequence[str], computed: Sequence[str]) -> bool:
    """Whether two percentages differ by a hundredth: slips of rounding."""
    one, other = number_of(released[0]), number_of(computed[0])
    if len(released) != 1 or one is None or other is None or max(one.decimals, other.decimals) < 2:
        return False
    return abs(one.value - other.value) <= Decimal("0.01")


# WikiSQL --------------------------------------------------------------------------------------------------------------


def logical_forms(data: Path) -> None:
    """Print for how many questions of FREB-TQA's WikiSQL file the logical form yields the published answer."""
    forms: dict[str, list[dict[str, Any]]] = {}
    for line in (data / "wikisql" / "dev.jsonl").read_text("utf-8").splitlines():
        if line.strip():
            record = json.loads(line)
            forms.setdefault(_spaced(record["question"]), []).append(record["sql"])
    hits = n = 0
    for line in (data / FORMS).read_text("utf-8").splitlines():
        record = json.loads(line)
        table, found = _table(record), forms.get(_spaced(record["question"]), [])
        n += bool(found)
        hits += any(_yields(form, table, record["answers"]) for form in found)
    print(
        f"WikiSQL's logical forms: {hits} of {n} yield the published answer ({proportion(hits, n).percent})\n"
    )


def _spaced(text: str) -> str:
    return " ".join(text.lower().split())


def _yields(form: dict[str, Any], table: Table, answers: list[str]) -> bool:
    try:
        return compare(run(program_of(form, table), table), answers).equal
    except ProgramError:
        return False


# WikiTableQuestions ---------------------------------------------------------------------------------------------------


def search(examples: Sequence[Example]) -> None:
    """Print for how many questions the search finds a program, and how long it takes."""
    times, cut_off = [], 0
    found = {True: [0, 0], False: [0, 0]}
    for example in examples:
        started = time.process_time()  # others may use the machine at the same time
        programs = find_programs(example)
        times.append(time.process_time() - started)
        cut_off += not programs.complete
        cells = {" ".join(text.split()).lower() for row in example.table.rows for text in row}
        is_cell = all(" ".join(answer.split()).lower() in cells for answer in example.answers)
        found[is_cell][0] += bool(programs)
        found[is_cell][1] += 1
    print(f"WikiTableQuestions dev, {len(examples)} questions: a program is found")
    for is_cell, words in ((False, "where the answer is no cell"), (True, "where every answer is a cell")):
        share = proportion(*found[is_cell])
        print(
            f"  {words:30} {found[is_cell][0]:4} of {found[is_cell][1]:4}  {share.percent:>8} ({share.interval})"
        )
    times.sort()
    keep("search for programs, CPU at p95", 1000 * times[int(0.95 * len(times))], "ms")
    print(
        f"  processor time: median {1000 * statistics.median(times):.1f} ms, "
        f"p95 {1000 * times[int(0.95 * len(times))]:.1f} ms, longest {1000 * times[-1]:.0f} ms; cut off: {cut_off}\n"
    )


def sample(examples: dict[str, Example]) -> bool:
    """Print the shares on the judged samples; False if they are not those that their seeds draw."""
    ok = True
    for data in json.loads(JUDGED.read_text("utf-8"))["samples"]:
        drawn = Random(data["seed"]).sample(sorted(examples), SAMPLE)
        if drawn != [judgement["id"] for judgement in data["judged"]]:
            print(f"{JUDGED.name} does not judge what the seed {data['seed']!r} draws", file=sys.stderr)
            ok = False
            continue
        print(
            f"WikiTableQuestions dev, {SAMPLE} questions drawn by the seed {data['seed']!r}, judged by hand;"
        )
        print(f"  {data['when']}")
        _shares(data["judged"], examples)
    return ok


def _shares(judgements: Sequence[dict[str, Any]], examples: dict[str, Example]) -> None:
    ranks: dict[str, list[int | None]] = {"reasoning": [], "extraction": []}
    misses = []
    for judgement in judgements:
        example = examples[judgement["id"]]
        right = {from_dict(program) for program in judgement["right"]}
        programs = find_programs(example)
        rank = next((place for place, program in enumerate(programs) if program in right), None)
        ranks[judgement["needs"]].append(rank)
        if rank != 0:
            first = describe(programs[0], example.table) if programs else "nothing found"
            where = "none right" if rank is None else f"right in place {rank + 1}"
            misses.append(f"    {example.id}  {where}: {judgement['why']}  [first: {first}]")
    for needs, judged in (*ranks.items(), ("all", [rank for one in ranks.values() for rank in one])):
        top = proportion(sum(rank == 0 for rank in judged), len(judged))
        any_ = proportion(sum(rank is not None for rank in judged), len(judged))
        print(
            f"  {needs:10} n={len(judged):2}  the first is right {top.percent:>7} ({top.interval}), "
            f"one of them is {any_.percent:>7} ({any_.interval})"
        )
    print(*misses, "", sep="\n")


if __name__ == "__main__":
    sys.exit(main())
