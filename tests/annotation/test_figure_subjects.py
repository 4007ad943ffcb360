"""Files of figures say what they are about: they are read away from their page, beside those of other batches."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.urls import reverse

from annotation.charts import image_files, study_figures
from annotation.charts.figure import Figure, Subject
from annotation.models import Batch, Release
from annotation.web.views.figure_files import PAGES
from annotation.web.views.figure_subjects import SUBJECTS, subject_of
from tests.annotation.cast import World
from tests.annotation.role_table import Things, make_things
from tests.annotation.test_dashboards import timed
from tests.annotation.test_defining import define
from tests.annotation.test_evaluation_runs import rea, release, said, sent
from tests.annotation.test_figure_files import CHARTS, SVG, figure

__all__ = ["rea", "release"]


ABOUT = Subject("Project Films, batch Types", "films-types")


def with_subject(exported: Figure) -> Figure:
    return Figure(exported.name, exported.title, exported.sheet, exported.chart, exported.basis, ABOUT)


def file_of(world: World, page: str, key: str, name: str, **query: str) -> str:
    client = Client()
    client.force_login(world.mara)
    response = client.get(reverse("figure_file", args=[page, key, *name.split(".")]), query)
    assert response.status_code == 200, (page, key, name)
    return response.content.decode()


def test_every_form_of_a_figure_says_what_it_is_about() -> None:
    exported = with_subject(figure(CHARTS["bars"]))
    svg, pdf, tex, markdown, table = (
        image_files.content(exported, format) for format in ("svg", "pdf", "tex", "md", "csv")
    )

    tree = ElementTree.fromstring(svg)
    (title,), (description,) = (
        [one.text or "" for one in tree.iter(f"{SVG}{tag}")] for tag in ("title", "desc")
    )
    assert title == "Robustness & <more> of $x$. Project Films, batch Types"
    assert description.startswith("Project Films, batch Types. Share of correct")
    assert b"Project Films, batch Types" in pdf
    assert r"\caption{Robustness. Project Films, batch Types. " in tex.decode()
    assert "\n\nProject Films, batch Types\n\n|" in markdown.decode()
    (row,) = csv.DictReader(io.StringIO(table.decode()))
    assert row["Subject"] == "Project Films, batch Types"


@pytest.mark.parametrize("chart", CHARTS)
def test_a_drawing_has_its_subject_below_its_title(chart: str) -> None:
    from matplotlib import rc_context
    from matplotlib.text import Annotation, Text

    from annotation.charts.image_files import STYLE, _render

    with rc_context(STYLE):
        canvas = _render(with_subject(figure(CHARTS[chart])))
        canvas.draw_without_rendering()
        (subject,) = [one for one in canvas.findobj(Annotation) if one.get_text() == ABOUT.text]
        boxes = {
            one.get_text(): one.get_window_extent()
            for one in canvas.findobj(Text)
            if one is not subject and one.get_text().strip() and one.get_visible()
        }
        title = next(box for text, box in boxes.items() if text.startswith("Robustness"))
        own = subject.get_window_extent()

    assert title.y0 - 1 <= own.y0
    assert own.y1 < title.y1 - title.height / 2
    assert [text for text, box in boxes.items() if box is not title and box.overlaps(own)] == []


def test_a_chart_says_why_a_point_has_no_whiskers() -> None:
    from annotation.charts.image_files import _footnote

    week = {"name": "2026-W09", "value": 1.0, "low": 1.0, "high": 1.0, "units": 9, "raters": 3}
    exported = study_figures.agreement_over_weeks([("label, Fleiss' kappa", "fleiss_kappa", [week])])
    assert exported is not None

    description = (
        next(ElementTree.fromstring(image_files.content(exported, "svg")).iter(f"{SVG}desc")).text or ""
    )
    assert "No interval: " in _footnote(exported)
    assert "No interval: " in description


def test_the_chart_of_weeks_names_its_statistic_its_measure_and_its_batch(world: World) -> None:
    batch = timed(world)

    svg = file_of(world, "agreement", world.project.slug, "weeks.svg", batch=batch.public_id)

    title = next(ElementTree.fromstring(svg).iter(f"{SVG}title")).text
    assert title == (
        "Agreement by week of an item's last response: label, Fleiss' kappa. "
        f"Project {world.project.name}, batch {batch.name}"
    )


def test_the_same_table_of_two_batches_has_two_labels_and_two_captions(world: World) -> None:
    for name in ("First", "Second"):
        batch = world.batch(overlap=3, name=name)
        for who in ("ada", "bo", "cy"):
            for number in range(4):
                world.label(batch, who, ("extraction", "reasoning")[number % 2])
    batches = Batch.objects.filter(name__in=["First", "Second"])
    sources = [
        *(file_of(world, "batch", one.public_id, "counts.tex") for one in batches),
        *(
            file_of(world, "agreement", world.project.slug, "statistics.tex", batch=one.public_id)
            for one in batches
        ),
    ]

    labels = [re.findall(r"\\label\{(.*)\}", source)[0] for source in sources]
    captions = [re.findall(r"\\caption\{(.*)\}", source)[0] for source in sources]
    assert len(set(labels)) == 4
    assert all(re.fullmatch(r"tab:[A-Za-z0-9-]+", label) for label in labels)
    assert [("batch First" in caption, "batch Second" in caption) for caption in captions] == [
        (batch.name == "First", batch.name == "Second") for batch in [*batches, *batches]
    ]


@pytest.mark.django_db(transaction=True)
def test_charts_of_one_model_name_the_model_and_the_release(rea: Client, release: Release) -> None:
    address = reverse("figure_file", args=["evaluations", release.public_id, "robustness", "csv"])
    first = sent(rea, release, "TAPEX", said(release))
    (alone, *_) = csv.DictReader(io.StringIO(rea.get(address).content.decode()))
    second = sent(rea, release, "OmniTab", said(release))
    (beside, *_) = csv.DictReader(
        io.StringIO(rea.get(address, {"run": [first.public_id, second.public_id]}).content.decode())
    )

    assert alone["Subject"] == "Project Films, release v1, model TAPEX"
    assert beside["Subject"] == "Project Films, release v1"


def test_guidelines_of_a_task_type_of_the_project_have_its_title(world: World) -> None:
    task = define(world)

    subject = subject_of("guidelines", f"{world.project.slug}.table_complexity")

    assert subject.text == f"Project Films, guidelines for {task.task().title}"


def test_every_page_with_figures_has_a_subject(world: World, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    things: Things = make_things(world)
    keys = {
        **dict.fromkeys(PAGES, world.project.slug),
        **dict.fromkeys(
            ("batch", "batch_people", "calibration", "gold", "quality", "report"), things.batch.public_id
        ),
        **dict.fromkeys(("compare", "evaluations", "release"), things.release.public_id),
        "guidelines": f"{world.project.slug}.question_type",
        "item": things.batch.items.first().public_id,  # type: ignore[union-attr]
        "source": world.source.public_id,
    }

    subjects = {page: subject_of(page, key) for page, key in keys.items()}

    assert SUBJECTS.keys() == PAGES.keys()
    assert all(subject.text.startswith(f"Project {world.project.name}") for subject in subjects.values())
    assert f"release {things.release.name}" in subjects["evaluations"].text
    assert f"batch {things.batch.name}" in subjects["item"].text
    assert subjects["guidelines"].text.endswith("guidelines for Question type")
    assert len({subject.key for subject in subjects.values()}) == len(subjects)
