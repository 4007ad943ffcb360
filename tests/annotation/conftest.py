from __future__ import annotations

from pathlib import Path

import pytest

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
