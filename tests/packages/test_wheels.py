"""The wheels as people get them: built from the repository, installed into empty environments, used from an empty folder.

Building and installing cost minutes and an index of packages, so the tests are slow. The command and its messages are tested
in test_entry_point.py, the library without other packages in tests/test_without_django.py.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import urllib.request
import zipfile
from itertools import takewhile
from pathlib import Path

import pytest

from tests.plugin import missing

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
INSIDE = (
    "annotation/",
    "config/",
    "fixtures/",
    "locale/",
    "predictor/",
    "static/",
    "tableqa/",
    "tasks/",
    "templates/",
)
FILES = ("gunicorn.conf.py", "manage.py", "run")


def uv() -> str:
    """The program that builds and installs."""
    path = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if path is None:
        missing("no uv: ./run test installs it")
    return str(path)


def python(version: str) -> str:
    """A Python of this version that runs; the test is skipped without one."""
    candidates = [
        shutil.which(f"python{version}"),
        *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    ]
    for candidate in filter(None, candidates):
        if subprocess.run([candidate, "--version"], capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.skip(f"no Python {version}")


def variables() -> dict[str, str]:
    """The environment of a person who has set nothing."""
    left_out = ("ASKEW_DATA_DIR", "DATABASE_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def run(*arguments: str | Path, folder: Path = ROOT) -> str:
    """What a program prints; a failure is shown."""
    done = subprocess.run(
        list(map(str, arguments)),
        cwd=folder,
        env=variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel of each distribution."""
    folder = tmp_path_factory.mktemp("wheels")
    for source in (ROOT, ROOT / "packages" / "library"):
        run(uv(), "build", "--wheel", "--out-dir", folder, source)
    return {path.name.partition("-")[0]: path for path in folder.glob("*.whl")}


def environment(folder: Path, version: str, *packages: str | Path) -> Path:
    """The folder of programs of a new environment with these packages, of the versions that the platform pins."""
    run(uv(), "venv", "--python", python(version), folder)
    run(uv(), "pip", "install", "--python", folder / "bin/python", "-c", ROOT / "requirements.txt", *packages)
    return folder / "bin"


def expected_files() -> set[str]:
    """The tracked files that a site reads."""
    tracked = run("git", "ls-files").splitlines()
    return {
        name
        for name in tracked
        if (name.startswith((*INSIDE, "docs/pictures/workbench/")) or name in FILES)
        and not name.endswith((".po", "wordnet/make.py"))
        and not (name.startswith("tasks/") and name.endswith("/tests.py"))
    }


def test_the_platform_has_all_its_files_below_one_name(wheels: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(wheels["askew"]).namelist())
    inside = {name.removeprefix("askew/") for name in names if name.startswith("askew/")}

    assert {name.partition("/")[0] for name in names} == {"askew", "askew-0.1.0.dist-info"}
    assert inside >= expected_files()
    assert {"locale/de/LC_MESSAGES/django.mo", "predictor/bundled/weights/model.onnx"} <= inside
    added = {name for name in inside - expected_files() if not name.startswith("bundles")}
    assert all(name.endswith(".mo") or name in ("__init__.py", "__main__.py") for name in added), added
    if shutil.which("node") and (ROOT / "node_modules" / "rolldown").is_dir():
        assert "bundles.json" in inside


def test_the_library_has_all_its_files_and_nothing_else(wheels: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(wheels["askew_tableqa"]).namelist())

    assert {name.partition("/")[0] for name in names} == {"tableqa", "askew_tableqa-0.1.0.dist-info"}
    assert {name for name in names if name.startswith("tableqa/")} >= {
        name for name in expected_files() if name.startswith("tableqa/")
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_the_demo_starts_from_an_empty_folder(wheels: dict[str, Path], version: str, tmp_path: Path) -> None:
    programs = environment(tmp_path / "environment", version, wheels["askew"])
    empty = tmp_path / "empty"
    empty.mkdir()

    demo = subprocess.Popen(
        [programs / "askew", "demo", "--port", "0"],
        cwd=empty,
        env=variables(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert demo.stdout is not None
        lines = list(takewhile(lambda line: line != "Press Ctrl-C to stop.", map(str.rstrip, demo.stdout)))
        address = lines[0].removeprefix("Ready: ")
        link = next(line.split()[-1] for line in lines if "manager" in line)
        for url in (address, link):
            with urllib.request.urlopen(url, timeout=20) as page:
                assert page.status == 200
                assert b"askew/askew.css" in page.read()
        with urllib.request.urlopen(f"{address}static/askew/askew.css", timeout=20) as style:
            assert style.status == 200
    finally:
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(timeout=30) == 0

    assert [path.name for path in empty.iterdir()] == ["askew-data"]
    assert "No inconsistencies." in run(programs / "askew", "manage", "doctor", folder=empty)
    (packages,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    assert not {"annotation", "config", "fixtures", "static", "tableqa", "tasks", "templates"} & {
        path.name for path in packages.iterdir()
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_the_library_is_imported_quickly_and_alone(
    wheels: dict[str, Path], version: str, tmp_path: Path
) -> None:
    programs = environment(
        tmp_path / "environment", version, f"askew-tableqa @ {wheels['askew_tableqa'].as_uri()}"
    )
    code = (
        "import sys, time; start = time.process_time(); import tableqa; from tableqa import fleiss_kappa, Table; "
        "seconds = time.process_time() - start; from tableqa.readers import READERS; "
        "assert not {'django', 'numpy', 'pandas'} & set(sys.modules); print(seconds)"
    )
    run(programs / "python", "-c", code, folder=tmp_path)

    assert float(run(programs / "python", "-c", code, folder=tmp_path)) < 0.5
