"""The answers in what a language model wrote: its final reply without its thinking, and the list in it."""

from __future__ import annotations

import json
import re
from typing import Any

from ..core.json_text import read_json

MOST_CANDIDATES = 20
"""Objects in a reply that are tried, from its end."""

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

_KEY = re.compile(r'"answers?"\s*:')
_BOX = r"\boxed{"
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf){([^{}]*)}|\\([$%&#_])")
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.?)*+(?:"|\Z))|,(?=\s*[\]}])', re.DOTALL)
"""Strings, which stay as they are; then commas after the last value of a list or object."""


def final_reply(text: str) -> str | None:
    """The reply after its last thinking block; None where the thinking has no end."""
    start = 0
    for close in _CLOSES.finditer(text):
        start = close.end()
    final = text[start:]
    return None if _OPENS.search(final) else final.strip() if start else final


def thinking_of(text: str) -> str:
    """What a reply has before its final part, without the marks; "" for an empty block, of a model that does not think."""
    start = max((close.end() for close in _CLOSES.finditer(text)), default=0)
    return _OPENS.sub("", _CLOSES.sub("", text[:start])).strip()


def read_answers(reply: str) -> list[str] | None:
    r"""The answers in the final reply, or None where it holds none: a model may write more than the JSON it was asked for.

    Read are, in this order: what the last `<answer>` holds; of objects with "answers" or "answer" and of `\boxed{}` the
    last; a list that is the whole reply, its last line or the code block at its end; a reply that is one JSON string.
    Brackets within prose are citations. Earlier objects are drafts, also where the last one cannot be read.
    """
    final = final_reply(reply)
    if final is None:
        return None
    final = _TRAILING_COMMA.sub(r"\1", final).strip()
    end = final.rfind("</answer>")
    start = final.rfind("<answer>", 0, max(end, 0))
    tagged = final[start + len("<answer>") : end].strip() if start >= 0 else ""
    answers = _read_form(tagged or final)
    return [tagged] if tagged and answers is None and tagged[0] not in "{[`" else answers


def _read_form(text: str) -> list[str] | None:
    """The answers of an object, a box or a bare list."""
    box = text.rfind(_BOX)
    key = max((match.start() for match in _KEY.finditer(text)), default=-1)
    if key > box:
        data = _object_around(text, key)
        return _texts(data.get("answers", data.get("answer")))
    if box >= 0:
        content = _in_braces(text, box + len(_BOX))
        answers = _json_list(content)
        return [content] if answers is None and content else answers
    unfenced = text.removesuffix("```").rstrip()
    block = unfenced.rpartition("```")[2].removeprefix("json") if unfenced != text else ""
    for candidate in (text, block, text.rpartition("\n")[2]):
        answers = _json_list(candidate)
        if answers is not None:
            return answers
    return [json.loads(text)] if _STRING.fullmatch(text) else None


_STRING = re.compile(r'"[^"\\\x00-\x1f]+"')
"""A JSON string without escapes."""


def _json_list(text: str) -> list[str] | None:
    """The texts of a JSON list; None for anything else."""
    if not text.strip().startswith("["):
        return None
    try:
        return _texts(read_json(text))
    except ValueError:
        return None


def _in_braces(text: str, start: int) -> str:
    """What LaTeX has from here to the brace that closes the group, without marks of fonts; "" where none closes it."""
    depth = 1
    for position in range(start, len(text)):
        depth += (text[position] == "{") - (text[position] == "}")
        if not depth:
            return _LATEX.sub(r"\1\2", text[start:position]).strip()
    return ""


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
    """A list of texts or numbers, or a single one, as texts; None for anything else."""
    values = value if isinstance(value, list) else [] if value == "" else [value]
    return (
        [str(text) for text in values]
        if all(isinstance(text, str | int | float) for text in values)
        else None
    )
