"""Numbers and texts as number formats show them: `"$"#,##0.00`, `000`, `#,##0.00;[Red](#,##0.00)`, `@" kg"`."""

import re
from decimal import ROUND_HALF_UP, Context, Decimal

LONGEST = 255
"""Characters of a format; Excel makes none that is longer."""
_EXACT = Context(prec=1_500)
"""Digits enough for the largest number and the most decimals and percent signs of a format."""
GENERAL = {"", "General", "@"}
_COLOURS = "Black|Blue|Cyan|Green|Magenta|Red|White|Yellow|Color ?[0-9]+"
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\[\]-]*)(?:-[^\[\]]*)?\]'
    rf"|(?P<nothing>\*.|\[(?:{_COLOURS})\])|(?P<space>_.)|(?P<general>General)|(?P<text>@)"
    r"|(?P<digits>[#0?][#0?,]*(?:\.[0#?]*,*)?|\.[0#?]+,*)(?P<exponent>E\+00)?"
    r"|(?P<sign>[ $€£¥%+/():!^&'~{}<>=-])",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\[[<>=]")


def number_text(value: float, code: str) -> str | None:
    """A number as a cell shows it: 1, 0.5, and by its format 13.50, 1,204, 50%, $99.95 or 007. None for an unknown format.

    Up to 15 digits where it has no format, as Excel knows no more: 1.0 is 1, 0.1 + 0.2 is 0.3, and 10 ** 21 is 1E+21.
    """
    if code in GENERAL:
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15G}"
    if len(code) > LONGEST:
        return None
    sections = _sections(code)
    has_own_sign = len(sections) > 1 and value < 0
    section = sections[2] if len(sections) > 2 and value == 0 else sections[has_own_sign]
    tokens = list(_TOKEN.finditer(section))
    numbers = [token for token in tokens if token["digits"] or token["general"]]
    is_known = "".join(token[0] for token in tokens) == section and not _CONDITION.search(code)
    if not is_known or len(numbers) > 1 or any(token["text"] for token in tokens):
        return None  # a date, a fraction, a condition, or digits with signs between them
    exact = abs(Decimal(repr(value))) * 100 ** sum(token["sign"] == "%" for token in tokens)
    parts, is_zero = [], True
    for token in tokens:
        if token["general"]:
            text = number_text(abs(value), "") or ""
        elif token["digits"]:
            text = _digits(exact, token["digits"], token["exponent"])
        else:
            parts.append(" " if token["space"] else _literal(token))
            continue
        is_zero = set(text).isdisjoint("123456789")
        parts.append(text)
    sign = "-" if value < 0 and not has_own_sign and not is_zero else ""
    return sign + "".join(parts).strip()


def formatted_text(text: str, code: str) -> str | None:
    """A text as a cell shows it, without spaces that only align it. None for an unknown format."""
    if len(code) > LONGEST:
        return None
    sections = _sections(code)
    section = sections[min(len(sections), 4) - 1]
    if section == "@":
        return text
    tokens = list(_TOKEN.finditer(section))
    if len(sections) < 4 and not any(token["text"] for token in tokens):
        return text
    if "".join(token[0] for token in tokens) != section or any(token["digits"] for token in tokens):
        return None
    return "".join(text if token["text"] or token["general"] else _literal(token) for token in tokens)


def _sections(code: str) -> list[str]:
    """The parts of a format for positive and negative numbers, zero and texts."""
    by_quotes = code.split('"')  # every second one is quoted
    by_quotes[::2] = [part.replace(";", "\0") for part in by_quotes[::2]]
    return '"'.join(by_quotes).split("\0")


def _literal(token: re.Match[str]) -> str:
    return token["quoted"] or token["escaped"] or token["currency"] or token["sign"] or ""


def _digits(exact: Decimal, pattern: str, exponent: str | None) -> str:
    """A number without its sign as a pattern of 0, #, comma and point writes it."""
    whole, _, decimals = pattern.rstrip(",").partition(".")
    if exponent:
        return f"{float(exact):.{len(decimals)}E}"
    exact = exact.scaleb(-3 * (len(pattern) - len(pattern.rstrip(","))))
    rounded = exact.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP, _EXACT)
    before, point, after = f"{rounded:f}".partition(".")
    least = decimals.rstrip("#?")
    after = after[: len(least)] + after[len(least) :].rstrip("0")
    before = before.lstrip("0").rjust(whole.count("0"), "0")
    if "," in whole and before:
        fill = len(before)
        before = f"{int(before):0{fill + (fill - 1) // 3},}"
    return before + ("." if after or (point and least) else "") + after
