"""docs/reference/keys.md names every key of every kind, as the kinds' own forms have them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string

from tasks.contract import Item, TaskType
from tests.tasks.test_contract import KINDS, every_kind, sample

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "keys.md"
VOID = {"input", "br", "img", "hr", "meta", "link"}


class Form(HTMLParser):
    """The keys of a form with what they stand for, as static/askew/keys.js reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._label: list[str] = []
        self._open: dict[str, str | None] | None = None
        self._naming = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "label":
            self._label = []
        if "data-key" in given:
            self._open = given
            if given.get("data-label"):
                self.found.append((given["data-key"] or "", given["data-label"] or ""))
                self._open = None
        self._naming = self._naming + 1 if self._naming and tag not in VOID else self._naming
        if "data-name" in given:
            self._naming = 1

    def handle_endtag(self, tag: str) -> None:
        self._naming = max(0, self._naming - 1)
        if not self._naming and self._label and self._open is not None:
            self.found.append((self._open["data-key"] or "", " ".join("".join(self._label).split())))
            self._open = None
        if tag == "label":
            if self._open is not None:
                self.found.append((self._open["data-key"] or "", self._open.get("value") or ""))
            self._open, self._label = None, []

    def handle_data(self, data: str) -> None:
        if self._naming:
            self._label.append(data)


def keys_of(task: TaskType, item: Item) -> list[tuple[str, str]]:
    """(key, what it does) of the form of a kind, in the order of the form."""
    assignment: dict[str, Any] = task.presented(item)
    context = {"task": task, "item": item, "assignment": assignment, "data": {}, "table": None, "changes": []}
    form = Form()
    form.feed(render_to_string(task.form_template, context))
    return list(dict.fromkeys(form.found))


def lines(task: TaskType) -> list[str]:
    """The rows of the page's table for a kind: one, or one for each variant where they differ."""
    found: dict[str, list[tuple[str, str]]] = {}
    for item in sample(task)["items"]:
        keys = found.setdefault(item.variant, [])
        keys += [key for key in keys_of(task, item) if key not in keys]
    rows: dict[str, list[str]] = {}
    for variant, keys in found.items():
        rows.setdefault(in_words(keys) or "none of its own", []).append(task.variants.get(variant, ""))
    if len(rows) == 1:
        return [f"| {task.title} | {next(iter(rows))} |"]
    return [f"| {task.title}: {'; '.join(variants)} | {keys} |" for keys, variants in rows.items()]


def in_words(keys: list[tuple[str, str]]) -> str:
    """Keys with what they do; the steps of a scale as one range."""
    words: list[str] = []
    for scale, steps in groupby(keys, lambda one: one[1].removesuffix(f" {one[0]}").rstrip(":")):
        several = list(steps)
        first, last = several[0][0].upper(), several[-1][0].upper()
        words.append(f"`{first}` – `{last}` {scale}" if len(several) > 1 else f"`{first}` {several[0][1]}")
    return ", ".join(words)


@every_kind
def test_the_page_of_keys_has_the_keys_of_the_form(task: TaskType) -> None:
    page = PAGE.read_text("utf-8").splitlines()
    wanted = lines(task)
    assert [line for line in wanted if line not in page] == []


def test_the_page_of_keys_names_no_kind_that_there_is_not() -> None:
    """Rows that no form asks for would be promises."""
    wanted = {line for task in KINDS for line in lines(task)}
    section = PAGE.read_text("utf-8").partition("## By task type")[2].partition("\n## ")[0]
    rows = [
        line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| task type")
    ]
    assert sorted(rows) == sorted(wanted)


TABLE_KEYS = Path(__file__).parents[2] / "static" / "askew" / "grid-keys.js"


def test_the_page_of_keys_has_the_keys_of_the_table() -> None:
    """As the dialog of keys shows them: every line of the script that the dialog takes them from."""
    found = re.findall(
        r"\[\[((?:\"[^\"]*\"(?:, )?)+)\],\s*t\(\"([^\"]*)\"\)\]", TABLE_KEYS.read_text("utf-8")
    )
    assert len(found) > 20
    wanted = [f"| {keys.replace(chr(34), '')} | {text} |" for keys, text in found]
    page = PAGE.read_text("utf-8").splitlines()
    assert [line for line in wanted if line not in page] == []
