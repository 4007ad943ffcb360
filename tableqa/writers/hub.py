"""What is beside the records of a dataset for Hugging Face's tools: card, data statement, Croissant, Parquet.

The card's header names the files and the types of the fields, so that `datasets.load_dataset(FOLDER)` needs no code. The
data statement follows Bender and Friedman (TACL 2018) and says of each of its points what is known, or that it is not.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tableqa.core.canonical_json import canonical
from tableqa.statistics.zero_width_intervals import interval_of
from tableqa.writers.hub_features import EXAMPLES, FIELDS_OF_SETS, features_of_config
from tableqa.writers.whole_examples import DECISIONS, ORIGINAL, RESPONSES

CARD, STATEMENT, CITATION, CROISSANT = "README.md", "DATA_STATEMENT.md", "CITATION.cff", "croissant.json"
FACTS, PROMPTS = "harness/facts.json", "harness/items/one_answer.jsonl"
"""Of the runnable benchmark (`tableqa.writers.harness`): its facts, and the items that eval.yaml names."""
_RULES_OF_TOOLS = 12
_MOST_REASONS = 20
"""The rules from which on releases name the tools of imported responses."""
FORM = 4
"""The form of data statements; a manifest names it."""
NOT_STATED = "Not stated."
"""What a release says where people have not answered a question of the data statement."""
_PLACEHOLDER = "NOASSERTION"
SPDX = "https://spdx.org/licenses/"
"""Where Croissant finds a licence."""
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
    """The name of the project with that of the release."""
    return f"{manifest['title']}, {manifest['name']}"


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
    return "".join(f"{name}: {_yaml(value)}\n" for name, value in values.items())


def licences(manifest: Mapping[str, Any]) -> list[str]:
    """The SPDX identifiers of the sources' licences, each once; a choice (OR) or another text as it is."""
    identifiers = {
        part
        for expression in {source["licence"] for source in manifest["sources"]}
        for part in ([expression] if " OR " in expression else expression.split(" AND "))
    }
    return sorted(identifiers) or [_PLACEHOLDER]


def licence_addresses(manifest: Mapping[str, Any]) -> list[str]:
    """The licences of the sources as Croissant names them: their pages at SPDX, texts, NOASSERTION for one without."""
    return [
        f"{SPDX}{name}.html" if name != _PLACEHOLDER and _IDENTIFIER.fullmatch(name) else name
        for name in licences(manifest)
    ]


def _yaml(value: Any) -> str:
    """A value as YAML in ASCII. JSON is YAML, too, but PyYAML reads no character from a surrogate pair."""
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
    """README.md: the header that `datasets` reads, then what people read. `files` are those of records and the task."""
    splits = configs(files)
    named = licences(manifest)
    is_other = any(name == _PLACEHOLDER or not _IDENTIFIER.fullmatch(name) for name in named)
    header: dict[str, Any] = {
        "pretty_name": title(manifest),
        "license": ["other"] if is_other else [name.lower() for name in named],
        **({"language": languages(manifest)} if languages(manifest) else {}),
        "task_categories": ["table-question-answering"],
        **_config_header(splits, PROMPTS in files),
    }
    rows = [f"{name}: {_yaml(value)}" for name, value in header.items()]
    load = '```python\nfrom datasets import load_dataset\ndata = load_dataset("FOLDER")\n```'
    return _markdown(
        "\n".join(["---", *rows, "---"]),
        f"# {_plain(title(manifest))}",
        "A benchmark for question answering over tables.",
        f"{responses(manifest)}; {manifest['counts']['accepted']} items accepted.",
        _history(manifest),
        _contradicted(manifest),
        *_outside(manifest, "##"),
        load,
        *_configs(splits),
        _fields_of(EXAMPLES),
        *(_fields_of(config, intro) for config, intro in _INTROS.items() if config in splits),
        "## Evaluation of a model",
        _TASK if FACTS in files else _NO_TASK,
        "## Sources and licences",
        "\n".join(sources(manifest)),
        _CLOSING,
    )


