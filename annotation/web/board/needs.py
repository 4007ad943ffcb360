"""What a project needs from a person now, the most urgent first. Pure: no database, no request."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from annotation.access.roles import Permission
from annotation.web.board.stages import Counts, Stage, ready_to_close, ready_to_open

JOBS: Final = {"import": "failed_import", "release": "failed_release"}
"""Kinds of failed jobs that have their own name; all others are `failed_job`."""
FAILED: Final = frozenset({*JOBS.values(), "failed_job"})


@dataclass(frozen=True)
class State:
    """What a project is at.

    may           what the person may do in it
    sources       sources that can be used
    annotators    people who can annotate; `adjudicators` those who can decide
    mine          items that the person can adjudicate
    questions     open questions of annotators
    failed        failed jobs by kind, after which none of that kind was done
    unchecked     examples made by people without a blind answer
    released      accepted items in the latest release; None where there is no release
    """

    may: frozenset[Permission]
    stages: Sequence[Stage] = ()
    sources: int = 0
    annotators: int = 0
    adjudicators: int = 0
    mine: int = 0
    questions: int = 0
    failed: Sequence[tuple[str, int]] = ()
    unchecked: int = 0
    released: int | None = None

    @property
    def counts(self) -> Counts:
        """Items of the batches that decide, as far as the person sees them."""
        seen = (stage.counts for stage in self.stages if stage.decides and stage.counts is not None)
        return sum(seen, Counts())

    @property
    def is_quiet(self) -> bool:
        """Whether there is no item to work on: then a release is next."""
        return not any(stage.pending or stage.counts is None for stage in self.stages)


@dataclass(frozen=True)
class Need:
    """Something that waits for the person. `stage`: the batch, where it is about one.

    is_urgent  whether it waits for this person; other needs wait for another person
    """

    kind: str
    number: int = 1
    stage: Stage | None = None
    is_urgent: bool = True


def needs(state: State) -> list[Need]:
    """Everything that waits for the person, the most urgent first."""
    return [
        need
        for permission, group in (
            (Permission.IMPORT, [] if state.sources else [Need("import")]),
            (Permission.SEE_PROGRESS, _failures(state)),
            (Permission.ADJUDICATE, [Need("adjudicate", state.mine)] if state.mine else []),
            (Permission.SET_UP, [Need("questions", state.questions)] if state.questions else []),
            (Permission.INVITE, _people(state)),
            (Permission.SET_UP, _batches(state)),
            (Permission.RELEASE, _releases(state)),
            (Permission.SET_UP, _waiting_for_others(state)),
        )
        if permission in state.may
        for need in group
    ]


def primary(state: State) -> Need:
    """The one next action: the most urgent need, else one that waits for others, else a look at the items or sources."""
    waiting = needs(state)
    urgent = [need for need in waiting if need.is_urgent]
    look = Need("items" if state.stages else "sources", is_urgent=False)
    return [*urgent, *waiting, look][0]


def leading(actions: Mapping[int, Need]) -> int | None:
    """The project (key) whose next action leads a page with several projects: the first urgent one, else the first."""
    urgent = [key for key, need in actions.items() if need.is_urgent]
    return next(iter([*urgent, *actions]), None)


def _failures(state: State) -> Iterator[Need]:
    counts: Counter[str] = Counter()
    for kind, count in state.failed:
        counts[JOBS.get(kind, "failed_job")] += count
    for kind, count in counts.items():
        yield Need(kind, count)


def _batches(state: State) -> Iterator[Need]:
    if state.sources and not state.stages:
        yield Need("batch")
    for stage in state.stages:
        if stage.lacks_gold:
            yield Need("gold", stage.lacks_gold, stage)
    for kind in ("open", "close"):
        if stages := ready(state, kind):
            yield Need(kind, len(stages), stages[0] if len(stages) == 1 else None)


def ready(state: State, kind: str) -> list[Stage]:
    """The batches that a need of this kind is about: ready to open, ready to close, or paused."""
    by_key = {stage.key: stage for stage in state.stages}
    if kind == "paused":
        return [stage for stage in state.stages if stage.state == "paused"]
    is_ready = {"open": ready_to_open, "close": ready_to_close}.get(kind)
    return [stage for stage in state.stages if is_ready is not None and is_ready(stage, by_key)]


def _people(state: State) -> Iterator[Need]:
    if state.stages and not state.annotators:
        yield Need("annotators")
    elif state.counts.adjudication and not state.adjudicators:
        yield Need("adjudicators", state.counts.adjudication)


def _releases(state: State) -> Iterator[Need]:
    if not state.is_quiet:
        return
    if state.unchecked:
        yield Need("unchecked", state.unchecked)
    if state.counts.accepted > (state.released or 0):
        yield Need("release", state.counts.accepted - (state.released or 0))


def _waiting_for_others(state: State) -> Iterator[Need]:
    if state.adjudicators and (waiting_count := state.counts.adjudication - state.mine) > 0:
        stages = [stage for stage in state.stages if stage.counts and stage.counts.adjudication]
        yield Need("adjudication", waiting_count, stages[0] if len(stages) == 1 else None, is_urgent=False)
    if paused := ready(state, "paused"):
        yield Need("paused", len(paused), paused[0] if len(paused) == 1 else None, is_urgent=False)


def label(need: Need) -> str:
    """The words of the button."""
    count = number_format(need.number, force_grouping=True)
    about_one = {
        "open": gettext("“{batch}” is ready to open"),
        "close": gettext("“{batch}” is ready to close"),
        "paused": gettext("“{batch}” is paused"),
    }
    if need.stage is not None and need.kind in about_one:
        return about_one[need.kind].format(batch=need.stage.name)
    return _count_in_words(need.kind, need.number).format(number=count)


def _count_in_words(kind: str, n: int) -> str:
    return {
        "import": gettext("Import examples"),
        "items": gettext("Browse items"),
        "sources": gettext("Browse sources"),
        "failed_import": ngettext("{number} failed import", "{number} failed imports", n),
        "failed_release": ngettext("{number} failed release", "{number} failed releases", n),
        "failed_job": ngettext("{number} failed job", "{number} failed jobs", n),
        "adjudicate": ngettext("{number} item to adjudicate", "{number} items to adjudicate", n),
        "adjudication": ngettext(
            "{number} item waits for an adjudicator", "{number} items wait for an adjudicator", n
        ),
        "questions": ngettext(
            "{number} open question of annotators", "{number} open questions of annotators", n
        ),
        "batch": gettext("New batch"),
        "annotators": gettext("Invite people"),
        "adjudicators": gettext("Add an adjudicator"),
        "gold": ngettext("{number} gold answer missing", "{number} gold answers missing", n),
        "open": ngettext("{number} batch is ready to open", "{number} batches are ready to open", n),
        "close": ngettext("{number} batch is ready to close", "{number} batches are ready to close", n),
        "paused": ngettext("{number} paused batch", "{number} paused batches", n),
        "unchecked": ngettext(
            "{number} unchecked edit before a release", "{number} unchecked edits before a release", n
        ),
        "release": ngettext(
            "Create release with {number} new item", "Create release with {number} new items", n
        ),
    }[kind]
