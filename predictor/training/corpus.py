"""Questions with their arrays and derivations, made once and kept on disk: an epoch then costs no Python.

A corpus is a folder of flat arrays and offsets, opened as memory maps. It is written by several processes at once, each
a part; `Corpus` reads the parts as one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import tableqa
from predictor.bundled.features import Input
from predictor.bundled.question_features import encode_question
from predictor.bundled.table_features import TableReading, read_table
from predictor.training.supervision import Supervision, supervise
from predictor.training.synthetic import generate_questions
from tableqa.core.canonical_json import digest
from tableqa.data.examples import Example
from tableqa.data.tables import Table

_ARRAYS: dict[str, Any] = {
    "tokens": np.int32,
    "token_columns": np.int8,
    "token_features": np.float16,
    "cell_features": np.float16,
    "cell_pieces": np.int32,
    "links": np.int16,
    "rows": np.int32,
}


@dataclass(frozen=True)
class Item:
    """One question, ready for the network."""

    id: str
    given: Input
    goal: Supervision

    @property
    def size(self) -> int:
        return int(self.given.links.size)


def write_part(folder: Path, items: Iterable[Item]) -> int:
    """Write a part of a corpus; gives the number of its questions."""
    folder.mkdir(parents=True, exist_ok=True)
    flat: dict[str, list[np.ndarray]] = {name: [] for name in _ARRAYS}
    shapes: list[tuple[int, int, int, int]] = []
    ids: list[str] = []
    goals: list[Supervision] = []
    for item in items:
        for name, kind in _ARRAYS.items():
            flat[name].append(getattr(item.given, name).astype(kind).reshape(-1))
        rows, columns = item.given.links.shape
        shapes.append((len(item.given.tokens), item.given.question, rows, columns))
        ids.append(item.id)
        goals.append(item.goal)
    for name, kind in _ARRAYS.items():
        np.save(folder / f"{name}.npy", np.concatenate(flat[name]) if flat[name] else np.zeros(0, kind))
    np.save(folder / "shapes.npy", np.array(shapes, np.int64).reshape(-1, 4))
    (folder / "ids.json").write_text(json.dumps(ids))
    (folder / "goals.json").write_text(json.dumps([goal.to_list() for goal in goals]))
    return len(ids)


class _Part:
    def __init__(self, folder: Path) -> None:
        self.arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
        self.shapes = np.load(folder / "shapes.npy")
        self.ids: list[str] = json.loads((folder / "ids.json").read_text())
        goals = json.loads((folder / "goals.json").read_text())
        self.goals = [Supervision.from_list(goal) for goal in goals]
        tokens, _, rows, columns = self.shapes.T if len(self.shapes) else np.zeros((4, 0), np.int64)
        sizes = {"tokens": tokens, "token_columns": tokens, "rows": rows, "links": rows * columns}
        self.starts: dict[str, np.ndarray] = {}
        for name, array in self.arrays.items():
            size = sizes.get(name)
            if size is None:
                base = tokens if name == "token_features" else rows * columns
                size = base * (len(array) // base.sum() if base.sum() else 0)
            self.starts[name] = np.concatenate([[0], np.cumsum(size)])

    def item(self, index: int) -> Item:
        tokens, question, rows, columns = (int(size) for size in self.shapes[index])
        cut = {
            name: np.asarray(array[self.starts[name][index] : self.starts[name][index + 1]])
            for name, array in self.arrays.items()
        }
        inputs = Input(
            tokens=cut["tokens"],
            token_columns=cut["token_columns"],
            token_features=cut["token_features"].reshape(tokens, -1),
            question=question,
            cell_features=cut["cell_features"].reshape(rows, columns, -1),
            cell_pieces=cut["cell_pieces"].reshape(rows, columns, -1),
            links=cut["links"].reshape(rows, columns),
            rows=cut["rows"],
        )
        return Item(self.ids[index], inputs, self.goals[index])


class Corpus(Sequence[Item]):
    """The questions of every part of a folder, by place; of a folder without parts, none."""

    def __init__(self, folder: Path) -> None:
        self.parts = [_Part(part) for part in sorted(folder.glob("part-*"))]
        self.where = [(part, index) for part in self.parts for index in range(len(part.ids))]
        self.sizes = np.array([part.shapes[index][2] * part.shapes[index][3] for part, index in self.where])
        self.empty = np.array([part.goals[index].empty for part, index in self.where], bool)

    def __len__(self) -> int:
        return len(self.where)

    def __getitem__(self, index: Any) -> Any:
        part, inner = self.where[index]
        return part.item(inner)


# Making one --------------------------------------------------------------------------------------------------


def tokenizer_of(folder: Path) -> Any:
    """The tokenizer of a folder, without cutting and filling."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class Tables:
    """Tables read once, for as long as they are asked about."""

    def __init__(self, tokenizer: Any, most: int = 4_000) -> None:
        self.tokenizer = tokenizer
        self.reading: Callable[[Table], TableReading] = lru_cache(maxsize=most)(
            lambda table: read_table(table, tokenizer)
        )


