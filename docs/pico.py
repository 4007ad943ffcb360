"""Cuts from Pico CSS what no page of Askew uses, without changing a rule that stays.

    python docs/pico.py pico.min.css             (static/vendor/README.md says of which version)

It writes static/vendor/pico.min.css, which every page loads, and pico.pages.css with the rules of what no page of annotating
has (PAGES). A selector that needs one of CUT matches nothing here, and goes; a rule without selectors goes; so does
what `:root:root` of askew.css says anyway, for Pico stands in a layer below it; so does a custom property that
nothing asks for any more, again and again until nothing changes. `tests/test_style_sheet.py` sees that no page uses
what was cut: to use one of these, delete its line in CUT and run this again.
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
    r":host",
)
"""What no page has: classes, attributes and their values, elements, and what is for browsers that cannot run our modules."""

PAGES = (
    r"\[role=(group|search)\]",
    r"\[type=(date|file|search)\]|::file-selector-button|file-upload-button|search-decoration",
    r"\[aria-(invalid|busy)\b",
    r"(?<![\w-])(article|aside)(?![\w-])",
    r"indeterminate|\[multiple\]|label\[aria-disabled|nav li (\[type|button|input|select)",
)
"""What no page of annotating has, or styles itself."""

OWN = {"color-scheme"} | {
    f"--pico-{name}"
    for name in (
        "button-box-shadow",
        "button-hover-box-shadow",
        "code-kbd-background-color",
        "code-kbd-color",
        "h4-color",
        "h5-color",
        "h6-color",
        "modal-overlay-background-color",
        "modal-overlay-backdrop-filter",
    )
}
"""What the root says of parts that askew.css styles itself, or where what asks has the same value without it."""

IDLE = re.compile(
    r"(?<=[{}])\[type=button\]:(?:is|focus)[^{}]*\{[^}]*\}|-webkit-appearance:none;|--pico-form-element-focus-color:var\(--pico-primary-focus\);?|(?<![\w-])(-webkit-|-o-)?transition:[^;}]*;?|(?<![\w-])(-(moz|ms|o)-[\w-]+:|[\w-]+:-moz-)[^;}]*;?"
)
"""Declarations without an effect: a colour of `:root:root` said again, transitions, which `--pico-transition` ends at
once, and those for old browsers."""

ROOT_ALONE = re.compile(r":(?:root|host)(?:\(.*\)|:not\([^()]*\))?")
Rule = tuple[str, "str | list[Rule]"]


def cut(sheet: str, others: str) -> tuple[str, str]:
    """The rules of all pages, and those of PAGES; `others` are the texts that may ask for custom properties."""
    said = frozenset(
        re.findall(r"(--pico-[\w-]+):", "".join(re.findall(r":root:root {(.*?)}", others, re.DOTALL)))
    ).union(OWN)
    licence, _, sheet = sheet.partition("*/")
    rules = _kept(_rules(re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)), said, CUT)
    patterns = (*CUT, *PAGES)
    every = _asked(_written(_kept(rules, said, patterns)), others)
    defined = frozenset(re.findall(r"(--pico-[\w-]+):", every))
    rest = _asked(_written(_kept(rules, said | defined, patterns, others=True)), "")
    return f"{licence}*/{every}", f"{licence}*/{rest}"


def _asked(text: str, others: str) -> str:
    """The text without declarations that have no effect, and custom properties that nothing asks for."""
    text = IDLE.sub("", text)
    while True:
        asked = set(re.findall(r"var\(\s*(--[\w-]+)", text + others))
        shorter = re.sub(
            r'(--pico-[\w-]+):((?:[^;{}"]|"[^"]*")*)(?:;|(?=\}))',
            lambda found, asked=asked: found[0] if found[1] in asked else "",  # type: ignore[misc]
            text,
        )
        shorter = re.sub(r"(?:(?<=[{};])|^)[^{};]*\{\}", "", shorter)
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


def _kept(
    rules: list[Rule], said: frozenset[str], patterns: tuple[str, ...], *, others: bool = False
) -> list[Rule]:
    """The rules without those that need one of the patterns, or with `others` those alone, and what both say of the root.

    `said` are the custom properties that another sheet gives the root.
    """
    kept: list[Rule] = []
    for before, inside in rules:
        if isinstance(inside, list):
            if left := _kept(inside, said, patterns, others=others):
                kept.append((before, left))
        elif before.lstrip().startswith("@"):
            if not re.search(r"tooltip|-moz-document|modal", before) and _needs(before, patterns) == others:
                kept.append((before, inside))
        elif selectors := [
            one for one in _parts(before) if _is_root(one) or _is_cut(one, patterns) == others
        ]:
            if all(map(_is_root, selectors)):
                inside = ";".join(one for one in _declared(inside) if one.partition(":")[0] not in said)
            kept.append((",".join(selectors), inside))
    return kept


def _declared(inside: str) -> list[str]:
    """The declarations of a rule, taken apart at the semicolons that stand in no quotes."""
    return re.findall(r'(?:[^;"]|"[^"]*")+', inside)


def _is_root(selector: str) -> bool:
    return ROOT_ALONE.fullmatch(selector.strip()) is not None


def _is_cut(selector: str, patterns: tuple[str, ...]) -> bool:
    """Whether it can match nothing: what it must not be, and one of several that it may be, do not count."""
    while (shorter := re.sub(r":not\([^()]*\)", "", selector)) != selector:
        selector = shorter
    while found := re.search(r":(?:is|where|has)\(([^()]*)\)", selector):
        options = [one for one in found[1].split(",") if not _needs(one, patterns)]
        if not options:
            return True
        selector = selector[: found.start()] + selector[found.end() :]
    return _needs(selector, patterns)


def _needs(selector: str, patterns: tuple[str, ...]) -> bool:
    return any(re.search(pattern, selector) for pattern in patterns)


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
    parts = cut(Path(sys.argv[1]).read_text("utf-8"), ours)
    for name, part in zip(("pico.min.css", "pico.pages.css"), parts, strict=True):
        (ROOT / "static" / "vendor" / name).write_text(part + "\n", "utf-8")
