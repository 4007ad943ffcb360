"""How often something was tried that may not be tried often, such as signing in."""

from django.db import models


class Attempts(models.Model):
    """How much of a limit on attempts is used up: one row for whom or what it counts, named by a keyed hash only.

    A bucket that leaks: every attempt puts `free_at` later by the limit's interval, and time passes by itself. A row whose
    `free_at` is behind says nothing any more and is cleared away.
    """

    key = models.CharField(max_length=64, primary_key=True)
    free_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "attempts"

    def __str__(self) -> str:
        return self.key
