"""The answers in what a language model wrote: its final reply without its thinking, and the list in it."""

from __future__ import annotations

import json
import re
from typing import Any

from ..core.json_text import read_json

MOST_CANDIDATES = 20
"""Objects or lists in a reply that are tried, from its end."""

_NAMES = "think|thinking|thought|reasoning|seed:think"
_OPENS = re.compile(
    rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|channel\|>(?!final)|<\|begin_of_thought\|>", re.IGNORECASE
)
_CLOSES = re.compile(
    rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|channel\|>final(?:<\|message\|>)?|<\|end_of_thought\|>",
    re.IGNORECASE,
)
"""Marks of reasoning models: DeepSeek, Qwen, Seed, Magistral, Kimi, gpt-oss, Sky. Chat templates often write the opening
mark into the prompt, so that a reply has the closing one alone."""


def final_reply(text: str) -> str | None:
    """The reply after its last thinking block; None where the thinking has no end."""
    start = 0
    for close in _CLOSES.finditer(text):
        start = close.end()
    final = text[start:]
    return None if _OPENS.search(final) else final.strip() if start else final


def read_answers(reply: str) -> list[str] | None:
    """The answers in the final reply, or None where it holds no list: a model may write more than the JSON it was asked for.

    Of several objects with "answers" only the last one counts, whether or not it can be read: earlier ones are drafts.
    Without such an object the last bare list counts.
    """
    final = final_reply(reply)
    if final is None:
        return None
    key = final.rfind('"answers"')
    if key >= 0:
        return _texts(_object_around(final, key).get("answers"))
    for candidate in (final, *reversed(re.findall(r"\[[^\[\]]*\]", final)[-MOST_CANDIDATES:])):
        try:
            answers = _texts(read_json(candidate))
        except ValueError:
            continue
        if answers is not None:
            return answers
    return None


def _object_around(text: str, key: int) -> dict[str, Any]:
    """The innermost JSON object that holds the characters from `key` on; {} where there is none."""
    start = key
    for _ in range(MOST_CANDIDATES):
        start = text.rfind("{", 0, start)
        if start < 0:
            break
        try:
            data, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if end > key and isinstance(data, dict):
            return data
    return {}


def _texts(value: object) -> list[str] | None:
    if isinstance(value, list) and all(isinstance(text, str | int | float) for text in value):
        return [str(text) for text in value]
    return None
