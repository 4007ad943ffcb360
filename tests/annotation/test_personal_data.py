"""What is stored about a person is theirs to read: every row that names somebody is in their file, or there is a reason."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from annotation.accounts import erasure, personal_data
from annotation.assistance import impressions
from annotation.management.doctor import findings as doctor_findings
from annotation.models import (
    Annotation,
    Assignment,
    Draft,
    Person,
    ProposalImpression,
    ProposalReaction,
    Try,
    Verdict,
)
from annotation.quality import annotator_questions
from annotation.workflow import adjudication, automatic_decisions
from tests.annotation.cast import NOON, World, envelope

EXPORTED = {
    "membership.person": "memberships",
    "crowdentry.person": "crowd_entries",
    "invitation.accepted_by": "invitations",
    "apitoken.person": "tokens",
    "consent.person": "consents",
    "reading.person": "readings",
    "practiceresult.person": "practice",
    "qualification.person": "qualifications",
    "assignment.person": "assignments",
    "inquiry.asked_by": "inquiries",
    "inquiry.answered_by": "answers",
    "decision.made_by": "decisions",
    "flag.made_by": "flags_on_items",
    "ledgerentry.person": "ledger",
    "itemaction.made_by": "item_actions",
    "reviewentry.reviewed_by": "reviews",
    "savedview.made_by": "saved_views",
    "revisionrequest.made_by": "sent_back_by_them",
    "event.actor": "events",
    "notice.person": "notices",
}
"""A field that names a person -> the part of the file that has its rows."""
EXPORTED_OF_WORK = {
    "annotation.assignment": "annotations",
    "draft.assignment": "drafts",
    "flag.assignment": "flags",
    "revisionrequest.assignment": "sent_back_to_them",
    "try.assignment": "checks",
    "verdict.of": "verdicts",
    "proposalimpression.assignment": "proposals_shown",
    "proposalreaction.impression": "proposals_used",
    "provenance.annotation": "origins",
}
"""A field that names an assignment, or a row that belongs to one -> the part of the file that has its rows."""
OTHERWISE = {
    "assignment.annotation": "the newest of `annotations`",
    "ledgerentry.assignment": "the person's rows of the ledger are in `ledger`",
    "inquiry.assignment": "the person's questions are in `inquiries`",
    "outcome.annotations": "what was decided of the item, by others",
    "provenance.impression": "in `origins`",
    "revisionrequest.annotation": "in `sent_back_to_them`",
    "try.annotation": "in `checks`",
}
_THING = "a thing of the project, not about them; that they made it is in `events`"
NOT_ABOUT_THEM = {
    "adjudication.asked_by": "a row is there only while the item waits; that they asked is in `item_actions` and `events`",
    "adjudicationrequest.asked_by": "the same, while the item lacks responses",
    "batch.made_by": _THING,
    "consenttext.made_by": _THING,
    "crowdlink.made_by": _THING,
    "gold.made_by": "what is right belongs to the study, and tells which items are gold; that they marked it is in `events`",
    "guidelines.made_by": _THING,
    "invitation.made_by": "about whoever is invited; that they were invited by them is in `events`",
    "job.made_by": "work of the server, deleted with what it was for",
    "perturbationrun.made_by": _THING,
    "pinnedexample.made_by": _THING,
    "qualification.granted_by": "about whoever passed, who has it under `qualifications`",
    "release.made_by": _THING,
    "source.made_by": _THING,
    "tasktypedefinition.made_by": _THING,
    "upload.made_by": "a file that is deleted once it is read",
    "reviewsample.made_by": "that they drew a sample: what they found in it is in `reviews`",
    "exclusion.person": "which items they never get: follows from `assignments` and `decisions`",
    "slot.reserved_for": "an item that may come to them: before they have it, it is not theirs to know",
    "responsefact.person": "what the search index reads from `annotations`",
    "personbatchcounts.person": "sums of `assignments`",
    "logentry.user": "the log of Django's admin, in which administrators rename people",
}


def test_every_field_that_names_a_person_is_exported_or_has_a_reason_not_to_be() -> None:
    found = {
        f"{model._meta.model_name}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if field.concrete and field.related_model is Person and not field.auto_created
    }

    assert found == EXPORTED.keys() | NOT_ABOUT_THEM.keys()
    assert not EXPORTED.keys() & NOT_ABOUT_THEM.keys()


def test_every_row_that_belongs_to_an_assignment_is_exported_or_has_a_reason_not_to_be() -> None:
    work = {Assignment, Annotation, Draft, Try, ProposalImpression}
    found = {
        f"{model._meta.model_name}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if field.concrete and field.related_model in work and not field.auto_created
    }

    assert found == EXPORTED_OF_WORK.keys() | OTHERWISE.keys()


def test_each_part_of_the_file_has_the_rows_that_it_is_said_to_have(world: World) -> None:
    exported = EXPORTED | EXPORTED_OF_WORK
    assert {
        field: personal_data.rows_of(world.ada, part).model._meta.model_name
        for field, part in exported.items()
    } == {field: field.partition(".")[0] for field in exported}


def test_what_an_adjudicator_wrote_is_theirs(world: World) -> None:
    batch = world.batch(size=2, overlap=2)
    for who, labels in (("ada", ("extraction", "reasoning")), ("bo", ("reasoning", "extraction"))):
        for label in labels:
            world.label(batch, who, label)
    later = NOON + timedelta(hours=1)
    automatic_decisions.resolve_batch(batch=batch, now=later)
    sent, decided = batch.items.order_by("position")
    hers_of_it = Annotation.objects.get(assignment__item=sent, assignment__person=world.ada)
    adjudication.send_back(
        item=sent, choose=hers_of_it.public_id, note="Look at the last row.", by=world.ivo, now=later
    )
    given = Assignment.objects.get(item=decided, person=world.ada)
    adjudication.decide(
        item=decided,
        response=envelope(given, {"label": "neither"}),
        note="It asks for no cell.",
        by=world.ivo,
        now=later,
    )

    his, hers = (personal_data.export(one, now=NOON) for one in (world.ivo, world.ada))

    assert [row["note"] for row in his["sent_back_by_them"]] == ["Look at the last row."]
    assert [row["note"] for row in hers["sent_back_to_them"]] == ["Look at the last row."]
    assert hers["sent_back_by_them"] == his["sent_back_to_them"] == []
    assert [row["response"]["data"] for row in his["own_responses"]] == [{"label": "neither"}]
    assert [row["note"] for row in his["decisions"]] == ["It asks for no cell."]
    assert hers["own_responses"] == []


def test_what_a_manager_answered_is_theirs_and_the_question_is_not(world: World) -> None:
    inquiry = annotator_questions.ask(
        project=world.project, text="Do totals count?", person=world.ada, now=NOON
    )
    annotator_questions.answer(inquiry=inquiry, text="They do.", by=world.mara, now=NOON)

    hers = personal_data.export(world.mara, now=NOON)

    assert [row["answer"] for row in hers["answers"]] == ["They do."]
    assert "Do totals count?" not in str(hers)


@pytest.fixture
def helped(world: World) -> list[Assignment]:
    """Two items on which Ada used a proposal and checked her rewording; the first is submitted, the second is not."""
    batch = world.batch(
        "question_paraphrase", variant="sentence", help="offered", help_from={"rules": True}, size=2
    )
    taken = []
    for question in ("the year in question?", "Ada's secret wording?"):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        (first, *_) = impressions.show_proposals(assignment=assignment, now=NOON)
        impressions.record_reaction(assignment=assignment, proposal=first["id"], act="took", now=NOON)
        asked: dict[str, Any] = {
            "assignment": assignment,
            "predictor": "small",
            "digest": question,
            "asked": {"question": question},
            "original": {"answers": ["1979"], "text": ""},
            "made_at": NOON,
            "answered_at": NOON,
        }
        tried = Try.objects.create(kind="person", response={"question": f"Tried: {question}"}, **asked)
        Verdict.objects.create(of=tried, verdict="fooled", gold={}, judgements={}, made_at=NOON)
        taken.append(assignment)
        if len(taken) == 1:
            data = {"question": question, "category": "general"}
            annotation = world.answer(assignment, data)
            tried = Try.objects.create(
                kind="submission", annotation=annotation, response={"question": question}, **asked
            )
            Verdict.objects.create(of=tried, verdict="fooled", gold={}, judgements={}, made_at=NOON)
    return taken


def test_checks_of_a_model_and_what_came_of_proposals_are_theirs(
    world: World, helped: list[Assignment]
) -> None:
    hers, his = (personal_data.export(one, now=NOON) for one in (world.ada, world.bo))

    assert [(row["kind"], row["response"]["question"]) for row in hers["checks"]] == [
        ("person", "Tried: the year in question?"),
        ("submission", "the year in question?"),
        ("person", "Tried: Ada's secret wording?"),
    ]
    assert [row["verdict"] for row in hers["verdicts"]] == ["fooled"] * 3
    assert {row["check"] for row in hers["verdicts"]} == {row["check"] for row in hers["checks"]}
    assert [row["act"] for row in hers["proposals_used"]] == ["took", "took"]
    assert {row["item"] for row in hers["proposals_shown"]} == {one.item.public_id for one in helped}
    assert [row["origin"] for row in hers["origins"]] == ["human"]
    for part in EXPORTED_OF_WORK.values():
        assert his[part] == []


def test_checks_that_a_person_asked_for_are_erased_with_the_person(
    world: World, helped: list[Assignment]
) -> None:
    client = Client()
    client.force_login(world.ada)
    assert "2 checks of a model." in client.get("/account/erase/").content.decode()

    erasure.erase(person=world.ada, by=world.ada, now=NOON)

    (kept,) = Try.objects.all()
    assert (kept.kind, kept.response) == ("submission", {"question": "the year in question?"})
    assert Verdict.objects.get().of == kept
    assert {one.assignment_id for one in ProposalImpression.objects.all()} == {helped[0].pk}
    assert {one.impression.assignment_id for one in ProposalReaction.objects.all()} == {helped[0].pk}
    assert doctor_findings() == []
