"""The fields of the records in the format hf with their types, and the Parquet files that hold the same records."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from tableqa.writers.whole_examples import CONFIG_FILES, DECISIONS, ORIGINAL, RESPONSES, own_config

EXAMPLES = "examples"
PARQUET_OF_SETS = {name: f"parquet/{name}.parquet" for name in (EXAMPLES, RESPONSES, DECISIONS)}
"""The Parquet file of each set of records. An example is in it once, whatever its configurations."""
ROWS = 1_000
"""Records in a row group of the Parquet file."""

FieldType = str | list[Any] | dict[str, Any]
"""The name of a type; a list of its type; of a structure, the types by name."""
_TEXTS: FieldType = ["string"]
_RESPONSE = {"type": "string", "variant": "string", "data": "string"}
_TABLE = {"header": _TEXTS, "rows": [_TEXTS], "title": "string", "caption": "string", "header_rows": [_TEXTS]}
_ITEM: Mapping[str, tuple[FieldType, str]] = {
    "batch": ("string", "the batch of the item"),
    "item": ("string", "the item in the batch"),
    "source": ("string", "the source's name"),
    "example": ("string", "the id of the example within its source"),
}
FIELDS_OF_SETS: Mapping[str, Mapping[str, tuple[FieldType, str]]] = {
    EXAMPLES: {
        "id": ("string", "unique within its source"),
        "question": ("string", "as asked"),
        "answers": (_TEXTS, "the gold answers"),
        "table": (
            _TABLE,
            "header, rows and, where the source has them, title, caption and further header rows",
        ),
        "context": (
            {"text": "string", "unit": "string", "scale": "string"},
            "paragraphs, unit and scale beside the table",
        ),
        "history": ([{"question": "string", "answers": _TEXTS}], "earlier turns of a dialogue"),
        "source": _ITEM["source"],
        "split": ("string", "the source's split"),
        "original": ("string", "of a perturbed example the id of its original"),
        "perturbation": ("string", "what was done to it"),
        "seed": ("int64", "of an automatic perturbation"),
        "operations": (
            [{"op": "string", "arguments": "string"}],
            "every edit since the source table: its name, and its arguments as JSON",
        ),
        "program": ("string", "an executable answer, as JSON"),
        "meta": ("string", "the source's other fields, as JSON"),
        "decided": (
            [_RESPONSE],
            "what people decided of the example: accepted responses, with their data as JSON",
        ),
        "spans": (
            [{"row": "string", "column": "string", "rows": "int64", "columns": "int64"}],
            "merged cells of the table",
        ),
    },
    RESPONSES: {
        "id": ("string", "of this revision"),
        **_ITEM,
        "annotator": ("string", "a pseudonym"),
        "type": ("string", "the task type of the response"),
        "variant": ("string", "the variant of the task type"),
        "data": ("string", "the response, as JSON"),
        "revision": ("int64", "the number of the revision, from 1"),
        "slot": ("int64", "the number of the slot of the item"),
        "guidelines": ("int64", "the version of the guidelines"),
        "simulated": ("bool", "whether the annotator is a program"),
        "external": ("bool", "whether the response was imported"),
        "newest": ("bool", "whether it is the newest revision"),
        "withdrawn": ("bool", "whether the revision withdraws the response"),
        "added": ("bool", "whether the slot was added later and is left out of agreement"),
        "sent_back": ("bool", "whether an adjudicator had sent an earlier revision back"),
        "unsure": ("bool", "whether the annotator was not sure"),
        "unmet": (_TEXTS, "conditions that the response does not meet"),
        "active_seconds": ("float64", "active time in seconds"),
        "made_at": ("string", "the time in UTC"),
    },
    DECISIONS: {
        **_ITEM,
        "kind": ("string", "accepted or excluded"),
        "reason": ("string", "the reason of an exclusion"),
        "listed_reason": ("string", "the reason from the list of the batch"),
        "note": ("string", "the note of the adjudicator"),
        "by": ("string", "the pseudonym of the adjudicator, or `resolve` for a decision rule"),
        "rule": ("string", "the decision rule, if it is not the default"),
        "made_at": ("string", "the time in UTC"),
        "outcomes": (
            [{"id": "string", **_RESPONSE, "example": "string", "annotations": _TEXTS}],
            "the accepted responses",
        ),
    },
}
"""The fields of each set of records: type and what they hold."""


def is_release_record(record: Mapping[str, Any]) -> bool:
    """Whether a record is an example of a release in the format hf; up to rules 10, `spans` is within `table`."""
    fields = FIELDS_OF_SETS[EXAMPLES].keys()
    return record.keys() in (fields, fields - {"spans"})


def features_of_config(config: str) -> list[dict[str, Any]]:
    """The fields of a configuration with their types, as a card's header has them."""
    fields = FIELDS_OF_SETS.get(config, FIELDS_OF_SETS[EXAMPLES])
    return [_feature(name, of_type) for name, (of_type, _) in fields.items()]


