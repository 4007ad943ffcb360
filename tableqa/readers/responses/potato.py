"""Responses of Potato's output folder: a folder for each annotator with their `user_state.json`.

A schema is a field; of a schema with several inputs, each input is one. Its type is in the configuration of the project
(`annotation_schemes`), a YAML file anywhere in the folder or zip file. Without it, types are guessed from the labels that
Potato's forms use, and each guess is counted. The state has no text of the items, so examples come from a source of the
project, by id.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tableqa.core.foreign_values import decimal
from tableqa.core.translation import gettext_noop, phrase
from tableqa.readers.interface import ReaderError
from tableqa.readers.json_values import plain, text_of
from tableqa.readers.record_fields import Fields, Location
from tableqa.readers.responses import tool_export
from tableqa.readers.responses.folder import files, open_export, read_object
from tableqa.readers.responses.tool_export import GivenResponse, Nature, Task, Tool

LOSSES = {
    "assumed": gettext_noop("types of values (guessed: add the YAML file with annotation_schemes)"),
    "unchecked": gettext_noop("options that are stored as not chosen"),
    "page": gettext_noop("answers on pages before or after the items"),
    "seconds": tool_export.OWN_LOSSES["seconds"],
}
_MEND = "Name the output folder of Potato (output_annotation_dir), or a zip file of it"
_HELD: tuple[tuple[Nature, str], ...] = (
    ("choice", "radio likert select triage conjoint pairwise bws multirate bad_text"),
    ("multi_choice", "multiselect span hierarchical_multiselect"),
    ("scale", "confidence rubric_eval semantic_differential scale_value"),
    ("number", "number slider vas range_slider soft_label constant_sum"),
    ("rank", "ranking"),
    ("text", "text textbox cloze free_response justification"),
)
_TYPES = {type: nature for nature, types in _HELD for type in types.split()}
"""What the fields of a type of schema hold, or of a label in `_BESIDE`."""
_OPTIONS = ("radio", "likert", "multiselect", "span")
"""Types with an input for each option, whose label is the answer. The others have it as the value of a label."""
_BESIDE = ("free_response", "justification", "bad_text", "scale_value")
"""Labels with their own answer, for any type."""
_SELECTS = {"select-one": "select", "selection": "pairwise", "decision": "triage", "rank_order": "ranking"}
_MAIN = (*_SELECTS, "text_box", "slider", "number", "scale_value", "confidence_level", "selected_labels")
"""Labels that Potato's forms always use: their answer is that of the schema."""
_KEYS = {name: f"instance_id_to_{name}_to_value" for name in ("label", "span", "link", "event")}
_DECIMAL = r"[+-]?[0-9]{0,20}\.?[0-9]{1,20}([eE][+-]?[0-9]{1,2})?"
_PAGES = "phase_to_page_to_label_to_value"
_Scheme = Mapping[str, Any]


def tasks(path: Path) -> Iterator[Task]:
    """The items that a person answered; ReaderError."""
    by_id: dict[str, Task] = {}
    with open_export(path) as folder:
        schemes, losses = _schemes(folder), []
        for file in files(folder, "user_state.json", _MEND):
            state = read_object(file, _MEND, file.parent.name)
            person = state.name("user_id")
            phases = state.nested(_PAGES) if _PAGES in state else Fields(state.place, {})
            for phase in map(phases.nested, phases.value):
                losses += ["page" for page in phase.value for _ in phase.listed(page)]
            annotation_fields = {
                name: Fields(state.place.inside(key), state.optional(key)) for name, key in _KEYS.items()
            }
            for id in dict.fromkeys(id for fields in annotation_fields.values() for id in fields.value):
                location = state.place.inside(f"item {id}")
                task = by_id.setdefault(id, Task(id=id, data=Fields(location, {"id": id})))
                marks = [name for name in ("link", "event") for _ in annotation_fields[name].optional(id)]
                task.losses.extend(map(tool_export.loss_of_field, marks))
                stored = Fields(
                    location, {name: annotation_fields[name].optional_list(id) for name in ("label", "span")}
                )
                with tool_export.reject_errors(task.rejected, stored, id, person=person):
                    at, seconds = _times(state, id, task.losses)
                    values, natures = _answers(stored, schemes, task.losses)
                    if values:
                        task.responses.append(
                            GivenResponse(location, person, "", at, values, natures, seconds)
                        )
    schema = {name: _facts(scheme) for name, scheme in schemes.items()}
    for index, task in enumerate(by_id.values()):
        yield task if index else replace(task, losses=[*task.losses, *losses], schema=schema)


