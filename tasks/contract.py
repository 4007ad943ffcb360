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
from tableqa.language import gettext, gettext_noop
from tableqa.operations import (
    OPERATIONS,
    Operation,
    OperationError,
    from_dict,
    from_list,
    normalise,
    replay,
)
from tableqa.tables import unstorable
from tasks import resolving
from tasks.resolving import Accepted as Accepted
from tasks.resolving import Adjudicate as Adjudicate
from tasks.resolving import Nature as Nature
from tasks.resolving import OneMore as OneMore
from tasks.resolving import Outcome as Outcome
from tasks.resolving import Resolution as Resolution

ENTRY_POINT_GROUP = "askew.task_types"
HERE = Path(__file__).resolve().parent


# -- what a kind is given ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Context:
    """What the platform lends to `suggest` and `prepare`: the members that the kind names in `needs`, the others are None.

    corpus        `tableqa.corpus.Index` of the project's tables
    header_names  `tableqa.headers.HeaderNames` of the project's columns
    thesaurus     `tableqa.headers` thesaurus (WordNet), or what says why there is none
    table         the source table with this digest, for candidates from the corpus
    preparing     members that are still being made: they say so themselves, and asking again in a moment may give them
    """

    corpus: Any = None
    header_names: Any = None
    thesaurus: Any = None
    table: Callable[[str], Any] | None = None
    preparing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """What a project knows of an example at the moment in which an item of it is made.

    original      what a perturbed example was made from; None for an original
    makers        by the ids of the example and its alternatives, what made each: "person" where a decision about people's
                  annotations did, "machine" or "machine, edited" where what they handed in was proposed, "automatic"
                  where a program did, else what an import says in `maker` of its meta; an example of which nobody says
                  it is not in there
    perturbation  the kind of perturbation that made it; "" for an original
    alternatives  other perturbed examples of the same original, by the same kind of perturbation; also imported ones
                  whose meta names both (`original`, `perturbation`)
    decided       data of the accepted responses to it, or to what it was made from, by kind, oldest first
    model_answers what models said of it, by purpose ("screening", "question_type", ...), oldest first
    lent          what the platform lends to the kind, ready to be asked (`TaskType.needs`)
    """

    original: Example | None = None
    perturbation: str = ""
    alternatives: tuple[Example, ...] = ()
    makers: Mapping[str, str] = field(default_factory=dict)
    decided: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    model_answers: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    lent: Context = Context()


@dataclass(frozen=True)
class Prepared:
    """What is frozen beside the example of a new item.

    inputs    named JSON values; what a person sees of them is what the kind's `shows` names
    priority  where a batch takes only some items or has an order of its own, higher comes first
    uses      ids of the alternatives that the inputs show: their makers never get the item
    """

    inputs: Mapping[str, Any] = field(default_factory=dict)
    priority: float = 0.0
    uses: tuple[str, ...] = ()


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
class Measure:
    """What people are asked to agree on: a value per response, on a level of measurement.

    `value` maps a response to a category or number, or to None where the response says nothing
    about it; on the level `cells` to a frozenset of (row id, column id), compared within each table;
    on the level `sets` to a frozenset of labels from one stock; on the level `edits` to a sequence of
    operations on the item's table. `order` lists all categories there are, those of an ordinal measure
    from low to high; a nominal one without it leaves them open and has no AC1. `krippendorff_alpha` is
    taken on the measure's level; a statistic may also name its level (`krippendorff_alpha_interval`).
    The first statistic is the one that slices, pairs and forecasts are given in.
    """

    name: str
    level: Literal["nominal", "ordinal", "interval", "cells", "sets", "edits"]
    value: Callable[[Any], Hashable | None]
    order: tuple[Hashable, ...] = ()
    statistics: tuple[str, ...] = ("fleiss_kappa", "krippendorff_alpha")


@dataclass(frozen=True)
class Field:
    """One input of the form: how the page collects it and how a form post without scripts is read.

    choice one of several, choices any of several, flag yes or no, text, lines one answer a line, operations
    edits of the table, cells marked in the table, json whatever an element of the kind's own holds.
    """

    name: str
    kind: Literal["choice", "choices", "flag", "text", "lines", "operations", "cells", "json"]
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Answered:
    """One person's response as a report sees it, with what was decided of its item (None: nothing yet)."""

    item: Item
    source: str
    annotator: str
    response: Any
    decided: tuple[Any, ...] | None


