"""What a model in the loop answered, and what was made of it."""

from typing import Any

from django.db import models
from django.db.models import Q

from annotation.models.work import Annotation, Assignment
from annotation.platform.message_fields import MessageField
from annotation.platform.public_ids import new_public_id


class Try(models.Model):
    """One look of one model at what a person made of an item, with the raw answers on both examples.

    by person     a person pressed Check: counted, one for each thing that was tried
    submission    what was submitted: taken from the last such try where that looked at the same, else asked for later
    panel         another model than the one in the loop, asked afterwards

    `digest` is of everything that the model was asked. While there is no answer `answered_at` is null. The answers
    are written once; what they come to, now and later, are rows of `Verdict`.
    """

    class Kind(models.TextChoices):
        PERSON = "person"
        SUBMISSION = "submission"
        PANEL = "panel"

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="tries")
    annotation = models.ForeignKey(Annotation, models.PROTECT, null=True, related_name="tries")
    kind = models.CharField(max_length=10, choices=Kind)
    predictor = models.CharField(max_length=64)
    model = models.CharField(max_length=200, blank=True)
    digest = models.CharField(max_length=64)
    asked = models.JSONField()
    response = models.JSONField()
    original = models.JSONField(null=True)
    perturbed = models.JSONField(null=True)
    error = MessageField(blank=True)
    milliseconds = models.PositiveIntegerField(null=True)
    made_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "tries"
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "predictor", "digest"],
                condition=Q(kind="person"),
                name="one_try_for_each_thing_tried",
            ),
            models.UniqueConstraint(
                fields=["annotation", "predictor"],
                condition=Q(annotation__isnull=False),
                name="one_look_at_an_annotation_per_model",
            ),
            models.CheckConstraint(
                condition=Q(kind="person", annotation__isnull=True)
                | (~Q(kind="person") & Q(annotation__isnull=False)),
                name="a_submission_has_an_annotation",
            ),
        ]
        indexes = [
            models.Index(fields=["assignment", "made_at"], name="tries_of"),
            models.Index(fields=["made_at"], name="tries_open", condition=Q(answered_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.predictor} on {self.assignment_id} ({self.kind})"


class VerdictQuerySet(models.QuerySet["Verdict"]):
    """Verdicts can be added and read."""

    def update(self, **kwargs: Any) -> int:
        raise TypeError("a verdict stays: add a newer one")


class Verdict(models.Model):
    """The verdict on a try by the gold answers of a moment. The newest counts; earlier ones stay.

    `gold` and `judgements` hold a list of answers and `tableqa.scoring.verdicts.Judgement` for "original" and "perturbed".
    `is_confirmed`: the program gives the gold answer of the perturbed example; None where that was not recorded.
    """

    of = models.ForeignKey(Try, models.CASCADE, related_name="verdicts")
    verdict = models.CharField(max_length=20)
    gold = models.JSONField()
    judgements = models.JSONField()
    is_confirmed = models.BooleanField(null=True)
    made_at = models.DateTimeField()

    objects = VerdictQuerySet.as_manager()

    def __str__(self) -> str:
        return self.verdict
