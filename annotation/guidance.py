"""Guidelines with versions: what people read, and which version each annotation was made under."""

from __future__ import annotations

from datetime import datetime

from annotation.models import Guidelines, Person, Project
from annotation.refusals import require_storable
from tasks.contract import TaskType


def current(project_id: int, task_type: str) -> Guidelines:
    """The newest version of a project's guidelines for a kind; every opened batch has one."""
    return Guidelines.objects.filter(project_id=project_id, task_type=task_type).latest("number")


def ensure(*, project: Project, task: TaskType, now: datetime) -> Guidelines:
    """The newest version; where the project has none yet, version 1 is the text that comes with the kind."""
    found = Guidelines.objects.filter(project=project, task_type=task.key).order_by("-number").first()
    return found or Guidelines.objects.create(
        project=project, task_type=task.key, number=1, text=task.guidelines(), made_at=now
    )


def revise(*, project: Project, task: TaskType, text: str, person: Person, now: datetime) -> Guidelines:
    """A new version, unless nothing changed. Earlier annotations keep the version they were made under."""
    require_storable(text)
    newest = ensure(project=project, task=task, now=now)
    if newest.text == text:
        return newest
    return Guidelines.objects.create(
        project=project, task_type=task.key, number=newest.number + 1, text=text, made_by=person, made_at=now
    )


def newest_text(project: Project, task: TaskType) -> str:
    """What annotators of the project read now; the text that comes with the kind where nothing else was written."""
    found = Guidelines.objects.filter(project=project, task_type=task.key).order_by("-number").first()
    return found.text if found else task.guidelines()


def as_html(text: str, *, top: int) -> str:
    """Markdown as HTML, its first headings at level `top` of the page that has them.

    HTML in the text is shown as text: guidelines are written by people, not trusted.
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + top - 1, 6)}"
    return str(markdown.renderer.render(tokens, markdown.options, {}))
