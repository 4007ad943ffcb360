"""Instances: results of perturbing one example by several kinds with several seeds, each checked against its contract."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from zlib import crc32

from tableqa.data.examples import Example
from tableqa.perturbations.catalogue import PERTURBATIONS, Order, PerturbationResult
from tableqa.perturbations.contracts import Violation, check
from tableqa.programs import attempt
from tableqa.programs.evidence import CellRef
from tableqa.programs.executable_answers import NONE, own_program

SEEDS = (33, 16, 8, 71, 5)
"""The default seeds: five, as FREB-TQA (section 4) has them."""

Counts = dict[str, dict[str, Any]]
"""{kind: {"made": n, "no_op": {reason: n}, "refused": {code: n}}}"""

DERIVED_PER_CHECK = 100
"""One in this number of drawn orders of rows or columns is replayed; the moves of the others follow from the order."""

NOTHING_DRAWN = 0
"""The seed that is at what no seed changes."""


@dataclass(frozen=True)
class Instance:
    """One example perturbed by one kind with one seed.

    `violations` says what of the kind's contract does not hold; an instance with one is never released.
    """

    kind: str
    seed: int
    perturbed: PerturbationResult
    violations: tuple[Violation, ...] = ()

    @property
    def is_made(self) -> bool:
        """Whether this is a perturbation of the example: no no-op, and nothing broken."""
        return not self.perturbed.is_noop and not self.violations

    def id_of(self, original: str) -> str:
        """The id of the instance of the original with that id: the kind and the seed behind it."""
        return instance_id(original, self.kind, self.seed)

    def outcome(self) -> dict[str, Any]:
        """What a release says of it: the digest of the table that was made, the reason why none was, or the codes of
        what is broken."""
        if self.perturbed.is_noop:
            return {"no_op": self.perturbed.reason}
        if self.violations:
            return {"refused": sorted({violation.code for violation in self.violations})}
        return {"digest": self.perturbed.example.table.digest()}


def instances(
    example: Example,
    kinds: Sequence[str],
    seeds: Sequence[int] = SEEDS,
    marked_cells: Sequence[CellRef] = (),
) -> Iterator[Instance]:
    """Every instance of the example, kind by kind. A kind that draws nothing is made once, with the seed 0.

    `marked_cells` are relevant in the eyes of people; without them the source's own count (`tableqa.programs.evidence`).
    What the example's program gives on each must be its answer: `Example.program`, or else what the source says in its
    own form (`tableqa.programs.executable_answers.own_program`), found once. An `Example.program` that contradicts the
    gold refuses every instance of which the answer must stay, because nothing tells which of the two is wrong.
    Raises KeyError for a kind that is none of `PERTURBATIONS`.
    """
    meta = {**example.meta, "relevant_cells": [list(cell) for cell in marked_cells]}
    marked_example = replace(example, meta=meta) if marked_cells else example
    program = own_program(example) if example.program is None else example.program
    program = None if program == NONE else program
    for name in kinds:
        kind = PERTURBATIONS[name]
        for seed in seeds if kind.seeded else (NOTHING_DRAWN,):
            done = kind(marked_example, seed)
            if done.is_noop:
                yield Instance(
                    name, seed, done if marked_example is example else replace(done, example=example)
                )
                continue
            perturbed = done.example if marked_example is example else example.over(done.example.table)
            # Where the contract leaves the answer open, the program has nothing to say either.
            computed = None
            if program is not None and kind.contract.answer != "any":
                computed = attempt(program, perturbed.table)
            by_contract = partial(
                check, kind.contract, example, perturbed, done.operations, computed=computed
            )
            is_derived = isinstance(done.change, Order) and not example.table.spans
            violations = by_contract(derived=is_derived)
            drawn = f"{example.id}:{name}:{seed}"
            if is_derived and crc32(drawn.encode()) % DERIVED_PER_CHECK == 0 and by_contract() != violations:
                raise RuntimeError(f"The moves of {drawn} do not lead to its table.")
            broken = tuple(violation for violation in violations if violation.level == "error")
            yield Instance(
                name, seed, done if marked_example is example else replace(done, example=perturbed), broken
            )


def count(counts: Counts, kind: str, outcome: Mapping[str, Any]) -> None:
    """Add one instance (`Instance.outcome`) to the counts."""
    of_kind = counts.setdefault(kind, {"made": 0, "no_op": {}, "refused": {}})
    if "no_op" in outcome:
        of_kind["no_op"][outcome["no_op"]] = of_kind["no_op"].get(outcome["no_op"], 0) + 1
    elif "refused" in outcome:
        for code in outcome["refused"]:
            of_kind["refused"][code] = of_kind["refused"].get(code, 0) + 1
    else:
        of_kind["made"] += 1


def discount(counts: Counts, kind: str, outcome: Mapping[str, Any]) -> None:
    """Take one instance out of the counts again, as if it had never been added; a kind without instances is left out."""
    of_kind = counts.get(kind, {"made": 0, "no_op": {}, "refused": {}})
    reasons = [outcome["no_op"]] if "no_op" in outcome else outcome.get("refused", [])
    by_reason = of_kind["no_op" if "no_op" in outcome else "refused"]
    for reason in reasons:
        by_reason[reason] = by_reason.get(reason, 0) - 1
        if by_reason[reason] <= 0:
            del by_reason[reason]
    if "digest" in outcome:
        of_kind["made"] = max(0, of_kind["made"] - 1)
    if not any(of_kind.values()):
        counts.pop(kind, None)


def instance_id(original: str, kind: str, seed: int) -> str:
    """The id of what a kind of perturbation with a seed makes of the original with that id."""
    return f"{original}~{kind}-{seed}"
