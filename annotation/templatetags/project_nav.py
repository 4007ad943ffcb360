"""The way around a project and a batch: which pages there are, said once, and shown to whoever may read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext_noop

from annotation import access
from annotation.models import Batch, Project
from annotation.roles import Permission

register = template.Library()


@dataclass(frozen=True)
class Link:
    """A page: the name of its address, what it is called, who may read it (None: whoever belongs to the project).

    `also` are pages that one comes to from it; `when` says of which batches it is a page.
    """

    name: str
    title: str
    permission: Permission | None = None
    also: tuple[str, ...] = ()
    when: Callable[[Batch], bool] = lambda batch: True
    address: str = ""
    current: bool = False


SECTIONS: tuple[tuple[str, tuple[Link, ...]], ...] = (
    (
        "Overview",
        (
            Link("project", "Overview", also=("batch_new", "guidelines")),
            Link("study", gettext_noop("Study file"), Permission.SET_UP),
            Link("project_log", gettext_noop("Audit log"), Permission.SEE_PROGRESS, ("item_story",)),
            Link("project_rename", gettext_noop("Settings"), Permission.SET_UP),
        ),
    ),
    (
        "Data",
        (
            Link("sources", "Sources", Permission.SEE_PROGRESS, ("source", "example", "import_new")),
            Link("perturbations", gettext_noop("Automatic perturbations"), Permission.SEE_PROGRESS),
        ),
    ),
    (
        "Work",
        (
            Link("accounting", "Progress", Permission.SET_UP, ("act_on_batches",)),
            Link("payments", gettext_noop("Pay and limits"), Permission.SET_UP),
            Link("project_adjudication", "Adjudication", Permission.ADJUDICATE),
        ),
    ),
    (
        "Quality",
        (
            Link("dashboard", "Dashboard", Permission.SEE_PROGRESS),
            Link("agreement", "Agreement", Permission.SEE_PROGRESS),
            Link("fooling", gettext_noop("Fooling the model"), Permission.RELEASE),
        ),
    ),
    (
        "People",
        (
            Link("people", "Members", Permission.INVITE, ("remove_member", "change_roles")),
            Link("crowd_links", gettext_noop("Crowd links"), Permission.INVITE, ("crowd_link",)),
        ),
    ),
    (
        gettext_noop("Consent and questions"),
        (
            Link("consent", gettext_noop("Consent")),
            Link("inquiries", gettext_noop("Annotator questions")),
            Link("about_me", gettext_noop("About you"), Permission.ANNOTATE),
        ),
    ),
    (
        "Releases",
        (
            Link("releases", "Releases", Permission.SEE_PROGRESS, ("release", "evaluations")),
            Link("statement", gettext_noop("Data statement"), Permission.SET_UP),
        ),
    ),
)

OF_A_BATCH: tuple[Link, ...] = (
    Link("batch", "Progress", Permission.SEE_PROGRESS, ("open_batch", "close_batch", "batch_report")),
    Link("batch_quality", "Quality", Permission.SEE_PROGRESS),
    Link("batch_people", gettext_noop("Allocation"), Permission.SET_UP),
    Link("calibration", gettext_noop("Compare responses"), Permission.SEE_PROGRESS),
    Link("entry", gettext_noop("Entry requirements"), Permission.SET_UP),
    Link("gold", gettext_noop("Gold answers"), Permission.SET_UP, ("gold_new",)),
    Link(
        "batch_rule",
        gettext_noop("Decision rule"),
        Permission.SET_UP,
        when=lambda batch: batch.purpose == "work",
    ),
    Link("change_batch", gettext_noop("Settings"), Permission.SET_UP),
    Link("labels_elsewhere", gettext_noop("Import labels"), Permission.SET_UP),
    Link("try_batch", gettext_noop("Preview"), Permission.SET_UP),
)


@register.inclusion_tag("_project_nav.html", takes_context=True)
def project_nav(context: Any) -> dict[str, Any]:
    """The sections of the project, the pages of the one this page belongs to, and on a batch's page those of the batch."""
    request = context.get("request")
    here = getattr(getattr(request, "resolver_match", None), "url_name", None)
    batch, project = context.get("batch"), context.get("project")
    if not isinstance(batch, Batch):
        batch = None
    if batch is not None and not isinstance(project, Project):
        project = batch.project
    of_batch = batch is not None and any(here in (one.name, *one.also) for one in OF_A_BATCH)
    section = _section(here)
    if not isinstance(project, Project) or (section is None and not of_batch):
        return {}
    granted = access.may(access.actor(request), project)
    shown = [
        (title, open_to)
        for title, links in SECTIONS
        if (open_to := _open(links, granted, project.slug, "" if of_batch else here))
    ]
    return {
        "project": project,
        "sections": [
            {"title": title, "address": links[0].address, "current": not of_batch and title == section}
            for title, links in shown
        ],
        "pages": [] if of_batch else next((links for title, links in shown if title == section), []),
        "batch": batch if of_batch else None,
        "of_batch": (
            _open([one for one in OF_A_BATCH if one.when(batch)], granted, batch.public_id, here)
            if of_batch and batch is not None
            else []
        ),
    }


def _section(name: str | None) -> str | None:
    return next(
        (title for title, links in SECTIONS if any(name in (one.name, *one.also) for one in links)), None
    )


def _open(links: Sequence[Link], granted: frozenset[Permission], key: str, here: str | None) -> list[Link]:
    """Those of the pages that may be read, each with its address."""
    return [
        replace(one, address=reverse(one.name, args=[key]), current=here in (one.name, *one.also))
        for one in links
        if one.permission is None or one.permission in granted
    ]
