"""What should be true of the database and cannot all be said as a constraint: counted again, and told.

Counts are compared as of one moment, so that people may work meanwhile. Files are compared afterwards, outside of the
snapshot: reading them takes long, and releases that are ready never change.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, Count, Exists, F, Min, OuterRef, Q, Subquery, Sum, Value, When, Window
from django.db.models.functions import Coalesce, Lag
from django.utils import timezone

from annotation.background import jobs, uploads
from annotation.background.staged_pages import LOST
from annotation.management import backup
from annotation.models import (
    Assignment,
    Batch,
    ConsentText,
    Decision,
    Event,
    Inquiry,
    Item,
    Job,
    LabelImport,
    Membership,
    ModelRequest,
    ModelTotal,
    Notice,
    Person,
    PersonBatchCounts,
    Project,
    Release,
    SearchIndex,
    Slot,
    Snapshot,
    Source,
    Try,
)
from annotation.platform import inventory, migration_state
from annotation.platform.refusals import ActionRefused
from annotation.queue import submissions, workload
from annotation.queue.decisions import DECIDABLE
from annotation.releases.creation import folder
from annotation.releases.model_evaluation import runs
from tableqa.core.canonical_json import canonical, digest, file_digest
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import MANIFEST, read_manifest
from tableqa.releases.signatures import SIGNATURE, check_signature

OVERDUE = timedelta(hours=1)
"""How late a decision, or what a model request used, may be."""


class SelfHealing(str):
    """A finding about something that needs no action: the platform fixes it."""

    __slots__ = ()


def findings() -> list[str]:
    """One sentence for each inconsistency; none on a healthy database. See `SelfHealing`.

    Only one where the database is of another version than the code: the checks would read it wrongly.
    """
    if reason := migration_state.why_not_ready():
        return [f"{reason[0].upper()}{reason[1:]}."]
    with _snapshot():
        sentences = _run_checks("checks")
    return sentences + _run_checks("file_checks")


def _run_checks(checks: str) -> list[str]:
    """What the checks of the inventory find, each made once."""
    functions = (globals()[name] for name in dict.fromkeys(inventory.names(checks)))
    return [sentence for check in functions for sentence in check()]


@contextmanager
def _snapshot() -> Iterator[None]:
    """Everything read inside is as of one moment. Nothing can be written, and no writer waits.

    Inside a transaction of the caller, that transaction decides what is seen.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        # DEFERRED: the default of the settings takes the writer's lock at once.
        sqlite: Any = connection
        sqlite.ensure_connection()
        sqlite.transaction_mode, mode = "DEFERRED", sqlite.transaction_mode
        try:
            with transaction.atomic():
                yield
        finally:
            sqlite.transaction_mode = mode


def _slots() -> Iterator[str]:
    live = Exists(Assignment.objects.filter(slot_id=OuterRef("pk"), state__in=["leased", "submitted"]))
    for slot in Slot.objects.annotate(live=live).exclude(is_taken=F("live")).select_related("item")[:100]:
        wrong = "taken, but no" if slot.is_taken else "free, but an"
        yield f"slot {slot.number} of item {slot.item.public_id} is marked {wrong} assignment holds it"


def _items() -> Iterator[str]:
    counted = Item.objects.annotate(
        places_found=Count("slots", distinct=True),
        submitted_found=Count("assignments", filter=Q(assignments__state="submitted"), distinct=True),
    )
    wrong = counted.exclude(slots_count=F("places_found"), submitted_count=F("submitted_found"))
    for item in wrong[:100]:
        yield (
            f"item {item.public_id} counts {item.submitted_count} of {item.slots_count} slots as "
            f"submitted; actual: {item.submitted_found} of {item.places_found}"
        )


