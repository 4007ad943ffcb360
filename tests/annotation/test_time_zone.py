"""The time zone of the browser is a person's default: taken at the first sign-in, and never again."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from annotation.access.roles import Role
from annotation.models import Person
from annotation.workflow import projects
from tests.annotation.cast import World

SIGN_IN = {"username": "ada@example.org", "password": "tilted tables"}


def zone(email: str) -> str:
    return Person.objects.get(email=email).time_zone


def test_the_first_sign_in_takes_the_time_zone_of_the_browser(world: World) -> None:
    Client().post("/sign-in/", {**SIGN_IN, "time_zone": "Asia/Tokyo"})

    assert zone("ada@example.org") == "Asia/Tokyo"


def test_a_later_sign_in_leaves_the_time_zone_alone(world: World) -> None:
    Client().post("/sign-in/", SIGN_IN)

    Client().post("/sign-in/", {**SIGN_IN, "time_zone": "Asia/Tokyo"})

    assert zone("ada@example.org") == "UTC"


def test_a_time_zone_that_was_chosen_stays(world: World) -> None:
    projects.change_person(person=world.ada, name="Ada", time_zone="Europe/Oslo")

    Client().post("/sign-in/", {**SIGN_IN, "time_zone": "Asia/Tokyo"})

    assert zone("ada@example.org") == "Europe/Oslo"


@pytest.mark.parametrize("unknown", ["", "Mars/North", "../etc/passwd", "x" * 100])
def test_an_unknown_time_zone_is_ignored(world: World, unknown: str) -> None:
    answer = Client().post("/sign-in/", {**SIGN_IN, "time_zone": unknown})

    assert answer.status_code == 302
    assert zone("ada@example.org") == "UTC"


def test_whoever_registers_by_an_invitation_gets_the_time_zone_of_the_browser(world: World) -> None:
    _, token = projects.invite(
        project=world.project, roles=[Role.ANNOTATOR], by=world.mara, now=timezone.now()
    )
    given = {
        "name": "Dana",
        "email": "dana@example.org",
        "password": "tilted tables",
        "time_zone": "Asia/Tokyo",
    }

    Client().post(f"/join/{token}/", given)

    assert zone("dana@example.org") == "Asia/Tokyo"


def test_a_new_project_is_offered_the_time_zone_of_its_manager(world: World) -> None:
    projects.change_person(person=world.mara, name="Mara", time_zone="Europe/Oslo")
    client = Client()
    client.force_login(world.mara)

    page = client.get("/projects/new/").content.decode()

    assert '<option value="Europe/Oslo" selected>' in page