def _feature(name: str, of_type: FieldType) -> dict[str, Any]:
    if isinstance(of_type, dict):
        return {"name": name, "struct": [_feature(*inner) for inner in of_type.items()]}
    if isinstance(of_type, list) and isinstance(of_type[0], dict):
        return {"name": name, "list": [_feature(*inner) for inner in of_type[0].items()]}
    return {"name": name, **_sequence(of_type)}


def _sequence(of_type: FieldType) -> dict[str, Any]:
    """The type of a value or of lists of values."""
    if isinstance(of_type, str):
        return {"dtype": of_type}
    (inner,) = of_type
    return {"sequence": inner if isinstance(inner, str) else _sequence(inner)}


def write_parquet(folder: Path) -> None:
    """The Parquet files of the records in JSON Lines, row group by row group."""
    import pyarrow
    from pyarrow import parquet

    (folder / "parquet").mkdir(exist_ok=True)
    for name, path in PARQUET_OF_SETS.items():
        fields = FIELDS_OF_SETS[name].items()
        schema = pyarrow.schema([(field, _arrow(of_type)) for field, (of_type, _) in fields])
        records = _records(folder, name)
        with parquet.ParquetWriter(folder / path, schema) as out:
            while rows := list(islice(records, ROWS)):
                out.write_table(pyarrow.Table.from_pylist(rows, schema=schema))


def parquet_differs(folder: Path) -> tuple[str, int] | None:
    """The first Parquet file with a record that is not that of the JSON Lines, and its number from 1; None if all are.

    ImportError without pyarrow.
    """
    from pyarrow import parquet

    for name, path in PARQUET_OF_SETS.items():
        if not (folder / path).is_file():
            continue
        with parquet.ParquetFile(folder / path) as file:
            batches = file.iter_batches(batch_size=ROWS)
            parquet_records = (record for batch in batches for record in batch.to_pylist())
            pairs = zip_longest(parquet_records, _records(folder, name))
            for index, (record, expected) in enumerate(pairs, start=1):
                if record != expected:
                    return path, index
    return None


def _records(folder: Path, set_name: str) -> Iterator[dict[str, Any]]:
    """The records in JSON Lines of a set, each example once."""
    for path in sorted(folder.glob(CONFIG_FILES), key=lambda path: (path.parent.name != ORIGINAL, path)):
        config = path.parent.name
        if (config if config in (RESPONSES, DECISIONS) else EXAMPLES) == set_name:
            with path.open(encoding="utf-8", newline="\n") as lines:
                for record in map(json.loads, lines):
                    if set_name != EXAMPLES or own_config(record) == config:
                        yield record


def _arrow(of_type: FieldType) -> Any:
    """Arrow's form of a type."""
    import pyarrow

    if isinstance(of_type, dict):
        return pyarrow.struct([(name, _arrow(inner)) for name, inner in of_type.items()])
    if isinstance(of_type, list):
        return pyarrow.list_(_arrow(of_type[0]))
    return pyarrow.type_for_alias(of_type)
