"""Which small changes of Python, scripts and templates are made to see whether the tests notice them."""

from __future__ import annotations

import pytest

from benchmarks.mutation import python_code, scripts, templates


def changed(language: object, source: str) -> set[str]:
    """The source after each of its mutations."""
    lines = source.split("\n")
    return {
        "\n".join([*lines[:line], lines[line][:start] + new + lines[line][end:], *lines[line + 1 :]])
        for line, start, end, new in language.mutations(source)  # type: ignore[attr-defined]
    }


def test_mutations_of_python_leave_out_messages():
    assert changed(python_code, "if found < 2:\n    raise Refused(gettext('none of 3'))") == {
        "if found <= 2:\n    raise Refused(gettext('none of 3'))",
        "if found < 3:\n    raise Refused(gettext('none of 3'))",
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if (!a || b < 2) run(c);", {"if (!(!a || b < 2)) run(c);", "if (a || b < 2) run(c);"}),
        ("const d = a ? b : c;", {"const d = a ? c : b;"}),
        ("return found.size;", {"return undefined;"}),
        ("{ field.focus(); }", set()),
        ("x;\nfield.focus();", {"x;\n;"}),
        ("y = x.length - 1;", {"y = x.length + 1;", "y = x.length - 2;"}),
        ("t = true; // if (a && b) return 1;", {"t = false; // if (a && b) return 1;"}),
    ],
)
def test_mutations_of_scripts(source, expected):
    assert changed(scripts, source) >= expected
    assert bool(changed(scripts, source)) == bool(expected)


@pytest.mark.parametrize(
    "source",
    [
        'import { a } from "./1.js";',
        't`${a === 1 ? "one < 2" : `two ${"`"}`} && !`;',
        'name = "a" + b;',
        "match = /[/1]&& 2/g;",
        "/* 1 && 2 */",
        "return null;",
    ],
)
def test_texts_regular_expressions_comments_and_imports_of_scripts_have_no_mutations(source):
    assert changed(scripts, source) == set()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{% if a and b %}x{% endif %}", {"{% if a or b %}x{% endif %}"}),
        ("{% elif not a %}", {"{% elif a %}"}),
        ('<p hidden id="a">hidden</p>', {'<p  id="a">hidden</p>'}),
        ('<p{% if a %} aria-label="{{ b }}"{% endif %}>', {"<p{% if a %} {% endif %}>"}),
        ('{% include "a.html" %} {{ b }}', {" {{ b }}", '{% include "a.html" %} '}),
    ],
)
def test_mutations_of_templates(source, expected):
    assert changed(templates, source) >= expected


@pytest.mark.parametrize(
    "source",
    [
        "{% translate 'a' %} disabled",
        "{% blocktranslate %}{{ a }}{% endblocktranslate %}",
        "{# {{ a }} #}<!-- {{ a }} -->",
    ],
)
def test_texts_and_translations_of_templates_have_no_mutations(source):
    assert changed(templates, source) == set()
