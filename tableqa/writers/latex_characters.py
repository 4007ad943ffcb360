r"""Characters in LaTeX: escapes of what TeX reads as a command, and commands for what its fonts lack.

    escape("x_1 ≤ 10⁻⁸")    # x\_1 \(\leq\) 10\textsuperscript{\(-\)8}
    unsupported(source)            # {"中"}: characters that only an engine such as XeLaTeX or LuaLaTeX can set

The measure is pdfLaTeX with the encoding T1 and UTF-8. Each character is read once: time is linear in the text.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby
from typing import Final

_ESCAPES: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # \textquotedbl is not in the encoding OT1, the default of pdfLaTeX
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # behind a \\ it would be an option, and a star a variant
    "*": "{*}",
    "]": "{]}",
    "-": "{-}",  # two would be a dash
}
_HYPHENS: Final = {
    "\N{HYPHEN}": "{-}",
    "\N{NON-BREAKING HYPHEN}": "{-}",
    "\N{HYPHEN BULLET}": "{-}",
    "\N{SMALL HYPHEN-MINUS}": "{-}",
    "\N{FIGURE DASH}": "--",
    "\N{EN DASH}": "--",
    "\N{HORIZONTAL BAR}": "---",
}
_INVISIBLE: Final = {
    "\N{ZERO WIDTH SPACE}": "",
    "\N{WORD JOINER}": "",
    "\N{ZERO WIDTH NO-BREAK SPACE}": "",
}
_LETTERS: Final = (
    "Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega "
    "α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda "
    "μ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega"
)
_RELATIONS: Final = (
    "± pm ∓ mp ≤ leq ≥ geq ⩽ leq ⩾ geq ≪ ll ≫ gg ≠ neq ≈ approx ≡ equiv ≅ cong ≃ simeq ∼ sim ∝ propto ∞ "
    "infty ∂ partial ∇ nabla ∑ sum ∏ prod ∫ int √ surd ⋅ cdot ∘ circ ∗ ast ⊕ oplus ⊗ otimes ∈ in ∉ notin "
    "∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ∩ cap ∪ cup ∅ emptyset ∖ setminus ∀ forall ∃ exists ∧ "
    "wedge ∨ vee ⊥ perp ∣ mid ∥ parallel ⋯ cdots ℓ ell ← leftarrow ↑ uparrow → rightarrow ↓ downarrow ↔ "
    "leftrightarrow ↦ mapsto ⇐ Leftarrow ⇒ Rightarrow ⇔ Leftrightarrow ⟶ longrightarrow ⟵ longleftarrow"
)
_GREEK, _SIGNS = (
    dict(zip(names[::2], names[1::2], strict=True)) for names in (_LETTERS.split(), _RELATIONS.split())
)
SYMBOLS: Final = (*_GREEK.values(), *_SIGNS.values())
"""Commands of mathematics that texts are written with."""
_MATHEMATICS: Final = {
    **{character: rf"\{command}" for character, command in (_GREEK | _SIGNS).items()},
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", (rf"\mathrm{{{letter}}}" for letter in "ABEZHIKMNOPTX"), strict=True)),
    "ο": "o",
    "\N{MINUS SIGN}": "-",
    "\N{DIVISION SLASH}": "/",
    "\N{RATIO}": ":",
    "\N{PRIME}": "'",
    "\N{DOUBLE PRIME}": "''",
    "\N{TRIPLE PRIME}": "'''",
}
_COMMANDS: Final = {
    **_ESCAPES,
    **_HYPHENS,
    **_INVISIBLE,
    **{character: rf"\({written}\)" for character, written in _MATHEMATICS.items()},
}
_RAISED: Final[Mapping[str, str]] = {"<super>": r"\textsuperscript", "<sub>": r"\textsubscript"}

# What LaTeX declares of UTF-8 for T1 and TS1 (t1enc.dfu, ts1enc.dfu).
_UNSUPPORTED: Final = re.compile(
    "[^\x00-\x7f\u00a0-\u0125\u0128-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u0165\u0168-\u017e\u0192\u01c4-\u01d4"
    "\u01e2\u01e3\u01e6-\u01eb\u01f0\u01f4\u01f5\u0218-\u021b\u0232\u0233\u0237\u02c7\u02d8\u02d9\u02db\u02dd\u0e3f"
    "\u1e02\u1e03\u1e0d\u1e1e-\u1e21\u1e25\u1e30\u1e31\u1e37\u1e43\u1e45\u1e47\u1e5b\u1e63\u1e6d\u1e8e-\u1e91\u1e9e"
    "\u1ef2\u1ef3\u200c\u2010-\u2016\u2018-\u201a\u201c-\u201e\u2020-\u2022\u2026\u2030\u2031\u2039-\u203b\u203d\u2044"
    "\u204e\u2052\u20a1\u20a4\u20a6\u20a9\u20ab\u20ac\u20b1\u2103\u2116\u2117\u211e\u2120\u2122\u2126\u2127\u212e"
    "\u2190-\u2193\u2329\u232a\u2422\u2423\u25e6\u25ef\u266a\u27e8\u27e9\u3008\u3009\ufb00-\ufb06]"
)


def escape(value: str) -> str:
    """A line of text of which nothing is read as a command, with commands for characters that fonts of T1 lack.

    Neighbours that are raised, or lowered, share a command.
    """
    parts = []
    for command, run in groupby(map(_written, value), key=lambda written: written[0]):
        text = "".join(character for _, character in run)
        parts.append(f"{command}{{{text}}}" if command else text)
    return "".join(parts)


def unsupported(source: str) -> set[str]:
    """The characters of LaTeX that pdfLaTeX cannot set; an engine such as XeLaTeX can, with a font that has them."""
    return set(_UNSUPPORTED.findall(source))


@lru_cache(maxsize=4096)
def _written(character: str) -> tuple[str, str]:
    """(the command that raises or lowers it, or "", its replacement)."""
    if character in _COMMANDS or character.isascii():
        return "", _COMMANDS.get(character, character)
    form, *codes = unicodedata.decomposition(character).split() or [""]
    if form in (*_RAISED, "<fraction>"):
        parts = (chr(int(code, 16)) for code in codes)
        plain = "".join("/" if part == "\N{FRACTION SLASH}" else _written(part)[1] for part in parts)
        return _RAISED.get(form, ""), plain
    is_space = unicodedata.category(character) == "Zs" and character != "\N{NO-BREAK SPACE}"
    return "", " " if is_space else character
