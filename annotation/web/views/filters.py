"""The filters of the explorer as pages show them: a form, what is set in words, and what each would find."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.accounts.item_history import Names
from annotation.explorer import facets as facet_counts
from annotation.explorer import own_columns, querysets
from annotation.explorer.item_access import Reader
from annotation.explorer.links import with_query
from annotation.explorer.own_columns import TABLE, table_names
from annotation.explorer.result_counts import MOST_COUNTED, count_within_items
from annotation.explorer.selection import (
    ANY,
    ASSIGNMENTS,
    BETWEEN,
    NEVER_COMBINED,
    PARAMETERS,
    PARTS,
    PLACE,
    SEPARATOR,
    SORTS,
    STATES,
    VERDICTS,
    Selection,
    params_of,
    parse,
    query,
)
from annotation.models import Batch, ItemAction, Release, Source
from annotation.platform import display_text
from annotation.web.views.pages import kind_title
from tableqa.core.translation import TranslatedText
from tableqa.data.own_columns import PREFIX
from tasks.contract import TaskType

FILTERS: Final = {
    "q": gettext_noop("Search"),
    "type": gettext_noop("Task type"),
    "batch": "Batch",
    "source": gettext_noop("Source"),
    "state": gettext_noop("State"),
    "label": gettext_noop("Label"),
    "pair": gettext_noop("Both labels"),
    "person": gettext_noop("Person"),
    "differs": gettext_noop("Responses differ"),
    "skipped": gettext_noop("Skipped"),
    "flagged": gettext_noop("Flagged"),
    "gold": gettext_noop("Gold item"),
    "unsure": gettext_noop("Annotator not sure"),
    "finding": gettext_noop("Open in the checklist"),
    "verdict": gettext_noop("Model"),
    "seconds_from": gettext_noop("Active time from (seconds)"),
    "seconds_to": gettext_noop("Active time to (seconds)"),
    "since": gettext_noop("From"),
    "until": gettext_noop("To the end of"),
    "submitted_from": gettext_noop("Submitted from"),
    "submitted_before": gettext_noop("Submitted before"),
    "in_progress": gettext_noop("In progress"),
    "answered": gettext_noop("Has responses"),
    "adjudicated": gettext_noop("Adjudicated"),
    "assignment": gettext_noop("Assignment"),
    "release": gettext_noop("Release"),
    "part": gettext_noop("Part of the release"),
    "action": gettext_noop("Changed by"),
    "item": gettext_noop("Item"),
    "example": gettext_noop("Example"),
    "column": gettext_noop("Column"),
    "lost": gettext_noop("Lost against the decision"),
    "failed_gold": gettext_noop("Gold item failed"),
    "sent_back": gettext_noop("Sent back"),
    "noted": gettext_noop("With a note"),
    "sample": gettext_noop("Random sample"),
    "seed": gettext_noop("Seed"),
}
SHOW: Final = {
    "differs=yes": gettext_noop("responses differ"),
    "differs=no": gettext_noop("responses identical"),
    "flagged=yes": gettext_noop("flagged"),
    "noted=yes": gettext_noop("with a note"),
    "sent_back=yes": gettext_noop("sent back"),
    "unsure=yes": gettext_noop("annotator not sure"),
    "lost=yes": gettext_noop("lost against the decision"),
    "adjudicated=yes": gettext_noop("adjudicated"),
    "gold=yes": gettext_noop("gold items"),
    "failed_gold=yes": gettext_noop("gold item failed"),
}
"""Filters that are yes or no, as the field Show of the form has them."""
SHOW_FIELD: Final = "show"
OF_GOLD: Final = ("gold=yes", "failed_gold=yes")
COLUMN_TITLES: Final = {
    own_columns.TABLE: gettext_noop("Table"),
    own_columns.ROWS: gettext_noop("Table rows"),
    own_columns.COLUMNS: gettext_noop("Table columns"),
}
FINDINGS: Final = {
    "nothing_to_check_against": gettext_noop("no marked cells and no program"),
    "answer_gone": gettext_noop("answer not in the table"),
    "part_foreign": gettext_noop("text that is not in the old cell"),
    "not_derivable": gettext_noop("column cannot be worked out"),
}
"""Codes of conditions that responses leave open. Task types of projects have others."""
ALONG: Final = (
    *("label", "pair", "finding", "verdict", "in_progress", "answered", "assignment", "release", "part"),
    *("action", "item", "example", "submitted_from", "submitted_before", "column", "not", "or", "seed"),
    *("differs", "flagged", "gold", "unsure", "adjudicated", "lost", "failed_gold", "sent_back", "noted"),
)
"""Filters without a field in the form: it sends them along."""
FOLDED: Final = ("sources", "people", "skipped", "seconds_from", "seconds_to", "since", "until", "sample")
"""Fields of a selection whose filters are folded away while none of them is set."""


KEEP: Final = "*"
"""Value of a field of the form that keeps the several values of its filter; they are sent along."""
IN_COLUMN: Final = "column."
"""Before the name of an own column: a value that a form filters it by."""
KEPT: Final = "kept."
"""Before the name of a filter: its several values, which the form sends along."""


@dataclass(frozen=True)
class Choice:
    """A filter of the form with one value, or none, or several that it keeps: the name, its choices, and what is chosen."""

    name: str
    options: Sequence[tuple[str, str]]
    chosen: Sequence[str]


def normalised_params(sent: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The parameters that a form sent, without empty ones, and with the several values that a field keeps."""
    params: dict[str, list[str]] = {}
    for name, values in sent.items():
        if name == SHOW_FIELD or name.startswith(IN_COLUMN):
            continue
        chosen = sent.get(KEPT + name, []) if list(values) == [KEEP] else values
        if not name.startswith(KEPT) and (filled := [value for value in chosen if value]):
            params[name] = filled
    for value in sent.get(SHOW_FIELD, ()):
        if value in SHOW:
            name, _, answer = value.partition("=")
            params[name] = [answer]
    for name, values in sent.items():
        if name.startswith(IN_COLUMN) and any(values):
            column = name.removeprefix(IN_COLUMN)
            params.setdefault("column", []).extend(f"{column}{SEPARATOR}{value}" for value in values if value)
    return params


