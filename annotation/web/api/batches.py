"""The interface of managing: the state of a batch, other terms for it, its accounts, and moving people's shares."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import authorization, visibility
from annotation.access.authorization import Actor
from annotation.access.roles import Permission
from annotation.accounts import crowd_entry
from annotation.assistance import accuracy_jobs, model_accuracy
from annotation.models import Batch, CrowdLink, Membership, Person, Project, Source
from annotation.models.batch_options import TERMS, Term, changeable
from annotation.platform.refusals import refuse
from annotation.queue import allocation, explanations, sampling, workload
from annotation.web.api import serializers as shapes
from annotation.web.api.assignments import task_or_404, valid
from annotation.workflow import batch_settings, batches
from tasks.contract import task_types


class StateRequest(serializers.Serializer[Any]):
    """What to do with a batch."""

    action = serializers.ChoiceField(choices=list(batches.ACTIONS))


class StateShape(serializers.Serializer[Any]):
    """What a batch is now."""

    id = serializers.CharField()
    state = serializers.CharField()


def in_openapi(schema: Any) -> Any:
    """A JSON Schema as OpenAPI 3.0 writes it: a part has one type, and `exclusiveMinimum` is a mark on `minimum`."""
    if isinstance(schema, list):
        return [in_openapi(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    parts = {key: in_openapi(part) for key, part in schema.items()}
    if isinstance(limit := parts.get("exclusiveMinimum"), int | float):
        parts |= {"minimum": limit, "exclusiveMinimum": True}
    if isinstance(types := parts.get("type"), list):
        return {key: part for key, part in parts.items() if key != "type"} | {
            "anyOf": [{"type": name} for name in types]
        }
    return parts


def _schema_of(terms: Mapping[str, Term]) -> dict[str, Any]:
    properties = {name: in_openapi(term.schema(in_file=False)) for name, term in terms.items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


@extend_schema_field(_schema_of(changeable()))
class TermsField(serializers.DictField):
    """Terms of a batch by their names; `workflow.batch_settings` checks their values."""


@extend_schema_field(_schema_of(TERMS))
class AllTermsField(serializers.DictField):
    """Terms of a new batch by their names; `models.batch_options` checks their values."""


class BatchRequest(serializers.Serializer[Any]):
    """A new batch. `sources` and `feeds_from` are ids; `of`, `size`, `only`, `seed` and `by` are those of study files."""

    name = serializers.CharField(max_length=batches.LONGEST_NAME)
    type = serializers.CharField(max_length=60)
    sources = serializers.ListField(child=serializers.CharField(max_length=12), max_length=100, default=list)
    of = serializers.CharField(max_length=20, default="", allow_blank=True)
    size = serializers.IntegerField(min_value=1, max_value=2**31 - 1, default=None, allow_null=True)
    only = serializers.ListField(child=serializers.CharField(), default=list, max_length=10_000)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    by = serializers.CharField(max_length=80, default="", allow_blank=True)
    feeds_from = serializers.CharField(max_length=12, default="", allow_blank=True)
    terms = AllTermsField(default=dict)


class ChangeRequest(serializers.Serializer[Any]):
    """Terms to change, by their names; `confirmed` does it, without it nothing is changed."""

    terms = TermsField()
    confirmed = serializers.BooleanField(default=False)


class ChangeShape(serializers.Serializer[Any]):
    """What the change does to items and people, and which terms were changed."""

    effects = serializers.ListField(child=serializers.CharField())
    changed = serializers.ListField(child=serializers.CharField())


class AccountShape(serializers.Serializer[Any]):
    """assigned = submitted + skipped + open + returned; `kept` is kept for the person and not begun."""

    annotator = serializers.CharField()
    assigned = serializers.IntegerField()
    submitted = serializers.IntegerField()
    skipped = serializers.IntegerField()
    open = serializers.IntegerField()
    returned = serializers.IntegerField()
    kept = serializers.IntegerField()


class AccountsShape(serializers.Serializer[Any]):
    """The accounts of a batch, a line for each annotator (pseudonym)."""

    accounts = AccountShape(many=True)


class MoveRequest(serializers.Serializer[Any]):
    """Whose share goes to whom (pseudonyms); without one: the next person gets it. `leases`: what is in progress, too."""

    annotator = serializers.CharField()
    to = serializers.ListField(child=serializers.CharField(), default=list)
    leases = serializers.BooleanField(default=False)


class MovedShape(serializers.Serializer[Any]):
    """How many items others have now, how many are open to all, and how many leases ended for it."""

    moved = serializers.IntegerField()
    opened = serializers.IntegerField()
    returned = serializers.IntegerField()


class ModelAnswersRequest(serializers.Serializer[Any]):
    """Which examples a batch would draw from, and the model. `ask` requests the answers that are missing, in a job."""

    type = serializers.CharField(max_length=60)
    predictor = serializers.CharField(max_length=64)
    sources = serializers.ListField(child=serializers.CharField(max_length=12), max_length=100)
    of = serializers.CharField(max_length=20, required=False, default="", allow_blank=True)
    ask = serializers.BooleanField(default=False)


class ModelEstimateShape(serializers.Serializer[Any]):
    """What requests to a language model would use; `usd` is null for a model without a price."""

    requests = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    usd = serializers.FloatField(allow_null=True)


class ModelAnswersShape(serializers.Serializer[Any]):
    """How many questions the model answers correctly; `job` is the newest one that asks it, or null.

    `estimate` is what the unknown ones would use, null for a model that is no language model. `states` counts unjudged
    replies that could not be read.
    """

    model = serializers.CharField()
    questions = serializers.IntegerField()
    right = serializers.IntegerField()
    wrong = serializers.IntegerField()
    unjudged = serializers.IntegerField()
    unknown = serializers.IntegerField()
    states = serializers.DictField(child=serializers.IntegerField(), required=False)
    estimate = ModelEstimateShape(allow_null=True)
    job = serializers.CharField(allow_null=True)


class ModelAnswers(APIView):
    """Answers of a model to examples as they are."""

    @extend_schema(request=ModelAnswersRequest, responses=ModelAnswersShape)
    def post(self, request: Request, slug: str) -> Response:
        """Count the questions that a model answers correctly; with `ask`, request missing answers in a job (202)."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.SET_UP)
        data = valid(ModelAnswersRequest, request)
        if data["type"] not in task_types():
            raise Http404(authorization.NOT_HERE)
        task = task_types()[data["type"]]
        sources = Source.objects.ready().filter(project=project, public_id__in=data["sources"])
        sample = sampling.Sample(sources=list(sources.order_by("pk")), of=data["of"])
        about: dict[str, Any] = {
            "project": project,
            "task": task,
            "sample": sample,
            "predictor": data["predictor"],
        }
        if data["ask"]:
            accuracy_jobs.start_asking(**about, by=actor.person, now=timezone.now())
        starts = sampling.drawable_examples(project, task, sample)
        accuracy = model_accuracy.stored_accuracy(
            list(dict.fromkeys(starts.values())), task=task, predictor=data["predictor"]
        )
        job = accuracy_jobs.asking_job(**about)
        counts = {
            **accuracy.to_dict(),
            "estimate": accuracy.estimate.to_dict() if accuracy.estimate is not None else None,
            "job": job.public_id if job is not None else None,
        }
        return Response(counts, status=202 if data["ask"] else 200)


