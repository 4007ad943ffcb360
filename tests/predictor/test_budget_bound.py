"""A conversation is reserved with the most tokens it may have, whatever the tokenizer makes of it."""

from __future__ import annotations

import pytest

from predictor.usage import largest_messages


@pytest.mark.parametrize("content", ["", "1,204.5 | 3.75 | 99", "表の中の数", "naïve", "a" * 400])
def test_a_conversation_has_at_most_as_many_tokens_as_bytes(content: str) -> None:
    assert largest_messages([{"role": "user", "content": content}]) >= len(content.encode())
