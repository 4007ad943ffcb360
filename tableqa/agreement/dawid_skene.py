"""How reliable each annotator is, and what each item most likely is, from their labels alone: the model of Dawid and Skene.

    found = dawid_skene(rows)                       # rows: (item, person, label); a person may be missing or come twice
    found.people["P1"].accuracy, found.people["P1"].confusion
    found.posterior["item 7"], found.best("item 7")

No annotator's answers are the truth. The model says: every item has one true class, drawn from a prior; a person who
sees an item of class j gives label k with their own probability, for every item (their row j of a confusion matrix).
Expectation maximisation finds the matrices and the classes together. It starts from the shares of the labels of each
item, so the result is deterministic.

What it cannot see: mistakes that all make alike, and items that are harder than others. Two annotators alone cannot
be told apart either: their labels say how often they agree, not who of them is right where they differ. So a person is
estimated only as one of a linked triple, three people of whom each two labelled an item in common. Without any triple the
fit is refused.

Sources:
  Dawid, A. P. and Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm. Journal
    of the Royal Statistical Society C 28(1), 20-28.
  Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a general approach.
    Statistics in Medicine 27(10), 1693-1702.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from tableqa.statistics.proportions import wilson

TOLERANCE = 1e-6
"""The largest change of a posterior below which the iterations stop."""


@dataclass(frozen=True, slots=True)
class Person:
    """What the labels say about one annotator.

    labels     how many labels they gave
    linked     whether they belong to a linked triple; if not, `accuracy` and `confusion` say nothing about this person
    accuracy   how likely their next label is right: the diagonal of `confusion` weighted by the prior
    low, high  95 % interval of `accuracy`, given the classes that the model finds (`_interval`)
    confusion  row j: how likely they give each label to an item of class j; rows sum to 1
    seen       how many of their labels are of items of each class; expected numbers, which sum to `labels`
    """

    labels: int
    linked: bool
    accuracy: float
    low: float
    high: float
    confusion: tuple[tuple[float, ...], ...]
    seen: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The model fitted to a set of labels; `classes` orders every row and column.

    prior       how frequent each class is
    people      each annotator
    posterior   for each item how likely each class is
    converged   whether the iterations came to rest; if not, the numbers are those of the last one
    log_likelihood of the labels under the model, natural logarithm
    """

    classes: tuple[Hashable, ...]
    prior: tuple[float, ...]
    people: Mapping[str, Person]
    posterior: Mapping[Hashable, tuple[float, ...]]
    converged: bool
    iterations: int
    log_likelihood: float
    smoothing: float

    def best(self, item: Hashable) -> Hashable:
        """The likeliest class of an item; of equally likely ones the first. Raises KeyError for an unknown item."""
        likely = self.posterior[item]
        return self.classes[likely.index(max(likely))]


def dawid_skene(
    rows: Iterable[tuple[Hashable, str, Hashable]],
    *,
    classes: Sequence[Hashable] | None = None,
    smoothing: float = 0.5,
    iterations: int = 1000,
) -> Estimate:
    """Fit the model to (item, person, label) in any order.

    classes: all labels there could be, in the order wanted; without it those that were given, sorted by type and name.
    smoothing: labels that are added to each cell of each confusion matrix, which keeps a person with few labels from being
    declared perfect or hopeless; 0 is the plain maximum of the likelihood, as in the paper. iterations: at most so many.

    Raises ValueError without any linked triple of people, for a label that `classes` lacks, and for a smoothing below 0.
    """
    import numpy as np

    if not 0 <= smoothing < float("inf"):
        raise ValueError(f"smoothing is {smoothing}; it must be 0 or more.")
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}; it must be 1 or more.")
    ratings = list(rows)
    items = _numbered(row[0] for row in ratings)
    people = _numbered(row[1] for row in ratings)
    linked = linked_triples(ratings)
    if not linked:
        raise ValueError(
            "No three annotators share items with each other. Two alone cannot be told apart: their labels do not say "
            "who is right where they differ. Have a third annotator label the same items."
        )
    listed = _classes({row[2] for row in ratings}, classes)
    code = {label: index for index, label in enumerate(listed)}
    item = np.array([items[row[0]] for row in ratings])
    person = np.array([people[row[1]] for row in ratings])
    label = np.array([code[row[2]] for row in ratings])

    fitted = _fit(item, person, label, len(items), len(people), len(listed), smoothing, iterations)
    posterior, prior, confusion, converged, done, likelihood = fitted
    accuracy = np.einsum("pjj,j->p", confusion, prior)
    labels = np.bincount(person, minlength=len(people))
    seen = np.zeros((len(people), len(listed)))
    ordered = np.lexsort((item, person))  # sums that the order of the rows does not change
    np.add.at(seen, person[ordered], posterior[item[ordered]])
    return Estimate(
        classes=listed,
        prior=tuple(prior.tolist()),
        people={
            name: Person(
                int(labels[index]),
                name in linked,
                float(accuracy[index]),
                *_interval(prior.tolist(), confusion[index].diagonal().tolist(), seen[index].tolist()),
                tuple(map(tuple, confusion[index].tolist())),
                tuple(seen[index].tolist()),
            )
            for name, index in people.items()
        },
        posterior={name: tuple(row) for name, row in zip(items, posterior.tolist(), strict=True)},
        converged=converged,
        iterations=done,
        log_likelihood=likelihood,
        smoothing=smoothing,
    )


