"""Responses of other annotation tools: previewed, imported whole or not at all, and counted like native ones."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.imports import mapping_file, response_import
from annotation.imports.field_mapping import MOST_VALUES, Column, ImportMapping, Summary
from annotation.imports.response_preview import Preview
from annotation.management.doctor import findings
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Event,
    Example,
    Membership,
    Person,
    Proposal,
    Source,
    TaskTypeDefinition,
)
from annotation.payments import earnings
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report
from annotation.releases import creation, raw_records, restoration, verification
from annotation.releases.raw_records import Raw
from annotation.study_file import current_state
from annotation.workflow import projects
from tests.annotation.cast import NOON, World
from tests.annotation.test_defining import batch_of, define, say
from tests.annotation.test_kinds_judging import EDIT
from tests.annotation.test_restoring import elsewhere, released, require_the_same, restore

TABLE = [["Film", "Year"], ["Heat", "1995"]]


def choice(name: str, *values: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": list(values)}}


def annotation(person: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    at = "2025-05-04T03:02:01Z"
    return {"id": 7, "completed_by": person, "created_at": at, "result": list(results), **more}


def task(number: int, *annotations: dict[str, Any], **data: Any) -> dict[str, Any]:
    shown = {"question": f"when ({number})?", "table": TABLE, "answers": ["1995"], **data}
    return {"id": number, "data": shown, "annotations": list(annotations)}


def label_studio(folder: Path, *tasks: dict[str, Any]) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(list(tasks)), "utf-8")
    return path


def prodigy(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "films.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def mapped(world: World, path: Path, tool: str, function: Any, **mapping: Any) -> Preview:
    parsed = mapping_file.parse(mapping)
    preview: Preview = function(
        project=world.project, path=path, tool=tool, mapping=parsed, by=world.mara, now=NOON
    )
    return preview


def write(world: World, path: Path, tool: str = "label_studio", **mapping: Any) -> Preview:
    return mapped(world, path, tool, response_import.write, **mapping)


def look(world: World, path: Path, tool: str = "label_studio", **mapping: Any) -> Preview:
    return mapped(world, path, tool, response_import.look, **mapping)


def labels() -> list[tuple[str, dict[str, Any]]]:
    rows = Annotation.objects.order_by("assignment__person__name", "assignment__item__example__external_id")
    return [(row.assignment.person.name, (row.response or {})["data"]) for row in rows]


def counted() -> list[int]:
    tables = (Annotation, Assignment, Batch, Event, Membership, Person, Source, TaskTypeDefinition)
    return [table._default_manager.count() for table in tables]


@pytest.fixture
def two_people(tmp_path: Path) -> Path:
    """Two tasks, two annotators, one disagreement, in the labels of an installed task type."""
    xenia = {"id": 1, "email": "xenia@example.org"}
    return label_studio(
        tmp_path,
        task(
            1, annotation(xenia, choice("label", "extraction")), annotation(2, choice("label", "extraction"))
        ),
        task(
            2, annotation(xenia, choice("label", "reasoning")), annotation(2, choice("label", "extraction"))
        ),
    )


def test_people_labels_and_times_of_label_studio_are_those_of_the_file(
    world: World, two_people: Path
) -> None:
    done = write(world, two_people)

    assert (done.imported, done.items, done.is_new_type) == (4, 2, False)
    assert labels() == [
        ("2", {"label": "extraction"}),
        ("2", {"label": "extraction"}),
        ("xenia@example.org", {"label": "extraction"}),
        ("xenia@example.org", {"label": "reasoning"}),
    ]
    assert set(Annotation.objects.values_list("made_at", flat=True)) == {
        datetime(2025, 5, 4, 3, 2, 1, tzinfo=UTC)
    }
    batch = Batch.objects.get()
    assert (batch.task_type, batch.state, batch.overlap) == ("question_type", "closed", 2)
    assert list(findings()) == []


def test_agreement_is_computed_as_for_native_labels(world: World, two_people: Path) -> None:
    write(world, two_people)
    imported = agreement_report.batch_figures(Batch.objects.get())

    native = world.batch(size=2, overlap=2)
    for who, given in (("ada", ("extraction", "reasoning")), ("bo", ("extraction", "extraction"))):
        for label in given:
            world.label(native, who, label)

    assert imported == agreement_report.batch_figures(native)


def test_the_audit_log_says_where_a_response_comes_from(world: World, two_people: Path) -> None:
    done = write(world, two_people)

    details = list(Event.objects.filter(thing="assignment").values_list("detail", flat=True))
    expected = {
        "tool": "label_studio",
        "file": done.checksum,
        "id": "7",
        "at": "2025-05-04T03:02:01+00:00",
    }
    assert details == [expected] * 4


def test_a_release_and_its_restored_project_say_where_a_response_comes_from(
    world: World, two_people: Path, tmp_path: Path
) -> None:
    done = write(world, two_people)
    expected = {
        "tool": "label_studio",
        "file": done.checksum,
        "id": "7",
        "at": "2025-05-04T03:02:01+00:00",
    }
    folder = tmp_path / "v1"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON, out=folder)
    again = projects.create_project(slug="again", name="Again", manager=world.mara, now=NOON)

    restoration.restore(project=again, folder=folder, by=world.mara, now=NOON)

    assert [one["imported"] for one in raw_records.load(folder).annotations] == [expected] * 4
    restored = Annotation.objects.filter(assignment__batch__project=again)
    assert list(restored.values_list("event__detail", flat=True)) == [expected] * 4


@pytest.fixture
def timed(tmp_path: Path) -> Path:
    """Two tasks: xenia took 30 and 50 seconds, and of the others nobody knows how long they took."""
    xenia = {"id": 1, "email": "xenia@example.org"}
    label = choice("label", "extraction")
    return label_studio(
        tmp_path,
        task(1, annotation(xenia, label, lead_time=30.0), annotation(2, label, lead_time=None)),
        task(2, annotation(xenia, label, lead_time=50), annotation(2, label)),
    )


def test_the_seconds_of_label_studio_are_kept_with_the_response(world: World, timed: Path) -> None:
    write(world, timed)

    for rows in (
        Annotation.objects.values_list("active_seconds", flat=True),
        Assignment.objects.values_list("active_seconds", flat=True),
    ):
        assert sorted(rows) == [0.0, 0.0, 30.0, 50.0]
    assert list(findings()) == []


def test_a_study_file_notes_the_sources_of_imported_responses(world: World, timed: Path) -> None:
    write(world, timed)

    standing_now = current_state.of_project(world.project, now=NOON)

    source = Batch.objects.get().items.all()[0].example.source
    [note] = [note for note in standing_now.notes if source.name in note]
    assert "A study file imports no responses" in note
    assert timed.name in note
    [written] = [one for one in standing_now.study.sources if one.name == source.name]
    assert not written.path


def test_responses_without_a_known_time_are_left_out_of_averages(world: World, timed: Path) -> None:
    write(world, timed)

    pace = current_state.of_project(world.project, now=NOON).paces["question_type", "", False]

    assert (pace.seconds, pace.of) == (40.0, 2)


def test_imported_time_is_not_paid(world: World, timed: Path) -> None:
    write(world, timed)

    assert earnings.sum_shares(earnings.of_batch(Batch.objects.get())).amounts == {}


def test_a_restored_project_makes_the_same_release_of_imported_times(
    world: World, timed: Path, tmp_path: Path
) -> None:
    with elsewhere():
        write(world, timed)
        before = released(world.project, tmp_path / "before")

    after = released(restore(before).project, tmp_path / "after")

    lines = raw_records.load(before).annotations
    assert sorted(line["active_seconds"] for line in lines) == [0.0, 0.0, 30.0, 50.0]
    require_the_same(before, after)


@pytest.mark.parametrize("seconds", [-3, 20_200_101])
def test_a_duration_that_no_response_has_is_unknown_and_counted(
    world: World, tmp_path: Path, seconds: int
) -> None:
    label = choice("label", "extraction")
    path = label_studio(tmp_path, task(1, annotation(1, label, lead_time=seconds)))

    done = write(world, path)

    assert Annotation.objects.get().active_seconds == 0
    assert done.losses == [(1, "durations that are negative or longer than a week")]


def test_imported_people_cannot_sign_in(world: World, two_people: Path) -> None:
    write(world, two_people)

    people = Person.objects.filter(is_external=True)
    assert people.count() == 2
    assert not any(person.is_active or person.email for person in people)


def test_a_preview_shows_the_import_and_writes_nothing(world: World, two_people: Path) -> None:
    before = counted()

    preview = look(world, two_people)

    assert counted() == before
    assert (preview.imported, preview.items, preview.problems) == (4, 2, [])
    assert preview.people == [("2", "2", 2), ("xenia@example.org", "xenia@example.org", 2)]
    assert preview.summary.columns["label"].values == {"extraction": 3, "reasoning": 1}
    assert preview.mapping.task_type == "question_type"
    assert [example.question for example in preview.examples] == ["when (1)?", "when (2)?"]


def test_people_and_values_get_the_names_of_the_mapping(world: World, tmp_path: Path) -> None:
    path = label_studio(
        tmp_path, task(1, annotation(1, choice("kind", "EQ")), annotation(2, choice("kind", "RQ")))
    )

    write(
        world,
        path,
        task_type="question_type",
        fields={"kind": "label"},
        values={"kind": {"EQ": "extraction", "RQ": "reasoning"}},
        people={"1": "Xenia", "2": "Yuri"},
    )

    assert labels() == [("Xenia", {"label": "extraction"}), ("Yuri", {"label": "reasoning"})]


def test_a_field_that_fits_no_task_type_makes_one(world: World, tmp_path: Path) -> None:
    several = choice("topics", "sport", "film")
    stars = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
    why = {"from_name": "why", "type": "textarea", "value": {"text": ["clear", "short"]}}
    path = label_studio(
        tmp_path,
        task(1, annotation(1, choice("tone", "kind"), several, stars, why)),
        task(2, annotation(1, choice("tone", "harsh"), choice("topics", "film"), {**stars})),
    )

    done = write(world, path)

    definition = TaskTypeDefinition.objects.get()
    types = {one["name"]: one["type"] for one in definition.data["fields"]}
    assert types == {"tone": "choice", "topics": "multi_choice", "stars": "scale", "why": "text"}
    assert definition.data["fields"][3]["optional"] is True
    assert done.is_new_type
    first, second = (data for _, data in labels())
    assert first == {"tone": "kind", "topics": ["film", "sport"], "stars": 4, "why": "clear\nshort"}
    assert second == {"tone": "harsh", "topics": ["film"], "stars": 4, "why": ""}


def test_what_is_lost_is_counted(world: World, tmp_path: Path) -> None:
    span = {"from_name": "span", "type": "rectangle", "value": {"x": 1, "y": 1, "width": 2, "height": 3}}
    path = label_studio(
        tmp_path,
        task(1, annotation(1, choice("label", "neither"), span), annotation(2, was_cancelled=True)),
    )

    losses = look(world, path).losses

    assert losses == [
        (1, "values of the field span (rectangle)"),
        (1, "skipped (cancelled) annotations"),
    ]


def ranker(**buckets: list[str]) -> dict[str, Any]:
    return {"from_name": "best", "to_name": "text", "type": "ranker", "value": {"ranker": buckets}}


def test_the_order_of_a_ranker_is_a_ranking(world: World, tmp_path: Path) -> None:
    orders = (["b", "a", "c"], ["a", "b", "c"])
    annotations = (annotation(number, ranker(rank=order)) for number, order in enumerate(orders))

    write(world, label_studio(tmp_path, task(1, *annotations)))

    (field,) = TaskTypeDefinition.objects.get().data["fields"]
    assert (field["type"], field["options"]) == ("rank", ["a", "b", "c"])
    assert [data for _, data in labels()] == [{"best": order} for order in orders]


def test_items_that_a_ranker_sorts_into_buckets_are_counted_as_such(world: World, tmp_path: Path) -> None:
    sorted_items = ranker(good=["a"], bad=["b"])
    path = label_studio(tmp_path, task(1, annotation(1, choice("label", "extraction"), sorted_items)))

    assert look(world, path).losses == [(1, "items sorted into buckets")]


def test_the_field_that_json_min_lacks_is_named(world: World, tmp_path: Path) -> None:
    lines = {"id": 1, "question": "when?", "label": "extraction"}

    with pytest.raises(
        ActionRefused, match=r"record 1: the field data is missing\. Export the project as JSON, not"
    ):
        write(world, label_studio(tmp_path, lines))


def test_the_field_of_a_bad_time_is_named(world: World, tmp_path: Path) -> None:
    bad = annotation(1, choice("label", "extraction"), created_at="yesterday")

    with pytest.raises(
        ActionRefused, match=r"annotations\[0\]: created_at is not a time: 'yesterday'\. Write it as 2026"
    ):
        write(world, label_studio(tmp_path, task(1, bad)))


def test_a_file_of_spans_says_what_is_not_read_and_what_is(world: World, tmp_path: Path) -> None:
    path = tmp_path / "ada.jsonl"
    span = json.dumps([0, 4, "F" * 10_000])
    path.write_text(f'{{"id": 1, "text": "Heat", "label": [{span}]}}\n', "utf-8")

    with pytest.raises(ActionRefused) as refused:
        write(world, path, "doccano")

    assert refused.value.detail == (
        "ada.jsonl has no responses that can be imported. Not read: values of the field label (spans) (1). "
        "Choices, numbers, rankings and texts are read."
    )


def test_a_file_of_predictions_alone_says_what_to_do(world: World, tmp_path: Path) -> None:
    result = [choice("label", "extraction")]
    only_predicted = {**task(1), "predictions": [{"model_version": "m", "score": 0.5, "result": result}]}

    with pytest.raises(
        ActionRefused,
        match=r"export\.json has predictions of models, but no responses of people \(tasks: 1\)\. To keep",
    ):
        write(world, label_studio(tmp_path, only_predicted))


def test_nothing_is_imported_if_one_response_is_invalid(world: World, tmp_path: Path) -> None:
    path = label_studio(
        tmp_path, task(1, annotation(1, choice("label", "extraction")), annotation(2, choice("label", "hm")))
    )
    before = counted()

    with pytest.raises(
        ActionRefused, match=r"export.json, line 1: .*task 1, response 7: label: Choose one of: extraction"
    ):
        write(world, path, task_type="question_type")

    assert counted() == before


def test_a_task_without_a_table_names_record_and_remedy(world: World, tmp_path: Path) -> None:
    given = task(1, annotation(1, choice("label", "extraction")))
    del given["data"]["table"]
    before = counted()

    with pytest.raises(ActionRefused, match=r"record 1, data: there is no table.*Enter it under Field names"):
        write(world, label_studio(tmp_path, given))

    assert counted() == before


def test_responses_to_examples_of_the_project_need_no_table(world: World, tmp_path: Path) -> None:
    path = prodigy(
        tmp_path,
        {
            "id": "nu-0",
            "text": "when?",
            "answer": "accept",
            "accept": ["extraction"],
            "options": [],
            "_annotator_id": "x",
        },
    )

    write(
        world,
        path,
        "prodigy",
        source=world.source.name,
        task_type="question_type",
        fields={"accept": "label"},
    )

    assert Source.objects.count() == 1
    assert labels() == [("x", {"label": "extraction"})]


def test_choices_people_and_times_of_prodigy_are_read(world: World, tmp_path: Path) -> None:
    shown = {
        "question": "when?",
        "table": TABLE,
        "options": [{"id": "easy"}, {"id": "hard"}],
        "_task_hash": -5,
    }
    path = prodigy(
        tmp_path,
        {
            **shown,
            "accept": ["easy"],
            "answer": "accept",
            "_annotator_id": "films-ada",
            "_timestamp": 1746327721,
        },
        {
            **shown,
            "accept": ["hard"],
            "answer": "accept",
            "_annotator_id": "films-bo",
            "_timestamp": 1746327722,
        },
        {**shown, "answer": "ignore", "_annotator_id": "films-cy"},
    )

    done = write(world, path, "prodigy")

    assert labels() == [("films-ada", {"accept": "easy"}), ("films-bo", {"accept": "hard"})]
    assert done.losses == [(1, "ignored tasks")]
    assert Annotation.objects.earliest("made_at").made_at == datetime(2025, 5, 4, 3, 2, 1, tzinfo=UTC)


def test_tasks_about_one_example_of_a_source_lose_no_response(world: World, tmp_path: Path) -> None:
    write(world, label_studio(tmp_path, task(1, annotation("xenia", choice("why", "ok")))), source="lent")
    twice = [task(1, annotation(who, choice("why", "no"))) for who in ("yuri", "zoe")]
    preview = write(world, label_studio(tmp_path, *twice), source="lent", batch="second")

    assert (preview.imported, preview.items, preview.problems) == (2, 1, [])
    people = Assignment.objects.filter(batch=preview.batch).values_list("person__name", flat=True)
    assert sorted(people) == ["yuri", "zoe"]

    same = [task(1, annotation("yuri", choice("why", value))) for value in ("no", "ok")]
    (problem,) = look(world, label_studio(tmp_path, *same), source="lent", batch="third").problems
    assert "yuri already has a response to this example" in problem.what


def test_an_option_of_readers_is_no_part_of_a_mapping(world: World, two_people: Path) -> None:
    with pytest.raises(ActionRefused, match=r"no part 'missing' of an example; .* are id, question"):
        write(world, two_people, parts={"missing": "empty"})


def test_the_same_file_again_is_refused_and_adds_nothing(world: World, two_people: Path) -> None:
    write(world, two_people)
    before = counted()

    with pytest.raises(ActionRefused, match="already has a batch 'Label Studio: export'"):
        write(world, two_people)

    assert counted() == before


def exported(world: World, folder: Path) -> tuple[Batch, Raw]:
    """A release of a batch in which two people answered three items."""
    batch = world.batch(overlap=2, size=3)
    for who in ("ada", "bo"):
        for label in ("extraction", "reasoning", "neither"):
            world.label(batch, who, label)
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON, out=folder)
    return batch, raw_records.load(folder)


def sent_out(world: World, folder: Path, tool: str) -> Path:
    """The export for a tool of a batch that Ada and a simulated Bo annotated."""
    Person.objects.filter(pk=world.bo.pk).update(is_simulated=True)
    batch = world.batch(overlap=2, size=1)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    creation.make_release(
        project=world.project,
        name="v1",
        format="askew",
        allow_simulated=True,
        by=None,
        now=NOON,
        out=folder / "release",
    )
    call_command("export_release", folder / "release", folder / "out", "--to", tool)
    return folder / "out" / (f"{batch.public_id}.json" if tool == "label_studio" else batch.public_id)


def pseudonym_of(world: World, person: Person) -> str:
    return world.project.memberships.get(person=person).pseudonym


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_simulated_people_of_own_exports_are_simulated_again(world: World, tmp_path: Path, tool: str) -> None:
    path = sent_out(world, tmp_path, tool)

    preview = write(world, path, tool, batch="back")

    people = Person.objects.filter(is_external=True)
    expected = {pseudonym_of(world, world.ada): False, pseudonym_of(world, world.bo): True}
    assert dict(people.values_list("name", "is_simulated")) == expected
    assert preview.summary.simulated == {pseudonym_of(world, world.bo)}
    with pytest.raises(ActionRefused, match="simulated"):
        creation.make_release(project=world.project, name="v2", format="askew", by=None, now=NOON)
    assert list(findings()) == []


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_own_exports_bring_licence_citation_and_url_of_their_source(
    world: World, tmp_path: Path, tool: str
) -> None:
    path = sent_out(world, tmp_path, tool)

    preview = look(world, path, tool)
    write(world, path, tool, source="back")

    original, back = world.source, Source.objects.get(name="back")
    expected = (original.licence, original.citation, original.url)
    assert all(expected)
    assert (preview.mapping.licence, preview.mapping.citation, preview.mapping.url) == expected
    assert (back.licence, back.citation, back.url) == expected
    example = back.examples.get()
    assert "credit" not in json.dumps(example.more)


def records_of_argilla(folder: Path, question: str, *values: Any) -> Path:
    """Two records that each value's person answered, without the settings of the dataset."""
    responses = [{"value": value, "user_id": f"u{number}"} for number, value in enumerate(values)]
    fields = {"question": "when?", "table": TABLE, "answer": "1995"}
    records = [{"id": id, "fields": fields, "responses": {question: responses}} for id in ("1", "2")]
    path = folder / "records.json"
    path.write_text(json.dumps(records), "utf-8")
    return path


