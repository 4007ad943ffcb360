"""The kinds that perturb columns, by keyboard alone: how many keys an item takes, and that no page is loaded for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Frame, Page, expect

from annotation.models import Annotation, Batch
from annotation.quality import task_report
from annotation.queue import resources
from tests.annotation.cast import World, make_world
from tests.browser.accessibility import AXE
from tests.browser.pages import annotating, takes_digits
from tests.modules.pages.columns import questions

MEDALS, JUMPS, OFFICES, CAPTAINS, GAMES = "nt-3630", "nt-15", "nt-92", "nt-771", "nt-908"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Any, transactional_db: None) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    resources._indexes.clear()
    return make_world(tmp_path)


class Somebody:
    """A person whose keys are counted, and whose page must not be loaded again."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.keys = 0
        self.loads: list[str] = []
        page.on("framenavigated", self._loaded)

    def _loaded(self, frame: Frame) -> None:
        self.loads.append(frame.url)

    def press(self, *keys: str) -> None:
        for key in keys:
            takes_digits(self.page)
            self.page.keyboard.press(key)
            self.keys += 1

    def type(self, text: str) -> None:
        self.press(*text)

    def line(self, name: str) -> Any:
        return self.page.locator(".line", has_text=name).first

    def begins_at(self, name: str) -> None:
        """The suggestions are there, and the first column that they help with has the focus."""
        head = self.page.locator(".line.open .head")
        expect(head).to_contain_text(name)
        expect(head).to_be_focused()

    def reads_question(self, words: str) -> None:
        expect(self.page.locator(".question")).to_contain_text(words)

    def is_offered(self, text: str) -> None:
        expect(self.page.locator(".choice .text", has_text=text).first).to_be_visible()

    def digit_of(self, text: str) -> str:
        """The digit that takes a choice of the open line; suggesters may put others in front of it."""
        self.is_offered(text)
        digit = self.page.locator(".choice", has=self.page.locator(f"text='{text}'")).locator("kbd")
        expect(digit).to_be_visible()  # digits rest, unseen, while suggestions arrive
        return digit.text_content() or ""

    def finds_the_page_accessible(self) -> None:
        results = Axe().run(self.page, options=AXE)
        assert results.violations_count == 0, results.generate_report()


