"""G-Eval: a language model rates an answer as people do, by given steps (Liu et al. 2023; LFTQA-Eval 2.4).

The model sees the question, the table and the answer, not the system and not the reference, and gives a number from 1 to 5
for one dimension. With several samples the score is their mean. The wording is ours, so its scores are not those
that LFTQA-Eval published; the implementation that is named with them has the digest of the words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from predictor.chat import ChatModel
from predictor.prompts import table_text
from tableqa.core.canonical_json import canonical
from tableqa.core.json_text import read_json
from tableqa.scoring.answer_ratings import RatedAnswer

LOWEST, HIGHEST = 1, 5

MEANINGS: Mapping[str, str] = {
    "faithfulness": "Faithfulness: what the answer says is right by the table, it answers this question, and nothing in it "
    "is wrong or made up.",
    "comprehensiveness": "Comprehensiveness: everything that the question asks for is in the answer, and nothing that is "
    "beside the point.",
}
"""What is rated, for each dimension (LFTQA-Eval 2.3)."""

STEPS = (
    "Read the question and the table, and work out what a complete answer would say.",
    "Go through the answer statement by statement, and look each of them up in the table.",
    "Note what is wrong, made up, missing or beside the point, as far as the dimension asks for it.",
    f"Rate strictly from {LOWEST} (it fails altogether) to {HIGHEST} (there is nothing to complain of).",
)
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number", "minimum": LOWEST, "maximum": HIGHEST}},
    "required": ["score"],
    "additionalProperties": False,
}


class RatingError(Exception):
    """The model gave no score for an answer; the message says which answer and what came instead."""


def messages(answer: RatedAnswer, dimension: str) -> list[dict[str, str]]:
    """The conversation that asks for the score of an answer. KeyError for an unknown dimension."""
    if answer.table is None:
        raise ValueError(f"the table of {answer.example} is not available, so the answer cannot be checked")
    steps = "\n".join(f"{position}. {step}" for position, step in enumerate(STEPS, start=1))
    task = (
        "You rate an answer that somebody gave to a question about a table, on one dimension.\n"
        f'{MEANINGS[dimension]}\n{steps}\nReply with JSON alone: {{"score": N}}.'
    )
    titles = [text for text in (answer.table.title, answer.table.caption) if text]
    question_text = "\n".join(
        (*titles, table_text(answer.table)[0], "", f"Question: {answer.question}", f"Answer: {answer.text}")
    )
    return [{"role": "system", "content": task}, {"role": "user", "content": question_text}]


def read_score(reply: str) -> float | None:
    """The score in a reply: JSON with "score", or a reply that is a number and nothing else; None otherwise."""
    for candidate in (reply, *re.findall(r"\{[^{}]*\}", reply)[:20]):
        try:
            score = read_json(candidate)
        except ValueError:
            continue
        score = score.get("score") if isinstance(score, dict) else score
        if isinstance(score, str) and re.fullmatch(r"\d(\.\d+)?", score):
            score = float(score)
        if isinstance(score, int | float) and not isinstance(score, bool) and LOWEST <= score <= HIGHEST:
            return float(score)
    return None


def implementation(model: str, dimension: str, samples: int, temperature: float) -> str:
    """What is named with the scores: the model, how often it was asked, and which words it was asked with."""
    wording = canonical([MEANINGS[dimension], STEPS])
    digest = hashlib.sha256(wording.encode()).hexdigest()[:12]
    return (
        f"G-Eval of {dimension}: {model}, {samples} samples at temperature {temperature:g}, prompt {digest}"
    )


def rate(
    model: ChatModel, answer: RatedAnswer, dimension: str, samples: int = 1, temperature: float = 0.0
) -> float:
    """The mean score over the samples that gave one. Raises RatingError where none did, ChatError where nothing came."""
    completions = model.complete(
        messages(answer, dimension), samples=samples, temperature=temperature, seed=0, schema=SCHEMA
    )
    scores = [score for completion in completions if (score := read_score(completion.text)) is not None]
    if not scores:
        first = completions[0]
        raise RatingError(
            f"{model.model} returned no score for {answer.example} of "
            f"{answer.system or 'an unnamed system'}: {first.unread or repr(first.text[:80])}"
        )
    return sum(scores) / len(scores)
