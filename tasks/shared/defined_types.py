"""Task types that a definition makes (`shared.type_definitions`): they meet the contract without their own folder."""

import dataclasses
import functools
import json
import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Literal

from tableqa import Example
from tableqa.core.json_text import read_json
from tableqa.core.release_rules import version
from tableqa.core.translation import TranslatedText, gettext, gettext_noop
from tableqa.data.examples import ExampleError
from tasks.contract import (
    InvalidResponse,
    Item,
    Measure,
    PreparedInputs,
    PreparingTask,
    Problem,
    Surroundings,
    decision_rules,
    rule_checks,
)
from tasks.contract.resolutions import Undecidable
from tasks.contract.scores import mean
from tasks.shared.conditions import condition
from tasks.shared.declared_types import DeclaredTask
from tasks.shared.definition_faults import BadDefinition, DefinitionFault
from tasks.shared.form_fields import (
    AnswerChoice,
    AnswerMultiChoice,
    AnswerRank,
    Cells,
    Choice,
    MultiChoice,
    Option,
    Question,
    Rank,
    Scale,
    Text,
    answer_label,
    answer_numbers,
    answers_of,
    cells_in_order,
    cells_in_words,
)
from tasks.shared.schema_errors import schema_faults
from tasks.shared.span_field import Spans, spans_of
from tasks.shared.type_definitions import (
    NATURES,
    OPTIONED,
    SCHEMA,
    decision_of,
    definition_faults,
    key_of,
    options_of,
    statistics_of,
    steps_of,
    value_of,
)
from tasks.shared.typed_fields import Date, Number, Shares

MARK = TranslatedText("Mark the cells in the table.", {"de": "Markieren Sie die Zellen in der Tabelle."})
"""The help of a field of cells that has none of its own."""


