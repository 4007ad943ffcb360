"""One text for one JSON value, and values that nobody can change."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.core.canonical_json import FrozenDict, SharedObject, canonical, digest, freeze, thaw

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def test_keys_are_sorted_and_nothing_is_escaped_that_need_not_be() -> None:
    assert canonical({"b": [1, 2.5, None], "a": "é|\n"}) == '{"a":"é|\\n","b":[1,2.5,null]}'


def test_the_digest_is_that_of_the_utf_8_text() -> None:
    # printf '{"a":"é"}' | sha256sum
    assert digest({"a": "é"}) == "b3a092a6af48807fa9482b2ee140105575daa26d5b24b3c0e60a7e2dee6683b1"
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_json_has_no_word_for_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical(value)


@pytest.mark.parametrize("value", [{1: "a"}, [{"a": {None: 1}}], {("a",): 1}])
def test_keys_that_are_not_strings_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="not a string"):
        canonical(value)


def test_half_a_surrogate_pair_has_no_digest() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        digest({"a": "\ud800"})


@given(json_values)
def test_the_canonical_text_says_the_value(value: object) -> None:
    assert json.loads(canonical(value)) == value


@given(st.dictionaries(st.text(), st.dictionaries(st.text(), json_values, max_size=2), max_size=4), st.data())
def test_an_object_that_keeps_its_text_is_written_as_any_other(
    value: dict[str, dict[str, object]], data: st.DataObject
) -> None:
    kept = data.draw(st.sets(st.sampled_from(sorted(value)))) if value else set()
    worded = {key: SharedObject(inner) if key in kept else inner for key, inner in value.items()}
    assert worded == value
    assert (
        canonical(worded) == canonical(SharedObject(worded)) == SharedObject(worded).text == canonical(value)
    )
    assert canonical([worded]) == canonical([value])


def test_an_object_beside_one_that_keeps_its_text_is_refused_all_the_same() -> None:
    with pytest.raises(TypeError, match="not a string"):
        canonical({"a": SharedObject({"b": 1}), 1: "c"})
    with pytest.raises(TypeError, match="not a string"):
        canonical({"a": SharedObject({"b": 1}), "c": {2: 1}})
    with pytest.raises(TypeError, match="not a string"):
        canonical({"a": SharedObject({"b": {None: 1}})})


@given(json_values)
def test_freezing_keeps_the_value_and_thawing_gives_it_back(value: object) -> None:
    assert thaw(freeze(value)) == value
    assert canonical(freeze(value)) == canonical(value)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 2),
        lambda d: d.__delitem__("a"),
        lambda d: d.update(a=2),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.clear(),
        lambda d: d.setdefault("b", 1),
        lambda d: d.__ior__({"b": 1}),
    ],
)
def test_a_frozen_dict_refuses_every_writer(change) -> None:
    frozen = FrozenDict(a=1)
    with pytest.raises(TypeError, match="immutable"):
        change(frozen)
    assert frozen == {"a": 1}


def test_a_frozen_dict_is_copied_pickled_and_hashed() -> None:
    frozen = freeze({"a": [1, {"b": 2}]})
    assert pickle.loads(pickle.dumps(frozen)) == frozen
    assert copy.deepcopy(frozen) is frozen
    assert copy.copy(frozen) is frozen
    assert hash(frozen) == hash(freeze({"a": [1, {"b": 2}]}))
    assert json.dumps(frozen) == '{"a": [1, {"b": 2}]}'
