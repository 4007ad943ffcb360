"""Batches, items, slots, and what people do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models import F, OuterRef, Q, Subquery, Value
from django.utils.functional import cached_property

from annotation.models.batch_options import BatchTerms
from annotation.models.events import Event
from annotation.models.people import ExistingRows, Person, Project
from annotation.models.sources import Example
from annotation.platform.message_fields import MessagesField
from annotation.platform.public_ids import new_draw_key, new_public_id

if TYPE_CHECKING:
    from tasks.contract import Item as PlainItem
    from tasks.contract import TaskType


class GuidelinesQuerySet(models.QuerySet["Guidelines"]):
    """Reads of guidelines."""

    def shown(self, handed_out: Any, person: Any) -> GuidelinesQuerySet:
        """Those of the versions that a person who was handed an item out then may have before them, the newest first: none
        that was written since, unless they have read it.
        """
        readable = Q(number=1) | Q(made_at__lte=handed_out) | Q(readings__person=person)
        return self.filter(readable).order_by("-number")


class Guidelines(models.Model):
    """One version of a project's guidelines for a kind of annotation; every annotation names the one it saw.

    `translations` is the text of this version in other languages, by their code ({"de": ...}): part of the version.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="guidelines")
    task_type = models.CharField(max_length=60)
    number = models.PositiveIntegerField()
    text = models.TextField()
    translations = models.JSONField(default=dict, db_default=Value({}, models.JSONField()), blank=True)
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()

    objects = GuidelinesQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "task_type", "number"], name="one_guideline_per_number"
            )
        ]
        verbose_name_plural = "guidelines"

    def __str__(self) -> str:
        return f"{self.task_type} guidelines, version {self.number}"


