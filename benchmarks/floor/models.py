"""Items, a slot for each answer that is wanted, and the answers."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class Item(models.Model):
    """What is shown."""

    objects: ClassVar[models.Manager[Item]] = models.Manager()
    payload = models.JSONField()

    def __str__(self) -> str:
        return str(self.pk)


class Slot(models.Model):
    """Room for one answer: free, leased or done."""

    objects: ClassVar[models.Manager[Slot]] = models.Manager()
    item = models.ForeignKey(Item, models.CASCADE)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True)
    leased_until = models.DateTimeField(null=True)
    done = models.BooleanField(default=False)

    def __str__(self) -> str:
        return str(self.pk)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "person"], name="floor_one_slot_per_person")]
        indexes = [models.Index(fields=["id"], name="floor_free", condition=models.Q(person__isnull=True))]


class Answer(models.Model):
    """What somebody said."""

    objects: ClassVar[models.Manager[Answer]] = models.Manager()
    slot = models.OneToOneField(Slot, models.CASCADE)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    response = models.JSONField()
    made_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.pk)
