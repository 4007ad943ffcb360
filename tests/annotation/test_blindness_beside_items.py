"""What is hidden of items is hidden on pages about something else: sources, examples, runs, jobs, questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.access.authorization import Actor
from annotation.access.roles import Role
from annotation.access.visibility import Fact, visibility_of
from annotation.models import Batch, Example, Job, Membership, PerturbationRun
from annotation.quality import annotator_questions
from annotation.workflow import automatic_decisions, perturbation_runs, projects
from tests.annotation.blind_study import CHANGES
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_gold import examples, mark
from tests.undone import undone


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """Zoe manages and annotates."""
    made = make_world(tmp_path, questions=12)
    roles = [Role.MANAGER, Role.ANNOTATOR]
    projects.add_member(project=made.project, person=made.people["zoe"], roles=roles, by=made.mara, now=NOON)
    return made


def read(world: World, client: Client, who: str, address: str) -> str:
    client.force_login(world.people[who])
    return client.get(address).content.decode()


def decided(world: World, *, label: str = "reasoning") -> Batch:
    """An open batch with one accepted item."""
    batch = world.batch(name="Open", overlap=1)
    world.label(batch, "ada", label)
    return batch


def test_no_answer_is_shown_to_whoever_is_asked_for_it_behind_a_batch_that_they_work_in(
    world: World, client: Client
) -> None:
    batch = decided(world)
    asking = world.batch("answer_check", name="Answers", feeds_from=batch, sources=[])
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    assert world.take(asking, "zoe") is not None
    address = reverse("source", args=[world.source.public_id])

    assert "1979" in read(world, client, "mara", address)
    assert "1979" not in read(world, client, "zoe", address)


def test_settings_do_not_tell_whoever_annotates_whether_anything_is_decided(
    world: World, client: Client
) -> None:
    batch = world.batch(name="Open", overlap=2)
    client.force_login(world.people["zoe"])
    address = reverse("batch_settings", args=[batch.public_id])
    rule = {"section": "rule", "rule": "majority", "options": '{"most": 5}', "action": "look"}
    change = {"terms": {"decide_at_close": not batch.decide_at_close}}

    def told(label: str) -> list[bytes]:
        with undone():
            for who, said in (("ada", "extraction"), ("bo", label)) if label else ():
                world.label(batch, who, said)
            automatic_decisions.resolve_batch(batch=batch, now=NOON)
            replies = [client.get(address), client.post(address, rule)]
            changing = f"/api/batches/{batch.public_id}/change/"
            replies += [
                client.post(changing, {**change, "confirmed": confirmed}, content_type="application/json")
                for confirmed in (False, True)
            ]
            return [CHANGES.sub(b"", b"%d " % each.status_code + each.content) for each in replies]

    untouched = told("")

    assert untouched[0].startswith(b"200")
    assert [b"You annotate in this batch" in each for each in untouched[1:]] == [True] * 3
    assert told("extraction") == untouched
    assert told("reasoning") == untouched


def test_a_changed_answer_is_not_shown_to_whoever_will_be_asked_for_it(world: World, client: Client) -> None:
    original = examples(world)[0]
    more = {"stored_table": original.stored_table, "table_digest": original.table_digest, "position": 1}
    Example.objects.create(
        source=world.source, parent=original, external_id="other", question="?", answers=["2222"], **more
    )
    world.batch("answer_check", name="Answers", open=False)
    address = reverse("example", args=[original.public_id])

    assert "1995 → 2222" in read(world, client, "mara", address)
    assert "2222" not in read(world, client, "zoe", address)


def test_a_study_file_does_not_name_the_gold_items_of_a_planned_batch_to_its_annotators(
    world: World, client: Client
) -> None:
    batch = world.batch(name="Planned", only=["nu-1"], gold_percent=25, open=False)
    item = mark(world, batch, examples(world)[10], "reasoning").item
    assert not visibility_of(Actor(world.people["zoe"]), world.project).shows(Fact.GOLD, item)

    for query in ("", "?download"):
        address = reverse("study", args=[world.project.slug]) + query
        assert "nu-10" in read(world, client, "mara", address)
        assert "nu-10" not in read(world, client, "zoe", address)


def test_a_run_that_a_batch_feeds_does_not_tell_its_annotators_what_was_decided(
    world: World, client: Client
) -> None:
    batch = decided(world)
    run = perturbation_runs.plan_run(
        project=world.project, kinds=["row_shuffle"], seeds=[33], feeds_from=batch, now=NOON
    )
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    perturbation_runs.perform(PerturbationRun.objects.get(pk=run.pk))
    address = reverse("perturbations", args=[world.project.slug])

    assert '<th scope="row">row_shuffle</th><td class="n">1</td>' in read(world, client, "mara", address)
    page = read(world, client, "zoe", address)
    assert "<th scope" not in page
    assert "You annotate in this batch" in page


def test_a_job_does_not_tell_annotators_how_many_items_were_decided(world: World, client: Client) -> None:
    batch = decided(world)
    job = automatic_decisions.start_resolving(batch=batch, by=world.mara, now=NOON)
    result = {"batch": batch.public_id, "resolved": 1}
    Job.objects.filter(pk=job.pk).update(state=Job.State.DONE, done=1, total=1, result=result)
    page, api = reverse("job", args=[job.public_id]), f"/api/jobs/{job.public_id}/"

    assert "1 complete item was resolved" in read(world, client, "mara", page)
    assert '"resolved":1' in read(world, client, "mara", api)
    assert "resolved" not in read(world, client, "zoe", page)
    assert '"done":0,"total":0,"error":"","result":{}' in read(world, client, "zoe", api)


@pytest.mark.parametrize("kind", ["resolve", "perturb"])
def test_a_failed_job_does_not_tell_annotators_at_which_decision_it_failed(
    world: World, client: Client, kind: str
) -> None:
    decided(world)
    error = "Films already has another example with the ID nu-10~transpose-0."
    started: dict[str, Any] = {"made_by": world.mara, "made_at": NOON, "heartbeat": NOON, "state": "failed"}
    job = Job.objects.create(project=world.project, kind=kind, error=error, **started)
    addresses = reverse("job", args=[job.public_id]), f"/api/jobs/{job.public_id}/"

    for address in addresses:
        assert "nu-10" in read(world, client, "mara", address)
        assert "nu-10" not in read(world, client, "zoe", address)
        assert "failed" in read(world, client, "zoe", address)


def test_a_question_about_an_item_does_not_name_its_annotator_to_whoever_may_decide_it(
    world: World, client: Client
) -> None:
    asking = world.take(world.batch(name="Open"), "ada")
    annotator_questions.ask(
        project=world.project, person=world.ada, assignment=asking, text="Both?", now=NOON
    )
    roles = [Role.MANAGER, Role.ADJUDICATOR]
    Membership.objects.filter(project=world.project, person=world.ivo).update(roles=roles)
    address = reverse("inquiries", args=[world.project.slug])

    assert "Ada," in read(world, client, "mara", address)
    page = read(world, client, "ivo", address)
    assert "Both?" in page
    assert "Ada," not in page


def test_what_a_release_lacks_does_not_count_edits_accepted_in_ones_own_open_batch(
    world: World, client: Client
) -> None:
    batch = world.batch("question_paraphrase", variant="word", name="Open", only=["nu-1"], overlap=1)
    edited = world.take(batch, "ada")
    assert edited is not None
    response = {"question": "in which year was Alien shown?", "category": "reasoning_synonym"}
    world.answer(edited, response)
    world.batch("answer_check", name="Answers", only=["nu-9"])
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    address = reverse("study", args=[world.project.slug]) + "?missing"

    assert "Perturbed examples" in read(world, client, "mara", address)
    page = read(world, client, "zoe", address)
    assert "You annotate in this batch" in page
    assert "Perturbed examples" not in page
