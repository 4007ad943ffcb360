"""A world with a payload in every text that anybody can write."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from django.apps import apps
from django.db import DatabaseError, models, transaction

from annotation.models import Batch, Gold, Item, Membership, Project
from annotation.platform import immutable_rows
from annotation.quality import annotator_questions, consent, guidelines
from annotation.workflow import assignments
from tableqa import Example, Table
from tasks.contract import task_type
from tests.annotation.cast import NOON, World, envelope
from tests.annotation.role_table import Things, make_things
from tests.attacks.payloads import PAYLOADS, SHORT

OURS = {
    "public_id",
    "digest",
    "table_digest",
    "settings_digest",
    "checksum",
    "token_hash",
    "prefix",
    "password",
    "email",
    "time_zone",
    "slug",
    "pseudonym",
    "task_type",
    "variant",
    "reader",
    "format",
    "state",
    "thing",
    "before",
    "after",
    "strategy",
    "help",
    "kind",
    "key",
    "language",
    "verdict",
    "file",
    "purpose",
    "return_url",
    "set_aside_because",
    "mail_notices",
}
"""Texts that the platform writes, or takes from a list, or a form checks; nobody can put words of their own there."""


def table() -> Table:
    """Every payload in a cell or a header, under a title and a caption that are some, too."""
    cells = [text.replace("\n", " ") for text in SHORT]
    header = [f"{text} {number}" for number, text in enumerate(cells[:6])]
    body = cells[6:]
    body += [""] * (-len(body) % 6)
    rows = [body[start : start + 6] for start in range(0, len(body), 6)]
    rows[0][1] = "1995"
    return Table(header, rows, title=f"{SHORT[3]} title", caption=f"{SHORT[4]} caption")


def examples(number: int = 8) -> list[Example]:
    whole = table()
    some = Table(whole.header, whole.rows[:6], title=whole.title, caption=whole.caption)
    return [
        Example(
            id=f"{SHORT[at]} {at}",
            question=f"when did {PAYLOADS[at * 17]} come out ({at})?",
            table=whole if at == 0 else some,
            answers=(whole.rows[0][2],),
        )
        for at in range(number)
    ]


def poison(model: type[models.Model], payloads: Any) -> set[str]:
    """Put payloads into the texts of every row of a table; which fields took them."""
    taken: set[str] = set()
    is_partly_immutable = model._meta.db_table in immutable_rows.PARTLY_IMMUTABLE
    change = immutable_rows.writable if is_partly_immutable else transaction.atomic
    for field in model._meta.concrete_fields:
        free = isinstance(field, models.CharField | models.TextField) and not field.choices
        if not free or field.name in OURS:
            continue
        for row in model._default_manager.all():
            most = field.max_length or 5000
            assert any(len(payload) + 6 <= most for payload in SHORT), f"{field} is in no list of ours"
            text = next(one for one in payloads if len(one) + 6 <= most)
            if field.unique or field.name in ("name", "external_id"):
                text = f"{text} {row.pk}"
            try:
                with change():
                    model._default_manager.filter(pk=row.pk).update(**{field.name: text})
                taken.add(f"{model.__name__}.{field.name}")
            except DatabaseError:  # rows that are never changed are checked through what is made of them
                break
    return taken


def poisoned_world(world: World) -> tuple[Things, set[str]]:
    """One of everything, over a source of payloads, with payloads in every text; and the fields that have one."""
    payloads = cycle(PAYLOADS)
    world.source = world.import_written(*examples())
    project = world.project
    everything = "# Guidelines\n\n" + "\n\n".join(PAYLOADS)
    guidelines.revise(
        project=project,
        task=task_type("question_type"),
        text=everything,
        person=world.mara,
        now=NOON,
        translations={"de": f"# Auf Deutsch\n\n{everything}"},
    )
    things = make_things(world)
    consent.write(project=project, text=everything, by=world.mara, now=NOON)
    Project.objects.filter(pk=project.pk).update(consent_number=0)  # it is shown, and stops nobody
    annotator_questions.ask(
        project=project, person=world.ada, assignment=things.assignment, text="?", now=NOON
    )
    assignments.flag(assignment=things.assignment, note="?", now=NOON)
    Gold.objects.create(
        item=Item.objects.filter(batch=things.batch).latest("pk"),
        expected=envelope(things.assignment, {"label": "reasoning"}),
        why="x",
        made_by=world.mara,
        made_at=NOON,
    )
    fields: set[str] = set()
    for model in apps.get_app_config("annotation").get_models():
        fields |= poison(model, payloads)
    Membership.objects.update(characteristics={"languages": SHORT[9]})
    Project.objects.filter(pk=project.pk).update(statement={"rationale": SHORT[10]})
    Batch.objects.filter(pk=things.batch.pk).update(name=f"{SHORT[11]} open")
    return things, fields
