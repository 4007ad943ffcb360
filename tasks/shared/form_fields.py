"""Declared input fields: one declaration gives the form, the parser, the description and the simulation of a field.

A field is data. A module declares it in Python; values that come from elsewhere (YAML, JSON) fit the same classes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any, ClassVar, Literal

from tableqa import Table
from tableqa.core.translation import gettext, gettext_noop
from tableqa.data.own_columns import PREFIX, column_text
from tasks.contract import Field, Item, Measure, Problem
from tasks.contract.scores import HIGHEST, LOWEST, score
from tasks.shared.conditions import Condition
from tasks.shared.response_parts import LONGEST_TEXT

Cell = tuple[str, str]
"""(row id, column id)."""
Read = tuple[Any, list[Problem]]
"""The value of a field as far as it is readable, and what is wrong with it."""


@dataclass(frozen=True)
class Option:
    """One option of a choice. `help` is a sentence for the form, `meaning` the same where the form is not in view.

    Defaults: the title is the value, the meaning is the help, and the shortcut `key` is the number of the option. Options of
    one `group` are together in the form; `short` is their name there, and `brief` a few words beside it.
    """

    value: str
    title: str = ""
    help: str = ""
    meaning: str = ""
    key: str = ""
    group: str = ""
    short: str = ""
    brief: str = ""


@dataclass(frozen=True, kw_only=True)
class Question(Field):
    """A declared field of a form.

    label     its name, as a noun
    legend    the question above its input; by default the label
    help      a sentence below the legend
    options   what a choice or scale offers
    required  what the page says while the field is empty; "" for an optional field
    needed    the field is required only under this condition
    when      the field is asked only under this condition; otherwise its value is empty
    differs_from  the name of a field before it that must not have the same value; "" for none
    code      of the problem with an empty field; by default `no_NAME`
    key       the shortcut of the field itself
    likely    how often simulated people find each option right, as weights; by default equally often
    """

    label: str = ""
    legend: str = ""
    help: str = ""
    options: tuple[Option, ...] = ()
    required: str = ""
    needed: Condition | None = None
    when: Condition | None = None
    differs_from: str = ""
    code: str = ""
    key: str = ""
    likely: tuple[int, ...] = ()

    template: ClassVar[str] = ""
    empty: ClassVar[Any] = ""
    """The value of the field where nothing was entered."""

    def __post_init__(self) -> None:
        label = self.label or self.name.replace("_", " ").capitalize()
        options = tuple(
            replace(
                option,
                title=option.title or option.value.capitalize(),
                meaning=option.meaning or option.help,
                key=option.key or str(position),
            )
            for position, option in enumerate(self.options, start=1)
        )
        for name, value in {
            "label": label,
            "legend": self.legend or label,
            "code": self.code or f"no_{self.name}",
            "options": options,
            "choices": tuple((option.value, option.help or option.title) for option in options),
        }.items():
            object.__setattr__(self, name, value)

    @property
    def number_rule(self) -> str:
        """How many options or points a response has, as a sentence; "" for any number."""
        return ""

    @property
    def values(self) -> tuple[str, ...]:
        """The values of all options, in their order."""
        return tuple(option.value for option in self.options)

    def option(self, value: str) -> Option:
        """The option with this value. Raises StopIteration."""
        return next(option for option in self.options if option.value == value)

    def read(self, value: object, item: Item) -> Read:
        """The value that was sent, as far as it is readable."""
        raise NotImplementedError

    def missing(self) -> Problem:
        """The problem with a required field that is empty."""
        return Problem(self.name, self.code, gettext(self.required))

    def is_required(self, values: Mapping[str, Any]) -> bool:
        """Whether the field must not be empty beside the values of the fields before it."""
        return bool(self.required) and (self.needed is None or self.needed.holds(values))

    @property
    def is_always_required(self) -> bool:
        """Whether the page refuses an empty field itself. What depends on a condition, the server refuses."""
        return bool(self.required) and self.needed is None and self.when is None

    def describe(self, value: Any) -> list[str]:
        """A value that is not empty, as sentences."""
        return [f"{gettext(self.label)}: {value}"]

    def label_of(self, value: Any) -> str:
        """A value that is not empty in a word or two; "" where it has no short form."""
        return ""

    def measure(self) -> Measure | None:
        """What agreement is computed on by default."""
        return None

    def measures(self) -> tuple[Measure, ...]:
        """All that agreement is computed on by default."""
        measure = self.measure()
        return () if measure is None else (measure,)

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]) -> Any:
        """The value that a simulated person enters; `likely` as in the declaration."""
        return self.empty

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value in a response or a decision."""
        return {"type": "string"}

    def value_in(self, response: Any) -> Any:
        """The value of the field in a response, as agreement compares it; None if the field is empty."""
        value = getattr(response, self.name)
        return None if value == self.empty else value

    def set_in(self, response: Any) -> frozenset[Any] | None:
        """The same for a field of several values: empty is a value too, unless the field may not have been asked."""
        value = frozenset(getattr(response, self.name))
        return None if self.when is not None and not value else value


