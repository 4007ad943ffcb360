"""Messages: a code and values that are stored, an English sentence as text, and the sentence in the reader's language."""

from __future__ import annotations

import copy
import json
import pickle
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.platform import display_text
from tableqa.agreement import measures, sample_size
from tableqa.core import translation
from tableqa.core.translation import Message, joined, pack, pack_all, unpack, unpack_object
from tableqa.quality_control import careless_responding
from tasks.contract import decision_rules
from tasks.metric_failure import task as metric_failure
from tasks.question_type.task import QuestionType

display_text.load_messages()
DECLARED = sorted(translation._templates)
GERMAN = {
    careless_responding.TOO_FEW: "Noch nicht genug Daten: {items} Aufgaben, {needed} sind nötig.",
    decision_rules.NO_LABEL: "Kein Etikett hat eine Mehrheit ({tally}).",
    decision_rules.NO_EDIT: "Keine Änderung hat eine Mehrheit ({tally}).",
    decision_rules.ALL_DIFFERENT: "{number} verschiedene Bearbeitungen von {people} Personen",
    decision_rules.DIFFER: "{number} von {of} Antworten weichen ab: {names}.",
    sample_size.NOT_YET: "Noch nicht bestimmbar.",
    measures.NO_PAIR: "Nichts zu vergleichen.",
    metric_failure.PEOPLE_GIVE: "Menschen geben {each}, von {highest_score}: {standing}.",
    metric_failure.FOR_BOTH: "{score} für Treue und {score_2} für Vollständigkeit",
    metric_failure.SOME_LOWER_HALF: "{below} der {others} anderen liegen darunter (gleiche zählen halb)",
    "neither": "keines von beiden",
    "extraction": "Entnahme",
    "sign": "Vorzeichen",
    " and ": " und ",
}


@pytest.fixture
def german() -> Iterator[None]:
    before = translation._translate, translation._counted, translation._localize, translation._load
    translation.set_translator(
        lambda text: GERMAN.get(text, text), None, lambda number: number.translate(str.maketrans(",.", ".,"))
    )
    yield
    translation.set_translator(*before)


