"""What is beside the records of a dataset for Hugging Face's tools: card, data statement, Croissant, Parquet.

The card's header names the files and the types of the fields, so that `datasets.load_dataset(FOLDER)` needs no code. The
data statement follows Bender and Friedman (TACL 2018) and says of each of its points what is known, or that it is not.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tableqa.statistics.zero_width_intervals import Interval, interval_of
from tableqa.writers.whole_examples import HUB

CARD, STATEMENT, CROISSANT, PARQUET = (
    "README.md",
    "DATA_STATEMENT.md",
    "croissant.json",
    "parquet/test.parquet",
)
FORM = 3
"""The form of data statements and of Croissant; a manifest names it. One that names none has the first, whose texts stay
as they were."""
RULES_OF_TAGS = 5
"""From these rules of a manifest on, a source without a licence makes the tag of the card `other`. Before, the tag named the
licences of the other sources."""
RULES_OF_EXPRESSIONS = 9
"""Up to the rules before, any text had a tag and an address as a licence, and headers of cards halves of surrogate pairs."""
RULES_OF_PEOPLE = 9
"""From these rules on, the statement counts people of current responses, as the card does; before, people of revisions."""
ROWS = 1_000
"""Records in a row group of the Parquet file."""

_TEXTS = {"sequence": "string"}
FEATURES: tuple[dict[str, Any], ...] = (
    {"name": "id", "dtype": "string"},
    {"name": "question", "dtype": "string"},
    {"name": "answers", **_TEXTS},
    {
        "name": "table",
        "struct": [
            {"name": "header", **_TEXTS},
            {"name": "rows", "sequence": _TEXTS},
            {"name": "title", "dtype": "string"},
            {"name": "caption", "dtype": "string"},
            {"name": "header_rows", "sequence": _TEXTS},
            {
                "name": "spans",
                "list": [
                    {"name": "row", "dtype": "string"},
                    {"name": "column", "dtype": "string"},
                    {"name": "rows", "dtype": "int64"},
                    {"name": "columns", "dtype": "int64"},
                ],
            },
        ],
    },
    {"name": "context", "struct": [{"name": name, "dtype": "string"} for name in ("text", "unit", "scale")]},
    {"name": "history", "list": [{"name": "question", "dtype": "string"}, {"name": "answers", **_TEXTS}]},
    *({"name": name, "dtype": "string"} for name in ("source", "split", "original", "perturbation")),
    {"name": "seed", "dtype": "int64"},
    *({"name": name, "dtype": "string"} for name in ("operations", "program", "meta", "decided")),
)
"""The fields of a record and their types, as a card's header has them."""

_SAID = {
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
}
_PLACEHOLDER = "NOASSERTION"
SPDX, NO_URL = "https://spdx.org/licenses/", "https://example.org/"
"""Where Croissant finds a licence, and the address of a dataset that has none."""
OF_ONESELF = ("languages", "country", "education", "experience", "age", "gender")
"""What annotators may say of themselves, in the order in which a statement tells it."""


def texts(manifest: Mapping[str, Any], shas: Mapping[str, str]) -> dict[str, str]:
    """The texts that are beside the records, by their names.

    `manifest` has the release's project, sources, counts, guidelines and agreement; `shas` the sha256 of the files of
    records that are there.
    """
    return {
        CARD: card(manifest, shas),
        STATEMENT: statement(manifest),
        CROISSANT: json.dumps(croissant(manifest, shas), ensure_ascii=False, indent=2, sort_keys=True) + "\n",
    }


def licences(manifest: Mapping[str, Any]) -> list[str]:
    """The SPDX identifiers of the sources' licences, each once; a choice (OR) or another text as it is."""
    old = manifest.get("rules", 1) < RULES_OF_EXPRESSIONS
    stated = {source["licence"] for source in manifest["sources"]}
    identifiers = {
        part
        for expression in stated
        for part in (expression.split(" AND ") if old or " OR " not in expression else [expression])
    }
    return sorted(identifiers) or [_PLACEHOLDER]


def _address(licence: str, manifest: Mapping[str, Any]) -> str:
    is_text = manifest.get("rules", 1) >= RULES_OF_EXPRESSIONS and not _IDENTIFIER.fullmatch(licence)
    return licence if is_text else f"{SPDX}{licence}.html"


def _yaml(value: Any, manifest: Mapping[str, Any]) -> str:
    """A value as YAML in ASCII. JSON is YAML, too, but PyYAML reads no character from a surrogate pair."""
    if manifest.get("rules", 1) < RULES_OF_EXPRESSIONS:
        return json.dumps(value, ensure_ascii=True)
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", r"\x7f")
    return text.encode("ascii", "backslashreplace").decode()