class Batch(BatchTerms):
    """Items of one task type, with everything that was frozen when it opened. `annotation.models.batch_options` states its
    options.

    The four counts are of items, of their slots, and of the decisions about them: stored, so that no page counts.

    `definition` is the version of a task type that the project defines itself; None for an installed one.

    `loop_revision`, the name of the model in the loop with the hash of its weights, is frozen when the batch opens, or at
    its first answer. `sampling` is what the items were drawn from ({"sources", "size", "of", "only", "by"}). A batch that
    is set aside is in no release and no agreement.

    `seed` draws what a release repeats. `draw_key` is secret: only `annotation.queue.draws` reads it.

    A batch with `loop_right_only` gets its items from a job, when its model has answered all questions. `model_accuracy`
    is {} until then, and says how many it answered correctly: {"model", "questions", "right", "wrong", "unjudged",
    "unknown", "drawn_at"}. `opens_when_drawn`: it opens by itself afterwards.

    Of a deleted batch only `everything` gives the row, which keeps {"type", "responses", "people", "reason", "role", "date",
    "event"} in `deletion` (`annotation.workflow.deletion`).
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.PROTECT, related_name="batches")
    name = models.CharField(max_length=120)
    task_type = models.CharField(max_length=60)
    definition = models.ForeignKey(
        "annotation.TaskTypeDefinition", models.PROTECT, null=True, related_name="batches"
    )
    version = models.PositiveIntegerField()
    settings_digest = models.CharField(max_length=64)
    seed = models.BigIntegerField(default=0)
    draw_key = models.CharField(max_length=32, default=new_draw_key, db_default="", editable=False)
    items_count = models.PositiveIntegerField(default=0)
    slots_count = models.PositiveIntegerField(default=0)
    accepted_count = models.PositiveIntegerField(default=0, db_default=0)
    excluded_count = models.PositiveIntegerField(default=0, db_default=0)
    feeds_from = models.ForeignKey("self", models.PROTECT, null=True, related_name="feeds")
    loop_revision = models.CharField(max_length=200, blank=True)
    sampling = models.JSONField(default=dict)
    model_accuracy = models.JSONField(default=dict, db_default=Value({}, models.JSONField()))
    opens_when_drawn = models.BooleanField(default=False, db_default=False)
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    set_aside_at = models.DateTimeField(null=True)
    set_aside_because = models.CharField(max_length=500, blank=True)
    archived_at = models.DateTimeField(null=True, editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)
    deletion = models.JSONField(default=dict, db_default={}, editable=False)

    objects: ClassVar[models.Manager[Batch]] = ExistingRows()
    everything: ClassVar[models.Manager[Batch]] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_batch_per_name"),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="overlap_at_least_one"),
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True) | Q(opened_at__isnull=False), name="closed_after_opened"
            ),
            models.CheckConstraint(condition=Q(help__in=["", "offered", "filled"]), name="known_help"),
            models.CheckConstraint(
                condition=Q(unhelped__lte=90) & (~Q(help="") | Q(unhelped=0, help_from={})),
                name="without_help_nothing_is_drawn",
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=["work", "qualification", "calibration"]), name="known_batch_purpose"
            ),
            models.CheckConstraint(
                condition=Q(strategy__in=["open", "split", "everyone"]), name="known_strategy"
            ),
            models.CheckConstraint(
                condition=Q(gold_percent__lte=50, pass_percent__lte=100), name="percents_of_gold"
            ),
        ]
        verbose_name_plural = "batches"

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """planned, open, paused or closed: derived from the times."""
        if self.closed_at is not None:
            return "closed"
        if self.paused_at is not None:
            return "paused"
        return "open" if self.opened_at is not None else "planned"

    @property
    def waits_for_model(self) -> bool:
        """Whether its items are still to be drawn, because the model has not answered all questions yet."""
        return self.loop_right_only and not self.model_accuracy

    @property
    def decides(self) -> bool:
        """Whether its items are decided: those of a round of calibration or a qualification never are."""
        return self.purpose == self.Purpose.WORK

    @property
    def people_compared(self) -> int:
        """How many people's responses to an item are held against each other, at least: in a round of calibration and a
        qualification all people's, however many were there when it opened.
        """
        return self.overlap if self.decides else max(2, self.overlap)

    def task(self) -> TaskType:
        """The kind of annotation: installed, or as `definition` says. Raises `UnknownTaskType` where there is none."""
        from tasks.contract import task_type

        return self.definition.task() if self.definition is not None else task_type(self.task_type)

    def installed_task(self) -> TaskType | None:
        """The same; None where its task type is not installed any more."""
        from tasks.contract import task_types

        return self.definition.task() if self.definition is not None else task_types().get(self.task_type)


class Item(models.Model):
    """One example in one batch, with frozen references to what else is shown.

    `slots_count`, `submitted_count` and `due_at` are kept with the slots in the same transaction
    (`doctor` recomputes them): they say whether the item is complete, and when it may be resolved. `resolution` mirrors
    its decision or adjudication in the same way; "" where it has neither.
    `is_gold` marks what is mixed in to see how people do (its `Gold` says what is right): it is never decided or released.
    """

    class Resolution(models.TextChoices):
        NONE = ""
        ADJUDICATION = "adjudication"
        ACCEPTED = "accepted"
        EXCLUDED = "excluded"

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    batch = models.ForeignKey(Batch, models.PROTECT, db_index=False, related_name="items")
    example = models.ForeignKey(Example, models.PROTECT, related_name="items")
    position = models.PositiveIntegerField()
    inputs = MessagesField(default=dict)
    is_gold = models.BooleanField(default=False)
    slots_count = models.PositiveSmallIntegerField(default=0)
    submitted_count = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    resolution = models.CharField(
        max_length=12, choices=Resolution, default=Resolution.NONE, db_default="", blank=True
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "example"], name="one_item_per_example"),
            models.UniqueConstraint(fields=["batch", "position"], name="one_item_per_position"),
            models.CheckConstraint(
                condition=Q(submitted_count__lte=F("slots_count")), name="never_beyond_the_slots"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="item_due", condition=Q(due_at__isnull=False)),
            models.Index(fields=["batch"], name="item_gold", condition=Q(is_gold=True)),
            models.Index(fields=["batch", "resolution", "position"], name="item_resolution"),
        ]

    def __str__(self) -> str:
        return self.public_id

    def plain(self) -> PlainItem:
        """The item as its task type sees it. Wants batch, example and stored_table loaded."""
        from tasks import contract

        return contract.Item(
            example=self.example.example(),
            variant=self.batch.variant,
            settings=self.batch.settings,
            inputs=self.inputs,
        )


class Exclusion(models.Model):
    """This person never gets the item: they made something that it shows, or, with `read_at`, adjudicated and have read
    what others said of it then.
    """

    item = models.ForeignKey(Item, models.CASCADE, related_name="exclusions")
    person = models.ForeignKey(Person, models.PROTECT, related_name="+")
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "person"], name="one_exclusion_per_person")]

    def __str__(self) -> str:
        return f"{self.person_id} not on {self.item_id}"


class Slot(models.Model):
    """Room for one annotation of an item. Planned slots count for agreement, added ones are marked.

    `is_taken` mirrors whether a live assignment sits on it (same transaction; `doctor` checks): it is
    what the queue's index reads. `reserved_for`: no other person gets it.
    """

    batch = models.ForeignKey(Batch, models.PROTECT, related_name="slots")
    item = models.ForeignKey(Item, models.CASCADE, db_index=False, related_name="slots")
    number = models.PositiveSmallIntegerField()
    added = models.BooleanField(default=False)
    position = models.PositiveIntegerField()
    is_taken = models.BooleanField(default=False)
    reserved_for = models.ForeignKey(Person, models.PROTECT, null=True, db_index=False, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "number"], name="one_slot_per_number")]
        indexes = [
            models.Index(
                fields=["batch", "position", "number"], name="slot_free", condition=Q(is_taken=False)
            ),
            # Most slots are planned and not reserved: those are in neither of these.
            models.Index(
                fields=["reserved_for"], name="slot_reserved", condition=Q(reserved_for__isnull=False)
            ),
            models.Index(fields=["batch"], name="slot_added", condition=Q(added=True)),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of {self.item_id}"


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    """Reads of assignments."""

    def submitted(self) -> AssignmentQuerySet:
        return self.filter(state=Assignment.State.SUBMITTED)

    def with_guidelines(self) -> AssignmentQuerySet:
        """With `guidelines_number`: the version that the item is shown with, and that a response is made under."""
        of_kind = Guidelines.objects.filter(
            project=OuterRef("batch__project"), task_type=OuterRef("batch__task_type")
        )
        versions = of_kind.shown(OuterRef("leased_at"), OuterRef("person"))
        return self.annotate(guidelines_number=Subquery(versions.values("number")[:1]))


class Assignment(models.Model):
    """A person on an item: leased, then submitted, skipped or returned. The row is the history.

    `active_seconds` is the time at work on it: from sign of life to sign of life, as far as they are close together
    (`revisions.since_last_sign`); the last stretch before a submission counts.
    `response_fingerprint` is that of what was submitted (`submissions.fingerprint`), null where nothing is.
    """

    class State(models.TextChoices):
        LEASED = "leased"
        SUBMITTED = "submitted"
        SKIPPED = "skipped"
        RETURNED = "returned"

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    batch = models.ForeignKey(Batch, models.PROTECT, related_name="assignments")
    item = models.ForeignKey(Item, models.PROTECT, db_index=False, related_name="assignments")
    slot = models.ForeignKey(Slot, models.PROTECT, related_name="assignments")
    person = models.ForeignKey(Person, models.PROTECT, db_index=False, related_name="assignments")
    state = models.CharField(max_length=10, choices=State, default=State.LEASED)
    reason = models.CharField(max_length=500, blank=True)
    annotation = models.ForeignKey("Annotation", models.PROTECT, null=True, db_index=False, related_name="+")
    response_fingerprint = models.BigIntegerField(null=True)
    leased_at = models.DateTimeField()
    leased_until = models.DateTimeField()
    seen_at = models.DateTimeField()
    active_seconds = models.FloatField(default=0)
    ended_at = models.DateTimeField(null=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "person"], name="one_assignment_per_person"),
            models.UniqueConstraint(
                fields=["slot"],
                condition=Q(state__in=["leased", "submitted"]),
                name="one_live_assignment_per_slot",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["leased", "submitted", "skipped", "returned"]),
                name="known_assignment_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="submitted") | Q(annotation__isnull=False),
                name="submitted_has_an_annotation",
            ),
        ]
        indexes = [
            models.Index(fields=["person", "batch", "state"], name="assignment_mine"),
            models.Index(
                fields=["batch", "leased_until"], name="assignment_lease", condition=Q(state="leased")
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    @cached_property
    def plain_item(self) -> PlainItem:
        """The item as its task type sees it, made once per loaded assignment."""
        self.item.batch = self.batch
        return self.item.plain()


class Draft(models.Model):
    """What a person has typed so far: not validated, never lost, overwritten by the next revision only."""

    assignment = models.OneToOneField(Assignment, models.CASCADE, related_name="draft")
    revision = models.PositiveIntegerField(default=0)
    response = models.JSONField(default=dict)
    saved_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"draft {self.revision} of {self.assignment_id}"


class AnnotationQuerySet(models.QuerySet["Annotation"]):
    """Annotations can be added and read; the database refuses updates too."""

    def update(self, **kwargs: Any) -> int:
        raise TypeError("an annotation is immutable: add a revision")


class Annotation(models.Model):
    """One revision of one person's response to an item. Immutable; the newest counts, all are exported.

    `response` is null where the revision withdraws the one before (undo). `active_seconds` is 0 if unknown: labels
    made elsewhere without a time, pages without a sign of life for longer than counts as work. `unmet` has the codes of the
    conditions that the response leaves unmet (`TaskType.unmet`), null where it leaves none. `unsure` is true where its
    author was not sure, else null: it is shown and released, and decides nothing.
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    assignment = models.ForeignKey(Assignment, models.PROTECT, db_index=False, related_name="annotations")
    revision = models.PositiveIntegerField()
    response = models.JSONField(null=True)
    unmet = models.JSONField(null=True)
    unsure = models.BooleanField(null=True)
    guidelines = models.ForeignKey(Guidelines, models.PROTECT, db_index=False, related_name="+")
    active_seconds = models.FloatField(default=0)
    made_at = models.DateTimeField()
    event = models.OneToOneField(Event, models.PROTECT, related_name="+")

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "revision"], name="one_annotation_per_revision")
        ]

    def __str__(self) -> str:
        return f"{self.public_id} (revision {self.revision})"


