"""Each view loads with `access`, makes one call into a journey, and answers."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import get_language
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.assistance import (
    draft_checks,
    impressions,
    model_checks,
    suggestions,
    tickets,
    visible_verdicts,
)
from annotation.background import jobs
from annotation.models import Adjudication, Assignment, Batch, Item, Person, Project, Release
from annotation.models.batch_options.adjudication import listed_reasons
from annotation.queue import candidates as queue_candidates
from annotation.queue import practice, reservations, resolutions
from annotation.releases import creation
from annotation.web.api import serializers as shapes
from annotation.web.api.problems import CONTENT_TYPE, problem
from annotation.workflow import adjudication as workflow_adjudication
from annotation.workflow import assignments, automatic_decisions, projects
from annotation.workflow import task_types as workflow_task_types
from tasks.contract import InvalidResponse, TaskType, decision_rules, task_types


class Projects(generics.ListAPIView[Project]):
    """Projects."""

    serializer_class = shapes.ProjectShape
    queryset = Project.objects.none()

    def get_queryset(self) -> QuerySet[Project]:
        return authorization.projects(authorization.actor(self.request))

    @extend_schema(responses=shapes.ProjectShape(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The projects you belong to."""
        return self.list(request, *args, **kwargs)

    @extend_schema(request=shapes.NewProjectRequest, responses={201: shapes.NewProjectShape})
    def post(self, request: Request) -> Response:
        """Create a project, with you as its manager. A token gets one for the new project, shown once."""
        actor, now = authorization.actor(request), timezone.now()
        authorization.require_may_make_projects(actor)
        data = valid(shapes.NewProjectRequest, request)
        project = projects.create_project(manager=actor.person, now=now, **data)
        secret = None
        if (token := actor.token) is not None:
            _, secret = projects.make_token(
                person=actor.person,
                project=project,
                name=token.name,
                scopes=token.scopes,
                now=now,
                expires_at=token.expires_at,
            )
        return Response({**shapes.ProjectShape(project).data, "token": secret}, status=201)


class Batches(generics.ListAPIView[Batch]):
    """The batches of your projects; annotators see those that were opened."""

    serializer_class = shapes.BatchShape
    queryset = Batch.objects.none()

    def get_queryset(self) -> QuerySet[Batch]:
        return authorization.batches(authorization.actor(self.request))

    def get_serializer_context(self) -> dict[str, Any]:
        fed = self.get_queryset().filter(feeds_from__isnull=False)
        hiding = visibility.hiding_size(authorization.actor(self.request).person, fed)
        return {**super().get_serializer_context(), "hiding_size": hiding}


class TaskTypes(APIView):
    """The kinds of annotation."""

    @extend_schema(responses=shapes.TaskTypeShape(many=True))
    def get(self, request: Request) -> Response:
        """The installed task types."""
        return Response(shapes.TaskTypeShape(list(task_types().values()), many=True).data)


class WorkOut(APIView):
    """What a task type's own tools need the server for."""

    @extend_schema(request=shapes.QuestionShape, responses=shapes.WorkedOutShape)
    def post(self, request: Request, type: str) -> Response:
        """Compute a result from the request for a tool on the page. Reads and stores nothing."""
        if type not in task_types():
            raise Http404(authorization.NOT_HERE)
        answer = task_types()[type].compute(valid(shapes.QuestionShape, request)["question"])
        return Response({"answer": answer})


class Releases(generics.ListAPIView[Release]):
    """The releases of the projects in which you may see them."""

    serializer_class = shapes.ReleaseShape
    queryset = Release.objects.none()

    def get_queryset(self) -> QuerySet[Release]:
        actor = authorization.actor(self.request)
        return visibility.readable(actor.person, authorization.releases(actor))


class Next(APIView):
    """Taking items."""

    @extend_schema(request=shapes.HoldingSerializer, responses={200: shapes.AssignmentShape, 204: None})
    def post(self, request: Request, public_id: str) -> Response:
        """Get the next item: one you already hold and did not list, else a new lease. 204 if none is left."""
        batch = authorization.batch(authorization.actor(request), public_id, Permission.ANNOTATE)
        batch.task()  # a kind that is not installed is said so before anything is leased
        data = valid(shapes.HoldingSerializer, request)
        assignment = reservations.next_assignment(
            batch=batch,
            person=authorization.actor(request).person,
            holding=data["holding"],
            now=timezone.now(),
        )
        return Response(status=204) if assignment is None else Response(_payload(request, assignment))


