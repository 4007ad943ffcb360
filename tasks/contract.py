"""The contract between a kind of annotation and everything else.

A kind is a folder below `tasks/` (or a package that announces itself in the entry-point group
`askew.task_types`) whose `task.py` binds one `TaskType` instance to the name `task`. Everything
that pages, API, agreement and releases need to know about the kind is said there, once.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar, Literal

from tableqa import Example
from tableqa.contracts import Contract
from tableqa.operations import Operation, from_dict
from tableqa.tables import unstorable

ENTRY_POINT_GROUP = "askew.task_types"
HERE = Path(__file__).resolve().parent


# -- what a kind is given ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """One example as a task type sees it, with what was frozen for it when the item was made.

    `inputs` are the named, frozen references of the item (base, evidence, short_table, ...).
    """

    example: Example
    variant: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The digest that a response must name as the table it was made on."""
        return self.example.table.digest()


# -- what a kind answers ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a response: where (a path into `data`), a code, a sentence."""

    path: str
    code: str
    message: str
    level: Literal["error", "warning"] = "error"

    def to_dict(self) -> dict[str, str]:
        return dataclasses.asdict(self)


class Invalid(Exception):
    """A response that does not parse or breaks its contract. Carries every problem found, not the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(problem.message for problem in problems))


@dataclass(frozen=True)
class Perturbed:
    """What a response of a making kind does to the example: the edited example and its operations."""

    example: Example
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Outcome:
    """One accepted response and the places (indexes into the responses) that support it."""

    response: Any
    by: tuple[int, ...]


@dataclass(frozen=True)
class Accepted:
    """Decided. Without outcomes the item is excluded from releases, and `reason` says why."""

    outcomes: tuple[Outcome, ...]
    reason: str = ""


@dataclass(frozen=True)
class OneMore:
    """Undecided: one more person should answer."""

    reason: str


@dataclass(frozen=True)
class Adjudicate:
    """Undecided: an adjudicator should look."""

    reason: str


Resolution = Accepted | OneMore | Adjudicate


@dataclass(frozen=True)
class Measure:
    """What people are asked to agree on: a value per response, on a level of measurement.

    `value` maps a response to a category or number, or to None where the response says nothing
    about it. `order` lists the categories of an ordinal measure from low to high.
    """

    name: str
    level: Literal["nominal", "ordinal", "interval"]
    value: Callable[[Any], Hashable | None]
    order: tuple[str, ...] = ()
    statistics: tuple[str, ...] = ("fleiss_kappa", "krippendorff_alpha")


@dataclass(frozen=True)
class Field:
    """One input of the form: how the page collects it and how a form post without scripts is read."""

    name: str
    kind: Literal["choice", "flag", "text", "lines", "operations"]
    choices: tuple[tuple[str, str], ...] = ()


# -- the contract -----------------------------------------------------------------------------------


class TaskType(ABC):
    """A kind of annotation.

    Class attributes say what the kind is; methods are pure. A kind is *judging* (responses are
    compared, one decision) or *making* (`making = True`: each response that meets its contract
    stands on its own).
    """

    key: ClassVar[str]
    version: ClassVar[int] = 1
    title: ClassVar[str]
    making: ClassVar[bool]
    variants: ClassVar[Mapping[str, str]] = {}
    shows: ClassVar[tuple[str, ...]] = ("question", "table", "titles")
    needs: ClassVar[tuple[str, ...]] = ()
    fields: ClassVar[tuple[Field, ...]]
    response_type: ClassVar[type]
    measures: ClassVar[tuple[Measure, ...]] = ()
    settings_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }

    @property
    def default_overlap(self) -> int:
        """People per item unless the batch says otherwise: 3 where labels are compared, else 1."""
        return 1 if self.making else 3

    @abstractmethod
    def parse(self, data: object, item: Item) -> Any:
        """Turn the `data` of an envelope into this kind's frozen Response: the only validator.

        Raises `Invalid` with every problem. What it returns is what is stored, shown and exported.
        """

    @abstractmethod
    def resolve(self, responses: Sequence[Any]) -> Resolution:
        """Decide from the responses of one item, or say who should look next. Order must not matter."""

    @abstractmethod
    def describe(self, response: Any, item: Item) -> list[str]:
        """The response in words, one sentence each: for adjudicators, histories and screen readers."""

    @abstractmethod
    def simulate(self, item: Item, rng: random.Random, accuracy: float, truth: random.Random) -> object:
        """`data` of a simulated person who is right with probability `accuracy`.

        `truth` is seeded by the item alone, so that simulated people agree about what is right.
        """

    def perturb(self, item: Item, response: Any) -> Perturbed | None:
        """The perturbed example that an accepted response makes, or None for a kind that only judges."""
        return None

    def contract(self, item: Item) -> Contract | None:
        """What must hold for an edit; None for kinds that edit nothing. The page checks its structure live."""
        return None

    def preview(self, data: object, item: Item) -> dict[str, Any] | None:
        """Old and new answer for the page while a draft is written; None where the kind has no answer."""
        return None

    def export(
        self, format: str, item: Item, response: Any, perturbed: Perturbed | None
    ) -> Iterator[Exported]:
        """The records of one outcome in a published format; nothing where the format has no place for it."""
        return iter(())

    def upgrade(self, data: Mapping[str, Any], from_version: int) -> Mapping[str, Any]:
        """Read `data` stored by an older version of this kind. A kind that raises `version` overrides it."""
        raise ValueError(
            f"{self.key} cannot read responses of version {from_version}; it is at {self.version}"
        )

    # -- the same for every kind ---------------------------------------------------------------------

    def read(self, envelope: Mapping[str, Any], item: Item) -> Any:
        """Parse a stored or received envelope: type, variant, version, base, then `data`."""
        if not isinstance(envelope, Mapping):
            raise Invalid([Problem("", "bad_envelope", "The response must be a JSON object.")])
        problems = []
        if envelope.get("type") != self.key:
            problems.append(Problem("type", "wrong_type", f"This item takes responses of type {self.key}."))
        if (envelope.get("variant") or "") != item.variant:
            problems.append(Problem("variant", "wrong_variant", f"This item is of variant {item.variant!r}."))
        if envelope.get("base") != item.base:
            message = (
                "The response was made on another table than the one this item shows. Load the item again."
            )
            problems.append(Problem("base", "stale_base", message))
        version = envelope.get("version")
        if type(version) is not int or not 1 <= version <= self.version:
            message = f"Version {version!r} is not known; this kind is at version {self.version}."
            problems.append(Problem("version", "unknown_version", message))
        if problems:
            raise Invalid(problems)
        data = envelope.get("data")
        if reason := unstorable_in(data):
            raise Invalid(
                [Problem("", "unstorable_text", f"The response holds {reason}, which no file can keep.")]
            )
        if isinstance(version, int) and version != self.version and isinstance(data, Mapping):
            data = self.upgrade(data, version)
        return self.parse(data, item)

    def envelope(self, response: Any, item: Item) -> dict[str, Any]:
        """The stored form of a parsed response (JSON)."""
        return {
            "type": self.key,
            "variant": item.variant,
            "version": self.version,
            "base": item.base,
            "data": response_data(response),
        }

    def restore(self, data: Mapping[str, Any]) -> Any:
        """The Response of stored `data` of this version, as it was, without judging it again."""
        parsed = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
        if self.operations_field is not None:
            parsed[self.operations_field] = tuple(from_dict(entry) for entry in data[self.operations_field])
        return self.response_type(**parsed)

    def form_data(self, post: Mapping[str, str], draft: Mapping[str, Any]) -> dict[str, Any]:
        """`data` from a plain form post; operations come from the draft, for they are applied one at a time."""
        data: dict[str, Any] = {}
        for spec in self.fields:
            if spec.kind == "operations":
                data[spec.name] = draft.get(spec.name, [])
            elif spec.kind == "flag":
                data[spec.name] = post.get(spec.name) not in (None, "", "false")
            elif spec.kind == "lines":
                data[spec.name] = [
                    line.strip() for line in post.get(spec.name, "").splitlines() if line.strip()
                ]
            else:
                data[spec.name] = post.get(spec.name, "")
        return data

    @property
    def operations_field(self) -> str | None:
        """The name of the field that holds table operations, if the kind has one."""
        return next((spec.name for spec in self.fields if spec.kind == "operations"), None)

    def payload(self, item: Item) -> dict[str, Any]:
        """What may leave the server for an item of this kind: what `shows` names and nothing else."""
        shown = {name: SHOWN[name](item) for name in self.shows if name != "titles"}
        if "table" in shown and "titles" not in self.shows:
            shown["table"] = {
                part: value for part, value in shown["table"].items() if part not in ("title", "caption")
            }
        return {name: value for name, value in shown.items() if value}

    def folder(self) -> Path:
        """Where the kind lives: its guidelines, sample and templates."""
        module = importlib.import_module(type(self).__module__)
        return Path(str(module.__file__)).resolve().parent

    def guidelines(self) -> str:
        """The guidelines that come with the kind (Markdown); a project may write newer versions."""
        return (self.folder() / "GUIDELINES.md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Exported:
    """One record of a release: the part of the benchmark it belongs to, its record, and the order within."""

    part: str
    record: dict[str, Any]


SHOWN: dict[str, Callable[[Item], Any]] = {
    "question": lambda item: item.example.question,
    "table": lambda item: item.example.table.to_wire(),
    "answers": lambda item: list(item.example.answers),
    "context": lambda item: item.example.context.to_dict() if item.example.context else None,
    "history": lambda item: [turn.to_dict() for turn in item.example.history],
}


def unstorable_in(value: Any) -> str | None:
    """What some text anywhere inside a JSON value holds that cannot be written to a file or database, in words."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if reason := unstorable(part):
                return reason
        elif isinstance(part, Mapping):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part
    return None


