"""What somebody has begun: who may take it up again, who may hand it in, and what they are told where not."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from annotation.models import Assignment, Batch, Draft
from annotation.platform.refusals import ActionRefused
from annotation.quality import consent, guidelines
from annotation.queue import allocation, reservations
from annotation.workflow import assignments, batches, projects
from tests.annotation.cast import NOON, World, envelope

pytestmark = pytest.mark.both

LATER = NOON + timedelta(minutes=5)
State = Assignment.State
LABEL = {"label": "reasoning"}


def returned(world: World, batch: Batch, who: str = "ada") -> Assignment:
    """An item that the person had and gave back."""
    taken = world.take(batch, who)
    assert taken is not None
    assignments.give_back(assignment=taken, now=NOON)
    return world.reload(taken)


def refused(act: Any) -> str:
    with pytest.raises(ActionRefused) as error:
        act()
    return f"{error.value.code}: {error.value.detail}"


def ways_back(world: World, assignment: Assignment) -> list[str]:
    """What My work and a late submission say."""
    fresh = world.reload(assignment)
    return [
        refused(lambda: assignments.resume(assignment=fresh, now=LATER)),
        refused(lambda: world.answer(fresh, LABEL, now=LATER)),
    ]


def client_of(world: World, who: str) -> Client:
    client = Client()
    client.force_login(world.people[who])
    return client


# -- gates ------------------------------------------------------------------------------------------


def asking_for_consent(world: World) -> Batch:
    consent.write(project=world.project, text="We publish your labels.", by=world.mara, now=NOON)
    consent.agree(project=world.project, person=world.ada, version=1, now=NOON)
    world.project.refresh_from_db()
    return world.batch()


def test_who_takes_consent_back_gets_no_item_again_by_any_way(world: World) -> None:
    batch = asking_for_consent(world)
    taken = world.take(batch, "ada")
    assert taken is not None

    consent.withdraw(project=world.project, person=world.ada, now=NOON)

    assert [words.split(":")[0] for words in ways_back(world, taken)] == ["consent_needed"] * 2
    assert not Assignment.objects.filter(person=world.ada, state__in=[State.LEASED, State.SUBMITTED]).exists()


def test_nothing_more_is_kept_of_what_somebody_writes_who_took_their_consent_back(world: World) -> None:
    taken = world.take(asking_for_consent(world), "ada")
    assert taken is not None
    client = client_of(world, "ada")
    address, draft = f"/api/assignments/{taken.public_id}/draft/", envelope(taken, LABEL)
    body = {"revision": 0, "response": draft}
    consent.withdraw(project=world.project, person=world.ada, now=NOON)

    told = client.put(address, body, content_type="application/json")
    form = {"assignment": taken.public_id, "action": "save", "label": "reasoning"}
    page = client.post(f"/batches/{taken.batch.public_id}/annotate/", form)

    assert (told.status_code, told.json()["code"]) == (409, "consent_needed")
    assert told.json()["page"].startswith("/projects/films/consent/")
    assert "You have withdrawn your consent" in page.content.decode()
    assert not Draft.objects.exists()

    consent.agree(project=world.project, person=world.ada, version=1, now=NOON)
    assert client.put(address, body, content_type="application/json").status_code == 200


def test_a_new_version_of_the_consent_text_loses_no_draft(world: World) -> None:
    taken = world.take(asking_for_consent(world), "ada")
    assert taken is not None
    assignments.give_back(assignment=taken, now=NOON)
    consent.write(project=world.project, text="We publish your labels, and more.", by=world.mara, now=NOON)

    saved = assignments.save_draft(
        assignment=world.reload(taken), revision=0, response=envelope(taken, LABEL), now=NOON
    )

    assert saved.revision == 1


def test_who_takes_consent_back_withdraws_nothing_that_they_could_not_hand_in_again(world: World) -> None:
    batch = asking_for_consent(world)
    held = world.take(batch, "ada")
    assert held is not None
    said = world.answer(held, LABEL)
    consent.withdraw(project=world.project, person=world.ada, now=NOON)

    assert "consent" in refused(lambda: assignments.undo(annotation=said, now=NOON))
    assert world.reload(held).state == State.SUBMITTED


def test_what_was_typed_stays_on_the_page_and_nowhere_else_when_consent_is_taken_back_meanwhile(
    world: World,
) -> None:
    batch = asking_for_consent(world)
    taken = world.take(batch, "ada")
    assert taken is not None
    consent.withdraw(project=world.project, person=world.ada, now=NOON)

    form = {"action": "submit", "assignment": taken.public_id, "label": "reasoning"}
    answer = client_of(world, "ada").post(f"/batches/{batch.public_id}/annotate/", form)

    assert answer.status_code == 409
    said = answer.content.decode()
    assert "You have withdrawn your consent" in said
    assert re.search(r'value="reasoning"[^>]* checked', said)
    assert not Draft.objects.exists()


def test_guidelines_that_changed_are_read_before_an_item_on_the_desk_is_opened(world: World) -> None:
    setting_up_must_read(world)
    batch = world.batch()
    current = guidelines.current(world.project.pk, batch.task_type)
    guidelines.confirm(guidelines=current, person=world.ada, now=NOON)
    taken = world.take(batch, "ada")
    assert taken is not None
    guidelines.revise(
        project=world.project, task=batch.task(), text="Read me anew.", person=world.mara, now=NOON
    )

    assert refused(lambda: assignments.resume(assignment=taken, now=LATER)).startswith("guidelines_unread")
    world.answer(taken, LABEL, now=LATER)  # what is on the desk may be handed in

    assert world.reload(taken).state == State.SUBMITTED


def setting_up_must_read(world: World) -> None:
    world.project.must_read = True
    world.project.save(update_fields=["must_read"])


def test_items_that_were_given_back_count_again_when_they_are_taken_up(world: World) -> None:
    batch = world.batch(caps={"items": 2}, overlap=1)
    gone = [returned(world, batch) for _ in range(4)]
    for one in gone[:2]:
        world.answer(one, LABEL)

    assert {words.split(":")[0] for one in gone[2:] for words in ways_back(world, one)} == {"cap_reached"}
    assert Assignment.objects.filter(batch=batch, state=State.SUBMITTED).count() == 2


def test_a_limit_does_not_stand_before_what_is_on_the_desk(world: World) -> None:
    batch = world.batch(caps={"items": 1})
    taken = world.take(batch, "ada")
    assert taken is not None

    assert world.take(batch, "ada") == taken  # given once more
    assignments.resume(assignment=taken, now=LATER)
    world.answer(taken, LABEL)


# -- a limit of a day, over all batches -------------------------------------------------------------


def test_what_is_on_the_desk_in_other_batches_counts_for_the_projects_day(world: World) -> None:
    projects.change_terms(project=world.project, pay={}, caps={"items_per_day": 2}, by=world.mara, now=NOON)
    batches = [world.batch(overlap=1) for _ in range(4)]
    taken = [world.take(batch, "ada") for batch in batches[:2]]

    said = [refused(lambda b=batch: world.take(b, "ada")) for batch in batches[2:]]

    assert all(words.startswith("cap_reached: The limit is 2 items") for words in said)
    for one in taken:
        assert one is not None
        world.answer(one, LABEL)
    said = [refused(lambda b=batch: world.take(b, "ada")) for batch in batches]
    assert all(
        "You have reached the limit of 2 items per day in Films. Come back tomorrow." in words
        for words in said
    )
    assert Assignment.objects.filter(person=world.ada).count() == 2


def test_a_project_may_have_braces_in_its_name(world: World) -> None:
    world.project.name = "Films {0} {x}"
    world.project.save(update_fields=["name"])
    projects.change_terms(project=world.project, pay={}, caps={"items_per_day": 1}, by=world.mara, now=NOON)
    batch = world.batch()
    world.label(batch, "ada", "reasoning")

    assert "per day in Films {0} {x}." in refused(lambda: world.take(batch, "ada"))


# -- what people are told ---------------------------------------------------------------------------


def test_whoever_lost_an_item_to_a_manager_is_told_so(world: World) -> None:
    batch = world.batch(overlap=1)
    moved, taken_back = world.take(batch, "ada"), None
    allocation.move(batch=batch, person=world.ada, to=[world.bo], leases=True, by=world.mara, now=NOON)
    taken_back = world.take(batch, "ada")
    assert moved is not None
    assert taken_back is not None
    allocation.take_back(batch=batch, leases=[taken_back], by=world.mara, now=NOON)

    words = "place_taken: A manager gave this item to another annotator. Your draft is under My work."
    assert {said for one in (moved, taken_back) for said in ways_back(world, one)} == {words}


def test_whoever_loses_the_item_while_submitting_it_is_told_why(world: World) -> None:
    batch = world.batch(overlap=1)
    taken = world.take(batch, "ada")
    assert taken is not None  # loaded before the manager moves it
    allocation.move(batch=batch, person=world.ada, to=[world.bo], leases=True, by=world.mara, now=NOON)

    assert "A manager gave this item" in refused(lambda: world.answer(taken, LABEL, now=LATER))


def test_a_lease_that_ran_out_is_still_called_that(world: World) -> None:
    batch = world.batch(overlap=1, only=["nu-0"])
    taken = world.take(batch, "ada")
    assert taken is not None
    Assignment.objects.filter(pk=taken.pk).update(leased_until=NOON - timedelta(days=1))
    assert world.take(batch, "bo") is not None

    assert all(
        "Your reservation expired, and another annotator took the slot." in one
        for one in ways_back(world, taken)
    )


def test_what_was_given_back_is_not_said_to_have_run_out(world: World) -> None:
    batch = world.batch(overlap=1, only=["nu-0"])
    gone = returned(world, batch)
    assert world.take(batch, "bo") is not None

    assert all("You returned this item" in one for one in ways_back(world, gone))


def test_a_paused_batch_says_that_it_is_paused(world: World) -> None:
    batch = world.batch(overlap=1)
    gone, held = returned(world, batch), world.take(batch, "ada")
    batches.pause_batch(batch=batch, by=world.mara, now=NOON)

    assert all(one.startswith("batch_paused: ") for one in ways_back(world, gone))
    assert held is not None
    world.answer(world.reload(held), LABEL, now=LATER)  # what is on the desk may be handed in


def test_a_closed_batch_says_that_it_is_closed(world: World) -> None:
    batch = world.batch(overlap=1)
    gone = returned(world, batch)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)

    assert all(one.startswith("batch_closed: ") for one in ways_back(world, gone))


def test_a_draft_of_a_batch_that_was_closed_is_listed_under_my_work(world: World) -> None:
    batch = world.batch("value_change", variant="answer_changes", overlap=1)
    taken = world.take(batch, "ada")
    assert taken is not None
    response = envelope(taken, {"operations": [], "answers": ["2031"]})
    assignments.save_draft(assignment=taken, revision=0, response=response, now=NOON)

    batches.close_batch(batch=batch, by=world.mara, now=LATER)

    assert Draft.objects.filter(revision__gt=0).exists()
    main = client_of(world, "ada").get("/work/").content.decode().partition("<main")[2]
    assert "2031" in main


def test_a_retry_of_a_late_submission_is_answered_like_the_first(world: World) -> None:
    batch = world.batch(overlap=1)
    gone = returned(world, batch)
    again = world.reload(gone)

    first = world.answer(gone, LABEL, now=LATER)

    assert world.answer(again, LABEL, now=LATER) == first  # loaded while the item was still returned


def test_a_page_at_a_limit_says_one_thing(world: World) -> None:
    batch = world.batch(caps={"items_per_day": 1}, overlap=1)
    client = client_of(world, "ada")
    taken = reservations.next_assignment(batch=batch, person=world.ada, now=NOON)
    assert taken is not None
    client.post(
        f"/batches/{batch.public_id}/annotate/",
        {"action": "submit", "assignment": taken.public_id, "label": "reasoning"},
    )

    page = client.get(f"/batches/{batch.public_id}/annotate/").content.decode()

    assert page.count("Come back tomorrow.") == 1
    assert "No item of this batch is left" not in page
    assert "All caught up" not in page
