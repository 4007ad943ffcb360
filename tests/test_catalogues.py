"""The catalogues are complete and written in one way, and templates have no text outside of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import polib
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from annotation.management import catalogues

ROOT = settings.BASE_DIR
FILES = [(language, domain) for language in catalogues.languages() for domain in ("django", "djangojs")]
PLACEHOLDERS = re.compile(r"%\(\w+\)s|%%|\{\w*(?:![rs])?(?::[^}]*)?\}|</?\w+")
REMEDY = "./run manage messages, then translate what is new (docs/translating.md)"


def opened(language: str, domain: str) -> Any:
    return polib.pofile(str(catalogues.po_path(ROOT, language, domain)))


@pytest.fixture(scope="module")
def extracted() -> dict[str, catalogues.Messages]:
    return catalogues.extract(ROOT)


def is_optional(files: Collection[str], language: str, root: Path = ROOT) -> bool:
    """Whether a message is only in folders of task types without guidelines in the language: these are in English there."""
    folders = {Path(*Path(file).parts[:2]) for file in files}
    return bool(folders) and all(
        folder.parent == Path("tasks")
        and (root / folder / "task.py").exists()
        and not (root / folder / f"GUIDELINES.{language}.md").exists()
        for folder in folders
    )


@pytest.mark.parametrize(("language", "domain"), FILES)
def test_every_message_is_translated_and_none_is_a_guess(
    language: str, domain: str, extracted: dict[str, catalogues.Messages]
) -> None:
    files = extracted[domain]
    missing = [entry for entry in opened(language, domain) if not entry.translated()]
    required = [
        entry.msgid
        for entry in missing
        if not is_optional(files.get((entry.msgid, entry.msgid_plural), ()), language)
    ]

    assert required == [], REMEDY
    assert [entry.msgid for entry in opened(language, domain) if "fuzzy" in entry.flags] == []


@pytest.mark.parametrize(("language", "domain"), FILES)
def test_no_message_goes_on_from_another(language: str, domain: str) -> None:
    """Languages order the parts of a sentence differently, so a message is a phrase or a sentence of its own."""
    messages = [text for entry in opened(language, domain) for text in (entry.msgid, entry.msgid_plural)]

    assert [text for text in messages if text.startswith((", ", "; ", ". ", ": "))] == []


@pytest.mark.parametrize(("language", "domain"), FILES)
def test_a_translated_task_type_has_translated_guidelines(
    language: str, domain: str, extracted: dict[str, catalogues.Messages]
) -> None:
    """So a task type is in a language as a whole or not at all, and no guidelines are lost unnoticed."""
    translated = {
        (entry.msgid, entry.msgid_plural) for entry in opened(language, domain) if entry.translated()
    }
    half = {
        file
        for message, files in extracted[domain].items()
        if message in translated and is_optional(files, language)
        for file in files
    }

    assert sorted(half) == [], f"translated messages without GUIDELINES.{language}.md"


def test_a_task_type_is_translated_if_its_guidelines_are(tmp_path: Path) -> None:
    folder = tmp_path / "tasks" / "new"
    folder.mkdir(parents=True)
    (folder / "task.py").touch()
    new, common = "tasks/new/task.py", "tasks/shared/form_fields.py"
    assert is_optional([new], "de", tmp_path)
    assert not is_optional([new, "templates/base.html"], "de", tmp_path)
    assert not is_optional([common], "de", tmp_path)
    assert not is_optional(["tasks/contract/decision_rules.py"], "de", tmp_path)
    (folder / "GUIDELINES.de.md").touch()
    assert not is_optional([new], "de", tmp_path)


@pytest.mark.parametrize(("language", "domain"), FILES)
def test_a_translation_has_the_places_and_the_edges_of_its_message(language: str, domain: str) -> None:
    wrong = []
    for entry in opened(language, domain):
        pairs = [(entry.msgid, entry.msgstr)]
        if entry.msgid_plural:
            pairs = [(entry.msgid, entry.msgstr_plural[0]), (entry.msgid_plural, entry.msgstr_plural[1])]
        for message, translation in pairs:
            if set(PLACEHOLDERS.findall(message)) != set(PLACEHOLDERS.findall(translation)) or edges(
                message
            ) != edges(translation):
                wrong.append((message, translation))

    assert wrong == []


def edges(text: str) -> tuple[bool, bool]:
    return text[:1].isspace(), text[-1:].isspace()


# -- templates --------------------------------------------------------------------------------------

SILENT = re.compile(
    r"<!--.*?-->|<(script|style|svg|code|pre|kbd)\b.*?</\1>"
    r"|\{%\s*comment\b.*?%\}.*?\{%\s*endcomment\s*%\}|\{#.*?#\}"
    r"|\{%\s*blocktranslate\b.*?\{%\s*endblocktranslate\s*%\}"
    r"|\{%\s*block (?:width|body)\s*%\}.*?\{%\s*endblock\s*%\}"
    r"|\{\{.*?\}\}|\{%.*?%\}",
    re.DOTALL,
)
READ_ALOUD = re.compile(r'\b(?:aria-label|title|placeholder|alt|data-label|data-required)="([^"]*)"')
OF_NO_LANGUAGE = {"Askew", "A", "I", "sha256", "CSV", "JSON", "API", "Esc", "Enter", "Space", "h", "Aa"}
"""Words that are the same in every language."""
WITHOUT = {"templates/admin", "templates/evaluating/static.html"}
"""Templates that are in English: Django's admin, and a file that is written for a release."""


