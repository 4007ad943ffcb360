"""The suite's own guard: a template of Askew that reads what nothing set is an error (tests/template_variables.py)."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from django.template import engines
from django.template.loader import get_template

from tests.template_variables import OPTIONAL, UnknownVariable

VALUES = {
    "known": "x",
    "nothing": None,
    "record": {"key": 1},
    "person": SimpleNamespace(name="Ada"),
}


def render(text: str) -> str:
    return engines["django"].from_string(text).render(VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "{{ unknown }}",
        "{{ unknown|upper }}",
        '{{ unknown|default:"" }}',
        "{{ known|default:unknown }}",
        "{{ known|add:unknown }}",
        "{{ record.unknown }}",
        "{{ person.unknown }}",
        "{{ person.name.unknown }}",
        "{% if unknown %}{% endif %}",
        "{% if not unknown %}{% endif %}",
        "{% if unknown == 1 %}{% endif %}",
        "{% if nothing or unknown %}{% endif %}",
        "{% if known and person.unknown %}{% endif %}",
        "{% if known in unknown %}{% endif %}",
        "{% if nothing %}{% elif unknown %}{% endif %}",
        "{% for row in unknown %}{% endfor %}",
        "{% for row in known %}{{ rows }}{% endfor %}",
        "{% with name=unknown %}{% endwith %}",
        "{% firstof unknown known %}",
        "{% translate unknown %}",
        "{% blocktranslate %}Dear {{ unknown }}{% endblocktranslate %}",
        "{% blocktranslate with name=unknown %}Dear {{ name }}{% endblocktranslate %}",
        "{% blocktranslate count number=unknown %}One{% plural %}{{ number }}{% endblocktranslate %}",
        '{% url "home" number=unknown %}',
        "{% include unknown %}",
        '{% include "_progress.html" with done=1 total=2 label=unknown %}',
        '{% include "_progress.html" with done=1 total=2 %}',
    ],
)
def test_a_variable_that_nothing_set_is_an_error(text: str) -> None:
    with pytest.raises(UnknownVariable):
        render(text)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("{{ known }}{{ record.key }}{{ person.name }}", "x1Ada"),
        ("{% if known or unknown %}yes{% endif %}", "yes"),
        ("{{ nothing.of.this }}{% if nothing.name %}no{% endif %}", ""),
        ("{% for letter in known %}{{ forloop.counter }}{{ letter }}{% endfor %}", "1x"),
        ("{% blocktranslate %}Dear {{ known }}{% endblocktranslate %}", "Dear x"),
        ("{{ 5 }}{{ 1.5 }}{{ known|default:3 }}{{ True }}", "51.5xTrue"),
    ],
)
def test_everything_else_renders_as_ever(text: str, html: str) -> None:
    assert render(text) == html


def test_the_error_names_the_template_and_the_variable() -> None:
    with pytest.raises(
        UnknownVariable, match=re.escape("_progress.html: label: label is not in the context")
    ):
        get_template("_progress.html").render({"done": 1, "total": 2})


def test_templates_of_other_packages_are_exempt() -> None:
    assert (
        get_template("admin/app_list.html").render({}).strip()
        == "<p>You don’t have permission to view or edit anything.</p>"
    )


@pytest.mark.parametrize("name", OPTIONAL)
def test_what_a_template_may_lack_is_read_in_it(name: str) -> None:
    source = get_template(name).template.source  # type: ignore[attr-defined]
    assert {path for path in OPTIONAL[name] if not re.search(rf"[ =:|]{re.escape(path)}\b", source)} == set()
