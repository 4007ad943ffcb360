"""Actions on several items: who may do what to which item, all or nothing, and undo while nothing rests on it."""

from __future__ import annotations

import html
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access.authorization import Actor
from annotation.access.roles import Role
from annotation.accounts import erasure
from annotation.accounts.worked_examples import worked_examples
from annotation.background import jobs
from annotation.explorer import index, item_access, item_actions, querysets
from annotation.explorer.action_rules import ACTIONS, Facts, refusal
from annotation.explorer.links import explorer_url
from annotation.explorer.selection import STATES, parse
from annotation.management import doctor
from annotation.models import (
    Assignment,
    Batch,
    Decision,
    Event,
    Flag,
    Item,
    ItemAction,
    ItemChange,
    Job,
    Membership,
    Outcome,
    Person,
    PinnedExample,
    Release,
    RevisionRequest,
)
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold
from annotation.queue import batch_progress
from annotation.releases import creation
from annotation.web.views.item_actions import QUESTIONS_SHOWN
from annotation.workflow import adjudication, assignments, automatic_decisions, batches, projects
from tableqa import Example as PlainExample
from tableqa import Table
from tests.annotation.cast import NOON, World

SOON = NOON + timedelta(minutes=5)
PEOPLE = ("ada", "bo", "cy")


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def act(
    world: World, kind: str, *items: Item, who: str = "mara", now: datetime = SOON
) -> item_actions.ActionResult:
    reader = item_access.reader(Actor(world.people[who]), world.project)
    return item_actions.apply_action(reader, kind, [item.pk for item in items], note="A torn table", now=now)


def undo(
    world: World, done: item_actions.ActionResult, *, who: str = "mara", now: datetime = SOON
) -> item_actions.ActionResult:
    assert done.action is not None
    reader = item_access.reader(Actor(world.people[who]), world.project)
    return item_actions.undo(reader, done.action, now=now)


def reasons(done: item_actions.ActionResult) -> list[str]:
    return sorted(refused.code for refused in done.refused)


def state(item: Item) -> str:
    found = Item.objects.select_related("decision", "adjudication").get(pk=item.pk)
    return item_actions._state(found)


@pytest.fixture
def batch(world: World) -> Batch:
    """Four items: 1 is accepted by rule, 2 waits for an adjudicator, 3 has one response, 4 has none."""
    batch = world.batch(name="Labels", overlap=3)
    for who in PEOPLE:
        world.label(batch, who, "extraction")
    for who, label in zip(PEOPLE, ("extraction", "reasoning", "neither"), strict=True):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    world.label(batch, "ada", "extraction")
    return batch


def items(batch: Batch) -> list[Item]:
    return list(batch.items.order_by("position"))


# -- the decision, without a database --------------------------------------------------------------

DECIDING = ("exclude", "adjudicate", "send_back")
UNDECIDED = {"open", "complete", "adjudication"}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    ("circumstance", "facts"),
    [
        ("nothing special", {}),
        ("own", {"is_own": True}),
        ("never decided", {"is_decidable": False}),
        ("closed", {"is_closed": True}),
        ("no responses", {"submitted": 0}),
        ("by a person", {"by_person": True}),
        ("released", {"release": "v1"}),
        ("being released", {"release": "v1", "is_being_released": True}),
        ("released, by a person", {"release": "v1", "by_person": True}),
        ("used", {"user": "Checks"}),
        ("used elsewhere", {"user": ""}),
        ("response released", {"released_response": True}),
        ("author gone", {"author_gone": True}),
    ],
)
def test_each_action_changes_exactly_these_items(
    action: str, state: str, circumstance: str, facts: dict[str, Any]
) -> None:
    refused = refusal(action, Facts(state, **{"submitted": 3, **facts}))

    never = {"own": "own", "never decided": "undecidable"}
    rests = {"being released": "being_released", "used": "used", "used elsewhere": "used_elsewhere"}
    if action == "example":
        fixed = "" if state == "accepted" else "unaccepted"
        fixed = fixed or ("" if circumstance == "closed" else "still_open")
        expected = {"never decided": "undecidable"}.get(circumstance, fixed)
    elif action == "flag":
        expected = "own" if circumstance == "own" else ""
    elif circumstance in never:
        expected = never[circumstance]
    elif action == "exclude":
        expected = "excluded" if state == "excluded" else rests.get(circumstance, "")
        expected = "" if state in UNDECIDED else expected
    elif action == "adjudicate":
        expected = {"adjudication": "waiting", "open": "incomplete"}.get(state, "")
        if not expected and circumstance == "no responses":
            expected = "incomplete"
        if not expected and state not in UNDECIDED:
            expected = {"by a person": "by_person", **rests}.get(circumstance, "")
    elif state not in UNDECIDED:
        expected = rests.get(circumstance, "") if "released" in circumstance else "decided"
        expected = "decided" if circumstance == "response released" else expected
    else:
        told = {"closed": "closed", "no responses": "unanswered", "author gone": "author_gone"}
        expected = {**told, "response released": "released_response"}.get(circumstance, "")
    assert (refused.code if refused else "") == expected


