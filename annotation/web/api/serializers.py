"""The shapes of requests and answers, for validation and for the OpenAPI schema."""

from functools import cache
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.imports import file_preview
from annotation.models import Batch, Job, Project, Release, Source
from annotation.releases import restoration
from annotation.releases.benchmark_files import FORMATS
from annotation.releases.raw_records import PURPOSES
from tableqa.data.typed_json import to_json
from tableqa.scoring.verdicts import VERDICTS
from tasks.shared.error_classes import ERRORS


class ProjectShape(serializers.ModelSerializer[Project]):
    class Meta:
        model = Project
        fields = ["slug", "name", "time_zone", "created_at"]


class NewProjectRequest(serializers.Serializer[Any]):
    slug = serializers.CharField(max_length=60)
    name = serializers.CharField(max_length=120)
    time_zone = serializers.CharField(max_length=60, required=False, default="UTC")


class NewProjectShape(ProjectShape):
    token = serializers.CharField(allow_null=True, help_text="For the new project; null in a session.")

    class Meta(ProjectShape.Meta):
        fields = [*ProjectShape.Meta.fields, "token"]


class BatchShape(serializers.ModelSerializer[Batch]):
    id = serializers.CharField(source="public_id")
    project = serializers.CharField(source="project.slug")
    state = serializers.CharField()
    items = serializers.SerializerMethodField(help_text="Null where this tells you what others decided.")

    class Meta:
        model = Batch
        fields = [
            *("id", "project", "name", "task_type", "version", "variant", "settings", "overlap", "seed"),
            *("state", "items"),
        ]

    def get_items(self, batch: Batch) -> int | None:
        return None if batch.pk in self.context["hiding_size"] else batch.items_count


class TaskTypeShape(serializers.Serializer[Any]):
    key = serializers.CharField()
    version = serializers.IntegerField()
    title = serializers.CharField()
    making = serializers.BooleanField()
    variants = serializers.DictField(child=serializers.CharField())
    shows = serializers.ListField(child=serializers.CharField())
    settings_schema = serializers.DictField()


class ReleaseShape(serializers.ModelSerializer[Release]):
    id = serializers.CharField(source="public_id")
    project = serializers.CharField(source="project.slug")
    job = serializers.CharField(source="job.public_id", default=None, allow_null=True)
    format = serializers.CharField(help_text="The first of the formats.")
    formats = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Release
        fields = [
            *("id", "project", "name", "format", "formats", "digest", "manifest", "job"),
            *("made_at", "ready_at"),
        ]


class SourceShape(serializers.ModelSerializer[Source]):
    id = serializers.CharField(source="public_id")
    examples = serializers.IntegerField(source="examples_count")
    tables = serializers.IntegerField(source="tables_count")
    reports = serializers.ListField(child=serializers.DictField(), source="how.reports")

    class Meta:
        model = Source
        fields = [
            *("id", "name", "reader", "split", "licence", "citation", "url", "checksum"),
            *("examples", "tables", "ready_at", "reports"),
        ]


class JobShape(serializers.ModelSerializer[Job]):
    id = serializers.CharField(source="public_id")

    class Meta:
        model = Job
        fields = ["id", "kind", "state", "done", "total", "error", "result", "made_at"]

    def to_representation(self, instance: Job) -> dict[str, Any]:
        data = super().to_representation(instance)
        if instance.kind == file_preview.KIND and "release" in instance.result:
            data["result"] = restoration.summary_of(instance)
        elif instance.kind == file_preview.KIND and instance.result:
            preview = file_preview.result(instance)
            examples = [example.to_dict() for example in preview.examples]
            data["result"] = {**to_json(preview), "examples": examples}
        data["result"].pop("page", None)  # what a page of this site needs
        return data


class HoldingSerializer(serializers.Serializer[Any]):
    holding = serializers.ListField(
        child=serializers.CharField(max_length=12), max_length=10, required=False, default=list
    )


