"""Trying again and again: passwords, links, tokens and crowd entry are slowed down, and nobody is locked out by others."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY, hashers
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.access.roles import Permission, Role
from annotation.accounts import crowd_entry, rate_limits, sign_up
from annotation.models import Attempts, CrowdLink, Membership, Person
from annotation.platform.refusals import ActionRefused
from annotation.workflow import projects
from tests.annotation.cast import NOON, World

LIMITS = [limit for limit in vars(rate_limits).values() if isinstance(limit, rate_limits.Limit)]
HERE, THERE = "192.0.2.7", "198.51.100.4"
RIGHT = "tilted tables"


def sign_in(email: str, password: str, address: str = HERE, **more: Any) -> Any:
    client = Client(REMOTE_ADDR=address, **more)
    answer = client.post(reverse("sign_in"), {"username": email, "password": password})
    answer.signed_in = SESSION_KEY in client.session  # type: ignore[attr-defined]
    return answer


def guess(email: str, times: int, address: str = HERE) -> list[int]:
    """The statuses of so many wrong passwords."""
    return [sign_in(email, f"guess {number}", address).status_code for number in range(times)]


class TestSigningIn:
    def test_guessing_is_stopped_and_says_how_long(self, world: World) -> None:
        statuses = guess("ada@example.org", rate_limits.SIGN_IN_HERE.at_once + 3)
        assert statuses == [200] * rate_limits.SIGN_IN_HERE.at_once + [429] * 3
        answer = sign_in("ada@example.org", "one more")
        assert 0 < int(answer["Retry-After"]) <= 60
        assert "Too many attempts. Try again in" in answer.content.decode()
        assert 'value="ada@example.org"' in answer.content.decode()

    def test_the_right_password_is_not_looked_at_then_either(self, world: World) -> None:
        """Else guessing would go on, and the answer to the right one would tell."""
        guess("ada@example.org", rate_limits.SIGN_IN_HERE.at_once)
        answer = sign_in("ada@example.org", RIGHT)
        assert (answer.status_code, answer.signed_in) == (429, False)

    def test_the_same_account_is_open_elsewhere_and_others_are_open_here(self, world: World) -> None:
        guess("ada@example.org", rate_limits.SIGN_IN_HERE.at_once + 5)
        assert sign_in("ada@example.org", RIGHT, THERE).signed_in
        assert sign_in("bo@example.org", RIGHT, HERE).signed_in

    def test_time_opens_it_again_one_attempt_an_interval(self, world: World) -> None:
        now = timezone.now()
        for number in range(rate_limits.SIGN_IN_HERE.at_once):
            rate_limits.begin_sign_in(account="a@b.c", address=HERE, now=now + timedelta(seconds=number))
        with pytest.raises(ActionRefused) as refused:
            rate_limits.begin_sign_in(account="a@b.c", address=HERE, now=now + timedelta(seconds=30))
        assert refused.value.code == "too_many_attempts"
        later = now + rate_limits.SIGN_IN_HERE.then_every
        rate_limits.begin_sign_in(account="a@b.c", address=HERE, now=later)
        with pytest.raises(ActionRefused):
            rate_limits.begin_sign_in(account="a@b.c", address=HERE, now=later)

    def test_a_whole_laboratory_signs_in_behind_one_address(self, world: World) -> None:
        """Also while somebody there guesses: signing in costs nothing, and a guess is counted for its own account first."""
        guess("ada@example.org", rate_limits.SIGN_IN_HERE.at_once + 20)
        for _ in range(20):
            for who in ("bo", "cy", "ivo", "rea", "zoe"):
                rate_limits.begin_sign_in(account=f"{who}@example.org", address=HERE, now=timezone.now())()
        assert sign_in("mara@example.org", RIGHT).signed_in

    def test_a_machine_that_tries_many_accounts_is_slowed(self, world: World) -> None:
        now = timezone.now()
        for number in range(rate_limits.SIGN_IN_ADDRESS.at_once):
            rate_limits.begin_sign_in(account=f"{number}@example.org", address=HERE, now=now)
        with pytest.raises(ActionRefused):
            rate_limits.begin_sign_in(account="another@example.org", address=HERE, now=now)
        rate_limits.begin_sign_in(account="another@example.org", address=THERE, now=now)

    def test_many_machines_that_try_one_account_are_slowed_and_its_owner_comes_in(self, world: World) -> None:
        assert sign_in("ada@example.org", RIGHT, THERE).signed_in  # she was here before
        now = timezone.now()
        for number in range(rate_limits.SIGN_IN_ACCOUNT.at_once):
            rate_limits.begin_sign_in(account="ada@example.org", address=f"203.0.113.{number}", now=now)
        with pytest.raises(ActionRefused):
            rate_limits.begin_sign_in(account="ada@example.org", address="203.0.113.250", now=now)
        assert sign_in("ada@example.org", RIGHT, THERE).signed_in

    def test_a_refused_attempt_is_not_counted_anywhere(self, world: World) -> None:
        guess("ada@example.org", rate_limits.SIGN_IN_HERE.at_once)
        before = dict(Attempts.objects.values_list("key", "free_at"))
        guess("ada@example.org", 5)
        assert dict(Attempts.objects.values_list("key", "free_at")) == before

    def test_nobody_learns_who_has_an_account(self, world: World) -> None:
        Person.objects.create_person("Link", "link@example.org")
        Person.objects.create_person("Gone", "gone@example.org", RIGHT, is_active=False)
        said = set()
        for email in ("ada@example.org", "nobody@example.org", "link@example.org", "gone@example.org"):
            statuses = guess(email, rate_limits.SIGN_IN_HERE.at_once + 1)
            assert statuses[-1] == 429
            answer = sign_in(email, RIGHT + "!", THERE).content.decode().replace(email, "")
            said.add(answer[answer.index("<main") : answer.index("csrfmiddleware")])
        assert len(said) == 1

    def test_a_password_takes_as_long_to_refuse_whether_there_is_an_account_or_not(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On every way as many hashes are made, and hashing is what takes the time."""
        Person.objects.create_person("Link", "link@example.org")
        Person.objects.create_person("Gone", "gone@example.org", RIGHT, is_active=False)
        made: list[str] = []
        encode = hashers.MD5PasswordHasher.encode

        def counted(self: Any, password: str, salt: str) -> str:
            made.append(password)
            return str(encode(self, password, salt))

        monkeypatch.setattr(hashers.MD5PasswordHasher, "encode", counted)
        hashed = {}
        for email in ("ada@example.org", "nobody@example.org", "link@example.org", "gone@example.org"):
            made.clear()
            assert not sign_in(email, "a wrong guess").signed_in
            hashed[email] = len(made)
        assert set(hashed.values()) == {1}, hashed


