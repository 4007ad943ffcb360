"""Examples in: from a reader's files to a Source, in pages that are hidden until it is whole.

Two passes. The first reads everything (`tableqa.readers.ingestion`), in its own process where files were uploaded: it
finds the bad line and the repeated id, and lays what can be imported on disk as rows. The second compares these with what
was imported before and writes what is new (`annotation.background.staged_pages`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from django.db import IntegrityError
from django.utils import timezone

from annotation.access import audit_log, visibility
from annotation.background import jobs, sandbox, uploads
from annotation.background.staged_pages import HiddenPages, Progress, clear_abandoned, hidden_project
from annotation.imports import continued_sources, file_preview
from annotation.models import Example, Job, Person, Project, Source, StoredTable, Upload
from annotation.platform import bulk_rows
from annotation.platform.refusals import refuse, refuse_as, require_storable
from tableqa.core.translation import grouped, phrase, reason_of, sentence
from tableqa.data.typed_json import to_json
from tableqa.readers import READERS
from tableqa.readers.ingestion import ReadRequest, ReadResult, Rows, read_all, reader_with_fields
from tableqa.readers.interface import Credit, Tolerant
from tableqa.readers.omissions import columns_of, losses
from tableqa.readers.rejections import FORMS, one_sentence
from tableqa.readers.report import Report
from tableqa.readers.split_names import split_in_name

LONGEST_NAME = 120
LONGEST_LICENCE = 80
LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*( AND [A-Za-z0-9][A-Za-z0-9.+-]*)*")
"""SPDX identifiers, several joined by AND."""
SPLIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
GOOD_ONLY = {"import": "choices", "import_labels": "", "import_responses": "mapping"}
"""By kind of job: where its ids say that only good records are imported."""
MOST_SHOWN = 100
"""Numbered ids that the record of a job keeps."""
MOST_FOR_LOSSES = 200
"""Examples by which it is known what a source does not keep."""

NO_CREDIT = Credit("", "", "")

_Stored = tuple[str, list[Any], str]
"""Question, answers and table digest of an example."""


@dataclass(frozen=True)
class ImportResult:
    """What an import did: the source, how many examples and tables it has, and whether anything was new.

    `numbered` are the ids that got a number because the source gives them more than once. `report` says what was read of the
    files and what was left out. `continues` is the name of the earlier
    source whose licence, citation or URL were taken; "" where the files or the person gave all.
    """

    source: Source
    examples: int
    tables: int
    new: bool
    numbered: tuple[str, ...] = ()
    continues: str = ""
    report: Report = field(default_factory=Report)


@dataclass(frozen=True)
class Choices:
    """What a person can choose for an import beside its files.

    fields      under which names the records hold the parts of an example, for readers with custom names
    credit      licence, citation and URL; empty ones are those of the files
    good_only   import the records without a problem; otherwise one problem stops the import
    """

    name: str = ""
    split: str = ""
    limit: int | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    credit: Credit = NO_CREDIT
    good_only: bool = False


@bulk_rows.rare_garbage_collection()
def import_examples(
    *,
    project: Project,
    reader: str,
    path: Path,
    now: datetime,
    tables: Path | None = None,
    name: str = "",
    split: str = "",
    limit: int | None = None,
    fields: Mapping[str, str] | None = None,
    credit: Credit | None = None,
    good_only: bool = False,
    rest: Path | None = None,
    by_command: bool = False,
    only_check: bool = False,
    declared_paths: Mapping[str, str] | None = None,
    by: Person | None = None,
    files: uploads.UploadedFiles | None = None,
    reading: sandbox.Reading = read_all,
    progress: Progress = lambda done, total: None,
    job: Job | None = None,
    pages: HiddenPages | None = None,
) -> ImportResult:
    """Read `path` with the named reader into a new source. The same files again change nothing.

    name ... good_only: see `Choices`. rest: a file for the records with a problem (`Rejections.write`). by_command: fixes
    may name options of the command. only_check: nothing is written, `examples` is how many an import would take.
    `declared_paths` is how a study file names path and tables. files: uploaded ones. job: the one that imports. pages: a
    new source stays in their project, and is not ready, until `publish`.

    Raises ActionRefused(import_failed) naming file, line, what is wrong and how to mend it, with all problems in `more`;
    nothing is left behind then.
    """
    choices = Choices(name.strip() or path.stem, split, limit, fields or {}, credit or NO_CREDIT, good_only)
    require_storable(dict(declared_paths or {}))
    _check_choices(reader, choices)
    _refuse_another_format(project, choices.name, reader)
    continued = continued_sources.source_to_continue(project, choices.name, reader, path)
    earlier = Source.objects.ready().filter(project=project, name=choices.name)
    with uploads.room(files) as folder:
        known_checksums = () if only_check else tuple(earlier.values_list("checksum", flat=True))
        more = {"tables": str(tables) if tables else None, "rest": str(rest or ""), "by_command": by_command}
        request = _read_request(
            folder, reader, path, choices, files, continued, known=known_checksums, **more
        )
        read = sandbox.refusing_faults(reading, request, lambda count: progress(count, 0))
        if read.checksum in request.known:
            same = earlier.filter(checksum=read.checksum).latest("ready_at")
            return ImportResult(same, same.examples_count, same.tables_count, new=False)
        _refuse_problems(read, choices.good_only and not only_check)
        rows, count = Path(request.rows), read.number
        if earlier.exists():
            rows, count = _new_rows(project, choices.name, rows, path)
            if not count and not only_check:
                newest = earlier.latest("ready_at")
                return ImportResult(newest, newest.examples_count, newest.tables_count, new=False)
        if only_check:
            return ImportResult(Source(), read.number, 0, new=False, report=read.report)
        choices = replace(choices, fields=read.fields)
        stated_credit = choices.credit
        if continued is not None:
            choices = _with_credit_of(continued, choices, read.credit)
        with nullcontext(pages) if pages is not None else hidden_project(progress, count, job) as hidden:
            owner = hidden.project
            source = _begin(owner, reader, path, choices, read, declared_paths or {}, by, now)
            _write(source, rows, hidden)
            if pages is None:
                with hidden.page():
                    publish(source=source, project=project, by=by)
                    hidden.progress(count, count)
    return ImportResult(
        source,
        count,
        source.tables_count,
        new=True,
        numbered=tuple(read.numbered),
        report=read.report,
        continues=continued.name if continued is not None and choices.credit != stated_credit else "",
    )


def _read_request(
    folder: Path,
    reader: str,
    path: Path,
    choices: Choices,
    files: uploads.UploadedFiles | None,
    continued: Source | None,
    **more: Any,
) -> ReadRequest:
    """What is read; a command takes the columns of the source that it continues, a page has asked for them."""
    return ReadRequest(
        reader,
        str(path),
        str(folder / "rows.jsonl"),
        fields=choices.fields,
        split=choices.split,
        limit=choices.limit,
        inherited=continued.how.get("fields", {}) if more["by_command"] and continued is not None else {},
        **more,
        **(files.for_request() if files is not None else {}),
    )


def _new_rows(project: Project, name: str, rows: Path, path: Path) -> tuple[Path, int]:
    """A file with those rows that no earlier source of this name holds, and their number.

    Raises ActionRefused(import_failed) for one that was imported with other contents.
    """
    new, count = rows.with_suffix(".new"), 0
    with new.open("w", encoding="utf-8", newline="\n") as file:
        for chunk in Rows.read(rows):
            stored = _stored(project, name, [row[0] for row in chunk])
            for row in chunk:
                if row[0] in stored:
                    _compare(row, stored[row[0]], path)
                    continue
                file.write(json.dumps(row) + "\n")
                count += 1
    return new, count


def _with_credit_of(source: Source, choices: Choices, credit: Credit) -> Choices:
    """The choices with the credit of the source that an import continues, where neither they nor the files say it."""
    chosen = {name: value for name, value in asdict(choices.credit).items() if value}
    stated = replace(credit, **chosen)
    inherited = asdict(continued_sources.inherited_credit(stated, source))
    added = {name: value for name, value in inherited.items() if value != getattr(stated, name)}
    return replace(choices, credit=replace(choices.credit, **added))


def _begin(
    project: Project,
    reader: str,
    path: Path,
    choices: Choices,
    read: ReadResult,
    declared_paths: Mapping[str, str],
    by: Person | None,
    now: datetime,
) -> Source:
    """The source of an import, invisible until its examples are written."""
    chosen = {name: value for name, value in asdict(choices.credit).items() if value}
    credit = replace(read.credit, **chosen)
    require_storable(asdict(credit))
    _check_length(credit.licence)
    how = {
        **declared_paths,
        **({"limit": choices.limit} if choices.limit else {}),
        **({"fields": dict(choices.fields)} if choices.fields else {}),
        **({"good_only": True} if choices.good_only else {}),
        **chosen,
        "reports": [read.report.to_dict()],
    }
    return Source.objects.create(
        project=project,
        name=choices.name,
        reader=reader,
        split=choices.split or split_in_name(path),
        how=how,
        checksum=read.checksum,
        licence=credit.licence,
        citation=credit.citation,
        url=credit.url,
        made_by=by,
        started_at=now,
    )


def _refuse_problems(read: ReadResult, good_only: bool) -> None:
    """Raises ActionRefused(import_failed) with the problems, unless only good records are wanted and there are some."""
    if read.cause is None or (good_only and read.whole and read.number):
        return
    more = {
        "problems": [asdict(problem) for problem in read.problems],
        "rejected": read.rejected,
        "good": read.number if read.whole else 0,
        "report": to_json(read.report),
    }
    reason = one_sentence(read.cause)
    if read.rejected == 2:
        reason = phrase("{detail} 1 more record has a problem.", detail=reason)
    elif read.rejected > 2:
        reason = phrase(
            "{detail} {number} more records have problems.",
            detail=reason,
            number=grouped(read.rejected - 1),
        )
    refuse_as("import_failed", reason, more=more)


def check_fields(reader: str, fields: Mapping[str, str]) -> None:
    """Raises ActionRefused(import_failed) for a reader that is not there, or cannot be told these names of fields."""
    if reader not in READERS:
        refuse(
            "import_failed",
            "There is no reader {reader!r}. Available: {value}.",
            reader=reader,
            value=", ".join(sorted(READERS)),
        )
    try:
        reader_with_fields(reader, fields)
    except ValueError as error:
        refuse_as("import_failed", sentence("{reason}.", {"reason": reason_of(error)}))


def check_licence(licence: str) -> None:
    """Raises ActionRefused(import_failed) for a licence that is no SPDX identifier; "" is none."""
    _check_length(licence)
    if licence and LICENCE.fullmatch(licence) is None:
        refuse(
            "import_failed",
            "{licence!r} is no SPDX identifier, such as CC-BY-4.0. Several are joined by AND.",
            licence=licence,
        )


def _check_length(licence: str) -> None:
    """Raises ActionRefused(import_failed) for a licence that is too long to be stored."""
    if len(licence) > LONGEST_LICENCE:
        refuse(
            "import_failed",
            "The licence has {number} characters, more than {most}. Enter an SPDX identifier, such as CC-BY-4.0.",
            number=len(licence),
            most=LONGEST_LICENCE,
        )


def _check_choices(reader: str, choices: Choices) -> None:
    """Raises ActionRefused for choices that no import can be made with."""
    require_storable(asdict(choices))
    check_fields(reader, choices.fields)
    check_licence(choices.credit.licence)
    name, split = choices.name, choices.split
    if len(name) > LONGEST_NAME or (split and SPLIT.fullmatch(split) is None):
        refuse(
            "import_failed",
            "A source name has at most {longest_name} characters. A split may contain letters, "
            "digits, '.', '_' and '-'.",
            longest_name=LONGEST_NAME,
        )


def publish(*, source: Source, project: Project, by: Person | None) -> None:
    """Make a source visible in its project, in the caller's transaction. Raises ActionRefused(import_failed)."""
    # One import of a project at a time becomes visible: an id stands once under a name.
    Project.objects.select_for_update().filter(pk=project.pk).values_list("pk").first()
    others = Source.objects.ready().filter(project=project, name=source.name)
    examples = Example.objects.filter(source=source)
    if Example.objects.filter(source__in=others, external_id__in=examples.values("external_id")).exists():
        refuse("import_failed", "Another import has just added some of these examples. Try again.")
    now = timezone.now()
    tables_count = examples.values("stored_table").distinct().count()
    try:
        Source.objects.filter(pk=source.pk).update(
            project=project, ready_at=now, examples_count=examples.count(), tables_count=tables_count
        )
    except IntegrityError:
        refuse("import_failed", "Another import has just added the same files.")
    source.refresh_from_db()
    audit_log.log(source, "", "ready", by=by, now=now)


