"""The process in which files of other people are read: it has no database, and may take only so much of the machine.

    python -m tableqa.readers.worker_process FOLDER < {"task": "read_all", "request": {...}, "parent": 1234, ...}

In the folder it writes `progress`, a number, and at last `result.json`: {"result": ...}, {"fault": ...} for a file that
cannot be read, or {"memory": true}. The process that started it watches its time and memory, and ends it.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from tableqa.core.translation import pack_all
from tableqa.data.typed_json import to_json
from tableqa.readers import ReaderError
from tableqa.readers.gold_answers import read_gold
from tableqa.readers.ingestion import ReadRequest, read_all
from tableqa.readers.labels import read_labels
from tableqa.readers.preview import preview
from tableqa.readers.rejections import describe
from tableqa.readers.responses.validation import read_responses

_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


def main(folder: Path) -> None:
    """Do what standard input asks for."""
    message = json.load(sys.stdin)
    limit(message)
    request = ReadRequest(**message["request"])
    answer: dict[str, Any]

    def progress(done: int) -> None:
        (folder / "progress").write_text(str(done), encoding="ascii")

    try:
        answer = {"result": to_json(task_named(message["task"])(request, progress))}
    except ReaderError as error:
        answer = {"fault": asdict(describe(error, request.shown, request.by_command))}
    except MemoryError:
        answer = {"memory": True}
    part = folder / "part"
    part.write_text(json.dumps(pack_all(answer)), encoding="utf-8")
    part.rename(folder / "result.json")


Task = Callable[[ReadRequest, Callable[[int], None]], Any]


TASKS: Mapping[str, Task] = {
    "read_all": read_all,
    "preview": preview,
    "read_labels": read_labels,
    "read_gold": read_gold,
    "read_responses": read_responses,
}


def task_named(name: str) -> Task:
    """One of `TASKS`, or "package.module:function" of the process that started this one."""
    module, _, function = name.rpartition(":")
    task: Task = getattr(import_module(module), function) if module else TASKS[name]
    return task


def limit(message: Mapping[str, int]) -> None:
    """Take only so much: seconds of processor time, bytes of a file, address space.

    The last is wide, since libraries reserve far more of it than they use.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, most in (
        (resource.RLIMIT_CPU, "cpu"),
        (resource.RLIMIT_FSIZE, "bytes"),
        (resource.RLIMIT_AS, "space"),
    ):
        hard = resource.getrlimit(name)[1]
        value = message[most] if hard == resource.RLIM_INFINITY else min(message[most], hard)
        resource.setrlimit(name, (value, hard if most == "cpu" else value))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != message["parent"]:
        sys.exit("whoever started this process is gone")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
