"""A strict reader of the LaTeX that Askew writes: what TeX would stumble over in it, without TeX.

    check(source)      raises AssertionError with the line

It knows the commands and environments that Askew may use, and takes everything else for a mistake: an unescaped special
character, a brace that is not closed, an environment that ends before an inner one, a paragraph within an argument, `&`
outside of a tabular, a row with too many cells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tableqa.writers import latex_characters

ENVIRONMENTS = ("table", "sidewaystable", "tabular", "figure", "itemize", "enumerate", "quote")
SYMBOLS = (
    *("textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar"),
    *("symbol", "textquotesingle", "textasciigrave", "hrulefill", "linewidth"),
)
COMMANDS = (
    *SYMBOLS,
    *("section", "subsection", "subsubsection", "paragraph", "emph", "textbf", "texttt", "caption", "label"),
    *(
        "centering",
        "hline",
        "item",
        "par",
        "noindent",
        "newline",
        "medskip",
        "small",
        "footnotesize",
        "scriptsize",
        "tiny",
    ),
    *("multicolumn", "mathbf", "mathrm", "toprule", "midrule", "bottomrule", "cmidrule"),
    *("textsuperscript", "textsubscript"),
)
_TOKEN = re.compile(
    r"\\(?P<command>[A-Za-z]+)|\\(?P<escaped>[{}$&#%_])|(?P<row>\\\\)|(?P<math>\\[()])|\\(?P<other>.)"
    r"|(?P<special>[{}$&#%_^~])|(?P<blank>\n[ \t]*\n)|(?P<text>.)",
    re.DOTALL,
)
_TIGHT = re.compile(r"\\setlength\{\\tabcolsep\}\{[0-9.]+pt\}")
_PICTURE = re.compile(r"\\includegraphics\[width=\\linewidth\]\{[A-Za-z0-9_./-]+\}")


@dataclass
class _Open:
    """What is open: a brace or an environment, with the number of columns and cells of a tabular."""

    name: str
    line: int
    columns: int = 0
    cells: int = 1
    has_items: bool = False


@dataclass
class _Reader:
    stack: list[_Open] = field(default_factory=list)
    in_math: bool = False


def check(source: str) -> None:
    """Raise AssertionError where the source does not have the structure that TeX needs."""
    source = re.sub(r"^%.*$", "", source, flags=re.MULTILINE)  # comments, on lines of their own
    reader, place = _Reader(), 0
    while place < len(source):
        line = source.count("\n", 0, place) + 1
        if found := re.compile(
            r"\\begin\{([a-z]+)\}(\[htbp\])?(\{(?:[rlc]|(?:>\{\\raggedright\\arraybackslash\})?p\{[0-9.]+\\linewidth\})*\})?"
        ).match(source, place):
            _begin(reader, found, line)
        elif found := re.compile(r"\\end\{([a-z]+)\}").match(source, place):
            _end(reader, found[1], line)
        elif found := _TIGHT.match(source, place):
            assert reader.stack, f"line {line}: distances of columns outside of a table"
            assert reader.stack[-1].name.endswith("table"), (
                f"line {line}: distances of columns outside of a table"
            )
        elif found := _PICTURE.match(source, place):
            assert reader.stack, f"line {line}: a picture outside of a figure"
        else:
            found = _TOKEN.match(source, place)
            assert found is not None
            _token(reader, found, line)
        place = found.end()
    assert not reader.stack, f"line {reader.stack[-1].line}: {reader.stack[-1].name} is never closed"
    assert not reader.in_math, "mathematics is never closed"


def _begin(reader: _Reader, found: re.Match[str], line: int) -> None:
    name, columns = found[1], found[3]
    assert name in ENVIRONMENTS, f"line {line}: unknown environment {name}"
    assert not reader.stack or reader.stack[-1].name != "{", f"line {line}: {name} begins within an argument"
    assert (columns is not None) == (name == "tabular"), f"line {line}: {name} and its columns"
    number = len(re.sub(r"(?:>\{[^}]*\})?p\{[^}]*\}", "p", columns or "")) - 2
    reader.stack.append(_Open(name, line, columns=number))


def _end(reader: _Reader, name: str, line: int) -> None:
    assert reader.stack, f"line {line}: {name} ends and never began"
    closed = reader.stack.pop()
    assert closed.name == name, f"line {line}: {name} ends within {closed.name} of line {closed.line}"
    if name in ("itemize", "enumerate"):
        assert closed.has_items, f"line {line}: a list without items"


def _token(reader: _Reader, found: re.Match[str], line: int) -> None:
    inner = reader.stack[-1] if reader.stack else None
    assert found["other"] is None, f"line {line}: unknown escape {found[0]!r}"
    if (command := found["command"]) is not None:
        assert command in (*COMMANDS, *latex_characters.SYMBOLS), f"line {line}: unknown command \\{command}"
        if command in (*latex_characters.SYMBOLS, "mathrm", "mathbf"):
            assert reader.in_math, f"line {line}: \\{command} outside of mathematics"
        if command == "item":
            assert inner is not None, f"line {line}: an item outside of a list"
            assert inner.name in ("itemize", "enumerate"), f"line {line}: an item within {inner.name}"
            inner.has_items = True
        if inner is not None and inner.name in ("itemize", "enumerate"):
            assert inner.has_items, f"line {line}: text before the first item"
    elif found["special"] is not None:
        _special(reader, found["special"], line)
    elif found["math"] is not None:
        assert reader.in_math == (found["math"] == r"\)"), (
            f"line {line}: {found['math']} within or without mathematics"
        )
        reader.in_math = not reader.in_math
    elif found["row"] is not None:
        assert inner is not None, f"line {line}: a row outside of a table"
        assert inner.name == "tabular", f"line {line}: a row within {inner.name}"
        assert inner.cells <= inner.columns, f"line {line}: {inner.cells} cells for {inner.columns} columns"
        inner.cells = 1
    elif found["blank"] is not None:
        assert inner is None or inner.name != "{", f"line {line}: a paragraph ends within an argument"


def _special(reader: _Reader, special: str, line: int) -> None:
    if special == "{":
        reader.stack.append(_Open("{", line))
    elif special == "}":
        assert reader.stack, f"line {line}: a brace closes and none is open"
        closed = reader.stack.pop()
        assert closed.name == "{", f"line {line}: a brace closes within {closed.name}"
    elif special == "$":
        reader.in_math = not reader.in_math
    elif special == "&":
        tabular = reader.stack[-1] if reader.stack else None
        assert tabular is not None, f"line {line}: & outside of a table"
        assert tabular.name == "tabular", f"line {line}: & within {tabular.name}"
        tabular.cells += 1
    elif special == "~":
        return
    else:
        raise AssertionError(f"line {line}: {special} is not escaped")
