"""Every table of figures and every chart of a manager's pages has an export menu."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Job, Membership, Proposal
from annotation.quality import gold
from annotation.releases.model_evaluation import runs
from annotation.workflow import assignments, batches, perturbation_runs
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer
from tests.annotation.role_table import PAGES, Things, make_things, the_batch

EXCEPTIONS = {
    "Crowd workers, table": "platform IDs: they are together with names in the payment sheet and on no other page",
    "Items, table": "the explorer exports its whole selection as CSV, XLSX, JSON Lines and Parquet",
    "Responses to item 1, table": "responses to one item; one menu above them has those of all items of the page",
    "In progress, table": "a form to take items back",
    "Formats, table": "columns of files that can be imported",
    "Fields and labels, table": "a form of an import that has not happened",
    "Preview": "the methods appendix as a text, which is downloaded as Markdown and LaTeX",
    "People, table": "a form of an import that has not happened",
}
"""Tables without a menu, by the name that screen readers say, and why."""
WANTED = {
    "Accuracy, table",
    "Allocation by batch, table",
    "Allocation by person and batch, table",
    "Allocation, table",
    "Audit log, table",
    "Batches, table",
    "Costs, table",
    "Crowd links, table",
    "Evaluations, table",
    "Files by format, table",
    "Files, table",
    "Flags, table",
    "Gold answers, table",
    "History, table",
    "Members, table",
    "Open invitations, table",
    "Pay by person and batch, table",
    "Perturbations by kind, table",
    "Proposals, table",
    "Questions, table",
    "Releases, table",
    "Results, table",
    "Skipped items, table",
    "Sources and licences, table",
    "Sources, table",
    "Versions, table",
}
"""Tables that the walk has to come across, so that it proves something about them."""


@dataclass
class Part:
    """A section of a page: its tables by name, its charts and its export menus, without those of sections inside."""

    tables: list[str] = field(default_factory=list)
    charts: int = 0
    menus: int = 0

    @property
    def lacks(self) -> bool:
        figures = len([name for name in self.tables if name not in EXCEPTIONS])
        return self.menus < (figures or min(self.charts, 1))


class Parts(HTMLParser):
    """The sections of a page."""

    INSIDE = ("main", "section", "article")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open, self.found, self.label = [Part()], list[Part](), ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        names = (values.get("class") or "").split()
        if tag in self.INSIDE:
            self.open.append(Part())
        elif tag == "table" and "tabular" not in names:
            self.open[-1].tables.append(self.label)
        elif tag == "div" and "scroll" in names:
            self.label = values.get("aria-label") or ""
        self.open[-1].charts += tag == "div" and "chart" in names
        self.open[-1].menus += tag == "details" and "figure-menu" in names

    def handle_endtag(self, tag: str) -> None:
        if tag in self.INSIDE:
            self.found.append(self.open.pop())


@pytest.fixture
def things(world: World, settings: Any, tmp_path: Path) -> Things:
    """One of everything, and what fills the tables of the pages."""
    settings.MEDIA_ROOT = tmp_path / "media"
    things = make_things(world)
    skipped, flagged = world.take(things.batch, "bo"), world.take(things.batch, "cy")
    assert skipped is not None
    assert flagged is not None
    assignments.skip(assignment=skipped, reason="A torn table", now=NOON)
    assignments.flag(assignment=flagged, note="=odd", now=NOON)
    first, *_ = world.source.examples.order_by("position")
    terms: dict[str, Any] = {"purpose": "qualification", "pass_percent": 50, "open": False, "name": "Test"}
    test = world.batch(only=[first.external_id], **terms)
    gold.set_gold(batch=test, example=first, data={"label": "extraction"}, by=world.mara, now=NOON)
    batches.open_batch(batch=test, by=world.mara, now=NOON)
    world.label(test, "ada", "extraction")
    making = world.batch("header_synonym", size=1, help="offered", name="Proposals")
    Proposal.objects.create(item=making.items.get(), source="rules", maker="rules", data={}, made_at=NOON)
    perturbation_runs.perform(
        perturbation_runs.plan_run(
            project=world.project, kinds=["transpose"], seeds=[1], by=world.mara, now=NOON
        )
    )
    Job.objects.create(
        project=world.project,
        kind=runs.KIND,
        ids={"release": things.release.pk, "name": "TAPEX"},
        state=Job.State.FAILED,
        heartbeat=NOON,
        made_by=world.mara,
        made_at=NOON,
    )
    return things


def manager(things: Things) -> Client:
    client = Client()
    client.force_login(things.world.mara)
    return client


def pages(things: Things) -> Iterator[tuple[str, str]]:
    """The pages that a manager may open, by name and address; those about a batch once for each batch."""
    client, batches = importer(things.world.mara), list(Batch.objects.all())
    for name, (arguments, readers, _) in PAGES.items():
        if readers is None or "mara" not in readers:
            continue
        several = [[batch.public_id] for batch in batches] if arguments is the_batch else [arguments(things)]
        for one in several:
            response = client.get(reverse(name, args=one))
            if response.status_code == 200 and response["Content-Type"].startswith("text/html"):
                yield name, response.content.decode()
    slug = things.world.project.slug
    text = client.get(reverse("study", args=[slug]), {"download": ""}).content.decode()
    yield "study", client.post(reverse("study", args=[slug]), {"text": text, "act": "plan"}).content.decode()
    chosen = {"template": "freb_tqa", "source": things.world.source.public_id}
    yield "study_templates", client.get(reverse("study_templates", args=[slug]), chosen).content.decode()


def test_every_table_and_chart_of_a_manager_has_an_export_menu(things: Things) -> None:
    lacking, seen = set(), set()
    for name, page in pages(things):
        for part in Parts(page).found:
            seen |= set(part.tables)
            if part.lacks:
                lacking.add((name, *part.tables))

    assert lacking == set()
    assert WANTED - seen == set()
    assert EXCEPTIONS.keys() - seen == set()


def csv_of(client: Client, page: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each export menu of a page, by the name of its figure."""
    links = re.findall(r'href="(/figures/[^"]+\.csv[^"]*)"', page.replace("&amp;", "&"))
    files = {link.split("/")[-1].split(".")[0]: client.get(link) for link in links}
    assert {response.status_code for response in files.values()} <= {200}, links
    return {
        name: list(csv.DictReader(io.StringIO(response.content.decode()))) for name, response in files.items()
    }


