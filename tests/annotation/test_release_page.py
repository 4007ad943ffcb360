"""The page of a release: what people come for first, the rest folded; and two releases beside each other."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation, Assignment, Person, Release
from annotation.platform import immutable_rows
from annotation.releases import creation, methods_appendix, release_comparison
from annotation.releases.release_diff import FileDiff, ReleaseDiff
from annotation.workflow import adjudication, assignments, automatic_decisions, batches, perturbation_runs
from tableqa.releases.release_records import CURRENT_COUNTS
from tableqa.writers.documents import Paragraph
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_contradicted import checked, edited
from tests.annotation.test_evaluation_runs import said, sent
from tests.annotation.test_explorer_links import links, listed
from tests.annotation.test_explorer_links import said as said_of
from tests.annotation.test_mixing import perturbed_thrice

LATER = NOON + timedelta(seconds=61)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def client_of(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def labelled(world: World, labels: list[str], name: str) -> None:
    """Three people label a batch of one question, which is decided then."""
    batch = world.batch(size=1, name=name)
    for who, label in zip(("ada", "bo", "cy"), labels, strict=True):
        world.label(batch, who, label)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)


def released(world: World, name: str, formats: list[str] | None = None) -> Release:
    return creation.make_release(
        project=world.project, name=name, format=formats or ["askew"], by=world.rea, now=LATER
    )


def page_of(world: World, release: Release, **query: str) -> str:
    return client_of(world.rea).get(reverse("release", args=[release.public_id]), query).content.decode()


def compared(world: World, release: Release, **query: str) -> str:
    address = reverse("compare_releases", args=[release.public_id])
    return client_of(world.rea).get(address, query).content.decode()


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_files_licences_and_defined_figures_come_before_everything_else(world: World) -> None:
    perturbed_thrice(world)
    labelled(world, ["reasoning", "reasoning", "extraction"], "Types")

    page = page_of(world, released(world, "1.0", ["askew", "hf"]))

    assert "<h1>1.0</h1>" in page
    places = [
        page.index(mark)
        for mark in ("Download (zip)", 'id="files"', 'id="sources"', 'id="agreement"', 'id="undefined"')
    ]
    assert places == sorted(places)
    assert page.index('id="agreement"') < page.index("What was changed: ")
    assert "<details open>" not in page


def test_the_items_that_a_release_decided_are_a_selection_that_stays(world: World) -> None:
    labelled(world, ["reasoning", "reasoning", "extraction"], "Types")
    release = released(world, "1.0")
    labelled(world, ["reasoning", "reasoning", "reasoning"], "Decided afterwards")
    later = released(world, "1.1")

    numbers = links(client_of(world.mara), reverse("release", args=[release.public_id]))
    differing = links(client_of(world.mara), reverse("compare_releases", args=[later.public_id]))

    assert {number for address, number in numbers if f"release={release.public_id}" in address} == {1, 3}
    assert [number for address, number in differing if "state=accepted" in address] == [1, 2]
    assert unequal(world, [*numbers, *differing]) == []


def unequal(world: World, numbers: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The links whose selections have another number than they say."""
    client = client_of(world.mara)
    return [(address, number) for address, number in numbers if number not in said_of(client, address)]


