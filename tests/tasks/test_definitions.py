"""A definition as data becomes a task type that meets the contract, or is refused with the path of every fault."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tableqa import Example, Table
from tableqa.core import translation
from tasks.contract import (
    Acceptance,
    InvalidResponse,
    Item,
    NeedsAdjudication,
    PreparingTask,
    Surroundings,
    response_data,
    task_types,
)
from tasks.contract.decision_rules import resolve
from tasks.shared.defined_types import DefinedTask, task_of
from tasks.shared.definition_faults import BadDefinition
from tasks.shared.type_definitions import RULES, SCHEMA, TYPES, definition_faults

MEDALS = Table(["Nation", "Gold"], [["India", "102"], ["Nepal", "32"]])
ITEM = Item(Example("e-1", "who won more?", MEDALS, ["India"]))
COMPLEXITY: dict[str, Any] = {
    "title": {"en": "Table complexity", "de": "Komplexität der Tabelle"},
    "instruction": "How hard is this table to read?",
    "shows": ["question", "table", "answers"],
    "fields": [
        {"name": "level", "type": "choice", "options": [{"value": "easy", "key": 1}, "hard"]},
        {"name": "reasons", "type": "multi_choice", "options": ["long", "wide"], "when": "level == hard"},
        {"name": "evidence", "type": "cells"},
        {"name": "quality", "type": "scale", "min": 1, "max": 5, "anchors": {"1": "poor", "5": "excellent"}},
        {"name": "ranking", "type": "rank", "options": ["a", "b", "c"]},
        {"name": "comment", "type": "text", "optional": True},
    ],
    "decide": {"field": "level", "rule": "majority"},
    "agreement": {
        "level": ["fleiss", "alpha_nominal"],
        "quality": ["alpha_ordinal"],
        "evidence": ["alpha_masi"],
    },
    "guidelines": "Look at the table first.",
    "practice": [
        {
            "example": {
                "id": "p1",
                "question": "who?",
                "table": {"header": ["Nation", "Gold"], "rows": [["India", 102]]},
            },
            "expected": {
                "level": "easy",
                "evidence": [["r0", "c0"]],
                "quality": 4,
                "ranking": ["c", "a", "b"],
            },
            "why": "It has one row.",
        }
    ],
}
LEVEL = {"name": "level", "type": "choice", "options": ["easy", "hard"]}
NUMBER = {"name": "n", "type": "number", "optional": True}
DAY = {"name": "d", "type": "date", "optional": True}
NOTE = {"name": "note", "type": "text", "optional": True}
RESPONSE = {"level": "easy", "evidence": [["r0", "c0"]], "quality": 4, "ranking": ["a", "b", "c"]}


def task(**changes: Any) -> DefinedTask:
    return task_of("table_complexity", {**copy.deepcopy(COMPLEXITY), **changes})


def only(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"title": "T", "instruction": "Look", "fields": list(fields), **more}


def test_a_definition_is_a_task_type_like_any_other() -> None:
    made = task()

    assert (made.key, made.version, made.title) == ("table_complexity", 1, "Table complexity")
    assert made.payload(ITEM).keys() == {"question", "table", "answers"}
    assert made.mode == "select"
    assert made.guidelines() == "Look at the table first."
    assert [(measure.name, measure.statistics) for measure in made.measures] == [
        ("level", ("fleiss_kappa", "krippendorff_alpha_nominal")),
        ("evidence", ("cell_sets_masi",)),
        ("quality", ("krippendorff_alpha_ordinal",)),
    ]
    assert task() is made


def test_a_response_is_stored_and_read_back() -> None:
    made = task()

    response = made.parse({**RESPONSE, "reasons": ["long"]}, ITEM)

    assert response.reasons == (), "asked under a condition only"
    envelope = made.envelope(response, ITEM)
    assert made.read(envelope, ITEM) == response == made.restore(response_data(response))
    assert made.describe(response, ITEM) == [
        "Level: Easy",
        "Evidence: Row 1: Nation (India).",
        "Quality: 4 of 5",
        "Ranking: A > B > C",
    ]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"level": ""}, "no_level"),
        ({"level": "hard"}, "no_reasons"),
        ({"quality": 6}, "no_score"),
        ({"ranking": ["a", "b"]}, "incomplete_ranking"),
        ({"ranking": ["a", "a", "b"]}, "incomplete_ranking"),
        ({"evidence": [["r9", "c0"]]}, "unknown_cell"),
        ({"other": 1}, "unknown_field"),
    ],
)
def test_a_response_that_does_not_fit_is_refused(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(InvalidResponse) as refused:
        task().parse({**RESPONSE, **changes}, ITEM)

    assert code in [problem.code for problem in refused.value.problems]


def test_people_with_the_same_label_are_pooled_field_by_field() -> None:
    made = task()
    said = [
        made.parse({**RESPONSE, "quality": quality, "comment": comment}, ITEM)
        for quality, comment in ((3, "a"), (4, "b"), (5, ""))
    ]
    said.append(made.parse({**RESPONSE, "level": "hard", "reasons": ["long"], "quality": 1}, ITEM))

    decided = resolve(made, {}, said, ITEM)

    assert isinstance(decided, Acceptance)
    (outcome,) = decided.outcomes
    assert outcome.by == (0, 1, 2)
    assert response_data(outcome.response) == {
        **RESPONSE,
        "reasons": [],
        "evidence": [["r0", "c0"]],
        "quality": 4,
        "comment": "",
    }


def test_a_tie_goes_to_adjudication() -> None:
    made = task()
    said = [made.parse(data, ITEM) for data in (RESPONSE, {**RESPONSE, "level": "hard", "reasons": ["wide"]})]

    assert isinstance(resolve(made, {}, said, ITEM), NeedsAdjudication)


@pytest.mark.parametrize(
    ("field", "sent", "wanted"),
    [
        ({"type": "scale", "max": 7}, (2, 7, 6), 5),
        ({"type": "multi_choice", "options": ["x", "y"]}, (["x"], ["x"], ["x", "y"]), ["x"]),
        ({"type": "cells"}, ([["r0", "c0"]], [["r0", "c0"]], [["r0", "c0"], ["r1", "c1"]]), [["r0", "c0"]]),
        ({"type": "rank", "options": ["x", "y"]}, (["y", "x"], ["y", "x"], ["x", "y"]), ["y", "x"]),
    ],
)
def test_the_rule_follows_from_the_decided_field(field: dict[str, Any], sent: Any, wanted: Any) -> None:
    made = task_of("simple", only({"name": "value", **field}))

    decided = resolve(made, {}, [made.parse({"value": value}, ITEM) for value in sent], ITEM)

    assert isinstance(decided, Acceptance)
    assert response_data(decided.outcomes[0].response) == {"value": wanted}


@given(seed=st.integers(0, 500), accuracy=st.floats(0, 1))
def test_simulated_people_give_valid_responses_that_fit_the_schema(seed: int, accuracy: float) -> None:
    made = task()

    response = made.parse(made.simulate(ITEM, random.Random(seed), accuracy, random.Random(1)), ITEM)

    Draft202012Validator(made.response_schema()).validate(response_data(response))
    assert made.read(made.envelope(response, ITEM), ITEM) == response


def test_practice_compares_with_the_expected_response() -> None:
    made = task()
    wrong = made.parse({**RESPONSE, "level": "hard", "reasons": ["long"]}, ITEM)
    near = made.parse({**RESPONSE, "quality": 5, "comment": "Nice."}, ITEM)
    expected = made.parse(RESPONSE, ITEM)

    right, lines = made.feedback(ITEM, wrong, expected)
    assert (right, lines[0]) == (False, "Level: your answer Hard, expected Easy.")
    assert made.feedback(ITEM, near, expected) == (
        True,
        ["Quality: your answer 5 of 5, expected 4 of 5. Close enough."],
    )


def test_labels_have_a_german_form() -> None:
    title = task().title
    try:
        translation.set_translator(None, None, language=lambda: "de")
        assert translation.gettext(title) == "Komplexität der Tabelle"
        assert translation.gettext(task().instruction) == "How hard is this table to read?"
    finally:
        from annotation.apps import AnnotationConfig

        AnnotationConfig.ready(None)  # type: ignore[arg-type]


def test_answers_of_the_example_are_ranked() -> None:
    made = task_of(
        "preference", only({"name": "order", "type": "rank", "of": "answers"}, shows=["question", "answers"])
    )
    item = Item(Example("e-2", "who?", MEDALS, ["India", "Nepal"]))

    said = [
        made.parse({"order": order}, item)
        for order in (["Nepal", "India"], ["Nepal", "India"], ["India", "Nepal"])
    ]

    decided = resolve(made, {}, said, item)
    assert isinstance(decided, Acceptance)
    assert response_data(decided.outcomes[0].response) == {"order": ["Nepal", "India"]}
    with pytest.raises(InvalidResponse):
        made.parse({"order": ["India"]}, item)
    assert made.parse(made.simulate(item, random.Random(1), 1, random.Random(1)), item)


TWO = Item(Example("e-2", "who?", MEDALS, ["India", "Nepal", "India"]))
BETTER = {"name": "better", "type": "choice", "of": "answers"}
GOOD = {"name": "good", "type": "multi_choice", "of": "answers", "optional": True}


def test_an_answer_of_the_example_is_chosen_by_its_number() -> None:
    tie = {"value": "tie", "title": "No difference"}
    made = task_of("preference", only({**BETTER, "options": [tie]}, GOOD, shows=["question", "answers"]))

    said = made.parse({"better": "2", "good": ["2", "1"]}, TWO)

    assert response_data(said) == {"better": "2", "good": ["1", "2"]}
    assert made.describe(said, TWO) == [
        "Better: Answer 2 (Nepal)",
        "Good: Answer 1 (India); Answer 2 (Nepal)",
    ]
    assert made.label(made.parse({"better": "tie"}, TWO), TWO) == "No difference"
    assert made.fields[0].options[0].key == "0"
    for wrong in ("3", "0", "02", "India", "tie "):
        with pytest.raises(InvalidResponse):
            made.parse({"better": wrong}, TWO)
    decided = resolve(made, {}, [made.parse({"better": value}, TWO) for value in ("2", "2", "tie")], TWO)
    assert isinstance(decided, Acceptance)
    assert decided.outcomes[0].response.better == "2"


@pytest.mark.parametrize(
    ("fields", "fewest"), [([BETTER], 2), ([{**GOOD, "optional": False}], 1), ([LEVEL, GOOD], 0)]
)
def test_examples_with_too_few_answers_are_left_out(fields: list[dict[str, Any]], fewest: int) -> None:
    made = task_of("preference", only(*fields, shows=["question", "answers"]))
    assert isinstance(made, PreparingTask)

    for count in range(3):
        example = Example("e", "who?", MEDALS, ["India", "Nepal"][:count])
        assert (made.prepare(example, Surroundings()) is not None) == (count >= fewest)


@given(seed=st.integers(0, 200), accuracy=st.floats(0, 1))
def test_simulated_people_choose_answers_that_fit_the_schema(seed: int, accuracy: float) -> None:
    tie = [{"value": "tie", "key": "0"}]
    worse = {"name": "worse", "type": "choice", "of": "answers", "different_from": "better"}
    made = task_of("preference", only({**BETTER, "options": tie}, worse, GOOD, shows=["question", "answers"]))

    said = made.parse(made.simulate(TWO, random.Random(seed), accuracy, random.Random(seed)), TWO)

    Draft202012Validator(made.response_schema()).validate(response_data(said))
    assert said.better != said.worse


def test_the_value_of_a_field_differs_from_that_of_another() -> None:
    worst = {**LEVEL, "name": "worst", "different_from": "level", "optional": True}
    made = task_of("best_worst", only(LEVEL, worst))

    assert made.parse({"level": "easy", "worst": "hard"}, ITEM)
    assert made.parse({"level": "easy", "worst": ""}, ITEM)
    with pytest.raises(InvalidResponse) as refused:
        made.parse({"level": "easy", "worst": "easy"}, ITEM)

    (problem,) = refused.value.problems
    assert (problem.path, problem.message) == (
        "worst",
        "“Worst” must differ from “Level”. Choose another value.",
    )


@pytest.mark.parametrize(("value", "asked"), [("1", True), ("2", False)])
def test_a_condition_holds_for_options_that_look_like_numbers(value: str, asked: bool) -> None:
    why = {"name": "why", "type": "text", "when": "level == 1"}
    made = task_of("numbers", only({**LEVEL, "options": [{"value": 1}, {"value": 2}]}, why))

    assert made.parse({"level": value, "why": "Because."}, ITEM).why == ("Because." if asked else "")


def test_whole_numbers_are_options_without_quotes() -> None:
    made = task_of("numbers", only({**LEVEL, "options": [1, 2]}))

    assert made.fields[0].values == ("1", "2")


def test_every_anchor_of_a_scale_is_in_words_beside_its_help() -> None:
    scale = {"name": "s", "type": "scale", "help": "Think of readers.", "anchors": {"1": "bad", "3": "fair"}}
    made = task_of("scale", only(scale))

    assert made.fields[0].help == "Think of readers. 1: bad; 3: fair"


def test_rankings_are_compared_as_rankings() -> None:
    made = task()

    (measure,) = task_of("r", only(COMPLEXITY["fields"][4])).measures

    assert (measure.level, measure.statistics) == ("ranks", ("mean_spearman", "kendall_w"))
    assert made.response_schema()["properties"]["ranking"]["maxItems"] == 3


REFUSED = [
    (only({"name": "level", "type": "choice"}), ("fields", 0), "needs `options`"),
    (only({**LEVEL, "options": ["a", "a"]}), ("fields", 0, "options", 1), "appears twice"),
    (
        only({**LEVEL, "options": ["a", {"value": "b", "key": "s"}]}),
        ("fields", 0, "options", 1, "key"),
        "'s'",
    ),
    (only({**LEVEL, "options": ["a", {"value": "b", "key": 1}]}), ("fields", 0, "options", 1), "same key"),
    (only({"name": "r", "type": "rank", "of": "answers"}), ("fields", 0, "of"), "add `answers` to `shows`"),
    (only(BETTER), ("fields", 0, "of"), "add `answers` to `shows`"),
    (
        only({**BETTER, "options": ["1"]}, shows=["answers"]),
        ("fields", 0, "options", 0),
        "Numbers stand for the answers",
    ),
    (
        only({**BETTER, "options": ["tie", "none"]}, shows=["answers"]),
        ("fields", 0, "options", 1),
        "same key '0'",
    ),
    (
        only({"name": "c", "type": "cells"}, shows=["question"]),
        ("fields", 0, "type"),
        "add `table` to `shows`",
    ),
    (only({**LEVEL, "options": ["a", " b"]}), ("fields", 0, "options", 1), "begins or ends with a space"),
    (
        only(LEVEL, {"name": "x", "type": "text", "when": "level == easy and level == no"}),
        ("fields", 1, "when"),
        "has no value 'no'",
    ),
    (
        only(LEVEL, practice=[{**COMPLEXITY["practice"][0], "expected": {}}]),
        ("practice", 0, "expected"),
        "level: Choose one of: easy, hard.",
    ),
    (only({**LEVEL, "options": ["a"]}), ("fields", 0, "options"), "Add another one"),
    (
        only({**BETTER}, agreement={"better": ["ac1"]}, shows=["answers"]),
        ("agreement", "better", 0),
        "These fit: percent, fleiss, alpha_nominal",
    ),
    (only({**LEVEL, "different_from": "x"}), ("fields", 0, "different_from"), "Those fields: none"),
    (
        only(LEVEL, {"name": "s", "type": "scale", "different_from": "level"}),
        ("fields", 1, "different_from"),
        "has the type scale",
    ),
    (
        only(LEVEL, {"name": "t", "type": "text", "different_from": "level"}),
        ("fields", 1, "different_from"),
        "has no `different_from`",
    ),
    (only({**LEVEL, "min": 1}), ("fields", 0, "min"), "has no `min`"),
    (only({**LEVEL, "name": "answers"}), ("fields", 0, "name"), "reserved"),
    (only({**LEVEL, "name": "class"}), ("fields", 0, "name"), "reserved"),
    (only(LEVEL, LEVEL), ("fields", 1, "name"), "There is a field 'level' above"),
    (only(LEVEL, {"name": "x", "type": "text", "when": "level"}), ("fields", 1, "when"), "no condition"),
    (only(LEVEL, NUMBER, {"name": "x", "type": "text", "when": "n > many"}), ("fields", 2, "when"), "1.5"),
    (only(LEVEL, NUMBER, {"name": "x", "type": "text", "when": "n contains 1"}), ("fields", 2, "when"), "!="),
    (
        only(LEVEL, DAY, {"name": "x", "type": "text", "when": "d < 2024"}),
        ("fields", 2, "when"),
        "2024-05-01",
    ),
    (
        only(LEVEL, NOTE, {"name": "x", "type": "text", "when": "note == a"}),
        ("fields", 2, "when"),
        "date; 'note'",
    ),
    (
        only(LEVEL, {"name": "x", "type": "text", "when": "lvel == hard"}),
        ("fields", 1, "when"),
        "Fields above: level",
    ),
    (
        only(LEVEL, {"name": "x", "type": "text", "when": "level == no"}),
        ("fields", 1, "when"),
        "Available: easy, hard",
    ),
    (
        only(LEVEL, {"name": "x", "type": "text", "when": "level > easy"}),
        ("fields", 1, "when"),
        "use == or !=",
    ),
    (only({"name": "s", "type": "scale", "min": 5, "max": 1}), ("fields", 0, "max"), "2 to 21 steps"),
    (only({"name": "s", "type": "scale", "min": 0.5}), ("fields", 0, "min"), "use the type number"),
    (only({"name": "s", "type": "scale", "max": 101}), ("fields", 0, "max"), "from -100 to 100"),
    (only({"name": "n", "type": "number", "min": 1, "max": 1}), ("fields", 0, "max"), "above `min`"),
    (
        only({"name": "n", "type": "number", "slider": True, "min": 0}),
        ("fields", 0, "slider"),
        "`min` and `max`",
    ),
    (
        only({"name": "n", "type": "number", "min": 0, "max": 1, "step": 0.3}),
        ("fields", 0, "step"),
        "1 is not reached",
    ),
    (only({"name": "n", "type": "number", "min": "1"}), ("fields", 0, "min"), "without quotes"),
    (only({"name": "d", "type": "date", "min": 2024}), ("fields", 0, "min"), "a date in quotes"),
    (
        only({"name": "d", "type": "date", "min": "2024-05-02", "max": "2024-05-01"}),
        ("fields", 0, "max"),
        "above `min`",
    ),
    (
        only({"name": "m", "type": "multi_choice", "options": ["a", "b"], "min": 3}),
        ("fields", 0, "min"),
        "from 1 to 2 options",
    ),
    (
        only({"name": "s", "type": "shares", "options": [f"o{n}" for n in range(11)]}),
        ("fields", 0, "options"),
        "at most 10",
    ),
    (
        only(LEVEL, {"name": "t", "type": "text", "prefill": "answers"}),
        ("fields", 1, "prefill"),
        "add `answers` to `shows`",
    ),
    (
        only({"name": "s", "type": "spans", "options": ["a"], "in": "context"}),
        ("fields", 0, "in"),
        "add `context` to `shows`",
    ),
    (only({"name": "s", "type": "spans", "options": ["a"], "in": "table"}), ("fields", 0, "in"), "meta."),
    (only(LEVEL, {"name": "t", "type": "text", "prefill": "x"}), ("fields", 1, "prefill"), "meta."),
    (only({"name": "n", "type": "number", "anchors": {"1": "x"}}), ("fields", 0, "anchors"), "no `anchors`"),
    (only({"name": "s", "type": "scale", "anchors": {"9": "x"}}), ("fields", 0, "anchors", "9"), "no step 9"),
    (only({**LEVEL, "optional": True}), ("fields",), "Make one field required"),
    (only(LEVEL, decide={"field": "x"}), ("decide", "field"), "There is no field 'x'"),
    (only(LEVEL, decide={"field": "level", "rule": "mean"}), ("decide", "rule"), "These fit: majority"),
    (only(LEVEL, decide={"field": "level", "rule": "majority", "gap": 3}), ("decide",), "no such option"),
    (only(LEVEL, agreement={"x": ["fleiss"]}), ("agreement", "x"), "There is no field 'x'"),
    (
        only(LEVEL, agreement={"level": ["alpha_masi"]}),
        ("agreement", "level", 0),
        "These fit: percent, fleiss",
    ),
    (
        only(LEVEL, practice=[{"example": {"id": "p", "question": "?"}, "expected": {}, "why": ""}]),
        ("practice", 0, "example"),
        "table",
    ),
    (
        only(LEVEL, practice=[{**COMPLEXITY["practice"][0], "expected": {"level": "no"}}]),
        ("practice", 0, "expected", "level"),
        "Choose one of: easy, hard.",
    ),
]


@pytest.mark.parametrize(("definition", "path", "message"), REFUSED)
def test_a_bad_definition_is_refused_with_path_and_remedy(
    definition: dict[str, Any], path: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(BadDefinition) as refused:
        task_of("broken", definition)

    assert [fault.path for fault in refused.value.faults] == [path]
    assert message in refused.value.faults[0].message


def test_a_name_is_not_that_of_an_installed_task_type() -> None:
    assert (
        "already" in definition_faults("question_type", only(LEVEL), installed=list(task_types()))[0].message
    )
    assert "small letters" in definition_faults("Level-1", only(LEVEL))[0].message


VALUE = (
    st.none()
    | st.booleans()
    | st.integers(-3, 30)
    | st.text(max_size=6)
    | st.lists(st.text(max_size=3), max_size=3)
)
MUTATED = st.dictionaries(
    st.sampled_from(
        [
            "name",
            "type",
            "label",
            "options",
            "min",
            "max",
            "anchors",
            "optional",
            "when",
            "max_length",
            "help",
        ]
    ),
    VALUE
    | st.sampled_from(["choice", "multi_choice", "cells", "scale", "rank", "text", "level == hard", "level"])
    | st.lists(st.dictionaries(st.sampled_from(["value", "key", "title"]), VALUE, max_size=3), max_size=3),
)


@given(
    fields=st.lists(MUTATED, max_size=3),
    decide=st.none() | st.dictionaries(st.sampled_from(["field", "rule", "most"]), VALUE),
)
def test_every_definition_makes_a_working_task_type_or_is_refused(
    fields: list[dict[str, Any]], decide: dict[str, Any] | None
) -> None:
    named = [{"name": f"f{place}", "type": "text", **field} for place, field in enumerate(fields)]
    definition = only(LEVEL, *named, **({} if decide is None else {"decide": decide}))
    try:
        made = task_of("any", definition)
    except BadDefinition as refused:
        assert all(fault.message for fault in refused.faults)  # noqa: PT017
    else:
        response = made.parse(made.simulate(ITEM, random.Random(1), 0.5, random.Random(1)), ITEM)
        assert isinstance(resolve(made, {}, [response], ITEM), Acceptance | NeedsAdjudication)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


SHARE = {"name": "share", "type": "number", "min": -5, "max": 100.5}


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("0.5", 0.5),
        ("-3", -3),
        (" 7 ", 7),
        ("7.0", 7),
        (100.5, 100.5),
        ("1e-3", 0.001),
        (0, 0),
        (-0.0, 0),
        (-5, -5),
    ],
)
def test_a_number_is_read_as_it_is(sent: object, read: float) -> None:
    response = task_of("shares", only(SHARE)).parse({"share": sent}, ITEM)

    assert (response.share, type(response.share)) == (read, type(read))


@pytest.mark.parametrize(
    "sent",
    ["0.12345678901234567", "100.6", -6, "1,5", "nan", "inf", "1e999", "0x1", True, [1], "", None, "٣"],
)
def test_what_is_no_number_within_its_limits_is_refused(sent: object) -> None:
    with pytest.raises(InvalidResponse) as refused:
        task_of("shares", only(SHARE)).parse({"share": sent}, ITEM)

    assert [problem.path for problem in refused.value.problems] == ["share"]


def test_the_mean_of_numbers_decides_and_agreement_is_that_of_intervals() -> None:
    defined = task_of("shares", only(SHARE))
    responses = [defined.parse({"share": value}, ITEM) for value in (0.5, -3)]

    decided = resolve(defined, {}, responses, ITEM)

    assert isinstance(decided, Acceptance)
    assert decided.outcomes[0].response.share == -1.25
    (measure,) = defined.measures
    assert (measure.level, measure.statistics[0]) == ("interval", "krippendorff_alpha_interval")
    assert [measure.value(response) for response in responses] == [0.5, -3]
    assert defined.describe(responses[0], ITEM) == ["Share: 0.5"]


@pytest.mark.parametrize("limits", [{}, {"min": 3}, {"max": -4}, {"min": 0.001, "max": 0.004}])
def test_simulated_numbers_keep_the_limits(limits: dict[str, float]) -> None:
    defined = task_of("shares", only({"name": "share", "type": "number", **limits}))
    rng = random.Random(1)

    for _ in range(20):
        defined.parse(defined.simulate(ITEM, rng, 0.5, rng), ITEM)


def test_the_usual_rule_of_a_type_of_field_stays_when_a_rule_is_added() -> None:
    """A definition without a rule has the first: a new entry of `decision_rules.RULES` comes after the usual one."""
    usual = {field_type: RULES[field_type][0] for field_type in TYPES}

    assert usual == {
        "choice": "majority",
        "multi_choice": "set_overlap",
        "rank": "majority",
        "scale": "mean",
        "number": "mean",
        "date": "majority",
        "shares": "mean",
        "spans": "set_overlap",
        "cells": "set_overlap",
        "text": "each",
    }


def test_points_come_to_the_total_and_their_means_do_too() -> None:
    field = {"name": "split", "type": "shares", "options": ["yes", "no"]}
    defined = task_of("split", only(field, decide={"field": "split", "rule": "mean"}))

    responses = [defined.parse({"split": points}, ITEM) for points in ([70, 30], ["40", "60"], [100, ""])]

    assert [response.split for response in responses] == [(70, 30), (40, 60), (100, 0)]
    for wrong in ([70, 20], [-10, 110], [50.5, 49.5], ["x", 100], [100], "100"):
        with pytest.raises(InvalidResponse):
            defined.parse({"split": wrong}, ITEM)
    decided = resolve(defined, {}, responses, ITEM)
    assert isinstance(decided, Acceptance)
    assert response_data(decided.outcomes[0].response) == {"split": [70, 30]}
    assert [measure.name for measure in defined.measures] == ["split_1", "split_2"]
    assert [measure.value(responses[1]) for measure in defined.measures] == [40, 60]
    assert str(defined.measure_text("split_1")) == "Split: Yes"
    text = defined.measure_text("split_2")
    assert isinstance(text, translation.TranslatedText)
    assert text.in_language("de") == "Split: No"


def test_a_decision_with_too_few_options_goes_to_an_adjudicator() -> None:
    field = {"name": "tags", "type": "multi_choice", "options": ["a", "b", "c"], "min": 2, "max": 2}
    defined = task_of("tags", only(field, decide={"field": "tags", "rule": "set_overlap", "least": 0.1}))
    responses = [defined.parse({"tags": tags}, ITEM) for tags in (["a", "b"], ["a", "c"], ["a", "b"])]

    assert isinstance(resolve(defined, {}, responses, ITEM), Acceptance)
    decided = resolve(defined, {}, [*responses[:2], defined.parse({"tags": ["b", "c"]}, ITEM)][:2], ITEM)
    assert isinstance(decided, NeedsAdjudication)
    assert "too few or too many" in str(decided.reason)


@pytest.mark.parametrize(("value", "stored"), [("2024-02-29", "2024-02-29"), ("", "")])
def test_a_day_is_stored_as_it_is(value: str, stored: str) -> None:
    defined = task_of("day", only(LEVEL, {"name": "day", "type": "date", "optional": True}))

    assert defined.parse({"level": "easy", "day": value}, ITEM).day == stored
    for wrong in ("2023-02-29", "20240101", "2024-1-1", 7, "2024-W01-1"):
        with pytest.raises(InvalidResponse):
            defined.parse({"level": "easy", "day": wrong}, ITEM)


def test_a_number_is_a_step() -> None:
    defined = task_of(
        "share", only({"name": "share", "type": "number", "min": 0, "max": 1, "step": 0.1, "slider": True})
    )

    assert defined.parse({"share": "0.3"}, ITEM).share == 0.3
    with pytest.raises(InvalidResponse, match=r"Use steps of 0\.1"):
        defined.parse({"share": 0.35}, ITEM)


SPANS = {"name": "names", "type": "spans", "options": ["person", "place"]}
QUESTION = "did 𝒜da or bo live in rome?"
WITH_NAMES = Item(Example("e-2", QUESTION, MEDALS, ["India"]))


def test_passages_are_characters_of_the_text_with_labels() -> None:
    defined = task_of("names", only(SPANS, decide={"field": "names", "rule": "set_overlap", "least": 0.3}))

    response = defined.parse({"names": [[22, 26, "place"], [4, 7, "person"]]}, WITH_NAMES)

    assert response.names == ((4, 7, "person"), (22, 26, "place"))
    assert defined.describe(response, WITH_NAMES) == ["Names: 𝒜da (Person); rome (Place)"]
    assert defined.restore(response_data(response)) == response
    (measure,) = defined.measures
    characters: Any = measure.value(response)
    assert characters == {(4, "person"), (5, "person"), (6, "person")} | {
        (position, "place") for position in range(22, 26)
    }
    Draft202012Validator(defined.response_schema()).validate(response_data(response))
    assert defined.script == "askew/own-fields.js"
    assert task_of("level", only(LEVEL)).script == ""


@pytest.mark.parametrize(
    "passages",
    [
        [[0, 0, "person"]],
        [[4, 99, "person"]],
        [[-1, 3, "person"]],
        [[4, 7, "thing"]],
        [[4, 7]],
        [["4", 7, "person"]],
        [[True, 7, "person"]],
        [[4, 7, "person"], [5, 9, "person"]],
        [[4, 7, ["person"]]],
        "person",
        {"names": 1},
    ],
)
def test_what_is_no_passage_is_refused(passages: Any) -> None:
    with pytest.raises(InvalidResponse):
        task_of("names", only(SPANS)).parse({"names": passages}, WITH_NAMES)


def test_the_decision_has_the_characters_that_most_people_marked() -> None:
    defined = task_of("names", only(SPANS, decide={"field": "names", "rule": "set_overlap", "least": 0.2}))
    responses = [
        defined.parse({"names": passages}, WITH_NAMES)
        for passages in ([[4, 7, "person"]], [[4, 13, "person"]], [[4, 13, "person"], [22, 26, "place"]])
    ]

    decided = resolve(defined, {}, responses, WITH_NAMES)

    assert isinstance(decided, Acceptance)
    assert response_data(decided.outcomes[0].response) == {"names": [[4, 13, "person"]]}
