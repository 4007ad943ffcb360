"""What a release says of itself: Croissant, card and citation from recorded facts, its number, history and errata."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import mlcroissant
import pytest
import yaml

from annotation.models import Batch, Guidelines, Release, Source
from annotation.platform import immutable_rows
from annotation.releases import creation, verification
from annotation.workflow import perturbation_runs
from tableqa.releases import record_files, release_records
from tableqa.writers.whole_examples import example_of
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_contradicted import checked
from tests.annotation.test_mixing import accepted, perturbed_thrice

pytestmark = pytest.mark.django_db(transaction=True)
STATED = {
    "creators": "Mara's Lab\nThe Film Archive",
    "language": "en, de",
    "use_cases": "Comparison of systems only.",
    "biases": "Films of one country.",
    "limitations": "Too few for training.",
    "personal": "Names of actors.",
    "maintenance": "The lab answers for two years.",
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A project with edits by people at three levels, and one automatic perturbation."""
    world = make_world(tmp_path)
    perturbed_thrice(world)
    run = perturbation_runs.plan_run(project=world.project, kinds=["row_shuffle"], seeds=[1], now=NOON)
    perturbation_runs.perform(run)
    return world


def release(world: World, out: Path, name: str = "", **options: Any) -> Path:
    creation.make_release(
        project=world.project,
        name=name or out.name,
        by=None,
        now=options.pop("now", NOON),
        out=out,
        **{"format": "hf", **options},
    )
    return out


def croissant(folder: Path) -> Any:
    return json.loads((folder / "croissant.json").read_text("utf-8"))


def test_each_example_with_its_table_is_rebuilt_from_the_records_of_croissant(
    world: World, tmp_path: Path
) -> None:
    folder = release(world, tmp_path / "v1")
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    assert set(croissant(folder)["conformsTo"]) >= {"http://mlcommons.org/croissant/1.1"}
    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings
    records = list(map(rebuilt, dataset.records("examples")))
    examples = [
        line
        for path in sorted(folder.glob("data/*/*.jsonl"))
        if path.parent.name not in ("responses", "decisions")
        for line in record_files.records(path)
    ]
    keys = [(one["source"], one["id"], one["perturbation"], one["seed"]) for one in records]
    assert len(keys) == len(set(keys)) == len({json.dumps(one, sort_keys=True) for one in examples})
    of_files = {(one["source"], one["id"]): one for one in examples}
    for record in records:
        assert record == of_files[record["source"], record["id"]]
        assert example_of(record) == example_of(of_files[record["source"], record["id"]])
    for name, key in (("responses", "id"), ("decisions", "item")):
        found = list(map(rebuilt, dataset.records(name)))
        lines = [line for path in folder.glob(f"data/{name}/*") for line in record_files.records(path)]
        assert sorted(found, key=lambda one: one[key]) == sorted(lines, key=lambda one: one[key])


def rebuilt(record: Any) -> Any:
    """A record of mlcroissant as Askew writes it: names without those of the fields around them, texts, lists."""
    if isinstance(record, bytes):
        return record.decode()
    if isinstance(record, dict):
        return {name.rpartition("/")[2]: rebuilt(value) for name, value in record.items()}
    if hasattr(record, "tolist"):
        record = record.tolist()
    return [rebuilt(value) for value in record] if isinstance(record, list) else record


def test_every_file_is_in_the_distribution_with_its_checksum(world: World, tmp_path: Path) -> None:
    folder = release(world, tmp_path / "v1")
    files = release_records.read_manifest(folder)["files"]
    distribution = {one["contentUrl"]: one["sha256"] for one in croissant(folder)["distribution"]}
    assert distribution == {
        name: entry["sha256"] for name, entry in files.items() if name != "croissant.json"
    }


