"""What of a project is looked at: query parameters as a frozen `Selection`, and back. Pure: no database, no request.

chosen = parse(request.GET)         raises BadSelection, whose `problems` name each wrong parameter and its fault
query(chosen) == "state=excluded"   the same selection, in one canonical form
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from django.utils.translation import gettext, gettext_noop

STATES: Final = {
    "open": gettext_noop("open"),
    "complete": gettext_noop("complete"),
    "adjudication": gettext_noop("needs adjudication"),
    "accepted": gettext_noop("accepted"),
    "excluded": gettext_noop("excluded"),
}
"""States of items. Open: responses are missing. Complete: all responses are there and nothing is decided yet."""
SORTS: Final = {
    "": gettext_noop("order of the batch"),
    "-answered": gettext_noop("last response first"),
    "answered": gettext_noop("oldest response first"),
    "-seconds": gettext_noop("most active time first"),
    "seconds": gettext_noop("least active time first"),
}
ASSIGNMENTS: Final = {
    "planned": gettext_noop("planned"),
    "not_started": gettext_noop("not started"),
    "reserved": gettext_noop("reserved"),
    "assigned": gettext_noop("assigned"),
    "returned": gettext_noop("returned"),
}
"""Values of `assignment`: slots (all, free, reserved for a person), and assignments (all, those that were returned)."""
OF_PEOPLE: Final = ("reserved", "assigned", "returned")
"""Those that are about people, so that `people` names whose they are."""
PARTS: Final = {
    "annotations": gettext_noop("with responses"),
    "outcomes": gettext_noop("with outcomes"),
    "undecided": gettext_noop("undecided"),
    "contradicted": gettext_noop("contradicted"),
}
"""Values of `part`, of a release: its items with a response or with outcomes, those without a decision, and contradicted."""
VERDICTS: Final = {
    "fooled": gettext_noop("fooled"),
    "not_fooled": gettext_noop("not fooled"),
    "wrong_on_original": gettext_noop("already wrong on the original"),
    "unsure": gettext_noop("unclear"),
    "gold_suspect": gettext_noop("answer to check"),
    "model_error": gettext_noop("no usable answer"),
    "pending": gettext_noop("not answered yet"),
}
"""Values of `verdict`, of the model in the loop."""
ANY: Final = "any"
"""Value of `skipped`: with any reason."""
MOST_VALUES: Final = 200
LONGEST: Final = 500
MOST_TERMS: Final = 20
MOST_SAMPLED: Final = 10_000
"""Items of a random sample, and the largest seed."""
YEARS: Final = range(1900, 9999)
"""Years of dates. Beyond the years 1 and 9999 there is no calendar, and a day ends there in another time zone."""
SEPARATOR: Final = ":"
BETWEEN: Final = "~"

T = TypeVar("T")
Day = TypeVar("Day", date, datetime)
Params = Mapping[str, Sequence[str]]
"""Parameters with all of their values."""


class BadSelection(Exception):
    """Parameters that name no selection; `problems` is a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = tuple(problems)


def refuse_missing(message: str, names: Iterable[str], existing: Container[str] = ()) -> None:
    """Raise BadSelection with the message for each name that is not among the existing ones."""
    if problems := [message.format(name=name) for name in names if name not in existing]:
        raise BadSelection(problems)


