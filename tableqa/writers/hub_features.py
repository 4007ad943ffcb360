"""The fields of the records in the format hf with their types, and the Parquet files that hold the same records."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tableqa.writers.whole_examples import (
    CONFIG_FILES,
    DECISIONS,
    HUB,
    ORIGINAL,
    RESPONSES,
    RULES_OF_STRUCTURES,
    own_config,
)

Feature = Mapping[str, Any]
PARQUET = "parquet/test.parquet"
"""The examples as Parquet, up to rules 10."""
EXAMPLES = "examples"
PARQUET_OF_SETS = {name: f"parquet/{name}.parquet" for name in (EXAMPLES, RESPONSES, DECISIONS)}
"""The Parquet file of each set of records, from rules 11 on. An example is in it once, whatever its configurations."""
ROWS = 1_000
"""Records in a row group of the Parquet file."""

_TEXTS = {"sequence": "string"}


def _texts(*names: str) -> list[Feature]:
    return [{"name": name, "dtype": "string"} for name in names]


_SPANS: Feature = {
    "name": "spans",
    "list": [
        *_texts("row", "column"),
        {"name": "rows", "dtype": "int64"},
        {"name": "columns", "dtype": "int64"},
    ],
}
_TABLE: Sequence[Feature] = (
    {"name": "header", **_TEXTS},
    {"name": "rows", "sequence": _TEXTS},
    *_texts("title", "caption"),
    {"name": "header_rows", "sequence": _TEXTS},
)


def _example(table: Sequence[Feature], structures: Sequence[Feature]) -> tuple[Feature, ...]:
    return (
        *_texts("id", "question"),
        {"name": "answers", **_TEXTS},
        {"name": "table", "struct": list(table)},
        {"name": "context", "struct": _texts("text", "unit", "scale")},
        {"name": "history", "list": [*_texts("question"), {"name": "answers", **_TEXTS}]},
        *_texts("source", "split", "original", "perturbation"),
        {"name": "seed", "dtype": "int64"},
        *structures,
    )


FEATURES = _example([*_TABLE, _SPANS], _texts("operations", "program", "meta", "decided"))
"""The fields of an example and their types, as a card's header has them, up to rules 10."""
FEATURES_OF_SETS: Mapping[str, Sequence[Feature]] = {
    EXAMPLES: _example(
        _TABLE,
        [
            {"name": "operations", "list": _texts("op", "arguments")},
            *_texts("program", "meta"),
            {"name": "decided", "list": _texts("type", "variant", "data")},
            _SPANS,
        ],
    ),
    RESPONSES: (
        *_texts("id", "batch", "item", "source", "example", "annotator", "type", "variant", "data"),
        *({"name": name, "dtype": "int64"} for name in ("revision", "slot", "guidelines")),
        *(
            {"name": name, "dtype": "bool"}
            for name in ("simulated", "external", "newest", "withdrawn", "added", "sent_back", "unsure")
        ),
        {"name": "unmet", **_TEXTS},
        {"name": "active_seconds", "dtype": "float64"},
        *_texts("made_at"),
    ),
    DECISIONS: (
        *_texts(
            "batch", "item", "source", "example", "kind", "reason", "listed_reason", "note", "by", "rule"
        ),
        *_texts("made_at"),
        {
            "name": "outcomes",
            "list": [*_texts("id", "type", "variant", "data", "example"), {"name": "annotations", **_TEXTS}],
        },
    ),
}
"""The fields of each set of records and their types, from rules 11 on."""

MEANINGS = {
    "id": "unique within its source",
    "question": "as asked",
    "answers": "the gold answers",
    "table": "header, rows and, where the source has them, title, caption, further header rows and merged cells",
    "context": "paragraphs, unit and scale beside the table",
    "history": "earlier turns of a dialogue",
    "source": "the source's name",
    "split": "the source's split",
    "original": "of a perturbed example the id of its original",
    "perturbation": "what was done to it",
    "seed": "of an automatic perturbation",
    "operations": "every edit since the source table, as JSON",
    "program": "an executable answer, as JSON",
    "meta": "the source's other fields, as JSON",
    "decided": "what people decided of the example, as JSON",
    "spans": "merged cells of the table",
    "batch": "the batch of the item",
    "item": "the item in the batch",
    "example": "the id of the example within its source",
    "annotator": "a pseudonym",
    "type": "the task type of the response",
    "variant": "the variant of the task type",
    "data": "the response, as JSON",
    "revision": "the number of the revision, from 1",
    "slot": "the number of the slot of the item",
    "guidelines": "the version of the guidelines",
    "simulated": "whether the annotator is a program",
    "external": "whether the response was imported",
    "newest": "whether it is the newest revision",
    "withdrawn": "whether the revision withdraws the response",
    "added": "whether the slot was added later and is left out of agreement",
    "sent_back": "whether an adjudicator had sent an earlier revision back",
    "unsure": "whether the annotator was not sure",
    "unmet": "conditions that the response does not meet",
    "active_seconds": "active time in seconds",
    "made_at": "the time in UTC",
    "kind": "accepted or excluded",
    "reason": "the reason of an exclusion",
    "listed_reason": "the reason from the list of the batch",
    "note": "the note of the adjudicator",
    "by": "the pseudonym of the adjudicator, or `resolve` for a decision rule",
    "rule": "the decision rule, if it is not the default",
    "outcomes": "the accepted responses",
}
"""What the fields hold."""
MEANINGS_OF_STRUCTURES = {
    "table": "header, rows and, where the source has them, title, caption and further header rows",
    "operations": "every edit since the source table: its name, and its arguments as JSON",
    "decided": "what people decided of the example: accepted responses, with their data as JSON",
}
"""The same, where it differs from rules 11 on."""
_MEANINGS_OF_SETS = {
    EXAMPLES: MEANINGS_OF_STRUCTURES,
    RESPONSES: {"id": "of this revision"},
    DECISIONS: {},
}


