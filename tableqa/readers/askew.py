"""Releases of Askew: the examples of a release folder, originals and what was made of them, in another project again.

A release holds its source tables once and every edit as operations (docs/reference/release-format.md). This reads the
raw records, which are the same in every format of a release, and replays each accepted edit; and the file of mixes.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tableqa.core.canonical_json import file_digest, thaw
from tableqa.core.command_line import manage
from tableqa.core.disk_collections import Shelf
from tableqa.core.translation import gettext_noop, joined, phrase, reason_of
from tableqa.data.examples import BESIDE, Example, ExampleError
from tableqa.data.positional_ids import with_positional_ids
from tableqa.data.tables import Table, TableError
from tableqa.operations import OperationError, from_dict, replay
from tableqa.readers.example_parts import marked_cells
from tableqa.readers.interface import (
    Credit,
    FileReader,
    Names,
    ReaderError,
    Rejection,
    cannot_open,
    joined_credit,
    read_text,
)
from tableqa.readers.json_values import plain
from tableqa.readers.record_fields import Fields, Location, fields_of
from tableqa.readers.records import read_records
from tableqa.readers.report import in_record
from tableqa.readers.table_files import TableLines, line_at, lines_with_places

MANIFEST = "manifest.json"
LAYOUTS = (1, 2)
"""Of a release in one format, and of one in several, each in a folder of its name."""
_SOURCES, _DECISIONS = "sources.jsonl", "decisions.jsonl"
_AUTOMATIC = "perturbations.jsonl"
_MIXES = {1: ("mix.jsonl", "mix.json"), 2: ("askew/mix.jsonl", "askew/mix.json")}
"""The file of mixes by layout; the second is its name in releases of rules 5 and older."""
_WHOLE = phrase("Fetch the release again")
_VERIFY = phrase("Fetch the release again, or check it with {command}", command=manage("verify_release"))


class AskewRelease(FileReader):
    """The reader "askew"; see `tableqa.readers.interface.Reader`.

    First the original examples as their own reader gave them, then the accepted edits in the order of their decisions,
    then automatic perturbations, made again from their seeds, then mixes. All but the originals have `lineage` in meta:
    "source", "parent" (the id of what was edited), "perturbation", "operations" (all since the source table), "base" (the
    digest of that table) and, of an automatic one, "seed"; where the parent had its own lineage, that is its
    "before". Rows and columns of an edited table are named again by their places, and so are the cells that its meta
    marks. What people contradicted, and what was made of it, is left out, in a release for evaluation also what no person
    verified. Of an original meta says so ("contradicted": the reason). An id that two sources of the release have is
    numbered, and `lineage` holds the "id".
    """

    name = "askew"
    title = gettext_noop("an Askew release")
    beside = gettext_noop("the release as a zip archive; the file is its manifest.json")

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path, Path]:
        """The manifest and the folder of the other files, which an archive may hold in its own folder."""
        path = Path(path)
        manifest = path / MANIFEST if path.is_dir() else path
        if path.is_dir() and not manifest.is_file():
            mend = phrase("Name the folder of one release")
            raise ReaderError(path, None, phrase("there is no {manifest} in it", manifest=MANIFEST), mend)
        if tables is None:
            return manifest, manifest.absolute().parent
        tables_folder = Path(tables)
        folders = [tables_folder, *sorted(inner for inner in tables_folder.glob("*") if inner.is_dir())]
        return manifest, next((folder for folder in folders if (folder / _SOURCES).is_file()), tables_folder)

    def _outcomes(self, manifest: Path, folder: Path) -> Iterator[Example | Rejection]:
        """All examples: a release with a fault is not the one that was released, and no part of it is read."""
        described = _manifest(manifest)
        for name in (_SOURCES, _DECISIONS):
            _check(manifest, folder / name, described)
        raw = _Raw(folder / _SOURCES)
        names = Names()
        against = _listed_examples(manifest, described, "contradicted")
        excluded = against.keys() | _listed_examples(manifest, described, "unverified").keys()
        for source, id in raw.originals:
            unique = names.unique(id)
            original = raw.original(source, id)
            if (source, id) in against:
                reason = against[source, id].text("reason")
                original = replace(original, meta={**thaw(original.meta), "contradicted": reason})
            if unique != id:
                meta = {**thaw(original.meta), "lineage": {"source": source, "id": id}}
                original = replace(original, id=unique, meta=meta)
            yield original
        edited: Shelf[tuple[str, str], int] = Shelf()
        for record in read_records(folder / _DECISIONS):
            source = record.fields.text("source")
            for outcome in record.fields.nested_each("outcomes"):
                if "example" in outcome:
                    example = outcome.nested("example")
                    parent = source, example.text("parent")
                    if parent not in raw.originals and parent not in edited:
                        values = {"field": "parent", "parent": parent[1]}
                        what = phrase("{field} is {parent}, which is not defined before it", **values)
                        raise example.error("parent", what, _WHOLE, _VERIFY)
                    id = example.name("id")
                    edited[source, id] = 1
                    if (source, id) not in excluded:
                        yield _edited_example(example, source, raw, names)
        if _AUTOMATIC in described["files"]:
            _check(manifest, folder / _AUTOMATIC, described)
            for record in read_records(folder / _AUTOMATIC):
                if "digest" in record.fields and _automatic_key(record.fields) not in excluded:
                    yield _automatic_example(record.fields, raw, names)
        mixes = next((name for name in _MIXES[described["layout"]] if name in described["files"]), None)
        if mixes is not None:
            _check(manifest, folder / mixes, described, mixes)
            for record in read_records(folder / mixes):
                # Those of another format are RobuT's items, and read by that reader.
                if "parts" in record.fields:
                    yield _mixed_example(record.fields, names)

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The manifest: it holds the checksums of all the others."""
        yield self.located(path, tables)[0]

    def left_out(self, path: str | Path, tables: str | Path | None = None, limit: int | None = None) -> str:
        """What of the whole release is not given, and why, in sentences; "" where all is."""
        manifest = self.located(path, tables)[0]
        described = _manifest(manifest)
        against = _listed_examples(manifest, described, "contradicted").values()
        excluded = sum(bool(entry.value.get("left_out")) for entry in against)
        unverified = len(_listed_examples(manifest, described, "unverified"))
        sentences = [
            phrase(
                "Excluded because people contradicted their answer or that of their original: {number} "
                "({manifest}, contradicted).",
                number=excluded,
                manifest=MANIFEST,
            ),
            phrase(
                "Excluded because they are unverified machine proposals: {number} ({manifest}, unverified).",
                number=unverified,
                manifest=MANIFEST,
            ),
            phrase(
                "This release for evaluation does not list its unverified machine proposals, so these are included. "
                "Create it again with this version of Askew."
            ),
        ]
        is_older = described.get("purpose") == "evaluation" and "unverified" not in described
        return joined(itertools.compress(sentences, (excluded, unverified, is_older)))

    def credit(self, path: Path, tables: Path | None = None) -> Credit:
        """The licences and citations of the release's sources, each once, licences joined by AND as SPDX has it."""
        manifest = self.located(path, tables)[0]
        location = Location(manifest, 1, "sources")
        sources = [Fields(location, source) for source in _manifest(manifest)["sources"]]
        return joined_credit(
            Credit(*(source.text(name, default="") for name in ("licence", "citation", "url")))
            for source in sources
        )


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise ReaderError(
            path, line, phrase("this is not JSON: {error}", error=reason_of(error)), _WHOLE, _VERIFY
        ) from error
    fields = Fields(Location(path, 1), manifest)
    if fields.value.get("layout") not in LAYOUTS:
        mend = phrase("Name the {manifest} of a release of Askew", manifest=MANIFEST)
        what = phrase("it is not a release of layout {names}", names=" or ".join(map(str, LAYOUTS)))
        raise fields.place.error(what, mend)
    fields.nested("files")
    fields.listed("sources")
    return dict(fields.value)


