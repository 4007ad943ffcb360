"""A study with items in every phase, its readers, every page that they may open, and worlds that differ in one fact."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from typing import Any

from django.test import Client
from django.urls import reverse

from annotation.access.roles import Permission, Role, permissions
from annotation.explorer import index
from annotation.models import (
    Assignment,
    Batch,
    Event,
    Example,
    Gold,
    IndexedItem,
    Item,
    Job,
    Membership,
    Person,
    Release,
    ResponseFact,
    Slot,
)
from annotation.platform import immutable_rows
from annotation.quality import snapshots
from annotation.queue import candidates
from annotation.releases import creation
from annotation.workflow import adjudication, automatic_decisions, batches, projects
from tests.annotation import role_table
from tests.annotation.cast import NOON, World
from tests.annotation.test_gold import examples, mark
from tests.undone import undone

LATER = NOON + timedelta(minutes=5)
ROLE_SETS = [frozenset(some) for size in range(1, 6) for some in combinations(Role, size)]
INVOLVED = {"yan": False, "zoe": True}
"""Two people whose roles are changed: Zoe has items of the open batches, Yan has none."""


@dataclass
class Study:
    """The study. `items`: one in each phase, by its name."""

    world: World
    open: Batch
    answering: Batch
    release: Release
    items: dict[str, Item]


def make_study(world: World) -> Study:
    """A closed batch, half of it released, an open one with gold that another batch takes items from, and one that asks
    for answers; a planned and a calibration batch.
    """
    yan = Person.objects.create_person("Yan", "yan@example.org", "tilted tables")
    world.people["yan"] = yan
    for who in INVOLVED:
        person = world.people[who]
        projects.add_member(
            project=world.project, person=person, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
        )
    names = [one.external_id for one in examples(world)]
    items: dict[str, Item] = {}
    closed = world.batch(name="Closed", only=names[:2], overlap=2)
    items["released"] = _both(world, closed, "extraction", "extraction")
    release = creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)
    items["closed"] = _both(world, closed, "extraction", "reasoning", choose="A")
    batches.close_batch(batch=closed, by=world.mara, now=NOON)
    calibration = world.batch(name="Round", only=names[2:3], overlap=2, purpose="calibration")
    items["calibration"] = _both(world, calibration, "extraction", "reasoning")
    batch = world.batch(name="Open", only=names[2:9], overlap=2, gold_percent=25, open=False)
    items["gold"] = mark(world, batch, examples(world)[10], "reasoning").item
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    Batch.objects.filter(pk=batch.pk).update(gold_percent=0)  # so that nobody's turn is one of gold
    batch.refresh_from_db()
    items["accepted"] = _both(world, batch, "extraction", "extraction")
    items["adjudication"] = _both(world, batch, "extraction", "reasoning")
    items["adjudicated"] = _both(world, batch, "extraction", "reasoning", choose="B")
    items["begun"] = world.label(batch, "ada", "extraction").assignment.item
    held = [world.take(batch, who) for who in ("bo", "zoe", "zoe")]
    assert held[0] is not None
    assert held[0].item_id == items["begun"].pk
    assert held[1] is not None
    items["own"] = held[1].item
    untouched = Item.objects.filter(batch=batch, assignments__isnull=True, is_gold=False)
    items["open"] = untouched.order_by("position")[0]
    Batch.objects.filter(pk=batch.pk).update(gold_percent=25)
    # What is accepted in the worlds of this module is not taken: to annotators of both batches their items tell of it.
    world.batch(name="Next", feeds_from=batch, feeds_when={"label": ["reasoning"]}, sources=[])
    world.batch(name="Planned", only=names[3:5], open=False)
    Job.objects.create(project=world.project, kind="import", made_by=world.mara, made_at=NOON, heartbeat=NOON)
    answering = world.batch("answer_check", name="Answers", only=names[9:11])
    asked = world.take(answering, "zoe")
    assert asked is not None
    items["answering"] = asked.item
    return Study(world, Batch.objects.get(pk=batch.pk), answering, release, items)


def _both(world: World, batch: Batch, one: str, other: str, *, choose: str = "") -> Item:
    """Ada's and Bo's responses to the next item, and what follows from them; `choose`: what Ivo decides."""
    item: Item = world.label(batch, "ada", one).assignment.item
    assert world.label(batch, "bo", other).assignment.item_id == item.pk
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    if choose:
        adjudication.decide(item=item, by=world.ivo, choose=[choose], note="It is.", now=NOON)
    return Item.objects.get(pk=item.pk)


# -- who reads --------------------------------------------------------------------------------------


def with_roles(study: Study, who: str, roles: frozenset[Role]) -> Person:
    person = study.world.people[who]
    Membership.objects.filter(project=study.world.project, person=person).update(roles=sorted(roles))
    return person


def readers() -> list[tuple[str, frozenset[Role]]]:
    """Everybody who may see progress, once for each set of permissions."""
    found = {}
    for roles in reversed(ROLE_SETS):
        granted = permissions(list(roles))
        if Permission.SEE_PROGRESS in granted:
            found[granted] = roles
    return [(who, roles) for roles in found.values() for who in INVOLVED]


# -- what they read ---------------------------------------------------------------------------------

READ = role_table.PROGRESS | {"mara"}
OTHERS = {
    *("import_preview", "responses_preview", "import_rest", "crowd_link", "crowd_back", "crowd_enter"),
    *("reset_password", "join", "healthz", "readyz", "words", "set_language", "sign_in", "forgotten"),
}
"""Pages that need a file or a link of their own and show no item, and those for everybody."""
FILTERS = (
    *("state=adjudication", "state=complete", "gold=yes", "differs=yes", "in_progress=yes", "answered=no"),
    *("adjudicated=yes", "assignment=not_started", "sort=answered", "label=label:reasoning", "unsure=no"),
    *("pair=label:extraction~reasoning", "q=1979", "q=reasoning", "part=annotations", "part=undecided"),
    *(
        "lost=yes",
        "lost=no",
        "failed_gold=yes",
        "sent_back=no",
        "noted=no",
        "not=q&q=1979",
        "sort=table.rows",
    ),
    *(
        "not=label&label=label:reasoning",
        "or=label&or=state&label=label:reasoning&state=accepted",
        "not=gold&gold=yes",
    ),
    *("not=state&state=accepted", "not=in_progress&in_progress=yes", "sample=2", "facet=table.rows"),
)


def pages(study: Study, item: Item) -> list[str]:
    """The addresses of all pages that show something of the project, with this item where they are about one."""
    batch, slug = item.batch, study.world.project.slug
    job = Job.objects.get(project=study.world.project, kind="import")
    member = Membership.objects.get(person=study.world.cy)
    nothing: Any = None
    things = role_table.Things(
        study.world, batch, item, study.release, job, nothing, "", nothing, member, nothing
    )
    rows = role_table.PAGES.items()
    reads = {name: row[0] for name, row in rows if row[1] and row[1] & READ and name not in OTHERS}
    found = [reverse(name, args=arguments(things)) for name, arguments in reads.items()]
    found.append(reverse("example", args=[item.example.public_id]))
    found.append(reverse("source", args=[item.example.source.public_id]))
    found += [f"/figures/log/{slug}/log.csv", f"/figures/batch/{batch.public_id}/counts.csv"]
    found += [f"/figures/source/{item.example.source.public_id}/questions.csv"]
    found += [
        f"/figures/item/{item.public_id}/history.csv",
        f"/figures/calibration/{batch.public_id}/responses.csv",
    ]
    found += [f"/projects/{slug}/log/?thing={thing}" for thing in ("assignment", "item", "gold")]
    found += ["/api/batches/", f"/api/projects/{slug}/items/", *of_people(study)]
    return list(dict.fromkeys(found))


def about(study: Study, batch: Batch) -> list[str]:
    """The pages of a batch, whatever it has to do with an item."""
    pages = ["", *(f"{name}/" for name in ("open", "close", "people", "quality", "report", "gold"))]
    pages += [f"settings/{name}/" for name in ("general", "rule", "entry", "gold", "fixed", "change")]
    found = [f"/batches/{batch.public_id}/{page}" for page in pages]
    return [*found, f"/projects/{study.world.project.slug}/explorer/?batch={batch.public_id}", "/work/", "/"]


def of_people(study: Study) -> list[str]:
    """Each filter of the explorer, and what is asked for by the name of a person."""
    slug = study.world.project.slug
    rows = Membership.objects.filter(person__in=[study.world.ada, study.world.bo])
    names = sorted(rows.values_list("pseudonym", flat=True))
    found = [f"/api/projects/{slug}/items/?{query}" for query in (*FILTERS, f"person={names[0]}")]
    found.append(f"/projects/{slug}/explorer/export/?format=jsonl&person={names[1]}")
    return [*found, f"/projects/{slug}/log/?who={names[0]}"]


CHANGES = re.compile(
    rb'(name="(?:csrfmiddlewaretoken|request)" value="|X-CSRFToken": "|"(?:made_at|last_login)": "20)[\w+/=:.-]+'
)
"""What differs each time a page is shown."""


def read(client: Client, addresses: list[str]) -> dict[str, bytes]:
    """What these addresses show, errors too."""
    found = {}
    for address in addresses:
        response = client.get(address)
        body = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
        moved = response.headers.get("Location", "").encode()
        found[address] = CHANGES.sub(b"", b"%d %s " % (response.status_code, moved) + body)
    return found


# -- worlds that differ in one fact -----------------------------------------------------------------


def answered(label: str) -> Callable[[Study], None]:
    """Bo answers the item that Ada has answered with "extraction"."""

    def change(study: Study) -> None:
        bo = Assignment.objects.get(item=study.items["begun"], person=study.world.bo)
        study.world.answer(study.world.reload(bo), {"label": label}, now=LATER)
        automatic_decisions.resolve_batch(batch=study.open, now=LATER)

    return change


def decided(label: str) -> Callable[[Study], None]:
    """Ivo accepts a label of an item on which Ada and Bo differ. The batch that is fed takes reasoning."""

    def change(study: Study) -> None:
        item = study.items["adjudication"]
        letters = {one.response.label: one.letter for one in candidates.of_item(item)}
        adjudication.decide(item=item, by=study.world.ivo, choose=[letters[label]], note="It is.", now=LATER)

    return change


def as_it_is(study: Study) -> None:
    """Nothing more."""


def other_gold(study: Study) -> None:
    """The item that is open is gold in place of the one that was."""
    gold, ordinary = study.items["gold"].pk, study.items["open"].pk
    items = {item.pk: item for item in Item.objects.filter(pk__in=[gold, ordinary])}
    for one, other in ((gold, ordinary), (ordinary, gold)):
        Item.objects.filter(pk=one).update(
            is_gold=items[other].is_gold, slots_count=items[other].slots_count, due_at=items[other].due_at
        )
    Gold.objects.filter(item=gold).update(item=ordinary)
    Slot.objects.filter(item=ordinary).update(item=gold)


def other_names(study: Study, phases: Sequence[str] = ("closed", "adjudication", "adjudicated")) -> None:
    """Ada gave the responses that Bo gave, to each item of which an adjudicator must not know it."""
    ada, bo, cy = study.world.ada.pk, study.world.bo.pk, study.world.cy.pk
    with immutable_rows.writable():
        for phase in phases:
            rows = Assignment.objects.filter(item=study.items[phase])
            keys = dict(rows.values_list("person_id", "pk"))
            for person, key in ((cy, keys[ada]), (ada, keys[bo]), (bo, keys[ada])):
                Assignment.objects.filter(pk=key).update(person=person)
            facts = ResponseFact.objects.filter(item=study.items[phase])
            of_ada, of_bo = (list(facts.filter(person=key).values_list("pk", flat=True)) for key in (ada, bo))
            facts.filter(pk__in=of_ada).update(person=bo)
            facts.filter(pk__in=of_bo).update(person=ada)
            for before, after in ((ada, bo), (bo, ada)):
                events = Event.objects.filter(thing="assignment", thing_id=keys[before])
                events.update(actor=after)


def other_author(study: Study) -> None:
    """Ada and Bo gave each other's response to the item that waits for an adjudicator."""
    other_names(study, ["adjudication"])


