"""What the report of an import says of a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tableqa.readers.ingestion import ReadRequest, read_all
from tableqa.readers.report import Finding, Report


def report_of(path: Path, reader: str = "own", **fields: str) -> Report:
    """The report of an import of all records, also of those with a problem."""
    with tempfile.TemporaryDirectory() as folder:
        return read_all(ReadRequest(reader, str(path), f"{folder}/rows.jsonl", fields=fields)).report


def findings_of(path: Path, reader: str = "own", **fields: str) -> dict[str, Finding]:
    """Its findings by their kinds, and of those that are counted by texts, by these."""
    findings = report_of(path, reader, **fields).findings
    return {each.text if each.kind in ("placeholders", "shared") else each.kind: each for each in findings}