@dataclass(frozen=True, kw_only=True)
class Choice(Question):
    """One of several options."""

    kind: Literal["choice"] = "choice"
    template = "fields/_choice.html"

    def read(self, value: object, item: Item) -> Read:
        if value == "":
            return "", []
        return (value, []) if isinstance(value, str) and value in self.values else ("", [self.missing()])

    def missing(self) -> Problem:
        labels = ", ".join(self.values)
        return Problem(self.name, self.code, gettext("Choose one of: {labels}.").format(labels=labels))

    def describe(self, value: str) -> list[str]:
        return in_words([self.option(value)])

    def label_of(self, value: str) -> str:
        return gettext(self.option(value).title)

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]) -> str:
        right = truth.choices(self.values, weights=likely or None)[0]
        return (
            right
            if rng.random() < accuracy
            else rng.choice([value for value in self.values if value != right])
        )

    def schema(self) -> dict[str, Any]:
        return {"enum": [*self.values, ""]}

    def measure(self) -> Measure:
        return Measure(self.name, "nominal", self.value_in, order=self.values)


@dataclass(frozen=True, kw_only=True)
class MultiChoice(Question):
    """Any of several options, at least `fewest` and at most `most` of them where these are not 0.

    `unknown` and `malformed` are codes: a value that is no option, and no list of options.
    """

    kind: Literal["choices"] = "choices"
    unknown: str = "unknown_option"
    malformed: str = "wrong_type"
    fewest: int = 0
    most: int = 0
    template = "fields/_choices.html"
    empty = ()

    def read(self, value: object, item: Item) -> Read:
        if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
            return (), [Problem(self.name, self.malformed, gettext("This must be a list of options."))]
        message, options = (
            gettext("There is no option {option!r}. Available: {options}."),
            ", ".join(self.values),
        )
        problems = [
            Problem(self.name, self.unknown, message.format(option=part, options=options))
            for part in value
            if part not in self.values
        ]
        return self.in_order(value), problems or self.number_problems(self.in_order(value))

    def number_problems(self, values: Sequence[str]) -> list[Problem]:
        """The problem with too few or too many options; none with none at all."""
        is_right = not values or self.fewest <= len(values) <= (self.most or len(values))
        return [] if is_right else [Problem(self.name, "wrong_number", self.number_rule)]

    @property
    def number_rule(self) -> str:
        message = {
            (True, True): gettext("“{name}”: choose {fewest} to {most} options."),
            (True, False): gettext("“{name}”: choose at least {fewest}."),
            (False, True): gettext("“{name}”: choose at most {most}."),
        }.get((self.fewest > 1, self.most > 0), "")
        if self.fewest == self.most > 0:
            message = gettext("“{name}”: choose exactly {most}.")
        return message.format(name=gettext(self.label), fewest=self.fewest, most=self.most)

    def in_order(self, values: Collection[str]) -> tuple[str, ...]:
        """Options in the order of the form, each once."""
        return tuple(value for value in self.values if value in values)

    def describe(self, value: Sequence[str]) -> list[str]:
        return in_words([self.option(part) for part in value])

    def label_of(self, value: Sequence[str]) -> str:
        return ", ".join(gettext(self.option(part).title) for part in value)

    def simulate(
        self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]
    ) -> list[str]:
        right = truth.choices(self.values, weights=likely or None)
        return self.enough(right if rng.random() < accuracy else [rng.choice(self.values)], self.values)

    def enough(self, chosen: list[str], values: Sequence[str]) -> list[str]:
        """The options with further ones of `values`, as many as a response needs."""
        others = [value for value in values if value not in chosen]
        return [*chosen, *others[: max(0, self.fewest - len(chosen))]]

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"enum": list(self.values)}, "uniqueItems": True}

    def measure(self) -> Measure:
        statistics = ("krippendorff_alpha_masi", "krippendorff_alpha_jaccard")
        return Measure(self.name, "sets", self.set_in, statistics=statistics)


