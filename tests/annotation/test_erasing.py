"""Erasing a person leaves their name and address nowhere: not in the database, not in files, not in later releases."""

from __future__ import annotations

import json
import threading
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from annotation.access import audit_log
from annotation.access.roles import Role
from annotation.accounts import erasure
from annotation.background import jobs, uploads
from annotation.background.erased_names import NAME as NOBODY
from annotation.explorer import index
from annotation.imports import response_import
from annotation.imports.field_mapping import ImportMapping
from annotation.management import doctor
from annotation.models import (
    Assignment,
    Batch,
    CrowdEntry,
    CrowdLink,
    Event,
    IndexedItem,
    Invitation,
    Job,
    LabelImport,
    Membership,
    Person,
    ResponseFact,
    SavedView,
    SearchIndex,
)
from annotation.platform.refusals import refuse
from annotation.quality import annotator_questions, snapshots
from annotation.releases import creation
from annotation.releases.model_evaluation import runs
from annotation.workflow import assignments, automatic_decisions, projects
from tableqa.core.canonical_json import file_digest
from tests.annotation.cast import NOON, World, make_world
from tests.waiting import wait_until

pytestmark = pytest.mark.both

NAME, ADDRESS = "Ottilie Quandt-Ödön", "ottilie@quandt.example"
LATER = NOON + timedelta(hours=1)


