"""The tables of docs/reference/ that are generated from declarations: task types, options, rules, commands, fields.

`./run manage reference` writes them between the markers `<!-- generated: NAME -->` and `<!-- end: NAME -->` of a page.
"""

import argparse
import ast
import json
import sys
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import load_command_class
from django.core.management.base import DjangoHelpFormatter
from django.template.loader import render_to_string
from django.utils import translation

from annotation.models.batch_options import EVERY, SECTIONS, Term, in_section
from annotation.models.batch_options.task_settings import filled
from annotation.releases.manifest import DECLARATIONS
from tableqa import Example
from tasks.contract import HERE, Field, Item, ProposingTask, TaskType, task_types
from tasks.contract.decision_rules import RULES

Key = tuple[str, str]
"""The key of a shortcut, and what it does."""
SHAPES = {
    "flag": "bool",
    "text": "text",
    "lines": "[text]",
    "operations": "[operation]",
    "cells": "[cell]",
    "json": "json",
}
OF_DJANGO = {"--help", "--version", *DjangoHelpFormatter.show_last}
"""Arguments that every command has."""
VOID = {"input", "br", "img", "hr", "meta", "link"}


def shipped() -> list[TaskType]:
    """The task types below tasks/, by key: a task type of another package has its own documentation."""
    return [task for _, task in sorted(task_types().items()) if task.folder().parent == HERE]