@dataclass(frozen=True)
class Report:
    """A table of figures about a batch beyond agreement: a title, column names, rows of texts and numbers, a note."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Ask:
    """What a kind has a model asked about an example in the background, under a name (`ask_model --purpose NAME`).

    request  the text to send, with how many rows of the table it shows; None: the example's own question
    read     what is kept of a reply, and comes back as `Surroundings.model_answers[purpose]`; None keeps its answers
    several  several answers at a temperature above 0 are wanted: `samples`, a list of answers for each
    points   a model that answers questions by pointing at cells will do as well: `cells`, [[row id, column id], ...]
    """

    purpose: str
    request: Callable[[Example], tuple[str, int]] | None = None
    read: Callable[[str, Example], Mapping[str, Any]] | None = None
    several: bool = False
    points: bool = False


@dataclass(frozen=True)
class Proposed:
    """A whole response that a machine would give to an item.

    data      what a person would enter: the kind parses it like anybody's
    category  which sort of change it is, where the kind tells several apart
    by        what made it, in a word: a rule, "thesaurus", "templates"
    why       for the person who decides, in a sentence; "" where it speaks for itself
    score     higher is better; comparable among the rules' proposals for one item
    """

    data: Mapping[str, Any]
    category: str = ""
    by: str = ""
    why: str = ""
    score: float = 0.0


@dataclass(frozen=True)
class Wanted:
    """One sort of change that a language model is asked for. (RobuT 5, LETA: a request of its own for each category)

    key             what the replies are kept under
    what            the request in a sentence or two
    form            what the reply looks like, as JSON with words where values go; `applies` is added
    demonstrations  how many accepted responses of people are shown with it, at most
    """

    key: str
    what: str
    form: str
    demonstrations: int = 8


CONTRACT_SETTING: Mapping[str, Any] = {
    "type": "object",
    "title": "Contract",
    "description": "Changes to the default contract, as JSON: at_most (a number or null), more_with_reason, "
    'cell_format ("warn", "require", "ignore"), table ("differs", "any"), allowed (a list of operations, only fewer, '
    'at least one), protected (a list of [row, column]). Such as {"at_most": 1}.',
    "properties": {
        "table": {"enum": ["differs", "any"]},
        "at_most": {"type": ["integer", "null"], "minimum": 0},
        "more_with_reason": {"type": "boolean"},
        "allowed": {"type": "array", "items": {"enum": list(OPERATIONS)}},
        "protected": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
        },
        "cell_format": {"enum": ["warn", "require", "ignore"]},
    },
    "additionalProperties": False,
}
"""The setting `contract` of a kind that edits: what a batch may ask for instead of the kind's own terms."""


# -- the contract -----------------------------------------------------------------------------------


FormEdit = Callable[[Mapping[str, str], Item, list[Operation]], list[Operation]]
"""From a form post and the operations of a draft to the operations after it. Raises OperationError."""


