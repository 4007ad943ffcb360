"""The batches of a project in order of flow: columns from sources to releases, a row for each branch. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from annotation.web.board.stages import Blockage, Stage

MOST: Final = 40
"""Batches in a picture. What needs attention comes first; the table has all."""
MOST_ROWS: Final = 12
"""Rows of a picture, for it to fit on a screen."""


@dataclass(frozen=True)
class Flow:
    """Where each batch (by key) is in the picture: column from 1, row from 0.

    origins    sources of a group of rows, with the first and the last one; no sources: the origin is not known
    left_out   batches for which there is no room
    """

    columns: Mapping[int, int]
    rows: Mapping[int, int]
    origins: Sequence[tuple[tuple[str, ...], int, int]]
    left_out: int = 0


def arrange(stages: Sequence[Stage], blocked: Mapping[int, Blockage]) -> Flow:
    """Batches in topological order from left to right; a batch shares the row of the one it takes items from.

    Chains over the same sources are next to each other. Chains with something blocked come first, finished ones last.
    """
    by_key = {stage.key: stage for stage in stages}
    after = _followers(stages, by_key)
    chains = [_chain(stage, after) for stage in stages if _parent(stage, by_key) is None]
    chains.sort(key=lambda chain: _rank(chain, blocked))
    groups: dict[tuple[str, ...], list[list[Stage]]] = {}
    placed_count, height = 0, 0
    for chain in chains:
        branches = sum(stage.key not in after for stage in chain)
        if placed_count and (placed_count + len(chain) > MOST or height + branches > MOST_ROWS):
            continue
        placed_count += len(chain)
        height += branches
        groups.setdefault(chain[0].sources, []).append(chain)
    rows: dict[int, int] = {}
    origins = []
    for sources, of_group in groups.items():
        first = len(set(rows.values()))
        for chain in of_group:
            _assign_rows(chain[0], after, len(set(rows.values())), rows)
        origins.append((sources, first, len(set(rows.values())) - 1))
    columns = {key: _column(by_key[key], by_key) for key in rows}
    return Flow(columns, rows, origins, len(stages) - placed_count)


def _parent(stage: Stage, by_key: Mapping[int, Stage]) -> Stage | None:
    return by_key.get(stage.takes_from) if stage.takes_from is not None else None


def _followers(stages: Sequence[Stage], by_key: Mapping[int, Stage]) -> dict[int, list[Stage]]:
    after: dict[int, list[Stage]] = {}
    for stage in stages:
        if (parent := _parent(stage, by_key)) is not None:
            after.setdefault(parent.key, []).append(stage)
    return after


def _chain(stage: Stage, after: Mapping[int, Sequence[Stage]]) -> list[Stage]:
    """A batch and everything that follows from it."""
    return [
        stage,
        *(descendant for follower in after.get(stage.key, ()) for descendant in _chain(follower, after)),
    ]


def _rank(chain: Sequence[Stage], blocked: Mapping[int, Blockage]) -> tuple[bool, bool, bool, int]:
    return (
        not any(stage.key in blocked for stage in chain),
        all(stage.state == "closed" for stage in chain),
        len(chain) == 1,
        chain[0].key,
    )


def _assign_rows(stage: Stage, after: Mapping[int, Sequence[Stage]], row: int, rows: dict[int, int]) -> None:
    rows[stage.key] = row
    for index, follower in enumerate(after.get(stage.key, ())):
        _assign_rows(follower, after, row if index == 0 else len(set(rows.values())), rows)


def _column(stage: Stage, by_key: Mapping[int, Stage], deep: int = 0) -> int:
    """One more than that of what it takes items from and of the qualification that it requires."""
    keys = (stage.takes_from, stage.requires)
    before = [by_key[key] for key in keys if key is not None and key in by_key]
    return 1 + max(
        (_column(predecessor, by_key, deep + 1) for predecessor in before if deep < MOST), default=0
    )


def ends(stages: Sequence[Stage], flow: Flow) -> Iterator[Stage]:
    """The batches in the picture whose accepted items go into releases and into no other batch."""
    upstream_keys = {stage.takes_from for stage in stages if stage.key in flow.rows}
    return (
        stage
        for stage in stages
        if stage.key in flow.rows and stage.key not in upstream_keys and stage.decides
    )
