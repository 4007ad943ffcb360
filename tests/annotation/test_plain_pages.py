"""Annotating and practising without scripts: what the server makes of a form, and what the pages of scripts lead to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django.test import Client

from annotation.models import Annotation, Batch, Draft
from tableqa import Example, Table
from tests.annotation.cast import World

SHOWN_LINE = re.compile(r"<li(?![^>]*\bhidden\b)[^>]*data-holds")
"""The start of a line of the checklist that is listed."""
STATIC = Path(__file__).resolve().parents[2] / "static"
IMPORT = re.compile(r"""^(?:import|export)\b[^;]*?["']\./([\w-]+\.js)["']""", re.MULTILINE)


def films(number: int) -> Example:
    rows = [(f"film {row}", str(1900 + row % 100)) for row in range(number)]
    return Example(id="long", question="when?", answers=("1900",), table=Table(("Film", "Year"), rows))


def page_of(client: Client, batch: Batch, query: str = "?plain=1") -> str:
    return client.get(f"/batches/{batch.public_id}/annotate/{query}").content.decode()


def posted(client: Client, batch: Batch, page: str, action: str, **fields: Any) -> str:
    """The page after one of its buttons was pressed, with what its hidden fields say."""
    hidden = dict(re.findall(r'<input type="hidden" name="(assignment|base|version)" value="([^"]*)"', page))
    address = f"/batches/{batch.public_id}/annotate/?plain=1"
    reply = client.post(address, {**hidden, **fields, "action": action}, follow=True)
    assert reply.status_code == 200
    return str(reply.content.decode())


def test_a_huge_table_is_sent_once_and_the_plain_page_has_every_row(world: World, client: Client) -> None:
    batch = world.batch("relevant_cells", sources=[world.import_written(films(1001))], overlap=1)
    client.force_login(world.ada)
    page = page_of(client, batch, "")
    assert "data-column=" not in page
    assert page.count("film 700") == 1
    refresh = re.search(r'<noscript><meta http-equiv="refresh" content="0;url=([^"]*)">', page)
    assert refresh, "without scripts the browser goes to the plain page"

    plain = page_of(client, batch, refresh[1].replace("&amp;", "&"))
    assert plain.count("<tr data-row=") == 1001
    field = re.search(r'<input type="checkbox" name="(\w+)" value="r700/c1"', plain)
    assert field
    saved = posted(client, batch, plain, "save", **{field[1]: "r700/c1"})
    assert re.search(r'value="r700/c1"[^>]* checked', saved)
    assert not Annotation.objects.exists()


def test_the_checklist_of_the_plain_page_lists_what_is_missing(world: World, client: Client) -> None:
    batch = world.batch("value_change", variant="answer_stays", overlap=1)
    client.force_login(world.ada)
    page = page_of(client, batch)
    assert len(SHOWN_LINE.findall(page)) == 1
    changed = posted(client, batch, page, "apply", row="r1", column="c2", value="7")
    assert changed.count("<li><span") == 1
    assert re.search(
        r"<li[^>]*\bhidden\b[^>]*table_unchanged|<li[^>]*table_unchanged[^>]*\bhidden\b", changed
    )
    assert len((Draft.objects.get().response or {})["data"]["operations"]) == 1


def test_practice_says_whether_it_was_right_why_and_what_comes_next(world: World, client: Client) -> None:
    address = "/projects/films/practice/question_type/?plain=1"
    client.force_login(world.ada)
    assert re.search(r"<[^>]*data-feedback[^>]*\bhidden\b", client.get(address).content.decode())
    wrong = client.post(address, {"label": "unanswerable", "action": "submit"}).content.decode()
    assert not re.search(r"<[^>]*data-feedback[^>]*\bhidden\b", wrong)
    assert "Not correct" in wrong
    assert re.search(r"Why:</strong> \w", wrong)
    right = client.post(address, {"label": "extraction", "action": "submit"}).content.decode()
    assert "Correct" in right
    following = re.search(r'href="([^"]*)"[^>]*>Next exercise', right)
    assert following
    page = client.get(address.split("?")[0] + following[1].replace("&amp;", "&")).content.decode()
    question = r'<p class="question"[^>]*>([^<]*)'
    assert re.findall(question, page) != re.findall(question, right)
    assert re.search(r"<[^>]*data-feedback[^>]*\bhidden\b", page)


def test_past_work_and_the_guidelines_of_an_item_lead_to_practice(world: World, client: Client) -> None:
    batch = world.batch("value_change", variant="answer_changes")
    client.force_login(world.ada)
    item = page_of(client, batch, "")
    address = re.search(r'<a[^>]*href="([^"]*)"[^>]*>Practise this task type', item)
    assert address
    work = client.get("/work/").content.decode()
    link = re.search(r'<a[^>]*href="([^"]*)"[^>]*aria-label="Practise Value change', work)
    assert link
    for found in (address[1], link[1]):
        page = client.get(found.replace("&amp;", "&")).content.decode()
        where = page[page.index('<div class="where"') :]
        assert "Practice: Value change" in re.sub(r"\s+", " ", where[: where.index("</div>")])
        assert "Practise this task type" not in page


def test_where_a_table_is_only_read_no_module_is_loaded_that_edits(world: World, client: Client) -> None:
    client.force_login(world.ada)
    page = page_of(client, world.batch(overlap=1), "")
    loaded: set[str] = set()
    waiting = re.findall(r'(?:src|href)="[^"]*/askew/([\w-]+\.js)', page)
    while waiting:
        name = waiting.pop()
        if name in loaded:
            continue
        loaded.add(name)
        waiting += IMPORT.findall((STATIC / "askew" / name).read_text("utf-8"))
    edits = {"editing", "structuring", "changing", "edits", "operations", "contract", "editor", "clipboard"}
    assert {"grid.js", "annotate.js", "keys.js"} <= loaded
    assert not {f"{name}.js" for name in edits} & loaded
