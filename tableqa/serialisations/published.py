"""The forms as the papers' programs write them, with what they lose. They are written, and never read back.

Each is exact for what the program takes: at least one row. (unitxt stops at a table without rows; here it is written.)
"""

import json
from html import escape

from tableqa.serialisations.serialisation import Serialisation
from tableqa.tables import Table


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
    rows = (f"row {number} : {' | '.join(row)}" for number, row in enumerate(table.rows, 1))
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

    def shown(text: str) -> str:
        for character, words in (("\t", "\\t"), ("\r", "\\r"), ("\n", "\\n")):
            text = text.replace(character, words)
        return escape(text, quote=False).strip()

    lines = ['<table border="1" class="dataframe">', "  <thead>", '    <tr style="text-align: right;">']
    lines += [
        "      <th></th>",
        *(f"      <th>{escape(name, quote=False).strip()}</th>" for name in table.header),
    ]
    lines += ["    </tr>", "  </thead>", "  <tbody>"]
    for number, row in enumerate(table.rows):
        lines += ["    <tr>", f"      <th>{number}</th>", *(f"      <td>{shown(cell)}</td>" for cell in row)]
        lines.append("    </tr>")
    return "\n".join([*lines, "  </tbody>", "</table>"])


def _pipe_lines_freb(table: Table) -> str:
    return "".join(" | ".join(line) + "\n" for line in (table.header, *table.rows))


_UNTOLD = "a cell that holds the separator or a line break looks like several"

PUBLISHED = (
    Serialisation(
        "html_torr",
        "HTML",
        "ToRR, unitxt",
        _html_torr,
        loses="a cell that holds < or & looks like markup",
        safe="html",
    ),
    Serialisation(
        "json_torr",
        "JSON, an object a row",
        "ToRR, unitxt",
        _json_torr,
        loses="of columns with one header the last stays, and a table without rows has no header",
        safe="json",
    ),
    Serialisation(
        "markdown_torr", "Markdown", "ToRR, unitxt", _markdown_torr, loses=_UNTOLD, safe="markdown"
    ),
    Serialisation(
        "indexed_row_major_torr",
        "One line, each row with its number",
        "ToRR, unitxt",
        _indexed_row_major_torr,
        loses="a cell that holds | or “row 2 :” looks like several",
        safe="indexed_row_major",
    ),
    Serialisation(
        "dataframe_torr",
        "A data frame in Python, by columns",
        "ToRR, unitxt",
        _dataframe_torr,
        loses="repeated headers get a number",
        safe="dataframe",
    ),
    Serialisation(
        "concatenation_torr",
        "Cells joined by blanks",
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
        loses="capitals, and a cell that holds | or “row 2 :” looks like several",
        safe="indexed_row_major",
    ),
    Serialisation(
        "nl_sep_suc", "Cells parted by |", "SUC, released code", _nl_sep_suc, loses=_UNTOLD, safe="nl_sep"
    ),
    Serialisation(
        "json_suc",
        "A Python dictionary",
        "SUC, released code (which calls it JSON)",
        _json_suc,
        keeps=frozenset({"title", "caption"}),
        loses="it is written with Python's quotation marks, so it is not JSON",
        safe="json",
    ),
    Serialisation(
        "xml_suc",
        "XML, a field a cell",
        "SUC, released code",
        _xml_suc,
        loses="blanks of headers become _, <, & and quotation marks are not escaped, and a table without rows is nothing",
        safe="xml",
    ),
    Serialisation(
        "html_suc",
        "HTML as pandas prints it",
        "SUC, released code",
        _html_suc,
        loses="blanks at the ends of cells go, a line break looks like \\n, and the rows' numbers look like a column",
        safe="html",
    ),
    Serialisation(
        "pipe_lines_freb",
        "Cells parted by a blank, | and a blank",
        "FREB-TQA A.7, released code",
        _pipe_lines_freb,
        loses=_UNTOLD,
        safe="pipe_lines",
    ),
)
