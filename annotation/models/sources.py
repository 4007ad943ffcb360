"""Imported data: sources, their tables, and the examples over them, original or derived."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache, cached
from django.db import models

from annotation.models.people import Person, Project
from annotation.platform.message_fields import MessagesField
from annotation.platform.public_ids import new_public_id

if TYPE_CHECKING:
    import tableqa

CELLS_CACHED = 200_000
"""Cells of tables that a process keeps, some 20 MB. A table with more than an eighth of them is never kept."""

LONGEST_EXAMPLE_ID = 400

EXAMPLES_SELDOM = ("source", "position", "parent", "perturbation", "seed")
"""Fields of an example that nothing asks for on the way from item to item."""


def _cells(table: tableqa.Table) -> int:
    """The size of a table in the cache, which refuses what is larger than itself."""
    cells = 50 + table.shape[0] * table.shape[1]
    return cells if cells <= CELLS_CACHED // 8 else CELLS_CACHED + 1


class SourceQuerySet(models.QuerySet["Source"]):
    """Reads of sources."""

    def ready(self) -> SourceQuerySet:
        """Sources that are whole; one that is still being imported, or failed, is invisible."""
        return self.filter(ready_at__isnull=False)

    def current(self) -> SourceQuerySet:
        """Sources that are whole and not archived: those to choose from."""
        return self.ready().filter(archived_at__isnull=True)


class Source(models.Model):
    """One import of a named collection of examples, with its licence and credit. Invisible until `ready_at`.

    `how` its files were read, for a study file that reads them again: {"limit", "fields"} where they were asked for, and
    {"path", "tables"} as a study file named them, from its own folder. {"responses"}: the file of the responses with which
    the examples came; no study file reads that. {"reports"}: what was read of them (`tableqa.readers.report`), a report for
    each import that was restored from a release.
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.PROTECT, related_name="sources")
    name = models.CharField(max_length=120)
    reader = models.CharField(max_length=40)
    split = models.CharField(max_length=40, blank=True)
    how = models.JSONField(default=dict)
    checksum = models.CharField(max_length=64)
    licence = models.CharField(max_length=80)
    citation = models.TextField(blank=True)
    url = models.URLField(blank=True)
    examples_count = models.PositiveIntegerField(default=0)
    tables_count = models.PositiveIntegerField(default=0)
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    started_at = models.DateTimeField()
    ready_at = models.DateTimeField(null=True)
    archived_at = models.DateTimeField(null=True, editable=False)

    objects = SourceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name", "checksum"],
                condition=models.Q(ready_at__isnull=False),
                name="one_source_per_checksum",
            )
        ]

    def __str__(self) -> str:
        return self.name


class StoredTable(models.Model):
    """A source table, kept once under its digest however many questions ask about it. Never changed."""

    digest = models.CharField(max_length=64, unique=True)
    content = models.JSONField()

    def __str__(self) -> str:
        return self.digest[:12]

    def table(self) -> tableqa.Table:
        from tableqa.data.tables import Table

        return Table.from_dict(self.content)


class ExampleQuerySet(models.QuerySet["Example"]):
    """Reads of examples."""

    def originals(self) -> ExampleQuerySet:
        return self.filter(parent__isnull=True)

    def perturbed(self) -> ExampleQuerySet:
        """What people made of originals."""
        return self.filter(parent__isnull=False, seed__isnull=True)

    def automatic(self) -> ExampleQuerySet:
        """What programs made of originals."""
        return self.filter(seed__isnull=False)

    def usable(self) -> ExampleQuerySet:
        return self.filter(source__ready_at__isnull=False)


