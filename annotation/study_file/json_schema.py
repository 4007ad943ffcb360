"""What a study file may hold, as a JSON Schema (draft 2020-12).

The schema says shapes; what names refer to (kinds, readers, models) is checked in `parser`, because packages add to it.
It is published as docs/study.schema.json (`./run manage study schema`), for editors that complete and check YAML.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.utils.translation import gettext_noop

from annotation.access.roles import DESCRIPTIONS, Role
from annotation.models.batch_options import TERMS, Term, work_limits
from annotation.models.batch_options.budget import SHAPE
from annotation.payments import data_statement
from annotation.quality import gold
from annotation.queue.strategies import STRATA
from annotation.releases.benchmark_files import FORMATS
from annotation.releases.format_descriptions import DESCRIPTIONS as FORMAT_DESCRIPTIONS
from annotation.releases.raw_records import PURPOSES
from tableqa.serialisations import SERIALISATIONS
from tableqa.writers import harness
from tasks.shared.type_definitions import SCHEMA as DEFINITION

ADDRESS: Final = "https://askew.example.org/study.schema.json"
VERSION: Final = 1
LARGEST_SEED: Final = 2**63 - 1
LARGEST_MIX_SEED: Final = 2**31

_NAME = {"type": "string", "minLength": 1, "maxLength": 120}
_NAMES = {"type": "array", "items": _NAME, "uniqueItems": True}
_TEXT = {"type": "string", "minLength": 1, "maxLength": 200_000}
_SEED = {"type": "integer", "minimum": 0, "maximum": LARGEST_SEED}


def _object(description: str, required: Iterable[str] = (), **properties: Any) -> dict[str, Any]:
    definition: dict[str, Any] = {"type": "object", "description": description, "properties": properties}
    if required := list(required):
        definition["required"] = required
    return {**definition, "additionalProperties": False}


def _list(description: str, of: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "description": description, "items": of, **more}


def _typed(type: str, description: str, **more: Any) -> dict[str, Any]:
    return {"type": type, **more, "description": description}


def _with(shape: dict[str, Any], description: str) -> dict[str, Any]:
    return {**shape, "description": description}


GROUPS: Final[dict[str, tuple[str, list[str]]]] = {
    "gold": ("Items with a known answer, mixed in so that annotators cannot recognise them.", []),
    "help": ("Proposals (assistance) for annotators to accept, edit or reject.", ["shown"]),
}
"""Keys of a batch that hold several terms: description, and the keys that are required in them."""
_GOLD_ITEMS = _list(
    "Examples with gold answers.",
    _object(
        "One gold item.",
        ["example", "response"],
        example={"type": "string", "description": "id of the example in the source"},
        response={"type": "object", "description": "data of the gold answer"},
        why=_typed("string", "shown as feedback", maxLength=gold.LONGEST_WHY),
        source=_with(_NAME, "any source of the project; needed if several sources have this id"),
        inputs={
            "type": "object",
            "description": "frozen inputs of the item, instead of those prepared by the task type",
        },
    ),
)


_GUIDELINE_EXAMPLES = _list(
    "Accepted items that annotators see as examples, once the batch is closed.",
    _object(
        "One item of the batch.",
        ["example"],
        example={"type": "string", "description": "id of its example in the source"},
        source=_with(_NAME, "needed if several sources have this id"),
    ),
)


_RELEASE = _object(
    "Defaults of the releases of the project.",
    ["formats"],
    formats=_list(
        " ".join(f"{name}: {FORMAT_DESCRIPTIONS[name]}" for name in FORMATS),
        {"enum": list(FORMATS)},
        minItems=1,
        uniqueItems=True,
    ),
    mix={**_SEED, "maximum": LARGEST_MIX_SEED, "description": "seed of mixes of accepted perturbations"},
    purpose={
        "enum": list(PURPOSES),
        "description": "evaluation leaves out unverified machine proposals; training adds them, marked",
    },
    prompts=_object(
        "How prompts of the format hf are written.",
        [],
        design={"enum": list(harness.DESIGNS), "description": "a reply of JSON, or of plain text"},
        serialisation={"enum": sorted(SERIALISATIONS), "description": "how tables are written"},
        demonstrations=_with(_NAME, "the split whose sources give demonstrations and no test items"),
    ),
)


def _terms(terms: Iterable[Term]) -> dict[str, Any]:
    """The shapes of terms by their keys."""
    properties: dict[str, Any] = {}
    groups: dict[str, dict[str, Any]] = {}
    for term in terms:
        key, *below = term.path
        if below:
            groups.setdefault(key, {})[below[0]] = term.schema()
        else:
            properties[key] = term.schema()
    if "gold" in groups:
        groups["gold"]["items"] = _GOLD_ITEMS
    for key, parts in groups.items():
        description, required = GROUPS.get(key, ("", []))
        properties[key] = _object(description, required, **parts)
    return properties


def _by_language(description: str, text: dict[str, Any]) -> dict[str, Any]:
    return _object(description, ["en"], en=text, de=text)


SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": ADDRESS,
    "title": "Askew study",
    **_object(
        "An annotation study: its data, people and batches, in order.",
        ["study", "project"],
        study={"const": VERSION, "description": "version of this format"},
        template=_object(
            "Makes a shipped file a template that managers can choose. It changes nothing when the file is applied.",
            ["title", "place", "about"],
            title=_by_language("Name of the template, by language.", _NAME),
            place={"type": "integer", "minimum": 1, "description": "position in the list of templates"},
            about=_by_language("One sentence on the study, by language.", {"type": "string"}),
            paper=_by_language("Publication of the study, by language.", {"type": "string"}),
        ),
        project=_object(
            "The project of the study.",
            ["slug", "name"],
            slug=_typed(
                "string",
                gettext_noop("the short name of the project: small letters, digits and hyphens"),
                pattern="^[a-z0-9][a-z0-9-]{0,59}$",
            ),
            name=_NAME,
            time_zone=_typed("string", "for example Europe/Paris; days begin in this time zone"),
            must_read=_typed("boolean", "annotators confirm the guidelines, again after each change"),
            caps=_with(
                work_limits.shape_of_caps(work_limits.OF_A_PROJECT), "Limits per person in the whole project."
            ),
            pay=_with(work_limits.SHAPE_OF_PAY, "Pay of annotators in the project, per hour or per item."),
            model_budget=_with(SHAPE, "What language models may cost in the project."),
            release=_RELEASE,
        ),
        consent=_with(_TEXT, "Consent text that annotators accept before they start (Markdown)."),
        statement={
            **_object("Answers for the data statement."),
            "properties": {
                field.name: {"type": "string", "maxLength": data_statement.LONGEST, "description": field.help}
                for field in data_statement.ASKED
            },
        },
        people=_list(
            "Participants. People who are not in the project get a personal link.",
            _object(
                "A person.",
                ["name", "roles"],
                name=_NAME,
                roles=_list(
                    "; ".join(f"{role}: {DESCRIPTIONS[role]}" for role in Role),
                    {"enum": [role.value for role in Role]},
                    minItems=1,
                    uniqueItems=True,
                ),
                email=_typed("string", "identifies a member with another name", maxLength=254),
            ),
            maxItems=1_000,
        ),
        sources=_list(
            "Sources of examples.",
            _object(
                "One import.",
                ["name", "reader"],
                name=_NAME,
                reader=_typed("string", "reader (file format), see docs/reference/readers.md"),
                path=_typed("string", "questions file, relative to the study file; only on the command line"),
                tables=_typed("string", "folder of tables, if not next to the file"),
                split={"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$"},
                limit=_typed("integer", "number of examples to import, from the beginning", minimum=1),
                fields={
                    "type": "object",
                    "description": "field names in the records, for the parts of an example",
                    "additionalProperties": {"type": "string"},
                },
                good_only=_typed(
                    "boolean", "leave out records with a problem; default: one stops the import"
                ),
                licence=_typed(
                    "string",
                    "SPDX identifier of the data; default: that of the reader or the files",
                    maxLength=80,
                ),
                citation={"type": "string", "description": "how the data are cited; default: as the licence"},
                url=_typed("string", "website of the data; default: as the licence", maxLength=200),
                checksum=_typed(
                    "string",
                    gettext_noop("checksum of the files as computed by Askew; other files are rejected"),
                    pattern="^[0-9a-f]{64}$",
                ),
            ),
            maxItems=300,
        ),
        task_types={
            "type": "object",
            "description": "Task types of this project, by name.",
            "maxProperties": 100,
            "additionalProperties": DEFINITION,
        },
        guidelines={
            "type": "object",
            "description": "Per task type: guidelines text (Markdown), or {file: PATH}.",
            "maxProperties": 200,
            "additionalProperties": {
                "type": ["string", "object"],
                "minLength": 1,
                "maxLength": 200_000,
                "properties": {"file": {"type": "string"}},
                "required": ["file"],
                "additionalProperties": False,
            },
        },
        kinds={
            "type": "object",
            "description": "Per task type: defaults for its batches.",
            "maxProperties": 200,
            "additionalProperties": _object(
                "Defaults for batches of this task type.",
                **_terms(term for term in TERMS.values() if term.per_task_type),
            ),
        },
        perturbations=_list(
            "Automatic perturbations of originals: of all, of selected ones, or of those that a batch "
            "decided.",
            _object(
                "One run.",
                ["kinds"],
                kinds=_list("perturbations to apply", {"type": "string"}, minItems=1, uniqueItems=True),
                seeds=_list(
                    "one result per seed", {**_SEED, "minimum": 1}, minItems=1, maxItems=100, uniqueItems=True
                ),
                sources=_with(_NAMES, "only these sources; default: all"),
                select={"enum": ["extraction", "reasoning"], "description": "by FREB-TQA's rules"},
                rules={"enum": ["released", "paper"], "description": "version of these rules"},
                feeds_from=_with(_NAME, "batch whose decisions select the originals"),
                feeds_when=TERMS["feeds_when"].schema(),
            ),
            maxItems=300,
        ),
        batches=_list(
            "Batches, in the order of creation.",
            _object(
                "Items of one task type.",
                ["name", "type"],
                name=_NAME,
                type={"type": "string", "description": "task type, see docs/reference/kinds.md"},
                seed=_SEED,
                sample=_object(
                    "Sampling of examples.",
                    sources=_with(_NAMES, "sources to sample from; default: the first source of the file"),
                    of={"enum": ["originals", "perturbed", "automatic"]},
                    size={"type": "integer", "minimum": 1, "description": "number of examples; default: all"},
                    only=_list("these examples, by id", {"type": "string"}, minItems=1, uniqueItems=True),
                    by={
                        "type": "string",
                        "pattern": f"^({'|'.join(filter(None, STRATA))}|meta\\..+)$",
                        "description": "; ".join(f"{key}: {text}" for key, text in STRATA.items() if key)
                        + "; meta.NAME: by an own column, in proportion",
                    },
                ),
                feeds_from=_with(_NAME, "batch to take accepted items from"),
                **_terms(TERMS.values()),
                open={"type": "boolean", "description": "opens the batch; false leaves it planned"},
                guideline_examples=_GUIDELINE_EXAMPLES,
            ),
            maxItems=300,
        ),
    ),
}
