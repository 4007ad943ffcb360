"""Who could profit from a draw cannot compute it: with the code, the own pages and all public ids nobody knows more."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from importlib import import_module
from math import exp, lgamma, log
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.state import ProjectState
from django.test import Client
from django.urls import get_resolver
from hypothesis import given
from hypothesis import strategies as st

from annotation.assistance import impressions
from annotation.models import Batch, Event, Slot
from annotation.queue import availability, draws
from annotation.releases import creation
from annotation.workflow import assignments, automatic_decisions, batches
from tests.annotation.cast import NOON, World
from tests.annotation.test_gold_is_not_told import mixed

TURNS = 2_000


def a_batch(key: str = "6d1f0c5e2ab94c07", percent: int = 20, feedback: bool = False, **more: Any) -> Batch:
    return Batch(public_id="k3m5n7p9q2r4", draw_key=key, gold_percent=percent, gold_feedback=feedback, **more)


# -- an adversary -----------------------------------------------------------------------------------

Guess = Callable[[int, Sequence[bool]], bool]
"""Whether the next turn is gold, by its number and what the turns before turned out to be (empty without feedback)."""


def by_public_draw(seed: str, percent: int) -> Guess:
    """What the code did before there were keys, with everything that the adversary knows as the seed."""

    def guess(turn: int, known: Sequence[bool]) -> bool:
        number = turn * percent // 100
        first, behind = -(-number * 100 // percent), -(-(number + 1) * 100 // percent)
        return turn == random.Random(f"gold:{seed}:{number}").randrange(first, behind)

    return guess


def by_alone_draw(seed: str, percent: int) -> Guess:
    return lambda turn, known: random.Random(f"gold turn:{seed}:{turn}").random() * 100 < percent


def by_stretch(percent: int) -> Guess:
    """Gold is due at the end of a stretch in which there was none."""

    def guess(turn: int, known: Sequence[bool]) -> bool:
        first = -(-(turn * percent // 100) * 100 // percent)
        is_last = (turn + 1) * percent // 100 > turn * percent // 100
        return is_last and not any(known[first:turn])

    return guess


def by_gap(percent: int) -> Guess:
    """Gold is due where there was none for as long as it takes on average."""
    return lambda turn, known: not any(known[-(100 // percent) :])


def by_repetition(percent: int) -> Guess:
    """Gold comes where it came one period before."""
    return lambda turn, known: turn >= 100 // percent and known[turn - 100 // percent] if known else False


def chance(hits: int, of: int, rate: float) -> float:
    """How likely so many hits or more are by chance."""
    return sum(
        exp(lgamma(of + 1) - lgamma(k + 1) - lgamma(of - k + 1) + k * log(rate) + (of - k) * log(1 - rate))
        for k in range(hits, of + 1)
    )


@pytest.mark.parametrize("feedback", [False, True])
@pytest.mark.parametrize("percent", [10, 20, 50])
def test_nobody_guesses_gold_better_than_by_its_rate(feedback: bool, percent: int) -> None:
    batch, person = a_batch(percent=percent, feedback=feedback), 7
    turns = draws.GoldTurns(batch, person)
    gold = [turn in turns for turn in range(TURNS)]
    guesses = [
        by_gap(percent),
        by_repetition(percent),
        by_stretch(percent),
        *(
            guess(seed, percent)
            for guess in (by_public_draw, by_alone_draw)
            for seed in (f"{batch.public_id}:{person}", f":{person}", str(person), f"{batch.pk}:{person}")
        ),
    ]

    for guess in guesses:
        called = [turn for turn in range(TURNS) if guess(turn, gold[:turn] if feedback else ())]
        hits = sum(gold[turn] for turn in called)
        # Of several adversaries the best one is better than one alone, by chance.
        assert len(guesses) * chance(hits, len(called), percent / 100) > 0.01


def test_the_adversary_finds_what_a_public_key_draws() -> None:
    """Else the test above would hold whatever is drawn."""
    batch = a_batch(key="")
    turns, guess = draws.GoldTurns(batch, 7), by_public_draw(f"{batch.public_id}:7", 20)

    assert [turn in turns for turn in range(200)] == [guess(turn, ()) for turn in range(200)]
    secret, known = draws.GoldTurns(a_batch(), 7), by_stretch(20)
    gold = [turn in secret for turn in range(TURNS)]
    called = [turn for turn in range(TURNS) if known(turn, gold[:turn])]
    assert all(gold[turn] for turn in called), (
        "in stretches feedback tells the last one: so with it there are none"
    )


# -- turns ------------------------------------------------------------------------------------------


@given(percent=st.integers(1, 50), key=st.text(max_size=8), turns=st.integers(1, 300))
def test_of_any_number_of_turns_the_rate_is_gold(percent: int, key: str, turns: int) -> None:
    mine = draws.GoldTurns(a_batch(key, percent), 1)
    assert abs(sum(turn in mine for turn in range(turns)) - turns * percent / 100) <= 1 + percent / 100


def test_with_feedback_the_rate_holds_on_average() -> None:
    people = [draws.GoldTurns(a_batch(percent=10, feedback=True), person) for person in range(200)]
    drawn = sum(turn in turns for turns in people for turn in range(100))
    assert abs(drawn - 2_000) < 5 * (20_000 * 0.1 * 0.9) ** 0.5


@given(st.text(max_size=4), st.integers(0, 60), st.integers(1, 50), st.integers(0, 80), st.integers(0, 30))
def test_gold_ahead_is_what_walking_the_turns_finds(
    key: str, turn: int, percent: int, ordinary: int, golds: int
) -> None:
    turns = draws.GoldTurns(a_batch(key, percent), 1)
    expected, at, free = 0, turn, ordinary
    while True:
        if expected < golds and at in turns:
            expected += 1
        elif free:
            free -= 1
        else:
            break
        at += 1

    assert turns.ahead(turn, ordinary=ordinary, golds=golds) == expected


def test_with_feedback_neither_what_is_left_nor_the_end_tells_which_item_is_gold(
    db: None, tmp_path: Path
) -> None:
    world, batch = mixed(tmp_path, ordinary=12, golds=12, percent=50, gold_feedback=True)
    left: list[tuple[int, int, int]] = []
    kinds: list[bool] = []
    ordinary = 12
    while taken := world.take(batch, "ada"):
        assert ordinary > 0, "an item behind the last ordinary one is gold"
        left.append((availability.left_for(world.ada, [batch.pk])[batch.pk], ordinary, 12 - sum(kinds)))
        kinds.append(taken.item.is_gold)
        ordinary -= not taken.item.is_gold
        world.answer(taken, {"label": "reasoning"})

    assert set(kinds) == {True, False}
    assert availability.left_for(world.ada, [batch.pk])[batch.pk] == 0
    # What is left follows from what is known already, and not from the draws ahead.
    for (number, free, golds), is_gold in zip(left, kinds, strict=True):
        desk, free, golds = 1, free - (not is_gold), golds - is_gold
        assert number == desk + free + min(golds, free)


# -- the key ----------------------------------------------------------------------------------------


def everything_drawn(batch: Batch) -> list[Any]:
    batch.unhelped, batch.overlap, batch.seed = 25, 1, 3
    return [
        [turn in draws.GoldTurns(batch, 5) for turn in range(40)],
        [draws.generator(batch, "order", 5, had).random() for had in range(4)],
        [draws.generator(batch, "start", 5).randrange(100)],
        [impressions.shows_proposals(batch, Slot(position=at, number=1)) for at in range(1, 41)],
    ]


def test_a_batch_without_a_key_draws_what_it_drew_before() -> None:
    batch = a_batch(key="")
    of = f"{batch.public_id}:5"

    turns, order, start, helped = everything_drawn(batch)

    assert turns == [by_public_draw(of, 20)(turn, ()) for turn in range(40)]
    assert order == [random.Random(f"order:{of}:{had}").random() for had in range(4)]
    assert start == [random.Random(f"start:{of}").randrange(100)]
    blocks = [random.Random(f"help:{batch.public_id}:3:{block}").sample(range(4), 1) for block in range(10)]
    assert helped == [at % 4 not in blocks[at // 4] for at in range(40)]


def test_another_key_draws_everything_anew() -> None:
    for one, other in zip(everything_drawn(a_batch("a")), everything_drawn(a_batch("b")), strict=True):
        assert one != other


def test_each_new_batch_has_a_random_key_of_its_own(world: World) -> None:
    keys = {world.batch(open=False).draw_key for _ in range(4)}
    assert len(keys) == 4
    assert {len(key) for key in keys} == {32}


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_a_batch_from_before_there_were_keys_keeps_its_public_draws(world: World) -> None:
    """The step of the migration alone, on today's tables: all migrations back and forth take ten times as long."""
    batch = world.batch()
    [add_key] = import_module("annotation.migrations.0044_draw_keys").Migration.operations
    with_key = ProjectState.from_apps(apps)
    without_key = with_key.clone()
    without_key.remove_field("annotation", "batch", "draw_key")
    try:
        with connection.schema_editor() as editor:
            add_key.database_backwards("annotation", editor, with_key, without_key)
    finally:
        with connection.schema_editor() as editor:
            add_key.database_forwards("annotation", editor, without_key, with_key)

    assert Batch.objects.get(pk=batch.pk).draw_key == ""
    assert world.batch().draw_key


