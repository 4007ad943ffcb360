"""Statistics as templates show them: a figure of agreement with its name in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from annotation.charts.fields import table, texts
from annotation.charts.figure import Figure
from annotation.charts.study_figures import estimate, median, share, value_and_raters
from annotation.platform import display_text
from tableqa.statistics.medians import Estimate
from tableqa.statistics.proportions import Proportion
from tableqa.writers.report_tables import NOTHING, Cell, Column, Sheet, text


def figures_in_table(figures: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The context of `site/_agreement.html`: the figures for people, or the one reason why none of them is defined."""
    figures = list(figures)
    reasons = {figure["reason"] for figure in figures if figure["value"] is None}
    is_empty = len(reasons) == 1 and all(figure["value"] is None for figure in figures)
    return {
        "statistics": statistics(figures) if figures else None,
        "lacking": reasons.pop() if is_empty else "",
    }


def statistics(
    figures: Iterable[Mapping[str, Any]], *, batches: bool = False, name: str = "statistics", title: str = ""
) -> Figure | None:
    """The table of statistics of agreement; `batches`: of several, each figure with its `batch_name`."""
    records, notes = [], dict[str, None]()
    for figure in figures:
        statistic = display_text.statistic(figure["statistic"])
        measure = display_text.measure(figure["measure"])
        value = estimate(figure, figure["statistic"])
        records.append({**figure, "measure": measure, "statistic": statistic, "value": value})
        if figure["note"]:
            notes[f"{statistic}: {display_text.show(figure['note'])}"] = None
    fields = (
        *(texts(batch_name=gettext("Batch")) if batches else ()),
        *texts(measure=gettext("Measure"), statistic=gettext("Statistic")),
        *value_and_raters(),
    )
    return table(name, title or gettext("Agreement: all statistics"), fields, records, " ".join(notes))


def report_table(report: Mapping[str, Any], report_number: int) -> Figure:
    """A report of a task type, as a snapshot holds it, as a table; `report_number`: which one of its batch."""
    columns = tuple(
        _report_column(display_text.show(title), index, [row[index] for row in report["rows"]])
        for index, title in enumerate(report["columns"])
    )
    rows = tuple(tuple(_report_cell(value) for value in row) for row in report["rows"])
    name, title = f"report-{report_number}", display_text.show(report["title"])
    return Figure(name, title, Sheet(name, title, columns, rows, display_text.show(report["note"])))


def _report_column(title: str, index: int, values: Sequence[Any]) -> Column:
    estimates = [value for value in values if isinstance(value, Mapping)]
    if not estimates:
        return Column(title, numeric=index > 0)
    return Column(title, counted="n", unit="%" if "hits" in estimates[0] else "")


def _report_cell(value: Any) -> Cell:
    """A share (`proportions`) or median (`medians`) is a mapping in a snapshot; others are as they are."""
    if isinstance(value, Mapping):
        return share(Proportion(**value)) if "hits" in value else median(Estimate(**value))
    if value is None:
        return text(NOTHING)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Cell(display_text.number(str(value)), float(value))
    return text(display_text.show(value))