def test_lists_of_the_same_values_in_different_orders_are_a_ranking(world: World, tmp_path: Path) -> None:
    path = records_of_argilla(tmp_path, "best", ["b", "a", "c"], ["a", "b", "c"])

    write(world, path, "argilla")

    (field,) = TaskTypeDefinition.objects.get().data["fields"]
    assert (field["type"], field["options"]) == ("rank", ["a", "b", "c"])
    assert {tuple(data["best"]) for _, data in labels()} == {("b", "a", "c"), ("a", "b", "c")}


@pytest.mark.parametrize(
    "values", [(["a", "b"], ["a", "b"]), (["a", "b"], ["b"]), (["a"], ["a"]), (["a", "b"], ["b", "a"], ["a"])]
)
def test_other_lists_are_several_choices(world: World, tmp_path: Path, values: Any) -> None:
    write(world, records_of_argilla(tmp_path, "which", *values), "argilla")

    (field,) = TaskTypeDefinition.objects.get().data["fields"]
    assert field["type"] == "multi_choice"


def test_a_ranking_fits_a_task_type_of_the_project_with_its_options(world: World, tmp_path: Path) -> None:
    fields = [{"name": "best", "type": "rank", "options": ["a", "b", "c"]}]
    row = define(world, fields=fields, agreement={"best": ["spearman"]})

    preview = look(world, records_of_argilla(tmp_path, "best", ["b", "a", "c"], ["a", "b", "c"]), "argilla")

    assert (preview.mapping.task_type, preview.is_new_type) == (row.name, False)


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_own_exports_whose_fields_a_mapping_renames_keep_the_types_of_their_values(
    world: World, tmp_path: Path, tool: str
) -> None:
    row = define(world, title="Level", fields=RICH_FIELDS, agreement={"level": ["fleiss"]}, practice=[])
    batch = batch_of(world, row, overlap=2, size=1)
    for who, data in zip(("ada", "bo"), RICH_RESPONSES, strict=True):
        say(world, batch, who, data)
    folder, out = tmp_path / "release", tmp_path / "out"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON, out=folder)
    call_command("export_release", folder, out, "--to", tool)
    empty = projects.create_project(slug="empty", name="Empty", manager=world.mara, now=NOON)
    path = out / f"{batch.public_id}{'.json' if tool == 'label_studio' else ''}"
    mapping = mapping_file.parse({"source": "films", "batch": "back", "fields": {"level": "difficulty"}})

    response_import.write(project=empty, path=path, tool=tool, mapping=mapping, by=world.mara, now=NOON)

    fields = TaskTypeDefinition.objects.get(project=empty).data["fields"]
    types = {field["name"]: (field["type"], field.get("optional", False)) for field in fields}
    assert types == {
        "difficulty": ("choice", False),
        "reasons": ("multi_choice", True),
        "evidence": ("cells", False),
        "quality": ("scale", True),
        "rank3": ("rank", False),
        "share": ("number", False),
        "comment": ("text", True),
    }


