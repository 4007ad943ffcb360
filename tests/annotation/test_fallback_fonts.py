"""Figures with letters that DejaVu Sans does not have: installed fonts are used, and without one the figure says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from matplotlib import font_manager

from annotation.charts import fallback_fonts, image_files
from annotation.charts.figure import IMAGES, Figure
from annotation.charts.series import Axis, Bars, Point, Series
from tableqa.writers.report_tables import Column, Sheet, text

pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing")
SVG = "{http://www.w3.org/2000/svg}"
LETTER = "\ue3c8"
"""Of the private use area: no font has it but the one that is made here."""


def figure(label: str) -> Figure:
    chart = Bars([label], [Series("responses", [Point(50, n=3)])], Axis(0, 100, (0, 50, 100), "%"))
    sheet = Sheet("labels", "Labels", (Column("Label", numeric=False),), ((text(label),),))
    return Figure("labels", f"Labels {label}", sheet, chart)


@pytest.fixture
def font_file(tmp_path: Path) -> Iterator[Path]:
    """A font with one letter and outlines of PostScript (CFF), as Noto Sans CJK has them."""
    names = [".notdef", "letter"]
    builder = FontBuilder(1000, isTTF=False)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(LETTER): "letter"})
    pen = T2CharStringPen(600, None)
    for at, move in (((50, 0), pen.moveTo), ((550, 0), pen.lineTo), ((300, 700), pen.lineTo)):
        move(at)
    pen.closePath()
    shape = pen.getCharString()
    builder.setupCFF("Askewtest", {"FullName": "Askewtest"}, dict.fromkeys(names, shape), {})
    builder.setupHorizontalMetrics(dict.fromkeys(names, (600, 50)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Askewtest", "styleName": "Regular", "psName": "Askewtest"})
    builder.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    path = tmp_path / "askewtest.otf"
    builder.save(path)
    before = list(font_manager.fontManager.ttflist)
    yield path
    font_manager.fontManager.ttflist[:] = before
    fallback_fonts.add_new_fonts.cache_clear()
    fallback_fonts._codes.cache_clear()


@pytest.fixture
def installed(font_file: Path) -> str:
    """The font, known to matplotlib."""
    font_manager.fontManager.addfont(font_file)
    return "Askewtest"


def below(monkeypatch: pytest.MonkeyPatch, figure: Figure, format: str) -> list[str]:
    """What is written below the figure in its file."""
    from matplotlib.figure import Figure as Canvas

    written: list[str] = []
    draw = Canvas.supxlabel

    def noted(canvas: Any, words: str, **how: Any) -> Any:
        written.append(words)
        return draw(canvas, words, **how)

    monkeypatch.setattr(Canvas, "supxlabel", noted)
    image_files.content(figure, format)
    return written


def test_letters_of_the_first_font_need_no_other() -> None:
    assert fallback_fonts.fallback("Überlänge − 95 % \u200d\ufe0f\n") == fallback_fonts.Fallback(
        (), frozenset()
    )


def test_an_installed_font_that_has_the_letter_is_used(installed: str) -> None:
    assert fallback_fonts.fallback(f"a{LETTER}") == fallback_fonts.Fallback((installed,), frozenset())


def test_a_font_that_was_installed_after_matplotlib_listed_them_is_found(
    monkeypatch: pytest.MonkeyPatch, font_file: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.ttf"
    damaged.write_bytes(b"no font")
    fallback_fonts.add_new_fonts.cache_clear()
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(damaged), str(font_file)])

    assert fallback_fonts.fallback(LETTER).families == ("Askewtest",)


def test_boxes_and_signs_of_formulas_are_no_letters() -> None:
    assert fallback_fonts.fallback(LETTER) == fallback_fonts.Fallback((), frozenset(LETTER))


@pytest.mark.parametrize("format", ["pdf", "png"])
def test_a_figure_says_that_no_font_has_a_letter(monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    written = below(monkeypatch, figure(LETTER), format)

    assert written == ["Some characters are missing: no installed font has them."]


@pytest.mark.parametrize("format", list(IMAGES))
def test_a_figure_with_all_letters_does_not_say_so(
    monkeypatch: pytest.MonkeyPatch, installed: str, format: str
) -> None:
    assert below(monkeypatch, figure(LETTER), format) == []


def test_outlines_of_such_a_figure_are_in_the_pdf_as_every_reader_draws_them(installed: str) -> None:
    content, usual = image_files.content(figure(LETTER), "pdf"), image_files.content(figure("a"), "pdf")

    assert b"Askewtest" in content
    assert b"/Type3" in content
    assert b"/FontFile2" not in content
    assert b"/FontFile2" in usual, "TrueType, as conferences ask for"


def test_texts_of_such_a_figure_are_texts_in_the_svg_and_end_in_a_family_of_the_reader() -> None:
    tree = ElementTree.fromstring(image_files.content(figure(LETTER), "svg"))

    texts = list(tree.iter(f"{SVG}text"))
    assert any(LETTER in (text.text or "") for text in texts)
    styles = [text.attrib["style"] for text in texts]
    assert all(re.search(r"'DejaVu Sans'.*sans-serif", style) for style in styles), styles


def test_the_style_of_other_figures_stays(installed: str) -> None:
    before = image_files.content(figure("a"), "svg")
    image_files.content(figure(LETTER), "svg")

    assert image_files.content(figure("a"), "svg") == before
