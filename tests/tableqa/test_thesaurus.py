"""The thesaurus: what is in the shipped file, how it is made from WordNet through nltk, and what is said without it."""

from __future__ import annotations

import importlib.util
import time
import zipfile
from pathlib import Path

import pytest

from tableqa.perturbations.headers import Thesaurus, Unavailable, thesaurus
from tableqa.perturbations.headers.thesaurus import SHIPPED, WordSense, read_thesaurus
from tableqa.perturbations.headers.wordnet import pack, read_wordnet


@pytest.fixture(scope="session")
def shipped() -> Thesaurus:
    loaded = thesaurus()
    assert isinstance(loaded, Thesaurus)
    return loaded


class TestTheShippedFile:
    def test_it_comes_with_the_licence_that_every_copy_needs(self):
        with zipfile.ZipFile(SHIPPED) as file:
            assert "Copyright 2006 by Princeton University" in file.read("LICENSE").decode()
            assert file.read("LICENSE") == (SHIPPED.parent / "LICENSE").read_bytes()
        assert SHIPPED.stat().st_size < 6_000_000

    def test_it_is_read_once(self, shipped):
        assert thesaurus() == shipped
        assert shipped.source == "WordNet 3.0"

    def test_it_loads_in_a_moment(self):
        started = time.process_time()
        assert isinstance(read_thesaurus(SHIPPED), Thesaurus)
        assert time.process_time() - started < 2

    def test_senses_stand_in_wordnets_order_with_the_words_that_share_them(self, shipped):
        first = shipped.senses("director", "n")[0]

        assert first.domain == "noun.person"
        assert ("manager", 29) in first.words
        assert "controls resources" in first.definition
        assert {"n", "v"} <= set(shipped.classes("date"))

    def test_near_senses_are_one_step_broader(self, shipped):
        venue = shipped.senses("venue", "n")[0]
        assert "scene" in [word for near in shipped.near(venue) for word, _ in near.words]

    def test_names_of_single_things_are_left_out(self, shipped):
        assert shipped.senses("copenhagen", "n") == ()
        assert shipped.senses("city", "n") != ()

    def test_words_that_offend_are_left_out(self, shipped):
        words = "".join(shipped._words)
        assert "\nnegro\t" not in words
        assert "blackamoor" not in {word for sense in shipped.senses("black", "n") for word, _ in sense.words}

    def test_an_unknown_word_has_no_senses(self, shipped):
        assert shipped.readings("qwertz") == []
        assert shipped.senses("qwertz", "n") == ()
        assert shipped.senses("", "n") == ()
        assert shipped.frequency("qwertz") == 0


class TestForms:
    @pytest.mark.parametrize(
        ("written", "reading"),
        [
            ("Points", WordSense("point", "n", "plural")),
            ("Countries", WordSense("country", "n", "plural")),
            ("children", WordSense("child", "n", "plural")),
            ("Won", WordSense("win", "v", "past")),
            ("Released", WordSense("release", "v", "past")),
            ("Opening", WordSense("open", "v", "ing")),
            ("VENUE", WordSense("venue", "n", "base")),
        ],
    )
    def test_a_word_is_read_back_to_the_listed_one(self, shipped, written, reading):
        assert reading in shipped.readings(written)

    @pytest.mark.parametrize(
        ("word", "kind", "form", "inflected"),
        [
            ("point", "n", "plural", "points"),
            ("country", "n", "plural", "countries"),
            ("child", "n", "plural", "children"),
            ("chairman", "n", "plural", "chairmen"),
            ("day of the month", "n", "plural", "days of the month"),
            ("earnings", "n", "plural", "earnings"),
            ("publish", "v", "past", "published"),
            ("win", "v", "past", "won"),
            ("give", "v", "past", None),  # gave, given
            ("set up", "v", "past", None),
            ("carry", "v", "past", "carried"),
            ("make", "v", "ing", "making"),
            ("point", "n", "base", "point"),
        ],
    )
    def test_a_word_is_put_into_the_form_of_another(self, shipped, word, kind, form, inflected):
        assert shipped.inflect(word, kind, form) == inflected