def answered_items(examples: Iterable[Example], tokenizer: Any) -> Iterator[Item]:
    """Questions with gold answers: their derivations are searched for."""
    tables = Tables(tokenizer)
    for example in examples:
        table = tables.reading(example.table)
        inputs = encode_question(example.question, table, tokenizer)
        yield Item(example.id, inputs, supervise(example, table, inputs.rows))


def synthetic_items(tables: Sequence[Table], count: int, seed: int, tokenizer: Any) -> Iterator[Item]:
    """`count` questions made from tables, with the derivation by which they were made."""
    readings = Tables(tokenizer)
    for index, (table, example) in enumerate(generate_questions(tables, readings.reading, count, seed)):
        inputs = encode_question(example.question, table, tokenizer)
        goal = example.supervision(inputs.rows, table.columns)
        if goal is not None:
            yield Item(f"made-{seed}-{index}", inputs, goal)


def build_corpora(
    folder: Path,
    tokenizer_folder: Path,
    examples: Sequence[Example],
    tables: Sequence[Table],
    synthetic_count: int,
    seed: int,
    workers: int,
) -> None:
    """Make the corpora `folder`/answered and `folder`/made, or keep them where they are whole and of the same contents."""
    tokenizer = sha256((tokenizer_folder / "tokenizer.json").read_bytes()).hexdigest()
    key = [[digest(example.to_dict()) for example in examples], [table.digest() for table in tables]]
    contents = digest([*key, synthetic_count, seed, tokenizer, _code()])
    done = folder / "done.json"
    if done.exists() and json.loads(done.read_text()) == contents:
        return
    done.unlink(missing_ok=True)
    for name in ("answered", "made"):  # parts that more workers once wrote, or others of other contents
        shutil.rmtree(folder / name, ignore_errors=True)
    jobs: list[tuple[Path, Path, Sequence[Any], int, int]] = []
    parts = max(workers, 1)
    for part in range(parts):
        jobs.append((folder / "answered" / f"part-{part:02}", tokenizer_folder, examples[part::parts], 0, 0))
        share = synthetic_count // parts + (part < synthetic_count % parts)
        jobs.append(
            (folder / "made" / f"part-{part:02}", tokenizer_folder, tables, share, seed * 1000 + part)
        )
    if parts == 1:
        for job in jobs:
            _write_job(job)
    else:
        with ProcessPoolExecutor(parts, mp_context=get_context("spawn")) as pool:
            list(pool.map(_write_job, jobs))
    done.write_text(json.dumps(contents))


@cache
def _code() -> str:
    """The digest of the code that makes corpora: of this package, of the model's features, and of the library."""
    here = Path(__file__).parent
    folders = (here, here.parent / "bundled", Path(tableqa.__file__).parent)
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    return digest([sha256(file.read_bytes()).hexdigest() for file in files])


def _write_job(job: tuple[Path, Path, Sequence[Any], int, int]) -> int:
    folder, tokenizer_folder, sources, synthetic_count, seed = job
    tokenizer = tokenizer_of(tokenizer_folder)
    if folder.parent.name == "answered":
        return write_part(folder, answered_items(sources, tokenizer))
    return write_part(folder, synthetic_items(sources, synthetic_count, seed, tokenizer))
