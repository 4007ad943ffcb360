"""Responses of another annotation tool into a project: previewed, then written whole or not at all.

An import makes a source of the examples (or uses one that is there), a task type by configuration where none of the project
fits, and a closed batch whose items have the responses. People become members who cannot sign in. Each response keeps its
time; the audit log has tool, digest of the file, id and time there. The preview does the same and rolls it back.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext

from annotation import jobs, sandbox, uploads
from annotation.help import helping
from annotation.journeys import assigning, defining, importing, labelled_elsewhere
from annotation.journeys.labelled_elsewhere import checks
from annotation.models import Batch, Job, Person, Project, Proposal, Source, Upload
from annotation.refusals import Refused, refuse, refuse_as
from annotation.transfer import mapping as mappings
from annotation.transfer.mapping import ImportMapping, Summary
from annotation.transfer.preview import Preview, as_stored, from_stored
from annotation.written_pages import Progress
from tableqa import Example
from tableqa.dataclass_json import from_json
from tableqa.language import reason_of
from tableqa.readers.ingestion import ReadRequest, ReadResult, Rows, checksum_of
from tableqa.readers.labels import Label
from tableqa.readers.mapped import checked
from tableqa.readers.reader import Credit, joined_credit
from tableqa.readers.rejections import Problem, one_sentence
from tableqa.responses import TOOLS
from tableqa.responses.export import CheckedTask
from tableqa.responses.reading import examples_of, read_responses
from tasks.contract import Proposed, TaskType, task_types

KIND: Final = "import_responses"
PREVIEW: Final = "preview_responses"
MOST_IN_PREVIEW: Final = 1_000
"""Responses of a file that its preview checks completely, within one transaction;"""
SAMPLE: Final = 500
"""of more, these."""
LONGEST_MODEL: Final = 200
LONGEST_URL: Final = 200
LONGEST_CITATION: Final = 5_000
SHOWN: Final = 3
"""Examples of a preview."""


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
    files: uploads.UploadedFiles | None = None,
    reading: sandbox.Reading = read_responses,
    progress: Progress = lambda done, total: None,
) -> Preview:
    """What an import would do; nothing is written. Raises Refused where the file cannot be read at all.

    most: of a file with more responses, only the first tasks (`SAMPLE` responses) are checked.
    """
    with uploads.room(files) as folder:
        preview, tasks = _read(project, path, tool, mapping, folder, files, reading, progress)
        if most is not None and preview.summary.responses > most:
            preview.is_sample, tasks = True, _first(tasks)
        with contextlib.suppress(_RolledBack), transaction.atomic():
            _import(preview, project, tasks, by, now)
            raise _RolledBack
        if preview.makes_source and TOOLS[tool].has_examples:
            preview.examples = _first_examples(preview.rows)
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
    files: uploads.UploadedFiles | None = None,
    reading: sandbox.Reading = read_responses,
    progress: Progress = lambda done, total: None,
    job: Job | None = None,
) -> Preview:
    """Import the responses of a file: all of them, or none. Raises Refused (import_failed) with the problems in `more`.

    job: gets its result with them.
    """
    with uploads.room(files) as folder:
        preview, tasks = _read(project, path, tool, mapping, folder, files, reading, progress)
        with transaction.atomic():
            _import(preview, project, tasks, by, now, progress)
            if preview.problems:
                number = len(preview.problems)
                refuse(
                    "import_failed",
                    "{problem} No responses were imported. Problems: {number}.",
                    problem=one_sentence(preview.problems[0]),
                    number=number,
                    more={"problems": [asdict(problem) for problem in preview.problems], "rejected": number},
                )
            if job is not None:
                jobs.store_result(job, _result(preview))
    return preview


# -- in the background ------------------------------------------------------------------------------


def start(
    *,
    project: Project,
    upload: Upload,
    tool: str,
    mapping: ImportMapping,
    by: Person,
    now: datetime,
    only_look: bool = False,
) -> Job:
    """Import the responses of an uploaded file in the background, or preview them. Raises Refused (import_failed)."""
    uploads.require_whole(upload)
    _require_tool(tool)
    # What a task type says of a response is stored as it reads.
    ids = {
        "upload": upload.pk,
        "tool": tool,
        "mapping": as_stored(mapping),
        "language": translation.get_language(),
    }
    return jobs.enqueue(project=project, kind=PREVIEW if only_look else KIND, ids=ids, by=by, now=now)


@jobs.kind(PREVIEW)
def _run_preview(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    looking = partial(look, most=MOST_IN_PREVIEW, progress=progress)
    return _run(job, looking, settings.PREVIEW_SECONDS).as_data()


@jobs.kind(KIND)
def _run_import(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    def read_or_written(done: int, total: int) -> None:
        (progress.beside_the_transaction if total else progress)(done, total)

    writing = partial(write, job=job, progress=read_or_written)
    try:
        return _result(_run(job, writing, settings.IMPORT_SECONDS))
    except Refused as refused:
        if "problems" in refused.more:
            Job.objects.filter(pk=job.pk).update(result=refused.more)
        raise


def _run(job: Job, action: Callable[..., Preview], seconds: int) -> Preview:
    upload = Upload.objects.get(pk=job.ids["upload"])
    with translation.override(job.ids.get("language")), uploads.for_sandbox(upload, None) as files:
        return action(
            project=job.project,
            path=files.questions,
            tool=job.ids["tool"],
            mapping=from_stored(job.ids["mapping"]),
            by=job.made_by,
            now=timezone.now(),
            files=files,
            reading=partial(sandbox.read, name=upload.name, task="read_responses", seconds=seconds),
        )


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
    project: Project,
    path: Path,
    tool: str,
    mapping: ImportMapping,
    folder: Path,
    files: uploads.UploadedFiles | None,
    reading: sandbox.Reading,
    progress: Progress,
) -> tuple[Preview, list[CheckedTask]]:
    """Read the file before any transaction: meanwhile nobody waits for a lock."""
    _require_tool(tool)
    try:
        checked(mapping.parts)
    except ValueError as error:
        refuse_as("import_failed", reason_of(error))
    mapping = replace(mapping, source=mapping.source or path.stem[: importing.LONGEST_NAME])
    existing = Source.objects.ready().filter(project=project, name=mapping.source).first()
    source = None if mapping.parts else existing
    request = ReadRequest(
        tool,
        str(path),
        str(folder / "rows.jsonl"),
        fields=dict(mapping.parts),
        chosen={"makes_examples": source is None and TOOLS[tool].has_examples},
        **(files.for_request() if files is not None else {}),
    )
    read = sandbox.refusing_faults(reading, request, lambda number: progress(number, 0))
    tasks = [from_json(CheckedTask, row) for page in Rows.read(Path(request.rows)) for row in page]
    summary = Summary()
    for task in tasks:
        summary.add(task)
    if not summary.responses:
        _refuse_without_responses(path.name, tool, summary, sum(task.predictions_count for task in tasks))
    preview = Preview(
        path.name, tool, summary, mapping, Path(request.rows), read, problems=list(read.problems)
    )
    if source is not None:
        preview.source, preview.licence, preview.makes_source = source, source.licence, False
    _complete(preview, path)
    _check_credit(preview)
    return preview, tasks


def _import(
    preview: Preview,
    project: Project,
    tasks: Sequence[CheckedTask],
    by: Person | None,
    now: datetime,
    progress: Progress = lambda done, total: None,
) -> None:
    # Two previews write the same rows; the second waits for the end of the first.
    Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk").first()
    task_type = _task_type(preview, project, tasks, by, now)
    if not preview.problems:
        _write(preview, project, tasks, task_type, by, now, progress)


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


def _first(tasks: Sequence[CheckedTask]) -> list[CheckedTask]:
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
        preview.problems.append(Problem(preview.file, None, "", refused.detail, ""))
    except ValidationError:
        what = gettext(
            "The URL must begin with https:// and have at most {url} characters, the citation {citation}."
        ).format(url=LONGEST_URL, citation=LONGEST_CITATION)
        preview.problems.append(Problem(preview.file, None, "", what, ""))


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
    preview: Preview, project: Project, tasks: Sequence[CheckedTask], by: Person | None, now: datetime
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
            preview.problems.append(Problem(preview.file, None, name, f"{name}: {what}", ""))
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
        preview.problems.append(Problem(preview.file, None, "", what, ""))
        return None
    return defining.define(project=project, name=key, data=data, by=by, now=now).task()


# -- writing ----------------------------------------------------------------------------------------


def _write(
    preview: Preview,
    project: Project,
    tasks: Sequence[CheckedTask],
    task_type: TaskType | None,
    by: Person | None,
    now: datetime,
    progress: Progress,
) -> None:
    assert task_type is not None, "what has no task type has a problem"  # nosec
    answered = [task for task in tasks if task.responses]
    if preview.makes_source and not TOOLS[preview.tool].has_examples:
        what = gettext(
            "The file has no questions and tables. Import the examples first, and enter the name of their source."
        )
        preview.problems.append(Problem(preview.file, None, "", what, ""))
        return
    source = preview.source or _source(preview, project, len(tasks), by, now)
    batch = assigning.plan_batch(
        project=project,
        task=task_type,
        name=preview.mapping.batch,
        sample=assigning.Sample(sources=[source], only=[task.example or task.id for task in answered]),
        terms={**preview.summary.terms, "overlap": max(1, preview.summary.most)},
        by=by,
        now=now,
    )
    assigning.open_batch(batch=batch, by=by, now=now)
    places = [response.place for task in answered for response in task.responses]
    report = checks.check(
        batch=batch,
        labels=_labels(preview, answered, source, task_type, now),
        name=preview.file,
        rows=preview.rows.with_suffix(".checked"),
        progress=lambda number: progress(number // 2, len(places)),
    )
    preview.imported, preview.items, preview.batch = report.new, report.items, batch
    for problem in report.problems:
        place = places[(problem.line or 1) - 1]
        what = f"{place.within}: {problem.what}" if place.within else problem.what
        preview.problems.append(Problem(place.file.name, place.line, "", what, ""))
    if not preview.problems:
        labelled_elsewhere.write_checked(batch=batch, checked=report, by=by, now=now, progress=progress)
        _write_proposals(preview, batch, {task.example or task.id: task for task in answered}, task_type, now)
        preview.left = sum(task.predictions_count for task in tasks) - preview.proposals
        assigning.close_batch(batch=batch, by=by, now=now)


def _write_proposals(
    preview: Preview, batch: Batch, by_example: Mapping[str, CheckedTask], task_type: TaskType, now: datetime
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


def _source(preview: Preview, project: Project, number: int, by: Person | None, now: datetime) -> Source:
    """A source of the examples of the first tasks, which the reader has laid on disk."""
    mapping, written = preview.mapping, examples_of(preview.rows)

    def first(request: ReadRequest, beat: Callable[[int], None]) -> ReadResult:
        with Rows.written(Path(request.rows)) as rows:
            for row in itertools.islice(itertools.chain.from_iterable(Rows.read(written)), number):
                rows.write(row)
        return replace(preview.read, checksum=checksum_of([Path(request.rows)], None, {}), number=rows.number)

    return importing.import_examples(
        project=project,
        reader="jsonl",
        path=Path(preview.file).with_suffix(".jsonl"),
        name=mapping.source,
        said={"responses": preview.file},
        credit=Credit(mapping.licence, mapping.citation, mapping.url),
        by=by,
        now=now,
        reading=first,
    ).source


def _first_examples(rows: Path) -> list[Example]:
    """The first examples that the reader has laid on disk."""
    tables: dict[str, Any] = {}
    examples = []
    for id, question, answers, beside, digest, *new in itertools.islice(
        itertools.chain.from_iterable(Rows.read(examples_of(rows))), SHOWN
    ):
        if new:
            tables[digest] = json.loads(new[0])
        examples.append(
            Example.from_dict(
                {**beside, "id": id, "question": question, "answers": answers, "table": tables[digest]}
            )
        )
    return examples


def _labels(
    preview: Preview, tasks: Sequence[CheckedTask], source: Source, task_type: TaskType, now: datetime
) -> Iterator[Label]:
    """The responses as labels, numbered from 1."""
    mapping, number = preview.mapping, 0
    targets = {one.name: one for one in task_type.fields}
    for task in tasks:
        for response in task.responses:
            number += 1
            at = _past(response.at, now)
            origin = {"tool": preview.tool, "file": preview.read.checksum, "id": response.id}
            if response.at:
                origin["at"] = response.at.isoformat()
            yield Label(
                number,
                mapping.people[response.person],
                response.is_simulated,
                task.example or task.id,
                source.name,
                [_data(mapping, targets, response.values)],
                at.isoformat() if at else None,
                origin,
                response.seconds,
            )


def _data(mapping: ImportMapping, targets: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the tool's fields as data of the task type."""
    return {
        target: mappings.value_for(targets[target], value, mapping.values.get(name, {}))
        for name, value in values.items()
        if (target := mapping.fields.get(name))
    }
