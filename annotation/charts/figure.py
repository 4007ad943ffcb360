"""Figures of a study: a named chart with its numbers, made once; the page, files and texts all come from it.

    figure = Figure("weeks", "Agreement by week", sheet, Lines(labels, series, axis))
    figure.svg, figure.table            # for the page
    image_files.content(figure, "pdf")  # for a paper

A figure without a chart is a table. Pure: no database, no request.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString

from annotation.charts import svg
from annotation.charts.series import Chart
from tableqa.writers.report_tables import Sheet, as_csv, as_latex, as_markdown, html_notes, html_rows

TEXTS: dict[str, tuple[str, Callable[[Sheet], str]]] = {
    "tex": ("application/x-tex", as_latex),
    "md": ("text/markdown", as_markdown),
    "csv": ("text/csv", as_csv),
}
"""Forms of the table by the ending of their file: content type, and the function that writes it."""
IMAGES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
"""Forms of the chart by the ending of their file, with their content types."""


@dataclass(frozen=True)
class Subject:
    """What a figure is about, for its files: they are read away from the page that says it.

    text   such as "Project Films, batch Types"
    key    what labels of LaTeX begin with, different for each subject
    """

    text: str
    key: str


@dataclass(frozen=True)
class Figure:
    """A chart with the table of its numbers, or a table alone.

    name    unique on its page, of letters, digits and hyphens: for addresses, files and anchors
    title   what it shows, a sentence without an end
    basis   how many units it is of, such as "n = 204 responses", where the points do not say it themselves
    subject what it is about, as its files say; None where the view that writes the file knows it
    """

    name: str
    title: str
    sheet: Sheet
    chart: Chart | None = None
    basis: str = ""
    subject: Subject | None = None

    @property
    def svg(self) -> SafeString:
        """The chart for a page, in the style of the page; "" for a table."""
        return SafeString() if self.chart is None else svg.draw(self.name, self.title, self.chart)

    @property
    def caption(self) -> list[str]:
        """What has to be known to read the chart: of how many units it is, and what its marks are."""
        basis = [self.basis] if self.basis else []
        return [*basis, *(self.chart.notes if self.chart is not None else ())]

    @property
    def table(self) -> SafeString:
        """Head and body of the table for a page."""
        return SafeString(html_rows(self.sheet))  # nosec B703: escaped there

    @property
    def notes(self) -> SafeString:
        """The note below the table on a page."""
        return SafeString(html_notes(self.sheet))  # nosec B703: escaped there

    @property
    def formats(self) -> tuple[str, ...]:
        """The endings of the files there are of it."""
        return (*TEXTS, *(IMAGES if self.chart is not None else ()))

    @property
    def sheet_of_file(self) -> Sheet:
        """The table with what its files say it is about."""
        if self.subject is None:
            return self.sheet
        return replace(self.sheet, subject=self.subject.text, label=f"{self.subject.key}-{self.name}")


def content_type(format: str) -> str:
    """The content type of a file of this ending."""
    return IMAGES[format] if format in IMAGES else f"{TEXTS[format][0]}; charset=utf-8"