@pytest.mark.parametrize("credit", ["MIT", {"licence": 3}, {"licence": None}, ["MIT"]])
def test_a_credit_of_another_form_is_no_credit(world: World, tmp_path: Path, credit: Any) -> None:
    tasks = task(1, annotation(1, choice("label", "extraction")))
    tasks["meta"] = {"credit": credit}

    write(world, label_studio(tmp_path, tasks), source="back")

    assert Source.objects.get(name="back").licence == "NOASSERTION"


def test_a_licence_of_a_file_that_is_none_is_a_problem(world: World, tmp_path: Path) -> None:
    tasks = task(1, annotation(1, choice("label", "extraction")))
    tasks["meta"] = {"credit": {"licence": "ask us"}}

    (problem,) = look(world, label_studio(tmp_path, tasks)).problems

    assert "'ask us' is no SPDX identifier" in problem.what


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_changes_of_exported_responses_are_counted_as_not_imported(
    world: World, tmp_path: Path, tool: str
) -> None:
    path = sent_out(world, tmp_path, tool)
    file = path / "records.json" if tool == "argilla" else path
    text = file.read_text("utf-8")
    before, after = (
        ('{"value": "extraction"', '{"value": "neither"')
        if tool == "argilla"
        else (
            '["extraction"]',
            '["neither"]',
        )
    )
    assert text.count(before) == 1
    file.write_text(text.replace(before, after), "utf-8")

    preview = look(world, path, tool)

    assert (1, "changes of exported responses (the response of Askew is imported)") in preview.losses


