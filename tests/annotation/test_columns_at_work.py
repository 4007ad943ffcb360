"""Own columns of an import at work: shown to annotators, kept in proportion by samples, groups of agreement."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Batch, Item
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report
from annotation.queue import sampling
from annotation.web.forms.batches import BatchForm
from annotation.workflow import batches, task_types
from tableqa import Example, Table
from tasks.contract import task_type
from tasks.shared.defined_types import task_of
from tasks.shared.type_definitions import definition_faults
from tests.annotation.cast import NOON, World
from tests.annotation.test_explorer import browser, text

pytestmark = pytest.mark.both

FILMS = Table(["Film", "Year"], [["Heat", "1995"]])
CITIES = Table(["City", "Country", "People"], [["Rome", "Italy", "3"], ["Oslo", "Norway", "1"]])
META: list[dict[str, Any]] = [
    {"domain": "films", "level": 10, "tags": ["a", "b"], "by": {"id": 7}},
    {"domain": "cities", "level": 2, "tags": ["b"]},
    {"domain": "cities", "level": 3.5, "note: long": "x"},
    {"domain": "films", "checked": True},
]


def own_batch(world: World) -> Batch:
    """Four items with the own columns of `META`: 0 and 3 are on a table of films, 1 and 2 on one of cities."""
    source = world.import_written(
        *(
            Example(
                f"e{number}",
                f"Question {number}?",
                FILMS if number in (0, 3) else CITIES,
                ["1995"],
                meta=meta,
            )
            for number, meta in enumerate(META)
        ),
        name="own",
    )
    return world.batch(name="Own", sources=[source], only=[f"e{number}" for number in range(4)])


@pytest.fixture
def batch(world: World) -> Batch:
    return own_batch(world)


def test_a_task_type_shows_the_columns_that_it_names(batch: Batch, world: World) -> None:
    entails = {
        "title": "Entailment",
        "instruction": "Does it follow?",
        "shows": ["question", "meta.domain", "meta.tags"],
        "fields": [{"name": "entailed", "type": "choice", "options": ["yes", "no"]}],
    }
    task = task_of("entailment", entails)
    items = [item.plain() for item in Item.objects.filter(batch=batch).order_by("position")]

    assert task.payload(items[0])["meta"] == {"domain": "films", "tags": "a; b"}
    assert task.payload(items[3])["meta"] == {"domain": "films"}
    assert "level" not in str([task.payload(item) for item in items])


def test_a_batch_of_an_installed_task_type_shows_the_columns_that_it_names(
    batch: Batch, world: World
) -> None:
    source = batch.items.earliest("pk").example.source
    shown = world.batch(sources=[source], only=["e0"], settings={"shows": ["meta.domain", "meta.tags"]})

    page = text(browser(world.ada).get(reverse("annotate", args=[shown.public_id])))

    assert shown.task().payload(shown.items.get().plain())["meta"] == {"domain": "films", "tags": "a; b"}
    assert "a; b" in page
    assert "level" not in shown.task().payload(shown.items.get().plain())["meta"]
    assert "meta" not in batch.task().payload(batch.items.earliest("pk").plain())
    with pytest.raises(ActionRefused, match="shows"):
        world.batch(sources=[source], settings={"shows": ["answers"]})


def test_a_part_that_no_example_has_is_refused_by_name() -> None:
    definition = {
        "title": "T",
        "instruction": "Does it follow?",
        "shows": ["question", "premise", "meta."],
        "fields": [{"name": "entailed", "type": "choice", "options": ["yes", "no"]}],
    }

    faults = definition_faults("t", definition)

    assert [(fault.path, fault.message.split(".")[0]) for fault in faults] == [
        (("shows", 1), "premise is no part of an example"),
        (("shows", 2), "meta"),
    ]


def test_annotators_see_the_columns_beside_the_table(batch: Batch, world: World) -> None:
    entails = {
        "title": "Entailment",
        "instruction": "Does it follow?",
        "shows": ["question", "meta.domain"],
        "fields": [{"name": "entailed", "type": "choice", "options": ["yes", "no"]}],
    }
    task_types.define(project=world.project, name="entailment", data=entails, by=world.mara, now=NOON)
    task = task_types.task_in(world.project, "entailment")
    assert task is not None
    sample = sampling.Sample(sources=[batch.items.get(position=1).example.source])
    shown = batches.plan_batch(
        project=world.project, name="Shown", task=task, sample=sample, by=world.mara, now=NOON
    )
    batches.open_batch(batch=shown, by=world.mara, now=NOON)

    page = text(browser(world.ada).get(reverse("annotate", args=[shown.public_id])))

    assert "domain films" in page


def test_a_sample_keeps_the_share_of_each_value_of_a_column(batch: Batch, world: World) -> None:
    source = world.import_written(
        *(
            Example(
                f"s{number}",
                "Who?",
                FILMS,
                ["1995"],
                meta={"domain": "rare" if number % 10 == 0 else "usual"},
            )
            for number in range(100)
        ),
        name="many",
    )

    keys = sampling.sample([source], seed=3, size=20, strata="meta.domain")

    drawn = [row.more["meta"]["domain"] for row in source.examples.filter(pk__in=keys)]
    assert Counter(drawn) == {"usual": 18, "rare": 2}
    form = BatchForm(task=task_type("question_type"), project=world.project)
    assert ("meta.domain", "by domain, in proportion") in list(form.fields["strata"].choices)  # type: ignore[attr-defined]


def test_agreement_is_given_for_each_value_of_a_column(batch: Batch, world: World) -> None:
    for who, labels in (("ada", "eeee"), ("bo", "eree"), ("cy", "enre")):
        for label in labels:
            world.label(batch, who, {"e": "extraction", "r": "reasoning", "n": "neither"}[label])

    (measure,) = agreement_report.report(batch)["measures"]

    columns = {column["name"]: column["groups"] for column in measure["columns"]}
    assert set(columns) >= {"meta.domain", "meta.level", "meta.tags"}
    by_name = {group["name"]: group for group in columns["meta.domain"]}
    assert by_name["films"]["units"] == by_name["cities"]["units"] == 2
    page = text(browser(world.mara).get(reverse("agreement", args=["films"]), {"column": "meta.domain"}))
    assert "Agreement by domain" in page
    assert "Difference from cities" in page
