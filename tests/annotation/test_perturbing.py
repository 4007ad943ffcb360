"""Automatic perturbations: made once, taken up again, checked, released with their lineage and made again to verify."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from annotation.background import jobs
from annotation.imports import example_import
from annotation.models import Example, Job, PerturbationRun, Source
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, release_files, verification
from annotation.workflow import automatic_decisions, perturbation_runs
from tableqa import Example as Plain
from tableqa import Table
from tableqa.perturbations import PERTURBATIONS
from tableqa.readers import READERS
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import CURRENT_COUNTS
from tableqa.releases.verification import describe
from tests.annotation.cast import FILMS, NOON, World, make_world
from tests.annotation.older_rules import without_history

LATER = NOON + timedelta(days=1)
KINDS = ["row_shuffle", "target_row_front", "transpose", "mask_cell"]


def run(world: World, kinds: list[str] = KINDS, **more: Any) -> PerturbationRun:
    planned = perturbation_runs.plan_run(
        project=world.project, kinds=kinds, now=NOON, **{"seeds": [33, 16], **more}
    )
    return perturbation_runs.perform(planned)


def release(world: World, out: Path, format: str = "askew") -> dict[str, Any]:
    made = creation.make_release(
        project=world.project, name=out.name, format=format, by=None, now=LATER, out=out
    )
    verification.verify(out)
    return dict(made.manifest)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.django_db(transaction=True)
def test_every_perturbed_example_knows_its_original_its_kind_and_its_seed(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    done = run(world)
    assert done.event is not None
    made = Example.objects.automatic()
    assert made.count() == sum(of_kind["made"] for of_kind in done.counts.values())
    assert {example.external_id for example in made.filter(perturbation="transpose")} == {
        f"nu-{n}~transpose-0" for n in range(4)
    }, "a kind that draws nothing is made once, whatever the seeds"
    for example in made.select_related("stored_table", "parent__stored_table", "parent__source"):
        assert example.parent is not None
        again = PERTURBATIONS[example.perturbation](example.parent.example(), example.seed or 33)
        assert again.example.table.same_content(example.table())
        assert example.table_digest == again.example.table.digest()
        assert not example.table().same_content(example.parent.table())


@pytest.mark.django_db(transaction=True)
def test_no_ops_are_counted_with_their_reason_and_make_no_example(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    counts = run(world).counts
    assert counts["mask_cell"] == {
        "made": 0,
        "no_op": {"The relevant cells are unknown.": 4},
        "refused": {},
    }
    assert sum(counts["target_row_front"]["no_op"].values()) + counts["target_row_front"]["made"] == 8
    assert counts["target_row_front"]["no_op"]["The rows or columns are already in the target region."] == 2
    assert not Example.objects.filter(perturbation="mask_cell").exists()


@pytest.mark.django_db(transaction=True)
def test_the_same_run_again_makes_nothing_and_another_seed_adds_its_own(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    run(world, ["row_shuffle", "transpose"])
    before = set(Example.objects.automatic().values_list("pk", flat=True))
    run(world, ["row_shuffle", "transpose"])
    assert set(Example.objects.automatic().values_list("pk", flat=True)) == before
    run(world, ["row_shuffle"], seeds=[16, 5])
    assert {example.seed for example in Example.objects.automatic().exclude(pk__in=before)} == {5}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_fed", [False, True])
def test_a_run_that_would_give_an_id_of_another_example_is_refused_before_it_exists(
    tmp_path: Path, is_fed: bool
) -> None:
    """Begun, it could neither be finished nor ended, and one original would keep all others from being perturbed."""
    world = make_world(tmp_path)
    first = Example.objects.get(external_id="nu-0")
    for name in ("nu-0~transpose-0", "nu-9~row_shuffle-33"):
        Example.objects.create(
            source=first.source,
            external_id=name,
            position=9,
            question="?",
            stored_table=first.stored_table,
            table_digest=first.table_digest,
        )
    feeding = world.batch(overlap=1, only=["nu-0"]) if is_fed else None

    with pytest.raises(ActionRefused, match="already has another example with the ID nu-0~transpose-0"):
        perturbation_runs.plan_run(
            project=world.project, kinds=["transpose"], seeds=[33], feeds_from=feeding, now=NOON
        )

    assert not PerturbationRun.objects.exists()
    assert run(world, ["row_shuffle"]).event is not None, "no original is called nu-9"


@pytest.mark.django_db(transaction=True)
def test_a_run_that_was_killed_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, questions=6)
    monkeypatch.setattr(perturbation_runs, "ROWS", 2)
    planned = perturbation_runs.plan_run(project=world.project, kinds=["row_shuffle"], seeds=[33], now=NOON)

    def killed(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perturbation_runs.perform(planned, progress=killed)
    assert Example.objects.automatic().values("parent").distinct().count() <= 4
    again = perturbation_runs.plan_run(project=world.project, kinds=["row_shuffle"], seeds=[33], now=NOON)
    assert again.pk == planned.pk
    seen: list[int] = []
    done = perturbation_runs.perform(again, progress=lambda done, total: seen.append(done))
    assert seen[0] == 4
    assert seen[-1] == 6
    assert done.counts["row_shuffle"]["made"] == Example.objects.automatic().count() <= 6


@pytest.mark.django_db(transaction=True)
def test_what_breaks_the_contract_of_its_kind_is_counted_and_left_out(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    film = Table(header=["Film", "Year"], rows=[[film, year] for film, year, _ in FILMS])
    first = {"op": "cell", "row": "r0", "column": "c1"}
    # Its gold answer is not what its program gives, so no shuffle of it can be said to keep the answer.
    wrong = Plain(id="wrong", question="when did Heat come out?", table=film, answers=["1979"], program=first)
    source = world.import_written(wrong)
    counts = run(world, ["row_shuffle"], sources=[source], seeds=[33]).counts
    assert counts["row_shuffle"]["refused"] == {"computed_answer_differs": 1}
    assert not Example.objects.automatic().filter(source=source).exists()


@pytest.mark.django_db(transaction=True)
def test_cells_that_people_marked_are_the_ones_that_are_masked(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    batch = world.batch("relevant_cells", only=["nu-0"], overlap=1)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    world.answer(assignment, {"cells": [["r0", "c1"]], "unanswerable": False})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    done = run(world, ["mask_cell"])
    assert done.counts["mask_cell"]["made"] == 1
    masked = Example.objects.get(perturbation="mask_cell")
    assert masked.external_id == "nu-0~mask_cell-0"
    assert masked.table().rows[0] == ("Heat", "", "170")
    manifest = release(world, tmp_path / "out", "freb_tqa")
    assert manifest["automatic"]["counts"] == done.counts
    (record,) = lines(tmp_path / "out" / "02_rel" / "wtq_dev_mask_cell.json")
    assert (record["perturb"], record["dataset"], record["table"]["rows"][0]) == (
        "mask_cell",
        "wtq",
        ["Heat", "", "170"],
    )


@pytest.mark.django_db(transaction=True)
def test_examples_are_chosen_by_what_people_decided(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    batch = world.batch("question_type", only=["nu-0", "nu-1"], overlap=1)
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    run(world, ["transpose"], decided="question_type.label=extraction")
    assert [one.parent.external_id for one in Example.objects.automatic() if one.parent] == ["nu-0"]
    with pytest.raises(ActionRefused, match="no matching examples"):
        run(world, ["transpose"], decided="question_type.label=neither")


@pytest.mark.django_db(transaction=True)
def test_a_release_of_perturbations_alone_is_verified_and_says_what_was_left_out(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    done = run(world)
    manifest = release(world, tmp_path / "askew")
    assert manifest["automatic"]["counts"] == done.counts
    assert manifest["files"]["perturbed.jsonl"]["records"] == Example.objects.automatic().count()
    assert release(world, tmp_path / "freb", "freb_tqa")["files"].keys() >= {
        "01_str/wtq_dev_row_shuffle.json",
        "01_str/wtq_dev_transpose.json",
    }


@pytest.mark.django_db(transaction=True)
def test_two_runs_that_ask_for_the_same_count_once_in_a_release(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    run(world, ["row_shuffle", "transpose"])
    run(world, ["transpose", "col_shuffle"])
    release(world, tmp_path / "out")
    raw = lines(tmp_path / "out" / "perturbations.jsonl")
    keys = [(line["original"], line["kind"], line["seed"]) for line in raw]
    assert len(keys) == len(set(keys)) == 4 * (2 + 1 + 2)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fault", ["digest", "record", "count", "gone", "more"])
def test_a_changed_perturbation_is_found_when_the_release_is_verified(tmp_path: Path, fault: str) -> None:
    world = make_world(tmp_path)
    run(world, ["row_shuffle"])
    out = tmp_path / "out"
    release(world, out)
    path = out / ("perturbations.jsonl" if fault == "digest" else "perturbed.jsonl")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    text = path.read_text(encoding="utf-8")
    if fault == "digest":
        path.write_text(text.replace('"digest":"', '"digest":"0', 1), encoding="utf-8")
    elif fault == "record":
        path.write_text(text.replace("Heat", "Cold", 1), encoding="utf-8")
    elif fault == "more":
        path.write_text(text + text.splitlines()[0] + "\n", encoding="utf-8")
    elif fault == "gone":
        path.unlink()
    else:
        manifest["automatic"]["counts"]["row_shuffle"]["made"] += 1
    manifest["files"] = describe(out)
    (out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(Difference):
        verification.verify(out)


@pytest.mark.django_db(transaction=True)
def test_a_job_does_it_in_the_background(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    planned = perturbation_runs.plan_run(project=world.project, kinds=["transpose"], now=NOON, by=world.mara)
    job = perturbation_runs.start(run=planned, by=world.mara, now=NOON)
    assert jobs.run(job.pk) == "done" or Job.objects.get(pk=job.pk).state == "done"
    assert Job.objects.get(pk=job.pk).result["counts"]["transpose"]["made"] == 4


@pytest.mark.django_db(transaction=True)
def test_a_manager_starts_a_run_on_its_page_and_reads_there_what_came_of_it(
    tmp_path: Path, client: Client
) -> None:
    world = make_world(tmp_path)
    client.force_login(world.mara)
    address = "/projects/films/perturbations/"
    assert "All rows in a random order <code>row_shuffle</code>" in client.get(address).content.decode()
    asked = {"kinds": ["row_shuffle", "mask_cell"], "seeds": "33, 16", "rules": "released", "select": ""}
    assert client.post(address, asked)["location"].startswith("/jobs/")
    jobs.run(Job.objects.get(kind="perturb").pk)
    page = client.get(address).content.decode()
    assert "Seeds 33, 16" in page
    assert "4: The relevant cells are unknown." in page


@pytest.mark.django_db(transaction=True)
def test_an_automatic_example_can_be_checked_by_people_when_a_batch_asks_for_them(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    run(world, ["row_shuffle"], seeds=[33])
    batch = world.batch("answer_check", of="automatic", size=2)
    assert {item.example.perturbation for item in batch.items.select_related("example")} == {"row_shuffle"}
    with pytest.raises(ActionRefused, match="originals"):
        world.batch("question_type", of="automatic")


@pytest.mark.django_db(transaction=True)
def test_the_command_says_what_it_made_and_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    make_world(tmp_path)
    said = StringIO()
    asked = ["perturb", "--project", "films", "--kinds", "row_shuffle,mask_cell", "--seeds", "33,16"]
    call_command(*asked, "--dry-run", stdout=said)
    assert not Example.objects.automatic().exists()
    assert not PerturbationRun.objects.exists()
    again = StringIO()
    call_command(*asked, stdout=again)
    assert again.getvalue() == said.getvalue()
    assert "mask_cell" in said.getvalue()
    assert "4  The relevant cells are" in said.getvalue()
    for wrong in (["--kinds", "shuffle"], ["--kinds", "row_shuffle", "--decided", "question_type"]):
        with pytest.raises(CommandError):
            call_command("perturb", "--project", "films", *wrong)


@pytest.mark.django_db(transaction=True)
def test_real_questions_come_out_as_the_library_makes_them(tmp_path: Path, test_data: Path) -> None:
    world = make_world(tmp_path)
    path = test_data / "freb_tqa" / "01_str" / "sqa_factoid_dev.json"
    done = example_import.import_examples(
        project=world.project, reader="freb_tqa", path=path, limit=20, now=NOON
    )
    source = Source.objects.get(pk=done.source.pk)
    counts = run(world, list(PERTURBATIONS), sources=[source]).counts
    assert sum(sum(of_kind["refused"].values()) for of_kind in counts.values()) == 0
    release(world, tmp_path / "out")


@pytest.mark.django_db(transaction=True)
def test_the_page_of_an_example_shows_where_it_comes_from_and_where_it_went(
    tmp_path: Path, client: Client
) -> None:
    world = make_world(tmp_path)
    run(world, ["row_shuffle", "transpose"], seeds=[33])
    batch = world.batch("value_change", variant="answer_changes", only=["nu-0"])
    assignment = world.take(batch, "ada")
    assert assignment is not None
    edit = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
    data = {"unanswerable": False, "operations": [edit], "answers": ["1996"], "reason": "a later film"}
    world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    release(world, tmp_path / "v1")
    made = Example.objects.get(perturbation="answer_changes")
    client.force_login(world.rea)
    page = client.get(f"/examples/{made.public_id}/").content.decode()
    ada = world.project.memberships.get(person=world.ada).pseudonym
    for words in (
        "answer: 1995 → 1996",
        f"by {ada}",
        "row_shuffle, seed 33",
        "by program (FREB-TQA)",
        ">v1</a>",
    ):
        assert words in page, words
    assert "at most 2 changes" in page
    other = client.get(f"/examples/{Example.objects.get(external_id='nu-1').public_id}/").content.decode()
    assert "answer_changes" not in other
    client.force_login(world.ada)
    assert client.get(f"/examples/{made.public_id}/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_relevant_cells_follow_into_the_perturbed_records(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    table = {"header": ["Film", "Minutes"], "rows": [["Alien", "117"], ["Heat", "170"], ["Jaws", "124"]]}
    asked = {
        "id": "t1",
        "question": "how long is Heat?",
        "answers": ["170"],
        "table": table,
        "rel_cell": [[1, 1]],
    }
    path = tmp_path / "marked.json"
    path.write_text(json.dumps(asked) + "\n", "utf-8")
    example_import.import_examples(
        project=world.project, reader="freb_tqa", path=path, name="marked", split="dev", now=NOON
    )
    source = world.project.sources.get(name="marked")
    run(world, ["row_shuffle", "transpose", "escape_table"], sources=[source])
    out = tmp_path / "release"
    release(world, out, "freb_tqa")
    of_kind = {file.stem.split("_dev_")[-1]: lines(file) for file in out.rglob("*_dev_*.json")}
    assert of_kind.keys() == {"no_shuffle", "row_shuffle", "transpose", "escape_table"}
    for kind, records in of_kind.items():
        for record in records:
            cells = [record["table"]["rows"][row][column] for row, column in record.get("rel_cell", ())]
            assert cells == ([] if kind == "escape_table" else ["170"])
    for file in out.rglob("*_dev_*.json"):
        assert len(list(READERS["freb_tqa"](file))) == 1
    with_older_rules(out)
    verification.verify(out)


@pytest.mark.django_db(transaction=True)
def test_files_of_the_second_part_name_the_cells_that_the_source_points_at(tmp_path: Path) -> None:
    """SQA gives the coordinates of an answer: they are what is masked, and what is moved."""
    world = make_world(tmp_path)
    films = Table(["Film", "Minutes"], [["Alien", "117"], ["Heat", "170"], ["Jaws", "124"]])
    asked = Plain("s", "how long is Heat?", films, ["170"], {"answer_cells": [["r1", "c1"]]})
    source = world.import_written(asked, name="sqa")
    run(world, ["row_shuffle", "mask_cell", "escape_table", "relevant_row_shuffle"], sources=[source])
    out = tmp_path / "release"
    release(world, out, "freb_tqa")

    (masked,) = [record for file in out.rglob("02_rel/*mask_cell.json") for record in lines(file)]
    assert masked["rel_cell"] == [[1, 1]]
    moved = [record for file in out.rglob("02_rel/*relevant_row_shuffle.json") for record in lines(file)]
    assert moved
    for record in moved:
        assert [record["table"]["rows"][row][column] for row, column in record["rel_cell"]] == ["170"]
    for file in [*out.rglob("01_str/*.json"), *out.rglob("02_rel/*escape_table.json")]:
        assert all("rel_cell" not in record for record in lines(file))
    verification.verify(out)


def with_older_rules(out: Path) -> None:
    """Make a release what it was by rules 3: no relevant cells in these files, no exact values."""
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    for file in out.rglob("*_dev_*.json"):
        records = lines(file)
        for record in records:
            record.pop("rel_cell", None)
        release_files.write_records(file, records)
    manifest["files"] = describe(out)
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(Difference, match="differs from the perturbations"):
        verification.verify(out)
    manifest["rules"] = 3
    without_history(out, manifest)
    manifest["files"] = describe(out)
    for name in CURRENT_COUNTS:
        del manifest["counts"][name]
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
