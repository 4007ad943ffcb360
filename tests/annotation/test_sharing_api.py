"""Managing over the REST interface: the state of a batch, other terms, its accounts, people's shares."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.access.roles import Permission
from annotation.models import Batch, Membership
from annotation.queue import allocation
from annotation.workflow import projects
from tests.annotation.cast import World


@pytest.fixture
def ask(world: World) -> Any:
    """A manager's program: method, address under /api/batches/, body."""
    _, secret = projects.make_token(
        person=world.mara, project=world.project, name="t", scopes=[Permission.SET_UP], now=timezone.now()
    )
    client = Client(headers={"Authorization": f"Bearer {secret}"})

    def asked(address: str, body: dict[str, Any] | None = None) -> Any:
        path = f"/api/batches/{address}/"
        if body is None:
            return client.get(path)
        return client.post(path, body, content_type="application/json")

    return asked


def test_a_program_pauses_resumes_and_closes(world: World, ask: Any) -> None:
    batch = world.batch()
    states = [
        ask(f"{batch.public_id}/state", {"action": one}).json()["state"]
        for one in ("pause", "pause", "resume")
    ]
    assert states == ["paused", "paused", "open"]
    assert ask(f"{batch.public_id}/state", {"action": "close"}).json()["state"] == "closed"
    refused = ask(f"{batch.public_id}/state", {"action": "resume"})
    assert (refused.status_code, refused.json()["code"]) == (409, "batch_closed")


def test_a_change_says_what_it_does_and_waits_for_the_second_request(world: World, ask: Any) -> None:
    batch = world.batch(overlap=1)
    said = ask(f"{batch.public_id}/change", {"terms": {"overlap": 2}}).json()
    assert said["effects"][1:] == [
        "Undecided items get more slots, or lose free ones. Responses are kept.",
        "4 items are undecided: 1 more slot for each.",
    ]
    assert said["changed"] == []
    assert Batch.objects.get(pk=batch.pk).overlap == 1
    done = ask(f"{batch.public_id}/change", {"terms": {"overlap": 2}, "confirmed": True}).json()
    assert done["changed"] == ["overlap"]
    assert Batch.objects.get(pk=batch.pk).overlap == 2


@pytest.mark.parametrize(
    "terms", [{"seed": 3}, {"requires": 5}, {"caps": "few"}, {"overlap": True}, {"resolve": "x"}]
)
def test_terms_that_do_not_hold_are_refused_in_words(world: World, ask: Any, terms: dict[str, Any]) -> None:
    refused = ask(f"{world.batch().public_id}/change", {"terms": terms, "confirmed": True})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


def test_accounts_and_shares_name_people_by_their_pseudonyms(world: World, ask: Any) -> None:
    batch = world.batch(strategy="split", overlap=1)
    names = {row.person.name: row.pseudonym for row in Membership.objects.select_related("person")}
    before = allocation.reserved_counts([batch])
    world.label(batch, "ada", "extraction")
    body = {"annotator": names["Ada"], "to": [names["Bo"]]}
    assert ask(f"{batch.public_id}/shares", body).json() == {
        "moved": before[batch.pk, world.ada.pk] - 1,
        "opened": 0,
        "returned": 0,
    }
    found = {one.pop("annotator"): one for one in ask(f"{batch.public_id}/accounts").json()["accounts"]}
    nothing = {"assigned": 0, "submitted": 0, "skipped": 0, "open": 0, "returned": 0, "kept": 0}
    assert found[names["Ada"]] == nothing | {"assigned": 1, "submitted": 1}
    assert "Ada" not in str(found)
    assert ask(f"{batch.public_id}/shares", {"annotator": "p-nobody"}).status_code == 422
