"""A release that was made when its records were still all in memory: it verifies, and is made again byte for byte."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from statsmodels.stats import inter_rater

from annotation.releases import benchmark_files, mixes, raw_records, verification
from annotation.releases.manifest import Manifest, figures
from tableqa.core.canonical_json import digest
from tableqa.releases import former_wordings, release_records
from tableqa.releases.verification import describe, rules_of

KEPT = Path(__file__).parent / "release_of_november"
DIGEST = "18d8a297507d815031361a7a02d117b35eff219c6ed45a9063491c79b3a3e56d"


def test_an_older_release_keeps_its_digest_and_verifies() -> None:
    manifest = release_records.read_manifest(KEPT)
    assert digest(manifest) == DIGEST
    checked = verification.verify(KEPT)
    assert (checked["annotations"], checked["decisions"], checked["replayed"]) == (18, 9, 4)


def test_the_command_compares_alpha_with_the_package_krippendorff_and_needs_it_for_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verified = (
        "Consistent: 10 files, 18 annotations, 9 decisions, 4 tables replayed, 5 automatic perturbations recomputed, "
        "4 agreement figures recomputed.\n"
    )
    unsigned = "Not signed: nothing shows who made this release.\n"
    assert verify_release() == verified + unsigned

    monkeypatch.setitem(sys.modules, "krippendorff", None)

    assert verify_release() == verified + (
        "Krippendorff's alpha was not compared with a second opinion (2 figures), because the package krippendorff is "
        "not installed. To compare it: pip install krippendorff\n"
        f"{unsigned}"
    )


def test_without_the_package_krippendorff_kappa_is_still_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    monkeypatch.setattr(inter_rater, "fleiss_kappa", lambda *_, **__: 0.5)

    with pytest.raises(CommandError, match=r"fleiss_kappa .* is -0\.5; an independent package says 0\.5"):
        verify_release()


def verify_release() -> str:
    """The output of the command for the stored release."""
    output = io.StringIO()
    call_command("verify_release", str(KEPT), stdout=output)
    return output.getvalue()


def test_everything_that_follows_from_its_raw_records_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    manifest = release_records.read_manifest(KEPT)
    raw_files = (*release_records.RAW, "perturbations.jsonl")
    for name in raw_files:
        shutil.copy(KEPT / name, tmp_path / name)
    shutil.copy(KEPT / "manifest.json", tmp_path)
    # A release keeps its sentences; what is worked out again has them in today's wording.
    for figure in manifest["agreement"]:
        figure["note"] = former_wordings.note_of(figure["note"])
    statistics = [
        (figure["batch"], figure["measure"], figure["statistic"]) for figure in manifest["agreement"]
    ]
    with rules_of(tmp_path):
        raw = raw_records.load(tmp_path)
        benchmark_files.write_derived(raw, Manifest.of(manifest).every_format, manifest["mix"]["seed"])
        again = {
            "counts": raw.counts(),
            "agreement": figures(raw, statistics),
            "contradicted": raw.contradicted,
            "mix": mixes.summary(benchmark_files.compose_mixes(raw, 7), 7),
            "sources": [record for _, record in sorted(raw.sources.items())],
        }
        assert manifest["automatic"]["counts"] == release_records.perturbed_counts(raw)
    assert describe(tmp_path) == manifest["files"]
    assert {name: manifest[name] for name in again} == again
