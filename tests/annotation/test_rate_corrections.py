"""A wrong rate is corrected with a reason: the difference is paid when it is corrected, and past sheets stay."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from annotation.models import Event, Project
from annotation.platform.refusals import ActionRefused
from annotation.workflow import projects
from tests.annotation.cast import NOON, World
from tests.annotation.test_ledger import DAY, Clock, lines, pay

pytestmark = pytest.mark.both


def correct(world: World, at: datetime, **more: Any) -> None:
    rate = {"currency": "EUR", "per_hour": 72}
    about = {"batch": None, "pay": rate, "begin": None, "end": None, "reason": "Typing error", **more}
    projects.correct_rate(project=Project.objects.get(), by=world.mara, now=at, **about)


def test_a_correction_pays_the_difference_when_it_is_made_and_leaves_the_past(world: World) -> None:
    batch, other = world.batch(), world.batch(pay={"currency": "EUR", "per_hour": 10})
    clock, later = Clock(world, batch), NOON + 40 * DAY
    pay(world, NOON - DAY, currency="EUR", per_hour=36)
    for of, seconds, at in ((batch, 120, NOON), (batch, 60, NOON + 2 * DAY), (other, 60, NOON)):
        mine = world.take(of, "ada")
        assert mine is not None
        clock.submit(mine, seconds, at)
    past = lines(world, None, NOON + 3 * DAY)

    correct(world, later, end=NOON + DAY)

    assert lines(world, None, NOON + 3 * DAY) == past
    assert lines(world, later, None) == [(-1, -120.0, Decimal("-1.20")), (1, 120.0, Decimal("2.40"))]
    assert lines(world) == [
        (1, 60.0, Decimal("0.60")),
        (1, 120.0, Decimal("2.40")),
        (1, 60.0, Decimal("0.17")),
    ]


def test_the_first_rate_leaves_work_that_was_corrected_before_it(world: World) -> None:
    batch = world.batch()
    clock = Clock(world, batch)
    for at in (NOON, NOON + 2 * DAY):
        mine = world.take(batch, "ada")
        assert mine is not None
        clock.submit(mine, 120, at)
    correct(world, NOON + 3 * DAY, end=NOON + DAY, pay={"currency": "EUR", "per_item": 5})

    pay(world, NOON + 4 * DAY, currency="EUR", per_item=1)
    correct(world, NOON + 5 * DAY, begin=NOON + DAY, pay={"currency": "EUR", "per_item": 2})

    assert lines(world, None, NOON + 3 * DAY) == [(1, 120.0, None), (1, 120.0, Decimal("5.00"))]
    assert lines(world) == [(1, 120.0, Decimal("5.00")), (1, 120.0, Decimal("2.00"))]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"reason": " "}, "Enter the reason"),
        ({"pay": {}}, "Enter the correct rate"),
        ({"begin": NOON + 50 * DAY}, "earlier work"),
    ],
)
def test_a_correction_without_rate_reason_or_past_is_refused(
    world: World, wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(ActionRefused, match=words):
        correct(world, NOON + 40 * DAY, **wrong)


def test_a_manager_corrects_a_rate_on_the_page_of_people(world: World) -> None:
    batch = world.batch(pay={"currency": "EUR", "per_hour": 36})
    mine = world.take(batch, "ada")
    assert mine is not None
    Clock(world, batch).submit(mine, 120, NOON)
    client = Client()
    client.force_login(world.mara)
    address = f"/projects/{world.project.slug}/people/"
    sent = {"section": "correction", "correction-batch": batch.public_id, "correction-currency": "EUR"}
    sent |= {"correction-per_hour": "72", "correction-first": "2026-03-01", "correction-last": "2026-03-02"}

    without_reason = client.post(address, sent)
    answer = client.post(address, sent | {"correction-reason": "Typing error"}, follow=True)

    assert without_reason.context["correction"].errors
    assert answer.redirect_chain == [(f"{address}#pay", 302)]
    assert "Rate corrected." in answer.content.decode()
    assert lines(world) == [(1, 120.0, Decimal("2.40"))]
    log = client.get(f"/projects/{world.project.slug}/log/").content.decode()
    assert "Typing error" in log
    client.force_login(world.ada)
    assert client.post(address, sent | {"correction-reason": "More"}).status_code in (403, 404)
    assert Event.objects.filter(after="rate corrected").count() == 1
