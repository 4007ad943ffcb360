"""Figures as files: the series of the page, alone, in every form; for those who may see the page."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import asdict
from xml.etree import ElementTree

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from annotation.charts import image_files
from annotation.charts.figure import IMAGES, TEXTS, Figure
from annotation.charts.series import (
    Axis,
    Bars,
    Chart,
    Columns,
    Distribution,
    Distributions,
    Heat,
    Lines,
    Point,
    Series,
)
from annotation.models import Membership
from annotation.platform import immutable_rows
from annotation.web.views.agreement_figures import report_table
from annotation.workflow import projects
from tableqa.statistics import medians
from tableqa.statistics.proportions import proportion
from tableqa.writers.report_tables import Cell, Column, Sheet, as_csv, text
from tests.annotation.cast import NOON, World
from tests.annotation.test_dashboards import timed

AXIS = Axis(0, 100, (0, 50, 100), "%")
LABELS = ["row_shuffle", "$x^2$ & <b> _a"]
SERIES = [
    Series("TAPEX", [Point(50, 40, 60, 120), Point(None)]),
    Series("_Omni", [Point(25, 20, 31, 100), Point(90, 80, 95, 7)]),
]
CHARTS: dict[str, Chart] = {
    "bars": Bars(LABELS, SERIES, AXIS),
    "lines": Lines(LABELS, SERIES, AXIS),
    "columns": Columns(["1 Nov", "2 Nov"], [Series("Submissions", [Point(12), Point(40)])], AXIS),
    "heat": Heat(["a", "b"], ["a", "b"], [[10, 3], [3, None]], 0, 10, whole=True),
    "distribution": Distribution(
        LABELS, [Distributions("s", [[1.0, 2.0], [float(i) for i in range(50)]])], AXIS
    ),
}
SVG = "{http://www.w3.org/2000/svg}"


def figure(chart: Chart | None = None) -> Figure:
    columns = (Column("Perturbation", numeric=False), Column("R-ACC", counted="Questions", unit="%"))
    rows = ((text("row_shuffle"), Cell("50.00", 50.0, "40.00 to 60.00", low=40.0, high=60.0, n=120)),)
    sheet = Sheet(
        "robustness", "Robustness", columns, rows, "Share of correct answers that stay & <correct>."
    )
    return Figure("robustness", "Robustness & <more> of $x$", sheet, chart, basis="n = 127 questions")


@pytest.mark.parametrize("format", list(IMAGES))
@pytest.mark.parametrize("chart", CHARTS.values(), ids=list(CHARTS))
def test_the_same_figure_gives_the_same_file(chart: Chart, format: str) -> None:
    first, second = (image_files.content(figure(chart), format) for _ in range(2))
    assert first == second
    assert first.startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[format])
    assert not re.search(rb"CreationDate|ModDate|<dc:date>", first), "no date"


@pytest.mark.parametrize("chart", CHARTS.values(), ids=list(CHARTS))
def test_an_svg_stands_alone(chart: Chart) -> None:
    content = image_files.content(figure(chart), "svg")
    tree = ElementTree.fromstring(content)
    assert tree.tag == f"{SVG}svg"
    assert tree.attrib["viewBox"]
    assert tree.attrib["role"] == "img"
    assert [one.text for one in tree.iter(f"{SVG}title")] == ["Robustness & <more> of $x$"]
    assert [one.text for one in tree.iter(f"{SVG}desc")] == [
        "Share of correct answers that stay & <correct>."
    ]
    assert not list(tree.iter(f"{SVG}text")), "letters are outlines, so no font is needed"
    assert not re.search(rb"<script|\bhref=\"http|@import|url\(http", content)


def test_a_picture_says_of_how_many_units_and_what_its_whiskers_are() -> None:
    from annotation.charts.image_files import _footnote

    assert _footnote(figure(CHARTS["bars"])).split("\n")[:2] == [
        "n = 127 questions",
        "Whiskers: 95 % confidence intervals.",
    ]


def test_page_and_file_say_the_same_about_marks() -> None:
    from annotation.charts.image_files import _footnote

    for chart in CHARTS.values():
        caption = figure(chart).caption
        page = render_to_string("dashboards/_chart.html", {"chart": figure(chart)})
        assert caption[0] == "n = 127 questions"
        assert all(sentence in page for sentence in caption)
        assert _footnote(figure(chart)).split("\n")[: len(caption)] == caption


def test_each_point_has_its_own_n() -> None:
    from annotation.charts.image_files import _footnote, _with_each_n, _with_n

    equal = [Series("TAPEX", [Point(50, n=1200)]), Series("Omni", [Point(25, n=1200), Point(None)])]

    weeks = Lines(["2026-W09", "2026-W10"], SERIES, AXIS)

    assert _with_n(Bars(LABELS, SERIES, AXIS), 0) == "row_shuffle", "each bar says its own"
    assert _with_n(Bars(LABELS, equal, AXIS), 0) == "row_shuffle (n = 1,200)"
    assert _with_each_n(weeks, 0) == "2026-W09\nn = 120\n100"
    assert _with_each_n(weeks, 1) == "2026-W10\n(n = 7)"
    assert "in the order of the legend" in _footnote(figure(CHARTS["lines"]))
    assert "in the order of the legend" not in _footnote(figure(CHARTS["bars"]))
    assert "n = 120 (A), 100 (B)" in figure(CHARTS["bars"]).svg


def test_a_table_has_no_pictures() -> None:
    assert figure().formats == tuple(TEXTS)
    with pytest.raises(KeyError):
        image_files.content(figure(), "pdf")


# -- the page ---------------------------------------------------------------------------------------


def browser(person: object) -> Client:
    client = Client()
    client.force_login(person)  # type: ignore[arg-type]
    return client


def links(client: Client, page: str) -> list[str]:
    return re.findall(r'href="(/figures/[^"]+)"', client.get(page).content.decode().replace("&amp;", "&"))


@pytest.mark.django_db
def test_every_link_of_a_page_gives_its_file(world: World) -> None:
    batch = timed(world)
    client = browser(world.mara)
    for page in (
        f"/projects/{world.project.slug}/agreement/?batch={batch.public_id}",
        f"/projects/{world.project.slug}/dashboard/",
        f"/batches/{batch.public_id}/quality/",
        f"/batches/{batch.public_id}/",
    ):
        found = links(client, page)
        assert found, page
        for address in found:
            if address.split("?")[0].endswith((".pdf", ".png")):
                continue  # drawn as the SVG is, and slow
            response = client.get(address)
            assert response.status_code == 200, address
            assert response.content
            assert "attachment" in response["Content-Disposition"]


@pytest.mark.django_db
def test_a_file_holds_the_numbers_of_the_page(world: World) -> None:
    batch = timed(world)
    page = f"/projects/{world.project.slug}/agreement/?batch={batch.public_id}"
    client = browser(world.mara)
    address = next(one for one in links(client, page) if "/statistics.csv" in one)

    rows = list(csv.DictReader(io.StringIO(client.get(address).content.decode())))

    assert {"value", "low", "high", "n"} <= rows[0].keys()
    html = client.get(page).content.decode()
    for row in rows:
        assert f"{float(row['value']):.3f}" in html
        assert row["n"] == "24"


@pytest.mark.django_db
def test_a_file_is_in_english_and_has_pseudonyms(world: World) -> None:
    batch = timed(world)
    client = browser(world.mara)
    client.cookies["language"] = "de"
    address = reverse("figure_file", args=["quality", batch.public_id, "people", "csv"])

    content = client.get(address, headers={"accept-language": "de"}).content.decode()

    pseudonyms = Membership.objects.filter(person=world.people["ada"]).values_list("pseudonym", flat=True)
    assert content.startswith("Person,Submitted,Skipped,")
    assert pseudonyms[0] in content
    assert world.people["ada"].name not in content


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("of", "name", "format"),
    [
        ("agreement", "statistics", "svg"),
        ("agreement", "nothing", "csv"),
        ("cats", "weeks", "csv"),
        ("agreement", "weeks", "exe"),
    ],
)
def test_what_there_is_not_is_not_found(world: World, of: str, name: str, format: str) -> None:
    timed(world)
    address = reverse("figure_file", args=[of, world.project.slug, name, format])
    assert browser(world.mara).get(address).status_code == 404


@pytest.mark.django_db
def test_nobody_gets_a_figure_of_a_page_that_is_kept_from_them(world: World) -> None:
    batch = timed(world)
    for of, key in (
        ("agreement", world.project.slug),
        ("quality", batch.public_id),
        ("batch", batch.public_id),
    ):
        address = reverse("figure_file", args=[of, key, "statistics", "csv"])
        assert browser(world.people["ada"]).get(address).status_code == 404


def test_shares_and_medians_of_a_report_are_numbers_with_ends_and_n_in_its_csv() -> None:
    report = {
        "title": "Groups",
        "columns": ["Group", "Accepted", "Median seconds"],
        "rows": [
            ["with", asdict(proportion(185, 200)), asdict(medians.Estimate(12.0, 10.5, 30.0, 9))],
            ["without", asdict(proportion(3, 3)), asdict(medians.estimate_median([7.0, 7.0]))],
        ],
        "note": "",
    }

    table = report_table(json.loads(json.dumps(report)), 1).sheet
    with_proposals, without = csv.DictReader(io.StringIO(as_csv(table)))

    accepted = [with_proposals[f"Accepted{end}"] for end in ("", ", low", ", high", ", n", ", unit")]
    assert [*map(float, accepted[:4]), accepted[4]] == [
        92.5,
        pytest.approx(88.0, abs=0.05),
        pytest.approx(95.4, abs=0.05),
        200,
        "%",
    ]
    assert float(without["Accepted, low"]) < 100
    assert float(without["Median seconds"]) == 7
    assert without["Median seconds, low"] == "", "no interval rather than one of zero width"


def test_label_confusion_and_the_agreement_of_a_calibration_can_be_exported(world: World) -> None:
    batch = world.batch(overlap=3, purpose="calibration")
    for who in ("ada", "bo", "cy"):
        for number in range(4):
            world.label(batch, who, ("extraction", "reasoning")[number % 2])
    client = Client()
    client.force_login(world.mara)

    quality = client.get(reverse("batch_quality", args=[batch.public_id]))
    calibration = client.get(reverse("calibration", args=[batch.public_id])).content.decode()
    address = reverse("figure_file", args=["quality", batch.public_id, "confusion-1", "csv"])
    rows = list(csv.reader(io.StringIO(client.get(address).content.decode())))

    assert address in quality.content.decode()
    assert rows[0][0] == "True label (estimated)"
    first = dict(zip(rows[0], rows[1], strict=True))
    shares = [float(first[f"labelled {label}"]) for label in ("extraction", "reasoning")]
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert float(first["labelled extraction, low"]) < shares[0] < float(first["labelled extraction, high"])
    assert reverse("figure_file", args=["calibration", batch.public_id, "statistics", "tex"]) in calibration


def test_the_export_beside_a_persons_label_confusion_is_of_that_person(world: World) -> None:
    """The page is ordered by name and the files by pseudonym."""
    labels = {"ada": "extraction", "bo": "reasoning", "cy": "neither"}
    people = sorted(labels, key=lambda name: world.people[name].name)
    for pseudonym, name in zip("zyx", people, strict=True):
        with immutable_rows.writable():
            Membership.objects.filter(person=world.people[name]).update(pseudonym=f"{pseudonym}-otter")
    batch = world.batch(overlap=3)
    for who, label in labels.items():
        for number in range(4):
            world.label(batch, who, label if number else "extraction")
    client = Client()
    client.force_login(world.mara)

    page = client.get(reverse("batch_quality", args=[batch.public_id])).content.decode()

    for pseudonym, name in zip("zyx", people, strict=True):
        section = page.split(f">{world.people[name].name}</h2>")[1].split("</section>")[0]
        (address,) = set(re.findall(r'href="([^"]+\.md)[^"]*"', section))
        file = client.get(address).content.decode()
        assert f"Estimated label confusion of {pseudonym}-otter" in file
        assert re.findall(r"\d+ %", file) == re.findall(r"\d+ %", section)


def test_pay_and_costs_can_be_exported_by_managers_with_pseudonyms(world: World) -> None:
    projects.change_terms(
        project=world.project, pay={"currency": "EUR", "per_item": 0.5}, caps={}, by=world.mara, now=NOON
    )
    batch = world.batch(overlap=1)
    world.label(batch, "ada", "extraction")
    mara, ivo = Client(), Client()
    mara.force_login(world.mara)
    ivo.force_login(world.people["ivo"])
    address = reverse("figure_file", args=["people", "films", "pay", "csv"])

    page = mara.get("/projects/films/people/").content.decode()
    (row,) = csv.DictReader(io.StringIO(mara.get(address).content.decode()))
    (cost,) = csv.DictReader(io.StringIO(mara.get(address.replace("pay", "costs")).content.decode()))

    assert address in page
    assert row["Person"] == Membership.objects.get(person=world.ada).pseudonym
    assert (row["Items"], float(row["Pay"]), row["Currency"]) == ("1", 0.5, "EUR")
    assert float(cost["Cost"]) == 0.5
    assert ivo.get(address).status_code == 404


def test_members_and_counts_of_a_batch_can_be_exported(world: World) -> None:
    batch = world.batch(size=2, name="Types")
    world.label(batch, "ada", "extraction")
    client = browser(world.mara)

    for page, address, row in (
        ("/projects/films/people/", "/projects/films/people/", "annotator,1,"),
        (f"/batches/{batch.public_id}/", "counts", "Submitted,1"),
    ):
        files = [link for link in links(client, page) if link.endswith(".csv") or "/csv" in link]
        texts = [client.get(link).content.decode() for link in files]
        assert any(row in text for text in texts), (address, texts)
        assert not any(world.ada.name in text for text in texts)
