"""A release verifies under the rules that it names, and with records that are older than they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.releases import creation, verification
from annotation.workflow import automatic_decisions
from tableqa.core.release_rules import RULES, under
from tableqa.releases import record_files, release_records
from tableqa.releases.verification import describe
from tests.annotation.cast import World
from tests.annotation.older_rules import made_by_rules
from tests.annotation.test_defining import LATER, batch_of, define, say

FOLLOW_UPS: dict[str, Any] = {
    "title": "Follow-ups",
    "instruction": "Look",
    "fields": [
        {"name": "score", "type": "scale"},
        {"name": "cause", "type": "choice", "options": ["long", "wide"], "when": "score <= 3"},
        {"name": "more", "type": "text", "optional": True, "when": "cause != long"},
    ],
    "decide": {"field": "score"},
    "agreement": {"score": ["alpha_ordinal"]},
    "practice": [],
}
LOW = {"score": 3, "cause": "wide", "more": ""}
HIGH = {"score": 5, "cause": "", "more": "of a field that is not asked"}
DECIDED: dict[int, list[Any]] = {
    7: [{"score": 3.666667, "cause": "wide", "more": ""}, 1],
    8: [{"score": 3.666667, "cause": "", "more": ""}, 0],
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("made_under", "released_under"), [(7, 7), (7, 8), (8, 8), (8, 9)])
def test_records_of_either_rules_verify(
    world: World, tmp_path: Path, made_under: int, released_under: int
) -> None:
    with under(made_under):
        batch = batch_of(world, define(world, **FOLLOW_UPS), size=1)
        for who, data in {"ada": LOW, "bo": LOW, "cy": HIGH}.items():
            say(world, batch, who, data)
        automatic_decisions.resolve_due(now=LATER)
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=out)
    assert release_records.read_manifest(out)["rules"] == RULES
    made_by_rules(out, released_under)

    checked = verification.verify(out)

    assert (checked["annotations"], checked["decisions"]) == (3, 1)
    data, texts = DECIDED[made_under]
    (decision,) = map(json.loads, (out / "decisions.jsonl").read_text("utf-8").splitlines())
    assert decision["outcomes"][0]["response"]["data"] == data
    responses = map(json.loads, (out / "annotations.jsonl").read_text("utf-8").splitlines())
    assert sum(bool(each["response"]["data"]["more"]) for each in responses) == texts


@pytest.mark.django_db(transaction=True)
def test_a_decision_that_follows_from_no_rules_is_a_difference(world: World, tmp_path: Path) -> None:
    batch = batch_of(world, define(world, **FOLLOW_UPS), size=1)
    for who in ("ada", "bo", "cy"):
        say(world, batch, who, LOW)
    automatic_decisions.resolve_due(now=LATER)
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=out)
    lines = (out / "decisions.jsonl").read_text("utf-8")
    assert '"score":3' in lines
    (out / "decisions.jsonl").write_text(lines.replace('"score":3', '"score":4'), "utf-8")
    manifest: dict[str, object] = json.loads((out / "manifest.json").read_text("utf-8"))
    manifest["files"] = describe(out)
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")

    with pytest.raises(record_files.Difference, match="differs from the outcome"):
        verification.verify(out)