def start_import(
    *,
    project: Project,
    reader: str,
    questions: Upload,
    tables: Upload | None,
    by: Person,
    now: datetime,
    choices: Choices | None = None,
    only_check: bool = False,
    choice: Mapping[str, Any] | None = None,
) -> Job:
    """Import uploaded files in the background, or only check all their records: then they stay for the import.

    choice: what the job works out reader and columns from (`file_preview.read`), where they are not known.

    Raises ActionRefused(import_failed) where bytes of them are missing.
    """
    for upload in filter(None, (questions, tables)):
        uploads.require_whole(upload)
    ids: dict[str, Any] = {
        "choices": asdict(choices or Choices()),
        "reader": reader,
        "questions": questions.pk,
        "tables": tables.pk if tables else None,
        **({"only_check": True} if only_check else {}),
        **({"choice": choice} if choice is not None else {}),
    }
    require_storable(ids)
    return jobs.enqueue(project=project, kind="import", ids=ids, by=by, now=now)


def start_good_only(*, job: Job, by: Person, now: datetime) -> Job:
    """Import the good records of an import that was refused because of others, or of a check. Raises ActionRefused.

    An import of labels or responses has its choices in another place than one of examples.
    """
    if job.kind not in GOOD_ONLY or not job.result.get("good"):
        refuse("import_failed", "This import has no records that can be imported.")
    ids, inside = dict(job.ids), GOOD_ONLY[job.kind]
    chosen = {"good_only": bool(job.result.get("rejected"))}
    ids |= {inside: {**ids[inside], **chosen}} if inside else chosen
    ids.pop("only_check", None)
    return jobs.enqueue(project=job.project, kind=job.kind, ids=ids, by=by, now=now)


