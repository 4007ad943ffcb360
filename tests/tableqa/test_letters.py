"""Encodings before Unicode, told by letters: a few signs are read as the usual encoding."""

from __future__ import annotations

import pytest

from tableqa.readers.letters import encoding_by_letters


@pytest.mark.parametrize(
    "text", ["Ogden–Weber,3", "Cumberland—Colchester", "Madrileña", "Båstad", "1ª,2ª", "see note ‡", "Sæbø"]
)
def test_a_text_with_a_few_signs_is_read_as_windows_1252(text: str) -> None:
    guess = encoding_by_letters(f"Team,Points\n{text}\n".encode("cp1252"))
    assert guess.encoding == "cp1252"


def test_dashes_between_words_are_no_letters() -> None:
    text = "May–October,3\nCarlow–Kilkenny,5\nNorth–Central,7\nMarch–May,1\n"
    assert encoding_by_letters(text.encode("cp1252")).encoding == "cp1252"


def test_many_letters_tell_another_encoding() -> None:
    text = "Köln,Müller,Straße\nDüsseldorf,Jäger,größer\nMünchen,Schröder,süß\nGöttingen,Bäcker,Füße\n"
    guess = encoding_by_letters(text.encode("mac-roman"))
    assert (guess.encoding, guess.is_certain) == ("mac-roman", True)
