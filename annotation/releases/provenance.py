"""Where the responses of a release come from, without a database: what was proposed, what nobody verified, what it trains.

In the records, an annotation of a batch with help says in `help` whose it is; `proposals.jsonl` holds every proposal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from annotation.assistance import judgements
from annotation.assistance.origins import EDITED, HUMAN, MACHINE, Origin, Shown, digest_of, origin
from annotation.releases.raw_records import TRAINING, Raw
from annotation.releases.record_files import records
from tableqa.perturbations import similarity
from tasks.contract import Invalid

if TYPE_CHECKING:
    from tasks.contract import Item, TaskType

PROPOSALS = "proposals.jsonl"


def proposals(raw: Raw) -> Iterator[dict[str, Any]]:
    """The records of what was proposed, in their order."""
    path = raw.folder / PROPOSALS
    yield from records(path) if path.exists() else ()


def training(raw: Raw, format: str) -> Iterator[tuple[list[tuple[str, dict[str, Any]]], dict[str, Any]]]:
    """[(part, record)] and the source of every proposal in a format, below `training/`: to train on, verified by nobody.

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
        except Invalid:  # a kind has become stricter since: nobody could hand this in any more
            continue
        made = [
            (
                f"{TRAINING}/{exported.part}",
                {**exported.record, "maker": line["maker"], "proposal": line["id"]},
            )
            for exported in task.export(format, item, response, task.perturb(item, response))
        ]
        yield made, raw.sources[line["source"]]


class _Known(NamedTuple):
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
    known: dict[str, _Known] = {}
    for line in proposals(raw):
        task, item = raw.item(line)
        try:
            response = task.parse(line["data"], item)
            perturbed = task.perturb(item, response)
        except Invalid:
            pieces = None
        else:
            if digest_of(task, response, perturbed) != line["digest"]:
                yield f"{PROPOSALS}: proposal {line['id']} makes something else than its digest names"
            pieces = None if perturbed is None else similarity.pieces(item.example, perturbed.example)
            yield from _misjudged(task, item, line)
        known[line["id"]] = _Known(line["item"], line["digest"], pieces)
    for record in raw.annotations:
        if record.get("help") is not None:
            yield from (f"annotations.jsonl: {record['id']}{fault}" for fault in _faults(raw, record, known))


def _misjudged(task: TaskType, item: Item, line: Mapping[str, Any]) -> Iterator[str]:
    """Trials of a proposal whose verdict is another by the model's raw answers."""
    for trial in line["trials"]:
        if "original" not in trial:
            continue
        asked, said = judgements.asked(task, item, line["data"]), (trial["original"], trial["perturbed"])
        failed = any(one is None or (one.get("unread") and not one["answers"]) for one in said)
        again = judgements.hold(asked, *said, failed=failed).verdict
        if trial["verdict"] not in (
            again,
            judgements.hold(_without_scale(asked), *said, failed=failed).verdict,
        ):
            yield (
                f"{PROPOSALS}: proposal {line['id']} is {again} by the answers of {trial['model']}, "
                f"not {trial['verdict']}"
            )


def _without_scale(asked: judgements.Asked) -> judgements.Asked:
    """As releases judged before the scale of the answers counted."""
    return dataclasses.replace(asked, original=dataclasses.replace(asked.original, context=None, meta={}))


def _faults(raw: Raw, record: Mapping[str, Any], known: Mapping[str, _Known]) -> Iterator[str]:
    said = record["help"]
    if (said["origin"] == HUMAN) != (said["proposal"] is None) or (said["proposal"] and not said["helped"]):
        yield ": its help contradicts itself"
    if said["proposal"] is not None and (
        said["proposal"] not in known or known[said["proposal"]].item != record["item"]
    ):
        yield f" came from proposal {said['proposal']}, which its item has not"
        return
    if said.get("took") is not None and said["took"] not in said["shown"]:
        yield f" took proposal {said['took']}, which it was not shown"
    made, pieces = _made(raw, record)
    if said["origin"] == MACHINE and made != known[said["proposal"]].digest:
        yield f" is not what its proposal {said['proposal']} makes"
    if not record["newest"] or made is None:
        return  # what was shown after an earlier revision is no measure of it
    told = [(one, known[one]) for one in said["shown"] if one in known]
    if any(one.pieces is None for _, one in told):
        return  # the kind has become stricter since, and what was proposed makes nothing any more
    shown = [Shown(key, one.digest, one.pieces or frozenset(), key == said.get("took")) for key, one in told]
    again = origin(made, pieces, shown)
    if "took" not in said and said["origin"] == EDITED and again.origin != MACHINE:
        share = round(similarity.shared(pieces, known[said["proposal"]].pieces or frozenset()), 4)
        again = Origin(EDITED, said["proposal"], share)
    if said["origin"] != again.origin:
        yield f" is {WHOSE[again.origin]}, and its help says {said['origin']}"
    elif said["proposal"] != again.key:
        yield f" is of proposal {again.key}, and its help says {said['proposal']}"
    elif said["shared"] != again.shared:
        yield f" shares {again.shared} with its proposal, and its help says {said['shared']}"


WHOSE = {
    HUMAN: "the person's own",
    MACHINE: "what a machine proposed",
    EDITED: "what a machine proposed, edited",
}


def _made(raw: Raw, record: Mapping[str, Any]) -> tuple[str | None, frozenset[str]]:
    """The digest of what an annotation makes, and its pieces; None where it makes nothing."""
    task, item = raw.item(record)
    made = task.perturb(item, task.restore(record["response"]["data"])) if record["response"] else None
    if made is None:
        return None, frozenset()
    return similarity.made(made.example), similarity.pieces(item.example, made.example)
