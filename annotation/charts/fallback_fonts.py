"""Installed fonts for characters that DejaVu Sans, the font of figures, does not have. Used within matplotlib's style.

chosen = fallback("数据集")
chosen.families      # ("Noto Sans CJK SC",), where it is installed
chosen.missing       # characters that no installed font has
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

FIRST = "DejaVu Sans"
"""It comes with matplotlib."""
PREFERRED = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans")
NOT_LETTERS = ("Last Resort", "STIXNonUnicode", "STIXSize", "cm")
"""How fonts of matplotlib begin that have boxes for all characters, or signs of formulas at the places of others."""


@dataclass(frozen=True)
class Fallback:
    """Families to try after `FIRST`, in their order, and the characters that none of them has."""

    families: tuple[str, ...]
    missing: frozenset[str]


def fallback(characters: Iterable[str]) -> Fallback:
    """The families that are needed for these characters, of those that matplotlib finds on this machine."""
    missing = {character for character in characters if _is_drawn(character)}
    missing -= _supported_characters(FIRST, missing)
    families: list[str] = []
    if missing:
        add_new_fonts()
    for family in _families() if missing else ():
        if covered := _supported_characters(family, missing):
            families.append(family)
            missing -= covered
        if not missing:
            break
    return Fallback(tuple(families), frozenset(missing))


def _is_drawn(character: str) -> bool:
    """Whether a character has a shape: not blanks, controls, joiners and variation selectors."""
    is_selector = "\ufe00" <= character <= "\ufe0f"
    return not (character.isspace() or is_selector or unicodedata.category(character) in ("Cc", "Cf"))


def _families() -> list[str]:
    """The upright families on this machine: the preferred ones, then those with "Sans" in their name, then others."""
    from matplotlib import font_manager

    names = {font.name for font in font_manager.fontManager.ttflist if font.style == "normal"}
    others = sorted(names, key=lambda name: ("Mono" in name, "Sans" not in name, name))
    return [
        *(name for name in PREFERRED if name in names),
        *(name for name in others if name not in (FIRST, *PREFERRED) and not name.startswith(NOT_LETTERS)),
    ]


@lru_cache(maxsize=1)
def add_new_fonts() -> None:
    """Make fonts known that were installed after matplotlib wrote its list of fonts; once in a process."""
    from matplotlib import font_manager

    listed = {font.fname for font in font_manager.fontManager.ttflist}
    for path in sorted(set(font_manager.findSystemFonts()) - listed):
        try:
            font_manager.fontManager.addfont(path)
        except (OSError, RuntimeError, ValueError):
            continue  # bitmaps, such as Noto Color Emoji, and files that are no fonts


def _supported_characters(family: str, characters: Iterable[str]) -> set[str]:
    codes = _codes(family)
    return {character for character in characters if ord(character) in codes}


@lru_cache(maxsize=64)
def _codes(family: str) -> frozenset[int]:
    """The code points that the family has, in the weight of the text."""
    from matplotlib import font_manager

    path = font_manager.findfont(font_manager.FontProperties(family=[family]), fallback_to_default=False)
    return frozenset(font_manager.get_font(path).get_charmap())
