"""Files that are written or read in turns: a process may often have 1,024 open, and a release has more benchmark files."""

from pathlib import Path
from typing import BinaryIO, cast

from cachetools import LRUCache

MOST_OPEN = 200


class OpenFiles(LRUCache[Path, BinaryIO]):
    """The `MOST_OPEN` files used last; others are closed, and opened again at the position where they were closed."""

    def __init__(self) -> None:
        super().__init__(MOST_OPEN)
        self._positions: dict[Path, int] = {}

    def close(self) -> None:
        """Close those that are open."""
        for file in self.values():
            file.close()

    def write(self, path: Path, text: str) -> None:
        """Add a text to a file, which is new at first."""
        self._file(path, "r+b" if path in self._positions else "wb").write(text.encode())

    def line(self, path: Path) -> str:
        """The next line of a file with its end, "" after the last one."""
        return self._file(path, "rb").readline().decode()

    def popitem(self) -> tuple[Path, BinaryIO]:
        """Close the file that was unused for the longest time."""
        path, file = super().popitem()
        self._positions[path] = file.tell()
        file.close()
        return path, file

    def _file(self, path: Path, mode: str) -> BinaryIO:
        if path not in self:
            self[path] = cast("BinaryIO", path.open(mode))
            self[path].seek(self._positions.get(path, 0))
        return self[path]