@dataclass(frozen=True)
class Selection:
    """Filters, order and place in the list. Values of one filter are alternatives; different filters all apply.

    q            words that all occur in the question, its answers, a response or a note
    task_types, batches, sources   keys and public ids
    states       of `STATES`
    labels       (measure, value): a person gave this label
    pairs        (measure, one value, another): two people gave these labels to the same item
    people       pseudonyms: they submitted a response; with `skipped`, they skipped the item
    differs      responses differ (True) or are identical (False)
    skipped      reasons, or `ANY`
    unsure       an annotator was not sure (True), or none was (False)
    findings     codes of checklist items that a response leaves open
    verdicts     of the model in the loop
    seconds_from, seconds_to       active time of a response, in seconds
    since, until                   day on which a response was submitted (or the item skipped)
    submitted_from, submitted_before   the same to the moment, with a time zone
    in_progress  a person has the item in progress now; with `people`, one of them
    answered     the item has a response (True) or none (False)
    adjudicated  a person decided the item (True), or a rule or no person did (False)
    assignment   of `ASSIGNMENTS`: the item has such a slot or assignment; with `people`, one of theirs
    releases     public ids of releases that contain the decision about the item
    part         of `PARTS`: instead, the item belongs to this part of the releases; without these, of any release
    actions      public ids of actions on several items that changed it
    items        public ids of items that were ticked
    examples     ids of examples: that of the item, or one that was made from it
    columns      (own column, value) of the example (`explorer.own_columns`); a value is a text or a range of numbers
    lost         a response differs from each accepted outcome (True); with `people`, one of theirs
    failed_gold  a response fails a gold item (True), likewise
    sent_back    a response was sent back to its author (True)
    noted        a flag, a decision, or a response that was sent back has a note (True)
    negated      parameters of filters that must not apply; each is taken for itself
    either       parameters of filters of which one must apply; each is taken for itself
    sample, seed a random sample of this size, the same for the same seed
    after, before                  public id of the item behind which, or before which, the page begins
    """

    q: str = ""
    task_types: tuple[str, ...] = ()
    batches: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    pairs: tuple[tuple[str, str, str], ...] = ()
    people: tuple[str, ...] = ()
    differs: bool | None = None
    skipped: tuple[str, ...] = ()
    flagged: bool | None = None
    gold: bool | None = None
    unsure: bool | None = None
    findings: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    seconds_from: float | None = None
    seconds_to: float | None = None
    since: date | None = None
    until: date | None = None
    submitted_from: datetime | None = None
    submitted_before: datetime | None = None
    in_progress: bool | None = None
    answered: bool | None = None
    adjudicated: bool | None = None
    assignment: str = ""
    releases: tuple[str, ...] = ()
    part: str = ""
    actions: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    lost: bool | None = None
    failed_gold: bool | None = None
    sent_back: bool | None = None
    noted: bool | None = None
    negated: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    sample: int | None = None
    seed: int | None = None
    sort: str = ""
    after: str = ""
    before: str = ""

    @property
    def is_filtered(self) -> bool:
        """Whether it is anything less than all items."""
        return any(
            getattr(self, attribute.name) != attribute.default
            for attribute in fields(self)
            if attribute.name not in PLACE
        )

    @property
    def sort_column(self) -> str:
        """The own column that the list is sorted by; "" for other orders."""
        return "" if self.sort in SORTS else self.sort.removeprefix("-")

    @property
    def combined(self) -> dict[str, str]:
        """The filters that are negated, or of which one must apply: their fields by parameter."""
        return {name: PARAMETERS[name] for name in (*self.negated, *self.either)}

    def only(self, name: str) -> Selection:
        """This filter alone."""
        return replace(Selection(), **{name: getattr(self, name)})

    def of_batch(self, batch: str) -> Selection:
        """The same within one batch."""
        return replace(self, batches=(batch,))

    def without(self, *names: str) -> Selection:
        """The same without these filters."""
        empty: dict[str, Any] = {
            attribute.name: attribute.default for attribute in fields(self) if attribute.name in names
        }
        return replace(self, **empty)


OF_ITEMS: Final = ("task_types", "batches", "sources", "items", "examples")
"""Filters that tell nothing of what became of an item."""
OF_RESPONSES: Final = (
    *("labels", "pairs", "people", "differs", "skipped", "flagged", "unsure", "findings", "verdicts"),
    *("lost", "failed_gold", "sent_back", "noted"),
    *("seconds_from", "seconds_to", "since", "until", "submitted_from", "submitted_before"),
)
"""Filters that leave only items whose responses the reader may see."""
OWN_COLUMN: Final = ("meta.", "table.")
"""How the names of own columns begin."""
PLACE: Final = ("sort", "after", "before")
"""Fields that change what of the selection is shown, and not what it is."""


