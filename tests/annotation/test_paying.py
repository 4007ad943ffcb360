"""What people earn and what the work cost follow from active time and submitted items."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.test import Client
from django.utils import translation

from annotation.models import Assignment, Batch, Project
from annotation.payments import costs, earnings
from annotation.platform.refusals import ActionRefused
from annotation.workflow import assignments, automatic_decisions, projects
from tests.annotation.cast import NOON, World, envelope, make_world


def worked(world: World, batch: Batch, who: str, seconds: int, begun: int = 0) -> Assignment:
    """One item submitted after so many seconds of signs of life, half a minute apart, `begun` so long after noon."""
    noon = NOON + timedelta(seconds=begun)
    assignment = world.take(batch, who)
    assert assignment is not None
    for second in range(30, seconds, 30):
        assignments.ping(assignment=world.reload(assignment), now=noon + timedelta(seconds=second))
    assignments.submit(
        assignment=world.reload(assignment),
        response=envelope(assignment, {"label": "extraction"}),
        now=noon + timedelta(seconds=seconds),
    )
    return assignment


def pay(world: World, **said: object) -> None:
    projects.change_terms(project=world.project, pay=said, caps={}, by=world.mara, now=NOON)


def test_a_share_holds_items_time_and_what_they_earn(world: World) -> None:
    batch = world.batch()
    pay(world, currency="EUR", per_hour=36)
    worked(world, batch, "ada", 120)
    worked(world, batch, "ada", 60, begun=120)
    worked(world, batch, "bo", 90)
    ada, bo = sorted(earnings.shares(Project.objects.get()), key=lambda share: -share.items)
    assert (ada.items, ada.seconds, ada.amount) == (2, 180, Decimal("1.80"))
    assert (bo.items, bo.seconds, bo.amount) == (1, 90, Decimal("0.90"))


def test_a_pause_is_not_paid(world: World) -> None:
    batch = world.batch()
    assignment = world.take(batch, "ada")
    assert assignment is not None
    assignments.ping(assignment=world.reload(assignment), now=NOON + timedelta(seconds=30))
    assignments.ping(assignment=world.reload(assignment), now=NOON + timedelta(hours=3))
    assignments.skip(
        assignment=world.reload(assignment), reason="odd", now=NOON + timedelta(hours=3, seconds=9)
    )
    (share,) = earnings.shares(world.project)
    assert (share.items, share.skipped, share.seconds) == (0, 1, 30)


def test_a_batch_may_pay_by_a_rate_of_its_own(world: World) -> None:
    batch = world.batch()
    pay(world, currency="EUR", per_hour=36)
    Batch.objects.filter(pk=batch.pk).update(pay={"currency": "USD", "per_item": 0.25})
    worked(world, batch, "ada", 60)
    (share,) = earnings.shares(Project.objects.get())
    assert (share.amount, share.currency) == (Decimal("0.25"), "USD")


def test_days_of_a_period_begin_where_the_project_is_at_home(world: World) -> None:
    batch = world.batch()
    worked(world, batch, "ada", 60, begun=int(timedelta(hours=11, minutes=29).total_seconds()))
    here, next_day = NOON.date(), NOON.date() + timedelta(days=1)
    assert earnings.shares(world.project, earnings.Period(here, here))
    assert not earnings.shares(world.project, earnings.Period(next_day, None))
    world.project.time_zone = "Europe/Berlin"
    assert not earnings.shares(world.project, earnings.Period(None, here))
    assert earnings.shares(world.project, earnings.Period(next_day, next_day))


def test_a_hundred_examples_cost_what_the_batch_cost_by_what_was_accepted(world: World) -> None:
    batch = world.batch(overlap=1)
    pay(world, currency="EUR", per_item=0.5)
    for _ in range(4):
        worked(world, batch, "ada", 60)
    before = earnings.costs_by_batch(earnings.shares(Project.objects.get()))
    assert before[0].per_hundred == {}
    automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(days=1))
    (cost,) = earnings.costs_by_batch(earnings.shares(Project.objects.get()))
    assert cost.accepted == 4
    assert cost.per_hundred == {"EUR": Decimal("50.00")}


@pytest.mark.django_db
def test_the_sheet_is_a_csv_that_no_spreadsheet_runs(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    batch = world.batch()
    pay(world, currency="EUR", per_hour=36)
    worked(world, batch, "ada", 120)
    projects.change_person(person=world.ada, name='=HYPERLINK("x")', time_zone="UTC")
    client = Client()
    client.force_login(world.mara)
    lines = client.get(f"/projects/{world.project.slug}/payments/").content.decode().splitlines()
    assert lines[0] == ",".join(earnings.PAYMENTS)
    assert lines[1].startswith("\"'=HYPERLINK(")
    assert lines[1].endswith(",1,0,0.033,0.000,0.000,0.033,36.00 EUR an hour,1.20,EUR")


def test_the_page_keeps_rates_and_says_what_is_wrong_with_them(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    address = f"/projects/{world.project.slug}/people/"
    sent = {"section": "rates", "currency": "EUR", "per_hour": "14.5", "hours_per_day": "3"}
    assert client.post(address, sent).status_code == 302
    project = Project.objects.get()
    assert (project.pay, project.caps) == ({"currency": "EUR", "per_hour": 14.5}, {"hours_per_day": 3.0})
    wrong = client.post(address, {"section": "rates", "currency": "euro", "per_hour": "14.5"})
    assert "three capitals" in wrong.content.decode().lower() or wrong.context["rates"].errors
    assert Project.objects.get().pay == {"currency": "EUR", "per_hour": 14.5}


def test_a_rate_that_is_none_is_refused(world: World) -> None:
    with pytest.raises(ActionRefused, match="three capitals"):
        pay(world, currency="€", per_hour=14)
    with pytest.raises(ActionRefused, match="one of per_hour and per_item"):
        pay(world, currency="EUR", per_hour=14, per_item=1)


def test_my_work_says_pace_and_earnings(world: World) -> None:
    batch = world.batch()
    pay(world, currency="EUR", per_hour=36)
    worked(world, batch, "ada", 120)
    client = Client()
    client.force_login(world.ada)
    page = " ".join(client.get("/work/").content.decode().split())
    assert "1.20 EUR" in page
    assert '<td class="n">30</td>' in page, "thirty items an hour"


def test_no_page_costs_a_query_for_each_person(world: World, django_assert_max_num_queries: object) -> None:
    batch = world.batch()
    for who in ("ada", "bo", "cy"):
        worked(world, batch, who, 60)
    client = Client()
    client.force_login(world.mara)
    with django_assert_max_num_queries(37):  # type: ignore[operator]
        client.get(f"/projects/{world.project.slug}/people/", {"first": str(date(2026, 1, 1))})


def test_a_period_that_ends_before_it_begins_is_told(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    period = "?first=2026-03-05&last=2026-03-01"

    page = client.get(f"/projects/films/people/{period}")
    sheet = client.get(f"/projects/films/payments/{period}", follow=True)

    assert "This day is before the first one. Swap them." in page.content.decode()
    assert sheet.redirect_chain == [(f"/projects/films/people/{period}#pay", 302)]
    assert "Swap them" in sheet.content.decode(), "no sheet of nothing is given"
    assert (
        "Swap them"
        not in client.get("/projects/films/people/?first=2026-03-01&last=2026-03-01").content.decode()
    )


@pytest.mark.parametrize(
    ("pay", "words"),
    [
        ({"currency": "EUR", "per_item": 0.2}, "0.20 EUR an item"),
        ({"currency": "EUR", "per_hour": 14.5}, "14.50 EUR an hour"),
        ({}, ""),
    ],
)
def test_a_rate_is_said_in_words(pay: dict[str, object], words: str) -> None:
    assert earnings.rate(pay) == words


def test_amounts_are_written_as_the_language_writes_them() -> None:
    amounts = {"EUR": Decimal("1234.5")}
    assert costs.all_in_words(amounts) == "1,234.50 EUR"
    with translation.override("de"):
        assert costs.all_in_words(amounts) == "1.234,50 EUR"
        assert costs.rate_in_words({"currency": "EUR", "per_hour": 14.5}) == "14,50 EUR je Stunde"
