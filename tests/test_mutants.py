"""Mutants: where they apply, and which tests are tried on them."""

from __future__ import annotations

import random
import re

import pytest

from benchmarks import mutants
from benchmarks.mutation.reach import executed_lines, name_of_test


@pytest.mark.parametrize(("name", "number"), [("second", 60), ("pages", 60), ("browser-faults", 19)])
def test_the_mutants_of_a_set_differ(name, number):
    drawn = mutants.load(name)
    assert len({(mutant["file"], mutant["old"], *mutant["before"]) for mutant in drawn}) == number
    assert all(mutant["old"] != mutant["new"] for mutant in drawn)


@pytest.mark.parametrize("name", list(mutants.SETS))
def test_the_mutants_of_a_set_apply(name):
    drawn = mutants.load(name)
    gone = [(mutant["file"], mutant["old"]) for mutant in drawn if not mutants.located(mutants.ROOT, mutant)]
    assert len(gone) <= len(drawn) / 20, gone


@pytest.mark.parametrize("name", list(mutants.SETS))
def test_the_tests_of_a_set_exist(name):
    named = {
        test for mutant in mutants.load(name) for test in mutant.get("tests", []) + mutant.get("also", [])
    }
    missing = []
    for test in sorted(named):
        file, function = mutants.ROOT / test.split("::")[0], name_of_test(test).split("::")[-1]
        if not file.exists() or not re.search(rf"def {function}\b", file.read_text("utf-8")):
            missing.append(test)
    assert missing == []


def test_a_mutant_is_found_by_its_context(tmp_path):
    mutant = {
        "group": "agreement",
        "file": "a.py",
        "before": ["b = 1", "b = 2"],
        "old": "c = 3",
        "after": [],
        "new": "c = 4",
    }
    (tmp_path / "a.py").write_text("c = 3\nb = 2\nc = 3\n")
    assert mutants.located(tmp_path, mutant) == (tmp_path / "a.py", "c = 3\nb = 2\nc = 4\n", range(3, 4))
    (tmp_path / "a.py").write_text("c = 3\nc = 3\n")
    assert mutants.located(tmp_path, mutant) is None


def test_the_innermost_range_says_whether_a_line_of_a_script_has_run():
    source = "f(() => {\n  if (a) {\n    b();\n  }\n});\n"
    inner = source.index("{\n    b")
    functions = [
        {"ranges": [{"startOffset": 0, "endOffset": len(source), "count": 1}]},
        {
            "ranges": [
                {"startOffset": 2, "endOffset": source.rindex(")"), "count": 1},
                {"startOffset": inner, "endOffset": inner + 14, "count": 0},
            ]
        },
    ]
    assert executed_lines(source, functions) == {1, 2, 5}


def test_tests_that_run_the_line_come_first_and_browser_tests_after_others():
    script = "static/askew/grid.js"
    covered = {
        "tests/browser/test_grid_edit.py::test_a": {script: {1, 2}},
        "tests/browser/test_home.py::test_b": {script: {1, 2}},
        "tests/modules/test_modules.py::test_files[home.test.js]": {script: {1, 2}, "other": {1, 2, 3}},
        "tests/modules/test_modules.py::test_files[grid_read.test.js]": {script: {1, 2}},
        "tests/modules/test_modules.py::test_files[menus.test.js]": {script: {1}},
    }
    ordered = [*covered]
    random.Random(1).shuffle(ordered)
    found = mutants.nearest(script, "a();\nb();", range(2, 3), {test: covered[test] for test in ordered})
    expected = [[*covered][number] for number in (3, 2, 0, 1)]
    assert found == expected
    assert mutants.limited(found, 1, 1) == [expected[0], expected[2]]


def test_a_line_of_a_template_that_no_test_runs_is_tried_with_all_tests_of_the_file():
    covered = {"tests/annotation/test_home.py::test_a": {"templates/home.html": {1}}}
    assert mutants.nearest("templates/home.html", "{{ a }}\n\n{{ b }}", range(3, 4), covered) == [*covered]


def test_a_style_sheet_is_tried_with_the_browser_tests_of_what_it_shows(tmp_path):
    (tmp_path / "a.css").write_text("a { color: red; }\n")
    mutant = {
        "group": "browser",
        "file": "a.css",
        "before": [],
        "old": "a { color: red; }",
        "after": [],
        "new": "",
    }
    covered = {
        name: {"templates/a.html": {1}} for name in ("tests/browser/test_a.py::test", "tests/test_b.py::test")
    }
    assert mutants.tests_of(tmp_path, {**mutant, "shown_by": "templates/a.html"}, covered) == [
        "tests/browser/test_a.py::test"
    ]


def test_files_of_javascript_tests_are_a_test():
    files = "tests/modules/test_modules.py::test_every_test_of_the_scripts_passes[a_b.test.js+c.test.js]"
    assert name_of_test(files) == files
    assert name_of_test("tests/test_a.py::test_b[1-[x]]") == "tests/test_a.py::test_b"


def test_the_set_of_a_folder_has_its_sub_folders():
    assert mutants.matches("templates/assigning/settings/_form.html", "templates/**/*.html")
    assert mutants.matches("templates/404.html", "templates/**/*.html")
    assert not mutants.matches("tasks/a/templates/a.html", "templates/**/*.html")
