"""What a site ships of our scripts and style sheets is what was tested, without comments, each module there once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from config.shipped import (
    ENTRIES,
    IMPORT,
    WORKBENCH,
    Unshippable,
    bare,
    exported,
    needed,
    outer,
    shipped,
    target,
)

ROOT = Path(__file__).resolve().parent.parent


def ours() -> dict[str, str]:
    """Our scripts and style sheets and those of the kinds, by the names that they have as static files."""
    files = {f"askew/{path.name}": path for path in (ROOT / "static" / "askew").glob("*.[jc]s*")}
    files |= {f"{path.parent.name}/{path.name}": path for path in ROOT.glob("tasks/*/static/*/*.js")}
    return {name: path.read_text("utf-8") for name, path in files.items()}


def test_every_module_of_ours_can_be_shipped() -> None:
    files = shipped(ours())
    assert WORKBENCH in files
    assert len(files) == len(ours()) + 1
    for name, text in files.items():
        if name.endswith(".js"):
            for line in re.findall(r"^(?:import|export) .* from .*$|^import .*$", text, re.MULTILINE):
                path = re.search(r'"([^"]+)";$', line)
                assert path, f"{name}: {line}"
                assert target(name, path[1]) in files, f"{name}: {line}"


def test_whoever_imports_a_module_gets_what_it_exports() -> None:
    """The names of every import are names that the file it leads to exports; no module is in two files."""
    before, after = ours(), shipped(ours())
    inside = set(needed({n: t for n, t in before.items() if n.endswith(".js")}, ENTRIES)) - {ENTRIES[-1]}
    offered = {name: set(exported(text)) for name, text in before.items() if name.endswith(".js")}
    offered[WORKBENCH] = {outer(name, one) for name in inside for one in offered[name]}
    asked = 0
    for name, text in after.items():
        for names, path in IMPORT.findall(text) if name.endswith(".js") else ():
            where = target(name, path)
            assert where not in inside, f"{name} imports {where}, which is in {WORKBENCH}"
            wanted = {one.split(" as ")[0].strip() for one in names.split(",") if one.strip()}
            assert wanted <= offered[where], f"{name} wants {wanted - offered[where]} of {where}"
            asked += len(wanted)
    assert asked > 30
    for name in inside:
        assert set(re.findall(r" as (\w+)", after[name])) == offered[name]


def test_only_comments_blank_lines_and_indentation_go() -> None:
    text = (
        '/* What it is for,\n   in two lines. */\n\nimport { t } from "./language.js";\n\n'
        "// why\nconst PAUSE = 250; // ms\n"
        "export function say(words) {\n  return `// ${words} /* stays */`; // stays, too\n}\n"
    )
    assert bare("askew/x.js", text) == (
        'import { t } from "./language.js";\nconst PAUSE = 250;\nexport function say(words) {\n'
        "return `// ${words} /* stays */`; // stays, too\n}\n"
    )
    assert (
        bare("askew/x.css", "/* a */\na { color: red;\n}\nb { top: 0; }\n")
        == "a { color: red; }\nb { top: 0; }\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "const a = `one\ntwo`;\n",
        'export default "x";\n',
        'import a from "./language.js";\n',
        'import "./grid.js";\n',
    ],
)
def test_what_is_not_written_as_ours_are_is_refused(text: str) -> None:
    with pytest.raises(Unshippable):
        shipped({**ours(), "askew/grid.js": text})


def test_what_is_shipped_is_named_by_contents_and_imported_by_those_names(
    tmp_path: Path, settings: Any
) -> None:
    from django.contrib.staticfiles.finders import get_finders

    from config.static_files import NamedByContent

    settings.STATIC_URL = "/static/"
    storage = NamedByContent(location=tmp_path, base_url="/static/")
    found = {}
    for finder in get_finders():
        for path, source in finder.list([]):
            if path.startswith(("askew/", "vendor/")) or path.endswith("/form.js"):
                found[path] = (source, path)
                with source.open(path) as file:
                    storage.save(path, file)
    wrong = [one for one in storage.post_process(dict(found)) if isinstance(one[2], Exception)]
    assert wrong == []
    named = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    assert set(found) <= set(named)
    for name, hashed in named.items():
        if name.endswith(".js"):
            text = (tmp_path / hashed).read_text("utf-8")
            for path in re.findall(r'^(?:import|export) .*?"(\.[^"]+)";$', text, re.MULTILINE):
                where = target(name, path)
                assert re.search(r"\.[0-9a-f]{12}\.js$", path), f"{name}: {path}"
                assert (tmp_path / where).is_file(), f"{name}: {path}"
                assert (tmp_path / f"{where}.gz").is_file() or (tmp_path / where).stat().st_size < 200
