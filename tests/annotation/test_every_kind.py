"""Every kind of annotation goes the whole road: planned, annotated, decided, reported, released, verified."""

from __future__ import annotations

import random
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from annotation.assistance import impressions, proposals
from annotation.management import doctor
from annotation.models import Annotation, Batch, Decision, Item, Proposal, Provenance
from annotation.quality import task_report
from annotation.queue import resolutions
from annotation.releases import creation, verification
from annotation.workflow import adjudication, assignments, automatic_decisions, batches
from tasks.contract import PreparedInputs, PreparingTask, ProposingTask, TaskType, task_types
from tests.annotation.cast import NOON, World, make_world
from tests.tasks.test_contract import sample

pytestmark = pytest.mark.both

KINDS = [(task, variant) for task in task_types().values() for variant in (task.variants or {"": ""})]
LATER = NOON + timedelta(days=1)


def planned(world: World, task: TaskType, variant: str, **more: Any) -> Batch:
    """An open batch over the kind's own samples of this variant, with the inputs that they name."""
    items = {item.example.id: item for item in sample(task)["items"] if item.variant == variant}
    source = world.import_written(*(item.example for item in items.values()))
    settings: dict[str, Any] = dict(next(iter(items.values())).settings)

    def prepare(self: TaskType, example: Any, around: Any) -> PreparedInputs:
        return PreparedInputs(dict(items[example.id].inputs))

    prepares = (
        patch.object(type(task), "prepare", prepare) if isinstance(task, PreparingTask) else nullcontext()
    )
    with prepares, patch.object(type(task), "of", ("originals",)):
        return world.batch(task.key, variant=variant, settings=settings, sources=[source], **more)


def proposed(world: World, batch: Batch) -> int:
    """Ada takes what is proposed where something is, and skips the rest; how many responses there are."""
    submitted = 0
    while (assignment := world.take(batch, "ada")) is not None:
        told = impressions.show_proposals(assignment=assignment, now=NOON)
        if told:
            world.answer(assignment, told[submitted % len(told)]["data"])
            submitted += 1
        else:
            assignments.skip(assignment=assignment, reason="nothing is proposed", now=NOON)
    return submitted


def annotate(world: World, batch: Batch) -> int:
    """Everybody takes whatever they get until nothing is left; how many responses there are."""
    task, submitted = batch.task(), 0
    for who in ("ada", "bo", "cy"):
        while (assignment := world.take(batch, who)) is not None:
            plain = assignment.item.plain()
            rng, truth = random.Random(f"{who}{submitted}"), random.Random(assignment.item.public_id)
            world.answer(assignment, dict(task.simulate(plain, rng, 0.8, truth)))  # type: ignore[call-overload]
            submitted += 1
    return submitted


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("task", "variant"), KINDS, ids=lambda value: getattr(value, "key", value))
def test_a_draft_is_not_answered_with_the_gold_answer_where_the_kind_does_not_show_it(
    task: TaskType, variant: str, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    assignment = world.take(planned(world, task, variant), "ada")
    assert assignment is not None
    item = assignment.plain_item
    response = {"type": task.key, "variant": variant, "version": task.version, "base": item.base, "data": {}}
    saved = assignments.save_draft(assignment=assignment, revision=0, response=response, now=NOON)
    assert "answers" in task.shown_names(item) or saved.answer is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("task", "variant"), KINDS, ids=[f"{t.key}-{v}" if v else t.key for t, v in KINDS])
def test_a_kind_goes_the_whole_road(task: TaskType, variant: str, tmp_path: Path) -> None:
    world = make_world(tmp_path)
    batch = planned(world, task, variant)
    assert batch.items_count
    assert annotate(world, batch) >= batch.items_count
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    for item in list(resolutions.waiting(batch)):
        adjudication.decide(item=item, by=world.ivo, note="Read again.", choose=["A"], now=LATER)
    assert Decision.objects.filter(item__batch=batch).count() == Item.objects.filter(batch=batch).count()
    for report in task_report.reports(batch):
        assert report.title
        assert all(len(row) == len(report.columns) for row in report.rows)
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=LATER, out=out)
    checked = verification.verify(out)
    assert checked["annotations"] == Annotation.objects.filter(response__isnull=False).count()
    assert list(doctor.findings()) == []


PROPOSING = [(task, variant) for task, variant in KINDS if isinstance(task, ProposingTask)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("task", "variant"), PROPOSING, ids=[f"{t.key}-{v}" if v else t.key for t, v in PROPOSING]
)
def test_a_kind_that_proposes_goes_the_road_on_proposals_alone(
    task: TaskType, variant: str, tmp_path: Path
) -> None:
    """Whatever a kind proposes can be handed in as it is, is the machine's, and verifies again from the files."""
    world = make_world(tmp_path)
    batch = planned(world, task, variant, overlap=1, help="filled", help_from={"rules": True})
    proposals.make_proposals(batch=batch)
    assert proposed(world, batch)
    assert set(Provenance.objects.values_list("origin", flat=True)) == {"machine"}
    for row in Proposal.objects.all():
        item = row.item.plain()
        response = task.restore(row.data)
        assert task.parse(row.data, item) == response
        assert all(line.strip() for line in task.describe(response, item))
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    for report in task_report.reports(batch):
        assert all(len(row) == len(report.columns) for row in report.rows)
    for purpose in ("training", "evaluation"):
        out = tmp_path / purpose
        creation.make_release(
            project=world.project, name=purpose, format="askew", by=None, now=LATER, out=out, purpose=purpose
        )
        assert verification.verify(out)["annotations"] == Annotation.objects.count()
    assert list(doctor.findings()) == []
