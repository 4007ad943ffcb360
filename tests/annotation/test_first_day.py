"""The first day: consent, guidelines, practice, questions, calibration, trying – each as people meet it."""

from __future__ import annotations

import json
import re
from typing import Any
from unittest.mock import patch

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import (
    Assignment,
    Batch,
    Consent,
    Decision,
    Event,
    Example,
    Gold,
    Guidelines,
    Inquiry,
    Item,
    Person,
    PracticeResult,
    Reading,
)
from annotation.platform.refusals import ActionRefused, refuse
from annotation.quality import (
    annotator_questions,
    batch_preview,
    calibration,
    gold,
    guidelines,
)
from annotation.quality import (
    consent as quality_consent,
)
from annotation.queue import entry_requirements, practice
from annotation.workflow import automatic_decisions, batches
from tasks.contract import task_type
from tests.annotation.cast import NOON, World, envelope
from tests.annotation.plain_page import PlainPage, fill


def client_of(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def said(response: Any) -> str:
    return " ".join(response.content.decode().split())


def must(batch: Batch, **what: Any) -> None:
    Batch.objects.filter(pk=batch.pk).update(**what)
    batch.refresh_from_db()


# -- consent ----------------------------------------------------------------------------------------


def test_somebody_agrees_and_is_led_back_to_the_batch(world: World) -> None:
    batch = world.batch()
    quality_consent.write(project=world.project, text="We publish your labels.", by=world.mara, now=NOON)
    client = client_of(world.ada)
    annotate = reverse("annotate", args=[batch.public_id])

    sent = client.get(annotate)
    assert sent.status_code == 302
    page = client.get(sent["Location"])
    assert "We publish your labels." in said(page)
    agreed = client.post(sent["Location"], {"action": "agree", "number": 1})

    assert agreed["Location"] == annotate
    assert client.get(annotate).status_code == 200
    consent = Consent.objects.get()
    assert (consent.person, consent.text.number) == (world.ada, 1)
    assert Event.objects.filter(thing="consent", thing_id=consent.pk, after="given").count() == 1


def test_who_reads_an_old_text_does_not_agree_to_the_new_one(world: World) -> None:
    for text in ("One.", "Two."):
        quality_consent.write(project=world.project, text=text, by=world.mara, now=NOON)

    with pytest.raises(ActionRefused, match="changed while you were reading"):
        quality_consent.agree(project=world.project, person=world.ada, version=1, now=NOON)


def test_the_same_text_is_no_new_version_and_agreeing_twice_is_agreeing_once(world: World) -> None:
    for _ in range(2):
        assert quality_consent.write(project=world.project, text="One.", by=world.mara, now=NOON).number == 1
        quality_consent.agree(project=world.project, person=world.ada, version=1, now=NOON)

    assert Consent.objects.count() == 1
    assert Event.objects.filter(thing="consent").count() == 1


def test_taking_consent_back_gives_the_items_on_the_desk_to_others(world: World) -> None:
    batch = world.batch(overlap=1)
    quality_consent.write(project=world.project, text="One.", by=world.mara, now=NOON)
    quality_consent.agree(project=world.project, person=world.ada, version=1, now=NOON)
    batch.project.refresh_from_db()
    world.label(batch, "ada", "extraction")
    world.take(batch, "ada")

    assert quality_consent.withdraw(project=world.project, person=world.ada, now=NOON) == 1

    states = Assignment.objects.filter(person=world.ada).values_list("state", flat=True)
    assert sorted(states) == ["returned", "submitted"]
    with pytest.raises(ActionRefused) as refused:
        world.take(batch, "ada")
    assert refused.value.code == "consent_needed"
    assert "withdrawn your consent" in said(
        client_of(world.ada).post(
            reverse("consent", args=["films"]), {"action": "withdraw", "confirmed": "yes"}, follow=True
        )
    )
    quality_consent.agree(project=world.project, person=world.ada, version=1, now=NOON)
    assert world.take(batch, "ada") is not None


def test_the_consent_page_says_what_can_be_erased_and_what_stays(world: World) -> None:
    quality_consent.write(project=world.project, text="We publish your labels.", by=world.mara, now=NOON)
    quality_consent.agree(project=world.project, person=world.ada, version=1, now=NOON)

    page = client_of(world.ada).get(reverse("consent", args=["films"]))

    text = said(page)
    assert "Your submitted responses stay in the project and its releases, under a pseudonym." in text
    assert "ask the manager" not in text
    assert f'<a href="{reverse("erase_me")}">erase your personal data</a>' in page.content.decode()


def test_a_new_version_after_nobody_was_asked_keeps_counting(world: World) -> None:
    quality_consent.write(project=world.project, text="One.", by=world.mara, now=NOON)
    quality_consent.stop(project=world.project, by=world.mara, now=NOON)
    assert quality_consent.current(world.project) is None

    assert quality_consent.write(project=world.project, text="One.", by=world.mara, now=NOON).number == 2


def test_managers_see_how_many_agreed_to_which_version_in_one_statement(world: World) -> None:
    quality_consent.write(project=world.project, text="One.", by=world.mara, now=NOON)
    for who in (world.ada, world.bo):
        quality_consent.agree(project=world.project, person=who, version=1, now=NOON)
    quality_consent.withdraw(project=world.project, person=world.bo, now=NOON)
    quality_consent.write(project=world.project, text="Two.", by=world.mara, now=NOON)

    with CaptureQueriesContext(connection) as seen:
        found = quality_consent.versions(world.project)

    assert len(seen) == 1
    assert [(one.text.number, one.standing, one.withdrawn) for one in found] == [(2, 0, 0), (1, 1, 1)]
    row = (
        client_of(world.mara).get(reverse("consent", args=["films"])).content.decode().split("?version=1")[1]
    )
    assert row.split("</tr>")[0].count('<td class="n">1</td>') == 2


@pytest.mark.parametrize("text", ["", " \r\n ", "x" * 200_001])
def test_a_consent_text_says_something(world: World, text: str) -> None:
    with pytest.raises(ActionRefused):
        quality_consent.write(project=world.project, text=text, by=world.mara, now=NOON)


def test_html_in_a_consent_text_is_text(world: World) -> None:
    quality_consent.write(project=world.project, text="<script>alert(1)</script>", by=world.mara, now=NOON)

    page = said(client_of(world.ada).get(reverse("consent", args=["films"])))

    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


# -- guidelines -------------------------------------------------------------------------------------

GUIDELINES = "# Types\n\nExtraction is looking up.\nReasoning is counting.\n\nThat is all.\n"


def revise(world: World, text: str) -> Guidelines:
    return guidelines.revise(
        project=world.project, task=task_type("question_type"), text=text, person=world.mara, now=NOON
    )


def test_guidelines_are_confirmed_and_again_after_a_change_with_what_changed(world: World) -> None:
    batch = world.batch()
    revise(world, GUIDELINES)
    guidelines.require_reading(project=world.project, required=True, by=world.mara, now=NOON)
    client = client_of(world.ada)
    annotate = reverse("annotate", args=[batch.public_id])
    sent = client.get(annotate)
    assert "I have read these guidelines" in said(client.get(sent["Location"]))
    assert client.post(sent["Location"], {"action": "confirm", "number": 2})["Location"] == annotate
    assert client.get(annotate).status_code == 200

    revise(world, GUIDELINES.replace("counting", "counting or comparing"))

    sent = client.get(annotate)
    page = said(client.get(sent["Location"]))
    assert "Changes from version 2, which you confirmed, to version 3" in page
    assert "<ins> or comparing</ins>" in page
    assert "I have read these guidelines" in page
    client.post(sent["Location"], {"action": "confirm", "number": 2})
    assert client.get(annotate).status_code == 302  # an older version is not the one that counts
    client.post(sent["Location"], {"action": "confirm", "number": 3})
    assert client.get(annotate).status_code == 200
    assert Reading.objects.filter(person=world.ada).count() == 2


def test_nobody_is_asked_to_confirm_where_the_project_does_not_ask(world: World) -> None:
    world.batch()
    page = said(client_of(world.ada).get(reverse("guidelines", args=["films", "question_type"])))

    assert "I have read these guidelines" not in page


def test_frozen_guidelines_are_not_rewritten_by_accident(world: World) -> None:
    newest = revise(world, GUIDELINES)
    for _ in range(2):
        guidelines.freeze(guidelines=newest, frozen=True, by=world.mara, now=NOON)
    assert Event.objects.filter(thing="guidelines", after="frozen").count() == 1

    with pytest.raises(ActionRefused, match="Version 2 is frozen"):
        revise(world, "Other words.\n")
    assert revise(world, GUIDELINES) == newest  # nothing changes, nothing is refused
    guidelines.freeze(guidelines=newest, frozen=False, by=world.mara, now=NOON)

    assert revise(world, "Other words.\n").number == 3
    with pytest.raises(ActionRefused, match="Only the current version"):
        guidelines.freeze(guidelines=newest, frozen=True, by=world.mara, now=NOON)


def test_each_version_says_what_was_made_under_it_in_three_statements(world: World) -> None:
    batch = world.batch()
    world.label(batch, "ada", "extraction")
    second = revise(world, GUIDELINES)
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
        guidelines.confirm(guidelines=second, person=world.people[who], now=NOON)

    with CaptureQueriesContext(connection) as seen:
        found = guidelines.versions(world.project, "question_type")

    assert len(seen) == 3
    assert [(one.guidelines.number, one.annotations, one.readers) for one in found] == [(2, 2, 2), (1, 1, 0)]


def test_a_manager_is_told_what_a_new_version_does_before_writing_it(world: World) -> None:
    batch = world.batch()
    world.label(batch, "ada", "extraction")
    guidelines.require_reading(project=world.project, required=True, by=world.mara, now=NOON)
    guidelines.confirm(guidelines=Guidelines.objects.get(), person=world.bo, now=NOON)

    page = said(client_of(world.mara).get(reverse("guidelines", args=["films", "question_type"]) + "?edit"))

    assert "1 annotation made under version 1 keeps this version." in page
    assert "1 person who confirmed it must confirm the new version" in page


def test_a_change_of_a_word_shows_the_word() -> None:
    found = guidelines.diff_lines("Count the rows.\nStay calm.\n", "Count the columns.\nStay calm.\n")

    changed = next(line for line in found if line.what == "changed")
    assert [(words.text, words.what) for words in changed.words] == [
        ("Count the ", "same"),
        ("rows", "removed"),
        ("columns", "added"),
        (".", "same"),
    ]


def test_lines_that_stayed_are_left_out_but_for_one_around_a_change() -> None:
    before = "".join(f"Line {number}.\n" for number in range(20))
    found = guidelines.diff_lines(before, before.replace("Line 10.", "Something else altogether"))

    assert [line.what for line in found] == ["gap", "same", "removed", "added", "same", "gap"]


lines = st.lists(
    st.sampled_from(["", "one two", "one two three", "four", "five six", "1. seven"]), max_size=8
)


@given(lines, lines)
def test_a_comparison_gives_both_texts_back(before: list[str], after: list[str]) -> None:
    found = guidelines.diff_lines("\n".join(before), "\n".join(after))

    def one_side(without: str, whole: str) -> list[str]:
        sides = []
        for line in found:
            if line.what in ("gap", whole):
                continue
            sides.append("".join(words.text for words in line.words if words.what != without))
        return sides

    old, new = "\n".join(before).splitlines(), "\n".join(after).splitlines()
    assert bool(found) == (old != new)
    assert _is_part(one_side("added", "added"), old)
    assert _is_part(one_side("removed", "removed"), new)
    if found and not any(line.what == "gap" for line in found):
        assert one_side("added", "added") == old
        assert one_side("removed", "removed") == new


def _is_part(some: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in some)


# -- practice ---------------------------------------------------------------------------------------


def practise(client: Client, number: int, right: bool, variant: str = "") -> Any:
    task = task_type("question_type")
    exercise = practice.exercises(task)[number - 1]
    label = exercise.expected.label
    wrong = next(one for one in ("extraction", "reasoning", "neither") if one != label)
    named = {"type": task.key, "variant": "", "version": task.version, "base": exercise.item.base}
    response = {**named, "data": {"label": label if right else wrong}}
    body = {"number": number, "variant": variant, "response": response}
    return client.post(
        "/api/projects/films/practice/question_type/", json.dumps(body), content_type="application/json"
    )


def test_who_went_through_the_whole_set_may_begin_and_first_goes_count(world: World) -> None:
    batch = world.batch()
    must(batch, must_practise=True)
    client = client_of(world.ada)
    total = len(practice.exercises(task_type("question_type")))
    sent = client.get(reverse("annotate", args=[batch.public_id]))
    assert "/practice/question_type/" in sent["Location"]

    practise(client, 1, right=False)
    for number in range(1, total):
        practise(client, number, right=True)
    assert not PracticeResult.objects.exists()
    assert client.get(reverse("annotate", args=[batch.public_id])).status_code == 302
    practise(client, total, right=True)

    done = PracticeResult.objects.get()
    assert (done.person, done.right, done.judged) == (world.ada, total - 1, total)
    assert client.get(reverse("annotate", args=[batch.public_id])).status_code == 200
    assert entry_requirements.first_unmet(batch=batch, person=world.bo, now=NOON) is not None


def test_practice_that_nobody_asks_for_leaves_nothing_behind(world: World) -> None:
    world.batch()
    client = client_of(world.ada)
    before = rows()
    for number in range(1, 1 + len(practice.exercises(task_type("question_type")))):
        assert practise(client, number, right=True).status_code == 200

    assert rows() == before


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from([True, False, None])), max_size=12))
def test_only_the_first_go_at_an_exercise_counts(goes: list[tuple[int, bool | None]]) -> None:
    kept = ""
    first: dict[int, bool | None] = {}
    for number, right in goes:
        kept = practice.add_attempt(kept, number, right, 4)
        first.setdefault(number, right)

    letters = {True: "r", False: "w", None: "u"}
    assert (kept or "----") == "".join(letters[first[n]] if n in first else "-" for n in range(1, 5))


