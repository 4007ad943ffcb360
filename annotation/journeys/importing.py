"""Examples in: from a reader's files to a Source that is invisible until it is whole.

Two passes. The first reads everything and writes nothing to the database: it finds the bad line, the repeated id and
the difference to what was imported before, and lays what is new on disk as rows. The second writes these rows, 1,000
examples a transaction.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.core.files import File
from django.db import IntegrityError, transaction
from django.utils import timezone

import tableqa
from annotation import bulk, events, immutable, jobs, uploads
from annotation.models import Example, Job, Person, Project, Source, StoredTable, Upload
from annotation.refusals import Refused, refuse, refuse_as
from annotation.work import continued_sources
from tableqa.language import grouped, phrase, reason_of, sentence, with_texts
from tableqa.readers import (
    READERS,
    Describing,
    Mapped,
    Reader,
    ReaderError,
    Rejected,
    Sifting,
    Splitting,
    checked,
    published_id,
)
from tableqa.readers import credit as credit_of
from tableqa.readers.losses import columns_of, losses
from tableqa.readers.own_data import PARTS, OwnData
from tableqa.readers.reader import Credit, Tolerant
from tableqa.readers.rejections import FORMS, Rejections, described, one_sentence
from tableqa.readers.split_names import split_in_name

ROWS = 1_000
"""Examples written in one transaction."""
LONGEST_ID = 200
LONGEST_NAME = 120
LONGEST_LICENCE = 80
LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*( AND [A-Za-z0-9][A-Za-z0-9.+-]*)*")
"""SPDX identifiers, several joined by AND."""
SPLIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
MOST_SHOWN = 100
"""Numbered ids that the record of a job keeps."""
LOST = timedelta(hours=1)
"""An import that has not finished after this long was killed; the next one clears it away."""

MOST_FOR_LOSSES = 200
"""Examples by which it is known what a source does not keep."""

NO_CREDIT = Credit("", "", "")

_Stored = tuple[str, list[str], str]
"""Question, answers and table digest of an example."""
_Lookup = Callable[[Sequence[tableqa.Example]], dict[str, _Stored]]


@dataclass(frozen=True)
class Imported:
    """What an import did: the source, how many examples and tables it has, and whether anything was new.

    `numbered` are the ids that got a number because the source gives them more than once. `left_out` says what of the files
    was not taken, and why; "" where all was. `read_as` says in which form they were read, where that was detected.
    `rejected` is the number of records that were left out because of a problem. `continues` is the name of the earlier
    source whose licence, citation or URL were taken; "" where the files or the person gave all.
    """

    source: Source
    examples: int
    tables: int
    new: bool
    numbered: tuple[str, ...] = ()
    left_out: str = ""
    read_as: str = ""
    rejected: int = 0
    continues: str = ""


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


@bulk.seldom_collected()
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
    shown: Callable[[str], str] = str,
    by_command: bool = False,
    said: Mapping[str, str] | None = None,
    by: Person | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Imported:
    """Read `path` with the named reader into a new source. The same files again change nothing.

    name ... good_only: see `Choices`. rest: a file for the records with a problem (`Rejections.write`). shown: gives a
    message without folders that people do not know. by_command: fixes may name options of the command. `said` is how a
    study file names path and tables.

    Raises Refused(import_failed) naming file, line, what is wrong and how to mend it, with all problems in `more`; nothing
    is left behind then.
    """
    read = _reader(reader, fields or {})
    choices = Choices(name.strip() or path.stem, split, limit, fields or {}, credit or NO_CREDIT, good_only)
    _check_names(choices.name, split, choices.credit.licence)
    rows = _Rows()
    try:
        with Rejections(shown, by_command) as rejections:
            _discard_abandoned(project, choices.name, now)
            _refuse_another_format(project, choices.name, reader)
            continued = continued_sources.continued(project, choices.name, reader, path)
            read, choices = _as_chosen(read, path, tables, choices, continued if by_command else None)
            checksum = checksum_of(read.files(path, tables), limit, choices.fields)
            earlier = Source.objects.ready().filter(project=project, name=choices.name)
            same = earlier.filter(checksum=checksum).first()
            if same is not None:
                return Imported(same, same.examples_count, same.tables_count, new=False)
            numbered = _read_all(project, read, path, tables, choices, rows, rejections, rest, progress)
            if not rows.number:
                newest = earlier.latest("ready_at")
                return Imported(newest, newest.examples_count, newest.tables_count, new=False)
            given, credit_of_files = choices.credit, credit_of(read, path, tables)
            if continued is not None:
                choices = _with_credit_of(continued, choices, credit_of_files)
            source = _begin(project, read, path, choices, credit_of_files, checksum, said or {}, by, now)
            try:
                left_out = read.left_out(path, tables, limit) if isinstance(read, Sifting) else ""
                read_as = read.read_as(path, tables) if isinstance(read, Describing) else ""
                done = _write(source, rows, progress, by)
            except BaseException:
                discard(source)
                raise
            return replace(
                done,
                numbered=tuple(numbered),
                left_out=left_out,
                read_as=read_as,
                rejected=rejections.number,
                continues=continued.name if continued is not None and choices.credit != given else "",
            )
    except ReaderError as error:
        problem = described(error, shown, by_command)
        refuse_as("import_failed", one_sentence(problem))
    finally:
        rows.close()


@bulk.seldom_collected()
def check_examples(
    *,
    project: Project,
    reader: str,
    path: Path,
    choices: Choices,
    tables: Path | None = None,
    rest: Path | None = None,
    shown: Callable[[str], str] = str,
    by_command: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Read all records as an import would, and write none. Returns how many an import would take.

    Raises Refused(import_failed) as `import_examples` does, with all problems in `more`.
    """
    read = _reader(reader, choices.fields)
    choices = replace(choices, name=choices.name.strip() or path.stem, good_only=False)
    _check_names(choices.name, choices.split, choices.credit.licence)
    rows = _Rows()
    try:
        with Rejections(shown, by_command) as rejections:
            _refuse_another_format(project, choices.name, reader)
            continued = (
                continued_sources.continued(project, choices.name, reader, path) if by_command else None
            )
            read, choices = _as_chosen(read, path, tables, choices, continued)
            _read_all(project, read, path, tables, choices, rows, rejections, rest, progress)
            return rows.read
    except ReaderError as error:
        problem = described(error, shown, by_command)
        refuse_as("import_failed", one_sentence(problem))
    finally:
        rows.close()


