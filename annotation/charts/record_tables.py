"""Records of a study, as figures without a chart: releases and their files, events, responses, gold answers, versions. Pure.

People have their pseudonyms in the rows: a file may go into a paper. A list that a page cuts has the rows of the page, and
a note that says which these are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext

from annotation.charts.fields import (
    Field,
    integers,
    optional_texts,
    table,
    text_field,
    texts,
    time_utc,
    times,
)
from annotation.charts.figure import Figure
from annotation.platform import display_text
from tableqa.writers.report_tables import NOTHING, Column

Line = Mapping[str, Any]


def releases(lines: Sequence[Line], note: str = "") -> Figure | None:
    """The releases of a project: a line has release, state and created_by."""
    fields = (
        *texts(release__name=gettext("Release"), state=gettext("State")),
        text_field(gettext("Format"), lambda line: ", ".join(line["release"].formats)),
        text_field(
            gettext("With simulated annotators"), lambda line: _yes_or_no(line["release"].allow_simulated)
        ),
        *times(release__made_at=gettext("Created (UTC)")),
        *texts(created_by=gettext("Created by")),
    )
    return table("releases", gettext("Releases"), fields, lines, note)


def _yes_or_no(value: bool) -> str:
    return gettext("yes") if value else gettext("no")


def files_by_format(lines: Sequence[Line]) -> Figure | None:
    """The formats of a release: a line has name, about, files and bytes."""
    fields = (
        *texts(name=gettext("Format"), about=gettext("Contents")),
        *integers(files=gettext("Files"), bytes=gettext("Bytes")),
    )
    return table("formats", gettext("Files by format"), fields, lines)


def files(files: Sequence[tuple[str, Line]]) -> Figure | None:
    """The files of a release: names, each with records, bytes and sha256."""
    fields = (
        *texts(name=gettext("File")),
        *integers(records=gettext("Records"), bytes=gettext("Bytes")),
        *texts(sha256="sha256"),
    )
    return table("files", gettext("Files"), fields, [{**file, "name": name} for name, file in files])


def file_changes(name: str, title: str, changes: Sequence[Any]) -> Figure | None:
    """The files in which two releases differ (`release_comparison.FileChanges`), with the ids that the page lists."""
    parts = _parts_of_changes()
    fields = (
        *texts(name=gettext("File")),
        *integers(**{part: capfirst(head) for part, head in parts.items()}),
        *texts(records=gettext("Records")),
    )
    records = [
        {
            **{part: getattr(change, part).number for part in parts},
            "name": change.name,
            "records": _changed_records(change),
        }
        for change in changes
    ]
    return table(name, title, fields, records)


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
    fields = (
        _time(),
        text_field(gettext("Person"), lambda entry: entry.who),
        text_field(gettext("Object"), lambda entry: capfirst(entry.thing)),
        text_field(gettext("Name"), lambda entry: entry.about.name),
        text_field(gettext("Context"), lambda entry: entry.about.beside or NOTHING),
        text_field(gettext("Before"), lambda entry: display_text.show(entry.before) or NOTHING),
        text_field(gettext("After"), lambda entry: display_text.show(entry.after)),
        text_field(gettext("Details"), lambda entry: _in_one_line(entry.words)),
    )
    return table("log", gettext("Audit log"), fields, entries, note)


def item_history(moments: Sequence[Any]) -> Figure | None:
    """What happened to an item: moments of `item_history.of_item`, with the pseudonyms of people."""
    fields = (
        _time(),
        *texts(who=gettext("Person"), what=gettext("Event")),
        text_field(gettext("Details"), lambda moment: _in_one_line(moment.words)),
    )
    return table("history", gettext("History"), fields, moments)


def _time() -> Field:
    column = Column(gettext("Time (UTC)"), numeric=False)
    return Field(column, lambda event: time_utc(event.at, seconds=True))


def compared_responses(lines: Sequence[Line], note: str = "") -> Figure | None:
    """Responses to the same items: a line has question, example, annotator, words, result and is_apart."""
    fields = (
        *texts(question=gettext("Question"), example=gettext("Example"), annotator=gettext("Annotator")),
        text_field(gettext("Response"), lambda line: _in_one_line(line["words"])),
        *optional_texts(result=gettext("Responses to the item")),
        text_field(gettext("Differs from the majority"), lambda line: _yes_or_no(line["is_apart"])),
    )
    return table("responses", gettext("Responses"), fields, lines, note)


def gold_answers(golds: Iterable[Any], note: str = "") -> Figure | None:
    """The gold answers of a batch with what is expected in words (`words`), and how often it was `answered`."""
    fields = (
        *texts(item__example__question=gettext("Question"), item__example__external_id=gettext("Example")),
        text_field(gettext("Expected"), lambda gold: _in_one_line(gold.words)),
        *optional_texts(why=gettext("Explanation")),
        *integers(answered=gettext("Responses")),
    )
    return table("gold-answers", gettext("Gold answers"), fields, golds, note)


def questions(examples: Iterable[Any], note: str = "") -> Figure | None:
    """The questions of a source, with id and answers."""
    fields = texts(question=gettext("Question"), external_id=gettext("Example"), answer=gettext("Answer"))
    return table("questions", gettext("Questions"), fields, examples, note)


def versions(lines: Sequence[Line], counted: Mapping[str, str], note: str = "") -> Figure | None:
    """Versions of a text: a line has number, created_by, created and the counts; `counted`: their titles by name."""
    fields = (
        *integers(number=gettext("Version")),
        *texts(created_by=gettext("Created by")),
        *times(created=gettext("Created (UTC)")),
        *integers(**counted),
    )
    return table("versions", gettext("Versions"), fields, lines, note)


def _in_one_line(lines: Sequence[Any]) -> str:
    return "; ".join(map(display_text.show, lines)) or NOTHING
