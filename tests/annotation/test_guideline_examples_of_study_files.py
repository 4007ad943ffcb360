"""Guideline examples in study files: exported, planned, made when their items are accepted, and refused when missing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from annotation.access.roles import Role
from annotation.models import Batch, Event, Person, PinnedExample, Project
from annotation.quality import guideline_examples
from annotation.study_file import current_state
from annotation.study_file.parser import parse
from annotation.study_file.plan import Plan
from annotation.workflow import adjudication, automatic_decisions, batches, projects
from tests.annotation.cast import NOON, make_world
from tests.annotation.test_study_files import apply, exported, faults, label, plan_of

LATER = NOON + timedelta(hours=1)
TYPES = """\
study: 1
project: {slug: small, name: Small}
sources:
  - {name: films, reader: wtq, path: films-dev.tsv}
batches:
  - name: Types
    type: question_type
    overlap: 1
    sample: {only: [nu-0, nu-1, nu-2]}
    open: true
"""
CHOSEN = TYPES + "    guideline_examples:\n      - {example: nu-1, source: films}\n"


@pytest.fixture
def films(tmp_path: Path, db: None) -> Path:
    make_world(tmp_path)
    return tmp_path


@pytest.fixture
def mara(films: Path) -> Person:
    return Person.objects.get(email="mara@example.org")


def finish(project: Project, by: Person, *labels: str) -> Batch:
    """Ada answers the items of the batch, then it is closed and decided."""
    batch = Batch.objects.get(project=project, name="Types")
    ada = Person.objects.get(name="Ada")
    projects.add_member(project=project, person=ada, roles=[Role.ANNOTATOR], by=None, now=NOON)
    for one in labels:
        label(batch, ada, one)
    batches.close_batch(batch=batch, by=by, now=LATER)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return Batch.objects.get(pk=batch.pk)


def pin(batch: Batch, example: str, by: Person) -> None:
    guideline_examples.pin(item=batch.items.get(example__external_id=example), by=by, now=LATER)


def pinned() -> list[str]:
    return list(PinnedExample.objects.order_by("pk").values_list("item__example__external_id", flat=True))


def about_examples(plan: Plan) -> list[tuple[str, str]]:
    return [(one.verb, one.words) for one in plan.changes if one.section == "guideline examples"]


def test_guideline_examples_survive_export_plan_and_apply(films: Path, mara: Person) -> None:
    batch = finish(apply(TYPES, films, mara).project, mara, "extraction", "reasoning", "extraction")
    pin(batch, "nu-2", mara)
    pin(batch, "nu-0", mara)

    text = exported()

    assert parse(text).batches[0].guideline_examples == parse(exported()).batches[0].guideline_examples
    assert "nu-2" in text.partition("guideline_examples")[2]
    assert not any(
        "guideline examples" in note for note in current_state.of_project(batch.project, now=NOON).notes
    )
    assert plan_of(text, None).does == ()
    PinnedExample.objects.all().delete()
    assert about_examples(plan_of(text, None)) == [("add", "2 accepted items become guideline examples.")]
    assert apply(text, None, mara).failed is None
    assert pinned() == ["nu-2", "nu-0"]
    assert exported() == text
    assert apply(text, None, mara).done == []


def test_examples_of_a_new_project_wait_until_their_items_are_accepted(films: Path, mara: Person) -> None:
    applied = apply(CHOSEN, films, mara)

    assert applied.failed is None
    waits = (
        "1 guideline example waits until the batch is closed and the item is accepted. "
        "Apply the file again then."
    )
    assert [one.words for one in applied.waits] == [waits]
    assert about_examples(plan_of(CHOSEN, films)) == [("wait", waits)]
    finish(applied.project, mara, "extraction", "reasoning", "extraction")
    assert [one.section for one in apply(CHOSEN, films, mara).done] == ["guideline examples"]
    assert pinned() == ["nu-1"]
    assert plan_of(CHOSEN, films).changes == ()
    assert Event.objects.filter(project=applied.project, after="example", actor=mara).count() == 1


@pytest.mark.parametrize("is_there", [True, False], ids=["planned batch", "new project"])
def test_an_item_that_is_missing_is_a_planned_problem(films: Path, mara: Person, is_there: bool) -> None:
    if is_there:
        apply(TYPES, films, mara)
    for example, source, words in (
        (
            "nu-3",
            "films",
            "guideline_examples: the batch has no item about 'nu-3'. Correct the id, or remove the entry.",
        ),
        ("nu-9", "", "guideline_examples: No source contains the example 'nu-9'."),
        ("nu-1", "books", "guideline_examples: The source 'books' does not contain the example 'nu-1'."),
    ):
        entry = f"{{example: {example}, source: {source}}}" if source else f"{{example: {example}}}"
        text = TYPES + f"    guideline_examples: [{entry}]\n"

        plan = plan_of(text, films)

        assert [one.words for one in plan.cannot] == [words]
        assert plan.cannot[0].line == parse(text).line("batches", 0)


def test_an_excluded_item_is_left_and_named(films: Path, mara: Person) -> None:
    project = apply(CHOSEN, films, mara).project
    batch = finish(project, mara, "extraction", "reasoning")
    unanswered = batch.items.get(decision__isnull=True)
    adjudication.exclude(item=unanswered, by=mara, reason="No answer", before="open", now=LATER)
    text = CHOSEN.replace("nu-1, source", f"{unanswered.example.external_id}, source")

    left = f"{unanswered.example.external_id!r}: not accepted in the project. Only accepted items are guideline examples."
    assert about_examples(plan_of(text, films)) == [("leave", left)]
    assert apply(text, films, mara).failed is None
    assert pinned() == []


def test_examples_that_the_file_does_not_name_are_left(films: Path, mara: Person) -> None:
    batch = finish(apply(TYPES, films, mara).project, mara, "extraction", "reasoning", "extraction")
    pin(batch, "nu-2", mara)

    plan = plan_of(TYPES, films)

    assert about_examples(plan) == [("leave", "1 guideline example is not in the file.")]
    assert apply(TYPES, films, mara).done == []
    assert pinned() == ["nu-2"]


def test_a_gold_item_and_a_calibration_have_no_guideline_examples(films: Path) -> None:
    gold = CHOSEN + "    gold: {items: [{example: nu-1, response: {label: extraction}}]}\n"
    twice = CHOSEN + "      - {example: nu-1, source: films}\n"
    entry = CHOSEN + "    purpose: calibration\n"

    assert_fault(gold, "'nu-1' is a gold item. Annotators must not see its response.")
    assert_fault(twice, "'nu-1' is already on line 12.")
    assert_fault(entry, "A calibration batch decides no items, so it has no guideline examples.")


def assert_fault(text: str, words: str) -> None:
    assert [fault.partition(": ")[2].partition(": ")[2] for fault in faults(text)] == [words]
