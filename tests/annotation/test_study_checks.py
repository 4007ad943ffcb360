"""Before a study file is applied, everything it names is looked at; and its gold goes with it to another place."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.background import jobs, uploads
from annotation.models import Batch, Event, Example, Gold, Item, Job, Project, Source
from annotation.payments import data_statement
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold
from annotation.study_file import apply, current_state, project_export
from annotation.study_file import plan as study_file_plan
from annotation.study_file.comparison import SourceProbe
from annotation.study_file.costs import Cost
from annotation.study_file.current_state import Counts, ProjectState
from annotation.study_file.parser import parse
from annotation.study_file.schema import GoldItem, PersonEntry
from tests.annotation.applied_studies import apply_with_files
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.previews import importer
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
    with pytest.raises(ActionRefused) as raised:
        apply_with_files(parse(text, folder=folder), project=None, by=world.mara, now=NOON, folder=folder)
    assert (begun(), Event.objects.count()) == (False, before), "nothing is begun"
    return raised.value.detail


class TestWhileSomethingIsInTheWayNothingIsBegun:
    @pytest.mark.parametrize(
        ("batch", "said"),
        [
            (
                "    gold: {percent: 10, items: [{example: nu-77, response: {label: extraction}}]}\n",
                "line 7: gold Types: No source contains the example 'nu-77'.",
            ),
            (
                "    gold: {percent: 10, items: [{example: nu-1, response: {label: extracted}}]}\n",
                "line 7: gold Types: nu-1: ",
            ),
            (
                "    gold: {percent: 10, items: [{example: nu-1, source: mroe, response: {label: extraction}}]}\n",
                "line 7: gold Types: The source 'mroe' does not contain the example 'nu-1'.",
            ),
            (
                "    sample: {only: [nu-0, nope]}\n",
                "line 7: batch Types: sample.only: the sources of the batch (films) do not contain 'nope'.",
            ),
            (
                "    sample: {only: [nu-8]}\n",
                "line 7: batch Types: sample.only: the sources of the batch (films) do not contain 'nu-8'.",
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

        assert change.words == "No source contains the example 'nu-77'."

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
        assert "'films' and 'more' have an example 'nu-0'. Choose one with `source`." in refused(
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

        assert "all 7 (fewer than 3,000 exist) originals of films, more" in str(plan.changes)
        assert plan.costs[0].annotations == 7 * 3


class TestGoldGoesAlong:
    def test_from_a_source_that_the_batch_is_not_drawn_from(self, films: World, tmp_path: Path) -> None:
        text = HEAD + TYPES + "    sample: {sources: [films], size: 2}\n    gold: {percent: 10}\n"
        applied = apply_with_files(parse(text), project=None, by=films.mara, now=NOON, folder=tmp_path)
        batch = Batch.objects.get(project=applied.project)
        for name in ("nu-8", "nu-0"):  # nu-0 is in both sources: the one that no batch is drawn from is meant
            example = Example.objects.get(
                source__project=applied.project, source__name="more", external_id=name
            )
            gold.set_gold(batch=batch, example=example, data={"label": "extraction"}, by=films.mara, now=NOON)
        here = current_state.of_project(applied.project, now=NOON)
        exported = project_export.export_study(here)

        assert apply.plan_for_project(parse(exported), applied.project, now=NOON).does == ()
        elsewhere = exported.replace("slug: small", "slug: elsewhere")
        again = apply_with_files(parse(elsewhere), project=None, by=films.mara, now=NOON, folder=tmp_path)

        assert again.failed is None, again.why
        assert list(
            Gold.objects.filter(item__batch__project=again.project)
            .order_by("item__position")
            .values_list("item__example__source__name", "item__example__external_id")
        ) == [("more", "nu-8"), ("more", "nu-0")]
        same = project_export.export_study(current_state.of_project(again.project, now=NOON))
        assert same.replace("slug: elsewhere", "slug: small") == exported
        assert apply.plan_for_project(parse(elsewhere), again.project, now=NOON).does == ()

    def test_with_what_stands_frozen_beside_it(self, films: World, tmp_path: Path) -> None:
        text = HEAD + TYPES + "    sample: {sources: [films], size: 2}\n    gold: {percent: 10}\n"
        applied = apply_with_files(parse(text), project=None, by=films.mara, now=NOON, folder=tmp_path)
        batch = Batch.objects.get(project=applied.project)
        gold.set_gold(
            batch=batch,
            example=Example.objects.get(source__project=applied.project, external_id="nu-9"),
            data={"label": "reasoning"},
            inputs={"suggestions": {"model": {"label": "reasoning"}}, "base": "x", "outcome": "y"},
            barred=[films.ada.pk],
            by=films.mara,
            now=NOON,
        )
        here = current_state.of_project(applied.project, now=NOON)
        elsewhere = project_export.export_study(here).replace("slug: small", "slug: elsewhere")
        again = apply_with_files(parse(elsewhere), project=None, by=films.mara, now=NOON, folder=tmp_path)

        item = Item.objects.get(batch__project=again.project, is_gold=True)
        assert item.inputs == {"suggestions": {"model": {"label": "reasoning"}}}
        assert "1 person is excluded from gold items here" in " ".join(here.notes)
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
        gold.set_gold(batch=batch, example=made, data={"label": "extraction"}, by=films.mara, now=NOON)

        here = current_state.of_project(films.project, now=NOON)

        assert "nu-0~value_change-1" not in project_export.export_study(here)
        assert any(
            note.startswith("1 gold item is about an example that people created here") for note in here.notes
        )


def test_gold_beyond_the_sample_of_a_qualification_is_left_out_of_the_work(
    films: World, tmp_path: Path
) -> None:
    items = ", ".join(f"{{example: nu-{n}, response: {{label: extraction}}}}" for n in range(3))
    text = (
        f"{HEAD}  - name: Entry\n    type: question_type\n    purpose: qualification\n    pass_percent: 50\n"
        "    sample: {only: [nu-0], sources: [films]}\n"
        f"    gold: {{items: [{items}]}}\n{TYPES}    requires: Entry\n    sample: {{sources: [films]}}\n"
    ).replace("nu-0,", "nu-0, source: films,")

    apply_with_files(parse(text, folder=tmp_path), project=None, by=films.mara, now=NOON, folder=tmp_path)

    of = {
        name: set(Item.objects.filter(batch__name=name).values_list("example", flat=True))
        for name in ("Entry", "Types")
    }
    assert (len(of["Entry"]), len(of["Types"])) == (3, 1)
    assert not of["Entry"] & of["Types"]


class TestWhatIsSaidOfAFileElsewhere:
    def test_when_a_batch_decides_stands_in_the_file(self, films: World, tmp_path: Path) -> None:
        text = HEAD + TYPES + "    decide: at_close\n    overlap: 2\n"
        text += "  - name: All\n    type: question_type\n    strategy: everyone\n    decide: when_complete\n"
        text += "  - name: Late\n    type: question_type\n    strategy: everyone\n"
        applied = apply_with_files(parse(text), project=None, by=films.mara, now=NOON, folder=tmp_path)

        said = dict(Batch.objects.filter(project=applied.project).values_list("name", "decide_at_close"))
        exported = project_export.export_study(current_state.of_project(applied.project, now=NOON))

        assert said == {"Types": True, "All": False, "Late": True}
        assert re.findall(r"    decide: (\w+)", exported) == ["at_close", "when_complete"]
        assert apply.plan_for_project(parse(exported), applied.project, now=NOON).does == ()
        (change,) = apply.plan_for_project(
            parse(exported.replace("decide: at_close\n", "decide: when_complete\n")),
            applied.project,
            now=NOON,
        ).does
        assert change.words == "decide: at_close becomes when_complete."

    def test_a_batch_that_is_set_aside_is_told_of(self, films: World) -> None:
        batch = films.batch(name="Pilot")
        Batch.objects.filter(pk=batch.pk).update(set_aside_at=NOON, set_aside_because="unclear")

        notes = current_state.of_project(films.project, now=NOON).notes

        assert [note.partition(" and ")[0] for note in notes] == ["Pilot is set aside here"]


class TestHoursThatAreLeft:
    STUDY = parse(SMALL)

    def costs(self, *works: dict[str, Any], counts: dict[str, Counts], people: int = 4) -> list[Cost]:
        batches = tuple(one.changed(**more) for one, more in zip(self.STUDY.batches, works, strict=True))
        people_of = tuple(PersonEntry(f"P{n}", ("annotator",)) for n in range(people))
        wanted = dataclasses.replace(self.STUDY, batches=batches, runs=(), people=people_of)
        there = dataclasses.replace(wanted, batches=tuple(one for one in batches if one.name in counts))
        plan = study_file_plan.plan(
            wanted,
            ProjectState(there, batches=counts, examples={("films", "originals"): 100}),
            probes={0: SourceProbe("c" * 64, 100)},
        )
        return list(plan.costs)

    def test_gold_is_a_share_of_everybodys_turns_and_nobody_has_one_twice(self) -> None:
        counts = {"Types": Counts("open", 110, 300, 0, gold=10, undecided=100, open_slots=300)}

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
            "Types": Counts("open", 40, 125, 90, gold=0, undecided=10, open_slots=17),
            "Short": Counts("open", 12, 12, 7, undecided=5, open_slots=5),
        }

        types, short = self.costs({"overlap": 3}, {"overlap": 1}, counts=counts)

        assert types.annotations == 17, (
            "three places were added, and 30 items were decided with one left free"
        )
        assert (short.annotations, short.most) == (5 + 10, True), "its own, and what may still come"

    def test_a_batch_that_is_planned_after_others_were_decided_gets_these_too(self) -> None:
        counts = {"Types": Counts("open", 40, 120, 90, undecided=10, open_slots=17)}

        _, short = self.costs({}, {"overlap": 1}, counts=counts)

        assert short.annotations == 40

    def test_nothing_is_left_of_what_is_closed_and_nothing_comes_to_it(self) -> None:
        counts = {
            "Types": Counts("closed", 40, 120, 90, undecided=10, open_slots=17),
            "Short": Counts("closed", 12, 12, 7, undecided=5, open_slots=5),
        }

        assert [one.annotations for one in self.costs({}, {}, counts=counts)] == [0, 0]

    def test_it_is_counted_as_the_project_stands(self, films: World) -> None:
        batch = films.batch(name="Types", sources=[films.source], size=3, overlap=2)
        example = Example.objects.filter(source=films.source).exclude(items__batch=batch).get()
        gold.set_gold(batch=batch, example=example, data={"label": "extraction"}, by=films.mara, now=NOON)
        films.label(batch, "ada", "extraction")

        counts = current_state.of_project(films.project, now=NOON).batches["Types"]

        assert counts == Counts("open", 4, 6, 1, gold=1, gold_submitted=0, undecided=3, open_slots=5)


# -- everything in it can also be done in the pages --------------------------------------------------

BATCH_NEW, CHANGE = (
    "/projects/films/batches/new/?kind=value_change:answer_changes",
    "/batches/{batch}/settings/",
)
UPLOAD = "/projects/films/sources/import/"
IMPORT, PERTURB, PAY = (
    "/projects/films/sources/import/{upload}/",
    "/projects/films/perturbations/",
    "/projects/films/people/",
)
GOLD, STATEMENT, PEOPLE = "/batches/{batch}/gold/", "/projects/films/statement/", "/projects/films/people/"
HELPED = "/projects/films/batches/new/?kind=question_paraphrase:word"
TYPED = "/projects/films/batches/new/?kind=question_type"
RELEASES = "/projects/films/releases/"
OF_A_RELEASE = {"formats": "format", "mix": "mix", "purpose": "purpose"}
PAGES: dict[str, tuple[str, str]] = {
    "project.slug": ("/projects/new/", "slug"),
    "project.name": ("/projects/new/", "name"),
    "project.time_zone": ("/projects/new/", "time_zone"),
    "project.must_read": ("/projects/films/guidelines/question_type/", "asked"),
    "project.caps.items_per_day": (PAY, "items_per_day"),
    "project.caps.hours_per_day": (PAY, "hours_per_day"),
    "project.pay.currency": (PAY, "currency"),
    "project.pay.per_hour": (PAY, "per_hour"),
    "project.pay.per_item": (PAY, "per_item"),
    "project.model_budget.usd": (PAY, "budget_usd"),
    "project.model_budget.tokens": (PAY, "budget_tokens"),
    **{f"project.release.{name}": (RELEASES, field) for name, field in OF_A_RELEASE.items()},
    "consent": ("/projects/films/consent/?edit", "text"),
    **{f"statement.{one.name}": (STATEMENT, one.name) for one in data_statement.ASKED},
    "people.name": (PEOPLE, "name"),
    "people.roles": (PEOPLE, "roles"),
    "sources.name": (IMPORT, "name"),
    "sources.reader": (IMPORT, "reader"),
    "sources.path": (UPLOAD, "questions"),
    "sources.tables": (UPLOAD, "tables"),
    "sources.split": (IMPORT, "split"),
    "sources.limit": (IMPORT, "limit"),
    "sources.fields": (IMPORT, "fields_of"),
    "sources.licence": (IMPORT, "licence"),
    "sources.citation": (IMPORT, "citation"),
    "sources.url": (IMPORT, "url"),
    "guidelines.file": ("/projects/films/guidelines/question_type/?edit", "text"),
    "perturbations.kinds": (PERTURB, "kinds"),
    "perturbations.seeds": (PERTURB, "seeds"),
    "perturbations.sources": (PERTURB, "sources"),
    "perturbations.select": (PERTURB, "select"),
    "perturbations.rules": (PERTURB, "rules"),
    "perturbations.feeds_from": (PERTURB, "feeds_from"),
    "perturbations.feeds_when": (PERTURB, "feeds_when"),
    "batches.name": (BATCH_NEW, "name"),
    "batches.type": (BATCH_NEW, "kind"),
    "batches.variant": (BATCH_NEW, "kind"),
    "batches.purpose": (BATCH_NEW, "purpose"),
    "batches.overlap": (BATCH_NEW, "overlap"),
    "batches.settings": (BATCH_NEW, "settings-contract"),
    "batches.resolve.rule": (TYPED, "rule"),
    "batches.must_practise": (BATCH_NEW, "must_practise"),
    "batches.loop_model": (BATCH_NEW, "loop_model"),
    "batches.loop_right_only": (BATCH_NEW, "loop_right_only"),
    "batches.seed": (BATCH_NEW, "seed"),
    "batches.strategy": (BATCH_NEW, "strategy"),
    "batches.decide": (BATCH_NEW, "decide_at_close"),
    "batches.sample.sources": (BATCH_NEW, "sources"),
    "batches.sample.of": (BATCH_NEW, "of"),
    "batches.sample.size": (BATCH_NEW, "size"),
    "batches.sample.only": (BATCH_NEW, "only"),
    "batches.sample.by": (BATCH_NEW, "strata"),
    "batches.feeds_from": (BATCH_NEW, "feeds_from"),
    "batches.feeds_when": (BATCH_NEW, "feeds_when"),
    "batches.requires": (BATCH_NEW, "requires"),
    "batches.pass_percent": (BATCH_NEW, "pass_percent"),
    "batches.adjudication.reasons": (BATCH_NEW, "adjudication_reasons"),
    "batches.adjudication.note_required": (BATCH_NEW, "note_required"),
    "batches.gold.percent": (BATCH_NEW, "gold_percent"),
    "batches.gold.feedback": (BATCH_NEW, "gold_feedback"),
    "batches.gold.items.example": (GOLD, "file"),
    "batches.gold.items.response": (GOLD, "file"),
    "batches.gold.items.why": (GOLD, "file"),
    "batches.gold.items.source": (GOLD, "file"),
    "batches.gold.items.inputs": (GOLD, "other"),
    "batches.help.shown": (HELPED, "help"),
    "batches.help.from.rules": (HELPED, "help_rules"),
    "batches.help.from.models": (HELPED, "help_models"),
    "batches.help.from.repetitions": (HELPED, "repetitions"),
    "batches.help.from.search": (HELPED, "search"),
    "batches.help.unhelped": (HELPED, "unhelped"),
    "batches.caps.items": (BATCH_NEW, "items"),
    "batches.caps.items_per_day": (BATCH_NEW, "items_per_day"),
    "batches.caps.hours_per_day": (BATCH_NEW, "hours_per_day"),
    "batches.model_budget.usd": (BATCH_NEW, "budget_usd"),
    "batches.model_budget.tokens": (BATCH_NEW, "budget_tokens"),
    "batches.pay.currency": (BATCH_NEW, "pay_currency"),
    "batches.pay.per_hour": (BATCH_NEW, "pay_per_hour"),
    "batches.pay.per_item": (BATCH_NEW, "pay_per_item"),
    "batches.open": (BATCH_NEW, "open_at_once"),
}
"""A key of the schema -> the page and the field in which a manager says the same."""
_SHIPPED = "says how a file that comes with Askew is offered; it changes nothing in a project"
ONLY_IN_A_FILE = {
    "study": "the version of the format of files",
    "people.email": "finds a member who goes by another name; on the page of people they are there by themselves",
    "sources.good_only": "the button of an import with problems, on the page of its job",
    "batches.guideline_examples.example": "an action of the explorer on the items themselves",
    "batches.guideline_examples.source": "as batches.guideline_examples.example",
    "sources.checksum": "which files are meant; whoever uploads a file has chosen it",
    "kinds.overlap": "said once for many batches; the form of a batch says it for each",
    "kinds.settings": "as kinds.overlap",
    "kinds.resolve.rule": "as kinds.overlap",
    "kinds.must_practise": "as kinds.overlap",
    "kinds.loop_model": "as kinds.overlap",
    "project.release.prompts.design": "the form of a release offers the published prompt and no other yet",
    "project.release.prompts.serialisation": "as project.release.prompts.design",
    "project.release.prompts.demonstrations": "as project.release.prompts.design",
    "template.title.en": _SHIPPED,
    "template.title.de": _SHIPPED,
    "template.place": _SHIPPED,
    "template.about.en": _SHIPPED,
    "template.about.de": _SHIPPED,
    "template.paper.en": _SHIPPED,
    "template.paper.de": _SHIPPED,
}
"""Keys that no page needs, and why."""


def keys(shape: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The paths of everything that a file can say."""
    inside = list(shape.get("properties", {}).items())
    of_any = shape.get("additionalProperties")
    for name, part in inside:
        yield from keys(part, (*path, name))
    if isinstance(shape.get("items"), dict) and "properties" in shape["items"]:
        yield from keys(shape["items"], path)
    elif isinstance(of_any, dict) and "properties" in of_any:
        yield from keys(of_any, path)
    elif not inside:
        yield ".".join(path)


