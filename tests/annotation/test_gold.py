"""Gold: marked by hand and from decisions; judged; told from nothing else by those who annotate."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.management import doctor
from annotation.models import (
    Assignment,
    Batch,
    Decision,
    Event,
    Example,
    Exclusion,
    Gold,
    Item,
    Qualification,
    Slot,
)
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report, calibration, gold, qualification
from annotation.queue import draws, resolutions
from annotation.releases import creation, verification
from annotation.workflow import assignments, automatic_decisions, batches
from tasks.contract import InvalidResponse
from tests.annotation.cast import NOON, World, make_world

LATER = NOON + timedelta(minutes=5)


def examples(world: World) -> list[Example]:
    return list(world.source.examples.select_related("stored_table").order_by("position"))


def mark(world: World, batch: Batch, example: Example, label: str = "extraction", **more: Any) -> Gold:
    return gold.set_gold(batch=batch, example=example, data={"label": label}, by=world.mara, now=NOON, **more)


def small(world: World, count: int = 2, **more: Any) -> Batch:
    """A batch over the first examples of the source, so that the others may be gold."""
    return world.batch(only=[one.external_id for one in examples(world)[:count]], **more)


# -- marking ----------------------------------------------------------------------------------------


def test_a_gold_item_has_no_places_until_its_turn_comes(world: World) -> None:
    batch = small(world)

    made = mark(world, batch, examples(world)[3], why="A cell is the answer.")

    item = Item.objects.get(gold=made)
    assert (item.is_gold, item.slots_count, Slot.objects.filter(item=item).count()) == (True, 0, 0)
    assert made.expected["data"]["label"] == "extraction"
    assert made.why == "A cell is the answer."
    batch.refresh_from_db()
    assert (batch.items_count, batch.slots_count) == (3, 2 * batch.overlap)
    assert list(doctor.findings()) == []
    assert Event.objects.filter(thing="gold", thing_id=made.pk, after="gold").count() == 1


def test_an_item_of_a_planned_batch_becomes_gold_and_gives_its_places_back(world: World) -> None:
    batch = small(world, open=False)

    made = mark(world, batch, examples(world)[0])

    batch.refresh_from_db()
    assert made.item.is_gold
    assert (batch.items_count, batch.slots_count) == (2, batch.overlap)
    assert list(doctor.findings()) == []


def test_an_item_of_an_open_batch_stays_what_it_is(world: World) -> None:
    batch = small(world)

    with pytest.raises(ActionRefused, match="this open batch"):
        mark(world, batch, examples(world)[0])

    assert not Gold.objects.exists()


def test_what_the_kind_would_refuse_from_people_is_no_gold(world: World) -> None:
    batch = small(world)
    before = (Item.objects.count(), Slot.objects.count())

    with pytest.raises(InvalidResponse):
        gold.set_gold(
            batch=batch, example=examples(world)[3], data={"label": "perhaps"}, by=world.mara, now=NOON
        )

    assert (Item.objects.count(), Slot.objects.count()) == before


def test_marking_again_changes_what_is_expected(world: World) -> None:
    batch = small(world)
    mark(world, batch, examples(world)[3])

    again = mark(world, batch, examples(world)[3], "reasoning")

    assert Gold.objects.get() == again
    assert again.expected["data"]["label"] == "reasoning"


def test_gold_that_nobody_had_can_be_taken_out_again(world: World) -> None:
    batch = small(world)
    made = mark(world, batch, examples(world)[3])

    gold.remove_gold(gold=Gold.objects.get(pk=made.pk), by=world.mara, now=NOON)

    batch.refresh_from_db()
    assert batch.items_count == 2
    assert not Item.objects.filter(is_gold=True).exists()
    assert list(doctor.findings()) == []


def test_gold_that_somebody_had_stays(world: World) -> None:
    batch = small(world, gold_percent=50)
    made = mark(world, batch, examples(world)[3])
    while world.take(batch, "ada", holding=[]) and not Assignment.objects.filter(item=made.item).exists():
        world.answer(world.take(batch, "ada"), {"label": "extraction"})  # type: ignore[arg-type]

    with pytest.raises(ActionRefused, match="An annotator has already had this item"):
        gold.remove_gold(gold=Gold.objects.get(pk=made.pk), by=world.mara, now=NOON)


def test_a_closed_batch_takes_no_gold(world: World) -> None:
    batch = small(world)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    batch.refresh_from_db()

    with pytest.raises(ActionRefused, match="is closed"):
        mark(world, batch, examples(world)[3])


# -- from decisions ---------------------------------------------------------------------------------


def test_what_was_decided_elsewhere_is_gold_that_its_annotators_never_meet(world: World) -> None:
    first = small(world, count=2, overlap=2)
    for _ in range(2):
        for who in ("ada", "bo"):
            world.label(first, who, "reasoning")
    automatic_decisions.resolve_batch(batch=first, now=LATER)
    batch = world.batch(only=[one.external_id for one in examples(world)[2:]])

    made = gold.from_decisions(batch=batch, other=first, size=9, by=world.mara, now=LATER)

    assert made == (2, 0)
    for one in Gold.objects.select_related("item"):
        assert one.expected["data"]["label"] == "reasoning"
        barred = set(Exclusion.objects.filter(item=one.item).values_list("person_id", flat=True))
        assert barred == {world.ada.pk, world.bo.pk}
    assert list(doctor.findings()) == []


def test_key_and_seed_draw_the_decisions_so_that_nobody_computes_them(tmp_path: Any, db: None) -> None:
    world = make_world(tmp_path, questions=12)
    first = world.batch(only=[one.external_id for one in examples(world)[:10]], overlap=1)
    for _ in range(10):
        world.label(first, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=first, now=LATER)
    rest = [one.external_id for one in examples(world)[10:]]
    drawn = []
    for seed, key in ((7, "a"), (7, "a"), (8, "a"), (7, "b")):
        batch = world.batch(only=rest)
        batch.draw_key = key
        gold.from_decisions(batch=batch, other=first, size=4, by=world.mara, now=LATER, seed=seed)
        drawn.append(set(Gold.objects.filter(item__batch=batch).values_list("item__example_id", flat=True)))

    assert drawn[0] == drawn[1]
    assert drawn[0] not in drawn[2:]
    assert len(drawn[0]) == 4


def test_a_batch_of_another_kind_gives_no_gold(world: World) -> None:
    with pytest.raises(ActionRefused, match="same task type"):
        gold.from_decisions(
            batch=small(world), other=world.batch("relevant_cells"), size=3, by=world.mara, now=NOON
        )


# -- judging ----------------------------------------------------------------------------------------


@pytest.fixture
def mixed(db: None, tmp_path: Any) -> tuple[World, Batch]:
    """Forty items, ten of them gold ("reasoning"), a fifth of everybody's turns; one person per item."""
    world = make_world(tmp_path, questions=50)
    some = examples(world)
    batch = world.batch(only=[one.external_id for one in some[:40]], overlap=1, gold_percent=20, open=False)
    for one in some[40:]:
        mark(world, batch, one, "reasoning")
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    batch.refresh_from_db()
    return world, batch