def test_every_menu_gives_a_file_without_the_names_of_people(things: Things) -> None:
    client = manager(things)
    names = [person.name for who, person in things.world.people.items() if who != "root"]
    people = re.compile(r"\b(" + "|".join(names) + r")\b")

    for name, page in pages(things):
        for figure, rows in csv_of(client, page).items():
            assert rows, (name, figure)
            assert not people.search(str(rows)), (name, figure)


def test_the_lists_of_a_batch_are_whole_in_their_files(things: Things) -> None:
    world, client = things.world, manager(things)
    called = dict(Membership.objects.values_list("person__name", "pseudonym"))
    proposals = Batch.objects.get(name="Proposals")

    files = csv_of(client, client.get(reverse("batch", args=[things.batch.public_id])).content.decode())
    proposed = csv_of(client, client.get(reverse("batch", args=[proposals.public_id])).content.decode())

    assert [(row["Reason"], row["Person"]) for row in files["skips"]] == [("A torn table", called["Bo"])]
    assert [(row["Note"], row["Person"]) for row in files["flags"]] == [("'=odd", called["Cy"])]
    assert files["skips"][0]["Example"] in world.source.examples.values_list("external_id", flat=True)
    assert [(row["Created by"], row["Items"], row["Proposals"]) for row in proposed["proposals"]] == [
        ("rules", "1", "1")
    ]


def test_results_of_a_qualification_and_shares_of_people_are_in_their_files(things: Things) -> None:
    client, test = manager(things), Batch.objects.get(name="Test")
    called = dict(Membership.objects.values_list("person__name", "pseudonym"))

    files = csv_of(client, client.get(reverse("batch_people", args=[test.public_id])).content.decode())

    (ada,) = [row for row in files["results"] if row["Person"] == called["Ada"]]
    assert (ada["Done"], ada["Correct"], ada["Share correct"], ada["Result"]) == ("1", "1", "100", "passed")
    (bo,) = [row for row in files["results"] if row["Person"] == called["Bo"]]
    assert (bo["Done"], bo["Correct"], bo["Result"]) == ("0", "", "in progress")
    assert [row["Submitted"] for row in files["allocation"] if row["Person"] == called["Ada"]] == ["1"]


def test_the_table_of_batches_and_the_invitations_are_in_their_files(things: Things) -> None:
    client, slug = manager(things), things.world.project.slug

    batches = csv_of(client, client.get(reverse("project", args=[slug])).content.decode())["batches"]
    invited = csv_of(client, client.get(reverse("people", args=[slug])).content.decode())["invitations"]

    closed = next(row for row in batches if row["Batch"] == "Closed")
    assert (closed["State"], closed["Responses"], closed["Accepted"], closed["Items"]) == (
        "closed",
        "3",
        "1",
        "1",
    )
    assert [row["Roles"] for row in invited] == ["annotator"]


def test_the_costs_of_a_plan_and_the_batches_of_a_template_are_in_their_files(things: Things) -> None:
    client, slug = manager(things), things.world.project.slug
    text = client.get(reverse("study", args=[slug]), {"download": ""}).content.decode()
    chosen = {"template": "freb_tqa", "source": things.world.source.public_id}

    response = client.post(reverse("study", args=[slug]), {"text": text, "costs": "csv"})
    costs = list(csv.DictReader(io.StringIO(response.content.decode())))
    batches = csv_of(client, client.get(reverse("study_templates", args=[slug]), chosen).content.decode())

    assert response["Content-Disposition"] == f'attachment; filename="{slug}-study-costs.csv"'
    assert {row["Batch"] for row in costs} <= set(Batch.objects.values_list("name", flat=True))
    assert costs
    assert batches["batches"][0]["Items from"] == things.world.source.name


def test_the_list_of_evaluations_is_in_its_file(things: Things) -> None:
    client = manager(things)
    client.force_login(things.world.rea)

    page = client.get(reverse("evaluations", args=[things.release.public_id])).content.decode()

    (run,) = csv_of(client, page)["evaluations"]
    assert (run["Model"], run["State"], run["Predictions from"]) == ("TAPEX", "Failed", "file")


def test_flags_and_skips_are_in_no_file_of_those_who_may_not_read_them(things: Things) -> None:
    client = Client()
    client.force_login(things.world.rea)

    for name in ("flags", "skips"):
        address = reverse("figure_file", args=["batch", things.batch.public_id, name, "csv"])
        assert client.get(address).status_code == 404
        assert manager(things).get(address).status_code == 200


@pytest.mark.parametrize("of", ["batch_people", "gold", "people", "crowd"])
def test_pages_of_managers_give_their_files_to_managers_only(things: Things, of: str) -> None:
    client = Client()
    client.force_login(things.world.rea)
    key = things.world.project.slug if of in ("people", "crowd") else things.batch.public_id
    names = {"batch_people": "allocation", "gold": "gold-accuracy", "people": "invitations"}

    address = reverse("figure_file", args=[of, key, names.get(of, "crowd-links"), "csv"])

    assert client.get(address).status_code == 404
