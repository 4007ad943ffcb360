"""Notices: what happened that a person may want to act on."""

from __future__ import annotations

from django.db import models

from annotation.models.people import Person, Project
from annotation.models.work import Batch


class Notice(models.Model):
    """A notice for one person. `key` tells notices of a kind apart: the id of the question, job, release or batch.

    `mailed_at` is when a mail with it was begun; null where the person wants none.
    """

    class Kind(models.TextChoices):
        FINISHED = "batch_finished"
        ASKED = "question_asked"
        ANSWERED = "question_answered"
        SENT_BACK = "sent_back"
        ADJUDICATION = "adjudication"
        FAILED = "job_failed"
        RELEASE = "release_ready"

    person = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="notices")
    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    batch = models.ForeignKey(Batch, models.CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=20, choices=Kind)
    key = models.CharField(max_length=40)
    made_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "kind", "key"], name="one_notice_per_key")]
        indexes = [
            models.Index(fields=["kind", "key"], name="notices_of"),
            models.Index(
                fields=["person"], name="unmailed", condition=models.Q(mailed_at=None, read_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