def work(world: World, batch: Batch, who: str, count: int, label: str = "reasoning") -> list[Assignment]:
    done = []
    for _ in range(count):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, {"label": label})
        done.append(world.reload(assignment))
    return done


def test_accuracy_on_gold_is_counted_per_person_with_an_interval_in_two_statements(
    mixed: tuple[World, Batch],
) -> None:
    world, batch = mixed
    work(world, batch, "ada", 15)
    work(world, batch, "bo", 15, "extraction")

    with CaptureQueriesContext(connection) as seen:
        found = gold.accuracy(batch)

    assert len(seen) == 2
    assert (found[world.ada.pk].hits, found[world.ada.pk].n) == (3, 3)
    assert (found[world.bo.pk].hits, found[world.bo.pk].n) == (0, 3)
    low, high = found[world.ada.pk].low, found[world.ada.pk].high
    assert low is not None
    assert 0.4 < low < 0.5
    assert high == 1.0


def test_an_answer_that_is_mended_counts_as_it_stands_unless_people_are_told(
    mixed: tuple[World, Batch],
) -> None:
    world, batch = mixed
    wrong = next(one for one in work(world, batch, "ada", 10, "extraction") if one.item.is_gold)
    assert wrong.annotation is not None
    assignments.undo(annotation=wrong.annotation, now=NOON)
    world.answer(world.reload(wrong), {"label": "reasoning"}, now=LATER)

    assert gold.accuracy(batch)[world.ada.pk].hits == 1
    assert gold.feedback_for(batch, world.ada) == []
    batch.gold_feedback = True
    assert gold.accuracy(batch)[world.ada.pk].hits == 0
    assert [one.right for one in gold.feedback_for(batch, world.ada)] == [False, False]
    assert all("Expected:" in one.words for one in gold.feedback_for(batch, world.ada))
    assert gold.feedback_for(batch, world.bo) == []


