"""A job that writes all or nothing in one transaction shows its progress meanwhile."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from annotation import jobs
from annotation.models import Job
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both


@pytest.mark.django_db(transaction=True)
def test_progress_is_visible_although_the_transaction_is_rolled_back(
    transactional_db: None, world: World
) -> None:
    job = jobs.enqueue(project=world.project, kind="import_responses", ids={}, by=None, now=NOON)
    Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING)

    with transaction.atomic():
        jobs.Progress(job.pk).beside_the_transaction(3, 10)
        transaction.set_rollback(True)

    job.refresh_from_db()
    shown = (0, 0) if connection.vendor == "sqlite" else (3, 10)
    assert (job.done, job.total) == shown
    assert Job.objects.count() == 1
