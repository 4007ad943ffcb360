"""Responses of a release as files of other tools: a spreadsheet, and the tasks of a Label Studio project.

Everything is read from the release folder, one record at a time; no database is needed. What a form loses is in `LOSES`.
"""

import csv
import html
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from annotation.releases.provenance import PROPOSALS
from annotation.releases.raw_records import Raw
from annotation.releases.task_records import definition_of, task_of_record
from tableqa.core.canonical_json import canonical
from tableqa.data.answers import alternatives_of
from tableqa.releases.record_files import records, records_with_offsets
from tableqa.releases.release_records import decision_of, record_at
from tableqa.writers.report_tables import guarded
from tasks.contract import Field, TaskType
from tasks.shared.form_fields import AnswerChoice, AnswerMultiChoice, AnswerRank
from tasks.shared.typed_fields import Date, Number

Record = dict[str, Any]
FORMS: Final = ("csv", "xlsx", "label_studio")
_NOT_IN_ROWS: Final = (
    "earlier revisions, items without a response, outcomes of decisions (whether a response is accepted is), "
    "alternative answers, tables, history and context of questions, proposals, guidelines, licences, lineage of edited "
    "examples, figures of agreement; edits are JSON in a cell"
)
LOSES: Final = {
    "csv": _NOT_IN_ROWS,
    "xlsx": f"{_NOT_IN_ROWS}; ends of texts of more than 32,767 characters",
    "label_studio": "earlier revisions, slots, marks of unsure responses, decisions of an adjudicator that accept no "
    "response, guidelines, title, caption and further header rows of tables, history and context of questions, lineage of "
    "edited examples, figures of agreement; the table on the page numbers columns of the same name",
}
"""What each form does not contain, as a sentence for people."""
COLUMNS: Final = (
    *("response", "batch", "batch_name", "task_type", "variant", "item", "source", "example"),
    *("question", "answers", "annotator", "simulated", "external", "revision", "slot", "added"),
    *("unsure", "active_seconds", "made_at", "decision", "is_accepted"),
)
"""Columns of a row; after them come the fields of the response, as `response.NAME`."""
LONGEST_CELL: Final = 32_767
_UNCARRIED: Final = ("guidelines", "practice")
RESPONSE: Final = "askew"
"""The control that has id, annotator, time and the whole response as JSON, in every task of Label Studio."""
_CREDIT: Final = ("licence", "citation", "url")


def rows(raw: Raw) -> Iterator[Record]:
    """One row for each current response (the newest of a person to an item, unless withdrawn), in the order of release."""
    for record in raw.annotations:
        if not record["newest"] or record["response"] is None:
            continue
        batch = raw.batches[record["batch"]]
        example = raw.example(record["source"], record["example"])
        decision = decision_of(raw, record["item"])
        accepted = {id for outcome in decision.get("outcomes", ()) for id in outcome["annotations"]}
        yield {
            "response": record["id"],
            "batch": record["batch"],
            "batch_name": batch["name"],
            "task_type": batch["type"],
            "variant": batch["variant"],
            **{name: record[name] for name in ("item", "source", "example")},
            "question": example.question,
            "answers": list(example.answers),
            **{
                name: record[name]
                for name in ("annotator", "simulated", "revision", "active_seconds", "made_at")
            },
            "external": record.get("external", False),
            "slot": record["place"]["number"],
            "added": record["place"]["added"],
            "unsure": record.get("unsure", False),
            "decision": decision.get("kind", ""),
            "is_accepted": record["id"] in accepted,
            **{f"response.{name}": value for name, value in record["response"]["data"].items()},
        }


def columns(raw: Raw) -> list[str]:
    """`COLUMNS`, then every field that a response has, in the order in which they first appear."""
    fields = {name: None for row in rows(raw) for name in row if name.startswith("response.")}
    return [*COLUMNS, *fields]


def write_csv(raw: Raw, path: Path) -> int:
    """UTF-8 with a header. Texts that a spreadsheet takes for a formula begin with an apostrophe. Returns the rows."""
    named, written = columns(raw), 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(named)
        for row in rows(raw):
            writer.writerow([_guarded_text(row.get(name)) for name in named])
            written += 1
    return written