# -- nobody can tell --------------------------------------------------------------------------------


def client_of(world: World, who: str) -> Client:
    client = Client()
    client.force_login(world.people[who])
    return client


def post(client: Client, address: str, body: dict[str, Any]) -> Any:
    return client.post(f"/api/{address}", json.dumps(body), content_type="application/json")


def response_to(payload: dict[str, Any], label: str = "extraction") -> dict[str, Any]:
    named = {name: payload[name] for name in ("type", "variant", "version", "base")}
    return {**named, "data": {"label": label}}


def shape(value: Any) -> Any:
    """What a payload looks like with everything taken out that differs between any two items."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in sorted(value.items())}
    if isinstance(value, list):
        return [shape(part) for part in value[:1]]
    return type(value).__name__


def through_the_api(world: World, batch: Batch, who: str, count: int) -> list[tuple[bool, Any, int]]:
    """For each of the next items: whether it is gold, its payload, and how many statements it took to get it."""
    client, found = client_of(world, who), []
    payload = post(client, f"batches/{batch.public_id}/next/", {"holding": []}).json()
    for _ in range(count):
        with CaptureQueriesContext(connection) as seen:
            answer = post(
                client,
                f"assignments/{payload['id']}/submit/",
                {"response": response_to(payload), "next": True, "holding": []},
            )
        assert answer.status_code == 200
        payload = answer.json()["next"]
        if payload is None:
            break
        is_gold = Item.objects.get(public_id=payload["item"]).is_gold
        found.append((is_gold, payload, len(seen)))
    return found


def test_payloads_of_gold_and_ordinary_items_look_alike(mixed: tuple[World, Batch]) -> None:
    found = through_the_api(*mixed, "ada", 25)

    kinds = Counter(is_gold for is_gold, *_ in found)
    assert kinds[True] >= 4
    assert kinds[False] >= 15
    shapes = {
        is_gold: {json.dumps(shape(payload)) for one, payload, _ in found if one == is_gold}
        for is_gold in kinds
    }
    assert shapes[True] == shapes[False]
    assert len(shapes[True]) == 1


def test_what_is_the_same_for_ordinary_items_is_the_same_for_gold(mixed: tuple[World, Batch]) -> None:
    found = through_the_api(*mixed, "ada", 25)

    for name in (
        "type",
        "variant",
        "version",
        "grid",
        "suggests",
        "contract",
        "state",
        "batch",
        "loop",
        "help",
    ):
        assert len({json.dumps(payload[name]) for _, payload, _ in found}) == 1, name
    assert {payload["lease"]["seconds"] for _, payload, _ in found} == {1200}
    assert [payload["progress"]["submitted"] for _, payload, _ in found] == list(range(1, len(found) + 1))
    assert {payload["progress"]["total"] for _, payload, _ in found} == {50}
    ids = [(payload["id"], payload["item"]) for _, payload, _ in found]
    assert all(len(id) == 12 and id.isalnum() for pair in ids for id in pair)


def test_a_gold_item_takes_at_most_two_statements_more(mixed: tuple[World, Batch]) -> None:
    """Two are not noticeable over HTTP (docs/performance.md)."""
    rows = through_the_api(*mixed, "ada", 25)

    # The smallest of each sort: PostgreSQL prepares each statement once, whenever it comes first.
    gold, ordinary = (min(count for is_gold, _, count in rows if is_gold == sort) for sort in (True, False))
    assert 0 <= gold - ordinary <= 2


def test_skip_and_undo_say_the_same_of_gold_and_ordinary_items(mixed: tuple[World, Batch]) -> None:
    world, batch = mixed
    client = client_of(world, "ada")
    payload = post(client, f"batches/{batch.public_id}/next/", {"holding": []}).json()
    said: dict[bool, set[str]] = {True: set(), False: set()}
    turns = {True: 0, False: 0}  # of each sort every other one is skipped, wherever it comes
    for _ in range(24):
        is_gold = Item.objects.get(public_id=payload["item"]).is_gold
        turns[is_gold] += 1
        skips = turns[is_gold] % 2
        if skips:
            answer = post(
                client, f"assignments/{payload['id']}/skip/", {"reason": "odd", "next": True, "holding": []}
            )
            words = json.dumps(shape({**answer.json(), "next": None}))
            following = answer.json()["next"]
        else:
            answer = post(
                client,
                f"assignments/{payload['id']}/submit/",
                {"response": response_to(payload), "next": False},
            )
            undone = post(client, f"annotations/{answer.json()['annotation']['id']}/undo/", {})
            words = json.dumps([undone.status_code, shape({**undone.json(), "shows": None})])
            again = post(
                client,
                f"assignments/{payload['id']}/submit/",
                {"response": response_to(payload, "reasoning"), "next": True, "holding": []},
            )
            words += json.dumps([again.status_code, again.json()["annotation"]["revision"]])
            following = again.json()["next"]
        said[is_gold].add(f"{skips}: {answer.status_code} {words}")
        payload = following
    kinds = {is_gold: {words[0] for words in found} for is_gold, found in said.items()}
    assert kinds == {True: {"0", "1"}, False: {"0", "1"}}
    assert said[True] == said[False]
    assert len(said[True]) == 2


def test_gold_comes_at_its_rate_from_the_first_items_on_and_at_no_fixed_place(
    tmp_path: Any, db: None
) -> None:
    batch = Batch(draw_key="a key", gold_percent=10)
    turns = [[turn for turn in range(100) if turn in draws.GoldTurns(batch, person)] for person in range(200)]

    assert {len(one) for one in turns} == {10}
    assert {sum(turn < 10 for turn in one) for one in turns} == {1}
    for place in range(10):
        # Of 2,000 stretches 200 are expected at each place; five standard deviations are 67.
        assert abs(sum(turn % 10 == place for one in turns for turn in one) - 200) < 67
    assert len({tuple(one) for one in turns}) == 200


def test_two_people_meet_gold_at_different_turns_and_in_different_orders(mixed: tuple[World, Batch]) -> None:
    world, batch = mixed
    orders = []
    for who in ("ada", "bo"):
        done = work(world, batch, who, 20)
        orders.append([(turn, one.item_id) for turn, one in enumerate(done) if one.item.is_gold])

    assert [len(order) for order in orders] == [4, 4]
    assert orders[0] != orders[1]


# -- where gold never is ----------------------------------------------------------------------------


def test_gold_is_never_decided_and_makes_nothing(mixed: tuple[World, Batch]) -> None:
    world, batch = mixed
    work(world, batch, "ada", 30)
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    batch.refresh_from_db()
    automatic_decisions.resolve_batch(batch=batch, now=LATER + timedelta(hours=1))

    assert Decision.objects.exists()
    assert not Decision.objects.filter(item__is_gold=True).exists()
    assert not Item.objects.filter(is_gold=True, due_at__isnull=False).exists()
    assert not resolutions.waiting(batch).filter(is_gold=True).exists()
    assert list(doctor.findings()) == []


def released(world: World, out: Path) -> tuple[str, list[dict[str, Any]]]:
    """Everything that a release of the project says, and its manifest's agreement."""
    creation.make_release(
        project=world.project, name=out.name, format="askew", by=world.rea, now=LATER, out=out
    )
    verification.verify(out)
    files = [path for path in sorted(out.rglob("*")) if path.is_file()]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    manifest = json.loads((out / "manifest.json").read_text())
    return text, manifest["agreement"]


