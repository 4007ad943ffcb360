"""The verifier of its own: without Askew it finds the kept releases consistent, and names what it does not check."""

from __future__ import annotations

import ast
import json
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import pytest

from annotation.releases import signing
from tableqa.agreement.coefficients import agreement
from tableqa.core.canonical_json import digest

ROOT = Path(__file__).resolve().parents[1]
VERIFIER = ROOT / "verifier"
KEPT = Path(__file__).parent / "annotation"
WITHOUT_CRYPTOGRAPHY = (
    "import runpy, sys; sys.modules['cryptography'] = None; sys.argv.pop(0); "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


def verifier(*arguments: object, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the verifier outside the repository, where it cannot import Askew."""
    command = [sys.executable, *before, str(VERIFIER), *map(str, arguments)]
    return subprocess.run(command, cwd=VERIFIER.anchor, capture_output=True, text=True, check=False)


@pytest.fixture(params=["november", "rules_10", "rules_11"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name, folder = f"release_of_{request.param}", tmp_path / "kept"
    if (KEPT / name).is_dir():
        return Path(shutil.copytree(KEPT / name, folder))
    with zipfile.ZipFile(KEPT / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder


def test_it_is_short_and_imports_nothing_of_askew() -> None:
    files = sorted(VERIFIER.glob("*.py"))
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= 800
    imported = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).partition(".")[0])
    allowed = {*sys.stdlib_module_names, "numpy", "cryptography", *(path.stem for path in files)}
    assert imported <= allowed


def test_kept_releases_are_consistent_and_what_is_open_is_printed(kept: Path) -> None:
    done = verifier(kept)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("Consistent: ")
    assert "counts.contradicted (1)" in done.stdout
    assert "whether the records are those that people made" in done.stdout
    assert done.stdout.endswith("Not signed: nothing shows who made this release.\n")


def test_a_changed_byte_and_a_file_that_is_no_release_are_differences(kept: Path, tmp_path: Path) -> None:
    path = kept / "annotations.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"newest":true', b'"newest":none', 1))

    for folder, fault in ((kept, "annotations.jsonl: is not the file"), (tmp_path, "is not a release")):
        done = verifier(folder)
        assert done.returncode == 1
        assert fault in done.stdout


def test_a_signature_is_checked_with_the_package_and_without_it_the_status_says_so(
    kept: Path, tmp_path: Path, settings: Any
) -> None:
    settings.SIGNING_KEY = key = tmp_path / "signing.key"
    old = signing.create(key)
    new = signing.rotate(key)
    signing.sign(kept, digest(json.loads((kept / "manifest.json").read_bytes())))
    other = tmp_path / "other.key"
    signing.create(other)

    for arguments, status, text in (
        ([], 0, f"Signed by unknown key {new}."),
        (["--key", signing.public_file(key)], 0, f"Verified: signed by {new}."),
        (["--key", old], 0, f"Verified: signed by {new}."),
        (["--key", signing.public_file(other)], 1, f"signed by unknown key {new}"),
    ):
        done = verifier(kept, *arguments)
        assert (done.returncode, text in done.stdout) == (status, True), done.stdout
    done = verifier(kept, before=("-c", WITHOUT_CRYPTOGRAPHY))
    assert done.returncode == 3
    assert "signature not checked" in done.stdout
    path = kept / "signature.json"
    path.write_text(path.read_text().replace('"signature":"', '"signature":"00'))
    assert verifier(kept).returncode == 1


def test_agreement_is_that_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(VERIFIER))
    statistics = runpy.run_path(str(VERIFIER / "figures.py"))["STATISTICS"]
    random = Random(43)
    for number in range(60):
        values: list[Any] = ["a", "b", "c"] if number % 2 else [1, 2, 3, 5]
        units = [
            [random.choice(values) for _ in range(random.randint(1, 4))] for _ in range(random.randint(2, 9))
        ]
        ratings = [[*unit, *[None] * (4 - len(unit))] for unit in units]
        for name, compute in statistics.items():
            if number % 2 and name.endswith(("ordinal", "interval")):
                continue
            expected = agreement(ratings, name).value
            assert compute(units) == (expected if expected is None else pytest.approx(expected, abs=1e-9)), (
                name,
                units,
            )
