"""What a study file may hold, as a JSON Schema (draft 2020-12), and its findings in words.

The schema says shapes; what names refer to (kinds, readers, models) is checked in `study`, because packages add to it.
It is published as docs/study.schema.json (`./run manage study schema`), for editors that complete and check YAML.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop, ngettext
from jsonschema import Draft202012Validator

from annotation.help import helping
from annotation.models import Batch
from annotation.money import statements
from annotation.quality import gold
from annotation.roles import DESCRIPTIONS, Role
from annotation.studying.yaml_file import Fault, Path, Written
from annotation.work import limits
from annotation.work.strategies import STRATA, STRATEGIES

ADDRESS: Final = "https://askew.example.org/study.schema.json"
VERSION: Final = 1
LARGEST_SEED: Final = 2**63 - 1
DECIDE: Final = ("at_close", "when_complete")
"""When a batch decides its items."""

_NAME = {"type": "string", "minLength": 1, "maxLength": 120}
_NAMES = {"type": "array", "items": _NAME, "uniqueItems": True}
_TEXT = {"type": "string", "minLength": 1, "maxLength": 200_000}
_SEED = {"type": "integer", "minimum": 0, "maximum": LARGEST_SEED}


def _object(description: str, required: Iterable[str] = (), **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "description": description, "properties": properties}
    if required := list(required):
        found["required"] = required
    return {**found, "additionalProperties": False}


def _list(description: str, of: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "description": description, "items": of, **more}


def _with(shape: dict[str, Any], description: str) -> dict[str, Any]:
    return {**shape, "description": description}


def _caps(names: Iterable[str]) -> dict[str, Any]:
    return {
        name: {
            "type": "number" if name == "hours_per_day" else "integer",
            "exclusiveMinimum": 0,
            "maximum": limits.MOST[name],
            "description": limits.WORDS[name],
        }
        for name in names
    }


def _pay(whose: str) -> dict[str, Any]:
    rate = {"type": "number", "minimum": 0, "maximum": limits.MOST_PAY}
    return _object(
        f"What people are paid {whose}: by the hour or by the item.",
        ["currency"],
        currency={
            "type": "string",
            "pattern": "^[A-Z]{3}$",
            "description": gettext_noop("a code of three capitals, for example EUR"),
        },
        per_hour=rate,
        per_item=rate,
    )


_WHEN = {
    "type": "object",
    "description": "Which outcomes go on: a field of the response with the values that count. "
    "Without it all do. Such as {label: [extraction]}.",
    "additionalProperties": {
        "type": "array",
        "minItems": 1,
        "items": {"type": ["string", "integer", "boolean"]},
    },
}
_RULE = {
    "type": "object",
    "description": "How responses become a decision, in place of the kind's own rule: {rule: majority}.",
    "required": ["rule"],
    "properties": {"rule": {"type": "string"}},
}
_SETTINGS = {"type": "object", "description": "Settings of the kind; `contract` overrides its terms."}
_OF_A_KIND: dict[str, Any] = {
    "overlap": {"type": "integer", "minimum": 1, "maximum": 50, "description": "people for each item"},
    "settings": _SETTINGS,
    "resolve": _RULE,
    "must_practise": {"type": "boolean", "description": "the practice set comes before the first item"},
    "loop_model": _with(_NAME, "a model of PREDICTORS that looks along while people work"),
}

SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": ADDRESS,
    "title": "Askew study",
    **_object(
        "An annotation study: what it is about, who does what, and in which order.",
        ["study", "project"],
        study={"const": VERSION, "description": "the version of this format"},
        project=_object(
            "The project that the study is run in.",
            ["slug", "name"],
            slug={
                "type": "string",
                "pattern": "^[a-z0-9][a-z0-9-]{0,59}$",
                "description": gettext_noop(
                    "the short name of the project: small letters, digits and hyphens"
                ),
            },
            name=_NAME,
            time_zone={"type": "string", "description": "such as Europe/Paris; days are days there"},
            must_read={
                "type": "boolean",
                "description": "people confirm that they have read the guidelines, and again after a change",
            },
            caps=_object("Limits of a person's work in the whole project.", **_caps(limits.OF_A_PROJECT)),
            pay=_pay("in the project"),
        ),
        consent=_with(_TEXT, "What people agree to before their first item (Markdown)."),
        statement={
            **_object("What only people can say for the data statement."),
            "properties": {
                one.name: {"type": "string", "maxLength": statements.LONGEST, "description": one.help}
                for one in statements.ASKED
            },
        },
        people=_list(
            "Who takes part. Whoever is not in the project yet gets a personal link.",
            _object(
                "Somebody.",
                ["name", "roles"],
                name=_NAME,
                roles=_list(
                    "; ".join(f"{role}: {DESCRIPTIONS[role]}" for role in Role),
                    {"enum": [role.value for role in Role]},
                    minItems=1,
                    uniqueItems=True,
                ),
                email={
                    "type": "string",
                    "maxLength": 254,
                    "description": "by which a member is found who goes by another name",
                },
            ),
        ),
        sources=_list(
            "Where examples come from.",
            _object(
                "One import.",
                ["name", "reader"],
                name=_NAME,
                reader={
                    "type": "string",
                    "description": "the format of the files, docs/reference/readers.md",
                },
                path={
                    "type": "string",
                    "description": "the file of questions, from the study file's folder; read at the command line",
                },
                tables={
                    "type": "string",
                    "description": "the folder of tables, where it is not beside the file",
                },
                split={"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$"},
                limit={"type": "integer", "minimum": 1, "description": "the first examples only"},
                fields={
                    "type": "object",
                    "description": "under which names the records hold the parts of an example",
                    "additionalProperties": {"type": "string"},
                },
                checksum={
                    "type": "string",
                    "pattern": "^[0-9a-f]{64}$",
                    "description": gettext_noop(
                        "checksum of the files as computed by Askew; other files are rejected"
                    ),
                },
            ),
        ),
        guidelines={
            "type": "object",
            "description": "By kind of annotation: the text that people read (Markdown), or {file: PATH}.",
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
            "description": "By kind of annotation: what holds for each of its batches that says nothing else.",
            "additionalProperties": _object("Of every batch of the kind.", **_OF_A_KIND),
        },
        perturbations=_list(
            "Automatic perturbations of originals: all, chosen ones, or those of which a batch decided something.",
            _object(
                "One run.",
                ["kinds"],
                kinds=_list("which perturbations", {"type": "string"}, minItems=1, uniqueItems=True),
                seeds=_list(
                    "a draw for each", {**_SEED, "minimum": 1}, minItems=1, maxItems=100, uniqueItems=True
                ),
                sources=_with(_NAMES, "of these sources; of all without it"),
                select={"enum": ["extraction", "reasoning"], "description": "by FREB-TQA's rules"},
                rules={"enum": ["released", "paper"], "description": "which reading of these rules"},
                feeds_from=_with(_NAME, "the batch whose decisions choose the originals, as they are made"),
                feeds_when=_WHEN,
            ),
        ),
        batches=_list(
            "Work, in the order in which it is planned.",
            _object(
                "Items of one kind of annotation.",
                ["name", "type"],
                name=_NAME,
                type={"type": "string", "description": "a kind of annotation, docs/reference/kinds.md"},
                variant={"type": "string", "description": "of kinds that have several"},
                purpose={
                    "enum": Batch.Purpose.values,
                    "description": "work makes decisions; qualification and calibration make none",
                },
                **_OF_A_KIND,
                seed=_SEED,
                strategy={
                    "enum": list(STRATEGIES),
                    "description": "; ".join(f"{key}: {said}" for key, said in STRATEGIES.items()),
                },
                sample=_object(
                    "Which examples it is about.",
                    sources=_with(
                        _NAMES, "drawn from these sources; from the first one of the file without it"
                    ),
                    of={"enum": ["originals", "perturbed", "automatic"]},
                    size={"type": "integer", "minimum": 1, "description": "so many; without it all"},
                    only=_list("these, by their ids", {"type": "string"}, minItems=1, uniqueItems=True),
                    by={
                        "enum": [name for name in STRATA if name],
                        "description": "; ".join(f"{key}: {said}" for key, said in STRATA.items() if key),
                    },
                ),
                decide={
                    "enum": list(DECIDE),
                    "description": "at_close: nothing is decided before the batch closes, and until then people may "
                    "change what they submitted",
                },
                feeds_from=_with(_NAME, "the batch whose decisions make items here, as they are made"),
                feeds_when=_WHEN,
                requires=_with(_NAME, "the qualification batch that people must have passed"),
                pass_percent={"type": "integer", "minimum": 1, "maximum": 100},
                gold=_object(
                    "Items whose right response is known, mixed in so that nobody can tell.",
                    percent={
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 50,
                        "description": "of a person's items",
                    },
                    feedback={"type": "boolean", "description": "people are told afterwards"},
                    items=_list(
                        "Examples with what is right.",
                        _object(
                            "One of them.",
                            ["example", "response"],
                            example={"type": "string", "description": "its id in the source"},
                            response={"type": "object", "description": "the data of the right response"},
                            why={
                                "type": "string",
                                "maxLength": gold.LONGEST_WHY,
                                "description": "for those who are told",
                            },
                            source=_with(
                                _NAME, "its source, where several have such an id; any of the project's"
                            ),
                            inputs={
                                "type": "object",
                                "description": "what stands frozen beside it, in place of what the kind prepares",
                            },
                        ),
                    ),
                ),
                help=_object(
                    "Proposals of machines, for people to take, edit or refuse.",
                    ["shown"],
                    shown={"enum": ["offered", "filled"]},
                    **{
                        "from": _object(
                            "What makes them: {rules: true, models: […]}.",
                            rules={"type": "boolean", "description": "the rules of the kind"},
                            models=_with(_NAMES, "language models of PREDICTORS"),
                            repetitions={
                                "type": "integer",
                                "minimum": 1,
                                "maximum": helping.MOST_REPETITIONS,
                                "description": "requests of a model for each category",
                            },
                            search={"type": "boolean", "description": "for what fools the model in the loop"},
                        )
                    },
                    unhelped={
                        "type": "integer",
                        "minimum": 0,
                        "maximum": helping.MOST_UNHELPED,
                        "description": "percent without",
                    },
                ),
                caps=_object("Limits of a person's work in this batch.", **_caps(limits.OF_A_BATCH)),
                pay=_pay("here, in place of the project's"),
                open={"type": "boolean", "description": "opened at once; false leaves it planned"},
            ),
        ),
    ),
}

_TYPES = {
    "string": gettext_noop("text"),
    "integer": gettext_noop("a whole number"),
    "number": gettext_noop("a number"),
    "boolean": gettext_noop("true or false"),
    "array": gettext_noop("a list"),
    "object": gettext_noop("a mapping of keys"),
    "null": gettext_noop("nothing"),
}


def faults(written: Written) -> Iterator[Fault]:
    """Everything that the schema finds wrong, each in a sentence that says how to mend it."""
    for error in Draft202012Validator(SCHEMA).iter_errors(written.value):
        path = tuple(error.absolute_path)
        yield from _said(error, path, written)


def _said(error: Any, path: Path, written: Written) -> Iterator[Fault]:
    rule, wanted, found = error.validator, error.validator_value, error.instance
    if rule == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for key in found:
            if key not in known:
                words = _elsewhere(key, path, known) or unknown(gettext("key"), key, known)
                yield written.fault((*path, key), words)
    elif rule == "required":
        missing = [key for key in wanted if key not in found]
        if error.message.startswith(repr(missing[0])):  # one error for each key: said once
            words = ngettext("{names} is missing.", "{names} are missing.", len(missing))
            yield written.fault(path, words.format(names=_and(missing)))
    else:
        yield written.fault(path, sentence(error))


def sentence(error: Any) -> str:
    """What a validator of JSON Schema found, in words: what is wanted, and what is there instead."""
    rule, wanted, found = error.validator, error.validator_value, error.instance
    shown = _shown(found)
    if rule == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        words = gettext("Expected {kinds}, not {shown}.").format(
            kinds=gettext(" or ").join(gettext(_TYPES[kind]) for kind in kinds), shown=shown
        )
        if kinds == ["string"] and not isinstance(found, dict | list):
            words += " " + gettext("Put it in quotes.")
        return words
    if rule == "enum":
        return unknown(gettext("value"), found, wanted)
    if rule == "const":
        words = gettext("Write {wanted}. {shown} is not a supported version of study files.")
        return words.format(wanted=wanted, shown=shown)
    if rule == "minimum":
        return gettext("The minimum is {wanted}, not {shown}.").format(wanted=wanted, shown=shown)
    if rule == "exclusiveMinimum":
        return gettext("This must be greater than {wanted}, not {shown}.").format(wanted=wanted, shown=shown)
    if rule == "maximum":
        return gettext("The maximum is {wanted}, not {shown}.").format(wanted=_n(wanted), shown=shown)
    if rule in ("minLength", "minItems"):
        return gettext("This must not be empty.")
    if rule == "maxLength":
        return gettext("This is longer than {wanted} characters.").format(wanted=_n(wanted))
    if rule == "maxItems":
        return gettext("There are more than {wanted} entries.").format(wanted=wanted)
    if rule == "uniqueItems":
        return gettext("An entry appears twice. Remove one.")
    if rule == "required":
        names = _and([key for key in wanted if key not in found])
        return gettext("{names} is missing.").format(names=names)
    if rule == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        return " ".join(unknown(gettext("key"), key, known) for key in found if key not in known)
    if rule in ("anyOf", "oneOf") and error.context:
        reasons = gettext(" Or: ").join(dict.fromkeys(sentence(one) for one in error.context))
        return gettext("{shown} is not valid: {reasons}").format(shown=shown, reasons=reasons)
    said = error.schema.get("description") or error.schema.get("title")
    return gettext("{shown} is not valid: {said}.").format(
        shown=shown, said=gettext(said) if said else f"{rule} {wanted}"
    )


def _n(number: float) -> str:
    return number_format(number, force_grouping=True)


def _elsewhere(key: Any, path: Path, known: Iterable[str]) -> str:
    """Where a key belongs that is unknown here and has its place one step up or down; "" for every other."""
    if nearest(key, known, 0.6):
        return ""
    section = next((part for part in reversed(path) if isinstance(part, str)), "")
    inside = section and path[-1] == section
    if inside and (near := nearest(key, _keys(path[:-1]))):
        return gettext("Unknown key {key} in `{section}`. Did you mean {near!r}, one level up?").format(
            key=_shown(key), section=section, near=near
        )
    for name in known:
        if near := nearest(key, _keys((*path, name))):
            return gettext("Unknown key {key}. Did you mean {near!r} in `{name}`?").format(
                key=_shown(key), near=near, name=name
            )
    return ""


def _keys(path: Path) -> list[str]:
    """The keys that there are at a place of a file."""
    shape: Any = SCHEMA
    for part in path:
        shape = shape.get("items" if isinstance(part, int) else "properties", {})
        shape = shape if isinstance(part, int) else shape.get(part, {})
    return list(shape.get("properties", {}))


def nearest(name: Any, known: Iterable[str], cutoff: float = 0.75) -> str:
    """The key that was perhaps meant, "" where none is like it."""
    return next(iter(difflib.get_close_matches(str(name), list(known), n=1, cutoff=cutoff)), "")


def unknown(what: str, name: Any, known: Iterable[Any]) -> str:
    """There is no such thing; the nearest that there is, or all. `what` is in the reader's language."""
    texts = [str(one) for one in known]
    if near := nearest(name, texts, 0.6):
        words = gettext("Unknown {what} {name}. Did you mean {near!r}?")
        return words.format(what=what, name=_shown(name), near=near)
    return gettext("Unknown {what} {name}. Available: {known}.").format(
        what=what, name=_shown(name), known=", ".join(texts) or gettext("none")
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: gettext("nothing")}[value]
    if isinstance(value, dict | list):
        return gettext(_TYPES["object" if isinstance(value, dict) else "array"])
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "…"


def _and(names: list[str]) -> str:
    return gettext(" and ").join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
