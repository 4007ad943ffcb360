"""Responses of another annotation tool into a project: previewed, then written whole or not at all.

An import creates a source of the examples (or uses one), a configured task type where none fits, and a closed batch
whose items have the responses. People become members who cannot sign in. Each response keeps its time; the audit log
has tool, digest of the file, id and time there. All of it is in hidden pages (`annotation.background.staged_pages`),
until one short transaction makes them visible. A preview removes its pages.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils import timezone, translation
from django.utils.translation import gettext

from annotation.assistance import impressions
from annotation.background import jobs, staged_pages, uploads
from annotation.background.staged_pages import HiddenPages
from annotation.imports import example_import
from annotation.imports import field_mapping as mappings
from annotation.imports.field_mapping import ImportMapping, Summary
from annotation.imports.label_import import checks
from annotation.imports.label_import import staging as label_pages
from annotation.imports.label_import.checks import CheckResult
from annotation.imports.response_preview import Preview
from annotation.models import Batch, Job, LabelImport, Person, Project, Proposal, Source, Upload
from annotation.platform import bulk_rows
from annotation.platform.refusals import ActionRefused, refuse, refuse_as
from annotation.queue import sampling
from annotation.workflow import batches
from annotation.workflow import task_types as workflow_task_types
from tableqa import Example
from tableqa.core.translation import joined, reason_of
from tableqa.data.typed_json import from_json, to_json
from tableqa.readers.column_names import USUAL
from tableqa.readers.ingestion import ReadRequest, ReadResult, Rows, checksum_of
from tableqa.readers.interface import Credit, ReaderError, Rejection, joined_credit
from tableqa.readers.labels import DUPLICATES, Label
from tableqa.readers.mapped_records import check_fields
from tableqa.readers.rejections import Rejections, one_sentence
from tableqa.readers.responses import TOOLS
from tableqa.readers.responses.tool_export import CheckedTask, GivenResponse, location, loss_in_words
from tableqa.readers.responses.validation import examples_of, read_responses, record_of
from tasks.contract import ProposedResponse, TaskType, task_types

KIND: Final = "import_responses"
PREVIEW: Final = "preview_responses"
MOST_IN_PREVIEW: Final = 1_000
"""Responses of a file that a job's preview checks completely;"""
SAMPLE: Final = 500
"""of more, these."""
LONGEST_MODEL: Final = 200
LONGEST_URL: Final = 200
LONGEST_CITATION: Final = 5_000
SHOWN: Final = 3
"""Examples of a preview."""


def write(
    *,
    project: Project,
    path: Path,
    tool: str,
    mapping: ImportMapping,
    by: Person | None,
    now: datetime,
    only_look: bool = False,
    rest: Path | None = None,
) -> Preview:
    """Import the responses of a file: all of them, or none. Raises ActionRefused (import_failed) with the problems in
    `more`.

    only_look: what an import would do; nothing is written, and problems are in the preview.
    rest: a file for responses and examples with a problem, as JSON Lines
    """
    with uploads.local_input(path, read_responses) as file, Rejections() as rejections:
        imported = _Import(project, file, tool, mapping, by, now, rejections, rest)
        return imported.preview_only() if only_look else imported.write()


look = partial(write, only_look=True)


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
    """Import the responses of an uploaded file in the background, or preview them. Raises ActionRefused (import_failed)."""
    uploads.require_whole(upload)
    _require_tool(tool)
    # What a task type says of a response is stored as it reads.
    language = translation.get_language()
    ids = {"upload": upload.pk, "tool": tool, "mapping": asdict(mapping), "language": language}
    return jobs.enqueue(project=project, kind=PREVIEW if only_look else KIND, ids=ids, by=by, now=now)


