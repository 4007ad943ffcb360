"""The upgrade of docs/operations.md, from a version with other translations: pages are in German afterwards."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.operations.web import served
from tests.plugin import ROOT

SECTION = "\n## 9. Upgrading without downtime\n"
UNUSED = ("tests/", "benchmarks/", "docs/")
"""Folders that no process of a site reads; leaving them out saves half of the time."""
NOT_HERE = ("git fetch", "backup", "collectstatic", "systemctl")
"""Steps that need an origin, people's data, half a minute, or systemd; they do not change the program."""


def steps() -> list[str]:
    section = (ROOT / "docs" / "operations.md").read_text("utf-8").partition(SECTION)[2].partition("\n## ")[0]
    commands = re.findall(r"^    (\S.*?)\s+# \d\.", section, re.MULTILINE)
    return [command for command in commands if not any(word in command for word in NOT_HERE)]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A clone of Askew, at a version before vX.Y: its .mo files were in the repository, without a translation."""
    folder = tmp_path / "askew"

    def git(*arguments: str) -> str:
        author = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        command = ["git", *author, *arguments]
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith(UNUSED):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "After")
    git("tag", "vX.Y")
    for po in folder.glob("locale/*/LC_MESSAGES/*.po"):
        po.with_suffix(".mo").write_bytes(b"")
    git("add", "--force", "locale")
    git("commit", "--quiet", "--message", "Before")
    (folder / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    return folder


def test_pages_are_in_german_after_the_documented_upgrade(program: Path, tmp_path: Path) -> None:
    assert [re.search(r"git checkout|migrate.*", step)[0] for step in steps()] == [  # type: ignore[index]
        "git checkout",
        "migrate --plan",
        "migrate",
    ]
    data = tmp_path / "data"
    data.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")} | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "k" * 60,
        "ASKEW_DATA_DIR": str(data),
        "DATABASE_URL": "",
    }
    for step in steps():
        done = subprocess.run(
            ["bash", "-c", step], cwd=program, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{step}\n{done.stdout}{done.stderr}"
        assert "annotation.W001" not in done.stderr

    with served(data, tree=program) as ask:
        status, page = ask("/sign-in/", **{"Accept-Language": "de"})
        assert status == 200
        assert '<html lang="de">' in page
        assert "Anmelden" in page
        (words,) = re.findall(r'src="(/words/de\.js\?v=\w+)"', page)
        assert "Abgeben" in ask(words)[1]
