"""The board of a project on its pages: where figures lead, what they count, who sees them, and what they cost."""

from __future__ import annotations

import html
import re

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.access.roles import PERMISSIONS, Role
from annotation.models import Job, Person
from annotation.quality import annotator_questions
from annotation.queue import reservations
from annotation.releases import creation
from annotation.web.board import facts
from annotation.web.views.pages import ROWS
from annotation.workflow import assignments, automatic_decisions, batches, perturbation_runs, projects
from tests.annotation.cast import NOON, World, envelope

MANAGER = PERMISSIONS[Role.MANAGER]


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def page(person: Person, address: str = "/projects/films/") -> str:
    found = browser(person).get(address).content.decode().split("<main")[1]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", found)).split())


def address_of(person: Person, label: str, address: str = "/projects/films/") -> str:
    """Where the button with this label leads."""
    found = html.unescape(browser(person).get(address).content.decode())
    (link,) = re.findall(rf'<a class="button[^"]*" href="([^"]+)">{re.escape(label)}</a>', found)
    return str(link)


def test_each_figure_that_needs_action_leads_to_where_it_is_met(world: World) -> None:
    batch = world.batch(size=1, overlap=2, name="Types")
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    planned = world.batch(name="Later", open=False)
    annotator_questions.ask(project=world.project, person=world.ada, text="Which year?", now=NOON)
    now = timezone.now()
    failed = Job.objects.create(
        project=world.project, kind="import", state="failed", made_at=now, heartbeat=now
    )

    labels = {
        "1 failed import": f"/jobs/{failed.public_id}/",
        "1 open question of annotators": "/projects/films/inquiries/",
        "“Later” is ready to open": f"/batches/{planned.public_id}/open/",
        "1 item waits for an adjudicator": "/projects/films/explorer/?state=adjudication",
    }
    for place in ("/projects/films/", "/"):
        assert {label: address_of(world.mara, label, place) for label in labels} == labels
    assert address_of(world.ivo, "1 item to adjudicate") == "/projects/films/adjudication/"


def test_work_of_an_adjudicator_is_not_said_to_need_the_manager(world: World) -> None:
    batch = world.batch(size=1, overlap=2, name="Types")
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)

    assert "All caught up. Waiting for others: 1 item waits for an adjudicator" in page(world.mara)
    assert "All caught up. Waiting for others: 1 item waits for an adjudicator" in page(world.mara, "/")
    assert "Needs you 1 item to adjudicate" in page(world.ivo)


def test_the_number_of_people_leads_to_them_for_those_who_may_see_them(world: World) -> None:
    address = f'href="/projects/films/people/">{world.project.memberships.count()}</a>'

    assert address in browser(world.mara).get("/projects/films/").content.decode()
    assert address in browser(world.mara).get("/").content.decode()
    assert address not in browser(world.rea).get("/projects/films/").content.decode()


def test_a_failed_import_is_forgotten_once_an_import_is_done(world: World) -> None:
    now = timezone.now()
    for state in ("failed", "done"):
        Job.objects.create(project=world.project, kind="import", state=state, made_at=now, heartbeat=now)

    assert "failed import" not in page(world.mara)


def test_an_item_that_somebody_has_in_progress_is_not_waiting(world: World) -> None:
    batch = world.batch(size=3)
    world.take(batch, "ada")
    world.take(batch, "bo")

    counts = facts.load_boards(person=world.mara, rights={world.project.pk: MANAGER}, now=NOON)[
        world.project.pk
    ]

    (stage,) = counts.state.stages
    assert stage.counts is not None
    assert stage.counts.items == 3
    assert stage.counts.in_progress in (1, 2)
    assert stage.counts.waiting == 3 - stage.counts.in_progress


def test_the_table_has_every_number_of_the_picture(world: World) -> None:
    first = world.batch("value_change", size=2, variant="answer_changes", name="Change")
    world.batch("answer_check", feeds_from=first, sources=[], name="Check")

    said = page(world.mara)

    assert "Check. open. It waits for 2 more decisions in “Change”" in html.unescape(
        browser(world.mara).get("/projects/films/").content.decode()
    )
    assert "takes accepted items from Change" in said
    assert "2 items" in said


