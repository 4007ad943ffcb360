"""No page shows English of ours to somebody who reads German: no sentence, and no message that has a translation.

Texts that people or tables brought are left out: they are in elements with `dir="auto"`, in cells of tables, or are
named below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

import polib
import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.management import catalogues
from tests.annotation.cast import World
from tests.annotation.role_table import PAGES, make_things
from tests.undone import undone

GERMAN: Any = {"HTTP_ACCEPT_LANGUAGE": "de"}
ROLES = ("mara", "ada", "ivo", "rea")
NOT_PAGES = {"healthz", "readyz", "signing_key", "words", "my_data", "data_of"}
PARTS = {"explorer_facets", "batch_items_facets", "explorer_item"}
"""Parts of pages, which scripts put into a page that says its language."""
ENGLISH = re.compile(
    r"\b(?:the|of|and|is|are|not|with|for|has|have|from|this|that|than|others?|which|were|been|becomes|by|it|its|"
    r"row|column|cells?|only|no|none|as|or|but|if|you|your|their|between|where|without|item|items|people)\b",
    re.IGNORECASE,
)
"""Words that nearly every English sentence has, and no German one."""
LEAST = 2
"""A single one may be a name."""
UNREAD = {"script", "style", "code", "pre", "textarea", "kbd"}
SKIPPED = UNREAD | {"option"}
SAME_IN_BOTH = {"Status", "Name", "Format", "Link", "Total", "Filter"}
FREE_TEXTS = {
    # Words that the test's people, or files of the study, wrote themselves and that happen to be messages too.
    "Open", "Closed", "Gold", "wrong", "right", "extraction", "reasoning", "after", "Total", "Minutes",
    "question", "label", "table",
}  # fmt: skip
EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
ALOUD = ("aria-label", "placeholder", "title", "data-label", "data-required", "alt")
THEIRS = re.compile(
    r"„[^“]*“|when did \S+ come out|Panupong Pasupat and Percy Liang|Proceedings of ACL"  # questions, what is cited
)
"""What the people of the test and its sources wrote."""


class Texts(HTMLParser):
    """The texts of a page that are ours, shown or read aloud."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[tuple[str, bool]] = []

    def leaves_out(self, tag: str, given: dict[str, str | None]) -> bool:
        return tag in SKIPPED or given.get("dir") == "auto" or given.get("lang") == "en"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        theirs = self._theirs or self.leaves_out(tag, given)
        if not theirs:
            self.found += [said for name in ALOUD if (said := given.get(name))]
        if tag not in EMPTY:
            self.open.append((tag, theirs))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._theirs:
            self.found.append(data)

    @property
    def _theirs(self) -> bool:
        return bool(self.open) and self.open[-1][1]


def english_in(page: str) -> list[str]:
    """Texts of a page that read like English."""
    reader = Texts()
    reader.feed(page)
    plain = (" ".join(THEIRS.sub("", text).split()) for text in reader.found)
    return sorted({text for text in plain if len(ENGLISH.findall(text)) >= LEAST})


class AllTexts(Texts):
    """Also the texts of people and of options, but not those that are marked as English."""

    def leaves_out(self, tag: str, given: dict[str, str | None]) -> bool:
        return tag in UNREAD or given.get("lang") == "en"


def messages_in(page: str) -> set[str]:
    """Texts of a page that are messages without placeholders, and different in German."""
    reader = AllTexts()
    reader.feed(page)
    return {" ".join(text.split()) for text in reader.found} & translated() - SAME_IN_BOTH - FREE_TEXTS


@cache
def translated() -> set[str]:
    entries = polib.pofile(str(catalogues.po_path(settings.BASE_DIR, "de", "django")))
    return {
        " ".join(entry.msgid.split())
        for entry in entries
        if entry.msgstr not in ("", entry.msgid) and not re.search(r"[{%<&]", entry.msgid)
    }


@pytest.fixture(autouse=True)
def english_afterwards() -> Iterator[None]:
    yield
    translation.activate(settings.LANGUAGE_CODE)


def test_no_page_shows_english_sentences_of_ours_in_german(world: World) -> None:
    things = make_things(world)
    wrong, seen = set(), 0
    for name, (arguments, may_get, _) in PAGES.items():
        if may_get is None or name in NOT_PAGES:
            continue
        address = reverse(name, args=arguments(things))
        roles: list[str | None] = [role for role in ROLES if role in may_get]
        roles = roles or ["root" if "root" in may_get else None]
        for role in roles:
            with undone():
                client = Client()
                if role is not None:
                    client.force_login(world.people[role])
                answer = client.get(address, **GERMAN)
                if role is roles[0] and client.get(address).status_code != answer.status_code:
                    wrong.add(f"{name}: {answer.status_code} in German only")
            if answer.status_code != 200 or "text/html" not in answer["Content-Type"]:
                continue
            seen += 1
            page = answer.content.decode()
            if '<html lang="de">' not in page and name not in PARTS:
                wrong.add(f"{name}: the page does not say that it is in German")
            wrong |= {f"{name}: {text}" for text in [*english_in(page), *messages_in(page)]}

    assert sorted(wrong) == []
    assert seen > 100


STUDY = """study: 1
project: {slug: films, name: Other films, time_zone: Europe/Berlin, caps: {items_per_day: 8}}
consent: Yes.
people: [{name: Neu, roles: [annotator]}]
sources: [{name: elsewhere, reader: jsonl}]
perturbations: [{kinds: [row_shuffle], select: extraction}]
batches:
  - {name: eins, type: question_type, sample: {size: 2, sources: [films-dev]}, gold: {percent: 10}, open: true}
  - {name: zwei, type: question_type, sample: {sources: [nirgends]}, requires: eins}
"""


def test_the_plan_of_a_study_file_and_what_is_wrong_with_it_are_german(world: World) -> None:
    client = Client()
    client.force_login(world.people["mara"])
    address = reverse("study", args=[world.project.slug])
    text = STUDY.replace("slug: films", f"slug: {world.project.slug}")
    wrong = client.post(address, {"text": text, "act": "plan"}, **GERMAN).content.decode()
    plan = client.post(address, {"text": text.replace(", requires: eins", ""), "act": "plan"}, **GERMAN)

    assert "ist kein Qualifikationsstapel" in wrong
    assert english_in(wrong) == []
    page = plan.content.decode()
    assert "Zeitzone: UTC wird zu Europe/Berlin" in page
    assert "Unbekannt: Quelle &#x27;nirgends&#x27;." in page
    assert english_in(page) == []


def test_what_looks_like_english_is_told_from_what_people_wrote() -> None:
    assert english_in("<p>The table has no column.</p>") == ["The table has no column."]
    assert english_in('<p title="of the row">Zeile</p>') == ["of the row"]
    assert english_in('<p dir="auto">Which of the teams is not there?</p><p>Die Tabelle<br>ist da.</p>') == []
    assert english_in("<p>Panupong Pasupat and Percy Liang</p><code>the of</code>") == []
