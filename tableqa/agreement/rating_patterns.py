"""Ratings collapsed to distinct patterns and their counts: how many raters chose which category of a unit.

A measure depends on a unit only through its pattern, and there are few: ten for three raters and three categories, be it a
thousand units or a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tableqa.agreement.measures import MEASURES, SET_MEASURES, WITH_ORDER, WITH_SINGLE
from tableqa.agreement.pseudo_units import AGREEING, BY_CHANCE, pseudo_units

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Ratings: TypeAlias = Sequence[Sequence[object]] | Array

# Beyond these many possible rows of codes a table of all of them would cost more than sorting those that occur.
_TABLE = 1 << 20


@dataclass(frozen=True)
class Patterns:
    """Distinct patterns in a canonical order, as cells (pattern, category, ratings) of a sparse matrix.

    The order depends on the multiset of patterns only: the seeded draws, and with them the interval, are therefore the
    same whatever the order of units and raters, and whether ratings or counted patterns were passed.
    """

    counts: Array  # (P,) units with the pattern
    sizes: Array  # (P,) ratings in the pattern
    starts: Array  # (P,) first cell of the pattern
    pattern: Array  # (C,) the pattern of a cell
    category: Array  # (C,) its category, from 0 in rank order
    ratings: Array  # (C,) how many raters chose it
    values: Array | None  # (K,) the numbers behind the categories, at the interval level
    apart: Array | None  # (K, K) how far two categories are apart, where they are sets
    scale: int  # categories that there could have been, for AC1
    which: Array  # of each row that entered, its pattern


def patterns_of_ratings(
    ratings: Ratings, measure: str, order: Sequence[object] | None
) -> tuple[Patterns, int]:
    """The patterns of units x raters, and how many raters have a rating; ValueError."""
    check_request(measure, order)
    if hasattr(ratings, "columns"):
        columns = ", ".join(map(str, ratings.columns))
        raise ValueError(
            f"A data frame needs item=, rater= and label=, three of its columns ({columns}). If it has a row for each unit "
            "and a column for each rater, pass frame.to_numpy()."
        )
    codes, categories = _coded(ratings)
    rows, counts = _collapsed(codes, len(categories))
    return _canonical(rows, counts, categories, measure, order), int((rows > 0).any(axis=0).sum())


def patterns_of_counts(
    patterns: Sequence[Sequence[object]],
    counts: Sequence[int] | Array,
    measure: str,
    order: Sequence[object] | None,
) -> tuple[Patterns, int]:
    """The patterns of units that a database has counted, and the most ratings of one; ValueError."""
    import numpy as np

    check_request(measure, order)
    weights = np.asarray(counts)
    if weights.shape != (len(patterns),) or (weights.size and weights.dtype.kind not in "iu"):
        raise ValueError(f"counts has to hold one whole number for each of the {len(patterns)} patterns.")
    if weights.size and weights.min() < 0:
        raise ValueError("counts holds a negative number; a pattern occurs zero times or more.")
    unpadded = as_rows(patterns)
    width = max(map(len, unpadded), default=0)
    padded = [[*pattern, *[None] * (width - len(pattern))] for pattern in unpadded]
    codes, categories = _coded_objects(padded)
    nonzero = weights > 0
    rows = codes[nonzero]
    widest = int((rows > 0).sum(axis=1).max(initial=0))
    return _canonical(rows, weights[nonzero].astype(np.int64), categories, measure, order), widest


def check_request(measure: str, order: Sequence[object] | None) -> None:
    """ValueError for an unknown measure, and for an order that a measure has no use for."""
    if measure not in (*MEASURES, *SET_MEASURES):
        raise ValueError(
            f"measure is {measure!r}; it must be one of {', '.join((*MEASURES, *SET_MEASURES))}."
        )
    if order is not None and measure not in WITH_ORDER:
        raise ValueError(f"order is for the ordinal level only (and AC1); {measure} has no use for it.")


def _coded(ratings: Ratings) -> tuple[Array, list[object]]:
    """Ratings as small whole numbers, 0 where missing and else 1 + the position in the list of categories returned."""
    import numpy as np

    if hasattr(ratings, "__array__"):
        array = ratings if isinstance(ratings, np.ma.MaskedArray) else np.asarray(ratings)
    else:
        # A list of rows becomes an array only if it is all numbers: numpy would turn ["a", nan] into the word "nan".
        rows = as_rows(ratings)
        try:
            array = np.asarray(rows)
        except (ValueError, OverflowError):
            return _coded_objects(rows)
        if array.dtype.kind not in "biuf" or array.ndim != 2:
            return _coded_objects(rows)
        # numpy makes floats of whole numbers beside None or above 2**63: of large ones several would be one.
        if array.dtype.kind == "f" and (np.abs(array) >= 2.0**53).any():
            return _coded_objects(rows)
    if array.ndim != 2:
        raise ValueError(f"ratings has {array.ndim} dimension(s); it has two, units x raters.")
    if array.size == 0:
        return np.zeros(array.shape, np.int8), []
    if array.dtype.kind in "biuf" and (coded := _coded_numbers(array)):
        return coded
    if array.dtype.kind not in "biufUS":
        return _coded_objects(as_rows(array))
    values = np.ma.getdata(array)
    present, inverse = np.unique(values, return_inverse=True)
    codes = (inverse.reshape(values.shape) + 1).astype(np.int32)
    if array.dtype.kind == "f":
        codes[np.isnan(values)] = 0
        present = present[~np.isnan(present)]
    codes[np.ma.getmaskarray(array)] = 0
    return codes, present.tolist()


def ratings_of_frame(frame: Any, item: str | None, rater: str | None, label: str | None) -> Ratings:
    """Units x raters of a data frame with a row for each rating; None where a rater has none of a unit.

    ValueError for a name that is not a column, and for two ratings of one item by one rater.
    """
    columns = [str(name) for name in frame.columns]
    if missing := [name for name in (item, rater, label) if name not in columns]:
        raise ValueError(
            f"item, rater and label must be columns of the frame ({', '.join(columns)}), not {missing[0]!r}."
        )
    labels: dict[tuple[object, object], object] = {}
    for unit, person, value in zip(frame[item], frame[rater], frame[label], strict=True):
        if (unit, person) in labels:
            raise ValueError(
                f"{item} {unit!r} has two ratings by {rater} {person!r}. Keep one, for example with "
                f"frame.drop_duplicates([{item!r}, {rater!r}], keep='last')."
            )
        labels[unit, person] = value
    units, raters = (dict.fromkeys(key[side] for key in labels) for side in (0, 1))
    return [[labels.get((unit, person)) for person in raters] for unit in units]


def as_rows(ratings: Ratings) -> list[Sequence[object]]:
    """Ratings as rows of Python objects; what a mask hides is None."""
    import numpy as np

    if hasattr(ratings, "__array__"):
        array = ratings if isinstance(ratings, np.ma.MaskedArray) else np.asarray(ratings)
        return cast("list[Sequence[object]]", array.tolist())
    rows = list(ratings)
    for row in rows:
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or not hasattr(row, "__iter__"):
            raise ValueError(f"A unit is {row!r}; it has to be a row with one rating for each rater.")
    return rows


def _coded_numbers(array: Array) -> tuple[Array, list[object]] | None:
    """The quick way for whole numbers within a narrow range, however they are stored; None where it does not apply."""
    import numpy as np

    values = np.ma.getdata(array)
    real = values.dtype.kind == "f"
    ends = (np.fmin, np.fmax) if real else (np.minimum, np.maximum)
    low, high = (end.reduce(values, axis=None).item() for end in ends)
    # Beyond 2**52 neighbouring floats are not a half apart, so that neither test nor shift would be exact.
    if not -(2.0**52) < low <= high < 2.0**52 or low != np.floor(low) or high - low >= 1 << 14:
        return None
    lowest, span = int(low), int(high) - int(low) + 1
    small = np.int8 if span < 127 else np.int16
    codes = np.empty(values.shape, small)
    # In blocks that stay in the processor's cache: the passes below then cost little more than one.
    step = max(1, (1 << 16) // values.shape[1])
    for start in range(0, len(values), step):
        block = values[start : start + step]
        if real:
            shifted = np.nan_to_num(np.subtract(block, lowest - 1, dtype=np.float64), copy=False, nan=0.0)
            whole = shifted.astype(small)
            if not (whole == shifted).all():
                return None
            codes[start : start + step] = whole
        else:
            codes[start : start + step] = block.astype(np.int64) - (lowest - 1)
    if isinstance(array, np.ma.MaskedArray):
        codes[np.ma.getmaskarray(array)] = 0
    convert = float if real else int
    return codes, [convert(lowest + step) for step in range(span)]


def _coded_objects(rows: Sequence[Sequence[object]]) -> tuple[Array, list[object]]:
    """Codes of arbitrary labels, compared as in a dictionary, in the order of `sort_key`."""
    import numpy as np

    width = len(rows[0]) if rows else 0
    seen: dict[object, int] = {None: 0}
    codes = np.zeros((len(rows), width), np.int32)
    for unit, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(
                f"Unit {unit} has {len(row)} columns and unit 0 has {width}: one column for each rater."
            )
        try:
            codes[unit] = [seen[value] if value in seen else _new_code(seen, value) for value in row]
        except TypeError as error:
            raise ValueError(f"Unit {unit} holds a rating that cannot be a label: {error}.") from error
    labels = list(seen)[1:]
    ranked = sorted(range(len(labels)), key=lambda index: sort_key(labels[index]))
    recoded = np.zeros(len(labels) + 1, np.int32)
    recoded[[index + 1 for index in ranked]] = np.arange(1, len(labels) + 1)
    return recoded[codes], [labels[index] for index in ranked]


def _new_code(seen: dict[object, int], value: object) -> int:
    if is_missing(value):
        return 0
    return seen.setdefault(value, len(seen))


def is_missing(value: object) -> bool:
    """None, NaN, NaT and pandas' NA, which refuses to be compared."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def sort_key(value: object) -> tuple[int, Any, str]:
    """An order of categories that no run, platform or order of the ratings can change (a set's `repr` does change)."""
    if isinstance(value, Real):
        return (0, value, "")
    if isinstance(value, str):
        return (1, str(value), "")
    if isinstance(value, frozenset):
        return (2, type(value).__name__, repr(sorted(map(repr, value))))
    return (2, type(value).__name__, repr(value))