@dataclass
class _Parser:
    params: Params
    problems: list[str] = field(default_factory=list)

    def many(self, name: str) -> tuple[str, ...]:
        values = tuple(dict.fromkeys(value for value in self.params.get(name, ()) if value))
        if any("\0" in value for value in values):
            self.problems.append(gettext("{name}: a value has a NUL character. Remove it.").format(name=name))
            return ()
        if len(values) > MOST_VALUES or any(len(value) > LONGEST for value in values):
            self.problems.append(
                gettext("{name}: use at most {most} values of at most {longest} characters.").format(
                    name=name, most=MOST_VALUES, longest=LONGEST
                )
            )
            return ()
        return values

    def single(self, name: str) -> str:
        values = self.many(name)
        if len(values) > 1:
            self.problems.append(gettext("{name}: give one value.").format(name=name))
        return values[0] if values else ""

    def among(self, name: str, allowed: Iterable[str], values: Sequence[str]) -> tuple[str, ...]:
        for value in values:
            if value not in allowed:
                self.problems.append(
                    gettext("{name}: {value} is not one of {known}.").format(
                        name=name, value=value, known=", ".join(filter(None, allowed))
                    )
                )
        return tuple(value for value in values if value in allowed)

    def boolean(self, name: str) -> bool | None:
        value = self.among(name, ("yes", "no"), [choice] if (choice := self.single(name)) else [])
        return value[0] == "yes" if value else None

    def parts(self, name: str, count: int, form: str) -> tuple[tuple[str, ...], ...]:
        parsed = []
        for value in self.many(name):
            measure, _, rest = value.partition(SEPARATOR)
            labels = rest.split(BETWEEN) if count > 2 else [rest]
            if not measure or len(labels) != count - 1 or not all(labels):
                self.problems.append(
                    gettext("{name}: write {value} as {form}.").format(name=name, value=value, form=form)
                )
                continue
            parsed.append((measure, *labels))
        return tuple(parsed)

    def read(self, name: str, as_value: Callable[[str], T], problem: str) -> T | None:
        """The value as `as_value` reads it; None, with this problem, where that raises ValueError."""
        value = self.single(name)
        try:
            return as_value(value) if value else None
        except ValueError:
            self.problems.append(problem.format(name=name, value=value, most=MOST_SAMPLED))
            return None

    def number(self, name: str) -> float | None:
        return self.read(name, _seconds, gettext("{name}: {value} is not a number of seconds."))

    def whole(self, name: str) -> int | None:
        return self.read(name, _whole, gettext("{name}: {value} is not a whole number from 1 to {most}."))

    def sort(self) -> str:
        value = self.single("sort")
        if value.removeprefix("-").startswith(OWN_COLUMN):
            return value
        return next(iter(self.among("sort", SORTS, [value])), "")

    def set_filters(self, name: str) -> tuple[str, ...]:
        """The names of filters that are set, of those that are listed."""
        allowed = [key for key in PARAMETERS if PARAMETERS[key] not in NEVER_COMBINED]
        return tuple(key for key in self.among(name, allowed, self.many(name)) if self.many(key))

    def day(self, name: str) -> date | None:
        problem = gettext("{name}: {value} is not a date. Write it as 2026-11-24.")
        return self.in_range(name, self.read(name, date.fromisoformat, problem))

    def moment(self, name: str) -> datetime | None:
        problem = gettext("{name}: {value} is not a time. Write it as 2026-11-24T09:30:00+01:00.")
        return self.in_range(name, self.read(name, _moment, problem))

    def in_range(self, name: str, day: Day | None) -> Day | None:
        if day is None or day.year in YEARS:
            return day
        self.problems.append(
            gettext(
                "{name}: {value} is out of range. Use a date between the years {first} and {last}."
            ).format(name=name, value=self.many(name)[0], first=YEARS[0], last=YEARS[-1])
        )
        return None

    def require_order(self, values: Mapping[str, Any]) -> None:
        """Note ends of a range that no value is between."""
        since, until = values["since"], values["until"]
        if since is not None and until is not None and since > until:
            self.problems.append(
                gettext("since: {since} is after until, {until}. Swap the two dates.").format(
                    since=since, until=until
                )
            )
        low, high = values["seconds_from"], values["seconds_to"]
        if low is not None and high is not None and low > high:
            self.problems.append(
                gettext("seconds_from: {low} is more than seconds_to, {high}. Swap the two numbers.").format(
                    low=_as_text("seconds_from", low), high=_as_text("seconds_to", high)
                )
            )


def _seconds(value: str) -> float:
    seconds = float(value)
    if not 0 <= seconds < 1e9:
        raise ValueError(value)
    return seconds


def _whole(value: str) -> int:
    if not value.isdecimal() or len(value) > len(str(MOST_SAMPLED)) or not 1 <= int(value) <= MOST_SAMPLED:
        raise ValueError(value)
    return int(value)


def _moment(value: str) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(value)
    return moment


def rests_on_responses(chosen: Selection) -> bool:
    """Whether the selection has one of `OF_RESPONSES`."""
    return chosen.without(*OF_RESPONSES) != chosen


