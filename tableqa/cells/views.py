"""Everything that a text can be read as, in one object."""

from dataclasses import dataclass
from typing import Literal

from .dates import Date, Time, dates_of, time_of
from .numbers import Number, number_of

Kind = Literal["empty", "number", "date", "time", "text"]


@dataclass(frozen=True, slots=True)
class View:
    """What a text is read as: its kind, and the number, the date (two where it is ambiguous) or the time."""

    kind: Kind
    number: Number | None = None
    dates: tuple[Date, ...] = ()
    time: Time | None = None


def view(text: str) -> View:
    """The view of a cell's text; never fails, "text" if nothing else fits."""
    if not text.strip():
        return View("empty")
    if number := number_of(text):
        return View("number", number=number)
    if dates := dates_of(text):
        return View("date", dates=dates)
    if time := time_of(text):
        return View("time", time=time)
    return View("text")