def meaning(set_name: str, field: str) -> str:
    """What a field of a set of records holds, from rules 11 on."""
    return _MEANINGS_OF_SETS[set_name].get(field) or MEANINGS[field]


def features_of_config(config: str) -> Sequence[Feature]:
    """The fields of a configuration, from rules 11 on."""
    return FEATURES_OF_SETS.get(config, FEATURES_OF_SETS[EXAMPLES])


def write_parquet(folder: Path, rules: int) -> None:
    """The Parquet files of the records in JSON Lines, row group by row group."""
    import pyarrow
    from pyarrow import parquet

    (folder / "parquet").mkdir(exist_ok=True)
    for name, features in _files(rules).items():
        schema = pyarrow.schema([(feature["name"], _arrow(feature)) for feature in features])
        with parquet.ParquetWriter(folder / name, schema) as out:
            for rows in _chunks(_records(folder, name)):
                out.write_table(pyarrow.Table.from_pylist(rows, schema=schema))


def parquet_differs(folder: Path, rules: int) -> tuple[str, int] | None:
    """The first Parquet file with a record that is not that of the JSON Lines, and its number from 1; None if all are.

    ImportError without pyarrow.
    """
    from pyarrow import parquet

    for name in _files(rules):
        if not (folder / name).is_file():
            continue
        count = 0
        with parquet.ParquetFile(folder / name) as file:
            parquet_records = (
                record for batch in file.iter_batches(batch_size=ROWS) for record in batch.to_pylist()
            )
            for record in _records(folder, name):
                count += 1
                if next(parquet_records, None) != record:
                    return name, count
            if next(parquet_records, None) is not None:
                return name, count + 1
    return None


def _files(rules: int) -> dict[str, Sequence[Feature]]:
    """The Parquet files by these rules, with their fields."""
    if rules < RULES_OF_STRUCTURES:
        return {PARQUET: FEATURES}
    return {path: FEATURES_OF_SETS[name] for name, path in PARQUET_OF_SETS.items()}


def _records(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The records in JSON Lines that a Parquet file holds, each example once."""
    set_name = Path(name).stem
    files = sorted(folder.glob(CONFIG_FILES), key=lambda path: (path.parent.name != ORIGINAL, path))
    for path in [folder / HUB] if name == PARQUET else files:
        config = path.parent.name
        if name != PARQUET and (config if config in (RESPONSES, DECISIONS) else EXAMPLES) != set_name:
            continue
        with path.open(encoding="utf-8", newline="\n") as lines:
            for record in map(json.loads, lines):
                if set_name != EXAMPLES or own_config(record) == config:
                    yield record


def _chunks(records: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    for record in records:
        rows.append(record)
        if len(rows) == ROWS:
            yield rows
            rows = []
    if rows:
        yield rows


def _arrow(feature: Mapping[str, Any]) -> Any:
    """Arrow's type of a field of the card's header."""
    import pyarrow

    if "struct" in feature:
        return pyarrow.struct([(inner["name"], _arrow(inner)) for inner in feature["struct"]])
    if "list" in feature:
        return pyarrow.list_(pyarrow.struct([(inner["name"], _arrow(inner)) for inner in feature["list"]]))
    if "sequence" in feature:
        inner = feature["sequence"]
        return pyarrow.list_(_arrow({"dtype": inner} if isinstance(inner, str) else inner))
    return {
        "string": pyarrow.string(),
        "int64": pyarrow.int64(),
        "bool": pyarrow.bool_(),
        "float64": pyarrow.float64(),
    }[feature["dtype"]]
