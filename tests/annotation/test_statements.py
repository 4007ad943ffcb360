"""A release says who made it, under what conditions, what they were paid, and what is not known."""

from __future__ import annotations

import itertools
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.access.roles import Role
from annotation.models import Assignment, Batch, Gold, Item, Membership, Person, Project
from annotation.payments import data_statement, earnings
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, figure_checks, methods_appendix, verification
from annotation.releases.manifest import Manifest
from annotation.workflow import assignments, automatic_decisions, projects
from tableqa.releases import record_files
from tableqa.writers import hub
from tests.annotation.cast import NOON, World, envelope
from tests.undone import undone

LATER = NOON + timedelta(days=1)


def make_work(world: World) -> Batch:
    batch, begun = world.batch(overlap=1), NOON
    while (assignment := world.take(batch, "ada")) is not None:
        assignments.ping(assignment=world.reload(assignment), now=begun + timedelta(seconds=50))
        assignments.submit(
            assignment=world.reload(assignment),
            response=envelope(assignment, {"label": "extraction"}),
            now=begun + timedelta(seconds=90),
        )
        begun += timedelta(seconds=90)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def test_hours_in_full_precision_do_not_depend_on_the_order_of_rows(world: World) -> None:
    batch, found = world.batch(overlap=1), []
    for seconds in itertools.permutations((3600.1, 7200.2, 10800.3, 0.7)):
        with undone():
            for time_at_work in seconds:
                taken = world.take(batch, "ada")
                assert taken is not None
                Assignment.objects.filter(pk=taken.pk).update(active_seconds=time_at_work)
                assignments.skip(assignment=taken, reason="not for me", now=NOON)
            counted = data_statement.count_statement(world.project, [batch], watermark=10**9, until=LATER)
            found.append(counted["hours"]["exact"]["beside"])
    assert found[0]["skipped"] > 1
    assert found == found[:1] * 24


def test_hours_of_a_response_that_is_taken_back_are_not_those_of_the_release(
    world: World, tmp_path: Path
) -> None:
    taken = world.take(world.batch(overlap=1, size=1, name="More"), "bo")
    assert taken is not None
    assignments.ping(assignment=world.reload(taken), now=NOON + timedelta(seconds=50))
    annotation = assignments.submit(
        assignment=world.reload(taken),
        response=envelope(taken, {"label": "extraction"}),
        now=NOON + timedelta(seconds=90),
    )
    assignments.undo(annotation=annotation, now=NOON + timedelta(seconds=95))
    assignments.ping(assignment=world.reload(taken), now=NOON + timedelta(seconds=125))
    assignments.skip(assignment=world.reload(taken), reason="odd", now=NOON + timedelta(seconds=126))
    make_work(world)

    text = released(world, "v1", tmp_path)

    manifest = json.loads((tmp_path / "v1" / "manifest.json").read_text(encoding="utf-8"))
    hours, counts = manifest["statement"]["hours"], manifest["counts"]
    assert hours["exact"]["all"] == pytest.approx(4 * 90 / 3600)
    assert hours["exact"]["beside"] == pytest.approx({"withdrawn": 90 / 3600, "skipped": 30 / 3600})
    assert hours["exact"]["paid"] == pytest.approx(earnings.sum_shares(earnings.shares(world.project)).hours)
    assert "responses taken back 2 minutes, skipped items 30 seconds" in text
    assert (counts["annotators"], counts["respondents"]) == (2, 1)
    assert "\n1 people under pseudonyms." in text
    assert "4 responses by 1 people" in hub.card(manifest, manifest["files"])
    assert methods_appendix._responses(counts).startswith("4 responses by 1 person")


def say(world: World, **said: str) -> None:
    projects.change_statement(project=world.project, statement=said, by=world.mara, now=NOON)


def released(world: World, name: str, folder: Path) -> str:
    out = folder / name
    creation.make_release(
        project=Project.objects.get(), name=name, format="freb_tqa", by=world.rea, now=LATER, out=out
    )
    verification.verify(out)
    return (out / "DATA_STATEMENT.md").read_text(encoding="utf-8")


def test_every_release_has_a_statement_that_verifies(world: World, tmp_path: Path) -> None:
    make_work(world)
    text = released(world, "v1", tmp_path)
    assert "### Ethics review (D4)\n\n> Not said." in text
    assert "> 6 minutes at work on the responses of this release" in text
    assert "6 minutes at work in all" in text
    assert "0 of 4 responses on decided items support no accepted outcome" in text


def test_what_people_said_and_what_they_earned_stand_in_it(world: World, tmp_path: Path) -> None:
    make_work(world)
    say(world, ethics="Board of the faculty, 2026-17.", recruitment="Six students.\n# Not a heading")
    projects.change_terms(
        project=world.project, pay={"currency": "EUR", "per_hour": 14.5}, caps={}, by=world.mara, now=NOON
    )
    text = released(world, "v1", tmp_path)
    assert "> Board of the faculty, 2026-17." in text
    assert "> Paid: 14.50 EUR an hour." in text
    assert "\n# Not a heading" not in text, "what people write is no heading of ours"


