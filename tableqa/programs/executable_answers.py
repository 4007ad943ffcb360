"""Executable answers: the program that a person confirms for an example, and what it gives once the table is edited.

The search (`tableqa.programs.find_programs`) only guesses which program a question means; a person confirms one of the
programs that it offers, or says that none of them is right, which is kept as well (`NONE`): how often the search is
right can be told from that. A confirmed program is run on every draft, but never required.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from tableqa.core.canonical_json import canonical, thaw
from tableqa.core.json_text import check_depth
from tableqa.core.translation import gettext, translate_stored
from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.programs import Program, ProgramError, describe, find_programs, from_dict, reads, run
from tableqa.programs.evidence import CellRef, in_order, source_program
from tableqa.programs.search import yields_gold_answer
from tableqa.programs.syntax import Aggregate, CountDifferent, Extreme, MostCommon, Where

NONE: Mapping[str, Any] = {"op": "none"}
"""Stands where a program would: a person looked at what was offered, and none of it is how the answer follows."""

MOST_OFFERED = 5
MOST_CELLS_MARKED = 500
MOST_CELLS_PROBED = 5_000
"""Cells of a table up to which programs are compared on other values."""


def confirmed_program(value: object, example: Example) -> dict[str, Any] | None:
    """The JSON of a confirmed program as it is stored; None before a choice, `NONE` as it is.

    Raises ProgramError: bad_program for what is no program, what `run` raises on the table of `example`, and
    other_answer for a program that does not give the answer of `example`, for that one cannot be how it follows.
    """
    if value is None:
        return None
    if value == NONE:
        return dict(NONE)
    program = from_dict(value)
    answers = run(program, example.table)
    if not compare(answers, example.answers).equal:
        answer_text, gold = " | ".join(answers), " | ".join(example.answers)
        message = gettext("On the original table the program gives {given}, but the answer is {gold}.")
        raise ProgramError("other_answer", message.format(given=answer_text, gold=gold))
    return program.to_dict()


def read_posted_program(text: object, stored: object) -> object:
    """What a form without scripts says of the program: its JSON text; what was `stored` where it says nothing.

    What is no JSON is handed on as it is, and refused like any other thing that is no program.
    """
    if not isinstance(text, str) or not text:
        return stored
    try:
        value = json.loads(text, parse_constant=_no_constant)
        check_depth(value)
        return value
    except (ValueError, RecursionError):
        return text


def _no_constant(name: str) -> None:
    raise ValueError(gettext("{name} is not a JSON number").format(name=name))


def is_program(value: object) -> bool:
    """Whether a stored value is a program, and neither nothing nor `NONE`."""
    return isinstance(value, Mapping) and value != NONE


@lru_cache(maxsize=256)
def own_program(example: Example) -> Mapping[str, Any] | None:
    """The program that comes with the example and gives its answer: its own, or what the source says in its own form.

    See `tableqa.programs.evidence.source_program`. One that does not give the gold answer cannot be how that follows,
    and is None; so is every program of an example without gold. Kept for the examples asked last, because a derivation
    is searched for.
    """
    candidate = source_program(example)
    if candidate is None or not is_program(candidate[0]) or not yields_gold_answer(candidate[0], example):
        return None
    return candidate[0]


def offered_programs(example: Example, cells: Sequence[CellRef] = ()) -> dict[str, Any]:
    """The programs to choose from, the likeliest first: {"programs": [a `program_entry` and its "source"], "note"}.

    `Example.program` comes before what is found. `cells` are evidence, by which programs are preferred. Two programs
    with the same words, or with the same cells and the same results on other values, are offered once. "cells" of an
    entry are those that it reads, at most `MOST_CELLS_MARKED`.
    """
    programs, note = candidates(example, tuple(cells))
    return {
        "programs": [
            {
                **program_entry(program.to_dict(), example.table),
                "source": source,
                "cells": [
                    list(cell) for cell in cells_read(program.to_dict(), example.table)[:MOST_CELLS_MARKED]
                ],
            }
            for program, source in programs
        ],
        "note": translate_stored(note) if note else "",
    }


@lru_cache(maxsize=64)
def candidates(
    example: Example, cells: tuple[CellRef, ...] = ()
) -> tuple[tuple[tuple[Program, str], ...], str]:
    """The programs that `offered_programs` offers, each with its source, and the note of the search. Cached: every draft of
    an item runs them.
    """
    distinct: dict[tuple[Any, ...], tuple[Program, str]] = {}
    descriptions: set[str] = set()
    result = find_programs(example, list(cells))
    ranked: Iterable[tuple[Program, str]] = zip(result.programs, result.sources, strict=True)
    if example.program is not None and yields_gold_answer(example.program, example):
        ranked = [(from_dict(example.program), "known"), *ranked]
    probes = _probes(example.table)
    for program, source in ranked:
        if len(distinct) == MOST_OFFERED:
            break
        if (description := describe(program, example.table)) not in descriptions:
            descriptions.add(description)
            distinct.setdefault(_behaviour(program, example.table, probes), (program, source))
    return tuple(distinct.values()), result.note


def answer_groups(results: Sequence[Sequence[str] | None]) -> list[int | None]:
    """The number of the answer that each result is, from 0 by first appearance; None for a program without a result.

    Two results are one answer where `compare` says that they are equal. More than one number: the programs disagree.
    """
    groups: list[Sequence[str]] = []
    group_numbers: list[int | None] = []
    for result in results:
        if result is None:
            group_numbers.append(None)
            continue
        group = next((at for at, answer in enumerate(groups) if compare(result, answer).equal), len(groups))
        if group == len(groups):
            groups.append(result)
        group_numbers.append(group)
    return group_numbers


def alternatives(programs: Sequence[Program], base: Table, edited: Table) -> list[dict[str, Any]]:
    """The answers that programs give on an edited table, where they disagree; [] where they agree.

    [{"answers", "programs": the `program_entry` of each program that gives them, "value": answers and first program as one
    text}] in the order of `programs`. `base` is the table that the programs were found on, and is described by. Programs
    that do not run are left out.
    """
    results: list[tuple[str, ...] | None] = []
    for program in programs:
        try:
            results.append(tuple(run(program, edited)))
        except ProgramError:
            results.append(None)
    by_answer: dict[int, list[tuple[Program, tuple[str, ...]]]] = {}
    for program, result, group in zip(programs, results, answer_groups(results), strict=True):
        if group is not None and result is not None:
            by_answer.setdefault(group, []).append((program, result))
    if len(by_answer) < 2:
        return []
    return [
        {
            "answers": list(agreeing[0][1]),
            "programs": [program_entry(program.to_dict(), base) for program, _ in agreeing],
            "value": canonical({"answers": agreeing[0][1], "program": agreeing[0][0].to_dict()}),
        }
        for agreeing in by_answer.values()
    ]


def _probes(table: Table) -> list[Table]:
    """Two tables with other values, on which programs with different meanings tend to differ: rows turned around, and
    every number raised by its row. Empty for a table that is too large to be edited twice in a request.
    """
    if len(table.rows) * len(table.header) > MOST_CELLS_PROBED:
        return []
    raised = [
        [_raised(text, 7 * line * line + column) for column, text in enumerate(row)]
        for line, row in enumerate(table.rows)
    ]
    return [
        Table(
            table.header,
            rows,
            row_ids=table.row_ids,
            column_ids=table.column_ids,
            header_id=table.header_id,
        )
        for rows in (raised, list(reversed(table.rows)))
    ]


def _raised(text: str, by: int) -> str:
    return str(int(text) + by) if text.strip().isdecimal() and len(text) < 12 else text


def _behaviour(program: Program, table: Table, probes: Sequence[Table]) -> tuple[Any, ...]:
    """What tells a program from others: the cells that it reads, and what it gives on other values."""
    if not probes:
        return (program,)
    results = []
    for probe in probes:
        try:
            results.append(tuple(run(program, probe)))
        except ProgramError as error:
            results.append((error.code,))
    try:
        return (reads(program, table), *results)
    except ProgramError:
        return (program,)


def program_entry(program: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """A program as a page shows it: {"program", "value": its JSON as one text, "words"}."""
    data = thaw(program)
    return {"program": data, "value": canonical(data), "words": describe(program, table)}


def computed(program: Mapping[str, Any], table: Table) -> tuple[str, ...] | ProgramError:
    """What a stored program gives on a table, or the error that it ends with: what `contracts.check` wants to know."""
    try:
        return tuple(run(program, table))
    except ProgramError as error:
        return error


def cells_read(program: Mapping[str, Any] | None, table: Table) -> tuple[CellRef, ...]:
    """The cells that a stored program's answer rests on, in the order of the table; none where it does not run."""
    if program is None or not is_program(program):
        return ()
    try:
        return in_order(table, reads(program, table))
    except ProgramError:
        return ()


def columns_scanned(program: Mapping[str, Any] | None) -> frozenset[str]:
    """The columns that a stored program looks through from row to row: by a condition, or for a sum or an extreme.

    A change anywhere in them is about the answer, also in a row that the condition leaves out.
    """
    if program is None or not is_program(program):
        return frozenset()
    scans = (Aggregate, CountDifferent, Extreme, MostCommon, Where)
    return frozenset(node.column for node in from_dict(program).walk() if isinstance(node, scans))


def in_words(program: Mapping[str, Any] | None, table: Table) -> str:
    """A stored program in words; "" before a choice."""
    if program is None:
        return ""
    return describe(program, table) if is_program(program) else gettext("none of the proposed programs")
