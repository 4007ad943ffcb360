"""Many decisions one after the other: by keys alone, without a page load, with undo, and with somebody else at work."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from annotation.journeys import adjudicating, annotating
from annotation.models import Batch, Decision, Item, SentBack
from benchmarks.adjudication_data import waiting_item, waiting_items
from tableqa.operations import SetCell
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import HeldRequests, intercept, signed_in, takes_keys
from tests.browser.test_adjudicating import LATER
from tests.browser.test_kinds_cells import questions
from tests.browser.test_phone import PHONE

NewContext = Callable[..., BrowserContext]
KINDS = [(task, variant) for task in task_types().values() for variant in (task.variants or {"": ""})]
COVERED = """() => [...document.querySelectorAll(".candidate")].filter((part) => {
    const box = part.getBoundingClientRect();
    const list = part.closest(".responses").getBoundingClientRect();
    const bar = document.querySelector(".actions").getBoundingClientRect();
    return box.height < 10 || box.top < Math.max(0, list.top) - 1 || box.bottom > Math.min(list.bottom, bar.top) + 1;
}).length"""
"""How many responses are not wholly visible."""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path, questions=12)


def labelled(world: World, items: int, **more: Any) -> Batch:
    batch = world.batch("question_type", size=items, **more)
    for _ in range(items):
        for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
            world.label(batch, who, label)
    adjudicating.resolve_batch(batch=batch, now=LATER)
    return batch


def opened(world: World, new_context: NewContext, base: str, item: Item, **context: Any) -> Page:
    page = signed_in(new_context, base, world.ivo, **context).new_page()
    page.goto(base + reverse("adjudicate", args=[item.public_id]))
    shows(page, item)
    return page


def shows(page: Page, item: Item) -> None:
    """The item is on the page and takes keys."""
    expect(
        page.locator(f"askew-adjudicate[data-shown] form[data-item-id='{item.public_id}']")
    ).to_be_attached()
    takes_lane_keys(page)


def takes_lane_keys(page: Page) -> None:
    expect(page.locator("askew-adjudicate:is([data-sending], [data-resting])")).not_to_be_attached()


def chosen(page: Page) -> list[str]:
    """The letters of the chosen responses."""
    letters: list[str] = page.eval_on_selector_all(
        "input[name=choose]:checked", "inputs => inputs.map(({ value }) => value)"
    )
    return letters


def letter_of(item: Item, label: str) -> str:
    return next(one.letter.lower() for one in adjudicating.candidates(item) if one.response.label == label)


@pytest.mark.smoke
def test_ten_decisions_by_keys_with_an_undo_a_response_sent_back_and_an_own_response(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = labelled(world, items=10)
    items = list(adjudicating.waiting(batch))
    page = opened(world, new_context, live_server.url, items[0])
    page.evaluate("window.sameDocument = true")
    expect(page.locator("[data-where]")).to_contain_text("10 waiting, 0 decided in this sitting")

    page.keyboard.press(letter_of(items[0], "extraction"))
    page.keyboard.press("Enter")
    shows(page, items[1])
    page.keyboard.press(letter_of(items[1], "reasoning"))
    page.keyboard.press("2")
    shows(page, items[2])
    expect(page.locator("[data-where]")).to_contain_text("8 waiting, 2 decided in this sitting")

    page.keyboard.press("u")
    shows(page, items[1])
    expect(page.locator("[data-ignored]")).to_have_text("Decision undone.")
    expect(page.get_by_role("status").filter(has_text="Decision undone.")).to_have_count(1)
    assert not Decision.objects.filter(item=items[1]).exists()
    expect(page.locator("input[name=choose]:checked")).to_have_count(1)
    page.keyboard.press("3")
    shows(page, items[2])

    page.keyboard.press("s")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.type("Look at the years again.")
    page.keyboard.press("Control+Enter")
    shows(page, items[3])

    page.keyboard.press("x")
    page.keyboard.type("The question is about another table.")
    page.keyboard.press("Control+Enter")
    shows(page, items[4])

    page.keyboard.press("l")
    shows(page, items[5])
    for number in (5, 6, 7, 8, 9):
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        shows(page, items[number + 1] if number < 9 else items[4])
    assert page.evaluate("window.sameDocument")

    page.keyboard.press("w")
    page.wait_for_url("**/own/")
    takes_keys(page)
    page.keyboard.press("1")
    page.wait_for_url(f"**{reverse('adjudication', args=[batch.public_id])}")
    expect(page.get_by_text("You decided 9 items in this sitting.")).to_be_visible()
    expect(page.locator("askew-adjudicate[data-shown]")).to_be_attached()
    page.keyboard.press("u")
    shows(page, items[4])
    page.keyboard.press("w")
    takes_keys(page)
    page.keyboard.press("1")
    expect(page.get_by_text("You decided 9 items in this sitting.")).to_be_visible()

    assert SentBack.objects.get().note == "Look at the years again."
    decisions = {decision.item_id: decision for decision in Decision.objects.all()}
    assert len(decisions) == 9
    assert decisions[items[0].pk].outcomes.get().response["data"] == {"label": "extraction"}
    assert decisions[items[1].pk].listed_reason == "Clearest of several correct responses"
    assert decisions[items[3].pk].kind == "excluded"
    assert decisions[items[4].pk].outcomes.get().response["data"] == {"label": "extraction"}
    assert {decision.note for key, decision in decisions.items() if key != items[3].pk} == {""}


def test_the_last_decision_leads_to_what_comes_next_and_can_be_undone_there(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch, other = labelled(world, items=1), labelled(world, items=1, name="Another batch")
    item, elsewhere = adjudicating.waiting(batch).get(), adjudicating.waiting(other).get()
    page = opened(world, new_context, live_server.url, item)

    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()
    expect(page.get_by_role("link", name="Adjudicate 1 item of another batch")).to_be_visible()
    page.keyboard.press("u")
    shows(page, item)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()
    page.keyboard.press("l")

    shows(page, elsewhere)
    expect(page.locator("[data-where]")).to_contain_text("Adjudication: Another batch")


@pytest.mark.parametrize("with_another", [False, True])
def test_after_the_last_decision_enter_stays_where_undo_works(
    world: World, new_context: NewContext, live_server: Any, with_another: bool
) -> None:
    item = adjudicating.waiting(labelled(world, items=1)).get()
    if with_another:
        labelled(world, items=1, name="Another batch")
    page = opened(world, new_context, live_server.url, item)

    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("u")

    shows(page, item)
    assert not Decision.objects.exists()


def test_the_key_of_undo_takes_back_sending_back_and_then_the_decision_before_it(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second, third = adjudicating.waiting(labelled(world, items=3))
    page = opened(world, new_context, live_server.url, first)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    shows(page, second)
    send_back(page)
    shows(page, third)

    page.keyboard.press("u")
    shows(page, second)
    expect(page.locator("[data-ignored]")).to_have_text("Sending back undone.")
    expect(page.get_by_role("status").filter(has_text="Sending back undone.")).to_have_count(1)
    expect(page.locator("details[data-panel][open]")).to_have_count(0)
    assert not SentBack.objects.exists()
    assert Decision.objects.filter(item=first).exists()

    page.keyboard.press("u")
    shows(page, first)
    assert not Decision.objects.exists()


@pytest.mark.console_may_say("409")
@pytest.mark.parametrize("is_reloaded", [True, False])
def test_once_the_author_has_continued_the_key_of_undo_passes_over_only_when_it_is_pressed_again(
    world: World, new_context: NewContext, live_server: Any, is_reloaded: bool
) -> None:
    first, second, third = adjudicating.waiting(labelled(world, items=3))
    page = opened(world, new_context, live_server.url, first)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    shows(page, second)
    send_back(page)
    shows(page, third)
    continue_with_what_was_sent_back()
    if is_reloaded:
        page.reload()
        shows(page, third)

    page.keyboard.press("u")
    expect(page.get_by_text("An author has already worked on the response")).to_be_visible()
    expect(page.get_by_text("Press U again to undo your last decision before it.")).to_be_visible()
    shows(page, third)
    assert Decision.objects.filter(item=first).exists()

    page.keyboard.press("u")
    shows(page, first)
    assert not Decision.objects.exists()
    assert SentBack.objects.count() == 1


def test_after_the_only_act_was_sending_back_undo_brings_the_item_back(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    item = adjudicating.waiting(labelled(world, items=1)).get()
    page = opened(world, new_context, live_server.url, item)
    send_back(page)
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()

    page.keyboard.press("u")

    shows(page, item)
    assert not SentBack.objects.exists()


@pytest.mark.console_may_say("409")
def test_after_the_only_act_was_sending_back_undo_says_that_the_author_has_continued(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    item = adjudicating.waiting(labelled(world, items=1)).get()
    page = opened(world, new_context, live_server.url, item)
    send_back(page)
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()
    continue_with_what_was_sent_back()

    page.keyboard.press("u")

    expect(page.get_by_text("An author has already worked on the response")).to_be_visible()
    expect(page.get_by_text("Press U again")).to_have_count(0)
    assert SentBack.objects.count() == 1


def continue_with_what_was_sent_back() -> None:
    """Save a draft as the author of the only response that was sent back."""
    sent = SentBack.objects.select_related("assignment__draft").get()
    annotating.save_draft(
        assignment=sent.assignment,
        response={"data": {"label": "neither"}},
        revision=sent.assignment.draft.revision,
        now=timezone.now(),
    )


def send_back(page: Page) -> None:
    page.keyboard.press("s")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.type("Look at the years again.")
    page.keyboard.press("Control+Enter")


def test_in_a_label_task_a_letter_replaces_the_choice_also_after_an_undo(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second = adjudicating.waiting(labelled(world, items=2))
    page = opened(world, new_context, live_server.url, first)
    page.keyboard.press("c")
    page.keyboard.press("a")
    assert chosen(page) == ["A"]
    page.keyboard.press("Enter")
    shows(page, second)

    page.keyboard.press("u")
    shows(page, first)
    assert chosen(page) == ["A"]
    page.keyboard.press("b")
    page.keyboard.press("Enter")

    shows(page, second)
    assert Decision.objects.get().outcomes.get().response["data"]["label"] == label_of(first, "B")


def label_of(item: Item, letter: str) -> str:
    return next(str(each.response.label) for each in adjudicating.candidates(item) if each.letter == letter)


def test_where_several_responses_win_only_the_first_letter_after_an_undo_replaces_the_choice(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    item = waiting_item(world, task_types()["short_table"], "")
    page = opened(world, new_context, live_server.url, item)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator("askew-adjudicate form.decision[data-item-id]")).not_to_have_attribute(
        "data-item-id", item.public_id
    )
    takes_lane_keys(page)
    page.keyboard.press("u")
    shows(page, item)
    assert chosen(page) == ["A"]

    page.keyboard.press("b")
    assert chosen(page) == ["B"]
    page.keyboard.press("c")
    assert chosen(page) == ["B", "C"]
    page.keyboard.press("b")
    assert chosen(page) == ["C"]


def test_the_restored_letter_stays_chosen_when_it_is_pressed_again(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second = adjudicating.waiting(labelled(world, items=2))
    page = opened(world, new_context, live_server.url, first)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    shows(page, second)
    page.keyboard.press("u")
    shows(page, first)

    page.keyboard.press("a")
    page.keyboard.press("Enter")

    shows(page, second)
    assert Decision.objects.get().outcomes.get().response["data"]["label"] == label_of(first, "A")


def test_after_an_exclusion_is_undone_keys_act_on_the_item_and_the_reason_is_one_key_away(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second = adjudicating.waiting(labelled(world, items=2))
    page = opened(world, new_context, live_server.url, first)
    page.keyboard.press("x")
    page.keyboard.type("The table is damaged.")
    page.keyboard.press("Control+Enter")
    shows(page, second)

    page.keyboard.press("u")
    shows(page, first)
    reason = page.get_by_label("Reason for exclusion")
    expect(reason).to_be_hidden()
    page.keyboard.press("x")
    expect(reason).to_be_focused()
    expect(reason).to_have_value("The table is damaged.")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.keyboard.press("Enter")

    shows(page, second)
    decision = Decision.objects.get()
    assert (decision.kind, decision.note) == ("accepted", "")


def test_the_next_item_compares_its_own_edits_in_one_table(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first = waiting_item(world, task_types()["short_table"], "")
    page = opened(world, new_context, live_server.url, first)
    question = page.locator(".question").inner_text()
    expect(page.locator("askew-comparison askew-grid")).to_have_count(1)

    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator(f"form.decision:not([data-item-id='{first.public_id}'])")).to_be_attached()
    expect(page.locator(".question")).not_to_have_text(question)
    expect(page.locator("askew-comparison askew-grid")).to_have_count(1)
    takes_lane_keys(page)
    page.keyboard.press("n")
    expect(page.locator("askew-comparison [data-here]")).to_have_count(1)
    page.keyboard.press("v")
    expect(page.locator("askew-comparison .sheet")).to_have_count(2)


def test_nothing_is_decided_by_accident(world: World, new_context: NewContext, live_server: Any) -> None:
    item = adjudicating.waiting(labelled(world, items=1)).get()
    page = opened(world, new_context, live_server.url, item)

    page.keyboard.press("Enter")
    expect(page.get_by_text("Not decided yet. Choose a response with its letter")).to_be_visible()
    page.keyboard.press("1")
    expect(page.get_by_text("Choose a response first, then the reason.")).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("s")
    page.keyboard.press("b")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Note to the author")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    page.keyboard.press("Enter")

    expect(page.get_by_label("Reason for exclusion")).to_be_focused()
    assert not Decision.objects.exists()
    assert not SentBack.objects.exists()
    page.keyboard.type("No, it is fine.")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()
    assert Decision.objects.get().kind == "accepted"


@pytest.mark.parametrize("panel", ["s", "x"])
def test_after_a_panel_is_closed_by_escape_a_letter_and_enter_decide(
    world: World, new_context: NewContext, live_server: Any, panel: str
) -> None:
    first, second = adjudicating.waiting(labelled(world, items=2))
    page = opened(world, new_context, live_server.url, first)

    page.keyboard.press(panel)
    page.keyboard.press("Escape")
    expect(page.locator(".question")).to_be_focused()
    page.keyboard.press("a")
    page.keyboard.press("Enter")

    shows(page, second)
    assert Decision.objects.get().item == first


def test_with_shortcuts_off_escape_stays_at_the_panel_that_tab_and_enter_opened(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    item = adjudicating.waiting(labelled(world, items=1)).get()
    page = opened(world, new_context, live_server.url, item)
    page.evaluate("localStorage.setItem('askew:keys', JSON.stringify({ off: true }))")
    page.reload()
    shows(page, item)
    summary = page.locator("[data-panel=exclude] > summary")

    page.locator("[data-panel=send_back] > summary").focus()
    page.keyboard.press("Tab")
    expect(summary).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Reason for exclusion")).to_be_focused()
    page.keyboard.press("Escape")

    expect(summary).to_be_focused()
    expect(page.locator("details[data-panel][open]")).to_have_count(0)


@pytest.mark.parametrize("size", [(1366, 850), (390, 844)])
def test_an_open_panel_covers_no_notice(
    world: World, new_context: NewContext, live_server: Any, size: tuple[int, int]
) -> None:
    item = adjudicating.waiting(labelled(world, items=1)).get()
    viewport = {"width": size[0], "height": size[1]}
    page = opened(world, new_context, live_server.url, item, viewport=viewport)
    for letter in ("A", "C"):
        page.get_by_role("checkbox", name=f"Choose response {letter}").check()
    page.locator(".question").focus()
    page.keyboard.press("Enter")
    notice = page.get_by_text("These responses cannot be accepted together")
    expect(notice).to_be_visible()
    takes_lane_keys(page)

    for key in ("s", "x"):
        page.keyboard.press(key)
        panel = page.locator("details[data-panel][open] > .popped")
        expect(panel).to_be_in_viewport(ratio=1)
        expect(notice).to_be_in_viewport(ratio=1)
        assert not overlap(notice.bounding_box(), panel.bounding_box())
        page.keyboard.press("Escape")


def overlap(one: Any, other: Any) -> bool:
    """Whether two boxes have an area in common."""
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


def test_what_is_chosen_and_written_survives_a_reload_and_is_gone_once_decided(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second = adjudicating.waiting(labelled(world, items=2))
    page = opened(world, new_context, live_server.url, first)
    page.keyboard.press("b")
    page.keyboard.press("r")
    page.keyboard.type("By rule 3.")

    page.reload()
    shows(page, first)
    expect(page.locator("input[name=choose]:checked")).to_have_count(1)
    expect(page.get_by_label("Note on the decision")).to_have_value("By rule 3.")
    page.get_by_label("Note on the decision").press("Control+Enter")
    shows(page, second)

    assert Decision.objects.get(item=first).note == "By rule 3."
    assert (
        page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('askew:adjudication:'))")
        == []
    )


def test_an_own_response_with_its_note_survives_a_reload_and_an_undo(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    world.import_written(*questions())
    batch = world.batch(
        "value_change", variant="answer_changes", sources=[world.project.sources.get(name="written")]
    )
    item = waiting_items(world, batch)[0]
    page = opened(world, new_context, live_server.url, item)
    page.keyboard.press("w")
    page.wait_for_url("**/own/")
    takes_keys(page)
    page.get_by_label("Note on the decision").fill("Nobody is right.")
    page.get_by_label("Unanswerable").check()

    page.reload()
    takes_keys(page)
    expect(page.get_by_text("Your unsaved changes were restored.")).to_be_visible()
    expect(page.get_by_label("Unanswerable")).to_be_checked()
    expect(page.get_by_label("Note on the decision")).to_have_value("Nobody is right.")
    page.get_by_role("button", name="Back to the responses").click()
    shows(page, item)
    expect(page.get_by_label("Note on the decision")).to_have_value("Nobody is right.")
    page.get_by_role("button", name="Own response").click()
    takes_keys(page)
    page.get_by_role("button", name="Decide").click()
    page.wait_for_url(re.compile("adjudicat"))
    assert Decision.objects.get().note == "Nobody is right."

    page.get_by_role("button", name="Undo").click()
    shows(page, item)
    expect(page.get_by_label("Note on the decision")).to_have_value("Nobody is right.")
    page.get_by_role("button", name="Own response").click()
    takes_keys(page)
    expect(page.get_by_label("Unanswerable")).to_be_checked()


@pytest.mark.console_may_say("ERR_FAILED")
def test_without_a_connection_nothing_is_decided_and_nothing_is_lost(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second = adjudicating.waiting(labelled(world, items=2))
    page = opened(world, new_context, live_server.url, first)
    intercept(page, "**/adjudicate/", lambda route: route.abort(), times=1)
    page.keyboard.press("a")
    page.keyboard.press("Enter")

    expect(page.get_by_text("The server cannot be reached. Your choice is kept. Try again.")).to_be_visible()
    assert not Decision.objects.exists()
    page.keyboard.press("Enter")
    shows(page, second)


def test_keys_pressed_while_a_decision_is_on_its_way_do_not_reach_the_next_item(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second = adjudicating.waiting(labelled(world, items=2))
    page = opened(world, new_context, live_server.url, first)
    held = HeldRequests(page, "**/adjudicate/")
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    route = held.take()
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    ignored = page.get_by_text("Ignored: the item was not ready yet.")
    expect(ignored).to_be_visible()
    route.continue_()

    shows(page, second)
    expect(page.locator("input[name=choose]:checked")).to_have_count(0)
    assert Decision.objects.count() == 1
    expect(ignored).to_be_visible()
    page.keyboard.press("b")
    expect(ignored).to_be_hidden()
    assert chosen(page) == ["B"]


def test_keys_are_ignored_with_a_sign_for_a_moment_after_an_item_has_come(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second, third = adjudicating.waiting(labelled(world, items=3))
    page = signed_in(new_context, live_server.url, world.ivo).new_page()
    page.clock.install()
    page.goto(live_server.url + reverse("adjudicate", args=[first.public_id]))
    shows(page, first)
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator(f"form.decision[data-item-id='{second.public_id}']")).to_be_attached()

    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ignored: the item was not ready yet.")).to_be_visible()
    expect(page.locator("input[name=choose]:checked")).to_have_count(0)
    page.clock.run_for(250)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.locator(f"form.decision[data-item-id='{third.public_id}']")).to_be_attached()

    assert set(Decision.objects.values_list("item", flat=True)) == {first.pk, second.pk}


@pytest.mark.console_may_say("409")
def test_whoever_is_second_reads_what_the_first_did_and_goes_on(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second = adjudicating.waiting(labelled(world, items=2))
    page = opened(world, new_context, live_server.url, first)
    adjudicating.decide(item=first, by=world.rea, choose=["B"], now=LATER)

    page.keyboard.press("a")
    page.keyboard.press("r")
    page.keyboard.type("Mine is better.")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_text("This item was decided in the meantime:")).to_be_visible()
    expect(page.get_by_label("Note on the decision")).to_have_value("Mine is better.")
    takes_lane_keys(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    shows(page, second)
    assert Decision.objects.get().made_by == world.rea


@pytest.mark.console_may_say("422")
def test_an_own_response_over_responses_that_changed_is_refused_visibly_until_they_were_seen(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = labelled(world, items=1)
    item = adjudicating.waiting(batch).get()
    page = opened(world, new_context, live_server.url, item)
    page.keyboard.press("w")
    page.wait_for_url("**/own/")
    takes_keys(page)
    letter = letter_of(item, "extraction").upper()
    adjudicating.send_back(item=item, by=world.rea, choose=letter, note="Look again.", now=LATER)
    world.label(batch, "ada", "unanswerable")
    adjudicating.resolve_batch(batch=batch, now=LATER)

    page.get_by_label("Note on the decision").fill("Nobody is right.")
    page.keyboard.press("Tab")
    page.keyboard.press("2")

    notice = page.get_by_text("The responses changed after this page was loaded.")
    expect(notice).to_be_visible()
    takes_keys(page)
    page.get_by_role("button", name="Decide").click()
    expect(notice).to_be_visible()
    assert not Decision.objects.exists()
    page.get_by_role("button", name="Back to the responses").click()
    shows(page, item)
    expect(page.get_by_label("Note on the decision")).to_have_value("Nobody is right.")


@pytest.mark.console_may_say("409")
def test_a_letter_of_a_response_that_was_replaced_decides_nothing_until_it_is_chosen_again(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = labelled(world, items=1)
    item = adjudicating.waiting(batch).get()
    page = opened(world, new_context, live_server.url, item)
    letter = letter_of(item, "extraction")
    page.keyboard.press(letter)
    page.keyboard.press("r")
    page.keyboard.type("As I saw it.")
    adjudicating.send_back(item=item, by=world.rea, choose=letter.upper(), note="Look again.", now=LATER)
    world.label(batch, "ada", "unanswerable")
    adjudicating.resolve_batch(batch=batch, now=LATER)

    page.keyboard.press("Control+Enter")

    expect(page.get_by_text("The responses changed after this page was loaded.")).to_be_visible()
    expect(page.locator("input[name=choose]:checked")).to_have_count(0)
    expect(page.get_by_label("Note on the decision")).to_have_value("As I saw it.")
    page.reload()
    shows(page, item)
    expect(page.get_by_label("Note on the decision")).to_have_value("As I saw it.")
    expect(page.locator("input[name=choose]:checked")).to_have_count(0)
    assert not Decision.objects.exists()
    takes_lane_keys(page)
    page.keyboard.press(letter)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()
    assert Decision.objects.get().kind == "excluded"


def test_a_batch_that_requires_a_note_asks_for_it_before_anything_is_sent(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    item = adjudicating.waiting(labelled(world, items=1, note_required=True)).get()
    page = opened(world, new_context, live_server.url, item)

    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This batch requires a note. Write why you decide this way.")).to_be_visible()
    expect(page.get_by_label("Note on the decision")).to_be_focused()
    page.keyboard.type("By rule 3.")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()
    assert Decision.objects.get().note == "By rule 3."


@pytest.mark.one_database
@pytest.mark.parametrize("size", [(1366, 850), (1280, 720)])
def test_all_responses_are_visible_beside_the_table_without_scrolling_for_every_task_type(
    world: World, new_context: NewContext, live_server: Any, size: tuple[int, int]
) -> None:
    viewport = {"width": size[0], "height": size[1]}
    covered = {}
    context = signed_in(new_context, live_server.url, world.ivo, viewport=viewport)
    for task, variant in KINDS:
        item = waiting_item(world, task, variant)
        page = context.new_page()
        page.goto(live_server.url + reverse("adjudicate", args=[item.public_id]))
        shows(page, item)
        covered[f"{task.key} {variant}"] = page.evaluate(COVERED)
        assert page.locator(".candidate").count() == 3
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.close()
    assert len(covered) == len(KINDS) >= 18
    assert {name: number for name, number in covered.items() if number} == {}


def test_on_a_phone_a_response_that_excludes_the_item_says_so_below_its_words(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    question = questions()[0]
    world.import_written(question)
    edit = SetCell(row="r0", column="c1", old=question.table.cell("r0", "c1"), new="1996").to_dict()
    batch = world.batch(
        "value_change",
        variant="answer_changes",
        overlap=2,
        sources=[world.project.sources.get(name="written")],
    )
    for who, data in (
        ("ada", {"unanswerable": True}),
        ("bo", {"unanswerable": False, "operations": [edit], "answers": ["1996"]}),
    ):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, data)
    adjudicating.resolve_batch(batch=batch, now=LATER)
    page = opened(world, new_context, live_server.url, adjudicating.waiting(batch)[0], **PHONE)

    words = page.locator(".candidate", has_text="excludes the item").locator(".response").bounding_box()
    about = page.get_by_text("excludes the item").bounding_box()

    assert words is not None
    assert about is not None
    assert about["y"] >= words["y"] + words["height"]
    assert about["x"] + about["width"] <= PHONE["viewport"]["width"]


@pytest.mark.parametrize(("language", "more"), [("en", "More"), ("de", "Mehr")])
def test_on_a_phone_more_shows_the_actions_beside_decide_two_by_two(
    world: World, new_context: NewContext, live_server: Any, language: str, more: str
) -> None:
    batch = labelled(world, items=2)
    items = list(adjudicating.waiting(batch))
    page = opened(world, new_context, live_server.url, items[0], locale=language, **PHONE)
    actions = page.locator(".actions > .further > :is(button, a.button, details)")
    expect(actions.first).to_be_hidden()
    bar = page.locator(".actions").bounding_box()

    page.get_by_role("button", name=more, exact=True).tap()
    expect(actions.first).to_be_visible()
    places = [place for one in actions.all() if (place := one.bounding_box()) is not None]

    assert bar is not None
    assert bar["height"] < 80, "one row until more is asked for"
    assert len(places) == 4
    assert len({round(place["x"]) for place in places}) == 2
    assert len({round(place["y"]) for place in places}) == 2
    assert len({round(place["width"]) for place in places}) == 1
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator("[data-panel=exclude] > summary").tap()
    expect(page.locator("[data-panel=exclude] textarea, [data-panel=exclude] input").first).to_be_visible()