def test_every_key_of_the_schema_has_its_place_in_the_pages_or_a_reason() -> None:
    found = {
        key
        for key in keys(json.loads(project_export.published_schema()))
        if not key.startswith("task_types.")
    }

    assert found == PAGES.keys() | ONLY_IN_A_FILE.keys()
    assert not PAGES.keys() & ONLY_IN_A_FILE.keys()


def test_what_a_file_can_say_can_be_typed_in_a_page(films: World, settings: Any) -> None:
    settings.PREDICTORS = {
        "bundled": {"url": "http://127.0.0.1:1", "model": "bundled", "protocol": "askew"},
        "chat": {"url": "http://127.0.0.1:1", "model": "chat", "protocol": "chat"},
    }
    batch = films.batch(name="Types", open=False)
    films.batch(name="Before", purpose="qualification", pass_percent=80, open=False)
    films.batch(name="Decided")
    file = SimpleUploadedFile("rows.json", b'[{"id": 1, "data": {}, "annotations": []}]')
    upload = uploads.keep(project=films.project, file=file, by=films.mara, now=NOON)
    client = importer(films.mara)
    pages: dict[str, str] = {}
    for page, _ in PAGES.values():
        if page not in pages:
            answer = client.get(page.format(batch=batch.public_id, upload=upload.public_id), follow=True)
            pages[page] = answer.content.decode() if answer.status_code == 200 else f"{answer.status_code}"

    assert {page for page, said in pages.items() if said.isdigit()} == set()
    assert {key: page for key, (page, name) in PAGES.items() if f'name="{name}"' not in pages[page]} == {}


