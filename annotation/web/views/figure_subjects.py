"""What the figures of a page are about, as their files say it: project and batch, release, source or item. In English.

No page of its own: who may read a figure may read this, as the page of the figure says it, too.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from annotation.charts.figure import Figure, Subject
from annotation.models import Batch, Item, Project, Release, Source
from annotation.web.views.projects import kind_or_404


def of_batch(batch: Batch, page: str) -> Subject:
    """A batch, on the page of this name."""
    return Subject(f"Project {batch.project.name}, batch {batch.name}", f"{batch.public_id}-{page}")


def of_release(release: Release, page: str, further: str = "") -> Subject:
    """A release, on the page of this name; further: what it is compared with, or which model it is about."""
    text = f"Project {release.project.name}, release {release.name}{further}"
    return Subject(text, f"{release.public_id}-{page}")


def about(subject: Subject, figures: Iterable[Figure | None]) -> list[Figure]:
    """The figures with this subject, without those that are None."""
    return [replace(figure, subject=subject) for figure in figures if figure is not None]


def subject_of(page: str, key: str) -> Subject:
    """The subject of a page (of `figure_files.PAGES`) whose context has been made, so that its reader may read it."""
    return SUBJECTS[page](key, page)


def _of_project(slug: str, page: str) -> Subject:
    return Subject(f"Project {Project.objects.get(slug=slug).name}", f"{slug}-{page}")


def _of_batch(public_id: str, page: str) -> Subject:
    return of_batch(Batch.objects.select_related("project").get(public_id=public_id), page)


def _of_release(public_id: str, page: str) -> Subject:
    return of_release(Release.objects.select_related("project").get(public_id=public_id), page)


def _of_source(public_id: str, page: str) -> Subject:
    source = Source.objects.select_related("project").get(public_id=public_id)
    return Subject(f"Project {source.project.name}, source {source.name}", f"{public_id}-{page}")


def _of_item(public_id: str, page: str) -> Subject:
    item = Item.objects.select_related("batch__project", "example").get(public_id=public_id)
    text = f"{of_batch(item.batch, page).text}, example {item.example.external_id}"
    return Subject(text, f"{public_id}-{page}")


def _of_guidelines(key: str, page: str) -> Subject:
    slug, _, task_type = key.partition(".")
    project = Project.objects.get(slug=slug)
    text = f"Project {project.name}, guidelines for {kind_or_404(project, task_type).title}"
    return Subject(text, f"{key}-{page}")


SUBJECTS: Mapping[str, Callable[[str, str], Subject]] = {
    **dict.fromkeys(
        (
            *("agreement", "consent", "crowd", "dashboard", "fooling", "log", "people"),
            *("perturbations", "project", "releases", "sources", "template"),
        ),
        _of_project,
    ),
    **dict.fromkeys(("batch", "batch_people", "calibration", "gold", "quality", "report"), _of_batch),
    **dict.fromkeys(("compare", "evaluations", "release"), _of_release),
    "guidelines": _of_guidelines,
    "item": _of_item,
    "source": _of_source,
}
"""By page, the function from the key of its address and its name to its subject."""
