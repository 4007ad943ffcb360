"""The server works something out for a tool of a page: for whoever is signed in, and nothing is stored."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.annotation.cast import World

JSON = "application/json"
QUESTION = {"cells": ["Oslo, Norway"], "way": {"by": "delimiter", "text": ", "}}


def ask(client: Client, kind: str, body: Any) -> Any:
    return client.post(f"/api/task-types/{kind}/work-out/", body, content_type=JSON)


def test_a_tool_of_a_kind_gets_its_answer(world: World, client: Client) -> None:
    client.force_login(world.ada)
    answer = ask(client, "column_extension", {"question": QUESTION})
    assert answer.status_code == 200
    assert answer.json()["answer"]["cuts"] == [{"parts": ["Oslo", "Norway"]}]


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("column_extension", {}, 422),
        ("column_extension", {"question": []}, 422),
        ("column_extension", {"question": {"cells": 1}}, 422),
        ("question_type", {"question": {}}, 422),
        ("no_such_kind", {"question": {}}, 404),
    ],
)
def test_what_is_no_question_is_refused_in_words(
    world: World, client: Client, kind: str, body: Any, status: int
) -> None:
    client.force_login(world.ada)
    answer = ask(client, kind, body)
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_strangers_get_no_answer(world: World, client: Client) -> None:
    assert ask(client, "column_extension", {"question": QUESTION}).status_code in (401, 403)
