"""The pages: who may open which, what they refuse in words, and that their cost does not grow with the data."""

from __future__ import annotations

import io
import json
import re
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.http import Http404
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.access.roles import Permission, Role
from annotation.models import (
    ApiToken,
    Batch,
    Decision,
    Invitation,
    Job,
    Membership,
    Person,
    Project,
    Release,
    Source,
)
from annotation.platform import immutable_rows, migration_state
from annotation.quality import guidelines
from annotation.queue import availability, resolutions
from annotation.releases import creation
from annotation.web import urls
from annotation.web.forms.batches import SettingsForm
from annotation.web.views import demo
from annotation.workflow import adjudication, assignments, automatic_decisions, batches, projects
from tasks.contract import task_type
from tests.annotation.cast import NOON, World
from tests.annotation.plain_page import PlainPage, fill
from tests.annotation.role_table import PAGES as ROWS
from tests.annotation.role_table import Things, differ, make_things

ONE_HOUR = timedelta(hours=1)


@pytest.fixture
def things(world: World) -> Things:
    return make_things(world)


def browser(person: Person | None) -> Client:
    client = Client()
    if person is not None:
        client.force_login(person)
    return client


def text(response: Any) -> str:
    """What the page says, tags taken out."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


# -- who may open what: the table is role_table.py, its tests are test_role_table.py ----------------


def test_somebody_who_left_finds_nothing(things: Things) -> None:
    client = browser(things.world.rea)
    assert client.get("/projects/films/").status_code == 200

    membership = Membership.objects.get(person=things.world.rea)
    projects.remove_member(membership=membership, by=things.world.mara, now=NOON)

    assert client.get("/projects/films/").status_code == 404  # the session goes on, and opens nothing here
    assert browser(Person.objects.get(pk=things.world.rea.pk)).get("/projects/films/").status_code == 404


def test_a_token_of_the_api_opens_no_page(things: Things) -> None:
    _, secret = projects.make_token(
        person=things.world.mara,
        project=things.world.project,
        name="program",
        scopes=list(Permission),
        now=timezone.now(),
    )

    answer = Client().get("/projects/films/", headers={"Authorization": f"Bearer {secret}"})

    assert answer.status_code == 302


def test_an_annotator_sees_no_progress_and_no_way_to_manage(things: Things) -> None:
    page = text(browser(things.world.ada).get("/projects/films/"))

    assert "Annotate" in page
    for word in ("New batch", "Sources", "Releases", "People", "waiting for adjudication"):
        assert word not in page


class TestOwnInvolvement:
    """Mara manages and annotates in the same open batch: what she does there beats what she is."""

    @pytest.fixture
    def mara(self, things: Things) -> Client:
        world = things.world
        projects.add_member(
            project=world.project, person=world.mara, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
        )
        assignments.flag(assignment=things.assignment, note="an odd year", now=NOON)
        world.label(things.batch, "mara", "extraction")
        return browser(world.mara)

    def test_hides_agreement_and_notes_until_the_batch_closes(self, mara: Client, things: Things) -> None:
        address = reverse("batch", args=[things.batch.public_id])

        before = text(mara.get(address))
        batches.close_batch(batch=things.batch, by=things.world.mara, now=NOON)
        after = text(mara.get(address))

        assert "You annotate in this batch." in before
        assert "kappa" not in before
        assert "an odd year" not in before
        assert "Fleiss' kappa" in after.replace("&#x27;", "'")
        assert "an odd year" in after

    def test_keeps_releases_shut_until_the_batch_closes(self, mara: Client, things: Things) -> None:
        release = reverse("release", args=[things.release.public_id])
        download = reverse("download", args=[things.release.public_id])
        listed = reverse("releases", args=["films"])

        for address in (release, download):
            assert mara.get(address)["Location"] == listed
        assert "You annotate in an open batch" in text(mara.get(listed))
        refused = mara.post(listed, {"name": "v2", "format": "askew"})
        assert "You annotate in an open batch" in text(refused)
        assert not Release.objects.filter(name="v2").exists()

        batches.close_batch(batch=things.batch, by=things.world.mara, now=NOON)
        assert mara.get(release).status_code == 200

    def test_an_adjudicator_who_annotated_the_item_does_not_find_it(self, things: Things) -> None:
        world = things.world
        projects.add_member(
            project=world.project, person=world.ada, roles=[Role.ADJUDICATOR], by=world.mara, now=NOON
        )

        ada = browser(world.ada)

        assert ada.get(reverse("adjudicate", args=[things.item.public_id])).status_code == 404
        assert "All caught up" in text(ada.get(reverse("adjudication", args=[things.batch.public_id])))


# -- cost -------------------------------------------------------------------------------------------


def cost(client: Client, address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(address).status_code == 200, address
    return len(queries)


READ = {
    "mara": [
        *("home", "project", "people", "sources", "source", "batch", "batch_new", "close_batch"),
        *("guidelines", "releases", "account", "remove_member"),
    ],
    "ada": ["home", "project", "my_work", "guidelines"],
    "ivo": ["home", "project", "adjudication", "adjudicate"],
    "rea": ["home", "project", "batch", "releases", "release", "fooling", "evaluations"],
}
"""Who reads which pages; every page that lists anything is here."""


def test_a_page_costs_the_same_whatever_the_size_of_the_data(things: Things) -> None:
    pages = {
        (who, name): (browser(things.world.people[who]), reverse(name, args=ROWS[name][0](things)))
        for who, names in READ.items()
        for name in names
    }
    grow(things, 3)
    few = {page: cost(*where) for page, where in pages.items()}

    grow(things, 30)

    many = {page: cost(*where) for page, where in pages.items()}
    assert many == few
    assert max(few.values()) < 50


def grow(things: Things, number: int) -> None:
    """`number` more of everything that some page lists."""
    world, now = things.world, timezone.now()
    task = task_type("question_type")
    start = Batch.objects.count()
    for i in range(number):
        batch = world.batch(name=f"batch {start + i}")
        person = Person.objects.create_person(f"Annotator {start + i}", f"a{start + i}@example.org")
        projects.add_member(
            project=world.project, person=person, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
        )
        world.people[f"a{start + i}"] = person
        projects.invite(project=world.project, roles=[Role.ANNOTATOR], by=world.mara, now=now)
        projects.make_token(person=world.mara, project=world.project, name="t", scopes=[], now=now)
        project = projects.create_project(
            slug=f"p-{start + i}", name=f"P {start + i}", manager=world.mara, now=NOON
        )
        for who, role in (("ada", Role.ANNOTATOR), ("ivo", Role.ADJUDICATOR)):
            projects.add_member(
                project=project, person=world.people[who], roles=[role], by=world.mara, now=NOON
            )
        differ(world, batch)
        skipped = world.take(things.batch, f"a{start + i}")
        if skipped is not None:
            assignments.flag(assignment=skipped, note="odd", now=NOON)
            assignments.skip(assignment=skipped, reason="odd", now=NOON)
        guidelines.revise(
            project=world.project, task=task, text=f"Version {start + i}", person=world.mara, now=NOON
        )
        Job.objects.create(project=world.project, kind="import", made_at=NOON, heartbeat=NOON)
        Release.objects.create(
            project=world.project, name=f"r{start + i}", format="askew", watermark=0, made_at=NOON
        )
        Source.objects.create(
            project=world.project,
            name=f"s{start + i}",
            reader="wtq",
            checksum=str(start + i),
            licence="MIT",
            started_at=NOON,
            ready_at=NOON,
        )


def test_long_lists_are_cut_into_pages(world: World) -> None:
    for number in range(60):
        projects.create_project(slug=f"p-{number}", name=f"P {number:02}", manager=world.mara, now=NOON)
    mara = browser(world.mara)

    assert "1 to 50 of 61" in text(mara.get("/"))
    assert "51 to 61 of 61" in text(mara.get("/?page=2"))
    assert "51 to 61 of 61" in text(mara.get("/?page=999"))
    assert "1 to 50 of 61" in text(mara.get("/?page=nonsense"))


# -- home -------------------------------------------------------------------------------------------


def test_home_says_how_much_is_left_and_where_to_go_on(things: Things) -> None:
    page = browser(things.world.ada).get("/")

    assert "3 of 4 items left" in text(page)  # of four items one is submitted; the one in progress counts
    assert reverse("annotate", args=[things.batch.public_id]) in page.content.decode()


def test_home_tells_an_adjudicator_what_waits(things: Things) -> None:
    page = browser(things.world.ivo).get("/")

    assert "1 item to adjudicate" in text(page)
    assert reverse("project_adjudication", args=[things.world.project.slug]) in page.content.decode()


def test_what_is_left_is_what_the_queue_will_give(world: World) -> None:
    batch = world.batch(overlap=1)
    assert availability.left_for(world.ada, [batch.pk]) == {batch.pk: 4}
    world.label(batch, "bo", "extraction")
    world.take(batch, "cy")
    world.take(batch, "ada")

    assert availability.left_for(world.ada, [batch.pk]) == {batch.pk: 2}
    assert availability.left_for(world.cy, [batch.pk]) == {batch.pk: 2}


def test_home_of_somebody_without_a_project_says_what_to_do(world: World) -> None:
    assert "You are in no project yet" in text(browser(world.zoe).get("/"))


# -- people -----------------------------------------------------------------------------------------


class TestSigningIn:
    def test_with_e_mail_and_password_in_any_case(self, world: World) -> None:
        answer = Client().post("/sign-in/", {"username": "Mara@Example.org", "password": "tilted tables"})

        assert answer["Location"] == "/"

    def test_goes_on_to_where_one_was_going(self, world: World) -> None:
        page = PlainPage(Client(), "/projects/films/")
        assert page.address.startswith("/sign-in/")
        fill(page.named("username"), "mara@example.org")
        fill(page.named("password"), "tilted tables")
        page.press("Sign in")

        assert page.address == "/projects/films/"

    @pytest.mark.parametrize("elsewhere", ["https://example.com/", "//example.com/", "javascript:alert(1)"])
    def test_never_goes_to_another_site(self, world: World, elsewhere: str) -> None:
        given = {"username": "mara@example.org", "password": "tilted tables", "next": elsewhere}

        assert Client().post("/sign-in/", given)["Location"] == "/"

    def test_a_wrong_password_keeps_the_address_and_says_what_is_wrong(self, world: World) -> None:
        answer = Client().post("/sign-in/", {"username": "mara@example.org", "password": "wrong"})

        assert "Wrong e-mail address or password" in text(answer)
        assert 'value="mara@example.org"' in answer.content.decode()

    def test_signing_out_ends_the_session_also_for_a_copy_of_its_cookie(self, world: World) -> None:
        mara, thief = browser(world.mara), Client()
        thief.cookies = mara.cookies.copy()  # type: ignore[assignment]
        assert thief.get("/account/").status_code == 200

        mara.post("/sign-out/")

        assert thief.get("/account/").status_code == 302

    def test_a_new_password_keeps_this_session_and_ends_the_others(self, world: World) -> None:
        here, there = browser(world.mara), browser(world.mara)

        answer = here.post(
            "/account/password/", {"old": "tilted tables", "new": "even more tilted"}, follow=True
        )

        assert "Your password is changed" in text(answer)
        assert here.get("/account/").status_code == 200
        assert there.get("/account/").status_code == 302
        assert Person.objects.get(pk=world.mara.pk).check_password("even more tilted")


class TestTheAccount:
    def test_times_are_those_of_ones_own_clock(self, things: Things) -> None:
        mara = browser(things.world.mara)
        address = reverse("job", args=[things.job.public_id])
        assert "12:00:00" in text(mara.get(address))

        mara.post("/account/", {"name": "Mara", "time_zone": "Asia/Tokyo"})

        assert "21:00:00" in text(mara.get(address))

    def test_a_token_is_shown_once_and_kept_as_a_hash(self, world: World) -> None:
        mara = browser(world.mara)

        made = mara.post(
            "/account/tokens/", {"name": "nightly", "project": "films", "scopes": ["release"]}, follow=True
        )

        secret = re.search(r'value="(askew_[^"]+)"', made.content.decode())
        assert secret is not None
        assert made["Cache-Control"] == "no-store"
        token = ApiToken.objects.get()
        assert token.scopes == ["release"]
        assert token.token_hash == projects.hash_token(secret[1])
        assert secret[1] not in mara.get("/account/").content.decode()
        assert "nightly" in text(mara.get("/account/"))

    def test_a_token_opens_ones_own_projects_only(self, world: World) -> None:
        given = {"name": "x", "project": "films", "scopes": ["annotate"]}

        answer = browser(world.zoe).post("/account/tokens/", given)

        assert answer.status_code == 200
        assert not ApiToken.objects.exists()

    def test_a_revoked_token_is_gone(self, things: Things) -> None:
        browser(things.world.ada).post(
            reverse("revoke_token", args=[things.token.public_id]), {"confirmed": "yes"}
        )

        assert ApiToken.objects.get(pk=things.token.pk).revoked_at is not None


class TestInvitations:
    REGISTER = {"name": "Dana", "email": "dana@example.org", "password": "wide open tables"}

    def link(self, world: World) -> str:
        page = browser(world.mara).post(
            "/projects/films/people/", {"name": "Dana", "roles": ["annotator"]}, follow=True
        )
        assert page["Cache-Control"] == "no-store"
        found = re.search(r'value="http://testserver(/join/[^"]+)"', page.content.decode())
        assert found is not None
        return found[1]

    def test_the_link_is_shown_once(self, world: World) -> None:
        link = self.link(world)

        assert link not in browser(world.mara).get("/projects/films/people/").content.decode()

    def test_reading_the_link_uses_nothing_up_and_tells_nobody(self, world: World) -> None:
        link = self.link(world)

        pages = [Client().get(link) for _ in range(2)]

        for page in pages:
            assert page.status_code == 200
            assert page["Referrer-Policy"] == "same-origin"
            assert "noindex" in page["X-Robots-Tag"]
        assert Invitation.objects.get().accepted_at is None

    def test_somebody_new_registers_and_is_in(self, world: World) -> None:
        client = Client()

        page = client.post(self.link(world), self.REGISTER, follow=True)

        assert "Welcome to Films" in text(page)
        assert Membership.objects.get(person__email="dana@example.org").roles == ["annotator"]

    def test_somebody_known_joins_with_a_button(self, world: World) -> None:
        page = browser(world.zoe).post(self.link(world), follow=True)

        assert "Welcome to Films" in text(page)
        assert Membership.objects.filter(person=world.zoe).exists()

    def test_a_used_link_says_so(self, world: World) -> None:
        link = self.link(world)
        browser(world.zoe).post(link)

        page = Client().get(link)

        assert page.status_code == 410
        assert "already been used" in text(page)

    def test_a_link_that_never_was_or_is_too_old_says_so(self, world: World) -> None:
        link = self.link(world)
        Invitation.objects.update(expires_at=timezone.now() - ONE_HOUR)

        for address in (link, "/join/made-up/"):
            page = Client().get(address)
            assert page.status_code == 410
            assert "not valid" in text(page)

    def test_an_address_that_has_an_account_is_told_to_sign_in_and_leaves_nothing_behind(
        self, world: World
    ) -> None:
        page = Client().post(self.link(world), {**self.REGISTER, "email": "zoe@example.org"})

        assert "Sign in first" in text(page)
        assert 'value="Dana"' in page.content.decode()
        assert Invitation.objects.get().accepted_at is None

    def test_behind_a_proxy_the_link_has_the_public_address(self, world: World, settings: Any) -> None:
        settings.PUBLIC_URL = "https://askew.example.org/tables"

        page = browser(world.mara).post("/projects/films/people/", {"roles": ["annotator"]}, follow=True)

        assert 'value="https://askew.example.org/' in page.content.decode()

    def test_removing_the_only_manager_is_refused_in_words(self, world: World) -> None:
        mine = Membership.objects.get(person=world.mara)

        page = browser(world.mara).post(reverse("remove_member", args=[mine.pk]), follow=True)

        assert "only manager" in text(page)


# -- forms ------------------------------------------------------------------------------------------

WRONG = [
    # who, address, what is sent, what is said, what is kept
    (
        "mara",
        "/projects/new/",
        {"name": "My study", "slug": "No Good", "time_zone": "UTC"},
        "small letters",
        "My study",
    ),
    ("mara", "/projects/new/", {"name": "New", "time_zone": "UTC"}, "is reserved", "New"),
    ("mara", "/projects/new/", {"name": "文", "time_zone": "UTC"}, "No short name can be derived", "文"),
    ("mara", "/projects/new/", {"name": "Films", "slug": "films", "time_zone": "UTC"}, "exists", "films"),
    (
        "mara",
        "/projects/new/",
        {"name": "x", "slug": "x", "time_zone": "Mars/North"},
        "Select a valid choice",
        "x",
    ),
    ("mara", "/projects/films/people/", {"name": "Dana"}, "Choose at least one role", "Dana"),
    ("mara", "/account/", {"name": "", "time_zone": "Asia/Tokyo"}, "required", "Asia/Tokyo"),
    ("mara", "/account/password/", {"old": "wrong", "new": "wide open tables"}, "Wrong password", ""),
    ("mara", "/account/password/", {"old": "tilted tables", "new": "short"}, "too short", ""),
    (
        "mara",
        "/account/tokens/",
        {"name": "nightly", "project": "films"},
        "at least one permission",
        "nightly",
    ),
    ("mara", "/projects/films/sources/import/", {"reader": "wtq"}, "required", ""),
    (
        "mara",
        "/projects/films/batches/new/",
        {"kind": "question_type", "name": "B", "seed": "x"},
        "whole number",
        "B",
    ),
    (
        "mara",
        "/projects/films/batches/new/",
        {"kind": "question_type", "name": "Nothing to do", "seed": 0, "overlap": 3},
        "Choose a source",
        "Nothing to do",
    ),
    (
        "mara",
        "/projects/films/batches/new/",
        {"kind": "question_type", "name": "Many", "seed": 0, "overlap": 51},
        "less than or equal to 50",
        "51",
    ),
    ("mara", "/projects/films/guidelines/question_type/", {"text": " \n "}, "cannot be empty", ""),
    (
        "mara",
        "/projects/films/perturbations/",
        {"kinds": ["row_shuffle"], "seeds": "thirty", "rules": "released"},
        "Separate numbers",
        "thirty",
    ),
    ("rea", "/projects/films/releases/", {"name": "", "format": "askew"}, "required", "askew"),
    ("rea", "/projects/films/releases/", {"name": "v2", "format": "csv"}, "Select a valid choice", "v2"),
]


@pytest.mark.parametrize(("who", "address", "sent", "said", "kept"), WRONG)
def test_bad_input_is_refused_in_words_and_what_was_typed_is_kept(
    who: str, address: str, sent: dict[str, Any], said: str, kept: str, world: World
) -> None:
    page = browser(world.people[who]).post(address, sent)

    assert page.status_code == 200
    assert said in text(page)
    assert kept in page.content.decode()


SCHEMA = {
    "type": "object",
    "required": ["model"],
    "properties": {
        "at_most": {
            "type": "integer",
            "minimum": 1,
            "default": 2,
            "title": "Changes",
            "description": "How many.",
        },
        "share": {"type": "number"},
        "strict": {"type": "boolean", "default": True},
        "form": {"enum": ["warn", "require"], "default": "warn"},
        "model": {"type": "string"},
        "columns": {"type": "array", "items": {"type": "string"}},
        "weights": {"type": "object"},
    },
}


class TestSettingsOfAKind:
    """The form of a kind's settings is made from its JSON Schema, whatever the kind."""

    def test_every_type_of_the_schema_comes_out_as_that_type(self) -> None:
        sent = {"at_most": "3", "share": "0.5", "form": "require", "model": "m"}
        form = SettingsForm({**sent, "columns": "a\n\n b ", "weights": '{"a": 1}'}, schema=SCHEMA)

        assert form.is_valid(), form.errors
        assert form.settings() == {
            "at_most": 3,
            "share": 0.5,
            "strict": False,
            "form": "require",
            "model": "m",
            "columns": ["a", "b"],
            "weights": {"a": 1},
        }

    def test_what_is_left_empty_is_left_to_the_defaults(self) -> None:
        form = SettingsForm({"model": "m", "form": "warn"}, schema=SCHEMA)

        assert form.is_valid(), form.errors
        assert form.settings() == {"strict": False, "form": "warn", "model": "m"}

    def test_it_shows_defaults_titles_and_descriptions(self) -> None:
        html = str(SettingsForm(schema=SCHEMA))

        assert "Changes" in html
        assert "How many." in html
        assert 'value="2"' in html

    @pytest.mark.parametrize(
        "wrong", [{"at_most": "0"}, {"at_most": "x"}, {"form": "never"}, {"weights": "{"}]
    )
    def test_what_the_schema_forbids_is_refused(self, wrong: dict[str, str]) -> None:
        assert not SettingsForm({"model": "m", "form": "warn", **wrong}, schema=SCHEMA).is_valid()


