"""Every table, column of text or JSON, cache and folder is in the inventory, which says what becomes of it."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection, models

from annotation import doctor, inventory
from annotation.models import Project

ROOT = Path(inventory.__file__).resolve().parents[1]
LONG = 120
"""Characters of a column that can hold a sentence; shorter ones hold keys and short names."""


def columns(text: str) -> Iterator[str]:
    """Columns that an entry names: "table.one,two three.four"."""
    for part in text.split():
        table, _, names = part.partition(".")
        yield from (f"{table}.{name}" for name in names.split(","))


def fates() -> Iterator[str]:
    """Every column of every entry, as often as it is named."""
    for entry in inventory.ENTRIES.values():
        yield from entry.get("replaced", {})
        yield from columns(entry.get("deleted", ""))
        for named in entry.get("stays", {}).values():
            yield from columns(named)


def is_text(field: models.Field[object, object]) -> bool:
    if isinstance(field, models.JSONField | models.TextField):
        return True
    long = isinstance(field, models.CharField) and (field.max_length or 0) >= LONG
    return long and not field.choices


def test_every_table_is_in_one_entry(db: None) -> None:
    own = {"django_migrations", "askew_writable"}
    there = {model._meta.db_table for model in apps.get_models(include_auto_created=True)} | own
    with connection.cursor() as cursor:
        assert set(connection.introspection.table_names(cursor)) <= there

    named = Counter(inventory.names("tables"))

    assert {table.removeprefix("annotation_") for table in there} == set(named)
    assert set(named.values()) == {1}


def test_every_column_of_text_or_json_is_replaced_deleted_or_stays_for_a_reason() -> None:
    there = {
        f"{model._meta.db_table.removeprefix('annotation_')}.{field.name}"
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.local_fields
        if is_text(field)
    }
    named = Counter(fates())

    assert there - set(named) == set(), "say in inventory.toml what erasing does with them"
    assert {column for column, number in named.items() if number > 1} == set()
    for column in named:
        table, name = column.split(".")
        assert inventory.model_of(table)._meta.get_field(name), column


def test_what_is_replaced_leads_to_its_project() -> None:
    for column, path in inventory.REPLACED.items():
        model = inventory.model_of(column.partition(".")[0])
        for step in path.split("__") if path else ():
            model = model._meta.get_field(step).related_model  # type: ignore[assignment]
        assert not path or model is Project, column


def test_every_reason_and_every_key_of_an_entry_is_defined() -> None:
    reasons = tomllib.loads(Path(inventory.__file__).with_suffix(".toml").read_text())["reasons"]
    known = {"tables", "replaced", "deleted", "stays", "folders", "rebuilt", "caches", "checks"}

    for subject, entry in inventory.ENTRIES.items():
        assert entry.keys() <= known, subject
        assert set(entry.get("stays", {})) <= reasons.keys(), subject


def test_every_folder_below_the_data_folder_is_in_one_entry() -> None:
    named = Counter(name for kind in ("folders", "rebuilt") for name in inventory.names(kind))
    found = set()
    for path in [*ROOT.glob("annotation/**/*.py"), *ROOT.glob("config/**/*.py")]:
        source = path.read_text("utf-8")
        found |= set(re.findall(r'MEDIA_ROOT\)? / "(\w+)"', source))
        found |= set(re.findall(r'upload_to="(\w+)/?"', source))

    assert found == {name for name in named if "*" not in name}
    assert set(named.values()) == {1}


def caching(path: Path) -> bool:
    """Whether a module holds on to what it computed: a cached function, or a store at its top."""
    source = path.read_text("utf-8")
    if not re.search(r"\bcache\b|lru_cache|Kept|OrderedDict|LRUCache", source):
        return False  # parsing all modules takes seconds
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if name in ("cache", "lru_cache"):
                    return True
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            annotation = ast.unparse(node.annotation)
            if annotation.startswith(("Kept[", "OrderedDict[", "LRUCache[")):
                return True
    return False


def test_every_module_that_caches_is_in_an_entry() -> None:
    found = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in ("annotation", "tasks/common", "tasks/contract")  # a task type is one folder
        for path in ROOT.glob(f"{folder}/**/*.py")
        if caching(path)
    }

    assert found == set(inventory.names("caches"))


@pytest.mark.parametrize(
    ("source", "caches"),
    [
        ("@functools.cache\ndef f(): ...", True),
        ("@lru_cache(maxsize=3)\ndef f(): ...", True),
        ("_last: OrderedDict[str, int] = OrderedDict()", True),
        ("@cached_property\ndef f(self): ...", False),
    ],
)
def test_a_new_cache_is_noticed(tmp_path: Path, source: str, caches: bool) -> None:
    (tmp_path / "new.py").write_text(source)
    assert caching(tmp_path / "new.py") is caches


def test_the_doctor_makes_the_checks_of_the_entries_and_no_others() -> None:
    checks = {
        name
        for name, function in vars(doctor).items()
        if inspect.isfunction(function)
        and function.__annotations__.get("return") == "Iterator[str]"
        and not function.__annotations__.keys() - {"now", "return"}
    }
    called = set(re.findall(r"\*(_\w+)\(", inspect.getsource(doctor.findings)))

    assert checks == called == set(inventory.names("checks"))
