"""Records of a study, as figures without a chart: releases and their files, events, responses, gold answers, versions. Pure.

People have their pseudonyms in the rows: a file may go into a paper. A list that a page cuts has the rows of the page, and
a note that says which these are.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext

from annotation.charts import study_figures
from annotation.charts.figure import Figure
from annotation.charts.list_tables import integer, numbers, table, time_utc
from annotation.platform import display_text
from tableqa.typesetting.report_tables import NOTHING, text

Line = Mapping[str, Any]


def releases(lines: Sequence[Line], note: str = "") -> Figure | None:
    """The releases of a project: a line has name, state, formats, is_simulated, created and created_by."""
    columns = study_figures.names(
        gettext("Release"),
        gettext("State"),
        gettext("Format"),
        gettext("With simulated annotators"),
        gettext("Created (UTC)"),
        gettext("Created by"),
    )
    rows = [
        (
            text(line["name"]),
            text(line["state"]),
            text(", ".join(line["formats"])),
            text(gettext("yes") if line["is_simulated"] else gettext("no")),
            time_utc(line["created"]),
            text(line["created_by"]),
        )
        for line in lines
    ]
    return table("releases", gettext("Releases"), columns, rows, note)


def files_by_format(lines: Sequence[Line]) -> Figure | None:
    """The formats of a release: a line has name, about, files and bytes."""
    columns = (
        *study_figures.names(gettext("Format"), gettext("Contents")),
        *numbers(gettext("Files"), gettext("Bytes")),
    )
    rows = [
        (text(line["name"]), text(line["about"]), integer(line["files"]), integer(line["bytes"]))
        for line in lines
    ]
    return table("formats", gettext("Files by format"), columns, rows)


def files(files: Sequence[tuple[str, Line]]) -> Figure | None:
    """The files of a release: names, each with records, bytes and sha256."""
    columns = (
        *study_figures.names(gettext("File")),
        *numbers(gettext("Records"), gettext("Bytes")),
        *study_figures.names("sha256"),
    )
    rows = [
        (text(name), integer(file["records"]), integer(file["bytes"]), text(file["sha256"]))
        for name, file in files
    ]
    return table("files", gettext("Files"), columns, rows)


def file_changes(name: str, title: str, changes: Sequence[Any]) -> Figure | None:
    """The files in which two releases differ (`release_comparison.FileChanges`), with the ids that the page lists."""
    columns = (
        *study_figures.names(gettext("File")),
        *numbers(*(capfirst(part) for part in _parts_of_changes().values())),
        *study_figures.names(gettext("Records")),
    )
    rows = [
        (
            text(change.name),
            *(integer(getattr(change, part).number) for part in _parts_of_changes()),
            text(_changed_records(change)),
        )
        for change in changes
    ]
    return table(name, title, columns, rows)


def _parts_of_changes() -> dict[str, str]:
    return {"added": gettext("added"), "removed": gettext("removed"), "changed": gettext("changed")}


def _changed_records(change: Any) -> str:
    if change.order:
        return gettext("in another order")
    parts = []
    for part, title in _parts_of_changes().items():
        ids = getattr(change, part)
        if ids.number:
            listed = ", ".join(record for record, _ in ids.first)
            more = gettext("and {more} more").format(more=ids.more) if ids.more else ""
            parts.append(f"{title}: {listed} {more}".rstrip())
    return "; ".join(parts)


def audit_log(entries: Sequence[Any], note: str = "") -> Figure | None:
    """Events of a project: entries of `item_history.log`, with the pseudonyms of people."""
    columns = study_figures.names(
        gettext("Time (UTC)"),
        gettext("Person"),
        gettext("Object"),
        gettext("Name"),
        gettext("Context"),
        gettext("Before"),
        gettext("After"),
        gettext("Details"),
    )
    rows = [
        (
            time_utc(entry.at, seconds=True),
            text(entry.who),
            text(capfirst(entry.thing)),
            text(entry.about.name),
            text(entry.about.beside or NOTHING),
            text(display_text.shown(entry.before) or NOTHING),
            text(display_text.shown(entry.after)),
            text(_in_one_line(entry.words)),
        )
        for entry in entries
    ]
    return table("log", gettext("Audit log"), columns, rows, note)


def item_history(moments: Sequence[Any]) -> Figure | None:
    """What happened to an item: moments of `item_history.of_item`, with the pseudonyms of people."""
    columns = study_figures.names(
        gettext("Time (UTC)"), gettext("Person"), gettext("Event"), gettext("Details")
    )
    rows = [
        (
            time_utc(moment.at, seconds=True),
            text(moment.who),
            text(moment.what),
            text(_in_one_line(moment.words)),
        )
        for moment in moments
    ]
    return table("history", gettext("History"), columns, rows)


def compared_responses(lines: Sequence[Line], note: str = "") -> Figure | None:
    """Responses to the same items: a line has question, example, annotator, words, result and is_apart."""
    columns = study_figures.names(
        gettext("Question"),
        gettext("Example"),
        gettext("Annotator"),
        gettext("Response"),
        gettext("Responses to the item"),
        gettext("Differs from the majority"),
    )
    rows = [
        (
            text(line["question"]),
            text(line["example"]),
            text(line["annotator"]),
            text(_in_one_line(line["words"])),
            text(line["result"] or NOTHING),
            text(gettext("yes") if line["is_apart"] else gettext("no")),
        )
        for line in lines
    ]
    return table("responses", gettext("Responses"), columns, rows, note)


def gold_answers(lines: Sequence[Line], note: str = "") -> Figure | None:
    """The gold answers of a batch: a line has question, example, words, why and answered."""
    columns = (
        *study_figures.names(
            gettext("Question"), gettext("Example"), gettext("Expected"), gettext("Explanation")
        ),
        *numbers(gettext("Responses")),
    )
    rows = [
        (
            text(line["question"]),
            text(line["example"]),
            text(_in_one_line(line["words"])),
            text(line["why"] or NOTHING),
            integer(line["answered"]),
        )
        for line in lines
    ]
    return table("gold-answers", gettext("Gold answers"), columns, rows, note)


def questions(examples: Sequence[Any], note: str = "") -> Figure | None:
    """The questions of a source, with id and answers."""
    columns = study_figures.names(gettext("Question"), gettext("Example"), gettext("Answer"))
    rows = [(text(example.question), text(example.external_id), text(example.answer)) for example in examples]
    return table("questions", gettext("Questions"), columns, rows, note)


def versions(lines: Sequence[Line], counted: Mapping[str, str], note: str = "") -> Figure | None:
    """Versions of a text: a line has number, created_by, created and the counts; `counted`: their titles by name."""
    columns = (
        *numbers(gettext("Version")),
        *study_figures.names(gettext("Created by"), gettext("Created (UTC)")),
        *numbers(*counted.values()),
    )
    rows = [
        (
            integer(line["number"]),
            text(line["created_by"]),
            time_utc(line["created"]),
            *(integer(line[name]) for name in counted),
        )
        for line in lines
    ]
    return table("versions", gettext("Versions"), columns, rows, note)


def _in_one_line(lines: Sequence[Any]) -> str:
    return "; ".join(map(display_text.shown, lines)) or NOTHING
