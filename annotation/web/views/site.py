"""The pages around the work: home, background jobs, health."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.accounts import next_batch
from annotation.background import jobs
from annotation.explorer import item_actions
from annotation.explorer.links import explorer_url
from annotation.management import simulation
from annotation.models import Batch, Job, PersonBatchCounts, Project, Release, Upload
from annotation.platform import migration_state
from annotation.platform.database import failures, limits
from annotation.queue import availability, entry_requirements
from annotation.releases import signing
from annotation.releases.model_evaluation import runs
from annotation.web.board import facts
from annotation.web.board.needs import leading
from annotation.web.views import board
from annotation.web.views.item_actions import result_in_words, undoable_by
from annotation.web.views.pages import PageRequest, kind_instruction, kind_title, page, paginate, refusals_to
from annotation.workflow import deletion
from tableqa.core.translation import translate_stored
from tableqa.data.typed_json import from_json
from tableqa.readers.report import Report

Counts = Mapping[int, int]
"""Numbers by batch (id)."""

# -- home -------------------------------------------------------------------------------------------


@page("GET")
def home(request: PageRequest) -> HttpResponse:
    """The person's projects with what waits for them in each: batches to annotate, and the project's board."""
    actor = authorization.actor(request)
    projects = paginate(request, authorization.projects(actor).filter(archived_at__isnull=True))
    rows = _work(actor, list(projects))
    recommended = _recommended(actor, rows)
    read = _boards(actor, list(projects))
    led = None if recommended else leading({key: board.primary for key, board in read.items()})
    board_contexts = {
        project.pk: board.context(read[project.pk], project) for project in projects if project.pk in read
    }
    context = {
        "page": projects,
        "projects": [
            {
                "project": project,
                "groups": _groups(
                    [row for row in rows if row["batch"].project_id == project.pk and row is not recommended]
                ),
                "board": board_contexts.get(project.pk),
                "is_first": project.pk == led,
            }
            for project in projects
        ],
        "recommended": recommended,
        "is_done": not read and not projects.has_other_pages() and _is_done(actor, rows),
        "may_make_projects": authorization.may_make_projects(actor),
        "archived": authorization.archived_projects(actor),
        "former": authorization.former_memberships(actor)[:5],
    }
    return render(request, "site/home.html", context)


def _boards(actor: authorization.Actor, projects: Sequence[Project]) -> dict[int, facts.Board]:
    """The boards of the projects in which the person sees progress, in their order."""
    rights = {
        key: granted
        for key, granted in authorization.permissions_by_project(actor, projects).items()
        if Permission.SEE_PROGRESS in granted
    }
    if not rights:
        return {}
    read = facts.load_boards(person=actor.person, rights=rights, now=timezone.now())
    return {project.pk: read[project.pk] for project in projects if project.pk in read}


def _work(actor: authorization.Actor, projects: Sequence[Project]) -> list[dict[str, Any]]:
    """The open batches in which this person annotates, in four queries."""
    annotates = set(authorization.projects_with_permission(actor, Permission.ANNOTATE))
    batches = list(
        Batch.objects.filter(
            project__in=annotates.intersection(project.pk for project in projects),
            opened_at__isnull=False,
            closed_at__isnull=True,
        )
        .select_related("project", "definition")
        .order_by("opened_at", "pk")
    )
    mine = [batch.pk for batch in batches if batch.state == "open" and batch.project_id in annotates]
    items_left = availability.left_for(actor.person, mine)
    after = entry_requirements.qualifications_ahead(
        actor.person, [batch for batch in batches if batch.pk in items_left]
    )
    counts_by_batch = {
        counts.batch_id: counts
        for counts in PersonBatchCounts.objects.filter(person=actor.person, batch__in=mine)
    }
    return [
        {
            "batch": batch,
            "title": kind_title(batch),
            "instruction": kind_instruction(batch),
            "annotates": batch.pk in items_left,
            "left": items_left.get(batch.pk, 0),
            "total": items_left.get(batch.pk, 0)
            + (counts_by_batch[batch.pk].submitted if batch.pk in counts_by_batch else 0),
            "after": after.get(batch.pk, ""),
            "standing": _availability(batch, counts_by_batch.get(batch.pk), items_left, after),
        }
        for batch in batches
    ]


def _availability(
    batch: Batch, counts: PersonBatchCounts | None, items_left: Counts, after: Mapping[int, str]
) -> next_batch.BatchAvailability:
    return next_batch.BatchAvailability(
        remaining=items_left.get(batch.pk, 0),
        leased=counts.leased if counts else 0,
        ended_at=counts.ended_at if counts else None,
        locked=batch.pk in after,
        admits=batch.purpose == Batch.Purpose.QUALIFICATION,
    )


def _recommended(actor: authorization.Actor, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The batch that the person should go on with: the best one that gives them an item now, or says how to get one."""
    now = timezone.now()
    for index in next_batch.sort_batches([row["standing"] for row in rows]):
        batch, leased = rows[index]["batch"], rows[index]["standing"].leased
        requirement = entry_requirements.first_unmet(
            batch=batch, person=actor.person, now=now, holding=None, begun=bool(leased)
        )
        if requirement is None or requirement.address:
            return rows[index]
    return None


