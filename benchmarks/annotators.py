"""A study with simulated people who skip, disconnect, come back, change their minds and retry: does everything add up?

    ./run bench annotators [--people 40 --items 2000 --overlap 3 --seed 0] [--database postgres://...]

People of different skill rate answers (the kind `answer_rating`) under the gap rule: scores that are 3 or more apart ask
for one more person. They go through the same functions as pages and API (`queue`, `workflow`), on a
database of its own, with a clock that this program turns. At the end it must hold that

* every item has exactly its overlap of planned responses, every place that was added is filled, and the item is decided,
  or waits for an adjudicator because nobody was left who could have been asked in addition;
* the accounts balance and `doctor` finds nothing;
* the skill that Dawid and Skene's model estimates orders people as their true skill does (Spearman's rho 0.9 or more);
* each statistic of agreement holds the truth in its interval. What each person says of each item is drawn beforehand,
  whether or not they ever see it; the truth is the agreement of as many people on every item, drawn over and over in
  the shares in which they worked.

Exit status 1: something of this does not hold. `tests/annotation/test_annotators.py` runs a smaller study.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.figures import keep

if TYPE_CHECKING:
    from annotation.models import Assignment, Batch, Person

STEPS = (1, 2, 3, 4, 5)
TRUTH = (8, 10, 16, 28, 38)
"""How frequent each score is among what is right."""
DIMENSIONS = ("faithfulness", "comprehensiveness")
LEAST, MOST = 0.35, 0.97
"""Skills: how likely somebody says what is right; whoever does not says one of the other scores."""
GAP = 3
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
RHO = 0.9
FIRST_KEY = 900_001
"""Of the simulated people: the same in every database, so that a seed gives the same study everywhere."""
DRAWS = 20_000
"""Drawn ratings of items that the truth of agreement is counted over, about."""

# What people do at a turn, in shares: the rest is a submission.
SKIPS, GIVES_BACK, LEAVES, UNDOES, RETRIES = 0.03, 0.02, 0.08, 0.02, 0.02


@dataclass
class Rater:
    """A simulated person: skill, what they hold, and when they are back."""

    person: Person
    skill: float
    says: dict[str, dict[str, int]]
    holding: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    away_until: int = 0
    done: bool = False
    turns: Counter[str] = field(default_factory=Counter)


STRETCH = 3.29 / 1.96
"""From an interval of 95 % to one of 99.9 %, of a normal distribution."""


@dataclass(frozen=True)
class Figure:
    """A statistic of agreement with its interval, and the truth."""

    name: str
    value: float
    low: float
    high: float
    truth: float

    @property
    def holds(self) -> bool:
        """Whether the truth is where it is to be expected: within the interval, stretched from 95 to 99.9 %.

        Of a dozen figures at 95 % one misses in every other study, with nothing wrong.
        """
        low, high = ((end - self.value) * STRETCH + self.value for end in (self.low, self.high))
        return low <= self.truth <= high


@dataclass
class Result:
    """What came of a study; `wrong` says what does not hold."""

    people: int
    items: int
    turns: dict[str, int]
    assigned: dict[str, int]
    added: int
    rho: float
    figures: list[Figure]
    seconds: float
    wrong: list[str]


def study(*, people: int, items: int, overlap: int, seed: int) -> Result:
    """Run a study in the database that Django is set up with, and look whether everything holds."""
    began = time.perf_counter()
    rng = random.Random(f"study:{seed}")
    batch, crew = _made(people, items, overlap, seed)
    _work(batch, crew, rng)
    return _looked_at(batch, crew, overlap, time.perf_counter() - began)


# -- the people and their items ---------------------------------------------------------------------


def _made(people: int, items: int, overlap: int, seed: int) -> tuple[Batch, list[Rater]]:
    from annotation.access.roles import Role
    from annotation.imports import example_import
    from annotation.models import Batch, Person
    from annotation.queue import sampling
    from annotation.workflow import batches, projects
    from tableqa import Example, Table
    from tableqa.readers import READERS
    from tasks.contract import task_type

    rng = random.Random(f"made:{seed}")
    table = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])
    ids = [f"q{number}" for number in range(items)]
    examples = [
        Example(
            id=id,
            question="When did it come out?",
            table=table,
            answers=["1995"],
            meta={"rated_answer": {"text": f"In 1995, says answer {id}.", "system": "made up"}},
        )
        for id in ids
    ]

    class WrittenReader:
        name, title, licence, citation, url = "written", "Written", "MIT", "us", ""

        def __call__(self, path: Any, tables: Any = None, limit: int | None = None) -> Iterator[Example]:
            yield from examples

        def files(self, path: Any, tables: Any = None) -> Iterator[Path]:
            yield Path(path)

    manager = Person.objects.create_person("Manager")
    project = projects.create_project(slug=f"study-{seed}", name="A study", manager=manager, now=NOON)
    with patch.dict(READERS, {"written": WrittenReader()}):
        source = example_import.import_examples(
            project=project, reader="written", path=Path(__file__), name="answers", now=NOON
        ).source
    right = {id: {name: rng.choices(STEPS, TRUTH)[0] for name in DIMENSIONS} for id in ids}
    crew = []
    for number in range(people):
        person = Person.objects.create_person(
            f"Simulated {number + 1}", is_simulated=True, pk=FIRST_KEY + number
        )
        projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=None, now=NOON)
        skill = LEAST + (MOST - LEAST) * number / max(1, people - 1)
        says = {id: {name: _said(right[id][name], skill, rng) for name in DIMENSIONS} for id in ids}
        crew.append(Rater(person, skill, says))
    batch = batches.plan_batch(
        project=project,
        name="Ratings",
        task=task_type("answer_rating"),
        sample=sampling.Sample(sources=[source], seed=seed),
        terms={"overlap": overlap, "resolve": {"rule": "gap", "gap": GAP, "most": overlap + 1}},
        by=manager,
        now=NOON,
    )
    # Who gets what is drawn from the keys of batch and person.
    Batch.objects.filter(pk=batch.pk).update(public_id=f"study{seed}")
    batch.refresh_from_db()
    batches.open_batch(batch=batch, by=manager, now=NOON)
    batch.refresh_from_db()
    return batch, crew


def _said(right: int, skill: float, rng: random.Random) -> int:
    return right if rng.random() < skill else rng.choice([step for step in STEPS if step != right])


# -- at work ----------------------------------------------------------------------------------------


def _work(batch: Batch, crew: Sequence[Rater], rng: random.Random) -> None:
    """Turn by turn, until nobody is away and nobody finds anything any more."""
    from annotation.workflow import automatic_decisions

    tick = 0
    while True:
        tick += 1
        now = NOON + timedelta(seconds=tick)
        here = [one for one in crew if one.away_until <= tick and not one.done]
        if here:
            _turn(batch, rng.choice(here), rng, tick, now)
        if tick % 50 == 0 or not here:
            # Places come to items whose responses are far apart: whoever had found nothing looks again.
            if automatic_decisions.resolve_due(now=now + timedelta(minutes=2), limit=1_000):
                for one in crew:
                    one.done = False
            elif all(one.done for one in crew):
                return


def _turn(batch: Batch, one: Rater, rng: random.Random, tick: int, now: datetime) -> None:
    from annotation.models import Assignment
    from annotation.queue import reservations
    from annotation.workflow import assignments

    if one.left:
        _come_back(one, now)
        return
    found = reservations.next_assignment(batch=batch, person=one.person, now=now)
    if found is None:
        one.done = True
        return
    if rng.random() < 0.5:
        # The page fetches the item after this one beforehand.
        reservations.next_assignment(batch=batch, person=one.person, holding=[found.public_id], now=now)
    mine, chance = _loaded(one.person, found.public_id), rng.random()
    if chance < SKIPS:
        assignments.skip(assignment=mine, reason="unclear", now=now)
        one.turns["skipped"] += 1
    elif chance < SKIPS + GIVES_BACK:
        assignments.give_back(assignment=mine, now=now)
        one.turns["given back"] += 1
    elif chance < SKIPS + GIVES_BACK + LEAVES:
        held = Assignment.objects.filter(batch=batch, person=one.person, state="leased")
        one.left = list(held.values_list("public_id", flat=True))
        one.away_until = tick + rng.randrange(40, 80 + batch.items_count // 5)
        # Twenty minutes pass; from then on whoever finds nothing else takes these places.
        held.update(leased_until=NOON - timedelta(days=3650))
        one.turns["disconnected"] += 1
    else:
        annotation = assignments.submit(assignment=mine, response=_response(one, mine), now=now)
        one.turns["submitted"] += 1
        if rng.random() < RETRIES:
            again = _loaded(one.person, mine.public_id)
            same = assignments.submit(assignment=again, response=_response(one, again), now=now)
            assert same.pk == annotation.pk, "a retry makes no second annotation"
            one.turns["retried"] += 1
        if rng.random() < UNDOES:
            assignments.undo(annotation=annotation, now=now)
            again = _loaded(one.person, mine.public_id)
            assignments.submit(assignment=again, response=_response(one, again), now=now)
            one.turns["undone"] += 1


def _come_back(one: Rater, now: datetime) -> None:
    """Whoever comes back sends off what they had on the screen: kept where the place is free, else refused."""
    from annotation.platform.refusals import ActionRefused
    from annotation.workflow import assignments

    for public_id in one.left:
        mine = _loaded(one.person, public_id)
        try:
            assignments.submit(assignment=mine, response=_response(one, mine), now=now)
            one.turns["submitted late"] += 1
        except ActionRefused as refused:
            if refused.code not in ("place_taken", "decided"):
                raise
            one.turns["came too late"] += 1
    one.left = []


def _loaded(person: Person, public_id: str) -> Assignment:
    from annotation.access import authorization

    return authorization.assignment(authorization.Actor(person), public_id)


def _response(one: Rater, assignment: Assignment) -> dict[str, Any]:

    task = assignment.batch.task()
    data = one.says[assignment.item.example.external_id]
    return dict(task.envelope(task.restore(data), assignment.plain_item))


# -- afterwards -------------------------------------------------------------------------------------


def _looked_at(batch: Batch, crew: Sequence[Rater], overlap: int, seconds: float) -> Result:
    from django.db.models import Q

    from annotation.management import doctor
    from annotation.models import Item, Slot
    from annotation.queue import workload

    wrong = list(doctor.findings())
    items = Item.objects.filter(batch=batch)
    places = Counter(
        Slot.objects.filter(batch=batch, is_taken=True, added=False).values_list("item_id", flat=True)
    )
    if bad := [pk for pk in items.values_list("pk", flat=True) if places[pk] != overlap]:
        wrong.append(f"{len(bad)} items have other than {overlap} planned responses")
    if free := Slot.objects.filter(batch=batch, is_taken=False).count():
        wrong.append(f"{free} places are free")
    settled = Q(decision__isnull=False) | Q(adjudication__isnull=False)
    if undecided := items.exclude(settled).count():
        wrong.append(f"{undecided} items are neither decided nor wait for an adjudicator")
    found = workload.accounts([batch])
    if bad_accounts := [key for key, account in found.items() if not account.balances]:
        wrong.append(f"{len(bad_accounts)} accounts do not balance")
    turns = sum((one.turns for one in crew), Counter[str]())
    whole = workload.total(found.values())
    if whole.submitted != turns["submitted"] + turns["submitted late"]:
        wrong.append(f"{whole.submitted} are accounted as submitted; people submitted {turns}")
    rho = _rho(batch, crew)
    if not rho >= RHO:
        wrong.append(f"estimated and true skill: Spearman's rho is {rho:.3f}")
    figures = _figures(batch, crew, overlap)
    wrong += [
        f"{one.name}: {one.truth:.3f} is not near {one.low:.3f} to {one.high:.3f}"
        for one in figures
        if not one.holds
    ]
    return Result(
        people=len(crew),
        items=items.count(),
        turns=dict(sorted(turns.items())),
        assigned={
            name: getattr(whole, name) for name in ("assigned", "submitted", "skipped", "open", "returned")
        },
        added=Slot.objects.filter(batch=batch, added=True).count(),
        rho=rho,
        figures=figures,
        seconds=seconds,
        wrong=wrong,
    )


def _rho(batch: Batch, crew: Sequence[Rater]) -> float:
    """Spearman's rho of true skill and what the model estimates from the labels alone, both dimensions together."""
    from scipy import stats

    from annotation.models import Assignment
    from tableqa.agreement.dawid_skene import dawid_skene

    submitted = Assignment.objects.filter(batch=batch).submitted()
    rows = submitted.values_list("item_id", "person_id", "annotation__response__data")
    labels = [((item, name), str(person), data[name]) for item, person, data in rows for name in DIMENSIONS]
    estimate = dawid_skene(labels, classes=STEPS)
    estimated = [estimate.people[str(one.person.pk)].accuracy for one in crew]
    return float(stats.spearmanr([one.skill for one in crew], estimated).statistic)


