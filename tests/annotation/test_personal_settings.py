"""How pages look and act for one person: stored per person, rendered by the server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.accounts import personal_data, personal_settings
from annotation.models import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Person:
    return Person.objects.create_person("Ada", "ada@example.org", "long and secret")


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def root(client: Client) -> str:
    page = client.get("/account/").content.decode()
    return page[page.index("<html") : page.index(">", page.index("<html"))]


def test_a_choice_is_an_attribute_of_every_page_and_the_default_is_none(ada: Person) -> None:
    client = signed_in(ada)
    assert "data-" not in root(client)
    client.post("/account/display/", {"theme": "dark", "layout": "left", "density": "normal"})
    assert root(client).endswith('data-theme="dark" data-layout="left"')
    client.post("/account/display/", {"theme": "system"})
    assert root(client).endswith('data-layout="left"')
    ada.refresh_from_db()
    assert ada.personal_settings == {"layout": "left"}


@pytest.mark.parametrize("values", [{"theme": "pink"}, {"size": "large"}, {"theme": ""}, {}])
def test_what_is_no_option_is_left_out(ada: Person, values: dict[str, str]) -> None:
    personal_settings.change(ada, {"density": "compact"})
    personal_settings.change(ada, values)
    assert personal_settings.settings_of(ada)["density"] == "compact"
    assert ada.personal_settings == {"density": "compact"}


def test_a_stored_value_that_no_longer_exists_is_the_default(ada: Person) -> None:
    ada.personal_settings = {"theme": '"><script>', "gone": "x"}
    assert personal_settings.attributes(ada) == ""


@pytest.mark.parametrize(
    ("back", "address"),
    [
        ("/projects/", "/projects/"),
        ("https://example.org/", "/account/"),
        ("//example.org/", "/account/"),
        ("", "/account/"),
    ],
)
def test_saving_leads_back_on_this_site_only(ada: Person, back: str, address: str) -> None:
    answer: Any = signed_in(ada).post("/account/display/", {"theme": "light", "next": back})
    assert answer["Location"] == address


def test_nobody_else_can_change_them(ada: Person) -> None:
    assert Client().post("/account/display/", {"theme": "dark"}).status_code == 302
    ada.refresh_from_db()
    assert ada.personal_settings == {}


def test_they_are_part_of_the_own_data(ada: Person) -> None:
    personal_settings.change(ada, {"click_submits": "off"})
    exported = personal_data.export(ada, now=timezone.now())
    assert json.loads(json.dumps(exported["account"]))["personal_settings"] == {"click_submits": "off"}
