"""Agreement while a study runs: page, command and release say the same; slices, pairs, and what does not enter."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Assignment, Batch, Item, Person, Slot, Snapshot
from annotation.quality import agreement_report, compared_responses, label_agreement, rating_tallies
from annotation.quality.compared_responses import RatedResponse
from annotation.releases import creation
from annotation.web.views.annotator_quality import lacking_habits
from annotation.workflow import batches
from tableqa import Example, Table
from tableqa.agreement.pairs import cohen_kappa
from tableqa.quality_control.careless_responding import TOO_FEW, TOO_FEW_OF_OTHERS
from tasks.contract import task_type
from tests.annotation.cast import NOON, World

LABELS = ("extraction", "reasoning", "neither")


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def questions(number: int) -> list[Example]:
    table = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"], ["Stalker", "1979"]])
    return [
        Example(id=f"q{place}", question=f"when did film {place} come out?", table=table, answers=["1995"])
        for place in range(number)
    ]


def labelled(world: World, number: int = 6, **more: Any) -> Batch:
    """A batch in which Ada and Bo agree more than either does with Cy."""
    source = world.import_written(*questions(number))
    batch = world.batch(sources=[source], **more)
    said = {
        "ada": [LABELS[place % 2] for place in range(number)],
        "bo": [LABELS[place % 2] if place != 1 else "neither" for place in range(number)],
        "cy": [LABELS[place % 3] for place in range(number)],
    }
    for who, labels in said.items():
        for label in labels:
            world.label(batch, who, label)
    return batch


def test_the_page_the_command_and_the_release_say_the_same(world: World, tmp_path: Path) -> None:
    batch = labelled(world, name="Labels")
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    page = browser(world.mara).get("/projects/films/agreement/")
    told = Snapshot.objects.get(key=f"agreement:{batch.public_id}").data["figures"]["figures"]
    out = io.StringIO()
    call_command("agreement", "--project", "films", "--json", stdout=out)
    commanded = json.loads(out.getvalue())["agreement"]
    release = creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=NOON, out=tmp_path / "out"
    )
    released = release.manifest["agreement"]

    assert len(told) == 4
    assert {one.pop("no_interval") for one in commanded} == {""}
    assert [{k: v for k, v in one.items() if k != "batch"} for one in commanded] == told
    for figure in released:
        exact = figure.pop("exact")
        assert {end: round(exact[end], 6) for end in exact} == {end: figure[end] for end in exact}
    assert [{k: v for k, v in one.items() if k != "batch"} for one in released] == told
    assert {one["statistic"] for one in told} == {
        "fleiss_kappa",
        "krippendorff_alpha_nominal",
        "percent_agreement",
        "gwet_ac1",
    }
    for one in told:
        assert f"{one['value']:.3f}" in text(page)
    call_command("verify_release", str(tmp_path / "out"), stdout=io.StringIO())


def test_the_command_prints_no_interval_of_zero_width(world: World) -> None:
    batch = world.batch(name="Alike", overlap=2)
    for who in ("ada", "bo"):
        for _ in range(3):
            world.label(batch, who, "reasoning")
    out = io.StringIO()

    call_command("agreement", "--project", "films", stdout=out)

    lines = {line.split("  ")[2]: line for line in out.getvalue().splitlines()}
    assert "1.000 (95 % CI 0.457 to 1.000, n = 3" in lines["percent_agreement"]
    assert not any("CI 1.000 to 1.000" in line for line in lines.values())


def test_gold_added_places_and_batches_set_aside_do_not_enter(world: World) -> None:
    batch = labelled(world)
    before = agreement_report.batch_figures(batch)[0]
    assert before.ratings == 18
    item = Item.objects.filter(batch=batch).order_by("position")[0]
    Item.objects.filter(pk=item.pk).update(is_gold=True)
    assert agreement_report.batch_figures(batch)[0].ratings == 15
    other = Item.objects.filter(batch=batch).order_by("position")[1]
    Slot.objects.filter(item=other, number=Slot.objects.filter(item=other).latest("number").number).update(
        added=True
    )
    assert agreement_report.batch_figures(batch)[0].ratings == 14

    Batch.objects.filter(pk=batch.pk).update(set_aside_at=NOON)
    assert "No batch was opened yet" in text(browser(world.mara).get("/projects/films/agreement/"))
    out = io.StringIO()
    call_command("agreement", "--project", "films", "--json", stdout=out)
    assert json.loads(out.getvalue())["agreement"] == []


def test_a_calibration_round_compares_edits_however_many_people_were_there_at_first(world: World) -> None:
    batch = world.batch("value_change", variant="answer_changes", purpose="calibration", overlap=1)
    Batch.objects.filter(pk=batch.pk).update(overlap=1)
    batch.refresh_from_db()

    assert [one.level for one in rating_tallies.measures_of(batch.task(), batch.people_compared)] == ["edits"]


def test_a_calibration_round_is_no_part_of_the_study_and_yet_has_figures(world: World) -> None:
    batch = labelled(world)
    Batch.objects.filter(pk=batch.pk).update(purpose=Batch.Purpose.CALIBRATION)

    assert agreement_report.batch_figures(Batch.objects.get(pk=batch.pk))[0].units == 6
    mara = browser(world.mara)
    assert batch.name not in text(mara.get("/projects/films/agreement/"))
    page = text(mara.get(f"/projects/films/agreement/?batch={batch.public_id}"))
    assert "This batch is a calibration round" in page
    assert "Fleiss" in page
    member = world.project.memberships.get(person=world.mara)
    member.roles = ["manager", "annotator"]
    member.save()
    assert batch.name not in text(mara.get(f"/projects/films/agreement/?batch={batch.public_id}"))


def test_weeks_are_those_of_the_project_and_of_an_items_last_response(world: World) -> None:
    batch = world.batch(size=2)
    sunday = NOON.replace(
        day=1, hour=23, minute=30
    )  # 1 March 2026 is a Sunday; in Kiritimati it is Monday by then
    for who, now in (
        ("ada", sunday - timedelta(days=7)),
        ("bo", sunday),
        ("cy", sunday),
    ):
        for _ in range(2):
            assignment = world.take(batch, who)
            assert assignment is not None
            world.answer(assignment, {"label": "extraction"}, now=now)

    assert {row.week for row in compared_responses.rated_responses(batch)} == {"2026-W09"}
    world.project.time_zone = "Pacific/Kiritimati"
    world.project.save()
    assert {row.week for row in compared_responses.rated_responses(Batch.objects.get(pk=batch.pk))} == {
        "2026-W10"
    }


def test_every_pair_is_given_cohens_kappa_of_what_both_rated(world: World) -> None:
    batch = labelled(world, 8)
    found = agreement_report.report(batch)["measures"][0]
    said: dict[str, dict[str, str]] = {}
    for row in compared_responses.rated_responses(batch):
        said.setdefault(row.annotator, {})[row.item] = row.response.label
    assert found["pair_statistic"] == "cohen_kappa"
    assert len(found["pairs"]) == 3
    for pair in found["pairs"]:
        items = sorted(said[pair["one"]])
        expected = cohen_kappa(
            [said[pair["one"]][item] for item in items], [said[pair["other"]][item] for item in items]
        )
        assert pair["value"] == pytest.approx(expected.value, abs=1e-6)
        assert (pair["low"], pair["high"]) == (
            pytest.approx(expected.low, abs=1e-6),
            pytest.approx(expected.high, abs=1e-6),
        )
        assert pair["units"] == 8
    best = max(found["people"], key=lambda one: one["value"])
    worst = min(found["people"], key=lambda one: one["value"])
    assert best["person"] in {str(world.ada.pk), str(world.bo.pk)}
    assert worst["person"] == str(world.cy.pk)


def test_an_annotator_sees_no_live_agreement_whatever_else_they_are(world: World) -> None:
    batch = labelled(world)
    world.take(world.batch(name="Other"), "ada")
    member = world.project.memberships.get(person=world.mara)
    member.roles = ["manager", "annotator"]
    member.save()
    mara = browser(world.mara)

    page = text(mara.get("/projects/films/agreement/"))
    assert "You annotate in" in page
    assert "0." not in page
    dashboard = text(mara.get("/projects/films/dashboard/"))
    assert "You annotate in" in dashboard
    assert "You annotate in this batch." in text(mara.get(f"/batches/{batch.public_id}/quality/"))
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    assert "Fleiss" in text(mara.get("/projects/films/agreement/"))


def test_managers_read_names_researchers_pseudonyms_and_who_may_have_to_decide_neither(world: World) -> None:
    batch = labelled(world)
    pseudonyms = dict(world.project.memberships.values_list("person__name", "pseudonym"))
    for address in ("/projects/films/agreement/", f"/batches/{batch.public_id}/quality/"):
        for who in ("ivo", "rea"):
            page = text(browser(world.people[who]).get(address))
            assert (pseudonyms["Cy"] in page) is (who == "rea"), (who, address)
            assert not re.search(r"\bCy\b", page), (who, address)
        page = text(browser(world.mara).get(address))
        assert re.search(r"\bCy\b", page), address
        assert pseudonyms["Cy"] not in page


def test_the_page_says_how_many_more_items_a_wanted_width_takes(world: World) -> None:
    labelled(world, 24)
    mara = browser(world.mara)
    wide = text(mara.get("/projects/films/agreement/?within=0.4"))
    narrow = text(mara.get("/projects/films/agreement/?within=0.02"))

    assert "already within ± 0.4" in wide
    assert re.search(
        r"About [\d,]+ more labelled items would bring the confidence interval within ± 0.02", narrow
    )
    assert "Ensure this value is" in text(mara.get("/projects/films/agreement/?within=7"))


def test_an_empty_study_says_what_to_do_next(world: World) -> None:
    mara = browser(world.mara)
    assert "Open a batch" in text(mara.get("/projects/films/agreement/"))
    assert "Open a batch" in text(mara.get("/projects/films/dashboard/"))
    batch = world.batch()
    page = text(mara.get("/projects/films/agreement/"))
    assert f"No responses yet in these batches: {batch.name}" in page
    world.label(batch, "ada", "extraction")
    assert "undefined: No unit has two ratings" in text(mara.get("/projects/films/agreement/"))
    batch = world.batch()
    assert "No submissions yet" in text(mara.get(f"/batches/{batch.public_id}/quality/"))


def test_a_batch_without_two_responses_to_an_item_says_once_that_there_is_not_enough_data(
    world: World,
) -> None:
    batch = world.batch(overlap=2)
    mara = browser(world.mara)
    empty = text(mara.get(f"/batches/{batch.public_id}/"))
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
    begun = text(mara.get(f"/batches/{batch.public_id}/"))

    agreement = text(mara.get("/projects/films/agreement/"))
    assert len(re.findall("not enough data yet", agreement, re.IGNORECASE)) == 2, "of the table, of the batch"
    assert empty.count("Not enough data yet. No unit has two ratings") == 1
    assert "undefined" not in empty
    assert "Not enough data" not in begun
    assert "percent agreement" in begun
    quality = text(mara.get(f"/batches/{batch.public_id}/quality/"))
    assert quality.count("Not enough data yet") == 1, "once for the page"
    needed = "At least 10 timed items of the person are needed. Too few: Ada (n = 0), Bo (n = 0)."
    assert f"Time: {needed}" in quality
    assert f"Change of pace: {needed}" in quality
    assert (
        "One label: At least 10 labels of the person and 10 of the others together are needed. "
        "Too few: Ada (n = 1), Bo (n = 1)."
    ) in quality


def test_who_has_enough_data_is_not_named_among_those_who_have_too_little() -> None:
    few = {"kind": "always_the_same", "sentence": TOO_FEW.format(items=3, needed=10)}
    few_others = {"kind": "always_the_same", "sentence": TOO_FEW_OF_OTHERS.format(items=3, needed=10)}
    enough = {"kind": "always_the_same", "sentence": "Everything is said."}
    people = [
        {"name": name, "all_habits": [habit]}
        for name, habit in (("Ada", few), ("Bo", few_others), ("Cy", enough))
    ]

    (line,) = lacking_habits(people)

    assert line["people"] == "Ada (n = 3), Bo (others: n = 3)"


def test_edits_of_several_people_are_compared(world: World) -> None:
    batch = world.batch("value_change", size=1, variant="answer_changes", overlap=2)
    kind = task_type("value_change")
    operation = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
    items = [f"i{number}" for number in range(4)]

    def row(item: str, who: str, new: str) -> RatedResponse:
        data = {"operations": [operation | {"new": new}], "answers": [new]}
        envelope = {"version": kind.version, "data": {"unanswerable": False, **data}}
        return RatedResponse(item, who, compared_responses.restore_response(kind, envelope))

    rows = [
        row(item, who, "1996" if who == "a" or item != "i3" else "2001") for item in items for who in "ab"
    ]
    shapes = dict.fromkeys(items, (4, 3))
    same = [row(item, who, f"19{number}6") for number, item in enumerate(items) for who in "ab"]

    found = rating_tallies.figures_of(
        rating_tallies.tallies(kind, (one[:3] for one in rows), shapes, batch.overlap)
    )
    assert [one.statistic for one in found] == ["edits_masi", "edits_jaccard"]
    assert (found[0].units, found[0].raters, found[0].ratings) == (4, 2, 8)
    assert 0 < (found[0].value or 0) < 1
    assert [
        one.value
        for one in rating_tallies.figures_of(
            rating_tallies.tallies(kind, (one[:3] for one in same), shapes, 2)
        )
    ] == [
        1.0,
        1.0,
    ]
    assert rating_tallies.figures_of(rating_tallies.tallies(kind, (one[:3] for one in rows), shapes, 1)) == []


def test_sets_of_causes_are_compared_as_sets() -> None:
    kind = task_type("metric_failure")
    rows = [
        (item, who, kind.response_type(causes=causes, note=""))
        for item, both in {
            "one": (("number", "other"), ("number",)),
            "two": (("answer_length",), ("answer_length",)),
        }.items()
        for who, causes in zip("ab", both, strict=True)
    ]
    named = {
        (one.measure, one.statistic): one
        for one in rating_tallies.figures_of(rating_tallies.tallies(kind, rows))
    }
    masi = named["all causes", "krippendorff_alpha_masi"]
    assert masi.value is not None
    assert 0 < masi.value < 1
    assert named["all causes", "percent_agreement"].value == 0.5


# -- properties -------------------------------------------------------------------------------------

ratings = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("abcd"), st.sampled_from(LABELS), min_size=1),
        st.sampled_from(["one", "two"]),
        st.sampled_from(["2026-W09", "2026-W10"]),
    ),
    min_size=1,
    max_size=12,
)


def rows_of(found: Iterable[tuple[dict[str, str], str, str]]) -> list[RatedResponse]:
    kind = task_type("question_type")
    return [
        RatedResponse(f"i{number:02}", who, kind.restore({"label": label}), source, week)
        for number, (said, source, week) in enumerate(found)
        for who, label in said.items()
    ]


@given(ratings)
def test_slices_add_up_to_the_whole(found: list[tuple[dict[str, str], str, str]]) -> None:
    (one,) = agreement_report.survey_measures(task_type("question_type").measures, rows_of(found))

    for slices in (one.sources, one.weeks):
        assert sum(slice.patterns.total() for slice in slices.values()) == one.whole.patterns.total()
        assert set().union(*(slice.raters for slice in slices.values())) == one.whole.raters
    pairs = sum(tally.patterns.total() for tally in one.pairs.values())
    assert sum(tally.patterns.total() for tally in one.people.values()) == 2 * pairs
    confused = label_agreement.confusion(one.whole)
    if confused is not None:
        assert sum(map(sum, confused["counts"])) == 2 * pairs


@given(ratings)
def test_a_survey_and_the_figures_of_a_release_are_the_same(
    found: list[tuple[dict[str, str], str, str]],
) -> None:
    kind = task_type("question_type")
    (one,) = agreement_report.survey_measures(kind.measures, rows_of(found))

    assert [
        one.whole.figure(name) for name in rating_tallies.statistics_of(one.whole.measure)
    ] == rating_tallies.figures_of(rating_tallies.tallies(kind, (row[:3] for row in rows_of(found))))


def test_no_more_people_than_can_be_shown_are_paired(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = labelled(world)
    monkeypatch.setattr(agreement_report, "IN_PAIRS", 2)
    found = agreement_report.report(batch)["measures"][0]

    assert len(found["pairs"]) == 1
    assert len(found["people"]) == 3
    assert Assignment.objects.filter(batch=batch).submitted().count() == 18


def test_the_command_gives_intervals_for_other_people_on_request(world: World) -> None:
    labelled(world, name="Labels")
    over_items, over_people = io.StringIO(), io.StringIO()
    call_command("agreement", "--project", "films", "--json", stdout=over_items)
    call_command("agreement", "--project", "films", "--json", "--people", stdout=over_people)

    figures, wider = (json.loads(out.getvalue())["agreement"] for out in (over_items, over_people))

    assert len(figures) == 4
    for figure, wide in zip(figures, wider, strict=True):
        ends = ("low", "high")
        assert {k: v for k, v in wide.items() if k not in ends} == {
            k: v for k, v in figure.items() if k not in ends
        }
        assert wide["low"] < figure["low"] < figure["high"] <= wide["high"]