class Envelope(serializers.Serializer[Any]):
    """Checked by the kind itself, which names every problem; here it only has to be an object."""

    response = serializers.JSONField()

    def validate_response(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise serializers.ValidationError("The response must be a JSON object.")
        return value


class DraftRequest(Envelope):
    revision = serializers.IntegerField(min_value=0, max_value=2**31 - 2)


class SubmitRequest(Envelope, HoldingSerializer):
    """`confirmed`: codes of the unmet conditions that are submitted all the same. The response may have `unsure`: true."""

    next = serializers.BooleanField(default=False)
    confirmed = serializers.ListField(
        child=serializers.CharField(max_length=60), required=False, default=list, max_length=50
    )


class SkipRequest(HoldingSerializer):
    reason = serializers.CharField(max_length=500)
    next = serializers.BooleanField(default=False)


class FlagRequest(serializers.Serializer[Any]):
    note = serializers.CharField(max_length=2000)


_FORMAT = {"type": "string", "enum": list(FORMATS)}


@extend_schema_field({"oneOf": [_FORMAT, {"type": "array", "items": _FORMAT, "minItems": 1}]})
class FormatField(serializers.MultipleChoiceField):
    """A format of releases, or a list of formats."""

    def to_internal_value(self, data: Any) -> Any:
        chosen: Any = data if isinstance(data, list) else [data]
        return sorted(super().to_internal_value(chosen))


class ReleaseRequest(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80)
    format = FormatField(choices=FORMATS, allow_empty=False, help_text="One format, or a list of them.")
    allow_simulated = serializers.BooleanField(default=False)
    purpose = serializers.ChoiceField(choices=["", *PURPOSES], required=False, default="", allow_blank=True)
    waivers = serializers.DictField(
        child=serializers.CharField(max_length=2000), required=False, default=dict
    )
    mix = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=0, max_value=2**31
    )
    prompts = serializers.DictField(
        child=serializers.CharField(max_length=80),
        required=False,
        default=dict,
        help_text="With the format hf: `design`, `serialisation` and `demonstrations` (a split) of its prompts.",
    )


class DecideRequest(serializers.Serializer[Any]):
    choose = serializers.ListField(child=serializers.CharField(max_length=12), required=False, default=list)
    response = serializers.JSONField(required=False, default=None)
    based_on = serializers.ListField(child=serializers.CharField(max_length=12), required=False, default=list)
    exclude = serializers.CharField(required=False, default="", allow_blank=True, max_length=500)
    listed_reason = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=120,
        help_text="One of the reasons that the batch lists.",
    )
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)

    def validate_response(self, value: Any) -> dict[str, Any] | None:
        if value is not None and not isinstance(value, dict):
            raise serializers.ValidationError("The response must be a JSON object.")
        return value


class SendBackRequest(serializers.Serializer[Any]):
    choose = serializers.CharField(max_length=12)
    note = serializers.CharField(max_length=2000)


class SentBackShape(serializers.Serializer[Any]):
    item = serializers.CharField()
    annotation = serializers.CharField()
    note = serializers.CharField()
    made_at = serializers.DateTimeField()


class RuleRequest(serializers.Serializer[Any]):
    rule = serializers.DictField()


class RuleShape(serializers.Serializer[Any]):
    """The rule of a batch ({}: the task type's own), those that fit its kind, and the job that resolves again."""

    rule = serializers.DictField()
    own = serializers.DictField()
    fitting = serializers.ListField(child=serializers.DictField())
    job = serializers.CharField(allow_null=True)


class ViolationShape(serializers.Serializer[Any]):
    path = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()
    level = serializers.ChoiceField(choices=["error", "warning"])


class DraftShape(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    response = serializers.DictField()
    saved_at = serializers.DateTimeField()
    outdated = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="Of a draft for an older version of the form: what to check. Otherwise empty.",
    )


class AnnotationRef(serializers.Serializer[Any]):
    id = serializers.CharField()
    revision = serializers.IntegerField()
    submitted_at = serializers.DateTimeField(required=False)
    unmet = serializers.ListField(child=serializers.CharField(), required=False)
    unsure = serializers.BooleanField(required=False)


