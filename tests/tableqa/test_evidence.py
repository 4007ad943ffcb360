"""Evidence: which cells an answer is said to rest on, and who says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tableqa import Example, Table
from tableqa.operations import RemoveRow, replay
from tableqa.programs import reads
from tableqa.programs.evidence import Evidence, cells_in, evidence, read_reply, request, source_program
from tableqa.programs.executable_answers import own_program
from tableqa.readers import READERS

TABLE = Table(["Year", "Sales"], [["2018", "40"], ["2019", "50"]])
PROGRAM = {
    "op": "subtract",
    "left": {"op": "cell", "row": "r1", "column": "c1"},
    "right": {"op": "cell", "row": "r0", "column": "c1"},
}


def example(program: dict[str, Any] | None = None, table: Table = TABLE, **meta: Any) -> Example:
    return Example("e", "by how much did sales rise?", table, ["10"], meta=meta, program=program)


def test_people_come_before_the_source_and_the_source_before_a_model() -> None:
    marked = [{"cells": [["r0", "c0"]], "unanswerable": False}]
    model = [{"model": "tapex@1", "cells": [["r1", "c0"]]}]
    whole = example(PROGRAM, relevant_cells=[["r1", "c1"]], highlighted_cells=[["h", "c1"]])
    assert evidence(whole, marked, model) == Evidence(
        (("r0", "c0"),), "cells marked by people in this project"
    )
    found = evidence(whole, [], model)
    assert found is not None
    assert (found.cells, "FREB-TQA" in found.source) == ((("r1", "c1"),), True)
    found = evidence(example(PROGRAM), [], model)
    assert found is not None
    assert found.cells == (("r0", "c1"), ("r1", "c1"))
    found = evidence(example(), [], model)
    assert found == Evidence((("r1", "c0"),), "cells that a model used (tapex@1)")
    assert evidence(example()) is None


def test_the_newest_marking_counts_and_an_unanswerable_one_does_not() -> None:
    marked: list[dict[str, Any]] = [
        {"cells": [["r0", "c0"]]},
        {"cells": [["r1", "c1"]]},
        {"cells": [], "unanswerable": True},
    ]
    found = evidence(example(), marked)
    assert found is not None
    assert found.cells == (("r1", "c1"),)


def test_cells_that_an_edit_took_away_are_left_out() -> None:
    short = replay(TABLE, [RemoveRow(row="r0", old=TABLE.rows[0])])
    meta: dict[str, Any] = {"relevant_cells": [["r0", "c1"], ["r1", "c1"]]}
    found = evidence(example(table=short, **meta))
    assert found is not None
    assert found.cells == (("r1", "c1"),)


@pytest.mark.parametrize(
    "cells", [None, 3, "r0", [1], [["r0"]], [["r0", "c0", "x"]], [[0, 1]], [["r9", "c0"]], [[["r0"], "c0"]]]
)
def test_what_is_no_cell_is_no_evidence(cells: Any) -> None:
    assert cells_in(TABLE, cells) == ()


def test_a_program_that_does_not_run_on_this_table_is_no_evidence() -> None:
    gone = replay(TABLE, [RemoveRow(row="r0", old=TABLE.rows[0])])
    assert evidence(example(PROGRAM, table=gone)) is None


def test_a_program_that_gives_another_answer_is_no_evidence() -> None:
    other = Example("e", "?", TABLE, ["11"], program=PROGRAM)
    assert source_program(other) is None
    assert evidence(other) is None
    assert evidence(example(PROGRAM), program=False) is None

    def derived(program: dict[str, Any] | None) -> Example:
        return Example("e", "?", TABLE, ["10"], meta={"derivation": "50-40"}, program=program)

    assert own_program(derived(None)) == PROGRAM
    assert own_program(derived({"op": "cell", "row": "r0", "column": "c1"})) == PROGRAM
    assert own_program(derived({"op": "none"})) is None, "people turned it down"
    assert own_program(Example("e", "?", TABLE, [], program=PROGRAM)) is None, (
        "there is nothing that it gives"
    )


@pytest.mark.parametrize(
    ("reader", "path", "words"),
    [
        ("fetaqa", "fetaqa/fetaQA-v1_dev.jsonl", "FeTaQA"),
        ("sqa", "sqa/random-split-1-dev.tsv", "SQA"),
        ("freb_tqa", "freb_tqa/03_agg_com/tat_nonfactoid_dev_no_shuffle_ori_table.json", "FREB-TQA"),
    ],
)
def test_sources_that_mark_cells_give_evidence(test_data: Path, reader: str, path: str, words: str) -> None:
    found = [evidence(one) for one in READERS[reader](test_data / path, limit=60)]
    assert sum(one is not None and words in one.source for one in found) >= 55


def test_the_numbers_of_a_derivation_are_evidence(test_data: Path) -> None:
    examples = list(READERS["tat_qa"](test_data / "tatqa/tatqa_dataset_dev.json", limit=300))
    arithmetic = [
        one
        for one in examples
        if one.meta.get("answer_type") == "arithmetic" and one.meta.get("answer_from") == "table"
    ]
    assert len(arithmetic) > 30
    found = [(one, evidence(one)) for one in arithmetic]
    named = [(one, its) for one, its in found if its is not None and "TAT-QA" in its.source]
    assert len(named) >= 0.9 * len(arithmetic)
    for one, its in named:
        program = source_program(one)
        assert program is not None
        assert set(its.cells) == reads(program[0], one.table)


def test_a_model_is_asked_for_cells_by_number_and_understood() -> None:
    table = Table(["Film", "Film"], [["Heat", "a|b"], ["Alien", "1979"]], title="Films")
    text, seen = request("when?", table)
    assert seen == 2
    assert "Title: Films" in text
    assert "columns: 1 Film | 2 Film" in text
    assert "row 1: Heat | a/b" in text
    assert text.endswith("Question: when?")
    assert read_reply('Well: {"cells": [[2, 2], [2,1], [2, 2], [3, 1], [0, 1]]}', table) == (
        ("r1", "c0"),
        ("r1", "c1"),
    )
    assert read_reply("none", table) == ()
    long = Table(["n"], [[str(number)] for number in range(200)])
    text, seen = request("which?", long)
    assert seen == 60
    assert "(140 more rows)" in text