class Draft(APIView):
    """Saving what was typed."""

    @extend_schema(request=shapes.DraftRequest, responses=shapes.SavedDraftShape)
    def put(self, request: Request, public_id: str) -> Response:
        """Save a draft. `revision` is the revision it is based on. Problems are returned but do not prevent saving."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        data = valid(shapes.DraftRequest, request)
        saved = assignments.save_draft(
            assignment=assignment, revision=data["revision"], response=data["response"], now=timezone.now()
        )
        return Response(
            {
                "revision": saved.revision,
                "saved_at": saved.saved_at,
                "violations": [problem.to_dict() for problem in saved.problems],
                "answer": saved.answer,
                "closed": assignment.batch.closed_at is not None,
            }
        )


class Submit(APIView):
    """Submitting a response."""

    with_assignment = True

    @extend_schema(request=shapes.SubmitRequest, responses=shapes.SubmittedShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Submit a response. With `next`, also get the next item."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        data = valid(shapes.SubmitRequest, request)
        annotation, following = assignments.submit_and_next(
            assignment=assignment,
            response=data["response"],
            then_next=data["next"],
            holding=data["holding"],
            now=timezone.now(),
            confirmed=data["confirmed"],
        )
        reference = {
            "id": annotation.public_id,
            "revision": annotation.revision,
            "unmet": annotation.unmet or [],
            "unsure": bool(annotation.unsure),
            "submitted_at": annotation.made_at,
        }
        return Response({"annotation": reference, "next": _payload(request, following)})


class Skip(APIView):
    """Skipping an item."""

    @extend_schema(request=shapes.SkipRequest, responses=shapes.NextShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Skip the item for good, with a reason."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        data = valid(shapes.SkipRequest, request)
        now = timezone.now()
        assignments.skip(assignment=assignment, reason=data["reason"], now=now)
        following = None
        if data["next"]:
            following = reservations.next_or_none(
                batch=assignment.batch, person=assignment.person, holding=data["holding"], now=now
            )
        return Response({"next": _payload(request, following)})


class Flag(APIView):
    """Leaving a note on an item."""

    @extend_schema(request=shapes.FlagRequest, responses={204: None})
    def post(self, request: Request, public_id: str) -> Response:
        """Flag the item with a note. Nothing else changes."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        data = valid(shapes.FlagRequest, request)
        assignments.flag(assignment=assignment, note=data["note"], now=timezone.now())
        return Response(status=204)


class Return(APIView):
    """Giving an item back."""

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, public_id: str) -> Response:
        """Return the item unanswered. Any annotator, including you, may get it again."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        assignments.give_back(assignment=assignment, now=timezone.now())
        return Response(status=204)


class Ping(APIView):
    """Staying at an item."""

    @extend_schema(request=None, responses=shapes.LeaseAnswer)
    def post(self, request: Request, public_id: str) -> Response:
        """Renew the lease. Also returns answers to your questions from this batch that you have not read."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        is_leased = assignments.ping(assignment=assignment, now=timezone.now())
        lease = {"seconds": int(reservations.LEASE.total_seconds()) if is_leased else 0}
        return Response({"lease": lease, "answers": assignments.answers(assignment)})


class Suggestions(APIView):
    """What the kind suggests."""

    @extend_schema(responses=shapes.SuggestionsShape)
    def get(self, request: Request, public_id: str) -> Response:
        """Get suggestions for an item you hold; null with a reason if there are none yet."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        result = suggestions.suggestions(assignment)
        return Response({"suggestions": result.suggestions, "reason": result.reason})


class Proposals(APIView):
    """What machines propose."""

    @extend_schema(request=None, responses=shapes.ProposalsShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Get the proposals for an item you hold and record the impression. Empty in the control group."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        proposals = impressions.show_proposals(assignment=assignment, now=timezone.now())
        return Response({"help": impressions.mode(assignment), "proposals": proposals})


class Handle(APIView):
    """What a person did with a proposal."""

    @extend_schema(request=shapes.HandleRequest, responses={204: None})
    def post(self, request: Request, public_id: str) -> Response:
        """Record that you used a proposal or rejected it, with its errors."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        impressions.record_reaction(
            assignment=assignment, now=timezone.now(), **valid(shapes.HandleRequest, request)
        )
        return Response(status=204)


