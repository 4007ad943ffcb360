"""Help in crafting: who is shown proposals, what is kept of them, and whose a response is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from annotation.assistance import impressions, origins
from annotation.models import (
    Assignment,
    Batch,
    Proposal,
    ProposalImpression,
    ProposalReaction,
    Provenance,
    Slot,
)
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused
from annotation.workflow import assignments
from tasks.contract import ProposingTask
from tests.annotation.cast import NOON, World, envelope, make_world
from tests.tasks.test_contract import KINDS, sample

OWN = {"question": "in which year was it released?", "category": "reasoning_carrier"}


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def a_batch(world: World, **more: Any) -> Batch:
    settings: dict[str, Any] = {
        "variant": "sentence",
        "help": "offered",
        "help_from": {"rules": True},
        **more,
    }
    return world.batch("question_paraphrase", **settings)


def take(world: World, batch: Batch, who: str = "ada") -> Assignment:
    assignment = world.take(batch, who)
    assert assignment is not None
    return assignment


def tell(assignment: Assignment) -> list[dict[str, Any]]:
    return impressions.show_proposals(assignment=assignment, now=NOON)


# -- what is drawn ----------------------------------------------------------------------------------


@given(
    unhelped=st.integers(0, 90),
    overlap=st.integers(1, 5),
    seed=st.integers(0, 2**40),
    blocks=st.integers(1, 3),
)
def test_the_share_without_help_is_exact_in_every_hundred_places(
    unhelped: int, overlap: int, seed: int, blocks: int
) -> None:
    batch = Batch(draw_key="b", seed=seed, unhelped=unhelped, overlap=overlap)
    places = [
        impressions.shows_proposals(batch, Slot(position=n // overlap + 1, number=n % overlap + 1))
        for n in range(100 * blocks)
    ]
    assert places.count(False) == unhelped * blocks


def test_a_draw_depends_on_batch_and_seed_and_on_nothing_else() -> None:
    def draws(**more: Any) -> list[bool]:
        batch = Batch(**{"draw_key": "b", "seed": 1, "unhelped": 50, "overlap": 1, **more})
        return [impressions.shows_proposals(batch, Slot(position=n, number=1)) for n in range(1, 41)]

    assert draws() == draws()
    assert draws() != draws(seed=2)
    assert draws() != draws(draw_key="c")
    batch = Batch(draw_key="b", seed=1, unhelped=25, overlap=1)
    added = [impressions.shows_proposals(batch, Slot(position=n, number=2)) for n in range(400)]
    assert 60 < added.count(False) < 140


# -- where a response comes from --------------------------------------------------------------------


def shown(made: str, *pieces: str, took: bool = False, key: int = 1) -> origins.ShownProposal:
    return origins.ShownProposal(key, made, frozenset(pieces), took)


@pytest.mark.parametrize(
    ("made", "pieces", "others", "expected"),
    [
        ("x", {"a"}, [], "human"),
        ("x", {"a"}, [shown("x", "a")], "machine"),
        ("x", {"a"}, [shown("y", "b", took=True), shown("x", "a", key=2)], "machine"),
        ("x", {"a", "b", "c"}, [shown("y", "a", took=True)], "machine_edited"),
        ("x", {"a", "b", "c"}, [shown("y", "a")], "human"),
        ("x", {"a", "b"}, [shown("y", "a")], "machine_edited"),
        ("x", {"a"}, [shown("y", "b", took=True)], "human"),
        ("x", set(), [shown("y", took=True)], "human"),
    ],
)
def test_whose_a_response_is_follows_from_what_it_holds(
    made: str, pieces: set[str], others: list[origins.ShownProposal], expected: str
) -> None:
    found = origins.origin(made, frozenset(pieces), others)
    assert found.origin == expected
    assert (found.key is None) == (expected == "human")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("mnop"), st.floats(0, 1),
                          st.sampled_from(["fooled", "not_fooled", "unsure", None])), max_size=12))  # fmt: skip
def test_ranking_lists_each_outcome_once_and_what_fools_first(
    rows: list[tuple[str, str, float, str | None]],
) -> None:
    given = [impressions.Candidate(key, *row) for key, row in enumerate(rows)]
    found = impressions.rank(given)
    assert sorted(one.digest for one in found) == sorted({row[1] for row in rows})
    places = [impressions.BEST.get(one.verdict or "", 1) for one in found]
    assert places == sorted(places)
    assert impressions.rank(list(reversed(given))) == found


def test_makers_take_turns() -> None:
    given = [impressions.Candidate(n, "rules", f"r{n}", 0.9) for n in range(3)] + [
        impressions.Candidate(10 + n, "llm", f"m{n}", 0.0) for n in range(2)
    ]
    assert [one.digest for one in impressions.rank(given)] == ["m0", "r0", "m1", "r1", "r2"]


# -- proposals of the kinds -------------------------------------------------------------------------

PROPOSING = [task for task in KINDS if isinstance(task, ProposingTask)]


def test_every_kind_that_leta_produced_proposes() -> None:
    assert {task.key for task in PROPOSING} == {
        "header_synonym",
        "header_abbreviation",
        "column_extension",
        "column_masking",
        "column_adding",
        "question_paraphrase",
    }


# -- what a person is shown -------------------------------------------------------------------------


def test_proposals_are_shown_in_one_order_and_what_was_shown_is_kept(world: World) -> None:
    assignment = take(world, a_batch(world))
    first = tell(assignment)
    assert first
    assert len(first) <= impressions.MAX_SHOWN
    assert first == tell(world.reload(assignment))
    told = ProposalImpression.objects.filter(assignment=assignment).order_by("number")
    assert [one.proposal.public_id for one in told] == [one["id"] for one in first]
    assert all(one["words"][0].endswith((".", "?")) for one in first)
    task, item = assignment.batch.task(), assignment.plain_item
    for one in first:
        task.parse(one["data"], item)


def test_what_comes_later_is_put_behind(world: World) -> None:
    batch = a_batch(world)
    assignment = take(world, batch)
    before = tell(assignment)
    assert len(before) < impressions.MAX_SHOWN
    Proposal.objects.create(
        item=assignment.item, source="model", maker="llm", data=OWN | {"category": "general"}, digest="d",
        made_at=NOON,
    )  # fmt: skip
    assert [one["id"] for one in tell(world.reload(assignment))][: len(before)] == [
        one["id"] for one in before
    ]
    assert len(tell(world.reload(assignment))) == len(before) + 1


def test_a_place_without_help_shows_nothing_and_says_so(world: World) -> None:
    batch = a_batch(world, unhelped=50, size=4)
    seen = Counter[str]()
    while (assignment := world.take(batch, "ada")) is not None:
        payload = assignments.payload(assignment)
        seen[payload["help"]] += 1
        assert bool(tell(assignment)) == (payload["help"] == "offered")
        world.answer(
            assignment, {"question": f"which year is it, number {sum(seen.values())}?", "category": "general"}
        )
    assert seen == {"offered": 2, "": 2}
    assert Provenance.objects.filter(helped=False).count() == 2
    assert set(Provenance.objects.values_list("origin", flat=True)) == {"human"}


def test_a_proposal_that_is_submitted_is_the_machines_whatever_the_browser_says(world: World) -> None:
    assignment = take(world, a_batch(world))
    (first, *_) = tell(assignment)
    world.answer(assignment, first["data"])
    row = Provenance.objects.get()
    assert (row.origin, row.helped, row.shared) == ("machine", True, 1.0)
    assert row.impression is not None
    assert row.impression.proposal.public_id == first["id"]


def test_an_edited_proposal_is_the_machines_edited_and_ones_own_is_ones_own(world: World) -> None:
    batch = a_batch(world)
    assignment = take(world, batch)
    (first, *_) = tell(assignment)
    impressions.record_reaction(assignment=assignment, proposal=first["id"], act="took", now=NOON)
    edited = first["data"]["question"].rstrip(".?") + " to cinemas in all of Europe?"
    world.answer(assignment, {**first["data"], "question": edited})
    assert Provenance.objects.get().origin == "machine_edited"
    other = take(world, batch)
    tell(other)
    world.answer(other, {"question": "the year in question?", "category": "general"})
    assert Provenance.objects.order_by("-pk")[0].origin == "human"


def test_undoing_and_submitting_again_is_decided_anew(world: World) -> None:
    assignment = take(world, a_batch(world))
    (first, *_) = tell(assignment)
    annotation = world.answer(assignment, first["data"])
    assignments.undo(annotation=annotation, now=NOON)
    world.answer(world.reload(assignment), {"question": "the year in question?", "category": "general"})
    assert list(Provenance.objects.order_by("pk").values_list("origin", flat=True)) == ["machine", "human"]


def test_a_rejection_says_what_is_wrong(world: World) -> None:
    assignment = take(world, a_batch(world))
    (first, *_) = tell(assignment)

    def handle(**more: Any) -> ProposalReaction:
        given = {"proposal": first["id"], "act": "rejected", "errors": ["invented"], **more}
        return impressions.record_reaction(assignment=assignment, now=NOON, **given)

    assert handle() == handle()
    assert tell(world.reload(assignment))[0]["state"] == "rejected"
    for wrong, words in (
        ({"errors": []}, "Name the errors"),
        ({"act": "took"}, "Name the errors"),
        ({"errors": ["ugly"]}, "any of meaning_changed"),
        ({"act": "liked"}, "one of took"),
        ({"proposal": "nobodys"}, "not shown"),
    ):
        with pytest.raises(ActionRefused, match=words):
            handle(**wrong)
    handle(act="took", errors=[])
    assert ProposalReaction.objects.count() == 2
    world.answer(assignment, first["data"])
    with pytest.raises(ActionRefused, match="submitted"):
        impressions.record_reaction(
            assignment=world.reload(assignment), proposal=first["id"], act="took", now=NOON
        )


def test_the_database_keeps_what_was_said_together(world: World) -> None:
    assignment = take(world, a_batch(world))
    (first, *_) = tell(assignment)
    impression = ProposalImpression.objects.get(proposal__public_id=first["id"])
    annotation = world.answer(assignment, {"question": "the year in question?", "category": "general"})
    with immutable_rows.writable():
        Provenance.objects.all().delete()
    for broken in (
        lambda: Provenance.objects.create(annotation=annotation, helped=True, origin="machine"),
        lambda: Provenance.objects.create(
            annotation=annotation, helped=True, origin="human", impression=impression
        ),
        lambda: Provenance.objects.create(
            annotation=annotation, helped=False, origin="machine", impression=impression
        ),
        lambda: Provenance.objects.create(annotation=annotation, helped=True, origin="human", shared=2),
        lambda: ProposalReaction.objects.create(
            impression=impression, act="rejected", errors=[], made_at=NOON
        ),
        lambda: ProposalReaction.objects.create(
            impression=impression, act="took", errors=["missing"], made_at=NOON
        ),
        lambda: Batch.objects.filter(pk=assignment.batch_id).update(help="a_little"),
        lambda: Batch.objects.filter(pk=assignment.batch_id).update(help="", help_from={}, unhelped=10),
        lambda: Batch.objects.filter(pk=assignment.batch_id).update(unhelped=95),
        lambda: super(type(Proposal.objects.all()), Proposal.objects.all()).update(why="because"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            broken()


def test_a_batch_without_help_asks_no_more_of_the_database(world: World) -> None:
    def statements(batch: Batch) -> int:
        assignment = take(world, batch)
        assignments.payload(assignment)
        with CaptureQueriesContext(connection) as caught:
            world.answer(assignment, OWN | {"category": "general"})
        return sum(
            "proposal" in one["sql"] or "proposalimpression" in one["sql"] for one in caught.captured_queries
        )

    assert statements(world.batch("question_paraphrase", variant="sentence")) == 0
    assert statements(a_batch(world)) > 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"help": "much"}, r"Show proposals \(help\) must be one of offered, filled"),
        ({"help": "", "help_from": {"rules": True}}, "Choose how"),
        ({"help": "", "help_from": {}, "unhelped": 5}, "Choose how"),
        ({"unhelped": 91}, "0 to 90"),
        ({"help_from": {"rules": False}}, "Choose rules, a language model, or both"),
        ({"help_from": {"oracle": True}}, "no setting oracle"),
        ({"help_from": {"models": ["gpt"]}}, "no language model 'gpt'"),
        ({"help_from": {"search": True}}, "choose a model in the loop"),
        ({"help_from": {"rules": True, "repetitions": 3}}, None),
    ],
)
def test_help_that_makes_no_sense_is_refused(world: World, more: dict[str, Any], words: str | None) -> None:
    if words is None:
        assert a_batch(world, **more).help_from == {"rules": True, "models": [], "search": False}
        return
    with pytest.raises(ActionRefused, match=words):
        a_batch(world, **more)


def test_a_kind_that_only_judges_has_no_help(world: World) -> None:
    with pytest.raises(ActionRefused, match="does not support this option: Show proposals"):
        world.batch("question_type", help="offered")


def test_the_interface_shows_and_keeps(world: World) -> None:
    client = Client()
    client.force_login(world.ada)
    batch = a_batch(world)
    assignment = take(world, batch)
    base = f"/api/assignments/{assignment.public_id}"
    shown = client.post(f"{base}/proposals/", content_type="application/json").json()
    assert shown["help"] == "offered"
    first = shown["proposals"][0]
    assert set(first) == {"id", "data", "words", "why", "verdict", "state"}
    body = {"proposal": first["id"], "act": "rejected", "errors": ["missing"]}
    assert client.post(f"{base}/handle/", body, content_type="application/json").status_code == 204
    assert (
        client.post(f"{base}/handle/", {**body, "errors": ["x"]}, content_type="application/json").status_code
        == 422
    )
    other = Client()
    other.force_login(world.bo)
    for path in ("proposals", "handle"):
        assert other.post(f"{base}/{path}/", body, content_type="application/json").status_code == 404
    response = envelope(assignment, first["data"])
    done = client.post(f"{base}/submit/", {"response": response}, content_type="application/json")
    assert done.status_code == 200
    assert Provenance.objects.get().origin == "machine"


@pytest.mark.parametrize("task", PROPOSING, ids=[task.key for task in PROPOSING])
def test_what_people_made_can_be_shown_to_a_model_and_read_back(task: Any) -> None:
    """A demonstration is in the very form that a reply is read in."""
    found, read = sample(task), 0
    for good in found["good"]:
        item = found["items"][good["item"]]
        response = task.parse(good["data"], item)
        for wanted in task.generation_requests(item):
            assert task.render(item)
            reply = task.as_demonstration(response, wanted, item)
            if reply is None:
                continue
            again = task.parse(task.parse_reply(reply, wanted, item), item)
            assert task.perturb(item, again).example.table.same_content(
                task.perturb(item, response).example.table
            )
            assert task.perturb(item, again).example.question == task.perturb(item, response).example.question
            read += 1
    assert read