def _read_all(
    project: Project,
    read: Reader,
    path: Path,
    tables: Path | None,
    choices: Choices,
    rows: _Rows,
    rejections: Rejections,
    rest: Path | None,
    progress: Callable[[int, int], None],
) -> list[str]:
    """The first pass: what is new in `rows`, what has a problem in `rejections` and the file `rest`.

    Returns the ids that got a number. Raises Refused(import_failed) with the problems, unless only good records are wanted.
    """
    earlier = Source.objects.ready().filter(project=project, name=choices.name)
    known: _Lookup = partial(_known, project, choices.name) if earlier.exists() else lambda chunk: {}
    outcomes = checked(read, path, tables, choices.limit)
    numbered = _read_new(rows, rejections, outcomes, known, path, progress)
    if rest is not None and rejections.number:
        rejections.write(rest, read.rest_form if isinstance(read, Tolerant) else "")
    _refuse_problems(rejections, rows.read, choices.good_only)
    return numbered


def _as_chosen(
    read: Reader, path: Path, tables: Path | None, choices: Choices, continued: Source | None
) -> tuple[Reader, Choices]:
    """The reader for the split that is chosen, and with the columns of the source that it continues, where none are named.

    The choices have what the reader takes as `fields`. Raises ReaderError.
    """
    read, fields = with_split(read, choices.split, path, tables, choices.fields)
    is_named = any(part in PARTS for part in fields)
    if continued is not None and not is_named and isinstance(read, OwnData) and continued.how.get("fields"):
        columns = read.layout(path, tables).columns
        fields = {**continued_sources.inherited_fields(continued, columns), **fields}
        read = read.with_fields(fields)
    return read, replace(choices, fields=fields)


def _with_credit_of(source: Source, choices: Choices, credit: Credit) -> Choices:
    """The choices with the credit of the source that an import continues, where neither they nor the files say it."""
    chosen = {name: value for name, value in asdict(choices.credit).items() if value}
    stated = replace(credit, **chosen)
    inherited = asdict(continued_sources.inherited_credit(stated, source))
    added = {name: value for name, value in inherited.items() if value != getattr(stated, name)}
    return replace(choices, credit=replace(choices.credit, **added))