@dataclass(frozen=True)
class Chip:
    """A filter that is set, in words, and the address without it; `opposite` is that with the filter negated, or not."""

    label: str
    value: str
    address: str
    is_negated: bool = False
    opposite: str = ""


def form(who: Reader, chosen: Selection, names: Names, batch: Batch | None) -> dict[str, Any]:
    """The choices of each filter of the form, and the parameters that it sends along."""
    kinds = {batch.task_type: display_text.show(kind_title(batch)) for batch in who.batches.values()}
    people = [(pseudonym, names(key)) for pseudonym, key in who.people.items()]
    batches = [(who.batches[key].public_id, who.batches[key].name) for key in who.listed]
    show = [(value, gettext(text)) for value, text in SHOW.items() if who.leads or value not in OF_GOLD]
    reasons = [(reason, display_text.show(reason)) for reason in chosen.skipped if reason != ANY]
    return {
        "state": Choice("state", [(state, gettext(text)) for state, text in STATES.items()], chosen.states),
        "batch": None if batch else Choice("batch", batches, chosen.batches),
        "type": None
        if batch or len(kinds) < 2
        else Choice("type", sorted(kinds.items(), key=lambda pair: pair[1]), chosen.task_types),
        "source": Choice("source", sources, chosen.sources) if (sources := _sources(who)) else None,
        "person": Choice("person", sorted(people, key=lambda pair: pair[1].lower()), chosen.people),
        "skipped": Choice("skipped", [(ANY, gettext("for any reason")), *reasons], chosen.skipped),
        "show": Choice(SHOW_FIELD, show, ()),
        "sorts": [*SORTS.items(), *_own_sort(chosen)],
        "leads": who.leads,
        "along": [
            (name, value)
            for name, values in params_of(chosen.without(*PLACE)).items()
            for value in values
            if name in ALONG
        ],
        "is_open": any(getattr(chosen, name) not in (None, "", ()) for name in FOLDED),
    }


def chips(who: Reader, chosen: Selection, names: Names, address: str) -> list[Chip]:
    """Every filter that is set, in words, with the address without it."""
    params = params_of(chosen.without("after", "before"))
    all_chips = []
    for name, values in params.items():
        for value in values if name not in ("sort", "seed", "not", "or") else ():
            remaining_params = {
                **params,
                name: [other_value for other_value in values if other_value != value],
            }
            without = query(parse({key: some for key, some in remaining_params.items() if some}))
            label, in_words = describe(who, names, name, value)
            negated = set(chosen.negated) ^ {name}
            opposite = (
                with_query(address, query(parse({**params, "not": sorted(negated)})))
                if name != "sample"
                else ""
            )
            all_chips.append(
                Chip(label, in_words, with_query(address, without), name in chosen.negated, opposite)
            )
    return all_chips


