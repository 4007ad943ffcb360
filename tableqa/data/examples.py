"""The example: a question about a table, its answers, and what its source says around it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tableqa.cells import dates_of, has_months_first
from tableqa.core.canonical_json import canonical, freeze, thaw
from tableqa.core.foreign_values import faults, printable, unstorable_part
from tableqa.core.translation import joined, phrase, reason_of
from tableqa.data.answers import accepted, alternatives_of, is_month_first, with_alternatives
from tableqa.data.tables import Table, TableError


class ExampleError(ValueError):
    """What was given is not an example; the message names the field."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Context:
    """What is beside the table in its source: paragraphs, and the unit and scale that the numbers are in."""

    text: str = ""
    unit: str = ""
    scale: str = ""

    def __post_init__(self) -> None:
        for name in ("text", "unit", "scale"):
            _text(getattr(self, name), f"context.{name}")

    def to_dict(self) -> dict[str, Any]:
        """Only the fields that are set."""
        values = {"text": self.text, "unit": self.unit, "scale": self.scale}
        return {name: value for name, value in values.items() if value}

    @classmethod
    def from_dict(cls, data: object) -> "Context":
        """Read what `to_dict` wrote; ExampleError for anything else."""
        fields = _object(data, "context", required=(), optional=("text", "unit", "scale"))
        return cls(**fields)


@dataclass(frozen=True, slots=True, init=False)
class Turn:
    """An earlier question of a dialogue and its answers."""

    question: str
    answers: tuple[str, ...]

    def __init__(self, question: str, answers: Iterable[str] = ()) -> None:
        object.__setattr__(self, "question", _text(question, "history.question"))
        object.__setattr__(self, "answers", _texts(answers, "history.answers"))

    def to_dict(self) -> dict[str, Any]:
        return {"question": self.question, "answers": list(self.answers)}

    @classmethod
    def from_dict(cls, data: object) -> "Turn":
        """Read what `to_dict` wrote; ExampleError for anything else."""
        fields = _object(data, "a turn of the history", required=("question", "answers"), optional=())
        return cls(fields["question"], fields["answers"])


@dataclass(frozen=True, init=False)
class Example:
    """A question about a table and its answers.

    id        unique within its source, never empty
    answers   the gold answers as written in the source; a set for comparison (`tableqa.data.answers.compare`). Where
              they may be said in other ways they are `tableqa.data.answers.Answers`, which only other answers take away
              from an example
    meta      the source's other fields under its own names (answer_type, derivation, scale, context, ...), immutable
    program   an executable answer, if one is known: a JSON object of `tableqa.programs`
    context   paragraphs, unit and scale beside the table, if the source has them
    history   the earlier turns of a dialogue, oldest first

    Raises ExampleError naming the field.
    """

    id: str
    question: str
    table: Table
    answers: tuple[str, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)
    program: Mapping[str, Any] | None = None
    context: Context | None = None
    history: tuple[Turn, ...] = ()

    def __init__(
        self,
        id: str,
        question: str,
        table: Table,
        answers: Iterable[str],
        meta: Mapping[str, Any] | None = None,
        program: Mapping[str, Any] | None = None,
        context: Context | None = None,
        history: Iterable[Turn] = (),
    ) -> None:
        put = object.__setattr__
        if not _text(id, "id"):
            raise ExampleError(phrase("id is empty: every example of a source needs its own id"))
        if not isinstance(table, Table):
            raise ExampleError(f"table is a {type(table).__name__}, not a Table")
        put(self, "id", id)
        put(self, "question", _text(question, "question"))
        put(self, "table", table)
        gold = _answers(answers, alternatives_of(answers), is_month_first(answers))
        if not is_month_first(gold) and any(dates_of(text) for form in accepted(gold) for text in form):
            gold = with_alternatives(gold, alternatives_of(gold), _has_months_first(table))
        put(self, "answers", gold)
        put(self, "meta", _json({} if meta is None else meta, "meta"))
        put(self, "program", None if program is None else _json(program, "program"))
        if context is not None and not isinstance(context, Context):
            raise ExampleError(f"context is a {type(context).__name__}, not a Context")
        put(self, "context", context)
        put(self, "history", tuple(history))
        if not all(isinstance(turn, Turn) for turn in self.history):
            raise ExampleError("history holds something that is not a Turn")

    def over(self, table: Table) -> "Example":
        """The same example over another table."""
        if not isinstance(table, Table):
            raise ExampleError(f"table is a {type(table).__name__}, not a Table")
        example = object.__new__(Example)
        example.__dict__.update(self.__dict__, table=table)  # everything else was checked when this was made
        return example

    def to_dict(self) -> dict[str, Any]:
        """JSON; the table as `Table.to_wire`, so that the ids of a derived table survive. Empty fields are left out."""
        data: dict[str, Any] = {
            "id": self.id,
            "question": self.question,
            "table": self.table.to_wire(),
            "answers": list(self.answers),
        }
        return data | self.beside()

    def beside(self) -> dict[str, Any]:
        """What `to_dict` has of these fields (`BESIDE`): JSON, empty ones left out, and what the table says of dates."""
        data: dict[str, Any] = {}
        if alternatives := alternatives_of(self.answers):
            data["alternatives"] = list(map(list, alternatives))
        if is_month_first(self.answers) and not _has_months_first(self.table):
            data["month_first"] = True
        if self.meta:
            data["meta"] = thaw(self.meta)
        if self.program is not None:
            data["program"] = thaw(self.program)
        if self.context is not None:
            data["context"] = self.context.to_dict()
        if self.history:
            data["history"] = [turn.to_dict() for turn in self.history]
        return data

    @classmethod
    def from_dict(cls, data: object) -> "Example":
        """Read what `to_dict` wrote; ExampleError naming the field for anything else."""
        fields = _object(
            data,
            "an example",
            required=("id", "question", "table", "answers"),
            optional=BESIDE,
        )
        try:
            table = Table.from_dict(fields["table"])
        except TableError as error:
            raise ExampleError(joined(["table", reason_of(error)], by=": ")) from error
        return cls.stored(fields["id"], fields["question"], table, fields["answers"], fields)

    @classmethod
    def stored(
        cls, id: str, question: str, table: Table, answers: Iterable[str], beside: Mapping[str, Any]
    ) -> "Example":
        """The example of what is stored of it, with what `beside` wrote; ExampleError."""
        history = beside.get("history", ())
        if not isinstance(history, list | tuple):
            raise ExampleError("history is a list of turns")
        context = beside.get("context")
        return cls(
            id=id,
            question=question,
            table=table,
            answers=_answers(answers, beside.get("alternatives", ()), beside.get("month_first", False)),
            meta=beside.get("meta"),
            program=beside.get("program"),
            context=None if context is None else Context.from_dict(context),
            history=[Turn.from_dict(turn) for turn in history],
        )


