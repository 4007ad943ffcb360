"""Sheets of any parts of time come to the whole, and a sheet of the past never changes."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.db import DatabaseError, connection
from django.test import Client

from annotation.accounts import erasure
from annotation.models import Assignment, Batch, LedgerEntry, Project
from annotation.payments import earnings, ledger, rates
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused
from annotation.quality import dashboards
from annotation.workflow import adjudication, assignments, automatic_decisions, batches, projects
from tests.annotation.cast import NOON, World, envelope
from tests.undone import savepoint

RATES: list[dict[str, Any]] = [
    {},
    {"currency": "EUR", "per_hour": 14.5},
    {"currency": "EUR", "per_hour": 33.33},
    {"currency": "EUR", "per_item": 0.125},
    {"currency": "USD", "per_item": 0.335},
]
DAY = timedelta(days=1)


# -- the pure part ----------------------------------------------------------------------------------


class WorkRow(NamedTuple):
    """A row of one person's work in a batch."""

    at: datetime
    kind: str
    micros: int
    items: int


class History(NamedTuple):
    done: list[WorkRow]
    changes: list[tuple[datetime, dict[str, Any]]]
    corrections: list[rates.Rate]
    pay: dict[str, Any]

    def before(self, moment: datetime) -> History:
        """What was known then."""
        later = [change for change in self.changes if change[0] >= moment]
        return History(
            [done for done in self.done if done.at < moment],
            [change for change in self.changes if change[0] < moment],
            [one for one in self.corrections if one.at is not None and one.at < moment],
            later[0][1] if later else self.pay,
        )


def drawn_history(draw: random.Random) -> History:
    """Items that are submitted, taken back, sent back, submitted again, skipped, returned and reinstated at a close."""
    done: list[WorkRow] = []
    now, states, closing = NOON, ["open"] * draw.randint(1, 5), NOON + 30 * DAY
    seen: set[int] = set()
    while now < closing:
        now += timedelta(seconds=draw.randint(1, 3 * 86_400), microseconds=draw.randint(0, 999_999))
        number, micros = draw.randrange(len(states)), draw.randint(0, 300_000_000)
        state = states[number]
        if state == "submitted":  # taken back, or sent back by an adjudicator
            states[number] = draw.choice(["open", "submitted"])
        elif state != "skipped":
            kind = states[number] = draw.choice(["submitted", "submitted", "skipped", "returned"])
            done.append(WorkRow(now, kind, micros, int(kind == "submitted" and number not in seen)))
            seen |= {number} if kind == "submitted" else set()
    done += [WorkRow(closing, "submitted", 0, 0) for number in seen if states[number] == "open"]
    at = sorted(NOON + timedelta(seconds=draw.randint(0, 30 * 86_400)) for _ in range(draw.randint(0, 4)))
    changes = [(moment, draw.choice(RATES)) for moment in at]
    corrections = []
    for _ in range(draw.randint(0, 3)):
        moment = NOON + timedelta(seconds=draw.randint(3, 40 * 86_400))
        until = NOON + (moment - NOON) * draw.random()
        since = draw.choice([None, NOON + (until - NOON) * draw.random()])
        corrections.append(rates.Rate(since, until, draw.choice(RATES[1:]), moment))
    return History(done, changes, corrections, draw.choice(RATES))


def timeline(changes: Sequence[tuple[datetime, Any]], now: Any) -> list[rates.Rate]:
    """The rates one after the other, from what they were until they changed."""
    ends = [None, *(at for at, _ in changes), None]
    paid = [*(before for _, before in changes), now]
    return [rates.Rate(since, until, rate) for (since, until), rate in zip(pairwise(ends), paid, strict=True)]


def sheet(
    history: History, begin: datetime | None = None, end: datetime | None = None
) -> dict[tuple[Any, ...], tuple[int, int, Decimal]]:
    """Items, microseconds and amount by rate within a period, as `payments` asks for them; what comes to nothing is none."""
    terms = rates.effective_terms([*timeline(history.changes, history.pay), *history.corrections], [])
    ends = sorted({*terms.moments(), *(moment for moment in (begin, end) if moment is not None)})
    sums: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for done in history.done:
        if end is None or done.at < end:
            stretch = sum(moment <= done.at for moment in ends)
            for place, value in enumerate((done.micros, done.items, 1)):
                sums[stretch, done.kind][place] += value
    work = [ledger.Work(*key, *values) for key, values in sums.items()]
    found: dict[tuple[Any, ...], tuple[int, int, Decimal]] = {}
    for row in ledger.within(ledger.book(1, 1, work, terms, ends), ends, begin, end):
        key = tuple(sorted(row.pay.items()))
        items, micros, amount = found.get(key, (0, 0, Decimal()))
        found[key] = (items + row.items, micros + row.micros, amount + (row.amount or Decimal()))
    return {key: values for key, values in found.items() if any(values)}


