"""Benchmarks out: the releases of a project, one release, its download."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from django.contrib import messages
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.accounts.item_history import detail_in_words
from annotation.charts import list_tables, record_tables
from annotation.charts.figure import Figure
from annotation.explorer.links import explorer_url, url_of_batches
from annotation.explorer.selection import MOST_VALUES
from annotation.models import Assignment, Batch, Item, Job, Person, Project, Release
from annotation.platform.public_ids import new_public_id
from annotation.platform.refusals import ActionRefused
from annotation.queue.candidates import letters
from annotation.releases import creation, history, release_comparison
from annotation.releases.format_descriptions import DESCRIPTIONS, LOSSES
from annotation.releases.manifest import Manifest
from annotation.releases.model_evaluation import runs
from annotation.study_file import release_gaps
from annotation.web.forms.releases import ReleaseForm
from annotation.web.views.agreement_figures import statistics
from annotation.web.views.figure_gallery import figure_gallery, part_of_list, pseudonyms
from annotation.web.views.pages import PageRequest, page, paginate, refusals_on, refusals_to
from annotation.web.views.release_comparison import earlier_first
from annotation.web.views.table_comparison import PART, TableVariant, contrast_table, for_scripts
from tableqa.operations import from_list
from tableqa.releases.former_wordings import note_of


@page("GET", "POST")
def releases(request: PageRequest, slug: str) -> HttpResponse:
    """What went out of a project, what is being made, and the form for the next one."""
    actor = authorization.actor(request)
    needed = Permission.RELEASE if request.method == "POST" else Permission.SEE_PROGRESS
    project = authorization.project(actor, slug, needed)
    barred = _refusal(visibility.require_no_open_work, actor.person, project)
    simulated = Assignment.objects.filter(
        batch__project=project, person__is_simulated=True, annotation__isnull=False
    ).exists()
    may_release = Permission.RELEASE in authorization.permissions_in(actor, project) and not barred
    unchecked = release_gaps.count_unchecked(project)[0] if may_release else 0
    form = ReleaseForm(
        request.POST or None, defaults=project.release, simulated=simulated, unchecked=unchecked
    )
    if form.is_valid():
        form.cleaned_data.pop("include_unchecked", None)  # it has to be ticked, and says nothing else
        with refusals_on(form):
            visibility.require_no_open_work(actor.person, project)
            release = creation.start_release(
                project=project,
                by=actor.person,
                now=timezone.now(),
                request=request.POST.get("request", "")[:80],
                **form.cleaned_data,
            )
            return redirect("job", release.job.public_id) if release.job else redirect("releases", slug)
    gaps = release_gaps.gaps_visible_to(actor.person, project) if may_release else []
    context = {
        "project": project,
        **figures_of_releases(request, project),
        "form": form,
        "request_id": request.POST.get("request") or new_public_id(),
        "barred": barred,
        "may_release": may_release,
        "missing": gaps,
        "has_batches": all(gap.kind != "batches" for gap in gaps),
        "summary": _summary(gaps, project, authorization.permissions_in(actor, project)),
    }
    return render(request, "releasing/releases.html", context)


def figures_of_releases(request: PageRequest, project: Project) -> dict[str, Any]:
    """The part of the context of the list of releases that holds its figures."""
    rows = Release.objects.filter(project=project).select_related("job", "made_by")
    page_of_releases = paginate(request, rows.order_by("-made_at", "-pk"))
    called = pseudonyms(project)
    lines = [
        {
            "release": release,
            "state": _state(release),
            "created_by": called.get(release.made_by_id, gettext("an administrator"))
            if release.made_by_id
            else gettext("the command line"),
        }
        for release in page_of_releases
    ]
    table = record_tables.releases(lines, part_of_list(page_of_releases))
    return {
        "releases": page_of_releases,
        "releases_table": table,
        **figure_gallery(request, "releases", project.slug, [table]),
    }


def _state(release: Release) -> str:
    if release.ready_at:
        return gettext("ready")
    failed = release.job is not None and release.job.state == Job.State.FAILED
    return gettext("failed") if failed else gettext("in progress")


FILLED = {
    "adjudication": (Permission.ADJUDICATE, "project_adjudication"),
    "questions": (Permission.SET_UP, "inquiries"),
    "statement": (Permission.SET_UP, "statement"),
}
"""Where a person with a permission fills a gap, by its kind."""


def _summary(
    gaps: Sequence[release_gaps.ReleaseGap], project: Project, may: Collection[Permission]
) -> list[tuple[str, str]]:
    """What a release would lack in a few lines, each with the address of the page where it is filled, or ""."""
    lines = []
    for gap in release_gaps.summary(gaps):
        needed, name = FILLED.get(gap.kind, (None, ""))
        text = f"{gap.about}: {gap.words}" if gap.about else gap.words
        address = reverse(name, args=[project.slug]) if needed in may else _items_of(gap, project, may)
        lines.append((text, address))
    return lines


def _items_of(gap: release_gaps.ReleaseGap, project: Project, may: Collection[Permission]) -> str:
    """The address of the items that a gap is about; "" for more than a selection takes, or others than are counted."""
    if gap.kind == "unchecked" and len(gap.items) <= MOST_VALUES:
        return explorer_url(project, item=list(gap.items))
    if gap.kind not in STATES_OF or len(gap.batches) > MOST_VALUES:
        return ""
    if len(set(gap.batches)) < len(gap.batches):
        return ""  # two batches wait for the same items, which are counted twice
    batches = Batch.objects.filter(public_id__in=gap.batches)
    if Permission.SET_UP not in may and Item.objects.filter(batch__in=batches, is_gold=True).exists():
        return ""
    return url_of_batches(project, batches.order_by("pk"), state=STATES_OF[gap.kind])


STATES_OF: Final[dict[str, list[str]]] = {
    "responses": ["open"],
    "adjudication": ["adjudication"],
    "chain": ["open", "complete", "adjudication"],
}
"""The states of the items that a gap counts, by its kind."""


def _refusal(check: Callable[[Person, Any], None], person: Person, about: Project | Release) -> str:
    """Why a check refuses something to this person; empty where it does not."""
    try:
        check(person, about)
    except ActionRefused as refused:
        return refused.detail
    return ""


@page("GET")
def release(request: PageRequest, public_id: str) -> HttpResponse:
    """The manifest of a release, readably: counts, agreement, licences, files."""
    release = authorization.release(authorization.actor(request), public_id)
    with refusals_to(request):
        visibility.require_no_open_work(request.user, release.project)
        if release.ready_at is None:
            return (
                redirect("job", release.job.public_id)
                if release.job
                else redirect("releases", release.project.slug)
            )
        may_evaluate = Permission.RELEASE in authorization.permissions_in(
            authorization.actor(request), release.project
        )
        context = {
            **_release_context(request, release),
            **_example(request, release),
            "unchecked": release_gaps.unchecked_edits_of(release),
            "unfinished": release_gaps.unfinished_of(release),
            "may_evaluate": may_evaluate,
            "undownloadable": _refusal(visibility.require_nothing_to_judge, request.user, release),
            "corrections": _corrections(release),
            "has_runs": may_evaluate and runs.finished_runs(release).exists(),
            "earlier": next((other for other in earlier_first(release) if other.pk < release.pk), None),
        }
        return render(request, "releasing/release.html", context)
    return redirect("releases", release.project.slug)


def _corrections(release: Release) -> list[tuple[str, list[dict[str, Any]]]]:
    """The corrections of the release since, and those of earlier releases that it names, each under a heading."""
    before = history.predecessor(release)
    named = history.new_corrections(release, after=before.watermark if before else 0)
    parts = [
        (gettext("Corrected after this release"), history.corrections(release.corrections.all())),
        (gettext("Corrections of earlier releases"), history.corrections(named)),
    ]
    return [(heading, rows) for heading, rows in parts if rows]


def figures_of(request: PageRequest, public_id: str) -> dict[str, Any]:
    """The part of the page's context that holds its figures; nothing for people who may not read the release now."""
    release = authorization.release(authorization.actor(request), public_id)
    if release.ready_at is None or visibility.has_open_work(request.user, release.project):
        return {}
    return _release_context(request, release)


