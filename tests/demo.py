"""`./run demo` as a person starts it, for tests beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

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