class TaskType(ABC):
    """A kind of annotation.

    Class attributes say what the kind is; methods are pure. A kind is *judging* (responses are
    compared, one decision) or *making* (`making = True`: each response that meets its contract
    stands on its own).

    `instruction` is the headline of an annotator's page: one imperative line that says what to do (`instruct`).
    `shows` names what may leave the server: example parts of `SHOWN`, and inputs by their names. `needs`
    names members of `Context`. `of` says which examples a batch may be made of, the usual first; `without`
    what an example lacks that `prepare` leaves out. A kind without `favourites` prefers none of those that it takes:
    examples after the last one wanted are not looked at. `starts_from` names perturbations whose newest accepted example
    takes the place of the original it was made from (a value change starts from the shortened table). `looks_into` names
    kinds whose decisions its items judge: nobody on whose work such a decision rests gets the item. `order`
    "shuffled": every person meets the items in an order of their own. `grid` is the mode of the table
    on the page, by default what the fields ask for.
    `predicts` says whether a model may look along: "live" while somebody works, "on_request" when they press a button.
    `tried_on` names the fields that change what it is asked (all, where none is named); `looks` is what its two answers
    are called, `check_label` its button, and `verdict_words` sentences for verdicts where the usual ones do not fit.
    It stands below the table, unless the form has a place of its own (`prediction_in_form`).
    `asks` is what it has models asked in the background, for `prepare` to use.
    `compares` is what its responses are when it comes to deciding, which says what rules fit it (`tasks.resolving`), and
    `rule` the one it decides by; `rule_settings` names the settings of a batch that are options of that rule. `excludes`
    are words (`word`) that leave an item out of releases, with the reason. A kind without a rule overrides `resolve`.
    A kind that `propose`s makes whole responses by rules, for people to accept, edit or reject; one with `wanted` has
    language models asked for them, too: `put` is what the model sees, `taken` reads its reply, `replied` is the reply that
    an accepted response would have been.
    """

    key: ClassVar[str]
    version: ClassVar[int] = 1
    title: ClassVar[str]
    instruction: ClassVar[str] = ""
    making: ClassVar[bool]
    variants: ClassVar[Mapping[str, str]] = {}
    shows: ClassVar[tuple[str, ...]] = ("question", "table", "titles")
    needs: ClassVar[tuple[str, ...]] = ()
    of: ClassVar[tuple[Literal["originals", "perturbed"], ...]] = ("originals",)
    starts_from: ClassVar[tuple[str, ...]] = ()
    looks_into: ClassVar[tuple[str, ...]] = ()
    order: ClassVar[Literal["given", "shuffled"]] = "given"
    grid: ClassVar[Literal["read", "select", "edit", "structure"] | None] = None
    predicts: ClassVar[Literal["live", "on_request", ""]] = ""
    asks: ClassVar[tuple[Ask, ...]] = ()
    tried_on: ClassVar[tuple[str, ...]] = ()
    looks: ClassVar[tuple[str, str]] = (gettext_noop("on the original"), gettext_noop("on your version"))
    check_label: ClassVar[str] = "Check"
    verdict_words: ClassVar[Mapping[str, str]] = {}
    prediction_in_form: ClassVar[bool] = False
    without: ClassVar[str] = ""
    favourites: ClassVar[bool] = True
    fields: ClassVar[tuple[Field, ...]]
    response_type: ClassVar[type]
    measures: ClassVar[tuple[Measure, ...]] = ()
    compares: ClassVar[Nature | Literal[""]] = ""
    rule: ClassVar[Mapping[str, Any]] = {}
    rule_settings: ClassVar[Mapping[str, str]] = {}
    excludes: ClassVar[Mapping[str, str]] = {}
    settings_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }

    def instruct(self, item: Item, *, has_model: bool = False) -> str:
        """The line above the question, in the reader's language: what to do, as an imperative.

        By default `instruction`, or the title of a kind without one. `has_model`: a model is in the loop.
        """
        return gettext(self.instruction or self.title)

    @property
    def default_overlap(self) -> int:
        """People per item unless the batch says otherwise: 3 where labels are compared, else 1."""
        return 1 if self.making else 3

    @abstractmethod
    def parse(self, data: object, item: Item) -> Any:
        """Turn the `data` of an envelope into this kind's frozen Response: the only validator.

        Raises `Invalid` with every problem. What it returns is what is stored, shown and exported.
        """

    def resolve(self, responses: Sequence[Any], item: Item) -> Resolution:
        """Decide from the responses of one item, or say who should look next: by the kind's rule. Order must not matter."""
        return resolving.by_own_rule(self, responses, item)

    def uphold(self, responses: Sequence[Any], item: Item) -> Resolution:
        """What an adjudicator's word makes: the responses they chose, or one of their own. By default as people's."""
        return resolving.upheld(self, responses, item) if self.rule else self.resolve(responses, item)

    def word(self, response: Any) -> str:
        """A label; or, of a response that does not do what is asked, what it says instead ("unanswerable"), else ""."""
        return ""

    def alike(self, response: Any, item: Item) -> Hashable:
        """Beyond their word, what two responses have in common that come to the same.

        By default what they do to the example: its table and its answers afterwards; for scores and sets, these.
        """
        if self.compares == "scales":
            return tuple(sorted(self.scores(response).items()))
        if self.compares == "sets":
            return self.members(response)
        made = self.perturb(item, response)
        return None if made is None else (made.example.table.digest(), made.example.answers)

    def scores(self, response: Any) -> Mapping[str, int | float | None]:
        """What a response of scores says on each dimension; None where it says nothing."""
        raise NotImplementedError(f"{self.key} has no scores")

    def members(self, response: Any) -> frozenset[Hashable]:
        """What a response of a set names."""
        raise NotImplementedError(f"{self.key} names no set")

    def member_title(self, member: Any) -> str:
        """A member in words, for the reason why nothing is decided; "" where there are none for it."""
        return ""

    def departure(self, response: Any, item: Item) -> tuple[Literal["equal", "slip", "other"], str]:
        """How an answer stands to the given one, and the difference by its name; "" where there is none."""
        raise NotImplementedError(f"{self.key} gives no answer")

    def merged(self, responses: Sequence[Any], item: Item, found: Any) -> Any:
        """The one response that stands for several: `found` are the means by dimension, the members, or nothing."""
        raise NotImplementedError(f"{self.key} merges no responses")

    @abstractmethod
    def describe(self, response: Any, item: Item) -> list[str]:
        """The response in words, one sentence each: for adjudicators, histories and screen readers."""

    def in_short(self, response: Any, item: Item) -> str:
        """The response in a line, as a list of proposals shows it: by default the first sentence of `describe`."""
        return self.describe(response, item)[0]

    @abstractmethod
    def simulate(self, item: Item, rng: random.Random, accuracy: float, truth: random.Random) -> object:
        """`data` of a simulated person who is right with probability `accuracy`.

        `truth` is seeded by the item alone, so that simulated people agree about what is right.
        """

    def prepare(self, example: Example, around: Surroundings) -> Prepared | None:
        """What is frozen beside this example in a new item, or None where it makes no item of this kind."""
        return Prepared()

    def together(
        self, prepared: Sequence[Prepared], settings: Mapping[str, Any]
    ) -> Sequence[Prepared | None]:
        """One for each of these, with all that are prepared with it in view (ranks, say); None leaves one out."""
        return prepared

    @property
    def prepares(self) -> bool:
        """Whether the kind looks at every example before an item is made of it."""
        return type(self).prepare is not TaskType.prepare

    @property
    def says_gold(self) -> bool:
        """Whether what is decided here says which answer to the example is right, and so may contradict the given one."""
        return type(self).gold is not TaskType.gold

    def suggest(self, item: Item, context: Context) -> dict[str, Any] | None:
        """Suggestions for the page (JSON), asked for after the item is on screen; None where there are none."""
        return None

    @property
    def proposes(self) -> bool:
        """Whether machines may propose responses of this kind."""
        return type(self).propose is not TaskType.propose

    def propose(self, item: Item, context: Context) -> Iterator[Proposed]:
        """Responses that rules would give, in any order. One that does not parse is nobody's proposal and is left out."""
        return iter(())

    def wanted(self, item: Item) -> Sequence[Wanted]:
        """What a language model is asked for about this item, one request for each; nothing where it is no use."""
        return ()

    def put(self, item: Item) -> str:
        """The item as a language model is shown it."""
        raise NotImplementedError

    def replied(self, response: Any, wanted: Wanted, item: Item) -> Mapping[str, Any] | None:
        """The reply that would have made this response; None where it is no example of what is wanted."""
        return None

    def taken(self, reply: Mapping[str, Any], wanted: Wanted, item: Item) -> Mapping[str, Any]:
        """`data` of the response that a reply (JSON, without `applies`) stands for. Raises `Invalid` where it is none."""
        raise Invalid([Problem("", "no_form", gettext("This task type does not read model replies."))])

    def work_out(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What a tool on the page has the server work out while somebody works: a pure function of what was sent.

        Quick, whatever is sent. Raises `Invalid` with what is wrong with the question.
        """
        raise Invalid([Problem("", "no_tool", gettext("This task type computes nothing."))])

    def form_edits(self) -> Mapping[str, FormEdit]:
        """What buttons of its own do to the operations of a draft in a form without scripts, by their action."""
        return {}

    def suggests(self, item: Item) -> Literal["before", "after", ""]:
        """When a person gets the suggestions: before they answer, only after, or never."""
        return "before" if type(self).suggest is not TaskType.suggest else ""

    def report(self, rows: Sequence[Answered]) -> list[Report]:
        """Figures about a batch beyond agreement, from the newest responses of planned places."""
        return []

    def feedback(self, item: Item, response: Any, expected: Any) -> tuple[bool | None, list[str]]:
        """For practice: whether a response is as good as the expected one, and what to say about it.

        None where nobody can tell: what it means was not judged, and the words show what was expected.
        """
        if response == expected:
            return True, []
        measured = [measure.value(response) == measure.value(expected) for measure in self.measures]
        right = all(measured) if measured else None
        return right, [] if right else ["Expected:", *self.describe(expected, item)]

    def perturb(self, item: Item, response: Any) -> Perturbed | None:
        """The perturbed example that an accepted response makes, or None for a kind that only judges."""
        return None

    def tried(self, data: object, item: Item) -> Example | None:
        """The perturbed example on which a model in the loop is tried while a response is being written.

        Its answers are what is right there as far as anybody has said, () where nobody has. None where there is nothing
        to try yet. `data` is a draft and may hold anything. By default: the operations so far, and the answer that
        `preview` gives after them; without operations, what a response that holds makes of the example.
        """
        name = self.operations_field
        if name is None:
            try:
                made = self.perturb(item, self.parse(data, item))
            except Invalid:
                return None
            return made.example if made is not None else None
        try:
            operations = normalise(
                from_list(data.get(name, []) if isinstance(data, Mapping) else []), item.example.table
            )
            if not operations:
                return None
            table = replay(item.example.table, operations)
        except OperationError:
            return None
        shown = self.preview(data, item)
        answers = item.example.answers if shown is None else shown.get("after") or ()
        return dataclasses.replace(item.example, table=table, answers=tuple(answers))

    def gold(self, response: Any, item: Item) -> Sequence[str] | None:
        """The right answer to the example, as an accepted response gives it; None for a kind that gives none.

        A kind that overrides it may contradict an example: one it excludes, or answers otherwise, is in no benchmark file.
        """
        return None

    def contract(self, item: Item) -> Contract | None:
        """What must hold for an edit; None for kinds that edit nothing. The page checks its structure live."""
        return None

    def warnings(self, response: Any, item: Item) -> Sequence[Problem]:
        """What somebody should look at again in a response that holds: told with each draft, it stops nobody."""
        return ()

    def unmet(self, response: Any, item: Item) -> Sequence[Problem]:
        """Conditions that a valid response leaves unmet, each a warning, whether or not the response explains them.

        Such a response is submitted with a reason (`explains`) or after a confirmation, and stored with their codes.
        """
        return ()

    def explains(self, response: Any) -> bool:
        """Whether the response gives a reason for what it leaves unmet."""
        return bool(getattr(response, "reason", ""))

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
            gettext("{key} cannot read responses of version {from_version}; it is at {version}").format(
                key=self.key, from_version=from_version, version=self.version
            )
        )

    # -- the same for every kind ---------------------------------------------------------------------

    def receive(self, envelope: Mapping[str, Any], item: Item) -> Any:
        """Parse an envelope that somebody sends now: as `read`, but of this version only.

        What an older version did not ask for, `upgrade` fills in for what is stored. Whoever answers now is asked for it.
        """
        version = envelope.get("version") if isinstance(envelope, Mapping) else None
        if type(version) is int and 1 <= version < self.version:
            message = gettext(
                "The response uses version {version} of this form, but the form is now at version "
                "{version_2}. Reload the page, check what is new and submit again."
            ).format(version=version, version_2=self.version)
            raise Invalid([Problem("version", "stale_version", message)])
        return self.read(envelope, item)

    def read(self, envelope: Mapping[str, Any], item: Item) -> Any:
        """Parse a stored envelope: type, variant, version, base, then `data`; `upgrade` reads older versions."""
        if not isinstance(envelope, Mapping):
            raise Invalid([Problem("", "bad_envelope", gettext("The response must be a JSON object."))])
        problems = []
        if envelope.get("type") != self.key:
            problems.append(
                Problem(
                    "type",
                    "wrong_type",
                    gettext("This item takes responses of type {key}.").format(key=self.key),
                )
            )
        if (envelope.get("variant") or "") != item.variant:
            problems.append(
                Problem(
                    "variant",
                    "wrong_variant",
                    gettext("This item has variant {variant!r}.").format(variant=item.variant),
                )
            )
        if envelope.get("base") != item.base:
            message = gettext("The response belongs to another table than this item shows. Reload the item.")
            problems.append(Problem("base", "stale_base", message))
        version = envelope.get("version")
        if type(version) is not int or not 1 <= version <= self.version:
            message = gettext("Version {version!r} is unknown; this task type is at version {own}.").format(
                version=version, own=self.version
            )
            problems.append(Problem("version", "unknown_version", message))
        if problems:
            raise Invalid(problems)
        data = envelope.get("data")
        if reason := unstorable_in(data):
            raise Invalid(
                [
                    Problem(
                        "",
                        "unstorable_text",
                        gettext("The response contains {reason}, which cannot be stored.").format(
                            reason=reason
                        ),
                    )
                ]
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
        parsed = {name: _frozen(value) for name, value in data.items()}
        if self.operations_field is not None:
            parsed[self.operations_field] = tuple(from_dict(entry) for entry in data[self.operations_field])
        return self.response_type(**parsed)

    def form_data(self, post: Mapping[str, str], draft: Mapping[str, Any]) -> dict[str, Any]:
        """`data` from a plain form post; operations come from the draft, for they are applied one at a time."""
        data: dict[str, Any] = {}
        for spec in self.fields:
            if spec.kind == "operations":
                data[spec.name] = draft.get(spec.name, [])
            elif spec.kind in ("choices", "cells"):
                chosen = post.getlist(spec.name) if hasattr(post, "getlist") else post.get(spec.name, [])
                data[spec.name] = [one.split("/") for one in chosen] if spec.kind == "cells" else list(chosen)
            elif spec.kind == "json":
                data[spec.name] = draft.get(spec.name)
            elif spec.kind == "flag":
                data[spec.name] = post.get(spec.name) not in (None, "", "false")
            elif spec.kind == "lines":
                data[spec.name] = [
                    line.strip() for line in post.get(spec.name, "").splitlines() if line.strip()
                ]
            else:
                data[spec.name] = post.get(spec.name, "")
        return data

    def filled_in(self, data: Mapping[str, Any], item: Item) -> Mapping[str, Any]:
        """`data` of a plain form that is kept, not submitted, with what may be filled in for the person; nothing here."""
        return data

    @property
    def operations_field(self) -> str | None:
        """The name of the field that holds table operations, if the kind has one."""
        return next((spec.name for spec in self.fields if spec.kind == "operations"), None)

    @property
    def mode(self) -> str:
        """The mode of the table on the page: read, select, edit or structure."""
        if self.grid is not None:
            return self.grid
        kinds = {spec.kind for spec in self.fields}
        return "edit" if "operations" in kinds else "select" if "cells" in kinds else "read"

    def showing(self, item: Item) -> Sequence[str]:
        """What an item shows: `shows`, unless a batch's settings hide some of it."""
        return self.shows

    def payload(self, item: Item) -> dict[str, Any]:
        """What may leave the server for an item of this kind: what `showing` names and nothing else."""
        names = self.showing(item)
        shown: dict[str, Any] = {
            name: SHOWN[name](item) if name in SHOWN else item.inputs.get(name)
            for name in names
            if name != "titles"
        }
        if "table" in shown and "titles" not in names:
            shown["table"] = {
                part: value for part, value in shown["table"].items() if part not in ("title", "caption")
            }
        return {name: value for name, value in shown.items() if value}

    def presented(self, item: Item) -> dict[str, Any]:
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
    def script(self) -> str:
        """The kind's own elements for its page, `static/<key>/form.js` in its folder; "" where it has none."""
        name = f"{self.key}/form.js"
        return name if (self.folder() / "static" / name).is_file() else ""

    def guidelines(self) -> str:
        """The guidelines that come with the kind (Markdown); a project may write newer versions."""
        return (self.folder() / "GUIDELINES.md").read_text(encoding="utf-8")

    def guidelines_in(self, language: str) -> str:
        """The same in another language, by its code ("de"), from GUIDELINES.de.md; "" where there is none."""
        path = self.folder() / f"GUIDELINES.{language}.md"
        return path.read_text(encoding="utf-8") if language.isalpha() and path.is_file() else ""


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


def _frozen(value: Any) -> Any:
    return tuple(_frozen(part) for part in value) if isinstance(value, list) else value


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
            raise RuntimeError(f"two task types are called {task.key!r}: {module} and another")
        found[task.key] = task
    return found


def task_type(key: str) -> TaskType:
    """The kind of that key. Raises `UnknownTaskType`."""
    try:
        return task_types()[key]
    except KeyError:
        known = ", ".join(sorted(task_types()))
        raise UnknownTaskType(
            gettext("unknown task type {key!r}; known: {known}").format(key=key, known=known)
        ) from None
