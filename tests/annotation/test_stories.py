"""The story of an item and the log of a project: complete, by pseudonym where names are not for the reader, bounded."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.access import audit_log
from annotation.access.authorization import Actor
from annotation.access.roles import Role
from annotation.accounts import item_history
from annotation.accounts.item_history import THINGS
from annotation.models import Event, Inquiry, Item, Membership, Person
from annotation.queue import resolutions
from annotation.releases import creation
from annotation.workflow import (
    adjudication,
    assignments,
    automatic_decisions,
    batch_settings,
    batches,
    projects,
)
from tests.annotation.cast import NOON, World


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


@pytest.fixture
def item(world: World) -> Item:
    """An item with everything: skipped, submitted, withdrawn, flagged, asked about, adjudicated, decided, released."""
    batch = world.batch(size=1, overlap=2)
    skipped = world.take(batch, "cy")
    assert skipped is not None
    assignments.skip(assignment=skipped, reason="a torn table", now=NOON)
    first = world.take(batch, "ada")
    assert first is not None
    assignments.flag(assignment=first, note="an odd year", now=NOON)
    Inquiry.objects.create(
        project=world.project,
        batch=batch,
        assignment=first,
        asked_by=world.ada,
        asked_at=NOON,
        text="Does the year count?",
        answer="It does.",
        answered_by=world.mara,
        answered_at=NOON,
    )
    made = world.answer(first, {"label": "extraction"})
    assignments.undo(annotation=made, now=NOON + timedelta(seconds=5))
    world.answer(world.reload(first), {"label": "reasoning"}, NOON + timedelta(seconds=9))
    world.label(batch, "bo", "neither")
    batches.close_batch(batch=batch, by=world.mara, now=NOON + timedelta(seconds=20))
    automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(seconds=30))
    found = batch.items.get()
    adjudication.decide(
        item=found, by=world.ivo, note="B is right.", choose=["A"], now=NOON + timedelta(seconds=40)
    )
    creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=NOON + timedelta(seconds=50)
    )
    return found


SAID = (
    "skipped the item",
    "a torn table",
    "flagged the item",
    "an odd year",
    "Does the year count?",
    "It does.",
    "Revision 1",
    "withdrew the submission",
    "Revision 3",
    "asked for adjudication",
    "decided: accepted",
    "B is right.",
    "Outcome 1",
    "v1",
)


class TestAnItem:
    def test_its_page_tells_everything_in_order(self, item: Item, world: World) -> None:
        page = text(browser(world.mara).get(reverse("item_story", args=[item.public_id])))

        for words in SAID:
            assert words in page
        order = [page.index(words) for words in ("skipped the item", "Revision 1", "Revision 3", "decided:")]
        assert order == sorted(order)
        for name in ("Ada", "Bo", "Cy", "Ivo"):
            assert re.search(rf"\b{name}\b", page)

    @pytest.mark.parametrize("who", ["rea", "ivo", "vic"])
    def test_whoever_invites_nobody_reads_pseudonyms(self, item: Item, world: World, who: str) -> None:
        world.people["vic"] = Person.objects.create_person("Vic", "vic@example.org")
        projects.add_member(
            project=world.project, person=world.vic, roles=[Role.VIEWER], by=world.mara, now=NOON
        )

        page = text(browser(world.people[who]).get(reverse("item_story", args=[item.public_id])))

        for words in SAID:
            assert words in page
        for name in {"Ada", "Bo", "Cy", "Ivo", "Mara"} - {who.capitalize()}:
            assert not re.search(rf"\b{name}\b", page), name
        assert Membership.objects.get(person=world.ada).pseudonym in page

    def test_before_the_decision_it_is_kept_from_those_who_may_decide(self, world: World) -> None:
        batch = world.batch(size=1)
        item = batch.items.get()
        world.label(batch, "ada", "extraction")
        address = reverse("item_story", args=[item.public_id])

        assert "once it is decided" in text(browser(world.ivo).get(address, follow=True))
        assert "Revision 1" in text(browser(world.rea).get(address))

    def test_whoever_annotates_in_the_open_batch_reads_no_story_of_it(self, world: World) -> None:
        batch = world.batch(size=1)
        world.label(batch, "ada", "extraction")
        projects.add_member(
            project=world.project, person=world.mara, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
        )
        mara = browser(world.mara)

        page = text(mara.get(reverse("item_story", args=[batch.items.get().public_id]), follow=True))
        log = text(mara.get("/projects/films/log/"))

        assert "once it is closed" in page
        assert "submitted" not in log

    def test_its_cost_does_not_grow_with_what_happened(self, item: Item, world: World) -> None:
        mara = browser(world.mara)
        address = reverse("item_story", args=[item.public_id])
        with CaptureQueriesContext(connection) as queries:
            mara.get(address)

        assert len(queries) < 35


class TestTheLog:
    def test_it_says_who_when_what_from_and_to(self, item: Item, world: World) -> None:
        page = text(browser(world.mara).get("/projects/films/log/"))

        for words in (
            f"Assignment: when did Heat come out (0)? question_type 1 · Ada · {item.public_id}",
            "adjudication accepted",
            "leased skipped",
            "Member: Ada",
            "Release: v1",
        ):
            assert words in page

    @pytest.mark.parametrize(
        ("query", "there", "not_there"),
        [
            ({"thing": "membership"}, "Member: Ada", "leased"),
            ({"who": "ivo"}, "accepted", "leased"),
            ({"since": "2100-01-01"}, "No entries match", "leased"),
            ({"until": "2026-02-28"}, "No entries match", "leased"),
            ({"since": "2026-03-02", "until": "2026-03-02"}, "leased", "No entries match"),
            ({"thing": "nonsense"}, "Select a valid choice", "No entries match"),
            ({"item": "nowhere"}, "no item with this id", "No entries match"),
        ],
    )
    def test_it_can_be_filtered(
        self, item: Item, world: World, query: dict[str, str], there: str, not_there: str
    ) -> None:
        page = text(browser(world.mara).get("/projects/films/log/", query))

        assert there in page
        assert not_there not in page

    def test_an_items_id_leads_to_its_story(self, item: Item, world: World) -> None:
        answer = browser(world.mara).get("/projects/films/log/", {"item": item.public_id})

        assert answer["Location"] == reverse("item_story", args=[item.public_id])

    def test_pages_go_on_where_the_last_ended_at_the_same_cost(self, item: Item, world: World) -> None:
        mara = browser(world.mara)

        def cost(address: str) -> tuple[int, str]:
            with CaptureQueriesContext(connection) as queries:
                page = mara.get(address)
            return len(queries), page.content.decode()

        few, _ = cost("/projects/films/log/")
        Event.objects.bulk_create(
            [
                Event(
                    project=world.project, thing="source", thing_id=number, after=f"state {number}", at=NOON
                )
                for number in range(1000)
            ]
        )
        many, page = cost("/projects/films/log/")
        more = re.search(r'href="\?([^"]+)" rel="next"', page)
        assert more is not None
        _, second = cost("/projects/films/log/?" + more[1])

        assert many <= few
        assert "state 900<" in page
        assert "state 899<" not in page
        assert "state 899<" in second
        assert "state 900<" not in second

    def test_a_reader_without_names_cannot_search_for_them(self, item: Item, world: World) -> None:
        page = text(browser(world.rea).get("/projects/films/log/", {"who": "Ada"}))

        assert "No entries match" in page


def test_everything_that_events_are_about_has_a_name_in_the_log() -> None:
    written = set()
    for path in (settings.BASE_DIR / "annotation").rglob("*.py"):
        written |= set(
            re.findall(r"""thing="(\w+)"|_record\([^()"]*, "([a-z]+)", \w+\.pk""", path.read_text("utf-8"))
        )
    named = {one or other for one, other in written} - {"thing"}

    assert named
    assert named <= set(THINGS)


