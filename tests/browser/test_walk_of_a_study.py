"""A whole study by clicks: from an empty site to a verified release of FREB-TQA part 3, with simulated annotators.

The manager clicks; the annotators are those of the command `simulate`, which work between the clicks. The clicks and seconds
of each step are those of docs/performance.md: run with -s to see them.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, FilePayload, expect

from annotation.management import doctor, simulation
from annotation.models import Batch, Person, Project, Source
from annotation.platform import immutable_rows
from annotation.queue import resolutions
from annotation.releases import verification
from annotation.study_file import apply, current_state, project_export, study_templates
from annotation.study_file.parser import parse
from annotation.study_file.schema import BatchSpec
from annotation.workflow import automatic_decisions, projects
from tests.annotation.cast import FILMS
from tests.browser.clicking import Clicker
from tests.browser.pages import signed_in

NewContext = Callable[..., BrowserContext]
QUESTIONS = 8
CREW = 5
MOST_CLICKS = {
    "Create the project": 2,
    "Import the questions": 2,
    "Create the batches from the template": 4,
    "Invite the annotators": 3,
    "Become an adjudicator, too": 3,
    "Close all batches": 14,
    "Create the release": 6,
}
ADDRESSES = "ada@example.org, bo@example.org, cy@example.org, dee@example.org, eli@example.org"
IN_ORDER = [one.name for one in study_templates.load_templates()["freb_tqa"].study.batches]


def files() -> tuple[FilePayload, FilePayload]:
    """Questions about films as WikiTableQuestions writes them, and a zip with their table."""
    rows = ["id\tutterance\tcontext\ttargetValue"]
    for number in range(QUESTIONS):
        film, year, _ = FILMS[number % len(FILMS)]
        rows.append(f"nu-{number}\twhen did {film} come out ({number})?\tcsv/1-csv/1.csv\t{year}")
    lines = [["Film", "Year", "Minutes"], *FILMS]
    table = "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines) + "\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("csv/1-csv/1.csv", table)
    questions = "\n".join(rows).encode() + b"\n"
    return (
        {"name": "films-dev.tsv", "mimeType": "text/tab-separated-values", "buffer": questions},
        {"name": "tables.zip", "mimeType": "application/zip", "buffer": packed.getvalue()},
    )


def simulated(batch: Batch) -> None:
    """People work the batch to its end."""
    simulation.simulate(batch=batch, annotators=CREW, seed=2, accuracy=0.9, now=timezone.now())
    if batch.decides:
        automatic_decisions.resolve_batch(batch=batch, now=timezone.now())


@pytest.mark.django_db(transaction=True)
def test_a_manager_walks_a_whole_study_by_clicks(
    new_context: NewContext, live_server: Any, tmp_path: Path
) -> None:
    person = Person.objects.create_person("Mara", "mara@example.org", "tilted tables", is_administrator=True)
    mara = Clicker(signed_in(new_context, live_server.url, person).new_page(), live_server.url)
    page = mara.page
    mara.begins()

    mara.link("New project")
    page.get_by_label("Name", exact=True).fill("Films")
    mara.button("Create project")
    mara.has_done("Create the project")

    questions, tables = files()
    page.get_by_label("Questions file").set_input_files([questions])
    page.get_by_label("Tables").set_input_files([tables])
    mara.button("Continue")
    mara.button("Import")
    mara.reads(f"done {QUESTIONS} of {QUESTIONS}")
    mara.has_done("Import the questions")

    mara.link("Films")
    mara.link("Start from a template")
    mara.button("FREB-TQA part 3")
    mara.button("Create 9 batches")
    mara.reads("9 batches were created.")
    mara.has_done("Create the batches from the template")
    project = Project.objects.get(slug="films")

    mara.link("People")
    page.get_by_label("E-mail addresses").fill(ADDRESSES)
    page.get_by_label("Annotator:").click()
    mara.button("Create invitation links")
    expect(page.get_by_label("All links")).to_be_visible()
    mara.has_done("Invite the annotators")

    mara.goes(page.get_by_role("link", name="Change the roles of Mara"))
    page.get_by_label("Adjudicator:").click()
    mara.button("Save")
    mara.has_done("Become an adjudicator, too")

    for name in IN_ORDER:
        batch = Batch.objects.get(project=project, name=name)
        simulated(batch)
        mara.waits_for_others()
        waiting = resolutions.waiting(batch).count()
        if waiting:
            decide(mara, batch, waiting)
            mara.has_done(f"Adjudicate “{name}” ({waiting})")

    comes_to_the_project(mara)
    page.get_by_text("Batches as a table", exact=True).click()
    for name in IN_ORDER:
        page.get_by_role("checkbox", name=name, exact=True).click()
    page.get_by_label("Selected batches").select_option("close")
    mara.button("Continue")
    mara.button("Close")
    mara.has_done("Close all batches")

    mara.link("Releases")
    page.get_by_label("Name").fill("1.0")
    page.get_by_label("freb_tqa").click()
    page.get_by_label("Include simulated people").click()
    unchecked = page.get_by_label(re.compile("without a blind answer"))
    if unchecked.count():
        unchecked.click()
    mara.button("Create release")
    mara.link("Open the release")
    mara.reads("1.0")
    mara.has_done("Create the release")

    with page.expect_download() as download:
        page.locator("main a", has_text="Download").first.click()
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(tmp_path / "release")
    verification.verify(tmp_path / "release")
    assert list(doctor.findings()) == []
    clicks = {step.name: step.clicks for step in mara.steps}
    assert {name: clicks[name] for name in MOST_CLICKS if clicks[name] > MOST_CLICKS[name]} == {}
    the_export_plans_the_same_elsewhere(project, tmp_path)


def comes_to_the_project(mara: Clicker) -> None:
    """From the pages of a project by the way back at their top; from the lane of adjudication by the list of projects."""
    if not mara.page.get_by_role("link", name="Films", exact=True).count():
        mara.link("Projects")
    mara.link("Films")


def decide(mara: Clicker, batch: Batch, waiting: int) -> None:
    """From the project's page over the batch to the lane, and one decision after the other."""
    page = mara.page
    comes_to_the_project(mara)
    mara.link(batch.name)
    mara.link(f"Adjudicate {waiting}")
    mara.link("Start adjudicating")
    for left in range(waiting, 0, -1):
        item = page.locator("form[data-item-id]").get_attribute("data-item-id")
        page.get_by_label("Choose response A").first.click()
        page.get_by_role("button", name=re.compile("^Decide")).last.click()
        if left > 1:
            expect(page.locator(f"form[data-item-id='{item}']")).to_have_count(0)
            expect(page.locator("askew-adjudicate:is([data-sending], [data-resting])")).to_have_count(0)
        else:
            mara.reads("All caught up")


