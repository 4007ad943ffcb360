"""Ways to split a cell: at a delimiter, by a template, by a regular expression."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, get_args

from tableqa.core.translation import gettext, ngettext

MOST_PARTS = 12
LONGEST_CELL = 2_000
LONGEST_PATTERN = 200

At = Literal["every", "first", "last"]


class SplitError(ValueError):
    """A way to split that cannot be used; the message says why and how to fix it."""


@dataclass(frozen=True, slots=True)
class Delimiter:
    """Split at a text: at every place, or only at the first or last one. Blanks around the parts are taken off."""

    text: str
    at: At = "every"

    by: ClassVar[str] = "delimiter"

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not 1 <= len(self.text) <= LONGEST_PATTERN:
            message = gettext("A delimiter must have 1 to {longest_pattern} characters.")
            raise SplitError(message.format(longest_pattern=LONGEST_PATTERN))
        if self.at not in get_args(At):
            message = gettext("The position of a delimiter must be {value}, not {at!r}.")
            raise SplitError(message.format(value=", ".join(get_args(At)), at=self.at))

    def parts(self, cell: str) -> tuple[str, ...] | None:
        """The parts of a cell, None where the delimiter is not in it."""
        if self.text not in cell:
            return None
        if self.at == "first":
            pieces = cell.split(self.text, 1)
        elif self.at == "last":
            pieces = cell.rsplit(self.text, 1)
        else:
            pieces = cell.split(self.text)
        return tuple(piece.strip() for piece in pieces)

    @property
    def words(self) -> str:
        """What is done, in words."""
        delimiter = {"\n": "line break", " ": "blank"}.get(self.text, f"“{self.text}”")
        return f"at {'every' if self.at == 'every' else f'the {self.at}'} {delimiter}"

    def to_dict(self) -> dict[str, Any]:
        return {"by": self.by, "text": self.text, "at": self.at}


@dataclass(frozen=True, slots=True)
class Pattern:
    """Split by a regular expression that the whole cell must match; each of its groups is a part, named or not.

    The syntax is RE2's, which has no back references and no looking around, and takes time linear in the cell for any
    the expression is. Blanks around the parts are taken off; a group that took no part in the match gives "".
    """

    text: str

    by: ClassVar[str] = "pattern"

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not 1 <= len(self.text) <= LONGEST_PATTERN:
            message = gettext("A pattern must be a regular expression of 1 to {longest_pattern} characters.")
            raise SplitError(message.format(longest_pattern=LONGEST_PATTERN))
        groups = _compiled(self.text).groups
        if not 2 <= groups <= MOST_PARTS:
            raise SplitError(
                ngettext(
                    "The pattern has {groups} group. Put 2 to {most_parts} parts in parentheses, as "
                    "in (.+), (.+).",
                    "The pattern has {groups} groups. Put 2 to {most_parts} parts in parentheses, as "
                    "in (.+), (.+).",
                    groups,
                ).format(groups=groups, most_parts=MOST_PARTS)
            )

    def parts(self, cell: str) -> tuple[str, ...] | None:
        """The groups of a cell that the expression matches as a whole, else None."""
        match = _compiled(self.text).fullmatch(cell)
        return None if match is None else tuple((part or "").strip() for part in match.groups())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the groups, "" for those that have none."""
        compiled = _compiled(self.text)
        named = {group_index: name for name, group_index in compiled.groupindex.items()}
        return tuple(
            named.get(group_index + 1, "").replace("_", " ") for group_index in range(compiled.groups)
        )

    @property
    def words(self) -> str:
        """What is done, in words."""
        return f"by the pattern {self.text}"

    def to_dict(self) -> dict[str, Any]:
        return {"by": self.by, "text": self.text}


@dataclass(frozen=True, slots=True)
class Template:
    """Split by a cell with names in place of its parts: "{Player} ({Country})". The text between them must match.

    A part is as short as it can be, so that the texts between are found at their first place; the last one reaches the
    end. Blanks may be any number of any blanks.
    """

    text: str

    by: ClassVar[str] = "template"

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not 1 <= len(self.text) <= LONGEST_PATTERN:
            message = gettext("A template must have 1 to {longest_pattern} characters.")
            raise SplitError(message.format(longest_pattern=LONGEST_PATTERN))
        if not 2 <= len(self.names) <= MOST_PARTS:
            raise SplitError(
                f"The template has {len(self.names)} parts; write 2 to {MOST_PARTS} names in braces, "
                "as in {City}, {State}."
            )
        if "}{" in self.text:
            raise SplitError(gettext("Two parts of the template are adjacent. Add the text between them."))
        if len(self._expression) > 10 * LONGEST_PATTERN:
            raise SplitError(gettext("The template is too long."))

    @property
    def names(self) -> tuple[str, ...]:
        """The names in braces."""
        return tuple(name.strip() for name in _BRACES.findall(self.text))

    def parts(self, cell: str) -> tuple[str, ...] | None:
        """The parts of a cell that is written so, else None."""
        match = _compiled(self._expression).fullmatch(cell)
        return None if match is None else tuple(part.strip() for part in match.groups())

    @property
    def _expression(self) -> str:
        pieces = _BRACES.split(self.text.strip())  # text, name, text, name, ..., text
        literals = [r"\s+".join(map(re.escape, piece.split())) for piece in pieces[::2]]
        spaced = [
            rf"\s*{literal}\s*" if literal else r"\s+" if piece else ""
            for literal, piece in zip(literals, pieces[::2], strict=True)
        ]
        return r"\s*" + r"((?s:.+?))".join(spaced) + r"\s*"

    @property
    def words(self) -> str:
        """What is done, in words."""
        return f"by the form {self.text}"

    def to_dict(self) -> dict[str, Any]:
        return {"by": self.by, "text": self.text}


Way = Delimiter | Pattern | Template

_BRACES = re.compile(r"\{([^{}]*)\}")
_WAYS: dict[str, type[Way]] = {way.by: way for way in (Delimiter, Pattern, Template)}


def way_from_dict(data: object) -> Way:
    """Read what `to_dict` wrote, trusting nothing; SplitError for anything else."""
    if not isinstance(data, Mapping) or str(data.get("by")) not in _WAYS:
        raise SplitError(
            gettext("A split must be an object whose “by” is one of {ways}.").format(ways=", ".join(_WAYS))
        )
    way = _WAYS[str(data["by"])]
    allowed = {"by", "text", "at"} if way is Delimiter else {"by", "text"}
    if unknown := sorted(str(key) for key in set(data) - allowed):
        raise SplitError(
            gettext("A {by} has no field {unknown}.").format(by=way.by, unknown=", ".join(unknown))
        )
    if "text" not in data:
        raise SplitError(gettext("A {by} needs a text.").format(by=way.by))
    return way(**{key: value for key, value in data.items() if key != "by"})


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        return re2.compile(text, options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        raise SplitError(
            gettext("The pattern {text} cannot be used: {reason}.").format(text=text, reason=reason)
        ) from None
    except UnicodeEncodeError:
        raise SplitError(gettext("The pattern contains an incomplete character.")) from None
