"""Sentences that are kept in English are found again, with their values, and said in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

# The modules whose sentences are kept; a sentence is known once its module is imported.
from tableqa import agreement, cell_sets, corpus, edit_agreement, evidence, habits, headers, language, needed
from tableqa.perturbations import kinds
from tasks import resolving
from tasks.metric_failure import task as metric_failure

MODULES = (
    agreement,
    cell_sets,
    corpus,
    edit_agreement,
    evidence,
    habits,
    headers,
    kinds,
    needed,
    resolving,
    metric_failure,
)
GERMAN = {
    habits.TOO_FEW: "Noch nicht genug Daten: {items} Aufgaben, {needed} sind nötig.",
    resolving.NO_LABEL: "Kein Etikett hat eine Mehrheit ({tally}).",
    resolving.DIFFER: "{number} von {of} Antworten weichen ab: {names}.",
    resolving.ALL_DIFFERENT: "{number} verschiedene Bearbeitungen von {people} Personen",
    resolving.NO_EDIT: "Keine Änderung hat eine Mehrheit ({tally}).",
    needed.NOT_YET: "Noch nicht bestimmbar.",
    agreement.NO_PAIR: "Nichts zu vergleichen.",
    metric_failure.PEOPLE_GIVE: "Menschen geben {each}, von {highest_score}: {standing}.",
    metric_failure.FOR_BOTH: "{score} für Treue und {score_2} für Vollständigkeit",
    metric_failure.SOME_LOWER_HALF: "{below} der {others} anderen liegen darunter (gleiche zählen halb)",
    "Of {of} items {left} are open ({label}).": "Von {of} sind {left} offen ({label}).",
    "neither": "keines von beiden",
    "extraction": "Entnahme",
    "sign": "Vorzeichen",
    " and ": " und ",
}


@pytest.fixture
def german() -> Iterator[None]:
    before = language._one, language._counted, language._number
    language.use(
        lambda text: GERMAN.get(text, text), None, lambda number: number.translate(str.maketrans(",.", ".,"))
    )
    yield
    language.use(*before)


@pytest.fixture
def rewording(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A message with a former wording, known for one test."""
    monkeypatch.setattr(language, "_sentences", dict(language._sentences))
    for cached in (language.taken_apart, language._pieces):
        cached.cache_clear()
    yield language.sentence(
        "Of {of} items {left} are open ({label}).", "{left} of {of} are open, the word was {label}."
    )
    for cached in (language.taken_apart, language._pieces):
        cached.cache_clear()


