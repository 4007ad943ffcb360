"""Menus of pages without scripts: links to files beside a figure, and links to pages in the navigation."""

from __future__ import annotations

from django.test import Client

from annotation.models import Batch
from tests.annotation.cast import World
from tests.annotation.elements import Element, parsed
from tests.annotation.test_dashboards import timed


def read(world: World, url: str) -> Element:
    client = Client()
    client.force_login(world.mara)
    return parsed(client.get(url).content.decode())


def test_each_form_of_a_figure_is_a_download(world: World) -> None:
    batch = timed(world, 8)
    page = read(world, f"/projects/films/agreement/?batch={batch.public_id}")
    menu = page.find("section", aria_labelledby="chart-weeks").find("details", class_="pop figure-menu")
    links = menu.all("a")

    assert [link.text for link in links] == [
        f"Download {format}" for format in ("LaTeX", "Markdown", "CSV", "SVG", "PDF", "PNG")
    ]
    client = Client()
    client.force_login(world.mara)
    file = client.get(str(links[2].attributes["href"]))
    assert file["Content-Disposition"].startswith("attachment")
    assert file["Content-Disposition"].rstrip('"').endswith("-agreement-weeks.csv")


def test_the_menu_of_the_navigation_leads_to_its_pages(world: World) -> None:
    menu = read(world, "/projects/films/people/").find("details", class_="menu")
    (log,) = [link for link in menu.all("a") if link.text == "Audit log"]

    page = read(world, str(log.attributes["href"]))

    assert [heading.text for heading in page.all("h1")] == ["Audit log"]


def test_a_batch_is_created_from_the_gallery_with_a_link_and_a_button(world: World) -> None:
    gallery = "/projects/films/batches/new/"
    (link,) = read(world, gallery).all("a", href="?kind=question_type")
    assert "hidden" not in link.attributes
    form = read(world, f"{gallery}{link.attributes['href']}").find("form", class_="stack new-batch")
    assert "Create batch" in [button.text for button in form.all("button", class_="primary")]
    client = Client()
    client.force_login(world.mara)

    client.post(gallery, as_sent(form))

    assert Batch.objects.get().state == "open"


def as_sent(form: Element) -> dict[str, list[str]]:
    """The fields of a form as a browser sends them, unchanged."""
    sent: dict[str, list[str]] = {}
    for field in form.all("input"):
        kind, given = field.attributes.get("type"), field.attributes
        if "disabled" in given or (kind in ("checkbox", "radio") and "checked" not in given):
            continue
        sent.setdefault(str(given.get("name")), []).append(
            given.get("value") or ("on" if kind == "checkbox" else "")
        )
    for select in form.all("select"):
        options = select.all("option")
        chosen = [each for each in options if "selected" in each.attributes] or options[:1]
        sent[str(select.attributes["name"])] = [str(each.attributes["value"]) for each in chosen]
    for area in form.all("textarea"):
        sent[str(area.attributes["name"])] = [area.text]
    return sent
