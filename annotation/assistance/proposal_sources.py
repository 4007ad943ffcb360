"""Proposals of a batch as examples of a new source, so that people can rate them."""

from __future__ import annotations

import dataclasses
import random
from datetime import datetime

from django.db import transaction

import tableqa
from annotation.access import audit_log
from annotation.assistance import impressions
from annotation.models import Batch, Example, Person, Proposal, Source, StoredTable
from annotation.platform.refusals import refuse
from tableqa.core.canonical_json import digest, thaw
from tableqa.data.positional_ids import with_positional_ids


def create_source(*, batch: Batch, size: int, seed: int, by: Person | None, now: datetime) -> Source:
    """Proposals of a batch as examples of their own source, whether or not any person verified them.

    They say in their meta who made them, of what, and by which perturbation: beside people's examples of the same
    originals, ratings compare the two as they came out of the machine (RobuT, table 5: 100 of a kind). A seeded sample,
    each outcome once. Raises ActionRefused: name_taken, nothing_to_release.
    """
    rows = list(
        Proposal.objects.filter(item__batch=batch).order_by("pk").values_list("pk", "item_id", "digest")
    )
    once = {(item, outcome_digest): key for key, item, outcome_digest in reversed(rows)}
    chosen = random.Random(f"rated:{seed}").sample(sorted(once.values()), min(size, len(once)))
    if not chosen:
        refuse("nothing_to_release", "{name} has no proposals yet.", name=batch.name)
    name = f"Proposals of {batch.name}"[:120]
    if Source.objects.filter(project=batch.project_id, name=name).exists():
        refuse("name_taken", "A source {name!r} already exists.", name=name)
    examples = [_as_imported_example(key) for key in sorted(chosen)]
    beneath = Source.objects.filter(examples__items__batch=batch).distinct().order_by("name")
    with transaction.atomic():
        source = Source.objects.create(
            project_id=batch.project_id,
            name=name,
            reader="askew",
            checksum=digest([entry.id for entry in examples]),
            licence=" AND ".join(dict.fromkeys(entry.licence for entry in beneath))[:80],
            citation="\n".join(dict.fromkeys(entry.citation for entry in beneath if entry.citation)),
            examples_count=len(examples),
            tables_count=len({entry.table.digest() for entry in examples}),
            made_by=by,
            started_at=now,
            ready_at=now,
        )
        for position, entry in enumerate(examples):
            stored, _ = StoredTable.objects.get_or_create(
                digest=entry.table.digest(), defaults={"content": entry.table.to_dict()}
            )
            Example.objects.create(
                source=source,
                external_id=entry.id,
                position=position,
                question=entry.question,
                answers=list(entry.answers),
                stored_table=stored,
                table_digest=stored.digest,
                more=entry.beside(),
            )
        audit_log.log(source, "", "ready", by=by, now=now)
    return source


def _as_imported_example(key: int) -> tableqa.Example:
    """The example that a proposal makes, as an import has it."""
    row = Proposal.objects.select_related("item__batch", "item__example__stored_table").get(pk=key)
    task, item = row.item.batch.task(), row.item.plain()
    example = impressions.outcome(task, item, row.data)
    meta = {
        "maker": row.maker,
        "original": item.example.id,
        "perturbation": row.item.batch.variant or row.item.batch.task_type,
        "proposal": row.public_id,
    }
    named = f"{item.example.id}~{row.public_id}"
    return with_positional_ids(
        dataclasses.replace(example, id=named, meta={**thaw(item.example.meta), **meta})
    )
