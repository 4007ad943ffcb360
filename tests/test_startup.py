"""Commands import slow libraries and task types only when they use them; web processes import task types at the start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SLOW = {
    *("numpy", "scipy", "pandas", "nltk", "statsmodels", "krippendorff", "sacrebleu", "rouge_score"),
    *("torch", "transformers", "onnxruntime", "tokenizers", "bert_score", "ray", "pyarrow", "jsonschema"),
}
"""Libraries that take more than 50 ms to import."""
LIBRARY = {
    "tableqa.operations",
    "tableqa.programs",
    "tableqa.agreement.coefficients",
    "tasks.contract",
    "httpx",
}
"""Modules that models and settings need only in methods; the imports of all commands pass through them."""
TASK_TYPES = {f"tasks.{file.parent.name}.task" for file in (ROOT / "tasks").glob("*/task.py")}

PRINT_HELP = """
import contextlib, io, json, sys
from django.core.management import ManagementUtility, get_commands

def modules_after(*arguments):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        ManagementUtility(["manage.py", *arguments]).execute()
    return sorted(set(sys.modules) & watched)

watched = set(json.loads(sys.argv[1]))
loaded = {name: modules_after(name) for name in ("version", "help")}
ours = sorted(name for name, app in get_commands().items() if app == "annotation")
loaded |= {name: modules_after(name, "--help") for name in ours}
print(json.dumps(loaded))
"""
START_WEB = """
import json, sys
import config.wsgi
print(json.dumps(sorted(set(sys.modules) & set(json.loads(sys.argv[1])))))
"""

COMPUTE_INTERVALS = """
import sys
from tableqa.quality_control.careless_responding import always_the_same
from tableqa.statistics.clustered_intervals import mean_over

always_the_same(["yes"] * 20, {"yes": 20, "no": 20})
mean_over([(20.0, 10), (40.0, 10)])
print("scipy" in sys.modules)
"""


START_READER = """
import json, sys
import tableqa.readers.worker_process
print(json.dumps(sorted({"yaml", "tableqa.programs", *json.loads(sys.argv[1])} & set(sys.modules))))
"""


def in_a_new_process(code: str, tmp_path: Path) -> str:
    environment = {**os.environ, "SECRET_KEY": "k" * 60, "ASKEW_DATA_DIR": str(tmp_path)}
    environment |= {"DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(sorted(SLOW | LIBRARY | TASK_TYPES))],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_help_of_every_command_imports_no_slow_library_and_no_task_type(tmp_path: Path) -> None:
    loaded = json.loads(in_a_new_process(PRINT_HELP, tmp_path))

    assert {"worker", "release", "study", "evaluate"} <= set(loaded)
    assert (loaded["version"], loaded["help"]) == ([], [])
    others = {name: set(modules) - LIBRARY for name, modules in loaded.items()}
    assert {name: modules for name, modules in others.items() if modules} == {}


def test_a_web_process_imports_all_task_types_before_its_first_request(tmp_path: Path) -> None:
    loaded = set(json.loads(in_a_new_process(START_WEB, tmp_path)))

    assert loaded >= TASK_TYPES
    assert loaded & SLOW == set()


def test_a_process_that_reads_files_imports_what_few_files_need_only_for_them(tmp_path: Path) -> None:
    assert json.loads(in_a_new_process(START_READER, tmp_path)) == ["tableqa.operations"]


def test_pages_with_intervals_and_chances_import_no_scipy(tmp_path: Path) -> None:
    assert in_a_new_process(COMPUTE_INTERVALS, tmp_path).strip() == "False"
