"""Before a study file is applied, everything it names is looked at; and its gold goes with it to another place."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Batch, Event, Example, Gold, Item, Project
from annotation.quality import gold
from annotation.refusals import Refused
from annotation.studying import applying, planning, standing, writing
from annotation.studying.planning import Looked
from annotation.studying.standing import Counts, Standing
from annotation.studying.study import GoldItem, Somebody, parse
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_study_files import SMALL, plan_of

HEAD = """\
study: 1
project: {slug: small, name: Small}
sources:
  - {name: films, reader: wtq, path: films-dev.tsv}
  - {name: more, reader: wtq, path: more-dev.tsv}
batches:
"""
TYPES = "  - name: Types\n    type: question_type\n"


@pytest.fixture
def films(tmp_path: Path, db: None) -> World:
    """The folder with four questions about films, and a second file with two more, nu-8 and nu-9, and another nu-0."""
    world = make_world(tmp_path)
    text = (tmp_path / "films-dev.tsv").read_text(encoding="utf-8")
    head, first, second, third, *_ = text.splitlines()
    lines = [head, first, second.replace("nu-1", "nu-8"), third.replace("nu-2", "nu-9")]
    (tmp_path / "more-dev.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return world


def begun() -> bool:
    return Project.objects.filter(slug="small").exists()


def refused(text: str, folder: Path, world: World) -> str:
    before = Event.objects.count()
    with pytest.raises(Refused) as raised:
        applying.apply(parse(text, folder=folder), project=None, by=world.mara, now=NOON, folder=folder)
    assert (begun(), Event.objects.count()) == (False, before), "nothing is begun"
    return raised.value.detail


class TestWhileSomethingIsInTheWayNothingIsBegun:
    @pytest.mark.parametrize(
        ("batch", "said"),
        [
            (
                "    gold: {percent: 10, items: [{example: nu-77, response: {label: extraction}}]}\n",
                "line 7: gold Types: No source has the example 'nu-77'.",
            ),
            (
                "    gold: {percent: 10, items: [{example: nu-1, response: {label: extracted}}]}\n",
                "line 7: gold Types: nu-1: ",
            ),
            (
                "    gold: {percent: 10, items: [{example: nu-1, source: mroe, response: {label: extraction}}]}\n",
                "line 7: gold Types: The source 'mroe' has no example 'nu-1'.",
            ),
            (
                "    sample: {only: [nu-0, nope]}\n",
                "line 7: batch Types: sample.only: no source of the batch (films) has 'nope'.",
            ),
            (
                "    sample: {only: [nu-8]}\n",
                "line 7: batch Types: sample.only: no source of the batch (films) has 'nu-8'.",
            ),
        ],
    )
    def test_an_example_that_no_source_has_and_a_label_that_is_none_are_found(
        self, films: World, tmp_path: Path, batch: str, said: str
    ) -> None:
        assert refused(HEAD + TYPES + batch, tmp_path, films).startswith(said)

    def test_in_a_project_that_is_there_they_are_found_without_its_files(self, films: World) -> None:
        text = (
            (HEAD + TYPES).replace("slug: small", "slug: films").replace("name: films,", "name: films-dev,")
        )
        text = text.replace("  - {name: more, reader: wtq, path: more-dev.tsv}\n", "")
        text += "    gold: {percent: 10, items: [{example: nu-77, response: {label: extraction}}]}\n"

        (change,) = plan_of(text, None, "films").cannot

        assert change.words == "No source has the example 'nu-77'."

    def test_of_two_examples_of_one_id_it_has_to_be_said_which_is_gold(
        self, films: World, tmp_path: Path
    ) -> None:
        text = (
            HEAD
            + TYPES
            + (
                "    sample: {only: [nu-8], sources: [more]}\n"
                "    gold: {percent: 10, items: [{example: nu-0, response: {label: extraction}}]}\n"
            )
        )
        other = text.replace("sources: [more]", "sources: [third]").replace(
            "batches:", "  - {name: third, reader: wtq, path: third-dev.tsv}\nbatches:"
        )
        lines = (tmp_path / "more-dev.tsv").read_text().splitlines()
        (tmp_path / "third-dev.tsv").write_text("\n".join([lines[0], lines[2]]) + "\n")

        assert plan_of(text, tmp_path).cannot == (), "the batch's own source comes first"
        assert "'films' and 'more' have an example 'nu-0': say which, with `source`." in refused(
            other, tmp_path, films
        )
        assert (
            plan_of(other.replace("{example: nu-0", "{source: films, example: nu-0"), tmp_path).cannot == ()
        )

    def test_a_larger_sample_than_there_are_examples_is_told_as_what_it_is(
        self, films: World, tmp_path: Path
    ) -> None:
        text = HEAD + TYPES + "    sample: {size: 3000, sources: [films, more]}\n"

        plan = plan_of(text, tmp_path)

        assert "all 7 (not 3,000: there are no more) originals of films, more" in str(plan.changes)
        assert plan.costs[0].annotations == 7 * 3


class TestGoldGoesAlong:
    def test_from_a_source_that_the_batch_is_not_drawn_from(self, films: World, tmp_path: Path) -> None:
        text = HEAD + TYPES + "    sample: {sources: [films], size: 2}\n    gold: {percent: 10}\n"
        applied = applying.apply(parse(text), project=None, by=films.mara, now=NOON, folder=tmp_path)
        batch = Batch.objects.get(project=applied.project)
        for name in ("nu-8", "nu-0"):  # nu-0 is in both sources: the one that no batch is drawn from is meant
            example = Example.objects.get(
                source__project=applied.project, source__name="more", external_id=name
            )
            gold.mark(batch=batch, example=example, data={"label": "extraction"}, by=films.mara, now=NOON)
        here = standing.of_project(applied.project, now=NOON)
        exported = writing.written(here)

        assert applying.planned(parse(exported), applied.project, now=NOON).does == ()
        elsewhere = exported.replace("slug: small", "slug: elsewhere")
        again = applying.apply(parse(elsewhere), project=None, by=films.mara, now=NOON, folder=tmp_path)

        assert again.failed is None, again.why
        assert list(
            Gold.objects.filter(item__batch__project=again.project)
            .order_by("item__position")
            .values_list("item__example__source__name", "item__example__external_id")
        ) == [("more", "nu-8"), ("more", "nu-0")]
        same = writing.written(standing.of_project(again.project, now=NOON))
        assert same.replace("slug: elsewhere", "slug: small") == exported
        assert applying.planned(parse(elsewhere), again.project, now=NOON).does == ()

    def test_with_what_stands_frozen_beside_it(self, films: World, tmp_path: Path) -> None:
        text = HEAD + TYPES + "    sample: {sources: [films], size: 2}\n    gold: {percent: 10}\n"
        applied = applying.apply(parse(text), project=None, by=films.mara, now=NOON, folder=tmp_path)
        batch = Batch.objects.get(project=applied.project)
        gold.mark(
            batch=batch,
            example=Example.objects.get(source__project=applied.project, external_id="nu-9"),
            data={"label": "reasoning"},
            inputs={"suggestions": {"model": {"label": "reasoning"}}, "base": "x", "outcome": "y"},
            barred=[films.ada.pk],
            by=films.mara,
            now=NOON,
        )
        here = standing.of_project(applied.project, now=NOON)
        elsewhere = writing.written(here).replace("slug: small", "slug: elsewhere")
        again = applying.apply(parse(elsewhere), project=None, by=films.mara, now=NOON, folder=tmp_path)

        item = Item.objects.get(batch__project=again.project, is_gold=True)
        assert item.inputs == {"suggestions": {"model": {"label": "reasoning"}}}
        assert "1 people are barred from gold items here" in " ".join(here.notes)
        assert films.ada.name not in elsewhere

    def test_but_not_where_people_made_the_example_which_is_said(self, films: World) -> None:
        batch = films.batch(open=False)
        example = Example.objects.get(source=films.source, external_id="nu-0")
        made = Example.objects.create(
            source=films.source,
            external_id="nu-0~value_change-1",
            position=0,
            question="?",
            stored_table=example.stored_table,
            table_digest=example.table_digest,
            operations=[],
            parent=example,
            perturbation="value_change",
        )
        gold.mark(batch=batch, example=made, data={"label": "extraction"}, by=films.mara, now=NOON)

        here = standing.of_project(films.project, now=NOON)

        assert "nu-0~value_change-1" not in writing.written(here)
        assert any(
            note.startswith("1 gold items are about examples that people made here") for note in here.notes
        )


class TestWhatIsSaidOfAFileElsewhere:
    def test_when_a_batch_decides_stands_in_the_file(self, films: World, tmp_path: Path) -> None:
        text = HEAD + TYPES + "    decide: at_close\n    overlap: 2\n"
        text += "  - name: All\n    type: question_type\n    strategy: everyone\n    decide: when_complete\n"
        text += "  - name: Late\n    type: question_type\n    strategy: everyone\n"
        applied = applying.apply(parse(text), project=None, by=films.mara, now=NOON, folder=tmp_path)

        said = dict(Batch.objects.filter(project=applied.project).values_list("name", "decide_at_close"))
        exported = writing.written(standing.of_project(applied.project, now=NOON))

        assert said == {"Types": True, "All": False, "Late": True}
        assert re.findall(r"    decide: (\w+)", exported) == ["at_close", "when_complete"]
        assert applying.planned(parse(exported), applied.project, now=NOON).does == ()
        (change,) = applying.planned(
            parse(exported.replace("    decide: at_close\n", "")), applied.project, now=NOON
        ).does
        assert change.words == "decide: at_close becomes when_complete."

    def test_a_batch_that_is_set_aside_is_told_of(self, films: World) -> None:
        batch = films.batch(name="Pilot")
        Batch.objects.filter(pk=batch.pk).update(set_aside_at=NOON, set_aside_because="unclear")

        notes = standing.of_project(films.project, now=NOON).notes

        assert [note.partition(":")[0] for note in notes] == ["Pilot is set aside here"]


class TestHoursThatAreLeft:
    STUDY = parse(SMALL)

    def costs(
        self, *works: dict[str, Any], counts: dict[str, Counts], people: int = 4
    ) -> list[planning.Cost]:
        batches = tuple(
            dataclasses.replace(one, **more) for one, more in zip(self.STUDY.batches, works, strict=True)
        )
        people_of = tuple(Somebody(f"P{n}", ("annotator",)) for n in range(people))
        wanted = dataclasses.replace(self.STUDY, batches=batches, runs=(), people=people_of)
        there = dataclasses.replace(wanted, batches=tuple(one for one in batches if one.name in counts))
        plan = planning.plan(
            wanted,
            Standing(there, batches=counts, examples={("films", "originals"): 100}),
            looked={0: Looked("c" * 64, 100)},
        )
        return list(plan.costs)

    def test_gold_is_a_share_of_everybodys_turns_and_nobody_has_one_twice(self) -> None:
        counts = {"Types": Counts("open", 110, 300, 0, gold=10, undecided=100, left=300)}

        few, _ = self.costs({"gold_percent": 10}, {}, counts=counts)
        many, _ = self.costs({"gold_percent": 50}, {}, counts=counts)

        assert few.annotations == 300 + 33, "of 333 turns, 33 are gold"
        assert many.annotations == 300 + 40, "four people, ten gold items"

    def test_gold_in_a_file_is_counted_in_the_same_way(self) -> None:
        items = tuple(GoldItem(f"nu-{n}", {"label": "extraction"}) for n in range(5))

        types, _ = self.costs({"gold_percent": 20, "gold": items, "size": 20, "overlap": 3}, {}, counts={})

        assert types.annotations == 60 + 15

    def test_of_a_batch_under_way_only_what_nobody_submitted_on_undecided_items(self) -> None:
        counts = {
            "Types": Counts("open", 40, 125, 90, gold=0, undecided=10, left=17),
            "Short": Counts("open", 12, 12, 7, undecided=5, left=5),
        }

        types, short = self.costs({"overlap": 3}, {"overlap": 1}, counts=counts)

        assert types.annotations == 17, (
            "three places were added, and 30 items were decided with one left free"
        )
        assert (short.annotations, short.most) == (5 + 10, True), "its own, and what may still come"

    def test_a_batch_that_is_planned_after_others_were_decided_gets_these_too(self) -> None:
        counts = {"Types": Counts("open", 40, 120, 90, undecided=10, left=17)}

        _, short = self.costs({}, {"overlap": 1}, counts=counts)

        assert short.annotations == 40

    def test_nothing_is_left_of_what_is_closed_and_nothing_comes_to_it(self) -> None:
        counts = {
            "Types": Counts("closed", 40, 120, 90, undecided=10, left=17),
            "Short": Counts("closed", 12, 12, 7, undecided=5, left=5),
        }

        assert [one.annotations for one in self.costs({}, {}, counts=counts)] == [0, 0]

    def test_it_is_counted_as_the_project_stands(self, films: World) -> None:
        batch = films.batch(name="Types", sources=[films.source], size=3, overlap=2)
        example = Example.objects.filter(source=films.source).exclude(items__batch=batch).get()
        gold.mark(batch=batch, example=example, data={"label": "extraction"}, by=films.mara, now=NOON)
        films.label(batch, "ada", "extraction")

        counts = standing.of_project(films.project, now=NOON).batches["Types"]

        assert counts == Counts("open", 4, 6, 1, gold=1, gold_submitted=0, undecided=3, left=5)