def _is_done(actor: authorization.Actor, rows: Sequence[dict[str, Any]]) -> bool:
    """Whether an annotator has no item left, now or later, in any of these batches."""
    return bool(authorization.projects_with_permission(actor, Permission.ANNOTATE)) and not any(
        row["left"] or row["standing"].leased for row in rows
    )


def _groups(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The batches of a project by what they have for the person; no empty group."""
    grouped = {key: [row for row in rows if row["standing"].group == key] for key in next_batch.GROUPS}
    return [
        {"key": key, "title": gettext(title), "rows": grouped[key]}
        for key, title in next_batch.GROUPS.items()
        if grouped[key]
    ]


# -- jobs -------------------------------------------------------------------------------------------


@page("GET")
def job(request: PageRequest, public_id: str) -> HttpResponse:
    """How far a background job is. The page asks again for its middle part until the job is finished."""
    job = visibility.job(authorization.actor(request), public_id)
    may = authorization.permissions_in(authorization.actor(request), job.project, hidden=True)
    address, link, text = _result(job)
    percent = 100 if job.finished else 25 * (4 * job.done // job.total) if job.total else 0
    context = {
        "job": job,
        "project": job.project,
        "title": gettext(
            TITLES.get("check" if job.ids.get("only_check") else job.kind, job.kind.capitalize())
        ),
        # A screen reader announces each quarter once: the page sends the last one that it has announced.
        "poll_url": f"{request.path}?told={percent}",
        "percent": percent if str(percent) != request.GET.get("told") else None,
        "result_url": address,
        "result_link": link,
        "result_words": text,
        "again_url": _retry_address(job),
        "undo": undoable_by(job, authorization.actor(request)),
        "sources_ready": job.state == Job.State.DONE and "source" in job.result,
        "losses": [gettext(loss) for loss in job.result.get("losses", ())],
        "report": from_json(Report, job.result["report"]) if "report" in job.result else None,
        "problems_left_out": job.result.get("rejected", 0) - len(job.result.get("problems", [])),
        "may_cancel": job.kind in jobs.OF_FILES and Permission.IMPORT in may,
        "in_parts": job.kind in (item_actions.ACT, item_actions.UNDO),
        "may_import": Permission.IMPORT in may,
        "may_set_up": Permission.SET_UP in may,
    }
    return render(request, "site/_job_state.html" if request.htmx else "site/job.html", context)


@page("POST")
def job_cancel(request: PageRequest, public_id: str) -> HttpResponse:
    """Cancel a job that reads files."""
    job = authorization.job(authorization.actor(request), public_id, Permission.IMPORT)
    with refusals_to(request):
        jobs.cancel(job)
    return redirect("job", job.public_id)


TITLES = {
    "import": gettext_noop("Importing examples"),
    "check": gettext_noop("Checking examples"),
    "release": gettext_noop("Creating a release"),
    "resolve": gettext_noop("Resolving complete items"),
    "evaluate": gettext_noop("Evaluating a model"),
    "study": gettext_noop("Applying a study file"),
    "ask_originals": gettext_noop("Asking the model"),
    "draw_items": gettext_noop("Asking the model and drawing items"),
    "restore": gettext_noop("Restoring a release"),
    "import_responses": gettext_noop("Importing responses"),
    "import_labels": gettext_noop("Importing labels"),
    "import_gold": gettext_noop("Importing gold answers"),
    simulation.KIND: gettext_noop("Simulating annotators"),
    deletion.KIND: gettext_noop("Deleting"),
    item_actions.ACT: gettext_noop("Changing items"),
    item_actions.UNDO: gettext_noop("Undoing changes of items"),
}
AGAIN = {
    "import": "import_new",
    "import_responses": "import_responses",
    "release": "releases",
    "study": "study",
}
AGAIN_OF_BATCH = {
    "import_labels": "labels_elsewhere",
    "import_gold": "gold",
    "draw_items": "batch",
    simulation.KIND: "batch",
}


def _retry_address(job: Job) -> str:
    """Where a person goes whose job has failed."""
    if job.kind == runs.KIND:
        release = get_object_or_404(Release, pk=job.ids["release"])
        return reverse("evaluations", args=[release.public_id])
    if job.kind in (item_actions.ACT, item_actions.UNDO):
        return reverse("project_log", args=[job.project.slug])
    if job.kind in AGAIN_OF_BATCH:
        return reverse(AGAIN_OF_BATCH[job.kind], args=[Batch.everything.get(pk=job.ids["batch"]).public_id])
    if "problems" in job.result and job.kind == "import":
        questions = get_object_or_404(Upload, pk=job.ids["questions"])
        tables = Upload.objects.filter(pk=job.ids.get("tables")).first()
        url = reverse("import_preview", args=[job.project.slug, questions.public_id])
        return f"{url}?tables={tables.public_id}" if tables else url
    upload = Upload.objects.filter(pk=job.ids.get("upload")).exclude(file="").first()
    if job.kind == "import_responses" and upload is not None:
        return reverse("responses_preview", args=[job.project.slug, upload.public_id, job.ids["tool"]])
    return reverse(AGAIN.get(job.kind, "project"), args=[job.project.slug])


def _result(job: Job) -> tuple[str, str, str]:
    """The target of a finished job, the text of that link, and the job's result."""
    result = job.result
    if job.state != Job.State.DONE:
        return "", "", ""
    if "source" in result:
        new = "" if result["new"] else gettext("No new examples: all of them were imported before. ")
        left_out = f" {translate_stored(result['left_out'])}" if result.get("left_out") else ""
        examples, tables = result["examples"], result["tables"]
        questions = ngettext("{number} question", "{number} questions", examples).format(number=examples)
        on_tables = ngettext("on {number} table", "on {number} tables", tables).format(number=tables)
        read_as = f" {translate_stored(result['read_as'])}" if result.get("read_as") else ""
        text = f"{new}{questions} {on_tables}.{read_as}{left_out}"
        return reverse("source", args=[result["source"]]), gettext("Open the source"), text
    if "responses_in" in result:
        text = ngettext(
            "{number} response was imported. Annotators: {annotators}. Items: {items}.",
            "{number} responses were imported. Annotators: {annotators}. Items: {items}.",
            result["responses"],
        ).format(number=result["responses"], annotators=result["people"], items=result["items"])
        return reverse("batch", args=[result["responses_in"]]), gettext("Open the batch"), text
    if "gold_in" in result:
        text = ngettext(
            "{count} item now has a gold answer.", "{count} items now have a gold answer.", result["gold"]
        ).format(count=result["gold"])
        return reverse("gold", args=[result["gold_in"]]), gettext("Gold answers"), text
    if "evaluation" in result:
        text = ngettext(
            "{result} instance was scored.", "{result} instances were scored.", result["instances"]
        ).format(result=number_format(result["instances"], force_grouping=True))
        return reverse("evaluations", args=[result["evaluation"]]), gettext("Open the evaluations"), text
    if "release" in result:
        return (
            reverse("release", args=[result["release"]]),
            gettext("Open the release"),
            gettext("The release is ready."),
        )
    if job.kind == "restore":
        return (
            reverse("project", args=[job.project.slug]),
            gettext("Open the project"),
            _restored_in_words(result),
        )
    if job.kind == "study":
        done = len(result["done"])
        text = ngettext(
            "{done} change was made. The study file page shows what remains.",
            "{done} changes were made. The study file page shows what remains.",
            done,
        ).format(done=done)
        return reverse("study", args=[job.project.slug]), gettext("Open the study file"), text
    if "acted" in result:
        filters = {"action": result["acted"]} if result["acted"] else {}
        return explorer_url(job.project, **filters), gettext("Show the items"), result_in_words(job)
    if "drawn" in result:
        text = ngettext("{items} item was drawn.", "{items} items were drawn.", result["items"]).format(
            items=number_format(result["items"], force_grouping=True)
        )
        return reverse("batch", args=[result["drawn"]]), gettext("Open the batch"), text
    if "batch" in result:
        resolved = result["resolved"]
        text = ngettext(
            "{resolved} complete item was resolved.", "{resolved} complete items were resolved.", resolved
        ).format(resolved=resolved)
        return reverse("batch", args=[result["batch"]]), gettext("Open the batch"), text
    return reverse("project", args=[job.project.slug]), gettext("Open the project"), "Done."


def _restored_in_words(result: Mapping[str, Any]) -> str:
    """What a release was restored to, and what differs from the original project."""
    parts = [
        gettext("Restored: {batches} batches, {items} items, {annotations} responses, {decisions} decisions.")
    ]
    if result["has_new_ids"]:
        parts.append(
            gettext("The original project is on this server, so batches, items and responses have new ids.")
        )
    if result["without_batch"]:
        parts.append(
            gettext("Examples in no batch: {number}. Older releases do not name items without responses.")
        )
    return " ".join(parts).format(**result, number=result["without_batch"])


# -- health -----------------------------------------------------------------------------------------

READY = 2.0
"""Seconds within which the database has to answer each question of a site that is ready."""


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def signing_key(request: HttpRequest) -> HttpResponse:
    """The public keys that sign the releases of this site, each after its fingerprint; the current one is the first."""
    path = signing.public_file(settings.SIGNING_KEY) if settings.SIGNING_KEY else None
    keys = path.read_text("utf-8") if path and path.is_file() else "This site does not sign its releases.\n"
    return HttpResponse(keys, content_type="text/plain; charset=utf-8")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The database answers, and is of the same version as this code; else 503 with the reason."""
    try:
        with limits.at_most(READY):
            reason = migration_state.why_not_ready()
    except Error:
        reason = "the database does not respond"
    if reason:
        headers = {"Retry-After": str(failures.RETRY_AFTER)}
        return HttpResponse(f"{reason}\n", content_type="text/plain", status=503, headers=headers)
    return HttpResponse("ready\n", content_type="text/plain")
