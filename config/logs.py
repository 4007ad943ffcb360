"""What the log says, and what never gets into it: one record a line, as words or as JSON, without personal data.

Every record passes through `redact`: e-mail and IP addresses, the queries of addresses, and the secret part of the
addresses of invitations, new passwords, crowd links and demo links are cut out, and so is what PostgreSQL says of the row
that it refused. What a record is about is identified by ids, names of views and the request's own id.
"""

import json
import logging
import re
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that this thread answers; "" outside of requests."""

SECRET_PATHS = re.compile(r"(/(?:join|password/new|crowd/back|demo)/)[^\s\"'?#]+")
"""What follows in these addresses grants access."""


def _without_query(match: re.Match[str]) -> str:
    """An address or anything else without blanks, its query cut out: from the first "?" behind a sign, if there is a "="."""
    text = match[0]
    before = match.string[match.start() - 1 : match.start()] + text
    for at in range(len(before) - len(text), len(before)):
        if at and before[at] == "?" and not before[at - 1].isspace() and before[at - 1] != "?":
            cut = at - (len(before) - len(text))
            return f"{text[:cut]}?[query]" if "=" in text[cut:] else text
    return text


CUT: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    # "DETAIL:  Key (email)=(ada@example.org) already exists.", "Failing row contains (…)", and what follows
    (re.compile(r"\n?(?:DETAIL|CONTEXT|HINT|PARAMETERS):\s.*", re.DOTALL), ""),
    (SECRET_PATHS, r"\1[secret]"),
    (re.compile(r"[^\s\"'<>]+"), _without_query),
    (re.compile(r"://[^\s/@\"']*@"), "://[key]@"),  # postgres://USER:PASSWORD@HOST
    (re.compile(r"\b(bearer|token|basic)(\s+|=|: ?)[\w.~+/=-]{12,}", re.IGNORECASE), r"\1\2[secret]"),
    (re.compile(r"\baskew_\w{12,}"), "[secret]"),
    (re.compile(r"(?<![^\s@<>\"'(),;:=/\[\]])[^\s@<>\"'(),;:=/\[\]]+@[^\s@<>\"'(),;:]+\.\w+"), "[address]"),
    (re.compile(r"(?<![\d.])(?!127\.0\.0\.1\b)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"), "[ip]"),
    (re.compile(r"(?<![\w:.])(?:[0-9a-f]{1,4}:){2,7}(?::|[0-9a-f]{1,4})[0-9a-f:]*(?![\w:])", re.IGNORECASE), "[ip]"),
    (re.compile(r"(?<![\w:.])::[0-9a-f]{2,}[0-9a-f:.]*(?![\w:])", re.IGNORECASE), "[ip]"),
)  # fmt: skip
CLOCK = re.compile(r"^\d{1,2}:\d{2}(:\d{2})?$")


def redact(text: str) -> str:
    """The text without personal data and secrets. Times of day look like short IPv6 addresses and stay."""
    for pattern, instead in CUT:
        if instead == "[ip]":
            text = pattern.sub(lambda match: match[0] if CLOCK.match(match[0]) else "[ip]", text)
        else:
            text = pattern.sub(instead, text)
    return text


def traceback_lines(error: BaseException) -> list[str]:
    """The calls that led to the error and to what it came from, outermost first; no values."""
    lines: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        frames = traceback.extract_tb(seen.__traceback__)
        message = redact(str(seen))
        lines = [
            *(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames),
            f"{type(seen).__module__}.{type(seen).__qualname__}: {message}",
            *lines,
        ]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return lines


class WithoutTraceback(logging.Filter):
    """Make a record a warning of one line: what it reports is refused, and no fault of the site."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class LineFormatter(logging.Formatter):
    """A line of words: time, level, logger, message; the request's id where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record, scrubbed; a traceback follows on lines of its own."""
        text = redact(super().format(record))
        current_id = request_id.get()
        head, newline, rest = text.partition("\n")
        return f"{head} [{current_id}]{newline}{rest}" if current_id else text


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `time`, `level`, `logger`, `message`, and `request`, `error`, `at` where there are such.

    What a record brings along as `extra={"said": {...}}` becomes keys of its own; nothing else of it is written.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record, scrubbed."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        if current_id := request_id.get():
            fields["request"] = current_id
        fields |= getattr(record, "said", {})
        if record.exc_info and record.exc_info[1] is not None:
            *calls, message = traceback_lines(record.exc_info[1])
            fields |= {"error": message, "at": calls}
        return json.dumps(fields, ensure_ascii=False, default=str)
