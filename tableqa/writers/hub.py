"""What is beside the records of a dataset for Hugging Face's tools: card, data statement, Croissant, Parquet.

The card's header names the files and the types of the fields, so that `datasets.load_dataset(FOLDER)` needs no code. The
data statement follows Bender and Friedman (TACL 2018) and says of each of its points what is known, or that it is not.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tableqa.core.canonical_json import canonical
from tableqa.statistics.zero_width_intervals import Interval, interval_of
from tableqa.writers.hub_features import (
    EXAMPLES,
    FEATURES,
    FEATURES_OF_SETS,
    MEANINGS,
    PARQUET,
    features_of_config,
    meaning,
)
from tableqa.writers.whole_examples import DECISIONS, HUB, ORIGINAL, RESPONSES, RULES_OF_STRUCTURES

CARD, STATEMENT, CITATION, CROISSANT = "README.md", "DATA_STATEMENT.md", "CITATION.cff", "croissant.json"
PROMPTS = "harness/items/one_answer.jsonl"
"""The items of the runnable benchmark that eval.yaml names (`tableqa.writers.harness`)."""
FORM = 4
"""The form of data statements; a manifest names it. One that names none has the first, whose texts stay as they were."""
NOT_STATED = "Not stated."
"""What a release says where people have not answered a question of the data statement."""
RULES_OF_TAGS = 5
"""From these rules of a manifest on, a source without a licence makes the tag of the card `other`. Before, the tag named the
licences of the other sources."""
RULES_OF_EXPRESSIONS = 9
"""Up to the rules before, any text had a tag and an address as a licence, and headers of cards halves of surrogate pairs."""
RULES_OF_PEOPLE = 9
"""From these rules on, the statement counts people of current responses, as the card does; before, people of revisions."""
_PLACEHOLDER = "NOASSERTION"
SPDX, NO_URL = "https://spdx.org/licenses/", "https://example.org/"
"""Where Croissant finds a licence, and the address of a dataset that has none."""
USES = {
    "creators": "Creators (B1)",
    "use_cases": "Use cases (B3)",
    "personal": "Personal and sensitive data (B4)",
    "biases": "Biases (A2)",
    "limitations": "Limitations (A1)",
    "maintenance": "Maintenance",
}
"""Headings of the answers about the dataset itself, by the names of the questions."""
OF_ONESELF = ("languages", "country", "education", "experience", "age", "gender")
"""What annotators may say of themselves, in the order in which a statement tells it."""


def title(manifest: Mapping[str, Any]) -> str:
    """The name of the project with that of the release; of older releases the short name of the project."""
    return f"{manifest['title']}, {manifest['name']}" if "name" in manifest else str(manifest["project"])


def stated(manifest: Mapping[str, Any], name: str) -> str:
    """The answer of people to a question of the data statement; "" if there is none."""
    return str(manifest.get("statement", {}).get("said", {}).get(name, "")).strip()


def creators(manifest: Mapping[str, Any]) -> list[str]:
    """The creators, one per line of the answer."""
    return [line.strip() for line in stated(manifest, "creators").splitlines() if line.strip()]


def languages(manifest: Mapping[str, Any]) -> list[str]:
    """The languages of questions and tables, as stated: separated by commas or lines."""
    return [part.strip() for part in _SEPARATOR.split(stated(manifest, "language")) if part.strip()]


def cite(manifest: Mapping[str, Any]) -> str:
    """How to cite the release, then its sources."""
    by = "; ".join(creators(manifest)) or "[creators not stated]"
    own = f"{by} ({manifest['dates']['last'][:4]}). {title(manifest)}."
    return "\n".join([own, *filter(None, (source["citation"] for source in manifest["sources"]))])


def citation_file(manifest: Mapping[str, Any]) -> str:
    """CITATION.cff (Citation File Format 1.2.0)."""
    named = [name for name in licences(manifest) if name != _PLACEHOLDER and _IDENTIFIER.fullmatch(name)]
    values = {
        "cff-version": "1.2.0",
        "message": "Cite this dataset and its sources.",
        "type": "dataset",
        "title": manifest["title"],
        "version": manifest["name"],
        "date-released": manifest["dates"]["last"][:10],
        "authors": [{"name": name} for name in creators(manifest) or ["[creators not stated]"]],
        **({"license": named} if named else {}),
    }
    return "".join(f"{name}: {_yaml(value, manifest)}\n" for name, value in values.items())


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


def licence_addresses(manifest: Mapping[str, Any]) -> list[str]:
    """The licences of the sources as Croissant names them: their pages at SPDX, texts, NOASSERTION for one without."""
    return [name if name == _PLACEHOLDER else _address(name, manifest) for name in licences(manifest)]


def _yaml(value: Any, manifest: Mapping[str, Any]) -> str:
    """A value as YAML in ASCII. JSON is YAML, too, but PyYAML reads no character from a surrogate pair."""
    if manifest.get("rules", 1) < RULES_OF_EXPRESSIONS:
        return json.dumps(value, ensure_ascii=True)
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", r"\x7f")
    return text.encode("ascii", "backslashreplace").decode()


def configs(files: Iterable[str]) -> dict[str, list[str]]:
    """The splits of each configuration that files of records are there for."""
    splits: dict[str, list[str]] = {}
    for name in sorted(files):
        if (match := _CONFIG_FILE.fullmatch(name)) is not None:
            splits.setdefault(match["config"], []).append(match["split"])
    return splits


_SEPARATOR = re.compile(r"[,;\n]")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_CONFIG_FILE = re.compile(r"data/(?P<config>[^/]+)/(?P<split>[^/]+)\.jsonl")


def card(manifest: Mapping[str, Any], files: Collection[str]) -> str:
    """README.md: the header that `datasets` reads, then what people read. `files` are those of records."""
    splits = configs(files)
    is_structured = manifest.get("rules", 1) >= RULES_OF_STRUCTURES
    named = licences(manifest)
    license_tags = [name.lower() for name in named if name != _PLACEHOLDER] or ["unknown"]
    is_unstated = _PLACEHOLDER in named and manifest.get("rules", 1) >= RULES_OF_TAGS
    if is_unstated or any(_address(name, manifest) == name for name in named):
        license_tags = ["other"]
    header: dict[str, Any] = {
        "pretty_name": title(manifest),
        "license": license_tags,
        **({"language": languages(manifest)} if languages(manifest) else {}),
        "task_categories": ["table-question-answering"],
        **(_structured_configs(splits, PROMPTS in files) if is_structured else _former_configs(splits)),
    }
    counts = manifest["counts"]
    lines = [
        "---",
        *(f"{name}: {_yaml(value, manifest)}" for name, value in header.items()),
        "---",
        "",
        f"# {_plain(title(manifest))}",
        "",
        "A benchmark for question answering over tables.",
        "",
        f"{responses(manifest)}; {counts['accepted']} items accepted.",
        "",
        *(_history(manifest) if is_structured else []),
        *_contradicted(manifest),
        "```python",
        "from datasets import load_dataset",
        *(
            ['data = load_dataset("FOLDER")']
            if is_structured
            else [
                'data = load_dataset("FOLDER", split="test")',
                *(['same = load_dataset("FOLDER/parquet", split="test")'] if PARQUET in files else []),
            ]
        ),
        "```",
        "",
        *_configs(splits, is_structured),
        "| field | holds |",
        "|---|---|",
        *(
            _fields_of(EXAMPLES)
            if is_structured
            else (f"| `{feature['name']}` | {MEANINGS[feature['name']]} |" for feature in FEATURES)
        ),
        "",
        *(_further_fields(splits) if is_structured else []),
        "## Sources and licences",
        "",
        *sources(manifest),
        "",
    ]
    lines += _CLOSING_OF_STRUCTURES if is_structured else _CLOSING
    return "\n".join(lines)


_CLOSING = [
    "What was made of a source keeps its licence. The [data statement](DATA_STATEMENT.md) says who annotated and how;",
    "`manifest.json`, `annotations.jsonl` and `decisions.jsonl` hold the raw records, from which everything follows.",
    "",
]
_CLOSING_OF_STRUCTURES = [
    "What was made of a source keeps its licence. `DATA_STATEMENT.md` says who annotated and how, `CITATION.cff` how to",
    "cite the dataset. Everything follows from the raw records of the release: `manifest.json`, `sources.jsonl`,",
    "`annotations.jsonl` and `decisions.jsonl`.",
    "",
]


_PROMPTS_CONFIG = {"config_name": "prompts", "data_files": [{"split": "one_answer", "path": PROMPTS}]}


def _structured_configs(splits: Mapping[str, Sequence[str]], has_prompts: bool) -> dict[str, Any]:
    """The configurations and their fields for the header; that of the originals is the default."""
    default = ORIGINAL if ORIGINAL in splits else next(iter(splits), "")
    return {
        "configs": [
            {**_config_entry(config, of_config), **({"default": True} if config == default else {})}
            for config, of_config in splits.items()
        ]
        + has_prompts * [_PROMPTS_CONFIG],
        "dataset_info": [
            {"config_name": config, "features": list(features_of_config(config))} for config in splits
        ],
    }


def _former_configs(splits: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The same up to rules 10: `default` has all examples, as `test`."""
    all_examples = {"config_name": "default", "data_files": [{"split": "test", "path": HUB}]}
    features = list(FEATURES)
    return {
        "configs": [
            {**all_examples, **({"default": True} if splits else {})},
            *(_config_entry(config, of_config) for config, of_config in splits.items()),
        ],
        "dataset_info": (
            [{"config_name": config, "features": features} for config in ("default", *splits)]
            if splits
            else {"features": features}
        ),
    }