class TestWhereSomebodyAsksFrom:
    def address(self, **meta: str) -> str:
        return rate_limits.address_of(RequestFactory().get("/", **meta))  # type: ignore[arg-type]

    def test_without_a_proxy_what_is_said_to_be_forwarded_is_not_believed(self, settings: Any) -> None:
        settings.TRUST_PROXY = False
        assert self.address(REMOTE_ADDR=HERE, HTTP_X_FORWARDED_FOR=THERE) == HERE

    def test_behind_a_proxy_its_own_word_counts_and_not_the_clients(self, settings: Any) -> None:
        settings.TRUST_PROXY = True
        assert self.address(REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_FOR=f"{THERE}, {HERE}") == HERE
        assert self.address(REMOTE_ADDR="", HTTP_X_FORWARDED_FOR=HERE) == HERE

    @pytest.mark.parametrize(
        "said", ["", "127.0.0.1", "::1", "::ffff:127.0.0.1", "unix:", "nonsense", "1.2.3"]
    )
    def test_an_address_that_tells_nobody_apart_is_none(self, said: str) -> None:
        assert self.address(REMOTE_ADDR=said) == ""

    def test_a_network_of_ipv6_is_one_address(self) -> None:
        one = self.address(REMOTE_ADDR="2001:db8:1:2:3:4:5:6")
        assert one == self.address(REMOTE_ADDR="2001:db8:1:2::ffff") == "2001:db8:1:2::/64"
        assert self.address(REMOTE_ADDR="::ffff:192.0.2.7") == HERE

    def test_where_it_cannot_be_told_nobody_is_held_up_by_others(self, world: World) -> None:
        for number in range(rate_limits.SIGN_IN_ADDRESS.at_once + 5):
            rate_limits.begin_sign_in(account=f"{number}@example.org", address="", now=timezone.now())
        assert sign_in("ada@example.org", RIGHT, "127.0.0.1").signed_in


