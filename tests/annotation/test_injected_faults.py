"""Of 30 faults, one at least in what each entry of the inventory names, each is named: by doctor, or by a backup.

The faults and the rows that they hit are drawn by `SEED`.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, models
from django.db.models import F
from django.utils import timezone

from annotation.background import uploads
from annotation.explorer import index
from annotation.management import backup, doctor
from annotation.models import (
    Adjudication,
    Annotation,
    Assignment,
    Batch,
    Event,
    Item,
    Job,
    LabelImport,
    Membership,
    ModelRequest,
    ModelTotal,
    Outcome,
    Person,
    PersonBatchCounts,
    Project,
    Release,
    SearchIndex,
    Slot,
    Snapshot,
    Source,
    Try,
    Upload,
    Verdict,
)
from annotation.platform import immutable_rows, inventory
from annotation.quality import snapshots
from annotation.releases import creation
from annotation.releases.model_evaluation import runs
from annotation.workflow import automatic_decisions
from tableqa.core.canonical_json import file_digest
from tests.annotation.cast import NOON, World
from tests.undone import undone

SEED, NUMBER = 36, 30
LATER = NOON + timedelta(hours=1)

Draw = random.Random
Fault = Callable[["Site", Draw], str]
FAULTS: list[tuple[str, Fault]] = []
"""What a fault is about, and what makes it: the function returns what has to be named."""


@dataclass
class Site:
    """An installation with data about everything, and folders for a backup."""

    world: World
    release: Release
    run: Job
    waiting: Job
    folder: Path

    def file(self, path: str) -> Path:
        return Path(settings.MEDIA_ROOT) / path


def fault(subject: str) -> Callable[[Fault], Fault]:
    def register(make: Fault) -> Fault:
        FAULTS.append((subject, make))
        return make

    return register


def one_of(draw: Draw, rows: models.QuerySet[Any]) -> Any:
    return draw.choice(list(rows.order_by("pk")))


def change(row: Any, **values: Any) -> None:
    """Change a row past everything that guards it."""
    with immutable_rows.writable():
        models.QuerySet(type(row)).filter(pk=row.pk).update(**values)


def delete(rows: models.QuerySet[Any]) -> None:
    with immutable_rows.writable():
        rows.delete()


# -- the faults -------------------------------------------------------------------------------------


@fault("database")
def a_byte_of_the_database_in_a_backup(site: Site, draw: Draw) -> str:
    path = site.folder / backup.DATABASES[connection.vendor]
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= 1
    path.write_bytes(bytes(content))
    return f"{path.name} was changed"


@fault("people")
def a_member_without_a_pseudonym(site: Site, draw: Draw) -> str:
    member = one_of(draw, Membership.objects.all())
    change(member, pseudonym="")
    return f"person {member.person_id} has no pseudonym"


@fault("people")
def answers_that_nobody_wrote(site: Site, draw: Draw) -> str:
    person = one_of(draw, Person.objects.all())
    change(person, unread_answers=draw.randint(1, 9))
    return f"person {person.pk}: unread_answers is"


@fault("notices")
def notices_that_nobody_got(site: Site, draw: Draw) -> str:
    person = one_of(draw, Person.objects.all())
    change(person, unread_notices=draw.randint(1, 9))
    return f"person {person.pk}: unread_notices is"


@fault("project")
def a_consent_text_that_is_missing(site: Site, draw: Draw) -> str:
    number = draw.randint(1, 9)
    change(Project.objects.get(), consent_number=number)
    return f"project films asks for consent to text {number}"


@fault("sources")
def a_source_that_counts_other_examples(site: Site, draw: Draw) -> str:
    change(site.world.source, examples_count=F("examples_count") + draw.randint(1, 9))
    return f"source {site.world.source.name} counts"


@fault("sources")
def an_import_that_never_ended(site: Site, draw: Draw) -> str:
    Source.objects.create(project=site.world.project, name="half", reader="wtq", started_at=NOON)
    return "an import of half"


@fault("batches")
def a_batch_that_counts_other_items(site: Site, draw: Draw) -> str:
    batch = one_of(draw, Batch.objects.all())
    name = draw.choice(["items_count", "slots_count", "accepted_count", "excluded_count"])
    change(batch, **{name: F(name) + 1})
    return f"batch {batch.name} counts"


@fault("batches")
def a_slot_that_is_marked_otherwise(site: Site, draw: Draw) -> str:
    place = one_of(draw, Slot.objects.all())
    change(place, is_taken=not place.is_taken)
    return f"slot {place.number} of item {place.item.public_id} is marked"


@fault("batches")
def a_person_whose_work_is_counted_otherwise(site: Site, draw: Draw) -> str:
    tally = one_of(draw, PersonBatchCounts.objects.all())
    change(tally, submitted=F("submitted") + 1)
    return f"person {tally.person_id} in batch {tally.batch.name}: submitted is"


@fault("responses")
def a_response_that_was_changed(site: Site, draw: Draw) -> str:
    annotation = one_of(draw, Annotation.objects.all())
    change(annotation, response={**annotation.response, "data": {"label": "neither"}})
    return f"assignment {annotation.assignment.public_id} is submitted, and its response does not match"


@fault("responses")
def a_fingerprint_that_was_changed(site: Site, draw: Draw) -> str:
    assignment = one_of(draw, Assignment.objects.filter(state="submitted"))
    change(assignment, response_fingerprint=F("response_fingerprint") + 1)
    return f"assignment {assignment.public_id} is submitted, and its response does not match"


@fault("decisions")
def a_decision_without_its_outcome(site: Site, draw: Draw) -> str:
    outcome = one_of(draw, Outcome.objects.all())
    with immutable_rows.writable():
        outcome.annotations.clear()
    delete(Outcome.objects.filter(pk=outcome.pk))
    return f"item {outcome.decision.item.public_id} is accepted, but its decision has no outcome"


@fault("decisions")
def a_decided_item_that_waits(site: Site, draw: Draw) -> str:
    item = one_of(draw, Item.objects.filter(decision__isnull=False))
    Adjudication.objects.create(item=item, reason="?", asked_at=NOON)
    return f"item {item.public_id} is decided but still in an adjudication queue"


@fault("decisions")
def items_that_nobody_decides(site: Site, draw: Draw) -> str:
    """A site that stands still: no worker runs."""
    item = one_of(draw, Item.objects.filter(decision=None, is_gold=False))
    change(item, due_at=timezone.now() - timedelta(hours=draw.randint(2, 9)))
    item.assignments.update(leased_until=timezone.now() - timedelta(hours=2))
    return f"batch {item.batch.name} of films: 1 items are overdue"


@fault("log")
def an_entry_of_the_log_that_was_deleted(site: Site, draw: Draw) -> str:
    event = one_of(draw, Event.objects.filter(thing="assignment", after="leased"))
    delete(Event.objects.filter(pk=event.pk))
    return f"the log of assignment {event.thing_id} goes from" if _went_on(event) else "has no entry"


def _went_on(event: Event) -> bool:
    return Event.objects.filter(thing="assignment", thing_id=event.thing_id).exists()


@fault("log")
def a_batch_whose_opening_was_deleted(site: Site, draw: Draw) -> str:
    batch = one_of(draw, Batch.objects.all())
    delete(Event.objects.filter(thing="batch", thing_id=batch.pk, after="open"))
    return f"batch {batch.name} is open, but the log has no entry for open"


@fault("explorer")
def an_index_that_counts_other_items(site: Site, draw: Draw) -> str:
    change(SearchIndex.objects.get(), items_count=F("items_count") + draw.randint(1, 9))
    return "the search index of films counts"


@fault("figures")
def figures_of_a_later_log(site: Site, draw: Draw) -> str:
    snapshot = one_of(draw, Snapshot.objects.all())
    change(snapshot, watermark=F("watermark") + draw.randint(1000, 9999))
    return f"stored figures {snapshot.key} rest on event"


@fault("imports_of_labels")
def an_import_of_labels_that_never_ended(site: Site, draw: Draw) -> str:
    batch = one_of(draw, Batch.objects.all())
    LabelImport.objects.create(batch=batch, digest="0" * 64, started_at=NOON)
    return f"an import of labels into batch {batch.name}"


@fault("model_requests")
def a_reservation_that_was_never_settled(site: Site, draw: Draw) -> str:
    request = one_of(draw, ModelRequest.objects.all())
    change(request, state="open", is_counted=False, made_at=timezone.now() - timedelta(hours=2))
    return "1 reservations for model requests of films were never settled"


@fault("model_requests")
def a_total_that_is_no_sum(site: Site, draw: Draw) -> str:
    change(ModelTotal.objects.get(), tokens=F("tokens") + draw.randint(1, 9))
    return "the model budget of films counts"


@fault("checks_and_proposals")
def a_check_without_a_verdict(site: Site, draw: Draw) -> str:
    check = one_of(draw, Try.objects.all())
    delete(Verdict.objects.filter(of=check))
    return f"check {check.public_id} of a model has its answers, but no verdict"


@fault("jobs")
def a_job_that_its_worker_left(site: Site, draw: Draw) -> str:
    change(site.waiting, state="running", heartbeat=NOON)
    return f"job {site.waiting.public_id} (study) of films is marked running"


@fault("jobs")
def a_job_whose_file_is_gone(site: Site, draw: Draw) -> str:
    kind = draw.choice(["import", "restore", "study", "import_responses", "evaluate", "of a later version"])
    key = draw.choice(["upload", "questions", "tables"])
    (number,) = site.waiting.ids.values()
    change(
        site.waiting, kind=kind, ids={key: number, "release": site.release.pk, "predictor": "", "name": "x"}
    )
    upload = Upload.objects.get(pk=number)
    site.file(str(upload.file.name)).unlink()
    return f"{kind} {site.waiting.public_id} of films is waiting, but its uploaded file"


@fault("releases")
def a_file_of_a_release_that_is_gone(site: Site, draw: Draw) -> str:
    name = draw.choice(sorted(site.release.manifest["files"]))
    (creation.folder(site.release) / name).unlink()
    return f"release v1 of films: {name} is missing"


@fault("releases")
def a_byte_of_a_release_that_was_changed(site: Site, draw: Draw) -> str:
    name = draw.choice(
        [name for name, file in sorted(site.release.manifest["files"].items()) if file["bytes"]]
    )
    path = creation.folder(site.release) / name
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= 1
    path.write_bytes(bytes(content))
    return f"release v1 of films: {name} was changed"


@fault("releases")
def a_release_without_its_folder(site: Site, draw: Draw) -> str:
    shutil.rmtree(creation.folder(site.release))
    return "release v1 of films has no files"


@fault("evaluations")
def a_file_of_an_evaluation_that_is_gone(site: Site, draw: Draw) -> str:
    path = draw.choice(sorted(runs.files(site.run)))
    site.file(path).unlink()
    return f"evaluation TAPEX of films: {path} is missing"


@fault("evaluations")
def a_file_of_an_evaluation_that_was_changed(site: Site, draw: Draw) -> str:
    path = draw.choice(sorted(runs.files(site.run)))
    site.file(path).write_text("other")
    return f"evaluation TAPEX of films: {path} was changed"


@fault("indexes")
def an_index_that_was_cut(site: Site, draw: Draw) -> str:
    path = site.file("indexes/films/headers.json")
    path.write_text(path.read_text()[: draw.randrange(1, 9)])
    return f"the index {path} cannot be read"


# -- the installation -------------------------------------------------------------------------------


@pytest.fixture
def site(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(doctor, "OVERDUE", timedelta(hours=1))
    batch = world.batch(overlap=1)
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    world.take(batch, "cy")
    release = creation.make_release(
        project=world.project, name="v1", format="freb_tqa", by=world.rea, now=LATER
    )
    index.refresh(world.project, now=timezone.now())
    snapshots.views_of_batches([batch], ("agreement", "quality"), now=LATER)
    _ask_models(world, batch)
    index_file = Path(settings.MEDIA_ROOT) / "indexes" / "films" / "headers.json"
    index_file.parent.mkdir(parents=True)
    index_file.write_text('{"headers": []}')
    backup = _backed_up(world, tmp_path, monkeypatch)
    return Site(world, release, _evaluated(world, release), _waiting(world), backup)


def _ask_models(world: World, batch: Batch) -> None:
    ModelRequest.objects.create(
        project=world.project,
        purpose="accuracy",
        predictor="small",
        model="small",
        state="answered",
        prompt_tokens=5,
        completion_tokens=7,
    )
    for assignment in Assignment.objects.filter(batch=batch, state="submitted"):
        check = Try.objects.create(
            assignment=assignment,
            kind="person",
            predictor="small",
            digest="0" * 64,
            asked={},
            response={},
            original={"answers": ["1979"]},
            made_at=NOON,
            answered_at=NOON,
        )
        Verdict.objects.create(of=check, verdict="not_fooled", gold={}, judgements={}, made_at=NOON)


def _evaluated(world: World, release: Release) -> Job:
    """An evaluation that is done. It is made here, since no question of so small a release can be asked."""
    run = Job.objects.create(
        project=world.project,
        kind=runs.KIND,
        state="done",
        ids={"release": release.pk, "name": "TAPEX", "predictor": "", "leave_out_missing": False},
        made_at=NOON,
        heartbeat=NOON,
    )
    judged, predictions = runs._judged_path(run, release), runs._predictions(run, release)
    judged.parent.mkdir(parents=True)
    for path in (judged, predictions):
        path.write_text(json.dumps({"of": path.name}))
    run.result = {
        "predictions_sha256": file_digest(predictions),
        "judged_sha256": file_digest(judged),
    }
    run.save()
    return run


def _waiting(world: World) -> Job:
    sent = SimpleUploadedFile("study.yaml", b"project: films")
    upload = uploads.keep(project=world.project, file=sent, by=world.mara, now=timezone.now())
    return Job.objects.create(
        project=world.project,
        kind="study",
        ids={"upload": upload.pk},
        made_at=NOON,
        heartbeat=timezone.now(),
    )


def _backed_up(world: World, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A backup of the files, beside a database that is no dump: dumps are made outside of transactions."""

    class Dumps:
        def dump(self, to: Path) -> tuple[dict[str, int], list[str]]:
            to.write_bytes(b"the database")
            return {}, []

    monkeypatch.setitem(backup._databases, connection.vendor, Dumps())
    assert backup.make(folder / "backup", now=NOON).lacking == []
    return folder / "backup"


