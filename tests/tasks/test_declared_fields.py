"""A declared field reads what its form sends, refuses everything else, and is asked only under its condition."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tasks.contract import Acceptance, InvalidResponse, Item, Problem, response_data, task_types
from tasks.shared.conditions import OPERATORS, Condition
from tasks.shared.declared_types import DeclaredTask, LabelTask, RatingTask
from tasks.shared.form_fields import (
    Cells,
    Choice,
    MultiChoice,
    Option,
    Question,
    Scale,
    Text,
)

FILMS = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])
ITEM = Item(Example("e-1", "which film is older?", FILMS, ["Alien"]))
LEVEL = Choice(
    name="level", options=(Option("easy"), Option("hard", help="It takes paper.")), required="Choose."
)
REASONS = MultiChoice(
    name="reasons",
    options=(Option("long"), Option("wide", key="w")),
    required="Say why.",
    when=Condition("level", "==", "hard"),
)
QUALITY = Scale(name="quality", lowest=0, highest=10, required="Rate it.")
NOTE = Text(name="note", longest=5, required="Write a note.", needed=Condition("reasons", "contains", "wide"))
CELLS = Cells(name="cells")
JSON: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 12)
    | st.text(max_size=3)
    | st.sampled_from(["easy", "long", "r0"]),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=3), parts, max_size=2),
    max_leaves=5,
)


class ReadingTask(DeclaredTask):
    """All sorts of fields in one form."""

    key, title = "reading", "ReadingTask"
    fields: ClassVar[tuple[Question, ...]] = (LEVEL, REASONS, QUALITY, NOTE, CELLS)
    response_type = dict


@dataclass(frozen=True)
class CommentedResponse:
    """A label, a score or both, and a comment."""

    label: str = "rows"
    quality: int | float | None = 3
    comment: str = ""


class Layout(LabelTask):
    """A label with a comment."""

    key, title = "layout", "Layout"
    response_type = CommentedResponse
    fields: ClassVar[tuple[Question, ...]] = (
        Choice(name="label", options=(Option("rows", "By rows"), Option("matrix")), required="Choose."),
        Text(name="comment"),
    )


class ScoredTask(RatingTask):
    """A score with a comment."""

    key, title = "scored", "ScoredTask"
    response_type = CommentedResponse
    fields: ClassVar[tuple[Question, ...]] = (QUALITY, Text(name="comment"))


def parsed(**data: Any) -> dict[str, Any]:
    return dict(ReadingTask().parse({"level": "easy", "quality": 3, **data}, ITEM))


def codes(**data: Any) -> list[str]:
    with pytest.raises(InvalidResponse) as invalid:
        parsed(**data)
    return [problem.code for problem in invalid.value.problems]


@given(
    data=st.dictionaries(st.sampled_from(["level", "reasons", "quality", "note", "cells", "x"]), JSON) | JSON
)
def test_whatever_is_sent_is_read_or_refused(data: Any) -> None:
    try:
        response = ReadingTask().parse(data, ITEM)
    except InvalidResponse as invalid:
        assert all(problem.message for problem in invalid.problems)  # noqa: PT017
    else:
        assert (
            ReadingTask().parse(
                {
                    name: list(value) if isinstance(value, tuple) else value
                    for name, value in response.items()
                },
                ITEM,
            )
            == response
        )


@given(value=JSON, symbol=st.sampled_from(list(OPERATORS)), wanted=st.integers() | st.text(max_size=3))
def test_a_condition_holds_or_not_and_never_fails(value: Any, symbol: str, wanted: int | str) -> None:
    assert Condition("x", symbol, wanted).holds({"x": value}) in (True, False)


def test_a_field_is_asked_only_under_its_condition() -> None:
    assert parsed(reasons=["long"])["reasons"] == ()
    assert parsed(level="hard", reasons=["long", "long"])["reasons"] == ("long",)
    assert codes(level="hard") == ["no_reasons"]


def test_a_field_is_required_only_under_its_condition() -> None:
    assert parsed(level="hard", reasons=["long"])["note"] == ""
    assert codes(level="hard", reasons=["wide"]) == ["no_note"]
    assert parsed(level="hard", reasons=["wide"], note=" a ")["note"] == "a"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"level": "none"}, ["no_level"]),
        ({"level": "hard", "reasons": ["high"]}, ["unknown_option"]),
        ({"level": "hard", "reasons": "long"}, ["wrong_type"]),
        ({"quality": 11}, ["no_score"]),
        ({"quality": True}, ["no_score"]),
        ({"note": "too long"}, ["wrong_type"]),
        ({"cells": [["r0"]]}, ["wrong_type"]),
        ({"cells": [["r9", "c0"]]}, ["unknown_cell"]),
        ({"other": 1}, ["unknown_field"]),
    ],
)
def test_a_wrong_value_is_refused_with_a_code(sent: dict[str, Any], expected: list[str]) -> None:
    assert codes(**sent) == expected


def test_an_optional_field_may_be_empty() -> None:
    class Lenient(ReadingTask):
        fields = (Choice(name="level", options=LEVEL.options), Scale(name="quality"))

    for sent in ({}, {"level": "", "quality": None}, {"quality": ""}):
        assert Lenient().parse(sent, ITEM) == {"level": "", "quality": None}


def test_cells_are_in_the_order_of_the_table() -> None:
    assert parsed(cells=[["r1", "c0"], ["r0", "c1"], ["r1", "c0"]])["cells"] == (("r0", "c1"), ("r1", "c0"))


def test_the_form_has_an_input_for_each_field() -> None:
    page = render_to_string(
        ReadingTask().form_template,
        {"task": ReadingTask(), "data": {"level": "hard", "cells": []}, "assignment": {"shows": {}}},
    )
    for field in ReadingTask.fields:
        assert f'data-field="{field.name}"' in page
    assert page.count(" checked") == 1
    assert 'data-key="w"' in page


def test_the_form_submits_without_a_field_that_may_be_empty() -> None:
    """The script refuses every empty field that has a message."""
    optional = Choice(name="level", options=LEVEL.options), Scale(name="quality"), REASONS, CELLS

    class Lenient(ReadingTask):
        fields = optional

    page = render_to_string(Lenient().form_template, {"task": Lenient(), "data": {}})
    assert "data-required" not in page
    assert " required" not in page


def test_a_key_submits_only_where_nothing_is_typed() -> None:
    with_text = render_to_string(Layout().form_template, {"task": Layout(), "data": {}})
    assert "data-commit" not in with_text

    class Plain(Layout):
        fields = Layout.fields[:1]

    assert "data-commit" in render_to_string(Plain().form_template, {"task": Plain(), "data": {}})


def test_a_form_has_the_legend_and_the_help_of_each_field() -> None:
    class HelpedTask(ReadingTask):
        fields = tuple(
            field(name=field.__name__, legend=f"Which {field.__name__}?", help=f"About {field.__name__}.")
            for field in (Choice, MultiChoice, Scale, Text, Cells)
        )

    page = render_to_string(HelpedTask().form_template, {"task": HelpedTask(), "data": {}})
    for field in HelpedTask.fields:
        assert field.legend in page
        assert field.help in page


@pytest.mark.parametrize("task", [Layout(), ScoredTask()], ids=["label", "rating"])
def test_a_comment_beside_labels_and_scores_is_described_shown_and_released(
    task: LabelTask | RatingTask,
) -> None:
    response = CommentedResponse(comment="A <b>pivot</b>")
    sentences = task.describe(response, ITEM)
    assert sentences[-1] == "Comment: A <b>pivot</b>"
    assert len(sentences) == 2
    page = render_to_string(
        task.response_template, {"task": task, "data": response_data(response), "words": sentences}
    )
    assert page.count("A &lt;b&gt;pivot&lt;/b&gt;") == 1
    assert "<strong>By rows</strong>" in page or "<strong>3</strong> of 10" in page
    (exported,) = task.export("askew", ITEM, response, None)
    assert exported.part == task.key
    assert exported.record["comment"] == "A <b>pivot</b>"
    assert list(task.export("freb_tqa", ITEM, response, None)) == []
    assert task.feedback(ITEM, response, CommentedResponse())[0] is True


def test_scores_with_comments_have_a_mean() -> None:
    resolution = ScoredTask().resolve(
        [CommentedResponse(quality=2, comment="a"), CommentedResponse(quality=4)], ITEM
    )
    assert isinstance(resolution, Acceptance)
    assert resolution.outcomes[0].response == CommentedResponse(quality=3)


@given(seed=st.integers(0, 500))
def test_simulated_people_fill_in_every_required_field(seed: int) -> None:
    class Strict(ReadingTask):
        fields = (LEVEL, REASONS, QUALITY, NOTE, Cells(name="cells", required="Mark one."))

    data = Strict().simulate(ITEM, random.Random(seed), 0.8, random.Random("truth"))
    assert Strict().parse(data, ITEM)["cells"]


def test_agreement_is_computed_on_all_fields_but_texts() -> None:
    assert [(measure.name, measure.level) for measure in ReadingTask.measures] == [
        ("level", "nominal"),
        ("reasons", "sets"),
        ("quality", "ordinal"),
        ("cells", "cells"),
    ]


def test_an_empty_field_says_nothing_to_agreement() -> None:
    """An empty selection is a value where the field was asked: none of the options fits."""

    def value(field: Question, entered: Any) -> Any:
        measure = field.measure()
        assert measure is not None
        return measure.value(SimpleNamespace(**{field.name: entered}))

    assert value(LEVEL, "") is None
    assert value(LEVEL, "easy") == "easy"
    assert value(QUALITY, None) is None
    assert value(QUALITY, 0) == 0
    assert value(REASONS, ()) is None
    assert value(REASONS, ("long",)) == {"long"}
    assert value(CELLS, ()) == frozenset()


def test_simulated_people_are_right_as_often_as_they_should() -> None:
    right = [
        LEVEL.simulate(ITEM, random.Random(seed), 0.8, random.Random("truth"), (1, 0)) == "easy"
        for seed in range(500)
    ]
    assert 0.74 < sum(right) / len(right) < 0.86


def test_a_subclass_can_word_what_is_missing() -> None:
    class WordedTask(ReadingTask):
        def missing(self, field: Question, item: Item) -> Problem:
            return Problem(field.name, field.code, f"{field.label} of {item.example.id}")

    with pytest.raises(InvalidResponse, match="Level of e-1"):
        WordedTask().parse({"quality": 1}, ITEM)


def test_labels_and_ratings_declare_their_fields() -> None:
    """Agreement follows from the declaration."""
    labels = [task for task in task_types().values() if isinstance(task, LabelTask)]
    ratings = [task for task in task_types().values() if isinstance(task, RatingTask)]
    assert labels
    assert ratings
    for task in (*labels, *ratings):
        assert [measure.name for measure in task.measures] == [field.name for field in task.fields]
