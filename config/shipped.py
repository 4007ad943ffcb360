"""Our scripts and style sheets as a site ships them: without comments, and the workbench's modules in one file.

Nothing is renamed or rewritten within a line, so that what is shipped does what was tested. It relies on how our modules are
written, and refuses those that are not: one `import {...} from "...";` or `export` a line, at its beginning; comments of
whole lines; no text over several lines; no circles (`tests/test_shipped.py`).

    files = {"askew/grid.js": "...", "value_change/form.js": "...", ...}
    shipped(files)      the same names, and WORKBENCH

WORKBENCH holds every module that the scripts of ENTRIES import, each as a function with what it exports. A module in it
becomes a line that exports the same from there, and whoever imports one imports from WORKBENCH: each module is there once.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

WORKBENCH = "askew/workbench.js"
ENTRIES = ("askew/grid.js", "askew/annotate.js")
"""The scripts of a page of annotating; the last one begins, when the elements of a kind are there."""

IMPORT = re.compile(r'^import (?:\{ ?([^}]*?) ?\} from )?"(\.[^"]*)";$', re.MULTILINE)
TRAILING = re.compile(r"^([^\"'`/]*[;,{(\]]) // .*$")
"""A comment behind code without texts and patterns, in which two slashes may be something else."""
EXPORT = re.compile(r"^export (?:(?:async )?(?:function|class|const) (\w+)|\{ ?([^}]*?) ?\};$)", re.MULTILINE)


class Unshippable(ValueError):
    """A script that is not written as ours are; the message names file and line."""


def shipped(files: Mapping[str, str]) -> dict[str, str]:
    """Scripts (`.js`) and style sheets by their names as a site ships them. Raises Unshippable."""
    light = {name: bare(name, text) for name, text in files.items()}
    scripts = {name: text for name, text in light.items() if name.endswith(".js")}
    inside = [name for name in needed(scripts, ENTRIES) if name != ENTRIES[-1]]
    if not inside:
        return light
    light[WORKBENCH] = together({name: scripts[name] for name in inside})
    for name, text in scripts.items():
        if name in inside:
            exports = ", ".join(f"{outer(name, one)} as {one}" for one in exported(text))
            light[name] = f'export {{ {exports} }} from "{way(name, WORKBENCH)}";\n'
        else:
            light[name] = IMPORT.sub(lambda found, name=name: _from_workbench(found, name, inside), text)  # type: ignore[misc]
    return light


def bare(name: str, text: str) -> str:
    """Without comments, empty lines and indentation."""
    if name.endswith(".css"):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        return re.sub(r"\s+", " ", text).strip().replace("} ", "}\n") + "\n"
    lines, comment = [], False
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole.strip()
        if comment or line.startswith("/*"):
            comment = not line.endswith("*/")
            continue
        if line.count("`") % 2:
            raise Unshippable(f"{name}, line {number}: a text over several lines")
        if line and not line.startswith("//"):
            lines.append(TRAILING.sub(r"\1", line))
    return "\n".join(lines) + "\n"


def needed(scripts: Mapping[str, str], entries: tuple[str, ...]) -> list[str]:
    """What these import, directly or not, and they themselves: each behind what it imports."""
    found: list[str] = []

    def visit(name: str, way_here: tuple[str, ...]) -> None:
        if name in way_here:
            raise Unshippable(f"{name} imports itself, by way of {', '.join(way_here)}")
        if name not in scripts or name in found:
            return
        for _, path in IMPORT.findall(scripts[name]):
            visit(target(name, path), (*way_here, name))
        found.append(name)

    for entry in entries:
        visit(entry, ())
    return found


def together(modules: Mapping[str, str]) -> str:
    """Modules in one: each is a function that is called once, in this order, and what it gives is exported."""
    parts = []
    for name, text in modules.items():
        body = IMPORT.sub(
            lambda found, name=name: (  # type: ignore[misc]
                f"const {{ {found[1].replace(' as ', ': ')} }} = {inner(target(name, found[2]))};"
                if found[1]
                else ""
            ),
            text,
        )
        names = exported(text)
        body = EXPORT.sub(lambda found: found[0].removeprefix("export ") if found[1] else "", body)
        if left := re.search(r"^(import|export)\b.*", body, re.MULTILINE):
            raise Unshippable(f"{name}: {left[0]}")
        outside = ", ".join(f"{one}: {outer(name, one)}" for one in names)
        parts.append(f"const {inner(name)} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n")
        parts.append(f"export const {{ {outside} }} = {inner(name)};\n" if names else "")
    return "".join(parts)


def exported(text: str) -> list[str]:
    """The names that a module exports."""
    names: list[str] = []
    for declared, listed in EXPORT.findall(text):
        names += [declared] if declared else [one.strip() for one in listed.split(",")]
    return names


def inner(name: str) -> str:
    """What a module is called inside WORKBENCH; no script of ours has a name with `$`."""
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def outer(name: str, export: str) -> str:
    """What an export of a module is called when WORKBENCH exports it."""
    return f"{inner(name)}${export}"


def target(name: str, path: str) -> str:
    """The file that `name` imports by this path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def way(name: str, other: str) -> str:
    """The path by which `name` imports the other file."""
    path = posixpath.relpath(other, posixpath.dirname(name) or ".")
    return path if path.startswith(".") else f"./{path}"


def _from_workbench(found: re.Match[str], name: str, inside: list[str]) -> str:
    imported = target(name, found[2])
    if imported not in inside:
        return found[0]
    path = way(name, WORKBENCH)
    if not found[1]:
        return f'import "{path}";'
    names = (one.strip().split(" as ") for one in found[1].split(","))
    listed = ", ".join(f"{outer(imported, one[0])} as {one[-1]}" for one in names)
    return f'import {{ {listed} }} from "{path}";'