class LedgerEntry(models.Model):
    """A row of the ledger of work that is no submission: a skip, a return, or a correction. Immutable, without texts.

    Submissions are rows of the ledger, too: their revisions hold them (`annotation.payments.ledger`). `revision` is the
    newest revision of the response when the row was written, 0 before the first; `seconds` and `items` are the changes since
    the row before. Corrections are of kind `submitted` and take out what earlier versions of Askew paid at another time.
    The keys stay when the assignment is deleted.
    """

    assignment = models.ForeignKey(Assignment, models.DO_NOTHING, db_constraint=False, related_name="+")
    batch = models.ForeignKey(Batch, models.PROTECT, related_name="+")
    person = models.ForeignKey(Person, models.PROTECT, db_index=False, related_name="+")
    kind = models.CharField(max_length=10)
    revision = models.PositiveIntegerField(default=0)
    seconds = models.FloatField()
    items = models.SmallIntegerField(default=0)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["submitted", "skipped", "returned"]), name="known_kind_of_ledger_entry"
            )
        ]

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s {self.kind} by {self.person_id}"


class Flag(models.Model):
    """A note on an item. It neither ends nor submits anything.

    An annotator flags their assignment; a person who only looks at items (`made_by`) flags the item.
    """

    item = models.ForeignKey(Item, models.PROTECT, related_name="flags")
    assignment = models.ForeignKey(Assignment, models.PROTECT, null=True, related_name="flags")
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, db_index=False, related_name="+")
    note = models.CharField(max_length=2000)
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(assignment__isnull=True, made_by__isnull=False)
                | Q(assignment__isnull=False, made_by__isnull=True),
                name="flagged_by_one_person",
            )
        ]

    def __str__(self) -> str:
        return self.note[:60]

    @property
    def person(self) -> Person:
        """Who flagged the item. Wants `made_by` and the person of `assignment` loaded."""
        author = self.made_by if self.assignment is None else self.assignment.person
        assert author is not None, "the database requires one of them"  # nosec
        return author