# -- the road of a manager --------------------------------------------------------------------------


def test_a_new_project_makes_its_address_from_its_name(world: World) -> None:
    answer = browser(world.mara).post(
        "/projects/new/", {"name": "Café tables, 2026", "time_zone": "Europe/Oslo"}
    )

    assert answer["Location"] == "/projects/cafe-tables-2026/sources/import/"
    assert Project.objects.get(slug="cafe-tables-2026").time_zone == "Europe/Oslo"


def test_files_are_imported_in_the_background_and_the_job_leads_to_the_source(
    world: World, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    questions = io.BytesIO((tmp_path / "films-dev.tsv").read_bytes())
    questions.name = "more-films.tsv"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(tmp_path / "csv/1-csv/1.csv", "csv/1-csv/1.csv")
    packed.seek(0)
    packed.name = "tables.zip"
    mara = browser(world.mara)

    with django_capture_on_commit_callbacks(execute=True):
        started = mara.post(
            "/projects/films/sources/import/", {"reader": "wtq", "questions": questions, "tables": packed}
        )
    page = mara.get(started["Location"])

    assert "4 questions on 1 table" in text(page)
    source = Source.objects.get(name="more-films")
    assert reverse("source", args=[source.public_id]) in page.content.decode()
    shown = text(mara.get(reverse("source", args=[source.public_id])))
    for words in (
        source.checksum,
        "CC-BY-SA-4.0",
        "Panupong Pasupat",
        "WikiTableQuestions",
        "when did Heat come out",
    ):
        assert words in shown


def test_a_bad_file_says_which_line_and_how_to_mend_it(
    world: World, django_capture_on_commit_callbacks: Any
) -> None:
    broken = io.BytesIO(b"id\tutterance\tcontext\ttargetValue\nnu-0\tonly two\n")
    broken.name = "broken.tsv"
    mara = browser(world.mara)

    with django_capture_on_commit_callbacks(execute=True):
        started = mara.post("/projects/films/sources/import/", {"reader": "wtq", "questions": broken})
    page = text(mara.get(started["Location"]))

    assert "broken.tsv 2 " in page
    assert "try again" in page
    assert Source.objects.count() == 1


def test_a_file_that_is_too_large_is_refused_before_it_is_kept(world: World, settings: Any) -> None:
    settings.MAX_IMPORT_BYTES = 10
    large = io.BytesIO(b"x" * 11)
    large.name = "large.tsv"

    page = browser(world.mara).post("/projects/films/sources/import/", {"reader": "wtq", "questions": large})

    assert "is larger than" in text(page)
    assert "ask the site administrator" in text(page)
    assert "command line" not in text(page)
    assert not Job.objects.exists()


class TestBatches:
    def given(self, world: World, **more: Any) -> dict[str, Any]:
        sources = [world.source.public_id]
        return {
            "kind": "question_type",
            "name": "First",
            "sources": sources,
            "size": 2,
            "seed": 7,
            "overlap": 3,
        } | more

    def test_the_kind_is_chosen_first_and_gives_its_defaults(self, world: World) -> None:
        mara = browser(world.mara)

        assert "Choose what annotators do" in text(mara.get("/projects/films/batches/new/"))
        second = mara.get("/projects/films/batches/new/?kind=value_change:answer_stays")
        assert "Value change: Change one or two values so that the answer stays the same" in text(second)
        assert 'name="overlap" value="1"' in second.content.decode()
        assert 'name="settings-at_most" value="2"' in second.content.decode()

    def test_a_kind_that_is_not_there_is_asked_for_again(self, world: World) -> None:
        page = browser(world.mara).post("/projects/films/batches/new/", self.given(world, kind="nonsense"))

        assert "Choose what annotators do" in text(page)
        assert not Batch.objects.exists()

    def test_it_is_planned_over_a_sample_and_opened_at_once(self, world: World) -> None:
        page = browser(world.mara).post(
            "/projects/films/batches/new/", self.given(world, open_at_once="on"), follow=True
        )

        batch = Batch.objects.get()
        assert (batch.state, batch.items_count, batch.slots_count, batch.seed) == ("open", 2, 6, 7)
        assert "6 planned responses = 0 submitted + 0 in progress + 6 not started" in text(page)

    def test_its_settings_are_those_of_the_kind(self, world: World) -> None:
        given = self.given(world, kind="value_change:answer_stays", overlap=1)

        browser(world.mara).post(
            "/projects/films/batches/new/",
            {**given, "settings-at_most": 4, "settings-cell_format": "require"},
        )

        batch = Batch.objects.get()
        assert (batch.variant, batch.state) == ("answer_stays", "planned")
        assert batch.settings == {"at_most": 4, "cell_format": "require", "outside": "warn"}

    def test_sources_and_batches_of_other_projects_cannot_be_named(self, world: World) -> None:
        elsewhere = projects.create_project(slug="other", name="Other", manager=world.mara, now=NOON)
        with immutable_rows.writable():
            Source.objects.update(project=elsewhere)

        page = browser(world.mara).post("/projects/films/batches/new/", self.given(world))

        assert "Select a valid choice" in text(page)

    def test_the_accounts_add_up(self, things: Things) -> None:
        page = text(browser(things.world.rea).get(reverse("batch", args=[things.batch.public_id])))

        assert "12 planned responses = 3 submitted + 1 in progress + 8 not started" in page
        assert "4 items = 3 open + 0 complete + 1 in adjudication + 0 accepted + 0 excluded" in page

    def test_an_undefined_agreement_says_why(self, world: World) -> None:
        batch = world.batch()
        world.label(batch, "ada", "extraction")

        page = text(browser(world.rea).get(reverse("batch", args=[batch.public_id])))

        assert "Not enough data yet. No unit has two ratings" in page

    def test_opening_and_closing_are_asked_about_first(
        self, world: World, django_capture_on_commit_callbacks: Any
    ) -> None:
        batch = world.batch(open=False, size=1)
        mara = browser(world.mara)
        opening, closing = (reverse(name, args=[batch.public_id]) for name in ("open_batch", "close_batch"))

        assert "Annotators of Films can start on its 1 item." in text(mara.get(opening))
        assert "Open the batch before you close it" in text(mara.post(closing, follow=True))
        mara.post(opening)
        batch.refresh_from_db()
        for who in ("ada", "bo", "cy"):
            world.label(batch, who, "extraction")
        assert "1 complete item is resolved immediately" in text(mara.get(closing))
        with django_capture_on_commit_callbacks(execute=True):
            answer = mara.post(closing)

        assert "1 complete item was resolved" in text(mara.get(answer["Location"]))
        assert Decision.objects.get().kind == "accepted"

    def test_flags_and_skips_are_for_the_manager(self, things: Things) -> None:
        assignments.flag(assignment=things.assignment, note="an odd year", now=NOON)
        assignments.skip(assignment=things.assignment, reason="a torn table", now=NOON)
        address = reverse("batch", args=[things.batch.public_id])

        manager, researcher = (
            text(browser(things.world.people[who]).get(address)) for who in ("mara", "rea")
        )

        for words in ("an odd year", "a torn table"):
            assert words in manager
            assert words not in researcher

    def test_a_kind_that_is_no_longer_installed_is_named(self, things: Things) -> None:
        Batch.objects.filter(pk=things.batch.pk).update(task_type="left_the_house")
        mara = browser(things.world.mara)

        assert "left_the_house (not installed here)" in text(mara.get("/projects/films/"))
        page = mara.get(reverse("batch", args=[things.batch.public_id]))
        assert page.status_code == 501
        assert "left_the_house" in text(page)


class TestGuidelines:
    ADDRESS = "/projects/films/guidelines/question_type/"

    def test_before_anybody_wrote_any_the_kinds_own_text_is_shown(self, world: World) -> None:
        page = text(browser(world.ada).get(self.ADDRESS))

        assert "Default text of this task type" in page
        assert "Extraction." in page

    def test_a_manager_writes_a_version_and_the_old_one_stays_readable(self, world: World) -> None:
        mara = browser(world.mara)
        mara.post(self.ADDRESS, {"text": "Look **twice**."})

        assert "<strong>twice</strong>" in mara.get(self.ADDRESS).content.decode()
        assert "Version 2 · current" in text(mara.get(self.ADDRESS))
        assert "not the current version" in text(mara.get(self.ADDRESS + "?version=1"))

    def test_html_in_them_is_text(self, world: World) -> None:
        mara = browser(world.mara)
        mara.post(self.ADDRESS, {"text": "<script>alert(1)</script> [x](javascript:alert(1))"})

        page = mara.get(self.ADDRESS).content.decode()

        assert "<script>alert" not in page
        assert 'href="javascript' not in page


# -- the road of an adjudicator ---------------------------------------------------------------------


class TestAdjudicating:
    def address(self, things: Things) -> str:
        return reverse("adjudicate", args=[things.item.public_id])

    def test_the_responses_stand_side_by_side_without_names(self, things: Things) -> None:
        page = text(browser(things.world.ivo).get(self.address(things)))

        for words in ("when did", "Extraction", "Reasoning", "Neither", "No label has a majority"):
            assert words in page
        for name in ("Ada", "Bo", "Cy"):
            assert not re.search(rf"\b{name}\b", page)

    def test_a_choice_decides_and_leads_to_the_next_item(self, things: Things) -> None:
        differ(things.world, things.batch)
        ivo = browser(things.world.ivo)

        answer = ivo.post(self.address(things), {"choose": "A", "note": "A reads it right."})

        decision = Decision.objects.get(item=things.item)
        assert (decision.kind, decision.note, decision.made_by) == (
            "accepted",
            "A reads it right.",
            things.world.ivo,
        )
        following = resolutions.waiting(things.batch).get()
        assert answer["Location"] == reverse("adjudicate", args=[following.public_id])

    def test_after_the_last_one_it_goes_back_to_the_queue(self, things: Things) -> None:
        answer = browser(things.world.ivo).post(
            self.address(things),
            {"exclude": "the question is broken", "note": "No reading works."},
            follow=True,
        )

        assert Decision.objects.get(item=things.item).reason == "the question is broken"
        assert "All caught up" in text(answer)

    @pytest.mark.parametrize(
        ("sent", "said"),
        [
            ({"note": "Because."}, "Choose at least one response"),
            ({"choose": "A", "exclude": "broken", "note": "Because."}, "not both"),
            ({"choose": ["A", "B"], "note": "Because."}, "cannot be accepted together"),
            ({"choose": "Z", "note": "Because."}, "Select a valid choice"),
        ],
    )
    def test_anything_else_is_refused_and_kept(self, things: Things, sent: dict[str, Any], said: str) -> None:
        page = browser(things.world.ivo).post(self.address(things), sent)

        assert said in text(page)
        html = page.content.decode()
        assert sent.get("note", "") in html
        assert sent.get("exclude", "") in html
        assert html.split("<main")[1].count(" checked") == len(
            [letter for letter in sent.get("choose", "") if letter in "AB"]
        )
        assert not Decision.objects.filter(item=things.item).exists()

    def test_an_item_that_was_decided_in_the_meantime_says_so(self, things: Things) -> None:
        adjudication.decide(item=things.item, by=things.world.ivo, note="n", exclude="e", now=NOON)

        page = browser(things.world.ivo).get(self.address(things), follow=True)

        assert "needs no adjudication now" in text(page)

    def test_an_item_that_never_waited_is_not_said_to_have_waited(self, things: Things) -> None:
        item = things.world.batch("question_type", name="New").items.order_by("pk")[0]

        page = browser(things.world.ivo).get(reverse("adjudicate", args=[item.public_id]), follow=True)

        assert "This item needs no adjudication now." in text(page)


def release_of_edits(world: World) -> Release:
    """A release in which two people changed the year of Heat."""
    batch = world.batch("value_change", variant="answer_changes", only=["nu-0"], overlap=2)
    for who, year in (("ada", "1996"), ("bo", "2006")):
        assignment = world.take(batch, who)
        assert assignment is not None
        operation = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": year}
        edit = {"unanswerable": False, "operations": [operation], "answers": [year], "reason": ""}
        world.answer(assignment, edit)
    automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(days=2))
    return creation.make_release(
        project=world.project, name="edits", format="askew", by=world.rea, now=NOON + timedelta(days=2)
    )


