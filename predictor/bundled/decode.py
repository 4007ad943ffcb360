"""From the network's scores to answers: each operation's likeliest answer, and a vote among equal ones.

An answer can come about in several ways (the cell that says 3, a count of three rows); their probabilities are added
up. Plain numpy: what the network gives for one question comes in, `Answer`s go out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.bundled.cell_text import DATE, NOTHING, NUMBER
from predictor.bundled.features import Input
from predictor.bundled.table_features import TableReading
from tableqa.cells import number_of

Floats = NDArray[np.float32]

OPERATIONS = (
    "select", "list", "count", "different", "sum", "average", "difference", "yes", "no", "year", "header",
    "first_option", "second_option",
)  # fmt: skip
"""What the network can do: give a cell; the texts of a column over rows; how many rows; how many different texts of a
column over rows; their sum; their average; the difference of two cells; yes; no; the year in a cell; the name of a
column; the word before or after "or" in the question."""

OUTPUTS = ("operations", "cells", "rows", "columns")
"""What the network scores, in its order; in the graph they are called operations_scores and so on."""

OP = {name: index for index, name in enumerate(OPERATIONS)}
LIST_COLUMN, SUM_COLUMN, DIFFERENT_COLUMN, HEADER_COLUMN = 0, 1, 2, 3
"""Which of the network's four scores of a column is meant."""

COLUMN_OF = {"list": LIST_COLUMN, "different": DIFFERENT_COLUMN, "sum": SUM_COLUMN, "average": SUM_COLUMN}
"""Which score of a column an operation over rows uses; "count" uses none."""

FULL_ROWS = 10
"""A choice among more rows than this weighs as much as one among this number; else long tables would never be counted."""

MOST_GROUPS = 4
_PAIRS = 8
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)")


@dataclass(frozen=True)
class Answer:
    """One way to answer: its operation, the answers, the (row, column) places of the table that it rests on, and how
    likely it is among all ways that were looked at (0 to 1)."""

    operation: str
    answers: tuple[str, ...]
    cells: tuple[tuple[int, int], ...]
    score: float


@dataclass(frozen=True)
class Balance:
    """How much the details of an operation weigh beside the choice of the operation, tuned on held-out questions.

    A choice of forty rows is a product of forty probabilities and cannot be compared with the choice of a cell as it
    is. score = log p(operation) + weight * log p(details) + bias.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    biases: Mapping[str, float] = field(default_factory=dict)

    def score(self, operation: str, choice: float, details: float) -> float:
        return choice + self.weights.get(operation, 1.0) * details + self.biases.get(operation, 0.0)

    def to_dict(self) -> dict[str, Any]:
        return {"weights": dict(self.weights), "biases": dict(self.biases)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to answer before operations are balanced: log p(operation), log p(details | operation)."""

    operation: str
    answers: tuple[str, ...]
    cells: tuple[tuple[int, int], ...]
    choice: float
    details: float


def log_softmax(scores: NDArray[Any], axis: int | None = None) -> NDArray[Any]:
    """Logarithms of the softmax over `axis`, or over everything."""
    highest = scores.max(axis=axis, keepdims=True)
    shifted = scores - highest
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def log_sigmoid(scores: NDArray[Any]) -> NDArray[Any]:
    """Logarithms of the logistic function."""
    return -np.logaddexp(0.0, -scores)


def count_probabilities(chances: NDArray[Any]) -> NDArray[np.float64]:
    """(R + 1,) how likely it is that k of R independent rows are chosen (the Poisson binomial distribution)."""
    out = np.zeros(len(chances) + 1)
    out[0] = 1.0
    for chance in chances:
        out[1:] = out[1:] * (1 - chance) + out[:-1] * chance
        out[0] *= 1 - chance
    return out


def row_weight(rows: int) -> float:
    """What the log-probability of a choice among `rows` rows is multiplied by."""
    return min(1.0, FULL_ROWS / max(rows, 1))


_OR = re.compile(r"(?<![\w'-])([\w'-]{2,}),? or (?:an? |the )?([\w'-]{2,})")


def options(question: str) -> tuple[str, str] | None:
    """The words before and after the one "or" of a question ("more or less"); None without one, or with several."""
    lower = question.lower()[:2_000]
    matches: list[tuple[str, str]] = _OR.findall(lower)
    return matches[0] if len(matches) == 1 and lower.split().count("or") == 1 else None