class TestTheTable:
    def test_it_holds_no_names_and_no_addresses(self, world: World) -> None:
        guess("ada@example.org", 3)
        assert sign_in("bo@example.org", RIGHT).signed_in
        for row in Attempts.objects.values_list("key", flat=True):
            assert len(row) == 64
            assert int(row, 16)

    def test_rows_that_say_nothing_any_more_go(self, world: World) -> None:
        rate_limits.count_attempt(rate_limits.WRONG_LINK, HERE, now=NOON)
        assert Attempts.objects.count() == 1
        assert sign_in("bo@example.org", RIGHT).signed_in
        assert not Attempts.objects.filter(free_at__lt=timezone.now() - timedelta(hours=1)).exists()

    def test_attempts_at_the_same_moment_are_each_counted(self, world: World) -> None:
        """As one statement each: what was read before is not written back."""
        limit = rate_limits.SIGN_IN_HERE
        rate_limits.count_attempt(limit, "x", now=NOON)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            rate_limits.count_attempt(limit, "x", now=NOON)
        assert [query["sql"].split()[0] for query in queries] == ["UPDATE"]
        for _ in range(limit.at_once - 2):
            rate_limits.count_attempt(limit, "x", now=NOON)
        with pytest.raises(ActionRefused):
            rate_limits.count_attempt(limit, "x", now=NOON)

    @pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
    def test_every_limit_holds(self, db: None, limit: rate_limits.Limit) -> None:
        for _ in range(limit.at_once):
            rate_limits.count_attempt(limit, "x", now=NOON)
        with pytest.raises(ActionRefused):
            rate_limits.count_attempt(limit, "x", now=NOON)
        rate_limits.count_attempt(limit, "y", now=NOON)
        rate_limits.count_attempt(limit, "x", now=NOON + limit.then_every)
        with pytest.raises(ActionRefused):
            rate_limits.count_attempt(limit, "x", now=NOON + limit.then_every)


class TestOnesOwnPassword:
    def test_a_session_is_no_place_to_guess_the_password(self, world: World) -> None:
        client = Client()
        client.force_login(world.ada)
        for number in range(rate_limits.OWN_PASSWORD.at_once):
            sent = {"old": f"guess {number}", "new": "another long password"}
            assert "Wrong password." in client.post(reverse("change_password"), sent).content.decode()
        sent = {"old": RIGHT, "new": "another long password"}
        assert "Too many attempts" in client.post(reverse("change_password"), sent).content.decode()
        assert "Too many attempts" in client.post(reverse("erase_me"), {"sure": RIGHT}).content.decode()
        world.ada.refresh_from_db()
        assert world.ada.check_password(RIGHT)


class TestAskingForANewPassword:
    @pytest.mark.parametrize("email", ["ada@example.org", "nobody@example.org"])
    def test_three_letters_and_then_one_every_twenty_minutes(
        self,
        world: World,
        settings: Any,
        mailoutbox: list[Any],
        email: str,
        django_capture_on_commit_callbacks: Any,
    ) -> None:
        settings.HAS_MAIL = True
        settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
        said = []
        for _ in range(rate_limits.RESET_ACCOUNT.at_once + 2):
            with django_capture_on_commit_callbacks(execute=True):
                said.append(
                    "Too many attempts"
                    in Client().post(reverse("forgotten"), {"email": email}, follow=True).content.decode()
                )
        assert said == [False] * rate_limits.RESET_ACCOUNT.at_once + [True, True]
        assert len(mailoutbox) == (rate_limits.RESET_ACCOUNT.at_once if email.startswith("ada") else 0)


class TestLinks:
    def links(self, world: World) -> list[tuple[str, str]]:
        """Of each kind of link one that works, and one that does not."""
        _, invitation = projects.invite(
            project=world.project, roles=[Role.ANNOTATOR], by=world.mara, now=timezone.now()
        )
        reset = sign_up.reset_path(world.bo)
        wrong_reset = reset.rstrip("/").rpartition("/")[0] + "/abc-0123456789abcdef/"
        return [
            (reverse("join", args=[invitation]), reverse("join", args=["x" * 32])),
            (reset, wrong_reset),
        ]

    def test_wrong_ones_are_limited_and_a_right_one_works_all_the_same(self, world: World) -> None:
        client = Client(REMOTE_ADDR=HERE)
        for right, wrong in self.links(world):
            Attempts.objects.all().delete()
            statuses = [client.get(wrong).status_code for _ in range(rate_limits.WRONG_LINK.at_once + 2)]
            assert statuses == [410] * rate_limits.WRONG_LINK.at_once + [429, 429]
            assert int(client.get(wrong)["Retry-After"]) > 0
            assert client.get(right).status_code == 200
        assert client.get(reverse("crowd_back", args=["made-up"])).status_code == 429

    def test_an_invitation_is_no_way_to_ask_for_many_addresses(self, world: World) -> None:
        _, token = projects.invite(
            project=world.project, roles=[Role.ANNOTATOR], by=world.mara, now=timezone.now()
        )
        sent = {"name": "Eve", "email": "ada@example.org", "password": "a long enough one"}
        said = [
            Client().post(reverse("join", args=[token]), sent).content.decode()
            for _ in range(rate_limits.REGISTER.at_once + 1)
        ]
        assert "An account with this" in said[0]
        assert "Too many attempts" in said[-1]