class DefinedTask(DeclaredTask):
    """A task type of one project, made by `task_of`. `definition` is what it was made from."""

    decides: ClassVar[str]
    of: ClassVar[tuple[Literal["originals", "perturbed"], ...]] = ("originals", "perturbed")

    sheet: ClassVar[str] = "askew/own-fields.css"
    form_template = "fields/form.html"
    response_template = "fields/_words.html"

    @property
    def script(self) -> str:
        """The elements of the form that only some definitions have."""
        is_own = (isinstance(field, Spans | Rank) or getattr(field, "slider", False) for field in self.fields)
        return "askew/own-fields.js" if any(is_own) else ""

    def picture(self, variant: str = "") -> str:
        return ""

    @property
    def is_submitted_by_key(self) -> bool:
        """Whether the key of the last choice submits: in a form of choices that are always asked."""
        return all(field.kind == "choice" and field.is_always_required for field in self.fields)

    @property
    def has_choices(self) -> bool:
        """Whether the form has choices at all."""
        return any(field.kind == "choice" for field in self.fields)

    @property
    def offers_answers(self) -> bool:
        """Whether a field that is always shown has the texts of the answers, so that the form lists them nowhere else."""
        of_answers = AnswerChoice | AnswerMultiChoice | AnswerRank
        return any(isinstance(field, of_answers) and field.when is None for field in self.fields)

    @property
    def default_overlap(self) -> int:
        return int(self.definition.get("overlap", 3))

    @property
    def deciding(self) -> Question:
        """The field that decides an item."""
        return next(field for field in self.fields if field.name == self.decides)

    def unfitting_values(self, data: Mapping[str, Any], item: Item) -> list[str]:
        fields = {field.name: field for field in self.fields}
        return [
            f"{name}: {', '.join(map(str, value)) if isinstance(value, list) else value}"
            for name, value in data.items()
            if value not in ("", None, [])
            and (name not in fields or fields[name].read(value, item)[0] == fields[name].empty)
        ]

    def parse(self, data: object, item: Item) -> Any:
        response = super().parse(data, item)
        problems = []
        for field, other in self._equal_field_pairs(vars(response)):
            message = gettext("“{name}” must differ from “{other}”. Choose another value.")
            text = message.format(name=gettext(field.label), other=gettext(other.label))
            problems.append(Problem(field.name, "not_different", text))
        if problems:
            raise InvalidResponse(problems)
        return response

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        values = super().simulate(item, rng, accuracy, truth)
        for field in self.fields:
            if field.differs_from and values[field.name] == (other := values[field.differs_from]):
                free = (value for value in _single_values(field, item) if value != other)
                values[field.name] = next(free, other)
        return values

    # -- deciding ---------------------------------------------------------------------------------

    def word(self, response: Any) -> str:
        """The label of an item that a choice or a ranking decides."""
        value = getattr(response, self.decides)
        if isinstance(self.deciding, Rank):
            return " > ".join(value)
        return str(value) if self.compares == "labels" else ""

    def measure_text(self, name: str) -> str:
        """The name of a field, with its German label."""
        field = self._measured.get(name)
        if isinstance(field, Shares):
            option = field.options[field.measure_names.index(name)]
            return _joined(field.label, option.title)
        return name if field is None else _with_german_form(name, field.label)

    def label_text(self, measure: str, label: str) -> str:
        """An option of a field, with its German title."""
        field = self._measured.get(measure)
        titles = {option.value: option.title for option in getattr(field, "options", ())}
        return _with_german_form(label, titles[label]) if label in titles else label

    def reason_text(self, label: str) -> str:
        return label

    @property
    def _measured(self) -> Mapping[str, Question]:
        return {measure.name: field for field in self.fields for measure in field.measures()}

    def alike(self, response: Any, item: Item) -> Hashable:
        return (
            tuple(dataclasses.astuple(response))
            if self.compares == "texts"
            else super().alike(response, item)
        )

    def scores(self, response: Any) -> Mapping[str, int | float | None]:
        value = getattr(response, self.decides)
        if isinstance(self.deciding, Shares):
            return dict(zip(self.deciding.values, value, strict=True))
        return {self.decides: value}

    def members(self, response: Any) -> frozenset[Hashable]:
        if isinstance(self.deciding, Spans):
            return self.deciding.characters_in(response) or frozenset()
        return frozenset(getattr(response, self.decides))

    def merged(self, responses: Sequence[Any], item: Item, consensus: Any) -> Any:
        """The decided value, and of every other field what these people agree on."""
        if isinstance(self.deciding, Shares):
            value: Any = self.deciding.scaled(consensus)
        elif self.compares == "scales":
            value = consensus[self.decides]
        else:
            value = self._in_order(self.deciding, consensus, item)
        return self._decision_response({**self._common_values(responses, item), self.decides: value})

    def merge_equal(self, responses: Sequence[Any], first: Any, item: Item) -> Any:
        """One response for people with the same decided value; alone, a person's response as it is."""
        if self.compares == "texts" or len(responses) == 1:
            return first
        return self._decision_response(
            {**self._common_values(responses, item), self.decides: getattr(first, self.decides)}
        )

    def _decision_response(self, values: Mapping[str, Any]) -> Any:
        """A decision of these values. What is not asked beside them is empty.

        Raises `Undecidable` where two values are the same that must differ. A mean, and an empty field that people do
        not agree on, are the only values that no response has.
        """
        if version() < 8:
            return self.response_type(**values)
        applicable_values: dict[str, Any] = {}
        for field in self.fields:
            if field.when is None or field.when.holds(applicable_values):
                applicable_values[field.name] = self._fitting(field, values[field.name])
        for field, other in self._equal_field_pairs(applicable_values):
            raise Undecidable(decision_rules.SAME_VALUE.format(name=str(field.label), other=str(other.label)))
        return self.response_type(**applicable_values)

    def _fitting(self, field: Question, value: Any) -> Any:
        """The value, empty where it has another number of options than a response can have. Raises `Undecidable`."""
        if not isinstance(field, MultiChoice) or not field.number_problems(value):
            return value
        if field.name == self.decides:
            raise Undecidable(decision_rules.WRONG_NUMBER.format(name=str(field.label)))
        return field.empty

    def _equal_field_pairs(self, values: Mapping[str, Any]) -> Iterator[tuple[Question, Question]]:
        """The fields that have the same value as the field that they must differ from, with that field."""
        fields = {field.name: field for field in self.fields}
        for field in self.fields:
            value = values.get(field.name, field.empty)
            if field.differs_from and value != field.empty and value == values.get(field.differs_from):
                yield field, fields[field.differs_from]

    def _common_values(self, responses: Sequence[Any], item: Item) -> dict[str, Any]:
        """Of each field what more than half of the people say, the mean of a scale, and a text if all wrote the same."""
        values: dict[str, Any] = {}
        for field in self.fields:
            answers = [getattr(response, field.name) for response in responses]
            non_empty = [value for value in answers if value != field.empty]
            if isinstance(field, Spans):
                characters = Counter(part for each in responses for part in field.characters_in(each) or ())
                most = [part for part, count in characters.items() if 2 * count > len(responses)]
                values[field.name] = spans_of(most)
            elif isinstance(field, MultiChoice | Cells) and not isinstance(field, Rank):
                counts = Counter(member for members in answers for member in members)
                most = [member for member, count in counts.items() if 2 * count > len(responses)]
                values[field.name] = self._in_order(field, most, item)
            elif isinstance(field, Shares):
                each = zip(*non_empty, strict=True)
                values[field.name] = tuple(mean(points) for points in each)
            elif isinstance(field, Scale | Number):
                values[field.name] = mean(sorted(non_empty)) if non_empty else field.empty
            else:
                value, count = max(sorted(Counter(answers).items(), key=repr), key=lambda pair: pair[1])
                enough = count == len(answers) if isinstance(field, Text) else 2 * count > len(answers)
                values[field.name] = value if enough else field.empty
        return values

    def _in_order(self, field: Question, members: Collection[Any], item: Item) -> tuple[Any, ...]:
        if isinstance(field, MultiChoice):
            return field.in_order(members)
        if isinstance(field, Spans):
            return spans_of(members)
        return cells_in_order(members, item.example.table)

    # -- in words ---------------------------------------------------------------------------------

    def describe(self, response: Any, item: Item) -> list[str]:
        """One line a field: its label and its value."""
        return [
            f"{gettext(field.label)}: {self._in_words(field, value, item)}"
            for field, value in self._given_values(response)
        ]

    def label(self, response: Any, item: Item) -> str:
        labels = [self._in_words(field, value, item) for field, value in self._given_values(response)]
        return " / ".join(labels[:2])

    def _in_words(self, field: Question, value: Any, item: Item) -> str:
        if isinstance(field, Cells):
            return " ".join(cells_in_words(value, item.example.table))
        if isinstance(field, Spans):
            return "; ".join(field.words_of(value, item))
        if isinstance(field, AnswerChoice):
            return _answer_in_words(field, value, item)
        if isinstance(field, AnswerMultiChoice):
            return "; ".join(_answer_in_words(field, part, item) for part in value)
        if isinstance(field, Scale) or (isinstance(field, Number) and field.slider):
            return gettext("{score:g} of {highest}").format(score=value, highest=field.highest)
        return field.label_of(value) or str(value)

    def feedback(self, item: Item, response: Any, expected: Any) -> tuple[bool, list[str]]:
        """Every field but texts as expected; one step beside an expected score is near enough."""
        lines, right = [], True
        for field in self.fields:
            own, expected_value = getattr(response, field.name), getattr(expected, field.name)
            if own == expected_value or isinstance(field, Text):
                continue
            near = (
                isinstance(field, Scale)
                and None not in (own, expected_value)
                and abs(own - expected_value) <= 1
            )
            right = right and near
            nothing = gettext("nothing")
            lines.append(
                gettext("{label}: your answer {own}, expected {wanted}.{near}").format(
                    label=gettext(field.label),
                    own=nothing if own == field.empty else self._in_words(field, own, item),
                    wanted=nothing
                    if expected_value == field.empty
                    else self._in_words(field, expected_value, item),
                    near=gettext(" Close enough.") if near else "",
                )
            )
        return right, lines

    # -- what comes with it -------------------------------------------------------------------------

    def guidelines(self) -> str:
        return _in(self.definition.get("guidelines", self.instruction), "en")

    def guidelines_in(self, language: str) -> str:
        text = self.definition.get("guidelines", "")
        return str(text.get(language, "")) if isinstance(text, Mapping) else ""

    def practice(self, variant: str = "") -> list[dict[str, Any]]:
        entries = self.definition.get("practice", ())
        return [{**entry, "example": _example(entry["example"])} for entry in entries]

    def published(self) -> dict[str, Any]:
        """What a release holds of the definition, with the JSON Schema of its responses."""
        return {**self.definition, "response_schema": self.response_schema()}

    def response_schema(self) -> dict[str, Any]:
        """JSON Schema of the `data` of a response."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {field.name: field.schema() for field in self.fields},
            "required": [field.name for field in self.fields],
            "additionalProperties": False,
        }


def _answer_in_words(field: Question, value: str, item: Item) -> str:
    """An answer with its text: "Answer 2 (Nepal)"."""
    answers = answers_of(item)
    label = answer_label(field, value)
    return (
        f"{label} ({answers[int(value) - 1]})" if value.isdecimal() and int(value) <= len(answers) else label
    )


class OfAnswersTask(DefinedTask, PreparingTask):
    """A task type with a choice or ranking of the answers of the example, which has to have enough of them."""

    favourites = False
    without = gettext_noop("they have too few answers to choose among or to rank.")

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs | None:
        return PreparedInputs() if self.has_enough_answers(example) else None

    def has_enough_answers(self, example: Example) -> bool:
        """Whether there is something to choose among and to rank in every field that is always asked."""
        needed = (_fewest(field) for field in self.fields)
        return len(set(example.answers)) >= max(needed, default=0)


def _fewest(field: Question) -> int:
    """How many different answers an example needs for a field that is always asked."""
    if not field.is_always_required or not isinstance(field, AnswerChoice | AnswerMultiChoice | AnswerRank):
        return 0
    return 1 if isinstance(field, AnswerMultiChoice) or field.options else 2


def _single_values(field: Question, item: Item) -> list[Any]:
    """The values of one option, one answer or one step, as a form sends them."""
    if isinstance(field, Scale):
        return [int(value) for value in field.values]
    of_answers = isinstance(field, AnswerChoice | AnswerMultiChoice)
    values = answer_numbers(field, item) if of_answers else field.values
    return [[value] for value in values] if isinstance(field, MultiChoice) else list(values)


def task_of(name: str, definition: Mapping[str, Any], version: int = 1) -> DefinedTask:
    """The task type that a definition makes; the same object for the same definition.

    Raises `BadDefinition` with everything that is wrong with it.
    """
    return _task_of(name, json.dumps(definition, sort_keys=True), version)


@functools.lru_cache(maxsize=256)
def _task_of(name: str, text: str, version: int) -> DefinedTask:
    try:
        data = read_json(text)
    except ValueError as error:
        raise BadDefinition([DefinitionFault((), str(error))]) from error
    shape = [DefinitionFault(path, message) for path, message in schema_faults(SCHEMA, data)]
    if problems := shape or definition_faults(name, data):
        raise BadDefinition(problems)
    task = _make_task(name, data, version)
    if problems := [*_check_rule(task, data), *_check_practice(task, data)]:
        raise BadDefinition(problems)
    return task


def _make_task(name: str, data: Mapping[str, Any], version: int) -> DefinedTask:
    named = {field["name"]: field for field in data["fields"]}
    fields = tuple(_field(field, named) for field in data["fields"])
    decision = decision_of(data)
    response = dataclasses.make_dataclass(
        "Response",
        [(field.name, Any, dataclasses.field(default=field.empty)) for field in fields],
        frozen=True,
    )
    shows = tuple(data.get("shows", ("question", "table", "titles")))
    task_class = type(
        "Defined",
        (OfAnswersTask if any("of" in field for field in data["fields"]) else DefinedTask,),
        {
            "__module__": __name__,
            "__doc__": f"The task type {name} of a project.",
            "key": name,
            "version": version,
            "definition": data,
            "title": _words(data["title"]),
            "instruction": _words(data["instruction"]),
            "shows": shows,
            "fields": fields,
            "response_type": response,
            "decides": decision["field"],
            "compares": NATURES[named[decision["field"]]["type"]],
            "rule": {key: value for key, value in decision.items() if key != "field"},
            "measures": tuple(_measures(fields, data)),
        },
    )
    task: DefinedTask = task_class()
    return task


def _measures(fields: Iterable[Question], data: Mapping[str, Any]) -> Iterator[Measure]:
    field_definitions = {field["name"]: field for field in data["fields"]}
    agreement = data.get("agreement")
    measures = ((field, measure) for field in fields for measure in field.measures())
    for field, measure in measures:
        if agreement is not None and field.name not in agreement:
            continue
        if agreement is not None:
            statistic_names = statistics_of(field_definitions[field.name])
            measure = dataclasses.replace(
                measure, statistics=tuple(statistic_names[name] for name in agreement[field.name])
            )
        yield measure


def _field(data: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]]) -> Question:
    name, label = data["name"], _words(data.get("label", ""))
    named = label or _words(data["name"].replace("_", " ").capitalize())
    required = TranslatedText(
        f"Answer “{_in(named, 'en')}”.", {"de": f"Beantworten Sie „{_in(named, 'de')}“."}
    )
    facts: dict[str, Any] = {
        "name": name,
        "label": named,
        "legend": _words(data.get("question", "")),
        "help": _words(data.get("help", "")),
        "required": "" if data.get("optional") else required,
        "when": condition(data["when"], options_of(fields)) if "when" in data else None,
        "differs_from": data.get("different_from", ""),
    }
    type = data["type"]
    if type in OPTIONED:
        of_answers = "of" in data
        options = enumerate(data.get("options", ()), start=1)
        facts["options"] = tuple(_option(option, index, of_answers) for index, option in options)
        if type == "spans":
            return Spans(**facts, source=data.get("in", "question"))
        if type == "shares":
            return Shares(**facts, total=data.get("total", 100))
        if type == "multi_choice":
            facts |= {"fewest": data.get("min", 0), "most": data.get("max", 0)}
        return (_OF_ANSWERS if of_answers else _OF_OPTIONS)[type](**facts)
    if type == "scale":
        return _scale(data, facts)
    if type == "number":
        return _number(data, facts)
    if type == "date":
        return Date(**facts, earliest=data.get("min", ""), latest=data.get("max", ""))
    if type == "cells":
        return Cells(**{**facts, "help": facts["help"] or MARK})
    facts |= {"longest": data["max_length"]} if "max_length" in data else {}
    return Text(**facts, source=data.get("prefill", ""))


def _number(data: Mapping[str, Any], facts: dict[str, Any]) -> Number:
    ends = {key: data[key] for key in ("min", "max") if key in data}
    anchors = data.get("anchors", {})
    return Number(
        **facts,
        lowest=ends.get("min", -math.inf),
        highest=ends.get("max", math.inf),
        step=data.get("step", 0),
        slider=data.get("slider", False),
        ends=(_words(anchors.get(str(ends.get("min")), "")), _words(anchors.get(str(ends.get("max")), ""))),
    )


def _scale(data: Mapping[str, Any], facts: dict[str, Any]) -> Scale:
    steps = steps_of(data)
    anchors = {int(step): _words(text) for step, text in data.get("anchors", {}).items()}
    between = [step for step in sorted(anchors) if step not in (steps.start, steps.stop - 1)]
    if between:
        texts = {}
        for language in ("en", "de"):
            steps_in_words = "; ".join(f"{step}: {_in(anchors[step], language)}" for step in sorted(anchors))
            texts[language] = " ".join(filter(None, [_in(facts["help"], language), steps_in_words]))
        facts["help"] = TranslatedText(texts["en"], {"de": texts["de"]})
    ends = (anchors.get(steps.start, ""), anchors.get(steps.stop - 1, ""))
    return Scale(**facts, lowest=steps.start, highest=steps.stop - 1, ends=ends)


_OF_OPTIONS: Mapping[str, type[Question]] = {"choice": Choice, "multi_choice": MultiChoice, "rank": Rank}
_OF_ANSWERS: Mapping[str, type[Question]] = {
    "choice": AnswerChoice,
    "multi_choice": AnswerMultiChoice,
    "rank": AnswerRank,
}


def _option(data: Any, index: int, of_answers: bool) -> Option:
    key = key_of(data, index, of_answers=of_answers)
    value = value_of(data)
    texts = data if isinstance(data, Mapping) else {}
    return Option(
        value, _words(texts.get("title") or value.capitalize()), _words(texts.get("help", "")), key=key
    )


def _words(text: Any) -> str:
    """A text of a definition, with its German form where it has one. It is never looked up in the catalogue: an option
    "may" is no month.
    """
    if isinstance(text, Mapping):
        return TranslatedText(
            text["en"], {key: translated for key, translated in text.items() if key != "en"}
        )
    return TranslatedText(str(text), {})


def _with_german_form(name: str, text: str) -> TranslatedText:
    """A name of a definition, which the catalogue never translates, with the German form of its text."""
    return TranslatedText(name, text.by_language if isinstance(text, TranslatedText) else {})


def _joined(first: str, second: str) -> TranslatedText:
    """Two texts of a definition with a colon, in each language."""
    texts = {language: f"{_in(first, language)}: {_in(second, language)}" for language in ("en", "de")}
    return TranslatedText(texts["en"], {"de": texts["de"]})


def _in(text: Any, language: str) -> str:
    if isinstance(text, Mapping):
        return str(text.get(language) or text["en"])
    return text.in_language(language) if isinstance(text, TranslatedText) else str(text)


def _check_rule(task: DefinedTask, data: Mapping[str, Any]) -> Iterator[DefinitionFault]:
    try:
        rule_checks.check_rule(task, task.rule)
    except rule_checks.BadRule as error:
        yield DefinitionFault(("decide",), str(error).removeprefix("resolve."))


def _check_practice(task: DefinedTask, data: Mapping[str, Any]) -> Iterator[DefinitionFault]:
    for index, entry in enumerate(data.get("practice", ())):
        path = ("practice", index)
        try:
            item = Item(Example.from_dict(_example(entry["example"])))
        except ExampleError as error:
            yield DefinitionFault((*path, "example"), str(error))
            continue
        if isinstance(task, OfAnswersTask) and not task.has_enough_answers(item.example):
            message = gettext("The example has too few answers to choose among or to rank. Add `answers`.")
            yield DefinitionFault((*path, "example"), message)
            continue
        try:
            task.parse(entry["expected"], item)
        except InvalidResponse as invalid:
            for problem in invalid.problems:
                below = tuple(part for part in (problem.path.split(".")[0],) if part in entry["expected"])
                message = (
                    problem.message if below or not problem.path else f"{problem.path}: {problem.message}"
                )
                yield DefinitionFault((*path, "expected", *below), message)


def _example(data: Mapping[str, Any]) -> dict[str, Any]:
    """An example as it is written by hand: cells and answers may be numbers, and the answers may be left out."""
    example = {"answers": [], **data}
    table = example.get("table")
    if isinstance(table, Mapping):
        rows = table.get("rows")
        header = table.get("header")
        example["table"] = {
            **table,
            **({"header": _texts(header)} if isinstance(header, list) else {}),
            **({"rows": [_texts(row) for row in rows]} if isinstance(rows, list) else {}),
        }
    if isinstance(example["answers"], list):
        example["answers"] = _texts(example["answers"])
    return example


def _texts(values: Any) -> Any:
    if not isinstance(values, list):
        return values
    return [
        str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        for value in values
    ]
