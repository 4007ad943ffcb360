"""Rules that decide: the same for every kind they fit, whoever answered first, and always with an end."""

from __future__ import annotations

import json
import random
from collections.abc import Hashable
from typing import Any

import jsonschema
import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from tasks.contract import (
    Acceptance,
    Item,
    NeedsAdjudication,
    NeedsResponse,
    Resolution,
    TaskType,
    decision_rules,
    response_data,
    task_type,
    task_types,
)
from tasks.contract.decision_rules import (
    RULES,
    Rule,
    fitting_rules,
    in_words,
    own_rule,
    resolve,
    schema,
    without_outlier,
)
from tasks.contract.rule_checks import BadRule, check_rule
from tests.tasks.test_contract import sample

KINDS = list(task_types().values())
RULED = [task for task in KINDS if task.rule]
"""Without those that decide by a `resolve` of their own."""
ITEMS = {task.key: sample(task)["items"] for task in KINDS}
SAID: dict[tuple[str, int], list[Any]] = {}
for _task in KINDS:
    for _number, _item in enumerate(ITEMS[_task.key]):
        _found = [good["data"] for good in sample(_task)["good"] if good["item"] == _number]
        _found += [
            _task.simulate(_item, random.Random(seed), 0.5, random.Random("truth")) for seed in range(8)
        ]
        SAID[_task.key, _number] = [_task.parse(data, _item) for data in _found]

VALUES = (False, True, 0, 0.5, 0.66, 1, 2, 3, 4, 5)
"""What options of rules are tried with, besides the values that their schemas list."""
Case = tuple[TaskType, Item, dict[str, Any], list[Any]]


def values_of(rule: Rule, option: str) -> list[Any]:
    """The values to try an option with: a new rule has its cases by its schema."""
    schema = rule.options[option]
    is_valid = jsonschema.Draft202012Validator(schema).is_valid
    values = [value for value in (*VALUES, *schema.get("enum", ())) if is_valid(value)]
    assert values, f"add a value for the option {option!r} of the rule {rule.name!r} to VALUES"
    return values


def options_of(rule: Rule) -> st.SearchStrategy[dict[str, Any]]:
    """A rule as a batch may have it, with some of its options."""
    options = {name: st.sampled_from(values_of(rule, name)) for name in rule.options}
    return st.fixed_dictionaries({"rule": st.just(rule.name)}, optional=options)


@st.composite
def cases(draw: st.DrawFn, most_people: int = 6) -> Case:
    """A kind with an item, a rule that fits it (or its own), and what people said."""
    task = draw(st.sampled_from(RULED))
    number = draw(st.integers(0, len(ITEMS[task.key]) - 1))
    said = draw(st.lists(st.sampled_from(SAID[task.key, number]), min_size=1, max_size=most_people))
    rule = draw(st.one_of(st.just({}), *map(options_of, fitting_rules(task))))
    return task, ITEMS[task.key][number], check_rule(task, rule), said


def in_text(response: Any) -> str:
    return json.dumps(response_data(response), sort_keys=True)


def comes_to(resolution: Resolution, said: list[Any]) -> Any:
    """A resolution without the order of the people in it: outcomes with the texts of the responses they rest on."""
    if not isinstance(resolution, Acceptance):
        return type(resolution).__name__, resolution.reason
    outcomes = [
        (in_text(one.response), sorted(in_text(said[i]) for i in one.by)) for one in resolution.outcomes
    ]
    return "Acceptance", resolution.reason, sorted(outcomes)


@given(cases(), st.randoms(use_true_random=False))
def test_who_answered_first_plays_no_part(case: Case, rng: random.Random) -> None:
    task, item, rule, said = case
    other = list(said)
    rng.shuffle(other)
    assert comes_to(resolve(task, rule, said, item), said) == comes_to(
        resolve(task, rule, other, item), other
    )


@given(cases(most_people=1), st.integers(1, 6))
def test_people_who_say_the_same_are_taken_at_their_word(case: Case, people: int) -> None:
    task, item, rule, (response,) = case
    resolution = resolve(task, rule, [response] * people, item)
    if task.compares == "answers" and task.compare_to_gold(response, item)[0] != "equal":
        assert isinstance(resolution, NeedsAdjudication)  # the given answer says otherwise: somebody looks
        return
    assert isinstance(resolution, Acceptance)
    if resolution.outcomes:
        assert {index for one in resolution.outcomes for index in one.by} == set(range(people))
        assert all(task.word(one.response) == task.word(response) for one in resolution.outcomes)
    else:
        assert resolution.reason == task.excludes[task.word(response)]


