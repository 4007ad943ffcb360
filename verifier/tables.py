"""Edited tables, replayed from their source tables."""

from collections.abc import Callable, Sequence
from typing import Any

from records import Difference, Record, Release, digest, require

OPTIONAL = ("title", "caption", "header_rows")


class Sheet:
    """A table while operations change it. Rows and columns keep their ids: r0, r1 and c0, c1 in a source table."""

    def __init__(self, content: Record) -> None:
        self.beside: Record = {name: content[name] for name in ("title", "caption") if name in content}
        self.above = [list(row) for row in content.get("header_rows", [])]
        self.header = list(content["header"])
        self.columns = [f"c{index}" for index in range(len(self.header))]
        self.rows = {f"r{index}": list(row) for index, row in enumerate(content["rows"])}
        self.order = list(self.rows)
        self.header_id = "h"

    def content(self) -> Record:
        """The table as JSON, of which the digest is taken."""
        above: Record = {"header_rows": self.above} if self.above else {}
        return {"header": self.header, "rows": [self.rows[id] for id in self.order], **self.beside, **above}

    def apply(self, operation: Record) -> None:
        """Do one operation. Difference where it does not fit, KeyError and ValueError where it is none."""
        OPERATIONS[operation["op"]](self, operation)

    def set_cell(self, step: Record) -> None:
        cells, index = self.rows[step["row"]], self.columns.index(step["column"])
        self._expect(cells[index], step["old"])
        cells[index] = step["new"]

    def remove_row(self, step: Record) -> None:
        self._expect(self.rows.pop(step["row"]), step["old"])
        self.order.remove(step["row"])

    def insert_row(self, step: Record) -> None:
        require(
            step["row"] not in self.rows and len(step["cells"]) == len(self.columns), "a row does not fit"
        )
        self.order.insert(self._behind(self.order, step["after"]), step["row"])
        self.rows[step["row"]] = list(step["cells"])

    def move_row(self, step: Record) -> None:
        self.order.remove(step["row"])
        self.order.insert(self._behind(self.order, step["after"]), step["row"])

    def rename_header(self, step: Record) -> None:
        index = self.columns.index(step["column"])
        self._expect(self.header[index], step["old"])
        self.header[index] = step["new"]

    def remove_column(self, step: Record) -> None:
        _, header, cells = self._take(self.columns.index(step["column"]))
        self._expect([header, *cells], step["old"])

    def insert_column(self, step: Record) -> None:
        above = step.get("above") or [""] * len(self.above)
        index = self._behind(self.columns, step["after"])
        self._put(index, step["column"], above, step["header"], step["cells"])

    def move_column(self, step: Record) -> None:
        parts = self._take(self.columns.index(step["column"]))
        self._put(self._behind(self.columns, step["after"]), step["column"], *parts)

    def split_column(self, step: Record) -> None:
        index = self.columns.index(step["column"])
        above, _, _ = self._take(index)
        for offset, part in enumerate(step["into"]):
            self._put(index + offset, part["column"], above, part["header"], part["cells"])

    def transpose(self, step: Record) -> None:
        lines = [*self.above, self.header, *(self.rows[id] for id in self.order)]
        turned = [list(cells) for cells in zip(*lines, strict=True)]
        ids = [*(f"h{index}" for index in range(len(self.above))), self.header_id, *self.order]
        self.header_id, body = self.columns[0], self.columns[1:]
        self.above, self.header, self.columns = [], turned[0], ids
        self.rows, self.order = dict(zip(body, turned[1:], strict=True)), body

    def mask_cells(self, step: Record) -> None:
        for row, column in step["cells"]:
            self.rows[row][self.columns.index(column)] = step["with"]

    def _expect(self, actual: Any, old: Any) -> None:
        require(actual == old, f"an operation replaces {old!r}, but the table has {actual!r}")

    def _behind(self, ids: Sequence[str], after: str | None) -> int:
        return 0 if after is None else ids.index(after) + 1

    def _take(self, index: int) -> tuple[list[str], str, list[str]]:
        """Remove a column. Its texts in further header rows, its header, its cells."""
        del self.columns[index]
        return (
            [line.pop(index) for line in self.above],
            self.header.pop(index),
            [self.rows[id].pop(index) for id in self.order],
        )

    def _put(self, index: int, column: str, above: Sequence[str], header: str, cells: Sequence[str]) -> None:
        require(column not in self.columns and len(cells) == len(self.order), "a column does not fit")
        self.columns.insert(index, column)
        self.header.insert(index, header)
        for line, text in zip(self.above, above, strict=True):
            line.insert(index, text)
        for id, text in zip(self.order, cells, strict=True):
            self.rows[id].insert(index, text)


OPERATIONS: dict[str, Callable[[Sheet, Record], None]] = {
    name: getattr(Sheet, name)
    for name in (
        *("set_cell", "remove_row", "insert_row", "move_row", "rename_header", "remove_column"),
        *("insert_column", "move_column", "split_column", "transpose", "mask_cells"),
    )
}


def check_tables(release: Release) -> None:
    """Tables have their digests, examples their tables, and every edited table follows from its source table."""
    for sha, content in release.tables.items():
        require(digest(content) == sha, f"sources.jsonl: the table {sha} has another digest")
        release.checked["tables"] += 1
    for (source, id), record in release.originals.items():
        require(source in release.sources, f"example {id}: there is no source {source}")
        require(record["table"] in release.tables, f"example {id}: its table is missing")
    for record in release.annotations:
        key = record["source"], record["example"]
        if key not in release.originals and key not in release.derived:
            require(
                (release.folder / "perturbations.jsonl").is_file(),
                f"annotation {record['id']}: there is no example {record['example']}",
            )
            release.not_checked["annotations of automatic perturbations: the example"] += 1
    for (source, id), example in release.derived.items():
        _check_derived(release, source, id, example)


def _check_derived(release: Release, source: str, id: str, example: Record) -> None:
    parent = release.derived.get((source, example["parent"])) or release.originals.get(
        (source, example["parent"])
    )
    require(
        parent or (release.folder / "perturbations.jsonl").is_file(), f"example {id}: its parent is missing"
    )
    require(example["table"] in release.tables, f"example {id}: its source table is missing")
    if parent and parent["table"] != example["table"]:
        raise Difference(f"example {id}: its source table is not that of its parent")
    content = release.tables[example["table"]]
    if "spans" in content:
        release.not_checked["edited tables with merged cells"] += 1
        return
    sheet = Sheet(content)
    try:
        for step in example["operations"]:
            sheet.apply(step)
    except (KeyError, ValueError, IndexError) as error:
        raise Difference(f"example {id}: an operation does not fit ({error})") from None
    require(
        digest(sheet.content()) == example["digest"], f"example {id}: the replayed table has another digest"
    )
    release.checked["replayed tables"] += 1
