"""Background work, and the files that wait for it."""

from django.db import models

from annotation.models.people import Person, Project
from annotation.platform.message_fields import MessageField, MessagesField
from annotation.platform.public_ids import new_public_id


class Job(models.Model):
    """One piece of background work: safe to run twice, with progress, a heartbeat and its last error."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    FINISHED = (State.DONE, State.FAILED)
    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=40)
    ids = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    heartbeat = models.DateTimeField()
    error = MessageField(blank=True)
    result = MessagesField(default=dict)
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()
    erased = models.JSONField(null=True)
    """Names of people who were erased while it ran; taken out of what it wrote, and forgotten, when it has ended."""

    class Meta:
        indexes = [
            models.Index(fields=["state", "heartbeat"], name="job_stale"),
            models.Index(fields=["heartbeat"], name="job_erased", condition=models.Q(erased__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.public_id}"

    @property
    def finished(self) -> bool:
        return self.state in self.FINISHED

    @property
    def percent(self) -> int:
        return int(100 * self.done / self.total) if self.total else 0


class Upload(models.Model):
    """A file a person sent for an import, under a name of ours; theirs is kept as text only.

    `size` is how many bytes the file has, or will have when all slices came; None where it was sent before this was stored.
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.CASCADE, related_name="uploads")
    file = models.FileField(upload_to="uploads/")
    name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField(null=True)
    made_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