def with_figures(change: Callable[[Study], None]) -> Callable[[Study], None]:
    """A world with this change, in which the figures of the open batch are worked out."""

    def work_out(study: Study) -> None:
        change(study)
        for part in snapshots.PARTS:
            snapshots._compute_snapshot(
                study.open, part, snapshots._current_watermark(study.world.project.pk), LATER
            )

    return work_out


def of_figures(study: Study) -> list[str]:
    """The addresses of the pages and files with figures that are worked out in the background."""
    batch, slug = study.open.public_id, study.world.project.slug
    pages = [f"/batches/{batch}/quality/", f"/batches/{batch}/report/", f"/batches/{batch}/"]
    pages += [f"/projects/{slug}/{page}/?batch={batch}" for page in ("agreement", "dashboard")]
    return [*pages, f"/projects/{slug}/fooling/", f"/projects/{slug}/fooling/?as=csv"]


def other_answers(study: Study) -> None:
    """The source gives another answer to the question that Zoe answers."""
    example = study.items["answering"].example
    items = IndexedItem.objects.filter(item__example=example)
    given = items[0].given.replace(example.answers[0], "1918")
    with immutable_rows.writable():
        Example.objects.filter(pk=example.pk).update(answers=["1918"])
    items.update(given=given)


def in_world(
    study: Study, change: Callable[[Study], None], who: str, addresses: list[str]
) -> dict[str, bytes]:
    """What a person reads in a world with this change."""
    client = Client()
    client.force_login(study.world.people[who])
    with undone():
        change(study)
        index.refresh(study.world.project, now=LATER)
        return read(client, addresses)
