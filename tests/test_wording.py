"""The check of wording finds what docs/wording.toml lists, and nothing in what it allows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import wording
from tests.wording import (
    DOCS,
    INTERFACE,
    ROOT,
    Rule,
    Text,
    check,
    docs_texts,
    has_commit,
    interface_texts,
    long_subjects,
    paragraphs,
    read_rules,
)

LIMITS = {INTERFACE: 5, DOCS: 8, "subject": 20}
RULE = Rule(avoid=("not now",), write="Cancel", allow=("why not now",))


@pytest.mark.parametrize("words", ["Not now", "Choose “not now”.", "not now, please"])
def test_a_phrase_is_found_in_any_case_and_the_failure_says_what_to_write(words: str) -> None:
    [finding] = check(Text("page.html", INTERFACE, words), [RULE], LIMITS)
    assert finding.startswith("page.html: “not now”")
    assert finding.endswith("Write: Cancel")


@pytest.mark.parametrize("words", ["knot now", "not nowhere", "Why not now?"])
def test_parts_of_words_and_allowed_phrases_are_no_findings(words: str) -> None:
    assert list(check(Text("page.html", INTERFACE, words), [RULE], LIMITS)) == []


def test_a_rule_for_the_interface_leaves_the_documentation_alone() -> None:
    rule = Rule(avoid=("not now",), write="Cancel", where=(INTERFACE,))
    assert list(check(Text("README.md:1", DOCS, "not now"), [rule], LIMITS)) == []


def test_each_sentence_has_its_own_limit_by_where_it_is() -> None:
    six = "One two three four five six."
    assert len(list(check(Text("a", INTERFACE, f"{six} One two."), [], LIMITS))) == 1
    assert list(check(Text("a", INTERFACE, "One two three. Four five six."), [], LIMITS)) == []
    assert list(check(Text("a", DOCS, six), [], LIMITS)) == []
    assert list(check(Text("a", DOCS, six * 2, limited=False), [], LIMITS)) == []


def test_code_is_no_prose_and_lists_are_read_entry_by_entry() -> None:
    page = "# Title\n\nFirst `not now`\nline.\n\n```\nnot now\n```\n\n    not now\n\n* One\n* Two [link](not-now.md)\n"
    assert list(paragraphs(page)) == [
        (1, "# Title"),
        (3, "First CODE line."),
        (12, "One"),
        (13, "Two [link]"),
    ]


def test_interface_and_documentation_are_found() -> None:
    places = " ".join(text.place for text in interface_texts(ROOT))
    for part in ("templates/", "static/askew/", "annotation/web/forms/", "annotation/management/commands/"):
        assert part in places
    pages = {text.place.split(":")[0] for text in docs_texts(ROOT)}
    assert {"README.md", "docs/glossary.md", "tasks/value_change/GUIDELINES.md"} <= pages
    assert not [text for text in docs_texts(ROOT) if text.limited and text.place.startswith("tasks/")]


SOURCES = {
    "templates/page.html": "{% load i18n %}{% translate 'PHRASE' %}",
    "static/askew/page.js": 'import { t } from "./words.js";\nt("PHRASE");\n',
    "annotation/web/views/page.py": 'from django.utils.translation import gettext\ngettext("PHRASE")\n',
    "annotation/management/commands/page.py": 'HELP = "PHRASE"\n',
    "predictor/page.py": 'def load(name: str) -> None:\n    raise ValueError(f"{name}: PHRASE")\n',
    "run": 'print("PHRASE")\n',
    "docs/study.schema.json": '{"properties": {"name": {"description": "PHRASE"}}}',
    "README.md": "# Title\n\nPHRASE\n",
    "CHANGELOG.md": "* PHRASE\n",
    "docs/reference/page.md": "| PHRASE | 1 |\n",
    "tasks/page/GUIDELINES.md": "PHRASE\n",
    "tasks/page/practice.json": '[{"why": "PHRASE"}]',
    "fixtures/page.yaml": "# PHRASE\nstudy: 1\n",
    "deploy/systemd/page.service": "# PHRASE\n",
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_kind_of_source_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "study.schema.json").write_text("{}")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(SOURCES[name].replace("PHRASE", "Choose not now."))

    texts = [*interface_texts(tmp_path), *docs_texts(tmp_path)]

    findings = [line for text in texts for line in check(text, [RULE], {INTERFACE: 20, DOCS: 30})]
    assert findings
    assert all(name in line and line.endswith("Write: Cancel") for line in findings)


def test_names_of_placeholders_are_no_words() -> None:
    rule = Rule(avoid=("leased",), write="reserved")
    assert list(check(Text("a", INTERFACE, "%(leased)s items, {leased} slots"), [rule], LIMITS)) == []


def test_semicolons_separate_the_entries_of_a_list_in_documentation_only() -> None:
    listed = "One two three four; five six seven eight; nine."
    assert list(check(Text("a", DOCS, listed), [], LIMITS)) == []
    assert len(list(check(Text("a", INTERFACE, listed), [], LIMITS))) == 1


def test_a_line_that_continues_a_list_is_no_code() -> None:
    assert list(paragraphs("1. One\n    not now\n\n    code\n")) == [(1, "1. One not now")]


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_new_commits_are_checked_by_the_length_of_their_subject(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    git(
        tmp_path,
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "An old subject that is far too long for the limit",
    )
    limits = {**LIMITS, "subjects_after": git(tmp_path, "rev-parse", "HEAD")}
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "Short")
    assert list(long_subjects(tmp_path, limits)) == []
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "Another subject that is too long")
    [finding] = long_subjects(tmp_path, limits)
    assert "32 characters, at most 20" in finding


def test_subjects_are_not_checked_without_the_commit_they_are_counted_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, shallow, archive = tmp_path / "whole", tmp_path / "shallow", tmp_path / "archive"
    archive.mkdir()
    whole.mkdir()
    git(whole, "init", "--quiet")
    git(whole, "commit", "--quiet", "--allow-empty", "-m", "Short")
    limits = {**LIMITS, "subjects_after": git(whole, "rev-parse", "HEAD")}
    for _ in range(2):
        git(whole, "commit", "--quiet", "--allow-empty", "-m", "Another subject that is too long")
    assert len(list(long_subjects(whole, limits))) == 2
    git(tmp_path, "clone", "--quiet", "--depth", "1", whole.as_uri(), str(shallow))
    for folder in (shallow, archive):
        assert list(long_subjects(folder, limits)) == []

    for name in ("interface_texts", "docs_texts"):
        monkeypatch.setattr(wording, name, lambda _: [])  # the texts have tests of their own
    monkeypatch.setattr(wording, "has_commit", lambda *_: False)
    wording.main()
    assert "Subjects of commits are not checked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("message", "accepted"),
    [
        (f"Add {'ä' * 68}", True),
        (f"Add {'ä' * 69}", False),
        (f"Add {'a' * 40}\nand {'b' * 40}", False),
        (f"Add retries\n\n{'A long line of the text below. ' * 5}", True),
        (f"fixup! Add {'a' * 68}", True),
    ],
)
def test_the_hook_refuses_a_commit_that_the_check_would_refuse(
    tmp_path: Path, message: str, accepted: bool
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "wording.toml").write_bytes((ROOT / "docs" / "wording.toml").read_bytes())
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "core.hooksPath", str(ROOT / ".githooks"))

    done = subprocess.run(
        [
            "git",
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "commit",
            "--allow-empty",
            "-m",
            message,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert (done.returncode == 0) == accepted, done.stderr
    assert ("at most 72" in done.stderr) == (not accepted)


def test_the_hook_lets_merges_pass_as_the_check_does(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "wording.toml").write_bytes((ROOT / "docs" / "wording.toml").read_bytes())
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "Start")
    git(tmp_path, "checkout", "--quiet", "-b", "other")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "Short")
    git(tmp_path, "checkout", "--quiet", "main")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "Also short")
    git(tmp_path, "config", "core.hooksPath", str(ROOT / ".githooks"))

    git(tmp_path, "merge", "--quiet", "--no-ff", "-m", f"Merge {'a' * 80}", "other")

    limits = {**LIMITS, "subjects_after": git(tmp_path, "rev-parse", "HEAD~1")}
    assert git(tmp_path, "log", "-1", "--format=%s").startswith("Merge aaa")
    assert list(long_subjects(tmp_path, limits)) == []


def test_the_commit_that_subjects_are_counted_from_is_in_the_history() -> None:
    _, limits = read_rules(ROOT / "docs" / "wording.toml")
    if not (ROOT / ".git").exists() or git(ROOT, "rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("needs the whole history")
    assert has_commit(ROOT, limits["subjects_after"])


def test_the_file_of_phrases_can_be_read() -> None:
    rules, limits = read_rules(ROOT / "docs" / "wording.toml")
    assert limits["interface"] == 20
    assert all(rule.avoid and rule.write for rule in rules)
