"""The model in the loop on the page: it is there when somebody stops typing, and nothing waits for it when it is not."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.assistance import tickets
from annotation.models import Annotation, Batch, Draft, Try
from benchmarks.share import MEASURE
from predictor import client
from predictor.protocol import Alternative, Prediction, PredictRequest
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.annotation.test_predicting import knows_the_word_come
from tests.browser.pages import HeldRequests, annotating, intercept, settled, signed_in, takes_keys
from tests.gateways import gateway
from tests.in_flight import wait_until_quiet
from tests.predictor.scripted import ScriptedServer, answer, scripted

pytestmark = pytest.mark.django_db(transaction=True)

Contexts = Callable[..., BrowserContext]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def server(settings: Any, browser: Browser) -> Iterator[ScriptedServer]:
    with scripted(knows_the_word_come) as script:
        settings.PREDICTORS = {"small": script.entry}
        yield script
        for (
            context
        ) in browser.contexts:  # pages go first: a page that has the next item asks about it at once
            context.close()
        wait_until_quiet()
        client.connect(script.entry).close()
        client._cached_model.cache_clear()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def a_batch(world: World, **more: Any) -> Batch:
    more = {"variant": "word", "loop_model": "small", "overlap": 1, **more}
    return world.batch("question_paraphrase", **more)


def state(page: Page, name: str) -> None:
    expect(page.locator("askew-prediction")).to_have_attribute("data-state", name)


def type_question(page: Page, text: str) -> None:
    page.locator("textarea[name=question]").fill(text)


def test_a_reworded_question_is_previewed_while_typing_checked_with_enter_and_submitted_with_a_digit(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    state(page, "answered")
    question = page.locator(".question").inner_text()
    pressed: list[str] = []
    page.on("console", lambda message: pressed.append(message.text))
    page.evaluate("addEventListener('keydown', ({ key }) => console.log(key), { capture: true })")
    expect(page.locator("[data-part=perturbed]")).to_be_hidden()
    expect(page.locator(".says")).to_contain_text("Right on the original")
    label, first = page.locator(".says .verdict").bounding_box(), page.locator(".says .answer").bounding_box()
    assert label is not None
    assert first is not None
    assert first["x"] - (label["x"] + label["width"]) >= 4, "a space between the label and the answer"
    words = page.locator("textarea[name=question]")
    words.fill("in which year was it released")
    state(page, "stale")
    state(page, "answered")
    assert not Try.objects.exists(), "a preview is not kept"
    assert Draft.objects.get().response["data"]["question"] == "in which year was it released"
    expect(page.locator("td.looked")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    state(page, "answered")
    expect(page.locator("[name=category]").first).to_be_focused()
    page.keyboard.press("w")
    expect(words).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type("?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text("2 checks")
    page.keyboard.press("2")
    expect(page.locator(".question")).not_to_have_text(question)
    expect(page.locator("[data-part=tries]")).to_have_text("")
    assert pressed == ["Enter", "w", "End", "?", "Enter", "2"]
    assert [row.kind for row in Try.objects.order_by("pk")] == ["person", "person", "submission"]
    assert Try.objects.get(kind="submission").verdicts.exists()
    data = (Annotation.objects.get().response or {})["data"]
    assert (data["question"], data["category"]) == ("in which year was it released?", "reasoning_carrier")


def test_beside_a_model_that_hangs_typing_saving_and_submitting_go_on_and_it_comes_back_by_itself(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer
) -> None:
    server.mood = "hung"
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    question = page.locator(".question").inner_text()
    type_question(page, "which year saw it in cinemas?")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    state(page, "unavailable")
    expect(page.locator("[data-part=words]")).to_contain_text("You can continue and submit.")
    assert Draft.objects.get().response["data"]["question"] == "which year saw it in cinemas?"
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(question)
    response = Annotation.objects.get().response or {}
    assert response["data"]["question"] == "which year saw it in cinemas?"
    row = Try.objects.get()
    assert (row.kind, row.answered_at) == ("submission", None)
    server.stop.set()  # what hangs lets go
    server.mood = "well"
    expect(page.locator("askew-prediction")).to_have_attribute("data-state", "answered", timeout=30_000)
    assert faults == []


ON_TOP = """(part) => {
  const { left, right, top, bottom } = part.getBoundingClientRect();
  return [top + 9, bottom - 9].every((y) => part.contains(document.elementFromPoint((left + right) / 2, y)));
}"""
"""Whether the first and the last line of a part are seen."""


def test_the_details_open_wholly_in_sight_on_a_phone_and_beside_the_table(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer
) -> None:
    others = (Alternative(("1979",), 0.15), Alternative(("Stalker", "Alien"), 0.05))
    server.says = answer("3", topk=others)
    table = Table(["Team", "Wins"], [[f"Team {n}", str(n)] for n in range(20)])
    source = world.import_written(Example("e", "how many wins has team 3?", table, ["3"]))
    for kind, variant, options in (
        ("question_paraphrase", "sentence", PHONE),
        ("value_change", "answer_changes", PHONE),
        ("question_paraphrase", "sentence", {"viewport": {"width": 1366, "height": 850}}),
    ):
        batch = world.batch(kind, variant=variant, sources=[source], loop_model="small", overlap=1)
        page = annotating(new_context, live_server.url, world.ada, batch, **options)
        state(page, "answered")
        summary = page.locator(".more > summary")
        if options is PHONE:
            summary.evaluate(JUST_ABOVE_THE_BAR)
        summary.evaluate("(summary) => summary.click()")
        settled(page)
        details = page.locator(".more > .popped")
        expect(details).to_be_in_viewport(ratio=1)
        assert details.evaluate(ON_TOP), "the bar covers nothing of it"
        expect(page.locator("[data-part=name]")).to_be_hidden()
        page.locator(".about > summary").click()
        expect(page.locator("[data-part=name]")).to_be_visible()
        settled(page)
        expect(details).to_be_in_viewport(ratio=1)
        facts = page.locator("[data-part=facts]")
        facts.scroll_into_view_if_needed()
        expect(facts).to_be_in_viewport(ratio=1)
        expect(facts).to_contain_text("margin 60 points")
        page.context.close()


JUST_ABOVE_THE_BAR = """(summary) => scrollBy(0, summary.getBoundingClientRect().bottom + 4
  - document.querySelector(".actions").getBoundingClientRect().top)"""


LOOK = """(cell) => {
  const { outlineStyle, boxShadow } = getComputedStyle(cell);
  const { content, visibility } = getComputedStyle(cell, "::before");
  return [outlineStyle, boxShadow, content.startsWith('"◉"') && visibility === "visible"];
}"""
"""Of a cell: its outline, its frame, and whether it has the sign of a cell that the model used."""


def test_cells_that_the_model_used_have_a_sign_and_a_legend_also_in_forced_colours(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer
) -> None:
    server.says = lambda request: answer(request.table.rows[0][1], cells=((0, 1), (2, 1)))(request)
    batch = world.batch("value_change", variant="answer_changes", loop_model="small", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    state(page, "answered")
    used, current, both = (page.locator(f"[data-row=r{row}] [data-column=c1]") for row in (0, 1, 2))
    legend = page.locator(".legend")
    current.click()
    expect(current).to_be_focused()
    for colours in COLOURS:
        page.emulate_media(forced_colors=colours)
        assert used.evaluate(LOOK) == ["none", "none", True]
        outline, _, sign = current.evaluate(LOOK)
        assert (outline, sign) == ("solid", False)
        expect(legend).to_be_visible()
    expect(used).to_have_accessible_description("used by the model")
    expect(legend.locator("li")).to_have_text(["current cell", "keys act here", "cells the model used"])
    page.keyboard.press("Shift+ArrowDown")  # a selection from the current cell over one that the model used
    expect(both).to_be_focused()
    for colours in COLOURS:
        page.emulate_media(forced_colors=colours)
        assert both.evaluate(LOOK)[2], "a current cell that the model used shows both"
    page.keyboard.type("19")  # the answer is about another table from now on
    expect(page.locator("td.looked")).to_have_count(0)
    expect(legend).to_be_hidden()


COLOURS: tuple[Literal["none", "active"], ...] = ("none", "active")


BOXES = """() => [...document.querySelectorAll(
  "askew-prediction, .says > p, askew-prediction .controls, textarea, fieldset.choices, askew-grid, .actions"
)].filter((part) => part.checkVisibility()).map((part) => {
  const { x, y, width, height } = part.getBoundingClientRect();
  return [x, y, width, height].map(Math.round);
})"""
"""Where everything visible around the verdict lies. Chromium lays out closed <details> (Skip, Flag, Ask) at its leisure."""
CHECK = "document.querySelector('askew-prediction').check(), null"
PLACE = "(part) => [part.getBoundingClientRect().x, part.getBoundingClientRect().y].map(Math.round)"


def change(page: Page, kind: str) -> None:
    """Something of this task type that a model can be asked about."""
    if kind == "question_paraphrase":
        type_question(page, "which year saw it in cinemas?")
    elif kind == "value_change":
        page.locator("[data-row=r0] [data-column=c1]").click()
        page.keyboard.type("2001")
        page.keyboard.press("Enter")
        page.locator("textarea[name=answers]").fill("2001")
    else:
        page.locator(".line [role=gridcell]").first.focus()
        page.keyboard.press("F2")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("Motion picture")
        page.keyboard.press("Enter")
    state(page, "answered")
    expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")


@pytest.mark.parametrize("kind", ["question_paraphrase", "value_change", "header_synonym"])
def test_nothing_moves_whatever_is_entered_and_before_during_and_after_the_model_is_asked(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer, kind: str
) -> None:
    table = Table(["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"]])
    question = "which film has the most minutes, and which one is the most recent?"
    source = world.import_written(Example("f", question, table, ["Heat"]))
    variants = {"question_paraphrase": "word", "value_change": "answer_changes"}
    batch = world.batch(kind, variant=variants.get(kind, ""), sources=[source], loop_model="small", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch, viewport={"width": 1366, "height": 850})
    state(page, "answered")
    settled(page)
    line = page.locator(".prediction .says > p").first
    before = line.evaluate(PLACE)
    if kind == "question_paraphrase":
        type_question(page, f"{question.replace('film', 'motion picture')} Name both of them in words.")
    elif kind == "value_change":
        page.locator("[data-row=r1] [data-column=c2]").click()
        page.keyboard.type("300")
        page.keyboard.press("Enter")
        expect(page.locator("askew-disagreement button")).to_have_count(2)
        state(page, "answered")
        settled(page)
        assert line.evaluate(PLACE) == before
        page.locator("textarea[name=answers]").fill("Alien")
        state(page, "stale")
    else:
        change(page, kind)
    state(page, "answered")
    expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")
    settled(page)
    assert line.evaluate(PLACE) == before
    for width, height in ((1366, 850), (390, 844)):
        if page.viewport_size != {"width": width, "height": height}:
            page.set_viewport_size({"width": width, "height": height})
            page.reload()  # the table is fitted to the new window
            takes_keys(page)
            state(page, "answered")
            expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")
            settled(page)
        boxes = page.evaluate(BOXES)
        held = HeldRequests(page, "**/predictions/")
        page.evaluate(CHECK)
        state(page, "waiting")
        during = page.evaluate(BOXES)
        held.answer()
        expect(page.locator("[data-part=tries]")).to_have_text("1 check")
        state(page, "answered")
        assert len(boxes) >= 6
        assert during == boxes
        assert page.evaluate(BOXES) == boxes
        page.unroute("**/predictions/")


@pytest.mark.parametrize("layout", ["phone", "below"])
def test_below_the_table_the_model_moves_nothing_while_it_answers_to_a_change(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer, layout: str
) -> None:
    table = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])
    source = world.import_written(Example("f", "when did Heat come out?", table, ["1995"]))
    options = PHONE if layout == "phone" else {"viewport": {"width": 1280, "height": 720}}
    if layout == "below":
        world.ada.personal_settings = {"layout": "below"}
        world.ada.save()
    below = """(box) => Math.round(
        box.getBoundingClientRect().top - document.querySelector("askew-grid").getBoundingClientRect().top
    )"""
    for kind, variant in (("question_paraphrase", "word"), ("value_change", "answer_changes")):
        batch = world.batch(kind, variant=variant, sources=[source], loop_model="small", overlap=1)
        page = annotating(new_context, live_server.url, world.ada, batch, **options)
        state(page, "answered")
        expect(page.locator("td.looked")).to_have_count(1)
        change(page, kind)
        state(page, "answered")
        settled(page)
        box = page.locator("askew-prediction")
        answered = box.evaluate(below)
        predictions = HeldRequests(page, "**/predictions/")
        if kind == "value_change":
            page.locator("textarea[name=answers]").fill("2002")
        else:
            type_question(page, "which year saw it in the cinema?")
        state(page, "stale")
        assert box.evaluate(below) == answered
        predictions.let_go()
        state(page, "answered")
        assert box.evaluate(below) == answered
        page.context.close()


def test_the_guidelines_of_the_chosen_option_move_neither_the_line_of_the_model_nor_its_words(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer
) -> None:
    table = Table(["Club", "Wins"], [["Greystones Rovers", "1"], ["Dundalk Gaels Athletic", "2"]])
    server.says = lambda request: answer("1" if "number" in request.question else "Dundalk Gaels Athletic")(
        request
    )
    source = world.import_written(Example("w", "what is the number of wins for Greystones?", table, ["1"]))
    batch = a_batch(world, variant="sentence", sources=[source])
    page = annotating(new_context, live_server.url, world.ada, batch, viewport={"width": 1280, "height": 720})
    expect(page.locator(".guidelines")).to_be_visible()
    state(page, "answered")
    line = page.locator(".prediction .says > p").first
    before = line.evaluate(PLACE)
    type_question(page, "how often did Greystones win?")
    page.keyboard.press("Enter")
    expect(page.locator(".prediction")).to_have_attribute("data-verdict", re.compile("fooled|unsure"))
    settled(page)
    assert page.locator(".guidelines .fits").count() == 1
    assert line.evaluate(PLACE) == before
    expected = line.locator(".expected")
    assert expected.evaluate("(part) => part.scrollWidth <= part.clientWidth + 1"), expected.inner_text()


@pytest.fixture
def gateway_url(server: ScriptedServer, settings: Any) -> Iterator[str]:
    settings.MODEL_GATEWAY = True
    with gateway() as url:
        yield url


def behind_the_gateway(page: Page, url: str) -> list[str]:
    """Pass /gateway/ on, as nginx does; which requests went to models, by the end of their path."""
    page.route("**/gateway/", lambda route: route.continue_(url=f"{url}/gateway/"))
    asked: list[str] = []
    page.on(
        "request",
        lambda request: (
            asked.append(request.url.rstrip("/").rpartition("/")[2])
            if re.search(r"/(gateway|predictions|ticket)/$", request.url)
            else None
        ),
    )
    return asked


@pytest.mark.console_may_say("401")
@pytest.mark.console_may_say("502")
def test_the_gateway_answers_takes_a_new_ticket_and_delays_no_submission_and_without_it_the_web_process_answers(
    new_context: Contexts,
    live_server: Any,
    world: World,
    server: ScriptedServer,
    gateway_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Models that are killed or frozen, twenty times each, in processes that get signals: see docs/performance.md."""
    batch = a_batch(world)
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    asked = behind_the_gateway(page, gateway_url)
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    takes_keys(page)
    state(page, "answered")
    type_question(page, "in which year was Stalker released?")
    expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")
    page.locator("textarea[name=question]").press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    state(page, "answered")
    assert [row.kind for row in Try.objects.all()] == ["person"]
    assert asked.count("ticket") == 1

    with monkeypatch.context() as later:
        later.setattr(tickets, "SALT", "of another time")
        type_question(page, "what year is it from?")
        state(page, "stale")
        state(page, "answered")
        assert asked.count("ticket") == 2

        server.mood = "hung"
        type_question(page, "which year saw it in cinemas?")
        state(page, "unavailable")
        page.keyboard.press("Escape")
        page.keyboard.press("1")
        expect(page.locator("[data-progress-text]")).to_contain_text("1 of")
        assert Annotation.objects.count() == 1
        server.mood = "well"
        expect(page.locator("askew-prediction")).to_have_attribute("data-state", "answered", timeout=30_000)
        assert "predictions" not in asked

    page.unroute("**/gateway/")
    intercept(page, "**/gateway/", lambda route: route.fulfill(status=502, body="<html>Bad Gateway"))
    with page.expect_request("**/predictions/"):
        type_question(page, "what year is it from?")
    state(page, "answered")
    page.context.close()