def test_a_name_is_not_both_a_person_and_a_program(world: World, tmp_path: Path) -> None:
    path = sent_out(world, tmp_path, "label_studio")
    bo = pseudonym_of(world, world.bo)
    Person.objects.create_person(bo, is_external=True, is_active=False).memberships.create(
        project=world.project
    )

    preview = look(world, path)
    renamed = look(world, path, people={bo: "a program"})

    (problem,) = preview.problems
    assert "is simulated in this line, and a person in other lines" in problem.what
    assert renamed.problems == []


def test_the_command_names_simulated_people(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sent_out(world, tmp_path, "label_studio")

    call_command("import_responses", str(path), project="films", tool="label_studio", look=True)

    assert f"Person {pseudonym_of(world, world.bo)} (simulated) -> " in capsys.readouterr().out


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_own_exports_for_other_tools_come_back_without_loss(world: World, tmp_path: Path, tool: str) -> None:
    batch, raw = exported(world, tmp_path / "release")
    out = tmp_path / "out"
    call_command("export_release", tmp_path / "release", out, "--to", tool)
    path = out / (f"{batch.public_id}.json" if tool == "label_studio" else batch.public_id)

    preview = write(world, path, tool, batch="back")

    assert preview.losses == []
    rows = Annotation.objects.filter(assignment__batch__name="back")
    assert sorted(
        (
            one["annotator"],
            one["example"],
            json.dumps(one["response"]["data"]),
            one["made_at"],
            one["active_seconds"],
        )
        for one in raw.annotations
    ) == sorted(
        (
            row.assignment.person.name,
            row.assignment.item.example.external_id,
            json.dumps((row.response or {})["data"]),
            row.made_at.isoformat(),
            row.active_seconds,
        )
        for row in rows
    )


def test_the_command_previews_writes_the_mapping_and_imports(
    world: World, two_people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = [str(two_people), "--project", "films", "--tool", "label_studio"]
    mapping = tmp_path / "map.yaml"

    call_command("import_responses", *common, "--write-map", str(mapping))
    mapping.write_text(
        mapping.read_text("utf-8").replace("xenia@example.org: xenia@example.org", "xenia@example.org: Xenia")
    )
    call_command("import_responses", *common, "--map", str(mapping))

    assert "Field label -> label: extraction (3), reasoning (1)" in capsys.readouterr().out
    assert {name for name, _ in labels()} == {"2", "Xenia"}


def test_an_unknown_key_of_the_mapping_is_named(world: World, two_people: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "map.yaml"
    mapping.write_text("field: {a: b}\n")

    with pytest.raises(CommandError, match="no key 'field'"):
        call_command(
            "import_responses",
            str(two_people),
            "--project",
            "films",
            "--tool",
            "label_studio",
            "--map",
            str(mapping),
        )


RULES = {"model_version": "rules", "score": 0.5, "result": [choice("label", "extraction")]}


def predicted(folder: Path, *predictions: Any) -> Path:
    one = task(1, annotation(1, choice("label", "extraction")))
    return label_studio(folder, {**one, "predictions": list(predictions)})


MODEL = {
    "model_version": "tapas-large 2",
    "score": 0.75,
    "created_at": "2025-05-04T03:02:01Z",
    "result": [choice("label", "reasoning")],
}


def test_predictions_become_proposals_and_stay_with_the_examples(world: World, tmp_path: Path) -> None:
    done = write(world, predicted(tmp_path, RULES, MODEL))

    assert (done.proposals, done.losses) == (2, [])
    made = list(Proposal.objects.order_by("score").values_list("source", "maker", "score", "data"))
    assert made == [
        ("rules", "rules", 0.5, {"label": "extraction"}),
        ("model", "tapas-large 2", 0.75, {"label": "reasoning"}),
    ]
    assert Proposal.objects.get(source="model").made_at == datetime(2025, 5, 4, 3, 2, 1, tzinfo=UTC)
    assert findings() == []
    example = Example.objects.get(source__name=done.mapping.source)
    assert example.more["meta"]["label_studio"] == {"predictions": [RULES, MODEL]}


def test_proposals_of_an_import_are_in_the_release_and_go_back_to_label_studio(
    world: World, tmp_path: Path
) -> None:
    done = write(world, predicted(tmp_path, RULES, MODEL))
    assert done.batch is not None
    folder, out = tmp_path / "release", tmp_path / "out"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON, out=folder)

    verification.verify(folder)
    call_command("export_release", folder, out, "--to", "label_studio")

    path = out / f"{done.batch.public_id}.json"
    (task_out,) = json.loads(path.read_text("utf-8"))
    assert [(one["model_version"], one["score"]) for one in task_out["predictions"]] == [
        ("rules", 0.5),
        ("tapas-large 2", 0.75),
    ]
    again = write(world, path, batch="back", source="back")
    assert (again.proposals, again.losses) == (2, [])
    project = projects.create_project(slug="again", name="Again", manager=world.mara, now=NOON)
    restoration.restore(project=project, folder=folder, by=world.mara, now=NOON)
    assert Proposal.objects.filter(item__batch__project=project).count() == 2


def test_a_label_that_only_a_model_gave_is_an_option_of_the_new_task_type(
    world: World, tmp_path: Path
) -> None:
    one = task(1, annotation(1, choice("colour", "red")))
    said = {"model_version": "m", "result": [choice("colour", "blue")]}

    done = write(world, label_studio(tmp_path, {**one, "predictions": [said]}))

    (made,) = TaskTypeDefinition.objects.get().data["fields"]
    assert made["options"] == ["blue", "red"]
    assert (done.proposals, done.losses) == (1, [])


@pytest.mark.parametrize(
    "prediction",
    [
        {**MODEL, "result": [choice("label", "no such label")]},
        {**MODEL, "result": []},
        {**MODEL, "result": "nothing"},
        {**MODEL, "result": [{**choice("label", "x"), "value": 3}]},
        {**MODEL, "model_version": 7},
        {**MODEL, "created_at": "yesterday"},
    ],
)
def test_a_prediction_that_is_no_response_stays_with_the_example_and_stops_no_import(
    world: World, tmp_path: Path, prediction: dict[str, Any]
) -> None:
    done = write(world, predicted(tmp_path, prediction))

    assert (done.imported, done.proposals) == (1, 0)
    assert done.losses == [(1, "predictions of models (they stay in the meta of the examples)")]
    example = Example.objects.get(source__name=done.mapping.source)
    assert example.more["meta"]["label_studio"] == {"predictions": [prediction]}


def test_predictions_of_which_the_file_has_only_the_number_are_a_loss(world: World, tmp_path: Path) -> None:
    preview = look(world, predicted(tmp_path, 17, 18))

    assert preview.losses == [(2, "predictions of models of which the file has only the number")]


def test_predictions_become_proposals_where_an_existing_source_lends_its_examples(
    world: World, tmp_path: Path
) -> None:
    write(world, predicted(tmp_path, RULES), source="tasks", batch="first")
    wrong = {**MODEL, "result": [choice("label", "no such label")]}

    preview = look(world, predicted(tmp_path, MODEL, wrong), source="tasks", batch="second")

    assert preview.proposals == 1
    assert preview.losses == [(1, "predictions of models")]
    assert Proposal.objects.count() == 1, "a preview writes nothing"


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_own_exports_of_a_task_type_with_variants_come_back(world: World, tmp_path: Path, tool: str) -> None:
    batch = world.batch("value_change", variant="answer_changes", settings={"at_most": 1}, only=["nu-0"])
    assignment = world.take(batch, "ada")
    assert assignment is not None
    world.answer(assignment, EDIT)
    folder, out = tmp_path / "release", tmp_path / "out"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON, out=folder)
    call_command("export_release", folder, out, "--to", tool)

    write(world, out / f"{batch.public_id}{'.json' if tool == 'label_studio' else ''}", tool, batch="back")

    back = Batch.objects.get(name="back")
    assert (back.task_type, back.variant, back.settings) == (batch.task_type, batch.variant, batch.settings)
    given, original = (Annotation.objects.get(assignment__batch=one).response for one in (back, batch))
    assert (given or {})["data"] == (original or {})["data"]


RICH_FIELDS: list[dict[str, Any]] = [
    {"name": "level", "type": "choice", "options": ["easy", "hard"]},
    {"name": "reasons", "type": "multi_choice", "options": ["long", "wide"], "when": "level == hard"},
    {"name": "evidence", "type": "cells"},
    {"name": "quality", "type": "scale", "min": 0, "max": 7, "optional": True},
    {"name": "rank3", "type": "rank", "options": ["a", "b", "c"]},
    {"name": "share", "type": "number", "max": 1000000},
    {"name": "comment", "type": "text", "optional": True},
]
RICH_RESPONSES: list[dict[str, Any]] = [
    {"level": "easy", "evidence": [["r0", "c0"]], "quality": 7, "rank3": ["c", "a", "b"], "share": -0.25},
    {
        "level": "hard",
        "reasons": ["long"],
        "evidence": [["r0", "c1"]],
        "rank3": ["a", "b", "c"],
        "share": 1000000,
    },
]


def data_of(batch: Batch) -> list[str]:
    rows = Annotation.objects.filter(assignment__batch=batch)
    return sorted(json.dumps((row.response or {})["data"]) for row in rows)


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_own_exports_bring_their_definition_into_an_empty_project(
    world: World, tmp_path: Path, tool: str
) -> None:
    fields = {"title": {"en": "Level", "de": "Stufe"}, "fields": RICH_FIELDS}
    row = define(world, **fields, practice=[], guidelines="Look.")
    batch = batch_of(world, row, overlap=2, size=1)
    for who, data in zip(("ada", "bo"), RICH_RESPONSES, strict=True):
        say(world, batch, who, data)
    folder, out = tmp_path / "release", tmp_path / "out"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON, out=folder)
    call_command("export_release", folder, out, "--to", tool)
    empty = projects.create_project(slug="empty", name="Empty", manager=world.mara, now=NOON)
    path = out / f"{batch.public_id}{'.json' if tool == 'label_studio' else ''}"
    mapping = mapping_file.parse({"source": "films", "batch": "back"})

    preview = response_import.write(
        project=empty, path=path, tool=tool, mapping=mapping, by=world.mara, now=NOON
    )

    assert (preview.imported, preview.is_new_type, preview.losses) == (2, True, [])
    back = TaskTypeDefinition.objects.get(project=empty)
    uncarried = ("guidelines", "practice")
    assert (back.name, back.data) == (row.name, {k: v for k, v in row.data.items() if k not in uncarried})
    assert data_of(Batch.objects.get(name="back")) == data_of(batch)
    again = mapping_file.parse(mapping_file.as_data(preview.mapping) | {"batch": "again"})
    second = response_import.look(project=empty, path=path, tool=tool, mapping=again, by=world.mara, now=NOON)
    assert second.problems == []