class PersonBatchCounts(models.Model):
    """One person's counts in one batch, kept in the transaction of each change (`doctor` recomputes them).

    One row a person, so that people never wait for each other's counters. `cursor` is the position
    before which the queue has nothing new for this person. `ended_at` is when they last submitted or skipped: an item
    that was reserved ahead is viewed from then on.
    """

    batch = models.ForeignKey(Batch, models.CASCADE, db_index=False, related_name="person_counts")
    person = models.ForeignKey(Person, models.PROTECT, related_name="+")
    leased = models.IntegerField(default=0)
    submitted = models.IntegerField(default=0)
    skipped = models.IntegerField(default=0)
    returned = models.IntegerField(default=0)
    cursor = models.PositiveIntegerField(default=0)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "person"], name="one_row_of_counts_per_person"),
            models.CheckConstraint(
                condition=Q(leased__gte=0, submitted__gte=0, skipped__gte=0, returned__gte=0),
                name="no_negative_person_counts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.batch_id}"


class LabelImport(models.Model):
    """An import of labels into a batch that is not visible yet. Its pages are committed one by one, to `StagedLabel`.

    The row goes, with its pages, in the transaction that makes all labels visible. `digest` is that of the checked labels:
    the same file continues after `staged` of them.
    """

    batch = models.OneToOneField(Batch, models.CASCADE, related_name="label_import")
    digest = models.CharField(max_length=64)
    staged = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.staged} labels for {self.batch_id}"


