"""Documents of a paper, such as an appendix: one list of blocks, written as Markdown and as LaTeX.

    blocks = [Heading("Agreement"), Paragraph("Two people per item."), Table(sheet)]
    as_markdown(blocks), as_latex(blocks)

All texts are plain: both forms escape them whole. `Quotation` holds Markdown by people, such as guidelines: in Markdown
it stays as it is, in a block quote; LaTeX gets its headings, lists, tables, emphasis and code. HTML in it is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tableqa.writers import report_tables
from tableqa.writers.latex_characters import unsupported
from tableqa.writers.report_tables import Sheet

if TYPE_CHECKING:
    from markdown_it.token import Token

LEVELS = ("section", "subsection", "subsubsection", "paragraph")
"""LaTeX's commands for headings of level 1 to 4; deeper ones are of the last."""
WIDTH = r"\linewidth"


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 4."""

    text: str
    level: int = 1


@dataclass(frozen=True)
class Paragraph:
    """A paragraph. `missing`: it says that something is not recorded, and is set in italics."""

    text: str
    missing: bool = False


@dataclass(frozen=True)
class Items:
    """A list with a bullet for each text."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Quotation:
    """A text in Markdown that people wrote."""

    markdown: str


@dataclass(frozen=True)
class Picture:
    """A picture beside the document: its relative path, of letters, digits, `_`, `-`, `.` and `/`, and its caption."""

    path: str
    caption: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_./-]+", self.path):
            raise ValueError(f"{self.path!r} cannot be the path of a picture")


@dataclass(frozen=True)
class Table:
    """A table of figures."""

    sheet: Sheet


Block = Heading | Paragraph | Items | Quotation | Picture | Table


# -- Markdown ---------------------------------------------------------------------------------------


def as_markdown(blocks: Iterable[Block]) -> str:
    """The document as GitHub reads Markdown."""
    return "\n\n".join(_markdown_block(block).strip("\n") for block in blocks) + "\n"


def _markdown_block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {_markdown(text)}"
        case Paragraph(text, missing):
            return f"*{_markdown(text)}*" if missing else _markdown(text)
        case Items(texts):
            return "\n".join(f"* {_markdown(text)}" for text in texts)
        case Quotation(markdown):
            return "\n".join(f"> {line}".rstrip() for line in markdown.strip().splitlines())
        case Picture(path, caption):
            return f"![{_markdown(caption)}]({path})"
        case Table(sheet):
            # The title as a line: its own heading would be of another level than those around it.
            head, _, rest = report_tables.as_markdown(sheet).partition("\n")
            return f"**{head.removeprefix('### ')}**\n{rest}"


_LIST = re.compile(r"[+-]|\d+[.)]")
"""The mark of a list at the start of a line."""


def _markdown(text: str) -> str:
    escaped = report_tables.escape_markdown(text)
    if (mark := _LIST.match(escaped)) is None:
        return escaped
    return f"{escaped[: mark.end() - 1]}\\{escaped[mark.end() - 1 :]}"


# -- LaTeX ------------------------------------------------------------------------------------------

STANDALONE = r"""\documentclass[11pt]{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[utf8]{inputenc}
  \usepackage[T1]{fontenc}
\fi
\usepackage{textcomp}
\usepackage[margin=2.5cm]{geometry}
\usepackage{graphicx}
\usepackage{array,booktabs,rotating}
\begin{document}
\appendix
\input{%s}
\end{document}
"""
"""A document around a file of `as_latex`, which needs the packages array, booktabs, graphicx, rotating and textcomp."""


def as_latex(blocks: Iterable[Block]) -> str:
    r"""The document for `\input`, to be read as UTF-8. It needs array, booktabs, graphicx, rotating and textcomp."""
    source = "\n\n".join(_latex_block(block).strip("\n") for block in blocks) + "\n"
    return f"% needs {report_tables.ENGINE}\n{source}" if unsupported(source) else source


def standalone(name: str) -> str:
    r"""A document of its own around a file of `as_latex`, by its name without the ending."""
    return STANDALONE % name