def test_a_session_of_another_practice_set_is_begun_anew() -> None:
    assert practice.add_attempt("rr", 1, False, 3) == "w--"
    assert practice.add_attempt("r<x", 2, True, 3) == "-r-"


# -- questions --------------------------------------------------------------------------------------


def test_a_question_from_an_item_is_answered_for_everybody(world: World) -> None:
    batch = world.batch()
    assignment = world.take(batch, "ada")
    assert assignment is not None
    asked = client_of(world.ada).post(
        f"/api/assignments/{assignment.public_id}/ask/",
        json.dumps({"text": "Is a year a number?"}),
        content_type="application/json",
    )
    assert asked.status_code == 200
    address = reverse("inquiries", args=["films"])
    assert "Is a year a number?" not in said(client_of(world.bo).get(address))
    mine = said(client_of(world.ada).get(address))
    assert "Is a year a number?" in mine
    assert "unanswered" in mine
    managers = said(client_of(world.mara).get(address))
    assert "Ada" in managers
    assert assignment.item.example.question in managers

    inquiry = Inquiry.objects.get()
    client_of(world.mara).post(address, {"action": f"answer:{inquiry.public_id}", "answer": "Yes, it is."})

    page = said(client_of(world.bo).get(address))
    assert "Is a year a number?" in page
    assert "Yes, it is." in page
    assert "Another person" in page
    assert assignment.item.example.question in page
    assert reverse("example", args=[assignment.item.example.public_id]) not in page
    assert "Ada" not in page
    assert Event.objects.filter(thing="inquiry").values_list("after", flat=True).count() == 2


