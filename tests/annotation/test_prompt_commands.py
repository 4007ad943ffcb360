"""`prompts`, `answer_prompts` and `score_prompts`: from any examples to tables of figures."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.releases import creation
from predictor.chat import ChatError, ChatModel
from tests.annotation.cast import NOON, make_world
from tests.predictor.test_tokenizing import folder_with_words


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def predictions(path: Path, said: dict[str, str]) -> Path:
    path.write_text(
        "".join(json.dumps({"id": id, "prediction": text}) + "\n" for id, text in said.items()), "utf-8"
    )
    return path


def run(*arguments: str) -> str:
    printed = StringIO()
    call_command(*arguments, stdout=printed)
    return printed.getvalue()


@pytest.fixture
def films(tmp_path: Path, db: None) -> Path:
    """Four questions about films in WTQ's form."""
    make_world(tmp_path)
    return tmp_path / "films-dev.tsv"


def test_a_dataset_becomes_35_prompts_a_question_and_those_become_figures(
    films: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p" / "torr.jsonl"
    said = run(
        "prompts", "torr", "--data", str(films), "--reader", "wtq", "--demonstrations", "1", "--out", str(out)
    )
    assert "140 prompts" in said
    prompts = records(out)
    assert [path.name for path in out.parent.iterdir()] == ["torr.jsonl"]
    right = predictions(tmp_path / "right", {one["id"]: one["answers"][0] for one in prompts})
    plain = predictions(
        tmp_path / "plain",
        {one["id"]: one["answers"][0] if one["configuration"].endswith("/none") else "" for one in prompts},
    )
    page = tmp_path / "torr.md"
    arguments = ["--predictions", f"right={right}", "--predictions", f"plain={plain}"]
    found = json.loads(run("score_prompts", str(out), *arguments, "--json", "--markdown", str(page)))
    assert {one["name"]: (one["p"]["value"], one["r"]["value"]) for one in found["models"]} == {
        "right": (1, 1),
        "plain": (pytest.approx(1 / 5), 0),
    }
    assert found["scores"] == {"films-dev": "exact"}
    assert found["separable"] == {"pairs": 1, "apart": 1}
    assert "### Kendall's W of 30 draws, by the number of configurations" in page.read_text(encoding="utf-8")
    assert "ToRR" not in run("score_prompts", str(out), *arguments, "--score", "films-dev=f1")


def test_a_project_and_its_release_give_the_same_prompts(tmp_path: Path, db: None) -> None:
    world = make_world(tmp_path)
    world.batch("question_type")
    common = ["--demonstrations", "1", "--forms", "csv"]
    run("prompts", "torr", "--project", "films", *common, "--out", str(tmp_path / "project"))
    run(
        "prompts",
        "torr",
        "--project",
        "films",
        "--source",
        "films-dev",
        *common,
        "--out",
        str(tmp_path / "source"),
    )
    assert records(tmp_path / "project") == records(tmp_path / "source")
    assert len(records(tmp_path / "project")) == 20
    assignment = world.take(world.batch("question_type"), "ada")
    assert assignment is not None
    world.answer(assignment, {"label": "extraction"})
    creation.make_release(
        project=world.project, name="v1", format="askew", by=None, now=NOON, out=tmp_path / "release"
    )
    run("prompts", "suc", "--release", str(tmp_path / "release"), "--out", str(tmp_path / "suc"))
    assert {one["dataset"] for one in records(tmp_path / "suc")} == {"films-dev"}
    with pytest.raises(CommandError, match="no source 'nothing'"):
        run("prompts", "suc", "--project", "films", "--source", "nothing", "--out", str(tmp_path / "x"))


def test_structural_tasks_are_scored_by_task_and_design(films: Path, tmp_path: Path) -> None:
    out = tmp_path / "suc.jsonl"
    told = run(
        "prompts", "suc", "--data", str(films), "--reader", "wtq", "--name", "films", "--out", str(out)
    )
    assert "No table of films has merged cells" in told
    prompts = records(out)
    assert len(prompts) == 7 * 10 - 1, "one table, so there is no other for one shot"
    said = predictions(tmp_path / "said", {one["id"]: one["answers"][0] for one in prompts})
    text = run("score_prompts", str(out), "--predictions", f"m={said}")
    assert "m: accuracy per task and design" in text
    assert "mean of the tasks" in text
    found = json.loads(run("score_prompts", str(out), "--predictions", f"m={said}", "--json"))
    assert {one["accuracy"]["value"] for one in found["scores"]} == {1.0}


def test_self_augmented_prompting_goes_in_two_steps(
    films: Path, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PREDICTORS = {"m": {"protocol": "chat", "url": "http://m/v1", "model": "m-1"}}
    asked: list[list[dict[str, str]]] = []

    def ask(self: ChatModel, messages: list[dict[str, str]], **more: Any) -> list[str]:
        asked.append(messages)
        if len(asked) == 3:
            raise ChatError("the endpoint is gone")
        return [f"reply {len(messages[0]['content'])}"]

    monkeypatch.setattr(ChatModel, "ask", ask)
    first, replies, second = (tmp_path / name for name in ("first", "replies", "second"))
    common = ["prompts", "sap", "--data", str(films), "--reader", "wtq"]
    run(*common, "--out", str(first))
    assert len(records(first)) == 3, "one table, three kinds"
    with pytest.raises(CommandError, match="no correct answer"):
        run("score_prompts", str(first), "--predictions", f"m={predictions(tmp_path / 'none', {})}")
    with pytest.raises(CommandError, match="the endpoint is gone"):
        run("answer_prompts", str(first), "--predictor", "m", "--out", str(replies))
    assert "answered before" in run("answer_prompts", str(first), "--predictor", "m", "--out", str(replies))
    assert {one["id"] for one in records(replies)} == {one["id"] for one in records(first)}
    assert run("answer_prompts", str(first), "--predictor", "m", "--out", str(replies)).startswith(
        "0 prompts"
    )
    run(*common, "--replies", str(replies), "--out", str(second))
    prompts = records(second)
    assert len(prompts) == 4 * 4
    said = predictions(tmp_path / "said", {one["id"]: one["answers"][0] for one in prompts})
    found = json.loads(run("score_prompts", str(second), "--predictions", f"m={said}", "--json"))
    assert {one["variant"]: one["accuracy"]["hits"] for one in found["scores"]} == {
        "plain": 4,
        "format_explanation": 4,
        "critical_values": 4,
        "structural_description": 4,
    }


def test_a_reply_that_was_cut_off_is_kept_as_unread(
    films: Path, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PREDICTORS = {"m": {"protocol": "chat", "url": "http://m/v1", "model": "m-1"}}

    def ask(self: ChatModel, messages: list[dict[str, str]], **more: Any) -> list[str]:
        raise ChatError("The reply was cut off.", "cut_off", "<think>so")

    monkeypatch.setattr(ChatModel, "ask", ask)
    prompts, replies = tmp_path / "prompts", tmp_path / "replies"
    run("prompts", "sap", "--data", str(films), "--reader", "wtq", "--out", str(prompts))
    run("answer_prompts", str(prompts), "--predictor", "m", "--out", str(replies))
    assert [(one["prediction"], one["unread"]) for one in records(replies)] == [
        ("", "The reply was cut off.")
    ] * 3


def test_unitxt_gets_instances_of_its_own_form(films: Path, tmp_path: Path) -> None:
    out = tmp_path / "unitxt.jsonl"
    run(
        *("prompts", "torr", "--data", str(films), "--reader", "wtq", "--demonstrations", "1", "--shuffle"),
        *("--unitxt", "metrics.rouge", "--limit", "2", "--out", str(out)),
    )
    assert len(records(out)) == 70
    assert records(out)[0]["metrics"] == ["metrics.rouge"]
    assert {"perturbation": "row_shuffle"} in [json.loads(one["groups"][1]) for one in records(out)]


def test_what_is_too_long_is_left_out_and_counted(films: Path, tmp_path: Path) -> None:
    folder = folder_with_words(tmp_path / "tiny")
    common = ["prompts", "torr", "--data", str(films), "--reader", "wtq", "--demonstrations", "0"]
    length = ["--tokenizer", str(folder), "--as", "pipe_lines"]
    with pytest.raises(CommandError, match="no examples to write prompts for"):
        run(*common, "--longest", "3", *length, "--out", str(tmp_path / "x"))
    said = run(*common, "--longest", "3000", *length, "--with-question", "--out", str(tmp_path / "y"))
    assert "skipped" not in said
    with pytest.raises(CommandError, match="--longest needs"):
        run(*common, "--longest", "3", "--out", str(tmp_path / "x"))
    with pytest.raises(CommandError, match="need --longest"):
        run(*common, *length, "--out", str(tmp_path / "x"))
    with pytest.raises(CommandError, match="cannot be opened"):
        run(
            *common,
            "--longest",
            "3",
            "--tokenizer",
            str(tmp_path),
            "--as",
            "csv",
            "--out",
            str(tmp_path / "x"),
        )
    with pytest.raises(CommandError, match="no examples to write prompts for"):
        run(*common, "--most-cells", "2", "--out", str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()


def test_what_cannot_be_done_is_said_and_nothing_is_overwritten(films: Path, tmp_path: Path) -> None:
    common = ["prompts", "torr", "--data", str(films)]
    with pytest.raises(CommandError, match="--data needs --reader"):
        run(*common, "--out", str(tmp_path / "x"))
    with pytest.raises(CommandError, match="3 other examples to draw 5"):
        run(*common, "--reader", "wtq", "--out", str(tmp_path / "x"))
    assert not list(tmp_path.glob("x*"))
    (tmp_path / "x").write_text("mine")
    with pytest.raises(CommandError, match="already exists"):
        run(*common, "--reader", "wtq", "--out", str(tmp_path / "x"))
    assert (tmp_path / "x").read_text() == "mine"
    empty = predictions(tmp_path / "empty", {})
    with pytest.raises(CommandError, match="contains no prompts"):
        run("score_prompts", str(empty), "--predictions", f"m={empty}")