def _latex_block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return rf"\{LEVELS[min(level, len(LEVELS)) - 1]}{{{report_tables.escape_latex(text)}}}"
        case Paragraph(text, missing):
            escaped = report_tables.escape_latex(text)
            return rf"\emph{{{escaped}}}" if missing else escaped
        case Items(texts):
            return _environment("itemize", [rf"\item {report_tables.escape_latex(text)}" for text in texts])
        case Quotation(markdown):
            return _environment("quote", [markdown_as_latex(markdown)])
        case Picture(path, caption):
            return _environment(
                "figure",
                [
                    r"\centering",
                    rf"\includegraphics[width={WIDTH}]{{{path}}}",
                    rf"\caption{{{report_tables.escape_latex(caption)}}}",
                ],
                "[htbp]",
            )
        case Table(sheet):
            return report_tables.as_latex(sheet)


def _environment(name: str, lines: Sequence[str], options: str = "") -> str:
    return "\n".join([rf"\begin{{{name}}}{options}", *lines, rf"\end{{{name}}}"])


def markdown_as_latex(markdown: str) -> str:
    """Markdown by people as LaTeX. Headings are bold lines, so that the outline of the paper stays its own."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return "".join(_tokens(parser.parse(markdown))).strip("\n")


_OPEN = {
    "heading_open": "\n\\textbf{",
    "heading_close": "}\\par\n",
    "paragraph_open": "",
    "paragraph_close": "\n\n",
    "bullet_list_open": "\\begin{itemize}\n",
    "bullet_list_close": "\\end{itemize}\n",
    "ordered_list_open": "\\begin{enumerate}\n",
    "ordered_list_close": "\\end{enumerate}\n",
    "list_item_open": "\\item ",
    "list_item_close": "",
    "blockquote_open": "\\begin{quote}\n",
    "blockquote_close": "\\end{quote}\n",
    "em_open": "\\emph{",
    "em_close": "}",
    "strong_open": "\\textbf{",
    "strong_close": "}",
    "softbreak": "\n",
    "hardbreak": "\\newline\n",
    "hr": "\\par\\noindent\\hrulefill\\par\n",
    "thead_open": "",
    "thead_close": "\\hline\n",
    "tbody_open": "",
    "tbody_close": "",
    "link_open": "",
}


def _tokens(tokens: Sequence[Token]) -> Iterator[str]:
    hrefs: list[str] = []
    for index, token in enumerate(tokens):
        match token.type:
            case "inline":
                yield from _tokens(token.children or [])
            case "text" | "html_block" | "html_inline":
                yield report_tables.escape_latex(token.content, strip=False)
            case "code_inline":
                yield rf"\texttt{{{report_tables.escape_latex(token.content, strip=False)}}}"
            case "fence" | "code_block":
                yield _code(token.content)
            case "image":
                yield report_tables.escape_latex(token.content)
            case "link_open":
                hrefs.append(str(token.attrs.get("href", "")))
            case "link_close":
                href = hrefs.pop()
                yield rf" (\texttt{{{report_tables.escape_latex(href)}}})" if href else ""
            case "table_open":
                columns = sum(
                    1 for row_token in _until(tokens[index:], "tr_close") if row_token.type == "th_open"
                )
                share = f"{0.9 / max(1, columns):.3f}"
                kinds = f"p{{{share}{WIDTH}}}" * columns
                yield f"\n\\noindent\\begin{{tabular}}{{{kinds}}}\n\\hline\n"
            case "table_close":
                yield "\\hline\n\\end{tabular}\\par\n"
            case "th_open" | "td_open":
                yield "" if tokens[index - 1].type == "tr_open" else " & "
            case "tr_close":
                yield " \\\\\n"
            case "tr_open" | "th_close" | "td_close":
                yield ""
            case _:
                yield _OPEN[token.type]


def _until(tokens: Iterable[Token], kind: str) -> Iterator[Token]:
    for token in tokens:
        if token.type == kind:
            return
        yield token


def _code(content: str) -> str:
    """Lines of code, each escaped: a verbatim environment would end where the code says so."""
    lines = [
        rf"\noindent\texttt{{{report_tables.escape_latex(line, strip=False).replace(' ', '~')}}}\par"
        if line.strip()
        else r"\medskip"
        for line in content.rstrip("\n").splitlines()
    ]
    return "\n" + "\n".join(lines) + "\n"