@dataclass(frozen=True, kw_only=True)
class Scale(Question):
    """A whole number from `lowest` to `highest`; `ends` names both ends."""

    kind: Literal["choice"] = "choice"
    lowest: int = LOWEST
    highest: int = HIGHEST
    ends: tuple[str, str] = ("", "")
    code: str = "no_score"
    template = "fields/_scale.html"
    empty = None

    def __post_init__(self) -> None:
        steps = map(str, range(self.lowest, self.highest + 1))
        object.__setattr__(self, "options", tuple(Option(step, key=step) for step in steps))
        super().__post_init__()

    def read(self, value: object, item: Item) -> Read:
        if value is None or value == "":
            return None, []
        step = score(value, self.lowest, self.highest)
        return step, [] if step is not None else [self.missing()]

    def missing(self) -> Problem:
        message = gettext("{label}: choose a value from {lowest} to {highest}.")
        text = message.format(label=gettext(self.label), lowest=self.lowest, highest=self.highest)
        return Problem(self.name, self.code, text)

    def describe(self, value: float) -> list[str]:
        message = gettext("{label}: {score:g} of {highest}.")
        return [message.format(label=gettext(self.label), score=value, highest=self.highest)]

    def label_of(self, value: float) -> str:
        return f"{value:g}"

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]) -> int:
        right = truth.choices(self.values, weights=likely or None)[0]
        return int(right if rng.random() < accuracy else rng.choice(self.values))

    def schema(self) -> dict[str, Any]:
        return {"type": ["number", "null"], "minimum": self.lowest, "maximum": self.highest}

    def measure(self) -> Measure:
        statistics = ("krippendorff_alpha", "krippendorff_alpha_interval")
        return Measure(self.name, "ordinal", self.value_in, statistics=statistics)


@dataclass(frozen=True, kw_only=True)
class Text(Question):
    """A text of at most `longest` characters.

    It begins with what `source` names of the example: "question", "answers" or an own column (meta.NAME); "" for nothing.
    """

    kind: Literal["text"] = "text"
    longest: int = LONGEST_TEXT
    source: str = ""
    template = "fields/_text.html"

    def read(self, value: object, item: Item) -> Read:
        if isinstance(value, str) and len(value) <= self.longest:
            return value.strip(), []
        message = gettext("This must be a text of at most {longest_text} characters.")
        return "", [Problem(self.name, "wrong_type", message.format(longest_text=self.longest))]

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]) -> str:
        if self.source and (start := self.start_of(item).strip()) and rng.random() < accuracy:
            return start[: self.longest]
        return "Simulated."[: self.longest] if self.required else ""

    def start_of(self, item: Item) -> str:
        """What the field begins with for an item."""
        if self.source.startswith(PREFIX):
            return column_text(item.example.meta, self.source)
        return item.example.question if self.source == "question" else "\n".join(item.example.answers)


