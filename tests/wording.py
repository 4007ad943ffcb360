"""Check that what people read uses the preferred wording and short sentences: `python -m tests.wording`.

`docs/wording.toml` lists the phrases to avoid with the wording to use, and the limits. Interface strings are the messages
of the translation catalogues and what commands print; documentation is every page in Markdown outside of code. Guidelines
are checked for phrases only: they may explain at length.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polib

ROOT = Path(__file__).resolve().parent.parent
INTERFACE, DOCS = "interface", "docs"
CATALOGUES = ("locale/de/LC_MESSAGES/django.po", "locale/de/LC_MESSAGES/djangojs.po")
COMMANDS = "annotation/management/commands/*.py"
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")
GUIDELINES = "tasks/*/GUIDELINES.md"

PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#|>]|\d+\.)\s?)")
SENTENCE = re.compile(r"(?<=[.!?:;])[)”\"]*\s+")
WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Text:
    """A piece of prose: where it is, "interface" or "docs", and whether its sentences have a limit."""

    place: str
    kind: str
    words: str
    limited: bool = True


@dataclass(frozen=True)
class Rule:
    """Phrases to avoid and the wording to use, with phrases that contain one of them and are allowed."""

    avoid: tuple[str, ...]
    write: str
    where: tuple[str, ...] = (INTERFACE, DOCS)
    allow: tuple[str, ...] = ()

    def matches(self, text: Text) -> list[str]:
        """The phrases of this rule that the text uses."""
        if text.kind not in self.where:
            return []
        words = text.words.lower()
        for allowed in self.allow:
            words = words.replace(allowed.lower(), "")
        return [phrase for phrase in self.avoid if re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", words)]


def read_rules(path: Path) -> tuple[list[Rule], dict[str, Any]]:
    """The rules and the limits of a file in the form of docs/wording.toml."""
    content = tomllib.loads(path.read_text("utf-8"))
    rules = [
        Rule(
            avoid=tuple(phrase.lower() for phrase in entry["avoid"]),
            write=entry["write"],
            where=(entry["where"],) if "where" in entry else (INTERFACE, DOCS),
            allow=tuple(entry.get("allow", ())),
        )
        for entry in content["phrase"]
    ]
    return rules, content["limits"]


def check(text: Text, rules: list[Rule], limits: dict[str, Any]) -> Iterator[str]:
    """One line for each phrase to avoid and each sentence that is too long."""
    for rule in rules:
        for phrase in rule.matches(text):
            yield f"{text.place}: “{phrase}” in “{shorten(text.words)}”. Write: {rule.write}"
    if text.limited:
        for sentence in SENTENCE.split(text.words):
            length = count_words(sentence)
            if length > limits[text.kind]:
                yield f"{text.place}: {length} words, at most {limits[text.kind]}: “{shorten(sentence)}”. Split it"


def count_words(sentence: str) -> int:
    return sum(bool(WORD.search(word)) for word in sentence.split())


def shorten(words: str) -> str:
    return words if len(words) <= 100 else f"{words[:99]}…"


def interface_texts(root: Path) -> Iterator[Text]:
    """The messages of pages, scripts and the server, and the strings of commands."""
    for name in CATALOGUES:
        for entry in polib.pofile(str(root / name)):
            places = ", ".join(place for place, _ in entry.occurrences) or name
            for message in filter(None, (entry.msgid, entry.msgid_plural)):
                yield Text(places, INTERFACE, " ".join(message.split()))
    for path in sorted(root.glob(COMMANDS)):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
                yield Text(f"{path.relative_to(root)}:{node.lineno}", INTERFACE, " ".join(node.value.split()))


def docs_texts(root: Path) -> Iterator[Text]:
    """Every paragraph, list entry and table row of the documentation and of the guidelines, without code."""
    for pattern, limited in ((PAGES, True), ((GUIDELINES,), False)):
        for path in sorted({path for one in pattern for path in root.glob(one)}):
            for number, words in paragraphs(path.read_text("utf-8")):
                prose = limited and not words.startswith("|")
                yield Text(f"{path.relative_to(root)}:{number}", DOCS, words, prose)


def paragraphs(markdown: str) -> Iterator[tuple[int, str]]:
    """Line number and prose of each paragraph: blocks of code are left out, and code in a line counts as one word."""
    blank = re.sub(
        r"^(```|~~~).*?^\1", lambda match: "\n" * match[0].count("\n"), markdown, flags=re.M | re.S
    )
    blank = re.sub(r"^(?: {4}|\t).*$", "", blank, flags=re.M)
    start = 0
    for piece in [*PARAGRAPH.finditer(blank), None]:
        end = piece.start() if piece else len(blank)
        words = " ".join(re.sub(r"``[^`]*``|`[^`]*`", "CODE", blank[start:end]).split())
        words = re.sub(r"\]\([^)]*\)", "]", words)
        if words:
            first = start + len(blank[start:end]) - len(blank[start:end].lstrip())
            yield blank.count("\n", 0, first) + 1, re.sub(r"^[-*] ", "", words)
        start = end


def long_subjects(root: Path, limits: dict[str, Any]) -> Iterator[str]:
    """Commits after `subjects_after` whose subject is too long; none if that commit is not in the history of HEAD."""
    if not has_commit(root, limits["subjects_after"]):
        return
    log = git(root, "log", "--no-merges", "--format=%h %s", f"{limits['subjects_after']}..HEAD")
    for line in log.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject) > limits["subject"]:
            yield f"commit {commit}: {len(subject)} characters, at most {limits['subject']}: {subject}"


def has_commit(root: Path, commit: str) -> bool:
    """Whether git knows this commit as an ancestor of HEAD: not in a shallow clone, nor in an unpacked archive."""
    return git(root, "merge-base", "--is-ancestor", commit, "HEAD").returncode == 0


def git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git; status 127 where it is not installed."""
    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return subprocess.CompletedProcess(["git", *arguments], 127, "", "")


def main() -> int:
    """Print each finding; the exit status is 1 if there is one."""
    rules, limits = read_rules(ROOT / "docs" / "wording.toml")
    findings = [
        line
        for texts in (interface_texts(ROOT), docs_texts(ROOT))
        for text in texts
        for line in check(text, rules, limits)
    ]
    findings += long_subjects(ROOT, limits)
    if not has_commit(ROOT, limits["subjects_after"]):
        print(f"Subjects of commits are not checked: {limits['subjects_after']} is not in this clone.")
    for line in findings:
        print(line)
    print(f"{len(findings)} findings (docs/wording.toml says what to write)")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
