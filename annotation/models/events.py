"""The log of every change of state: who, when, what, from, to."""

from django.db import models

from annotation.models.people import Person, Project
from annotation.platform.message_fields import MessagesField


class Event(models.Model):
    """One change of state of one thing. Its id orders the project's history and bounds releases.

    `before` and `after` are a word each. `detail` holds what a word cannot say, as {"from", "to"} of a changed term or
    {"reason"}: never names of people, nor what they answered.
    """

    project = models.ForeignKey(Project, models.PROTECT, db_index=False, related_name="events")
    actor = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    thing = models.CharField(max_length=20)
    thing_id = models.BigIntegerField()
    before = models.CharField(max_length=20, blank=True)
    after = models.CharField(max_length=20)
    detail = MessagesField(null=True)
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["thing", "thing_id"], name="event_story"),
            models.Index(fields=["project", "at"], name="event_time"),
        ]

    def __str__(self) -> str:
        return f"{self.thing} {self.thing_id}: {self.before or '-'} -> {self.after}"