def test_every_count_of_a_release_leads_to_what_it_counts(world: World) -> None:
    """Also where an item has several outcomes, people contradicted an example, and some items are undecided."""
    checked(world, "accepted", feeds_from=edited(world))
    several = world.batch("value_change", variant="answer_changes", only=["nu-1"], overlap=2)
    for who, year in (("ada", "1981"), ("bo", "1982")):
        assignment = world.take(several, who)
        assert assignment is not None
        edit = {"op": "set_cell", "row": "r1", "column": "c1", "at": [1, 1], "old": "1979", "new": year}
        response = {"unanswerable": False, "operations": [edit], "answers": [year], "reason": ""}
        world.answer(assignment, response)
    automatic_decisions.resolve_batch(batch=several, now=LATER)
    undecided = world.batch(size=2, overlap=2, name="Half")
    world.label(undecided, "ada", "extraction")
    release = released(world, "1.0")
    for who in ("bo", "ada"):
        world.label(undecided, who, "extraction")
    later = released(world, "1.1")
    counts = release.manifest["counts"]
    assert counts["outcomes"] > counts["accepted"]
    assert counts["undecided_items"] == 1

    numbers = links(client_of(world.mara), reverse("release", args=[release.public_id]))
    differing = links(client_of(world.mara), reverse("compare_releases", args=[later.public_id]))

    by_part = {address.partition("part=")[2]: number for address, number in numbers if "part=" in address}
    assert by_part == {
        "annotations": counts["responses"],
        "outcomes": counts["outcomes"],
        "undecided": counts["undecided_items"],
        "contradicted": counts["contradicted"],
    }
    assert unequal(world, [*numbers, *differing]) == []


def with_withdrawn_responses(world: World) -> tuple[Release, Release]:
    """A release of 4 responses by 3 people on 2 items, then one of 5: a response was sent back, and one was undone.

    Cy answers again only after the first release; Bo has no other response than the one that is undone.
    """
    batch = world.batch(size=1, name="Types")
    for who, label in zip(("ada", "bo", "cy"), ("extraction", "reasoning", "neither"), strict=True):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    item = batch.items.get()
    of_cy = Annotation.objects.get(assignment__person=world.cy).public_id
    adjudication.send_back(item=item, by=world.ivo, choose=of_cy, note="Read it again.", now=LATER)
    world.label(world.batch(size=1, seed=2, overlap=2, name="More types"), "ada", "extraction")
    undone = world.label(world.batch(size=1, seed=3, overlap=2, name="Undone"), "bo", "extraction")
    assignments.undo(annotation=undone, now=NOON)
    first = released(world, "1.0")
    sent_back = item.assignments.get(state=Assignment.State.LEASED)
    world.answer(sent_back, {"label": "extraction"}, now=LATER)
    return first, released(world, "2.0")


def test_a_response_that_was_withdrawn_or_submitted_again_counts_at_most_once(world: World) -> None:
    first, second = with_withdrawn_responses(world)

    assert [numbers_of(release) for release in (first, second)] == [(3, 2, 2, 2), (4, 3, 2, 2)]
    assert [release.manifest["counts"]["annotations"] for release in (first, second)] == [7, 8]
    for release, numbers in ((first, "3 annotators 2"), (second, "4 annotators 3")):
        page = words(page_of(world, release))
        assert f"responses {numbers}" in page
        assert "of 2 , 2 undecided" in page
    differing = compared(world, second)
    assert re.search(r"responses 3 4 \+1 annotators 2 3 \+1 items with a response 2 2 0", words(differing))
    mara = client_of(world.mara)
    pages = [reverse("release", args=[release.public_id]) for release in (first, second)]
    linked = [link for address in (*pages, f"{pages[1]}compare/") for link in links(mara, address)]
    assert {3, 4} <= {number for address, number in linked if "part=annotations" in address}
    assert unequal(world, linked) == []


def test_a_project_counts_the_responses_that_its_release_counts(world: World) -> None:
    _, release = with_withdrawn_responses(world)

    now = creation.study_now(project=world.project, pictures=set(), now=LATER)

    of_release = release.manifest["counts"]
    names = ("responses", "respondents", "answered_items")
    assert [now.manifest.counts[name] for name in names] == [of_release[name] for name in names]
    sentence = "4 responses by 3 people on 2 items; 0 items accepted, 0 excluded."
    for study in (now, creation.study_of(release, pictures=set())):
        assert sentence in [
            block.text for block in methods_appendix.blocks(study) if isinstance(block, Paragraph)
        ]


