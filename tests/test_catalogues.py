"""The catalogues are whole: every message is found, translated, and compiled; no template talks outside of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from annotation import catalogues

polib = pytest.importorskip("polib")

ROOT = settings.BASE_DIR
FILES = [(language, domain) for language in catalogues.languages() for domain in ("django", "djangojs")]
PLACES = re.compile(r"%\(\w+\)s|%%|\{\w*(?:![rs])?(?::[^}]*)?\}|</?\w+")
MEND = "./run manage messages, then translate what is new (docs/translating.md)"


def opened(language: str, domain: str) -> Any:
    return polib.pofile(str(catalogues.po_path(ROOT, language, domain)))


@pytest.fixture(scope="module")
def found() -> dict[str, catalogues.Found]:
    return catalogues.find(ROOT)


def is_optional(places: Collection[str], language: str, root: Path = ROOT) -> bool:
    """Whether a message is only in folders of task types without guidelines in the language: these are in English there."""
    folders = {Path(*Path(place).parts[:2]) for place in places}
    return bool(folders) and all(
        folder.parent == Path("tasks")
        and (root / folder / "task.py").exists()
        and not (root / folder / f"GUIDELINES.{language}.md").exists()
        for folder in folders
    )


@pytest.mark.parametrize(("language", "domain"), FILES)
def test_the_catalogue_has_the_messages_there_are(
    language: str, domain: str, found: dict[str, catalogues.Found]
) -> None:
    written = {(entry.msgid, entry.msgid_plural) for entry in opened(language, domain)}
    said = {key for key, places in found[domain].places.items() if not is_optional(places, language)}

    assert sorted(said - written) == [], f"not in the catalogue: {MEND}"
    assert sorted(written - found[domain].places.keys()) == [], f"said nowhere any more: {MEND}"


@pytest.mark.parametrize(("language", "domain"), FILES)
def test_every_message_is_translated_and_none_is_a_guess(
    language: str, domain: str, found: dict[str, catalogues.Found]
) -> None:
    places = found[domain].places
    missing = [entry for entry in opened(language, domain) if not entry.translated()]
    required = [
        entry.msgid
        for entry in missing
        if not is_optional(places.get((entry.msgid, entry.msgid_plural), ()), language)
    ]

    assert required == [], MEND
    assert [entry.msgid for entry in opened(language, domain) if "fuzzy" in entry.flags] == []


@pytest.mark.parametrize(("language", "domain"), FILES)
def test_a_translated_task_type_has_translated_guidelines(
    language: str, domain: str, found: dict[str, catalogues.Found]
) -> None:
    """So a task type is in a language as a whole or not at all, and no guidelines are lost unnoticed."""
    translated = {
        (entry.msgid, entry.msgid_plural) for entry in opened(language, domain) if entry.translated()
    }
    half = {
        place
        for key, places in found[domain].places.items()
        if key in translated and is_optional(places, language)
        for place in places
    }

    assert sorted(half) == [], f"translated messages without GUIDELINES.{language}.md"


def test_a_task_type_is_translated_if_its_guidelines_are(tmp_path: Path) -> None:
    folder = tmp_path / "tasks" / "new"
    folder.mkdir(parents=True)
    (folder / "task.py").touch()
    new, common = "tasks/new/task.py", "tasks/common/fields.py"
    assert is_optional([new], "de", tmp_path)
    assert not is_optional([new, "templates/base.html"], "de", tmp_path)
    assert not is_optional([common], "de", tmp_path)
    assert not is_optional(["tasks/resolving.py"], "de", tmp_path)
    (folder / "GUIDELINES.de.md").touch()
    assert not is_optional([new], "de", tmp_path)


@pytest.mark.parametrize(("language", "domain"), FILES)
def test_a_translation_has_the_places_and_the_edges_of_its_message(language: str, domain: str) -> None:
    wrong = []
    for entry in opened(language, domain):
        pairs = [(entry.msgid, entry.msgstr)]
        if entry.msgid_plural:
            pairs = [(entry.msgid, entry.msgstr_plural[0]), (entry.msgid_plural, entry.msgstr_plural[1])]
        for message, said in pairs:
            if set(PLACES.findall(message)) != set(PLACES.findall(said)) or edges(message) != edges(said):
                wrong.append((message, said))

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


# -- finding ----------------------------------------------------------------------------------------


def test_messages_are_found_in_every_sort_of_file() -> None:
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