@given(cases(most_people=2), st.data())
def test_asking_one_more_always_comes_to_an_end(case: Case, data: st.DataObject) -> None:
    task, item, rule, said = case
    more = st.sampled_from(SAID[task.key, ITEMS[task.key].index(item)])
    named = rule or own_rule(task, item.settings)
    at_most = max(named.get("most", 0), len(said))
    while isinstance(resolve(task, rule, said, item), NeedsResponse):
        said.append(data.draw(more))
        assert len(said) <= at_most


@given(cases())
def test_an_outcome_follows_from_the_people_it_rests_on_alone(case: Case) -> None:
    """What verifying a release relies on, where an outcome is not simply what each of them said."""
    task, item, rule, said = case
    resolution = resolve(task, rule, said, item)
    if isinstance(resolution, Acceptance):
        for outcome in resolution.outcomes:
            supports = [said[index] for index in outcome.by]
            assert supports
            if any(response != outcome.response for response in supports):
                again = resolve(task, rule, supports, item)
                assert isinstance(again, Acceptance)
                assert [one.response for one in again.outcomes] == [outcome.response]


def test_options_of_a_rule_have_their_titles_and_those_that_are_off_are_left_out() -> None:
    assert in_words({"rule": "each", "merge": False}) == "all valid responses"
    assert in_words({"rule": "each", "merge": True}) == "all valid responses (Count identical responses once)"
    assert in_words({"rule": "majority", "more_than": 0.5}) == "majority (Required share: 0.5)"


def test_a_rule_is_in_the_words_and_numbers_of_the_reader() -> None:
    half = {"rule": "majority", "more_than": 0.5}
    far_apart = {"rule": "gap", "gap": 2.5, "then": "mean"}

    with translation.override("de"):
        assert in_words(half) == "Mehrheit (Erforderlicher Anteil: 0,5)"
        assert in_words({"rule": "unanimous"}) == "einstimmig"
        assert "2,5" in in_words(far_apart)
        assert "mean" not in in_words(far_apart)


@given(cases())
def test_a_rule_that_was_checked_is_checked_to_itself_and_fits_the_schema(case: Case) -> None:
    task, _, rule, _ = case
    assert check_rule(task, rule) == rule
    assert check_rule(task, json.loads(json.dumps(rule))) == rule
    jsonschema.validate(rule, schema())
    assert in_words(rule)


@pytest.mark.parametrize("task", RULED, ids=[task.key for task in RULED])
def test_every_kind_names_a_rule_that_fits_it(task: TaskType) -> None:
    assert task.rule["rule"] in [rule.name for rule in fitting_rules(task)]
    assert fitting_rules(task)[0].name == task.rule["rule"]
    assert check_rule(task, task.rule) == check_rule(task, own_rule(task, {}))
    settings = task.settings_schema.get("properties", {})
    assert set(task.rule_settings) <= set(RULES[task.rule["rule"]].options)
    assert set(task.rule_settings.values()) <= set(settings)


def test_every_rule_fits_a_kind_and_its_schema_holds() -> None:
    for rule in RULES.values():
        jsonschema.Draft202012Validator.check_schema(rule.schema)
        assert any(rule in fitting_rules(task) for task in KINDS), rule.name
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("question_type", {"rule": "majorty"}, "did you mean majority?"),
        ("question_type", {"rule": "gap"}, "'gap' exists, but does not fit question_type"),
        ("question_type", {"rule": "majority", "mots": 5}, "did you mean most?"),
        ("question_type", {"rule": "majority", "most": "five"}, "resolve.most"),
        ("question_type", {"rule": "majority", "more_than": 0.4}, "resolve.more_than"),
        ("question_type", {"most": 5}, "name one of the rules"),
        ("question_type", {"rule": ["majority"]}, "there is no rule"),
        ("question_type", "majority", "write an object"),
        ("question_type", {"rule": "majority", "most": 2}, "less than the 3 people per item"),
        ("answer_check", {"rule": "majority"}, "These fit: given."),
    ],
)
def test_a_rule_that_does_not_hold_is_refused_with_what_would(kind: str, data: Any, message: str) -> None:
    with pytest.raises(BadRule) as refused:
        check_rule(task_type(kind), data, overlap=3)
    assert message in str(refused.value)


def labels(*said: str) -> list[Any]:
    from tasks.shared.declared_types import Label as Response

    return [Response(one) for one in said]


def scores(*said: int) -> list[Any]:
    from tasks.answer_rating.task import Response

    return [Response(one, 4) for one in said]