def test_asking_twice_is_asking_once_and_the_item_stays(world: World) -> None:
    batch = world.batch()
    assignment = world.take(batch, "ada")
    for _ in range(2):
        annotator_questions.ask(
            project=world.project, person=world.ada, text="Why?\r\n", assignment=assignment, now=NOON
        )

    assert Inquiry.objects.get().text == "Why?"
    assert Assignment.objects.get().state == "leased"


def test_open_questions_come_first_the_oldest_on_top(world: World) -> None:
    made = [
        annotator_questions.ask(project=world.project, person=world.ada, text=text, now=NOON)
        for text in ("a", "b", "c")
    ]
    annotator_questions.answer(inquiry=made[0], text="yes", by=world.mara, now=NOON)

    found = annotator_questions.readable_inquiries(world.project, world.mara, answers=True)

    assert [one.text for one in found] == ["b", "c", "a"]
    assert annotator_questions.open_count(world.project) == 2


def test_a_changed_answer_says_so_and_the_log_holds_what_it_was(world: World) -> None:
    asked = annotator_questions.ask(
        project=world.project, person=world.ada, text="Do totals count?", now=NOON
    )
    annotator_questions.answer(inquiry=asked, text="Yes.", by=world.mara, now=NOON)
    page = client_of(world.ada).get(reverse("inquiries", args=["films"]))
    assert "<strong>changed</strong>" not in said(page)
    seen = annotator_questions.readable_inquiries(world.project, world.ada, answers=False).values_list(  # type: ignore[misc]
        "answered_again", flat=True
    )
    once = seen.get()
    annotator_questions.answer(inquiry=asked, text="No.", by=world.mara, now=NOON)
    twice = seen.all().get()

    assert (once, twice) == (False, True)
    page = client_of(world.ada).get(reverse("inquiries", args=["films"]))
    assert "<strong>changed</strong>" in said(page)
    client = Client()
    client.force_login(world.mara)
    log = client.get("/projects/films/log/", {"thing": "inquiry"}).content.decode()
    assert "answer: Yes. → No." in log
    assert "Do totals count?" in log


