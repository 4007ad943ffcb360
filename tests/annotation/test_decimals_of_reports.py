"""The tables of charts of an evaluation are in the form of numbers of their reader's language."""

from __future__ import annotations

from django.utils import translation

from annotation.charts.series import Point
from annotation.releases.model_evaluation.report import _cell, _seeds
from tableqa.scoring.evaluation import MACRO, Evaluation, Row
from tableqa.statistics.robustness import Estimate


def test_a_german_reader_sees_commas_in_values_and_intervals() -> None:
    with translation.override("de"):
        cell = _cell(Point(43.5, 16.25, 69.0, 18))

    assert cell.text == "43,50"
    assert cell.detail == "16,25 bis 69,00"
    assert cell.number == 43.5


def test_a_german_reader_sees_commas_in_the_accuracy_of_each_seed() -> None:
    share = Estimate(0.5, None, None, 4)
    row = Row("row_shuffle", MACRO, 4, share, share, share, share, share, {1: 0.25, 2: 0.755}, 0.35)

    with translation.override("de"):
        figure = _seeds({"small": Evaluation((row,), 0)})

    assert figure is not None
    [cells] = figure.sheet.rows
    assert [cell.text for cell in cells[2:]] == ["2", "50,25", "35,00", "1: 25,00; 2: 75,50"]
