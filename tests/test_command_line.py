"""Commands in messages are written as the reader starts the program: `./run` in a clone, `askew` where pip installed it."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tableqa.core.command_line import manage, program

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("annotation", "config", "predictor", "tableqa", "tasks", "templates")
OF_A_CLONE = {
    "annotation/management/commands/messages.py",
    "annotation/management/reference_pages.py",
    "predictor/training",
}
"""What reads files that no wheel has."""
TRAINING = "./run train"
"""Only a clone has this command. Messages for all say so."""


def texts(path: Path) -> Iterator[str]:
    """The texts of a module without docstrings and comments, or a whole template."""
    source = path.read_text("utf-8")
    if path.suffix != ".py":
        yield source
        return
    tree = ast.parse(source)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.value


def product_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = listed.stdout.splitlines()
    return [ROOT / name for name in names if name.endswith((".py", ".html", ".txt")) and "/tests" not in name]


def test_no_message_names_a_command_that_only_a_clone_has() -> None:
    wrong = [
        (path.relative_to(ROOT).as_posix(), text)
        for path in product_files()
        if not path.relative_to(ROOT).as_posix().startswith(tuple(OF_A_CLONE))
        for text in texts(path)
        if "./run " in text and TRAINING not in text
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (("run", "manage.py"), "./run"),
        (("run", "manage.py", "__main__.py"), "askew"),
        (("tableqa/__init__.py",), "askew"),
    ],
    ids=["clone", "platform", "library"],
)
def test_the_program_follows_from_the_folder(tmp_path: Path, files: tuple[str, ...], expected: str) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert program(tmp_path) == expected


def test_a_clone_has_run() -> None:
    assert manage("doctor") == "./run manage doctor"
