"""The page of annotating as a whole: its columns, guidelines, what it says aloud, and what it is without its scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Annotation, Draft
from benchmarks.browser_data import over_its_sample
from tableqa import Example, Table
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.accessibility import AXE
from tests.browser.pages import annotating, settled, signed_in, takes_keys
from tests.tasks.test_contract import KINDS

DESK = {"width": 1280, "height": 850}
PHONE = {"width": 390, "height": 844}

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def accessible(page: Page) -> None:
    results = Axe().run(page, options=AXE)
    assert results.violations_count == 0, f"{page.url}\n{results.generate_report()}"


def question(page: Page) -> str:
    return page.locator(".question").inner_text()


def test_the_instruction_is_the_largest_text_and_the_bar_stays_in_reach_also_while_one_types(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_changes")
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=DESK)
    instruction = page.get_by_role("heading", level=1)
    expect(instruction).to_have_text("Change one or two values so that the answer changes")
    expect(page.locator(".asked").get_by_role("heading", level=2)).to_have_text("Question")
    sizes = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
            .filter((part) => [...part.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
            .map((part) => [parseFloat(getComputedStyle(part).fontSize), part.localName])"""
    )
    largest = max(sizes)[0]
    assert [name for size, name in sizes if size == largest] == ["h1"]
    line = instruction.evaluate("(part) => parseFloat(getComputedStyle(part).lineHeight)")
    text = instruction.evaluate(
        """(part) => {
            const range = new Range();
            range.selectNodeContents(part);
            return range.getBoundingClientRect().height;
        }"""
    )
    assert text <= line  # one line
    expect(page.locator("[data-announce]")).to_have_text(
        f"Change one or two values so that the answer changes. Question: {question(page)}"
    )

    hint = page.locator("[data-while-typing]")
    page.locator("[data-row=r0] [data-column=c2]").click()
    expect(hint).to_be_visible()
    for width in (1366, 1280):
        page.set_viewport_size({"width": width, "height": 850})
        bar, words = page.locator(".actions").bounding_box(), hint.locator("span:visible").bounding_box()
        assert bar
        assert words
        assert bar["y"] <= words["y"], "it hides nothing of the panel"
        assert words["y"] + words["height"] <= bar["y"] + bar["height"], "it is in the first line of the bar"
    expect(page.locator(".panel")).to_have_attribute("data-typing", "")
    page.keyboard.press("Escape")
    expect(hint).to_be_hidden()
    expect(page.locator(".panel")).not_to_have_attribute("data-typing", "")

    page.set_viewport_size({"width": 1280, "height": 560})
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    table = page.locator("askew-grid .sheet")
    before = table.bounding_box()
    last = page.locator("[name=unanswerable]")
    last.focus()
    expect(last).to_be_in_viewport(ratio=1)
    assert table.bounding_box() == before
    bar = page.locator(".actions").bounding_box()
    assert bar is not None
    assert bar["y"] + bar["height"] <= 560
    field = last.bounding_box()
    assert field is not None
    assert field["y"] + field["height"] <= bar["y"]


# -- columns and bar ---------------------------------------------------------------------------------