def places(message: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\{(\w+)\}", message)))


@given(st.sampled_from(language.sentences()), st.data())
def test_every_sentence_is_found_again_with_its_values(message: str, data: st.DataObject) -> None:
    values = {
        name: data.draw(st.from_regex(r"[A-Z0-9][a-z0-9 ]{0,12}[a-z0-9]", fullmatch=True))
        for name in places(message)
    }
    said = message.format(**values)

    (found,) = language.taken_apart(said)

    assert found[0].format(**found[1]) == said
    assert len(MODULES) > 1


@given(st.sampled_from(sorted(language._sentences)), st.data())
def test_a_former_wording_is_found_as_todays_message_with_its_values(
    wording: str, data: st.DataObject
) -> None:
    values = {
        name: data.draw(st.from_regex(r"[A-Z0-9][a-z0-9 ]{0,12}[a-z0-9]", fullmatch=True))
        for name in places(wording)
    }
    today = language._sentences[wording].format(**values)

    assert language.taken_apart(wording.format(**values)) == language.taken_apart(today)
    assert wording in language.sentences() or wording.format(**values) != today


def test_a_text_in_a_former_wording_is_said_in_todays_wording_in_english_too(rewording: str) -> None:
    assert rewording in language.sentences()
    assert "{left} of {of} are open, the word was sign." not in language.sentences()
    assert language.taken_apart("3 of 1,204 are open, the word was sign.") == (
        (rewording, {"left": "3", "of": "1,204", "label": "sign"}),
    )
    assert language.kept("3 of 1,204 are open, the word was sign.") == "Of 1,204 items 3 are open (sign)."
    assert language.kept("3 of 1,204 are open, the word was sign. Cannot be said yet.") == (
        f"Of 1,204 items 3 are open (sign). {needed.NOT_YET}"
    )


@pytest.mark.usefixtures("german")
def test_a_text_in_a_former_wording_is_said_in_the_readers_language(rewording: str) -> None:
    assert language.kept("3 of 1,204 are open, the word was sign.") == "Von 1.204 sind 3 offen (Vorzeichen)."


@pytest.mark.parametrize("former", ["{left} are open.", "{left} of {of} are open, {label}, {more}."])
def test_a_former_wording_has_the_places_of_its_message(rewording: str, former: str) -> None:
    with pytest.raises(ValueError, match="places"):
        language.sentence(rewording, former)


def test_a_wording_belongs_to_one_message(rewording: str) -> None:
    assert language.sentence(rewording) == rewording
    with pytest.raises(ValueError, match="already"):
        language.sentence("{left} of {of} items are open ({label}).", rewording)


@given(st.text())
def test_a_text_that_is_not_ours_is_left_alone(text: str) -> None:
    assert language.taken_apart(f"~{text}") == ()


def test_sentences_behind_one_another_are_each_found() -> None:
    text = f"{needed.NOT_YET} {agreement.NO_PAIR}"

    assert [message for message, _ in language.taken_apart(text)] == [needed.NOT_YET, agreement.NO_PAIR]
    assert language.taken_apart(f"{needed.NOT_YET} Something else.") == ()


@pytest.mark.parametrize(
    ("english", "said"),
    [
        (
            metric_failure.PEOPLE_GIVE.format(
                each=metric_failure.FOR_BOTH.format(score="1.5", score_2="2"),
                highest_score=5,
                standing=metric_failure.standing(0.625, 5),
            ),
            (
                "Menschen geben 1,5 für Treue und 2 für Vollständigkeit, von 5: "
                "2,5 der 4 anderen liegen darunter (gleiche zählen halb)."
            ),
        ),
        (
            habits.TOO_FEW.format(items="1,204", needed=10),
            "Noch nicht genug Daten: 1.204 Aufgaben, 10 sind nötig.",
        ),
        (
            resolving.NO_LABEL.format(tally="extraction 2, neither 1"),
            "Kein Etikett hat eine Mehrheit (Entnahme 2, keines von beiden 1).",
        ),
        (
            resolving.NO_EDIT.format(tally=resolving.ALL_DIFFERENT.format(number=3, people=3)),
            "Keine Änderung hat eine Mehrheit (3 verschiedene Bearbeitungen von 3 Personen).",
        ),
        (
            resolving.DIFFER.format(number=2, of=3, names="2 x sign and neither"),
            "2 von 3 Antworten weichen ab: 2 x Vorzeichen und keines von beiden.",
        ),
        (f"{needed.NOT_YET} {agreement.NO_PAIR}", "Noch nicht bestimmbar. Nichts zu vergleichen."),
        ("What somebody wrote.", "What somebody wrote."),
        ("", ""),
    ],
)
@pytest.mark.usefixtures("german")
def test_a_kept_sentence_is_said_in_the_readers_language(english: str, said: str) -> None:
    assert language.kept(english) == said


@pytest.mark.usefixtures("german")
def test_what_a_table_says_within_a_sentence_stays_as_it_is() -> None:
    """A value that is a word of ours elsewhere is none here."""
    said = corpus.NAMES.format(some="neither, sign")

    assert language.kept(said) == said
    assert language.kept_list("neither; sign") == "keines von beiden; Vorzeichen"


def test_without_a_translation_everything_is_english() -> None:
    before = language._one, language._counted, language._number
    language.use(None, None)
    try:
        assert (
            language.kept(habits.TOO_FEW.format(items=3, needed=10))
            == "Not enough data yet: 3 items, 10 are needed."
        )
    finally:
        language.use(*before)
