"""The import of one's own data in a browser: a wrong guess is corrected while the preview follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from annotation.background import jobs, uploads
from annotation.management.commands.worker import WorkerThread
from annotation.models import Job, Source, Upload
from tests.annotation.cast import World, make_world
from tests.browser.accessibility import check_accessibility
from tests.browser.pages import HeldRequests, signed_in

ROWS = 'id;text;question;table\n1;Who won in Köln?;easy;"Name,Wins\nAnn,3"\n2;Who lost?;hard;gone.csv\n'


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_a_wrong_guess_is_corrected_and_the_good_records_are_imported(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(ROWS)
    base = live_server.url
    page = signed_in(new_context, base, world.mara, viewport={"width": 1280, "height": 850}).new_page()
    page.goto(f"{base}/projects/films/sources/import/")
    page.get_by_label("Questions file").set_input_files(path)
    page.get_by_role("button", name="Continue").click()

    expect(page.locator(".previewed .question")).to_contain_text("easy")
    page.get_by_label("Question", exact=True).select_option("text")
    expect(page.locator(".previewed .question")).to_contain_text("Who won in Köln?")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 850})
        check_accessibility(page)
        preview = page.locator("#preview").bounding_box()
        licence = page.get_by_label("Licence").bounding_box()
        assert preview is not None
        assert licence is not None
        if width == 390:
            assert preview["y"] + preview["height"] <= licence["y"], (
                "what the file holds comes before its licence"
            )
        else:
            assert licence["x"] + licence["width"] <= preview["x"]
            assert preview["y"] < licence["y"]
    page.get_by_label("Licence").fill("CC-BY-4.0")
    page.get_by_role("button", name="Import", exact=True).click()

    expect(page.get_by_role("heading", name="1 problem")).to_be_visible()
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 850})
        check_accessibility(page)
    page.get_by_role("button", name="Import the 1 good record").click()
    expect(page.get_by_role("link", name="Open the source")).to_be_visible()
    source = Source.objects.get(name="mine")
    assert (source.licence, source.examples.get().question) == ("CC-BY-4.0", "Who won in Köln?")


@pytest.mark.console_may_say("htmx:")
def test_what_is_chosen_and_typed_while_the_preview_loads_stays(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(ROWS)
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.goto(f"{live_server.url}/projects/films/sources/import/")
    page.get_by_label("Questions file").set_input_files(path)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".previewed .question")).to_contain_text("easy")
    requests = HeldRequests(page, "**/import/**")

    page.get_by_label("Question", exact=True).select_option("text")
    page.get_by_label("Licence").fill("CC0-1.0")
    first = requests.take()
    page.get_by_label("Id", exact=True).select_option("question")
    second = requests.take()
    second.continue_()
    requests.let_go()

    expect(page.locator(".previewed .question")).to_contain_text("Who won in Köln? easy")
    expect(page.get_by_label("Question", exact=True)).to_have_value("text")
    expect(page.get_by_label("Licence")).to_have_value("CC0-1.0")
    first.abort()


@pytest.fixture
def start_worker(settings: Any) -> Iterator[Callable[[], None]]:
    """Jobs wait in the database for a worker, which begins with its previews when a test says so."""
    backend = "django_tasks_db.DatabaseBackend"
    settings.TASKS = {"default": {**settings.TASKS["default"], "BACKEND": backend}}
    thread = WorkerThread(jobs.PREVIEWS, 0.05)
    yield thread.start
    thread.stop()
    if thread.is_alive():
        thread.join(10)


def test_the_page_waits_for_a_worker_and_follows_every_choice(
    world: World,
    new_context: Callable[..., BrowserContext],
    live_server: Any,
    tmp_path: Path,
    start_worker: Callable[[], None],
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(ROWS)
    pages = [
        signed_in(new_context, live_server.url, world.mara, java_script_enabled=scripts).new_page()
        for scripts in (True, False)
    ]
    for page in pages:
        page.goto(f"{live_server.url}/projects/films/sources/import/")
        page.get_by_label("Questions file").set_input_files(path)
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("status")).to_have_text("Reading the file…")
        expect(page.get_by_role("button", name="Import", exact=True)).to_have_count(0)
    check_accessibility(pages[0])
    Job.objects.update(heartbeat=jobs.clock() - 2 * jobs.SILENT)
    for page in pages:
        expect(page.get_by_role("status")).to_contain_text("No worker is running")
    check_accessibility(pages[0])

    start_worker()
    for page in pages:
        expect(page.locator(".previewed .question")).to_contain_text("easy")
    page, plain = pages
    page.get_by_label("Licence").fill("CC0-1.0")
    page.get_by_label("Question", exact=True).select_option("text")
    expect(page.locator(".previewed .question")).to_contain_text("Who won in Köln?")
    page.reload()
    expect(page.locator(".previewed .question")).to_contain_text("Who won in Köln?")
    expect(page.get_by_label("Licence")).to_have_value("CC0-1.0")
    plain.get_by_label("Citation").fill("Ann (2026)")
    plain.get_by_label("Question", exact=True).select_option("text")
    plain.get_by_role("button", name="Update the preview").click()
    expect(plain.locator(".previewed .question")).to_contain_text("Who won in Köln?")
    expect(plain.get_by_label("Citation")).to_have_value("Ann (2026)")


@pytest.mark.both
@pytest.mark.console_may_say("ERR_FAILED")
def test_a_file_in_slices_survives_a_cut_connection(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    path = tmp_path / "long.csv"
    note = "x" * 1000
    rows = "".join(f'{number},who?,"Name\nAnn",{note}\n' for number in range(6000))
    path.write_text(f"id,question,table,note\n{rows}")
    assert path.stat().st_size > uploads.SLICE
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    cut: list[str] = []

    def cut_the_second(route: Route) -> None:
        if "offset=0" in route.request.url or cut:
            route.continue_()
        else:
            cut.append(route.request.url)
            route.abort()

    page.route("**/api/uploads/*/?offset=*", cut_the_second)
    # The script of uploads is fetched after the page: before it is there, a browser sends the form as a whole.
    page.goto(f"{live_server.url}/projects/films/sources/import/", wait_until="networkidle")
    page.get_by_label("Questions file").set_input_files(path)
    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_role("heading", name="Import long.csv")).to_be_visible()
    expect(page.locator(".previewed")).to_have_count(5)
    assert len(cut) == 1
    (upload,) = Upload.objects.filter(name="long.csv")
    assert upload.file.size == path.stat().st_size
