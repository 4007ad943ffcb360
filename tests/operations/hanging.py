"""A WSGI application whose requests never end: it writes its process id into the file LEDGER and waits."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Wait for something that never comes."""
    Path(os.environ["LEDGER"]).write_text(str(os.getpid()))
    threading.Event().wait()
    return []