def test_hours_leave_gold_out_and_what_else_is_paid_adds_up_to_the_payment_sheet(
    world: World, tmp_path: Path
) -> None:
    round_ = world.batch(overlap=1, name="Round")
    skipped = world.take(world.batch(overlap=1, name="More"), "bo")
    assert skipped is not None
    assignments.ping(assignment=world.reload(skipped), now=NOON + timedelta(seconds=30))
    assignments.skip(assignment=world.reload(skipped), reason="odd", now=NOON + timedelta(seconds=30))
    tried = world.take(round_, "bo")
    assert tried is not None
    assignments.submit(
        assignment=world.reload(tried),
        response=envelope(tried, {"label": "extraction"}),
        now=NOON + timedelta(seconds=60),
    )
    Batch.objects.filter(pk=round_.pk).update(purpose="calibration")
    batch = make_work(world)
    gold = Item.objects.filter(batch=batch).first()
    assert gold is not None
    Item.objects.filter(pk=gold.pk).update(is_gold=True)
    Gold.objects.create(item=gold, expected={"label": "extraction"}, made_at=NOON)
    text = released(world, "v1", tmp_path)

    manifest = json.loads((tmp_path / "v1" / "manifest.json").read_text(encoding="utf-8"))
    hours = manifest["statement"]["hours"]
    rows = [json.loads(line) for line in (tmp_path / "v1" / "annotations.jsonl").open(encoding="utf-8")]
    of_records = sum(row["active_seconds"] for row in rows if row["newest"]) / 3600
    paid = earnings.sum_shares(earnings.shares(Project.objects.get())).hours
    assert hours["all"] == pytest.approx(of_records, abs=0.0001)
    assert hours["paid"] == pytest.approx(paid, abs=0.0001)
    assert hours["paid"] == pytest.approx(hours["all"] + sum(hours["beside"].values()), abs=0.0003)
    assert set(hours["beside"]) == {"gold", "skipped", "calibration"}
    assert "gold items" in text
    assert "0.0 " not in text[text.index("### Hours") : text.index("### Training")]

    manifest["statement"]["hours"]["all"] += 0.01
    with pytest.raises(record_files.Difference, match=r"statement\.hours\.all"):
        figure_checks.check_hours(Manifest.of(manifest), of_records)


def test_the_statement_holds_the_guidelines_in_full_and_names_the_batch_of_each_figure(
    world: World, tmp_path: Path
) -> None:
    first, second = (world.batch(overlap=2, name=name) for name in ("First round", "Second round"))
    for batch in (first, second):
        for who in ("ada", "bo"):
            for _ in range(4):
                world.label(batch, who, "extraction")
        automatic_decisions.resolve_batch(batch=batch, now=LATER)
    text = released(world, "v1", tmp_path)

    manifest = json.loads((tmp_path / "v1" / "manifest.json").read_text(encoding="utf-8"))
    (guidelines,) = manifest["guidelines"]
    assert "Guidelines, in full at the end:" in text
    assert (
        f"### question_type, version {guidelines['number']}\n\n```markdown\n{guidelines['text'].rstrip()}"
        in text
    )
    for name in ("First round", "Second round"):
        assert f"percent_agreement of label in {name}: 1.000" in text


def test_hours_of_a_statement_of_the_first_form_are_named_as_they_were() -> None:
    manifest: dict[str, Any] = {
        "project": "films",
        "counts": {"annotators": 2, "simulated_annotators": 0},
        "batches": [{"id": "b1", "name": "First round", "type": "question_type"}],
        "sources": [],
        "guidelines": [{"type": "question_type", "number": 1, "text": "# Rules"}],
        "agreement": [
            {
                "batch": "b1",
                "statistic": "fleiss_kappa",
                "measure": "label",
                "value": 0.5,
                "low": None,
                "high": None,
                "units": 4,
                "raters": 2,
            }
        ],
        "statement": {
            "said": {question.name: "" for question in data_statement.ASKED},
            "pay": ["14.50 EUR an hour"],
            "practised": 0,
            "qualification": [],
            "consent": [],
            "characteristics": {},
            "hours": {"all": 0.05, "median_day": 0.03, "longest_day": 0.04},
        },
    }

    hours = dict(hub.conditions(manifest["statement"]))["Hours"]

    assert hours == ["0.1 hours at work in all; of a person and day 0.0 (median) and 0.0 (longest)."]
    figure_checks.check_hours(Manifest.of(manifest), 9.0)  # which claims nothing of them


