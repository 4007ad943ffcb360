"""Check that what people read uses the preferred wording and short sentences: `python -m tests.wording`.

`docs/wording.toml` lists the phrases to avoid with the wording to use, and the limits. Interface strings are the messages
of templates, scripts and modules, the strings of commands and of errors, and the descriptions of the study schema.
Documentation is every page in Markdown outside of code. Guidelines, practice sets, study files and the files of deploy/
are checked for phrases only.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from annotation.management import catalogues

ROOT = Path(__file__).resolve().parent.parent
INTERFACE, DOCS = "interface", "docs"
COMMANDS = "annotation/management/commands/*.py"
MODULES = (
    "run",
    *(f"{package}/**/*.py" for package in ("annotation", "config", "predictor", "tableqa", "tasks")),
)
PRINTING = {"ArgumentParser", "add_argument", "error", "exception", "info", "print", "say", "warning"}
SCHEMA = "docs/study.schema.json"
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")
GUIDELINES = "tasks/*/GUIDELINES.md"
PRACTICE = "tasks/*/practice.json"
CONFIGURATION = ("fixtures/**/*.yaml", "deploy/*/*")

PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#|>]|\d+\.)\s?)")
SENTENCE = {
    "interface": re.compile(r"(?<=[.!?:])[)”\"]*\s+"),
    "docs": re.compile(r"(?<=[.!?:;])[)”\"]*\s+"),  # lists in a sentence are separated by semicolons
}
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}")
WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Text:
    """A piece of prose: where it is, "interface" or "docs", and whether its sentences have a limit."""

    place: str
    kind: str
    words: str
    limited: bool = True

    @cached_property
    def searched(self) -> str:
        """What phrases are looked for in."""
        return PLACEHOLDER.sub("VALUE", self.words).lower()


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
        words = text.searched
        for allowed in self.allow:
            words = words.replace(allowed.lower(), "")
        # Few texts hold a phrase at all: to search each with a pattern of its own takes most of the time of a check.
        held = [phrase for phrase in self.avoid if phrase in words]
        return [phrase for phrase in held if re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", words)]


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
        for sentence in SENTENCE[text.kind].split(text.words):
            length = count_words(sentence)
            if length > limits[text.kind]:
                yield f"{text.place}: {length} words, at most {limits[text.kind]}: “{shorten(sentence)}”. Split it"


def count_words(sentence: str) -> int:
    return sum(bool(WORD.search(word)) for word in sentence.split())


def shorten(words: str) -> str:
    return words if len(words) <= 100 else f"{words[:99]}…"


def interface_texts(root: Path) -> Iterator[Text]:
    """The messages of pages, scripts and the server, of commands and errors, and the descriptions of the study schema."""
    messages: set[str] = set()
    for domain in catalogues.extract(root).values():
        for key, files in domain.items():
            for message in filter(None, key):
                messages.add(message)
                yield Text(", ".join(sorted(files)), INTERFACE, " ".join(message.split()))
    for path in sorted({path for pattern in MODULES for path in root.glob(pattern)}):
        if path.name == "tests.py" or "tests" in path.relative_to(root).parts:
            continue
        strings = string_nodes if path.match(COMMANDS) else printed_nodes
        for line, string in dict.fromkeys(strings(ast.parse(path.read_text("utf-8")))):
            if " " in string.strip() and string not in messages:
                yield Text(f"{path.relative_to(root)}:{line}", INTERFACE, " ".join(string.split()))
    for description in descriptions(json.loads((root / SCHEMA).read_text("utf-8"))):
        yield Text(SCHEMA, INTERFACE, description)


def string_nodes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line number and value of each string literal; a value that an f-string inserts counts as one word."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            parts = [part.value if isinstance(part, ast.Constant) else "VALUE" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def printed_nodes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The string literals of a module that people read without translation: raised, logged, or printed."""
    for node in ast.walk(tree):
        name = ""
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if isinstance(node, ast.Raise) or name in PRINTING:
            yield from string_nodes(node)


def descriptions(schema: object) -> Iterator[str]:
    """Every description and title in a JSON schema."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("description", "title") and isinstance(value, str):
                yield value
            else:
                yield from descriptions(value)
    elif isinstance(schema, list):
        for entry in schema:
            yield from descriptions(entry)


def docs_texts(root: Path) -> Iterator[Text]:
    """Every paragraph, list entry and table row of the documentation and of the guidelines, without code.

    Also the explanations of practice sets, and each line of study files and of the files of deploy/.
    """
    for patterns, limited in ((PAGES, True), ((GUIDELINES,), False)):
        for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
            for number, words in paragraphs(path.read_text("utf-8")):
                prose = limited and not words.startswith("|")
                yield Text(f"{path.relative_to(root)}:{number}", DOCS, words, prose)
    for path in sorted(root.glob(PRACTICE)):
        for exercise in json.loads(path.read_text("utf-8")):
            yield Text(str(path.relative_to(root)), DOCS, exercise.get("why", ""), limited=False)
    for path in sorted(path for pattern in CONFIGURATION for path in root.glob(pattern)):
        for number, words in enumerate(path.read_text("utf-8").splitlines(), 1):
            yield Text(f"{path.relative_to(root)}:{number}", DOCS, words, limited=False)


def paragraphs(markdown: str) -> Iterator[tuple[int, str]]:
    """Line number and prose of each paragraph: blocks of code are left out, and code in a line counts as one word."""
    blank = re.sub(
        r"^(```|~~~).*?^\1", lambda match: "\n" * match[0].count("\n"), markdown, flags=re.M | re.S
    )
    blank = re.sub(
        r"(?<=\n\n)(?:(?: {4}|\t).*\n|\n(?= {4}|\t))+", lambda match: "\n" * match[0].count("\n"), blank
    )
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