def _schemes(folder: Path) -> dict[str, _Scheme]:
    """The schemas of the project's configuration by name; ReaderError."""
    from tableqa.core import guarded_yaml

    schemes: dict[str, _Scheme] = {}
    for file in sorted(candidate for candidate in folder.rglob("*.y*ml") if candidate.is_file()):
        if "annotation_schemes" not in (text := file.read_text("utf-8", errors="replace")):
            continue
        try:
            fields = Fields(Location(file, 1), guarded_yaml.read(text).value)
        except guarded_yaml.YamlError as error:
            raise ReaderError(file, error.fault.line, error.fault.message, phrase("Correct it")) from error
        for scheme in fields.nested_each("annotation_schemes") if "annotation_schemes" in fields else ():
            name = scheme.text("name")
            if schemes.setdefault(name, scheme.value) != scheme.value:
                what = phrase("another configuration has another schema {name}", name=name)
                raise ReaderError(file, None, what, phrase("Keep only the file of this project"))
    return schemes


def _answers(
    stored: Fields, schemes: Mapping[str, _Scheme], losses: list[str]
) -> tuple[dict[str, Any], dict[str, Nature]]:
    """The answers of one person to one item, and what the fields hold."""
    values: dict[str, Any] = {}
    natures: dict[str, Nature] = {}
    chosen, marked = defaultdict(list), defaultdict(list)
    for label, raw_value in _pairs(stored, "label"):
        schema, name = label.text("schema"), label.text("name")
        value, text = plain(raw_value), text_of(raw_value)
        scheme = schemes.get(schema) or {"annotation_type": _assumed_type(schema, name, value, text)}
        type = _type(scheme)
        is_option = type in _OPTIONS and name not in _BESIDE
        if value in (None, "") or (is_option and value in (False, "false") and value != name):
            losses += ["unchecked"] if is_option else []
            continue
        answer = None if is_option or text is None else _answer(text, type, name, scheme)
        if is_option:
            chosen[schema].append(name)
        elif answer is not None:
            is_main = name in (schema, *_MAIN) and schema not in values
            field = schema if is_main else f"{schema}: {name}"
            values[field], natures[field] = answer
        else:
            losses.append(tool_export.loss_of_field(f"{schema} ({type})"))
            continue
        losses += [] if schema in schemes else ["assumed"]
    for schema, names in chosen.items():
        values[schema], natures[schema] = _chosen_answer(names, schemes.get(schema))
    for span, _ in _pairs(stored, "span"):
        marked[f"{span.text('schema')}: spans"].append(span.value)
    for field, parts in marked.items():
        if text := tool_export.spans(parts, field, losses):
            values[field], natures[field] = text, "text"
    return values, natures


def _pairs(stored: Fields, name: str) -> Iterator[tuple[Fields, Any]]:
    for pair in stored.listed(name):
        if not isinstance(pair, list) or len(pair) != 2:
            raise stored.error(name, "is not a list of pairs of label and value", _MEND)
        yield Fields(stored.place, pair[0]), pair[1]