def configs(files: Iterable[str]) -> dict[str, list[str]]:
    """The splits of each configuration that files of records are there for; `default` has all records, as `test`."""
    splits: dict[str, list[str]] = {}
    for name in sorted(files):
        if (match := _CONFIG_FILE.fullmatch(name)) is not None:
            splits.setdefault(match["config"], []).append(match["split"])
    return splits


_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_CONFIG_FILE = re.compile(r"data/(?P<config>[^/]+)/(?P<split>[^/]+)\.jsonl")


def card(manifest: Mapping[str, Any], files: Collection[str]) -> str:
    """README.md: the header that `datasets` reads, then what people read. `files` are those of records."""
    splits = configs(files)
    features = list(FEATURES)
    named = licences(manifest)
    license_tags = [name.lower() for name in named if name != _PLACEHOLDER] or ["unknown"]
    is_unstated = _PLACEHOLDER in named and manifest.get("rules", 1) >= RULES_OF_TAGS
    if is_unstated or any(_address(name, manifest) == name for name in named):
        license_tags = ["other"]
    header: dict[str, Any] = {
        "pretty_name": manifest["project"],
        "license": license_tags,
        "task_categories": ["table-question-answering"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": "test", "path": HUB}],
                **({"default": True} if splits else {}),
            },
            *(
                {
                    "config_name": config,
                    "data_files": [
                        {"split": split, "path": f"data/{config}/{split}.jsonl"} for split in of_config
                    ],
                }
                for config, of_config in splits.items()
            ),
        ],
        "dataset_info": (
            [{"config_name": config, "features": features} for config in ("default", *splits)]
            if splits
            else {"features": features}
        ),
    }
    counts = manifest["counts"]
    lines = [
        "---",
        *(f"{name}: {_yaml(value, manifest)}" for name, value in header.items()),
        "---",
        "",
        f"# {_plain(manifest['project'])}",
        "",
        "A benchmark for question answering over tables.",
        "",
        f"{_responses(counts)}; {counts['accepted']} items accepted.",
        "",
        *_contradicted(manifest),
        "```python",
        "from datasets import load_dataset",
        'data = load_dataset("FOLDER", split="test")',
        *(['same = load_dataset("FOLDER/parquet", split="test")'] if PARQUET in files else []),
        "```",
        "",
        *_configs(splits),
        "| field | holds |",
        "|---|---|",
        *(f"| `{feature['name']}` | {_SAID[feature['name']]} |" for feature in FEATURES),
        "",
        "## Sources and licences",
        "",
        *_sources(manifest),
        "",
        "What was made of a source keeps its licence. The [data statement](DATA_STATEMENT.md) says who annotated and how;",
        "`manifest.json`, `annotations.jsonl` and `decisions.jsonl` hold the raw records, from which everything follows.",
        "",
    ]
    return "\n".join(lines)


def _configs(splits: Mapping[str, Sequence[str]]) -> list[str]:
    """The configurations and their splits, as lines of Markdown; none where there is only `default`."""
    if not splits:
        return []
    first = next(iter(splits))
    return [
        f'`default` has every record. Load one configuration with `load_dataset("FOLDER", "{first}")`:',
        "",
        "| configuration | splits |",
        "|---|---|",
        *(f"| `{config}` | {', '.join(of_config)} |" for config, of_config in splits.items()),
        "",
    ]


