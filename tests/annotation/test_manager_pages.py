"""Sentences, names and numbers on the pages of a manager: they say what is true there."""

from __future__ import annotations

import html
import re

from django.test import Client

from annotation.models import Person
from tests.annotation.cast import World


def source_of(person: Person, address: str) -> str:
    client = Client()
    client.force_login(person)
    return html.unescape(client.get(address, follow=True).content.decode())


def text_of(person: Person, address: str) -> str:
    main = source_of(person, address).split("<main")[1]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def test_renaming_says_that_the_short_name_stays_and_the_name_can_be_changed(world: World) -> None:
    page = text_of(world.mara, "/projects/films/rename/")

    assert "Cannot be changed" not in page
    assert "The short name in the URL stays, so that links and tokens stay valid." in page
