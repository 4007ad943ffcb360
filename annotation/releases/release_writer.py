"""The files of a release, written from the database: raw records up to one event, what follows from them, the manifest.

Only immutable rows below the watermark of the release are read. Nothing in the files depends on when or where the release
is made. The same data gives the same bytes, except in files that name the release (`docs/reference/release-format.md`).
"""

import itertools
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.utils.translation import ngettext

from annotation.assistance import impressions, model_checks
from annotation.models import (
    Annotation,
    Batch,
    Decision,
    Event,
    Example,
    Guidelines,
    Item,
    Membership,
    Outcome,
    Person,
    PerturbationRun,
    Project,
    Release,
    RevisionRequest,
    Source,
    StoredTable,
)
from annotation.platform import keyset
from annotation.platform.bulk_rows import among
from annotation.platform.keyset import PAGE
from annotation.platform.refusals import refuse
from annotation.queue import lineage
from annotation.releases import (
    benchmark_files,
    history,
    provenance,
    raw_records,
    release_files,
    study_history,
)
from annotation.releases.manifest import Contents, Manifest
from tableqa.core.canonical_json import canonical, digest
from tableqa.core.disk_collections import Shelf, SortedTuples
from tableqa.core.release_rules import RULES
from tableqa.readers.report import for_release
from tableqa.releases import perturbation_records, release_records
from tableqa.releases.verification import describe

Record = dict[str, Any]
SOURCE_FIELDS = ("name", "reader", "split", "licence", "citation", "url")
TABLES = 100
"""Source tables that are in memory at once."""


