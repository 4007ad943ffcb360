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
