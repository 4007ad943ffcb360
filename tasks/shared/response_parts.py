"""Reading a response field by field: what several kinds ask of a flag, a text, a list of answers or of operations.

A kind's `parse` begins with a `ResponseReader` of what was sent, asks it for one field after the other, and calls `finish`,
which tells everything that is wrong at once. A field that is wrong reads as an empty one until then.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tableqa import Example
from tableqa.core.translation import gettext
from tableqa.operations import MAX_OPERATIONS, WHOLE, Operation, OperationError, from_dict
from tableqa.perturbations.contracts import not_allowed
from tableqa.programs import ProgramError
from tableqa.programs.executable_answers import confirmed_program
from tasks.contract import Field, InvalidResponse, Problem

MOST_ANSWERS = 200
LONGEST_TEXT = 2_000


class ResponseReader:
    """What was sent as a response, and the problems found in it so far.

    Raises `InvalidResponse` at once where it is no object; a field that is not among `fields` is a problem like others.
    """

    def __init__(self, data: object, fields: Iterable[Field]) -> None:
        if not isinstance(data, Mapping):
            raise InvalidResponse.of("", "bad_response", gettext("The response must be an object."))
        self.data = data
        self.problems = [
            Problem(str(name), "unknown_field", gettext("There is no field {str!r}.").format(str=str(name)))
            for name in sorted(data.keys() - {field.name for field in fields}, key=str)
        ]

    def flag(self, name: str) -> bool:
        """True or false; false where the field is left out."""
        value = self.data.get(name, False)
        if isinstance(value, bool):
            return value
        self._add_problem(name, gettext("This field must be true or false."))
        return False

    def text(self, name: str) -> str:
        """A text without the blanks around it."""
        value = self.data.get(name, "")
        if _is_text(value):
            return str(value).strip()
        message = gettext("This must be a text of at most {longest_text} characters.")
        self._add_problem(name, message.format(longest_text=LONGEST_TEXT))
        return ""

    def answers(self, name: str) -> tuple[str, ...]:
        """A list of answers, without blanks around them and without those that are blank."""
        value = self.data.get(name, [])
        if (
            isinstance(value, list)
            and len(value) <= MOST_ANSWERS
            and all(_is_text(answer) for answer in value)
        ):
            return tuple(answer.strip() for answer in value if answer.strip())
        message = gettext("Answers must be a list of at most {most_answers} texts.")
        self._add_problem(name, message.format(most_answers=MOST_ANSWERS))
        return ()

    def operations(self, name: str, allowed: Sequence[str] | None = None) -> tuple[Operation, ...]:
        """A list of operations, each well formed; whether they fit the table is for who replays them.

        Those that take long to replay and stay in every net list are refused at once where they are not allowed.
        """
        value = self.data.get(name, [])
        if not isinstance(value, list) or len(value) > MAX_OPERATIONS:
            message = gettext("Operations must be a list of at most {max_operations}.")
            self._add_problem(name, message.format(max_operations=MAX_OPERATIONS))
            return ()
        operations = []
        for index, entry in enumerate(value):
            try:
                operations.append(from_dict(entry))
            except OperationError as error:
                self.problems.append(Problem(f"{name}.{index}", error.code, str(error)))
        lasting = [each for each in operations if isinstance(each, WHOLE)]  # the others may cancel out
        self.problems += [Problem(name, each.code, each.message) for each in not_allowed(allowed, lasting)]
        return tuple(operations)

    def program(self, name: str, example: Example) -> Mapping[str, Any] | None:
        """A confirmed program, `tableqa.programs.executable_answers.NONE`, or None without a choice."""
        try:
            return confirmed_program(self.data.get(name), example)
        except ProgramError as error:
            self.problems.append(Problem(name, error.code, error.message))
            return None

    def finish(self) -> None:
        """Raises `InvalidResponse` with all problems, if there are any."""
        if self.problems:
            raise InvalidResponse(self.problems)

    def _add_problem(self, name: str, message: str) -> None:
        self.problems.append(Problem(name, "wrong_type", message))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT
