"""Annotation artifacts: answers, evidence and edits in few places, questions of one template.

    concentration(answers, top=3)                   # answers on few values
    places([(evidence_rows, table_rows), ...])      # evidence, answers or edits on the first three or last two rows
    openings(questions)                             # "how many ..." again and again
    edit_sizes([1, 1, 4, 2])
    templates({person: questions})                  # one person's template

Pure functions over plain data. Every share is a `Proportion`: hits of n, with Wilson's interval. A response counts once,
however many cells it has. Where several are of one item, `groups` says so, and intervals are over items: responses to one
item are not independent (`tableqa.statistics.clustered_intervals`). Next to a share is, where there is
one, what chance would give: in tables of five rows everything is in the first three or the last two.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, log
from typing import TYPE_CHECKING, Any

from tableqa.statistics.clustered_intervals import proportion_over
from tableqa.statistics.proportions import Proportion, proportion

if TYPE_CHECKING:
    import numpy as np

FIRST, LAST = 3, 2


@dataclass(frozen=True, slots=True)
class Concentration:
    """How values are spread.

    n, distinct   values, and different ones
    groups        how many groups the values are of
    top           the commonest (value, share of all), the most frequent first
    top_share     of the values in `top` together
    entropy       in bits, with the correction of Miller and Madow (1955) for values not seen yet
    normalised    entropy over that of n different values: 1 where all differ, 0 where all are one; None of fewer than two
    low, high     its 95 % bootstrap interval over the groups; None with `normalised`, and of one group
    """

    n: int
    groups: int
    distinct: int
    top: tuple[tuple[Hashable, Proportion], ...]
    top_share: Proportion
    entropy: float
    normalised: float | None
    low: float | None
    high: float | None


def concentration(
    values: Iterable[Hashable],
    top: int = 3,
    groups: Iterable[Hashable] | None = None,
    *,
    replicates: int = 1000,
    seed: int = 0,
) -> Concentration:
    """How far answers (or any values) pile up on few. Values are compared as they are: canonical forms come from outside.

    groups: as for `places`. The interval of the normalised entropy is that of a bootstrap over the groups, moved so that its
    middle is the value: drawing with replacement always loses some values, so that all draws lie too low by about as much.
    It reaches at least as far as that of independent values. Raises ValueError for a `top` below 1.
    """
    if top < 1:
        raise ValueError(f"top is {top}; it must be 1 or more.")
    every = list(values)
    owners: list[Hashable] = list(range(len(every))) if groups is None else list(groups)
    clusters: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for value, owner in zip(every, owners, strict=True):
        clusters[owner][value] += 1
    counted = Counter(every)
    n = len(every)
    commonest = sorted(counted.items(), key=lambda entry: (-entry[1], str(entry[0])))[:top]
    normalised = low = high = None
    if n > 1:
        normalised = _entropy(counted.values(), n) / log(n, 2)
    if normalised is not None and replicates and len(clusters) > 1:
        low, high = _entropy_interval(list(counted.values()), normalised, replicates, seed)
        if len(clusters) < n:
            wider = _entropy_interval_over(list(clusters.values()), normalised, replicates, seed)
            low, high = min(low, wider[0]), max(high, wider[1])
    commonest_values = {value for value, _ in commonest}
    corrected = _entropy(counted.values(), n) + (len(counted) - 1) / (2 * n * log(2)) if n else 0.0
    return Concentration(
        n=n,
        groups=len(clusters),
        distinct=len(counted),
        top=tuple((value, _share([value == other for other in every], owners)) for value, _ in commonest),
        top_share=_share([value in commonest_values for value in every], owners),
        entropy=corrected,
        normalised=normalised,
        low=low,
        high=high,
    )


def _entropy(counts: Iterable[int], n: int) -> float:
    # Sorted, so that the order of the values cannot change the last digit.
    return max(0.0, -sum(count / n * log(count / n, 2) for count in sorted(counts)))


def _entropy_interval(counts: list[int], value: float, replicates: int, seed: int) -> tuple[float, float]:
    import numpy as np

    n = sum(counts)
    ordered = np.array(sorted(counts, reverse=True))
    generator = np.random.default_rng(seed)
    drawn = []
    step = max(1, (1 << 21) // len(ordered))
    for done in range(0, replicates, step):
        shares = generator.multinomial(n, ordered / n, size=min(step, replicates - done)) / n
        logs = np.log2(np.where(shares > 0, shares, 1))
        drawn.append(-(shares * logs).sum(axis=1) / np.log2(n))
    return _centred(np.concatenate(drawn), value)


def _entropy_interval_over(
    clusters: Sequence[Mapping[Hashable, int]], value: float, replicates: int, seed: int
) -> tuple[float, float]:
    """The same where whole clusters (value -> count) are drawn. Values of few clusters make a sparse matrix."""
    import numpy as np
    from scipy.sparse import csr_array

    alike = Counter(tuple(sorted(cluster.items(), key=lambda entry: str(entry[0]))) for cluster in clusters)
    ordered = sorted(alike, key=str)
    columns: dict[Hashable, int] = {}
    entries = [
        (count, row, columns.setdefault(key, len(columns)))
        for row, cluster in enumerate(ordered)
        for key, count in cluster
    ]
    counts, row_numbers, column_numbers = (np.array(values) for values in zip(*entries, strict=True))
    matrix = csr_array((counts, (row_numbers, column_numbers)), shape=(len(ordered), len(columns)))
    shares = np.array([alike[cluster] for cluster in ordered]) / len(clusters)
    generator = np.random.default_rng(seed)
    entropies = []
    step = max(1, (1 << 21) // max(matrix.shape))
    for done in range(0, replicates, step):
        drawn = generator.multinomial(len(clusters), shares, size=min(step, replicates - done)) @ matrix
        totals = drawn.sum(axis=1, keepdims=True)
        parts = drawn / totals
        entropy = -(parts * np.log2(np.where(parts > 0, parts, 1))).sum(axis=1)
        entropies.append(entropy / np.log2(np.maximum(totals[:, 0], 2)))
    return _centred(np.concatenate(entropies), value)


def _centred(draws: "np.ndarray[Any, Any]", value: float) -> tuple[float, float]:
    """The ends of the draws, moved so that their middle is the value."""
    import numpy as np

    lower, middle, upper = map(float, np.quantile(draws, [0.025, 0.5, 0.975]))
    return max(0.0, value + lower - middle), min(1.0, value + upper - middle)


@dataclass(frozen=True, slots=True)
class Places:
    """Where rows are in their tables; `by_chance` is the mean over responses of what rows drawn at random would give.

    first, last, ends   those whose rows are all among the first three, all among the last two, all among either
    n, groups           those that count, with a row and a table of more than five; and of how many groups they are
    short, without      left out: of tables of at most five rows, which say nothing; without any row
    """

    n: int
    groups: int
    first: Proportion
    first_by_chance: float | None
    last: Proportion
    last_by_chance: float | None
    ends: Proportion
    ends_by_chance: float | None
    short: int
    without: int


def places(items: Iterable[tuple[Collection[int], int]], groups: Iterable[Hashable] | None = None) -> Places:
    """Whether evidence, answers or edits keep to the first three and last two rows, where a cut table still has them.

    items: for each its row numbers from 0 and the number of rows of its table; groups: what each belongs to, such as the
    item of a response (None: each to itself). Raises ValueError for a row that its table does not have.
    """
    hits: dict[str, list[bool]] = {"first": [], "last": [], "ends": []}
    chance = {"first": 0.0, "last": 0.0, "ends": 0.0}
    counted: list[Hashable] = []
    short = without = 0
    for (rows, height), group in zip(
        items, itertools.count() if groups is None else groups, strict=groups is not None
    ):
        chosen = set(rows)
        if odd := [row for row in chosen if not 0 <= row < height]:
            raise ValueError(f"Row {odd[0]} is not in a table of {height} rows.")
        if not chosen:
            without += 1
        elif height <= FIRST + LAST:
            short += 1
        else:
            counted.append(group)
            first, last = set(range(FIRST)), set(range(height - LAST, height))
            for name, among in (("first", first), ("last", last), ("ends", first | last)):
                hits[name].append(chosen <= among)
                chance[name] += comb(len(among), len(chosen)) / comb(height, len(chosen))
    n = len(counted)
    expected = {name: total / n if n else None for name, total in chance.items()}
    return Places(
        n=n,
        groups=len(set(counted)),
        first=_share(hits["first"], counted),
        first_by_chance=expected["first"],
        last=_share(hits["last"], counted),
        last_by_chance=expected["last"],
        ends=_share(hits["ends"], counted),
        ends_by_chance=expected["ends"],
        short=short,
        without=without,
    )


def _share(hits: Sequence[bool], groups: Sequence[Hashable]) -> Proportion:
    """The share of hits, with its interval over groups."""
    clusters: defaultdict[Hashable, list[bool]] = defaultdict(list)
    for hit, group in zip(hits, groups, strict=True):
        clusters[group].append(hit)
    return proportion_over((sum(cluster), len(cluster)) for cluster in clusters.values())


def openings(
    questions: Iterable[str], length: int = 2, top: int = 10, groups: Iterable[Hashable] | None = None
) -> Concentration:
    """How questions begin: their first words in lower case without punctuation, such as "how many".

    groups: as for `places`.
    """
    if length < 1:
        raise ValueError(f"length is {length}; it must be 1 or more.")
    begun = (" ".join(re.findall(r"\w+(?:['’]\w+)*", question.casefold())[:length]) for question in questions)
    return concentration(begun, top, groups)


@dataclass(frozen=True, slots=True)
class EditSizes:
    """How many net operations edits have: `counts` (size, share of all), smallest first; the mean with its interval.

    n, groups   edits, and of how many groups they are
    """

    n: int
    groups: int
    counts: tuple[tuple[int, Proportion], ...]
    median: float | None
    mean: float | None
    low: float | None
    high: float | None


def edit_sizes(
    sizes: Iterable[int], groups: Iterable[Hashable] | None = None, *, replicates: int = 1000, seed: int = 0
) -> EditSizes:
    """The sizes of edits, in net operations or cells. groups: as for `places`. Raises ValueError for a size below 0."""
    import numpy as np

    every = list(sizes)
    if any(size < 0 for size in every):
        raise ValueError("An edit has a size below 0.")
    if not every:
        return EditSizes(0, 0, (), None, None, None, None)
    owners: list[Hashable] = list(range(len(every))) if groups is None else list(groups)
    sums: Counter[Hashable] = Counter()
    for size, owner in zip(every, owners, strict=True):
        sums[owner] += size
    edits = Counter(owners)
    low = high = None
    if replicates and len(edits) > 1:
        alike = Counter((sums[owner], edits[owner]) for owner in edits)
        ordered = sorted(alike)
        counts = np.array([alike[pair] for pair in ordered])
        drawn = np.random.default_rng(seed).multinomial(len(edits), counts / len(edits), replicates)
        totals = drawn @ np.array(ordered)
        low, high = map(float, np.quantile(totals[:, 0] / totals[:, 1], [0.025, 0.975]))
    return EditSizes(
        n=len(every),
        groups=len(edits),
        counts=tuple((size, _share([size == own for own in every], owners)) for size in sorted(set(every))),
        median=float(np.median(every)),
        mean=float(np.mean(every)),
        low=low,
        high=high,
    )


@dataclass(frozen=True, slots=True)
class Template:
    """One person's commonest template and how much of their work is in it; `of_others` is its share among all others."""

    person: str
    mould: str
    share: Proportion
    of_others: Proportion
    stands_out: bool


