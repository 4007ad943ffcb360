"""Refusals: one call looks the sentence up, fills it in and raises it."""

from __future__ import annotations

import pytest
from django.utils import translation

from annotation.platform.refusals import ActionRefused, refuse

MEMBER = "{name} is not in {project}."
GONE = "The batch was closed. Its annotations cannot be changed."


def test_a_refusal_has_its_code_its_status_and_its_values() -> None:
    with pytest.raises(ActionRefused) as refused:
        refuse("no_member", MEMBER, name="Ada", project="Tables")

    assert (refused.value.code, refused.value.status) == ("no_member", 409)
    assert refused.value.detail == str(refused.value) == "Ada is not in Tables."
    assert refused.value.more == {}


def test_values_may_have_the_names_of_the_parameters_and_additions_are_no_values() -> None:
    with pytest.raises(ActionRefused) as refused:
        refuse("place_taken", "{code}: {text}", more={"page": "/"}, code="A", text="B")

    assert refused.value.detail == "A: B"
    assert refused.value.more == {"page": "/"}


def test_a_sentence_without_values_is_taken_as_it_is() -> None:
    with pytest.raises(ActionRefused) as refused:
        refuse("invalid_request", 'Write {"a": 1}.')

    assert refused.value.detail == 'Write {"a": 1}.'


def test_a_refusal_is_in_the_language_of_the_reader() -> None:
    with translation.override("de"), pytest.raises(ActionRefused) as refused:
        refuse("batch_closed", GONE)

    assert refused.value.detail not in ("", GONE)


def test_braces_of_a_value_stay_as_they_are() -> None:
    with pytest.raises(ActionRefused) as refused:
        refuse("invalid_request", "There is no {name}.", name="{batch}")

    assert refused.value.detail == "There is no {batch}."


def test_a_refusal_hides_the_error_that_it_explains() -> None:
    with pytest.raises(ActionRefused) as refused:
        open_missing()

    assert refused.value.__suppress_context__


def open_missing() -> None:
    try:
        raise KeyError("inner")
    except KeyError:
        refuse("invalid_request", GONE)
