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
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, intercept, passes, settled, signed_in, takes_keys
from tests.tasks.test_contract import KINDS

AXE = {"preload": False, "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
DESK = {"width": 1280, "height": 850}
PHONE = {"width": 390, "height": 844}

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def accessible(page: Page, *, without: str | None = None) -> None:
    """The page, without what this selector names, has no violations."""
    results = Axe().run(page, context={"exclude": [[without]]} if without else None, options=AXE)
    assert results.violations_count == 0, f"{page.url}\n{results.generate_report()}"


def question(page: Page) -> str:
    return page.locator(".question").inner_text()


def test_the_instruction_is_the_largest_text_and_the_question_is_labelled(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_stays")
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=DESK)
    instruction = page.get_by_role("heading", level=1)
    expect(instruction).to_have_text("Change one or two values so that the answer stays the same")
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
        f"Change one or two values so that the answer stays the same. Question: {question(page)}"
    )


# -- guidelines --------------------------------------------------------------------------------------


def test_guidelines_stand_beside_the_item_on_the_first_visit_and_then_as_they_were_left(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1), viewport=DESK)
    guidelines = page.locator(".guidelines .prose")
    expect(guidelines).to_be_visible()
    expect(guidelines).to_contain_text("Extraction.")
    expect(page.locator(".question")).to_be_in_viewport(ratio=1)
    expect(page.locator(".panel .choices")).to_be_in_viewport(ratio=1)
    page.keyboard.press("i")
    expect(guidelines).to_be_hidden()
    page.reload()
    takes_keys(page)
    expect(guidelines).to_be_hidden()
    other = world.batch("value_change", variant="answer_stays")
    page.goto(f"{live_server.url}/batches/{other.public_id}/annotate/")
    takes_keys(page)
    expect(guidelines).to_be_visible()  # they were closed for another kind


def test_the_key_of_the_guidelines_leads_into_them_and_escape_back(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1), viewport=PHONE)
    guidelines, button = page.locator(".guidelines .prose"), page.locator("[data-guidelines-button]")
    expect(guidelines).to_be_hidden()  # they would lie over the item
    page.locator("[name=label]").first.focus()
    page.keyboard.press("i")
    expect(guidelines).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".question")).to_be_in_viewport(ratio=1)
    accessible(page)
    page.keyboard.press("Escape")
    expect(guidelines).to_be_hidden()
    expect(page.locator("[name=label]").first).to_be_focused()
    button.click()
    expect(guidelines).to_be_visible()
    page.locator(".guidelines summary").click()
    expect(guidelines).to_be_hidden()
    expect(page.locator("[name=label]").first).to_be_focused()  # where keys act


def test_a_key_inside_the_guidelines_still_answers_the_item(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1), viewport=DESK)
    first = question(page)
    page.locator(".guidelines .prose").focus()
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(first)
    expect(page.locator(".guidelines .prose")).to_be_visible()


# -- columns and bar ---------------------------------------------------------------------------------


def test_in_a_window_of_850_pixels_the_bar_is_in_reach_and_the_form_scrolls_without_the_table(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_changes")
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=DESK)
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


@pytest.mark.parametrize("size", [PHONE, {"width": 320, "height": 640}], ids=["390", "320"])
def test_the_head_of_every_page_takes_two_lines_on_a_phone(
    world: World, new_context: NewContext, live_server: Any, size: dict[str, int]
) -> None:
    batch = world.batch(overlap=1, name="A batch with a name that is longer than a phone is wide")
    world.ada.name = "Adaeze Chukwuemeka-Okonkwo"
    world.ada.save()
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=size)
    head = page.locator("header.top")
    assert head.evaluate("head => head.getBoundingClientRect().height") <= 80
    for path in ("/", "/work/", "/account/"):
        page.goto(live_server.url + path)
        assert head.evaluate("head => head.getBoundingClientRect().height") <= 52
        expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_no_part_of_the_head_lies_over_another_on_a_phone_in_german(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=PHONE, locale="de-DE")
    for path in ("", "/", "/work/", "/account/"):
        if path:
            page.goto(live_server.url + path)
        nav, person = page.locator(".top nav").bounding_box(), page.locator(".top .person").bounding_box()
        button = page.locator(".display-button").bounding_box()
        assert nav
        assert person
        assert button
        assert nav["x"] + nav["width"] <= min(person["x"], button["x"])


# -- what is said ------------------------------------------------------------------------------------


