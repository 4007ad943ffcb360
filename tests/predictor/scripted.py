"""A model's server that does what a test says: answers, and every way in which a server may fail."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from predictor.protocol import Prediction, PredictRequest

SHA = "0123456789abcdef"

Says = Callable[[PredictRequest], Prediction]


def answer(*answers: str, cells: tuple[tuple[int, int], ...] = (), **more: Any) -> Says:
    """A model that always answers this."""
    return lambda request: Prediction(
        answers=answers,
        text=", ".join(answers),
        rows_seen=len(request.table.rows),
        rows_total=len(request.table.rows),
        cells=cells,
        **{"score": 0.75, "op": "select", **more},
    )


class ScriptedServer:
    """One server. `says` is what the model answers; `mood` how the server behaves, and may be changed at any time.

    well, hung, slow (1.5 s), dribbling, busy, failing, crashing (500 without a protocol error), cut (the connection
    ends), not_json, other_schema, huge, other_table, too_large. `moods`: of the next requests, before `mood`.
    """

    def __init__(self, says: Says) -> None:
        self.says = says
        self.mood = "well"
        self.moods: list[str] = []
        self.connections: set[socket.socket] = set()
        self.sha = SHA
        self.max_tokens = self.parallel = 0
        self.asked: list[dict[str, Any]] = []
        self.stop = threading.Event()
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                script.connections.add(self.connection)

            def finish(self) -> None:
                script.connections.discard(self.connection)
                with suppress(OSError):
                    super().finish()

            def do_GET(self) -> None:
                script.models(self)

            def do_POST(self) -> None:
                script.predict(self)

            def log_message(self, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *args: Any) -> None:
                pass  # whoever asked has gone: that is what some of these moods are for

        self.handler, self.server_type = Handler, Server
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def entry(self) -> dict[str, Any]:
        """This server as an entry of PREDICTORS."""
        return {
            "protocol": "predict",
            "url": f"http://127.0.0.1:{self.port}",
            "model": "small",
            "licence": "MIT",
        }

    def start(self) -> None:
        self.server = self.server_type(("127.0.0.1", self.port), self.handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def kill(self) -> None:
        """Gone: nobody listens there any more, and connections end."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None
        for connection in tuple(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def models(self, handler: BaseHTTPRequestHandler) -> None:
        model = {
            "id": f"small@{self.sha}",
            "name": "small",
            "sha": self.sha,
            "architecture": "scripted",
            "licence": "MIT",
            **({"max_tokens": self.max_tokens} if self.max_tokens else {}),
            **({"parallel": self.parallel} if self.parallel else {}),
        }
        _send(handler, 200, {"protocol": 1, "models": [model]})

    def predict(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        self.asked.append(body)
        request = PredictRequest.from_dict(body)
        said = (
            self.says(request).for_request(request.seq, f"small@{self.sha}", 1.0, 2.0, cached=False).to_dict()
        )
        mood = self.moods.pop(0) if self.moods else self.mood
        if mood == "crashing":
            _send(handler, 500, "Internal Server Error")
        elif mood == "cut":
            handler.close_connection = True
        elif mood == "hung":
            self.stop.wait(20)
            handler.close_connection = True
        elif mood == "dribbling":
            handler.send_response(200)
            handler.send_header("content-length", "100000")
            handler.end_headers()
            while not self.stop.wait(0.05):
                handler.wfile.write(b" ")
                handler.wfile.flush()
        elif mood == "huge":
            handler.send_response(200)
            handler.send_header("content-length", "50000000")
            handler.end_headers()
            for _ in range(500):
                handler.wfile.write(b" " * 100_000)
        elif mood == "not_json":
            _send(handler, 200, "<html><script>alert(1)</script>")
        elif mood == "other_schema":
            _send(handler, 200, {"label": "1995"})
        elif mood == "other_table":
            _send(handler, 200, {**said, "rows_total": 99})
        elif mood == "busy":
            _send(handler, 503, {"error": {"code": "busy", "message": "later"}}, {"retry-after": "1"})
        elif mood == "failing":
            _send(handler, 500, {"error": {"code": "cannot_answer", "message": "<b>no</b>"}})
        elif mood == "too_large":
            words = "the table has 5,000 rows; the maximum is 2,000"
            _send(handler, 413, {"error": {"code": "too_large", "message": words}})
        else:
            if mood == "slow":
                self.stop.wait(1.5)  # a slow model
            _send(handler, 200, said)


def _send(
    handler: BaseHTTPRequestHandler, status: int, body: Any, headers: dict[str, str] | None = None
) -> None:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"content-length": str(len(data)), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


@contextmanager
def scripted(says: Says) -> Iterator[ScriptedServer]:
    """A server for the time of a test."""
    script = ScriptedServer(says)
    try:
        yield script
    finally:
        script.stop.set()
        script.kill()


@contextmanager
def hung_socket() -> Iterator[tuple[str, list[float]]]:
    """A socket on loopback that takes every connection and never says a word: its address, and when each came."""
    connected: list[float] = []
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listening:
        listening.settimeout(0.2)
        done = threading.Event()

        def keep_taking() -> None:
            while not done.is_set():
                try:
                    one, _ = listening.accept()
                except TimeoutError:
                    continue
                taken.append(one)
                connected.append(time.monotonic())

        thread = threading.Thread(target=keep_taking, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", connected
        finally:
            done.set()
            thread.join(2)
            for one in taken:
                one.close()


@contextmanager
def chat_stub(*replies: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An OpenAI-compatible endpoint that gives these replies, the last one for ever: its address, and what it was asked."""
    asked: list[dict[str, Any]] = []
    left = list(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            text = left.pop(0) if len(left) > 1 else left[0]
            _send(self, 200, {"choices": [{"message": {"role": "assistant", "content": text}}]})

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
