"""The corpus: what is found, without looking at every table, and how rows and columns come together."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.operations import InsertColumn, replay
from tableqa.perturbations.related_tables import CorpusError, Index, align, candidates, key_columns, key_of
from tests.tableqa.strategies import source_tables

CITIES = Table(
    ["City", "Mayor"],
    [["Rome", "Ann"], ["Oslo", "Bob"], ["Bonn (GER)", "Cy"], ["Lima", "Di"]],
    title="Cities",
)
LANDS = Table(
    ["Place", "Land", "People"],
    [["Oslo", "Norway", "700,000"], ["rome[1]", "Italy", ""], ["Bonn", "Germany", "3"]],
)
CLUBS = Table(["Club", "Points"], [["Ajax", "81"], ["Porto", "77"], ["Lyon", "60"]])
FILLERS = [Table(["Name", "Age"], [[f"Person {i} {j}", str(j)] for j in range(3)]) for i in range(40)]


@pytest.fixture
def index() -> Index:
    return Index.build([CITIES, LANDS, CLUBS, *FILLERS])


class TestRetrieval:
    def test_a_table_about_the_same_things_comes_first_and_says_why(self, index):
        (found,) = index.related(CITIES)

        assert found.digest == LANDS.digest()
        assert (found.shared, found.of) == (3, 8)
        assert found.why.startswith("3 of 8 values of the key columns match")
        assert "3 additional columns (place, land, people)." in found.why

    def test_the_table_itself_and_those_asked_not_to_are_left_out(self, index):
        assert LANDS.digest() not in [one.digest for one in index.related(LANDS)]
        assert index.related(CITIES, without=[LANDS.digest()]) == []

    def test_a_table_with_no_other_columns_is_of_no_use(self):
        again = Table(CITIES.header, CITIES.rows[:3])
        assert Index.build([CITIES, again, *FILLERS]).related(CITIES) == []

    def test_a_table_need_not_be_in_the_corpus(self, index):
        fresh = Table(["Town"], [["Oslo"], ["Lima"], ["Rome"]])
        assert {one.digest for one in index.related(fresh)} == {CITIES.digest(), LANDS.digest()}

    def test_titles_count(self):
        a = Table(["Year", "Host"], [["1996", "x"], ["2000", "y"]], title="Summer Olympics medals")
        b = Table(["No", "Sport"], [["1", "q"], ["2", "z"]], title="Olympics programme")
        (found,) = Index.build([a, b, *FILLERS]).related(a)
        assert found.digest == b.digest()
        assert "Shared title words (olympics)" in found.why

    def test_a_query_walks_its_own_lists_and_never_the_tables(self, index, monkeypatch):
        monkeypatch.setattr(Table, "digest", lambda self: "asked")
        index.related(CLUBS)
        assert index.visited <= 5
        index.related(CITIES)
        assert 0 < index.visited < len(index)

    def test_what_most_tables_have_is_not_looked_up(self, index):
        common = Table(["Name", "Age"], [["Zoe", "1"], ["Yan", "2"]])
        index.related(common)
        assert index.visited == 0

    def test_it_grows_as_if_it_had_been_built_at_once(self, index):
        grown = Index.build([CITIES, LANDS])
        for table in (CLUBS, *FILLERS):
            assert grown.add(table)
        assert not grown.add(CLUBS)
        assert grown.to_dict() == index.to_dict()
        assert grown.related(CITIES) == index.related(CITIES)
        assert CLUBS.digest() in grown
        assert len(grown) == 43

    def test_it_survives_json(self, index):
        read = Index.from_dict(json.loads(json.dumps(index.to_dict())))
        assert read.related(CITIES) == index.related(CITIES)
        assert read.to_dict() == index.to_dict()

    @pytest.mark.parametrize(
        "data",
        [
            None,
            {},
            {"version": 1},
            {"version": 9, "documents": [], "lists": {}},
            {"version": 1, "documents": [["d", ["a"], 1]], "lists": {"value:a": [3]}},
            {"version": 1, "documents": [3], "lists": {}},
        ],
    )
    def test_anything_else_is_refused(self, data):
        with pytest.raises(CorpusError, match="build it again"):
            Index.from_dict(data)

    @given(st.lists(source_tables(), max_size=5))
    def test_any_tables_can_be_put_in_and_asked_about(self, tables):
        index = Index.build(tables)
        assert len(index) == len({table.digest() for table in tables})
        for table in tables:
            found = index.related(table)
            assert len(found) <= 3
            assert table.digest() not in [one.digest for one in found]
            assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


class TestKeys:
    def test_texts_come_before_dates_before_years_and_numbers_are_none(self):
        table = Table(
            ["No", "Year", "Date", "Team", "Rank", "Same"],
            [
                ["1", "1999", "May 5, 1999", "Ajax", "1st", "x"],
                ["2", "2000", "May 6, 2000", "Lyon", "2nd", "x"],
            ],
        )
        assert [table.header[j] for j in key_columns(table)] == ["Team", "Date", "Year"]

    def test_one_thing_has_one_key_however_it_is_written(self):
        assert {key_of(text) for text in ("Bonn", "bonn[1]", "Bonn (GER)", "BONN *")} == {"bonn"}


class TestAlignment:
    def test_rows_come_together_by_their_keys(self):
        alignment = align(CITIES, LANDS)

        assert alignment is not None
        assert (alignment.column, alignment.other_column) == ("c0", "c0")
        assert alignment.pairs == (("r0", "r1"), ("r1", "r0"), ("r2", "r2"))
        assert alignment.coverage == 0.75
        assert alignment.ambiguous == ()

    def test_a_key_that_stands_twice_is_left_to_people(self):
        twice = Table(
            ["Place", "Land"], [["Rome", "Italy"], ["Rome", "Georgia"], ["Oslo", "Norway"], ["Ulm", "x"]]
        )
        alignment = align(CITIES, twice)

        assert alignment is not None
        assert alignment.pairs == (("r1", "r2"),)
        assert alignment.ambiguous == ("r0",)

    def test_tables_about_other_things_do_not_come_together(self):
        assert align(CITIES, CLUBS) is None

    def test_columns_are_filled_row_by_row_and_where_they_are_not_they_are_empty(self):
        alignment = align(CITIES, LANDS)
        assert alignment is not None
        land, people = candidates(CITIES, LANDS, alignment)

        assert (land.header, land.cells, land.filled) == ("Land", ("Italy", "Norway", "Germany", ""), 3)
        assert (people.header, people.cells, people.filled) == ("People", ("", "700,000", "3", ""), 2)
        added = replay(CITIES, [InsertColumn(column="n1", after="c1", header=land.header, cells=land.cells)])
        assert added.column("n1") == land.cells

    def test_a_column_that_the_table_has_by_name_or_content_is_no_candidate(self):
        other = Table(
            ["City", "MAYOR", "Boss", "Area"],
            [
                ["Rome", "x", "Ann", "1"],
                ["Oslo", "y", "Bob", "2"],
                ["Bonn", "z", "Cy", "3"],
                ["Lima", "w", "Di", "4"],
            ],
        )
        alignment = align(CITIES, other)
        assert alignment is not None
        assert [one.header for one in candidates(CITIES, other, alignment)] == ["Area"]

    @given(source_tables(), source_tables())
    def test_no_row_stands_in_two_pairs_and_cells_are_those_of_the_other_table(self, table, other):
        alignment = align(table, other)
        if alignment is None:
            return
        mine, theirs = zip(*alignment.pairs, strict=True)
        assert len(set(mine)) == len(mine)
        assert len(set(theirs)) == len(theirs)
        assert set(alignment.ambiguous).isdisjoint(mine)
        for candidate in candidates(table, other, alignment):
            assert len(candidate.cells) == len(table.rows)
            assert set(candidate.cells) <= {"", *other.column(candidate.column)}


def test_on_published_tables_queries_take_milliseconds_and_grow_with_their_terms(dev_tables):
    index = Index.build(dev_tables)
    by_digest = {table.digest(): table for table in dev_tables}
    started, visited, aligned = time.process_time(), [], 0
    for table in dev_tables:
        found = index.related(table)
        visited.append(index.visited)
        aligned += any(align(table, by_digest[one.digest]) for one in found)

    assert (time.process_time() - started) / len(dev_tables) < 0.1
    entries = sum(map(len, index.to_dict()["lists"].values()))
    assert max(visited) < entries / 10
    assert aligned / len(dev_tables) > 0.3
