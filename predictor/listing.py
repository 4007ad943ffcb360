"""Requests for the answers to an example to a chat model, until it gives a list or the limit of requests is reached.

    listed = ask_for_list(model, example)
    listed.answers                 None where no reply held a list
    listed.raw()                   what is kept of it, as of any other model's answer

A reply without a list is shown to the model again with the form that is wanted. It is asked `MOST_ASKS` times and never
more: each costs. An endpoint that hangs or is gone gets no requests for a while (`resting`), so that what waits for other
models does not wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from predictor import prompts
from predictor.chat import ChatError, ChatModel, Completion
from predictor.client import Breaker
from tableqa import Example
from tableqa.scoring.replies import read_answers

MOST_ASKS = 3
"""For the answers to one example, the first time included."""
FINAL = frozenset(("cut_off", "declined", "filtered", "refused"))
"""Kinds of errors after which the same question is not sent again."""
STATES = ("cut_off", "declined", "filtered", "no_list", "unreadable", "refused")
"""Why a language model gave no answers to an example; "refused" by its endpoint."""
LONGEST_REPLY = 20_000
ANSWER_FORMS = ("{", "[", "```", "<answer>", "\\boxed")
"""A reply that begins otherwise has its reasoning in plain text."""
AGAIN = 'That is no list of answers. Reply with JSON of the form {"answers": ["..."]} and nothing else.'
FIRST_PAUSE, LONGEST_PAUSE = 30.0, 900.0
"""Seconds without requests to an endpoint that gave no answer: at first, and at most."""


@dataclass(frozen=True)
class AnswerList:
    """What a chat model answered for an example. `unread`: its replies that held no list, oldest first; `reason`: why the
    last of them has no final reply at all, "" where it has one; `state`: "" with a list, else one of `STATES`.
    `lacks_reasoning`: the model is to think before it answers, and the reply shows no sign of that.
    """

    answers: tuple[str, ...] | None
    text: str
    unread: tuple[str, ...]
    rows_seen: int
    rows_total: int
    reason: str = ""
    state: str = ""
    lacks_reasoning: bool = False

    def raw(self) -> dict[str, Any]:
        """JSON, as any model's answer is kept; with `unread` where it was asked more than once."""
        payload: dict[str, Any] = {
            "answers": list(self.answers or ()),
            "text": self.text,
            "op": "generate",
            "cells": [],
            "score": None,
            "topk": [],
            "rows_seen": self.rows_seen,
            "rows_total": self.rows_total,
            "truncated": self.rows_seen < self.rows_total,
        }
        if self.reason:
            payload["reason"] = self.reason
        if self.state:
            payload["state"] = self.state
        if self.lacks_reasoning:
            payload["lacks_reasoning"] = True
        return {**payload, "unread": list(self.unread)} if self.unread else payload


def ask_for_list(model: ChatModel, example: Example) -> AnswerList:
    """Ask until a reply holds a list, `MOST_ASKS` times at most. Raises ChatError where there is no reply at all.

    A reply that was cut off, filtered or declined is not asked for again: the same would happen again.
    """
    first, seen = prompts.asking_for_answers(example, model.serialisation)
    messages, unread = first, list[str]()
    total = len(example.table.rows)
    while len(unread) < MOST_ASKS:
        try:
            completion = model.complete(messages, schema=prompts.ANSWER_SCHEMA)[0]
            if completion.unread is not None:
                raise completion.unread
        except ChatError as error:
            if error.kind in FINAL:
                texts = (*unread, error.text[:LONGEST_REPLY])
                return AnswerList(None, "", texts, seen, total, str(error), error.kind)
            if error.kind != "unreadable":
                raise
            completion = Completion("")
        reply = completion.text
        answers = read_answers(reply)
        if answers is not None:
            return AnswerList(
                tuple(answers),
                reply[:LONGEST_REPLY],
                tuple(unread),
                seen,
                total,
                lacks_reasoning=model.reasoning
                and not completion.has_reasoning
                and reply.lstrip().startswith(ANSWER_FORMS),
            )
        unread.append(reply[:LONGEST_REPLY])
        previous_turn = [{"role": "assistant", "content": unread[-1]}] if unread[-1] else []
        messages = [*first, *previous_turn, {"role": "user", "content": AGAIN}]
    return AnswerList(None, "", tuple(unread), seen, total, state="no_list")


# -- leaving an endpoint alone ----------------------------------------------------------------------

_resting: dict[tuple[str, str], Breaker] = {}
_lock = threading.Lock()


def breaker_of(entry: Mapping[str, Any]) -> Breaker:
    """Whether the endpoint of an entry of PREDICTORS is to be asked now; one per process.

    One question without an answer is enough for a pause: it has cost the whole time already.
    """
    key = (str(entry["url"]), str(entry["model"]))
    with _lock:
        return _resting.setdefault(key, Breaker(window=1, least=1, first=FIRST_PAUSE, longest=LONGEST_PAUSE))
