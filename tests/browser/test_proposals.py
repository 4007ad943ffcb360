"""Help in crafting by keyboard alone: proposals are used, edited and rejected in few keys, and whose a response is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.assistance import proposals
from annotation.models import Batch, ProposalReaction, Provenance
from tests.browser.pages import annotating
from tests.browser.test_kinds_columns import (
    GAMES,
    MEDALS,
    OFFICES,
    Somebody,
    begin,
    names,
    submitted,
    world,
)
from tests.browser.test_panel import SECTIONS
from tests.modules.pages.columns import questions
from tests.waiting import wait_until

__all__ = ["begin", "proposals", "world"]  # the last one registers the job that opening a batch starts
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def helped(world: Any, new_context: Any, live_server: Any) -> Callable[..., tuple[Somebody, Batch]]:
    """Ada at a batch with help over these questions, in their order."""

    def helped(kind: str, *ids: str, help: str = "offered", **more: Any) -> tuple[Somebody, Batch]:
        source = world.import_written(*questions(*ids))
        batch = world.batch(
            kind, sources=[source], only=list(ids), help=help, help_from={"rules": True}, **more
        )
        return Somebody(annotating(new_context, live_server.url, world.ada, batch)), batch

    return helped


def has_the_first(ada: Somebody) -> None:
    expect(ada.page.locator(".proposal").first).to_be_focused()


def origins() -> list[str]:
    return list(Provenance.objects.order_by("pk").values_list("origin", flat=True))


def rejections(seconds: float = 5) -> list[list[str]]:
    """What was said of rejected proposals; the page tells it and waits for nothing."""
    rejected = ProposalReaction.objects.filter(act="rejected").order_by("pk")
    return [reaction.errors for reaction in wait_until(lambda: list(rejected.all()), "a rejection", seconds)]


def test_header_synonyms_are_used_as_proposed_and_edited_and_the_panel_holds_three_sections(
    helped: Any,
) -> None:
    ada, _ = helped("column_masking", MEDALS, OFFICES)
    has_the_first(ada)
    assert len(ada.page.evaluate(SECTIONS)) <= 3
    ada.page.context.close()
    ada, batch = helped("header_synonym", MEDALS, OFFICES)
    has_the_first(ada)
    assert len(ada.page.evaluate(SECTIONS)) <= 3
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
    assert ProposalReaction.objects.filter(act="took").count() == 2
    assert not ada.loads or ada.loads[-1].endswith("/annotate/")


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
