"""The tables of charts of an evaluation are in the form of numbers of their reader's language."""

from __future__ import annotations

from django.utils import translation

from annotation.drawing.charts import Point
from annotation.evaluation.evaluation_report import _cell


def test_a_german_reader_sees_commas_in_values_and_intervals() -> None:
    with translation.override("de"):
        cell = _cell(Point(43.5, 16.25, 69.0, 18))

    assert cell.text == "43,50"
    assert cell.detail == "16,25 bis 69,00"
    assert cell.number == 43.5
