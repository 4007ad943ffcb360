"""The search: from question, evidence and gold answer to the small programs with that denotation.

Learning from denotations (Liang, Jordan and Klein 2013; Pasupat and Liang 2015), kept small: conditions come from texts
that question and cells share, operations from a fixed list, and the gold answer prunes every step. Whether a program
*means* the question cannot be told from one table; the ranking makes a guess, and a person confirms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, overload

from tableqa.core.translation import message, number
from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.programs.candidates import (
    Candidates,
    across_columns,
    aggregates,
    arithmetic,
    comparisons,
    counts,
    lookups,
    places,
    yes_no_comparisons,
)
from tableqa.programs.conditions import Conditions
from tableqa.programs.derivations import from_derivation
from tableqa.programs.indexed_table import SearchContext, StepLimitReached
from tableqa.programs.layout import CellRef
from tableqa.programs.logical_forms import from_logical_form
from tableqa.programs.semantics import reads, run
from tableqa.programs.syntax import Program, ProgramError

MOST_PROGRAMS = 20
"""Programs that are given."""

MOST_STEPS = 150_000
"""Elementary steps (a cell looked at, a pair compared) that each part of the search may take.

Half a second at most for all of them together; no question of WikiTableQuestions is cut off.
"""

MOST_CELLS = 20_000
"""Cells of a table that is searched at all."""

_MOST_HELD_AGAINST_EVIDENCE = 60

TOO_LARGE = message(
    "programs.too_large",
    "The table has more than {cells} cells. That is too large for program proposals.",
)
STOPPED_EARLY = message(
    "programs.stopped_early", "The table is large, so the search stopped early. Other programs may exist."
)

Source = Literal["derivation", "logical_form", "search"]


@dataclass(frozen=True)
class SearchResult(Sequence[Program]):
    """Programs whose denotation is the gold answer, the likeliest first, and how the search went.

    scores   of each program, higher is likelier; sums of small hand-set weights, not probabilities
    sources  of each program: the source's "derivation" or "logical_form", or the "search"
    note     a message that says so where the search was cut off; else ""
    """

    programs: tuple[Program, ...] = ()
    scores: tuple[float, ...] = ()
    sources: tuple[Source, ...] = ()
    note: str = ""

    @property
    def complete(self) -> bool:
        """Whether the search finished."""
        return not self.note

    @overload
    def __getitem__(self, index: int) -> Program: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Program, ...]: ...
    def __getitem__(self, index: int | slice) -> Program | tuple[Program, ...]:
        return self.programs[index]

    def __len__(self) -> int:
        return len(self.programs)


def find_programs(example: Example, cells: Sequence[CellRef] | None = None) -> SearchResult:
    """The programs that yield the gold answers of `example` on its table, the likeliest first, twenty at most.

    What the source says comes first: a derivation (TAT-QA) or a logical form (WikiSQL) in meta; then what the search
    finds. `cells` are (row id, column id) of evidence: programs that read these cells and no others are preferred, and
    arithmetic over them is tried; what the table does not have is passed over. Deterministic. The work is bounded
    (`MOST_STEPS`, `MOST_CELLS`), and `note` says when a bound cut the search off. Without gold answers there is nothing
    to search for, and only a logical form is given.
    """
    source_programs: list[tuple[Program, Source]] = [
        (program, "logical_form") for program in from_logical_form(example)
    ]
    if not any(answer.strip() for answer in example.answers):
        return _search_result(example, source_programs, [], "")
    source_programs[:0] = [(program, "derivation") for program in from_derivation(example, cells)]
    if len(example.table.rows) * len(example.table.header) > MOST_CELLS:
        return _search_result(example, source_programs, [], TOO_LARGE.format(cells=number(f"{MOST_CELLS:,}")))
    ranked, cut_off = _search(example, cells or ())
    return _search_result(example, source_programs, ranked, STOPPED_EARLY if cut_off else "")


def _search(example: Example, evidence: Sequence[CellRef]) -> tuple[list[tuple[float, Program]], bool]:
    """What is found, the likeliest first, and whether a part of the search ran out of steps."""
    sight = SearchContext(example, evidence, MOST_STEPS)
    conditions = Conditions(sight)
    candidates = Candidates(sight, conditions)
    cut_off = False
    families = (
        lookups,
        places,
        counts,
        aggregates,
        arithmetic,
        comparisons,
        across_columns,
        yes_no_comparisons,
    )
    parts: list[Callable[[], object]] = [
        conditions.collect,
        *(partial(family, candidates) for family in families),
    ]
    for part in parts:
        sight.steps = MOST_STEPS
        try:
            part()
        except StepLimitReached:
            cut_off = True
    scored = [
        (sight.ranking.score(program, mentions.bit_count()), program)
        for program, mentions in candidates.found.items()
    ]
    scored.sort(key=lambda entry: -entry[0])
    if sight.evidence:
        evidence_cells = frozenset(sight.evidence)
        best, rest = scored[:_MOST_HELD_AGAINST_EVIDENCE], scored[_MOST_HELD_AGAINST_EVIDENCE:]
        best = [
            (score + 4.0 * _overlap(program, example, evidence_cells), program) for score, program in best
        ]
        scored = [*sorted(best, key=lambda entry: -entry[0]), *rest]
    return scored, cut_off


def _overlap(program: Program, example: Example, evidence_cells: frozenset[CellRef]) -> float:
    """The share of the evidence among the cells that evidence and program read."""
    try:
        read = reads(program, example.table)
    except ProgramError:
        return 0.0
    return len(read & evidence_cells) / len(read | evidence_cells)


def _search_result(
    example: Example,
    source_programs: Sequence[tuple[Program, Source]],
    ranked: Sequence[tuple[float, Program]],
    note: str,
) -> SearchResult:
    best = max(ranked[0][0], 0.0) if ranked else 0.0
    programs: dict[Program, tuple[float, Source]] = {}
    for rank, (program, source) in enumerate(source_programs):
        programs.setdefault(program, (best + len(source_programs) - rank, source))
    for score, program in ranked:
        if len(programs) >= MOST_PROGRAMS:
            break
        if program not in programs and yields_gold_answer(program, example):
            programs[program] = (score, "search")
    scores = tuple(round(score, 3) for score, _ in programs.values())
    return SearchResult(tuple(programs), scores, tuple(source for _, source in programs.values()), note)


def yields_gold_answer(program: Program | Mapping[str, Any], example: Example) -> bool:
    """Whether a program has the answer of the example."""
    try:
        return compare(run(program, example.table), example.answers).equal
    except ProgramError:
        return False
