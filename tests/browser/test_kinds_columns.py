"""The kinds that perturb columns, by keyboard alone: how many keys an item takes, and that no page is loaded for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Frame, Page, expect

from annotation.models import Annotation, Batch
from annotation.quality import reporting
from annotation.work import lending
from tableqa import Example, Table
from tableqa.readers.wtq import READER
from tests.annotation.cast import World, make_world
from tests.browser.pages import HeldRequests, annotating, signed_in, takes_digits, takes_keys
from tests.browser.test_road import AXE

EXCERPT = Path(__file__).resolve().parents[2] / "fixtures" / "wtq" / "excerpt-dev.tsv"
MEDALS, JUMPS, OFFICES, CAPTAINS, PLACES, GAMES = "nt-3630", "nt-15", "nt-92", "nt-771", "nt-6343", "nt-908"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Any, transactional_db: None) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    lending.forget()
    return make_world(tmp_path)


CODES = Example(
    id="codes",
    question="who has one point?",
    table=Table(["Code", "Points"], [["ax, by", "1"], ["cz, dw", "2"], ["ef, gh", "3"]]),
    answers=["ax, by"],
)
"""A column whose parts nothing names."""


def questions(*ids: str) -> list[Example]:
    known = {CODES.id: CODES, **{example.id: example for example in READER(EXCERPT)}}
    return [known[id] for id in ids]


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
        found = Axe().run(self.page, options=AXE)
        assert found.violations_count == 0, found.generate_report()


@pytest.fixture
def begin(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> Callable[..., tuple[Somebody, Batch]]:
    """Ada at a batch of a kind over these questions, in their order."""

    def begin(kind: str, *ids: str, beside: Sequence[Example] = (), **options: Any) -> tuple[Somebody, Batch]:
        source = world.import_written(*questions(*ids), *beside)
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


# -- where an item begins ---------------------------------------------------------------------------

LEAGUE = Example(
    id="league",
    question="how many games did maynooth win?",
    table=Table(
        ["Team", "Won", "Lost", "Played"],
        [
            ["Greystones", "3", "1", "4"],
            ["Ballymore", "2", "2", "4"],
            ["Maynooth", "5", "1", "6"],
            ["Fingal", "1", "0", "1"],
        ],
    ),
    answers=["5"],
)


@pytest.mark.parametrize(
    ("kind", "question", "column"),
    [
        ("column_extension", JUMPS, "Venue"),
        ("column_masking", LEAGUE, "Lost"),
        ("header_abbreviation", CAPTAINS, "Player"),
        ("header_synonym", MEDALS, "Rank"),
    ],
)
def test_an_item_begins_at_the_first_column_that_something_can_be_done_with(
    world: World,
    new_context: Callable[..., BrowserContext],
    live_server: Any,
    kind: str,
    question: str | Example,
    column: str,
) -> None:
    examples = questions(question) if isinstance(question, str) else [question]
    batch = world.batch(kind, sources=[world.import_written(*examples)])
    ada = Somebody(annotating(new_context, live_server.url, world.ada, batch))
    ada.begins_at(column)
    expect(ada.page.locator("thead th.about")).to_contain_text(column)


def test_columns_that_can_go_come_first_and_have_the_button_that_removes_them(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch("column_masking", sources=[world.import_written(LEAGUE)])
    ada = Somebody(annotating(new_context, live_server.url, world.ada, batch))
    ada.begins_at("Lost")
    names = ada.page.locator(".line .name")
    assert names.all_inner_texts() == [
        "Lost",
        "Played",
        "Won",
        "Team",
    ]  # Won has the answer, Team follows from nothing
    ada.page.locator(".lines").get_by_role("button", name="Remove column Played").click()
    expect(ada.page.locator(".lines").get_by_role("button", name="Restore column Played")).to_be_visible()
    expect(ada.page.locator(".line.open del")).to_have_text("Played")
    assert names.all_inner_texts() == ["Lost", "Played", "Won", "Team"], "what is removed stays where it is"
    ada.press("Enter")
    assert [one["column"] for one in submitted(ada, batch, 1)["operations"]] == ["c3"]


def test_suggestions_that_come_late_do_not_move_somebody_who_has_begun(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch("column_masking", sources=[world.import_written(LEAGUE)])
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    suggestions = HeldRequests(page, "**/suggestions/")
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    takes_keys(page)
    expect(page.locator(".line.open .head")).to_be_focused()
    page.keyboard.press("End")
    suggestions.answer()
    played = page.locator(".line.open .head")
    expect(played).to_contain_text("can be worked out from others")
    expect(played).to_contain_text("Played")


def test_a_digit_takes_no_suggestion_for_a_moment_after_the_suggestions_have_come(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch("header_synonym", sources=[world.import_written(*questions(MEDALS))])
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    suggestions = HeldRequests(page, "**/suggestions/")
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    takes_keys(page)
    expect(page.locator(".line.open .head")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    suggestions.answer()
    expect(page.locator(".line.open .choice").first).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator("thead ins")).to_have_count(0)
    page.clock.run_for(251)
    page.keyboard.press("1")
    expect(page.locator("thead ins")).to_have_count(1)


# -- names ------------------------------------------------------------------------------------------


@pytest.mark.smoke
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

    [report] = reporting.reports(batch)
    rows = {row[0]: row[1:] for row in report.rows}
    assert rows["usual names"][:2] == (1, 1)
    assert rows["Own names"][0] == 1


def test_short_forms_are_taken_one_after_the_other(begin: Any) -> None:
    ada, batch = begin("header_abbreviation", CAPTAINS)
    ada.begins_at("Player")
    ada.is_offered("Plyr.")
    ada.press("1", "ArrowDown", "ArrowDown", "1", "1", "Enter")
    assert ada.keys == 6
    data = submitted(ada, batch, 1)
    assert names(data) == {"c1": "Plyr.", "c4": "Tot. caps", "c5": "W %"}
    assert [source for *_, source in data["taken"]] == ["dictionary"] * 3


@pytest.mark.console_may_say("422")
def test_what_breaks_the_contract_is_said_in_words_and_is_not_submitted(begin: Any) -> None:
    ada, batch = begin("header_abbreviation", CAPTAINS)
    ada.begins_at("Player")
    ada.press("F2", "Control+a")
    ada.type("Span")
    ada.press("Enter", "Enter")
    expect(ada.page.locator("[data-notices]")).to_contain_text("Two columns are now called “Span”: 2 and 3.")
    assert responses(batch) == []
    ada.press("Control+z")
    expect(ada.page.locator("thead th[data-column=c1]")).not_to_contain_text("Span")


def test_the_keys_of_the_list_stand_in_the_list_of_keys(begin: Any) -> None:
    ada, _ = begin("header_synonym", MEDALS)
    ada.press("Escape", "?")
    dialog = ada.page.get_by_role("dialog")
    expect(dialog).to_contain_text("accept that suggestion, go to the next column")
    expect(dialog).not_to_contain_text("type a new value")


def test_practice_comes_with_suggestions_and_an_answer(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.goto(f"{live_server.url}/projects/films/practice/header_synonym/")
    takes_keys(page)
    ada = Somebody(page)
    ada.press("ArrowDown")
    ada.press(ada.digit_of("Country"), "1", "Enter")  # and then “Amber” for gold
    expect(page.locator("[data-feedback]")).to_contain_text("“Amber” does not fit “Gold” in this table.")


def test_names_and_rejections_are_there_again_after_a_reload(begin: Any) -> None:
    ada, _ = begin("header_synonym", MEDALS)
    ada.press("ArrowDown")
    ada.press(ada.digit_of("Country"), "0")
    expect(ada.page.locator("[data-saved]")).to_contain_text("Saved")
    ada.page.reload()
    expect(ada.page.locator("askew-annotate[data-ready]")).to_be_attached()
    expect(ada.line("Nation")).to_contain_text("Country")
    expect(ada.line("Gold")).to_contain_text("none fits")


def test_with_a_mouse_a_suggestion_is_clicked_and_another_turned_down(begin: Any) -> None:
    ada, batch = begin("header_synonym", MEDALS)
    ada.page.locator(".line", has_text="Nation").click()
    ada.is_offered("Country")
    ada.page.get_by_role("button", name="Reject “State”").click()
    ada.page.locator(".choice", has_text="Country").first.click()
    ada.page.get_by_role("button", name="Submit").click()
    data = submitted(ada, batch, 1)
    assert names(data) == {"c1": "Country"}
    assert data["rejected"] == [["c1", "State", "usual"]]


def test_a_kind_that_does_not_apply_is_said_so_with_two_keys_outside_the_list(begin: Any) -> None:
    ada, batch = begin("header_synonym", MEDALS)
    ada.press("Escape", "n")
    expect(ada.page.get_by_label("Does not apply")).to_be_checked()
    ada.page.locator("button[value=submit]").focus()
    ada.press("Enter")
    data = submitted(ada, batch, 1)
    assert data["does_not_apply"] is True
    assert data["operations"] == []


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


def test_enter_pressed_before_a_split_is_worked_out_submits_the_split(begin: Any) -> None:
    ada, batch = begin("column_extension", CAPTAINS, JUMPS)
    ada.begins_at("Player")
    ada.is_offered("First name | Last name")
    work_out = HeldRequests(ada.page, "**/work-out/")
    ada.press("1", "Enter", "Enter")
    work_out.answer()
    [operation] = submitted(ada, batch, 1)["operations"]
    assert [part["header"] for part in operation["into"]] == ["First name", "Last name"]
    assert len(responses(batch)) == 1, "the second Enter submits nothing"


def test_enter_pressed_before_a_split_that_needs_names_asks_for_them(begin: Any) -> None:
    ada, batch = begin("column_extension", "codes")
    ada.begins_at("Code")
    ada.is_offered("Code 1 | Code 2")
    work_out = HeldRequests(ada.page, "**/work-out/")
    ada.press("1", "Enter")
    work_out.answer()
    expect(ada.page.get_by_label("Name of part 1")).to_be_focused()
    notice = ada.page.locator("[data-notices]")
    expect(notice).to_contain_text("Not submitted yet. Finish or cancel the split of Code.")
    ada.page.get_by_role("button", name="Submit").click()
    expect(ada.page.get_by_label("Name of part 1")).to_be_focused()
    assert responses(batch) == []
    ada.press("Enter")
    expect(notice).not_to_contain_text("Finish or cancel")
    ada.press("Enter")
    [operation] = submitted(ada, batch, 1)["operations"]
    assert [part["header"] for part in operation["into"]] == ["Code 1", "Code 2"]


@pytest.mark.console_may_say("ERR_FAILED")
def test_a_split_that_the_server_cannot_work_out_is_not_submitted(begin: Any) -> None:
    ada, batch = begin("column_extension", CAPTAINS)
    ada.begins_at("Player")
    ada.is_offered("First name | Last name")
    work_out = HeldRequests(ada.page, "**/work-out/")
    ada.press("1", "Enter")
    work_out.fail()
    expect(ada.page.locator("fieldset.tool [role=status]")).to_contain_text("The server cannot be reached.")
    expect(ada.page.locator("[data-notices]")).to_contain_text("Finish or cancel the split of Player.")
    assert responses(batch) == []


@pytest.mark.parametrize(
    ("how", "text", "parts"),
    [
        ("delimiter", "-", ("1997", "2006")),
        ("template", "{First}-{Last}", ("1997", "2006")),
        ("pattern", r"(\d\d)\d\d-(\d+)", ("19", "2006")),
    ],
)
def test_a_column_is_split_in_a_way_of_ones_own(
    begin: Any, how: str, text: str, parts: tuple[str, str]
) -> None:
    ada, batch = begin("column_extension", CAPTAINS)
    ada.begins_at("Player")
    ada.press("ArrowDown", "F2")
    ada.page.locator("select[name=way]").select_option(how)
    ada.page.locator("[name=way-text]").focus()
    ada.type(text)
    expect(ada.page.get_by_label("Name of part 2")).to_be_visible()
    ada.press("Enter", "Enter")
    [operation] = submitted(ada, batch, 1)["operations"]
    assert tuple(part["cells"][0] for part in operation["into"]) == parts


def test_a_pattern_that_cannot_be_used_is_said_so(begin: Any) -> None:
    ada, batch = begin("column_extension", CAPTAINS)
    ada.begins_at("Player")
    ada.press("ArrowDown", "F2")
    ada.page.locator("select[name=way]").select_option("pattern")
    ada.page.locator("[name=way-text]").focus()
    ada.type(r"(a+)+\1(")
    expect(ada.page.locator("fieldset.tool [role=status]")).to_contain_text("cannot be used")
    ada.press("Escape")
    expect(ada.page.locator("fieldset.tool")).to_be_hidden()
    assert responses(batch) == []


def test_a_split_is_changed_and_taken_back(begin: Any) -> None:
    ada, _ = begin("column_extension", "codes")
    ada.begins_at("Code")
    ada.is_offered("Code 1 | Code 2")
    ada.press("1")
    first = ada.page.get_by_label("Name of part 1")
    expect(first).to_be_focused()
    ada.press("Enter")
    expect(ada.page.locator("thead th", has_text="Code 2")).to_be_visible()
    ada.press("F2")
    expect(first).to_be_focused()
    ada.press("Control+a")
    ada.type("City")
    ada.press("Enter")
    expect(ada.page.locator("thead th", has_text="City")).to_be_visible()
    expect(ada.line("Code")).to_contain_text("City | Code 2")
    ada.press("Delete")
    expect(ada.page.locator("thead th", has_text="City")).to_have_count(0)


# -- masking and adding -----------------------------------------------------------------------------


def test_a_column_that_follows_from_others_is_removed_with_one_key(begin: Any) -> None:
    ada, batch = begin("column_masking", MEDALS)
    expect(ada.line("Total")).to_contain_text("can be worked out from others")
    ada.press("5")
    expect(ada.line("Total")).to_contain_text("can be worked out from the rest")
    ada.finds_the_page_accessible()
    ada.press("Enter")
    assert ada.keys == 2
    [operation] = submitted(ada, batch, 1)["operations"]
    assert (operation["op"], operation["column"]) == ("remove_column", "c5")


def test_a_column_whose_source_is_removed_as_well_is_pointed_out(begin: Any) -> None:
    ada, _ = begin("column_masking", MEDALS)
    expect(ada.line("Total")).to_contain_text("can be worked out from others")
    ada.press("5", "ArrowUp", " ")
    ada.press("ArrowDown")
    expect(ada.line("Total")).to_contain_text("cannot be worked out from the rest")
    expect(ada.line("Total")).to_contain_text("But Bronze is also removed.")
    ada.press(" ")
    expect(ada.line("Total").locator(".head")).not_to_contain_text("removed")


@pytest.mark.console_may_say("422")
def test_the_only_column_of_the_answer_stays_until_somebody_says_how_it_follows(begin: Any) -> None:
    ada, batch = begin("column_masking", MEDALS)
    expect(ada.line("Nation")).to_contain_text("contains the answer")
    ada.press("End", " ")
    expect(ada.page.locator("[data-holds^=answer_gone]")).to_contain_text(
        "“Puerto Rico” is in no other column"
    )
    ada.press("Enter")
    expect(ada.page.locator("[data-notices]")).to_contain_text("Restore it, or explain how to work it out.")
    assert responses(batch) == []
    ada.press("Escape", "r")
    ada.type("The medals tell it.")
    ada.press("Control+Enter")
    data = submitted(ada, batch, 1)
    assert data["reason"] == "The medals tell it."
    assert data["operations"][0]["column"] == "c1"


WINNERS = Example(
    id="winners",
    question="when did confey win?",
    table=Table(
        ["No.", "Team", "W", "L", "P", "Year"],
        [
            ["1", "Greystones", "3", "1", "4", "2009"],
            ["2", "Ballymore", "2", "2", "4", "2008"],
            ["3", "Maynooth", "5", "1", "6", "2007"],
            ["4", "Fingal", "1", "0", "1", "2006"],
            ["5", "Confey", "?", "2", "9", "2005"],
        ],
    ),
    answers=["2005", "9"],
)


@pytest.mark.console_may_say("422")
def test_what_leaves_the_row_of_the_answer_open_is_not_said_to_follow(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch("column_masking", sources=[world.import_written(WINNERS)])
    ada = Somebody(annotating(new_context, live_server.url, world.ada, batch))
    number, points, year = (ada.page.locator(f"[data-line=c{place}]") for place in (0, 4, 5))
    expect(number).to_contain_text("No. counts the rows: 1 in the first, 2 in the second")
    expect(year).to_contain_text("values increase steadily; the first value cannot be worked out")
    expect(points).to_contain_text(
        "can be worked out from others, except in the answer row, contains the answer"
    )
    ada.press("End", " ")
    expect(ada.page.locator("[data-holds^=answer_gone]")).to_contain_text("“2005” is in no other column")
    expect(year).to_contain_text("cannot be worked out from the rest")
    expect(number).to_contain_text("can be worked out from the order of the rows")
    ada.press(" ", "4")
    expect(points).to_contain_text("can be worked out, but not in the answer row")
    expect(points).to_contain_text("in all 4 rows that can be tested. But not in the answer row")
    expect(ada.page.locator("[data-holds^=answer_gone]")).to_contain_text("does not give it in row 5")
    ada.finds_the_page_accessible()
    ada.press("Enter")
    expect(ada.page.locator("[data-notices]")).to_contain_text("Restore it, or explain how to work it out.")
    assert responses(batch) == []


def test_where_no_column_follows_from_the_others_the_list_says_what_to_choose(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    table = Table(
        ["Team", "County"], [["Greystones", "Wicklow"], ["Ballymore", "Kildare"], ["Confey", "Kildare"]]
    )
    teams = Example("teams", "where is confey?", table, ["Kildare"])
    batch = world.batch("column_masking", sources=[world.import_written(teams)])
    page = annotating(new_context, live_server.url, world.ada, batch)
    advice = page.get_by_text("If you see none either, choose “Does not apply”.")
    expect(advice).to_be_visible()
    page.get_by_role("button", name="Remove column Team").last.click()
    expect(advice).to_be_hidden()
    page.get_by_role("button", name="Restore column Team").last.click()
    advice.get_by_role("button", name="Does not apply").click()
    choice = page.get_by_label("Does not apply")
    expect(choice).to_be_checked()
    expect(choice).to_be_focused()
    expect(choice).to_be_in_viewport()


@pytest.mark.console_may_say("422")
def test_a_column_that_nothing_implies_is_asked_about_once(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch("column_masking", sources=[world.import_written(LEAGUE, *questions(MEDALS))])
    ada = Somebody(annotating(new_context, live_server.url, world.ada, batch))
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
    assert Annotation.objects.get().unmet == ["not_derivable"]

    ada.reads_question("the nation before mexico")
    expect(ada.line("Nation")).to_contain_text("contains the answer")
    expect(notice).to_be_empty()
    ada.press("End", " ", "Escape", "r")
    ada.type("All medals tell it.")
    ada.press("Control+Enter")
    assert submitted(ada, batch, 2)["reason"] == "All medals tell it."
    assert Annotation.objects.latest("pk").unmet == ["answer_gone", "not_derivable"]


CAPITALS = Example(
    id="capitals",
    question="what is the capital of cuba?",
    table=Table(
        ["Country", "Capital", "Currency"],
        [
            ["Cuba", "Havana", "peso"],
            ["Mexico", "Mexico City", "peso"],
            ["Chile", "Santiago", "peso"],
            ["Argentina", "Buenos Aires", "peso"],
            ["Brazil", "Brasília", "real"],
        ],
        title="Countries of America",
    ),
    answers=["Havana"],
)


def test_a_column_of_a_related_table_is_added_where_it_was_drawn(begin: Any) -> None:
    ada, batch = begin("column_adding", GAMES, beside=[CAPITALS])
    ada.is_offered("Capital")
    ada.press("1")
    expect(ada.page.locator("thead th", has_text="Capital")).to_be_visible()
    expect(ada.page.locator("fieldset.tool")).to_contain_text("5 of 10 rows are empty")
    ada.finds_the_page_accessible()
    ada.press("Enter")
    assert ada.keys == 2
    data = submitted(ada, batch, 1)
    [operation] = data["operations"]
    assert operation["header"] == "Capital"
    assert {cell for cell in operation["cells"] if cell} == set(CAPITALS.table.column("c1"))
    assert data["provenance"] == [["n1", CAPITALS.table.digest(), "c1", "Countries of America"]]
    assert data["own"] == []


def test_a_column_is_previewed_in_the_table_and_then_asked_about(begin: Any) -> None:
    ada, batch = begin("column_adding", GAMES, beside=[CAPITALS])
    ada.is_offered("Capital")
    foot = ada.page.locator(".line.open .foot")
    expect(foot).to_contain_text("Choose a column to preview it in the table.")
    expect(foot).not_to_contain_text("Does this column fit these rows?")
    ada.press("1")
    expect(ada.page.locator("thead th", has_text="Capital")).to_be_visible()
    expect(foot).to_contain_text("Does this column fit these rows?")
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


def test_enter_on_a_choice_that_is_taken_submits(begin: Any) -> None:
    ada, batch = begin("column_adding", GAMES, beside=[CAPITALS])
    ada.is_offered("Capital")
    ada.press("ArrowRight", "1")
    expect(ada.page.locator("thead th", has_text="Capital")).to_be_visible()
    ada.press("Enter")
    assert [operation["header"] for operation in submitted(ada, batch, 1)["operations"]] == ["Capital"]


def test_why_a_column_is_offered_opens_by_mouse_and_by_key_and_stays_open(begin: Any) -> None:
    ada, _batch = begin("column_adding", GAMES, beside=[CAPITALS])
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
    ada.press("1")
    expect(ada.page.locator("thead th", has_text="Capital")).to_be_visible()  # the list is drawn anew
    expect(reason).to_be_visible()


def test_an_added_column_is_named_placed_and_filled_by_hand_and_can_go_again(begin: Any) -> None:
    ada, batch = begin("column_adding", GAMES, beside=[CAPITALS])
    ada.is_offered("Capital")
    ada.press("1", "2")
    tool = ada.page.locator("fieldset.tool", has_text="Added: Capital")
    tool.get_by_label("Position").select_option("c1")
    tool.get_by_label("Name").fill("Seat")
    ada.page.keyboard.press("Enter")
    tool = ada.page.locator("fieldset.tool", has_text="Added: Seat")
    tool.locator("summary").click()
    tool.get_by_label("Seat, row 2").fill("Ottawa")
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator("tbody")).to_contain_text("Ottawa")
    ada.page.locator(".choice", has_text="Currency").click()  # the second one goes again
    expect(ada.page.locator("thead th", has_text="Currency")).to_have_count(0)
    ada.page.get_by_role("button", name="Submit").click()
    data = submitted(ada, batch, 1)
    [operation] = data["operations"]
    assert (operation["header"], operation["after"], operation["cells"][1]) == ("Seat", "c1", "Ottawa")
    assert [origin[2] for origin in data["provenance"]] == ["c1"]
    assert data["own"] == [["r1", operation["column"]]], "the one cell that was written by hand"


def test_ctrl_enter_in_the_name_of_an_added_column_submits_that_name(begin: Any) -> None:
    ada, batch = begin("column_adding", GAMES, beside=[CAPITALS])
    ada.is_offered("Capital")
    ada.press("1")
    ada.page.locator("fieldset.tool").get_by_label("Name").fill("Seat")
    ada.press("Control+Enter")
    assert submitted(ada, batch, 1)["operations"][0]["header"] == "Seat"


# -- without scripts, and on a phone ----------------------------------------------------------------


@pytest.fixture
def plainly(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> Callable[..., tuple[Page, Batch]]:
    """Ada at a batch of a kind in a browser without scripts."""

    def plainly(kind: str, id: str, *beside: Example) -> tuple[Page, Batch]:
        source = world.import_written(*questions(id), *beside)
        batch = world.batch(kind, sources=[source], only=[id])
        page = signed_in(new_context, live_server.url, world.ada, java_script_enabled=False).new_page()
        page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
        return page, batch

    return plainly


def press(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()


def test_without_scripts_a_column_is_renamed(plainly: Any) -> None:
    page, batch = plainly("header_synonym", MEDALS)
    page.get_by_role("link", name="Show suggestions").click()
    expect(page.locator("dl").filter(has_text="Country")).to_be_visible()
    page.locator("select[name=column]").select_option("c1")
    page.get_by_label("New name").fill("Country")
    press(page, "Rename column")
    expect(page.locator("ol.changes")).to_contain_text("Nation becomes Country")
    press(page, "Submit")
    assert names(responses(batch)[0]) == {"c1": "Country"}


@pytest.mark.smoke
@pytest.mark.console_may_say("422")
def test_without_scripts_a_column_is_split_and_its_parts_written(plainly: Any) -> None:
    page, batch = plainly("column_extension", JUMPS)
    page.locator("select[name=column]").select_option("c2")
    page.get_by_label("Delimiter, template or pattern").fill(", ")
    page.get_by_label("Names of the new columns").fill("City\nCountry")
    press(page, "Split column")
    expect(page.locator("thead")).to_contain_text("City")
    page.get_by_label("Name", exact=True).nth(0).fill("Town")
    cells = page.get_by_label("Cells, one per line").nth(0)
    cells.fill(cells.input_value().replace("Sydney", "Perth"))
    press(page, "Save names and cells")
    press(page, "Submit")
    expect(page.locator("main")).to_contain_text("“Perth” is not in “Sydney, Australia”")
    assert responses(batch) == []
    page.get_by_role("textbox", name="Reason Where").fill("The source is wrong.")
    press(page, "Submit")
    data = responses(batch)[0]
    assert data["reason"] == "The source is wrong."
    [operation] = data["operations"]
    assert operation["into"][0]["header"] == "Town"
    assert operation["into"][0]["cells"][:2] == ["Perth", "New Delhi"]


def test_without_scripts_a_column_is_removed_and_put_back(plainly: Any) -> None:
    page, batch = plainly("column_masking", MEDALS)
    page.get_by_role("link", name="Show relations between columns").click()
    expect(page.locator("dl").filter(has_text="Total = Gold + Silver + Bronze")).to_be_visible()
    for column in ("c5", "c0"):
        page.locator("select[name=column]").select_option(column)
        press(page, "Remove column")
    page.locator("select[name=column]").select_option("c0")
    press(page, "Restore column")
    press(page, "Submit")
    [operation] = responses(batch)[0]["operations"]
    assert operation["column"] == "c5"


def test_without_scripts_a_column_of_a_related_table_is_added(plainly: Any) -> None:
    page, batch = plainly("column_adding", GAMES, CAPITALS)
    page.get_by_label("Capital").check()
    press(page, "Add column")
    press(page, "Submit")
    data = responses(batch)[0]
    assert data["operations"][0]["header"] == "Capital"
    assert data["provenance"][0][1:] == [CAPITALS.table.digest(), "c1", "Countries of America"]


@pytest.mark.parametrize(("kind", "question"), [("column_extension", JUMPS), ("header_synonym", MEDALS)])
def test_on_a_phone_an_item_begins_with_its_question(begin: Any, kind: str, question: str) -> None:
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
