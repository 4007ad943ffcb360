"""Forms that a program reads: JSON, and a data frame as a line of Python."""

import ast
import json
from typing import Any

from tableqa.data.tables import Table
from tableqa.serialisations.forms import EVERYTHING, Serialisation, SerialisationError, as_dict, excerpt


def _write_json(table: Table) -> str:
    return json.dumps(as_dict(table), ensure_ascii=False)


def _read_json(text: str) -> Table:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise SerialisationError("json", None, f"an object has the name {excerpt(twice)} twice")
        return members

    try:
        return Table.from_dict(json.loads(text, object_pairs_hook=once))
    except json.JSONDecodeError as error:
        raise SerialisationError("json", error.lineno, f"{error.msg}, at character {error.colno}") from error


def _write_dataframe(table: Table) -> str:
    def listed(cells: tuple[str, ...]) -> str:
        return json.dumps(cells, ensure_ascii=False)

    rows = ",\n".join(listed(row) for row in table.rows)
    index = list(range(len(table.rows)))
    return f"pd.DataFrame([\n{rows}],\ncolumns={listed(table.header)},\nindex={index})"


def _read_dataframe(text: str) -> Table:
    name = "dataframe"
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise SerialisationError(name, error.lineno, f"this is not Python ({error.msg})") from error
    except (ValueError, MemoryError) as error:
        raise SerialisationError(name, None, f"this is not Python ({error})") from error
    if not (
        isinstance(call, ast.Call)
        and ast.unparse(call.func) == "pd.DataFrame"
        and len(call.args) == 1
        and [keyword.arg for keyword in call.keywords] == ["columns", "index"]
    ):
        what = "this is not pd.DataFrame([[...], ...], columns=[...], index=[...])"
        raise SerialisationError(name, 1, what)
    header = _texts(call.keywords[0].value)
    if not isinstance(call.args[0], ast.List):
        raise SerialisationError(name, call.args[0].lineno, "the rows are not a list of lists")
    rows = []
    for element in call.args[0].elts:
        rows.append(row := _texts(element))
        if len(row) != len(header):
            what = f"the row has {len(row)} cells, there are {len(header)} columns"
            raise SerialisationError(name, element.lineno, what)
    index = call.keywords[1].value
    if ast.unparse(index) != str(list(range(len(rows)))):
        raise SerialisationError(
            name, index.lineno, f"index is not the numbers of the rows, 0 to {len(rows) - 1}"
        )
    return Table(header, rows)


def _texts(node: ast.expr) -> list[str]:
    cells = []
    for element in node.elts if isinstance(node, ast.List) else [node]:
        if not isinstance(element, ast.Constant) or not isinstance(element.value, str):
            what = f"{excerpt(ast.unparse(element))} is not a list of texts in quotation marks"
            raise SerialisationError("dataframe", element.lineno, what)
        cells.append(element.value)
    return cells


LITERALS = (
    Serialisation("json", "JSON", "ours", _write_json, _read_json, EVERYTHING),
    Serialisation("dataframe", "A data frame in Python", "after ToRR", _write_dataframe, _read_dataframe),
)
