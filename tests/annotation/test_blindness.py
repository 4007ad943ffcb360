"""Blind means blind: one table decides what is seen, in queries and on pages, for every set of roles, phase and token.

Where the table hides a fact from a reader, two worlds that differ only in this fact are the same to the reader: every
page, count, order, log line, export and error.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.access import authorization
from annotation.access.authorization import Actor
from annotation.access.roles import Permission, Role
from annotation.access.visibility import SHOWN, Fact, Visibility, may_adjudicate, visibility_of
from annotation.explorer import export, index, item_access, item_actions
from annotation.explorer.action_rules import Refusal
from annotation.explorer.selection import Selection
from annotation.models import ApiToken, Assignment, Item, Membership
from annotation.workflow import adjudication, assignments
from tests.annotation import blind_study
from tests.annotation.blind_study import INVOLVED, LATER, ROLE_SETS, Study, make_study, readers, with_roles
from tests.annotation.cast import make_world

SCOPES = [(), *((one,) for one in Permission), tuple(Permission)]


@pytest.fixture
def study(db: None, tmp_path: Any) -> Study:
    made = make_study(make_world(tmp_path, questions=12))
    index.refresh(made.world.project, now=LATER)
    return made


def shown(by: Visibility, items: list[Item]) -> dict[Fact, set[int]]:
    """What the function shows, by fact."""
    return {fact: {item.pk for item in items if by.shows(fact, item)} for fact in Fact}


def test_query_and_function_agree_in_every_cell_and_no_token_shows_more(study: Study) -> None:
    project = study.world.project
    every = Item.objects.filter(batch__project=project)
    items, cells = list(every.select_related("decision")), 0
    for roles in ROLE_SETS:
        for who in INVOLVED:
            person = with_roles(study, who, roles)
            session = visibility_of(Actor(person), project)
            whole = shown(session, items)
            for fact in Fact:
                found = every.filter(session.condition(fact)).values_list("pk", flat=True)
                assert set(found) == whole[fact], (sorted(roles), who, fact)
            for scopes in SCOPES:
                token = visibility_of(Actor(person, ApiToken(project=project, scopes=list(scopes))), project)
                part = shown(token, items)
                assert all(part[fact] <= whole[fact] for fact in Fact), (sorted(roles), who, scopes)
                gold = every.filter(token.condition(Fact.GOLD)).values_list("pk", flat=True)
                assert set(gold) == part[Fact.GOLD], (sorted(roles), who, scopes)
                cells += len(items)

    assert cells > 2_000


def test_no_token_exports_what_its_owner_does_not_read(study: Study) -> None:
    project = study.world.project
    for who, roles in readers():
        person = with_roles(study, who, roles)
        whole = exported(Actor(person), study)
        for scopes in SCOPES[:-1]:
            part = exported(
                Actor(person, ApiToken(project=project, person=person, scopes=list(scopes))), study
            )
            for item, facts in part.items():
                more = facts - whole[item]
                assert not more or ("state", "gold") in whole[item], (roles, who, scopes, more)


def exported(actor: Actor, study: Study) -> dict[str, set[tuple[str, str]]]:
    """By item, what an export says of it; "gold" may be "open" to a token."""
    found: dict[str, set[tuple[str, str]]] = {}
    for _, records in export.records(item_access.reader(actor, study.world.project), Selection()):
        for record in records:
            facts = {(name, str(value)) for name, value in record.items() if value not in (None, "", [], {})}
            found.setdefault(record["item"], set()).update(facts)
    return found


WORLDS = {
    # fact: the item it is about, and two worlds that differ in it
    Fact.STATE: ("begun", blind_study.answered("extraction"), blind_study.answered("reasoning")),
    Fact.GOLD: ("gold", blind_study.as_it_is, blind_study.other_gold),
    Fact.NAMES: ("adjudicated", blind_study.as_it_is, blind_study.other_names),
    Fact.ANSWERS: ("answering", blind_study.as_it_is, blind_study.other_answers),
}
LEADING = frozenset({Role.MANAGER, Role.RESEARCHER})
READERS = [
    # Who may open the most pages, for each reason to hide something: they may annotate, they do, they may decide.
    (Fact.STATE, "yan", frozenset(Role)),
    (Fact.STATE, "zoe", LEADING),
    (Fact.GOLD, "yan", frozenset(Role)),
    (Fact.GOLD, "yan", frozenset({Role.RESEARCHER, Role.ADJUDICATOR})),
    (Fact.NAMES, "yan", LEADING | {Role.ADJUDICATOR}),
    (Fact.ANSWERS, "zoe", LEADING),
]


@pytest.mark.parametrize(("fact", "who", "roles"), READERS)
def test_two_worlds_that_differ_in_a_hidden_fact_are_the_same_to_the_reader(
    study: Study, fact: Fact, who: str, roles: frozenset[Role]
) -> None:
    phase, one, other = WORLDS[fact]
    person, item = with_roles(study, who, roles), Item.objects.get(pk=study.items[phase].pk)
    assert not visibility_of(Actor(person), study.world.project).shows(fact, item)
    addresses = blind_study.pages(study, item)

    first, second = (blind_study.in_world(study, change, who, addresses) for change in (one, other))

    assert [address for address in addresses if first[address] != second[address]] == []


def test_no_count_of_a_batch_that_is_fed_tells_what_was_decided(study: Study) -> None:
    fed = study.open.feeds.get()
    with_roles(study, "zoe", LEADING)
    addresses = blind_study.pages(study, study.items["adjudication"]) + blind_study.about(study, fed)

    one, other = (
        blind_study.in_world(study, blind_study.decided(label), "zoe", addresses)
        for label in ("extraction", "reasoning")
    )

    differing = [address for address in addresses if one[address] != other[address]]
    assert differing == [], "\n".join(differing)


def test_a_page_at_work_does_not_say_how_many_items_its_batch_was_fed(study: Study) -> None:
    world, label = study.world, "reasoning"
    blind_study.decided(label)(study)
    fed = world.take(study.open.feeds.get(), "zoe")
    assert fed is not None

    assert (
        assignments.payload(authorization.assignment(Actor(world.zoe), fed.public_id))["progress"]["total"]
        is None
    )
    own = Assignment.objects.filter(batch=study.open, person=world.zoe).first()
    assert own is not None
    payload = assignments.payload(authorization.assignment(Actor(world.zoe), own.public_id))
    assert payload["progress"]["total"] == study.open.items_count


@pytest.mark.parametrize("fact", WORLDS)
def test_whoever_may_see_the_fact_tells_the_worlds_apart(study: Study, fact: Fact) -> None:
    phase, one, other = WORLDS[fact]
    person, item = with_roles(study, "yan", LEADING), Item.objects.get(pk=study.items[phase].pk)
    assert visibility_of(Actor(person), study.world.project).shows(fact, item)
    items = f"/projects/{study.world.project.slug}/explorer/"
    addresses = [f"{items}?gold=yes", f"{items}export/?format=jsonl", f"/items/{item.public_id}/story/"]

    first, second = (blind_study.in_world(study, change, "yan", addresses) for change in (one, other))

    assert [address for address in addresses if first[address] != second[address]]


@pytest.mark.parametrize("roles", [LEADING | {Role.ADJUDICATOR}, LEADING])
def test_figures_by_person_are_for_whoever_may_read_the_names(study: Study, roles: frozenset[Role]) -> None:
    person = with_roles(study, "yan", roles)
    judges = visibility_of(Actor(person), study.world.project).judges
    addresses = blind_study.of_figures(study)

    one, other = (
        blind_study.in_world(study, blind_study.with_figures(change), "yan", addresses)
        for change in (blind_study.as_it_is, blind_study.other_author)
    )

    differing = [address for address in addresses if one[address] != other[address]]
    assert all(page.startswith(b"200") for page in one.values())
    assert (differing == []) is judges, differing
    assert (b"Figures about people are visible to you once" in one[addresses[0]]) is judges


def test_who_worked_on_an_item_undoes_nothing_that_somebody_else_did_to_it(study: Study) -> None:
    """Refused to do it, allowed to undo it: Zoe answered the item that Ivo excluded."""
    item, now = study.items["own"], timezone.now()
    ivo = item_access.reader(Actor(study.world.ivo), study.world.project)
    action = item_actions.apply_action(ivo, "exclude", [item.pk], note="Torn", now=now).action
    assert action is not None
    zoe = with_roles(study, "zoe", frozenset({Role.MANAGER}))
    mara = item_access.reader(Actor(study.world.mara), study.world.project)

    own = item_actions.undo(item_access.reader(Actor(zoe), study.world.project), action, now=now)

    assert (own.number, own.refused) == (0, {Refusal("own"): [item.pk]})
    assert item_actions.undo(mara, action, now=now).number == 1


def test_an_adjudicator_who_decides_reads_and_undoes_has_read_no_name(study: Study, client: Client) -> None:
    item, ivo = study.items["adjudication"], study.world.ivo
    rows = Membership.objects.filter(person__in=[study.world.ada, study.world.bo])
    names = set(rows.values_list("pseudonym", flat=True))
    adjudication.decide(item=item, by=ivo, choose=["A"], note="It is.", now=LATER)
    client.force_login(ivo)
    slug = study.world.project.slug
    addresses = [
        f"/items/{item.public_id}/story/",
        f"/items/{item.public_id}/beside/",
        f"/projects/{slug}/explorer/export/?format=csv&item={item.public_id}",
        f"/api/projects/{slug}/items/?item={item.public_id}",
    ]

    told = blind_study.read(client, addresses)

    assert all(page.startswith(b"200") and b"extraction" in page.lower() for page in told.values())
    assert not any(name.encode() in page for name in names for page in told.values())
    adjudication.undo(item=item, by=ivo, now=LATER)
    assert may_adjudicate(ivo, Item.objects.get(pk=item.pk))


def test_every_fact_is_in_the_table() -> None:
    assert set(SHOWN) == set(Fact)
