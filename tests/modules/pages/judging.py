"""Pages of task types that judge and that reword."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.test import Client

from annotation.models import Annotation, Assignment, Batch, ModelAnswer, Source
from annotation.models import Example as StoredExample
from annotation.workflow import automatic_decisions, batches
from tableqa import Example, Table
from tests.annotation.cast import NOON, World

LATER = NOON + timedelta(days=1)


def batch(world: World, client: Client, kind: str, **terms: Any) -> str:
    """Ada's first item of a batch over the four questions."""
    return _page(world, client, world.batch(kind, **terms), "ada")


def batch_after_model(world: World, client: Client) -> str:
    """Question types; a model was asked for the type of every question, and always needs a count."""
    for example in StoredExample.objects.originals():
        ModelAnswer.objects.create(
            example=example,
            purpose="question_type",
            model="small",
            data={"reply": "Operation: count"},
            made_at=NOON,
        )
    return batch(world, client, "question_type", overlap=1)


def batch_over_rated(world: World, client: Client, kind: str, **terms: Any) -> str:
    """Ada's first item of a batch over three answers of systems."""
    return batch(world, client, kind, sources=[rated(world)], **terms)


def batch_over_answers(world: World, client: Client, questions: list[str]) -> str:
    """Ratings of one answer to each question, of which some are the same."""
    return batch(world, client, "answer_rating", sources=[several_answers(world, *questions)])


def pair(world: World, client: Client) -> str:
    """Cy's first item: two changed examples of one question side by side."""
    return _page(world, client, pair_of(world), "cy")


def single(world: World, client: Client) -> str:
    """Cy's first item: one changed example."""
    change(world, "ada", "1996", overlap=1)
    return _page(world, client, world.batch("perturbation_rating", of="perturbed", overlap=1), "cy")


def submitted(world: World, client: Client) -> list[Any]:
    """What was submitted, in order."""
    rows = Annotation.objects.filter(response__isnull=False).order_by("pk")
    return [row.response["data"] for row in rows if row.response]


def standing(world: World, client: Client) -> list[Any]:
    """The labels that count, in the order of their items."""
    rows = Assignment.objects.submitted().select_related("annotation").order_by("item__position", "pk")
    return [
        row.annotation.response["data"]["label"] for row in rows if row.annotation and row.annotation.response
    ]


def decide(world: World, client: Client) -> None:
    """Decide every item that is complete."""
    for batch in Batch.objects.order_by("pk"):
        automatic_decisions.resolve_batch(batch=batch, now=LATER)


def close(world: World, client: Client) -> None:
    for batch in Batch.objects.all():
        batches.close_batch(batch=batch, by=world.mara, now=LATER)


def reopen(world: World, client: Client) -> None:
    Batch.objects.update(closed_at=None)


def rated(world: World, number: int = 3) -> Source:
    """A source of answers of systems, rated and scored."""
    table = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]], title="Long films")
    examples = [
        Example(
            f"fetaqa_{n}~system",
            f"which film is the longest ({n})?",
            table,
            ["Heat, with 170 minutes."],
            meta={
                "rated_answer": {
                    "text": f"Answer number {n}: Heat, at 170 minutes.",
                    "system": "hidden-system",
                },
                "reference": f"The hidden reference {n}.",
                "metrics": {"bleu": [0.1, 0.2, 0.9][n % 3]},
                "human": {"faithfulness": [5, 3, 1][n % 3], "comprehensiveness": [5, 3, 1][n % 3]},
                "samples": [["Heat, with 170 minutes."]] * 4,
            },
        )
        for n in range(number)
    ]
    return world.import_written(*examples)


def several_answers(world: World, *questions: str) -> Source:
    """A source of answers by models: one for each question."""
    table = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]])
    answers = [{"rated_answer": {"text": f"Answer {n}.", "system": "s"}} for n in range(len(questions))]
    return world.import_written(
        *(
            Example(f"q-{n}", question, table, ["Heat"], meta=answers[n])
            for n, question in enumerate(questions)
        )
    )


def change(world: World, who: str, year: str, overlap: int = 2) -> None:
    """Somebody changes the year of Heat so that the answer changes."""
    batch = Batch.objects.filter(task_type="value_change").first() or world.batch(
        "value_change", variant="answer_changes", only=["nu-0"], overlap=overlap
    )
    assignment = world.take(batch, who)
    assert assignment is not None
    operation = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": year}
    edit = {"unanswerable": False, "operations": [operation], "answers": [year], "reason": ""}
    world.answer(assignment, edit)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)


def pair_of(world: World) -> Batch:
    """A batch in which two changed examples of one question are rated side by side."""
    change(world, "ada", "1996")
    change(world, "bo", "2006")
    return world.batch("perturbation_rating", of="perturbed", overlap=1)


def _page(world: World, client: Client, batch: Batch, who: str) -> str:
    client.force_login(world.people[who])
    return f"/batches/{batch.public_id}/annotate/"
