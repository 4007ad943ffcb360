"""Mutations of Django templates: conditions, included templates, variables and attributes; no texts or translations."""

from __future__ import annotations

import re
from collections.abc import Iterator

TAG = re.compile(r"\{%\s*(?P<name>\w+)\s*(?P<content>.*?)\s*%\}|(?P<variable>\{\{.*?\}\})|\{#.*?#\}")
TRANSLATION = re.compile(r"\{% blocktrans(?:late)?\b.*?\{% endblocktrans(?:late)? %\}", re.DOTALL)
COMMENT = re.compile(r"\{% comment\b.*?\{% endcomment %\}|<!--.*?-->", re.DOTALL)
ELEMENT = re.compile(r"<[a-zA-Z][^<>]*>")
ATTRIBUTE = re.compile(
    r"""(?<=[\s\0])(?:hidden|disabled|required|checked|selected|readonly|multiple|autofocus|open|inert|novalidate
    |formnovalidate|popover|aria-[\w-]+|data-[\w-]+)(?:="[^"]*")?(?=[\s\0/>])""",
    re.VERBOSE,
)


def mutations(source: str) -> list[tuple[int, int, int, str]]:
    """(line from 0, start, end, new text) of every mutation of one line, sorted."""
    left_out = [match.span() for pattern in (TRANSLATION, COMMENT) for match in pattern.finditer(source)]
    mutated = set()
    for start, end, new in [*_changed_tags(source), *_without_attributes(source)]:
        if "\n" in source[start:end] or any(first <= start < last for first, last in left_out):
            continue
        line = source.count("\n", 0, start)
        column = source.rfind("\n", 0, start) + 1
        mutated.add((line, start - column, end - column, new))
    return sorted(mutated)


def _changed_tags(source: str) -> Iterator[tuple[int, int, str]]:
    for match in TAG.finditer(source):
        if match["variable"] or match["name"] == "include":
            yield match.start(), match.end(), ""
        elif match["name"] in ("if", "elif"):
            condition = match["content"]
            yield match.start("content"), match.end("content"), _opposite(condition)


def _opposite(condition: str) -> str:
    """Another condition: `and` for `or`, or the opposite."""
    joined = re.search(r" (and|or) ", condition)
    if joined is not None:
        other = "or" if joined[1] == "and" else "and"
        return condition[: joined.start(1)] + other + condition[joined.end(1) :]
    return condition.removeprefix("not ") if condition.startswith("not ") else f"not {condition}"


def _without_attributes(source: str) -> Iterator[tuple[int, int, str]]:
    bare = TAG.sub(lambda match: "\0" * len(match[0]), source)
    for element in ELEMENT.finditer(bare):
        for attribute in ATTRIBUTE.finditer(bare, element.start(), element.end()):
            yield attribute.start(), attribute.end(), ""


def first_line_of_text(lines: list[str], line: int) -> int:
    """The line (from 1) under which a text of this line is recorded: where the tag before it ends."""
    while line > 1 and not re.search(r"%\}|\}\}|#\}", lines[line - 1]):
        line -= 1
    return line
