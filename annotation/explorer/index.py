"""The search index: brought up to date where it is read, a little at once and a lot in the background.

    is_behind = refresh(project, now=now)

Later changes are in the events of the project, its flags and its verdicts. Nothing that annotators wait for
writes to the index. States, people, skipped and flagged items are read from their own tables and are never behind.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery, Sum

from annotation.access import audit_log
from annotation.background import jobs
from annotation.explorer import own_columns
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Event,
    Flag,
    Gold,
    IndexedItem,
    Item,
    Job,
    Outcome,
    Project,
    ResponseFact,
    RevisionRequest,
    SearchIndex,
    Try,
    Verdict,
)
from annotation.platform.database import failures
from annotation.platform.keyset import chunks
from annotation.quality import calibration, compared_responses, gold, label_agreement, rating_tallies
from tasks.contract import TaskType, UnknownTaskType

log = logging.getLogger(__name__)

KIND: Final = "search_index"
AT_ONCE: Final = 150
"""Items with responses that are indexed while a page waits; more are indexed by a job."""
NEW_AT_ONCE: Final = 1_000
"""The same for items without responses, which take much less."""
MOST_EVENTS: Final = 2_000
"""Events that a page looks through; where there are more since the last time, a job does."""
AFTER_FAILURE: Final = timedelta(minutes=1)
"""After which a job that failed is started again."""
PAGE: Final = 200
LABELS: Final = ("nominal", "ordinal", "interval")
MOST_TEXT: Final = 20_000
"""Characters of an item that can be found."""
STRUCTURE: Final = frozenset(
    {"op", "row", "column", "col", "at", "id", "base", "type", "variant", "rows", "columns"}
)
"""Keys of a response whose values are no text of a person."""


def refresh(project: Project, *, now: datetime) -> bool:
    """Bring the index of a project up to date. Returns whether a job is still at it."""
    job = Job.objects.filter(project=project, kind=KIND).order_by("-pk").first()
    has_failed = job is not None and job.state == Job.State.FAILED and now - job.heartbeat < AFTER_FAILURE
    if job is not None and (not job.finished or has_failed):
        return True
    state, _ = SearchIndex.objects.get_or_create(project=project)
    new = _count_new(state)
    last_event = state.ahead.get("event", [state.event])[0]
    events_since = Event.objects.filter(project=project, pk__gt=last_event).order_by().values("pk")
    has_many = events_since[:MOST_EVENTS].count() == MOST_EVENTS
    changes = _Changes({}, set()) if has_many else _changes(state)
    if has_many or len(changes.items) > AT_ONCE or new > NEW_AT_ONCE:
        jobs.enqueue(project=project, kind=KIND, ids={}, by=None, now=now)
        return True
    _update(state, changes, has_new=new > 0)
    return False


@jobs.kind(KIND)
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    """Index everything that changed; safe to run twice."""
    state, _ = SearchIndex.objects.get_or_create(project_id=job.project_id)
    changes = _changes(state)
    total = len(changes.items) + max(_count_new(state), 0)
    done = _update(state, changes, has_new=True, progress=lambda count: progress(min(count, total), total))
    others = Job.objects.filter(project=job.project_id, kind=KIND).exclude(pk=job.pk)
    others.filter(state__in=[Job.State.DONE, Job.State.FAILED]).delete()
    return {"items": done}


def index_items(keys: Iterable[int]) -> int:
    """Index these items again, page by page. Returns how many. One that cannot be indexed is logged."""
    count = 0
    for some in chunks(keys, PAGE):
        try:
            with transaction.atomic():
                count += _index_some(some)
        except Exception as error:
            if failures.stops_others(error):
                raise
            if len(some) > 1:
                count += sum(index_items([key]) for key in some)
                continue
            log.exception("item %s could not be indexed", some[0])
            ResponseFact.objects.filter(item__in=some).delete()
            IndexedItem.objects.update_or_create(item_id=some[0], defaults={"given": "", "responded": ""})
            count += 1
    return count


# -- what changed -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Changes:
    """Items (keys) to index, and the columns of `SearchIndex` once they are."""

    columns: dict[str, Any]
    items: set[int]


def _changes(state: SearchIndex) -> _Changes:
    """The items of which anything changed since they were indexed.

    PostgreSQL draws keys before it commits rows. The order of the statements matters: last keys, then the writers that
    could commit a smaller one, then sums, then rows.
    """
    project = state.project_id
    rows: dict[str, QuerySet[Any]] = {
        "event": Event.objects.filter(project=project, pk__gt=state.event),
        "flag": Flag.objects.filter(item__batch__project=project, pk__gt=state.flag),
        "verdict": Verdict.objects.filter(of__assignment__batch__project=project, pk__gt=state.verdict),
    }
    last = {
        name: some.aggregate(last=Max("pk"))["last"] or getattr(state, name) for name, some in rows.items()
    }
    writers = audit_log.current_writers(Flag, Verdict)
    have_ended = set(writers).isdisjoint(state.ahead.get("writers", []))
    columns: dict[str, Any] = {"ahead": {"writers": writers} if writers else {}}
    for name, some in rows.items():
        settled = getattr(state, name)
        ahead_key, ahead_sum = state.ahead.get(name, [settled, 0])
        if ahead_key > settled and _sum(some.filter(pk__lte=ahead_key)) == ahead_sum:
            rows[name] = some.filter(pk__gt=ahead_key)
        else:  # something was committed late: all is looked at again
            ahead_key, ahead_sum = settled, 0
        columns[name] = settled if writers else last[name]
        if writers:
            if have_ended and name in state.ahead:
                columns[name], ahead_sum = state.ahead[name][0], 0
            between = rows[name].filter(pk__gt=columns[name], pk__lte=last[name])
            columns["ahead"][name] = [last[name], ahead_sum + _sum(between)]
    assignments = rows["event"].filter(thing="assignment").exclude(after="leased", before="")
    items = set(
        Assignment.objects.filter(pk__in=assignments.values("thing_id")).values_list("item_id", flat=True)
    )
    items |= set(rows["event"].filter(thing="item").values_list("thing_id", flat=True))
    golds = rows["event"].filter(thing="gold").values("thing_id")
    items |= set(Gold.objects.filter(pk__in=golds).values_list("item_id", flat=True))
    items |= set(rows["flag"].values_list("item_id", flat=True))
    items |= set(rows["verdict"].values_list("of__assignment__item_id", flat=True))
    return _Changes(columns, items)


def _sum(rows: QuerySet[Any]) -> int:
    return int(rows.aggregate(sum=Sum("pk", default=0))["sum"])


def _count_new(state: SearchIndex) -> int:
    """How many items of the project the index lacks, by the counters of its batches; -1 where it counts too many."""
    # Where as many were deleted as are new, the last of a batch tells: items come at its end.
    last = Item.objects.filter(batch=OuterRef("pk")).order_by("-position").values("indexed")[:1]
    batches = Batch.objects.filter(project=state.project_id, items_count__gt=0).annotate(last=Subquery(last))
    counts = batches.aggregate(items=Sum("items_count", default=0), lacking=Count("pk", filter=Q(last=None)))
    return int(max(counts["items"] - state.items_count, counts["lacking"] or -1))


def _update(
    state: SearchIndex, changes: _Changes, *, has_new: bool, progress: Any = lambda done: None
) -> int:
    """Index what changed, and what is new; then note how far the index is."""
    count, changed = 0, changes.items
    of_project = Item.objects.filter(batch__project=state.project_id)
    if has_new:
        last, lacking = 0, of_project.filter(indexed__isnull=True).order_by("pk").values_list("pk", flat=True)
        while some := list(lacking.filter(pk__gt=last)[:PAGE]):
            count += index_items(some)
            changed -= set(some)
            last = some[-1]
            progress(count)
    for some in chunks(sorted(changed), PAGE):
        count += index_items(some)
        progress(count)
    # All or none: what is ahead counts from the keys beside it.
    columns = (
        changes.columns if any(getattr(state, n) != value for n, value in changes.columns.items()) else {}
    )
    with transaction.atomic():
        if has_new or _count_new(state) < 0:
            _lock([state.project_id])
            indexed = IndexedItem.objects.filter(item__batch__project=state.project_id)
            columns = {**columns, "items_count": indexed.count()}
        if columns:
            SearchIndex.objects.filter(pk=state.pk).update(**columns)
    return count


# -- what an item says ------------------------------------------------------------------------------


def _index_some(keys: Sequence[int]) -> int:
    """Index at most `PAGE` items; those that are gone are left out."""
    fields = (
        "pk",
        "batch_id",
        "submitted_count",
        "example_id",
        "example__question",
        "example__answers",
        "example__external_id",
    )
    rows = list(Item.objects.filter(pk__in=keys).values_list(*fields))
    batches = Batch.objects.select_related("project", "definition").in_bulk({row[1] for row in rows})
    _lock({item_batch.project_id for item_batch in batches.values()})
    written = _written_texts(keys)
    indexed: dict[int, IndexedItem] = {}
    facts: list[ResponseFact] = []
    of_batch: dict[int, list[int]] = {}
    own_columns.index_examples({row[3]: batches[row[1]].project_id for row in rows})
    for pk, batch, submitted, _, question, answers, external_id in rows:
        searchable = "\n".join([question, *_texts(answers), external_id])
        indexed[pk] = IndexedItem(
            item_id=pk, given=_lower(searchable), responded=_lower("\n".join(written.get(pk, ())))
        )
        if submitted:
            of_batch.setdefault(batch, []).append(pk)
    for batch, some in of_batch.items():
        facts += _index_responses(batches[batch], some, indexed)
    ResponseFact.objects.filter(item__in=keys).delete()
    IndexedItem.objects.bulk_create(
        indexed.values(),
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=["given", "responded", "differs", "seconds", "answered_at"],
    )
    ResponseFact.objects.bulk_create(facts)
    return len(rows)


def _lock(projects: Iterable[int]) -> None:
    """Wait until no other person changes the indexes of these projects: what is read after this is not erased meanwhile."""
    states = SearchIndex.objects.filter(project__in=projects).select_for_update(no_key=True).order_by("pk")
    list(states.values_list("pk", flat=True))


def _index_responses(
    batch: Batch, keys: Sequence[int], indexed: Mapping[int, IndexedItem]
) -> list[ResponseFact]:
    """Fill in the responses to these items of a batch. Returns the facts."""
    try:
        task = batch.task()
    except UnknownTaskType:
        return []
    measures = rating_tallies.measures_of(task, batch.people_compared)
    tables = any(measure.level == "edits" for measure in measures)
    items = Item.objects.filter(pk__in=keys).select_related(*["example__stored_table"] * tables).in_bulk()
    assignments = Assignment.objects.filter(item__in=keys).submitted().select_related("annotation", "slot")
    verdicts = _verdicts(assignments)
    failed = {
        (answer.gold.item_id, answer.person)
        for answer in gold.answers(batch, items=keys)
        if answer.right is False
    }
    outcomes: dict[int, list[Any]] = {}
    for item_key, stored in Outcome.objects.filter(decision__item__in=keys).values_list(
        "decision__item_id", "response"
    ):
        outcomes.setdefault(item_key, []).append(compared_responses.restore_response(task, stored))
    facts: list[ResponseFact] = []
    seen: set[tuple[int, str, str, str]] = set()
    compared: dict[int, list[Any]] = {}
    for assignment in assignments.order_by("item_id", "pk"):
        annotation = assignment.annotation
        if annotation is None or annotation.response is None:
            continue
        row, item = indexed[assignment.item_id], items[assignment.item_id]
        item.batch = batch
        response = compared_responses.restore_response(task, annotation.response)
        row.seconds += annotation.active_seconds
        row.answered_at = max(filter(None, (row.answered_at, assignment.ended_at)), default=None)
        texts = "\n".join(dict.fromkeys(_texts(annotation.response.get("data"))))
        row.responded = f"{row.responded}\n{_lower(texts)}".strip()
        plain = item.plain() if tables else None
        values, *accepted = (
            tuple(calibration.compared_value(measure, entry, plain) for measure in measures)
            for entry in (response, *outcomes.get(item.pk, ()))
        )
        if measures and not assignment.slot.added:
            compared.setdefault(item.pk, []).append(values)
        has_lost = bool(accepted) and values not in accepted
        has_failed = (item.pk, assignment.person_id) in failed
        for fact in (
            *_facts(task, response, annotation, verdicts.get(annotation.pk, "")),
            *[(ResponseFact.Kind.LOST, "", "yes")] * has_lost,
            *[(ResponseFact.Kind.FAILED, "", "yes")] * has_failed,
        ):
            kind, name, value = fact[0], fact[1][:60], fact[2][:200]
            facts.append(
                ResponseFact(
                    project_id=batch.project_id,
                    item_id=item.pk,
                    person_id=assignment.person_id,
                    kind=kind,
                    name=name,
                    value=value,
                    seconds=annotation.active_seconds,
                    at=assignment.ended_at,
                    is_first=(item.pk, kind, name, value) not in seen,
                )
            )
            seen.add((item.pk, kind, name, value))
    for item_key, several in compared.items():
        indexed[item_key].differs = len(set(several)) > 1 if len(several) > 1 else None
    return facts


def _facts(
    task: TaskType, response: Any, annotation: Annotation, verdict: str
) -> Iterator[tuple[str, str, str]]:
    """(kind, name, value) of everything that can be filtered by."""
    kinds = ResponseFact.Kind
    for measure in task.measures:
        value = measure.value(response) if measure.level in LABELS else None
        if value is not None:
            yield kinds.LABEL, measure.name, label_agreement.in_words(value)
    for code in dict.fromkeys(annotation.unmet or ()):
        yield kinds.FINDING, "", code
    if annotation.unsure:
        yield kinds.UNSURE, "", "yes"
    if verdict:
        yield kinds.VERDICT, "", verdict


def _verdicts(assignments: QuerySet[Assignment]) -> dict[int, str]:
    """By annotation (key), what the newest verdict on it says, where a model in the loop looked at it."""
    newest = Verdict.objects.filter(of=OuterRef("pk")).order_by("-pk").values("verdict")[:1]
    tries = Try.objects.filter(annotation__in=assignments.values("annotation"), kind=Try.Kind.SUBMISSION)
    return dict(
        tries.annotate(newest=Subquery(newest))
        .filter(newest__isnull=False)
        .values_list("annotation_id", "newest")
    )


def _written_texts(keys: Sequence[int]) -> dict[int, list[str]]:
    """What people wrote about these items beside their responses: flags, reasons, notes."""
    texts_by_item: dict[int, list[str]] = {}
    skips = Assignment.objects.filter(item__in=keys, state=Assignment.State.SKIPPED)
    for rows in (
        Flag.objects.filter(item__in=keys).values_list("item_id", "note"),
        skips.values_list("item_id", "reason"),
        RevisionRequest.objects.filter(assignment__item__in=keys).values_list("assignment__item_id", "note"),
        Decision.objects.filter(item__in=keys).values_list("item_id", "note"),
        Decision.objects.filter(item__in=keys).values_list("item_id", "reason"),
    ):
        for item, text in rows:
            if text:
                texts_by_item.setdefault(item, []).append(str(text))
    return texts_by_item


def _texts(value: object, key: str = "") -> Iterator[str]:
    """Every text in a response that a person may have written, but for what only names a place in the table."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name not in STRUCTURE:
                yield from _texts(part, str(name))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part, key)
    elif isinstance(value, str) and value:
        yield value


def _lower(text: str) -> str:
    return text[:MOST_TEXT].lower().replace("\0", "")
