"""Everything that is stored about a person, as JSON for that person (Art. 15 and 20 GDPR). Nothing of anybody else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet

from annotation.models import (
    Annotation,
    ApiToken,
    Assignment,
    Consent,
    CrowdEntry,
    Decision,
    Draft,
    Event,
    Flag,
    Handling,
    Inquiry,
    Invitation,
    ItemAction,
    Membership,
    Outcome,
    Person,
    PracticeDone,
    Provenance,
    Qualification,
    Reading,
    SavedView,
    SentBack,
    Telling,
    Try,
    Verdict,
)

FORMAT: Final = "askew-person-1"


def export(person: Person, *, now: datetime) -> dict[str, Any]:
    """The person's data by what they are about, times in UTC. Which items were gold, and what is right, is not theirs."""
    return {
        "format": FORMAT,
        "made_at": now.isoformat(),
        "account": _plain(
            {
                name: getattr(person, name)
                for name in (
                    *(
                        "name",
                        "email",
                        "time_zone",
                        "personal_settings",
                        "created_at",
                        "last_login",
                        "is_active",
                    ),
                    *("is_administrator", "erased_at", "let_back_in_at"),
                )
            }
        ),
        **{name: list(_rows(found)) for name, found in _about(person).items()},
    }


def _about(person: Person) -> dict[str, QuerySet[Any, dict[str, Any]]]:
    return (
        _membership(person)
        | _preparation(person)
        | _work(person)
        | _beside_models(person)
        | _decisions(person)
    )


def _membership(person: Person) -> dict[str, QuerySet[Any, dict[str, Any]]]:
    """Projects, crowd links, invitations and tokens."""
    return {
        "memberships": _named(
            Membership.objects.filter(person=person),
            *("pseudonym", "roles", "characteristics", "joined_at", "removed_at"),
            project="project__slug",
        ),
        "crowd_entries": _named(
            CrowdEntry.objects.filter(person=person),
            *("external_id", "study_id", "session_id", "entered_at", "outcome", "ended_at"),
            project="link__project__slug",
        ),
        "invitations": _named(
            Invitation.objects.filter(accepted_by=person), "name", "accepted_at", project="project__slug"
        ),
        "tokens": _named(
            ApiToken.objects.filter(person=person),
            *("name", "prefix", "scopes", "made_at", "expires_at", "revoked_at"),
            project="project__slug",
        ),
    }


def _preparation(person: Person) -> dict[str, QuerySet[Any, dict[str, Any]]]:
    """What comes before the first item: consent, guidelines, practice, qualification."""
    return {
        "consents": _named(
            Consent.objects.filter(person=person),
            *("given_at", "withdrawn_at"),
            project="text__project__slug",
            version="text__number",
            text="text__text",
        ),
        "readings": _named(
            Reading.objects.filter(person=person),
            "read_at",
            project="guidelines__project__slug",
            kind="guidelines__task_type",
            version="guidelines__number",
        ),
        "practice": _named(
            PracticeDone.objects.filter(person=person),
            *("right", "judged", "done_at"),
            project="project__slug",
            kind="task_type",
        ),
        "qualifications": _named(
            Qualification.objects.filter(person=person),
            *("right", "judged", "passed", "at"),
            project="batch__project__slug",
            batch="batch__name",
        ),
    }


def _work(person: Person) -> dict[str, QuerySet[Any, dict[str, Any]]]:
    """Assignments with their annotations, drafts, flags and questions."""
    return {
        "assignments": _named(
            Assignment.objects.filter(person=person),
            *("state", "reason", "leased_at", "ended_at", "active_seconds"),
            **WHERE,
        ),
        "annotations": _named(
            Annotation.objects.filter(assignment__person=person),
            *("revision", "response", "active_seconds", "made_at"),
            **OF_ASSIGNMENT,
        ),
        "drafts": _named(
            Draft.objects.filter(assignment__person=person),
            "revision",
            "response",
            "saved_at",
            **OF_ASSIGNMENT,
        ),
        "flags": _named(Flag.objects.filter(assignment__person=person), "note", "made_at", **OF_ASSIGNMENT),
        "flags_on_items": _named(
            Flag.objects.filter(made_by=person),
            *("note", "made_at"),
            project="item__batch__project__slug",
            item="item__public_id",
        ),
        "inquiries": _named(
            Inquiry.objects.filter(asked_by=person),
            *("text", "asked_at", "answer", "answered_at"),
            project="project__slug",
        ),
    }


