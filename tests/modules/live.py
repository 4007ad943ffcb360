"""The server of JavaScript tests that use `live.js`: Django's test client over HTTP, in the process of the test.

`POST /open/SUBJECT/NAME` makes a world of its own, calls the function of `pages/SUBJECT.py` and replies with the path
that it returns; `POST /ask/SUBJECT/NAME` calls a function in that world and replies with what it returns. Values in the
body are its keyword arguments.
Any other request goes to the platform, signed in as the function has left the client.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import time
import traceback
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from django.db import transaction
from django.test import Client, TestCase

from annotation.queue import resources
from tests.annotation.cast import World, make_world

PASSED_ON = ("Accept", "X-Lane", "HX-Request")


class LiveServer(HTTPServer):
    """Answers the requests of one Node process, one after the other, in the thread and the transaction of its test."""

    timeout = 0.1
    """Seconds after which it looks whether the process still runs."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.client = Client()
        self.savepoint: str | None = None
        self.errors: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def serve(self, process: subprocess.Popen[Any]) -> None:
        """Answer until the process has ended, which it has to within forty minutes."""
        deadline = time.monotonic() + 2400
        with self:
            while process.poll() is None:
                self.handle_request()
                if time.monotonic() > deadline:
                    process.kill()
            self.roll_back()

    def open(self, subject: str, name: str, values: dict[str, Any]) -> Any:
        self.roll_back()
        self.savepoint = transaction.savepoint()
        self.client = Client()
        self.world = make_world(self.folder)
        resources._indexes.clear()
        return self.ask(subject, name, values)

    def ask(self, subject: str, name: str, values: dict[str, Any]) -> Any:
        function = getattr(importlib.import_module(f"tests.modules.pages.{subject}"), name)
        return function(self.world, self.client, **values)

    def roll_back(self) -> None:
        if self.savepoint is not None:
            transaction.savepoint_rollback(self.savepoint)
        self.savepoint = None

    world: World


class Handler(BaseHTTPRequestHandler):
    """Passes a request on."""

    server: LiveServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            with TestCase.captureOnCommitCallbacks(execute=True):
                self.answer(body)
        except Exception:
            self.server.errors.append(traceback.format_exc())
            self.reply(500, b"{}")

    do_GET = do_PUT = do_DELETE = do_POST  # noqa: N815 (names of http.server)

    def answer(self, body: bytes) -> None:
        verb, *names = self.path.strip("/").split("/")
        if verb in ("open", "ask"):
            act = self.server.open if verb == "open" else self.server.ask
            subject, name = names
            self.reply(200, json.dumps(act(subject, name, json.loads(body))).encode())
        else:
            self.pass_on(body)

    def pass_on(self, body: bytes) -> None:
        headers = {name: self.headers[name] for name in PASSED_ON if name in self.headers}
        content_type = self.headers.get("Content-Type") or "application/octet-stream"
        path, client = self.path, self.server.client
        response = client.generic(self.command, path, body, content_type, headers=headers)
        while response.status_code in (301, 302, 303):
            path = response["Location"]
            response = client.get(path, headers=headers)
        self.reply(response.status_code, response.getvalue(), path, response.get("Content-Type", ""))

    def reply(self, status: int, body: bytes, path: str = "", content_type: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("X-Path", path)
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""
