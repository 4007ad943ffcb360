"""What all commands share: output without what a terminal would obey, and how errors end a command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management import base
from django.core.management.base import CommandError as CommandError

from tableqa.core.foreign_values import printable


class EscapingOutput(base.OutputWrapper):
    """Writes control characters and what the terminal's encoding lacks as escapes: what is printed may be foreign."""

    def write(  # type: ignore[override]
        self, msg: str = "", style_func: Any = None, ending: str | None = None
    ) -> None:
        """As Django's. A message may begin with a carriage return: it then replaces its line."""
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        text = printable(msg.removeprefix("\r")).encode(encoding, "backslashreplace").decode(encoding)
        super().write("\r" * msg.startswith("\r") + text, style_func, ending)


class UsageError(CommandError):
    """A command was called wrongly: exit status 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)


@contextmanager
def ended_by(*errors: type[Exception], end: Callable[[str], CommandError] = CommandError) -> Iterator[None]:
    """End the command with the message of these errors, in one line."""
    try:
        yield
    except errors as error:  # `str` of a KeyError has its message in quotation marks
        raise end(str(error.args[0] if isinstance(error, LookupError) else error)) from None


class BaseCommand(base.BaseCommand):
    """A command whose output is an `EscapingOutput`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("stdout", "stderr"):  # Django sets them for each call
            value = EscapingOutput(value._out)
        super().__setattr__(name, value)

    def show_progress(self, done: int, total: int) -> None:
        """Show on a terminal how far the work is, in a line that is replaced."""
        if self.stderr.isatty():
            self.stderr.write(f"\r{done} of {total}", ending="\n" if done == total else "")
