"""Twenty questions that managers ask, each answered in at most three clicks (the table in docs/explorer.md).

A click follows a link that is on the page, opens a column, chooses in a list, or sends the form. Typing is no click.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import lxml.html
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.explorer import index
from annotation.models import Batch, Item, ResponseFact
from annotation.quality import gold
from annotation.releases import creation
from annotation.workflow import adjudication, assignments, automatic_decisions, batches
from tableqa import Example, Table
from tests.annotation.cast import NOON, World, set_work
from tests.annotation.test_explorer import browser

MOST_CLICKS = 3
FILMS = Table(["Film", "Year"], [["Heat", "1995"]])
CITIES = Table(["City", "Country"], [["Rome", "Italy"], ["Oslo", "Norway"]])
LEVELS = ["easy", "hard", "hard", *["easy"] * 7]
EXPLORER = "/projects/films/explorer/"


@dataclass
class Visit:
    """A manager on a page; `clicks` counts."""

    client: Client
    address: str = EXPLORER
    clicks: int = 0

    def __post_init__(self) -> None:
        self._open(self.address)

    def _open(self, address: str) -> None:
        reply = self.client.get(address, follow=True)
        assert reply.status_code == 200, (address, reply.status_code)
        self.address = reply.redirect_chain[-1][0] if reply.redirect_chain else address
        self.html = lxml.html.fromstring(reply.content)
        for place in self.html.xpath("//*[@hx-trigger='load']"):  # the page loads it
            place.append(lxml.html.fromstring(self.client.get(place.get("hx-get")).content))

    def click(self, label: str) -> None:
        """Follow the link with this text."""
        self.clicks += 1
        links = [
            link for link in self.html.xpath("//a[@href]") if " ".join(link.text_content().split()) == label
        ]
        assert links, (label, self.address)
        self._open(links[0].get("href"))

    def click_to(self, part: str) -> None:
        """Follow the link whose address has this part: a number, or a square of a chart."""
        self.clicks += 1
        links = [link for link in self.html.xpath("//a/@href") if part in link]
        assert links, (part, self.address)
        self._open(links[0])

    def go(self, name: str) -> None:
        """Open a page of the project from its navigation."""
        self.click_to(reverse(name, args=["films"]))

    def more(self) -> None:
        """Unfold the other filters."""
        self.clicks += 1

    def open_column(self, title: str) -> None:
        self.clicks += 1
        (column,) = self.html.xpath(f"//details[summary='{title}']//*[@hx-get]")
        column.append(lxml.html.fromstring(self.client.get(column.get("hx-get")).content))

    def fill(self, name: str, value: str) -> None:
        (field,) = self.html.xpath(f"//form[@role='search']//*[@name='{name}'][not(@type='hidden')]")
        if field.tag == "select":
            self.clicks += 1
            for option in field:
                option.attrib.pop("selected", None)
            (option,) = [option for option in field if option.text == value]
            option.set("selected", "")
        else:
            field.set("value", value)

    def send(self) -> None:
        self.clicks += 1
        (form,) = self.html.xpath("//form[@role='search']")
        self._open(f"{form.action}?{urlencode(list(form.form_values()))}")

    def items(self) -> list[str]:
        """The examples on the list, in its order."""
        abouts = self.html.xpath("//tbody//*[contains(@class, 'about')]")
        return [word for about in abouts for word in re.findall(r"\be\d+\b", about.text_content())]


@pytest.fixture
def study(world: World) -> World:
    """e0 is accepted, e1 decided by Ivo against Ada, e2 skipped by Cy and in progress by Ada, e3 sent back to Bo. Ada failed
    the gold item e9.
    """
    source = world.import_written(
        *(
            Example(
                f"e{number}",
                f"{number}?",
                CITIES if number == 2 else FILMS,
                ["1995"],
                meta={"level": LEVELS[number]},
            )
            for number in range(10)
        ),
        name="own",
    )
    names = [f"e{number}" for number in range(9)]
    batch = world.batch(name="Labels", sources=[source], only=names, overlap=2, gold_percent=50, open=False)
    example = source.examples.get(external_id="e9")
    gold.set_gold(batch=batch, example=example, data={"label": "neither"}, by=world.mara, now=NOON)
    world.draw_gold_first(batch, "ada")
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    batch.refresh_from_db()
    assert world.label(batch, "ada", "extraction").assignment.item.is_gold
    Batch.objects.filter(pk=batch.pk).update(gold_percent=0)
    batch.refresh_from_db()
    for who, label in (("ada", "extraction"), ("bo", "extraction"), ("ada", "reasoning")):
        world.label(batch, who, label)
    right = world.label(batch, "bo", "extraction")
    skipped = world.take(batch, "cy")
    assert skipped is not None
    assignments.skip(assignment=skipped, reason="A torn table", now=NOON)
    begun = world.take(batch, "ada")
    assert begun is not None
    assignments.flag(assignment=begun, note="An odd year", now=NOON)
    world.label(batch, "bo", "extraction")
    returned = world.label(batch, "bo", "extraction")
    world.label(batch, "cy", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    later, ivo = NOON + timedelta(days=2), world.ivo
    adjudication.decide(item=right.assignment.item, choose=[right.public_id], by=ivo, now=later)
    note = "Look again."
    adjudication.send_back(
        item=returned.assignment.item, choose=returned.public_id, note=note, by=ivo, now=later
    )
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)
    set_work(right.assignment.item.assignments.all(), seconds=99)
    index.refresh(world.project, now=timezone.now())
    kinds = ResponseFact.Kind
    for kind, value, item in (
        (kinds.UNSURE, "yes", "e0"),
        (kinds.FINDING, "answer_gone", "e0"),
        (kinds.VERDICT, "fooled", "e0"),
        (kinds.VERDICT, "fooled", "e1"),
    ):
        ResponseFact.objects.create(
            project=world.project,
            item=Item.objects.get(example__external_id=item),
            person=world.ada,
            kind=kind,
            value=value,
        )
    return world


CLICKS: dict[str, tuple[list[tuple[str, ...]], list[str]]] = {
    "skipped by whom and why": ([("click", "A torn table")], ["e2"]),
    "fooled, and people differ": ([("click", "fooled"), ("click", "responses differ")], ["e1"]),
    "two labels": (
        [("go", "dashboard"), ("go", "agreement"), ("click_to", "pair=label%3Aextraction~reasoning")],
        ["e1"],
    ),
    "who said reasoning": ([("click", "reasoning")], ["e1", "e3"]),
    "decided by an adjudicator": ([("click", "adjudicated")], ["e1"]),
    "slow": (
        [("fill", "sort", "most active time first"), ("send",)],
        ["e1", *(f"e{n}" for n in (9, 8, 7, 6, 5, 4, 3, 2, 0))],
    ),
    "not sure": ([("click", "annotator not sure")], ["e0"]),
    "flagged": ([("click", "flagged")], ["e2"]),
    "gold": ([("click", "gold items")], ["e9"]),
    "open checklist": ([("click", "answer not in the table")], ["e0"]),
    "since a day": ([("more",), ("fill", "since", "2026-03-03"), ("send",)], []),
    "words in notes": ([("fill", "q", "odd year"), ("send",)], ["e2"]),
    "undecided in a release": (
        [("go", "releases"), ("click", "v1"), ("click_to", "part=undecided")],
        ["e2", "e3"],
    ),
    "in progress by a person": ([("go", "people"), ("click_to", "in_progress=yes")], ["e2"]),
    "Ada's responses that lost": ([("click", "Ada"), ("click", "lost against the decision")], ["e1"]),
    "gold that Ada failed": ([("click", "Ada"), ("click", "gold item failed")], ["e9"]),
    "random of the accepted": ([("click", "accepted"), ("click", "Show 20 random items")], ["e0", "e1"]),
    "own column": ([("open_column", "level"), ("click", "hard")], ["e1", "e2"]),
    "size of the table": ([("open_column", "Table rows"), ("click", "2")], ["e2"]),
    "one table": ([("open_column", "Table"), ("click", "City, Country")], ["e2"]),
    "sent back or with a note": (
        [("click", "sent back"), ("click", "with a note"), ("click", "any filter")],
        ["e2", "e3"],
    ),
}


@pytest.mark.parametrize("question", CLICKS)
def test_a_question_is_answered_in_three_clicks(study: World, question: str) -> None:
    steps, items = CLICKS[question]
    visit = Visit(browser(study.mara))

    for step, *arguments in steps:
        getattr(visit, step)(*arguments)

    assert (visit.items() if question == "slow" else sorted(visit.items())) == items
    assert visit.clicks <= MOST_CLICKS


def test_the_documented_table_has_all_twenty_questions() -> None:
    table = (
        Path("docs/explorer.md").read_text(encoding="utf-8").split("## Twenty questions")[1].split("\n## ")[0]
    )

    assert len(re.findall(r"^\| .*\? \|", table, re.MULTILINE)) == 20
