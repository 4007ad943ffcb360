"""The check of types and lint of scripts (tests/scripts.py)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests import script_types, scripts
from tests.plugin import ROOT

COMMENT = re.compile(r"^\s*//.*$", re.M)


@pytest.mark.parametrize(
    ("comment", "count"),
    [
        ("/** @type {any} */", 1),
        ("/** @param {any} one @param {Promise<any>} other */", 2),
        ("// @ts-expect-error: the browser has it", 1),
        ('/* Whether any cell has it. "any" is a word. */', 0),
    ],
)
def test_what_turns_a_check_off_is_counted(comment: str, count: int) -> None:
    assert len(scripts.UNCHECKED.findall(comment)) == count


def test_scripts_turn_few_checks_off() -> None:
    assert list(scripts.unchecked()) == []


def test_without_node_nothing_is_checked_and_a_build_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.delenv("CI", raising=False)
    assert scripts.main("types") == 0
    assert "Node.js" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    assert scripts.main("types") == 1


def test_scripts_of_every_task_type_have_types() -> None:
    """tsc finds imports of a task type's script in the folders that tsconfig.json names."""
    config = json.loads(COMMENT.sub("", (ROOT / "tsconfig.json").read_text("utf-8")))
    folders = {str(file.parents[1].relative_to(ROOT)) for file in ROOT.glob("tasks/*/static/*/*.js")}
    assert folders <= set(config["compilerOptions"]["rootDirs"])


def test_types_of_the_twins_are_those_of_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script_types.main(["--check"]) == 0
    monkeypatch.setattr(script_types, "ROOT", tmp_path)
    monkeypatch.setattr(script_types, "FILE", tmp_path / "twins.d.ts")
    assert script_types.main(["--check"]) == 1
    assert "tests.script_types" in capsys.readouterr().out
    assert script_types.main([]) == 0
    assert script_types.main(["--check"]) == 0


@pytest.mark.parametrize(
    ("python", "typescript"),
    [
        (tuple[str, ...], "readonly string[]"),
        (tuple[tuple[str, str], ...], "readonly (readonly [string, string])[]"),
        (tuple[int | None, ...], "readonly (number | null)[]"),
        (str | None, "string | null"),
    ],
)
def test_types_of_python_become_types_of_typescript(python: object, typescript: str) -> None:
    assert script_types.typescript(python) == typescript