def _begin(
    project: Project,
    read: Reader,
    path: Path,
    choices: Choices,
    credit: Credit,
    checksum: str,
    said: Mapping[str, str],
    by: Person | None,
    now: datetime,
) -> Source:
    """The source of an import, invisible until its examples are written; `credit` is that of its files."""
    chosen = {name: value for name, value in asdict(choices.credit).items() if value}
    credit = replace(credit, **chosen)
    _check_length(credit.licence)
    how = {
        **said,
        **({"limit": choices.limit} if choices.limit else {}),
        **({"fields": dict(choices.fields)} if choices.fields else {}),
        **({"good_only": True} if choices.good_only else {}),
        **chosen,
    }
    return Source.objects.create(
        project=project,
        name=choices.name,
        reader=read.name,
        split=choices.split or split_in_name(path),
        how=how,
        checksum=checksum,
        licence=credit.licence,
        citation=credit.citation,
        url=credit.url,
        made_by=by,
        started_at=now,
    )


def _refuse_problems(rejections: Rejections, good: int, good_only: bool) -> None:
    """Raises Refused(import_failed) with the problems, unless only good records are wanted and there are some."""
    if rejections.cause is None or (good_only and rejections.whole and good):
        return
    more = {
        "problems": rejections.problems(),
        "rejected": rejections.number,
        "good": good if rejections.whole else 0,
    }
    reason = one_sentence(rejections.cause)
    if rejections.number == 2:
        reason = phrase("{detail} 1 more record has a problem.", detail=reason)
    elif rejections.number > 2:
        reason = phrase(
            "{detail} {number} more records have problems.",
            detail=reason,
            number=grouped(rejections.number - 1),
        )
    refuse_as("import_failed", reason, more=more)


def _reader(name: str, fields: Mapping[str, str]) -> Reader:
    """The reader of that name, told a person's own names of fields. Raises Refused(import_failed)."""
    if name not in READERS:
        refuse(
            "import_failed",
            "There is no reader {reader!r}. Available: {value}.",
            reader=name,
            value=", ".join(sorted(READERS)),
        )
    return _told(READERS[name], fields) if fields else READERS[name]


def check_licence(licence: str) -> None:
    """Raises Refused(import_failed) for a licence that is no SPDX identifier; "" is none."""
    _check_length(licence)
    if licence and LICENCE.fullmatch(licence) is None:
        refuse(
            "import_failed",
            "{licence!r} is no SPDX identifier, such as CC-BY-4.0. Several are joined by AND.",
            licence=licence,
        )


def _check_length(licence: str) -> None:
    """Raises Refused(import_failed) for a licence that is too long to be stored."""
    if len(licence) > LONGEST_LICENCE:
        refuse(
            "import_failed",
            "The licence has {number} characters, more than {most}. Enter an SPDX identifier, such as CC-BY-4.0.",
            number=len(licence),
            most=LONGEST_LICENCE,
        )


def _check_names(name: str, split: str, licence: str) -> None:
    """Raises Refused(import_failed) for a source name, a split or a licence that cannot be stored."""
    check_licence(licence)
    if len(name) > LONGEST_NAME or (split and SPLIT.fullmatch(split) is None):
        refuse(
            "import_failed",
            "A source name has at most {longest_name} characters. A split may contain letters, "
            "digits, '.', '_' and '-'.",
            longest_name=LONGEST_NAME,
        )


def _discard_abandoned(project: Project, name: str, now: datetime) -> None:
    """Delete sources of this name whose import was killed."""
    abandoned = Source.objects.filter(
        project=project, name=name, ready_at__isnull=True, started_at__lt=now - LOST
    )
    for source in abandoned:
        discard(source)


def _read_new(
    rows: _Rows,
    rejections: Rejections,
    outcomes: Iterable[tableqa.Example | Rejected],
    known: _Lookup,
    path: Path,
    progress: Callable[[int, int], None],
) -> list[str]:
    """Read all records; add the new examples to `rows` and the others to `rejections`. Returns the ids that got a number.

    known: maps some examples to what earlier sources of this name hold under their ids.
    Raises Refused(import_failed) for an id that is too long, a difference from an earlier import, and no examples.
    """
    numbered: list[str] = []
    for chunk in _chunks(_good(outcomes, rejections)):
        stored = known(chunk)
        for example in chunk:
            if len(example.id) > LONGEST_ID:
                refuse(
                    "import_failed",
                    "{name}: the id {id!r}… is longer than {longest_id} characters. Shorten it.",
                    name=path.name,
                    id=example.id[:40],
                    longest_id=LONGEST_ID,
                )
            _compare(example, stored, path)
            if published_id(example) is not None:
                numbered.append(example.id)
            if example.id not in stored:
                rows.add(example)
        rows.read += len(chunk)
        progress(0, 0)  # a sign of life: the total is not known yet
    if not rows.read and not rejections.number:
        refuse("import_failed", "{name}: the file contains no examples.", name=path.name)
    return numbered


