"""Crowd links that let only signed or listed ids enter: invented ones are refused, and nobody is made of them."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.accounts import crowd_entry, erasure
from annotation.models import CrowdEntry, CrowdLink, ListedParticipant, Person
from annotation.platform.refusals import ActionRefused
from tests.annotation.cast import World
from tests.annotation.test_crowd import make_link

INVENTED = [f"invented-{number}" for number in range(70)]


@pytest.fixture
def link(world: World) -> CrowdLink:
    return make_link(world, parameters=crowd_entry.PARAMETERS["generic"])


def signed(key: str, id: str) -> str:
    return hmac.new(key.encode(), id.encode(), hashlib.sha256).hexdigest()


def enter(link: CrowdLink, **query: str) -> Any:
    """What somebody without a session gets who presses Begin on the link with these parameters."""
    return Client().post(reverse("crowd_enter", args=[link.public_id]), query)


def look(link: CrowdLink, **query: str) -> Any:
    return Client().get(reverse("crowd_enter", args=[link.public_id]), query)


def manager(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def admit(world: World, link: CrowdLink, **sent: str) -> Any:
    address = reverse("crowd_admit", args=["films", link.public_id])
    return manager(world).post(address, {**sent, "confirmed": "yes"}, follow=True)


def require_nobody_came(link: CrowdLink, people: int) -> None:
    assert not CrowdEntry.objects.filter(link=link).exists()
    assert Person.objects.count() == people


class TestSigned:
    def test_seventy_invented_ids_are_refused_with_and_without_a_signature(
        self, world: World, link: CrowdLink
    ) -> None:
        key, people = (
            crowd_entry.require_signatures(link=link, by=world.mara, now=timezone.now()),
            Person.objects.count(),
        )

        for number, id in enumerate(INVENTED):
            sent = {"signature": signed("guess", id)} if number % 2 else {}
            ids = crowd_entry.ids_of(link, {"id": id, **sent})
            with pytest.raises(ActionRefused, match="no valid signature"):
                crowd_entry.enter(link=link, ids=ids, person=None, now=timezone.now())

        require_nobody_came(link, people)
        assert enter(link, id=INVENTED[0], signature=signed(key, INVENTED[1])).status_code == 403
        require_nobody_came(link, people)

    def test_a_signed_id_enters_from_the_page(self, world: World, link: CrowdLink) -> None:
        key = crowd_entry.require_signatures(link=link, by=world.mara, now=timezone.now())
        sent = {"id": "Änne 1", "signature": signed(key, "Änne 1").upper()}

        page = look(link, **sent)
        answer = enter(link, **sent)

        assert f'name="signature" value="{sent["signature"]}"' in page.content.decode()
        assert answer.status_code == 302
        assert CrowdEntry.objects.get().external_id == "Änne 1"

    @pytest.mark.parametrize("query", [{}, {"id": "a"}, {"id": "a", "signature": "é"}])
    def test_the_page_says_what_is_missing(
        self, world: World, link: CrowdLink, query: dict[str, str]
    ) -> None:
        crowd_entry.require_signatures(link=link, by=world.mara, now=timezone.now())

        answer = look(link, **query)

        assert answer.status_code == 403
        assert "The id in this link is missing or has no valid signature." in answer.content.decode()
        assert "Contact the researchers" in answer.content.decode()

    def test_the_page_shows_a_key_once_and_a_new_one_ends_it(self, world: World, link: CrowdLink) -> None:
        first, second = (admit(world, link, signed="yes").context["key"] for _ in range(2))
        shown = manager(world).get(reverse("crowd_link", args=["films", link.public_id])).content.decode()

        assert first != second
        assert second not in shown
        assert "signature=HMAC" in shown
        assert enter(link, id="a", signature=signed(first, "a")).status_code == 403
        assert enter(link, id="a", signature=signed(second, "a")).status_code == 302

    def test_a_key_that_was_ended_stays_ended(self, world: World, link: CrowdLink) -> None:
        first = admit(world, link, signed="yes").context["key"]
        admit(world, link, signed="no")
        assert enter(link, id="a").status_code == 302

        assert admit(world, link, signed="yes").context["key"] != first

    def test_who_is_inside_continues_without_a_signature(self, world: World, link: CrowdLink) -> None:
        client, address = Client(), reverse("crowd_enter", args=[link.public_id])
        client.post(address, {"id": "a"})
        crowd_entry.require_signatures(link=link, by=world.mara, now=timezone.now())

        assert client.get(address, {"id": "a"}).status_code == 200
        assert client.post(address, {"id": "a"}).status_code == 302

    def test_a_signed_link_has_a_key(self, link: CrowdLink) -> None:
        with pytest.raises(IntegrityError), transaction.atomic():
            CrowdLink.objects.filter(pk=link.pk).update(is_signed=True)


class TestListed:
    def test_seventy_invented_ids_are_refused_and_the_listed_enter(
        self, world: World, link: CrowdLink
    ) -> None:
        page = admit(world, link, participants="ann\r\n bob \n\nann\n")
        people = Person.objects.count()
        link.refresh_from_db()

        for id in INVENTED:
            with pytest.raises(ActionRefused, match="not on the list"):
                crowd_entry.enter(link=link, ids=crowd_entry.Ids(id), person=None, now=timezone.now())

        require_nobody_came(link, people)
        assert "Only 2 listed IDs." in page.content.decode()
        assert look(link, id="eve").status_code == enter(link, id="eve").status_code == 403
        assert look(link).status_code == 200  # the id can be entered by hand
        assert [enter(link, id=id).status_code for id in ("ann", "bob")] == [302, 302]

    def test_ids_are_stored_as_digests_that_go_with_the_person(self, world: World, link: CrowdLink) -> None:
        crowd_entry.limit_to(link=link, participants=["ann", "bob"], by=world.mara, now=timezone.now())
        assert all(len(one.digest) == 64 for one in ListedParticipant.objects.all())
        enter(link, id="ann")

        person = CrowdEntry.objects.get().person
        erasure.erase(person=person, by=person, now=timezone.now())

        assert ListedParticipant.objects.count() == 1

    def test_an_empty_list_lets_everybody_enter(self, world: World, link: CrowdLink) -> None:
        crowd_entry.limit_to(link=link, participants=["ann"], by=world.mara, now=timezone.now())

        admit(world, link, participants=" \n")

        assert enter(link, id="eve").status_code == 302

    @pytest.mark.parametrize("ids", [["a" * 201], [str(number) for number in range(10_001)]])
    def test_too_long_ids_and_lists_are_refused(self, world: World, link: CrowdLink, ids: list[str]) -> None:
        with pytest.raises(ActionRefused, match=r"at most 10,?000 ids"):
            crowd_entry.limit_to(link=link, participants=ids, by=world.mara, now=timezone.now())

    def test_both_together_ask_for_both(self, world: World, link: CrowdLink) -> None:
        key = crowd_entry.require_signatures(link=link, by=world.mara, now=timezone.now())
        crowd_entry.limit_to(link=link, participants=["ann"], by=world.mara, now=timezone.now())

        assert enter(link, id="ann").status_code == 403
        assert enter(link, id="eve", signature=signed(key, "eve")).status_code == 403
        assert enter(link, id="ann", signature=signed(key, "ann")).status_code == 302


def test_the_api_creates_keys_and_lists_participants(world: World, link: CrowdLink) -> None:
    address = reverse("api_crowd_admission", args=["films", link.public_id])

    reply = manager(world).post(
        address, {"signed": True, "participants": ["ann"]}, content_type="application/json"
    )
    other = manager(world).post(
        reverse("api_crowd_admission", args=["films", "none"]), {}, content_type="application/json"
    )

    key = reply.json()["key"]
    assert (reply.json()["participants"], other.status_code) == (1, 404)
    assert enter(link, id="ann").status_code == 403
    assert enter(link, id="ann", signature=signed(key, "ann")).status_code == 302
