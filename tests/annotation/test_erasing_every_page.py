"""A person who was erased is nowhere, after every page was visited and every export made.

On PostgreSQL alone: what SQLite does in its own way, `test_erasing.py` and `test_erased_names.py` show.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.test import Client
from django.urls import resolve, reverse

from annotation.accounts import erasure
from annotation.models import Person
from annotation.releases import creation
from tests.annotation.cast import NOON, World
from tests.annotation.role_table import API, PAGES, Things, make_things
from tests.annotation.test_erasing import LATER, NAME, database, files, her, holding, world

__all__ = ["her", "world"]  # fixtures

LINK = re.compile(r'href="(/[^"#]+)"')


def form_of(link: str) -> tuple[object, ...]:
    """What links of one form have in common: the page, what is asked of it, and of figures the figure, or another format."""
    parts = urlsplit(link)
    page, asked = resolve(parts.path), parse_qs(parts.query)
    if page.url_name == "figure_file":
        of_figure = {name: value for name, value in page.kwargs.items() if name != "key"}
        return (
            "figure",
            *(of_figure.values() if page.kwargs["format"] == "csv" else [page.kwargs["format"]]),
        )
    return (page.url_name, *sorted(asked), *asked.get("format", []), *asked.get("part", []))


def visit_everything(things: Things, *, follow: bool) -> dict[str, str]:
    """Every page and every reply of the API, as somebody gets it who may; with `follow`, each form of link there, too."""
    shown: dict[str, str] = {}
    readers = {reverse(name, args=row[0](things)): row[1] for name, row in PAGES.items() if row[1]}
    reads = {name: calls["get"] for name, calls in API.items() if "get" in calls}
    readers |= {reverse(name, args=call[0](things)): call[2] for name, call in reads.items()}
    seen: set[tuple[object, ...]] = set()
    for who in ("mara", "ivo", "ada", "root", "pat"):
        client = Client()
        client.force_login(things.world.people[who])
        ahead = [address for address, may in readers.items() if who in may and address not in shown]
        for address in ahead:
            response = client.get(address)
            body = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
            shown[address] = text = body.decode("utf-8", "replace")
            for link in map(html.unescape, LINK.findall(text) if follow and address in readers else ()):
                if not link.startswith(("/static/", "/language")) and form_of(link) not in seen:
                    seen.add(form_of(link))
                    ahead.append(link)
    return shown


def test_her_name_is_nowhere_once_every_page_was_visited_and_every_export_made(
    world: World, her: Person, tmp_path: Path
) -> None:
    things = make_things(world)
    batch = her.assignments.earliest("pk").batch
    batch.set_aside_because = f"{NAME} knew the answers."
    batch.save()
    LogEntry.objects.create(
        user=world.people["root"],
        content_type=ContentType.objects.get_for_model(Person),
        object_id=str(her.pk),
        object_repr=NAME,
        action_flag=2,
        change_message="[]",
        action_time=NOON,
    )
    before = visit_everything(things, follow=True)
    assert any(NAME in text for text in before.values())
    assert {"csv", "jsonl", "parquet", "xlsx"} <= {address.rpartition("format=")[2] for address in before}
    assert len([address for address in before if address.startswith("/figures/")]) > 40
    for form in ("csv", "xlsx", "label_studio", "argilla"):
        call_command("export_release", creation.folder(things.release), tmp_path / f"to-{form}", "--to", form)
    tables = {text.partition(" ")[0] for text in holding(database())}
    assert tables >= {"annotation_snapshot", "annotation_indexeditem", "django_admin_log", "annotation_batch"}

    erasure.erase(person=her, by=her, now=LATER)

    assert holding(database()) == []
    assert holding(files(Path(settings.MEDIA_ROOT))) == []
    after = visit_everything(things, follow=False)
    assert holding(f"{address} {text}" for address, text in after.items()) == []
    assert holding(database()) == []
