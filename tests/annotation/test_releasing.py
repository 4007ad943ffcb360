"""Releases: whatever is changed in one afterwards, verifying names it."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Job, Person, Release
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, raw_records, release_files, verification
from annotation.workflow import automatic_decisions
from tableqa.core.release_rules import under
from tableqa.releases import record_files, release_records
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import CURRENT_COUNTS
from tableqa.releases.verification import describe
from tests.annotation.cast import NOON, World
from tests.annotation.older_rules import agreement_again, without_history

# What a release is made of comes from the database, and runs on both. What is found in files does not depend on one.
both = pytest.mark.both

LATER = NOON + timedelta(seconds=61)


@pytest.fixture
def released(world: World, tmp_path: Path) -> Path:
    """A release with labels by three people and one edited table."""
    labels = world.batch("question_type", size=3)
    for who, said in {"ada": "extraction", "bo": "extraction", "cy": "reasoning"}.items():
        for _ in range(3):
            world.label(labels, who, said)
    edits = world.batch("value_change", variant="answer_stays", size=1)
    assignment = world.take(edits, "ada")
    assert assignment is not None
    cell = {"op": "set_cell", "row": "r3", "column": "c2", "at": [3, 2], "old": "124", "new": "125"}
    world.answer(assignment, {"unanswerable": False, "operations": [cell], "answers": [], "reason": ""})
    automatic_decisions.resolve_due(now=LATER)
    out = tmp_path / "release"
    creation.make_release(
        project=world.project, name="v1", format="freb_tqa", by=world.rea, now=LATER, out=out
    )
    return out


def rewrite(folder: Path, name: str, change: Callable[[list[dict]], None]) -> None:
    """Change the records of a file and put its new checksum into the manifest, as a careful forger would."""
    path = folder / name
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines)
    release_files.write_records(path, lines)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"] = describe(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest))


@both
def test_what_is_noted_of_records_on_their_way_is_what_is_found_in_their_files(
    released: Path, tmp_path: Path
) -> None:
    manifest = release_records.read_manifest(released)
    lines = {name: list(record_files.records(released / name)) for name in release_records.RAW}
    again = tmp_path / "again"
    again.mkdir()
    names = ("sources", "annotations", "decisions")
    noted = release_files.write_raw(again, manifest, **{name: lines[f"{name}.jsonl"] for name in names})
    shutil.copy(released / "manifest.json", again)
    found = raw_records.load(again)
    assert list(noted._db.iterdump()) == list(found._db.iterdump())
    assert noted.sources == found.sources
    for name in ("tables", "originals", "derived", "inputs", "by_id", "responses"):
        kept = dict(getattr(noted, name))
        assert kept == dict(getattr(found, name))
        assert kept or name == "inputs"
    for name in release_records.RAW:
        assert (again / name).read_bytes() == (released / name).read_bytes()


@both
def test_a_release_verifies(released: Path) -> None:
    checked = verification.verify(released)
    assert checked["annotations"] == 10
    assert checked["replayed"] == 1
    assert checked["figures"] == 4


def test_a_changed_byte_is_found(released: Path) -> None:
    path = released / "annotations.jsonl"
    path.write_bytes(path.read_bytes().replace(b"extraction", b"Extraction", 1))
    with pytest.raises(Difference, match=r"annotations\.jsonl: sha256"):
        verification.verify(released)


def test_a_file_that_is_missing_or_too_many_is_found(released: Path) -> None:
    (released / "extra.txt").write_text("hello")
    with pytest.raises(Difference, match=r"extra\.txt: not in the manifest"):
        verification.verify(released)
    (released / "extra.txt").unlink()
    (released / "decisions.jsonl").unlink()
    with pytest.raises(Difference, match=r"decisions\.jsonl: in the manifest, but missing"):
        verification.verify(released)


def test_a_forged_label_is_found_although_the_checksums_fit(released: Path) -> None:
    def forge(lines: list[dict]) -> None:
        line = next(line for line in lines if line["response"]["data"].get("label") == "reasoning")
        line["response"]["data"]["label"] = "neither"

    rewrite(released, "annotations.jsonl", forge)
    with pytest.raises(Difference, match="fleiss_kappa"):
        verification.verify(released)


def test_a_forged_table_is_found(released: Path) -> None:
    def forge(lines: list[dict]) -> None:
        next(line for line in lines if line["kind"] == "table")["content"]["rows"][0][0] = "Cold"

    rewrite(released, "sources.jsonl", forge)
    with pytest.raises(Difference, match=r"sources\.jsonl: the table"):
        verification.verify(released)


def test_a_forged_edit_is_found(released: Path) -> None:
    def forge(lines: list[dict]) -> None:
        line = next(line for line in lines if line["outcomes"][0]["example"])
        line["outcomes"][0]["example"]["operations"][0]["new"] = "999"

    rewrite(released, "decisions.jsonl", forge)
    with pytest.raises(Difference, match="replayed table"):
        verification.verify(released)


@pytest.mark.parametrize("field", ["parent", "perturbation"])
def test_a_forged_lineage_is_found(released: Path, field: str) -> None:
    def forge(lines: list[dict]) -> None:
        next(line for line in lines if line["outcomes"][0]["example"])["outcomes"][0]["example"][field] = (
            "nu-1"
        )

    rewrite(released, "decisions.jsonl", forge)
    with pytest.raises(Difference, match=f"the {field} of nu-0~"):
        verification.verify(released)


def test_a_forged_benchmark_record_is_found(released: Path) -> None:
    name = "01_str/wtq_factoid_dev.json"
    rewrite(released, name, lambda lines: lines[0].update(answers=["42"]))
    with pytest.raises(Difference, match=r"wtq_factoid_dev\.json, line 1"):
        verification.verify(released)


def test_a_forged_decision_is_found(released: Path) -> None:
    def forge(lines: list[dict]) -> None:
        line = next(line for line in lines if len(line["outcomes"][0]["annotations"]) == 2)
        line["outcomes"][0]["annotations"].pop()

    rewrite(released, "decisions.jsonl", forge)
    with pytest.raises(Difference, match="lead to another decision"):
        verification.verify(released)


def test_a_forged_figure_is_found(released: Path) -> None:
    manifest = json.loads((released / "manifest.json").read_text())
    manifest["agreement"][0]["value"] = 0.99
    (released / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Difference, match=r"value is 0\.99"):
        verification.verify(released)


def changed_manifest(folder: Path, change: Callable[[dict], object]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


@both
def test_figures_and_hours_have_exact_values_beside_the_rounded_ones(released: Path) -> None:
    manifest = json.loads((released / "manifest.json").read_text())
    for figure in manifest["agreement"]:
        assert figure["exact"].keys() == {"value", "low", "high"}
        for name, exact in figure["exact"].items():
            assert figure[name] == (None if exact is None else round(exact, 6))
    exact = manifest["statement"]["hours"]["exact"]
    assert {name: manifest["statement"]["hours"][name] for name in ("all", "paid")} == {
        name: round(exact[name], 4) for name in ("all", "paid")
    }
    records = record_files.records(released / "annotations.jsonl")
    seconds = [record["active_seconds"] for record in records if record["newest"]]
    assert exact["all"] * 3600 == pytest.approx(math.fsum(seconds), abs=1e-9)


@pytest.mark.parametrize("name", ["value", "low", "high"])
def test_a_forged_exact_value_is_found(released: Path, name: str) -> None:
    changed_manifest(released, lambda manifest: manifest["agreement"][0]["exact"].update({name: 0.123}))
    with pytest.raises(Difference, match="exact is"):
        verification.verify(released)


def test_a_missing_exact_value_is_found(released: Path) -> None:
    changed_manifest(released, lambda manifest: manifest["agreement"][0].pop("exact"))
    with pytest.raises(Difference, match="exact is None"):
        verification.verify(released)


@pytest.mark.parametrize(("name", "by"), [("all", 0.00001), ("paid", 0.00001), ("median_day", 0.01)])
def test_forged_exact_hours_are_found(released: Path, name: str, by: float) -> None:
    def forge(manifest: dict) -> None:
        manifest["statement"]["hours"]["exact"][name] += by

    changed_manifest(released, forge)
    with pytest.raises(Difference, match=r"statement\.hours\.exact"):
        verification.verify(released)


def test_a_release_that_was_made_before_there_were_exact_values_verifies(released: Path) -> None:
    def as_before(manifest: dict) -> None:
        manifest["rules"] = 3
        with under(3):
            manifest["agreement"] = agreement_again(raw_records.load(released), manifest)
        without_history(released, manifest)
        manifest["files"] = describe(released)
        for name in CURRENT_COUNTS:
            del manifest["counts"][name]
        del manifest["statement"]["hours"]["exact"]
        for figure in manifest["agreement"]:
            del figure["exact"]

    changed_manifest(released, as_before)
    assert verification.verify(released)["figures"] == 4


@both
def test_the_same_name_for_the_same_data_is_fine_and_for_other_data_refused(
    world: World, released: Path
) -> None:
    def again() -> Release:
        return creation.make_release(
            project=world.project, name="v1", format="freb_tqa", by=world.rea, now=LATER
        )

    first = again()
    assert again() == first
    world.label(world.batch("question_type", size=1), "ada", "extraction")
    with pytest.raises(ActionRefused) as refused:
        again()
    assert refused.value.code == "name_taken"
    assert Release.objects.count() == 1


@both
def test_a_request_whose_answer_was_lost_gets_the_first_release_though_people_went_on(world: World) -> None:
    options: dict[str, Any] = {"project": world.project, "by": world.rea, "name": "v2", "format": "askew"}
    world.label(world.batch("question_type", size=1), "ada", "extraction")
    first = creation.start_release(now=LATER, request="k1", **options)
    for is_ready in (False, True):
        if is_ready:
            creation.write_release(first)
        world.label(world.batch("question_type", size=1), "ada", "extraction")
        assert creation.start_release(now=LATER, request="k1", **options) == first
    assert Job.objects.filter(kind="release").count() == 1

    other = creation.start_release(now=LATER, request="k1", **{**options, "name": "v3"})
    assert other != first
    with pytest.raises(ActionRefused):
        creation.start_release(now=LATER, request="k2", **options)


@both
@pytest.mark.parametrize(
    "changed", [{"format": "askew"}, {"format": ["askew", "freb_tqa"]}, {"purpose": "training"}, "a response"]
)
def test_a_name_with_other_contents_is_refused_before_a_job_is_queued(
    world: World, released: Path, changed: Any
) -> None:
    same: dict[str, Any] = {"name": "v1", "format": "freb_tqa"}
    if changed == "a response":
        world.label(world.batch("question_type", size=1), "ada", "extraction")
        changed = {}

    with pytest.raises(ActionRefused) as refused:
        creation.start_release(project=world.project, by=world.rea, now=LATER, **same | changed)

    assert refused.value.code == "name_taken"
    assert Release.objects.count() == 1
    assert not Job.objects.filter(kind="release").exists()


@both
def test_simulated_people_are_refused_unless_allowed(world: World) -> None:
    batch = world.batch("question_type", size=1, overlap=1)
    world.label(batch, "ada", "extraction")
    Person.objects.filter(pk=world.ada.pk).update(is_simulated=True)
    with pytest.raises(ActionRefused, match="--allow-simulated"):
        creation.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON)
    release = creation.make_release(
        project=world.project, name="v1", format="askew", by=None, now=NOON, allow_simulated=True
    )
    assert release.manifest["counts"]["simulated_annotators"] == 1


@both
def test_no_name_of_a_person_is_in_a_release(world: World, released: Path) -> None:
    text = "".join(path.read_text() for path in released.rglob("*") if path.is_file())
    for person in world.people.values():
        assert re.search(rf"\b{person.name}\b", text) is None
        assert str(person.email) not in text


def test_a_folder_that_is_not_empty_is_left_alone(world: World, released: Path) -> None:
    with pytest.raises(ActionRefused, match="not an empty folder"):
        creation.make_release(
            project=world.project, name="v2", format="askew", by=None, now=LATER, out=released
        )
    assert not Release.objects.filter(name="v2").exists()


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("counts", "annotations"), 11, "counts.annotations is 11"),
        (("counts", "responses"), 11, "counts.responses is 11"),
        (("counts", "simulated_annotators"), 3, "counts.simulated_annotators"),
        (("counts",), {}, "counts.annotations is None"),
        (("sources", 0, "licence"), "MIT", "sources differ"),
        (("guidelines", 0, "text"), "# Other\n", "guidelines 1"),
        (("guidelines",), [], "guidelines 1"),
        (("batches", 0, "settings"), {"at_most": 9}, "settings of batch"),
        (("batches", 0, "overlap"), 1, "above the number of slots"),
        (("surprise",), 1, "'surprise' is not one"),
        (("batches",), None, "'batches' is not a list"),
        (("agreement",), None, "'agreement' is not a list"),
        (("files",), None, "'files' is not an object"),
    ],
)
def test_a_manifest_that_does_not_fit_its_records_is_found(
    released: Path, path: tuple[str | int, ...], value: object, named: str
) -> None:
    manifest = json.loads((released / "manifest.json").read_text())
    *way, last = path
    place = manifest
    for step in way:
        place = place[step]
    place[last] = value
    (released / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Difference, match=re.escape(named)):
        verification.verify(released)


@pytest.mark.parametrize("field", ["source", "place", "guidelines", "annotator", "response"])
def test_a_record_without_a_field_is_a_difference_and_no_traceback(released: Path, field: str) -> None:
    rewrite(released, "annotations.jsonl", lambda lines: lines[0].pop(field))
    with pytest.raises(Difference):
        verification.verify(released)


@both
def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_registered(
    world: World, released: Path
) -> None:
    with pytest.raises(ActionRefused, match="cannot be created"):
        creation.make_release(
            project=world.project,
            name="v2",
            format="askew",
            by=None,
            now=LATER,
            out=released / "manifest.json" / "x",
        )
    assert not Release.objects.filter(name="v2").exists()


@pytest.mark.parametrize(
    ("name", "change", "named"),
    [
        ("annotations.jsonl", lambda lines: lines.append(lines[0]), "appears 2 times"),
        ("decisions.jsonl", lambda lines: lines.append(lines[0]), "appears 2 times"),
        ("annotations.jsonl", lambda lines: lines[0].update(newest=False), "'newest' does not fit"),
        ("annotations.jsonl", lambda lines: lines[0]["response"].update(more=1), "is not in canonical form"),
    ],
)
def test_records_that_contradict_each_other_are_found(
    released: Path, name: str, change: Callable[[list[dict]], None], named: str
) -> None:
    rewrite(released, name, change)
    with pytest.raises(Difference, match=named):
        verification.verify(released)


def test_a_format_that_does_not_exist_and_a_manifest_nested_too_deeply_are_found(released: Path) -> None:
    manifest = json.loads((released / "manifest.json").read_text())
    (released / "manifest.json").write_text(json.dumps(manifest | {"format": "nonsense"}))
    with pytest.raises(Difference, match="unknown format 'nonsense'"):
        verification.verify(released)
    (released / "manifest.json").write_text("[" * 200_000)
    with pytest.raises(Difference):
        verification.verify(released)
