"""What is asked of a site from within: prepare it, begin jobs as a manager does, and look whether everything adds up.

A process of its own (`site.Inside`), with the site's settings: one line of JSON in, one out.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import traceback
import zipfile
from pathlib import Path
from typing import Any

QUESTIONS = Path(__file__).resolve().parents[2] / "fixtures" / "wtq" / "excerpt-dev.tsv"
BUSY, STILL, LABELS = "busy", "still", "labels"
"""The projects: in one people work, in the other nothing changes any more. Labels are imported into the third."""


def prepare(people: int, still: int = 30) -> list[dict[str, Any]]:
    """Tables, two projects, people signed in, and in the project at rest a batch that two of them have finished."""
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.access import authorization
    from annotation.access.roles import Role
    from annotation.imports import example_import
    from annotation.models import Person
    from annotation.queue import reservations, sampling
    from annotation.workflow import assignments, batches, projects
    from tasks.contract import task_type

    call_command("migrate", verbosity=0)
    now = timezone.now()
    mara = Person.objects.create_person("Mara", "mara@example.org")
    crew = [Person.objects.create_person(f"Person {number}") for number in range(people)]
    for slug in (BUSY, STILL):
        project = projects.create_project(slug=slug, name=slug.capitalize(), manager=mara, now=now)
        source = example_import.import_examples(project=project, reader="wtq", path=QUESTIONS, now=now).source
        for person in crew:
            projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=mara, now=now)
    batch = batches.plan_batch(
        project=project,
        name="rest",
        task=task_type("question_type"),
        sample=sampling.Sample(sources=[source], size=still),
        terms={"overlap": 2},
        by=mara,
        now=now,
    )
    batches.open_batch(batch=batch, by=mara, now=now)
    for person in crew[:2]:
        while taken := reservations.next_assignment(batch=batch, person=person, now=now):
            held = authorization.assignment(authorization.Actor(person), taken.public_id)
            task, item = batch.task(), held.plain_item
            answer = {"label": ("extraction", "reasoning")[item.example.question.count("e") % 2]}
            assignments.submit(assignment=held, response=task.envelope(task.restore(answer), item), now=now)
    batches.close_batch(batch=batch, by=mara, now=now)
    return [_signed_in(person) for person in crew]


def open_batch(kind: str, overlap: int, size: int, seed: int, loop_model: str = "", variant: str = "") -> str:
    """A further batch for everybody to work in; its id."""
    from django.utils import timezone

    from annotation.models import Batch, Source
    from annotation.queue import sampling
    from annotation.workflow import batches
    from tasks.contract import task_type

    now, mara = timezone.now(), _mara()
    batch = batches.plan_batch(
        project=_project(BUSY),
        name=f"batch {Batch.objects.count()}",
        task=task_type(kind),
        sample=sampling.Sample(
            sources=[Source.objects.filter(project__slug=BUSY).earliest("pk")], size=size, seed=seed
        ),
        terms={"variant": variant, "overlap": overlap, "loop_model": loop_model},
        by=mara,
        now=now,
    )
    batches.open_batch(batch=batch, by=mara, now=now)
    return batch.public_id


def start_import(name: str, questions: int) -> str:
    """Upload so many questions with their tables and have a worker import them; the job's id."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.utils import timezone

    from annotation.background import uploads
    from annotation.imports import example_import

    first, *lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    repeated = [
        f"nu-{number}\t{lines[number % len(lines)].partition(chr(9))[2]}" for number in range(questions)
    ]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted((QUESTIONS.parent / "csv").rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(QUESTIONS.parent))
    project, by, now = _project(BUSY), _mara(), timezone.now()
    text = "\n".join([first, *repeated, ""]).encode()
    kept = [
        uploads.keep(project=project, file=SimpleUploadedFile(*named), by=by, now=now)
        for named in (("questions.tsv", text), ("tables.zip", packed.getvalue()))
    ]
    job = example_import.start_import(
        project=project,
        reader="wtq",
        questions=kept[0],
        tables=kept[1],
        choices=example_import.Choices(name),
        by=by,
        now=now,
    )
    return job.public_id


def imported(name: str) -> list[int]:
    """How many examples each source of this name has, whole or not."""
    from annotation.models import Example, Source

    return [
        Example.objects.filter(source=source).count()
        for source in Source.objects.filter(project__slug=BUSY, name=name)
    ]


