"""Crowd entry: one link for many, one person for each id, the ids in no log and no export, a code at the end."""

from __future__ import annotations

import http.client
import json
import logging
import os
import re
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access.roles import Role
from annotation.accounts import crowd_entry
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    CrowdEntry,
    CrowdLink,
    Event,
    Invitation,
    Membership,
    Person,
    Qualification,
)
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, verification
from annotation.workflow import assignments, batches, projects
from tests.annotation.cast import NOON, World
from tests.waiting import listens, wait_until

PID = "5f9d1c0prolificid77"
QUERY = {"PROLIFIC_PID": PID, "STUDY_ID": "study-secret-31", "SESSION_ID": "session-secret-62"}


def make_link(world: World, **more: Any) -> CrowdLink:
    now = timezone.now()
    given: dict[str, Any] = {
        "name": "May",
        "parameters": crowd_entry.PARAMETERS["prolific"],
        "completion_code": "C0MPLETE",
        "screen_out_code": "SCR33N",
        "return_url": crowd_entry.PROLIFIC_RETURN,
        "expires_at": now + timedelta(days=3),
    }
    return crowd_entry.make_link(project=world.project, by=world.mara, now=now, **{**given, **more})


@pytest.fixture
def link(world: World) -> CrowdLink:
    return make_link(world)


def come(link: CrowdLink, query: dict[str, str] = QUERY, client: Client | None = None) -> tuple[Client, Any]:
    client = client or Client()
    return client, client.post(f"/crowd/{link.public_id}/", query)


def take(world: World, batch: Batch) -> Assignment:
    assignment = world.take(batch, "pat")
    assert assignment is not None
    return assignment


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


class TestComingIn:
    def test_looking_at_the_link_lets_nobody_in(self, link: CrowdLink) -> None:
        client = Client()

        page = client.get(f"/crowd/{link.public_id}/", QUERY)

        assert page.status_code == 200
        assert f'name="PROLIFIC_PID" value="{PID}"' in page.content.decode()
        assert not CrowdEntry.objects.exists()
        assert SESSION_KEY not in client.session

    def test_the_first_entry_makes_an_annotator_and_a_session(self, link: CrowdLink, world: World) -> None:
        client, answer = come(link)

        assert answer["Location"] == "/projects/films/"
        entry = CrowdEntry.objects.get()
        assert (entry.external_id, entry.study_id, entry.session_id) == tuple(QUERY.values())
        assert Membership.objects.get(person=entry.person).roles == ["annotator"]
        assert not entry.person.has_usable_password()
        assert client.get("/projects/films/").status_code == 200

    def test_coming_again_in_the_same_browser_goes_on(self, link: CrowdLink) -> None:
        client, _ = come(link)

        _, again = come(link, client=client)

        assert again["Location"] == "/projects/films/"
        assert CrowdEntry.objects.count() == 1

    def test_the_same_id_in_another_browser_is_turned_away_with_a_way_on(self, link: CrowdLink) -> None:
        come(link)

        other, answer = come(link)

        assert answer.status_code == 409
        assert "Contact the researchers" in text(answer)
        assert SESSION_KEY not in other.session

    def test_another_id_in_the_same_browser_is_turned_away(self, link: CrowdLink) -> None:
        client, _ = come(link)

        _, answer = come(link, {**QUERY, "PROLIFIC_PID": "another"}, client)

        assert answer.status_code == 409
        assert CrowdEntry.objects.count() == 1

    def test_one_id_takes_part_in_a_project_once_whatever_the_link(
        self, link: CrowdLink, world: World
    ) -> None:
        come(link)

        _, answer = come(make_link(world, name="June"))

        assert answer.status_code == 409
        assert "through another link" in text(answer)

    def test_without_an_id_it_is_asked_for(self, link: CrowdLink) -> None:
        page = Client().get(f"/crowd/{link.public_id}/")

        assert 'name="PROLIFIC_PID" required' in page.content.decode()
        assert come(link, {})[1].status_code == 422

    @pytest.mark.parametrize(
        ("sent", "said"),
        [
            ("x" * 201, "at most 200 characters"),
            ("a\0b", "cannot be saved"),
            ("{{%PROLIFIC_PID%}}", "did not fill in your id"),
        ],
    )
    def test_what_is_no_id_is_said_so(self, link: CrowdLink, sent: str, said: str) -> None:
        _, answer = come(link, {"PROLIFIC_PID": sent})

        assert answer.status_code == 422
        assert said in text(answer)
        assert not CrowdEntry.objects.exists()

    def test_closed_ended_and_full_links_say_which(self, link: CrowdLink, world: World) -> None:
        come(link)
        for changes, said in (
            ({"closed_at": timezone.now()}, "have closed the link"),
            ({"expires_at": timezone.now()}, "Its link has expired"),
            ({"most": 1}, "has reached its maximum"),
        ):
            CrowdLink.objects.update(
                **{
                    "closed_at": None,
                    "expires_at": timezone.now() + timedelta(days=1),
                    "most": None,
                    **changes,
                }
            )
            for answer in (
                come(link, {"PROLIFIC_PID": "somebody new"})[1],
                Client().get(f"/crowd/{link.public_id}/", {"PROLIFIC_PID": "somebody new"}),
            ):
                assert answer.status_code == 410
                assert said in text(answer)
        assert CrowdEntry.objects.count() == 1

    def test_whoever_is_in_may_go_on_after_the_link_is_closed(self, link: CrowdLink, world: World) -> None:
        client, _ = come(link)
        crowd_entry.close_link(link=link, by=world.mara, now=timezone.now())

        assert client.get("/projects/films/").status_code == 200
        assert come(link, client=client)[1].status_code == 302

    def test_a_form_from_another_site_is_refused(self, link: CrowdLink) -> None:
        assert Client(enforce_csrf_checks=True).post(f"/crowd/{link.public_id}/", QUERY).status_code == 403

    def test_a_link_that_never_was_is_not_there(self, world: World) -> None:
        assert Client().get("/crowd/nowhere/").status_code == 404


