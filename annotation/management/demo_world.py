"""The demo world: `fixtures/demo/world.yaml`, loaded through the journeys like any person's work.

It exists only under `./run demo`, on loopback. Its people have no passwords; they sign in through
links that hold for one run, because they are made from a secret that `run` draws again each time.
"""

import hashlib
import hmac
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.db import transaction

from annotation.access import authorization
from annotation.access.roles import Role
from annotation.imports import example_import
from annotation.models import Batch, Person, Project
from annotation.queue import reservations, resolutions, sampling
from annotation.releases import creation
from annotation.workflow import adjudication, assignments, automatic_decisions, projects
from annotation.workflow import batches as workflow_batches
from tasks.contract import task_type

FIXTURES = Path(settings.BASE_DIR) / "fixtures"
DOMAIN = "demo.invalid"
"""Reserved by RFC 2606: no mail can reach it, it cannot be registered."""


def load(*, now: datetime) -> bool:
    """Load the demo world into a database that does not have it. False where it is there already."""
    world = yaml.safe_load((FIXTURES / "demo" / "world.yaml").read_text(encoding="utf-8"))
    if Project.objects.filter(slug=world["project"]["slug"]).exists():
        return False
    with transaction.atomic():
        _load(world, now)
    return True


def links(base_url: str) -> list[str]:
    """One line for each person who can be tried, with a link that signs in."""
    world = yaml.safe_load((FIXTURES / "demo" / "world.yaml").read_text(encoding="utf-8"))
    lines = []
    for entry in world["people"]:
        if not entry.get("simulated"):
            role = "administrator" if entry.get("administrator") else ", ".join(entry["roles"])
            lines.append(f"  {role:<14} {base_url}demo/{token(_email(entry['key']))}/")
    return lines


def token(email: str) -> str:
    """The sign-in token of a demo person in this run."""
    secret = settings.DEMO_SECRET.encode()
    return hmac.new(secret, email.encode(), hashlib.sha256).hexdigest()[:40]


def person_for(candidate: str) -> Person | None:
    """The demo person of a token, or None. Every person is compared, so that the time taken tells nothing."""
    matching_person = None
    for person in Person.objects.filter(email__endswith=f"@{DOMAIN}", is_simulated=False, is_active=True):
        if hmac.compare_digest(token(person.email or ""), candidate):
            matching_person = person
    return matching_person


# -- underneath -------------------------------------------------------------------------------------


def _load(world: dict[str, Any], now: datetime) -> None:
    people = {
        entry["key"]: Person.objects.create_person(
            entry["name"],
            _email(entry["key"]),
            is_simulated=entry.get("simulated", False),
            is_administrator=entry.get("administrator", False),
        )
        for entry in world["people"]
    }
    manager = next(people[entry["key"]] for entry in world["people"] if "manager" in entry.get("roles", []))
    project = projects.create_project(manager=manager, now=now, **world["project"])
    for entry in world["people"]:
        if roles := [Role(role) for role in entry.get("roles", [])]:
            projects.add_member(
                project=project, person=people[entry["key"]], roles=roles, by=manager, now=now
            )
    sources = {
        entry["name"]: example_import.import_examples(
            project=project,
            reader=entry["reader"],
            path=FIXTURES / entry["path"],
            name=entry["name"],
            split=entry["split"],
            by=manager,
            now=now,
        ).source
        for entry in world["sources"]
    }
    batches: dict[str, Batch] = {}
    for entry in world["batches"]:
        responses = entry.get("responses", {})
        fed = entry.get("feeds_from")
        named = [] if fed else entry.get("sources", list(sources)[:1])
        batch = workflow_batches.plan_batch(
            project=project,
            name=entry["name"],
            task=task_type(entry["type"]),
            sample=sampling.Sample(
                sources=[sources[name] for name in named],
                of=entry.get("of", ""),
                size=entry.get("size"),
                only=[*responses, *entry.get("more", [])] or None,
                seed=entry.get("seed", 0),
                feeds_from=batches[fed] if fed else None,
            ),
            terms={
                "variant": entry.get("variant", ""),
                "settings": entry.get("settings"),
                "overlap": entry.get("overlap"),
                # The demo starts the bundled model; where it could not, the batch has none.
                "loop_model": entry["loop_model"] if entry.get("loop_model") in settings.PREDICTORS else "",
            },
            by=manager,
            now=now,
        )
        batches[batch.name] = batch
        workflow_batches.open_batch(batch=batch, by=manager, now=now)
        _annotate(batch, responses, people, now)
        if entry.get("closed"):
            workflow_batches.close_batch(batch=batch, by=manager, now=now)
        automatic_decisions.resolve_batch(batch=batch, now=now)
        for item in resolutions.waiting(batch):
            if decision := entry.get("decisions", {}).get(item.example.external_id):
                response = batch.task().envelope(batch.task().restore(decision["response"]), item.plain())
                adjudication.decide(
                    item=item, by=people[decision["by"]], note=decision["note"], response=response, now=now
                )
    for entry in world.get("releases", []):
        creation.make_release(project=project, now=now, **{**entry, "by": people[entry["by"]]})


def _annotate(
    batch: Batch, responses: dict[str, dict[str, Any]], people: dict[str, Person], now: datetime
) -> None:
    """Each person answers what the file says they said, in the order of the queue."""
    for key in dict.fromkeys(key for by_person in responses.values() for key in by_person):
        while (
            next_assignment := reservations.next_assignment(batch=batch, person=people[key], now=now)
        ) is not None:
            assignment = authorization.assignment(authorization.Actor(people[key]), next_assignment.public_id)
            data = responses.get(assignment.item.example.external_id, {}).get(key)
            if data is None:
                assignments.give_back(assignment=assignment, now=now)
                break
            task, item = batch.task(), assignment.plain_item
            response = task.unparsed_envelope(data, item)
            assignments.submit(assignment=assignment, response=response, now=now)


def _email(key: str) -> str:
    return f"{key}@{DOMAIN}"