class BatchRef(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()


class LeaseShape(serializers.Serializer[Any]):
    seconds = serializers.IntegerField()
    expires_at = serializers.DateTimeField(required=False)


class ProgressShape(serializers.Serializer[Any]):
    submitted = serializers.IntegerField()
    total = serializers.IntegerField(
        allow_null=True, help_text="Null in a batch that takes items from another."
    )


class LoopShape(serializers.Serializer[Any]):
    """The model in the loop of a batch; its name is "" where none does."""

    model = serializers.CharField(allow_blank=True)
    licence = serializers.CharField(allow_blank=True)
    when = serializers.ChoiceField(choices=["live", "on_request"])
    gateway = serializers.CharField(
        allow_blank=True,
        help_text="Where to send previews and checks with a ticket; empty without a gateway.",
    )
    panel = serializers.ListField(
        child=serializers.CharField(), help_text="Further models whose answers are shown, by name."
    )


class SameQuestionShape(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    total = serializers.IntegerField()


class AnswerShape(serializers.Serializer[Any]):
    """A manager's answer to a question from this batch that the person has not read yet; long texts are cut."""

    id = serializers.CharField()
    question = serializers.CharField()
    answer = serializers.CharField()
    is_whole = serializers.BooleanField(help_text="The text of the answer is not cut.")


class AssignmentShape(serializers.Serializer[Any]):
    """An assignment as its annotator gets it: what the kind shows, the draft, the lease."""

    id = serializers.CharField()
    state = serializers.CharField()
    batch = BatchRef()
    item = serializers.CharField()
    type = serializers.CharField()
    variant = serializers.CharField()
    version = serializers.IntegerField()
    base = serializers.CharField()
    shows = serializers.DictField()
    grid = serializers.ChoiceField(choices=["read", "select", "edit", "structure"])
    suggests = serializers.ChoiceField(choices=["before", ""])
    contract = serializers.DictField(allow_null=True)
    draft = DraftShape(allow_null=True)
    annotation = AnnotationRef(allow_null=True)
    lease = LeaseShape()
    guidelines = serializers.IntegerField(
        help_text="Version of the guidelines shown with the item and used for the response."
    )
    progress = ProgressShape()
    loop = LoopShape(allow_null=True)
    help = serializers.ChoiceField(choices=["offered", "filled", ""])
    sent_back = serializers.CharField(allow_null=True)
    same_question = SameQuestionShape(
        allow_null=True,
        help_text="If several answers to one question are rated: the position of this one for the person, "
        "and the total.",
    )
    answers = AnswerShape(many=True)


class SavedDraftShape(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    saved_at = serializers.DateTimeField()
    violations = ViolationShape(many=True)
    answer = serializers.DictField(allow_null=True)
    closed = serializers.BooleanField(
        help_text="Whether the batch is closed: the draft is kept, a submission is refused."
    )


class SubmittedShape(serializers.Serializer[Any]):
    annotation = AnnotationRef()
    next = AssignmentShape(allow_null=True)


class NextShape(serializers.Serializer[Any]):
    next = AssignmentShape(allow_null=True)


class PracticeRequest(Envelope):
    variant = serializers.CharField(required=False, default="", allow_blank=True, max_length=60)
    number = serializers.IntegerField(min_value=1, max_value=10_000)


class FeedbackShape(serializers.Serializer[Any]):
    """`right` is null where the rules are met and the meaning cannot be judged."""

    right = serializers.BooleanField(allow_null=True)
    words = serializers.ListField(child=serializers.CharField())
    why = serializers.CharField(allow_blank=True)
    next = serializers.DictField(allow_null=True)


class PredictionRequest(Envelope):
    kind = serializers.ChoiceField(choices=["preview", "try"])
    seq = serializers.IntegerField(min_value=0, max_value=2**53)


class PanelPredictionRequest(PredictionRequest):
    """`model` names a model of the panel; without it the model in the loop is asked."""

    model = serializers.CharField(required=False, default="", allow_blank=True, max_length=64)


class ModelTicketShape(serializers.Serializer[Any]):
    """A ticket for the gateway, valid for `seconds`, and the person's number of checks on the item."""

    ticket = serializers.CharField()
    seconds = serializers.IntegerField()
    tries = serializers.IntegerField()


class PracticePredictionRequest(PracticeRequest, PredictionRequest):
    pass


class LookShape(serializers.Serializer[Any]):
    """What a model says of one example; `right` is null without a gold answer."""

    answers = serializers.ListField(child=serializers.CharField(allow_blank=True))
    expected = serializers.ListField(child=serializers.CharField(allow_blank=True))
    score = serializers.FloatField(allow_null=True)
    confidence = serializers.CharField(allow_blank=True)
    cells = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    rows_seen = serializers.IntegerField()
    rows_total = serializers.IntegerField()
    next_best = serializers.CharField(allow_blank=True)
    right = serializers.BooleanField(allow_null=True)


class SeenShape(serializers.Serializer[Any]):
    """What a model says of a response: a state with a sentence, both answers and a verdict where there are any."""

    seq = serializers.IntegerField()
    state = serializers.ChoiceField(
        choices=["answered", "waiting", "busy", "stale", "changed", "unavailable", "slow", "nothing", "none"]
    )
    words = serializers.CharField(allow_blank=True)
    original = LookShape(allow_null=True)
    perturbed = LookShape(allow_null=True)
    verdict = serializers.ChoiceField(choices=VERDICTS, allow_null=True)
    forms = serializers.ListField(child=serializers.CharField(), allow_null=True)
    tries = serializers.IntegerField(allow_null=True)


class SuggestionsShape(serializers.Serializer[Any]):
    suggestions = serializers.DictField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class ProposalShape(serializers.Serializer[Any]):
    """A whole response that a machine proposes, as data and in words, with what became of it so far."""

    id = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment]
    words = serializers.ListField(child=serializers.CharField())
    why = serializers.CharField(allow_blank=True)
    verdict = serializers.ChoiceField(choices=VERDICTS, allow_null=True)
    state = serializers.ChoiceField(choices=["took", "rejected", ""])


class ProposalsShape(serializers.Serializer[Any]):
    help = serializers.ChoiceField(choices=["offered", "filled", ""])
    proposals = ProposalShape(many=True)


class HandleRequest(serializers.Serializer[Any]):
    proposal = serializers.CharField(max_length=12)
    act = serializers.ChoiceField(choices=["took", "rejected"])
    errors = serializers.ListField(  # type: ignore[assignment]
        child=serializers.ChoiceField(choices=list(ERRORS)),
        required=False,
        default=list,
        max_length=len(ERRORS),
    )


class QuestionShape(serializers.Serializer[Any]):
    question = serializers.DictField()


class WorkedOutShape(serializers.Serializer[Any]):
    answer = serializers.DictField()


class LeaseAnswer(serializers.Serializer[Any]):
    lease = LeaseShape()
    answers = AnswerShape(many=True)


class CandidateShape(serializers.Serializer[Any]):
    letter = serializers.CharField()
    annotation = serializers.CharField()
    response = serializers.DictField()
    words = serializers.ListField(child=serializers.CharField())
    added = serializers.BooleanField()
    sent_back = serializers.ListField(child=serializers.CharField())
    unmet = serializers.ListField(child=serializers.CharField())
    unsure = serializers.BooleanField(help_text="The annotator was not sure.")


class UndoneShape(serializers.Serializer[Any]):
    item = serializers.CharField()
    reason = serializers.CharField()
    weight = serializers.FloatField()
    asked_at = serializers.DateTimeField()


class AdjudicationShape(UndoneShape):
    batch = serializers.CharField()
    shows = serializers.DictField()
    listed_reasons = serializers.ListField(child=serializers.CharField())
    note_required = serializers.BooleanField()
    candidates = CandidateShape(many=True)


class DecisionShape(serializers.Serializer[Any]):
    item = serializers.CharField()
    kind = serializers.CharField()
    reason = serializers.CharField()
    listed_reason = serializers.CharField()
    note = serializers.CharField()
    made_at = serializers.DateTimeField()
    outcomes = serializers.IntegerField()


# -- reading ----------------------------------------------------------------------------------------


def checked(shape: type[serializers.Serializer[Any]], data: Any) -> dict[str, Any]:
    """The fields of a request. One that is not known is refused: a misspelt field would be left out in silence."""
    if data is None:
        raise serializers.ValidationError({"non_field_errors": ["No data provided"]})
    checks = _checks(shape)
    fields = checks.run_validation(data)
    if unknown := sorted(set(data) - set(checks.fields)):
        available = ", ".join(checks.fields)
        raise serializers.ValidationError(
            {name: [f"Unknown field. Available: {available}."] for name in unknown}
        )
    return dict(fields)


@cache
def _checks(shape: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """One that is kept: a serializer copies all its fields whenever it is made, and validating leaves nothing in it."""
    return shape()