def test_models_of_the_panel_are_shown_as_each_answers(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer, settings: Any
) -> None:
    with scripted(answer("42")) as other:
        settings.PREDICTORS = {"small": server.entry, "other": {**other.entry, "panel": True}}
        page = signed_in(new_context, live_server.url, world.ada).new_page()
        page.goto(f"{live_server.url}/batches/{a_batch(world).public_id}/annotate/")
        takes_keys(page)
        state(page, "answered")
        page.locator(".more > summary").click()
        shown = page.locator("[data-part=panel] li")
        expect(shown).to_have_text("other: Wrong on the original · 42 · fairly sure")
        server.mood = "hung"
        asked = len(other.asked)
        type_question(page, "what year is it from?")
        state(page, "unavailable")
        expect(shown).to_have_text("other: Wrong on the original · 42 · fairly sure")
        assert len(other.asked) > asked, "one that hangs holds up no other"
        page.reload()
        takes_keys(page)
        page.locator(".more > summary").click()
        expect(shown).to_have_text("other: Wrong on the original · 42 · fairly sure")
        expect(shown).to_be_visible()  # also before the model in the loop has answered once
        page.context.close()
        wait_until_quiet()


def test_beside_a_long_answer_a_large_table_has_half_of_the_window_and_a_phone_does_not_scroll_sideways(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer
) -> None:
    long = "b" * 80
    server.says = lambda request: answer(long, cells=((0, 1),))(request)
    rows = [[f"{name * 12} {row}" for name in "abcdefghij"] for row in range(40)]
    table = Table([f"Name {name}" for name in range(10)], rows)
    source = world.import_written(Example("large", "what comes first?", table, [long]))
    for kind in ("header_synonym", "header_abbreviation", "column_extension", "column_masking"):
        batch = world.batch(kind, loop_model="small", overlap=1, sources=[source])
        viewport = {"width": 1280, "height": 720}
        page = annotating(new_context, live_server.url, world.ada, batch, viewport=viewport)
        state(page, "answered")
        expect(page.locator(".legend")).to_be_visible()
        for is_open, least in ((True, 35), (False, 50)):
            button = page.locator("[data-guidelines-button]")
            if (button.get_attribute("aria-expanded") == "true") != is_open:
                button.click()
            settled(page)
            assert page.evaluate(MEASURE)["share"] >= least, kind
        page.set_viewport_size({"width": 390, "height": 844})
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, "the long answer is cut instead"
        page.context.close()


