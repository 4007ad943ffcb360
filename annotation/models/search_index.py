"""The search index of the explorer: what items and responses say, in a form that a database filters quickly.

Everything here is derived (`annotation.explorer.index`) and may be deleted: the next look at a project builds it again.
"""

from django.db import models

from annotation.models.people import Person, Project
from annotation.models.sources import Example
from annotation.models.work import Item


class SearchIndex(models.Model):
    """How far the index of a project is, and how many items it holds.

    event, flag, verdict  no row up to this key can be missing
    ahead                 what is indexed beyond it: by name, the last key and the sum of the keys between, to notice rows
                          that are committed late; and the "writers" that could (`audit_log.current_writers`)
    """

    project = models.OneToOneField(Project, models.CASCADE, primary_key=True, related_name="search_index")
    event = models.BigIntegerField(default=0)
    flag = models.BigIntegerField(default=0)
    verdict = models.BigIntegerField(default=0)
    ahead = models.JSONField(default=dict)
    items_count = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"index of {self.project_id}"


class IndexedItem(models.Model):
    """What can be searched of an item, in lower case, and figures over its submitted responses.

    given        question, answers and id of the example
    responded    what people wrote: cells of edits, answers, notes, reasons
    differs      whether the compared responses differ; null where nothing is compared
    seconds      active time of all submitted responses together
    answered_at  when the last response was submitted
    """

    item = models.OneToOneField(Item, models.CASCADE, primary_key=True, related_name="indexed")
    given = models.TextField()
    responded = models.TextField(blank=True)
    differs = models.BooleanField(null=True)
    seconds = models.FloatField(default=0)
    answered_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"index of {self.item_id}"


class ResponseFact(models.Model):
    """One thing that a submitted response says: a label, an item of the checklist that it leaves open, a model's verdict.

    Or what became of it: it differs from each accepted outcome (`LOST`), or fails a gold item (`FAILED`).

    `name` is the measure of a label ("label", "faithfulness"), else "". `seconds` and `at` are those of the response.
    `is_first`: no earlier response to the item says the same, so that counting these counts items.
    """

    class Kind(models.TextChoices):
        LABEL = "label"
        FINDING = "finding"
        VERDICT = "verdict"
        UNSURE = "unsure"
        LOST = "lost"
        FAILED = "failed"

    project = models.ForeignKey(Project, models.CASCADE, db_index=False, related_name="+")
    item = models.ForeignKey(Item, models.CASCADE, related_name="facts")
    person = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=60, blank=True)
    value = models.CharField(max_length=200)
    seconds = models.FloatField(default=0)
    at = models.DateTimeField(null=True)
    is_first = models.BooleanField(default=True)

    class Meta:
        indexes = [
            models.Index(fields=["project", "kind", "name", "value", "item"], name="response_facts_of")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.value}"


class IndexedColumn(models.Model):
    """An own column of the examples of a project ("meta.domain"), or a figure of their tables ("table.rows")."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False, related_name="indexed_columns")
    name = models.CharField(max_length=120)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_column_per_name")]

    def __str__(self) -> str:
        return self.name


class IndexedValue(models.Model):
    """A value that an example has in a column: one, or several where the source has a list.

    number    the value as a number; `explorer.own_columns.NO_NUMBER` for other texts, so that they come behind numbers
    value     at most 200 characters
    is_first  the value by which a list is sorted
    """

    column = models.ForeignKey(IndexedColumn, models.CASCADE, db_index=False, related_name="+")
    example = models.ForeignKey(Example, models.CASCADE, db_index=False, related_name="indexed_values")
    number = models.FloatField()
    value = models.CharField(max_length=200)
    is_first = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["column", "number", "value", "example"], name="one_row_per_value")
        ]
        indexes = [models.Index(fields=["example", "column"], name="indexed_values_of")]

    def __str__(self) -> str:
        return self.value
