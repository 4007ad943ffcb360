"""Help in crafting by keyboard alone: proposals are used, edited and rejected in few keys, and whose a response is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.help import helping, proposing
from annotation.models import Batch, Handling, Provenance
from tests.browser.pages import annotating, signed_in
from tests.browser.test_kinds_columns import (
    GAMES,
    MEDALS,
    OFFICES,
    Somebody,
    begin,
    names,
    questions,
    responses,
    submitted,
    world,
)
from tests.browser.test_panel import SECTIONS
from tests.waiting import wait_until

__all__ = ["begin", "proposing", "world"]  # the last one registers the job that opening a batch starts
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def helped(world: Any, new_context: Any, live_server: Any) -> Callable[..., tuple[Somebody, Batch]]:
    """Ada at a batch with help over these questions, in their order."""

    def helped(kind: str, *ids: str, help: str = "offered", **more: Any) -> tuple[Somebody, Batch]:
        options = more.pop("options", {})
        source = world.import_written(*questions(*ids))
        batch = world.batch(
            kind, sources=[source], only=list(ids), help=help, help_from={"rules": True}, **more
        )
        if options:
            page = signed_in(new_context, live_server.url, world.ada, **options).new_page()
            page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
        else:
            page = annotating(new_context, live_server.url, world.ada, batch)
        return Somebody(page), batch

    return helped


def has_the_first(ada: Somebody) -> None:
    expect(ada.page.locator(".proposal").first).to_be_focused()


def origins() -> list[str]:
    return list(Provenance.objects.order_by("pk").values_list("origin", flat=True))


def rejections(seconds: float = 5) -> list[list[str]]:
    """What was said of rejected proposals; the page tells it and waits for nothing."""
    rejected = Handling.objects.filter(act="rejected").order_by("pk")
    return [handling.errors for handling in wait_until(lambda: list(rejected.all()), "a rejection", seconds)]


def test_header_synonyms_are_used_as_proposed_and_edited(helped: Any) -> None:
    ada, batch = helped("header_synonym", MEDALS, OFFICES)
    has_the_first(ada)
    ada.finds_the_page_accessible()
    ada.press("Enter")
    expect(ada.page.locator(".proposals [data-part=list] li[data-state=took]")).to_have_count(1)
    assert ada.page.locator("ins, .line[data-state=changed]").count()
    ada.press("Enter")
    first = submitted(ada, batch, 1)
    assert names(first)
    assert ada.keys == 2
    has_the_first(ada)
    ada.press("e")
    expect(ada.page.locator("askew-renames .line.open")).to_be_visible()
    ada.press("Delete", "F2")
    ada.page.locator(".line input[type=text]").fill("Some other name")
    ada.press("Enter")
    expect(ada.page.locator(".line.open ins")).to_contain_text("Some other name")
    ada.press("Control+Enter")
    second = submitted(ada, batch, 2)
    assert "Some other name" in names(second).values()
    assert origins()[0] == "machine"
    assert origins()[1] in ("machine_edited", "human")
    assert Handling.objects.filter(act="took").count() == 2
    assert not ada.loads or ada.loads[-1].endswith("/annotate/")


@pytest.mark.parametrize("kind", ["header_synonym", "column_masking"])
def test_with_proposals_the_panel_still_holds_three_sections_at_most(helped: Any, kind: str) -> None:
    ada, _ = helped(kind, MEDALS, OFFICES)
    has_the_first(ada)
    assert len(ada.page.evaluate(SECTIONS)) <= 3


@pytest.mark.smoke
def test_a_paraphrase_is_used_in_two_keys_edited_or_rejected_with_a_digit(helped: Any) -> None:
    ada, batch = helped("question_paraphrase", MEDALS, OFFICES, GAMES, variant="sentence")
    has_the_first(ada)
    ada.finds_the_page_accessible()
    first = ada.page.locator(".proposal .text").first.inner_text()
    ada.press("Enter", "Enter")
    assert submitted(ada, batch, 1)["question"] == first
    assert ada.keys == 2
    has_the_first(ada)
    ada.press("e")
    area = ada.page.locator("textarea[name=question]")
    expect(area).to_be_focused()
    ada.press("End", "Backspace")
    ada.type(" please.")
    ada.press("Enter")
    edited = submitted(ada, batch, 2)["question"]
    assert edited.endswith(" please.")
    has_the_first(ada)
    ada.press("4")
    expect(ada.page.locator(".proposals [data-part=list] li[data-state=rejected]")).to_have_count(1)
    for _ in range(ada.page.locator(".proposals [data-part=list] li:not([data-state=rejected])").count()):
        ada.press("1")
    expect(area).to_be_focused()
    area.fill("the games: how many of them?")
    ada.press("Enter", "3")
    submitted(ada, batch, 3)
    assert origins() == ["machine", "machine_edited", "human"]
    assert rejections()[0] == ["invented"]


def test_where_proposals_are_filled_in_one_key_accepts(helped: Any) -> None:
    ada, batch = helped("question_paraphrase", MEDALS, OFFICES, variant="sentence", help="filled")
    has_the_first(ada)
    area = ada.page.locator("textarea[name=question]")
    first = ada.page.locator(".proposal .text").first.inner_text()
    expect(area).to_have_value(first)
    ada.press("Enter")
    assert submitted(ada, batch, 1)["question"] == first
    assert ada.keys == 1
    has_the_first(ada)
    second = ada.page.locator(".proposal .text").first.inner_text()
    expect(area).to_have_value(second)
    ada.press("2")
    expect(area).not_to_have_value(second)
    assert rejections() == [["not_asked"]]


def test_what_was_done_with_a_proposal_is_known_before_its_item_is_submitted(
    helped: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first proposal is in the form when the item comes, and a fast hand submits before that is told."""
    handle, submits = helping.handle, threading.Event()

    def slow(**what: Any) -> Handling:
        submits.wait(10)
        return handle(**what)

    monkeypatch.setattr(helping, "handle", slow)
    ada, batch = helped("question_paraphrase", MEDALS, OFFICES, variant="sentence", help="filled")
    has_the_first(ada)
    ada.press("Enter")
    submits.set()
    submitted(ada, batch, 1)
    assert [one.act for one in Handling.objects.all()][:1] == ["took"]


