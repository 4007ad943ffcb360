"""What gunicorn.conf.py promises: no header moves the site, and the access log knows nobody."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.operations.web import ROOT, served
from tests.waiting import wait_until

PATIENCE = 25.0
"""Seconds until a condition must hold; a worker that outlives its master waits longer than that for its request."""


def test_headers_of_a_client_say_neither_where_the_site_is_nor_how_it_is_reached(tmp_path: Path) -> None:
    """By itself gunicorn takes SCRIPT_NAME, PATH_INFO and X-Forwarded-Proto from everything on this machine."""
    with served(tmp_path, "--access-logfile", "-") as ask:
        moved = ask("/no/such/page/", SCRIPT_NAME="/evil")
        elsewhere = ask("/healthz", PATH_INFO="/readyz")
        secret = ask("/join/Zk3secret/?PROLIFIC_PID=5f1", **{"X-Forwarded-Proto": "https"})

    said = (tmp_path / "out.log").read_text()
    assert "/evil" not in moved[1]
    assert elsewhere == (200, "ok\n")
    assert secret[0] in (404, 500), "no tables here"
    assert '"GET /join/[secret] HTTP/1.1"' in said
    for one in ("Zk3secret", "5f1", "127.0.0.1", "python"):
        assert one not in said


def test_where_the_log_is_of_objects_each_line_is_one_gunicorns_own_too(tmp_path: Path) -> None:
    with served(tmp_path, "--access-logfile", "-", LOG_FORMAT="json", LOG_LEVEL="INFO") as ask:
        ask("/join/Zk3secret/")

    said = [
        json.loads(line)
        for file in ("out.log", "err.log")
        for line in (tmp_path / file).read_text().splitlines()
    ]
    assert {"gunicorn.error", "gunicorn.access"} <= {one["logger"] for one in said}
    assert [one["level"] for one in said if "Listening at" in one["message"]] == ["INFO"]
    assert any("/join/[secret]" in one["message"] for one in said)
    assert "Zk3secret" not in str(said)


def test_a_request_for_another_host_is_one_line_in_the_log(tmp_path: Path) -> None:
    with served(tmp_path) as ask:
        answer = ask("/healthz", Host="scanner.example")

    assert answer[0] == 400
    lines = [line for line in (tmp_path / "err.log").read_text().splitlines() if not line.startswith("[")]
    assert ["scanner.example" in line for line in lines] == [True], lines


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has died")
def test_a_worker_ends_with_a_killed_master_also_while_a_request_hangs(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ledger = tmp_path / "worker"
    command = [sys.executable, "-m", "gunicorn", "tests.operations.hanging:application"]
    command += ["--bind", f"127.0.0.1:{port}", "--worker-class", "gthread", "--no-control-socket"]
    master = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "LEDGER": str(ledger)})
    try:
        client = wait_until(lambda: connection(port), "gunicorn listens", PATIENCE)
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: ledger.exists() and ledger.read_text(), "the ledger is written", PATIENCE)
        master.kill()
        master.wait()
        client.close()

        wait_until(lambda: is_free(port), "the port can be bound again", PATIENCE)
    finally:
        master.kill()
        if ledger.exists() and not is_free(port):
            os.kill(int(ledger.read_text()), signal.SIGKILL)


def connection(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=5)
    except OSError:
        return None


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