def _decisions() -> Iterator[str]:
    """A decided item waits for nothing, and a complete one for its decision or for a person who makes it."""
    decided = Item.objects.filter(decision__isnull=False)
    for item in decided.filter(Q(adjudication__isnull=False) | Q(due_at__isnull=False))[:100]:
        yield f"item {item.public_id} is decided but still in an adjudication queue"
    waits = When(adjudication__isnull=False, then=Value("adjudication"))
    resolved = Item.objects.annotate(actual=Coalesce("decision__kind", Case(waits, default=Value(""))))
    for item in resolved.exclude(resolution=F("actual"))[:100]:
        yield (
            f"item {item.public_id} is stored as {item.resolution or 'unresolved'}; "
            f"actual: {item.actual or 'unresolved'}"
        )
    for item in decided.filter(Q(is_gold=True) | ~Q(batch__purpose=Batch.Purpose.WORK))[:100]:
        yield f"item {item.public_id} was decided although it is gold or its batch decides no items"
    hanging = Item.objects.filter(
        submitted_count__gt=0,
        submitted_count__gte=F("slots_count"),
        due_at__isnull=True,
        decision__isnull=True,
        adjudication__isnull=True,
        is_gold=False,
        batch__purpose=Batch.Purpose.WORK,
    ).exclude(batch__decide_at_close=True, batch__closed_at__isnull=True)
    for item in hanging[:100]:
        yield (
            f"item {item.public_id} has all its responses, but no decision is scheduled and no "
            "adjudicator will see it"
        )


def _outcomes() -> Iterator[str]:
    """What is accepted has an outcome, and what is excluded has none."""
    accepted = Q(kind=Decision.Kind.ACCEPTED)
    wrong = Decision.objects.filter(accepted & Q(outcomes=None) | ~accepted & Q(outcomes__isnull=False))
    for decision in wrong.select_related("item").distinct()[:100]:
        has = "no outcome" if decision.kind == Decision.Kind.ACCEPTED else "an outcome"
        yield f"item {decision.item.public_id} is {decision.kind}, but its decision has {has}"


def _overdue() -> Iterator[str]:
    """A worker decides complete items as soon as the time for undo has passed.

    When they are due says the clock of a web server, which may have been set: leases run on the database's.
    """
    late = Item.objects.filter(DECIDABLE, decision=None, due_at__lt=timezone.now() - OVERDUE)
    late = late.exclude(assignments__leased_until__gt=jobs.clock() - OVERDUE)
    by_batch = late.values_list("batch__name", "batch__project__slug")
    for name, slug, count, since in by_batch.annotate(Count("pk"), Min("due_at")).order_by("batch"):
        yield (
            f"batch {name} of {slug}: {count} items are overdue for a decision, the first since "
            f"{since:%Y-%m-%d %H:%M}. Start a worker. If there is one, check its log and that "
            "the task type is installed"
        )


def _batches() -> Iterator[str]:
    for batch in Batch.objects.all():
        items, slots = batch.items.count(), batch.slots.count()
        if (batch.items_count, batch.slots_count) != (items, slots):
            yield (
                f"batch {batch.name} counts {batch.items_count} items and {batch.slots_count} slots; "
                f"actual: {items} and {slots}"
            )
        decisions = Decision.objects.filter(item__batch=batch)
        accepted = decisions.filter(kind=Decision.Kind.ACCEPTED).count()
        excluded = decisions.count() - accepted
        if (batch.accepted_count, batch.excluded_count) != (accepted, excluded):
            yield (
                f"batch {batch.name} counts {batch.accepted_count} accepted and {batch.excluded_count} "
                f"excluded items; actual: {accepted} and {excluded}"
            )


def _person_counts() -> Iterator[str]:
    states = [state.value for state in Assignment.State]
    counted = Assignment.objects.values_list("batch_id", "person_id", "state").annotate(n=Count("pk"))
    counts = {(batch, person, state): n for batch, person, state, n in counted}
    seen = set()
    for row in PersonBatchCounts.objects.select_related("batch"):
        for state in states:
            key = (row.batch_id, row.person_id, state)
            seen.add(key)
            stored, actual = getattr(row, state), counts.get(key, 0)
            if stored != actual:
                yield f"person {row.person_id} in batch {row.batch.name}: {state} is {stored}, not {actual}"
    for batch_id, person_id, state in counts.keys() - seen:
        yield f"person {person_id} in batch {batch_id} has {state} assignments but no counts"


def _accounts() -> Iterator[str]:
    """assigned = submitted + skipped + open + returned, of each person in each batch."""
    for batch in Batch.objects.all():
        for (_, person), account in workload.accounts([batch]).items():
            if not account.balances:
                yield (
                    f"person {person} in batch {batch.name} was assigned {account.assigned}; submitted, skipped, open "
                    f"and returned are {account.submitted}, {account.skipped}, {account.open} and {account.returned}"
                )