def _markdown(*blocks: str) -> str:
    """Blocks of Markdown with a blank line between them; empty ones are left out."""
    return "\n\n".join(filter(None, blocks)) + "\n"


_INTROS = {
    RESPONSES: "has each response of each person, before any decision:",
    DECISIONS: "has what was accepted or excluded, and on which responses that is based:",
}
_CLOSING = (
    "What was made of a source keeps its licence. `DATA_STATEMENT.md` says who annotated and how, `CITATION.cff` how to\n"
    "cite the dataset. Everything follows from the raw records of the release: `manifest.json`, `sources.jsonl`,\n"
    "`annotations.jsonl` and `decisions.jsonl`."
)
_TASK = (
    "`harness/` has tasks for inspect-ai (`inspect eval FOLDER/harness/inspect_task.py --model MODEL`) and for\n"
    "lm-evaluation-harness (`--include_path FOLDER/harness/lm_eval`), with the matching rule of the release."
)
_NO_TASK = "This release has no task for evaluation harnesses: no source has gold answers that a program can compare."


def _config_header(splits: Mapping[str, Sequence[str]], has_prompts: bool) -> dict[str, Any]:
    """The configurations and their fields for the header; that of the originals is the default."""
    default = ORIGINAL if ORIGINAL in splits else next(iter(splits), "")
    prompts = {"config_name": "prompts", "data_files": [{"split": "one_answer", "path": PROMPTS}]}
    return {
        "configs": [
            {**_config_entry(config, of_config), **({"default": True} if config == default else {})}
            for config, of_config in splits.items()
        ]
        + has_prompts * [prompts],
        "dataset_info": [
            {"config_name": config, "features": features_of_config(config)} for config in splits
        ],
    }


def _config_entry(config: str, of_config: Sequence[str]) -> dict[str, Any]:
    data_files = [{"split": split, "path": f"data/{config}/{split}.jsonl"} for split in of_config]
    return {"config_name": config, "data_files": data_files}


def _configs(splits: Mapping[str, Sequence[str]]) -> list[str]:
    """The configurations and their splits, as blocks of Markdown."""
    if not splits:
        return []
    rows = [f"| `{config}` | {', '.join(of_config)} |" for config, of_config in splits.items()]
    intro = (
        f"`{ORIGINAL}` has the questions of the sources and is the default. Others have the examples of a perturbation\n"
        f'or of a task type. Load one with `load_dataset("FOLDER", "{next(iter(splits))}")`.\n'
        "Splits are those of the sources."
    )
    return [intro, "\n".join(["| configuration | splits |", "|---|---|", *rows])]


def _fields_of(set_name: str, intro: str = "") -> str:
    """The fields of a set of records as a table, with what the records are."""
    rows = [f"| `{name}` | {meaning} |" for name, (_, meaning) in FIELDS_OF_SETS[set_name].items()]
    table = "\n".join(["| field | holds |", "|---|---|", *rows])
    return f"`{set_name}` {intro}\n\n{table}" if intro else table


def _history(manifest: Mapping[str, Any]) -> str:
    """Number and date of the release, and what changed since the one before."""
    text = (
        f"Release {manifest['number']} of the project, with records up to {manifest['dates']['last'][:10]}."
    )
    if before := manifest.get("predecessor"):
        text += f" Its predecessor is {_plain(before['name'])} (release {before['number']}, digest `{before['digest']}`)."
        if before.get("files") == "missing":
            text += " Its files are missing, so what changed since and its errata are not known."
        for name, counts in manifest.get("changes", {}).items():
            text += f" `{name}`: {counts['added']} records added, {counts['removed']} removed, {counts['changed']} changed."
    return text