def test_gold_is_in_no_release_and_no_agreement(tmp_path: Any, db: None) -> None:
    world = make_world(tmp_path, questions=16)
    some = examples(world)
    batch = world.batch(only=[one.external_id for one in some[:12]], gold_percent=25, open=False, overlap=2)
    for one in some[12:]:
        mark(world, batch, one, "reasoning", why="Everybody would see this.")
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    batch.refresh_from_db()
    for who in ("ada", "bo"):
        for turn in range(16):
            label = "reasoning" if turn % 5 else "extraction"
            if (assignment := world.take(batch, who)) is not None:
                label = "neither" if assignment.item.is_gold else label
                world.answer(assignment, {"label": label})
    assert Assignment.objects.filter(item__is_gold=True, state="submitted").count() >= 6
    live = [figure.to_dict() for figure in agreement_report.batch_figures(batch)]
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    batch.refresh_from_db()
    automatic_decisions.resolve_batch(batch=batch, now=LATER + timedelta(hours=1))

    Item.objects.filter(batch=batch).update(inputs={"suggestions": {"rule": {"label": "reasoning"}}})

    text, said = released(world, tmp_path / "v1")

    for one in some[12:]:
        assert f'"{one.external_id}"' not in text
    for item in Item.objects.filter(batch=batch):
        assert (item.public_id in text) is not item.is_gold
    for one in some[:12]:
        assert one.external_id in text
    assert "Everybody would see this" not in text
    assert '"label":"neither"' not in text.replace(" ", "")
    assert {figure["units"] for figure in live} == {12}
    assert {entry["units"] for entry in said} == {12}
    assert {entry["value"] for entry in said} == {figure["value"] for figure in live}