def _fingerprints() -> Iterator[str]:
    """Agreement goes by the fingerprints of what was submitted."""
    rows = Assignment.objects.filter(Q(response_fingerprint__isnull=False) | Q(state="submitted")).order_by(
        "pk"
    )
    for key, state, fingerprint, response in rows.values_list(
        "public_id", "state", "response_fingerprint", "annotation__response"
    ).iterator(chunk_size=2000):
        if response is None or fingerprint != submissions.fingerprint(response):
            yield f"assignment {key} is {state}, and its response does not match the fingerprint in the log"


def _log() -> Iterator[str]:
    """What the log says last of an assignment is what it is."""
    last_state = (
        Event.objects.filter(thing="assignment", thing_id=OuterRef("pk")).order_by("-pk").values("after")
    )
    assignments = Assignment.objects.annotate(told=Subquery(last_state[:1]))
    for assignment in assignments.filter(~Q(told=F("state")) | Q(told__isnull=True))[:100]:
        last = f"says {assignment.told}" if assignment.told else "has no entry"
        yield f"assignment {assignment.public_id} is {assignment.state}, and the log {last}"


def _log_of_states() -> Iterator[str]:
    """The log of an assignment has no gap, and that of a batch, a source or a release explains its state."""
    earlier = Window(Lag("after", default=Value("")), partition_by="thing_id", order_by="pk")
    steps = Event.objects.filter(thing="assignment").annotate(earlier=earlier)
    for event in steps.exclude(before=F("earlier"))[:100]:
        yield (
            f"the log of assignment {event.thing_id} goes from {event.earlier or 'nothing'!r} to "
            f"{event.after!r}, but that entry starts from {event.before or 'nothing'!r} (event "
            f"{event.pk}): an entry between them was deleted"
        )
    states: dict[int, list[str]] = {}
    log = Event.objects.filter(thing="batch", after__in=["planned", "open", "paused", "closed"]).order_by(
        "pk"
    )
    for batch_id, after in log.values_list("thing_id", "after"):
        states.setdefault(batch_id, []).append(after)
    for batch in Batch.objects.all():
        logged = states.get(batch.pk, [])
        expected = [
            "planned",
            *(["open"] if batch.opened_at else []),
            *(["closed"] if batch.closed_at else []),
        ]
        if missing := " and ".join(entry for entry in expected if entry not in logged):
            yield f"batch {batch.name} is {batch.state}, but the log has no entry for {missing}"
        elif logged[-1] != batch.state:
            yield f"batch {batch.name} is {batch.state}, but the last entry of the log is {logged[-1]}"
    for model, thing in ((Source, "source"), (Release, "release")):
        ready_event = Exists(Event.objects.filter(thing=thing, thing_id=OuterRef("pk"), after="ready"))
        for row in model._default_manager.filter(~ready_event, ready_at__isnull=False)[:100]:
            yield f"{thing} {row.public_id} ({row.name}) is ready, but the log has no entry for it"


def _people() -> Iterator[str]:
    """People who work in a project have a pseudonym there: releases know them by nothing else."""
    for membership in Membership.objects.filter(pseudonym="").select_related("project")[:100]:
        yield (
            f"person {membership.person_id} has no pseudonym in {membership.project.slug}; a release "
            "would contain their responses without a name. Give the membership a new pseudonym before "
            "the next release"
        )
    member = Membership.objects.filter(
        project_id=OuterRef("batch__project_id"), person_id=OuterRef("person_id")
    )
    for row in PersonBatchCounts.objects.filter(~Exists(member)).select_related("batch")[:100]:
        yield f"person {row.person_id} has work in batch {row.batch.name}, but was never a member"


def _answers() -> Iterator[str]:
    """Each person's count of unread answers, counted again."""
    unread = Inquiry.objects.filter(answered_at__isnull=False, read_at__isnull=True).order_by()
    counted = dict(unread.values_list("asked_by").annotate(n=Count("pk")))
    people = Person.objects.filter(Q(unread_answers__gt=0) | Q(pk__in=counted)).order_by("pk")
    for pk, stored in people.values_list("pk", "unread_answers"):
        if stored != counted.get(pk, 0):
            yield f"person {pk}: unread_answers is {stored}, not {counted.get(pk, 0)}"


