"""Whose a response is: a person's, a machine's, or a machine's that a person edited. Decided by content alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tableqa.core.canonical_json import digest
from tableqa.perturbations import similarity
from tasks.contract import TaskType, response_data

HUMAN, MACHINE, EDITED = "human", "machine", "machine_edited"


def digest_of(task: TaskType, response: Any, perturbed: Any) -> str:
    """The digest of what a response makes, of its data for a task type that makes nothing; "" where it changes nothing."""
    if perturbed is not None:
        return similarity.perturbation_digest(perturbed.example)
    return "" if task.making else digest(response_data(response))


@dataclass(frozen=True)
class ShownProposal:
    """A proposal that was shown: its key, the digest of what it makes, what it changes, and whether it was taken last."""

    key: Any
    digest: str
    pieces: frozenset[str]
    took: bool = False


@dataclass(frozen=True)
class Origin:
    """Where a response comes from: "human", "machine" or "machine_edited", of which of `ShownProposal`, and how much of
    it."""

    origin: str
    key: Any = None
    shared: float = 0.0


def origin(outcome_digest: str, pieces: frozenset[str], shown_proposals: Sequence[ShownProposal]) -> Origin:
    """Decide by content. What equals a proposal that was shown is the machine's, even if a person says they typed it.

    What shares a piece with a proposal that was taken, or half of its pieces with any that was shown, is the machine's,
    edited. Everything else is the person's own. Verification takes it again (`faults`).
    """
    for proposal in shown_proposals:
        if proposal.digest == outcome_digest:
            return Origin(MACHINE, proposal.key, 1.0)
    overlaps = [
        (similarity.overlap(pieces, proposal.pieces), proposal.took, proposal) for proposal in shown_proposals
    ]
    likely = [
        (share, took, -position, proposal)
        for position, (share, took, proposal) in enumerate(overlaps)
        if share >= similarity.MUCH or (took and share)
    ]
    if not likely:
        return Origin(HUMAN)
    share, _, _, best = max(likely, key=lambda entry: entry[:3])
    return Origin(EDITED, best.key, round(share, 4))
