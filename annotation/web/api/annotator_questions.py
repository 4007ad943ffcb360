"""The interface of what is beside the items: questions to the managers, and trying a batch."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import authorization, visibility
from annotation.access.authorization import Actor
from annotation.access.roles import Permission
from annotation.assistance import draft_checks
from annotation.models import Batch
from annotation.quality import annotator_questions, batch_preview
from annotation.web.api import serializers as shapes
from annotation.web.api.assignments import seen_response, valid
from tasks.contract import InvalidResponse


class AskRequest(serializers.Serializer[Any]):
    """A question to the managers."""

    text = serializers.CharField(max_length=annotator_questions.LONGEST)


class AskedShape(serializers.Serializer[Any]):
    """A question that was asked."""

    id = serializers.CharField(source="public_id")
    asked_at = serializers.DateTimeField()


class ReadRequest(serializers.Serializer[Any]):
    """Answers that you have read: ids of your questions."""

    answers = serializers.ListField(child=serializers.CharField(max_length=12), max_length=100)


class UnreadShape(serializers.Serializer[Any]):
    """How many answers to your questions you have not read."""

    unread = serializers.IntegerField()


class TryRequest(shapes.Envelope):
    """A response to the item of a batch with this number (from 1)."""

    variant = serializers.CharField(required=False, default="", allow_blank=True, max_length=60)
    number = serializers.IntegerField(min_value=1, max_value=10_000_000)


class TryPredictionRequest(TryRequest, shapes.PredictionRequest):
    """A response that a model looks at, to the item with this number."""


class Ask(APIView):
    """Questions to the managers."""

    @extend_schema(request=AskRequest, responses=AskedShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Ask the managers about an item. Everyone in the project can read the answer. You keep the item."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        data = valid(AskRequest, request)
        inquiry = annotator_questions.ask(
            project=assignment.batch.project,
            person=assignment.person,
            text=data["text"],
            assignment=assignment,
            now=timezone.now(),
        )
        return Response(AskedShape(inquiry).data)


class ReadAnswers(APIView):
    """Answers of the managers that were shown beside the items."""

    @extend_schema(request=ReadRequest, responses=UnreadShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Mark answers to your questions from a batch as read."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.ANNOTATE)
        data = valid(ReadRequest, request)
        answered = annotator_questions.unread_answers(actor.person).filter(
            batch=batch, public_id__in=data["answers"]
        )
        annotator_questions.mark_read(inquiries=list(answered), person=actor.person, now=timezone.now())
        return Response({"unread": actor.person.unread_answers})


class Try(APIView):
    """Trying a batch."""

    @extend_schema(request=TryRequest, responses=shapes.FeedbackShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Check a response to an item as a submission would. Nothing is stored."""
        batch = _batch(authorization.actor(request), public_id)
        data = valid(TryRequest, request)
        tried = _preview_item(batch, data["number"])
        feedback = batch_preview.judge_response(tried, data["response"])
        following = batch_preview.item_at(batch, tried.number + 1)
        if feedback.problems:
            raise InvalidResponse(feedback.problems)
        return Response(
            {
                "right": feedback.right,
                "words": list(feedback.words),
                "why": feedback.why,
                "next": batch.task().page_data(following.plain) if following else None,
            }
        )


class TryPredictions(APIView):
    """A model while a batch is tried."""

    @extend_schema(request=TryPredictionRequest, responses=shapes.SeenShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Get the model's answer to a response. Neither it nor the response is stored."""
        actor = authorization.actor(request)
        batch = _batch(actor, public_id)
        task = batch.task()
        if not task.predicts:
            raise Http404(authorization.NOT_HERE)
        data = valid(TryPredictionRequest, request)
        seen = draft_checks.check_in_practice(
            project=batch.project,
            task=task,
            item=_preview_item(batch, data["number"]).plain,
            response=data["response"],
            slot=f"{actor.person.pk}:{batch.public_id}",
            seq=data["seq"],
        )
        return seen_response(seen, data["seq"])


def _batch(actor: Actor, public_id: str) -> Batch:
    """The batch, for a person who sets it up and does not annotate in it."""
    batch = authorization.batch(actor, public_id, Permission.SET_UP)
    if not visibility.may_see_agreement(actor.person, batch):
        raise Http404(authorization.NOT_HERE)
    return batch


def _preview_item(batch: Batch, position: int) -> batch_preview.PreviewItem:
    tried = batch_preview.item_at(batch, position)
    if tried is None:
        raise Http404(authorization.NOT_HERE)
    return tried
