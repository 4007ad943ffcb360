"""Navigation of a project and of a batch, as data: which pages there are, for people who may read them.

A level has at most six entries. What has no room, and what few projects need, is in the menu *More*, its last entry.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django import template
from django.urls import reverse
from django.utils.translation import gettext_noop

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.models import Batch, Project

register = template.Library()

ROOM: Final = 6
"""Entries of a level, with the menu."""


@dataclass(frozen=True)
class Link:
    """A page: the name of its URL, its title, who may read it (None: every member).

    also   pages that one opens from it
    group  its heading in the menu
    """

    name: str
    title: str
    permission: Permission | None = None
    also: tuple[str, ...] = ()
    group: str = ""
    address: str = ""
    current: bool = False


DATA: Final = gettext_noop("Data")
FOR_ANNOTATORS: Final = gettext_noop("For annotators")
RECORDS: Final = gettext_noop("Records")

FOOLING: Final = Link("fooling", gettext_noop("Fooling the model"), Permission.RELEASE, group=RECORDS)
"""With the pages of quality in a project with a model in the loop, else in the menu."""

TABS: Final[tuple[Link, ...]] = (
    Link("project", "Overview", also=("batch_new", "study_templates", "guidelines")),
    Link("explorer", gettext_noop("Explorer"), Permission.SEE_PROGRESS),
    Link("people", "People", Permission.INVITE, ("remove_member", "change_roles")),
    Link("dashboard", "Quality", Permission.SEE_PROGRESS, ("agreement", "reviews", "review")),
    Link(
        "releases",
        "Releases",
        Permission.SEE_PROGRESS,
        ("release", "evaluations", "methods", "compare_releases"),
    ),
    Link("project_adjudication", "Adjudication", Permission.ADJUDICATE),
)
WITHIN: Final[dict[str, tuple[Link, ...]]] = {
    "dashboard": (
        Link("dashboard", gettext_noop("Dashboard"), Permission.SEE_PROGRESS),
        Link("agreement", "Agreement", Permission.SEE_PROGRESS, ("reviews", "review")),
    ),
}
"""Second rows, by the tab that they belong to."""
MENU: Final[tuple[Link, ...]] = (
    Link(
        "sources",
        "Sources",
        Permission.SEE_PROGRESS,
        (
            "source",
            "archive_source",
            "example",
            "import_new",
            "import_preview",
            "import_responses",
            "responses_preview",
        ),
        DATA,
    ),
    Link("perturbations", gettext_noop("Automatic perturbations"), Permission.SEE_PROGRESS, group=DATA),
    Link("task_types", gettext_noop("Task types"), Permission.SET_UP, group=DATA),
    Link("study", gettext_noop("Study file"), Permission.SET_UP, group=DATA),
    Link("consent", gettext_noop("Consent"), group=FOR_ANNOTATORS),
    Link("inquiries", gettext_noop("Annotator questions"), group=FOR_ANNOTATORS),
    Link("about_me", gettext_noop("About you"), Permission.ANNOTATE, group=FOR_ANNOTATORS),
    Link("crowd_links", gettext_noop("Crowd links"), Permission.INVITE, ("crowd_link",), FOR_ANNOTATORS),
    Link("statement", gettext_noop("Data statement"), Permission.SET_UP, group=RECORDS),
    Link("project_log", gettext_noop("Audit log"), Permission.SEE_PROGRESS, ("item_story",), RECORDS),
    Link(
        "project_rename", gettext_noop("Project settings"), Permission.SET_UP, ("archive_project",), RECORDS
    ),
)

TABS_OF_BATCH: Final[tuple[Link, ...]] = (
    Link(
        "batch",
        "Progress",
        Permission.SEE_PROGRESS,
        ("open_batch", "close_batch", "archive_batch", "batch_report"),
    ),
    Link("batch_items", "Items", Permission.SEE_PROGRESS),
    Link("batch_people", gettext_noop("Annotators"), Permission.SET_UP),
    Link("batch_settings", gettext_noop("Settings"), Permission.SET_UP),
    Link("try_batch", gettext_noop("Preview"), Permission.SET_UP),
)
MENU_OF_BATCH: Final[tuple[Link, ...]] = (
    Link("batch_quality", gettext_noop("Annotator quality"), Permission.SEE_PROGRESS),
    Link("calibration", gettext_noop("Compare responses"), Permission.SEE_PROGRESS),
    Link("gold", gettext_noop("Gold answers"), Permission.SET_UP, ("gold_new",)),
    Link("labels_elsewhere", gettext_noop("Import labels"), Permission.SET_UP),
)


MORE_OF_PROJECT: Final = gettext_noop("More pages of the project")


@dataclass(frozen=True)
class Level:
    """Entries of one level for one reader, and the groups of its menu."""

    tabs: list[Link]
    menu: list[tuple[str, list[Link]]]

    @property
    def is_in_menu(self) -> bool:
        """Whether the page of the reader is in the menu."""
        return any(link.current for _, links in self.menu for link in links)


def level(tabs: Sequence[Link], menu: Sequence[Link]) -> Level:
    """All pages in a row if there is room; else what comes after the last place for a tab goes to the menu."""
    if len(tabs) + len(menu) <= ROOM:
        return Level([*tabs, *menu], [])
    hidden = [*(replace(link, group="") for link in tabs[ROOM - 1 :]), *menu]
    groups: dict[str, list[Link]] = {}
    for link in hidden:
        groups.setdefault(link.group, []).append(link)
    return Level(list(tabs[: ROOM - 1]), list(groups.items()))


@register.inclusion_tag("_project_nav.html", takes_context=True)
def project_nav(context: Any) -> dict[str, Any]:
    """The level of the project, on a batch's page that of the batch as well; nothing on other pages."""
    request = context.get("request")
    here = getattr(getattr(request, "resolver_match", None), "url_name", None) or ""
    batch, project = context.get("batch"), context.get("project")
    if not isinstance(batch, Batch):
        batch = None
    if batch is not None and not isinstance(project, Project):
        project = batch.project
    is_of_batch = batch is not None and _leads_to(here, (*TABS_OF_BATCH, *MENU_OF_BATCH))
    within = next((tab for tab, links in WITHIN.items() if _leads_to(here, (*links, FOOLING))), "")
    if not isinstance(project, Project) or not (is_of_batch or within or _leads_to(here, (*TABS, *MENU))):
        return {"level": None}
    granted = authorization.permissions_in(authorization.actor(request), project)
    # A batch belongs to the overview of its project.
    readable = _readable(granted, project.slug, "project" if is_of_batch else here)
    has_model = (
        Permission.RELEASE in granted
        and Batch.objects.filter(project=project).exclude(loop_model="").exists()
    )
    row = readable([*WITHIN[within], *([FOOLING] if has_model else [])]) if within else []
    if len(row) < 2 or not any(link.current for link in row):
        row = []
    project_level = level(readable(TABS), readable(MENU if has_model else [*MENU, FOOLING]))
    of_batch = None
    if is_of_batch and batch is not None:
        readable_of_batch = _readable(granted, batch.public_id, here)
        of_batch = level(readable_of_batch(TABS_OF_BATCH), readable_of_batch(MENU_OF_BATCH))
        if of_batch.menu and len(of_batch.tabs) > 1:
            project_level, of_batch = _with_one_menu(project_level, of_batch)
    return {
        "project": project,
        "batch": batch,
        "level": _with_current_tab(project_level, within) if row else project_level,
        "is_above": is_of_batch or bool(row),
        "within": row,
        "of_batch": of_batch,
    }


def _with_one_menu(above: Level, below: Level) -> tuple[Level, Level]:
    """Two levels with one menu: that of the level below, which ends with the pages of the level above."""
    groups = [(group or MORE_OF_PROJECT, links) for group, links in above.menu]
    return Level(above.tabs, []), Level(below.tabs, [*below.menu, *groups])


def _leads_to(here: str, links: Iterable[Link]) -> bool:
    return any(here in (link.name, *link.also) for link in links)


def _readable(granted: frozenset[Permission], key: str, here: str) -> Callable[[Sequence[Link]], list[Link]]:
    """A function that returns those of the pages that may be read, each with its address."""
    return lambda links: [
        replace(link, address=reverse(link.name, args=[key]), current=here in (link.name, *link.also))
        for link in links
        if link.permission is None or link.permission in granted
    ]


def _with_current_tab(project_level: Level, tab: str) -> Level:
    """The level with one tab as the current one: that of the second row."""
    return Level([replace(link, current=link.name == tab) for link in project_level.tabs], project_level.menu)
