"""The accuracy of a model on all examples that a sample can draw, asked in the background."""

from datetime import datetime
from typing import Any

from django.conf import settings

from annotation.assistance import loop_fit, model_accuracy
from annotation.background import jobs
from annotation.models import Job, Person, Project, Source
from annotation.platform.refusals import refuse
from annotation.queue import sampling
from annotation.queue.sampling import Sample
from tasks.contract import TaskType, task_type


def start_asking(
    *, project: Project, task: TaskType, sample: Sample, predictor: str, by: Person | None, now: datetime
) -> Job | None:
    """Ask a model about all examples that a sample can draw, in the background. None where a job is at it."""
    if predictor not in settings.PREDICTORS:
        refuse("invalid_request", "Choose a model in the loop first.")
    if not sampling.drawable_examples(project, task, sample):
        refuse("invalid_request", "Choose a source with examples first.")
    loop_fit.require_fit(predictor, sample)
    newest = asking_job(project=project, task=task, sample=sample, predictor=predictor)
    if newest is not None and not newest.finished:
        return None
    ids = _asking_params(task, sample, predictor)
    return jobs.enqueue(project=project, kind="ask_originals", ids=ids, by=by, now=now)


def asking_job(*, project: Project, task: TaskType, sample: Sample, predictor: str) -> Job | None:
    """The newest job that asks a model about such a sample."""
    ids = _asking_params(task, sample, predictor)
    return Job.objects.filter(project=project, kind="ask_originals", ids=ids).order_by("-pk").first()


def _asking_params(task: TaskType, sample: Sample, predictor: str) -> dict[str, Any]:
    return {
        "sources": sorted(source.pk for source in sample.sources),
        "of": sample.of or task.of[0],
        "task_type": task.key,
        "predictor": predictor,
        **({} if sample.only is None else {"only": list(sample.only)}),
    }


@jobs.kind("ask_originals")
def _ask_originals(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    task = task_type(job.ids["task_type"])
    sources = Source.objects.ready().filter(project=job.project, pk__in=job.ids["sources"])
    sample = Sample(sources=list(sources), of=job.ids["of"], only=job.ids.get("only"))
    starts = sampling.drawable_examples(job.project, task, sample)
    accuracy = model_accuracy.ask(
        list(dict.fromkeys(starts.values())),
        task=task,
        predictor=job.ids["predictor"],
        progress=progress,
    )
    return {"accuracy": accuracy.to_dict()}
