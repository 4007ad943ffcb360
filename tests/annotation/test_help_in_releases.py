"""Whose responses are, in a release: published, checked again, and left out where nobody verified what a machine made."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from annotation.assistance import impressions, proposals
from annotation.models import Batch, Item, Source
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, release_files, verification
from annotation.workflow import automatic_decisions
from predictor import client
from tableqa.perturbations import similarity
from tableqa.releases import record_files
from tableqa.releases.record_files import Difference
from tableqa.releases.verification import describe
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_predicting import knows_the_word_come
from tests.predictor.scripted import scripted

LATER = NOON + timedelta(days=1)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Any, transactional_db: None) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_world(tmp_path)


def crafted(world: World, help: str = "offered", **more: Any) -> Batch:
    """Ada takes the first proposal, edits the second, and writes the third herself; what is left she leaves."""
    batch = world.batch(
        "question_paraphrase", variant="sentence", help=help, help_from={"rules": True}, size=3, **more
    )
    for number in range(3):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        told = impressions.show_proposals(assignment=assignment, now=NOON)
        data = dict(told[0]["data"])
        if number == 1:
            impressions.record_reaction(assignment=assignment, proposal=told[0]["id"], act="took", now=NOON)
            data["question"] = data["question"].rstrip(".?") + " to all the cinemas of the land?"
        elif number == 2:
            impressions.record_reaction(
                assignment=assignment, proposal=told[0]["id"], act="rejected", errors=["missing"], now=NOON
            )
            data = {"question": "the year in question?", "category": "general"}
        world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def released(
    world: World, out: Path, purpose: str = "", format: str = "askew"
) -> dict[str, list[dict[str, Any]]]:
    """The records of a verified release, by file."""
    name = f"{purpose or 'all'}-{format}"
    creation.make_release(
        project=world.project, name=name, format=format, by=None, now=LATER, purpose=purpose, out=out / name
    )
    verification.verify(out / name)
    found = {}
    for path in sorted((out / name).rglob("*.json*")):
        if path.name != "manifest.json":
            found[path.relative_to(out / name).as_posix()] = list(record_files.records(path))
    return found


def paraphrases(files: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [
        record
        for name, records in files.items()
        for record in records
        if "question_paraphrase" in name and not name.startswith("training/")
    ]


def test_each_annotation_says_whose_it_is(world: World, tmp_path: Path) -> None:
    crafted(world)
    files = released(world, tmp_path)
    said = {record["help"]["origin"]: record["help"] for record in files["annotations.jsonl"]}
    assert set(said) == {"machine", "machine_edited", "human"}
    ids = {line["id"] for line in files["proposals.jsonl"]}
    assert all(set(one["shown"]) <= ids for one in said.values())
    assert said["human"]["rejected"][0]["errors"] == ["missing"]
    assert len(paraphrases(files)) == 3


def test_an_evaluation_leaves_out_what_a_machine_made_and_nobody_verified(
    world: World, tmp_path: Path
) -> None:
    crafted(world)
    kept = paraphrases(released(world, tmp_path, "evaluation"))
    assert len(kept) == 2


def test_where_people_verify_what_they_accepted_is_verified(world: World, tmp_path: Path) -> None:
    crafted(world, help="filled")
    assert len(paraphrases(released(world, tmp_path, "evaluation"))) == 3


def test_what_somebody_answered_blind_is_verified(world: World, tmp_path: Path) -> None:
    batch = crafted(world)
    check = world.batch("answer_check", of="perturbed", feeds_from=batch, sources=[], overlap=1)
    while (assignment := world.take(check, "bo")) is not None:
        world.answer(
            assignment,
            {"answers": list(Item.objects.get(pk=assignment.item_id).example.answers), "unanswerable": False},
        )
    automatic_decisions.resolve_batch(batch=check, now=LATER)
    assert len(paraphrases(released(world, tmp_path, "evaluation"))) == 3


def test_training_adds_what_nobody_looked_at_but_not_what_was_rejected(world: World, tmp_path: Path) -> None:
    crafted(world)
    files = released(world, tmp_path, "training")
    added = [record for name, records in files.items() if name.startswith("training/") for record in records]
    rejected = {
        entry["proposal"] for record in files["annotations.jsonl"] for entry in record["help"]["rejected"]
    }
    assert added
    assert {record["proposal"] for record in added} <= {
        line["id"] for line in files["proposals.jsonl"]
    } - rejected
    assert all(record["maker"] == "rules" for record in added)
    assert len(paraphrases(files)) == 3
    pairs = released(world, tmp_path, "training", "robut")
    assert any(name.startswith("training/") for name in pairs)


def test_a_release_of_batches_without_help_says_nothing_of_it(world: World, tmp_path: Path) -> None:
    batch = world.batch("question_paraphrase", variant="sentence", size=1)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    world.answer(assignment, {"question": "the year in question?", "category": "general"})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    files = released(world, tmp_path)
    assert "proposals.jsonl" not in files
    assert "help" not in files["annotations.jsonl"][0]
    manifest = json.loads((tmp_path / "all-askew" / "manifest.json").read_text())
    assert "purpose" not in manifest
    assert "help" not in manifest["batches"][0]


@pytest.mark.parametrize(
    ("origin", "change", "words"),
    [
        ("machine_edited", {"origin": "machine"}, "is not what its proposal"),
        ("machine", {"origin": "human", "proposal": None}, "is what a machine proposed"),
        ("machine", {"origin": "machine_edited"}, "is what a machine proposed"),
        ("machine_edited", {"shared": 0.0}, "and its help says 0.0"),
        ("machine_edited", {"took": "nowherenowhe"}, "which it was not shown"),
    ],
)
def test_a_changed_provenance_is_found(
    world: World, tmp_path: Path, origin: str, change: dict[str, Any], words: str
) -> None:
    crafted(world)
    released(world, tmp_path)
    folder = tmp_path / "all-askew"
    path = folder / "annotations.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    changed = next(line for line in lines if line["help"]["origin"] == origin)
    changed["help"] |= change
    rewrite(path, lines)
    with pytest.raises(Difference, match=words):
        verification.verify(folder)


def rewrite(path: Path, lines: list[dict[str, Any]]) -> None:
    """Put other records into a release, checksums and all."""
    folder = path.parent
    release_files.write_records(path, lines)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"] = describe(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def little_of_what_was_taken(world: World) -> None:
    """Ada takes a proposal and leaves so little of it that only her taking it says where the rest is from."""
    batch = world.batch(
        "question_paraphrase", variant="sentence", help="offered", help_from={"rules": True}, size=1
    )
    assignment = world.take(batch, "ada")
    assert assignment is not None
    told = impressions.show_proposals(assignment=assignment, now=NOON)[0]
    impressions.record_reaction(assignment=assignment, proposal=told["id"], act="took", now=NOON)
    task, item = batch.task(), assignment.plain_item
    example = impressions.outcome(task, item, told["data"])
    word = sorted(similarity.added_content(item.example, example))[0].split()[-1].strip("?.")
    words = f"say at long last {word} and then a great many other things besides"
    world.answer(assignment, {"question": words, "category": "general"})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)


def test_what_was_taken_is_published_so_that_whose_a_response_is_can_be_taken_again(
    world: World, tmp_path: Path
) -> None:
    little_of_what_was_taken(world)
    files = released(world, tmp_path)
    (record,) = files["annotations.jsonl"]
    help = record["help"]
    assert (help["origin"], help["took"]) == ("machine_edited", help["proposal"])
    assert help["shared"] < similarity.MUCH
    path = tmp_path / "all-askew" / "annotations.jsonl"
    rewrite(path, [{**record, "help": {**help, "took": None}}])
    with pytest.raises(Difference, match="is the person's own, and its help says machine_edited"):
        verification.verify(path.parent)
    rewrite(path, [{**record, "help": {name: said for name, said in help.items() if name != "took"}}])
    verification.verify(path.parent)  # as it was published before


def test_what_is_taken_after_the_submission_is_no_part_of_it(world: World) -> None:
    batch = world.batch(
        "question_paraphrase", variant="sentence", help="offered", help_from={"rules": True}, size=1
    )
    assignment = world.take(batch, "ada")
    assert assignment is not None
    told = impressions.show_proposals(assignment=assignment, now=NOON)[0]
    world.answer(world.reload(assignment), {"question": "the year in question?", "category": "general"})
    with pytest.raises(ActionRefused, match="is submitted"):  # loaded before it was
        impressions.record_reaction(assignment=assignment, proposal=told["id"], act="took", now=NOON)


def test_a_trials_verdict_follows_again_from_the_models_answers(
    world: World, tmp_path: Path, settings: Any
) -> None:
    with scripted(knows_the_word_come) as server:
        settings.PREDICTORS = {"small": server.entry}
        help_from = {"rules": True, "search": True}
        batch = world.batch("header_synonym", help="offered", help_from=help_from, loop_model="small", size=2)
        assignment = world.take(batch, "ada")
        assert assignment is not None
        impressions.show_proposals(assignment=assignment, now=NOON)
        rename = {"op": "rename_header", "column": "c1", "at": 1, "old": "Year", "new": "Released in"}
        world.answer(assignment, {"operations": [rename]})
        client.connect(server.entry).close()
        client._cached_model.cache_clear()
    automatic_decisions.resolve_batch(batch=batch, now=timezone.now())  # the proposals were made just now
    lines = released(world, tmp_path)["proposals.jsonl"]
    tried = [line for line in lines if line["trials"]]
    assert tried
    assert all(
        one["original"]["answers"] and "text" in one["perturbed"] for line in tried for one in line["trials"]
    )
    path = tmp_path / "all-askew" / "proposals.jsonl"
    trial = tried[0]["trials"][0]
    true, trial["verdict"] = trial["verdict"], "unsure"
    rewrite(path, lines)
    with pytest.raises(Difference, match=f"is {true} by the answers of small@.*, not unsure"):
        verification.verify(path.parent)
    trial["verdict"] = true
    trial["perturbed"]["answers"], trial["perturbed"]["text"] = ["another"], "another"
    rewrite(path, lines)
    if true != "fooled":
        with pytest.raises(Difference, match="by the answers of"):
            verification.verify(path.parent)
    for line in lines:
        line["trials"] = [{"model": one["model"], "verdict": one["verdict"]} for one in line["trials"]]
    rewrite(path, lines)
    verification.verify(path.parent)  # as it was published before


def test_a_machines_and_a_persons_example_are_put_side_by_side(world: World) -> None:
    """LETA against people: both were made of one original, and their makers stand beside them."""
    crafted(world)
    by_hand = world.batch("question_paraphrase", variant="sentence", size=3)
    while (assignment := world.take(by_hand, "bo")) is not None:
        world.answer(assignment, {"question": f"Bo's words for {assignment.item_id}?", "category": "general"})
    automatic_decisions.resolve_batch(batch=by_hand, now=LATER)
    rating = world.batch("perturbation_rating", of="perturbed")
    pairs = {
        tuple(sorted(side["maker"] for side in item.inputs["sides"].values())) for item in rating.items.all()
    }
    assert pairs == {("machine", "person"), ("machine, edited", "person"), ("person", "person")}


def test_proposals_as_they_came_are_rated_beside_peoples(world: World, tmp_path: Path) -> None:
    helped = world.batch("header_synonym", name="Helped", help="filled", help_from={"rules": True}, size=2)
    proposals.make_proposals(batch=helped)
    by_hand = world.batch("header_synonym", size=4)
    while (assignment := world.take(by_hand, "bo")) is not None:
        rename = {"op": "rename_header", "column": "c1", "at": 1, "old": "Year", "new": "Released in"}
        world.answer(assignment, {"operations": [rename]})
    automatic_decisions.resolve_batch(batch=by_hand, now=LATER)
    call_command("rate_proposals", project="films", batch="Helped", size=3, seed=1, stdout=StringIO())
    source = Source.objects.get(name="Proposals of Helped")
    assert source.examples_count == 3
    assert source.licence
    with pytest.raises(CommandError, match="already"):
        call_command("rate_proposals", project="films", batch="Helped", stdout=StringIO())
    rating = world.batch("perturbation_rating", of="perturbed")
    makers = [
        tuple(sorted(side["maker"] for side in item.inputs["sides"].values())) for item in rating.items.all()
    ]
    assert ("person", "rules") in makers
    assignment = world.take(rating, "cy")
    assert assignment is not None
    world.answer(assignment, {"left": 4, "left_errors": [], "right": 2, "right_errors": ["missing"], "better": "left"}
                 if "right" in assignment.item.inputs else {"left": 4, "left_errors": []})  # fmt: skip
    automatic_decisions.resolve_batch(batch=rating, now=LATER)
    released(world, tmp_path)
