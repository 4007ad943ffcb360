"""The style sheets keep what makes large tables quick, and each page has the rules of its parts."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "static" / "askew"
SHEET = FOLDER / "askew.css"
ROOT = SHEET.parents[2]
NO_CODE = re.compile(r"/\*.*?\*/|\"[^\"]*\"|'[^']*'", re.DOTALL)
PAIRS = {"(": ")", "[": "]", "{": "}"}
PARTS = ("askew", "judging", "columns", "comparison", "prediction", "proposals", "later")
"""The sheets of pages of annotating."""
BENEATH = re.compile(r"^(label|p|li|td|fieldset|details|summary|button)$")
"""What may take :has(): parts of a page that hold no table, or a single cell."""


def test_nothing_that_may_hold_a_table_is_styled_by_what_it_holds() -> None:
    """A browser looks at everything below such an element again after each change below it: 25 ms a key in 60 x 43."""
    rules = "".join(map(rules_of, PARTS))
    selectors = [part.strip() for rule in re.findall(r"[^{}]+(?=\{)", rules) for part in rule.split(",")]
    looking = [selector for selector in selectors if ":has(" in selector]
    assert looking, "the pattern no longer finds what it is for"
    for selector in looking:
        subject = re.split(r"[\s>+~]+", selector.partition(":has(")[0])[-1]
        children_only = ":has(> " in selector
        name = re.match(r"[a-z]+|:[a-z-]+", subject)
        allowed = children_only or (name is not None and BENEATH.match(name.group()))
        assert allowed, f"{selector}: set a class or an attribute instead of :has()"


def rules_of(part: str) -> str:
    return re.sub(r"/\*.*?\*/|@import[^;]*;", "", (FOLDER / f"{part}.css").read_text("utf-8"), flags=re.S)


def palette() -> dict[str, tuple[str, str]]:
    """By name, the colour in light and in dark."""
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", SHEET.read_text("utf-8"))
    return {name: (light, dark) for name, light, dark in pairs}


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_text_and_borders_have_the_contrast_of_level_aa_on_every_ground(theme: int) -> None:
    colours = {name: pair[theme] for name, pair in palette().items()}
    grounds = ("paper", "found")
    low = [
        f"{text} on {ground}: {contrast(colours[text], colours[ground]):.2f}"
        for ground in grounds
        for text in ("ink", "soft", "good", "bad", "accent")
        if contrast(colours[text], colours[ground]) < 4.5
    ]
    low += [
        f"edge on {ground}: {contrast(colours['edge'], colours[ground]):.2f}"
        for ground in ("paper", "press", "found", "edit")
        if contrast(colours["edge"], colours[ground]) < 3
    ]
    assert low == []


def test_messages_of_the_model_are_not_dimmed() -> None:
    rules = re.findall(r"^\.prediction[^{]*\{[^}]*\}", rules_of("prediction"), re.MULTILINE)
    assert len(rules) > 5
    assert [rule for rule in rules if "opacity" in rule] == []


@pytest.mark.parametrize("path", sorted((ROOT / "static").rglob("*.css")), ids=lambda path: path.stem)
def test_the_brackets_of_a_style_sheet_nest(path: Path) -> None:
    """A browser reads on to the end of an open bracket, and drops every rule up to there."""
    opened = []
    for bracket in re.findall(r"[][(){}]", NO_CODE.sub("", path.read_text("utf-8"))):
        if bracket in PAIRS:
            opened.append(PAIRS[bracket])
        else:
            assert opened[-1:] == [bracket]
            opened.pop()
    assert opened == []


# -- what was cut from Pico -------------------------------------------------------------------------

PICO = [ROOT / "static" / "vendor" / name for name in ("pico.min.css", "pico.pages.css")]
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
    "type": {"color", "reset", "datetime-local", "month", "week", "time"},
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
    """docs/pico.py cuts it. To keep it, delete it from CUT there, run that, and delete it here.

    A slider is not here: it has the look of the browser, in our colour (judging.css).
    """
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
    text = "".join(path.read_text("utf-8") for path in PICO)
    assert text.count("{") == text.count("}") > 200
    assert "MIT" in text[:200]
    asked = set(re.findall(r"var\((--pico-[\w-]+)\)", text))
    own = runpy.run_path(str(ROOT / "docs" / "pico.py"))["OWN"]
    assert asked <= own | set(re.findall(r"(--pico-[\w-]+):", text + SHEET.read_text("utf-8")))
    for needed in (
        "[role=group]",
        "[aria-busy=true]",
        "blockquote",
        "[type=checkbox]",
        "progress",
        "details",
    ):
        assert needed in text