def database() -> Iterator[str]:
    """Every row of every table as text."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            for row in cursor.fetchall():
                yield f"{table} {row}"


def files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                yield from (
                    f"{path} {archive.read(name).decode('utf-8', 'replace')}" for name in archive.namelist()
                )
        elif path.is_file():
            yield f"{path} {path.read_bytes().decode('utf-8', 'replace')}"


def holding(texts: Iterator[str]) -> list[str]:
    """The texts that name her, in capital letters or not, and also where JSON writes letters as numbers."""
    words = [one.casefold() for word in (NAME, ADDRESS) for one in (word, json.dumps(word)[1:-1])]
    return [text for text in texts if any(word in text.replace("\\\\", "\\").casefold() for word in words)]


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def her(world: World) -> Person:
    """Somebody who annotated, and whose name is wherever people write names."""
    setting: dict[str, Any] = {
        "project": world.project,
        "roles": [Role.ANNOTATOR],
        "by": world.mara,
        "now": NOON,
    }
    accepted, _ = projects.invite(**setting, name=NAME)
    withdrawn, _ = projects.invite(**setting, name=NAME.upper())
    projects.withdraw_invitation(invitation=withdrawn, by=world.mara, now=NOON)
    projects.invite(**setting, name=f"{NAME} <{ADDRESS}>")
    person = Person.objects.create_person(NAME, ADDRESS, "tilted tables")
    projects.accept(invitation=accepted, person=person, now=NOON)
    world.people["ottilie"] = person

    batch = world.batch(overlap=2)
    world.label(batch, "ottilie", "extraction")
    for who, reason in (("ottilie", f"Ask me, {NAME}: {ADDRESS}"), ("bo", f"{NAME} knows this one better.")):
        taken = world.take(batch, who)
        assert taken is not None
        assignments.flag(assignment=taken, note=f"{NAME} was here", now=NOON)
        assignments.skip(assignment=taken, reason=reason, now=NOON)
    inquiry = annotator_questions.ask(
        project=world.project, text=f"Who is {ADDRESS}?", person=person, now=NOON
    )
    annotator_questions.answer(inquiry=inquiry, text=f"That is {NAME}.", by=world.mara, now=NOON)
    annotator_questions.answer(inquiry=inquiry, text=f"That is you, {NAME}.", by=world.mara, now=LATER)
    taken = world.take(batch, "ottilie")
    assert taken is not None
    assignments.save_draft(assignment=taken, response={"data": {"label": NAME}}, revision=0, now=NOON)
    staged = LabelImport.objects.create(batch=batch, digest="0" * 64, started_at=NOON).annotators
    staged.create(number=0, name="Somebody else")
    staged.create(number=1, name=NAME.upper())
    return person


def test_her_name_is_found_before_and_nowhere_afterwards(world: World, her: Person) -> None:
    assert index.refresh(world.project, now=LATER) == 0
    tables = {text.partition(" ")[0] for text in holding(database())}
    assert tables >= {
        "annotation_indexeditem",
        *("annotation_person", "annotation_invitation", "annotation_assignment", "annotation_flag"),
        *("annotation_inquiry", "annotation_event", "annotation_stagedannotator", "annotation_draft"),
    }

    erasure.erase(person=her, by=her, now=LATER)

    assert holding(database()) == []
    batch = her.assignments.earliest("pk").batch
    world.label(batch, "cy", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    release = creation.make_release(
        project=world.project, name="afterwards", format="askew", by=world.rea, now=LATER + timedelta(hours=1)
    )
    assert (creation.folder(release) / "annotations.jsonl").read_text().count("\n") == 2
    assert holding(database()) == []
    assert holding(files(Path(settings.MEDIA_ROOT))) == []


def test_her_name_leaves_the_figures_of_a_closed_batch_and_the_reports_of_jobs(
    world: World, her: Person
) -> None:
    batch = her.assignments.earliest("pk").batch
    Batch.objects.filter(pk=batch.pk).update(closed_at=NOON)
    batch.refresh_from_db()
    snapshots.views_of_batches([batch], ("agreement", "quality"), now=LATER)
    job = Job.objects.create(
        project=world.project, kind="study", ids={}, made_by=world.mara, made_at=NOON, heartbeat=NOON
    )
    Job.objects.filter(pk=job.pk).update(
        state="failed", error=f"Change {NAME} failed.", result={"done": [f"change person {NAME}"]}
    )
    tables = {text.partition(" ")[0] for text in holding(database())}
    assert tables >= {"annotation_snapshot", "annotation_job"}

    erasure.erase(person=her, by=her, now=LATER)

    assert holding(database()) == []
    job.refresh_from_db()
    assert (job.error, job.result) == (
        "Change Erased person failed.",
        {"done": ["change person Erased person"]},
    )
    shown = snapshots.views_of_batches([batch], ("quality",), now=LATER)[batch.pk, "quality"]
    assert shown.data is not None
    assert "Erased person knows this one better." in json.dumps(shown.data)
    assert holding(database()) == []


def test_an_evaluation_that_is_named_after_her_keeps_its_files(world: World, her: Person) -> None:
    world.label(her.assignments.earliest("pk").batch, "cy", "extraction")
    release = creation.make_release(
        project=world.project, name="first", format="askew", by=world.rea, now=LATER
    )
    ids = {"release": release.pk, "name": f"{NAME}'s model", "predictor": "oracle"}
    run = Job.objects.create(
        project=world.project, kind="evaluate", ids=ids, made_at=NOON, heartbeat=NOON, state="done"
    )
    named = runs.files(run)
    digests: dict[str, str] = {}
    for path in named:
        file = Path(settings.MEDIA_ROOT) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{len(digests)}\n")
        kind = path.rsplit(".")[-2]
        digests[f"{kind}_sha256"] = file_digest(file)
    Job.objects.filter(pk=run.pk).update(result=digests)

    erasure.erase(person=her, by=her, now=LATER)

    run.refresh_from_db()
    assert run.ids["name"] == f"{NOBODY}'s model"
    assert runs.files(run).keys() == named.keys()
    assert [finding for finding in doctor.findings() if "evaluation" in finding] == []


def test_her_name_leaves_the_choices_of_an_import(world: World, her: Person) -> None:
    sent = SimpleUploadedFile("sent", b"[]")
    people = {NAME: "An annotator", "An annotator": NAME, ADDRESS: NAME}
    response_import.start(
        project=world.project,
        upload=uploads.keep(project=world.project, file=sent, by=world.mara, now=NOON),
        tool="label_studio",
        mapping=ImportMapping(people=people),
        by=world.mara,
        now=NOON,
    )
    assert any(text.startswith("annotation_job ") for text in holding(database()))

    erasure.erase(person=her, by=her, now=LATER)

    assert holding(database()) == []


def test_figures_that_were_read_before_the_erasure_are_not_stored_after_it(
    world: World, her: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, read = her.assignments.earliest("pk").batch, snapshots.PARTS["quality"]
    Batch.objects.filter(pk=batch.pk).update(closed_at=NOON)
    batch.refresh_from_db()

    def erased_meanwhile(of: Batch) -> Any:
        figures = read(of)
        erasure.erase(person=her, by=her, now=LATER)
        return figures

    monkeypatch.setitem(snapshots.PARTS, "quality", erased_meanwhile)
    shown = snapshots.views_of_batches([batch], ("quality",), now=LATER)[batch.pk, "quality"]

    assert shown.data is not None
    assert "Erased person knows this one better." in json.dumps(shown.data)
    assert holding(database()) == []


def test_the_search_index_finds_the_texts_again_without_her_name(world: World, her: Person) -> None:
    assert index.refresh(world.project, now=LATER) == 0
    before = IndexedItem.objects.count()
    facts = list(ResponseFact.objects.values_list("item", "person", "kind", "name", "value"))

    erasure.erase(person=her, by=her, now=LATER)
    left = IndexedItem.objects.count()
    assert index.refresh(world.project, now=LATER) == 0

    assert left < before == IndexedItem.objects.count() == SearchIndex.objects.get().items_count
    assert IndexedItem.objects.filter(responded__contains="erased person knows this one better.").count() == 1
    assert holding(database()) == []
    assert list(ResponseFact.objects.values_list("item", "person", "kind", "name", "value")) == facts != []


def test_the_rest_of_what_was_written_stays(world: World, her: Person) -> None:
    erasure.erase(person=her, by=her, now=LATER)
    reasons = set(Assignment.objects.exclude(reason="").values_list("reason", flat=True))
    assert {"Ask me, Erased person: Erased person", "Erased person knows this one better."} <= reasons
    assert Invitation.objects.filter(name="").count() == 3
    detail = Event.objects.filter(thing="inquiry", detail__isnull=False).latest("pk").detail
    assert detail == {
        "what": "answer",
        "from": "That is Erased person.",
        "to": "That is you, Erased person.",
    }


@pytest.mark.parametrize("name", ["To", "true", "2", "what"])
def test_a_name_that_is_a_word_of_json_leaves_the_log_as_it_was(world: World, name: str) -> None:
    detail: dict[str, Any] = {
        "what": "answer",
        "to": ["2 of them", {"way_back": True, "number": 2}],
        "from": None,
    }
    event = audit_log.record(
        project_id=world.project.pk,
        actor=world.ada,
        thing="batch",
        thing_id=1,
        after="x",
        now=NOON,
        detail=detail,
    )
    Person.objects.filter(pk=world.ada.pk).update(name=name, email=None)
    world.ada.refresh_from_db()

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    expected = {**detail, "to": ["Erased person of them", detail["to"][1]]} if name == "2" else detail
    assert Event.objects.get(pk=event).detail == expected


def test_somebody_without_a_name_or_address_of_their_own_changes_nobodys_texts(world: World) -> None:
    setting: dict[str, Any] = {
        "project": world.project,
        "roles": [Role.ANNOTATOR],
        "by": world.mara,
        "now": NOON,
    }
    projects.invite(**setting, name="Adana")
    taken = world.take(world.batch(), "bo")
    assert taken is not None
    assignments.skip(assignment=taken, reason="Two rows are the same.", now=NOON)
    Person.objects.filter(pk=world.ada.pk).update(name=NOBODY, email=None)
    world.ada.refresh_from_db()

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    assert Invitation.objects.get().name == "Adana"
    assert Assignment.objects.exclude(reason="").get().reason == "Two rows are the same."


def test_a_name_is_found_with_other_space_between_its_words(world: World) -> None:
    Person.objects.filter(pk=world.ada.pk).update(name="Ada  Quandt")
    world.ada.refresh_from_db()
    taken = world.take(world.batch(), "bo")
    assert taken is not None
    assignments.skip(assignment=taken, reason="Ada Quandt, ada\nQuandt, Ada\xa0Quandt, Ada", now=NOON)
    assert index.refresh(world.project, now=NOON) == 0

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    expected = "Erased person, Erased person, Erased person, Ada"
    assert Assignment.objects.exclude(reason="").get().reason == expected
    assert [text for text in database() if "quandt" in text.lower()] == []


def test_her_name_leaves_whoever_has_her_imported_labels(world: World, her: Person) -> None:
    for name in (ADDRESS, NAME, "Somebody else"):
        twin = Person.objects.create_person(name, is_external=True, is_active=False)
        Membership.objects.create(project=world.project, person=twin)
    namesake = Person.objects.create_person(NAME, "another@quandt.example", "tilted tables")
    Membership.objects.create(project=world.project, person=namesake)

    erasure.erase(person=her, by=her, now=LATER)

    external = Person.objects.filter(is_external=True).order_by("name")
    assert list(external.values_list("name", flat=True)) == [NOBODY, NOBODY, "Somebody else"]
    namesake.refresh_from_db()
    assert namesake.name == NAME, "another account"


def test_names_that_only_contain_hers_stay(world: World) -> None:
    setting: dict[str, Any] = {
        "project": world.project,
        "roles": [Role.ANNOTATOR],
        "by": world.mara,
        "now": NOON,
    }
    projects.invite(**setting, name="Adana")
    projects.invite(**setting, name="ada")
    erasure.erase(person=world.ada, by=world.ada, now=LATER)
    assert sorted(Invitation.objects.values_list("name", flat=True)) == ["", "Adana"]


CROWD_ID = "5f3c9a-Q7"


def enter_by_link(world: World, person: Person, external_id: str, session_id: str = "") -> None:
    link = CrowdLink.objects.create(
        project=world.project,
        name="Crowd",
        parameters={},
        made_by=world.mara,
        made_at=NOON,
        expires_at=LATER,
    )
    CrowdEntry.objects.create(
        link=link, person=person, external_id=external_id, session_id=session_id, entered_at=NOON
    )


def test_her_id_on_a_crowd_platform_leaves_texts(world: World, her: Person) -> None:
    enter_by_link(world, her, CROWD_ID, "session 00412")
    taken = world.take(world.batch(), "bo")
    assert taken is not None
    reason = f"Ask {CROWD_ID.lower()} ({CROWD_ID}@mail.example), in session 00412, not {CROWD_ID}7."
    assignments.skip(assignment=taken, reason=reason, now=NOON)

    erasure.erase(person=her, by=her, now=LATER)

    taken.refresh_from_db()
    changed = "Ask Erased person (Erased person@mail.example), in Erased person, not 5f3c9a-Q77."
    assert taken.reason == changed
    assert not [text for text in database() if CROWD_ID.lower() in text.replace(changed, "").lower()]


@pytest.mark.parametrize("id_there", ["the", "7", "2024"])
def test_an_id_that_is_a_word_or_a_short_number_changes_nobodys_texts(world: World, id_there: str) -> None:
    enter_by_link(world, world.ada, id_there)
    taken = world.take(world.batch(), "bo")
    assert taken is not None
    assignments.skip(assignment=taken, reason="Of 2024, the 7 rows are the same.", now=NOON)

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    taken.refresh_from_db()
    assert taken.reason == "Of 2024, the 7 rows are the same."


def test_her_name_leaves_the_keys_of_every_column_of_json(world: World, her: Person) -> None:
    stored = {"people": {NAME: "An annotator", "ottilie": "Bo"}, NAME.upper(): [{ADDRESS: 1}], "to": 2}
    job = Job.objects.create(
        project=world.project, kind="study", state="done", ids=stored, made_at=NOON, heartbeat=NOON
    )
    Job.objects.filter(pk=job.pk).update(result=stored)
    audit_log.record(
        project_id=world.project.pk,
        actor=world.ada,
        thing="batch",
        thing_id=1,
        after="x",
        now=NOON,
        detail=stored,
    )

    erasure.erase(person=her, by=her, now=LATER)

    assert holding(database()) == []
    job.refresh_from_db()
    changed = {
        "people": {NOBODY: "An annotator", "ottilie": "Bo"},
        NOBODY: [{NOBODY: 1}],
        "to": 2,
    }
    assert job.ids == job.result == changed


def test_a_name_in_small_letters_leaves_the_people_of_an_import(world: World) -> None:
    Person.objects.filter(pk=world.ada.pk).update(name="ottilie")
    job = Job.objects.create(
        project=world.project,
        kind="import_responses",
        ids={"mapping": {"people": {"ottilie": "Ada"}, "fields": {"label": "label"}}},
        result={"by_person": {"ottilie": 3}},
        made_at=NOON,
        heartbeat=NOON,
    )

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    job.refresh_from_db()
    assert job.ids["mapping"] == {"people": {NOBODY: "Ada"}, "fields": {"label": "label"}}
    assert job.result == {"by_person": {NOBODY: 3}}


@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_name_is_found_in_another_unicode_form(
    world: World, forms: tuple[Literal["NFC", "NFD"], ...]
) -> None:
    account, written = (unicodedata.normalize(form, "Zoë Ödön") for form in forms)
    Person.objects.filter(pk=world.ada.pk).update(name=account)
    taken = world.take(world.batch(), "bo")
    assert taken is not None
    assignments.skip(assignment=taken, reason=f"Ask {written}.", now=NOON)

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    taken.refresh_from_db()
    assert taken.reason == "Ask Erased person."


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Max Groß", "MAX GROSS"),
        ("Max Gross", "max groß"),
        ("Sean O'Brien", "Sean O’Brien"),
        ("Anna-Lena Pohl", "Anna\u2011Lena Pohl"),
        ("王小明", "王小明"),
    ],
)
def test_a_name_is_found_as_others_type_it(world: World, name: str, written: str) -> None:
    Person.objects.filter(pk=world.ada.pk).update(name=name)
    taken = world.take(world.batch(), "bo")
    assert taken is not None
    around = "问{}老师" if name == "王小明" else "Ask __{}__ or _{}_."
    assignments.skip(assignment=taken, reason=around.format(written, written), now=NOON)

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    taken.refresh_from_db()
    assert taken.reason == around.format(NOBODY, NOBODY)


@pytest.mark.parametrize("name", ["label", "studio"])
def test_a_name_that_is_a_part_of_a_word_of_code_leaves_it(world: World, name: str) -> None:
    Person.objects.filter(pk=world.ada.pk).update(name=name)
    ids = {"tool": "label_studio", "note": f"_{name}_"}
    job = Job.objects.create(
        project=world.project, kind="study", ids=ids, made_at=NOON, heartbeat=NOON, state="done"
    )

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    job.refresh_from_db()
    assert job.ids == {"tool": "label_studio", "note": f"_{NOBODY}_"}


def test_own_views_go_where_there_is_no_name(world: World) -> None:
    Person.objects.filter(pk=world.ada.pk).update(name="", email=None)
    view = {"project": world.project, "made_by": world.ada, "made_at": NOON, "query": "q=mine"}
    SavedView.objects.create(name="Mine", is_shared=False, **view)
    SavedView.objects.create(name="Ours", is_shared=True, **view)

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    assert list(SavedView.objects.values_list("name", flat=True)) == ["Ours"]


@pytest.mark.parametrize("ends", ["done", "refused", "stored"])
def test_a_job_that_ran_during_the_erasure_leaves_no_name(
    world: World, her: Person, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    batch = her.assignments.earliest("pk").batch

    def work(job: Job, progress: jobs.Progress) -> dict[str, Any]:
        erasure.erase(person=her, by=her, now=LATER)
        Batch.objects.filter(pk=batch.pk).update(set_aside_because=f"{job.ids['note']} (job)")
        if ends == "refused":
            refuse("import_failed", "{name} is not here.", name=NAME)
        if ends == "stored":
            jobs.store_result(job, {"done": [NAME]})
            assert holding(database()) == []
        return {"done": [NAME], NAME: 1}

    monkeypatch.setitem(jobs.KINDS, "study", work)
    job = jobs.enqueue(project=world.project, kind="study", ids={"note": NAME}, by=world.mara, now=NOON)

    assert jobs.run(job.pk) == ("failed" if ends == "refused" else "done")

    assert holding(database()) == []
    batch.refresh_from_db()
    assert batch.set_aside_because == "Erased person (job)"


class TestBesideAnIndexer:
    @pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
    @pytest.mark.django_db(transaction=True)
    def test_what_was_read_before_is_not_written_to_the_index_afterwards(
        self, world: World, her: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index.refresh(world.project, now=LATER)
        keys = list(IndexedItem.objects.values_list("pk", flat=True))
        read, go_on, written = threading.Event(), threading.Event(), index._written_texts

        def pause(items: Sequence[int]) -> dict[int, list[str]]:
            found = written(items)
            read.set()
            assert go_on.wait(30)
            return found

        monkeypatch.setattr(index, "_written_texts", pause)
        indexer = threading.Thread(target=_then_close, args=[lambda: index.index_items(keys)])
        eraser = threading.Thread(
            target=_then_close, args=[lambda: erasure.erase(person=her, by=her, now=LATER)]
        )
        indexer.start()
        try:
            assert read.wait(30)
            eraser.start()
            wait_until(lambda: _waits_for_a_lock() or not eraser.is_alive(), "the erasure waits or is done")
        finally:
            go_on.set()
            indexer.join(30)
        eraser.join(30)

        assert Person.objects.get(pk=her.pk).erased_at == LATER
        assert holding(database()) == []


def _then_close(run: Callable[[], object]) -> None:
    try:
        run()
    finally:
        connection.close()


def _waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone()[0])
