"""Numbers of items on other pages lead to a selection of as many items."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access.authorization import Actor
from annotation.access.roles import Role
from annotation.explorer.item_access import reader
from annotation.explorer.links import explorer_url
from annotation.models import Assignment, Batch, Item, Membership
from annotation.quality import agreement_report, gold
from annotation.queue import allocation
from annotation.releases import creation
from annotation.templatetags.explorer import items_link
from annotation.web.views.figure_gallery import pseudonyms
from annotation.workflow import adjudication, assignments, automatic_decisions, batches, projects
from tests.annotation.cast import NOON, World, set_work
from tests.annotation.role_table import PAGES, make_things, the_batch
from tests.annotation.test_contradicted import checked, edited
from tests.annotation.test_dashboards import timed
from tests.annotation.test_paying import worked
from tests.annotation.test_rates import EUR_36, EUR_72, pay, raised

LINK = re.compile(
    r'<a [^>]*href="(/(?:projects/[^"/]+/explorer|batches/[^"/]+/items)/[^"]*)"[^>]*>'
    r"(?:<rect [^>]*><title>[^<]*</title></rect>)?(?:\s*<[^>]+>)*(?:of )?([\d,.]+)\D"
)
"""A link to a selection whose text begins with a number."""
LINKED = re.compile(r"<a [^>]*>[^<]*</a>")
COUNTED = re.compile(r"\b([1-9]\d*)\b ([a-z ]+?)(?= [=+]| and|[.:,])")
"""A number above 0 and what it counts, in a sentence without tags."""


@pytest.fixture
def batch(world: World) -> Batch:
    """Items that are accepted, excluded, to adjudicate, skipped, returned, reserved, in progress and waiting."""
    batch = world.batch(name="Labels", overlap=2)
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(days=1))
    skipped = world.take(batch, "cy")
    assert skipped is not None
    assignments.skip(assignment=skipped, reason="A torn table", now=NOON + timedelta(days=1))
    returned = world.take(batch, "cy")
    assert returned is not None
    assignments.give_back(assignment=returned, now=NOON + timedelta(days=1))
    assert world.take(batch, "ada") is not None
    allocation.assign(batch=batch, person=world.people["bo"], most=1, by=world.mara, now=NOON)
    return batch


def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def links(client: Client, address: str) -> list[tuple[str, int]]:
    """The links of a page to selections, each with the number that it says."""
    page = client.get(address)
    assert page.status_code == 200, address
    return numbers_of(page.content.decode())


def numbers_of(page: str) -> list[tuple[str, int]]:
    return [(html.unescape(target), int(re.sub(r"\D", "", number))) for target, number in LINK.findall(page)]


def listed(client: Client, address: str) -> int:
    """The number of items of a selection as its page says it, or of what the selection counts of them."""
    return said(client, address)[-1]


def said(client: Client, address: str) -> list[int]:
    """The number of items of a selection as its page says it, and then that of what the selection counts of them."""
    page = client.get(address)
    assert page.status_code == 200, address
    match = re.search(r"<h2[^>]*>(\d+) items?(?:</h2>| <small[^>]*>· \D*(\d+))", page.content.decode())
    assert match is not None, address
    return [int(number) for number in match.groups() if number is not None]


@pytest.mark.parametrize(
    ("name", "states"),
    [
        (
            "project",
            {
                "state=accepted",
                "state=adjudication",
                "in_progress=yes",
                "in_progress=no",
                "assignment=planned",
            },
        ),
        ("batch", {"state=accepted", "state=adjudication", "state=open", "skipped=any", "in_progress=yes"}),
        ("batch", {"assignment=planned", "assignment=not_started", "assignment=returned"}),
        ("batch_people", {"person=", "skipped=any", "in_progress=yes"}),
        ("batch_people", {"assignment=assigned", "assignment=returned", "assignment=reserved"}),
        ("people", {"person=", "skipped=any", "in_progress=yes", "answered=yes", "state=accepted"}),
        ("people", {"assignment=assigned", "assignment=returned", "assignment=reserved"}),
        ("close_batch", {"state=open", "in_progress=yes"}),
        ("calibration", {"item="}),
        ("batch_quality", {"person=", "skipped=any"}),
        (
            "dashboard",
            {"state=accepted", "skipped=A+torn+table", "assignment=planned", "&answered=yes"},
        ),
        ("agreement", {"pair="}),
        ("home", {"state=accepted"}),
        ("releases", {"state=open", "state=adjudication"}),
    ],
)
def test_a_number_leads_to_as_many_items(batch: Batch, world: World, name: str, states: set[str]) -> None:
    client = mara(world)
    of_batch, of_project = [batch.public_id], [world.project.slug]
    of_batches = dict.fromkeys(
        ("batch", "batch_people", "batch_quality", "calibration", "close_batch"), of_batch
    )
    arguments = {**of_batches, "home": []}

    numbers = links(client, reverse(name, args=arguments.get(name, of_project)))

    wrong = [(target, number) for target, number in set(numbers) if number not in said(client, target)]
    assert wrong == []
    assert not {state for state in states if not any(state in target for target, _ in numbers)}


def test_labels_and_steps_lead_to_their_items(world: World) -> None:
    done, client = timed(world), mara(world)

    labels = links(client, reverse("batch_quality", args=[done.public_id]))
    steps = links(client, reverse("dashboard", args=[world.project.slug]))

    numbers = [each for each in labels if "label=" in each[0]]
    assert numbers
    of_people = [number for address, number in numbers if "person=" in address]
    assert sorted(of_people) == [12, 12, 24], "the most frequent label of each person"
    accepted = [each for each in labels if "item=" in each[0]]
    assert accepted, "accepted items of each label"
    numbers += accepted
    attrition = reverse("dashboard", args=[world.project.slug])
    page = client.get(attrition).content.decode()
    answered = re.search(r"with a response</th><td[^>]*><a href=\"[^\"]*answered=yes\">", page)
    assert answered is not None
    assert [each for each in [*numbers, *steps] if each[1] not in said(client, each[0])] == []


def test_a_response_that_was_sent_back_counts_and_is_listed_with_its_new_label(world: World) -> None:
    done, client = world.batch(size=3, name="Revised"), mara(world)
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        for _ in range(3):
            world.label(done, who, label)
    automatic_decisions.resolve_batch(batch=done, now=NOON + timedelta(days=1))
    before = agreement_report.report(done)["figures"]
    item = done.items.order_by("pk").first()
    assert item is not None
    response = item.assignments.get(person=world.cy).annotation.public_id  # type: ignore[union-attr]
    later = NOON + timedelta(days=1, minutes=1)
    adjudication.send_back(item=item, by=world.ivo, choose=response, note="Read it again.", now=later)
    revised = item.assignments.get(state=Assignment.State.LEASED)
    world.answer(revised, {"label": "extraction"}, now=later)

    listed = links(client, reverse("batch_quality", args=[done.public_id]))

    of_labels = [each for each in listed if "label=" in each[0] and "person=" not in each[0]]
    assert sorted(number for _, number in of_labels) == [2, 3, 4]
    assert [each for each in of_labels if each[1] not in said(client, each[0])] == []
    after = agreement_report.report(done)["figures"]
    assert after == before, "agreement is of independent judgements"


def test_more_items_than_a_selection_takes_have_no_link(world: World) -> None:
    ids = [f"item-{number}" for number in range(201)]

    who = reader(Actor(world.mara), world.project)

    assert items_link(201, who, item=ids) == "201"
    assert items_link(200, who, item=ids[1:]).startswith("<a ")


def test_the_numbers_of_a_project_leave_out_calibration_as_their_links_do(batch: Batch, world: World) -> None:
    round_ = world.batch(size=2, purpose="calibration", name="Round")
    world.label(round_, "ada", "extraction")
    address = reverse("project", args=[world.project.slug])
    client = mara(world)

    board = client.get(address).content.decode()
    numbers = links(client, address)

    given = Assignment.objects.filter(batch=batch).submitted().count()
    assert f'?batch={batch.public_id}&amp;answered=yes">{given}</a>' in board
    of_batch = [(target, number) for target, number in numbers if f"batch={batch.public_id}" in target]
    assert len(of_batch) == 4, "accepted, items, responses, slots"
    assert [(target, number) for target, number in numbers if number not in said(client, target)] == []


def test_an_arrow_between_batches_leads_to_the_items_that_were_taken(world: World) -> None:
    first = world.batch(size=3, overlap=1, name="Types")
    for label in ("reasoning", "extraction", "extraction"):
        world.label(first, "ada", label)
    batches.close_batch(batch=first, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=first, now=NOON + timedelta(days=1))
    second = world.batch(
        "short_table", sources=[], feeds_from=first, feeds_when={"label": ["reasoning"]}, name="Short"
    )
    client = mara(world)

    numbers = [
        (target, number)
        for target, number in links(client, reverse("project", args=[world.project.slug]))
        if target.startswith(f"/batches/{second.public_id}/items/") and "state=accepted" in target
    ]

    assert numbers
    assert {(number, listed(client, target)) for target, number in numbers} == {(1, 1)}


def test_the_items_reserved_for_somebody_who_is_removed_are_listed(batch: Batch, world: World) -> None:
    membership = Membership.objects.get(project=world.project, person=world.people["bo"])

    ((target, number),) = links(mara(world), reverse("remove_member", args=[membership.pk]))

    assert "assignment=reserved" in target
    assert number in said(mara(world), target)


def test_the_queue_of_an_adjudicator_leads_to_the_items_that_wait(batch: Batch, world: World) -> None:
    client = Client()
    client.force_login(world.ivo)

    numbers = links(client, reverse("adjudication", args=[batch.public_id]))

    assert numbers == [(explorer_url(world.project, batch=batch, state="adjudication"), 1)]
    assert listed(client, numbers[0][0]) == 1


def test_an_example_is_found_by_its_id(batch: Batch, world: World) -> None:
    item = batch.items.get(position=2)

    for named in (item.example.external_id, item.example.public_id):
        assert listed(mara(world), explorer_url(world.project, example=named)) == 1


def test_items_in_progress_of_a_person_are_those_that_the_person_has_now(batch: Batch, world: World) -> None:
    names = dict(Membership.objects.filter(project=world.project).values_list("person__name", "pseudonym"))
    client = mara(world)

    assert listed(client, explorer_url(world.project, person=names["Ada"], in_progress="yes")) == 1
    assert listed(client, explorer_url(world.project, in_progress="no")) == 3


def test_two_people_who_skipped_one_item_are_counted_where_the_number_leads(world: World) -> None:
    client = mara(world)
    asked = world.batch(size=1, overlap=2, seed=9, name="Skipped by two")
    for who in ("ada", "bo"):
        held = world.take(asked, who)
        assert held is not None
        assignments.skip(assignment=held, reason="Torn", now=NOON)

    page = client.get(f"/batches/{asked.public_id}/").content.decode()
    listed = client.get(f"/batches/{asked.public_id}/items/?skipped=any").content.decode()

    assert '?skipped=any">2</a>' in page
    assert "1 item" in listed
    assert "skipped 2 times" in listed


def test_totals_of_responses_lead_to_the_items_that_have_them(batch: Batch, world: World) -> None:
    client = mara(world)
    given = Assignment.objects.filter(batch=batch).submitted().count()

    for page, address in (
        ("/projects/films/", "/projects/films/explorer/?answered=yes"),
        (f"/batches/{batch.public_id}/", f"/batches/{batch.public_id}/items/?answered=yes"),
    ):
        assert f'<a href="{address}">{given}</a>' in client.get(page).content.decode()
        assert f"{given} responses" in client.get(address).content.decode()


@pytest.mark.parametrize("more", [None, Role.ADJUDICATOR, Role.ANNOTATOR])
def test_every_number_of_a_managers_pages_leads_to_as_many_items(world: World, more: Role | None) -> None:
    """Also of a manager from whom responses are kept, because they may have to decide or to annotate."""
    things, client = make_things(world), mara(world)
    if more is not None:
        roles = [Role.MANAGER, more]
        projects.change_roles(
            membership=world.project.memberships.get(person=world.mara), roles=roles, by=world.mara, now=NOON
        )
    skipped = world.take(things.batch, "bo")
    assert skipped is not None
    assignments.skip(assignment=skipped, reason="A torn table", now=NOON)
    timed(world)
    batches = [[batch.public_id] for batch in Batch.objects.all()]
    wrong: set[tuple[str, str, int]] = set()
    followed: set[tuple[str, int]] = set()

    for name, (arguments, readers, _) in PAGES.items():
        if readers is None or "mara" not in readers or name.startswith("explorer"):
            continue
        for one in batches if arguments is the_batch else [arguments(things)]:
            response = client.get(reverse(name, args=one))
            if response.status_code != 200 or not response["Content-Type"].startswith("text/html"):
                continue
            numbers = set(numbers_of(response.content.decode()))
            wrong |= {(name, *each) for each in numbers - followed if each[1] not in said(client, each[0])}
            followed |= numbers

    assert sorted(wrong) == []
    assert len(followed) > (40 if more is None else 10)


def unlinked(page: str, words: str) -> set[str]:
    """What the numbers count that lead nowhere, in the paragraph with these words."""
    (paragraph,) = [one for one in re.findall(r"<p>.*?</p>", page, re.DOTALL) if words in one]
    plain = re.sub(r"<[^>]+>", "", LINKED.sub("0", paragraph))
    return {what for _, what in COUNTED.findall(plain)}


def test_totals_inside_sentences_lead_to_their_items(batch: Batch, world: World) -> None:
    client = mara(world)
    of_batch = client.get(reverse("batch", args=[batch.public_id])).content.decode()
    of_people = client.get(reverse("people", args=[world.project.slug])).content.decode()

    assert unlinked(of_batch, "planned responses") == set()
    assert unlinked(of_batch, "in adjudication") == set()
    assert unlinked(of_people, "assigned = ") == set()


def test_the_list_of_the_flow_leads_to_the_items_of_each_state(batch: Batch, world: World) -> None:
    page = mara(world).get(reverse("project", args=[world.project.slug])).content.decode()
    listed_flow = page[page.index('<ol class="flow-list">') :]
    listed_flow = listed_flow[: listed_flow.index("</ol>")]

    for state in ("state=accepted", "in_progress=yes", "in_progress=no"):
        assert state in listed_flow


def test_gold_items_are_in_none_of_the_states_and_lead_nowhere_for_those_who_must_not_know_them(
    world: World,
) -> None:
    examples = list(world.source.examples.order_by("position"))
    mixed = world.batch(only=[one.external_id for one in examples[:2]], name="Mixed")
    gold.set_gold(batch=mixed, example=examples[3], data={"label": "extraction"}, by=world.mara, now=NOON)
    rea, address = Client(), reverse("batch", args=[mixed.public_id])
    rea.force_login(world.rea)

    numbers = links(mara(world), address)

    assert {target.partition("?")[2]: number for target, number in numbers}["gold=yes"] == 1
    assert [(target, number) for target, number in numbers if number not in said(mara(world), target)] == []
    assert [target for target, number in links(rea, address) if number] == []


def test_what_needs_review_of_a_person_leads_to_its_items(world: World) -> None:
    """Cy says one thing to everything, in a tenth of the time."""
    done, client = timed(world), mara(world)
    address = reverse("batch_quality", args=[done.public_id])

    numbers = [each for each in links(client, address) if "item=" in each[0]]
    page = client.get(address).content.decode()

    assert len(numbers) >= 2, "of the row and of a way of working"
    assert [(target, number) for target, number in numbers if number not in said(client, target)] == []
    assert max(number for _, number in numbers) == 24
    assert page.index("needs review") > 0


def test_the_number_of_a_person_in_a_qualification_leads_to_their_items(world: World) -> None:
    batch = world.batch(size=3, purpose="qualification", pass_percent=60, open=False, name="Entry test")
    for item in batch.items.select_related("example"):
        gold.set_gold(
            batch=batch, example=item.example, data={"label": "extraction"}, by=world.mara, now=NOON
        )
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    for _ in range(2):
        world.label(batch, "ada", "extraction")

    numbers = links(mara(world), reverse("batch_people", args=[batch.public_id]))

    address = explorer_url(world.project, batch=batch, person=pseudonyms(world.project)[world.ada.pk])
    assert (address, 2) in numbers
    assert listed(mara(world), address) == 2


def test_items_paid_at_each_of_several_rates_lead_to_the_explorer(world: World) -> None:
    raised(world, world.batch(overlap=1))
    client = mara(world)
    address = reverse("people", args=[world.project.slug])
    paid = [link for link in links(client, address) if "submitted_" in link[0]]
    assert [number for _, number in paid] == [2, 2]
    assert [listed(client, target) for target, _ in paid] == [2, 2]
    first, second = (set(items_of(client, target)) for target, _ in paid)
    assert (len(first), len(first | second)) == (2, 4)
    filtered = client.get(paid[1][0]).content.decode()
    assert "Submitted from:" in filtered
    assert 'type="hidden" name="submitted_from"' in filtered, "a further filter keeps it"


def test_items_of_a_rate_that_held_twice_lead_to_the_explorer_for_each_time(world: World) -> None:
    batch = world.batch(overlap=1)
    for number, rate in enumerate((EUR_36, EUR_72, EUR_36)):
        pay(world, 120 * number, **rate)
        worked(world, batch, "ada", 60, begun=120 * number + 1)
    client = mara(world)

    address = reverse("people", args=[world.project.slug])
    paid = [link for link in links(client, address) if "submitted_" in link[0]]

    assert [number for _, number in paid] == [1, 1, 1]
    assert len({item for target, _ in paid for item in items_of(client, target)}) == 3


def test_pay_of_a_period_counts_the_items_that_a_reader_elsewhere_gets_listed(world: World) -> None:
    """Noon in UTC is the next day in Auckland, where the project is; the reader is in Honolulu."""
    world.project.time_zone, world.mara.time_zone = "Pacific/Auckland", "Pacific/Honolulu"
    world.project.save(update_fields=["time_zone"])
    world.mara.save(update_fields=["time_zone"])
    batch = world.batch(overlap=1)
    pay(world, 0, **EUR_36)
    for begun in (0, 86_400):
        worked(world, batch, "ada", 60, begun=begun)
    tomorrow = (NOON + timedelta(days=1)).date().isoformat()
    client = mara(world)

    address = reverse("people", args=[world.project.slug]) + f"?first={tomorrow}&last={tomorrow}"
    paid = [link for link in links(client, address) if "submitted_" in link[0]]

    assert [number for _, number in paid] == [1, 1], "in total, and of Ada"
    assert [listed(client, target) for target, _ in paid] == [1, 1]
    assert items_of(client, paid[0][0]) == items_of(client, paid[1][0])


def test_pay_of_a_period_that_begins_before_all_dates_of_the_explorer_leads_to_the_items(
    world: World,
) -> None:
    batch = world.batch(overlap=1)
    pay(world, 0, **EUR_36)
    worked(world, batch, "ada", 60, begun=0)
    client = mara(world)

    address = reverse("people", args=[world.project.slug]) + "?first=1800-01-01&last=2026-12-31"
    paid = [link for link in links(client, address) if "submitted_" in link[0]]

    assert [number for _, number in paid] == [1, 1], "in total, and of Ada"
    assert [listed(client, target) for target, _ in paid] == [1, 1]


def of_row(page: str, head: str) -> list[tuple[str, int]]:
    """The links of the row with this head, each with its number."""
    row = re.search(rf'<th scope="row"[^>]*>{re.escape(head)}</th>(.*?)</tr>', page)
    assert row is not None, head
    return [(html.unescape(target), int(number)) for target, number in LINK.findall(row[1])]


def test_submissions_of_a_day_of_the_project_lead_to_their_items(world: World) -> None:
    """Noon in UTC is the next day in Auckland, where the project is; the reader is in Honolulu."""
    world.project.time_zone, world.mara.time_zone = "Pacific/Auckland", "Pacific/Honolulu"
    world.project.save(update_fields=["time_zone"])
    world.mara.save(update_fields=["time_zone"])
    batch = world.batch(overlap=2)
    for who in ("ada", "bo"):
        worked(world, batch, who, 60)
    noon = (timezone.now() - timedelta(days=3)).replace(hour=12)
    set_work(Assignment.objects.all(), at=noon)
    client = mara(world)

    page = client.get(reverse("dashboard", args=[world.project.slug])).content.decode()

    [(target, number)] = of_row(page, (noon + timedelta(days=1)).date().isoformat())
    assert number == 2
    assert said(client, target) == [1, 2], "one item with two responses"


def test_skips_of_a_source_lead_to_their_items(batch: Batch, world: World) -> None:
    page = mara(world).get(reverse("dashboard", args=[world.project.slug])).content.decode()

    [(target, number)] = of_row(page, world.source.name)

    assert "skipped=any" in target
    assert number in said(mara(world), target)


def test_the_step_of_a_release_leads_to_the_items_that_it_did_not_leave_out(world: World) -> None:
    checked(world, "accepted", feeds_from=edited(world))
    accepted = world.batch(overlap=1, size=1, seed=5, name="Types")
    world.label(accepted, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=accepted, now=NOON + timedelta(days=1))
    release = creation.make_release(
        project=world.project, name="1.0", format="askew", by=None, now=NOON + timedelta(days=2)
    )
    assert release.manifest["counts"]["contradicted"] == 1

    page = mara(world).get(reverse("dashboard", args=[world.project.slug])).content.decode()

    [(target, number)] = of_row(page, "accepted, in the newest release")
    counts = release.manifest["counts"]
    assert number == counts["accepted"] - counts["contradicted"]
    assert listed(mara(world), target) == number


def items_of(client: Client, address: str) -> list[str]:
    """The addresses of the items that a selection lists."""
    return re.findall(r'hx-get="([^"]+)" hx-target="#beside"', client.get(address).content.decode())


def test_numbers_without_gold_items_lead_to_selections_without_them(world: World) -> None:
    batch = timed(world)
    gold_item = batch.items.order_by("position").first()
    assert gold_item is not None
    Item.objects.filter(pk=gold_item.pk).update(is_gold=True)
    client = mara(world)
    page = reverse("batch_quality", args=[batch.public_id])
    labels = [each for each in links(client, page) if "label=" in each[0]]
    steps = [each for each in links(client, reverse("dashboard", args=["films"])) if "gold=no" in each[0]]
    assert labels
    assert steps
    assert [each for each in [*labels, *steps] if each[1] not in said(client, each[0])] == []


def test_the_picture_of_batches_explains_the_colours_of_its_bars(world: World, batch: Batch) -> None:
    page = mara(world).get(reverse("project", args=[world.project.slug])).content.decode()
    legend = page.partition('<p class="bar-legend')[2].partition("</p>")[0]
    explained = dict(re.findall(r'<span class="([a-z-]+)">([^<]+)</span>', legend))
    assert explained == {
        "accepted": "accepted",
        "adjudication": "to adjudicate",
        "in-progress": "in progress",
    }
    assert set(explained) == set(re.findall(r'<rect class="part ([a-z-]+)"', page))
