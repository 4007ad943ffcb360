"""What machines propose, who was shown it, what people did with it, and where each response comes from."""

from typing import Any

from django.db import models
from django.db.models import Q

from annotation.models.spending import ModelRequest
from annotation.models.work import Annotation, Assignment, Item
from annotation.platform.message_fields import MessageField
from annotation.platform.public_ids import new_public_id


class WrittenOnce(models.QuerySet[Any]):
    """Rows that can be added and read; the database refuses updates too."""

    def update(self, **kwargs: Any) -> int:
        raise TypeError("what was proposed, told and done stays: add a row")


class Proposal(models.Model):
    """A whole response to an item that a machine would give. Immutable.

    `maker` is "rules", or a language model with its name and revision; `by` the rule, `digest` of the example it makes:
    two proposals of one maker for an item are never the same.
    """

    class Source(models.TextChoices):
        RULES = "rules"
        MODEL = "model"

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    item = models.ForeignKey(Item, models.PROTECT, related_name="proposals")
    source = models.CharField(max_length=10, choices=Source)
    maker = models.CharField(max_length=200)
    category = models.CharField(max_length=60, blank=True)
    by = models.CharField(max_length=200, blank=True)
    data = models.JSONField()
    digest = models.CharField(max_length=64)
    why = MessageField(blank=True)
    score = models.FloatField(default=0)
    made_at = models.DateTimeField()

    objects = WrittenOnce.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "maker", "digest"], name="one_proposal_of_a_maker"),
            models.CheckConstraint(condition=Q(source__in=["rules", "model"]), name="known_proposal_source"),
        ]

    def __str__(self) -> str:
        return f"{self.public_id} by {self.maker}"


UNUSABLE = ["cut_off", "declined", "filtered", "unreadable", "refused", "invalid"]
"""Outcomes of replies that make no proposal and do not say that none applies."""


class Reply(models.Model):
    """What a language model answered to one request for a proposal: category and repetition of an item. Immutable.

    Every request is kept, whatever its outcome, so that a job that runs again asks nothing twice and the cost is known.
    """

    class Outcome(models.TextChoices):
        PROPOSED = "proposed"
        AGAIN = "again"  # the same as an earlier proposal of this model
        DOES_NOT_APPLY = "does_not_apply"
        CUT_OFF = "cut_off"
        DECLINED = "declined"  # the model refuses to answer
        FILTERED = "filtered"
        UNREADABLE = "unreadable"  # without text
        REFUSED = "refused"  # by the endpoint
        INVALID = "invalid"  # not of the form, or its response breaks the contract

    item = models.ForeignKey(Item, models.PROTECT, related_name="replies")
    maker = models.CharField(max_length=200)
    category = models.CharField(max_length=60)
    repetition = models.PositiveSmallIntegerField()
    seed = models.BigIntegerField()
    demonstrations = models.JSONField(default=list)
    outcome = models.CharField(max_length=20, choices=Outcome)
    reason = models.CharField(max_length=400, blank=True)
    text = models.TextField(blank=True)
    proposal = models.ForeignKey(Proposal, models.PROTECT, null=True, related_name="replies")
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    request = models.ForeignKey(ModelRequest, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()

    objects = WrittenOnce.as_manager()

    class Meta:
        verbose_name_plural = "replies"
        constraints = [
            models.UniqueConstraint(
                fields=["item", "maker", "category", "repetition"], name="one_reply_to_each_request"
            ),
            models.CheckConstraint(
                condition=Q(outcome__in=["proposed", "again"], proposal__isnull=False)
                | Q(outcome__in=["does_not_apply", *UNUSABLE], proposal__isnull=True),
                name="a_reply_makes_a_proposal_or_none",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.maker} on {self.item_id}: {self.outcome}"


class Trial(models.Model):
    """What the model in the loop of a batch makes of a proposal: raw answers on both examples, and the verdict."""

    proposal = models.ForeignKey(Proposal, models.PROTECT, related_name="trials")
    predictor = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    verdict = models.CharField(max_length=20)
    original = models.JSONField(null=True)
    perturbed = models.JSONField(null=True)
    made_at = models.DateTimeField()

    objects = WrittenOnce.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["proposal", "model"], name="one_trial_per_model")]

    def __str__(self) -> str:
        return f"{self.proposal_id}: {self.verdict}"


class ProposalImpression(models.Model):
    """A proposal that was shown to a person on an assignment, at which position of the list."""

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="impressions")
    proposal = models.ForeignKey(Proposal, models.PROTECT, related_name="impressions")
    number = models.PositiveSmallIntegerField()
    shown_at = models.DateTimeField()

    objects = WrittenOnce.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "proposal"], name="shown_once"),
            models.UniqueConstraint(fields=["assignment", "number"], name="one_proposal_at_a_position"),
        ]

    def __str__(self) -> str:
        return f"{self.proposal_id} shown on {self.assignment_id}"


class ProposalReaction(models.Model):
    """What a person did with a proposal they were shown: took it into the form, or rejected it and said what is wrong."""

    class Act(models.TextChoices):
        TOOK = "took"
        REJECTED = "rejected"

    impression = models.ForeignKey(ProposalImpression, models.PROTECT, related_name="reactions")
    act = models.CharField(max_length=10, choices=Act)
    errors = models.JSONField(default=list)
    made_at = models.DateTimeField()

    objects = WrittenOnce.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(act="took", errors=[]) | (Q(act="rejected") & ~Q(errors=[])),
                name="a_rejection_says_what_is_wrong",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.act} {self.impression_id}"


class Provenance(models.Model):
    """Where an annotation of a batch with help comes from, decided when it was submitted. Immutable.

    `helped` says whether its slot was drawn to show proposals, `shared` how much of what was submitted was proposed.
    """

    class Origin(models.TextChoices):
        HUMAN = "human"
        MACHINE = "machine"
        EDITED = "machine_edited"

    annotation = models.OneToOneField(Annotation, models.PROTECT, related_name="provenance")
    helped = models.BooleanField()
    origin = models.CharField(max_length=20, choices=Origin)
    impression = models.ForeignKey(ProposalImpression, models.PROTECT, null=True, related_name="became")
    shared = models.FloatField(default=0)

    objects = WrittenOnce.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(origin="human", impression__isnull=True)
                | Q(origin__in=["machine", "machine_edited"], impression__isnull=False, helped=True),
                name="a_machine_has_its_proposal",
            ),
            models.CheckConstraint(condition=Q(shared__gte=0, shared__lte=1), name="a_share_is_a_share"),
        ]

    def __str__(self) -> str:
        return f"{self.annotation_id}: {self.origin}"
