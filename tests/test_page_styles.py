"""Each page loads the style sheets with the rules of its parts: of what it has itself, and of what its scripts make."""

from __future__ import annotations

import posixpath
import re
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.finders import find
from django.test import Client

from benchmarks.browser_data import over_its_sample
from tasks.contract import task_types
from tests.annotation.cast import World
from tests.modules.pages.prediction import film_years, model

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ROOT / "templates"
OF_PAGES = {"adjudicate.css", "board.css", "charts.css", "explorer.css", "standalone.css"}
"""Sheets for some pages alone, whose rules are for these even where other pages have parts with the same classes."""
SHEETS = sorted({path.name for path in (ROOT / "static" / "askew").glob("*.css")} - OF_PAGES)
OF_MODULES = {
    "comparison.css": "askew/comparing.js",
    "later.css": "askew/later.js",
    "columns.css": "askew/columns.js",
}
"""Sheets for what only this module makes: other modules have some of its classes, for something else."""
ELSEWHERE = {
    "pages.css: .display-button > .sr",
    "pages.css: .display-button::before",
    "pages.css: .prose :is(th, td)",
    "pages.css: .row[role=search] > button",
    "pages.css: .told > .feedback",
    "judging.css: .panel .ends",
    "judging.css: .at-work [data-laid] .panel :is(section, askew-pair):has(> [data-due])",
    "judging.css: [data-due] legend > .sr",
}
"""What pages of annotating do without: rules of pages for managers, of scales, and of forms with several questions."""
COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*$", re.DOTALL | re.MULTILINE)
OURS = ("askew/", *(f"{key}/" for key in task_types()))
PART = re.compile(r'{% (?:extends|include) "([^"]+)"')
TAG = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}", re.DOTALL)
AT = re.compile(r"@(?:import|charset)[^;]*;")
RULE = re.compile(r"([^{};]+)\{")
HOOK = re.compile(r"\.([a-z][\w-]*)|\[(data-[\w-]+)|(?<![\w.#\[=-])(askew-[\w-]+)")
INNER = r"\(([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*)\)"
NEGATED, ANY = re.compile(":not" + INNER), re.compile(":(?:is|where|has)" + INNER)
IMPORT = re.compile(r'^import (?:[^"]*? from )?"([^"]+)"', re.MULTILINE)
DEMANDED = re.compile(r'import\("([^"]+)"\)')
SHEET = re.compile(r'<link rel="stylesheet" href="/static/askew/([\w-]+\.css)"')
SOURCE = re.compile(r'<script [^>]*src="/static/([^"]+)"')
CLASSES = re.compile(
    r'className[:=] *[^,}]*|classList\.\w+\([^)]*|(?:classes|names) = \[.*|openDialog\("[^"]*"'
)
WORDS = re.compile(r'["`]([a-z][\w -]*)')
DATASET = re.compile(r"dataset: \{([^}]*)\}|dataset\.(\w+)")


def hooks(selector: str) -> list[set[str]]:
    """The classes, data attributes and elements of ours that a selector needs, in each way in which it can match."""
    selector = NEGATED.sub("", selector)
    ways = [{name for match in HOOK.findall(ANY.sub("", selector)) for name in match if name}]
    for options in ANY.findall(selector):
        inner = [way for option in parts(options) for way in hooks(option)]
        ways = [way | option for way in ways for option in inner]
    return ways


def parts(selectors: str) -> list[str]:
    """The selectors of a list, split at commas outside brackets."""
    found, depth = [""], 0
    for sign in selectors:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and not depth:
            found.append("")
        else:
            found[-1] += sign
    return [part.strip() for part in found if part.strip()]


@cache
def rules(sheet: str) -> tuple[tuple[str, tuple[frozenset[str], ...]], ...]:
    """(selector, what it needs in each way) of a sheet itself."""
    text = AT.sub("", COMMENT.sub("", (ROOT / "static" / "askew" / sheet).read_text("utf-8")))
    selectors = [part for rule in RULE.findall(text) if "@" not in rule for part in parts(rule)]
    return tuple((selector, tuple(map(frozenset, hooks(selector)))) for selector in selectors)


@cache
def with_imported(sheet: str) -> frozenset[str]:
    """A sheet and those that it imports."""
    text = (ROOT / "static" / "askew" / sheet).read_text("utf-8")
    imported = re.findall(r'@import url\("([\w-]+\.css)"\)', text)
    return frozenset({sheet}).union(*map(with_imported, imported))


