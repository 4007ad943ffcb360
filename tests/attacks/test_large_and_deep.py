"""Input that is too large, too deep or cannot be said again: refused with a 4xx, in little time."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.study_file import yaml_file
from annotation.study_file.yaml_file import StudyError
from tests.annotation.cast import World

SURROGATE = '"\\ud800"'


def post(world: World, body: str | bytes, who: str = "rea") -> Any:
    client = Client()
    client.force_login(world.people[who])
    return client.post(reverse("api_make_release", args=["films"]), body, content_type="application/json")


@pytest.mark.parametrize(
    "body",
    [
        '{"name": "x", "format": "\\ud800"}',
        '{"name": "x", "format": "askew", "\\udfff": 1}',
        '{"name": "x", "format": "askew", "purpose": "\\ud83d"}',
        '{"name": "\\ud800", "format": "askew"}',
        '{"name": "x", "format": "askew", "waivers": {"\\ud800": "\\ud800"}}',
    ],
)
def test_half_a_surrogate_pair_is_refused_and_quoted_without_it(world: World, body: str) -> None:
    """Found by drawing requests: a refusal that quotes what no UTF-8 can say was a 500."""
    answer = post(world, body)
    assert answer.status_code == 422
    assert json.loads(answer.content)["detail"]


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "-" + "9" * 400, '"Inf"']
)
def test_numbers_that_are_none_are_refused(world: World, number: str) -> None:
    fields = {"mix", "name", "allow_simulated", "waivers", "purpose"}
    if number in ("1e999", '"Inf"'):
        fields -= {"name"}  # a name may say what it wants
    for field in sorted(fields):
        body = {"name": '"x"', "format": '"askew"', field: number}
        text = "{" + ", ".join(f'"{name}": {said}' for name, said in body.items()) + "}"
        assert post(world, text).status_code in (400, 409, 422), (field, number)


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"name":[', '[[{"x":'])
def test_a_body_that_is_nested_without_end_is_refused(world: World, opening: str) -> None:
    for depth in (2_000, 200_000):
        answer = post(world, opening * depth)
        assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")


@pytest.mark.parametrize("depth", [100, 900])
def test_a_response_that_is_nested_deeply_is_refused_wherever_it_is_taken(world: World, depth: int) -> None:
    batch = world.batch()
    assignment = world.take(batch, "ada")
    assert assignment is not None
    client = Client()
    client.force_login(world.ada)
    deep = b'{"revision": 0, "response": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
    for method, name in (("put", "api_draft"), ("post", "api_submit")):
        answer = getattr(client, method)(
            reverse(name, args=[assignment.public_id]), deep, content_type="application/json"
        )
        assert 400 <= answer.status_code < 500


def test_five_megabytes_of_json_are_refused_before_they_are_read(world: World) -> None:
    answer = post(world, b'{"name": "' + b"x" * (5 * 2**20) + b'"}')
    assert (answer.status_code, answer.json()["code"]) == (413, "request_too_large")


def test_a_form_of_too_many_fields_is_refused(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    answer = client.post(reverse("people", args=["films"]), {f"field{n}": "x" for n in range(2001)})
    assert answer.status_code == 400


def test_a_long_text_is_refused_and_shown_again_in_little_time(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    began = time.process_time()
    answer = client.post(
        reverse("project_rename", args=["films"]), {"name": "<" * 1_000_000, "time_zone": "UTC"}
    )
    assert answer.status_code == 200
    assert time.process_time() - began < 5


BOMBS = {
    "aliases of aliases": "a: &a [x, x]\n"
    + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)),
    "an alias of itself": "a: &a [*a]\n",
    "merged keys": "a: &a {x: 1}\nb: {<<: *a}\n",
    "nested lists": "a: " + "[" * 5000 + "]" * 5000 + "\n",
    "nested blocks": "".join(" " * n + "a:\n" for n in range(1500)),
    "a tag that makes an object": "a: !!python/object/apply:os.system [echo]\n",
    "a tag of another kind": "a: !!binary aGVsbG8=\n",
    "a long number": "a: " + "9" * 100_000 + "\n",
    "no text": "a: \x00\n",
}


@pytest.mark.parametrize("what", BOMBS)
def test_a_study_file_that_would_grow_is_refused(what: str) -> None:
    began = time.process_time()
    try:
        read = yaml_file.read(BOMBS[what])
    except StudyError as error:
        assert error.faults  # noqa: PT017
    else:
        assert len(str(read.value)) < 200_000
        assert what in ("a long number", "merged keys")
    assert time.process_time() - began < 10