class StagedAnnotator(models.Model):
    """A person in the file of an import that is not visible yet; `person_key` is known when it becomes so."""

    label_import = models.ForeignKey(LabelImport, models.CASCADE, db_index=False, related_name="annotators")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=120)
    person_key = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label_import", "number"], name="one_staged_annotator_per_number")
        ]

    def __str__(self) -> str:
        return f"annotator {self.number} of {self.label_import_id}"


class StagedLabel(models.Model):
    """One label of an import that is not visible yet, with the keys and ids of the rows that it becomes.

    Only the import reads it, so it names item and annotator by key and number alone. `turn` is how many labels of the
    import the item has before it: the first gets its first free place. `origin` becomes the detail of the event: tool,
    digest of the file, id and time there.
    """

    label_import = models.ForeignKey(LabelImport, models.CASCADE, db_index=False, related_name="labels")
    number = models.PositiveIntegerField()
    item_key = models.BigIntegerField()
    annotator = models.PositiveIntegerField()
    response_fingerprint = models.BigIntegerField()
    response = models.JSONField()
    turn = models.PositiveSmallIntegerField(default=0)
    made_at = models.DateTimeField()
    origin = models.JSONField(null=True)
    active_seconds = models.FloatField(default=0)
    assignment_key = models.BigIntegerField()
    assignment_public_id = models.CharField(max_length=12, default=new_public_id)
    annotation_key = models.BigIntegerField()
    annotation_public_id = models.CharField(max_length=12, default=new_public_id)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label_import", "number"], name="one_staged_label_per_number")
        ]

    def __str__(self) -> str:
        return f"label {self.number} of {self.label_import_id}"
