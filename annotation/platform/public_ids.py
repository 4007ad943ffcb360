"""Ids that leave the server: random, so that they say nothing about order, origin or how many there are."""

import secrets

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
LENGTH = 12
_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)


def new_public_id() -> str:
    """Twelve characters without look-alikes: 59 bits of randomness."""
    drawn, text = secrets.randbelow(len(ALPHABET) ** LENGTH), ""
    for _ in range(LENGTH // 2):
        drawn, pair = divmod(drawn, len(_PAIRS))
        text += _PAIRS[pair]
    return text


def new_pseudonym() -> str:
    """A person's name in one project's exports: random and stored, so it cannot be computed from who they are."""
    return "p-" + new_public_id()[:8]


def new_draw_key() -> str:
    """The key of a batch's secret draws (`annotation.queue.draws`): 128 bits of randomness that never leave the server."""
    return secrets.token_hex(16)
