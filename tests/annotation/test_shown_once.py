"""Keys, tokens and links are shown on a page that is read, once: loading it again creates no others."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Event, Person
from tests.annotation.cast import World
from tests.annotation.test_crowd import come, make_link


def new_key(world: World) -> tuple[str, dict[str, Any]]:
    return reverse("crowd_admit", args=["films", make_link(world).public_id]), {"signed": "yes"}


def return_link(world: World) -> tuple[str, dict[str, Any]]:
    link = make_link(world)
    come(link)
    return reverse("crowd_let_back", args=["films", link.public_id, link.entries.get().pk]), {}


def token(world: World) -> tuple[str, dict[str, Any]]:
    return reverse("make_token"), {"name": "nightly", "project": "films", "scopes": ["release"]}


def invitations(world: World) -> tuple[str, dict[str, Any]]:
    addresses = "\n".join(f"person-{number}@{'long' * 12}.{'long' * 12}.org" for number in range(200))
    return reverse("people", args=["films"]), {"addresses": addresses, "roles": ["annotator"]}


def invitations_of_members(world: World) -> tuple[str, dict[str, Any]]:
    twice = "\n".join(f"person-{number % 100}@{'long' * 12}.{'long' * 12}.org" for number in range(200))
    return reverse("people", args=["films"]), {"addresses": twice, "roles": ["annotator"]}


def password_link(world: World) -> tuple[str, dict[str, Any]]:
    Person.objects.filter(pk=world.mara.pk).update(is_administrator=True)
    return reverse("account_of", args=[world.ada.pk]), {"action": "reset"}


SECRETS = re.compile(r'<input id="(?:key|way|secret|link|link-\d+)" value="([^"]+)" readonly')


@pytest.mark.parametrize(
    ("form", "number"),
    [
        (new_key, 1),
        (return_link, 1),
        (token, 1),
        (invitations, 200),
        (invitations_of_members, 100),
        (password_link, 1),
    ],
)
def test_the_answer_to_the_form_leads_to_a_page_that_shows_the_secrets_once(
    world: World, form: Any, number: int
) -> None:
    mara = Client()
    address, sent = form(world)
    mara.force_login(Person.objects.get(pk=world.mara.pk))

    answer = mara.post(address, sent)
    events = Event.objects.count()
    page, again = (mara.get(answer["Location"]) for _ in range(2))

    assert answer.status_code == 302
    cookies = {name: len(morsel.OutputString()) for name, morsel in answer.cookies.items()}
    assert max(cookies.values()) < 4096, cookies
    assert page["Cache-Control"] == "no-store"
    secrets = {text for text in SECRETS.findall(page.content.decode()) if "/crowd/enter" not in text}
    shown_again = set(SECRETS.findall(again.content.decode()))
    assert len(secrets - shown_again) == number
    assert Event.objects.count() == events