def write(folder: Path) -> list[Path]:
    """Write every generated table into the pages of docs/reference/. Returns the pages that changed."""
    changed = []
    for page in sorted({page for page, _ in TABLES}):
        path = folder / page
        before = path.read_text("utf-8")
        after = generated(page, before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    return changed


def generated(page: str, text: str) -> str:
    """The text of a page with its generated tables. Raises ValueError if a marker is missing."""
    for (name_of_page, name), rows in TABLES.items():
        if name_of_page != page:
            continue
        start, end = f"<!-- generated: {name} -->\n", f"<!-- end: {name} -->"
        before, _, rest = text.partition(start)
        _, closing, after = rest.partition(end)
        if not closing:
            raise ValueError(f"{page}: the marker <!-- generated: {name} --> or its end is missing")
        with translation.override("en"):
            body = "\n".join(rows())
        text = f"{before}{start}\n{body}\n\n{end}{after}"
    return text


# -- what each page lists ----------------------------------------------------------------------------


def summaries() -> list[str]:
    """One row for each task type: what annotators do, and how it is decided."""
    rows = ["| key | task | examples | decision | agreement |", "|---|---|---|---|---|"]
    for task in shipped():
        about = (sys.modules[type(task).__module__].__doc__ or task.title).splitlines()[0].rstrip(".")
        about += f" ({task.paper})" if task.paper else ""
        examples = ", ".join(task.of) + (" that qualify" if task.without else "")
        examples += "".join(f"; starts from `{name}`" for name in task.starts_from)
        rule = f"`{task.rule['rule']}`" if task.rule else "its own rule"
        decision = "accepts each response" if task.making else f"{rule}, {task.default_overlap} per item"
        statistics = dict.fromkeys(name for measure in task.measures for name in measure.statistics)
        agreement = ", ".join(f"`{name}`" for name in statistics)
        rows.append(f"| `{task.key}` | {about} | {examples} | {decision} | {agreement or '-'} |")
    return rows


def decision_rules() -> list[str]:
    """One row for each decision rule: its sentence in settings, and its options with their defaults."""
    rows = ["| rule | fits | decision | options |", "|---|---|---|---|"]
    for rule in RULES.values():
        options = (
            f"`{name}` ({_json(rule.defaults[name])})" if name in rule.defaults else f"`{name}`"
            for name in rule.options
        )
        rows.append(f"| `{rule.name}` | {', '.join(rule.fits)} | {rule.says} | {', '.join(options)} |")
    return rows


def manifest_fields() -> list[str]:
    """One row for each field of the manifest of a release: which releases have it, and its meaning."""
    rows = ["| field | in | meaning |", "|---|---|---|"]
    for name, field in DECLARATIONS.items():
        limits = (
            f"layout {field.layout}" * bool(field.layout),
            f"rules {field.since} and later" * (field.since > 1),
        )
        releases = ", ".join(filter(None, (*limits, "" if field.is_required else "optional")))
        rows.append(f"| `{name}` | {releases or 'all releases'} | {field.meaning} |")
    return rows


def default_rules() -> list[str]:
    """One row for each form of responses and default rule."""
    groups: dict[tuple[str, str], list[str]] = {}
    for task in shipped():
        if not task.rule:
            continue
        options = [f"`{name}` {json.dumps(value)}" for name, value in task.rule.items() if name != "rule"]
        rule = " with ".join([f"`{task.rule['rule']}`", ", ".join(options)][: 1 + bool(options)])
        rule += "".join(
            f"; `{option}` is its setting `{name}`" for option, name in task.rule_settings.items()
        )
        groups.setdefault((task.compares, rule), []).append(f"`{task.key}`")
    rows = ["| compares | task types | default rule |", "|---|---|---|"]
    return rows + [
        f"| {what} | {', '.join(keys)} | {rule} |" for (what, rule), keys in sorted(groups.items())
    ]


def with_a_model() -> list[str]:
    """Which task types have a model in the loop, by when it answers."""
    when = {"live": "while the annotator works", "on_request": "on request, by a button"}
    rows = ["| task types | the model answers |", "|---|---|"]
    for predicts, text in when.items():
        named = [f"`{task.key}`" for task in shipped() if task.predicts == predicts]
        rows += [f"| {', '.join(named)} | {text} |"] if named else []
    return rows


def with_proposals() -> list[str]:
    """Which task types have proposals."""
    return [f"* `{task.key}`: {task.title}" for task in shipped() if isinstance(task, ProposingTask)]


def response_data() -> list[str]:
    """One row for each task type: the fields of its responses."""
    rows = ["| task type | `data` |", "|---|---|"]
    for task in shipped():
        data = ", ".join(f'"{field.name}": {shape(field)}' for field in task.fields)
        notes = [field.note for field in task.fields if field.note]
        rows.append(f"| `{task.key}` | {'; '.join([f'`{{{data}}}`', *notes])} |")
    return rows


def shape(field: Field) -> str:
    """The values of a field, as the reference writes JSON."""
    if field.shape:
        return field.shape
    values = [value for value, _ in field.choices]
    if values and all(value.isdigit() for value in values):
        return f"{values[0]}-{values[-1]}"
    options = r" \| ".join(f'"{value}"' for value in values)
    return {"choice": options, "choices": f"[{options}]"}.get(field.kind, SHAPES.get(field.kind, ""))


def keys() -> list[str]:
    """One row for each task type, or for each variant with other keys: the shortcuts of its form."""
    rows = ["| task type | keys |", "|---|---|"]
    for task in sorted(shipped(), key=lambda task: task.title):
        by_variant: dict[str, list[Key]] = {}
        for item in sample_items(task):
            variant_keys = by_variant.setdefault(item.variant, [])
            variant_keys += [key for key in keys_of(task, item) if key not in variant_keys]
        lines: dict[str, list[str]] = {}
        for variant, of_form in by_variant.items():
            lines.setdefault(in_words(of_form) or "none of its own", []).append(
                task.variants.get(variant, "")
            )
        for line, variants in lines.items():
            name = task.title if len(lines) == 1 else f"{task.title}: {'; '.join(variants)}"
            rows.append(f"| {name} | {line} |")
    return rows


def sample_items(task: TaskType) -> list[Item]:
    """The items of sample.json, their settings filled with the defaults."""
    sample = json.loads((task.folder() / "sample.json").read_text("utf-8"))
    return [
        Item(
            Example.from_dict(item["example"]),
            item["variant"],
            filled(task, item.get("settings", {})),
            item.get("inputs", {}),
        )
        for item in sample["items"]
    ]


def keys_of(task: TaskType, item: Item) -> list[Key]:
    """The shortcuts of the form of a task type, in the order of the form."""
    assignment = {**task.page_data(item), "id": "", "loop": None}
    context = {"task": task, "item": item, "assignment": assignment, "data": {}, "changes": []}
    context |= dict.fromkeys(("batch", "found", "seen", "suggested", "table"))
    form = _Form()
    form.feed(render_to_string(task.form_template, context))
    return list(dict.fromkeys(form.keys))


def in_words(of_form: list[Key]) -> str:
    """Keys with what they do; the steps of a scale as one range."""
    parts: list[str] = []
    for scale, steps in groupby(of_form, lambda key: key[1].removesuffix(f" {key[0]}").rstrip(":")):
        several = list(steps)
        first, last = several[0][0].upper(), several[-1][0].upper()
        parts.append(f"`{first}` – `{last}` {scale}" if len(several) > 1 else f"`{first}` {several[0][1]}")
    return ", ".join(parts)


class _Form(HTMLParser):
    """The keys of a form with what they do, as static/askew/keys.js reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[Key] = []
        self._label: list[str] = []
        self._open: Mapping[str, str | None] | None = None
        self._naming = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes: dict[str, Any] = dict(attrs)
        if tag == "label":
            self._label = []
        if "data-key" in attributes:
            self._open = attributes
            if attributes.get("data-label"):
                self._add(attributes["data-label"])
        self._naming = self._naming + 1 if self._naming and tag not in VOID else self._naming
        if "data-name" in attributes:
            self._naming = 1

    def handle_endtag(self, tag: str) -> None:
        self._naming = max(0, self._naming - 1)
        if not self._naming and self._label and self._open is not None:
            self._add(" ".join("".join(self._label).split()))
        if tag == "label":
            if self._open is not None:
                self._add(self._open.get("value") or "")
            self._label = []

    def handle_data(self, data: str) -> None:
        if self._naming:
            self._label.append(data)

    def _add(self, action: str) -> None:
        if self._open is not None:
            self.keys.append((self._open["data-key"] or "", action))
        self._open = None


def options() -> list[str]:
    """One row for each option of a batch: its names, its values and its default."""
    rows = ["| option | API | study file | values | default | purposes |", "|---|---|---|---|---|---|"]
    for term in _terms():
        key = f"`{'.'.join(term.path)}`" + (", `kinds`" if term.per_task_type else "")
        purposes = ", ".join(sorted(term.purposes)) if len(term.purposes) < len(EVERY) else "all"
        cells = (term.label, f"`{term.name}`", key, values(term), default(term), purposes)
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def changes() -> list[str]:
    """One row for each option of a batch: what it means, when it may change, and what a change does."""
    rows = ["| option | meaning | may change | effect of a change |", "|---|---|---|---|"]
    for term in _terms():
        cells = (term.label, term.help, term.changeable, term.effect_in_words())
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _terms() -> list[Term]:
    """The terms in the order of forms."""
    return [term for section in SECTIONS for term in in_section(section)]


def values(term: Term) -> str:
    """What an option can be."""
    if term.column.is_relation:
        return "API: id of a batch; study file: its name"
    if term.written is not None:
        stored = " or ".join(_json(value) for value in term.written)
        return (
            f"API: {stored}; study file: {' or '.join(_json(term.in_file(value)) for value in term.written)}"
        )
    if callable(term.choices):
        return "a name from the [settings](settings.md)"
    schema = term.schema()
    if isinstance(term.choices, Mapping):
        meanings = {name: text.removeprefix(f"{name}: ") for name, text in term.choices.items()}
        return "; ".join(f"`{name}` ({meanings[name]})" for name in schema["enum"])
    if schema["type"] == "integer":
        return f"{schema['minimum']} to {schema['maximum']}"
    if schema["type"] == "array":
        return f"a list of at most {schema['maxItems']} texts"
    names = ", ".join(f"`{name}`" for name in schema.get("properties", ()))
    kind = {"boolean": "`true` or `false`", "object": "an object", "string": "text"}[schema["type"]]
    return f"{kind} with {names}" if names else kind


def default(term: Term) -> str:
    """What an option is if it is not given."""
    if term.usual_in_words:
        return term.usual_in_words
    return "none" if term.default in (None, "", {}) else _json(term.in_file(term.default))


def _json(value: Any) -> str:
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def commands() -> list[str]:
    """One row for each command of the platform: its arguments, those of Django left out, and its help."""
    rows = ["| `./run manage` … | description |", "|---|---|"]
    for path in sorted((settings.BASE_DIR / "annotation" / "management" / "commands").glob("[a-z]*.py")):
        command = load_command_class("annotation", path.stem)
        parser = command.create_parser("./run manage", path.stem)
        own = [action for action in parser._actions if not OF_DJANGO & set(action.option_strings)]
        usage = " ".join([path.stem, *map(_usage, own)])
        rows.append(f"| `{usage.replace('|', chr(92) + '|')}` | {_one_line(str(command.help))} |")
    return rows


def _usage(action: argparse.Action) -> str:
    """One argument as help texts write it: optional ones in brackets, dots behind an option that may be repeated."""
    name = max(action.option_strings, key=len, default="")
    choices = list(map(str, action.choices or ()))
    value = action.metavar or ("|".join(choices) if 0 < len(choices) < 8 else action.dest.upper())
    several = " ..." * (action.nargs in ("+", "*"))
    usage = f"{name} {value if action.nargs != 0 else ''}{several}".strip()
    repeated = "..." * isinstance(action, argparse._AppendAction)
    is_needed = action.required if name else action.nargs not in ("?", "*")
    return (usage if is_needed else f"[{usage}]") + repeated


def benchmarks() -> list[str]:
    """One row for each benchmark: what it measures."""
    rows = ["| `./run bench` … | measures |", "|---|---|"]
    for path in sorted((settings.BASE_DIR / "benchmarks").glob("[a-z]*.py")):
        module = ast.parse(text := path.read_text("utf-8"))
        if f"./run bench {path.stem}" in text:
            rows.append(f"| `{path.stem}` | {_one_line((ast.get_docstring(module) or '').splitlines()[0])} |")
    return rows


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


TABLES: Mapping[tuple[str, str], Callable[[], list[str]]] = {
    ("api.md", "response data"): response_data,
    ("commands.md", "commands"): commands,
    ("commands.md", "benchmarks"): benchmarks,
    ("batch-options.md", "options"): options,
    ("batch-options.md", "changes"): changes,
    ("crafting.md", "task types with proposals"): with_proposals,
    ("keys.md", "keys of task types"): keys,
    ("kinds.md", "task types"): summaries,
    ("model-in-the-loop.md", "models in the loop"): with_a_model,
    ("release-format.md", "fields of the manifest"): manifest_fields,
    ("resolve-rules.md", "rules"): decision_rules,
    ("resolve-rules.md", "default rules"): default_rules,
}
"""By page and name of the table, what makes its rows."""