def combinations(chosen: Selection, address: str) -> dict[str, str]:
    """The addresses in which all of several filters must apply, and in which one must; empty for fewer filters."""
    params = params_of(chosen.without("after", "before", "either"))
    names = [name for name in params if PARAMETERS[name] not in NEVER_COMBINED]
    if len(names) < 2:
        return {}
    return {
        "all": with_query(address, query(parse(params))),
        "any": with_query(address, query(parse({**params, "or": names}))),
    }


def describe(who: Reader, names: Names, name: str, value: str) -> tuple[str, str]:
    """A filter and one of its values, in words."""
    measure, _, rest = value.partition(SEPARATOR)
    if name == "label":
        return _title(who, measure), display_text.show(_label(who, measure, rest))
    if name == "column":
        return column_title(measure), table_names([rest]).get(rest, rest) if measure == TABLE else rest
    label = gettext(FILTERS[name])
    if name == "pair":
        labels = [display_text.show(_label(who, measure, entry)) for entry in rest.split(BETWEEN)]
        return f"{label} ({display_text.measure(_measure(who, measure))})", " / ".join(labels)
    batches = who.batches.values()
    in_words = {
        "batch": lambda: next((entry.name for entry in batches if entry.public_id == value), value),
        "type": lambda: next(
            (display_text.show(kind_title(entry)) for entry in batches if entry.task_type == value), value
        ),
        "source": lambda: dict(_sources(who)).get(value, value),
        "state": lambda: gettext(STATES[value]),
        "person": lambda: names(who.people[value]),
        "skipped": lambda: gettext("for any reason") if value == ANY else display_text.show(value),
        "assignment": lambda: gettext(ASSIGNMENTS[value]),
        "release": lambda: _release(who, value),
        "part": lambda: gettext(PARTS[value]),
        "action": lambda: _action(who, value),
        "verdict": lambda: gettext(VERDICTS[value]),
        "finding": lambda: gettext(FINDINGS[value]) if value in FINDINGS else value.replace("_", " "),
        "submitted_from": lambda: _moment(value),
        "submitted_before": lambda: _moment(value),
    }
    if name in in_words:
        return label, str(in_words[name]())
    return label, display_text.show(value) if value in ("yes", "no") else value


def facets(
    who: Reader, chosen: Selection, names: Names, address: str, *, batch: Batch | None
) -> list[dict[str, Any]]:
    """The facets of a selection for explorer/_facets.html: each value in words, with its number and address."""
    written = chosen.without("after", "before", *(["batches"] if batch is not None else []))
    params = params_of(written)
    rows = []
    show: list[dict[str, Any]] = []
    for facet in facet_counts.facets(who, chosen):
        values: list[dict[str, Any]] = []
        for value, count in facet.values:
            is_shown = f"{facet.name}={value}" in SHOW
            further = {**params, facet.name: [value]}
            (show if is_shown else values).append(
                {
                    "label": gettext(SHOW[f"{facet.name}={value}"])
                    if is_shown
                    else describe(who, names, facet.name, value)[1],
                    "number": count_text(count, facet.at_least),
                    "is_set": value in params.get(facet.name, ()),
                    "address": with_query(address, query(parse(further))),
                }
            )
        title = _title(who, facet.measure) if facet.measure else gettext(FILTERS[facet.name])
        if values:
            rows.append({"label": title, "values": values, "more": facet.more})
    if show:
        rows.insert(1, {"label": gettext("Show"), "values": show, "more": 0})
    return rows


def columns(who: Reader, address: str, chosen: str) -> list[tuple[str, str]]:
    """The own columns with the addresses of their values (`column`); `address` is that of the facets."""
    names = sorted(who.columns, key=lambda name: (name in COLUMN_TITLES, name))
    return [(column_title(name), with_query(address, chosen, facet=name)) for name in names]


def column(who: Reader, chosen: Selection, name: str, address: str, *, batch: Batch | None) -> dict[str, Any]:
    """The most frequent values of an own column for explorer/_column.html, and the addresses of both orders by it."""
    counts = own_columns.value_counts(
        who, querysets.matching(who, chosen), name, facet_counts.MOST_VALUES + 1
    )
    written = chosen.without("after", "before", *(["batches"] if batch is not None else []))
    others = [pair for pair in written.columns if pair[0] != name]
    titles = table_names([value for value, _ in counts]) if name == TABLE else {}
    return {
        "name": f"{IN_COLUMN}{name}",
        "values": [
            {
                "label": titles.get(value, value),
                "number": count_text(count),
                "is_set": (name, value) in written.columns,
                "address": with_query(address, query(replace(written, columns=(*others, (name, value))))),
            }
            for value, count in counts[: facet_counts.MOST_VALUES]
        ],
        "has_more": len(counts) > facet_counts.MOST_VALUES,
        "along": [(key, value) for key, values in params_of(written).items() for value in values],
        "address": address,
        "up": with_query(address, query(replace(written, sort=name))),
        "down": with_query(address, query(replace(written, sort=f"-{name}"))),
    }