def _interval(prior: Sequence[float], right: Sequence[float], seen: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the sum of the shares `right`, weighted by `prior`; `seen`: labels behind each share.

    Wilson's interval of each share, combined by the distances of their ends (MOVER; Zou and Donner 2008). It takes the prior
    and the number of labels of each class, which is an expected one, as known.
    """
    accuracy, below, above = 0.0, 0.0, 0.0
    for weight, share, n in zip(prior, right, seen, strict=True):
        low, high = wilson(share, n)
        accuracy += weight * share
        below += (weight * max(0.0, share - low)) ** 2
        above += (weight * max(0.0, high - share)) ** 2
    return max(0.0, accuracy - sqrt(below)), min(1.0, accuracy + sqrt(above))


def linked_triples(rows: Iterable[tuple[Hashable, str, Hashable]]) -> frozenset[str]:
    """The people of (item, person, label) who belong to a linked triple: three of whom each two share an item."""
    together: dict[Hashable, set[str]] = defaultdict(set)
    for item, person, _ in rows:
        together[item].add(person)
    others: dict[str, set[str]] = defaultdict(set)
    for people in {frozenset(people) for people in together.values()}:
        for person in people:
            others[person] |= people - {person}
    return frozenset(
        person
        for person, neighbours in others.items()
        if any(others[other] & neighbours for other in neighbours)
    )


def _numbered(names: Iterable[Any]) -> dict[Any, int]:
    """Each name with a number, in an order that the order of the rows does not change."""
    ordered = sorted(set(names), key=lambda name: (type(name).__name__, name))
    return {name: index for index, name in enumerate(ordered)}


def _classes(used: set[Hashable], classes: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    if classes is None:
        return tuple(_numbered(used))
    if len(set(classes)) != len(classes):
        raise ValueError("classes names a label twice.")
    if odd := sorted(map(repr, used - set(classes))):
        raise ValueError(f"classes lacks the label {odd[0]}.")
    return tuple(classes)


def _fit(
    item: Any,
    person: Any,
    label: Any,
    items: int,
    people: int,
    classes: int,
    smoothing: float,
    iterations: int,
) -> tuple[Any, Any, Any, bool, int, float]:
    """Posterior (items x classes), prior, confusion (people x classes x labels), whether and when it came to rest."""
    import numpy as np

    # A label counts the same in any order of the list, so sums run over (person, label) and items in a fixed order.
    order = np.lexsort((label, person, item))
    item, person, label = item[order], person[order], label[order]
    starts = np.searchsorted(item, np.arange(items))
    person_label = person * classes + label  # a column of all confusion matrices side by side

    votes = np.zeros((items, classes))
    np.add.at(votes, (item, label), 1)
    posterior = votes / votes.sum(axis=1, keepdims=True)
    converged, done, likelihood = False, 0, 0.0
    while not converged and done < iterations:
        done += 1
        prior = posterior.mean(axis=0)
        belief = posterior[item]
        counted = np.stack(
            [
                np.bincount(person_label, belief[:, true], minlength=people * classes)
                for true in range(classes)
            ]
        ).reshape(classes, people, classes)
        confusion = counted.transpose(1, 0, 2) + smoothing
        total = confusion.sum(axis=2, keepdims=True)
        # Without smoothing a class that a person never met has an empty row: no evidence, so every label alike.
        confusion = np.where(total > 0, confusion / np.where(total > 0, total, 1), 1 / classes)
        with np.errstate(divide="ignore"):
            logs = np.log(confusion).transpose(0, 2, 1).reshape(people * classes, classes)
            joint = np.add.reduceat(logs[person_label], starts, axis=0) + np.log(prior)
        top = joint.max(axis=1, keepdims=True)
        weights = np.exp(joint - top)
        sums = weights.sum(axis=1, keepdims=True)
        renewed = weights / sums
        likelihood = float((top + np.log(sums)).sum())
        converged = bool(np.abs(renewed - posterior).max() < TOLERANCE)
        posterior = renewed
    return posterior, prior, confusion, converged, done, likelihood
