"""What the environment makes of the settings, and what every response carries."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.test import Client

from config.csp import POLICY

SETTINGS = Path(__file__).resolve().parent.parent / "config" / "settings.py"
VARIABLES = re.findall(r"^\| ([A-Z_]+) +\|", SETTINGS.read_text(), flags=re.MULTILINE)


@pytest.fixture
def settings_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The settings as they come out of these variables and no others."""

    def read(**environment: str) -> dict[str, Any]:
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        for name, value in {"SECRET_KEY": "k" * 60, "ASKEW_DATA_DIR": str(tmp_path), **environment}.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(SETTINGS))

    return read


def test_every_variable_that_is_read_is_explained():
    text = SETTINGS.read_text()
    read = set(re.findall(r"""(?:env(?:\.\w+)?|environ\.get)\(\s*"([A-Z_]+)\"""", text))

    assert read == set(VARIABLES)


class TestTheKey:
    def test_without_one_it_refuses_and_says_what_to_do(self, settings_with):
        with pytest.raises(ImproperlyConfigured, match=r"SECRET_KEY is not set.*secrets\.token_urlsafe"):
            settings_with(SECRET_KEY="")

    @pytest.mark.parametrize("more", [{"SECRET_KEY": "changeme"}, {"DEBUG": "true"}])
    def test_where_people_reach_it_no_key_is_a_word_and_nothing_inside_is_shown(self, settings_with, more):
        with pytest.raises(
            ImproperlyConfigured, match=r"SECRET_KEY has 8 characters|DEBUG exposes internals"
        ):
            settings_with(PUBLIC_URL="https://askew.example.org", **more)
        settings_with(**more)

    def test_it_may_begin_with_a_dollar(self, settings_with):
        assert settings_with(SECRET_KEY="$" + "k" * 60)["SECRET_KEY"] == "$" + "k" * 60