def column_title(name: str) -> str:
    """What pages call an own column."""
    return gettext(COLUMN_TITLES[name]) if name in COLUMN_TITLES else name.removeprefix(PREFIX)


def _own_sort(chosen: Selection) -> list[tuple[str, str]]:
    """The order by an own column, where the selection has one."""
    name = chosen.sort_column
    text = gettext("{column}, descending") if chosen.sort.startswith("-") else gettext("{column}, ascending")
    return [(chosen.sort, text.format(column=column_title(name)))] if name else []


def _title(who: Reader, measure: str) -> str:
    """The title of the labels of a measure: "Label", "Answers", "Question ambiguous"."""
    return capfirst(display_text.measure(_measure(who, measure)))


def _measure(who: Reader, name: str) -> str:
    """The text of a measure (`annotation.quality.label_texts`); a word of the catalogue if an installed type has it."""
    texts = [task.measure_text(name) for task in _tasks(who, name)]
    return texts[-1] if texts and all(isinstance(text, TranslatedText) for text in texts) else name


def _label(who: Reader, measure: str, label: str) -> str:
    """The text of a label of a measure, likewise; that of a definition where it has one."""
    texts = [task.label_text(measure, label) for task in _tasks(who, measure)]
    return next((text for text in reversed(texts) if isinstance(text, TranslatedText)), label)


def _tasks(who: Reader, measure: str) -> list[TaskType]:
    """The task types with a measure of this name, the newest last."""
    return [
        task
        for task in who.tasks
        if task and any(task_measure.name == measure for task_measure in task.measures)
    ]


def _action(who: Reader, public_id: str) -> str:
    """An action on several items in words; its id where the project has no such action."""
    action = ItemAction.objects.filter(project=who.project, public_id=public_id).first()
    return gettext(ItemAction.Kind(action.kind).label) if action is not None else public_id


def _moment(value: str) -> str:
    """A time as the reader's clock shows it."""
    return date_format(timezone.localtime(datetime.fromisoformat(value)), "Y-m-d H:i:s")


def _release(who: Reader, public_id: str) -> str:
    """The name of a release; its id where the project has no such release."""
    release = Release.objects.filter(project=who.project, public_id=public_id).first()
    return release.name if release is not None else public_id


def counts_in_words(who: Reader, chosen: Selection, items: int) -> str:
    """How many skips, flags, slots, responses or pairs of these it is about; "" where it is about items.

    items: how many match, by `result_counts.count_up_to_limit`
    """
    count = count_within_items(who, chosen, items)
    if count is None:
        return ""
    if chosen.part:
        sentence = _of_release(chosen.part, count)
    elif chosen.pairs:
        sentence = ngettext("{number} pair of responses", "{number} pairs of responses", count)
    elif chosen.skipped:
        sentence = ngettext("skipped {number} time", "skipped {number} times", count)
    elif chosen.flagged:
        sentence = ngettext("{number} flag", "{number} flags", count)
    elif chosen.in_progress:
        sentence = ngettext("in progress for {number} person", "in progress for {number} people", count)
    elif chosen.assignment:
        sentence = _assignments(chosen.assignment, count)
    else:
        sentence = ngettext("{number} response", "{number} responses", count)
    return sentence.format(number=count_text(count))


def count_text(count: int, at_least: bool = False) -> str:
    """A count of the explorer, such as 1,204; "10,000+" of more than it counts."""
    return display_text.grouped(min(count, MOST_COUNTED)) + ("+" if at_least or count > MOST_COUNTED else "")


def _of_release(part: str, n: int) -> str:
    return {
        "annotations": ngettext("{number} response", "{number} responses", n),
        "outcomes": ngettext("{number} outcome", "{number} outcomes", n),
        "contradicted": ngettext("{number} contradicted example", "{number} contradicted examples", n),
    }[part]


def _assignments(name: str, n: int) -> str:
    return {
        "planned": ngettext("{number} planned response", "{number} planned responses", n),
        "not_started": ngettext("{number} response not started", "{number} responses not started", n),
        "reserved": ngettext("reserved {number} time", "reserved {number} times", n),
        "assigned": ngettext("assigned {number} time", "assigned {number} times", n),
        "returned": ngettext("returned {number} time", "returned {number} times", n),
    }[name]


def _sources(who: Reader) -> list[tuple[str, str]]:
    sources = Source.objects.ready().filter(project=who.project).order_by("name")
    return list(sources.values_list("public_id", "name"))
