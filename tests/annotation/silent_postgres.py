"""A server that speaks as much of PostgreSQL's protocol as it takes to fall silent at a chosen point."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress

PARAMETERS = {
    "server_version": "15.0",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, MDY",
    "TimeZone": "UTC",
    "standard_conforming_strings": "on",
    "integer_datetimes": "on",
}
COPY_IN = b"G" + struct.pack("!IBHH", 9, 0, 1, 0)


class SilentPostgres(threading.Thread):
    """Answers each query with "done" until `silent_at` is part of one; "" answers all, "connect" nothing at all."""

    def __init__(self, silent_at: str = "") -> None:
        super().__init__(name="a silent PostgreSQL", daemon=True)
        self.silent_at = silent_at
        self.startup: list[bytes] = []
        self.queries: list[str] = []
        self._open: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.start()

    def run(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                self._open.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def end(self) -> None:
        """Close everything."""
        for each in (self._server, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError, struct.error):
            if self.silent_at == "connect":
                client.recv(1)
                return
            while True:
                (length,) = struct.unpack("!I", client.recv(4, socket.MSG_WAITALL))
                packet = client.recv(length - 4, socket.MSG_WAITALL)
                if length > 8:
                    break
                client.sendall(b"N")  # neither TLS nor GSSAPI
            self.startup.append(packet)
            client.sendall(_message(b"R", struct.pack("!I", 0)))
            for name, value in PARAMETERS.items():
                client.sendall(_message(b"S", f"{name}\0{value}\0".encode()))
            client.sendall(_READY)
            while kind := client.recv(1):
                (length,) = struct.unpack("!I", client.recv(4, socket.MSG_WAITALL))
                body = client.recv(length - 4, socket.MSG_WAITALL)
                if kind == b"Q":
                    self._answer(client, body.rstrip(b"\0").decode())
                elif kind == b"c":
                    self._answer(client, "end of COPY")

    def _answer(self, client: socket.socket, query: str) -> None:
        self.queries.append(query)
        if self.silent_at and self.silent_at in query:
            return
        if query.startswith("COPY"):
            client.sendall(COPY_IN)
            return
        for _ in query.split(";"):
            client.sendall(_message(b"C", b"SET\0"))
        client.sendall(_READY)


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


_READY = _message(b"Z", b"I")
