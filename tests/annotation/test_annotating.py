"""Drafts, submissions, undo: idempotent by state, nothing lost, nothing half done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.db.models.functions import Now
from django.test import Client

from annotation.management import doctor
from annotation.models import Annotation, Assignment, Draft, Event, Example, Item, PersonBatchCounts
from annotation.platform.refusals import ActionRefused
from annotation.queue import reservations
from annotation.releases import creation
from annotation.workflow import assignments, automatic_decisions
from tableqa.operations import SetCell
from tasks.contract import InvalidResponse
from tests.annotation.cast import NOON, World, envelope

pytestmark = pytest.mark.both

SECOND = timedelta(seconds=1)


@pytest.fixture
def held(world: World) -> Assignment:
    """Ada's first item of a batch of question types."""
    assignment = world.take(world.batch(), "ada")
    assert assignment is not None
    return assignment


def test_a_draft_is_kept_whatever_it_says_and_its_problems_are_told(world: World, held: Assignment) -> None:
    saved = assignments.save_draft(
        assignment=held, revision=0, response=envelope(held, {"label": "wat"}), now=NOON
    )
    assert (saved.revision, saved.saved_at) == (1, NOON)
    assert [problem.code for problem in saved.problems] == ["no_label"]
    assert world.reload(held).draft.response["data"] == {"label": "wat"}


def test_a_draft_saved_twice_by_a_retry_is_one_draft(world: World, held: Assignment) -> None:
    for _ in range(2):
        saved = assignments.save_draft(assignment=held, revision=0, response={"data": 1}, now=NOON)
        assert saved.revision == 1


def test_a_stale_draft_is_refused_with_the_newer_one(world: World, held: Assignment) -> None:
    assignments.save_draft(assignment=held, revision=0, response={"data": "one tab"}, now=NOON)
    with pytest.raises(ActionRefused) as refused:
        assignments.save_draft(assignment=held, revision=0, response={"data": "another tab"}, now=NOON)
    assert refused.value.code == "stale_draft"
    assert refused.value.more["draft"]["response"] == {"data": "one tab"}


def test_a_draft_may_be_as_large_as_a_response(world: World, held: Assignment) -> None:
    client = Client()
    client.force_login(held.person)

    def put(size: int) -> Any:
        draft = {"revision": 0, "response": {"data": "x" * size}}
        return client.put(f"/api/assignments/{held.public_id}/draft/", draft, content_type="application/json")

    assert put(4_000_000).status_code == 200
    assert world.reload(held).draft.response == {"data": "x" * 4_000_000}
    assert put(6_000_000).json()["code"] == "request_too_large"


def test_a_submission_twice_is_one_submission(world: World, held: Assignment) -> None:
    first = world.answer(held, {"label": "extraction"})
    again = world.answer(world.reload(held), {"label": "extraction"})
    assert again == first
    assert Annotation.objects.count() == 1
    assert PersonBatchCounts.objects.get().submitted == 1


def test_a_retry_with_what_was_loaded_before_the_first_arrived_is_one_submission(
    world: World, held: Assignment
) -> None:
    stale = world.reload(held)
    first = world.answer(held, {"label": "extraction"})
    assert stale.state == Assignment.State.LEASED
    assert world.answer(stale, {"label": "extraction"}) == first
    assert Annotation.objects.count() == 1
    assert list(doctor.findings()) == []


def test_another_answer_from_another_tab_is_refused_in_words(world: World, held: Assignment) -> None:
    world.answer(held, {"label": "extraction"})
    with pytest.raises(ActionRefused) as refused:
        world.answer(world.reload(held), {"label": "reasoning"})
    assert refused.value.code == "already_submitted"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"type": "nonsense"}, "wrong_type"),
        ({"variant": "other"}, "wrong_variant"),
        ({"version": 99}, "unknown_version"),
        ({"base": "0" * 64}, "stale_base"),
        ({"data": {"label": "extraction", "extra": 1}}, "unknown_field"),
        ({"data": []}, "no_label"),
        ({"data": None}, "no_label"),
    ],
)
def test_a_response_that_does_not_hold_changes_nothing(
    world: World, held: Assignment, change: dict, code: str
) -> None:
    response = envelope(held, {"label": "extraction"}) | change
    with pytest.raises(InvalidResponse) as invalid:
        assignments.submit(assignment=held, response=response, now=NOON)
    assert invalid.value.problems[0].code == code
    assert not Annotation.objects.exists()
    assert world.reload(held).state == Assignment.State.LEASED


