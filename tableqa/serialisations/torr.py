"""ToRR's 35 configurations and their prompts (Ashury-Tahan et al. 2025): seven serialisations, each with the table as it
is and with four perturbations of its structure.

A prompt is an instruction, k demonstrations, and the example. The demonstrations are drawn for the example and are the same
in all of its configurations; they are written in the serialisation of the configuration, and their tables are not
perturbed, so that two configurations of one serialisation differ in the example's table alone.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tableqa.core.translation import message
from tableqa.data.examples import Example
from tableqa.perturbations import PERTURBATIONS
from tableqa.serialisations import SERIALISATIONS, TORR
from tableqa.serialisations.forms import Serialisation

STRUCTURAL: tuple[str, ...] = ("torr_row_swap", "torr_column_swap", "torr_transpose", "torr_empty_rows")
"""The names of ToRR's perturbations in `tableqa.perturbations`."""

STRUCTURAL_RELEASED: tuple[str, ...] = ("row_shuffle", "col_shuffle", "torr_transpose", "torr_empty_rows")
"""The same as ToRR's released recipes have them (unitxt's catalog, recipes.torr): all rows or columns are shuffled, where
the paper speaks of swapping."""

DEMONSTRATIONS = 5
"""How many demonstrations ToRR gives; for WikiTableQuestions one. Answers are decoded greedily, 512 tokens at most."""

SEED = 33

SAME_TEXT = message("torr.same_text", "The table changed, but the text of the prompt is the same.")
"""Why a prompt is not perturbed although its table is; in English."""

INSTRUCTION = (
    "Answer the question about the table. Use only what the table and the text beside it say. "
    "Give the answer alone, without an explanation; write several answers with a comma between them."
)


@dataclass(frozen=True)
class Configuration:
    """One of the ways in which ToRR asks: a serialisation and a perturbation, or None for the table as it is."""

    serialisation: str
    perturbation: str | None

    @property
    def name(self) -> str:
        return f"{self.serialisation}/{self.perturbation or 'none'}"


def configurations(
    serialisations: Iterable[str] = TORR, perturbations: Sequence[str] = STRUCTURAL
) -> tuple[Configuration, ...]:
    """The configurations, five for each serialisation: 35 for ToRR's seven, which is the default.

    With other names, for example the lossless forms or `STRUCTURAL_RELEASED`, the same design is built over those.
    """
    return tuple(
        Configuration(name, perturbation)
        for name in serialisations
        for perturbation in (None, *perturbations)
    )


CONFIGURATIONS = configurations()


@dataclass(frozen=True)
class Prompt:
    """What a model is asked in one configuration.

    demonstrations   the ids of the examples that are shown with their answers, in their order
    is_noop, reason  whether the perturbation left the text as it was, and why: such a prompt equals the unperturbed one
                     and is not to be counted as perturbed
    left_out         what of the example's table is in the prompt nowhere, in words
    """

    example: str
    configuration: Configuration
    text: str
    answers: tuple[str, ...]
    demonstrations: tuple[str, ...]
    is_noop: bool = False
    reason: str = ""
    left_out: tuple[str, ...] = ()


def demonstrations(
    example: Example, pool: Sequence[Example], k: int = DEMONSTRATIONS, seed: int = SEED
) -> tuple[Example, ...]:
    """k examples of the pool, drawn for this example: never itself, and none that is about the same table with its question.

    Equal arguments, equal draw, on any machine and in every configuration. ValueError if the pool has not enough.
    """
    if k < 0:
        raise ValueError(f"k is {k}: a number of demonstrations from 0 on")
    others = [
        candidate
        for candidate in pool
        if candidate.id != example.id
        and not (
            candidate.question == example.question and candidate.table.digest() == example.table.digest()
        )
    ]
    if len(others) < k:
        raise ValueError(f"there are {len(others)} other examples to draw {k} demonstrations from")
    return tuple(random.Random(f"torr:{seed}:{example.id}").sample(others, k))


def prompts(
    example: Example,
    pool: Sequence[Example],
    k: int = DEMONSTRATIONS,
    seed: int = SEED,
    instruction: str = INSTRUCTION,
    configurations: Sequence[Configuration] = CONFIGURATIONS,
) -> Iterator[Prompt]:
    """The prompt of the example in each configuration, in their order; nothing is sent anywhere.

    `seed` draws the demonstrations and the perturbations. A configuration whose perturbation has no visible effect on
    this table is given, too, and says so: every example has a prompt for each configuration.
    """
    shots = demonstrations(example, pool, k, seed)
    perturbed = {
        name: PERTURBATIONS[name](example, seed=seed)
        for name in dict.fromkeys(configuration.perturbation for configuration in configurations)
        if name is not None
    }
    heads: dict[str, str] = {}
    plain = {
        name: _question_part(example, SERIALISATIONS[name], with_answer=False)
        for name in {configuration.serialisation for configuration in configurations}
    }
    for configuration in configurations:
        form = SERIALISATIONS[configuration.serialisation]
        if configuration.serialisation not in heads:
            parts = [instruction, *(_question_part(each, form, with_answer=True) for each in shots)]
            heads[configuration.serialisation] = "\n\n".join(part for part in parts if part)
        done = perturbed[configuration.perturbation] if configuration.perturbation else None
        changed = done.example if done else example
        question_part = _question_part(changed, form, with_answer=False)
        text = "\n\n".join(part for part in (heads[configuration.serialisation], question_part) if part)
        reason = done.reason if done else ""
        if done is not None and not done.is_noop and question_part == plain[configuration.serialisation]:
            reason = SAME_TEXT
        yield Prompt(
            example=example.id,
            configuration=configuration,
            text=text,
            answers=example.answers,
            demonstrations=tuple(each.id for each in shots),
            is_noop=bool(reason),
            reason=reason,
            left_out=form.leaves_out(replace(changed.table, title="", caption="")),  # these have lines
        )


def _question_part(example: Example, form: Serialisation, with_answer: bool) -> str:
    table, context = example.table, example.context
    lines = [
        *([f"Title: {table.title}"] if table.title and "title" not in form.keeps else []),
        *([f"Caption: {table.caption}"] if table.caption and "caption" not in form.keeps else []),
        f"Table:\n{form.dumps(table)}",
        *([f"Text: {context.text}"] if context and context.text else []),
        *(
            f"Earlier question: {turn.question}\nAnswer: {', '.join(turn.answers)}"
            for turn in example.history
        ),
        f"Question: {example.question}",
        f"Answer: {', '.join(example.answers)}" if with_answer else "Answer:",
    ]
    return "\n".join(lines)