def _beside_models(person: Person) -> dict[str, QuerySet[Any, dict[str, Any]]]:
    """Checks of a model in the loop, proposals that were shown, and what came of both."""
    return {
        "checks": _named(
            Try.objects.filter(assignment__person=person),
            *("kind", "predictor", "model", "response", "original", "perturbed", "error", "made_at"),
            check="public_id",
            **OF_ASSIGNMENT,
        ),
        "verdicts": _named(
            Verdict.objects.filter(of__assignment__person=person), "verdict", "made_at", check="of__public_id"
        ),
        "proposals_shown": _named(
            Telling.objects.filter(assignment__person=person),
            *("number", "told_at"),
            proposal="proposal__public_id",
            **OF_ASSIGNMENT,
        ),
        "proposals_used": _named(
            Handling.objects.filter(telling__assignment__person=person),
            *("act", "errors", "made_at"),
            proposal="telling__proposal__public_id",
        ),
        "origins": _named(
            Provenance.objects.filter(annotation__assignment__person=person),
            *("helped", "origin", "shared"),
            annotation="annotation__public_id",
        ),
    }


def _decisions(person: Person) -> dict[str, QuerySet[Any, dict[str, Any]]]:
    """Answers, decisions, own responses, responses sent back, and all events."""
    return {
        "answers": _named(
            Inquiry.objects.filter(answered_by=person),
            *("answer", "answered_at"),
            project="project__slug",
        ),
        "decisions": _named(
            Decision.objects.filter(made_by=person),
            *("kind", "reason", "listed_reason", "note", "made_at"),
            project="item__batch__project__slug",
            item="item__public_id",
        ),
        "own_responses": _named(
            # What an adjudicator wrote in place of everybody's responses rests on none of them.
            Outcome.objects.filter(decision__made_by=person, annotations__isnull=True),
            "response",
            project="decision__item__batch__project__slug",
            item="decision__item__public_id",
            made_at="decision__made_at",
        ),
        "saved_views": _named(
            SavedView.objects.filter(made_by=person),
            *("name", "query", "is_shared", "made_at"),
            project="project__slug",
        ),
        "item_actions": _named(
            ItemAction.objects.filter(made_by=person), *("kind", "note", "made_at"), project="project__slug"
        ),
        "sent_back_by_them": _named(
            SentBack.objects.filter(made_by=person), "note", "made_at", **OF_ASSIGNMENT
        ),
        "sent_back_to_them": _named(
            SentBack.objects.filter(assignment__person=person), "note", "made_at", **OF_ASSIGNMENT
        ),
        "events": _named(
            Event.objects.filter(actor=person),
            *("thing", "before", "after", "detail", "at"),
            project="project__slug",
        ),
    }


WHERE = {"project": "batch__project__slug", "batch": "batch__name", "item": "item__public_id"}
OF_ASSIGNMENT = {name: f"assignment__{path}" for name, path in WHERE.items()}
"""Columns that say where an assignment, or a row that belongs to one, is from."""


def _named(rows: Any, *fields: str, **paths: str) -> QuerySet[Any, dict[str, Any]]:
    """The rows as dictionaries, oldest first: fields under their own names, paths under those given."""
    found: QuerySet[Any, dict[str, Any]] = rows.order_by("pk").values(*fields, *paths.values())
    found.renamed = {path: name for name, path in paths.items()}  # type: ignore[attr-defined]
    return found


def _rows(found: Any) -> Iterator[dict[str, Any]]:
    for row in found:
        yield _plain({found.renamed.get(name, name): value for name, value in row.items()})


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
