"""Uploaded files are read in a process of its own, which takes no more than it may and leaves nothing."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as installed

from annotation.background import sandbox
from annotation.platform.refusals import ActionRefused
from tableqa.readers.ingestion import ReadRequest, ReadResult, Rows
from tests.attacks.hostile_files import compressed_buffers, saved_to_disk, shared_strings
from tests.waiting import wait_until

QUESTIONS = "id,question,answer,table\n1,who won?,Ann,t.csv\n2,who lost?,Bob,gone.csv\n"


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    files = tmp_path / "files"
    files.mkdir()
    (files / "q.csv").write_text(QUESTIONS)
    (files / "t.csv").write_text("Name,Wins\nAnn,3\n")
    return files


@pytest.fixture
def endless(folder: Path) -> Path:
    """A file at which a reader waits for ever."""
    os.mkfifo(folder / "endless.csv")
    return folder / "endless.csv"


def read(path: Path, beat: Callable[[int], None] = lambda number: None, **more: Any) -> ReadResult:
    with sandbox.folder() as folder:
        request = ReadRequest(
            "own",
            str(path),
            str(folder / "rows.jsonl"),
            hidden=[str(path.parent), str(path.parent.parent)],
            **more,
        )
        found = sandbox.read(request, beat, name=path.name)
        assert sum(map(len, Rows.read(Path(request.rows)))) == found.number
        return found


def left() -> list[Path]:
    return list((Path(installed.MEDIA_ROOT) / "reading").glob("*"))


def children() -> list[int]:
    """The readings that this process, or one that it started, has under way."""
    listed = subprocess.run(
        ["pgrep", "-f", "tableqa.readers.worker_process"], capture_output=True, text=True, check=False
    )
    mine = str(Path(installed.MEDIA_ROOT))
    return [pid for pid in map(int, listed.stdout.split()) if mine in _command(pid)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_what_is_read_is_what_the_file_says(folder: Path) -> None:
    found = read(folder / "q.csv")

    assert (found.number, found.rejected, found.whole) == (1, 1, True)
    assert found.cause is not None
    assert found.cause.what == "the table gone.csv is not in files"
    assert str(folder) not in repr(found)
    assert left() == []


def test_a_fault_of_a_file_comes_with_its_reason(folder: Path) -> None:
    (folder / "q.csv").write_bytes(b"%PDF-1.7")

    found = read(folder / "q.csv")

    assert found.cause is not None
    assert (found.number, found.whole, found.cause.what) == (0, False, "this is a PDF file")


def test_a_fault_that_stops_the_reading_is_refused(folder: Path) -> None:
    (folder / "q.csv").unlink()

    with pytest.raises(ActionRefused, match=r"q\.csv"):
        read(folder / "q.csv")


def test_a_file_that_takes_too_long_is_refused(endless: Path, settings: Any) -> None:
    settings.IMPORT_SECONDS = 1

    with pytest.raises(ActionRefused, match=r"Reading endless\.csv takes more than 1 seconds"):
        read(endless)

    assert (children(), left()) == ([], [])


@pytest.mark.skipif(
    sys.platform != "linux", reason="this system does not tell how much memory a process uses"
)
def test_a_file_that_takes_too_much_memory_is_refused(endless: Path, settings: Any) -> None:
    settings.IMPORT_MEMORY = 1

    with pytest.raises(ActionRefused, match=r"Reading endless\.csv takes more than 1 MB"):
        read(endless)

    assert (children(), left()) == ([], [])


def bomb(kind: str, folder: Path) -> Path:
    """A small file whose parts become hundreds of megabytes in libraries that have no limit of their own."""
    if kind == "shared strings of a workbook":
        (folder / "shared.xlsx").write_bytes(shared_strings())
        return folder / "shared.xlsx"
    saved = folder / "saved"
    with zipfile.ZipFile(io.BytesIO(saved_to_disk(compressed_buffers(2**28)))) as archive:
        archive.extractall(saved)
    return saved


BOMBS = ["shared strings of a workbook", "a compressed buffer of Arrow"]


@pytest.mark.skipif(
    sys.platform != "linux", reason="this system does not tell how much memory a process uses"
)
@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_in_a_library_ends_at_the_limit_of_memory(kind: str, folder: Path, settings: Any) -> None:
    settings.IMPORT_MEMORY = 250
    path = bomb(kind, folder)

    with pytest.raises(
        ActionRefused, match=rf"Reading {path.name} takes more than 250 MB of memory\. Split the file"
    ):
        read(path)

    assert (children(), left()) == ([], [])


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_that_nobody_watches_ends_at_the_limit_of_addresses(
    kind: str, folder: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A watcher that a busy machine lets wait comes too late: libraries then end by an exception or abort."""
    settings.IMPORT_MEMORY = 10**6
    monkeypatch.setattr(sandbox, "ADDRESS_SPACE", 1_400)
    path = bomb(kind, folder)

    with pytest.raises(ActionRefused, match=rf"Reading {path.name} takes more than \d+ MB of memory"):
        read(path)

    assert (children(), left()) == ([], [])


