"""A study with batches that are drawn from what people made: what a file says of it elsewhere, and when it is done there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.access.authorization import Actor, assignment
from annotation.access.roles import Role
from annotation.management import demo_world
from annotation.models import Batch, Event, Example, Item, Person, PinnedExample, Project
from annotation.platform.refusals import ActionRefused
from annotation.queue import reservations
from annotation.study_file import current_state, project_export
from annotation.study_file.parser import parse
from annotation.study_file.schema import BatchSpec, makers
from annotation.workflow import assignments, automatic_decisions, batches, projects
from tests.annotation.applied_studies import apply_with_files
from tests.annotation.cast import NOON, envelope, make_world
from tests.annotation.test_study_files import apply, exported, plan_of
from tests.undone import undone

HEAD = """\
study: 1
project: {slug: small, name: Small}
sources:
  - {name: films, reader: wtq, path: films-dev.tsv}
batches:
"""
MAKE = "  - {name: Change, type: value_change, variant: answer_changes, open: true}\n"
RATE = "  - {name: Rate, type: perturbation_rating, sample: {of: perturbed}, open: true}\n"
AFTER = "  - {name: Again, type: perturbation_rating, feeds_from: Rate}\n"


@pytest.fixture
def films(tmp_path: Path, db: None) -> Path:
    make_world(tmp_path)
    return tmp_path


@pytest.fixture
def mara(films: Path) -> Person:
    return Person.objects.get(email="mara@example.org")


an_empty_database = undone


def make_one(slug: str, name: str = "Change") -> Example:
    """Somebody of the project changes the answer of the next example of a batch, by the cell of its first row."""
    project = Project.objects.get(slug=slug)
    person = Person.objects.create_person("Somebody", f"{Person.objects.count()}@example.org")
    by = project.memberships.get(person__name__startswith="Mara").person
    projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=by, now=NOON)
    batch = Batch.objects.get(project=project, name=name)
    found = reservations.next_assignment(batch=batch, person=person, now=NOON)
    assert found is not None
    held = assignment(Actor(person), found.public_id)
    table = held.plain_item.example.table
    edit = {"op": "set_cell", "row": table.row_ids[0], "column": table.column_ids[1], "at": [0, 1]}
    edit |= {"old": table.rows[0][1], "new": "4711"}
    data = {"unanswerable": False, "operations": [edit], "answers": ["4711"], "reason": ""}
    assignments.submit(assignment=held, response=envelope(held, data), now=NOON)
    return Example.objects.originals().get(pk=held.item.example_id)


def close(slug: str, *names: str) -> None:
    for batch in Batch.objects.filter(project__slug=slug, name__in=names):
        batches.open_batch(batch=batch, by=None, now=NOON)
        batches.close_batch(batch=batch, by=None, now=NOON)
        automatic_decisions.resolve_batch(batch=batch, now=NOON)


class TestWhereNobodyMakesThem:
    def test_nothing_is_begun_and_the_message_says_what_where_and_how(
        self, films: Path, mara: Person
    ) -> None:
        before = Event.objects.count()

        with pytest.raises(ActionRefused) as refused:
            apply(HEAD + RATE, films, mara)

        assert refused.value.detail.startswith(
            "line 6: batch Rate: sample.of: no examples from films were created by people in this project"
        )
        assert "Add such a batch, sample from originals, or remove this batch." in (refused.value.detail)
        assert (Project.objects.filter(slug="small").exists(), Event.objects.count()) == (False, before)

    def test_examples_that_are_named_are_looked_for(self, films: Path, mara: Person) -> None:
        named = RATE.replace("of: perturbed", "of: perturbed, only: [nu-0~answer_changes-1]")

        with pytest.raises(
            ActionRefused, match=r"the sources of the batch .films. do not contain 'nu-0~answer_changes-1'"
        ):
            apply(HEAD + named + "perturbations:\n  - {kinds: [row_shuffle]}\n", films, mara)

        assert not Project.objects.filter(slug="small").exists()

    def test_automatic_ones_are_missed_where_no_run_makes_them(self, films: Path, mara: Person) -> None:
        automatic = RATE.replace("of: perturbed", "of: automatic")
        with pytest.raises(
            ActionRefused, match="no automatic perturbations of films, and the file creates none"
        ):
            apply(HEAD + automatic, films, mara)

        text = HEAD + automatic + "perturbations:\n  - {kinds: [row_shuffle], seeds: [33]}\n"
        assert apply(text, films, mara).failed is None
        assert Item.objects.filter(batch__name="Rate", batch__project__slug="small").exists()


class TestWhereTheStudyItselfMakesThem:
    def test_the_batch_waits_for_them_and_everything_else_is_done(self, films: Path, mara: Person) -> None:
        text = HEAD + RATE + AFTER + MAKE

        first = apply(text, films, mara)

        assert first.failed is None
        assert [(one.name, one.words) for one in first.waits] == [
            (
                "Rate",
                (
                    "sampled from the examples that people create from films in “Change”. Apply the file again "
                    "once the batch is closed."
                ),
            ),
            ("Again", "it depends on “Rate”, which is waiting. Apply the file again afterwards."),
        ]
        assert list(Batch.objects.filter(project__slug="small").values_list("name", flat=True)) == ["Change"]
        assert apply(text, films, mara).done == []

        make_one("small")
        assert [one.name for one in plan_of(text, films).waits] == ["Rate", "Again"], "all is not there yet"
        close("small", "Change")
        again = apply(text, films, mara)

        assert (again.failed, again.waits) == (None, ())
        assert Item.objects.filter(batch__name="Rate", example__parent__isnull=False).count() == 1
        assert plan_of(text, films).does == ()

    def test_a_guideline_example_about_what_people_made_is_left_out_with_a_note(
        self, films: Path, mara: Person
    ) -> None:
        text = HEAD + MAKE + RATE.replace("of: perturbed", "of: perturbed, size: 1")
        apply(text, films, mara)
        make_one("small")
        automatic_decisions.resolve_due(now=NOON.replace(hour=23))
        apply(text, films, mara)
        item = Item.objects.get(batch__name="Rate", batch__project__slug="small")
        PinnedExample.objects.create(item=item, made_by=mara, made_at=NOON)

        here = current_state.of_project(Project.objects.get(slug="small"), now=NOON)

        assert "guideline_examples" not in project_export.export_study(here)
        assert [note.partition(" is about")[0] for note in here.notes if "guideline" in note] == [
            "1 guideline example"
        ]

    def test_a_size_is_waited_for_and_no_longer(self, films: Path, mara: Person) -> None:
        text = HEAD + MAKE + RATE.replace("of: perturbed", "of: perturbed, size: 1")
        assert (
            "Apply the file again once 1 exist or the batch is closed."
            in apply(text, films, mara).waits[0].words
        )

        make_one("small")
        automatic_decisions.resolve_due(now=NOON.replace(hour=23))

        assert [one.name for one in apply(text, films, mara).done] == ["Rate", "Rate"]

    def test_where_people_made_nothing_before_the_close_it_is_said(self, films: Path, mara: Person) -> None:
        apply(HEAD + MAKE + RATE, films, mara)
        close("small", "Change")

        (wrong,) = plan_of(HEAD + MAKE + RATE, films).cannot

        assert "no examples from films were created by people" in wrong.words

    def test_the_command_says_what_waits(self, films: Path, mara: Person, capsys: Any) -> None:
        (films / "study.yaml").write_text(HEAD + MAKE + RATE, encoding="utf-8")
        study = ("study", "apply", str(films / "study.yaml"), "--manager", "mara@example.org")

        call_command(*study)
        assert (
            "… batch Rate: sampled from the examples that people create from films in “Change”."
            in capsys.readouterr().out
        )
        call_command(*study)

        assert "Nothing to do now. Entries marked (…) are applied when you apply the file again." in (
            capsys.readouterr().out
        )


def test_makers_are_those_whose_originals_come_from_the_sources_and_never_what_waits_itself() -> None:
    def work(
        name: str, type: str = "value_change", *, sources: tuple[str, ...] = (), **more: Any
    ) -> BatchSpec:
        return BatchSpec(name, type, "originals", {"purpose": "work"}, sources=sources).changed(**more)

    works = [
        work("first", sources=("a",)),
        work("second", feeds_from="first"),
        work("labels", "question_type", sources=("a",)),
        work("elsewhere", sources=("b",)),
        work("training", sources=("a",), purpose="qualification"),
        work("of what was made", sources=("a",), of="perturbed"),
        work("after that", feeds_from="of what was made"),
    ]

    assert makers(works, ["a"]) == ["first", "second"]


def test_the_demo_project_is_made_again_elsewhere_but_for_what_people_have_yet_to_make(
    db: None, settings: Any
) -> None:
    settings.PREDICTORS = {
        "bundled": {"protocol": "predict", "url": "http://127.0.0.1:1", "model": "bundled"}
    }
    slug, waits = "tilted-tables", "Rate the changed tables"
    with an_empty_database():
        assert demo_world.load(now=NOON)
        here = current_state.of_project(Project.objects.get(slug=slug), now=NOON)
        text = project_export.export_study(here)
    paths = {
        "wtq-excerpt": "wtq/excerpt-dev.tsv",
        "wtq-related": "wtq_related/excerpt.tsv",
        "fetaqa-excerpt": "fetaqa/excerpt-dev.jsonl",
        "sqa-excerpt": "sqa/excerpt-dev.tsv",
        "tat-qa-excerpt": "tat_qa/excerpt-dev.json",
        "rated-answers": "demo/rated-answers.jsonl",
        "sampled-answers": "demo/sampled-answers.jsonl",
    }
    files = {name: demo_world.FIXTURES / path for name, path in paths.items()}
    (note,) = here.notes
    assert note == (
        f"“{waits}” draws on examples that people create in other batches. "
        "On another site, apply the file a second time once these exist."
    )

    by = Person.objects.create_person("Mara Lind", "mara@example.org")
    said = parse(text)
    folder = demo_world.FIXTURES
    applied = apply_with_files(said, project=None, by=by, now=NOON, folder=folder, files=files)

    assert applied.failed is None, applied.why
    assert [one.name for one in applied.waits] == [waits]
    without = [one for one in said.batches if one.name != waits]
    assert parse(exported(slug)).batches == tuple(without)
    begins = text.index(f"  - name: {waits}\n")
    assert exported(slug) == text[:begins] + text[text.index("\n  - name: ", begins) + 1 :]

    make_one(slug, "Change the answer")
    project = Project.objects.get(slug=slug)
    close(slug, *makers(said.batches, ["wtq-excerpt"]))
    again = apply_with_files(said, project=project, by=by, now=NOON, folder=folder, files=files)

    assert (again.failed, again.waits) == (None, ())
    whole = parse(exported(slug))
    assert sorted(whole.batches, key=by_name) == sorted(said.batches, key=by_name), "the same, this one last"
    assert (whole.sources, whole.guidelines) == (said.sources, said.guidelines)


def by_name(work: BatchSpec) -> str:
    return work.name
