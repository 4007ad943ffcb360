"""What was done under a rate keeps it, on every page, in the sheet and in the data statement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Batch, Project
from annotation.payments import earnings, rates
from annotation.payments.rates import Rate, RatePeriod
from annotation.quality import dashboards
from annotation.releases import creation, verification
from annotation.workflow import automatic_decisions, batch_settings, projects
from tests.annotation.cast import NOON, World
from tests.annotation.test_paying import worked

EUR_36, EUR_72 = ({"currency": "EUR", "per_hour": rate} for rate in (36, 72))
DAY = timedelta(days=1)


def pay(world: World, at: float, **said: object) -> None:
    projects.change_terms(
        project=Project.objects.get(),
        pay=said,
        caps={},
        by=world.mara,
        now=NOON + timedelta(seconds=at),
    )


def raised(world: World, batch: Batch) -> None:
    """Two items of a minute at 36 EUR an hour, then two at 72."""
    pay(world, 0, **EUR_36)
    for number in range(4):
        if number == 2:
            pay(world, 121, **EUR_72)
        worked(world, batch, "ada", 60, begun=60 * number)


def test_a_new_rate_leaves_what_was_done_before_at_the_old_one(world: World) -> None:
    batch = world.batch(overlap=1)
    raised(world, batch)

    old, new = earnings.shares(Project.objects.get())

    assert (old.items, old.pay, old.amount) == (2, EUR_36, Decimal("1.20"))
    assert (new.items, new.pay, new.amount) == (2, EUR_72, Decimal("2.40"))


def test_pages_sheet_dashboard_and_cost_say_the_same_after_a_change(world: World) -> None:
    batch = world.batch(overlap=1)
    raised(world, batch)
    manager, ada = Client(), Client()
    manager.force_login(world.mara)
    ada.force_login(world.ada)

    page = manager.get("/projects/films/people/").content.decode()
    day = NOON.date().isoformat()
    sheet = manager.get(f"/projects/films/payments/?first={day}&last={day}").content.decode()
    mine = ada.get("/work/").content.decode()
    dashboard = manager.get("/projects/films/dashboard/").content.decode()
    (cost,) = earnings.costs_by_batch(earnings.shares(Project.objects.get()))

    assert "3.60 EUR" in page
    assert "36.00 EUR an hour" in page
    assert "Items that ended earlier keep their rate" in " ".join(page.split())
    first, second = sheet.splitlines()[1:]
    assert first.endswith(",2,0,0.033,0.000,0.000,0.033,36.00 EUR an hour,1.20,EUR")
    assert second.endswith(",2,0,0.033,0.000,0.000,0.033,72.00 EUR an hour,2.40,EUR")
    assert "1.20 EUR" in mine
    assert "2.40 EUR" in mine
    assert "rate of today" not in mine + page
    assert "3.60 EUR" in dashboard
    assert cost.total.amounts == {"EUR": Decimal("3.60")}
    work = dashboards.work_summary(Batch.objects.get(pk=batch.pk))
    assert work["owed"] == {"EUR": "3.60"}


def test_a_sheet_of_a_past_day_stays_as_it_was_printed(world: World) -> None:
    batch = world.batch(overlap=1)
    pay(world, 0, **EUR_36)
    worked(world, batch, "ada", 60)
    here = date.fromisoformat(NOON.date().isoformat())
    before = earnings.sheet(Project.objects.get(), earnings.Period(here, here))

    pay(world, DAY.total_seconds(), **EUR_72)

    assert earnings.sheet(Project.objects.get(), earnings.Period(here, here)) == before


def test_a_batch_that_gets_a_rate_of_its_own_pays_what_was_done_by_the_project_s(world: World) -> None:
    batch = world.batch(overlap=1)
    pay(world, 0, **EUR_36)
    worked(world, batch, "ada", 60)
    wanted = {"pay": {"currency": "EUR", "per_item": 2}}
    effects = batch_settings.effects(Batch.objects.get(pk=batch.pk), wanted)
    batch_settings.change(
        batch=Batch.objects.get(pk=batch.pk), changes=wanted, by=world.mara, now=NOON + timedelta(seconds=70)
    )
    worked(world, batch, "ada", 60, begun=100)

    assert [share.amount for share in earnings.shares(Project.objects.get())] == [
        Decimal("0.60"),
        Decimal("2.00"),
    ]
    assert any("1 response keeps its earlier rate" in one for one in effects), effects


def test_the_first_rate_holds_from_the_beginning_and_pay_may_end(world: World) -> None:
    batch = world.batch(overlap=1)
    worked(world, batch, "ada", 60)
    pay(world, 61, **EUR_36)
    worked(world, batch, "ada", 60, begun=60)
    pay(world, 121)
    worked(world, batch, "ada", 60, begun=120)

    free, paid = earnings.shares(Project.objects.get())

    assert (paid.items, paid.amount) == (2, Decimal("1.20"))
    assert (free.items, free.amount) == (1, None)


def test_work_at_a_rate_that_came_back_is_one_sum(world: World) -> None:
    batch = world.batch(overlap=1)
    for number, rate in enumerate((EUR_36, EUR_72, EUR_36)):
        pay(world, 100 * number, **rate)
        worked(world, batch, "ada", 60, begun=100 * number)

    assert [(one.items, one.pay) for one in earnings.shares(Project.objects.get())] == [
        (2, EUR_36),
        (1, EUR_72),
    ]


def test_the_statement_says_every_rate_with_its_time_and_what_it_was_for(
    world: World, tmp_path: Path
) -> None:
    first, second = world.batch(overlap=1, name="First"), world.batch(overlap=1, name="Second")
    raised(world, first)
    worked(world, second, "bo", 60, begun=600)
    out = tmp_path / "v1"
    pay(world, DAY.total_seconds(), currency="EUR", per_hour=99)
    for batch in (first, second):
        automatic_decisions.resolve_batch(batch=batch, now=NOON + 2 * DAY)

    creation.make_release(
        project=Project.objects.get(), name="v1", format="askew", by=world.rea, now=NOON + 3 * DAY, out=out
    )

    verification.verify(out)
    text = (out / "DATA_STATEMENT.md").read_text(encoding="utf-8")
    day, next_day = NOON.date().isoformat(), (NOON + DAY).date().isoformat()
    assert (
        f"> Paid: 36.00 EUR an hour until {day}, then 72.00 EUR an hour until {next_day}, then 99.00 EUR an hour."
        in text
    )
    Batch.objects.filter(pk=second.pk).update(pay={"currency": "EUR", "per_item": 0.5})
    creation.make_release(
        project=Project.objects.get(),
        name="v2",
        format="askew",
        by=world.rea,
        now=NOON + 3 * DAY,
        out=tmp_path / "v2",
    )
    text = (tmp_path / "v2" / "DATA_STATEMENT.md").read_text(encoding="utf-8")
    assert "> Paid: 0.50 EUR an item (Second)." in text
    assert "99.00 EUR an hour (First)." in text


@pytest.mark.parametrize("changes", [0, 6])
def test_changes_of_rates_cost_no_further_query(
    world: World, changes: int, django_assert_max_num_queries: Any
) -> None:
    batch = world.batch(overlap=1)
    for number in range(changes):
        pay(world, 10 * number, currency="EUR", per_hour=10 + number)
    worked(world, batch, "ada", 60)
    project = Project.objects.get()
    with django_assert_max_num_queries(3):
        earnings.shares(project)


# -- the pure part ----------------------------------------------------------------------------------

some_rates = st.sampled_from([{}, EUR_36, EUR_72])
moments = st.integers(0, 40).map(lambda hours: NOON + timedelta(hours=hours))


@st.composite
def histories(draw: st.DrawFn) -> list[Rate]:
    times = sorted(draw(st.sets(moments, max_size=4)))
    paid = draw(st.lists(some_rates, min_size=len(times) + 1, max_size=len(times) + 1))
    spans = pairwise([None, *times, None])
    return [Rate(since, until, rate) for (since, until), rate in zip(spans, paid, strict=True)]


@given(histories(), histories(), moments)
def test_a_batch_s_own_rate_holds_else_the_project_s_and_the_first_rate_reaches_back(
    own: list[Rate], project: list[Rate], moment: Any
) -> None:
    found = rates.effective_terms(project, own)
    periods, corrected = found.periods(), found.periods(corrected=True)

    expected = at_first = rate_at(own, moment) or rate_at(project, moment)
    if not expected and all(
        not (rate_at(own, before) or rate_at(project, before))
        for before in (NOON + timedelta(hours=hours) for hours in range(-1, 41))
        if before <= moment
    ):
        expected = next((one.pay for one in periods if one.pay), {})
    assert rate_at(periods, moment) == at_first
    assert rate_at(corrected, moment) == expected
    for rows in (periods, corrected):
        assert rows[-1].until is None
        assert all(one.pay != other.pay for one, other in pairwise(rows))


def test_the_first_rate_of_a_restored_project_reaches_back_to_its_restoration() -> None:
    restored_at, until = NOON, NOON + timedelta(hours=2)
    paid_later = [Rate(None, until, {}), Rate(until, None, EUR_36)]

    terms = rates.effective_terms(paid_later, [], restored_at)

    assert terms.rates(None, restored_at) == ({}, [])
    assert terms.rates(restored_at, until) == ({}, [(until, EUR_36)])
    assert rates.effective_terms(paid_later, []).rates(None, restored_at) == ({}, [(until, EUR_36)])


def rate_at(periods: Sequence[RatePeriod | Rate], moment: Any) -> Any:
    return next(one.pay for one in periods if one.until is None or moment < one.until)