def _listed_examples(path: Path, described: Mapping[str, Any], name: str) -> dict[tuple[str, str], Fields]:
    """A list of examples in the manifest, by source and id: "contradicted", or "unverified" in a release for evaluation.

    Contradicted originals are given all the same, and marked.
    """
    location = Location(path, 1, name)
    listed = described.get(name, [])
    if not isinstance(listed, list):
        raise location.error(phrase("is not a list"), _WHOLE, _VERIFY)
    fields = [Fields(location, entry) for entry in listed]
    return {(entry.text("source"), entry.name("id")): entry for entry in fields}


def _automatic_key(fields: Fields) -> tuple[str, str]:
    from tableqa.perturbations.instances import instance_id

    id = instance_id(fields.name("original"), fields.text("kind"), fields.integer("seed"))
    return fields.text("source"), id


def _check(manifest: Path, path: Path, described: Mapping[str, Any], name: str = "") -> None:
    """ReaderError unless a file is there with the checksum that the manifest has under this name, or its own."""
    file_entry = described["files"].get(name or path.name)
    try:
        actual_digest = file_digest(path)
    except OSError as error:
        raise cannot_open(path, error) from error
    if not isinstance(file_entry, dict) or file_entry.get("sha256") != actual_digest:
        values = {"name": manifest.name, "found": actual_digest}
        what = phrase("the file is not the one that {name} describes: its sha256 is {found}", **values)
        raise ReaderError(path, None, what, _WHOLE, _VERIFY)


