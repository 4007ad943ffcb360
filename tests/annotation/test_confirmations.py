"""Acts that cannot be undone ask first: the first request shows what they do and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from annotation.accounts import crowd_entry
from annotation.models import (
    ApiToken,
    Consent,
    CrowdLink,
    Gold,
    ListedParticipant,
    Person,
    Project,
    SavedView,
)
from annotation.quality import consent, gold
from tests.annotation.cast import NOON, World
from tests.annotation.role_table import Things, a_crowd_link, a_saved_view, make_things

pytestmark = pytest.mark.django_db


def rows(*models: type[Model]) -> list[Any]:
    return [list(model._default_manager.order_by("pk").values()) for model in models]


@pytest.fixture
def things(world: World) -> Things:
    return make_things(world)


def acts(things: Things) -> dict[str, tuple[str, str, dict[str, str], type[Model]]]:
    """By act: who does it, where, with what form, and what it changes."""
    world, slug = things.world, things.world.project.slug
    text = consent.write(project=world.project, text="Yes?", by=world.mara, now=NOON)
    consent.agree(project=world.project, person=world.ada, version=text.number, now=NOON)
    link = reverse("crowd_close", args=a_crowd_link(things))
    admission, restricted = reverse("crowd_admit", args=a_crowd_link(things)), CrowdLink.objects.get()
    crowd_entry.require_signatures(link=restricted, by=world.mara, now=NOON)
    crowd_entry.limit_to(link=restricted, participants=["cem", "dan"], by=world.mara, now=NOON)
    account = reverse("account_of", args=[world.ada.pk])
    batch = world.batch("question_type", size=1, name="With gold")
    example = world.source.examples.exclude(items__batch=batch).order_by("position")[0]
    made = gold.set_gold(batch=batch, example=example, data={"label": "extraction"}, by=world.mara, now=NOON)
    removal = {"action": f"remove:{made.item.public_id}"}
    return {
        "remove gold answer": ("mara", reverse("gold", args=[batch.public_id]), removal, Gold),
        "withdraw consent": ("ada", reverse("consent", args=[slug]), {"action": "withdraw"}, Consent),
        "stop consent": ("mara", reverse("consent", args=[slug]), {"action": "stop"}, Project),
        "close link": ("mara", link, {}, CrowdLink),
        "create new key": ("mara", admission, {"signed": "yes"}, CrowdLink),
        "end signatures": ("mara", admission, {"signed": "no"}, CrowdLink),
        "replace list": ("mara", admission, {"participants": "ann\r\nbea"}, ListedParticipant),
        "empty list": ("mara", admission, {"participants": ""}, ListedParticipant),
        "revoke token": ("ada", reverse("revoke_token", args=[things.token.public_id]), {}, ApiToken),
        "delete view": ("mara", reverse("delete_view", args=a_saved_view(things)), {}, SavedView),
        "close account": ("root", account, {"action": "close"}, Person),
        "make administrator": ("root", account, {"action": "administrator"}, Person),
    }


@pytest.mark.parametrize(
    "act",
    [
        "remove gold answer",
        "withdraw consent",
        "stop consent",
        "close link",
        "create new key",
        "end signatures",
        "replace list",
        "empty list",
        "revoke token",
        "delete view",
        "close account",
        "make administrator",
    ],
)
def test_an_act_asks_first_and_is_done_once_confirmed(things: Things, act: str) -> None:
    name, address, form, model = acts(things)[act]
    client = Client()
    client.force_login(things.world.people[name])
    before = rows(model)

    asked = client.post(address, form)

    assert asked.status_code == 200
    assert b'name="confirmed"' in asked.content
    assert rows(model) == before
    client.post(address, {**form, "confirmed": "yes"})
    assert rows(model) != before


def test_a_list_of_several_lines_survives_the_question(things: Things) -> None:
    _, address, form, model = acts(things)["replace list"]
    client = Client()
    client.force_login(things.world.mara)

    asked = client.post(address, form)

    assert ("participants", form["participants"]) in asked.context["sent"]
    client.post(address, {**dict(asked.context["sent"]), "confirmed": "yes"})
    assert model._default_manager.count() == 2