def _release_context(request: PageRequest, release: Release) -> dict[str, Any]:
    manifest = Manifest.of(release.manifest)
    formats = manifest.every_format
    counts = manifest.counts
    undecided = max(0, counts["items"] - counts["accepted"] - counts["excluded"])
    return {
        "release": release,
        "project": release.project,
        "manifest": manifest,
        "counts": counts,
        "undecided": counts.get("undecided_items", undecided),
        "waiting": sum(contradiction["reason"] == "undecided" for contradiction in manifest.contradicted),
        **_tables(request, release, [_format(name, manifest) for name in (*formats, "")]),
    }


def _format(name: str, manifest: Manifest) -> dict[str, Any]:
    """The files of a format in a line; those of no format for "", with the manifest left out."""
    sizes = [file["bytes"] for path, file in manifest.files.items() if manifest.format_of(path) == name]
    about = gettext("Sources, responses, decisions and data statement, from which all else follows.")
    if name:
        about = " ".join(gettext(text) for text in (DESCRIPTIONS[name], LOSSES[name]) if text)
    return {
        "name": name or gettext("raw records"),
        "about": about,
        "files": len(sizes),
        "bytes": sum(sizes),
    }


SELECTION: Final = ("deviations", "other_batches", "exclusions", "removed_people")
"""The tables of the page on what a release leaves out, and what was changed after the first response."""
MOST_STATISTICS = 12
"""Of more statistics than these the page shows one for each measure, and folds the others."""


