"""Collections that stay small in memory however much they hold: the rest is in a temporary file of SQLite's.

    lines = Shelf[str, int]()      # a dict: lines["nt-1"] = 7; in the order of insertion
    rows = SortedTuples(3, key=2) # a set of tuples, given in order of their first two parts
    found = Lines()                # a list of JSON values: found.append({"a": 1}); found[0]

They are private to the object: the file has no name, and goes with it.
"""

import json
import sqlite3
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

MOST_IN_MEMORY = 5_000
"""Entries of a `Shelf` before it moves to disk: small sources never touch it."""
BYTES_IN_MEMORY = 100_000
"""Bytes of `Lines` before they move to disk."""
CACHE = 512
"""Kilobytes of a file that SQLite keeps in memory."""
_PAGE = 1_000

Key = TypeVar("Key")
Value = TypeVar("Value")


def database(*statements: str) -> sqlite3.Connection:
    """A database in a temporary file that only this connection has; the statements make its tables.

    Everything is one transaction that never ends: what a crash would leave behind is garbage.
    """
    connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for statement in (
        f"PRAGMA cache_size = -{CACHE}",
        "PRAGMA journal_mode = OFF",
        "PRAGMA synchronous = OFF",
        "BEGIN",
        *statements,
    ):
        connection.execute(statement)
    return connection


class Shelf(MutableMapping[Key, Value]):
    """A dict whose keys and values are texts, whole numbers, None, or tuples of these."""

    def __init__(self, most: int = MOST_IN_MEMORY) -> None:
        self._most = most
        self._small: dict[Any, Any] = {}
        self._db: sqlite3.Connection | None = None

    def __setitem__(self, key: Key, value: Value) -> None:
        if self._db is None:
            self._small[key] = value
            if len(self._small) > self._most:
                self._move()
            return
        _put(self._db, key, value)

    def add(self, key: Key, value: Value) -> bool:
        """Put a new key in; False where it is there, which stays as it is. One statement in place of two."""
        if self._db is None:
            if key in self._small:
                return False
            self[key] = value
            return True
        statement = "INSERT OR IGNORE INTO kept (key, value) VALUES (?, ?)"
        return bool(self._db.execute(statement, (_packed(key), _packed(value))).rowcount)

    def __getitem__(self, key: Key) -> Value:
        if self._db is None:
            return cast("Value", self._small[key])
        row = self._db.execute("SELECT value FROM kept WHERE key = ?", (_packed(key),)).fetchone()
        if row is None:
            raise KeyError(key)
        return cast("Value", _unpacked(row[0]))

    def __delitem__(self, key: Key) -> None:
        if self._db is None:
            del self._small[key]
        elif not self._db.execute("DELETE FROM kept WHERE key = ?", (_packed(key),)).rowcount:
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        if self._db is None:
            return key in self._small
        return self._db.execute("SELECT 1 FROM kept WHERE key = ?", (_packed(key),)).fetchone() is not None

    def __iter__(self) -> Iterator[Key]:
        if self._db is None:
            yield from self._small
            return
        last = 0
        # Page by page: what is added or read in between finds no statement open.
        while rows := self._db.execute(
            "SELECT number, key FROM kept WHERE number > ? ORDER BY number LIMIT ?", (last, _PAGE)
        ).fetchall():
            for _, key in rows:
                yield _unpacked(key)
            last = rows[-1][0]

    def __len__(self) -> int:
        if self._db is None:
            return len(self._small)
        return int(self._db.execute("SELECT count(*) FROM kept").fetchone()[0])

    def _move(self) -> None:
        self._db = database("CREATE TABLE kept (number INTEGER PRIMARY KEY, key TEXT UNIQUE, value TEXT)")
        weakref.finalize(self, self._db.close)
        for key, value in self._small.items():
            _put(self._db, key, value)
        self._small = {}


class SortedTuples:
    """Tuples of texts and whole numbers of 64 bits, in order of their first parts, each once. Texts go by code point.

    width   parts of a tuple
    key     how many of them, from the first, order it and tell it from others; those are never None
    """

    def __init__(self, width: int, key: int) -> None:
        names = [f"part{number}" for number in range(width)]
        keyed = names[:key]
        columns = ", ".join(f"{name} NOT NULL" if name in keyed else name for name in names)
        self._db = database(f"CREATE TABLE rows ({columns}, PRIMARY KEY ({', '.join(keyed)})) WITHOUT ROWID")
        self._add = f"INSERT OR IGNORE INTO rows VALUES ({', '.join('?' * width)})"  # nosec B608: our own names
        self._order = ", ".join(keyed)
        weakref.finalize(self, self._db.close)

    def add(self, *row: Any) -> None:
        """Put a tuple in; one with the same key stays as it is."""
        self._db.execute(self._add, row)

    def update(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Put many in."""
        self._db.executemany(self._add, rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        yield from self._db.execute(f"SELECT * FROM rows ORDER BY {self._order}")  # nosec B608: our own names

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM rows").fetchone()[0])

    def distinct(self, *parts: int) -> Iterator[tuple[Any, ...]]:
        """These parts of the tuples, by their place from 0, each combination once and in order."""
        names = ", ".join(f"part{part}" for part in parts)
        yield from self._db.execute(f"SELECT DISTINCT {names} FROM rows ORDER BY {names}")  # nosec B608: our own names

    def pages(self, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The tuples in lists of at most `size`."""
        rows = iter(self)
        while page := list(islice(rows, size)):
            yield page


class Lines(Sequence[Any]):
    """JSON values in the order of adding. They are added and read; none is changed."""

    def __init__(self, most: int = BYTES_IN_MEMORY) -> None:
        self._file = tempfile.SpooledTemporaryFile(most)  # noqa: SIM115 (closed with the object)
        weakref.finalize(self, self._file.close)
        self._starts = array("Q")
        self._end = 0

    def append(self, value: Any) -> None:
        line = json.dumps(value).encode("ascii") + b"\n"
        self._file.seek(self._end)
        self._file.write(line)
        self._starts.append(self._end)
        self._end += len(line)

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, index: Any) -> Any:
        self._file.seek(self._starts[index])
        return json.loads(self._file.readline())


def _put(db: sqlite3.Connection, key: object, value: object) -> None:
    db.execute(
        "INSERT INTO kept (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_packed(key), _packed(value)),
    )


def _packed(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def _unpacked(text: str) -> Any:
    value = json.loads(text)
    return tuple(value) if isinstance(value, list) else value
