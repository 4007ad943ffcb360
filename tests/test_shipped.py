"""What a site ships of our scripts and style sheets: lighter than the tree's, and each module under one name."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import get_finders

from config.static_files import HashedStaticFilesStorage, minified

ROOT = Path(__file__).resolve().parent.parent
IN_TEMPLATE = re.compile(r"\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}")
"""An expression in a template, with braces of its own up to two deep."""
IMPORTED = re.compile(r'(?:import|export)[^;"]*?"(\.[^"]+)";')


def test_comments_and_blanks_go_and_what_is_written_in_texts_and_patterns_stays() -> None:
    text = (
        '/* What it is for,\n   in two lines. */\n\nimport { t } from "./language.js";\n\n'
        "// why\nconst PAUSE = 250; // ms\nconst found = /[/]\\/ x/.test(a);\n"
        "class Draft {\n  #kept = `// ${t} /* stays */`;\n}\n"
    )
    assert minified("askew/x.js", text) == (
        'import{t}from"./language.js";const PAUSE=250;const found=/[/]\\/ x/.test(a);'
        "class Draft{#kept=`// ${t} /* stays */`;}\n"
    )
    assert minified("askew/x.css", "/* a */\na > b { color: red;\n}\n") == "a>b{color:red}\n"


def test_no_template_stands_inside_another_which_the_minifier_would_take_spaces_from() -> None:
    assert minified("askew/x.js", "a = `${b ? t`${c} of ${d}` : 0}`;") != "a=`${b ? t`${c} of ${d}` : 0}`;\n"
    nested = [
        f"{path}:{text.count(chr(10), 0, inside.start()) + 1}"
        for path, text in ours()
        for inside in IN_TEMPLATE.finditer(text)
        if "`" in inside[0]
    ]
    assert nested == []


def ours() -> Iterator[tuple[Path, str]]:
    for path in [*ROOT.glob("static/askew/*.js"), *ROOT.glob("tasks/*/static/**/*.js")]:
        yield path.relative_to(ROOT), path.read_text("utf-8")


def test_what_is_shipped_is_named_by_contents_and_imported_by_those_names(
    tmp_path: Path, settings: Any
) -> None:
    settings.STATIC_URL = "/static/"
    storage = HashedStaticFilesStorage(location=tmp_path, base_url="/static/")
    found, whole = {}, {}
    for finder in get_finders():
        for path, source in finder.list([]):
            if path.startswith(("askew/", "vendor/")) or path.endswith("/form.js"):
                found[path] = (source, path)
                with source.open(path) as file:
                    whole[path] = len(file.read())
                    file.seek(0)
                    storage.save(path, file)
    wrong = [one for one in storage.post_process(dict(found)) if isinstance(one[2], Exception)]
    assert wrong == []
    named = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    assert set(found) <= set(named)
    imports = 0
    for name, hashed in named.items():
        if name.endswith(".js"):
            text = (tmp_path / hashed).read_text("utf-8")
            assert len(text.encode()) < whole[name] or not name.startswith("askew/"), name
            for path in IMPORTED.findall(text):
                where = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
                imports += 1
                assert re.search(r"\.[0-9a-f]{12}\.js$", path), f"{name}: {path}"
                assert where in named.values(), f"{name}: {path} is not what the manifest names"
    assert imports > 50
