"""What a task type receives: an item, and what the project and the platform know of its example."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tableqa import Example


@dataclass(frozen=True)
class Context:
    """What the platform lends to `suggest` and `prepare`: the members that the kind names in `needs`, the others are None.

    corpus        `tableqa.perturbations.related_tables.Index` of the project's tables
    header_names  `tableqa.perturbations.headers.HeaderNames` of the project's columns
    thesaurus     `tableqa.perturbations.headers` thesaurus (WordNet), or what says why there is none
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
                  annotations did, "machine" or "machine, edited" where their response was proposed, "automatic"
                  where a program did, else what an import says in `maker` of its meta; an example without a statement
                  it is not in there
    perturbation  the kind of perturbation that made it; "" for an original
    alternatives  other perturbed examples of the same original, by the same kind of perturbation; also imported ones
                  whose meta names both (`original`, `perturbation`)
    decided       data of the accepted responses to it, or to what it was made from, by kind, oldest first
    model_answers what models said of it, by purpose ("screening", "question_type", ...), oldest first
    lent          what the platform lends to the kind, ready to be asked (`TaskType.needs`)
    secret        for draws that no annotator may foresee, though they know the kind's code and the example's id
    """

    original: Example | None = None
    perturbation: str = ""
    alternatives: tuple[Example, ...] = ()
    makers: Mapping[str, str] = field(default_factory=dict)
    decided: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    model_answers: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    lent: Context = Context()
    secret: str = ""


@dataclass(frozen=True)
class PreparedInputs:
    """What is frozen beside the example of a new item.

    inputs    named JSON values; what a person sees of them is what the kind's `shows` names
    priority  where a batch takes only some items or has its own order, higher comes first
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


SHOWN: dict[str, Callable[[Item], Any]] = {
    "question": lambda item: item.example.question,
    "table": lambda item: item.example.table.to_wire(),
    "answers": lambda item: list(item.example.answers),
    "context": lambda item: item.example.context.to_dict() if item.example.context else None,
    "history": lambda item: [turn.to_dict() for turn in item.example.history],
}