def test_agreement_in_a_statement_has_no_interval_of_zero_width(world: World, tmp_path: Path) -> None:
    batch = world.batch(overlap=2, name="Round")
    for who in ("ada", "bo"):
        for label in ("extraction", "reasoning", "extraction", "extraction"):
            world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    text = released(world, "v1", tmp_path)

    assert "percent_agreement of label in Round: 1.000 (0.543 to 1.000), 4 items" in text
    assert "fleiss_kappa of label in Round: 1.000 (0.210 to 1.000), 4 items" in text


def add_di(world: World) -> None:
    """A fourth annotator."""
    world.people["di"] = Person.objects.create_person("Di", "di@example.org")
    projects.add_member(
        project=world.project, person=world.di, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
    )


def test_a_characteristic_that_few_share_is_not_told_and_nobody_counts_who_gave_nothing(world: World) -> None:
    add_di(world)
    batch = world.batch(overlap=4)
    for who, languages in (
        ("ada", "Dutch"),
        ("bo", "Dutch"),
        ("cy", "Dutch"),
        ("di", "Sorbian"),
        ("ivo", "Dutch"),
    ):
        membership = Membership.objects.get(person=world.people[who])
        projects.set_characteristics(membership=membership, entries={"languages": languages})
        if who not in ("cy", "ivo"):
            world.label(batch, who, "extraction")
    counted = data_statement.count_statement(world.project, [batch], watermark=10**9, until=LATER)
    assert counted["characteristics"] == {"languages": {"": 3}}
    world.label(batch, "cy", "extraction")
    counted = data_statement.count_statement(world.project, [batch], watermark=10**9, until=LATER)
    assert counted["characteristics"] == {"languages": {"Dutch": 3, "": 1}}


def test_a_release_verifies_once_annotators_described_themselves(world: World, tmp_path: Path) -> None:
    make_work(world)
    add_di(world)
    everybody = world.batch(overlap=4, size=1)
    for who in ("ada", "bo", "cy", "di"):
        world.label(everybody, who, "extraction")
    said = {
        "ada": {"languages": "Dutch", "gender": "female", "age": "30 to 39", "country": "Belgium"},
        "bo": {"languages": "Dutch", "gender": "female", "age": "30 to 39", "country": "Chile"},
        "cy": {"languages": "Dutch", "gender": "female", "age": "30 to 39", "country": "Denmark"},
        "di": {"languages": "Sorbian", "gender": "male", "age": "", "country": "Estonia"},
    }
    for who, told in said.items():
        projects.set_characteristics(
            membership=Membership.objects.get(person=world.people[who]), entries=told
        )

    text = released(world, "v1", tmp_path)  # which verifies it

    told_of = [line for line in text.splitlines() if "as people said themselves" in line]
    assert told_of == [
        "> Languages, as people said themselves: Dutch 3; said by too few to tell 1.",
        "> Country, as people said themselves: said by too few to tell 4.",
        "> Age, as people said themselves: 30 to 39 3.",
        "> Gender, as people said themselves: female 3; said by too few to tell 1.",
    ]


def test_statements_tell_everything_that_is_asked_in_its_order() -> None:
    assert tuple(data_statement.OF_ONESELF) == hub.OF_ONESELF


def test_a_statement_has_known_fields_and_texts_of_a_bearable_length(world: World) -> None:
    with pytest.raises(ActionRefused, match="no field 'etics'"):
        say(world, etics="none")
    with pytest.raises(ActionRefused, match="at most"):
        say(world, ethics="x" * 5_000)


@pytest.mark.parametrize("purpose", ["qualification", "calibration"])
def test_only_work_is_released(world: World, tmp_path: Path, purpose: str) -> None:
    batch = make_work(world)
    Batch.objects.filter(pk=batch.pk).update(purpose=purpose)
    with pytest.raises(ActionRefused, match="no annotations to release"):
        released(world, "v1", tmp_path)


def test_what_is_set_aside_is_not_released(world: World, tmp_path: Path) -> None:
    batch = make_work(world)
    Batch.objects.filter(pk=batch.pk).update(set_aside_at=NOON, set_aside_because="pilot")
    with pytest.raises(ActionRefused, match="no annotations to release"):
        released(world, "v1", tmp_path)


def test_gold_items_are_in_no_release(world: World, tmp_path: Path) -> None:
    batch = make_work(world)
    gold = Item.objects.filter(batch=batch).first()
    assert gold is not None
    Item.objects.filter(pk=gold.pk).update(is_gold=True)
    Gold.objects.create(item=gold, expected={"label": "extraction"}, made_at=NOON)
    released(world, "v1", tmp_path)
    for path in (tmp_path / "v1").rglob("*"):
        if path.is_file() and path.name not in ("sources.jsonl",):
            assert gold.public_id not in path.read_text(encoding="utf-8"), path