def test_what_the_watcher_raises_ends_the_process(endless: Path) -> None:
    def cancelled(number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(endless, cancelled)

    assert (children(), left()) == ([], [])


def test_a_process_that_dies_is_refused_and_the_log_says_why(
    endless: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def kill(number: int) -> None:
        os.kill(children()[0], signal.SIGSEGV)

    with pytest.raises(
        ActionRefused, match=r"endless\.csv cannot be read: the program that reads it has failed"
    ):
        read(endless, kill)

    assert "ended with -11" in caplog.text


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
def test_the_process_has_no_secret_no_priority_and_no_core(
    endless: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "a secret that nobody should have")
    settings.IMPORT_NICE = 19
    seen: dict[str, Any] = {}

    def look(number: int) -> None:
        (child,) = children()
        group = Path(f"/proc/{child}/autogroup")  # not every system shares processors among sessions
        seen.setdefault("priority", os.getpriority(os.PRIO_PROCESS, child))  # before it has imported anything
        seen.setdefault("group", group.read_text().split()[-2:] if group.exists() else ["nice", "9"])
        seen["environment"] = Path(f"/proc/{child}/environ").read_text()
        seen["limits"] = Path(f"/proc/{child}/limits").read_text()
        if not re.search(r"Max address space\s+unlimited", seen["limits"]):  # the last that is set
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(endless, look)

    assert (seen["priority"], seen["group"]) == (19, ["nice", "9"])
    assert "SECRET_KEY" not in seen["environment"]
    assert "a secret that nobody" not in seen["environment"]
    limits = {line[:26].strip(): line[26:].split()[0] for line in seen["limits"].splitlines()}
    assert limits["Max cpu time"] == "3600"
    assert limits["Max core file size"] == "0"
    assert limits["Max file size"] == str(8192 * 2**20)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
def test_a_worker_that_is_killed_leaves_neither_a_process_nor_a_folder(endless: Path) -> None:
    script = f"""
import django; from django.conf import settings
settings.configure(MEDIA_ROOT={str(installed.MEDIA_ROOT)!r}, BASE_DIR={str(installed.BASE_DIR)!r},
    IMPORT_SECONDS=60, IMPORT_MEMORY=2048, IMPORT_SPACE=8192, IMPORT_NICE=0)
from tests.attacks.test_sandbox import read; from pathlib import Path
read(Path({str(endless)!r}))
"""
    worker = subprocess.Popen([sys.executable, "-c", script], cwd=installed.BASE_DIR)
    wait_until(children, "a reading is under way")

    worker.kill()
    worker.wait()

    wait_until(lambda: not children(), "the process ends with its worker")
    assert len(left()) == 1
    with sandbox.folder():
        assert len(left()) == 1  # that of this reading alone
    assert left() == []
