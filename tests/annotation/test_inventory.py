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

from annotation.management import doctor
from annotation.models import Project
from annotation.platform import inventory

ROOT = Path(inventory.__file__).resolve().parents[2]
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
    known = {
        "tables",
        "replaced",
        "deleted",
        "stays",
        "folders",
        "rebuilt",
        "caches",
        "checks",
        "file_checks",
    }

    for subject, entry in inventory.ENTRIES.items():
        assert entry.keys() <= known, subject
        assert set(entry.get("stays", {})) <= reasons.keys(), subject


def folders(source: str) -> Iterator[str]:
    """The folders that a module names below the data folder: joined to it, or to a variable that holds it.

    "?" stands for a part that is no text of the module.
    """
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    values: dict[str, ast.expr] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                values.setdefault(ast.unparse(target), node.value)
        elif isinstance(node, ast.FunctionDef):
            returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
            values |= {f"{node.name}()": value for value in returned}

    def is_root(node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        text = ast.unparse(node)
        if text.endswith("MEDIA_ROOT"):
            return True
        if isinstance(node, ast.Call) and text.startswith(("Path(", "str(")) and node.args:
            return is_root(node.args[0], seen)
        return text in values and text not in seen and is_root(values[text], seen | {text})

    def first_part(node: ast.expr) -> str:
        if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
            node = node.values[0]
        if isinstance(node, ast.Name) and node.id in values:
            node = values[node.id]
        return str(node.value).split("/")[0] if isinstance(node, ast.Constant) else "?"

    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and is_root(node.left):
            yield first_part(node.right)
        elif isinstance(node, ast.Call):
            of, arguments = getattr(node.func, "value", node.func), node.args
            called = ast.unparse(node.func)
            if called.endswith((".joinpath", ".glob", ".rglob")) and is_root(of) and arguments:
                yield first_part(arguments[0])
            elif called.endswith("path.join") and is_root(arguments[0]):
                yield first_part(arguments[1])
            elif called.endswith(("default_storage.save", "FileSystemStorage")):
                yield "?"
            yield from (first_part(word.value) for word in node.keywords if word.arg == "upload_to")


ANY_FOLDER = {"annotation.management.backup", "annotation.management.doctor"}
"""Modules that go to folders which others name: in all of the data folder, and where evaluations lie."""


def test_every_folder_below_the_data_folder_is_in_one_entry() -> None:
    named = Counter(name for kind in ("folders", "rebuilt") for name in inventory.names(kind))
    found = set()
    for path in modules("annotation", "config"):
        source = path.read_text("utf-8")
        if not re.search(r"MEDIA_ROOT|upload_to|default_storage|FileSystemStorage", source):
            continue  # parsing all modules takes seconds
        of_module = set(folders(source))
        found |= of_module - ({"?", "*"} if dotted(path) in ANY_FOLDER else set())

    assert found == {name for name in named if "*" not in name}
    assert set(named.values()) == {1}
    settings = (ROOT / "config/settings.py").read_text("utf-8")
    assert set(re.findall(r"DATA_DIR / [\"'](.+?)[\"']", settings)) == {"askew.sqlite3", "media", "static"}


@pytest.mark.parametrize(
    ("source", "folder"),
    [
        ('(Path(settings.MEDIA_ROOT) / "thumbs").mkdir()', "thumbs"),
        ('root = Path(settings.MEDIA_ROOT)\n(root / "thumbs" / name).mkdir()', "thumbs"),
        (
            'def f():\n    media = settings.MEDIA_ROOT\n    root = Path(media)\n    root.joinpath("thumbs")',
            "thumbs",
        ),
        ('def root():\n    return Path(settings.MEDIA_ROOT)\n(root() / "thumbs").mkdir()', "thumbs"),
        ('NAME = "thumbs"\nPath(settings.MEDIA_ROOT) / NAME', "thumbs"),
        ('Path(settings.MEDIA_ROOT) / f"thumbs/{name}"', "thumbs"),
        ('os.path.join(settings.MEDIA_ROOT, "thumbs", name)', "thumbs"),
        ('models.ImageField(upload_to="thumbs/")', "thumbs"),
        ("models.ImageField(upload_to=name_of)", "?"),
        ("Path(settings.MEDIA_ROOT) / name", "?"),
        ('default_storage.save("thumbs/1", file)', "?"),
    ],
)
def test_a_new_folder_is_noticed(source: str, folder: str) -> None:
    assert set(folders(source)) == {folder}


def modules(*packages: str) -> Iterator[Path]:
    for package in packages:
        for path in ROOT.glob(f"{package}/**/*.py"):
            if "migrations" not in path.parts and not path.name.startswith("test"):
                yield path


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


CHANGES = re.compile(
    "(add|append|extend|insert|setdefault|update|pop|move|clear|discard|remove)(left|item|_to_end)?"
)
"""Methods that change a dict, list or set."""
CACHES = ("OrderedDict[", "LRUCache[")


def caching(source: str) -> bool:
    """Whether a module holds on to what it computed: a cached function, or a store at its top that functions change."""
    tree = ast.parse(source)
    targets = [
        target
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    stores = {target.id for target in targets if isinstance(target, ast.Name)}
    code = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(
        changes(node, stores if isinstance(statement, code) else set())
        for statement in tree.body
        for node in ast.walk(statement)
    )


def changes(node: ast.AST, stores: set[str]) -> bool:
    """Whether a part of a function changes a name at the top of its module, or is a function whose results are kept."""
    if isinstance(node, ast.Global):
        return True
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ast.unparse(node.annotation).startswith(CACHES)
    if isinstance(node, ast.ClassDef):
        return any(ast.unparse(base).startswith(CACHES) for base in node.bases)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        called = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
        return any(ast.unparse(one).rpartition(".")[2] in ("cache", "cached", "lru_cache") for one in called)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return isinstance(node.value, ast.Name) and node.value.id in stores
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and CHANGES.fullmatch(node.func.attr)
    ):
        return isinstance(node.func.value, ast.Name) and node.func.value.id in stores
    return False


def test_every_module_that_caches_is_in_an_entry() -> None:
    packages = ("annotation", "config", "tableqa", "predictor", "tasks/shared", "tasks/contract")
    found = {dotted(path) for path in modules(*packages) if caching(path.read_text("utf-8"))}

    assert found == set(inventory.names("caches"))  # a task type is one folder, with what it caches


@pytest.mark.parametrize(
    ("source", "caches"),
    [
        ("@functools.cache\ndef f(): ...", True),
        ("@lru_cache(maxsize=3)\ndef f(): ...", True),
        ("_last: OrderedDict[str, int] = OrderedDict()", True),
        ("@cached(LRUCache(3))\ndef f(): ...", True),
        ("class A:\n    def f(self):\n        self.last: LRUCache[str, int] = LRUCache(3)", True),
        ("class A(LRUCache[str, int]):\n    last = 1", True),
        ("_last = {}\ndef f(key):\n    _last[key] = 1", True),
        ("_last: dict[str, int] = {}\ndef f(key):\n    return _last.setdefault(key, 1)", True),
        ("_seen = set()\nclass A:\n    def f(self, key):\n        _seen.add(key)", True),
        ("_last = None\nasync def f(key):\n    global _last\n    _last = key", True),
        ("NAMES = {'a': 1}\ndef f(key):\n    return NAMES[key]", False),
        ("def f(key):\n    names = {}\n    names[key] = 1", False),
        ("@cached_property\ndef f(self): ...", False),
    ],
)
def test_a_new_cache_is_noticed(source: str, caches: bool) -> None:
    assert caching(source) is caches


def test_the_doctor_makes_the_checks_of_the_entries_and_no_others() -> None:
    checks = {
        name
        for name, function in vars(doctor).items()
        if inspect.isfunction(function)
        and function.__annotations__.get("return") == Iterator[str]
        and function.__annotations__.keys() == {"return"}
    }

    assert checks == {*inventory.names("checks"), *inventory.names("file_checks")}