def test_several_batches_that_are_ready_to_close_are_selected_in_the_table(world: World) -> None:
    finished = [world.batch(size=1, overlap=1, seed=number, name=f"Done {number}") for number in (1, 2)]
    for batch in finished:
        world.label(batch, "ada", "extraction")
        automatic_decisions.resolve_batch(batch=batch, now=NOON)
    world.batch(size=1, seed=3, name="Not begun")

    address = address_of(world.mara, "2 batches are ready to close")
    table = browser(world.mara).get(address).content.decode().split('id="batches"')[1]

    boxes = re.findall(r'<input type="checkbox" name="batches" value="(\w+)"[^>]*?( checked)?>', table)
    assert sorted(boxes) == sorted((batch.public_id, " checked") for batch in finished)
    assert '<option value="close" selected>' in table
    assert "2 batches are ready and selected." in table
    assert "Not begun" in page(world.mara, "/projects/films/?table")


def test_automatic_perturbations_of_what_a_batch_accepts_are_a_box_behind_it(world: World) -> None:
    batch = world.batch(size=2, overlap=1, name="Types")
    run = perturbation_runs.plan_run(
        project=world.project,
        kinds=["row_shuffle"],
        seeds=[1],
        sources=[world.source],
        feeds_from=batch,
        by=world.mara,
        now=NOON,
    )
    run.counts = {"row_shuffle": {"made": 1234, "no_op": {}, "refused": {}}}
    run.save(update_fields=["counts"])
    address = "/projects/films/perturbations/"

    shown = browser(world.mara).get("/projects/films/").content.decode()

    assert f'href="{address}" aria-label="Automatic perturbations. 1,234 examples"' in shown
    assert f'href="{address}"><text class="small end"' in shown
    assert "1,234 examples · takes accepted items from Types" in page(world.mara)


def test_the_list_on_phones_says_what_is_complete_and_what_waits_for_an_adjudicator(world: World) -> None:
    types = world.batch(size=1, overlap=2, name="Types")
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(types, who, label)
    automatic_decisions.resolve_batch(batch=types, now=NOON)
    rounds = world.batch(size=1, overlap=3, name="Round 1", purpose="calibration")
    for who in ("ada", "bo", "cy"):
        world.label(rounds, who, "extraction")

    listed = browser(world.mara).get("/projects/films/").content.decode().split('class="flow-list"')[1]
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", "", listed.split("</ol>")[0])).split())

    assert "0 waiting · 0 in progress · 1 to adjudicate · 0 accepted · 0 excluded" in words
    assert "0 waiting · 0 in progress · 1 complete" in words


def test_numbers_of_a_board_say_that_qualification_and_calibration_are_left_out(world: World) -> None:
    world.batch(size=1, name="Types")
    assert "Without qualification and calibration." not in page(world.mara)

    world.batch(size=1, name="Round 1", purpose="calibration")

    assert "Without qualification and calibration." in page(world.mara)


def test_whoever_annotates_in_a_batch_with_gold_reads_no_counts_of_it(world: World) -> None:
    batch = world.batch(size=4)
    type(batch).objects.filter(pk=batch.pk).update(gold_percent=20)
    projects.add_member(project=world.project, person=world.ada, roles=[Role.VIEWER], by=world.mara, now=NOON)

    said = page(world.ada)

    assert "counts hidden" in said
    assert "visible to you after it closes" in said
    assert "0 of 0" in page(world.ada, "/")


def test_a_release_is_offered_again_once_more_was_accepted(world: World) -> None:
    for number in (1, 2):
        batch = world.batch(size=1, seed=number, name=f"Round {number}")
        for who in ("ada", "bo", "cy"):
            world.label(batch, who, "extraction")
        batches.close_batch(batch=batch, by=world.mara, now=NOON)
        automatic_decisions.resolve_batch(batch=batch, now=NOON)
        assert "Create release with 1 new item" in page(world.mara)
        creation.make_release(
            project=world.project, name=f"v{number}", format="askew", by=world.rea, now=NOON
        )
        assert "Create release" not in page(world.mara)


