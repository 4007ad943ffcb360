"""The task types that a project defines."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.models import Batch, TaskTypeDefinition
from annotation.web.api.assignments import valid
from annotation.workflow import task_types


class DefinitionRequest(serializers.Serializer[Any]):
    """A definition under its name."""

    name = serializers.CharField(max_length=40)
    definition = serializers.DictField()


class BatchOfDefinition(serializers.Serializer[Any]):
    """A batch of a task type, and the version of the definition that it uses."""

    id = serializers.CharField()
    name = serializers.CharField()
    version = serializers.IntegerField()


class DefinitionShape(serializers.Serializer[Any]):
    """The newest version of a task type, the JSON Schema of its responses, and the version of each batch."""

    name = serializers.CharField()
    version = serializers.IntegerField()
    definition = serializers.DictField()
    response_schema = serializers.DictField()
    batches = BatchOfDefinition(many=True)


class ProjectTaskTypes(APIView):
    """Task types of a project."""

    @extend_schema(responses=DefinitionShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the task types that the project defines, each in its newest version."""
        project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
        batches = task_types.batches_of(project)
        return Response([_shape(row, batches) for row in task_types.newest(project).values()])

    @extend_schema(request=DefinitionRequest, responses=DefinitionShape)
    def post(self, request: Request, slug: str) -> Response:
        """Save a definition. The same definition again changes nothing."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.SET_UP)
        data = valid(DefinitionRequest, request)
        row = task_types.define(
            project=project,
            name=data["name"],
            data=data["definition"],
            by=actor.person,
            now=timezone.now(),
        )
        return Response(_shape(row, task_types.batches_of(project)))


def _shape(row: TaskTypeDefinition, batches: Mapping[str, Sequence[Batch]]) -> dict[str, Any]:
    return {
        "name": row.name,
        "version": row.number,
        "definition": row.data,
        "response_schema": row.task().response_schema(),
        "batches": [
            {"id": batch.public_id, "name": batch.name, "version": batch.version}
            for batch in batches.get(row.name, ())
        ],
    }
