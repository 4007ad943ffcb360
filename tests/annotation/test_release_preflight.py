"""The release page says what a release now would lack, and asks for a tick where edits were not answered blind."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Batch, Person, Release
from annotation.releases import creation
from annotation.workflow import automatic_decisions, batches
from tests.annotation.cast import NOON, World
from tests.annotation.test_explorer_links import links, said

RELEASES = "/projects/films/releases/"
FIELDS = {"name": "v1", "format": "askew"}
TICK = "include_unchecked"


def client_of(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def edited(world: World) -> Batch:
    """A closed batch with one accepted edit."""
    batch = world.batch("value_change", variant="answer_stays", only=["nu-0"], overlap=1, name="Edits")
    assignment = world.take(batch, "ada")
    assert assignment is not None
    cell = {"op": "set_cell", "row": "r1", "column": "c2", "at": [1, 2], "old": "117", "new": "118"}
    world.answer(assignment, {"unanswerable": False, "operations": [cell], "answers": [], "reason": ""})
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch


def answered_blind(world: World, feeding: Batch) -> Batch:
    batch = world.batch("answer_check", sources=[], feeds_from=feeding, overlap=1, name="Check")
    assignment = world.take(batch, "bo")
    assert assignment is not None
    world.answer(assignment, {"answers": ["1995"], "unanswerable": False})
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch


def listed(page: str) -> list[str]:
    """The preflight, which stands above the button."""
    above, _, _ = page.partition('<button class="primary">')
    section = re.search(r'id="lacks".*?</ul>', above, re.DOTALL)
    found = re.findall(r"<li>(.*?)</li>", section.group(), re.DOTALL) if section else []
    return [re.sub(r"<[^>]+>", "", words).replace("&#x27;", "'").strip() for words in found]


START = "Missing from a release now: "


def dry_run() -> list[str]:
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("release", project="films", dry_run=True, stdout=out)
    return [line.removeprefix(START) for line in out.getvalue().splitlines() if line.startswith(START)]


def plan(folder: Path) -> list[str]:
    file, out = folder / "films.yaml", StringIO()
    call_command("study", "export", str(file), "--project", "films")
    call_command("study", "plan", str(file), stdout=out)
    return [line.removeprefix(START) for line in out.getvalue().splitlines() if line.startswith(START)]


def test_the_page_the_dry_run_and_the_study_plan_name_the_same_gaps(world: World, tmp_path: Path) -> None:
    world.batch("answer_check", sources=[], feeds_from=edited(world), name="Check")

    page = client_of(world.rea).get(RELEASES).content.decode()

    assert "These are not finished:" in page
    assert listed(page) == dry_run() == plan(tmp_path)
    assert (
        "Perturbed examples: 1 of 1 have no blind answer by another person. They come from 1 item."
        in listed(page)
    )


def summary(page: str) -> list[str]:
    section = page[page.index('id="preflight"') : page.index('id="lacks"')]
    return [
        re.sub(r"<[^>]+>", "", words).strip() for words in re.findall(r"<li>(.*?)</li>", section, re.DOTALL)
    ]


def test_the_page_sums_the_gaps_of_all_batches(world: World) -> None:
    edits = world.batch("value_change", variant="answer_stays", size=2, overlap=1, name="Edits")
    world.batch("answer_check", sources=[], feeds_from=edits, name="Check")
    world.batch(size=3, name="Types")
    for who, label in {"ada": "extraction", "bo": "reasoning"}.items():
        world.label(
            world.batch(size=1, overlap=2, name="Split") if who == "ada" else Batch.objects.get(name="Split"),
            who,
            label,
        )
    batches.close_batch(batch=Batch.objects.get(name="Split"), by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=Batch.objects.get(name="Split"), now=NOON)

    lines = summary(client_of(world.rea).get(RELEASES).content.decode())

    assert lines[:3] == [
        "5 items with too few responses",
        "1 item to adjudicate",
        "2 decisions that later batches wait for",
    ]
    assert [line.partition(":")[0] for line in lines[3:]] == ["Data statement"]


def test_a_gap_leads_to_the_page_where_it_is_filled(world: World) -> None:
    world.batch()

    page = client_of(world.mara).get(RELEASES).content.decode()

    assert '<a href="/projects/films/statement/">Data statement: ' in page
    assert "/projects/films/adjudication/" not in page, "Mara does not adjudicate"


def test_edits_that_nobody_answered_blind_need_a_tick(world: World) -> None:
    edited(world)
    rea = client_of(world.rea)

    refused = rea.post(RELEASES, FIELDS)

    page = refused.content.decode()
    assert "I know that 1 edit is released without a blind answer" in page
    assert "Select this to release the edit unchecked" in page
    assert 'value="v1"' in page
    assert not Release.objects.exists()

    assert rea.post(RELEASES, {**FIELDS, TICK: "on"}).status_code == 302
    assert Release.objects.get().name == "v1"


def test_unfinished_items_lead_to_the_explorer(world: World) -> None:
    edits = edited(world)
    check = world.batch("answer_check", sources=[], feeds_from=edits, name="Check")

    page = client_of(world.rea).get(RELEASES).content.decode()

    address = f"/projects/films/explorer/?batch={check.public_id}&amp;state=open"
    assert f'<a href="{address}">1 item with too few responses</a>' in page
    item = edits.items.get().public_id
    assert f'<a href="/projects/films/explorer/?item={item}">Perturbed examples: 1 of 1 have no' in page


def test_decisions_that_later_batches_wait_for_lead_to_their_items(world: World) -> None:
    edits = world.batch("value_change", variant="answer_stays", size=2, overlap=1, name="Edits")
    world.batch("answer_check", sources=[], feeds_from=edits, name="Check")
    mara = client_of(world.mara)

    numbers = links(mara, RELEASES)

    (address,) = [address for address, number in numbers if "state=complete" in address and number == 2]
    assert f"batch={edits.public_id}" in address
    assert said(mara, address)[0] == 2
    world.batch("answer_check", sources=[], feeds_from=edits, name="Check again")
    page = mara.get(RELEASES).content.decode()
    assert "<li>4 decisions that later batches wait for</li>" in page, "an item counts twice"


def released(world: World) -> Release:
    return creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=timezone.now()
    )


def lacking(client: Client, release: Release) -> str:
    """What the page of a release says of its unchecked edits and unfinished batches, without tags."""
    page = client.get(reverse("release", args=[release.public_id])).content.decode()
    notice = re.search(r'<div class="notice" id="unchecked">(.*?)</div>', page, re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", notice.group(1)).split()) if notice else ""


@pytest.mark.django_db(transaction=True)
def test_a_release_says_how_many_of_its_edits_nobody_answered_blind(world: World) -> None:
    edits, rea = edited(world), client_of(world.rea)
    world.batch("answer_check", sources=[], feeds_from=edits, overlap=1, name="Check")
    release = released(world)
    sentence = "1 of 1 edits has no blind answer by another person. They come from 1 item."
    expected = (
        f"{sentence} 1 batch was not finished when this release was created Check : 0 of 1 items decided"
    )
    assert lacking(rea, release) == expected
    methods = reverse("release_methods", args=[release.public_id, "md"])
    assert "1 of 1 edit has no blind answer by another person" in rea.get(methods).content.decode()

    assignment = world.take(Batch.objects.get(name="Check"), "bo")
    assert assignment is not None
    world.answer(assignment, {"answers": ["1995"], "unanswerable": False})
    automatic_decisions.resolve_batch(batch=Batch.objects.get(name="Check"), now=timezone.now())

    assert lacking(rea, release) == expected, "later work changes no release"


@pytest.mark.django_db(transaction=True)
def test_a_release_of_checked_edits_has_no_notice(world: World) -> None:
    answered_blind(world, edited(world))
    release = released(world)

    assert not lacking(client_of(world.rea), release)


def test_edits_that_somebody_answered_blind_need_none(world: World) -> None:
    answered_blind(world, edited(world))
    rea = client_of(world.rea)

    assert TICK not in rea.get(RELEASES).content.decode()
    assert rea.post(RELEASES, FIELDS).status_code == 302


def test_who_may_not_release_and_who_annotates_see_no_preflight(world: World) -> None:
    edited(world)

    assert "These are not finished" not in client_of(world.ivo).get(RELEASES).content.decode()


def test_a_project_that_lacks_nothing_says_so(world: World) -> None:
    from annotation.payments import data_statement

    world.project.statement = {one.name: "said" for one in data_statement.ASKED}
    world.project.save()
    batch = world.batch(size=1)
    for who in ("ada", "bo", "cy"):
        world.label(batch, who, "extraction")
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)

    page = client_of(world.rea).get(RELEASES).content.decode()

    assert "Nothing is missing from a release now." in page


@pytest.mark.parametrize("out", ["release", "new/folders/release"])
def test_a_refused_release_leaves_no_folder(world: World, tmp_path: Path, out: str) -> None:
    with pytest.raises(CommandError, match="a release name of at most 80 characters"):
        call_command("release", project="films", name="v" * 81, format="askew", out=tmp_path / "kept" / out)

    assert [path for path in tmp_path.rglob("*") if "kept" in path.parts] == []


def test_a_refused_release_keeps_a_folder_that_was_there(world: World, tmp_path: Path) -> None:
    out = tmp_path / "kept"
    out.mkdir()

    with pytest.raises(CommandError, match="a release name of at most 80 characters"):
        call_command("release", project="films", name="v" * 81, format="askew", out=out)

    assert out.is_dir()


@pytest.mark.django_db(transaction=True)
def test_batches_that_were_never_opened_are_unfinished_on_the_page_of_a_release(world: World) -> None:
    world.batch("answer_check", sources=[], feeds_from=edited(world), open=False, name="Check")
    edits = world.batch("value_change", variant="answer_stays", size=2, open=False, name="Edits 2")
    world.batch("answer_check", sources=[], feeds_from=edits, open=False, name="Check 2")
    rea, release = client_of(world.rea), released(world)
    expected = "Check : not opened, 1 item Edits 2 : not opened, 2 items Check 2 : not opened, 0 items"
    assert expected in lacking(rea, release)

    batches.open_batch(batch=edits, by=world.mara, now=timezone.now())

    assert expected in lacking(rea, release), "what is opened later changes no release"