def test_a_definition_with_faults_in_an_export_is_refused_with_them(world: World, tmp_path: Path) -> None:
    tasks = task(1, annotation(1, choice("level", "easy")))
    definition = {"title": "Level", "instruction": "Look", "fields": [{"name": "level", "type": "choice"}]}
    tasks["meta"] = {"task_type": "level", "definition": definition}

    with pytest.raises(ActionRefused, match=r"level: .*needs `options`"):
        write(world, label_studio(tmp_path, tasks))


def test_a_mapping_that_renames_a_field_leaves_the_definition_of_the_file(
    world: World, tmp_path: Path
) -> None:
    tasks = task(1, annotation(1, choice("level", "easy")))
    field = {"name": "level", "type": "choice", "options": ["easy", "hard"]}
    definition = {"title": "Level", "instruction": "Look", "fields": [field]}
    tasks["meta"] = {"task_type": "level", "definition": definition}

    write(world, label_studio(tmp_path, tasks), fields={"level": "difficulty"})

    (made,) = TaskTypeDefinition.objects.get().data["fields"]
    assert made["name"] == "difficulty"


def test_a_page_keeps_the_frequent_values_of_a_field_and_the_number_of_the_others() -> None:
    column = Column("label", natures={"text"}, values=Counter({f"v{count}": count for count in range(1, 46)}))
    preview = Preview("a.json", "label_studio", Summary(columns={"label": column}), ImportMapping())

    read = Preview.from_data(json.loads(json.dumps(preview.as_data())))

    shown = read.summary.columns["label"]
    assert (len(shown.values), shown.left_out, next(iter(shown.values))) == (MOST_VALUES, 5, "v45")
    assert replace(read, summary=preview.summary) == preview
    assert len(column.values) == 45, "the preview itself is whole"