def test_the_board_costs_few_queries_whatever_the_number_of_batches(world: World) -> None:
    def cost(address: str) -> int:
        client = browser(world.mara)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        return len(queries)

    first = world.batch("value_change", size=1, variant="answer_changes")
    world.batch("answer_check", feeds_from=first, sources=[], open=False)
    few = [cost("/projects/films/"), cost("/")]
    for _ in range(10):
        first = world.batch("value_change", size=1, variant="answer_changes")
        world.batch("answer_check", feeds_from=first, sources=[], open=False)
    many = [cost("/projects/films/"), cost("/")]

    assert many == few
    assert max(many) <= 30


def test_home_leads_who_has_nothing_left_to_their_work(world: World) -> None:
    def primary() -> list[str]:
        page = browser(world.ada).get("/").content.decode()
        return re.findall(r'class="button primary"[^>]*?href="([^"]+)"', page)

    assert primary() == ["/work/"]
    batch = world.batch(size=1)
    assert primary() == [f"/batches/{batch.public_id}/annotate/"]
    world.label(batch, "ada", "extraction")
    assert primary() == ["/work/"]


def test_nobody_is_caught_up_who_may_go_on_tomorrow(world: World) -> None:
    batch = world.batch(size=3, caps={"items_per_day": 1})
    assignment = reservations.next_assignment(batch=batch, person=world.ada, holding=(), now=timezone.now())
    assert assignment is not None
    client = browser(world.ada)
    response = envelope(assignment, {"label": "extraction"})
    assignments.submit(assignment=assignment, response=response, now=timezone.now())
    page = client.get("/").content.decode()
    assert "2 of 3 left" in page
    assert "All caught up" not in page


def test_nobody_is_caught_up_who_sees_the_first_of_several_pages(world: World) -> None:
    assert "All caught up" in browser(world.ada).get("/").content.decode()
    for number in range(ROWS):
        project = projects.create_project(
            slug=f"p{number}", name=f"Project {number}", manager=world.mara, now=NOON
        )
        projects.add_member(
            project=project, person=world.ada, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
        )
    assert "New batches will be listed here." not in browser(world.ada).get("/").content.decode()


def test_home_and_project_have_one_primary_action_except_while_they_wait_for_others(world: World) -> None:
    def primaries(person: Person) -> list[list[str]]:
        pages = [browser(person).get(place).content.decode() for place in ("/", "/projects/films/")]
        return [re.findall(r'class="button primary"[^>]*>([^<]+)', html.unescape(found)) for found in pages]

    assert primaries(world.mara) == [["New batch"], ["New batch"]]
    batch = world.batch(size=2, overlap=2, name="Types")
    assert primaries(world.mara) == [["Browse items"], ["Browse items"]]
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    assert primaries(world.mara) == [[], []]
    projects.add_member(
        project=world.project,
        person=world.mara,
        roles=[Role.ANNOTATOR, Role.MANAGER],
        by=world.mara,
        now=NOON,
    )
    world.batch(size=2, seed=2, name="More types")
    assert [len(found) for found in primaries(world.mara)] == [1, 1]


def test_a_closed_batch_whose_items_wait_for_a_decision_has_no_tick(world: World) -> None:
    batch = world.batch(size=1, overlap=2, name="Types")
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)

    found = browser(world.mara).get("/projects/films/").content.decode()

    marks = re.findall(r'data-kind="(\w+)">closed<', found)
    assert set(marks) == {"look"}
    assert 'class="stage closed blocked"' in found
    of_batch = browser(world.mara).get(f"/batches/{batch.public_id}/").content.decode()
    assert re.findall(r'data-kind="(\w+)">closed<', of_batch) == ["look"]