def _config_entry(config: str, of_config: Sequence[str]) -> dict[str, Any]:
    data_files = [{"split": split, "path": f"data/{config}/{split}.jsonl"} for split in of_config]
    return {"config_name": config, "data_files": data_files}


def _configs(splits: Mapping[str, Sequence[str]], is_structured: bool) -> list[str]:
    """The configurations and their splits, as lines of Markdown; none where there is only `default`."""
    if not splits:
        return []
    first = next(iter(splits))
    lines = (
        [
            f"`{ORIGINAL}` has the questions of the sources and is the default. Others have the examples of a perturbation",
            f'or of a task type. Load one with `load_dataset("FOLDER", "{first}")`. Splits are those of the sources.',
        ]
        if is_structured
        else [f'`default` has every record. Load one configuration with `load_dataset("FOLDER", "{first}")`:']
    )
    return [
        *lines,
        "",
        "| configuration | splits |",
        "|---|---|",
        *(f"| `{config}` | {', '.join(of_config)} |" for config, of_config in splits.items()),
        "",
    ]


def _further_fields(splits: Mapping[str, Sequence[str]]) -> list[str]:
    """The fields of the configurations of responses and decisions, as lines of Markdown."""
    intros = {
        RESPONSES: "has each response of each person, before any decision:",
        DECISIONS: "has what was accepted or excluded, and on which responses that is based:",
    }
    return [
        line
        for config, intro in intros.items()
        if config in splits
        for line in (
            f"`{config}` {intro}",
            "",
            "| field | holds |",
            "|---|---|",
            *_fields_of(config),
            "",
        )
    ]