class TestTokens:
    def test_wrong_ones_are_limited_and_a_right_one_works_all_the_same(self, world: World) -> None:
        client = Client(REMOTE_ADDR=HERE)
        wrong = {"Authorization": "Bearer askew_" + "x" * 40}
        for _ in range(rate_limits.WRONG_TOKEN.at_once):
            assert client.get(reverse("api_projects"), headers=wrong).status_code == 401
        refused = client.get(reverse("api_projects"), headers=wrong)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")
        assert int(refused["Retry-After"]) > 0
        _, secret = projects.make_token(
            person=world.ada,
            project=world.project,
            name="t",
            scopes=[Permission.ANNOTATE],
            now=timezone.now(),
        )
        right = {"Authorization": f"Bearer {secret}"}
        assert client.get(reverse("api_projects"), headers=right).status_code == 200

    def test_a_token_is_found_by_its_hash_and_never_compared(self, world: World) -> None:
        """What the database looks up is a SHA-256: how long that takes tells nothing about the token."""
        secret = "askew_" + "y" * 40
        with CaptureQueriesContext(connection) as queries:
            Client().get(reverse("api_projects"), headers={"Authorization": f"Bearer {secret}"})
        said = " ".join(query["sql"] for query in queries)
        assert projects.hash_token(secret) in said
        assert secret not in said
        assert secret[:12] not in said


class TestCrowdEntry:
    def test_one_machine_neither_floods_a_project_nor_looks_who_takes_part(self, world: World) -> None:
        link = crowd_entry.make_link(
            project=world.project,
            name="Crowd",
            parameters=crowd_entry.PARAMETERS["generic"],
            completion_code="DONE",
            screen_out_code="OUT",
            expires_at=timezone.now() + timedelta(days=1),
            by=world.mara,
            now=timezone.now(),
        )
        here = reverse("crowd_enter", args=[link.public_id])
        before = Membership.objects.count()
        statuses = [
            Client(REMOTE_ADDR=HERE).post(here, {"id": f"p{number % 5}"}).status_code
            for number in range(rate_limits.CROWD_ENTRY.at_once + 2)
        ]
        assert statuses[:5] == [302] * 5
        assert set(statuses[5:-2]) == {409}
        assert statuses[-2:] == [429, 429]
        assert Membership.objects.count() == before + 5
        assert Client(REMOTE_ADDR=THERE).post(here, {"id": "another"}).status_code == 302

    def test_an_address_of_a_link_that_is_not_there_tells_nothing(self, world: World) -> None:
        assert CrowdLink.objects.count() == 0
        assert Client().get(reverse("crowd_enter", args=["abcdefghjkmn"])).status_code == 404


def test_what_is_tried_is_written_to_no_log(world: World, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    _, secret = projects.make_token(
        person=world.ada, project=world.project, name="t", scopes=list(Permission), now=timezone.now()
    )
    _, invitation = projects.invite(
        project=world.project, roles=[Role.ANNOTATOR], by=world.mara, now=timezone.now()
    )
    sign_in("ada@example.org", "a wrong secret")
    sign_in("ada@example.org", RIGHT)
    for token in (secret, secret + "x"):
        Client().get(reverse("api_projects"), headers={"Authorization": f"Bearer {token}"})
    Client().get(reverse("api_releases"), headers={"Authorization": f"Bearer {secret} more"})
    said = "\n".join(record.getMessage() for record in caplog.records if record.name != "django.db.backends")
    for kept in ("a wrong secret", RIGHT, secret, "ada@example.org", invitation):
        assert kept not in said
