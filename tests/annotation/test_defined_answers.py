"""A choice among the answers of an example, and a ranking: from the batch to the verified release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation import doctor, simulating
from annotation.journeys import adjudicating, releasing
from annotation.models import Batch, Decision, Source
from annotation.quality import agreement, gold
from annotation.refusals import Refused
from annotation.releases import exporting, release_files
from tableqa import Example, Table
from tasks.common.defined import task_of
from tests.annotation.cast import NOON, World
from tests.annotation.test_defining import LATER, PAGE, batch_of, define, manager, say

FILMS = Table(["Film"], [["Heat"], ["Alien"]])
PREFERENCE: dict[str, Any] = {
    "title": "Preference",
    "instruction": "Which answer is better?",
    "shows": ["question", "answers"],
    "fields": [
        {
            "name": "better",
            "type": "choice",
            "of": "answers",
            "options": [{"value": "tie", "title": "No difference"}],
        },
        {"name": "order", "type": "rank", "of": "answers"},
    ],
    "agreement": {"better": ["fleiss"], "order": ["kendall_w", "spearman"]},
}
FIRST = {"better": "1", "order": ["Heat", "Alien"]}
SECOND = {"better": "2", "order": ["Alien", "Heat"]}


@pytest.fixture
def pairs(world: World) -> Source:
    """Two questions with two answers each, and one with a single answer, which nobody can compare."""
    world.source = world.import_written(
        *(Example(f"p-{number}", f"which? ({number})", FILMS, ["Heat", "Alien"]) for number in range(2)),
        Example("p-single", "which?", FILMS, ["Heat"]),
    )
    return world.source


def released(world: World, out: Path) -> dict[str, Any]:
    releasing.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=out)
    return release_files.verify(out)


def test_preferences_are_decided_measured_and_released(world: World, pairs: Source, tmp_path: Path) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), size=None)
    assert batch.items_count == 2, "an example with one answer makes no item"
    for who, data in {"ada": FIRST, "bo": FIRST, "cy": SECOND}.items():
        for _ in range(2):
            say(world, batch, who, data)

    adjudicating.resolve_due(now=LATER)

    assert [one.kind for one in Decision.objects.all()] == ["accepted"] * 2
    figures = {(one.measure, one.statistic): one for one in agreement.of_batch(batch)}
    assert figures["order", "mean_spearman"].value == pytest.approx(-1 / 3, abs=1e-6)
    assert figures["order", "kendall_w"].value == pytest.approx(1 / 9, abs=1e-6)
    assert figures["order", "kendall_w"].low is not None
    assert figures["better", "fleiss_kappa"].units == 2
    assert agreement.report(batch)["measures"][1]["pairs"], "pairs of people are compared, too"
    checked = released(world, tmp_path / "release")
    assert checked["annotations"] == 6
    (path,) = (tmp_path / "release").rglob("table_complexity*.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert {(one["better"], tuple(one["answers"])) for one in records} == {("1", ("Heat", "Alien"))}
    assert doctor.findings() == []


def test_the_export_to_label_studio_offers_numbers_and_keeps_rankings_as_text() -> None:
    configuration = exporting.configuration(task_of("preference", PREFERENCE))

    assert '<Choice value="2"/>' in configuration
    assert '<Choice value="tie"/>' in configuration
    assert '<TextArea name="order" toName="text"/>' in configuration


def test_a_gold_answer_is_a_number_of_an_answer(world: World, pairs: Source) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), open=False, size=None)
    item = batch.items.select_related("example").first()
    assert item is not None

    gold.mark(batch=batch, example=item.example, data=FIRST, by=world.mara, now=NOON)

    page = manager(world).get(f"/batches/{batch.public_id}/gold/").content.decode()
    assert "Answer 1 (Heat)" in page


@pytest.mark.django_db(transaction=True)
def test_simulated_people_compare_answers(world: World, pairs: Source, tmp_path: Path) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), size=None)

    counts = simulating.simulate(batch=batch, annotators=3, seed=1, accuracy=0.8, now=timezone.now())

    assert [one["submitted"] for one in counts.values()] == [2, 2, 2]
    assert agreement.report(Batch.objects.get(pk=batch.pk))["measures"]


def test_a_batch_whose_examples_all_have_one_answer_is_refused(world: World) -> None:
    row = define(world, **PREFERENCE)

    with pytest.raises(Refused, match="too few answers"):
        batch_of(world, row, size=None)


def test_the_page_without_scripts_offers_the_answers_with_their_texts(world: World, pairs: Source) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), size=None)
    client = Client()
    client.force_login(world.ada)
    address = f"/batches/{batch.public_id}/annotate/"

    page = client.get(f"{address}?plain=1").content.decode()
    sent = {"better": "2", "order": ["Alien", "Heat"], "action": "submit", "version": "1"}
    assignment = page.split('name="assignment" value="')[1].split('"')[0]
    client.post(address, {**sent, "assignment": assignment})

    assert '<small dir="auto">Alien</small>' in page
    assert "No difference" in page
    assert Batch.objects.get().items.filter(submitted_count=1).count() == 1


def test_the_preview_takes_an_example_with_enough_answers(world: World, pairs: Source) -> None:
    body = {"name": "preference", "text": json.dumps(PREFERENCE)}

    part = manager(world).post(PAGE, body, headers={"HX-Request": "true"}).content.decode()

    assert '<small dir="auto">Alien</small>' in part


def test_an_adjudicator_reads_the_text_of_the_chosen_answer(world: World, pairs: Source) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), overlap=2, size=1)
    for who, data in {"ada": FIRST, "bo": SECOND}.items():
        say(world, batch, who, data)
    adjudicating.resolve_due(now=LATER)
    (item,) = adjudicating.waiting(batch)
    client = Client()
    client.force_login(world.ivo)

    page = client.get(f"/items/{item.public_id}/adjudicate/").content.decode()

    assert "Better: Answer 2 (Alien)" in page
