"""The flow of a project as SVG: boxes in columns and rows, counts on arrows, links to click. Pure: no database, no request.

Colours and lines are in board.css, so that the picture needs no style of its own and follows the theme.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.charts.svg import joined

WIDTH = 1048
"""Pixels of the column of text; a longer flow is wider, and scrolls where the window is not."""
ENDS, WIDEST_ENDS = 110, 180
"""Pixels: least and most width of sources and releases."""
GAP, TIP, BEND = 100, 12, 22
"""Pixels: the least distance of columns, in which arrows have their words, and what is left behind and before the words."""
NARROWEST, WIDEST = 150, 300
"""Pixels: the width of a box."""
ARROW = 26
"""Pixels from the top of a row to its arrows."""
LINE, PAD, BAR, APART = 16, 9, 5, 22
"""Pixels: a line of text, the edge of a box, its bar of progress, the distance of rows."""
LETTER, SMALL = 8.2, 0.8
"""Pixels that a letter of a title takes on average in a wide font, and how much of it one of small text takes."""
WIDE_SMALL = 0.9
"""The same of small text that must not be cut off: one line has more wide letters than another."""


@dataclass(frozen=True)
class Box:
    """A step of the flow, in a column (from 1) and a row (from 0).

    name         unique in the picture
    title        at most two lines are drawn
    line         a line below the title
    alert        why it does not move on; "" where it does
    description  the whole of it in words, for screen readers
    parts        shares of its bar of progress, from 0 to 1, by their class
    drop         what leaves the flow here, such as “3 excluded”, and drop_address where that leads to
    """

    name: str
    column: int
    row: int
    title: str
    line: str
    address: str
    description: str
    alert: str = ""
    parts: tuple[tuple[str, float], ...] = ()
    drop: str = ""
    drop_address: str = ""
    kind: str = ""


@dataclass(frozen=True)
class End:
    """Where the flow comes from or goes to: a tall box beside its rows, from the first to the last one."""

    name: str
    first: int
    last: int
    title: str
    line: str
    address: str
    is_start: bool


@dataclass(frozen=True)
class Arrow:
    """From one box or end to another, with words above and below. Dashed: nothing flows, but one waits for the other.

    Each line of words has the address that it leads to, "" for none.
    """

    start: str
    end: str
    above: str = ""
    below: tuple[tuple[str, str], ...] = ()
    address: str = ""
    is_dashed: bool = False


@dataclass(frozen=True)
class _Rectangle:
    """Where something is drawn, in pixels; `line` is where its arrows are."""

    left: int
    top: int
    width: int
    height: int
    is_end: bool = False

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def line(self) -> int:
        return self.top + ARROW


def draw(
    name: str, title: str, ends: Sequence[End], boxes: Sequence[Box], arrows: Sequence[Arrow]
) -> SafeString:
    """The picture. `name` is unique on its page. Words of arrows are for the eye only: a table has them as well."""
    columns = max((box.column for box in boxes), default=1)
    ends_wide, gap = _width_of_ends(ends), _gap(arrows)
    wide = min(WIDEST, max(NARROWEST, (WIDTH - 2 * ends_wide - (columns + 1) * gap) // columns))
    rows = _rows(boxes, ends, wide)
    rectangles = {
        **{
            box.name: _Rectangle(
                ends_wide + gap + (box.column - 1) * (wide + gap), rows[box.row][0], wide, _height(box, wide)
            )
            for box in boxes
        },
        **{end.name: _end_rectangle(end, rows, columns * (wide + gap) + gap, ends_wide) for end in ends},
    }
    width = 2 * ends_wide + (columns + 1) * gap + columns * wide
    height = max(bounds.top + bounds.height for bounds in rectangles.values()) + LINE + 4
    return format_html(
        '<svg class="pipeline" width="{}" height="{}" viewBox="0 0 {} {}" role="group" aria-labelledby="{}-title">'
        '<title id="{}-title">{}</title><g aria-hidden="true">{}</g>{}{}</svg>',
        width,
        height,
        width,
        height,
        name,
        name,
        title,
        joined(_arrow(arrow, rectangles, gap) for arrow in arrows),
        joined(_end(end, rectangles[end.name]) for end in ends),
        joined(_box(box, rectangles[box.name]) for box in boxes),
    )


def _rows(boxes: Sequence[Box], ends: Sequence[End], wide: int) -> list[tuple[int, int]]:
    """Top and height of each row."""
    row_count = 1 + max([box.row for box in boxes] + [end.last for end in ends], default=0)
    rows, top = [], 1
    for row in range(row_count):
        heights = [_height(box, wide) for box in boxes if box.row == row]
        drops = any(box.drop for box in boxes if box.row == row)
        height = max([2 * ARROW, *heights])
        rows.append((top, height))
        top += height + APART + (LINE if drops else 0)
    return rows


def _height(box: Box, wide: int) -> int:
    lines = len(_title(box, wide)) + len(_line(box, wide)) + len(_alert(box, wide))
    return 2 * PAD + lines * LINE + (BAR + 5 if box.parts else 0)


def _width_of_ends(ends: Sequence[End]) -> int:
    """Both ends are as wide as the longest word of their titles needs: German words are long."""
    longest = max((len(word) for end in ends for word in end.title.split()), default=0)
    return min(WIDEST_ENDS, max(ENDS, int(longest * LETTER) + 2 * PAD + 3))


def _gap(arrows: Sequence[Arrow]) -> int:
    """Columns are as far apart as the longest words on an arrow need."""
    lines = (line for arrow in arrows for line in (arrow.above, *(below for below, _ in arrow.below)))
    longest = max(map(len, lines), default=0)
    return max(GAP, int(longest * LETTER * WIDE_SMALL) + TIP + BEND)


def _end_rectangle(end: End, rows: Sequence[tuple[int, int]], between: int, wide: int) -> _Rectangle:
    (top, _), (last, height) = rows[end.first], rows[end.last]
    left_edge = 1 if end.is_start else wide + between
    return _Rectangle(left_edge, top, wide - 2, last + height - top, is_end=True)


# -- arrows -----------------------------------------------------------------------------------------


def _arrow(arrow: Arrow, rectangles: Mapping[str, _Rectangle], gap: int) -> SafeString:
    start, end = rectangles[arrow.start], rectangles[arrow.end]
    # At an end, which is as tall as all its rows, every row has an arrow of its own, straight ahead.
    from_line = end.line if start.is_end else start.line
    to_line = start.line if end.is_end else end.line
    lines = [(to_line - 5, arrow.above, arrow.address)] if arrow.above else []
    lines += [(to_line + 13 + 13 * index, *line) for index, line in enumerate(arrow.below)]
    at = start.right + gap - TIP if end.is_end else end.left - TIP
    return format_html(
        '<path class="{}" d="{}"/><path class="tip" d="M{} {}l-7 -4v8z"/>{}',
        "flow dashed" if arrow.is_dashed else "flow",
        _path(start.right, from_line, end.left - 2, to_line),
        end.left - 2,
        to_line,
        joined(_with_link(_text("small end", at, y, line), address) for y, line, address in lines),
    )


def _text(name: str, x: float, y: float, line: str) -> SafeString:
    return format_html('<text class="{}" x="{}" y="{}">{}</text>', name, x, y, line)


def _with_link(drawn: SafeString, address: str) -> SafeString:
    """What is drawn as a link for the mouse: the table of batches has the same links for keys and screen readers."""
    return (
        format_html('<a class="count" tabindex="-1" href="{}">{}</a>', address, drawn) if address else drawn
    )


def _path(left_edge: int, start: int, right_edge: int, end: int) -> str:
    """A line to the right; to another row it turns soon, so that words have room before its tip."""
    if start == end:
        return f"M{left_edge} {start}H{right_edge}"
    down = 6 if end > start else -6
    return f"M{left_edge} {start}h6q6 0 6 {down}V{end - down}q0 {down} 6 {down}H{right_edge}"


# -- boxes ------------------------------------------------------------------------------------------


def _box(box: Box, bounds: _Rectangle) -> SafeString:
    left_edge, down = bounds.left + PAD + 2, bounds.top + PAD + 12
    lines = [("title", line) for line in _title(box, bounds.width)]
    lines += [("small", line) for line in _line(box, bounds.width)]
    lines += [("small alert", line) for line in _alert(box, bounds.width)]
    texts = [(name, left_edge, down + LINE * at, line) for at, (name, line) in enumerate(lines)]
    return format_html(
        '<a class="stage {}" href="{}" aria-label="{}"><rect class="box" x="{}" y="{}" width="{}" height="{}" '
        'rx="6"/>{}{}</a>{}',
        f"{box.kind} blocked" if box.alert else box.kind,
        box.address,
        box.description,
        bounds.left,
        bounds.top,
        bounds.width,
        bounds.height,
        format_html_join("", '<text class="{}" x="{}" y="{}">{}</text>', texts),
        joined(_progress(box, bounds)),
        _drop(box, bounds),
    )


def _progress(box: Box, bounds: _Rectangle) -> Iterator[SafeString]:
    if not box.parts:
        return
    left_edge, top, width = (
        bounds.left + PAD + 2,
        bounds.top + bounds.height - PAD - BAR,
        bounds.width - 2 * PAD - 4,
    )
    rect = '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="2"/>'
    yield format_html(rect, "part", left_edge, top, width, BAR)
    for kind, share in box.parts:
        long = min(round(share * width), bounds.right - PAD - 2 - left_edge)
        if long > 0:
            yield format_html(rect, f"part {kind}", left_edge, top, long, BAR)
            left_edge += long


def _drop(box: Box, bounds: _Rectangle) -> SafeString:
    if not box.drop:
        return SafeString("")
    x, y = bounds.left + 16, bounds.top + bounds.height
    return format_html(
        '<g aria-hidden="true"><path class="flow" d="M{x} {y}v9"/><path class="tip" d="M{x} {z}l-4 -6h8z"/>'
        "{words}</g>",
        x=x,
        y=y,
        z=y + 14,
        words=_with_link(_text("small", x + 9, y + 14, box.drop), box.drop_address),
    )


def _end(end: End, bounds: _Rectangle) -> SafeString:
    left_edge, down = bounds.left + PAD, bounds.top + PAD + 12
    title = _wrap(end.title, bounds.width - 2 * PAD, 1.0, 3)
    room = int((bounds.height - 2 * PAD - len(title) * LINE) // LINE)
    lines = _wrap(end.line, bounds.width - 2 * PAD, SMALL, max(0, room)) if end.line else []
    texts = [("title", line) for line in title] + [("small", line) for line in lines]
    return format_html(
        '<a class="stage ends" href="{}" aria-label="{}"><rect class="box" x="{}" y="{}" width="{}" height="{}" '
        'rx="6"/>{}</a>',
        end.address,
        f"{end.title}: {end.line}" if end.line else end.title,
        bounds.left,
        bounds.top,
        bounds.width,
        bounds.height,
        format_html_join(
            "",
            '<text class="{}" x="{}" y="{}">{}</text>',
            ((name, left_edge, down + LINE * at, line) for at, (name, line) in enumerate(texts)),
        ),
    )


# -- words ------------------------------------------------------------------------------------------


def _title(box: Box, wide: int) -> list[str]:
    return _wrap(box.title, wide - 2 * PAD, 1.0, 2)


def _line(box: Box, wide: int) -> list[str]:
    return _wrap(box.line, wide - 2 * PAD, SMALL, 2)


def _alert(box: Box, wide: int) -> list[str]:
    return _wrap(f"! {box.alert}", wide - 2 * PAD, SMALL, 2) if box.alert else []


def _wrap(text: str, room: float, size: float, most: int) -> list[str]:
    """The text in at most `most` lines of this width in pixels; `size` 1 is that of a title."""
    if most < 1:
        return []
    return textwrap.wrap(
        text, max(4, int(room / (LETTER * size))), max_lines=most, placeholder="…", break_on_hyphens=True
    )
