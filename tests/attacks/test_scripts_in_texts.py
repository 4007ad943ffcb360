"""Scripts in texts: some hundred payloads in every text that people or files bring; no page takes one for more.

Twice: every page for everybody who may open it is parsed, and one browser opens every page and works at a poisoned table,
under the Content-Security-Policy, which reports what it had to refuse. It has nothing to refuse: texts are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from playwright.sync_api import BrowserContext, expect

from annotation.models import Assignment, Person
from tests.annotation.cast import World, make_world
from tests.annotation.role_table import API, PAGES, Things
from tests.attacks.payloads import MARK, PAYLOADS, SHORT
from tests.attacks.poisoned import poisoned_world
from tests.browser.pages import passes, signed_in, takes_keys
from tests.undone import undone

NewContext = Callable[..., BrowserContext]
RUNS = ("href", "src", "action", "formaction", "data", "srcdoc", "xlink:href")


class ScriptFinder(HTMLParser):
    """What of a page would run, or was made of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._script = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said = dict(attributes)
        address = [(said.get(name) or "").strip().lower().replace("\t", "") for name in RUNS]
        if (
            MARK in said
            or any(name.startswith("on") for name in said)
            or any(one.startswith(("javascript:", "vbscript:", "data:", "blob:", "//")) for one in address)
            or tag in ("style", "base", "iframe", "object", "embed")
            or (tag == "script" and not said.get("src") and "json" not in (said.get("type") or ""))
        ):
            self.found.append(self.get_starttag_text() or tag)


def wrong_in(text: str) -> list[str]:
    looked = ScriptFinder()
    looked.feed(text)
    looked.close()
    return looked.found


def browser(things: Things, who: str) -> Client:
    client = Client(raise_request_exception=True)
    if who != "nobody":
        client.force_login(things.world.people[who])
    return client


@pytest.fixture
def poisoned(world: World) -> tuple[Things, set[str]]:
    return poisoned_world(world)


def test_the_parser_finds_what_would_run() -> None:
    """Else the tests below prove nothing: each payload that is an element is found where it stands as it is."""
    marked = [text for text in PAYLOADS if MARK in text and text.startswith("<") and "\t" not in text]
    assert len(marked) > 25
    assert all(wrong_in(text) for text in marked)
    assert wrong_in("<p>&lt;script&gt;</p><a href='/x'>x</a><script src='/static/a.js'></script>") == []


def test_every_text_has_a_payload(poisoned: tuple[Things, set[str]]) -> None:
    """A field that somebody adds is poisoned too, or is named as one that nobody can write."""
    _, fields = poisoned
    assert len(PAYLOADS) == len(set(PAYLOADS)) > 300
    assert {
        "Project.name",
        "Batch.name",
        "Person.name",
        "Source.name",
        "Source.citation",
        "Source.licence",
        "Release.name",
        "Flag.note",
        "Inquiry.text",
        "Inquiry.answer",
        "CrowdLink.name",
        "CrowdEntry.external_id",
        "ApiToken.name",
        "Invitation.name",
        "Job.error",
        "Adjudication.reason",
    } <= fields


def test_no_page_takes_a_text_for_more_than_text(poisoned: tuple[Things, set[str]]) -> None:
    things, _ = poisoned
    wrong, opened, shown = [], 0, 0
    for who in ("root", "mara", "ivo", "ada", "pat", "nobody"):  # between them, every page
        client = browser(things, who)
        for name, (arguments, may_get, _) in PAGES.items():
            if not may_get or who not in may_get:
                continue
            with undone():
                answer = client.get(reverse(name, args=arguments(things)))
                if answer.get("Content-Type", "").startswith("text/html"):
                    text = answer.content.decode()
                    opened += 1
                    shown += "alert(1)" in text
                    wrong += [f"{name} as {who}: {found[:200]}" for found in wrong_in(text)]
    assert wrong == []
    assert opened > 150
    assert shown > opened // 2  # the payloads are on the pages


def test_a_translation_of_the_guidelines_is_text_too(poisoned: tuple[Things, set[str]]) -> None:
    things, _ = poisoned
    client = browser(things, "ada")
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    for name in ("guidelines", "annotate", "practice"):
        with undone():
            text = client.get(reverse(name, args=PAGES[name][0](things))).content.decode()
        # Managers may write a link to another site; the policy loads no picture from there.
        found = [
            one for one in wrong_in(text) if not re.match(r'<(a href|img src)="(blob:https:)?//example', one)
        ]
        assert found == []
        assert "Auf Deutsch" in text or name == "practice", name


