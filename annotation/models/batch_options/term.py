"""An option of a batch, stated once: everything that shows, checks, stores or explains it derives from its `Term`.

    must_practise = Term(
        label=gettext_noop("Practice first"),
        help=gettext_noop("Annotators complete the practice set before their first item."),
        section="quality",
        changeable=UNTIL_CLOSED,
        effect=gettext_noop("Required before the next item. Responses stay."),
    ).of(models.BooleanField(default=False))

The Django field says column, type and default. `annotation.models.batch_options.TERMS` lists the terms in the order of
their declaration. Texts are English and marked for translation; they are translated on display.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django import forms
from django.db import models
from django.utils.translation import gettext, gettext_noop

from annotation.platform.refusals import refuse
from tableqa.core.translation import translate_stored

if TYPE_CHECKING:
    from tasks.contract import TaskType

F = TypeVar("F", bound=models.Field[Any, Any])

WORK: Final = frozenset({"work"})
QUALIFICATION: Final = frozenset({"qualification"})
WITH_ENTRY: Final = frozenset({"work", "calibration"})
EVERY: Final = frozenset({"work", "qualification", "calibration"})
"""Sets of purposes that a term applies to."""

NEVER: Final = gettext_noop("never")
UNTIL_DECIDED: Final = gettext_noop("until its first item is decided")
UNTIL_CLOSED: Final = gettext_noop("until the batch closes")
ANY_TIME: Final = gettext_noop("at any time")
"""When a term may change, after the batch was created."""


@dataclass
class Context:
    """What a value is checked against: the task type, the values that are known, and what is looked up.

    values      of the terms before this one; all of them where a batch changes
    project     None: references to batches are names and are not looked up
    predictors  the models of the site by name; None: names of models are not looked up
    feeds_from  the batch that the new one takes items from
    batch       the batch that changes; None for a new one
    """

    task: TaskType
    project: Any = None
    predictors: Mapping[str, Any] | None = None
    feeds_from: Any = None
    batch: Any = None
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def purpose(self) -> str:
        return str(self.values.get("purpose", "work"))


@dataclass(frozen=True)
class Inputs:
    """The fields of a form that give the value of one term, for values that are no single number, text or choice.

    build  the fields by name, for one form
    join   the value from what these fields contain; raises `forms.ValidationError` with {field: message}
    split  initial values of the fields from a value
    """

    build: Callable[[TaskType], dict[str, forms.Field]]
    join: Callable[[Mapping[str, Any]], Any]
    split: Callable[[Any], dict[str, Any]]


@dataclass(kw_only=True)
class Term:
    """What an option of a batch states beside its column (type, default).

    label, help      in forms, on the page of a batch, in the audit log and in the reference
    section          the part of a form that it belongs to, a key of `annotation.models.batch_options.SECTIONS`
    purposes         a batch of another purpose has the default
    changeable       NEVER, UNTIL_DECIDED, UNTIL_CLOSED or ANY_TIME
    effect           what a change does, in sentences; shown before a change, and in the reference. A sentence with a
                     count in braces, such as {people}, is shown only where the count is known
    usual            the default, where it depends on the task type or on terms before
    usual_in_words   the default in the reference, in English, where the column does not say it
    check            the value as it is stored; raises ActionRefused(invalid_request)
    fits             whether it means something for a task type
    depends_on       terms whose change makes this one be checked again
    minimum, maximum of a number
    choices          what a text may be, with words; a function, where that depends on the site
    among            of a reference to a batch: what the batches have in common that can be chosen
    inputs           the fields of a form, for values with several parts
    key              the key in a study file, with dots for parts ("gold.percent"); "": the name of the column
    shape            the JSON Schema in a study file, where the column does not say it
    per_task_type    a study file may say it for all batches of a task type
    written          the values in a study file, where these are others than the column's
    reads            a value in words
    is_always_written, is_always_shown   in an exported study file, on the page of a batch: also if it is the default
    is_in_form       False: the page that plans a batch asks for it in another way
    needs_model      a form shows it only where the site has models
    """

    label: str
    section: str
    help: str = ""
    purposes: frozenset[str] = EVERY
    changeable: str = NEVER
    effect: str = ""
    usual: Callable[[Context], Any] | None = None
    usual_in_words: str = ""
    check: Callable[[Any, Context], Any] | None = None
    fits: Callable[[TaskType], bool] = lambda task: True
    depends_on: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    choices: Mapping[str, str] | Callable[[], Mapping[str, str]] | None = None
    among: Mapping[str, Any] = field(default_factory=dict)
    inputs: Inputs | None = None
    key: str = ""
    shape: Mapping[str, Any] | None = None
    per_task_type: bool = False
    written: Mapping[Any, str] | None = None
    reads: Callable[[Any], str] | Mapping[Any, str] | None = None
    is_always_written: bool = False
    is_always_shown: bool = False
    is_in_form: bool = True
    needs_model: bool = False
    column: models.Field[Any, Any] = field(init=False)

    def of(self, column: F) -> F:
        """The column, with this term on it: copies of the column that Django makes for a table carry it, too."""
        self.column = column
        column.term = self  # type: ignore[attr-defined]
        return column

    @property
    def name(self) -> str:
        """The name of the column, of the form field and of the argument."""
        return self.column.name

    @property
    def path(self) -> tuple[str, ...]:
        """Where a study file has it, below its batch."""
        return tuple((self.key or self.name).split("."))

    @property
    def default(self) -> Any:
        """The value of a batch that does not say otherwise, where that depends on nothing else."""
        return None if self.column.is_relation else self.column.get_default()

    def default_in(self, context: Context) -> Any:
        """The value of a batch that does not say otherwise."""
        return self.default if self.usual is None else self.usual(context)

    def is_set(self, value: Any) -> bool:
        """Whether a value is another one than the default."""
        return value is not None and value != self.default

    def checked(self, value: Any, context: Context) -> Any:
        """The value as a batch stores it; None is the default. Raises ActionRefused(invalid_request)."""
        if value is None or (value == "" and (self.usual is not None or self._is_one_of_choices)):
            value = self.default_in(context)
        value = self._typed(value)
        if self.is_set(value) and context.purpose not in self.purposes:
            refuse(
                "invalid_request",
                "{label}: only for {purposes} batches. Leave {name} out of a {purpose} batch.",
                label=gettext(self.label),
                purposes=gettext(" or ").join(gettext(each) for each in sorted(self.purposes)),
                name=self.name,
                purpose=gettext(context.purpose),
            )
        if self.is_set(value) and not self.fits(context.task):
            refuse(
                "invalid_request",
                "{title} does not support this option: {label}. Leave {name} out.",
                title=translate_stored(context.task.title),
                label=gettext(self.label),
                name=self.name,
            )
        return value if self.check is None else self.check(value, context)

    @property
    def _is_one_of_choices(self) -> bool:
        return isinstance(self.choices, Mapping) and "" not in self.choices

    def _typed(self, value: Any) -> Any:
        if isinstance(self.column, models.BooleanField):
            return bool(value)
        name = f"{gettext(self.label)} ({self.name})"
        if isinstance(self.column, models.IntegerField):
            within = isinstance(value, int) and not isinstance(value, bool) and value >= self.minimum
            if not within or (self.maximum is not None and value > self.maximum):
                refuse(
                    "invalid_request",
                    "{name} must be a whole number from {minimum} to {maximum}.",
                    name=name,
                    minimum=self.minimum,
                    maximum=self.maximum,
                )
        elif isinstance(self.choices, Mapping) and value not in self.choices:
            refuse(
                "invalid_request",
                "{name} must be one of {values}, not {value!r}.",
                name=name,
                values=", ".join(filter(None, self.choices)),
                value=value,
            )
        elif isinstance(self.column, models.CharField) and not isinstance(value, str):
            refuse("invalid_request", "{name} must be a text, not {value!r}.", name=name, value=value)
        elif (most := self.column.max_length) and len(value) > most:
            refuse("invalid_request", "{name} must have at most {most} characters.", name=name, most=most)
        return value

    # -- in words -----------------------------------------------------------------------------------

    def in_words(self, value: Any) -> str:
        """A value in a sentence, in the reader's language: for pages and the audit log."""
        if isinstance(self.reads, Mapping):
            return gettext(self.reads[value]) if value in self.reads else str(value)
        if self.reads is not None and value not in (None, ""):
            return self.reads(value)
        if value is None or value in ("", {}):
            return "–"
        if isinstance(value, bool):
            return gettext("yes") if value else gettext("no")
        if isinstance(self.choices, Mapping) and value in self.choices:
            return gettext(self.choices[value])
        return str(value)

    def effect_in_words(self, counts: Mapping[str, Any] | None = None) -> str:
        """What a change does, in the reader's language; without `counts`, without the sentences that count."""
        text = gettext(self.effect)
        if counts is not None:
            return text.format(**counts)
        return " ".join(sentence for sentence in re.split(r"(?<=\.) ", text) if "{" not in sentence)

    def in_file(self, value: Any) -> Any:
        """A value as a study file has it."""
        return value if self.written is None else self.written[value]

    def from_file(self, value: Any) -> Any:
        """A value of a study file as a batch stores it."""
        if self.written is None:
            return value.strip() if isinstance(value, str) else value
        return next(own for own, text in self.written.items() if text == value)

    # -- shapes -------------------------------------------------------------------------------------

    def schema(self, *, in_file: bool = True) -> dict[str, Any]:
        """The shape of a value as JSON Schema, in a study file or in the API."""
        text = self.help[:1].lower() + self.help[1:].removesuffix(".") if self.help else self.label
        if isinstance(self.choices, Mapping):
            meanings = {name: text.removeprefix(f"{name}: ") for name, text in self.choices.items() if name}
            text = "; ".join(f"{name}: {meaning}" for name, meaning in meanings.items())
        if self.shape is not None:
            return {"description": text, **self.shape}
        return {**self._shape(in_file), "description": text}

    def _shape(self, in_file: bool) -> dict[str, Any]:
        if in_file and self.written is not None:
            return {"enum": list(self.written.values())}
        if isinstance(self.column, models.BooleanField):
            return {"type": "boolean"}
        if isinstance(self.column, models.IntegerField):
            most = {} if self.maximum is None else {"maximum": self.maximum}
            return {"type": "integer", "minimum": self.minimum, **most}
        if isinstance(self.choices, Mapping):
            return {"enum": [name for name in self.choices if name]}
        if isinstance(self.column, models.JSONField):
            return {"type": "object"}
        return {"type": "string", "minLength": 1, "maxLength": self.column.max_length or 120}
