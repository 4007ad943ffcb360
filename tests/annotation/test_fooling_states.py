"""The fooling report counts why a model gave no answer: a column for each state, in the page and in the CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.assistance import fooling_rates
from annotation.models import Try
from predictor.listing import _resting
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.filling import fill
from tests.annotation.test_predicting import REWORDED, take
from tests.predictor.endpoints import Endpoint, endpoint


@pytest.fixture
def llm(settings: Any) -> Iterator[Endpoint]:
    with endpoint(Endpoint("vllm")) as server:
        settings.PREDICTORS = {"llm": server.entry(parallel=1)}
        yield server
    _resting.clear()


@pytest.fixture
def world(db: None, tmp_path: Path, settings: Any) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_world(tmp_path)


STATES = {
    "cut_off": "cut_off",
    "declines": "declined",
    "filtered": "filtered",
    "silent": "no_list",
}


def test_each_state_has_a_column_of_its_own(world: World, llm: Endpoint) -> None:
    batch = world.batch("question_paraphrase", variant="word", loop_model="llm", overlap=2)
    for mood in STATES:
        assignment = world.take(batch, "ada")
        assert assignment is not None
        world.answer(assignment, REWORDED)
        llm.mood = mood
        assert fill(batch=batch, now=NOON) == (1, 0)
    llm.mood, llm.reply = "well", lambda body: '{"answers": ["1979"]}'
    world.answer(take(world, batch, "bo"), REWORDED)
    fill(batch=batch, now=NOON)
    assert set(Try.objects.exclude(error="").values_list("original__state", flat=True)) == set(
        STATES.values()
    )
    looked, _ = fooling_rates.of_project(world.project, world.rea)
    (line,) = fooling_rates.lines(looked, ["model"])
    assert (line.submitted, line.judged) == (5, 1)
    assert line.states == dict.fromkeys(STATES.values(), 1)
    rea = Client()
    rea.force_login(world.rea)
    page = rea.get("/projects/films/fooling/").content.decode()
    for words in ("Cut off", "Declined by the model", "Filtered", "Without a list of answers"):
        assert page.count(f'<th scope="col" class="n">{words}</th>') == 4, "in each of the four tables"
    assert "Rejected by the endpoint" not in page, "no column without a number"
    text = rea.get("/projects/films/fooling/?as=csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    sums = {state: sum(int(row[state]) for row in rows) for state in fooling_rates.STATES}
    assert sums == {state: int(state in line.states) for state in fooling_rates.STATES}


def test_tries_of_older_releases_without_a_state_are_counted(world: World, llm: Endpoint) -> None:
    batch = world.batch("question_paraphrase", variant="word", loop_model="llm", overlap=2)
    world.answer(take(world, batch, "ada", "Alien"), REWORDED)
    llm.mood = "silent"
    fill(batch=batch, now=NOON)
    row = Try.objects.get()
    for model, original, state in (
        ("llm:small", {**(row.original or {}), "state": None}, "no_list"),
        ("llm:small", None, "refused"),
        ("small@0123", None, "too_large"),
    ):
        Try.objects.filter(pk=row.pk).update(model=model, original=original)
        looked, _ = fooling_rates.of_project(world.project, world.rea)
        assert [one.state for one in looked] == [state]
