"""What a plan says of the work: each person once, all time that is paid, intervals, and no limit that is none."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.access.roles import Role
from annotation.management import simulation
from annotation.models import Annotation, Assignment, Batch, Invitation, Person
from annotation.payments import earnings
from annotation.study_file import apply, current_state, plan_text, project_export
from annotation.study_file import plan as study_file_plan
from annotation.study_file.comparison import SourceProbe
from annotation.study_file.costs import interval
from annotation.study_file.current_state import Pace, ProjectState
from annotation.study_file.parser import parse
from annotation.study_file.plan import Plan
from annotation.study_file.schema import Study
from annotation.study_file.yaml_file import StudyError
from annotation.workflow import assignments, projects
from tasks.contract import task_type
from tasks.pace import usual_seconds
from tests.annotation.cast import NOON, World, make_world, set_work

PAY = {"currency": "EUR", "per_hour": 36}


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path, questions=8)


def text_of(world: World) -> str:
    return project_export.export_study(current_state.of_project(world.project, now=NOON))


def plan_of(world: World, text: str = "") -> Plan:
    world.project.refresh_from_db()
    return apply.plan_for_project(parse(text or text_of(world)), world.project, now=NOON)


def work(world: World, batch: Batch, who: str, *acts: tuple[str, float]) -> None:
    """Submit, skip or return items, each after so many seconds of active time."""
    for act, seconds in acts:
        held = world.take(batch, who)
        assert held is not None
        if act == "skip":
            assignments.skip(assignment=held, reason="odd", now=NOON)
        elif act == "return":
            assignments.give_back(assignment=held, now=NOON)
        else:
            world.answer(held, {"label": "extraction"})
        set_work(Assignment.objects.filter(pk=held.pk), seconds=seconds)


# -- who annotates ----------------------------------------------------------------------------------


class TestWhoAnnotates:
    PEOPLE = (
        "people:\n"
        "  - {name: Ada from the lab, roles: [annotator]}\n"
        "  - {name: Bo Bergman, email: BO@example.org, roles: [annotator]}\n"
        "  - {name: Cy, roles: [annotator]}\n"
    )

    def text(self, world: World, people: str) -> str:
        head = f"study: 1\nproject: {{slug: films, name: Films}}\n{people}"
        source = f"sources: [{{name: {world.source.name}, reader: wtq}}]\n"
        batch = "batches: [{name: Round, type: question_type, purpose: calibration, sample: {size: 4}}]\n"
        return head + source + batch

    def followed(self, world: World, name: str, person: Person) -> None:
        link, _ = projects.invite(
            project=world.project, roles=[Role.ANNOTATOR], name=name, by=world.mara, now=NOON
        )
        Invitation.objects.filter(pk=link.pk).update(accepted_by=person, accepted_at=NOON)

    def test_a_person_with_another_spelling_in_the_file_counts_once(self, world: World) -> None:
        self.followed(world, "Ada from the lab", world.ada)

        plan = plan_of(world, self.text(world, self.PEOPLE))

        assert (plan.people, plan.costs[0].annotations) == (3, 12)
        assert not [change for change in plan.changes if change.verb == "invite"]

    @pytest.mark.parametrize("where", ["account", "link", "open link"])
    @pytest.mark.parametrize(
        ("name", "spelled"),
        [("ADA zoë", "Ada Zoe\u0308"), ("Ada  Zoë", "ada zoë"), ("Ａｄａ Straße", "ADA STRASSE")],
    )
    def test_a_name_in_another_case_space_or_unicode_form_counts_once(
        self, world: World, where: str, name: str, spelled: str
    ) -> None:
        if where == "account":
            Person.objects.filter(pk=world.ada.pk).update(name=name)
        elif where == "link":
            self.followed(world, name, world.ada)
        else:
            roles = [Role.ANNOTATOR]
            projects.invite(project=world.project, roles=roles, name=name, by=world.mara, now=NOON)
        text = self.text(world, self.PEOPLE.replace("Ada from the lab", spelled))

        plan = plan_of(world, text)

        assert plan.people == (4 if where == "open link" else 3)
        assert not [change for change in plan.changes if change.verb == "invite"]

    def test_somebody_whose_name_is_blank_is_nobody_of_the_file(self, world: World) -> None:
        Person.objects.filter(pk=world.ada.pk).update(name=" ")
        plan = plan_of(world, self.text(world, self.PEOPLE))

        assert plan.people == 4, "Ada without a name, Bo, Cy, and Ada of the file"

    def test_a_role_for_a_name_in_another_case_goes_to_that_person(self, world: World) -> None:
        text = self.text(world, "people: [{name: ADA, roles: [annotator, adjudicator]}]\n")
        apply.apply(parse(text), project=world.project, by=world.mara, now=NOON)

        assert world.project.memberships.get(person=world.ada).roles == ["annotator", "adjudicator"]
        assert world.project.invitations.count() == 0

    def test_a_file_names_nobody_twice_in_two_spellings(self, world: World) -> None:
        people = "people:\n  - {name: Zoë, roles: [annotator]}\n  - {name: ZOE\u0308, roles: [manager]}\n"
        with pytest.raises(StudyError, match="ZOE"):
            parse(self.text(world, people))

    def test_a_person_who_followed_a_second_link_counts_once(self, world: World) -> None:
        for name in ("Ada from the lab", "Ada who adjudicates"):
            self.followed(world, name, world.ada)

        plan = plan_of(world, self.text(world, self.PEOPLE))

        assert (plan.people, plan.costs[0].annotations) == (3, 12)
        assert not [change for change in plan.changes if change.verb == "invite"]

    def test_whoever_joins_by_the_file_or_an_open_link_counts_too(self, world: World) -> None:
        projects.invite(project=world.project, roles=[Role.ANNOTATOR], name="Dee", by=world.mara, now=NOON)
        more = "  - {name: Dee, email: dee@example.org, roles: [annotator]}\n  - {name: Eve, roles: [annotator]}\n"
        more += "  - {name: Ivo, roles: [annotator, adjudicator]}\n  - {name: Rea, roles: [researcher]}\n"

        plan = plan_of(world, self.text(world, "people:\n" + more))

        assert plan.people == 3 + 3, "Ada, Bo, Cy; Dee, Eve and Ivo"

    def test_simulated_people_have_no_part_in_the_costs(self, world: World) -> None:
        simulation.people_of(world.project, 3, NOON)

        plan = plan_of(world, self.text(world, self.PEOPLE.replace("Ada from the lab", "Ada")))

        assert (plan.people, plan.costs[0].annotations) == (3, 12)

    def test_whoever_was_removed_and_gets_no_link_does_not_count(self, world: World) -> None:
        membership = world.project.memberships.get(person=world.cy)
        projects.remove_member(membership=membership, by=world.mara, now=NOON)

        plan = plan_of(world, self.text(world, self.PEOPLE.replace("Ada from the lab", "Ada")))

        assert [
            change.name for change in plan.changes if change.section == "person" and change.verb == "leave"
        ]
        assert plan.people == 2

    def test_a_second_look_at_the_same_study_counts_the_same_people(self, world: World) -> None:
        self.followed(world, "Ada from the lab", world.ada)
        Person.objects.filter(pk=world.ada.pk).update(name="A. Lovelace")
        text = self.text(world, self.PEOPLE)
        apply.apply(parse(text), project=world.project, by=world.mara, now=NOON)

        assert plan_of(world, text).people == plan_of(world).people == 3


# -- time -------------------------------------------------------------------------------------------


def test_time_on_skipped_and_returned_items_is_in_the_costs(world: World) -> None:
    batch = world.batch(overlap=1, pay=PAY)
    work(world, batch, "ada", ("submit", 120), ("skip", 90))

    (cost,) = plan_of(world).costs

    assert (cost.annotations, cost.seconds, cost.measured) == (7, 210, 1)
    assert cost.money == pytest.approx(7 * 2.10)
    work(world, batch, "bo", ("return", 60))
    assert plan_of(world).costs[0].seconds == 270


def test_time_of_people_who_submit_nothing_is_in_the_interval(world: World) -> None:
    batch = world.batch(overlap=1, pay=PAY)
    work(world, batch, "ada", ("submit", 60), ("submit", 100))
    alone = plan_of(world).costs[0]
    work(world, batch, "bo", ("skip", 80))

    (cost,) = plan_of(world).costs

    assert (alone.seconds, alone.ends) == (80, None), "one person has no interval"
    assert cost.seconds == 120
    assert cost.ends is not None
    assert cost.ends[0] < 120 < cost.ends[1]


def test_a_pace_is_that_of_a_variant_and_calibrations_are_apart(world: World) -> None:
    def submitted(seconds: float, kind: str = "question_type", label: Any = None, **terms: Any) -> Batch:
        batch = world.batch(kind, overlap=1, **terms)
        held = world.take(batch, "ada")
        assert held is not None
        world.answer(held, label or {"label": "extraction"})
        set_work(Assignment.objects.filter(pk=held.pk), seconds=seconds)
        return batch

    submitted(50)
    submitted(500, purpose="calibration")
    word = {"question": "in which year did it come out?", "category": "reasoning_synonym"}
    submitted(80, "question_paraphrase", word, variant="word")
    world.batch("question_paraphrase", variant="sentence", overlap=1)

    work_cost, round_cost, word_cost, sentence_cost = plan_of(world).costs

    assert [one.seconds for one in (work_cost, round_cost, word_cost)] == [50, 500, 80]
    assert (sentence_cost.measured, sentence_cost.seconds) == (
        0,
        usual_seconds(task_type("question_paraphrase")),
    )


def test_a_pace_is_what_the_ledger_has(world: World) -> None:
    """A response that was taken back is not submitted, but its item was, and its time is paid."""
    batch = world.batch(overlap=1, pay=PAY)
    for who, seconds in (("ada", 40), ("bo", 80)):
        held = world.take(batch, who)
        assert held is not None
        world.answer(held, {"label": "extraction"})
        set_work(Assignment.objects.filter(pk=held.pk), seconds=seconds)
        if who == "ada":
            assignments.undo(annotation=Annotation.objects.get(assignment=held), now=NOON)

    cost = plan_of(world).costs[0]

    total = earnings.sum_shares(earnings.of_batch(batch))
    assert (cost.measured, cost.seconds) == (total.items, total.seconds / total.items) == (2, 60)


@pytest.mark.django_db
def test_a_plan_after_a_third_is_within_ten_percent_of_what_is_paid_in_the_end(tmp_path: Path) -> None:
    """A replayed study: three people, each with a pace of their own, who skip one item in six."""
    world, rng = make_world(tmp_path, questions=36), random.Random(7)
    batch = world.batch(overlap=1, pay=PAY)
    expected = 0.0

    def paid() -> float:
        return float(earnings.sum_shares(earnings.of_batch(batch)).amounts["EUR"])

    for turn in range(60):
        who, usual = (("ada", 40), ("bo", 60), ("cy", 90))[turn % 3]
        if (held := world.take(batch, who)) is None:
            continue
        if rng.random() < 1 / 6:
            assignments.skip(assignment=held, reason="odd", now=NOON)
        else:
            world.answer(held, {"label": "extraction"})
        set_work(Assignment.objects.filter(pk=held.pk), seconds=usual * rng.uniform(0.7, 1.3))
        if turn == 14:
            expected = paid() + plan_of(world).money["EUR"]

    assert (plan_of(world).costs[0].annotations or 0) <= 1, "all three may have skipped an item"
    assert Assignment.objects.filter(state=Assignment.State.SKIPPED).count() > 4
    assert expected == pytest.approx(paid(), rel=0.1)


# -- limits -----------------------------------------------------------------------------------------


STUDY = """\
study: 1
project: {slug: small, name: Small, pay: PAY}
sources:
  - {name: films, reader: wtq, path: films.tsv}