def response_data(response: Any) -> dict[str, Any]:
    """A frozen Response as JSON: field by field, operations in their published form."""
    return {f.name: _json(getattr(response, f.name)) for f in dataclasses.fields(response)}


def _json(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_json(part) for part in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


# -- the registry -----------------------------------------------------------------------------------


class UnknownTaskType(LookupError):
    """No kind of that name is installed. Names the ones that are."""


@functools.cache
def task_types() -> dict[str, TaskType]:
    """Every kind by its key: the folders here, then the packages that announce themselves."""
    found: dict[str, TaskType] = {}
    modules = [
        f"tasks.{folder.name}.task" for folder in sorted(HERE.iterdir()) if (folder / "task.py").is_file()
    ]
    modules += [entry.value.partition(":")[0] for entry in entry_points(group=ENTRY_POINT_GROUP)]
    for module in modules:
        task: TaskType = importlib.import_module(module).task
        if task.key in found:
            raise RuntimeError(f"two kinds of annotation are called {task.key!r}: {module} and another")
        found[task.key] = task
    return found


def task_type(key: str) -> TaskType:
    """The kind of that key. Raises `UnknownTaskType`."""
    try:
        return task_types()[key]
    except KeyError:
        known = ", ".join(sorted(task_types()))
        raise UnknownTaskType(f"no task type is called {key!r}; there are: {known}") from None