class TestTheWayBack:
    def test_a_manager_lets_somebody_back_in_once_and_the_older_session_ends(
        self, link: CrowdLink, world: World
    ) -> None:
        lost, _ = come(link)
        manager = Client()
        manager.force_login(world.mara)
        entry = CrowdEntry.objects.get()

        page = manager.post(reverse("crowd_let_back", args=["films", link.public_id, entry.pk]), follow=True)
        way = re.search(r'value="http://testserver(/crowd/back/[^"]+)"', page.content.decode())

        assert way is not None
        assert page["Cache-Control"] == "no-store"
        assert lost.get("/projects/films/").status_code == 302
        back = Client()
        assert back.get(way[1]).status_code == 200
        assert SESSION_KEY not in back.session, "looking at it signs nobody in"
        back.post(way[1])
        assert back.session[SESSION_KEY] == str(entry.person_id)
        again = Client().post(way[1])
        assert again.status_code == 410
        assert "Contact the researchers" in text(again)

    def test_a_link_that_was_made_up_does_not_work(self, world: World) -> None:
        assert Client().post("/crowd/back/made-up:x:y/").status_code == 410

    @pytest.mark.parametrize("has", ["membership", "ended membership", "password", "email", "administrator"])
    def test_a_way_back_never_opens_an_account_with_anything_else(
        self, link: CrowdLink, world: World, has: str
    ) -> None:
        come(link)
        entry = CrowdEntry.objects.select_related("person", "link").get()
        token = crowd_entry.make_return_link(entry=entry, by=world.mara, now=timezone.now())
        if "membership" in has:
            other = projects.create_project(slug="other", name="Other", manager=world.zoe, now=timezone.now())
            made = projects.add_member(
                project=other, person=entry.person, roles=[Role.MANAGER], by=world.zoe, now=timezone.now()
            )
            if has == "ended membership":
                projects.remove_member(membership=made, by=world.zoe, now=timezone.now())
        elif has == "password":
            entry.person.set_password("tilted tables")
            Person.objects.filter(pk=entry.person_id).update(password=entry.person.password)
        else:
            change = {"email": "pat@example.org"} if has == "email" else {"is_administrator": True}
            Person.objects.filter(pk=entry.person_id).update(**change)
        thief = Client()

        assert thief.get(f"/crowd/back/{token}/").status_code == 409
        answer = thief.post(f"/crowd/back/{token}/")

        assert answer.status_code == 409
        assert "sign in" in text(answer).lower()
        assert SESSION_KEY not in thief.session
        before = Person.objects.get(pk=entry.person_id).session_epoch
        manager = Client()
        manager.force_login(world.mara)
        page = manager.post(reverse("crowd_let_back", args=["films", link.public_id, entry.pk]), follow=True)
        assert "/crowd/back/" not in page.content.decode()
        assert "A return link is not possible" in text(page)
        assert Person.objects.get(pk=entry.person_id).session_epoch == before, "their session goes on"

    def test_responses_after_a_way_back_are_marked_in_the_log_and_in_the_release(
        self, link: CrowdLink, world: World, tmp_path: Path
    ) -> None:
        batch = world.batch(overlap=1)
        come(link)
        entry = CrowdEntry.objects.select_related("person", "link").get()
        world.people["pat"] = entry.person
        own = world.label(batch, "pat", "extraction")
        token = crowd_entry.make_return_link(entry=entry, by=world.mara, now=timezone.now())
        world.people["pat"] = crowd_entry.use_return_link(token=token, now=timezone.now())
        later = world.label(batch, "pat", "reasoning")
        sent_back = assignments.undo(annotation=later, now=NOON)
        again = world.answer(world.reload(sent_back), {"label": "extraction"})
        batches.close_batch(batch=batch, by=world.mara, now=timezone.now())

        marked = {one.pk: (one.event.detail or {}).get("way_back") for one in (own, later, again)}
        assert marked == {own.pk: None, later.pk: True, again.pk: True}
        creation.make_release(
            project=world.project,
            name="June",
            format="askew",
            by=world.mara,
            now=timezone.now(),
            out=tmp_path / "release",
        )
        records = [
            json.loads(line) for line in (tmp_path / "release" / "annotations.jsonl").read_text().splitlines()
        ]
        assert {record["id"]: record.get("way_back") for record in records if record["response"]} == {
            own.public_id: None,
            later.public_id: True,
            again.public_id: True,
        }
        verification.verify(tmp_path / "release")

    def test_the_log_names_the_way_back(self, link: CrowdLink, world: World) -> None:
        batch = world.batch(overlap=1, size=1)
        come(link)
        entry = CrowdEntry.objects.select_related("person", "link").get()
        token = crowd_entry.make_return_link(entry=entry, by=world.mara, now=timezone.now())
        world.people["pat"] = crowd_entry.use_return_link(token=token, now=timezone.now())
        world.label(batch, "pat", "extraction")
        manager = Client()
        manager.force_login(world.mara)

        assert "after using a return link" in text(manager.get("/projects/films/log/"))

    def test_a_response_that_a_closing_batch_reinstates_keeps_its_mark(
        self, link: CrowdLink, world: World
    ) -> None:
        batch = world.batch(overlap=1)
        come(link)
        entry = CrowdEntry.objects.select_related("person", "link").get()
        world.people["pat"] = entry.person
        own = world.label(batch, "pat", "extraction")
        token = crowd_entry.make_return_link(entry=entry, by=world.mara, now=timezone.now())
        world.people["pat"] = crowd_entry.use_return_link(token=token, now=timezone.now())
        later = world.label(batch, "pat", "extraction")
        for one in (own, later):
            assignments.undo(annotation=one, now=NOON)

        batches.close_batch(batch=batch, by=world.mara, now=timezone.now())

        newest = {
            one.assignment_id: (one.event.detail or {}).get("way_back")
            for one in Annotation.objects.filter(revision=3).select_related("event")
        }
        assert newest == {own.assignment_id: None, later.assignment_id: True}


