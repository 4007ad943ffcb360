"""Files that are written or read in turns, a line here and a line there, of which few are open at a time.

A process may often have 1,024 files open, and a release of many sources in several formats has more benchmark files.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import BinaryIO

MOST_OPEN = 200


class OpenFiles:
    """The `MOST_OPEN` files that were used last; others are closed, and opened again where they were left."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, BinaryIO] = OrderedDict()
        self._left: dict[Path, int] = {}

    def close(self) -> None:
        """Close those that are open."""
        for file in self._open.values():
            file.close()

    def write(self, path: Path, text: str) -> None:
        """Add a text to the end of a file, which is new at first."""
        self._file(path, "r+b" if path in self._left else "wb").write(text.encode())

    def line(self, path: Path) -> str:
        """The next line of a file with its end, "" after the last one."""
        return self._file(path, "rb").readline().decode()

    def _file(self, path: Path, mode: str) -> BinaryIO:
        if path in self._open:
            self._open.move_to_end(path)
            return self._open[path]
        if len(self._open) == MOST_OPEN:
            longest_unused, file = self._open.popitem(last=False)
            self._left[longest_unused] = file.tell()
            file.close()
        file = self._open[path] = path.open(mode)  # type: ignore[assignment]  # every mode here is binary
        file.seek(self._left.get(path, 0))
        return file
