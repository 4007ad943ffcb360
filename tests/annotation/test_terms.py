"""The terms of a batch: what each accepts, and that its surfaces agree about it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import models
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from annotation.models.batch_options import SECTIONS, TERMS, Context, Term, changeable, check
from annotation.platform.refusals import ActionRefused
from tasks.contract import task_type, task_types

PURPOSES = ("work", "calibration", "qualification")
plain = st.none() | st.booleans() | st.integers(-2, 120) | st.text(max_size=3)
objects = st.dictionaries(
    st.sampled_from(
        ["items", "items_per_day", "hours_per_day", "currency", "per_hour", "per_item", "rule", "label"]
    ),
    plain | st.just("EUR") | st.just("majority") | st.lists(plain, max_size=2),
    max_size=3,
)


def context_of(kind: str, purpose: str, **values: Any) -> Context:
    """The context of a new batch with the defaults of all terms."""
    context = Context(task_type(kind), values={"purpose": purpose})
    for name, term in TERMS.items():
        context.values.setdefault(name, term.default_in(context))
    context.values |= values
    return context


@pytest.mark.parametrize("purpose", PURPOSES)
def test_every_task_type_can_be_planned_with_defaults(purpose: str) -> None:
    asked = {"pass_percent": 80} if purpose == "qualification" else {}
    for task in task_types().values():
        variant = next(iter(task.variants), "")
        columns = check(task, {"purpose": purpose, "variant": variant, **asked}, project=None)
        assert columns.keys() == TERMS.keys()


@given(
    st.sampled_from(sorted(TERMS)),
    st.sampled_from(PURPOSES),
    plain | objects | st.sampled_from(["open", "split"]),
)
def test_a_value_that_is_accepted_is_accepted_again_and_fits_its_schema(
    name: str, purpose: str, value: Any
) -> None:
    term = TERMS[name]
    if isinstance(value, dict) != (term.column.get_internal_type() == "JSONField") and value is not None:
        return  # shapes are checked before: by forms, by the schema of study files and by callers
    context = context_of("question_type", purpose)
    try:
        accepted = term.checked(value, context)
    except ActionRefused:
        return
    assert term.checked(accepted, context) == accepted
    assert term.in_words(accepted)
    if term.is_set(accepted):
        assert list(Draft202012Validator(term.schema()).iter_errors(term.in_file(accepted))) == []
        assert term.from_file(term.in_file(accepted)) == accepted


@pytest.mark.parametrize("name", TERMS)
def test_a_term_says_what_people_need_to_know(name: str) -> None:
    term = TERMS[name]
    assert term.label
    assert term.help.endswith(".")
    assert term.section in SECTIONS
    assert bool(term.effect) == (name in changeable())


def test_no_two_terms_have_the_same_key_in_a_study_file() -> None:
    assert len({term.path for term in TERMS.values()}) == len(TERMS)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"gold_percent": 10, "purpose": "calibration"}, "Leave gold_percent out of a calibration batch"),
        ({"overlap": 0}, "People per item (overlap) must be a whole number from 1 to 50"),
        ({"overlap": True}, "People per item (overlap) must be a whole number from 1 to 50"),
        ({"strategy": "lottery"}, "(strategy) must be one of open, split, everyone"),
        ({"strategy": "split", "purpose": "calibration"}, "everyone gets every item"),
        ({"speed": 3}, "A batch has no term 'speed'"),
        ({"resolve": {"rule": "majority", "most": 2}, "overlap": 3}, "less than the 3 people per item"),
        ({"unhelped": 20}, "Question type does not support this option: Control share"),
    ],
)
def test_what_is_wrong_is_refused_with_its_name(terms: dict[str, Any], words: str) -> None:
    with pytest.raises(ActionRefused) as raised:
        check(task_type("question_type"), terms, project=None)
    assert words in raised.value.detail


def test_defaults_follow_from_the_task_type_and_the_purpose() -> None:
    task = task_type("question_type")
    columns = check(task, {"purpose": "calibration"}, project=None)
    assert (columns["strategy"], columns["decide_at_close"]) == ("everyone", False)
    columns = check(task, {"strategy": "everyone"}, project=None)
    assert (columns["overlap"], columns["decide_at_close"]) == (task.default_overlap, True)


def term_of(column: models.Field[Any, Any], **more: Any) -> Term:
    """A term that no batch has."""
    Term(label="Extra", section="limits", **more).of(column)
    column.set_attributes_from_name("extra")
    return column.term  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("column", "value"),
    [(models.BooleanField(default=True), False), (models.PositiveSmallIntegerField(default=3), 0)],
)
def test_zero_or_no_in_place_of_another_default_is_shown(column: models.Field[Any, Any], value: Any) -> None:
    assert term_of(column).is_set(value)
    assert not term_of(column).is_set(column.get_default())


def test_a_text_is_as_long_as_its_column() -> None:
    term = term_of(models.CharField(max_length=5))
    context = Context(task_type("question_type"))

    assert term.schema()["maxLength"] == 5
    assert term.checked("12345", context) == "12345"
    with pytest.raises(ActionRefused, match=r"\(extra\) must have at most 5 characters"):
        term.checked("123456", context)