def test_qualification_calibration_and_what_is_set_aside_are_in_no_release(tmp_path: Any, db: None) -> None:
    world = make_world(tmp_path, questions=8)
    some = examples(world)
    work_on: dict[str, list[Example]] = {
        "work": some[:2],
        "calibration": some[2:4],
        "qualification": some[4:6],
    }
    for purpose, of in work_on.items():
        batch = world.batch(
            name=purpose,
            purpose=purpose,
            only=[one.external_id for one in of],
            pass_percent=50 if purpose == "qualification" else 0,
            overlap=1,
            open=False,
        )
        if purpose == "qualification":
            for one in of:
                mark(world, batch, one)
        batches.open_batch(batch=batch, by=world.mara, now=NOON)
        for _ in of:
            world.label(batch, "ada", "reasoning")
    pilot = world.batch(name="pilot", only=[one.external_id for one in some[6:]], overlap=1)
    for _ in some[6:]:
        world.label(pilot, "ada", "reasoning")
    for batch in Batch.objects.all():
        batches.close_batch(batch=batch, by=world.mara, now=LATER)
        batch.refresh_from_db()
        automatic_decisions.resolve_batch(batch=batch, now=LATER + timedelta(hours=1))
    pilot.refresh_from_db()
    calibration.set_aside(batch=pilot, because="The instruction was unclear.", by=world.mara, now=LATER)

    text, said = released(world, tmp_path / "v1")

    for one in some[:2]:
        assert one.external_id in text
    for one in some[2:]:
        assert one.external_id not in text
    assert {entry["batch"] for entry in said} <= {Batch.objects.get(name="work").public_id}


# -- qualification ----------------------------------------------------------------------------------


@pytest.fixture
def entry(world: World) -> Batch:
    """A qualification batch of four items, all "extraction", of which 75 % must be right."""
    batch = world.batch(name="Entry test", purpose="qualification", pass_percent=75, open=False)
    for one in examples(world):
        mark(world, batch, one)
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    batch.refresh_from_db()
    return batch


def answer_all(world: World, batch: Batch, who: str, *labels: str) -> Qualification | None:
    found = None
    for label in labels:
        assignment = world.take(batch, who)
        assert assignment is not None
        if label == "skip":
            assignments.skip(assignment=assignment, reason="odd", now=NOON)
        else:
            world.answer(assignment, {"label": label})
        found = qualification.after_submission(world.reload(assignment), NOON)
    return found


