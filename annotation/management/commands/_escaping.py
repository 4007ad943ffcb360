"""The one writer of commands: it escapes what a terminal would obey or cannot write."""

from __future__ import annotations

from typing import Any

from django.core.management import base
from django.core.management.base import CommandError as CommandError

from tableqa.foreign_values import printable


class EscapingOutput(base.OutputWrapper):
    """Writes control characters and what the terminal's encoding lacks as escapes: what is printed may be foreign."""

    def write(  # type: ignore[override]
        self, msg: str = "", style_func: Any = None, ending: str | None = None
    ) -> None:
        """As Django's. A message may begin with a carriage return: it then replaces its line."""
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        text = printable(msg.removeprefix("\r")).encode(encoding, "backslashreplace").decode(encoding)
        super().write("\r" * msg.startswith("\r") + text, style_func, ending)


class BaseCommand(base.BaseCommand):
    """A command whose output is an `EscapingOutput`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("stdout", "stderr"):  # Django sets them for each call
            value = EscapingOutput(value._out)
        super().__setattr__(name, value)
