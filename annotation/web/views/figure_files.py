"""A figure of a page as a file: the table as LaTeX, Markdown or CSV, the chart as SVG, PDF or PNG.

One view for all pages: the function that makes the context of a page makes its figures, and so decides who may see them.
Files are in English, say what they are about, and people have their pseudonyms in them.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from django.conf import settings
from django.http import Http404, HttpResponse
from django.utils import translation

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.charts import image_files
from annotation.charts.figure import Subject, content_type
from annotation.web.views import (
    agreement,
    allocation,
    annotator_quality,
    batches,
    calibration,
    consent,
    crowd_entry,
    dashboards,
    example_import,
    fooling_rates,
    gold,
    guidelines,
    item_history,
    members,
    model_evaluation,
    perturbation_runs,
    projects,
    release_comparison,
    releases,
    study_templates,
)
from annotation.web.views.figure_subjects import subject_of
from annotation.web.views.pages import PageRequest, attachment, page

Context = Callable[[PageRequest, str], Mapping[str, Any]]
"""From a request and the key of what the page is about to a context with `figure_gallery`; 404 for who may not."""

T = TypeVar("T")


def _context(
    load: Callable[..., T], figures: Callable[[PageRequest, T], Mapping[str, Any]], *permission: Permission
) -> Context:
    """The figures of what a key names, for those who have this permission there."""
    return lambda request, key: figures(request, load(authorization.actor(request), key, *permission))


PAGES: Mapping[str, Context] = {
    "agreement": lambda request, key: agreement.agreement_of(request, key, named=False),
    "batch": batches.agreement_of,
    "batch_people": allocation.figures_of,
    "calibration": _context(authorization.batch, calibration.figures_of, Permission.SEE_PROGRESS),
    "compare": release_comparison.figures_of,
    "consent": _context(authorization.project, consent.figures_of, Permission.SET_UP),
    "crowd": _context(authorization.project, crowd_entry.figures_of, Permission.INVITE),
    "dashboard": lambda request, key: dashboards.dashboard_of(request, key, named=False),
    "evaluations": model_evaluation.report_of,
    "fooling": fooling_rates.report_of,
    "gold": gold.figures_of,
    "guidelines": guidelines.figures_of,
    "item": item_history.figures_of_item,
    "log": item_history.figures_of_log,
    "people": _context(authorization.project, members.figures_of, Permission.SET_UP),
    "perturbations": _context(authorization.project, perturbation_runs.figures_of, Permission.SEE_PROGRESS),
    "project": projects.figures_of,
    "quality": lambda request, key: annotator_quality.quality_of(request, key, named=False),
    "release": releases.figures_of,
    "releases": _context(authorization.project, releases.figures_of_releases, Permission.SEE_PROGRESS),
    "report": batches.report_of,
    "source": _context(authorization.source, example_import.figures_of_source),
    "sources": _context(authorization.project, example_import.figures_of, Permission.SEE_PROGRESS),
    "template": study_templates.figures_of,
}
"""The pages that have figures, by the name that their addresses have."""


@page("GET")
def figure_file(request: PageRequest, of: str, key: str, name: str, format: str) -> HttpResponse:
    """The figure `name` of the page `of`, about the project, batch, item, source or release `key`, as a file."""
    if of not in PAGES:
        raise Http404(authorization.NOT_HERE)
    with translation.override(settings.LANGUAGE_CODE):  # a file is in no reader's language
        gallery = PAGES[of](request, key).get("figure_gallery")
        figure = gallery.by_name.get(name) if gallery is not None else None
        if figure is None or format not in figure.formats:
            raise Http404(authorization.NOT_HERE)
        subject = _with_query(figure.subject or subject_of(of, key), request.GET.urlencode())
        content = image_files.content(replace(figure, subject=subject), format)
    return attachment(content, f"{key}-{of}-{name}.{format}", content_type(format))


def _with_query(subject: Subject, query: str) -> Subject:
    """The subject with a key that differs where the query of the page differs: another batch, or the next rows of a list."""
    if not query:
        return subject
    return replace(subject, key=f"{subject.key}-{hashlib.sha256(query.encode()).hexdigest()[:6]}")
