"""Suggestions for headers: what is offered, what never is, and why."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.perturbations.headers import (
    HeaderNames,
    NamesError,
    SuggestionList,
    Thesaurus,
    Unavailable,
    abbreviations,
    synonyms,
    thesaurus,
)
from tableqa.perturbations.headers.abbreviations import (
    _dictionary,
    is_short_form,
    long_forms,
    short_forms,
    truncated,
    without_vowels,
)
from tableqa.perturbations.headers.synonyms import fit
from tableqa.perturbations.headers.usual_names import _entries
from tableqa.perturbations.headers.word_forms import kinds_of, same_name, words_of
from tests.tableqa.strategies import source_tables, texts


@pytest.fixture(scope="session")
def words() -> Thesaurus:
    loaded = thesaurus()
    assert isinstance(loaded, Thesaurus)
    return loaded


def found(suggested: SuggestionList) -> list[str]:
    return [suggestion.text for suggestion in suggested.found]


def one_column(header: str, *cells: str) -> Table:
    return Table([header], [[cell] for cell in cells])


class TestSynonyms:
    def test_a_header_gets_words_of_the_same_meaning(self, words):
        table = one_column("Country", "Spain", "Italy")
        assert found(synonyms(table, "c0", words)) == ["Nation", "State"]

    def test_no_name_has_a_word_twice(self, words):
        names = found(synonyms(one_column("Geographic coordinates", "53 N"), "c0", words))
        assert "Geographic geographic position" not in names
        assert found(synonyms(one_column("Place of the place", "53 N"), "c0", words))

    def test_what_the_cells_are_decides_between_meanings(self, words):
        days = synonyms(one_column("Date", "May 5, 2004", "May 6, 2004"), "c0", words)
        people = synonyms(one_column("Date", "Ann", "Bob", "Cy"), "c0", words)

        assert found(days)[0] == "Day"
        assert "Escort" not in found(days)
        assert "Escort" in found(people)

    @pytest.mark.parametrize(
        ("header", "among"),
        [
            ("film", "movie"),
            ("FILM", "MOVIE"),
            ("Film", "Movie"),
            ("Best Film", "Best Movie"),
            ("best film", "best movie"),
            ("Film (English)", "Movie (English)"),
            ("Best\nFilm", "Best\nMovie"),
            ("Points (2009)", "Score (2009)"),
            ("Losing Team", "Losers"),
            ("VENUE", "LOCATION"),
            ("Matches", "Games"),
            ("Nationalities", "Countries"),
            ("Films", "Movies"),
            ("Film[1]", "Movie[1]"),
        ],
    )
    def test_case_form_and_surroundings_stay(self, words, header, among):
        assert among in found(synonyms(one_column(header, "Heat", "Alien"), "c0", words, limit=30))

    def test_a_collocation_is_replaced_as_one(self, words):
        suggested = found(synonyms(one_column("Runner-up", "Ann", "Bob"), "c0", words, limit=30))
        assert "Second place" in suggested
        assert not any(text.endswith("-up") for text in suggested)

    def test_a_short_form_is_written_out_and_not_taken_for_a_word(self, words):
        assert found(synonyms(one_column("Pos.", "1", "2"), "c0", words))[0] == "Position"
        assert found(synonyms(one_column("No", "1", "2"), "c0", words)) == ["Number"]

    @pytest.mark.parametrize(
        ("header", "long"),
        [("Pos.", ["Position"]), ("Pos", ["Position"]), ("Dist.", ["Distance", "District"])],
    )
    def test_a_short_form_is_written_out_as_columns_are_called(self, words, header, long):
        """Not "Positive", which nobody calls a column."""
        assert found(synonyms(one_column(header, "1", "2"), "c0", words)) == long

    def test_no_suggestion_is_another_header_whatever_its_case(self, words):
        table = Table(["Country", "NATION", "state"], [["Spain", "a", "b"]])
        assert {"nation", "state", "country"}.isdisjoint(
            text.lower() for text in found(synonyms(table, "c0", words, limit=50))
        )

    def test_each_says_why(self, words):
        suggested = synonyms(one_column("Teacher", "Ann"), "c0", words).found
        first = next(suggestion for suggestion in suggested if suggestion.source == "thesaurus")
        assert first.sense == "a person whose occupation is teaching"
        (first, *_) = synonyms(one_column("Venue", "Oslo"), "c0", words).found
        assert (first.source, first.why) == ("usual", "often stands for “Venue”")

    @pytest.mark.parametrize(
        ("header", "cells", "short"),
        [
            ("Year", ("1996", "1997"), "yr"),
            ("North", ("Oslo", "Rome"), "n"),
            ("Silver", ("Ann", "Bob"), "ag"),
            ("Number", ("1", "2"), "no"),
        ],
    )
    def test_a_short_form_is_no_synonym(self, words, header, cells, short):
        suggested = found(synonyms(one_column(header, *cells), "c0", words, limit=30))
        assert short not in {text.lower().rstrip(".") for text in suggested}

    @pytest.mark.parametrize(
        ("header", "cells", "wrong"),
        [
            ("Notes", ("Ran under other rules", "Took place in May"), {"Tones", "Bills", "Musical notes"}),
            ("Name", ("Ann", "Bob"), {"Make", "Call", "Figure"}),
            ("Peak chart positions\nAUS", ("3", "7"), {"Peak chart positions\nGolds"}),
            ("Runner(s)-up", ("Ann", "Bob"), {"Smuggler(s)-up"}),
            ("Home Town", ("Oslo", "Rome"), {"Place Municipality"}),
            ("Player", ("Ann", "Bob"), {"Musician"}),
            ("Round", ("Final", "Semi-final"), {"Rhythm", "Cycle"}),
            ("Time", ("1:02:33", "1:04:01"), {"Clip"}),
            ("Gold", ("3", "7"), {"Amber"}),
            ("Record", ("3–1", "4–1"), {"Disk", "Disc"}),
        ],
    )
    def test_what_a_word_means_elsewhere_is_not_suggested(self, words, header, cells, wrong):
        assert wrong.isdisjoint(found(synonyms(one_column(header, *cells), "c0", words, limit=30)))

    def test_a_usual_name_goes_by_what_the_cells_are(self, words):
        numbers = found(synonyms(one_column("Position", "1", "2", "3"), "c0", words))
        roles = found(synonyms(one_column("Position", "Guard", "Forward"), "c0", words))
        assert {"Rank", "Place"} <= set(numbers[:3])
        assert "Rank" not in roles
        assert "Role" in roles

    @pytest.mark.parametrize("header", ["Year", "Month", "Week"])
    def test_a_word_that_no_text_has_is_not_suggested(self, words, header):
        found = synonyms(Table([header], [["1995"], ["1979"]]), "c0", words).found
        assert all(
            " " in one.text or words.frequency(one.text.lower()) for one in found if one.source == "thesaurus"
        )
        assert "Twelvemonth" not in [one.text for one in found]

    def test_units_in_brackets_stay(self, words):
        suggested = found(synonyms(one_column("Area (km²)", "12", "440"), "c0", words))
        assert suggested[0] == "Surface (km²)"
        assert all(text.endswith(" (km²)") for text in suggested)

    def test_the_list_of_usual_names_can_be_read_and_names_none_by_itself(self):
        assert len(_entries()) > 150
        for name, entries in _entries().items():
            for entry in entries:
                assert name not in entry.others
                assert len(set(entry.others)) == len(entry.others)
                assert not any(is_short_form(other, name) for other in entry.others)

    @pytest.mark.parametrize("header", ["", "#", "2007", "%", "a" * 500, "חבר", "国家"])
    def test_headers_without_a_known_word_have_none(self, words, header):
        assert synonyms(one_column(header, "1"), "c0", words) == SuggestionList(())

    def test_without_a_thesaurus_the_rest_still_works(self):
        nothing = Unavailable("There are no synonyms from WordNet.")
        names = HeaderNames.build([Table(["Nation", "Gold"], [["Spain", "1"], ["Italy", "2"]])] * 3)
        suggested = synonyms(Table(["Country"], [["Spain"], ["Italy"]]), "c0", nothing, names)

        assert suggested.missing == (nothing,)
        assert found(suggested) == ["Nation", "State"]
        assert suggested.to_dict()["missing"] == ["There are no synonyms from WordNet."]

    def test_a_name_that_both_sources_give_counts_for_more(self, words):
        table = Table(["Country"], [["Spain"], ["Italy"]])
        names = HeaderNames.build([Table(["Nation", "Gold"], [["Spain", "1"], ["Italy", "2"]])] * 3)
        alone = {s.text: s for s in synonyms(table, "c0", words).found}["Nation"]
        (both, *_) = synonyms(table, "c0", words, names).found

        assert both.text == "Nation"
        assert both.score > alone.score
        assert "3 columns of this project" in both.why

    def test_a_column_without_cells_fits_every_meaning(self):
        assert fit("noun.person", {}) == 1.0
        assert fit("noun.time", {"date": 1.0}) > fit("noun.person", {"date": 1.0})
        assert fit("noun.person", {"words": 1.0}) > fit("noun.time", {"words": 1.0})

    @given(source_tables(min_columns=1))
    def test_on_any_table_suggestions_are_new_names_and_always_the_same(self, words, table):
        for column, header in zip(table.column_ids, table.header, strict=True):
            suggested = synonyms(table, column, words)
            assert suggested == synonyms(table, column, words)
            for suggestion in suggested.found:
                assert suggestion.text != header
                assert same_name(suggestion.text) not in map(same_name, table.header)
                assert 0 < suggestion.score <= 1
                assert suggestion.why or suggestion.sense

    def test_most_headers_of_published_tables_have_some_in_milliseconds(self, words, dev_tables):
        started, columns, some = time.process_time(), 0, 0
        for table in dev_tables:
            for column, header in zip(table.column_ids, table.header, strict=True):
                if words_of(header):
                    columns += 1
                    some += bool(synonyms(table, column, words).found)

        assert some / columns > 0.8
        assert (time.process_time() - started) / columns < 0.02


MEDALS = [
    Table(["Rank", "Nation", "Gold", "Silver"], [["1", "Spain", "3", "2"], ["2", "Italy", "1", "0"]]),
    Table(["Rank", "Nation", "Gold", "Bronze"], [["1", "Spain", "5", "2"], ["2", "Peru", "1", "0"]]),
    Table(["Pos", "Country", "Gold", "Silver"], [["1", "Spain", "3", "2"], ["2", "Peru", "1", "0"]]),
    Table(["Pos", "Country", "Gold", "Bronze"], [["1", "Italy", "3", "2"], ["2", "Peru", "1", "0"]]),
    Table(["Home team", "Away team", "Score"], [["Ajax", "Porto", "1-0"], ["Porto", "Ajax", "1-1"]]),
    Table(["Home team", "Away team", "Score"], [["Lyon", "Ajax", "1-0"], ["Ajax", "Lyon", "1-1"]]),
]


class TestHeaderNames:
    @pytest.fixture
    def names(self) -> HeaderNames:
        return HeaderNames.build(MEDALS)

    def test_a_name_under_which_the_same_values_stand_is_suggested(self, names):
        table = Table(["State", "Pop."], [["Spain", "46"], ["Peru", "30"], ["Italy", "60"]])
        suggested = {s.text: s for s in names.suggest(table, "c0")}

        assert set(suggested) == {"Nation", "Country"}
        assert suggested["Nation"].why == (
            "2 columns of this project have this name. They contain 3 of the 3 values of this column (italy, peru)."
        )

    def test_a_name_in_the_same_company_is_suggested(self):
        names = HeaderNames.build(MEDALS * 3)
        table = Table(["Rank", "Nation", "Gold"], [["1", "Chile", "2"], ["2", "Cuba", "2"]])
        assert [s.text for s in names.suggest(table, "c1")] == ["Country"]
        assert "have the same neighbouring columns" in names.suggest(table, "c1")[0].why

    def test_names_that_stand_side_by_side_are_never_taken_for_each_other(self, names):
        table = MEDALS[4]
        assert "Away team" not in [s.text for s in names.suggest(table, "c0")]
        other = Table(["Home team"], [["Ajax"], ["Porto"], ["Lyon"]])
        assert "Away team" not in [s.text for s in names.suggest(other, "c0")]

    def test_numbers_are_no_evidence_for_a_name(self, names):
        table = Table(["Goals"], [["1"], ["3"], ["5"]])
        assert names.suggest(table, "c0") == []

    def test_a_column_of_parts_is_given_a_name_by_what_it_holds(self, names):
        assert names.guess(["Spain", "Peru"]) in ("Nation", "Country")
        assert names.guess(["Ann", "Bob"]) is None
        assert names.guess([]) is None

    def test_it_grows_as_if_it_had_been_built_at_once(self, names):
        grown = HeaderNames.build(MEDALS[:3])
        for table in MEDALS[3:]:
            grown.add(table)
        assert grown.to_dict() == names.to_dict()
        assert grown.suggest(MEDALS[0], "c1") == names.suggest(MEDALS[0], "c1")

    def test_it_survives_json(self, names):
        read = HeaderNames.from_dict(json.loads(json.dumps(names.to_dict())))
        assert read.to_dict() == names.to_dict()
        assert read.suggest(MEDALS[0], "c1") == names.suggest(MEDALS[0], "c1")
        assert len(read) == len(names) == 10

    @pytest.mark.parametrize(
        "data",
        [None, {}, {"version": 0}, {"version": 1}, {"version": 1, "tables": 1, "names": [3], "values": {}}],
    )
    def test_anything_else_is_refused(self, data):
        with pytest.raises(NamesError, match="build it again"):
            HeaderNames.from_dict(data)

    @given(st.lists(source_tables(), max_size=4))
    def test_any_tables_can_be_put_in_and_asked_about(self, tables):
        names = HeaderNames.build(tables)
        assert HeaderNames.from_dict(json.loads(json.dumps(names.to_dict()))).to_dict() == names.to_dict()
        for table in tables:
            for column in table.column_ids:
                for suggestion in names.suggest(table, column):
                    assert same_name(suggestion.text) not in map(same_name, table.header)
                    assert 0 < suggestion.score <= 1

    def test_in_published_tables_it_finds_what_people_would_say(self, dev_tables):
        names = HeaderNames.build(dev_tables)
        table = Table(
            ["Nationality", "Rider"], [["Spain", "a"], ["Italy", "b"], ["Germany", "c"], ["France", "d"]]
        )
        assert {"Nation", "Country"} <= {s.text for s in names.suggest(table, "c0")}


class TestInitials:
    @pytest.mark.parametrize("header", ["Race 1\nTime", "Height\nft (m)", "Area km"])
    def test_numbers_and_units_have_none(self, header):
        rules = {one.source for one in abbreviations(one_column(header, "1"), "c0")}
        assert "initials" not in rules


class TestAbbreviations:
    @pytest.mark.parametrize(
        ("header", "dictionary"),
        [
            ("Number", "No."),
            ("Population", "Pop."),
            ("Average", "Avg."),
            ("Points", "Pts."),
            ("POSITION", "POS."),
            ("Number of votes", "No. of vts."),
            ("Goal difference", "GD"),
            ("Average attendance", "Avg. att."),
            ("Population (2010)", "Pop. (2010)"),
            ("Companies", "Cos."),
            ("Television", "TV"),
        ],
    )
    def test_the_usual_short_form_comes_first(self, header, dictionary):
        (first, *_) = abbreviations(one_column(header), "c0")
        assert (first.text, first.source) == (dictionary, "dictionary")
        assert "usually shortened" in first.why

    @pytest.mark.parametrize(
        ("header", "rule", "text"),
        [
            ("Constructor", "truncation", "Cons."),
            ("Country", "vowels", "Cntry"),
            ("Opponent", "vowels", "Opnnt"),
            ("Home team", "initials", "HT"),
            ("Date of use", "initials", "DOU"),
            ("Prominence (m)", "truncation", "Prom. (m)"),
            ("Swimsuit average", "vowels", "Swmst avrg"),
        ],
    )
    def test_each_rule_is_named(self, header, rule, text):
        assert (text, rule) in [(s.text, s.source) for s in abbreviations(one_column(header), "c0")]

    @pytest.mark.parametrize("header", ["", "#", "No.", "2007", "Pos", "%", "12 km", "TV", "a" * 500])
    def test_what_is_short_already_has_none(self, header):
        assert abbreviations(one_column(header), "c0") == []

    def test_none_is_another_header(self):
        table = Table(["Position", "POS", "pos."], [["1", "2", "3"]])
        assert "pos" not in {same_name(s.text) for s in abbreviations(table, "c0")}

    @given(
        source_tables(min_columns=1),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30),
    )
    def test_on_any_header_they_are_shorter_and_new(self, table, header):
        columns = [header, *table.header[1:]]
        table = Table(columns, table.rows)
        suggested = abbreviations(table, "c0")
        assert suggested == abbreviations(table, "c0")
        for suggestion in suggested:
            assert len(suggestion.text) < len(header)
            assert same_name(suggestion.text) not in map(same_name, columns)
            assert suggestion.source in ("dictionary", "truncation", "initials", "vowels")

    @given(st.text("abcdefghijklmnopqrstuvwxyzéABC", max_size=20) | texts)
    def test_the_rules_keep_the_first_letter_and_the_order_of_letters(self, word):
        for short in (truncated(word), without_vowels(word)):
            if short is not None:
                letters = iter(word)
                assert short[0] == word[0]
                assert all(letter in letters for letter in short.removesuffix("."))
                assert 3 <= len(short.removesuffix(".")) < len(word)

    def test_every_entry_of_the_dictionary_is_shorter_and_recognisable(self):
        assert len(_dictionary()) > 800
        for word, forms in _dictionary().items():
            for singular, plural in forms:
                assert len(singular.removesuffix(".")) < len(word), word
                assert len(singular) <= len(plural), word
                assert word.casefold() == word.strip()
                if singular.islower() and singular.rstrip(".").isalpha():
                    assert singular[0] == word[0] or word in ("pound", "thousand"), (word, singular)

    def test_plurals_have_plural_forms_and_short_forms_lead_back(self):
        assert short_forms("points") == ("pts.",)
        assert short_forms("parties") == ("pty.",)
        assert short_forms("qwertz") == ()
        assert long_forms("Pts.") == ("points",)
        assert long_forms("no") == ("number",)

    def test_most_headers_of_published_tables_have_one(self, dev_tables):
        headers = [(table, column) for table in dev_tables for column in table.column_ids]
        long = [
            (table, column)
            for table, column in headers
            if any(len(word.text) > 4 for word in words_of(table.cell("h", column)))
        ]
        assert sum(bool(abbreviations(table, column)) for table, column in long) / len(long) > 0.95


def test_the_kinds_of_cells_are_shares():
    assert kinds_of(["1999", "2000", "12", "a", ""]) == {"year": 0.5, "number": 0.25, "words": 0.25}
    assert kinds_of(["W 3-2", "May 5, 2004"]) == {"mixed": 0.5, "date": 0.5}
    assert kinds_of(["", " "]) == {}