def _good(
    outcomes: Iterable[tableqa.Example | Rejected], rejections: Rejections
) -> Iterator[tableqa.Example]:
    for outcome in outcomes:
        if isinstance(outcome, Rejected):
            rejections.add(outcome)
        else:
            yield outcome


def _told(read: Reader, fields: Mapping[str, str]) -> Reader:
    """The reader with a person's own names of fields. Raises Refused where it knows its fields, or not these parts."""
    if not isinstance(read, Mapped):
        able = ", ".join(name for name, one in sorted(READERS.items()) if isinstance(one, Mapped))
        refuse(
            "import_failed",
            "The reader {name!r} has fixed field names. Readers with custom fields: {able}.",
            name=read.name,
            able=able,
        )
    try:
        return read.with_fields(fields)
    except ValueError as error:
        refuse_as("import_failed", sentence("{reason}.", {"reason": reason_of(error)}))


def with_split(
    read: Reader, split: str, path: Path, tables: Path | None, fields: Mapping[str, str]
) -> tuple[Reader, Mapping[str, str]]:
    """The reader and its fields for one split of a dataset, where one is chosen and the files have several. ReaderError."""
    if not split or not isinstance(read, Splitting):
        return read, fields
    read = read.with_split(split, path, tables)
    return read, read.fields if isinstance(read, OwnData) else fields


def check_fields(reader: str, fields: Mapping[str, str]) -> None:
    """Raises Refused(import_failed) where the reader cannot be told these names of fields."""
    if fields and reader in READERS:
        _told(READERS[reader], fields)


def discard(source: Source) -> None:
    """Remove what an import that did not finish left behind. Tables are shared by digest and stay."""
    if Source.objects.filter(pk=source.pk, ready_at__isnull=True).exists():
        with immutable.writable():
            Example.objects.filter(source=source).delete()
        Source.objects.filter(pk=source.pk, ready_at__isnull=True).delete()


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
) -> Job:
    """Import uploaded files in the background, or only check all their records: then they stay for the import.

    Raises Refused(import_failed) where bytes of them are missing.
    """
    for upload in filter(None, (questions, tables)):
        uploads.require_whole(upload)
    ids: dict[str, Any] = {
        "choices": asdict(choices or Choices()),
        "reader": reader,
        "questions": questions.pk,
        "tables": tables.pk if tables else None,
        **({"only_check": True} if only_check else {}),
    }
    return jobs.enqueue(project=project, kind="import", ids=ids, by=by, now=now)


def start_good_only(*, job: Job, by: Person, now: datetime) -> Job:
    """Import the good records of an import that was refused because of others, or of a check. Raises Refused."""
    if job.kind != "import" or not job.result.get("good"):
        refuse("import_failed", "This import has no records that can be imported.")
    good_only = bool(job.result.get("rejected"))
    ids = {**job.ids, "choices": {**job.ids["choices"], "good_only": good_only}}
    ids.pop("only_check", None)
    return jobs.enqueue(project=job.project, kind="import", ids=ids, by=by, now=now)