class TestThePublicAddress:
    def test_without_one_it_answers_on_the_loopback_alone(self, settings_with):
        settings = settings_with()

        assert settings["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
        assert settings["SESSION_COOKIE_SECURE"] is False
        assert settings["SECURE_HSTS_SECONDS"] == 0
        assert settings["DEBUG"] is False

    def test_demo_links_are_for_the_loopback_alone(self, settings_with):
        assert settings_with(ASKEW_DEMO_SECRET="s")["DEMO_SECRET"] == "s"
        assert settings_with(ASKEW_DEMO_SECRET="s", PUBLIC_URL="https://example.org")["DEMO_SECRET"] == ""

    def test_https_makes_cookies_secure_and_the_origin_trusted(self, settings_with):
        settings = settings_with(PUBLIC_URL="https://askew.example.org")

        assert settings["ALLOWED_HOSTS"][-1] == "askew.example.org"
        assert settings["CSRF_TRUSTED_ORIGINS"][0] == "https://askew.example.org"
        assert settings["SESSION_COOKIE_SECURE"] is True
        assert settings["CSRF_COOKIE_SECURE"] is True
        assert settings["SECURE_HSTS_SECONDS"] > 0

    def test_a_port_belongs_to_the_origin_and_not_to_the_host(self, settings_with):
        settings = settings_with(PUBLIC_URL="http://lab.example.org:8080/", PLAIN_HTTP="true")

        assert settings["ALLOWED_HOSTS"][-1] == "lab.example.org"
        assert settings["CSRF_TRUSTED_ORIGINS"] == [
            "http://lab.example.org:8080",
            "http://lab.example.org.:8080",
        ]
        assert settings["SESSION_COOKIE_SECURE"] is False

    @pytest.mark.parametrize(
        "address",
        [
            "HTTPS://Askew.Example.ORG/Lab",
            "https://askew.example.org./Lab",
            "https://askew.example.org:443/Lab/",
            "https://ASKEW.example.org.:443/Lab",
            "https://askew.example.org:/Lab",
            "https://askew.example.org:0443/Lab",
        ],
    )
    def test_every_form_of_a_host_gives_the_address_that_browsers_send(self, settings_with, address):
        settings = settings_with(PUBLIC_URL=address)

        assert settings["PUBLIC_URL"] == "https://askew.example.org/Lab"
        assert settings["ALLOWED_HOSTS"][-1] == "askew.example.org"
        assert settings["CSRF_TRUSTED_ORIGINS"] == ["https://askew.example.org", "https://askew.example.org."]

    @pytest.mark.parametrize(
        ("address", "sent"),
        [
            ("https://[2001:DB8:0:0::1]:443", "https://[2001:db8::1]"),
            ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
            ("https://Straße.Example.org", "https://xn--strae-oqa.example.org"),
            ("https://192.0.2.1", "https://192.0.2.1"),
        ],
    )
    def test_the_host_of_a_page_is_allowed_and_its_origin_trusted(
        self, settings_with, address, sent, settings, rf
    ):
        read = settings_with(PUBLIC_URL=address)
        settings.ALLOWED_HOSTS = read["ALLOWED_HOSTS"]
        settings.CSRF_TRUSTED_ORIGINS = read["CSRF_TRUSTED_ORIGINS"]

        assert read["CSRF_TRUSTED_ORIGINS"][0] == sent
        for form in read["CSRF_TRUSTED_ORIGINS"]:
            request = rf.post("/", HTTP_HOST=form.removeprefix("https://"), HTTP_ORIGIN=form)
            assert request.get_host() == form.removeprefix("https://")
            assert CsrfViewMiddleware(lambda request: HttpResponse())._origin_verified(request)  # type: ignore[attr-defined]

    @pytest.mark.parametrize("address", ["http://lab.example.org", "http://127.0.0.1.example.org/tables"])
    def test_http_beyond_this_machine_has_to_be_asked_for(self, settings_with, address):
        with pytest.raises(ImproperlyConfigured, match=r"PUBLIC_URL is .*PLAIN_HTTP=true"):
            settings_with(PUBLIC_URL=address)

    @pytest.mark.parametrize(
        "address", ["http://localhost:8000", "http://127.0.0.1:8080/askew", "http://[::1]/"]
    )
    def test_http_on_this_machine_has_not(self, settings_with, address):
        assert settings_with(PUBLIC_URL=address)["SESSION_COOKIE_SECURE"] is False

    def test_a_path_goes_before_every_link_and_confines_the_cookies(self, settings_with):
        settings = settings_with(PUBLIC_URL="https://example.org/askew/")

        assert settings["FORCE_SCRIPT_NAME"] == "/askew"
        assert settings["SESSION_COOKIE_PATH"] == settings["CSRF_COOKIE_PATH"] == "/askew/"

    def test_a_proxy_is_believed_only_when_told(self, settings_with):
        alone = settings_with(PUBLIC_URL="https://askew.example.org")
        behind = settings_with(PUBLIC_URL="https://askew.example.org", TRUST_PROXY="true")

        assert "SECURE_PROXY_SSL_HEADER" not in alone
        assert alone["SECURE_SSL_REDIRECT"] is False  # it would never end
        assert behind["SECURE_PROXY_SSL_HEADER"] == ("HTTP_X_FORWARDED_PROTO", "https")
        assert behind["SECURE_SSL_REDIRECT"] is True

    @pytest.mark.parametrize(
        "wrong",
        [
            "askew.example.org",
            "ftp://example.org",
            "https://",
            "https://e.org/?a=1",
            "https://e.org?",
            "https://a b.org",
            "https://me@e.org",
            "https://e.org:port",
            "https://e..org",
            "https://127.1",
            "https://lab_one.e.org",  # Django refuses every request to such a host
            "https://e.org:70000",
            "https://[::1",
            "https://[1]",
            "https://-\u00ad.org",
        ],
    )
    def test_half_an_address_is_refused_with_an_example(self, settings_with, wrong):
        with pytest.raises(ImproperlyConfigured, match=r"PUBLIC_URL is .*https://askew\.example\.org"):
            settings_with(PUBLIC_URL=wrong)


class TestTheDatabase:
    def test_the_default_is_sqlite_in_the_data_folder_that_keeps_what_it_acknowledged(
        self, settings_with, tmp_path
    ):
        database = settings_with(ASKEW_DATA_DIR=str(tmp_path / "new"))["DATABASES"]["default"]

        assert database["NAME"] == str(tmp_path / "new" / "askew.sqlite3")
        assert (tmp_path / "new").stat().st_mode & 0o077 == 0
        assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
        assert "synchronous=FULL" in database["OPTIONS"]["init_command"]

    def test_postgres_connections_are_kept_and_checked(self, settings_with):
        database = settings_with(DATABASE_URL="postgres://ann:p%40ss@db.example.org:5433/askew")["DATABASES"][
            "default"
        ]

        assert database["ENGINE"] == "annotation.platform.database.postgresql"
        assert (database["USER"], database["PASSWORD"]) == ("ann", "p@ss")
        assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example.org", 5433, "askew")
        assert database["CONN_MAX_AGE"] > 0
        assert database["CONN_HEALTH_CHECKS"] is True

    @pytest.mark.parametrize(
        "url",
        [
            "postgres://ann@/askew?host=/var/run/Postgres",
            "postgres://ann@%2Fvar%2Frun%2FPostgres/askew",
            "postgresql://ann@%2Fvar%2Frun%2FPostgres:5433/askew",
        ],
    )
    def test_a_unix_socket_may_be_written_both_ways(self, settings_with, url):
        database = settings_with(DATABASE_URL=url)["DATABASES"]["default"]

        assert database["HOST"] == "/var/run/Postgres"
        assert (database["USER"], database["NAME"]) == ("ann", "askew")

    def test_another_kind_of_database_is_refused(self, settings_with):
        with pytest.raises(ImproperlyConfigured, match="'mysql' is not supported"):
            settings_with(DATABASE_URL="mysql://ann@db.example.org/askew")


class TestTheLargestRequest:
    @pytest.fixture(autouse=True)
    def small_limits(self, settings):
        settings.MAX_UPLOAD_BYTES, settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2000, 1000

    def test_a_body_that_is_too_large_for_the_api_is_refused_as_a_problem(self):
        response = Client().post("/api/", {"text": "x" * 1000}, content_type="application/json")

        assert response.status_code == 413
        assert response.headers["Content-Type"] == "application/problem+json"
        assert response.json()["code"] == "request_too_large"

    def test_an_upload_that_is_too_large_is_refused_in_words(self):
        response = Client().post("/", {"file": SimpleUploadedFile("a.tsv", b"x" * 2000)})

        assert response.status_code == 413
        assert "the maximum is 0.0 MB. Nothing was stored." in response.content.decode()

    @pytest.mark.django_db
    def test_files_of_somebody_who_is_signed_in_may_be_larger_than_the_rest(self, django_user_model):
        known, unknown = Client(), Client()
        known.force_login(django_user_model.objects.create(email="ada@askew.test", name="Ada"))
        known.cookies["csrftoken"] = unknown.cookies["csrftoken"] = "a" * 32

        assert known.post("/", {"file": SimpleUploadedFile("a.tsv", b"x" * 1200)}).status_code != 413
        assert unknown.post("/", {"file": SimpleUploadedFile("a.tsv", b"x" * 1200)}).status_code == 413


class TestTheContentSecurityPolicy:
    def test_it_forbids_everything_inline_and_everything_from_elsewhere(self):
        assert POLICY.startswith("default-src 'none'; ")
        assert "unsafe" not in POLICY
        assert "*" not in POLICY

    @pytest.mark.django_db
    @pytest.mark.parametrize("path", ["/", "/no/such/page", "/api/schema/", "/static/django-htmx.js"])
    def test_every_response_carries_it(self, path):
        assert Client().get(path).headers["Content-Security-Policy"] == POLICY

    @pytest.mark.django_db
    def test_a_refused_host_is_answered_under_it_too(self):
        response = Client().get("/", headers={"host": "elsewhere.example"})

        assert response.status_code == 400
        assert response.headers["Content-Security-Policy"] == POLICY


class TestMail:
    def test_without_a_server_nothing_is_sent(self, settings_with):
        settings = settings_with()

        assert settings["HAS_MAIL"] is False
        assert settings["EMAIL_BACKEND"].endswith("dummy.EmailBackend")

    def test_a_server_is_named_in_one_line(self, settings_with):
        settings = settings_with(
            EMAIL_URL="smtp+tls://askew:secret@mail.example.org:587", PUBLIC_URL="https://askew.example.org"
        )

        assert settings["HAS_MAIL"] is True
        assert (settings["EMAIL_HOST"], settings["EMAIL_PORT"]) == ("mail.example.org", 587)
        assert (settings["EMAIL_HOST_USER"], settings["EMAIL_USE_TLS"]) == ("askew", True)
        assert settings["DEFAULT_FROM_EMAIL"] == "askew@askew.example.org"


def test_the_signing_key_is_not_in_the_data_folder_which_backups_contain(settings_with, tmp_path):
    with pytest.raises(ImproperlyConfigured, match=r"SIGNING_KEY is .* in the data folder"):
        settings_with(SIGNING_KEY=str(tmp_path / "media" / "signing.key"))
    assert settings_with(SIGNING_KEY="/etc/askew/signing.key")["SIGNING_KEY"] == Path(
        "/etc/askew/signing.key"
    )
    assert settings_with()["SIGNING_KEY"] is None
