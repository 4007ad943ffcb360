"""Arithmetic between columns of numbers, within the rounding in which they are written."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tableqa.cells import dates_of, number_of, time_of
from tableqa.data.tables import Table
from tableqa.perturbations.relations.findings import (
    Kind,
    Relation,
    column_label,
    counterexamples,
    quote_cell,
    rows_of,
)

_LEAST_ROWS = 4
"""Rows that a relation must be tested in: in fewer, any three columns of small numbers add up by chance."""

_LEAST_DIFFERENT = 3
"""Different values that the column must have, for the same reason."""

_LONGEST_SUM = 12
_SLACK = 1e-9
_RANK = re.compile(r"(?:T-?|=)? ?(\d{1,6})(?:st|nd|rd|th)?[.=]?", re.IGNORECASE)

_PERCENT = re.compile(r"%|\b(?:pct|percent|percentage|share)\b", re.IGNORECASE)

Array = Any  # numpy's arrays; numpy is imported where it is used


class _Numbers:
    """The columns of numbers as matrices: `values` (NaN where a cell is no number) and `errors`, half of the last digit.

    An integer is taken to be exact.
    """

    def __init__(self, table: Table, columns: Sequence[int]) -> None:
        import numpy as np

        self.table = table
        rows = len(table.rows)
        self.places: list[int] = []
        self.percent: list[bool] = []
        values, errors = [], []
        for j in columns:
            read = [number_of(row[j]) for row in table.rows]
            filled = sum(bool(row[j].strip()) for row in table.rows)
            count = sum(number is not None for number in read)
            if count >= _LEAST_ROWS and count >= 0.6 * filled:
                self.places.append(j)
                signs = sum(number is not None and number.unit == "%" for number in read)
                self.percent.append(signs > count / 2 or bool(_PERCENT.search(table.header[j])))
                values.append([float("nan") if n is None else float(n.value) for n in read])
                errors.append([0.0 if n is None or not n.decimals else 0.5 * 10.0**-n.decimals for n in read])
        self.count = len(self.places)
        self.values = np.array(values).reshape(self.count, rows)
        self.errors = np.array(errors).reshape(self.count, rows)
        different = [len({*row[~np.isnan(row)].tolist()}) for row in self.values]
        self.telling = np.array(different, dtype=int) >= _LEAST_DIFFERENT

    def filled(self, least: float) -> Array:
        """Which columns have this many numbers other than 0."""
        import numpy as np

        return ((self.values != 0) & ~np.isnan(self.values)).sum(axis=1) >= least

    def places_of(self, chosen: Array) -> list[int]:
        return [i for i in range(self.count) if chosen[i]]

    def name(self, i: int) -> str:
        return column_label(self.table, self.places[i])

    def column(self, i: int) -> str:
        return self.table.column_ids[self.places[i]]

    def cell(self, i: int, row: int) -> str:
        return quote_cell(self.table.rows[row][self.places[i]])


def arithmetic(table: Table, columns: Sequence[int], least: float) -> list[Relation]:
    """The arithmetic among these columns (places) that holds in at least the share `least` of the rows, one
    relation for each set of columns: the one that holds in most rows, sums before products before ratios.

    A = B + C (or more columns side by side), A = B - C, A = B x C, A = B / C and B / C x 100, A = B / (B + C), A = the share
    of B in its total, A = the total of B so far, A = the rank of B, and A = a number that grows by the same step.
    """
    import numpy as np

    if not table.rows:
        return []
    numbers = _Numbers(table, columns)
    candidates: list[Relation] = []
    with np.errstate(all="ignore"):  # what cannot be divided is not tested
        for search in (_sums_of_neighbours, _sums, _products, _ratios, _shares, _shares_of_total, _running):
            candidates += search(numbers, least)
    candidates += _ranks(table, columns, least)
    best: dict[tuple[frozenset[str], bool], Relation] = {}
    for relation in candidates:
        # A rank or a running number is another statement than a sum of the same columns.
        key = (frozenset((relation.target, *relation.sources)), relation.kind in ("rank", "running_number"))
        if key not in best or relation.share > best[key].share:
            best[key] = relation
    return list(_ties_left_open(best.values()))


# -- sums ------------------------------------------------------------------------------------------


def _sums_of_neighbours(numbers: _Numbers, least: float) -> Iterator[Relation]:
    """A = the sum of three or more columns side by side, as of gold, silver and bronze."""
    filled = numbers.filled(2)
    for start in range(numbers.count):
        total, error = numbers.values[start].copy(), numbers.errors[start].copy()
        for end in range(start + 1, min(numbers.count, start + _LONGEST_SUM)):
            total, error = total + numbers.values[end], error + numbers.errors[end]
            parts = tuple(range(start, end + 1))
            if len(parts) < 3 or not filled[start : end + 1].all():
                continue
            ok, tested = _near(numbers.values, total, numbers.errors + error)
            for target in _sufficient_rows(ok, tested, least, numbers.telling):
                if target not in parts:
                    yield _sum(numbers, target, parts, ok[target], tested[target])


def _sums(numbers: _Numbers, least: float) -> Iterator[Relation]:
    proper = numbers.telling & numbers.filled(2)
    for target in numbers.places_of(proper):
        for b in numbers.places_of(proper):
            if b == target or _equal(numbers, target, b):
                continue
            need = numbers.values[target] - numbers.values[b]
            error = numbers.errors[target] + numbers.errors[b]
            ok, tested = _near(numbers.values, need, numbers.errors + error)
            for c in _sufficient_rows(ok, tested, least, proper):
                if c > b and c != target:
                    yield _sum(numbers, target, (b, c), ok[c], tested[c])


def _sum(numbers: _Numbers, target: int, parts: tuple[int, ...], ok: Array, tested: Array) -> Relation:
    """The sum, stated for its rightmost column, the computed one: "GD = GF - GA", not "GF = GA + GD"."""
    last = max(parts)
    if target > last or len(parts) > 2:
        text = f"{numbers.name(target)} = {' + '.join(map(numbers.name, parts))}"
        return _relation(numbers, "sum", target, parts, text, ok, tested, " + ")
    other = next(part for part in parts if part != last)
    text = f"{numbers.name(last)} = {numbers.name(target)} − {numbers.name(other)}"
    return _relation(numbers, "difference", last, (target, other), text, ok, tested, " − ")


# -- products and ratios ---------------------------------------------------------------------------------


def _products(numbers: _Numbers, least: float) -> Iterator[Relation]:
    import numpy as np

    large = np.abs(numbers.values) > 1  # a product with 0 or 1 is no evidence for a product
    for b in numbers.places_of(numbers.telling):
        product = numbers.values[b] * numbers.values
        error = np.abs(numbers.values[b]) * numbers.errors + np.abs(numbers.values) * numbers.errors[b]
        for target in numbers.places_of(numbers.telling):
            ok, tested = _near(numbers.values[target], product, numbers.errors[target] + error)
            for c in _sufficient_rows(ok, tested, least, numbers.telling):
                proper = int((ok[c] & large[b] & large[c]).sum())
                # Where an operand is the rounded one, it is the column that was computed: a ratio.
                exact = numbers.errors[target].max() >= max(numbers.errors[b].max(), numbers.errors[c].max())
                if c > b and len({target, b, c}) == 3 and exact and proper >= _LEAST_ROWS:
                    text = f"{numbers.name(target)} = {numbers.name(b)} × {numbers.name(c)}"
                    yield _relation(numbers, "product", target, (b, c), text, ok[c], tested[c], " × ")


def _ratios(numbers: _Numbers, least: float) -> Iterator[Relation]:
    for b in numbers.places_of(numbers.telling):
        quotients = numbers.values[b] / numbers.values
        errors = numbers.errors[b] / abs(numbers.values[b]) + numbers.errors / abs(numbers.values)
        yield from _quotients(numbers, least, "ratio", b, quotients, abs(quotients) * errors)


def _shares(numbers: _Numbers, least: float) -> Iterator[Relation]:
    """A = B / (B + C), as of wins and losses."""
    for b in numbers.places_of(numbers.telling):
        quotients = numbers.values[b] / (numbers.values[b] + numbers.values)
        yield from _quotients(numbers, least, "share", b, quotients, 0 * quotients)


def _quotients(
    numbers: _Numbers, least: float, kind: Kind, b: int, quotients: Array, errors: Array
) -> Iterator[Relation]:
    import numpy as np

    for target in numbers.places_of(numbers.telling):
        whole = not numbers.errors[target].any()
        for factor in (1, 100):
            # A percentage without decimals is rounded; any other integer is taken to be exact.
            if whole and factor == 100 and not numbers.percent[target]:
                continue
            error = numbers.errors[target] + (0.5 if whole and factor == 100 else 0.0)
            ok, tested = _near(numbers.values[target], quotients * factor, error + errors * factor)
            for c in _sufficient_rows(ok, tested, least, numbers.telling):
                if whole and (numbers.errors[b].any() or numbers.errors[c].any()):
                    continue  # what was computed of rounded numbers would be rounded, too
                proper = ok[c] & (quotients[c] != 0)
                if whole and factor == 1:
                    proper &= np.abs(quotients[c]) > 1
                if len({target, b, c}) == 3 and proper.sum() >= max(_LEAST_ROWS, ok[c].sum() / 2):
                    names = numbers.name(b), numbers.name(c)
                    divisor = names[1] if kind == "ratio" else f"({' + '.join(names)})"
                    scale = " × 100" if factor == 100 else ""
                    text = f"{numbers.name(target)} = {names[0]} / {divisor}{scale}"
                    yield _relation(numbers, kind, target, (b, c), text, ok[c], tested[c], "")


def _shares_of_total(numbers: _Numbers, least: float) -> Iterator[Relation]:
    """A = B / the total of B: the sum of the column, or its last cell where that is the sum of the others."""
    import numpy as np

    for b in numbers.places_of(numbers.telling):
        values = numbers.values[b]
        total = np.nansum(values)
        if not np.isnan(values[-1]) and abs(np.nansum(values[:-1]) - values[-1]) <= _SLACK:
            total = values[-1]
        for factor in (1, 100):
            ok, tested = _near(numbers.values, values / total * factor, numbers.errors)
            for target in _sufficient_rows(ok, tested, least, numbers.telling):
                if target != b:
                    scale = " × 100" if factor == 100 else ""
                    text = f"{numbers.name(target)} = {numbers.name(b)} / total of {numbers.name(b)}{scale}"
                    yield _relation(
                        numbers, "share_of_total", target, (b,), text, ok[target], tested[target], ""
                    )


# -- order of rows ---------------------------------------------------------------------------------------


def _running(numbers: _Numbers, least: float) -> Iterator[Relation]:
    import numpy as np

    filled = numbers.telling & numbers.filled(max(_LEAST_ROWS, numbers.values.shape[1] / 2))
    nothing = np.zeros((numbers.count, 1), dtype=bool)
    for target in range(numbers.count):
        steps = np.diff(numbers.values[target])
        if steps.size >= _LEAST_ROWS - 1 and steps[0] and np.ptp(steps) <= _SLACK:
            direction = "grows" if steps[0] > 0 else "falls"
            text = f"{numbers.name(target)} {direction} by {abs(steps[0]):g} from row to row"
            rows = numbers.values.shape[1]
            implied_rows: tuple[str, ...] = ()
            if abs(steps[0] - 1) <= _SLACK and abs(numbers.values[target][0] - 1) <= _SLACK:
                # The rows themselves can be counted. What begins elsewhere is lost with its beginning.
                text = f"{numbers.name(target)} counts the rows: 1 in the first, 2 in the second, and so on"
                implied_rows = numbers.table.row_ids
            yield Relation("running_number", numbers.column(target), (), text, rows, rows, told=implied_rows)
        elif numbers.telling[target]:  # a running number is the running total of many things by chance
            error = numbers.errors[target][1:] + numbers.errors[target][:-1] + numbers.errors[:, 1:]
            ok, tested = _near(numbers.values[:, 1:], steps, error)
            ok, tested = np.hstack([nothing, ok]), np.hstack([nothing, tested])
            for b in _sufficient_rows(ok, tested, least, filled):
                if b != target:
                    text = f"{numbers.name(target)} = the total of {numbers.name(b)} down to the row"
                    # A total that had begun before the first row, or one after a gap, cannot be made again.
                    total = np.cumsum(numbers.values[b])
                    slack = numbers.errors[target] + np.cumsum(numbers.errors[b])
                    again, _ = _near(numbers.values[target], total, slack)
                    yield _relation(numbers, "running_total", target, (b,), text, ok[b], tested[b], "", again)


def _ranks(table: Table, columns: Sequence[int], least: float) -> Iterator[Relation]:
    """A = the rank of B; rows with equal B may share a rank or are in any order."""
    import numpy as np

    ranked = {j: _column(table, j, _rank_of) for j in columns}
    ordered = {j: _column(table, j, _order_of) for j in columns}
    for a, ranks in ranked.items():
        filled_ranks = ranks[~np.isnan(ranks)]
        if (
            filled_ranks.size < _LEAST_ROWS
            or filled_ranks.min() != 1
            or filled_ranks.max() > len(table.rows)
            or len({*filled_ranks}) < 3
        ):
            continue
        for b, values in ordered.items():
            both = ~np.isnan(ranks) & ~np.isnan(values)
            if a == b or both.sum() < _LEAST_ROWS or len({*values[both]}) < _LEAST_DIFFERENT:
                continue
            for sign, order in ((-1, "largest"), (1, "smallest")):
                among = np.sort(sign * values[both])
                low = np.searchsorted(among, sign * values, side="left") + 1
                high = np.searchsorted(among, sign * values, side="right")
                ok = both & (low <= ranks) & (ranks <= high)
                if ok.sum() >= least * both.sum():
                    text = f"{column_label(table, a)} = the rank of {column_label(table, b)} ({order} first)"
                    wrong = np.flatnonzero(both & ~ok)
                    # Who is tied shares the better rank, as is usual, or nothing tells who came first.
                    _, group = np.unique(values, return_inverse=True)
                    worst = np.zeros(len(group))
                    np.maximum.at(worst, group, np.where(np.isnan(ranks), np.inf, ranks))
                    implied_mask = ok & (ranks == low) & (worst[group] == low)
                    say = _counterexample_text(table, a, b)
                    yield Relation(
                        "rank",
                        table.column_ids[a],
                        (table.column_ids[b],),
                        text,
                        int(ok.sum()),
                        int(both.sum()),
                        counterexamples(table, map(int, wrong), say),
                        told=rows_of(table, np.flatnonzero(implied_mask).tolist()),
                        tied=rows_of(table, np.flatnonzero(ok & ~implied_mask).tolist()),
                    )


def _ties_left_open(relations: Iterable[Relation]) -> Iterator[Relation]:
    """What counts the rows and is the rank of a column as well does not tell who is tied by their place alone: the same
    rank would fit."""
    ranks: dict[str, list[Relation]] = defaultdict(list)
    relations = list(relations)
    for relation in relations:
        if relation.kind == "rank" and relation.holds == relation.of:
            ranks[relation.target].append(relation)
    for relation in relations:
        if relation.kind == "running_number" and ranks[relation.target]:
            tied = set.intersection(*(set(rank.tied) for rank in ranks[relation.target]))
            relation = replace(relation, told=tuple(row for row in relation.told if row not in tied))
        yield relation


def _counterexample_text(table: Table, a: int, b: int) -> Callable[[int], str]:
    return lambda row: (
        f"{column_label(table, a)} is {quote_cell(table.rows[row][a])}, "
        f"{column_label(table, b)} {quote_cell(table.rows[row][b])}"
    )


def _column(table: Table, j: int, read: Callable[[str], float | None]) -> Array:
    import numpy as np

    values = [read(row[j]) for row in table.rows]
    return np.array([float("nan") if value is None else value for value in values])


def _rank_of(text: str) -> float | None:
    match = _RANK.fullmatch(text.strip())
    return float(match[1]) if match else None


def _order_of(text: str) -> float | None:
    """What a column is sorted by: a number, a time in its smallest unit, a full date in days."""
    if number := number_of(text):
        return float(number.value)
    if time := time_of(text):
        seconds = 0
        for part in time.parts:
            seconds = seconds * 60 + part
        return seconds + float(time.fraction)
    for date in dates_of(text)[:1]:
        if date.precision == "day":
            return (date.year or 0) * 372 + (date.month or 0) * 31 + (date.day or 0)
    return None


# -- shared ----------------------------------------------------------------------------------------------


def _near(actual: Array, predicted: Array, error: Array) -> tuple[Array, Array]:
    """(cells that are what is predicted, cells that can be tested)."""
    import numpy as np

    tested = np.isfinite(actual) & np.isfinite(predicted)
    return (np.abs(actual - predicted) <= error * 1.000001 + _SLACK) & tested, tested


def _sufficient_rows(ok: Array, tested: Array, least: float, among: Array) -> list[int]:
    """Which rows of the matrices have a relation that holds often enough."""
    import numpy as np

    of = tested.sum(axis=1)
    return [int(i) for i in np.flatnonzero((of >= _LEAST_ROWS) & (ok.sum(axis=1) >= least * of) & among)]


def _equal(numbers: _Numbers, a: int, b: int) -> bool:
    import numpy as np

    return bool(np.nanmean(numbers.values[a] == numbers.values[b]) > 0.9)


def _relation(
    numbers: _Numbers,
    kind: Kind,
    target: int,
    sources: tuple[int, ...],
    text: str,
    ok: Array,
    tested: Array,
    sign: str,
    implied_mask: Array | None = None,
) -> Relation:
    import numpy as np

    def counterexample_text(row: int) -> str:
        if not sign:
            return ", ".join(f"{numbers.name(i)} is {numbers.cell(i, row)}" for i in (target, *sources))
        parts = sign.join(numbers.cell(i, row) for i in sources)
        return f"{parts} is not {numbers.cell(target, row)}"

    return Relation(
        kind=kind,
        target=numbers.column(target),
        sources=tuple(numbers.column(i) for i in sources),
        words=text,
        holds=int(ok.sum()),
        of=int(tested.sum()),
        counterexamples=counterexamples(
            numbers.table, map(int, np.flatnonzero(tested & ~ok)), counterexample_text
        ),
        told=rows_of(
            numbers.table,
            np.flatnonzero(ok if implied_mask is None else implied_mask & (ok | ~tested)).tolist(),
        ),
    )
