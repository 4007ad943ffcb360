"""The figures of a page, with the addresses under which each of them is a file (annotation/web/views/figure_files.py)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from annotation.charts.figure import IMAGES, TEXTS, Figure
from annotation.models import Membership, Project

FORMATS = {"tex": "LaTeX", "md": "Markdown", "csv": "CSV", "svg": "SVG", "pdf": "PDF", "png": "PNG"}
COPY = gettext_noop("Copy as {format}")
DOWNLOAD = gettext_noop("Download {format}")


@dataclass(frozen=True)
class FileLink:
    """One file of a figure; copy: what the button says that copies its content, "" for a picture."""

    address: str
    label: str
    copy: str = ""


@dataclass(frozen=True)
class Gallery:
    """The figures of a page.

    page, key   which page of which project, batch, item, source or release, as in `figure_files.PAGES`
    query       the parameters of the page's own address, on which its figures depend
    """

    page: str
    key: str
    query: str = ""
    by_name: dict[str, Figure] = field(default_factory=dict)

    def links(self, figure: Figure) -> list[FileLink]:
        """The files of a figure: texts first, which can be copied, then pictures."""
        return [self._link(figure, ending) for ending in (*TEXTS, *IMAGES) if ending in figure.formats]

    def _link(self, figure: Figure, ending: str) -> FileLink:
        address = reverse("figure_file", args=[self.page, self.key, figure.name, ending])
        copy = gettext(COPY).format(format=FORMATS[ending]) if ending in TEXTS else ""
        label = gettext(DOWNLOAD).format(format=FORMATS[ending])
        return FileLink(f"{address}?{self.query}" if self.query else address, label, copy)


def figure_gallery(
    request: HttpRequest, page: str, key: str, figures: Iterable[Figure | None]
) -> dict[str, Any]:
    """The context of a page with these figures, for the tag `figure_menu`; those that are None are left out."""
    named = {figure.name: figure for figure in figures if figure is not None}
    return {"figure_gallery": Gallery(page, key, request.GET.urlencode(), named)}


def copies(figure: Figure) -> list[FileLink]:
    """The texts of a figure without an address, because its page is the reply to a form; `address` is the ending."""
    return [
        FileLink(ending, gettext(DOWNLOAD).format(format=name), gettext(COPY).format(format=name))
        for ending, name in FORMATS.items()
        if ending in TEXTS and ending in figure.formats
    ]


def part_of_list(page: Page[Any] | None) -> str:
    """Which rows a file has of a list that its page cuts; "" for a whole list."""
    if page is None or page.paginator.num_pages < 2:
        return ""
    return gettext("Rows {first} to {last} of {total}.").format(
        first=page.start_index(), last=page.end_index(), total=page.paginator.count
    )


def pseudonyms(project: Project) -> dict[int | None, str]:
    """What members, also former ones, are called in files, by the key of the person."""
    return dict(Membership.objects.filter(project=project).values_list("person_id", "pseudonym"))
