"""The model in the loop on the page: it is there when somebody stops typing, and nothing waits for it when it is not."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.help import predicting, tickets
from annotation.models import Annotation, Batch, Draft, Try
from benchmarks.share import MEASURE
from predictor import client, listing
from predictor.protocol import Alternative, Prediction, PredictRequest
from predictor.server import bundled
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.annotation.test_predicting import knows_the_word_come
from tests.browser.pages import HeldRequests, annotating, intercept, passes, settled, signed_in, takes_keys
from tests.gateways import gateway
from tests.in_flight import wait_until_quiet
from tests.predictor.scripted import Scripted, answer, chat_stub, scripted
from tests.predictor.test_server import serving
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

Contexts = Callable[..., BrowserContext]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def server(settings: Any, browser: Browser) -> Iterator[Scripted]:
    with scripted(knows_the_word_come) as script:
        settings.PREDICTORS = {"small": script.entry}
        yield script
        for (
            context
        ) in browser.contexts:  # pages go first: a page that has the next item asks about it at once
            context.close()
        wait_until_quiet()
        client.connect(script.entry).close()
        client._connected.cache_clear()


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


def seen_by_the_model(page: Page) -> list[str]:
    return page.locator(".looks :is([data-part=original], [data-part=perturbed]) li").all_text_contents()


def test_the_answer_is_there_when_somebody_stops_typing(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    state(page, "answered")
    expect(page.locator("[data-part=perturbed]")).to_have_attribute("hidden", "")
    expect(page.locator(".says")).to_contain_text("Right on the original")
    label, first = page.locator(".says .verdict").bounding_box(), page.locator(".says .answer").bounding_box()
    assert label is not None
    assert first is not None
    assert first["x"] - (label["x"] + label["width"]) >= 4, "a space between the label and the answer"
    expect(page.locator("[data-part=words]")).to_contain_text("answers the original correctly")
    page.locator("textarea[name=question]").fill("in which year was it released")
    state(page, "stale")
    state(page, "answered")
    expect(page.locator("[data-part=words]")).to_contain_text("model")
    assert not Try.objects.exists(), "a preview is not kept"
    assert Draft.objects.get().response["data"]["question"] == "in which year was it released"
    expect(page.locator("td.looked")).to_have_count(1)
    expect(page.locator("[data-part=facts]")).to_contain_text("fairly sure (75 %)")
    expect(page.locator("[data-part=facts]")).to_contain_text("Year")


@pytest.mark.smoke
def test_enter_asks_for_the_verdict_and_a_digit_submits(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    question = page.locator(".question").inner_text()
    pressed = []
    page.on("console", lambda message: pressed.append(message.text))
    page.evaluate("addEventListener('keydown', ({ key }) => console.log(key), { capture: true })")
    page.locator("textarea[name=question]").fill("in which year was Stalker released?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    state(page, "answered")
    expect(page.locator("[name=category]").first).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(question)
    expect(page.locator("[data-part=tries]")).to_have_text("")
    assert pressed == ["Enter", "1"]
    assert [row.kind for row in Try.objects.order_by("pk")] == ["person", "submission"]
    assert Try.objects.get(kind="submission").verdicts.exists()


def test_the_next_item_shows_no_answer_to_the_last_one(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    question = page.locator(".question").inner_text()
    page.locator("textarea[name=question]").fill("in which year was Stalker released?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    state(page, "answered")
    model = page.locator("askew-prediction")
    line = model.locator("[data-part=line]")
    expect(line).not_to_be_empty()
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))  # before the model is asked about the next item
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(question)
    expect(line).to_be_empty()
    expect(model).to_have_attribute("data-verdict", "")
    expect(model).to_have_attribute("data-state", "idle")
    expect(model.locator("[data-part=looks]")).to_have_attribute("hidden", "")


def test_after_a_verdict_a_letter_leads_back_to_the_words(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    words = page.locator("textarea[name=question]")
    words.fill("in which year was Stalker released?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    page.keyboard.press("w")
    expect(words).to_be_focused()
    expect(words).to_have_value("in which year was Stalker released?")
    page.keyboard.press("End")
    page.keyboard.type(" tell me.")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text("2 checks")
    assert not Annotation.objects.exists()
    page.keyboard.press("2")
    expect(page.locator("[data-progress-text]")).to_contain_text("1 of")
    assert Annotation.objects.filter(response__data__category="reasoning_carrier").exists()


def test_where_it_is_said_what_was_changed_enter_asks_and_enter_submits(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    page.get_by_role("radio", name="A synonym for the operation (first, most, difference)").press("Space")
    page.locator("textarea[name=question]").fill("in which year was Stalker released?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    state(page, "answered")
    assert not Annotation.objects.exists()
    page.keyboard.press("Enter")
    expect(page.locator("[data-progress-text]")).to_contain_text("1 of")


@pytest.mark.parametrize(("width", "height"), [(1366, 850), (390, 844)])
def test_the_details_have_the_next_best_answers_and_the_margin_of_the_first(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, width: int, height: int
) -> None:
    others = (Alternative(("1979",), 0.15), Alternative(("Stalker", "Alien"), 0.05))
    server.says = lambda request: answer("1995", topk=others if "year" in request.question else ())(request)
    viewport = {"width": width, "height": height}
    page = annotating(new_context, live_server.url, world.ada, a_batch(world), viewport=viewport)
    state(page, "answered")
    page.locator(".more > summary").click()
    facts = page.locator("[data-part=facts]")
    expect(facts).to_contain_text("fairly sure (75 %)")
    expect(facts).not_to_contain_text("next:")
    type_question(page, "in which year was it released?")
    expect(facts).to_contain_text("next: 1979 (15 %), Stalker | Alien (5 %); margin 60 points")
    facts.scroll_into_view_if_needed()
    expect(facts).to_be_in_viewport(ratio=1)
    assert {body["options"]["topk"] for body in server.asked} == {3}


@pytest.mark.parametrize("kind", ["question_paraphrase", "value_change"])
def test_on_a_phone_the_details_open_wholly_in_sight(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, kind: str
) -> None:
    others = (Alternative(("1979",), 0.15), Alternative(("Stalker", "Alien"), 0.05))
    server.says = answer("3", topk=others)
    table = Table(["Team", "Wins"], [[f"Team {n}", str(n)] for n in range(20)])
    source = world.import_written(Example("e", "how many wins has team 3?", table, ["3"]))
    variant = {"question_paraphrase": "sentence", "value_change": "answer_changes"}[kind]
    batch = world.batch(kind, variant=variant, sources=[source], loop_model="small", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch, **PHONE)
    state(page, "answered")
    above_the_bar = """(summary) => scrollBy(0, summary.getBoundingClientRect().bottom + 4
      - document.querySelector(".actions").getBoundingClientRect().top)"""
    page.locator(".more > summary").evaluate(above_the_bar)
    page.locator(".more > summary").evaluate("(summary) => summary.click()")
    settled(page)
    details = page.locator(".more > .popped")
    expect(details).to_be_in_viewport(ratio=1)
    assert details.evaluate(ON_TOP), "the bar covers nothing of it"
    page.locator(".about > summary").tap()
    expect(page.locator(".about [data-part=name]")).to_be_visible()
    settled(page)
    expect(details).to_be_in_viewport(ratio=1)


ON_TOP = """(part) => {
  const { left, right, top, bottom } = part.getBoundingClientRect();
  return [top + 9, bottom - 9].every((y) => part.contains(document.elementFromPoint((left + right) / 2, y)));
}"""
"""Whether the first and the last line of a part are seen."""


def test_the_bundled_model_shows_its_best_three_answers_on_the_page(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, settings: Any
) -> None:
    with serving(bundled()) as served:
        entry = {**server.entry, "url": str(served.base_url).rstrip("/"), "model": "bundled"}
        settings.PREDICTORS = {"bundled": entry}
        page = annotating(new_context, live_server.url, world.ada, a_batch(world, loop_model="bundled"))
        expect(page.locator("askew-prediction")).to_have_attribute("data-state", "answered", timeout=30_000)
        page.locator(".more > summary").click()
        first = " | ".join(page.locator("[data-part=original] li").all_text_contents())
        facts = page.locator("[data-part=facts]").inner_text()
        shown = re.search(
            r"\((\d+) %\) · next: (.+) \((\d+) %\), (.+) \((\d+) %\); margin (\d+) points", facts
        )
        assert shown is not None, facts
        assert len({first, shown[2], shown[4]}) == 3
        shares = [int(shown[number]) for number in (1, 3, 5)]
        assert shares == sorted(shares, reverse=True)
        assert abs(shares[0] - shares[1] - int(shown[6])) <= 1, "shares are whole numbers"
        page.context.close()
        wait_until_quiet()
        client.connect(entry).close()


def test_a_change_that_is_taken_back_is_no_new_question(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    page.clock.install()
    type_question(page, "what year is it from?")
    state(page, "answered")
    expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")
    asked = len(server.asked)
    page.get_by_role("radio", name="A synonym for the operation (first, most, difference)").focus()
    page.keyboard.press("ArrowDown")  # arrows choose and do not submit
    expect(page.locator("[name=category]:checked")).to_have_count(1)
    passes(page, 500)
    state(page, "answered")
    assert len(server.asked) == asked, "what was changed is not asked about"


MOODS = {
    "killed": "unavailable",
    "hung": "unavailable",
    "slow": "unavailable",
    "failing": "unavailable",
    "not_json": "unavailable",
    "other_schema": "unavailable",
    "other_table": "unavailable",
    "huge": "unavailable",
    "dribbling": "unavailable",
    "busy": "busy",
}


@pytest.mark.parametrize("mood", MOODS)
def test_whatever_the_model_does_typing_saving_and_submitting_go_on_and_it_comes_back_by_itself(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, mood: str
) -> None:
    if mood == "killed":
        server.kill()
    else:
        server.mood = mood
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    question = page.locator(".question").inner_text()
    type_question(page, "which year saw it in cinemas?")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    state(page, MOODS[mood])
    expect(page.locator("[data-part=words]")).to_contain_text("You can continue and submit.")
    assert "<" not in page.locator("askew-prediction").inner_text()
    assert Draft.objects.get().response["data"]["question"] == "which year saw it in cinemas?"
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(question)
    said = Annotation.objects.get().response
    assert said is not None
    assert said["data"]["question"] == "which year saw it in cinemas?"
    row = Try.objects.get()
    assert (row.kind, row.answered_at) == ("submission", None)
    if mood == "killed":
        server.start()
    else:
        server.stop.set()  # what hangs lets go
        server.mood = "well"
    expect(page.locator("askew-prediction")).to_have_attribute("data-state", "answered", timeout=30_000)
    assert faults == []


@pytest.mark.parametrize(("rows", "columns", "words"), [(5_000, 2, "5,000 rows"), (3, 200, "200 columns")])
def test_a_table_that_no_model_reads_says_which_limit_it_passes_and_can_be_submitted(
    new_context: Contexts,
    live_server: Any,
    world: World,
    server: Scripted,
    rows: int,
    columns: int,
    words: str,
) -> None:
    table = Table(
        [f"column {place}" for place in range(columns)],
        [[f"{row}.{place}" for place in range(columns)] for row in range(rows)],
    )
    large = Example("large-1", "what comes first in the first column?", table, ["0.0"])
    page = annotating(
        new_context, live_server.url, world.ada, a_batch(world, sources=[world.import_written(large)])
    )
    expect(page.locator("[data-part=words]")).to_contain_text(words, timeout=30_000)
    assert server.asked == [], "what no model takes is not sent"
    type_question(page, "what stands at the top on the left?")
    expect(page.locator("askew-prediction")).to_have_attribute("data-verdict", "model_error")
    expect(page.locator("[data-part=words]")).to_contain_text(words, timeout=30_000)
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible(timeout=30_000)
    assert Annotation.objects.count() == 1


def test_a_model_that_comes_back_is_there_again_by_itself(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    server.kill()
    batch = a_batch(world)
    page = annotating(new_context, live_server.url, world.ada, batch)
    state(page, "unavailable")
    type_question(page, "which year saw it in cinemas?")
    state(page, "unavailable")
    server.start()
    state(page, "answered")
    expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")
    for mood in ("failing", "well", "failing", "well"):
        server.mood = mood
        server.asked.clear()
        type_question(page, f"which year saw it in cinemas, {mood}?")
        wait_until(lambda: server.asked, "the model is asked")
    state(page, "answered")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(page.locator("[data-progress-text]")).to_have_text("1 of 4")
    assert predicting.fill(batch=batch, now=Try.objects.latest("pk").made_at)[1] == 0


@pytest.mark.console_may_say("ERR_FAILED")
def test_while_the_server_is_away_nobody_is_told_to_submit(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    state(page, "answered")
    intercept(page, "**/predictions/", lambda route: route.abort())
    type_question(page, "which year saw it in cinemas?")
    says = page.locator("[data-part=words]")
    expect(says).to_contain_text("The server cannot be reached. Retrying soon.")
    expect(says).not_to_contain_text("submit")


@pytest.mark.parametrize("keys", [("Escape", "c"), ("Enter",)])
def test_a_try_while_the_model_is_away_is_counted_once_it_is_back(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, keys: tuple[str, ...]
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    state(page, "answered")
    type_question(page, "which year saw it in cinemas?")
    state(page, "answered")
    expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")
    server.mood = "failing"
    type_question(page, "what year did one first see it?")
    state(page, "unavailable")
    for key in keys:
        page.keyboard.press(key)
    if keys == ("Enter",):
        expect(page.locator("[name=category]").first).to_be_focused()
    state(page, "unavailable")
    expect(page.locator("[data-part=words]")).to_contain_text(
        "You can continue and submit. The answers above are for an earlier version."
    )
    expect(page.locator("[data-part=tries]")).to_have_text("")
    server.mood = "well"
    expect(page.locator("[data-part=tries]")).to_have_text("1 check", timeout=20_000)
    state(page, "answered")
    expect(page.locator("[data-part=words]")).not_to_contain_text("earlier version")
    assert [row.kind for row in Try.objects.all()] == ["person"]


def test_cells_that_are_checked_while_the_model_is_away_are_looked_at_when_it_is_back(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    server.says = lambda request: answer(request.table.rows[0][1] or "1995")(request)
    table = Table(["Film", "Year"], [["Alien", "1979"], ["Heat", "1995"]])
    marked = Example(
        "m-1", "when did Alien come out?", table, ["1979"], meta={"highlighted_cells": [["r0", "c1"]]}
    )
    sources = [world.import_written(marked)]
    batch = world.batch("cell_relevance", sources=sources, loop_model="small", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    state(page, "idle")
    server.kill()
    page.keyboard.press("c")
    state(page, "unavailable")
    server.start()
    expect(page.locator("[data-part=tries]")).to_have_text("1 check", timeout=20_000)


def test_a_language_model_behind_an_endpoint_is_tried_and_one_that_talks_is_said_to(
    new_context: Contexts, live_server: Any, world: World, settings: Any
) -> None:
    listed, talk = '{"answers": ["1995"]}', "I would say <b>1979</b>."
    with chat_stub(listed, listed, talk) as (url, asked):
        settings.PREDICTORS = {"llm": {"protocol": "chat", "url": url, "model": "qwen"}}
        listing._resting.clear()
        page = annotating(new_context, live_server.url, world.ada, a_batch(world, loop_model="llm"))
        state(page, "slow")
        type_question(page, "which year saw it in cinemas?")
        page.keyboard.press("Enter")
        state(page, "answered")
        assert seen_by_the_model(page) == ["1995", "1995"]
        assert "response_format" in asked[0]
        page.keyboard.press("w")
        type_question(page, "what year did one first see it?")
        page.keyboard.press("Enter")
        expect(page.locator("askew-prediction")).to_have_attribute("data-verdict", "model_error")
        expect(page.locator("[data-part=words]")).to_contain_text(
            "did not return a list of answers for the original after 3 requests"
        )
        expect(page.locator("[data-part=original] .state")).to_be_hidden()
        assert len(asked) == 2 + listing.MOST_ASKS
        page.keyboard.press("Escape")
        page.keyboard.press("1")
        expect(page.locator("[data-progress-text]")).to_contain_text("1 of")
        page.context.close()
        wait_until_quiet()


def test_a_model_that_was_exchanged_says_so(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    state(page, "answered")
    server.sha = "f" * 16
    type_question(page, "which year saw it in cinemas?")
    state(page, "changed")
    expect(page.locator("[data-part=words]")).to_contain_text("there is no verdict")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator("[data-progress-text]")).to_have_text("1 of 4")


def test_without_a_model_there_is_nothing_to_look_at_and_nobody_is_asked(
    new_context: Contexts, live_server: Any, world: World
) -> None:
    asked: list[str] = []
    batch = world.batch("question_paraphrase", variant="sentence", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.on("request", lambda request: asked.append(request.url))
    expect(page.locator("askew-prediction")).to_be_hidden()
    type_question(page, "name the year of it.")
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    expect(page.locator("[data-progress-text]")).to_have_text("1 of 4")
    assert not any("predictions" in url for url in asked)


def test_answers_are_text_whatever_they_say(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    server.says = answer("<img src=x onerror=alert(1)>", "<b>1979</b>")
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    state(page, "answered")
    assert seen_by_the_model(page) == ["<img src=x onerror=alert(1)>", "<b>1979</b>"]
    assert page.locator("askew-prediction img, askew-prediction b").count() == 0


def test_an_edit_is_looked_at_as_it_is_made(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    server.says = lambda request: answer(request.table.rows[0][1], cells=((0, 1),))(request)
    batch = world.batch("value_change", variant="answer_changes", loop_model="small", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    state(page, "answered")
    page.locator("[data-row=r0] [data-column=c1]").click()
    page.keyboard.type("2001")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=perturbed] li")).to_have_text("2001")
    expect(page.locator("[data-part=words]")).to_contain_text("Enter the correct answer")
    page.locator("textarea[name=answers]").fill("2001")
    expect(page.locator("askew-prediction")).to_have_attribute("data-verdict", "not_fooled")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    assert Try.objects.get().kind == "person"


LOOK = """(cell) => {
  const { outlineStyle, boxShadow } = getComputedStyle(cell);
  const { content, visibility } = getComputedStyle(cell, "::before");
  return [outlineStyle, boxShadow, content.startsWith('"◉"') && visibility === "visible"];
}"""
"""Of a cell: its outline, its frame, and whether it has the sign of a cell that the model used."""


@pytest.mark.parametrize("colours", ["none", "active"])
def test_cells_that_the_model_used_have_a_sign_and_a_legend(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, colours: str
) -> None:
    server.says = lambda request: answer(request.table.rows[0][1], cells=((0, 1), (2, 1)))(request)
    batch = world.batch("value_change", variant="answer_changes", loop_model="small", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch, forced_colors=colours)
    state(page, "answered")
    used, current = (
        page.locator("[data-row=r0] [data-column=c1]"),
        page.locator("[data-row=r1] [data-column=c1]"),
    )
    current.click()
    expect(current).to_be_focused()
    assert used.evaluate(LOOK) == ["none", "none", True]
    outline, _, sign = current.evaluate(LOOK)
    assert (outline, sign) == ("solid", False)
    expect(used).to_have_accessible_description("used by the model")
    legend = page.locator(".legend")
    expect(legend).to_be_visible()
    expect(legend.locator("li")).to_have_text(["current cell", "keys act here", "cells the model used"])
    page.keyboard.press("Shift+ArrowDown")  # a selection from the current cell over one that the model used
    both = page.locator("[data-row=r2] [data-column=c1]")
    expect(both).to_be_focused()
    assert both.evaluate(LOOK)[2], "a current cell that the model used shows both"
    page.keyboard.type("19")  # the answer is about another table from now on
    expect(page.locator("td.looked")).to_have_count(0)
    expect(legend).to_be_hidden()


def test_the_cells_in_question_are_left_out_on_request(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    server.says = lambda request: answer(request.table.rows[0][1] or "1995")(request)
    table = Table(["Film", "Year"], [["Alien", "1979"], ["Heat", "1995"]])
    marked = Example(
        "m-1", "when did Alien come out?", table, ["1979"], meta={"highlighted_cells": [["r0", "c1"]]}
    )
    batch = world.batch(
        "cell_relevance", sources=[world.import_written(marked)], loop_model="small", overlap=1
    )
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.clock.install()
    state(page, "idle")
    passes(page, 500)
    assert server.asked == [], "not before somebody asks"
    page.keyboard.press("c")
    state(page, "answered")
    assert seen_by_the_model(page) == ["1979", "1995"]
    expect(page.locator(".says")).to_contain_text("Wrong without the cells")
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()


@pytest.mark.parametrize("said", [(), ("",)])
@pytest.mark.parametrize("scripts", [True, False])
def test_a_model_that_gives_no_answer_is_said_to_give_none(
    new_context: Contexts,
    live_server: Any,
    world: World,
    server: Scripted,
    said: tuple[str, ...],
    scripts: bool,
) -> None:
    server.says = lambda request: answer(*([request.table.rows[0][1]] if request.table.rows[0][1] else said))(
        request
    )
    table = Table(["Film", "Year"], [["Alien", "1979"], ["Heat", "1995"]])
    marked = Example(
        "m-1", "when did Alien come out?", table, ["1979"], meta={"highlighted_cells": [["r0", "c1"]]}
    )
    batch = world.batch(
        "cell_relevance", sources=[world.import_written(marked)], loop_model="small", overlap=1
    )
    page = signed_in(new_context, live_server.url, world.ada, java_script_enabled=scripts).new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    if scripts:
        state(page, "idle")
        page.keyboard.press("c")
    else:
        page.locator("button[value=check]").click()
    expect(page.locator(".says")).to_contain_text("Wrong")
    assert seen_by_the_model(page) == ["1979", "no answer"]
    expect(page.locator("[data-part=perturbed] .state")).to_have_text("wrong")


def test_in_practice_a_model_looks_along_and_nothing_is_kept(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.goto(f"{live_server.url}/projects/films/practice/question_paraphrase/?variant=word")
    takes_keys(page)
    state(page, "answered")
    type_question(page, "something quite different?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")
    expect(page.locator("[data-part=tries]")).to_have_text("Practice: nothing is saved")
    assert not Try.objects.exists()


def test_without_scripts_a_button_asks_the_model(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    context = signed_in(new_context, live_server.url, world.ada, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/batches/{a_batch(world).public_id}/annotate/")
    page.locator("textarea[name=question]").fill("which year saw it in cinemas?")
    page.locator("button[value=check]").click()
    expect(page.locator("askew-prediction .says")).to_contain_text("Still right 1995")
    assert len(seen_by_the_model(page)) == 2
    expect(page.locator("textarea[name=question]")).to_have_value("which year saw it in cinemas?")
    assert Try.objects.get().kind == "person"


BOXES = """() => [...document.querySelectorAll(
  "askew-prediction, .says > p, askew-prediction .controls, textarea, fieldset.choices, askew-grid, .actions"
)].filter((part) => part.checkVisibility()).map((part) => {
  const { x, y, width, height } = part.getBoundingClientRect();
  return [x, y, width, height].map(Math.round);
})"""
"""Where everything visible around the verdict lies. Chromium lays out closed <details> (Skip, Flag, Ask) at its leisure."""
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
@pytest.mark.parametrize("size", [(1366, 850), (390, 844)])
def test_nothing_moves_before_during_and_after_the_model_is_asked(
    new_context: Contexts,
    live_server: Any,
    world: World,
    server: Scripted,
    kind: str,
    size: tuple[int, int],
) -> None:
    variants = {"question_paraphrase": "word", "value_change": "answer_changes"}
    batch = world.batch(kind, variant=variants.get(kind, ""), loop_model="small", overlap=1)
    viewport = {"width": size[0], "height": size[1]}
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=viewport)
    state(page, "answered")
    change(page, kind)
    settled(page)
    before = page.evaluate(BOXES)
    held = HeldRequests(page, "**/predictions/")
    page.evaluate("document.querySelector('askew-prediction').check(), null")
    state(page, "waiting")
    during = page.evaluate(BOXES)
    held.answer()
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    state(page, "answered")
    assert len(before) >= 6
    assert during == before
    assert page.evaluate(BOXES) == before


@pytest.mark.parametrize("layout", ["phone", "below"])
@pytest.mark.parametrize("kind", ["question_paraphrase", "value_change"])
def test_below_the_table_the_model_moves_nothing_while_it_answers_to_a_change(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, kind: str, layout: str
) -> None:
    table = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])
    source = world.import_written(Example("f", "when did Heat come out?", table, ["1995"]))
    variants = {"question_paraphrase": "word", "value_change": "answer_changes"}
    batch = world.batch(kind, variant=variants[kind], sources=[source], loop_model="small", overlap=1)
    options = PHONE if layout == "phone" else {"viewport": {"width": 1280, "height": 720}}
    if layout == "below":
        world.ada.personal_settings = {"layout": "below"}
        world.ada.save()
    page = annotating(new_context, live_server.url, world.ada, batch, **options)
    state(page, "answered")
    expect(page.locator("td.looked")).to_have_count(1)
    change(page, kind)
    state(page, "answered")
    settled(page)
    below = """(box) => Math.round(
        box.getBoundingClientRect().top - document.querySelector("askew-grid").getBoundingClientRect().top
    )"""
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


@pytest.mark.parametrize("kind", ["question_paraphrase", "value_change", "header_synonym"])
def test_the_line_of_the_model_stays_where_it_is_whatever_is_entered(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, kind: str
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
    else:
        change(page, kind)
    state(page, "answered")
    settled(page)
    assert line.evaluate(PLACE) == before


def test_the_guidelines_of_the_chosen_option_move_neither_the_line_of_the_model_nor_its_words(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
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


def test_an_unverified_fooling_is_no_moment(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    server.says = lambda request: answer(
        "1900" if "released" in request.question else knows_the_word_come(request).answers[0]
    )(request)
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    says = page.locator(".says")
    box = page.locator("askew-prediction")
    type_question(page, "in which year was it released?")
    expect(box).to_have_attribute("data-verdict", "fooled")
    expect(says.locator(".verdict")).to_have_text("Fooled")
    expect(says.locator(".answer")).to_have_text("1900")
    expect(says.locator(".expected")).to_contain_text("expected: 19")
    expect(says.locator(".confidence .in-short")).to_have_text(re.compile(r"^\d\d %$"))
    expect(says.locator(".confidence")).to_have_attribute("title", "fairly sure")
    expect(says.locator(".meaning")).to_have_text("unverified")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    expect(says.locator(".verdict")).to_have_text("Fooled")
    expect(says.locator(".today")).to_be_empty()
    expect(box).not_to_have_attribute("data-moment", "")


def test_a_check_that_verifiably_fools_the_model_is_a_moment_with_the_count_of_today(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    table = Table(["Film", "Year"], [["Psycho", "1960"], ["Alien", "1979"], ["Heat", "1995"], ["Up", "2009"]])
    years = {"Alien": "1979", "Heat": "1995", "Up": "2009"}
    films = [
        Example(f"m-{film}", f"when did {film} come out?", table, [year]) for film, year in years.items()
    ]

    def film_of(question: str) -> str:
        return next(film for film in years if film in question)

    def change_year(page: Page) -> None:
        row = 1 + list(years).index(film_of(page.locator(".question").inner_text()))
        page.locator(f"[data-row=r{row}] [data-column=c1]").click()
        page.keyboard.type("2001")
        page.keyboard.press("Enter")

    server.says = lambda request: answer(years[film_of(request.question)])(request)
    batch = world.batch(
        "value_change",
        variant="answer_changes",
        loop_model="small",
        overlap=1,
        sources=[world.import_written(*films)],
    )
    page = annotating(new_context, live_server.url, world.ada, batch)
    says, box = page.locator(".says"), page.locator("askew-prediction")
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("n")  # no program: the answer may be nonsense
    change_year(page)
    page.locator("[data-field=answers]").fill("in the year of the cat")
    expect(says.locator(".meaning")).to_have_text("unverified")
    page.locator("[data-field=answers]").press("Escape")
    page.keyboard.press("c")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    expect(box).to_have_attribute("data-verdict", "fooled")
    expect(says.locator(".today")).to_be_empty()
    page.keyboard.press("Control+Enter")
    for number in (1, 2):
        expect(page.locator("[data-progress-text]")).to_contain_text(f"{number} of")
        expect(page.get_by_role("radiogroup")).to_be_focused()
        page.keyboard.press("1")
        change_year(page)
        expect(page.locator("[data-field=answers]")).to_have_value("2001")
        if number == 2:  # the same table was checked before, with an answer that nothing confirms
            page.locator("[data-field=answers]").fill("in the year of the dog")
            expect(says.locator(".meaning")).to_have_text("unverified")
            page.locator("[data-field=answers]").press("Escape")
            page.keyboard.press("c")
            expect(page.locator("[data-part=tries]")).to_have_text("1 check")
            page.locator("[data-field=answers]").fill("2001")
        expect(box).to_have_attribute("data-verdict", "fooled")
        expect(says.locator(".meaning")).to_have_text("verified")
        expect(box).not_to_have_attribute("data-moment", "")  # a preview is no record
        page.keyboard.press("Escape")
        page.keyboard.press("c")
        expect(says.locator(".today")).to_have_text(f"{number} today")
        expect(box).to_have_attribute("data-moment", "")
        if number == 1:
            page.keyboard.press("Control+Enter")


def test_an_item_that_the_model_already_gets_wrong_has_one_quiet_line(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    server.says = answer("1666")
    page = annotating(new_context, live_server.url, world.ada, a_batch(world))
    says = page.locator(".says")
    expect(says.locator(".verdict")).to_have_text("Model already wrong; change it anyway.")
    expect(page.locator("button[name=check]")).to_be_hidden()
    page.locator(".more summary").first.click()
    expect(page.locator("[data-part=words]")).to_contain_text(
        "A correct change of the question or table is enough."
    )
    expected = page.locator("[data-part=expected] li")
    expect(expected).to_be_visible()
    expect(expected).to_have_text(re.compile(r"^19\d\d$"))
    about = page.locator(".about summary")
    expect(page.locator("[data-part=name]")).to_be_hidden()
    about.click()
    expect(page.locator("[data-part=name]")).to_have_text("small · MIT")
    expect(page.locator("[data-part=time]")).to_contain_text("ms")


def test_a_check_of_an_unchanged_item_keeps_the_answer_to_it(
    new_context: Contexts, live_server: Any, world: World, server: Scripted
) -> None:
    batch = world.batch("value_change", variant="answer_changes", loop_model="small", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    state(page, "answered")
    line = page.locator("[data-part=line]").text_content() or ""
    with page.expect_response("**/predictions/") as checked:
        page.evaluate("document.querySelector('askew-prediction').check(), null")
    assert checked.value.json()["state"] == "nothing"
    state(page, "answered")
    expect(page.locator("[data-part=line]")).to_have_text(line)


@pytest.fixture
def gateway_url(server: Scripted, settings: Any) -> Iterator[str]:
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


@pytest.mark.smoke
@pytest.mark.console_may_say("502")
def test_previews_and_checks_go_through_the_gateway_and_past_it_where_it_is_away(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, gateway_url: str
) -> None:
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
    assert "predictions" not in asked
    assert asked.count("ticket") == 1
    page.unroute("**/gateway/")
    intercept(page, "**/gateway/", lambda route: route.fulfill(status=502, body="<html>Bad Gateway"))
    with page.expect_request("**/predictions/"):
        type_question(page, "what year is it from?")
    state(page, "answered")
    expect(page.locator("[data-part=tries]")).to_have_text("1 check")
    page.context.close()


@pytest.mark.parametrize("mood", ["killed", "hung"])
def test_a_model_that_is_killed_or_frozen_behind_the_gateway_delays_no_submission(
    new_context: Contexts,
    live_server: Any,
    world: World,
    server: Scripted,
    gateway_url: str,
    mood: str,
) -> None:
    """Twenty of each, in processes that get signals: ./run bench away."""
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    asked = behind_the_gateway(page, gateway_url)
    page.goto(f"{live_server.url}/batches/{a_batch(world).public_id}/annotate/")
    takes_keys(page)
    state(page, "answered")
    for submitted in (1, 2):
        if mood == "killed":
            server.kill()
        else:
            server.mood = mood
        type_question(page, f"which year saw it in cinemas, {submitted}?")
        state(page, "unavailable")
        page.keyboard.press("Escape")
        page.keyboard.press("1")
        expect(page.locator("[data-progress-text]")).to_contain_text(f"{submitted} of")
        if mood == "killed":
            server.start()
        else:
            server.mood = "well"
        expect(page.locator("askew-prediction")).to_have_attribute("data-state", "answered", timeout=30_000)
    assert Annotation.objects.count() == 2
    assert "predictions" not in asked
    page.context.close()


@pytest.mark.console_may_say("401")
def test_a_ticket_that_has_expired_is_exchanged_for_a_new_one(
    new_context: Contexts,
    live_server: Any,
    world: World,
    server: Scripted,
    gateway_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = a_batch(world)
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    asked = behind_the_gateway(page, gateway_url)
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    takes_keys(page)
    state(page, "answered")
    monkeypatch.setattr(tickets, "SALT", "of another time")
    type_question(page, "what year is it from?")
    expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")
    state(page, "answered")
    assert asked.count("ticket") == 2
    assert "predictions" not in asked
    page.context.close()


@pytest.mark.parametrize("through", ["gateway", "web process"])
def test_models_of_the_panel_are_shown_as_each_answers(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, settings: Any, through: str
) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(scripted(answer("42")))
        settings.PREDICTORS = {"small": server.entry, "other": {**other.entry, "panel": True}}
        page = signed_in(new_context, live_server.url, world.ada).new_page()
        if through == "gateway":
            settings.MODEL_GATEWAY = True
            behind_the_gateway(page, stack.enter_context(gateway()))
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


@pytest.mark.console_may_say("401")
def test_a_page_with_a_panel_shares_one_ticket(
    new_context: Contexts,
    live_server: Any,
    world: World,
    server: Scripted,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.MODEL_GATEWAY = True
    with ExitStack() as stack:
        panel = {name: stack.enter_context(scripted(answer("42"))) for name in ("one", "two", "three")}
        entries = {name: {**other.entry, "panel": True} for name, other in panel.items()}
        settings.PREDICTORS = {"small": server.entry, **entries}
        page = signed_in(new_context, live_server.url, world.ada).new_page()
        asked = behind_the_gateway(page, stack.enter_context(gateway()))
        page.goto(f"{live_server.url}/batches/{a_batch(world).public_id}/annotate/")
        takes_keys(page)
        state(page, "answered")
        page.locator(".more > summary").click()
        shown = page.locator("[data-part=panel] li")
        texts = [f"{name}: Wrong on the original · 42 · fairly sure" for name in panel]
        expect(shown).to_have_text(texts)
        assert asked.count("ticket") == 1
        monkeypatch.setattr(tickets, "SALT", "of another time")
        type_question(page, "what year is it from?")
        state(page, "answered")
        expect(page.locator("[data-part=perturbed]")).not_to_have_attribute("hidden", "")
        expect(shown).to_have_text(texts)
        assert asked.count("ticket") == 2, "one again, after all four got a 401"
        assert "predictions" not in asked
        page.context.close()
        wait_until_quiet()


@pytest.mark.parametrize("mood", ["busy", "killed"])
def test_a_model_of_the_panel_that_is_busy_or_away_is_asked_again_until_it_answers(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, settings: Any, mood: str
) -> None:
    with scripted(answer("42")) as other:
        settings.PREDICTORS = {"small": server.entry, "other": {**other.entry, "panel": True}}
        if mood == "killed":
            other.kill()
        else:
            other.mood = mood
        page = annotating(new_context, live_server.url, world.ada, a_batch(world))
        state(page, "answered")
        page.locator(".more > summary").click()
        shown = page.locator("[data-part=panel] li")
        expect(shown).to_have_text(re.compile(r"^other: The model.* Retrying soon\.$"))
        if mood == "killed":
            other.start()
        else:
            other.mood = "well"
        expect(shown).to_have_text("other: Wrong on the original · 42 · fairly sure", timeout=60_000)
        state(page, "answered")
        page.context.close()
        wait_until_quiet()


def test_models_of_the_panel_are_asked_once_about_one_text(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, settings: Any
) -> None:
    with scripted(answer("42")) as other:
        settings.PREDICTORS = {"small": server.entry, "other": {**other.entry, "panel": True}}
        page = annotating(new_context, live_server.url, world.ada, a_batch(world))
        shown = page.locator("[data-part=panel] li")
        expect(shown).to_have_text("other: Wrong on the original · 42 · fairly sure")
        asked = len(other.asked)
        server.mood = "busy"
        type_question(page, "what year is it from?")
        state(page, "busy")
        expect(shown).to_have_text("other: Wrong on the original · 42 · fairly sure")
        about = len(other.asked)
        assert about > asked
        server.mood = "well"
        expect(page.locator("askew-prediction")).to_have_attribute("data-state", "answered", timeout=60_000)
        wait_until_quiet()
        assert len(other.asked) == about, "the model in the loop was asked again, and it alone"
        page.context.close()
        wait_until_quiet()


@pytest.mark.parametrize(
    "kind", ["header_synonym", "header_abbreviation", "column_extension", "column_masking"]
)
def test_beside_a_model_a_large_table_has_half_of_the_window(
    new_context: Contexts, live_server: Any, world: World, server: Scripted, kind: str
) -> None:
    server.says = lambda request: answer(request.table.rows[0][1], cells=((0, 1),))(request)
    rows = [[f"{name * 12} {row}" for name in "abcdefghij"] for row in range(40)]
    example = Example(
        "large", "what comes first?", Table([f"Name {name}" for name in range(10)], rows), [rows[0][1]]
    )
    batch = world.batch(kind, loop_model="small", overlap=1, sources=[world.import_written(example)])
    page = annotating(new_context, live_server.url, world.ada, batch, viewport={"width": 1280, "height": 720})
    state(page, "answered")
    expect(page.locator(".legend")).to_be_visible()
    for is_open, least in ((True, 35), (False, 50)):
        button = page.locator("[data-guidelines-button]")
        if (button.get_attribute("aria-expanded") == "true") != is_open:
            button.click()
        settled(page)
        assert page.evaluate(MEASURE)["share"] >= least


@pytest.mark.parametrize("locale", ["en", "de"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1366, 850), (390, 844)])
def test_the_verdict_that_the_model_is_fooled_is_never_cut(
    new_context: Contexts,
    live_server: Any,
    world: World,
    server: Scripted,
    width: int,
    height: int,
    locale: str,
) -> None:
    server.says = lambda request: answer(
        "1900" if "released" in request.question else knows_the_word_come(request).answers[0]
    )(request)
    options = {"viewport": {"width": width, "height": height}, "locale": locale}
    page = annotating(new_context, live_server.url, world.ada, a_batch(world), **options)
    box = page.locator("askew-prediction")
    expect(page.locator(".says .verdict")).to_be_visible()
    before = box.bounding_box()
    type_question(page, "in which year was it released?")
    expect(box).to_have_attribute("data-verdict", "fooled")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=tries]")).to_have_text(re.compile("^1 "))
    parts = page.locator(".says [data-part=line] > span")
    assert parts.count() == 5, "verdict, answer, what was expected, how sure, meaning"
    assert len({round(part.bounding_box()["y"]) for part in parts.all()}) == 1  # type: ignore[index]
    for part in parts.all():
        assert part.evaluate("(part) => part.scrollWidth - part.clientWidth") <= 0, part.inner_text()
    for line in page.locator(".says > p").all():
        assert line.evaluate("(line) => line.scrollHeight - line.clientHeight") <= 0, line.inner_text()
    after = box.bounding_box()
    assert before is not None
    assert after is not None
    assert (after["width"], after["height"]) == (before["width"], before["height"])
    first = page.locator(".says > p").first.bounding_box()
    assert first is not None
    assert after["height"] <= 2 * first["height"] <= 64, "one line, and one for the controls"


@pytest.mark.parametrize("locale", ["en", "de"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1366, 850), (390, 844)])
def test_the_line_about_an_item_that_the_model_gets_wrong_is_never_cut(
    new_context: Contexts,
    live_server: Any,
    world: World,
    server: Scripted,
    width: int,
    height: int,
    locale: str,
) -> None:
    is_measured = threading.Event()

    def answers_after_the_measurement(request: PredictRequest) -> Prediction:
        is_measured.wait(20)
        return answer("1666")(request)

    server.says = answers_after_the_measurement
    options = {"viewport": {"width": width, "height": height}, "locale": locale}
    page = annotating(new_context, live_server.url, world.ada, a_batch(world), **options)
    box = page.locator("askew-prediction")
    before = box.bounding_box()
    is_measured.set()
    expect(box).to_have_attribute("data-verdict", "wrong_on_original")
    cut = page.locator(".says .verdict").evaluate("(part) => part.scrollWidth - part.clientWidth")
    assert cut <= 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert box.bounding_box() == before
