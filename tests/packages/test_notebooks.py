"""The notebooks and the example of the library's README."""

from __future__ import annotations

import ast
import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.packages.test_wheels import environment, run, wheels  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
from traitlets.config import Config

config = Config({"KernelManager": {"transport": "ipc"}})  # a port of the network may be taken meanwhile
notebook = NotebookClient(nbformat.read(sys.argv[1], 4), config=config).execute()
outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
print(*{kind for output in outputs for kind in output.get("data", ())})
"""
EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def code_of(notebook: Path) -> list[str]:
    """The code of each cell."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    assert not [cell for cell in cells if cell.get("outputs")], "clear the outputs before you commit"
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_the_example_of_the_library_prints_what_its_comments_say() -> None:
    (code,) = EXAMPLE.findall((ROOT / "packages/library/README.md").read_text("utf-8"))
    expected = [line.rpartition("# ")[2] for line in code.splitlines() if "  # " in line]
    assert len(code.splitlines()) <= 10

    with redirect_stdout(StringIO()) as printed:
        exec(compile(code, "README.md", "exec"), {})

    assert printed.getvalue().splitlines() == expected


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_cell_by_cell(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notebook.parent)
    names: dict[str, Any] = {}
    shown = ""
    with redirect_stdout(StringIO()):
        for number, code in enumerate(code_of(notebook), 1):
            statements = ast.parse(code).body
            last = statements.pop() if isinstance(statements[-1], ast.Expr) else None
            exec(compile(ast.Module(statements, []), f"cell {number}", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
                shown += value._repr_html_() if hasattr(value, "_repr_html_") else ""

    assert "<table" in shown


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_with_the_library_alone(
    wheels: dict[str, Path],  # noqa: F811
    notebook: Path,
    tmp_path: Path,
) -> None:
    library = f"askew-tableqa[pandas] @ {wheels['askew_tableqa'].as_uri()}"
    programs = environment(tmp_path / "environment", "3.12", library, "nbclient", "ipykernel")

    kinds = run(programs / "python", "-c", EXECUTE, notebook, folder=notebook.parent)

    assert "text/html" in kinds.split()