def named(site: Site) -> str:
    """What doctor says, and a comparison of the backup."""
    try:
        backup.read(site.folder)
    except backup.BackupError as why:
        return str(why)
    return "\n".join(doctor.findings())


def drawn() -> list[tuple[str, Fault]]:
    """One fault of each subject, then any, in the order of the draw."""
    draw = random.Random(SEED)
    first = [draw.choice([row for row in FAULTS if row[0] == subject]) for subject in inventory.ENTRIES]
    others = [row for row in FAULTS if row not in first]
    return first + draw.sample(others, k=NUMBER - len(first))


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_each_of_30_faults_is_named(site: Site) -> None:
    assert named(site) == ""
    folders = (Path(settings.MEDIA_ROOT), site.folder)
    before = {path: data for folder in folders for path, data in contents(folder).items()}
    unnamed = []

    for number, (subject, make) in enumerate(drawn()):
        with undone():
            words = make(site, random.Random(SEED + number))
            said = named(site)
            if words not in said:
                unnamed.append((subject, make.__name__, words, said))
        for path, data in before.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for path in {path for folder in folders for path in contents(folder)} - before.keys():
            path.unlink()

    assert unnamed == []
    assert named(site) == ""


def test_every_fault_is_of_an_entry_and_every_entry_has_one() -> None:
    assert {subject for subject, _ in FAULTS} == set(inventory.ENTRIES)
    assert {subject for subject, _ in drawn()} == set(inventory.ENTRIES)
    assert len(drawn()) == NUMBER
