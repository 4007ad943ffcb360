"""The first examples of uploaded files as an import would read them, read in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from django.conf import settings

from annotation import sandbox, uploads
from annotation.models import Project, Source, Upload
from annotation.work import continued_sources
from tableqa.readers.ingestion import ReadRequest
from tableqa.readers.preview import Chosen, Preview

MOST_REMEMBERED = 20
"""Imports of the project whose columns are tried for a file."""


def preview(
    *,
    project: Project,
    questions: Upload,
    tables: Upload | None,
    reader: str = "",
    chosen: Chosen | None = None,
    named: Mapping[str, str] | None = None,
) -> Preview:
    """Read the first examples of uploaded files. Raises Refused(import_failed) where a file is gone or no archive.

    reader: "" detects it. chosen: for the reader own; None takes the columns of the last import of a file with the same
    ones. named: names of fields for other readers with custom names.
    """
    own = Source.objects.ready().filter(project=project, reader="own").order_by("-pk")
    earlier = [how.get("fields", {}) for how in own.values_list("how", flat=True)[:MOST_REMEMBERED]]
    with uploads.for_sandbox(questions, tables) as files:
        request = ReadRequest(
            reader,
            str(files.questions),
            str(files.folder / "rows.jsonl"),
            tables=str(files.tables),
            fields=dict(named or {}),
            chosen=asdict(chosen) if chosen is not None else None,
            earlier=earlier,
            in_part=True,
            **files.for_request(),
        )
        name, seconds = questions.name, settings.PREVIEW_SECONDS
        read = Preview.from_json(sandbox.call("preview", request, name=name, seconds=seconds))
        source = continued_sources.continued(project, Path(name).stem, read.reader, files.questions)
    if source is None or not (read.examples or read.problems):
        return read
    credit = continued_sources.inherited_credit(read.credit, source)
    return replace(read, credit=credit, continues=source.name if read.has_ids else "")
