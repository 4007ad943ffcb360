"""What a language model wrote, in characters that can be stored."""

from __future__ import annotations

import re

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