@pytest.mark.parametrize("action", DECIDING)
def test_whoever_may_not_know_of_gold_is_told_the_same_of_gold_as_of_an_item_of_their_own(
    action: str,
) -> None:
    gold = refusal(action, Facts("open", is_decidable=False), tells_gold=False)

    assert gold == refusal(action, Facts("open", is_own=True), tells_gold=False)
    assert gold is not None
    assert gold.code == "kept"


# -- exclude ----------------------------------------------------------------------------------------


def test_items_in_any_state_are_excluded_with_one_entry_in_the_log_and_undone(
    batch: Batch, world: World
) -> None:
    four = items(batch)
    held = world.take(batch, "bo")
    assert held is not None
    assert held.item_id == four[2].pk
    before = [state(item) for item in four]
    slots = [(item.slots_count, item.submitted_count) for item in four]

    done = act(world, "exclude", *four)

    assert done.number == 4
    assert not done.refused
    assert {state(item) for item in four} == {"excluded"}
    assert set(Decision.objects.values_list("reason", "made_by")) == {("A torn table", world.mara.pk)}
    event = Event.objects.get(thing="itemaction")
    assert (event.after, event.detail) == ("excluded", {"items": 4, "reason": "A torn table"})
    assert Assignment.objects.get(pk=held.pk).reason == "item excluded"
    assert world.take(batch, "cy") is None, "nobody gets an excluded item"
    assert doctor.findings() == []

    undone = undo(world, done)

    assert undone.number == 4
    assert not undone.refused
    assert [state(item) for item in four] == before
    assert [(item.slots_count, item.submitted_count) for item in items(batch)] == slots
    accepted = Decision.objects.get()
    assert (accepted.made_by, accepted.made_at) == (None, NOON), "whoever undoes it decided nothing"
    assert accepted.outcomes.get().annotations.count() == 3
    assert world.take(batch, "bo") is not None
    assert doctor.findings() == []
    assert undo(world, done).number == 0, "a second click changes nothing"


def test_an_excluded_item_without_responses_is_in_a_release_that_verifies(
    batch: Batch, world: World, tmp_path: Any
) -> None:
    act(world, "exclude", *items(batch))
    batches.close_batch(batch=batch, by=world.mara, now=SOON)

    release = creation.make_release(
        project=world.project, name="v1", format="freb_tqa", by=world.rea, now=SOON
    )

    assert release is not None
    assert doctor.findings() == []


def test_an_action_whose_decision_a_release_holds_is_not_undone(batch: Batch, world: World) -> None:
    second = items(batch)[1]
    done = act(world, "exclude", second)
    Release.objects.create(
        project=world.project,
        name="v1",
        format="freb_tqa",
        watermark=Event.objects.latest("pk").pk,
        made_at=SOON,
        ready_at=SOON,
    )

    assert undo(world, done).number == 0
    assert state(second) == "excluded"


def test_undo_leaves_what_was_decided_anew(batch: Batch, world: World) -> None:
    _, second, third, _ = items(batch)
    done = act(world, "exclude", second, third)
    other = act(world, "adjudicate", second)
    assert reasons(other) == ["by_person"]
    adjudication.undo(item=second, by=world.mara, now=SOON)

    undone = undo(world, done)

    assert undone.number == 1
    assert reasons(undone) == ["changed"]
    assert (state(second), state(third)) == ("adjudication", "open")
    assert doctor.findings() == []