def _collapsed(codes: Array, categories: int) -> tuple[Array, Array]:
    """Distinct rows of codes and their counts where a table of all possible rows is small; else the rows as they are."""
    import numpy as np

    base, width = categories + 1, codes.shape[1]
    if width == 0 or base**width > _TABLE:
        return codes, np.ones(len(codes), np.int64)
    key = codes[:, 0].astype(np.int32)
    for column in range(1, width):
        key *= base
        key += codes[:, column]
    table = np.bincount(key)
    keys = np.flatnonzero(table)
    return keys[:, None] // base ** np.arange(width)[::-1] % base, table[keys]


def _canonical(
    rows: Array, counts: Array, categories: list[object], measure: str, order: Sequence[object] | None
) -> Patterns:
    import numpy as np

    # Alpha and percent agreement take nothing from a unit with a single rating; Fleiss' and Gwet's expected agreement does.
    least = 1 if measure in WITH_SINGLE else 2
    entering = (rows > 0).sum(axis=1) >= least
    rows, counts = rows[entering], counts[entering]
    used = np.flatnonzero(np.bincount(rows.ravel(), minlength=len(categories) + 1)[1:])
    labels = [categories[index] for index in used]
    ranked, values = in_rank_order(labels, measure, order)
    recoded = np.zeros(len(categories) + 1, np.int64)
    recoded[used[ranked] + 1] = np.arange(1, len(labels) + 1)
    rows = np.sort(recoded[rows], axis=1)
    # Missing ratings sort first and fill the leading columns; what stays is as wide as the most ratings of a unit.
    rows = rows[:, (rows > 0).any(axis=0)]
    base = len(labels) + 1
    _, first, which = np.unique(_row_keys(rows, base), return_index=True, return_inverse=True)
    rows, counts = rows[first], np.bincount(which, weights=counts, minlength=len(first)).astype(np.int64)

    pattern, category, ratings = _cells(rows - 1, len(labels))
    return Patterns(
        counts=counts,
        sizes=(rows > 0).sum(axis=1),
        starts=np.searchsorted(pattern, np.arange(len(rows))),
        pattern=pattern,
        category=category,
        ratings=ratings,
        values=values,
        apart=_apart(labels, measure) if measure in SET_MEASURES else None,
        scale=max(len(order or ()), len(labels)),
        which=which,
    )


