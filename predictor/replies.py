"""The final reply of a language model: what it writes after its thinking."""

from __future__ import annotations

import re

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
