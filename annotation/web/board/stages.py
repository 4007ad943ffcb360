"""The batches of a project as stages of a flow, and why a stage is blocked. Pure: no database, no request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from django.utils.translation import gettext, ngettext

from annotation.platform.display_text import grouped


@dataclass(frozen=True)
class Counts:
    """Items of a batch by what they wait for; their sum is all of its items. `in_progress`: assigned to a person now.

    complete      with all responses, not decided yet; it stays so in qualifications and calibration rounds
    adjudication  waiting for an adjudicator
    """

    waiting: int = 0
    in_progress: int = 0
    complete: int = 0
    adjudication: int = 0
    accepted: int = 0
    excluded: int = 0

    @property
    def items(self) -> int:
        return self.undecided + self.decided

    @property
    def decided(self) -> int:
        return self.accepted + self.excluded

    @property
    def undecided(self) -> int:
        return self.waiting + self.in_progress + self.complete + self.adjudication

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            **{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(Counts)}
        )


@dataclass(frozen=True)
class Stage:
    """A batch in the flow of its project.

    counts        None where they are hidden from the reader
    sources       sources (by public id) that its items were drawn from; empty where it takes items from a batch
    takes_from    the batch (by key) whose accepted items it takes
    requires      the qualification (by key) that people pass first
    decides       whether its items are decided: not in qualifications and calibration rounds
    at_close      whether its items are decided only when it closes
    lacks_gold    items without a gold answer, of a planned qualification
    passed        people who passed it, of a qualification
    """

    key: int
    public_id: str
    name: str
    title: str
    state: str
    counts: Counts | None = None
    sources: tuple[str, ...] = ()
    takes_from: int | None = None
    requires: int | None = None
    decides: bool = True
    at_close: bool = False
    waits_for_model: bool = False
    lacks_gold: int = 0
    passed: int = 0

    @property
    def pending(self) -> int:
        """Items that are still to be decided; those that a closed batch has too few responses for never are."""
        if self.counts is None or not self.decides:
            return 0
        at_close = self.counts.complete + self.counts.adjudication
        return at_close if self.state == "closed" else self.counts.undecided


@dataclass(frozen=True)
class Blockage:
    """Why a batch does not move on: in a sentence and in a few words. `cause` is the batch that resolves it."""

    stage: Stage
    sentence: str
    brief: str
    cause: Stage


def blockages(stages: Sequence[Stage]) -> dict[int, Blockage]:
    """By batch (key), the first reason why it does not move on. Batches with hidden counts have only reasons of state."""
    by_key = {stage.key: stage for stage in stages}
    pairs = (
        (stage, _blocked_by_state(stage, by_key) or _blocked_by_items(stage, by_key)) for stage in stages
    )
    return {stage.key: blockage for stage, blockage in pairs if blockage is not None}


def root_blockages(blockage_by_key: Mapping[int, Blockage]) -> list[Blockage]:
    """Blockages without those that only wait for another blocked batch."""
    return [
        blockage
        for blockage in blockage_by_key.values()
        if blockage.cause == blockage.stage or blockage.cause.key not in blockage_by_key
    ]


def ready_to_open(stage: Stage, by_key: Mapping[int, Stage]) -> bool:
    """Whether a planned batch can open: it has items, or what it takes from runs already."""
    if stage.state != "planned" or stage.waits_for_model or stage.lacks_gold:
        return False
    upstream = by_key.get(stage.takes_from or 0)
    return upstream is None or upstream.state != "planned"


def ready_to_close(stage: Stage, by_key: Mapping[int, Stage]) -> bool:
    """Whether all work of an open batch is done, and no more items can come."""
    counts, upstream = stage.counts, by_key.get(stage.takes_from or 0)
    if stage.state not in ("open", "paused") or counts is None or not counts.items or not stage.decides:
        return False
    if upstream is not None and (upstream.counts is None or _has_more(upstream, by_key)):
        return False
    return not counts.undecided or (stage.at_close and counts.undecided == counts.complete)


def _has_more(stage: Stage, by_key: Mapping[int, Stage]) -> bool:
    """Whether a batch can still accept items: it has undecided ones, or the one that it takes from can."""
    if stage.pending:
        return True
    upstream = by_key.get(stage.takes_from or 0)
    return stage.state != "closed" and upstream is not None and _has_more(upstream, by_key)


def _blocked_by_state(stage: Stage, by_key: Mapping[int, Stage]) -> Blockage | None:
    upstream, required = by_key.get(stage.takes_from or 0), by_key.get(stage.requires or 0)
    if stage.waits_for_model:
        text = gettext("The model must answer the questions first.")
        return Blockage(stage, text, gettext("waits for the model"), stage)
    if stage.lacks_gold:
        text = ngettext(
            "{number} item has no gold answer.", "{number} items have no gold answer.", stage.lacks_gold
        ).format(number=grouped(stage.lacks_gold))
        return Blockage(stage, text, gettext("gold answers are missing"), stage)
    if stage.state == "planned" and upstream is not None and upstream.state == "planned":
        text = gettext("It takes items from “{batch}”, which is not open.").format(batch=upstream.name)
        return Blockage(stage, text, gettext("waits for items"), upstream)
    if stage.state == "paused":
        return Blockage(stage, gettext("It is paused."), gettext("paused"), stage)
    if required is None or stage.state != "open":
        return None
    if required.state == "planned":
        text = gettext("It requires “{batch}”, which is not open.").format(batch=required.name)
        return Blockage(stage, text, gettext("waits for {batch}").format(batch=required.name), required)
    if not required.passed:
        text = gettext("No annotator has passed “{batch}” yet.").format(batch=required.name)
        return Blockage(stage, text, gettext("waits for {batch}").format(batch=required.name), required)
    return None


def _blocked_by_items(stage: Stage, by_key: Mapping[int, Stage]) -> Blockage | None:
    """Work that waits for decisions: in the batch itself, or in the one that it takes items from."""
    counts, upstream = stage.counts, by_key.get(stage.takes_from or 0)
    if counts is None:
        return None
    if counts.adjudication:
        text = ngettext(
            "{number} item waits for adjudication.",
            "{number} items wait for adjudication.",
            counts.adjudication,
        ).format(number=grouped(counts.adjudication))
        brief = ngettext("{number} to adjudicate", "{number} to adjudicate", counts.adjudication)
        return Blockage(stage, text, brief.format(number=grouped(counts.adjudication)), stage)
    has_work = counts.waiting or counts.in_progress
    if stage.state not in ("planned", "open") or has_work or upstream is None or upstream.counts is None:
        return None
    if not _has_more(upstream, by_key):
        return None
    brief = gettext("waits for items")
    if pending := upstream.pending:
        text = ngettext(
            "It waits for {number} more decision in “{batch}”.",
            "It waits for {number} more decisions in “{batch}”.",
            pending,
        ).format(number=grouped(pending), batch=upstream.name)
        return Blockage(stage, text, brief, upstream)
    text = gettext("It waits for items from “{batch}”.").format(batch=upstream.name)
    return Blockage(stage, text, brief, upstream)