def test_a_response_of_an_older_version_is_not_taken_for_one_of_this(world: World) -> None:
    """What an older form did not ask for is asked for now; only what is stored is read with `upgrade`."""
    held = world.take(world.batch("short_table"), "ada")
    assert held is not None
    number = int(held.item.example.external_id.removeprefix("nu-"))
    film = held.plain_item.example.table.rows[number]
    cut = {"op": "remove_row", "row": f"r{number}", "at": number, "old": list(film)}
    data = {"unanswerable": False, "operations": [cut], "program": None, "whole": False}
    older = envelope(held, data) | {"version": 1}
    assert held.batch.task().read(older, held.plain_item).worked_out, "stored, it would be read"

    saved = assignments.save_draft(assignment=held, revision=0, response=older, now=NOON)
    assert [problem.code for problem in saved.problems] == ["stale_version"]
    with pytest.raises(InvalidResponse, match="Reload the page") as invalid:
        assignments.submit(assignment=held, response=older, now=NOON)
    assert [problem.code for problem in invalid.value.problems] == ["stale_version"]
    with pytest.raises(InvalidResponse) as invalid:
        assignments.submit(assignment=held, response=envelope(held, data), now=NOON)
    assert "stale_version" not in [problem.code for problem in invalid.value.problems]
    assert not Annotation.objects.exists()


def test_undo_opens_the_item_again_with_the_answer_as_draft(world: World, held: Assignment) -> None:
    first = world.answer(held, {"label": "extraction"})
    reopened = assignments.undo(annotation=first, now=NOON + SECOND)
    assert assignments.undo(annotation=first, now=NOON + SECOND) == reopened, "asking twice is asking once"
    fresh = world.reload(held)
    assert fresh.state == Assignment.State.LEASED
    assert fresh.draft.response["data"] == {"label": "extraction"}
    second = world.answer(fresh, {"label": "reasoning"}, NOON + 2 * SECOND)
    assert second.revision == 3, "the first answer, its withdrawal, the second answer: all are kept"
    assert list(Annotation.objects.order_by("revision").values_list("response__data__label", flat=True)) == [
        "extraction",
        None,
        "reasoning",
    ]
    assert list(doctor.findings()) == []


def test_undo_is_refused_once_the_item_is_decided(world: World) -> None:
    batch = world.batch(size=1, overlap=1)
    annotation = world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_due(now=NOON + timedelta(seconds=61))
    with pytest.raises(ActionRefused) as refused:
        assignments.undo(annotation=annotation, now=NOON)
    assert refused.value.code == "decided"


def test_an_item_is_resolved_a_minute_after_its_last_submission_and_not_when_it_was_undone(
    world: World,
) -> None:
    batch = world.batch(size=1, overlap=1)
    annotation = world.label(batch, "ada", "extraction")
    assert Item.objects.get().due_at == NOON + timedelta(seconds=60)
    assignments.undo(annotation=annotation, now=NOON)
    assert Item.objects.get().due_at is None
    assert automatic_decisions.resolve_due(now=NOON + timedelta(days=1)) == 0


def test_time_counts_while_there_are_signs_of_life(world: World, held: Assignment) -> None:
    start = held.seen_at
    for seconds in (30, 60, 400, 430):
        assignments.ping(assignment=world.reload(held), now=start + timedelta(seconds=seconds))
    annotation = world.answer(world.reload(held), {"label": "extraction"}, start + timedelta(seconds=440))
    assert annotation.active_seconds == 30 + 30 + 30 + 10, "five minutes away from the table are not work"


def test_a_flag_neither_ends_nor_submits(world: World, held: Assignment) -> None:
    assignments.flag(assignment=held, note="Row 3 looks broken", now=NOON)
    assignments.flag(assignment=held, note="Row 3 looks broken", now=NOON)
    assert held.flags.count() == 1
    assert world.reload(held).state == Assignment.State.LEASED


def test_every_change_of_state_is_in_the_log(world: World, held: Assignment) -> None:
    assignments.undo(annotation=world.answer(held, {"label": "extraction"}), now=NOON)
    story = Event.objects.filter(thing="assignment", thing_id=held.pk).order_by("pk")
    assert [(event.before, event.after) for event in story] == [
        ("", "leased"),
        ("leased", "submitted"),
        ("submitted", "leased"),
    ]


def test_annotations_and_sources_are_written_once(world: World, held: Assignment) -> None:
    world.answer(held, {"label": "extraction"})
    for model in (Annotation, Example):
        row = model._default_manager.first()
        assert row is not None
        with pytest.raises(DatabaseError, match="immutable"), transaction.atomic():
            row.save()


def test_a_page_gets_what_its_kind_shows_and_nothing_else(world: World, held: Assignment) -> None:
    payload = assignments.payload(held)
    assert set(payload["shows"]) <= set(held.batch.task().shows)
    assert held.item.example.external_id not in str(payload)
    assert "meta" not in str(payload)


