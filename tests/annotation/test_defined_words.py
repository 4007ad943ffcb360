"""Pages show names and labels of a defined task type as its definition has them, never as words of the catalogue."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.explorer.selection import BETWEEN, SEPARATOR
from annotation.models import Adjudication, Batch
from annotation.platform.display_text import show
from annotation.releases import creation
from annotation.workflow import automatic_decisions, batches
from tests.annotation.cast import NOON, World
from tests.annotation.previews import Importer
from tests.annotation.test_defining import batch_of, define, say
from tests.annotation.test_transfer import annotation, choice, task
from tests.annotation.test_transfer_pages import upload

CALM = {"value": "calm", "title": {"en": "Calm", "de": "Ruhig"}}
FIELDS: list[dict[str, Any]] = [
    {"name": "category", "type": "choice", "options": ["open", "wait", CALM]},
    {
        "name": "work",
        "type": "choice",
        "label": {"en": "Work done", "de": "Getane Arbeit"},
        "options": ["keep", "remove"],
    },
]
AGREEMENT = {"category": ["alpha_nominal"], "work": ["fleiss"]}
RESPONSES = (("open", "keep"), ("wait", "keep"), ("calm", "remove"))


@pytest.fixture
def batch(world: World) -> Batch:
    """Three people disagree about three items; names and labels are words that the catalogue has, too."""
    rule = {"field": "category", "rule": "majority"}
    title = {"en": "Table complexity", "de": "Schwierigkeit"}
    row = define(world, title=title, fields=FIELDS, agreement=AGREEMENT, decide=rule)
    batch = batch_of(world, row, overlap=3)
    for turn in range(3):
        for number, who in enumerate(("ada", "bo", "cy")):
            category, work = RESPONSES[(number + turn * (number == 2)) % 3]
            say(world, batch, who, {"category": category, "work": work})
    with translation.override("de"):
        for word in ("open", "wait", "category", "work", "keep", "remove"):
            assert show(word) != word, "the catalogue has the word"
    return batch


def visit(world: World, who: str, address: str, **params: str) -> str:
    """The text of a German page."""
    client = Client(headers={"Accept-Language": "de"})
    client.force_login(world.people[who])
    page = client.get(address, params, follow=True)
    assert page.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", page.content.decode()).split())


def test_tables_and_charts_of_agreement(world: World, batch: Batch) -> None:
    text = visit(world, "mara", reverse("agreement", args=["films"]), batch=batch.public_id)

    for words in ("category, Krippendorffs", "open / wait", "open / Ruhig", "Getane Arbeit"):
        assert words in text, words
    for words in ("offen / ", "warten / "):
        assert words not in text, words
    work = visit(world, "mara", reverse("agreement", args=["films"]), batch=batch.public_id, measure="work")
    assert "keep / remove" in work
    assert "behalten" not in work


def test_tables_of_quality(world: World, batch: Batch) -> None:
    text = visit(world, "mara", reverse("batch_quality", args=[batch.public_id]))

    for words in ("category", "open", "wait", "Ruhig"):
        assert words in text, words
    assert "warten" not in text


def test_facets_and_filters_of_the_explorer(world: World, batch: Batch) -> None:
    address = reverse("batch_items", args=[batch.public_id])
    text = visit(
        world, "mara", address, label=f"category{SEPARATOR}wait", pair=f"work{SEPARATOR}keep{BETWEEN}remove"
    )
    facets = visit(world, "mara", f"{address}facets/")

    assert "Category ist wait" in text
    assert "(Getane Arbeit) ist keep / remove" in text
    for words in ("Category", "Ruhig", "wait", "keep"):
        assert words in facets, words
    for words in ("warten", "behalten"):
        assert words not in text + facets, words


def test_options_of_an_import_of_responses(world: World, batch: Batch) -> None:
    client = Importer(headers={"Accept-Language": "de"})
    client.force_login(world.mara)
    exported_task = task(1, annotation(1, choice("category", "open"), choice("work", "keep")))

    page = client.get(upload(client, exported_task))

    options = [label for _, label in page.context["form"].fields["value-0-0"].widget.choices]
    assert options == ["Open", "Wait", "Ruhig"]
    assert ("table_complexity", "Schwierigkeit") in page.context["form"].fields["task_type"].choices


def test_the_filter_of_a_task_type(world: World, batch: Batch) -> None:
    world.batch("question_type")
    address = reverse("explorer", args=["films"])

    assert "Aufgabentyp ist Schwierigkeit" in visit(world, "mara", address, type=batch.task_type)
    assert "Aufgabentyp ist Art der Frage" in visit(world, "mara", address, type="question_type")


def test_the_reason_of_an_adjudication(world: World, batch: Batch) -> None:
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(seconds=61))

    reasons = {str(show(one.reason)) for one in Adjudication.objects.all()}
    with translation.override("de"):
        in_german = {show(one.reason) for one in Adjudication.objects.all()}

    assert any("open 1" in reason for reason in reasons), reasons
    assert all("offen" not in reason and "warten" not in reason for reason in in_german), in_german


def test_statistics_of_a_release_and_of_the_methods_appendix(world: World, batch: Batch) -> None:
    release = creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)

    of_release = visit(world, "rea", reverse("release", args=[release.public_id]))
    methods = visit(world, "rea", reverse("methods", args=["films"]))

    assert "Complexity 1 Getane Arbeit" in of_release
    for text in (of_release, methods):
        assert "Complexity 1 category" in text
        assert "Complexity 1 Kategorie" not in text