def candidates(
    outputs: Mapping[str, NDArray[Any]], inputs: Input, table: TableReading, question: str
) -> list[Candidate]:
    """The likeliest ways of each operation. `outputs` are the network's for this question, padding cut or not."""
    height, width = inputs.links.shape
    operations = log_softmax(outputs["operations"])
    ways = [Candidate(name, (name,), (), float(operations[OP[name]]), 0.0) for name in ("yes", "no")]
    for name, word in zip(("first_option", "second_option"), options(question) or (), strict=False):
        ways.append(Candidate(name, (word,), (), float(operations[OP[name]]), 0.0))
    if not height or not width:
        ways.append(Candidate("count", ("0",), (), float(operations[OP["count"]]), 0.0))
        return ways
    cells = log_softmax(outputs["cells"][:height, :width].reshape(-1, 3), axis=0)
    columns = log_softmax(outputs["columns"][:width], axis=0)
    rows = outputs["rows"][:height].astype(np.float64)
    named = int(columns[:, HEADER_COLUMN].argmax())
    header, choice = table.table.header[named], float(operations[OP["header"]])
    if header.strip():
        ways.append(Candidate("header", (header,), (), choice, float(columns[named, HEADER_COLUMN])))

    def add(name: str, answers: Sequence[str], places: Sequence[tuple[int, int]], details: float) -> None:
        choice = float(operations[OP[name]])
        where = tuple((int(inputs.rows[row]), int(column)) for row, column in places)
        ways.append(Candidate(name, tuple(answers), where, choice, details))

    for texts, places, details in _groups(cells[:, 0], inputs, table):
        add("select", texts, places, details)
    for texts, places, details in _years(cells[:, 0], inputs, table):
        add("year", texts, places, details)
    counts = count_probabilities(1 / (1 + np.exp(-rows)))
    for count in np.argsort(-counts, kind="stable")[:2]:
        chosen = (
            np.argsort(-rows, kind="stable")[:count]
            if count == (rows > 0).sum()
            else np.flatnonzero(rows > 0)
        )
        counted_cells = [(int(row), 0) for row in np.sort(chosen)]
        add("count", (str(int(count)),), counted_cells, float(np.log(counts[count] + 1e-30)))
    chosen = np.flatnonzero(rows > 0)
    certainty = float(log_sigmoid(np.abs(rows)).sum()) * row_weight(height)
    if len(chosen):
        _over_rows(add, chosen, columns, certainty, inputs, table)
    for texts, places, details in _differences(cells, inputs, table):
        add("difference", texts, places, details)
    return ways


def _over_rows(
    add: Any, chosen: NDArray[Any], columns: Floats, certainty: float, inputs: Input, table: TableReading
) -> None:
    """Lists, different texts, sums and averages over the rows that are likelier in than out."""
    rows = [int(row) for row in inputs.rows[chosen]]
    for name, score in COLUMN_OF.items():
        column = int(columns[:, score].argmax())
        if answers := over_rows(name, rows, column, table):
            used = [int(row) for row in chosen if _counts_in(name, int(inputs.rows[row]), column, table)]
            places = [(row, column) for row in used]
            add(name, answers, places, certainty + float(columns[column, score]))


def _counts_in(operation: str, row: int, column: int, table: TableReading) -> bool:
    """Whether a cell matters: a number for a sum or average, for the others one that says anything."""
    if operation in ("sum", "average"):
        return not np.isnan(table.numbers[row, column])
    return table.readings[row][column].normal not in NOTHING


def over_rows(operation: str, rows: Sequence[int], column: int, table: TableReading) -> tuple[str, ...]:
    """What "list", "different", "sum" or "average" of a column gives over rows of the table; () where it is nothing.

    Training asks the same function whether a derivation gives the gold answer.
    """
    used = [row for row in rows if _counts_in(operation, row, column, table)]
    if operation == "list":
        texts: dict[str, str] = {}
        for row in used:
            texts.setdefault(table.readings[row][column].normal, table.table.rows[row][column])
        return tuple(texts.values())
    if operation == "different":
        return (str(len({int(table.codes[row, column]) for row in used})),)
    values = [_exact(table, row, column) for row in used]
    if not values:
        return ()
    total = sum(values, Decimal(0))
    return (in_digits(total),) if operation == "sum" else (in_digits(total / len(values), 2),)


Group = tuple[list[str], list[tuple[int, int]], float]


def _groups(scores: Floats, inputs: Input, table: TableReading) -> list[Group]:
    """The likeliest texts: cells that say the same are added up."""
    texts: dict[int, str] = {}

    def says(row: int, column: int) -> int:
        code = int(table.codes[row, column]) + 1
        texts.setdefault(code, table.table.rows[row][column])
        return code

    return [
        ([texts[code]], places, details)
        for code, places, details in _sum_by_key(scores, inputs, says)[:MOST_GROUPS]
    ]


_CONSIDERED = 16
_SHOWN = 0.05
"""Cells of a text that are less likely than this share of its likeliest are not shown as what the answer rests on."""


