"""Parquet files, and datasets that Hugging Face's `datasets` saved to disk: records in Arrow's form, read batch by batch."""

import base64
import dataclasses
import math
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tableqa.core.canonical_json import thaw
from tableqa.core.json_text import read_json
from tableqa.core.translation import gettext_noop, grouped, phrase, reason_of
from tableqa.data.examples import Example, ExampleError
from tableqa.readers.class_labels import names_in_card, names_in_features, with_label_names
from tableqa.readers.dataset_card import features
from tableqa.readers.interface import (
    MAX_TABLE_BYTES,
    Credit,
    Names,
    ReaderError,
    Rejection,
    TolerantReader,
    all_of,
    check_names,
    path_in_folder,
    read_text,
    start_of,
)
from tableqa.readers.json_values import Number
from tableqa.readers.mapped_records import check_fields, mapped_example
from tableqa.readers.reading_options import option, with_options
from tableqa.readers.record_fields import Fields, Location
from tableqa.readers.records import read_records
from tableqa.readers.split_names import parquet_files
from tableqa.writers.hub import CROISSANT, SPDX
from tableqa.writers.hub_features import EXAMPLES, PARQUET_OF_SETS, is_release_record
from tableqa.writers.whole_examples import example_of

ROWS = 64
"""Records that are read at once."""
MOST_UNPACKED = 16 * MAX_TABLE_BYTES
"""The most bytes that a file may have when it is decoded: of equal values, a file has only one."""
ROW_BYTES = 1024
"""Bytes for which a record counts in addition to its values: a few bytes of a file can be millions of records."""

_OF_RELEASE = (PARQUET_OF_SETS[EXAMPLES], "data/test.jsonl")
"""The file with every example of a release of Askew: by newer rules, and up to rules 10."""
_NO_URL = "https://example.org/"
"""The address in croissant.json of a release without one, up to rules 10."""
_INFO, _STATE, _SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"


@dataclass(eq=False)
class Arrow(TolerantReader):
    """The readers "parquet" and "hf"; see `tableqa.readers.interface.Reader`.

    Which columns are the question, the table and the answers is known by usual names, or said (`with_fields`). A column
    that no part is made of goes into meta, and of several splits the "split". An id that repeats is numbered, and meta has
    the "id" as it was. A number in a cell becomes the shortest text that is this number: the files know no other.
    """

    name: str
    title: str
    beside: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    def with_fields(self, fields: Mapping[str, str]) -> "Arrow":
        """The same reader for data that name their columns so, {part: column}; ValueError for an unknown part."""
        return dataclasses.replace(self, fields=check_fields(fields))

    def _every_outcome(self, path: Path, tables: str | Path | None) -> Iterator[Example | Rejection]:
        return with_options(self.fields, self._outcomes(path, tables))

    def _outcomes(self, path: Path, tables: str | Path | None) -> Iterator[Example | Rejection]:
        names = Names()
        record_number = 0
        labels = names_in_card(features(_folder(path, tables)))
        for file, split in dataset_files(path, tables):
            for row, record in enumerate(records_of(file, labels), start=1):
                record_number += 1
                fields = Fields(Location(file, row, record=row), record)
                further = {"split": split} if split and "split" not in record else {}
                try:
                    yield (
                        _example_of_release(fields, names)
                        if is_release_record(record)
                        else mapped_example(fields, self.fields, names, record_number, further)
                    )
                except ReaderError as error:
                    yield Rejection(error, record)

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """Every file of the dataset; ReaderError as for reading."""
        for file, _ in dataset_files(Path(path), tables):
            yield file

    def credit(self, path: Path, tables: Path | None = None) -> Credit:
        """The licence and credit that croissant.json or dataset_info.json name, as far as they do; ReaderError."""
        stated = credit_of_folder(_folder(Path(path), tables)) or Credit("", "", "")
        return Credit(
            stated.licence or self.licence, stated.citation or self.citation, stated.url or self.url
        )


def credit_of_folder(folder: Path) -> Credit | None:
    """The licence and credit that croissant.json or dataset_info.json name; None where there is neither. ReaderError."""
    return _croissant(folder / CROISSANT) or _info(folder)


