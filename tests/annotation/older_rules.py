"""Releases as older versions made them: the same records, with the benchmark files by their rules.

Without files of the format hf: a stored release has those of rules 10 (`test_a_release_of_rules_10`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotation.releases import benchmark_files, raw_records
from annotation.releases.manifest import Manifest, figures
from tableqa.core.release_rules import under
from tableqa.releases import release_records
from tableqa.releases.release_records import CURRENT_COUNTS
from tableqa.releases.verification import describe
from tableqa.writers import hub


def made_by_rules(folder: Path, rules: int) -> dict[str, Any]:
    """Make a release one of older rules, and give its manifest."""
    manifest = release_records.read_manifest(folder)
    formats = Manifest.of(manifest).every_format
    for name in manifest["files"]:
        if Manifest.of(manifest).format_of(name):
            (folder / name).unlink()
    if rules < 7:
        manifest["counts"] = {name: n for name, n in manifest["counts"].items() if name not in CURRENT_COUNTS}
    if rules < 9:
        manifest.pop("unverified", None)
    if rules < 11:
        without_history(folder, manifest)
    manifest["rules"] = rules
    _write(folder, manifest)
    mix = manifest["mix"]
    with under(rules):
        raw = raw_records.load(folder)
        if rules < 12:
            manifest["agreement"] = agreement_again(raw, manifest)
        benchmark_files.write_derived(raw, formats, mix and mix["seed"])
    manifest["files"] = describe(folder)
    _write(folder, manifest)
    return manifest


def agreement_again(raw: raw_records.Raw, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The figures of the manifest with intervals by the rules that count here, and without what those did not have."""
    again = {(each["batch"], each["measure"], each["statistic"]): each for each in figures(raw, exact=True)}
    return [
        {name: again[each["batch"], each["measure"], each["statistic"]][name] for name in each}
        for each in manifest["agreement"]
    ]


def without_history(folder: Path, manifest: dict[str, Any]) -> None:
    """Take away what releases have from rules 11 on."""
    for name in ("title", "name", "number", "dates", "predecessor", "changes", "prompts"):
        manifest.pop(name, None)
    (folder / hub.CITATION).unlink()


def _write(folder: Path, manifest: dict[str, Any]) -> None:
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
