"""Names that say nothing about what they hold: counted in each file, and none may be added.

    .venv/bin/python -m tests.identifiers              names the functions with a name that is new
    .venv/bin/python -m tests.identifiers --record     takes files with fewer of them into the record

The names, and what to write instead, are in docs/wording.toml. A name counts once in each function, class and module that
assigns it, has it as a parameter, or defines or imports something under it; `_name` counts as `name`. tests/identifiers.toml
records the count of each file, which may only fall. The line of a file that moves is moved there by hand.
"""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.wording import ROOT

WORDING = ROOT / "docs" / "wording.toml"
RECORD = ROOT / "tests" / "identifiers.toml"
PACKAGES = ("annotation", "config", "predictor", "tableqa", "tasks")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Module)


class Use(NamedTuple):
    """A name to avoid in a function, a class or a module."""

    path: str
    line: int
    scope: str
    name: str
    is_public_parameter: bool


def names_to_avoid() -> Mapping[str, str]:
    """Each name, and what to write instead."""
    entries = tomllib.loads(WORDING.read_text(encoding="utf-8"))["identifier"]
    return {name: entry["write"] for entry in entries for name in entry["avoid"]}


def uses(root: Path, avoided: Mapping[str, str]) -> Iterator[Use]:
    """All uses in the product's Python; tests of task types and migrations are left out."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            relative = path.relative_to(root)
            if "migrations" not in relative.parts and path.stem != "tests":
                yield from uses_in(path.read_text(encoding="utf-8"), str(relative), avoided)


def uses_in(text: str, path: str, avoided: Mapping[str, str]) -> Iterator[Use]:
    """The uses in one module."""
    tree = ast.parse(text)
    for scope in (node for node in ast.walk(tree) if isinstance(node, SCOPES)):
        parameters = (
            {argument.arg for argument in _arguments(scope)} if isinstance(scope, FUNCTIONS) else set()
        )
        names = parameters | set(_assigned(scope))
        line, title = (1, "module") if isinstance(scope, ast.Module) else (scope.lineno, scope.name)
        for name in sorted(name for name in names if name.lstrip("_") in avoided):
            yield Use(path, line, title, name, not title.startswith("_") and name in parameters)


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[ast.arg]:
    arguments = function.args
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from filter(None, (arguments.vararg, arguments.kwarg))


def _assigned(node: ast.AST) -> Iterator[str]:
    """Names that a function, class or module assigns itself: not those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, SCOPES):
            if isinstance(child, FUNCTIONS):
                yield child.name
            continue
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif isinstance(child, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and child.name:
            yield child.name
        elif isinstance(child, ast.alias) and child.asname:
            yield child.asname
        elif isinstance(child, ast.Lambda):
            yield from (argument.arg for argument in _arguments(child))
        yield from _assigned(child)


def counts(of: Iterable[Use]) -> Counter[str]:
    """The number of uses by file."""
    return Counter(use.path for use in of)


def problems(now: Sequence[Use], recorded: Mapping[str, int], avoided: Mapping[str, str]) -> Iterator[str]:
    """What is new, and what the record has that is gone."""
    present = counts(now)
    for path, number in sorted(present.items()):
        if number > recorded.get(path, 0):
            yield f"{path}: {number} names that say nothing, {recorded.get(path, 0)} recorded. Rename the new ones:"
            yield from (
                f"  line {use.line}, {use.scope}: {use.name!r} -> {avoided[use.name.lstrip('_')]}"
                for use in now
                if use.path == path
            )
    for path, number in sorted(recorded.items()):
        if present[path] < number:
            yield f"{path}: fewer names than recorded. Run .venv/bin/python -m tests.identifiers --record"


def main(arguments: list[str]) -> int:
    """1 where a name is new, or the record is higher than it must be."""
    avoided = names_to_avoid()
    now = list(uses(ROOT, avoided))
    recorded = tomllib.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    present = counts(now)
    if arguments == ["--record"]:
        more = [path for path, count in present.items() if count > recorded.get(path, 0)]
        if recorded and more:
            print(f"There are more names than recorded in {', '.join(more)}. Rename the new ones.")
            return 1
        lines = (f'"{path}" = {number}\n' for path, number in sorted(present.items()))
        RECORD.write_text("# Written by tests/identifiers.py; counts only fall.\n" + "".join(lines), "utf-8")
        print(f"{sum(present.values())} names in {len(present)} files")
        return 0
    failures = list(problems(now, recorded, avoided))
    print("\n".join(failures) or f"{len(now)} names to replace, none new")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
