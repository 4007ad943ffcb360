"""Where the responses of a release come from, without a database: what was proposed, what is unverified, what it trains.

In the records, an annotation of a batch with help says in `help` whose it is; `proposals.jsonl` holds every proposal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from annotation.assistance import judgements
from annotation.assistance.origins import EDITED, HUMAN, MACHINE, Origin, ShownProposal, digest_of, origin
from annotation.releases.raw_records import TRAINING, Raw
from tableqa.perturbations import similarity
from tableqa.releases.record_files import records
from tasks.contract import InvalidResponse

if TYPE_CHECKING:
    from tasks.contract import Item, TaskType

PROPOSALS = "proposals.jsonl"


def proposals(raw: Raw) -> Iterator[dict[str, Any]]:
    """The records of what was proposed, in their order."""
    path = raw.folder / PROPOSALS
    yield from records(path) if path.exists() else ()


def training(raw: Raw, format: str) -> Iterator[tuple[list[tuple[str, dict[str, Any]]], dict[str, Any]]]:
    """[(part, record)] and the source of every proposal in a format, below `training/`: to train on, unverified.

    What people rejected is left out; one outcome that several makers proposed for an item is there once.
    """
    rejected = {
        entry["proposal"]
        for record in raw.annotations
        for entry in record.get("help", {}).get("rejected", ())
    }
    seen: set[tuple[str, str]] = set()
    for line in proposals(raw):
        key = (line["item"], line["digest"])
        if line["id"] in rejected or key in seen:
            continue
        seen.add(key)
        task, item = raw.item(line)
        try:
            response = task.parse(line["data"], item)
        except InvalidResponse:  # a kind has become stricter since: this could not be submitted any more
            continue
        exported_records = [
            (
                f"{TRAINING}/{exported.part}",
                {**exported.record, "maker": line["maker"], "proposal": line["id"]},
            )
            for exported in task.export(format, item, response, task.perturb(item, response))
        ]
        yield exported_records, raw.sources[line["source"]]


class _ProposalRecord(NamedTuple):
    """A proposal: its item, the digest of what it makes, and its pieces; None where the kind does not take it any more."""

    item: str
    digest: str
    pieces: frozenset[str] | None


def faults(raw: Raw) -> Iterator[str]:
    """What in the records does not fit together: proposals that are not there, responses and verdicts that are not what
    they say.

    Whose a response is follows from what it makes, what was shown and what was taken last (`origin`); a trial's verdict
    from the model's raw answers. Releases from before they had what was taken, or these answers, are held against the rest.
    """
    proposals_by_id: dict[str, _ProposalRecord] = {}
    for line in proposals(raw):
        task, item = raw.item(line)
        try:
            response = task.parse(line["data"], item)
            perturbed = task.perturb(item, response)
        except InvalidResponse:
            pieces = None
        else:
            if digest_of(task, response, perturbed) != line["digest"]:
                yield f"{PROPOSALS}: proposal {line['id']} makes something else than its digest names"
            pieces = None if perturbed is None else similarity.added_content(item.example, perturbed.example)
            yield from _verdict_faults(task, item, line)
        proposals_by_id[line["id"]] = _ProposalRecord(line["item"], line["digest"], pieces)
    for record in raw.annotations:
        if record.get("help") is not None:
            yield from (
                f"annotations.jsonl: {record['id']}{fault}" for fault in _faults(raw, record, proposals_by_id)
            )


def _verdict_faults(task: TaskType, item: Item, line: Mapping[str, Any]) -> Iterator[str]:
    """Trials of a proposal whose verdict is another by the model's raw answers."""
    for trial in line["trials"]:
        if "original" not in trial:
            continue
        query, answers = (
            judgements.example_pair(task, item, line["data"]),
            (trial["original"], trial["perturbed"]),
        )
        failed = any(answer is None or (answer.get("unread") and not answer["answers"]) for answer in answers)
        again = judgements.judge_pair(query, *answers, failed=failed).verdict
        # As releases judged before the scale of the answers counted.
        original = dataclasses.replace(query.original, context=None, meta={})
        without_scale = dataclasses.replace(query, original=original)
        earlier = judgements.judge_pair(without_scale, *answers, failed=failed).verdict
        if trial["verdict"] not in (again, earlier):
            yield (
                f"{PROPOSALS}: proposal {line['id']} is {again} by the answers of {trial['model']}, "
                f"not {trial['verdict']}"
            )


def _faults(
    raw: Raw, record: Mapping[str, Any], proposals_by_id: Mapping[str, _ProposalRecord]
) -> Iterator[str]:
    help_record = record["help"]
    if (help_record["origin"] == HUMAN) != (help_record["proposal"] is None) or (
        help_record["proposal"] and not help_record["helped"]
    ):
        yield ": its help contradicts itself"
    if help_record["proposal"] is not None and (
        help_record["proposal"] not in proposals_by_id
        or proposals_by_id[help_record["proposal"]].item != record["item"]
    ):
        yield f" came from proposal {help_record['proposal']}, which its item has not"
        return
    if help_record.get("took") is not None and help_record["took"] not in help_record["shown"]:
        yield f" took proposal {help_record['took']}, which it was not shown"
    digest, pieces = _digest_and_pieces(raw, record)
    if help_record["origin"] == MACHINE and digest != proposals_by_id[help_record["proposal"]].digest:
        yield f" is not what its proposal {help_record['proposal']} makes"
    if not record["newest"] or digest is None:
        return  # what was shown after an earlier revision is no measure of it
    shown_proposals = [
        (proposal, proposals_by_id[proposal])
        for proposal in help_record["shown"]
        if proposal in proposals_by_id
    ]
    if any(proposal.pieces is None for _, proposal in shown_proposals):
        return  # the kind has become stricter since, and what was proposed makes nothing any more
    proposal_views = [
        ShownProposal(key, proposal.digest, proposal.pieces or frozenset(), key == help_record.get("took"))
        for key, proposal in shown_proposals
    ]
    again = origin(digest, pieces, proposal_views)
    if "took" not in help_record and help_record["origin"] == EDITED and again.origin != MACHINE:
        share = round(
            similarity.overlap(pieces, proposals_by_id[help_record["proposal"]].pieces or frozenset()), 4
        )
        again = Origin(EDITED, help_record["proposal"], share)
    if help_record["origin"] != again.origin:
        yield f" is {WHOSE[again.origin]}, and its help says {help_record['origin']}"
    elif help_record["proposal"] != again.key:
        yield f" is of proposal {again.key}, and its help says {help_record['proposal']}"
    elif help_record["shared"] != again.shared:
        yield f" shares {again.shared} with its proposal, and its help says {help_record['shared']}"


WHOSE = {
    HUMAN: "the person's own",
    MACHINE: "what a machine proposed",
    EDITED: "what a machine proposed, edited",
}


def _digest_and_pieces(raw: Raw, record: Mapping[str, Any]) -> tuple[str | None, frozenset[str]]:
    """The digest of what an annotation makes, and its pieces; None where it makes nothing."""
    task, item = raw.item(record)
    perturbed = task.perturb(item, task.restore(record["response"]["data"])) if record["response"] else None
    if perturbed is None:
        return None, frozenset()
    pieces = similarity.added_content(item.example, perturbed.example)
    return similarity.perturbation_digest(perturbed.example), pieces
