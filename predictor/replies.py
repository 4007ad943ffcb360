"""What a language model wrote: its final reply without its thinking, in characters that can be stored."""

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


_HEX = "[0-9a-f]{2}"
_ESCAPES = re.compile(
    rf"\\ud[89ab]{_HEX}\\ud[c-f]{_HEX}|\\[^u]|(?P<escape>\\u(?:0000|d[89a-f]{_HEX}))|(?P<character>[\0\ud800-\udfff])",
    re.IGNORECASE,
)
"""Whole pairs and other escapes, which stay; then what no file or database holds."""


def storable_text(text: str) -> str:
    """A text with U+FFFD for NUL and halves of surrogate pairs, also as escapes: the text may be JSON that is read later."""

    def replacement(match: re.Match[str]) -> str:
        return r"\ufffd" if match["escape"] else "\ufffd" if match["character"] else match[0]

    return _ESCAPES.sub(replacement, text)