@cache
def script(path: str) -> str:
    """The code of a module, by its path below the static files."""
    source = find(path)
    assert isinstance(source, str), path
    return COMMENT.sub("", Path(source).read_text("utf-8"))


def imported(paths: set[str], *patterns: re.Pattern[str]) -> set[str]:
    """These modules, and those that they import in such ways."""
    known: set[str] = set()
    while paths:
        known |= paths
        paths = {
            posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            for path in paths
            for pattern in patterns
            for name in pattern.findall(script(path))
        } - known
    return known


def made_by(path: str) -> set[str]:
    """The classes, data attributes and elements of ours that a module makes."""
    code = script(path)
    words = {
        word for part in CLASSES.findall(code) for names in WORDS.findall(part) for word in names.split()
    }
    words |= {*re.findall(r"data-[\w-]+", code), *re.findall(r"askew-[a-z-]+", code)}
    keys = {
        key for entries, key in DATASET.findall(code) for key in [key, *re.findall(r"(\w+):", entries)] if key
    }
    return words | {"data-" + re.sub(r"[A-Z]", lambda match: "-" + match[0].lower(), key) for key in keys}


def written_in(html: str) -> set[str]:
    """The same, of a page as the server sends it."""
    classes = {name for names in re.findall(r'class="([^"]*)"', html) for name in names.split()}
    return classes | set(re.findall(r"\s(data-[\w-]+)", html)) | set(re.findall(r"<(askew-[\w-]+)", html))


def lost(html: str) -> list[str]:
    """The rules for what a page has that are in no sheet that it loads, be it on demand."""
    loaded = set().union(*map(with_imported, SHEET.findall(html)))
    sources = {path for path in SOURCE.findall(html) if path.startswith(OURS)}
    modules = imported(sources, IMPORT, DEMANDED)
    used = written_in(html).union(*map(made_by, modules))
    missing = {
        f"{sheet}: {selector}"
        for sheet in SHEETS
        if sheet not in loaded and OF_MODULES.get(sheet, "") in {"", *modules}
        for selector, ways in rules(sheet)
        if any(way and way <= used for way in ways)
    }
    return sorted(missing - ELSEWHERE)


@cache
def assembled(template: str) -> str:
    """The text of a template with what it extends and includes, and the elements of its sheets and scripts."""
    texts: dict[str, str] = {}
    names = {template}
    while names:
        texts |= {name: (TEMPLATES / name).read_text("utf-8") for name in names}
        parts = {name for text in texts.values() for name in PART.findall(text)} - texts.keys()
        names = {name for name in parts if (TEMPLATES / name).is_file()}
    text = re.sub(r"{% static '([^']+)' %}", r"/static/\1", "".join(texts.values()))
    return re.sub(r'{% scripts "([\w-]+)" %}', r'<script src="/static/askew/\1.js"></script>', text)


def is_page(template: str) -> bool:
    text = assembled(template)
    return (
        "<!doctype html>" in text
        and "annotating/_scripts.html" not in text
        and not template.startswith(("admin/", "evaluating/static"))
    )


@pytest.mark.parametrize(
    "template",
    [name for path in sorted(TEMPLATES.rglob("*.html")) if is_page(name := str(path.relative_to(TEMPLATES)))],
)
def test_a_page_loads_the_rules_of_its_parts(template: str) -> None:
    assert lost(TAG.sub(" ", assembled(template))) == []


@pytest.mark.django_db
@pytest.mark.parametrize("key", sorted(task_types()))
def test_a_page_on_which_a_response_is_entered_loads_the_rules_of_its_parts(
    world: World, client: Client, key: str
) -> None:
    task = task_types()[key]
    with model(film_years) if task.predicts else nullcontext():
        for variant in task.variants or [""]:
            terms: dict[str, Any] = {"loop_model": "small"} if task.predicts else {}
            batch = over_its_sample(world, task, variant, **terms)
            address = f"/batches/{batch.public_id}/annotate/"
            exercises = f"/projects/films/practice/{key}/?variant={variant}"
            client.force_login(
                world.ada
            )  # a session of its own: one that has come to a plain page stays with it
            for page in (address, exercises, f"{address}?plain=1"):
                assert lost(client.get(page).content.decode()) == [], page
