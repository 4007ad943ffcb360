"""Files that are written or read in turns: a process may often have 1,024 open, and a release has more benchmark files."""

from collections import OrderedDict
from pathlib import Path
from typing import BinaryIO, cast

MOST_OPEN = 200


class OpenFiles:
    """The `MOST_OPEN` files used last; others are closed, and opened again where they were left."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, BinaryIO] = OrderedDict()
        self._left: dict[Path, int] = {}

    def close(self) -> None:
        """Close those that are open."""
        for file in self._open.values():
            file.close()

    def write(self, path: Path, text: str) -> None:
        """Add a text to a file, which is new at first."""
        self._file(path, "r+b" if path in self._left else "wb").write(text.encode())

    def line(self, path: Path) -> str:
        """The next line of a file with its end, "" after the last one."""
        return self._file(path, "rb").readline().decode()

    def _file(self, path: Path, mode: str) -> BinaryIO:
        if path in self._open:
            self._open.move_to_end(path)
            return self._open[path]
        if len(self._open) == MOST_OPEN:
            longest_unused, unused = self._open.popitem(last=False)
            self._left[longest_unused] = unused.tell()
            unused.close()
        file = self._open[path] = cast("BinaryIO", path.open(mode))
        file.seek(self._left.get(path, 0))
        return file
