"""Names without a space: no form of a manager's page is wider than the page because of them, no filter takes its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page

from annotation.models import Batch, Person, Project, Source
from annotation.platform import immutable_rows
from tests.annotation.cast import World, make_world
from tests.annotation.test_release_page import labelled, released
from tests.browser.pages import settled, signed_in

pytestmark = pytest.mark.django_db(transaction=True)
Contexts = Callable[..., BrowserContext]
SIZES = {"desktop": (1366, 850), "phone": (390, 844)}
NAME = "W" * 60

TOO_WIDE = """() => {
  const main = document.querySelector("main").getBoundingClientRect();
  const wide = [...document.querySelectorAll("main select, main form")].filter(
    box => box.checkVisibility() && box.getBoundingClientRect().right > main.right + 1
  );
  const greedy = [...document.querySelectorAll("main .filters select")].filter(
    box => box.checkVisibility() && box.getBoundingClientRect().width > 300
  );
  wide.push(...greedy);
  const names = wide.map(box => `${box.localName} ${box.name || box.className}`);
  const root = document.documentElement;
  return root.scrollWidth > root.clientWidth ? [...names, "the page"] : names;
}"""


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def named_long(world: World) -> dict[str, str]:
    """Addresses of pages with selects of names, in a study in which each name is of 60 letters."""
    labelled(world, ["extraction", "reasoning", "extraction"], "a")
    first, second = released(world, f"{NAME[:58]}1"), released(world, f"{NAME[:58]}2")
    batch = world.batch(name="b")
    for number, other in enumerate(Batch.objects.order_by("pk")):
        Batch.objects.filter(pk=other.pk).update(name=f"{NAME[:59]}{number}")
    for number, person in enumerate(Person.objects.filter(memberships__project=world.project)):
        Person.objects.filter(pk=person.pk).update(name=f"{NAME[:59]}{number}")
    with immutable_rows.writable():
        Source.objects.filter(project=world.project).update(name=NAME)
    assert first != second
    slug = Project.objects.get(pk=world.project.pk).slug
    return {
        "explorer": reverse("explorer", args=[slug]),
        "explorer of a batch": reverse("batch_items", args=[batch.public_id]),
        "agreement": reverse("agreement", args=[slug]),
        "comparison": reverse("compare_releases", args=[second.public_id]),
        "new batch": reverse("batch_new", args=[slug]),
        "people of a batch": reverse("batch_people", args=[batch.public_id]),
        "people": reverse("people", args=[slug]),
        "releases": reverse("releases", args=[slug]),
        "log": reverse("project_log", args=[slug]),
        "settings": reverse("batch_settings", args=[batch.public_id]),
        "gold": reverse("gold", args=[batch.public_id]),
        "perturbations": reverse("perturbations", args=[slug]),
        "templates": reverse("study_templates", args=[slug]),
        "guidelines": reverse("guidelines", args=[slug, "answer_rating"]),
    }


def unfolded(page: Page) -> None:
    """Open every fold that has a select in it."""
    page.evaluate(
        "document.querySelectorAll('main details:has(select)').forEach(fold => { fold.open = true; })"
    )
    settled(page)


def test_no_form_is_wider_than_its_page(world: World, new_context: Contexts, live_server: Any) -> None:
    addresses = named_long(world)
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    too_wide = {}
    for name, address in addresses.items():
        response = page.goto(live_server.url + address)
        assert response is not None
        assert response.status == 200, name
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            unfolded(page)
            if boxes := page.evaluate(TOO_WIDE):
                too_wide[f"{name} on a {size}"] = boxes

    assert too_wide == {}