class PlanBatch(APIView):
    """A new batch."""

    @extend_schema(request=BatchRequest, responses={201: shapes.BatchShape})
    def post(self, request: Request, slug: str) -> Response:
        """Plan a batch over a sample of sources, or one that takes accepted items from another. It is not open yet."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.SET_UP)
        data = valid(BatchRequest, request)
        sources = list(Source.objects.current().filter(project=project, public_id__in=data["sources"]))
        if unknown := sorted(set(data["sources"]) - {source.public_id for source in sources}):
            refuse("invalid_request", "There is no source {name!r} in this project.", name=unknown[0])
        sample = sampling.Sample(
            sources=sorted(sources, key=lambda source: source.pk),
            **{name: data[name] for name in ("of", "size", "seed")},
            only=data["only"] or None,
            strata=data["by"],
            feeds_from=_batch_of(actor, project, data["feeds_from"]),
        )
        terms = dict(data["terms"])
        if isinstance(terms.get("requires"), str):
            terms["requires"] = _batch_of(actor, project, terms["requires"])
        batch = batches.plan_batch(
            project=project,
            task=task_or_404(project, data["type"]),
            name=data["name"],
            sample=sample,
            terms=terms,
            by=actor.person,
            now=timezone.now(),
        )
        hiding = visibility.hiding_size(actor.person, Batch.objects.filter(pk=batch.pk))
        return Response(shapes.BatchShape(batch, context={"hiding_size": hiding}).data, status=201)


def _batch_of(actor: Actor, project: Project, public_id: str) -> Batch | None:
    """The batch of this project; None for "". Raises Http404."""
    batch = authorization.batch(actor, public_id, Permission.SET_UP) if public_id else None
    if batch is not None and batch.project_id != project.pk:
        raise Http404(authorization.NOT_HERE)
    return batch


class State(APIView):
    """The state of a batch."""

    @extend_schema(request=StateRequest, responses=StateShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Open, pause, resume or close a batch. Idempotent."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.SET_UP)
        action = batches.ACTIONS[valid(StateRequest, request)["action"]]
        action.do(batch=batch, by=actor.person, now=timezone.now())
        batch.refresh_from_db()
        return Response({"id": batch.public_id, "state": batch.state})


class Change(APIView):
    """Other terms for a batch."""

    @extend_schema(request=ChangeRequest, responses=ChangeShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Preview a change of terms; with `confirmed`, apply it."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.SET_UP)
        data = valid(ChangeRequest, request)
        new_terms = dict(data["terms"])
        if isinstance(new_terms.get("requires"), str):
            new_terms["requires"] = authorization.batch(actor, new_terms["requires"], Permission.SET_UP)
        counted = visibility.sees_counts(actor.person, batch)
        effects, changed = batch_settings.effects(batch, new_terms, counted=counted), {}
        if data["confirmed"]:
            changed = batch_settings.change(
                batch=batch, changes=new_terms, by=actor.person, now=timezone.now()
            )
        return Response({"effects": effects, "changed": sorted(changed)})


class Accounts(APIView):
    """The accounts of a batch."""

    @extend_schema(responses=AccountsShape)
    def get(self, request: Request, public_id: str) -> Response:
        """Get the counts of assigned items per person."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.SET_UP)
        if not visibility.sees_counts(actor.person, batch):
            refuse("still_involved", visibility.why_no_counts())
        lines = workload.lines(batch.project, [batch])
        return Response(
            {"accounts": [{"annotator": line.pseudonym, **asdict(line.account)} for line in lines]}
        )


