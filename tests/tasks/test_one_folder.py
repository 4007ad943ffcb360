"""A task type is one folder: no other code names it, and its class stays of a size that a person can read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tasks.contract import HERE, task_types
from tests.plugin import ROOT

NAMES = [key for key in task_types() if "_" in key]
"""A key of one word may be a word of a sentence."""
KEYS = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")
CODE = [path for folder in ("annotation", "config", "predictor") for path in (ROOT / folder).rglob("*.py")]
PAGES = [
    path
    for folder, ending in (("templates", "*.html"), ("static/askew", "*.js"), ("static/askew", "*.css"))
    for path in (ROOT / folder).rglob(ending)
]
LONGEST = {ast.ClassDef: 300, ast.FunctionDef: 80}
"""Lines."""


def texts_of(source: str) -> Iterator[str]:
    """The string literals of a module; docstrings may name a task type as an example."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_no_code_outside_of_tasks_names_a_task_type() -> None:
    named = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in CODE
        if "migrations" not in path.parts
        for text in texts_of(path.read_text("utf-8"))
        if KEYS.search(text)
    ]
    assert named == []


def test_no_page_or_script_outside_of_tasks_names_a_task_type() -> None:
    assert len(PAGES) > 100
    assert [str(path.relative_to(ROOT)) for path in PAGES if KEYS.search(path.read_text("utf-8"))] == []


def test_the_search_finds_a_name_in_a_literal_and_not_in_a_docstring() -> None:
    key = NAMES[0]
    assert [text for text in texts_of(f'"""{key}"""\nx = f"{{y}} {key}.label"') if KEYS.search(text)]
    assert not [text for text in texts_of(f'def f():\n    """{key}"""') if KEYS.search(text)]


def test_classes_and_functions_have_a_readable_size() -> None:
    too_long = []
    for path in sorted(HERE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            most = LONGEST.get(type(node), 0)
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and most:
                lines = (node.end_lineno or 0) - node.lineno + 1
                too_long += [f"{path.relative_to(ROOT)}: {node.name}: {lines} lines"] if lines > most else []
    assert too_long == []
