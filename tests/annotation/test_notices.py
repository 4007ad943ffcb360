"""Notices of what happened, on their page and by mail through a real SMTP connection."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.accounts import erasure, notices
from annotation.management import doctor
from annotation.models import Annotation, Batch, Job, Notice, Person
from annotation.quality import annotator_questions
from annotation.queue import resolutions
from annotation.releases import creation
from annotation.workflow import adjudication, automatic_decisions, batches
from tests.annotation.cast import NOON, World
from tests.annotation.role_table import differ

SOON = NOON + timedelta(minutes=5)
MONDAY = NOON + timedelta(days=1)


def collected(now: Any = SOON) -> set[tuple[str, str]]:
    """(name of the person, kind) of the notices that are new."""
    before = set(Notice.objects.values_list("pk", flat=True))
    notices.collect(now=now)
    new = Notice.objects.exclude(pk__in=before)
    return {(notice.person.name, notice.kind) for notice in new.select_related("person")}


def page(person: Person) -> str:
    client = Client()
    client.force_login(person)
    return " ".join(client.get("/notices/").content.decode().split())


# -- what happened ----------------------------------------------------------------------------------


def test_each_thing_that_happens_is_noticed_once_by_the_people_who_can_act(world: World) -> None:
    batch = world.batch(name="Types")
    assert collected() == set()

    inquiry = annotator_questions.ask(project=world.project, person=world.ada, text="Why?", now=NOON)
    assert collected() == {("Mara", "question_asked")}
    annotator_questions.answer(inquiry=inquiry, text="So.", by=world.mara, now=NOON)
    assert collected() == {("Ada", "question_answered")}

    differ(world, batch)
    assert collected() == {("Ivo", "adjudication")}
    item = resolutions.waiting(batch).get()
    annotation = Annotation.objects.get(assignment__item=item, assignment__person=world.bo)
    adjudication.send_back(item=item, by=world.ivo, choose=annotation.public_id, note="Look.", now=NOON)
    assert collected() == {("Bo", "sent_back")}

    Job.objects.create(
        project=world.project, kind="import", state="failed", made_by=world.mara, made_at=NOON, heartbeat=NOON
    )
    assert collected() == {("Mara", "job_failed")}
    assert collected() == set()
    assert doctor.findings() == []


def test_a_batch_of_which_every_item_is_decided_and_a_release_that_is_ready(world: World) -> None:
    batch = world.batch(name="Types", size=1)
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    assert ("Mara", "batch_finished") not in collected()
    world.label(batch, "cy", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=NOON)

    assert collected() == {("Mara", "batch_finished")}

    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)
    assert collected() == {("Mara", "release_ready"), ("Rea", "release_ready")}


def test_what_is_old_is_no_news(world: World) -> None:
    annotator_questions.ask(project=world.project, person=world.ada, text="Why?", now=NOON)

    assert collected(NOON + timedelta(days=3)) == set()


# -- the page ---------------------------------------------------------------------------------------


def test_a_badge_on_every_page_leads_to_the_notices_until_they_are_read(world: World) -> None:
    annotator_questions.ask(project=world.project, person=world.ada, text="Why?", now=NOON)
    collected()
    mara = Client()
    mara.force_login(world.mara)
    assert "1 new notice" in mara.get("/").content.decode()

    html = page(world.mara)

    assert "Films: an annotator asked a question." in html
    assert f'href="{reverse("inquiries", args=["films"])}"' in html
    assert "Why?" not in html
    mara.post("/notices/")
    assert "new notice" not in mara.get("/").content.decode()
    assert "Films: an annotator asked a question." in page(world.mara)
    assert doctor.findings() == []
    assert "No notices yet." in page(world.ada)


def test_notices_go_when_their_person_is_erased(world: World) -> None:
    inquiry = annotator_questions.ask(project=world.project, person=world.ada, text="Why?", now=NOON)
    annotator_questions.answer(inquiry=inquiry, text="So.", by=world.mara, now=NOON)
    collected()

    erasure.erase(person=world.ada, by=world.ada, now=SOON)

    assert not Notice.objects.filter(person=world.ada).exists()
    assert doctor.findings() == []


# -- mail -------------------------------------------------------------------------------------------


class Letters(socketserver.ThreadingTCPServer):
    """A mail server that keeps what it gets, or refuses each letter."""

    allow_reuse_address = True

    def __init__(self) -> None:
        self.received: list[str] = []
        self.refuses = False
        super().__init__(("127.0.0.1", 0), _Session)


class _Session(socketserver.StreamRequestHandler):
    server: Letters

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            verb = line[:4].upper()
            if verb == b"QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            if verb != b"DATA":
                self.wfile.write(b"250 yes\r\n")
                continue
            self.wfile.write(b"354 go on\r\n")
            text = b""
            while (line := self.rfile.readline()) != b".\r\n":
                text += line
            if self.server.refuses:
                self.wfile.write(b"451 later\r\n")
            else:
                self.server.received.append(text.decode())
                self.wfile.write(b"250 yes\r\n")


@pytest.fixture
def letters(settings: Any) -> Iterator[Letters]:
    """A site that sends mail to this server."""
    with Letters() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.HAS_MAIL, settings.PUBLIC_URL = True, "https://askew.example.org"
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address[:2]
        yield server
        server.shutdown()


def asked(world: World, now: Any) -> None:
    """A question of Ada's, of which Mara gets a notice."""
    annotator_questions.ask(project=world.project, person=world.ada, text=f"Why {now}?", now=now)
    notices.collect(now=now)


