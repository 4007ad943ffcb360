"""Inviting a pasted list of addresses: one link each, all of them or none."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.access.roles import Role
from annotation.accounts import invitees
from annotation.accounts.invitees import Invitee
from annotation.models import Event, Invitation
from annotation.platform.refusals import ActionRefused
from annotation.workflow import projects
from tests.annotation.cast import World

ADDRESS = "/projects/films/people/"


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def words(response: Any) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split()))


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("ann@x.org, ben@x.org; cay@x.org\ndan@x.org", ["ann@x.org", "ben@x.org", "cay@x.org", "dan@x.org"]),
        ("Ann Lee <Ann@X.org>", [("ann@x.org", "Ann Lee")]),
        ('"Lee, Ann" <ann@x.org>, ben@x.org', [("ann@x.org", "Lee, Ann"), "ben@x.org"]),
        ("Ann Lee\tann@x.org\r\nBen\tben@x.org\r\n", [("ann@x.org", "Ann Lee"), ("ben@x.org", "Ben")]),
        ("ann@x.org\tAnn Lee\r\nben@x.org\tBen", [("ann@x.org", "Ann Lee"), ("ben@x.org", "Ben")]),
        ("<ann@x.org>;;\n\n , mailto:ben@x.org,", ["ann@x.org", "ben@x.org"]),
        ('"Ann <ann@x.org>, ben@x.org', [("ann@x.org", "Ann"), "ben@x.org"]),
        ("李雷 <li@x.org>", [("li@x.org", "李雷")]),
        ("", []),
    ],
)
def test_a_list_is_read_as_mail_programs_and_spreadsheets_write_it(text: str, people: list[Any]) -> None:
    found = invitees.read(text)

    assert found.people == tuple(
        Invitee(each) if isinstance(each, str) else Invitee(*each) for each in people
    )
    assert not found.problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ann@x.org\nBen", "Line 2: “Ben” has no e-mail address."),
        (
            "ann@x.org ben@x.org",
            "Line 1: “ann@x.org ben@x.org” has two addresses. Separate them with a comma.",
        ),
        ("a@x.org\n\nben@x", "Line 3: “ben@x” is not a valid e-mail address."),
        (f"{'A' * 121} <a@x.org>", "Line 1: The name of a@x.org is longer than 120 characters."),
        (
            "\n".join(f"p{number}@x.org" for number in range(201)),
            "The list has 201 addresses. Invite at most 200 at once.",
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_named_with_its_number(text: str, problem: str) -> None:
    assert invitees.read(text).problems == [problem]


def test_each_address_gets_a_link_of_its_own(mara: Client, world: World) -> None:
    page = mara.post(
        ADDRESS, {"addresses": "Dana <dana@x.org>\nelif@x.org", "roles": ["annotator"]}, follow=True
    )

    shown = page.content.decode()
    links = re.findall(r'value="(http://testserver/join/[^"]+)"', shown)
    assert len(set(links)) == 2
    assert f"Dana\t{links[0]}\nelif@x.org\t{links[1]}" in html.unescape(shown)
    labels = re.findall(r'<label for="(link-\d)"[^>]*>([^<]+)</label>\s*<input id="(link-\d)"', shown)
    assert labels == [("link-1", "Dana", "link-1"), ("link-2", "elif@x.org", "link-2")]
    for tag in re.findall(r"<button[^>]*>(?=Copy)", shown):
        assert tag.endswith(" hidden>"), (
            "a script shows the buttons that copy; without it the links are selected"
        )
    assert len(re.findall(r"<button[^>]*data-copies", shown)) == 3
    assert page["Cache-Control"] == "no-store"
    assert set(Invitation.objects.values_list("name", flat=True)) == {"Dana", "elif@x.org"}
    listed = re.findall(r'<th scope="row">([^<]*)</th>', mara.get(ADDRESS).content.decode())
    assert {"Dana", "elif@x.org"} <= set(listed)
    for link in links:
        assert "Films" in words(Client().get(link))


def test_one_bad_line_invites_nobody_and_keeps_the_list(mara: Client, world: World) -> None:
    page = mara.post(ADDRESS, {"addresses": "dana@x.org\nelif", "roles": ["annotator"]})

    assert "Line 2: “elif” has no e-mail address." in words(page)
    assert "dana@x.org\nelif</textarea>" in page.content.decode()
    assert not Invitation.objects.exists()


def test_members_and_repeated_addresses_are_named_and_get_no_further_link(mara: Client, world: World) -> None:
    page = mara.post(
        ADDRESS,
        {"addresses": "Ada@example.org, dana@x.org, Dana <DANA@x.org>", "roles": ["annotator"]},
        follow=True,
    )

    assert "Already members, without a new link: ada@example.org" in words(page)
    assert "Listed more than once, with one link each: dana@x.org" in words(page)
    assert Invitation.objects.get().name == "dana@x.org"


def test_a_list_of_members_alone_says_so(mara: Client, world: World) -> None:
    page = mara.post(ADDRESS, {"addresses": "ada@example.org", "roles": ["annotator"]})

    assert "Everyone in this list is already a member." in words(page)
    assert not Invitation.objects.exists()


def test_a_refused_link_takes_the_others_back(world: World) -> None:
    with pytest.raises(ActionRefused):
        projects.invite_all(
            project=world.project,
            names=["Dana", "nul\0"],
            roles=[Role.ANNOTATOR],
            by=world.mara,
            now=timezone.now(),
        )

    assert not Invitation.objects.exists()
    assert not Event.objects.filter(thing="invitation").exists()