@pytest.mark.parametrize("payloads", [PAYLOADS[::29], pytest.param(PAYLOADS[::7], marks=pytest.mark.slow)])
def test_a_study_file_of_payloads_is_planned_and_refused_as_text(
    poisoned: tuple[Things, set[str]], payloads: Sequence[str]
) -> None:
    """Every text of a study file, and the file's own name, on the page that shows its plan or why there is none."""
    things, _ = poisoned
    mara = browser(things, "mara")
    wrong, shown = [], 0
    for at, payload in enumerate(payloads):
        said = json.dumps(payload)  # JSON is YAML
        study = (
            f"study: 1\nproject:\n  slug: films\n  name: {said}\n"
            f"statement:\n  recruitment: {said}\nconsent: {said}\n"
            f"guidelines:\n  question_type: {said}\npeople:\n  - {{name: {said}, roles: [annotator]}}\n"
        )
        faulty = f"study: 1\nproject:\n  slug: {said}\n  {said}: {said}\n"
        sent: list[dict[str, Any]] = [
            {"text": study},
            {"text": faulty},
            {"file": SimpleUploadedFile(f"{SHORT[at % 40]}.yaml", study.encode())},
            {"text": f"{payload}\n: ["},
        ]
        for data in sent:
            with undone():
                answer = mara.post(reverse("study", args=["films"]), data)
                text = answer.content.decode()
                shown += "alert(1)" in text
                wrong += [f"{data}: {found[:200]}" for found in wrong_in(text)]
    assert wrong == []
    assert shown >= 3 * len(payloads)


PARAMETERS = [
    "page",
    "words",
    "version",
    "against",
    "as",
    "assignment",
    "plain",
    "from",
    "rows",
    "batch",
    "measure",
    "number",
    "kind",
    "run",
    "format",
    "v",
    "variant",
    "example",
    "q",
    "before",
    "until",
    "after",
    "next",
    "name",
    "id",
    "search",
]


def test_no_page_reflects_what_an_address_brings(poisoned: tuple[Things, set[str]]) -> None:
    things, _ = poisoned
    wrong, opened = [], 0
    for who in ("root", "ada", "nobody"):
        client = browser(things, who)
        for at, (name, (arguments, may_get, _)) in enumerate(PAGES.items()):
            if not may_get or who not in may_get:
                continue
            for start in (0, 7):
                asked = {
                    parameter: PAYLOADS[(at * 31 + number * 7 + start) % len(PAYLOADS)]
                    for number, parameter in enumerate(PARAMETERS)
                    if parameter != "as"
                }
                with undone():
                    answer = client.get(reverse(name, args=arguments(things)), asked)
                    assert answer.status_code < 500, (name, asked)
                    if answer.get("Content-Type", "").startswith("text/html"):
                        opened += 1
                        wrong += [
                            f"{name} as {who}: {found[:200]}" for found in wrong_in(answer.content.decode())
                        ]
    for payload in PAYLOADS[:60]:
        answer = Client().get(f"/{payload}")
        wrong += wrong_in(answer.content.decode())
    assert wrong == []
    assert opened > 150


class Fields(HTMLParser):
    """The names of a page's fields."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said = dict(attributes)
        if tag in ("input", "textarea", "select", "button") and (name := said.get("name")):
            self.names.add(name)


def test_no_form_that_is_shown_again_runs_what_was_entered(poisoned: tuple[Things, set[str]]) -> None:
    things, _ = poisoned
    wrong, sent = [], 0
    for who in ("root", "ada", "ivo", "nobody"):
        client = browser(things, who)
        for at, (name, (arguments, may_get, may_post)) in enumerate(PAGES.items()):
            if not (may_get and may_post) or who not in may_get & may_post:
                continue
            with undone():
                address = reverse(name, args=arguments(things))
                fields = Fields()
                fields.feed(client.get(address).content.decode(errors="replace"))
                names = sorted(fields.names - {"csrfmiddlewaretoken"})
                data: dict[str, Any] = {
                    field: PAYLOADS[(at * 13 + number * 5) % len(PAYLOADS)]
                    for number, field in enumerate(names)
                }
                if "questions" in names:
                    data["questions"] = SimpleUploadedFile(f"{SHORT[20]}.tsv", b"<script>alert(1)</script>")
                answer = client.post(address, data)
                assert answer.status_code < 500, (name, data)
                sent += 1
                wrong += [
                    f"{name} as {who}: {found[:200]}"
                    for found in wrong_in(answer.content.decode(errors="replace"))
                ]
    assert wrong == []
    assert sent > 40


def test_what_is_no_page_is_never_taken_for_one(poisoned: tuple[Things, set[str]]) -> None:
    """Files, JSON and problem documents: named as such, and no browser may guess otherwise."""
    things, _ = poisoned
    seen, left = set(), {*PAGES, *API}
    for who in ("root", "rea", "ada"):  # each address by the first of them who may
        client = browser(things, who)
        asked = [
            (name, reverse(name, args=arguments(things)), query)
            for name, (arguments, may_get, _) in PAGES.items()
            if may_get and who in may_get and name in left
            for query in ({}, {"as": "csv"}, {"format": "csv"})
        ]
        asked += [
            (name, reverse(name, args=methods["get"][0](things)), {})
            for name, methods in API.items()
            if "get" in methods and who in methods["get"][2] and name in left
        ]
        left -= {name for name, *_ in asked}
        for _, address, query in asked:
            with undone():
                answer = client.get(address, query)
                kind = answer.get("Content-Type", "")
                assert answer["X-Content-Type-Options"] == "nosniff"
                assert "default-src 'none'" in answer["Content-Security-Policy"]
                if not kind.startswith("text/html") and answer.status_code == 200:
                    seen.add(kind.partition(";")[0])
                    if kind.startswith("text/csv") or "zip" in kind:
                        assert answer["Content-Disposition"].startswith("attachment")
    assert {"application/json", "text/csv"} <= seen


LISTENS = """
  window.ran = [];
  for (const name of ['alert', 'confirm', 'prompt', 'print']) window[name] = (...said) => window.ran.push(name);
  document.addEventListener('securitypolicyviolation', (event) => window.ran.push(event.violatedDirective));
