"""What suggestions cost on the tables of WikiTableQuestions, in CPU time: per column or table, and for the indexes.

    ./run bench suggestions [--data FOLDER] [--tables N]

FOLDER holds wtq/*.tsv and wtq/csv; by default ASKEW_TEST_DATA, else ../shared/data beside the repository. Without it the
14 tables of the demo are taken, and the output says so.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.figures import keep
from tableqa import Table
from tableqa.corpus import Index, align, candidates
from tableqa.headers import HeaderNames, Thesaurus, abbreviations, synonyms
from tableqa.headers.thesaurus import SHIPPED, read_thesaurus
from tableqa.readers import READERS
from tableqa.relations import relations
from tableqa.splitting import proposals

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print one line for each figure."""
    parser = argparse.ArgumentParser(prog="./run bench suggestions")
    parser.add_argument("--data", type=Path, default=os.environ.get("ASKEW_TEST_DATA"))
    parser.add_argument("--tables", type=int, default=None, metavar="N")
    options = parser.parse_args()
    tables = _tables(options.data or ROOT.parent / "shared" / "data")[: options.tables]
    columns = [(table, column) for table in tables for column in table.column_ids]
    print(f"{len(tables):,} tables, {len(columns):,} columns")

    words = _once("thesaurus: load", lambda: read_thesaurus(SHIPPED))
    names = _once("column names: build", lambda: HeaderNames.build(tables))
    _stored("column names", names.to_dict, HeaderNames.from_dict)
    corpus = _once("corpus: build", lambda: Index.build(tables))
    _stored("corpus", corpus.to_dict, Index.from_dict)
    if not isinstance(words, Thesaurus):
        print(words.reason)
        return 1

    found = _each("synonyms, per column", columns, lambda one: synonyms(one[0], one[1], words, names).found)
    _share("columns with synonyms", found)
    found = _each("abbreviations, per column", columns, lambda one: abbreviations(*one))
    _share("columns with abbreviations", found)
    found = _each("relations, per table", tables, lambda table: relations(table).implied)
    _share("tables with a column that others imply in every row", found)
    found = _each(
        "proposals to split, per column",
        columns,
        lambda one: proposals(one[0].column(one[1]), one[0].cell(one[0].header_id, one[1]), names),
    )
    _share("columns with a proposal", found)

    visited: list[int] = []

    def query(table: Table) -> Any:
        related = corpus.related(table)
        visited.append(corpus.visited)
        return related

    found = _each("related tables, per query", tables, query)
    entries = sum(map(len, corpus.to_dict()["lists"].values()))
    print(
        f"list entries walked per query: median {statistics.median(visited):,.0f}, most {max(visited):,} of {entries:,}"
    )
    by_digest = {table.digest(): table for table in tables}
    pairs = [
        (table, [by_digest[one.digest] for one in some]) for table, some in zip(tables, found, strict=True)
    ]
    found = _each("alignments and candidates, per table", pairs, lambda pair: _columns_for(*pair))
    _share("tables with a column that could be added to half of their rows", found)
    return 0


def _tables(data: Path) -> list[Table]:
    files = [data / "wtq" / f"random-split-1-{part}.tsv" for part in ("train", "dev")]
    if not files[0].exists():
        print(f"no WikiTableQuestions in {data}; these are the tables of the demo")
        files = [ROOT / "fixtures" / "wtq" / "excerpt-dev.tsv"]
    tables = {example.meta["context"]: example.table for file in files for example in READERS["wtq"](file)}
    return list(tables.values())


def _columns_for(table: Table, others: Iterable[Table]) -> bool:
    for other in others:
        alignment = align(table, other)
        if alignment and any(
            2 * one.filled >= len(table.rows) for one in candidates(table, other, alignment)
        ):
            return True
    return False


def _once(what: str, do: Callable[[], Any]) -> Any:
    started = time.process_time()
    result = do()
    seconds = time.process_time() - started
    print(f"{what}: {seconds:.2f} s")
    keep(f"{what}, CPU", seconds, "s")
    return result


def _each(what: str, items: Iterable[Any], do: Callable[[Any], Any]) -> list[Any]:
    times, results = [], []
    for item in items:
        started = time.process_time()
        results.append(do(item))
        times.append(1000 * (time.process_time() - started))
    times.sort()
    keep(f"{what}, CPU at p99", times[int(len(times) * 0.99)], "ms")
    print(
        f"{what}: median {times[len(times) // 2]:.1f} ms, 99 % {times[int(len(times) * 0.99)]:.1f}, most {times[-1]:.1f}"
    )
    return results


def _stored(what: str, write: Callable[[], Any], read: Callable[[Any], Any]) -> None:
    text = json.dumps(write(), ensure_ascii=False)
    started = time.process_time()
    read(json.loads(text))
    seconds = time.process_time() - started
    packed = len(zlib.compress(text.encode()))
    print(f"{what}: {len(text) / 1e6:.1f} MB of JSON ({packed / 1e6:.1f} packed), read in {seconds:.2f} s")


def _share(what: str, found: list[Any]) -> None:
    print(f"{what}: {100 * sum(map(bool, found)) / len(found):.0f} %")


if __name__ == "__main__":
    raise SystemExit(main())
