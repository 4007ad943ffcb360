"""Mixed perturbations: two or three accepted ones of one example, of different levels, put together (RobuT 3.1, mix).

Mixes are not annotated, so no person checks whether their parts fit. What does not fit is refused here with the reason:
parts that touch the same column, names that would be twice, operations that do not replay on what the others made, and
answers that more than one part changes.
"""

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.operations import (
    Operation,
    OperationError,
    RemoveColumn,
    RenameHeader,
    SplitColumn,
    normalise,
    replay,
)
from tableqa.perturbations.headers.word_forms import same_name

Level = Literal["headers", "contents", "question"]
Reason = Literal[
    "levels", "not_of_its_level", "same_column", "same_name", "does_not_replay", "undone", "answers"
]

_MOST_COMBINATIONS = 1_000
"""Of each size; of more, those are taken that the drawn order of the parts brings first."""


@dataclass(frozen=True, slots=True)
class Part:
    """An accepted perturbation of the original.

    level       "headers" (operations that rename columns), "contents" (any other operations) or "question"
    kind        the kind of annotation that made it, as "header_synonym"
    operations  what it does to the original's table
    question    the new question, for the level question
    answers     the answers that hold after it; None where they are the original's
    """

    level: Level
    kind: str
    operations: tuple[Operation, ...] = ()
    question: str | None = None
    answers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class MixedExample:
    """A mix: the example, the operations from the original's table to its, and the parts in the order headers, contents,
    question."""

    example: Example
    operations: tuple[Operation, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class MixRefusal:
    """Why parts cannot be mixed.

    levels            there are not two or three parts, or two are of one level
    not_of_its_level  a part does something that its level does not
    same_column       one part renames a column that another removes, splits or renames
    same_name         two columns would have one name, and had not before
    does_not_replay   the operations of one part cannot be done to what another one made
    undone            one part takes back what another did
    answers           more than one part changes the answers
    """

    reason: Reason
    message: str

    def to_dict(self) -> dict[str, Any]:
        return {"reason": self.reason, "message": self.message}


def mix(original: Example, parts: Sequence[Part], id: str | None = None) -> MixedExample | MixRefusal:
    """Put parts together: first the new headers, then the new contents, then the new question.

    The mixed example has the id given, else the original's, and the original's context, history and meta; its program
    only where the contents are the original's. The answers are those of the part that changes them, else the original's.
    """
    ordered = sorted(parts, key=lambda part: get_args(Level).index(part.level))
    refused = _levels(ordered) or _kept_to_level(original, ordered) or _same_column(ordered)
    if refused:
        return refused
    operations = tuple(operation for part in ordered for operation in part.operations)
    try:
        table = replay(original.table, operations)
        net = len(normalise(operations, original.table))
        single = sum(len(normalise(part.operations, original.table)) for part in ordered)
    except OperationError as error:
        return MixRefusal("does_not_replay", f"The parts do not follow one another: {error}.")
    if net < single:
        return MixRefusal("undone", "One part takes back what another did.")
    if twice := _twice(original.table, table):
        return MixRefusal("same_name", f"Two columns would be called “{twice}”.")
    answers = _answers(original, ordered)
    if isinstance(answers, MixRefusal):
        return answers
    has_contents = any(part.level == "contents" for part in ordered)
    question = next((part.question for part in ordered if part.question is not None), original.question)
    example = Example(
        id=original.id if id is None else id,
        question=question,
        table=table,
        answers=answers,
        meta=original.meta,
        program=None if has_contents else original.program,
        context=original.context,
        history=original.history,
    )
    return MixedExample(example, operations, tuple(ordered))


def _levels(parts: Sequence[Part]) -> MixRefusal | None:
    levels = Counter(part.level for part in parts)
    if not 2 <= len(parts) <= len(get_args(Level)):
        return MixRefusal("levels", f"A mix has two or three parts, not {len(parts)}.")
    for level, count in levels.items():
        if count > 1:
            return MixRefusal(
                "levels", f"{count} parts change the {level}; each part of a mix is of another level."
            )
    return None


def _kept_to_level(original: Example, parts: Sequence[Part]) -> MixRefusal | None:
    for part in parts:
        renames = [isinstance(operation, RenameHeader) for operation in part.operations]
        if part.level == "question":
            fine = not part.operations and part.question is not None and part.question != original.question
        else:
            fine = bool(part.operations) and part.question is None
            fine = fine and (all(renames) if part.level == "headers" else not all(renames))
        if not fine:
            what = {
                "headers": "only rename columns",
                "contents": "change the table, and not only its headers",
                "question": "only change the question",
            }
            return MixRefusal(
                "not_of_its_level", f"A part of the level {part.level} must {what[part.level]} ({part.kind})."
            )
    return None


def _same_column(parts: Sequence[Part]) -> MixRefusal | None:
    for first, second in itertools.combinations(parts, 2):
        if both := sorted(_headers_touched(first) & _headers_touched(second)):
            message = f"Both {first.kind} and {second.kind} rename, remove or split the column {both[0]}."
            return MixRefusal("same_column", message)
    return None


def _headers_touched(part: Part) -> set[str]:
    kinds = (RenameHeader, RemoveColumn, SplitColumn)
    return {operation.column for operation in part.operations if isinstance(operation, kinds)}


def _twice(before: Table, after: Table) -> str:
    """A name that two columns have afterwards and fewer had before; not asked of a table that was transposed."""
    if after.header_id != before.header_id:
        return ""
    had = Counter(map(same_name, before.header))
    has = Counter(map(same_name, after.header))
    return next(
        (header for header in after.header if has[same_name(header)] > max(1, had[same_name(header)])), ""
    )


def _answers(original: Example, parts: Sequence[Part]) -> tuple[str, ...] | MixRefusal:
    changed = [
        part
        for part in parts
        if part.answers is not None and not compare(part.answers, original.answers).equal
    ]
    if len(changed) > 1:
        kinds = " and ".join(part.kind for part in changed)
        return MixRefusal(
            "answers", f"The answers change with each of {kinds}; what holds after both is not known."
        )
    return changed[0].answers or () if changed else original.answers


def combinations(
    parts: Sequence[Part], seed: int, example_id: str, most: int | None = None
) -> list[tuple[int, ...]]:
    """Which parts of one original to mix: tuples of two or three places in `parts`, all of different levels.

    The order is drawn from "mix:<seed>:<example id>" and such that every part is used about as often as any other from
    the start, so that the first `most` do not favour one. The same arguments give the same list.
    """
    draw = random.Random(f"mix:{seed}:{example_id}")
    indices = draw.sample(range(len(parts)), len(parts))
    possible: list[tuple[int, ...]] = []
    for size in (2, 3):
        fitting = (
            tuple(sorted(chosen))
            for chosen in itertools.combinations(indices, size)
            if len({parts[index].level for index in chosen}) == size
        )
        possible += itertools.islice(fitting, _MOST_COMBINATIONS)
    draw.shuffle(possible)
    used = Counter[int]()
    mixes: list[tuple[int, ...]] = []
    while possible and (most is None or len(mixes) < most):
        chosen = min(possible, key=lambda some: sum(used[index] for index in some) / len(some))
        possible.remove(chosen)
        used.update(chosen)
        mixes.append(chosen)
    return mixes