def _sum_by_key(scores: Floats, inputs: Input, says: Any) -> list[tuple[Any, list[tuple[int, int]], float]]:
    """What the likeliest cells say by `says(row, column)`, with the cells and the log of their sum, likeliest first."""
    width = inputs.links.shape[1]
    chances: dict[Any, list[tuple[float, tuple[int, int]]]] = {}
    for position in np.argsort(-scores, kind="stable")[:_CONSIDERED]:
        row, column = divmod(int(position), width)
        if key := says(int(inputs.rows[row]), column):
            chances.setdefault(key, []).append((float(np.exp(scores[position])), (row, column)))
    out = []
    for key, cells in chances.items():
        likely_cells = [position for chance, position in cells if chance >= _SHOWN * cells[0][0]]
        out.append((key, likely_cells, float(np.log(sum(chance for chance, _ in cells) + 1e-30))))
    return sorted(out, key=lambda entry: -entry[2])


def year_in(text: str) -> str:
    """The year in a text that holds one and more; "" if there is none, or several, or nothing else."""
    years = set(_YEAR.findall(text[:200]))
    return years.pop() if len(years) == 1 and text.strip() not in years else ""


def _years(scores: Floats, inputs: Input, table: TableReading) -> list[Group]:
    sums = _sum_by_key(scores, inputs, lambda row, column: year_in(table.table.rows[row][column]))[:1]
    return [([year], places, details) for year, places, details in sums]


def difference(table: TableReading, first: tuple[int, int], second: tuple[int, int]) -> Decimal | None:
    """How far two cells (places of the table) are apart, dates in whole years; None where one is neither.

    A time, and a text that holds a number somewhere ("30:1", "F-14"), are no numbers.
    """
    if {int(table.kinds[first]), int(table.kinds[second])} - {NUMBER, DATE}:
        return None
    if DATE in (table.kinds[first], table.kinds[second]):
        return Decimal(abs(int(table.numbers[first]) - int(table.numbers[second])))
    return abs(_exact(table, *first) - _exact(table, *second))


def _differences(cells: Floats, inputs: Input, table: TableReading) -> list[Group]:
    width = inputs.links.shape[1]
    sums: dict[str, float] = {}
    best: dict[str, tuple[float, list[tuple[int, int]]]] = {}
    seconds = np.argsort(-cells[:, 2], kind="stable")[:_PAIRS]
    for first in np.argsort(-cells[:, 1], kind="stable")[:_PAIRS]:
        for second in seconds:
            if first == second:
                continue
            pair = [divmod(int(first), width), divmod(int(second), width)]
            whole = [(int(inputs.rows[row]), column) for row, column in pair]
            apart = difference(table, whole[0], whole[1])
            if apart is None:
                continue
            chance = float(np.exp(cells[first, 1] + cells[second, 2]))
            text = in_digits(apart)
            sums[text] = sums.get(text, 0.0) + chance
            if chance > best.get(text, (0.0, []))[0]:
                best[text] = (chance, pair)
    likeliest = sorted(sums, key=lambda text: -sums[text])[:2]
    return [([text], best[text][1], float(np.log(sums[text] + 1e-30))) for text in likeliest if text in best]


def _exact(table: TableReading, row: int, column: int) -> Decimal:
    """The number of a cell, exactly where it is written as one."""
    if table.kinds[row, column] == 1 and (number := number_of(table.table.rows[row][column])) is not None:
        return number.value
    return Decimal(repr(float(table.numbers[row, column])))


def in_digits(value: Decimal, places: int = 6) -> str:
    """A number in plain digits, at most `places` after the point, without zeros at the end."""
    if abs(value) >= Decimal(10) ** 20:
        return str(value)
    rounded = value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    text = f"{rounded:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("", "-0") else text


def combine_candidates(ways: Sequence[Candidate], balance: Balance) -> list[Answer]:
    """The answers, the likeliest first; ways to the same answer are added up and shown as the likeliest of them."""
    if not ways:
        return []
    scores = np.array([balance.score(way.operation, way.choice, way.details) for way in ways])
    chances = np.exp(scores - scores.max())
    chances /= chances.sum()
    sums: dict[tuple[str, ...], float] = {}
    best: dict[tuple[str, ...], int] = {}
    for index, way in enumerate(ways):
        key = tuple(sorted(" ".join(answer.lower().split()) for answer in way.answers))
        sums[key] = sums.get(key, 0.0) + float(chances[index])
        if key not in best or chances[index] > chances[best[key]]:
            best[key] = index
    order = sorted(sums, key=lambda key: (-sums[key], best[key]))
    return [
        Answer(ways[best[key]].operation, ways[best[key]].answers, ways[best[key]].cells, sums[key])
        for key in order
    ]
