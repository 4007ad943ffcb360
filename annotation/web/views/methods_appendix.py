"""The methods appendix of a project or of a release: what is not recorded yet, a preview, and the files."""

import io
import zipfile
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.models import Project
from annotation.quality import guidelines
from annotation.releases import creation, methods_appendix
from annotation.releases.methods_appendix import Study
from annotation.study_file import release_gaps
from annotation.web.views.pages import PageRequest, attachment, away_from_releases, page
from tableqa.writers.documents import Picture, Quotation, as_latex, as_markdown, standalone

NAME = "methods"
PICTURES = Path(settings.BASE_DIR) / "docs" / "pictures" / "workbench"
"""A picture of the annotation page of each task type that comes with Askew, by its key."""
TYPES = {"zip": "application/zip", "tex": "application/x-tex", "md": "text/markdown"}
PAGES = {
    "statement": (Permission.SET_UP, "statement"),
    "sources": (Permission.IMPORT, "sources"),
    "agreement": (Permission.SEE_PROGRESS, "project"),
}
"""The page on which a gap is filled, for those with a permission: `methods_appendix.Gap.page` -> name of its address."""


@page("GET")
def project_methods(request: PageRequest, slug: str) -> HttpResponse:
    """What the appendix says now, and what is missing, each with the page to enter it."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
    if (away := away_from_releases(request, project)) is not None:
        return away
    may = authorization.permissions_in(actor, project)
    with translation.override(settings.LANGUAGE_CODE):  # the appendix is in no reader's language
        study = _study_now(project)
        gaps = methods_appendix.gaps(study)
        blocks = [
            block for block in methods_appendix.blocks(study) if not isinstance(block, Picture | Quotation)
        ]
        preview = guidelines.as_html(as_markdown(blocks))
    addressed = [
        (gap.title, reverse(name, args=[slug]) if needed in may else "")
        for gap in gaps
        for needed, name in (PAGES[gap.page],)
    ]
    context = {"project": project, "gaps": addressed, "preview": preview}
    return render(request, "releasing/methods.html", context)


@page("GET")
def project_methods_file(request: PageRequest, slug: str, format: str) -> HttpResponse:
    """The appendix of a project as LaTeX, as Markdown, or both with pictures in an archive."""
    project = authorization.project(authorization.actor(request), slug, Permission.SEE_PROGRESS)
    if (away := away_from_releases(request, project)) is not None:
        return away
    with translation.override(settings.LANGUAGE_CODE):
        study = _study_now(project)
        return _file_response(study, project.slug, format)


@page("GET")
def release_methods_file(request: PageRequest, public_id: str, format: str) -> HttpResponse:
    """The same of a release, from its files and the unchecked edits."""
    release = authorization.release(authorization.actor(request), public_id)
    if release.ready_at is None:
        raise Http404(authorization.NOT_HERE)
    if (away := away_from_releases(request, release.project)) is not None:
        return away
    with translation.override(settings.LANGUAGE_CODE):
        edits = release_gaps.unchecked_edits_of(release)
        study = creation.study_of(release, pictures=pictures(), unchecked=(edits.number, edits.total))
        return _file_response(study, f"{release.project.slug}-{release.name}".replace("/", "-"), format)


def _study_now(project: Project) -> Study:
    return creation.study_now(
        project=project,
        pictures=pictures(),
        now=timezone.now(),
        unchecked=release_gaps.count_unchecked(project),
    )


def pictures() -> dict[str, Path]:
    """The pictures that come with Askew, by the keys of task types."""
    return {path.stem: path for path in sorted(PICTURES.glob("*.jpg"))}


def _file_response(study: Study, name: str, format: str) -> HttpResponse:
    if format not in TYPES:
        raise Http404(authorization.NOT_HERE)
    blocks = methods_appendix.blocks(study)
    files = {f"{NAME}.md": as_markdown(blocks), f"{NAME}.tex": as_latex(blocks)}
    content = _archive(study, files) if format == "zip" else files[f"{NAME}.{format}"].encode()
    text = "" if format == "zip" else "; charset=utf-8"
    return attachment(content, f"{name}-methods.{format}", f"{TYPES[format]}{text}")


def _archive(study: Study, files: dict[str, str]) -> bytes:
    """Both texts, a LaTeX document around the appendix, and the pictures that they show."""
    out = io.BytesIO()
    picture_files = pictures()
    used = {batch["type"] for batch in study.manifest.batches} & picture_files.keys()
    contents = {name: text.encode() for name, text in {**files, "standalone.tex": standalone(NAME)}.items()}
    contents |= {
        f"{methods_appendix.FOLDER}/{key}.jpg": picture_files[key].read_bytes() for key in sorted(used)
    }
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, content in contents.items():
            packed.writestr(zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0)), content)
    return out.getvalue()
