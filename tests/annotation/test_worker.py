"""The worker goes on where its database was away."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError

from annotation.management.commands import worker


def test_a_database_that_is_locked_for_long_does_not_end_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def db_worker(name: str, **options: Any) -> None:
        found.append(name)
        if len(found) < 3:
            raise OperationalError("database is locked")

    monkeypatch.setattr(worker, "call_command", db_worker)
    monkeypatch.setattr(worker, "EVERY", 0.0)
    monkeypatch.setattr("annotation.management.commands.worker.connection.close", lambda: None)
    worker._take_jobs(0.1)
    assert found == ["db_worker"] * 3
