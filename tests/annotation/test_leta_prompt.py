"""What a language model is shown before it proposes: rows that the question is about, and the answer of the loop model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.assistance import proposals
from tableqa import Table
from tasks.shared.column_prompts import relevant_table
from tests.annotation.cast import NOON, make_world
from tests.predictor.endpoints import Endpoint, endpoint
from tests.predictor.scripted import answer, scripted


def test_rows_that_the_question_is_about_are_shown_first_and_in_their_order() -> None:
    table = Table(["City", "People"], [[f"City {n}", str(n)] for n in range(500)] + [["Oslo", "700"]])
    text = relevant_table(table, "how many people live in oslo?", tokens=100)
    lines = text.splitlines()
    assert lines[1] == "City 0 | 0"
    assert "Oslo | 700" in lines[-2]
    assert lines[-1] == f"({501 - (len(lines) - 2)} of 501 rows are not shown)"
    assert len(text) < 600


def test_a_small_table_is_shown_whole() -> None:
    table = Table(["City"], [["Oslo"], ["Bergen"], ["Moss"]])
    assert relevant_table(table, "which?").splitlines()[1:] == ["Oslo", "Bergen", "Moss"]


def test_a_row_that_is_longer_than_the_budget_is_shown_alone() -> None:
    table = Table(["City"], [["x" * 100], ["y" * 100]])
    assert relevant_table(table, "which?", tokens=1).splitlines()[-1] == "(1 of 2 rows are not shown)"


@pytest.mark.parametrize(
    ("kind", "variant"), [("question_paraphrase", "sentence"), ("header_synonym", ""), ("column_masking", "")]
)
def test_the_prompt_states_what_the_loop_model_answered_to_which_question(
    db: None, tmp_path: Path, settings: Any, kind: str, variant: str
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    world = make_world(tmp_path)
    with endpoint(Endpoint("vllm")) as llm, scripted(answer("a wrong one")) as small:
        llm.reply = lambda body: '{"why": "none fits", "applies": false}'
        settings.PREDICTORS = {"llm": llm.entry(), "small": small.entry}
        batch = world.batch(
            kind,
            variant=variant,
            size=1,
            loop_model="small",
            help="offered",
            help_from={"rules": False, "models": ["llm"], "repetitions": 1},
        )
        proposals.make_proposals(batch=batch, now=lambda: NOON)
        prompt = llm.requests[0]["messages"][-1]["content"]
    question = batch.items.get().example.question
    assert f"A model answers the question “{question}” with: a wrong one" in prompt
    assert [row.split(" | ")[0] for row in prompt.splitlines()[1:4]]
