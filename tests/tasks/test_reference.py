"""The reference lists what the code declares; `./run manage reference` writes its tables."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotation.management import reference_pages
from annotation.models.batch_options import TERMS
from tasks.contract import TaskType, task_types
from tasks.contract.decision_rules import RULES
from tests.plugin import ROOT
from tests.tasks.test_contract import every_kind

FOLDER = ROOT / "docs" / "reference"
PAGES = sorted({page for page, _ in reference_pages.TABLES})
OF_TASK_TYPES = [
    page for page in PAGES if page not in ("batch-options.md", "commands.md", "release-format.md")
]
KEYS = (FOLDER / "keys.md").read_text("utf-8")
TABLE_KEYS = ROOT / "static" / "askew" / "grid-keys.js"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_tables_that_the_declarations_make(page: str) -> None:
    text = (FOLDER / page).read_text("utf-8")
    assert reference_pages.generated(page, text) == text, f"{page} is out of date: run ./run manage reference"


def test_a_task_type_of_another_package_is_not_in_the_reference(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    task = next(iter(task_types().values()))
    elsewhere: Any = type("Elsewhere", (type(task),), {"key": "elsewhere", "folder": lambda self: tmp_path})()
    monkeypatch.setattr(reference_pages, "task_types", lambda: {**task_types(), "elsewhere": elsewhere})
    for page in OF_TASK_TYPES:
        assert "`elsewhere`" not in reference_pages.generated(page, (FOLDER / page).read_text("utf-8"))


def copy_pages(folder: Path) -> None:
    """Write current pages to the folder, also where those of docs/reference/ are out of date."""
    for page in PAGES:
        (folder / page).write_text(
            reference_pages.generated(page, (FOLDER / page).read_text("utf-8")), "utf-8"
        )


def test_a_changed_task_type_changes_the_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy_pages(tmp_path)
    assert reference_pages.write(tmp_path) == []
    monkeypatch.setattr(reference_pages, "task_types", dict)
    assert [path.name for path in reference_pages.write(tmp_path)] == OF_TASK_TYPES


def test_a_new_decision_rule_is_in_the_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy_pages(tmp_path)
    newer = replace(
        RULES["mean"], name="median", says="The median of all scores.", options={"least": {"default": 2}}
    )
    monkeypatch.setattr(reference_pages, "RULES", {**RULES, "median": newer})

    assert [path.name for path in reference_pages.write(tmp_path)] == ["resolve-rules.md"]

    text = (tmp_path / "resolve-rules.md").read_text("utf-8")
    assert "| `median` | scales | The median of all scores. | `least` (`2`) |" in text


def test_a_changed_option_changes_its_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy_pages(tmp_path)
    monkeypatch.setattr(TERMS["must_practise"], "help", "Annotators practise.")
    monkeypatch.setattr(TERMS["caps"], "changeable", "never")

    assert [path.name for path in reference_pages.write(tmp_path)] == ["batch-options.md"]

    text = (tmp_path / "batch-options.md").read_text("utf-8")
    assert "| Practice first | Annotators practise. | until the batch closes |" in text
    assert re.search(r"\| Limits per person \| [^|]* \| never \|", text)


def test_the_page_of_options_has_every_term_twice() -> None:
    """Among the names and values, and among the changes. Counts of one batch are in no effect."""
    text = (FOLDER / "batch-options.md").read_text("utf-8")
    for term in TERMS.values():
        assert text.count(f"\n| {term.label} | ") == 2, term.name
        assert f"| `{term.name}` | `{'.'.join(term.path)}`" in text
    assert "{" not in text.partition("<!-- generated: changes -->")[2]


def test_a_page_without_its_marker_is_refused() -> None:
    with pytest.raises(ValueError, match="marker"):
        reference_pages.generated("api.md", "# A page")


@every_kind
def test_what_a_sample_sends_is_among_the_fields(task: TaskType) -> None:
    names = {field.name for field in task.fields}
    for good in json.loads((task.folder() / "sample.json").read_text("utf-8"))["good"]:
        assert good["data"].keys() <= names


def test_the_page_of_keys_has_the_keys_of_the_table() -> None:
    """As the dialog of keys shows them: every line of the script that the dialog takes them from."""
    lines = re.findall(
        r"\[\[((?:\"[^\"]*\"(?:, )?)+)\],\s*t\(\"([^\"]*)\"\)\]", TABLE_KEYS.read_text("utf-8")
    )
    assert len(lines) > 20
    rows = [f"| {keys.replace(chr(34), '')} | {text} |" for keys, text in lines]
    assert [row for row in rows if row not in KEYS.splitlines()] == []