def statement(manifest: Mapping[str, Any]) -> str:
    """DATA_STATEMENT.md."""
    counts, counted = manifest["counts"], manifest["statement"]
    people = f"{counts['respondents']} people under pseudonyms"
    if simulated := counts["simulated_annotators"]:
        people += f"; {simulated} annotators are simulated by a program"
    if elsewhere := counted["elsewhere"]:
        people += f"; {elsewhere} of them worked elsewhere, and their labels were imported"
    kinds = sorted({f"`{batch['type']}`" for batch in manifest["batches"]})
    quoted = [{**batch, "name": _plain(batch["name"])} for batch in manifest["batches"]]
    figures = [f"* {figure}" for figure in agreement({**manifest, "batches": quoted})]
    guidelines = [f"* {entry['type']}, version {entry['number']}" for entry in manifest["guidelines"]]
    return _markdown(
        f"# Data statement of {_plain(manifest['project'])}",
        "## Curation rationale",
        f"Kinds of annotation: {', '.join(kinds) or 'none'}. Questions and tables come from:",
        "\n".join(sources(manifest)),
        *_selection(manifest["batches"]),
        *_outside(manifest, "###"),
        "## Language variety",
        stated(manifest, "language") or NOT_STATED,
        "## Speakers and writers",
        "Those of the sources' texts are not known. Rewritten questions, answers and edits are the annotators'.",
        "## Annotators",
        f"{people}.",
        *_sections(conditions(counted), "###"),
        "Guidelines, in full at the end:",
        "\n".join(guidelines or ["* none"]),
        "Agreement, on planned places:",
        "\n".join(figures or ["* none was taken"]),
        "## Situation and text characteristics",
        _situation(manifest),
        "## Provenance",
        "Every perturbed table is a replay of recorded operations on a source table; `original`, `operations` and `seed`\n"
        "of a record say how.",
        *_sections(uses(counted), "##"),
        *_appendix(manifest["guidelines"]),
    )


def platforms(manifest: Mapping[str, Any]) -> list[str]:
    """Where people annotated: on this platform, or in the tools whose responses were imported."""
    elsewhere = manifest["statement"].get("elsewhere", 0)
    if manifest["rules"] < _RULES_OF_TOOLS:
        return ["Askew"] if manifest["batches"] else []
    tools = manifest["statement"].get("tools") or ["another tool, which was not recorded"]
    return ["Askew"] * (manifest["counts"]["respondents"] > elsewhere) + tools * bool(elsewhere)


def _situation(manifest: Mapping[str, Any]) -> str:
    """In which surroundings people wrote."""
    names = platforms(manifest)
    tools = ", ".join(_plain(name) for name in names if name != "Askew")
    parts = [
        *["Written, edited on a page with the table beside the question."]
        * ("Askew" in names or manifest["rules"] < _RULES_OF_TOOLS),
        *[f"Responses were imported from {tools}."] * bool(tools),
    ]
    if not parts:
        return "Nobody annotated."
    times = ", 0 where it was imported." if manifest["statement"]["elsewhere"] else "."
    return " ".join([*parts, "Times at work stand with each annotation"]) + times


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
    caution = (
        "On the originals of these batches the accuracy of that model is 100 % by construction. Compare before and\n"
        "after on the same questions. Other models are compared on questions that suit that model."
    )
    return ["### Selection by a model", "\n".join(lines), caution]


def other_batches(manifest: Mapping[str, Any]) -> list[str]:
    """The opened batches that are not part of the release, deleted ones at the end, each in one line."""
    lines = []
    for batch in (*manifest.get("other_batches", ()), *manifest.get("deleted", ())):
        decision = batch if "name" not in batch else batch.get("set_aside")
        state = "deleted" if "name" not in batch else "set aside" if decision else f"{batch['purpose']} batch"
        if decision:
            state += f" on {decision['date']} ({decision['role']}): {decision['reason'].rstrip('.')}"
        figures = [
            f"{figure['statistic']} of {figure['measure']} {_figure(figure)}"
            for figure in batch.get("agreement", ())
        ]
        counts = f"{_count_text(batch['responses'], 'response')} by {_count_text(batch['people'], 'person', 'people')}"
        lines.append(
            "; ".join([f"{batch.get('name', 'Batch')} ({batch['type']}), {state}", counts, *figures])
        )
    return lines


