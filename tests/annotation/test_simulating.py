"""Simulated annotators meet the entry requirements of a batch before they work it, as people do."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation import simulating
from annotation.models import Annotation, Batch, Consent, PracticeDone, Project, Reading
from annotation.quality import consenting
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.django_db(transaction=True)


def simulate(batch: Batch) -> None:
    call_command("simulate", project="films", batch=batch.name, annotators=3, seed=1, stdout=StringIO())


def demanding(world: World, kind: str = "value_change", **terms: Any) -> Batch:
    """A batch whose project asks for consent and for its guidelines to be confirmed."""
    consenting.write(project=world.project, text="We publish your edits.", by=world.mara, now=NOON)
    Project.objects.update(must_read=True)
    world.project.refresh_from_db()
    return world.batch(kind, **terms)


def test_they_consent_confirm_the_guidelines_and_practise(world: World) -> None:
    batch = demanding(world, variant="answer_changes", must_practise=True)

    simulate(batch)
    assert Annotation.objects.filter(assignment__batch=batch).count() == 4
    people = set(simulating.people_of(world.project, 3, timezone.now()))
    assert {consent.person for consent in Consent.objects.all()} == people
    assert {reading.person for reading in Reading.objects.all()} == people
    assert {(done.person, done.variant) for done in PracticeDone.objects.all()} == {
        (person, "answer_changes") for person in people
    }


def test_they_meet_only_the_requirements_that_a_batch_has(world: World) -> None:
    simulate(world.batch("question_type"))

    assert not Consent.objects.exists()
    assert not Reading.objects.exists()
    assert not PracticeDone.objects.exists()


def test_they_meet_the_requirements_once(world: World) -> None:
    simulate(demanding(world, "question_type", overlap=3))
    simulate(world.batch("question_type", overlap=3))

    assert (Consent.objects.count(), Reading.objects.count()) == (3, 3)


def test_they_do_not_pass_a_qualification_that_they_did_not_work(world: World) -> None:
    test = world.batch("question_type", purpose="qualification", pass_percent=50, size=1, open=False)
    batch = demanding(world, "question_type", requires=test)

    with pytest.raises(CommandError, match="qualification"):
        simulate(batch)
