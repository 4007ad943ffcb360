"""Responses of another annotation tool into a project: previewed, then written whole or not at all.

An import makes a source of the examples (or uses one that is there), a task type by configuration where none of the project
fits, and a closed batch whose items have the responses. People become members who cannot sign in. Each response keeps its
time; the audit log has tool, digest of the file, id and time there. The preview does the same and rolls it back.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NoReturn

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotation import jobs, uploads
from annotation.help import helping
from annotation.journeys import assigning, defining, importing, labelled_elsewhere
from annotation.models import Batch, Job, Person, Project, Proposal, Source, Upload
from annotation.refusals import Refused, refuse, refuse_as
from annotation.transfer import mapping as mappings
from annotation.transfer.mapping import ImportMapping, Summary
from tableqa import Example
from tableqa.canonical import file_digest
from tableqa.foreign_values import NAMES, normal, printable, printable_in, unstorable
from tableqa.language import phrase, reason_of
from tableqa.readers.mapped import checked, mapped_example
from tableqa.readers.reader import Credit, Names, ReaderError, joined_credit
from tableqa.readers.rejections import described, one_sentence
from tableqa.responses import TOOLS, Task
from tasks.contract import Proposed, TaskType, task_types

MOST_PROBLEMS: Final = 100
KIND: Final = "import_responses"
OPTIONS: Final = ("choice", "multi_choice", "rank")
"""Natures of fields whose values are options: an accent has one spelling there."""
SAMPLE: Final = 500
"""Responses of a large file that its preview checks."""
LONGEST_MODEL: Final = 200
LONGEST_URL: Final = 200
LONGEST_CITATION: Final = 5_000
_MEND: Final = phrase("Correct it")
Progress = Callable[[int, int], None]
_COLUMNS: Final = labelled_elsewhere.Columns(made_at="made_at", origin="origin", seconds="active_seconds")
_HEADER: Final = (
    "example",
    "annotator",
    "simulated",
    "source",
    "made_at",
    "origin",
    "active_seconds",
    "response",
)


@dataclass(frozen=True)
class Problem:
    """What is wrong with a record, and what to do about it. `line` 0: the file as a whole."""

    file: str
    line: int
    what: str

    def as_data(self) -> dict[str, Any]:
        """The problem as JSON, in the form of other imports."""
        return {"file": self.file, "line": self.line or None, "column": "", "what": self.what, "fix": ""}

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


@dataclass
class Preview:
    """What an import does. It is written only where `problems` is empty.

    mapping     complete: what was guessed is filled in
    is_new_type the task type is made from the file
    targets     the fields of the task type
    imported    number of responses that are new
    proposals   number of predictions of models that become proposals
    left        number of predictions that become none
    licence     of the existing source that lends its examples
    is_sample   only the first tasks of a large file were checked
    """

    file: str
    tool: str
    digest: str
    summary: Summary
    mapping: ImportMapping
    task_title: str = ""
    is_new_type: bool = False
    targets: tuple[str, ...] = ()
    examples: list[Example] = field(default_factory=list)
    makes_source: bool = True
    licence: str = ""
    is_sample: bool = False
    imported: int = 0
    proposals: int = 0
    left: int = 0
    items: int = 0
    problems: list[Problem] = field(default_factory=list)
    batch: Batch | None = None

    @property
    def losses(self) -> list[tuple[int, str]]:
        """Number and kind of what the file has and the import does not bring in, as words."""
        of_tool = TOOLS[self.tool].losses
        counted = [(number, gettext(of_tool[key])) for key, number in sorted(self.summary.losses.items())]
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
        return [(name, self.mapping.people[name], number) for name, number in counts]


class _RolledBack(Exception):
    """Ends a preview."""


def look(
    *,
    project: Project,
    path: Path,
    tool: str,
    mapping: ImportMapping,
    by: Person | None,
    now: datetime,
    most: int | None = None,
) -> Preview:
    """What an import would do; nothing is written. Raises Refused where the file cannot be read at all.

    most: of a file with more responses, only the first tasks (`SAMPLE` responses) are checked.
    """
    preview, tasks = _read(path, tool, mapping, most)
    with contextlib.suppress(_RolledBack), transaction.atomic():
        _import(preview, project, path, tasks, by, now)
        raise _RolledBack
    preview.batch = None
    return preview


def write(
    *,
    project: Project,
    path: Path,
    tool: str,
    mapping: ImportMapping,
    by: Person | None,
    now: datetime,
    progress: Progress = lambda done, total: None,
    job: Job | None = None,
) -> Preview:
    """Import the responses of a file: all of them, or none. Raises Refused (import_failed) with the problems in `more`.

    job: gets its result with them.
    """
    preview, tasks = _read(path, tool, mapping)
    with transaction.atomic():
        _import(preview, project, path, tasks, by, now, progress)
        if preview.problems:
            number = len(preview.problems)
            refuse(
                "import_failed",
                "{problem} No responses were imported. Problems: {number}.",
                problem=str(preview.problems[0]),
                number=number,
                more={"problems": [problem.as_data() for problem in preview.problems], "rejected": number},
            )
        if job is not None:
            jobs.store_result(job, _result(preview))
    return preview


# -- in the background ------------------------------------------------------------------------------


def start(
    *, project: Project, upload: Upload, tool: str, mapping: ImportMapping, by: Person, now: datetime
) -> Job:
    """Import the responses of an uploaded file in the background. Raises Refused (import_failed)."""
    uploads.require_whole(upload)
    _require_tool(tool)
    # Erasing replaces names in values; keys stay.
    stored = {**asdict(mapping), "people": list(mapping.people.items())}
    ids = {"upload": upload.pk, "tool": tool, "mapping": stored}
    return jobs.enqueue(project=project, kind=KIND, ids=ids, by=by, now=now)


@jobs.kind(KIND)
def _run_import(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    upload, mapping = Upload.objects.get(pk=job.ids["upload"]), job.ids["mapping"]
    with uploads.on_disk(upload) as files:
        try:
            done = write(
                project=job.project,
                path=files.questions,
                tool=job.ids["tool"],
                mapping=ImportMapping(**{**mapping, "people": dict(mapping["people"])}),
                by=job.made_by,
                now=timezone.now(),
                progress=progress.beside_the_transaction,
                job=job,
            )
        except Refused as refused:
            if "problems" in refused.more:
                Job.objects.filter(pk=job.pk).update(result=refused.more)
            refuse(refused.code, files.shown(refused.detail), more=refused.more)
    return _result(done)


jobs.afterwards(KIND)(uploads.forget_if_done)


def _result(done: Preview) -> dict[str, Any]:
    assert done.batch is not None  # nosec
    return {
        "responses_in": done.batch.public_id,
        "responses": done.imported,
        "items": done.items,
        "people": len(done.people),
        "proposals": done.proposals,
        "losses": [f"{number} {what}" for number, what in done.losses],
    }


# -- reading ----------------------------------------------------------------------------------------


def _require_tool(tool: str) -> None:
    if tool not in TOOLS:
        refuse(
            "import_failed",
            "There is no tool {tool!r}. Available: {tools}.",
            tool=tool,
            tools=", ".join(sorted(TOOLS)),
        )


def _read(
    path: Path, tool: str, mapping: ImportMapping, most: int | None = None
) -> tuple[Preview, Sequence[Task]]:
    """Parse the file, before any transaction: meanwhile nobody waits for a lock."""
    _require_tool(tool)
    try:
        checked(mapping.parts)
        tasks = list(TOOLS[tool].tasks(path))
    except ReaderError as error:
        refuse_as("import_failed", one_sentence(described(error)))
    except ValueError as error:
        refuse_as("import_failed", reason_of(error))
    problems: list[Problem] = []
    tasks = [_storable(task, problems) for task in tasks]
    summary = Summary()
    for task in tasks:
        summary.add(task)
    if not summary.responses:
        _refuse_without_responses(path.name, tool, summary, sum(task.predictions_count for task in tasks))
    preview = Preview(path.name, tool, _digest(path), summary, mapping, problems=problems)
    _complete(preview, path)
    if most is not None and summary.responses > most:
        preview.is_sample, tasks = True, _first(tasks)
    _check_credit(preview)
    return preview, tasks


def _storable(task: Task, problems: list[Problem]) -> Task:
    """The task with names and options in normal form. What cannot be stored is noted as a problem, and escaped."""
    responses = []
    for given in task.responses:
        values = {
            name: normal(value) if given.natures.get(name) in OPTIONS else value
            for name, value in given.values.items()
        }
        if (reason := unstorable([given.id, values])) or (reason := unstorable(given.person, NAMES)):
            _tell(problems, given.place.error(phrase("the response contains {reason}", reason=reason), _MEND))
            values = printable_in(values)
        person = normal(printable(given.person))
        responses.append(replace(given, person=person, id=printable(given.id), values=values))
    about = [task.id, task.task_type, task.terms, task.definition, *(one.model for one in task.predictions)]
    if reason := unstorable(about):
        _tell(problems, task.data.place.error(phrase("the task contains {reason}", reason=reason), _MEND))
        terms, definition = printable_in(task.terms), printable_in(task.definition)
        task = replace(task, task_type="", terms=terms, definition=definition, predictions=())
    return replace(task, responses=tuple(responses))


def _import(
    preview: Preview,
    project: Project,
    path: Path,
    tasks: Sequence[Task],
    by: Person | None,
    now: datetime,
    progress: Progress = lambda done, total: None,
) -> None:
    # Two previews write the same rows; the second waits for the end of the first.
    Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk").first()
    task_type = _task_type(preview, project, tasks, by, now)
    if not preview.problems:
        _write(preview, project, path, tasks, task_type, by, now, progress)


def _refuse_without_responses(name: str, tool: str, summary: Summary, predictions: int) -> NoReturn:
    """Say what the file has instead of responses, and what to do."""
    if predictions:
        refuse(
            "import_failed",
            "{name} has predictions of models, but no responses of people (tasks: {number}). To keep the "
            "predictions in the meta of the examples, use the page Import examples. To make them proposals, "
            "export tasks that have annotations.",
            name=name,
            number=summary.tasks,
        )
    if summary.losses:
        of_tool = TOOLS[tool].losses
        refuse(
            "import_failed",
            "{name} has no responses that can be imported. Not read: {losses}. Choices, numbers, rankings "
            "and texts are read.",
            name=name,
            losses="; ".join(
                f"{gettext(of_tool[key])} ({summary.losses[key]})" for key in sorted(summary.losses)
            ),
        )
    refuse("import_failed", "{name} has no responses. Export the tasks with their annotations.", name=name)


def _first(tasks: Sequence[Task]) -> list[Task]:
    """The first tasks, with `SAMPLE` responses or a few more."""
    sample, number = [], 0
    for task in tasks:
        if number >= SAMPLE:
            break
        sample.append(task)
        number += len(task.responses)
    return sample


def _check_credit(preview: Preview) -> None:
    """Note a URL, licence or citation that a source cannot have."""
    mapping = preview.mapping
    try:
        importing.check_licence(mapping.licence)
        if mapping.url:
            URLValidator(schemes=("http", "https"))(mapping.url)
        if len(mapping.url) > LONGEST_URL or len(mapping.citation) > LONGEST_CITATION:
            raise ValidationError("too long")
    except Refused as refused:
        preview.problems.append(Problem(preview.file, 0, refused.detail))
    except ValidationError:
        what = gettext(
            "The URL must begin with https:// and have at most {url} characters, the citation {citation}."
        ).format(url=LONGEST_URL, citation=LONGEST_CITATION)
        preview.problems.append(Problem(preview.file, 0, what))


def _digest(path: Path) -> str:
    """SHA-256 of a file; of a folder, that of the digests of its files with their names."""
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file())
        lines = [f"{_digest(one)}  {one.relative_to(path).as_posix()}\n" for one in files]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return file_digest(path)


# -- what was not said ------------------------------------------------------------------------------


def _complete(preview: Preview, path: Path) -> None:
    """Fill in people, source and batch, and the credit that the file states."""
    given, title = preview.mapping, TOOLS[preview.tool].title
    people = {name: given.people.get(name) or name or mappings.UNNAMED for name in preview.summary.people}
    batch = given.batch or f"{title}: {path.stem}"[: assigning.LONGEST_NAME]
    source = given.source or path.stem[: importing.LONGEST_NAME]
    stated = joined_credit(preview.summary.credits)
    credit = {
        "licence": given.licence or ("" if stated.licence == "NOASSERTION" else stated.licence),
        "citation": given.citation or stated.citation,
        "url": given.url or stated.url,
    }
    completed = {"people": people, "batch": batch, "source": source, **credit}
    preview.mapping = ImportMapping(**{**asdict(given), **completed})


def known_task_types(project: Project) -> dict[str, TaskType]:
    """The task types that responses can be of: those of the project first, then the installed ones that make nothing."""
    defined = {name: row.task() for name, row in defining.newest(project).items()}
    return defined | {key: task for key, task in task_types().items() if not task.making}


def _task_type(
    preview: Preview, project: Project, tasks: Sequence[Task], by: Person | None, now: datetime
) -> TaskType | None:
    """The task type of the batch, made from the file where the project has none that fits. None: see the problems."""
    given, summary = preview.mapping, preview.summary
    available = known_task_types(project) | dict(task_types())
    columns = list(summary.columns.values())
    key = given.task_type or next(iter(summary.task_types), "")
    if not key and not given.fields and not given.values:
        fits = mappings.fitting(columns, known_task_types(project).values())
        key = fits.key if fits is not None else ""
    task: TaskType | None
    if key in available:
        task = available[key]
        fields = {**mappings.usual_fields(columns, task), **given.fields}
    else:
        key = key or mappings.name_of(Path(preview.file).stem, available)
        for prediction in (one for task_ in tasks for one in task_.predictions):
            for name in prediction.values.keys() & summary.columns.keys():
                summary.columns[name].add_predicted(prediction.values[name])
        names: dict[str, str] = {}
        for column in columns:
            names[column.name] = mappings.name_of(column.name, names.values())
        if (carried := mappings.carried_definition(summary, given)) is not None:
            fields = {column.name: column.name for column in columns}
            task = defining.define(project=project, name=key, data=carried, by=by, now=now).task()
        else:
            fields = {**names, **given.fields}
            task = _defined(preview, project, key, fields, by, now)
    preview.mapping = ImportMapping(**{**asdict(given), "task_type": key, "fields": fields})
    if task is None:
        return None
    preview.task_title, preview.targets = task.title, tuple(one.name for one in task.fields)
    preview.is_new_type = key not in available
    for name, target in fields.items():
        if target and target not in preview.targets:
            what = gettext("The task type {task} has no field {target!r}. Its fields are: {fields}.").format(
                task=key, target=target, fields=", ".join(preview.targets)
            )
            preview.problems.append(Problem(preview.file, 0, f"{name}: {what}"))
    return task


def _defined(
    preview: Preview,
    project: Project,
    key: str,
    fields: Mapping[str, str],
    by: Person | None,
    now: datetime,
) -> TaskType | None:
    columns = preview.summary.columns.values()
    title = f"{TOOLS[preview.tool].title}: {Path(preview.file).stem}"
    data = mappings.definition_of(title, columns, fields, preview.mapping.values, preview.summary.responses)
    if all(one.get("optional") for one in data["fields"]):
        what = gettext("No field has a value in every response. Choose a task type, or import them in parts.")
        preview.problems.append(Problem(preview.file, 0, what))
        return None
    return defining.define(project=project, name=key, data=data, by=by, now=now).task()


# -- writing ----------------------------------------------------------------------------------------


def _write(
    preview: Preview,
    project: Project,
    path: Path,
    tasks: Sequence[Task],
    task_type: TaskType | None,
    by: Person | None,
    now: datetime,
    progress: Progress,
) -> None:
    assert task_type is not None, "what has no task type has a problem"  # nosec
    existing = Source.objects.ready().filter(project=project, name=preview.mapping.source).first()
    preview.makes_source = existing is None or bool(preview.mapping.parts)
    if existing is not None and not preview.makes_source:
        preview.licence = existing.licence
    answered = [task for task in tasks if task.responses]
    if preview.makes_source and not TOOLS[preview.tool].has_examples:
        what = gettext(
            "The file has no questions and tables. Import the examples first, and enter the name of their source."
        )
        preview.problems.append(Problem(preview.file, 0, what))
        return
    if preview.makes_source:
        source, ids = _source(preview, project, path, tasks, by, now)
    else:
        assert existing is not None  # nosec
        source, ids = existing, {task.id: task.id for task in answered}
    if preview.problems:
        return
    batch = assigning.plan_batch(
        project=project,
        task=task_type,
        name=preview.mapping.batch,
        sample=assigning.Sample(sources=[source], only=[ids[task.id] for task in answered]),
        terms={**preview.summary.terms, "overlap": max(1, preview.summary.most)},
        by=by,
        now=now,
    )
    assigning.open_batch(batch=batch, by=by, now=now)
    places = {number: one.place for number, one in enumerate((r for t in answered for r in t.responses), 1)}
    rows = _counted(_rows(preview, answered, ids, source, task_type, now), len(places), progress)
    report = labelled_elsewhere.look_at_rows(batch=batch, rows=rows, header=_HEADER, columns=_COLUMNS)
    preview.imported, preview.items, preview.batch = len(report.labels), report.items, batch
    for trouble in report.troubles[: MOST_PROBLEMS - len(preview.problems)]:
        place = places[trouble.line]
        what = f"{place.within}: {trouble.message}" if place.within else trouble.message
        preview.problems.append(Problem(place.file.name, place.line, what))
    if not preview.problems:
        labelled_elsewhere.write_found(batch=batch, found=report, by=by, now=now)
        _write_proposals(preview, batch, {ids[task.id]: task for task in answered}, task_type, now)
        preview.left = sum(task.predictions_count for task in tasks) - preview.proposals
        assigning.close_batch(batch=batch, by=by, now=now)


def _write_proposals(
    preview: Preview, batch: Batch, by_example: Mapping[str, Task], task_type: TaskType, now: datetime
) -> None:
    """Keep predictions of models that are responses of the task type, as proposals that nobody was shown."""
    targets = {one.name: one for one in task_type.fields}
    predicted = [id for id, task in by_example.items() if task.predictions]
    items = batch.items.filter(example__external_id__in=predicted)
    for item in items.select_related("batch__project", "example__stored_table").iterator(500):
        for prediction in by_example[item.example.external_id].predictions:
            data = _data(preview.mapping, targets, prediction.values)
            proposal = helping.hold(task_type, item.plain(), Proposed(data, score=prediction.score))
            if proposal is None:
                continue
            preview.proposals += 1
            maker = (prediction.model or preview.tool)[:LONGEST_MODEL]
            helping.keep(
                item,
                [proposal],
                source=Proposal.Source.RULES if maker == helping.RULES else Proposal.Source.MODEL,
                maker=maker,
                now=min(prediction.at or now, now),
            )


def _past(at: datetime | None, now: datetime) -> datetime | None:
    """A time of a file; None where it is none, or in the future."""
    return at if at and at < now + timedelta(days=1) else None


def _counted(
    rows: Iterator[tuple[int, dict[str, str]]], total: int, progress: Progress
) -> Iterator[tuple[int, dict[str, str]]]:
    for number, row in rows:
        progress(number, total)
        yield number, row


def _source(
    preview: Preview,
    project: Project,
    path: Path,
    tasks: Sequence[Task],
    by: Person | None,
    now: datetime,
) -> tuple[Source, dict[str, str]]:
    """A source of the examples of all tasks, and the ids of its examples by those of the tasks."""
    names, ids = Names(), {}
    with tempfile.TemporaryDirectory(prefix="askew-responses-") as folder:
        written = Path(folder) / f"{path.stem}.jsonl"
        with written.open("w", encoding="utf-8") as file:
            for number, task in enumerate(tasks, 1):
                try:
                    example = mapped_example(task.data, preview.mapping.parts, names, number, task.beside)
                except ReaderError as error:
                    _tell(preview.problems, error)
                    continue
                ids[task.id] = example.id
                if len(preview.examples) < 3:
                    preview.examples.append(example)
                file.write(json.dumps(_as_line(example), ensure_ascii=False) + "\n")
        if preview.problems:
            return Source(), ids
        imported = importing.import_examples(
            project=project,
            reader="jsonl",
            path=written,
            name=preview.mapping.source,
            said={"responses": path.name},
            credit=Credit(preview.mapping.licence, preview.mapping.citation, preview.mapping.url),
            by=by,
            now=now,
        )
    return imported.source, ids


def _as_line(example: Example) -> dict[str, Any]:
    """An example in the form of the reader "jsonl", which counts rows and columns itself."""
    table = example.table.to_wire()
    read_keys = ("header", "rows", "title", "caption", "header_rows", "spans")
    return {**example.to_dict(), "table": {name: table[name] for name in read_keys if name in table}}


def _tell(problems: list[Problem], error: ReaderError) -> None:
    if len(problems) < MOST_PROBLEMS:
        problem = described(error)
        what = phrase("{what}. {fix}.", what=problem.what, fix=problem.fix).shown()
        problems.append(Problem(Path(problem.file).name, error.line or 0, what))


def _rows(
    preview: Preview,
    tasks: Sequence[Task],
    ids: Mapping[str, str],
    source: Source,
    task_type: TaskType,
    now: datetime,
) -> Iterator[tuple[int, dict[str, str]]]:
    """The responses as rows of `labelled_elsewhere`, numbered from 1."""
    mapping, number = preview.mapping, 0
    targets = {one.name: one for one in task_type.fields}
    for task in tasks:
        for response in task.responses:
            number += 1
            data = _data(mapping, targets, response.values)
            at = _past(response.at, now)
            origin = {"tool": preview.tool, "file": preview.digest, "id": response.id}
            if response.at:
                origin["at"] = response.at.isoformat()
            yield (
                number,
                {
                    "example": ids[task.id],
                    "annotator": mapping.people[response.person],
                    "simulated": "true" if response.is_simulated else "",
                    "source": source.name,
                    "made_at": at.isoformat() if at else "",
                    "origin": json.dumps(origin),
                    "active_seconds": repr(response.seconds),
                    "response": json.dumps(data),
                },
            )


def _data(mapping: ImportMapping, targets: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the tool's fields as data of the task type."""
    return {
        target: mappings.value_for(targets[target], value, mapping.values.get(name, {}))
        for name, value in values.items()
        if (target := mapping.fields.get(name))
    }
