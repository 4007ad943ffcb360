from __future__ import annotations

from pathlib import Path

import pytest

from tests.annotation.cast import World, make_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """A small project with its people and four questions about films."""
    return make_world(tmp_path)