def test_only_managers_answer(world: World) -> None:
    inquiry = annotator_questions.ask(project=world.project, person=world.ada, text="Why?", now=NOON)
    address = reverse("inquiries", args=["films"])

    for who in (world.ada, world.rea):
        answer = client_of(who).post(address, {"action": f"answer:{inquiry.public_id}", "answer": "So."})
        assert answer.status_code == 404
    inquiry.refresh_from_db()
    assert inquiry.answer == ""


def test_a_question_is_asked_from_the_page_without_scripts_too(world: World) -> None:
    batch = world.batch()
    assignment = world.take(batch, "ada")
    assert assignment is not None
    post = {"assignment": assignment.public_id, "action": "ask", "ask_text": "Why?", "label": "reasoning"}

    client_of(world.ada).post(reverse("annotate", args=[batch.public_id]), post)

    assert Inquiry.objects.get().assignment_id == assignment.pk
    assert world.reload(assignment).draft.response["data"]["label"] == "reasoning"


@pytest.mark.parametrize("text", ["", " \n", "x" * 2001, "a\0b"])
def test_a_question_says_something_that_can_be_kept(world: World, text: str) -> None:
    with pytest.raises(ActionRefused):
        annotator_questions.ask(project=world.project, person=world.ada, text=text, now=NOON)


