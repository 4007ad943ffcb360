"""Pages with the scripts and style sheets that a site ships do what they do with those of the tree."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.finders import get_finders
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Annotation
from config.static_files import HashedStaticFilesStorage
from tests.annotation.cast import World, make_world
from tests.browser.pages import signed_in, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)
NewContext = Callable[..., BrowserContext]
OF_OTHERS = ("admin/", "drf_spectacular_sidecar/", "rest_framework/")


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `collectstatic` leaves it, of our files and Pico."""
    folder = tmp_path_factory.mktemp("static")
    storage = HashedStaticFilesStorage(location=folder, base_url="/static/")
    found = {}
    for finder in get_finders():
        for path, source in finder.list([]):
            if not path.startswith(OF_OTHERS):
                found[path] = (source, path)
                with source.open(path) as file:
                    storage.save(path, file)
    assert not [one for one in storage.post_process(found) if isinstance(one[2], Exception)]
    return folder


@pytest.fixture
def shipped(
    new_context: NewContext, live_server: Any, collected: Path, settings: Any
) -> Iterator[Callable[[Any], Page]]:
    """Opens a browser for somebody in which pages name the files that are shipped, and get them."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {
            "BACKEND": "config.static_files.HashedStaticFilesStorage",
            "OPTIONS": {"location": str(collected), "base_url": "/static/"},
        },
    }
    asked: list[str] = []

    def answer(route: Route) -> None:
        file = collected / route.request.url.partition("/static/")[2]
        asked.append(file.name)
        kind = mimetypes.guess_type(file.name)[0] or "text/plain"
        route.fulfill(body=file.read_bytes(), content_type=kind)

    def opened(person: Any) -> Page:
        context = signed_in(new_context, live_server.url, person)
        context.route("**/static/**", answer)
        return context.new_page()

    yield opened
    for name in ("askew", "grid", "annotate"):
        assert [one for one in asked if re.fullmatch(rf"{name}\.[0-9a-f]{{12}}\.(js|css)", one)]
    assert not [one for one in asked if one in ("askew.css", "grid.js", "annotate.js")]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_pages_of_annotating_take_keys(
    world: World, shipped: Callable[[Any], Page], live_server: Any
) -> None:
    """Of task types whose scripts import modules from inside the workbench and from beside it."""
    page = shipped(world.ada)
    for kind in ("question_type", "header_synonym", "column_extension", "short_table"):
        batch = world.batch(kind)
        page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
        takes_keys(page)
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.locator("dialog[open]"), kind).to_be_visible()


def test_a_value_is_changed_and_handed_in(
    world: World, shipped: Callable[[Any], Page], live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_changes")
    page = shipped(world.ada)
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    takes_keys(page)
    question = page.locator(".question").inner_text()
    page.locator("td[data-column=c0]").first.click()
    page.keyboard.press("ArrowRight")
    expect(page.locator("td[data-column=c1]").first).to_be_focused()
    for text in ("F2", "Control+a"):
        page.keyboard.press(text)
    page.keyboard.type("1996")
    page.keyboard.press("Enter")
    page.locator("[data-field=answers] textarea, textarea[data-field=answers]").first.fill("1996")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".question")).not_to_have_text(question)
    (response,) = Annotation.objects.values_list("response__data", flat=True)
    assert [step["new"] for step in response["operations"]] == ["1996"]
