"""A release of several sources: each has files of its own, with its own ids, and predictions find their way back."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.imports import example_import
from annotation.releases import benchmark_files, creation, verification
from annotation.releases.model_evaluation import queries
from annotation.workflow import perturbation_runs
from tableqa.core.release_rules import RULES
from tableqa.readers import READERS
from tableqa.releases import record_files, release_records
from tableqa.releases.release_records import CURRENT_COUNTS
from tableqa.releases.verification import describe
from tableqa.scoring.predictions import read_predictions
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.older_rules import without_history

LATER = NOON + timedelta(days=1)
ROWS = [["Heat", "1995"], ["Alien", "1979"], ["Stalker", "1979"], ["Playtime", "1967"]]


def questions(path: Path, asked: str) -> Path:
    """A file of FREB-TQA's items, whose ids are those of every other such file here."""
    records = [
        {
            "id": f"nt-{number}",
            "question": f"{asked} {film}?",
            "answers": [year],
            "table": {"header": ["Film", "Year"], "rows": ROWS, "name": "csv/1-csv/1.tsv"},
        }
        for number, (film, year) in enumerate(ROWS)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def two_sources_of_one_reader(folder: Path) -> World:
    """The sources wtq and sqa, both read by freb_tqa, both of the split dev, both with the ids nt-0 to nt-3."""
    world = make_world(folder)
    for name in ("wtq", "sqa"):
        example_import.import_examples(
            project=world.project,
            reader="freb_tqa",
            path=questions(folder / f"{name}.json", f"in {name}, when was"),
            name=name,
            split="dev",
            now=NOON,
        )
    sources = list(world.project.sources.filter(reader="freb_tqa"))
    kinds = ["row_shuffle", "transpose", "row", "torr_row_swap"]
    perturbation_runs.perform(
        perturbation_runs.plan_run(
            project=world.project, kinds=kinds, seeds=[33, 16], sources=sources, now=NOON
        )
    )
    return world


def release(world: World, out: Path, format: str) -> Path:
    creation.make_release(project=world.project, name=out.name, format=format, by=None, now=LATER, out=out)
    verification.verify(out)
    return out


def records(path: Path) -> list[dict[str, Any]]:
    return list(record_files.records(path))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("format", ["freb_tqa", "robut", "torr", "suc"])
def test_sources_of_one_reader_have_files_of_their_own_with_the_ids_of_the_source(
    tmp_path: Path, format: str
) -> None:
    world = two_sources_of_one_reader(tmp_path)
    out = release(world, tmp_path / "out", format)
    names = release_records.read_manifest(out)["files"]
    files = [out / name for name in names if benchmark_files.is_benchmark(name)]
    assert {path.name.split("_")[0] for path in files} == {"wtq", "sqa"}
    for path in files:
        name = path.name.split("_")[0]
        of = records(path)
        ids = [one.get("id") for one in of]
        assert not any("#" in str(id) for id in ids)
        assert None in ids or len(set(ids)) == len(ids)
        asked = [one.get("question") or one.get("query") or one["prompt"] for one in of]
        assert all(f"in {name}, when was" in text for text in asked), path


@pytest.mark.django_db(transaction=True)
def test_the_tables_of_a_suc_release_are_read_again_by_its_reader(tmp_path: Path) -> None:
    out = release(two_sources_of_one_reader(tmp_path), tmp_path / "out", "suc")
    for path in sorted((out / "tables").iterdir()):
        assert len(list(READERS["suc"](path))) == len(records(path))


@pytest.mark.django_db(transaction=True)
def test_a_source_that_bears_the_name_of_a_reader_does_not_share_its_files_with_it(tmp_path: Path) -> None:
    world = two_sources_of_one_reader(tmp_path)
    kinds = ["row_shuffle"]
    perturbation_runs.perform(
        perturbation_runs.plan_run(project=world.project, kinds=kinds, seeds=[33], now=NOON)
    )
    out = release(world, tmp_path / "out", "freb_tqa")
    names = {path.name for path in (out / "01_str").iterdir() if path.name.endswith("row_shuffle.json")}
    assert names == {f"{name}_dev_row_shuffle.json" for name in ("wtq", "sqa", "films-dev")}


@pytest.mark.django_db(transaction=True)
def test_freb_tqas_automatic_perturbations_stand_beside_the_tables_that_they_are_compared_with(
    tmp_path: Path,
) -> None:
    out = release(two_sources_of_one_reader(tmp_path), tmp_path / "out", "freb_tqa")
    for name in ("wtq", "sqa"):
        originals = records(out / "01_str" / f"{name}_dev_no_shuffle.json")
        assert [one["id"] for one in originals] == [f"nt-{number}" for number in range(4)]
        assert {(one["dataset"], one["perturb"], one["seed"]) for one in originals} == {
            (name, "no_shuffle", 0)
        }
        assert all(one["table"]["rows"] == ROWS for one in originals)
        for path in (out / "01_str").glob(f"{name}_dev_*.json"):
            assert {one["id"].split("~")[0] for one in records(path)} <= {one["id"] for one in originals}


@pytest.mark.django_db(transaction=True)
def test_what_a_program_like_freb_tqas_says_of_every_file_is_evaluated_by_source(tmp_path: Path) -> None:
    out = release(two_sources_of_one_reader(tmp_path), tmp_path / "out", "freb_tqa")
    lines = []
    for path in sorted((out / "01_str").iterdir()):
        for one in records(path):
            right = one["dataset"] == "wtq" or one["perturb"] == "no_shuffle"
            said = {name: one[name] for name in ("id", "dataset", "perturb", "seed")}
            lines.append({**said, "pred_answer": one["answers"] if right else ["nobody"]})
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    raw = queries.load(out)
    predictions = read_predictions(path, raw.raw.datasets)
    found = [
        (one.source, one.kind, tuple(predictions[one.source, one.id]) == one.answers)
        for one, _ in queries.instances(raw)
        if one.kind in ("original", "row_shuffle", "transpose")
    ]
    assert len(found) == 2 * 4 * (1 + 2 + 1)
    assert all(right == (source == "wtq" or kind == "original") for source, kind, right in found)


@pytest.mark.django_db(transaction=True)
def test_a_release_by_other_rules_says_so_where_something_differs(tmp_path: Path) -> None:
    out = release(two_sources_of_one_reader(tmp_path), tmp_path / "out", "freb_tqa")
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["rules"] == RULES
    del manifest["rules"]
    without_history(out, manifest)
    manifest["files"] = describe(out)
    for name in CURRENT_COUNTS:
        del manifest["counts"][name]
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    verification.verify(out)  # what an older version wrote need not differ
    manifest["counts"]["items"] += 1
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(record_files.Difference, match=r"counts\.items.*older version.*rules 1"):
        verification.verify(out)
    manifest["rules"] = RULES + 1
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(record_files.Difference, match="newer version"):
        verification.verify(out)


@pytest.mark.django_db(transaction=True)
def test_a_difference_in_a_release_by_the_present_rules_speaks_of_no_version(tmp_path: Path) -> None:
    out = release(two_sources_of_one_reader(tmp_path), tmp_path / "out", "freb_tqa")
    (out / "01_str" / "wtq_dev_row_shuffle.json").write_text("{}\n", "utf-8")
    with pytest.raises(record_files.Difference) as found:
        verification.verify(out)
    assert "version" not in str(found.value)


@pytest.mark.django_db(transaction=True)
def test_the_commands_say_what_was_made_again_and_where_a_format_has_nothing(tmp_path: Path) -> None:
    world = two_sources_of_one_reader(tmp_path)
    said = StringIO()
    options = {"project": world.project.slug, "name": "v1", "format": "lftqa", "out": tmp_path / "lftqa"}
    call_command("release", stdout=said, **options)
    assert "56 automatic perturbations" in said.getvalue()
    assert "no benchmark file: the format lftqa has no record for the data of this project" in said.getvalue()
    said = StringIO()
    call_command("verify_release", tmp_path / "lftqa", stdout=said)
    assert "56 automatic perturbations recomputed" in said.getvalue()
    with pytest.raises(CommandError):
        call_command("verify_release", tmp_path, stdout=said)