# -- the road of a researcher -----------------------------------------------------------------------


class TestReleasing:
    def test_a_release_is_made_in_the_background_shown_and_downloaded(
        self, things: Things, django_capture_on_commit_callbacks: Any
    ) -> None:
        rea = browser(things.world.rea)

        with django_capture_on_commit_callbacks(execute=True):
            started = rea.post("/projects/films/releases/", {"name": "1.0", "format": "freb_tqa"})
        assert "The release is ready" in text(rea.get(started["Location"]))
        release = Release.objects.get(name="1.0")
        page = text(rea.get(reverse("release", args=[release.public_id])))
        for words in ("Fleiss", "Krippendorff", "CC-BY-SA-4.0", "annotations.jsonl", release.digest):
            assert words in page.replace("&#x27;", "'")

        sent = rea.get(reverse("download", args=[release.public_id]))

        assert sent.streaming
        assert 'filename="films-1.0.zip"' in sent["Content-Disposition"]
        with zipfile.ZipFile(io.BytesIO(sent.getvalue())) as archive:
            assert "manifest.json" in archive.namelist()

    def test_the_page_of_a_release_shows_what_was_changed_question_by_question(self, things: Things) -> None:
        rea = browser(things.world.rea)
        address = reverse("release", args=[things.release.public_id])
        assert "What was changed" not in text(rea.get(address)), (
            "no response of this release makes an example"
        )

        release = release_of_edits(things.world)

        page = rea.get(reverse("release", args=[release.public_id]))
        assert "Question 1 of 1" in text(page)
        [cell] = re.findall(r'<td[^>]*class="[^"]*changed[^"]*".*?</td>', page.content.decode())
        assert "1995" in cell
        assert sorted(re.findall(r"([AB])</b> (\d+)</ins>", cell)) == [("A", "1996"), ("B", "2006")]
        [data] = re.findall(r'<script id="comparison"[^>]*>(.*?)</script>', page.content.decode())
        assert [variant["name"] for variant in json.loads(data)["variants"]] == ["Example A", "Example B"]
        past_the_end = rea.get(reverse("release", args=[release.public_id]), {"example": "99"})
        assert "Question 1 of 1" in text(past_the_end)

    def test_simulated_people_are_asked_about_only_where_there_are_any(self, things: Things) -> None:
        rea = browser(things.world.rea)
        assert "Include simulated people" not in text(rea.get("/projects/films/releases/"))

        Person.objects.filter(pk=things.world.ada.pk).update(is_simulated=True)

        assert "Include simulated people" in text(rea.get("/projects/films/releases/"))
        refused = rea.post("/projects/films/releases/", {"name": "2.0", "format": "askew"})
        assert "Simulated people annotated in this project" in text(refused)

    def test_one_that_is_not_ready_leads_to_its_job_and_is_not_downloaded(self, things: Things) -> None:
        with immutable_rows.writable():
            Release.objects.filter(pk=things.release.pk).update(ready_at=None, job=things.job)
        rea = browser(things.world.rea)

        page = rea.get(reverse("release", args=[things.release.public_id]))

        assert page["Location"] == reverse("job", args=[things.job.public_id])
        assert rea.get(reverse("download", args=[things.release.public_id])).status_code == 404


