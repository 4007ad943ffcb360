"""`metrics`: text metrics and imported scores against what people said, of a release and of published files."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.releases import creation
from annotation.releases.rated_answers import rated_answers
from annotation.workflow import automatic_decisions
from predictor.chat import ChatModel, Completion
from tableqa import Example, Table
from tests.annotation.cast import NOON, World, make_world

LATER = NOON + timedelta(days=1)
FILMS = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]])
SAID = ("Heat, with 170 minutes, is the longest film.", "Heat is the longest.", "It rains in Spain.")
"""What three systems answered, from the best to the worst."""


def released(world: World, out: Path, format: str) -> Path:
    """Two questions answered by three systems, rated by Ada, each worse than the one before."""
    examples = [
        Example(
            f"fetaqa_{question}~system-{system}",
            f"which film is the longest ({question})?",
            FILMS,
            ["Heat is the longest film, with 170 minutes."],
            meta={
                "example_id": f"fetaqa_{question}",
                "rated_answer": {"text": text, "system": f"system-{system}"},
                "reference": "Heat is the longest film, with 170 minutes.",
                "metrics": {"tapas": 0.1 * system},
            },
        )
        for question in range(2)
        for system, text in enumerate(SAID)
    ]
    source = world.import_written(*examples)
    batch = world.batch("answer_rating", sources=[source], overlap=1)
    while (assignment := world.take(batch, "ada")) is not None:
        system = int(assignment.item.example.external_id[-1])
        world.answer(assignment, {"faithfulness": 5 - system, "comprehensiveness": 4})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    creation.make_release(project=world.project, name="v1", format=format, by=None, now=LATER, out=out)
    return out


def run(*arguments: str) -> dict[str, Any]:
    printed = StringIO()
    call_command("metrics", *arguments, "--json", stdout=printed)
    found: dict[str, Any] = json.loads(printed.getvalue())
    return found


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("format", ["lftqa", "askew"])
def test_a_release_says_how_far_a_metric_goes_with_people(tmp_path: Path, format: str) -> None:
    out = released(make_world(tmp_path), tmp_path / "out", format)
    found = run(str(out), "--metric", "meteor")
    (sizes,) = found["datasets"].values()
    assert sizes == {"answers": 6, "examples": 2, "systems": 3}
    rows = {(row["metric"], row["dimension"]): row for row in found["correlations"]}
    assert rows["meteor", "faithfulness"]["by_method"]["spearman"]["value"] == pytest.approx(1)
    assert rows["tapas", "faithfulness"]["by_method"]["pearson"]["value"] == pytest.approx(-1)
    assert rows["tapas", "faithfulness"]["implementation"] == "came with the data"
    all_the_same = rows["meteor", "comprehensiveness"]["by_method"]["kendall"]
    assert (all_the_same["value"], all_the_same["undefined"]) == (None, 2)


@pytest.mark.django_db(transaction=True)
def test_the_files_of_lftqa_eval_give_the_same_as_the_release_they_came_from(tmp_path: Path) -> None:
    out = released(make_world(tmp_path), tmp_path / "out", "lftqa")
    (folder,) = (out / "scores").iterdir()
    whole, files = rated_answers(out), rated_answers(folder)
    assert {one.key[1:]: one.human for one in files} == {one.key[1:]: one.human for one in whole}
    (folder / "model_outputs.json").unlink()
    alone = rated_answers(folder)
    assert {one.key: (one.human, one.metrics) for one in alone} == {
        one.key: (one.human, one.metrics) for one in files
    }
    assert not any(one.text for one in alone)


def lftqa_file(folder: Path) -> Path:
    """The form of the reader jsonl, as the demo's rated answers are written."""
    path = folder / "rated.jsonl"
    records = [
        {
            "id": f"{question}~s{system}",
            "question": "which is longest?",
            "answers": ["Heat is the longest film, with 170 minutes."],
            "table": {"header": list(FILMS.header), "rows": [list(row) for row in FILMS.rows]},
            "rated_answer": {"text": text, "system": f"s{system}"},
            "human": {"faithfulness": 5 - system, "comprehensiveness": 5 - 2 * system},
        }
        for question in range(3)
        for system, text in enumerate(SAID)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def test_scores_of_other_programs_stand_beside_ours_and_are_kept(tmp_path: Path) -> None:
    path = lftqa_file(tmp_path)
    scores = tmp_path / "tapas.csv"
    lines = [f"{question},s{system},{9 - system}" for question in range(3) for system in range(3)]
    scores.write_text("\n".join(("id,system,score", *lines)) + "\n", encoding="utf-8")
    page = tmp_path / "page.md"
    arguments = [str(path), "--reader", "jsonl", "--metric", "meteor", "--scores", f"TAPAS-Acc={scores}"]
    found = run(*arguments, "--keep", str(tmp_path / "kept"), "--markdown", str(page))
    assert {row["metric"] for row in found["correlations"]} == {"meteor", "TAPAS-Acc"}
    assert {row["by_method"]["kendall"]["value"] for row in found["correlations"]} == {1.0}
    assert "| TAPAS-Acc | faithfulness | 1.000 (-0.058 to 1.000) |" in page.read_text(encoding="utf-8")
    again = run(
        str(path),
        "--reader",
        "jsonl",
        "--scores",
        f"kept={tmp_path / 'kept' / 'meteor.jsonl'}",
        "--metric",
        "meteor",
    )
    by_metric = {row["metric"]: row["by_method"] for row in again["correlations"]}
    assert by_metric["kept"] == by_metric["meteor"]


def test_a_chat_model_rates_each_answer_once(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def complete(self: ChatModel, messages: list[dict[str, str]], **more: Any) -> list[Completion]:
        text = messages[1]["content"]
        asked.append(text)
        return [Completion(json.dumps({"score": 5 - SAID.index(text.rpartition("Answer: ")[2])}))]

    monkeypatch.setattr(ChatModel, "complete", complete)
    settings.PREDICTORS = {"judge": {"protocol": "chat", "url": "http://judge/v1", "model": "j-1"}}
    path, keep = lftqa_file(tmp_path), tmp_path / "kept"
    arguments = [
        str(path),
        "--reader",
        "jsonl",
        "--metric",
        "meteor",
        "--geval",
        "judge",
        "--keep",
        str(keep),
    ]
    found = run(*arguments)
    assert len(asked) == 9 * 2, "nine answers, two dimensions"
    rows = [row for row in found["correlations"] if row["metric"] == "geval_judge_faithfulness"]
    assert [row["by_method"]["pearson"]["value"] for row in rows] == [pytest.approx(1), pytest.approx(1)]
    assert rows[0]["implementation"].startswith("G-Eval of faithfulness: j-1, 1 samples")
    assert run(*arguments) == found
    assert len(asked) == 18, "what is kept is not asked for again"
    with pytest.raises(CommandError, match="Choose another folder"):
        run(*arguments, "--samples", "2")


def test_what_cannot_be_compared_is_said(tmp_path: Path, settings: Any) -> None:
    settings.PREDICTORS = {}
    path = lftqa_file(tmp_path)
    for arguments, said in (
        (["--geval", "judge"], "--geval needs --keep"),
        (
            ["--geval", "judge", "--keep", str(tmp_path / "k")],
            "no predictor 'judge'|There is no|not a chat model",
        ),
        (["--scores", "meteor=nothing.csv"], "cannot be read"),
        (["--samples", "0"], "at least 1"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("metrics", str(path), "--reader", "jsonl", "--metric", "meteor", *arguments)
    with pytest.raises(CommandError, match="NAME=FILE"):
        call_command("metrics", str(path), "--scores", "nothing")


@pytest.mark.django_db(transaction=True)
def test_the_tables_come_in_every_form(tmp_path: Path) -> None:
    out = released(make_world(tmp_path), tmp_path / "v1", "askew")
    for form, said in {
        "text": "metric  dimension",
        "markdown": "| metric | dimension |",
        "latex": r"\begin{table}",
        "html": "<caption>",
        "csv": "metric,dimension,pearson",
    }.items():
        printed = StringIO()
        call_command("metrics", str(out), "--metric", "meteor", "--format", form, stdout=printed)
        assert said in printed.getvalue()
        assert "What computed the scores" in printed.getvalue() or form == "csv"
