"""`TaskType`: what every task type has. The traits beside this module add what only some need."""

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from tableqa.core.translation import gettext, gettext_noop, unpack_object
from tableqa.data.answers import gold_record
from tableqa.data.own_columns import PREFIX, column_text
from tableqa.perturbations.contracts import Contract
from tasks.contract import decision_rules
from tasks.contract.decisions import DecisionMethods
from tasks.contract.figures import ReleaseRecord, Report, ReportedResponse
from tasks.contract.items import SHOWN, Item
from tasks.contract.resolutions import Resolution
from tasks.contract.response_forms import ResponseMethods
from tasks.contract.responses import InvalidResponse, PerturbedExample

Step = Literal["label", "evidence", "edit", "check", "rate"]
STEPS: Mapping[Step, str] = {
    "label": gettext_noop("Label questions"),
    "evidence": gettext_noop("Find the evidence"),
    "edit": gettext_noop("Edit tables and questions"),
    "check": gettext_noop("Check edited examples"),
    "rate": gettext_noop("Rate the results"),
}
"""The steps of a study in their order, with the headings of the gallery of task types."""
SHARED_SETTINGS: Mapping[str, Any] = {
    "shows": {
        "type": "array",
        "items": {"type": "string", "pattern": r"^meta\..", "maxLength": 120},
        "uniqueItems": True,
        "maxItems": 10,
        "title": gettext_noop("Own columns that annotators see"),
        "description": gettext_noop("Columns of the source as meta.NAME, one per line."),
    }
}
"""Settings that a batch of any task type can have: JSON Schema by name."""


