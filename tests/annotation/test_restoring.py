"""A release becomes a project again, and that project releases the same files and figures."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from annotation.access import authorization
from annotation.background import jobs
from annotation.management import demo_world, doctor
from annotation.models import (
    Annotation,
    Batch,
    Decision,
    Item,
    Job,
    Outcome,
    Person,
    Project,
    Source,
    TaskTypeDefinition,
)
from annotation.platform.refusals import ActionRefused
from annotation.queue import resolutions
from annotation.releases import benchmark_files, creation, restoration, verification
from annotation.releases.manifest import Manifest
from annotation.workflow import adjudication, automatic_decisions, perturbation_runs, projects
from tableqa.releases import record_files, release_records
from tableqa.writers import hub
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.older_rules import made_by_rules
from tests.annotation.test_defining import EASY, HARD, batch_of, define, say
from tests.annotation.test_mixing import perturbed_thrice
from tests.undone import undone

pytestmark = pytest.mark.both

LATER = NOON + timedelta(days=1)
OLD = Path(__file__).parent / "release_of_november"
NAMES_THE_PROJECT = {"DATA_STATEMENT.md", "manifest.json", "README.md", "CITATION.cff", "croissant.json"}


elsewhere = undone


def released(project: Project, out: Path, **options: Any) -> Path:
    options = {"name": "v1", "format": "askew", "by": None, "allow_simulated": True, **options}
    creation.make_release(project=project, now=LATER, out=out, **options)
    return out


def empty_project(slug: str = "restored") -> Project:
    manager = Person.objects.create_person("Mara Lind", f"{slug}@example.org")
    return projects.create_project(slug=slug, name="Restored", manager=manager, now=LATER)


def restore(folder: Path, slug: str = "restored") -> restoration.RestoreResult:
    project = empty_project(slug)
    return restoration.restore(project=project, folder=folder, by=None, now=LATER + timedelta(days=1))


def differing_files(one: Path, other: Path) -> set[str]:
    files = {path.relative_to(folder).as_posix() for folder in (one, other) for path in folder.rglob("*.*")}
    data = {name for name in files if Path(name).name not in NAMES_THE_PROJECT}
    return {
        name
        for name in data
        if not (one / name).is_file()
        or not (other / name).is_file()
        or (one / name).read_bytes() != (other / name).read_bytes()
    }


def require_the_same(one: Path, other: Path) -> None:
    assert differing_files(one, other) == set()
    before, after = (json.loads((folder / "manifest.json").read_text()) for folder in (one, other))
    names = ("batches", "sources", "guidelines", "counts", "agreement", "contradicted", "mix", "automatic")
    assert {name: after[name] for name in names} == {name: before[name] for name in names}
    assert doctor.findings() == []


def without_selection(folder: Path) -> list[str]:
    """The blocks of the data statement without those on origin and selection, which come from the audit log."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    headings = {f"### {heading}" for heading, _ in hub.selection(manifest)}
    blocks = (folder / "DATA_STATEMENT.md").read_text("utf-8").split("\n\n")
    return [
        block for before, block in pairwise(["", *blocks]) if before not in headings and block not in headings
    ]


def test_the_demo_project_survives_a_release(db: None, tmp_path: Path) -> None:
    formats = list(benchmark_files.FORMATS)
    with elsewhere():
        demo_world.load(now=NOON)
        before = released(Project.objects.get(), tmp_path / "before", format=formats)
        counts = (Annotation.objects.count(), Decision.objects.count(), Item.objects.count())
    assert Annotation.objects.count() == 0
    restored = restore(before, "tilted-tables")
    assert (restored.annotations, restored.decisions, restored.items) == counts
    assert counts[0] >= 65
    assert counts[1] >= 24
    assert not restored.has_new_ids
    assert restored.without_batch == 0
    after = released(restored.project, tmp_path / "after", format=formats)
    require_the_same(before, after)
    assert without_selection(before) == without_selection(after)


