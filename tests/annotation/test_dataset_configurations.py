"""A release for Hugging Face has a configuration for each perturbation and task type, with the splits of the sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from annotation.releases import creation, raw_records, record_files, release_files, verification
from annotation.releases.raw_records import CURRENT_COUNTS
from annotation.workflow import perturbation_runs
from tableqa.core.canonical_json import canonical
from tableqa.readers import READERS
from tableqa.writers import hub
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_mixing import perturbed_thrice

pytestmark = pytest.mark.django_db(transaction=True)
CONFIGURATIONS = {
    *("default", "original", "header_synonym", "value_change", "answer_changes", "question_paraphrase"),
    *("sentence", "row_shuffle"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release with edits by people at three levels, and one automatic perturbation."""
    world: World = make_world(tmp_path)
    perturbed_thrice(world)
    perturbation_runs.perform(
        perturbation_runs.plan_run(project=world.project, kinds=["row_shuffle"], seeds=[1], now=NOON)
    )
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="hf", by=None, now=NOON, out=out)
    return out


def header(folder: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
    return parsed


def test_the_card_names_a_configuration_for_each_task_type_and_perturbation(folder: Path) -> None:
    configurations = {one["config_name"]: one["data_files"] for one in header(folder)["configs"]}
    assert set(configurations) == CONFIGURATIONS
    assert configurations["value_change"] == [{"split": "dev", "path": "data/value_change/dev.jsonl"}]
    assert {one["config_name"] for one in header(folder)["dataset_info"]} == CONFIGURATIONS
    assert "| `value_change` | dev |" in (folder / "README.md").read_text("utf-8")


def test_each_record_of_a_configuration_is_one_of_all_records(folder: Path) -> None:
    assert verification.verify(folder)["files"] > 0
    every = list(record_files.records(folder / "data" / "test.jsonl"))
    for name, kept in (
        ("value_change", [one for one in every if one["perturbation"] == "answer_changes"]),
        ("original", [one for one in every if not one["perturbation"]]),
        ("row_shuffle", [one for one in every if one["perturbation"] == "row_shuffle"]),
    ):
        assert kept
        assert list(record_files.records(folder / "data" / name / "dev.jsonl")) == kept
    assert len(list(READERS["hf"](folder))) == len(every)


def test_a_changed_record_of_a_configuration_does_not_verify(folder: Path) -> None:
    path = folder / "data" / "value_change" / "dev.jsonl"
    path.write_text(path.read_text("utf-8").replace('"question":"', '"question":"not ', 1), "utf-8")
    manifest = raw_records.read_manifest(folder)
    manifest["files"] = release_files.describe(folder)
    (folder / "manifest.json").write_text(canonical(manifest) + "\n")
    with pytest.raises(record_files.Difference, match=r"value_change/dev\.jsonl, line 1"):
        verification.verify(folder)


def test_load_dataset_loads_a_configuration_by_its_name(folder: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    cache = str(tmp_path / "cache")
    assert set(datasets.get_dataset_config_names(str(folder))) == CONFIGURATIONS
    loaded = datasets.load_dataset(str(folder), "value_change", cache_dir=cache)
    assert list(loaded) == ["dev"]
    assert set(loaded["dev"]["perturbation"]) == {"answer_changes"}
    every = datasets.load_dataset(str(folder), split="test", cache_dir=cache)
    assert len(every) == len(list(record_files.records(folder / "data" / "test.jsonl")))


def test_a_release_by_the_rules_before_has_one_configuration_and_verifies(folder: Path) -> None:
    for path in folder.glob("data/*/*.jsonl"):
        path.unlink()
    manifest = raw_records.read_manifest(folder) | {"rules": 5}
    manifest["counts"] = {name: n for name, n in manifest["counts"].items() if name not in CURRENT_COUNTS}
    (folder / "README.md").write_text(hub.card(manifest, [hub.PARQUET]), "utf-8")
    manifest["files"] = release_files.describe(folder)
    (folder / "manifest.json").write_text(canonical(manifest) + "\n")
    assert verification.verify(folder)["files"] > 0
    assert [one["config_name"] for one in header(folder)["configs"]] == ["default"]
    assert "features" in header(folder)["dataset_info"]
