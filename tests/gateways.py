"""The gateway in a thread of the test process, with the database of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from annotation.web.api.gateway import create_app
from tests.waiting import wait_until


@contextmanager
def gateway() -> Iterator[str]:
    """Its address, without a path."""
    config = uvicorn.Config(
        create_app(), port=0, log_config=None, log_level="warning", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started, "the gateway listens")
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