def statement(manifest: Mapping[str, Any]) -> str:
    """DATA_STATEMENT.md."""
    counts = manifest["counts"]
    simulated = counts["simulated_annotators"]
    is_current = manifest.get("rules", 1) >= RULES_OF_PEOPLE
    people = f"{counts['respondents' if is_current else 'annotators']} people under pseudonyms"
    if simulated:
        of_whom = f"; {simulated} annotators" if is_current else f", of whom {simulated}"
        people += f"{of_whom} are simulated by a program"
    kinds = sorted({f"`{batch['type']}`" for batch in manifest["batches"]})
    conditions_of = manifest.get("statement")  # early releases have none
    form = (conditions_of or {}).get("form", 1)
    in_full = form >= 2
    names = {batch["id"]: f" in {_plain(batch['name'])}" for batch in manifest["batches"]} if in_full else {}
    figures = [
        f"* {entry['statistic']} of {entry['measure']}{names.get(entry['batch'], '')}: {_figure(entry, form)}, "
        f"{entry['units']} items, {entry['raters']} raters"
        for entry in manifest["agreement"]
    ]
    elsewhere = (conditions_of or {}).get("elsewhere", 0)
    guidelines = [f"* {entry['type']}, version {entry['number']}" for entry in manifest["guidelines"]]
    lines = [
        f"# Data statement of {_plain(manifest['project'])}",
        "",
        "## Curation rationale",
        "",
        f"Kinds of annotation: {', '.join(kinds) or 'none'}. Questions and tables come from:",
        "",
        *_sources(manifest),
        "",
        *_selection(manifest["batches"]),
        "## Language variety",
        "",
        "That of the sources. It was not recorded for each text.",
        "",
        "## Speakers and writers",
        "",
        "Those of the sources' texts are not known. Rewritten questions, answers and edits are the annotators'.",
        "",
        "## Annotators",
        "",
        people
        + (f"; {elsewhere} of them worked elsewhere, and their labels were imported" if elsewhere else "")
        + (". Age, gender, origin and training were not recorded." if conditions_of is None else "."),
        "",
        *(_conditions(conditions_of) if conditions_of is not None else []),
        f"Guidelines, in full {'at the end' if in_full else 'in `manifest.json`'}:",
        "",
        *(guidelines or ["* none"]),
        "",
        "Agreement, on planned places:",
        "",
        *(figures or ["* none was taken"]),
        "",
        "## Situation and text characteristics",
        "",
        "Written, edited on a page with the table beside the question. Times at work stand with each annotation"
        + (", 0 where it was imported." if elsewhere else "."),
        "",
        "## Provenance",
        "",
        "Every perturbed table is a replay of recorded operations on a source table; `original`, `operations` and `seed`",
        "of a record say how.",
        "",
        *(_appendix(manifest["guidelines"]) if in_full else []),
    ]
    return "\n".join(lines)


def _selection(batches: Sequence[Mapping[str, Any]]) -> list[str]:
    """Batches whose items a model has selected, and what follows for figures; nothing where there is none."""
    lines = [
        f"* {_plain(batch['name'])}: drawn with seed {batch['seed']} from the {counts['right']:,} of "
        f"{counts['questions']:,} questions that `{counts['model']}` answered correctly, asked until "
        f"{counts['drawn_at']} ({counts['wrong']:,} wrong, {counts['unjudged']:,} not judged, "
        f"{counts['unknown']:,} without an answer)"
        for batch in batches
        if (counts := batch.get("model_accuracy"))
    ]
    if not lines:
        return []
    return [
        "### Selection by a model",
        "",
        *lines,
        "",
        "On the originals of these batches the accuracy of that model is 100 % by construction. Compare before and after on",
        "the same questions. Other models are compared on questions that suit that model.",
        "",
    ]


def _appendix(guidelines: Sequence[Mapping[str, Any]]) -> list[str]:
    """The guidelines word for word, each in a fence that nothing in it can end."""
    lines = ["## Appendix: guidelines", ""]
    for guideline in guidelines:
        text = guideline["text"].rstrip("\n")
        longest = max((len(run) for run in re.findall("`+", text)), default=0)
        fence = "`" * max(3, longest + 1)
        lines += [
            f"### {guideline['type']}, version {guideline['number']}",
            "",
            f"{fence}markdown",
            text,
            fence,
            "",
        ]
    return lines


def _conditions(statement_data: Mapping[str, Any]) -> list[str]:
    """`conditions` as lines of Markdown. What people wrote is quoted, so that none of it is read as a heading."""
    lines = []
    for title, paragraphs in conditions(statement_data):
        lines += [f"### {title}", ""]
        for paragraph in paragraphs:
            lines += [*(f"> {_plain(line)}".rstrip() for line in paragraph.splitlines()), ""]
    return lines


