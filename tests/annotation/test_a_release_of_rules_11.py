"""A release that was made by rules 11, with the intervals and the code of a runnable benchmark of then, verifies."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from annotation.releases import raw_records, verification
from annotation.releases.manifest import figures
from tableqa.releases import record_files, release_records
from tableqa.releases.release_records import MANIFEST


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    with zipfile.ZipFile(Path(__file__).parent / "release_of_rules_11.zip") as packed:
        packed.extractall(tmp_path)
    return tmp_path


def test_it_verifies_with_its_percentile_intervals(stored: Path) -> None:
    checked = verification.verify(stored)
    assert (checked["annotations"], checked["croissant_not_compared"]) == (9, 0)

    claimed = [figure for figure in release_records.read_manifest(stored)["agreement"] if figure["units"]]
    by_these_rules = [figure for figure in figures(raw_records.load(stored)) if figure["units"]]
    assert [figure["value"] for figure in claimed] == [figure["value"] for figure in by_these_rules]
    assert all(before["low"] != after["low"] for before, after in zip(claimed, by_these_rules, strict=True))


def test_an_interval_by_later_rules_is_noticed(stored: Path) -> None:
    manifest = release_records.read_manifest(stored)
    figure = next(figure for figure in manifest["agreement"] if figure["units"])
    figure["low"] = figure["exact"]["low"] = -0.5
    (stored / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(record_files.Difference, match=r"low is -0\.5"):
        verification.verify(stored)