def _example_of_release(fields: Fields, names: Names) -> Example:
    """An example that a release of Askew in the format hf holds, with what became of which example in `lineage`."""
    try:
        stored_example = example_of(fields.value)
    except (ExampleError, ValueError, TypeError, AttributeError) as error:
        what = phrase("it is not an Askew record: {error}", error=reason_of(error))
        raise fields.place.error(what, phrase("Release the dataset again")) from error
    unique = names.unique(stored_example.id)
    lineage: dict[str, Any] = {}
    if fields.value["perturbation"]:
        origin = {name: fields.value[name] for name in ("source", "perturbation")}
        try:
            operations = _operations(fields.value["operations"])
        except (ValueError, TypeError, KeyError) as error:
            what = phrase("its operations are not JSON: {error}", error=reason_of(error))
            raise fields.place.error(what, phrase("Release the dataset again")) from error
        lineage = {**origin, "parent": fields.text("original"), "operations": operations}
        if fields.value["seed"] is not None:
            lineage["seed"] = fields.integer("seed")
    if unique != stored_example.id:
        lineage |= {"source": fields.text("source"), "id": stored_example.id}
    meta = thaw(stored_example.meta)
    if lineage and "lineage" in meta:
        lineage["before"] = meta["lineage"]
    return dataclasses.replace(
        stored_example, id=unique, meta={**meta, "lineage": lineage} if lineage else meta
    )


def _operations(stored: Any) -> list[Any]:
    """The operations of a record, each as a mapping: up to rules 10 they are JSON in one text."""
    if isinstance(stored, str):
        operations: list[Any] = read_json(stored)
        return operations
    return [{**read_json(operation["arguments"]), "op": operation["op"]} for operation in stored]


def _croissant(path: Path) -> Credit | None:
    """What Croissant says of a dataset; None where there is no such file."""
    if not path.is_file():
        return None
    metadata = _object(path)
    licences = [_spdx(licence) for licence in _texts(metadata.get("license"))]
    url = " ".join(_texts(metadata.get("url")))
    cited = "\n".join(_texts(metadata.get("citeAs")))
    return Credit(all_of(licences), cited, "" if url == _NO_URL else url)


def _info(folder: Path) -> Credit | None:
    """What `datasets` kept of a dataset that it saved, of the first split where there are several; None where nothing is."""
    info_file = next(
        (file for pattern in (_INFO, f"*/{_INFO}") for file in sorted(folder.glob(pattern))), None
    )
    if info_file is None:
        return None
    metadata = _object(info_file)
    licence, citation, url = (
        " ".join(_texts(metadata.get(name))) for name in ("license", "citation", "homepage")
    )
    return Credit(_spdx(licence), citation, url)


def _object(path: Path) -> Mapping[str, Any]:
    content = _json(path)
    return content if isinstance(content, Mapping) else {}


def _texts(value: object) -> list[str]:
    """A text, or the texts of a list; nothing for anything else, and blanks are none."""
    return [
        text
        for member in (value if isinstance(value, list) else [value])
        if isinstance(member, str) and (text := member.strip())
    ]


def _spdx(licence: str) -> str:
    """The identifier of a licence that is named by its page at SPDX; any other text as it is."""
    return licence.removeprefix(SPDX).removesuffix(".html") if licence.startswith(SPDX) else licence


def _folder(path: Path, tables: str | Path | None) -> Path:
    """The folder of a dataset, which a page sends as an archive beside one file of it."""
    if path.is_file() and path.name.endswith((_INFO, _SPLITS)):
        return _dataset_folder(Path(tables)) if tables is not None else path.parent
    return path


def dataset_files(path: Path, tables: str | Path | None = None) -> Iterator[tuple[Path, str]]:
    """The files of records of a file or folder with the split that each is of, "" where there is only one; ReaderError."""
    path = _folder(path, tables)
    if not path.is_dir():
        yield path, ""
        return
    of_release = next((path / name for name in _OF_RELEASE if (path / name).is_file()), None)
    if of_release is not None:
        yield of_release, ""
    elif (path / _SPLITS).is_file():
        for split in Fields(Location(path / _SPLITS, 1), _json(path / _SPLITS)).texts("splits"):
            for file in _saved_split_files(_below(path / _SPLITS, path, split)):
                yield file, split
    elif (path / _STATE).is_file():
        for file in _saved_split_files(path):
            yield file, ""
    else:
        files = parquet_files(path)
        if not files:
            mend = phrase(
                "Name a .parquet file, a folder of such files, or one that save_to_disk wrote ({state})",
                state=_STATE,
            )
            raise ReaderError(path, None, phrase("the folder contains no dataset"), mend)
        yield from files


