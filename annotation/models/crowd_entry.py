"""The way in for a crowd: links that many people enter by, and the ids that a platform gives them."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Length
from django.db.models.lookups import Exact

from annotation.models.people import Person, Project
from annotation.platform.public_ids import new_public_id


class CrowdLink(models.Model):
    """A link by which people of a crowd platform enter a project as annotators.

    `parameters` names the query parameters that carry the ids: {"person": "PROLIFIC_PID", "study": ..., "session": ...}.
    `return_url` is where people go with their code, with `{code}` in it, or "" where the code is only shown.
    `is_signed`: only people whose ids are signed may enter; `key_number`: of the newest key (`crowd_entry.key_of`), 0
    before. `is_limited`: only people whose ids are listed (`ListedParticipant`) may enter.
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.CASCADE, related_name="crowd_links")
    name = models.CharField(max_length=120)
    parameters = models.JSONField()
    completion_code = models.CharField(max_length=60)
    screen_out_code = models.CharField(max_length=60)
    return_url = models.CharField(max_length=500, blank=True)
    most = models.PositiveIntegerField(null=True)
    is_signed = models.BooleanField(default=False, db_default=False)
    key_number = models.PositiveSmallIntegerField(default=0, db_default=0)
    is_limited = models.BooleanField(default=False, db_default=False)
    made_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_crowd_link_per_name"),
            models.CheckConstraint(
                condition=Q(is_signed=False) | Q(key_number__gt=0), name="signed_crowd_link_has_key"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ListedParticipant(models.Model):
    """An id of a platform that may enter by a limited link, as a digest: people who have not entered are unknown here."""

    link = models.ForeignKey(CrowdLink, models.CASCADE, related_name="listed")
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["link", "digest"], name="one_listed_participant_per_id"),
            models.CheckConstraint(
                condition=Exact(Length("digest"), 64), name="digest_of_listed_participant"
            ),
        ]

    def __str__(self) -> str:
        return f"listed {self.pk} of {self.link_id}"


class CrowdEntry(models.Model):
    """People who joined by a link, with the ids of their platform. Kept apart from the person; never logged.

    The first entry binds the id: the same id from another session is refused.
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
