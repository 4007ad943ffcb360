"""Label Studio's JSON export, for people who move: tasks with their data, and the annotations and predictions they have.

A task is {"id", "data": {...}, "annotations": [{"result": [...]}], "predictions": [...]}. Which field of `data` is the
question, the table and the answers is a matter of each project; usual names are known, others are named (`with_fields`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from tableqa.core.foreign_values import in_column
from tableqa.core.translation import gettext_noop, grouped, joined, phrase
from tableqa.data.examples import Example
from tableqa.readers.column_names import USUAL
from tableqa.readers.interface import Credit, Names, Rejection, joined_credit, stated_credit
from tableqa.readers.json_values import plain
from tableqa.readers.mapped_records import check_fields, field_of, mapped_example
from tableqa.readers.reading_options import READING, with_options
from tableqa.readers.record_fields import Fields
from tableqa.readers.record_forms import gold_in, lists_of_gold
from tableqa.readers.records import Record, RecordFile, each_record, outcomes_of, read_records

_FROM = "annotations."
_KEPT = ("annotations", "predictions")


@dataclass(frozen=True)
class LabelStudio(RecordFile):
    """The reader "label_studio"; see `tableqa.readers.interface.Reader`.

    The id is the task's. meta holds every other field of its data and "label_studio": its "annotations" and "predictions"
    as they are. Where `answers` is annotations.NAME, the answers are what the first annotation that was not cancelled says
    under that name of a control (`from_name`); the one marked as ground truth goes before the others.
    """

    name = "label_studio"
    title = gettext_noop("Label Studio (JSON export)")
    patterns = ("*.json", "*/*.json")
    known_by = ("data",)
    mend = phrase("Name one JSON export")
    fields: Mapping[str, str] = field(default_factory=dict)

    def with_fields(self, fields: Mapping[str, str]) -> "LabelStudio":
        """The same reader for a project that names its fields so, {part: field}; ValueError for an unknown part."""
        return LabelStudio(check_fields(fields, (*USUAL, *READING, "answer_separator")))

    def _outcomes(self, path: Path) -> Iterator[Example | Rejection]:
        names = Names()
        own = {part: name for part, name in self.fields.items() if not name.startswith(_FROM)}
        control = self.fields.get("answers", "").partition(_FROM)[2]
        own |= {"answers": "answers"} if control else {}
        separator = own.pop("answer_separator", "")
        lists = lists_of_gold(
            lambda: (record for record in each_record(path) if isinstance(record, Record)),
            lambda record, part: in_column((data := _data(record)).value, field_of(data, part, own)),
        )
        read_gold = partial(gold_in, separator=separator, lists=lists)

        def make(record: Record) -> Example:
            data, fields = _data(record), record.fields
            if control:
                data = Fields(data.place, {**data.value, "answers": _annotated_texts(fields, control)})
            preserved_fields = {name: plain(fields.listed(name)) for name in _KEPT if name in fields}
            further = {"label_studio": preserved_fields}
            return mapped_example(data, own, names, record.number, further, read_gold)

        return with_options(self.fields, outcomes_of(path, make))

    def credit(self, path: Path, tables: Path | None = None) -> Credit:
        """The credit of the sources that an export of Askew names in the meta of its tasks, else none; ReaderError."""
        metas = (record.fields.value.get("meta") for record in read_records(*self.located(path)))
        return joined_credit({credit for meta in metas if (credit := stated_credit(meta))})

    def left_out(self, path: str | Path, tables: str | Path | None = None, limit: int | None = None) -> str:
        """How many annotations are not imported as responses, and how to import them; "" where there is none."""
        control = self.fields.get("answers", "").partition(_FROM)[2]
        annotations = tasks = 0
        for record in islice(read_records(*self.located(path)), limit):
            count = len(_valid_annotations(record.fields))
            if control and count:
                count -= 1  # its answers are those of the example
            annotations += count
            tasks += bool(count)
        if not annotations:
            return ""
        of_tasks = phrase("1 task") if tasks == 1 else phrase("{number} tasks", number=grouped(tasks))
        number_left_out = (
            phrase("1 annotation of {tasks} was not imported as a response.", tasks=of_tasks)
            if annotations == 1
            else phrase(
                "{number} annotations of {tasks} were not imported as responses.",
                number=grouped(annotations),
                tasks=of_tasks,
            )
        )
        return joined([number_left_out, HOW_TO_IMPORT])


HOW_TO_IMPORT = phrase(
    "Import the same file on the page Import responses to keep people, labels and times. "
    "The command is import_responses --tool label_studio. "
    "To use a control as the answers of the examples, import them under another name. "
    "Name the field answers=annotations.NAME."
)


def _data(record: Record) -> Fields:
    """The data of a task, with the task's id where the data have none of their own."""
    fields = record.fields
    data = fields.nested("data")
    id = fields.name("id") if "id" in fields else str(record.number)
    return data if "id" in data else Fields(data.place, {"id": id, **data.value})


def _annotated_texts(task: Fields, control: str) -> list[str]:
    """What the annotation that counts says under a control: the texts of a text area, choices or labels."""
    counting = sorted(_valid_annotations(task), key=lambda candidate: not candidate.value.get("ground_truth"))
    for annotation in counting[:1]:
        texts: list[str] = []
        for result in annotation.nested_each("result"):
            if result.text("from_name", default="") == control:
                texts += _texts(result.nested("value"))
        return texts
    return []


def _valid_annotations(task: Fields) -> list[Fields]:
    """The annotations of a task that were not cancelled."""
    annotations = list(task.nested_each("annotations")) if "annotations" in task else []
    return [annotation for annotation in annotations if not annotation.value.get("was_cancelled")]


def _texts(value: Fields) -> list[str]:
    for name in ("text", "choices", "labels", "number", "rating"):
        if name in value:
            result_value: Any = value.value[name]
            members = result_value if isinstance(result_value, list) else [result_value]
            return Fields(value.place, {name: members}).texts(name)
    mend = phrase("Name another control")
    raise value.place.error(phrase("there is no text, choices, labels, number or rating"), mend)


READER = LabelStudio()
