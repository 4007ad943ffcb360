"""The forms of an import of responses: its file, then the mapping of task type, fields, values and people."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from annotation.imports import example_import
from annotation.imports.field_mapping import MOST_VALUES, Column, ImportMapping, name_of
from annotation.imports.response_preview import Preview
from annotation.web.forms.example_import import DuplicatesField, validate_upload
from annotation.workflow import batches
from tableqa.core.translation import translate_stored
from tableqa.readers.labels import DUPLICATES
from tableqa.readers.responses import TOOLS
from tasks.contract import TaskType
from tasks.shared.form_fields import Choice, MultiChoice, Question

CREDIT = ("licence", "citation", "url")


class ResponsesFileForm(forms.Form):
    """A file with responses, and the tool that it comes from."""

    tool = forms.ChoiceField(
        label=gettext_lazy("Tool"),
        choices=[("", gettext_lazy("choose a tool")), *((name, tool.title) for name, tool in TOOLS.items())],
    )
    file = forms.FileField(
        validators=[validate_upload],
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "Label Studio: JSON export. Argilla: records.json, or a zip file of the dataset folder. doccano: "
            "zip file of the JSONL export. Potato: zip file of the output folder. Prodigy: JSONL of db-out. Add the "
            "settings to a zip file: the XML of Label Studio, the project of doccano as JSON, the YAML of Potato."
        ),
    )


class MappingForm(forms.Form):
    """The mapping of a previewed import. Fields, values and people are numbered as the preview lists them.

    known: the task types of the project and the installed ones, by name
    """

    shown_type = forms.CharField(widget=forms.HiddenInput)
    task_type = forms.ChoiceField(label=gettext_lazy("Task type"))
    batch = forms.CharField(label=gettext_lazy("Name of the batch"), max_length=batches.LONGEST_NAME)
    source = forms.CharField(
        label=gettext_lazy("Source of the examples"),
        max_length=example_import.LONGEST_NAME,
        help_text=gettext_lazy(
            "An existing source is used for its examples. Any other name creates a source."
        ),
        widget=forms.TextInput(attrs={"list": "sources"}),
    )
    licence = forms.CharField(
        label=gettext_lazy("Licence"),
        required=False,
        help_text=gettext_lazy("SPDX identifier, such as CC-BY-4.0. Leave empty if it is not stated."),
        widget=forms.TextInput(attrs={"list": "licences"}),
    )
    citation = forms.CharField(
        label=gettext_lazy("Citation"), required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    url = forms.URLField(label=gettext_lazy("URL"), required=False, assume_scheme="https")
    duplicates = DuplicatesField()

    def __init__(self, *, preview: Preview, task_types: Mapping[str, TaskType], new_name: str) -> None:
        mapping = preview.mapping
        super().__init__(
            initial={
                "shown_type": mapping.task_type,
                "task_type": mapping.task_type,
                "batch": mapping.batch,
                "source": mapping.source,
                **{name: getattr(mapping, name) for name in (*CREDIT, "duplicates")},
            }
        )
        if not preview.makes_source:
            for name in CREDIT:  # the existing source has its own
                del self.fields[name]
        self.preview, self.task = preview, task_types.get(mapping.task_type)
        new = gettext("New task type from this file ({name})").format(name=new_name)
        kinds = [
            (new_name, new),
            *((name, translate_stored(task.title)) for name, task in task_types.items()),
        ]
        self.fields["task_type"].choices = kinds  # type: ignore[attr-defined]
        for index, (external_name, here, _) in enumerate(preview.people):
            label = gettext("Name of {person}").format(person=external_name or gettext("(not named)"))
            self._add(f"person-{index}", forms.TextInput, label, here)
        for index, column in enumerate(preview.summary.columns.values()):
            self._add_column(index, column, mapping)

    def _add_column(self, column_index: int, column: Column, mapping: ImportMapping) -> None:
        target = mapping.fields.get(column.name, "")
        usual = () if self.task is not None else (target, name_of(column.name))
        targets = [name for name in dict.fromkeys((*self.preview.targets, *usual)) if name]
        choices = [("", gettext("(do not import)")), *((name, name) for name in targets)]
        label = gettext("Field for {name}").format(name=column.name)
        self._add(f"field-{column_index}", forms.Select, label, target, choices)
        options = self.options(target)
        for index, value in enumerate(shown_values(column) if options else ()):
            renamed = mapping.values.get(column.name, {}).get(value, value)
            blank = [] if renamed in dict(options) else [(renamed, gettext("(choose)"))]
            label = gettext("Option for {value}").format(value=value)
            self._add(f"value-{column_index}-{index}", forms.Select, label, renamed, [*blank, *options])

    def _add(self, name: str, widget: Any, label: str, initial: str, choices: Any = ()) -> None:
        attrs = {"aria-label": label}
        drawn = widget(attrs=attrs, choices=choices) if choices else widget(attrs=attrs)
        self.fields[name] = forms.CharField(label=label, initial=initial, widget=drawn)

    def options(self, target: str) -> list[tuple[str, str]]:
        """The options of a field of an existing task type; empty for others."""
        fields = self.task.fields if self.task is not None else ()
        field = next((task_field for task_field in fields if task_field.name == target), None)
        if not isinstance(field, Choice | MultiChoice) or not isinstance(field, Question):
            return []
        return [(option.value, translate_stored(option.title) or option.value) for option in field.options]

    def columns(self) -> Iterator[dict[str, Any]]:
        """A row for each field of the file: the field, its drop-down, and its values with counts and drop-downs."""
        for row, column in enumerate(self.preview.summary.columns.values()):
            values = []
            for index, value in enumerate(shown_values(column)):
                name = f"value-{row}-{index}"
                field = self[name] if name in self.fields else None
                values.append({"value": value, "count": column.values[value], "field": field})
            left_out = column.left_out + len(column.values) - len(values)
            yield {"column": column, "field": self[f"field-{row}"], "values": values, "left_out": left_out}

    def credit(self) -> Iterator[forms.BoundField]:
        """Licence, citation and URL of a new source."""
        return (self[name] for name in CREDIT if name in self.fields)

    def people(self) -> Iterator[dict[str, Any]]:
        """A row for each person of the file."""
        for index, (external_name, _, count) in enumerate(self.preview.people):
            is_simulated, field = external_name in self.preview.summary.simulated, self[f"person-{index}"]
            yield {"name": external_name, "count": count, "is_simulated": is_simulated, "field": field}


def shown_values(column: Column) -> list[str]:
    """The values of a field in the order of the page."""
    return [value for value, _ in column.values.most_common(MOST_VALUES)]


def posted_mapping(sent: Mapping[str, Any], preview: Preview) -> ImportMapping:
    """The mapping that a form was sent with. Fields and values of another task type are dropped."""
    people = {
        external_name: str(sent[f"person-{field_index}"]).strip()
        for field_index, (external_name, _, _) in enumerate(preview.people)
        if f"person-{field_index}" in sent
    }
    mapping_options: dict[str, Any] = {
        name: str(sent.get(name, "")).strip() for name in ("task_type", "batch", "source", *CREDIT)
    }
    fields: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    if sent.get("shown_type") == mapping_options["task_type"]:
        for field_index, column in enumerate(preview.summary.columns.values()):
            if f"field-{field_index}" in sent:
                fields[column.name] = str(sent[f"field-{field_index}"])
            for index, value in enumerate(shown_values(column)):
                if f"value-{field_index}-{index}" in sent:
                    values.setdefault(column.name, {})[value] = str(sent[f"value-{field_index}-{index}"])
    chosen = str(sent.get("duplicates", ""))
    mapping_options["duplicates"] = chosen if chosen in DUPLICATES else DUPLICATES[0]
    return ImportMapping(**mapping_options, people=people, fields=fields, values=values)