def test_a_message_about_the_previous_item_stays_until_something_is_entered(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_stays")
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=DESK)
    page.clock.install()
    first = question(page)
    said = page.locator("[data-announce]")
    page.locator("[data-row=r1] [data-column=c2]").click()
    page.keyboard.type("118")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("The table is changed: OK")
    page.keyboard.press("Enter")
    expect(page.locator(".question")).not_to_have_text(first)
    second = question(page)
    expect(said).to_have_text(f"Previous item submitted. Question: {second}")
    expect(page.locator("[data-saved]")).to_have_text("Previous item submitted.")
    passes(page, 800)
    expect(said).to_have_text(f"Previous item submitted. Question: {second}")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-notices]")).to_contain_text("Not submitted yet")
    expect(page.locator("[data-saved]")).to_have_text("Previous item submitted.")
    page.locator("[data-row=r1] [data-column=c2]").click()
    page.keyboard.type("118")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).not_to_contain_text("submitted")


def test_what_holds_is_read_out_once_and_again_only_when_it_is_otherwise(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_stays")
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=DESK)
    page.clock.install()
    page.evaluate("""() => {
        window.said = [];
        const place = document.querySelector("[data-announce]");
        new MutationObserver(() => place.textContent && window.said.push(place.textContent))
            .observe(place, { childList: true, characterData: true, subtree: true });
    }""")
    for row, text in (("r1", "118"), ("r2", "163")):
        page.locator(f"[data-row={row}] [data-column=c2]").click()
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        passes(page, 1500)
    assert len([words for words in page.evaluate("window.said") if "The table is changed: OK" in words]) == 1
    page.locator("[data-row=r0] [data-column=c2]").click()
    page.keyboard.type("171")
    page.keyboard.press("Enter")
    expect(page.locator("[data-announce]")).to_contain_text("At most 2 changes, or a reason: not yet")


# -- without scripts, and when they do not come ------------------------------------------------------


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
    accessible(page, without="tbody tr:nth-child(n+30)")  # they are all alike, and it looks at each for long
    page.unroute("**/askew/grid*.js")
    page.get_by_role("link", name="Switch to the full page").click()
    takes_keys(page)


