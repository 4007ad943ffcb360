"""Documents come out as Markdown and LaTeX with the structure that their readers need, whatever texts they hold."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tableqa.writers.documents import (
    Block,
    Heading,
    Items,
    Paragraph,
    Picture,
    Quotation,
    Table,
    as_latex,
    as_markdown,
    markdown_as_latex,
    standalone,
)
from tableqa.writers.report_tables import listed
from tests.latex_structure import check

HARD = "100 % & {b} \\ $x$ #1 a_b ^~ <i> [x] 'q' \"q\" `c` -- | *s*"
GUIDELINES = r"""# Question types

Read the *question*, then the **table**; `cell_1` is 100 % sure.

* one & two
* three
  1. inner _x_
  2. inner \end{quote}

| label | means |
|---|---|
| a&b | 5 % |
| `c` | |

```python
total = 100 % 7  # \end{verbatim}

{}
```

> quoted $5

See [the paper](https://example.org/a_b?c=1#d) ![picture](x.png) <b>html</b>

---
"""


def blocks_of(text: str) -> list[Block]:
    return [
        Heading(text),
        Heading(text, 4),
        Paragraph(text),
        Paragraph(text, missing=True),
        Items((text, text)),
        Quotation(text),
        Picture("pictures/question_type.jpg", text),
        Table(listed("t", text, (text, "n"), [(text, text)], texts=2)),
    ]


@given(st.text(max_size=40))
@example("0%")
def test_any_text_leaves_the_structure_of_latex_whole(text: str) -> None:
    check(as_latex(blocks_of(text)))


@given(st.text(alphabet="#*-_`>|[]()!<&\\\n 1.ab$%{}~", max_size=60))
def test_any_markdown_leaves_the_structure_of_latex_whole(text: str) -> None:
    check(as_latex([Quotation(text)]))


def test_what_tex_would_read_is_escaped() -> None:
    source = as_latex([Paragraph(HARD)])

    check(source)
    assert r"100 \% \& \{b\} \textbackslash{} \$x\$ \#1 a\_b" in source


def test_guidelines_keep_their_structure_in_latex() -> None:
    source = markdown_as_latex(GUIDELINES)

    check(source)
    for part in (
        r"\textbf{Question types}\par",
        r"\emph{question}",
        r"\texttt{cell\_1} is 100 \% sure",
        "\\begin{itemize}\n\\item one \\& two",
        "\\begin{enumerate}\n\\item inner",
        r"a\&b & 5 \% \\",
        r"\texttt{\{\}}\par",
        "\\begin{quote}\nquoted \\$5",
        r"the paper (\texttt{https://example.org/a\_b?c=1\#d})",
        r"\textless{}b\textgreater{}html",
    ):
        assert part in source, part
    assert "verbatim}" not in source.replace(r"verbatim\}", "")


def test_headings_have_the_commands_of_their_levels() -> None:
    source = as_latex([Heading("A"), Heading("B", 2), Heading("C", 3), Heading("D", 4)])

    assert source == "\\section{A}\n\n\\subsection{B}\n\n\\subsubsection{C}\n\n\\paragraph{D}\n"


def rendered(source: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(source))


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=30))
def test_markdown_of_a_paragraph_reads_back_as_its_text(text: str) -> None:
    page = rendered(as_markdown([Paragraph(text)]))

    assert html.unescape(re.sub(r"<[^>]+>", "", page)).strip() == text


@pytest.mark.parametrize(
    "text", ["- no list", "+ no list", "1. no list", "2) no list", "# no heading", "> no quote"]
)
def test_no_paragraph_becomes_another_block_in_markdown(text: str) -> None:
    page = rendered(as_markdown([Paragraph(text)]))

    assert page.startswith("<p>")
    assert html.unescape(re.sub(r"<[^>]+>", "", page)).strip() == text


def test_guidelines_stay_markdown_in_a_quotation() -> None:
    page = rendered(as_markdown([Heading("Guidelines"), Quotation("# Types\n\n* one\n* two\n")]))

    assert "<blockquote>\n<h1>Types</h1>\n<ul>" in page


def test_a_picture_has_a_plain_path() -> None:
    with pytest.raises(ValueError, match="cannot be the path"):
        Picture("a}b.jpg", "")
    assert r"\includegraphics[width=\linewidth]{pictures/a_b.jpg}" in as_latex(
        [Picture("pictures/a_b.jpg", "A")]
    )


def test_a_document_of_its_own_reads_the_appendix() -> None:
    assert "\\input{methods}\n\\end{document}" in standalone("methods")


@pytest.mark.parametrize(
    "source",
    [
        "50 % off",
        "a_b",
        r"\section{A",
        "}",
        r"\begin{quote}",
        r"\begin{itemize}\end{itemize}",
        r"\begin{quote}\begin{itemize}\item a\end{quote}\end{itemize}",
        "a & b",
        "\\begin{tabular}{l}\na & b \\\\\n\\end{tabular}",
        "\\emph{a\n\nb}",
        r"\write18{rm}",
        "$x",
    ],
)
def test_the_check_of_structure_finds_mistakes(source: str) -> None:
    with pytest.raises(AssertionError):
        check(source)
