"""The language of programs: each node a frozen dataclass that knows its JSON and refuses what makes no sense.

A program is data. It addresses cells by row id and column id, so that it survives edits, and holds no text of the table
but the values that its conditions compare with. Three sorts of nodes: `Rows` (a choice of rows), `Expression` (one
number, or the text of one cell) and answers made of texts; `Program` is what can be at the top.

The operations are those that published reasoning questions ask for: the aggregations and conditions of WikiSQL (Zhong
et al. 2017), the arithmetic of TAT-QA's derivations (Zhu et al. 2021), and superlatives, comparisons and neighbouring
rows, which WikiTableQuestions (Pasupat and Liang 2015) adds.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, cast, get_args

from tableqa.core.foreign_values import unstorable
from tableqa.data.tables import MAX_TEXT, is_id

MAX_DEPTH = 24
MAX_NODES = 2_000
"""Limits of a program that comes from outside: how deep its nodes are nested, and how many there are."""

Which = Literal["largest", "smallest"]
Comparison = Literal["equals", "differs", "contains", "greater", "less", "at_least", "at_most"]
Function = Literal["sum", "average", "largest", "smallest"]


class ProgramError(ValueError):
    """A program that cannot be read or run.

    code     bad_program (it is not well formed), gone (a row or column that it reads is no longer there), not_a_number,
             no_value (nothing fits its conditions, or what it reads is empty), division_by_zero
    message  what is wrong, a sentence for the page
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def bad(message: str) -> ProgramError:
    """A program that is not well formed."""
    return ProgramError("bad_program", message)


# Checks ---------------------------------------------------------------------------------------------------------------

Check = Callable[[Any, str], None]
"""Raises ProgramError(bad_program) for a value that the field of this name cannot hold."""


def _id(value: object, name: str) -> None:
    if not is_id(value):
        raise bad(f"{name} is the id of a {name}, not {_short(value)}")


def _text(value: str, name: str) -> None:
    if len(value) > MAX_TEXT:
        raise bad(f"{name} is longer than {MAX_TEXT:,} characters")
    if reason := unstorable(value):
        raise bad(f"{name} contains {reason}")


def _one_of(*allowed: str) -> Check:
    def check(value: object, name: str) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise bad(f"{name} is one of {', '.join(allowed)}, not {_short(value)}")

    return check


def _sort(value: object, kinds: tuple[type["Node"], ...], name: str, expected: str) -> None:
    if not isinstance(value, kinds):
        actual = str(value.to_dict()["op"]) if isinstance(value, Node) else _short(value)
        raise bad(f"{name} is {expected}, not {actual}")


def _text_or_expression(value: object, name: str) -> None:
    if isinstance(value, str):
        _text(value, name)
    else:
        _sort(value, EXPRESSIONS, name, "a text or an expression")


def _two_words(value: object, name: str) -> None:
    if (
        not isinstance(value, tuple)
        or len(value) != 2
        or not all(isinstance(word, str) and word for word in value)
    ):
        raise bad(f"{name} is a list of two texts, for what holds and for what does not")
    for word in value:
        _text(word, name)


def _cell_or_its_year(value: object, name: str) -> None:
    cell = value.of if isinstance(value, Year) else value
    _sort(cell, (Cell,), name, "a cell, or the year in one")


def _rows(value: object, name: str) -> None:
    _sort(value, ROWS, name, "a choice of rows")


def _expression(value: object, name: str) -> None:
    _sort(value, EXPRESSIONS, name, "an expression")


def _expressions(value: object, name: str) -> None:
    _several(value, EXPRESSIONS, name, "expressions")


