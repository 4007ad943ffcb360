"""What the judging kinds promise about people: who never gets an item, who is asked in addition, what goes further."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.management import simulation
from annotation.models import Batch, Decision, Example, Exclusion, Item, ModelAnswer, Slot
from annotation.platform.refusals import ActionRefused
from annotation.quality import task_report
from annotation.queue import resolutions
from annotation.releases import creation, verification
from annotation.workflow import adjudication, assignments, automatic_decisions, batches
from tableqa import Example as PlainExample
from tableqa import Table
from tests.annotation.cast import NOON, World

LATER = NOON + timedelta(days=1)
HEAT = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
EDIT = {"unanswerable": False, "operations": [HEAT], "answers": ["1996"], "reason": ""}


def edited(world: World, who: str = "ada", overlap: int = 1) -> Batch:
    """A closed batch in which this person changed the year of Heat, and the answer with it."""
    batch = world.batch("value_change", variant="answer_changes", only=["nu-0"], overlap=overlap)
    assignment = world.take(batch, who)
    assert assignment is not None
    world.answer(assignment, EDIT)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def check(world: World, **more: Any) -> Batch:
    return world.batch("answer_check", of="perturbed", **more)


def test_whoever_changed_an_example_never_checks_it(world: World) -> None:
    edited(world)
    batch = check(world)
    item = Item.objects.get(batch=batch)
    assert [row.person for row in Exclusion.objects.filter(item=item)] == [world.ada]
    assert world.take(batch, "ada") is None
    for who in ("bo", "cy"):
        assert world.take(batch, who) is not None


def test_nor_one_that_was_made_from_it(world: World) -> None:
    edited(world)
    batch = world.batch("question_paraphrase", variant="word", only=["nu-0"], overlap=1)
    said = {"question": "in which year was Heat released (0)?", "category": "reasoning_synonym"}
    bo = world.take(batch, "bo")
    assert bo is not None
    world.answer(bo, said)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    checked = check(world)
    makers = {
        row.item.example.perturbation: row.person for row in Exclusion.objects.filter(item__batch=checked)
    }
    assert makers == {"answer_changes": world.ada, "word": world.bo}


def test_the_page_of_a_check_holds_no_answer(world: World) -> None:
    edited(world)
    assignment = world.take(check(world), "bo")
    assert assignment is not None
    payload = assignments.payload(assignment)
    assert set(payload["shows"]) == {"question", "table"}
    assert payload["shows"]["table"]["rows"][0] == ["Heat", "1996", "170"]


def answer(world: World, batch: Batch, **said: list[str]) -> None:
    for who, answers in said.items():
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, {"answers": answers, "unanswerable": not answers})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)


def test_equal_answers_confirm_the_example(world: World) -> None:
    edited(world)
    batch = check(world)
    answer(world, batch, bo=["1996"], cy=["1996 "])
    decision = Decision.objects.get(item__batch=batch)
    assert (decision.kind, decision.reason) == ("accepted", "")
    assert task_report.reports(batch)[0].rows[0][1:5] == ("films-dev", "answer_changes", 1, 1)


def test_a_lost_sign_is_decided_under_its_name(world: World) -> None:
    edited(world)
    batch = check(world)
    answer(world, batch, bo=["1996"], cy=["-1996"])
    decision = Decision.objects.get(item__batch=batch)
    assert (decision.kind, decision.reason, decision.made_by) == ("accepted", "sign", None)


def test_another_value_waits_for_an_adjudicator_who_may_uphold_it(world: World) -> None:
    edited(world)
    batch = check(world)
    answer(world, batch, bo=["1995"], cy=["1995"])
    (item,) = resolutions.waiting(batch)
    assert "2 x value" in item.adjudication.reason
    decision = adjudication.decide(
        item=item, by=world.ivo, note="The edit was lost.", choose=["A", "B"], now=LATER
    )
    assert (decision.kind, decision.reason) == ("accepted", "value")


def test_what_an_adjudicator_upheld_verifies_in_a_release(world: World, tmp_path: Path) -> None:
    edited(world)
    batch = check(world)
    answer(world, batch, bo=["1,995"], cy=["1995"])
    (item,) = resolutions.waiting(batch)
    adjudication.decide(item=item, by=world.ivo, note="They say the same.", choose=["A", "B"], now=LATER)
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=LATER, out=out)
    assert verification.verify(out)["annotations"] == 3
    records = [json.loads(line) for line in (out / "answer_check.jsonl").read_text().splitlines()]
    assert [(record["checked"], record["difference"]) for record in records] == [(["1,995"], "value")]


def test_an_adjudicator_cannot_uphold_two_answers_at_once(world: World) -> None:
    edited(world)
    batch = check(world)
    answer(world, batch, bo=["1995"], cy=["1996"])
    (item,) = resolutions.waiting(batch)
    with pytest.raises(ActionRefused, match="responses differ"):
        adjudication.decide(item=item, by=world.ivo, note="Both?", choose=["A", "B"], now=LATER)


# -- ratings ----------------------------------------------------------------------------------------


def rated(number: int, **meta: Any) -> PlainExample:
    rated_answer = {"text": f"Heat is the longest ({number}).", "system": f"system-{number}"}
    table = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]])
    more = {"rated_answer": rated_answer, "reference": "Heat, with 170 minutes.", **meta}
    return PlainExample(f"fetaqa_0~system-{number}", "which film is the longest?", table, ["Heat"], meta=more)


def rate(world: World, batch: Batch, who: str, faithfulness: int, comprehensiveness: int) -> None:
    assignment = world.take(batch, who)
    assert assignment is not None
    world.answer(assignment, {"faithfulness": faithfulness, "comprehensiveness": comprehensiveness})


def test_two_who_are_far_apart_call_a_third_and_agreement_stays_theirs(world: World) -> None:
    source = world.import_written(rated(1))
    batch = world.batch("answer_rating", sources=[source])
    assert batch.overlap == 2
    rate(world, batch, "ada", 5, 5)
    rate(world, batch, "bo", 2, 5)
    assert world.take(batch, "cy") is None
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    assert not Decision.objects.exists()
    assert list(Slot.objects.filter(batch=batch).order_by("number").values_list("added", flat=True)) == [
        False,
        False,
        True,
    ]
    rate(world, batch, "cy", 5, 4)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    (outcome,) = Decision.objects.get().outcomes.all()
    assert outcome.response["data"] == {"faithfulness": 4, "comprehensiveness": 4.666667}


def test_people_meet_the_answers_in_orders_of_their_own(world: World) -> None:
    source = world.import_written(*(rated(number) for number in range(8)))
    batch = world.batch("answer_rating", sources=[source])
    orders = {}
    for who in ("ada", "bo"):
        seen = []
        while (assignment := world.take(batch, who)) is not None:
            seen.append(assignment.item.position)
            world.answer(assignment, {"faithfulness": 5, "comprehensiveness": 5})
        orders[who] = seen
    assert sorted(orders["ada"]) == sorted(orders["bo"]) == list(range(1, 9))
    assert orders["ada"] != orders["bo"]


def test_answers_to_the_same_question_are_counted_for_each_person(world: World) -> None:
    films = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]])
    others = Table(["Film", "Minutes"], [["Stalker", "162"]])
    asked = (
        [("which is longest?", films)] * 3
        + [("which is shortest?", films)] * 2
        + [("which is longest?", others)]
    )
    source = world.import_written(
        *(
            PlainExample(
                f"q-{n}", question, table, ["x"], meta={"rated_answer": {"text": f"{n}", "system": "s"}}
            )
            for n, (question, table) in enumerate(asked)
        )
    )
    batch = world.batch("answer_rating", sources=[source])
    world.batch("answer_rating", sources=[source], only=["q-0", "q-1"])  # counts for itself
    for who in ("ada", "bo"):
        seen: dict[tuple[str, int], list[Any]] = {}
        while (assignment := world.take(batch, who)) is not None:
            shows = assignments.payload(assignment)["shows"]
            place = seen.setdefault((shows["question"], len(shows["table"]["rows"])), [])
            place.append(assignments.payload(assignment)["same_question"])
            world.answer(assignment, {"faithfulness": 5, "comprehensiveness": 5})
        assert seen == {
            ("which is longest?", 2): [{"number": n, "total": 3} for n in (1, 2, 3)],
            ("which is shortest?", 2): [{"number": n, "total": 2} for n in (1, 2)],
            ("which is longest?", 1): [None],
        }


def test_what_was_rated_here_says_where_a_metric_fails(world: World) -> None:
    metrics = [{"bleu": 0.1}, {"bleu": 0.5}, {"bleu": 0.9}]
    source = world.import_written(*(rated(number, metrics=metric) for number, metric in enumerate(metrics)))
    ratings = world.batch("answer_rating", sources=[source], overlap=1)
    while (assignment := world.take(ratings, "ada")) is not None:
        number = int(assignment.item.example.external_id[-1])
        world.answer(assignment, {"faithfulness": 5 - 2 * number, "comprehensiveness": 5 - 2 * number})
    automatic_decisions.resolve_batch(batch=ratings, now=LATER)
    batch = world.batch("metric_failure", sources=[source], size=2)
    items = list(Item.objects.filter(batch=batch).select_related("example"))
    assert {item.example.external_id for item in items} == {"fetaqa_0~system-0", "fetaqa_0~system-2"}
    assert {item.inputs["metric"]["gap"] for item in items} == {-1, 1}


def test_without_scores_a_batch_of_failures_says_what_is_missing(world: World) -> None:
    with pytest.raises(ActionRefused, match="its metric score"):
        world.batch("metric_failure", sources=[world.import_written(rated(1))])


# -- perturbations and screening --------------------------------------------------------------------


def test_two_examples_of_one_question_are_one_pair_and_neither_maker_rates_it(world: World) -> None:
    batch = world.batch("value_change", variant="answer_changes", only=["nu-0"], overlap=2)
    for who, year in (("ada", "1996"), ("bo", "1997")):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, {**EDIT, "operations": [{**HEAT, "new": year}], "answers": [year]})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    assert Example.objects.perturbed().count() == 2
    ratings = world.batch("perturbation_rating", of="perturbed", overlap=1)
    item = Item.objects.get(batch=ratings)
    assert set(item.inputs["sides"]) == {"left", "right"}
    assert world.take(ratings, "ada") is None
    assert world.take(ratings, "bo") is None
    cy = world.take(ratings, "cy")
    assert cy is not None
    world.answer(cy, {"left": 5, "left_errors": [], "right": 4, "right_errors": [], "better": "left"})
    automatic_decisions.resolve_batch(batch=ratings, now=LATER)
    quality, preference, _ = task_report.reports(ratings)
    assert quality.rows[0][:5] == ("answer_changes", "person", 2, 4.5, 2)
    assert preference.rows == (), "both were made by people"


def test_screening_asks_about_what_a_model_always_gets_right_and_feeds_what_is_kept(world: World) -> None:
    with pytest.raises(ActionRefused, match="Ask a model first"):
        world.batch("question_screening")
    for example in Example.objects.originals().order_by("pk")[:3]:
        right = [list(example.answers)] * 3
        samples = right if example.external_id != "nu-1" else [*right, ["7"]]
        ModelAnswer.objects.create(
            example=example,
            purpose="screening",
            model="endpoint:small",
            data={"samples": samples, "temperature": 0.7},
            made_at=NOON,
        )
    batch = world.batch("question_screening")
    following = world.batch("question_type", sources=[], feeds_from=batch)
    said: dict[str, str] = {}
    while (assignment := world.take(batch, "ada")) is not None:
        label = "keep" if not said else "remove"
        said[assignment.item.example.external_id] = label
        world.answer(assignment, {"label": label})
    assert said.keys() == {"nu-0", "nu-2"}
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    (kept,) = [id for id, label in said.items() if label == "keep"]
    assert [item.example.external_id for item in Item.objects.filter(batch=following)] == [kept]
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    assert task_report.reports(batch)[0].rows == (("films-dev", 2, 1, 1),)


def test_an_adjudicator_reads_the_rated_answer_and_who_said_what_under_letters(world: World) -> None:
    source = world.import_written(rated(1))
    batch = world.batch("answer_rating", sources=[source])
    rate(world, batch, "ada", 5, 5)
    rate(world, batch, "bo", 1, 5)
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    (item,) = resolutions.waiting(batch)
    client = Client()
    client.force_login(world.ivo)
    page = client.get(f"/items/{item.public_id}/adjudicate/").content.decode()
    assert "Heat is the longest (1)." in page
    assert "system-1" not in page
    assert "differ by 3 or more" in page
    decision = adjudication.decide(item=item, by=world.ivo, note="Between.", choose=["A", "B"], now=LATER)
    assert [outcome.response["data"]["faithfulness"] for outcome in decision.outcomes.all()] == [3]


@pytest.mark.django_db(transaction=True)
def test_simulated_people_rate_what_they_are_shown(world: World) -> None:
    edited(world)
    pairs = world.batch("perturbation_rating", of="perturbed")
    ratings = world.batch("answer_rating", sources=[world.import_written(rated(1), rated(2))])
    for batch in (pairs, ratings):
        done = simulation.simulate(batch=batch, annotators=2, seed=1, accuracy=0.9, now=timezone.now())
        assert sum(counts["submitted"] for counts in done.values()) == 2 * batch.items_count
        assert not any(counts["skipped"] for counts in done.values())
