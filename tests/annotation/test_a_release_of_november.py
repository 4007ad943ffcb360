"""A release that was made when its records were still all in memory: it verifies, and is made again byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

from annotation.releases import mixing, release_files, wordings
from tableqa.canonical import digest

KEPT = Path(__file__).parent / "release_of_november"
DIGEST = "18d8a297507d815031361a7a02d117b35eff219c6ed45a9063491c79b3a3e56d"


def test_an_older_release_keeps_its_digest_and_verifies() -> None:
    manifest = release_files.read_manifest(KEPT)
    assert digest(manifest) == DIGEST
    checked = release_files.verify(KEPT)
    assert (checked["annotations"], checked["decisions"], checked["replayed"]) == (18, 9, 4)


def test_everything_that_follows_from_its_raw_records_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    manifest = release_files.read_manifest(KEPT)
    raw_files = (*release_files.RAW, "perturbations.jsonl")
    for name in raw_files:
        shutil.copy(KEPT / name, tmp_path / name)
    raw = release_files.load(tmp_path, manifest["batches"])
    raw.rules = manifest.get("rules", 1)
    release_files.write_derived(raw, release_files.formats_of(manifest), manifest["mix"]["seed"])
    assert release_files.describe(tmp_path) == manifest["files"]
    # A release keeps its sentences; what is worked out again has them in today's wording.
    for figure in manifest["agreement"]:
        figure["note"] = wordings.note_of(figure["note"])
    again = {
        "counts": release_files.counted(raw),
        "agreement": release_files.figures(
            raw, [(one["batch"], one["measure"], one["statistic"]) for one in manifest["agreement"]]
        ),
        "contradicted": list(raw.contradicted.values()),
        "mix": mixing.summary(release_files.mixed(raw, 7), 7),
        "sources": [record for _, record in sorted(raw.sources.items())],
    }
    assert {name: manifest[name] for name in again} == again
    assert manifest["automatic"]["counts"] == release_files.perturbed_counts(raw)
