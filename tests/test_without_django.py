"""The library and the models run without Django and without the platform: all modules are imported, and some are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

IMPORT_ALL = """
import importlib, pkgutil, sys

class ImportBlocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("django", "rest_framework", "annotation", "config"):
            raise ImportError(f"{name} is blocked", name=name)

sys.meta_path.insert(0, ImportBlocker())
count, missing = 0, set()
for package in sys.argv[1:]:
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        # What a release copies finds its library in the release alone.
        if not module.name.endswith("__main__") and ".harness." not in module.name:
            count += 1
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                missing.add(error.name)
assert missing <= {"torch", "transformers", "onnx", "ray"}, missing
"""

PERTURB = """
from pathlib import Path
from tableqa import Release
from tableqa.operations import replay
from tableqa.perturbations import instances
from tableqa.readers import READERS
assert count > 150, count
example = next(READERS["wtq"](Path("fixtures/wtq_related/excerpt.tsv")))
(instance, *_) = instances(example, ["row_shuffle"])
assert instance.is_made
assert Release.load("tests/annotation/release_of_november").verify()["replayed"] == 4
assert replay(example.table, instance.perturbed.operations) == instance.perturbed.example.table != example.table
"""

ANSWER = """
from pathlib import Path
from predictor import load_bundled
from predictor.architectures import load
from predictor.training.bundled import split
from tableqa.readers import READERS
assert count > 35, count
kept, held = split(list(READERS["wtq"](Path("fixtures/wtq_related/excerpt.tsv"))))
question, table = kept[0].question, kept[0].table
answers = [model.predict(question, table).answers for model in (load("predictor/bundled/weights"), load_bundled())]
assert answers[0] == answers[1] != ()
"""


@pytest.mark.parametrize(
    ("packages", "use"), [(["tableqa"], PERTURB), (["predictor"], ANSWER)], ids=["tableqa", "predictor"]
)
def test_a_package_runs_without_django(packages: list[str], use: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL + use, *packages],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