@dataclass(frozen=True, kw_only=True)
class Cells(Question):
    """Cells of the body of the table: [[row id, column id], ...], in the order of the table."""

    kind: Literal["cells"] = "cells"
    template = "fields/_cells.html"
    empty = ()

    def read(self, value: object, item: Item) -> Read:
        table = item.example.table
        most = max(1, table.shape[0] * table.shape[1]) * 2
        if not isinstance(value, list | tuple) or len(value) > most:
            message = gettext("Cells must be a list of [row id, column id] pairs.")
            return (), [Problem(self.name, "wrong_type", message)]
        cells: set[Cell] = set()
        problems = []
        for index, cell in enumerate(value):
            path = f"{self.name}.{index}"
            pair = isinstance(cell, list | tuple) and len(cell) == 2
            if not pair or not all(isinstance(id, str) for id in cell):
                message = gettext("A cell must be a pair [row id, column id].")
                problems.append(Problem(path, "wrong_type", message))
            elif not table.has_row(cell[0]) or cell[1] not in table.column_ids:
                message = gettext("The table has no cell {cell}/{cell_2} below its header.").format(
                    cell=cell[0][:40], cell_2=cell[1][:40]
                )
                problems.append(Problem(path, "unknown_cell", message))
            else:
                cells.add((cell[0], cell[1]))
        return cells_in_order(cells, table), problems[:20]

    def simulate(
        self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]
    ) -> list[list[str]]:
        cells = list(product(item.example.table.row_ids, item.example.table.column_ids))
        if not cells:
            return []
        right = truth.choice(cells)
        return [list(right if rng.random() < accuracy else rng.choice(cells))]

    def schema(self) -> dict[str, Any]:
        cell = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
        return {"type": "array", "items": cell, "uniqueItems": True}

    def measure(self) -> Measure:
        statistics = ("cell_sets_jaccard", "cell_sets_masi")
        return Measure(self.name, "cells", self.set_in, statistics=statistics)


@dataclass(frozen=True, kw_only=True)
class Rank(MultiChoice):
    """All options in an order, the best first."""

    template = "fields/_rank.html"

    def read(self, value: object, item: Item) -> Read:
        _, problems = super().read(value, item)
        if problems or not isinstance(value, list | tuple) or not value:
            return (), problems
        if sorted(value) != sorted(self.values):
            message = gettext("Give every option one rank: {options}.").format(options=", ".join(self.values))
            return (), [Problem(self.name, "incomplete_ranking", message)]
        return tuple(value), []

    def in_order(self, values: Collection[str]) -> tuple[str, ...]:
        return tuple(values)

    def label_of(self, value: Sequence[str]) -> str:
        return " > ".join(gettext(self.option(part).title) for part in value)

    def simulate(
        self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]
    ) -> list[str]:
        right = truth.sample(self.values, len(self.values))
        return right if rng.random() < accuracy else rng.sample(self.values, len(self.values))

    def schema(self) -> dict[str, Any]:
        return {**super().schema(), "maxItems": len(self.values)}

    def measure(self) -> Measure:
        return Measure(self.name, "ranks", self.value_in, statistics=("mean_spearman", "kendall_w"))


@dataclass(frozen=True, kw_only=True)
class AnswerRank(Rank):
    """The answers of the example in an order, the best first. An answer that is there twice has one rank."""

    template = "fields/_answer_rank.html"

    def read(self, value: object, item: Item) -> Read:
        answers = answers_of(item)
        if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
            return (), [Problem(self.name, self.malformed, gettext("This must be a list of options."))]
        if value and sorted(value) != sorted(answers):
            message = gettext("Give every option one rank: {options}.").format(options=", ".join(answers))
            return (), [Problem(self.name, "incomplete_ranking", message)]
        return tuple(value), []

    def label_of(self, value: Sequence[str]) -> str:
        return " > ".join(value)

    def simulate(
        self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]
    ) -> list[str]:
        answers = answers_of(item)
        right = truth.sample(answers, len(answers))
        return right if rng.random() < accuracy else rng.sample(answers, len(answers))

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


