"""What a person did to several items at once, and what it takes to undo it."""

from django.db import models
from django.utils.translation import gettext_noop

from annotation.models.people import Person, Project
from annotation.models.work import Item
from annotation.platform.message_fields import MessagesField
from annotation.platform.public_ids import new_public_id


class ItemAction(models.Model):
    """One action on several items (`annotation.explorer.item_actions`). `note` is what its person wrote: a reason or a
    note."""

    class Kind(models.TextChoices):
        EXCLUDE = "exclude", gettext_noop("Exclude")
        ADJUDICATE = "adjudicate", gettext_noop("Move to adjudication")
        SEND_BACK = "send_back", gettext_noop("Send back")
        FLAG = "flag", gettext_noop("Flag")
        EXAMPLE = "example", gettext_noop("Add to guideline examples")

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.PROTECT, related_name="item_actions")
    kind = models.CharField(max_length=12, choices=Kind)
    note = models.TextField(blank=True)
    made_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.kind} {self.public_id}"


class ItemChange(models.Model):
    """An item that an action changed. `before` is what undo restores; `undone_at` is when it did."""

    action = models.ForeignKey(ItemAction, models.CASCADE, db_index=False, related_name="changes")
    item = models.ForeignKey(Item, models.CASCADE, related_name="+")
    before = MessagesField(default=dict)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["action", "item"], name="one_change_per_item_and_action")
        ]

    def __str__(self) -> str:
        return f"{self.item_id} by {self.action_id}"
