"""Originals of a release compared with the public dataset that they come from."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from tableqa.readers.ingestion import ReadRequest, Rows, read_all
from tableqa.releases.record_files import Difference, Record
from tableqa.releases.release_records import ReleaseRecords

COMPARED: Final = ("alternatives", "context", "history")
"""What is compared of an original beside question, answers and table."""
NOT_STATED: Final = ("", "NOASSERTION")


@dataclass(frozen=True)
class PublicFiles:
    """The files of a public dataset: those of each import of the source, and how to read them, as for an import.

    fields   under which names the records hold the parts of an example, for readers with custom names
    """

    paths: Sequence[Path]
    tables: Path | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


def compare_source(raw: ReleaseRecords, name: str, public: PublicFiles) -> int:
    """Read a public dataset again, and compare every original of the source with it. Returns the number of originals.

    Compares question, answers, table, paragraphs, earlier turns and licence. A licence that the files do not state is not
    compared. Raises Difference, `tableqa.readers.interface.ReaderError` and ValueError (fields).
    """
    if name not in raw.sources:
        raise Difference(
            f"sources.jsonl: there is no source {name!r}. Available: {', '.join(sorted(raw.sources))}"
        )
    source = raw.sources[name]
    missing_ids = {id for of_source, id in raw.originals if of_source == name}
    count = len(missing_ids)
    for path in public.paths:
        for id, *row in _rows(source, path, public):
            if id in missing_ids:
                missing_ids.discard(id)
                _compare(raw.originals[name, id], row, path)
    if missing_ids:
        files = ", ".join(path.name for path in public.paths)
        raise Difference(
            f"sources.jsonl: example {min(missing_ids)!r} of {name} is not in {files}, and {len(missing_ids) - 1} others"
        )
    return count


def _rows(source: Mapping[str, Any], path: Path, public: PublicFiles) -> Iterator[list[Any]]:
    """The rows of a file, as an import reads them (`Rows`), once its licence was compared."""
    with tempfile.TemporaryDirectory(prefix="askew-source-") as folder:
        tables = str(public.tables) if public.tables else None
        request = ReadRequest(
            source["reader"],
            str(path),
            f"{folder}/rows.jsonl",
            tables=tables,
            fields=public.fields,
            split=source["split"],
        )
        licence = read_all(request).credit.licence
        if licence not in (*NOT_STATED, source["licence"]):
            raise Difference(
                f"sources.jsonl: the licence of {source['name']} is {source['licence']!r}, {path.name} has {licence!r}"
            )
        yield from chain.from_iterable(Rows.read(Path(request.rows)))


def _compare(original: Record, row: Sequence[Any], path: Path) -> None:
    question, answers, beside, table, *_ = row
    published = {"question": question, "answers": answers, "table": table}
    published |= {name: beside.get(name) for name in COMPARED}
    released = {name: original.get(name, original["more"].get(name)) for name in published}
    for name, value in published.items():
        if released[name] != value:
            seen = "" if name == "table" else f": {released[name]!r}, there {value!r}"
            raise Difference(
                f"sources.jsonl: the {name} of example {original['id']!r} differs from {path.name}{seen}. It was changed, "
                "redacted, or read by an older version"
            )