def the_export_plans_the_same_elsewhere(project: Project, folder: Path) -> None:
    """Applied to a new project, the exported file makes what the template made: the same batches, numbers and costs."""
    text = project_export.export_study(current_state.of_project(project, now=timezone.now()), people=False)
    exported = replace(parse(text), slug="again")
    assert not apply.plan_for_project(replace(exported, slug="films"), project, now=timezone.now()).does
    path = files_in(folder)
    looked = apply.probe_sources(exported, folder=folder, files={"films-dev": path})
    plan = apply.plan_for_project(exported, None, now=timezone.now(), probes=looked)
    assert not plan.cannot

    template = study_templates.load_templates()["freb_tqa"].study
    assert [shape(one) for one in exported.batches] == [shape(one) for one in template.batches]
    mara = Person.objects.get(email="mara@example.org")
    elsewhere = projects.create_project(slug="elsewhere", name="Elsewhere", manager=mara, now=timezone.now())
    with immutable_rows.writable():
        Source.objects.update(project=elsewhere)
    draft = study_templates.draft(
        study_templates.load_templates()["freb_tqa"],
        project=elsewhere,
        source=Source.objects.get(),
        now=timezone.now(),
    )
    assert list(plan.costs) == list(draft.plan.costs)


def shape(work: BatchSpec) -> tuple[Any, ...]:
    return (work.name, work.type, work.feeds_from, work.feeds_when, work.overlap, work.seed, work.open)


def files_in(folder: Path) -> Path:
    """The imported files, as somebody else has them."""
    questions, tables = files()
    with zipfile.ZipFile(io.BytesIO(tables["buffer"])) as archive:
        archive.extractall(folder)
    path = folder / questions["name"]
    path.write_bytes(questions["buffer"])
    return path