def test_a_majority_asks_on_until_the_most_and_then_an_adjudicator_looks() -> None:
    task, item = task_type("question_type"), ITEMS["question_type"][0]
    rule = check_rule(task, {"rule": "majority", "most": 5})
    assert isinstance(resolve(task, rule, labels("extraction", "reasoning"), item), NeedsResponse)
    assert isinstance(
        resolve(task, rule, labels("extraction", "reasoning", "neither", "extraction"), item), NeedsResponse
    )
    settled = resolve(task, rule, labels("extraction", "reasoning", "extraction"), item)
    assert isinstance(settled, Acceptance)
    assert settled.outcomes[0].by == (0, 2)
    at_the_end = labels("extraction", "reasoning", "neither", "extraction", "reasoning")
    assert isinstance(resolve(task, rule, at_the_end, item), NeedsAdjudication)


def test_two_people_three_apart_ask_a_third_and_two_apart_do_not() -> None:
    """LFTQA-Eval 2.3: two people; scores that differ by more than 2 go to a third."""
    task, item = task_type("answer_rating"), ITEMS["answer_rating"][0]
    assert isinstance(resolve(task, {}, scores(1, 4), item), NeedsResponse)
    assert isinstance(resolve(task, {}, scores(2, 4), item), Acceptance)


@pytest.mark.parametrize(
    ("then", "said", "found"),
    [
        ("mean", (1, 5, 5), 3.666667),
        ("replace", (1, 5, 5), 5),
        ("replace", (1, 3, 5), 3),
        ("adjudicate", (1, 5, 5), 5),
        ("adjudicate", (1, 3, 5), None),
        ("adjudicate", (1, 1, 5), 1),
    ],
)
def test_where_the_third_leaves_them_apart_the_batch_says_what_follows(
    then: str, said: tuple[int, ...], found: float | None
) -> None:
    task, item = task_type("answer_rating"), ITEMS["answer_rating"][0]
    resolution = resolve(task, check_rule(task, {"rule": "gap", "then": then}), scores(*said), item)
    if found is None:
        assert isinstance(resolution, NeedsAdjudication)
    else:
        assert isinstance(resolution, Acceptance)
        assert resolution.outcomes[0].response.faithfulness == found


def test_edits_that_leave_the_same_table_are_one_however_they_were_made() -> None:
    from tableqa import Example, Table
    from tableqa.operations import SetCell
    from tasks.value_change.task import Response

    task = task_type("value_change")
    table = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])
    item = Item(Example(id="s-1", question="When was Heat?", table=table, answers=["1995"]), "answer_changes")
    one = Response(False, (SetCell(row="r0", column="c1", old="1995", new="1996"),), ("1996",), "by hand")
    same = Response(False, (SetCell(row="r0", column="c1", old="1995", new="1996"),), ("1996",))
    other = Response(False, (SetCell(row="r0", column="c1", old="1995", new="1997"),), ("1997",))
    rule = check_rule(task, {"rule": "edit_equivalence", "most": 4})
    assert isinstance(resolve(task, rule, [one, other], item), NeedsResponse)
    settled = resolve(task, rule, [one, other, same], item)
    assert isinstance(settled, Acceptance)
    assert [(outcome.response, outcome.by) for outcome in settled.outcomes] == [(same, (0, 2))]
    assert isinstance(
        resolve(task, rule, [one, other, Response(True), Response(True)], item), NeedsAdjudication
    )


@given(st.lists(st.integers(1, 5), min_size=1, max_size=7))
def test_one_score_goes_at_most_and_it_is_the_lowest_or_the_highest(said: list[int]) -> None:
    kept = without_outlier(said)
    assert kept in (sorted(said), sorted(said)[1:], sorted(said)[:-1])


@pytest.mark.parametrize(
    ("responses", "refusals", "reason"),
    [
        (1, 2, "The responses differ: 1 response, 2 “does not apply”."),
        (2, 1, "The responses differ: 2 responses, 1 “does not apply”."),
    ],
)
def test_where_only_some_say_that_there_is_nothing_to_do_the_reason_counts_both(
    responses: int, refusals: int, reason: str
) -> None:
    task, (item, *_) = task_type("header_synonym"), ITEMS["header_synonym"]
    said = SAID["header_synonym", 0]
    renamed = next(response for response in said if not response.does_not_apply)
    nothing = task.parse({**sample(task)["good"][0]["data"], "operations": [], "does_not_apply": True}, item)

    resolution = resolve(task, {"rule": "each"}, [renamed] * responses + [nothing] * refusals, item)

    assert resolution == NeedsAdjudication(reason)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([1, 1], "2 different responses from 2 annotators"),
        ([1, 1, 1], "3 different responses from 3 annotators"),
        ([1, 2], "2 different responses, from 2 and 1 of 3 annotators"),
        ([1, 2, 1], "3 different responses, from 2, 1 and 1 of 4 annotators"),
    ],
)
def test_how_people_differ_is_said_in_words(sizes: list[int], words: str) -> None:
    groups: dict[Hashable, list[int]] = {number: [0] * size for number, size in enumerate(sizes)}

    assert decision_rules._tally(task_type("value_change"), [], groups) == words