BESIDE = ("alternatives", "month_first", "meta", "program", "context", "history")
"""The fields of `Example.beside`."""


def _answers(answers: Any, alternatives: Any, month_first: Any) -> tuple[str, ...]:
    """Answers with their other forms, each a list of answers, and how their dates are read; ExampleError."""
    first = _texts(answers, "answers")
    if isinstance(alternatives, str) or not isinstance(alternatives, Iterable):
        raise ExampleError(
            phrase("alternatives is a list of lists, not a {type}", type=type(alternatives).__name__)
        )
    others = [_texts(alternative, f"alternatives[{i}]") for i, alternative in enumerate(alternatives)]
    if others and not all([first, *others]):
        raise ExampleError(phrase("answers with alternatives are never empty"))
    if not isinstance(month_first, bool):
        raise ExampleError("month_first is neither true nor false")
    return with_alternatives(first, others, month_first)


def _has_months_first(table: Table) -> bool:
    return has_months_first(cell for row in table.rows for cell in row)


def _object(data: object, what: str, required: Iterable[str], optional: Iterable[str]) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise ExampleError(f"{what} is an object, not a {type(data).__name__}")
    required = tuple(required)
    if missing := [name for name in required if name not in data]:
        raise ExampleError(f"{what} lacks {', '.join(missing)}")
    if unknown := sorted(str(name) for name in set(data) - set(required) - set(optional)):
        raise ExampleError(f"{what} has no field {', '.join(unknown)}")
    return dict(data)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ExampleError(
            phrase("{where} is a string, not a {type}", where=where, type=type(value).__name__)
        )
    if reason := unstorable_part(value):
        raise ExampleError(phrase("{where} contains {reason}", where=where, reason=reason))
    return value


def _texts(values: Any, where: str) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ExampleError(
            phrase("{where} is a list of strings, not a {type}", where=where, type=type(values).__name__)
        )
    return tuple(_text(value, f"{where}[{i}]") for i, value in enumerate(values))


_NOTHING = freeze({})


def _json(value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise ExampleError(
            phrase("{where} is an object, not a {type}", where=where, type=type(value).__name__)
        )
    if not value:
        return _NOTHING
    text, failure = "\\u0000", None
    try:
        text = canonical(value)
    except (TypeError, ValueError) as error:
        failure = error
    if "\\u0000" in text or unstorable_part(
        text
    ):  # seldom: the text tells faster than a walk through the value
        for path, reason in faults(value):
            steps = (f"[{step}]" if isinstance(step, int) else f".{printable(step)}" for step in path)
            raise ExampleError(
                phrase("{where} contains {reason}", where="".join([where, *steps]), reason=reason)
            )
    if failure is not None:
        raise ExampleError(phrase("{where} cannot be written as JSON: {error}", where=where, error=failure))
    return freeze(value)
