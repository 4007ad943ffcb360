"""The gateway's process: answers of models behind the proxy, without web threads (annotation.web.api.gateway).

python -m config.gateway [--port 8010] [--host 127.0.0.1]
"""

import argparse
import os
import sys
from collections.abc import Sequence

import django


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl-C. Exit status 1 where the database does not fit this code."""
    parser = argparse.ArgumentParser(
        prog="python -m config.gateway", description="Askew's gateway to models."
    )
    parser.add_argument("--port", type=int, default=8010, metavar="N", help="default 8010")
    parser.add_argument("--host", default="127.0.0.1", help="default 127.0.0.1: for a proxy on this machine")
    options = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()

    import uvicorn

    from annotation.platform import migration_state
    from annotation.platform.database import limits
    from annotation.web.api.gateway import create_app
    from config.preload import preload

    limits.use(limits.WEB)
    if reason := migration_state.why_not_ready():
        print(f"gateway: {reason}", file=sys.stderr)
        return 1
    preload()
    # No access log: it would hold when which person asked something.
    uvicorn.run(
        create_app(),
        host=options.host,
        port=options.port,
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=3,
        timeout_keep_alive=75,
        server_header=False,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
