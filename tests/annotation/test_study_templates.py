"""Templates: what they would create and cost, that one button creates all of it or nothing, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation

from annotation.access.roles import Role
from annotation.imports import example_import
from annotation.models import Batch, Event, Job, Person, PerturbationRun, Project, Source
from annotation.platform import immutable_rows
from annotation.quality import consent
from annotation.study_file import apply, current_state, project_export, study_templates
from annotation.study_file.parser import parse
from annotation.study_file.plan import Plan
from annotation.study_file.schema import people_needed
from annotation.workflow import projects
from tests.annotation.cast import NOON, World

ADDRESS = "/projects/films/templates/"
FIXTURES = Path(settings.BASE_DIR) / "fixtures"
ALL = list(study_templates.load_templates())


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def choice(world: World, key: str = "freb_tqa", source: Source | None = None) -> dict[str, str]:
    return {"template": key, "source": (source or world.source).public_id}


def rated_answers(world: World) -> Source:
    return example_import.import_examples(
        project=world.project,
        reader="jsonl",
        path=FIXTURES / "demo" / "rated-answers.jsonl",
        name="answers",
        now=NOON,
        by=world.mara,
    ).source


def test_the_templates_are_the_shipped_study_files_in_their_order() -> None:
    assert [one.title for one in study_templates.load_templates().values()] == [
        "FREB-TQA part 3",
        "RobuT header and question perturbations",
        "LFTQA-Eval ratings",
        "Adversarial questions with a model in the loop",
        "Label my questions",
    ]
    for one in study_templates.load_templates().values():
        assert {frozenset(said) for said in one.texts.values()} == {frozenset({"en", "de"})}
    with translation.override("de"):
        assert study_templates.load_templates()["label_questions"].title == "Meine Fragen einordnen"


@pytest.mark.parametrize(
    ("key", "people"),
    [("freb_tqa", 5), ("robut", 3), ("lftqa_eval", 3), ("adversarial", 3), ("label_questions", 3)],
)
def test_people_who_made_an_example_are_not_counted_for_what_follows_from_it(key: str, people: int) -> None:
    assert people_needed(study_templates.load_templates()[key].study) == people


def test_the_page_shows_what_would_be_created_and_writes_nothing(world: World, mara: Client) -> None:
    events = Event.objects.count()
    page = mara.get(ADDRESS, choice(world))
    text = page.content.decode()

    assert page.status_code == 200
    names = re.findall(r'<th scope="row">([^<]+)<br>', text)
    assert names[:3] == ["Question types, calibration", "Question types", "Evidence"]
    assert "Create 9 batches" in text
    plan = page.context["draft"].plan
    assert 0 < plan.expected_hours < plan.hours
    assert 0 < sum(cost.expected_money for cost in plan.costs) < plan.money["EUR"]
    for name in ("Expected pay", "Pay if all items go on"):
        assert re.search(rf"<dt>{name}</dt><dd>[^<]*EUR", text)
    assert not Batch.objects.exists()
    assert Event.objects.count() == events


def test_what_is_expected_follows_the_usual_shares_of_labels(world: World, mara: Client) -> None:
    costs = {one.batch: one for one in mara.get(ADDRESS, choice(world)).context["draft"].plan.costs}
    assert (costs["Question types"].expected, costs["Question types"].annotations) == (12, 12)
    assert (costs["Short tables"].expected, costs["Short tables"].annotations) == (2, 4)
    assert (costs["Answer the kept tables"].expected, costs["Answer the kept tables"].annotations) == (5, 8)


def test_one_button_creates_the_whole_chain(world: World, mara: Client) -> None:
    response = mara.post(ADDRESS, choice(world))

    assert response.status_code == 302
    batches = {one.name: one for one in Batch.objects.all()}
    assert len(batches) == 9
    assert all(one.state == "open" for one in batches.values())
    assert batches["Question types"].items_count == 4
    assert batches["Answer the changed tables"].feeds_from == batches["Change the answer"]
    run = PerturbationRun.objects.get()
    assert list(run.sources.all()) == [world.source]
    world.project.refresh_from_db()
    assert (world.project.name, world.project.pay["currency"]) == ("Films", "EUR")


def test_what_was_created_is_what_the_file_says_and_applying_the_export_again_does_nothing(
    world: World, mara: Client
) -> None:
    mara.post(ADDRESS, choice(world))

    here = current_state.of_project(world.project, now=NOON)
    said = parse(project_export.export_study(here))
    assert not apply.plan_for_project(said, world.project, now=NOON).does
    wanted = study_templates.load_templates()["freb_tqa"].study
    assert [(one.name, one.type, one.feeds_from, one.feeds_when) for one in here.study.batches] == [
        (one.name, one.type, one.feeds_from, one.feeds_when) for one in wanted.batches
    ]


def test_hours_are_about_and_no_maximum(world: World, mara: Client) -> None:
    page = mara.get(ADDRESS, choice(world, "lftqa_eval", rated_answers(world)))
    figures = re.findall(r"<div><dt>([^<]+)</dt><dd>(.+?)</dd></div>", page.content.decode())
    assert dict(figures)["Expected hours"] == "about 0.45"
    assert dict(figures)["Hours if all items go on"] == "about 0.45"


@pytest.mark.parametrize("key", ["freb_tqa", "label_questions"])
def test_a_template_can_be_used_again_under_other_names(world: World, mara: Client, key: str) -> None:
    mara.post(ADDRESS, choice(world, key))
    number = Batch.objects.count()
    mara.post(ADDRESS, choice(world, key))

    assert Batch.objects.count() == 2 * number
    assert Batch.objects.filter(name="Question types 2").exists()


def test_ratings_keep_their_qualification_where_the_source_has_its_examples(
    world: World, mara: Client
) -> None:
    mara.post(ADDRESS, choice(world, "lftqa_eval", rated_answers(world)))

    ratings = Batch.objects.get(name="Ratings")
    assert ratings.requires == Batch.objects.get(name="Do you know the scales")


def test_batches_over_listed_examples_are_left_out_where_the_source_lacks_them(
    world: World, mara: Client
) -> None:
    page = mara.get(ADDRESS, choice(world, "lftqa_eval"))
    assert "“Do you know the scales” is left out" in page.content.decode()
    assert "The gold answers of “Question types” are left out" in (
        mara.get(ADDRESS, choice(world)).content.decode()
    )


class TestTextsThatAreLeftOut:
    """The consent text and the data statement of a shipped study are about its own people."""

    CONSENT = 'consent text of the template is left out. <a href="/projects/films/consent/?edit">Write a consent text<'
    STATEMENT = (
        'statement of the template is left out. <a href="/projects/films/statement/">Write a data statement<'
    )

    def test_the_page_says_so_and_where_to_write_them(self, world: World, mara: Client) -> None:
        page = mara.get(ADDRESS, choice(world)).content.decode()
        assert self.CONSENT in page
        assert self.STATEMENT in page

    def test_what_the_study_does_not_have_is_not_mentioned(self, world: World, mara: Client) -> None:
        page = mara.get(ADDRESS, choice(world, "lftqa_eval")).content.decode()
        assert self.CONSENT in page
        assert "data statement" not in page
        page = mara.get(ADDRESS, choice(world, "label_questions")).content.decode()
        assert "of the template is left out" not in page

    def test_what_the_project_has_is_not_mentioned(self, world: World, mara: Client) -> None:
        consent.write(project=world.project, text="We publish your labels.", by=world.mara, now=NOON)
        Project.objects.update(statement={"training": "None."})
        page = mara.get(ADDRESS, choice(world)).content.decode()
        assert "of the template is left out" not in page


CHAIN_OVER_LISTED_EXAMPLES = """
study: 1
project: {slug: chain, name: Chain}
sources: [{name: wtq, reader: wtq}]
batches:
  - {name: Types, type: question_type, sample: {sources: [wtq]}}
  - {name: Listed, type: relevant_cells, sample: {only: [nt-1]}}
  - {name: Needed again, type: cell_relevance, feeds_from: Needed}
  - {name: Needed, type: cell_relevance, feeds_from: Listed}