batches:
  - {name: First, type: question_type, sample: {size: 3}}
  - {name: Next, type: short_table, feeds_from: First}
"""
BY_HOUR, BY_ITEM = "{currency: EUR, per_hour: 36}", "{currency: EUR, per_item: 0.5}"


def costs_of(pay: str, batch: str = "") -> Plan:
    """The plan of a new project in which an annotation takes a minute, or 50 to 80 seconds."""
    study = parse(STUDY.replace("PAY", pay).replace("sample: {size: 3}", f"sample: {{size: 3}}{batch}"))
    kinds = (("question_type", "", False), ("short_table", "", False))
    paces = dict.fromkeys(kinds, Pace(60.0, 12, (50.0, 80.0)))
    there = ProjectState(Study(slug="small", name="Small"), paces=paces)
    return study_file_plan.plan(study, there, probes={0: SourceProbe("c" * 64, 100)})


class TestLimits:
    def test_pay_by_the_hour_is_about(self) -> None:
        rows = list(plan_text.cost_rows(costs_of(BY_HOUR)))

        (first, following, total) = rows
        assert first[2:] == (
            "9",
            "about 0.15 (0.12 to 0.20)",
            "about 5.40 EUR (4.50 to 7.20)",
        )
        assert following[2] == "at most 3"
        assert following[3].startswith("about")
        assert following[4].startswith("about")
        assert total[4].startswith("about")

    def test_pay_by_the_item_is_exact_or_at_most(self) -> None:
        first, following, total = plan_text.cost_rows(costs_of(BY_ITEM))

        assert first[4] == "4.50 EUR"
        assert following[4].startswith("at most")
        assert total[4].startswith("at most")
        assert "to" not in total[4].split()

    @pytest.mark.parametrize(
        "more",
        [
            ", resolve: {rule: majority, most: 5}",
            ", strategy: everyone",
            ", gold: {percent: 10}",
        ],
    )
    def test_what_can_grow_is_about(self, more: str) -> None:
        first, *_ = plan_text.cost_rows(costs_of(BY_ITEM, more))

        assert first[2].startswith("about")
        assert first[4].startswith("about")

    def test_several_outcomes_of_an_item_make_more_items(self) -> None:
        text = STUDY.replace("type: question_type", "type: question_paraphrase, variant: word, overlap: 2")
        plan = study_file_plan.plan(
            parse(text.replace("PAY", BY_ITEM)), None, probes={0: SourceProbe("c" * 64, 100)}
        )

        made, following, _ = plan_text.cost_rows(plan)

        assert made[2] == "6"
        assert following[2].startswith("about")

    def test_what_is_expected_is_no_limit(self) -> None:
        costs = costs_of(BY_ITEM).costs
        assert plan_text.amounts(costs, "expected_money").startswith("about")

    def test_an_interval_needs_the_pace_of_every_batch(self) -> None:
        first, following = costs_of(BY_HOUR).costs

        assert (first.annotations, following.annotations) == (9, 3)
        ends = (12 * 50 / 3600, 12 * 80 / 3600)
        assert interval([first, following], "hours") == pytest.approx(ends)
        assert interval([first, replace(following, ends=None)], "hours") is None
        assert interval([first, replace(following, ends=None, annotations=0)], "hours") is not None

    @pytest.mark.parametrize(("ends", "says"), [((50.0, 80.0), False), ((60.0, 60.0), True), (None, True)])
    def test_a_plan_without_an_interval_says_why(self, ends: tuple[float, float] | None, says: bool) -> None:
        plan = costs_of(BY_HOUR)
        plan = replace(plan, costs=tuple(replace(cost, ends=ends) for cost in plan.costs))

        lines = list(plan_text.cost_lines(plan))

        why = "No interval: it needs at least two people of different pace for each task type."
        assert (why in lines) is says
        assert "about 5.40 EUR" in lines[1]

    def test_two_currencies_are_added_apart(self) -> None:
        first, following = costs_of(BY_ITEM).costs
        assert plan_text.amounts([first, replace(following, currency="USD")], "money").count(";") == 1


# -- where it is shown ------------------------------------------------------------------------------


@pytest.fixture
def measured(world: World) -> World:
    batch = world.batch(overlap=1, pay=PAY, name="Work")
    work(world, batch, "ada", ("submit", 120), ("skip", 90))
    work(world, batch, "bo", ("submit", 100))
    return world


def test_page_file_command_and_json_say_about_and_the_interval(measured: World, tmp_path: Path) -> None:
    (cost,) = plan_of(measured).costs
    hours, pay = plan_text.amounts([cost], "hours"), plan_text.amounts([cost], "money")
    assert hours.startswith("about 0.26 (0.00 to ")
    assert pay.startswith("about 9.30 EUR (0.00 to ")
    client, text, address = Client(), text_of(measured), "/projects/films/study/"
    client.force_login(measured.mara)
    page = client.post(address, {"text": text, "act": "plan"}).content.decode()
    german = client.post(
        address, {"text": text, "act": "plan"}, headers={"Accept-Language": "de"}
    ).content.decode()
    sheet = client.post(address, {"text": text, "act": "plan", "costs": "csv"}).content.decode()
    path = tmp_path / "study.yaml"
    path.write_text(text)
    said, data = StringIO(), StringIO()
    call_command("study", "plan", str(path), stdout=said)
    call_command("study", "plan", str(path), "--json", stdout=data)

    for shown in (page, said.getvalue()):
        assert hours in shown
        assert pay in shown
        assert "at most" not in shown
    assert "etwa 9,30 EUR (0,00 bis " in german
    (row,) = csv.DictReader(io.StringIO(sheet))
    assert float(row["Hours, low"]) <= float(row["Hours"]) <= float(row["Hours, high"])
    assert float(row["Pay, low"]) <= float(row["Pay"]) <= float(row["Pay, high"])
    plan = json.loads(data.getvalue())
    assert plan["costs"][0]["by_hour"] is True
    assert plan["costs"][0]["hours_ends"] == plan["hours_ends"]
    assert plan["money_ends"]["EUR"] == plan["costs"][0]["money_ends"]