def test_lineage_and_pseudonyms_come_back(db: None, tmp_path: Path) -> None:
    with elsewhere():
        demo_world.load(now=NOON)
        project = Project.objects.get()
        before = released(project, tmp_path / "before")
        fed = dict(Batch.objects.exclude(feeds_from=None).values_list("name", "feeds_from__name"))
        made = set(
            Outcome.objects.exclude(example=None).values_list(
                "example__external_id", "example__parent__external_id"
            )
        )
    project = restore(before).project
    batches = project.batches.exclude(feeds_from=None)
    assert dict(batches.values_list("name", "feeds_from__name")) == fed
    outcomes = Outcome.objects.exclude(example=None)
    assert set(outcomes.values_list("example__external_id", "example__parent__external_id")) == made
    written = {record["annotator"] for record in record_files.records(before / "annotations.jsonl")}
    assert written <= set(project.memberships.values_list("pseudonym", flat=True))
    assert not Person.objects.filter(name__in=written, is_active=True).exists()


def test_a_project_with_mixes_and_automatic_perturbations_comes_back(db: None, tmp_path: Path) -> None:
    with elsewhere():
        (tmp_path / "world").mkdir()
        world = make_world(tmp_path / "world")
        perturbed_thrice(world)
        run = perturbation_runs.plan_run(
            project=world.project, kinds=["row_shuffle", "mask_cell"], seeds=[1, 2], now=NOON
        )
        perturbation_runs.perform(run)
        before = released(world.project, tmp_path / "before", mix=7)
    restored = restore(before)
    require_the_same(before, released(restored.project, tmp_path / "after", mix=7))


def test_a_copy_beside_its_original_has_ids_of_its_own(world: World, tmp_path: Path) -> None:
    batch = world.batch("question_type")
    while (assignment := world.take(batch, "ada")) is not None:
        world.answer(assignment, {"label": "extraction"})
    before = released(world.project, tmp_path / "before")
    restored = restore(before)
    assert restored.has_new_ids
    after = released(restored.project, tmp_path / "after")
    figures = [json.loads((folder / "manifest.json").read_text())["agreement"] for folder in (before, after)]
    without_batch = [[{**one, "batch": ""} for one in each] for each in figures]
    assert without_batch[0] == without_batch[1]
    assert differing_files(before, after) == {"annotations.jsonl", "sources.jsonl"} & differing_files(
        before, after
    )
    assert doctor.findings() == []


def test_withdrawn_and_sent_back_responses_come_back(db: None, tmp_path: Path) -> None:
    with elsewhere():
        (tmp_path / "world").mkdir()
        world = make_world(tmp_path / "world")
        batch = world.batch("question_type", overlap=2)
        for who, label in (("ada", "extraction"), ("bo", "reasoning")):
            while (assignment := world.take(batch, who)) is not None:
                world.answer(assignment, {"label": label})
        automatic_decisions.resolve_batch(batch=batch, now=LATER)
        rewritten, left, decided, *_ = resolutions.waiting(batch)
        for item in (rewritten, left):
            adjudication.send_back(item=item, by=world.ivo, choose="A", note="Read again.", now=LATER)
        assignment = rewritten.assignments.get(state="leased")
        world.answer(
            authorization.assignment(authorization.Actor(assignment.person), assignment.public_id),
            {"label": "neither"},
            now=LATER,
        )
        adjudication.decide(item=decided, by=world.ivo, note="Read again.", choose=["A"], now=LATER)
        before = released(world.project, tmp_path / "before")
    flags = [record.get("sent_back") for record in record_files.records(before / "annotations.jsonl")]
    assert any(flags)
    assert not all(flags)
    restored = restore(before)
    require_the_same(before, released(restored.project, tmp_path / "after"))


def test_an_older_release_restores_what_it_has(db: None, tmp_path: Path) -> None:
    restored = restore(OLD)
    checked = verification.verify(OLD)
    assert (restored.annotations, restored.decisions) == (checked["annotations"], checked["decisions"])
    formats = Manifest.of(release_records.read_manifest(OLD)).every_format
    after = released(restored.project, tmp_path / "after", format=formats, mix=7)
    by_old_rules = tmp_path / "by-old-rules"
    shutil.copytree(after, by_old_rules)
    made_by_rules(by_old_rules, 1)
    differing = differing_files(OLD, by_old_rules)
    assert differing <= {"perturbations.jsonl"}  # today's wording of why nothing changed


