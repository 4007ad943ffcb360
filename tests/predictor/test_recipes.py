"""The recipes of docs/reference/recipes.md: the documented request reaches the server, and its model's replies are read.

The conversation is written here a second time, from the file of the table, and not by `predictor.prompts`.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from predictor.chat import chat_model
from predictor.configuration import read
from predictor.listing import ask_for_list
from tableqa import Example, Table
from tableqa.readers import READERS
from tests.plugin import ROOT

PAGE = (ROOT / "docs" / "reference" / "recipes.md").read_text("utf-8")
BLOCK = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
BLOCKS = [block.replace("\n    ", "\n").strip() for block in BLOCK.findall(PAGE)]
CONVERSATION = BLOCKS[0]
ENTRIES = [block for block in BLOCKS if '"protocol"' in block]
REQUESTS = [block for block in BLOCKS if "[…]" in block]
QUESTIONS = 200
KEY = [
    "Oslo",
    "22",
    "October 12, 2009",
    "Salt Lake City, Utah",
    "yes",
    "1,000",
    "at Dallas Cowboys",
    "São Paulo",
]
REPLIES = {
    "qwen3": (
        '{{"answers": [{0}]}}',
        '```json\n{{"answers": [{0}]}}\n```',
        '<think>\nRow [2], perhaps ["draft"].\n</think>\n\n{{"answers": [{0}]}}',
        "The second row [2] has it.\n\n\\boxed{{{1}}}",
        '**Answer:**\n{{"answers": [{0}]}}',
    ),
    "table-r1": (
        'Step 1: rows [1, 3].\n\n```json\n{{"answer": [{0}]}}\n```',
        'The rows [2] decide.\n{{"answer": {0}}}',
        '<think>Rows [1].</think>\n<answer>\n```json\n{{"answer": [{0}]}}\n```\n</answer>',
        'I count [3, 4].\n\n{{\n    "answer": [\n        {0}\n    ]\n}}',
        "<think>It is in row [2].</think><answer>{1}</answer>",
    ),
    "o4-mini": (
        '{{"answers":[{0}]}}',
        '{{"answers": {0}}}',
        "[{0}]",
        '```json\n{{"answers": [{0}]}}\n```',
        'From the table: {{"answers": [{0}]}}',
    ),
}
"""In each model's format; {0} is the answer as JSON, {1} as text."""


def entry(number: int) -> tuple[str, dict[str, Any]]:
    (pair,) = json.loads(ENTRIES[number]).items()
    return pair


def conversation(example: Example) -> str:
    """The messages about a question of WikiTableQuestions, as JSON."""
    lines = [
        " | ".join(" ".join(cell.split()) for cell in row)
        for row in (example.table.header, *example.table.rows)
    ]
    messages = json.loads(CONVERSATION)
    title = f"{example.table.title}\n" if example.table.title else ""
    messages[-1]["content"] = f"{title}{chr(10).join(lines)}\n\nQuestion: {example.question}"
    return json.dumps(messages)


def test_every_recipe_is_tested() -> None:
    assert [entry(number)[0] for number in range(len(ENTRIES))] == list(REPLIES)
    assert len(REQUESTS) == len(ENTRIES)


@pytest.mark.parametrize("number", range(3))
def test_the_documented_request_reaches_the_server(number: int, test_data: Path) -> None:
    name, settings = entry(number)
    received: list[bytes] = []

    def handle(request: httpx.Request) -> httpx.Response:
        received.append(request.content)
        return httpx.Response(
            200, json={"choices": [{"message": {"content": '["x"]'}, "finish_reason": "stop"}]}
        )

    chat = replace(
        chat_model(read(json.dumps({name: settings})), name), transport=httpx.MockTransport(handle)
    )
    wtq = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    short = (
        example
        for example in wtq
        if sum(map(len, example.table.header)) < 500 and len(example.table.rows) < 100
    )
    examples = list(islice(short, QUESTIONS))
    assert len(examples) == QUESTIONS
    for example in examples:
        ask_for_list(chat, example)
        body = json.loads(REQUESTS[number].replace("[…]", conversation(example)))
        assert received.pop() == json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("number", range(3))
def test_the_replies_of_its_model_are_read(number: int) -> None:
    name, settings = entry(number)
    texts: list[str] = []
    transport = httpx.MockTransport(
        lambda request: httpx.Response(
            200, json={"choices": [{"message": {"content": texts[-1]}, "finish_reason": "stop"}]}
        )
    )
    chat = replace(chat_model(read(json.dumps({name: settings})), name), transport=transport)
    example = Example(id="1", question="which?", table=Table(["a"], [["b"]]), answers=["b"])
    read_count = 0
    for answer in [text + suffix for suffix in ("", " 2", " B", " (c)", " d, e") for text in KEY]:
        for form in REPLIES[name]:
            texts.append(form.format(json.dumps(answer, ensure_ascii=False), answer))
            assert ask_for_list(chat, example).answers == (answer,), texts[-1]
            read_count += 1
    assert read_count == QUESTIONS
