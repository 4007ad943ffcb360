"""Figures for Prometheus: for whoever has the token, and about nobody."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from annotation.management import prometheus
from annotation.management.commands.worker import _address
from annotation.models import Assignment, Job
from predictor import observing
from predictor.client import Model, PredictionError
from predictor.protocol import PredictRequest
from tableqa import Table
from tests.annotation.cast import World
from tests.operations.web import served
from tests.predictor.scripted import hung_socket
from tests.test_settings import settings_with  # noqa: F401  a fixture

TOKEN = "figures-for-this-test"


@pytest.fixture
def shown(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


def figures(client: Client | None = None) -> str:
    answer = (client or Client()).get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    return answer.content.decode()


def value(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


@pytest.mark.django_db
@pytest.mark.parametrize("said", ["", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer é"])
def test_without_the_token_there_is_nothing(said: str, shown: None) -> None:
    assert Client().get("/metrics", headers={"authorization": said}).status_code == 404


@pytest.mark.django_db
def test_where_no_token_is_set_there_is_nothing_for_anybody(settings: Any, world: World) -> None:
    settings.METRICS_TOKEN = ""
    client = Client()
    client.force_login(world.mara)

    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404


def test_a_token_that_is_short_is_refused(settings_with: Any) -> None:  # noqa: F811
    with pytest.raises(ImproperlyConfigured, match="at least 16 characters"):
        settings_with(METRICS_TOKEN="short")


def test_requests_are_counted_by_the_names_of_views(world: World, shown: None) -> None:
    one = 'askew_requests_total{method="GET",status="200",view="project"}'
    client = Client()
    client.force_login(world.mara)
    before = value(figures(), one)

    client.get("/projects/films/?q=1")
    text = figures()

    assert value(text, one) == before + 1
    assert value(text, 'askew_request_seconds_count{method="GET",view="project"}') >= 1
    assert 'view="nothing"' in (Client().get("/wp-login.php") and figures())


def test_a_made_up_method_makes_no_figure_of_its_own(world: World, shown: None) -> None:
    Client().generic("PROPFIND-1", "/healthz")

    assert "PROPFIND" not in figures()


def test_jobs_leases_and_responses_are_those_of_the_database(world: World, shown: None) -> None:
    now = timezone.now()
    for state, kind in (
        ("queued", "import"),
        ("queued", "import"),
        ("failed", "ask_originals"),
        ("done", "import"),
    ):
        Job.objects.create(
            project=world.project, kind=kind, state=state, heartbeat=now - timedelta(minutes=5), made_at=now
        )
    batch = world.batch("question_type", overlap=1)
    world.label(batch, "ada", "extraction")
    world.take(batch, "bo")
    late = world.take(batch, "cy")
    Assignment.objects.filter(pk=late.pk if late else 0).update(leased_until=now - timedelta(hours=1))

    text = figures()

    assert value(text, 'askew_jobs{kind="import",queue="imports",state="queued"}') == 2
    assert value(text, 'askew_jobs{kind="ask_originals",queue="models",state="failed"}') == 1
    assert 'state="done"' not in text
    assert 299 < value(text, 'askew_job_silent_seconds{queue="imports",state="queued"}') < 400
    assert value(text, 'askew_leases{state="running"}') == 1
    assert value(text, 'askew_leases{state="over"}') == 1
    assert value(text, "askew_submitted") == 1
    assert value(text, 'askew_batches{state="open"}') == 1
    assert value(text, "askew_database_up") == 1


def test_a_database_that_is_away_is_a_figure_too(
    world: World, shown: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(self: Any) -> Any:
        raise DatabaseError("gone")

    monkeypatch.setattr(prometheus.DatabaseMetrics, "_work", gone)

    assert value(figures(), "askew_database_up") == 0


def test_nothing_says_who(world: World, shown: None) -> None:
    batch = world.batch("question_type", overlap=1)
    world.label(batch, "ada", "extraction")
    client = Client()
    client.force_login(world.ada)
    client.get("/account/")
    client.get(f"/batches/{batch.public_id}/annotate/")

    text = figures()

    for word in ("Ada", "ada", "Mara", "films", batch.public_id, batch.name, "example.org"):
        assert not re.search(rf'"{word}"', text), word


def test_questions_to_models_are_counted_by_how_they_ended(db: None) -> None:
    prometheus.listen()
    prometheus.listen()
    assert observing.listeners.count(prometheus.count_question) == 1
    one = 'askew_model_questions_total{model="tapex",outcome="late"}'
    before = value(prometheus.figures().decode(), one)
    with hung_socket() as (url, _):
        model = Model(url, "tapex")
        request = PredictRequest(
            question="which?", table=Table(header=("film",), rows=(("Alien",),)), slot="s"
        )
        with pytest.raises(PredictionError):
            model.predict(request, within=1)
        model.close()

    assert value(prometheus.figures().decode(), one) == before + 1


def test_a_listener_that_fails_disturbs_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []

    def broken(*_: Any) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(
        observing, "listeners", [broken, lambda model, outcome, seconds: heard.append(outcome)]
    )
    observing.notify("m", "answered", 0.1)

    assert heard == ["answered"]


@pytest.mark.django_db(transaction=True)
def test_web_processes_add_their_figures_up(tmp_path: Path) -> None:
    """Two gunicorn workers; whichever answers tells of the requests of both."""
    with served(tmp_path, METRICS_TOKEN=TOKEN, workers=2) as ask:
        for _ in range(40):
            assert ask("/healthz")[0] == 200
        status, text = ask("/metrics", Authorization=f"Bearer {TOKEN}")

    assert status == 200
    assert value(text, 'askew_requests_total{method="GET",status="200",view="healthz"}') >= 40


def test_where_a_worker_shows_its_figures_is_said_with_host_and_port() -> None:
    assert _address("127.0.0.1:9134") == ("127.0.0.1", 9134)
    assert _address("[::1]:9134") == ("::1", 9134)
    with pytest.raises(Exception, match="HOST:PORT"):
        _address("9134")
