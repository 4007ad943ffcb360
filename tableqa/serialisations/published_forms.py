"""The forms as the papers' programs write them, with what they lose.

Each is exact for what the program takes: at least one row. (unitxt stops at a table without rows; here it is written.) A
form that loses something is never read back. What its text seems to hold is inferred all the same, to tell for a given
table whether anything is lost.
"""

import json
import re
from collections.abc import Callable, Sequence
from html import escape

from tableqa.data.tables import Table
from tableqa.serialisations.forms import Serialisation, SerialisationError
from tableqa.serialisations.markup import read_html
from tableqa.serialisations.printed_values import json_of

# -- written -----------------------------------------------------------------------------------------


def _html_torr(table: Table) -> str:
    lines = ["<table>", "  <thead>", f"    <tr>{''.join(f'<th>{name}</th>' for name in table.header)}</tr>"]
    lines += ["  </thead>", "  <tbody>"]
    lines += [f"    <tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in table.rows]
    return "\n".join([*lines, "  </tbody>", "</table>"])


def _json_torr(table: Table) -> str:
    return json.dumps({i: dict(zip(table.header, row, strict=True)) for i, row in enumerate(table.rows)})


def _markdown_torr(table: Table) -> str:
    lines = (table.header, ("---",) * len(table.header), *table.rows)
    return "\n".join(f"|{'|'.join(line)}|" for line in lines).strip()


def _indexed_row_major_torr(table: Table) -> str:
    rows = (f"row {row_number} : {' | '.join(row)}" for row_number, row in enumerate(table.rows, 1))
    return " ".join((f"col : {' | '.join(table.header)}", *rows)).strip()


def _indexed_row_major_tapex(table: Table) -> str:
    return _indexed_row_major_torr(table).lower()


def _dataframe_torr(table: Table) -> str:
    header = table.header
    names = [
        f"{name}_{header[:j].count(name)}" if name in header[:j] else name for j, name in enumerate(header)
    ]
    columns = {name: [row[j] for row in table.rows] for j, name in enumerate(names)}
    return f"pd.DataFrame({{\n{json.dumps(columns)[1:-1]}}},\nindex={list(range(len(table.rows)))})"


def _concatenation_torr(table: Table) -> str:
    return " ".join(cell for line in (table.header, *table.rows) for cell in line).strip()


def _nl_sep_suc(table: Table) -> str:
    return "".join("|".join(line) + "\n" for line in (table.header, *table.rows))


def _json_suc(table: Table) -> str:
    inner = {
        "header": list(table.header),
        "rows": [list(row) for row in table.rows],
        "caption": table.caption,
    }
    return str({"title": table.title, "context": "", "table": inner})


def _xml_suc(table: Table) -> str:
    names = ["_".join(name.split()) for name in table.header]
    lines = []
    for row in table.rows:
        fields = (f'  <field name="{name}">{cell}</field>' for name, cell in zip(names, row, strict=True))
        lines += ["<item>", *fields, "</item>"]
    return "\n".join(lines)


def _html_suc(table: Table) -> str:
    """What pandas' to_html writes of a data frame of texts: with the numbers of the rows, and blanks at the ends gone."""

    def markup(text: str) -> str:
        for character, written in (("\t", "\\t"), ("\r", "\\r"), ("\n", "\\n")):
            text = text.replace(character, written)
        return escape(text, quote=False).strip()

    lines = ['<table border="1" class="dataframe">', "  <thead>", '    <tr style="text-align: right;">']
    lines += [
        "      <th></th>",
        *(f"      <th>{escape(name, quote=False).strip()}</th>" for name in table.header),
    ]
    lines += ["    </tr>", "  </thead>", "  <tbody>"]
    for index, row in enumerate(table.rows):
        lines += ["    <tr>", f"      <th>{index}</th>", *(f"      <td>{markup(cell)}</td>" for cell in row)]
        lines.append("    </tr>")
    return "\n".join([*lines, "  </tbody>", "</table>"])


def _pipe_lines_freb(table: Table) -> str:
    return "".join(" | ".join(line) + "\n" for line in (table.header, *table.rows))


# -- read as they are meant ----------------------------------------------------------------------------

_BREAK = re.compile(r"\r\n|\r|\n")


def _table(lines: Sequence[Sequence[str]]) -> Table:
    if not lines:
        raise ValueError("there is no header")
    return Table(lines[0], lines[1:])


def _infer_json_torr(text: str) -> Table:
    rows = list(json.loads(text).values())
    header = list(rows[0]) if rows else []
    return Table(header, [list(row.values()) for row in rows])


def _infer_markdown_torr(text: str) -> Table:
    header, _, *rows = [line.removeprefix("|").removesuffix("|").split("|") for line in _BREAK.split(text)]
    return Table(header, rows)


def _infer_indexed_row_major(text: str) -> Table:
    rest = f"{text.removeprefix('col :')} ".removeprefix(" ")
    lines, row_number = [], 1
    while (mark := f" row {row_number} : ") in rest:
        line, _, rest = rest.partition(mark)
        lines.append(line.split(" | "))
        row_number += 1
    last = rest if rest.endswith(" | ") else rest.removesuffix(" ")  # the writer strips the text
    return _table([*lines, last.split(" | ")])


def _infer_dataframe_torr(text: str) -> Table:
    inner, _, index = text.removeprefix("pd.DataFrame({\n").rpartition("},\nindex=")
    columns = json.loads(f"{{{inner}}}")
    rows = zip(*columns.values(), strict=True) if columns else [()] * len(json.loads(index))
    return Table(list(columns), [list(row) for row in rows])


def _infer_lines(separator: str) -> Callable[[str], Table]:
    return lambda text: _table([line.split(separator) for line in _BREAK.split(text)[:-1]])


_FIELD = re.compile(r'  <field name="([^"<&]*)">([^<&\r\x00-\x08\x0b\x0c\x0e-\x1f]*)</field>\n')
_ITEM = re.compile(rf"<item>\n((?:{_FIELD.pattern})*)</item>(?:\n|\Z)")


def _infer_xml_suc(text: str) -> Table:
    items = [_FIELD.findall(item[1]) for item in _ITEM.finditer(text)]
    headers = {tuple(name for name, _ in item) for item in items}
    if _ITEM.sub("", text) or len(headers) != 1:
        raise ValueError("these are not items with the same fields")
    return Table(headers.pop(), [[cell for _, cell in item] for item in items])


def _infer_html_suc(text: str) -> Table:
    head = '<table border="1" class="dataframe">\n  <thead>\n    <tr style="text-align: right;">'
    numbered = read_html("<table>\n<thead>\n<tr>" + text.removeprefix(head))
    return Table(numbered.header[1:], [row[1:] for row in numbered.rows])


def _read_json_suc(text: str) -> Table:
    try:
        data = json.loads(json_of(text.strip()))
        parts = {name: data["table"][name] for name in ("header", "rows", "caption")}
        return Table.from_dict({"title": data["title"], **parts})
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        what = "this is not {'title', 'context', 'table': {'header', 'rows', 'caption'}} in Python"
        raise SerialisationError("json_suc", None, what) from error


# -- the forms ---------------------------------------------------------------------------------------

_UNTOLD = "a cell that contains the separator or a line break looks like several"

PUBLISHED = (
    Serialisation(
        "html_torr",
        "HTML",
        "ToRR, unitxt",
        _html_torr,
        loses="a cell that contains < or & looks like markup",
        safe="html",
        infer=read_html,
    ),
    Serialisation(
        "json_torr",
        "JSON, one object per row",
        "ToRR, unitxt",
        _json_torr,
        loses="of columns with the same header only the last stays, and a table without rows has no header",
        safe="json",
        infer=_infer_json_torr,
    ),
    Serialisation(
        "markdown_torr",
        "Markdown",
        "ToRR, unitxt",
        _markdown_torr,
        loses=_UNTOLD,
        safe="markdown",
        infer=_infer_markdown_torr,
    ),
    Serialisation(
        "indexed_row_major_torr",
        "One line, each row with its number",
        "ToRR, unitxt",
        _indexed_row_major_torr,
        loses="a cell that contains | or “row 2 :” looks like several",
        safe="indexed_row_major",
        infer=_infer_indexed_row_major,
    ),
    Serialisation(
        "dataframe_torr",
        "A data frame in Python, by columns",
        "ToRR, unitxt",
        _dataframe_torr,
        loses="repeated headers get a number",
        safe="dataframe",
        infer=_infer_dataframe_torr,
    ),
    Serialisation(
        "concatenation_torr",
        "Cells joined by spaces",
        "ToRR, unitxt",
        _concatenation_torr,
        loses="where a cell ends, and how many columns there are",
        safe="concatenation",
    ),
    Serialisation(
        "indexed_row_major_tapex",
        "One line, each row with its number, in lower case",
        "TAPEX",
        _indexed_row_major_tapex,
        loses="capitals, and a cell that contains | or “row 2 :” looks like several",
        safe="indexed_row_major",
        infer=_infer_indexed_row_major,
    ),
    Serialisation(
        "nl_sep_suc",
        "Cells separated by |",
        "SUC, released code",
        _nl_sep_suc,
        loses=_UNTOLD,
        safe="nl_sep",
        infer=_infer_lines("|"),
    ),
    Serialisation(
        "json_suc",
        "A Python dictionary",
        "SUC, released code (which calls it JSON)",
        _json_suc,
        _read_json_suc,
        frozenset({"title", "caption"}),
    ),
    Serialisation(
        "xml_suc",
        "XML, one field per cell",
        "SUC, released code",
        _xml_suc,
        loses="spaces in headers become _, <, & and quotation marks are not escaped, and a table without rows is nothing",
        safe="xml",
        infer=_infer_xml_suc,
    ),
    Serialisation(
        "html_suc",
        "HTML as pandas prints it",
        "SUC, released code",
        _html_suc,
        loses="spaces at the ends of cells disappear, a line break looks like \\n, and the rows' numbers look like a column",
        safe="html",
        infer=_infer_html_suc,
    ),
    Serialisation(
        "pipe_lines_freb",
        "Cells separated by a space, | and a space",
        "FREB-TQA A.7, released code",
        _pipe_lines_freb,
        loses=_UNTOLD,
        safe="pipe_lines",
        infer=_infer_lines(" | "),
    ),
)
