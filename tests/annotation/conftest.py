from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from annotation.help import predicting
from predictor import client
from tests.annotation.cast import World, make_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """A small project with its people and four questions about films."""
    return make_world(tmp_path)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages wait for a model as long as a busy machine needs. Tests of lateness set less."""
    monkeypatch.setattr(client, "CONNECT", 60.0)
    monkeypatch.setattr(predicting, "live_seconds", lambda entry: 60.0)


@pytest.fixture(autouse=True)
def english_afterwards(settings: Any) -> Iterator[None]:
    """A request leaves its language behind in the thread; the next test begins in English."""
    yield
    translation.activate(settings.LANGUAGE_CODE)