def choose(world: World, mail: str) -> None:
    client = Client()
    client.force_login(world.mara)
    assert client.post("/notices/", {"mail": mail}).status_code == 302
    world.mara.refresh_from_db()


@pytest.mark.django_db(transaction=True)
def test_a_person_gets_a_mail_at_once_with_links_and_none_twice(world: World, letters: Letters) -> None:
    choose(world, "at_once")
    asked(world, NOON)
    assert letters.received == []

    assert notices.mail(now=SOON) == 1

    (letter,) = letters.received
    assert "To: mara@example.org" in letter
    assert "Films: an annotator asked a question." in letter
    assert "https://askew.example.org/projects/films/inquiries/" in letter
    assert "https://askew.example.org/notices/" in letter
    assert "Why" not in letter
    assert notices.mail(now=SOON) == 0
    asked(world, SOON)
    assert notices.mail(now=SOON) == 1
    assert len(letters.received) == 2


@pytest.mark.django_db(transaction=True)
def test_once_a_day_is_one_mail_with_all_notices_of_the_day(world: World, letters: Letters) -> None:
    choose(world, "daily")
    asked(world, NOON)
    assert notices.mail(now=NOON) == 1
    for minutes in (1, 2):
        asked(world, NOON + timedelta(minutes=minutes))
    assert notices.mail(now=SOON) == 0

    assert notices.mail(now=MONDAY) == 1

    assert letters.received[1].count("an annotator asked a question") == 2


@pytest.mark.django_db(transaction=True)
def test_never_is_no_mail_and_what_was_read_is_in_none(world: World, letters: Letters) -> None:
    asked(world, NOON)
    assert world.mara.mail_notices == "never"
    assert notices.mail(now=SOON) == 0
    choose(world, "at_once")
    notices.mark_read(person=world.mara, now=SOON)
    assert notices.mail(now=SOON) == 0
    choose(world, "hourly")
    assert world.mara.mail_notices == "at_once"
    assert letters.received == []


@pytest.mark.django_db(transaction=True)
def test_a_mail_that_the_server_refuses_is_sent_later(world: World, letters: Letters) -> None:
    choose(world, "at_once")
    asked(world, NOON)
    letters.refuses = True
    notices.mail(now=SOON)
    assert letters.received == []
    letters.refuses = False

    assert notices.mail(now=SOON + timedelta(minutes=1)) == 1

    assert len(letters.received) == 1


def test_without_a_mail_server_nothing_is_queued_and_the_page_says_so(world: World) -> None:
    Person.objects.filter(pk=world.mara.pk).update(mail_notices="at_once")
    asked(world, NOON)

    assert notices.mail(now=SOON) == 0

    assert "This site sends no mail" in page(world.mara)
    assert Notice.objects.get().mailed_at is None
    assert Batch.objects.count() == 0
