"""The explorer: every filter finds what it says, and nobody learns by it what they must not know yet."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access.authorization import Actor
from annotation.access.roles import Role
from annotation.explorer import export, facets, index, item_access, querysets, result_counts, result_pages
from annotation.explorer.links import explorer_url
from annotation.explorer.selection import BadSelection, parse
from annotation.management import doctor
from annotation.models import (
    Assignment,
    Batch,
    Exclusion,
    IndexedItem,
    Item,
    Membership,
    Person,
    ResponseFact,
)
from annotation.queue import allocation
from annotation.web.views import filters
from annotation.workflow import adjudication, assignments, automatic_decisions, batches, projects
from tableqa import Example, Table
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both

FILMS = Table(["Film", "Year"], [["Heat", "1995"]])


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def pseudonym(world: World, who: str) -> str:
    return Membership.objects.get(person=world.people[who], project=world.project).pseudonym


def found(world: World, who: str = "mara", **filters: str) -> list[int]:
    """The numbers of the items that the person finds, from 0, in the order of the list."""
    index.refresh(world.project, now=timezone.now())
    reader = item_access.reader(Actor(world.people[who]), world.project)
    chosen = parse({name: [value] for name, value in filters.items()})
    page = result_pages.page(reader, chosen, 50)
    assert result_counts.count_up_to_limit(querysets.matching(reader, chosen)) == len(page.keys)
    positions = dict(Item.objects.filter(pk__in=page.keys).values_list("pk", "position"))
    return [positions[key] - 1 for key in page.keys]


def labelled_batch(world: World) -> Batch:
    """Four items: 0 is accepted, 1 waits for an adjudicator, 2 was skipped by Cy, 3 has nothing yet."""
    batch = world.batch(name="Labels")
    for who in ("ada", "bo", "cy"):
        world.label(batch, who, "extraction")
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    skipped = world.take(batch, "cy")
    assert skipped is not None
    assignments.skip(assignment=skipped, reason="A torn table", now=NOON + timedelta(days=1))
    flagged = world.take(batch, "ada")
    assert flagged is not None
    assignments.flag(assignment=flagged, note="An odd year", now=NOON)
    return batch


@pytest.fixture
def batch(world: World) -> Batch:
    return labelled_batch(world)


@pytest.mark.parametrize(
    ("filters", "positions"),
    [
        ({}, [0, 1, 2, 3]),
        ({"state": "accepted"}, [0]),
        ({"state": "adjudication"}, [1]),
        ({"state": "open"}, [2, 3]),
        ({"state": "complete"}, []),
        ({"label": "label:reasoning"}, [1]),
        ({"label": "label:extraction"}, [0, 1]),
        ({"pair": "label:extraction~reasoning"}, [1]),
        ({"pair": "label:extraction~extraction"}, [0]),
        ({"pair": "label:reasoning~reasoning"}, []),
        ({"differs": "yes"}, [1]),
        ({"differs": "no"}, [0]),
        ({"skipped": "any"}, [2]),
        ({"skipped": "A torn table"}, [2]),
        ({"skipped": "Another reason"}, []),
        ({"flagged": "yes"}, [2]),
        ({"flagged": "no"}, [0, 1, 3]),
        ({"gold": "yes"}, []),
        ({"type": "question_type"}, [0, 1, 2, 3]),
        ({"type": "value_change"}, []),
        ({"q": "heat"}, [0]),
        ({"q": "COME stalker"}, [1]),
        ({"q": "1967"}, [3]),
        ({"q": "torn"}, [2]),
        ({"q": '"odd year"'}, [2]),
        ({"q": '"year odd"'}, []),
        ({"since": "2026-03-03", "skipped": "any"}, [2]),
        ({"until": "2026-03-02", "skipped": "any"}, []),
        ({"since": "2026-03-02", "until": "2026-03-02"}, [0, 1]),
        ({"since": "2026-03-03"}, []),
        ({"unsure": "yes"}, []),
        ({"unsure": "no"}, [0, 1, 2, 3]),
        ({"adjudicated": "yes"}, []),
        ({"adjudicated": "no"}, [0, 1, 2, 3]),
        ({"assignment": "planned"}, [0, 1, 2, 3]),
        ({"assignment": "not_started"}, [2, 3]),
        ({"assignment": "reserved"}, []),
        ({"assignment": "assigned"}, [0, 1, 2]),
        ({"assignment": "returned"}, []),
    ],
)
def test_each_filter_finds_what_it_says(
    batch: Batch, world: World, filters: dict[str, str], positions: list[int]
) -> None:
    assert found(world, **filters) == positions


def test_a_label_of_a_person_is_one_that_this_person_gave(batch: Batch, world: World) -> None:
    ada, bo = pseudonym(world, "ada"), pseudonym(world, "bo")

    assert found(world, person=bo) == [0, 1]
    assert found(world, person=bo, label="label:reasoning") == [1]
    assert found(world, person=ada, label="label:reasoning") == []
    assert found(world, person=pseudonym(world, "cy"), skipped="any") == [2]
    assert found(world, person=ada, skipped="any") == []


def test_items_without_doubt_have_no_response_whose_annotator_was_not_sure(
    batch: Batch, world: World
) -> None:
    index.refresh(world.project, now=timezone.now())
    of_bo = ResponseFact.objects.get(value="reasoning")
    ResponseFact.objects.create(
        project=world.project,
        item=of_bo.item,
        person=of_bo.person,
        kind=ResponseFact.Kind.UNSURE,
        value="yes",
    )
    ada, bo = pseudonym(world, "ada"), pseudonym(world, "bo")

    assert found(world, unsure="yes") == [1]
    assert found(world, unsure="no") == [0, 2, 3]
    assert found(world, unsure="no", person=bo) == [0]
    assert found(world, unsure="no", person=ada) == [0, 1]
    assert found(world, unsure="no", label="label:extraction") == [0]


def test_assignments_of_a_person_are_those_that_this_person_has_or_had(batch: Batch, world: World) -> None:
    ada, cy = pseudonym(world, "ada"), pseudonym(world, "cy")
    flagged = Assignment.objects.get(batch=batch, person=world.people["ada"], state="leased")
    assignments.give_back(assignment=flagged, now=NOON)
    allocation.assign(batch=batch, person=world.people["cy"], most=1, by=world.mara, now=NOON)

    assert found(world, person=ada, assignment="assigned") == [0, 1, 2]
    assert found(world, person=ada, assignment="returned") == [2]
    assert found(world, person=cy, assignment="returned") == []
    assert found(world, person=cy, assignment="reserved") == [3]
    assert found(world, person=ada, assignment="reserved") == []


def test_slots_do_not_tell_which_items_are_gold(world: World) -> None:
    from annotation.quality import gold

    batch = world.batch(open=False)
    item = batch.items.get(position=2)
    gold.set_gold(batch=batch, example=item.example, data={"label": "neither"}, by=world.mara, now=NOON)

    assert len(found(world, assignment="planned")) == 3
    assert found(world, "rea", assignment="planned") == []
    assert found(world, "rea", assignment="not_started") == []
    assert len(found(world, "rea")) == 4


def test_active_time_is_that_of_one_response(world: World) -> None:
    batch = world.batch(overlap=1)
    for seconds in (3, 50):
        taken = world.take(batch, "ada")
        assert taken is not None
        now = NOON + timedelta(seconds=seconds)
        world.answer(taken, {"label": "extraction"}, now)

    times = [one.seconds for one in IndexedItem.objects.order_by("item")] or None
    assert found(world, seconds_to="10") == [0], times
    assert found(world, seconds_from="10") == [1]
    assert found(world, sort="-seconds")[:2] == [1, 0]


def test_gold_items_are_in_no_state_and_for_managers_only(world: World) -> None:
    from annotation.quality import gold

    batch = world.batch(open=False)
    item = batch.items.get(position=2)
    gold.set_gold(
        batch=batch,
        example=item.example,
        data={"label": "neither"},
        by=world.mara,
        now=NOON,
    )

    position = Item.objects.get(pk=item.pk).position - 1
    assert found(world, gold="yes") == [position]
    assert position not in found(world, state="open")
    with pytest.raises(BadSelection, match="Only managers"):
        found(world, "rea", gold="yes")


def test_pages_begin_behind_an_item_and_lead_back(batch: Batch, world: World) -> None:
    index.refresh(world.project, now=timezone.now())
    reader = item_access.reader(Actor(world.mara), world.project)
    for sort in ("", "-answered", "answered", "-seconds", "seconds"):
        whole = result_pages.page(reader, parse({"sort": [sort]}), 50).keys
        names = dict(Item.objects.values_list("pk", "public_id"))

        middle = result_pages.page(reader, parse({"sort": [sort], "after": [names[whole[0]]]}), 2)
        back = result_pages.page(reader, parse({"sort": [sort], "before": [names[whole[3]]]}), 2)
        first = result_pages.page(reader, parse({"sort": [sort], "before": [names[whole[1]]]}), 2)

        assert (middle.keys, middle.has_previous, middle.has_next) == (whole[1:3], True, True)
        assert (back.keys, back.has_previous, back.has_next) == (whole[1:3], True, True)
        assert (first.keys, first.has_previous, first.has_next) == (whole[:1], False, True)


@pytest.mark.parametrize("name", ["batch", "source", "person", "after"])
def test_what_the_project_does_not_have_is_named(batch: Batch, world: World, name: str) -> None:
    response = browser(world.mara).get(explorer_url(world.project), {name: "elsewhere"})

    assert response.status_code == 400
    assert "elsewhere" in text(response)


def test_the_stored_resolution_follows_each_step_back(batch: Batch, world: World) -> None:
    item = batch.items.get(position=2)
    adjudication.decide(item=item, by=world.ivo, note="So.", choose=["A"], now=NOON)
    assert found(world, adjudicated="yes") == [1]
    assert found(world, adjudicated="no") == [0, 2, 3]
    assert found(world, state="accepted") == [0, 1]

    adjudication.undo(item=item, by=world.ivo, now=NOON)
    assert found(world, state="adjudication") == [1]

    adjudication.send_back(item=item, by=world.ivo, choose="A", note="Read it again.", now=NOON)
    assert found(world, state="open") == [1, 2, 3]
    assert " ".join(doctor.findings()) == ""


def test_facets_count_an_item_once_however_many_people_say_the_same(batch: Batch, world: World) -> None:
    index.refresh(world.project, now=timezone.now())
    reader = item_access.reader(Actor(world.mara), world.project)

    labels = next(one for one in facets.facets(reader, parse({})) if one.name == "label")

    assert dict(labels.values)["label:extraction"] == 2


def test_facets_of_very_many_items_of_a_period_count_the_first_and_say_so(
    batch: Batch, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.refresh(world.project, now=timezone.now())
    client = Client()
    client.force_login(world.mara)
    address = (
        f"/projects/films/explorer/facets/?submitted_from={(NOON - timedelta(days=9)).isoformat()}".replace(
            "+", "%2B"
        )
    )

    def states() -> set[str]:
        page = client.get(address).content.decode()
        return set(re.findall(r">\s*([\d,]+\+?)\s*<", page))

    assert "2" in states()
    assert not [number for number in states() if number.endswith("+")]
    monkeypatch.setattr(facets, "MOST_COUNTED", 1)
    assert {number[-1] for number in states()} == {"+"}
    assert max(int(number[:-1]) for number in states()) == 1, "of one item, each person once"


@pytest.mark.parametrize(
    ("labels", "names", "more", "number"),
    [
        (["reasoning"], ["ada", "bo"], {}, 1),
        (["reasoning", "neither"], ["bo", "cy"], {}, 2),
        (["reasoning", "neither"], ["ada", "bo", "cy"], {}, 2),
        (["extraction"], ["ada"], {}, 2),
        (["extraction"], ["ada", "bo"], {"until": ["2026-03-02"]}, 3),
        (["extraction"], [], {}, 4),
        (["reasoning"], [], {"answered": ["yes"]}, 1),
        ([], ["ada", "bo"], {}, 4),
    ],
)
def test_a_selection_of_labels_counts_the_responses_that_give_them(
    batch: Batch, world: World, labels: list[str], names: list[str], more: dict[str, list[str]], number: int
) -> None:
    people = [pseudonym(world, name) for name in names]
    chosen = {"label": [f"label:{label}" for label in labels], "person": people, **more}

    assert responses_counted(world, chosen) == number


def test_a_selection_of_labels_counts_the_responses_of_its_period_alone(batch: Batch, world: World) -> None:
    early = Assignment.objects.get(batch=batch, item__position=1, person=world.ada)
    Assignment.objects.filter(pk=early.pk).update(ended_at=NOON - timedelta(days=9))
    chosen = {"label": ["label:extraction"]}

    assert responses_counted(world, chosen) == 4
    assert responses_counted(world, {**chosen, "since": ["2026-03-01"]}) == 3
    assert (
        responses_counted(world, {**chosen, "since": ["2026-03-01"], "person": [pseudonym(world, "ada")]})
        == 1
    )


def test_a_selection_of_open_conditions_and_people_counts_the_responses_that_leave_them_open(
    batch: Batch, world: World
) -> None:
    index.refresh(world.project, now=timezone.now())
    of_bo = ResponseFact.objects.get(value="reasoning")
    finding = ResponseFact.Kind.FINDING
    ResponseFact.objects.create(
        project=world.project, item=of_bo.item, person=of_bo.person, kind=finding, value="answer_gone"
    )
    people = [pseudonym(world, name) for name in ("ada", "bo")]

    assert responses_counted(world, {"finding": ["answer_gone"], "person": people}) == 1
    assert responses_counted(world, {"finding": ["answer_gone", "part_foreign"], "person": people}) is None


def responses_counted(world: World, chosen: dict[str, list[str]]) -> int | None:
    """How many responses the page counts beside the items of a selection."""
    index.refresh(world.project, now=timezone.now())
    reader, selection = item_access.reader(Actor(world.mara), world.project), parse(chosen)
    items = result_counts.count_up_to_limit(querysets.matching(reader, selection))
    return result_counts.count_within_items(reader, selection, items)


@pytest.mark.parametrize("name", ["answered=yes", "assignment=assigned", "label=label:extraction"])
def test_of_very_many_items_the_responses_are_not_counted_as_well(
    batch: Batch, world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    index.refresh(world.project, now=timezone.now())

    def counted() -> tuple[int, str]:
        reader = item_access.reader(Actor(world.mara), world.project)
        chosen = parse({part: [value] for part, value in [name.split("=")]})
        items = result_counts.count_up_to_limit(querysets.matching(reader, chosen))
        return items, filters.counts_in_words(reader, chosen, items)

    items, sentence = counted()
    assert int(re.findall(r"\d+", sentence)[0]) > items > 1
    monkeypatch.setattr(result_counts, "MOST_COUNTED", 1)
    monkeypatch.setattr(filters, "MOST_COUNTED", 1)
    assert counted() == (2, re.sub(r"\d+", "1+", sentence))


class TestTheIndex:
    def test_it_follows_what_happens(self, batch: Batch, world: World) -> None:
        assert found(world, label="label:neither") == [1]

        adjudication.decide(
            item=batch.items.get(position=2), by=world.ivo, note="Plainly so.", choose=["A"], now=NOON
        )

        assert found(world, q="plainly") == [1]
        assert found(world, state="accepted") == [0, 1]

    def test_it_holds_each_item_once_however_often_it_is_made(self, batch: Batch, world: World) -> None:
        found(world)
        before = list(ResponseFact.objects.order_by("item", "person").values_list("item", "person", "value"))

        index.index_items(batch.items.values_list("pk", flat=True))

        assert before == list(
            ResponseFact.objects.order_by("item", "person").values_list("item", "person", "value")
        )
        assert IndexedItem.objects.count() == 4

    def test_an_undone_response_is_found_no_more(self, world: World) -> None:
        batch = world.batch()
        made = world.label(batch, "ada", "neither")
        assert found(world, label="label:neither") == [0]

        assignments.undo(annotation=made, now=NOON)

        assert found(world, label="label:neither") == []

    def test_much_is_left_to_a_job(self, batch: Batch, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(index, "AT_ONCE", 1)
        monkeypatch.setattr(index, "NEW_AT_ONCE", 1)
        with monkeypatch.context() as patched:
            patched.setattr("annotation.background.jobs.enqueue", lambda **values: None)

            is_behind = index.refresh(world.project, now=timezone.now())
            page = text(browser(world.mara).get(reverse("explorer", args=[world.project.slug])))

        assert is_behind
        assert "The newest work is being indexed." in page
        assert not IndexedItem.objects.exists()

    def test_a_job_does_what_was_left(self, batch: Batch, world: World) -> None:
        from annotation.models import Job

        job = Job.objects.create(
            project=world.project, kind=index.KIND, made_by=world.mara, made_at=NOON, heartbeat=NOON
        )

        assert index._run(job, lambda done, total: None) == {"items": 4}
        Job.objects.filter(pk=job.pk).update(state=Job.State.DONE)
        assert not index.refresh(world.project, now=timezone.now())
        assert found(world, label="label:reasoning") == [1]


RESPONSE_FILTERS: tuple[dict[str, str], ...] = (
    {"label": "label:extraction"},
    {"label": "label:reasoning"},
    {"pair": "label:extraction~reasoning"},
    {"differs": "yes"},
    {"differs": "no"},
    {"skipped": "any"},
    {"flagged": "yes"},
    {"flagged": "no"},
    {"unsure": "no"},
    {"since": "2026-01-01"},
    {"seconds_from": "0"},
    {"q": "torn"},
    {"q": "odd"},
    {"q": "extraction"},
    {"sort": "-answered"},
    {"sort": "seconds"},
)


class TestWhoMayNotKnow:
    """Somebody who annotates in an open batch, or may, whatever else they are; and adjudicators of what is undecided."""

    @pytest.fixture
    def both(self, world: World) -> World:
        """Mara, who manages, may annotate as well."""
        member = Membership.objects.get(person=world.mara, project=world.project)
        projects.change_roles(
            membership=member, roles=[Role.MANAGER, Role.ANNOTATOR], by=world.mara, now=NOON
        )
        return world

    @pytest.mark.parametrize("filters", RESPONSE_FILTERS)
    def test_no_filter_search_or_order_tells_an_annotator_of_responses(
        self, batch: Batch, both: World, filters: dict[str, str]
    ) -> None:
        assert found(both, **filters) == []

    @pytest.mark.parametrize("state", ["open", "complete", "adjudication", "accepted", "excluded"])
    def test_no_state_is_told_to_an_annotator(self, batch: Batch, both: World, state: str) -> None:
        assert found(both, state=state) == []

    def test_gold_is_not_told_to_an_annotator(self, batch: Batch, both: World) -> None:
        Item.objects.filter(batch=batch, position=4).update(is_gold=True)

        assert found(both, gold="yes") == []
        assert found(both, gold="no") == []

    def test_the_page_shows_an_annotator_the_questions_alone(self, batch: Batch, both: World) -> None:
        said = text(browser(both.mara).get(explorer_url(both.project)))

        assert "when did Heat come out" in said
        for secret in ("Extraction", "extraction:", "A torn table", "An odd year", "responses differ"):
            assert secret not in said.partition("4 items")[2]
        assert "You annotate in open batches" in said

    @pytest.mark.parametrize("path", ["explorer_item", "open"])
    def test_the_item_beside_the_list_hides_the_same(self, batch: Batch, both: World, path: str) -> None:
        item = batch.items.get(position=2)
        address = (
            reverse("explorer_item", args=[item.public_id])
            if path == "explorer_item"
            else f"{explorer_url(both.project)}?open={item.public_id}"
        )

        said = text(browser(both.mara).get(address))

        assert "The responses to this item are hidden from you." in said
        assert "reasoning" not in said.lower()

    def test_after_the_close_everything_is_there(self, batch: Batch, both: World) -> None:
        batches.close_batch(batch=batch, by=both.mara, now=NOON)

        assert found(both, label="label:reasoning") == [1]

    def test_items_that_rest_on_hidden_decisions_are_not_listed(self, world: World, both: World) -> None:
        first = world.batch(name="First")
        world.batch("answer_check", name="Second", sources=[], feeds_from=first, open=False)

        names = set(
            querysets.matching(item_access.reader(Actor(both.mara), world.project), parse({})).values_list(
                "batch__name", flat=True
            )
        )

        assert names == {"First"}

    @pytest.mark.parametrize("filters", RESPONSE_FILTERS)
    def test_adjudicators_find_decided_items_alone(
        self, batch: Batch, world: World, filters: dict[str, str]
    ) -> None:
        assert set(found(world, "ivo", **filters)) <= {0}

    def test_adjudicators_see_which_items_wait(self, batch: Batch, world: World) -> None:
        assert found(world, "ivo", state="adjudication") == [1]

    def test_what_is_undone_is_hidden_again_at_once(self, batch: Batch, world: World) -> None:
        item = batch.items.get(position=2)
        adjudication.decide(item=item, by=world.ivo, note="So.", choose=["A"], now=NOON)
        assert found(world, "ivo", label="label:reasoning") == [1]

        adjudication.undo(item=item, by=world.ivo, now=NOON)

        reader = item_access.reader(Actor(world.ivo), world.project)
        chosen = parse({"label": ["label:reasoning"]})
        assert result_counts.count_up_to_limit(querysets.matching(reader, chosen)) == 0

    def test_whoever_sees_no_names_reads_pseudonyms(self, batch: Batch, world: World) -> None:
        said = text(browser(world.rea).get(explorer_url(world.project)))

        assert pseudonym(world, "ada") in said
        for name in ("Ada", "Bo", "Cy"):
            assert not re.search(rf"\b{name}\b", said)

    def test_whoever_read_a_response_never_gets_the_item(self, batch: Batch, world: World) -> None:
        browser(world.mara).get(explorer_url(world.project))

        read = Exclusion.objects.filter(person=world.mara, read_at__isnull=False)
        assert set(read.values_list("item__position", flat=True)) == {1, 2, 3}


class TestThePage:
    def test_it_lists_the_items_with_their_responses(self, batch: Batch, world: World) -> None:
        said = text(browser(world.mara).get(explorer_url(world.project)))

        assert "4 items" in said
        for words in ("when did Heat come out (0)?", "accepted", "needs adjudication", "Ada", "An odd year"):
            assert words in said

    def test_a_batch_has_the_same_page_with_itself_as_filter(self, batch: Batch, world: World) -> None:
        world.batch(name="Another")

        assert "8 items" in text(browser(world.mara).get(explorer_url(world.project)))
        assert "4 items" in text(browser(world.mara).get(explorer_url(world.project, batch=batch)))

    def test_filters_in_use_are_named_and_can_be_removed(self, batch: Batch, world: World) -> None:
        address = explorer_url(world.project, label="label:extraction", state="accepted")

        response = browser(world.mara).get(address)

        assert "State is accepted" in text(response)
        assert "Label is extraction" in text(response)
        assert f'href="{explorer_url(world.project, state="accepted")}"' in response.content.decode()

    def test_an_item_opens_beside_the_list_without_scripts(self, batch: Batch, world: World) -> None:
        item = batch.items.get(position=2)

        said = text(browser(world.mara).get(explorer_url(world.project), {"open": item.public_id}))

        assert "History" in said
        assert said.count(item.example.question) == 2

    @pytest.mark.parametrize(
        ("who", "name", "address"),
        [("mara", "Roles", "people/"), ("ivo", "Adjudicate", "items/{}/adjudicate/"), ("rea", "", "")],
    )
    def test_an_open_item_that_needs_adjudication_leads_there_or_says_who_decides(
        self, batch: Batch, world: World, who: str, name: str, address: str
    ) -> None:
        item = batch.items.get(position=2)
        client = browser(world.people[who])

        page = client.get(explorer_url(world.project), {"open": item.public_id}).content.decode()

        beside = page.partition('id="beside"')[2]
        links = dict(re.findall(r'<a [^>]*href="([^"]+)">(Roles|Adjudicate)</a>', beside))
        assert ("An adjudicator decides this item." in beside) == (who != "ivo")
        assert list(links.values()) == [name][: len(name)]
        for link in links:
            assert link.endswith(address.format(item.public_id))
            assert client.get(link).status_code == 200

    def test_a_link_checks_its_filters(self, world: World) -> None:
        with pytest.raises(BadSelection):
            explorer_url(world.project, colour="red")


class TestFacets:
    def values(self, world: World, who: str = "mara", **filters: str) -> dict[str, dict[str, int]]:
        index.refresh(world.project, now=timezone.now())
        reader = item_access.reader(Actor(world.people[who]), world.project)
        chosen = parse({name: [value] for name, value in filters.items()})
        return {one.name: dict(one.values) for one in facets.facets(reader, chosen)}

    def test_they_count_the_items_of_the_selection(self, batch: Batch, world: World) -> None:
        every, waiting = self.values(world), self.values(world, state="adjudication")

        assert every["state"] == {"open": 2, "adjudication": 1, "accepted": 1}
        assert every["label"] == {"label:extraction": 2, "label:neither": 1, "label:reasoning": 1}
        assert every["skipped"] == {"A torn table": 1}
        assert every["differs"] == {"no": 1, "yes": 1}
        assert every["person"] == {pseudonym(world, who): 2 for who in ("ada", "bo", "cy")}
        assert waiting["label"] == {"label:extraction": 1, "label:neither": 1, "label:reasoning": 1}

    def test_each_number_is_that_of_the_list_behind_it(self, batch: Batch, world: World) -> None:
        for name, values in self.values(world).items():
            for value, number in values.items():
                assert len(found(world, **{name: value})) == number, (name, value)

    def test_an_annotator_learns_nothing_by_them(self, batch: Batch, world: World) -> None:
        member = Membership.objects.get(person=world.mara, project=world.project)
        projects.change_roles(
            membership=member, roles=[Role.MANAGER, Role.ANNOTATOR], by=world.mara, now=NOON
        )

        assert self.values(world) == {}

    def test_an_adjudicator_reads_states_and_decided_items_alone(self, batch: Batch, world: World) -> None:
        values = self.values(world, "ivo")

        assert values["state"] == {"open": 2, "adjudication": 1, "accepted": 1}
        assert values["label"] == {"label:extraction": 1}
        assert "skipped" not in values

    def test_the_page_links_each_value(self, batch: Batch, world: World) -> None:
        response = browser(world.mara).get(reverse("batch_items_facets", args=[batch.public_id]))

        link = explorer_url(world.project, batch=batch, label="label:reasoning")
        assert f'href="{link}"' in response.content.decode()


class TestExports:
    def get(self, world: World, kind: str, who: str = "mara", **filters: str) -> bytes:
        address = reverse("explorer_export", args=[world.project.slug])
        response = browser(world.people[who]).get(address, {"format": kind, **filters})
        assert response.status_code == 200
        return b"".join(response.streaming_content)  # type: ignore[attr-defined]

    def test_every_format_holds_the_same_responses(self, batch: Batch, world: World) -> None:
        import csv
        import io
        import json
        import zipfile

        from pyarrow import parquet

        lines = [json.loads(line) for line in self.get(world, "jsonl").splitlines()]
        rows = list(csv.DictReader(io.StringIO(self.get(world, "csv").decode())))
        table = parquet.read_table(io.BytesIO(self.get(world, "parquet"))).to_pylist()
        sheet = zipfile.ZipFile(io.BytesIO(self.get(world, "xlsx"))).read("xl/worksheets/sheet1.xml").decode()

        assert len(lines) == len(rows) == len(table) == 8
        assert sheet.count("<row ") == 9
        assert (
            [one["item"] for one in lines] == [one["item"] for one in rows] == [one["item"] for one in table]
        )
        ada = pseudonym(world, "ada")
        first = next(one for one in lines if one["person"] == ada)
        assert first["response"] == {"label": "extraction"}
        assert json.loads(table[lines.index(first)]["response"]) == {"label": "extraction"}
        assert "Ada" not in self.get(world, "csv").decode()

    @pytest.mark.parametrize("seconds", [0.0, 30.0, 1517.721696, 1_234_567.891011])
    def test_every_format_holds_the_same_active_time(
        self, batch: Batch, world: World, seconds: float
    ) -> None:
        import csv
        import io
        import json
        import zipfile

        from pyarrow import parquet

        Assignment.objects.filter(batch=batch).submitted().update(active_seconds=seconds)
        chosen = {"label": "label:neither", "person": pseudonym(world, "cy")}

        lines = [json.loads(line) for line in self.get(world, "jsonl", **chosen).splitlines()]
        rows = list(csv.DictReader(io.StringIO(self.get(world, "csv", **chosen).decode())))
        table = parquet.read_table(io.BytesIO(self.get(world, "parquet", **chosen))).to_pylist()
        book = zipfile.ZipFile(io.BytesIO(self.get(world, "xlsx", **chosen)))
        cells = re.findall(r"<c r=\"\w+\"><v>([^<]+)</v>", book.read("xl/worksheets/sheet1.xml").decode())

        assert {one["active_seconds"] for one in lines} == {seconds}
        assert {one["active_seconds"] for one in table} == {seconds}
        assert {float(one["active_seconds"]) for one in rows} == {seconds}
        assert {float(cell) for cell in cells} == {seconds}
        assert not any("e" in one["active_seconds"] for one in rows)

    def test_only_the_selection_is_in_the_file(self, batch: Batch, world: World) -> None:
        assert len(self.get(world, "jsonl", state="adjudication").splitlines()) == 3

    def test_the_selected_items_alone_are_in_the_file(self, batch: Batch, world: World) -> None:
        first, third = batch.items.get(position=1), batch.items.get(position=3)
        address = reverse("explorer_export", args=[world.project.slug])

        response = browser(world.mara).get(
            address, {"item": [first.public_id, third.public_id], "format": "csv"}
        )

        lines = b"".join(response.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
        assert len(lines) == 1 + first.assignments.submitted().count() + 1, "the header, responses, one skip"
        assert batch.items.get(position=2).public_id not in "".join(lines)

    def test_no_cell_of_a_spreadsheet_is_a_formula(self, world: World) -> None:
        batch = world.batch()
        taken = world.take(batch, "ada")
        assert taken is not None
        assignments.skip(assignment=taken, reason="=HYPERLINK(1)", now=NOON)

        assert ",'=HYPERLINK(1)," in self.get(world, "csv").decode()

    def test_what_is_hidden_is_in_no_file(self, batch: Batch, world: World) -> None:
        for kind in ("jsonl", "csv"):
            said = self.get(world, kind, "ivo").decode()

            assert "reasoning" not in said
            assert "torn" not in said

    def test_too_much_is_refused(self, batch: Batch, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(export, "MOST_ITEMS", 3)
        address = reverse("explorer_export", args=[world.project.slug])

        response = browser(world.mara).get(address, {"format": "csv"})

        assert response.status_code == 400
        assert "more than 3 items" in text(response)


class TestNumbersOfOtherPages:
    def test_those_of_a_batch_lead_to_the_items_that_they_count(self, batch: Batch, world: World) -> None:
        page = browser(world.mara).get(reverse("batch", args=[batch.public_id])).content.decode()

        for selection in (
            {"state": "accepted"},
            {"state": "adjudication"},
            {"skipped": "any"},
            {"flagged": "yes"},
        ):
            link = explorer_url(world.project, batch=batch, **selection)
            number = re.search(rf'<a href="{re.escape(link)}">(\d+)</a>', page)
            assert number is not None, selection
            assert int(number[1]) == len(found(world, **selection)), selection

    def test_labels_that_were_confused_lead_to_their_items(self, batch: Batch, world: World) -> None:
        address = reverse("agreement", args=[world.project.slug])
        page = browser(world.mara).get(address, {"batch": batch.public_id}).content.decode()

        assert explorer_url(world.project, batch=batch, pair="label:extraction~reasoning") in page

    def test_a_reason_for_skipping_leads_to_the_skipped_items(self, batch: Batch, world: World) -> None:
        page = browser(world.mara).get(reverse("batch_quality", args=[batch.public_id])).content.decode()

        link = explorer_url(world.project, batch=batch, person=pseudonym(world, "cy"), skipped="A torn table")
        assert link.replace("&", "&amp;") in page


class TestTheForm:
    """What the form of filters sends, and what its address then names."""

    def test_it_keeps_the_several_values_of_a_filter(self, batch: Batch, world: World) -> None:
        other = world.batch(name="Other")
        address = reverse("explorer", args=[world.project.slug])
        chosen = {"batch": [batch.public_id, other.public_id], "state": ["open", "accepted"]}
        page = browser(world.mara).get(address, chosen).content.decode()

        response = browser(world.mara).get(address, {**sent_by_form(page), "q": ["who"]}, follow=True)

        (redirected, _), *_ = response.redirect_chain
        assert dict(parse_qs(urlsplit(redirected).query)) == {**chosen, "q": ["who"]}
        assert "2 selected" in text(response)

    def test_another_choice_replaces_the_several_values(self, batch: Batch, world: World) -> None:
        address = reverse("explorer", args=[world.project.slug])
        page = browser(world.mara).get(address, {"state": ["open", "accepted"]}).content.decode()

        response = browser(world.mara).get(
            address, {**sent_by_form(page), "state": ["excluded"]}, follow=True
        )

        assert response.redirect_chain[0][0] == f"{address}?state=excluded"

    def test_its_address_names_nothing_that_is_empty(self, batch: Batch, world: World) -> None:
        address = reverse("explorer", args=[world.project.slug])
        page = browser(world.mara).get(address).content.decode()

        response = browser(world.mara).get(address, sent_by_form(page), follow=True)

        assert response.redirect_chain == [(address, 302)]


def sent_by_form(page: str) -> dict[str, list[str]]:
    """What a browser sends for the form of filters as the page has it."""
    form = page.split('class="finding"')[1].split("</form>")[0]
    sent: dict[str, list[str]] = {}
    for tag in re.findall(r"<input [^>]*>", form):
        name, value = re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)
        assert name is not None
        sent.setdefault(name[1], []).append(value[1] if value else "")
    for name, options in re.findall(r'<select name="(\w+)">(.*?)</select>', form):
        values = re.findall(r'<option value="([^"]*)"( selected)?>', options)
        selected = [value for value, is_selected in values if is_selected]
        sent.setdefault(name, []).append([values[0][0], *selected][-1])
    return sent


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("?type=zz", "There is no task type zz."),
        ("?item=zz", "There is no item zz in this project."),
        ("?action=zz", "There is no action zz in this project."),
        ("?example=zz", "There is no item with the example zz in this project."),
        ("?label=zz:yes", "There is no label zz:yes in this project."),
        ("?label=label:zz", "There is no label label:zz in this project."),
        ("?pair=label:zz~reasoning", "There is no label label:zz in this project."),
        ("facets/?label=label:zz", "There is no label label:zz in this project."),
        ("export/?label=label:zz", "There is no label label:zz in this project."),
        ("?verdict=zz", "verdict: zz is not one of fooled, not_fooled,"),
        ("?q=%00", "q: a value has a NUL character. Remove it."),
        ("?until=9999-12-31", "until: 9999-12-31 is out of range."),
        ("facets/?until=9999-12-31", "until: 9999-12-31 is out of range."),
        ("export/?until=9999-12-31", "until: 9999-12-31 is out of range."),
    ],
)
def test_a_value_that_cannot_be_is_named(batch: Batch, world: World, address: str, sentence: str) -> None:
    response = browser(world.mara).get(reverse("explorer", args=[world.project.slug]) + address)

    assert response.status_code == 400
    assert sentence in text(response)


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])
def test_the_first_and_last_days_of_the_calendar_select_everything_in_each_time_zone(
    batch: Batch, world: World, zone: str
) -> None:
    with timezone.override(zone):
        assert found(world, since="1900-01-01", until="9998-12-31") == [0, 1]
        assert found(
            world,
            submitted_from="1900-01-01T00:00:00+14:00",
            submitted_before="9998-12-31T23:59:59-12:00",
        ) == [0, 1]


@pytest.mark.parametrize("label", ["label:neither", "answers:1995", "answerable:yes"])
def test_a_label_that_an_installed_task_type_can_give_is_searched(world: World, label: str) -> None:
    world.batch()

    assert found(world, label=label) == []


def test_a_label_that_somebody_gave_is_searched_though_no_task_type_has_it_now(
    batch: Batch, world: World
) -> None:
    found(world)
    ResponseFact.objects.filter(value="neither").update(name="kind", value="of another version")

    assert found(world, label="kind:of another version") == [1]
    assert found(world, pair="kind:of another version~of another version") == []
    with pytest.raises(BadSelection, match="There is no label kind:of another version"):
        found(world, "ivo", label="kind:of another version")


def test_an_example_whose_items_are_hidden_is_refused_like_one_that_does_not_exist(
    batch: Batch, world: World
) -> None:
    member = Membership.objects.get(person=world.mara, project=world.project)
    projects.change_roles(membership=member, roles=[Role.MANAGER, Role.ANNOTATOR], by=world.mara, now=NOON)
    question = Example(id="w-1", question="When was Heat?", table=FILMS, answers=("1995",))
    hidden = world.batch(name="Second", sources=[world.import_written(question)], size=1, open=False)
    Batch.objects.filter(pk=hidden.pk).update(feeds_from=batch)
    world.import_written(replace(question, id="w-2"), name="in no batch")

    for name in ("w-1", hidden.items.get().example.public_id, "w-2", "elsewhere"):
        with pytest.raises(BadSelection) as refused:
            found(world, example=name)
        assert refused.value.problems == (f"There is no item with the example {name} in this project.",)


def test_pairs_of_labels_are_counted_only_where_the_selection_is_about_all_people(
    batch: Batch, world: World
) -> None:
    address = reverse("explorer", args=[world.project.slug])
    pair = {"pair": "label:extraction~reasoning"}

    of_all = text(browser(world.mara).get(address, pair))
    of_one = text(browser(world.mara).get(address, {**pair, "person": pseudonym(world, "ada")}))

    assert "pair of responses" in of_all or "pairs of responses" in of_all
    assert "of responses" not in of_one


def test_a_line_of_the_list_has_short_labels(batch: Batch, world: World) -> None:
    page = browser(world.mara).get(explorer_url(world.project, state="accepted"))

    listed = text(page).partition("Active time")[2]
    assert "Extraction" in listed
    assert "Extraction:" not in listed


def test_filters_name_labels_and_open_conditions_in_words(world: World) -> None:
    world.batch()
    address = reverse("explorer", args=[world.project.slug])
    chosen = {"label": "answers:1995", "finding": ["nothing_to_check_against", "own_code"]}

    page = text(browser(world.mara).get(address, chosen))

    assert "Answers is 1995" in page
    assert "Open in the checklist is no marked cells and no program" in page
    assert "Open in the checklist is own code" in page


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no statistics of several columns")
def test_postgresql_knows_which_values_of_response_facts_go_together(world: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT stxkind::text, array_length(stxkeys::int2[], 1) FROM pg_statistic_ext"
            " WHERE stxrelid = 'annotation_responsefact'::regclass"
        )
        assert cursor.fetchall() == [("{m}", 3)]