# -- around the work --------------------------------------------------------------------------------


class TestJobs:
    def page(self, things: Things, *, fragment: bool = False, told: str = "", **changes: Any) -> str:
        Job.objects.filter(pk=things.job.pk).update(**changes)
        headers = {"HX-Request": "true"} if fragment else {}
        address = reverse("job", args=[things.job.public_id])
        asked = {"told": told} if told else {}
        return browser(things.world.mara).get(address, asked, headers=headers).content.decode()

    @pytest.mark.parametrize(
        ("told", "changes", "said"),
        [
            ("0", {"state": "running", "done": 24, "total": 100}, None),
            ("0", {"state": "running", "done": 25, "total": 100}, "25 %"),
            ("25", {"state": "running", "done": 49, "total": 100}, None),
            ("75", {"state": "failed", "error": "No."}, "100 %"),
        ],
    )
    def test_a_screen_reader_is_told_each_quarter_once(
        self, things: Things, told: str, changes: dict[str, Any], said: str | None
    ) -> None:
        page = self.page(things)
        assert page.count('id="job-told" role="status"') == 1
        assert "aria-live" not in page

        fragment = self.page(things, fragment=True, told=told, **changes)

        spoken = re.findall(r'<p hx-swap-oob="innerHTML:#job-told">[^<]*: ([^<]+)</p>', fragment)
        assert spoken == ([said] if said else [])

    def test_while_it_runs_the_page_asks_again_with_and_without_scripts(self, things: Things) -> None:
        page = self.page(things, state="running", done=3, total=10)

        assert "3 of 10" in page
        assert f'hx-get="{reverse("job", args=[things.job.public_id])}?told=25"' in page
        assert 'hx-trigger="every ' in page, "a poll that fails is followed by another one"
        assert '<noscript><meta http-equiv="refresh"' in page

    def test_the_fragment_is_the_moving_part_alone(self, things: Things) -> None:
        fragment = self.page(things, fragment=True, state="running", done=3, total=10)

        assert "<html" not in fragment
        assert "3 of 10" in fragment

    def test_once_it_failed_it_says_why_and_asks_no_more(self, things: Things) -> None:
        page = self.page(things, state="failed", error="films.tsv, line 7: <b>bad</b>")

        assert "films.tsv, line 7: &lt;b&gt;bad&lt;/b&gt;" in page
        assert "hx-get" not in page
        assert "http-equiv" not in page