def _dataset_folder(folder: Path) -> Path:
    """The folder of an unpacked archive, or the one in it, that holds a dataset."""
    folders = [folder, *sorted(inner for inner in folder.glob("*") if inner.is_dir())]
    marker_files = (_SPLITS, _STATE, *_OF_RELEASE)
    return next(
        (candidate for candidate in folders for name in marker_files if (candidate / name).is_file()), folder
    )


def _below(said_in: Path, folder: Path, name: str) -> Path:
    if "/" in name or "\\" in name or name in ("", ".", ".."):
        mend = phrase("Correct it, or save the data again")
        raise ReaderError(said_in, 1, phrase("the split {name!r} is not a plain name", name=name), mend)
    return folder / name


def _saved_split_files(folder: Path) -> Iterator[Path]:
    """The files of one split that save_to_disk wrote, in the order of its state.json; ReaderError."""
    path = folder / _STATE
    mend = phrase("Save the dataset again with save_to_disk")
    for file in Fields(Location(path, 1), _json(path)).nested_each("_data_files"):
        name = file.text("filename")
        try:
            data_path = path_in_folder(folder, name)
        except ValueError as error:
            values = {"field": "filename", "name": name, "error": reason_of(error)}
            what = phrase("{field} is {name!r}, which is refused: {error}", **values)
            raise file.error("filename", what, mend) from error
        if data_path is None:
            what = phrase("{field} is {name!r}, which is not there", field="filename", name=name)
            raise file.error("filename", what, mend)
        yield data_path


def _json(path: Path) -> Any:
    try:
        return read_json(read_text(path))
    except ValueError as error:
        if isinstance(error, ReaderError):
            raise
        line = getattr(error, "lineno", 1)
        what = phrase("this is not JSON: {error}", error=reason_of(error))
        raise ReaderError(path, line, what, phrase("Fetch the file again")) from error


