"""Simulated annotators: people of a stated accuracy who work through the REST interface like any person's program.

They are marked (`is_simulated`), sign in with tokens of their own, see what their kind shows and
nothing else, and answer with the kind's `simulate`. A study and a seed give the same labels on each site: they follow from
what is shown, not from keys or turns.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from annotation.access.roles import Permission, Role
from annotation.background import jobs
from annotation.models import Assignment, Batch, Gold, Item, Job, Membership, Person, Project
from annotation.platform.refusals import refuse
from annotation.quality import consent
from annotation.quality import guidelines as quality_guidelines
from annotation.queue import entry_requirements, practice
from annotation.workflow import automatic_decisions, projects
from tableqa import Example, Table
from tableqa.data.examples import Context, Turn
from tasks.contract import SHOWN
from tasks.contract import Item as PlainItem

if TYPE_CHECKING:
    import httpx

KIND = "simulate"
MOST = 200
"""Simulated annotators of a batch."""


@dataclass
class SimulatedAnnotator:
    """One simulated person at work: their number among the others, their client, and what they have done."""

    person: Person
    client: httpx.Client
    number: int
    done: bool = False
    counts: dict[str, int] = field(default_factory=lambda: {"submitted": 0, "skipped": 0})


def simulate(
    *, batch: Batch, annotators: int, seed: int, accuracy: float, now: datetime, url: str = ""
) -> dict[str, dict[str, int]]:
    """Work the batch to its end with `annotators` people, turn by turn. Returns counts by name.

    They first meet the entry requirements: consent, guidelines, practice, and the qualification batch, which they answer as
    its gold expects. Without `url` the requests go to the application inside this process, through every layer a
    request over the network goes through. Raises httpx.HTTPError when the server fails.
    """
    people = people_of(batch.project, annotators, now)
    required, crew = batch.requires, list[SimulatedAnnotator]()
    if required is not None and required.opened_at is not None and required.closed_at is None:
        simulate(batch=required, annotators=annotators, seed=seed, accuracy=accuracy, now=now, url=url)
    with _clients(url, len(people)) as clients, ExitStack() as tokens:
        for index, (person, client) in enumerate(zip(people, clients, strict=True)):
            meet_requirements(person=person, batch=batch, now=now)
            token, secret = projects.make_token(
                person=person, project=batch.project, name="simulate", scopes=[Permission.ANNOTATE], now=now
            )
            tokens.callback(projects.revoke_token, token=token, by=token.person, now=now)
            client.headers["Authorization"] = f"Bearer {secret}"
            crew.append(SimulatedAnnotator(person, client, index))
        while any(not annotator.done for annotator in crew):
            for annotator in crew:
                if not annotator.done:
                    _work_on_one_item(annotator, batch, seed, accuracy)
    return {annotator.person.name: annotator.counts for annotator in crew}


def start(*, batch: Batch, by: Person, now: datetime, annotators: int, seed: int, accuracy: float) -> Job:
    """Complete a batch in the background. Raises ActionRefused: batch_not_open; still_involved where people annotated."""
    if batch.opened_at is None or batch.closed_at is not None:
        refuse("batch_not_open", "Open the batch before you simulate annotators.")
    if Assignment.objects.filter(batch=batch, person__is_simulated=False).exists():
        refuse(
            "still_involved",
            "People annotate in {name}. Simulate annotators in a copy of it.",
            name=batch.name,
        )
    ids = {"batch": batch.pk, "annotators": annotators, "seed": seed, "accuracy": accuracy}
    return jobs.enqueue(project=batch.project, kind=KIND, ids=ids, by=by, now=now)


@jobs.kind(KIND)
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    batch = Batch.objects.select_related("project", "requires").get(pk=job.ids["batch"])
    terms = {name: job.ids[name] for name in ("annotators", "seed", "accuracy")}
    counts = simulate(batch=batch, now=timezone.now(), **terms)
    # Simulated people undo nothing, so the time for undo need not pass.
    automatic_decisions.resolve_batch(batch=batch, now=timezone.now())
    return {"simulated": counts}


def people_of(project: Project, annotators: int, now: datetime) -> list[Person]:
    """The project's simulated people, made where there are too few."""
    here = Membership.objects.filter(project=project, person__is_simulated=True).order_by("pk")
    members = here.select_related("person")
    people = [
        member.person
        for member in members.filter(person__is_active=True, removed_at=None)
        if Role.ANNOTATOR.value in member.roles
    ]
    names = {member.person.name for member in members}
    unused = (name for index in count(1) if (name := f"Simulated {index}") not in names)
    while len(people) < annotators:
        person = Person.objects.create_person(next(unused), is_simulated=True)
        projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=None, now=now)
        people.append(person)
    return people[:annotators]


