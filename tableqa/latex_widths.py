r"""How a table of LaTeX fits into the width of a page: its font size, heads of several lines, and columns that wrap.

    layout = fitted(titles, cells, numeric)
    layout.size, layout.kinds, layout.heads

Widths are estimated from numbers of characters: TeX alone knows them. The page is that of the class `article`, 345 pt,
narrower than that of the usual styles of conferences. Widths of wrapped columns are shares of `\linewidth`, so that they
grow in a table across two columns (`table*`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

PAGE: Final = 345.0
"""Points: `\\textwidth` of the class article at 10 pt."""


@dataclass(frozen=True, slots=True)
class Size:
    """A font size: its command ("" for that of the text), points of an average letter, and points beside each column."""

    command: str
    letter: float
    beside: float


SIZES: Final = (
    Size("", 5.0, 6),
    Size("small", 4.6, 5),
    Size("footnotesize", 4.25, 4),
    Size("scriptsize", 4.1, 3),
)
FEWEST: Final = 9
"""Letters in a line of a wrapped column, at least."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The size of the font, the kinds of the columns as `tabular` takes them, and the head: rows of as many titles."""

    size: Size
    kinds: str
    heads: tuple[tuple[str, ...], ...]
    wraps: bool


def fitted(titles: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> Layout:
    """The largest font in which the table fits into a page; in the smallest, columns of texts wrap as far as they must.

    cells: by column, what is read in each cell. Numbers and words are not parted: a table with very many stays wider.
    """
    longest = [max(map(len, of_column), default=0) for of_column in cells]
    heads = [_in_lines(title, letters) for title, letters in zip(titles, longest, strict=True)]
    letters = [max(most, *map(len, lines)) for most, lines in zip(longest, heads, strict=True)]
    size = next((size for size in SIZES if _width(letters, size) <= PAGE), SIZES[-1])
    over = (_width(letters, size) - PAGE) / size.letter
    fewest = {
        at: max([FEWEST, *(len(word) for cell in cells[at] for word in cell.split())])
        for at, is_number in enumerate(numeric)
        if not is_number
    }
    wrapped = _wrapped({at: letters[at] for at in fewest}, fewest, over) if over > 0 else {}
    kinds = "".join(
        rf">{{\raggedright\arraybackslash}}p{{{_share(wrapped[at], size)}\linewidth}}"
        if at in wrapped
        else "r"
        if is_number
        else "l"
        for at, is_number in enumerate(numeric)
    )
    lines = max((len(each) for each in heads), default=1)
    padded = [[""] * (lines - len(each)) + each for each in heads]
    return Layout(size, kinds, tuple(zip(*padded, strict=True)), bool(wrapped))


def _width(letters: Sequence[float], size: Size) -> float:
    return sum(letters) * size.letter + 2 * size.beside * len(letters)


def _share(letters: float, size: Size) -> str:
    return f"{letters * size.letter / PAGE:.3f}"


def _in_lines(title: str, letters: int) -> list[str]:
    """A title in lines that are about as long as the cells below it, and as its longest word."""
    words = title.split()
    longest = max([FEWEST, letters, *map(len, words)])
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > longest:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _wrapped(letters: Mapping[int, int], fewest: Mapping[int, int], over: float) -> dict[int, float]:
    """Letters in a line of each column that wraps: the longest give up `over` letters in all, but keep `fewest`."""
    widths = {at: float(most) for at, most in letters.items()}
    while over > 1e-9:
        free = {at: width for at, width in widths.items() if width > fewest[at]}
        if not free:
            break
        most = max(free.values())
        widest = [at for at, width in free.items() if width == most]
        stops = [width for width in free.values() if width < most] + [fewest[at] for at in widest]
        step = min(most - max(stops), over / len(widest))
        for at in widest:
            widths[at] = most - step
        over -= step * len(widest)
    return {at: width for at, width in widths.items() if width < letters[at]}
