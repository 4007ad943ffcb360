"""The gate of a release: what breaks its contract goes out with a published reason, or not at all."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Batch, Outcome
from annotation.platform.refusals import ActionRefused
from annotation.releases import benchmark_files, creation, raw_records, release_files, verification
from annotation.workflow import automatic_decisions
from tableqa.core.canonical_json import digest
from tableqa.releases.record_files import Difference
from tests.annotation.cast import NOON, World, make_world

LATER = NOON + timedelta(days=1)


@pytest.fixture
def stricter(tmp_path: Path) -> tuple[World, str]:
    """An accepted edit of two cells in a batch whose contract then became one of one change: the outcome's id."""
    world = make_world(tmp_path)
    batch = world.batch("value_change", variant="answer_stays", only=["nu-0"])
    assignment = world.take(batch, "ada")
    assert assignment is not None
    cells = [
        {"op": "set_cell", "row": row, "column": "c2", "at": [at, 2], "old": old, "new": new}
        for row, at, old, new in (("r0", 0, "170", "171"), ("r1", 1, "117", "118"))
    ]
    world.answer(assignment, {"unanswerable": False, "operations": cells, "answers": [], "reason": ""})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    settings = {**batch.settings, "contract": {"at_most": 1, "more_with_reason": False}}
    Batch.objects.filter(pk=batch.pk).update(settings=settings, settings_digest=digest(settings))
    return world, Outcome.objects.get().public_id


def release(world: World, out: Path, **more: Any) -> dict[str, Any]:
    made = creation.make_release(
        project=world.project, name=out.name, format="freb_tqa", by=None, now=LATER, out=out, **more
    )
    return dict(made.manifest)


@pytest.mark.django_db(transaction=True)
def test_a_broken_contract_stops_a_release_and_names_the_outcome(
    stricter: tuple[World, str], tmp_path: Path
) -> None:
    world, outcome = stricter
    with pytest.raises(ActionRefused, match=rf"1 accepted outcome breaks.*{outcome}.*at most 1"):
        release(world, tmp_path / "one")
    with pytest.raises(ActionRefused, match=outcome):
        release(world, tmp_path / "two", waivers={"another": "why not"})


@pytest.mark.django_db(transaction=True)
def test_nothing_is_made_of_outcomes_once_one_does_not_pass(
    stricter: tuple[World, str], tmp_path: Path
) -> None:
    world, outcome = stricter
    out = tmp_path / "waived"
    release(world, out, waivers={outcome: "Both cells say the same thing."})
    raw = raw_records.load(out)
    shut, open_ = benchmark_files.Gate(), benchmark_files.Gate(waived=[outcome])
    assert list(benchmark_files.benchmark_records(raw, "freb_tqa", gate=shut)) == []
    made = list(benchmark_files.benchmark_records(raw, "freb_tqa", gate=open_))
    assert made == list(benchmark_files.benchmark_records(raw, "freb_tqa"))
    assert made
    assert shut.broken == open_.broken == release_files.gate(raw)
    assert list(shut.broken) == [outcome]


@pytest.mark.django_db(transaction=True)
def test_a_waiver_is_published_with_its_reason_and_verified(
    stricter: tuple[World, str], tmp_path: Path
) -> None:
    world, outcome = stricter
    out = tmp_path / "waived"
    manifest = release(world, out, waivers={outcome: "Both cells say the same thing."})
    (waiver,) = manifest["waivers"]
    assert (waiver["outcome"], waiver["reason"]) == (outcome, "Both cells say the same thing.")
    assert [problem["code"] for problem in waiver["violations"]] == ["too_many_operations"]
    verification.verify(out)
    path = out / "manifest.json"
    for waivers in ([], [{**waiver, "reason": " "}], [{**waiver, "violations": []}]):
        path.write_text(json.dumps({**manifest, "waivers": waivers}), encoding="utf-8")
        with pytest.raises(Difference, match=outcome):
            verification.verify(out)


@pytest.mark.django_db(transaction=True)
def test_a_waiver_of_what_breaks_nothing_is_refused_by_its_name(
    stricter: tuple[World, str], tmp_path: Path
) -> None:
    _, outcome = stricter
    with pytest.raises(ActionRefused, match="zzzz needs no waiver:"):
        release(stricter[0], tmp_path / "slip", waivers={outcome: "Seen and kept.", "zzzz": "because"})


@pytest.mark.django_db(transaction=True)
def test_a_waiver_can_be_given_on_the_command_line(stricter: tuple[World, str], tmp_path: Path) -> None:
    _, outcome = stricter
    asked = [
        "release",
        "--project",
        "films",
        "--name",
        "v1",
        "--format",
        "askew",
        "--out",
        str(tmp_path / "cli"),
    ]
    with pytest.raises(CommandError, match="ID=REASON"):
        call_command(*asked, "--waive", outcome, stdout=StringIO())
    call_command(*asked, "--waive", f"{outcome}=Seen and kept.", stdout=StringIO())
    verification.verify(tmp_path / "cli")


@pytest.mark.django_db(transaction=True)
def test_a_batch_may_ask_for_other_terms(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    with pytest.raises(ActionRefused, match=r"contract\.at_most"):
        world.batch("value_change", variant="answer_stays", settings={"contract": {"at_most": "many"}})
    batch = world.batch("short_table", settings={"contract": {"allowed": ["remove_row"]}})
    item = batch.items.first()
    assert item is not None
    contract = batch.task().contract(item.plain())
    assert contract is not None
    assert contract.allowed == ("remove_row",)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("kind", "variant", "allowed", "takes"),
    [
        ("short_table", "", ["set_cell"], "remove_row, remove_column"),
        ("value_change", "answer_stays", [], "set_cell, remove_row, insert_row"),
        ("column_masking", "", ["rename_header"], "remove_column"),
    ],
)
def test_terms_that_leave_nothing_to_do_are_refused(
    tmp_path: Path, kind: str, variant: str, allowed: list[str], takes: str
) -> None:
    world = make_world(tmp_path)
    with pytest.raises(
        ActionRefused, match=rf"contract\.allowed: .* accepts {takes}, and the list contains none of them"
    ):
        world.batch(kind, variant=variant, settings={"contract": {"allowed": allowed}})
    assert not Batch.objects.exists()