def write_xlsx(raw: Raw, path: Path) -> int:
    """A workbook with one sheet. Numbers are numbers; no text is a formula or a link. Returns the rows."""
    import xlsxwriter

    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    named, row_number = columns(raw), 0
    with xlsxwriter.Workbook(path, options) as book:
        sheet = book.add_worksheet("Responses")
        sheet.freeze_panes(1, 0)
        for column, name in enumerate(named):
            sheet.write_string(0, column, name)
        for row_number, row in enumerate(rows(raw), start=1):
            for column, name in enumerate(named):
                value = row.get(name)
                if isinstance(value, int | float) and not isinstance(value, bool):
                    sheet.write_number(row_number, column, value)
                elif value is not None:
                    sheet.write_string(row_number, column, _guarded_text(value)[:LONGEST_CELL])
    return row_number


def _guarded_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return guarded(value if isinstance(value, str) else canonical(value))


# -- Label Studio -----------------------------------------------------------------------------------


def write_label_studio(raw: Raw, folder: Path) -> int:
    """For each batch `NAME.json`, its tasks, and `NAME.xml`, the labelling configuration that shows them.

    NAME is the id of the batch. Import the XML under Settings, Labeling Interface, then the JSON. Returns the tasks.
    """
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for id, batch in raw.batches.items():
        most_answers = 2
        for task in write_array(folder / f"{id}.json", tasks(raw, id)):
            most_answers = max(most_answers, len(set(task["data"]["answers"])))
            count += 1
        xml = configuration(task_of_record(batch), most_answers)
        (folder / f"{id}.xml").write_text(xml, encoding="utf-8")
    return count


def write_array(path: Path, lines: Iterable[Record]) -> Iterator[Record]:
    """Records that are written as an array of JSON, one a line, each while the next one is asked for."""
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for index, line in enumerate(lines):
            file.write(("," if index else "") + "\n" + json.dumps(line, ensure_ascii=False))
            yield line
        file.write("\n]\n")


def configuration(task: TaskType, most_answers: int) -> str:
    """The labelling configuration of Label Studio: question and table, choices as such, the whole response as JSON.

    most_answers: the largest number of different answers of an example; a choice of answers lists as many.
    """
    lines = [
        "<View>",
        '  <Header value="$question"/>',
        '  <Table name="table" value="$cells"/>',
        '  <Text name="text" value="$question"/>',
    ]
    for field in task.fields:
        control = _control(field)
        if control == "choices":
            several = "multiple" if field.kind == "choices" else "single"
            lines.append(f'  <Choices name="{html.escape(field.name)}" toName="text" choice="{several}">')
            lines += [
                f'    <Choice value="{_attribute(value)}"/>' for value in _option_values(field, most_answers)
            ]
            lines.append("  </Choices>")
        elif control:
            lines.append(f'  <{_TAGS[control]} name="{html.escape(field.name)}" toName="text"/>')
    lines += [f'  <TextArea name="{RESPONSE}" toName="text"/>', "</View>", ""]
    return "\n".join(lines)


_TAGS: Final = {
    "textarea": "TextArea",
    "number": "Number",
    "datetime": 'DateTime only="date" format="%Y-%m-%d"',
}
"""By control: the tag of the configuration that shows it."""


def _control(field: Field) -> str:
    """The control of a field: a ranking of the answers of an item, which no configuration can list, is a text."""
    if isinstance(field, Number | Date):
        return "number" if isinstance(field, Number) else "datetime"
    if field.kind in ("text", "lines") or isinstance(field, AnswerRank):
        return "textarea"
    return "choices" if field.kind in ("choice", "choices") else ""


def _attribute(text: str) -> str:
    """A text in an attribute of XML, which keeps line breaks and tabs as references only."""
    return html.escape(text).translate({9: "&#9;", 10: "&#10;", 13: "&#13;"})


def _option_values(field: Field, most_answers: int) -> list[str]:
    """The values that a configuration lists: of a choice of answers their numbers, and its own options."""
    answer_numbers = range(1, most_answers + 1) if isinstance(field, AnswerChoice | AnswerMultiChoice) else ()
    return [*map(str, answer_numbers), *(value for value, _ in field.choices)]