def test_the_head_of_every_page_takes_two_lines_on_a_phone_and_no_part_lies_over_another(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(overlap=1, name="A batch with a name that is longer than a phone is wide")
    world.ada.name = "Adaeze Chukwuemeka-Okonkwo"
    world.ada.save()
    paths = (f"/batches/{batch.public_id}/annotate/", "/", "/work/", "/account/")
    for locale in ("en-GB", "de-DE"):
        page = annotating(new_context, live_server.url, world.ada, batch, viewport=PHONE, locale=locale)
        head = page.locator("header.top")
        for path in paths:
            page.goto(live_server.url + path)
            nav, person = page.locator(".top nav").bounding_box(), page.locator(".top .person").bounding_box()
            button = page.locator(".display-button").bounding_box()
            assert nav
            assert person
            assert button
            assert nav["x"] + nav["width"] <= min(person["x"], button["x"]), (locale, path)
            for width, height in ((390, 844), (320, 640)) if locale == "en-GB" else ():
                page.set_viewport_size({"width": width, "height": height})
                tall = head.evaluate("head => head.getBoundingClientRect().height")
                if path == paths[0]:
                    assert tall <= 80, width
                    continue
                assert tall <= 52, (path, width)
                expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_in_viewport(ratio=1)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
            page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        page.context.close()


# -- without scripts, and when they do not come ------------------------------------------------------


@pytest.mark.unbundled
@pytest.mark.console_may_say("Failed to load resource")
def test_when_the_scripts_do_not_come_the_plain_page_is_offered_and_holds_the_whole_table(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    rows = tuple((f"film {number}", str(1900 + number % 100)) for number in range(1500))
    table = Table(header=("Film", "Year"), rows=rows)
    source = world.import_written(Example(id="long", question="when?", answers=("1900",), table=table))
    batch = world.batch("relevant_cells", sources=[source], overlap=1)
    context = signed_in(new_context, live_server.url, world.ada, viewport=DESK)
    page = context.new_page()
    page.route("**/askew/grid*.js", lambda route: route.abort())
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    link = page.get_by_role("link", name="use the plain page")
    expect(link).to_be_visible()
    link.click()
    expect(page.locator("tbody tr[data-row]")).to_have_count(1500)
    page.locator("[data-row=r7] [data-column=c1] input").check()
    page.locator(".actions button[value=save]").click()
    expect(page.locator("[data-row=r7] [data-column=c1] input")).to_be_checked()
    expect(page.locator(".guidelines summary")).to_be_visible()
    page.unroute("**/askew/grid*.js")
    page.get_by_role("link", name="Switch to the full page").click()
    takes_keys(page)

    other = world.batch("value_change", variant="answer_changes")
    page.route("**/askew/editing*.js", lambda route: route.abort())  # the module of its mode
    page.goto(f"{live_server.url}/batches/{other.public_id}/annotate/")
    expect(page.get_by_role("link", name="use the plain page")).to_be_visible()


def test_without_scripts_enter_and_undo_keep_what_was_entered_and_submit_nothing(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_changes")
    context = signed_in(new_context, live_server.url, world.ada, viewport=DESK, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    first = question(page)
    page.locator("[name=answers]").fill("2001")
    page.locator("[name=unanswerable]").check()
    with page.expect_navigation():
        page.locator("[name=unanswerable]").press("Enter")
    assert question(page) == first
    expect(page.locator("[name=unanswerable]")).to_be_checked()
    expect(page.locator("[name=answers]")).to_have_value("2001\n")
    assert not Annotation.objects.exists()
    assert Draft.objects.get().response["data"]["operations"] == []

    batch = world.batch(overlap=1)
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    page.locator("[value=reasoning]").check()
    with page.expect_navigation():
        page.locator("[value=reasoning]").press("Enter")
    expect(page.locator("[value=reasoning]")).to_be_checked()
    assert not Annotation.objects.exists()
    page.locator("[value=extraction]").check()
    page.locator("button.primary").click()
    second = page.locator("[name=assignment]").first.input_value()
    page.locator("[value=neither]").check()
    page.locator("button[value=undo]").click()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/?assignment={second}")
    expect(page.locator("[value=neither]")).to_be_checked()


# -- keys --------------------------------------------------------------------------------------------


@pytest.mark.console_may_say("Failed to")
def test_only_what_is_pressed_per_item_shows_its_key_and_modules_that_did_not_come_are_asked_for_again(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    refused = [True]
    page = signed_in(new_context, live_server.url, world.ada, viewport=DESK).new_page()
    # From the first request to the last: a route that begins or ends in between does so at a moment of the browser's.
    for name in ("all-keys", "past", "examples"):
        page.route(f"**/bundles/*/{name}.*.js", lambda route: route.abort() if refused else route.continue_())
    page.goto(f"{live_server.url}/batches/{world.batch(overlap=1).public_id}/annotate/")
    takes_keys(page)
    first = question(page)
    expect(page.locator(".guidelines .prose")).to_be_visible()
    expect(page.locator(".guidelines .prose")).to_contain_text("Extraction.")
    expect(page.locator(".question")).to_be_in_viewport(ratio=1)
    expect(page.locator(".panel .choices")).to_be_in_viewport(ratio=1)
    assert page.locator(".actions kbd:visible").all_inner_texts() == ["Enter", "?"]
    assert page.locator(".panel kbd:visible").all_inner_texts() == ["1", "2", "3", "4"]
    notice = page.locator("[data-notices] [data-topic=connection]")
    for key in ("p", "e"):
        expect(notice).to_have_count(0)
        page.keyboard.press(key)
        expect(notice).to_contain_text("The server cannot be reached.")
        notice.evaluate("notice => notice.remove()")
    page.keyboard.press("?")
    page.keyboard.press("1")  # the list has the keys, whatever stands in it
    expect(page.locator("dialog[open]")).to_contain_text("The server cannot be reached.")
    assert question(page) == first
    page.keyboard.press("Escape")
    refused.clear()
    page.keyboard.press("p")
    expect(page.locator("[data-past-words]")).to_contain_text("You have not submitted an item")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    expect(page.get_by_role("dialog", name="Examples of earlier work")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("dialog[open] table.keys").first).to_be_visible()
    for key in ("S", "G", "Q", "U", "I", "Enter"):
        expect(page.locator("dialog.all-keys kbd", has_text=key).first).to_be_visible()
    dialog = page.locator("dialog[open]")
    dialog.get_by_role("button", name="Change the shortcut for Extraction").press("Enter")
    page.keyboard.press("s")
    expect(dialog.get_by_role("alert")).to_contain_text("S is the shortcut for “Skip this item”.")
    accessible(page)
    dialog.get_by_role("switch").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("kbd[data-shortcut='label:reasoning']")).to_be_hidden()


# -- touch screens -----------------------------------------------------------------------------------

TOUCH = {"has_touch": True, "is_mobile": True}
OF_KEYS = re.compile(
    r"arrow keys|\bSpace\b|\bEnter\b|\bEsc\b|keyboard|keys act|Shortcuts|by key\b", re.IGNORECASE
)


def test_a_touch_screen_shows_no_hint_of_a_key(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada, **TOUCH).new_page()
    hints = {}
    for task in KINDS:
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        page.goto(f"{live_server.url}/projects/films/practice/{task.key}/")
        takes_keys(page)
        settled(page)
        if page.locator("askew-grid .pointed").count():
            page.locator("askew-grid .pointed td").first.tap()
        page.locator(".sr").evaluate_all("(parts) => parts.forEach((part) => { part.hidden = true; })")
        for size in (PHONE, {"width": 1180, "height": 820}):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            settled(page)
            shown = page.locator("kbd:visible, .key-hint:visible, [data-while-typing]:visible")
            text = page.locator("main").inner_text()
            hints[task.key, size["width"]] = [*OF_KEYS.findall(text), *shown.all_inner_texts()]
    assert {name: words for name, words in hints.items() if words} == {}
    for key, variant in (("value_change", "answer_changes"), ("column_masking", ""), ("answer_rating", "")):
        batch = over_its_sample(world, task_types()[key], variant)
        page.set_viewport_size({"width": 820, "height": 1180})
        page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
        takes_keys(page)
        settled(page)
        assert page.locator("kbd:visible").all_inner_texts() == [], key
        assert page.locator(".key-hint:visible, [data-while-typing]:visible").count() == 0, key
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.locator("[data-guidelines-button]").click()
    close = page.locator(".guidelines summary")
    expect(close).to_contain_text("Close")
    assert page.locator("kbd:visible").count() == 0
    close.click()
    expect(page.locator(".guidelines .prose")).to_be_hidden()


# -- every kind --------------------------------------------------------------------------------------

WIDTHS = (768, 1024, 1280, 1366, 1920)
ALL_CONTROLS = (
    "answer_rating",
    "header_synonym",
    "metric_failure",
    "perturbation_rating",
    "question_paraphrase",
    "value_change",
)
"""Task types that have every control between them."""


def usable(page: Page, key: str) -> None:
    """Nothing scrolls sideways, and Submit is in reach."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), key
    submit = page.locator(".actions button[value=submit]")
    submit.scroll_into_view_if_needed()
    expect(submit).to_be_in_viewport(ratio=1)


def test_the_page_of_every_kind_can_be_used_by_everybody_on_a_desk(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    """On the practice set of each kind, which is drawn by the same page."""
    page = signed_in(new_context, live_server.url, world.ada, viewport=DESK).new_page()
    for task in KINDS:
        page.goto(f"{live_server.url}/projects/films/practice/{task.key}/")
        takes_keys(page)
        settled(page)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 850})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (task.key, width)
        page.set_viewport_size(DESK)  # type: ignore[arg-type]
        usable(page, task.key)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")  # the bar covers nothing there
        accessible(page)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, forced_colors="active", reduced_motion="reduce")
            usable(page, task.key)
            assert page.evaluate("document.getAnimations().length") == 0
            if task.key in ALL_CONTROLS:
                page.evaluate("scrollTo(0, document.body.scrollHeight)")
                accessible(page)
        if task.key == "answer_rating":  # where the browser sets the colours, a choice is seen by its outline
            page.locator(".steps label").nth(1).click()
            chosen = page.locator(".steps label", has=page.locator(":checked")).first
            assert chosen.evaluate("label => getComputedStyle(label).outlineStyle") == "solid"
        page.emulate_media(color_scheme="light", forced_colors="none", reduced_motion="no-preference")
        page.locator("[data-guidelines-button]").click()
        expect(page.locator(".guidelines .prose")).to_be_hidden()


def test_the_page_of_every_kind_can_be_used_by_everybody_in_the_dark_on_a_phone_and_zoomed_to_200_percent(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada, viewport=PHONE, color_scheme="dark").new_page()
    prose = page.locator(".guidelines .prose")
    for task in KINDS:
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        page.goto(f"{live_server.url}/projects/films/practice/{task.key}/")
        takes_keys(page)
        settled(page)
        usable(page, task.key)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        accessible(page)
        page.locator("[data-guidelines-button]").click()
        expect(prose).to_be_visible()
        if task is KINDS[0]:
            accessible(page)
        page.keyboard.press("Escape")
        expect(prose).to_be_hidden()
        page.set_viewport_size({"width": 640, "height": 425})  # of 1280, zoomed
        settled(page)
        usable(page, task.key)


def test_the_plain_pages_can_be_used_by_everybody(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada, viewport=DESK).new_page()
    for key in ("column_extension", "column_masking", "header_synonym", "value_change"):
        variant = "answer_changes" if key == "value_change" else ""
        batch = world.batch(key, variant=variant, size=1)
        page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/?plain=1")
        expect(page.locator("a[href*='suggest=1']")).to_be_visible()
        expect(page.locator("[data-ready-to-submit]")).to_be_hidden()  # something is missing
        accessible(page)
    page.goto(
        f"{live_server.url}/batches/{world.batch('relevant_cells', size=1).public_id}/annotate/?plain=1"
    )
    page.locator("[data-row=r1] [data-column=c1] input").check()
    page.locator(".actions button[value=save]").click()
    expect(page.locator("[data-row=r1] [data-column=c1] input")).to_be_checked()
    accessible(page)


# -- practice ----------------------------------------------------------------------------------------


def test_practice_says_whether_it_was_right_why_and_what_comes_next_with_one_primary_button(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada, viewport=DESK).new_page()
    page.goto(f"{live_server.url}/projects/films/practice/value_change/")
    takes_keys(page)
    primary = page.locator("form .primary:visible")
    enters = page.locator(".actions kbd:visible", has_text="Enter")
    expect(primary).to_have_text("CheckEnter")
    expect(enters).to_have_count(1)
    page.get_by_label("Unanswerable").click()
    primary.click()
    expect(primary).to_have_text("Next exerciseEnter")
    expect(enters).to_have_count(1)
    page.get_by_label("Unanswerable").click()
    expect(primary).to_have_text("CheckEnter")
    page.get_by_label("Unanswerable").click()
    primary.click()
    first = question(page)
    expect(primary).to_have_text("Next exerciseEnter")
    page.keyboard.press("t")
    page.keyboard.press("Enter")  # from the table as well
    expect(page.locator(".question")).not_to_have_text(first)
    expect(primary).to_have_text("CheckEnter")

    page.goto(f"{live_server.url}/projects/films/practice/question_type/")
    takes_keys(page)
    first = question(page)
    words = page.locator("[data-feedback]")
    expect(words).to_be_hidden()
    page.keyboard.press("4")
    expect(words).to_contain_text("Not correct")
    expect(words).to_contain_text("Why:")
    expect(words).to_be_in_viewport(ratio=1)
    page.locator("[value=reasoning]").press("Space")  # a press of the pointer would submit
    expect(words).to_be_hidden()  # it was about another answer
    page.keyboard.press("1")
    expect(words).to_contain_text("Correct")
    accessible(page)
    expect(words.get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".question")).not_to_have_text(first)
    expect(words).to_be_hidden()