def records_of(path: Path, in_card: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The records of a .parquet, .arrow or .jsonl file, one at a time; ReaderError.

    `in_card` are the names of class labels by column where no file says them.
    """
    if path.suffix.lower() == ".jsonl":
        for line in read_records(path):
            yield line.fields.value
        return
    with _arrow_errors_translated(path):
        labels: Mapping[str, Any] | None = None
        batches = _parquet(path) if path.suffix.lower() == ".parquet" else _stream(path)
        for batch in _within_budget(path, batches):
            if labels is None:
                labels = _labels_of(path, batch.schema.metadata or {}, in_card)
            for record in batch.to_pylist():
                named = {name: with_label_names(value, labels.get(name)) for name, value in record.items()}
                yield _json_value(named, batch.schema)


def _labels_of(path: Path, metadata: Mapping[bytes, bytes], in_card: Mapping[str, Any]) -> Mapping[str, Any]:
    """The names of class labels by column: from the schema of a file, else dataset_info.json, else the card's."""
    with suppress(ValueError, KeyError, TypeError):
        features = read_json(metadata.get(b"huggingface", b"{}").decode())["info"]["features"]
        return names_in_features(features) or {}
    info = path.parent / _INFO
    return names_in_features(_object(info).get("features")) or {} if info.is_file() else in_card


def _parquet(path: Path) -> Iterator[Any]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        check_names(path, None, file.schema_arrow.names)
        _check_budget(path, file.metadata.num_rows * ROW_BYTES)
        sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups)]
        largest = max(sizes, default=0)
        _check_budget(path, largest)
        # Every value of a batch may be as large as a row group.
        yield from file.iter_batches(batch_size=max(1, min(ROWS, 4 * MOST_UNPACKED // max(1, largest))))


def _within_budget(path: Path, batches: Iterator[Any]) -> Iterator[Any]:
    """The batches up to `MOST_UNPACKED`, as their values are decoded; ReaderError."""
    spent = 0
    for batch in batches:
        spent += batch.num_rows * ROW_BYTES + sum(_decoded_bytes(path, column) for column in batch.columns)
        _check_budget(path, spent)
        yield batch


def _decoded_bytes(path: Path, column: Any) -> int:
    import pyarrow

    if isinstance(column, pyarrow.DictionaryArray):
        column = column.dictionary_decode()
    if "dictionary<" in str(column.type):  # each list or object may have large values many times
        what = phrase("a column has categories within lists or objects")
        raise ReaderError(path, None, what, phrase("Write them as texts"))
    size: int = column.nbytes
    return size


def _check_budget(path: Path, size: int) -> None:
    if size > MOST_UNPACKED:
        what = phrase("it unpacks to more than {most} bytes", most=grouped(MOST_UNPACKED))
        raise ReaderError(path, None, what, phrase("Split it"))


def _stream(path: Path) -> Iterator[Any]:
    import pyarrow

    # Not a map of the file, in which a length that is a lie is a crash of the process.
    is_file = start_of(path, 6) == b"ARROW1"  # as Feather is; else a stream
    opened = pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream
    with pyarrow.OSFile(str(path)) as source, opened(source) as reader:
        check_names(path, None, reader.schema.names)
        for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
            batch.validate(full=True)  # pyarrow believes the places of texts and lists, without a check
            yield from (batch.slice(start, ROWS) for start in range(0, batch.num_rows, ROWS))


@contextmanager
def _arrow_errors_translated(path: Path) -> Iterator[None]:
    """What pyarrow says of a file that it cannot read, as a ReaderError."""
    import pyarrow

    try:
        yield
    except pyarrow.ArrowException as error:
        what = phrase("the file is damaged, or no Parquet or Arrow file")
        raise ReaderError(path, None, what, phrase("Fetch it again")) from error
    except OSError as error:
        why = " ".join(str(error.strerror or error).split())[:300]
        what = phrase("the file cannot be read: {why}", why=why)
        raise ReaderError(path, None, what, phrase("Check the path and its rights")) from error
    except (UnicodeDecodeError, OverflowError) as error:
        what = (
            phrase("a text in it is not UTF-8: {error}", error=reason_of(error))
            if isinstance(error, UnicodeDecodeError)
            else phrase("a number or date in it is out of range: {error}", error=reason_of(error))
        )
        raise ReaderError(path, None, what, phrase("Write the file again")) from error
    except ValueError as error:
        if type(error) is not ValueError:  # a reason of this reader
            raise
        what = phrase("the file cannot be read: {why}", why=reason_of(error))  # fields of one name
        raise ReaderError(path, None, what, phrase("Write the file again")) from error


COLUMNAR = (".parquet", ".arrow", ".feather")
"""Suffixes of files of Arrow's columns."""
_FLOAT_CODES = {"float": "f", "halffloat": "e"}
"""How `struct` calls the types of numbers with fewer bits than Python's."""


def _json_value(value: Any, kind: Any = None) -> Any:
    """A value as a JSON file would have it: a number with its shortest text, anything that JSON does not know as a text.

    `kind` is its type in the file: as a double, 0.1 in 32 bits would be 0.10000000149011612.
    """
    kind = getattr(kind, "storage_type", kind)
    if (of_map := getattr(kind, "item_type", None)) is not None and value is not None:
        members = {str(name): inner for name, inner in value}
        value, kind = (
            (members, kind) if len(members) == len(value) else (value, None)
        )  # with a key twice: pairs
    if isinstance(value, dict):
        types = {field.name: field.type for field in kind} if hasattr(kind, "get_field_index") else {}
        return {str(name): _json_value(inner, types.get(name, of_map)) for name, inner in value.items()}
    kind = getattr(kind, "value_type", kind)  # that of a list or dictionary
    if isinstance(value, list | tuple):
        return [_json_value(inner, kind) for inner in value]
    if isinstance(value, float):
        # NaN is how pandas writes a missing value. An infinite number is refused unless its text is wanted.
        if value != value or math.isinf(value):
            return None if value != value else str(value) if option("numbers") else value
        code = _FLOAT_CODES.get(str(kind))
        if code is None or value.is_integer():
            return Number(repr(value))
        floats = (float(f"{value:.{digits}g}") for digits in range(1, 18))
        return Number(repr(next(n for n in floats if struct.unpack(code, struct.pack(code, n)) == (value,))))
    if isinstance(value, bytes):
        try:
            text = value.decode("utf-8")  # columns of bytes often hold texts
        except UnicodeDecodeError:
            text = "\0"
        return {"base64": base64.b64encode(value).decode("ascii")} if "\0" in text else text
    return value if value is None or isinstance(value, str | bool | int) else str(value)


PARQUET = Arrow("parquet", gettext_noop("Parquet: a file or a folder of files"))
HF = Arrow(
    "hf",
    gettext_noop("a Hugging Face dataset on disk"),
    beside=gettext_noop(
        "the dataset folder as a zip archive; the file is its dataset_info.json or dataset_dict.json"
    ),
)