def question_template(question: str) -> str:
    """What is left of a question without its particulars: numbers are #, quoted and capitalised words after the first _."""
    text = re.sub(r"[\"“”«»][^\"“”«»]*[\"“”«»]", " _ ", question)
    words = re.findall(r"[^\W_]+(?:['’.,-][^\W_]+)*|_", text)
    parts: list[str] = []
    for index, word in enumerate(words):
        if re.search(r"\d", word):
            plain = "#"
        elif word == "_" or (index and word[0].isupper()):
            plain = "_"
        else:
            plain = word.casefold()
        if not (plain == "_" and parts and parts[-1] == "_"):
            parts.append(plain)
    return " ".join(parts)


def templates(questions: Mapping[str, Sequence[str]], least: int = 10) -> tuple[Template, ...]:
    """The commonest template of each person with at least `least` questions, sorted by person.

    It stands out where at least three of the person's questions are in it and their share is above that of all
    else, beyond both intervals.
    """
    moulds = {
        person: Counter(map(question_template, person_questions))
        for person, person_questions in questions.items()
    }
    everybody: Counter[str] = sum(moulds.values(), Counter())
    total = sum(everybody.values())
    person_templates = []
    for person in sorted(moulds):
        n = sum(moulds[person].values())
        if n < least or not n:
            continue
        commonest = max(moulds[person], key=lambda candidate: (moulds[person][candidate], candidate))
        times = moulds[person][commonest]
        own = proportion(times, n)
        others = proportion(everybody[commonest] - times, total - n)
        beyond = others.high is not None and (own.low or 0.0) > others.high
        person_templates.append(Template(person, commonest, own, others, times >= 3 and beyond))
    return tuple(person_templates)
