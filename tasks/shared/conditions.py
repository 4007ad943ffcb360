"""Conditions on other fields of a response: one comparison, or several joined by `and`, `or` and `not`.

The page has the same rules (static/askew/conditions.js), and both run tests/vectors/conditions.json.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tableqa.core.release_rules import version

OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "contains": lambda value, member: member in value,
}
"""The operators that a definition can have."""
_ALL: Final = {**OPERATORS, "lacks": lambda value, member: member not in value}
_OPPOSITE: Final = {"==": "!=", "<": ">=", ">": "<=", "contains": "lacks"}
OPPOSITE: Final[Mapping[str, str]] = {**_OPPOSITE, **{other: sign for sign, other in _OPPOSITE.items()}}
"""What `not` makes of an operator."""
SIGN: Final = re.compile(r"\s*(?:(?P<word>and|or|not)(?![^\s(])|(?P<and>&&)|(?P<or>\|\|)|(?P<bracket>[()]))")
COMPARED: Final = re.compile(r"\s*(\w+)\s*(==|!=|<=|>=|<|>|\bcontains\b)\s*")
VALUE: Final = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s()&|]+(?:\s+(?!(?:and|or)[\s(])[^\s()&|]+)*")
END: Final = re.compile(r"\s*(?:$|\)|&&|\|\||(?:and|or)(?![^\s(]))")
DEEPEST: Final = 20
"""Brackets of a condition."""
WHOLE: Final = re.compile(r"-?\d+")


@dataclass(frozen=True)
class Condition:
    """A condition on another field of the response: its name, one of `OPERATORS` or "lacks", and a value."""

    field: str
    operator: str
    value: str | int

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it holds for the values of the fields that are asked.

        No condition on a field that is not asked holds, and of those on an empty field only those with "!=" and "lacks".
        Options are texts, also those that look like numbers. Dates compare as texts, since their form has the year first.
        """
        value = values.get(self.field)
        if value in (None, "", ()):
            return self.operator in ("!=", "lacks") and (self.field in values or version() < 8)
        try:
            operand = str(self.value) if isinstance(value, str | tuple) else float(self.value)
            return bool(_ALL[self.operator](value, operand))
        except (TypeError, ValueError):
            return False

    def leaves(self) -> Iterator["Condition"]:
        """The comparisons that it is made of."""
        yield self

    def opposite(self) -> "Condition":
        """The condition under `not`. On a field that is not asked, it does not hold either."""
        return Condition(self.field, OPPOSITE[self.operator], self.value)

    def tree(self) -> Any:
        """The condition as the page reads it: [field, operator, value], or {"and": […]} or {"or": […]} of such."""
        return [self.field, self.operator, str(self.value)]

    @property
    def on_page(self) -> str:
        """`tree` as JSON."""
        return json.dumps(self.tree(), ensure_ascii=False)

    def __str__(self) -> str:
        """The condition as a definition has it."""
        if self.operator == "lacks":
            return f"not {self.field} contains {self.value}"
        return f"{self.field} {self.operator} {self.value}"


@dataclass(frozen=True)
class Combination(Condition):
    """Conditions of which all hold ("and"), or at least one ("or")."""

    parts: tuple[Condition, ...] = ()

    def holds(self, values: Mapping[str, Any]) -> bool:
        results = (part.holds(values) for part in self.parts)
        return all(results) if self.operator == "and" else any(results)

    def leaves(self) -> Iterator[Condition]:
        return (leaf for part in self.parts for leaf in part.leaves())

    def opposite(self) -> Condition:
        return combine("or" if self.operator == "and" else "and", [part.opposite() for part in self.parts])

    def tree(self) -> Any:
        return {self.operator: [part.tree() for part in self.parts]}

    def __str__(self) -> str:
        parts = (f"({part})" if isinstance(part, Combination) else str(part) for part in self.parts)
        return f" {self.operator} ".join(parts)


def combine(sign: str, parts: Sequence[Condition]) -> Condition:
    """Conditions joined by "and" or "or"; a single one as it is."""
    return parts[0] if len(parts) == 1 else Combination("", sign, "", tuple(parts))


def condition(text: str, options: Mapping[str, Sequence[str]]) -> Condition | None:
    """A condition such as "level == hard and not (quality < 3 or reasons contains long)"; None for anything else.

    options: the options of each field that has some. A value is the option that is written there, also one with "and" in
    it, else a text without quotes, or a whole number in its usual form.
    """
    if text.count("(") > DEEPEST:
        return None
    reader = _Reader(text, options)
    parsed = reader.either()
    return parsed if parsed is not None and not reader.text[reader.at :].strip() else None


@dataclass
class _Reader:
    """A recursive descent over a text; each part is None where the text does not fit."""

    text: str
    options: Mapping[str, Sequence[str]]
    at: int = 0

    def either(self) -> Condition | None:
        return self._joined("or", lambda: self._joined("and", self._single))

    def _joined(self, sign: str, part: Callable[[], Condition | None]) -> Condition | None:
        parts = [part()]
        while parts[-1] is not None and self._take(sign):
            parts.append(part())
        complete = [condition for condition in parts if condition is not None]
        return combine(sign, complete) if len(complete) == len(parts) else None

    def _single(self) -> Condition | None:
        if self._take("not"):
            denied = self._single()
            return denied and denied.opposite()
        if self._take("("):
            inner = self.either()
            return inner if self._take(")") else None
        return self._comparison()

    def _take(self, sign: str) -> bool:
        match = SIGN.match(self.text, self.at)
        if match is None:
            return False
        name = match["word"] or match["bracket"] or ("and" if match["and"] else "or")
        self.at = match.end() if name == sign else self.at
        return name == sign

    def _comparison(self) -> Condition | None:
        match = COMPARED.match(self.text, self.at)
        if match is None:
            return None
        start = match.end()
        options = [
            option
            for option in self.options.get(match[1], ())
            if self.text.startswith(option, start) and END.match(self.text, start + len(option))
        ]
        if options:
            value = max(options, key=len)
            self.at = start + len(value)
            return Condition(match[1], match[2], value)
        written = VALUE.match(self.text, start)
        if written is None:
            return None
        self.at = written.end()
        value = written[0].strip("\"'")
        is_option = value in self.options.get(match[1], ())
        is_number = not is_option and WHOLE.fullmatch(value)
        return Condition(match[1], match[2], str(int(value)) if is_number else value)