def tasks(raw: Raw, batch: str) -> Iterator[Record]:
    """The tasks of a batch: data, one annotation for each current response, and proposals as predictions.

    An accepted response is ground truth. `meta` has the ids of Askew and the credit of the source. Label Studio refuses
    annotators without an account, so pseudonyms are in the control `RESPONSE` only.
    """
    task = task_of_record(raw.batches[batch])
    proposals: dict[str, list[int]] = {}
    path = raw.folder / PROPOSALS
    for offset, proposal in records_with_offsets(path) if path.exists() else ():
        if proposal["batch"] == batch:
            proposals.setdefault(proposal["item"], []).append(offset)
    for item in sorted(items_of(raw, batch).items(), key=lambda entry: (entry[1], entry[0])):
        id, (source, example_id) = item
        responses = [
            entry for entry in raw.annotations_of(id) if entry["newest"] and entry["response"] is not None
        ]
        outcomes = decision_of(raw, id).get("outcomes", ())
        accepted = {response for entry in outcomes for response in entry["annotations"]}
        example = raw.example(source, example_id)
        alternatives = alternatives_of(example.answers)
        header = list(example.table.header)
        names = _unique_names(header)
        yield {
            "data": {
                "id": example_id,
                "question": example.question,
                "answers": list(example.answers),
                **({"answer_alternatives": list(map(list, alternatives))} if alternatives else {}),
                "table": {"header": header, "rows": [list(row) for row in example.table.rows]},
                "cells": [dict(zip(names, row, strict=True)) for row in example.table.rows],
            },
            "meta": {"batch": batch, "item": id, **source_of(raw, source), **terms_of(raw, batch)},
            "annotations": [_annotation(task, entry, entry["id"] in accepted) for entry in responses],
            "predictions": [
                {
                    "model_version": entry["maker"],
                    "score": entry["score"],
                    "result": _results(task, entry["data"], {"id": entry["id"]}),
                }
                for offset in proposals.get(id, ())
                for entry in (record_at(raw, PROPOSALS, offset),)
            ],
        }


def _unique_names(header: Sequence[str]) -> list[str]:
    """Names of columns, with a number behind one that came before: a row of Label Studio holds its cells by name."""
    names: list[str] = []
    for name in header:
        candidates = (f"{name} ({suffix})" for suffix in itertools.count(2))
        free = (candidate for candidate in candidates if candidate not in (*names, *header))
        names.append(next(free) if name in names else name)
    return names


def terms_of(raw: Raw, batch: str) -> dict[str, Any]:
    """What an import needs to make a batch of the same task type: of a definition all but guidelines and practice."""
    record = raw.batches[batch]
    terms = {"task_type": record["type"], "variant": record["variant"], "settings": record["settings"]}
    if "definition" not in record:
        return terms
    definition = definition_of(record)
    return {**terms, "definition": {key: definition[key] for key in definition if key not in _UNCARRIED}}


def source_of(raw: Raw, name: str) -> dict[str, Any]:
    """A source by name, with its licence, citation and URL."""
    record = raw.sources[name]
    return {"source": name, "credit": {part: record[part] for part in _CREDIT}}


def origin_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Whose response a record is, from when, and whether by a program: what is beside its data in `RESPONSE`."""
    simulated = {"simulated": True} if record["simulated"] else {}
    return {**{name: record[name] for name in ("id", "annotator", "made_at")}, **simulated}


def items_of(raw: Raw, batch: str) -> dict[str, tuple[str, str]]:
    """Source and example of every item of a batch, also of those without a response."""
    named: dict[str, tuple[str, str]] = {}
    for record in records(raw.folder / "sources.jsonl"):
        if record["kind"] == "item" and record.get("batch") == batch:
            named[record["id"]] = record["source"], record["example"]
    for lines in (raw.annotations, raw.decisions):
        for record in lines:
            if record["batch"] == batch:
                named[record["item"]] = record["source"], record["example"]
    return named


def _annotation(task: TaskType, record: Mapping[str, Any], is_accepted: bool) -> Record:
    return {
        "lead_time": record["active_seconds"],
        "ground_truth": is_accepted,
        "was_cancelled": False,
        "result": _results(task, record["response"]["data"], origin_of(record)),
    }


def _results(task: TaskType, data: Mapping[str, Any], origin: Mapping[str, Any]) -> list[Record]:
    """The regions of a response: a control for each choice, text, number and date, and the whole response as JSON."""
    results = []
    for field in task.fields:
        value = data.get(field.name)
        if value in (None, "", []):
            continue
        values = [str(member) for member in value] if isinstance(value, list) else [str(value)]
        control = _control(field)
        if control == "choices":
            results.append(_result(field.name, "choices", {"choices": values}))
        elif control == "textarea":
            results.append(_result(field.name, "textarea", {"text": values}))
        elif control:
            results.append(_result(field.name, control, {control: value}))
    return [*results, _result(RESPONSE, "textarea", {"text": [canonical({**origin, "data": data})]})]


def _result(name: str, type: str, value: Mapping[str, Any]) -> Record:
    return {"from_name": name, "to_name": "text", "type": type, "value": dict(value)}