def _notices() -> Iterator[str]:
    """Each person's count of unread notices, counted again."""
    unread = Notice.objects.filter(read_at__isnull=True).order_by()
    counted = dict(unread.values_list("person").annotate(n=Count("pk")))
    people = Person.objects.filter(Q(unread_notices__gt=0) | Q(pk__in=counted)).order_by("pk")
    for pk, stored in people.values_list("pk", "unread_notices"):
        if stored != counted.get(pk, 0):
            yield f"person {pk}: unread_notices is {stored}, not {counted.get(pk, 0)}"


def _projects() -> Iterator[str]:
    """The text that people have to agree to is there."""
    consent_text = ConsentText.objects.filter(project=OuterRef("pk"), number=OuterRef("consent_number"))
    for project in Project.objects.filter(~Exists(consent_text), consent_number__gt=0):
        yield f"project {project.slug} asks for consent to text {project.consent_number}, which is missing"


def _indexed() -> Iterator[str]:
    counted = SearchIndex.objects.annotate(found=Count("project__batches__items__indexed"))
    for index in counted.exclude(items_count=F("found")).select_related("project"):
        yield SelfHealing(
            f"the search index of {index.project.slug} counts {index.items_count} items; actual: {index.found}"
        )


def _snapshots() -> Iterator[str]:
    """Stored figures rest on events that there are; those of a later log would be shown until the log is as long."""
    last = Event.objects.filter(project=OuterRef("project")).order_by("-pk").values("pk")[:1]
    stored = Snapshot.objects.annotate(last=Coalesce(Subquery(last), Value(0)))
    for snapshot in stored.filter(watermark__gt=F("last")):
        yield (
            f"stored figures {snapshot.key} rest on event {snapshot.watermark}, but the log of the project ends at "
            f"{snapshot.last}"
        )


def _requests() -> Iterator[str]:
    """What was reserved for a request to a model is settled with what it used, and totals are sums."""
    unsettled = ModelRequest.objects.filter(state="open", made_at__lt=jobs.clock() - OVERDUE)
    by_project = unsettled.values_list("project__slug").annotate(number=Count("pk"), since=Min("made_at"))
    for slug, count, since in by_project.order_by("project__slug"):
        yield (
            f"{count} reservations for model requests of {slug} were never settled, the first since "
            f"{since:%Y-%m-%d %H:%M}; they count against the budget with the most that they could use"
        )
    sums = ModelRequest.objects.values_list("project", "batch").annotate(
        used=Sum(F("prompt_tokens") + F("completion_tokens"))
    )
    totals = {(project, batch): tokens for project, batch, tokens in sums.order_by()}
    for total in ModelTotal.objects.select_related("project"):
        actual = totals.get((total.project_id, total.batch_id), 0)
        if total.tokens != actual:
            yield f"the model budget of {total.project.slug} counts {total.tokens} tokens; actual: {actual}"


def _tries() -> Iterator[str]:
    """A check whose answers are there has a verdict."""
    answered = Try.objects.filter(answered_at__isnull=False, original__isnull=False, verdicts=None)
    for check in answered[:100]:
        yield f"check {check.public_id} of a model has its answers, but no verdict"


def _sources() -> Iterator[str]:
    before = jobs.clock() - LOST
    for source in Source.objects.filter(ready_at__isnull=True, started_at__lt=before):
        yield SelfHealing(
            f"an import of {source.name} started at {source.started_at:%Y-%m-%d %H:%M} did not finish; "
            "its data is hidden, and a worker removes it"
        )
    for labels in LabelImport.objects.filter(started_at__lt=before).select_related("batch"):
        yield SelfHealing(
            f"an import of labels into batch {labels.batch.name} started at "
            f"{labels.started_at:%Y-%m-%d %H:%M} did not finish; its data is hidden, and importing the "
            "same file continues it"
        )
    originals = Count("examples", filter=Q(examples__parent__isnull=True))
    for source in Source.objects.ready().annotate(found=originals).exclude(examples_count=F("found")):
        yield f"source {source.name} counts {source.examples_count} examples; actual: {source.found}"


