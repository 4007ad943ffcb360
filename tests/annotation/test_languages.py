"""Every page speaks the reader's language, and what programs read stays English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from annotation.access.roles import Permission
from annotation.explorer import action_rules, item_actions
from annotation.explorer.action_rules import MOST_ITEMS, Refusal
from annotation.explorer.new_batch import ChosenExamples
from annotation.management import catalogues
from annotation.models import Guidelines, Reading
from annotation.platform import display_text
from annotation.platform.refusals import ActionRefused
from annotation.quality import guidelines
from annotation.templatetags import must_hold
from annotation.web.views import filters
from annotation.workflow import automatic_decisions, projects
from tasks.contract import task_types
from tests.annotation.cast import NOON, World
from tests.annotation.plain_page import PlainPage

GERMAN: Any = {"HTTP_ACCEPT_LANGUAGE": "de-AT,de;q=0.9,en;q=0.5"}
TAG = re.compile(r"<[^>]*>")


@pytest.fixture(autouse=True)
def english_afterwards() -> Iterator[None]:
    """A request leaves its language behind in the thread; the next test begins in English."""
    with translation.override(settings.LANGUAGE_CODE):
        yield
    translation.activate(settings.LANGUAGE_CODE)


@pytest.mark.django_db
def test_the_browser_chooses_until_the_person_does(client: Client) -> None:
    address = reverse("sign_in")

    assert '<html lang="de">' in client.get(address, **GERMAN).content.decode()
    assert '<html lang="en-gb">' in client.get(address, HTTP_ACCEPT_LANGUAGE="fr").content.decode()

    answer = client.post(reverse("set_language"), {"language": "de", "next": address})
    assert answer.status_code == 302
    assert answer["Location"] == address
    assert answer.cookies["django_language"]["httponly"]
    assert '<html lang="de">' in client.get(address).content.decode()


@pytest.mark.django_db
def test_the_choice_of_a_language_leads_back_to_the_page(client: Client) -> None:
    page = PlainPage(client, f"{reverse('sign_in')}?next=/projects/films/")

    page.press("Deutsch")

    assert page.address == f"{reverse('sign_in')}?next=/projects/films/"
    assert page.all("//html/@lang") == ["de"]


@pytest.mark.django_db
def test_the_choice_of_a_language_leads_to_no_other_site(client: Client) -> None:
    answer = client.post(reverse("set_language"), {"language": "de", "next": "https://elsewhere.example/"})

    assert answer["Location"] == "/"


def test_a_program_with_a_token_reads_english_and_the_scripts_of_a_page_the_pages_language(
    world: World, client: Client
) -> None:
    address = reverse("api_next", args=["nowhere"])
    _, secret = projects.make_token(
        person=world.people["ada"],
        project=world.project,
        name="t",
        scopes=[Permission.ANNOTATE],
        now=timezone.now(),
    )
    asked = Client().post(address, HTTP_AUTHORIZATION=f"Bearer {secret}", **GERMAN)
    client.force_login(world.people["ada"])
    shown = client.post(address, **GERMAN)

    assert asked.json()["detail"] == "This page is not available to you."
    assert shown.json()["detail"] == "Diese Seite ist für Sie nicht verfügbar."


def test_the_words_of_the_scripts_are_kept_by_browsers_for_good(client: Client) -> None:
    page = client.get(reverse("sign_in"), **GERMAN).content.decode()
    found = re.search(r'<script src="(/words/de\.js\?v=\w+)" defer', page)
    assert found

    answer = client.get(found[1])

    assert answer["Content-Type"].startswith("text/javascript")
    assert "immutable" in answer["Cache-Control"]
    assert "Abgeben" in answer.content.decode()
    assert client.get(found[1], HTTP_IF_NONE_MATCH=answer["ETag"]).status_code == 304
    assert client.get("/words/xx.js").status_code == 404
    assert "/words/" not in client.get(reverse("sign_in")).content.decode()


# -- guidelines -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(task_types()))
def test_translated_guidelines_have_the_headings_of_the_original(kind: str) -> None:
    task = task_types()[kind]
    headings = re.findall(r"(?m)^#+ ", task.guidelines())

    for language in catalogues.languages():
        if translated := task.guidelines_in(language):
            assert re.findall(r"(?m)^#+ ", translated) == headings
    assert task.guidelines_in("xx") == ""
    assert task.guidelines_in("../de") == ""


def test_guidelines_without_a_translation_are_shown_in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    task = task_types()["question_type"]
    monkeypatch.setattr(type(task), "guidelines_in", lambda self, language: "")
    with translation.override("de"):
        shown = guidelines.localized_guidelines(None, task)

    assert (shown.text, shown.lacking) == (task.guidelines(), True)


def test_people_read_the_managers_text_in_their_language_and_are_told_where_it_is_lacking(
    world: World,
) -> None:
    task = task_types()["question_type"]
    given: dict[str, Any] = {"project": world.project, "task": task, "person": world.mara, "now": NOON}
    first = guidelines.ensure(project=world.project, task=task, now=NOON)
    with translation.override("de"):
        assert guidelines.localized_guidelines(first, task).language == "de"
    only = guidelines.revise(text="# Ours\n", **given)
    both = guidelines.revise(text="# Ours\n", translations={"de": "# Unsere\n"}, **given)

    assert both.number == only.number + 1
    with translation.override("de"):
        assert guidelines.localized_guidelines(both, task) == guidelines.LocalizedGuidelines(
            "# Unsere\n", "de"
        )
        assert guidelines.localized_guidelines(only, task) == guidelines.LocalizedGuidelines(
            "# Ours\n", lacking=True
        )
        assert "gibt es nicht in Ihrer Sprache" in guidelines.localized_html(only, task)
    assert guidelines.localized_guidelines(both, task) == guidelines.LocalizedGuidelines("# Ours\n")


def test_what_was_read_says_in_which_language(world: World, client: Client) -> None:
    world.batch(name="Open")
    guidelines.require_reading(project=world.project, required=True, by=world.mara, now=NOON)
    client.force_login(world.people["ada"])
    address = reverse("guidelines", args=[world.project.slug, "question_type"])
    newest = Guidelines.objects.filter(project=world.project).latest("number")

    client.post(address, {"action": "confirm", "number": newest.number}, **GERMAN)

    assert Reading.objects.get(person=world.people["ada"]).language == "de"


# -- one thing has one name on a page ---------------------------------------------------------------


def test_a_label_has_one_name_on_the_page_of_who_decides(world: World) -> None:
    batch = world.batch(overlap=3, size=1)
    for who, label in (("ada", "extraction"), ("bo", "neither"), ("cy", "unanswerable")):
        world.label(batch, who, label)
    automatic_decisions.resolve_due(now=NOON + timedelta(days=1))
    client = Client(headers={"accept-language": "de"})
    client.force_login(world.ivo)

    page = " ".join(
        unescape(
            client.get(reverse("adjudicate", args=[batch.items.get().public_id])).content.decode()
        ).split()
    )

    assert "(Nachschlagen 1, keines von beiden 1, nicht zu beantworten 1)" in page
    for label in ("Nachschlagen", "Keines von beiden", "Nicht zu beantworten"):
        assert f"<strong>{label}</strong>" in page
    with translation.override("de"):
        task, plain = batch.task(), batch.items.get().plain()
        assert task.describe(task.restore({"label": "neither"}), plain)[0].startswith("Keines von beiden:")


def test_the_log_and_the_accounts_say_times_states_and_kinds_in_german(world: World) -> None:
    batch = world.batch(overlap=3, size=1)
    world.take(batch, "ada")
    client = Client(headers={"accept-language": "de"})
    client.force_login(world.mara)

    log = client.get(reverse("project_log", args=["films"])).content.decode()
    accounts = client.get(reverse("people", args=["films"])).content.decode()

    assert re.search(r'<td class="when">\d+\. \S+ 20\d\d, \d\d:\d\d:\d\d</td>', log)
    assert ">leased<" not in log
    assert '<td class="after">in Arbeit' in log
    assert '<th scope="col" class="n">In Arbeit</th>' in accounts
    assert "Öffnen" not in accounts
    assert "Question type" not in re.sub(r'<a href="[^"]*">[^<]*</a>', "", accounts)
    assert "Art der Frage" in accounts


def test_figures_of_agreement_have_one_form_on_a_german_page(world: World) -> None:
    batch = world.batch(overlap=2)
    for who in ("ada", "bo"):
        for turn in range(4):
            world.label(
                batch, who, "neither" if (who, turn) == ("bo", 0) else ("extraction", "reasoning")[turn % 2]
            )
    client = Client(headers={"accept-language": "de"})
    client.force_login(world.mara)

    page = client.get(reverse("agreement", args=["films"])).content.decode()
    cells = [
        TAG.sub("", cell).strip() for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", page, re.DOTALL)
    ]

    assert any("prozentuale Übereinstimmung" in cell for cell in cells)
    assert not any("percent agreement" in cell for cell in cells)
    assert [cell for cell in cells if re.search(r"\d\.\d", cell)] == []
    assert any(re.fullmatch(r"\d,\d{3}", cell) for cell in cells)
    assert "Etikett" in cells


def test_the_states_of_the_checklist_are_the_same_words_in_the_browser_and_on_the_server() -> None:
    script = (settings.BASE_DIR / "static" / "askew" / "checklist.js").read_text("utf-8")
    [line] = re.findall(r"^const STATES = {(.+)};$", script, re.MULTILINE)

    assert dict(re.findall(r'(\w+): t\("([^"]+)"\)', line)) == must_hold.STATES


@pytest.mark.parametrize(
    ("kept", "english", "german"),
    [
        ("put right", "corrected", "berichtigt"),
        ("must read", "guidelines confirmation required", "Bestätigung der Richtlinien erforderlich"),
        ("given back", "returned", "zurückgegeben"),
    ],
)
def test_codes_are_shown_in_words(kept: str, english: str, german: str) -> None:
    assert display_text.show(kept) == english
    with translation.override("de"):
        assert display_text.show(kept) == german


def test_counts_of_the_explorer_have_the_separator_of_the_readers_language() -> None:
    examples = ChosenExamples((), only=("a",) * 1_204, of="", decided=0, left_out=0)

    def texts() -> list[str]:
        return [
            action_rules.planned_in_words("flag", 1_204),
            action_rules.done_in_words("flag", 1_204),
            action_rules.refused_in_words(Refusal("own"), 1_204),
            examples.in_words(),
            filters.count_text(1_204),
            filters.count_text(10_001),
        ]

    with translation.override("en"):
        assert all(re.search(r"1,204|^10,000\+$", text) for text in texts())
    with translation.override("de"):
        assert all(re.search(r"1\.204|^10\.000\+$", text) for text in texts())


def test_a_selection_that_is_too_large_is_refused_with_the_separator_of_the_readers_language() -> None:
    nobody: Any = None  # the refusal comes before anything is read of the person
    with translation.override("de"), pytest.raises(ActionRefused, match=r"1\.000 Aufgaben"):
        item_actions.apply_action(nobody, "flag", range(MOST_ITEMS + 1), note="Look at it.", now=NOON)