# -- calibration ------------------------------------------------------------------------------------


@pytest.fixture
def round_of(world: World) -> Batch:
    """A calibration round of four items: three people agree on two and differ on two."""
    batch = world.batch(name="Round one", purpose="calibration")
    for who in ("ada", "bo", "cy"):
        for turn in range(4):
            world.label(batch, who, "reasoning" if who == "cy" and turn < 2 else "extraction")
    return batch


def test_everybody_gets_the_same_items_and_nothing_is_decided(world: World, round_of: Batch) -> None:
    automatic_decisions.resolve_batch(batch=round_of, now=NOON)

    assert {item.submitted_count for item in Item.objects.filter(batch=round_of)} == {3}
    assert not Decision.objects.exists()


def test_disagreements_come_first_and_name_who_said_other_than_most(world: World, round_of: Batch) -> None:
    items = list(calibration.comparable_items(round_of))
    calibration.compare_responses(round_of, items[:1])
    with CaptureQueriesContext(connection) as seen:
        found = calibration.compare_responses(round_of, items)

    assert len(seen) == 3
    assert [one.differ for one in found] == [True, True, False, False]
    assert [[said.person for said in one.answers if said.apart] for one in found] == [
        [world.cy.pk],
        [world.cy.pk],
        [],
        [],
    ]


def test_the_page_shows_agreement_and_names_to_managers_and_letters_to_others(
    world: World, round_of: Batch
) -> None:
    address = reverse("calibration", args=[round_of.public_id])
    managers, others = said(client_of(world.mara).get(address)), said(client_of(world.rea).get(address))

    assert "Annotators differ on 2 of 4 items" in re.sub(r"<[^>]+>", "", managers)
    assert "Cy" in managers
    assert "Fleiss" in managers
    assert not re.search(r"\bCy\b", re.sub(r"<[^>]+>", " ", others))
    assert 'scope="row">C</th>' in others


def test_where_people_differ_about_a_table_the_table_itself_says_who_did_what(world: World) -> None:
    batch = world.batch("relevant_cells", purpose="calibration", size=2)
    same = [["r0", "c1"]]
    for who, second in (("ada", same), ("bo", same), ("cy", [["r0", "c1"], ["r2", "c0"]])):
        for cells in (same, second):
            taken = world.take(batch, who)
            assert taken is not None
            world.answer(taken, {"cells": cells, "unanswerable": False})
    address = reverse("calibration", args=[batch.public_id])
    ada, bo, cy = (
        f'<b class="who">{letter}</b> {name}' for letter, name in zip("ABC", ("Ada", "Bo", "Cy"), strict=True)
    )

    page, others = said(client_of(world.mara).get(address)), said(client_of(world.rea).get(address))

    assert page.count('class="tabular contrast"') == 1, "on the other item all did the same"
    assert '<span class="sr">marked by </span>A B C</b>' in page
    assert '<span class="sr">marked by </span>C</b>' in page
    assert all(name in page for name in (ada, bo, cy))
    assert '<span class="sr">marked by </span>C</b>' in others
    assert not re.search(r"\bCy\b", re.sub(r"<[^>]+>", " ", others))


def test_edits_of_a_round_stand_in_one_table_cut_to_the_rows_that_somebody_touched(world: World) -> None:
    batch = world.batch("value_change", variant="answer_changes", purpose="calibration", size=1)
    for who, new in (("ada", "1996"), ("bo", "1997")):
        taken = world.take(batch, who)
        assert taken is not None
        example = taken.plain_item.example
        old = example.table.cell("r0", "c1")
        edit = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": old, "new": new}
        data = {"unanswerable": False, "operations": [edit], "answers": [new], "reason": ""}
        world.answer(taken, data)

    page = said(client_of(world.mara).get(reverse("calibration", args=[batch.public_id])))

    for letter, new in (("A", "1996"), ("B", "1997")):
        assert f'<span class="sr">by </span>{letter}</b> {new}</ins>' in page
    assert "2 rows without changes or marks" in page


