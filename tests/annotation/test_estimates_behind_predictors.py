"""Estimates before jobs for a language model behind an Askew predictor, as for one that is asked directly."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.access.roles import Role
from annotation.assistance import model_accuracy, model_queries, request_estimates
from annotation.models import Batch, Job
from annotation.queue import metered_models
from annotation.releases import creation
from annotation.releases.model_evaluation import queries, runs
from annotation.workflow import projects
from tests.annotation.cast import NOON, World
from tests.annotation.test_metering_predictors import behind, entry, llm, tried, world
from tests.annotation.test_model_estimates import released
from tests.predictor.endpoints import Endpoint
from tests.predictor.scripted import answer, scripted

__all__ = ["behind", "entry", "llm", "tried", "world"]


def test_a_server_says_whether_its_model_is_a_language_model(entry: dict[str, Any], settings: Any) -> None:
    with scripted(answer("1999")) as script:
        gone = {**script.entry, "url": "http://127.0.0.1:1"}
        settings.PREDICTORS = {"qwen": entry, "small": script.entry, "gone": gone}
        assert metered_models.language_models() == ["qwen"]
    assert not metered_models.is_language_model("unknown")


def test_an_evaluation_shows_its_estimate_before_it_starts(
    world: World, entry: dict[str, Any], llm: Endpoint, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    release = released(world)
    instances = len(list(queries.instances(queries.load(creation.folder(release)))))
    rea = Client()
    rea.force_login(world.rea)
    sent = {"name": "Qwen", "predictor": "qwen"}
    page = rea.post(reverse("evaluations", args=[release.public_id]), sent).content.decode()
    assert f"about {instances} requests" in page
    assert "USD" in page
    assert (llm.requests, Job.objects.filter(kind="evaluate").count()) == ([], 0)
    estimate = runs.estimate(release=release, name="Qwen", predictor="qwen")
    assert estimate is not None
    assert (estimate.requests, (estimate.usd or 0) > 0) == (instances, True)


@pytest.mark.django_db(transaction=True)
def test_the_command_prints_its_estimate_what_was_used_and_keeps_to_its_budget(
    world: World, entry: dict[str, Any], llm: Endpoint, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    folder = creation.folder(released(world))
    command = [
        "evaluate",
        str(folder),
        "--predictor",
        "qwen",
        "--predictions",
        f"qwen={tmp_path / 'q.jsonl'}",
    ]
    err = StringIO()
    call_command(*command, "--estimate", stdout=StringIO(), stderr=err)
    assert "qwen: about" in err.getvalue()
    assert llm.requests == []
    with pytest.raises(Exception, match="budget of 10 tokens"):
        call_command(*command, "--budget-tokens", "10", stdout=StringIO(), stderr=StringIO())
    assert llm.requests == []
    err = StringIO()
    call_command(*command, stdout=StringIO(), stderr=err)
    assert f"qwen: {len(llm.requests)} requests, " in err.getvalue()
    assert f"({len(llm.requests)} of {len(llm.requests)} counted)" in err.getvalue()


def test_questions_and_accuracy_are_estimated(world: World, entry: dict[str, Any], llm: Endpoint) -> None:
    estimate = model_queries.estimate(sources=[world.source], predictor="qwen", purpose="cells", limit=2)
    assert estimate is not None
    assert (estimate.requests, estimate.completion_tokens) == (2, 2 * 100)
    batch = world.batch("question_paraphrase", variant="word")
    keys = list(batch.items.values_list("example_id", flat=True))
    known = model_accuracy.stored_accuracy(keys, task=batch.task(), predictor="qwen")
    assert known.estimate is not None
    assert known.estimate.requests == len(keys)
    assert model_accuracy.needed_by_source([world.source], {})
    assert llm.requests == []


def test_the_page_of_a_batch_shows_what_is_still_to_be_requested(
    tried: Batch, world: World, entry: dict[str, Any], settings: Any
) -> None:
    settings.PREDICTORS = {"qwen": entry, "other": entry}
    purposes = {(line.purpose, line.predictor) for line in request_estimates.of_batch(tried)}
    assert purposes == {("loop", "qwen"), ("panel", "other")}
    mara = Client()
    mara.force_login(world.mara)
    page = mara.get(f"/batches/{tried.public_id}/").content.decode()
    assert "Estimate for requests that are still open:" in page


def test_estimates_are_not_for_annotators_because_they_count_items_and_submissions(
    tried: Batch, world: World, entry: dict[str, Any], settings: Any
) -> None:
    settings.PREDICTORS = {"qwen": entry, "other": entry}
    projects.add_member(
        project=world.project,
        person=world.people["zoe"],
        roles=[Role.MANAGER, Role.ANNOTATOR],
        by=world.mara,
        now=NOON,
    )
    zoe = Client()
    zoe.force_login(world.people["zoe"])

    page = zoe.get(f"/batches/{tried.public_id}/").content.decode()

    assert "You annotate in this batch. Its counts are visible to you after it closes." in page
    assert "Estimate for requests" not in page
