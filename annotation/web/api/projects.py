"""The interface of projects: their study file, their members, and what happened in them."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import audit_log, authorization
from annotation.access.roles import Permission, Role
from annotation.accounts import item_history
from annotation.background import uploads
from annotation.models import Membership
from annotation.platform.public_links import public_link
from annotation.platform.refusals import refuse
from annotation.study_file import apply, current_state, project_export, visible
from annotation.study_file.parser import parse
from annotation.study_file.yaml_file import StudyError
from annotation.web.api.assignments import valid
from annotation.workflow import projects
from tableqa.core.guarded_yaml import MAX_BYTES

ROLES = [role.value for role in Role]


class StudyShape(serializers.Serializer[Any]):
    """A study file."""

    study = serializers.CharField(max_length=MAX_BYTES, trim_whitespace=False, help_text="YAML.")


class StudyRequest(StudyShape):
    """A study file to apply; without `confirmed`, its changes are planned only."""

    confirmed = serializers.BooleanField(default=False)


class StudyFile(APIView):
    """A project as a study file."""

    @extend_schema(responses=StudyShape)
    def get(self, request: Request, slug: str) -> Response:
        """Get the study file of the project; without gold answers while you may annotate in it."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.SET_UP)
        state = current_state.of_project(project, now=timezone.now(), derived=False, with_remaining=False)
        return Response({"study": visible.export(actor.person, project, state)})

    @extend_schema(request=StudyRequest, responses={200: OpenApiTypes.OBJECT, 202: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str) -> Response:
        """Plan the changes of a study file; with `confirmed`, make them in a job (202). No person is invited."""
        actor, now = authorization.actor(request), timezone.now()
        project = authorization.project(actor, slug, Permission.SET_UP)
        data = valid(StudyRequest, request)
        try:
            study = parse(data["study"])
        except StudyError as error:
            faults = [
                {"line": fault.line, "where": fault.where, "message": fault.message} for fault in error.faults
            ]
            refuse("invalid_request", str(error), more={"faults": faults})
        visible.require_usable(study, project, actor.person)
        plan, uncounted = visible.plan(study, project, actor.person, now=now)
        effects = {} if plan.cannot else apply.effects(plan, project, uncounted=uncounted)
        reply = {**project_export.plan_as_json(plan), "effects": effects, "job": None}
        if not data["confirmed"]:
            return Response(reply)
        plan.require_possible()
        file = SimpleUploadedFile("study.yaml", data["study"].encode())
        upload = uploads.keep(project=project, file=file, by=actor.person, now=now)
        job = apply.start(upload=upload, by=actor.person, now=now)
        return Response({**reply, "job": job.public_id}, status=202)


class MemberShape(serializers.ModelSerializer[Membership]):
    """A present member of a project."""

    name = serializers.CharField(source="person.name")

    class Meta:
        model = Membership
        fields = ["pseudonym", "name", "roles", "joined_at"]


class RolesRequest(serializers.Serializer[Any]):
    """All roles of a person."""

    roles = serializers.ListField(child=serializers.ChoiceField(ROLES), min_length=1, max_length=len(ROLES))


class InviteRequest(RolesRequest):
    """People to invite: each name gets a link."""

    names = serializers.ListField(child=serializers.CharField(max_length=120), min_length=1, max_length=500)
    days = serializers.IntegerField(
        min_value=1, max_value=projects.LONGEST_INVITATION.days, default=projects.INVITATION_LIFE.days
    )


class LinksShape(serializers.Serializer[Any]):
    """A personal link for each name, shown once: {"name", "link"}."""

    invitations = serializers.ListField(child=serializers.DictField())


class Members(APIView):
    """The people of a project."""

    @extend_schema(responses=MemberShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The present members with their roles, by pseudonym."""
        project = authorization.project(authorization.actor(request), slug, Permission.INVITE)
        here = Membership.objects.filter(project=project, removed_at__isnull=True).select_related("person")
        return Response(MemberShape(here.order_by("pk"), many=True).data)

    @extend_schema(request=InviteRequest, responses={201: LinksShape})
    def post(self, request: Request, slug: str) -> Response:
        """Invite people. Each personal link is shown once; send it to its person."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.INVITE)
        data = valid(InviteRequest, request)
        roles = [Role(role) for role in data.pop("roles")]
        new = projects.invite_all(project=project, roles=roles, by=actor.person, now=timezone.now(), **data)
        links = [
            {"name": invitation.name, "link": public_link(request, reverse("join", args=[token]))}
            for invitation, token in new
        ]
        return Response({"invitations": links}, status=201)


class Member(APIView):
    """A person of a project."""

    @extend_schema(request=RolesRequest, responses=MemberShape)
    def patch(self, request: Request, slug: str, pseudonym: str) -> Response:
        """Replace the roles of a member. Items in progress go back if the person no longer annotates."""
        actor = authorization.actor(request)
        membership = authorization.member(actor, slug, pseudonym)
        roles = [Role(role) for role in valid(RolesRequest, request)["roles"]]
        projects.change_roles(membership=membership, roles=roles, by=actor.person, now=timezone.now())
        membership.refresh_from_db()
        return Response(MemberShape(membership).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pseudonym: str) -> Response:
        """Remove a member. Their responses stay; items in progress go back."""
        actor = authorization.actor(request)
        membership = authorization.member(actor, slug, pseudonym)
        projects.remove_member(membership=membership, by=actor.person, now=timezone.now())
        return Response(status=204)


class EventsShape(serializers.Serializer[Any]):
    """Events. `is_settled`: none of an earlier id can still appear."""

    is_settled = serializers.BooleanField()
    has_more = serializers.BooleanField()
    results = serializers.ListField(child=serializers.DictField())


class EventsRequest(serializers.Serializer[Any]):
    """Which events."""

    thing = serializers.ChoiceField(sorted(item_history.THINGS), required=False)
    before = serializers.IntegerField(min_value=0, max_value=2**53, required=False)
    after = serializers.IntegerField(min_value=0, max_value=2**53, required=False)


class Events(APIView):
    """What happened in a project."""

    @extend_schema(responses=EventsShape, parameters=[EventsRequest])
    def get(self, request: Request, slug: str) -> Response:
        """The log, newest first; `before` an id continues. With `after` an id, newer events, oldest first."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
        params = EventsRequest(data=request.query_params)
        params.is_valid(raise_exception=True)
        is_settled = not audit_log.settled(project.pk, None)["writers"]
        names = item_history.Names(actor, project, in_file=True)
        entries = item_history.log(actor, project, names, **params.validated_data)
        results = [
            {
                **{name: getattr(entry, name) for name in ("at", "who", "before", "after")},
                "id": entry.number,
                "thing": entry.code,
                "details": entry.words,
                "about": entry.about.name,
                "page": entry.about.address,
            }
            for entry in entries[: item_history.PAGE]
        ]
        has_more = len(entries) > item_history.PAGE
        return Response({"is_settled": is_settled, "has_more": has_more, "results": results})
