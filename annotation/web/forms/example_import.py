"""The forms of an import: its files, then what was detected of them and whose data they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy

from annotation.imports import example_import
from annotation.models.batch_options.named_values import NamedTextsField
from annotation.platform.display_text import show
from annotation.platform.refusals import ActionRefused
from tableqa.core.json_text import read_json
from tableqa.readers import READERS, MappedReader
from tableqa.readers.encoding_detection import SEVERAL_BYTES, SINGLE_BYTE
from tableqa.readers.format_detection import OWN
from tableqa.readers.header_rows import HEADER_ROWS
from tableqa.readers.interface import Credit
from tableqa.readers.labels import DUPLICATES
from tableqa.readers.own_data import OPTIONS, REQUIRED
from tableqa.readers.preview import Preview
from tableqa.readers.reading_options import READING
from tableqa.readers.text_form import ENCODING_NAMES

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

PARTS = {
    "question": gettext_lazy("Question"),
    "answers": gettext_lazy("Answers"),
    "alternatives": gettext_lazy("Alternative answers"),
    "table": gettext_lazy("Table"),
    "id": gettext_lazy("Id"),
    "title": gettext_lazy("Table title"),
    "caption": gettext_lazy("Table caption"),
    "context": gettext_lazy("Context"),
    "split": gettext_lazy("Split"),
}
"""Parts of an example in the order of the form, each a drop-down of columns."""
LICENCES = (
    "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC0-1.0", "ODbL-1.0", "ODC-By-1.0", "MIT", "Apache-2.0", "BSD-3-Clause",
)  # fmt: skip
"""Licences that the form suggests; any SPDX identifier can be entered."""
SEPARATORS = (
    (",", gettext_lazy("Comma")),
    (";", gettext_lazy("Semicolon")),
    ("\\t", gettext_lazy("Tab")),
    ("|", gettext_lazy("Pipe")),
    ("  ", gettext_lazy("Two or more spaces")),
)
"""Separators that the form suggests; any character can be entered."""
_OPTIONS = {
    "missing": gettext_lazy("Null and missing cells"),
    "quotes": gettext_lazy("Quotes"),
    "characters": gettext_lazy("Characters"),
    "numbers": gettext_lazy("Number formats"),
    "names": gettext_lazy("Repeated names"),
    "rows": gettext_lazy("Rows with one id"),
    "merged": gettext_lazy("Merged cells of questions"),
    "sheets": gettext_lazy("Table files with several sheets"),
    "questions": gettext_lazy("Files or sheets of questions"),
}
"""Options that are shown where a file needs them, or they are chosen."""
ABOUT_SOURCE = ("name", "licence", "citation", "url", "split", "limit")
"""Fields about the source. What is typed there stays while the preview changes."""
_ENCODINGS = ("utf-8", "utf-16", *SINGLE_BYTE, *SEVERAL_BYTES)


def validate_upload(file: Any) -> Any:
    """The source is named after the file, so its name must be short enough to be one. `uploads.keep` checks its size."""
    if len(file.name) > 100:
        raise ValidationError(gettext("The file name is longer than 100 characters. Shorten it."))
    return file


class DuplicatesField(forms.ChoiceField):
    """Which of several responses of a person to one example is imported."""

    def __init__(self) -> None:
        names = (
            gettext_lazy("refuse the file"),
            gettext_lazy("import the first"),
            gettext_lazy("import the latest"),
        )
        super().__init__(
            label=gettext_lazy("Several responses of a person to one example"),
            choices=list(zip(DUPLICATES, names, strict=True)),
            required=False,
        )

    def clean(self, value: Any) -> str:
        return super().clean(value) or DUPLICATES[0]


class UploadForm(forms.Form):
    """The file of the questions, and the other files of its format."""

    questions = forms.FileField(
        validators=[validate_upload],
        label=gettext_lazy("Questions file"),
        help_text=gettext_lazy(
            "CSV, Excel, JSON, JSON Lines, Parquet, a zip archive of them, or a file of a format below."
        ),
    )
    tables = forms.FileField(
        required=False,
        validators=[validate_upload],
        label=gettext_lazy("Tables and other files"),
        help_text=gettext_lazy(
            "A zip archive, if the questions are not all in one file. It may contain folders."
        ),
    )


class ChoicesForm(forms.Form):
    """How uploaded files are read, and name, licence and credit of the source.

    preview: what was detected; its columns are the choices of the drop-downs.
    """

    reader = forms.ChoiceField(label=gettext_lazy("Format"), required=False)
    fields_of = NamedTextsField(
        required=False,
        label=gettext_lazy("Field names"),
        help_text=gettext_lazy(
            "For formats with custom fields. One field per line with its name in the file, for "
            "example: question = text"
        ),
    )
    name = forms.CharField(
        required=False,
        max_length=example_import.LONGEST_NAME,
        label=gettext_lazy("Name of the source"),
        help_text=gettext_lazy(
            "Leave empty to use the file name. Files with the same name are added to one source."
        ),
    )
    licence = forms.RegexField(
        rf"\A{example_import.LICENCE.pattern}\Z",
        required=False,
        max_length=80,
        label=gettext_lazy("Licence"),
        empty_value="",
        help_text=gettext_lazy("SPDX identifier, such as CC-BY-4.0. Leave empty if it is not stated."),
        error_messages={"invalid": gettext_lazy("Enter an SPDX identifier, such as CC-BY-4.0.")},
        widget=forms.TextInput(attrs={"list": "licences"}),
    )
    citation = forms.CharField(
        required=False,
        max_length=5000,
        label=gettext_lazy("Citation"),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    url = forms.URLField(
        required=False, max_length=200, label=gettext_lazy("URL"), assume_scheme="https", empty_value=""
    )
    split = forms.RegexField(
        rf"\A{example_import.SPLIT.pattern}\Z",
        required=False,
        label=gettext_lazy("Split"),
        help_text=gettext_lazy("For example dev or test. Leave empty to take it from the file name."),
        error_messages={"invalid": gettext_lazy("A split may contain letters, digits, '.', '_' and '-'.")},
        empty_value="",
    )
    limit = forms.IntegerField(
        required=False,
        min_value=1,
        label=gettext_lazy("Number of examples"),
        help_text=gettext_lazy("Imports only the first examples. Leave empty to import all."),
    )

    def __init__(self, *args: Any, preview: Preview | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reads_own = preview is not None and preview.reader == OWN
        named = sorted(READERS.items(), key=lambda reader: (reader[0] != OWN, reader[0]))
        choices = [(name, gettext(reader.title)) for name, reader in named]
        self.fields["reader"].choices = choices  # type: ignore[attr-defined]
        if preview is not None:
            self._add_columns(preview)
            read = READERS.get(preview.reader)
            if self.reads_own or not isinstance(read, MappedReader):
                del self.fields["fields_of"]

    def _add_columns(self, preview: Preview) -> None:
        layout = preview.layout
        self.initial = {
            "reader": preview.reader,
            "licence": "" if preview.credit.licence == "NOASSERTION" else preview.credit.licence,
            "citation": preview.credit.citation,
            "url": preview.credit.url,
            "name": preview.continues,
            **{part: layout.parts.get(part, "") for part in PARTS},
            "separator": "\\t" if layout.separator == "\t" else layout.separator,
            "encoding": layout.encoding.replace("utf-8-sig", "utf-8"),
            "table_encoding": layout.table_encoding,
            "answer_separator": preview.fields.get("answer_separator", "|"),
            **{name: preview.fields.get(name, "") for name in READING},
            "header_row": preview.fields.get("header_row", "1"),
            **self.initial,
        }
        offered = {name: values for problem in preview.problems for name, values in problem.ways.items()}
        for name, values in READING.items():
            if name in offered or self.initial[name]:
                option_values = dict.fromkeys((*offered.get(name, ()), self.initial[name], *values))
                choices = [(value, show(values.get(value, value))) for value in option_values if value]
                self.fields[name] = forms.ChoiceField(
                    label=_OPTIONS[name], required=False, choices=[("", gettext("(not chosen)")), *choices]
                )
        if not self.reads_own:
            return
        columns_json = json.dumps(layout.columns)
        self.fields["known_columns"] = forms.CharField(
            required=False, strip=False, initial=columns_json, widget=forms.HiddenInput
        )
        for part, label in PARTS.items():
            columns = [("", gettext("(none)"))] + [(name, name) for name in layout.columns]
            self.fields[f"column_{part}"] = forms.CharField(
                label=label,
                required=part in REQUIRED,
                strip=False,
                initial=self.initial[part],
                widget=forms.Select(choices=columns),
            )
        if layout.separator or "separator" in offered:
            self.fields["separator"] = forms.CharField(
                label=gettext_lazy("Separator"),
                help_text=gettext_lazy("One character, \\t for a tab, or two spaces."),
                required=False,
                max_length=2,
                strip=False,
                widget=forms.TextInput(attrs={"list": "separators"}),
            )
        if layout.separator or "encoding" in offered:
            self._add_encoding("encoding", gettext_lazy("Encoding"))
        if layout.table_encoding:
            self._add_encoding("table_encoding", gettext_lazy("Encoding of tables that are not Unicode"))
        self.fields["answer_separator"] = forms.CharField(
            label=gettext_lazy("Separator of several answers"),
            help_text=gettext_lazy("Lists such as [“a”, “b”] are recognised without it."),
            required=False,
            max_length=5,
            strip=False,
        )

        if "header_row" in preview.fields or any(f.kind == "headers" for f in preview.report.findings):
            rows = [(row, gettext(label)) for row, label in HEADER_ROWS.items()]
            self.fields["header_row"] = forms.ChoiceField(
                label=gettext_lazy("Header of the tables"), choices=rows, required=False
            )

    def _add_encoding(self, name: str, label: StrPromise) -> None:
        encodings = dict.fromkeys((*_ENCODINGS, self.initial[name]))
        choices = [(encoding, ENCODING_NAMES.get(encoding, encoding)) for encoding in encodings]
        self.fields[name] = forms.ChoiceField(label=label, choices=choices, required=False)

    def columns(self) -> Iterator[forms.BoundField]:
        """The fields about columns, in their order."""
        names = ["known_columns", *(f"column_{part}" for part in PARTS)]
        return (self[name] for name in (*names, *OPTIONS, "fields_of") if name in self.fields)

    def about_the_source(self) -> Iterator[forms.BoundField]:
        """The fields about the source."""
        return (self[name] for name in ABOUT_SOURCE)

    def clean(self) -> dict[str, Any]:
        cleaned_data = super().clean() or {}
        try:
            example_import.check_fields(cleaned_data.get("reader", ""), cleaned_data.get("fields_of") or {})
        except ActionRefused as refused:
            self.add_error("fields_of", refused.detail)
        return cleaned_data

    def choices(self, fields: Mapping[str, str]) -> example_import.Choices:
        """What an import takes of a valid form; `fields` are the names of columns."""
        cleaned_data = self.cleaned_data
        credit = Credit(cleaned_data["licence"], cleaned_data["citation"], cleaned_data["url"])
        return example_import.Choices(
            cleaned_data["name"].strip(), cleaned_data["split"], cleaned_data["limit"], fields, credit
        )


def chosen_columns(sent: Mapping[str, Any]) -> dict[str, Any] | None:
    """The columns and options (`ChosenColumns`) that a form was sent with, valid or not; None where it has none."""
    parts = {part: str(sent[f"column_{part}"]) for part in PARTS if f"column_{part}" in sent}
    if not parts:
        return None
    options = {name: str(sent[name]) for name in OPTIONS if sent.get(name)}
    try:
        columns = list(map(str, read_json(str(sent.get("known_columns") or "[]"))))
    except (ValueError, TypeError):
        columns = []
    if sent.get("known_columns") == "[]":  # nothing could be read, so no columns were chosen
        parts = {}
    return {"parts": parts, "options": options, "columns": columns}


def chosen_options(sent: Mapping[str, Any]) -> dict[str, str]:
    """The options of reading that a form was sent with."""
    return {name: str(sent[name]) for name in READING if sent.get(name)}
