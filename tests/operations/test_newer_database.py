"""Code that is older than its database serves nothing, however it is started."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASK = """
import sys
from io import BytesIO
from wsgiref.util import setup_testing_defaults
from config.wsgi import application

def ask(path):
    environ, said = {"PATH_INFO": path, "HTTP_HOST": "127.0.0.1"}, []
    setup_testing_defaults(environ)
    body = b"".join(application(environ, lambda status, headers: said.extend([status, dict(headers)])))
    is_named = b"newer" in body or b"does not fit" in body
    print(path, said[0][:3], said[1].get("Retry-After"), said[1]["Content-Type"].partition(";")[0], is_named)

for path in ("/", "/api/projects/", "/sign-in/", "/readyz", "/healthz"):
    ask(path)
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Settings for a database of which nothing is known but that a later version has been at it."""
    with closing(sqlite3.connect(tmp_path / "askew.sqlite3")) as database, database:
        database.execute(
            "CREATE TABLE django_migrations (id integer PRIMARY KEY, app text, name text, applied datetime)"
        )
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('annotation', '9999_later', '2030-01-01')"
        )
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'askew.sqlite3'}",
        "ASKEW_DATA_DIR": str(tmp_path),
        "SECRET_KEY": "k" * 60,
    }


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )


def test_a_web_process_answers_503_to_everything_but_machines(environment: dict[str, str]) -> None:
    done = run(environment, "-c", ASK)

    assert done.stdout.splitlines() == [
        "/ 503 5 text/html True",
        "/api/projects/ 503 5 application/problem+json True",
        "/sign-in/ 503 5 text/html True",
        "/readyz 503 5 text/plain True",
        "/healthz 200 None text/plain False",
    ], done.stderr


def test_a_worker_ends_with_the_reason(environment: dict[str, str]) -> None:
    done = run(environment, "manage.py", "worker")

    assert done.returncode == 1
    assert "newer than this program: it has migration annotation.9999_later" in done.stderr
