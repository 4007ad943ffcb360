"""Tables as HTML for notebooks; all text is escaped."""

from collections.abc import Callable
from html import escape
from typing import Any

MAX_ROWS_SHOWN = 60


def table_html(
    table: Any, cell: Callable[[str, str, str], str] = lambda row, column, text: escape(text)
) -> str:
    """A `Table` as an HTML table; of a long one the first rows, and how many are left.

    cell: the HTML of a cell or header, from the ids of its row and column and its text. Further header rows have no ids.
    """
    rows = [
        (table.header_id, "th", table.header),
        *((id, "td", row) for id, row in zip(table.row_ids, table.rows, strict=True)),
    ]
    lines = [
        f"<tr>{''.join(f'<th>{escape(text)}</th>' for text in above)}</tr>" for above in table.header_rows
    ]
    for row_id, tag, texts in rows[: MAX_ROWS_SHOWN + 1]:
        cells = (
            f"<{tag}>{cell(row_id, column_id, text)}</{tag}>"
            for column_id, text in zip(table.column_ids, texts, strict=True)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    heading = "<br>".join(escape(text) for text in (table.title, table.caption) if text)
    rest = len(table.rows) - MAX_ROWS_SHOWN
    return f"<table><caption>{heading}</caption>{''.join(lines)}</table>" + (
        f"<p>{rest} more rows</p>" if rest > 0 else ""
    )