def templates() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "templates", "tasks"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout.split()
    return [Path(name) for name in listed if name.endswith(".html") and not name.startswith(tuple(WITHOUT))]


@pytest.mark.parametrize("path", templates(), ids=str)
def test_a_template_says_nothing_outside_the_tags_of_translations(path: Path) -> None:
    spoken = SILENT.sub("\x00", (ROOT / path).read_text("utf-8"))
    aloud = READ_ALOUD.findall(spoken)
    between = re.sub(r"<[^<>]*>", "\x00", spoken).split("\x00")
    words = {
        word
        for text in [*between, *(part for one in aloud for part in one.split("\x00"))]
        for word in re.findall(r"[A-Za-z]+", unentitied(text))
    }

    assert sorted(words - OF_NO_LANGUAGE) == []


def unentitied(text: str) -> str:
    return re.sub(r"&\w+;", " ", text)


# -- extracting -------------------------------------------------------------------------------------


def test_messages_are_extracted_from_every_sort_of_file() -> None:
    python = "gettext('One'); ngettext('a {n}', 'many {n}', n); gettext_noop('Two ' 'parts'); other('no')\n"
    python += "refuse('code', 'No {a}.', a=b); message('a.b', 'So {c}.'); refuse('code', text); words_of('x; y\\n z')"
    template = (
        '{% translate "Here" %}{{ x|default:_("none") }}'
        "{% blocktranslate trimmed count n=x %}{{ n }} row{% plural %}{{ n }} rows{% endblocktranslate %}"
    )
    script = (
        't("Say"); t`From ${a.b(`x`)} to ${c}`; counted(n, "{0} cell", "{0} cells"); count(x.length, "row")'
    )

    assert set(catalogues.in_python(python)) == {
        ("One", ""),
        ("a {n}", "many {n}"),
        ("Two parts", ""),
        ("No {a}.", ""),
        ("So {c}.", ""),
        ("x", ""),
        ("y z", ""),
    }
    assert set(catalogues.in_template(template)) == {("Here", ""), ("none", ""), ("%(n)s row", "%(n)s rows")}
    assert set(catalogues.in_script(script)) == {
        ("Say", ""),
        ("From {0} to {1}", ""),
        ("{0} cell", "{0} cells"),
        ("{0} row", "{0} rows"),
    }


# -- writing ----------------------------------------------------------------------------------------

SENTENCE = (
    "A sentence that is longer than the line at which the default of polib would break it: 78 characters."
)
NEW = [
    (" Begins the file", ""),
    ("Some new sentence", ""),
    ("{0} new row", "{0} new rows"),
    ("~ ends it", ""),
]


