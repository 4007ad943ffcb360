"""How models do on a release, side by side: tables laid out as in the papers, charts of the same numbers, and every
form in which they leave.

    report = make_report("films 1.0", {"TAPEX": judgement, "OmniTab": other})
    report.sheets, report.figures
    format_report(report, "markdown")
    write(report, Path("out"), ["html", "latex"])
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from annotation.charts.fields import estimate_cell
from annotation.charts.figure import Figure
from annotation.charts.series import Bars, Distribution, Distributions, Lines, Point, Series, axis_over, ends
from annotation.charts.study_figures import as_percent
from annotation.platform import display_text
from tableqa.scoring.evaluation import (
    MACRO,
    Difference,
    Evaluation,
    Judgement,
    compare,
    corrected,
    figures,
    question_scores,
)
from tableqa.scoring.matching import ORIGINAL
from tableqa.scoring.model_comparisons import POSITIONS, in_order, sheets
from tableqa.statistics.robustness import Estimate
from tableqa.writers.report_tables import (
    NOTHING,
    Cell,
    Column,
    Sheet,
    as_csv,
    as_latex,
    as_markdown,
    as_text,
    count,
    text,
)

FORMATS = {"text": "txt", "json": "json", "markdown": "md", "latex": "tex", "html": "html", "csv": "csv"}
"""The forms of a report, each with the ending of its file."""
MOST_MODELS = 12
"""Models side by side: with more, neither a table nor a chart can be read."""


ByRule = Mapping[str, Mapping[str, Judgement]]
"""{rule of `MATCHES`: {model: its answers as this rule judges them}}"""


@dataclass(frozen=True)
class Numbers:
    """Figures of some models, of their differences, and of the same answers under each matching rule."""

    evaluations: Mapping[str, Evaluation]
    differences: Mapping[tuple[str, str], Sequence[Difference]]
    by_rule: Mapping[str, Mapping[str, Evaluation]]


@dataclass(frozen=True)
class Report(Numbers):
    """What is said of some models on one benchmark."""

    title: str
    sheets: Sequence[Sheet]
    figures: Sequence[Figure]
    about: Sequence[str]

    @property
    def tables(self) -> list[Figure]:
        """The tables laid out as in the papers."""
        return [_table(sheet) for sheet in self.sheets if not _is_long(sheet)]

    @property
    def long_tables(self) -> list[Figure]:
        """The tables that hold every kind in every source, which a page shows folded."""
        return [_table(sheet) for sheet in self.sheets if _is_long(sheet)]

    def to_dict(self) -> dict[str, Any]:
        """JSON: every figure of every model with its interval, shares from 0 to 1."""
        return {
            "benchmark": self.title,
            "about": list(self.about),
            "models": [
                {
                    "name": name,
                    **entry.to_dict(),
                    "by_rule": {
                        rule: [row.to_dict() for row in models[name].rows]
                        for rule, models in self.by_rule.items()
                    },
                }
                for name, entry in self.evaluations.items()
            ],
            "differences": [
                {"first": first, "second": second, "rows": [entry.to_dict() for entry in differences]}
                for (first, second), differences in self.differences.items()
            ],
        }


def _table(sheet: Sheet) -> Figure:
    return Figure(sheet.name, sheet.title, sheet)


def _is_long(sheet: Sheet) -> bool:
    return sheet.name == "all-figures" or sheet.name.startswith("difference-")


def compute_numbers(models: Mapping[str, Judgement], by_rule: ByRule | None = None) -> Numbers:
    """Compute the figures of these models with their intervals: the slow part of a report, in no language."""
    evaluations = {name: figures(judgement) for name, judgement in models.items()}
    differences = corrected(
        {pair: compare(*(models[name] for name in pair)) for pair in combinations(models, 2)}
    )
    rules = {
        rule: {
            name: evaluations[name] if judgement is models.get(name) else figures(judgement)
            for name, judgement in judgements.items()
        }
        for rule, judgements in (by_rule or {}).items()
    }
    return Numbers(evaluations, differences, rules)


def make_report(
    title: str,
    models: Mapping[str, Judgement],
    *,
    about: Sequence[str] = (),
    computed: Numbers | None = None,
    by_rule: ByRule | None = None,
) -> Report:
    """The report of these models, in the language that is active. `about` are sentences that a reader has to know: what
    was left out, by which limit. `computed` are the figures where they were worked out before. `by_rule` are the same
    predictions judged by several rules of `MATCHES`, `models` among them."""
    computed = computed or compute_numbers(models, by_rule)
    evaluations = computed.evaluations
    if sentences := sorted({source for judgement in models.values() for source in judgement.long_form}):
        left_out = gettext(
            "Excluded from exact match, because most answers are sentences: {sources}. Use text "
            "metrics for these sources."
        ).format(sources=", ".join(sentences))
        about = (*about, left_out)
    drawn = [
        _bars(
            "robustness",
            gettext("Robustness: share of originally correct answers that stay correct (R-ACC)"),
            evaluations,
            "r_acc",
            most=100,
        ),
        _bars(
            "change",
            gettext("Change in accuracy after the perturbation, in percentage points (Emd)"),
            evaluations,
            "emd",
            most=0,
        ),
        *_positions(evaluations),
        _seeds(evaluations),
        _questions(models, _kinds(evaluations)),
    ]
    return Report(
        **vars(computed),
        title=title,
        sheets=sheets(evaluations, computed.differences, computed.by_rule),
        figures=[figure for figure in drawn if figure is not None],
        about=tuple(about),
    )


# -- charts -----------------------------------------------------------------------------------------


def _bars(name: str, title: str, models: Mapping[str, Evaluation], figure: str, most: float) -> Figure | None:
    """A figure of every kind of perturbation, an attribute of its row."""
    kinds = _kinds(models)
    series = _series(models, kinds, figure)
    if not kinds or not any(ends(series)):
        return None
    axis = axis_over(ends(series), most=most)
    return Figure(name, title, _numbers(name, title, kinds, series), Bars(kinds, series, axis))


BY_PLACE = {
    "rows": (gettext_noop("Accuracy by position of the answer's rows"), gettext_noop("Position of the rows")),
    "columns": (
        gettext_noop("Accuracy by position of the answer's columns"),
        gettext_noop("Position of the columns"),
    ),
}
"""Of each of `POSITIONS`: the title of its chart, and the head of the first column of its table."""


def _positions(models: Mapping[str, Evaluation]) -> list[Figure]:
    """Accuracy by where the rows, or the columns, of the answer are; and that of the unchanged tables."""
    figures = []
    for what, positions in POSITIONS.items():
        kinds = {
            gettext("unchanged"): ORIGINAL,
            **{gettext(position): kind for position, kind in positions.items()},
        }
        if not all(
            any(evaluation.row(kind) for evaluation in models.values()) for kind in positions.values()
        ):
            continue
        series = _series(models, kinds.values(), "after")
        name, (title, head) = f"position-{what}", map(gettext, BY_PLACE[what])
        axis = axis_over(ends(series), most=100)
        figures.append(
            Figure(
                name,
                title,
                _numbers(name, title, list(kinds), series, head),
                Lines(list(kinds), series, axis),
            )
        )
    return figures


def _seeds(models: Mapping[str, Evaluation]) -> Figure | None:
    """Accuracy under each seed of each kind that draws."""
    kinds = _kinds(models)
    spreads = [
        Distributions(name, [_of_seeds(evaluation, kind) for kind in kinds])
        for name, evaluation in models.items()
    ]
    every = [value for spread in spreads for values in spread.values for value in values]
    if not every:
        return None
    rows = []
    for kind in kinds:
        for name, evaluation in models.items():
            row = evaluation.row(kind)
            if row is None or row.deviation is None:
                continue
            sentence = "; ".join(
                f"{seed}: {display_text.decimal(100 * value, 2)}"
                for seed, value in row.seeds.items()
                if value is not None
            )
            deviation = Cell(display_text.decimal(100 * row.deviation, 2), 100 * row.deviation)
            values = _of_seeds(evaluation, kind)
            mean = sum(values) / len(values)
            cells = (text(kind), text(name), count(len(values)), Cell(display_text.decimal(mean, 2), mean))
            rows.append((*cells, deviation, text(sentence)))
    columns = (
        *(Column(title, numeric=False) for title in (gettext("Perturbation"), gettext("Model"))),
        *map(Column, (gettext("seeds"), gettext("mean"), gettext("SD"))),
        Column(gettext("each"), numeric=False),
    )
    title = gettext("Accuracy per seed")
    # The axis begins near the lowest seed: from 0 on, seeds lie so close together that they would be one dot.
    axis = axis_over(every, least=min(every) - 1, most=min(100.0, max(every) + 1))
    sheet = Sheet("seeds-numbers", gettext("Exact match per seed"), columns, tuple(rows))
    return Figure("seeds", title, sheet, Distribution(kinds, spreads, axis))


def _of_seeds(evaluation: Evaluation, kind: str) -> list[float]:
    row = evaluation.row(kind)
    values = [] if row is None else [100 * value for value in row.seeds.values() if value is not None]
    return values if len(values) > 1 else []


def _questions(models: Mapping[str, Judgement], kinds: Sequence[str]) -> Figure | None:
    """For each kind with several seeds: how many questions are right under which share of them."""
    spreads, rows = [], []
    for name, judgement in models.items():
        several = {
            kind
            for kind in kinds
            if len({result.instance.seed for result in judgement.judged if result.instance.kind == kind}) > 1
        }
        values = [
            [100 * value for value in question_scores(judgement, kind).values()] if kind in several else []
            for kind in kinds
        ]
        spreads.append(Distributions(name, values))
    for index, kind in enumerate(kinds):
        for spread in spreads:
            if of := spread.values[index]:
                never, always = of.count(0.0), of.count(100.0)
                counts = (len(of), never, len(of) - never - always, always)
                rows.append((text(kind), text(spread.name), *map(count, counts)))
    if not rows:
        return None
    counted = [gettext("questions"), gettext("never correct")]
    counted += [gettext("sometimes correct"), gettext("always correct")]
    columns = (
        *(Column(title, numeric=False) for title in (gettext("Perturbation"), gettext("Model"))),
        *map(Column, counted),
    )
    title = gettext("Questions by share of seeds with a correct answer")
    sheet = Sheet("questions-numbers", gettext("Questions by number of seeds"), columns, tuple(rows))
    return Figure("questions", title, sheet, Distribution(kinds, spreads, axis_over([], most=100)))


def _kinds(models: Mapping[str, Evaluation]) -> list[str]:
    """The kinds of perturbation in the order of the tables."""
    return in_order({row.kind for evaluation in models.values() for row in evaluation.rows} - {ORIGINAL})


def _series(models: Mapping[str, Evaluation], kinds: Iterable[str], figure: str) -> list[Series]:
    kinds = list(kinds)
    return [Series(name, [_point(entry, kind, figure) for kind in kinds]) for name, entry in models.items()]


def _point(evaluation: Evaluation, kind: str, figure: str) -> Point | None:
    row = evaluation.row(kind, MACRO)
    if row is None:
        return None
    estimate: Estimate = getattr(row, figure)
    return Point(as_percent(estimate.value), as_percent(estimate.low), as_percent(estimate.high), estimate.n)


def _count(points: Sequence[Point | None]) -> str:
    """The number of questions behind these points; where models differ, one for each in their order."""
    counts = [str(point.n) for point in points if point is not None]
    return counts[0] if len(set(counts)) == 1 else " / ".join(counts)


def _numbers(name: str, title: str, labels: Sequence[str], series: Sequence[Series], head: str = "") -> Sheet:
    """The table of a chart: a row for each label with its number of questions, a column for each series."""
    columns = (
        Column(head or gettext("Perturbation"), numeric=False),
        Column("n"),
        *(Column(entry.name) for entry in series),
    )
    rows = []
    for index, label in enumerate(labels):
        points = [line.points[index] for line in series]
        rows.append((text(label), text(_count(points)), *map(_cell, points)))
    note = gettext("Percent with 95 % CI. n: questions behind the value.")
    return Sheet(f"{name}-numbers", title, columns, tuple(rows), note)


def _cell(point: Point | None) -> Cell:
    if point is None:
        return text(NOTHING)
    return Cell(gettext("undefined")) if point.value is None else estimate_cell(point, 2)


# -- forms ------------------------------------------------------------------------------------------


def format_report(report: Report, format: str) -> str:
    """The whole report in one of `FORMATS`. Raises KeyError for another."""
    tables = [*report.sheets, *(figure.sheet for figure in report.figures)]
    forms = {
        "text": lambda: "\n".join([*_head(report), *map(as_text, report.sheets)]),
        "json": lambda: json.dumps(report.to_dict(), indent=1, ensure_ascii=False) + "\n",
        "markdown": lambda: "\n".join([*_head(report), *map(as_markdown, report.sheets)]),
        # With the title of the report in captions and labels, so that tables of two reports fit into one paper.
        "latex": lambda: "\n".join(
            as_latex(replace(sheet, subject=report.title, label=f"{report.title}-{sheet.name}"))
            for sheet in report.sheets
        ),
        "html": lambda: _page(report),
        "csv": lambda: "\r\n".join(f"{_csv_title(sheet)}\r\n{as_csv(sheet)}" for sheet in tables),
    }
    return forms[format]()


def write(report: Report, out: Path, formats: Iterable[str]) -> list[Path]:
    """Write the report into a folder, in these formats; CSV with a file for each table. Returns what was written."""
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for format in formats:
        ending = FORMATS[format]
        if format == "csv":
            tables = [*report.sheets, *(figure.sheet for figure in report.figures)]
            files = {f"{sheet.name}.{ending}": as_csv(sheet) for sheet in tables}
        else:
            files = {f"evaluation.{ending}": format_report(report, format)}
        for name, content in files.items():
            path = out / name
            path.write_text(content, encoding="utf-8", newline="")
            paths.append(path)
    return paths


def _head(report: Report) -> list[str]:
    return [report.title, *report.about, ""] if report.about else []


def _csv_title(sheet: Sheet) -> str:
    return as_csv(Sheet(sheet.name, sheet.title, (Column(sheet.title),), ())).rstrip("\r\n")


def _page(report: Report) -> str:
    """A page of its own, without anything from elsewhere: its style is in it."""
    sheet = "".join(_style(name) for name in ("standalone.css", "charts.css"))
    # The element, too, is made here: templates hold none, for on a page of the platform it would be refused.
    style = format_html("<style>\n{}</style>", SafeString(sheet))  # nosec B703: our own files
    return render_to_string("evaluating/static.html", {"report": report, "style": style})


def _style(name: str) -> str:
    """One of our style sheets, without its comments."""
    path = finders.find(f"askew/{name}")
    assert isinstance(path, str), f"{name} lies among the static files"  # nosec
    return re.sub(r"/\*.*?\*/\s*", "", Path(path).read_text(encoding="utf-8"), flags=re.DOTALL)
