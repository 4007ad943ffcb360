"""The model of Dawid and Skene: their own patients, annotators of known skill, and what must always hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from tableqa.agreement.dawid_skene import Person, dawid_skene, linked_triples

unhurried = settings(deadline=None)

# Dawid and Skene (1979), table 1: 45 patients, judged fit for anaesthesia from 1 to 4 by five anaesthetists, the first of
# whom judged everybody three times. A group of digits is one anaesthetist.
ANAESTHETISTS = """
111 1 1 1 1, 333 4 3 3 4, 112 2 1 2 2, 222 3 1 2 1, 222 3 2 2 2, 222 3 3 2 2, 122 2 1 1 1, 333 3 4 3 3, 222 2 2 2 3,
232 2 2 2 3, 444 4 4 4 4, 222 3 3 4 3, 111 1 1 1 1, 222 3 2 1 2, 121 1 1 1 1, 111 2 1 1 1, 111 1 1 1 1, 111 1 1 1 1,
222 2 2 2 1, 222 1 3 2 2, 222 2 2 2 2, 222 2 2 2 1, 222 3 2 2 2, 221 2 2 2 2, 111 1 1 1 1, 111 1 1 1 1, 232 2 2 2 2,
111 1 1 1 1, 111 1 1 1 1, 112 1 1 2 1, 111 1 1 1 1, 333 3 2 3 3, 111 1 1 1 1, 222 2 2 2 2, 222 3 2 3 2, 433 4 3 4 3,
221 2 2 3 2, 232 3 2 3 3, 333 3 4 3 2, 111 1 1 1 1, 111 1 1 1 1, 121 2 1 1 1, 232 2 2 2 2, 121 1 1 1 1, 222 2 2 2 2
"""
PATIENTS = [
    (patient, f"observer {observer}", int(label))
    for patient, line in enumerate(ANAESTHETISTS.split(","), 1)
    for observer, group in enumerate(line.split(), 1)
    for label in group
]


def _simulated(
    people: int, items: int, overlap: int, seed: int
) -> tuple[list[tuple[int, str, int]], np.ndarray, np.ndarray]:
    """Rows, the true class of each item and the true confusion of each person (their mistakes are not evenly spread)."""
    generator = np.random.default_rng(seed)
    skill = generator.uniform(0.45, 0.97, people)
    confusion = np.stack(
        [share * np.eye(3) + (1 - share) * generator.dirichlet([1, 1, 1], 3) for share in skill]
    )
    truth = generator.choice(3, items, p=[0.5, 0.3, 0.2])
    rows = [
        (item, f"P{person:02}", int(generator.choice(3, p=confusion[person, truth[item]])))
        for item in range(items)
        for person in generator.choice(people, overlap, replace=False)
    ]
    return rows, truth, confusion


def test_the_anaesthetists_of_1979() -> None:
    found = dawid_skene(PATIENTS, smoothing=0)

    assert len(PATIENTS) == 45 * 7
    assert found.converged
    assert [round(share, 2) for share in found.prior] == [0.40, 0.42, 0.11, 0.07]
    first = [[round(share, 2) for share in row] for row in found.people["observer 1"].confusion]
    assert first[:3] == [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0]]
    assert found.people["observer 1"].labels == 135
    expected = [135 * share for share in found.prior]  # observer 1 saw each patient three times
    assert found.people["observer 1"].seen == pytest.approx(expected)
    assert found.best(1) == 1
    assert found.best(11) == 4


@pytest.mark.parametrize("seed", range(3))
def test_forty_annotators_are_ordered_by_their_true_skill(seed: int) -> None:
    rows, truth, confusion = _simulated(40, 2000, 3, seed)

    found = dawid_skene(rows)

    prior = np.array([0.5, 0.3, 0.2])
    true_accuracy = [float(np.diag(confusion[person]) @ prior) for person in range(40)]
    estimated = [found.people[f"P{person:02}"].accuracy for person in range(40)]
    assert spearmanr(true_accuracy, estimated).statistic >= 0.9
    assert np.mean(np.abs(np.array(true_accuracy) - estimated)) < 0.05
    votes = np.zeros((2000, 3))
    for item, _, label in rows:
        votes[item, label] += 1
    majority = np.mean(votes.argmax(axis=1) == truth)
    assert found.converged
    assert np.mean([found.best(item) == truth[item] for item in range(2000)]) > majority


def test_confusions_are_found_where_a_person_has_many_labels() -> None:
    rows, _, confusion = _simulated(8, 3000, 5, 11)

    found = dawid_skene(rows)

    errors = [np.abs(np.array(found.people[f"P{n:02}"].confusion) - confusion[n]).mean() for n in range(8)]
    assert max(errors) < 0.04
    assert np.abs(np.array(found.prior) - [0.5, 0.3, 0.2]).max() < 0.03


small_rows = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from("ABC"), st.sampled_from(["x", "y", "z"])),
    max_size=40,
).map(lambda rows: [*rows, (9, "A", "x"), (9, "B", "y"), (9, "C", "x")])


@unhurried
@given(rows=small_rows, data=st.data(), smoothing=st.sampled_from([0, 0.1, 0.5, 2]))
def test_the_order_of_the_labels_changes_nothing(rows, data, smoothing) -> None:
    found = dawid_skene(rows, smoothing=smoothing, iterations=50)

    assert dawid_skene(data.draw(st.permutations(rows)), smoothing=smoothing, iterations=50) == found
    assert sum(found.prior) == pytest.approx(1)
    for likely in found.posterior.values():
        assert sum(likely) == pytest.approx(1)
    for person in found.people.values():
        assert 0 <= person.accuracy <= 1 + 1e-12
        assert all(sum(row) == pytest.approx(1) for row in person.confusion)


@unhurried
@given(rows=small_rows)
def test_without_smoothing_no_further_iteration_makes_the_labels_less_likely(rows) -> None:
    likelihoods = [dawid_skene(rows, smoothing=0, iterations=n).log_likelihood for n in (1, 2, 5, 20)]

    assert all(later >= earlier - 1e-9 for earlier, later in itertools.pairwise(likelihoods))


def test_names_of_classes_and_people_do_not_matter() -> None:
    plain = dawid_skene(PATIENTS)
    renamed = dawid_skene([(f"case {p:02}", who[::-1], "dcba"[label - 1]) for p, who, label in PATIENTS])

    assert renamed.prior == pytest.approx(plain.prior[::-1], abs=1e-4)
    assert renamed.people["1 revresbo"].accuracy == pytest.approx(
        plain.people["observer 1"].accuracy, abs=1e-4
    )


def test_everybody_agreeing_is_everybody_right() -> None:
    found = dawid_skene([(item, who, item % 2) for item in range(40) for who in "ABC"], smoothing=0)

    assert found.prior == (0.5, 0.5)
    assert found.people["A"].confusion == ((1, 0), (0, 1))
    assert found.log_likelihood == pytest.approx(40 * np.log(0.5))


def test_iterations_that_ran_out_are_said_so() -> None:
    assert not dawid_skene(PATIENTS, iterations=2).converged
    assert dawid_skene(PATIENTS, iterations=2).iterations == 2


def test_classes_that_nobody_chose_may_be_listed() -> None:
    found = dawid_skene([(1, "A", "x"), (1, "B", "y"), (1, "C", "y")], classes=["y", "x", "never"])

    assert found.classes == ("y", "x", "never")
    assert found.prior[2] == 0
    assert len(found.people["A"].confusion) == 3


def test_smoothing_keeps_a_person_with_two_labels_from_being_declared_perfect() -> None:
    rows = [*PATIENTS, (1, "newcomer", 1), (11, "newcomer", 4)]

    assert dawid_skene(rows).people["newcomer"].accuracy < dawid_skene(rows).people["observer 4"].accuracy


def test_people_outside_linked_triples_are_marked() -> None:
    rows = [*PATIENTS, (1, "newcomer", 1), (99, "newcomer", 1), (99, "stranger", 1)]

    people = dawid_skene(rows).people

    assert linked_triples(rows) == {name for name, person in people.items() if person.linked}
    assert people["newcomer"].linked
    assert not people["stranger"].linked


THREE = [(1, "A", "x"), (1, "B", "x"), (1, "C", "x")]


@pytest.mark.parametrize(
    ("rows", "request_", "complaint"),
    [
        ([], {}, "No three annotators share items"),
        ([(1, "A", "x"), (2, "B", "x"), (3, "C", "x")], {}, "No three annotators share items"),
        ([(item, who, "x") for item in range(9) for who in "AB"], {}, "No three annotators share items"),
        (
            [(1, "A", "x"), (1, "B", "x"), (2, "B", "x"), (2, "C", "x")],
            {},
            "Have a third annotator label the same items",
        ),
        (THREE, {"classes": ["y"]}, "classes lacks the label 'x'"),
        (THREE, {"classes": ["x", "x"]}, "names a label twice"),
        (THREE, {"smoothing": -1}, "smoothing is -1"),
        (THREE, {"iterations": 0}, "iterations is 0"),
    ],
)
def test_what_cannot_be_fitted_is_refused(rows, request_, complaint) -> None:
    with pytest.raises(ValueError, match=complaint):
        dawid_skene(rows, **request_)


def test_the_interval_of_an_accuracy_holds_it_and_narrows_with_more_labels() -> None:
    def of(items: int) -> Person:
        rows = [(item, person, "xy"[item % 2]) for item in range(items) for person in "ABC"]
        return dawid_skene(rows).people["A"]

    few, many = of(4), of(400)

    for person in (few, many):
        assert 0 <= person.low < person.accuracy <= person.high <= 1
    assert many.high - many.low < few.high - few.low