def test_whoever_is_drawn_to_have_no_help_sees_no_proposals(helped: Any) -> None:
    ada, batch = helped(
        "question_paraphrase", MEDALS, OFFICES, GAMES, variant="sentence", unhelped=50, help="filled"
    )
    seen = 0
    for number in range(1, batch.items_count + 1):
        shown = ada.page.locator("askew-proposals").is_visible()
        seen += shown
        if shown:
            has_the_first(ada)
        else:
            expect(ada.page.locator("textarea[name=question]")).to_be_focused()
        ada.page.locator("textarea[name=question]").fill(f"question number {number} in other words?")
        ada.page.locator("[data-field=category] input").first.press("Space")
        ada.press("Control+Enter")
        submitted(ada, batch, number)
    assert Provenance.objects.filter(helped=True).count() == seen


def test_without_scripts_a_proposal_goes_into_the_form_with_a_button(helped: Any) -> None:
    ada, batch = helped(
        "question_paraphrase", MEDALS, variant="sentence", options={"java_script_enabled": False}
    )
    page = ada.page
    first = page.locator(".proposals li p").first.inner_text()
    page.get_by_role("button", name="Use it").first.click()
    expect(page.locator("textarea[name=question]")).to_have_value(first)
    page.locator("button[value=submit]").click()
    expect(page.locator("main")).to_contain_text("All caught up")
    assert responses(batch)[0]["question"] == first
    assert origins() == ["machine"]


def test_beside_proposals_every_key_has_one_meaning(helped: Any) -> None:
    ada, batch = helped("header_synonym", MEDALS, OFFICES)
    has_the_first(ada)
    ada.press("Enter", "Enter")
    submitted(ada, batch, 1)
    has_the_first(ada)
    ada.press("Escape", "o")
    has_the_first(ada)
    ada.press("Escape", "p")
    expect(ada.page.locator("[data-past-words]")).to_contain_text("1 of your last 1.")
    ada.press("f")
    expect(ada.page.locator("[data-past]")).to_be_hidden()
