"""A choice among the answers of an example, and a ranking: from the batch to the verified release."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from annotation.management import doctor, simulation
from annotation.models import Batch, Decision, Gold, Qualification, Source
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report, gold
from annotation.queue import practice, resolutions
from annotation.releases import creation, raw_records, tool_exports, verification
from annotation.workflow import adjudication, automatic_decisions, batches
from tableqa import Example, Table
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
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=out)
    return verification.verify(out)


def test_preferences_are_decided_measured_and_released(world: World, pairs: Source, tmp_path: Path) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), size=None)
    assert batch.items_count == 2, "an example with one answer makes no item"
    for who, data in {"ada": FIRST, "bo": FIRST, "cy": SECOND}.items():
        for _ in range(2):
            say(world, batch, who, data)

    automatic_decisions.resolve_due(now=LATER)

    assert [one.kind for one in Decision.objects.all()] == ["accepted"] * 2
    figures = {(one.measure, one.statistic): one for one in agreement_report.batch_figures(batch)}
    assert figures["order", "mean_spearman"].value == pytest.approx(-1 / 3, abs=1e-6)
    assert figures["order", "kendall_w"].value == pytest.approx(1 / 9, abs=1e-6)
    assert figures["order", "kendall_w"].low is not None
    assert figures["better", "fleiss_kappa"].units == 2
    assert agreement_report.report(batch)["measures"][1]["pairs"], "pairs of people are compared, too"
    checked = released(world, tmp_path / "release")
    assert checked["annotations"] == 6
    (path,) = (tmp_path / "release").rglob("table_complexity*.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert {(one["better"], tuple(one["answers"])) for one in records} == {("1", ("Heat", "Alien"))}
    assert doctor.findings() == []


def test_the_export_to_label_studio_offers_the_answers_there_are_and_keeps_rankings_as_text(
    world: World, pairs: Source, tmp_path: Path
) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), size=None)
    say(world, batch, "ada", FIRST)
    released(world, tmp_path / "release")

    tool_exports.write_label_studio(raw_records.load(tmp_path / "release"), tmp_path / "out")

    configuration = (tmp_path / "out" / f"{batch.public_id}.xml").read_text("utf-8")
    assert re.findall(r'<Choice value="(.*?)"/>', configuration) == ["1", "2", "tie"]
    assert '<TextArea name="order" toName="text"/>' in configuration


def test_a_gold_answer_is_a_number_of_an_answer(world: World, pairs: Source) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), open=False, size=None)
    item = batch.items.select_related("example").first()
    assert item is not None

    gold.set_gold(batch=batch, example=item.example, data=FIRST, by=world.mara, now=NOON)

    page = manager(world).get(f"/batches/{batch.public_id}/gold/").content.decode()
    assert "Answer 1 (Heat)" in page


@pytest.mark.django_db(transaction=True)
def test_simulated_people_compare_answers(world: World, pairs: Source, tmp_path: Path) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), size=None)

    counts = simulation.simulate(batch=batch, annotators=3, seed=1, accuracy=0.8, now=timezone.now())

    assert [one["submitted"] for one in counts.values()] == [2, 2, 2]
    assert agreement_report.report(Batch.objects.get(pk=batch.pk))["measures"]


def test_a_batch_whose_examples_all_have_one_answer_is_refused(world: World) -> None:
    row = define(world, **PREFERENCE)

    with pytest.raises(ActionRefused, match="too few answers"):
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
    automatic_decisions.resolve_due(now=LATER)
    (item,) = resolutions.waiting(batch)
    client = Client()
    client.force_login(world.ivo)

    page = client.get(f"/items/{item.public_id}/adjudicate/").content.decode()

    assert "Better: Answer 2 (Alien)" in page


# -- practice and qualification -----------------------------------------------------------------------

PRACTICE: list[dict[str, Any]] = [
    {
        "example": {
            "id": "x",
            "question": "which film is older?",
            "answers": ["Heat", "Alien"],
            "table": {"header": ["Film", "Year"], "rows": [["Heat", 1995], ["Alien", 1979]]},
        },
        "expected": {"better": "2", "order": ["Alien", "Heat"]},
        "why": "Alien is from 1979.",
    }
]
SEVERAL: dict[str, Any] = {
    **PREFERENCE,
    "fields": [
        {"name": "good", "type": "multi_choice", "of": "answers", "options": ["none"]},
        {"name": "better", "type": "choice", "of": "answers"},
    ],
    "decide": {"field": "good"},
    "agreement": {"good": ["alpha_jaccard"]},
    "practice": [{**PRACTICE[0], "expected": {"good": ["1", "2"], "better": "2"}}],
}


def practise(client: Client, row: Any, data: dict[str, Any]) -> dict[str, Any]:
    item = practice.exercises(row.task())[0].item
    task = row.task()
    body = {"number": 1, "response": task.envelope(task.parse(data, item), item)}
    reply = client.post(
        "/api/projects/films/practice/table_complexity/", json.dumps(body), content_type="application/json"
    )
    result: dict[str, Any] = reply.json()
    return result


def test_practice_judges_a_choice_of_answers_and_names_the_texts(world: World) -> None:
    row = define(world, **PREFERENCE, practice=PRACTICE)
    client = Client()
    client.force_login(world.ada)

    wrong = practise(client, row, FIRST)
    right = practise(client, row, {"better": "2", "order": ["Alien", "Heat"]})

    assert wrong["right"] is False
    assert wrong["words"] == [
        "Better: your answer Answer 1 (Heat), expected Answer 2 (Alien).",
        "Order: your answer Heat > Alien, expected Alien > Heat.",
    ]
    assert (right["right"], right["words"], right["why"]) == (True, [], "Alien is from 1979.")


def test_practice_judges_several_answers(world: World) -> None:
    row = define(world, **SEVERAL)
    client = Client()
    client.force_login(world.ada)

    assert practise(client, row, {"good": ["2", "1"], "better": "2"})["right"] is True
    wrong = practise(client, row, {"good": ["none"], "better": "2"})
    assert wrong["right"] is False
    assert wrong["words"] == [
        "Good: your answer None, expected Answer 1 (Heat); Answer 2 (Alien).",
    ]


def test_the_practice_page_offers_the_answers_of_its_example(world: World, pairs: Source) -> None:
    define(world, **PREFERENCE, practice=PRACTICE)
    client = Client()
    client.force_login(world.ada)

    page = client.get("/projects/films/practice/table_complexity/").content.decode()

    assert '<small dir="auto">Alien</small>' in page
    assert page.count("data-answer>") == 2


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"better": "3", "order": ["Alien", "Heat"]}, "practice[1].expected.better: Choose an answer of this item."),
        ({"better": "Alien", "order": ["Alien", "Heat"]}, "practice[1].expected.better: Choose an answer of this item."),
        ({"better": "1", "order": ["Alien"]}, "practice[1].expected.order: Give every option one rank: Heat, Alien."),
    ],
)  # fmt: skip
def test_practice_that_expects_an_answer_that_there_is_not_is_refused(
    world: World, expected: dict[str, Any], message: str
) -> None:
    with pytest.raises(ActionRefused) as refused:
        define(world, **PREFERENCE, practice=[{**PRACTICE[0], "expected": expected}])

    assert message in refused.value.detail


def test_practice_with_too_few_answers_to_choose_among_is_refused(world: World) -> None:
    example = {**PRACTICE[0]["example"], "answers": ["Heat"]}

    with pytest.raises(ActionRefused, match=r"practice\[1\]\.example: .* too few answers .* Add `answers`\."):
        define(world, **PREFERENCE, practice=[{**PRACTICE[0], "example": example, "expected": FIRST}])


def test_a_qualification_with_answers_is_passed_by_gold(world: World, pairs: Source) -> None:
    row = define(world, **PREFERENCE)
    batch = batch_of(world, row, open=False, size=None, purpose="qualification", pass_percent=60)
    for item in batch.items.select_related("example"):
        gold.set_gold(batch=batch, example=item.example, data=FIRST, by=world.mara, now=NOON)
    batches.open_batch(batch=batch, by=world.mara, now=NOON)

    for _ in range(2):
        say(world, batch, "ada", FIRST)
        say(world, batch, "bo", SECOND)

    rights = {one.person: one.passed for one in Qualification.objects.filter(batch=batch)}
    assert rights == {world.ada: True, world.bo: False}


def test_gold_with_several_answers_is_right_in_any_order(world: World, pairs: Source) -> None:
    row = define(world, **SEVERAL)
    batch = batch_of(world, row, open=False, size=None, purpose="qualification", pass_percent=60)
    for item in batch.items.select_related("example"):
        gold.set_gold(
            batch=batch,
            example=item.example,
            data={"good": ["1", "2"], "better": "1"},
            by=world.mara,
            now=NOON,
        )
    batches.open_batch(batch=batch, by=world.mara, now=NOON)

    for _ in range(2):
        say(world, batch, "ada", {"good": ["2", "1"], "better": "1"})
        say(world, batch, "bo", {"good": ["none"], "better": "1"})

    rights = {one.person: one.passed for one in Qualification.objects.filter(batch=batch)}
    assert rights == {world.ada: True, world.bo: False}


def test_a_manager_enters_gold_with_answers_on_the_page(world: World, pairs: Source) -> None:
    batch = batch_of(world, define(world, **PREFERENCE), open=False, size=None)
    client = manager(world)
    address = f"/batches/{batch.public_id}/gold/"
    item = batch.items.select_related("example").first()
    assert item is not None
    address = f"{address}new/?example={item.example.public_id}"

    page = client.get(address).content.decode()
    client.post(address, {"better": "2", "order": ["Alien", "Heat"], "why": "Alien is older."})

    assert '<small dir="auto">Alien</small>' in page
    assert Gold.objects.get().expected["data"] == SECOND


def test_a_decision_that_pools_responses_is_shown_and_can_be_restored(world: World, pairs: Source) -> None:
    scale = {"name": "quality", "type": "scale", "min": 1, "max": 5}
    fields = [{"name": "level", "type": "choice", "options": ["easy", "hard"]}, scale]
    definition = {**PREFERENCE, "fields": fields, "decide": {"field": "level", "rule": "majority"}}
    batch = batch_of(world, define(world, **{**definition, "agreement": {}}), size=1, overlap=2)
    for who, quality in {"ada": 2, "bo": 3}.items():
        say(world, batch, who, {"level": "easy", "quality": quality})
    automatic_decisions.resolve_due(now=LATER)
    item = batch.items.get(decision__kind="accepted")
    assert item.decision.outcomes.get().response["data"]["quality"] == 2.5, "nobody's response"

    page = manager(world).get(f"/items/{item.public_id}/story/")

    assert page.status_code == 200
    assert "2.5" in page.content.decode()
    with transaction.atomic():
        taken = adjudication.take_back(
            decision=item.decision, by=world.mara, reason="", after="adjudication", now=LATER
        )
        item.refresh_from_db()
        restored = adjudication.restore(
            item=item, undone_decision=taken, by=world.mara, before="adjudication", now=LATER
        )
    assert restored.outcomes.get().response["data"]["quality"] == 2.5