def selection(manifest: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """What a release leaves out, and what was decided after responses were there: headings with lines.

    Sections without a line are left out.
    """
    names = {batch["id"]: batch["name"] for batch in manifest["batches"]}
    excluded = sorted(manifest.get("exclusions", ()), key=lambda entry: -entry["items"])
    exclusions = [
        f"{_count_text(entry['items'], 'item')} of {names.get(entry['batch'], 'a batch')}, by "
        f"{'the decision rule' if entry['by'] == 'rule' else 'an adjudicator'}: {entry['reason'].rstrip('.') or 'no reason'}"
        for entry in excluded[:_MOST_REASONS]
    ]
    if (further := sum(entry["items"] for entry in excluded[_MOST_REASONS:])) > 0:
        exclusions.append(f"{_count_text(further, 'item')} for further reasons, which are in manifest.json")
    people = [
        f"{entry['annotator']}, on {entry['date']} ({entry['role']}); "
        f"{_count_text(entry['responses'], 'response')} stay in the release"
        for entry in manifest.get("removed_people", ())
    ]
    sections = (
        ("Origin and preregistration", _origin(manifest)),
        ("Changes after the first response", list(map(_deviation, manifest.get("deviations", ())))),
        ("Batches that are not part of the release", other_batches(manifest)),
        ("Excluded items", exclusions),
        ("People who left the project", people),
    )
    return [(heading, lines) for heading, lines in sections if lines]


def _origin(manifest: Mapping[str, Any]) -> list[str]:
    """The frozen study, the project or release that this one comes from, and other projects with the same study."""
    lines = []
    if frozen := manifest.get("preregistration"):
        when = "before" if frozen["before_first_response"] else "after"
        lines.append(
            f"Study file frozen on {frozen['at'][:10]}, {when} the first response: {frozen['digest']}"
        )
    if origin := manifest.get("origin"):
        release = f", release {origin['release']} ({origin['digest']})" if "release" in origin else ""
        lines.append(f"The project was {origin['kind']} from {origin['project']}{release}")
    if others := manifest.get("same_study"):
        counts = ", ".join(f"{other['responses']:,}" for other in others)
        lines.append(
            f"{_count_text(len(others), 'other project')} of the site worked on the same source with the same study, "
            f"by numbers of responses: {counts}. Projects of other servers are not known"
        )
    return lines


def _deviation(entry: Mapping[str, Any]) -> str:
    """A change after the first response in a line."""
    where = f"{entry['name']} ({entry['responses']:,} responses by then): " if "batch" in entry else ""
    values = f" from {_value(entry['from'])} to {_value(entry['to'])}" if "to" in entry else ""
    differ = entry.get("differ")
    effect = (
        "" if differ is None else f"; the earlier rule decides {_count_text(differ, 'item')} in another way"
    )
    return (
        f"{entry['at'][:16].replace('T', ' ')} UTC, {where}{entry['what']}{values} ({entry['role']}){effect}"
    )


def _value(value: Any) -> str:
    return (
        value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, sort_keys=True)
    )


def _outside(manifest: Mapping[str, Any], level: str) -> list[str]:
    return [
        block
        for heading, lines in selection(manifest)
        for block in (f"{level} {heading}", "\n".join(f"* {_plain(line)}" for line in lines))
    ]