def test_an_action_is_undone_for_half_an_hour_by_its_person_or_a_manager(batch: Batch, world: World) -> None:
    ivo = act(world, "exclude", items(batch)[1], who="ivo")
    mara = act(world, "exclude", items(batch)[2])

    with pytest.raises(ActionRefused, match="Only the person"):
        undo(world, mara, who="ivo")
    with pytest.raises(ActionRefused, match="30 minutes"):
        undo(world, ivo, now=SOON + timedelta(minutes=31))
    assert undo(world, ivo, who="mara").number == 1


# -- to adjudication --------------------------------------------------------------------------------


def test_an_accepted_item_waits_for_an_adjudicator_whatever_the_rule_says(batch: Batch, world: World) -> None:
    first, second, third, _ = items(batch)

    done = act(world, "adjudicate", first, second, third)

    assert done.number == 1
    assert reasons(done) == ["incomplete", "waiting"]
    first.refresh_from_db()
    assert first.adjudication.reason == "A torn table"
    automatic_decisions.resolve_batch(batch=batch, now=SOON)
    assert state(first) == "adjudication", "the rule does not decide what a person wants looked at"
    assert doctor.findings() == []

    assert undo(world, done).number == 1
    assert state(first) == "accepted"
    assert doctor.findings() == []


def test_a_decision_on_which_work_rests_stays(world: World) -> None:
    batch = world.batch(name="Labels", overlap=1)
    checks = world.batch("question_type", name="Again", feeds_from=batch, sources=[], overlap=1)
    world.label(batch, "ada", "extraction")
    world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    begun = world.take(checks, "bo")
    assert begun is not None

    done = act(world, "exclude", *items(batch)[:2])

    assert [(refused.code, refused.name, len(keys)) for refused, keys in done.refused.items()] == [
        ("used", "Again", 1)
    ]
    assert done.number == 1
    assert checks.items.count() == 1, "what followed from the other one is gone"
    assert undo(world, done).number == 1
    assert checks.items.count() == 2
    assert doctor.findings() == []


# -- send back --------------------------------------------------------------------------------------


def test_responses_go_back_to_their_authors_with_a_note_and_count_again_after_undo(
    batch: Batch, world: World
) -> None:
    first, second, third, fourth = items(batch)
    reason = second.adjudication.reason

    done = act(world, "send_back", first, second, third, fourth)

    assert done.number == 2
    assert reasons(done) == ["decided", "unanswered"]
    assert RevisionRequest.objects.filter(note="A torn table").count() == 4
    assert state(second) == "open"
    assert doctor.findings() == []

    undone = undo(world, done)

    assert undone.number == 2
    second = Item.objects.get(pk=second.pk)
    assert (second.submitted_count, second.adjudication.reason) == (3, reason)
    assert not RevisionRequest.objects.exists()
    assert doctor.findings() == []


def test_undo_leaves_a_response_that_its_author_has_submitted_again(batch: Batch, world: World) -> None:
    third = items(batch)[2]
    done = act(world, "send_back", third)
    assignment = third.assignments.get(person=world.ada)
    world.answer(world.reload(assignment), {"label": "neither"}, now=SOON)

    undone = undo(world, done)

    assert undone.number == 0
    assert reasons(undone) == ["changed"]
    assert RevisionRequest.objects.count() == 1
    assert doctor.findings() == []


def test_a_response_in_a_closed_batch_does_not_go_back(batch: Batch, world: World) -> None:
    batches.close_batch(batch=batch, by=world.mara, now=SOON)

    assert reasons(act(world, "send_back", items(batch)[1])) == ["closed"]


# -- flag -------------------------------------------------------------------------------------------


def test_a_flag_of_a_manager_is_found_counted_and_shown_and_undo_removes_it(
    batch: Batch, world: World
) -> None:
    def flagged(**filters: str) -> int:
        index.refresh(world.project, now=timezone.now())
        reader = item_access.reader(Actor(world.mara), world.project)
        return querysets.matching(reader, parse({name: [value] for name, value in filters.items()})).count()

    first, _, third, _ = items(batch)
    done = act(world, "flag", first, third)

    assert done.number == 2
    assert (flagged(flagged="yes"), flagged(flagged="no"), flagged(q="torn")) == (2, 2, 2)
    assert batch_progress.counts([batch])[batch.pk]["flags"] == 2
    page = browser(world.mara).get(reverse("batch", args=[batch.public_id])).content.decode()
    story = browser(world.mara).get(reverse("item_story", args=[first.public_id])).content.decode()
    assert "A torn table" in page
    assert story.count("flagged the item") == 1
    assert doctor.findings() == []

    assert undo(world, done).number == 2
    assert (flagged(flagged="yes"), flagged(q="torn")) == (0, 0)