def _figures(batch: Batch, crew: Sequence[Rater], overlap: int) -> list[Figure]:
    """What the batch page says of agreement, beside the truth."""
    from annotation.quality import agreement_report, rating_tallies

    task = batch.task()
    drawn = (
        (f"{item} {number}", str(one.person.pk), task.restore(one.says[item]))
        for item, number, raters in _drawn(crew, overlap)
        for one in raters
    )
    truths = {
        (f.measure, f.statistic): f.value
        for f in rating_tallies.figures_of(rating_tallies.tallies(task, drawn))
    }
    found = []
    for figure in agreement_report.batch_figures(batch):
        truth = truths[figure.measure, figure.statistic]
        numbers = (figure.value, figure.low, figure.high, truth)
        name = f"{figure.measure} {figure.statistic}"
        found.append(Figure(name, *(math.nan if number is None else number for number in numbers)))
    return found


def _drawn(crew: Sequence[Rater], overlap: int) -> Iterator[tuple[str, int, list[Rater]]]:
    """Every item again and again, each time with `overlap` people drawn in the shares in which they worked."""
    rng = random.Random("truth")
    times = max(1, DRAWS // len(crew[0].says))
    for item in crew[0].says:
        for number in range(times):
            # Exponential times at a person's rate: the first to come are a draw without replacement.
            came = sorted(crew, key=lambda one: rng.expovariate(one.turns["submitted"] or 1e-9))
            yield item, number, came[:overlap]


# -- the program ------------------------------------------------------------------------------------


def main() -> int:
    """Print what came of it, and 1 where something does not hold."""
    parser = argparse.ArgumentParser(prog="./run bench annotators")
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--items", type=int, default=2_000)
    parser.add_argument("--overlap", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--database", default="", help="an empty database; default: SQLite in a folder for it"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ASKEW_DATA_DIR"] = folder
        os.environ["DATABASE_URL"] = options.database or f"sqlite:///{folder}/study.sqlite3"
        os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(50))
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        result = study(people=options.people, items=options.items, overlap=options.overlap, seed=options.seed)
    print(f"{result.people} people, {result.items} items, {result.seconds:.0f} s")
    print(f"turns      {json.dumps(result.turns)}")
    print(f"accounts   {json.dumps(result.assigned)}")
    print(f"places     {result.added} added by the gap rule, all of them filled")
    print(f"skill      Spearman's rho of estimated and true {result.rho:.3f}")
    for figure in result.figures:
        interval = f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"
        print(f"agreement  {figure.name}: {interval}, in truth {figure.truth:.3f}")
    keep("what does not hold", len(result.wrong), at_most=0)
    keep("Spearman's rho of estimated and true skill", result.rho, at_least=RHO)
    for one in result.wrong:
        print(f"WRONG      {one}")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