def test_a_huge_table_is_sent_once_and_whoever_has_no_scripts_is_led_to_the_page_that_has_it(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    rows = tuple((f"film {number}", str(1900 + number % 100)) for number in range(1001))
    table = Table(header=("Film", "Year"), rows=rows)
    source = world.import_written(Example(id="long", question="when?", answers=("1900",), table=table))
    address = f"{live_server.url}/batches/{world.batch('relevant_cells', sources=[source], overlap=1).public_id}/annotate/"
    page = signed_in(new_context, live_server.url, world.ada, viewport=DESK).new_page()
    answer = page.goto(address)
    assert answer
    assert "data-column=" not in answer.text()
    assert answer.text().count("film 700") == 1
    takes_keys(page)
    without = signed_in(
        new_context, live_server.url, world.ada, viewport=DESK, java_script_enabled=False
    ).new_page()
    without.goto(address)
    expect(without.locator("tbody tr[data-row]")).to_have_count(1001)
    without.locator("[data-row=r700] [data-column=c1] input").check()
    without.locator(".actions button[value=save]").click()
    expect(without.locator("[data-row=r700] [data-column=c1] input")).to_be_checked()


@pytest.mark.console_may_say("Failed to load resource")
def test_when_the_module_of_its_mode_does_not_come_the_plain_page_is_offered(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_changes")
    page = signed_in(new_context, live_server.url, world.ada, viewport=DESK).new_page()
    page.route("**/askew/editing*.js", lambda route: route.abort())
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    expect(page.get_by_role("link", name="use the plain page")).to_be_visible()


def test_where_a_table_is_only_read_nothing_is_loaded_that_edits(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada, viewport=DESK).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/askew/")[2]))
    page.goto(f"{live_server.url}/batches/{world.batch(overlap=1).public_id}/annotate/")
    takes_keys(page)
    edits = {"editing", "structuring", "changing", "edits", "operations", "contract", "editor", "clipboard"}
    assert "grid.js" in asked
    assert not {f"{name}.js" for name in edits} & set(asked)


def test_without_scripts_enter_keeps_what_was_entered_and_submits_nothing(
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


def test_without_scripts_enter_on_a_choice_keeps_it(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(overlap=1)
    context = signed_in(new_context, live_server.url, world.ada, viewport=DESK, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    page.locator("[value=reasoning]").check()
    with page.expect_navigation():
        page.locator("[value=reasoning]").press("Enter")
    expect(page.locator("[value=reasoning]")).to_be_checked()
    assert not Annotation.objects.exists()


def test_without_scripts_undo_keeps_what_was_entered_in_the_item_on_the_page(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(overlap=1)
    context = signed_in(new_context, live_server.url, world.ada, viewport=DESK, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    page.locator("[value=extraction]").check()
    page.locator("button.primary").click()
    second = page.locator("[name=assignment]").first.input_value()
    page.locator("[value=neither]").check()
    page.locator("button[value=undo]").click()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/?assignment={second}")
    expect(page.locator("[value=neither]")).to_be_checked()


# -- keys --------------------------------------------------------------------------------------------


def test_keys_can_be_moved_and_switched_off_and_stay_so(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1), viewport=DESK)
    page.clock.install()
    first = question(page)
    page.keyboard.press("?")
    page.get_by_role("button", name="Change the shortcut for Extraction").press("Enter")
    page.keyboard.press("k")
    page.keyboard.press("Escape")
    page.reload()
    takes_keys(page)
    expect(page.locator("kbd[data-shortcut='label:extraction']")).to_have_text("K")
    page.keyboard.press("1")
    passes(page, 300)
    assert question(page) == first
    page.keyboard.press("k")
    expect(page.locator(".question")).not_to_have_text(first)
    second = question(page)
    page.get_by_role("button", name="Shortcuts").click()
    page.get_by_role("switch").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    takes_keys(page)
    for key in ("k", "2", "s", "i", "?"):
        page.keyboard.press(key)
    passes(page, 300)
    assert question(page) == second
    expect(page.locator("dialog[open], details.pop[open]")).to_have_count(0)
    expect(page.locator("kbd[data-shortcut='label:reasoning']")).to_be_hidden()


def test_a_choice_cannot_be_moved_onto_the_key_of_an_action_nor_an_action_onto_that_of_a_choice(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1), viewport=DESK)
    first = question(page)
    page.keyboard.press("?")
    dialog = page.locator("dialog[open]")

    def move(action: str, key: str) -> None:
        dialog.get_by_role("button", name=f"Change the shortcut for {action}").press("Enter")
        page.keyboard.press(key)

    for action, key, reason in (
        ("Extraction", "s", "S is the shortcut for “Skip this item”."),
        ("Skip this item", "2", "2 is the shortcut for “Reasoning”."),
        ("Skip this item", "7", "Digits choose options."),
    ):
        move(action, key)
        expect(dialog.get_by_role("alert")).to_contain_text(reason)
        expect(dialog.get_by_role("button", name=f"Change the shortcut for {action}")).to_be_focused()
        accessible(page)
    for action, other, key in (("Extraction", "Reasoning", "2"), ("Skip this item", "Flag this item", "g")):
        move(action, key)  # two of one sort change places
        expect(dialog.get_by_role("alert")).to_have_count(0)
        expect(dialog.get_by_role("row", name=other)).not_to_contain_text(key.upper())
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    expect(page.locator("details[data-panel=skip]")).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(page.locator(".question")).not_to_have_text(first)
    assert Annotation.objects.get().response["data"] == {"label": "extraction"}  # type: ignore[index]


@pytest.mark.console_may_say("Failed to")
def test_that_the_list_of_keys_does_not_come_is_said_and_it_is_asked_for_again(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1), viewport=DESK)
    first = question(page)
    intercept(page, "**/askew/all-keys*.js", lambda route: route.abort())
    page.keyboard.press("?")
    page.keyboard.press("1")  # the list has the keys, whatever stands in it
    expect(page.locator("dialog[open]")).to_contain_text("The server cannot be reached.")
    assert question(page) == first
    page.keyboard.press("Escape")
    page.unroute("**/askew/all-keys*.js")
    page.keyboard.press("?")
    expect(page.locator("dialog[open] table.keys").first).to_be_visible()


def test_keys_that_rest_while_one_types_look_so(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_stays")
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=DESK)
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


# -- touch screens -----------------------------------------------------------------------------------

TOUCH = {"has_touch": True, "is_mobile": True}
OF_KEYS = re.compile(
    r"arrow keys|\bSpace\b|\bEnter\b|\bEsc\b|keyboard|keys act|Shortcuts|by key\b", re.IGNORECASE
)


@pytest.mark.parametrize("size", [PHONE, {"width": 1180, "height": 820}], ids=["phone", "tablet"])
def test_a_touch_screen_shows_no_hint_of_a_key(
    world: World, new_context: NewContext, live_server: Any, size: dict[str, int]
) -> None:
    page = signed_in(new_context, live_server.url, world.ada, viewport=size, **TOUCH).new_page()
    hints = {}
    for task in KINDS:
        page.goto(f"{live_server.url}/projects/films/practice/{task.key}/")
        takes_keys(page)
        settled(page)
        if page.locator("askew-grid .pointed").count():
            page.locator("askew-grid .pointed td").first.tap()
        page.locator(".sr").evaluate_all("(parts) => parts.forEach((part) => { part.hidden = true; })")
        text = page.locator("main").inner_text()
        hints[task.key] = [*OF_KEYS.findall(text), *page.locator("kbd:visible").all_inner_texts()]
    assert {name: words for name, words in hints.items() if words} == {}


# -- every kind --------------------------------------------------------------------------------------

WAYS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESK},
    "dark, phone": {"viewport": PHONE, "color_scheme": "dark"},
    "zoomed to 200 %": {"viewport": {"width": 640, "height": 425}},
    "forced colours": {"viewport": DESK, "forced_colors": "active", "reduced_motion": "reduce"},
    "dark, forced colours": {
        "viewport": DESK,
        "color_scheme": "dark",
        "forced_colors": "active",
        "reduced_motion": "reduce",
    },
}

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


@pytest.mark.parametrize("way", WAYS)
def test_the_page_of_every_kind_can_be_used_by_everybody(
    world: World, new_context: NewContext, live_server: Any, way: str
) -> None:
    """On the practice set of each kind, which is drawn by the same page: axe, no sideways scrolling, the bar in reach."""
    page = signed_in(new_context, live_server.url, world.ada, **WAYS[way]).new_page()
    for task in KINDS:
        page.goto(f"{live_server.url}/projects/films/practice/{task.key}/")
        takes_keys(page)
        settled(page)
        for width in WIDTHS if way == "light" else ():
            page.set_viewport_size({"width": width, "height": 850})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (task.key, width)
        page.set_viewport_size(WAYS[way]["viewport"])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), task.key
        assert "forced" not in way or page.evaluate("document.getAnimations().length") == 0
        submit = page.locator(".actions button[value=submit]")
        submit.scroll_into_view_if_needed()
        expect(submit).to_be_in_viewport(ratio=1)
        if way in ("light", "dark, phone") or ("forced" in way and task.key in ALL_CONTROLS):
            page.evaluate("scrollTo(0, document.body.scrollHeight)")  # the bar covers nothing there
            accessible(page)
        page.locator("[data-guidelines-button]").click()
        prose = page.locator(".guidelines .prose")
        (expect(prose).to_be_hidden if WAYS[way]["viewport"] == DESK else expect(prose).to_be_visible)()


def test_the_plain_pages_can_be_used_by_everybody(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada, viewport=DESK).new_page()
    for key in ("column_extension", "column_masking", "header_synonym", "value_change"):
        variant = "answer_changes" if key == "value_change" else ""
        batch = world.batch(key, variant=variant, size=1)
        page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/?plain=1")
        expect(page.locator("a[href*='suggest=1']")).to_be_visible()
        accessible(page)


def test_what_is_chosen_can_be_seen_in_forced_colours(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    """Where the browser sets the colours, a choice is seen by its mark or its outline."""
    page = signed_in(
        new_context, live_server.url, world.ada, viewport=DESK, forced_colors="active"
    ).new_page()
    page.goto(f"{live_server.url}/projects/films/practice/answer_rating/")
    takes_keys(page)
    page.locator(".steps label").nth(1).click()
    chosen = page.locator(".steps label", has=page.locator(":checked")).first
    assert chosen.evaluate("label => getComputedStyle(label).outlineStyle") == "solid"


# -- practice ----------------------------------------------------------------------------------------


def test_practice_has_one_primary_button_with_enter_at_any_time(
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


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_practice_says_whether_it_was_right_why_and_what_comes_next(
    world: World, new_context: NewContext, live_server: Any, scripts: bool
) -> None:
    context = signed_in(new_context, live_server.url, world.ada, viewport=DESK, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"{live_server.url}/projects/films/practice/question_type/")
    if scripts:
        takes_keys(page)
    first = question(page)
    words = page.locator("[data-feedback]")
    expect(words).to_be_hidden()

    def answer(label: str) -> None:
        if scripts:
            page.keyboard.press({"extraction": "1", "unanswerable": "4"}[label])
        else:
            page.locator(f"[value={label}]").check()
            page.get_by_role("button", name="Check").click()

    answer("unanswerable")
    expect(words).to_contain_text("Does not follow the guidelines")
    expect(words).to_contain_text("Why:")
    expect(words).to_be_in_viewport(ratio=1)
    if scripts:
        page.locator("[value=reasoning]").press("Space")  # a press of the pointer would submit
        expect(words).to_be_hidden()  # it was about another answer
    answer("extraction")
    expect(words).to_contain_text("Correct")
    if scripts:
        accessible(page)
        expect(words.get_by_role("button")).to_be_focused()
        page.keyboard.press("Enter")
    else:
        words.get_by_role("link", name="Next exercise").click()
    expect(page.locator(".question")).not_to_have_text(first)
    expect(words).to_be_hidden()
