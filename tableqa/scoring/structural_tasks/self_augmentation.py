"""Self-augmented prompting (SUC, Sui et al. 2024, section 5): a model is asked twice.

The first request asks for something that it can tell of the table by itself; its reply is placed in the second request,
which asks the question. The functions make messages and nothing else: sending is the caller's task. The wording is ours.
"""

from dataclasses import replace
from typing import Literal

from tableqa.data.tables import Table
from tableqa.scoring.structural_tasks.prompt_designs import BASELINE, Design, Prompt, SolvedExample, build

Augmentation = Literal["format_explanation", "critical_values", "structural_description"]

REQUESTS: dict[Augmentation, str] = {
    "format_explanation": (
        "Explain in two or three sentences how this table is written down: how a row, a cell and the header are recognised, "
        "and what its marks mean. Do not answer any question about its content yet."
    ),
    "critical_values": (
        "List the values that matter most in this table: for each column with numbers or dates its smallest and its largest "
        "value, for each other column the values that stand out. Use the cells' own wording and add nothing."
    ),
    "structural_description": (
        "Describe the structure of this table: how many rows and columns it has, what one row stands for, what each "
        "column holds and in what kind of value, and whether there are merged cells, totals or empty cells."
    ),
}
"""The three kinds, each with its first request."""

INTRODUCTION: dict[Augmentation, str] = {
    "format_explanation": "How the table is written:",
    "critical_values": "Values and ranges that matter in the table:",
    "structural_description": "The structure of the table:",
}
"""What is before the model's own reply in the second request."""

MOST_KNOWLEDGE = 4_000
"""How many characters of the reply go into the second request; a model that repeats the whole table says nothing new."""


def first(table: Table, kind: Augmentation, design: Design = BASELINE, text: str = "") -> Prompt:
    """The first request. The question is not in it; KeyError for an unknown kind."""
    # A solved item shows an answer to a question, which is not what the first request asks for.
    return build(table, REQUESTS[kind], replace(design, one_shot=False), text=text)


def second(
    table: Table,
    request: str,
    kind: Augmentation,
    reply: str,
    design: Design = BASELINE,
    solved: SolvedExample | None = None,
    text: str = "",
) -> Prompt:
    """The second request: the question, with the reply to the first between it and the table.

    ValueError for an empty reply: without it this would be the plain prompt under another name.
    """
    knowledge = reply.strip()
    if not knowledge:
        raise ValueError("the reply to the first request is empty: there is nothing to add to the second")
    if len(knowledge) > MOST_KNOWLEDGE:
        knowledge = knowledge[: MOST_KNOWLEDGE - 1].rstrip() + "…"
    return build(table, request, design, solved, text, knowledge=f"{INTRODUCTION[kind]}\n{knowledge}")