def _jobs() -> Iterator[str]:
    """A job that says it is being worked at is."""
    now, most = jobs.clock(), jobs.FORGOTTEN_AFTER
    silent = Job.objects.filter(~Q(heartbeat__range=(now - most, now + most)), state=Job.State.RUNNING)
    for job in silent.select_related("project")[:100]:
        yield SelfHealing(
            f"job {job.public_id} ({job.kind}) of {job.project.slug} is marked running, but its last "
            f"heartbeat was at {job.heartbeat:%Y-%m-%d %H:%M}; a new worker will take it over"
        )


def _uploads() -> Iterator[str]:
    """A job that waits for a file will find it."""
    for job, upload in backup.waiting_uploads():
        if upload is not None:
            with suppress(ActionRefused):
                uploads.require_whole(upload)
                continue
        # A worker that has finished the job meanwhile has deleted the file.
        if Job.objects.filter(pk=job.pk, state=job.state, attempts=job.attempts).exists():
            yield (
                f"{job.kind} {job.public_id} of {job.project.slug} is waiting, but its uploaded file "
                f"{upload.name if upload else '(deleted)'} is missing or cut short; it will fail. Upload the file again"
            )


def _files() -> Iterator[str]:
    """Every byte of a release is what it was when it was made. That it follows from itself, `verify_release` says."""
    ready = Release.objects.filter(ready_at__isnull=False).order_by("pk")
    for key in list(ready.values_list("pk", flat=True)):
        release = ready.select_related("project").get(pk=key)
        lies, name = folder(release), f"release {release.name} of {release.project.slug}"
        if not (lies / MANIFEST).is_file():
            yield (
                f"{name} has no files in {lies}. Restore the folder from a backup, or create the release "
                "again under another name"
            )
            continue
        if digest(release.manifest) != release.digest:
            yield f"{name}: its digest in the database does not match its manifest; one of them was changed"
        try:
            read_manifest(lies)
        except Difference as difference:
            yield f"{name}: {difference}. {AGAIN}"
            continue
        if (lies / MANIFEST).read_bytes() != f"{canonical(release.manifest)}\n".encode():
            yield f"{name}: {MANIFEST} in {lies} does not match the database. {AGAIN}"
        try:
            check_signature(lies, release.manifest)
        except Difference as difference:
            yield f"{name}: {difference}. {AGAIN}"
        if wrong := list(_changed_files(lies, release.manifest.get("files", {}))):
            more = f", and {len(wrong) - 5} more" if len(wrong) > 5 else ""
            yield f"{name}: {'; '.join(wrong[:5])}{more}. {AGAIN}"


AGAIN = "Restore the folder of the release from a backup"


def _changed_files(lies: Path, files: Mapping[str, Any]) -> Iterator[str]:
    """What of a folder is not as the manifest has it. A size tells most; else the contents are read."""
    for name, claimed in files.items():
        path = lies / name
        if not path.is_file():
            yield f"{name} is missing"
        elif path.stat().st_size != claimed["bytes"]:
            yield f"{name} has {path.stat().st_size} bytes, not {claimed['bytes']}"
        elif file_digest(path) != claimed["sha256"]:
            yield f"{name} was changed"
    present_files = {path.relative_to(lies).as_posix() for path in lies.rglob("*") if path.is_file()}
    for name in sorted(present_files - files.keys() - {MANIFEST, SIGNATURE}):
        yield f"{name} was added after the release was created"


def _evaluations() -> Iterator[str]:
    """The inputs and results of an evaluation are unchanged."""
    for run in Job.objects.filter(kind=runs.KIND).select_related("project"):
        for path, sha256 in runs.files(run).items():
            file = Path(settings.MEDIA_ROOT) / path
            if not file.is_file() or sha256 not in ("", file_digest(file)):
                yield (
                    f"evaluation {run.ids['name']} of {run.project.slug}: {path} "
                    f"{'was changed' if file.is_file() else 'is missing'}. Restore it from a backup, or evaluate the "
                    "model again under another name"
                )


def _indexes() -> Iterator[str]:
    """An index that is cut short is made again when it is needed."""
    for path in sorted(Path(settings.MEDIA_ROOT).glob("indexes/*/*.json")):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            yield SelfHealing(f"the index {path} cannot be read")