@dataclass(frozen=True, kw_only=True)
class AnswerChoice(Choice):
    """One of the answers of the example, by its number from 1 ("2"), or one of `options` beside them ("tie").

    An answer that is there twice has one number. Numbers make preferences comparable between items: the first answer is
    that of the first model, say.
    """

    template = "fields/_answer_choice.html"

    def read(self, value: object, item: Item) -> Read:
        if value == "":
            return "", []
        is_answer = isinstance(value, str) and value in answer_numbers(self, item)
        return (value, []) if is_answer else ("", [self.missing()])

    def missing(self) -> Problem:
        return Problem(self.name, self.code, gettext(ONE_ANSWER))

    def label_of(self, value: str) -> str:
        return answer_label(self, value)

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]) -> str:
        values = answer_numbers(self, item)
        right = truth.choice(values)
        return right if rng.random() < accuracy else rng.choice(values)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"enum": [*self.values, ""]}, {"type": "string", "pattern": NUMBER}]}

    def measure(self) -> Measure:
        return Measure(self.name, "nominal", self.value_in)


@dataclass(frozen=True, kw_only=True)
class AnswerMultiChoice(MultiChoice):
    """Any of the answers of the example by their numbers, as `AnswerChoice`, and of `options` beside them."""

    template = "fields/_answer_choice.html"

    def read(self, value: object, item: Item) -> Read:
        if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
            return (), [Problem(self.name, self.malformed, gettext("This must be a list of options."))]
        valid_numbers = answer_numbers(self, item)
        problems = [
            Problem(self.name, self.unknown, gettext(ONE_ANSWER))
            for part in value
            if part not in valid_numbers
        ]
        chosen = tuple(part for part in valid_numbers if part in value)
        return chosen, problems[:1] or self.number_problems(chosen)

    def in_order(self, values: Collection[str]) -> tuple[str, ...]:
        answers = sorted((value for value in values if value not in self.values), key=int)
        return (*answers, *super().in_order(values))

    def label_of(self, value: Sequence[str]) -> str:
        return ", ".join(answer_label(self, part) for part in value)

    def simulate(
        self, item: Item, rng: Random, accuracy: float, truth: Random, likely: Sequence[int]
    ) -> list[str]:
        values = answer_numbers(self, item)
        right = [truth.choice(values)]
        return self.enough(right if rng.random() < accuracy else [rng.choice(values)], values)

    def schema(self) -> dict[str, Any]:
        number_schema = {"type": "string", "pattern": NUMBER}
        return {
            "type": "array",
            "items": {"anyOf": [{"enum": list(self.values)}, number_schema]},
            "uniqueItems": True,
        }


NUMBER = "^[1-9][0-9]*$"
ONE_ANSWER = gettext_noop("Choose an answer of this item.")


def answers_of(item: Item) -> list[str]:
    """The answers of the example, each once."""
    return list(dict.fromkeys(item.example.answers))


def answer_numbers(field: Question, item: Item) -> list[str]:
    """The values that a field offers for an item: the numbers of its answers, then its own options."""
    return [*map(str, range(1, len(answers_of(item)) + 1)), *field.values]


def answer_label(field: Question, value: str) -> str:
    """An answer by its number, or the title of an option beside the answers."""
    if value in field.values:
        return gettext(field.option(value).title)
    return gettext("Answer {number}").format(number=value)


def in_words(options: Sequence[Option]) -> list[str]:
    """Options in the reader's language: the title, and the meaning if there is one."""
    return [
        f"{gettext(option.title)}: {gettext(option.meaning)}" if option.meaning else gettext(option.title)
        for option in options
    ]


def cells_in_order(cells: Collection[Cell], table: Table) -> tuple[Cell, ...]:
    """Cells in the order of the table, row by row."""
    rows = {id: index for index, id in enumerate(table.row_ids)}
    columns = {id: index for index, id in enumerate(table.column_ids)}
    return tuple(sorted(cells, key=lambda cell: (rows[cell[0]], columns[cell[1]])))


def cells_in_words(cells: Sequence[Cell], table: Table) -> list[str]:
    """One sentence a row: "Row 3: Votes (361), Party (Labour)."""
    rows: dict[str, list[str]] = {}
    for row, column in cells:
        index = table.column_index(column)
        name = table.header[index].strip() or gettext("column {value}").format(value=index + 1)
        rows.setdefault(row, []).append(f"{name} ({table.cell(row, column).strip() or 'empty'})")
    return [
        gettext("Row {value}: {texts}.").format(value=table.row_index(row) + 1, texts=", ".join(texts))
        for row, texts in rows.items()
    ]
