"""Sentences for people, in their language where somebody lends a translation.

tableqa knows no catalogue and no request. What it says it says through `_` and `ngettext`, which give the English text
back until a platform lends its own functions with `use`. A sentence with values is written with named places and filled
in afterwards, so that a translation may put them in another order:

    _("Row {row} is not there.").format(row=row)
"""

from __future__ import annotations

from collections.abc import Callable

_one: Callable[[str], str] | None = None
_counted: Callable[[str, str, int], str] | None = None


def use(one: Callable[[str], str] | None, counted: Callable[[str, str, int], str] | None) -> None:
    """Have sentences translated by these functions from now on, in the whole process; None: English again."""
    global _one, _counted
    _one, _counted = one, counted


def gettext(message: str) -> str:
    """The sentence in the reader's language."""
    return message if _one is None else _one(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """The sentence for this number of things, in the reader's language."""
    if _counted is None:
        return singular if number == 1 else plural
    return _counted(singular, plural, number)


def gettext_noop(message: str) -> str:
    """The sentence as it is: marked for translators where it is data, and translated where it is shown."""
    return message