def added(sheets: Iterable[dict[tuple[Any, ...], tuple[int, int, Decimal]]]) -> dict[Any, Any]:
    sums: defaultdict[tuple[Any, ...], list[Any]] = defaultdict(lambda: [0, 0, Decimal()])
    for one in sheets:
        for key, values in one.items():
            sums[key] = [mine + value for mine, value in zip(sums[key], values, strict=True)]
    return {key: tuple(values) for key, values in sums.items() if any(values)}


def test_sheets_of_any_parts_of_time_come_to_the_whole_and_the_past_stays() -> None:
    draw = random.Random(36)
    corrected = 0
    for _ in range(1_000):
        history = drawn_history(draw)
        whole = sheet(history)
        cuts = sorted(NOON + timedelta(seconds=draw.randint(0, 41 * 86_400)) for _ in range(3))
        parts = [*zip([None, *cuts], [*cuts, None], strict=True)]
        assert added(sheet(history, begin, end) for begin, end in parts) == whole
        corrected += len(history.corrections)
        for begin, end in parts[:-1]:
            assert end is not None
            assert sheet(history.before(end), begin, end) == sheet(history, begin, end)
        assert sum(items for items, *_ in whole.values()) == sum(done.items for done in history.done)
        assert sum(micros for _, micros, _ in whole.values()) == sum(done.micros for done in history.done)
    assert corrected > 1_000


def test_without_a_change_the_whole_is_what_all_work_comes_to_rounded_once() -> None:
    draw = random.Random(37)
    for _ in range(100):
        history = drawn_history(draw)._replace(changes=[], corrections=[], pay=RATES[1])
        micros = sum(done.micros for done in history.done)
        amounts = [amount for *_, amount in sheet(history).values()]
        exact = Fraction("14.5") * micros / ledger.SECOND / 3600
        assert abs(Fraction(sum(amounts, Decimal())) - exact) <= Fraction(1, 200)


# -- with the database ------------------------------------------------------------------------------


class Clock:
    """The person works at the moments that a test names."""

    def __init__(self, world: World, batch: Batch) -> None:
        self.world, self.batch = world, batch

    def work(self, assignment: Assignment, seconds: int, at: datetime) -> Assignment:
        """So many seconds of signs of life, which end at a moment."""
        Assignment.objects.filter(pk=assignment.pk).update(seen_at=at - timedelta(seconds=seconds))
        for second in range(30, seconds, 30):
            now = at - timedelta(seconds=seconds - second)
            assignments.ping(assignment=self.world.reload(assignment), now=now)
        return self.world.reload(assignment)

    def submit(self, assignment: Assignment, seconds: int, at: datetime, label: str = "extraction") -> None:
        assignment = self.work(assignment, seconds, at)
        assignments.submit(assignment=assignment, response=envelope(assignment, {"label": label}), now=at)

    def undo(self, assignment: Assignment, at: datetime) -> None:
        annotation = self.world.reload(assignment).annotation
        assert annotation is not None
        assignments.undo(annotation=annotation, now=at)
        Assignment.objects.filter(pk=assignment.pk).update(seen_at=at)


def pay(world: World, at: datetime, **rate: object) -> None:
    projects.change_terms(project=Project.objects.get(), pay=rate, caps={}, by=world.mara, now=at)


def lines(world: World, first: datetime | None = None, last: datetime | None = None) -> list[tuple[Any, ...]]:
    """Items, seconds and amount of each line of the sheet of some days."""
    period = earnings.Period(first and first.date(), last and last.date())
    found = earnings.shares(Project.objects.get(pk=world.project.pk), period)
    return [(share.items, share.seconds, share.amount) for share in found]


pytestmark = pytest.mark.both