class TestAnInvitation:
    @pytest.fixture
    def way_in(self, world: World) -> str:
        other = projects.create_project(slug="other", name="Other", manager=world.zoe, now=timezone.now())
        _, token = projects.invite(project=other, roles=[Role.MANAGER], by=world.zoe, now=timezone.now())
        return reverse("join", args=[token])

    def test_a_crowd_account_cannot_accept_without_registering(self, link: CrowdLink, way_in: str) -> None:
        client, _ = come(link)

        page = client.get(way_in)
        answer = client.post(way_in)

        assert 'name="password"' in page.content.decode()
        assert answer.status_code == 200
        assert Membership.objects.filter(project__slug="other").count() == 1

    def test_registering_keeps_the_work_and_the_session_and_ends_every_way_back(
        self, link: CrowdLink, world: World, way_in: str
    ) -> None:
        client, _ = come(link)
        entry = CrowdEntry.objects.select_related("person", "link").get()

        answer = client.post(
            way_in, {"name": "Pat", "email": "Pat@example.org", "password": "tilted tables too"}
        )

        assert answer["Location"] == "/projects/other/"
        assert client.get("/projects/other/").status_code == client.get("/projects/films/").status_code == 200
        entry.person.refresh_from_db()
        assert (entry.person.name, entry.person.email) == ("Pat", "pat@example.org")
        assert entry.person.check_password("tilted tables too")
        with pytest.raises(ActionRefused, match="A return link is not possible"):
            crowd_entry.make_return_link(entry=entry, by=world.mara, now=timezone.now())

    def test_the_writer_itself_refuses_a_crowd_account(
        self, link: CrowdLink, world: World, way_in: str
    ) -> None:
        come(link)
        invitation = Invitation.objects.get()

        with pytest.raises(ActionRefused, match="e-mail address and a password"):
            projects.accept(invitation=invitation, person=CrowdEntry.objects.get().person, now=timezone.now())

        invitation.refresh_from_db()
        assert invitation.accepted_at is None


