"""Names of classes, and the names in code that the glossary gives."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.wording import ROOT

PRODUCT = ("annotation", "config", "predictor", "tableqa", "tasks")
IRREGULAR = re.compile(
    "Begun|Bound|Built|Chosen|Cut|Done|Drawn|Found|Given|Gone|Held|Hidden|Kept|Known|Laid|Left|Lent|Lost"
    "|Made|Meant|Met|Paid|Put|Read|Said|Seen|Sent|Set|Shown|Spent|Spread|Taken|Taught|Thrown|Told|Worn|Written"
)
NOUNS = {
    "Encoding",
    "Finding",
    "Heading",
    "Need",
    "Ping",
    "Ranking",
    "Rating",
    "Reading",
    "Sampling",
    "Speed",
}
"""Nouns that end as participles do."""


CLASS = re.compile(r"^ *class _*([A-Z]\w*)", re.MULTILINE)


def sources(*tops: str) -> Iterator[tuple[Path, str]]:
    for top in tops:
        for path in sorted((ROOT / top).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path.relative_to(ROOT), path.read_text("utf-8")


def bare_participles(text: str) -> Iterator[str]:
    for name in CLASS.findall(text):
        has_one_word = re.fullmatch("[A-Z][a-z]+", name)
        if has_one_word and name not in NOUNS and (IRREGULAR.fullmatch(name) or name.endswith(("ed", "ing"))):
            yield name


@pytest.mark.parametrize(
    ("name", "is_participle"),
    [("Looked", True), ("Prepared", True), ("Held", True), ("Rating", False), ("RejectedRecord", False)],
)
def test_a_bare_participle_is_told_from_a_noun(name: str, is_participle: bool) -> None:
    assert list(bare_participles(f"    class {name}:")) == [name] * is_participle


def test_no_class_is_a_bare_participle() -> None:
    classes = [
        f"{path}: {name}"
        for path, text in sources(*PRODUCT, "benchmarks", "tests")
        for name in bare_participles(text)
    ]
    assert classes == []


@cache
def names_in_code() -> tuple[set[str], set[str]]:
    """The classes, and all other names and plain strings of the product's Python."""
    classes: set[str] = set()
    others: set[str] = set()
    for path, text in sources(*PRODUCT):
        others.add(path.stem)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                classes.add(node.name)
            others |= {
                value
                for key in ("id", "arg", "attr", "name")
                if isinstance(value := getattr(node, key, None), str)
            }
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                others.add(node.value)
    return classes, others


def code_names() -> Iterator[str]:
    """What the last column of the glossary's tables has in backticks."""
    for row in (ROOT / "docs" / "glossary.md").read_text("utf-8").splitlines():
        if row.startswith("| **"):
            yield from re.findall("`([^`]+)`", row.rstrip("|").rpartition("|")[2])


@pytest.mark.parametrize("name", sorted(set(code_names())))
def test_each_code_name_of_the_glossary_exists(name: str) -> None:
    classes, others = names_in_code()
    if "/" in name:
        assert any((folder / name).exists() for folder in (ROOT, ROOT / "annotation"))
    else:
        assert name in (classes if name[0].isupper() else others)
