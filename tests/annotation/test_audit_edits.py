"""The command audit_edits: a table, JSON, an exit status, and no database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

ROOT = Path(__file__).resolve().parents[2]


def item(id: str, cell: str, answer: str) -> dict[str, Any]:
    table = {"header": ["Film", "Minutes"], "rows": [["Heat", "170"], ["Alien", cell]], "name": "csv/1.csv"}
    return {"id": id, "question": "which film is longest?", "answers": [answer], "table": table}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A base, an edited file in which one item of two is as the contract asks, and one in which both are."""
    contents = {
        "base": [item("1", "117", "Heat"), item("2", "117", "Heat")],
        "edited": [item("1", "190", "Alien"), item("2", "117.0", "Heat")],
        "fine": [item("1", "190", "Alien"), item("2", "180", "Alien")],
    }
    for name, items in contents.items():
        (tmp_path / f"{name}.json").write_text("".join(f"{json.dumps(one)}\n" for one in items), "utf-8")
    return {name: str(tmp_path / f"{name}.json") for name in contents}


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit status, what the command printed, and what it named as a finding."""
    out = StringIO()
    try:
        call_command("audit_edits", *arguments, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    return 0, out.getvalue(), ""


def test_a_file_without_findings_has_status_0(files: dict[str, str]) -> None:
    status, said, _ = run("--base", files["base"], "--edited", files["fine"], "--contract", "answer_changes")
    assert status == 0
    assert "2 items in both files." in said


def test_findings_are_a_table_and_status_1(files: dict[str, str]) -> None:
    status, said, why = run(
        "--base", files["base"], "--edited", files["edited"], "--contract", "answer_changes"
    )
    assert (status, why) == (1, "1 of 2 items have findings.")
    assert said.splitlines() == [
        "item  changes  answer  findings",
        "2     1        -       cell_format, answer_unchanged, number_reformatted",
        "",
        "code                items  cells  what it says",
        "answer_unchanged    1      -      The answer did not change, but had to.",
        "cell_format         1      -      A new text has a different format from its column.",
        "number_reformatted  1      1      A number has another format but the same value.",
        "",
        "2 items in both files.",
        "2 have one or two changes in a table of the same shape (1 if damage is not counted).",
        "Operations: 2 set_cell.",
        "Answers recomputed: 0.",
    ]


def test_json_has_every_item_and_the_totals(files: dict[str, str]) -> None:
    options = ("--base", files["base"], "--edited", files["edited"], "--contract", "answer_changes", "--json")
    status, said, _ = run(*options)
    assert status == 1
    data = json.loads(said)
    assert set(data) == {"items", "totals"}
    first, second = data["items"]
    assert first == {
        "id": "1",
        "operations": [
            {"op": "set_cell", "row": "r1", "column": "c1", "at": [1, 1], "old": "117", "new": "190"}
        ],
        "changes": ["Row 2, Minutes: 117 becomes 190"],
        "violations": [],
        "answer_difference": "value",
        "computed": None,
    }
    assert [violation["code"] for violation in second["violations"]] == [
        "cell_format",
        "answer_unchanged",
        "number_reformatted",
    ]
    assert all(violation["message"] for violation in second["violations"])
    assert second["answer_difference"] is None
    assert data["totals"]["codes"]["number_reformatted"] == {"items": 1, "cells": 1}


def test_a_subset_lacks_nothing(files: dict[str, str], tmp_path: Path) -> None:
    part = tmp_path / "part.json"
    part.write_text(json.dumps(item("2", "117", "Heat")) + "\n", "utf-8")
    options = ("--base", files["base"], "--edited", str(part), "--contract", "unchanged")
    status, said, _ = run(*options)
    assert status == 1
    assert "only_in_base" in said
    assert run(*options, "--subset")[0] == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "the file cannot be opened"),
        ("no JSON", "this is not JSON"),
        ('{"id": "1"}', "is missing"),
    ],
)
def test_a_file_that_cannot_be_read_is_wrong_use_said_in_one_line(
    files: dict[str, str], tmp_path: Path, content: str | None, said: str
) -> None:
    other = tmp_path / "other.json"
    if content is not None:
        other.write_text(content + "\n", "utf-8")
    status, out, why = run("--base", files["base"], "--edited", str(other), "--contract", "answer_changes")
    assert (status, out) == (2, "")
    assert said in why
    assert "\n" not in why


def test_two_empty_files_are_wrong_use(tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text("", "utf-8")
    status, _, why = run("--base", str(empty), "--edited", str(empty), "--contract", "answer_changes")
    assert (status, why) == (2, "Neither file contains items.")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--contract", "answer_stays"), "--base, --edited"),
        (("--base", "a.json", "--edited", "b.json", "--contract", "any"), "choose from"),
        (
            ("--base", "a.json", "--edited", "b.json", "--contract", "unchanged", "--reader", "x"),
            "choose from",
        ),
    ],
)
def test_wrong_arguments_are_named(wrong: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("audit_edits", *wrong)


def test_it_needs_no_database_and_ends_as_the_interface_says(files: dict[str, str], tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "SECRET_KEY": "of no use here",
        "ASKEW_DATA_DIR": str(tmp_path / "var"),
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }

    def program(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "manage.py"), "audit_edits", *arguments]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, cwd=tmp_path
        )

    both = ("--base", "base.json", "--contract", "answer_changes", "--edited")
    assert program(*both, "fine.json").returncode == 0
    findings = program(*both, "edited.json")
    assert (findings.returncode, findings.stderr) == (
        1,
        "CommandError: 1 of 2 items have findings.\n",
    )
    missing = program(*both, "nowhere.json")
    assert missing.returncode == 2
    assert missing.stderr.count("\n") == 1
    assert program("--base", "base.json").returncode == 2
