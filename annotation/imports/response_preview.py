"""What an import of responses does, and what its page needs of that, as a job stores it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from annotation.imports import mapping_file
from annotation.imports.field_mapping import ImportMapping, Summary
from annotation.models import Batch
from tableqa import Example
from tableqa.core.foreign_values import printable_in
from tableqa.core.translation import pack_all, unpack_object
from tableqa.data.typed_json import from_json, to_json
from tableqa.readers.rejections import Problem, Rejections
from tableqa.readers.report import Report
from tableqa.readers.responses import TOOLS
from tableqa.readers.responses.tool_export import loss_in_words


@dataclass
class Preview:
    """What an import does. It is written only where `problems` is empty.

    mapping     complete: what was guessed is filled in
    is_new_type the task type is made from the file
    targets     the fields of the task type
    checksum    of the file
    makes_source  the file makes a source; otherwise an existing one with this licence lends its examples
    imported    number of responses that are new and have no problem
    proposals   number of predictions of models that become proposals
    left        number of predictions that become none
    report      of the whole file
    rejected    number of problems of responses and examples; `problems` has the first of them, unless they are left out
    rest        the kept file of them
    is_sample   only the first tasks of a large file were checked
    """

    file: str
    tool: str
    summary: Summary
    mapping: ImportMapping
    checksum: str = ""
    makes_source: bool = True
    licence: str = ""
    is_new_type: bool = False
    targets: Sequence[str] = ()
    examples: Sequence[Example] = ()
    is_sample: bool = False
    imported: int = 0
    proposals: int = 0
    left: int = 0
    rejected: int = 0
    rest: Mapping[str, str] = field(default_factory=dict)
    items: int = 0
    problems: list[Problem] = field(default_factory=list)
    report: Report = field(default_factory=Report)
    batch: Batch | None = None

    @property
    def losses(self) -> list[tuple[int, str]]:
        """Number and kind of what the file has and the import does not bring in, as words."""
        tool = TOOLS[self.tool]
        counted = [(count, loss_in_words(tool, key)) for key, count in sorted(self.summary.losses.items())]
        fields = [
            (column.responses, gettext("values of the field {name}").format(name=name))
            for name, column in self.summary.columns.items()
            if not self.mapping.fields.get(name)
        ]
        predictions = (
            gettext("predictions of models (they stay in the meta of the examples)")
            if self.makes_source
            else gettext("predictions of models")
        )
        return counted + fields + ([(self.left, predictions)] if self.left else [])

    @property
    def people(self) -> list[tuple[str, str, int]]:
        """Each person of the file: name there, name here, number of responses."""
        counts = sorted(self.summary.people.items())
        return [(name, self.mapping.people[name], count) for name, count in counts]

    def add_problem(self, what: str, column: str = "") -> None:
        """Note a problem of the whole file."""
        self.problems.append(Problem(self.file, None, column, what, ""))

    def add_rejected(self, rejections: Rejections, rest: Path | None = None) -> None:
        """Responses and examples with a problem are a loss of an import of the good ones, else its problems.

        rest: a file for them
        """
        self.rejected = rejections.number
        if rest is not None and self.rejected:
            rejections.write(rest)
        if not self.mapping.good_only or not (self.imported or self.is_sample):
            self.problems = [*rejections.first, *self.problems]
        elif rejections.number:
            self.summary.losses["rejected"] += rejections.number

    def as_data(self) -> dict[str, Any]:
        """What programs read of it, and as one text what its page needs: some characters are stored in no other form."""
        page = to_json(replace(self, summary=self.summary.shortened()))
        for_programs = {
            "responses": self.summary.responses,
            "tasks": self.summary.answered,
            "mapping": mapping_file.as_data(self.mapping),
            "losses": [f"{count} {what}" for count, what in self.losses],
            "problems": page["problems"],
            "report": page["report"],
            "is_sample": self.is_sample,
        }
        return {**printable_in(for_programs), "page": json.dumps(pack_all(page))}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Preview:
        """What the page of a preview needs."""
        return from_json(cls, json.loads(data["page"], object_hook=unpack_object))