perturbations:
  - {kinds: [row_shuffle], seeds: [1], feeds_from: Listed}
"""


class TestBatchesThatCannotBeCreated:
    """They are left out with their reason; with them what takes items from them."""

    @pytest.fixture(autouse=True)
    def without_models(self, settings: Any) -> None:
        settings.PREDICTORS = {}

    def test_a_batch_without_a_suitable_example_is_left_out(self, world: World, mara: Client) -> None:
        page = mara.get(ADDRESS, choice(world, "robut")).content.decode()
        assert "This template cannot be used here:" not in page
        assert (
            "“Column adding” is left out. None of these examples can become an item: "
            "the project has no related table with a column to add."
        ) in page
        assert "Create 5 batches" in page

        mara.post(ADDRESS, choice(world, "robut"))
        assert list(Batch.objects.order_by("pk").values_list("name", flat=True)) == [
            "Header synonyms",
            "Header abbreviations",
            "Column extension",
            "Column masking",
            "Quality of header synonyms",
        ]

    def test_what_takes_items_from_it_is_left_out_too(self, world: World, mara: Client) -> None:
        page = mara.get(ADDRESS, choice(world, "robut")).content.decode()
        assert (
            "“Words of questions” is left out. Model in the loop: "
            "There is no model &#x27;bundled&#x27;. Available: none."
        ) in page
        assert "“Quality of paraphrases” is left out: it takes items from “Words of questions”." in page
        assert "loop_model" not in page

    def test_a_batch_over_examples_that_are_missing_leaves_out_what_takes_items_from_it(
        self, world: World
    ) -> None:
        study = parse(CHAIN_OVER_LISTED_EXAMPLES)
        here = current_state.of_project(world.project, now=NOON).study
        reduced, notes = study_templates.adapt(study, project=here, source="films-dev", example_ids=())
        assert [work.name for work in reduced.batches] == ["Types"]
        assert notes == [
            "“Listed” is left out: it uses examples that this source does not have.",
            "“Needed again” is left out: it takes items from “Needed”.",
            "“Needed” is left out: it takes items from “Listed”.",
            "Automatic perturbations are left out: they take items from “Listed”.",
        ]

    def test_a_template_of_which_nothing_is_left_is_refused_with_each_reason(
        self, world: World, mara: Client
    ) -> None:
        page = mara.get(ADDRESS, choice(world, "adversarial")).content.decode()
        assert "This template cannot be used here:" in page
        assert "Model in the loop: There is no model" in page
        assert "loop_model" not in page

    def test_they_cost_nothing(self, world: World, mara: Client) -> None:
        plan = mara.get(ADDRESS, choice(world, "robut")).context["draft"].plan
        assert {"Column adding", "Words of questions"}.isdisjoint(cost.batch for cost in plan.costs)


class TestRefusals:
    def test_without_a_source_the_page_asks_for_an_import(self, world: World, mara: Client) -> None:
        projects.create_project(slug="empty", name="Empty", manager=world.mara, now=NOON)
        page = mara.get("/projects/empty/templates/").content.decode()
        assert "Import examples</a> first" in page
        assert 'name="template"' not in page
        sent = mara.post("/projects/empty/templates/", {"template": "freb_tqa"}).content.decode()
        assert "Choose a source for the template." in sent

    def test_a_source_without_what_a_task_type_needs_creates_nothing(
        self, world: World, mara: Client
    ) -> None:
        preview = mara.get(ADDRESS, choice(world, "lftqa_eval")).content.decode()
        page = mara.post(ADDRESS, choice(world, "lftqa_eval")).content.decode()

        words = "Ratings: None of these examples can become an item: they have no model answer to rate"
        assert words in preview
        assert "Choose another source, or import one that has it." in preview
        assert 'class="primary"' not in preview
        assert "Nothing was created." in page
        assert not Batch.objects.exists()
        world.project.refresh_from_db()
        assert world.project.pay == {}

    def test_a_source_with_what_a_task_type_needs_is_not_refused(self, world: World, mara: Client) -> None:
        page = mara.get(ADDRESS, choice(world, "lftqa_eval", rated_answers(world))).content.decode()

        assert "This template cannot be used here:" not in page
        assert 'class="primary"' in page

    def test_a_model_that_is_missing_is_said_before_the_button(
        self, world: World, mara: Client, settings: Any
    ) -> None:
        settings.PREDICTORS = {}
        page = mara.get(ADDRESS, choice(world, "adversarial")).content.decode()

        assert "This template cannot be used here:" in page
        assert "bundled" in page
        assert "Create 3 batches" not in page
        mara.post(ADDRESS, choice(world, "adversarial"))
        assert not Batch.objects.exists()
        assert not Job.objects.exists()

    def test_an_unknown_template_or_the_source_of_another_project_is_refused(
        self, world: World, mara: Client
    ) -> None:
        other = projects.create_project(slug="other", name="Other", manager=world.mara, now=NOON)
        assert "There is no such template" in mara.get(ADDRESS, choice(world, "nope")).content.decode()
        with immutable_rows.writable():
            Source.objects.update(project=other)
        page = mara.post(ADDRESS, choice(world)).content.decode()
        assert "This project has no such source" in page
        assert not Project.objects.get(slug="films").batches.exists()

    def test_annotators_do_not_come_to_it(self, world: World) -> None:
        client = Client()
        client.force_login(world.ada)
        assert client.get(ADDRESS).status_code == 404


def test_the_project_page_offers_the_templates(world: World, mara: Client) -> None:
    assert ADDRESS in mara.get("/projects/films/").content.decode()
    world.batch()
    assert ADDRESS in mara.get("/projects/films/").content.decode()


def annotators_joined(project: Project, number: int) -> None:
    for place in range(number):
        person = Person.objects.create_person(f"Person {place}")
        projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=None, now=NOON)


class TestMaximum:
    @pytest.fixture
    def empty(self, world: World) -> Project:
        """A project of Mara with the source, which nobody has joined."""
        project = projects.create_project(slug="empty", name="Empty", manager=world.mara, now=NOON)
        with immutable_rows.writable():
            Source.objects.update(project=project)
        return project

    def plan(self, world: World, project: Project) -> Plan:
        template = study_templates.load_templates()["freb_tqa"]
        return study_templates.draft(template, project=project, source=world.source, now=NOON).plan

    def test_it_is_for_as_many_people_as_the_template_needs(self, world: World, empty: Project) -> None:
        before = self.plan(world, empty)
        annotators_joined(empty, 5)
        after = self.plan(world, empty)

        assert before.people == 5
        assert {cost.batch: cost.annotations for cost in before.costs}["Question types, calibration"] == 5 * 4
        assert (before.costs, before.money) == (after.costs, after.money)

    def test_it_is_for_all_annotators_where_more_have_joined(self, world: World, empty: Project) -> None:
        annotators_joined(empty, 6)
        plan = self.plan(world, empty)

        assert plan.people == 6
        assert {cost.batch: cost.annotations for cost in plan.costs}["Question types, calibration"] == 6 * 4

    def test_the_page_says_for_how_many_annotators_it_is(
        self, world: World, empty: Project, mara: Client
    ) -> None:
        page = mara.get("/projects/empty/templates/", choice(world)).content.decode()
        assert "Batches in which every person gets every item are counted for 5 annotators." in page
        page = mara.get("/projects/empty/templates/", choice(world, "adversarial")).content.decode()
        assert "are counted for" not in page
