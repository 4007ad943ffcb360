"""The original examples of a project, a release or a dataset, for the commands that make prompts of any of them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import tableqa
from annotation.models import Example, Source
from annotation.releases import raw_records
from tableqa.readers import READERS


def of_sources(sources: Iterable[Source]) -> Iterator[tuple[str, tableqa.Example]]:
    """(name of the source, original) of sources of a project."""
    for source in sources:
        last = 0
        originals = (
            Example.objects.originals().filter(source=source).select_related("stored_table").order_by("pk")
        )
        while page := list(originals.filter(pk__gt=last)[:500]):  # by key: no cursor stays open
            for example in page:
                yield source.name, example.example()
            last = page[-1].pk


def of_release(folder: Path) -> Iterator[tuple[str, tableqa.Example]]:
    """(source, original) of a release folder. Raises Difference."""
    raw = raw_records.load(folder)
    for source, id in raw.originals:
        yield source, raw.example(source, id)


def of_dataset(path: Path, reader: str, tables: Path | None = None) -> Iterator[tuple[str, tableqa.Example]]:
    """(name of the file or folder, example) of a published dataset. ReaderError."""
    name = path.resolve().name if path.is_dir() else path.resolve().stem
    for example in READERS[reader](path, tables=tables):
        yield name, example
