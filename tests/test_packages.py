"""The layout of the platform: few packages, and one name for each subject."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("annotation", "config", "predictor", "tableqa", "tasks")
SHARED = {"urls", "base", "formats", "task"}
"""Names that Django gives, and the module that each task type has."""


def modules(top: str) -> list[Path]:
    return [
        path
        for path in (ROOT / top).rglob("*.py")
        if path.stem not in ("__init__", "tests") and not {"migrations", "commands"} & set(path.parts)
    ]


def test_annotation_has_at_most_22_entries() -> None:
    entries = {path.relative_to(ROOT / "annotation").parts[0] for path in (ROOT / "annotation").rglob("*.*")}
    assert len(entries - {"__pycache__"}) <= 22


def test_tableqa_has_at_most_14_packages() -> None:
    assert len(list((ROOT / "tableqa").glob("*/__init__.py"))) <= 14


def test_no_module_repeats_the_name_of_its_package() -> None:
    repeating = [
        path for top in PRODUCT for path in modules(top) if path.stem in path.relative_to(ROOT).parts[:-1]
    ]
    assert repeating == []


def test_no_name_has_more_than_two_meanings() -> None:
    """A subject has one name in views, forms, API, its tables or options, and its own package."""
    subjects = {"views", "forms", "api", "models", "batch_options", "templatetags"}
    all_modules = (path for top in PRODUCT for path in modules(top))
    counted = Counter(path.stem for path in all_modules if path.parent.name not in subjects)
    assert {name for name, number in counted.items() if number > 2} - SHARED == set()


def test_annotation_names_no_task_type() -> None:
    """It uses what a task type declares (`tasks.contract`)."""
    task_types = sorted(path.parent.name for path in (ROOT / "tasks").glob("*/task.py"))
    name = re.compile(rf"\b({'|'.join(task_types)})\b")
    paths = [path for path in (ROOT / "annotation").rglob("*.py") if "migrations" not in path.parts]
    assert [f"{path}: {match}" for path in paths for match in name.findall(path.read_text("utf-8"))] == []
