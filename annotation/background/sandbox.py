"""Reading files of other people in its own process, which is ended where it takes too much time or memory.

    with sandbox.folder() as folder:
        read = sandbox.read(ReadRequest(...), progress, name=upload.name)

The process is started again and has no connection to the database (`tableqa.readers.worker_process`). Limits are settings:
`IMPORT_SECONDS`, `IMPORT_MEMORY`, `IMPORT_SPACE` and `IMPORT_NICE`.
"""

import fcntl
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from django.conf import settings

from annotation.platform.refusals import refuse, refuse_as
from tableqa.core.translation import unpack_object
from tableqa.data.typed_json import from_json
from tableqa.readers.ingestion import ReadRequest, ReadResult
from tableqa.readers.interface import ReaderError
from tableqa.readers.rejections import Problem, describe, one_sentence

log = logging.getLogger(__name__)

BEAT: Final = 0.2
"""Seconds between two looks at the process."""
MEGABYTE: Final = 2**20
ADDRESS_SPACE: Final = 16 * 1024
"""Megabytes of address space: libraries for numbers reserve far more than they use."""
LOCK: Final = "lock"
Read = TypeVar("Read")


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for one reading, removed afterwards; those of processes that were killed are removed, too."""
    parent = Path(settings.MEDIA_ROOT) / "reading"
    parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(parent)
    path = Path(tempfile.mkdtemp(dir=parent))
    try:
        with (path / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders whose lock is released."""
    for subfolder in parent.iterdir():
        with suppress(OSError), (subfolder / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(subfolder, ignore_errors=True)


Reading = Callable[[ReadRequest, Callable[[int], None]], ReadResult]
"""How files are read: in this process where they are on this machine, in one of their own (`read`) for uploads."""


def read(
    request: ReadRequest,
    beat: Callable[[int], None],
    *,
    name: str,
    task: str = "read_all",
    seconds: int | None = None,
) -> ReadResult:
    """Read and check all records (`tableqa.readers.ingestion.read_all`), or those of another task; see `call`."""
    seconds = settings.IMPORT_SECONDS if seconds is None else seconds
    return from_json(ReadResult, call(task, request, beat, name=name, seconds=seconds))


def refusing_faults(
    reading: Callable[[ReadRequest, Callable[[int], None]], Read],
    request: ReadRequest,
    beat: Callable[[int], None],
) -> Read:
    """What was read. Raises ActionRefused(import_failed) for a fault of the files."""
    try:
        return reading(request, beat)
    except ReaderError as error:
        refuse_as("import_failed", one_sentence(describe(error, request.shown, request.by_command)))


def call(
    task: str,
    request: ReadRequest,
    beat: Callable[[int], None] = lambda done: None,
    *,
    name: str,
    seconds: int,
) -> dict[str, Any]:
    """Do a task of `tableqa.readers.worker_process` in its own process. Returns its result.

    name: what people call the file. beat: told a few times a second how many records were read; what it raises ends the
    process. Raises ActionRefused(import_failed): a fault of the file, or more time, memory or space than a file may take.
    """
    folder = Path(request.rows).parent
    message = {
        "task": task,
        "request": asdict(request),
        "parent": os.getpid(),
        "cpu": seconds,
        "bytes": settings.IMPORT_SPACE * MEGABYTE,
        "space": ADDRESS_SPACE * MEGABYTE,
    }
    with (folder / "errors").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tableqa.readers.worker_process", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=settings.BASE_DIR,
            env={name: value for name, value in os.environ.items() if name in PASSED_ON}
            | {"TMPDIR": str(folder)},
            start_new_session=True,
        )
    try:
        _give_way(process.pid)
        assert process.stdin is not None  # nosec
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(json.dumps(message).encode())
        _watch(process, folder, name, seconds, beat)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return _result(process, folder, name, seconds)


PASSED_ON: Final = (
    "PATH",
    "LANG",
    "LC_ALL",
    "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPYCACHEPREFIX",
    "LD_LIBRARY_PATH",
    "TZ",
)
"""Variables of the environment: nothing that is secret."""


def _give_way(process: int) -> None:
    """Lower the priority of a process from its start, and half as much its session: else previews time out."""
    with suppress(OSError):  # it has ended, or this system divides processors among processes alone
        nice = os.getpriority(os.PRIO_PROCESS, process) + settings.IMPORT_NICE
        os.setpriority(os.PRIO_PROCESS, process, nice)
        for _ in range(10):  # autogroup in sched(7): one change is allowed in 0.1 s
            with suppress(BlockingIOError):
                Path(f"/proc/{process}/autogroup").write_text(str(settings.IMPORT_NICE // 2))
                return
            time.sleep(BEAT / 4)


def _watch(
    process: subprocess.Popen[bytes], folder: Path, name: str, seconds: int, beat: Callable[[int], None]
) -> None:
    """Wait for the end of the process. Raises ActionRefused where it takes too long or too much, and what `beat` raises."""
    until = time.monotonic() + seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(BEAT)
            return
        beat(_number_read(folder))
        if time.monotonic() > until:
            _refuse_slow(name, seconds)
        if _resident(process.pid) > settings.IMPORT_MEMORY * MEGABYTE:
            _refuse_large(name)


def _number_read(folder: Path) -> int:
    with suppress(OSError, ValueError):
        return int((folder / "progress").read_text(encoding="ascii"))
    return 0


def _resident(process: int) -> int:
    """Bytes of memory that the process uses; 0 where this system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _result(process: subprocess.Popen[bytes], folder: Path, name: str, seconds: int) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    with suppress(OSError, ValueError, RecursionError):
        text = (folder / "result.json").read_text(encoding="utf-8")
        answer = json.loads(text, object_hook=unpack_object)
    if "fault" in answer:
        refuse_as("import_failed", one_sentence(Problem(**answer["fault"])))
    stderr = (folder / "errors").read_text(encoding="utf-8", errors="replace")
    # A library in Rust ends its process where it gets no memory.
    aborted = process.returncode == -signal.SIGABRT and "memory allocation of" in stderr
    # The system kills it where the machine has no memory left.
    if "memory" in answer or aborted or process.returncode == -signal.SIGKILL:
        _refuse_large(name)
    if process.returncode == -signal.SIGXCPU:
        _refuse_slow(name, seconds)
    if "result" not in answer:
        log.error("the process that read %s ended with %s:\n%s", name, process.returncode, stderr[-4000:])
        refuse(
            "import_failed",
            "{name} cannot be read: the program that reads it has failed. Details are in the server log. Ask the site "
            "administrator.",
            name=name,
        )
    result: dict[str, Any] = answer["result"]
    return result


def _refuse_slow(name: str, seconds: int) -> NoReturn:
    refuse(
        "import_failed",
        "Reading {name} takes more than {seconds} seconds. Split the file, or ask the site administrator to import it.",
        name=name,
        seconds=seconds,
    )


def _refuse_large(name: str) -> NoReturn:
    refuse(
        "import_failed",
        "Reading {name} takes more than {most} MB of memory. Split the file, or ask the site administrator to import it.",
        name=name,
        most=settings.IMPORT_MEMORY,
    )