def with_pseudo_units(patterns: Patterns, measure: str, seed: int) -> Patterns:
    """The patterns and those of `pseudo_units`, with weights as counts; a pattern can be there twice."""
    import numpy as np

    # Where all chose one category, others could have been chosen.
    categories = max(2, int(patterns.category.max()) + 1)
    paired = np.unique(patterns.sizes[patterns.sizes > 1])
    if measure == "percent_agreement":
        # A mean of shares: on half of the unit all ratings agree, on half none do.
        categories = max(categories, int(paired[-1]))
        rows = np.array([np.zeros(paired[-1], np.int64), np.arange(paired[-1])])
        weights = np.array([AGREEING, BY_CHANCE])
    else:
        rows, weights = pseudo_units(categories, paired.tolist(), seed)
    pattern, category, ratings = _cells(rows, categories)
    return replace(
        patterns,
        counts=np.concatenate([patterns.counts, weights]),
        sizes=np.concatenate([patterns.sizes, (rows >= 0).sum(axis=1)]),
        starts=np.concatenate(
            [patterns.starts, len(patterns.pattern) + np.searchsorted(pattern, np.arange(len(rows)))]
        ),
        pattern=np.concatenate([patterns.pattern, len(patterns.counts) + pattern]),
        category=np.concatenate([patterns.category, category]),
        ratings=np.concatenate([patterns.ratings, ratings]),
    )


