"""Task types that projects define."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

from annotation.models.people import Person, Project

if TYPE_CHECKING:
    from tasks.shared.defined_types import DefinedTask


class TaskTypeDefinition(models.Model):
    """One version of a task type that a project defines as data. Batches name the version that they use."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="task_type_definitions")
    name = models.CharField(max_length=40)
    number = models.PositiveIntegerField()
    data = models.JSONField()
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "number"], name="one_definition_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.name}, version {self.number}"

    def task(self) -> DefinedTask:
        """The task type of this version."""
        from tasks.shared.defined_types import task_of

        return task_of(self.name, self.data, self.number)