def meet_requirements(*, person: Person, batch: Batch, now: datetime) -> None:
    """Consent, confirm the guidelines and go through the practice set, as far as the batch asks the person for it.

    These are pages for people, which a token does not open.
    """
    for code, meet in {
        "consent_needed": _consent,
        "guidelines_unread": _confirm_guidelines,
        "practice_needed": _practise,
    }.items():
        requirement = entry_requirements.first_unmet(batch=batch, person=person, now=now)
        if requirement is not None and requirement.code == code:
            meet(batch, person, now)


def _consent(batch: Batch, person: Person, now: datetime) -> None:
    version = batch.project.consent_number
    consent.agree(project=batch.project, person=person, version=version, now=now)


def _confirm_guidelines(batch: Batch, person: Person, now: datetime) -> None:
    guidelines = quality_guidelines.ensure(project=batch.project, task=batch.task(), now=now)
    quality_guidelines.confirm(guidelines=guidelines, person=person, now=now)


def _practise(batch: Batch, person: Person, now: datetime) -> None:
    """Answer each exercise of the practice set as expected."""
    task, session = batch.task(), dict[str, Any]()
    for position, exercise in enumerate(practice.exercises(task, batch.variant), start=1):
        right, lines = task.feedback(exercise.item, exercise.expected, exercise.expected)
        practice.record_attempt(
            session=session,
            project=batch.project,
            person=person,
            task=task,
            variant=batch.variant,
            position=position,
            feedback=practice.Feedback(right, tuple(lines), exercise.why),
            now=now,
        )


def _work_on_one_item(annotator: SimulatedAnnotator, batch: Batch, seed: int, accuracy: float) -> None:
    """Take an item and submit an answer; an answer that the server does not accept becomes a skip."""
    reply = annotator.client.post(f"/api/batches/{batch.public_id}/next/", json={"holding": []})
    reply.raise_for_status()
    if reply.status_code == 204:
        annotator.done = True
        return
    assignment = reply.json()
    item, key = _item(assignment), f"{seed}:{_identity(assignment, batch)}"
    truth, rng = random.Random(f"truth:{key}"), random.Random(f"person {annotator.number}:{key}")
    if batch.purpose == Batch.Purpose.QUALIFICATION:  # like a practice set
        data = Gold.objects.get(item__public_id=assignment["item"], item__batch=batch).expected["data"]
    else:
        data = batch.task().simulate(item, rng, accuracy, truth)
    envelope = {key: assignment[key] for key in ("type", "variant", "version", "base")} | {"data": data}
    here = f"/api/assignments/{assignment['id']}"
    answer = annotator.client.post(f"{here}/submit/", json={"response": envelope})
    if answer.status_code == 422 and answer.json()["code"] == "unmet_conditions":
        confirmed = [condition["code"] for condition in answer.json()["unmet"]]
        answer = annotator.client.post(f"{here}/submit/", json={"response": envelope, "confirmed": confirmed})
    if answer.status_code == 422:
        reason = f"simulated: {answer.json()['detail']}"[:500]
        annotator.client.post(f"{here}/skip/", json={"reason": reason}).raise_for_status()
        annotator.counts["skipped"] += 1
        return
    answer.raise_for_status()
    annotator.counts["submitted"] += 1


def _identity(assignment: dict[str, Any], batch: Batch) -> str:
    """What an item is on every site that has the study: its example, its task and what is shown, without our keys."""
    names = ("example__source__name", "example__external_id")
    example = Item.objects.values_list(*names).get(public_id=assignment["item"])
    task = (batch.task_type, batch.variant, batch.settings)
    return json.dumps([example, task, assignment["shows"]], sort_keys=True)


def _item(assignment: dict[str, Any]) -> PlainItem:
    """The item as far as it is shown: a simulated person knows no more than a real one."""
    shows = assignment["shows"]
    example = Example(
        id="shown",
        question=shows.get("question", ""),
        table=Table.from_dict(shows["table"]) if "table" in shows else Table((), ()),
        answers=shows.get("answers", []),
        context=Context.from_dict(shows["context"]) if "context" in shows else None,
        history=[Turn.from_dict(turn) for turn in shows.get("history", [])],
    )
    inputs = {name: value for name, value in shows.items() if name not in SHOWN}
    return PlainItem(example=example, variant=assignment["variant"], inputs=inputs)


@contextmanager
def _clients(url: str, client_count: int) -> Iterator[list[httpx.Client]]:
    import httpx

    transport: httpx.BaseTransport | None = None
    if not url:
        from django.core.wsgi import get_wsgi_application

        transport = httpx.WSGITransport(app=get_wsgi_application())
        site = urlsplit(settings.PUBLIC_URL or "http://127.0.0.1")  # a host that the site answers
        url = f"{site.scheme}://{site.netloc}"
    clients = [httpx.Client(base_url=url, transport=transport, timeout=30) for _ in range(client_count)]
    try:
        yield clients
    finally:
        for client in clients:
            client.close()