def test_a_flag_is_of_an_assignment_or_of_a_person_who_looks(batch: Batch, world: World) -> None:
    assignment = Assignment.objects.filter(item=items(batch)[0]).first()

    for wrong in ({}, {"assignment": assignment, "made_by": world.mara}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Flag.objects.create(item=items(batch)[0], note="Torn", made_at=NOON, **wrong)


# -- who --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ACTIONS)
def test_who_annotates_in_the_batch_changes_nothing_in_it(batch: Batch, world: World, kind: str) -> None:
    projects.add_member(
        project=world.project,
        person=world.zoe,
        roles=[Role.MANAGER, Role.ANNOTATOR],
        by=world.mara,
        now=NOON,
    )

    done = act(world, kind, *items(batch), who="zoe")

    assert done.number == 0
    assert reasons(done) == ["own"]
    assert not ItemAction.objects.exists()


def test_an_administrator_without_a_role_and_other_roles_find_nothing(batch: Batch, world: World) -> None:
    root = Person.objects.create_superuser("Root", "root@example.org", "tilted tables")
    address = reverse("explorer_act", args=[world.project.slug])
    form = {"action": "exclude", "items": items(batch)[1].public_id, "confirmed": "yes", "note": "Torn"}

    for person in (root, world.rea, world.ada, world.zoe):
        assert browser(person).post(address, form).status_code == 404
    assert browser(world.ivo).post(address, form).status_code == 302
    assert state(items(batch)[1]) == "excluded"


# -- pages ------------------------------------------------------------------------------------------


def test_a_key_that_is_still_held_confirms_no_action(batch: Batch, world: World) -> None:
    choice = {"action": "example", "item": [item.public_id for item in items(batch)]}

    page = browser(world.mara).post(reverse("explorer_act", args=[world.project.slug]), choice)

    assert re.findall(r"<(\w+)[^>]* autofocus", page.content.decode()) == ["h1"]


def test_a_page_shows_what_will_change_does_it_and_undoes_it(batch: Batch, world: World) -> None:
    client, four = browser(world.mara), items(batch)
    address = reverse("explorer_act", args=[world.project.slug])
    choice = {"action": "adjudicate", "item": [item.public_id for item in four], "query": "sort=-answered"}

    preview = client.post(address, choice)

    page = preview.content.decode()
    assert "1 item will need adjudication." in page
    assert "2 items: responses are missing" in page
    assert "1 item: already needs adjudication" in page
    assert not ItemAction.objects.exists()

    confirmed = {**choice, "items": preview.context["items"], "confirmed": "yes", "note": " "}
    assert client.post(address, confirmed).status_code == 422
    done = client.post(address, {**confirmed, "note": "Please look"}, follow=True)

    assert done.redirect_chain[-1][0] == explorer_url(world.project, sort="-answered")
    assert "1 item moved to adjudication." in done.content.decode()
    action = ItemAction.objects.get()
    undo_address = reverse("explorer_undo", args=[action.public_id])
    assert undo_address in done.content.decode()
    log = client.get(
        reverse("project_log", args=[world.project.slug]), {"thing": "itemaction"}
    ).content.decode()
    assert undo_address in log
    assert "Please look" in log

    undone = client.post(undo_address, {"back": "//evil.example/x"}, follow=True)

    assert undone.redirect_chain[-1][0] == explorer_url(world.project)
    assert "Undone for 1 item." in undone.content.decode()
    assert state(four[0]) == "accepted"


@pytest.mark.parametrize(
    ("kind", "changed"), [("flag", [0, 1, 2, 3]), ("exclude", [0, 1, 2, 3]), ("adjudicate", [0])]
)
def test_a_preview_lists_the_first_questions_that_change_and_says_that_undo_is_possible(
    batch: Batch, world: World, kind: str, changed: list[int]
) -> None:
    four = items(batch)
    form = {"action": kind, "item": [item.public_id for item in four]}

    response = browser(world.mara).post(reverse("explorer_act", args=[world.project.slug]), form)

    page = html.unescape(response.content.decode())
    questions = re.findall(r'<li><a href="([^"]+)" dir="auto">([^<]+)</a></li>', page)
    expected = [four[place] for place in changed]
    assert questions == [
        (explorer_url(world.project, item=item.public_id), item.example.question)
        for item in expected[:QUESTIONS_SHOWN]
    ]
    more = max(0, len(expected) - QUESTIONS_SHOWN)
    assert re.findall(r"<li>and (\d+) more</li>", page) == ([str(more)] if more else [])
    assert "You can undo this for 30 minutes. Items that change meanwhile are left as they are." in page


def test_a_preview_without_an_item_to_change_mentions_no_undo(batch: Batch, world: World) -> None:
    form = {"action": "adjudicate", "item": [items(batch)[3].public_id]}

    response = browser(world.mara).post(reverse("explorer_act", args=[world.project.slug]), form)

    assert "You can undo this" not in response.content.decode()
    assert "None of the selected items can be changed." in response.content.decode()


def test_all_that_match_means_the_filter_and_at_most_a_thousand(
    batch: Batch, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reverse("explorer_act", args=[world.project.slug])
    form = {"action": "exclude", "all": "yes", "query": "state=open"}

    assert browser(world.mara).post(address, form).context["number"] == 2
    monkeypatch.setattr(item_actions, "MOST_ITEMS", 1)
    refused = browser(world.mara).post(address, form)

    assert refused.status_code == 422
    assert "more than 1 items" in refused.content.decode()
    assert 'name="confirmed"' not in refused.content.decode()


def test_what_changed_since_the_preview_is_left_and_reported(batch: Batch, world: World) -> None:
    client, (_, second, third, _) = browser(world.mara), items(batch)
    address = reverse("explorer_act", args=[world.project.slug])
    ids = f"{second.public_id} {third.public_id}"
    adjudication.decide(item=second, by=world.ivo, exclude="Torn", now=SOON)

    form = {"action": "exclude", "items": ids, "confirmed": "yes", "note": "Torn"}
    page = client.post(address, form, follow=True).content.decode()

    assert "1 item excluded. Not changed: 1 item: already excluded." in page


def test_ids_of_another_project_change_nothing(batch: Batch, world: World) -> None:
    projects.create_project(slug="books", name="Books", manager=world.zoe, now=NOON)
    form = {"action": "exclude", "items": items(batch)[1].public_id, "confirmed": "yes", "note": "Torn"}

    browser(world.zoe).post(reverse("explorer_act", args=["books"]), form)

    assert not ItemAction.objects.exists()
    done = act(world, "exclude", items(batch)[1])
    assert done.action is not None
    address = reverse("explorer_undo", args=[done.action.public_id])
    assert browser(world.zoe).post(address).status_code == 404
    assert Client(enforce_csrf_checks=True).post(address).status_code in (302, 403)


def test_a_form_from_elsewhere_is_refused(batch: Batch, world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.mara)

    answer = client.post(reverse("explorer_act", args=[world.project.slug]), {"action": "exclude"})

    assert answer.status_code == 403


def test_a_name_in_a_note_goes_when_its_person_is_erased(batch: Batch, world: World) -> None:
    reader = item_access.reader(Actor(world.mara), world.project)
    item_actions.apply_action(reader, "exclude", [items(batch)[3].pk], note="Bo said it is torn", now=SOON)

    erasure.erase(person=world.bo, by=world.bo, now=timezone.now())

    assert "Bo" not in ItemAction.objects.get().note
    assert ItemChange.objects.count() == 1


def test_a_skipped_item_can_be_excluded_and_taken_back(batch: Batch, world: World) -> None:
    third = items(batch)[2]
    held = world.take(batch, "cy")
    assert held is not None
    assert held.item_id == third.pk
    assignments.skip(assignment=held, reason="Torn", now=NOON)

    done = act(world, "exclude", third)

    assert doctor.findings() == []
    assert undo(world, done).number == 1
    assert doctor.findings() == []


# -- a new batch ------------------------------------------------------------------------------------


def edited(world: World) -> Batch:
    """An item whose accepted edit made an example, and one that is open."""
    batch = world.batch("value_change", variant="answer_changes", overlap=1, name="Edits")
    assignment = world.take(batch, "ada")
    assert assignment is not None
    table = assignment.plain_item.example.table
    operation = {"op": "set_cell", "row": "r0", "column": "c1", "old": table.rows[0][1], "new": "2001"}
    data = {"unanswerable": False, "operations": [operation], "answers": ["2001"]}
    world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch


def begun(world: World, kind: str, *chosen: Item) -> Any:
    client = browser(world.mara)
    address = reverse("explorer_act", args=[world.project.slug])
    choice = client.post(address, {"action": "batch", "item": [item.public_id for item in chosen]})
    form = {"items": choice.context["items"], "kind": kind, "begin": "yes"}
    return client.post(reverse("batch_new", args=[world.project.slug]), form)


def test_a_new_batch_without_items_leads_back_to_the_items(batch: Batch, world: World) -> None:
    address = reverse("explorer_act", args=[world.project.slug])

    page = browser(world.mara).post(address, {"action": "batch"}).content.decode()

    assert "No items selected." in page
    assert f'<a class="button" href="{reverse("explorer", args=[world.project.slug])}">' in page


def test_a_new_batch_begins_with_exactly_the_examples_of_the_items(batch: Batch, world: World) -> None:
    second, fourth = items(batch)[1], items(batch)[3]

    page = begun(world, "question_type", second, fourth)

    form = page.context["form"]
    assert form["only"].value().split() == [second.example.external_id, fourth.example.external_id]
    assert form["sources"].value() == [world.source.public_id]
    assert "2 examples are selected. See Sampling." in page.content.decode()
    assert Batch.objects.count() == 1
    sent = {"kind": "question_type", "name": "Again", "overlap": 1, "seed": 0, "of": "originals"}
    sent |= {"sources": [world.source.public_id], "only": "\n".join(form["only"].value().split())}
    browser(world.mara).post(reverse("batch_new", args=[world.project.slug]), sent)
    made = Batch.objects.get(name="Again")
    assert list(made.items.order_by("position").values_list("example_id", flat=True)) == [
        second.example_id,
        fourth.example_id,
    ]


def test_a_task_type_of_perturbed_examples_gets_what_the_decisions_made(world: World) -> None:
    batch = edited(world)
    result = Outcome.objects.get().example
    assert result is not None

    checks = begun(world, "answer_check", *items(batch))
    labels = begun(world, "question_type", *items(batch))

    assert checks.context["form"]["only"].value().split() == [result.external_id]
    assert checks.context["form"]["of"].value() == "perturbed"
    assert "1 of them is the result of a decision. 3 items are left out" in checks.content.decode()
    assert len(labels.context["form"]["only"].value().split()) == 4
    assert labels.context["begun"].left_out == 0


def test_an_adjudicator_creates_no_batch_from_items(batch: Batch, world: World) -> None:
    form = {"action": "batch", "item": [items(batch)[0].public_id]}

    page = browser(world.ivo).post(reverse("explorer_act", args=[world.project.slug]), form, follow=True)

    assert "Choose an action." in page.content.decode()
    listed = browser(world.ivo).get(explorer_url(world.project)).content.decode()
    assert "Add to a new batch" not in listed


# -- guideline examples -----------------------------------------------------------------------------

OTHER = PlainExample("cities", "Which is largest?", Table(["City", "People"], [["Oslo", "7"]]), ["Oslo"])


def test_chosen_items_are_the_first_examples_until_they_are_removed(batch: Batch, world: World) -> None:
    first, second, third, _ = items(batch)
    adjudication.decide(item=second, by=world.ivo, choose=["A"], now=SOON)
    assert reasons(act(world, "example", first)) == ["still_open"]
    batches.close_batch(batch=batch, by=world.mara, now=SOON)
    automatic_decisions.resolve_batch(batch=batch, now=SOON)
    at_work = world.batch(name="Cities", sources=[world.import_written(OTHER)])

    done = act(world, "example", first, second, third)

    assert done.number == 2
    assert reasons(done) == ["unaccepted"]
    seen = [example.question for example in worked_examples(at_work, world.bo) if example.kind == "accepted"]
    assert set(seen) == {first.example.question, second.example.question}
    assert reasons(act(world, "example", first)) == ["pinned"]

    guidelines = reverse("guidelines", args=[world.project.slug, "question_type"])
    page = browser(world.mara).get(guidelines).content.decode()
    assert "Guideline examples" in page
    assert "Guideline examples" not in browser(world.bo).get(guidelines).content.decode()
    assert (
        browser(world.ivo).post(guidelines, {"action": "unpin", "item": first.public_id}).status_code == 404
    )
    browser(world.mara).post(guidelines, {"action": "unpin", "item": first.public_id})
    assert list(PinnedExample.objects.values_list("item", flat=True)) == [second.pk]

    undone = undo(world, done)

    assert undone.number == 1
    assert reasons(undone) == ["changed"]
    assert not PinnedExample.objects.exists()


def test_an_example_is_hidden_while_somebody_may_get_its_table_and_never_becomes_gold(
    batch: Batch, world: World
) -> None:
    first = items(batch)[0]
    batches.close_batch(batch=batch, by=world.mara, now=SOON)
    other = world.batch(name="Cities", sources=[world.import_written(OTHER)])
    assert act(world, "example", first).number == 1
    assert worked_examples(other, world.bo)[0].question == first.example.question

    again = world.batch(name="The same table", open=False)

    assert first.example.question not in [one.question for one in worked_examples(other, world.bo)]
    with pytest.raises(ActionRefused, match="guideline example"):
        gold.set_gold(
            batch=again, example=first.example, data={"label": "extraction"}, by=world.mara, now=SOON
        )


def test_an_adjudicator_chooses_no_guideline_examples(batch: Batch, world: World) -> None:
    form = {"action": "example", "item": [items(batch)[0].public_id]}

    page = browser(world.ivo).post(reverse("explorer_act", args=[world.project.slug]), form, follow=True)

    assert "Choose an action." in page.content.decode()


def test_the_entry_of_an_action_in_the_log_leads_to_its_items(batch: Batch, world: World) -> None:
    done = act(world, "flag", *items(batch)[:2])
    assert done.action is not None

    log = browser(world.mara).get("/projects/films/log/").content.decode()
    address = f"/projects/films/explorer/?action={done.action.public_id}"
    listed = browser(world.mara).get(address).content.decode()

    assert f'href="{address}"' in log
    assert "2 items" in listed


def test_an_action_that_no_item_allows_any_more_is_not_logged(
    batch: Batch, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_it(*_: Any) -> Any:
        raise ActionRefused("decided", "")

    monkeypatch.setitem(item_actions._DO, "flag", refuse_it)
    number = Event.objects.count()

    done = act(world, "flag", *items(batch)[:2])

    assert done.action is None
    assert [len(keys) for keys in done.refused.values()] == [2]
    assert not ItemAction.objects.exists()
    assert Event.objects.count() == number


def test_a_name_in_a_reason_of_an_adjudicator_goes_when_its_person_is_erased(
    batch: Batch, world: World
) -> None:
    who = item_access.reader(Actor(world.mara), world.project)
    note = f"{world.ada.name} marked a torn table"
    keys = list(Item.objects.filter(batch=batch, decision__isnull=True).values_list("pk", flat=True))
    item_actions.apply_action(who, "exclude", keys, note=note, now=SOON)
    assert Decision.objects.filter(reason=note).exists()

    erasure.erase(person=world.ada, by=world.ada, now=SOON)

    assert Decision.objects.filter(reason="Erased person marked a torn table").exists()
    assert not Decision.objects.filter(reason=note).exists()


# -- many items: a job ------------------------------------------------------------------------------


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two items at once, instead of twenty."""
    monkeypatch.setattr(item_actions, "AT_ONCE", 2)


def confirm(world: World, kind: str, chosen: list[Item]) -> Job:
    """Confirm an action on the page; returns its job."""
    ids = " ".join(item.public_id for item in chosen)
    answer = browser(world.mara).post(
        reverse("explorer_act", args=["films"]),
        {"action": kind, "items": ids, "note": "A torn table", "confirmed": "yes"},
    )
    job = Job.objects.latest("pk")
    assert answer["Location"] == reverse("job", args=[job.public_id])
    return job


def job_page(world: World, job: Job) -> str:
    return html.unescape(browser(world.mara).get(reverse("job", args=[job.public_id])).content.decode())


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("kind", ["exclude", "adjudicate", "flag"])
def test_many_items_are_changed_and_restored_by_jobs_in_one_action(
    world: World, batch: Batch, kind: str
) -> None:
    before = [state(item) for item in items(batch)]
    job = confirm(world, kind, items(batch))
    assert [state(item) for item in items(batch)] == before  # nothing is done in the request
    jobs.run(job.pk)

    action = ItemAction.objects.get()
    number = action.changes.count()
    assert number == {"exclude": 4, "adjudicate": 1, "flag": 4}[kind]
    page = job_page(world, job)
    assert f"action={action.public_id}" in page
    assert reverse("explorer_undo", args=[action.public_id]) in page
    logged = Event.objects.get(thing="itemaction")
    assert logged.detail == {"items": number, "reason": "A torn table"}
    assert doctor.findings() == []

    browser(world.mara).post(reverse("explorer_undo", args=[action.public_id]), {})
    if number > 2:
        job = Job.objects.get(kind=item_actions.UNDO)
        jobs.run(job.pk)
        assert f"Undone for {number} items." in job_page(world, job)
    assert [state(item) for item in items(batch)] == before
    assert not Flag.objects.exists()
    assert doctor.findings() == []


@pytest.mark.usefixtures("parts")
def test_a_job_whose_worker_was_lost_goes_on_where_it_stopped(
    world: World, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = confirm(world, "flag", items(batch))
    flagging = item_actions._DO["flag"]
    calls: list[int] = []

    def lost(*arguments: Any) -> dict[str, Any]:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return flagging(*arguments)

    monkeypatch.setitem(item_actions._DO, "flag", lost)
    with pytest.raises(KeyboardInterrupt):
        jobs.run(job.pk)
    assert Flag.objects.count() == 2  # the first part; the second is undone as a whole
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
    jobs.run(job.pk)

    assert sorted(Flag.objects.values_list("item", flat=True)) == sorted(item.pk for item in items(batch))
    assert Event.objects.get(thing="itemaction").detail["items"] == 4


@pytest.mark.usefixtures("parts")
def test_a_worker_that_is_lost_after_the_last_change_leaves_one_entry_in_the_log(
    world: World, batch: Batch
) -> None:
    job = confirm(world, "flag", items(batch))
    jobs.run(job.pk)
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
    assert jobs.run(job.pk) == "done"
    assert Event.objects.get(thing="itemaction").detail["items"] == 4

    again = item_actions.start_undo(
        item_access.reader(Actor(world.mara), world.project), ItemAction.objects.get(), now=timezone.now()
    )
    for _ in range(2):
        Job.objects.filter(pk=again.pk).update(state=Job.State.QUEUED)
        assert jobs.run(again.pk) == "done"
    assert Event.objects.filter(thing="itemaction", after="undone").count() == 1


@pytest.mark.usefixtures("parts")
def test_a_job_that_changed_nothing_can_run_twice(
    world: World, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = confirm(world, "exclude", items(batch))
    monkeypatch.setattr(item_actions, "refusal", lambda *args, **values: item_actions.CHANGED)
    with monkeypatch.context() as lost:
        lost.setattr(jobs, "_finish", lambda *args, **values: "lost")
        assert jobs.run(job.pk) == "lost"
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
    assert jobs.run(job.pk) == "done"
    assert not ItemAction.objects.exists()


@pytest.mark.usefixtures("parts")
def test_a_job_changes_nothing_for_somebody_who_left_the_project(world: World, batch: Batch) -> None:
    job = confirm(world, "flag", items(batch))
    Membership.objects.filter(person=world.mara).update(roles=[Role.ANNOTATOR])
    assert jobs.run(job.pk) == "failed"
    assert not Flag.objects.exists()


def test_what_follows_from_an_item_goes_with_it_where_both_are_selected(world: World) -> None:
    first = world.batch(size=2, overlap=1)
    last = world.batch("answer_check", sources=[], feeds_from=first)
    world.label(first, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=first, now=NOON)
    both = [Item.objects.get(batch=first, decision__isnull=False), last.items.get()]

    done = act(world, "exclude", *both)

    assert (done.number, list(last.items.all())) == (1, [])
    assert undo(world, done).number == 1
    assert last.items.count() == 1
