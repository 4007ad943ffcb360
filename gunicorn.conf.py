"""Settings that gunicorn reads when it starts in this folder: trusted headers, access log, metrics.

* No request header decides the address of the client or the path of the site. TRUST_PROXY says whether headers of a proxy
  are trusted, and PUBLIC_URL sets the path. By default, gunicorn would accept `SCRIPT_NAME` and `PATH_INFO` from any local
  process, also from a proxy that forwards the headers of its clients.
* The access log, if enabled, contains no client addresses, no queries and no secret part of links: the query of a crowd
  link contains ids of a platform. LOG_REQUESTS logs the same with names of views.
* With LOG_FORMAT=json, gunicorn's own log lines are JSON objects like those of the application.
* Workers end with their master, also if it is killed. An orphan would keep the port, and the restart would fail.
* With METRICS_TOKEN, the web processes of a server add up their metrics in a folder that is deleted when the server stops.
"""

import ctypes
import gc
import os
import runpy
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from gunicorn.glogging import Logger

forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}
forwarded_allow_ips = ""

access_log_format = '%(t)s "%(m)s %(U)s %(H)s" %(s)s %(b)s %(M)s'
# Read anew whenever this file is, not imported: what gunicorn's first process has imported, its processes keep, also those
# that a reload starts after an upgrade.
LOGS = runpy.run_path(str(Path(__file__).with_name("config") / "logs.py"))
SECRET_PATHS = LOGS["SECRET_PATHS"]


class logger_class(Logger):  # noqa: N801  the name of gunicorn's setting
    """Gunicorn's own, with the secrets cut out of the addresses."""

    def setup(self, cfg):  # type: ignore[no-untyped-def]
        """As gunicorn does; then, where the log is of objects, one a line."""
        super().setup(cfg)
        if os.environ.get("LOG_FORMAT") == "json":
            for handler in (*self.error_log.handlers, *self.access_log.handlers):
                handler.setFormatter(LOGS["JsonFormatter"]())

    def atoms(self, resp, req, environ, request_time):  # type: ignore[no-untyped-def]
        """What a line of the access log may say."""
        said = super().atoms(resp, req, environ, request_time)
        return {
            **said,
            "U": SECRET_PATHS.sub(r"\1[secret]", said["U"]),
            "h": "-",
            "a": "-",
            "f": "-",
            "q": "-",
            "r": "-",
        }


OURS = ""
if os.environ.get("METRICS_TOKEN") and not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    OURS = os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="askew-metrics-")


def when_ready(server):  # type: ignore[no-untyped-def]
    """With --preload, have the processes share what was read: looking through it for rubbish would write into all of it."""
    gc.collect()
    gc.freeze()


PR_SET_PDEATHSIG = 1


def post_fork(server, worker):  # type: ignore[no-untyped-def]
    """Have Linux kill this worker when its master dies. A graceful end would wait for requests and hold the port."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != worker.ppid:  # the master died before it could be watched
            os._exit(1)


def child_exit(server, worker):  # type: ignore[no-untyped-def]
    """Forget what only a living process can say."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)


def on_exit(server):  # type: ignore[no-untyped-def]
    """Take the folder away that was made above."""
    if OURS:
        shutil.rmtree(OURS, ignore_errors=True)
