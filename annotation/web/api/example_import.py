"""The interface of imports: files in slices, and the job that reads them."""

from typing import IO, Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.background import uploads
from annotation.imports import example_import, file_preview, label_import, mapping_file, response_import
from annotation.models import Source, Upload
from annotation.platform.refusals import refuse
from annotation.releases import restoration
from annotation.web.api import serializers as shapes
from annotation.web.api.assignments import valid
from tableqa.readers import READERS
from tableqa.readers.interface import Credit
from tableqa.readers.labels import DUPLICATES
from tableqa.readers.report import in_english
from tableqa.readers.responses import TOOLS

MOST_DIGITS = 15
"""Of an offset: far more than a file has bytes."""


class Octets(BaseParser):
    """The body of a request as bytes; its size is limited by `config.request_size`."""

    media_type = "*/*"

    def parse(self, stream: IO[bytes], media_type: Any = None, parser_context: Any = None) -> Any:
        """The bytes of the body."""
        return stream.read()


class UploadRequest(serializers.Serializer[Any]):
    """A file that will be sent in slices."""

    name = serializers.CharField(max_length=100)
    size = serializers.IntegerField(min_value=1, help_text="Bytes of the whole file.")


class UploadShape(serializers.Serializer[Any]):
    """A file and how much of it the server has."""

    id = serializers.CharField()
    received = serializers.IntegerField(help_text="Bytes: the offset of the next slice.")
    slice = serializers.IntegerField(help_text="The most bytes of a slice.")


class ImportRequest(serializers.Serializer[Any]):
    """An import of uploaded files. Without `reader`, the format is detected."""

    questions = serializers.CharField(max_length=12, help_text="Id of an upload.")
    tables = serializers.CharField(max_length=12, required=False, default="", allow_blank=True)
    reader = serializers.ChoiceField(choices=sorted(READERS), required=False, default="", allow_blank=True)
    fields_of = serializers.DictField(
        child=serializers.CharField(allow_blank=True),
        required=False,
        default=dict,
        help_text="Names of the fields by the parts of an example, and options of reading such as missing=empty.",
    )
    name = serializers.CharField(
        max_length=example_import.LONGEST_NAME, required=False, default="", allow_blank=True
    )
    split = serializers.RegexField(example_import.SPLIT, required=False, default="", allow_blank=True)
    limit = serializers.IntegerField(min_value=1, required=False, default=None, allow_null=True)
    licence = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)
    citation = serializers.CharField(max_length=5000, required=False, default="", allow_blank=True)
    url = serializers.URLField(max_length=200, required=False, default="", allow_blank=True)
    good_only = serializers.BooleanField(required=False, default=False)
    look = serializers.BooleanField(
        required=False, default=False, help_text="Check all records; import nothing."
    )
    preview = serializers.BooleanField(
        required=False, default=False, help_text="Read the first examples; import nothing."
    )


class RestoreRequest(serializers.Serializer[Any]):
    """A release to restore."""

    release = serializers.CharField(max_length=12, help_text="Id of an upload: the zip archive of a release.")
    look = serializers.BooleanField(required=False, default=False, help_text="Preview; restore nothing.")


class Uploads(APIView):
    """Beginning an upload."""

    @extend_schema(request=UploadRequest, responses={201: UploadShape})
    def post(self, request: Request, slug: str) -> Response:
        """Begin to upload a file in slices. It is stored for a week."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.IMPORT)
        upload = uploads.begin(
            project=project, by=actor.person, now=timezone.now(), **valid(UploadRequest, request)
        )
        return Response(_shape(upload), status=201)


class Sources(APIView):
    """The sources of a project."""

    @extend_schema(responses=shapes.SourceShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The sources of the project, newest first, with the reports of their imports."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
        sources = list(Source.objects.ready().filter(project=project).order_by("-pk"))
        sight = visibility.visibility_of(actor, project)
        for source in sources:
            source.how["reports"] = [
                in_english(report.to_dict()) for report in example_import.reports_of(source, sight)
            ]
        return Response(shapes.SourceShape(sources, many=True).data)


class ResponsesRequest(serializers.Serializer[Any]):
    """An import of responses of another tool."""

    upload = serializers.CharField(max_length=12, help_text="Id of an upload.")
    tool = serializers.ChoiceField(choices=sorted(TOOLS))
    mapping = serializers.DictField(
        required=False,
        default=dict,
        help_text="Keys of the mapping file. What is left out is guessed.",
    )
    look = serializers.BooleanField(required=False, default=False, help_text="Preview; import nothing.")


class ResponsesImports(APIView):
    """Importing responses of another annotation tool."""

    @extend_schema(request=ResponsesRequest, responses={202: shapes.JobShape})
    def post(self, request: Request, slug: str) -> Response:
        """Import responses into a new, closed batch, or preview it. Poll the job: all or nothing is imported.

        The result of a preview has the numbers of `responses` and of answered `tasks`, the complete `mapping`, `losses`,
        `problems`, and `is_sample`: whether only the first tasks of a large file were checked.
        """
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.IMPORT)
        data = valid(ResponsesRequest, request)
        upload, mapping = authorization.upload(project, data["upload"]), mapping_file.parse(data["mapping"])
        job = response_import.start(
            project=project,
            upload=upload,
            tool=data["tool"],
            mapping=mapping,
            by=actor.person,
            now=timezone.now(),
            only_look=data["look"],
        )
        return Response(shapes.JobShape(job).data, status=202)


class LabelsRequest(serializers.Serializer[Any]):
    """An import of labels into a batch."""

    upload = serializers.CharField(max_length=12, help_text="Id of an upload.")
    duplicates = serializers.ChoiceField(
        choices=DUPLICATES, default=DUPLICATES[0], help_text="Several labels of a person for one item."
    )
    good_only = serializers.BooleanField(default=False, help_text="Leave out lines with a problem.")
    look = serializers.BooleanField(default=False, help_text="Preview; import nothing.")


class LabelsImports(APIView):
    """Importing labels that were made elsewhere."""

    @extend_schema(request=LabelsRequest, responses={202: shapes.JobShape})
    def post(self, request: Request, public_id: str) -> Response:
        """Import labels from a CSV file into an open or paused batch, or preview them. Poll the job."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.IMPORT)
        data = valid(LabelsRequest, request)
        upload, only_look = authorization.upload(batch.project, data.pop("upload")), data.pop("look")
        job = label_import.start(
            batch=batch, upload=upload, by=actor.person, now=timezone.now(), only_look=only_look, **data
        )
        return Response(shapes.JobShape(job).data, status=202)