class ReasonShape(serializers.Serializer[Any]):
    """Why an item is or is not served."""

    code = serializers.CharField()
    message = serializers.CharField()


class ExplanationShape(serializers.Serializer[Any]):
    """Whether an item is served to a person. `ahead`: the items that come first, null where that is not known."""

    is_served = serializers.BooleanField()
    ahead = serializers.IntegerField(allow_null=True)
    reasons = ReasonShape(many=True)


class Explain(APIView):
    """Whether an item is served to a person."""

    @extend_schema(responses=ExplanationShape, parameters=[OpenApiParameter("annotator", required=True)])
    def get(self, request: Request, public_id: str) -> Response:
        """Explain why the queue serves an item to an annotator (pseudonym), or why not."""
        actor = authorization.actor(request)
        item = authorization.item(actor, public_id, Permission.SET_UP)
        explanations.require_visible(visibility.visibility_of(actor, item.batch.project), item)
        (person,) = _people(item.batch, [request.query_params.get("annotator", "")])
        return Response(asdict(explanations.explain(item, person, now=timezone.now())))


class Move(APIView):
    """Moving people's shares of a batch."""

    @extend_schema(request=MoveRequest, responses=MovedShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Move a person's unfinished items to others, evenly, or back to the pool."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.SET_UP)
        data = valid(MoveRequest, request)
        people = _people(batch, [data["annotator"], *data["to"]])
        moved = allocation.move(
            batch=batch,
            person=people[0],
            to=people[1:],
            leases=data["leases"],
            by=actor.person,
            now=timezone.now(),
        )
        return Response(asdict(moved))


def _people(batch: Batch, pseudonyms: list[str]) -> list[Person]:
    """The people behind pseudonyms of the project, in their order. Raises ActionRefused(invalid_request) for an unknown
    one."""
    here = Membership.objects.filter(project=batch.project, pseudonym__in=pseudonyms)
    people_by_pseudonym = {
        membership.pseudonym: membership.person for membership in here.select_related("person")
    }
    if unknown := [pseudonym for pseudonym in pseudonyms if pseudonym not in people_by_pseudonym]:
        refuse("invalid_request", f"{unknown[0]} is not in this project.")
    return [people_by_pseudonym[pseudonym] for pseudonym in pseudonyms]


class AdmissionRequest(serializers.Serializer[Any]):
    """Who may enter by a crowd link. What is left out stays."""

    signed = serializers.BooleanField(required=False, help_text="True creates a key; older ones end.")
    participants = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="The ids that may enter; [] admits all people.",
    )


class Admission(APIView):
    """Who may enter by a crowd link."""

    @extend_schema(request=AdmissionRequest, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Let only signed or listed ids enter. `key` is a new key, shown once; `participants` the number of listed ids."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.INVITE)
        data, now, reply = valid(AdmissionRequest, request), timezone.now(), dict[str, Any]()
        link = CrowdLink.objects.filter(project=project, public_id=public_id).first()
        if link is None:
            raise Http404(authorization.NOT_HERE)
        if "participants" in data:
            ids = data["participants"]
            reply["participants"] = crowd_entry.limit_to(
                link=link, participants=ids, by=actor.person, now=now
            )
        if "signed" in data:
            reply["key"] = crowd_entry.require_signatures(
                link=link, by=actor.person, now=now, is_required=data["signed"]
            )
        return Response(reply)
