"""The people and things of the platform's tests: Mara manages, Ada, Bo and Cy annotate, Ivo adjudicates, Rea releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from django.db import connection
from django.db.models import QuerySet

from annotation.access import authorization
from annotation.access.roles import Role
from annotation.imports import example_import
from annotation.models import Annotation, Assignment, Batch, LedgerEntry, Person, Project, Source
from annotation.platform import immutable_rows
from annotation.queue import draws, reservations, sampling
from annotation.workflow import assignments, batches, projects
from tableqa import Example
from tableqa.readers import READERS
from tasks.contract import task_type
from tests.annotation import kept_rows

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
FILMS = [
    ["Heat", "1995", "170"],
    ["Alien", "1979", "117"],
    ["Stalker", "1979", "162"],
    ["Playtime", "1967", "124"],
]


class ReaderOf:
    """A reader of examples that a test wrote down."""

    name, title, licence, citation, url = "written", "Written", "MIT", "us", ""

    def __init__(self, *examples: Example) -> None:
        self.examples = examples

    def __call__(self, path: Any, tables: Any = None, limit: int | None = None) -> Iterator[Example]:
        yield from self.examples

    def files(self, path: Any, tables: Any = None) -> Iterator[Path]:
        yield Path(path)


def set_work(
    assignments: QuerySet[Assignment], *, seconds: float | None = None, at: datetime | None = None
) -> None:
    """Let what these assignments ended with have taken so many seconds of active time, and have come at a moment."""
    keys = list(assignments.values_list("pk", flat=True))
    for rows, names in (
        (Assignment.objects.filter(pk__in=keys), ("active_seconds", "ended_at")),
        (LedgerEntry.objects.filter(assignment__in=keys), ("seconds", "at")),
        (QuerySet(Annotation).filter(assignment__in=keys), ("active_seconds", "made_at")),
    ):
        values = zip(names, (seconds, at), strict=True)
        with immutable_rows.writable():
            rows.update(**{name: value for name, value in values if value is not None})


@dataclass
class World:
    """One project with its people, a source of small questions, and ways to make batches."""

    project: Project
    source: Source
    people: dict[str, Person] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Person:
        try:
            return self.__dict__["people"][name]
        except KeyError:
            raise AttributeError(name) from None

    def batch(self, kind: str = "question_type", *, open: bool = True, **more: Any) -> Batch:
        more.setdefault("name", f"{kind} {Batch.objects.count() + 1}")
        more.setdefault("sources", [self.source])
        drawn = {each.name: more.pop(each.name) for each in fields(sampling.Sample) if each.name in more}
        batch = batches.plan_batch(
            project=self.project,
            task=task_type(kind),
            name=more.pop("name"),
            sample=sampling.Sample(**drawn),
            terms=more,
            by=self.people["mara"],
            now=NOON,
        )
        if open:
            batches.open_batch(batch=batch, by=self.people["mara"], now=NOON)
        return batch

    def draw_gold_first(self, batch: Batch, who: str, number: int = 1) -> None:
        """Give the batch a key by which the first turns of a person are for gold. Others may bring none of so few items."""
        for batch.draw_key in map(str, count()):
            turns = draws.GoldTurns(batch, self.people[who].pk)
            if all(turn in turns for turn in range(number)):
                break
        batch.save(update_fields=["draw_key"])

    def import_written(self, *examples: Example, name: str = "written") -> Source:
        """A source of these examples."""
        with patch.dict(READERS, {"written": ReaderOf(*examples)}):
            done = example_import.import_examples(
                project=self.project, reader="written", path=Path(__file__), name=name, now=NOON
            )
        return done.source

    def take(self, batch: Batch, who: str, holding: Sequence[str] = ()) -> Assignment | None:
        """The next assignment of a person, loaded as a view loads it."""
        person = self.people[who]
        found = reservations.next_assignment(batch=batch, person=person, holding=holding, now=NOON)
        return (
            None if found is None else authorization.assignment(authorization.Actor(person), found.public_id)
        )

    def reload(self, assignment: Assignment) -> Assignment:
        return authorization.assignment(authorization.Actor(assignment.person), assignment.public_id)

    def answer(self, assignment: Assignment, data: dict[str, Any], now: datetime = NOON) -> Any:
        """Submit, and confirm whatever the response leaves unmet."""
        response, task = envelope(assignment, data), assignment.batch.task()
        item = assignment.plain_item
        confirmed = [problem.code for problem in task.unmet(task.receive(response, item), item)]
        return assignments.submit(assignment=assignment, response=response, now=now, confirmed=confirmed)

    def label(self, batch: Batch, who: str, label: str) -> Any:
        """Take the next item and label it."""
        assignment = self.take(batch, who)
        assert assignment is not None, f"nothing left for {who}"
        return self.answer(assignment, {"label": label})


def envelope(assignment: Assignment, data: dict[str, Any]) -> dict[str, Any]:
    item = assignment.plain_item
    task = assignment.batch.task()
    return {
        "type": task.key,
        "variant": item.variant,
        "version": task.version,
        "base": item.base,
        "data": data,
    }


def make_world(folder: Path, questions: int = 4) -> World:
    """Mara's project over `questions` questions on one table of films, in WTQ's own format."""
    tables = folder / "csv" / "1-csv"
    tables.mkdir(parents=True, exist_ok=True)
    lines = [["Film", "Year", "Minutes"], *FILMS]
    text = "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines)
    (tables / "1.csv").write_text(text + "\n", encoding="utf-8")
    rows = ["id\tutterance\tcontext\ttargetValue"]
    for number in range(questions):
        film, year, _ = FILMS[number % len(FILMS)]
        rows.append(f"nu-{number}\twhen did {film} come out ({number})?\tcsv/1-csv/1.csv\t{year}")
    path = folder / "films-dev.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    if not kept_rows.are_none():
        return _made(path)
    # What waits for a commit has happened in the one and not in the other.
    key = (questions, connection.in_atomic_block)
    if key in _KEPT:
        kept_rows.write(_KEPT[key])
        people = {person.name.lower(): person for person in Person.objects.all()}
        return World(Project.objects.get(), Source.objects.get(), people)
    world = _made(path)
    _KEPT[key] = kept_rows.kept()
    return world


_KEPT: dict[tuple[int, bool], kept_rows.Rows] = {}


def _made(path: Path) -> World:
    mara = Person.objects.create_person("Mara", "mara@example.org", "tilted tables")
    project = projects.create_project(slug="films", name="Films", manager=mara, now=NOON)
    people = {"mara": mara}
    for name, role in (
        ("ada", Role.ANNOTATOR),
        ("bo", Role.ANNOTATOR),
        ("cy", Role.ANNOTATOR),
        ("ivo", Role.ADJUDICATOR),
        ("rea", Role.RESEARCHER),
    ):
        people[name] = Person.objects.create_person(name.capitalize(), f"{name}@example.org", "tilted tables")
        projects.add_member(project=project, person=people[name], roles=[role], by=mara, now=NOON)
    people["zoe"] = Person.objects.create_person("Zoe", "zoe@example.org", "tilted tables")
    done = example_import.import_examples(project=project, reader="wtq", path=path, now=NOON, by=mara)
    return World(project, done.source, people)
