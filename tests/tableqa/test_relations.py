"""Relations between columns: what is found, how it is told, and what is not mistaken for one."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.perturbations.relations import Relation, relations
from tests.tableqa.strategies import source_tables


def table_of(**columns: str) -> Table:
    """A table from columns of cells parted by blanks; "_" is an empty cell and "." a blank."""
    cells = [[cell.replace(".", " ").replace("_", "") for cell in text.split()] for text in columns.values()]
    return Table(list(columns), list(zip(*cells, strict=True)))


def numbers(**columns: str) -> Table:
    """The same for cells that have points of their own."""
    return Table(list(columns), list(zip(*(text.split() for text in columns.values()), strict=True)))


def told(table: Table, *kinds: str, least: float = 0.8) -> list[str]:
    return [r.words for r in relations(table, least).found if r.kind in kinds]


class TestDependencies:
    def test_a_column_that_determines_another_is_named_with_its_support(self):
        table = table_of(Team="a b c d e f", City="Rome Oslo Rome Rome Oslo Bonn", Land="it no it it no de")
        (forward, backward) = [r for r in relations(table).found if r.kind == "dependency"]

        assert forward.words == "City determines Land"
        assert (forward.target, forward.sources, forward.holds, forward.of) == ("c2", ("c1",), 5, 5)
        assert backward.words == "Land determines City"

    def test_one_row_that_contradicts_is_enough(self):
        table = table_of(Team="a b c d e", City="Rome Oslo Rome Rome Oslo", Land="it no it fr no")
        assert "City determines Land" not in told(table, "dependency")

    def test_keys_and_constants_are_named_as_saying_nothing(self):
        table = table_of(Team="a b c d", Year="1999 1999 1999 1999", Land="it no it no")
        trivial = {r.words: r.trivial for r in relations(table).found if r.trivial}

        assert trivial == {
            "Team is different in every row": (
                "A column that is different in every row determines every other column, so this says nothing."
            ),
            "Year is 1999 in every row": "A column that is the same in every row is determined by every other column.",
        }
        assert told(table, "dependency") == []

    def test_two_columns_together_only_where_neither_alone_suffices(self):
        table = table_of(
            Year="1 1 2 2 1 1 2 2", Cup="a b a b a b a b", Host="x y z w x y z w", Key="1 2 3 4 5 6 7 8"
        )
        assert "Year and Cup together determine Host" in told(table, "dependency")

        determined = table_of(Year="1 1 2 2 1 2", Cup="a b a b a b", Host="x x y y x y", Key="1 2 3 4 5 6")
        assert "Year determines Host" in told(determined, "dependency")
        assert not [words for words in told(determined, "dependency") if "together determine Host" in words]

    def test_typography_and_case_make_no_difference(self):
        table = table_of(Team="a b c d", City="Köln köln Bonn bonn", Land="K k B b")
        assert "City determines Land" in told(table, "dependency")


class TestArithmetic:
    @pytest.mark.parametrize(
        ("table", "words"),
        [
            (numbers(A="1 2 3 4 5", B="7 1 8 2 8", Sum="8 3 11 6 13"), "Sum = A + B"),
            (numbers(For="9 7 8 3", Against="4 7 1 6", Diff="+5 0 +7 -3"), "Diff = For − Against"),
            (
                numbers(Price="2 3 4 5 7", Sold="10 11 9 8 30", Total="20 33 36 40 210"),
                "Total = Price × Sold",
            ),
            (
                numbers(Yards="100 55 81 9", Games="8 3 4 2", Average="12.5 18.3 20.3 4.5"),
                "Average = Yards / Games",
            ),
            (
                numbers(Won="1 5 7 3", Games="8 9 9 4", Pct="12.5% 55.6% 77.8% 75.0%"),
                "Pct = Won / Games × 100",
            ),
            (numbers(W="1 5 7 3", L="7 4 2 1", Pct=".125 .556 .778 .750"), "Pct = W / (W + L)"),
            (
                numbers(Votes="500 250 150 100", Share="50.0 25.0 15.0 10.0"),
                "Share = Votes / total of Votes × 100",
            ),
            (numbers(Goals="3 1 4 1 5", Total="3 4 8 9 14"), "Total = the total of Goals down to the row"),
            (numbers(Year="1990 1994 1998 2002", X="4 1 1 9"), "Year grows by 4 from row to row"),
            (numbers(Rank="1 2 2 4 5", Points="90 81 81 60 7"), "Rank = the rank of Points (largest first)"),
            (
                numbers(Pos="1 2 3 4", Time="9:59 10:04 10:05 11:00"),
                "Pos = the rank of Time (smallest first)",
            ),
            (
                numbers(Gold="1 0 2 3", Silver="0 1 1 4", Bronze="5 2 2 0", Total="6 3 5 7"),
                "Total = Gold + Silver + Bronze",
            ),
            (
                numbers(Net="(9) 5 (3) 20", Cost="10 20 30 40", Income="1 25 27 60"),
                "Income = Net + Cost",
            ),
        ],
    )
    def test_what_columns_have_to_do_with_each_other_is_said(self, table, words):
        kinds = ("sum", "difference", "product", "ratio", "share", "share_of_total", "running_total")
        assert words in told(table, *kinds, "running_number", "rank")

    def test_a_total_row_may_stand_at_the_end(self):
        table = numbers(Votes="500 250 150 100 1000", Share="50 25 15 10 100")
        assert "Share = Votes / total of Votes × 100" in told(table, "share_of_total")

    def test_rows_that_do_not_fit_are_counted_and_shown(self):
        table = numbers(A="1 2 3 4 5 6", B="7 1 8 2 8 9", Sum="8 3 11 6 13 16")
        (found,) = [r for r in relations(table).found if r.kind == "sum"]

        assert (found.holds, found.of) == (5, 6)
        assert [c.to_dict() for c in found.counterexamples] == [
            {"row": "r5", "words": "Row 6: 6 + 9 is not 16"}
        ]
        assert "c2" not in relations(table).implied

    def test_cells_that_are_no_numbers_are_not_tested(self):
        table = numbers(A="1 2 3 4 5 –", B="7 1 8 2 8 4", Sum="8 3 11 6 13 4")
        (found,) = [r for r in relations(table).found if r.kind == "sum"]
        assert (found.holds, found.of) == (5, 5)

    def test_rounding_is_allowed_and_no_more(self):
        table = numbers(Yards="100 55 81 9", Games="8 3 4 2", Average="12.5 18.4 20.9 4.5")
        assert told(table, "ratio", least=0.8) == []

    def test_three_rows_are_too_few(self):
        assert told(numbers(A="1 2 3", B="7 1 8", Sum="8 3 11"), "sum", "difference") == []

    def test_a_column_of_nothing_adds_nothing(self):
        table = numbers(A="1 2 3 4 5", B="0 0 0 0 0", C="1 2 3 4 5")
        assert told(table, "sum", "difference") == []

    def test_columns_are_numbered_where_their_names_do_not_tell_them_apart(self):
        table = Table(["", "x", "x"], [["1", "7", "8"], ["2", "1", "3"], ["3", "8", "11"], ["9", "2", "11"]])
        assert "column 3 = column 1 + column 2" in told(table, "sum")


class TestTexts:
    @pytest.mark.parametrize(
        ("table", "words"),
        [
            (table_of(A="Ann Bob Cy Di.O", B="ann Bob Cy Di.O"), "B is the same as A"),
            (table_of(Name="Ann.Lee Bob.Orr Cy.Poe", Last="Lee Orr Poe"), "Last is the last word of Name"),
            (table_of(Name="Ann.Lee Bob.Orr Cy.Poe", First="Ann Bob Cyr"), ""),
            (
                table_of(Date="May.5,.2004 June.6,.1999 May.1,.2000", Year="2004 1999 2000"),
                "Year is the year in Date",
            ),
            (
                table_of(Who="Ann.(USA) Bob.(ITA) Cy.(FRA)", Nat="USA ITA FRA"),
                "Nat is the part in brackets in Who",
            ),
            (
                table_of(Who="Ann.(USA) Bob.(ITA) Cye.(FRA)", Name="Ann Bob Cye"),
                "Name is the text of Who without the part in brackets",
            ),
            (
                table_of(Song="My.Way.(live) La.Vie.en.Rose X.No.One.Y", Words="Way Vie.en No.One"),
                "Words is contained in Song",
            ),
        ],
    )
    def test_a_text_within_a_text_is_said(self, table, words):
        assert told(table, "same", "part") == ([words] if words else [])

    def test_a_part_of_a_word_is_no_part(self):
        assert told(table_of(A="art bar cat", B="party barn cats"), "same", "part") == []

    def test_single_signs_are_no_evidence(self):
        assert told(table_of(A="1 2 3 4", B="1.x 2.y 3.z 4.w"), "same", "part") == []


class TestRelations:
    def test_what_is_implied_in_every_row_is_listed(self):
        table = numbers(A="1 2 3 4 9", B="7 1 8 2 8", Sum="8 3 11 6 17")
        found = relations(table)

        assert found.implied == ("c2",)
        assert [r.kind for r in found.of("c2")] == ["sum"]
        assert found.to_dict()["found"][0]["words"] == "Sum = A + B"

    @pytest.mark.parametrize(
        "table", [Table([], []), Table(["a"], []), Table(["a"], [["1"]]), Table([], [[], []])]
    )
    def test_tables_without_anything_to_compare_have_none(self, table):
        assert [r for r in relations(table).found if not r.trivial] == []

    @given(source_tables())
    def test_on_any_table_it_is_the_same_twice_and_speaks_of_its_columns(self, table):
        found = relations(table)
        assert found == relations(table)
        for relation in found.found:
            assert {relation.target, *relation.sources} <= set(table.column_ids)
            assert relation.target not in relation.sources
            assert 0 <= relation.holds <= relation.of <= len(table.rows)
            assert {c.row for c in relation.counterexamples} <= set(table.row_ids)
            assert set(relation.told) <= set(table.row_ids) - {c.row for c in relation.counterexamples}

    @given(st.lists(st.lists(st.integers(-50, 50), min_size=4, max_size=4), min_size=5, max_size=12))
    def test_a_sum_that_is_there_is_found_and_one_that_is_not_is_not(self, rows):
        table = Table(["A", "B", "C", "Sum"], [[*map(str, row[:3]), str(row[0] + row[1])] for row in rows])
        sums = [r for r in relations(table, 1.0).found if r.kind in ("sum", "difference")]
        for relation in sums:
            assert _holds(relation, table), relation.words
        telling = all(
            len({row[i] for row in rows}) > 2 and sum(row[i] != 0 for row in rows) > 1 for i in range(3)
        )
        if telling and len({row[0] + row[1] for row in rows}) > 2 and any(row[0] != 0 for row in rows):
            together = [{r.target, *r.sources} for r in relations(table, 1.0).found]
            assert {"c0", "c1", "c3"} in together or any("c3" in some for some in together)

    def test_large_tables_are_looked_at_in_part_and_in_time(self):
        draw = random.Random(1)
        for rows, columns, most in ((753, 4, 50), (60, 43, 9), (5_000, 8, 200), (3_000, 70, 20)):
            body = [[str(draw.randint(0, most)) for _ in range(columns)] for _ in range(rows)]
            started = time.process_time()
            found = relations(Table([f"c{j}" for j in range(columns)], body))
            assert time.process_time() - started < 12, (rows, columns)
            assert bool(found.notes) == (rows * columns > 30_000)
        assert "Of 70 columns, the first 60 were checked." in found.notes

    def test_in_published_tables_sums_of_medals_are_found(self, dev_tables):
        medals = [table for table in dev_tables if {"Gold", "Silver", "Bronze", "Total"} <= set(table.header)]
        right = [table for table in medals if "Total = Gold + Silver + Bronze" in told(table, "sum")]

        assert len(medals) >= 10
        assert len(right) >= 0.8 * len(medals)


class TestTold:
    """In which rows what a column held could be worked out again."""

    @pytest.mark.parametrize(
        ("table", "kind", "rows"),
        [
            (numbers(A="1 2 3 4 ?", B="7 1 8 2 8", Sum="8 3 11 6 13"), "sum", "0 1 2 3"),
            (numbers(A="1 2 3 4 5 6", B="7 1 8 2 8 9", Sum="8 3 11 6 13 16"), "sum", "0 1 2 3 4"),
            (numbers(Year="1990 1994 1998 2002", X="4 1 1 9"), "running_number", ""),
            (numbers(No="0 1 2 3", X="4 1 1 9"), "running_number", ""),
            (numbers(No="1 2 3 4", X="4 1 1 9"), "running_number", "0 1 2 3"),
            (numbers(No="1. 2. 3. 4.", X="4 1 1 9"), "running_number", "0 1 2 3"),
            (numbers(Rank="1 2 3 4 5", Points="90 81 81 60 7"), "rank", "0 3 4"),
            (numbers(Rank="1 2 2 4 5", Points="90 81 81 60 7"), "rank", "0 1 2 3 4"),
            (numbers(Rank="1 3 3 4 5", Points="90 81 81 60 7"), "rank", "0 3 4"),
            (numbers(Rank="1 2 3 4 –", Points="90 81 70 60 60"), "rank", "0 1 2"),
            (numbers(Goals="3 1 4 1 5", Total="3 4 8 9 14"), "running_total", "0 1 2 3 4"),
            (numbers(Goals="3 1 4 1 5", Total="9 10 14 15 20"), "running_total", ""),
            (numbers(Goals="3 1 4 ? 5 2 2", Total="3 4 8 9 14 16 18"), "running_total", "0 1 2"),
            (table_of(A="Ann Bob _ Di.O", B="ann Bob _ Di.O"), "same", "0 1 3"),
            (table_of(City="a a b b", Land="x x y y"), "dependency", ""),
            (table_of(City="a a b b", Land="x x x x"), "constant", ""),
        ],
    )
    def test_rows_that_could_not_be_tested_or_are_tied_are_not_among_them(self, table, kind, rows):
        found = next(r for r in relations(table).found if r.kind == kind)
        assert found.told == tuple(f"r{row}" for row in rows.split())

    def test_a_step_without_its_beginning_implies_nothing(self):
        assert relations(numbers(Year="1990 1994 1998 2002", X="4 1 1 9")).implied == ()
        assert relations(numbers(No="1 2 3 4", X="4 1 1 9")).implied == ("c0",)

    def test_rows_of_a_large_table_that_were_not_looked_at_are_not_among_them(self):
        draw = random.Random(1)
        pairs = [(draw.randint(0, 99), draw.randint(0, 99)) for _ in range(5_200)]
        table = Table(["A", "B", "Sum"], [[str(a), str(b), str(a + b)] for a, b in pairs])
        found = next(r for r in relations(table).found if r.kind == "sum")
        assert found.told == table.row_ids[:5_000]


def _holds(relation: Relation, table: Table) -> bool:
    target = [int(cell) for cell in table.column(relation.target)]
    parts = [[int(cell) for cell in table.column(column)] for column in relation.sources]
    if relation.kind == "difference":
        return target == [a - b for a, b in zip(*parts, strict=True)]
    return target == [sum(row) for row in zip(*parts, strict=True)]