def addresses(batch: Batch) -> list[str]:
    """Every page and endpoint of the project and of the batch."""
    values = {"slug": batch.project.slug, "public_id": batch.public_id}
    found = []
    reversed_urls: Any = get_resolver().reverse_dict
    for name, (ways, *_) in reversed_urls.items():
        for address, names in ways:
            of_batch = "public_id" in names and "batches/" in address
            if isinstance(name, str) and set(names) <= set(values) and (of_batch or names == ["slug"]):
                found.append("/" + address % {each: values[each] for each in names})
    return sorted(set(found))


def test_the_key_is_in_no_page_payload_log_export_or_release(
    db: None, tmp_path: Path, client: Client
) -> None:
    world, batch = mixed(tmp_path, ordinary=8, golds=4)
    for who in ("ada", "bo"):
        for _ in range(3):
            taken = world.take(batch, who)
            assert taken is not None
            world.answer(taken, {"label": "reasoning"})
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    assert taken is not None
    bodies = {"payload": json.dumps(assignments.payload(world.reload(taken))).encode()}
    bodies["log"] = json.dumps(list(Event.objects.values_list("detail", flat=True))).encode()
    client.force_login(world.mara)
    for address in [*addresses(batch), "/projects/films/study/?download", "/projects/films/log/?format=csv"]:
        answer = client.get(address)
        if answer.status_code == 200:
            bodies[address] = b"".join(answer)
    folder = tmp_path / "release"
    creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=NOON, out=folder
    )
    bodies |= {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    assert len(bodies) > 40
    assert len(batch.draw_key) == 32
    assert [of for of, body in bodies.items() if batch.draw_key.encode() in body] == []
