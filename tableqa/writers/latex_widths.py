r"""How a table of LaTeX fits into a page: its font size, heads of several lines, columns that wrap, and its parts.

    layout = fitted(titles, cells, numeric)
    layout.size, layout.kinds, layout.heads, layout.is_sideways
    layout.parts(caption)

Widths are estimated from numbers of characters: TeX alone knows them. The page is that of the class `article`, 345 pt by
550 pt, narrower than that of the usual styles of conferences. What is wider is set sideways, and what is longer in parts.
Widths of wrapped columns are shares of `\linewidth`, so that they grow in a table across two columns (`table*`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

PAGE: Final = 345.0
"""Points: `\\textwidth` of the class article at 10 pt."""
TALL: Final = 550.0
"""Points: `\\textheight` of the same class."""


@dataclass(frozen=True, slots=True)
class Size:
    """A font size: its command ("" for that of the text), points of a digit, beside each column, and of a line."""

    command: str
    letter: float
    beside: float
    line: float


SIZES: Final = (
    Size("", 5.0, 6, 12.0),
    Size("small", 4.6, 5, 11.0),
    Size("footnotesize", 4.25, 4, 9.5),
    Size("scriptsize", 4.1, 3, 8.0),
)
TINY: Final = Size("tiny", 3.5, 2, 6.0)
"""For tables that are wider than a page is high."""
CAPTION: Final = "c" * 200
"""A caption of a usual length."""
FEWEST: Final = 9
"""Letters in a line of a wrapped column, at least."""
WIDEST: Final = 1.08
"""Width of a letter at most, as a factor of its width here: lines of a cell are counted with it, so that TeX has no more."""
_WIDTHS: Final = {
    **dict.fromkeys("ijl.,:;|'` ", 0.6),
    **dict.fromkeys("frst()[]-", 0.8),
    **dict.fromkeys("mwABCDGHKNOQRTUVXYZ%&+=<>_", 1.5),
    **dict.fromkeys("EFLP", 1.35),
    **dict.fromkeys("MW@", 1.95),
}
"""Widths in Computer Modern, in digits, where they are not about one: its letters differ from 0.6 (i) to 2.1 (W)."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is set.

    kinds        of the columns, as `tabular` takes them
    heads        rows of as many titles
    lines        number of lines that each row takes
    is_sideways  it is wider than a page is, and set along its height
    """

    size: Size
    kinds: str
    heads: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    wraps: bool = False
    is_sideways: bool = False

    @property
    def height(self) -> float:
        """How high the longest row is, as a share of what a page has for it: a row is in one table."""
        return max(self.lines, default=0) / self._room(CAPTION)

    def parts(self, caption: str) -> list[slice]:
        """The rows of each table: as many as fit below a caption of this length; all of them where that is one page."""
        room = self._room(caption)
        begins, used = [0], 0
        for at, lines in enumerate(self.lines):
            if used + lines > room and at > begins[-1]:
                begins.append(at)
                used = 0
            used += lines
        return [slice(begin, end) for begin, end in zip(begins, [*begins[1:], len(self.lines)], strict=True)]

    def _room(self, caption: str) -> float:
        """How many lines of rows fit into a page below this caption."""
        across, down = (TALL, PAGE) if self.is_sideways else (PAGE, TALL)
        above = (
            12 * (2 + max(len(caption), width(caption)) * SIZES[0].letter / across)
            + (len(self.heads) + 1) * self.size.line
            + 12
        )
        return max(10 * self.size.line, down - above) / self.size.line


def fitted(titles: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> Layout:
    """The largest font in which the table fits into a page; in the smallest, columns of texts wrap as far as they must.

    cells: by column, what is read in each cell. Numbers and words are not parted: a table with very many is set sideways,
    and if it is wider than a page is high, in the font `TINY`. So is one of which a row is longer than a page.
    """
    longest = [max(map(width, of_column), default=0.0) for of_column in cells]
    heads = [_in_lines(title, int(letters)) for title, letters in zip(titles, longest, strict=True)]
    letters = [max(most, *map(width, lines)) for most, lines in zip(longest, heads, strict=True)]
    fewest = {
        at: max([FEWEST, *(width(word) for cell in cells[at] for word in cell.split())])
        for at, is_number in enumerate(numeric)
        if not is_number
    }
    least = [min(most, fewest.get(at, most)) for at, most in enumerate(letters)]
    too_wide = _width(least, SIZES[-1]) > TALL
    ways = [(False, SIZES[-1])] * (_width(least, SIZES[-1]) <= PAGE) + [(True, SIZES[-1])] * (not too_wide)
    layouts = []
    for is_sideways, smallest in [*ways, (True, TINY)]:
        page = TALL if is_sideways else PAGE
        size = next((size for size in SIZES if _width(letters, size) <= page), smallest)
        over = (_width(letters, size) - page) / size.letter
        wrapped = _wrapped({at: letters[at] for at in fewest}, fewest, over) if over > 0 else {}
        layouts.append(_laid_out(heads, cells, numeric, wrapped, size, is_sideways=is_sideways))
        if layouts[-1].height <= 1:
            return layouts[-1]
    return min(layouts, key=lambda layout: layout.height)


def _laid_out(
    heads: Sequence[Sequence[str]],
    cells: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    wrapped: Mapping[int, float],
    size: Size,
    *,
    is_sideways: bool,
) -> Layout:
    """The layout with columns of these widths (`wrapped`), and with heads in lines."""
    page = TALL if is_sideways else PAGE
    kinds = "".join(
        rf">{{\raggedright\arraybackslash}}p{{{wrapped[at] * size.letter / page:.4f}\linewidth}}"
        if at in wrapped
        else "r"
        if is_number
        else "l"
        for at, is_number in enumerate(numeric)
    )
    lines = max((len(each) for each in heads), default=1)
    padded = [[""] * (lines - len(each)) + list(each) for each in heads]
    line_count = max(map(len, cells), default=0)
    rows = [
        max([1, *(_number_of_lines(cells[at][row], letters) for at, letters in wrapped.items())])
        for row in range(line_count)
    ]
    return Layout(size, kinds, tuple(zip(*padded, strict=True)), tuple(rows), bool(wrapped), is_sideways)


def width(text: str) -> float:
    """How wide a line is, in digits."""
    return sum(_WIDTHS.get(character, 1.0) for character in text)


def _width(letters: Sequence[float], size: Size) -> float:
    return sum(letters) * size.letter + 2 * size.beside * len(letters)


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


def _number_of_lines(text: str, letters: float) -> int:
    """How many lines a text takes in a column of this width, at most."""
    line_count, used, blank = 1, 0.0, WIDEST * width(" ")
    for word in text.split():
        wide = WIDEST * width(word)
        if used and used + blank + wide > letters:
            line_count, used = line_count + 1, wide
        else:
            used += wide + (blank if used else 0)
    return line_count


def _wrapped(letters: Mapping[int, float], fewest: Mapping[int, float], over: float) -> dict[int, float]:
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