def test_a_qualification_is_there_when_the_last_item_is_submitted(world: World, entry: Batch) -> None:
    assert answer_all(world, entry, "ada", "extraction", "reasoning", "extraction") is None

    row = answer_all(world, entry, "ada", "extraction")

    assert row is not None
    assert (row.right, row.judged, row.passed) == (3, 4, True)
    assert world.take(entry, "ada") is None


def test_one_wrong_answer_too_many_does_not_pass_and_a_skip_is_no_answer(world: World, entry: Batch) -> None:
    row = answer_all(world, entry, "bo", "extraction", "skip", "reasoning", "extraction")

    assert row is not None
    assert (row.right, row.judged, row.passed) == (2, 4, False)


def test_everybody_gets_every_item_of_a_qualification_and_nothing_is_decided(
    world: World, entry: Batch
) -> None:
    for who in ("ada", "bo", "cy"):
        answer_all(world, entry, who, *["extraction"] * 4)
    automatic_decisions.resolve_batch(batch=entry, now=LATER + timedelta(hours=1))

    assert Qualification.objects.filter(passed=True).count() == 3
    assert not Decision.objects.exists()
    assert list(doctor.findings()) == []


def test_what_was_reached_stays_and_no_answer_is_changed_afterwards(world: World, entry: Batch) -> None:
    answer_all(world, entry, "ada", *["reasoning"] * 4)
    last = Assignment.objects.filter(person=world.ada, batch=entry).order_by("-pk")[0]
    assert last.annotation is not None
    with pytest.raises(ActionRefused, match="is final"):
        assignments.undo(annotation=last.annotation, now=LATER)

    row = qualification.after_submission(world.reload(last), LATER)

    assert row is not None
    assert (row.right, row.passed) == (0, False)


def test_the_manager_lets_somebody_in_and_it_says_who(world: World, entry: Batch) -> None:
    answer_all(world, entry, "ada", *["reasoning"] * 4)

    row = qualification.grant(batch=entry, person=world.ada, by=world.mara, now=LATER)

    assert (row.right, row.judged, row.passed, row.granted_by) == (0, 4, True, world.mara)
    assert Event.objects.filter(thing="qualification", after="granted", actor=world.mara).count() == 1
    assert qualification.grant(batch=entry, person=world.ada, by=world.mara, now=LATER) == row
    assert Event.objects.filter(thing="qualification", after="granted").count() == 1


def test_nobody_from_outside_is_let_in(world: World, entry: Batch) -> None:
    with pytest.raises(ActionRefused, match="not in this project"):
        qualification.grant(batch=entry, person=world.zoe, by=world.mara, now=LATER)


def test_other_batches_are_no_qualification_and_cost_nothing(world: World) -> None:
    batch = world.batch()
    assignment = world.take(batch, "ada")
    assert assignment is not None

    with CaptureQueriesContext(connection) as seen:
        assert qualification.after_submission(assignment, NOON) is None

    assert len(seen) == 0
    with pytest.raises(ActionRefused, match="not a qualification batch"):
        qualification.grant(batch=batch, person=world.ada, by=world.mara, now=NOON)


def test_a_qualification_batch_with_items_that_nobody_knows_does_not_open(world: World) -> None:
    batch = world.batch(name="Entry test", purpose="qualification", pass_percent=75, open=False)
    mark(world, batch, examples(world)[0])

    with pytest.raises(ActionRefused, match="without a gold answer: 3 of 4"):
        qualification.require_ready(batch)
    for one in examples(world)[1:]:
        mark(world, batch, one)
    qualification.require_ready(batch)


def test_the_standings_name_everybody_in_three_statements(world: World, entry: Batch) -> None:
    answer_all(world, entry, "ada", *["extraction"] * 4)
    answer_all(world, entry, "bo", "extraction")

    with CaptureQueriesContext(connection) as seen:
        found = qualification.qualification_results(entry)

    assert len(seen) == 3
    assert [(one.person.name, one.done, one.percent) for one in found] == [
        ("Ada", 4, 100),
        ("Bo", 1, 0),
        ("Cy", 0, 0),
    ]
