"""Mixes of a release: accepted perturbations of one original, composed. Pure, so that verifying makes them again.

RobuT calls them `combined`. Mixes are not annotated: parts that do not fit are refused by `tableqa.perturbations.mixes`,
and the manifest counts what was refused and why.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import tableqa
from tableqa.core.disk_collections import Shelf
from tableqa.operations import RenameHeader, from_dict
from tableqa.perturbations.mixes import Level, MixedExample, MixRefusal, Part, combinations, mix
from tableqa.writers.askew import askew_record
from tableqa.writers.robut import robut_record

FORMATS = ("askew", "robut")
"""Formats of a release that have a place for mixes."""
MOST = 10
"""Mixes of one original: a question with many accepted perturbations must not outweigh the others."""


Group = tuple[str, tableqa.Example, Sequence[Part]]
"""An original, by its source, with the accepted perturbations of it that can be part of a mix."""
Composed = tuple[str, tableqa.Example, MixedExample | MixRefusal]
"""The result of a mix of an original, by its source."""


def summary(composed: Iterable[Composed], seed: int) -> dict[str, Any]:
    """What the manifest says of mixes: how many were made, and refused for which reason."""
    mixed_count, refused = 0, Counter[str]()
    for _, _, outcome in composed:
        if isinstance(outcome, MixedExample):
            mixed_count += 1
        else:
            refused[outcome.reason] += 1
    return {"seed": seed, "made": mixed_count, "refused": dict(sorted(refused.items()))}


def part(original: tableqa.Example, kind: str, derived: Mapping[str, Any]) -> Part | None:
    """A derived example (the record of a decision) as a part of a mix; None where it is of no single level."""
    operations = tuple(from_dict(operation) for operation in derived["operations"])
    new_question = derived["question"] != original.question
    if bool(operations) == new_question:
        return None
    renames = all(isinstance(operation, RenameHeader) for operation in operations)
    level: Level = "question" if new_question else "headers" if renames else "contents"
    answers = tuple(derived["answers"])
    return Part(
        level=level,
        kind=kind,
        operations=operations,
        question=derived["question"] if new_question else None,
        answers=answers if answers != original.answers else None,
    )


def compose(groups: Iterable[Group], seed: int) -> Iterator[Composed]:
    """Mix the parts of each original, two or three at a time, all of different levels; the seed draws which come first.

    An original is known by its source and its id, and is one group: two sources may well have the same ids.
    """
    mix_counts: Shelf[str, int] = Shelf()
    for source, original, mine in groups:
        mixed_count = 0
        for chosen in combinations(mine, seed, original.id):
            if mixed_count == MOST:
                break
            mix_number = mix_counts.get(original.id, 0) + 1
            mixed = mix(original, [mine[index] for index in chosen], f"{original.id}~mix-{mix_number}")
            if isinstance(mixed, MixedExample):
                mixed_count += 1
                mix_counts[original.id] = mix_number
            yield source, original, mixed


def records(composed: Iterable[Composed], format: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(part, source, record) of the mixes in a format of a release; nothing where it has no place for them.

    RobuT has a file for each dataset, as for every other perturbation.
    """
    for source, original, mixed in composed:
        if not isinstance(mixed, MixedExample):
            continue
        if format == "robut":
            record = robut_record(original, mixed.example, "combined")
            yield "{reader}_{split}_combined", source, {**record, "id": mixed.example.id}
        elif format == "askew":
            more = {
                "source": source,
                "original": original.id,
                "parts": [mixed_part.kind for mixed_part in mixed.parts],
                "operations": [operation.to_dict() for operation in mixed.operations],
            }
            yield "mix", source, {**askew_record(mixed.example), **more}
