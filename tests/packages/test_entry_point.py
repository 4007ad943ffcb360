"""The command `askew` of an installed platform, run from a folder that is laid out as the wheel lays it out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BESIDE = (
    "annotation",
    "config",
    "fixtures",
    "locale",
    "predictor",
    "static",
    "tableqa",
    "tasks",
    "templates",
)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of packages with askew/ in it; modules are links to those of the repository."""
    folder = tmp_path / "packages"
    shutil.copytree(ROOT / "packages" / "platform", folder / "askew")
    for name in ("run", "manage.py"):
        shutil.copy(ROOT / name, folder / "askew" / name)
    for name in BESIDE:
        (folder / "askew" / name).symlink_to(ROOT / name)
    return folder


def askew(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in an empty folder beside the packages."""
    empty = installed.parent / "empty"
    empty.mkdir(exist_ok=True)
    dropped = ("ASKEW_DATA_DIR", "DATABASE_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    return subprocess.run(
        [sys.executable, "-m", "askew", *arguments],
        cwd=empty,
        env={**environment, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_command_reads_a_file_named_from_the_current_folder(installed: Path) -> None:
    shutil.copytree(ROOT / "tests/annotation/release_of_november", installed.parent / "empty" / "release")

    done = askew(installed, "manage", "verify_release", "release")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Consistent: 10 files")


def test_data_are_below_the_current_folder_and_the_key_is_explained(installed: Path) -> None:
    done = askew(installed, "manage", "migrate")

    assert done.returncode == 1
    assert done.stderr.startswith("askew: SECRET_KEY is not set")
    assert f"{installed.parent}/empty/askew-data/secret_key" in done.stderr
    assert "Run askew demo" in done.stderr


@pytest.mark.parametrize("command", ["demo", "predictor"])
def test_help_names_the_command_as_it_is_typed(installed: Path, command: str) -> None:
    done = askew(installed, command, "--help")

    assert done.stdout.startswith(f"usage: askew {command} [-h]"), done.stderr


def test_a_message_of_the_platform_names_the_command_as_it_is_typed(installed: Path) -> None:
    done = askew(installed, "manage", "prepare_demo", "--help")

    assert "Prepare askew demo" in done.stdout, done.stderr


@pytest.mark.parametrize(("arguments", "status"), [((), 2), (("test",), 2), (("--help",), 0)])
def test_other_words_are_answered_with_the_commands(
    installed: Path, arguments: tuple[str, ...], status: int
) -> None:
    done = askew(installed, *arguments)

    assert done.returncode == status
    assert "askew demo [--port N]" in done.stdout


def test_the_version_is_the_same_in_all_places() -> None:
    stated = {yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"]}
    for folder in (ROOT, ROOT / "packages" / "library"):
        stated.add(tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["version"])

    assert len(stated) == 1


def test_every_folder_of_the_program_is_in_the_wheel() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    assert {*BESIDE, "run", "manage.py", "gunicorn.conf.py"} <= {*build["targets"]["wheel"]["only-include"]}