def conditions(statement_data: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Under what conditions people worked, as titles with paragraphs: section D of the ACL's responsible NLP checklist.

    `statement_data` is the `statement` of a manifest: what people said for it, and what was counted; hours and rejected
    work are left out where they were not.
    """
    project_texts = statement_data["said"]
    training = [project_texts["training"]] if project_texts["training"] else []
    if statement_data["practised"]:
        training.append(
            f"{_count_text(statement_data['practised'], 'practice set')} gone through with feedback."
        )
    training += [
        f"Qualification {entry['name']}: {entry['asked_percent']} % asked; "
        f"{entry['passed']} of {entry['tried']} people passed."
        for entry in statement_data["qualification"]
    ]
    people = [project_texts["population"]] if project_texts["population"] else []
    for name, values in sorted(
        statement_data["characteristics"].items(), key=lambda entry: _characteristic_order(entry[0])
    ):
        # A manifest read back has its keys sorted: the order is made here, by what is asked and by name, the rest last.
        ordered_values = sorted(values.items(), key=lambda entry: (not entry[0], entry[0]))
        parts = [f"{value or 'said by too few to tell'} {n}" for value, n in ordered_values]
        people.append(f"{name.capitalize()}, as people said themselves: {'; '.join(parts)}.")
    agreed = [
        f"Text {entry['number']}, to which {_count_text(entry['agreed'], 'person', 'people')} agreed:\n{entry['text']}"
        for entry in statement_data["consent"]
        if entry["text"]
    ]
    pay = [
        *(f"Paid: {rate}." for rate in statement_data["pay"]),
        *([project_texts["payment"]] if project_texts["payment"] else []),
    ]
    unsaid = ["Not said."]
    return [
        ("Recruitment (D2)", [project_texts["recruitment"]] if project_texts["recruitment"] else unsaid),
        ("Pay (D2)", pay or unsaid),
        *([("Hours", [_hours_text(statement_data["hours"])])] if "hours" in statement_data else []),
        ("Training (D1)", training or unsaid),
        ("Risks and disclaimers (D1)", [project_texts["risks"]] if project_texts["risks"] else unsaid),
        (
            "Consent (D3)",
            [*([project_texts["consent"]] if project_texts["consent"] else []), *agreed] or unsaid,
        ),
        ("Ethics review (D4)", [project_texts["ethics"]] if project_texts["ethics"] else unsaid),
        ("Annotators (D5)", people or unsaid),
        *(
            [("Rejected work", [_rejected_text(statement_data["rejected"])])]
            if "rejected" in statement_data
            else []
        ),
    ]


def _characteristic_order(name: str) -> tuple[int, str]:
    """Where a characteristic is among the others; one that is not asked any more is after them, by name."""
    return (OF_ONESELF.index(name) if name in OF_ONESELF else len(OF_ONESELF), name)


_BESIDE = {
    "gold": "gold items",
    "not_submitted": "items skipped or given back",  # up to rules 8
    "withdrawn": "responses taken back",
    "skipped": "skipped items",
    "returned": "returned items",
    "work": "other batches of work",
    "calibration": "calibration rounds",
    "qualification": "qualifications",
}


def _hours_text(hours: Mapping[str, Any]) -> str:
    if "beside" not in hours:  # the first form
        return (
            f"{hours['all']:.1f} hours at work in all; of a person and day {hours['median_day']:.1f} (median) and "
            f"{hours['longest_day']:.1f} (longest)."
        )
    beside = hours["beside"]
    names = [*(name for name in _BESIDE if name in beside), *sorted(beside.keys() - _BESIDE.keys())]
    parts = [f"{_BESIDE.get(name, name)} {_duration(beside[name])}" for name in names]
    more = f", with {', '.join(parts)}" if parts else ""
    return (
        f"{_duration(hours['all'])} at work on the responses of this release, the newest of each person and item, without "
        f"gold items; of a person and day {_duration(hours['median_day'])} (median) and {_duration(hours['longest_day'])} "
        f"(longest). {_duration(hours['paid'])} at work in all, as payment sheets count it until the release{more}."
    )


def _duration(hours: float) -> str:
    """A time: hours with one decimal, minutes below an hour and a half, seconds below a minute and a half."""
    if hours >= 1.5:
        return f"{hours:.1f} hours"
    if hours * 60 >= 1.5:
        return f"{hours * 60:.0f} minutes"
    return f"{hours * 3600:.0f} seconds"


def _rejected_text(rejected: Mapping[str, int]) -> str:
    return (
        f"{rejected['rejected_responses']} of {_count_text(rejected['responses'], 'response')} on decided items support no "
        f"accepted outcome; {rejected['excluded_items']} of {_count_text(rejected['items'], 'item')} excluded."
    )


def _count_text(n: int, singular: str, plural: str = "") -> str:
    return f"{n} {singular if n == 1 else plural or singular + 's'}"


def _responses(counts: Mapping[str, int]) -> str:
    """Current responses and their people; manifests before rules 7 count revisions alone."""
    if "responses" in counts:
        return f"{counts['responses']} responses by {counts['respondents']} people"
    return f"{counts['annotations']} annotations by {counts['annotators']} people"


def _contradicted(manifest: Mapping[str, Any]) -> list[str]:
    """How many examples people contradicted, in a paragraph; nothing where there is none."""
    listed = manifest.get("contradicted", [])
    out = sum(entry["left_out"] for entry in listed)
    if not listed:
        return []
    count_text = "1 example" if len(listed) == 1 else f"{len(listed)} examples"
    stay = len(listed) - out
    return [
        f"People contradicted the answer of {count_text}; `contradicted` in `manifest.json` names each, and why.",
        f"{out} left out of the records; {stay} that the sources gave {'stays' if stay == 1 else 'stay'} as given.",
        "",
    ]


def _sources(manifest: Mapping[str, Any]) -> list[str]:
    lines = []
    for source in manifest["sources"]:
        licence = "licence not stated" if source["licence"] == _PLACEHOLDER else source["licence"]
        credit_text = " ".join(part for part in (_plain(source["citation"]), source["url"]) if part)
        lines.append(
            f"* **{_plain(source['name'])}** ({source['reader']}), {licence}. {credit_text}".rstrip()
        )
    return lines


def _figure(figure: Mapping[str, Any], form: int) -> str:
    """A figure of agreement with its interval, which may have a width of zero in forms before the third."""
    if figure["value"] is None:
        return "undefined"
    interval = (
        interval_of(figure, figure["statistic"]) if form >= 3 else Interval(figure["low"], figure["high"])
    )
    if interval.low is None or interval.high is None:
        return f"{figure['value']:.3f}" + (
            f" (no interval: {interval.reason.rstrip('.')})" if interval.reason else ""
        )
    return f"{figure['value']:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def _plain(text: str) -> str:
    """A text on one line, without what Markdown would take for its own."""
    joined = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in joined)


def croissant(manifest: Mapping[str, Any], shas: Mapping[str, str]) -> dict[str, Any]:
    """Croissant 1.0: the files with their checksums, and the fields of their records.

    From the third form of data statements on, sources without a licence are among the licences as NOASSERTION.
    """
    named = licences(manifest)
    stated = [_address(name, manifest) for name in named if name != _PLACEHOLDER]
    is_partly_stated = _PLACEHOLDER in named and (manifest.get("statement") or {}).get("form", 1) >= 3
    forms = {HUB: "application/jsonlines", PARQUET: "application/x-parquet"}
    urls = [source["url"] for source in manifest["sources"] if source["url"]]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": manifest["project"],
        "description": "A benchmark for question answering over tables, with its raw annotations and decisions.",
        "url": urls[0] if urls else NO_URL,
        "license": [*stated, *([_PLACEHOLDER] if is_partly_stated or not stated else [])],
        "citeAs": "\n".join(source["citation"] for source in manifest["sources"] if source["citation"]),
        "version": "1.0.0",
        "datePublished": "1970-01-01",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": forms[name],
                "sha256": shas[name],
            }
            for name in forms
            if name in shas
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "examples",
                "name": "examples",
                "key": {"@id": "examples/id"},
                "field": list(_fields()),
            }
        ],
    }


def _fields() -> Iterator[dict[str, Any]]:
    for feature in FEATURES:
        name = feature["name"]
        if "struct" in feature or "list" in feature:
            continue  # Croissant 1.0 has no rows of rows; the card's header has all types
        yield {
            "@type": "cr:Field",
            "@id": f"examples/{name}",
            "name": name,
            "description": _SAID[name],
            "dataType": "sc:Integer" if feature.get("dtype") == "int64" else "sc:Text",
            **({"repeated": True} if "sequence" in feature else {}),
            "source": {"fileObject": {"@id": HUB}, "extract": {"column": name}},
        }


def write_parquet(folder: Path) -> None:
    """The Parquet file of the records in JSON Lines, row group by row group."""
    import pyarrow
    from pyarrow import parquet

    (folder / PARQUET).parent.mkdir(exist_ok=True)
    schema = pyarrow.schema([(feature["name"], _arrow(feature)) for feature in FEATURES])
    with parquet.ParquetWriter(folder / PARQUET, schema) as out:
        for rows in _chunks(folder / HUB):
            out.write_table(pyarrow.Table.from_pylist(rows, schema=schema))


def parquet_differs(folder: Path) -> int | None:
    """The number, from 1, of the first record of the Parquet file that is not that of the JSON Lines; None if all are.

    ImportError without pyarrow.
    """
    from pyarrow import parquet

    count = 0
    with parquet.ParquetFile(folder / PARQUET) as file:
        parquet_records = (
            record for batch in file.iter_batches(batch_size=ROWS) for record in batch.to_pylist()
        )
        for rows in _chunks(folder / HUB):
            for row in rows:
                count += 1
                if next(parquet_records, None) != row:
                    return count
        return count + 1 if next(parquet_records, None) is not None else None


def _chunks(path: Path) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            rows.append(json.loads(line))
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
    return {"string": pyarrow.string(), "int64": pyarrow.int64()}[feature["dtype"]]


_CROISSANT_TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _CROISSANT_TERMS.split()},
}
"""The context that Croissant 1.0 prescribes."""
