"""Accounts: a forgotten password, roles that change, what administrators do, one's own data, and erasing them."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access.roles import Permission, Role
from annotation.accounts import crowd_entry, erasure, sign_up
from annotation.management.doctor import findings
from annotation.models import (
    ApiToken,
    Assignment,
    CrowdEntry,
    Draft,
    Event,
    Invitation,
    Membership,
    Person,
    Release,
)
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused
from annotation.quality import annotator_questions
from annotation.releases import creation
from annotation.workflow import assignments, automatic_decisions, batches, projects
from tests.annotation.cast import NOON, World


@pytest.fixture
def root(world: World) -> Person:
    return Person.objects.create_person("Root", "root@example.org", "tilted tables", is_administrator=True)


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


NEW = {"new": "even more tilted"}


class TestAForgottenPassword:
    @pytest.fixture(autouse=True)
    def server(self, settings: Any) -> None:
        settings.HAS_MAIL = True

    def ask(self, callbacks: Any, email: str) -> str:
        with callbacks(execute=True):
            answer = Client().post("/password/forgotten/", {"email": email})
        assert answer.status_code == 302, "loading the page again sends no other link"
        return text(Client().get(answer["Location"]))

    def test_the_link_comes_by_mail_and_sets_a_new_password_once(
        self, world: World, django_capture_on_commit_callbacks: Any
    ) -> None:
        here = browser(world.ada)
        self.ask(django_capture_on_commit_callbacks, "Ada@Example.org")
        (sent,) = mail.outbox
        assert sent.to == ["ada@example.org"]
        link = re.search(r"http://testserver(/password/new/\S+)", str(sent.body))
        assert link is not None

        page = Client().get(link[1])
        assert page.status_code == 200
        assert "no-store" in page["Cache-Control"]
        done = Client().post(link[1], NEW, follow=True)

        assert "Your password is changed" in text(done)
        assert Person.objects.get(pk=world.ada.pk).check_password(NEW["new"])
        assert here.get("/account/").status_code == 302, "sessions end"
        again = Client().post(link[1], {"new": "a third password"})
        assert again.status_code == 410
        assert "does not work" in text(again)
        assert Event.objects.filter(thing="person", after="password reset").count() == 1

    def test_nobody_learns_who_has_an_account(
        self, world: World, django_capture_on_commit_callbacks: Any
    ) -> None:
        Person.objects.filter(pk=world.bo.pk).update(is_active=False)

        said = {
            self.ask(django_capture_on_commit_callbacks, email)
            for email in ("ada@example.org", "bo@example.org", "nobody@example.org")
        }

        assert len(said) == 1
        assert [sent.to for sent in mail.outbox] == [["ada@example.org"]]

    @pytest.mark.parametrize("what", ["time", "sign in", "sign out", "closed", "made up"])
    def test_a_link_ends_with_time_with_signing_in_or_out_and_with_the_account(
        self, world: World, what: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = sign_up.reset_path(world.ada)
        if what == "time":
            now = sign_up._tokens._now() + timedelta(hours=25)
            monkeypatch.setattr(sign_up._tokens, "_now", lambda: now)
        elif what == "sign in":
            Client().post("/sign-in/", {"username": "ada@example.org", "password": "tilted tables"})
        elif what == "sign out":
            projects.sign_out_everywhere(person=world.ada, by=world.ada, now=NOON)
        elif what == "closed":
            Person.objects.filter(pk=world.ada.pk).update(is_active=False)
        else:
            path = path[:-5] + "aaaa/"

        assert Client().get(path).status_code == 410
        assert Client().post(path, NEW).status_code == 410

    def test_a_link_is_for_one_person_alone(self, world: World) -> None:
        token = sign_up.reset_path(world.ada).strip("/").split("/")[-1]

        for key in ("1", "zzzzzzzzzzzzzz", "-1", str(world.bo.pk)):
            if key != str(world.ada.pk):
                assert Client().get(f"/password/new/{key}/{token}/").status_code == 410

    def test_a_weak_password_is_refused_and_the_link_still_works(self, world: World) -> None:
        path = sign_up.reset_path(world.ada)

        assert "too short" in text(Client().post(path, {"new": "short"}))
        assert Client().post(path, NEW).status_code == 302

    def test_without_a_mail_server_the_page_says_who_helps(self, world: World, settings: Any) -> None:
        settings.HAS_MAIL = False

        page = Client().post("/password/forgotten/", {"email": "ada@example.org"}, follow=True)

        assert "Ask an administrator for a link" in text(page)
        assert not mail.outbox


class TestAdministrators:
    def test_make_a_link_that_is_shown_once(self, world: World, root: Person) -> None:
        address = reverse("account_of", args=[world.ada.pk])

        page = browser(root).post(address, {"action": "reset"}, follow=True)

        link = re.search(r'value="http://testserver(/password/new/[^"]+)"', page.content.decode())
        assert link is not None
        assert page["Cache-Control"] == "no-store"
        assert link[1] not in browser(root).get(address).content.decode()
        assert Client().post(link[1], NEW).status_code == 302
        event = Event.objects.get(thing="person", after="reset link made")
        assert (event.actor, event.thing_id) == (root, world.ada.pk)

    def test_no_manager_makes_one(self, world: World) -> None:
        address = reverse("account_of", args=[world.ada.pk])

        assert browser(world.mara).post(address, {"action": "reset"}).status_code == 404
        with pytest.raises(PermissionError):
            sign_up.make_reset(person=world.ada, by=world.mara, now=NOON)

    def test_find_people_and_close_accounts(self, world: World, root: Person) -> None:
        admin = browser(root)
        page = text(admin.get("/accounts/", {"words": "ADA@ex"}))
        assert "Ada" in page
        assert "Ivo" not in page
        there = browser(world.ada)

        admin.post(reverse("account_of", args=[world.ada.pk]), {"action": "close", "confirmed": "yes"})

        assert there.get("/account/").status_code == 302
        assert (
            Client()
            .post("/sign-in/", {"username": "ada@example.org", "password": "tilted tables"})
            .status_code
            == 200
        )
        states = Event.objects.filter(thing="person").values_list("before", "after")
        assert list(states) == [("open", "closed")]

    def test_revoke_everything_ends_sessions_tokens_links_and_the_password(
        self, world: World, root: Person
    ) -> None:
        there, link = browser(world.ada), sign_up.reset_path(world.ada)
        token, _ = projects.make_token(
            person=world.ada, project=world.project, name="t", scopes=[Permission.ANNOTATE], now=NOON
        )
        address = reverse("account_of", args=[world.ada.pk])

        asked = browser(root).post(address, {"action": "revoke"})
        assert "ends its sessions, API tokens, password links and password" in text(asked)
        assert there.get("/account/").status_code == 200
        browser(root).post(address, {"action": "revoke", "confirmed": "yes"})

        assert there.get("/account/").status_code == 302
        assert Client().get(link).status_code == 410
        token.refresh_from_db()
        assert token.revoked_at is not None
        ada = Person.objects.get(pk=world.ada.pk)
        assert not ada.check_password("tilted tables")
        revoked = Event.objects.filter(after__in=["revoked", "everything revoked"]).order_by("pk")
        assert [(event.thing, event.actor_id) for event in revoked] == [
            ("apitoken", root.pk),
            ("person", root.pk),
        ]
        sent = browser(root).post(address, {"action": "reset"}, follow=True)
        new = re.search(r'value="http://testserver(/password/new/[^"]+)"', sent.content.decode())
        assert new is not None
        Client().post(new[1], NEW)
        assert Person.objects.get(pk=world.ada.pk).check_password(NEW["new"])

    def test_there_is_always_another_administrator(self, world: World, root: Person) -> None:
        admin = browser(root)
        address = reverse("account_of", args=[root.pk])
        for action in ("person", "close", "revoke"):
            assert "only administrator" in text(
                admin.post(address, {"action": action, "confirmed": "yes"}, follow=True)
            )

        admin.post(
            reverse("account_of", args=[world.mara.pk]), {"action": "administrator", "confirmed": "yes"}
        )
        admin.post(address, {"action": "person", "confirmed": "yes"})

        assert not Person.objects.get(pk=root.pk).is_administrator
        assert Person.objects.get(pk=world.mara.pk).is_administrator


class TestTokens:
    @pytest.mark.parametrize("how", ["sign out everywhere", "own password", "reset link", "changepassword"])
    def test_end_with_signing_out_everywhere_and_with_a_new_password(
        self, world: World, how: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        token, _ = projects.make_token(
            person=world.ada, project=world.project, name="t", scopes=[Permission.ANNOTATE], now=NOON
        )
        others, _ = projects.make_token(
            person=world.bo, project=world.project, name="t", scopes=[Permission.ANNOTATE], now=NOON
        )
        if how == "sign out everywhere":
            browser(world.ada).post("/account/sign-out-everywhere/")
        elif how == "own password":
            browser(world.ada).post("/account/password/", {"old": "tilted tables", **NEW})
        elif how == "reset link":
            Client().post(sign_up.reset_path(world.ada), NEW)
        else:
            monkeypatch.setattr("getpass.getpass", lambda *args, **options: NEW["new"])
            call_command("changepassword", "ada@example.org")

        token.refresh_from_db()
        others.refresh_from_db()
        assert token.revoked_at is not None
        assert others.revoked_at is None

    def test_stay_valid_when_the_person_signs_out_or_in(self, world: World) -> None:
        token, _ = projects.make_token(
            person=world.ada, project=world.project, name="t", scopes=[Permission.ANNOTATE], now=NOON
        )

        browser(world.ada).post("/sign-out/")
        Client().post("/sign-in/", {"username": "ada@example.org", "password": "tilted tables"})

        token.refresh_from_db()
        assert token.revoked_at is None


class TestRolesAndInvitations:
    def test_every_change_of_roles_is_an_event_from_and_to(self, world: World) -> None:
        member = Membership.objects.get(person=world.ada)
        with immutable_rows.writable():
            Event.objects.all().delete()

        browser(world.mara).post(
            reverse("change_roles", args=[member.pk]), {"roles": ["adjudicator", "viewer"]}
        )

        member.refresh_from_db()
        assert set(member.roles) == {"adjudicator", "viewer"}
        events = Event.objects.filter(thing="membership").values_list("actor__name", "before", "after")
        assert set(events) == {
            ("Mara", "annotator", "no annotator"),
            ("Mara", "", "adjudicator"),
            ("Mara", "", "viewer"),
        }

    def test_whoever_is_no_annotator_any_more_gives_back_what_they_hold(self, world: World) -> None:
        batch = world.batch()
        held = world.take(batch, "ada")
        assert held is not None

        projects.change_roles(
            membership=Membership.objects.get(person=world.ada), roles=[Role.VIEWER], by=world.mara, now=NOON
        )

        assert Assignment.objects.get(pk=held.pk).state == "returned"
        assert list(findings()) == []

    def test_the_only_manager_stays_one(self, world: World) -> None:
        mine = Membership.objects.get(person=world.mara)

        page = browser(world.mara).post(reverse("change_roles", args=[mine.pk]), {"roles": ["viewer"]})

        assert "only manager" in text(page)
        assert Membership.objects.get(pk=mine.pk).roles == ["manager"]

    def test_an_invitation_ends_when_the_manager_says(self, world: World) -> None:
        mara = browser(world.mara)
        page = mara.post("/projects/films/people/", {"roles": ["viewer"], "days": 2}, follow=True)
        link = re.search(r'value="http://testserver(/join/[^"]+)"', page.content.decode())
        assert link is not None
        invitation = Invitation.objects.get()
        assert invitation.expires_at - invitation.made_at == timedelta(days=2)

        mara.post(reverse("withdraw_invitation", args=[invitation.pk]))

        gone = Client().get(link[1])
        assert gone.status_code == 410
        assert "Ask for a new link" in text(gone)
        assert "Open invitations" not in text(mara.get("/projects/films/people/"))
        after = Event.objects.filter(thing="invitation").order_by("pk").values_list("after", flat=True)
        assert list(after) == ["open", "withdrawn"]

    def test_an_invitation_that_expired_says_so_and_adds_nobody(self, world: World) -> None:
        _, token = projects.invite(
            project=world.project,
            roles=[Role.ANNOTATOR],
            name="Eli",
            by=world.mara,
            now=timezone.now() - timedelta(days=60),
        )
        joining = {"name": "Eli", "email": "eli@example.org", "password": "tilted tables"}

        for answer in (
            Client().get(f"/join/{token}/"),
            Client().post(f"/join/{token}/", joining),
        ):
            assert answer.status_code == 410
            assert "This invitation is not valid or has expired. Ask for a new link." in text(answer)
        assert not Person.objects.filter(name="Eli").exists()

    def test_an_invitation_of_a_year_is_refused(self, world: World) -> None:
        with pytest.raises(ActionRefused, match="1 to 90 days"):
            projects.invite(project=world.project, roles=[Role.VIEWER], by=world.mara, now=NOON, days=365)


class TestSomebodyWhoLeft:
    def test_is_told_so_on_their_first_page_and_comes_back_under_the_old_pseudonym(
        self, world: World
    ) -> None:
        member = Membership.objects.get(person=world.ada)
        world.label(world.batch(), "ada", "extraction")
        projects.remove_member(membership=member, by=world.mara, now=NOON)
        ada = browser(Person.objects.get(pk=world.ada.pk))

        page = text(ada.get("/"))
        assert "Your membership in Films ended on 2 Mar 2026" in page
        assert ada.get("/projects/films/").status_code == 404

        _, token = projects.invite(
            project=world.project, roles=[Role.ANNOTATOR], by=world.mara, now=timezone.now()
        )
        ada.post(f"/join/{token}/")
        assert "Your membership in" not in text(ada.get("/"))
        again = Membership.objects.get(person=world.ada)
        assert (again.pk, again.pseudonym) == (member.pk, member.pseudonym)
        assert Assignment.objects.filter(person=world.ada, state="submitted").count() == 1

    def test_is_told_the_newest_ends_first(self, world: World) -> None:
        for slug in ("cups", "games"):
            project = projects.create_project(slug=slug, name=slug.title(), manager=world.mara, now=NOON)
            projects.add_member(
                project=project, person=world.ada, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
            )
        here = Membership.objects.filter(person=world.ada).order_by("pk")
        for days, membership in enumerate(here.select_related("project", "person")):
            projects.remove_member(membership=membership, by=world.mara, now=NOON + timedelta(days=days))

        page = text(browser(Person.objects.get(pk=world.ada.pk)).get("/"))

        assert re.findall(r"Your membership in (\w+) ended", page) == ["Games", "Cups", "Films"]


class TestRenamingAProject:
    def test_keeps_its_address_and_everything_that_hangs_on_it(self, world: World) -> None:
        _, secret = projects.make_token(
            person=world.ada,
            project=world.project,
            name="t",
            scopes=[Permission.ANNOTATE],
            now=timezone.now(),
        )
        mara = browser(world.mara)

        page = mara.post(
            "/projects/films/rename/", {"name": "Moving pictures", "time_zone": "Europe/Paris"}, follow=True
        )

        assert "The short name in the URL is unchanged" in text(page).replace("&#x27;", "'")
        assert "Moving pictures" in text(mara.get("/projects/films/"))
        assert (
            Client().get("/api/projects/", headers={"Authorization": f"Bearer {secret}"}).status_code == 200
        )
        said = Event.objects.filter(thing="project", after="renamed").values_list("detail", flat=True)
        assert {(one["from"], one["to"]) for one in said if one} == {
            ("Films", "Moving pictures"),
            ("UTC", "Europe/Paris"),
        }

    @pytest.mark.parametrize(
        ("sent", "said"),
        [
            ({"name": "  ", "time_zone": "UTC"}, "required"),
            ({"name": "x" * 121, "time_zone": "UTC"}, "at most 120"),
            ({"name": "x", "time_zone": "Mars/North"}, "Select a valid choice"),
        ],
    )
    def test_what_cannot_be_is_refused_in_words(self, world: World, sent: dict[str, str], said: str) -> None:
        assert said in text(browser(world.mara).post("/projects/films/rename/", sent))


# -- data -------------------------------------------------------------------------------------------


def secrets_of(world: World) -> list[str]:
    return ["Ada", "ada@example.org", "left-handed", "EXTERNAL-77"]


@pytest.fixture
def worked(world: World) -> World:
    """Ada has answered, typed, flagged, and said something of herself; one batch is closed and one is open."""
    closed = world.batch(size=2, name="Closed")
    for _ in range(2):
        for who in ("ada", "bo", "cy"):
            world.label(closed, who, "extraction")
    batches.close_batch(batch=closed, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=closed, now=NOON)
    opened = world.batch(name="Open")
    held = world.take(opened, "ada")
    assert held is not None
    assignments.save_draft(assignment=held, revision=0, response={"data": {}}, now=NOON)
    assignments.flag(assignment=held, note="an odd year", now=NOON)
    Membership.objects.filter(person=world.ada).update(characteristics={"hand": "left-handed"})
    projects.make_token(
        person=world.ada, project=world.project, name="t", scopes=[Permission.ANNOTATE], now=timezone.now()
    )
    link = crowd_entry.make_link(
        project=world.project,
        name="Crowd",
        parameters=crowd_entry.PARAMETERS["generic"],
        completion_code="A",
        screen_out_code="B",
        expires_at=NOON + timedelta(days=1),
        by=world.mara,
        now=NOON,
    )
    CrowdEntry.objects.create(link=link, person=world.ada, external_id="EXTERNAL-77", entered_at=NOON)
    return world


class TestOnesOwnData:
    def test_the_file_has_everything_of_the_person_and_nothing_of_others(self, worked: World) -> None:
        answer = browser(worked.ada).get("/account/data/")

        assert "attachment" in answer["Content-Disposition"]
        data = json.loads(answer.content)
        assert data["account"]["email"] == "ada@example.org"
        assert data["memberships"][0]["characteristics"] == {"hand": "left-handed"}
        assert data["crowd_entries"][0]["external_id"] == "EXTERNAL-77"
        assert [row["response"]["data"]["label"] for row in data["annotations"]] == ["extraction"] * 2
        assert (data["drafts"][0]["revision"], data["flags"][0]["note"]) == (1, "an odd year")
        assert data["tokens"][0]["prefix"].startswith("askew_")
        said = answer.content.decode()
        for name in ("Bo", "Mara", "bo@example.org", "is_gold", "token_hash", 'password"'):
            assert name not in said

    def test_an_administrator_gets_the_same(self, worked: World, root: Person) -> None:
        mine = json.loads(browser(worked.ada).get("/account/data/").content)
        theirs = json.loads(browser(root).get(reverse("data_of", args=[worked.ada.pk])).content)

        for data in (mine, theirs):
            del data["made_at"], data["account"]["last_login"]
        assert mine == theirs


def of_its_data(files: dict[str, Any]) -> dict[str, Any]:
    """All files but the two that name the release."""
    return {name: digest for name, digest in files.items() if name not in ("manifest.json", "CITATION.cff")}


def numbers(release: Release) -> dict[str, Any]:
    """The manifest but for what names this one release."""
    own = ("name", "number", "predecessor", "changes", "made_at", "watermark", "digest", "release")
    manifest = {key: value for key, value in release.manifest.items() if key not in own}
    return {**manifest, "files": of_its_data(manifest["files"])}


class TestErasing:
    def test_the_page_says_what_goes_and_what_stays_before_it_asks(self, worked: World) -> None:
        page = text(browser(worked.ada).get("/account/erase/"))

        for words in (
            "Erase your data?",
            "2 responses",
            "1 draft",
            "1 API token",
            "platform IDs",
            "cannot be undone",
        ):
            assert words in page
        assert Person.objects.get(pk=worked.ada.pk).erased_at is None

    def test_what_says_who_somebody_is_goes_and_the_pseudonym_stays(self, worked: World) -> None:
        here = browser(worked.ada)
        before = Membership.objects.get(person=worked.ada)

        assert "Wrong password" in text(here.post("/account/erase/", {"sure": "wrong"}))
        here.post("/account/erase/", {"sure": "tilted tables"})

        person = Person.objects.get(pk=worked.ada.pk)
        assert (person.name, person.email, person.is_active) == ("Erased person", None, False)
        assert not person.has_usable_password()
        after = Membership.objects.get(person=person)
        assert (after.pseudonym, after.characteristics) == (before.pseudonym, {})
        assert after.removed_at is not None
        assert not Draft.objects.filter(assignment__person=person).exists()
        assert not ApiToken.objects.filter(person=person).exists()
        assert here.get("/account/").status_code == 302
        assert person.assignments.filter(state="leased").count() == 0
        assert list(findings()) == []
        assert Event.objects.filter(thing="person", after="erased").count() == 1

    def test_nothing_in_the_database_names_the_person_any_more(self, worked: World) -> None:
        from django.apps import apps

        erasure.erase(person=worked.ada, by=worked.ada, now=NOON)

        for model in apps.get_models():
            for row in model._default_manager.values():
                for secret in secrets_of(worked):
                    assert not re.search(rf"\b{re.escape(secret)}\b", str(row)), f"{model.__name__}: {row}"

    def test_a_release_is_the_same_to_the_byte_and_still_verifies(self, worked: World) -> None:
        def release(name: str) -> dict[str, str]:
            made = creation.make_release(
                project=worked.project, name=name, format="askew", by=worked.rea, now=NOON
            )
            folder = creation.folder(made)
            call_command("verify_release", str(folder))
            return {
                str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(Path(folder).rglob("*"))
                if path.is_file()
            }

        before = release("v1")
        first = Release.objects.get(name="v1")
        erasure.erase(person=worked.ada, by=worked.ada, now=NOON)
        after = release("v2")

        assert "annotations.jsonl" in before
        assert of_its_data(before) == of_its_data(after)
        assert numbers(first) == numbers(Release.objects.get(name="v2"))
        call_command("verify_release", str(creation.folder(first)))
        everything = b"".join(path.read_bytes() for path in Path(creation.folder(first)).rglob("*.json*"))
        for secret in secrets_of(worked):
            assert secret.encode() not in everything

    def test_an_administrator_sees_first_which_texts_have_a_part_of_the_name(
        self, worked: World, root: Person
    ) -> None:
        projects.change_person(person=worked.ada, name="Adelheid Quandt", time_zone="UTC")
        for asked in (
            "Quandt is tired",
            "as Adelheid Quandt said",
            "ADELHEID’s table",
            "Quandtum",
            "nothing",
        ):
            annotator_questions.ask(project=worked.project, person=worked.bo, text=asked, now=NOON)
        address = reverse("erase_person", args=[worked.ada.pk])

        page = text(browser(root).get(address))

        _, _, listed = page.partition("Texts with a part of the name")
        assert "Quandt is tired ADELHEID’s table" in listed
        assert not any(words in listed for words in ("as Adelheid", "Quandtum", "nothing"))
        assert "Texts with a part of the name" not in text(browser(worked.ada).get("/account/erase/"))

    def test_the_only_manager_hands_over_first(self, world: World) -> None:
        page = text(browser(world.mara).get("/account/erase/"))
        assert "only manager of Films" in page

        with pytest.raises(ActionRefused, match="only manager"):
            erasure.erase(person=world.mara, by=world.mara, now=NOON)
        assert Person.objects.get(pk=world.mara.pk).name == "Mara"

    def test_nobody_erases_somebody_else_but_an_administrator(self, worked: World, root: Person) -> None:
        with pytest.raises(PermissionError):
            erasure.erase(person=worked.ada, by=worked.mara, now=NOON)

        browser(root).post(reverse("erase_person", args=[worked.ada.pk]), {"sure": "tilted tables"})

        assert Person.objects.get(pk=worked.ada.pk).erased_at is not None
        erasure.erase(person=worked.ada, by=root, now=NOON)
        assert Event.objects.filter(thing="person", after="erased").count() == 1