class TestTheEnd:
    def test_the_code_comes_when_everything_is_done_and_not_before(
        self, link: CrowdLink, world: World
    ) -> None:
        batch = world.batch(overlap=1, size=1)
        client, _ = come(link)
        world.people["pat"] = Person.objects.get(crowd_entry__isnull=False)

        assert "Your work is not complete yet" in text(client.get("/crowd/finish/"))
        client.post("/crowd/finish/")
        assert CrowdEntry.objects.get().outcome == ""
        world.label(batch, "pat", "extraction")
        assert "C0MPLETE" not in client.get("/crowd/finish/").content.decode()
        page = client.post("/crowd/finish/", follow=True).content.decode()

        assert 'value="C0MPLETE"' in page
        assert 'href="https://app.prolific.com/submissions/complete?cc=C0MPLETE"' in page
        entry = CrowdEntry.objects.get()
        assert (entry.outcome, entry.ended_at is not None) == ("completed", True)
        client.post("/crowd/finish/")
        assert CrowdEntry.objects.get().ended_at == entry.ended_at

    def test_a_failed_qualification_gives_the_other_code(self, link: CrowdLink, world: World) -> None:
        asked = world.batch(name="Asked", size=1)
        work = world.batch(name="Work", size=1)
        Batch.objects.filter(pk=asked.pk).update(purpose="qualification", pass_percent=80)
        Batch.objects.filter(pk=work.pk).update(requires=asked)
        client, _ = come(link)
        assert "Your work is not complete yet" in text(client.get("/crowd/finish/"))

        Qualification.objects.create(
            batch=asked,
            person=CrowdEntry.objects.get().person,
            right=0,
            judged=1,
            passed=False,
            at=timezone.now(),
        )
        page = client.post("/crowd/finish/", follow=True)

        assert 'value="SCR33N"' in page.content.decode()
        assert CrowdEntry.objects.get().outcome == "screened out"

    def test_a_cap_of_items_is_an_end(self, link: CrowdLink, world: World) -> None:
        batch = world.batch(overlap=1)
        client, _ = come(link)
        world.people["pat"] = Person.objects.get(crowd_entry__isnull=False)
        world.label(batch, "pat", "extraction")

        Batch.objects.filter(pk=batch.pk).update(caps={"items": 1})

        assert "You have completed all your items." in text(client.get("/crowd/finish/"))

    STANDS_BEFORE: ClassVar[dict[str, dict[str, Any]]] = {
        "a pause": {"paused_at": NOON},
        "a limit of items a day": {"caps": {"items_per_day": 1}},
        "a limit of hours a day": {"caps": {"hours_per_day": 0.0}},
    }

    @pytest.mark.parametrize("what", STANDS_BEFORE)
    def test_who_cannot_go_on_now_gets_the_code_in_the_time_of_the_platform(
        self, link: CrowdLink, world: World, what: str
    ) -> None:
        batch = world.batch(overlap=1)
        client, _ = come(link)
        person = world.people["pat"] = Person.objects.get(crowd_entry__isnull=False)
        changed = Batch.objects.filter(pk=batch.pk)
        changed.update(**self.STANDS_BEFORE[what])
        assert "C0MPLETE" not in client.post("/crowd/finish/", follow=True).content.decode(), (
            "nothing is done"
        )
        changed.update(paused_at=None, caps={})
        world.answer(held := take(world, batch), {"label": "extraction"}, now=timezone.now())
        assert "Your work is not complete yet" in text(client.get("/crowd/finish/"))

        changed.update(**self.STANDS_BEFORE[what])

        assert held.person == person
        assert "You have no more items for now. Continue later" in text(client.get("/crowd/finish/"))
        assert "C0MPLETE" in client.post("/crowd/finish/", follow=True).content.decode()
        changed.update(paused_at=None, caps={})
        assert world.take(batch, "pat") is not None, "the work goes on where somebody comes back"

    def test_an_item_on_the_desk_of_a_paused_batch_is_finished_first(
        self, link: CrowdLink, world: World
    ) -> None:
        batch = world.batch(overlap=1)
        client, _ = come(link)
        world.people["pat"] = Person.objects.get(crowd_entry__isnull=False)
        world.label(batch, "pat", "extraction")
        take(world, batch)

        Batch.objects.filter(pk=batch.pk).update(paused_at=NOON)

        assert "Your work is not complete yet" in text(client.get("/crowd/finish/"))

    @pytest.mark.parametrize("passed", [None, True])
    def test_work_behind_a_paused_qualification_is_no_work_now_unless_it_was_passed(
        self, link: CrowdLink, world: World, passed: bool | None
    ) -> None:
        asked, work = world.batch(name="Asked", size=1), world.batch(name="Work", overlap=1)
        other = world.batch(name="Other", overlap=1, size=1)
        Batch.objects.filter(pk=asked.pk).update(purpose="qualification", paused_at=NOON)
        Batch.objects.filter(pk=work.pk).update(requires=asked)
        client, _ = come(link)
        person = world.people["pat"] = Person.objects.get(crowd_entry__isnull=False)
        world.label(other, "pat", "extraction")
        if passed:
            Qualification.objects.create(
                batch=asked, person=person, right=1, judged=1, passed=True, at=timezone.now()
            )

        page = text(client.get("/crowd/finish/"))

        assert ("Your work is not complete yet" in page) is bool(passed)
        assert ("no more items for now" in page) is not passed

    @pytest.mark.parametrize(("answers", "is_completed"), [(1, False), (2, True)])
    def test_who_skips_more_than_they_answer_gets_no_code(
        self, link: CrowdLink, world: World, answers: int, is_completed: bool
    ) -> None:
        batch = world.batch(overlap=1)
        client, _ = come(link)
        world.people["pat"] = Person.objects.get(crowd_entry__isnull=False)
        for number in range(4):
            assignment = world.take(batch, "pat")
            assert assignment is not None
            if number < answers:
                world.answer(assignment, {"label": "extraction"})
            else:
                assignments.skip(assignment=assignment, reason="Not clear", now=NOON)

        page = client.post("/crowd/finish/", follow=True).content.decode()

        assert ("C0MPLETE" in page) is is_completed
        assert ("not submitted enough items" in page) is not is_completed

    def test_with_nothing_to_do_there_is_no_code(self, link: CrowdLink) -> None:
        client, _ = come(link)

        page = text(client.post("/crowd/finish/", follow=True))

        assert "No item is available" in page
        assert "C0MPLETE" not in page


