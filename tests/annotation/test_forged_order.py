"""A release whose lines, times or statistics were changed does not verify, although its checksums fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Assignment
from annotation.releases import creation, verification
from annotation.workflow import assignments, automatic_decisions, batches
from tableqa.core.canonical_json import canonical
from tableqa.releases.record_files import Difference
from tableqa.releases.verification import describe
from tests.annotation.cast import NOON, World
from tests.annotation.test_live_agreement import labelled

LATER = NOON + timedelta(hours=1)
Record = dict[str, Any]


def swap_items(lines: list[Record]) -> None:
    item = lines[0]["item"]
    lines.sort(key=lambda line: line["item"] == item)


def swap_annotators(lines: list[Record]) -> None:
    lines[0], lines[1] = lines[1], lines[0]


def annotate_after_decision(lines: list[Record]) -> None:
    for line in lines:
        if line["newest"]:
            line["made_at"] = (LATER + timedelta(hours=1)).isoformat()


def revise_before_first_revision(lines: list[Record]) -> None:
    for line in lines:
        if line["revision"] > 1:
            line["made_at"] = (NOON - timedelta(hours=1)).isoformat()


def drop_a_statistic(manifest: Record) -> None:
    manifest["agreement"] = [entry for entry in manifest["agreement"] if entry["statistic"] != "fleiss_kappa"]


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    batch = labelled(world, name="Types")
    first = Assignment.objects.filter(batch=batch, person=world.ada).order_by("pk")[0]
    assert first.annotation
    assignments.undo(annotation=first.annotation, now=NOON)
    world.answer(world.reload(first), {"label": "neither"}, now=NOON + timedelta(seconds=1))
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    automatic_decisions.resolve_due(now=LATER)
    creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=tmp_path / "out"
    )
    verification.verify(tmp_path / "out")
    return tmp_path / "out"


def forge(folder: Path, name: str, change: Callable[[Any], None]) -> None:
    """Change a file, and write its checksum into the manifest."""
    path = folder / name
    text = path.read_text("utf-8")
    if name == "manifest.json":
        manifest = json.loads(text)
        change(manifest)
    else:
        lines = [json.loads(line) for line in text.splitlines()]
        change(lines)
        path.write_text("".join(canonical(line) + "\n" for line in lines), "utf-8")
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        if name == "annotations.jsonl":
            times = [line["made_at"] for line in lines]
            manifest["dates"] = {"first": min(times), "last": max(manifest["dates"]["last"], *times)}
    manifest["files"] = describe(folder)
    (folder / "manifest.json").write_text(canonical(manifest) + "\n", "utf-8")


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("annotations.jsonl", swap_items, "are not in the order of a release"),
        ("decisions.jsonl", swap_items, "are not in the order of a release"),
        ("annotations.jsonl", swap_annotators, "is not in the order of annotator and revision"),
        ("annotations.jsonl", annotate_after_decision, "was decided before annotation"),
        ("annotations.jsonl", revise_before_first_revision, "was made before the revision before it"),
        ("manifest.json", drop_a_statistic, "agreement figures, the responses give"),
    ],
)
def test_what_contradicts_another_field_is_noticed(
    folder: Path, name: str, change: Callable[[Any], None], fault: str
) -> None:
    forge(folder, name, change)
    with pytest.raises(Difference, match=fault):
        verification.verify(folder)