def placeholders(template: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\{(\w+)\}", template)))


plain = st.text(max_size=12) | st.integers() | st.floats(allow_nan=False)


def parts() -> st.SearchStrategy[str]:
    return (
        st.builds(translation.word, st.text(min_size=1, max_size=8))
        | st.builds(translation.number, st.from_regex(r"\d{1,3}(,\d{3})*(\.\d+)?", fullmatch=True))
        | st.lists(plain.map(str) | messages(), max_size=3).map(lambda some: joined(some, ", "))
    )


@st.composite
def messages(draw: st.DrawFn) -> Message:
    code = draw(st.sampled_from(DECLARED))
    names = placeholders(translation.template_of(code))
    return Message(code, {name: draw(plain | st.deferred(parts)) for name in names})


@given(messages())
def test_a_message_is_stored_and_read_again(message: Message) -> None:
    stored = json.loads(json.dumps(message.to_json()))
    again = Message.from_json(stored)

    assert (again, again.code, again.values) == (message, message.code, message.values)
    assert unpack(pack(message)) == message
    assert isinstance(unpack(pack(message)), Message)
    assert json.loads(json.dumps(stored), object_hook=unpack_object).values == message.values


@given(messages())
def test_a_message_is_its_english_sentence(message: Message) -> None:
    values = {
        name: value if isinstance(value, int | float) else str(value)
        for name, value in message.values.items()
    }
    template = translation.template_of(message.code)

    assert str(message) == (template.format(**values) if values else template)
    assert json.loads(json.dumps(message)) == str(message)
    assert copy.deepcopy(message).values == pickle.loads(pickle.dumps(message)).values == message.values


@given(st.text() | st.text().map(lambda text: '{"code": "' + text))
def test_a_text_that_somebody_wrote_stays_a_text(text: str) -> None:
    assert unpack(pack(text)) == text
    assert not isinstance(unpack(pack(text)), Message)
    assert translation.translate_stored("~" + text) == "~" + text


@pytest.mark.parametrize("text", ['{"code": "a", "values": {}}', '{"code": "text", "values": {"text": "b"}}'])
def test_a_text_in_the_form_of_a_message_stays_a_text(text: str) -> None:
    assert unpack(pack(text)) == text
    assert type(unpack(pack(text))) is str


@pytest.mark.parametrize(
    "data",
    [
        {"code": "text", "values": {}},
        {"code": "joined", "values": {"parts": 3, "by": ""}},
        {"code": "habits.too_few", "values": {"other": 1}},
    ],
)
def test_data_that_only_looks_like_a_message_stays_as_it_is(data: dict[str, object]) -> None:
    stored = json.dumps(data)

    assert unpack(stored) == stored
    assert type(unpack(stored)) is str
    assert json.loads(stored, object_hook=unpack_object) == data


def test_messages_within_json_are_stored_also_as_keys() -> None:
    few = careless_responding.TOO_FEW.format(items=3, needed=10)
    data = {"reasons": {few: 2, "other": 1}, "list": [few, 4, None], "code": "x", "values": 7}

    again = json.loads(json.dumps(pack_all(data)), object_hook=unpack_object)

    assert again == data
    assert [type(key) for key in again["reasons"]] == [Message, str]
    assert again["list"][0].values == {"items": 3, "needed": 10}


def test_a_code_has_one_template() -> None:
    assert (
        translation.message("habits.too_few", str(careless_responding.TOO_FEW)) == careless_responding.TOO_FEW
    )
    with pytest.raises(ValueError, match="declared already"):
        translation.message("habits.too_few", "Another sentence.")
    with pytest.raises(ValueError, match="declared already"):
        translation.message("word", "A word.")


def test_values_without_a_placeholder_are_left_out() -> None:
    assert careless_responding.TOO_FEW.format(items=3, needed=10, others=4).values == {
        "items": 3,
        "needed": 10,
    }
    assert sample_size.NOT_YET.format(number=1) == sample_size.NOT_YET


def test_an_unknown_code_is_looked_for_once_in_all_modules_and_then_named() -> None:
    before = translation._translate, translation._counted, translation._localize, translation._load
    loads: list[str] = []

    def load() -> None:
        loads.append("loaded")
        translation.message("late.declared", "{number} more.")

    translation.set_translator(None, None, None, load)
    try:
        assert Message("late.declared", {"number": 3}) == "3 more."
        gone = Message.from_json({"code": "gone.task_type", "values": {"number": 3}})
        assert gone == gone.shown() == "gone.task_type 3"
        assert gone.to_json() == {"code": "gone.task_type", "values": {"number": 3}}
    finally:
        translation.set_translator(*before)
        del translation._templates["late.declared"]
    assert loads == ["loaded"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            metric_failure.PEOPLE_GIVE.format(
                each=metric_failure.FOR_BOTH.format(score=translation.number("1.5"), score_2=2),
                highest_score=5,
                standing=metric_failure.rank_in_words(0.625, 5),
            ),
            (
                "Menschen geben 1,5 für Treue und 2 für Vollständigkeit, von 5: "
                "2,5 der 4 anderen liegen darunter (gleiche zählen halb)."
            ),
        ),
        (
            careless_responding.TOO_FEW.format(items=translation.number("1,204"), needed=10),
            "Noch nicht genug Daten: 1.204 Aufgaben, 10 sind nötig.",
        ),
        (
            decision_rules.NO_LABEL.format(
                tally=decision_rules._tally_words(QuestionType(), {"extraction": 2, "neither": 1})
            ),
            "Kein Etikett hat eine Mehrheit (Entnahme 2, keines von beiden 1).",
        ),
        (
            decision_rules.NO_EDIT.format(tally=decision_rules.ALL_DIFFERENT.format(number=3, people=3)),
            "Keine Änderung hat eine Mehrheit (3 verschiedene Bearbeitungen von 3 Personen).",
        ),
        (
            decision_rules.DIFFER.format(
                number=2, of=3, names=decision_rules._count_differences(["sign", "sign", "neither"])
            ),
            "2 von 3 Antworten weichen ab: 1 x keines von beiden, 2 x Vorzeichen.",
        ),
        (joined(map(translation.word, ["sign", "neither"]), " and "), "Vorzeichen und keines von beiden"),
        (
            joined([sample_size.NOT_YET, measures.NO_PAIR]),
            "Noch nicht bestimmbar. Nichts zu vergleichen.",
        ),
        (joined(["", sample_size.NOT_YET, ""]), "Noch nicht bestimmbar."),
        ("What somebody wrote.", "What somebody wrote."),
        ("", ""),
    ],
)
@pytest.mark.usefixtures("german")
def test_a_message_is_shown_in_the_readers_language(message: str, shown: str) -> None:
    assert translation.translate_stored(message) == shown


@pytest.mark.usefixtures("german")
def test_what_a_table_says_within_a_message_stays_as_it_is() -> None:
    """A value that is a word of the catalogue elsewhere is none here."""
    from tableqa.perturbations import related_tables

    message = related_tables.NAMES.format(some="neither, sign")

    assert message.shown() == str(message)


def test_joined_parts_are_one_list_and_each_is_there_once() -> None:
    first = joined(["a", "b"], "; ")

    assert joined([first, "b", "", "c"], "; ") == "a; b; c"
    assert joined(["a", "", "a"]) == "a"
    assert joined([]) == ""


def test_without_a_translation_everything_is_english() -> None:
    before = translation._translate, translation._counted, translation._localize, translation._load
    translation.set_translator(None, None)
    try:
        message = careless_responding.TOO_FEW.format(items=3, needed=10)
        assert translation.translate_stored(message) == "Not enough data yet: 3 items, 10 are needed."
    finally:
        translation.set_translator(*before)
