"""The way in for a crowd: links that many people enter by, and the ids that a platform gives them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.people import Person, Project
from annotation.public_ids import new_public_id


class CrowdLink(models.Model):
    """A link by which people of a crowd platform enter a project as annotators.

    `parameters` names the query parameters that carry the ids: {"person": "PROLIFIC_PID", "study": ..., "session": ...}.
    `return_url` is where people go with their code, with `{code}` in it, or "" where the code is only shown.
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.CASCADE, related_name="crowd_links")
    name = models.CharField(max_length=120)
    parameters = models.JSONField()
    completion_code = models.CharField(max_length=60)
    screen_out_code = models.CharField(max_length=60)
    return_url = models.CharField(max_length=500, blank=True)
    most = models.PositiveIntegerField(null=True)
    made_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_crowd_link_per_name")]

    def __str__(self) -> str:
        return self.name


class CrowdEntry(models.Model):
    """Who came in by a link, with the ids that their platform gave them. Kept apart from the person; never logged.

    The first entry binds the id: whoever comes with the same id and not in that person's session is turned away.
    """

    class Outcome(models.TextChoices):
        COMPLETED = "completed"
        SCREENED_OUT = "screened out"

    link = models.ForeignKey(CrowdLink, models.CASCADE, related_name="entries")
    person = models.OneToOneField(Person, models.PROTECT, related_name="crowd_entry")
    external_id = models.CharField(max_length=200)
    study_id = models.CharField(max_length=200, blank=True)
    session_id = models.CharField(max_length=200, blank=True)
    entered_at = models.DateTimeField()
    outcome = models.CharField(max_length=20, choices=Outcome, blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["link", "external_id"], name="one_entry_per_external_id"),
            models.CheckConstraint(
                condition=Q(outcome__in=["", "completed", "screened out"]), name="known_crowd_outcome"
            ),
        ]
        verbose_name_plural = "crowd entries"

    def __str__(self) -> str:
        return f"entry {self.pk} by {self.link_id}"
