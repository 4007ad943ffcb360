"""types/twins.d.ts: the shapes that scripts share with tableqa, from its dataclasses.

.venv/bin/python -m tests.script_types          writes the file
.venv/bin/python -m tests.script_types --check  fails if the file is out of date
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tableqa import Table
from tableqa.cells.text_formats import Format
from tableqa.operations import OPERATIONS, Part
from tableqa.operations.merged_tables import Cells, Line, MergedTable
from tableqa.perturbations.contracts import Contract, Violation
from tests.scripts import ROOT

FILE = ROOT / "types" / "twins.d.ts"
HEAD = "/* Written by `python -m tests.script_types` from the dataclasses of tableqa: change those. */\n\n"
NAMES = {
    Part: "Part", Table: "WholeTable", Format: "TextFormat", Line: "MergedLine", Cells: "MergedCells",
    MergedTable: "MergedTable", Contract: "Contract", Violation: "Violation",
}  # fmt: skip
PLAIN = {str: "string", int: "number", bool: "boolean", NoneType: "null"}
ON_THE_WIRE = {"replacement": "with"}
ONLY_IN_PYTHON = {MergedTable: {"base", "variants"}, Table: {"title", "caption", "spans"}}
FILLED = (Format, Line, Violation, Table)  # the script gives every field a value


def main(arguments: list[str]) -> int:
    """Write the file or compare it; the exit status."""
    text = HEAD + "\n".join(declarations())
    if arguments == ["--check"]:
        is_current = FILE.is_file() and FILE.read_text(encoding="utf-8") == text
        if not is_current:
            print(f"{FILE.relative_to(ROOT)} is out of date: .venv/bin/python -m tests.script_types")
        return 0 if is_current else 1
    FILE.write_text(text, encoding="utf-8")
    return 0


def declarations() -> Iterator[str]:
    """One interface for each dataclass, and the union of the operations."""
    for python, name in NAMES.items():
        yield interface(python, name)
    for name, operation in OPERATIONS.items():
        yield interface(operation, operation.__name__, [f'op: "{name}";'])
    yield f"type Operation = {' | '.join(operation.__name__ for operation in OPERATIONS.values())};\n"


def interface(python: Any, name: str, first: list[str] | None = None) -> str:
    """A dataclass as an interface; fields with a default may be missing, unless scripts fill them."""
    hints, skipped = get_type_hints(python), ONLY_IN_PYTHON.get(python, ())
    lines = first or []
    for field in fields(python):
        if field.name not in skipped:
            is_optional = field.default is not MISSING and python not in FILLED
            key = ON_THE_WIRE.get(field.name, field.name)
            lines.append(f"{key}{'?' if is_optional else ''}: {typescript(hints[field.name])};")
    body = "".join(f"  readonly {line}\n" for line in lines)
    return f"/* {python.__module__}.{python.__name__} */\ninterface {name} {{\n{body}}}\n"


def typescript(python: Any) -> str:
    """The type of a field; lists are readonly, as no table is ever changed."""
    origin, arguments = get_origin(python), get_args(python)
    if origin in (Union, UnionType):
        return " | ".join(typescript(part) for part in arguments)
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin is tuple and arguments[-1] is Ellipsis:
        item = typescript(arguments[0])
        return f"readonly {item}[]" if item.isidentifier() else f"readonly ({item})[]"
    if origin is tuple:
        return f"readonly [{', '.join(typescript(part) for part in arguments)}]"
    if origin in (dict, Mapping):
        key, value = (typescript(part) for part in arguments)
        return f"ReadonlyMap<{key}, {value}>"
    return PLAIN.get(python) or NAMES[python]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