class Predictions(APIView):
    """What the model in the loop says."""

    @extend_schema(
        request=shapes.PanelPredictionRequest, responses={200: shapes.SeenShape, 202: shapes.SeenShape}
    )
    def post(self, request: Request, public_id: str) -> Response:
        """Get the model's answer to a response. A preview is not stored; a check is stored and counted.

        202 while the model is asked in the background: repeat the request to get the answer. Not available
        for task types without a model.
        """
        assignment = authorization.assignment(authorization.actor(request), public_id)
        if not assignment.batch.task().predicts:
            raise Http404(authorization.NOT_HERE)
        data = valid(shapes.PanelPredictionRequest, request)
        seen = draft_checks.check_draft(assignment=assignment, now=timezone.now(), **data)
        return seen_response(seen, data["seq"])


class ModelTicket(APIView):
    """Access to the gateway."""

    @extend_schema(request=None, responses=shapes.ModelTicketShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Get a ticket with which the gateway answers for this item as `scoring/predictions/` does, for a few minutes."""
        assignment = authorization.assignment(authorization.actor(request), public_id)
        if not assignment.batch.task().predicts:
            raise Http404(authorization.NOT_HERE)
        ticket = tickets.sign(assignment, language=get_language())
        counted = model_checks.count_of_person(assignment)
        return Response({"ticket": ticket, "seconds": tickets.SECONDS, "tries": counted})


class Undo(APIView):
    """Withdrawing a submission."""

    @extend_schema(request=None, responses=shapes.AssignmentShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Undo a submission and reopen its item, with the response as the draft."""
        annotation = authorization.annotation(authorization.actor(request), public_id)
        assignment = assignments.undo(annotation=annotation, now=timezone.now())
        return Response(_payload(request, assignment))


class AdjudicationQueue(APIView):
    """What waits for an adjudicator."""

    @extend_schema(responses=shapes.AdjudicationShape(many=True))
    def get(self, request: Request, public_id: str) -> Response:
        """List up to 50 items for you to adjudicate, most important first."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.ADJUDICATE)
        return _adjudications(actor.person, resolutions.waiting(batch))


class ProjectAdjudicationQueue(APIView):
    """What waits for an adjudicator in all batches."""

    @extend_schema(responses=shapes.AdjudicationShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List up to 50 items of all batches for you to adjudicate, most important first."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.ADJUDICATE)
        return _adjudications(actor.person, resolutions.waiting_in(project))


class Decide(APIView):
    """An adjudicator's decision."""

    @extend_schema(request=shapes.DecideRequest, responses=shapes.DecisionShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Decide an item: choose responses, write one, or exclude the item; reason and note are optional."""
        (item, person), data = _to_judge(request, public_id), valid(shapes.DecideRequest, request)
        decision = workflow_adjudication.decide(item=item, by=person, now=timezone.now(), **data)
        return Response(
            {
                "item": item.public_id,
                "kind": decision.kind,
                "reason": decision.reason,
                "listed_reason": decision.listed_reason or "",
                "note": decision.note,
                "made_at": decision.made_at,
                "outcomes": decision.outcomes.count(),
            }
        )


class UndoDecision(APIView):
    """An adjudicator's undo."""

    @extend_schema(request=None, responses=shapes.UndoneShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Undo your own decision while no release contains it and no work rests on it; the item waits again."""
        item, person = _to_judge(request, public_id)
        adjudication = workflow_adjudication.undo(item=item, by=person, now=timezone.now())
        return Response({"item": item.public_id, **_waiting(adjudication)})


class SendBack(APIView):
    """A response that goes back to its author."""

    @extend_schema(request=shapes.SendBackRequest, responses=shapes.SentBackShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Send one response of a waiting item back to its author, with a note."""
        (item, person), data = _to_judge(request, public_id), valid(shapes.SendBackRequest, request)
        back = workflow_adjudication.send_back(item=item, by=person, now=timezone.now(), **data)
        return Response(
            {
                "item": item.public_id,
                "annotation": back.annotation.public_id,
                "note": back.note,
                "made_at": back.made_at,
            }
        )


class BatchRule(APIView):
    """The rule that decides in a batch."""

    @extend_schema(responses=shapes.RuleShape)
    def get(self, request: Request, public_id: str) -> Response:
        """Get the decision rule of a batch, and the JSON Schema of the rules for its task type."""
        return Response(
            _rule(authorization.batch(authorization.actor(request), public_id, Permission.SET_UP), None)
        )

    @extend_schema(request=shapes.RuleRequest, responses=shapes.RuleShape)
    def put(self, request: Request, public_id: str) -> Response:
        """Change the decision rule. A job resolves items in adjudication again."""
        actor = authorization.actor(request)
        batch = authorization.batch(actor, public_id, Permission.SET_UP)
        rule = valid(shapes.RuleRequest, request)["rule"]
        job = automatic_decisions.change_rule(batch=batch, rule=rule, by=actor.person, now=timezone.now())
        return Response(_rule(batch, job), status=200 if job is None else 202)


class Practice(APIView):
    """Practice with feedback."""

    @extend_schema(request=shapes.PracticeRequest, responses=shapes.FeedbackShape)
    def post(self, request: Request, slug: str, type: str) -> Response:
        """Check a response to a practice exercise. The response is not stored."""
        project = authorization.project(authorization.actor(request), slug)
        task, data = task_or_404(project, type), valid(shapes.PracticeRequest, request)
        exercises = practice.exercises(task, data["variant"])
        if data["number"] > len(exercises):
            raise Http404(authorization.NOT_HERE)
        exercise = exercises[data["number"] - 1]
        feedback = practice.judge(task, exercise, data["response"], project)
        if feedback.problems:
            raise InvalidResponse(feedback.problems)
        if request.auth is None:  # a program does not practise
            practice.record_attempt(
                session=request.session,
                project=project,
                person=authorization.actor(request).person,
                task=task,
                variant=data["variant"],
                position=data["number"],
                feedback=feedback,
                now=timezone.now(),
            )
        following = exercises[data["number"] :][:1]
        return Response(
            {
                "right": feedback.right,
                "words": list(feedback.words),
                "why": feedback.why,
                "next": task.page_data(following[0].item) if following else None,
            }
        )


def task_or_404(project: Project, key: str) -> TaskType:
    """An installed task type, or the newest version of one that the project defines."""
    own = workflow_task_types.task_in(project, key) if key not in task_types() and "\0" not in key else None
    if own is None and key not in task_types():
        raise Http404(authorization.NOT_HERE)
    return own or task_types()[key]


class PracticePredictions(APIView):
    """A model in practice."""

    @extend_schema(request=shapes.PracticePredictionRequest, responses=shapes.SeenShape)
    def post(self, request: Request, slug: str, type: str) -> Response:
        """Get the model's answer to a practice response. Neither it nor the response is stored."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug)
        if type not in task_types() or not task_types()[type].predicts:
            raise Http404(authorization.NOT_HERE)
        task, data = task_types()[type], valid(shapes.PracticePredictionRequest, request)
        exercises = practice.exercises(task, data["variant"])
        if data["number"] > len(exercises):
            raise Http404(authorization.NOT_HERE)
        seen = draft_checks.check_in_practice(
            project=project,
            task=task,
            item=exercises[data["number"] - 1].item,
            response=data["response"],
            slot=f"{actor.person.pk}:{task.key}",
            seq=data["seq"],
        )
        return seen_response(seen, data["seq"])


class MakeRelease(APIView):
    """Starting a release."""

    @extend_schema(request=shapes.ReleaseRequest, responses={202: shapes.ReleaseShape})
    def post(self, request: Request, slug: str) -> Response:
        """Start a release. Poll its job for progress."""
        actor = authorization.actor(request)
        project = authorization.project(actor, slug, Permission.RELEASE)
        visibility.require_no_open_work(actor.person, project)
        data = valid(shapes.ReleaseRequest, request)
        key = request.headers.get("Idempotency-Key", "")[:80]
        release = creation.start_release(
            project=project, by=actor.person, now=timezone.now(), request=key, **data
        )
        return Response(shapes.ReleaseShape(release).data, status=202)


class Download(APIView):
    """The files of a release."""

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, public_id: str) -> FileResponse:
        """Download a finished release as a zip archive."""
        actor = authorization.actor(request)
        release = authorization.release(actor, public_id)
        if release.ready_at is None:
            raise Http404(authorization.NOT_HERE)
        path, name = creation.archive_for(release, actor.person)
        return FileResponse(path.open("rb"), as_attachment=True, filename=name)


class JobDetail(APIView):
    """Background work."""

    @extend_schema(responses=shapes.JobShape)
    def get(self, request: Request, public_id: str) -> Response:
        """Get the progress of a job."""
        return Response(shapes.JobShape(visibility.job(authorization.actor(request), public_id)).data)


class JobCancel(APIView):
    """The end of a job that reads files."""

    @extend_schema(request=None, responses=shapes.JobShape)
    def post(self, request: Request, public_id: str) -> Response:
        """Cancel an import, a check or a restoration. It ends within two seconds, and nothing of it stays."""
        job = authorization.job(authorization.actor(request), public_id, Permission.IMPORT)
        jobs.cancel(job)
        job.refresh_from_db()
        return Response(shapes.JobShape(job).data)


def nothing_here(request: HttpRequest, *args: Any) -> HttpResponse:
    """Addresses below /api/ that do not exist are refused in the form of all refusals."""
    answer = problem(404, "not_found", "There is no such endpoint.")
    return JsonResponse(answer.data, status=404, content_type=CONTENT_TYPE)


# -- underneath -------------------------------------------------------------------------------------


def valid(shape: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The fields of a request (`serializers.checked`)."""
    return shapes.checked(shape, request.data)


def seen_response(seen: visible_verdicts.VisibleVerdict, seq: int) -> Response:
    """What a model said, or that it is still at it."""
    return Response(seen.to_dict(seq), status=202 if seen.state == "waiting" else 200)


def _payload(request: Request, assignment: Assignment | None) -> dict[str, Any] | None:
    """The assignment with what its page needs: loaded again, in one query, unless it came with that."""
    if assignment is None:
        return None
    if not reservations.is_complete(assignment):
        assignment = authorization.assignment(authorization.actor(request), assignment.public_id)
    return assignments.payload(assignment)


def _to_judge(request: Request, public_id: str) -> tuple[Item, Person]:
    actor = authorization.actor(request)
    item = authorization.item(actor, public_id, Permission.ADJUDICATE)
    if not visibility.may_adjudicate(actor.person, item):
        raise Http404(authorization.NOT_HERE)
    return item, actor.person


def _waiting(adjudication: Adjudication) -> dict[str, Any]:
    return {name: getattr(adjudication, name) for name in ("reason", "weight", "asked_at")}


def _adjudications(person: Person, waiting: QuerySet[Item]) -> Response:
    """Up to 50 of the items that wait, with their responses."""
    rows = visibility.adjudicable(person, waiting)
    items = list(rows.select_related("example__stored_table", "batch__definition")[:50])
    queue_candidates.record_reading(items, by=person, now=timezone.now())
    return Response(list(map(_adjudication, items, queue_candidates.of_items(items))))


def _adjudication(item: Any, candidates: Sequence[queue_candidates.Candidate]) -> dict[str, Any]:
    return {
        "item": item.public_id,
        "batch": item.batch.public_id,
        **_waiting(item.adjudication),
        "shows": item.batch.task().payload(item.plain()),
        "listed_reasons": listed_reasons(item.batch.adjudication_reasons),
        "note_required": item.batch.note_required,
        "candidates": [
            {
                "letter": candidate.letter,
                "annotation": candidate.annotation.public_id,
                "response": candidate.annotation.response,
                "words": candidate.words,
                "added": candidate.added,
                "sent_back": list(candidate.sent_back),
                "unmet": candidate.annotation.unmet or [],
                "unsure": candidate.unsure,
            }
            for candidate in candidates
        ],
    }


def _rule(batch: Any, job: Any) -> dict[str, Any]:
    task = batch.task()
    return {
        "rule": batch.resolve,
        "own": decision_rules.own_rule(task, batch.settings),
        "fitting": [rule.schema for rule in decision_rules.fitting_rules(task)],
        "job": None if job is None else job.public_id,
    }
