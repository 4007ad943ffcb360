"""A project defines a task type in its study file: without code or restart, and with versions."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from jsonschema import Draft202012Validator

from annotation.management import doctor, simulation
from annotation.models import (
    Adjudication,
    Batch,
    Decision,
    Guidelines,
    Person,
    Qualification,
    TaskTypeDefinition,
)
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report, gold
from annotation.queue import practice, resolutions, sampling
from annotation.releases import creation, verification
from annotation.study_file import apply, current_state, yaml_file
from annotation.study_file.parser import parse
from annotation.study_file.project_export import document
from annotation.study_file.yaml_file import StudyError
from annotation.workflow import adjudication, automatic_decisions, batches, task_types
from tableqa.releases import record_files
from tests.annotation.cast import NOON, World

DEFINITION: dict[str, Any] = {
    "title": "Table complexity",
    "instruction": "How hard is this table to read?",
    "shows": ["question", "table", "answers"],
    "fields": [
        {"name": "level", "type": "choice", "options": ["easy", "hard"]},
        {"name": "reasons", "type": "multi_choice", "options": ["long", "wide"], "when": "level == hard"},
        {"name": "comment", "type": "text", "optional": True},
    ],
    "agreement": {"level": ["fleiss"]},
    "guidelines": "Look at the table first.",
}
FILE = """
study: 1
project: {slug: complexity, name: Complexity}
task_types:
  table_complexity:
    title: Table complexity
    instruction: How hard is this table to read?
    shows: [question, table, answers]
    fields:
      - name: level
        type: choice
        options: [easy, hard]
      - {name: reasons, type: multi_choice, options: [long, wide], when: level == hard}
      - {name: comment, type: text, optional: true}
    agreement: {level: [fleiss]}
    guidelines: Look at the table first.
