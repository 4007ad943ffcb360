"""Cuts from Pico CSS what no page of Askew uses, without changing a rule that stays.

    python docs/pico.py pico.min.css > static/vendor/pico.min.css       (static/vendor/README.md says of which version)

A selector that needs one of CUT matches nothing here, and goes; a rule without selectors goes; so does what `:root:root` of
askew.css says anyway, for Pico stands in a layer below it; so does a custom property that nothing asks for any more, again
and again until nothing changes. `tests/test_style_sheet.py` sees that no page uses what was cut: whoever wants one of these
takes its line out of CUT and runs this again.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CUT = (
    r"\.(container|container-fluid|grid|dropdown|outline|contrast|secondary|overflow-auto|striped|close)\b",
    r"\[(data-tooltip|data-placement|data-theme|aria-label=breadcrumb|aria-label=Breadcrumb|dir=rtl)\b",
    r"\[role=(switch|button|link|document)\]",
    r"\[type=(range|color|reset|datetime-local|month|week|time)\]",
    r"(?<![\w-])(hgroup|figure|figcaption|abbr|samp|audio|canvas|iframe|video|optgroup|output|address|sub|sup)(?![\w-])",
    r"\[aria-invalid=false\]",
    r"(modal-is-|dialog>article|\[type=checkbox\]:indeterminate)",
    r"::?-(ms|moz)-",
)
"""What no page has: classes, attributes and their values, elements, and what is for browsers that cannot run our modules."""

ROOT_ALONE = re.compile(r":(?:root|host)(?:\(.*\)|:not\([^()]*\))?")
Rule = tuple[str, "str | list[Rule]"]


def cut(sheet: str, others: str) -> str:
    """The sheet without what is not used; `others` are the texts that may ask for its custom properties."""
    said = frozenset(
        re.findall(r"(--pico-[\w-]+):", "".join(re.findall(r":root:root {(.*?)}", others, re.DOTALL)))
    )
    text = _written(_kept(_rules(re.sub(r"/\*(?!!).*?\*/", "", sheet, flags=re.DOTALL)), said))
    while True:
        asked = set(re.findall(r"var\(\s*(--[\w-]+)", text + others))
        shorter = re.sub(
            r'(--pico-[\w-]+):((?:[^;{}"]|"[^"]*")*)(?:;|(?=\}))',
            lambda found, asked=asked: found[0] if found[1] in asked else "",  # type: ignore[misc]
            text,
        )
        shorter = re.sub(r"(?<=[{};])[^{};]*\{\}", "", shorter)
        if shorter == text:
            return text
        text = shorter


def _rules(text: str) -> list[Rule]:
    """(what stands before the braces, what stands in them), of the rules of a sheet or of an at-rule."""
    found: list[Rule] = []
    at = 0
    while (opening := text.find("{", at)) >= 0:
        depth, end = 1, opening + 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        before, inside = text[at:opening], text[opening + 1 : end - 1]
        nested = before.lstrip().startswith(("@media", "@supports"))
        found.append((before, _rules(inside) if nested else inside))
        at = end
    return found


def _kept(rules: list[Rule], said: frozenset[str]) -> list[Rule]:
    """What is left of the rules; `said` are the custom properties that another sheet gives the root."""
    kept: list[Rule] = []
    for before, inside in rules:
        if isinstance(inside, list):
            if left := _kept(inside, said):
                kept.append((before, left))
        elif before.lstrip().startswith("@"):
            if not re.search(r"tooltip|-moz-document", before):
                kept.append((before, inside))
        elif selectors := [one for one in _parts(before) if not _is_cut(one)]:
            if all(ROOT_ALONE.fullmatch(one.strip()) for one in selectors):
                inside = ";".join(one for one in _declared(inside) if one.partition(":")[0] not in said)
            kept.append((",".join(selectors), inside))
    return kept


def _declared(inside: str) -> list[str]:
    """The declarations of a rule, taken apart at the semicolons that stand in no quotes."""
    return re.findall(r'(?:[^;"]|"[^"]*")+', inside)


def _is_cut(selector: str) -> bool:
    """Whether it can match nothing: what it must not be, and one of several that it may be, do not count."""
    while (shorter := re.sub(r":not\([^()]*\)", "", selector)) != selector:
        selector = shorter
    while found := re.search(r":(?:is|where|has)\(([^()]*)\)", selector):
        options = [one for one in found[1].split(",") if not _needs(one)]
        if not options:
            return True
        selector = selector[: found.start()] + selector[found.end() :]
    return _needs(selector)


def _needs(selector: str) -> bool:
    return any(re.search(pattern, selector) for pattern in CUT)


def _parts(selectors: str) -> list[str]:
    """A list of selectors, taken apart at the commas that stand in no brackets."""
    parts, depth = [""], 0
    for sign in selectors:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(sign, 0)
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _written(rules: list[Rule]) -> str:
    return "".join(
        f"{before}{{{_written(inside) if isinstance(inside, list) else inside}}}" for before, inside in rules
    )


if __name__ == "__main__":
    ours = "".join(path.read_text("utf-8") for path in sorted((ROOT / "static" / "askew").iterdir()))
    sys.stdout.write(cut(Path(sys.argv[1]).read_text("utf-8"), ours) + "\n")