def label_file(folder: str, labels: int) -> dict[str, str]:
    """A file of so many labels, two on each item, and an open batch for it in a project of its own."""
    from django.utils import timezone

    from annotation.imports import example_import
    from annotation.models import Batch, Project
    from annotation.queue import sampling
    from annotation.workflow import batches, projects
    from tasks.contract import task_type

    now, mara = timezone.now(), _mara()
    questions = Path(folder) / f"questions-{labels}.tsv"
    first, *lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    if not questions.exists():
        repeated = (
            f"nu-{number}\t{lines[number % len(lines)].partition(chr(9))[2]}" for number in range(labels // 2)
        )
        questions.write_text("\n".join([first, *repeated, ""]), encoding="utf-8")
    project = Project.objects.filter(slug=LABELS).first() or projects.create_project(
        slug=LABELS, name="Labels", manager=mara, now=now
    )
    source = example_import.import_examples(
        project=project, reader="wtq", path=questions, tables=QUESTIONS.parent, now=now
    ).source
    batch = batches.plan_batch(
        project=project,
        name=f"labels {Batch.objects.count()}",
        task=task_type("question_type"),
        sample=sampling.Sample(sources=[source], size=labels // 2),
        terms={"overlap": 2, "decide_at_close": True},
        by=mara,
        now=now,
    )
    batches.open_batch(batch=batch, by=mara, now=now)
    path = Path(folder) / f"{batch.public_id}.csv"
    said = "".join(
        f"nu-{number},{who},{('extraction', 'reasoning')[number % 2]}\n"
        for number in range(labels // 2)
        for who in ("Xenia", "Yuri")
    )
    path.write_text(f"example,annotator,label\n{said}", encoding="utf-8")
    return {"batch": batch.public_id, "name": batch.name, "path": str(path)}


def labels_in(batch: str) -> dict[str, int]:
    """What is visible of a batch's labels."""
    from annotation.models import Annotation, Assignment, Batch, Item

    found = Batch.objects.get(public_id=batch)
    return {
        "annotations": Annotation.objects.filter(assignment__batch=found).count(),
        "submitted": Assignment.objects.filter(batch=found, state="submitted").count(),
        "counted": sum(Item.objects.filter(batch=found).values_list("submitted_count", flat=True)),
    }


def start_release(project: str, name: str) -> str:
    """Have a worker make a release; its job's id."""
    from django.utils import timezone

    from annotation.releases import creation

    release = creation.start_release(
        project=_project(project), name=name, format="askew", by=_mara(), now=timezone.now()
    )
    return str(release.job.public_id) if release.job else ""


def manager(slug: str) -> dict[str, Any]:
    """Sign the manager in, who has a project of this name."""
    from django.utils import timezone

    from annotation.models import Project
    from annotation.workflow import projects

    if not Project.objects.filter(slug=slug).exists():
        projects.create_project(slug=slug, name=slug.capitalize(), manager=_mara(), now=timezone.now())
    return _signed_in(_mara())


def examples_of(source: str) -> list[dict[str, Any]]:
    """The examples of a source in their order."""
    from annotation.models import Example

    of_source = Example.objects.filter(source__public_id=source).order_by("position")
    return [example.example().to_dict() for example in of_source.select_related("stored_table")]


def previews() -> list[dict[str, Any]]:
    """The previews that are over, with their project and when each was asked for and ended."""
    from annotation.models import Job

    ended = Job.objects.filter(kind="preview", state__in=["done", "failed"]).select_related("project")
    return [
        {"project": job.project.slug, "made": job.made_at.timestamp(), "ended": job.heartbeat.timestamp()}
        for job in ended
    ]


def released(project: str, name: str) -> dict[str, Any]:
    """A release that is ready: a digest over its files, without the two that name it, and what verifying it says."""
    from annotation.models import Release
    from annotation.releases import creation, verification

    release = Release.objects.get(project__slug=project, name=name, ready_at__isnull=False)
    folder, whole = creation.folder(release), hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in ("manifest.json", "CITATION.cff"):
            whole.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return {"bytes": whole.hexdigest(), "verified": verification.verify(folder)["annotations"]}


def job(id: str) -> dict[str, Any]:
    """How a job stands."""
    from annotation.models import Job

    found = Job.objects.get(public_id=id)
    return {
        "state": found.state,
        "done": found.done,
        "total": found.total,
        "attempts": found.attempts,
        "error": found.error,
    }


def lose(id: str) -> bool:
    """As if nobody had heard of a running job for two minutes; False where it is not running."""
    from datetime import timedelta

    from annotation.models import Job

    running = Job.objects.filter(public_id=id, state="running")
    one = running.first()
    return one is not None and bool(running.update(heartbeat=one.heartbeat - timedelta(minutes=2)))


def clock() -> float:
    """What the database takes for now, in seconds since 1970."""
    from django.db import connection

    with connection.cursor() as cursor:
        sql = "SELECT extract(epoch FROM clock_timestamp())"
        cursor.execute(
            sql if connection.vendor == "postgresql" else "SELECT (julianday('now') - 2440587.5) * 86400"
        )
        return float(cursor.fetchone()[0])


def pass_time(minutes: int) -> int:
    """As if the database's clock had moved on for every lease; how many are held."""
    from datetime import timedelta

    from django.db.models import F

    from annotation.models import Assignment

    held = Assignment.objects.filter(state="leased")
    return held.update(leased_until=F("leased_until") - timedelta(minutes=minutes))


def check(
    told: dict[str, list[Any]], drafts: dict[str, str], unsure: list[str], final: bool, deep: bool
) -> dict[str, Any]:
    """What is not as people were told, or does not add up, as of one moment of the database.

    `told`: assignment -> annotation, what was answered, how often it was submitted and how often withdrawn. `drafts`:
    assignment -> what was saved last. `unsure`: assignments of which a late request may have changed what was told.
    `final`: nobody works any more, so nothing may be there that nobody was told of. `deep`: with the doctor.
    """
    from django.db import connection, transaction
    from django.db.models import Count, F, Q

    from annotation.management import doctor
    from annotation.models import Annotation, Assignment, Batch, Draft, Item, Slot
    from annotation.queue import workload

    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        here = Assignment.objects.filter(batch__project__slug=BUSY)
        stored = {
            row[0]: row[1:]
            for row in here.filter(state="submitted").values_list(
                "public_id", "annotation__public_id", "annotation__response"
            )
        }
        revisions: dict[str, dict[bool, int]] = {}
        for assignment, response in Annotation.objects.filter(
            assignment__batch__project__slug=BUSY
        ).values_list("assignment__public_id", "response"):
            revisions.setdefault(assignment, {False: 0, True: 0})[response is None] += 1
        wrong: dict[str, str] = {}
        for assignment, (annotation, data, submitted, withdrawn) in told.items():
            found = stored.get(assignment)
            if found is None:
                wrong[assignment] = "was acknowledged and is not there"
            elif (found[1] or {}).get("data") != data or (
                found[0] != annotation and assignment not in unsure
            ):
                wrong[assignment] = f"was acknowledged as {annotation} {data}; there is {found}"
            elif assignment not in unsure and revisions[assignment] != {False: submitted, True: withdrawn}:
                wrong[assignment] = (
                    f"was submitted {submitted} and withdrawn {withdrawn} times; stored are {revisions[assignment]}"
                )
        if final:
            for assignment in stored.keys() - told.keys() - set(unsure):
                wrong[assignment] = "is there, and nobody was told so"
        kept = dict(
            Draft.objects.filter(assignment__public_id__in=drafts).values_list(
                "assignment__public_id", "response"
            )
        )
        for assignment, data in drafts.items():
            if assignment not in kept:
                wrong[assignment] = "has no draft, though one was saved"
            elif kept[assignment]["data"] != data and assignment not in unsure:
                wrong[assignment] = f"was saved as {data}; there is {kept[assignment]}"
        items = Item.objects.filter(batch__project__slug=BUSY).annotate(
            given=Count("assignments", filter=Q(assignments__state="submitted"), distinct=True),
            planned=Count("slots", filter=Q(slots__added=False), distinct=True),
            room=Count("slots", distinct=True),
        )
        faults = [
            f"item {item.public_id}: {item.given} responses, {item.room} places, {item.planned} planned"
            for item in items.filter(Q(given__gt=F("room")) | ~Q(planned=F("batch__overlap")))
        ]
        twice = (
            Slot.objects.annotate(
                live=Count("assignments", filter=Q(assignments__state__in=["leased", "submitted"]))
            )
            .filter(live__gt=1)
            .count()
        )
        faults += [f"{twice} places carry more than one live assignment"] if twice else []
        total = workload.total(workload.accounts(list(Batch.objects.filter(project__slug=BUSY))).values())
        if not total.balances or total.submitted != len(stored):
            faults.append(f"the accounts do not add up: {total}, and {len(stored)} responses are there")
        if deep:
            faults += [found for found in doctor.findings() if not isinstance(found, doctor.SelfHealing)]
    return {"wrong": wrong, "faults": faults, "stored": len(stored)}


def run_doctor() -> dict[str, Any]:
    """The command `doctor`: its status, None where the database is away, and what it said."""
    from django.core.management import CommandError, call_command
    from django.db import DatabaseError, InterfaceError

    said = io.StringIO()
    try:
        call_command("doctor", stdout=said, stderr=said)
    except CommandError:
        return {"status": 1, "said": said.getvalue()}
    except (DatabaseError, InterfaceError) as error:
        return {"status": None, "said": str(error)}
    return {"status": 0, "said": said.getvalue()}


def stuck() -> list[str]:
    """Jobs that were last heard of at a time that is yet to come: a worker takes them up as soon as it looks."""
    from datetime import UTC, datetime, timedelta

    from annotation.models import Job

    latest = datetime.fromtimestamp(clock(), tz=UTC) + timedelta(minutes=10)
    return [
        f"job {one.public_id} ({one.kind}) is {one.state} and was last heard of at {one.heartbeat}"
        for one in Job.objects.filter(state__in=["running", "queued"], heartbeat__gt=latest)
    ]


def open_jobs() -> list[str]:
    """The jobs that are neither done nor failed, in words."""
    from annotation.models import Job

    waiting = Job.objects.filter(state__in=["running", "queued"])
    return [f"{one.kind} {one.public_id}: {one.state}, {one.attempts} attempts" for one in waiting]


def lose_all() -> int:
    """`lose` for every job that runs."""
    from datetime import timedelta

    from django.db.models import F

    from annotation.models import Job

    running = Job.objects.filter(state="running")
    return running.update(heartbeat=F("heartbeat") - timedelta(minutes=2))


def undecided() -> int:
    """How many complete items still wait for their time; from now on it has come for them."""
    from django.db.models.functions import Now

    from annotation.models import Item

    return Item.objects.filter(due_at__isnull=False).update(due_at=Now())


def unanswered() -> int:
    """How many checks of a model have no answer, after the model was asked for all of them."""
    from django.utils import timezone

    from annotation.models import Batch, Try
    from tests.annotation.filling import fill

    waiting = Try.objects.filter(answered_at__isnull=True)
    for batch in Batch.objects.filter(pk__in=waiting.values("assignment__batch")):
        fill(batch=batch, now=timezone.now())
    return waiting.count()


def failed_jobs() -> list[list[str]]:
    """The kind and the words of every job that failed."""
    from annotation.models import Job

    return [list(row) for row in Job.objects.filter(state="failed").values_list("kind", "error")]


# -- underneath -------------------------------------------------------------------------------------


def _project(slug: str) -> Any:
    from annotation.models import Project

    return Project.objects.get(slug=slug)


def _mara() -> Any:
    from annotation.models import Person

    return Person.objects.get(email="mara@example.org")


def _signed_in(person: Any) -> dict[str, Any]:
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(person)
    token = "faultsfaultsfaultsfaultsfaults12"  # a cookie of a browser; nothing is protected by it here
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    return {
        "cookie": f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={token}",
        "csrf": token,
    }


COMMANDS = {
    one.__name__: one
    for one in (
        prepare, open_batch, start_import, imported, label_file, labels_in, start_release, released, job, lose, lose_all,
        clock, pass_time, manager, examples_of, previews, check, open_jobs, failed_jobs, undecided, unanswered, stuck,
        run_doctor,
    )
}  # fmt: skip


def main() -> None:
    """Do what is asked, line by line, until nobody asks any more."""
    import django
    from django.db import close_old_connections

    said, sys.stdout = sys.stdout, sys.stderr
    django.setup()
    for line in sys.stdin:
        asked = json.loads(line)
        close_old_connections()  # the database may have been killed since
        try:
            answer = {"answer": COMMANDS[asked["command"]](**asked["what"])}
        except Exception:
            answer = {"error": traceback.format_exc(limit=8)}
        print(json.dumps(answer), file=said, flush=True)


if __name__ == "__main__":
    main()