batches: []
"""


LATER = NOON + timedelta(seconds=61)
EASY = {"level": "easy", "reasons": [], "comment": ""}
HARD = {"level": "hard", "reasons": ["long"], "comment": ""}


def define(world: World, **changes: Any) -> TaskTypeDefinition:
    return task_types.define(
        project=world.project,
        name="table_complexity",
        data={**DEFINITION, **changes},
        by=world.mara,
        now=NOON,
    )


def batch_of(world: World, row: TaskTypeDefinition, *, open: bool = True, **terms: Any) -> Batch:
    sample = sampling.Sample(sources=[world.source], size=terms.pop("size", 3))
    if "feeds_from" in terms:
        sample = sampling.Sample(feeds_from=terms.pop("feeds_from"))
    batch = batches.plan_batch(
        project=world.project,
        task=row.task(),
        name=f"Complexity {Batch.objects.count() + 1}",
        sample=sample,
        terms={"overlap": 3, **terms},
        by=world.mara,
        now=NOON,
    )
    if open:
        batches.open_batch(batch=batch, by=world.mara, now=NOON)
    return batch


def say(world: World, batch: Batch, who: str, data: dict[str, Any]) -> Any:
    assignment = world.take(Batch.objects.get(pk=batch.pk), who)
    assert assignment is not None
    return world.answer(assignment, data)


# -- versions -----------------------------------------------------------------------------------------


def test_a_definition_changes_in_place_until_a_batch_of_it_opens(world: World) -> None:
    row = define(world)
    batch = batch_of(world, row, open=False)

    again = define(world, title="Difficulty")

    assert (again.pk, again.number, TaskTypeDefinition.objects.count()) == (row.pk, 1, 1)
    assert Batch.objects.get(pk=batch.pk).task().title == "Difficulty"
    assert define(world, title="Difficulty") == again


def test_later_a_change_is_a_new_version_and_responses_keep_theirs(world: World) -> None:
    old = define(world)
    answered, planned = batch_of(world, old), batch_of(world, old, open=False)
    say(world, answered, "ada", HARD)
    fields = [{"name": "level", "type": "choice", "options": ["low", "high"]}]

    new = define(world, fields=fields, agreement={"level": ["fleiss"]})

    assert (new.number, new.task().version) == (2, 2)
    kept, moved = Batch.objects.get(pk=answered.pk), Batch.objects.get(pk=planned.pk)
    assert (kept.definition, kept.version, moved.definition, moved.version) == (old, 1, new, 2)
    say(world, kept, "bo", EASY)
    assert doctor.findings() == []


def test_changed_guidelines_are_a_new_version_of_the_guidelines(world: World) -> None:
    batch_of(world, define(world))

    define(world, guidelines="Count the rows first.")

    texts = Guidelines.objects.filter(task_type="table_complexity").order_by("number")
    assert [one.text for one in texts] == ["Look at the table first.", "Count the rows first."]


def test_a_name_of_an_installed_task_type_is_refused(world: World) -> None:
    with pytest.raises(ActionRefused, match="question_type"):
        task_types.define(
            project=world.project, name="question_type", data=DEFINITION, by=world.mara, now=NOON
        )


TWO_SELECTIONS: list[dict[str, Any]] = [
    *DEFINITION["fields"],
    {"name": "cause", "type": "cells"},
    {"name": "effect", "type": "cells"},
]
SECOND_SELECTION = (
    "fields[5].type: The table has one selection, and 'cause' uses it. "
    "Remove this field, or make a second task type."
)


def test_a_second_field_of_cells_is_refused_with_place_and_remedy(world: World) -> None:
    with pytest.raises(ActionRefused) as refused:
        define(world, fields=TWO_SELECTIONS)

    assert refused.value.detail == f"table_complexity: {SECOND_SELECTION}"
    assert not TaskTypeDefinition.objects.exists()


def test_the_page_names_the_line_of_a_second_field_of_cells(world: World) -> None:
    text = yaml_file.write({**DEFINITION, "fields": TWO_SELECTIONS})
    line = text.splitlines().index("  - name: effect") + 2

    page = manager(world).post(PAGE, {"name": "complexity", "text": text, "save": "1"})

    assert page.context["form"].non_field_errors() == [f"line {line}: {SECOND_SELECTION}"]


def test_a_study_file_cannot_add_a_second_field_of_cells(world: World) -> None:
    fields = "      - {name: cause, type: cells}\n      - {name: effect, type: cells}\n"
    said = parse(FILE.replace("    agreement:", f"{fields}    agreement:"))

    (change,) = apply.plan_for_project(said, None, now=NOON).cannot

    assert (change.name, change.words, change.line) == ("table_complexity", SECOND_SELECTION, 16)


def test_a_stored_definition_with_two_fields_of_cells_keeps_working(world: World) -> None:
    data = {**DEFINITION, "fields": TWO_SELECTIONS}
    row = TaskTypeDefinition.objects.create(
        project=world.project, name="table_complexity", number=1, data=data, made_by=world.mara, made_at=NOON
    )
    batch = batch_of(world, row)

    say(world, batch, "ada", {**EASY, "cause": [["r0", "c0"]], "effect": [["r0", "c0"]]})

    assert define(world, fields=TWO_SELECTIONS) == row
    page = manager(world).post(PAGE, {"name": row.name, "text": yaml_file.write(data), "save": "1"})
    assert page.status_code == 302
    exported = current_state.of_project(world.project, now=NOON).study
    again = parse(yaml_file.write(document(exported)))
    assert apply.plan_for_project(again, world.project, now=NOON).cannot == ()
    assert doctor.findings() == []


# -- the study file ---------------------------------------------------------------------------------


def test_a_study_file_defines_a_task_type_and_a_batch_of_it(world: World) -> None:
    said = parse(
        FILE.replace("slug: complexity, name: Complexity", "slug: films, name: Films").replace(
            "batches: []",
            f"batches: [{{name: Level, type: table_complexity, sample: {{sources: [{world.source.name}]}}}}]",
        )
    )

    applied = apply.apply(said, project=world.project, by=world.mara, now=NOON)

    assert applied.failed is None, applied.why
    assert Batch.objects.get(name="Level").task().title == "Table complexity"
    exported = current_state.of_project(world.project, now=NOON).study
    assert exported.task_types == said.task_types
    again = parse(yaml_file.write(document(exported)))
    assert again.task_types == said.task_types
    assert apply.plan_for_project(said, world.project, now=NOON).does == ()


BROKEN = [
    ("[long, wide]", "[long, long]", 13, "task_types.table_complexity.fields[2].options[2]"),
    ("when: level == hard", "when: level == high", 13, "task_types.table_complexity.fields[2].when"),
    ("{level: [fleiss]}", "{level: [kappa]}", 15, "task_types.table_complexity.agreement.level[1]"),
    ("type: choice", "type: choose", 11, "task_types.table_complexity.fields[1].type"),
    ("  table_complexity:", "  question_type:", 5, "task_types.question_type"),
]


@pytest.mark.parametrize(("right", "wrong", "line", "where"), BROKEN)
def test_a_bad_definition_is_refused_with_line_and_remedy(
    right: str, wrong: str, line: int, where: str
) -> None:
    with pytest.raises(StudyError) as refused:
        parse(FILE.replace(right, wrong))

    (fault,) = refused.value.faults
    assert (fault.line, fault.where) == (line, where)
    assert fault.message


# -- work -------------------------------------------------------------------------------------------


def test_responses_are_decided_measured_and_released(world: World, tmp_path: Path) -> None:
    batch = batch_of(world, define(world))
    for who, data in {"ada": HARD, "bo": HARD, "cy": EASY}.items():
        for _ in range(3):
            say(world, batch, who, data)

    automatic_decisions.resolve_due(now=LATER)

    decisions = Decision.objects.filter(item__batch=batch)
    assert [one.kind for one in decisions] == ["accepted"] * 3
    figures = {one.statistic: one for one in agreement_report.batch_figures(batch)}
    assert (figures["fleiss_kappa"].measure, figures["fleiss_kappa"].units) == ("level", 3)
    assert doctor.findings() == []
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=out)
    Batch.objects.filter(pk=batch.pk).update(definition=None)  # the release knows the definition by itself
    checked = verification.verify(out)
    assert (checked["annotations"], checked["figures"]) == (9, 4)
    manifest = json.loads((out / "manifest.json").read_text())
    (released,) = manifest["batches"]
    assert released["definition"]["fields"] == DEFINITION["fields"]
    validator = Draft202012Validator(released["definition"]["response_schema"])
    lines = [json.loads(line) for line in (out / "annotations.jsonl").read_text().splitlines()]
    assert all(validator.is_valid(line["response"]["data"]) for line in lines)
    (path,) = out.rglob("table_complexity*.json*")
    assert {json.loads(line)["level"] for line in path.read_text().splitlines()} == {"hard"}


def test_a_forged_definition_is_found(world: World, tmp_path: Path) -> None:
    batch = batch_of(world, define(world), size=1)
    for who in ("ada", "bo", "cy"):
        say(world, batch, who, HARD)
    automatic_decisions.resolve_due(now=LATER)
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=LATER, out=out)
    path = out / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["batches"][0]["definition"]["fields"][0]["options"] = ["easy", "medium"]
    path.write_text(json.dumps(manifest))

    with pytest.raises(record_files.Difference):
        verification.verify(out)


def test_a_tie_goes_to_an_adjudicator(world: World) -> None:
    batch = batch_of(world, define(world), overlap=2, size=1)
    for who, data in {"ada": HARD, "bo": EASY}.items():
        say(world, batch, who, data)

    automatic_decisions.resolve_due(now=LATER)

    assert Adjudication.objects.filter(item__batch=batch).count() == 1


@pytest.mark.django_db(transaction=True)
def test_simulated_people_work_a_batch_to_its_end(world: World) -> None:
    batch = batch_of(world, define(world))

    counts = simulation.simulate(batch=batch, annotators=3, seed=1, accuracy=0.9, now=timezone.now())

    assert [one["submitted"] for one in counts.values()] == [3, 3, 3]


# -- pages --------------------------------------------------------------------------------------------


def test_every_page_of_such_a_batch_answers(world: World) -> None:
    practice = [
        {
            "example": {"id": "p", "question": "who?", "table": {"header": ["a"], "rows": [["b"]]}},
            "expected": {"level": "easy"},
            "why": "One row.",
        }
    ]
    batch = batch_of(world, define(world, practice=practice))
    say(world, batch, "ada", HARD)
    client = Client()
    client.force_login(world.mara)
    for address in (
        "/projects/films/",
        "/projects/films/batches/new/",
        "/projects/films/guidelines/table_complexity/",
        "/projects/films/practice/table_complexity/",
        f"/batches/{batch.public_id}/",
    ):
        page = client.get(address)
        assert page.status_code == 200, address
        assert "Table complexity" in page.content.decode(), address
    client.force_login(world.bo)
    page = client.get(f"/batches/{batch.public_id}/annotate/")
    assert "How hard is this table to read?" in page.content.decode()
    assert 'data-condition="[&quot;level&quot;, &quot;==&quot;' in page.content.decode()


# -- practice, gold, qualification, adjudication ---------------------------------------------------------

PRACTICE = [
    {
        "example": {"id": "p", "question": "who?", "table": {"header": ["a"], "rows": [["b"]]}},
        "expected": {"level": "hard", "reasons": ["long"]},
        "why": "It is long.",
    }
]


def test_practice_is_judged_through_the_api(world: World) -> None:
    row = define(world, practice=PRACTICE)
    client = Client()
    client.force_login(world.ada)
    task = row.task()
    item = practice.exercises(task)[0].item
    body = {"number": 1, "response": task.envelope(task.parse({"level": "easy"}, item), item)}

    reply = client.post(
        "/api/projects/films/practice/table_complexity/", json.dumps(body), content_type="application/json"
    ).json()

    assert reply["right"] is False
    assert reply["words"][0] == "Level: your answer Easy, expected Hard."
    assert reply["why"] == "It is long."


def test_a_qualification_is_passed_by_gold_answers(world: World) -> None:
    row = define(world)
    batch = batch_of(world, row, open=False, size=2, purpose="qualification", pass_percent=60)
    for item in batch.items.select_related("example"):
        gold.set_gold(batch=batch, example=item.example, data=HARD, by=world.mara, now=NOON)
    batches.open_batch(batch=batch, by=world.mara, now=NOON)

    for _ in range(2):
        say(world, batch, "ada", HARD)
        say(world, batch, "bo", EASY)

    rights = {row.person: row.passed for row in Qualification.objects.filter(batch=batch)}
    assert rights == {world.ada: True, world.bo: False}
    assert define(world, title="Other").number == 2, "a gold answer keeps the version that it was given in"


def test_an_adjudicator_reads_the_responses_field_by_field_and_decides(world: World) -> None:
    batch = batch_of(world, define(world), overlap=2, size=1)
    for who, data in {"ada": HARD, "bo": EASY}.items():
        say(world, batch, who, data)
    automatic_decisions.resolve_due(now=LATER)
    (item,) = resolutions.waiting(batch)
    client = Client()
    client.force_login(world.ivo)

    page = client.get(f"/items/{item.public_id}/adjudicate/").content.decode()

    assert "Level: Hard" in page
    assert "Reasons: Long" in page
    decision = adjudication.decide(item=item, by=world.ivo, note="It is long.", choose=["A"], now=LATER)
    assert decision.kind == "accepted"


def test_annotators_with_german_pages_read_german_labels(world: World) -> None:
    fields = [
        {
            "name": "level",
            "type": "choice",
            "question": {"en": "How hard?", "de": "Wie schwer?"},
            "options": ["a", "b"],
        }
    ]
    batch = batch_of(world, define(world, fields=fields, instruction={"en": "Look", "de": "Schauen Sie"}))
    client = Client(headers={"Accept-Language": "de"})
    client.force_login(world.ada)

    page = client.get(f"/batches/{batch.public_id}/annotate/").content.decode()

    assert "Wie schwer?" in page
    assert "Schauen Sie" in page


def test_a_release_for_hugging_face_verifies(world: World, tmp_path: Path) -> None:
    batch = batch_of(world, define(world), size=1)
    for who in ("ada", "bo", "cy"):
        say(world, batch, who, HARD)
    automatic_decisions.resolve_due(now=LATER)
    out = tmp_path / "release"

    creation.make_release(project=world.project, name="v1", format="hf", by=world.rea, now=LATER, out=out)

    assert verification.verify(out)["annotations"] == 3


# -- the API ------------------------------------------------------------------------------------------


def test_the_api_lists_and_saves_definitions(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    address = "/api/projects/films/task-types/"

    saved = client.post(
        address, json.dumps({"name": "complexity", "definition": DEFINITION}), content_type="application/json"
    )

    assert (saved.status_code, saved.json()["version"]) == (200, 1)
    (listed,) = client.get(address).json()
    assert (listed["name"], listed["definition"]) == ("complexity", DEFINITION)
    assert listed["response_schema"]["properties"]["level"] == {"enum": ["easy", "hard", ""]}


def test_the_api_refuses_a_bad_definition(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    body = {"name": "complexity", "definition": {**DEFINITION, "fields": [{"name": "x", "type": "choice"}]}}

    refused = client.post(
        "/api/projects/films/task-types/", json.dumps(body), content_type="application/json"
    )

    assert refused.status_code == 422
    assert "needs `options`" in refused.json()["detail"]
    assert not TaskTypeDefinition.objects.exists()


SHAPES: list[tuple[dict[str, Any], str]] = [
    (
        {"fields": [{"name": "level", "type": "choose"}]},
        "fields[1].type: Unknown value 'choose'. Did you mean 'choice'?",
    ),
    ({"title": 7}, "title: Expected text or a mapping of keys, not 7. Put it in quotes."),
    ({"fields": [{"type": "text"}]}, "fields[1]: name is missing. Add it."),
    ({"fields": [{}]}, "fields[1]: name and type are missing. Add them."),
    (
        {"fields": [{"name": "Level", "type": "text"}]},
        "fields[1].name: 'Level' is not valid: small letters, digits and underscores.",
    ),
    ({"overlap": 0}, "overlap: The minimum is 1, not 0."),
    ({"fields": []}, "fields: This must not be empty."),
    ({"shows": ["table", "table"]}, "shows: An entry appears twice. Remove one."),
    ({"instructions": "Look"}, "instructions: Unknown key 'instructions'. Did you mean 'instruction'?"),
    ({"rule": "majority"}, "rule: Unknown key 'rule'. Did you mean 'rule' in `decide`?"),
    ({"title": {"de": "Titel"}}, "title: en is missing. Add it."),
]


@pytest.mark.parametrize(("changes", "sentence"), SHAPES)
def test_page_and_api_give_the_same_sentence_with_place_and_remedy(
    world: World, changes: dict[str, Any], sentence: str
) -> None:
    data = {**DEFINITION, "agreement": {}, **changes}
    client = manager(world)

    refused = client.post(
        "/api/projects/films/task-types/",
        json.dumps({"name": "complexity", "definition": data}),
        content_type="application/json",
    )
    page = client.post(PAGE, {"name": "complexity", "text": yaml_file.write(data), "save": "1"})

    assert refused.status_code == 422
    assert refused.json()["detail"] == f"complexity: {sentence}"
    assert any(error.endswith(f": {sentence}") for error in page.context["form"].non_field_errors())


# -- the page that defines one -----------------------------------------------------------------------

PAGE = "/projects/films/task-types/"


def manager(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def test_the_page_saves_a_definition_and_lists_it(world: World) -> None:
    client = manager(world)
    begun = client.get(PAGE)
    text = begun.context["form"].initial["text"]

    saved = client.post(PAGE, {"name": "complexity", "text": text, "save": "1"})

    assert saved["Location"] == f"{PAGE}?name=complexity"
    shown = client.get(saved["Location"]).content.decode()
    assert "complexity, version 1" in shown
    assert "You have to search or calculate." in shown
    assert "Table complexity" in client.get("/projects/films/batches/new/").content.decode()


def test_the_page_reads_back_what_it_wrote(world: World) -> None:
    define(world)
    client = manager(world)
    text = client.get(f"{PAGE}?name=table_complexity").context["form"].initial["text"]

    client.post(PAGE, {"name": "table_complexity", "text": text, "save": "1"})

    (row,) = TaskTypeDefinition.objects.all()
    assert row.data == DEFINITION


def test_the_page_writes_keys_in_the_order_of_the_reference(world: World) -> None:
    option = {"key": "b", "help": "At once.", "value": "easy", "title": "Easy"}
    field = {"options": [option, "hard"], "type": "choice", "name": "level"}
    define(world, fields=[field], agreement={"level": ["fleiss"]})

    text = manager(world).get(f"{PAGE}?name=table_complexity").context["form"].initial["text"]

    keys = [
        "title: Table",
        "fields:",
        "name: level",
        "type: choice",
        "value: easy",
        "title: Easy",
        "help:",
        "key: b",
    ]
    assert sorted(keys, key=text.index) == keys


def test_the_preview_saves_nothing_and_shows_what_annotators_see(world: World) -> None:
    client = manager(world)
    text = client.get(PAGE).context["form"].initial["text"]

    part = client.post(PAGE, {"name": "complexity", "text": text}, headers={"HX-Request": "true"})

    content = part.content.decode()
    assert "<html" not in content
    assert "You have to search or calculate." in content
    assert "when did Heat come out" in content
    assert "Table of the example" in content
    assert not TaskTypeDefinition.objects.exists()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("title: A\ninstruction: B\nfields:\n  - {name: x, type: choice}\n", "line 4: fields[1]: "),
        ("title: A\ninstruction: B\nfields: [{name: x, typ: text}]\n", "line 3: "),
        ("title: [\n", "line "),
        ("title: A\ninstruction: B\n", "line 1: fields is missing. Add it."),
        ("\n", "line 1: "),
        ("just a text", "line 1: "),
    ],
)
def test_the_page_refuses_a_bad_definition_with_its_line(world: World, text: str, fault: str) -> None:
    page = manager(world).post(PAGE, {"name": "complexity", "text": text, "save": "1"})

    assert page.status_code == 200
    assert fault in " ".join(page.context["form"].non_field_errors()).replace("&#x27;", "'") or (
        "text" in page.context["form"].errors
    )
    assert not TaskTypeDefinition.objects.exists()


def test_the_page_refuses_the_name_of_an_installed_task_type(world: World) -> None:
    client = manager(world)
    text = client.get(PAGE).context["form"].initial["text"]

    page = client.post(PAGE, {"name": "question_type", "text": text, "save": "1"})

    assert "already" in page.content.decode()


def test_markup_in_a_definition_is_shown_as_text(world: World) -> None:
    bad = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    fields = [
        {
            "name": "level",
            "type": "choice",
            "label": bad[:80],
            "question": bad,
            "help": bad,
            "options": [{"value": bad[:60], "title": bad, "help": bad}, "b"],
        },
        {"name": "score", "type": "scale", "label": bad[:80], "anchors": {"1": bad[:60]}},
        {"name": "order", "type": "rank", "options": [bad[:60], "b"], "help": bad},
        {"name": "cells", "type": "cells", "label": bad[:80], "optional": True},
        {"name": "note", "type": "text", "label": bad[:80], "when": "level == b"},
    ]
    row = define(
        world, title=bad[:80], instruction=bad, fields=fields, agreement={"level": ["fleiss"]}, guidelines=bad
    )
    batch = batch_of(world, row)
    say(world, batch, "ada", {"level": bad[:60], "score": 1, "order": ["b", bad[:60]]})
    client = manager(world)
    addresses = [
        f"{PAGE}?name=table_complexity",
        "/projects/films/",
        "/projects/films/batches/new/",
        "/projects/films/guidelines/table_complexity/",
        "/projects/films/explorer/",
        "/projects/films/study/",
        f"/batches/{batch.public_id}/",
        f"/batches/{batch.public_id}/quality/",
    ]

    texts = [client.get(address).content.decode() for address in addresses]
    client.force_login(world.bo)
    texts.append(client.get(f"/batches/{batch.public_id}/annotate/").content.decode())

    assert all("<script>alert" not in text and "<img src=x" not in text for text in texts)
    assert sum("&lt;script&gt;alert" in text for text in texts) > 5


PLACES = (
    "",
    *[
        "explorer/",
        "explorer/facets/",
        "people/",
        "log/",
        "fooling/",
        "agreement/",
        "dashboard/",
        "releases/",
        "methods/",
    ],
)


def test_pages_read_a_task_type_once_whatever_the_number_of_its_batches(world: World) -> None:
    row = define(world)
    pages = ["/", *(f"/projects/films/{place}" for place in PLACES)]

    def cost(address: str, person: Person) -> int:
        client = Client()
        client.force_login(person)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200, address
        return sum("annotation_tasktypedefinition" in query["sql"] for query in queries.captured_queries)

    for _ in range(2):
        say(world, batch_of(world, row), "ada", EASY)
    visits = [(address, "mara") for address in pages] + [(address, "ada") for address in ("/", "/work/")]
    few = {visit: cost(visit[0], world.people[visit[1]]) for visit in visits}
    for _ in range(4):
        say(world, batch_of(world, row), "ada", EASY)
    assert {visit: cost(visit[0], world.people[visit[1]]) for visit in visits} == few


def test_texts_without_a_german_form_stay_as_they_were_written(world: World) -> None:
    options = ["left", "clear"]
    fields = [
        {"name": "level", "type": "choice", "options": options},
        {"name": "share", "type": "text", "label": "Share", "optional": True},
    ]
    batch = batch_of(world, define(world, fields=fields, agreement={"level": ["fleiss"]}))
    client = Client(headers={"Accept-Language": "de"})
    client.force_login(world.ada)
    page = client.get(f"/batches/{batch.public_id}/annotate/")
    words = " ".join(re.sub(r"<[^>]+>", " ", page.content.decode()).split())
    assert "Meine Arbeit" in words, "the page is German"
    for text in ("Level", "Left", "Clear", "Share"):
        assert text in words
    for translation in ("Ebene", "Auswahl aufheben", "Anteil"):
        assert translation not in words
