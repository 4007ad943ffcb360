"""Practice ends with a score and the way to the items, and can be repeated."""

from __future__ import annotations

import json

from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import PracticeResult
from annotation.queue import practice
from tasks.contract import task_type
from tests.annotation.cast import World
from tests.annotation.test_qualification_journey import text

PAGE = "/projects/films/practice/question_type/"
TASK = task_type("question_type")


def answer(client: Client, number: int, *, right: bool) -> None:
    exercise = practice.exercises(TASK)[number - 1]
    expected = exercise.expected.label
    label = expected if right else next(key for key in ("extraction", "reasoning") if key != expected)
    data = {"label": label}
    envelope = {"type": "question_type", "variant": "", "version": TASK.version, "base": exercise.item.base}
    body = {"variant": "", "number": number, "response": {**envelope, "data": data}}
    reply = client.post(f"/api{PAGE}", json.dumps(body), content_type="application/json")
    assert reply.status_code == 200


def total() -> int:
    return len(practice.exercises(TASK))


def practised(client: Client, wrong: set[int]) -> None:
    for number in range(1, total() + 1):
        answer(client, number, right=number not in wrong)


def test_the_end_of_practice_tells_the_score_and_leads_to_the_items(world: World, client: Client) -> None:
    batch = world.batch(size=3)
    client.force_login(world.ada)
    practised(client, {2})

    page = client.get(f"{PAGE}?score=1")

    assert f"{total() - 1} of {total()}" in text(page)
    assert "Practice completed" in text(page)
    assert f'autofocus href="/batches/{batch.public_id}/annotate/"' in page.content.decode()
    assert "3 items left for you" in text(page)


def test_exercises_that_were_left_out_are_counted_and_come_first(world: World, client: Client) -> None:
    world.batch(size=1)
    client.force_login(world.ada)
    answer(client, 1, right=True)
    page = client.get(f"{PAGE}?score=1")
    assert "Your practice so far" in text(page)
    assert f"{total() - 1}" in text(page)
    assert "number=2" in page.content.decode()


def test_practice_is_repeated_with_a_new_score(world: World, client: Client) -> None:
    world.batch(size=1, must_practise=True)
    client.force_login(world.ada)
    practised(client, {1, 2})
    first = PracticeResult.objects.get()

    again = client.post(f"{PAGE}?score=1", {"action": "again"})
    assert "number=1" in again["Location"]
    practised(client, set())

    assert f"{total()} of {total()}" in text(client.get(f"{PAGE}?score=1"))
    kept = PracticeResult.objects.get()
    assert (kept.pk, kept.right) == (first.pk, total() - 2), "the first time through is what is kept"


def test_the_way_leads_back_to_the_batch_that_asked_for_practice(world: World, client: Client) -> None:
    batch = world.batch(size=2, must_practise=True)
    client.force_login(world.ada)
    practised(client, set())
    page = client.get(f"{PAGE}?score=1&batch={batch.public_id}")
    assert "Continue to the items" in text(page)
    assert f'autofocus href="/batches/{batch.public_id}/annotate/"' in page.content.decode()


def test_without_scripts_the_last_exercise_leads_to_the_score(world: World, client: Client) -> None:
    client.force_login(world.ada)
    expected = practice.exercises(TASK)[-1].expected.label
    page = client.post(f"{PAGE}?number={total()}&plain=1", {"label": expected, "action": "submit"})
    assert "See your score" in text(page)
    assert f"{PAGE}?score=1&amp;plain=1" in page.content.decode()


def test_who_does_not_annotate_is_led_to_their_projects(world: World, client: Client) -> None:
    world.batch(size=2)
    client.force_login(world.rea)
    practised(client, set())
    assert "Go to your projects" in text(client.get(f"{PAGE}?score=1"))


@given(st.dictionaries(st.integers(1, 6), st.sampled_from([True, False, None])))
def test_every_exercise_counts_once(goes: dict[int, bool | None]) -> None:
    score = practice.Score(6, goes)
    assert score.judged + score.unjudged + len(score.unanswered) == 6
    assert score.right <= score.judged


def test_a_batch_whose_limit_of_today_is_reached_is_not_where_it_leads(world: World, client: Client) -> None:
    limited = world.batch(size=3, caps={"items_per_day": 1})
    assignment = world.take(limited, "ada")
    assert assignment is not None
    world.answer(assignment, {"label": "extraction"}, now=timezone.now())
    client.force_login(world.ada)
    practised(client, set())

    page = client.get(f"{PAGE}?score=1")

    assert f"/batches/{limited.public_id}/annotate/" not in page.content.decode()


def test_suggestions_follow_an_answer_of_practice_only_where_a_batch_wants_it(
    world: World, client: Client
) -> None:
    client.force_login(world.ada)

    def told() -> list[str]:
        exercise = practice.exercises(TASK)[0]
        envelope = TASK.envelope(exercise.expected, exercise.item)
        body = {"variant": "", "number": 1, "response": envelope}
        words: list[str] = client.post(f"/api{PAGE}", body, content_type="application/json").json()["words"]
        return words

    world.batch(size=1)
    assert told() == []
    world.batch(size=1, settings={"suggestions": "after"})
    assert told()[0].startswith("Suggested by the lexical rule: ")
