"""A release for Hugging Face has a configuration for each perturbation and task type, with the splits of the sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pyarrow import parquet

from annotation.releases import creation, verification
from annotation.workflow import perturbation_runs
from tableqa.core.canonical_json import canonical
from tableqa.readers import READERS
from tableqa.releases import record_files, release_records
from tableqa.releases.verification import describe
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_mixing import perturbed_thrice

pytestmark = pytest.mark.django_db(transaction=True)
CONFIGURATIONS = {
    *("original", "header_synonym", "value_change", "answer_changes", "question_paraphrase"),
    *("sentence", "row_shuffle", "responses", "decisions", "prompts"),
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
    described = {info["config_name"] for info in header(folder)["dataset_info"]}
    assert described == CONFIGURATIONS - {"prompts"}, "types of its columns follow from the file"
    assert "| `value_change` | dev |" in (folder / "README.md").read_text("utf-8")


def test_each_example_is_in_the_configuration_of_its_perturbation_and_once_in_the_parquet_file(
    folder: Path,
) -> None:
    assert verification.verify(folder)["files"] > 0
    every = parquet.read_table(folder / "parquet" / "examples.parquet").to_pylist()
    assert len(every) == len({(one["source"], one["id"]) for one in every})
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
    manifest = release_records.read_manifest(folder)
    manifest["files"] = describe(folder)
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
    originals = datasets.load_dataset(str(folder), split="dev", cache_dir=cache)
    assert set(originals["perturbation"]) == {""}
    responses = datasets.load_dataset(str(folder), "responses", split="dev", cache_dir=cache)
    assert responses["id"] == [one["id"] for one in record_files.records(folder / "annotations.jsonl")]
