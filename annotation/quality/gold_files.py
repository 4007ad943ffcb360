"""Gold answers from a file: read in its own process, previewed, then written whole or not at all.

The file is JSONL with {"example", "response", "why"}, or CSV with these columns. `response` is the `data` of a response as
JSON. In a CSV the columns may also be the fields of the task type by name, where these are texts, choices, several choices
or lines (one a line), or yes and no.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone, translation

from annotation.background import jobs, uploads
from annotation.background.staged_pages import Pages
from annotation.models import Batch, Example, Gold, Job, Person, Upload
from annotation.platform.refusals import ActionRefused, refuse, refuse_as
from annotation.quality import gold
from tableqa.data.typed_json import to_json
from tableqa.readers.gold_answers import GoldAnswer
from tableqa.readers.ingestion import Rows
from tableqa.readers.rejections import MOST_DESCRIBED, Problem, one_sentence
from tasks.contract import InvalidResponse, from_lines

KIND: Final = "import_gold"
PREVIEW: Final = "preview_gold"
YES: Final = ("1", "true", "yes")
NO: Final = ("", "0", "false", "no")
"""What cells of flags may hold, in small or capital letters."""
AT_ONCE: Final = 50
"""Lines that are checked in one transaction."""


def start(*, batch: Batch, upload: Upload, by: Person, now: datetime, only_look: bool = False) -> Job:
    """Import the gold answers of an uploaded file in the background, or preview them. Raises ActionRefused."""
    uploads.require_whole(upload)
    gold.require_open(batch)
    # What a task type says of a response is stored as it reads.
    ids = {"batch": batch.pk, "upload": upload.pk, "language": translation.get_language()}
    return jobs.enqueue(project=batch.project, kind=PREVIEW if only_look else KIND, ids=ids, by=by, now=now)


@jobs.kind(PREVIEW)
@jobs.kind(KIND)
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    batch = Batch.objects.select_related("project").get(pk=job.ids["batch"])
    seconds = settings.PREVIEW_SECONDS if job.kind == PREVIEW else settings.IMPORT_SECONDS
    with uploads.input_of_job(job, "read_gold", seconds, progress) as file:
        return write(batch=batch, file=file, by=job.made_by, now=timezone.now(), job=job)


def write(
    *, batch: Batch, file: uploads.InputFile, by: Person | None, now: datetime, job: Job | None = None
) -> dict[str, Any]:
    """Mark the example of every line as gold, or of none: then ActionRefused (import_failed) has the problems in `more`.

    job: gets its result in the same transaction. The result of a preview has the problems, and nothing is written.
    """
    kinds = {field.name: field.kind for field in batch.task().fields}
    columns = [name for name, kind in kinds.items() if kind not in ("operations", "cells", "json")]
    read = file.read("gold", chosen={"columns": columns})
    if not read.number and not read.rejected:
        refuse("import_failed", "The file contains no gold answers.")
    if read.number > gold.MOST_ROWS:
        refuse(
            "import_failed",
            "A gold file has at most {most_rows} lines; this one has {number}. Split it.",
            most_rows=gold.MOST_ROWS,
            number=read.number,
        )
    answers = [GoldAnswer(*row) for page in Rows.read(file.rows) for row in page]
    lines: dict[int, int] = {}  # by example
    golds: list[Gold] = []
    problems, examples = [], _examples(batch, [answer.example for answer in answers])
    for page in Pages(file.progress, len(answers)).in_pages(answers, records=True, size=AT_ONCE):
        named = [examples[answer.example] for answer in page if answer.example in examples]
        gold.make_items(batch, dict.fromkeys(rows[0] for rows in named if len(rows) == 1))
        for answer in page:
            try:
                data = {name: _value(kinds[name], text) for name, text in answer.cells.items()}
                example = _example(examples, answer.example)
                if (line := lines.setdefault(example.pk, answer.line)) != answer.line:
                    refuse("import_failed", "Line {line} has a gold answer to this example.", line=line)
                data |= answer.response  # its fields have no cell, or an empty one
                golds.append(
                    gold.set_gold(batch=batch, example=example, data=data, why=answer.why, by=by, now=now)
                )
            except (InvalidResponse, ActionRefused) as error:
                problems.append(Problem(file.name, answer.line, "", str(error), ""))
        transaction.set_rollback(True)  # so that all become visible at once
    rejected = read.rejected + len(problems)
    problems = sorted([*read.problems, *problems], key=lambda problem: problem.line or 0)[:MOST_DESCRIBED]
    result = {"gold": len(answers), "gold_in": batch.public_id}
    more = {"problems": to_json(problems), "rejected": rejected}
    if job is not None and job.kind == PREVIEW:
        return {"preview": {**result, **more}}
    if problems:
        refuse_as("import_failed", one_sentence(problems[0]), more=more)
    with transaction.atomic():
        gold.mark_all(batch=batch, golds=golds)
        if job is not None:
            jobs.store_result(job, result)
    return result


jobs.afterwards(KIND)(uploads.tidy_up)


def _value(kind: str, text: str) -> Any:
    """The value of a field that a cell holds. Raises ActionRefused."""
    if kind in ("choices", "lines"):
        return from_lines(text)
    if kind != "flag":
        return text
    word = text.strip().lower()
    if word not in (*YES, *NO):
        refuse("import_failed", "{text!r} is not yes or no. Correct it.", text=text)
    return word in YES


def _examples(batch: Batch, ids: Sequence[str]) -> dict[str, list[Example]]:
    """The project's examples by what a file calls them: the id in a source, or the public one."""
    usable = Example.objects.usable().filter(source__project_id=batch.project_id).order_by("pk")
    named: dict[str, dict[int, Example]] = {}
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        rows = usable.filter(Q(external_id__in=some) | Q(public_id__in=some)).select_related("stored_table")
        for row in rows:
            for name in (row.external_id, row.public_id):
                named.setdefault(name, {})[row.pk] = row
    return {name: list(rows.values()) for name, rows in named.items()}


def _example(examples: Mapping[str, Sequence[Example]], name: str) -> Example:
    named = examples.get(name, ())
    if not named:
        refuse("import_failed", "no source of the project contains the example {example!r}.", example=name)
    if len(named) > 1:
        refuse(
            "import_failed",
            "several sources have an example {name!r}; use its id in this project.",
            name=name,
        )
    return named[0]
