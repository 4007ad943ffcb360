"""What gunicorn.conf.py promises: no header moves the site, and the access log knows nobody."""

from __future__ import annotations

import json
from pathlib import Path

from tests.operations.web import served


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
