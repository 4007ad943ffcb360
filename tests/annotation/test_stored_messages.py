"""Sentences of ours are stored as a code and values, and shown in the reader's language."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import translation
from django.utils.translation import gettext

from annotation.background import jobs
from annotation.models import Adjudication, Event, Job
from annotation.platform import display_text
from annotation.platform.refusals import refuse
from annotation.queue import practice
from annotation.workflow import automatic_decisions
from tableqa.agreement import measures
from tableqa.core import translation as core_translation
from tableqa.core.translation import Message, joined
from tableqa.releases.former_wordings import FORMER, is_wording, note_of
from tasks.contract import Context, SuggestingTask, task_type, task_types
from tests.annotation.cast import NOON, World

RELEASED = {"agreement", "cell_sets", "edit_agreement", "perturbations", "rank_agreement", "resolving"}
"""What release files hold: notes and reasons of agreement, perturbations that changed nothing, reasons of decisions."""
WORDINGS = [
    (code, wording)
    for code, wordings in FORMER.items()
    if code.partition(".")[0] in RELEASED
    for wording in wordings
]


def stored(row: Any, field: str) -> Any:
    """The JSON in a column."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {field} FROM {row._meta.db_table} WHERE id = %s", [row.pk])
        return json.loads(cursor.fetchone()[0])


@pytest.mark.parametrize(("code", "wording"), WORDINGS)
def test_a_release_may_have_a_message_in_any_of_its_wordings(code: str, wording: str) -> None:
    display_text.load_messages()
    values = {name: str(number) for number, name in enumerate(re.findall(r"\{(\w+)\}", wording), start=3)}
    message, text = Message(code, values), wording.format(**values)

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

    assert message == joined([measures.UNEQUAL, measures.ONE_UNIT])
    with translation.override("de"):
        assert "Konfidenzintervall" in display_text.show(message)
    assert note_of("What somebody wrote.") == "What somebody wrote."


def undecided(world: World) -> Adjudication:
    batch = world.batch(overlap=2, size=1)
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "neither")
    automatic_decisions.resolve_due(now=NOON + timedelta(days=1))
    return Adjudication.objects.get(item__batch=batch)


def test_the_reason_of_an_adjudication_is_stored_as_a_message(world: World) -> None:
    adjudication = undecided(world)

    assert stored(adjudication, "reason")["code"] == "resolving.no_label"
    assert adjudication.reason == "No label has a majority (extraction 1, neither 1)."
    assert display_text.show(adjudication.reason) == adjudication.reason
    with translation.override("de"):
        assert display_text.show(adjudication.reason) == (
            "Kein Etikett hat eine Mehrheit (Nachschlagen 1, keines von beiden 1)."
        )
    event = Event.objects.get(thing="item", thing_id=adjudication.item_id, after="adjudication")
    assert isinstance(event.detail["reason"], Message)


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
        and path.name not in ("translation.py", "tests.py")
    }
    tasks = {name for name in declaring if re.fullmatch(r"tasks\.\w+\.task", name)}

    assert declaring - tasks == set(display_text.MESSAGES)
    assert len(tasks) == 3


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
    display_text.load_messages()
    templates = [one for one in core_translation._templates.values() if len(re.sub(r"\{\w+\}", "", one)) > 5]
    ours = re.compile("|".join(re.sub(r"\\\{\w+\\\}", ".+", re.escape(one)) for one in templates))
    with translation.override("de"):
        texts = [
            text for one in practice.exercises(task, variant) for text in texts_in(task.payload(one.item))
        ]
        sentences = [text for text in texts if ours.fullmatch(text)]

        assert [text for text in sentences if display_text.show(text) == text] == []


def test_a_sentence_of_practice_is_a_message() -> None:
    (exercise, *_) = practice.exercises(task_type("question_screening"))
    text = exercise.item.inputs["samples"]["text"]

    assert text == "8 of 8 samples right (written for practice)"
    with translation.override("de"):
        assert display_text.show(text) == "8 von 8 Antworten richtig (written for practice)"


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
        assert core_translation.translate_stored(job.error) == gettext(
            "The text contains {reason}, which cannot be saved. Remove it."
        ).format(reason="{NUL}")
        assert core_translation.translate_stored(job.error) != job.error


# -- suggestions of question types ------------------------------------------------------------------


def test_why_a_type_is_suggested_is_stored_as_a_message_and_shown_in_the_readers_language(
    world: World,
) -> None:
    item = world.batch("question_type").items.earliest("position")
    reason = stored(item, "inputs")["suggestions"]["rule"]["why"]
    assert reason["code"].startswith("question_types.")
    task = item.batch.task()
    assert isinstance(task, SuggestingTask)
    with translation.override("de"):
        suggested = task.suggest(item.plain(), Context())
        assert suggested is not None
        assert suggested["said"][0]["why"] == Message.from_json(reason).shown()
        assert suggested["said"][0]["why"].startswith(("Nachschlagen", "Schlussfolgern"))
