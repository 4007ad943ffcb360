"""Every message of ours: found in templates, Python and scripts, and kept in locale/ (docs/translating.md).

`./run manage messages` finds them anew and writes each language's .po files; xgettext is not needed. Two domains, as
Django has them: `django` for pages and what the server says, `djangojs` for the scripts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation.template import templatize

ONE = {"gettext", "gettext_lazy", "gettext_noop", "phrase"}
SECOND = {"refuse", "message"}
COUNTED = {"ngettext", "ngettext_lazy"}
PYTHON = ("annotation", "config", "tableqa", "tasks")
SCRIPT = re.compile(
    r"""\bt\((?P<one>"(?:[^"\\]|\\.)*")|\bcounted\(.*?,\s*(?P<single>"[^"]*")\s*,\s*(?P<many>"[^"]*")\)"""
)
THINGS = re.compile(r"""\bcount\((?:[^()]|\([^()]*\))*,\s*"(?P<what>[a-z ]+)"\)""")
"""`count(number, "cell")` of words.js says "1 cell" or "2 cells"."""
IN_TEMPLATE = re.compile(r"(?<![\w.])(n?gettext|_)\((?=[u'\"])")

Key = tuple[str, str]
"""A message and its plural, "" where it has none."""


@dataclass
class Found:
    """The messages of a domain with the places that say them, as `file` (lines move too often to be written down)."""

    places: dict[Key, set[str]] = field(default_factory=dict)

    def add(self, place: str, one: str, many: str = "") -> None:
        """One message, said at `place`. A message is counted everywhere, or nowhere."""
        if many:
            self.places[one, many] = self.places.pop((one, ""), set()) | self.places.get((one, many), set())
        key = next((key for key in self.places if key[0] == one), (one, many)) if not many else (one, many)
        self.places.setdefault(key, set()).add(place)


def find(root: Path) -> dict[str, Found]:
    """All messages below the root of the repository, by domain."""
    server, scripts = Found(), Found()
    for path in sorted(one for room in PYTHON for one in (root / room).rglob("*.py")):
        if "tests" not in path.parts and not path.name.startswith(("test_", "tests")):
            for one, many in in_python(path.read_text("utf-8")):
                server.add(_place(path, root), one, many)
    for path in _files(root, ".html"):
        for one, many in in_template(path.read_text("utf-8")):
            server.add(_place(path, root), one, many)
    for path in _files(root, ".js"):
        for one, many in in_script(path.read_text("utf-8")):
            scripts.add(_place(path, root), one, many)
    return {"django": server, "djangojs": scripts}


def in_python(source: str) -> Iterator[Key]:
    """The messages of a module: literal arguments of the functions of `gettext`."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        texts = [one.value if isinstance(one, ast.Constant) else None for one in node.args[:2]]
        if name in ONE and texts and isinstance(texts[0], str):
            yield texts[0], ""
        elif name == "words_of" and texts and isinstance(texts[0], str):
            yield from ((" ".join(word.split()), "") for word in texts[0].split(";"))
        elif name in SECOND and len(texts) == 2 and isinstance(texts[1], str):
            yield texts[1], ""
        elif name in COUNTED and len(texts) == 2 and all(isinstance(one, str) for one in texts):
            yield str(texts[0]), str(texts[1])


def in_template(source: str) -> Iterator[Key]:
    """The messages of a template, as Django's own tool sees them."""
    made = templatize(source)
    for match in IN_TEMPLATE.finditer(made):
        texts = _literals(made, match.end())
        if match[1] == "ngettext" and len(texts) >= 2:
            yield texts[0], texts[1]
        elif texts:
            yield texts[0], ""


def in_script(source: str) -> Iterator[Key]:
    """The messages of a module: t("..."), t`...${}...`, counted(n, "...", "..."), count(n, "thing")."""
    for match in SCRIPT.finditer(source):
        if match["one"]:
            yield ast.literal_eval(match["one"]), ""
        else:
            yield ast.literal_eval(match["single"]), ast.literal_eval(match["many"])
    for match in THINGS.finditer(source):
        yield f"{{0}} {match['what']}", f"{{0}} {match['what']}s"
    for match in re.finditer(r"(?<![\w$`])t`", source):
        yield _tagged(source, match.end()), ""


def _tagged(source: str, at: int) -> str:
    """What the function `t` makes of a template literal that begins at `at`: {0}, {1} for its values."""
    said, number = "", 0
    while source[at] != "`":
        if source[at] == "\\":
            said += ast.literal_eval(f'"{source[at : at + 2]}"') if source[at + 1] != "`" else "`"
            at += 2
        elif source.startswith("${", at):
            at = _beyond(source, at + 2)
            said += f"{{{number}}}"
            number += 1
        else:
            said += source[at]
            at += 1
    return said


def _beyond(source: str, at: int) -> int:
    """Where the expression that begins at `at` has its closing brace behind it."""
    depth = 0
    while source[at] != "}" or depth:
        sign = source[at]
        if sign in "\"'":
            at = source.index(sign, at + 1)
        elif sign == "`":
            at += 1
            while source[at] != "`":
                at = _beyond(source, at + 2) if source.startswith("${", at) else at + 1
        depth += (sign == "{") - (sign == "}")
        at += 1
    return at + 1


def _literals(made: str, at: int) -> list[str]:
    """The string literals that follow one another, with commas, from `at` on."""
    found = []
    pattern = re.compile(r"""\s*u?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*(,|\))""", re.DOTALL)
    while match := pattern.match(made, at):
        found.append(ast.literal_eval(match[1]))
        at = match.end()
        if match[2] == ")":
            break
    return found


def _files(root: Path, ending: str) -> list[Path]:
    """Templates and scripts of ours."""
    folders = [root / "templates", root / "tasks", root / "static" / "askew"]
    return sorted(path for folder in folders for path in folder.rglob(f"*{ending}"))


def _place(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


# -- the files --------------------------------------------------------------------------------------


def po_path(root: Path, language: str, domain: str) -> Path:
    """Where a language's messages of a domain are."""
    return root / "locale" / language / "LC_MESSAGES" / f"{domain}.po"


def languages() -> list[str]:
    """The languages that are translated into: all but the one that the messages are written in."""
    return [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def update(root: Path, language: str, domain: str, found: Found) -> Any:
    """The .po with exactly the messages that were found: translations are kept, new ones are empty, gone ones go."""
    import polib

    path = po_path(root, language, domain)
    known = (
        {(entry.msgid, entry.msgid_plural): entry for entry in polib.pofile(str(path))}
        if path.exists()
        else {}
    )
    made = polib.POFile(wrapwidth=0)
    made.metadata = {
        "Project-Id-Version": "Askew",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": "nplurals=2; plural=(n != 1);",
    }
    if path.exists():
        made.metadata |= polib.pofile(str(path)).metadata
    for one, many in sorted(found.places):
        before = known.get((one, many))
        entry = polib.POEntry(msgid=one, msgid_plural=many)
        entry.occurrences = [(place, "") for place in sorted(found.places[one, many])]
        if many:
            entry.msgstr_plural = dict(before.msgstr_plural) if before else {0: "", 1: ""}
        elif before:
            entry.msgstr = before.msgstr
        if before:
            entry.flags, entry.tcomment = list(before.flags), before.tcomment
        made.append(entry)
    return made


def write(root: Path, language: str, domain: str, made: Any) -> None:
    """The .po file of a domain."""
    path = po_path(root, language, domain)
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save(str(path))
