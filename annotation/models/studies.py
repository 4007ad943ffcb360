"""What a study is run with: consent, readings, gold items, qualification, questions to the manager, snapshots."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_noop

from annotation.models.people import Person, Project
from annotation.models.work import Annotation, Assignment, Batch, Guidelines, Item
from annotation.platform.message_fields import MessagesField
from annotation.platform.public_ids import new_public_id


class ConsentText(models.Model):
    """One version of what people agree to before their first item. `Project.consent_number` says which counts."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="consent_texts")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="one_consent_text_per_number")
        ]

    def __str__(self) -> str:
        return f"consent text, version {self.number}"


class Consent(models.Model):
    """A person has agreed to this version of the consent text. Withdrawing it sets `withdrawn_at`."""

    text = models.ForeignKey(ConsentText, models.PROTECT, related_name="consents")
    person = models.ForeignKey(Person, models.PROTECT, related_name="consents")
    given_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["text", "person"], name="one_consent_per_person")]

    def __str__(self) -> str:
        return f"{self.person_id} to {self.text_id}"


class Reading(models.Model):
    """A person says that they have read this version of the guidelines, in which language ("": as it was written)."""

    guidelines = models.ForeignKey(Guidelines, models.PROTECT, related_name="readings")
    person = models.ForeignKey(Person, models.PROTECT, related_name="readings")
    language = models.CharField(max_length=8, db_default="", blank=True)
    read_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["guidelines", "person"], name="one_reading_per_person")
        ]

    def __str__(self) -> str:
        return f"{self.person_id} read {self.guidelines_id}"


class PracticeResult(models.Model):
    """A person has gone through the practice set of a kind: `right` of its `judged` exercises at the first attempt."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="+")
    person = models.ForeignKey(Person, models.PROTECT, related_name="practice")
    task_type = models.CharField(max_length=60)
    variant = models.CharField(max_length=60, blank=True)
    right = models.PositiveSmallIntegerField()
    judged = models.PositiveSmallIntegerField()
    done_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "person", "task_type", "variant"], name="one_practice_per_person"
            )
        ]

    def __str__(self) -> str:
        return f"{self.person_id}: {self.task_type} {self.right} of {self.judged}"


class Gold(models.Model):
    """The response that is known to be right for an item, and why. Annotators see it only after they answered."""

    item = models.OneToOneField(Item, models.CASCADE, related_name="gold")
    expected = models.JSONField()
    why = models.TextField(blank=True)
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "gold"

    def __str__(self) -> str:
        return f"gold of {self.item_id}"


class Qualification(models.Model):
    """A person's result in a qualification batch, written when its last item is submitted."""

    batch = models.ForeignKey(Batch, models.CASCADE, related_name="qualifications")
    person = models.ForeignKey(Person, models.PROTECT, related_name="qualifications")
    right = models.PositiveIntegerField()
    judged = models.PositiveIntegerField()
    passed = models.BooleanField()
    at = models.DateTimeField()
    granted_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "person"], name="one_qualification_per_person"),
            models.CheckConstraint(condition=Q(right__lte=models.F("judged")), name="right_of_judged"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id}: {self.right} of {self.judged}"


class Inquiry(models.Model):
    """A question to the manager, from an item or in general; once answered, all members of the project can read both.

    `read_at`: when the asker read the answer that it has now.
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.PROTECT, related_name="inquiries")
    batch = models.ForeignKey(Batch, models.PROTECT, null=True, related_name="inquiries")
    assignment = models.ForeignKey(Assignment, models.PROTECT, null=True, related_name="inquiries")
    asked_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    asked_at = models.DateTimeField()
    text = models.TextField()
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "inquiries"
        indexes = [models.Index(fields=["project", "answered_at"], name="inquiries_of")]

    def __str__(self) -> str:
        return self.text[:60]


class RevisionRequest(models.Model):
    """An adjudicator gave a response back to its author, with a note: the author rewrites it."""

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="sent_back")
    annotation = models.OneToOneField(Annotation, models.PROTECT, related_name="sent_back")
    note = models.TextField()
    made_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.note[:60]


class PinnedExample(models.Model):
    """An accepted item that annotators of its task type and variant see first among the examples of earlier work."""

    item = models.OneToOneField(Item, models.CASCADE, related_name="pinned")
    made_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"example {self.item_id}"


class ReviewSample(models.Model):
    """A random sample of the accepted items of a project that are reviewed; `of` is how many there were to draw from."""

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.CASCADE, related_name="review_samples")
    seed = models.BigIntegerField()
    of = models.PositiveIntegerField()
    made_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"review {self.public_id}"


class ReviewEntry(models.Model):
    """An item of a sample, and what its reviewer found; `outcome` is "" until then."""

    class Outcome(models.TextChoices):
        CONFIRMED = "confirmed", gettext_noop("confirmed")
        SENT_BACK = "sent_back", gettext_noop("sent back")

    sample = models.ForeignKey(ReviewSample, models.CASCADE, db_index=False, related_name="entries")
    item = models.ForeignKey(Item, models.CASCADE, related_name="+")
    position = models.PositiveIntegerField()
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    note = models.CharField(max_length=500, blank=True)
    reviewed_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    reviewed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "review entries"
        constraints = [
            models.UniqueConstraint(fields=["sample", "item"], name="one_review_per_item"),
            models.CheckConstraint(
                condition=Q(outcome="", reviewed_at__isnull=True)
                | Q(outcome="confirmed", reviewed_at__isnull=False)
                | Q(outcome="sent_back", reviewed_at__isnull=False) & ~Q(note=""),
                name="known_review_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome or 'waiting'}: {self.item_id}"


class Snapshot(models.Model):
    """Figures worked out in the background from everything up to an event: what pages of large projects show.

    `key` names the report and what it is about ("agreement:<batch>"); nothing is ever read from it but for showing.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="snapshots")
    key = models.CharField(max_length=120)
    data = MessagesField()
    watermark = models.BigIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_snapshot_per_key")]

    def __str__(self) -> str:
        return self.key
