"""A clock that is set by hours: nothing is lost or counted twice, nobody is signed out, and nothing waits in vain."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from annotation.assistance import prediction_jobs
from annotation.management import doctor
from annotation.models import Annotation, Assignment, Draft, Item, Job, Try
from annotation.platform.refusals import ActionRefused
from annotation.queue import reservations
from tests.annotation.cast import NOON, World, envelope, make_world

pytestmark = pytest.mark.django_db

SET = [timedelta(hours=hours) for hours in (-26, -3, 3, 26)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.mark.parametrize("by", SET, ids=str)
def test_a_submission_after_the_clock_was_set_counts_once_and_has_no_odd_time_at_work(
    world: World, by: timedelta
) -> None:
    batch = world.batch(overlap=1)
    held = world.take(batch, "ada")
    assert held is not None
    first = world.answer(held, {"label": "extraction"}, now=NOON + by)
    again = world.answer(world.reload(held), {"label": "extraction"}, now=NOON)
    assert again.public_id == first.public_id
    assert Annotation.objects.count() == 1
    assert 0 <= first.active_seconds <= 60
    assert list(doctor.findings()) == []


def test_when_the_database_s_clock_jumps_ahead_places_go_to_others_and_what_was_typed_stays(
    world: World,
) -> None:
    batch = world.batch(overlap=1)
    late = world.take(batch, "ada")
    assert late is not None
    Draft.objects.create(
        assignment=late, revision=1, response=envelope(late, {"label": "neither"}), saved_at=NOON
    )
    # What a clock that is three hours ahead makes of every lease.
    Assignment.objects.update(leased_until=F("leased_until") - timedelta(hours=3))
    for _ in range(4):
        world.label(batch, "bo", "extraction")
    with pytest.raises(ActionRefused, match="reservation expired"):
        world.answer(world.reload(late), {"label": "reasoning"})
    given = Item.objects.values_list("submitted_count", "slots_count")
    assert set(given) == {(1, 1)}
    assert Draft.objects.get(assignment=late).response["data"] == {"label": "neither"}
    assert list(doctor.findings()) == []


def test_a_lease_that_ran_out_by_a_clock_is_submitted_all_the_same_while_nobody_has_the_place(
    world: World,
) -> None:
    batch = world.batch(overlap=1)
    late = world.take(batch, "ada")
    assert late is not None
    Assignment.objects.update(leased_until=F("leased_until") - timedelta(hours=3))
    reservations.take_back_expired(batch=batch, now=NOON)
    assert world.answer(world.reload(late), {"label": "reasoning"}).revision == 1
    assert list(doctor.findings()) == []


@pytest.mark.parametrize("by", [timedelta(hours=-26), timedelta(hours=26)], ids=str)
def test_nobody_is_signed_out_because_a_clock_was_set(
    world: World, by: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client()
    client.force_login(world.people["ada"])
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + by.total_seconds())
    assert client.get("/").status_code == 200


def test_models_are_asked_again_at_once_after_the_clock_was_set_back(world: World, settings: Any) -> None:
    settings.PREDICTORS = {"small": {"protocol": "predict", "url": "http://127.0.0.1:9", "model": "m"}}
    batch = world.batch("question_paraphrase", variant="word", loop_model="small", overlap=1)
    held = world.take(batch, "ada")
    assert held is not None
    Try.objects.create(
        assignment=held, kind="person", predictor="small", digest="d", asked={}, response={}, made_at=NOON
    )
    before = Job.objects.create(
        project=world.project,
        kind="predictions",
        ids={"batch": batch.pk},
        state="done",
        heartbeat=NOON,
        made_at=NOON + timedelta(hours=5),
    )
    assert prediction_jobs.retry_unanswered(now=NOON) == 1
    assert prediction_jobs.retry_unanswered(now=NOON) == 0, "one is on its way"
    assert Job.objects.exclude(pk=before.pk).get().made_at == NOON