@jobs.kind("import")
def _run_import(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    sent = _uploads_of(job)
    with tempfile.TemporaryDirectory(prefix="askew-rest-") as folder:
        rest = Path(folder) / rest_name(sent["questions"].name, job.ids["reader"])
        try:
            if job.ids.get("only_check"):
                return {"good": _check_uploads(job, sent, rest, progress)}
            done = _import_uploads(job, sent, rest, progress)
        except Refused as refused:
            if "problems" in refused.more:
                result = {**refused.more, **_kept_rest(job, rest)}
                Job.objects.filter(pk=job.pk).update(result=result)
            raise
        rejected = {"rejected": done.rejected, **_kept_rest(job, rest)} if done.rejected else {}
    return {
        "source": done.source.public_id,
        "examples": done.examples,
        "tables": done.tables,
        "new": done.new,
        "numbered": list(done.numbered[:MOST_SHOWN]),
        **({"left_out": done.left_out} if done.left_out else {}),
        **({"read_as": done.read_as} if done.read_as else {}),
        "losses": list(losses_of(done.source)),
        **rejected,
    }


@jobs.afterwards("import")
def _forget_files(job: Job) -> None:
    """Delete the files of an import; those with problems stay for the choice to import the good records.

    Those of a check stay for the import.
    """
    if (
        not job.ids.get("only_check")
        and not Job.objects.filter(pk=job.pk, result__has_key="problems").exists()
    ):
        uploads.forget(_uploads_of(job).values())


def _uploads_of(job: Job) -> dict[str, Upload]:
    return {key: Upload.objects.get(pk=job.ids[key]) for key in ("questions", "tables") if job.ids.get(key)}


def rest_name(questions: str, reader: str) -> str:
    """What the file of the rejected records is called, by the form of the reader; else JSON Lines for JSON, and CSV."""
    name = Path(uploads.file_name(questions))
    read = READERS.get(reader)
    form = read.rest_form if isinstance(read, Tolerant) else ""
    suffix = ".jsonl" if name.suffix.lower() in (".json", ".jsonl", ".ndjson") else ".csv"
    return f"{name.stem}-rejected{FORMS.get(form, suffix)}"


def _kept_rest(job: Job, rest: Path) -> dict[str, str]:
    """The file of rejected records, kept for its download."""
    if not rest.is_file() or job.made_by is None:
        return {}
    with rest.open("rb") as file:
        upload = uploads.store(
            project=job.project, file=File(file), name=rest.name, by=job.made_by, now=timezone.now()
        )
    return {"rest": upload.public_id}


def _check_uploads(job: Job, sent: Mapping[str, Upload], rest: Path, progress: jobs.Progress) -> int:
    choices = _choices(job.ids)
    name = choices.name or Path(sent["questions"].name).stem[:LONGEST_NAME]
    with uploads.on_disk(sent["questions"], sent.get("tables")) as files:
        try:
            return check_examples(
                project=job.project,
                reader=job.ids["reader"],
                path=files.questions,
                tables=files.tables,
                choices=replace(choices, name=name),
                rest=rest,
                shown=files.shown,
                progress=progress,
            )
        except Refused as refused:
            refuse_as(refused.code, with_texts(refused.stored, files.shown), more=refused.more)


def _import_uploads(job: Job, sent: Mapping[str, Upload], rest: Path, progress: jobs.Progress) -> Imported:
    choices = _choices(job.ids)
    name = choices.name or Path(sent["questions"].name).stem[:LONGEST_NAME]
    if job.attempts > 1:
        # What an earlier attempt wrote, whose worker was lost, is in nobody's sight and in nobody's use.
        for left in Source.objects.filter(
            project=job.project,
            name=name.strip(),
            ready_at__isnull=True,
            made_by=job.made_by,
            started_at__gte=job.made_at,
        ):
            discard(left)
    with uploads.on_disk(sent["questions"], sent.get("tables")) as files:
        try:
            return import_examples(
                project=job.project,
                reader=job.ids["reader"],
                path=files.questions,
                tables=files.tables,
                name=name,
                split=choices.split,
                limit=choices.limit,
                fields=choices.fields,
                credit=choices.credit,
                good_only=choices.good_only,
                rest=rest,
                shown=files.shown,
                by=job.made_by,
                now=timezone.now(),
                progress=progress,
            )
        except Refused as refused:
            refuse_as(refused.code, with_texts(refused.stored, files.shown), more=refused.more)


def _choices(ids: Mapping[str, Any]) -> Choices:
    """The choices of a job."""
    return Choices(**{**ids["choices"], "credit": Credit(**ids["choices"]["credit"])})


# -- underneath -------------------------------------------------------------------------------------


class _Rows:
    """New examples on disk, as they will be written: each table once, at least until a thousand others came.

    The files are read once, and the memory does not grow with them.
    """

    def __init__(self) -> None:
        self.number = 0
        self.read = 0  # examples of the files, new or not
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 (see close)
        self._written: OrderedDict[str, None] = OrderedDict()

    def close(self) -> None:
        self._file.close()

    def add(self, example: tableqa.Example) -> None:
        digest = example.table.digest()
        row = [example.id, example.question, list(example.answers), example.beside(), digest]
        if digest not in self._written:
            row.append(json.dumps(example.table.to_dict()))
            self._written[digest] = None
            if len(self._written) > ROWS:
                self._written.popitem(last=False)
        self._file.write(json.dumps(row) + "\n")
        self.number += 1

    def chunks(self) -> Iterator[list[list[Any]]]:
        """All of them, `ROWS` at a time: [id, question, answers, what lies beside, digest, the table as JSON if new]."""
        self._file.seek(0)
        while lines := list(itertools.islice(self._file, ROWS)):
            yield [json.loads(line) for line in lines]


def _write(source: Source, rows: _Rows, progress: Callable[[int, int], None], by: Person | None) -> Imported:
    written, total = 0, rows.number
    progress(0, total)
    for chunk in rows.chunks():
        with transaction.atomic():
            tables = {row[4]: bulk.Json(row[5]) for row in chunk if len(row) > 5}
            bulk.add_missing(StoredTable, ["digest", "content"], sorted(tables.items()))
            digests = {row[4] for row in chunk}
            stored = dict(StoredTable.objects.filter(digest__in=digests).values_list("digest", "pk"))
            bulk.insert(
                Example,
                _FIELDS,
                (
                    (source.pk, id, written + at, question, answers, stored[digest], digest, more)
                    for at, (id, question, answers, more, digest, *_) in enumerate(chunk)
                ),
            )
        written += len(chunk)
        progress(written, total)
    with transaction.atomic():
        # One import of a project at a time becomes visible: an id stands once under a name.
        Project.objects.select_for_update().filter(pk=source.project_id).values_list("pk").first()
        others = Source.objects.ready().filter(project_id=source.project_id, name=source.name)
        ids = Example.objects.filter(source=source).values("external_id")
        if written != total or Example.objects.filter(source__in=others, external_id__in=ids).exists():
            refuse("import_failed", "Another import has just added some of these examples. Try again.")
        now = timezone.now()
        tables_count = Example.objects.filter(source=source).values("stored_table").distinct().count()
        try:
            Source.objects.filter(pk=source.pk).update(
                ready_at=now, examples_count=written, tables_count=tables_count
            )
        except IntegrityError:
            refuse("import_failed", "Another import has just added the same files.")
        events.log(source, "", "ready", by=by, now=now)
    source.refresh_from_db()
    return Imported(source, written, source.tables_count, new=True)


_FIELDS = (
    "source_id", "external_id", "position", "question", "answers", "stored_table_id", "table_digest", "more",
)  # fmt: skip


def _chunks(examples: Iterable[tableqa.Example]) -> Iterator[list[tableqa.Example]]:
    stream = iter(examples)
    while chunk := list(itertools.islice(stream, ROWS)):
        yield chunk


def checksum_of(files: Iterable[Path], limit: int | None, fields: Mapping[str, str]) -> str:
    """SHA-256 over the names and bytes of everything the reader reads, the limit, and the fields it was told."""
    whole = hashlib.sha256(f"limit {limit}\n".encode())
    for part, name in sorted(fields.items()):
        whole.update(f"{part}={name}\n".encode())
    for file in files:
        try:
            with file.open("rb") as stream:
                whole.update(f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
        except OSError as error:
            why = error.strerror or str(error)
            refuse(
                "import_failed",
                "{file} cannot be opened ({why}). Check the path and its permissions.",
                file=file,
                why=why,
            )
    return whole.hexdigest()


def _known(project: Project, name: str, chunk: Sequence[tableqa.Example]) -> dict[str, _Stored]:
    """What sources of this name already hold of these examples, by id."""
    rows = Example.objects.originals().filter(
        source__project=project,
        source__name=name,
        source__ready_at__isnull=False,
        external_id__in=[example.id for example in chunk],
    )
    return {
        external_id: (question, answers, table)
        for external_id, question, answers, table in rows.values_list(
            "external_id", "question", "answers", "table_digest"
        )
    }


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


def _compare(example: tableqa.Example, known: dict[str, _Stored], path: Path) -> None:
    if example.id not in known:
        return
    before = known[example.id]
    now = (example.question, list(example.answers), example.table.digest())
    for what, old, new in zip(("question", "answers", "table"), before, now, strict=True):
        if old != new:
            seen = "" if what == "table" else f": {old!r} before, {new!r} now"
            refuse(
                "import_failed",
                "{name}: example {id!r} was imported before with a different {what}{seen}. Import the "
                "changed file under another name (--name).",
                name=path.name,
                id=example.id,
                what=what,
                seen=seen,
            )


def losses_of(source: Source) -> tuple[str, ...]:
    """What the import of a source did not keep, by its first examples: messages for `gettext`."""
    originals = Example.objects.originals().filter(source=source).order_by("position")
    metas = (more.get("meta", {}) for more in originals.values_list("more", flat=True)[:MOST_FOR_LOSSES])
    return losses(source.reader, source.split, columns_of(metas))
