"""The mapping of fields of another tool to fields of a task type, and the task type where the project has none that fits.

All functions are pure. A mapping is a YAML file or what a page posts; every part of it can be left out and is guessed then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from tableqa.readers.interface import Credit
from tableqa.readers.labels import DUPLICATES
from tableqa.readers.responses import GivenResponse
from tableqa.readers.responses.tool_export import CheckedTask
from tasks.contract import TaskType
from tasks.contract.scores import number_of
from tasks.shared.form_fields import Choice, MultiChoice, Rank, Scale, Text
from tasks.shared.type_definitions import FARTHEST_STEP, MOST_STEPS, TAKEN
from tasks.shared.typed_fields import Date, Number, day_of

MOST_OPTIONS: Final = 40
LONGEST_OPTION: Final = 80
LEAVE_OUT: Final = ""
MOST_VALUES: Final = 40
"""Values of a field that a page shows."""
UNNAMED: Final = "annotator"
"""The person of responses without a name."""


@dataclass(frozen=True)
class ImportMapping:
    """What a person can say of an import; empty parts are guessed.

    task_type  installed, defined by the project, or the name of a new one that is made from the file
    fields     by field of the tool: the field of the task type; "" leaves it out
    values     by field of the tool: values there, and the option that each means
    people     by name there: the name here; two names with one name here are one person
    parts      by part of an example: the name of the field in the data
    source     name of the source: an existing one by this name lends its examples, else the file makes it
    batch      name of the new batch
    licence    of the examples, as an SPDX identifier; likewise citation and url. An existing source has its own
    duplicates of several responses of a person to one example, the one that is imported (`DUPLICATES`)
    good_only  leave out responses and examples with a problem; otherwise one problem stops the import
    """

    task_type: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    batch: str = ""
    licence: str = ""
    citation: str = ""
    url: str = ""
    duplicates: str = DUPLICATES[0]
    good_only: bool = False


@dataclass
class Column:
    """One field of the tool: what it holds in all responses, and how often each value occurs."""

    name: str
    natures: set[str] = field(default_factory=set)
    values: Counter[str] = field(default_factory=Counter)
    responses: int = 0
    is_whole: bool = True
    declared: Mapping[str, Any] = field(default_factory=dict)
    """What the settings of the tool say: options, or the ends of a scale or number."""
    first: Sequence[Any] = ()
    """The first list of values."""
    has_same_values: bool = True
    """Whether every value is a list of the same values as the first, in any order."""
    has_orders: bool = False
    """Whether two lists differ."""
    left_out: int = 0
    """Values that a page does not show: rare ones."""

    def add(self, value: Any, nature: str) -> None:
        self.responses += 1
        self.natures.add("text" if nature == "date" and day_of(value) is None else nature)
        self.is_whole &= isinstance(value, int) and not isinstance(value, bool)
        values = value if isinstance(value, list) and nature != "cells" else []
        self.first = self.first or values
        self.has_same_values &= len(values) > 1 and Counter(map(str, values)) == Counter(map(str, self.first))
        self.has_orders |= values != self.first
        self.values.update(map(str, value) if isinstance(value, list) else [str(value)])

    def shortened(self) -> Column:
        """The column with its most frequent values."""
        values = Counter(dict(self.values.most_common(MOST_VALUES)))
        return replace(self, values=values, left_out=len(self.values) - len(values), first=())

    def add_predicted(self, value: Any) -> None:
        """A value that a model predicted: an option of a choice, whether or not a person chose it."""
        if self.nature in ("choice", "multi_choice"):
            for option in value if isinstance(value, list) else [value]:
                self.values[str(option)] += 0

    @property
    def nature(self) -> str:
        """The type of field that holds all values: choice, multi_choice, scale, number, rank, date, cells or text.

        Lists of the same values in different orders are a ranking: who chooses among values leaves some out.
        """
        if self.natures & {"multi_choice"}:
            is_rank = self.has_same_values and self.has_orders and not self.declared
            return "rank" if is_rank else "multi_choice"
        if self.natures and self.natures <= {"scale", "number"}:
            return (
                "scale" if self.natures == {"scale"} and self.is_whole and self._has_few_steps else "number"
            )
        (nature, *others) = sorted(self.natures) or ["text"]
        return "text" if others else nature

    @property
    def steps(self) -> range:
        """The steps of a scale: those of the tool, or 1 to 5, and further ones that have values."""
        whole = [int(value) for value in self.values]
        ends = self.declared.get("min", 1), self.declared.get("max", 5)
        return range(min([ends[0], *whole]), max([ends[1], *whole]) + 1)

    @property
    def _has_few_steps(self) -> bool:
        """Whether a scale can have the steps."""
        low, end = self.steps.start, self.steps.stop
        return end - low <= MOST_STEPS and low >= -FARTHEST_STEP and end <= FARTHEST_STEP + 1

    @property
    def has_options(self) -> bool:
        """Whether the values can be the options of a field."""
        return len(self.values) <= MOST_OPTIONS and all(
            0 < len(option) <= LONGEST_OPTION for option in self.values
        )


@dataclass
class Summary:
    """What an export holds, for the preview: fields, people, times and losses in all of its tasks."""

    tasks: int = 0
    answered: int = 0
    responses: int = 0
    columns: dict[str, Column] = field(default_factory=dict)
    people: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    task_types: Counter[str] = field(default_factory=Counter)
    first: datetime | None = None
    last: datetime | None = None
    without_time: int = 0
    terms: dict[str, Any] = field(default_factory=dict)
    """Variant and settings of the batch, in Askew's own exports."""
    definition: Mapping[str, Any] = field(default_factory=dict)
    """Of the task type, likewise."""
    credits: set[Credit] = field(default_factory=set)
    """Of the sources of the examples, likewise."""
    simulated: set[str] = field(default_factory=set)
    """Names of people who are programs, likewise."""
    schema: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By field: what the settings of the tool say."""

    def shortened(self) -> Summary:
        """What a page shows of it: without the rare values of fields."""
        columns = {name: column.shortened() for name, column in self.columns.items()}
        return replace(self, columns=columns, terms={}, definition={}, credits=set(), schema={})

    def add(self, task: CheckedTask) -> None:
        self.tasks += 1
        self.answered += bool(task.responses)
        self.losses.update(task.losses)
        self.schema = {**task.schema, **self.schema}
        self.terms = self.terms or dict(task.terms)
        self.definition = self.definition or task.definition
        if task.credit:
            self.credits.add(task.credit)
        if task.task_type:
            self.task_types[task.task_type] += 1
        for response in task.responses:
            self._add_response(response)

    def _add_response(self, response: GivenResponse) -> None:
        self.responses += 1
        self.people[response.person] += 1
        if response.is_simulated:
            self.simulated.add(response.person)
        if response.at is None:
            self.without_time += 1
        else:
            self.first = min(self.first or response.at, response.at)
            self.last = max(self.last or response.at, response.at)
        for name, value in response.values.items():
            column = self.columns.setdefault(name, Column(name, declared=self.schema.get(name, {})))
            nature = response.natures.get(name)
            if nature or value not in ("", None, []):
                column.add(value, nature or nature_of(value))


def nature_of(value: Any) -> str:
    """The type of field that holds a value, where the tool says none."""
    if isinstance(value, list):
        if all(isinstance(element, str) for element in value):
            return "multi_choice"
        is_cells = all(isinstance(element, list) and len(element) == 2 for element in value)
        return "cells" if is_cells else "text"
    if isinstance(value, int) and not isinstance(value, bool):
        return "scale"
    if isinstance(value, float):
        return "number"
    return "choice" if isinstance(value, str) else "text"


def fitting(columns: Iterable[Column], task_types: Iterable[TaskType]) -> TaskType | None:
    """The first task type with fields of these names and, for each value, the option; None where there is none."""
    answered = list(columns)
    return next((task for task in task_types if _fits(answered, task)), None)


def _fits(columns: Sequence[Column], task: TaskType) -> bool:
    fields = {task_field.name: task_field for task_field in task.fields}
    required = {
        name
        for name, task_field in fields.items()
        if getattr(task_field, "required", "") and not task_field.when  # type: ignore[attr-defined]
    }
    names = {column.name for column in columns}
    if not names or not names <= fields.keys() or not required <= names:
        return False
    return all(_holds(fields[column.name], column) for column in columns)


def _holds(target: Any, column: Column) -> bool:
    if isinstance(target, Rank):
        return column.has_same_values and column.values.keys() == {option.value for option in target.options}
    if isinstance(target, Choice | MultiChoice):
        options = {option.value for option in target.options}
        several = isinstance(target, MultiChoice) or column.nature == "choice"
        return several and column.values.keys() <= options
    if isinstance(target, Scale):
        steps = {str(step) for step in range(target.lowest, target.highest + 1)}
        return column.nature == "scale" and column.values.keys() <= steps
    if isinstance(target, Number):
        return column.nature in ("scale", "number")
    if isinstance(target, Date):
        return column.nature == "date"
    return isinstance(target, Text) and column.nature in ("text", "date")


def usual_fields(columns: Iterable[Column], task: TaskType) -> dict[str, str]:
    """For each field of the tool the field of the task type: that of the same name, or the only one for the only one."""
    here = [task_field.name for task_field in task.fields]
    column_names = [column.name for column in columns]
    if len(column_names) == 1 and column_names[0] not in here and len(here) == 1:
        return {column_names[0]: here[0]}
    return {name: name if name in here else LEAVE_OUT for name in column_names}


def carried_definition(summary: Summary, mapping: ImportMapping) -> Mapping[str, Any] | None:
    """The definition that the file has, if it holds all fields of the responses and the mapping changes none of them."""
    fields = summary.definition.get("fields")
    names = (
        {field_data.get("name") for field_data in fields if isinstance(field_data, dict)}
        if isinstance(fields, list)
        else set()
    )
    renamed = [mapping.fields, *mapping.values.values()]
    is_same = all(original == here for changes in renamed for original, here in changes.items())
    return summary.definition if is_same and summary.columns.keys() <= names else None


def definition_of(
    title: str, columns: Iterable[Column], fields: Mapping[str, str], values: Mapping[str, Any], total: int
) -> dict[str, Any]:
    """The definition of a task type that holds these fields. `total`: responses of the export."""
    new_fields = [
        {
            "name": name,
            **_type_of(column, values.get(column.name, {})),
            "label": column.name[:80],
            **({} if column.responses == total else {"optional": True}),
        }
        for column in columns
        if (name := fields.get(column.name))
    ]
    return {
        "title": title[:80],
        "instruction": title[:200],
        "shows": ["question", "table", "titles", "answers"],
        "fields": new_fields,
    }


def _type_of(column: Column, renamed: Mapping[str, str]) -> dict[str, Any]:
    nature, declared = column.nature, column.declared
    if nature == "scale":
        return {"type": "scale", "min": column.steps.start, "max": column.steps.stop - 1}
    if nature == "number":
        return {"type": "number"} | {end: declared[end] for end in ("min", "max") if end in declared}
    if nature in ("cells", "date"):
        return {"type": nature}
    if nature != "text" and column.has_options:
        own = [option for option in declared.get("options", ()) if option and option == option.strip()]
        offered = [*own, *sorted(column.values)]
        if len({*offered}) > MOST_OPTIONS or max(map(len, offered)) > LONGEST_OPTION:
            offered = sorted(column.values)
        options = list(dict.fromkeys(renamed.get(value, value) for value in offered))
        if len(options) == 1:
            options.append("other" if options != ["other"] else "none")
        return {"type": nature, "options": options}
    return {"type": "text", "max_length": 10_000}


def name_of(text: str, existing: Iterable[str] = ()) -> str:
    """A name as definitions have them, made from any text."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:30]
    name = name if name[:1].isalpha() else f"field_{name}".strip("_")
    used = {*TAKEN, *existing}
    if name in used:
        name = next(
            f"{name}_{suffix}" for suffix in range(2, len(used) + 3) if f"{name}_{suffix}" not in used
        )
    return name


def value_for(target: Any, value: Any, renamed: Mapping[str, str]) -> Any:
    """A value of the tool as the field of a task type takes it. What does not fit stays as it is, and is refused later."""
    values = value if isinstance(value, list) else [value]
    several = [
        renamed.get(str(element), str(element)) if type(element) in (str, int, float) else element
        for element in values
    ]
    if isinstance(target, MultiChoice):
        return several
    if isinstance(value, list) and target.kind in ("cells", "operations", "json", "lines"):
        return value
    if isinstance(target, Scale):
        return (
            int(several[0]) if len(several) == 1 and re.fullmatch("-?[0-9]{1,15}", str(several[0])) else value
        )
    if isinstance(target, Number) and len(several) == 1:
        number = number_of(several[0])
        return value if number is None else number
    if isinstance(target, Choice | Text):
        return several[0] if len(several) == 1 else value
    return value
