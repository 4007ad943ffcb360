"""The REST interface of managing: projects, study files, batches, members, gold, agreement, the log, downloads."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.test import Client
from django.utils import timezone

from annotation.access.roles import Permission, Role
from annotation.models import ApiToken, Assignment, Batch, Gold, Membership, Person, Project
from annotation.queue import resolutions
from annotation.releases import creation
from annotation.workflow import batches, projects
from tests.annotation.cast import NOON, World
from tests.annotation.role_table import differ
from tests.annotation.test_api import Program, program

HERE = "projects/films"
NEW = {"slug": "games", "name": "Games", "time_zone": "Europe/Paris"}


@pytest.fixture
def mara(world: World) -> Program:
    return program(world, "mara")


def worked(world: World) -> Batch:
    """A closed batch with the same label of three people for each item."""
    batch = world.batch(size=1, name="Worked")
    for who in ("ada", "bo", "cy"):
        world.label(batch, who, "extraction")
    batches.close_batch(batch=batch, by=world.mara, now=timezone.now())
    return batch


# -- a new project ----------------------------------------------------------------------------------


def test_a_token_creates_a_project_and_gets_a_token_for_it_that_ends_with_itself(
    world: World, mara: Program
) -> None:
    created = mara("POST", "projects/", NEW)

    assert created.status_code == 201
    assert {name: created.body[name] for name in NEW} == NEW
    own = ApiToken.objects.get(project__slug="games")
    first = ApiToken.objects.get(project=world.project)
    assert (own.person, own.scopes, own.expires_at) == (world.mara, first.scopes, first.expires_at)
    there = Program(created.body["token"])
    assert [member["roles"] for member in there("GET", "projects/games/members/").body] == [["manager"]]
    assert mara("GET", "projects/games/members/").status_code == 404


def test_a_session_creates_a_project_without_a_token(world: World) -> None:
    client = Client()
    client.force_login(world.mara)

    created = client.post("/api/projects/", NEW, content_type="application/json")

    assert (created.status_code, created.json()["token"]) == (201, None)
    assert not ApiToken.objects.filter(project__slug="games").exists()


def test_a_name_that_is_taken_is_refused(world: World, mara: Program) -> None:
    taken = mara("POST", "projects/", NEW | {"slug": world.project.slug})

    assert (taken.status_code, taken.body["code"]) == (409, "name_taken")


# -- study files ------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_study_file_is_planned_first_and_applied_when_it_is_confirmed(world: World, mara: Program) -> None:
    text = mara("GET", f"{HERE}/study/").body["study"]
    study = yaml.safe_load(text)
    study["project"]["name"] = "Films of the world"
    changed = yaml.safe_dump(study, sort_keys=False)

    planned = mara("POST", f"{HERE}/study/", {"study": changed})

    assert (planned.status_code, planned.body["job"]) == (200, None)
    assert "project" in {change["section"] for change in planned.body["changes"]}
    assert Project.objects.get(pk=world.project.pk).name == world.project.name
    applied = mara("POST", f"{HERE}/study/", {"study": changed, "confirmed": True})
    assert applied.status_code == 202
    assert mara("GET", f"jobs/{applied.body['job']}/").body["state"] == "done"
    assert Project.objects.get(pk=world.project.pk).name == "Films of the world"


def test_the_faults_of_a_study_file_have_lines(mara: Program) -> None:
    refused = mara("POST", f"{HERE}/study/", {"study": "study: 1\nproject:\n  slug: films\n  colour: red\n"})

    assert refused.status_code == 422
    assert 4 in {fault["line"] for fault in refused.body["faults"]}


def test_a_study_file_of_another_project_is_refused(mara: Program) -> None:
    text = mara("GET", f"{HERE}/study/").body["study"].replace("slug: films", "slug: games")

    refused = mara("POST", f"{HERE}/study/", {"study": text, "confirmed": True})

    assert (refused.status_code, refused.body["code"]) == (422, "invalid_request")
    assert "games" in refused.body["detail"]


def test_a_manager_who_annotates_gets_a_study_file_without_gold(world: World, mara: Program) -> None:
    batch = world.batch(name="Gold", open=False)
    example = world.source.examples.all()[0]
    mara("POST", f"batches/{batch.public_id}/gold/", gold_of(example))
    batches.open_batch(batch=batch, by=world.mara, now=timezone.now())
    assert "gold" in mara("GET", f"{HERE}/study/").body["study"]

    projects.add_member(project=world.project, person=world.mara, roles=[Role.ANNOTATOR], by=None, now=NOON)

    assert "reasoning" not in mara("GET", f"{HERE}/study/").body["study"]


# -- batches ----------------------------------------------------------------------------------------


def test_a_batch_is_planned_with_a_sample_and_terms(world: World, mara: Program) -> None:
    request = {
        "name": "By program",
        "type": "question_type",
        "sources": [world.source.public_id],
        "size": 2,
        "seed": 7,
        "terms": {"overlap": 2},
    }

    planned = mara("POST", f"{HERE}/batches/", request)

    assert planned.status_code == 201
    assert (planned.body["state"], planned.body["items"]) == ("planned", 2)
    batch = Batch.objects.get(public_id=planned.body["id"])
    assert (batch.overlap, batch.seed, batch.made_by) == (2, 7, world.mara)
    fed = mara(
        "POST", f"{HERE}/batches/", {"name": "Fed", "type": "relevant_cells", "feeds_from": batch.public_id}
    )
    assert Batch.objects.get(public_id=fed.body["id"]).feeds_from == batch
    opened = mara("POST", f"batches/{batch.public_id}/state/", {"action": "open"})
    assert opened.body["state"] == "open"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"terms": {"overlap": 0}}, 422),
        ({"terms": {"colour": "red"}}, 422),
        ({"sources": ["nowhere"]}, 422),
        ({"type": "nothing"}, 404),
        ({"feeds_from": "nowhere"}, 404),
        ({"terms": {"requires": "nowhere"}}, 404),
    ],
)
def test_a_batch_with_something_wrong_is_refused(
    world: World, mara: Program, change: dict[str, Any], status: int
) -> None:
    request = {"name": "Bad", "type": "question_type", "sources": [world.source.public_id]}

    refused = mara("POST", f"{HERE}/batches/", request | change)

    assert refused.status_code == status
    assert not Batch.objects.filter(name="Bad").exists()


# -- people -----------------------------------------------------------------------------------------


def test_members_are_invited_get_other_roles_and_are_removed(world: World, mara: Program) -> None:
    new = mara("POST", f"{HERE}/members/", {"names": ["Dee", "Eli"], "roles": ["annotator"]})
    assert new.status_code == 201
    assert [each["name"] for each in new.body["invitations"]] == ["Dee", "Eli"]
    path = new.body["invitations"][0]["link"].removeprefix("http://testserver")
    assert Client().get(path).status_code == 200
    cy = Membership.objects.get(person=world.cy)
    here = f"{HERE}/members/{cy.pseudonym}/"

    changed = mara("PATCH", here, {"roles": ["viewer", "adjudicator"]})

    assert changed.body["roles"] == ["adjudicator", "viewer"]
    assert mara("DELETE", here).status_code == 204
    cy.refresh_from_db()
    assert cy.removed_at is not None
    assert cy.pseudonym not in {row["pseudonym"] for row in mara("GET", f"{HERE}/members/").body}
    assert mara("DELETE", here).status_code == 404


def test_the_only_manager_stays(world: World, mara: Program) -> None:
    pseudonym = Membership.objects.get(person=world.mara).pseudonym

    refused = mara("DELETE", f"{HERE}/members/{pseudonym}/")

    assert (refused.status_code, refused.body["code"]) == (409, "still_involved")


# -- gold and agreement -----------------------------------------------------------------------------


def gold_of(example: Any, label: str = "reasoning") -> dict[str, Any]:
    return {"example": example.external_id, "response": {"label": label}, "why": "counted"}


def test_gold_is_set_changed_listed_and_removed(world: World, mara: Program) -> None:
    batch, example = world.batch(name="Gold", open=False), world.source.examples.all()[0]
    here = f"batches/{batch.public_id}/gold/"

    first = mara("POST", here, gold_of(example))
    again = mara("POST", here, gold_of(example, "extraction") | {"source": world.source.public_id})

    assert (first.status_code, again.status_code) == (201, 201)
    (row,) = mara("GET", here).body
    assert row == again.body
    assert (row["response"], row["why"]) == ({"label": "extraction"}, "counted")
    assert mara("DELETE", f"{here}{row['item']}/").status_code == 204
    assert not Gold.objects.exists()
    wrong = mara("POST", here, gold_of(example, "no such label"))
    assert (wrong.status_code, wrong.body["code"]) == (422, "invalid_response")
    assert mara("POST", here, gold_of(example) | {"example": "nothing"}).status_code == 422


def test_agreement_has_the_statistics_of_the_page(world: World, mara: Program) -> None:
    figures = mara("GET", f"batches/{worked(world).public_id}/agreement/").body["figures"]

    shares = {figure["statistic"]: figure for figure in figures}
    assert shares["percent_agreement"]["value"] == 1.0
    assert shares["percent_agreement"]["raters"] == 3


def test_people_who_annotate_in_an_open_batch_see_neither_agreement_nor_gold(
    world: World, mara: Program
) -> None:
    batch = world.batch()
    projects.add_member(project=world.project, person=world.mara, roles=[Role.ANNOTATOR], by=None, now=NOON)

    for path in ("agreement", "gold"):
        refused = mara("GET", f"batches/{batch.public_id}/{path}/")
        assert (refused.status_code, refused.body["code"]) == (409, "still_involved")


# -- adjudication, the log, releases, simulation ----------------------------------------------------


def test_one_queue_of_adjudication_has_the_items_of_all_batches(world: World) -> None:
    both = [world.batch(name="First"), world.batch(name="Second")]
    for batch in both:
        differ(world, batch)

    waiting = program(world, "ivo")("GET", f"{HERE}/adjudication/").body

    assert {row["batch"] for row in waiting} == {batch.public_id for batch in both}
    assert all(resolutions.waiting(batch).count() == 1 for batch in both)


def test_the_events_can_be_followed(world: World, mara: Program) -> None:
    newest = mara("GET", f"{HERE}/events/").body["results"][0]["id"]
    batch = world.batch(name="Followed")

    feed = mara("GET", f"{HERE}/events/?after={newest}&thing=batch").body

    assert feed["is_settled"] is True
    assert [(row["thing"], row["about"], row["after"]) for row in feed["results"]] == [
        ("batch", "Followed", "planned"),
        ("batch", "Followed", "open"),
    ]
    pseudonym = Membership.objects.get(person=world.mara).pseudonym
    assert {row["who"] for row in feed["results"]} == {pseudonym}
    assert batch.public_id in feed["results"][0]["page"]
    last = feed["results"][-1]["id"]
    assert mara("GET", f"{HERE}/events/?after={last}").body["results"] == []
    assert mara("GET", f"{HERE}/events/?before={newest}").body["results"][0]["id"] < newest
    assert mara("GET", f"{HERE}/events/?after=never").status_code == 422


def test_a_release_is_downloaded_as_on_its_page(world: World, mara: Program) -> None:
    worked(world)
    release = creation.make_release(
        project=world.project, name="v1", format="askew", by=world.mara, now=timezone.now()
    )
    client = Client()
    client.force_login(world.mara)

    reply: Any = mara.client.get(f"/api/releases/{release.public_id}/download/", headers=mara.headers)

    page: Any = client.get(f"/releases/{release.public_id}/download/")
    assert reply["Content-Type"] == "application/zip"
    assert b"".join(reply.streaming_content) == b"".join(page.streaming_content)


@pytest.mark.django_db(transaction=True)
def test_a_manager_simulates_a_batch_unless_people_annotated_in_it(world: World, mara: Program) -> None:
    batch, begun = world.batch(name="New", size=2), world.batch(name="Begun")
    world.label(begun, "ada", "extraction")
    request = {"annotators": 3, "seed": 1}

    simulated = mara("POST", f"batches/{batch.public_id}/simulation/", request)

    assert simulated.status_code == 202
    done = mara("GET", f"jobs/{simulated.body['id']}/").body
    assert (done["state"], sum(counts["submitted"] for counts in done["result"]["simulated"].values())) == (
        "done",
        6,
    )
    assert Assignment.objects.filter(batch=batch, person__is_simulated=True).count() == 6
    refused = mara("POST", f"batches/{begun.public_id}/simulation/", request)
    assert (refused.status_code, refused.body["code"]) == (409, "still_involved")
    assert not Person.objects.filter(is_simulated=False, name__startswith="Simulated").exists()


def test_without_the_scope_a_token_does_nothing_of_it(world: World) -> None:
    narrow = program(world, "mara", Permission.SEE_PROGRESS)

    assert narrow("POST", "projects/", NEW).status_code == 404
    assert narrow("GET", f"{HERE}/members/").status_code == 404
    assert narrow("GET", f"{HERE}/events/").status_code == 200
