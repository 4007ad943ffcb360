"""The style sheet keeps what makes large tables quick: no rule looks down into a table from above it."""

from __future__ import annotations

import re
from pathlib import Path

SHEET = Path(__file__).parents[1] / "static" / "askew" / "askew.css"
BENEATH = re.compile(r"^(label|p|li|td|fieldset|details|summary|button)$")
"""What may take :has(): parts of a page that hold no table, or a single cell."""


def test_nothing_that_may_hold_a_table_is_styled_by_what_it_holds() -> None:
    """A browser looks at everything below such an element again after each change below it: 25 ms a key in 60 x 43."""
    rules = re.sub(r"/\*.*?\*/", "", SHEET.read_text("utf-8"), flags=re.S)
    selectors = [part.strip() for rule in re.findall(r"[^{}]+(?=\{)", rules) for part in rule.split(",")]
    looking = [selector for selector in selectors if ":has(" in selector]
    assert looking, "the pattern no longer finds what it is for"
    for selector in looking:
        subject = re.split(r"[\s>+~]+", selector.partition(":has(")[0])[-1]
        children_only = ":has(> " in selector
        name = re.match(r"[a-z]+|:[a-z-]+", subject)
        allowed = children_only or (name is not None and BENEATH.match(name.group()))
        assert allowed, f"{selector}: set a class or an attribute instead of :has()"


# -- what was cut from Pico -------------------------------------------------------------------------

ROOT = SHEET.parents[2]
PICO = ROOT / "static" / "vendor" / "pico.min.css"
GONE = {
    "class": {
        "container",
        "grid",
        "dropdown",
        "outline",
        "secondary",
        "overflow-auto",
        "striped",
    },
    "role": {"switch", "button", "link", "document"},
    "type": {"range", "color", "reset", "datetime-local", "month", "week", "time"},
}
ELEMENTS = {
    "hgroup",
    "figure",
    "abbr",
    "samp",
    "optgroup",
    "output",
    "address",
    "sub",
    "sup",
    "video",
}


def test_no_page_uses_what_was_cut_from_pico() -> None:
    """docs/pico.py cuts it: whoever wants it takes it out of CUT there, runs that, and takes it out here."""
    found = []
    for path in [*(ROOT / "templates").rglob("*.html"), *(ROOT / "tasks").rglob("*.html")]:
        text = re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}", " ", path.read_text("utf-8"), flags=re.DOTALL)
        for attribute, values in re.findall(r"\b(class|role|type)=\"([^\"]*)\"", text):
            found += [f"{path.name}: {one}" for one in set(values.split()) & GONE[attribute]]
        found += [f"{path.name}: <{one}>" for one in set(re.findall(r"<([a-z]+)", text)) & ELEMENTS]
        found += [f"{path.name}: {one}" for one in re.findall(r"data-(?:tooltip|theme|placement)", text)]
    for path in [*(ROOT / "static" / "askew").glob("*.js"), *ROOT.glob("tasks/*/static/*/*.js")]:
        made = set(re.findall(r"(?:element|make|createElement)\(\"([a-z]+)\"", path.read_text("utf-8")))
        found += [f"{path.name}: <{one}>" for one in made & ELEMENTS]
    assert found == []


def test_pico_is_whole_but_for_that() -> None:
    text = PICO.read_text("utf-8")
    assert text.count("{") == text.count("}") > 200
    assert "MIT" in text[:200]
    asked = set(re.findall(r"var\((--pico-[\w-]+)\)", text))
    assert asked <= set(re.findall(r"(--pico-[\w-]+):", text + SHEET.read_text("utf-8")))
    for needed in (
        "[role=group]",
        "[aria-busy=true]",
        "blockquote",
        "[type=checkbox]",
        "progress",
        "details",
    ):
        assert needed in text