class _Raw:
    """The source tables and original examples of a release: where each line starts is kept, and some tables."""

    def __init__(self, path: Path) -> None:
        self._path = path
        tables: Shelf[str, tuple[int, int]] = Shelf()
        self.originals: Shelf[tuple[str, str], tuple[int, int]] = Shelf()
        """(source, id) -> line and byte, in the order of the file."""
        for line, offset, fields in lines_with_places(path):
            kind = fields.text("kind")
            if kind == "table":
                tables[fields.text("digest")] = line, offset
            elif kind == "example":
                key = fields.text("source"), fields.name("id")
                if key in self.originals:
                    values = {"id": key[1], "source": key[0], "line": self.originals[key][0]}
                    what = phrase("{id} of {source} is already in line {line}", **values)
                    raise fields.place.error(what, _WHOLE, _VERIFY)
                self.originals[key] = line, offset
        self._tables = TableLines(path, tables, _table)

    def original(self, source: str, id: str) -> Example:
        """An original by its source and its id there; KeyError if there is none, ReaderError if it cannot be read."""
        line, offset = self.originals[source, id]
        fields = fields_of(Location(self._path, line), line_at(self._path, offset))
        return _example(fields, id, self.base(fields), _extra_fields(fields))

    def base(self, fields: Fields) -> Table:
        """The source table that a record names; ReaderError."""
        digest = fields.text("table")
        if digest not in self._tables:
            values = {"field": "table", "digest": digest, "sources": _SOURCES}
            what = phrase("{field} is {digest}, which {sources} does not have", **values)
            raise fields.error("table", what, _WHOLE, _VERIFY)
        return self._tables[digest][0]


def _table(fields: Fields) -> tuple[Table, dict[str, Any]]:
    table = _table_in(fields, "content")
    if table.digest() != fields.text("digest"):
        what = phrase("{field} is not that of the table, {digest}", field="digest", digest=table.digest())
        raise fields.error("digest", what, _WHOLE, _VERIFY)
    return table, {}


def _table_in(fields: Fields, name: str) -> Table:
    try:
        return Table.from_dict(fields.required(name))
    except TableError as error:
        what = phrase("{field} is not a table: {error}", field=name, error=reason_of(error))
        raise fields.error(name, what, _WHOLE, _VERIFY) from error


def _extra_fields(fields: Fields) -> dict[str, Any]:
    """What `Example.beside` wrote, as far as the example has it."""
    if "more" not in fields:
        return {}
    more = fields.nested("more")
    more.only(*BESIDE)
    return dict(plain(more.value))


def _example(fields: Fields, id: str, table: Table, more: Mapping[str, Any]) -> Example:
    in_record(fields.place.line, id)
    try:
        return Example.stored(id, fields.text("question"), table, fields.texts("answers"), more)
    except (ExampleError, TypeError) as error:
        raise fields.place.error(reason_of(error), _WHOLE, _VERIFY) from error