def _assumed_type(schema: str, name: str, value: Any, text: str | None) -> str:
    """The likely type of the schema of a label that no configuration describes."""
    if name in _SELECTS:
        return _SELECTS[name]
    if isinstance(value, bool) or (name != "text_box" and value in (name, "true", "false", "on")):
        return "multiselect"
    if text is None or (name == schema and text[:1] in ("[", "{")):
        return "unknown"
    return "constant_sum" if name != "text_box" and str(_number(text)) == text != _number(text) else "text"


def _type(scheme: _Scheme) -> str:
    """The type of a schema, as its form is drawn: a scale or slider with labels has options."""
    type = str(scheme.get("annotation_type"))
    if scheme.get("turn_level") or scheme.get("session_level"):
        return f"{type} of a turn or session"
    return "likert" if type == "slider" and "labels" in scheme else type


def _answer(text: str, type: str, name: str, scheme: _Scheme) -> tuple[Any, Nature] | None:
    """The answer that is the value of a label, and what the field holds; None where no field can hold it."""
    nature = _TYPES.get(name if name in _BESIDE else type)
    if type == "multirate" and all(map(str.isdecimal, _names(scheme.get("labels")))):
        nature = "scale"
    if nature in ("scale", "number"):
        number = _number(text)
        return number, "text" if isinstance(number, str) else nature
    if nature in ("rank", "multi_choice"):
        names = _names(scheme.get("labels" if nature == "rank" else "taxonomy"))
        # Names may have commas themselves.
        parts = sorted(
            (option for option in names if f",{option}," in f",{text},"),
            key=lambda option: f",{text},".find(f",{option},"),
        )
        return (parts or text.split(","), nature) if ",".join(parts) == text or not names else None
    return (text, nature) if nature else None


def _chosen_answer(names: list[str], scheme: _Scheme | None) -> tuple[Any, Nature]:
    """The answer that chosen options are. Without a configuration, one option is a choice, or a number a step."""
    type = _type(scheme) if scheme else "likert"
    is_scale = type == "likert" and all(map(str.isdecimal, [*names, *_names((scheme or {}).get("labels"))]))
    if len(names) == 1 and is_scale:
        return _number(names[0]), "scale"
    return tool_export.single_or_several(names, _TYPES[type] == "multi_choice")


def _facts(scheme: _Scheme) -> dict[str, Any]:
    """The options of a schema, or the ends of a scale."""
    if _type(scheme) in (*_OPTIONS, "select", "ranking") and (options := _names(scheme.get("labels"))):
        return {"options": options}
    low, high = scheme.get("min_value", 1), scheme.get("max_value", scheme.get("size"))
    return {} if high is None else {"min": low, "max": high}


def _number(text: str) -> int | float | str:
    """The number that a text is, if no digit is lost; else the text."""
    if re.fullmatch("-?[0-9]{1,15}", text):
        return int(text)
    return decimal(text) if re.fullmatch(_DECIMAL, text) else text


def _names(listed: Any) -> list[str]:
    """The names of labels, or of all nodes of a taxonomy."""
    if isinstance(listed, Mapping):
        return [*listed, *(name for part in listed.values() for name in _names(part))]
    labels = listed if isinstance(listed, list) else []
    return [str(label.get("name")) if isinstance(label, Mapping) else str(label) for label in labels]


def _times(state: Fields, id: str, losses: list[str]) -> tuple[Any, float]:
    """The end of the last session on an item, and the seconds on it; None and 0 where the state has none."""
    data = state.optional("instance_id_to_behavioral_data").get(id)
    if not isinstance(data, dict):
        return None, 0.0
    fields = Fields(state.place.inside(f"item {id}"), data)
    ends = (
        tool_export.time_of(fields, name)
        for name in ("session_end", "session_start")
        if fields.value.get(name)
    )
    return next(ends, None), tool_export.seconds_of(fields, "total_time_ms", losses, 0.001)


TOOL = Tool("potato", "Potato", tasks, LOSSES, has_examples=False, export=_MEND)