def test_a_response_that_is_taken_back_later_is_paid_once(world: World) -> None:
    batch = world.batch()
    clock, later = Clock(world, batch), NOON + 3 * DAY
    pay(world, NOON, currency="EUR", per_hour=36)
    mine = world.take(batch, "ada")
    assert mine is not None
    clock.submit(mine, 120, NOON)
    of_the_day = lines(world, NOON, NOON)

    clock.undo(mine, later)
    assert lines(world, NOON, NOON) == of_the_day == [(1, 120.0, Decimal("1.20"))]
    clock.submit(mine, 10, later + timedelta(seconds=10))

    assert lines(world, NOON, NOON) == of_the_day
    assert lines(world, later, later) == [(0, 10.0, Decimal("0.10"))]
    assert lines(world) == [(1, 130.0, Decimal("1.30"))]


def test_an_item_that_is_sent_back_is_paid_once(world: World) -> None:
    batch = world.batch(overlap=2, size=1)
    clock, later = Clock(world, batch), NOON + 40 * DAY
    pay(world, NOON, currency="EUR", per_item=1)
    mine, theirs = world.take(batch, "ada"), world.take(batch, "bo")
    assert mine is not None
    assert theirs is not None
    clock.submit(mine, 30, NOON)
    clock.submit(theirs, 30, NOON, "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(minutes=5))
    annotation = world.reload(mine).annotation
    assert annotation is not None
    adjudication.send_back(
        item=mine.item, by=world.ivo, choose=annotation.public_id, note="Look again", now=later
    )
    clock.submit(mine, 30, later + timedelta(minutes=1), "reasoning")

    first, second = lines(world, None, NOON), lines(world, NOON + DAY, None)
    assert [amount for *_, amount in first] == [Decimal("1.00"), Decimal("1.00")]
    assert second == [(0, 30.0, Decimal("0.00"))]


def test_what_is_added_after_a_change_has_the_new_rate_and_nothing_else(world: World) -> None:
    batch = world.batch()
    clock = Clock(world, batch)
    pay(world, NOON - DAY, currency="EUR", per_hour=36)
    mine = world.take(batch, "ada")
    assert mine is not None
    clock.submit(mine, 120, NOON)
    pay(world, NOON + timedelta(seconds=1), currency="EUR", per_hour=72)
    clock.undo(mine, NOON + timedelta(seconds=2))
    clock.submit(mine, 10, NOON + timedelta(seconds=12))

    assert lines(world) == [(1, 120.0, Decimal("1.20")), (0, 10.0, Decimal("0.20"))]


def test_a_response_that_a_close_reinstates_pays_the_time_since_and_no_second_item(world: World) -> None:
    batch = world.batch()
    clock, later = Clock(world, batch), NOON + 40 * DAY
    pay(world, NOON, currency="EUR", per_item=1)
    mine = world.take(batch, "ada")
    assert mine is not None
    clock.submit(mine, 120, NOON)
    clock.undo(mine, NOON + DAY)
    clock.work(mine, 61, NOON + DAY)

    batches.close_batch(batch=Batch.objects.get(), by=world.mara, now=later)

    assert world.reload(mine).state == "submitted"
    assert lines(world, NOON, NOON) == [(1, 120.0, Decimal("1.00"))]
    assert lines(world, NOON + DAY, None) == [(0, 60.0, Decimal("0.00"))]


@pytest.mark.parametrize(
    ("before", "after"),
    [("UTC", "Pacific/Auckland"), ("Pacific/Auckland", "UTC"), ("Etc/GMT+12", "Pacific/Kiritimati")],
)
def test_another_time_zone_leaves_the_sheets_of_past_days(world: World, before: str, after: str) -> None:
    Project.objects.update(time_zone=before)
    batch = world.batch(overlap=2)
    clock = Clock(world, batch)
    at = [NOON + number * timedelta(hours=13) for number in range(-5, 3)]
    change = NOON + timedelta(hours=1)
    past: dict[Any, Any] = {}
    for number, (who, moment) in enumerate(zip(["ada", "bo"] * 4, at, strict=True)):
        if moment > change and not past:
            past = {days: by_line(world, *days) for days in ((None, -2), (-2, -2), (None, -3))}
            projects.rename_project(
                project=world.project, name="Films", time_zone=after, by=world.mara, now=change
            )
        mine = world.take(batch, who)
        assert mine is not None
        clock.submit(mine, 10 * (number + 1), moment)

    assert {days: by_line(world, *days) for days in past} == past
    parts = [(None, -3), *((day, day) for day in range(-2, 3)), (3, None)]
    whole, sums = by_line(world, None, None), defaultdict[Any, Decimal](Decimal)
    for part in parts:
        for key, (items, *_) in by_line(world, *part).items():
            sums[key] += items
    assert sums == {key: items for key, (items, *_) in whole.items()}


def test_time_on_submissions_skips_and_returns_is_apart_on_every_page(world: World) -> None:
    batch = world.batch(size=3)
    clock = Clock(world, batch)
    for at, seconds, end in ((1, 120, "submit"), (2, 91, "skip"), (3, 61, "return")):
        mine, now = world.take(batch, "ada"), NOON + at * timedelta(hours=1)
        assert mine is not None
        if end == "submit":
            clock.submit(mine, seconds, now)
        elif end == "skip":
            assignments.skip(assignment=clock.work(mine, seconds, now), reason="odd", now=now)
        else:
            assignments.give_back(assignment=clock.work(mine, seconds, now), now=now)
    (share,) = earnings.shares(world.project)
    assert share.by_kind == {"submitted": 120, "skipped": 90, "returned": 60}
    manager, ada = Client(), Client()
    manager.force_login(world.mara)
    ada.force_login(world.ada)

    sheet = manager.get(f"/projects/{world.project.slug}/payments/").content.decode()
    assert ",1,1,0.033,0.025,0.017,0.075," in sheet.splitlines()[1]
    people = manager.get(f"/projects/{world.project.slug}/people/").content.decode()
    dashboard = manager.get(f"/projects/{world.project.slug}/dashboard/").content.decode()
    apart = "responses 0.03, skips 0.03, returns 0.02"
    assert people.count(apart) >= 4, "in all, of the member, of their work in the batch, and of the batch"
    assert dashboard.count(apart) == 2, "in all, and of the batch"
    assert "responses 2.0, skips 1.5, returns 1.0" in ada.get("/work/").content.decode()
    session = earnings.shares_of_person(world.ada, [world.project], NOON)
    assert earnings.sum_shares(session).minutes_by_kind == "responses 2.0, skips 1.5, returns 1.0"


def test_who_resumes_a_returned_item_is_paid_its_time_once(world: World) -> None:
    batch = world.batch(size=1)
    clock = Clock(world, batch)
    mine = world.take(batch, "ada")
    assert mine is not None
    assignments.give_back(assignment=clock.work(mine, 61, NOON), now=NOON)
    assignments.resume(assignment=world.reload(mine), now=NOON + DAY)
    clock.submit(mine, 30, NOON + DAY)

    assert world.reload(mine).active_seconds == 90
    assert lines(world, NOON, NOON) == [(0, 60.0, None)]
    assert lines(world, NOON + DAY, None) == [(1, 30.0, None)]
    (share,) = earnings.shares(world.project)
    assert share.by_kind == {"submitted": 30, "skipped": 0, "returned": 60}


def drawn_work(world: World, draw: random.Random, now: datetime = NOON) -> None:
    """Days of people who submit, take back, skip, return and resume, of an adjudicator and of a manager who changes pay."""
    batch = world.batch(overlap=2, size=4, pay={})
    clock = Clock(world, batch)
    for _ in range(14):
        now += timedelta(hours=draw.randint(5, 30))
        who, seconds = draw.choice(["ada", "bo"]), draw.choice([7, 31, 59, 121])
        held = Assignment.objects.filter(person=world.people[who], batch=batch)
        try:
            with savepoint():
                match draw.choice(
                    ["submit", "submit", "undo", "skip", "return", "resume", "pay", "adjudicate"]
                ):
                    case "pay":
                        pay(world, now, **draw.choice(RATES))
                    case "adjudicate":
                        automatic_decisions.resolve_batch(batch=batch, now=now)
                    case "undo":
                        clock.undo(draw.choice(held.filter(state="submitted")), now)
                    case "resume":
                        assignments.resume(
                            assignment=world.reload(draw.choice(held.filter(state="returned"))), now=now
                        )
                    case act:
                        mine = held.filter(state="leased").first() or world.take(batch, who)
                        assert mine is not None
                        if act == "submit":
                            clock.submit(mine, seconds, now, draw.choice(["extraction", "reasoning"]))
                        elif act == "skip":
                            assignments.skip(assignment=clock.work(mine, seconds, now), reason="odd", now=now)
                        else:
                            assignments.give_back(assignment=clock.work(mine, seconds, now), now=now)
        except (ActionRefused, AssertionError, IndexError):
            continue
    if draw.random() < 0.5:
        batches.close_batch(batch=Batch.objects.get(pk=batch.pk), by=world.mara, now=now + DAY)


def by_line(world: World, first: int | None, last: int | None) -> dict[Any, list[Any]]:
    """Items, microseconds, skips and amount by line of the sheet of some days after noon of the first."""
    period = earnings.Period(*(None if day is None else (NOON + day * DAY).date() for day in (first, last)))
    return {
        (share.person_id, share.batch.pk, *sorted(share.pay.items())): [
            share.items,
            share.micros.total(),
            share.skipped,
            share.amount or Decimal(),
        ]
        for share in earnings.shares(Project.objects.get(pk=world.project.pk), period)
    }


@pytest.mark.parametrize("seed", range(4))
def test_sheets_of_drawn_histories_come_to_the_whole_and_the_past_stays(world: World, seed: int) -> None:
    draw = random.Random(seed)
    drawn_work(world, draw)
    before = by_line(world, None, 19)
    drawn_work(world, draw, NOON + 20 * DAY)
    whole = by_line(world, None, None)
    sums: defaultdict[Any, list[Any]] = defaultdict(lambda: [0, 0, 0, Decimal()])
    for first, last in ((None, 1), (2, 5), (6, 6), (7, 22), (23, None)):
        for key, values in by_line(world, first, last).items():
            sums[key] = [mine + value for mine, value in zip(sums[key], values, strict=True)]
    assert {key: values for key, values in sums.items() if any(values)} == {
        key: values for key, values in whole.items() if any(values)
    }
    ended = Assignment.objects.exclude(state="leased")
    assert sum(values[0] for values in whole.values()) == sum(
        assignment.annotations.exists() for assignment in Assignment.objects.all()
    )
    of_open = Assignment.objects.filter(state="leased", annotations__isnull=False).distinct()
    paid = sum(assignment.active_seconds for assignment in ended) + sum(
        assignment.annotations.latest("revision").active_seconds for assignment in of_open
    )
    assert sum(values[1] for values in whole.values()) / ledger.SECOND == pytest.approx(paid, abs=0.2)
    assert before == by_line(world, None, 19)


# -- the rows ---------------------------------------------------------------------------------------


def test_rows_cannot_be_changed_and_hold_nothing_but_keys_and_numbers(world: World) -> None:
    batch = world.batch()
    mine = world.take(batch, "ada")
    assert mine is not None
    assignments.skip(assignment=mine, reason="Ada was here", now=NOON)
    row = LedgerEntry.objects.get()
    for change in (row.delete, lambda: LedgerEntry.objects.update(seconds=9)):
        with pytest.raises(DatabaseError, match="immutable"), savepoint():
            change()
    assert not [value for value in vars(row).values() if isinstance(value, str) and value != "skipped"]
    before = lines(world)

    erasure.erase(person=world.ada, by=world.ada, now=NOON + DAY)

    assert lines(world) == before
    Assignment.objects.filter(pk=mine.pk).delete()
    assert lines(world) == before, "the row outlives what it is about"


@pytest.mark.parametrize("name", ["pay", "EUR", "what"])
def test_a_name_that_is_a_word_of_pay_leaves_the_sheets_when_it_is_erased(world: World, name: str) -> None:
    batch = world.batch()
    clock = Clock(world, batch)
    for day, rate in enumerate((36, 72, 108)):
        pay(world, NOON + (day - 1) * DAY, currency="EUR", per_hour=rate)
        mine = world.take(batch, "bo")
        assert mine is not None
        clock.submit(mine, 120, NOON + day * DAY - timedelta(hours=1))
    before = lines(world)
    world.ada.name = name
    world.ada.save()

    erasure.erase(person=world.ada, by=world.ada, now=NOON + 3 * DAY)

    assert lines(world) == before
    assert len(before) == 3


# -- what was there before --------------------------------------------------------------------------


def paid_before(world: World, first: int, last: int | None) -> dict[tuple[int, int], list[Any]]:
    """Items, seconds and skips of some days as pay had them that followed the end of an assignment."""
    found: dict[tuple[int, int], list[Any]] = {}
    until = None if last is None else NOON.replace(hour=0) + (last + 1) * DAY
    rows = Assignment.objects.filter(ended_at__gte=NOON.replace(hour=0) + first * DAY)
    for row in rows if until is None else rows.filter(ended_at__lt=until):
        sums = found.setdefault((row.person_id, row.batch_id), [0, 0, 0])
        sums[0] += row.state == "submitted"
        sums[1] += round(row.active_seconds * ledger.SECOND)
        sums[2] += row.state == "skipped"
    return {key: values for key, values in found.items() if any(values)}


def paid_now(world: World, first: int, last: int | None) -> dict[tuple[int, int], list[Any]]:
    found: dict[tuple[int, int], list[Any]] = {}
    for (person, batch, *_), (items, micros, skipped, _) in by_line(world, first, last).items():
        sums = found.setdefault((person, batch), [0, 0, 0])
        found[person, batch] = [
            mine + value for mine, value in zip(sums, (items, micros, skipped), strict=True)
        ]
    return {key: values for key, values in found.items() if any(values)}


@pytest.mark.parametrize("seed", range(2))
def test_existing_work_has_rows_that_reproduce_the_sheets_of_any_days(world: World, seed: int) -> None:
    drawn_work(world, random.Random(100 + seed))
    drawn_work(world, random.Random(200 + seed))
    migration = import_module("annotation.migrations.0049_ledger_of_work")
    with immutable_rows.writable():
        LedgerEntry.objects.all().delete()

    migration.fill(apps, connection.schema_editor())

    for first in range(-1, 16, 2):
        for last in (*range(first, 16, 3), None):
            assert paid_now(world, first, last) == paid_before(world, first, last), (first, last)


def test_the_first_rate_of_existing_work_can_be_corrected_for_the_project(world: World) -> None:
    batch = world.batch()
    mine = world.take(batch, "ada")
    assert mine is not None
    Clock(world, batch).submit(mine, 120, NOON)
    pay(world, NOON + DAY, currency="EUR", per_hour=36)
    migration = import_module("annotation.migrations.0049_ledger_of_work")
    migration.keep_first_rates(apps, connection.schema_editor())
    assert lines(world, NOON, NOON) == [(1, 120.0, Decimal("1.20"))]

    projects.correct_rate(
        project=Project.objects.get(),
        batch=None,
        pay={"currency": "EUR", "per_hour": 72},
        begin=None,
        end=NOON + timedelta(hours=1),
        reason="Typing error",
        by=world.mara,
        now=NOON + 3 * DAY,
    )

    assert lines(world, NOON, NOON) == [(1, 120.0, Decimal("1.20"))]
    assert lines(world) == [(1, 120.0, Decimal("2.40"))]


def test_a_response_that_was_taken_back_before_is_paid_when_it_is_submitted_again(world: World) -> None:
    batch = world.batch()
    clock = Clock(world, batch)
    mine = world.take(batch, "ada")
    assert mine is not None
    clock.submit(mine, 120, NOON)
    clock.undo(mine, NOON + DAY)
    import_module("annotation.migrations.0049_ledger_of_work").fill(apps, connection.schema_editor())
    assert lines(world) == []
    clock.submit(mine, 10, NOON + 2 * DAY)
    assert lines(world, NOON + 2 * DAY, None) == [(1, 130.0, None)]
    clock.undo(mine, NOON + 3 * DAY)
    clock.submit(mine, 5, NOON + 4 * DAY)
    assert lines(world) == [(1, 135.0, None)]


def test_an_item_that_was_resubmitted_before_has_its_time_once(world: World) -> None:
    batch = world.batch()
    clock = Clock(world, batch)
    mine = world.take(batch, "ada")
    assert mine is not None
    clock.submit(mine, 120, NOON)
    clock.undo(mine, NOON + DAY)
    clock.submit(mine, 10, NOON + DAY + timedelta(seconds=10))
    import_module("annotation.migrations.0049_ledger_of_work").fill(apps, connection.schema_editor())

    work = dashboards.work_summary(Batch.objects.get())

    spent = dashboards.effort_of("", work["days"], work["owed"])
    assert (spent.submitted, spent.timed, spent.each) == (1, 1, 130.0)


def test_first_rates_of_before_still_hold_in_the_sheets_of_their_time(world: World) -> None:
    batch = world.batch()
    clock = Clock(world, batch)
    mine = world.take(batch, "ada")
    assert mine is not None
    clock.submit(mine, 120, NOON)
    pay(world, NOON + 2 * DAY, currency="EUR", per_hour=36)
    assert lines(world, NOON, NOON) == [(1, 120.0, None)], "what is paid later stands in a later sheet"

    import_module("annotation.migrations.0049_ledger_of_work").keep_first_rates(
        apps, connection.schema_editor()
    )

    assert lines(world, NOON, NOON) == lines(world) == [(1, 120.0, Decimal("1.20"))]
    assert lines(world, NOON + DAY, None) == []
