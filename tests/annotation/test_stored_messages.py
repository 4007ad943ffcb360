"""Sentences in the database are a code and values; those of before become so, and what people wrote stays as it is."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import translation
from django.utils.translation import gettext

from annotation import immutable, jobs, words
from annotation.journeys import adjudicating
from annotation.migrations import _sentences
from annotation.models import (
    Adjudication,
    Decision,
    Event,
    Job,
    PerturbationRun,
    Proposal,
)
from annotation.refusals import refuse
from annotation.releases.wordings import is_wording, note_of
from annotation.work import practising
from tableqa import agreement, language
from tableqa.language import Message, joined
from tasks.contract import Context, Suggesting, task_type, task_types
from tests.annotation.cast import NOON, World

migration = importlib.import_module("annotation.migrations.0019_messages")
SAMPLES = {"tally": "extraction 2, neither 1", "names": "2 x sign, 1 x neither", "standing": "4", "each": "4"}
"""Values of placeholders that hold words; the others are numbers."""
RELEASED = ("agreement", "cell_sets", "edit_agreement", "perturbations")
WORDINGS = [
    (code, today, wording) for code, today, *former in _sentences.SENTENCES for wording in (today, *former)
]


class Editor:
    connection = connection


@pytest.fixture(scope="module")
def historical() -> Any:
    """The models as the migration has them: without the fields of messages."""
    return MigrationLoader(None).project_state([("annotation", "0019_messages")]).apps


@pytest.fixture
def forward(historical: Any, capsys: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    def run() -> list[str]:
        migration.store_messages(historical, Editor())
        return [line.strip() for line in capsys.readouterr().err.splitlines() if line.strip()]

    return run


@pytest.fixture
def backward(historical: Any) -> Callable[[], None]:
    return lambda: migration.store_texts(historical, Editor())


@pytest.fixture
def write(historical: Any) -> Callable[..., None]:
    """Write values as they were stored before."""

    def run(row: Any, **values: Any) -> None:
        with immutable.writable():
            historical.get_model("annotation", type(row).__name__).objects.filter(pk=row.pk).update(**values)

    return run


@pytest.fixture
def stored(historical: Any) -> Callable[..., Any]:
    """What a column holds."""

    def run(row: Any, field: str) -> Any:
        model = historical.get_model("annotation", type(row).__name__)
        return model.objects.values_list(field, flat=True).get(pk=row.pk)

    return run


def sample(code: str, wording: str) -> dict[str, str]:
    """Values of all placeholders as they were written into a text."""
    names = dict.fromkeys(re.findall(r"\{(\w+)\}", wording))
    values = {name: SAMPLES.get(name, str(number)) for number, name in enumerate(names, start=3)}
    if code == "resolving.apart":
        values["names"] = "faithfulness and comprehensiveness"
    if "why" in values:
        values["why"] = "nobody is left who may be asked"
    return values


@pytest.mark.parametrize(("code", "today", "wording"), WORDINGS)
def test_every_stored_wording_becomes_the_message_of_today(code: str, today: str, wording: str) -> None:
    words.load_messages()
    values = sample(code, wording)
    data = _sentences.message_of(wording.format(**values))
    assert data is not None
    message = Message.from_json(data)

    shown = {**values, "why": "no further annotator is available"}
    expected = today.format(**shown)
    assert (message.code, str(message)) == (code, language.template_of(code).format(**shown))
    assert _sentences.text_of(data) == expected
    assert _sentences.message_of(expected) == data
    assert set(message.values) == set(values)


OF_RELEASES = [one for one in WORDINGS if one[0].split(".")[0] in RELEASED]


@pytest.mark.parametrize(("code", "today", "wording"), OF_RELEASES)
def test_a_release_may_have_a_message_in_any_of_its_wordings(code: str, today: str, wording: str) -> None:
    text = wording.format(**sample(code, wording))
    data = _sentences.message_of(text)
    assert data is not None
    message = Message.from_json(data)

    assert is_wording(text, message)
    assert is_wording(str(message), message)
    assert not is_wording(f"{text} ", message)
    assert not is_wording(text, "Another sentence.")


def test_a_note_in_a_manifest_is_shown_in_the_readers_language() -> None:
    note = (
        "Units have unequal numbers of ratings; those with a single one count in the expected agreement only "
        "(Gwet 2014). There is only one unit, so there is no confidence interval."
    )
    message = note_of(note)

    assert message == joined([agreement.UNEQUAL, agreement.ONE_UNIT])
    with translation.override("de"):
        assert "Konfidenzintervall" in words.shown(message)
    assert note_of("What somebody wrote.") == "What somebody wrote."


@pytest.mark.parametrize("text", ["", "What somebody wrote.", "No label has a majority (a 1). And more."])
def test_other_texts_are_no_messages(text: str) -> None:
    assert _sentences.message_of(text) is None


@pytest.mark.parametrize(
    ("stored", "english", "in_german"),
    [
        (
            "1 person has answered of 2, and nobody else came before the batch was closed.",
            "1 of 2 annotators has responded, but the batch was closed before more responses arrived.",
            "1 von 2 Annotierenden hat geantwortet, aber der Stapel wurde vor weiteren Bearbeitungen geschlossen.",
        ),
        (
            "Nothing was marked by more than half of the people: A (1). Nobody is left who could be asked.",
            "No element was marked by a majority of annotators (A (1)). No further annotator is available.",
            (
                "Kein Element wurde von einer Mehrheit der Annotierenden markiert (A (1)). "
                "Keine weitere annotierende Person ist verfügbar."
            ),
        ),
        (
            "What people marked overlaps by 0.25 (mean Jaccard); 0.50 is asked for.",
            "The overlap of the responses is 0.25 (mean Jaccard index); the minimum is 0.50.",
            "Die Bearbeitungen überschneiden sich zu 0,25 (mittlerer Jaccard-Index); das Minimum ist 0,50.",
        ),
    ],
)
def test_a_former_wording_is_shown_in_the_readers_language(stored: str, english: str, in_german: str) -> None:
    data = _sentences.message_of(stored)
    assert data is not None
    message = Message.from_json(data)

    assert message == message.shown() == english
    with translation.override("de"):
        assert message.shown() == in_german


def test_a_list_keeps_the_parts_that_somebody_else_wrote() -> None:
    data = _sentences.message_of_list("more than usual; broader; used for 3 columns of this project")

    assert data is not None
    message = Message.from_json(data)
    assert str(message) == "more than usual; more general meaning; used for 3 columns of this project"
    with translation.override("de"):
        assert message.shown().startswith("more than usual; allgemeinere Bedeutung; ")
    assert _sentences.message_of_list("one; two") is None


def undecided(world: World) -> Adjudication:
    batch = world.batch(overlap=2, size=1)
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "neither")
    adjudicating.resolve_due(now=NOON + timedelta(days=1))
    return Adjudication.objects.get(item__batch=batch)


def test_the_reason_of_an_adjudication_is_stored_as_a_message(world: World, stored: Any) -> None:
    adjudication = undecided(world)

    assert json.loads(stored(adjudication, "reason"))["code"] == "resolving.no_label"
    assert adjudication.reason == "No label has a majority (extraction 1, neither 1)."
    assert words.shown(adjudication.reason) == adjudication.reason
    with translation.override("de"):
        assert words.shown(adjudication.reason) == (
            "Kein Etikett hat eine Mehrheit (Nachschlagen 1, keines von beiden 1)."
        )
    event = Event.objects.get(thing="item", thing_id=adjudication.item_id, after="adjudication")
    assert isinstance(event.detail["reason"], Message)


def test_rows_of_before_are_turned_once_and_back(
    world: World, forward: Any, backward: Any, write: Any, stored: Any
) -> None:
    adjudication = undecided(world)
    event = Event.objects.get(thing="item", thing_id=adjudication.item_id, after="adjudication")
    now, detail = stored(adjudication, "reason"), stored(event, "detail")
    before = "No label has a majority (extraction 1, neither 1)."
    write(adjudication, reason=before)
    write(event, detail={"reason": before, "based_on": ["a"]})

    assert forward() == [
        "adjudication.reason: 1 turned into messages, 0 stay text",
        "event.detail: 1 turned into messages, 0 stay text",
    ]
    assert (stored(adjudication, "reason"), stored(event, "detail")) == (now, {**detail, "based_on": ["a"]})
    assert forward() == []

    backward()
    assert (stored(adjudication, "reason"), stored(event, "detail")["reason"]) == (before, before)


@pytest.mark.parametrize(
    ("kind", "by_a_person", "text", "turned"),
    [
        ("excluded", True, "The responses differ.", False),
        ("excluded", True, "No row contains the answer.", False),
        ("accepted", True, "Something else.", False),
        ("accepted", True, '{"code": "word", "values": 1}', True),
        ("accepted", False, "No row of the table holds the answer.", True),
    ],
)
def test_decisions_are_turned_but_for_what_people_wrote(
    world: World,
    forward: Any,
    write: Any,
    stored: Any,
    kind: str,
    by_a_person: bool,
    text: str,
    turned: bool,
) -> None:
    batch = world.batch(overlap=1, size=1)
    world.label(batch, "ada", "extraction")
    adjudicating.resolve_due(now=NOON + timedelta(days=1))
    decision = Decision.objects.get(item__batch=batch)
    write(decision, reason=text, kind=kind, made_by=world.ivo.pk if by_a_person else None)

    forward()

    decision.refresh_from_db()
    assert (stored(decision, "reason") != text) == turned
    assert decision.reason == (str(words.shown(decision.reason)) if turned else text)
    assert turned or type(decision.reason) is str


def test_json_columns_are_turned_where_a_sentence_was(
    world: World, forward: Any, backward: Any, write: Any, stored: Any
) -> None:
    item = world.batch(size=1).items.get()
    job = Job.objects.create(
        project=world.project, kind="snapshot", state="failed", heartbeat=NOON, made_at=NOON
    )
    run = PerturbationRun.objects.create(
        project=world.project, kinds=[], seeds=[], chosen=[], made_by=world.mara, made_at=NOON
    )
    inputs = {
        "evidence": {"cells": [["r1", "c1"]], "from": "cells that a model pointed at (No label)"},
        "suggestions": {"tables": [{"why": "2 of 3 values of the key columns in common (1,204). Whatever."}]},
        "samples": {"text": "5 of 5 samples right", "total": 5},
    }
    write(item, inputs=inputs)
    write(
        job,
        error="Internal error (KeyError). Details are in the log.",
        result={"failed": {"work:x": "Gone."}},
    )
    write(
        run,
        counts={
            "row_shuffle": {
                "made": 1,
                "no_op": {"The table comes out as it was.": 2, "The table is unchanged.": 1, "other": 4},
                "refused": {},
            }
        },
    )

    assert forward() == [
        "item.inputs: 2 turned into messages, 1 stay text",
        "job.error: 1 turned into messages, 0 stay text",
        "job.result: 0 turned into messages, 1 stay text",
        "perturbationrun.counts: 2 turned into messages, 1 stay text",
    ]
    for row in (item, job, run):
        row.refresh_from_db()
    assert item.inputs["evidence"]["from"] == "cells that a model used (No label)"
    assert item.inputs["evidence"]["cells"] == [["r1", "c1"]]
    assert item.inputs["suggestions"] == inputs["suggestions"]
    assert words.shown(job.error).startswith("Internal error (KeyError). Details are in the server log.")
    assert run.counts["row_shuffle"]["no_op"] == {"The table is unchanged.": 3, "other": 4}
    before = stored(item, "inputs"), stored(job, "error"), stored(job, "result"), stored(run, "counts")
    assert all(": 0 turned into messages, 1 stay text" in line for line in forward())
    assert before == (
        stored(item, "inputs"),
        stored(job, "error"),
        stored(job, "result"),
        stored(run, "counts"),
    )

    backward()
    assert stored(item, "inputs")["evidence"]["from"] == "cells that a model used (No label)"
    assert stored(run, "counts")["row_shuffle"]["no_op"] == {"The table is unchanged.": 3, "other": 4}


def test_reasons_of_rules_are_turned_and_those_of_models_stay(
    world: World, forward: Any, write: Any, stored: Any
) -> None:
    item = world.batch(size=1).items.get()
    rows = [
        Proposal.objects.create(
            item=item, source=source, maker=source, data={}, digest=source, why="", made_at=NOON
        )
        for source in ("rules", "model")
    ]
    for row in rows:
        write(row, why="a definition; alike")

    assert forward() == ["proposal.why: 1 turned into messages, 0 stay text"]
    by_rules, by_model = (Proposal.objects.get(pk=row.pk).why for row in rows)
    assert by_rules == "a definition; similar meaning"
    assert by_model == stored(rows[1], "why") == "a definition; alike"


def test_pages_of_rows_are_turned_one_after_the_other(
    world: World, forward: Any, monkeypatch: pytest.MonkeyPatch, write: Any
) -> None:
    monkeypatch.setattr(migration, "AT_ONCE", 2)
    for number in range(5):
        job = Job.objects.create(
            project=world.project, kind=f"k{number}", state="failed", heartbeat=NOON, made_at=NOON
        )
        write(job, error=f"Internal error (Error{number}). Details are in the log." if number else "Gone.")

    assert forward() == ["job.error: 4 turned into messages, 1 stay text"]


def test_every_declared_message_is_in_a_module_that_is_loaded_for_stored_codes() -> None:
    declaring = {
        path.relative_to(settings.BASE_DIR).with_suffix("").as_posix().replace("/", ".")
        for folder in ("annotation", "tableqa", "tasks")
        for path in (settings.BASE_DIR / folder).rglob("*.py")
        if re.search(
            r"^\s*(?:\w+\s*(?::.*)?=|True:|False:|\"\w+\":) message\($|\bmessage\(\"",
            path.read_text("utf-8"),
            re.M,
        )
        and path.name not in ("language.py", "tests.py")
    }
    tasks = {name for name in declaring if re.fullmatch(r"tasks\.\w+\.task", name)}

    assert declaring - tasks == set(words.MESSAGES)
    assert len(tasks) == 3


@pytest.mark.parametrize(("code", "template"), sorted(_sentences.TEMPLATES.items()))
def test_a_reworded_message_keeps_its_placeholders(code: str, template: str) -> None:
    words.load_messages()

    assert set(re.findall(r"\{\w+\}", language.template_of(code))) == set(re.findall(r"\{\w+\}", template))


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for member in value.values() for text in texts_in(member)]
    if isinstance(value, list | tuple):
        return [text for member in value for text in texts_in(member)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(
    ("task", "variant"),
    [(task, variant) for task in task_types().values() for variant in task.variants or [""]],
)
def test_practice_shows_its_sentences_in_the_readers_language(task: Any, variant: str) -> None:
    with translation.override("de"):
        texts = [
            text for one in practising.exercises(task, variant) for text in texts_in(task.payload(one.item))
        ]
        sentences = [text for text in texts if len(text) < 1000 and _sentences.message_of(text)]

        assert [text for text in sentences if words.shown(text) == text] == []


def test_a_sentence_of_practice_is_a_message() -> None:
    (exercise, *_) = practising.exercises(task_type("question_screening"))
    text = exercise.item.inputs["samples"]["text"]

    assert text == "8 of 8 samples right (written for practice)"
    with translation.override("de"):
        assert words.shown(text) == "8 von 8 Antworten richtig (written for practice)"


# -- refusals of jobs -----------------------------------------------------------------------------


def test_why_a_job_was_refused_is_shown_in_the_readers_language(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_it(job: Job, progress: jobs.Progress) -> dict[str, Any]:
        refuse(
            "invalid_request", "The text contains {reason}, which cannot be saved. Remove it.", reason="{NUL}"
        )

    monkeypatch.setitem(jobs.KINDS, "refused", refuse_it)
    job = Job.objects.create(project=world.project, kind="refused", ids={}, made_at=NOON, heartbeat=NOON)
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert job.error == "The text contains {NUL}, which cannot be saved. Remove it."
    with translation.override("de"):
        assert language.shown(job.error) == gettext(
            "The text contains {reason}, which cannot be saved. Remove it."
        ).format(reason="{NUL}")
        assert language.shown(job.error) != job.error


# -- suggestions of question types ------------------------------------------------------------------


def test_why_a_type_is_suggested_is_stored_as_a_message_and_shown_in_the_readers_language(
    world: World, stored: Any
) -> None:
    item = world.batch("question_type").items.earliest("position")
    reason = stored(item, "inputs")["suggestions"]["rule"]["why"]
    assert reason["code"].startswith("question_types.")
    task = item.batch.task()
    assert isinstance(task, Suggesting)
    with translation.override("de"):
        suggested = task.suggest(item.plain(), Context())
        assert suggested is not None
        assert suggested["said"][0]["why"] == Message.from_json(reason).shown()
        assert suggested["said"][0]["why"].startswith(("Nachschlagen", "Schlussfolgern"))
