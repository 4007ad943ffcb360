"""The task type that docs/adding-a-task-type.md builds: in a copy of the tree, and installed as a package of its own.

Its files and commands are taken from the page, so the page cannot promise what does not work. They run in processes of
their own: a task type is there from the start of a process or not at all.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tableqa import Example
from tasks.contract import InvalidResponse, Item

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "adding-a-task-type.md"


def sections() -> dict[str, str]:
    """The text under each heading of the page."""
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {heading.strip(): body for heading, _, body in (part.partition("\n") for part in parts)}


def files_of_the_page() -> dict[str, str]:
    """What stands under each heading that names a file."""
    found = {}
    for heading, body in sections().items():
        name = re.fullmatch(r"`([\w./]+)`", heading)
        code = re.search(r"^```\w+\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL)
        if name and code:
            found[name[1]] = code[1]
    return found


def write_files(folder: Path, *, module: str = "tasks.difficulty") -> None:
    """The folder of the page, as a package."""
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    for name, text in files_of_the_page().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("tasks.difficulty", module), encoding="utf-8")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the repository with the folder of the page in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    copy = tmp_path / "tree"
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith(NOT_COPIED):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    (copy / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    subprocess.run(["git", "init", "-q"], cwd=copy, check=True)
    write_files(copy / "tasks" / "difficulty")
    return copy


NOT_COPIED = ("tests/annotation/release_of_november/", "docs/pictures/", "benchmarks/")


def test_the_page_passes_its_own_test_command(tree: Path) -> None:
    """A newcomer follows it to the letter: the files, then each command. No other file is edited by hand."""
    commands = re.findall(r"^    (\./run .+)$", sections()["Test it"], flags=re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["manage", "test"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "CI"))}
    for command in commands:
        done = subprocess.run(
            shlex.split(command),
            cwd=tree,
            env={**kept, "ASKEW_DATA_DIR": str(tree.parent / "data"), "SECRET_KEY": ""},
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    assert re.search(r"\d\d+ passed", done.stdout), done.stdout
    assert "| `difficulty` |" in (tree / "docs" / "reference" / "kinds.md").read_text("utf-8")


def test_the_page_does_the_same_with_declared_fields() -> None:
    """The second `task.py` of the page reads and refuses the same responses."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", sections()["Declared fields"], re.MULTILINE | re.DOTALL)
    module = types.ModuleType("declared_difficulty")
    sys.modules[module.__name__] = module
    exec(code, module.__dict__)
    sample = json.loads(files_of_the_page()["sample.json"])
    items = [Item(Example.from_dict(item["example"])) for item in sample["items"]]
    for good in sample["good"]:
        assert module.task.parse(good["data"], items[good["item"]]).level == good["data"]["level"]
    for bad in sample["bad"]:
        with pytest.raises(InvalidResponse) as invalid:
            module.task.parse(bad["data"], items[bad["item"]])
        assert set(bad["codes"]) <= {problem.code for problem in invalid.value.problems}
    rng = random.Random(1)
    assert module.task.simulate(items[0], rng, 0.8, rng)["level"] in ("easy", "medium", "hard")
    (exported,) = module.task.export("askew", items[0], module.Response("hard"), None)
    assert exported.record["level"] == "hard"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A folder of packages with `lab.difficulty` installed in it, entry point and all."""
    package = tmp_path / "packages" / "lab" / "difficulty"
    write_files(package, module="lab.difficulty")
    (package.parent / "__init__.py").touch()
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
from annotation.workflow import batches as assigning
from annotation.models import Project, Source
from tasks.contract import task_type
project = Project.objects.get()
batch = assigning.plan_batch(project=project, name="How hard", task=task_type("difficulty"), by=None,
                             now=timezone.now(), sample=assigning.Sample(sources=Source.objects.all(), size=5))
assigning.open_batch(batch=batch, by=None, now=timezone.now())
"""


@pytest.mark.slow
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
    assert (lab / "out" / "difficulty.jsonl").is_file()
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