def write_files(
    release: Release,
    out: Path,
    progress: Callable[[int, int], None],
    before: tuple[Release, Path] | None = None,
) -> dict[str, Any]:
    """Write raw records, derived files and manifest into an empty folder. Returns the manifest.

    before: the release before and its folder, if there is one
    """
    batches = batches_of(release)
    described = [batch_record(release, batch) for batch in batches]
    items = _items(batches)
    steps = 2 * len(items) + 1
    runs = finished_runs(release.project, release.watermark)
    has_work = history.opened_batches(release).exists()
    imported = () if has_work or runs else _imported_keys(release)
    done = 0

    def counted(lines: Iterator[tuple[int, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        nonlocal done
        for count, line in lines:
            done += count
            progress(done, steps)
            yield line

    raw = release_files.write_raw(
        out,
        {"rules": RULES, "batches": described, "purpose": release.purpose},
        sources=_sources(release, items, runs, imported),
        annotations=counted(_annotations(release, batches, items)),
        decisions=counted(_decisions(release, batches, items)),
    )
    if runs:
        # Before anything is made of the records: people may have judged automatic perturbations, too.
        release_files.write_records(out / perturbation_records.LINES, _automatic_lines(runs))
    if has_work and not raw.decisions and not raw.annotations and not runs:
        refuse("nothing_to_release", "There are no annotations to release yet.")
    proposed = impressions.records(batches, watermark=release.watermark, until=_moment(release.watermark))
    if (first := next(proposed, None)) is not None:
        release_files.write_records(out / provenance.PROPOSALS, itertools.chain([first], proposed))
    gate = benchmark_files.Gate(waived=release.waivers)
    benchmark_files.write_derived(raw, release.formats, release.mix_seed, gate)
    waivers = _waivers(release, gate.broken)
    tried = model_checks.records(batches, watermark=release.watermark, names=_pseudonyms(release.project))
    if (first := next(tried, None)) is not None:
        release_files.write_records(out / benchmark_files.TRIES, itertools.chain([first], tried))
    predecessor, changes = _history(release, raw, out, before)
    contents = Contents(
        release=release,
        raw=raw,
        batches=batches,
        guidelines=guidelines_of(release, batches),
        runs=[_run(run) for run in runs],
        waivers=waivers,
        until=_moment(release.watermark),
        dates=history.dates(release, raw),
        predecessor=predecessor,
        changes=changes,
        deleted=history.deleted_batches(release),
        other_batches=history.other_batches(release),
        redacted=history.count_redactions(release),
        study=study_history.records(release, raw),
    )
    manifest = Manifest.of_contents(contents)
    release_files.write_beside(raw, manifest)
    record = replace(manifest, files=describe(out)).record()
    (out / release_records.MANIFEST).write_text(canonical(record) + "\n", encoding="utf-8", newline="\n")
    progress(steps, steps)
    return record


def _history(
    release: Release, raw: raw_records.Raw, out: Path, before: tuple[Release, Path] | None
) -> tuple[Record | None, Record]:
    """The predecessor and what changed since, as the manifest has them; errata are written.

    Without the predecessor's files, nothing is known of changes and contradictions, and its record says so.
    """
    if before is None:
        return None, {}
    predecessor, folder = history.describe(before[0]), before[1]
    is_missing = not (folder / release_records.MANIFEST).is_file()
    new = history.new_corrections(release, after=0 if is_missing else before[0].watermark)
    corrections = history.corrections(new)
    errata = itertools.chain(() if is_missing else history.errata(folder, predecessor, raw), corrections)
    if (first := next(errata, None)) is not None:
        release_files.write_records(out / benchmark_files.ERRATA, itertools.chain([first], errata))
    if is_missing:
        return {**predecessor, "files": "missing"}, {}
    changes = history.changes(folder, out)
    if corrections:
        changes[benchmark_files.ERRATA] = {"added": len(corrections), "removed": 0, "changed": 0}
    return predecessor, changes


def _waivers(release: Release, broken: Mapping[str, list[dict[str, str]]]) -> list[dict[str, Any]]:
    """The waivers as the manifest has them. Raises ActionRefused(contract_broken) where an outcome is not waived.

    A waiver of what breaks nothing is refused (invalid_request): its id is likely a slip of the pen for another's.
    """
    unwaived_ids = sorted(broken.keys() - release.waivers.keys())
    if unwaived_ids:
        named = "; ".join(f"{id}: {broken[id][0]['message']}" for id in unwaived_ids[:10])
        more = f" and {len(unwaived_ids) - 10} more" if len(unwaived_ids) > 10 else ""
        refuse(
            "contract_broken",
            ngettext(
                "{number} accepted outcome breaks its contract. Waive it with a reason, "
                "which is published (--waive ID=REASON, or on the page). {named}",
                "{number} accepted outcomes break their contract{more}. Waive each one with a reason, "
                "which is published (--waive ID=REASON, or on the page). {named}",
                len(unwaived_ids),
            ).format(number=len(unwaived_ids), more=more, named=named),
        )
    if idle := sorted(release.waivers.keys() - broken.keys()):
        refuse(
            "invalid_request",
            "{value} needs no waiver: no accepted outcome with this id breaks its contract. "
            "Correct the id or remove the waiver.",
            value=", ".join(idle[:10]),
        )
    return [{"outcome": id, "reason": release.waivers[id], "violations": broken[id]} for id in sorted(broken)]


def _moment(watermark: int) -> datetime:
    """When the last event that counts took place; long ago where there is none."""
    at = Event.objects.filter(pk=watermark).values_list("at", flat=True).first()
    return at or datetime.min.replace(tzinfo=UTC)


def batches_of(release: Release) -> list[Batch]:
    """The batches of a release: work that was opened up to its watermark and not set aside, in their order."""
    batches = history.opened_batches(release).filter(purpose=Batch.Purpose.WORK, set_aside_at__isnull=True)
    return list(batches.select_related("feeds_from", "definition").order_by("pk"))


def batch_record(release: Release, batch: Batch) -> dict[str, Any]:
    """What the manifest says of a batch."""
    return {
        "id": batch.public_id,
        "name": batch.name,
        "type": batch.task_type,
        **({"definition": batch.definition.task().published()} if batch.definition else {}),
        **{name: getattr(batch, name) for name in ("version", "variant", "settings", "settings_digest")},
        "overlap": batch.overlap,
        **(
            {"places": highest_slot}
            if (highest_slot := _highest_planned_slot(release, batch)) > batch.overlap
            else {}
        ),
        **({"resolve": batch.resolve} if batch.resolve else {}),
        "seed": batch.seed,
        "feeds_from": batch.feeds_from.public_id if batch.feeds_from else None,
        **(
            {"loop_model": batch.loop_model, "loop_revision": batch.loop_revision} if batch.loop_model else {}
        ),
        **({"model_accuracy": batch.model_accuracy} if batch.model_accuracy else {}),
        **(
            {"help": {"shown": batch.help, "from": batch.help_from, "unhelped": batch.unhelped}}
            if batch.help
            else {}
        ),
    }


def _highest_planned_slot(release: Release, batch: Batch) -> int:
    """The highest number of a planned place that a person's response sits on.

    It is beyond the overlap where people came later to a batch for all, and where the overlap was changed.
    """
    annotations = Annotation.objects.filter(assignment__batch=batch, event_id__lte=release.watermark)
    of_people = annotations.filter(assignment__slot__added=False, assignment__item__is_gold=False)
    return int(of_people.aggregate(most=Max("assignment__slot__number"))["most"] or 0)


def _items(batches: Sequence[Batch]) -> SortedTuples:
    """The items of the batches in the order of release: batch, source, example id, the item's key.

    Behind these its public id, and of its example what `_example_rows` gives from the key on.
    """
    items = SortedTuples(9, key=4)
    rows = Item.objects.filter(batch__in=batches, is_gold=False)
    names = ("batch_id", "example__source__name", "example__external_id", "pk", "public_id", "example_id")
    beside = ("example__parent_id", "example__stored_table__digest", "example__source_id")
    items.update(keyset.fields(rows, *names, *beside))
    return items


def finished_runs(project: Project, watermark: int) -> list[PerturbationRun]:
    """The runs that were through at an event, in their order; what each has chosen as an array, which is small."""
    queryset = PerturbationRun.objects.filter(project=project, event_id__lte=watermark)
    runs = list(queryset.prefetch_related("sources").order_by("event_id"))
    for run in runs:
        run.chosen = array("q", run.chosen)
    return runs


def _run(run: PerturbationRun) -> dict[str, Any]:
    sources = sorted({source.name for source in run.sources.all()})
    return {"sources": sources, "kinds": run.kinds, "seeds": run.seeds, "choice": run.choice}


def _automatic_lines(runs: Sequence[PerturbationRun]) -> Iterator[dict[str, Any]]:
    """The raw line of every automatic perturbation, by source and original; what two runs ask for counts once."""
    chosen_keys: Shelf[int, int] = Shelf()
    for run in runs:
        for pk in run.chosen:
            chosen_keys[pk] = 1
    for page in _example_rows(chosen_keys, SortedTuples(6, key=3)).pages(PAGE):
        examples = Example.objects.select_related("source", "stored_table").in_bulk(
            [pk for _, _, pk, *_ in page]
        )
        for source, _, pk, *_ in page:
            seen: set[tuple[str, int]] = set()
            row = examples[pk]
            for run in runs:
                if contains_sorted(run.chosen, pk):
                    instances = [of for of in lineage.instances(run, row) if (of.kind, of.seed) not in seen]
                    seen.update((of.kind, of.seed) for of in instances)
                    yield from perturbation_records.lines(
                        source, row.example(), instances, lineage.marked_cells(run, row)
                    )


def contains_sorted(ordered: Sequence[int], key: int) -> bool:
    """Whether a number is in an ordered sequence."""
    index = bisect_left(ordered, key)
    return index < len(ordered) and ordered[index] == key


def _example_rows(keys: Iterable[int], items: SortedTuples) -> SortedTuples:
    """The examples with these keys as (source, id, key, parent, digest of the table, source's key), beside those there."""
    for chunk in keyset.pages(keys):
        rows = Example.objects.filter(among("pk", chunk))
        items.update(
            rows.values_list(
                "source__name", "external_id", "pk", "parent_id", "stored_table__digest", "source_id"
            )
        )
    return items


def _imported_keys(release: Release) -> Iterator[int]:
    """The keys of every original that was imported up to the watermark: what a project without work consists of."""
    ready = Event.objects.filter(
        project=release.project, pk__lte=release.watermark, thing="source", after="ready"
    )
    rows = Example.objects.originals().filter(source__in=ready.values("thing_id"))
    return (pk for (pk,) in keyset.fields(rows, "pk"))


def _sources(
    release: Release, items: SortedTuples, runs: Sequence[PerturbationRun], imported: Iterable[int]
) -> Iterator[dict[str, Any]]:
    """Sources with licence and credit, then items, tables, and the original examples that everything rests on."""
    used = SortedTuples(6, key=3)
    used.update(items.distinct(1, 2, 5, 6, 7, 8))
    for run in runs:
        _example_rows(run.chosen, used)
    _example_rows(imported, used)
    by_name: dict[str, dict[str, Any]] = {}
    sources = [pk for (pk,) in used.distinct(5)]
    for source in sorted(Source.objects.filter(pk__in=sources), key=lambda source: (source.name, source.pk)):
        record = by_name.setdefault(
            source.name,
            {
                "kind": "source",
                **{name: getattr(source, name) for name in SOURCE_FIELDS},
                "checksums": [],
            },
        )
        # A source that was restored from a release represents all imports of its name.
        record["checksums"] += source.how.get("checksums", [source.checksum])
        if reports := source.how.get("reports"):  # imports of earlier versions have none
            record["reports"] = [*record.get("reports", []), *map(for_release, reports)]
    yield from by_name.values()
    yield from _item_records(release, items)
    for page in keyset.chunks(used.distinct(4), TABLES):
        rows = StoredTable.objects.filter(digest__in=[digest_of for (digest_of,) in page])
        for digest_of, content in sorted(rows.values_list("digest", "content")):
            yield {"kind": "table", "digest": digest_of, "content": content}
    for chunk in keyset.pages(_originals(used)):
        fields_by_key = {
            pk: fields
            for pk, *fields in Example.objects.filter(among("pk", chunk)).values_list("pk", *_ORIGINAL)
        }
        for pk in chunk:
            yield {"kind": "example", **dict(zip(_ORIGINAL.values(), fields_by_key[pk], strict=True))}


def _item_records(release: Release, items: SortedTuples) -> Iterator[dict[str, Any]]:
    """The items with inputs, and those that no annotation and no decision of the release names."""
    named = Annotation.objects.filter(event_id__lte=release.watermark, assignment__item=OuterRef("pk"))
    decided = Decision.objects.filter(event_id__lte=release.watermark, item=OuterRef("pk"))
    is_named = Exists(named) | Exists(decided)
    origin_fields = ("batch__public_id", "example__source__name", "example__external_id")
    for page in keyset.chunks(items.distinct(4, 3)):
        rows = Item.objects.filter(among("pk", [pk for _, pk in page])).annotate(is_named=is_named)
        stored = {pk: fields for pk, *fields in rows.values_list("pk", "is_named", "inputs", *origin_fields)}
        for id, pk in page:
            is_in_records, inputs, batch, source, example = stored[pk]
            record = {"kind": "item", "id": id, **({"inputs": inputs} if inputs else {})}
            if not is_in_records:
                record |= {"batch": batch, "source": source, "example": example}
            if len(record) > 2:
                yield record


_ORIGINAL = {
    "source__name": "source",
    "external_id": "id",
    "question": "question",
    "answers": "answers",
    "stored_table__digest": "table",
    "more": "more",
}
"""Columns of an original -> the names that its record has for them."""


def _originals(used: SortedTuples) -> Shelf[int, int]:
    """The keys of the originals of these examples, each where it or the first that was made of it stands."""
    originals: Shelf[int, int] = Shelf()
    for page in used.pages(PAGE):
        above = {pk: parent for _, _, pk, parent, *_ in page if parent is not None}
        pending_keys = list(above.values())
        while pending_keys:
            parents = dict(Example.objects.filter(among("pk", pending_keys)).values_list("pk", "parent_id"))
            pending_keys = [
                parent for parent in parents.values() if parent is not None and parent not in above
            ]
            above |= {pk: parent for pk, parent in parents.items() if parent is not None}
        for _, _, pk, *_ in page:
            while pk in above:
                pk = above[pk]
            originals.add(pk, 1)
    return originals


def _annotations(
    release: Release, batches: Sequence[Batch], keys: SortedTuples
) -> Iterator[tuple[int, Record]]:
    """Every revision below the watermark, item by item; within an item by pseudonym and revision.

    Rows are read as they are: a model of each, with those it points at, takes longer than all that is done with it.
    """
    names, until = _pseudonyms(release.project), _moment(release.watermark)
    public = {batch.pk: batch.public_id for batch in batches}
    helped = any(batch.help for batch in batches)
    marks, guidelines = _marks(release.project), _versions(release.project)
    has_imported = any(mark.get("external") for mark in marks.values())
    sent_back = RevisionRequest.objects.filter(assignment__batch__in=batches)
    were_sent_back = sent_back.exists()
    let_back_in = Person.objects.filter(
        memberships__project=release.project, let_back_in_at__isnull=False
    ).exists()
    for page in keys.pages(PAGE):
        items = [item for _, _, _, item, *_ in page]
        rows = Annotation.objects.filter(among("assignment__item_id", items), event_id__lte=release.watermark)
        revisions: dict[int, list[Any]] = {item: [] for item in items}
        for row in rows.annotate(**_REVISION).values_list(*_REVISION, *_COLUMNS, named=True):
            revisions[row.item].append(row)
        help_of = _help(rows, until) if helped else {}
        back = _first_sent_back(sent_back, items) if were_sent_back else {}
        way_back = _ways_back(rows) if let_back_in else set()
        origins = _origins(rows) if has_imported else {}
        for batch, source, example, item, public_id, *_ in page:
            newest: dict[int, int] = {}
            for row in revisions[item]:
                newest[row.assignment_id] = max(row.revision, newest.get(row.assignment_id, 0))
            in_order = sorted(revisions[item], key=lambda row: (names[row.person], row.revision))
            for index, row in enumerate(in_order):
                yield (
                    1 if index == 0 else 0,
                    {
                        "id": row.public_id,
                        "batch": public[batch],
                        "item": public_id,
                        "source": source,
                        "example": example,
                        "annotator": names[row.person],
                        **marks[row.person],
                        "revision": row.revision,
                        "newest": newest[row.assignment_id] == row.revision,
                        "place": {"number": row.number, "added": row.added},
                        **(
                            {"sent_back": True}
                            if row.revision > back.get(row.assignment_id, row.revision)
                            else {}
                        ),
                        **({"way_back": True} if row.pk in way_back else {}),
                        **({"imported": origins[row.pk]} if row.pk in origins else {}),
                        "response": row.response,
                        **({"unmet": row.unmet} if row.unmet else {}),
                        **({"unsure": True} if row.unsure else {}),
                        "guidelines": guidelines[row.guidelines_id],
                        "active_seconds": row.active_seconds,
                        "made_at": row.made_at.isoformat(),
                        **help_of.get(row.pk, {}),
                    },
                )


_REVISION = {
    "item": F("assignment__item_id"),
    "person": F("assignment__person_id"),
    "number": F("assignment__slot__number"),
    "added": F("assignment__slot__added"),
}
_COLUMNS = (
    *("pk", "public_id", "assignment_id", "revision", "response", "unmet", "unsure", "guidelines_id"),
    *("active_seconds", "made_at"),
)


def _origins(rows: QuerySet[Annotation]) -> dict[int, Record]:
    """Tool, digest of the file, id and time there of the responses that were imported from another tool."""
    imported = rows.filter(assignment__person__is_external=True, event__detail__has_key="tool")
    return {pk: detail for pk, detail in imported.values_list("pk", "event__detail") if detail}


def _marks(project: Project) -> dict[int, Record]:
    """Whether each person of a project is simulated or external."""
    people = Person.objects.filter(memberships__project=project).distinct()
    return {
        pk: {"simulated": simulated, **({"external": True} if external else {})}
        for pk, simulated, external in people.values_list("pk", "is_simulated", "is_external")
    }


def _versions(project: Project) -> dict[int, Record]:
    """Number and digest of each version of the guidelines."""
    versions = Guidelines.objects.filter(project=project).values_list("pk", "number", "text")
    return {pk: {"number": version, "digest": digest(text)} for pk, version, text in versions}


def _first_sent_back(sent_back: QuerySet[RevisionRequest], items: Sequence[int]) -> dict[int, int]:
    """By assignment the first revision that an adjudicator sent back; later ones were written after it."""
    return dict(
        sent_back.filter(among("assignment__item_id", items))
        .order_by("-annotation__revision")
        .values_list("assignment_id", "annotation__revision")
    )


def _ways_back(rows: QuerySet[Annotation]) -> set[int]:
    """Keys of the submissions in a session that a manager's link opened."""
    return set(rows.filter(response__isnull=False, event__detail__way_back=True).values_list("pk", flat=True))


def _help(rows: QuerySet[Annotation], until: datetime) -> dict[int, Record]:
    """The help that annotations had, by their keys."""
    helped = rows.filter(provenance__isnull=False).select_related(
        "assignment", "provenance__impression__proposal"
    )
    return {
        annotation.pk: impressions.record(annotation, until=until)
        for annotation in helped.prefetch_related(*impressions.BESIDE)
    }


def _decisions(
    release: Release, batches: Sequence[Batch], keys: SortedTuples
) -> Iterator[tuple[int, Record]]:
    names = _pseudonyms(release.project)
    public = {batch.pk: batch.public_id for batch in batches}
    for page in keys.pages(PAGE):
        chunk = [pk for _, _, _, pk, *_ in page]
        rows = Decision.objects.filter(among("item_id", chunk), event_id__lte=release.watermark)
        decisions = {item: of_item for item, *of_item in rows.values_list("item_id", "pk", *_DECIDED)}
        outcomes = _outcomes([pk for pk, *_ in decisions.values()])
        for batch, source, example, item, public_id, *_ in page:
            if item in decisions:
                pk, kind, reason, made_at, *by = decisions[item]
                yield (
                    1,
                    {
                        "batch": public[batch],
                        "item": public_id,
                        "source": source,
                        "example": example,
                        "kind": kind,
                        "reason": reason,
                        **_decider_record(names, *by),
                        "made_at": made_at.isoformat(),
                        "outcomes": outcomes.get(pk, []),
                    },
                )


_DECIDED = ("kind", "reason", "made_at", "made_by_id", "listed_reason", "note", "rule", "event__detail")


def _outcomes(decisions: Sequence[int]) -> dict[int, list[Record]]:
    """What was accepted, by the keys of the decisions."""
    rows = list(
        Outcome.objects.filter(among("decision_id", decisions))
        .order_by("decision_id", "number")
        .values_list("pk", "decision_id", "public_id", "response", "example_id")
    )
    rests: dict[int, list[str]] = {}
    through = Outcome.annotations.through.objects.filter(among("outcome_id", [pk for pk, *_ in rows]))
    for outcome, id in through.values_list("outcome_id", "annotation__public_id"):
        rests.setdefault(outcome, []).append(id)
    derived_examples = Example.objects.select_related("parent", "stored_table").defer("stored_table__content")
    examples = derived_examples.in_bulk([example for *_, example in rows if example is not None])
    by_decision: dict[int, list[Record]] = {}
    for pk, decision, id, response, example in rows:
        by_decision.setdefault(decision, []).append(
            {
                "id": id,
                "response": response,
                "annotations": sorted(rests.get(pk, [])),
                "example": _derived_record(examples[example]) if example is not None else None,
            }
        )
    return by_decision


def _decider_record(
    names: dict[int, str],
    person: int | None,
    listed_reason: str | None,
    note: str,
    rule: Any,
    detail: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Who decided, with reason and note, and which responses their own one rests on; or the rule that did, which is named
    where it is not the task type's own."""
    if person is not None:
        rests_on = (detail or {}).get("based_on")
        based_on = {"based_on": rests_on} if rests_on else {}
        listed = {"listed_reason": listed_reason} if listed_reason else {}
        return {"note": note, **listed, "by": names[person], **based_on}
    return {"note": "", "by": "resolve", **({"rule": rule} if rule else {})}


def _derived_record(example: Example) -> dict[str, Any]:
    return {
        "id": example.external_id,
        "parent": example.parent.external_id if example.parent else None,
        "perturbation": example.perturbation,
        "question": example.question,
        "answers": example.answers,
        "table": example.stored_table.digest,
        "operations": example.operations,
        "digest": example.table_digest,
        "more": example.more,
    }


def guidelines_of(release: Release, batches: Sequence[Batch]) -> list[dict[str, Any]]:
    """The guidelines that annotations were made under, in full."""
    under = Annotation.objects.filter(assignment__batch__in=batches, event_id__lte=release.watermark)
    rows = Guidelines.objects.filter(pk__in=under.values("guidelines")).order_by("task_type", "number")
    return [{"type": row.task_type, "number": row.number, "text": row.text} for row in rows]


def _pseudonyms(project: Project) -> dict[int, str]:
    return dict(Membership.objects.filter(project=project).values_list("person_id", "pseudonym"))
