"""Task types whose form is declared: labels and ratings share field parser, description, simulation and form."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from tableqa.core.translation import gettext
from tableqa.writers.askew import askew_record
from tasks.contract import Item, JudgingTask, Nature, PerturbedExample, Problem, ReleaseRecord, response_data
from tasks.shared.form_fields import Question, Scale
from tasks.shared.response_parts import ResponseReader


class DeclaredTask(JudgingTask):
    """A judging task type whose `fields` are declared (`tasks.shared.form_fields`).

    The fields give the parser, the description, the simulation, the measures of agreement, the records of releases in
    Askew's own form and, unless the folder has its own, form.html and response.html.
    """

    fields: ClassVar[tuple[Question, ...]]
    response_of_fields: ClassVar[str] = "fields/_words.html"
    definition: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not cls.measures and "fields" in cls.__dict__:
            cls.measures = tuple(measure for field in cls.fields if (measure := field.measure()))

    @property
    def is_submitted_by_key(self) -> bool:
        """Whether the key of the last choice submits: in a form in which nothing is typed or marked."""
        return all(field.kind == "choice" for field in self.fields)

    def asked(self, item: Item) -> Sequence[Question]:
        """The fields that an item asks for, `when` aside."""
        return self.fields

    def parse(self, data: object, item: Item) -> Any:
        sent = ResponseReader(data if isinstance(data, Mapping) else {}, self.fields)
        values: dict[str, Any] = {}
        for field in self.asked(item):
            if field.when is not None and not field.when.holds(values):
                continue
            value, problems = field.read(sent.data.get(field.name, field.empty), item)
            values[field.name] = value
            if value == field.empty and not problems and field.is_required(values):
                problems = [field.missing()]
            sent.problems += [
                self.missing(field, item) if problem.code == field.code else problem for problem in problems
            ]
        sent.problems += self.unasked(sent.data, item)
        if not isinstance(data, Mapping):
            message = gettext("The response must be an object.")
            sent.problems.append(Problem("", "bad_response", message))
        sent.finish()
        return self.response_type(
            **{field.name: values.get(field.name, field.empty) for field in self.fields}
        )

    def missing(self, field: Question, item: Item) -> Problem:
        """The problem with a required field that is empty or of no use."""
        return field.missing()

    def unasked(self, data: Mapping[str, Any], item: Item) -> Sequence[Problem]:
        """Problems with values of fields that the item does not ask for; by default they are ignored."""
        return ()

    def describe(self, response: Any, item: Item) -> list[str]:
        return [line for field, value in self._given_values(response) for line in field.describe(value)]

    def label(self, response: Any, item: Item) -> str:
        labels = [field.label_of(value) for field, value in self._given_values(response)]
        return " / ".join(filter(None, labels)) or super().label(response, item)

    def _given_values(self, response: Any) -> Iterator[tuple[Question, Any]]:
        """The fields that are not empty, with their values."""
        values = ((field, getattr(response, field.name)) for field in self.fields)
        return ((field, value) for field, value in values if value != field.empty)

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        return {
            field.name: field.simulate(item, rng, accuracy, truth, self.weights(field, item))
            for field in self.asked(item)
        }

    def export(
        self, format: str, item: Item, response: Any, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """Askew's own form: the example with its response (`record`) and what `item_record_fields` adds."""
        if format == "askew":
            record = {
                **askew_record(item.example),
                **self.record(response),
                **self.item_record_fields(item),
            }
            yield ReleaseRecord(self.key, record)

    def record(self, response: Any) -> dict[str, Any]:
        """What a record of a release holds of the response."""
        return response_data(response)

    def item_record_fields(self, item: Item) -> Mapping[str, Any]:
        """What a record of a release holds of the item beside the response."""
        return {}

    def weights(self, field: Question, item: Item) -> Sequence[int]:
        """How often simulated people find each option of a field right."""
        return field.likely

    @functools.cached_property
    def form_template(self) -> str:
        """The folder's own form.html, else the form that the fields make."""
        return self._own_template("form") or "fields/form.html"

    @functools.cached_property
    def response_template(self) -> str:
        """The folder's own response.html, else the lines that the fields make."""
        return self._own_template("response") or self.response_of_fields

    def _own_template(self, name: str) -> str:
        path = f"{self.key}/{name}.html"
        return path if (self.folder() / "templates" / path).is_file() else ""


@dataclass(frozen=True)
class Label:
    """The value of one option."""

    label: str


class LabelTask(DeclaredTask):
    """One label per item: a `Choice` named `label`. The majority of three people decides, by default.

    `recorded` maps labels to what a release writes for them, where that is not the label itself.
    """

    response_type: ClassVar[type] = Label
    compares: ClassVar[Nature] = "labels"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "majority"}
    recorded: ClassVar[Mapping[str, Any]] = {}
    response_of_fields = "fields/_label.html"

    def word(self, response: Any) -> str:
        return str(response.label)

    def record(self, response: Any) -> dict[str, Any]:
        label = self.recorded.get(response.label, response.label)
        return {**super().record(response), "label": label}


class RatingTask(DeclaredTask):
    """Scores of one item: every `Scale` is a dimension. The mean of all people decides, by default.

    In practice, one step beside the expected score is near enough.
    """

    compares: ClassVar[Nature] = "scales"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "mean"}
    response_of_fields = "fields/_scores.html"

    @property
    def dimensions(self) -> tuple[Scale, ...]:
        """The scales among the fields."""
        return tuple(field for field in self.fields if isinstance(field, Scale))

    def scores(self, response: Any) -> Mapping[str, int | float | None]:
        return {scale.name: getattr(response, scale.name) for scale in self.dimensions}

    def merged(self, responses: Sequence[Any], item: Item, consensus: Mapping[str, float]) -> Any:
        """The mean scores; other fields are empty."""
        return self.response_type(
            **{field.name: consensus.get(field.name, field.empty) for field in self.fields}
        )

    def feedback(self, item: Item, response: Any, expected: Any) -> tuple[bool, list[str]]:
        """One step beside the expected score is near enough: people of the paper were not closer."""
        lines, apart = [], []
        for field in self.dimensions:
            own, expected_score = getattr(response, field.name), getattr(expected, field.name)
            if own is None or expected_score is None:
                apart.append(0 if own == expected_score else field.highest)
                continue
            apart.append(abs(own - expected_score))
            if own != expected_score:
                near = gettext(" Close enough.") if apart[-1] == 1 else ""
                message = gettext("{label}: your score {score}, expected {expected}.{near}")
                lines.append(
                    message.format(label=gettext(field.label), score=own, expected=expected_score, near=near)
                )
        return all(steps <= 1 for steps in apart), lines
