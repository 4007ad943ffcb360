"""A model on a release: everything is put to it once, and the command says how it does."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

import tableqa
from annotation import adjudicating, evaluating, perturbing, releasing
from tableqa.evaluation import EvaluationError
from tests.annotation.cast import NOON, World, make_world

LATER = NOON + timedelta(days=1)


def released(world: World, out: Path) -> Path:
    """Two shuffles and a transposition of every question, and one value change, released."""
    run = perturbing.plan_run(
        project=world.project,
        kinds=["row_shuffle", "transpose", "target_row_front"],
        seeds=[33, 16],
        now=NOON,
    )
    perturbing.perform(run)
    batch = world.batch("value_change", variant="answer_changes", only=["nu-0"])
    assignment = world.take(batch, "ada")
    assert assignment is not None
    edit = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
    data = {"unanswerable": False, "operations": [edit], "answers": ["1996"], "reason": "a later film"}
    world.answer(assignment, data)
    adjudicating.resolve_batch(batch=batch, now=LATER)
    releasing.make_release(project=world.project, name="v1", format="askew", by=None, now=LATER, out=out)
    return out


def reads_the_first_row(example: tableqa.Example) -> dict[str, Any]:
    """A model that always answers with the year of the first row."""
    row = example.table.rows[0]
    return {"answers": [row[1] if len(row) > 1 else ""], "text": row[0], "model": "first@1"}


@pytest.mark.django_db(transaction=True)
def test_every_instance_is_asked_once_and_an_interrupted_file_is_gone_on_with(tmp_path: Path) -> None:
    raw = evaluating.load(released(make_world(tmp_path), tmp_path / "out"))
    pairs = list(evaluating.instances(raw))
    keys = [(one.source, one.id) for one, _ in pairs]
    assert len(keys) == len(set(keys))
    kinds = {one.kind for one, _ in pairs}
    assert kinds == {"original", "row_shuffle", "transpose", "target_row_front", "answer_changes"}
    for one, example in pairs:
        assert example.answers == one.answers
        assert (one.source, one.baseline) in keys
    file = tmp_path / "said.jsonl"
    broken = 0

    def breaks(example: tableqa.Example) -> dict[str, Any]:
        nonlocal broken
        broken += 1
        if broken > 5:
            raise EvaluationError("The model is gone.")
        return reads_the_first_row(example)

    with pytest.raises(EvaluationError):
        evaluating.collect(raw, breaks, file)
    kept = len(file.read_text(encoding="utf-8").splitlines())
    assert evaluating.collect(raw, reads_the_first_row, file) == len(pairs) - kept
    assert evaluating.collect(raw, reads_the_first_row, file) == 0
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert sorted((line["source"], line["id"]) for line in lines) == sorted(keys)


@pytest.mark.django_db(transaction=True)
def test_a_model_that_reads_the_first_row_is_found_out_by_the_shuffles(tmp_path: Path) -> None:
    out = released(make_world(tmp_path), tmp_path / "out")
    file = tmp_path / "said.jsonl"
    evaluating.collect(evaluating.load(out), reads_the_first_row, file)
    printed = StringIO()
    call_command("evaluate", str(out), "--predictions", str(file), "--json", stdout=printed)
    rows = {row["kind"]: row for row in json.loads(printed.getvalue())["rows"]}
    assert rows["original"]["after"]["value"] == 0.25, "only the film of the first row"
    assert rows["answer_changes"]["before"]["value"] == rows["answer_changes"]["after"]["value"] == 1
    assert set(rows["transpose"]["seeds"]) == {"0"}
    assert set(rows["row_shuffle"]["seeds"]) == {"33", "16"}
    text = StringIO()
    call_command("evaluate", str(out), "--predictions", str(file), stdout=text)
    assert text.getvalue().splitlines()[1].split()[:2] == ["original", "4"]


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_evaluated_is_said(tmp_path: Path) -> None:
    out = released(make_world(tmp_path), tmp_path / "out")
    file = tmp_path / "said.jsonl"
    file.write_text('{"id": "nu-0", "answers": ["1995"]}\n', encoding="utf-8")
    with pytest.raises(CommandError, match="have no prediction"):
        call_command("evaluate", str(out), "--predictions", str(file))
    with pytest.raises(CommandError, match="no predictor called 'nobody'"):
        call_command("evaluate", str(out), "--predictor", "nobody")
    with pytest.raises(CommandError, match="Name a file"):
        call_command("evaluate", str(out))
    with pytest.raises(CommandError, match="not a release"):
        call_command("evaluate", str(tmp_path), "--predictions", str(file))