def _cells(rows: Array, categories: int) -> tuple[Array, Array, Array]:
    """Of rows of category numbers, -1 where missing: row, category and number of ratings of each cell, by row."""
    import numpy as np

    keys, ratings = np.unique(
        (np.arange(len(rows))[:, None] * categories + rows)[rows >= 0], return_counts=True
    )
    return keys // categories, keys % categories, ratings


MOST_SETS = 4096
"""Distinct sets that a set-valued alpha compares with one another: 128 MB of distances."""


def _apart(labels: list[object], measure: str) -> Array | None:
    """The distances between all sets that were chosen (`set_distances`); None where they are more than `MOST_SETS`."""
    import numpy as np
    from scipy.sparse import csr_array

    if odd := [label for label in labels if not isinstance(label, frozenset)]:
        raise ValueError(f"A set-valued alpha needs frozensets of labels; {odd[0]!r} is none.")
    if len(labels) > MOST_SETS:
        return None
    sets = cast("list[frozenset[object]]", labels)
    sizes = np.array([len(each) for each in sets], dtype=float)
    index_of: dict[object, int] = {}
    members = [index_of.setdefault(member, len(index_of)) for each in sets for member in each]
    rows = np.repeat(np.arange(len(sets)), sizes.astype(int))
    chosen = csr_array(
        (np.ones(len(rows)), (rows, np.array(members, dtype=int))), shape=(len(sets), max(1, len(index_of)))
    )
    common = (chosen @ chosen.T).toarray()
    union = np.maximum(sizes[:, None] + sizes - common, 1)
    weight: Any = 1
    if measure.endswith("_masi"):
        smaller = np.minimum(sizes[:, None], sizes)
        weight = np.where(common == union, 1, np.where(common == smaller, 2 / 3, 1 / 3))
    distances = 1 - common / union * weight
    np.fill_diagonal(distances, 0)
    return cast("Array", distances)


def in_rank_order(
    labels: list[object], measure: str, order: Sequence[object] | None
) -> tuple[list[int], Array | None]:
    """The positions of the labels from low to high, and the numbers of the interval level."""
    import math

    import numpy as np

    as_they_are = list(range(len(labels)))
    if measure == "krippendorff_alpha_interval":
        if odd := [label for label in labels if not isinstance(label, Real) or not math.isfinite(label)]:
            raise ValueError(f"The interval level needs finite numbers; {odd[0]!r} is none.")
        amounts = cast("list[int | float]", labels)
        # Distances count alone: large whole numbers become floats as what they are above the lowest.
        if any(isinstance(label, int) and abs(label) >= 2**53 for label in amounts):
            lowest = Fraction(min(amounts))
            amounts = [float(Fraction(label) - lowest) for label in amounts]
        return as_they_are, np.array(amounts, dtype=float)
    if measure in WITH_ORDER:
        if order is not None:
            rank = {category: index for index, category in enumerate(order)}
            if len(rank) != len(order):
                raise ValueError("order names a category twice.")
            if odd := [label for label in labels if label not in rank]:
                raise ValueError(f"order lacks the category {odd[0]!r}.")
            return sorted(as_they_are, key=lambda index: rank[labels[index]]), None
        odd = [label for label in labels if not isinstance(label, Real)]
        if odd and measure != "gwet_ac1":
            raise ValueError(
                f"{odd[0]!r} is no number: the ordinal level needs order=, the categories from low to high."
            )
    return as_they_are, None


def _row_keys(rows: Array, base: int) -> Array:
    """One whole number for each row, equal for equal rows and ordered as the rows are."""
    import numpy as np

    key = np.zeros(len(rows), np.int64)
    top = 1  # every key is below it
    for column in range(rows.shape[1]):
        if top * base >= 1 << 62:
            present, key = np.unique(key, return_inverse=True)
            top = len(present)
        key = key * base + rows[:, column]
        top *= base
    return key