def test_undo_is_refused_once_the_annotation_is_released(world: World) -> None:
    batch = world.batch(size=1, overlap=2)
    annotation = world.label(batch, "ada", "extraction")
    creation.make_release(project=world.project, name="early", format="askew", by=None, now=NOON)
    with pytest.raises(ActionRefused, match="released"):
        assignments.undo(annotation=annotation, now=NOON)
    later = world.label(batch, "bo", "extraction")
    assignments.undo(annotation=later, now=NOON)


def test_no_release_holds_a_round_of_calibration(world: World) -> None:
    batch = world.batch(size=1, purpose="calibration", strategy="everyone")
    annotation = world.label(batch, "ada", "extraction")
    world.label(world.batch(size=1, overlap=1), "bo", "extraction")
    creation.make_release(project=world.project, name="early", format="askew", by=None, now=NOON)
    assert assignments.reopenable([annotation.assignment], now=NOON) == {annotation.assignment_id}
    assignments.undo(annotation=annotation, now=NOON)


@pytest.mark.parametrize("text", ["a\x00b", "half \ud800 a pair"])
def test_text_that_no_file_can_keep_is_refused_everywhere(world: World, text: str) -> None:
    batch = world.batch("value_change", variant="answer_changes", size=1)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    for field, value in (("reason", text), ("answers", [text])):
        data = {"unanswerable": False, "operations": [], "answers": ["1"], "reason": "", field: value}
        with pytest.raises(InvalidResponse) as invalid:
            world.answer(assignment, data)
        assert invalid.value.problems[0].code == "unstorable_text"
        with pytest.raises(ActionRefused, match="cannot be saved"):
            assignments.save_draft(
                assignment=assignment, revision=0, response=envelope(assignment, data), now=NOON
            )


def test_one_submission_sent_many_times_after_the_lease_ran_out_is_one(world: World) -> None:
    batch = world.batch(size=1, overlap=1)
    late = world.take(batch, "ada")
    assert late is not None
    Assignment.objects.filter(pk=late.pk).update(leased_until=Now() - SECOND)
    reservations.take_back_expired(batch=batch, now=NOON)
    one, two = world.reload(late), world.reload(late)
    assert world.answer(one, {"label": "extraction"}) == world.answer(two, {"label": "extraction"})
    assert Annotation.objects.count() == 1
    assert list(doctor.findings()) == []


def test_a_skip_after_the_lease_ran_out_keeps_its_reason(world: World, held: Assignment) -> None:
    Assignment.objects.filter(pk=held.pk).update(leased_until=Now() - SECOND)
    reservations.take_back_expired(batch=held.batch, now=NOON)
    late = world.reload(held)
    assert not assignments.ping(assignment=late, now=NOON), "no lease is held, and none is claimed"
    assignments.skip(assignment=late, reason="cannot read it", now=NOON)
    assert (world.reload(held).state, world.reload(held).reason) == ("skipped", "cannot read it")
    assert list(doctor.findings()) == []


def test_whoever_withdraws_a_submission_keeps_the_place_however_long_it_takes(world: World) -> None:
    batch = world.batch(size=1, overlap=1)
    assignments.undo(annotation=world.label(batch, "ada", "extraction"), now=NOON)
    Assignment.objects.update(leased_until=Now() - SECOND)
    assert world.take(batch, "bo") is None
    again = world.take(batch, "ada")
    assert again is not None
    assert again.draft.response["data"] == {"label": "extraction"}


def test_no_journey_keeps_text_that_cannot_be_kept(world: World, held: Assignment) -> None:
    for refused in (
        lambda: assignments.skip(assignment=held, reason="a\x00b", now=NOON),
        lambda: assignments.flag(assignment=held, note="a\ud800", now=NOON),
        lambda: world.batch(name="a\x00b"),
    ):
        with pytest.raises(ActionRefused, match="cannot be saved"):
            refused()


def test_a_request_reads_each_operation_of_a_draft_once(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = world.batch("value_change", variant="answer_stays", size=1)
    client.force_login(world.ada)
    address = f"/batches/{batch.public_id}/annotate/"
    client.get(address)
    assignment = Assignment.objects.get(batch=batch)
    change = {"op": "set_cell", "row": "r0", "column": "c1", "old": "1995", "new": "1996"}
    data = {"operations": [change, {**change, "row": "r1", "old": "1979", "new": "1980"}], "reason": "Two"}
    reads: list[object] = []
    from_dict = SetCell.from_dict

    def read(data: object) -> SetCell:
        reads.append(data)
        return from_dict(data)

    monkeypatch.setattr(SetCell, "from_dict", read)

    saved = client.put(
        f"/api/assignments/{assignment.public_id}/draft/",
        {"revision": 0, "response": envelope(assignment, data)},
        content_type="application/json",
    )

    assert (saved.status_code, len(reads)) == (200, 2)
    assert client.get(address).status_code == 200
    assert len(reads) == 4
    assert Draft.objects.get(assignment=assignment).response["data"] == data
