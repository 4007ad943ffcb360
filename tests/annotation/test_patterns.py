"""What the database counts gives the same figures as reading every response; rows in bulk come back as they were."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from annotation.imports import example_import
from annotation.models import Annotation, Assignment, Batch, Example, Item, PersonBatchCounts, Slot
from annotation.quality import agreement_report, compared_responses, rating_tallies, response_patterns
from annotation.workflow import assignments
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both

LABELS = ("extraction", "reasoning", "neither", "unanswerable")


def by_rows(batch: Batch) -> list[rating_tallies.Figure]:
    return rating_tallies.figures_of(
        rating_tallies.tallies(
            batch.task(),
            (row[:3] for row in compared_responses.rated_responses(batch)),
            compared_responses.shapes_by_item(batch),
            batch.overlap,
        )
    )


def labelled(world: World, seed: int, items: int = 9) -> Batch:
    """Random labels of people, not all of whom get to everything."""
    draw = random.Random(seed)
    batch = world.batch(overlap=3, size=items)
    for who in ("ada", "bo", "cy"):
        for _ in range(draw.randint(0, items)):
            if world.take(batch, who) is not None:
                world.label(batch, who, draw.choice(LABELS[: draw.randint(1, 4)]))
    return Batch.objects.get(pk=batch.pk)


@pytest.mark.parametrize("seed", range(4))
def test_the_database_counts_what_reading_every_response_gives(world: World, seed: int) -> None:
    batch = labelled(world, seed, items=3)
    assert agreement_report.batch_figures(batch) == by_rows(batch)
    draw = random.Random(seed)
    for item in Item.objects.filter(batch=batch):
        Item.objects.filter(pk=item.pk).update(is_gold=draw.random() < 0.3)
    for place in Slot.objects.filter(batch=batch):
        Slot.objects.filter(pk=place.pk).update(added=draw.random() < 0.3)
    assert agreement_report.batch_figures(batch) == by_rows(batch)


def test_whoever_is_on_no_item_that_is_read_is_counted_all_the_same(world: World) -> None:
    batch = world.batch(overlap=2, size=3)
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
    for who in ("cy", "ada"):
        world.label(batch, who, "extraction")
    found = agreement_report.batch_figures(batch)
    assert found == by_rows(batch)
    assert {figure.raters for figure in found} == {3}


def test_items_of_which_the_same_was_said_are_one_pattern_whoever_said_it(world: World) -> None:
    batch = world.batch(overlap=2, size=3)
    one, other, same = Item.objects.filter(batch=batch).values_list("pk", flat=True)
    labels = {
        "ada": {one: "extraction", other: "reasoning", same: "neither"},
        "bo": {one: "reasoning", other: "extraction", same: "neither"},
    }
    for who, of_items in labels.items():
        while (assignment := world.take(batch, who)) is not None:
            world.answer(assignment, {"label": of_items[assignment.item_id]})
    assert sorted(pattern.items for pattern in response_patterns.count_patterns(batch, submitted=6)) == [1, 2]


def test_what_is_taken_back_has_no_fingerprint_and_what_is_said_instead_another(world: World) -> None:
    batch = world.batch(overlap=1, size=1)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    world.answer(assignment, {"label": "extraction"})
    assignment = world.reload(assignment)
    before = assignment.response_fingerprint
    assert assignment.annotation is not None
    assignments.undo(annotation=assignment.annotation, now=NOON)
    assignment = world.reload(assignment)
    assert assignment.response_fingerprint is None
    world.answer(assignment, {"label": "reasoning"})
    assert world.reload(assignment).response_fingerprint not in (None, before)


def test_a_large_batch_is_asked_about_in_the_same_words(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_patterns, "MANY", 0)
    batch = labelled(world, 7, items=3)
    assert agreement_report.batch_figures(batch) == by_rows(batch)


def test_cells_go_by_every_response(world: World) -> None:
    batch = world.batch("relevant_cells", overlap=2, size=2)
    for who in ("ada", "bo"):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, {"cells": [["r0", "c0"]]})
    assert agreement_report.batch_figures(batch) == by_rows(batch)


def test_odd_texts_come_back_as_they_were(world: World, tmp_path: Path) -> None:
    odd = [
        "tab\there",
        "line\nand\r\nline",
        "back\\slash \\N \\.",
        "\\",
        "ünï\u2028cødé 🂡",
        " ",
        "\x07",
        '"q"',
    ]
    path = tmp_path / "odd.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for number, text in enumerate(odd):
            table = {"header": [text, text], "rows": [[text, "x"]], "title": text}
            line = {"id": f"{number}{text}", "question": text, "answers": [text], "table": table}
            out.write(json.dumps(line | {"meta": {"said": text}}) + "\n")
    done = example_import.import_examples(project=world.project, reader="jsonl", path=path, now=NOON)
    found = list(Example.objects.filter(source=done.source).order_by("position"))
    assert [row.external_id for row in found] == [f"{number}{text}" for number, text in enumerate(odd)]
    for text, row in zip(odd, found, strict=True):
        example = row.example()
        assert (example.question, example.answers, example.meta["said"]) == (text, (text,), text)
        assert (example.table.header, example.table.rows, example.table.title) == (
            (text, text),
            ((text, "x"),),
            text,
        )
        assert example.table.digest() == row.table_digest


def test_tables_that_come_again_stand_once(world: World, tmp_path: Path) -> None:
    path = tmp_path / "again.jsonl"
    table = {"header": ["a", "b"], "rows": [["1", "2"]] * 100}
    other = {"header": ["a", "b"], "rows": [["1", "3"]] * 100}
    with path.open("w", encoding="utf-8") as out:
        for number in range(12):
            given = other if number % 5 == 4 else table
            line = {"id": str(number), "question": "?", "answers": [], "table": given}
            out.write(json.dumps(line) + "\n")
    done = example_import.import_examples(project=world.project, reader="jsonl", path=path, now=NOON)
    assert (done.examples, done.tables) == (12, 2)
    cells = [
        row.table().rows[0][1] for row in Example.objects.filter(source=done.source).order_by("position")
    ]
    assert cells == ["3" if number % 5 == 4 else "2" for number in range(12)]


def test_keys_that_were_reserved_are_given_to_nobody_else(world: World) -> None:
    before = world.batch(overlap=2, size=2)
    world.label(before, "ada", "extraction")
    after = world.batch(overlap=1, size=2)
    world.label(after, "bo", "neither")
    assert Item.objects.filter(batch=after).count() == 2
    assert Slot.objects.filter(batch=before).count() == 4
    assert Assignment.objects.count() == Annotation.objects.count() == 2
    assert PersonBatchCounts.objects.filter(submitted=1).count() == 2