def _several(
    value: object, kinds: tuple[type["Node"], ...], name: str, expected: str, least: int = 2
) -> None:
    if not isinstance(value, tuple) or len(value) < least:
        raise bad(f"{name} is a list of {least} or more {expected}")
    for item in value:
        _sort(item, kinds, name, f"a list of {expected}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


_which = _one_of(*get_args(Which))
_function = _one_of(*get_args(Function))
_comparison = _one_of(*get_args(Comparison))


def _comparison_of_numbers(value: object, name: str) -> None:
    _comparison(value, name)
    if value == "contains":
        raise bad(f"{name}: a number contains nothing")


class Node:
    """What all nodes share: JSON with the field "op", the checks of fields, and the nodes inside."""

    op: ClassVar[str]
    checks: ClassVar[Mapping[str, Check]] = {}
    __slots__ = ()

    def __post_init__(self) -> None:
        for name, check in self.checks.items():
            check(getattr(self, name), name)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the node and everything in it."""
        values = {each.name: _to_json(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]
        return {"op": self.op, **values}

    def inner(self) -> Iterator["Node"]:
        """The nodes directly inside, from left to right."""
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, tuple):
                yield from (item for item in value if isinstance(item, Node))

    def walk(self) -> Iterator["Node"]:
        """This node and all nodes inside, each before its own."""
        yield self
        for node in self.inner():
            yield from node.walk()


def _to_json(value: Any) -> Any:
    if isinstance(value, Node):
        return value.to_dict()
    return [_to_json(item) for item in value] if isinstance(value, tuple) else value


# Rows -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AllRows(Node):
    """Every row of the body."""

    op: ClassVar[str] = "all_rows"


@dataclass(frozen=True, slots=True)
class Where(Node):
    """The rows of `rows` whose cell in `column` is in the relation `relation` to `value`.

    `value` is a text, read as the cells are (a number compares with numbers, a date with dates), or an expression.
    """

    column: str
    relation: Comparison
    value: "str | Expression"
    rows: "Rows" = field(default_factory=AllRows)

    op: ClassVar[str] = "where"
    checks = {"column": _id, "relation": _comparison, "value": _text_or_expression, "rows": _rows}


@dataclass(frozen=True, slots=True)
class Extreme(Node):
    """The rows of `rows` that hold the largest or smallest value of `column`: several where they tie."""

    which: Which
    column: str
    rows: "Rows" = field(default_factory=AllRows)

    op: ClassVar[str] = "extreme"
    checks = {"which": _which, "column": _id, "rows": _rows}


@dataclass(frozen=True, slots=True)
class Place(Node):
    """The first or last of `rows` in the order of the table."""

    which: Literal["first", "last"]
    rows: "Rows" = field(default_factory=AllRows)

    op: ClassVar[str] = "place"
    checks = {"which": _one_of("first", "last"), "rows": _rows}


@dataclass(frozen=True, slots=True)
class Beside(Node):
    """The row that is directly after (below) or before (above) each of `rows`, where there is one."""

    which: Literal["after", "before"]
    rows: "Rows"

    op: ClassVar[str] = "beside"
    checks = {"which": _one_of("after", "before"), "rows": _rows}


Rows = AllRows | Where | Extreme | Place | Beside


# Expressions ----------------------------------------------------------------------------------------------------------


_DECIMAL = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?")


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A constant, in decimal notation."""

    value: str

    op: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        if not isinstance(self.value, str) or not _DECIMAL.fullmatch(self.value):
            raise bad(f"a number is written in plain digits like “-12.5”, not {_short(self.value)}")


@dataclass(frozen=True, slots=True)
class Cell(Node):
    """One cell: its number where one is needed, else its text. The header row's id gives the name of a column."""

    row: str
    column: str

    op: ClassVar[str] = "cell"
    checks = {"row": _id, "column": _id}


@dataclass(frozen=True, slots=True)
class Add(Node):
    """The sum of two or more expressions."""

    terms: "tuple[Expression, ...]"

    op: ClassVar[str] = "add"
    checks = {"terms": _expressions}


@dataclass(frozen=True, slots=True)
class Multiply(Node):
    """The product of two or more expressions."""

    terms: "tuple[Expression, ...]"

    op: ClassVar[str] = "multiply"
    checks = {"terms": _expressions}


@dataclass(frozen=True, slots=True)
class Subtract(Node):
    """`left` less `right`."""

    left: "Expression"
    right: "Expression"

    op: ClassVar[str] = "subtract"
    checks = {"left": _expression, "right": _expression}


@dataclass(frozen=True, slots=True)
class Divide(Node):
    """`left` divided by `right`."""

    left: "Expression"
    right: "Expression"

    op: ClassVar[str] = "divide"
    checks = {"left": _expression, "right": _expression}


@dataclass(frozen=True, slots=True)
class Minus(Node):
    """An expression with its sign turned round: a table may write an expense as (5) and a derivation as 5."""

    of: "Expression"

    op: ClassVar[str] = "minus"
    checks = {"of": _expression}


@dataclass(frozen=True, slots=True)
class Percent(Node):
    """A share or ratio, times 100."""

    of: "Expression"

    op: ClassVar[str] = "percent"
    checks = {"of": _expression}


@dataclass(frozen=True, slots=True)
class RoundedValue(Node):
    """An expression rounded to `places` digits after the point, halves away from 0."""

    of: "Expression"
    places: int

    op: ClassVar[str] = "rounded"

    def __post_init__(self) -> None:
        _expression(self.of, "of")
        if type(self.places) is not int or not 0 <= self.places <= 12:
            raise bad("places is a whole number from 0 to 12")


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """Sum, average, largest or smallest value of a column over rows.

    Cells that say nothing ("", "-", "n/a") are passed over. Sum and average want numbers in all others; the extremes
    take the numbers, dates or times that the column mostly holds and pass over the rest ("DNF").
    """

    function: Function
    column: str
    rows: Rows = field(default_factory=AllRows)

    op: ClassVar[str] = "aggregate"
    checks = {"function": _function, "column": _id, "rows": _rows}


@dataclass(frozen=True, slots=True)
class Count(Node):
    """How many rows there are, or how many of the choices fit."""

    of: "Rows | Those"

    op: ClassVar[str] = "count"

    def __post_init__(self) -> None:
        _sort(self.of, (*ROWS, Those), "of", "rows, or the choices that fit")


@dataclass(frozen=True, slots=True)
class CountDifferent(Node):
    """How many different texts a column holds over rows; cells that say nothing are passed over."""

    column: str
    rows: Rows = field(default_factory=AllRows)

    op: ClassVar[str] = "count_different"
    checks = {"column": _id, "rows": _rows}


Expression = (
    Number
    | Cell
    | Add
    | Multiply
    | Subtract
    | Divide
    | Minus
    | Percent
    | RoundedValue
    | Aggregate
    | Count
    | CountDifferent
)


# Texts ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Select(Node):
    """The texts that a column holds over rows, each once."""

    column: str
    rows: Rows = field(default_factory=AllRows)

    op: ClassVar[str] = "select"
    checks = {"column": _id, "rows": _rows}


@dataclass(frozen=True, slots=True)
class MostCommon(Node):
    """The most (or least) frequent text in a column over rows; several where they tie."""

    which: Which
    column: str
    rows: Rows = field(default_factory=AllRows)

    op: ClassVar[str] = "most_common"
    checks = {"which": _which, "column": _id, "rows": _rows}


@dataclass(frozen=True, slots=True)
class Year(Node):
    """The years that texts hold: of "31 March 2019" it is "2019". Every text must hold exactly one."""

    of: "Cell | Select"

    op: ClassVar[str] = "year"

    def __post_init__(self) -> None:
        _sort(self.of, (Cell, Select), "of", "a cell or what is selected")


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """One of the things that are compared: what names it, a cell or the year in one, and its value."""

    label: Cell | Year
    value: Expression

    op: ClassVar[str] = "choice"
    checks = {"label": _cell_or_its_year, "value": _expression}


@dataclass(frozen=True, slots=True)
class Pick(Node):
    """The names of the choices with the largest or smallest value: "which year was it higher in?"."""

    which: Which
    choices: tuple[Choice, ...]

    op: ClassVar[str] = "pick"
    checks = {"which": _which, "choices": lambda value, name: _several(value, (Choice,), name, name)}


@dataclass(frozen=True, slots=True)
class Those(Node):
    """The names of the choices whose value is in a relation to `than`: "in which years did it exceed 5?"."""

    choices: tuple[Choice, ...]
    relation: Comparison
    than: Expression

    op: ClassVar[str] = "those"
    checks = {
        "choices": lambda value, name: _several(value, (Choice,), name, name, least=1),
        "relation": _comparison_of_numbers,
        "than": _expression,
    }


@dataclass(frozen=True, slots=True)
class Holds(Node):
    """Whether `left` is in a relation to `right`, in the two words of `words`: "yes" and "no", "more" and "less"."""

    left: Expression
    relation: Comparison
    right: Expression
    words: tuple[str, ...] = ("yes", "no")

    op: ClassVar[str] = "holds"
    checks = {
        "left": _expression,
        "relation": _comparison_of_numbers,
        "right": _expression,
        "words": _two_words,
    }


Program = Expression | Select | Year | MostCommon | Pick | Those | Holds

ROWS: tuple[type[Node], ...] = get_args(Rows)
EXPRESSIONS: tuple[type[Node], ...] = get_args(Expression)
PROGRAMS: tuple[type[Node], ...] = (*EXPRESSIONS, Select, Year, MostCommon, Pick, Those, Holds)
_KINDS: tuple[type[Node], ...] = (*ROWS, *PROGRAMS, Choice)
NODES: Mapping[str, type[Node]] = {kind.op: kind for kind in _KINDS}
"""Every node by the name that is in its JSON."""


def from_dict(data: object) -> Program:
    """Read the JSON of a program; ProgramError(bad_program) for anything else, unknown fields included."""
    count = [0]
    node = _node(data, "the program", 1, count)
    _sort(node, PROGRAMS, "a program", "an expression or an answer made of texts")
    return cast(Program, node)


def _node(data: object, where: str, depth: int, count: list[int]) -> Node:
    count[0] += 1
    if depth > MAX_DEPTH or count[0] > MAX_NODES:
        raise bad(f"the program is too large: at most {MAX_DEPTH} levels and {MAX_NODES} nodes")
    if not isinstance(data, Mapping):
        raise bad(f"{where} is an object with op, not {_short(data)}")
    op = data.get("op")
    if not isinstance(op, str) or op not in NODES:
        raise bad(f"{where} has the op {_short(op)}; known are {', '.join(NODES)}")
    kind = NODES[op]
    names = [each.name for each in fields(kind)]  # type: ignore[arg-type]
    if unknown := sorted(str(name) for name in data if name not in (*names, "op")):
        raise bad(f"{op} has no field {', '.join(unknown)}; it has {', '.join(names)}")
    values = {name: _value(data[name], f"{op}.{name}", depth, count) for name in names if name in data}
    try:
        return kind(**values)
    except TypeError:
        missing = [name for name in names if name not in data and name != "rows"]
        raise bad(f"{op} lacks {', '.join(missing)}") from None


def _value(value: object, where: str, depth: int, count: list[int]) -> Any:
    if isinstance(value, Mapping):
        return _node(value, where, depth + 1, count)
    if isinstance(value, list | tuple):
        return tuple(
            item if isinstance(item, str) else _node(item, where, depth + 1, count) for item in value
        )
    return value
