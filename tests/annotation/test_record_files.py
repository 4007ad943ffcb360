"""Lists of records as files: the rows of their page, by pseudonyms, for those who may read the page."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.access.authorization import Actor
from annotation.accounts import item_history
from annotation.models import Batch, Event, Exclusion, Membership, Person, Release
from annotation.quality import gold
from annotation.workflow import batches, perturbation_runs
from tests.annotation.cast import NOON, World
from tests.annotation.test_mixing import perturbed_thrice
from tests.annotation.test_release_page import labelled, released


def client_of(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def rows_of(
    person: Person, of: str, key: str, name: str, query: dict[str, Any] | None = None
) -> list[dict[str, str]]:
    """The rows of a figure as CSV."""
    response = client_of(person).get(reverse("figure_file", args=[of, key, name, "csv"]), query)
    assert response.status_code == 200, (of, name)
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def status_of(person: Person, of: str, key: str, name: str) -> int:
    address = reverse("figure_file", args=[of, key, name, "csv"])
    return client_of(person).get(address).status_code


def pseudonym(person: Person) -> str:
    return Membership.objects.get(person=person).pseudonym


@pytest.fixture
def batch(world: World) -> Batch:
    """A closed batch of one item: Ada and Cy say extraction, Bo says reasoning; decided."""
    labelled(world, ["extraction", "reasoning", "extraction"], "Types")
    return Batch.objects.get(name="Types")


class TestReleases:
    def test_their_list_is_a_file_with_the_pseudonym_of_who_made_each(
        self, world: World, batch: Batch
    ) -> None:
        released(world, "1.0", ["askew", "hf"])

        (row,) = rows_of(world.rea, "releases", world.project.slug, "releases")

        assert (row["Release"], row["State"], row["Format"]) == ("1.0", "ready", "askew, hf")
        assert row["Created by"] == pseudonym(Release.objects.get().made_by or world.rea)

    def test_the_files_of_a_release_are_listed_with_their_checksums(self, world: World, batch: Batch) -> None:
        release = released(world, "1.0", ["askew", "hf"])

        rows = rows_of(world.rea, "release", release.public_id, "files")
        formats = rows_of(world.rea, "release", release.public_id, "formats")

        assert {row["File"]: row["sha256"] for row in rows} == {
            name: file["sha256"] for name, file in release.manifest["files"].items()
        }
        assert [row["Format"] for row in formats] == ["askew", "hf", "raw records"]
        assert sum(int(row["Bytes"]) for row in formats) == sum(int(row["Bytes"]) for row in rows)

    def test_changed_examples_are_listed_by_file_as_on_the_page(self, world: World, batch: Batch) -> None:
        first = released(world, "1.0")
        perturbed_thrice(world)
        kinds = ["row", "row_shuffle"]
        perturbation_runs.perform(
            perturbation_runs.plan_run(
                project=world.project, kinds=kinds, seeds=[1], now=NOON + timedelta(days=1)
            )
        )
        second = released(world, "2.0")
        address = reverse("compare_releases", args=[second.public_id])
        page = client_of(world.rea).get(address, {"with": first.public_id}).content.decode()

        rows = [
            row
            for name in ("changes", "raw-changes")
            for row in rows_of(world.rea, "compare", second.public_id, name, {"with": first.public_id})
        ]

        examples = page[page.index('id="examples"') :]
        assert [row["File"] for row in rows] == re.findall(r'<th scope="row">([^<]+)</th>', examples)
        ids = {unescape(id) for id in re.findall(r'<code dir="auto">([^<]*)</code>', examples)}
        assert ids
        listed = " ".join(row["Records"] for row in rows)
        assert {id for id in ids if id not in listed} == set()
        assert {(row["Added"] != "0") == ("added: " in row["Records"]) for row in rows} == {True}


class TestTheLog:
    def test_its_file_has_the_entries_of_the_page_by_pseudonym(self, world: World, batch: Batch) -> None:
        for query in ({}, {"thing": "batch"}, {"who": "ada"}):
            page = client_of(world.mara).get(reverse("project_log", args=[world.project.slug]), query)

            rows = rows_of(world.mara, "log", world.project.slug, "log", query)

            assert rows
            assert len(rows) == page.content.decode().count('<th scope="row">')
        assert {row["Person"] for row in rows} == {pseudonym(world.ada)}

    def test_its_file_follows_the_pages_of_the_log(self, world: World, batch: Batch) -> None:
        events = [
            Event(project=world.project, thing="source", thing_id=number, after=f"state {number}", at=NOON)
            for number in range(150)
        ]
        Event.objects.bulk_create(events)
        page = client_of(world.mara).get(reverse("project_log", args=[world.project.slug])).content.decode()
        address = re.search(r'href="(/figures/log/[^"]+\.md)"', page)
        assert address is not None

        first = client_of(world.mara).get(address[1]).content.decode()
        before = {"before": str(Event.objects.get(after="state 50").pk)}
        second = rows_of(world.mara, "log", world.project.slug, "log", before)

        assert "Older entries are on the next page of the log." in first
        assert "state 149" in first
        changes = {row["After"] for row in second}
        assert "state 49" in changes
        assert "state 50" not in changes

    def test_adjudicators_learn_no_annotator_of_an_undecided_item_from_it(self, world: World) -> None:
        undecided = world.batch(size=1, name="Undecided")
        world.label(undecided, "ada", "extraction")
        world.label(undecided, "bo", "reasoning")

        rows = rows_of(world.ivo, "log", world.project.slug, "log", {"thing": "assignment"})
        of_bo = rows_of(world.mara, "log", world.project.slug, "log", {"thing": "assignment", "who": "Bo"})

        assert {row["Person"] for row in rows} == {"an annotator"}
        assert {row["Name"] for row in rows} == {"an undecided item of Undecided"}
        assert {row["Person"] for row in of_bo} == {pseudonym(world.bo)}

    def test_the_history_of_an_item_is_a_file_for_those_who_may_read_it(
        self, world: World, batch: Batch
    ) -> None:
        item = batch.items.get()
        undecided = world.batch(size=1, name="Undecided")
        world.label(undecided, "ada", "extraction")
        waiting = undecided.items.get()
        told = item_history.of_item(item, item_history.Names(Actor(world.mara), world.project))

        rows = rows_of(world.mara, "item", item.public_id, "history")

        assert len(rows) == len(told.moments)
        assert pseudonym(world.ada) in {row["Person"] for row in rows}
        assert "Ada" not in {row["Person"] for row in rows}
        assert status_of(world.ivo, "item", item.public_id, "history") == 200
        assert status_of(world.ivo, "item", waiting.public_id, "history") == 404
        assert status_of(world.ada, "item", item.public_id, "history") == 404


class TestComparedResponses:
    def test_managers_get_pseudonyms_and_others_the_letters_of_the_page(
        self, world: World, batch: Batch
    ) -> None:
        rows = rows_of(world.mara, "calibration", batch.public_id, "responses")
        of_researcher = rows_of(world.rea, "calibration", batch.public_id, "responses")

        assert {row["Annotator"] for row in rows} == {
            pseudonym(world.people[who]) for who in ("ada", "bo", "cy")
        }
        assert {row["Annotator"] for row in of_researcher} == {"A", "B", "C"}
        assert [row["Response"] for row in rows] == [row["Response"] for row in of_researcher]
        assert {row["Annotator"] for row in rows if row["Differs from the majority"] == "yes"} == {
            pseudonym(world.bo)
        }
        assert {row["Responses to the item"] for row in rows} == {"different"}

    def test_undecided_items_are_in_no_file_of_an_adjudicator(self, world: World) -> None:
        undecided = world.batch(size=1, name="Undecided")
        world.label(undecided, "ada", "extraction")
        world.label(undecided, "bo", "reasoning")

        assert status_of(world.ivo, "calibration", undecided.public_id, "responses") == 404
        assert len(rows_of(world.rea, "calibration", undecided.public_id, "responses")) == 2

    def test_whoever_reads_the_file_never_gets_the_item(self, world: World, batch: Batch) -> None:
        item = batch.items.get()
        assert not Exclusion.objects.filter(item=item, person=world.rea).exists()

        rows_of(world.rea, "calibration", batch.public_id, "responses")

        assert Exclusion.objects.filter(item=item, person=world.rea).exists()


def test_gold_answers_are_a_file_for_managers_who_do_not_annotate(world: World) -> None:
    first, *_ = world.source.examples.order_by("position")
    terms: dict[str, Any] = {"purpose": "qualification", "pass_percent": 50, "open": False, "name": "Test"}
    test = world.batch(only=[first.external_id], **terms)
    gold.set_gold(batch=test, example=first, data={"label": "extraction"}, by=world.mara, now=NOON)
    batches.open_batch(batch=test, by=world.mara, now=NOON)
    world.label(test, "ada", "extraction")

    (row,) = rows_of(world.mara, "gold", test.public_id, "gold-answers")

    assert (row["Question"], row["Example"], row["Responses"]) == (first.question, first.external_id, "1")
    assert "xtract" in row["Expected"]
    assert status_of(world.rea, "gold", test.public_id, "gold-answers") == 404
    assert status_of(world.ada, "gold", test.public_id, "gold-answers") == 404


def test_versions_of_texts_are_files_for_managers(world: World, batch: Batch) -> None:
    key = f"{world.project.slug}.question_type"

    (row,) = rows_of(world.mara, "guidelines", key, "versions")

    assert (row["Version"], row["Annotations"]) == ("1", "3")
    assert status_of(world.ada, "guidelines", key, "versions") == 404
    assert status_of(world.mara, "guidelines", f"{world.project.slug}.nonsense", "versions") == 404


def test_the_questions_of_a_source_are_a_file_with_the_rows_of_the_page(world: World) -> None:
    rows = rows_of(world.mara, "source", world.source.public_id, "questions")

    examples = world.source.examples.originals().order_by("position")
    assert [row["Example"] for row in rows] == list(examples.values_list("external_id", flat=True))
