"""What the change of an open batch does to items that people have worked on, said before it is done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from annotation.management import doctor
from annotation.models import Adjudication, Assignment, Batch, Decision, Event, Item, Outcome, Project, Slot
from annotation.platform.refusals import ActionRefused
from annotation.queue import resolutions
from annotation.workflow import assignments, automatic_decisions, batch_settings, batches, projects
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both

LATER = NOON + timedelta(hours=1)


def differing(world: World, **more: Any) -> Batch:
    """A batch in which Ada and Bo say different things of the first item."""
    batch = world.batch(overlap=2, **more)
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "reasoning")
    return batch


def test_a_rule_that_would_ask_one_more_person_about_what_waits_is_foreseen_in_words(world: World) -> None:
    batch = differing(world)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    assert resolutions.waiting(batch).count() == 1

    said = batch_settings.effects(batch, {"resolve": {"rule": "majority", "most": 3}})

    assert said[-1].endswith("Of the first 1: 1 need one more person.")
    assert not any("0 items are complete" in one for one in said)


@pytest.mark.parametrize(
    "rule", [{"rule": "majority", "most": 3}, {"rule": "majority"}, {"rule": "unanimous"}]
)
def test_page_and_api_say_what_another_rule_does_and_change_it(
    world: World, client: Client, rule: dict[str, object]
) -> None:
    batch = differing(world)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    client.force_login(world.mara)

    answer = client.post(
        f"/api/batches/{batch.public_id}/change/",
        {"terms": {"resolve": rule}, "confirmed": True},
        content_type="application/json",
    )

    assert answer.status_code == 200, answer.content
    batch.refresh_from_db()
    assert batch.resolve["rule"] == rule["rule"]


def test_raising_the_overlap_reopens_items_that_wait_for_an_adjudicator(world: World) -> None:
    batch = differing(world)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    item = resolutions.waiting(batch).get()

    effects = batch_settings.effects(batch, {"overlap": 3})
    batch_settings.change(batch=batch, changes={"overlap": 3}, by=world.mara, now=LATER)

    assert "1 item is in adjudication: reopened for more people." in effects
    assert not any("in adjudication: no change" in effect for effect in effects)
    assert not resolutions.waiting(batch).exists()
    reopened = Event.objects.filter(thing="item", thing_id=item.pk).latest("pk")
    assert (reopened.before, reopened.after, reopened.actor) == ("adjudication", "open", world.mara)
    world.label(batch, "cy", "extraction")
    automatic_decisions.resolve_due(now=LATER + timedelta(hours=1))
    assert Decision.objects.get(item=item).kind == "accepted"


def test_an_item_with_as_many_slots_as_the_new_overlap_goes_on_waiting(world: World) -> None:
    batch = differing(world)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    batch_settings.change(batch=batch, changes={"overlap": 3}, by=world.mara, now=LATER)
    world.label(batch, "cy", "neither")
    automatic_decisions.resolve_due(now=LATER + timedelta(hours=1))
    assert resolutions.waiting(batch).count() == 1
    batch_settings.change(batch=batch, changes={"overlap": 2}, by=world.mara, now=LATER)

    effects = batch_settings.effects(Batch.objects.get(pk=batch.pk), {"overlap": 3})

    assert "1 item is in adjudication: no change." in effects


def test_items_that_are_complete_and_not_resolved_yet_are_counted(world: World) -> None:
    batch = differing(world)

    said = batch_settings.effects(batch, {"resolve": {"rule": "majority", "most": 3}})

    assert "1 item is complete and undecided: the new rule applies." in said


# -- the log ----------------------------------------------------------------------------------------


def test_the_log_says_of_every_term_what_it_was_and_what_it_is(world: World) -> None:
    batch = world.batch(overlap=2)
    first = {"currency": "EUR", "per_item": 0.1}
    second = {"currency": "EUR", "per_item": 0.2}
    for pay in (first, second):
        batch_settings.change(batch=batch, changes={"pay": pay}, by=world.mara, now=NOON)
    batch_settings.change(batch=batch, changes={"overlap": 3}, by=world.mara, now=NOON)
    automatic_decisions.change_rule(
        batch=batch, rule={"rule": "majority", "most": 4}, by=world.mara, now=NOON
    )
    projects.rename_project(
        project=world.project, name="Pictures", time_zone="Europe/Berlin", by=world.mara, now=NOON
    )
    project = Project.objects.get(pk=world.project.pk)
    projects.change_terms(project=project, pay=first, caps={"items_per_day": 9}, by=world.mara, now=NOON)
    projects.change_statement(
        project=project, statement={"recruitment": "By a notice."}, by=world.mara, now=NOON
    )

    said = [event.detail for event in Event.objects.order_by("pk") if event.detail and "to" in event.detail]

    assert said[1] | {"what": "pay"} == said[1]
    assert (said[1]["from"]["per_item"], said[1]["to"]["per_item"]) == (0.1, 0.2)
    assert {"what": "overlap", "from": 2, "to": 3} in said
    rule = next(one for one in said if one["what"] == "resolve")
    assert (rule["from"], rule["to"]["most"]) == ({}, 4)
    assert {"what": "name", "from": "Films", "to": "Pictures"} in said
    assert {"what": "caps", "from": {}, "to": {"items_per_day": 9}} in said
    assert {"what": "statement", "from": {}, "to": {"recruitment": "By a notice."}} in said


# -- deciding when the batch closes -----------------------------------------------------------------


def test_nothing_is_decided_before_the_batch_closes_where_it_says_so(world: World) -> None:
    batch = world.batch(size=1, overlap=2, decide_at_close=True)
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")

    assert automatic_decisions.resolve_due(now=LATER) == 0
    assert automatic_decisions.resolve_batch(batch=batch, now=LATER) == 0
    assert not Decision.objects.exists()


def test_when_a_batch_decides_is_changed_before_the_first_decision_and_not_after_it(world: World) -> None:
    batch = world.batch(size=2, overlap=1)
    world.label(batch, "ada", "extraction")

    said = batch_settings.effects(batch, {"decide_at_close": True})
    batch_settings.change(batch=batch, changes={"decide_at_close": True}, by=world.mara, now=NOON)
    assert said[-2].startswith("Items are decided when the batch closes")
    assert said[-1] == "People can change their responses until the batch closes."
    assert automatic_decisions.resolve_due(now=LATER) == 0

    batch.refresh_from_db()
    batch_settings.change(batch=batch, changes={"decide_at_close": False}, by=world.mara, now=NOON)
    assert Item.objects.filter(due_at__isnull=False).count() == 1
    assert automatic_decisions.resolve_due(now=LATER) == 1
    with pytest.raises(ActionRefused, match="already being decided"):
        batch_settings.change(batch=batch, changes={"decide_at_close": True}, by=world.mara, now=LATER)


GAP = {"rule": "majority", "most": 3}


def disagreeing(world: World) -> Batch:
    """A batch that decides when it closes, with an item of which two people said different things a while ago."""
    batch = world.batch(size=1, overlap=2, decide_at_close=True, resolve=GAP)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_due(now=LATER)
    return batch


def test_one_more_person_is_asked_before_the_close_where_people_do_not_agree(world: World) -> None:
    batch = disagreeing(world)

    assert Slot.objects.filter(batch=batch, added=True).count() == 1
    assert not Decision.objects.exists()
    world.label(batch, "cy", "reasoning")
    assert automatic_decisions.resolve_due(now=LATER + timedelta(hours=1)) == 0
    changed = world.reload(Assignment.objects.select_related("person").get(person=world.people["bo"]))
    assert changed.annotation is not None
    assignments.undo(annotation=changed.annotation, now=LATER)
    world.answer(world.reload(changed), {"label": "extraction"})
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    automatic_decisions.resolve_batch(batch=Batch.objects.get(pk=batch.pk), now=LATER)

    assert Outcome.objects.get().response["data"]["label"] == "extraction"
    assert not list(doctor.findings())


def agree_after_all(world: World) -> None:
    mine = world.reload(Assignment.objects.select_related("person").get(person=world.people["bo"]))
    assert mine.annotation is not None
    assignments.undo(annotation=mine.annotation, now=LATER)
    world.answer(world.reload(mine), {"label": "extraction"})


def test_who_agrees_after_all_needs_nobody_more(world: World) -> None:
    batch = disagreeing(world)
    agree_after_all(world)
    automatic_decisions.resolve_due(now=LATER + timedelta(hours=1))

    assert not Slot.objects.filter(batch=batch, added=True).exists()
    assert world.take(batch, "cy") is None
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    automatic_decisions.resolve_batch(batch=Batch.objects.get(pk=batch.pk), now=LATER)

    assert Outcome.objects.get().response["data"]["label"] == "extraction"
    assert not list(doctor.findings())


def test_who_agrees_after_all_is_decided_without_the_one_more_person_who_was_asked(world: World) -> None:
    batch = world.batch(size=1, overlap=2, resolve=GAP)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    assert automatic_decisions.resolve_due(now=LATER) == 1
    agree_after_all(world)

    assert automatic_decisions.resolve_due(now=LATER + timedelta(hours=1)) == 1
    assert Outcome.objects.get().response["data"]["label"] == "extraction"
    assert not list(doctor.findings())


def test_of_whom_one_withdraws_and_skips_the_others_agreement_is_enough(world: World) -> None:
    batch = world.batch(size=1, overlap=2, resolve=GAP)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_due(now=LATER)
    mine = world.reload(Assignment.objects.select_related("person").get(person=world.ada))
    assert mine.annotation is not None
    assignments.undo(annotation=mine.annotation, now=LATER)
    assignments.skip(assignment=world.reload(mine), reason="unclear", now=LATER)
    world.label(batch, "cy", "reasoning")
    later = LATER + timedelta(hours=1)
    automatic_decisions.resolve_orphaned(now=later)
    automatic_decisions.resolve_due(now=later)

    assert not Adjudication.objects.exists()
    assert Outcome.objects.get().response["data"]["label"] == "reasoning"


def test_who_still_does_not_agree_at_the_close_goes_to_an_adjudicator(world: World) -> None:
    batch = disagreeing(world)
    assert not Adjudication.objects.exists()
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    automatic_decisions.resolve_batch(batch=Batch.objects.get(pk=batch.pk), now=LATER)

    assert Adjudication.objects.filter(item__batch=batch).count() == 1


def test_a_rule_that_comes_later_asks_one_more_person_about_what_is_complete(world: World) -> None:
    batch = world.batch(size=1, overlap=2, decide_at_close=True)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_due(now=LATER)
    assert not Slot.objects.filter(batch=batch, added=True).exists()
    automatic_decisions.change_rule(batch=batch, rule=GAP, by=world.mara, now=LATER)
    automatic_decisions.resolve_batch(batch=Batch.objects.get(pk=batch.pk), now=LATER)

    assert Slot.objects.filter(batch=batch, added=True).count() == 1