@jobs.kind(PREVIEW)
def _run_preview(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    seconds, beat = settings.PREVIEW_SECONDS, progress
    with uploads.input_of_job(job, "read_responses", seconds, beat) as file, Rejections() as rejections:
        return _of_job(job, file, rejections, None).preview_only(job).as_data()


@jobs.kind(KIND)
def _run_import(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    with (
        uploads.input_of_job(job, "read_responses", settings.IMPORT_SECONDS, progress) as file,
        uploads.rest_of_job(job, f"{file.path.stem}-rejected.jsonl") as rest,
        Rejections() as rejections,
    ):
        return _result(_of_job(job, file, rejections, rest).write(job))


def _of_job(job: Job, file: uploads.InputFile, rejections: Rejections, rest: Path | None) -> _Import:
    mapping, now = ImportMapping(**job.ids["mapping"]), timezone.now()
    return _Import(job.project, file, job.ids["tool"], mapping, job.made_by, now, rejections, rest)


jobs.afterwards(KIND)(uploads.tidy_up)


def _result(done: Preview) -> dict[str, Any]:
    assert done.batch is not None  # nosec
    return {
        "responses_in": done.batch.public_id,
        "responses": done.imported,
        "items": done.items,
        "people": len(done.people),
        "proposals": done.proposals,
        "losses": [f"{count} {what}" for count, what in done.losses],
        **({"rejected": done.rejected, **done.rest} if done.rejected else {}),
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
        counts = sorted(summary.losses.items())
        losses = [f"{loss_in_words(TOOLS[tool], key)} ({count})" for key, count in counts]
        refuse(
            "import_failed",
            "{name} has no responses that can be imported. Not read: {losses}. Choices, numbers, rankings "
            "and texts are read.",
            name=name,
            losses="; ".join(losses),
        )
    refuse("import_failed", "{name} has no responses. Export the tasks with their annotations.", name=name)


def _refuse_problems(preview: Preview) -> NoReturn:
    count = max(preview.rejected, len(preview.problems))
    good = {"good": preview.imported} if preview.imported else {}
    refuse(
        "import_failed",
        "{problem} No responses were imported. Problems: {number}.",
        problem=one_sentence(preview.problems[0]),
        number=count,
        more={"problems": to_json(list(preview.problems)), "rejected": count, **good},
    )


def _first(tasks: Sequence[CheckedTask]) -> list[CheckedTask]:
    """The first tasks, with `SAMPLE` responses or a few more."""
    before = itertools.accumulate((len(task.responses) for task in tasks), initial=0)
    return [task for task, count in zip(tasks, before, strict=False) if count < SAMPLE]


def _by_example(tasks: Sequence[CheckedTask]) -> dict[str, CheckedTask]:
    """The tasks with responses; those of one example, which a source lends, are one."""
    answered: dict[str, CheckedTask] = {}
    for task in tasks:
        if before := answered.get(id := task.example or task.id):
            responses = [*before.responses, *task.responses]
            task = replace(task, responses=responses, predictions=[*before.predictions, *task.predictions])
        if task.responses:
            answered[id] = task
    return answered


def known_task_types(project: Project) -> dict[str, TaskType]:
    """The task types that responses can be of: those of the project first, then the installed ones that make nothing."""
    defined = {name: row.task() for name, row in workflow_task_types.newest(project).items()}
    return defined | {key: task for key, task in task_types().items() if not task.making}


class _Import:
    """The responses of a file on their way into a project.

    They are read before any transaction: no lock is held meanwhile.

    source      the existing one that lends its examples; None where the file makes one
    rejections  responses with a problem, and `rest` the file for them and for what the reader rejected
    is_preview  examples without responses, of which there may be many, are not written
    """

    is_preview = False

    def __init__(
        self,
        project: Project,
        file: uploads.InputFile,
        tool: str,
        mapping: ImportMapping,
        by: Person | None,
        now: datetime,
        rejections: Rejections,
        rest: Path | None,
    ) -> None:
        """Raises ActionRefused where the file cannot be read at all."""
        _require_tool(tool)
        try:
            check_fields(mapping.parts, tuple(USUAL))
        except ValueError as error:
            refuse_as("import_failed", reason_of(error))
        self.project, self.file, self.by, self.now = project, file, by, now
        self.rejections, self.rest = rejections, rest
        name = file.path.name
        mapping = replace(mapping, source=mapping.source or file.path.stem[: example_import.LONGEST_NAME])
        existing = Source.objects.ready().filter(project=project, name=mapping.source).first()
        self.source = None if mapping.parts else existing
        has_examples = self.source is None and TOOLS[tool].has_examples
        options = {"chosen": {"makes_examples": has_examples}, "rest": f"{file.rows}.rest"}
        self.read = file.read(tool, fields=dict(mapping.parts), **options)
        rejections.include(Path(f"{file.rows}.rest"), self.read.rejected, self.read.problems)
        rows = (from_json(CheckedTask, row) for page in Rows.read(file.rows) for row in page)
        self.tasks = without_repeated(list(rows), mapping, rejections)
        summary = Summary()
        for task in self.tasks:
            summary.add(task)
        predictions = sum(task.predictions_count for task in self.tasks)
        if not summary.responses and (predictions or summary.losses or not rejections.number):
            _refuse_without_responses(name, tool, summary, predictions)
        self.preview = Preview(
            name,
            tool,
            summary,
            _complete_mapping(mapping, summary, f"{TOOLS[tool].title}: {file.path.stem}"),
            self.read.checksum,
            makes_source=self.source is None,
            licence=self.source.licence if self.source else "",
            examples=_first_examples(file.rows) if has_examples else (),
            report=self.read.report,
        )
        if problem := _problem_of_credit(self.preview.mapping):
            self.preview.add_problem(problem)

    def preview_only(self, job: Job | None = None) -> Preview:
        """What the import would do; nothing is written. A job checks only the first tasks of a large file."""
        self.is_preview = True
        if job is not None and self.preview.summary.responses > MOST_IN_PREVIEW:
            self.preview.is_sample, self.tasks = True, _first(self.tasks)
        with self._hidden_pages(job) as pages:
            self._write(pages)
            self.preview.add_rejected(self.rejections)
        return self.preview

    def write(self, job: Job | None = None) -> Preview:
        """Write all, or raise ActionRefused (import_failed) with the problems in `more`. job: gets its result with it."""
        with self._hidden_pages(job) as pages:
            written = self._write(pages)
            self.preview.add_rejected(self.rejections, self.rest)
            if written is None:
                _refuse_problems(self.preview)
            if job is not None and self.rest is not None and self.preview.rejected:
                self.preview.rest = uploads.kept_rest(job, self.rest)
            source, batch, labels = written
            staged = label_pages.begin(batch, labels, self.now)
            label_pages.stage(staged, labels, pages, self.now)
            with bulk_rows.large_cache(), pages.page():
                self._publish(source, batch, staged, labels)
                pages.progress(pages.total, pages.total)
                if job is not None:
                    jobs.store_result(job, _result(self.preview))
        return self.preview

    def _hidden_pages(self, job: Job | None) -> AbstractContextManager[HiddenPages]:
        """Pages of their own. They count tasks and items, then responses twice: checked, and written."""
        total = sum(len(task.responses) for task in self.tasks)
        return staged_pages.hidden_project(
            lambda done, records: self.file.progress(done * total // records, total),
            2 * (len(self.tasks) + total),
            job,
        )

    def _task_type(self, pages: HiddenPages) -> TaskType | None:
        """The task type of the batch, made from the file where the project has none that fits. None: see the problems."""
        preview, mapping, summary = self.preview, self.preview.mapping, self.preview.summary
        project_types = known_task_types(self.project)
        available = project_types | dict(task_types())
        columns = list(summary.columns.values())
        key = mapping.task_type or next(iter(summary.task_types), "")
        if not key and not mapping.fields and not mapping.values:
            fits = mappings.fitting(columns, project_types.values())
            key = fits.key if fits is not None else ""
        task: TaskType | None
        if key in available:
            task = available[key]
            fields = {**mappings.usual_fields(columns, task), **mapping.fields}
        else:
            key = key or mappings.name_of(Path(preview.file).stem, available)
            for prediction in (entry for task_ in self.tasks for entry in task_.predictions):
                for name in prediction.values.keys() & summary.columns.keys():
                    summary.columns[name].add_predicted(prediction.values[name])
            names: dict[str, str] = {}
            for column in columns:
                names[column.name] = mappings.name_of(column.name, names.values())
            if (carried := mappings.carried_definition(summary, mapping)) is not None:
                fields = {column.name: column.name for column in columns}
                task = self._define(pages, key, carried)
            else:
                fields = {**names, **mapping.fields}
                task = self._defined(pages, key, fields)
        preview.mapping = replace(mapping, task_type=key, fields=fields)
        if task is None:
            return None
        preview.targets, preview.is_new_type = [entry.name for entry in task.fields], key not in available
        for name, target in fields.items():
            if target and target not in preview.targets:
                what = gettext("The task type {task} has no field {target!r}. Its fields are: {fields}.")
                what = what.format(task=key, target=target, fields=", ".join(preview.targets))
                preview.add_problem(f"{name}: {what}", column=name)
        return task

    def _defined(self, pages: HiddenPages, key: str, fields: Mapping[str, str]) -> TaskType | None:
        """A task type made from the fields of the file; None where there is a problem."""
        preview, summary = self.preview, self.preview.summary
        title = f"{TOOLS[preview.tool].title}: {Path(preview.file).stem}"
        columns, values = summary.columns.values(), preview.mapping.values
        data = mappings.definition_of(title, columns, fields, values, summary.responses)
        if all(field_data.get("optional") for field_data in data["fields"]):
            preview.add_problem(
                gettext(
                    "No field has a value in every response. Choose a task type, or import them in parts."
                )
            )
            return None
        return self._define(pages, key, data)

    def _define(self, pages: HiddenPages, key: str, data: Mapping[str, Any]) -> TaskType:
        return workflow_task_types.define(
            project=pages.project, name=key, data=data, by=self.by, now=self.now
        ).task()

    def _write(self, pages: HiddenPages) -> tuple[Source, Batch, CheckResult] | None:
        """Write pages of examples, items and proposals, and check the responses; None: see the problems."""
        preview = self.preview
        if not preview.summary.responses:
            return None
        task_type = self._task_type(pages)
        if self.source is None and not TOOLS[preview.tool].has_examples and not preview.problems:
            preview.add_problem(
                gettext(
                    "The file has no questions and tables. Import the examples first, and enter the name of their source."
                )
            )
        if task_type is None or preview.problems:
            return None
        if not (answered := _by_example(self.tasks)):
            return None
        source = self.source or self._new_source(pages)
        batch = batches.plan_batch(
            project=self.project,
            task=task_type,
            name=preview.mapping.batch,
            sample=sampling.Sample(sources=[source], only=list(answered)),
            terms={
                **preview.summary.terms,
                "overlap": max(len(task.responses) for task in answered.values()),
            },
            by=self.by,
            now=self.now,
            pages=pages,
        )
        pairs = [(id, response) for id, task in answered.items() for response in task.responses]
        report = checks.check(
            batch=batch,
            labels=self._labels(answered.values(), source, task_type),
            rows=self.file.rows.with_suffix(".checked"),
            progress=lambda done: pages.progress(pages.done + done, pages.total),
            rejections=self.rejections,
            rejected=lambda label, what: rejected_response(*pairs[label.line - 1], what),
        )
        pages.done += len(pairs)
        preview.imported, preview.items = report.new, report.items
        if not report.new or (self.rejections.number and not preview.mapping.good_only):
            return None
        self._write_proposals(pages, batch, answered, task_type)
        preview.left = sum(task.predictions_count for task in self.tasks) - preview.proposals
        return source, batch, report

    def _publish(self, source: Source, batch: Batch, staged: LabelImport, labels: CheckResult) -> None:
        """Make all pages visible, in the caller's transaction: few statements, however many responses."""
        Project.objects.select_for_update(no_key=True).filter(pk=self.project.pk).values_list("pk").first()
        if source.ready_at is None:
            example_import.publish(source=source, project=self.project, by=self.by)
        used, row = batch.definition, None
        if used is not None:
            if self.preview.is_new_type and used.name not in workflow_task_types.newest(self.project):
                workflow_task_types.define(
                    project=self.project, name=used.name, data=used.data, by=self.by, now=self.now
                )
            row = workflow_task_types.newest(self.project)[used.name]
            if (row.number, row.data) != (used.number, used.data):
                label_pages.refuse_changed_definition()
        batches.publish_batch(batch=batch, definition=row, by=self.by, now=self.now)
        batches.open_batch(batch=batch, by=self.by, now=self.now)
        label_pages.publish(batch, staged, labels, self.by, self.now)
        batches.close_batch(batch=batch, by=self.by, now=self.now)
        self.preview.batch = batch

    def _write_proposals(
        self, pages: HiddenPages, batch: Batch, by_example: Mapping[str, CheckedTask], task_type: TaskType
    ) -> None:
        """Keep predictions of models that are responses of the task type, as proposals that were never shown."""
        preview, now = self.preview, self.now
        predicted = [id for id, task in by_example.items() if task.predictions]
        for ids in pages.in_pages(predicted):
            items = batch.items.filter(example__external_id__in=ids).order_by("pk")
            for item in items.select_related("batch", "example__stored_table"):
                for prediction in by_example[item.example.external_id].predictions:
                    data = _data(preview.mapping, task_type, prediction.values)
                    proposal = impressions.validate_proposal(
                        task_type, item.plain(), ProposedResponse(data, score=prediction.score)
                    )
                    if proposal is None:
                        continue
                    preview.proposals += 1
                    maker = (prediction.model or preview.tool)[:LONGEST_MODEL]
                    impressions.store_proposals(
                        item,
                        [proposal],
                        source=Proposal.Source.RULES if maker == impressions.RULES else Proposal.Source.MODEL,
                        maker=maker,
                        now=min(prediction.at or now, now),
                    )

    def _new_source(self, pages: HiddenPages) -> Source:
        """A source of the examples of the tasks, which the reader has laid on disk."""
        mapping, written = self.preview.mapping, Rows.read(examples_of(self.file.rows))

        def first(request: ReadRequest, beat: Callable[[int], None]) -> ReadResult:
            tables: dict[str, list[str]] = {}  # until an example that is written has them
            own = pages.project.slug if self.is_preview else ""  # tables of a preview are not shared
            example_ids = {task.example for task in self.tasks if task.responses or not self.is_preview}
            with Rows.written(Path(request.rows)) as rows:
                for row in itertools.chain.from_iterable(written):
                    tables.update({row[4]: row[5:]} if row[5:] else {})
                    if row[0] in example_ids:
                        rows.write([*row[:4], (own + row[4])[:64], *tables.pop(row[4], ())])
            return replace(
                self.read, checksum=checksum_of([Path(request.rows)], None, {}), number=rows.number
            )

        return example_import.import_examples(
            project=self.project,
            reader="jsonl",
            path=Path(self.preview.file).with_suffix(".jsonl"),
            name=mapping.source,
            declared_paths={"responses": self.preview.file},
            credit=Credit(mapping.licence, mapping.citation, mapping.url),
            by=self.by,
            now=self.now,
            reading=first,
            pages=pages,
        ).source

    def _labels(self, tasks: Iterable[CheckedTask], source: Source, task_type: TaskType) -> Iterator[Label]:
        """The responses as labels, numbered from 1."""
        mapping, latest = self.preview.mapping, self.now + timedelta(days=1)
        pairs = ((task, response) for task in tasks for response in task.responses)
        for position, (task, response) in enumerate(pairs, 1):
            at = response.at.isoformat() if response.at else None
            origin = {"tool": self.preview.tool, "file": self.read.checksum, "id": response.id}
            yield Label(
                position,
                mapping.people[response.person],
                response.is_simulated,
                task.example or task.id,
                source.name,
                [_data(mapping, task_type, response.values)],
                at if response.at and response.at < latest else None,  # not in the future
                {**origin, "at": at} if at else origin,
                response.seconds,
            )


def without_repeated(
    tasks: Iterable[CheckedTask], mapping: ImportMapping, rejections: Rejections
) -> list[CheckedTask]:
    """The tasks with one response of each person to an example: the first or the latest, where that is chosen.

    By their times where both have one, else by their order. Others are counted, or rejected where none is chosen.
    """
    tasks = [replace(task, responses=[*task.responses]) for task in tasks]
    earlier: dict[tuple[str, str], tuple[CheckedTask, GivenResponse]] = {}
    for task in tasks:
        for response in tuple(task.responses):
            key = task.example or task.id, mapping.people.get(response.person) or response.person
            if key not in earlier:
                earlier[key] = task, response
                continue
            other_task, other = earlier[key]
            is_later = not (response.at and other.at) or response.at >= other.at
            if mapping.duplicates == DUPLICATES[0]:
                what = gettext(
                    "{person} already has a response to this example ({earlier}). To import one of them, "
                    "choose the first or the latest (duplicates)."
                ).format(person=key[1], earlier=location(other_task.id, other.id, other.person))
                rejections.add(rejected_response(task.id, response, what))
            else:
                task.losses.append("repeated")
            if mapping.duplicates == DUPLICATES[0] or is_later == (mapping.duplicates == "first"):
                task.responses.remove(response)
            else:
                other_task.responses.remove(other)
                earlier[key] = task, response
    return tasks


def rejected_response(task: str, response: GivenResponse, what: str) -> Rejection:
    """A response with a problem: what is wrong, in whole sentences."""
    what = joined([location(task, response.id, response.person), what], by=": ")
    error = ReaderError(response.place.file.name, response.place.line, what, "")
    return Rejection(error, record_of(task, response))


def _problem_of_credit(mapping: ImportMapping) -> str:
    """What is wrong with a URL, licence or citation that a source cannot have; else empty."""
    try:
        example_import.check_licence(mapping.licence)
        if mapping.url:
            URLValidator(schemes=("http", "https"))(mapping.url)
        if len(mapping.url) > LONGEST_URL or len(mapping.citation) > LONGEST_CITATION:
            raise ValidationError("too long")
    except ActionRefused as refused:
        return refused.detail
    except ValidationError:
        what = gettext(
            "The URL must begin with https:// and have at most {url} characters, the citation {citation}."
        )
        return what.format(url=LONGEST_URL, citation=LONGEST_CITATION)
    return ""


def _complete_mapping(mapping: ImportMapping, summary: Summary, title: str) -> ImportMapping:
    """The mapping with people, batch and the credit that the file states."""
    stated = joined_credit(summary.credits)
    return replace(
        mapping,
        people={name: mapping.people.get(name) or name or mappings.UNNAMED for name in summary.people},
        batch=mapping.batch or title[: batches.LONGEST_NAME],
        licence=mapping.licence or ("" if stated.licence == "NOASSERTION" else stated.licence),
        citation=mapping.citation or stated.citation,
        url=mapping.url or stated.url,
    )


def _first_examples(rows: Path) -> list[Example]:
    """The first examples that the reader has laid on disk."""
    tables: dict[str, Any] = {}
    examples = []
    first = itertools.islice(itertools.chain.from_iterable(Rows.read(examples_of(rows))), SHOWN)
    for id, question, answers, beside, digest, *new in first:
        if new:
            tables[digest] = json.loads(new[0])
        parts = {"id": id, "question": question, "answers": answers, "table": tables[digest]}
        examples.append(Example.from_dict({**beside, **parts}))
    return examples


def _data(mapping: ImportMapping, task_type: TaskType, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the tool's fields as data of the task type."""
    targets = {task_field.name: task_field for task_field in task_type.fields}
    return {
        target: mappings.value_for(targets[target], value, mapping.values.get(name, {}))
        for name, value in values.items()
        if (target := mapping.fields.get(name))
    }
