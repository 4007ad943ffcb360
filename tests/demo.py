"""`./run demo` as a person starts it: a link for each role, and everything gone when it is stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


class Demo:
    """A running `./run demo` and what it printed until it was ready."""

    def __init__(self, data: Path) -> None:
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if name not in ("DATABASE_URL", "SECRET_KEY")
            },
            "ASKEW_DATA_DIR": str(data),
            "PUBLIC_URL": "https://askew.example.org",  # of somebody's shell; not for a demo on the loopback
        }
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "run"), "demo", "--port", "0"],
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.lines = list(
            takewhile(lambda line: line != "Press Ctrl-C to stop.", map(str.rstrip, self.process.stdout))
        )
        assert self.lines, "the demo ended before it was ready"
        self.url = self.lines[0].removeprefix("Ready: ")

    def processes(self) -> set[int]:
        """The process ids of all that runs on this demo's data, ./run itself aside."""
        wanted = f"ASKEW_DATA_DIR={self.environment['ASKEW_DATA_DIR']}".encode()
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.add(int(folder.name))
            except OSError:  # it ended while we looked, or is not ours to look at
                continue
        return found - {self.process.pid}

    def stop(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=30)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    running = Demo(tmp_path)
    yield running
    if running.process.poll() is None:
        running.stop(signal.SIGTERM)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")
def test_it_is_ready_with_a_link_for_each_role_and_stops_without_a_trace(demo: Demo, tmp_path: Path):
    assert re.fullmatch(r"Ready: http://127\.0\.0\.1:\d+/", demo.lines[0])
    links = [line for line in demo.lines[1:] if demo.url in line]
    for role in ("administrator", "manager", "annotator", "adjudicator", "researcher"):
        assert any(role in line.lower() for line in links), role
    with urllib.request.urlopen(demo.url, timeout=10) as page:
        assert page.status == 200
    assert len(demo.processes()) >= 4  # web with its two workers, and the jobs' worker

    assert demo.stop(signal.SIGTERM) == 0

    assert demo.processes() == set()
    first_key = (tmp_path / "secret_key").read_text()
    again = Demo(tmp_path)
    assert again.stop(signal.SIGINT) == 0
    assert again.processes() == set()
    assert (tmp_path / "secret_key").read_text() == first_key
    assert links != [line for line in again.lines[1:] if again.url in line], "links are good for one start"
