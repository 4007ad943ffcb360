"""Perturbation rating: sides by lot, both scored, errors where a score is low, rates by who made what."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.operations import RenameHeader, from_list, replay
from tableqa.statistics.proportions import proportion
from tasks.contract import Acceptance, InvalidResponse, Item, PreparedInputs, ReportedResponse, Surroundings
from tasks.perturbation_rating.task import Response, task

ORIGINAL = Example(
    "nt-1", "which film is the longest?", Table(["Film", "Minutes"], [["Heat", "170"]]), ["Heat"]
)


def renamed(number: int, name: str) -> Example:
    operation = RenameHeader(column="c1", at=1, old="Minutes", new=name)
    return dataclasses.replace(
        ORIGINAL, id=f"nt-1~synonym-{number}", table=replay(ORIGINAL.table, [operation])
    )


PERSONS, MACHINES = renamed(1, "Length"), renamed(2, "Duration")


def prepared(example: Example, *alternatives: Example) -> PreparedInputs:
    made = {one.id: "leta" if one == MACHINES else "person" for one in (example, *alternatives)}
    around = Surroundings(original=ORIGINAL, perturbation="synonym", alternatives=alternatives, makers=made)
    found = task.prepare(example, around)
    assert found is not None
    return found


def item(example: Example = PERSONS, *alternatives: Example) -> Item:
    return Item(example, inputs=prepared(example, *alternatives).inputs)


PAIR, ALONE = item(PERSONS, MACHINES), item(PERSONS)


def codes(data: Any, where: Item = PAIR) -> list[str]:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(data, where)
    return [problem.code for problem in invalid.value.problems]


def test_an_original_is_not_rated() -> None:
    assert task.prepare(ORIGINAL, Surroundings()) is None


def test_which_side_is_left_is_drawn_by_the_example_and_recorded() -> None:
    lefts = []
    for number in range(40):
        one = renamed(number + 10, "Length")
        sides = prepared(one, MACHINES).inputs["sides"]
        assert {side["id"] for side in sides.values()} == {one.id, MACHINES.id}
        assert prepared(one, MACHINES).inputs["sides"] == sides, "the same whenever it is drawn"
        lefts.append(sides["left"]["id"] == one.id)
    assert 8 < sum(lefts) < 32


def test_who_knows_the_example_alone_cannot_compute_which_side_it_is() -> None:
    def left(number: int, secret: str) -> bool:
        one = renamed(number, "Length")
        around = Surroundings(
            original=ORIGINAL, perturbation="synonym", alternatives=(MACHINES,), secret=secret
        )
        found = task.prepare(one, around)
        assert found is not None
        return found.inputs["sides"]["left"]["id"] == one.id

    without = [left(number, "") for number in range(40)]
    assert 8 < sum(left(number, "the key of a batch") == without[number] for number in range(40)) < 32


def test_another_makers_example_is_preferred_beside_it() -> None:
    other_person = renamed(0, "Time")
    found = prepared(PERSONS, other_person, MACHINES)
    assert found.uses == (MACHINES.id,)
    assert prepared(PERSONS, other_person).uses == (other_person.id,)
    assert prepared(PERSONS).uses == ()


def test_a_side_is_drawn_as_what_it_changes() -> None:
    side = ALONE.inputs["left"]
    assert side["changes"] == ["Header of column 2: Minutes becomes Length"]
    operations = from_list(side["operations"])
    assert replay(Table.from_dict(ALONE.inputs["original"]["table"]), operations) == PERSONS.table
    assert "right" not in ALONE.inputs


def test_who_made_it_never_leaves_the_server() -> None:
    shown = json.dumps(task.payload(PAIR))
    assert "leta" not in shown
    assert "nt-1~" not in shown
    assert task.payload(PAIR)["question"] == ORIGINAL.question


def test_a_pair_that_is_met_from_both_ends_is_one_item() -> None:
    both = [prepared(PERSONS, MACHINES), prepared(MACHINES, PERSONS)]
    assert task.together(both, {}) == [both[0], None]
    third = prepared(renamed(3, "Time"), PERSONS, MACHINES)
    assert task.together([*both, third], {})[2] is third


def test_both_sides_are_scored_and_compared() -> None:
    assert codes({"left": 4, "right": 4}) == ["no_choice"]
    assert codes({"left": 4, "better": "tie"}) == ["no_score"]
    assert task.parse({"left": "4", "right": "5", "better": "right"}, PAIR) == Response(4, 5, "right")


def test_one_alone_is_scored_and_nothing_more() -> None:
    data = {"left": 4, "left_errors": [], "right": "", "right_errors": [], "better": ""}
    assert task.parse(data, ALONE) == Response(4)
    assert codes({"left": 4, "better": "left"}, ALONE) == ["no_right"]


def test_a_low_score_says_what_is_wrong() -> None:
    assert codes({"left": 2}, ALONE) == ["no_error"]
    data = {"left": 2, "left_errors": ["invented", "meaning_changed"]}
    assert task.parse(data, ALONE) == Response(2, left_errors=("meaning_changed", "invented"))
    assert task.parse({**data, "left": 3}, ALONE).left_errors == ()


def decided(*said: Response) -> Response:
    resolution = task.resolve(said, PAIR)
    assert isinstance(resolution, Acceptance)
    assert resolution.outcomes[0].by == tuple(range(len(said)))
    found: Response = resolution.outcomes[0].response
    return found


def test_the_means_are_decided_and_the_majority() -> None:
    assert decided(Response(4, 5, "right"), Response(5, 5, "right")) == Response(4.5, 5, "right")
    assert decided(Response(4, 5, "right"), Response(5, 4, "left")).better == "tie"
    assert decided(Response(4, 5, "right"), Response(5, 4, "tie")).better == "tie"


def test_errors_stay_where_the_mean_is_low() -> None:
    low, high = Response(1, 5, "right", ("missing",)), Response(5, 5, "tie")
    assert decided(low, Response(2, 5, "right", ("invented",))).left_errors == ("missing", "invented")
    assert decided(low, high).left_errors == ()


def row(where: Item, left: int, right: int | None, better: str, *errors: str) -> ReportedResponse:
    said = Response(left, right, better, errors)
    return ReportedResponse(where, "wtq", "p", said, (said,))


def test_shares_and_win_rates_are_given_by_who_made_the_example() -> None:
    person = next(side for side, one in PAIR.inputs["sides"].items() if one["maker"] == "person")
    machine = "right" if person == "left" else "left"
    marks = {person: 5, machine: 2}
    rows = [row(PAIR, marks["left"], marks["right"], better) for better in (person, person, "tie", machine)]
    quality, preference, _ = task.report(rows)
    assert [line[:6] for line in quality.rows] == [
        ("synonym", "leta", 1, 2.0, 0, proportion(0, 1)),
        ("synonym", "person", 1, 5.0, 1, proportion(1, 1)),
    ]
    assert [line[:6] for line in preference.rows] == [
        ("synonym", "leta", "person", 4, 2, proportion(2, 4)),
        ("synonym", "person", "leta", 4, 3, proportion(3, 4)),
    ], "a tie counts for both"


def test_votes_on_two_of_one_kind_of_maker_are_counted_beside_the_win_rates() -> None:
    two = item(PERSONS, renamed(3, "Time"))
    _, preference, _ = task.report([row(two, 5, 2, "left"), row(two, 4, 4, "tie")])
    assert preference.rows == ()
    assert preference.note.endswith("(person and person: 2).")


def test_nobody_is_called_a_person_whom_the_platform_does_not_know() -> None:
    found = task.prepare(PERSONS, Surroundings(original=ORIGINAL, perturbation="synonym"))
    assert found is not None
    assert found.inputs["sides"]["left"]["maker"] == "not known"


def test_an_examples_score_is_the_mean_of_everybodys() -> None:
    quality, preference, wrong = task.report([row(ALONE, 5, None, ""), row(ALONE, 2, None, "", "missing")])
    assert quality.rows[0][:5] == ("synonym", "person", 1, 3.5, 0)
    assert preference.rows == ()
    assert wrong.rows == (("synonym", "person", 0, 0, 1, 0),)


@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.integers(1, 5), st.sampled_from(["left", "tie", "right"])), min_size=1
    )
)
def test_win_rates_add_up_to_one_and_the_share_of_ties(votes: list[tuple[int, int, str]]) -> None:
    _, preference, _ = task.report([row(PAIR, left, right, better) for left, right, better in votes])
    won = sum(int(line[4] or 0) for line in preference.rows)  # type: ignore[arg-type,misc]
    assert won == len(votes) + sum(better == "tie" for _, _, better in votes)


def test_a_record_names_both_sides_and_their_makers() -> None:
    (one,) = task.export("askew", PAIR, Response(4.5, 2, "left"), None)
    sides = PAIR.inputs["sides"]
    assert one.record["left"] == {**sides["left"], "quality": 4.5, "errors": []}
    assert one.record["right"]["id"] == sides["right"]["id"]
    assert (one.record["perturbation"], one.record["better"]) == ("synonym", "left")
