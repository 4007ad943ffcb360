"""The interface of quality: agreement and gold of a batch, and simulated annotators."""

from typing import Any

from django.db.models import Q
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
from annotation.management import simulation
from annotation.models import Batch, Example, Gold
from annotation.platform.refusals import refuse
from annotation.quality import gold, snapshots
from annotation.web.api import serializers as shapes
from annotation.web.api.assignments import valid
from tableqa.core.translation import translate_stored


class AgreementShape(serializers.Serializer[Any]):
    """The agreement of a batch `as_of` a time. `is_behind`: work has gone on since; `figures` null: not computed yet."""

    as_of = serializers.DateTimeField(allow_null=True)
    is_behind = serializers.BooleanField()
    job = serializers.CharField(allow_null=True)
    figures = serializers.ListField(child=serializers.DictField(), allow_null=True)


class Agreement(APIView):
    """The agreement of a batch."""

    @extend_schema(responses=AgreementShape)
    def get(self, request: Request, public_id: str) -> Response:
        """Get the statistics of agreement, as releases have them. Repeat the request after `job` for newer ones."""
        actor = authorization.actor(request)
        batch = _readable(actor, authorization.batch(actor, public_id, Permission.SEE_PROGRESS))
        view = snapshots.snapshot_view(batch, "agreement", now=timezone.now())
        figures = view.data["figures"] if view.data is not None else None
        for figure in figures or ():
            figure |= {name: translate_stored(figure[name]) for name in ("reason", "note")}
        job = view.job.public_id if view.job is not None else None
        return Response({"as_of": view.as_of, "is_behind": view.behind, "job": job, "figures": figures})


class GoldShape(serializers.Serializer[Any]):
    """A gold item with its expected response."""

    item = serializers.CharField(source="item.public_id")
    example = serializers.CharField(source="item.example.external_id")
    source = serializers.CharField(source="item.example.source.public_id")  # type: ignore[assignment]
    response = serializers.DictField(source="expected.data")
    why = serializers.CharField(allow_blank=True)


class GoldRequest(serializers.Serializer[Any]):
    """The expected response (`data` of the task type) to an example, by its id; `source` where several have that id."""

    example = serializers.CharField(max_length=200)
    source = serializers.CharField(  # type: ignore[assignment]
        max_length=12, default="", allow_blank=True
    )
    response = serializers.DictField()
    why = serializers.CharField(max_length=gold.LONGEST_WHY, default="", allow_blank=True)


class GoldItems(APIView):
    """The gold items of a batch."""

    @extend_schema(responses=GoldShape(many=True))
    def get(self, request: Request, public_id: str) -> Response:
        """List the gold items of a batch with their expected responses."""
        actor = authorization.actor(request)
        batch = _readable(actor, authorization.batch(actor, public_id, Permission.SET_UP))
        return Response(GoldShape(_golds(batch), many=True).data)

    @extend_schema(request=GoldRequest, responses={201: GoldShape})
    def post(self, request: Request, public_id: str) -> Response:
        """Set the expected response of an example; a new example becomes an item of the batch."""
        actor = authorization.actor(request)
        batch = _readable(actor, authorization.batch(actor, public_id, Permission.SET_UP))
        data = valid(GoldRequest, request)
        marked = gold.set_gold(
            batch=batch,
            example=_example(batch, data["example"], data["source"]),
            data=data["response"],
            why=data["why"],
            by=actor.person,
            now=timezone.now(),
        )
        return Response(GoldShape(_golds(batch).get(item=marked.item_id)).data, status=201)


class GoldItem(APIView):
    """A gold item."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, public_id: str, item: str) -> Response:
        """Remove a gold item that no annotator has had."""
        actor = authorization.actor(request)
        batch = _readable(actor, authorization.batch(actor, public_id, Permission.SET_UP))
        marked = _golds(batch).filter(item__public_id=item.replace("\0", "")).first()
        if marked is None:
            raise Http404(authorization.NOT_HERE)
        gold.remove_gold(gold=marked, by=actor.person, now=timezone.now())
        return Response(status=204)


def _golds(batch: Batch) -> Any:
    rows = Gold.objects.filter(item__batch=batch).select_related("item__batch", "item__example__source")
    return rows.order_by("item__position")


def _example(batch: Batch, name: str, source: str) -> Example:
    """The example of the project with this id. Raises ActionRefused (invalid_request)."""
    usable = Example.objects.usable().filter(
        Q(external_id=name) | Q(public_id=name), source__project=batch.project_id
    )
    rows = list((usable.filter(source__public_id=source) if source else usable)[:2])
    if len(rows) != 1:
        refuse(
            "invalid_request",
            "{count} examples have the id {name!r}. Name the source.",
            count=len(rows),
            name=name,
        )
    return rows[0]


def _readable(actor: Actor, batch: Batch) -> Batch:
    """The batch, for people who do not annotate in it. Raises ActionRefused (still_involved)."""
    if not visibility.may_see_agreement(actor.person, batch):
        refuse("still_involved", "You annotate in this batch, or may annotate in it, while it is open.")
    return batch


class SimulationRequest(serializers.Serializer[Any]):
    """How many simulated annotators of which accuracy."""

    annotators = serializers.IntegerField(min_value=1, max_value=simulation.MOST)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    accuracy = serializers.FloatField(min_value=0, max_value=1, default=0.9)


class Simulation(APIView):
    """Simulated annotators."""

    @extend_schema(request=SimulationRequest, responses={202: shapes.JobShape})
    def post(self, request: Request, public_id: str) -> Response:
        """Complete an open batch with simulated annotators, in a job. Refused where people have annotated."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.SET_UP)
        data = valid(SimulationRequest, request)
        job = simulation.start(batch=batch, by=actor.person, now=timezone.now(), **data)
        return Response(shapes.JobShape(job).data, status=202)