def test_edits_that_differ_come_first_and_are_counted_and_edits_that_come_to_the_same_are_one(
    world: World,
) -> None:
    batch = world.batch("value_change", variant="answer_changes", purpose="calibration")
    for who in ("ada", "bo", "cy"):
        for turn in range(4):
            taken = world.take(batch, who)
            assert taken is not None
            example = taken.plain_item.example
            old = example.table.cell("r0", "c1")
            new = "1902" if (who, turn) == ("bo", 3) else "1901"

            def sets(old: str, new: str) -> dict[str, Any]:
                return {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": old, "new": new}

            by_way_of = [sets(old, "1900"), sets("1900", new)] if who == "cy" else [sets(old, new)]
            data = {"unanswerable": False, "operations": by_way_of, "answers": [new], "reason": ""}
            world.answer(taken, data)

    found = calibration.compare_responses(batch, list(calibration.comparable_items(batch)))
    page = said(client_of(world.mara).get(reverse("calibration", args=[batch.public_id])))

    assert [one.differ for one in found] == [True, False, False, False]
    assert [one.person for one in found[0].answers if one.apart] == [world.bo.pk]
    assert "Annotators differ on 1 of 4 items" in re.sub(r"<[^>]+>", "", page)
    assert page.count("differs from the majority") == 1
    assert page.count('class="tabular contrast"') == 1, "where all did the same nobody stands apart"


def test_who_annotates_in_the_round_reads_nothing_of_it_while_it_is_open(
    world: World, round_of: Batch
) -> None:
    member = world.ada.memberships.get()
    member.roles = ["annotator", "manager"]
    member.save()

    page = said(client_of(world.ada).get(reverse("calibration", args=[round_of.public_id])))

    assert "visible to you after it closes" in page
    assert "differs from the majority" not in page
    assert not re.search(r"\bBo\b", re.sub(r"<[^>]+>", " ", page))


def test_a_pilot_is_set_aside_with_a_reason_and_counts_again(world: World) -> None:
    batch = world.batch(size=1, overlap=1)
    world.label(batch, "ada", "extraction")
    with pytest.raises(ActionRefused, match="Close it first"):
        calibration.set_aside(batch=batch, because="unclear", by=world.mara, now=NOON)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    batch.refresh_from_db()
    with pytest.raises(ActionRefused, match="Enter a reason"):
        calibration.set_aside(batch=batch, because="  ", by=world.mara, now=NOON)

    page = PlainPage(client_of(world.mara), reverse("calibration", args=[batch.public_id]))
    fill(page.named("because"), "kappa was 0.53: the instruction was unclear")
    page.press("Set batch aside")

    batch.refresh_from_db()
    assert batch.set_aside_at is not None
    assert batch.set_aside_because == "kappa was 0.53: the instruction was unclear"
    assert Event.objects.filter(thing="batch", thing_id=batch.pk, after="set aside").count() == 1
    page.press("Include the batch again")
    assert not Batch.objects.filter(set_aside_at__isnull=False).exists()


# -- trying -----------------------------------------------------------------------------------------


def rows() -> dict[str, int]:
    """How many rows every table has."""
    return {model.__name__: model._default_manager.count() for model in apps.get_models()}


def test_trying_a_batch_leaves_no_trace(world: World) -> None:
    batch = world.batch()
    before = rows()
    places = list(batch.slots.values_list("pk", "is_taken"))
    client = client_of(world.mara)
    page = client.get(reverse("try_batch", args=[batch.public_id]))
    assert page.status_code == 200
    assert "Answers are not saved" in said(page)

    number, seen = 1, []
    while number:
        tried = batch_preview.item_at(batch, number)
        assert tried is not None
        seen.append(tried.item.pk)
        task = batch.task()
        named = {"type": task.key, "variant": "", "version": task.version, "base": tried.plain.base}
        body = {"number": number, "response": {**named, "data": {"label": "extraction"}}}
        answer = client.post(
            f"/api/batches/{batch.public_id}/try/", json.dumps(body), content_type="application/json"
        )
        assert answer.status_code == 200
        assert answer.json()["right"] is None
        number = number + 1 if answer.json()["next"] else 0
    client.post(reverse("try_batch", args=[batch.public_id]), {"label": "extraction", "action": "submit"})

    assert seen == list(Item.objects.filter(batch=batch).order_by("position").values_list("pk", flat=True))
    assert rows() == before
    assert list(batch.slots.values_list("pk", "is_taken")) == places


def test_what_is_tried_is_what_annotators_get(world: World) -> None:
    batch = world.batch(overlap=1)
    tried = batch_preview.item_at(batch, 1)
    assert tried is not None
    assignment = world.take(batch, "ada")
    assert assignment is not None

    assert batch.task().page_data(tried.plain) == batch.task().page_data(assignment.item.plain())


def test_a_response_that_does_not_hold_is_told_and_a_known_one_compared(world: World) -> None:
    batch = world.batch(open=False)
    first = Item.objects.filter(batch=batch).order_by("position")[0]
    gold.set_gold(
        batch=batch,
        example=first.example,
        data={"label": "reasoning"},
        why="It counts.",
        by=world.mara,
        now=NOON,
    )
    tried = batch_preview.item_at(batch, 1)
    assert tried is not None
    task = batch.task()
    named = {"type": task.key, "variant": "", "version": task.version, "base": tried.plain.base}

    assert batch_preview.judge_response(tried, {**named, "data": {"label": "perhaps"}}).problems
    assert batch_preview.judge_response(tried, "nothing").problems
    wrong = batch_preview.judge_response(tried, {**named, "data": {"label": "extraction"}})
    assert (wrong.right, wrong.why) == (False, "It counts.")
    assert batch_preview.judge_response(tried, {**named, "data": {"label": "reasoning"}}).right is True


def test_who_annotates_does_not_try(world: World) -> None:
    batch = world.batch()
    member = world.ada.memberships.get()
    member.roles = ["annotator", "manager"]
    member.save()
    client = client_of(world.ada)

    assert client.get(reverse("try_batch", args=[batch.public_id])).status_code == 302
    body = {"number": 1, "response": {}}
    answer = client.post(
        f"/api/batches/{batch.public_id}/try/", json.dumps(body), content_type="application/json"
    )
    assert answer.status_code == 404


# -- gold and qualification on their pages -----------------------------------------------------------


def test_a_manager_marks_an_example_by_answering_it(world: World) -> None:
    examples = list(world.source.examples.order_by("position"))
    batch = world.batch(only=[examples[0].external_id])
    client = client_of(world.mara)
    chosen = client.get(reverse("gold_new", args=[batch.public_id]) + "?q=Playtime")
    assert examples[3].question in said(chosen)
    assert examples[1].question not in said(chosen)
    address = reverse("gold_new", args=[batch.public_id]) + f"?example={examples[3].public_id}"
    before = rows()
    assert client.get(address).status_code == 200
    assert rows() == before

    client.post(address, {"label": "extraction", "why": "It stands there.", "action": "submit"})

    page = said(client.get(reverse("gold", args=[batch.public_id])))
    assert "It stands there." in page
    assert examples[3].question in page
    item = Item.objects.get(batch=batch, is_gold=True)
    assert item.gold.expected["data"]["label"] == "extraction"


def test_gold_answers_of_a_qualification_take_one_page_each(world: World) -> None:
    batch = world.batch(purpose="qualification", pass_percent=80, strategy="everyone", open=False)
    examples = list(world.source.examples.order_by("position"))
    client, new = client_of(world.mara), reverse("gold_new", args=[batch.public_id])
    address = client.get(new)["Location"]
    assert address == f"{new}?example={examples[0].public_id}"
    assert "4 items without a gold answer" in said(client.get(address))

    visited = []
    while address.startswith(new):
        visited.append(address.partition("example=")[2])
        address = client.post(address, {"label": "extraction", "action": "submit"})["Location"]

    assert visited == [example.public_id for example in examples]
    assert address == reverse("gold", args=[batch.public_id])
    assert set(Gold.objects.values_list("why", flat=True)) == {""}


def test_after_a_gold_answer_comes_the_next_example_of_the_search(world: World) -> None:
    examples = list(world.source.examples.order_by("position"))
    batch = world.batch(only=[examples[0].external_id])
    client, new = client_of(world.mara), reverse("gold_new", args=[batch.public_id])
    found = client.get(f"{new}?q=come out").content.decode()
    assert f"?example={examples[2].public_id}&amp;within=come%20out" in found

    answer = client.post(
        f"{new}?example={examples[2].public_id}&within=come%20out",
        {"label": "extraction", "action": "submit"},
    )

    assert answer["Location"] == f"{new}?example={examples[3].public_id}&within=come+out"
    changed = client.post(
        f"{new}?example={examples[2].public_id}", {"label": "reasoning", "action": "submit"}
    )
    assert changed["Location"] == reverse("gold", args=[batch.public_id])


def test_an_example_that_makes_no_item_is_passed_over(world: World) -> None:
    examples = list(world.source.examples.order_by("position"))
    batch = world.batch(only=[examples[0].external_id])
    preview = gold.preview

    def fits(*, batch: Batch, example: Example) -> Any:
        if example == examples[1]:
            refuse("invalid_request", "It does not fit.")
        return preview(batch=batch, example=example)

    with patch.object(gold, "preview", fits):
        address = client_of(world.mara).get(reverse("gold_new", args=[batch.public_id]))["Location"]

    assert address.endswith(examples[2].public_id)


def test_the_page_of_a_kind_that_edits_hands_the_whole_response_over(world: World) -> None:
    examples = list(world.source.examples.order_by("position"))
    batch = world.batch("relevant_cells", only=[examples[0].external_id])
    address = reverse("gold_new", args=[batch.public_id]) + f"?example={examples[3].public_id}"
    response = json.dumps({"data": {"cells": [["r3", "c1"]], "unanswerable": False}})

    answer = client_of(world.mara).post(address, {"response": response, "why": ""})

    assert answer.status_code == 302, said(answer)
    assert Item.objects.get(batch=batch, is_gold=True).gold.expected["data"]["cells"] == [["r3", "c1"]]


def test_gold_is_nothing_for_managers_who_annotate_themselves(world: World) -> None:
    batch = world.batch()
    member = world.ada.memberships.get()
    member.roles = ["annotator", "manager"]
    member.save()

    for name in ("gold", "gold_new"):
        assert client_of(world.ada).get(reverse(name, args=[batch.public_id])).status_code == 302


def test_the_rate_of_gold_is_changed_in_the_settings(world: World) -> None:
    batch = world.batch()
    address = reverse("batch_settings", args=[batch.public_id])

    client_of(world.mara).post(address, {"section": "gold", "gold_percent": "20", "gold_feedback": "on"})

    batch.refresh_from_db()
    assert (batch.gold_percent, batch.gold_feedback) == (20, True)
    page = client_of(world.mara).post(address, {"section": "gold", "gold_percent": "60"})
    assert page.status_code == 200
    batch.refresh_from_db()
    assert batch.gold_percent == 20


def test_people_are_told_how_they_did_where_the_batch_tells(world: World) -> None:
    examples = list(world.source.examples.order_by("position"))
    batch = world.batch(only=[one.external_id for one in examples[:3]], gold_percent=50)
    gold.set_gold(
        batch=batch,
        example=examples[3],
        data={"label": "reasoning"},
        why="It counts.",
        by=world.mara,
        now=NOON,
    )
    address = reverse("gold_feedback", args=[batch.public_id])
    client = client_of(world.ada)
    assert client.get(address).status_code == 404
    must(batch, gold_feedback=True)
    world.draw_gold_first(batch, "ada")
    assert "It counts." not in said(client.get(address))
    for _ in range(4):
        world.label(batch, "ada", "extraction")

    page = said(client.get(address))

    assert "0 <small>of 1</small>" in page
    assert '<p dir="auto">Expected:</p><p dir="auto">Reasoning: ' in page
    assert "It counts." in page
    assert examples[3].question in page
    assert examples[0].question not in page
    assert "It counts." not in said(client_of(world.bo).get(address))


def test_a_batch_asks_for_a_qualification_and_the_manager_lets_somebody_in(world: World) -> None:
    test = world.batch(name="Entry test", size=2, purpose="qualification", pass_percent=80, open=False)
    for item in test.items.select_related("example"):
        gold.set_gold(batch=test, example=item.example, data={"label": "extraction"}, by=world.mara, now=NOON)
    batches.open_batch(batch=test, by=world.mara, now=NOON)
    batch = world.batch(name="Labels")
    mara = client_of(world.mara)
    mara.post(
        reverse("batch_settings", args=[batch.public_id]), {"section": "entry", "requires": test.public_id}
    )
    batch.refresh_from_db()
    assert batch.requires == test
    with pytest.raises(ActionRefused) as refused:
        world.take(batch, "ada")
    assert refused.value.code == "not_qualified"
    assert "Labels" in said(mara.get(reverse("batch_settings", args=[test.public_id])))
    results = reverse("batch_people", args=[test.public_id])
    assert "in progress" in said(mara.get(results))

    member = world.ada.memberships.get()
    mara.post(results, {"grant": str(member.pk)})

    assert "admitted by Mara" in said(mara.get(results))
    assert world.take(batch, "ada") is not None


def test_the_settings_of_a_qualification_change_its_pass_mark_and_its_practice(world: World) -> None:
    test = world.batch(name="Entry test", size=2, purpose="qualification", pass_percent=80, open=False)
    mara = client_of(world.mara)

    mara.post(
        reverse("batch_settings", args=[test.public_id]),
        {"section": "entry", "pass_percent": "60", "must_practise": "on"},
    )

    test.refresh_from_db()
    assert (test.pass_percent, test.must_practise) == (60, True)


def test_a_kind_without_practice_set_cannot_ask_for_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = world.batch()
    monkeypatch.setattr(type(batch.task()), "practice", lambda task, variant: [])

    answer = client_of(world.mara).post(
        reverse("batch_settings", args=[batch.public_id]), {"section": "entry", "must_practise": "on"}
    )

    assert "has no practice set" in said(answer)
    must(batch, must_practise=True)  # by a study file, say: nobody can be sent to a set that is not there
    assert entry_requirements.first_unmet(batch=batch, person=world.ada, now=NOON) is None


def test_the_annotate_page_offers_a_question_and_its_own_draft_is_untouched(world: World) -> None:
    batch = world.batch()
    assignment = world.take(batch, "ada")
    assert assignment is not None
    page = said(client_of(world.ada).get(reverse("annotate", args=[batch.public_id])))

    assert 'data-panel="ask"' in page
    assert reverse("inquiries", args=["films"]) in page
    assert envelope(assignment, {"label": "extraction"})["base"] in page