@pytest.fixture
def begin(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> Callable[..., tuple[Somebody, Batch]]:
    """Ada at a batch of a kind over these questions, in their order."""

    def begin(kind: str, *ids: str, beside: Sequence[str] = (), **options: Any) -> tuple[Somebody, Batch]:
        source = world.import_written(*questions(*ids, *beside), name=kind)
        batch = world.batch(kind, sources=[source], only=list(ids))
        page = annotating(new_context, live_server.url, world.ada, batch, **options)
        return Somebody(page), batch

    return begin


def responses(batch: Batch) -> list[dict[str, Any]]:
    """The data of what was submitted, oldest first."""
    said = Annotation.objects.filter(assignment__batch=batch, response__isnull=False).order_by("pk")
    return [annotation.response["data"] for annotation in said if annotation.response]


def submitted(somebody: Somebody, batch: Batch, number: int) -> dict[str, Any]:
    if number < batch.items_count:
        expect(somebody.page.locator("[data-progress-text]")).to_contain_text(f"{number} of")
    else:
        expect(somebody.page.locator("main")).to_contain_text("All caught up")
    return responses(batch)[number - 1]


def names(data: dict[str, Any]) -> dict[str, str]:
    return {operation["column"]: operation["new"] for operation in data["operations"]}


# -- names ------------------------------------------------------------------------------------------


def test_a_column_is_renamed_with_one_key_and_what_is_turned_down_is_kept(begin: Any) -> None:
    ada, batch = begin("header_synonym", MEDALS, JUMPS, OFFICES)
    ada.reads_question("the nation before mexico")
    ada.press("ArrowDown")
    ada.press(ada.digit_of("Country"))
    expect(ada.line("Nation")).to_contain_text("Country")
    expect(ada.page.locator("thead th[data-column=c1]")).to_contain_text("Country")
    ada.finds_the_page_accessible()
    ada.press("0", "Enter")  # none of the names for Gold fits
    assert ada.keys == 4
    first = submitted(ada, batch, 1)
    assert names(first) == {"c1": "Country"}
    assert first["taken"] == [["c1", "Country", "usual"]]
    assert {column for column, *_ in first["rejected"]} == {"c2"}
    assert first["rejected"]

    ada.keys = 0
    ada.reads_question("what was the venue")
    ada.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert ada.digit_of("Rank") == "1"
    ada.press("ArrowRight", "Delete", "F2")  # turned down, and then edited all the same
    field = ada.page.get_by_label("New name for Position")
    expect(field).to_have_value("Rank")
    ada.type(" taken")
    ada.press("Enter", "Enter")
    second = submitted(ada, batch, 2)
    assert names(second) == {"c3": "Rank taken"}
    assert second["taken"] == [["c3", "Rank", "usual"]]
    assert second["rejected"] == []

    ada.keys = 0
    ada.reads_question("first to take office")
    ada.press("Home", "ArrowDown", "ArrowDown")
    ada.type("Begin")
    ada.press("Enter", "Enter")
    assert ada.keys == 3 + len("Begin") + 2
    third = submitted(ada, batch, 3)
    assert names(third) == {"c2": "Begin"}
    assert third["taken"] == []
    assert len(ada.loads) == 1, "only the page that says that nothing is left"

    [report] = task_report.reports(batch)
    rows = {row[0]: row[1:] for row in report.rows}
    assert rows["usual names"][:2] == (1, 1)
    assert rows["Own names"][0] == 1


# -- splitting --------------------------------------------------------------------------------------


def test_a_proposal_splits_a_column_with_one_key(begin: Any) -> None:
    ada, batch = begin("column_extension", JUMPS, OFFICES)
    ada.reads_question("what was the venue")
    ada.begins_at("Venue")
    ada.is_offered("City | Country")
    ada.press("1")
    expect(ada.page.locator("thead th", has_text="Country")).to_be_visible()
    ada.finds_the_page_accessible()
    ada.press("Enter")
    assert ada.keys == 2
    [operation] = submitted(ada, batch, 1)["operations"]
    assert operation["op"] == "split_column"
    assert operation["column"] == "c2"
    assert [part["header"] for part in operation["into"]] == ["City", "Country"]
    assert operation["into"][1]["cells"][:2] == ["Australia", "India"]

    # Three rows of the next table have no day: they are listed, and written by hand.
    ada.keys = 0
    ada.reads_question("first to take office")
    ada.begins_at("Left office")
    ada.is_offered("Month | Day | Year")
    ada.press("1")
    row = ada.page.get_by_label("Row 1, Month")
    expect(row).to_be_focused()
    expect(row).to_have_value("July 1890")
    expect(ada.page.locator("fieldset.tool [role=status]")).to_contain_text("6 of 9 filled rows split into 3")
    ada.finds_the_page_accessible()
    ada.press("Control+a")
    ada.type("July")
    ada.press("Tab", "Tab")
    ada.type("1890")
    ada.press("Enter")
    expect(ada.page.locator("thead th", has_text="Month")).to_be_visible()
    ada.press("Enter")
    assert ada.keys == 1 + 1 + 4 + 2 + 4 + 2
    [operation] = submitted(ada, batch, 2)["operations"]
    month, day, year = (part["cells"] for part in operation["into"])
    assert (month[0], day[0], year[0]) == ("July", "", "1890")
    assert (month[1], day[1], year[1]) == ("1922", "", ""), "left whole in the first"


# -- masking and adding -----------------------------------------------------------------------------


@pytest.mark.console_may_say("422")
def test_a_column_that_nothing_implies_is_asked_about_once(begin: Any) -> None:
    ada, batch = begin("column_masking", "league", MEDALS, "teams")
    notice = ada.page.locator("[data-notices]")
    ada.begins_at("Lost")
    ada.press("End", " ", "Enter")
    expect(notice).to_contain_text("The table does not show how to work out “Team”")
    expect(notice).to_contain_text("Give a reason, or submit again.")
    expect(ada.page.get_by_role("button", name="Submit anyway")).to_be_visible()
    ada.finds_the_page_accessible()
    ada.press("ArrowUp", " ")
    expect(notice).to_be_empty()
    ada.press("Enter")
    expect(notice).to_contain_text("submit again")
    assert responses(batch) == [], "a change asks again"
    ada.page.get_by_role("button", name="Submit anyway").focus()
    ada.press("Control+Enter")
    assert len(submitted(ada, batch, 1)["operations"]) == 2
    assert Annotation.objects.latest("pk").unmet == ["not_derivable"]

    ada.reads_question("the nation before mexico")
    expect(ada.line("Nation")).to_contain_text("contains the answer")
    expect(notice).to_be_empty()
    ada.press("End", " ", "5")
    expect(ada.line("Total")).to_contain_text("can be worked out from the rest")
    ada.finds_the_page_accessible()
    ada.press("5", "Escape", "r")
    ada.type("All medals tell it.")
    ada.press("Control+Enter")
    assert submitted(ada, batch, 2)["reason"] == "All medals tell it."
    assert Annotation.objects.latest("pk").unmet == ["answer_gone", "not_derivable"]

    ada.reads_question("where is confey?")
    advice = ada.page.get_by_text("If you see none either, choose “Does not apply”.")
    advice.get_by_role("button", name="Does not apply").click()
    choice = ada.page.get_by_label("Does not apply")
    expect(choice).to_be_focused()
    expect(choice).to_be_in_viewport()


def test_a_column_is_previewed_in_the_table_and_then_asked_about(begin: Any) -> None:
    ada, batch = begin("column_adding", GAMES, beside=["capitals"])
    ada.is_offered("Capital")
    why = ada.page.locator(".line.open details").first
    reason = why.locator("p").first
    why.locator("summary").click()
    expect(reason).to_be_visible()
    why.locator("summary").press("Enter")
    expect(reason).to_be_hidden()
    why.locator("summary").press("Enter")
    expect(reason).to_be_visible()
    ada.page.locator(".line.open [tabindex='0']").first.focus()
    foot = ada.page.locator(".line.open .foot")
    expect(foot).to_contain_text("Choose a column to preview it in the table.")
    expect(foot).not_to_contain_text("Does this column fit these rows?")
    ada.press("1")
    expect(ada.page.locator("thead th", has_text="Capital")).to_be_visible()
    expect(foot).to_contain_text("Does this column fit these rows?")
    expect(reason).to_be_visible()  # although the list is drawn anew
    ada.finds_the_page_accessible()
    foot.get_by_role("button", name="No, remove it").click()
    expect(ada.page.locator("thead th", has_text="Capital")).to_have_count(0)
    expect(foot).to_contain_text("Choose a column to preview it in the table.")
    ada.press("1", "2")
    expect(foot).to_contain_text("Do these columns fit these rows?")
    ada.press("0")
    expect(ada.page.locator("thead th", has_text="Capital")).to_have_count(0)
    expect(ada.page.locator("thead th", has_text="Currency")).to_have_count(0)
    ada.press("2", "Enter")
    data = submitted(ada, batch, 1)
    assert [operation["header"] for operation in data["operations"]] == ["Currency"]
    assert [origin[2] for origin in data["provenance"]] == ["c2"]


# -- on a phone -------------------------------------------------------------------------------------


def test_on_a_phone_an_item_begins_with_its_question(begin: Any) -> None:
    for kind, question in (("column_extension", JUMPS), ("header_synonym", MEDALS)):
        ada, _ = begin(kind, question, viewport={"width": 390, "height": 600})
        expect(ada.page.locator(".line.open .choice").first).to_be_attached()
        expect(ada.page.locator(".line.open .head")).to_be_focused()
        expect(ada.page.locator(".question")).to_be_in_viewport(ratio=1)


def test_on_a_phone_a_suggestion_is_tapped(begin: Any) -> None:
    ada, batch = begin(
        "header_abbreviation",
        CAPTAINS,
        viewport={"width": 390, "height": 800},
        has_touch=True,
        is_mobile=True,
    )
    ada.page.locator(".line", has_text="Total caps").tap()
    ada.page.locator(".choice", has_text="Tot. caps").tap()
    expect(ada.line("Total caps")).to_contain_text("Tot. caps")
    width = ada.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    ada.finds_the_page_accessible()
    ada.page.get_by_role("button", name="Submit").tap()
    assert names(submitted(ada, batch, 1)) == {"c4": "Tot. caps"}