SIZES = ((1280, 720), (1366, 850), (390, 844))
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


@pytest.mark.parametrize("locale", ["en", "de"])
def test_the_line_is_never_cut_where_the_model_is_fooled_and_where_it_gets_the_item_wrong(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer, locale: str
) -> None:
    server.says = lambda request: answer(
        "1900" if "released" in request.question else knows_the_word_come(request).answers[0]
    )(request)
    page = annotating(new_context, live_server.url, world.ada, a_batch(world), locale=locale)
    box = page.locator("askew-prediction")
    expect(page.locator(".says .verdict")).to_be_visible()
    state(page, "answered")
    before = boxes_at_every_size(page)
    type_question(page, "in which year was it released?")
    expect(box).to_have_attribute("data-verdict", "fooled")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text(re.compile("^1 "))
    state(page, "answered")
    after = boxes_at_every_size(page, check_that_the_verdict_is_whole)
    assert [box[2:] for box in after] == [box[2:] for box in before]
    page.context.close()

    is_measured = threading.Event()

    def answers_after_the_measurement(request: PredictRequest) -> Prediction:
        is_measured.wait(20)
        return answer("1666")(request)

    server.says = answers_after_the_measurement
    table = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])
    source = world.import_written(Example("shown", "when was Heat shown?", table, ["1995"]))
    page = annotating(
        new_context, live_server.url, world.ada, a_batch(world, sources=[source]), locale=locale
    )
    before = boxes_at_every_size(page)
    is_measured.set()
    expect(page.locator("askew-prediction")).to_have_attribute("data-verdict", "wrong_on_original")
    after = boxes_at_every_size(page, check_that_the_quiet_line_is_whole)
    assert after == before
    expect(page.locator("button[name=check]")).to_be_hidden()


