"""Undoing a decision from which a run has already made automatic perturbations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.background import jobs
from annotation.management import doctor
from annotation.models import Batch, Decision, Example, Item, Job, ModelAnswer, PerturbationRun
from annotation.platform.refusals import ActionRefused
from annotation.queue import candidates, decision_undo, lineage, resolutions
from annotation.workflow import adjudication, automatic_decisions, batches, perturbation_runs
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_adjudication_undo import at_once

LATER = NOON + timedelta(hours=1)
KINDS = ["row_shuffle", "target_row_front", "transpose", "mask_cell"]


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def labelled(world: World, items: int = 2) -> Batch:
    """Items of question types on which three people differ, waiting for an adjudicator."""
    batch = world.batch(size=items, overlap=3, name="Types")
    for _ in range(items):
        for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
            world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def run_fed_by(batch: Batch, kinds: Sequence[str] = KINDS, label: str = "extraction") -> PerturbationRun:
    return perturbation_runs.plan_run(
        project=batch.project,
        kinds=kinds,
        seeds=[33, 16],
        feeds_from=batch,
        feeds_when={"label": [label]},
        now=NOON,
    )


def run_by_hand(world: World, kinds: Sequence[str] = KINDS) -> PerturbationRun:
    run = perturbation_runs.plan_run(project=world.project, kinds=kinds, seeds=[33, 16], now=NOON)
    return perturbation_runs.perform(run)


def decide(world: World, item: Item, label: str = "extraction") -> Decision:
    letter = next(each.letter for each in candidates.of_item(item) if each.response.label == label)
    return adjudication.decide(item=item, by=world.ivo, choose=[letter], now=LATER)


def undo(world: World, item: Item) -> None:
    adjudication.undo(item=item, by=world.ivo, now=LATER)


def work() -> None:
    """What the worker does: every queued job."""
    for job in Job.objects.filter(kind="perturb", state=Job.State.QUEUED).order_by("pk"):
        jobs.run(job.pk)


def state(run: PerturbationRun) -> dict[str, Any]:
    """What a run is about and what it made."""
    run.refresh_from_db()
    made = Example.objects.automatic().order_by("external_id").values_list("external_id", "table_digest")
    return {"chosen": run.chosen, "marks": run.marks, "counts": run.counts, "made": list(made)}


def test_undo_removes_what_a_run_made_of_the_question_and_deciding_again_makes_it_once(
    world: World,
) -> None:
    batch = labelled(world)
    run = run_fed_by(batch)
    first, second = resolutions.waiting(batch)
    decide(world, first)
    work()
    one_question = state(run)
    decide(world, second)
    work()
    two_questions = state(run)
    assert len(two_questions["made"]) > len(one_question["made"]) > 0

    undo(world, second)

    assert state(run) == one_question
    assert list(doctor.findings()) == []
    decide(world, second)
    work()
    assert state(run) == two_questions
    assert list(doctor.findings()) == []


def test_undo_of_the_only_question_leaves_a_run_as_it_was_planned(world: World) -> None:
    batch = labelled(world, items=1)
    run, item = run_fed_by(batch), resolutions.waiting(batch).get()
    before = state(run)
    decide(world, item)
    work()

    undo(world, item)

    assert state(run) == before
    assert run.through == 0


def test_undo_in_a_closed_batch_has_the_finished_run_go_on(world: World) -> None:
    batch = labelled(world, items=1)
    run, item = run_fed_by(batch), resolutions.waiting(batch).get()
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    decide(world, item)
    work()
    finished = state(run)
    assert run.event is not None

    undo(world, item)

    assert state(run)["chosen"] == []
    assert PerturbationRun.objects.filter(event__isnull=True).get() == run
    decide(world, item)
    work()
    assert state(run) == finished
    assert run.event is not None
    assert list(doctor.findings()) == []


def test_undo_keeps_what_a_run_by_hand_makes_too(world: World) -> None:
    batch = labelled(world, items=1)
    run, item = run_fed_by(batch), resolutions.waiting(batch).get()
    by_hand = run_by_hand(world, ["row_shuffle"])
    kept = state(by_hand)
    decide(world, item)
    work()
    assert len(state(run)["made"]) > len(kept["made"])

    undo(world, item)

    assert state(by_hand) == kept
    assert state(run)["chosen"] == []


def test_work_on_what_a_run_by_hand_made_does_not_block_undo(world: World) -> None:
    batch = labelled(world, items=1)
    run_fed_by(batch)
    item = resolutions.waiting(batch).get()
    run_by_hand(world)
    checks = world.batch("answer_check", of="automatic")
    decide(world, item)
    work()
    assert checks.items.filter(example__parent=item.example).exists()

    undo(world, item)

    assert not Decision.objects.filter(item=item).exists()


def test_undo_of_a_label_that_feeds_no_run_leaves_its_examples(world: World) -> None:
    batch = labelled(world, items=1)
    run, item = run_fed_by(batch), resolutions.waiting(batch).get()
    run_by_hand(world)
    before = state(run)
    decide(world, item, "reasoning")
    work()

    undo(world, item)

    assert state(run) == before


def test_undo_is_refused_by_name_once_a_batch_has_items_of_what_the_run_made(world: World) -> None:
    batch = labelled(world, items=1)
    run, item = run_fed_by(batch), resolutions.waiting(batch).get()
    decision = decide(world, item)
    work()
    world.batch("answer_check", of="automatic", name="Checks")
    before = state(run)

    with pytest.raises(ActionRefused) as refused:
        undo(world, item)

    assert refused.value.code == "decided"
    assert refused.value.detail == (
        "Work that rests on this decision has begun in “Checks”, so it cannot be undone."
    )
    assert decision_undo.users_of([decision]) == {decision.pk: "Checks"}
    assert state(run) == before


def test_undo_is_refused_once_a_model_has_answered_what_the_run_made(world: World) -> None:
    batch = labelled(world, items=1)
    run_fed_by(batch)
    item = resolutions.waiting(batch).get()
    decision = decide(world, item)
    work()
    answered = Example.objects.automatic().earliest("pk")
    ModelAnswer.objects.create(example=answered, purpose="screening", model="m", data={}, made_at=LATER)

    with pytest.raises(ActionRefused) as refused:
        undo(world, item)

    assert refused.value.detail == (
        "A model or another example rests on this decision, so it cannot be undone."
    )
    assert decision_undo.users_of([decision]) == {decision.pk: ""}


def test_a_run_that_starts_after_an_undo_makes_nothing_of_the_question(world: World) -> None:
    batch = labelled(world, items=1)
    run, item = run_fed_by(batch), resolutions.waiting(batch).get()
    before = state(run)
    decide(world, item)

    undo(world, item)
    work()

    assert state(run) == before


def test_either_an_undo_or_the_run_comes_first_and_nothing_of_the_question_stays(world: World) -> None:
    batch = labelled(world, items=1)
    run, item = run_fed_by(batch), resolutions.waiting(batch).get()
    before = state(run)
    decide(world, item)

    at_once(lambda: undo(world, item), lambda: perturbation_runs.perform(run))

    assert state(run) == before
    assert not Decision.objects.exists()
    assert list(doctor.findings()) == []


def test_a_run_that_a_batch_feeds_looks_at_each_decision_a_fixed_number_of_times(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, questions=12)
    batch = world.batch(overlap=1)
    for _ in range(12):
        world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    run = run_fed_by(batch, ["transpose"])
    monkeypatch.setattr(perturbation_runs, "ROWS", 1)
    looks: list[Any] = []
    goes_on = lineage.matches_filter

    def look(*args: Any) -> bool:
        looks.append(args)
        return goes_on(*args)

    monkeypatch.setattr(lineage, "matches_filter", look)

    perturbation_runs.perform(run)

    assert state(run)["counts"]["transpose"]["made"] == 12
    assert len(looks) == 24
    perturbation_runs.perform(run)
    assert len(looks) == 24, "what is done is not looked at again"


def test_what_is_undone_while_a_run_works_is_not_perturbed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = labelled(world)
    first, second = sorted(resolutions.waiting(batch), key=lambda item: item.example_id)
    for item in (first, second):
        decide(world, item)
    run = run_fed_by(batch, ["transpose"])
    monkeypatch.setattr(perturbation_runs, "ROWS", 1)
    before_second = iter([False, False, True])

    def undoes(done: int, total: int) -> None:
        if next(before_second, False):
            undo(world, second)

    perturbation_runs.perform(run, progress=undoes)

    assert state(run)["chosen"] == [first.example_id]
    assert [example.parent_id for example in Example.objects.automatic()] == [first.example_id]
