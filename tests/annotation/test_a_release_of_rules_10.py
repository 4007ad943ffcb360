"""A release that was made by rules 10, with cards and records of the format hf as they were then, verifies."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from annotation.releases import verification
from tableqa.core.canonical_json import digest
from tableqa.readers import READERS
from tableqa.releases import record_files, release_records

DIGEST = "97664326fd38565e80e6e47af71d4bfb3ce64952e5e46ffb8f0c4745e35e35b4"


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    with zipfile.ZipFile(Path(__file__).parent / "release_of_rules_10.zip") as packed:
        packed.extractall(tmp_path)
    return tmp_path


def test_it_keeps_its_digest_and_verifies(stored: Path) -> None:
    assert digest(release_records.read_manifest(stored)) == DIGEST
    checked = verification.verify(stored)
    assert (checked["files"], checked["decisions"], checked["croissant_not_compared"]) == (21, 3, 0)


@pytest.mark.parametrize(
    "name",
    ["hf/README.md", "hf/croissant.json", "hf/data/original/dev.jsonl", "hf/parquet/test.parquet"],
)
def test_each_file_of_it_is_protected_by_its_checksum(name: str, stored: Path) -> None:
    with (stored / name).open("ab") as file:
        file.write(b"\n")
    with pytest.raises(record_files.Difference, match=name):
        verification.verify(stored)


def test_its_records_are_read(stored: Path) -> None:
    examples = list(READERS["hf"](stored / "hf"))
    assert len(examples) == len(list(record_files.records(stored / "hf" / "data" / "test.jsonl")))
    assert {"row_shuffle", "sentence"} <= {
        example.meta["lineage"]["perturbation"] for example in examples if "lineage" in example.meta
    }