def test_each_fact_of_the_project_is_in_the_files(world: World, tmp_path: Path) -> None:
    before = release(world, tmp_path / "v1")
    texts = {
        name: (before / name).read_text("utf-8") for name in ("croissant.json", "README.md", "CITATION.cff")
    }
    assert croissant(before)["rai:dataBiases"] == "Not stated."
    assert "creator" not in croissant(before)
    project = world.project
    project.name, project.slug, project.statement = "Moving Pictures", "pictures", STATED
    project.save()
    source = project.sources.get()
    source.licence, source.citation, source.url = "CC0-1.0", "Mara (2025)", "https://films.example"
    with immutable_rows.writable():
        source.save()
        Source.objects.update(name="Reels", split="holdout", reader="sqa")
        Batch.objects.filter(task_type="value_change").update(name="Second round", overlap=7)
        Guidelines.objects.update(text="Read slowly.")

    after = release(world, tmp_path / "2.1.0")

    described = croissant(after)
    assert described["name"] == "Moving Pictures, 2.1.0"
    assert described["version"] == "2.1.0"
    assert [one["name"] for one in described["creator"]] == ["Mara's Lab", "The Film Archive"]
    assert described["inLanguage"] == ["en", "de"]
    assert described["license"] == "https://spdx.org/licenses/CC0-1.0.html"
    assert described["citeAs"].splitlines()[1] == "Mara (2025)"
    assert "https://films.example" in described["rai:dataCollection"]
    assert "url" not in described
    for name, key in (
        ("use_cases", "rai:dataUseCases"),
        ("biases", "rai:dataBiases"),
        ("limitations", "rai:dataLimitations"),
        ("personal", "rai:personalSensitiveInformation"),
        ("maintenance", "rai:dataReleaseMaintenancePlan"),
    ):
        assert described[key] == STATED[name]
        assert STATED[name] in (after / "DATA_STATEMENT.md").read_text("utf-8")
    citation = yaml.safe_load((after / "CITATION.cff").read_text("utf-8"))
    assert (citation["title"], citation["version"]) == ("Moving Pictures", "2.1.0")
    assert citation["authors"] == [{"name": "Mara's Lab"}, {"name": "The Film Archive"}]
    assert citation["license"] == ["CC0-1.0"]
    card = yaml.safe_load((after / "README.md").read_text("utf-8").split("---\n")[1])
    assert (card["pretty_name"], card["language"]) == ("Moving Pictures, 2.1.0", ["en", "de"])
    assert card["license"] == ["cc0-1.0"]
    for name, text in texts.items():
        assert (after / name).read_text("utf-8") != text
    for fact, names in {
        "pictures": ("DATA_STATEMENT.md", "eval.yaml", "harness/facts.json"),
        "Reels": ("README.md", "DATA_STATEMENT.md", "croissant.json", "harness/facts.json"),
        "holdout": ("README.md", "croissant.json"),
        "sqa": ("README.md", "DATA_STATEMENT.md", "croissant.json"),
        "Second round: 7 planned": ("croissant.json",),
        "Read slowly.": ("DATA_STATEMENT.md",),
    }.items():
        for name in names:
            assert fact in (after / name).read_text("utf-8"), (fact, name)
    assert verification.verify(after)


def test_the_dates_are_those_of_the_last_record_and_two_releases_of_the_same_data_are_equal(
    world: World, tmp_path: Path
) -> None:
    one = release(world, tmp_path / "one", name="v1")
    later = NOON + timedelta(days=300)
    other = release(world, tmp_path / "other", name="v1", now=later)
    assert contents(one) == contents(other)
    manifest = release_records.read_manifest(one)
    made_at = [
        line["made_at"]
        for name in ("annotations.jsonl", "decisions.jsonl")
        for line in record_files.records(one / name)
    ]
    assert manifest["dates"] == {"first": min(made_at), "last": max(made_at)}
    assert croissant(one)["datePublished"] == max(made_at).replace("+00:00", "Z")
    assert f'date-released: "{max(made_at)[:10]}"' in (one / "CITATION.cff").read_text("utf-8")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_release_names_its_number_its_predecessor_and_what_changed(world: World, tmp_path: Path) -> None:
    first = release(world, tmp_path / "v1")
    second = release(world, tmp_path / "v2")
    manifest, before = release_records.read_manifest(second), release_records.read_manifest(first)
    assert (before["number"], manifest["number"]) == (1, 2)
    assert "predecessor" not in before
    digest = Release.objects.get(name="v1").digest
    assert manifest["predecessor"] == {"number": 1, "name": "v1", "digest": digest}
    assert "changes" not in manifest
    rename = {"op": "rename_header", "column": "c0", "at": 0, "old": "Film", "new": "Movie"}
    accepted(world, "header_synonym", "", {"operations": [rename], "rejected": []})
    third = release(world, tmp_path / "v3")
    assert release_records.read_manifest(third)["changes"]["annotations.jsonl"] == {
        "added": 1,
        "removed": 0,
        "changed": 0,
    }
    assert "`annotations.jsonl`: 1 records added" in (third / "README.md").read_text("utf-8")
    assert verification.verify(third)
    same = set(contents(first)) - {"manifest.json", "README.md", "croissant.json", "CITATION.cff"}
    assert {name: contents(first)[name] for name in same} == {name: contents(second)[name] for name in same}


def test_a_release_carries_the_errata_of_those_before_it(world: World, tmp_path: Path) -> None:
    release(world, tmp_path / "v1")
    id = checked(world, "other", only=["nu-1"])
    second = release(world, tmp_path / "v2")
    assert [entry["id"] for entry in release_records.read_manifest(second)["contradicted"]] == [id]
    (erratum,) = record_files.records(second / "errata.jsonl")
    assert (erratum["release"]["name"], erratum["id"]) == ("v1", id)
    third = release(world, tmp_path / "v3")
    assert list(record_files.records(third / "errata.jsonl")) == [erratum]
    assert verification.verify(third)


def test_a_release_says_that_the_files_of_its_predecessor_are_missing(world: World, tmp_path: Path) -> None:
    release(world, tmp_path / "v1")
    shutil.rmtree(creation.folder(Release.objects.get(name="v1")))
    second = release(world, tmp_path / "v2")
    assert release_records.read_manifest(second)["predecessor"]["files"] == "missing"
    assert "what changed since and its errata are not known" in (second / "README.md").read_text("utf-8")
    assert verification.verify(second)