def _edited_example(fields: Fields, source: str, raw: _Raw, names: Names) -> Example:
    lineage = {
        "source": source,
        "parent": fields.text("parent"),
        "perturbation": fields.text("perturbation"),
        "operations": plain(fields.listed("operations")),
        "base": fields.text("table"),
    }
    table = _replayed_table(fields, raw.base(fields), lineage["operations"])
    if table.digest() != fields.text("digest"):
        values = {"field": "digest", "digest": table.digest()}
        what = phrase("{field} is not that of the replayed table, {digest}", **values)
        raise fields.error("digest", what, _WHOLE, _VERIFY)
    return _with_positional_ids(fields, names, fields.name("id"), table, _extra_fields(fields), lineage)


def _automatic_example(fields: Fields, raw: _Raw, names: Names) -> Example:
    """The instance that a line of automatic perturbations names, made again."""
    from tableqa.perturbations import PERTURBATIONS, instances

    source, id = fields.text("source"), fields.name("original")
    kind, seed = fields.text("kind"), fields.integer("seed")
    if (source, id) not in raw.originals or kind not in PERTURBATIONS:
        values = {"kind": kind, "id": id, "source": source}
        what = phrase(
            "{kind} of {id} in {source} is not a perturbation of an example of this release", **values
        )
        raise fields.place.error(what, _WHOLE, _VERIFY)
    original = raw.original(source, id)
    listed = fields.listed("cells") if "cells" in fields else []
    cells = [(row, column) for row, column in marked_cells(fields.place, original.table, "cells", listed)]
    instance = next(iter(instances(original, [kind], [seed], marked_cells=cells)))
    perturbed = instance.perturbed.example
    if instance.outcome().get("digest") != fields.text("digest"):
        values = {"field": "digest", "kind": kind, "seed": str(seed)}
        what = phrase("{field} is not that of {kind} with the seed {seed}", **values)
        raise fields.error("digest", what, _WHOLE, _VERIFY)
    lineage = {
        "source": source,
        "parent": id,
        "perturbation": kind,
        "seed": seed,
        "operations": [operation.to_dict() for operation in instance.perturbed.operations],
        "base": original.table.digest(),
    }
    more = perturbed.beside()
    content_fields = Fields(
        fields.place, {"question": perturbed.question, "answers": list(perturbed.answers)}
    )
    return _with_positional_ids(content_fields, names, instance.id_of(id), perturbed.table, more, lineage)


def _replayed_table(fields: Fields, base: Table, operations: list[Any]) -> Table:
    try:
        return replay(base, [from_dict(operation) for operation in operations])
    except OperationError as error:
        what = phrase("{field} do not replay: {error}", field="operations", error=reason_of(error))
        raise fields.error("operations", what, _WHOLE, _VERIFY) from error


def _mixed_example(fields: Fields, names: Names) -> Example:
    """An example of the file of mixes; its table is in its record."""
    table = _table_in(fields, "table")
    lineage = {
        "source": fields.text("source"),
        "parent": fields.text("original"),
        "perturbation": "mix",
        "parts": fields.texts("parts"),
        "operations": plain(fields.listed("operations")),
    }
    more = plain(
        {name: fields.value[name] for name in ("alternatives", "context", "history") if name in fields}
    )
    return _with_positional_ids(fields, names, fields.name("id"), table, more, lineage)


def _with_positional_ids(
    fields: Fields,
    names: Names,
    published: str,
    table: Table,
    more: dict[str, Any],
    lineage: dict[str, Any],
) -> Example:
    """The example with the ids of a source table: those of an edited one mean nothing without its operations."""
    unique = names.unique(published)
    positional_example = with_positional_ids(_example(fields, unique, table, more))
    meta = thaw(positional_example.meta)
    if unique != published:
        lineage["id"] = published
    if "lineage" in meta:
        lineage["before"] = meta["lineage"]
    return replace(positional_example, meta={**meta, "lineage": lineage})


READER = AskewRelease()
