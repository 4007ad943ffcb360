"""Requests as pages do not send them: other methods, other sites, other hosts, more fields, somebody else's session."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.core import mail
from django.test import Client
from django.urls import reverse, set_script_prefix
from django.utils import timezone

from annotation.access.roles import Role
from annotation.accounts import sign_up
from annotation.assistance import fooling_rates
from annotation.explorer import export
from annotation.models import Batch, Membership, Person, Project
from annotation.platform import immutable_rows
from annotation.queue import workload
from annotation.web.api import urls as api_urls
from annotation.workflow import projects
from tableqa.writers import report_tables
from tests.annotation.cast import World
from tests.annotation.role_table import API, PAGES, Things, make_things
from tests.undone import undone

ROOT = Path(__file__).resolve().parents[2]
OTHER = ("PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "MOVE", "GETS", "CONNECT")
SESSION = django_settings.SESSION_COOKIE_NAME


@pytest.fixture
def things(world: World) -> Things:
    return make_things(world)


def signed_in(person: Person, **more: Any) -> Client:
    client = Client(**more)
    client.force_login(person)
    return client


def rows() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in apps.get_models()}


class TestOtherMethods:
    def test_a_page_takes_get_head_and_post_and_nothing_else(self, things: Things) -> None:
        wrong = []
        clients = {who: signed_in(things.world.people[who]) for who in ("root", "ada", "ivo", "pat")}
        before = rows()
        for name, (arguments, may_get, may_post) in PAGES.items():
            who = next(one for one in clients if one in (may_get or set()) | (may_post or set()))
            with undone():
                address = reverse(name, args=arguments(things))
                for method in OTHER:
                    status = (
                        clients[who]
                        .generic(method, address, b"{}", content_type="application/json")
                        .status_code
                    )
                    if status != 405:
                        wrong.append(f"{method} {name}: {status}")
                if may_get:
                    got, looked = clients[who].get(address), clients[who].head(address)
                    body = b"".join(looked) if looked.streaming else looked.content
                    if (got.status_code, b"") != (looked.status_code, body):
                        wrong.append(f"HEAD {name}: {looked.status_code}")
                elif clients[who].head(address).status_code != 405:
                    wrong.append(f"HEAD {name}")
        assert wrong == []
        assert rows() == before

    def test_the_interface_takes_what_its_table_says_and_nothing_else(self, things: Things) -> None:
        wrong = []
        root, ada = (signed_in(things.world.people[who]) for who in ("root", "ada"))
        for pattern in api_urls.urlpatterns:
            if not pattern.name or pattern.name not in API:
                continue
            methods = API[pattern.name]
            arguments = next(iter(methods.values()))[0]
            with undone():
                address = reverse(pattern.name, args=arguments(things))
                for client in (root, ada):
                    for method in ("GET", *OTHER):
                        if method.lower() in methods:
                            continue
                        status = client.generic(
                            method, address, b"{}", content_type="application/json"
                        ).status_code
                        if status != 405:
                            wrong.append(f"{method} {pattern.name}: {status}")
                if Client().options(address).status_code not in (401, 200):
                    wrong.append(f"OPTIONS {pattern.name}")
        assert wrong == []

    def test_options_tell_nothing_about_a_thing(self, things: Things) -> None:
        zoe = signed_in(things.world.zoe)
        told = set()
        for one in (things.batch.public_id, "nowhere"):
            answer = zoe.options(reverse("api_next", args=[one]))
            told.add((answer.status_code, answer.content))
        assert len(told) == 1

    def test_a_method_that_a_header_names_is_not_taken(self, things: Things) -> None:
        ada = signed_in(things.world.ada)
        address = reverse("api_draft", args=[things.assignment.public_id])
        for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
            assert (
                ada.post(address, {}, content_type="application/json", headers={name: "PUT"}).status_code
                == 405
            )
        assert ada.post(address, {"_method": "PUT"}).status_code == 405


MORE = {
    "is_administrator": "on",
    "is_active": "",
    "is_simulated": "on",
    "is_external": "on",
    "session_epoch": "0",
    "password": "a new long password",
    "email": "taken@example.org",
    "person": "1",
    "person_id": "1",
    "id": "1",
    "pk": "1",
    "roles": "manager",
    "project": "books",
    "project_id": "1",
    "slug": "books",
    "pseudonym": "P1",
    "removed_at": "",
    "erased_at": "2026-01-01",
    "made_by": "1",
    "state": "open",
    "is_gold": "on",
    "public_id": "abcdefghjkmn",
}


class TestMoreFieldsThanAsked:
    def test_on_ones_own_account_they_change_nothing(self, world: World) -> None:
        before: dict[str, Any] = dict(Person.objects.filter(pk=world.ada.pk).values().get())
        ada = signed_in(world.ada)
        assert ada.post(reverse("account"), {**MORE, "name": "Ada L", "time_zone": "UTC"}).status_code == 302
        after: dict[str, Any] = dict(Person.objects.filter(pk=world.ada.pk).values().get())
        assert {key for key in before if before[key] != after[key]} - {"last_login"} == {"name"}

    def test_whoever_joins_gets_the_roles_of_the_invitation(self, world: World) -> None:
        _, token = projects.invite(
            project=world.project, roles=[Role.ANNOTATOR], by=world.mara, now=timezone.now()
        )
        sent = {**MORE, "name": "Eve", "email": "eve@example.org"}
        assert Client().post(reverse("join", args=[token]), sent).status_code == 302
        eve = Person.objects.get(email="eve@example.org")
        assert (eve.is_administrator, eve.is_simulated, eve.is_active) == (False, False, True)
        assert Membership.objects.get(person=eve).roles == ["annotator"]

    def test_a_project_is_renamed_and_nothing_else(self, world: World) -> None:
        before: dict[str, Any] = dict(Project.objects.values().get())
        mara = signed_in(world.mara)
        sent = {**MORE, "name": "Pictures", "time_zone": "UTC", "consent_number": "7"}
        assert mara.post(reverse("project_rename", args=["films"]), sent).status_code == 302
        after: dict[str, Any] = dict(Project.objects.values().get())
        assert {key for key in before if before[key] != after[key]} == {"name"}

    def test_the_interface_refuses_a_field_that_there_is_not(self, things: Things) -> None:
        ada = signed_in(things.world.ada)
        for method, name in (("post", "api_flag"), ("post", "api_skip"), ("put", "api_draft")):
            answer = getattr(ada, method)(
                reverse(name, args=[things.assignment.public_id]),
                {"note": "x", "reason": "x", "revision": 0, "response": {}, **MORE},
                content_type="application/json",
            )
            assert answer.status_code == 422
            assert "is_administrator" in answer.json()["errors"]


class TestFilters:
    def test_what_an_address_asks_for_is_no_key_of_a_query(self, things: Things) -> None:
        """`?person__password__startswith=` shows the page as it is: no view hands what it gets to a filter.

        Pages that know their filters refuse it by name, and show nothing else.
        """
        root = signed_in(things.world.people["root"])
        looked_for = {
            "person__password__startswith": "md5",
            "made_by__session_epoch": "0",
            "project__memberships__person__email__contains": "ada",
            "token_hash__startswith": "a",
            "order_by": "person__password",
            "ordering": "person__password",
            "fields": "password",
        }
        wrong, refusing = [], set()
        for name, (arguments, may_get, _) in PAGES.items():
            if not may_get or "root" not in may_get:
                continue
            with undone():
                address = reverse(name, args=arguments(things))
                answers = [root.get(address, asked) for asked in ({"nothing": "1"}, looked_for)]
                if answers[0].streaming:
                    continue
                refused = [
                    re.findall(r"There is no filter (\w+)\.", one.content.decode(errors="replace"))
                    for one in answers
                ]
                if any(refused):
                    refusing.add(name)
                    assert [one.status_code for one in answers] == [400, 400], name
                    assert refused == [["nothing"], list(looked_for)], name
                    assert all(b"data-explorer" not in one.content for one in answers), name
                    continue
                plain = [
                    re.sub(rb'"[A-Za-z0-9]{64}"|name="request" value="\w+"|[?&][^"]*', b"", one.content)
                    for one in answers
                ]
                if answers[0].get("Content-Type", "").startswith("text/html") and plain[0] != plain[1]:
                    wrong.append(name)
        assert wrong == []
        assert refusing == {
            *("explorer", "explorer_facets", "explorer_export"),
            *("batch_items", "batch_items_facets"),
        }

    def test_no_code_hands_a_request_to_a_query(self) -> None:
        pattern = re.compile(
            r"(filter|exclude|get|order_by|update|create|values|annotate)\(\s*\*{1,2}\s*(self\.)?request|objects\.raw\(|\.extra\("
        )
        found = [
            str(path.relative_to(ROOT))
            for folder in ("annotation", "tasks", "config")
            for path in (ROOT / folder).rglob("*.py")
            if pattern.search(path.read_text("utf-8"))
        ]
        assert found == []


class TestOtherSites:
    def test_no_page_does_anything_without_its_token(self, things: Things) -> None:
        wrong = []
        clients = {
            who: signed_in(things.world.people[who], enforce_csrf_checks=True)
            for who in ("root", "ada", "ivo", "pat")
        }
        before = rows()
        for name, (arguments, _, may_post) in PAGES.items():
            who = next((one for one in clients if one in (may_post or set())), None)
            if who is None:
                continue
            with undone():
                status = clients[who].post(reverse(name, args=arguments(things)), {"name": "x"}).status_code
                if status != 403:
                    wrong.append(f"{name}: {status}")
        for name, methods in API.items():
            for method, (arguments, body, may, _) in methods.items():
                if method == "get":
                    continue
                who = next(one for one in clients if one in may)
                with undone():
                    sent = body(things) if callable(body) else body
                    answer = getattr(clients[who], method)(
                        reverse(name, args=arguments(things)), sent, content_type="application/json"
                    )
                    if answer.status_code != 403:
                        wrong.append(f"{method} {name}: {answer.status_code}")
        assert wrong == []
        assert rows() == before

    @pytest.fixture
    def below(self, settings: Any) -> Iterator[None]:
        """A site at https://example.org/askew behind a proxy that takes /askew off."""
        settings.PUBLIC_URL = "https://example.org/askew"
        settings.ALLOWED_HOSTS = ["example.org"]
        settings.CSRF_TRUSTED_ORIGINS = ["https://example.org"]
        settings.FORCE_SCRIPT_NAME = "/askew"
        settings.SESSION_COOKIE_PATH = settings.CSRF_COOKIE_PATH = "/askew/"
        settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
        set_script_prefix("/askew/")
        yield
        set_script_prefix("/")

    @pytest.mark.parametrize(
        ("origin", "proto", "status"),
        [
            ("https://example.org", "https", 302),
            (
                "https://example.org",
                "http",
                302,
            ),  # a proxy that does not say what it took: the origin is trusted by name
            ("http://example.org", "https", 403),
            ("https://example.org.evil.example", "https", 403),
            ("https://evil.example", "https", 403),
            ("https://example.org:8443", "https", 403),
            ("null", "https", 403),
        ],
    )
    def test_behind_a_proxy_and_below_a_path_only_the_site_itself_may_sign_in(
        self, world: World, below: None, origin: str, proto: str, status: int
    ) -> None:
        client = Client(enforce_csrf_checks=True, HTTP_HOST="example.org", HTTP_X_FORWARDED_PROTO=proto)
        page = client.get("/sign-in/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.content.decode())
        assert token is not None
        answer = client.post(
            "/sign-in/",
            {"username": "ada@example.org", "password": "tilted tables", "csrfmiddlewaretoken": token[1]},
            headers={"Origin": origin},
        )
        assert answer.status_code == status
        if status == 302:
            cookie = answer.cookies[SESSION]
            assert (cookie["path"], cookie["secure"], cookie["httponly"], cookie["samesite"]) == (
                "/askew/",
                True,
                True,
                "Lax",
            )

    @pytest.mark.parametrize(
        "target",
        [
            "//evil.example/",
            "https://evil.example/",
            "javascript:alert(1)",
            "/\\evil.example",
            "\t//evil.example",
            "http:evil",
        ],
    )
    def test_after_signing_in_nobody_is_sent_to_another_site(self, world: World, target: str) -> None:
        sent = {"username": "ada@example.org", "password": "tilted tables", "next": target}
        assert Client().post(reverse("sign_in"), sent)["Location"] == "/"

    def test_a_host_that_is_not_ours_is_refused_and_goes_into_no_link(
        self, world: World, settings: Any, django_capture_on_commit_callbacks: Any
    ) -> None:
        assert Client(HTTP_HOST="evil.example").get(reverse("sign_in")).status_code == 400
        settings.HAS_MAIL = True
        settings.PUBLIC_URL = "https://askew.example.org"
        settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
        with django_capture_on_commit_callbacks(execute=True):
            Client(HTTP_X_FORWARDED_HOST="evil.example").post(
                reverse("forgotten"), {"email": "ada@example.org"}
            )
        (sent,) = mail.outbox
        assert "https://askew.example.org/password/new/" in sent.body
        assert "evil" not in sent.body


class TestSessions:
    def test_a_session_that_was_put_into_a_browser_is_not_the_one_after_signing_in(
        self, world: World
    ) -> None:
        """Fixation: what somebody else knows before is of no use afterwards."""
        known = signed_in(world.zoe).cookies[SESSION].value
        victim = Client()
        victim.cookies[SESSION] = known
        victim.post(reverse("sign_out"))
        victim.cookies[SESSION] = known
        victim.get(reverse("sign_in"))
        victim.post(reverse("sign_in"), {"username": "ada@example.org", "password": "tilted tables"})
        after = victim.cookies[SESSION].value
        assert after != known
        thief = Client()
        thief.cookies[SESSION] = known
        assert thief.get(reverse("home")).status_code == 302  # Zoe's, which signing out has ended
        assert "Ada" in victim.get(reverse("account")).content.decode()

    @pytest.mark.parametrize(
        "change", [lambda text: text[:-1] + "A", lambda text: text.split(":")[0], lambda text: "x", str.upper]
    )
    def test_a_session_that_was_changed_is_none(self, world: World, change: Any) -> None:
        cookie = signed_in(world.ada).cookies[SESSION].value
        client = Client()
        client.cookies[SESSION] = change(cookie)
        assert client.get(reverse("home")).status_code == (302 if change(cookie) != cookie else 200)

    def test_a_session_of_another_site_with_another_key_is_none(self, world: World, settings: Any) -> None:
        cookie = signed_in(world.ada).cookies[SESSION].value
        settings.SECRET_KEY = "another " * 10
        client = Client()
        client.cookies[SESSION] = cookie
        assert client.get(reverse("home")).status_code == 302

    def test_a_reset_link_signs_nobody_in_and_ends_every_session(self, world: World) -> None:
        there = signed_in(world.bo)
        client = Client()
        client.post(sign_up.reset_path(world.bo), {"new": "another long password"})
        assert SESSION not in client.cookies or client.get(reverse("home")).status_code == 302
        assert there.get(reverse("home")).status_code == 302


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    '=HYPERLINK("http://evil.example")',
    "=cmd|' /C calc'!A0",
    "x;=1+1",
    'x; "=1+1',
    "x\t=1+1",
]


