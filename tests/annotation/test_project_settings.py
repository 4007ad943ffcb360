"""The settings of a project are on one page, each section a form of its own."""

from __future__ import annotations

from typing import Any

from django.test import Client

from annotation.models import Event, Project, Source
from tests.annotation.cast import World

SETTINGS = "/projects/films/rename/"


def client(world: World) -> Client:
    browser = Client()
    browser.force_login(world.mara)
    return browser


def save(world: World, section: str, **fields: Any) -> Any:
    return client(world).post(SETTINGS, {"section": section, **fields}, follow=True)


def test_the_page_has_pay_licences_formats_and_retention(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(
        pay={"currency": "EUR", "per_hour": 15}, release={"formats": ["hf"], "mix": 3}
    )

    html = client(world).get(SETTINGS).content.decode()

    for name, value in (("currency", "EUR"), ("per_hour", "15"), ("mix", "3")):
        assert f'name="{name}" value="{value}"' in html
    assert f'name="{world.source.public_id}"' in html
    assert 'value="hf"' in html
    assert "Uploaded files are deleted after an import" in html


def test_pay_is_saved_and_nothing_else_changes(world: World) -> None:
    save(world, "pay", currency="EUR", per_hour="15", items_per_day="60")

    project = Project.objects.get(pk=world.project.pk)
    assert project.pay == {"currency": "EUR", "per_hour": 15}
    assert (project.caps, project.name) == ({"items_per_day": 60}, world.project.name)


def test_a_licence_is_saved_and_in_the_log(world: World) -> None:
    source = world.source.public_id

    save(world, "licences", **{source: "CC-BY-4.0"})
    save(world, "licences", **{source: "CC-BY-4.0"})

    assert Source.objects.get(public_id=source).licence == "CC-BY-4.0"
    (event,) = Event.objects.filter(thing="source", thing_id=world.source.pk, after="terms changed")
    assert event.detail == {"what": "licence", "from": world.source.licence, "to": "CC-BY-4.0"}
    too_long = save(world, "licences", **{source: "x" * 81})
    assert "at most 80 characters" in too_long.content.decode()


def test_formats_are_what_the_next_release_begins_with(world: World) -> None:
    save(world, "formats", format=["hf", "askew"], design="plain")

    project = Project.objects.get(pk=world.project.pk)
    assert project.release == {"formats": ["askew", "hf"], "prompts": {"design": "plain"}}
    page = client(world).get("/projects/films/releases/").content.decode()
    assert '<option value="plain" selected>' in page
    refused = save(world, "formats", format=["freb_tqa"], mix="7")
    assert "does not support mixes" in refused.content.decode()
    save(world, "formats")
    assert Project.objects.get(pk=world.project.pk).release == {}


def test_a_section_that_is_unknown_changes_nothing(world: World) -> None:
    before = Project.objects.values().get(pk=world.project.pk)

    assert save(world, "colour", name="Red").status_code == 200

    assert Project.objects.values().get(pk=world.project.pk) == before