def boxes_at_every_size(
    page: Page, check: Callable[[Page, int], None] = lambda page, width: None
) -> list[list[int]]:
    """Position, width and height of the model's line in windows of each size; `check` is called in each."""
    boxes = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        page.evaluate(FRAMES)
        check(page, width)
        box = page.locator("askew-prediction").bounding_box()
        assert box is not None
        boxes.append([round(box["x"]), round(box["y"]), round(box["width"]), round(box["height"])])
    return boxes


def check_that_the_verdict_is_whole(page: Page, width: int) -> None:
    parts = page.locator(".says [data-part=line] > span")
    assert parts.count() == 5, "verdict, answer, what was expected, how sure, meaning"
    assert len({round(part.bounding_box()["y"]) for part in parts.all()}) == 1  # type: ignore[index]
    for part in parts.all():
        assert part.evaluate("(part) => part.scrollWidth - part.clientWidth") <= 0, part.inner_text()
    for line in page.locator(".says > p").all():
        assert line.evaluate("(line) => line.scrollHeight - line.clientHeight") <= 0, line.inner_text()
    box, first = (
        page.locator("askew-prediction").bounding_box(),
        page.locator(".says > p").first.bounding_box(),
    )
    assert box is not None
    assert first is not None
    assert box["height"] <= 2 * first["height"] <= 64, "one line, and one for the controls"


def check_that_the_quiet_line_is_whole(page: Page, width: int) -> None:
    cut = page.locator(".says .verdict").evaluate("(part) => part.scrollWidth - part.clientWidth")
    assert cut <= 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