def _appendix(guidelines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The guidelines word for word, each in a fence that nothing in it can end."""
    yield "## Appendix: guidelines"
    for guideline in guidelines:
        text = guideline["text"].rstrip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        yield f"### {guideline['type']}, version {guideline['number']}"
        yield f"{fence}markdown\n{text}\n{fence}"


def _sections(sections: Sequence[tuple[str, Sequence[str]]], level: str) -> Iterator[str]:
    """Sections as blocks of Markdown. What people wrote is quoted, so that none of it is read as a heading."""
    for heading, paragraphs in sections:
        yield f"{level} {heading}"
        for paragraph in paragraphs:
            yield "\n".join(f"> {_plain(line)}".rstrip() for line in paragraph.splitlines())


def uses(statement_data: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """What people stated of the dataset itself, as titles with paragraphs: sections A and B of the same checklist."""
    answers = statement_data["said"]
    return [(heading, [answers.get(name) or NOT_STATED]) for name, heading in USES.items()]


def conditions(statement_data: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Under what conditions people worked, as titles with paragraphs: section D of the ACL's responsible NLP checklist.

    `statement_data` is the `statement` of a manifest: what people said for it, and what was counted; hours and rejected
    work are left out where they were not.
    """
    counted = statement_data
    training = [
        *(
            [f"{_count_text(counted['practised'], 'practice set')} gone through with feedback."]
            * bool(counted["practised"])
        ),
        *(
            f"Qualification {entry['name']}: {entry['asked_percent']} % asked; "
            f"{entry['passed']} of {entry['tried']} people passed."
            for entry in counted["qualification"]
        ),
    ]
    people = []
    # In the order of the questions; what is not asked any more is after them, by name.
    names = [*OF_ONESELF, *sorted(counted["characteristics"].keys() - set(OF_ONESELF))]
    for name in names:
        values = counted["characteristics"].get(name, {})
        # A manifest read back has its keys sorted: the order is made here, by what is asked and by name, the rest last.
        ordered_values = sorted(values.items(), key=lambda entry: (not entry[0], entry[0]))
        parts = [f"{value or 'said by too few to tell'} {n}" for value, n in ordered_values]
        if parts:
            people.append(f"{name.capitalize()}, as people said themselves: {'; '.join(parts)}.")
    agreed = [
        f"Text {entry['number']}, to which {_count_text(entry['agreed'], 'person', 'people')} agreed:\n{entry['text']}"
        for entry in counted["consent"]
        if entry["text"]
    ]

    def stated_first(name: str, counted_texts: Sequence[str] = ()) -> list[str]:
        return [*filter(None, [counted["said"][name]]), *counted_texts] or ["Not said."]

    pay = [f"Paid: {rate}." for rate in counted["pay"]]
    return [
        ("Recruitment (D2)", stated_first("recruitment")),
        ("Pay (D2)", [*pay, *filter(None, [counted["said"]["payment"]])] or ["Not said."]),
        *([("Hours", [_hours_text(counted["hours"])])] if "hours" in counted else []),
        ("Training (D1)", stated_first("training", training)),
        ("Risks and disclaimers (D1)", stated_first("risks")),
        ("Consent (D3)", stated_first("consent", agreed)),
        ("Ethics review (D4)", stated_first("ethics")),
        ("Annotators (D5)", stated_first("population", people)),
        *([("Rejected work", [_rejected_text(counted["rejected"])])] if "rejected" in counted else []),
    ]


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
    """Current responses and their people; simulated annotators are named as such."""
    counts = manifest["counts"]
    simulated = counts["simulated_annotators"]
    if not simulated:
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
    names = {batch["id"]: batch["name"] for batch in manifest["batches"]}
    return [
        f"{entry['statistic']} of {entry['measure']} in {names[entry['batch']]}: {_figure(entry)}, "
        f"{entry['units']} items, {entry['raters']} raters"
        for entry in manifest["agreement"]
    ]


def _contradicted(manifest: Mapping[str, Any]) -> str:
    """How many examples people contradicted; nothing where there is none."""
    if not (listed := manifest.get("contradicted", [])):
        return ""
    out = sum(entry["left_out"] for entry in listed)
    stay = len(listed) - out
    return (
        f"People contradicted the answer of {_count_text(len(listed), 'example')}; `contradicted` in `manifest.json` names "
        f"each, and why.\n{out} left out of the records; {stay} that the sources gave {'stays' if stay == 1 else 'stay'} as "
        "given."
    )


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


def _figure(figure: Mapping[str, Any]) -> str:
    """A figure of agreement with its interval."""
    if figure["value"] is None:
        return "undefined"
    interval = interval_of(figure, figure["statistic"])
    if interval.low is None or interval.high is None:
        return f"{figure['value']:.3f}" + (
            f" (no interval: {interval.reason.rstrip('.')})" if interval.reason else ""
        )
    return f"{figure['value']:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def _plain(text: str) -> str:
    """A text on one line, without what Markdown would take for its own."""
    joined = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in joined)
