"""Tables as data frames of pandas, and as HTML for notebooks with all text escaped."""

from collections.abc import Callable
from html import escape
from typing import Any, Self

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


class TableForms:
    """What `Table` inherits."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    header_rows: tuple[tuple[str, ...], ...]
    row_ids: tuple[str, ...]
    title: str
    caption: str

    @classmethod
    def from_pandas(cls, frame: Any) -> Self:
        """A table of the columns and rows of a data frame of strings; its index is left out.

        Upper levels of its columns are further header rows, `title` and `caption` those of `frame.attrs`. TableError for a
        cell or name that is not a string: nothing is printed anew.
        """
        names = [name if isinstance(name, tuple) else (name,) for name in frame.columns]
        *above, header = zip(*names, strict=True) if names else [()]
        texts = {name: frame.attrs.get(name, "") for name in ("title", "caption")}
        create: Any = cls
        try:
            return create(header, frame.itertuples(index=False, name=None), header_rows=above, **texts)
        except ValueError as error:
            mend = (
                "Read the file as text, for example pandas.read_csv(path, dtype=str, keep_default_na=False)"
            )
            raise type(error)(f"{error}. {mend}") from None

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` of strings, indexed by row ids; ids of columns and merged cells are left out."""
        import pandas as pd

        frame = pd.DataFrame(list(self.rows), index=list(self.row_ids), columns=range(len(self.header)))
        levels = [*self.header_rows, self.header]
        frame.columns = pd.MultiIndex.from_arrays(levels) if self.header_rows else pd.Index(levels[0])
        frame.attrs = {"title": self.title, "caption": self.caption}
        return frame

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        return table_html(self)