# -- what a word cannot say -------------------------------------------------------------------------


def told(world: World, item: Item) -> list[str]:
    item = Item.objects.select_related("batch__project", "example__stored_table").get(pk=item.pk)
    story = item_history.of_item(item, item_history.Names(Actor(world.mara), world.project))
    return [line for moment in story.moments for line in (moment.what, *moment.words)]


def test_every_time_an_adjudicator_was_asked_keeps_its_own_reason_and_nothing_is_told_raw(
    world: World,
) -> None:
    batch = world.batch(size=1, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    later = NOON + timedelta(hours=1)
    automatic_decisions.resolve_batch(batch=batch, now=later)
    item = resolutions.waiting(batch).get()
    first = item.adjudication.reason
    back = adjudication.send_back(item=item, by=world.ivo, choose="A", note="Think again.", now=later)
    held = world.reload(back.assignment)
    world.answer(held, {"label": "neither"}, now=later)
    automatic_decisions.resolve_due(now=later + timedelta(hours=1))
    item = resolutions.waiting(batch).get()
    assert item.adjudication.reason != first
    batch_settings.change(batch=batch, changes={"caps": {"items_per_day": 9}}, by=world.mara, now=later)
    adjudication.decide(item=item, by=world.ivo, choose=["A"], note="The first.", now=later)
    batches.close_batch(batch=batch, by=world.mara, now=later)

    lines = told(world, item)

    assert {first, "Think again."} <= set(lines)
    assert sum(line == "asked for adjudication" for line in lines) == 2
    assert {"planned the batch", "opened the batch", "closed the batch"} <= set(lines)
    assert "items per person per day: – → 9" in lines
    assert not any("sent back" in line and "→" in line for line in lines)


def test_why_an_item_came_back_stays_in_its_story_when_it_is_taken_up_again(world: World) -> None:
    batch = world.batch(size=1, overlap=1)
    held = world.take(batch, "ada")
    assert held is not None
    assignments.give_back(assignment=held, now=NOON)
    assignments.resume(assignment=world.reload(held), now=NOON)

    assert "given back" in told(world, batch.items.get())


def test_the_log_shows_what_a_term_was_and_what_it_is(world: World, client: Client) -> None:
    batch = world.batch(size=1, overlap=1)
    for amount in (0.1, 0.2):
        pay = {"currency": "EUR", "per_item": amount}
        batch_settings.change(batch=batch, changes={"pay": pay}, by=world.mara, now=NOON)
    client.force_login(world.mara)

    page = client.get(f"/projects/{world.project.slug}/log/?thing=batch").content.decode()

    assert "pay, per_item: 0.1 → 0.2" in page


@pytest.mark.parametrize(
    ("days", "entries"),
    [
        ({"since": "2026-03-02", "until": "2026-03-02"}, 2),
        ({"until": "2026-03-01"}, 0),
        ({"since": "2026-03-03"}, 0),
        ({"since": "2026-03-03", "until": "2026-03-01"}, 0),
    ],
)
def test_the_log_is_filtered_by_days(
    world: World, client: Client, days: dict[str, str], entries: int
) -> None:
    world.batch()
    client.force_login(world.mara)

    page = client.get("/projects/films/log/", {"thing": "batch", **days}).content.decode()

    assert page.partition("<tbody")[2].count("<tr") == entries
    assert ("No entries match the filters." in page) == (not entries)
    for name, day in days.items():
        assert re.search(rf'name="{name}"[^>]*value="{day}"|value="{day}"[^>]*name="{name}"', page), name


def test_the_log_is_in_the_order_of_time_and_its_pages_leave_nothing_out(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_history, "PAGE", 3)
    batch = world.batch(size=1, overlap=1)
    for seconds, word in ((5, "five"), (4, "four"), (7, "seven"), (6, "six"), (9, "nine"), (8, "eight")):
        audit_log.record(
            project_id=world.project.pk,
            actor=world.mara,
            thing="batch",
            thing_id=batch.pk,
            after=f"came {word}",
            now=NOON + timedelta(days=1, seconds=seconds),
        )
    client.force_login(world.mara)

    first = client.get(f"/projects/{world.project.slug}/log/").content.decode()
    (more,) = re.findall(r'href="([^"]*)" rel="next"', first)
    second = client.get(f"/projects/{world.project.slug}/log/{more}".replace("&amp;", "&")).content.decode()

    assert re.findall(r"came (\w+)", first) == ["nine", "eight", "six"]
    assert re.findall(r"came (\w+)", second) == ["seven", "five", "four"]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ({}, {"rule": "majority"}, "rule: – → majority"),
        ({"rule": "majority"}, {"rule": "unanimous"}, "rule: majority → unanimous"),
        ({"rule": "majority"}, {}, "rule: majority → –"),
    ],
)
def test_another_rule_is_told_in_the_story_without_saying_what_it_is_twice(
    world: World, before: dict[str, str], after: dict[str, str], line: str
) -> None:
    batch = world.batch(size=1, overlap=3, resolve=before)
    automatic_decisions.change_rule(batch=batch, rule=after, by=world.mara, now=NOON)

    story = told(world, batch.items.get())

    at = story.index("changed the batch: Decision rule")
    assert story[at + 1] == line
    assert sum("Decision rule" in one for one in story) == 1
