"""What managers may read and apply as a study file: less where they annotate, or may annotate, in an open batch."""

from dataclasses import replace
from datetime import datetime

from annotation.access import visibility
from annotation.access.visibility import Fact
from annotation.models import Batch, Person, Project
from annotation.platform.refusals import refuse
from annotation.study_file import apply, project_export
from annotation.study_file.current_state import ProjectState
from annotation.study_file.plan import Plan
from annotation.study_file.schema import Study


def sees_gold(person: Person, project: Project) -> bool:
    """Whether the person works, or will, in no batch of the project: else they learn of no gold."""
    return not visibility.hidden_batches(person, Batch.objects.filter(project=project), Fact.GOLD)


def export(person: Person, project: Project, state: ProjectState) -> str:
    """The study file of a project, without gold answers for people who may annotate there."""
    return project_export.export_study(state, gold=sees_gold(person, project))


def require_usable(study: Study, project: Project, person: Person) -> None:
    """Raises ActionRefused: invalid_request (for another project), still_involved (gold for people who annotate)."""
    if study.slug != project.slug:
        refuse(
            "invalid_request",
            "This file is for the project {slug!r}. To use it here, change project.slug to {slug_2!r}.",
            slug=study.slug,
            slug_2=project.slug,
        )
    if any(batch.gold for batch in study.batches) and visibility.has_open_work(person, project):
        refuse(
            "still_involved",
            "You annotate in an open batch here. Leave gold items out, or ask another manager to export them.",
        )


def uncounted_names(person: Person, project: Project) -> set[str]:
    """The names of the batches whose counts are kept from the reader."""
    batches = list(Batch.objects.filter(project=project))
    hidden = visibility.hidden_batches(person, batches, Fact.COUNTS)
    return {batch.name for batch in batches if batch.pk in hidden}


def plan(study: Study, project: Project, person: Person, *, now: datetime) -> tuple[Plan, set[str]]:
    """The plan of a study without costs of batches whose counts are kept from the reader, and their names."""
    whole, uncounted = apply.plan_for_project(study, project, now=now), uncounted_names(person, project)
    return replace(whole, costs=tuple(cost for cost in whole.costs if cost.batch not in uncounted)), uncounted