def _fields_of(set_name: str) -> list[str]:
    """The fields of a set of records as rows of a table."""
    names = [feature["name"] for feature in FEATURES_OF_SETS[set_name]]
    return [f"| `{name}` | {meaning(set_name, name)} |" for name in names]


def _history(manifest: Mapping[str, Any]) -> list[str]:
    """Number and date of the release, and what changed since the one before, as lines of Markdown."""
    lines = [
        f"Release {manifest['number']} of the project, with records up to {manifest['dates']['last'][:10]}."
    ]
    if before := manifest.get("predecessor"):
        lines.append(
            f"Its predecessor is {_plain(before['name'])} (release {before['number']}, digest `{before['digest']}`)."
        )
        lines += [
            f"`{name}`: {counts['added']} records added, {counts['removed']} removed, {counts['changed']} changed."
            for name, counts in manifest.get("changes", {}).items()
        ]
    return [" ".join(lines), ""]


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
    quoted = [{**batch, "name": _plain(batch["name"])} for batch in manifest["batches"]]
    figures = [f"* {figure}" for figure in agreement({**manifest, "batches": quoted})]
    elsewhere = (conditions_of or {}).get("elsewhere", 0)
    guidelines = [f"* {entry['type']}, version {entry['number']}" for entry in manifest["guidelines"]]
    lines = [
        f"# Data statement of {_plain(manifest['project'])}",
        "",
        "## Curation rationale",
        "",
        f"Kinds of annotation: {', '.join(kinds) or 'none'}. Questions and tables come from:",
        "",
        *sources(manifest),
        "",
        *_selection(manifest["batches"]),
        "## Language variety",
        "",
        (stated(manifest, "language") or NOT_STATED)
        if form >= 4
        else "That of the sources. It was not recorded for each text.",
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
        *(_sections(conditions(conditions_of), "###") if conditions_of is not None else []),
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
        *(_sections(uses(conditions_of), "##") if conditions_of is not None and form >= 4 else []),
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


def _sections(sections: Sequence[tuple[str, Sequence[str]]], level: str) -> list[str]:
    """Sections as lines of Markdown. What people wrote is quoted, so that none of it is read as a heading."""
    lines = []
    for heading, paragraphs in sections:
        lines += [f"{level} {heading}", ""]
        for paragraph in paragraphs:
            lines += [*(f"> {_plain(line)}".rstrip() for line in paragraph.splitlines()), ""]
    return lines


def uses(statement_data: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """What people stated of the dataset itself, as titles with paragraphs: sections A and B of the same checklist."""
    answers = statement_data["said"]
    return [(heading, [answers.get(name) or NOT_STATED]) for name, heading in USES.items()]


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


def responses(manifest: Mapping[str, Any]) -> str:
    """Current responses and their people; manifests before rules 7 count revisions alone.

    From rules 11 on, simulated annotators are named as such.
    """
    counts = manifest["counts"]
    if "responses" not in counts:
        return f"{counts['annotations']} annotations by {counts['annotators']} people"
    simulated = counts["simulated_annotators"]
    if not simulated or manifest.get("rules", 1) < RULES_OF_STRUCTURES:
        return f"{counts['responses']} responses by {counts['respondents']} people"
    programs = (
        f"{simulated} of the {counts['annotators']} annotators" if simulated < counts["annotators"] else "all"
    )
    return f"{counts['responses']} responses ({programs} simulated by a program)"


def machines(manifest: Mapping[str, Any]) -> list[str]:
    """What programs took part in: simulated annotators, models in the loop, proposals, automatic perturbations."""
    simulated = manifest["counts"]["simulated_annotators"]
    automatic = (manifest.get("automatic") or {}).get("counts", {})
    return [
        *([f"{simulated} simulated annotators"] if simulated else []),
        *(
            f"{batch['name']}: model in the loop {batch['loop_model']} ({batch['loop_revision']})"
            for batch in manifest["batches"]
            if "loop_model" in batch
        ),
        *(
            f"{batch['name']}: proposals shown as {batch['help']['shown']}, from {canonical(batch['help']['from'])}"
            for batch in manifest["batches"]
            if "help" in batch
        ),
        *(
            f"{of_kind['made']} automatic perturbations: {kind}"
            for kind, of_kind in sorted(automatic.items())
        ),
    ]


def agreement(manifest: Mapping[str, Any]) -> list[str]:
    """The figures of agreement with their intervals, each in one line. Names of batches are as they are."""
    form = (manifest.get("statement") or {}).get("form", 1)
    names = {batch["id"]: f" in {batch['name']}" for batch in manifest["batches"]} if form >= 2 else {}
    return [
        f"{entry['statistic']} of {entry['measure']}{names.get(entry['batch'], '')}: {_figure(entry, form)}, "
        f"{entry['units']} items, {entry['raters']} raters"
        for entry in manifest["agreement"]
    ]


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


def sources(manifest: Mapping[str, Any]) -> list[str]:
    """The sources with licence and credit, each as one line of Markdown."""
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
