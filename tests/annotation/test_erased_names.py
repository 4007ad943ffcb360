"""How the name of an erased person is found: in other typings, in jobs that go on, and after it was changed."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.accounts import erasure, personal_data, sign_up
from annotation.background import jobs
from annotation.background.erased_names import NAME as NOBODY
from annotation.background.erased_names import Names
from annotation.models import Assignment, Batch, Event, Job, Person
from annotation.workflow import assignments, projects
from tests.annotation.cast import NOON, World, make_world

pytestmark = pytest.mark.both

LATER = NOON + timedelta(hours=1)
NAME = "Ottilie Quandt"


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    world = make_world(tmp_path)
    Person.objects.filter(pk=world.ada.pk).update(name=NAME)
    world.ada.refresh_from_db()
    return world


def reason_after_erasing(world: World, reason: str) -> str:
    taken = world.take(world.batch(), "bo")
    assert taken is not None
    assignments.skip(assignment=taken, reason=reason, now=NOON)
    erasure.erase(person=world.ada, by=world.ada, now=LATER)
    return Assignment.objects.get(pk=taken.pk).reason


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (NAME, "Quandt, Ottilie"),
        (NAME, "QUANDT,OTTILIE"),
        (NAME, "Quandt Ottilie"),
        (NAME, "Ottilie-Quandt"),
        (NAME, "Ottilie+Quandt"),
        (NAME, "Ottilie%20Quandt"),
        ("Anna Lena Pohl", "Anna-Lena Pohl"),
        ("Quandt, Ottilie", "Ottilie Quandt"),
        ("Ottilie Maria Quandt", "Quandt, Ottilie Maria"),
        (NAME, "Ｏｔｔｉｌｉｅ\u3000Ｑｕａｎｄｔ"),
        ("Steﬃ Ｑuandt", "Steffi Quandt"),
        ("Steffi Fink", "Ste\ufb03 \ufb01nk"),
        (NAME, "𝐎𝐭𝐭𝐢𝐥𝐢𝐞 𝐐𝐮𝐚𝐧𝐝𝐭"),
        (NAME, "Otti\u00adlie Qu\u200bandt"),
        ("Zoë Ödön", "Zoe O\u0308do\u0308n"),
        ("Jürgen Müller", "Juergen Mueller"),
        ("Jürgen Müller", "JURGEN MULLER"),
        ("Łukasz Sørensen", "lukasz sorensen"),
        ("Ali Yıldız", "ALİ YILDIZ"),
        ("Anna-Lena Pohl", "Pohl, Anna Lena"),
        ("Sean O'Brien", "Sean O´Brien"),
        ("ガブリエル", "ｶﾞﾌﾞﾘｴﾙ"),
        ("홍길동", "홍길동"),
    ],
)
def test_a_name_is_found_however_it_is_typed(world: World, name: str, written: str) -> None:
    Person.objects.filter(pk=world.ada.pk).update(name=name)

    assert reason_after_erasing(world, f"Ask ({written}), ﬁrst.") == f"Ask ({NOBODY}), ﬁrst."


@pytest.mark.parametrize(
    "written", ["Quandt", "Ottilie", "Ottilie von Quandt", "Ottilied Quandt", "Ottilie. Quandt"]
)
def test_parts_of_a_name_and_other_names_stay(world: World, written: str) -> None:
    assert reason_after_erasing(world, written) == written


def test_an_address_that_begins_with_the_name_goes_whole(world: World) -> None:
    Person.objects.filter(pk=world.ada.pk).update(name="Ada", email="ada@quandt.example")

    assert reason_after_erasing(world, "Ask ada@quandt.example or Ada.") == f"Ask {NOBODY} or {NOBODY}."


def test_accents_of_the_letters_around_a_name_stay() -> None:
    names = Names([NAME, None, [], None, None])

    assert (
        names.without("cafe\u0301 Ottilie Quandt e\u0301te\u0301") == f"cafe\u0301 {NOBODY} e\u0301te\u0301"
    )
    assert names.without("Ottilie Quandt\u0301.") == f"{NOBODY}."


def test_a_former_name_and_a_former_address_are_found(world: World) -> None:
    before = world.ada.email
    root = Person.objects.create_person("Root", is_administrator=True)
    for name in ("Ottilie Berg", "Ottilie Zander"):
        sign_up.rename(person=world.ada, name=name, email="new@zander.example", by=root, now=NOON)
    world.ada.refresh_from_db()
    assert world.ada.former_names == [NAME, before, "Ottilie Berg"]
    assert personal_data.export(world.ada, now=NOON)["account"]["former_names"] == world.ada.former_names

    reason = reason_after_erasing(world, f"{NAME}, {before}, Berg, Ottilie; Ottilie Zander")

    assert reason == f"{NOBODY}, {NOBODY}, {NOBODY}; {NOBODY}"
    world.ada.refresh_from_db()
    assert world.ada.former_names == []


def test_the_name_before_the_registration_is_found(world: World) -> None:
    projects.register(
        name="Ottilie Berg", email="ottilie@berg.example", password="tilted tables", person=world.ada
    )

    assert reason_after_erasing(world, f"Ask {NAME}.") == f"Ask {NOBODY}."


def job_of(world: World, kind: str, ids: dict[str, Any], **more: Any) -> Job:
    return Job.objects.create(
        project=world.project, kind=kind, ids=ids, made_by=world.mara, made_at=NOON, heartbeat=NOON, **more
    )


def evaluation(name: str) -> dict[str, Any]:
    return {"release": 1, "name": f"{name}'s", "predictor": name, "leave_out_missing": False}


def reading(name: str) -> dict[str, Any]:
    credit = {"citation": f"{name}: A data set", "url": "", "licence": ""}
    choices = {"name": name, "fields": {"question": name}, "credit": credit}
    return {"reader": name, "questions": 1, "tables": None, "choices": choices}


def responses(name: str) -> dict[str, Any]:
    mapping = {"task_type": name, "fields": {name: "label"}, "values": {"label": {name: name}}}
    return {"upload": 1, "tool": name, "mapping": {**mapping, "people": {name: name}}, "language": name}


def others(ids: dict[str, Any]) -> dict[str, Any]:
    """What a job goes by: all but what people wrote."""
    mapping = {key: value for key, value in ids.get("mapping", {}).items() if key != "people"}
    return {
        **{key: value for key, value in ids.items() if key != "name" or "state" in ids},
        "mapping": mapping,
    }


@pytest.mark.parametrize("state", ["queued", "running"])
@pytest.mark.parametrize(
    ("kind", "ids"),
    [
        ("evaluate", evaluation),
        ("import", reading),
        ("import_responses", responses),
        ("ask_originals", lambda name: {"sources": [1], "of": name, "task_type": name, "predictor": name}),
        ("index", lambda name: {"name": name, "state": name}),
        ("snapshot", lambda name: {"parts": {name: [1]}}),
    ],
)
def test_a_waiting_job_whose_codes_are_the_name_goes_on_as_before(
    world: World, kind: str, ids: Any, state: str
) -> None:
    name = "oracle" if kind != "import" else "Own columns"
    Person.objects.filter(pk=world.ada.pk).update(name=name, email=None)
    job = job_of(world, kind, ids(name), state=state)

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    job.refresh_from_db()
    assert others(job.ids) == others(ids(name))
    if kind == "evaluate":
        assert job.ids["name"] == f"{NOBODY}'s"
    if kind == "import_responses":
        assert job.ids["mapping"]["people"] == {NOBODY: NOBODY}


def test_the_name_leaves_the_codes_of_a_job_when_it_ends(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def work(job: Job, progress: jobs.Progress) -> dict[str, Any]:
        seen.append(job.ids["column"])
        return {}

    monkeypatch.setitem(jobs.KINDS, "study", work)
    job = job_of(world, "study", {"column": NAME})

    erasure.erase(person=world.ada, by=world.ada, now=LATER)
    assert jobs.run(job.pk) == "done"

    assert seen == [NAME]
    job.refresh_from_db()
    assert (job.ids, job.erased) == ({"column": NOBODY}, None)


def test_codes_of_ended_jobs_and_of_the_log_stay(world: World) -> None:
    Person.objects.filter(pk=world.ada.pk).update(name="Berlin", email=None)
    job = job_of(world, "evaluate", {**evaluation("Berlin")}, state="done")
    changed = {"what": "time_zone", "from": "Europe/Berlin", "to": "UTC"}
    logged = Event.objects.create(
        project=world.project,
        thing="project",
        thing_id=world.project.pk,
        after="changed",
        at=NOON,
        detail=changed,
    )

    erasure.erase(person=world.ada, by=world.ada, now=LATER)

    job.refresh_from_db()
    logged.refresh_from_db()
    assert (job.ids["predictor"], job.ids["name"]) == ("Berlin", f"{NOBODY}'s")
    assert logged.detail == changed


class WorkerKilled(BaseException):
    """The worker is gone: nothing after this is done in its process."""


def killed_after_writing(
    world: World, batch: Batch, monkeypatch: pytest.MonkeyPatch, *, ends: str = ""
) -> Job:
    """A job whose worker reads a name, and is killed once it wrote the name that was erased meanwhile."""

    def work(job: Job, progress: jobs.Progress) -> dict[str, Any]:
        if job.attempts > 1:
            return {}
        erasure.erase(person=world.ada, by=world.ada, now=LATER)
        Batch.objects.filter(pk=batch.pk).update(set_aside_because=f"{NAME} made the guidelines.")
        if ends == "cancelled":
            Job.objects.filter(pk=job.pk).update(state="failed", error=jobs.CANCELLED)
            raise jobs.JobCancelled
        raise WorkerKilled

    monkeypatch.setitem(jobs.KINDS, "study", work)
    job = jobs.enqueue(project=world.project, kind="study", ids={}, by=world.mara, now=NOON)
    if ends == "cancelled":
        assert jobs.run(job.pk) == "cancelled"
    else:
        with pytest.raises(WorkerKilled):
            jobs.run(job.pk)
    assert "Quandt" in json.dumps(list(Batch.objects.values_list("set_aside_because", flat=True)))
    return job


@pytest.mark.parametrize("ends", ["resumed", "failed", "cancelled"])
def test_a_job_whose_worker_was_killed_after_it_wrote_the_name_leaves_no_name(
    world: World, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    batch = world.batch()
    job = killed_after_writing(world, batch, monkeypatch, ends=ends)

    if ends == "failed":
        Job.objects.filter(pk=job.pk).update(attempts=jobs.MOST_ATTEMPTS)
    lost = jobs.clock() + 2 * jobs.LOST_AFTER
    jobs.reap(now=lost)
    jobs.reap(now=lost + 2 * jobs.LOST_AFTER)

    batch.refresh_from_db()
    job.refresh_from_db()
    assert batch.set_aside_because == f"{NOBODY} made the guidelines."
    assert (job.state, job.erased) == ("done" if ends == "resumed" else "failed", None)