def test_a_changed_release_is_refused_and_nothing_is_written(db: None, tmp_path: Path) -> None:
    shutil.copytree(OLD, tmp_path / "changed")
    path = tmp_path / "changed" / "annotations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("extraction", "reasoning", 1), encoding="utf-8")
    with pytest.raises(ActionRefused, match=r"does not verify.*annotations\.jsonl"):
        restore(tmp_path / "changed")
    assert not Source.objects.exists()
    assert not Batch.objects.exists()


def test_a_project_with_data_is_left_alone(world: World) -> None:
    with pytest.raises(ActionRefused, match=r"empty project"):
        restoration.restore(project=world.project, folder=OLD, by=None, now=LATER)


def test_a_command_restores_a_zip_file(db: None, tmp_path: Path, capsys: Any) -> None:
    archive = shutil.make_archive(str(tmp_path / "release"), "zip", OLD)
    call_command("restore_release", archive, "old", "--name", "Old", "--manager", "mara@example.org")
    shown = capsys.readouterr().out
    assert "18 responses" in shown
    assert "9 decisions" in shown
    assert "Not restored" in shown
    assert Project.objects.get(slug="old").batches.exists()


def test_a_command_names_what_is_no_release(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"manifest\.json is missing"):
        call_command("restore_release", tmp_path, "old", "--name", "Old", "--manager", "mara@example.org")
    assert not Project.objects.exists()


def client_page(client: Client, address: str) -> str:
    if "_auth_user_id" not in client.session:
        client.force_login(Person.objects.create_person("Alma", "alma@example.org", is_administrator=True))
    return client.get(address).content.decode()


def sent(client: Client, folder: Path, tmp_path: Path) -> Job:
    """A release, zipped and sent with the form of a new project, and the job that restores it."""
    archive = Path(shutil.make_archive(str(tmp_path / "sent"), "zip", folder))
    manager = Person.objects.create_person("Mara", "mara@example.org", is_administrator=True)
    client.force_login(manager)
    with archive.open("rb") as file:
        form = {"name": "Old", "slug": "old", "time_zone": "UTC", "release": file}
        answer = client.post("/projects/new/", form)
    job = Job.objects.get()
    assert answer.headers["Location"] == f"/jobs/{job.public_id}/"
    jobs.run(job.pk)
    return job


def test_a_page_restores_a_release(client: Client, db: None, tmp_path: Path) -> None:
    assert "cannot sign in" in client_page(client, "/projects/new/")
    job = sent(client, OLD, tmp_path)
    page = client_page(client, f"/jobs/{job.public_id}/")
    assert "18 responses, 9 decisions" in page
    assert Project.objects.get(slug="old").batches.exists()
    assert doctor.findings() == []


def test_a_page_says_why_a_release_is_not_restored(client: Client, db: None, tmp_path: Path) -> None:
    shutil.copytree(OLD, tmp_path / "changed")
    (tmp_path / "changed" / "decisions.jsonl").write_text("{}\n", encoding="utf-8")
    job = sent(client, tmp_path / "changed", tmp_path)
    assert "does not verify" in client_page(client, f"/jobs/{job.public_id}/")
    assert not Project.objects.get(slug="old").sources.exists()


def test_a_task_type_of_the_project_comes_back_with_its_batch(db: None, tmp_path: Path) -> None:
    with elsewhere():
        (tmp_path / "world").mkdir()
        world = make_world(tmp_path / "world")
        row = define(world)
        batch = batch_of(world, row)
        for who, data in {"ada": HARD, "bo": HARD, "cy": EASY}.items():
            for _ in range(3):
                say(world, batch, who, data)
        automatic_decisions.resolve_due(now=LATER)
        before = released(world.project, tmp_path / "before")
    restored = restore(before)
    require_the_same(before, released(restored.project, tmp_path / "after"))
    (definition,) = TaskTypeDefinition.objects.all()
    assert definition.task().title == "Table complexity"
