"""What comes out: adjudication, decisions with their outcomes, releases."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import Max, Q

from annotation.models.events import Event
from annotation.models.jobs import Job
from annotation.models.people import Person, Project
from annotation.models.sources import Example
from annotation.models.work import Annotation, Item
from annotation.platform.message_fields import MessageField
from annotation.platform.public_ids import new_public_id


class Adjudication(models.Model):
    """The item waits for an adjudicator, for this reason, since then. A row is there only while it does.

    `weight` orders the queue, the heaviest first: how far the responses are apart and how much depends on the item.
    `asked_by` is who put it there; None where responses did. What a person put there, no rule decides.
    """

    item = models.OneToOneField(Item, models.CASCADE, related_name="adjudication")
    reason = MessageField()
    weight = models.FloatField(default=0)
    asked_by = models.ForeignKey(Person, models.PROTECT, null=True, db_index=False, related_name="+")
    asked_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.reason[:60]


class AdjudicationRequest(models.Model):
    """A person's request that an adjudicator looks at the item, while it lacks responses: an author took one back, or the
    batch needs more. Once the item is complete, or the batch closed, it becomes its `Adjudication`.
    """

    item = models.OneToOneField(Item, models.CASCADE, related_name="adjudication_request")
    reason = MessageField()
    asked_by = models.ForeignKey(Person, models.PROTECT, db_index=False, related_name="+")
    asked_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.reason[:60]


class Decision(models.Model):
    """The last word on an item: accepted with outcomes, or excluded with a reason. Immutable,
    but the adjudicator who made it may undo it while nothing rests on it (`annotation.queue.decision_undo`).

    `rule` is what decided it where no person did, in place of the task type's own (`tasks.contract.decision_rules`); None
    where that did. An adjudicator may give a `listed_reason`, one of the batch's reasons with a key (None: none), and a
    `note`, a free text.
    """

    class Kind(models.TextChoices):
        ACCEPTED = "accepted"
        EXCLUDED = "excluded"

    item = models.OneToOneField(Item, models.PROTECT, related_name="decision")
    kind = models.CharField(max_length=10, choices=Kind)
    reason = MessageField(blank=True)
    listed_reason = models.CharField(max_length=120, null=True)  # noqa: DJ001
    note = models.TextField(blank=True)
    rule = models.JSONField(null=True)
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()
    event = models.OneToOneField(Event, models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="accepted") | (Q(kind="excluded") & ~Q(reason="")),
                name="exclusion_has_a_reason",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.item_id}"


class Outcome(models.Model):
    """One accepted response of a decision, who it rests on, and the example that it made, if it made one."""

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    decision = models.ForeignKey(Decision, models.PROTECT, related_name="outcomes")
    number = models.PositiveSmallIntegerField()
    response = models.JSONField()
    annotations = models.ManyToManyField(Annotation, related_name="outcomes")
    example = models.OneToOneField(Example, models.PROTECT, null=True, related_name="outcome")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["decision", "number"], name="one_outcome_per_number")]

    def __str__(self) -> str:
        return f"outcome {self.number} of {self.decision_id}"


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Reads of releases."""

    def kept(self) -> ReleaseQuerySet:
        """Releases that are ready, or being written."""
        underway = Q(job__isnull=True) | Q(job__state__in=[Job.State.QUEUED, Job.State.RUNNING])
        return self.filter(Q(ready_at__isnull=False) | underway)

    def latest_watermarks(self, projects: Iterable[int]) -> dict[int, int]:
        """By project (id), where there is one: what came before this event is in a release."""
        rows = self.kept().filter(project__in=list(projects)).order_by().values_list("project_id")
        return dict(rows.annotate(latest=Max("watermark")))

    def holding(self, annotation: Annotation) -> ReleaseQuerySet:
        """Releases, ready or being written, whose watermark takes the annotation in. None holds any of a round of
        calibration or a qualification.
        """
        batch = annotation.assignment.batch
        if not batch.decides:
            return self.none()
        return self.kept().filter(
            project_id=batch.project_id,
            watermark__gte=annotation.event_id,
        )


class Release(models.Model):
    """A benchmark as it went out: bounded by an event, verifiable from its own files, in one format or several.

    `purpose` "evaluation" leaves out what machines proposed and no person verified; "training" adds proposals that no person
    looked at, marked as what they are; "" does neither. `number` counts the releases of the project from 1.
    """

    class Purpose(models.TextChoices):
        TRAINING = "training"
        EVALUATION = "evaluation"

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.PROTECT, related_name="releases")
    name = models.CharField(max_length=80)
    format = models.CharField(max_length=40)
    number = models.PositiveIntegerField(default=1)
    more_formats = models.JSONField(default=list, db_default=[])
    watermark = models.BigIntegerField()
    allow_simulated = models.BooleanField(default=False)
    mix_seed = models.BigIntegerField(null=True)
    waivers = models.JSONField(default=dict)
    purpose = models.CharField(max_length=10, choices=Purpose, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    manifest = models.JSONField(default=dict)
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="+")
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()
    ready_at = models.DateTimeField(null=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=Q(ready_at__isnull=False), name="one_release_per_name"
            ),
            models.UniqueConstraint(
                fields=["project", "number"],
                condition=Q(ready_at__isnull=False),
                name="one_release_per_number",
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=["", "training", "evaluation"]), name="known_purpose"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def formats(self) -> list[str]:
        """All formats of the release, in the order of `benchmark_files.FORMATS`."""
        return [self.format, *self.more_formats]

    @property
    def folder(self) -> Path:
        """Where the files of the release lie."""
        return Path(settings.MEDIA_ROOT) / "releases" / self.public_id

    @property
    def batch_ids(self) -> set[str]:
        """The batches (public ids) whose records the release contains."""
        return {batch["id"] for batch in self.manifest.get("batches", ())}

    @property
    def source_names(self) -> set[str]:
        """The names of the sources whose examples the release contains."""
        return {source["name"] for source in self.manifest.get("sources", ())}


class Correction(models.Model):
    """A decision that was taken back although releases contain it. The next release names it in its errata.

    `event` is that of taking it back, with the reason. `examples` are the ids of the examples that the decision had made.
    """

    item = models.ForeignKey(Item, models.PROTECT, related_name="corrections")
    event = models.OneToOneField(Event, models.PROTECT, related_name="correction")
    releases = models.ManyToManyField(Release, related_name="corrections")
    examples = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"correction of {self.item_id}"