class TestNeverLogged:
    SECRETS = tuple(QUERY.values())

    def test_no_log_no_event_and_no_refusal_holds_the_ids(
        self, link: CrowdLink, world: World, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        client = Client(raise_request_exception=False)

        client.get(f"/crowd/{link.public_id}/", QUERY)
        come(link, client=client)
        _, turned_away = come(link)
        Client(enforce_csrf_checks=True).post(f"/crowd/{link.public_id}/", QUERY)
        Client().get("/crowd/nowhere/", QUERY)

        said = [record.getMessage() + str(record.__dict__.get("exc_text") or "") for record in caplog.records]
        assert said, "the refusals are in the log"
        said += [
            repr(crowd_entry.Ids(*self.SECRETS)),
            str(CrowdEntry.objects.get()),
            turned_away.content.decode(),
        ]
        said += [str(row) for row in Event.objects.values()]
        for secret in self.SECRETS:
            assert not [line for line in said if secret in line]

    def test_a_fault_in_the_middle_of_it_logs_none_either(
        self, link: CrowdLink, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(**given: Any) -> None:
            raise RuntimeError("boom")

        monkeypatch.setattr("annotation.workflow.projects.add_member", fail)
        caplog.set_level(logging.DEBUG)

        answer = come(link, client=Client(raise_request_exception=False))[1]

        assert answer.status_code == 500
        assert "boom" in caplog.text
        for secret in self.SECRETS:
            assert secret not in caplog.text
            assert secret not in answer.content.decode()

    @pytest.mark.django_db(transaction=True)
    def test_two_who_come_at_once_are_told_apart_without_the_databases_words(
        self, link: CrowdLink, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        come(link)
        # As if the other entry had been written between the look and the insert.
        monkeypatch.setattr(CrowdEntry.objects, "select_related", lambda *names: CrowdEntry.objects.none())

        _, answer = come(link)

        assert answer.status_code == 409
        assert PID not in caplog.text
        assert not connection.needs_rollback

    def test_no_other_address_is_told_where_somebody_came_from(self, link: CrowdLink) -> None:
        for answer in (Client().get(f"/crowd/{link.public_id}/", QUERY), come(link)[1], come(link)[1]):
            assert answer["Referrer-Policy"] == "strict-origin"
            assert "no-store" in answer["Cache-Control"]

    def test_a_web_server_whose_access_log_is_on_writes_none(self, tmp_path: Path) -> None:
        """Gunicorn as the operations page starts it, its access log on; without tables every entry is a fault, too."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}"]
        server = subprocess.Popen(
            [*command, "--no-control-socket", "--access-logfile", "-"],
            cwd=settings.BASE_DIR,
            env={**os.environ, "SECRET_KEY": "k" * 60, "ASKEW_DATA_DIR": str(tmp_path), "DATABASE_URL": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            wait_until(lambda: listens(port), "the server listens", 60)
            connection_ = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection_.request(
                "GET",
                f"/crowd/somewhere/?{urlencode(QUERY)}",
                headers={"Referer": f"http://127.0.0.1:{port}/crowd/other/?{urlencode(QUERY)}"},
            )
            answered = connection_.getresponse().status
        finally:
            server.terminate()
            said = server.communicate(timeout=60)[0]

        assert answered == 500
        assert '"GET /crowd/somewhere/' in said, "the access log is on"
        for secret in self.SECRETS:
            assert secret not in said


class TestTheManagersPages:
    def test_a_link_is_made_shown_and_closed(self, world: World) -> None:
        manager = Client()
        manager.force_login(world.mara)

        made = manager.post(
            "/projects/films/crowd/",
            {
                "name": "June",
                "platform": "prolific",
                "completion_code": "A",
                "screen_out_code": "B",
                "until": "2099-01-01",
            },
        )
        page = manager.get(made["Location"]).content.decode()

        assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in page
        link = CrowdLink.objects.get()
        assert link.return_url == crowd_entry.PROLIFIC_RETURN
        assert f'value="{crowd_entry.PROLIFIC_RETURN}"' in page
        manager.post(reverse("crowd_close", args=["films", link.public_id]), {"confirmed": "yes"})
        assert "Closed" in text(manager.get(made["Location"]))
        events = Event.objects.filter(thing="crowdlink").order_by("pk").values_list("after", flat=True)
        assert list(events) == ["open", "closed"]

    def test_ids_and_pseudonyms_are_never_on_one_page(self, link: CrowdLink, world: World) -> None:
        come(link)
        manager = Client()
        manager.force_login(world.mara)
        page = manager.get(reverse("crowd_link", args=["films", link.public_id])).content.decode()

        member = Membership.objects.get(person__crowd_entry__isnull=False)
        assert PID in page
        assert member.pseudonym not in page
        assert member.person.name not in page

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"screen_out_code": "C0MPLETE"}, "must differ"),
            ({"return_url": "http://example.org/{code}"}, "https://"),
            ({"return_url": "https://example.org/"}, "{code}"),
            ({"expires_at": timezone.now() - timedelta(days=1)}, "is in the past"),
            ({"most": 0}, "at least one"),
            ({"name": "  "}, "needs a name"),
            ({"parameters": {"person": "", "study": "", "session": ""}}, "Enter the query parameter"),
            ({"parameters": {"person": "id", "study": "id", "session": ""}}, "a separate query parameter"),
        ],
    )
    def test_a_link_that_could_not_work_is_refused(
        self, world: World, changes: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(ActionRefused, match=re.escape(said)):
            make_link(world, **changes)

    def test_two_links_of_one_name_are_refused(self, link: CrowdLink, world: World) -> None:
        with pytest.raises(ActionRefused, match="another name"):
            make_link(world)


def test_who_was_screened_out_is_counted_in_every_language(world: World, link: CrowdLink) -> None:
    come(link)
    CrowdEntry.objects.update(outcome="screened out")
    manager = Client()
    manager.force_login(world.mara)

    counts = set()
    for language in ("en", "de"):
        answer = manager.get("/projects/films/crowd/", headers={"accept-language": language})
        counts.add(answer.context["links"][0].screened)

    assert counts == {1}


class TestWhatPagesSay:
    def test_the_first_page_has_the_link_to_the_end(self, link: CrowdLink, world: World) -> None:
        world.batch(size=1)
        client, answer = come(link)

        first = client.get(answer["Location"])

        assert 'href="/crowd/finish/"' in first.content.decode()
        assert "Check your progress" in text(first)
        annotator = Client()
        annotator.force_login(world.ada)
        assert "/crowd/finish/" not in annotator.get(answer["Location"]).content.decode()

    @pytest.mark.parametrize("name", ["sign_out", "sign_out_everywhere"])
    def test_signing_out_warns_whoever_cannot_come_back(self, link: CrowdLink, name: str) -> None:
        client, _ = come(link)

        warned = client.post(reverse(name))

        assert "You cannot sign in again" in text(warned)
        assert client.get("/projects/films/").status_code == 200
        client.post(reverse(name), {"confirmed": "yes"})
        assert SESSION_KEY not in client.session

    def test_signing_out_asks_nobody_else(self, world: World) -> None:
        client = Client()
        client.force_login(world.ada)

        assert client.post(reverse("sign_out")).status_code == 302
        assert SESSION_KEY not in client.session

    def test_they_name_the_sheet_in_which_id_and_pseudonym_are_together(
        self, link: CrowdLink, world: World
    ) -> None:
        manager = Client()
        manager.force_login(world.mara)
        payments = reverse("payments", args=["films"])
        people = reverse("people", args=["films"])
        warning = "The payment sheet lists platform IDs"
        assert warning not in text(manager.get(people))
        batch = world.batch(overlap=1, size=1)
        come(link)
        world.people["pat"] = Person.objects.get(crowd_entry__isnull=False)
        world.label(batch, "pat", "extraction")

        sheet = manager.get(payments).content.decode()

        assert PID in sheet
        assert Membership.objects.get(person=world.pat).pseudonym in sheet
        page = manager.get(reverse("crowd_link", args=["films", link.public_id]))
        assert "ID, name and pseudonym appear together in the payment sheet and on no other page" in text(
            page
        )
        assert f'href="{people}#pay"' in page.content.decode()
        assert warning in text(manager.get(people))
        entry = text(Client().get(f"/crowd/{link.public_id}/", QUERY))
        assert "see both together only in the payment sheet" in entry


def test_whoever_comes_by_a_crowd_link_gets_the_time_zone_of_the_browser(link: CrowdLink) -> None:
    assert 'name="time_zone"' in Client().get(f"/crowd/{link.public_id}/", QUERY).content.decode()

    come(link, {**QUERY, "time_zone": "Asia/Tokyo"})

    assert CrowdEntry.objects.get().person.time_zone == "Asia/Tokyo"