class UploadSlice(APIView):
    """An upload that was begun."""

    parser_classes = [Octets]

    @extend_schema(responses=UploadShape)
    def get(self, request: Request, public_id: str) -> Response:
        """How much of a file the server has: where to continue after a cut connection."""
        return Response(_shape(authorization.upload_to_import(authorization.actor(request), public_id)))

    @extend_schema(
        request={"application/octet-stream": bytes},
        responses=UploadShape,
        parameters=[OpenApiParameter("offset", int, required=True, description="First byte of the slice.")],
    )
    def put(self, request: Request, public_id: str) -> Response:
        """Send a slice. Repeating one changes nothing; 409 if bytes before it are missing."""
        upload = authorization.upload_to_import(authorization.actor(request), public_id)
        offset = request.query_params.get("offset", "")
        if not (offset.isascii() and offset.isdecimal()) or len(offset) > MOST_DIGITS:
            refuse("invalid_request", "The offset must be the number of the first byte of the slice.")
        data = request.data if isinstance(request.data, bytes) else b""  # DRF parses no empty body
        uploads.append(upload=upload, offset=int(offset), data=data)
        return Response(_shape(upload))


class Imports(APIView):
    """Importing uploaded files."""

    @extend_schema(request=ImportRequest, responses={202: shapes.JobShape})
    def post(self, request: Request, slug: str) -> Response:
        """Import uploaded files, or check them. Poll the job: if it fails, `result.problems` lists what to correct."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.IMPORT)
        data = valid(ImportRequest, request)
        files: dict[str, Any] = {
            "questions": authorization.upload(project, data["questions"]),
            "tables": authorization.upload(project, data["tables"]) if data["tables"] else None,
            "by": actor.person,
            "now": timezone.now(),
        }
        if data["reader"]:
            example_import.check_fields(data["reader"], data["fields_of"])
        choice = {"reader": data["reader"], "named": data["fields_of"]}
        choice = {name: value for name, value in choice.items() if value}
        if data["preview"]:
            job = file_preview.start(choice=choice, **files)
        else:
            credit = Credit(data["licence"], data["citation"], data["url"])
            named = (data["name"].strip(), data["split"], data["limit"], data["fields_of"])
            job = example_import.start_import(
                project=project,
                reader=data["reader"],
                choices=example_import.Choices(*named, credit, data["good_only"]),
                only_check=data["look"],
                choice=None if data["reader"] else choice,
                **files,
            )
        return Response(shapes.JobShape(job).data, status=202)


class Restore(APIView):
    """Restoring a release into an empty project."""

    @extend_schema(request=RestoreRequest, responses={202: shapes.JobShape})
    def post(self, request: Request, slug: str) -> Response:
        """Restore an uploaded release, or preview it by its manifest. Poll the job.

        The files are verified first, and all or nothing is restored.
        """
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.IMPORT)
        data = valid(RestoreRequest, request)
        upload = authorization.upload(project, data["release"])
        by, now = actor.person, timezone.now()
        if data["look"]:
            job = file_preview.start(questions=upload, tables=None, by=by, now=now)
        else:
            job = restoration.start_restore(project=project, upload=upload, by=by, now=now)
        return Response(shapes.JobShape(job).data, status=202)


def _shape(upload: Upload) -> dict[str, Any]:
    return {"id": upload.public_id, "received": uploads.received(upload), "slice": uploads.SLICE}