"""
LOOKS = f"""() => {{
  const found = [...window.ran];
  const look = (root) => {{
    for (const element of root.querySelectorAll('*')) {{
      if (element.hasAttribute('{MARK}')) found.push(element.outerHTML.slice(0, 200));
      for (const attribute of element.attributes) {{
        if (attribute.name.startsWith('on')) found.push(element.outerHTML.slice(0, 200));
        const runs = ['href', 'src', 'action', 'formaction', 'data'].includes(attribute.name);
        if (runs && /^\\s*(javascript|vbscript):/i.test(attribute.value))
          found.push(element.outerHTML.slice(0, 200));
      }}
      if (element.shadowRoot) look(element.shadowRoot);
    }}
  }};
  look(document);
  return found;
}}"""


@pytest.fixture
def poisoned_live(transactional_db: None, tmp_path: Any) -> tuple[Things, set[str]]:
    return poisoned_world(make_world(tmp_path))


LEFT_OUT = {
    "healthz",
    "readyz",
    "signing_key",
    "download",
    "data_of",
    "accounting",
    "payments",
    "my_data",
    "evaluations_download",
    "import_rest",
    "explorer_export",
    "figure_file",
    "methods_file",
    "release_methods",
    "crowd_back",
    "home",
}
"""Files, and what is opened otherwise."""


@pytest.mark.console_may_say("the server responded with a status of 4")
def test_in_a_browser_no_payload_runs_and_the_policy_has_nothing_to_refuse(
    poisoned_live: tuple[Things, set[str]], new_context: NewContext, live_server: Any
) -> None:
    things, _ = poisoned_live
    wrong: list[str] = []
    opened = 0
    of_whom: dict[str, list[str]] = {}
    for name, (_, may_get, _) in PAGES.items():
        if may_get and name not in LEFT_OUT:
            who = next(one for one in ("ada", "mara", "ivo", "root", "pat") if one in may_get)
            of_whom.setdefault(who, []).append(name)
    for person, names in of_whom.items():
        context = signed_in(new_context, live_server.url, things.world.people[person])
        context.add_init_script(LISTENS)
        page = context.new_page()
        for name in names:
            page.goto(live_server.url + reverse(name, args=PAGES[name][0](things)), wait_until="load")
            wrong += [f"{name} as {person}: {found}" for found in page.evaluate(LOOKS)]
            opened += 1
        # What would be found is found: else nothing of this proves anything.
        page.evaluate("text => document.body.insertAdjacentHTML('beforeend', text)", f"<b {MARK}>x</b>")
        assert page.evaluate(LOOKS)
    assert wrong == []
    assert opened > 60


@pytest.mark.parametrize("kind", ["value_change", "relevant_cells", "header_synonym"])
def test_in_a_browser_a_poisoned_table_is_drawn_as_text_and_worked_at(
    kind: str, poisoned_live: tuple[Things, set[str]], new_context: NewContext, live_server: Any
) -> None:
    things, _ = poisoned_live
    world = things.world
    variant = {"value_change": "answer_changes"}.get(kind, "")
    batch = world.batch(kind, variant=variant, name=SHORT[30])
    bo: Person = world.bo
    context = signed_in(new_context, live_server.url, bo)
    context.add_init_script(LISTENS)
    page = context.new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    takes_keys(page)
    page.clock.install()
    cells = page.get_by_role("gridcell")
    expect(cells.first).to_be_visible()
    wrong: list[str] = []
    wrong += page.evaluate(LOOKS)
    cells.nth(3).click()
    for text in (SHORT[40], PAYLOADS[1]):
        page.keyboard.press("F2")
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        wrong += page.evaluate(LOOKS)
        page.keyboard.press("ArrowDown")
    passes(page, 600)  # the draft is saved, and its answer shown
    wrong += page.evaluate(LOOKS)
    page.reload()
    takes_keys(page)
    wrong += page.evaluate(LOOKS)
    assert wrong == []
    assert Assignment.objects.filter(batch=batch, person=bo).exists()