def _tables(request: PageRequest, release: Release, formats: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of the page: formats, files, sources, batches, agreement, and what was selected and changed."""
    manifest = Manifest.of(release.manifest)
    files = sorted(manifest.files.items())
    lists: dict[str, Any] = {
        "formats_table": record_tables.files_by_format(formats),
        "files_table": record_tables.files(files),
        "sources_table": list_tables.released_sources(manifest.sources),
        "batches_table": list_tables.released_batches(manifest.batches),
        "other_batches": list_tables.other_batches((*manifest.other_batches, *manifest.deleted)),
        "deviations": list_tables.deviations(map(_with_words, manifest.deviations)),
        "exclusions": list_tables.exclusions(manifest.exclusions, manifest.batches),
        "removed_people": list_tables.removed_people(manifest.removed_people),
        "moved_figures": _moved_figures(release, manifest),
    }
    selection = [lists[name] for name in SELECTION if lists[name]]
    facts = manifest.preregistration, manifest.origin, manifest.same_study
    agreement = _agreement(release)
    figures = [*lists.values(), *(each for each in agreement.values() if isinstance(each, Figure))]
    gallery = figure_gallery(request, "release", release.public_id, figures)
    lists |= {"selection": selection, "has_selection": bool(selection) or any(facts)}
    return {**agreement, **lists, "formats": formats, "files": files, **gallery}


def _with_words(deviation: Mapping[str, Any]) -> dict[str, Any]:
    """A change after the first response with its text for the page."""
    detail = {name: deviation[name] for name in ("what", "from", "to") if name in deviation}
    in_words = detail_in_words(detail) if "to" in detail else [gettext(deviation["what"])]
    return {**deviation, "change": "; ".join(in_words)}


def _moved_figures(release: Release, manifest: Manifest) -> Figure | None:
    """Agreement that differs from the release that the manifest names as its predecessor."""
    before = history.predecessor(release) if manifest.predecessor else None
    if before is None:
        return None
    pairs = release_comparison.agreement(Manifest.of(before.manifest), manifest)
    values = [(pair, *(of and of["value"] for of in (pair.before, pair.after))) for pair in pairs]
    return list_tables.moved_figures(pair for pair, was, becomes in values if was != becomes)


def _agreement(release: Release) -> dict[str, Any]:
    """Statistics with a value first; further ones, and those without a value, each in their own table."""
    manifest = Manifest.of(release.manifest)
    names = {batch["id"]: batch["name"] for batch in manifest.batches}
    figures = [
        {**_figure(figure), "batch_name": names[figure["batch"]]} for figure in manifest.agreement_in_words()
    ]
    defined = [figure for figure in figures if figure["value"] is not None]
    first = defined if len(defined) <= MOST_STATISTICS else _leading(defined)
    parts = {
        "agreement": first,
        "more_agreement": [figure for figure in defined if figure not in first],
        "undefined": [figure for figure in figures if figure["value"] is None],
    }
    titles = {
        "agreement": gettext("Statistics by batch"),
        "more_agreement": gettext("Further statistics"),
        "undefined": gettext("Undefined statistics"),
    }
    return {
        **{
            name: statistics(parts[name], batches=True, name=name.replace("_", "-"), title=title)
            for name, title in titles.items()
        },
        "number_more": len(parts["more_agreement"]),
        "number_undefined": len(parts["undefined"]),
    }


def _leading(figures: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One statistic for each batch and measure: Krippendorff's alpha where there is one, else the first."""
    leading: dict[tuple[str, str], Mapping[str, Any]] = {}
    for figure in figures:
        key = figure["batch"], figure["measure"]
        if key not in leading or _is_alpha(figure) > _is_alpha(leading[key]):
            leading[key] = figure
    return list(leading.values())


def _is_alpha(figure: Mapping[str, Any]) -> bool:
    return str(figure["statistic"]).startswith("krippendorff_alpha")


def _example(request: PageRequest, release: Release) -> dict[str, Any]:
    """One question of the release with the examples that were made of it, as changes of one table (?example= a number)."""
    examples = paginate(request, creation.changed_items(release), size=1, name="example")
    if not examples.object_list:
        return {"examples": None, "merged": None, "comparison": None}
    [decision] = examples.object_list
    outcomes = creation.changed_outcomes(release).filter(decision=decision).order_by("number")
    changed = [
        outcome.example for outcome in outcomes.select_related("example__stored_table") if outcome.example
    ]
    base = changed[0].stored_table.table()
    variants = [
        TableVariant(letter, list(from_list(example.operations)))
        for letter, example in zip(letters(len(changed)), changed, strict=True)
        if example.stored_table_id == changed[0].stored_table_id
    ]
    original = decision.item.example
    return {
        "examples": examples,
        "original": original,
        "changed": list(zip(letters(len(changed)), changed, strict=True)),
        "merged": contrast_table(base, variants, whole=PART),
        "comparison": for_scripts(base, variants, name=gettext_noop("Example {letter}")),
    }


def _figure(figure: Mapping[str, Any]) -> dict[str, Any]:
    """A figure of a manifest, which has its sentences in English, with the messages of these sentences."""
    return {**figure, "reason": note_of(figure["reason"]), "note": note_of(figure["note"])}


@page("GET")
def download(request: PageRequest, public_id: str) -> HttpResponseBase:
    """The release as a zip archive, streamed from disk."""
    release = authorization.release(authorization.actor(request), public_id)
    if release.ready_at is None:
        raise Http404(authorization.NOT_HERE)
    try:
        path, name = creation.archive_for(release, request.user)
    except ActionRefused as refused:
        messages.error(request, refused.detail)
        return redirect("releases", release.project.slug)
    return FileResponse(path.open("rb"), as_attachment=True, filename=name)
