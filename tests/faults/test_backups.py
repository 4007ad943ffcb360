"""A backup is the whole installation as of one moment, made while people work; restored, it is the same again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.utils import timezone

from annotation.access import authorization
from annotation.background import uploads
from annotation.management import backup
from annotation.models import Annotation, Assignment, Job, LabelImport, Source
from annotation.queue import reservations
from annotation.releases import creation
from annotation.releases.model_evaluation import queries, runs
from annotation.workflow import assignments
from tests.annotation.cast import NOON, World, make_world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]

ROOT = Path(__file__).resolve().parents[2]

Elsewhere = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def world(tmp_path: Path) -> World:
    if connection.vendor == "postgresql" and shutil.which("pg_dump") is None:
        pytest.skip("pg_dump is not on this machine")
    return make_world(tmp_path)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Any:
    """Runs a command of an installation with a data folder and a database of its own, which is empty."""
    environment = {
        **os.environ,
        "ASKEW_DATA_DIR": str(tmp_path / "elsewhere"),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    environment.pop("DATABASE_URL", None)
    name = ""
    if connection.vendor == "postgresql":
        told = connection.settings_dict
        name = f"{told['NAME']}_elsewhere"  # tests run beside each other, each process with a database of its own
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
            cursor.execute(f"CREATE DATABASE {name}")
        environment["DATABASE_URL"] = f"postgres://{told['USER']}@/{name}?host={told['HOST']}"

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "manage.py", *command]
        return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    yield run
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def submit(world: World, batch: Any, who: str, label: str = "extraction") -> bool:
    """Take the next item and submit it; False when there is none."""
    person = world.people[who]
    taken = reservations.next_assignment(batch=batch, person=person, now=NOON)
    if taken is None:
        return False
    assignment = authorization.assignment(authorization.Actor(person), taken.public_id)
    response = batch.task().envelope(batch.task().restore({"label": label}), assignment.plain_item)
    assignments.submit(assignment=assignment, response=response, now=NOON + timedelta(seconds=9))
    return True


def test_what_is_restored_is_what_was_backed_up(world: World, tmp_path: Path, elsewhere: Elsewhere) -> None:
    batch = world.batch()
    while submit(world, batch, "ada"):
        pass
    upload = Path(settings.MEDIA_ROOT) / "uploads" / "questions.jsonl"
    upload.parent.mkdir(parents=True, exist_ok=True)
    upload.write_text('{"id": "q"}\n')

    call_command("backup", tmp_path / "backup")
    restored = elsewhere("restore", str(tmp_path / "backup"))
    assert restored.returncode == 0, restored.stderr
    assert elsewhere("doctor").returncode == 0
    assert (tmp_path / "elsewhere" / "media" / "uploads" / "questions.jsonl").read_text() == '{"id": "q"}\n'
    again = elsewhere("backup", str(tmp_path / "again"))
    assert again.returncode == 0, again.stderr
    assert rows(tmp_path / "again") == rows(tmp_path / "backup")
    assert rows(tmp_path / "backup")["annotation_annotation"] == Annotation.objects.count() > 0
    upload.unlink()


def rows(folder: Path) -> dict[str, int]:
    found: dict[str, int] = json.loads((folder / "manifest.json").read_text())["rows"]
    return found


def test_people_who_work_meanwhile_are_in_it_with_whole_submissions_or_not_at_all(
    world: World, tmp_path: Path, elsewhere: Elsewhere
) -> None:
    batch, done = world.batch(overlap=3), []
    begun = threading.Event()

    def work(who: str) -> None:
        try:
            while submit(world, batch, who):
                done.append(who)
                begun.set()
        finally:
            connections.close_all()

    crew = [threading.Thread(target=work, args=(who,)) for who in ("ada", "bo")]
    for one in crew:
        one.start()
    begun.wait(30)
    call_command("backup", tmp_path / "backup")
    for one in crew:
        one.join()
    assert elsewhere("restore", str(tmp_path / "backup")).returncode == 0
    found = elsewhere("doctor")
    assert found.returncode == 0, found.stderr
    assert (
        0
        < rows(tmp_path / "backup")["annotation_annotation"]
        <= len(done)
        == Assignment.objects.submitted().count()
    )


def test_what_was_under_way_when_the_backup_was_made_is_no_inconsistency(
    world: World, tmp_path: Path, elsewhere: Elsewhere
) -> None:
    """Nobody was heard of since: a job and two imports that were at it."""
    batch = world.batch()
    assert submit(world, batch, "ada")
    Job.objects.create(
        project=world.project,
        kind="release",
        made_at=NOON,
        heartbeat=NOON,
        state=Job.State.RUNNING,
        attempts=1,
    )
    Source.objects.create(project=world.project, name="half", reader="wtq", started_at=NOON)
    LabelImport.objects.create(batch=batch, digest="0" * 64, started_at=NOON)
    call_command("backup", tmp_path / "backup")
    assert elsewhere("restore", str(tmp_path / "backup")).returncode == 0
    found = elsewhere("doctor")
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("Repaired automatically: ") == 3


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json is missing"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest.json cannot be read as JSON"),
        (lambda folder: (folder / "media" / "uploads" / "a.txt").write_text("other"), "was changed after"),
        (lambda folder: (folder / "media" / "uploads" / "a.txt").unlink(), "is missing from the backup"),
        (lambda folder: (folder / "media" / "b.txt").write_text("b"), "is not in the manifest"),
        (lambda folder: _flip(folder / backup.DATABASES[connection.vendor]), "was changed after"),
        (lambda folder: _say(folder, migrations=["annotation.9999_later"]), "newer than this program"),
        (lambda folder: _say(folder, migrations=["annotation.0001_initial"]), "between two versions"),
        (lambda folder: _say(folder, engine="oracle"), "names"),
        (lambda folder: _say(folder, format=2), "format 2"),
    ],
)
def test_a_backup_that_is_not_whole_is_refused_before_anything_is_restored(
    world: World, tmp_path: Path, elsewhere: Elsewhere, damage: Callable[[Path], Any], said: str
) -> None:
    upload = Path(settings.MEDIA_ROOT) / "uploads" / "a.txt"
    upload.parent.mkdir(parents=True, exist_ok=True)
    upload.write_text("a file")
    call_command("backup", tmp_path / "backup")
    upload.unlink()
    damage(tmp_path / "backup")
    with pytest.raises(CommandError, match=said):
        call_command("restore", tmp_path / "backup")


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def _say(folder: Path, **what: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **what}))


def test_nothing_is_restored_over_somebodys_work_and_no_backup_over_another(
    world: World, tmp_path: Path
) -> None:
    call_command("backup", tmp_path / "backup")
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", tmp_path / "backup")
    with pytest.raises(CommandError, match=r"contains (files|tables)"):
        call_command("restore", tmp_path / "backup")
    assert Assignment.objects.count() == 0
    assert type(world.project).objects.filter(pk=world.project.pk).exists()


def test_a_linked_folder_is_refused_by_name(world: World, tmp_path: Path) -> None:
    disk, link = tmp_path / "disk", Path(settings.MEDIA_ROOT) / "releases"
    disk.mkdir()
    (disk / "data.jsonl").write_text("{}\n")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(disk)
    try:
        with pytest.raises(CommandError, match=r"releases is a link"):
            call_command("backup", tmp_path / "backup")
    finally:
        link.unlink()
    assert list(tmp_path.glob("backup*")) == []
    call_command("backup", tmp_path / "backup")


def test_a_backup_among_the_files_that_it_copies_is_refused(world: World, tmp_path: Path) -> None:
    """Each backup would have those before it in it."""
    folder = Path(settings.MEDIA_ROOT) / "backups" / "first"
    (tmp_path / "media").symlink_to(settings.MEDIA_ROOT)
    for named in (folder, tmp_path / "media" / "first"):
        with pytest.raises(CommandError, match=r"first is in .*media"):
            call_command("backup", str(named))
    assert not folder.parent.exists()


def test_a_backup_with_statistics_of_the_database_restores(
    world: World, tmp_path: Path, elsewhere: Elsewhere
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    call_command("backup", tmp_path / "backup")
    restored = elsewhere("restore", str(tmp_path / "backup"))
    assert restored.returncode == 0, restored.stderr


@pytest.fixture
def filled(world: World) -> dict[str, Path]:
    """A release, an evaluation of it, and a study file that waits: a file of each kind that the database names."""
    release = creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=timezone.now()
    )
    instances = queries.instances(queries.load(creation.folder(release)))
    said = "".join(
        json.dumps({"source": one.source, "id": one.id, "answers": list(one.answers)}) + "\n"
        for one, _ in instances
    )
    run = runs.start(
        release=release,
        name="TAPEX",
        by=world.rea,
        now=timezone.now(),
        file=SimpleUploadedFile("said.jsonl", said.encode()),
    )
    run.refresh_from_db()
    assert run.state == Job.State.DONE, run.error
    sent = SimpleUploadedFile("study.yaml", b"x")
    upload = uploads.keep(project=world.project, file=sent, by=world.mara, now=timezone.now())
    Job.objects.create(
        project=world.project,
        kind="study",
        ids={"upload": upload.pk},
        made_at=timezone.now(),
        heartbeat=timezone.now(),
    )
    media = Path(settings.MEDIA_ROOT)
    judged, predictions = sorted(runs.files(run))
    return {
        "data": creation.folder(release) / "sources.jsonl",
        "manifest": creation.folder(release) / "manifest.json",
        "judged": media / judged,
        "predictions": media / predictions,
        "upload": Path(upload.file.path),
    }


def test_a_backup_has_every_file_that_the_database_names(
    world: World, filled: dict[str, Path], tmp_path: Path, elsewhere: Elsewhere
) -> None:
    call_command("backup", tmp_path / "backup")
    call_command("restore", tmp_path / "backup", "--check")
    assert elsewhere("restore", str(tmp_path / "backup")).returncode == 0
    for path in filled.values():
        copy = tmp_path / "elsewhere" / "media" / path.relative_to(settings.MEDIA_ROOT)
        assert copy.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("which", ["data", "manifest", "judged", "predictions", "upload"])
def test_a_file_that_the_database_names_and_that_is_gone_is_named_by_backup_and_check(
    world: World, filled: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], which: str
) -> None:
    filled[which].unlink()
    name = filled[which].relative_to(settings.MEDIA_ROOT).as_posix()
    for command, *options in (("backup",), ("restore", "--check")):
        with pytest.raises(CommandError, match="1 files that the database names are not in the backup"):
            call_command(command, tmp_path / "backup", *options)
        assert f"{name} is missing" in capsys.readouterr().err
        assert json.loads((tmp_path / "backup/manifest.json").read_text())["lacking"] == [
            f"{name} is missing"
        ]


@pytest.mark.parametrize("which", ["data", "manifest", "judged", "predictions"])
def test_a_file_that_is_not_the_one_that_the_database_names_is_named(
    world: World, filled: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], which: str
) -> None:
    filled[which].write_text("other")
    with pytest.raises(CommandError, match="1 files that the database names"):
        call_command("backup", tmp_path / "backup")
    assert "is not the file that the database names" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"xy"], ids=["cut", "longer"])
@pytest.mark.parametrize("came", ["whole", "in slices"])
def test_an_upload_that_is_not_as_long_as_it_was_sent_is_named_by_backup_and_check(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], came: str, content: bytes
) -> None:
    sent: dict[str, Any] = {"project": world.project, "by": world.mara, "now": timezone.now()}
    if came == "whole":
        upload = uploads.keep(file=SimpleUploadedFile("study.yaml", b"x"), **sent)
    else:
        upload = uploads.begin(name="study.yaml", size=1, **sent)
        uploads.append(upload=upload, offset=0, data=b"x")
    waits = {"kind": "study", "ids": {"upload": upload.pk}}
    Job.objects.create(project=world.project, made_at=NOON, heartbeat=NOON, **waits)
    Path(upload.file.path).write_bytes(content)
    name = f"{upload.file.name} is not the file that the database names"

    for command, *options in (("backup",), ("restore", "--check")):
        with pytest.raises(CommandError, match="1 files that the database names"):
            call_command(command, tmp_path / "backup", *options)
        assert name in capsys.readouterr().err
    assert json.loads((tmp_path / "backup/manifest.json").read_text())["lacking"] == [name]


def edit(folder: Path, change: Callable[[Any], Any]) -> None:
    manifest = folder / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(change(content) or content))


def test_of_a_backup_without_the_list_of_named_files_the_check_says_what_is_not_known(
    world: World, filled: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled["judged"].unlink()
    with pytest.raises(CommandError):
        call_command("backup", tmp_path / "backup")
    edit(tmp_path / "backup", lambda content: content.pop("named") and None)
    capsys.readouterr()

    call_command("restore", tmp_path / "backup", "--check")

    said = capsys.readouterr()
    assert "complete" not in said.out
    assert "Not known: whether all files that the database names are in this backup." in said.err


@pytest.mark.parametrize(
    ("change", "place", "reason"),
    [
        (lambda content: [content], "", "Expected a mapping of keys"),
        (lambda content: content.update(files=[]), ", 'files'", "Expected a mapping of keys, not a list."),
        (lambda content: content["files"].update(a=["x"]), ", 'files', 'a'", "the SHA-256 of the file"),
        (lambda content: content["files"].update(a=["x", "1"]), ", 'files', 'a', 1", "whole number"),
        (lambda content: content["files"].update(a=[1, 1]), ", 'files', 'a', 0", "Expected text, not 1."),
        (lambda content: content["files"].update(a=None), ", 'files', 'a'", "Expected a list"),
        (lambda content: content["files"].clear(), ", 'files'", "the database of"),
        (lambda content: content.update(rows=[1]), ", 'rows'", "Expected a mapping of keys, not a list."),
        (lambda content: content["rows"].update(a="1"), ", 'rows', 'a'", "Expected a whole number"),
        (lambda content: content.update(migrations=[1]), ", 'migrations', 0", "Expected text, not 1."),
        (lambda content: content.update(engine=None), ", 'engine'", "Expected text"),
        (lambda content: content.update(named=["a"]), ", 'named'", "Expected a mapping of keys"),
        (lambda content: content["named"].update(a=[1]), ", 'named', 'a'", "Expected"),
        (lambda content: content.pop("rows") and None, "", "rows is missing. Add it."),
    ],
)
def test_a_manifest_that_was_edited_is_refused_with_its_place(
    world: World, tmp_path: Path, change: Callable[[Any], Any], place: str, reason: str
) -> None:
    call_command("backup", tmp_path / "backup")
    edit(tmp_path / "backup", change)

    for options in (["--check"], []):
        with pytest.raises(CommandError) as refused:
            call_command("restore", tmp_path / "backup", *options)
        assert str(refused.value).startswith(f"{tmp_path / 'backup' / 'manifest.json'}{place}: ")
        assert reason in str(refused.value)
        assert str(refused.value).endswith("or use another backup.")


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000])
def test_a_manifest_that_is_not_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(CommandError, match=r"manifest\.json cannot be read as JSON"):
        call_command("restore", tmp_path, "--check")


def test_an_incomplete_backup_is_restored_as_far_as_it_goes(
    world: World, filled: dict[str, Path], tmp_path: Path, elsewhere: Elsewhere
) -> None:
    filled["judged"].unlink()
    with pytest.raises(CommandError):
        call_command("backup", tmp_path / "backup")
    restored = elsewhere("restore", str(tmp_path / "backup"))
    assert restored.returncode == 0, restored.stderr
    assert "judged.jsonl is missing" in restored.stderr
    told = elsewhere("doctor")
    assert told.returncode == 1
    assert "judged.jsonl is missing" in told.stderr


def test_a_restore_that_ends_with_other_counts_leaves_nothing_and_can_be_repeated(
    world: World, filled: dict[str, Path], tmp_path: Path, elsewhere: Elsewhere
) -> None:
    call_command("backup", tmp_path / "backup")
    shutil.copytree(tmp_path / "backup", tmp_path / "wrong")
    counts = rows(tmp_path / "backup")
    _say(tmp_path / "wrong", rows={**counts, "annotation_person": counts["annotation_person"] + 1})
    refused = elsewhere("restore", str(tmp_path / "wrong"))
    assert refused.returncode == 1
    assert "annotation_person has" in refused.stderr
    assert "Nothing was restored" in refused.stderr
    assert not (tmp_path / "elsewhere" / "media").exists()
    again = elsewhere("restore", str(tmp_path / "backup"))
    assert again.returncode == 0, again.stderr


def test_a_link_in_a_backup_is_refused(world: World, tmp_path: Path) -> None:
    call_command("backup", tmp_path / "backup")
    link = tmp_path / "backup" / "media" / "link"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path)
    with pytest.raises(CommandError, match="media/link is not in the manifest"):
        call_command("restore", tmp_path / "backup", "--check")


def test_a_failed_restore_leaves_nothing_where_the_data_folder_is_a_link(
    world: World, filled: dict[str, Path], tmp_path: Path, elsewhere: Elsewhere
) -> None:
    call_command("backup", tmp_path / "backup")
    shutil.copytree(tmp_path / "backup", tmp_path / "wrong")
    _say(tmp_path / "wrong", rows={"annotation_person": 1})
    disk, media = tmp_path / "disk", tmp_path / "elsewhere" / "media"
    disk.mkdir()
    media.parent.mkdir()
    media.symlink_to(disk)
    assert "Nothing was restored" in elsewhere("restore", str(tmp_path / "wrong")).stderr
    assert list(disk.iterdir()) == []
    again = elsewhere("restore", str(tmp_path / "backup"))
    assert again.returncode == 0, again.stderr
    assert list(disk.iterdir()) != []


def test_a_backup_that_fails_half_way_leaves_nothing_that_looks_like_one(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "_copy_media", full)
    with pytest.raises(OSError, match="No space left"):
        call_command("backup", tmp_path / "backup")
    assert list(tmp_path.glob("backup*")) == []


def test_a_folder_that_goes_while_it_is_looked_at_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "releases" / "r1").mkdir(parents=True)
    (tmp_path / "releases" / "r1" / "manifest.json").write_text("{}")
    (tmp_path / "releases" / "r2.part").mkdir()
    whole = os.scandir

    def scandir(folder: Any) -> Any:
        if str(folder).endswith("r2.part"):
            (tmp_path / "releases" / "r2.part").rmdir()
        return whole(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    assert list(backup._files(tmp_path)) == ["releases/r1/manifest.json"]
