"""Splitting a column: cut, never rewritten; proposals; and patterns that would stop a program elsewhere."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.operations import Part, SplitColumn, replay
from tableqa.perturbations.headers import HeaderNames
from tableqa.perturbations.splitting import (
    Delimiter,
    Pattern,
    SplitError,
    Template,
    lost_words,
    part_names,
    proposals,
    split,
    untraceable_words,
    way_from_dict,
)
from tests.tableqa.strategies import texts

WORDS = st.from_regex(r"[bcdfghk]{3,7}|[1-9]{5,8}", fullmatch=True)
"""Words and numbers that are no month, no year and no small word."""
PLAYERS = ["Ann Lee (USA)", "Bob Orr (ITA)", "", "Cy Poe", "Di Kay (FRA)"]


class TestSplitting:
    def test_every_row_has_its_parts_or_the_fault_that_kept_it_whole(self):
        splitting = split(PLAYERS, Template("{Player} ({Country})"))

        assert splitting.number == 2
        assert [cut.parts for cut in splitting.cuts] == [
            ("Ann Lee", "USA"),
            ("Bob Orr", "ITA"),
            None,
            None,
            ("Di Kay", "FRA"),
        ]
        assert [cut.fault for cut in splitting.cuts] == ["", "", "empty", "no match", ""]
        assert splitting.unsplit == (3,)
        assert splitting.share == 0.75
        assert splitting.columns() == (
            ("Ann Lee", "Bob Orr", "", "", "Di Kay"),
            ("USA", "ITA", "", "", "FRA"),
        )
        assert splitting.to_dict()["cuts"][3] == {"fault": "no match"}

    @pytest.mark.parametrize(
        ("way", "cell", "parts"),
        [
            (Delimiter(", "), "Rome, Lazio, Italy", ("Rome", "Lazio", "Italy")),
            (Delimiter(", ", "first"), "Rome, Lazio, Italy", ("Rome", "Lazio, Italy")),
            (Delimiter(", ", "last"), "Rome, Lazio, Italy", ("Rome, Lazio", "Italy")),
            (Delimiter("-"), "3 - 2", ("3", "2")),
            (Delimiter("\n"), "a\nb", ("a", "b")),
            (Pattern(r"(\d+)-(\d+)"), "3-2", ("3", "2")),
            (Pattern(r"(\d+)-(\d+)"), "3-2 (aet)", None),
            (Pattern(r"(\d+)(?: \((\w+)\))?"), "3", ("3", "")),
            (Template("{a} – {b}"), "x  –y", ("x", "y")),
            (Template("{Month} {Day}, {Year}"), "May 5, 2004", ("May", "5", "2004")),
            (Template("{a}.{b}"), "x+y", None),
            (Template("“{title}” by {who}"), "“Heat” by Ann by Bob", ("Heat", "Ann by Bob")),
        ],
    )
    def test_a_cell_is_cut_in_the_way_that_is_asked_for(self, way, cell, parts):
        (cut,) = split([cell], way, part_count=len(parts) if parts else 2).cuts
        assert cut.parts == parts

    def test_cells_with_another_number_of_parts_stay_whole(self):
        splitting = split(["a, b", "c, d", "e, f, g"], Delimiter(", "))
        assert splitting.number == 2
        assert splitting.cuts[2].fault == "other number"
        assert splitting.cuts[2].parts is None
        assert split(["a, b", "c, d", "e, f, g"], Delimiter(", "), part_count=3).unsplit == (0, 1)

    def test_what_it_makes_can_be_done_to_the_table(self):
        table = Table(["Player"], [[cell] for cell in PLAYERS])
        columns = split(PLAYERS, Template("{Player} ({Country})")).columns()
        into = tuple(
            Part(column=f"n{i + 1}", header=name, cells=cells)
            for i, (name, cells) in enumerate(zip(("Player", "Country"), columns, strict=True))
        )
        edited = replay(table, [SplitColumn(column="c0", into=into)])
        assert edited.header == ("Player", "Country")
        assert edited.rows[0] == ("Ann Lee", "USA")

    @given(st.lists(texts | st.sampled_from(["a, b", "x (y)", "1-2"]), max_size=8), texts.filter(bool))
    def test_parts_are_pieces_of_the_cell_and_lose_nothing_but_blanks_and_the_delimiter(
        self, cells, delimiter
    ):
        for at in ("every", "first", "last"):
            for cell, cut in zip(cells, split(cells, Delimiter(delimiter, at)).cuts, strict=True):
                if cut.parts is not None:
                    assert all(part in cell for part in cut.parts)
                    kept = "".join("".join(cut.parts).split())
                    lost = "".join((delimiter * (len(cut.parts) - 1)).split())
                    assert len("".join(cell.split())) == len(kept) + len(lost)

    def test_too_long_a_cell_is_named_and_not_tried(self):
        assert split(["a, " * 1_000], Delimiter(", ")).cuts[0].fault == "too long"


class TestPatternsThatWouldStopAProgram:
    @pytest.mark.parametrize(
        ("pattern", "cell"),
        [
            (r"((a+)+)(b)", "a" * 2_000),
            (r"(.*)(.*)(.*)(.*)(.*)x", "a" * 2_000),
            (r"(a|aa|aaa)*(c)", "a" * 2_000),
            (r"((?:a?){300})(a{300})", "a" * 1_500),
        ],
    )
    def test_they_take_a_moment(self, pattern, cell):
        started = time.process_time()
        split([cell] * 20, Pattern(pattern))
        assert time.process_time() - started < 10

    @pytest.mark.parametrize(
        ("pattern", "reason"),
        [
            (r"((((a{50}){50}){50}){50})(b)", "cannot be used"),
            (r"(a)(b", "missing \\)"),
            (r"(a)\1(b)", "invalid escape"),
            (r"(?=a)(a)(b)", "invalid perl operator"),
            ("(a)", "has 1 group"),
            ("a", "has 0 groups"),
            ("(a)" * 13, "has 13 groups"),
            ("", "1 to 200 characters"),
            ("(a)(b)" * 40, "1 to 200 characters"),
            ("(a)(\ud800)", "an incomplete character"),
        ],
    )
    def test_what_cannot_be_used_says_why(self, pattern, reason, capfd):
        with pytest.raises(SplitError, match=reason):
            Pattern(pattern)
        assert capfd.readouterr().err == ""


class TestTheirJson:
    @pytest.mark.parametrize("way", [Delimiter(", ", "last"), Pattern("(a)(b)"), Template("{a} ({b})")])
    def test_it_comes_back(self, way):
        assert way_from_dict(way.to_dict()) == way
        assert way.words

    @pytest.mark.parametrize(
        "data",
        [
            None,
            [],
            {},
            {"by": "magic", "text": "a"},
            {"by": ["delimiter"], "text": "a"},
            {"by": "delimiter"},
            {"by": "delimiter", "text": ""},
            {"by": "delimiter", "text": 3},
            {"by": "delimiter", "text": "a", "at": "second"},
            {"by": "pattern", "text": "(a)(b)", "at": "last"},
            {"by": "template", "text": "{a}{b}"},
            {"by": "template", "text": "{a}"},
            {"by": "template", "text": "no braces"},
        ],
    )
    def test_anything_else_is_refused(self, data):
        with pytest.raises(SplitError):
            way_from_dict(data)

    def test_a_number_of_parts_out_of_range_is_refused(self):
        with pytest.raises(SplitError, match="into 2 to 12 parts"):
            split(["a"], Delimiter(","), part_count=1)


class TestProposals:
    @pytest.mark.parametrize(
        ("header", "cells", "names", "example"),
        [
            ("Date", ["May 5, 2004", "June 16, 1999"], ("Month", "Day", "Year"), ("May", "5", "2004")),
            ("Date", ["5 May 2004", "16th June 1999"], ("Day", "Month", "Year"), ("5", "May", "2004")),
            ("Released", ["2004-05-01", "1999-11-30"], ("Year", "Month", "Day"), ("2004", "05", "01")),
            ("Score", ["3-2", "0–0", "11-4"], ("First score", "Second score"), ("3", "2")),
            ("Record", ["3-2-1", "0-0-4"], ("Wins", "Losses", "Ties"), ("3", "2", "1")),
            ("Result", ["W 3-2", "L 0-1"], ("Outcome", "Score"), ("W", "3-2")),
            ("Length", ["12 km", "1,204.5 km"], ("Length", "Unit"), ("12", "km")),
            ("Length", ["12 m (39 ft)", "9 m (30 ft)"], ("Length", "Length 2"), ("12 m", "39 ft")),
            ("Price", ["$12", "$1,204"], ("Currency", "Price"), ("$", "12")),
            ("Years", ["1996–1998", "1999-2004"], ("From", "To"), ("1996", "1998")),
            ("Player (Country)", ["Ann (USA)", "Bob (ITA)"], ("Player", "Country"), ("Ann", "USA")),
            ("City, State", ["Reno, Nevada", "Waco, Texas"], ("City", "State"), ("Reno", "Nevada")),
            ("Player", ["Ann Lee", "Bob Orr", "Cy Poe"], ("First name", "Last name"), ("Ann", "Lee")),
            ("Teams", ["Ajax\nPorto", "Lyon\nBonn"], ("Teams 1", "Teams 2"), ("Ajax", "Porto")),
        ],
    )
    def test_the_form_of_the_cells_is_seen_and_its_parts_are_named(self, header, cells, names, example):
        best = proposals(cells, header)[0]
        assert (best.names, best.example) == (names, example)
        assert (best.splits, best.of) == (len(cells), len(cells))

    def test_parts_get_the_names_under_which_the_project_has_their_values(self):
        known = HeaderNames.build([Table(["Nation"], [["USA"], ["Italy"]])] * 4)
        best = proposals(["Ann (USA)", "Bob (Italy)"], "Player", known)[0]
        assert best.names == ("Player", "Nation")

    @pytest.mark.parametrize(
        "cells",
        [
            [],
            ["", ""],
            ["a"],
            ["1,204", "3,118", "9,004"],
            ["1st", "2nd", "3rd"],
            ["N/A", "–", "n/a"],
            ["Nothing to do", "Of what it was", "the end of it all"],
        ],
    )
    def test_cells_that_are_not_put_together_get_none(self, cells):
        assert proposals(cells, "x") == []

    def test_rows_that_do_not_split_are_counted(self):
        best = proposals(["3-2", "1-1", "4-0", "abandoned"], "Score")[0]
        assert (best.splits, best.of) == (3, 4)

    @given(st.lists(texts | st.sampled_from(["a, b", "x (y)", "1-2", "May 5, 2004"]), max_size=8), texts)
    def test_on_any_cells_what_is_proposed_is_what_splitting_does(self, cells, header):
        for proposal in proposals(cells, header):
            splitting = split(cells, proposal.way)
            assert splitting.number == len(proposal.names) == len(proposal.example)
            assert len(set(proposal.names)) == len(proposal.names)
            assert sum(cut.parts is not None for cut in splitting.cuts) >= proposal.splits
            assert way_from_dict(proposal.to_dict()["by"]) == proposal.way

    def test_published_tables_are_looked_through_in_milliseconds(self, dev_tables):
        started, columns, some = time.process_time(), 0, 0
        for table in dev_tables[:150]:
            for column, header in zip(table.column_ids, table.header, strict=True):
                columns += 1
                some += bool(proposals(table.column(column), header))
        assert (time.process_time() - started) / columns < 0.05
        assert 0.15 < some / columns < 0.5


class TestNamesOfParts:
    def test_the_one_part_without_a_name_keeps_that_of_the_column(self):
        cities = [("Oslo", "Norway"), ("Rome", "Italy"), ("Lima", "Peru"), ("Cairo", "Egypt")]
        names = HeaderNames.build([Table(["Country", "Gold"], [[land, "1"] for _, land in cities])] * 2)
        [first, *_] = proposals([", ".join(city) for city in cities], "Location:", names)
        assert first.names == ("City", "Country")
        [first, *_] = proposals([", ".join(city) for city in cities], "Opponent:", names)
        assert first.names == ("Opponent", "Country")

    @pytest.mark.parametrize(
        ("header", "cells", "names"),
        [
            ("Hometown", ["Oslo, Norway", "Rome, Italy", "Lima, Peru"], ("City", "Country")),
            ("Birthplace", ["Austin, TX", "Reno, NV", "Miami, FL"], ("City", "State")),
            ("Venue", ["Bislett, Oslo, Norway", "Olimpico, Rome, Italy"], ("Venue", "City", "Country")),
            ("Player", ["Ann Lee (Canada)", "Bo Day (Norway)"], ("Player", "Country")),
            ("Title", ["Heat (1995)", "Alien (1979)"], ("Title", "Year")),
            ("Date", ["May 5, 2004", "June 7, 2005"], ("Month", "Day", "Year")),
            ("Kick-off", ["2004-05-05, 7:30 pm", "2004-06-07, 8:00 pm"], ("Date", "Time")),
            ("Driver", ["Lee, Ann", "Day, Bo", "Fox, Cy"], ("Last name", "First name")),
            ("Record", ["3-1", "4-0", "2-2"], ("Wins", "Losses")),
            ("W-L-T", ["3-1-0", "4-0-0", "2-2-1"], ("Wins", "Losses", "Ties")),
            ("Won-Lost", ["3-1", "4-0", "2-2"], ("Won", "Lost")),
            ("Score", ["3-1", "4-0", "2-2"], ("First score", "Second score")),
            ("Length", ["12 km", "7 km", "9 km"], ("Length", "Unit")),
            ("Artist / Song", ["Ann / Hey", "Bo / You"], ("Artist", "Song")),
            ("Value", ["ax, by", "cz, dw"], ("Value 1", "Value 2")),
            ("", ["ax, by", "cz, dw"], ("Part 1", "Part 2")),
        ],
    )
    def test_parts_are_named_by_the_header_and_by_what_they_hold(self, header, cells, names):
        assert proposals(cells, header)[0].names == names

    @given(
        st.lists(
            texts | st.sampled_from(["Oslo, Norway", "Reno, NV", "3-1", "May 5, 2004", "x, 2001"]), max_size=6
        ),
        texts | st.sampled_from(["Location", "Score", "Player", "Date and time", "City, State", "W-L"]),
        st.sampled_from([", ", "-", " ", "/"]),
    )
    def test_every_part_has_a_name_of_its_own(self, cells, header, text):
        splitting = split(cells, Delimiter(text))
        names = part_names(splitting, header)
        assert len(names) == splitting.number == len(set(names))
        assert all(names)

    def test_letters_and_numbers_of_models_are_no_results(self):
        cells = ["D 40", "D 35LF", "D 40LF", "D30"]
        assert all(one.words != "result and score" for one in proposals(cells, "Model"))

    def test_ships_are_no_people(self):
        ships = ["HMS Sunflower", "HMS Vidette", "HMS Snowflake", "HMS Loosestrife"]
        assert proposals(ships, "Sunk by") == []

    @pytest.mark.parametrize(
        ("header", "cells"),
        [
            ("Code", ["ISO 3166-2:AF", "ISO 3166-2:AL", "ISO 3166-2:DZ"]),
            ("Aircraft", ["F-16", "F-15", "B-52", "A-10"]),
            ("Place", ["Runner-up", "runner-up", "Semi-finalist"]),
            ("Surface", ["Clay (i)", "Hard (i)", "Carpet (i)", "Clay"]),
        ],
    )
    def test_codes_hyphened_words_and_marks_are_not_cut(self, header, cells):
        assert proposals(cells, header) == []

    @pytest.mark.parametrize(
        ("cells", "example"),
        [
            (["USA-Canada", "Italy-Spain", "Peru-Chile"], ("USA", "Canada")),
            (["12-JAN-2004", "3-FEB-2005", "7-MAR-2001"], ("12", "JAN", "2004")),
            (["Oslo/Norway", "Rome/Italy"], ("Oslo", "Norway")),
            (["6-3/7-5", "6-4/6-1"], ("6-3", "7-5")),
            (["15 A/125 V", "10 A/250 V"], ("15 A", "125 V")),
        ],
    )
    def test_what_stands_on_both_sides_of_a_sign_is_still_cut_there(self, cells, example):
        assert example in [one.example for one in proposals(cells, "Column")]


class TestTracing:
    @pytest.mark.parametrize(
        ("part", "cell"),
        [
            ("Oslo", "Oslo, Norway"),
            ("OSLO", "Oslo,\u00a0Norway"),
            ("Norway Oslo", "Oslo, Norway"),
            ("July", "Jul 5, 2001"),
            ("7", "July 5, 2001"),
            ("Sep", "September 1"),
            ("1966", "1961\u201366"),
            ("1204", "1,204 km"),
            ("5", "05/07/2001"),
            ("José", "Jose Soares"),
            ("", "Oslo"),
        ],
    )
    def test_what_stands_in_the_cell_or_follows_from_it_is_not_foreign(self, part, cell):
        assert untraceable_words(part, cell) == ()

    @pytest.mark.parametrize(
        ("part", "cell", "words"),
        [
            ("Bergen", "Oslo, Norway", ("bergen",)),
            ("Oslo Europe", "Oslo, Norway", ("europe",)),
            ("1967", "1961-66", ("1967",)),
            ("2066", "1961-66", ("2066",)),
            ("August", "Jul 5", ("august",)),
            ("x", "", ("x",)),
        ],
    )
    def test_what_neither_stands_there_nor_follows_is(self, part, cell, words):
        assert untraceable_words(part, cell) == words

    def test_what_no_part_holds_is_lost_and_what_another_form_of_it_holds_is_not(self):
        assert lost_words("Oslo, Norway", ["Oslo", ""]) == ("norway",)
        assert lost_words("Win by 3-2 at home", ["Win", "3", "2", "home"]) == ()
        assert lost_words("Jul 5th, 2001", ["July", "5", "2001"]) == ()
        assert lost_words("1961-66", ["1961", "1966"]) == ()
        assert lost_words("12 km (7 mi)", ["12", "km"]) == ("7", "mi")

    @given(st.lists(texts, min_size=1, max_size=4), st.sampled_from([", ", "-", " ", "/"]))
    def test_no_cut_is_foreign_to_its_cell_and_none_loses_a_word(self, cells, text):
        for cell, cut in zip(cells, split(cells, Delimiter(text)).cuts, strict=True):
            for part in cut.parts or ():
                assert untraceable_words(part, cell) == ()
            if cut.parts:
                assert lost_words(cell, cut.parts) == ()

    @pytest.mark.parametrize(
        ("cell", "parts"),
        [
            ("Bob", ["B", "ob"]),
            ("Bob", ["Bobby", ""]),
            ("McDonald", ["Mc", "Donald"]),
            ("1204", ["12", "04"]),
            ("1,204", ["1", "204"]),
            ("1.5", ["1", "5"]),
            ("U.S.", ["bus", ""]),
        ],
    )
    def test_a_word_or_number_that_a_cut_goes_through_is_lost(self, cell, parts):
        assert lost_words(cell, parts)

    @pytest.mark.parametrize(
        ("cell", "parts"),
        [
            ("1\u20130", ["1", "0"]),
            ("Salt Lake City, Utah", ["Salt Lake City", "Utah"]),
            ("12km", ["12", "km"]),
            ("4/7/1991", ["4", "7", "1991"]),
            ("04.07.1991", ["4", "7", "1991"]),
            ("Jean-Paul", ["Jean", "Paul"]),
            ("U.S.A.", ["USA", ""]),
            ("U.S. (won)", ["U.S.", "won"]),
            ("José Á. Soares", ["Jose", "A Soares"]),
        ],
    )
    def test_a_cut_between_words_or_between_digits_and_letters_loses_nothing(self, cell, parts):
        assert lost_words(cell, parts) == ()

    @given(st.lists(WORDS, min_size=1, max_size=4, unique=True), st.data())
    def test_a_cut_inside_a_word_loses_that_word_and_no_other(self, words, data):
        cut = data.draw(st.sampled_from(words))
        at = data.draw(st.integers(1, len(cut) - 1))
        place = words.index(cut)
        parts = [" ".join([*words[:place], cut[:at]]), " ".join([cut[at:], *words[place + 1 :]])]

        assert lost_words(" ".join(words), [*words]) == ()
        assert lost_words(" ".join(words), parts) == (cut,)