@pytest.fixture
def tree(tmp_path: Path, settings: Any) -> Path:
    """A small repository with a message of each domain, and its catalogue; returns its `django.po`."""
    settings.BASE_DIR = tmp_path
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page.html").write_text(f'{{% translate "{SENTENCE}" %}}{{% translate "B" %}}')
    (tmp_path / "static" / "askew").mkdir(parents=True)
    (tmp_path / "static" / "askew" / "page.js").write_text('t("Save")')
    call_command("messages")
    call_command("messages", check=True)
    return catalogues.po_path(tmp_path, "de", "django")


@pytest.mark.parametrize("new", NEW, ids=str)
def test_a_new_message_changes_at_most_six_lines(new: catalogues.Message) -> None:
    path = catalogues.po_path(ROOT, "de", "django")
    messages = {
        (entry.msgid, entry.msgid_plural): {file for file, _ in entry.occurrences}
        for entry in opened("de", "django")
    }
    before = path.read_text("utf-8").splitlines()
    assert new not in messages

    after = str(catalogues.catalogue(path, "de", {**messages, new: {"templates/page.html"}})).splitlines()

    start = next(number for number, line in enumerate(after) if line not in before[number : number + 1])
    size = len(after) - len(before)
    assert after[:start] + after[start + size :] == before
    assert 4 <= size <= 6


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: polib.pofile(str(path), wrapwidth=78).save(),
        lambda path: path.write_text(path.read_text().replace("\n\n#:", "\n\n\n#:")),
        lambda path: path.write_text(path.read_text().replace('msgid "B"', 'msgid "C"')),
        lambda path: path.unlink(),
        lambda path: path.with_name("djangojs.po").unlink(),
        lambda path: (path.parents[3] / "templates" / "page.html").write_text('{% translate "B" %}'),
    ],
    ids=["wrapped", "spaced", "renamed", "missing", "of scripts", "template"],
)
def test_the_check_fails_unless_the_files_are_as_written(damage: Callable[[Path], Any], tree: Path) -> None:
    damage(tree)
    before = tree.read_bytes() if tree.exists() else None

    with pytest.raises(CommandError, match=r"django(js)?\.po: .* Run \./run manage messages"):
        call_command("messages", check=True)

    assert (tree.read_bytes() if tree.exists() else None) == before
    call_command("messages")
    call_command("messages", check=True)


def test_translations_comments_and_plural_rule_are_kept_and_the_header_of_an_editor_is_not(
    tree: Path,
) -> None:
    edited = polib.pofile(str(tree))
    edited.metadata |= {
        "X-Generator": "Poedit",
        "PO-Revision-Date": "today",
        "Plural-Forms": "nplurals=1; plural=0;",
    }
    edited.find("B").msgstr, edited.find("B").tcomment = "Bei", "a preposition"
    edited.append(polib.POEntry(msgid="Gone", msgstr="Weg"))
    edited.save()

    call_command("messages")

    written = polib.pofile(str(tree))
    assert [(entry.msgid, entry.msgstr, entry.tcomment) for entry in written] == [
        (SENTENCE, "", ""),
        ("B", "Bei", "a preposition"),
    ]
    assert written.metadata["Plural-Forms"] == "nplurals=1; plural=0;"
    assert not {"X-Generator", "PO-Revision-Date"} & set(written.metadata)


AVOIDED = (
    r"Überwachungsprotokoll|Aufgabenart|Aufgabenpaket|zurückgestellt|sende[tn]? (?:\w+ )?ab\b|absenden",
    r"\bRelease\b|Verfasser|Empfänger|Teilnehmer|Nur Manager|Administratoren|Tokens\b|\bBytes\b",
    r"\bLabels\b(?! von)|(?<!SPDX-)\bKennung",
)
"""What docs/translating.md has other words for."""


@pytest.mark.parametrize("pattern", AVOIDED)
@pytest.mark.parametrize("domain", ["django", "djangojs"])
def test_german_uses_the_words_of_the_list(domain: str, pattern: str) -> None:
    catalogue = polib.pofile(str(ROOT / "locale" / "de" / "LC_MESSAGES" / f"{domain}.po"))
    texts = [text for entry in catalogue for text in (entry.msgstr, *entry.msgstr_plural.values())]

    assert [text for text in texts if re.search(pattern, text)] == []
