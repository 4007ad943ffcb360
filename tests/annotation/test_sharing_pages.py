"""The manager's pages of shares, changes, bulk actions and accounts: what is said before it is done, and what is done."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.management import doctor
from annotation.models import Assignment, Batch, Decision, Item, Slot
from annotation.models.batch_options import TERMS
from annotation.platform.refusals import ActionRefused
from annotation.queue import allocation, resolutions
from annotation.workflow import assignments, automatic_decisions, batch_settings
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.plain_page import PlainPage


@pytest.fixture
def ten(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path, questions=10)


@pytest.fixture
def mara(ten: World) -> Client:
    client = Client()
    client.force_login(ten.mara)
    return client


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def labels(world: World, batch: Batch, who: str, *said: str) -> None:
    for label in said:
        world.label(batch, who, label)


# -- shares -----------------------------------------------------------------------------------------


def test_moving_a_share_is_said_with_its_numbers_and_done_on_the_second_click(
    ten: World, mara: Client
) -> None:
    batch = ten.batch(strategy="split", overlap=1)
    labels(ten, batch, "ada", "extraction")
    assert ten.take(batch, "ada") is not None
    address = reverse("batch_people", args=[batch.public_id])
    given = {"people": [ten.ada.pk], "action": "move_all", "most": "20", "to": str(ten.bo.pk)}
    before = allocation.reserved_counts([batch])[batch.pk, ten.ada.pk]
    asked = text(mara.post(address, given))
    assert f"{before} items are reserved for Ada and will go to Bo." in asked
    assert "1 item is in progress and will be taken back." in asked
    assert "1 item is submitted by Ada: no change." in asked
    assert allocation.reserved_counts([batch])[batch.pk, ten.ada.pk] == before, (
        "nothing is done before the second click"
    )
    done = mara.post(address, {**given, "confirmed": "yes"}, follow=True)
    assert f"{before + 1} items are with other annotators now" in text(done)
    assert (batch.pk, ten.ada.pk) not in allocation.reserved_counts([batch])
    assert list(doctor.findings()) == []


def test_a_lease_is_taken_back_by_itself(ten: World, mara: Client) -> None:
    batch = ten.batch(overlap=1)
    held = ten.take(batch, "ada")
    assert held is not None
    address = reverse("batch_people", args=[batch.public_id])
    [box] = PlainPage(mara, address).all("//input[@name='held']")
    given = {"about": "leases", "held": box.get("value"), "to": str(ten.cy.pk), "confirmed": "yes"}
    mara.post(address, given)
    assert Assignment.objects.get(pk=held.pk).state == "returned"
    assert Slot.objects.get(pk=held.slot_id).reserved_for == ten.cy


def test_nobody_ticked_is_told_in_words(ten: World, mara: Client) -> None:
    batch = ten.batch(overlap=1)
    answer = mara.post(reverse("batch_people", args=[batch.public_id]), {"action": "move", "to": "others"})
    assert "Select people first." in text(answer)


# -- changes ----------------------------------------------------------------------------------------


def started(world: World) -> Batch:
    """Ten items for two people each: one decided, one in adjudication, one complete, one begun, six untouched."""
    batch = world.batch(overlap=2)
    labels(world, batch, "ada", "extraction", "extraction")
    labels(world, batch, "bo", "extraction", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    labels(world, batch, "ada", "neither", "neither")
    labels(world, batch, "bo", "neither")
    return Batch.objects.get(pk=batch.pk)


def test_a_larger_overlap_is_said_and_opens_complete_items_again(ten: World, mara: Client) -> None:
    batch = started(ten)
    assert Decision.objects.count() == 1
    waiting = resolutions.waiting(batch).count()
    address = reverse("batch_settings", args=[batch.public_id])
    sent = {"section": "general", "name": batch.name, "overlap": "3"}
    asked = text(mara.post(address, sent))
    assert "1 item is decided: no change." in asked
    assert f"{9 - waiting} items are undecided: 1 more slot for each." in asked
    assert "Complete items now: 1. They need more responses again." in asked
    mara.post(address, {**sent, "confirmed": "yes"})
    assert Batch.objects.get(pk=batch.pk).overlap == 3
    assert not Item.objects.filter(batch=batch, due_at__isnull=False).exists()
    assert Decision.objects.count() == 1
    assert list(doctor.findings()) == []


def test_a_smaller_overlap_keeps_every_response_and_completes_what_has_enough(
    ten: World, mara: Client
) -> None:
    batch = started(ten)
    responses = Assignment.objects.filter(batch=batch).submitted().count()
    skipped = ten.take(batch, "cy")
    assert skipped is not None
    assignments.skip(assignment=skipped, reason="unclear", now=NOON)
    found = batch_settings.effects(batch, {"overlap": 1})
    assert "Complete items after this change: 1. They will be resolved." in found
    batch_settings.change(batch=batch, changes={"overlap": 1}, by=ten.mara, now=NOON)
    assert Assignment.objects.filter(batch=batch).submitted().count() == responses
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    assert Decision.objects.filter(item__batch=batch).count() == 3
    untouched = Item.objects.filter(batch=batch, submitted_count=0)
    assert set(untouched.values_list("slots_count", flat=True)) == {1}
    assert list(doctor.findings()) == []
    # Another place after that gets a number of its own.
    batch_settings.change(batch=batch, changes={"overlap": 3}, by=ten.mara, now=NOON)
    assert list(doctor.findings()) == []


def test_what_is_frozen_or_closed_is_not_changed(ten: World) -> None:
    batch = started(ten)
    with pytest.raises(ActionRefused, match="seed cannot be changed after a batch is opened"):
        batch_settings.change(batch=batch, changes={"seed": 3}, by=ten.mara, now=NOON)
    Batch.objects.filter(pk=batch.pk).update(closed_at=NOON)
    with pytest.raises(ActionRefused, match="is closed and cannot be changed"):
        batch_settings.change(batch=batch, changes={"caps": {"items": 3}}, by=ten.mara, now=NOON)


def test_limits_of_an_open_batch_change_and_say_whom_they_stop(ten: World, mara: Client) -> None:
    batch = started(ten)
    address = reverse("batch_settings", args=[batch.public_id])
    sent = {"section": "limits", "items": "3"}
    asked = text(mara.post(address, sent))
    assert "2 people have already submitted 3 items or more and will get no more." in asked
    mara.post(address, {**sent, "hours_per_day": "1.5", "confirmed": "yes"})
    assert Batch.objects.get(pk=batch.pk).caps == {"items": 3, "hours_per_day": 1.5}
    with pytest.raises(ActionRefused) as refused:
        ten.take(Batch.objects.select_related("project").get(pk=batch.pk), "ada")
    assert refused.value.code == "cap_reached"


# -- many at once -----------------------------------------------------------------------------------


def test_batches_are_closed_together_after_a_page_that_says_what_is_lost(ten: World, mara: Client) -> None:
    one, two = ten.batch(name="One", size=2), ten.batch(name="Two", size=2)
    planned = ten.batch(name="Three", size=2, open=False)
    assert ten.take(one, "ada") is not None
    address = reverse("act_on_batches", args=[ten.project.slug])
    given = {"batches": [one.public_id, two.public_id, planned.public_id], "action": "close"}
    asked = text(mara.post(address, given))
    assert "Close 2 batches?" in asked
    assert "Items in progress can no longer be submitted; drafts are kept." in asked
    assert "One: 1 in progress, 0 complete, 2 incomplete." in asked
    assert "Three is planned and stays unchanged." in asked
    assert Batch.objects.get(pk=one.pk).state == "open"
    done = text(mara.post(address, {**given, "confirmed": "yes"}, follow=True))
    assert "One and Two: closed." in done
    assert "Three is planned and cannot be changed." in done
    assert {batch.state for batch in Batch.objects.filter(pk__in=[one.pk, two.pk])} == {"closed"}


def test_a_batch_of_another_project_is_not_touched(ten: World, mara: Client) -> None:
    address = reverse("act_on_batches", args=[ten.project.slug])
    answer = mara.post(
        address, {"batches": ["nothinghere1"], "action": "close", "confirmed": "yes"}, follow=True
    )
    assert "nothinghere1" in text(answer)


# -- planning and accounts --------------------------------------------------------------------------


def test_the_form_plans_what_a_study_asks(ten: World, mara: Client) -> None:
    given = {
        "kind": "question_type",
        "name": "Careful",
        "sources": ten.source.public_id,
        "of": "originals",
        "seed": "1",
        "overlap": "2",
        "size": "4",
        "strategy": "split",
        "strata": "source",
        "rule": "majority",
        "rule_options": "most = 5",
        "items": "9",
        "gold_percent": "10",
        "must_practise": "on",
        "open_at_once": "on",
    }
    answer = mara.post(reverse("batch_new", args=[ten.project.slug]), given)
    assert answer.status_code == 302, text(answer)
    batch = Batch.objects.get(name="Careful")
    assert (batch.strategy, batch.sampling["by"], batch.caps) == ("split", "source", {"items": 9})
    assert batch.resolve["rule"] == "majority"
    assert batch.resolve["most"] == 5
    assert (batch.gold_percent, batch.must_practise, batch.state) == (10, True, "open")
    assert sum(allocation.reserved_counts([batch]).values()) == 8


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("rule_options", "most 5", "Write a name, = and a value on each line"),
        ("rule", "majorities", "majorities"),
        ("feeds_when", "label: extraction", "Write a field, = and its values"),
        ("hours_per_day", "25", "24"),
        ("purpose", "qualification", "needs a pass mark"),
    ],
)
def test_what_is_wrong_in_the_form_is_said(
    ten: World, mara: Client, field: str, value: str, message: str
) -> None:
    given = {"kind": "question_type", "name": "Wrong", "sources": ten.source.public_id, "of": "originals"}
    given |= {"seed": "1", "overlap": "2", field: value}
    answer = mara.post(reverse("batch_new", args=[ten.project.slug]), given)
    assert message in text(answer)
    assert not Batch.objects.filter(name="Wrong").exists()


def test_the_accounts_say_every_number_and_their_file_says_pseudonyms(ten: World, mara: Client) -> None:
    batch = started(ten)
    address = reverse("accounting", args=[ten.project.slug])
    shown = text(mara.get(reverse("people", args=[ten.project.slug])))
    assert "7 assigned = 7 submitted + 0 skipped + 0 in progress + 0 returned." in shown
    file = mara.get(address).content.decode()
    assert "Ada" not in file
    assert [line.split(",")[3:] for line in file.splitlines()[1:]] == [
        ["4", "4", "0", "0", "0", "0"],
        ["3", "3", "0", "0", "0", "0"],
    ]
    assert batch.public_id in file


def test_the_cost_of_the_pages_does_not_grow_with_people_and_batches(ten: World, mara: Client) -> None:
    def statements(address: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as caught:
            assert mara.get(address).status_code == 200
        return len(caught)

    batch = started(ten)
    addresses = [
        reverse("people", args=[ten.project.slug]),
        reverse("batch_people", args=[batch.public_id]),
        reverse("batch_settings", args=[batch.public_id]),
    ]
    few = [statements(address) for address in addresses]
    for _ in range(3):
        more = ten.batch(overlap=3)
        for who in ("ada", "bo", "cy"):
            labels(ten, more, who, "neither")
            assert ten.take(more, who) is not None
    labels(ten, batch, "cy", "neither", "neither")
    assert ten.take(batch, "cy") is not None
    assert [statements(address) for address in addresses] == few


# -- the settings of a batch ------------------------------------------------------------------------


def settings_of(client: Client, batch: Batch) -> dict[str, str]:
    """The settings that the page of a batch lists: label and value."""
    page = client.get(reverse("batch", args=[batch.public_id])).content.decode()
    rows = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page.partition('id="frozen"')[2])
    return {label: re.sub(r"<[^>]+>", "", value).strip() for label, value in rows}


def test_the_page_of_a_batch_lists_what_differs_from_the_defaults_and_what_is_always_shown(
    ten: World, mara: Client
) -> None:
    plain = settings_of(mara, ten.batch(overlap=2))
    assert plain["People per item"] == "2"
    assert plain["Decision rule"] == "majority (Required share: 0.5) (default of the task type)"
    assert plain["Decide when the batch closes"] == "no, one minute after the last response to an item"
    shown = {term.label for term in TERMS.values() if term.is_always_shown}
    assert not plain.keys() & ({term.label for term in TERMS.values()} - shown)

    pay = {"currency": "EUR", "per_hour": 14.5}
    changed = ten.batch(must_practise=True, gold_percent=10, pay=pay, caps={"items": 40}, strategy="split")
    listed = settings_of(mara, changed)
    assert listed["Practice first"] == "yes"
    assert listed["Gold items per person, in percent"] == "10"
    assert listed["Pay in this batch"] == "14.5 EUR per hour"
    assert listed["Limits per person"] == "40 items per person"
    assert listed["Allocation"].startswith("fixed share per person")
    assert "Give feedback on gold items" not in listed


def test_a_batch_that_decides_nothing_lists_no_decision_rule_and_no_number_of_people(
    ten: World, mara: Client
) -> None:
    listed = settings_of(mara, ten.batch(purpose="calibration"))
    assert listed["Purpose"].startswith("calibration")
    assert listed["Allocation"] == "every person gets every item"
    assert not listed.keys() & {"Decision rule", "Decide when the batch closes", "People per item"}


def test_the_preview_of_a_change_states_the_effect_of_its_term_once(ten: World, mara: Client) -> None:
    batch = ten.batch()
    wanted = {"gold_percent": 10, "gold_feedback": True, "must_practise": True}
    general = "Entry requirements apply before each person's next item. Responses stay."
    assert batch_settings.effects(batch, wanted) == [
        "0 items are decided: no change.",
        f"{general} People who have already worked here: 0.",
        TERMS["gold_percent"].effect,
    ]
    uncounted = batch_settings.effects(batch, wanted, counted=False)
    assert uncounted[1:-1] == [general, TERMS["gold_percent"].effect]
    assert not any(re.search(r"\d", sentence) for sentence in uncounted)