class TestWithoutIt:
    def test_an_absent_file_is_named_with_the_way_to_mend_it(self, tmp_path):
        found = thesaurus(tmp_path / "none.zip")

        assert isinstance(found, Unavailable)
        assert "none.zip does not exist" in found.reason
        assert "make.py" in found.reason

    @pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
    def test_a_damaged_file_is_named(self, tmp_path, content):
        (tmp_path / "damaged.zip").write_bytes(content)
        found = thesaurus(tmp_path / "damaged.zip")

        assert isinstance(found, Unavailable)
        assert "cannot be read" in found.reason


NOUNS = [
    ("entity", "03", ["entity"], [], "that which exists"),
    (
        "scene",
        "15",
        ["scene"],
        [("@", "entity")],
        'the place where some action occurs; "the police were at the scene"',
    ),
    ("venue", "15", ["venue", "locale"], [("@", "scene")], "the scene of any event; for an example"),
    ("paris", "15", ["Paris"], [("@i", "scene")], "a city"),
]


def _database(folder: Path) -> Path:
    """A WordNet of four nouns and no verbs in the database's format, wndb(5WN)."""
    corpus = folder / "corpora" / "wordnet"
    corpus.mkdir(parents=True)
    for name in ("verb", "adj", "adv"):
        (corpus / f"data.{name}").write_text(
            "  1 WordNet 9.9 Copyright 2026 by nobody.\n" if name == "adj" else ""
        )
        (corpus / f"index.{name}").write_text("")
    for name in ("noun", "verb", "adj", "adv"):
        (corpus / f"{name}.exc").write_text("loci locus\nscenae scene\n" if name == "noun" else "")
    (corpus / "index.sense").write_text("")
    (corpus / "cntlist.rev").write_text("locale%1:15:00:: 1 2\n")
    maker = _maker()
    lines = [f"{i:02}\t{lex}\t{maker.CLASSES[lex.split('.')[0]]}\n" for i, lex in enumerate(maker.LEXNAMES)]
    (corpus / "lexnames").write_text("".join(lines))

    places: dict[str, int] = dict.fromkeys((key for key, *_ in NOUNS), 0)
    for _ in range(2):  # offsets have eight digits whatever they are, so the second pass knows them all
        text = ""
        for key, lexname, words, pointers, gloss in NOUNS:
            places[key] = len(text)
            listed = " ".join(f"{word} 0" for word in words)
            pointed = "".join(f"{sign} {places[to]:08} n 0000 " for sign, to in pointers)
            text += f"{places[key]:08} {lexname} n {len(words):02x} {listed} {len(pointers):03} {pointed}| {gloss}  \n"
    (corpus / "data.noun").write_text(text)
    index = [
        f"{word.lower()} n 1 1 @ 1 0 {places[key]:08}  \n" for key, _, words, _, _ in NOUNS for word in words
    ]
    (corpus / "index.noun").write_text("".join(sorted(index)))
    return folder


def _maker():
    spec = importlib.util.spec_from_file_location(
        "make_wordnet", SHIPPED.parents[4] / "fixtures" / "wordnet" / "make.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def nltk_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _database(tmp_path_factory.mktemp("nltk_data"))


class TestMakingItFromWordNet:
    def test_nltks_reader_gives_words_senses_and_what_is_broader(self, nltk_data):
        made = read_wordnet(nltk_data)
        (venue,) = made.senses("venue", "n")

        assert made.source == "WordNet 9.9"
        assert venue.domain == "noun.location"
        assert venue.words == (("venue", 0), ("locale", 2))
        assert venue.definition == "the scene of any event"
        assert [near.words for near in made.near(venue)] == [(("scene", 0),)]
        assert made.senses("paris", "n") == ()
        assert WordSense("scene", "n", "plural") in made.readings("scenae")
        assert made.inflect("scene", "n", "plural") == "scenae"

    def test_what_is_packed_is_what_is_read(self, nltk_data, tmp_path):
        target = tmp_path / "small.zip"
        pack(nltk_data, "LICENCE TEXT\n", target)
        packed = read_thesaurus(target)

        assert isinstance(packed, Thesaurus)
        assert packed.source == "WordNet 9.9"
        assert packed.senses("locale", "n") == read_wordnet(nltk_data).senses("locale", "n")

    def test_a_folder_without_wordnet_is_named(self, tmp_path):
        with pytest.raises(LookupError, match="there is no WordNet in"):
            read_wordnet(tmp_path)