def test_the_metadata_of_a_release_names_the_tools_and_not_askew(
    world: World, two_people: Path, tmp_path: Path
) -> None:
    nobody = tmp_path / "v0"
    creation.make_release(project=world.project, name="v0", format="hf", by=None, now=NOON, out=nobody)
    assert "Nobody annotated." in (nobody / "DATA_STATEMENT.md").read_text()
    assert "dataAnnotationPlatform" not in (nobody / "croissant.json").read_text().partition('"name"')[2]

    write(world, two_people)
    imported = tmp_path / "v1"
    creation.make_release(project=world.project, name="v1", format="hf", by=None, now=NOON, out=imported)

    assert (
        json.loads((imported / "croissant.json").read_text())["rai:dataAnnotationPlatform"] == "label_studio"
    )
    statement = (imported / "DATA_STATEMENT.md").read_text()
    assert "edited on a page" not in statement
    assert "Responses were imported from label\\_studio." in statement

    world.label(world.batch(size=1, overlap=1), "ada", "extraction")
    both = tmp_path / "v2"
    creation.make_release(project=world.project, name="v2", format="hf", by=None, now=NOON, out=both)

    platforms = json.loads((both / "croissant.json").read_text())["rai:dataAnnotationPlatform"]
    assert platforms == ["Askew", "label_studio"]
    assert "edited on a page" in (both / "DATA_STATEMENT.md").read_text()
    assert verification.verify(imported)
    assert verification.verify(both)
