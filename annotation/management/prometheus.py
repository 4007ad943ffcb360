"""Figures for Prometheus: requests by view, jobs, queues, leases, questions to models. No names, no ids, no addresses.

Each process counts for itself. Where PROMETHEUS_MULTIPROC_DIR names a folder (gunicorn.conf.py sees to it) the web processes
of one machine add theirs up in it. What is in the database is read at each scrape: it is the same from every machine, so
take the greatest of them and not their sum.
"""

import functools
import os
from collections.abc import Iterator

from django.conf import settings
from django.db import Error
from django.db.models import Count, F, Min, Q, Sum
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from annotation.background import jobs
from annotation.models import Assignment, Batch, Job, PersonBatchCounts
from predictor import observing

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0, 10.0)

requests = Counter("askew_requests", "Requests answered.", ("view", "method", "status"))
latency = Histogram("askew_request_seconds", "Response time.", ("view", "method"), buckets=SECONDS)
questions = Counter("askew_model_questions", "Model requests by result.", ("model", "outcome"))
thinking = Histogram(
    "askew_model_seconds", "Response time of models, including timeouts.", ("model",), buckets=SECONDS
)


@functools.lru_cache(maxsize=4096)
def _requests(view: str, method: str, status: int) -> Counter:
    return requests.labels(view, method, str(status))


@functools.lru_cache(maxsize=1024)
def _latency(view: str, method: str) -> Histogram:
    return latency.labels(view, method)


def count_request(view: str, method: str, status: int, seconds: float) -> None:
    """Count one request that was answered."""
    _requests(view, method, status).inc()
    _latency(view, method).observe(seconds)


def count_question(model: str, outcome: str, seconds: float) -> None:
    """Count one question to a model; what is called for each of them."""
    questions.labels(model, outcome).inc()
    thinking.labels(model).observe(seconds)


def listen() -> None:
    """Count what this process asks models from now on."""
    if count_question not in observing.listeners:
        observing.listeners.append(count_question)


class DatabaseMetrics(Collector):
    """What is in the database now. Each figure is one query over an index or over one row a batch or person."""

    def collect(self) -> Iterator[Metric]:
        """The figures; only `askew_database_up` 0 where the database does not answer."""
        up = GaugeMetricFamily("askew_database_up", "Whether the database responds.")
        try:
            families = [*self._jobs(), *self._work()]
        except Error:
            up.add_metric((), 0)
            yield up
            return
        up.add_metric((), 1)
        yield up
        yield from families

    def _jobs(self) -> Iterator[Metric]:
        now = timezone.now()
        state = Job.State
        rows = (
            Job.objects.filter(state__in=(state.QUEUED, state.RUNNING, state.FAILED))
            .values_list("state", "kind")
            .annotate(many=Count("pk"), oldest=Min("heartbeat"))
            .order_by("state", "kind")
        )
        many = GaugeMetricFamily(
            "askew_jobs", "Jobs by state: queued, running or failed.", labels=("state", "kind", "queue")
        )
        silent = GaugeMetricFamily(
            "askew_job_silent_seconds",
            "Age of the oldest sign of progress of a queued or running job.",
            labels=("state", "queue"),
        )
        longest: dict[tuple[str, str], float] = {}
        for name, kind, count, oldest in rows:
            queue = jobs.QUEUE_OF.get(kind, "default")
            many.add_metric((name, kind, queue), count)
            if name != state.FAILED:
                seconds = max(0.0, (now - oldest).total_seconds())
                longest[name, queue] = max(longest.get((name, queue), 0.0), seconds)
        for labels, seconds in longest.items():
            silent.add_metric(labels, seconds)
        yield many
        yield silent

    def _work(self) -> Iterator[Metric]:
        leased = Assignment.objects.filter(state=Assignment.State.LEASED).aggregate(
            all=Count("pk"), over=Count("pk", filter=Q(leased_until__lt=Now()))
        )
        leases = GaugeMetricFamily("askew_leases", "Items in progress.", labels=("state",))
        leases.add_metric(("running",), leased["all"] - leased["over"])
        leases.add_metric(("over",), leased["over"])
        yield leases
        states = GaugeMetricFamily("askew_batches", "Batches by state.", labels=("state",))
        counted = Batch.objects.aggregate(
            open=Count(
                "pk", filter=Q(opened_at__isnull=False, closed_at__isnull=True, paused_at__isnull=True)
            ),
            paused=Count("pk", filter=Q(closed_at__isnull=True, paused_at__isnull=False)),
            closed=Count("pk", filter=Q(closed_at__isnull=False)),
            places=Sum(F("slots_count"), default=0),
            items=Sum(F("items_count"), default=0),
        )
        for name in ("open", "paused", "closed"):
            states.add_metric((name,), counted[name])
        yield states
        yield GaugeMetricFamily("askew_items", "Items of all batches.", value=counted["items"])
        yield GaugeMetricFamily("askew_places", "Slots of all batches.", value=counted["places"])
        done = PersonBatchCounts.objects.aggregate(many=Sum("submitted", default=0))["many"]
        yield GaugeMetricFamily("askew_submitted", "Submitted responses.", value=done)


def figures() -> bytes:
    """Everything, in Prometheus' text format."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)
        registry.register(DatabaseMetrics())
        return generate_latest(registry)
    registry.register(DatabaseMetrics())
    return generate_latest(REGISTRY) + generate_latest(registry)


@never_cache
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The figures, for requests with METRICS_TOKEN as bearer token only."""
    authorization = request.headers.get("Authorization", "")
    if not settings.METRICS_TOKEN or not constant_time_compare(
        authorization, f"Bearer {settings.METRICS_TOKEN}"
    ):
        raise Http404
    return HttpResponse(figures(), content_type=CONTENT_TYPE_LATEST)
