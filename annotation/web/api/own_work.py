"""What people look back on while they annotate: their last items, and one of them with its response."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.accounts import own_work, work_sessions, worked_examples
from annotation.models import Assignment

State = Assignment.State


class PastItemShape(serializers.Serializer[Any]):
    """An item that you submitted or skipped."""

    id = serializers.CharField(help_text="Id of the assignment.")
    annotation = serializers.CharField(allow_null=True)
    question = serializers.CharField()
    state = serializers.ChoiceField(choices=["submitted", "skipped"])
    summary = serializers.CharField(help_text="The response in a line.")
    unsure = serializers.BooleanField(help_text="You were not sure.")
    ended_at = serializers.DateTimeField()
    can_change = serializers.BooleanField()
    note = serializers.CharField(help_text="Until when you can change it, or why it is final.")


class PastItemsShape(serializers.Serializer[Any]):
    """Your last items in a batch, newest first."""

    items = PastItemShape(many=True)


class PastResponseShape(PastItemShape):
    """One of your items as you saw it, with your response."""

    item = serializers.CharField()
    type = serializers.CharField()
    variant = serializers.CharField()
    version = serializers.IntegerField()
    base = serializers.CharField()
    shows = serializers.DictField()
    contract = serializers.DictField(allow_null=True)
    response = serializers.DictField(allow_null=True)
    words = serializers.ListField(child=serializers.CharField())


class ChecksShape(serializers.Serializer[Any]):
    """How your last gold items went."""

    right = serializers.IntegerField()
    judged = serializers.IntegerField()


class DayShape(serializers.Serializer[Any]):
    """What the daily limits still allow."""

    items_left = serializers.IntegerField(allow_null=True)
    minutes_left = serializers.IntegerField(allow_null=True)
    is_near = serializers.BooleanField()
    key = serializers.CharField(help_text="Tells this day of yours in this batch from others.")


class SessionShape(serializers.Serializer[Any]):
    """Your work in the project since your last break of 30 minutes."""

    items = serializers.IntegerField()
    skipped = serializers.IntegerField()
    minutes = serializers.FloatField(help_text="Active time: the sum of the three below.")
    minutes_submitted = serializers.FloatField()
    minutes_skipped = serializers.FloatField()
    minutes_returned = serializers.FloatField()
    per_hour = serializers.FloatField(allow_null=True)
    earned = serializers.CharField(allow_blank=True)
    checks = ChecksShape(allow_null=True)
    day = DayShape(allow_null=True)


class Session(APIView):
    """Your session."""

    @extend_schema(responses=SessionShape)
    def get(self, request: Request, public_id: str) -> Response:
        """Get your work since your last break, your last checks in this batch, and what today still allows."""
        actor, now = authorization.actor(request), timezone.now()
        batch = authorization.batch(actor, public_id, Permission.ANNOTATE)
        session = work_sessions.session(person=actor.person, projects=[batch.project], now=now)
        summary = {
            "items": session.items,
            "skipped": session.skipped,
            "minutes": round(session.minutes, 1),
            **{f"minutes_{kind}": round(value / 60, 1) for kind, value in session.by_kind.items()},
            "per_hour": session.an_hour,
            "earned": session.earned,
            "checks": work_sessions.checks(batch, actor.person),
            "day": work_sessions.day(batch=batch, person=actor.person, now=now),
        }
        return Response(SessionShape(summary).data)


class WorkedExampleShape(serializers.Serializer[Any]):
    """Earlier work as an example, without a name."""

    kind = serializers.ChoiceField(choices=["accepted", "sent_back", "practice"])
    question = serializers.CharField()
    words = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField(allow_blank=True)
    is_own = serializers.BooleanField()


class WorkedExamplesShape(serializers.Serializer[Any]):
    """Accepted responses (two, or up to five that managers chose), or expected ones of the practice set, and one that was
    sent back.
    """

    examples = WorkedExampleShape(many=True)


class WorkedExamples(APIView):
    """Earlier work as examples."""

    @extend_schema(responses=WorkedExamplesShape)
    def get(self, request: Request, public_id: str) -> Response:
        """Get examples of accepted and returned work for the task type of the batch."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.ANNOTATE)
        examples = worked_examples.worked_examples(batch, actor.person)
        return Response(WorkedExamplesShape({"examples": examples}).data)


class PastItems(APIView):
    """Your last items in a batch."""

    @extend_schema(responses=PastItemsShape)
    def get(self, request: Request, public_id: str) -> Response:
        """List your last 20 submitted or skipped items of the batch, newest first."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.ANNOTATE)
        mine = authorization.own_assignments(actor).filter(
            batch=batch, state__in=[State.SUBMITTED, State.SKIPPED]
        )
        rows = list(mine.order_by("-ended_at", "-pk")[: own_work.RECENT])
        with timezone.override(actor.person.zone):
            past_items = own_work.past_items(rows, now=timezone.now())
        return Response({"items": [_line(past) for past in past_items]})


class PastResponse(APIView):
    """One of your items, with your response."""

    @extend_schema(responses=PastResponseShape)
    def get(self, request: Request, public_id: str) -> Response:
        """Get an item that you submitted or skipped, with your response. Changes nothing."""
        actor = authorization.actor(request)
        assignment = authorization.assignment(actor, public_id)
        if assignment.state not in (State.SUBMITTED, State.SKIPPED):
            raise Http404(authorization.NOT_HERE)
        with timezone.override(actor.person.zone):
            (past,) = own_work.past_items([assignment], now=timezone.now())
        annotation = assignment.annotation
        return Response(
            {
                **_line(past),
                "item": assignment.item.public_id,
                **assignment.batch.task().page_data(assignment.plain_item),
                "response": annotation.response if annotation is not None else None,
                "words": list(past.words),
            }
        )


def _line(past: own_work.PastItem) -> dict[str, Any]:
    assignment = past.assignment
    return {
        "id": assignment.public_id,
        "annotation": assignment.annotation.public_id if assignment.annotation is not None else None,
        "question": assignment.item.example.question,
        "state": assignment.state,
        "summary": past.summary,
        "unsure": assignment.annotation is not None and bool(assignment.annotation.unsure),
        "ended_at": assignment.ended_at,
        "can_change": past.can_change,
        "note": past.note,
    }
