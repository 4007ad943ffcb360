"""Fixtures of several folders: a world of the platform, tables of published data, small models.

They are here and not in files `conftest.py`, because pytest 9.1 loses those of a folder whose tests are named before and
after a file of a folder above it: "fixture 'world' not found".
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import translation

from tests.plugin import missing

if TYPE_CHECKING:
    from tableqa import Table
    from tests.annotation.cast import World

# --- the platform ------------------------------------------------------------------------------------------


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """A small project with its people and four questions about films."""
    from tests.annotation.cast import make_world

    return make_world(tmp_path)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages wait for a model as long as a busy machine needs. Tests of lateness set less."""
    from annotation.assistance import draft_checks
    from predictor import client

    monkeypatch.setattr(client, "CONNECT", 60.0)
    monkeypatch.setattr(draft_checks, "live_seconds", lambda entry: 60.0)


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    """A request leaves its language behind in the thread; the next test begins in English."""
    yield
    translation.activate(settings.LANGUAGE_CODE)


@pytest.fixture(autouse=True, scope="session")
def _no_worker_is_late() -> Iterator[None]:
    """The people of tests work in March 2026. That a decision waits since then is found where a test asks for it."""
    from annotation.management import doctor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doctor, "OVERDUE", timedelta(days=36_500))
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_parser_and_no_model_runs_inside_a_transaction() -> Iterator[None]:
    """Fail where a file is read, or a model asked, while a transaction of the platform holds locks."""
    from predictor import client
    from predictor.chat import ChatModel
    from tableqa.readers.responses import TOOLS

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChatModel, "complete", outside_transactions(ChatModel.complete))
        patch.setattr(client, "_wait_for", outside_transactions(client._wait_for))
        for name, tool in TOOLS.items():
            patch.setitem(TOOLS, name, dataclasses.replace(tool, tasks=outside_transactions(tool.tasks)))
        yield


def outside_transactions(function: Any) -> Any:
    """The function, which may not be called inside a transaction, except the one around a test."""

    @functools.wraps(function)
    def checked(*args: Any, **params: Any) -> Any:
        blocks = [block for block in connection.atomic_blocks if not getattr(block, "_from_testcase", False)]
        assert not blocks, f"{function.__qualname__} runs inside a transaction"
        return function(*args, **params)

    return checked


# --- published tables --------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def dev_tables(test_data: Path) -> list[Table]:
    """The 346 tables of WikiTableQuestions' development part, each once, in the order of the questions."""
    from tableqa.readers import READERS

    examples = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    return list({example.meta["context"]: example.table for example in examples}.values())


# --- small models ------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def deep_learning() -> None:
    """Skip where the libraries are not installed; `./run test` says so, too."""
    for library in ("torch", "transformers", "safetensors", "onnx"):
        if importlib.util.find_spec(library) is None:
            missing(f"{library} is not installed: requirements/models.txt has it (docs/predictor.md)")
    import torch

    torch.set_num_threads(1)  # so small a network is slower with more, and several test processes run at once


@pytest.fixture(scope="session")
def folders(
    deep_learning: None, tmp_path_factory: pytest.TempPathFactory, test_data: Path
) -> dict[str, Path]:
    """Architecture -> folder of a small model with random weights, as an administrator would have it.

    tapex, omnitab, tapas, tabert (K=1) and tabert3 (K=3).
    """
    from tests.predictor.models import small

    models = {
        name: tmp_path_factory.mktemp("models") / f"small-{name}"
        for name in ("tapex", "omnitab", "tapas", "tabert", "tabert3")
    }
    for folder in models.values():
        folder.mkdir()
    for name in ("tapex", "omnitab"):
        small.bart(models[name], test_data / "golden" / "tapex")
    small.tapas(models["tapas"])
    small.tabert(models["tabert"], rows=1)
    small.tabert(models["tabert3"], rows=3)
    return models