def formulas(text: str) -> tuple[int, list[str]]:
    """How many cells a file has, and what a spreadsheet would take for a formula, wherever it parts lines."""
    many, wrong = 0, []
    for separator in ",;\t":
        cells = [
            cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row
        ]
        many = many or len(cells)
        wrong += [
            cell
            for cell in cells
            if cell.startswith(("=", "+", "-", "@", "\t", "\r"))
            and not re.fullmatch(r"[-+]?[\d.,]+( %)?(,.*)?", cell)
        ]
    return many, wrong


def looked_at() -> list[fooling_rates.FoolingCheck]:
    """Tries of a model where every text is one of somebody's choice."""
    return [
        fooling_rates.FoolingCheck(
            annotator=said,
            kind=said,
            model=said,
            panel=panel,
            week="2026-W10",
            origin="human",
            judged=True,
            right_before=True,
            fooled=True,
            checked=True,
            verified=False,
        )
        for said in FORMULAS
        for panel in (False, True)
    ]


def test_no_file_for_spreadsheets_holds_a_formula(things: Things, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that begin like a formula come out as text in every CSV that a page offers."""
    world = things.world
    for number, person in enumerate(Person.objects.order_by("pk")):
        Person.objects.filter(pk=person.pk).update(name=FORMULAS[number % len(FORMULAS)] + str(number))
    for number, batch in enumerate(Batch.objects.order_by("pk")):
        Batch.objects.filter(pk=batch.pk).update(name=FORMULAS[number % len(FORMULAS)] + str(number))
    for number, member in enumerate(Membership.objects.order_by("pk")):
        said = FORMULAS[number % len(FORMULAS)][:10] + str(number)
        with immutable_rows.writable():
            Membership.objects.filter(pk=member.pk).update(pseudonym=said)
    monkeypatch.setattr(fooling_rates, "of_project", lambda project, person: (looked_at(), []))
    root, cells = signed_in(world.people["root"]), {}
    for name, (arguments, may_get, _) in PAGES.items():
        if not may_get or "root" not in may_get:
            continue
        for asked in ({"as": "csv"}, {"format": "csv"}):
            with undone():
                answer = root.get(reverse(name, args=arguments(things)), asked)
                if answer.get("Content-Type", "").startswith("text/csv"):
                    cells[name], wrong = formulas(b"".join(answer).decode())
                    assert (name, wrong) == (name, [])
    assert set(cells) == {
        "accounting",
        "explorer_export",
        "figure_file",
        "fooling",
        "import_rest",
        "payments",
    }
    assert min(many for name, many in cells.items() if name != "import_rest") > 10


def test_everything_that_writes_a_csv_guards_every_text() -> None:
    """The five that do (what calls them is guarded with them), with a formula wherever they take a text.

    The rest of an import is not guarded: the rows of a person's own file go back to them to be imported again as they are.
    """
    writers = {
        str(path.relative_to(ROOT))
        for folder in ("annotation", "config", "tableqa", "tasks")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"\bcsv\.(writer|DictWriter)\b", path.read_text("utf-8")) and path.name != "tests.py"
    }
    assert writers == {
        *("annotation/explorer/export.py", "annotation/web/views/fooling_rates.py"),
        *(
            "annotation/queue/workload.py",
            "annotation/releases/tool_exports.py",
            "tableqa/writers/report_tables.py",
        ),
        "tableqa/readers/rejections.py",
    }

    rows = io.StringIO()
    csv.writer(rows, lineterminator="\r\n").writerows(fooling_rates.csv_rows(looked_at()))
    account = workload.Account()
    lines = [workload.Line(Batch(public_id="x", name=said), None, said, account) for said in FORMULAS]  # type: ignore[arg-type]
    sheet = report_tables.Sheet(
        FORMULAS[0],
        FORMULAS[0],
        tuple(report_tables.Column(said, group=group) for said in FORMULAS for group in ("", said)),
        tuple(
            tuple(report_tables.Cell(said, detail=said) for _ in range(2 * len(FORMULAS)))
            for said in FORMULAS
        ),
    )
    texts_of = {str: lambda said: said, list: lambda said: [said], dict: lambda said: {said: said}}
    records = [
        {name: texts_of[kind](said) if kind in texts_of else None for name, kind in export.COLUMNS.items()}
        for said in FORMULAS
    ]
    items = export.as_csv(iter(records))
    items.seek(0)
    for text in (
        items.read().decode(),
        rows.getvalue(),
        workload.as_csv(lines),
        report_tables.as_csv(sheet),
    ):
        many, wrong = formulas(text)
        assert (wrong, many > len(FORMULAS)) == ([], True)
