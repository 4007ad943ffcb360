"""What a response is made of: its input fields, the problems found in it, and its stored form."""

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tableqa import Example
from tableqa.operations import Operation


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a response: where (a path into `data`), a code, a sentence."""

    path: str
    code: str
    message: str
    level: Literal["error", "warning"] = "error"

    def to_dict(self) -> dict[str, str]:
        return dataclasses.asdict(self)


class InvalidResponse(Exception):
    """A response that does not parse or breaks its contract. Carries every problem found, not the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(problem.message for problem in problems))

    @classmethod
    def of(cls, path: str, code: str, message: str) -> "InvalidResponse":
        """A response with one problem."""
        return cls([Problem(path, code, message)])


@dataclass(frozen=True)
class Field:
    """One input of the form: how the page collects it and how a form post without scripts is read.

    choice one of several, choices any of several, flag yes or no, text, lines one answer a line, operations
    edits of the table, cells marked in the table, numbers one of each option, json any value of the task type's own element.

    For docs/reference/api.md: `shape` is its JSON where the kind does not tell, `note` a remark on it.
    """

    name: str
    kind: Literal["choice", "choices", "flag", "text", "lines", "operations", "cells", "numbers", "json"]
    choices: tuple[tuple[str, str], ...] = ()
    shape: str = ""
    note: str = ""


LINE_END = re.compile(r"\r\n?|\n")


def as_lines(answers: Sequence[str]) -> str:
    """The text of a field with one answer a line: a line break within an answer is a blank there."""
    return "".join(f"{LINE_END.sub(' ', answer)}\n" for answer in answers)


def from_lines(text: str, known_answers: object = ()) -> list[str]:
    """The answers in such a field; those that are in the list `known_answers` get their line breaks back."""
    answers = (
        [value for value in known_answers if isinstance(value, str)]
        if isinstance(known_answers, list)
        else []
    )
    whole = {as_lines([answer]).strip(): answer for answer in answers}
    return [whole.get(line, line) for line in map(str.strip, LINE_END.split(text)) if line]


@dataclass(frozen=True)
class PerturbedExample:
    """What a response of a making kind does to the example: the edited example and its operations."""

    example: Example
    operations: tuple[Operation, ...]


def response_data(response: Any) -> dict[str, Any]:
    """A frozen Response as JSON: field by field, operations in their published form."""
    return {f.name: _json(getattr(response, f.name)) for f in dataclasses.fields(response)}


def as_tuples(value: Any) -> Any:
    """A JSON value with its lists as tuples, at every depth."""
    return tuple(as_tuples(part) for part in value) if isinstance(value, list) else value


def _json(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_json(part) for part in value]
    return value.to_dict() if hasattr(value, "to_dict") else value