class Example(models.Model):
    """Question, answers and a table: read from a source, or derived from such an example by operations.

    A derived example keeps every operation since the source table (not since its parent), so that
    ids survive a chain of edits; `table_digest` is the digest of the table after them. `seed` is there
    where a program made it: `perturbation` is then one of `tableqa.perturbations`.
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    source = models.ForeignKey(Source, models.PROTECT, related_name="examples")
    external_id = models.CharField(max_length=LONGEST_EXAMPLE_ID)
    position = models.PositiveIntegerField()
    question = models.TextField()
    answers = models.JSONField(default=list)
    stored_table = models.ForeignKey(StoredTable, models.PROTECT, related_name="examples")
    operations = models.JSONField(default=list)
    table_digest = models.CharField(max_length=64)
    more = models.JSONField(default=dict)
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="derived")
    perturbation = models.CharField(max_length=80, blank=True)
    seed = models.BigIntegerField(null=True)

    objects = ExampleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "external_id"], name="one_example_per_id"),
            models.UniqueConstraint(
                fields=["parent", "perturbation", "seed"],
                condition=models.Q(seed__isnull=False),
                name="one_automatic_example_per_seed",
            ),
            models.CheckConstraint(
                condition=models.Q(parent__isnull=False) | models.Q(operations=[]),
                name="originals_have_no_operations",
            ),
        ]
        indexes = [models.Index(fields=["source", "position"], name="example_order")]

    def __str__(self) -> str:
        return self.external_id

    @cached(
        LRUCache(CELLS_CACHED, _cells),
        key=lambda example: (example.public_id if example.operations else "", example.table_digest),
        lock=Lock(),
    )
    def table(self) -> tableqa.Table:
        """The table after the operations. Neither changes, so it is cached."""
        base = self.stored_table.table()
        if not self.operations:
            return base
        from tableqa.operations import from_dict, replay

        return replay(base, [from_dict(operation) for operation in self.operations])

    @property
    def gold(self) -> tuple[str, ...]:
        """The answers with their other forms."""
        from tableqa.data.answers import with_alternatives

        return with_alternatives(self.answers, self.more.get("alternatives", ()))

    def example(self, table: tableqa.Table | None = None) -> tableqa.Example:
        """The plain example that task types, checks and exports work on. `table` is its table, where the caller has it."""
        from tableqa.data import examples

        if table is None:
            table = self.table()
        return examples.Example.stored(self.external_id, self.question, table, self.answers, self.more)


class PerturbationRun(models.Model):
    """Automatic perturbations of sources: which kinds with which seeds, of which examples, and the results.

    `chosen` are the keys of the originals to perturb, in order; `marks` the cells that people had
    marked as relevant when it was planned, by the key of their original. `through` is the last original that
    is done: a run that was interrupted continues behind it. `event` is there once the run is through. Where the run takes
    what a batch decided, `feeds_from` is that batch and `feeds_when` which outcomes ({"label": ["extraction"]}).
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    project = models.ForeignKey(Project, models.PROTECT, related_name="perturbation_runs")
    sources = models.ManyToManyField(Source, related_name="perturbation_runs")
    kinds = models.JSONField()
    seeds = models.JSONField()
    choice = models.JSONField(default=dict)
    chosen = models.JSONField()
    marks = models.JSONField(default=dict)
    feeds_from = models.ForeignKey("annotation.Batch", models.PROTECT, null=True, related_name="fed_runs")
    feeds_when = models.JSONField(default=dict)
    through = models.BigIntegerField(default=0)
    counts = MessagesField(default=dict)
    made_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField()
    event = models.OneToOneField("annotation.Event", models.PROTECT, null=True, related_name="+")

    def __str__(self) -> str:
        return f"{', '.join(self.kinds)} ({len(self.seeds)} seeds)"


class ModelAnswer(models.Model):
    """What a model said of an example in the background, by purpose: samples for screening, a suggested label.

    `model` is name and revision, `data` what the purpose needs (answers, raw text, temperature). Rows are
    added, never changed: an item freezes what it was made from.
    """

    example = models.ForeignKey(Example, models.CASCADE, related_name="model_answers")
    purpose = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    data = models.JSONField()
    made_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["example", "purpose"], name="model_answers_of")]

    def __str__(self) -> str:
        return f"{self.model} on {self.example_id}"
