"""Where people differ: one more is asked, somebody decides, or a response goes back to its author."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Sum
from django.test import Client

from annotation.access import visibility
from annotation.access.roles import Role
from annotation.management import doctor
from annotation.models import (
    Adjudication,
    Annotation,
    Assignment,
    Batch,
    Decision,
    Event,
    Item,
    Membership,
    Person,
    Release,
    RevisionRequest,
    Slot,
)
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report, compared_responses
from annotation.queue import availability, candidates, resolutions, slots
from annotation.releases import creation, verification
from annotation.workflow import adjudication, assignments, automatic_decisions, batches, projects
from tasks.contract import TaskType, task_types
from tests.annotation.cast import NOON, World, envelope, make_world

pytestmark = pytest.mark.both

LATER = NOON + timedelta(hours=1)


def labelled(world: World, *said: str, **more: Any) -> Batch:
    """A batch of one question that as many people as there are labels have labelled, resolved."""
    batch = world.batch(size=1, overlap=min(len(said), 3), **more)
    for who, label in zip(("ada", "bo", "cy"), said, strict=False):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def ruled(world: World, rule: dict[str, Any], **more: Any) -> Batch:
    batch = world.batch(size=1, **more)
    Batch.objects.filter(pk=batch.pk).update(resolve=automatic_decisions.checked_rule(batch, rule))
    batch.refresh_from_db()
    return batch


def rejoin(world: World, name: str) -> Person:
    person = Person.objects.create_person(name.capitalize(), f"{name}@example.org", "tilted tables")
    projects.add_member(project=world.project, person=person, roles=[Role.ANNOTATOR], by=world.mara, now=NOON)
    world.people[name] = person
    return person


# -- one more ---------------------------------------------------------------------------------------


def test_people_who_differ_ask_one_more_by_itself_and_the_majority_then_decides(world: World) -> None:
    batch = ruled(world, {"rule": "majority", "most": 3}, overlap=2)
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "reasoning")

    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    place = Slot.objects.get(batch=batch, added=True)
    assert (place.number, place.is_taken, place.reserved_for) == (3, False, None)
    assert world.take(batch, "ada") is None, "who answered before is not asked again"
    world.label(batch, "cy", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    decision = Decision.objects.get(item__batch=batch)
    assert [outcome.response["data"] for outcome in decision.outcomes.all()] == [{"label": "reasoning"}]
    assert list(doctor.findings()) == []


def test_the_page_of_who_is_asked_in_addition_looks_like_any_other(world: World) -> None:
    batch = ruled(world, {"rule": "majority", "most": 3}, overlap=2)
    planned = world.take(batch, "ada")
    assert planned is not None
    first = assignments.payload(planned)
    world.answer(planned, {"label": "extraction"})
    world.label(batch, "bo", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    added = world.take(batch, "cy")

    assert added is not None
    assert added.slot.added
    second = assignments.payload(added)
    assert {k: v for k, v in first.items() if k not in ("id", "lease")} == {
        k: v for k, v in second.items() if k not in ("id", "lease")
    }


def test_agreement_counts_the_planned_places_alone(world: World) -> None:
    """Who is asked where others differ would make agreement look worse than it is (or, chosen otherwise, better)."""
    batch = ruled(world, {"rule": "majority", "most": 3}, overlap=2)
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    before = agreement_report.batch_figures(batch)

    world.label(batch, "cy", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    assert Decision.objects.filter(item__batch=batch).exists()
    assert agreement_report.batch_figures(batch) == before


def test_where_the_most_have_answered_an_adjudicator_looks(world: World) -> None:
    batch = ruled(world, {"rule": "majority", "most": 3}, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    world.label(batch, "cy", "neither")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    assert resolutions.waiting(batch).count() == 1
    assert not Slot.objects.filter(batch=batch, is_taken=False).exists()


def test_where_nobody_is_left_to_ask_an_adjudicator_looks(world: World) -> None:
    batch = ruled(world, {"rule": "majority", "most": 5}, overlap=3)
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        world.label(batch, who, label)

    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    assert resolutions.waiting(batch).get().adjudication.reason.endswith("No further annotator is available.")


def test_whoever_was_asked_in_addition_and_never_came_holds_nothing_up_once_the_batch_is_closed(
    world: World,
) -> None:
    batch = ruled(world, {"rule": "majority", "most": 3}, overlap=2)
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    assert not resolutions.waiting(batch).exists()

    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    batch.refresh_from_db()
    assert automatic_decisions.resolve_batch(batch=batch, now=LATER) == 1

    assert (
        "the batch was closed before more responses arrived"
        in resolutions.waiting(batch).get().adjudication.reason
    )


# -- what is never decided --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [{"purpose": "calibration"}, {"purpose": "qualification"}, {"set_aside_at": NOON}],
    ids=["calibration", "qualification", "set aside"],
)
def test_only_work_that_is_not_set_aside_is_decided(world: World, change: dict[str, Any]) -> None:
    batch = world.batch(size=1)
    for who in ("ada", "bo", "cy"):
        world.label(batch, who, "extraction")
    Batch.objects.filter(pk=batch.pk).update(**change)

    assert automatic_decisions.resolve_due(now=LATER) == 0
    assert automatic_decisions.resolve_batch(batch=batch, now=LATER) == 0
    item = Item.objects.get(batch=batch)
    assert automatic_decisions.resolve_item(item_id=item.pk, now=LATER, again=True) is False
    assert not Decision.objects.exists()


def test_a_gold_item_is_never_decided(world: World) -> None:
    batch = world.batch(size=1)
    for who in ("ada", "bo", "cy"):
        world.label(batch, who, "extraction")
    Item.objects.filter(batch=batch).update(is_gold=True)

    assert automatic_decisions.resolve_due(now=LATER) == 0
    assert not Decision.objects.exists()


# -- what matters most comes first --------------------------------------------------------------------


def test_what_more_hangs_on_and_who_is_further_apart_comes_first(world: World) -> None:
    said = {
        "near": ("extraction", "extraction", "reasoning", "reasoning"),
        "far": ("extraction", "reasoning", "neither"),
    }
    dee = rejoin(world, "dee")
    batch = world.batch(size=2, overlap=4)
    people = ("ada", "bo", "cy", dee.name.lower())
    for item, labels in enumerate((said["near"], (*said["far"], "unanswerable"))):
        for who, label in zip(people, labels, strict=True):
            world.label(batch, who, label)
        assert Item.objects.filter(batch=batch, position=item + 1).exists() or item == 0
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    first, second = (item.adjudication for item in resolutions.waiting(batch))

    assert first.weight > second.weight
    assert first.item.position > second.item.position, "it is the later item that people are further apart on"
    fed = labelled(world, "extraction", "reasoning", "neither", name="fed from")
    before = resolutions.waiting(fed).get().adjudication.weight
    world.batch("value_change", variant="answer_changes", feeds_from=fed, sources=[], open=False)
    Adjudication.objects.all().delete()
    Item.objects.filter(batch=fed).update(due_at=NOON)
    automatic_decisions.resolve_batch(batch=fed, now=LATER)
    assert resolutions.waiting(fed).get().adjudication.weight == 2 * before
    assert [item.batch for item in resolutions.waiting_in(world.project)] == [fed]


# -- sending back -----------------------------------------------------------------------------------


def sent_back(
    world: World, batch: Batch, note: str = "Look at the years again."
) -> tuple[Item, RevisionRequest, str]:
    """The item, what was sent back, and whose response it was."""
    item = resolutions.waiting(batch).get()
    back = adjudication.send_back(item=item, by=world.ivo, choose="B", note=note, now=LATER)
    return item, back, back.assignment.person.name.lower()


def test_a_response_goes_back_to_its_author_with_a_note_and_the_item_waits_for_them(world: World) -> None:
    batch = labelled(world, "extraction", "reasoning", "neither")
    raw = {one.pk: one.response for one in Annotation.objects.all()}

    item, back, who = sent_back(world, batch)

    assert not resolutions.waiting(batch).exists()
    assert {one.pk: one.response for one in Annotation.objects.filter(pk__in=raw)} == raw
    newest = Annotation.objects.filter(assignment=back.assignment).latest("revision")
    assert (newest.revision, newest.response, newest.event.actor) == (2, None, world.ivo)
    held = world.take(batch, who)
    assert held is not None
    assert held.pk == back.assignment_id, "the place is still theirs, and comes before anything new"
    payload = assignments.payload(held)
    assert payload["sent_back"] == "Look at the years again."
    assert payload["draft"]["response"] == back.annotation.response
    for other in {"ada", "bo", "cy"} - {who}:
        assert world.take(batch, other) is None
    assert list(doctor.findings()) == []
    story = Event.objects.filter(thing="item", thing_id=item.pk).order_by("pk")
    assert [event.after for event in story] == ["adjudication", "sent back"]


def test_once_it_is_written_anew_the_item_is_resolved_like_any_other(world: World) -> None:
    batch = labelled(world, "extraction", "reasoning", "neither")
    item, back, who = sent_back(world, batch)
    others = Assignment.objects.filter(item=item).submitted().exclude(pk=back.assignment_id)
    label = others[0].annotation.response["data"]["label"]  # type: ignore[union-attr, index]

    held = world.take(batch, who)
    assert held is not None
    world.answer(held, {"label": label}, now=LATER)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    decision = Decision.objects.get(item=item)
    assert decision.made_by is None
    assert [outcome.response["data"]["label"] for outcome in decision.outcomes.all()] == [label]


def test_what_an_adjudicator_sent_back_enters_agreement_as_it_was(world: World, tmp_path: Path) -> None:
    batch = world.batch(size=2, overlap=3)
    for who, labels in (
        ("ada", ("extraction", "extraction")),
        ("bo", ("reasoning", "extraction")),
        ("cy", ("neither", "reasoning")),
    ):
        for label in labels:
            world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    item, back, who = sent_back(world, batch)
    held = world.take(batch, who)
    assert held is not None
    others = Assignment.objects.filter(item=item).submitted().exclude(pk=back.assignment_id)
    label = others[0].annotation.response["data"]["label"]  # type: ignore[union-attr, index]
    world.answer(held, {"label": label}, now=LATER)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    live = {figure.statistic: figure for figure in agreement_report.batch_figures(batch)}
    rows = [row for row in compared_responses.rated_responses(batch) if row.item == item.public_id]
    release = creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=tmp_path / "v1"
    )
    verification.verify(tmp_path / "v1")

    assert sorted(row.response.label for row in rows) == ["extraction", "neither", "reasoning"]
    assert live["percent_agreement"].ratings == 6
    said = {one["statistic"]: one["value"] for one in release.manifest["agreement"]}
    assert said == {name: figure.to_dict()["value"] for name, figure in live.items()}


def test_an_adjudicator_sees_what_was_said_of_a_response_that_comes_again(world: World) -> None:
    batch = labelled(world, "extraction", "reasoning", "neither")
    item, back, who = sent_back(world, batch)
    letters = {one.letter: one.annotation.assignment_id for one in candidates.of_item(item)}
    held = world.take(batch, who)
    assert held is not None
    world.answer(held, {"label": "unanswerable"}, now=LATER)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    by_letter = {
        candidate.letter: candidate for candidate in candidates.of_item(resolutions.waiting(batch).get())
    }

    assert len(letters) == 2, "while it is away there are two"
    assert by_letter["B"].annotation.assignment_id == back.assignment_id
    assert by_letter["B"].sent_back == ("Look at the years again.",)
    assert by_letter["A"].sent_back == ()


def test_nothing_goes_back_that_nobody_could_write_anew(world: World) -> None:
    batch = labelled(world, "extraction", "reasoning", "neither")
    item = resolutions.waiting(batch).get()
    person = next(one for one in candidates.of_item(item) if one.letter == "B").annotation.assignment.person

    def refused(**more: Any) -> str:
        with pytest.raises(ActionRefused) as why:
            adjudication.send_back(
                **{"item": item, "by": world.ivo, "choose": "B", "note": "again", "now": LATER, **more}
            )
        return why.value.code

    assert refused(note=" ") == "invalid_request"
    assert refused(choose="Z") == "invalid_request"
    membership = Membership.objects.get(project=batch.project, person=person)
    Membership.objects.filter(pk=membership.pk).update(removed_at=NOON)
    assert refused() == "author_gone"
    Membership.objects.filter(pk=membership.pk).update(removed_at=None)
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    assert refused() == "batch_closed"
    assert resolutions.waiting(batch).exists()
    adjudication.decide(item=item, by=world.ivo, note="n", choose=["A"], now=LATER)
    assert refused() == "decided"


# -- who looks --------------------------------------------------------------------------------------


def test_whoever_may_still_annotate_in_the_batch_does_not_adjudicate_there(world: World) -> None:
    batch = labelled(world, "extraction", "reasoning", "neither")
    item = resolutions.waiting(batch).get()
    kim = rejoin(world, "kim")
    membership = Membership.objects.get(project=batch.project, person=kim)
    Membership.objects.filter(pk=membership.pk).update(roles=[Role.ANNOTATOR, Role.ADJUDICATOR])

    assert not visibility.may_adjudicate(kim, item)
    assert not visibility.adjudicable(kim, resolutions.waiting(batch)).exists()
    assert visibility.may_adjudicate(world.ivo, item)
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    item.batch.refresh_from_db()
    assert visibility.may_adjudicate(kim, item), "then nothing of it can come to them any more"


def test_letters_are_drawn_per_item_and_stay(db: None, tmp_path: Path) -> None:
    world = make_world(tmp_path, questions=9)
    batch = world.batch(size=9)
    for _ in range(9):
        for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
            world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    orders = []
    for item in resolutions.waiting(batch):
        order = [one.annotation.assignment.person.name for one in candidates.of_item(item)]
        assert order == [one.annotation.assignment.person.name for one in candidates.of_item(item)]
        orders.append(order)

    assert len({tuple(order) for order in orders}) > 1


# -- another rule -----------------------------------------------------------------------------------


def test_another_rule_decides_what_waits_and_leaves_what_is_decided(
    world: World, django_capture_on_commit_callbacks: Any
) -> None:
    batch = world.batch("relevant_cells", size=2, overlap=2)
    for cells in ([["r0", "c1"]], [["r1", "c1"], ["r1", "c0"], ["r2", "c0"]]):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        world.answer(assignment, {"cells": cells, "unanswerable": False})
    for cells in ([["r0", "c1"]], [["r1", "c1"]]):
        assignment = world.take(batch, "bo")
        assert assignment is not None
        world.answer(assignment, {"cells": cells, "unanswerable": False})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    decided = Decision.objects.get(item__batch=batch)
    assert resolutions.waiting(batch).count() == 1

    rule = {"rule": "set_overlap", "least": 0}
    assert automatic_decisions.preview_rule(batch, automatic_decisions.checked_rule(batch, rule)) == {
        "accepted": 1,
        "one_more": 0,
        "adjudication": 0,
    }
    assert Decision.objects.filter(item__batch=batch).count() == 1, "looking changes nothing"
    with django_capture_on_commit_callbacks(execute=True):
        job = automatic_decisions.change_rule(batch=batch, rule=rule, by=world.mara, now=LATER)

    assert job is not None
    job.refresh_from_db()
    assert job.result["resolved"] == 1
    assert not resolutions.waiting(batch).exists()
    assert Decision.objects.filter(item__batch=batch, made_by=None).count() == 2
    assert Decision.objects.get(pk=decided.pk).made_at == decided.made_at
    assert automatic_decisions.change_rule(batch=batch, rule=rule, by=world.mara, now=LATER) is None


def test_a_rule_that_does_not_fit_is_refused_in_words(world: World) -> None:
    batch = world.batch()
    with pytest.raises(ActionRefused) as refused:
        automatic_decisions.change_rule(batch=batch, rule={"rule": "gap"}, by=world.mara, now=NOON)
    assert "does not fit question_type" in refused.value.detail


# -- raw responses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task", [one for one in task_types().values() if not one.making], ids=lambda one: one.key
)
def test_every_judging_kind_has_a_rule_a_batch_may_change(task: TaskType) -> None:
    assert task.rule


def test_an_own_response_decides_and_rests_on_nobody(world: World) -> None:
    batch = labelled(world, "extraction", "reasoning", "neither")
    item = resolutions.waiting(batch).get()
    assignment = Assignment.objects.filter(item=item).select_related("batch", "item__example__stored_table")[
        0
    ]
    before = list(Annotation.objects.values_list("pk", "response"))

    response = envelope(assignment, {"label": "extraction"})
    decision = adjudication.decide(
        item=item, by=world.ivo, note="It is read off.", response=response, now=LATER
    )

    outcome = decision.outcomes.get()
    assert outcome.annotations.count() == 0
    assert list(Annotation.objects.values_list("pk", "response")) == before
    assert availability.left_for(world.ada, [batch.pk])[batch.pk] == 0
    assert batch.slots.aggregate(n=Sum("number"))["n"] == 6


# -- releases ---------------------------------------------------------------------------------------


def test_a_release_names_the_rule_of_each_decision_and_verifies_whatever_the_batch_has_now(
    world: World, tmp_path: Path
) -> None:
    batch = ruled(world, {"rule": "majority", "most": 3}, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    world.label(batch, "cy", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    own = world.batch(size=1, name="by its own rule")
    for who in ("ada", "bo", "cy"):
        world.label(own, who, "extraction")
    automatic_decisions.resolve_batch(batch=own, now=LATER)
    for one in (batch, own):
        automatic_decisions.change_rule(batch=one, rule={"rule": "unanimous"}, by=world.mara, now=LATER)
        batches.close_batch(batch=one, by=world.mara, now=LATER)

    folder = tmp_path / "release"
    creation.make_release(
        project=world.project, name="1.0", format="askew", by=world.rea, now=LATER, out=folder
    )
    (path,) = folder.rglob("decisions.jsonl")
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {record["batch"]: record.get("rule") for record in records} == {
        batch.public_id: {"rule": "majority", "more_than": 0.5, "most": 3},
        own.public_id: None,
    }
    assert all(record["by"] == "resolve" and record["note"] == "" for record in records)
    verification.verify(folder)


def test_the_page_offers_to_send_back_only_what_no_release_holds(world: World, client: Client) -> None:
    batch = labelled(world, "extraction", "reasoning")
    item = resolutions.waiting(batch).get()
    client.force_login(world.ivo)
    address = f"/items/{item.public_id}/adjudicate/"
    assert "Response to send back" in client.get(address).content.decode()
    last = Event.objects.order_by("-pk").values_list("pk", flat=True)[0]
    Release.objects.create(
        project=world.project, name="first", format="askew", watermark=last, made_at=LATER, ready_at=LATER
    )

    said = client.get(address).content.decode()

    assert "Response to send back" not in said
    assert "A release contains these responses" in said


# -- who is who, and who has read ------------------------------------------------------------------


def test_side_by_side_keeps_what_an_adjudicator_may_be_asked_about_and_bars_whoever_read_it(
    world: World, client: Client
) -> None:
    batch = labelled(world, "extraction", "reasoning")
    item = resolutions.waiting(batch).get()
    question = item.example.question
    address = f"/batches/{batch.public_id}/calibration/"

    client.force_login(world.ivo)
    assert question not in client.get(address).content.decode()
    client.force_login(world.rea)
    assert question in client.get(address).content.decode()

    assert set(item.exclusions.values_list("person", flat=True)) == {world.rea.pk}
    adjudication.decide(item=item, by=world.ivo, note="It is.", choose=["A"], now=LATER)
    client.force_login(world.ivo)
    assert question in client.get(address).content.decode()


def test_neither_log_nor_release_tells_an_adjudicator_whose_response_waits_for_them(
    world: World, client: Client
) -> None:
    batch = labelled(world, "extraction", "reasoning")
    item = resolutions.waiting(batch).get()
    release = creation.make_release(
        project=world.project, name="early", format="askew", by=world.rea, now=LATER
    )
    names = set(
        Membership.objects.filter(person__in=[world.ada, world.bo]).values_list("pseudonym", flat=True)
    )
    client.force_login(world.ivo)

    log = client.get("/projects/films/log/", {"thing": "assignment"}).content.decode()
    found = client.get("/projects/films/log/", {"who": sorted(names)[0]}).content.decode()
    page = client.get(f"/releases/{release.public_id}/").content.decode()
    download = client.get(f"/releases/{release.public_id}/download/", follow=True)

    assert f"an undecided item of {batch.name}" in log
    assert not any(name in log for name in names)
    assert item.public_id not in log
    assert "an undecided item" not in found
    assert "is not final, and you may be asked to decide it" in download.content.decode()
    assert "is not final, and you may be asked to decide it" in page
    assert f"/releases/{release.public_id}/download/" not in page, "no button that refuses"
    adjudication.decide(item=item, by=world.ivo, note="It is.", choose=["A"], now=LATER)
    log = client.get("/projects/films/log/", {"thing": "assignment"}).content.decode()
    assert not any(name in log for name in names)
    creation.make_release(project=world.project, name="later", format="askew", by=world.rea, now=LATER)
    assert client.get(f"/releases/{release.public_id}/download/")["Content-Type"] == "application/zip"
    log = client.get("/projects/films/log/", {"thing": "assignment"}).content.decode()
    assert all(name in log for name in names)


@pytest.mark.parametrize("has_key", [True, False])
def test_the_order_of_the_letters_is_the_same_each_time_and_cannot_be_worked_out_from_what_is_public(
    world: World, settings: Any, has_key: bool
) -> None:
    """A batch from before batches had keys has the letters that notes of adjudicators name."""
    orders = set()
    batch = labelled(world, "extraction", "reasoning", "neither")
    item = resolutions.waiting(batch).get()
    for number in range(12):
        item.batch.draw_key = f"key {number}" if has_key else ""
        settings.SECRET_KEY = "this installation" if has_key else f"installation {number}"
        order = [one.annotation.pk for one in candidates.of_item(item)]
        assert order == [one.annotation.pk for one in candidates.of_item(item)]
        orders.add(tuple(order))

    assert len(orders) > 1, "the order hangs on a key that nobody sees"


@pytest.mark.parametrize("way", ["page", "api"])
def test_who_has_read_the_responses_of_an_item_never_gets_it_as_an_annotator(
    world: World, client: Client, way: str
) -> None:
    batch = ruled(world, {"rule": "unanimous"}, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    item = resolutions.waiting(batch).get()
    client.force_login(world.ivo)
    address = (
        f"/items/{item.public_id}/adjudicate/"
        if way == "page"
        else f"/api/batches/{batch.public_id}/adjudication/"
    )
    for _ in range(2):
        assert client.get(address).status_code == 200
    assert item.exclusions.filter(person=world.ivo, read_at__isnull=False).count() == 1
    assert visibility.may_adjudicate(world.ivo, item), "reading bars nobody from deciding"
    assert visibility.adjudicable(world.ivo, resolutions.waiting(batch)).exists()

    membership = Membership.objects.select_related("project", "person").get(person=world.ivo)
    projects.change_roles(membership=membership, roles=[Role.ANNOTATOR], by=world.mara, now=LATER)
    slots.add_slot(item)

    assert world.take(batch, "ivo") is None
    assert availability.left_for(world.ivo, [batch.pk]) == {batch.pk: 0}
