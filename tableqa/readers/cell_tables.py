"""Tables whose JSON names the extent of merged cells: the texts and regions of HiTab, and the rows of cells of ToTTo."""

from typing import Any, TypeGuard

from tableqa.core.translation import phrase
from tableqa.data.tables import Span, Table, default_ids
from tableqa.readers.example_parts import table_of
from tableqa.readers.html_tables import Cell, HtmlTableError, table_of_cells
from tableqa.readers.interface import ReaderError
from tableqa.readers.json_values import kind, text_of
from tableqa.readers.record_fields import Fields, Location

_REGION = ("first_row", "last_row", "first_column", "last_column")


def is_hitab(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is an object such as HiTab's: rows of texts beside the regions of merged cells."""
    return isinstance(value, dict) and isinstance(value.get("texts"), list) and "merged_regions" in value


def hitab_table(location: Location, value: dict[str, Any], title: str = "", caption: str = "") -> Table:
    """The table of HiTab's texts. A merged region that leaves the table ends with it, as in HTML. ReaderError."""
    fields = Fields(location, value)
    texts = fields.listed("texts")
    top = fields.integer("top_header_rows_num") if "top_header_rows_num" in fields else 1
    header_lines = max(top, 1)
    if header_lines > len(texts):
        what = phrase(
            "{number} rows are not enough for {top} header rows", number=len(texts), top=header_lines
        )
        raise fields.error("texts", what, phrase("Correct top_header_rows_num"))
    regions = list(fields.nested_each("merged_regions")) if "merged_regions" in fields else []
    row_ids = (*default_ids("h", header_lines - 1), "h", *default_ids("r", len(texts) - header_lines))
    width = len(texts[0]) if isinstance(texts[0], list) else 0
    spans = [span for region in regions if (span := _span(region, row_ids, width))]
    above, rows = texts[: header_lines - 1], texts[header_lines:]
    title = fields.text("title", default="") or title
    return table_of(location, texts[header_lines - 1], rows, title, caption, header_rows=above, spans=spans)


def _span(region: Fields, row_ids: tuple[str, ...], width: int) -> Span | None:
    """The merged cell of a region; None where no other cell of the table is in it."""
    first_row, last_row, first_column, last_column = (region.integer(name) for name in _REGION)
    if min(first_row, first_column) < 0:
        raise region.place.error(phrase("the region begins outside of the table"), phrase("Correct it"))
    rows = min(last_row, len(row_ids) - 1) - first_row + 1
    columns = min(last_column, width - 1) - first_column + 1
    if min(rows, columns) < 1 or rows == columns == 1:
        return None
    return Span(row_ids[first_row], f"c{first_column}", rows, columns)


def is_totto(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a list of rows of cells such as ToTTo's, objects with a value."""
    return (
        isinstance(value, list)
        and any(isinstance(row, list) and row for row in value)
        and all(
            isinstance(row, list) and all(isinstance(cell, dict) and "value" in cell for cell in row)
            for row in value
        )
    )


def totto_table(location: Location, value: list[Any], title: str = "", caption: str = "") -> Table:
    """The table of ToTTo's cells, laid out as a browser does with those of HTML. ReaderError."""
    return _laid_out(location, value, title, caption)[0]


def highlighted_ids(location: Location, value: list[Any], highlighted: object) -> list[list[str]]:
    """ToTTo's highlighted cells, each by its row and its number in it, as [row id, column id]; ReaderError."""
    _, ids = _laid_out(location, value, "", "")
    pairs = highlighted if isinstance(highlighted, list) else []
    if not isinstance(highlighted, list) or not all(_is_pair(pair, ids) for pair in pairs):
        what = phrase("{field} names a cell that the table does not have", field="highlighted_cells")
        raise location.error(what, phrase("It is [row, number of the cell in the row], both counted from 0"))
    return [list(ids[row][index]) for row, index in pairs]


def _is_pair(pair: object, ids: list[list[tuple[str, str]]]) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and all(type(part) is int for part in pair)
        and 0 <= pair[0] < len(ids)
        and 0 <= pair[1] < len(ids[pair[0]])
    )


def _laid_out(
    location: Location, value: list[Any], title: str, caption: str
) -> tuple[Table, list[list[tuple[str, str]]]]:
    rows = [
        [_cell(Fields(location.inside(f"[{i}][{j}]"), cell)) for j, cell in enumerate(row)]
        for i, row in enumerate(value)
    ]
    try:
        return table_of_cells(rows, title, caption)
    except HtmlTableError as error:
        raise location.error(error.what, error.mend) from error


def _cell(fields: Fields) -> Cell:
    text = text_of(fields.value["value"])
    if text is None:
        value_kind = kind(fields.value["value"])
        mend = phrase("Write it in quotes")
        raise fields.error(
            "value", phrase("{field} is {kind}, not a text", field="value", kind=value_kind), mend
        )
    rows, columns = (fields.integer(name) if name in fields else 1 for name in ("row_span", "column_span"))
    return Cell(text, fields.value.get("is_header") is True, max(rows, 1), max(columns, 1))


def without_question(record: Fields) -> ReaderError:
    """What to say of a record of ToTTo, which describes cells and asks nothing."""
    what = phrase("the field {name} is missing: ToTTo has sentences, not questions", name="question")
    return record.error("question", what, phrase("Add the field {name} to each record", name="question"))
