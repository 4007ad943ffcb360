"""A function does one thing, a class is one idea, a file has one subject: each is short enough to be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.plugin import ROOT

FUNCTION, CLASS, FILE = 80, 300, 700
LONG_FILES = {"run"}
"""Starts with nothing installed, so that it has all that it needs in one file."""


def files() -> Iterator[Path]:
    """The Python of the product and of the benchmarks."""
    yield from (ROOT / "run", ROOT / "manage.py")
    for folder in ("annotation", "benchmarks", "config", "predictor", "tableqa", "tasks"):
        for file in ROOT.glob(f"{folder}/**/*.py"):
            if "migrations" not in file.parts and file.name != "tests.py":
                yield file


def test_no_function_and_no_class_is_too_long() -> None:
    long = {
        f"{file.relative_to(ROOT)}:{name}"
        for file in files()
        for name in too_long(ast.parse(file.read_text()))
    }

    assert long == set()


def test_no_file_is_too_long() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in files()}

    assert len(lengths) > 500
    assert {name for name, lines in lengths.items() if lines > FILE} == LONG_FILES


@pytest.mark.parametrize(("lines", "names"), [(80, set()), (81, {"f"})])
def test_a_function_is_measured_from_its_name_to_its_end(lines: int, names: set[str]) -> None:
    code = "\n".join(["@decorated", "def f():", *["    pass"] * (lines - 1)])

    assert too_long(ast.parse(code)) == names


@pytest.mark.parametrize(("lines", "names"), [(300, set()), (301, {"C"})])
def test_a_class_is_measured_likewise(lines: int, names: set[str]) -> None:
    code = "\n".join(["class C:", *["    x = 1"] * (lines - 1)])

    assert too_long(ast.parse(code)) == names


def too_long(tree: ast.Module) -> set[str]:
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1
        > (CLASS if isinstance(node, ast.ClassDef) else FUNCTION)
    }