_RENAMED: Final = {
    "task_types": "type",
    "batches": "batch",
    "sources": "source",
    "states": "state",
    "labels": "label",
    "pairs": "pair",
    "people": "person",
    "findings": "finding",
    "verdicts": "verdict",
    "releases": "release",
    "actions": "action",
    "items": "item",
    "examples": "example",
    "columns": "column",
    "negated": "not",
    "either": "or",
}
PARAMETERS: Final = {
    _RENAMED.get(attribute.name, attribute.name): attribute.name for attribute in fields(Selection)
}
"""Query parameters and the fields of `Selection` that they fill."""
NEVER_COMBINED: Final = ("negated", "either", "sample", "seed", *PLACE)
"""Fields that are no filters of items: neither negated nor an alternative."""
BOOLEANS: Final = tuple(
    attribute.name for attribute in fields(Selection) if str(attribute.type) == "bool | None"
)
SEVERAL: Final = tuple(
    name for name, attribute in PARAMETERS.items() if isinstance(getattr(Selection, attribute), tuple)
)
"""Parameters that take several values."""
TEXTS: Final = tuple(
    name for name in SEVERAL if name not in ("state", "label", "pair", "verdict", "column", "not", "or")
)
"""Parameters that take several texts, of any form."""


def parse(params: Params, *, ignore: Iterable[str] = ()) -> Selection:
    """The selection that these query parameters name; `ignore` are parameters of the page that mean something else.

    Raises BadSelection naming every parameter that is unknown or has a value that it cannot have.
    """
    parser = _Parser(params)
    unknown = [name for name in params if name not in PARAMETERS and name not in set(ignore)]
    parser.problems += [gettext("There is no filter {name}.").format(name=name) for name in unknown]
    values: dict[str, Any] = {
        "q": parser.single("q").strip(),
        **{PARAMETERS[name]: parser.many(name) for name in TEXTS},
        "states": parser.among("state", STATES, parser.many("state")),
        "verdicts": parser.among("verdict", VERDICTS, parser.many("verdict")),
        "labels": parser.parts("label", 2, "measure:label"),
        "pairs": parser.parts("pair", 3, "measure:label~label"),
        "columns": parser.parts("column", 2, "column:value"),
        "negated": parser.set_filters("not"),
        "either": parser.set_filters("or"),
        **{name: parser.boolean(name) for name in BOOLEANS},
        **{name: parser.whole(name) for name in ("sample", "seed")},
        **{name: parser.number(name) for name in ("seconds_from", "seconds_to")},
        **{name: parser.day(name) for name in ("since", "until")},
        **{name: parser.moment(name) for name in ("submitted_from", "submitted_before")},
        "assignment": next(
            iter(parser.among("assignment", ("", *ASSIGNMENTS), [parser.single("assignment")])), ""
        ),
        "part": next(iter(parser.among("part", ("", *PARTS), [parser.single("part")])), ""),
        "sort": parser.sort(),
        "after": parser.single("after"),
        "before": parser.single("before"),
    }
    parser.require_order(values)
    if values["after"] and values["before"]:
        parser.problems.append(gettext("Give either after or before."))
    if parser.problems:
        raise BadSelection(parser.problems)
    return Selection(**values)


def params_of(chosen: Selection) -> dict[str, list[str]]:
    """The query parameters of a selection, in the order of `PARAMETERS`; `parse` gives the selection again."""
    params: dict[str, list[str]] = {}
    for name, attribute in PARAMETERS.items():
        value = getattr(chosen, attribute)
        if value is None or value in ("", ()):
            continue
        values = value if isinstance(value, tuple) else (value,)
        params[name] = [_as_text(name, entry) for entry in values]
    return params


def query(chosen: Selection) -> str:
    """The canonical query string, "" for everything."""
    return urlencode(params_of(chosen), doseq=True)


def terms(text: str) -> list[str]:
    """What is searched for: words, and phrases in quotation marks, in lower case. All of them have to occur."""
    parts = text.lower().split('"')
    phrases = [part.strip() for part in parts[1::2]]
    words = [word for part in parts[0::2] for word in part.split()]
    return list(dict.fromkeys(filter(None, [*phrases, *words])))[:MOST_TERMS]


def _as_text(name: str, value: Any) -> str:
    if name in ("label", "column"):
        return SEPARATOR.join(value)
    if name == "pair":
        return f"{value[0]}{SEPARATOR}{BETWEEN.join(value[1:])}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, date):
        return value.isoformat()
    return f"{value:.15g}" if isinstance(value, float) else str(value)
