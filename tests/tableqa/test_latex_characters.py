"""Characters of LaTeX: pdfLaTeX sets what it can, and the file says where another engine is needed."""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.writers.documents import Paragraph
from tableqa.writers.documents import as_latex as document
from tableqa.writers.latex_characters import escape, unsupported
from tableqa.writers.report_tables import Column, Sheet, as_latex, text
from tests.latex_structure import check


def table(value: str) -> Sheet:
    return Sheet("x", "X", (Column("Question", numeric=False),), ((text(value),),))


@pytest.mark.parametrize(
    ("value", "latex"),
    [
        ("10⁻⁸ km²", r"10\textsuperscript{\(-\)8} km\textsuperscript{2}"),
        ("H₂O™", r"H\textsubscript{2}O\textsuperscript{TM}"),
        ("x ≤ y ≠ ∞", r"x \(\leq\) y \(\neq\) \(\infty\)"),
        ("β → Α, 5′", r"\(\beta\) \(\rightarrow\) \(\mathrm{A}\), 5\('\)"),
        ("⅓", "1/3"),
        ("a\N{THIN SPACE}b\N{NARROW NO-BREAK SPACE}c", "a b c"),
        ("a\N{NON-BREAKING HYPHEN}b\N{FIGURE DASH}c", "a{-}b--c"),
        ("a\N{ZERO WIDTH SPACE}b", "ab"),
        ("}²", r"\}\textsuperscript{2}"),
        ("Zürich 中", "Zürich 中"),
    ],
)
def test_what_fonts_lack_is_written_with_commands(value: str, latex: str) -> None:
    assert escape(value) == latex


@given(st.text(alphabet="a-{}\\⁸⁻₂ᵝ™≤′″αΑο⅓ \N{EM SPACE}\N{HYPHEN}中", max_size=40))
def test_commands_for_characters_leave_the_structure_of_latex_whole(value: str) -> None:
    check(as_latex(table(value)))
    check(document([Paragraph(value)]))


def test_a_file_that_pdflatex_cannot_set_says_so_in_its_first_line() -> None:
    for source in (as_latex(table("中国")), document([Paragraph("中国")])):
        assert "an engine such as XeLaTeX or LuaLaTeX" in source.split("\n")[0]
        assert source.startswith("% needs ")
    for source in (as_latex(table("10⁸ ≤ é")), document([Paragraph("10⁸ ≤ é")])):
        assert "XeLaTeX" not in source


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdfLaTeX")
def test_pdflatex_sets_every_character_that_needs_no_other_engine(tmp_path: Path) -> None:
    characters = [chr(code) for code in range(0x20, 0x10000) if unicodedata.category(chr(code))[0] != "C"]
    lines = [escape(character) for character in characters if not unsupported(escape(character))]
    body = "\n\n".join(f"x{line}" for line in lines)
    source = (
        f"\\documentclass{{article}}\\usepackage[T1]{{fontenc}}\\begin{{document}}\n{body}\n\\end{{document}}"
    )
    (tmp_path / "all.tex").write_text(source, encoding="utf-8")

    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    assert len(lines) > 600
    assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]
