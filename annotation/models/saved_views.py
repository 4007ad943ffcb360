"""Selections of the explorer that have a name."""

from django.db import models
from django.db.models import Q

from annotation.models.people import Person, Project
from annotation.platform.public_ids import new_public_id


class SavedView(models.Model):
    """A selection with a name: of the person who made it, or shared with everyone who sees the explorer of the project.

    `query` is the canonical query string of the selection (`annotation.explorer.selection.query`).
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.CASCADE, db_index=False, related_name="saved_views")
    name = models.CharField(max_length=60)
    query = models.TextField()
    is_shared = models.BooleanField(default=False)
    made_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "made_by", "name"],
                name="one_own_view_per_name",
                condition=Q(is_shared=False),
            ),
            models.UniqueConstraint(
                fields=["project", "name"], name="one_shared_view_per_name", condition=Q(is_shared=True)
            ),
        ]

    def __str__(self) -> str:
        return self.name
