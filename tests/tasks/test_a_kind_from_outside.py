"""The kind that docs/adding-a-task-type.md builds, installed as a package of its own: nothing of Askew is touched.

Its code is taken from the page, so the page cannot promise what does not work. It runs in processes of its own: a kind
is there from the start of a process or not at all.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "adding-a-task-type.md"


def files_of_the_page() -> dict[str, str]:
    """What stands under each heading that names a file."""
    found = {}
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE):
        heading, _, body = part.partition("\n")
        name = re.fullmatch(r"`([\w./]+)`", heading.strip())
        code = re.search(r"^```\w+\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL)
        if name and code:
            found[name[1]] = code[1]
    return found


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A folder of packages with `lab.difficulty` installed in it, entry point and all."""
    package = tmp_path / "packages" / "lab" / "difficulty"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    for name, text in files_of_the_page().items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("tasks.difficulty", "lab.difficulty"), encoding="utf-8")
    info = tmp_path / "packages" / "lab-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[askew.task_types]\ndifficulty = lab.difficulty.task:task\n", encoding="utf-8"
    )
    return tmp_path


def manage(lab: Path, *arguments: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(lab / "packages"),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "only for this test, and long enough to be one",
        "ASKEW_DATA_DIR": str(lab / "data"),
        "DATABASE_URL": "",
    }
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


PLAN = """
from django.utils import timezone
from annotation.journeys import assigning
from annotation.models import Project, Source
from tasks.contract import task_type
project = Project.objects.get()
batch = assigning.plan_batch(project=project, name="How hard", task=task_type("difficulty"), by=None,
                             now=timezone.now(), sample=assigning.Sample(sources=Source.objects.all(), size=5))
assigning.open_batch(batch=batch, by=None, now=timezone.now())
"""


def test_a_package_brings_a_kind_from_plan_to_verified_release(lab: Path) -> None:
    assert {"task.py", "templates/difficulty/form.html", "sample.json"} <= files_of_the_page().keys()
    manage(lab, "migrate", "--verbosity", "0")
    assert "No changes" in manage(lab, "makemigrations", "--check", "--dry-run")
    manage(lab, "create_project", "lab", "--name", "Lab", "--manager", "mara@example.org")
    questions = next((ROOT / "fixtures" / "wtq").glob("*.tsv"))
    manage(lab, "import_examples", "--project", "lab", "--reader", "wtq", str(questions))
    manage(lab, "shell", "-c", PLAN)
    said = manage(
        lab, "simulate", "--project", "lab", "--batch", "How hard", "--annotators", "3", "--seed", "1"
    )
    assert "5 items resolved" in said
    out = str(lab / "out")
    manage(
        lab,
        *("release", "--project", "lab", "--name", "v1", "--format", "askew"),
        *("--out", out, "--allow-simulated"),
    )
    manage(lab, "verify_release", out)
    assert (lab / "out" / "difficulty.json").is_file()
    figures = manage(lab, "agreement", "--project", "lab")
    assert "krippendorff_alpha_ordinal" in figures


def test_the_tests_of_every_kind_run_over_it(lab: Path) -> None:
    """With the page's own tests, in a process that has the package."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(lab / "packages"),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "tests/tasks/test_contract.py", "-q", "-k", "difficulty"),
            *("-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"),
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d\d+ passed", done.stdout), done.stdout
