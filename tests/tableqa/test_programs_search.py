"""The search for programs: what it finds, in which order, and that it never takes long."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.data.answers import compare
from tableqa.programs import describe, find_programs, from_dict, reads, run
from tableqa.programs.question import Question
from tableqa.readers import READERS

MEDALS = Table(
    ["Rank", "Nation", "Gold", "Silver", "Year joined"],
    [
        ["1", "France", "10", "4", "March 1990"],
        ["2", "Canada", "7", "9", "1992"],
        ["3", "Qatar", "7", "2", "4 May 2001"],
        ["4", "Kenya", "1", "0", "1994"],
        ["", "Total", "25", "15", ""],
    ],
)
GAMES = Table(
    ["Game", "Date", "Opponent", "Result", "Fans", "Site"],
    [
        ["1", "May 1", "Boston Reds", "W 4-1", "1,204", "Home"],
        ["2", "May 8", "New York", "L 0-2", "800", "Away"],
        ["3", "May 9", "Boston Reds", "W 1-0", "2,310", "Home"],
        ["4", "June 3", "Chicago", "D 1-1", "950", "Home"],
        ["5", "June 9", "New York", "W 5-3", "1,000", "Away"],
    ],
)


CASES = """\
M | how many nations won more than 5 gold medals? | 3 | number of rows where Gold is greater than 5 and Nation is not Total
M | how many nations are there? | 4 | number of rows where Nation is not Total
M | which nation won the least silver? | Kenya | Nation with the smallest Silver
M | how many more gold medals did France win than Kenya? | 9 | Gold in row 1 (France) minus Gold in row 4 (Kenya)
M | what is the total of gold of Canada and Qatar together? | 14 | sum of Gold in row 2 (Canada) and Gold in row 3 (Qatar)
M | which nation is listed right after Canada? | Qatar | Nation of the row below rows where Nation is Canada
M | who won more silver, France or Canada? | Canada | which of France and Canada has the largest Silver
M | did France win more silver than Canada? | no | whether Silver in row 1 (France) is greater than Silver in row 2 (Canada)
M | which nations won 7 gold medals? | Canada/Qatar | Nation where Gold is 7
M | in which year did Qatar join? | 2001 | year in Year joined where Nation is Qatar
G | how many games were won? | 3 | number of rows where Result contains w
G | how many games were played against new york? | 2 | number of rows where Opponent is New York
G | how many wins were there at home? | 2 | number of rows where Site is Home and Result contains w
G | how many different opponents were there? | 3 | number of different Opponent
G | what is the average number of fans at home? | 1488 | average of Fans where Site is Home
G | what is the total number of fans of all games? | 6264 | sum of Fans
G | gap of most and least fans? | 1510 | largest value of Fans minus smallest value of Fans
G | how many more were at home than away? | 1 | number of rows where Site is Home minus number of rows where Site is Away
G | what was the date of the last game? | June 9 | Date with the largest Game
G | which site is listed most often? | Home | most common Site
G | fans on may 1 in percent of that on june 3 | 126.74 | Fans in row 1 (May 1) in percent of Fans in row 4 (June 3)
"""
"""Table (medals or games), question, gold answers, and the first program in words."""


@pytest.mark.parametrize("case", CASES.splitlines())
def test_the_first_program_means_the_question(case: str) -> None:
    name, question, answers, words = case.split(" | ")
    table = {"M": MEDALS, "G": GAMES}[name]
    found = find_programs(Example("q-1", question, table, answers.split("/")))
    assert describe(found[0], table) == words
    assert found.complete
    assert found.note == ""
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert set(found.sources) == {"search"}


def test_evidence_is_preferred() -> None:
    example = Example("q-1", "how many is it?", MEDALS, ["7"])
    cells = [("r1", "c2")]
    assert reads(find_programs(example, cells)[0], MEDALS) == set(cells)
    numbers = [("r0", "c2"), ("r1", "c2"), ("r3", "c2")]
    total = Example("q-1", "how many is it?", MEDALS, ["18"])
    assert reads(find_programs(total, numbers)[0], MEDALS) == set(numbers)
    assert find_programs(total, [("r9", "c2"), ("r0", "c9")]) == find_programs(total)


def test_nothing_is_found_for_nothing() -> None:
    assert list(find_programs(Example("q-1", "?", MEDALS, []))) == []
    assert list(find_programs(Example("q-1", "", MEDALS, ["no such thing"]))) == []
    assert list(find_programs(Example("q-1", "how many?", Table([], []), ["1"]))) == []
    assert list(find_programs(Example("q-1", "how many?", Table(["a"], []), ["1"]))) == []


WORDS = [
    "how many",
    "more than",
    "at least",
    "most",
    "first",
    "after",
    "total",
    "average",
    "difference",
    "or",
    "not",
]
CELLS = ["", "a", "Boston Reds", "4", "7", "1,204", "12 %", "May 1, 1990", "(3)", "w", "5:04", "n/a"]


@given(st.data())
def test_every_program_found_yields_the_gold_answer(data: st.DataObject) -> None:
    width, height = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 6))
    line = st.lists(st.sampled_from(CELLS), min_size=width, max_size=width)
    table = Table(data.draw(line), data.draw(st.lists(line, min_size=height, max_size=height)))
    question = " ".join(data.draw(st.lists(st.sampled_from([*WORDS, *CELLS]), max_size=8)))
    gold = data.draw(st.lists(st.sampled_from([*CELLS, "2", "yes", "11"]), min_size=1, max_size=2))
    example = Example("q-1", question, table, gold)
    found = find_programs(example)
    for program in found:
        assert compare(run(program, table), gold).equal
        assert from_dict(program.to_dict()) == program
        assert describe(program, table)
    assert len(set(found)) == len(found) <= 20
    assert find_programs(example) == found, "the search is deterministic"


@pytest.mark.parametrize("shape", [(753, 4), (60, 43), (2_000, 9), (20_000, 2)])
def test_a_large_table_is_searched_within_bounds(shape: tuple[int, int]) -> None:
    draw = Random(1)
    names = ["alpha beta", "gamma", "delta one", "north wind", "south sea"]
    rows = [
        [names[(i + j) % 5] if j % 3 == 0 else str(draw.randrange(50)) for j in range(shape[1])]
        for i in range(shape[0])
    ]
    table = Table([f"{names[j % 5]} {j}" for j in range(shape[1])], rows)
    question = (
        "how many more points than 5 or 7 did alpha beta gamma delta one north wind south sea have before the first total "
        "most average difference between 3 and 40 and percent of 12, other than next or after each different?"
    )
    found, took = find_programs(Example("q-1", question, table, ["7"])), 0.0
    started = time.process_time()
    again = find_programs(Example("q-1", question, table, ["7"]))
    took = time.process_time() - started
    assert again == found
    assert took < 3, "about 0.4 s where nothing else runs"
    if shape[0] * shape[1] > 3_500:
        assert not found.complete
        assert "stopped early" in found.note or "too large" in found.note


def test_the_questions_of_wikitablequestions_are_searched_to_the_end(test_data: Path) -> None:
    examples = list(READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv", limit=300))
    with_program = 0
    for example in examples:
        found = find_programs(example)
        assert found.complete, example.id
        assert all(compare(run(program, example.table), example.answers).equal for program in found)
        with_program += bool(found)
    assert with_program > 0.7 * len(examples)


def test_the_judged_samples_are_those_that_their_seeds_draw(test_data: Path) -> None:
    examples = {
        example.id: example for example in READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    }
    judged = Path(__file__).parents[2] / "benchmarks" / "data" / "programs-wtq-dev.json"
    for sample in json.loads(judged.read_text("utf-8"))["samples"]:
        drawn = Random(sample["seed"]).sample(sorted(examples), 50)
        assert [judgement["id"] for judgement in sample["judged"]] == drawn
        for judgement in sample["judged"]:
            assert judgement["needs"] in ("reasoning", "extraction")
            example = examples[judgement["id"]]
            for program in judgement["right"]:
                assert compare(run(program, example.table), example.answers).equal
            assert judgement["right"] or judgement["why"]


@pytest.mark.parametrize(
    ("question", "mentioned"),
    [
        ("more than 5 wins", [("5", ("greater",))]),
        ("at least 1,000 people in 2004", [("1,000", ("at_least",)), ("2004", ())]),
        ("after february 24, 2005", [("february 24, 2005", ("greater",))]),
        ("ranked 3rd or better", [("3", ("at_least",))]),
        ("two or more medals in the 1990s", [("two", ("at_least",))]),
        ("a percentage greater than .500", [(".500", ("greater",))]),
        ("a time of 6:47", [("6:47", ())]),
        ("between 1930 and 1940", [("1930", ("at_least",)), ("1940", ("at_most",))]),
    ],
)
def test_what_a_question_says_in_numbers(question: str, mentioned: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(one.text, one.relations) for one in Question(question).mentions] == mentioned