@jobs.kind("import")
def _run_import(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    sent = uploads.of_job(job)
    if "choice" in job.ids:
        _complete_choices(job, progress)
    with uploads.rest_of_job(job, rest_name(sent["questions"].name, job.ids["reader"])) as rest:
        done = _import_uploads(job, sent, rest, progress)
        if job.ids.get("only_check"):
            return {"good": done.examples, "report": to_json(done.report)}
        report = done.report
        rejected = {"rejected": report.rejected, **uploads.kept_rest(job, rest)} if report.rejected else {}
    return {
        "source": done.source.public_id,
        "examples": done.examples,
        "tables": done.tables,
        "new": done.new,
        "numbered": list(done.numbered[:MOST_SHOWN]),
        **{name: text for name in ("left_out", "read_as") if (text := getattr(report, name))},
        "losses": list(losses_of(done.source)),
        **({"report": to_json(report)} if done.new else {}),
        **rejected,
    }


def _complete_choices(job: Job, progress: jobs.Progress) -> None:
    """Work out the reader and the columns of a choice, once: they are kept with the job."""
    preview = file_preview.read(job, lambda done: progress(done, 0))
    choice = job.ids.pop("choice")
    job.ids["reader"] = preview.reader
    if "chosen" in choice:
        job.ids["choices"]["fields"] = dict(preview.fields)
    Job.objects.filter(pk=job.pk).update(ids=job.ids)


@jobs.afterwards("import")
def _forget_files(job: Job) -> None:
    """Delete the files of an import; those with problems stay for the choice to import the good records.

    Those of a check stay for the import.
    """
    clear_abandoned(job)
    if (
        not job.ids.get("only_check")
        and not Job.objects.filter(pk=job.pk, result__has_key="problems").exists()
    ):
        uploads.forget(uploads.of_job(job).values())


def rest_name(questions: str, reader: str) -> str:
    """What the file of the rejected records is called, by the form of the reader; else JSON Lines for JSON, and CSV."""
    name = Path(uploads.file_name(questions))
    read = READERS.get(reader)
    form = read.rest_form if isinstance(read, Tolerant) else ""
    suffix = ".jsonl" if name.suffix.lower() in (".json", ".jsonl", ".ndjson") else ".csv"
    return f"{name.stem}-rejected{FORMS.get(form, suffix)}"


def _import_uploads(
    job: Job, sent: Mapping[str, Upload], rest: Path, progress: jobs.Progress
) -> ImportResult:
    choices = _choices(job, sent)
    with uploads.for_sandbox(sent["questions"], sent.get("tables")) as files:
        return import_examples(
            project=job.project,
            reader=job.ids["reader"],
            path=files.questions,
            tables=files.tables,
            **vars(choices),
            rest=rest,
            only_check=bool(job.ids.get("only_check")),
            files=files,
            reading=partial(sandbox.read, name=sent["questions"].name),
            progress=progress,
            by=job.made_by,
            now=timezone.now(),
            job=job,
        )


def _choices(job: Job, sent: Mapping[str, Upload]) -> Choices:
    """The choices of a job."""
    choices = Choices(**{**job.ids["choices"], "credit": Credit(**job.ids["choices"]["credit"])})
    return replace(choices, name=choices.name or Path(sent["questions"].name).stem[:LONGEST_NAME])


# -- underneath -------------------------------------------------------------------------------------


def _write(source: Source, rows: Path, pages: HiddenPages) -> None:
    written = 0
    for page in pages.of_rows(rows):
        _write_page(source, page, written)
        written += len(page)


def _write_page(source: Source, page: Sequence[Any], written: int) -> None:
    tables = {row[4]: bulk_rows.Json(row[5]) for row in page if len(row) > 5}
    bulk_rows.add_missing(StoredTable, ["digest", "content"], sorted(tables.items()))
    digests = {row[4] for row in page}
    stored = dict(StoredTable.objects.filter(digest__in=digests).values_list("digest", "pk"))
    bulk_rows.insert(
        Example,
        _FIELDS,
        (
            (source.pk, id, written + at, question, answers, stored[digest], digest, more)
            for at, (id, question, answers, more, digest, *_) in enumerate(page)
        ),
    )


_FIELDS = (
    "source_id", "external_id", "position", "question", "answers", "stored_table_id", "table_digest", "more",
)  # fmt: skip


def _stored(project: Project, name: str, ids: Sequence[str]) -> dict[str, _Stored]:
    """What sources of this name already hold of these examples, by id."""
    rows = Example.objects.originals().filter(
        source__project=project,
        source__name=name,
        source__ready_at__isnull=False,
        external_id__in=ids,
    )
    return {
        external_id: (question, _forms(answers, more), table)
        for external_id, question, answers, more, table in rows.values_list(
            "external_id", "question", "answers", "more", "table_digest"
        )
    }


def _forms(answers: list[str], more: Mapping[str, Any]) -> list[Any]:
    """Answers as they are compared with those before: where there are alternatives, a list of all forms."""
    return [answers, *more["alternatives"]] if "alternatives" in more else answers


def _refuse_another_format(project: Project, name: str, reader: str) -> None:
    """One name is one collection: a release gives its licence and credit once."""
    other = Source.objects.ready().filter(project=project, name=name).exclude(reader=reader).first()
    if other is not None:
        title = READERS[other.reader].title if other.reader in READERS else other.reader
        refuse(
            "import_failed",
            "A source {name!r} already exists, from {title}. Import this one under another name "
            "(--name, or rename the file).",
            name=name,
            title=title,
        )


def _compare(row: Sequence[Any], before: _Stored, path: Path) -> None:
    """Refuse a row that is known with other contents."""
    example, question, answers, more, table, *_ = row
    now = (question, _forms(answers, more), table)
    for what, old, new in zip(("question", "answers", "table"), before, now, strict=True):
        if old != new:
            seen = "" if what == "table" else f": {old!r} before, {new!r} now"
            refuse(
                "import_failed",
                "{name}: example {id!r} was imported before with a different {what}{seen}. Import the "
                "changed file under another name (--name).",
                name=path.name,
                id=example,
                what=what,
                seen=seen,
            )


def losses_of(source: Source) -> tuple[str, ...]:
    """What the import of a source did not keep, by its first examples: messages for `gettext`."""
    originals = Example.objects.originals().filter(source=source).order_by("position")
    metas = (more.get("meta", {}) for more in originals.values_list("more", flat=True)[:MOST_FOR_LOSSES])
    return losses(source.reader, source.split, columns_of(metas))


def reports_of(source: Source, sight: visibility.Visibility) -> list[Report]:
    """The reports of the imports of a source; without texts for a person who is asked for answers."""
    reports = [Report.of(stored) for stored in source.how.get("reports", ())]
    if sight.is_asked:
        for finding in chain.from_iterable(report.findings for report in reports):
            finding.text = ""
    return reports