class TaskType(DecisionMethods, ResponseMethods):
    """A type of annotation: a folder below `tasks/`, or a package. Its class attributes are facts, its methods are pure.

    Derive from a trait instead of from this class, and combine traits as needed:

    JudgingTask     responses are compared: labels, ratings, marked cells
    AnsweringTask   a judging task type whose responses are answers to the example
    MakingTask      each response makes a perturbed example
    PreparingTask   looks at an example before it becomes an item, and freezes what the item needs
    SuggestingTask  suggests something to the annotator, or computes something for a tool on the page
    ProposingTask   machines propose whole responses
    ModelInTheLoop  a model answers the example while a person works

    Callers ask `isinstance(task, ProposingTask)`. Attributes of every task type:

    instruction  one imperative line: the heading of the annotation page (`instruct`)
    step         the step of a study that the task type belongs to (`STEPS`): its group in the gallery
    paper        the publication and its section that the task comes from, as the gallery and the reference name it
    prerequisite what a batch needs first, as a sentence for managers; "" where any source will do
    shows        what may leave the server: parts of an example (`SHOWN`), its own columns ("meta.premise") and inputs of
                 the item, by name
    needs        members of `Context` that `prepare`, `suggest` and `propose` receive
    of           the examples that a batch may use, the usual ones first
    starts_from  perturbations whose newest accepted example replaces the original that it was made from
    looks_into   task types whose decisions the items judge: people whose work such a decision rests on never get them
    without      what examples lack that make no item, as a sentence for managers
    order        "shuffled": each annotator gets the items in a different order
    grid         mode of the table on the page; by default the one that the fields need
    predicts     "live" or "on_request" for a task type with a model in the loop
    says_gold    whether a decision gives the right answer, and so may contradict the given one (`AnsweringTask`)
    usual_shares   usual shares of accepted values, by field: what a plan expects before anything is measured
    settings     the settings of a batch: JSON Schema by name, beside those of every task type (`SHARED_SETTINGS`)
    rates_answers  whether a response has scores of a rated answer by dimension; the command `metrics` reads them
    sheet        the style sheet that the form needs beside that of all forms; "" for none
    """

    title: ClassVar[str]
    instruction: ClassVar[str] = ""
    step: ClassVar[Step] = "label"
    paper: ClassVar[str] = ""
    prerequisite: ClassVar[str] = ""
    making: ClassVar[bool]
    variants: ClassVar[Mapping[str, str]] = {}
    shows: ClassVar[tuple[str, ...]] = ("question", "table", "titles")
    needs: ClassVar[tuple[str, ...]] = ()
    of: ClassVar[tuple[Literal["originals", "perturbed"], ...]] = ("originals",)
    starts_from: ClassVar[tuple[str, ...]] = ()
    looks_into: ClassVar[tuple[str, ...]] = ()
    without: ClassVar[str] = ""
    order: ClassVar[Literal["given", "shuffled"]] = "given"
    grid: ClassVar[Literal["read", "select", "edit", "structure"] | None] = None
    predicts: ClassVar[Literal["live", "on_request", ""]] = ""
    says_gold: ClassVar[bool] = False
    usual_shares: ClassVar[Mapping[str, Mapping[str, float]]] = {}
    rates_answers: ClassVar[bool] = False
    sheet: ClassVar[str] = "askew/judging.css"
    settings: ClassVar[Mapping[str, Any]] = {}

    def instruct(self, item: Item, *, has_model: bool = False) -> str:
        """The line above the question, in the reader's language: what to do, as an imperative.

        By default `instruction`, or the title of a kind without one. `has_model`: a model is in the loop.
        """
        return gettext(self.instruction or self.title)

    @property
    def settings_schema(self) -> dict[str, Any]:
        """JSON Schema of the settings of a batch."""
        properties = {**self.settings, **SHARED_SETTINGS}
        return {"type": "object", "properties": properties, "additionalProperties": False}

    @property
    def default_overlap(self) -> int:
        """People per item unless the batch says otherwise: 3 where labels are compared, else 1."""
        return 1 if self.making else 3

    def suggests(self, item: Item) -> Literal["before", ""]:
        """Whether a person gets suggestions: before the answer, or never ("")."""
        return ""

    def compute(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Server-side computation for a tool on the page: a pure function of the request that is fast for any input.

        Raises `InvalidResponse` with what is wrong with the question.
        """
        raise InvalidResponse.of("", "no_tool", gettext("This task type computes nothing."))

    def resolve(self, responses: Sequence[Any], item: Item) -> Resolution:
        """By the rule of the task type."""
        if not self.rule:
            raise NotImplementedError(f"{self.key} names no rule and does not say how it decides")
        return decision_rules.resolve(self, decision_rules.own_rule(self, item.settings), responses, item)

    def resolve_adjudicated(self, responses: Sequence[Any], item: Item) -> Resolution:
        """The same for responses that an adjudicator chose or wrote: no other person is asked."""
        if not self.rule:
            return self.resolve(responses, item)
        rule = decision_rules.own_rule(self, item.settings)
        if "most" in decision_rules.RULES[rule["rule"]].options:
            rule["most"] = 1
        return decision_rules.resolve(self, rule, responses, item)

    def report(self, rows: Sequence[ReportedResponse]) -> list[Report]:
        """Figures about a batch beyond agreement, from the newest responses of planned places."""
        return []

    def feedback(self, item: Item, response: Any, expected: Any) -> tuple[bool | None, list[str]]:
        """For practice: whether a response is as good as the expected one, and what to say about it.

        None if unknown: the meaning was not judged, and the words show what was expected.
        """
        if response == expected:
            return True, []
        measured = [measure.value(response) == measure.value(expected) for measure in self.measures]
        right = all(measured) if measured else None
        return right, [] if right else ["Expected:", *self.describe(expected, item)]

    def contract(self, item: Item) -> Contract | None:
        """What must hold for an edit; None for kinds that edit nothing. The page checks its structure live."""
        return None

    def export(
        self, format: str, item: Item, response: Any, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """The records of one outcome in a published format; nothing where the format has no place for it."""
        return iter(())

    @property
    def mode(self) -> str:
        """The mode of the table on the page: read, select, edit or structure."""
        if self.grid is not None:
            return self.grid
        kinds = {spec.kind for spec in self.fields}
        return "edit" if "operations" in kinds else "select" if "cells" in kinds else "read"

    def shown_names(self, item: Item) -> Sequence[str]:
        """What an item shows: `shows`, unless a batch's settings hide some of it."""
        return self.shows

    def payload(self, item: Item) -> dict[str, Any]:
        """What may leave the server for an item of this kind: what `shown_names` and the batch name and nothing else."""
        names = [*self.shown_names(item), *item.settings.get("shows", ())]
        payload: dict[str, Any] = {
            name: SHOWN[name](item) if name in SHOWN else item.inputs.get(name)
            for name in names
            if name != "titles" and not name.startswith(PREFIX)
        }
        columns = {name: column_text(item.example.meta, name) for name in names if name.startswith(PREFIX)}
        payload["meta"] = {name.removeprefix(PREFIX): text for name, text in columns.items() if text}
        if "table" in payload and "titles" not in names:
            payload["table"] = {
                part: value for part, value in payload["table"].items() if part not in ("title", "caption")
            }
        if "answers" in payload:
            payload |= gold_record(item.example.answers)
        return {name: value for name, value in payload.items() if value}

    def page_data(self, item: Item) -> dict[str, Any]:
        """Everything that a page needs of an item to show it and to make a response to it."""
        contract = self.contract(item)
        return {
            "type": self.key,
            "variant": item.variant,
            "version": self.version,
            "base": item.base,
            "shows": self.payload(item),
            "grid": self.mode,
            "suggests": self.suggests(item),
            "contract": contract.to_dict() if contract else None,
        }

    def folder(self) -> Path:
        """Where the kind lives: its guidelines, sample and templates."""
        module = importlib.import_module(type(self).__module__)
        return Path(str(module.__file__)).resolve().parent

    @property
    def form_template(self) -> str:
        """The template of the form on the annotation page."""
        return f"{self.key}/form.html"

    @property
    def response_template(self) -> str:
        """The template of a response as adjudicators see it."""
        return f"{self.key}/response.html"

    @property
    def script(self) -> str:
        """The task type's own elements for its page, `static/<key>/form.js` in its folder; "" where it has none."""
        name = f"{self.key}/form.js"
        return name if (self.folder() / "static" / name).is_file() else ""

    def picture(self, variant: str = "") -> str:
        """A picture of the annotation page for the gallery; "" where there is none.

        It is `static/<key>/picture-<variant>.jpg`, or `picture.jpg` of a task type without variants.
        """
        name = f"{self.key}/picture-{variant}.jpg" if variant else f"{self.key}/picture.jpg"
        return name if (self.folder() / "static" / name).is_file() else ""

    def practice(self, variant: str = "") -> list[dict[str, Any]]:
        """The entries of practice.json for a variant, in their order; empty without such a file."""
        path = self.folder() / "practice.json"
        text = path.read_text(encoding="utf-8") if path.is_file() else "[]"
        entries = json.loads(text, object_hook=unpack_object)
        return [entry for entry in entries if entry.get("variant", "") == variant]

    def guidelines(self) -> str:
        """The guidelines that come with the kind (Markdown); a project may write newer versions."""
        return (self.folder() / "GUIDELINES.md").read_text(encoding="utf-8")

    def guidelines_in(self, language: str) -> str:
        """The same in another language, by its code ("de"), from GUIDELINES.de.md; "" where there is none."""
        path = self.folder() / f"GUIDELINES.{language}.md"
        return path.read_text(encoding="utf-8") if language.isalpha() and path.is_file() else ""
