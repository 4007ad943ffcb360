"""Croissant 1.1 metadata of a release in the format hf, built with mlcroissant from recorded facts.

Record sets, their nested fields and the shapes of arrays are read from the Parquet files. What only people can state comes
from their answers for the data statement; a missing answer is `hub.NOT_STATED`. Building needs the package mlcroissant.

Sources: Croissant format specification 1.1 and Croissant RAI vocabulary 1.0 (MLCommons).
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from tableqa.writers import hub, hub_features

CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
_MEDIA_TYPES = {
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".parquet": "application/x-parquet",
    ".md": "text/markdown",
    ".cff": "application/yaml",
    ".yaml": "application/yaml",
    ".py": "text/x-python",
}
_TERMS = {
    **{name: f"cr:{name}" for name in ("arrayShape", "containedIn", "isArray")},
    **{name: {"@container": "@language"} for name in ("description", "name")},
}
"""Terms of the JSON-LD context that are new in Croissant 1.1; mlcroissant 1.1.1 writes that of 1.0."""
_KEYS = {
    "examples": ("source", "id", "perturbation", "seed"),
    "responses": ("id",),
    "decisions": ("item",),
}
"""The fields that identify a record of each set."""
_VERSION = re.compile(r"(?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){0,2}", re.ASCII)


def croissant(
    manifest: Mapping[str, Any], shas: Mapping[str, str], folder: Path, url: str | None = None
) -> str:
    """croissant.json as text. ImportError without mlcroissant.

    manifest  of the release, by rules 11 or later
    shas      sha256 of each file that the metadata distributes, by path in `folder`
    folder    of the format hf, with its Parquet files
    url       address of the published dataset, if it has one
    """
    import mlcroissant as mlc
    from pyarrow import parquet

    context = mlc.Context(conforms_to=CONFORMS_TO[0])
    # Without these terms, mlcroissant reads its own metadata as those with a context that is not standard.
    context.rdf.context.update(_TERMS)
    metadata = mlc.Metadata(
        ctx=context,
        conforms_to=CONFORMS_TO,
        name=hub.title(manifest),
        description=f"A benchmark for question answering over tables. {hub.responses(manifest)}.",
        url=url,
        version=version(manifest),
        date_published=datetime.fromisoformat(manifest["dates"]["last"]),
        cite_as=hub.cite(manifest),
        creators=[mlc.Organization(ctx=context, name=name) for name in hub.creators(manifest)],
        license=hub.licence_addresses(manifest),
        in_language=hub.languages(manifest) or None,
        distribution=[
            mlc.FileObject(
                ctx=context,
                id=name,
                name=name,
                content_url=name,
                encoding_formats=[_MEDIA_TYPES.get(Path(name).suffix, "text/plain")],
                sha256=sha,
            )
            for name, sha in sorted(shas.items())
        ],
        record_sets=[
            mlc.RecordSet(
                ctx=context,
                id=name,
                name=name,
                key=[f"{name}/{key}" for key in _KEYS[name]],
                fields=[
                    _field(mlc, context, column, f"{name}/{column.name}", path, (column.name,))
                    for column in parquet.read_schema(folder / path)
                ],
            )
            for name, path in hub_features.PARQUET_OF_SETS.items()
            if path in shas
        ],
        **_responsible_ai(manifest),
    )
    return json.dumps(metadata.to_json(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def version(manifest: Mapping[str, Any]) -> str:
    """The name of the release if it is a version number (MAJOR.MINOR.PATCH), else its number as the major version."""
    name = manifest["name"].removeprefix("v")
    return name if _VERSION.fullmatch(name) else f"{manifest['number']}.0.0"


def without_url(text: bytes) -> bytes:
    """croissant.json without the address that publication adds; other bytes as they are."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(data, dict) or data.pop("url", None) is None:
        return text
    return (json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def with_url(text: bytes, url: str) -> bytes:
    """croissant.json with the address of the published dataset."""
    data = {**json.loads(text), "url": url}
    return (json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def _field(mlc: Any, context: Any, column: Any, id: str, path: str, steps: tuple[str, ...]) -> Any:
    """A field with its nested fields. `steps` lead from the column of the Parquet file to the value."""
    from pyarrow import types

    kind, dimensions = column.type, 0
    while types.is_list(kind):
        kind, dimensions = kind.value_type, dimensions + 1
    array = {"is_array": True, "array_shape": ",".join(["-1"] * dimensions)} if dimensions else {}
    shared = {"ctx": context, "id": id, "name": column.name, **array}
    if len(steps) == 1:
        shared["description"] = hub_features.FIELDS_OF_SETS[id.partition("/")[0]][column.name][1]
    if types.is_struct(kind):
        inner = [_field(mlc, context, each, f"{id}/{each.name}", path, (*steps, each.name)) for each in kind]
        return mlc.Field(**shared, sub_fields=inner)
    data_types = {"string": mlc.DataType.TEXT, "int64": mlc.DataType.INTEGER, "bool": mlc.DataType.BOOL}
    transforms = [mlc.Transform(ctx=context, json_path=step) for step in steps[1:]]
    extract = mlc.Extract(ctx=context, column=steps[0])
    source = mlc.Source(ctx=context, file_object=path, extract=extract, transforms=transforms)
    return mlc.Field(**shared, data_types=[data_types.get(str(kind), mlc.DataType.FLOAT)], source=source)


def _responsible_ai(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of the RAI vocabulary: what was recorded, and what people stated."""
    counts, statement = manifest["counts"], manifest["statement"]
    stated = {name: text.strip() or hub.NOT_STATED for name, text in statement["said"].items()}
    titled = dict(hub.conditions(statement))
    overlaps = [f"{batch['name']}: {batch['overlap']} planned" for batch in manifest["batches"]]
    return {
        "data_collection": "\n".join(
            [
                f"{hub.responses(manifest)}. Sources of questions and tables:",
                *(
                    f"{source['name']} ({source['reader']}) {source['citation']} {source['url']}".rstrip()
                    for source in manifest["sources"]
                ),
            ]
        ),
        "data_collection_timeframe": [
            datetime.fromisoformat(manifest["dates"][end]) for end in ("first", "last")
        ],
        "data_annotation_platform": hub.platforms(manifest) or None,
        "data_annotation_protocol": [
            f"{entry['type']}, guidelines version {entry['number']}: in full in {hub.STATEMENT}"
            for entry in manifest["guidelines"]
        ]
        or None,
        "data_annotation_analysis": hub.agreement(manifest) or None,
        "annotations_per_item": "; ".join(
            [*overlaps, f"{counts['responses']} responses to {counts['answered_items']} items"]
        ),
        "annotator_demographics": titled["Annotators (D5)"],
        "machine_annotation_tools": hub.machines(manifest) or None,
        "data_biases": [stated["biases"]],
        "data_limitations": [stated["limitations"]],
        "data_use_cases": [stated["use_cases"]],
        "personal_sensitive_information": [stated["personal"]],
        "data_release_maintenance_plan": stated["maintenance"],
    }
