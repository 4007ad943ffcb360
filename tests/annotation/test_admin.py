"""Django's admin: for administrators alone, to look and not to write, without secrets, under the same policy."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import URLPattern, reverse
from django.utils import timezone

from annotation.access.roles import Permission, Role
from annotation.admin import LEFT_OUT, RESPONSES, SECRET, site
from annotation.models import Annotation, Event, Item, Membership, Person
from annotation.workflow import projects
from config.csp import POLICY
from tests.annotation.cast import NOON, World
from tests.annotation.role_table import EVERYBODY, Things, make_things


@pytest.fixture
def things(world: World) -> Things:
    return make_things(world)


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def addresses(things: Things) -> dict[str, str]:
    """Every address of the admin by name, about the first row of its table."""
    found: dict[str, str] = {}
    for pattern in site.get_urls():
        found |= _of(pattern, "")
    return found


def _of(pattern: Any, prefix: str) -> dict[str, str]:
    here = prefix + str(pattern.pattern)
    if not isinstance(pattern, URLPattern):
        return {name: path for inner in pattern.url_patterns for name, path in _of(inner, here).items()}
    path = re.sub(r"<path:object_id>|<int:\w+>", "1", here)
    path = re.sub(r"\(\?P<app_label>[^)]*\)", "annotation", path)
    path = path.replace("(?P<url>.*)$", "nowhere").replace("^", "").replace("$", "").replace("\\Z", "")
    return {f"{here}": f"/admin/{path}"}


def test_for_everybody_else_there_is_no_admin(things: Things) -> None:
    manager, anonymous = browser(things.world.mara), Client()
    for name, address in addresses(things).items():
        if name not in ("login/", "logout/"):
            assert anonymous.get(address).status_code == 302, name
            assert manager.get(address).status_code == 404, name
    for who in sorted(EVERYBODY - {"root"}):
        for address in ("/admin/", "/admin/annotation/person/", "/admin/annotation/item/1/change/"):
            assert browser(things.world.people[who]).get(address).status_code == 404, (who, address)


def test_signing_in_and_out_are_the_sites_own(things: Things) -> None:
    asked = Client().get("/admin/", follow=True)
    assert asked.redirect_chain[-1][0].startswith("/sign-in/?next=")

    root = browser(things.world.root)
    copy = Client()
    copy.cookies = root.cookies.copy()  # type: ignore[assignment]
    root.post("/admin/logout/")

    assert copy.get("/account/").status_code == 302
    assert browser(things.world.mara).get("/admin/login/").status_code == 404


def test_an_administrator_reads_every_table_and_writes_none(things: Things) -> None:
    root = browser(Person.objects.get(pk=things.world.root.pk))
    assert root.get("/admin/").status_code == 200
    for model in apps.get_app_config("annotation").get_models():
        name = model._meta.model_name
        if name in LEFT_OUT:
            assert not site.is_registered(model)
            continue
        listed = root.get(reverse(f"admin:annotation_{name}_changelist"))
        assert listed.status_code == 200, name
        assert listed["Content-Security-Policy"] == POLICY
        row = model._default_manager.order_by("pk").first()
        if row is not None:
            page = root.get(reverse(f"admin:annotation_{name}_change", args=[row.pk]))
            assert page.status_code == 200, name
            html = page.content.decode()
            assert not re.search(r"\sstyle=|<style|\son[a-z]+=|<script(?![^>]*\bsrc=)", html), name
            for secret in SECRET & {field.name for field in model._meta.get_fields()}:
                assert str(getattr(row, secret)) not in html, (name, secret)
            if name != "person":
                refused = root.post(reverse(f"admin:annotation_{name}_change", args=[row.pk]), {})
                assert refused.status_code in (403, 404), name
            assert root.post(reverse(f"admin:annotation_{name}_delete", args=[row.pk])).status_code in (
                403,
                404,
            )
        assert root.get(reverse(f"admin:annotation_{name}_add")).status_code in (403, 404), name


def test_the_counters_and_rows_of_the_queue_are_the_same_after_everything_was_tried(things: Things) -> None:
    root = browser(things.world.root)
    before = (list(Item.objects.values()), list(Annotation.objects.values()))
    for pk in Item.objects.values_list("pk", flat=True):
        root.post(reverse("admin:annotation_item_change", args=[pk]), {"submitted_count": 3, "is_gold": "on"})

    assert (list(Item.objects.values()), list(Annotation.objects.values())) == before


def test_a_name_and_an_address_are_put_right_and_nothing_else(things: Things) -> None:
    root, ada = browser(things.world.root), things.world.ada
    root.post(
        reverse("admin:annotation_person_change", args=[ada.pk]),
        {"name": "Ada L.", "email": "Ada.L@example.org", "is_administrator": "on", "password": "x"},
    )

    found = Person.objects.get(pk=ada.pk)
    assert (found.name, found.email, found.is_administrator) == ("Ada L.", "ada.l@example.org", False)
    assert found.check_password("tilted tables")
    assert Event.objects.filter(thing="person", after="put right").count() == 1
    assert "Ada" not in str(list(LogEntry.objects.values()))


def test_an_administrator_who_annotates_somewhere_sees_no_responses(things: Things) -> None:
    world = things.world
    projects.add_member(
        project=world.project, person=world.root, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
    )
    root = browser(world.root)

    for name in RESPONSES:
        assert root.get(reverse(f"admin:annotation_{name}_changelist")).status_code == 403, name
    assert root.get(reverse("admin:annotation_batch_changelist")).status_code == 200
    assert Membership.objects.filter(person=world.root).exists()


def test_a_token_opens_no_admin(things: Things) -> None:
    _, secret = projects.make_token(
        person=things.world.root,
        project=things.world.project,
        name="t",
        scopes=list(Permission),
        now=timezone.now(),
    )

    answer = Client().get("/admin/", headers={"Authorization": f"Bearer {secret}"})

    assert answer.status_code == 302