def numbers_of(release: Release) -> tuple[int, ...]:
    return tuple(release.manifest["counts"][name] for name in CURRENT_COUNTS)


def test_a_release_before_there_were_counts_of_responses_counts_revisions(world: World) -> None:
    first, second = with_withdrawn_responses(world)
    for name in CURRENT_COUNTS:
        del first.manifest["counts"][name]
    with immutable_rows.writable():
        first.save()

    assert "revisions 7 annotators 3" in words(page_of(world, first))
    assert "part=" not in page_of(world, first).partition("</dl>")[0]
    differing = words(compared(world, second))
    assert re.search(r"revisions 7 8 \+1 annotators 3 3 0 items with a revision 3 3 0", differing)
    appendix = methods_appendix.blocks(creation.study_of(first, pictures=set()))
    sentence = "7 revisions of responses by 3 people on 3 items; 0 items accepted, 0 excluded."
    assert sentence in [block.text for block in appendix if isinstance(block, Paragraph)]


def test_undefined_statistics_are_folded_with_their_number(world: World) -> None:
    labelled(world, ["reasoning", "reasoning", "reasoning"], "Types")

    release = released(world, "1.0")

    undefined = [one for one in release.manifest["agreement"] if one["value"] is None]
    assert undefined
    page = page_of(world, release)
    folded = page[page.index('<details id="undefined">') :]
    assert words(folded).strip().startswith(f"{len(undefined)} undefined statistic")
    shown = page[page.index('id="agreement"') : page.index('<details id="undefined">')]
    assert "undefined" not in words(shown)


def test_the_files_are_summed_by_format_and_listed_in_a_fold(world: World) -> None:
    perturbed_thrice(world)
    release = released(world, "1.0", ["askew", "robut", "lftqa"])

    page = page_of(world, release)

    files = release.manifest["files"]
    table = page[page.index('id="files"') : page.index("<details>", page.index('id="files"'))]
    numbers = [sum(name.startswith(f"{format}/") for name in files) for format in ("askew", "robut", "lftqa")]
    numbers.append(len(files) - sum(numbers))
    assert [int(number) for number in re.findall(r'</td><td class="n">(\d+)</td>', table)] == numbers
    assert f"{len(files)} files with checksums" in page
    assert all(name in page for name in files)


def test_an_example_that_the_address_names_is_unfolded(world: World) -> None:
    perturbed_thrice(world)

    assert "<details open>" in page_of(world, released(world, "1.0"), example="1")


def test_robustness_comes_from_the_stored_evaluations(world: World) -> None:
    perturbed_thrice(world)
    release = released(world, "1.0")
    assert "No model was evaluated on this release yet" in page_of(world, release)
    sent(client_of(world.rea), release, "TAPEX", said(release))
    address = reverse("release_robustness", args=[release.public_id])

    assert f'hx-get="{address}"' in page_of(world, release)
    rea = client_of(world.rea)
    assert rea.get(address)["Location"].endswith(
        f"/releases/{release.public_id}/evaluations/#figure-robustness"
    )
    part = rea.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<svg" in part
    assert "TAPEX" in part
    assert re.search(r"<th[^>]*>n</th>", part)
    assert f"/figures/evaluations/{release.public_id}/robustness.svg" in part
    title = "Robustness: share of originally correct answers that stay correct"
    assert title in part
    file = f"/figures/evaluations/{release.public_id}/robustness.md"
    assert title in rea.get(file).content.decode(), "the file has the title of the page"
    assert client_of(world.ivo).get(address, headers={"HX-Request": "true"}).status_code == 404


