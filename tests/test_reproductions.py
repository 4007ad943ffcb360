"""The pages of docs/reproductions/ hold what the command prints today, and every difference is explained."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from benchmarks.reproducing import Figure, page_part
from benchmarks.reproductions import NAMES, PAGES, figures_of, unexplained, with_part


@cache
def made(name: str, data: Path) -> list[Figure]:
    return list(figures_of(name)(data))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_holds_the_figures_that_are_made_today(test_data: Path, name: str) -> None:
    figures = made(name, test_data)
    assert unexplained(figures) == []
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert page_part(name, figures) in page, f"run ./run bench reproductions {name} --write"


def test_the_selection_of_freb_tqa_as_released(test_data: Path) -> None:
    figures = made("freb_tqa", test_data)
    selected = {one.what: one.ours for one in figures if one.table.startswith("Tables 1 and 3")}
    assert (selected["extraction, SQA"], selected["extraction, TAT-QA"]) == ("157", "114")
    assert (selected["reasoning, TAT-QA"], selected["extraction, WikiSQL"]) == ("539", "6,017")
    found = {one.what: one.ours for one in figures}
    assert found["the four files have equal ids in equal order"] == "yes"
    assert found["`transpose`"] == found["questions"] == "1,629"


def test_the_index_names_every_page() -> None:
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"[{name}]({name}.md)" in index
    assert {path.stem for path in PAGES.glob("*.md")} == {*NAMES, "README"}


def test_a_figure_that_differs_without_a_word_is_told() -> None:
    quiet = Figure("t", "what", "1", "2")
    assert unexplained([quiet, Figure("t", "what", "1", "2", "because"), Figure("t", "what", "1")]) == [quiet]


def test_new_figures_take_the_place_of_the_old_ones_and_the_text_stays() -> None:
    old = page_part("suc", [Figure("t", "what", "1")])
    new = page_part("suc", [Figure("t", "what", "2")])
    assert with_part(f"before\n{old}\nafter\n", "suc", new) == f"before\n{new}\nafter\n"
