"""Automatic perturbations of a project: what was made, what was not and why, and the form for the next run."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.access.visibility import Fact
from annotation.background import jobs
from annotation.charts import list_tables
from annotation.models import PerturbationRun, Project
from annotation.web.forms.perturbation_runs import PerturbForm
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.pages import PageRequest, page, paginate, refusals_on
from annotation.workflow import perturbation_runs


@page("GET", "POST")
def perturbations(request: PageRequest, slug: str) -> HttpResponse:
    """The runs of a project, and the form that starts one in the background."""
    actor = authorization.actor(request)
    needed = Permission.SET_UP if request.method == "POST" else Permission.SEE_PROGRESS
    project = authorization.project(actor, slug, needed)
    form = PerturbForm(request.POST or None, project=project)
    if form.is_valid():
        with refusals_on(form):
            now = timezone.now()
            run = perturbation_runs.plan_run(project=project, by=actor.person, now=now, **form.cleaned_data)
            return redirect("job", perturbation_runs.start(run=run, by=actor.person, now=now).public_id)
    under_way = jobs.under_way(project=project, kind="perturb")
    page_of_runs = paginate(request, _runs(project))
    context = {
        "project": project,
        "form": form,
        "runs": page_of_runs,
        **figures_of(request, project, page_of_runs),
        "under_way": [visibility.job(actor, job.public_id) for job in under_way.order_by("-pk")[:20]],
        "may_perturb": Permission.SET_UP in authorization.permissions_in(actor, project),
    }
    return render(request, "perturbing/perturbations.html", context)


def _runs(project: Project) -> QuerySet[PerturbationRun]:
    runs = PerturbationRun.objects.filter(project=project).defer("chosen", "marks")
    return runs.prefetch_related("sources").select_related("made_by", "feeds_from").order_by("-pk")


def figures_of(
    request: PageRequest, project: Project, runs: Iterable[PerturbationRun] | None = None
) -> dict[str, Any]:
    """The part of the page's context that holds its figures: what each of these runs made, or each of all."""
    counts, hidden = [], visibility.hidden_batches(request.user, project.batches.all(), Fact.COUNTS)
    for run in _runs(project) if runs is None else runs:
        rows = [_row(*kind_counts) for kind_counts in run.counts.items() if run.feeds_from_id not in hidden]
        title = gettext("Automatic perturbations of {sources}").format(
            sources=", ".join(source.name for source in run.sources.all())
        )
        no_counts = visibility.why_no_counts() if run.feeds_from_id in hidden else ""
        counts.append((run, rows, no_counts, list_tables.perturbations(f"run-{run.public_id}", title, rows)))
    gallery = figure_gallery(request, "perturbations", project.slug, [table for *_, table in counts])
    return {"counts": counts, **gallery}


def _row(kind: str, of_kind: dict[str, Any]) -> dict[str, Any]:
    """One kind's counts, with the reasons for what was not made, the most frequent first."""
    reasons = [
        *of_kind["no_op"].items(),
        *((gettext("breaks {code}").format(code=code), n) for code, n in of_kind["refused"].items()),
    ]
    return {
        "kind": kind,
        "made": of_kind["made"],
        "no_ops": sum(of_kind["no_op"].values()),
        "refused": sum(of_kind["refused"].values()),
        "reasons": sorted(reasons, key=lambda reason: -reason[1]),
    }