def test_two_releases_stand_beside_each_other_with_intervals_and_examples(world: World) -> None:
    labelled(world, ["reasoning", "reasoning", "extraction"], "Types")
    first = released(world, "1.0")
    labelled(world, ["extraction", "extraction", "extraction"], "More types")
    second = released(world, "2.0")

    page = compared(world, second, **{"with": first.public_id})

    text = words(page)
    assert "1.0 compared with 2.0" in text
    assert re.search(r"responses 3 6 \+3", text)
    assert "More types" in page[page.index('id="agreement"') :]
    assert "question_type.jsonl" in page
    row = words(page[page.index('<th scope="row">question_type.jsonl') :])
    assert re.match(r" ?question_type\.jsonl 1 0 0 Show ids added", row)
    assert f'href="{reverse("compare_releases", args=[second.public_id])}?with={first.public_id}"' in page_of(
        world, second
    )


@pytest.mark.parametrize("format", ["askew", "freb_tqa", "robut", "torr", "suc", "hf"])
def test_an_id_of_a_changed_record_lists_items_or_is_no_link(world: World, format: str) -> None:
    labelled(world, ["reasoning", "reasoning", "extraction"], "Types")
    released(world, "1.0", [format])
    perturbed_thrice(world)
    kinds = ["row", "row_shuffle"]
    perturbation_runs.perform(
        perturbation_runs.plan_run(project=world.project, kinds=kinds, seeds=[1], now=LATER)
    )

    page = compared(world, released(world, "2.0", [format]))

    examples = page[page.index('id="examples"') :]
    ids = re.findall(r'(?:<a href="([^"]*)">)?<code dir="auto">([^<]*)</code>', examples)
    mara = client_of(world.mara)
    addresses = {unescape(address) for address, _ in ids if address}
    assert addresses
    assert 0 not in {listed(mara, address) for address in addresses}
    assert not [id for address, id in ids if "nu-0" in id and not address], "only nu-0 has items"


def test_without_a_choice_the_release_before_is_taken(world: World) -> None:
    labelled(world, ["reasoning", "reasoning", "extraction"], "Types")
    first = released(world, "1.0")
    rea, address = client_of(world.rea), reverse("compare_releases", args=[first.public_id])
    assert rea.get(address)["Location"] == reverse("release", args=[first.public_id])
    second, third = released(world, "2.0", ["hf"]), released(world, "3.0", ["suc"])

    assert "2.0 compared with 3.0" in words(compared(world, third))
    assert "1.0 compared with 2.0" in words(compared(world, second))
    assert "2.0 compared with 1.0" not in words(compared(world, third, **{"with": first.public_id}))
    assert rea.get(address, {"with": "nothing"}).status_code == 404
    assert client_of(world.ada).get(address).status_code == 404


def test_the_same_contents_under_two_names_differ_in_nothing(world: World) -> None:
    labelled(world, ["reasoning", "reasoning", "extraction"], "Types")
    released(world, "1.0")

    text = words(compared(world, released(world, "again")))

    assert "No figure of agreement differs" in text
    assert "The benchmark files are identical" in text


def test_files_of_a_format_that_one_release_has_are_not_changes(world: World) -> None:
    perturbed_thrice(world)
    released(world, "1.0", ["askew"])
    second = released(world, "1.1", ["askew", "hf"])

    page = compared(world, second)

    assert "The benchmark files are identical." in page
    assert "Not compared, because only one of the releases has them: hf." in words(page)


def test_releases_with_too_many_changes_name_the_command(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_comparison, "MOST_RECORDS", 1)
    labelled(world, ["reasoning", "reasoning", "extraction"], "Types")
    released(world, "1.0")
    labelled(world, ["extraction", "extraction", "extraction"], "More types")

    assert "./run manage diff_releases A B" in compared(world, released(world, "2.0"))


def test_a_file_lists_its_first_ids_and_says_how_many_more() -> None:
    ids = tuple(str(number) for number in range(60))

    [file], [] = release_comparison.files(
        ReleaseDiff((), (FileDiff("question_type.jsonl", ids, (), ("a",)),)), {"askew"}
    )

    assert (file.added.number, len(file.added.first), file.added.more) == (60, 50, 10)
    assert (file.changed.number, file.changed.first, file.changed.more) == (1, [("a", "")], 0)
