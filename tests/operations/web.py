"""Gunicorn as the page on operations starts it, on an empty data folder."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import listens, wait_until

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def served(
    folder: Path, *arguments: str, workers: int = 1, tree: Path = ROOT, **environment: str
) -> Iterator[Callable[..., tuple[int, str]]]:
    """`ask(path, **headers)` -> status and text; `_` in a header's name is kept, as a client may send it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "config.wsgi",
        "--bind",
        f"127.0.0.1:{port}",
        "--threads",
        "4",
    ]
    command += ["--worker-class", "gthread", "--workers", str(workers), "--no-control-socket", *arguments]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PROMETHEUS_")}
    server = subprocess.Popen(
        command,
        cwd=tree,
        env={
            **inherited,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "SECRET_KEY": "k" * 60,
            "ASKEW_DATA_DIR": str(folder),
            "DATABASE_URL": "",
            **environment,
        },
        stdout=(folder / "out.log").open("w"),
        stderr=(folder / "err.log").open("w"),
    )

    def ask(path: str, **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    try:
        wait_until(lambda: listens(port), "the server listens", 60)
        yield ask
    finally:
        server.terminate()
        server.wait(60)
