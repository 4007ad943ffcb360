"""Simulated annotators meet the entry requirements of a batch before they work it, as people do."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import QuerySet
from django.utils import timezone

from annotation.imports import example_import
from annotation.management import simulation
from annotation.models import (
    Annotation,
    ApiToken,
    Assignment,
    Batch,
    Consent,
    Item,
    PracticeResult,
    Project,
    Reading,
    Slot,
    Source,
)
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused, refuse
from annotation.quality import consent
from annotation.workflow import projects
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.django_db(transaction=True)


def simulate(batch: Batch) -> None:
    call_command("simulate", project="films", batch=batch.name, annotators=3, seed=1, stdout=StringIO())


def demanding(world: World, kind: str = "value_change", **terms: Any) -> Batch:
    """A batch whose project asks for consent and for its guidelines to be confirmed."""
    consent.write(project=world.project, text="We publish your edits.", by=world.mara, now=NOON)
    Project.objects.update(must_read=True)
    world.project.refresh_from_db()
    return world.batch(kind, **terms)


def test_they_consent_confirm_the_guidelines_and_practise(world: World) -> None:
    batch = demanding(world, variant="answer_changes", must_practise=True)

    simulate(batch)
    assert Annotation.objects.filter(assignment__batch=batch).count() == 4
    people = set(simulation.people_of(world.project, 3, timezone.now()))
    assert {consent.person for consent in Consent.objects.all()} == people
    assert {reading.person for reading in Reading.objects.all()} == people
    assert {(done.person, done.variant) for done in PracticeResult.objects.all()} == {
        (person, "answer_changes") for person in people
    }


def test_they_meet_only_the_requirements_that_a_batch_has(world: World) -> None:
    simulate(world.batch("question_type"))

    assert not Consent.objects.exists()
    assert not Reading.objects.exists()
    assert not PracticeResult.objects.exists()


def test_they_meet_the_requirements_once(world: World) -> None:
    simulate(demanding(world, "question_type", overlap=3))
    simulate(world.batch("question_type", overlap=3))

    assert (Consent.objects.count(), Reading.objects.count()) == (3, 3)


def test_they_do_not_pass_a_qualification_that_they_did_not_work(world: World) -> None:
    test = world.batch("question_type", purpose="qualification", pass_percent=50, size=1, open=False)
    batch = demanding(world, "question_type", requires=test)

    with pytest.raises(CommandError, match="qualification"):
        simulate(batch)


def test_nobody_new_gets_the_name_of_another(world: World) -> None:
    first, *_ = simulation.people_of(world.project, 3, timezone.now())
    membership = world.project.memberships.get(person=first)
    projects.remove_member(membership=membership, by=world.mara, now=timezone.now())

    people = simulation.people_of(world.project, 3, timezone.now())

    assert [person.name for person in people] == ["Simulated 2", "Simulated 3", "Simulated 4"]


def work_of_another_site(world: World, path: Path, number: int) -> World:
    """The same project with the same source again: other keys and ids."""
    project = projects.create_project(slug=f"site-{number}", name="Films", manager=world.mara, now=NOON)
    source = example_import.import_examples(project=project, reader="wtq", path=path, now=NOON).source
    return World(project, source, {"mara": world.mara})


def labels(batch: Batch, seed: int = 5, accuracy: float = 0.6) -> dict[tuple[str, int], Any]:
    """What each simulated person (by number) responded to each example (by id)."""
    simulation.simulate(batch=batch, annotators=3, seed=seed, accuracy=accuracy, now=timezone.now())
    numbers = {person: n for n, person in enumerate(simulation.people_of(batch.project, 3, timezone.now()))}
    rows = Annotation.objects.filter(assignment__batch=batch).select_related("assignment__item__example")
    return {
        (row.assignment.item.example.external_id, numbers[row.assignment.person]): row.response["data"]
        for row in rows
        if row.response
    }


@pytest.mark.parametrize(
    ("kind", "variant"),
    [
        ("question_type", ""),
        ("relevant_cells", ""),
        ("value_change", "answer_changes"),
        ("question_paraphrase", "word"),
        ("header_synonym", ""),
    ],
)
def test_a_study_and_a_seed_give_the_same_labels_on_another_site_in_another_order(
    world: World, tmp_path: Path, kind: str, variant: str
) -> None:
    path = tmp_path / "films-dev.tsv"
    terms: dict[str, Any] = {"variant": variant, "overlap": 3, "name": "Work"}
    first, second = (work_of_another_site(world, path, number).batch(kind, **terms) for number in (1, 2))
    for model in (Item, Slot):
        for row in model.objects.filter(batch=second):
            model.objects.filter(pk=row.pk).update(position=100 - row.position)

    here, there = labels(first), labels(second)

    assert len(here) == 12
    assert there == here
    order = [[row.item.example.external_id for row in served(batch)] for batch in (first, second)]
    assert order[0] != order[1], "they were served in another order"


def served(batch: Batch) -> QuerySet[Assignment]:
    return Assignment.objects.filter(batch=batch).select_related("item__example").order_by("pk")


def test_labels_differ_between_people_seeds_settings_and_sources(world: World) -> None:
    def of(seed: int = 5, **terms: Any) -> dict[tuple[str, int], Any]:
        return labels(world.batch("question_type", overlap=3, **terms), seed)

    plain = of()
    assert of() == plain, "the same task on the same examples"
    assert of(seed=6) != plain
    assert of(settings={"suggestions": "before"}) != plain
    with immutable_rows.writable():
        Source.objects.update(name="other")
    assert of() != plain
    assert len({json.dumps(one) for one in plain.values()}) > 1


def test_a_simulated_person_who_is_always_right_says_what_the_others_say(world: World) -> None:
    found = labels(world.batch("question_type", overlap=3), accuracy=1.0)

    for example, _ in found:
        assert len({found[example, number]["label"] for number in range(3)}) == 1


def test_no_token_stays_when_one_person_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[Any] = []

    def meet(*, person: Any, **_: Any) -> None:
        met.append(person)
        if len(met) == 3:
            refuse("invalid_request", "No.")

    monkeypatch.setattr(simulation, "meet_requirements", meet)
    with pytest.raises(ActionRefused):
        simulation.simulate(batch=world.batch(), annotators=3, seed=1, accuracy=0.9, now=NOON)

    assert ApiToken.objects.count() == 2
    assert not ApiToken.objects.filter(revoked_at__isnull=True).exists()
