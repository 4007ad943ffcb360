"""What language models were asked in a project, and what it cost."""

from decimal import Decimal
from typing import Any

from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from annotation.models.people import Project
from annotation.models.work import Batch

OF_A_BATCH = ["loop", "panel", "search", "proposals"]
ENDED = ["answered", "cut_off", "filtered", "declined", "unreadable", "refused", "parameters", "away"]
OF_A_PROJECT = ["questions", "accuracy", "evaluation", "practice"]


class ModelRequestQuerySet(models.QuerySet["ModelRequest"]):
    """Requests can be added, read and settled once."""

    def update(self, **kwargs: Any) -> int:
        raise TypeError("a request is settled once, by `settle`")

    def create(self, **values: Any) -> Any:
        """Add a request, and count it."""
        with transaction.atomic():
            request = super().create(**values)
            ModelTotal.add(request)
        return request

    def settle(self, **values: Any) -> int:
        """Write what an open request used. Returns 0 where it is settled already."""
        with transaction.atomic():
            request = self.filter(state="open").select_for_update(no_key=True).first()
            if request is None:
                return 0
            before = request.tokens, request.micro_usd
            for name, value in values.items():
                setattr(request, name, value)
            ModelTotal.add(request, *before)
            return models.QuerySet.update(self.filter(pk=request.pk), **values)

    def release(self) -> None:
        """Remove an open request that was never sent."""
        with transaction.atomic():
            if self.settle(prompt_tokens=0, completion_tokens=0):
                self.filter(state="open").delete()


class ModelRequest(models.Model):
    """One request to a language model, retries included: its tokens, their price then, and how it ended.

    open        reserved before it was sent, with its largest possible number of tokens
    answered    with a reply that could be read to its end
    others      the kinds of `predictor.chat.ChatError`

    `is_counted`: the endpoint stated the tokens; else they are estimated. Prices are USD per million tokens.
    """

    class Purpose(models.TextChoices):
        LOOP = "loop"
        PANEL = "panel"
        SEARCH = "search"
        PROPOSALS = "proposals"
        QUESTIONS = "questions"
        ACCURACY = "accuracy"
        EVALUATION = "evaluation"
        PRACTICE = "practice"

    class State(models.TextChoices):
        OPEN = "open"
        ANSWERED = "answered"
        CUT_OFF = "cut_off"
        FILTERED = "filtered"
        DECLINED = "declined"
        UNREADABLE = "unreadable"
        REFUSED = "refused"
        PARAMETERS = "parameters"
        AWAY = "away"

    project = models.ForeignKey(Project, models.PROTECT, related_name="model_requests")
    batch = models.ForeignKey(Batch, models.PROTECT, null=True, related_name="model_requests")
    purpose = models.CharField(max_length=12, choices=Purpose)
    predictor = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    state = models.CharField(max_length=12, choices=State, default=State.OPEN)
    prompt_tokens = models.PositiveIntegerField()
    completion_tokens = models.PositiveIntegerField()
    is_counted = models.BooleanField(default=False)
    prompt_price = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    completion_price = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    made_at = models.DateTimeField(db_default=Now())

    objects = ModelRequestQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(purpose__in=[*OF_A_BATCH, *OF_A_PROJECT]),
                name="known_purpose_of_model_request",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", *ENDED]),
                name="known_state_of_model_request",
            ),
            models.CheckConstraint(
                condition=~Q(state="open") | Q(is_counted=False), name="open_model_request_is_not_counted"
            ),
            models.CheckConstraint(
                condition=Q(prompt_price__gte=0, completion_price__gte=0), name="model_price_is_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=OF_A_BATCH, batch__isnull=False)
                | Q(purpose__in=OF_A_PROJECT, batch__isnull=True),
                name="model_request_of_a_batch_names_it",
            ),
        ]
        indexes = [models.Index(fields=["project", "batch"], name="model_requests_of")]

    def __str__(self) -> str:
        return f"{self.predictor} for {self.purpose}: {self.state}"

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def micro_usd(self) -> Decimal:
        """The price in millionths of a USD."""
        return self.prompt_tokens * self.prompt_price + self.completion_tokens * self.completion_price


class ModelTotal(models.Model):
    """The sums of requests of a batch, or of a project without a batch, for comparison with budgets.

    `micro_usd` is in millionths of a USD. Sums over all requests would take longer with each.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="model_totals")
    batch = models.OneToOneField(Batch, models.CASCADE, null=True, related_name="+")
    tokens = models.BigIntegerField(default=0)
    micro_usd = models.DecimalField(max_digits=30, decimal_places=6, default=Decimal(0))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project"], condition=Q(batch__isnull=True), name="one_model_total_without_a_batch"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tokens} tokens in project {self.project_id}, batch {self.batch_id}"

    @classmethod
    def add(cls, request: ModelRequest, tokens: int = 0, micro_usd: Decimal | int = 0) -> None:
        """Count what a request uses more than these."""
        more_tokens, more_usd = request.tokens - tokens, request.micro_usd - micro_usd
        more = {"tokens": F("tokens") + more_tokens, "micro_usd": F("micro_usd") + more_usd}
        total = cls.objects.filter(project=request.project_id, batch=request.batch_id)
        if (more_tokens or more_usd) and not total.update(**more):
            cls.objects.get_or_create(project_id=request.project_id, batch_id=request.batch_id)
            total.update(**more)


COST = F("prompt_tokens") * F("prompt_price") + F("completion_tokens") * F("completion_price")
"""Millionths of a USD for a request, as an expression; SQLite would divide whole numbers without their rest."""