def test_a_source_is_named_split_cut_and_read_by_its_own_fields_on_the_page(
    films: World, client: Any
) -> None:
    client.force_login(films.mara)
    rows = [{"id": n, "data": {"frage": "Which?", "answer": "1", "table": [["a"], ["1"]]}} for n in range(3)]
    lines = json.dumps(rows).encode()
    said = {
        "reader": "label_studio",
        "name": "mine",
        "split": "dev",
        "limit": "2",
        "fields_of": "question = frage",
    }

    answer = client.post(
        "/projects/films/sources/import/", {**said, "questions": SimpleUploadedFile("rows.json", lines)}
    )
    job = Job.objects.get(kind="import")
    assert (answer.status_code, jobs.run(job.pk)) == (302, "done"), job.error

    source = Source.objects.get(name="mine")
    assert (source.split, source.examples_count, source.how["limit"]) == ("dev", 2, 2)
    assert source.how["fields"] == {"question": "frage"}
    wrong = client.post(
        "/projects/films/sources/import/",
        {**said, "reader": "jsonl", "questions": SimpleUploadedFile("rows.json", lines)},
    ).content.decode()
    assert "has fixed field names" in wrong


def test_named_examples_make_a_batch_on_the_page_in_their_order(films: World, client: Any) -> None:
    client.force_login(films.mara)
    said = {
        "kind": "question_type",
        "name": "Named",
        "sources": [films.source.public_id],
        "of": "originals",
        "only": "nu-2\n nu-0 \n",
        "seed": "0",
        "overlap": "1",
        "pay_currency": "EUR",
        "pay_per_item": "0.25",
    }

    wrong = client.post("/projects/films/batches/new/", {**said, "size": "5"}).content.decode()
    unknown = client.post("/projects/films/batches/new/", {**said, "only": "nope"}).content.decode()
    client.post("/projects/films/batches/new/", said)

    assert "Leave the sample size empty" in wrong
    assert "No source contains the examples nope." in unknown
    batch = Batch.objects.get(name="Named")
    assert list(batch.items.order_by("position").values_list("example__external_id", flat=True)) == [
        "nu-2",
        "nu-0",
    ]
    assert batch.pay == {"currency": "EUR", "per_item": 0.25}