class TestHealth:
    def test_alive_and_ready(self, db: None) -> None:
        assert Client().get("/healthz").content == b"ok\n"
        assert Client().get("/readyz").content == b"ready\n"

    def test_not_ready_without_a_migration(self, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "annotation.platform.migration_state.unapplied", lambda: ["annotation.1", "annotation.2"]
        )

        answer = Client().get("/readyz")

        assert answer.status_code == 503
        assert b"2 migrations are not applied" in answer.content

    def test_not_ready_with_a_database_that_is_newer_than_the_code(self, db: None) -> None:
        MigrationRecorder(connection).record_applied("annotation", "9999_from_the_future")

        answer = Client().get("/readyz")

        assert answer.status_code == 503
        assert b"newer than this program: it has migration annotation.9999_from_the_future" in answer.content

    def test_migrations_that_were_squashed_or_belong_to_a_removed_app_are_not_newer(self, db: None) -> None:
        MigrationRecorder(connection).record_applied("annotation", "0001_squashed_long_ago")
        MigrationRecorder(connection).record_applied("a_removed_app", "9999_last")

        assert Client().get("/readyz").status_code == 200

    @pytest.mark.parametrize("arguments", [["--check"], []])
    def test_migrate_refuses_a_database_that_is_newer_than_the_code(
        self, db: None, arguments: list[str]
    ) -> None:
        MigrationRecorder(connection).record_applied("annotation", "9999_from_the_future")

        with pytest.raises(CommandError, match="newer than this program: it has migration annotation"):
            call_command("migrate", *arguments)

    def test_a_database_with_all_replaced_migrations_is_ready_before_and_after_it_is_migrated(
        self, db: None
    ) -> None:
        MigrationRecorder(connection).record_unapplied("annotation", "0043_initial")
        assert Client().get("/readyz").content == b"ready\n"

        call_command("migrate", verbosity=0)

        assert "annotation.0043_initial" in migration_state.applied()
        assert Client().get("/readyz").content == b"ready\n"

    @pytest.mark.parametrize("arguments", [["--check"], ["--plan"], []])
    def test_a_database_between_replaced_migrations_is_refused_with_the_remedy(
        self, db: None, arguments: list[str]
    ) -> None:
        for name in ("0041_seconds_of_imported_labels", "0042_statistics_of_response_facts", "0043_initial"):
            MigrationRecorder(connection).record_unapplied("annotation", name)

        answer = Client().get("/readyz")
        with pytest.raises(CommandError, match="between two versions") as refused:
            call_command("migrate", *arguments)

        assert answer.status_code == 503
        for text in (answer.content.decode(), str(refused.value)):
            assert (
                "it lacks 2 of the 42 migrations that annotation.0043_initial replaces (annotation.0041"
                in text
            )
            assert (
                "Install the version whose last migration is annotation.0042_statistics_of_response" in text
            )

    def test_not_ready_without_a_database(self, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
        from django.db import OperationalError

        def gone() -> list[str]:
            raise OperationalError("gone")

        monkeypatch.setattr("annotation.platform.migration_state.unapplied", gone)

        assert Client().get("/readyz").status_code == 503


class TestTheDemoLink:
    """The view itself; that it is routed under ./run demo alone is the URL conf's doing."""

    @pytest.fixture(autouse=True)
    def tokens(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "annotation.management.demo_world.person_for",
            lambda token: world.mara if token == "right" else None,
        )

    def request(self, rf: RequestFactory, method: str = "get", **meta: Any) -> Any:
        request = getattr(rf, method)("/demo/right/", **meta)
        client = Client()
        request.session = client.session
        request.user = Person()
        return request

    def test_is_not_routed_here(self) -> None:
        assert not settings.DEMO_SECRET
        assert "demo_sign_in" not in {pattern.name for pattern in urls.urlpatterns}

    def test_get_shows_a_button_and_signs_nobody_in(self, rf: RequestFactory) -> None:
        request = self.request(rf)

        page = demo.demo_sign_in(request, "right")

        assert "Sign in as Mara" in text(page)
        assert page["Referrer-Policy"] == "same-origin"
        assert SESSION_KEY not in request.session

    def test_post_signs_in(self, rf: RequestFactory, world: World) -> None:
        request = self.request(rf, "post")

        demo.demo_sign_in(request, "right")

        assert request.session[SESSION_KEY] == str(world.mara.pk)

    @pytest.mark.parametrize(
        ("token", "meta"),
        [
            ("wrong", {}),
            ("right", {"REMOTE_ADDR": "192.0.2.7"}),
            ("right", {"REMOTE_ADDR": ""}),
            ("right", {"HTTP_X_FORWARDED_FOR": "192.0.2.7"}),
            ("right", {"HTTP_FORWARDED": "for=192.0.2.7"}),
        ],
    )
    @pytest.mark.parametrize("method", ["get", "post"])
    def test_it_is_for_this_machine_and_the_right_token(
        self, rf: RequestFactory, method: str, token: str, meta: dict[str, str]
    ) -> None:
        with pytest.raises(Http404):
            demo.demo_sign_in(self.request(rf, method, **meta), token)


class TestErrors:
    def test_a_form_from_before_signing_in_is_refused_in_words(self, world: World) -> None:
        client = Client(enforce_csrf_checks=True)

        page = client.post("/sign-in/", {"username": "mara@example.org", "password": "tilted tables"})

        assert page.status_code == 403
        assert "The form has expired" in text(page)

    def test_a_fault_of_ours_says_that_nothing_is_lost(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*arguments: Any, **more: Any) -> None:
            raise RuntimeError("boom")

        monkeypatch.setattr("annotation.access.authorization.projects", fail)
        client = Client(raise_request_exception=False)
        client.force_login(world.mara)

        page = client.get("/")

        assert page.status_code == 500
        assert "Your saved work is safe" in text(page)
        assert "boom" not in text(page)

    def test_a_host_that_is_not_ours_is_not_understood(self, db: None) -> None:
        page = Client().get("/sign-in/", headers={"host": "evil.example"})

        assert page.status_code == 400
        assert "Bad request" in text(page)


def test_a_zone_this_machine_does_not_know_is_utc() -> None:
    assert str(Person(time_zone="Mars/North").zone) == "UTC"
    assert str(Person(time_zone="../etc/passwd").zone) == "UTC"


def test_templates_hold_no_inline_style_and_no_inline_script() -> None:
    """The Content-Security-Policy would refuse them in a browser; here it is said which file."""
    for path in (settings.BASE_DIR / "templates").rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=|<script(?![^>]*\bsrc=)", html), path
